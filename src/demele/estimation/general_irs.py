r"""Interventional robustness, general form for confounded factors (Suter et al., 2019, sections 4 and 5.1).

Two steps, so that data may come whole, in chunks, or from several machines: ``cells.summarise_cells``, whose states add
up, and :func:`general_irs_from_cells`; :func:`general_irs` does both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.estimation.cells import FactorCells, Partition, summarise_cells
from demele.estimation.moments import (
    ROUNDING,
    BoolArray,
    FloatArray,
    IntArray,
    ValueOrder,
    divide,
    largest_distance,
)

Centre = Literal["mean", "median"]


@dataclass(frozen=True, slots=True)
class GeneralIRS:
    r"""Interventional robustness of some codes, see :func:`general_irs`.

    Distances are in standard deviations of the codes. "Situation" is a combination of levels of the factors of
    interest that occurs; "setting", one of the nuisance factors.

    Attributes
    ----------
    value : float
        IRS = 1 - empida / normaliser, at most 1, best 1; NaN if the codes do not depend on the factors at all.
    empida : float
        Mean over situations of the largest disagreement.
    normaliser : float
        The same with no factor of interest and all factors nuisance.
    situations : ndarray of int, shape (n_situations, n_interest)
        Levels of the factors of interest.
    frequency : ndarray, shape (n_situations,)
        Share of the rows.
    mpida : ndarray, shape (n_situations,)
        Largest disagreement, over the settings seen in the situation.
    worst_setting : ndarray of int, shape (n_situations, n_nuisance)
        Where it occurs.
    worst_coverage : ndarray, shape (n_situations,)
        Coverage of the worst setting. *Coverage* is the share of p(rest | situation) whose levels of the rest occur
        in that situation with that setting; below 1 the intervention is extrapolated from the levels that do occur.
    worst_rows : ndarray, shape (n_situations,)
        Rows, in effect, behind the mean at the worst setting: (sum of weights)^2 / (sum of squared weights). If it is
        small, the disagreement may be noise.
    min_coverage, mean_coverage : float
        Over all situations and settings seen together; the mean by their share of the rows.
    settings_seen : float
        Share of the pairs of an observed situation and an observed setting that occur together. Settings that were
        never seen in a situation cannot count in its ``mpida``.
    most_settings : int
        Largest number of settings seen in one situation; with 1 nothing was ever intervened on.
    inactive : ndarray of bool, shape (n_codes,)
        Constant codes; they add nothing to any distance.
    n : int
        Rows used, all factors annotated.
    """

    value: float
    empida: float
    normaliser: float
    situations: IntArray
    frequency: FloatArray
    mpida: FloatArray
    worst_setting: IntArray
    worst_coverage: FloatArray
    worst_rows: FloatArray
    min_coverage: float
    mean_coverage: float
    settings_seen: float
    most_settings: int
    inactive: BoolArray
    n: int


def general_irs(
    codes: NDArray[Any],
    interest: IntArray,
    nuisance: IntArray,
    rest: IntArray,
    *,
    norm: float = 2,
    centre: Centre = "mean",
) -> GeneralIRS:
    r"""Interventional robustness of a set of codes L, with factors that may be confounded.

    .. math::
        \mathrm{PIDA}(g_I, g_J) &= \lVert E[Z_L \mid g_I] - E[Z_L \mid g_I, do(G_J = g_J)] \rVert \\
        \mathrm{EMPIDA}(L \mid I, J) &= E_{g_I} \sup_{g_J} \mathrm{PIDA}(g_I, g_J) \\
        \mathrm{IRS}(L \mid I, J) &= 1 - \frac{\mathrm{EMPIDA}(L \mid I, J)}
                                     {\mathrm{EMPIDA}(L \mid \emptyset, \text{all factors})}

    How far can the nuisance factors J push the codes, once the factors of interest I are known?

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        The codes L only. May be memory-mapped.
    interest, nuisance, rest : ndarray of int, shape (n_samples, any number of factors, 0 included)
        Levels from 0 of the factors I, J and of all others. The rest is what interventions are adjusted for: a factor
        left out of all three cannot be. Rows with a level -1 (not annotated) are left out.
    norm : {1, 2, inf} or other order of a vector norm
        Of differences between means of several codes, each in standard deviations of that code.
    centre : {"mean", "median"}
        Of the codes in a cell of all factors: what stands for their expected value there.

    Returns
    -------
    GeneralIRS
        With the coverage of the reweighting, for a note on positivity.

    Raises
    ------
    NotEnoughData
        If no row is annotated for all factors.

    Notes
    -----
    The means are relative frequencies throughout. Under intervention each row of the cell (g_I, g_J) weighs
    p(rest | g_I) / p(rest | g_I, g_J), and weights are divided by their sum, so that levels of the rest which came
    along with g_J by confounding only are put back to their share. If factors are independent all weights are 1, and
    the mean is that of the cell. The supremum is over the g_J that occur with g_I.

    Codes are divided by their standard deviation, for a norm of several codes would mix units otherwise; for one code
    it changes nothing. IRS is at most 1, and may be below 0: a maximum over few rows, or over a skewed cell, may
    exceed the one over all.

    Noise in the codes is averaged within a cell but not removed: with few rows in the cells of all factors both
    disagreements are of noise. Coarser bins help (Suter et al. 2019, section 5.1).

    Cost: O(N (n_codes + n_factors)), whatever the number of combinations. For 10 codes and 5 factors of 5 levels about
    60 ns per row; where nearly every row is a combination of its own, tables outgrow the processor's caches and 10
    million rows take 1 microsecond each.

    References
    ----------
    Suter, Miladinovic, Schölkopf, Bauer (2019), sections 4 and 5.1, equation 6, algorithm 1.

    Examples
    --------
    The code is the rest, and the nuisance factor only comes along with it:

    >>> nuisance = np.array([[0], [0], [0], [1], [1], [1]])
    >>> rest = np.array([[0], [0], [1], [0], [1], [1]])
    >>> general_irs(rest.astype(float), np.zeros((6, 0), int), nuisance, rest).value
    1.0
    """
    parts = (interest, nuisance, rest)
    columns = [part[:, i] for part in parts for i in range(part.shape[1])]
    bounds = np.cumsum([part.shape[1] for part in parts])
    cells = _cells_of_complete_rows(codes, columns, centre)
    return general_irs_from_cells(cells, range(bounds[0]), range(bounds[0], bounds[1]), norm=norm)


def _cells_of_complete_rows(codes: NDArray[Any], columns: Sequence[IntArray], centre: Centre) -> FactorCells:
    """Summarise the rows that are annotated for all factors; with medians, sums are those of as many equal codes."""
    complete = np.ones(len(codes), dtype=np.bool_)
    for column in columns:
        complete &= column >= 0
    if not complete.any():
        raise NotEnoughData(
            "factors",
            "the general form of interventional robustness needs rows annotated for all factors, "
            f"but none of the {len(codes)} is; leave out the factors that are rarely annotated",
        )
    if not complete.all():
        codes, columns = codes[complete], [column[complete] for column in columns]
    cells = summarise_cells(codes, columns, [int(column.max()) + 1 for column in columns])
    if centre == "mean":
        return cells
    import pandas as pd

    medians = pd.DataFrame(codes).groupby(list(columns), sort=True).median().to_numpy(dtype=np.float64)
    total, in_order = np.empty_like(cells.total), np.lexsort(cells.levels[::-1])
    total[:, in_order] = (medians.T - cells.moments.reference[:, None]) * cells.count[in_order]
    return replace(cells, total=total)


def general_irs_from_cells(
    cells: FactorCells,
    interest: Sequence[int],
    nuisance: Sequence[int],
    *,
    codes: Sequence[int] | None = None,
    norm: float = 2,
) -> GeneralIRS:
    """Return what :func:`general_irs` does, from the summary, for some of its factors and codes.

    Parameters
    ----------
    cells : FactorCells
        Summary of at least one row.
    interest, nuisance : sequence of int
        Numbers of factors; all others are the rest.
    codes : sequence of int, optional
        Numbers of the codes L; all by default.
    norm : float
        As in :func:`general_irs`.
    """
    chosen = range(len(cells.total)) if codes is None else codes
    rest = [i for i in range(len(cells.sizes)) if i not in {*interest, *nuisance}]
    worlds = _Interventions.of(cells, interest, nuisance, rest)
    deviation = cells.moments.deviation
    disagreement = np.zeros(worlds.pairs.n)
    distance = np.zeros(len(cells.count))
    for j in chosen:
        if deviation[j] > 0.0:
            # A row of cell (I, J, rest) has the weight n(I, rest) n(I, J) / (n(I) n(I, J, rest)); summed over the rows
            # of the cell, and without what is common to the pair, that is the cell's mean weighed by its share.
            adjusted = worlds.pairs.sum(worlds.share * (cells.total[j] / cells.count)) / worlds.coverage
            conditional = worlds.situations.sum(cells.total[j]) / worlds.situation_rows
            shift = adjusted - conditional[worlds.situation_of_pair]
            disagreement = _add_to_norm(disagreement, shift / deviation[j], norm)
            from_mean = cells.total[j] / cells.count - cells.total[j].sum() / cells.moments.n
            distance = _add_to_norm(distance, from_mean / deviation[j], norm)
    disagreement, distance = _finish_norm(disagreement, norm), _finish_norm(distance, norm)

    n_situations = worlds.situations.n
    mpida = np.zeros(n_situations)
    np.maximum.at(mpida, worlds.situation_of_pair, disagreement)
    attained = np.flatnonzero(disagreement == mpida[worlds.situation_of_pair])
    worst = np.zeros(n_situations, dtype=np.intp)
    worst[worlds.situation_of_pair[attained[::-1]]] = attained[::-1]
    frequency = worlds.situation_rows / cells.moments.n
    empida, normaliser = float(frequency @ mpida), float(distance.max())
    settings = cells.partition(nuisance).n
    return GeneralIRS(
        value=1.0 - empida / normaliser if normaliser > ROUNDING else np.nan,
        empida=empida,
        normaliser=normaliser,
        situations=_levels(cells, interest, worlds.situations.example),
        frequency=frequency,
        mpida=mpida,
        worst_setting=_levels(cells, nuisance, worlds.pairs.example[worst]),
        worst_coverage=worlds.coverage[worst],
        worst_rows=worlds.effective_rows[worst],
        min_coverage=float(worlds.coverage.min()),
        mean_coverage=float(worlds.coverage @ worlds.pairs.sum(cells.count) / cells.moments.n),
        settings_seen=worlds.pairs.n / (n_situations * settings),
        most_settings=int(np.bincount(worlds.situation_of_pair).max()),
        inactive=cells.moments.constant[list(chosen)],
        n=cells.moments.n,
    )


def _levels(cells: FactorCells, factors: Sequence[int], at: NDArray[np.intp]) -> NDArray[np.int64]:
    return np.array([cells.levels[i, at] for i in factors], dtype=np.int64).reshape(len(factors), len(at)).T


def _add_to_norm(sofar: FloatArray, value: FloatArray, norm: float) -> FloatArray:
    """One more coordinate; coordinate by coordinate needs no table of all codes for all cells."""
    if norm == np.inf:
        return np.maximum(sofar, np.abs(value))
    return sofar + np.abs(value) ** norm


def _finish_norm(sofar: FloatArray, norm: float) -> FloatArray:
    return sofar if norm in (1, np.inf) else sofar ** (1.0 / norm)


@dataclass(frozen=True, slots=True)
class _Interventions:
    """What can be said of the codes in each situation (levels of I) once a setting (levels of J) is forced on it."""

    situations: Partition
    situation_rows: FloatArray
    pairs: Partition
    situation_of_pair: NDArray[np.intp]
    #: p(rest | situation) of each cell.
    share: FloatArray
    #: Sum of the shares of the cells of each pair.
    coverage: FloatArray
    effective_rows: FloatArray

    @classmethod
    def of(cls, cells: FactorCells, interest: Sequence[int], nuisance: Sequence[int], rest: Sequence[int]) -> Self:
        situations = cells.partition(interest)
        pairs = cells.partition([*interest, *nuisance])
        rows = situations.sum(cells.count)
        if rest:
            natural = cells.partition([*interest, *rest])
            share = natural.sum(cells.count)[natural.group] / rows[situations.group]
        else:
            share = np.ones(len(cells.count))
        coverage = pairs.sum(share)
        return cls(
            situations,
            rows,
            pairs,
            situations.group[pairs.example],
            share,
            coverage,
            coverage**2 / pairs.sum(share**2 / cells.count),
        )


def disentanglement_scores(codes: NDArray[Any], factor_bins: IntArray, centre: Centre = "mean") -> FloatArray:
    r"""Matrix of D_li = IRS({l} | {i}, all factors but i); the disentanglement score of code l is max_i D_li.

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        May be memory-mapped.
    factor_bins : ndarray of int, shape (n_samples, n_factors)
        Levels from 0; rows with a -1 are left out.
    centre : {"mean", "median"}
        As in :func:`general_irs`.

    Returns
    -------
    ndarray, shape (n_codes, n_factors)
        At most 1, best 1; NaN for a code that is constant or does not depend on the factors at all. With one factor
        nothing is left to disturb a code: 1.

    Notes
    -----
    No factor is left as rest, so no adjustment is needed, and means of the cells of all factors stand for the
    interventions. With one row in each cell that is the crossed form, with the frequency of the values as weights.
    Cost: O(N (n_codes + n_factors)), then O(n_codes n_factors) per cell.

    References
    ----------
    Suter et al. (2019), equation 7.

    Examples
    --------
    >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> code = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> disentanglement_scores(code, factors).round(3)
    array([[0.8, 0.2]])
    """
    cells = _cells_of_complete_rows(codes, list(factor_bins.T), centre)
    moments = cells.moments
    empida = np.zeros((len(cells.total), len(cells.sizes)))
    normaliser = np.zeros(len(cells.total))
    for j, line in enumerate(cells.total):
        mean = line / cells.count
        normaliser[j] = largest_distance(line.sum(), moments.n, mean.min(), mean.max())
    for i, size in enumerate(cells.sizes):
        groups = ValueOrder.of(cells.levels[i].astype(np.int64), size)
        cell_rows = cells.count[groups.order].astype(np.float64)
        rows = groups.reduce(np.add, cell_rows)
        for j, line in enumerate(cells.total):
            total = line[groups.order]
            mean = total / cell_rows
            low, high = groups.reduce(np.minimum, mean), groups.reduce(np.maximum, mean)
            empida[j, i] = (rows / moments.n) @ largest_distance(groups.reduce(np.add, total), rows, low, high)
    normaliser[moments.constant | ~(normaliser > ROUNDING * moments.deviation)] = 0.0
    return 1.0 - divide(empida, normaliser[:, np.newaxis])
