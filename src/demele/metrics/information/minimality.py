"""Minimality: the share of what each code holds that is of one factor (Almudévar & Ortega 2024)."""

from collections.abc import Mapping
from typing import Any, Literal, Unpack

import numpy as np

from demele.core.errors import NotEnoughData
from demele.core.results import Score
from demele.core.sentences import give
from demele.estimation.counts import bin_masses, column_bins, soft_joint_counts
from demele.estimation.discretise import Binning
from demele.estimation.information import (
    Correction,
    InformationTable,
    entropy,
    information_table,
    mean_of_defined,
    ratio,
)
from demele.metrics.data import Data
from demele.metrics.metric import MATRIX, Array, Guards, Metric, Native, of_rows, of_table
from demele.metrics.options import Bins, RunOptions
from demele.metrics.run import score

RelativeTo = Literal["entropy", "channel"]


def _largest_share(information: Array, held: Array) -> Native:
    """Return the largest I(v_i; z_j) / held_ij of each code; NaN for a code that holds nothing."""
    shares = ratio(information, held)
    known = np.where(np.isnan(shares), -np.inf, shares).max(axis=-1)
    per_code = np.where(np.isfinite(known), np.clip(known, 0.0, 1.0), np.nan)  # rounding leaves the ends
    return Native(value=mean_of_defined(per_code), per_code=per_code, matrix=information, matrix_of=MATRIX)


def share_of_entropy(table: InformationTable) -> Native:
    """Minimality_j = max_i I(v_i; z_j) / H(z_j), the entropy over the rows on which the factor is annotated."""
    if table.joint_entropy is None:
        raise NotEnoughData("codes", "minimality needs the entropies of codes, which these have not all of")
    held = table.joint_entropy - table.factor_entropy[..., None, :] + table.information
    return _largest_share(table.information, held)


def share_of_channel(data: Data, bins: Binning, correction: Correction) -> Native:
    """Minimality_j = max_i I(v_i; z_j) / I(x; z_j), each row spread over the bins by its q(z|x).

    Raises
    ------
    NotEnoughData
        Without the standard deviations of the codes.
    """
    if data.codes_std is None:
        raise NotEnoughData(
            "codes_std", f"what codes hold of their input needs them; {give('codes_std', codes_std=...)}"
        )
    of_codes, of_factors = column_bins(data.codes, data.factors, bins)
    table = information_table(
        soft_joint_counts(data.codes, data.codes_std, data.factors, of_codes, of_factors), correction
    )
    held = np.empty_like(table.information)
    for code, own_bins in enumerate(of_codes):
        mass = bin_masses(np.asarray(data.codes.values[:, code], dtype=np.float64), data.codes_std[:, code], own_bins)
        of_rows_alone = entropy(mass)
        for index, factor in enumerate(data.factors.columns):
            rows = slice(None) if factor.complete else factor.annotated()
            held[code, index] = entropy(mass[rows].sum(axis=0)) - of_rows_alone[rows].mean()
    return _largest_share(table.information, held)


def _of_channel(_: object, options: Mapping[str, Any]) -> bool:
    return bool(options["relative_to"] == "channel")


def _of_entropy(source: object, options: Mapping[str, Any]) -> bool:
    return not _of_channel(source, options)


def minimality(
    codes: object,
    factors: object,
    codes_std: object = None,
    *,
    bins: Bins = 10,
    correction: Correction = "none",
    relative_to: RelativeTo = "entropy",
    **run: Unpack[RunOptions],
) -> Score:
    r"""Minimality: how much of what each code holds is of one factor: modularity, and no nuisance beside.

    .. math:: \mathrm{minimality}_j = \max_i I(v_i; z_j) / H(z_j)

    and the mean over the codes that vary.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        They may depend on each other: a code that equals one of two equal factors is minimal.
    codes_std : array-like of shape (n_samples, n_codes), >= 0, optional
        Standard deviations of q(z|x), in the unit of the codes, for ``relative_to="channel"``.
    bins, correction
        As in :func:`mig`. There is no neighbour estimate: a continuous code has no entropy.
    relative_to : {"entropy", "channel"}
        What a code holds: the entropy of its bins; or what it tells of its input, I(x; z_j), each row spread over the
        bins by its q(z|x), which hardly depends on their number once they are finer than the deviations.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, 0 for codes that tell nothing, up to the bias of few rows; ``per_code``, NaN for
        constant codes; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Almudévar & Ortega 2024, with :func:`sufficiency`; their code has 15 equal-width bins, and gives NaN where one code
    is constant. **A continuous code has the entropy of its bins**, about log B, which says nothing of it: a uniform
    code of a factor with four values scores 0.64 with 5 bins and 0.26 with 200. Where four times the bins would move
    the score by more than 0.1 it is marked fragile; codes of as many values as bins are as they are. Copies of codes
    change nothing, nor does a factor that no code holds. Codes of noise score what few rows leave of information: by
    ten bins 0.24 on 100 rows, 0.08 on 300, 0.03 on 1 000, for any number of codes.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.minimality(with_sum, factors, kinds="categorical").value, 6)
    0.748962
    """
    return score(METRIC, locals())


METRIC = Metric(
    "minimality",
    minimality,
    title="Minimality",
    family="information",
    shares="information",
    properties=("modularity",),
    native="per code",
    range=(0.0, 1.0),
    source="Almudévar & Ortega 2024",
    references=("almudevar2024rethinking",),
    definition="largest information of a code on a factor, relative to the code's entropy",
    readings=(of_table(share_of_entropy, when=_of_entropy), of_rows(share_of_channel)),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50, code_entropy=True),
    undefined="they are constant",
    order=300,
    in_all=False,
)
