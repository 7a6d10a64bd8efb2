"""MED modularity: DCI's entropy of each code, on shares of information (Cao et al. 2022)."""

from collections.abc import Mapping
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.results import Score
from demele.core.sentences import setting
from demele.estimation.counts import column_bins, joint_counts
from demele.estimation.discretise import Binning
from demele.estimation.information import (
    Correction,
    InformationTable,
    information_table,
    mean_of_defined,
    ratio,
)
from demele.metrics.data import Data
from demele.metrics.importances import concentration
from demele.metrics.information.infom import active_codes, barely_beyond_chance, informed_factors
from demele.metrics.metric import MATRIX, Array, Guards, Metric, Native, of_rows, of_table
from demele.metrics.options import Bins, Count, Estimator, RunOptions
from demele.metrics.run import score
from demele.metrics.splits import folds

Counted = Literal["informative", "all"]


def shares_of_codes(table: InformationTable, active: str) -> Array:
    """Return R_ij = I(v_i; z_j) / sum_j' I(v_i; z_j') as (..., n_codes, n_factors); 0 for what does not count.

    With ``"informative"`` the codes that tell nothing beyond chance do not count, nor does a factor of which the others
    tell nothing: its shares, which add up to 1 as those of all factors do, would be shares of noise.
    """
    information = np.maximum(table.information, 0.0)
    if active == "informative":
        chosen = active_codes(table, "informative", 0.0)
        told = informed_factors(table, chosen)
        information = np.where(chosen[..., None] & told[..., None, :], information, 0.0)
    return np.nan_to_num(ratio(information, information.sum(axis=-2, keepdims=True)))


def modular_entropy(shares: Array) -> tuple[Array, Array]:
    """Return D_j = 1 - H(R_.j / sum_i R_ij) / log M of each code, NaN without any share, and the codes' weights."""
    totals = shares.sum(axis=-1)
    used = totals > 0
    own = shares / np.where(used, totals, 1.0)[..., None]
    grand = totals.sum(axis=-1, keepdims=True)
    weights = totals / np.where(grand > 0, grand, 1.0)
    return np.where(used, concentration(own, axis=-1), np.nan), weights


def compact_entropy(shares: Array) -> Array:
    """Return C_i = 1 - H(R_i.) / log d of each factor over these d codes, NaN where no code has a share of it."""
    totals = shares.sum(axis=-2)
    known = (totals > 0) & (shares.shape[-2] > 1)
    return np.where(known, concentration(shares / np.where(known, totals, 1.0)[..., None, :], axis=-2), np.nan)


def _weighted(per_code: Array, weights: Array) -> Array:
    """Return the mean of the defined values by weight; NaN where none is."""
    some = weights.sum(axis=-1) > 0
    return np.where(some, np.minimum(np.nansum(per_code * weights, axis=-1), 1.0), np.nan)


def modular_shares(table: InformationTable, active: str) -> Native:
    """MED modularity of a table: the mean of D_j, weighted by the codes' shares of all factors."""
    shares = shares_of_codes(table, active)
    per_code, weights = modular_entropy(shares)
    return Native(
        value=_weighted(per_code, weights),
        per_code=per_code,
        matrix=table.information,
        matrix_of=MATRIX,
        details={"weights": weights},
        notes=barely_beyond_chance(table, np.asarray(shares.any(axis=-1))) if active == "informative" else (),
    )


# The codes that serve best --------------------------------------------------------------------------------------------


def best_codes(table: InformationTable, top_k: int, active: str) -> NDArray[np.intp]:
    """Return, for each factor, the k codes with the largest D_j of those that have their largest share on it."""
    shares = shares_of_codes(table, active)
    per_code, _ = modular_entropy(shares)
    largest, own = shares.max(axis=1), shares.argmax(axis=1)
    found: list[int] = []
    for factor in range(shares.shape[1]):
        members = np.flatnonzero((own == factor) & (largest > 0))
        # what differs by rounding only is told apart by how much of the factor the code holds
        order = np.lexsort((-largest[members], -np.round(per_code[members], 9)))
        found += members[order[:top_k]].tolist()
    return np.array(sorted(found), dtype=np.intp)


