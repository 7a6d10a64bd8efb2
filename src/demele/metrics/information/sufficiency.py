"""Sufficiency: the share of each factor that its best code tells (Almudévar & Ortega 2024)."""

from typing import Unpack

from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, mean_of_defined, ratio
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RunOptions
from demele.metrics.run import score


def told_share(table: InformationTable) -> Native:
    """Sufficiency_i = max_j I(v_i; z_j) / H(v_i), mean over factors."""
    per_factor = ratio(table.information.max(axis=-2), table.factor_entropy).clip(max=1.0)  # rounding leaves the end
    return Native(value=mean_of_defined(per_factor), per_factor=per_factor, matrix=table.information, matrix_of=MATRIX)


def sufficiency(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Sufficiency: how much of each factor the code knows that knows most: explicitness of single codes.

    .. math:: \mathrm{sufficiency}_i = \max_j I(v_i; z_j) / H(v_i)

    and the mean over factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        They may depend on each other.
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, 0 for codes that tell nothing, up to the bias of few rows; ``per_factor``; ``matrix``:
        mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Almudévar & Ortega 2024, beside :func:`minimality`: codes are disentangled, of dependent factors too, where each is
    minimal and sufficient for its factor. It is MIG without the second code taken away: copies and further codes that
    mix the factors change nothing, and a factor that two codes hold by halves counts as half known. Codes of
    noise score what few rows leave of information: by ten bins about 0.2 on 100 rows, 0.07 on 300, 0.02 on 1 000.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> halved = np.column_stack([factors[:, 0] // 2, factors[:, 1]])
    >>> round(demele.sufficiency(halved, factors, kinds="categorical").value, 6)
    0.75
    """
    return score(METRIC, locals())


METRIC = Metric(
    "sufficiency",
    sufficiency,
    title="Sufficiency",
    family="information",
    shares="information",
    properties=("explicitness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Almudévar & Ortega 2024",
    references=("almudevar2024rethinking",),
    definition="largest information of a code on a factor, relative to the factor's entropy",
    readings=(of_table(told_share),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    order=310,
    in_all=False,
)
