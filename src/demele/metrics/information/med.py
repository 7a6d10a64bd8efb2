"""MED: DCI's entropies of codes and of factors, on shares of information (Cao et al. 2022)."""

from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import InputError
from demele.core.kinds import Count
from demele.core.results import Note
from demele.estimation.counts import column_bins, joint_counts
from demele.estimation.information import Correction, InformationTable, information_table, mean_of_defined, ratio
from demele.metrics.data import Data
from demele.metrics.importances import concentration
from demele.metrics.information import InformationMetric
from demele.metrics.information.information_shares import active_codes, barely_beyond_chance, informed_factors
from demele.metrics.metric import MATRIX, Native
from demele.metrics.options import Bins, Estimator, TableOptions, as_binning
from demele.metrics.splits import folds

Counted = Literal["informative", "all"]


def _shares_of_codes(table: InformationTable, active: Counted) -> Floats:
    """Return R_ij = I(v_i; z_j) / sum_j' I(v_i; z_j') as (..., n_codes, n_factors); 0 for what does not count.

    With ``"informative"``, codes without information beyond chance do not count. Factors without information in the
    other codes do not count either: their shares, which add up to 1 like those of all factors, would be shares of
    noise.
    """
    information = np.maximum(table.information, 0.0)
    if active == "informative":
        chosen = active_codes(table, "informative", 0.0)
        told = informed_factors(table, chosen)
        information = np.where(chosen[..., None] & told[..., None, :], information, 0.0)
    return np.nan_to_num(ratio(information, information.sum(axis=-2, keepdims=True)))


def _modular_entropy(shares: Floats) -> tuple[Floats, Floats]:
    """Return D_j = 1 - H(R_.j / sum_i R_ij) / log M of each code, NaN without any share, and the codes' weights."""
    totals = shares.sum(axis=-1)
    used = totals > 0
    own = shares / np.where(used, totals, 1.0)[..., None]
    grand = totals.sum(axis=-1, keepdims=True)
    weights = totals / np.where(grand > 0, grand, 1.0)
    return np.where(used, concentration(own, axis=-1), np.nan), weights


def _compact_entropy(shares: Floats) -> Floats:
    """Return C_i = 1 - H(R_i.) / log d of each factor over these d codes, NaN where no code has a share of it."""
    totals = shares.sum(axis=-2)
    known = (totals > 0) & (shares.shape[-2] > 1)
    return np.where(known, concentration(shares / np.where(known, totals, 1.0)[..., None, :], axis=-2), np.nan)


def _weighted(per_code: Floats, weights: Floats) -> Floats:
    """Return the mean of the defined values by weight; NaN where none is."""
    some = weights.sum(axis=-1) > 0
    return np.where(some, np.minimum(np.nansum(per_code * weights, axis=-1), 1.0), np.nan)


def _notes(table: InformationTable, shares: Floats, active: Counted) -> tuple[Note, ...]:
    return barely_beyond_chance(table, np.asarray(shares.any(axis=-1))) if active == "informative" else ()


# The codes that serve best --------------------------------------------------------------------------------------------


def best_codes(table: InformationTable, top_k: int | None, active: Counted) -> NDArray[np.intp]:
    """Return, for each factor, the k codes with the largest D_j of those that have their largest share on it."""
    shares = _shares_of_codes(table, active)
    per_code, _ = _modular_entropy(shares)
    largest, own = shares.max(axis=1), shares.argmax(axis=1)
    found: list[int] = []
    for factor in range(shares.shape[1]):
        members = np.flatnonzero((own == factor) & (largest > 0))
        # what differs by rounding only is told apart by how much of the factor the code holds
        order = np.lexsort((-largest[members], -np.round(per_code[members], 9)))
        found += members[order[:top_k]].tolist()
    return np.array(sorted(found), dtype=np.intp)


def split_tables(data: Data, bins: Bins) -> tuple[InformationTable, list[tuple[InformationTable, InformationTable]]]:
    """Return the table of all rows, and for each half of them the table to choose by and the table to score."""
    of_codes, of_factors = column_bins(data.codes, data.factors, as_binning(bins))
    parts = []
    for _, rows in folds(data.n, 2):
        half = data.take(rows)
        parts.append(joint_counts(half.codes, half.factors, of_codes, of_factors))
    first, second = (information_table(one) for one in parts)
    return information_table(parts[0].merge(parts[1])), [(first, second), (second, first)]


def _checked_halves(
    data: Data, *, bins: Bins, estimator: Estimator, correction: Correction, **_: object
) -> tuple[InformationTable, list[tuple[InformationTable, InformationTable]]]:
    """Return the tables of all rows and of halves, unless more is asked for than counts.

    Raises
    ------
    InputError
    """
    if estimator != "histogram" or correction != "none":
        raise InputError(
            "top_k",
            f"it chooses among codes by counts: leave out `estimator={estimator!r}` and `correction={correction!r}`",
        )
    return split_tables(data, bins)