def split_tables(data: Data, bins: Binning) -> tuple[InformationTable, list[tuple[InformationTable, InformationTable]]]:
    """Return the table of all rows, and for each half of them the table to choose by and the table to score."""
    of_codes, of_factors = column_bins(data.codes, data.factors, bins)
    parts = []
    for _, rows in folds(data.n, 2):
        half = data.take(rows)
        parts.append(joint_counts(half.codes, half.factors, of_codes, of_factors))
    first, second = (information_table(one) for one in parts)
    return information_table(parts[0].merge(parts[1])), [(first, second), (second, first)]


def check_estimator(estimator: str, correction: str) -> None:
    """Refuse what is not computed of halves of the rows.

    Raises
    ------
    InputError
    """
    if estimator != "histogram" or correction != "none":
        raise InputError(
            "top_k",
            f"it chooses among codes by counts: leave out {setting(estimator=estimator)} and "
            f"{setting(correction=correction)}",
        )


def modular_shares_of_best(
    data: Data, bins: Binning, estimator: str, correction: str, active: str, top_k: int
) -> Native:
    """MED modularity of the k best codes of each factor, chosen on one half of the rows and scored on the other."""
    check_estimator(estimator, correction)
    whole, halves = split_tables(data, bins)
    value, own, weight, kept = [], [], [], []
    for choosing, scoring in halves:
        best = best_codes(choosing, top_k, active)
        shares = np.zeros_like(scoring.information)
        shares[best] = shares_of_codes(scoring, active)[best]
        per_code, weights = modular_entropy(shares)
        value.append(_weighted(per_code, weights))
        own.append(np.nan_to_num(per_code) * weights)
        weight.append(weights)
        kept.append(best.tolist())
    weights = np.mean(weight, axis=0)
    return Native(
        value=mean_of_defined(np.array(value)),
        per_code=ratio(np.mean(own, axis=0), weights),
        matrix=whole.information,
        matrix_of=MATRIX,
        details={"weights": weights, "kept": kept},
    )


def all_codes(_: object, options: Mapping[str, Any]) -> bool:
    """Whether all codes are asked for, for which a table of information is enough."""
    return options["top_k"] is None


def med_modularity(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    active: Counted = "informative",
    top_k: Count | None = None,
    **run: Unpack[RunOptions],
) -> Score:
    r"""MED modularity: whether what each code has of the information is on one factor.

    .. math::
        D_j = 1 - H(R_{\cdot j} / \textstyle\sum_i R_{ij}) / \log M,\quad
        R_{ij} = I(v_i; z_j) / \textstyle\sum_{j'} I(v_i; z_{j'})

    and the mean over codes, weighted by :math:`\sum_i R_{ij}`: the modularity of DCI with information in place of
    importances, at the cost of MIG.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active : {"informative", "all"}
        Which codes count: those that tell anything of any factor beyond chance, as in :func:`infom`, or all, as
        published.
    top_k : int, optional
        Only so many codes of each factor count, those with the largest :math:`D_j` among the codes that have their
        largest share on it: for representations of hundreds of codes, of which a few are meant to serve. They are
        chosen on one half of the rows and scored on the other, and the two results averaged; published code chooses
        and scores on the same rows, which lifts 512 codes of noise. The halves are drawn once for all seeds.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, NaN where no code is active; ``per_code``, NaN for those that do not count; ``matrix``:
        mutual information (n_codes, n_factors) in nats; ``details["weights"]``, and with ``top_k`` ``["kept"]``: the
        codes of each half by their places.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Cao et al. 2022, whose settings are the protocol ``med2022``. Shares say nothing of how much a code knows: codes
    with a tenth of the information on each factor score as well. Every factor weighs the same, one of which hardly
    anything is known too, so that noise does not score 0 with ``active="all"``; a factor on which no active code
    informs is left out (published code divides 0 by 0). Copies of codes change nothing.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.med_modularity(with_sum, factors, kinds="categorical").value, 6)
    0.753114
    >>> demele.med_modularity(with_sum, factors, kinds="categorical", top_k=1).value > 0.95
    True
    """
    return score(METRIC, locals())


METRIC = Metric(
    "med_modularity",
    med_modularity,
    title="MED modularity",
    family="information",
    shares="information",
    properties=("modularity",),
    native="per code",
    range=(0.0, 1.0),
    source="Cao et al. 2022 (MED)",
    references=("cao2022empirical",),
    definition="1 - entropy of a code's shares of the information on the factors, relative to its largest",
    needs_factors=2,
    readings=(of_table(modular_shares, when=all_codes), of_rows(modular_shares_of_best)),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    undefined="they tell nothing beyond chance, or are not among the best of a factor",
    order=280,
    in_all=False,
)
