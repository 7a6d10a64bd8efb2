"""MIG-sup: the gap seen from the codes (Li et al. 2020, eq. 3)."""

from typing import Unpack

from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, mean_of_defined, ratio, top_two
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RunOptions
from demele.metrics.run import score


def gap(table: InformationTable) -> Native:
    """MIG-sup_j = I(z_j; v_*) / H(v_*) - I(z_j; v_o) / H(v_o), ranked on the normalised values."""
    normalised = ratio(table.information, table.factor_entropy[..., None, :])
    first, second = top_two(normalised, axis=-1)
    gaps = first - second
    return Native(value=mean_of_defined(gaps), per_code=gaps, matrix=table.information, matrix_of=MATRIX)


def mig_sup(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    **run: Unpack[RunOptions],
) -> Score:
    r"""MIG-sup: the gap of mutual information seen from each code, and its mean: modularity.

    .. math:: \mathrm{MIG\text{-}sup}_j = I(z_j; v_*) / H(v_*) - I(z_j; v_o) / H(v_o)

    ranked on the normalised values. With a single factor the second term is 0.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_code``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Li et al. 2020, eq. 3. A code that informs on nothing scores 0.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> one_code_for_both = factors.sum(axis=1, keepdims=True)
    >>> demele.mig_sup(one_code_for_both, factors).value < 0.1
    True
    """
    return score(METRIC, locals())


METRIC = Metric(
    "mig_sup",
    mig_sup,
    title="MIG-sup",
    family="information",
    shares="information",
    properties=("modularity",),
    native="per code",
    range=(0.0, 1.0),
    source="Li et al. 2020, eq. 3",
    references=("li2020progressive",),
    definition="gap between the two factors on which a code informs most, each relative to its entropy",
    aliases=("MIG-sup", "MIG_sup"),
    readings=(of_table(gap),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    order=30,
    corrected_by=("transition", "bounds"),
)