@InformationMetric(
    title="MED modularity",
    properties=("modularity",),
    native="per code",
    range=(0.0, 1.0),
    source="Cao et al. 2022 (MED)",
    references=("cao2022empirical",),
    definition="1 - entropy of a code's shares of the information on the factors, relative to its largest",
    needs_factors=2,
    when={InformationTable: lambda _, options: options["top_k"] is None},
    undefined="they tell nothing beyond chance, or are not among the best of a factor",
    in_all=False,
)
def med_modularity(
    state: InformationTable | Data,
    *,
    active: Counted = "informative",
    top_k: Count | None = None,
    **options: Unpack[TableOptions],
) -> Native:
    r"""MED modularity: concentration of the information of each code on one factor.

    .. math::
        D_j = 1 - H(R_{\cdot j} / \textstyle\sum_i R_{ij}) / \log M,\quad
        R_{ij} = I(v_i; z_j) / \textstyle\sum_{j'} I(v_i; z_{j'})

    and the mean over codes, weighted by :math:`\sum_i R_{ij}`: the modularity of DCI with information instead of
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
        largest share on it: for representations with hundreds of codes, if a few should be used. They are
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
    with a tenth of the information on each factor score as well. Every factor has the same weight, even with hardly any
    information, so that noise does not score 0 with ``active="all"``. A factor without information in active codes is
    left out (published code divides 0 by 0). Copies of codes change nothing.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.metrics.med_modularity(with_sum, demele.Factors(factors, kinds="categorical")).value, 6)
    0.753114
    >>> demele.metrics.med_modularity(with_sum, demele.Factors(factors, kinds="categorical"), top_k=1).value > 0.95
    True
    """
    if isinstance(state, InformationTable):
        shares = _shares_of_codes(state, active)
        per_code, weights = _modular_entropy(shares)
        return Native(
            value=_weighted(per_code, weights),
            per_code=per_code,
            matrix=state.information,
            matrix_of=MATRIX,
            details={"weights": weights},
            notes=_notes(state, shares, active),
        )
    whole, halves = _checked_halves(state, **options)
    value, own, weight, kept = [], [], [], []
    for choosing, scoring in halves:
        best = best_codes(choosing, top_k, active)
        shares = np.zeros_like(scoring.information)
        shares[best] = _shares_of_codes(scoring, active)[best]
        per_code, weights = _modular_entropy(shares)
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


@InformationMetric(
    title="MED compactness",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Cao et al. 2022 (MED)",
    references=("cao2022empirical",),
    definition="1 - entropy of the codes' shares of the information on a factor, relative to its largest",
    needs_codes=2,
    when={InformationTable: lambda _, options: options["top_k"] is None},
    undefined="no active code informs on them",
    in_all=False,
)
def med_compactness(
    state: InformationTable | Data,
    *,
    active: Counted = "informative",
    top_k: Count | None = None,
    **options: Unpack[TableOptions],
) -> Native:
    r"""MED compactness: concentration of the information on each factor in one code.

    .. math:: C_i = 1 - H(R_{i \cdot}) / \log d,\quad R_{ij} = I(v_i; z_j) / \textstyle\sum_{j'} I(v_i; z_{j'})

    and the mean over factors: the compactness of DCI with information instead of importances, at the cost of MIG.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), at least two
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active, top_k
        As in :func:`med_modularity`. With ``top_k`` the entropy is over the codes that are kept, and not defined where
        one alone is.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``, NaN where no active code informs on the factor, which is then left out;
        ``matrix``: mutual information (n_codes, n_factors) in nats; with ``top_k`` ``details["kept"]``: the codes of
        each half by their places.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Cao et al. 2022, whose settings are the protocol ``med2022``; published code weighs factors by their sums of shares,
    which are 1 but with ``top_k``. c copies of every one of d codes that hold one factor each score
    1 - log c / log(c d). It does not see how much is known: codes with a tenth of the information on each factor score
    as well. Two codes that each hold half of a factor, as the sine and the cosine of an angle do, count as copies.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> classes = demele.Factors(factors, kinds="categorical")
    >>> round(demele.metrics.med_compactness(factors[:, [0, 0, 1, 1]], classes).value, 6)
    0.5
    """
    if isinstance(state, InformationTable):
        shares = _shares_of_codes(state, active)
        return Native.mean(state, per_factor=_compact_entropy(shares), notes=_notes(state, shares, active))
    whole, halves = _checked_halves(state, **options)
    kept = [best_codes(choosing, top_k, active) for choosing, _ in halves]
    own = [
        _compact_entropy(_shares_of_codes(scoring, active)[best])
        for best, (_, scoring) in zip(kept, halves, strict=True)
    ]
    per_factor = mean_of_defined(np.stack(own, axis=-1))
    return Native.mean(whole, per_factor=per_factor, details={"kept": [best.tolist() for best in kept]})
