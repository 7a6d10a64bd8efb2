r"""Interventional robustness, crossed form (Suter et al., 2019, section 5.2).

Two steps, so that data may come whole, in chunks, or from several machines: :func:`summarise_extremes`, whose sums add
up, and :func:`crossed_from_extremes`; :func:`crossed_deviations` does both. Factors arrive as integer bins from 0;
-1 marks a row that is not annotated.

Sums are taken about a reference value (the mean of the first rows seen), so that a code far from 0 loses no digits.
Squares are summed too: codes whose spread is beyond 1e150, or below 1e-150, must be rescaled first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from demele.core.arrays import Array, Counts, Flags, Floats, Integers, Rows, pd
from demele.core.errors import NotEnoughData
from demele.estimation.cells import FactorCells, summarise_cells
from demele.estimation.linear_recovery import (
    ROUNDING,
    CodeMoments,
    ValueOrder,
    chunks,
    code_rows,
    divide,
    largest_distance,
)


@dataclass(frozen=True, slots=True)
class CellExtremes:
    """Number, sum, smallest and largest of every code for every value of every factor: all that crossed IRS needs.

    The values of factor i stand in the columns ``offsets[i]:offsets[i + 1]``.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_factors + 1,)
        Where the values of each factor start.
    count : ndarray of int, shape (n_values,)
        Rows with that value; rows that are not annotated (bin -1) are counted nowhere.
    total : ndarray, shape (n_codes, n_values)
        Sums of z - reference.
    low, high : ndarray, shape (n_codes, n_values)
        Extremes of z - reference; inf and -inf for a value without rows.
    moments : CodeMoments
        The codes over all rows, annotated or not; it holds the reference.
    """

    offsets: Rows
    count: Counts
    total: Floats
    low: Floats
    high: Floats
    moments: CodeMoments


@dataclass(frozen=True, slots=True)
class CrossedIRS:
    """Deviations of codes within the values of factors, see :func:`crossed_deviations`.

    Attributes
    ----------
    matrix : ndarray, shape (n_codes, n_factors)
        1 - (mean deviation within the factor's values) / (deviation over all rows), at most 1, best 1. NaN in the row
        of an inactive code and in the column of a factor that no row is annotated for.
    max_deviation : ndarray, shape (n_codes,)
        Largest (or quantile of the) distance of the code from its mean, in standard deviations of that code, hence
        without unit; 0 for an inactive code.
    deviation : ndarray, shape (n_codes,)
        Standard deviation of each code, in its own unit: ``max_deviation * deviation`` is the distance itself.
    inactive : ndarray of bool, shape (n_codes,)
        Codes that do not vary (or not at the chosen quantile).
    """

    matrix: Floats
    max_deviation: Floats
    deviation: Floats
    inactive: Flags


ValueWeights = Literal["frequency", "uniform"]
Normaliser = Literal["quantile", "maximum"]


def crossed_deviations(
    codes: Floats,
    factor_bins: Integers,
    n_bins: Sequence[int],
    *,
    quantile: float = 1.0,
    normaliser: Normaliser = "quantile",
    value_weights: ValueWeights = "frequency",
) -> CrossedIRS:
    r"""Interventional robustness of each code given each factor, for factors that vary independently of one another.

    .. math::
        \mathrm{zdev}_{ijk} = \max_{n: v_i = k} |z_j - \bar z_{jk}|, \qquad
        R_{ji} = 1 - \frac{\sum_k w_{ik}\, \mathrm{zdev}_{ijk}}{\max_{n: v_i \text{ known}} |z_j - \bar z_j|}

    If knowing factor i fixes code j, whatever the other factors do, R is 1; if it does not help, R is about 0.

    Parameters
    ----------
    codes : ndarray, shape (n_samples, n_codes)
        May be memory-mapped, and of any real type; it is read once, in chunks (``quantile`` 1).
    factor_bins : ndarray of int, shape (n_samples, n_factors)
        Values as integers from 0; -1 where the row is not annotated for the factor.
    n_bins : sequence of int
        Number of possible values of each factor.
    quantile : float in (0, 1], default 1
        The quantile of the distances that stands for the maximum; below 1 outliers matter less, and all samples are
        needed instead of a summary.
    normaliser : {"quantile", "maximum"}
        What stands in the denominator: the same quantile, or the largest distance whatever the quantile (as in
        disentanglement_lib).
    value_weights : {"frequency", "uniform"}
        Mean over the values that occur: by their share of the annotated rows (Suter et al. 2019: the
        expectation over the factor) or all values equally (the review and public code).

    Notes
    -----
    A factor that is annotated on some rows only is judged on these rows, in the numerator and in the denominator, so
    that missing annotations alone never look like robustness. A constant factor scores 0: it fixes nothing.

    A linear map of a code changes nothing but rounding. Independent noise scores above 0 for few rows, since small
    groups deviate less, and about 0 (a little below included) for many; the copy of a uniform factor that was cut into
    K bins scores about 1 - 1/K, not 1.

    Public code (disentanglement_lib, and the review's) always weights values equally. disentanglement_lib takes the
    quantile (0.99 by default) in the numerator but the maximum in the denominator, which gives noise a score above 0
    for any number of rows: 0.34 for Gaussian codes and 15 000 rows. ``normaliser="maximum"`` and
    ``value_weights="uniform"`` do that.

    Cost: O(N d M); about 4 ms for N = 20000, d = M = 8. With ``quantile`` < 1: about 30 ms.

    References
    ----------
    Suter, Miladinovic, Schölkopf, Bauer (2019), Robustly disentangled causal mechanisms, section 5.2.

    Examples
    --------
    >>> codes = np.array([[0.0, 5.0], [0.0, 1.0], [3.0, 2.0], [3.0, 4.0]])
    >>> shape = np.array([[0], [0], [1], [1]])
    >>> crossed_deviations(codes, shape, [2]).matrix
    array([[1.  ],
           [0.25]])
    """
    if quantile >= 1.0:
        return crossed_from_extremes(summarise_extremes(codes, factor_bins, n_bins), value_weights=value_weights)
    lines = code_rows(codes, slice(None))  # a quantile needs every row, and a few copies of the codes
    moments, centred = CodeMoments.of_rows(lines, lines.mean(axis=1))
    of_all = quantile if normaliser == "quantile" else 1.0
    largest = _distance_quantile(centred, of_all)
    within = np.full((len(lines), len(n_bins)), np.nan)
    overall = within.copy()
    for i, size in enumerate(n_bins):
        groups = ValueOrder.of(factor_bins[:, i], size)
        if not len(groups.order):
            continue
        ordered = centred.take(groups.order, axis=1)
        deviations = [_distance_quantile(part, quantile) for part in groups.parts(ordered)]
        within[:, i] = _mean_over_values(np.stack(deviations, axis=1), groups.count, value_weights)
        complete = len(groups.order) == len(codes)
        overall[:, i] = largest if complete else _distance_quantile(ordered, of_all)
    return _crossed(within, overall, largest, moments)


def summarise_extremes(
    codes: Array, factor_bins: Integers, n_bins: Sequence[int], *, reference: Floats | None = None
) -> CellExtremes:
    """Return the :class:`CellExtremes` of codes (n_samples, n_codes) and bins (n_samples, n_factors), in one pass.

    With the same ``reference``, (n_codes,), the sums of parts of the rows add up to those of all. Without one it is the
    mean of the first rows. Cost: O(N d M) time, and the memory of one chunk of 8192 rows.
    """
    offsets = np.concatenate(([0], np.cumsum(n_bins, dtype=np.intp)))
    shape = (codes.shape[1], int(offsets[-1]))
    count, total = np.zeros(shape[1], dtype=np.int64), np.zeros(shape)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    moments = CodeMoments.empty(shape[0])
    for rows in chunks(len(codes)):
        lines = code_rows(codes, rows)
        if reference is None:
            reference = lines.mean(axis=1)
        part, centred = CodeMoments.of_rows(lines, reference)
        moments = moments.merge(part)
        for i, size in enumerate(n_bins):
            groups = ValueOrder.of(factor_bins[rows, i], size)
            columns = offsets[i] + groups.present
            ordered = centred.take(groups.order, axis=1)
            count[columns] += groups.count
            total[:, columns] += groups.reduce(np.add, ordered)
            low[:, columns] = np.minimum(low[:, columns], groups.reduce(np.minimum, ordered))
            high[:, columns] = np.maximum(high[:, columns], groups.reduce(np.maximum, ordered))
    return CellExtremes(offsets, count, total, low, high, moments)


def crossed_from_extremes(extremes: CellExtremes, *, value_weights: ValueWeights = "frequency") -> CrossedIRS:
    """Return what :func:`crossed_deviations` does (with ``quantile`` 1), from the summary; cost free of N."""
    moments = extremes.moments
    n_factors = len(extremes.offsets) - 1
    within = np.full((len(moments.total), n_factors), np.nan)
    overall = within.copy()
    for i in range(n_factors):
        columns = np.arange(extremes.offsets[i], extremes.offsets[i + 1])
        columns = columns[extremes.count[columns] > 0]
        count = extremes.count[columns]
        if not len(columns):
            continue
        total, low, high = extremes.total[:, columns], extremes.low[:, columns], extremes.high[:, columns]
        deviations = largest_distance(total, count, low, high)
        within[:, i] = _mean_over_values(deviations, count, value_weights)
        overall[:, i] = largest_distance(total.sum(axis=1), count.sum(), low.min(axis=1), high.max(axis=1))
    if moments.n:
        largest = largest_distance(moments.total, moments.n, moments.low, moments.high)
    else:
        largest = np.zeros(len(moments.total))
    return _crossed(within, overall, largest, moments)


def _mean_over_values(deviations: Floats, count: Integers, value_weights: ValueWeights) -> Floats:
    weights = count / count.sum() if value_weights == "frequency" else np.full(len(count), 1.0 / len(count))
    return np.asarray((deviations * weights).sum(axis=-1))


def _crossed(
    within: Floats,
    overall: Floats,
    largest: Floats,
    moments: CodeMoments,
) -> CrossedIRS:
    inactive = moments.constant | ~(largest > 0.0)
    deviation = moments.deviation
    matrix = 1.0 - divide(within, overall)
    matrix[inactive] = np.nan
    return CrossedIRS(
        matrix=matrix,
        max_deviation=np.divide(largest, deviation, out=np.zeros_like(largest), where=~inactive),
        deviation=deviation,
        inactive=inactive,
    )


def _distance_quantile(values: Floats, quantile: float) -> Floats:
    """Quantile, over the last axis, of the distances from the mean."""
    mean = np.clip(values.mean(axis=-1), values.min(axis=-1), values.max(axis=-1))
    distances = np.abs(values - mean[..., np.newaxis])
    noise = 1e-14 * distances.max(axis=-1)  # a value that equals the mean but for rounding is at distance 0
    result: Floats = np.quantile(distances, quantile, axis=-1, overwrite_input=True)
    return np.where(result > noise, result, 0.0)


def irs_score(
    matrix: Floats, max_deviation: Floats, weights: Literal["deviation", "uniform"] = "deviation"
) -> tuple[Floats, float]:
    r"""Score of each code, and of all codes, from a matrix of robustness given each factor.

    .. math::
        \mathrm{IRS}_j = \max_i R_{ji}, \qquad \mathrm{IRS} = \sum_j w_j\, \mathrm{IRS}_j \Big/ \sum_j w_j

    Parameters
    ----------
    matrix : ndarray, shape (n_codes, n_factors)
        ``CrossedIRS.matrix``, or the matrix of :func:`disentanglement_scores`; NaN where undefined.
    max_deviation : ndarray, shape (n_codes,)
        ``CrossedIRS.max_deviation``: largest distances from the mean in standard deviations of the code.
    weights : {"deviation", "uniform"}
        w: ``max_deviation`` (Suter et al. 2019), or 1 (the review).

    Returns
    -------
    per_code : ndarray, shape (n_codes,)
        At most 1, best 1; NaN for a code that is undefined given every factor.
    value : float
        Mean over the codes that are defined; NaN if none is.

    Notes
    -----
    The paper and public code use largest distances in the codes' own units as weights, so that a useless code stretched
    a hundredfold pulls the score down to its own (two codes, one perfect and one noise: 0.45 becomes 0.009). Here the
    unit has no effect: weights are in standard deviations. Codes with far extremes still get more weight; codes with
    the same distribution up to unit get equal weights. Values differ from published ones if the standard deviations of
    codes differ.

    Examples
    --------
    >>> per_code, value = irs_score(np.array([[0.2, 0.9], [0.5, 0.1]]), np.array([3.0, 1.0]))
    >>> per_code, value
    (array([0.9, 0.5]), 0.8)
    """
    per_code = np.where(np.isnan(matrix), -np.inf, matrix).max(axis=1, initial=-np.inf)
    defined = np.isfinite(per_code)
    per_code = np.where(defined, per_code, np.nan)
    weight = max_deviation[defined] if weights == "deviation" else np.ones(int(defined.sum()))
    value = float(divide(np.asarray((weight * per_code[defined]).sum()), np.asarray(weight.sum())))
    return per_code, value


# Interventional robustness, general form for confounded factors (Suter et al., 2019, sections 4 and 5.1) --------------
#
# Two steps, so that data may come whole, in chunks, or from several machines: ``cells.summarise_cells``, whose states
# add up, and :func:`general_irs_from_cells`; :func:`general_irs` does both.

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
    n : int
        Rows used, all factors annotated.
    """

    value: float
    empida: float
    normaliser: float
    situations: Integers
    frequency: Floats
    mpida: Floats
    worst_rows: Floats
    min_coverage: float
    mean_coverage: float
    settings_seen: float
    most_settings: int
    n: int


def general_irs(
    codes: Array,
    interest: Integers,
    nuisance: Integers,
    rest: Integers,
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


def _cells_of_complete_rows(codes: Array, columns: Sequence[Integers], centre: Centre) -> FactorCells:
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

    medians = pd.DataFrame(codes).groupby(list(columns), sort=True).median().to_numpy(dtype=np.float64)
    total, in_order = np.empty_like(cells.total), np.lexsort(cells.levels[::-1])
    total[:, in_order] = (medians.T - cells.moments.reference[:, None]) * cells.count[in_order]
    return replace(cells, total=total)


def general_irs_from_cells(
    cells: FactorCells,
    interest: Sequence[int],
    nuisance: Sequence[int],
    *,
    norm: float = 2,
) -> GeneralIRS:
    """Return what :func:`general_irs` does, from the summary, for some of its factors and codes.

    Parameters
    ----------
    cells : FactorCells
        Summary of at least one row.
    interest, nuisance : sequence of int
        Numbers of factors; all others are the rest.
    norm : float
        As in :func:`general_irs`.
    """
    rest = [i for i in range(len(cells.sizes)) if i not in {*interest, *nuisance}]
    # what can be said of the codes in each situation (levels of I) once a setting (levels of J) is forced on it
    situations, pairs = cells.partition(interest), cells.partition([*interest, *nuisance])
    situation_of_pair, situation_rows = situations.group[pairs.example], situations.sum(cells.count)
    share = np.ones(len(cells.count))  # p(rest | situation) of each cell
    if rest:
        natural = cells.partition([*interest, *rest])
        share = natural.sum(cells.count)[natural.group] / situation_rows[situations.group]
    coverage = pairs.sum(share)
    effective_rows = coverage**2 / pairs.sum(share**2 / cells.count)
    deviation = cells.moments.deviation
    disagreement = np.zeros(pairs.n)
    distance = np.zeros(len(cells.count))
    for j in range(len(cells.total)):
        if deviation[j] > 0.0:
            # A row of cell (I, J, rest) has the weight n(I, rest) n(I, J) / (n(I) n(I, J, rest)); summed over the rows
            # of the cell, and without what is common to the pair, that is the cell's mean weighed by its share.
            adjusted = pairs.sum(share * (cells.total[j] / cells.count)) / coverage
            conditional = situations.sum(cells.total[j]) / situation_rows
            shift = adjusted - conditional[situation_of_pair]
            disagreement = _add_to_norm(disagreement, shift / deviation[j], norm)
            from_mean = cells.total[j] / cells.count - cells.total[j].sum() / cells.moments.n
            distance = _add_to_norm(distance, from_mean / deviation[j], norm)
    if norm not in (1, np.inf):
        disagreement, distance = disagreement ** (1.0 / norm), distance ** (1.0 / norm)

    mpida = np.zeros(situations.n)
    np.maximum.at(mpida, situation_of_pair, disagreement)
    attained = np.flatnonzero(disagreement == mpida[situation_of_pair])
    worst = np.zeros(situations.n, dtype=np.intp)
    worst[situation_of_pair[attained[::-1]]] = attained[::-1]
    frequency = situation_rows / cells.moments.n
    empida, normaliser = float(frequency @ mpida), float(distance.max())
    settings = cells.partition(nuisance).n
    return GeneralIRS(
        value=1.0 - empida / normaliser if normaliser > ROUNDING else np.nan,
        empida=empida,
        normaliser=normaliser,
        situations=np.array([cells.levels[i, situations.example] for i in interest], dtype=np.int64)
        .reshape(len(interest), situations.n)
        .T,
        frequency=frequency,
        mpida=mpida,
        worst_rows=effective_rows[worst],
        min_coverage=float(coverage.min()),
        mean_coverage=float(coverage @ pairs.sum(cells.count) / cells.moments.n),
        settings_seen=pairs.n / (situations.n * settings),
        most_settings=int(np.bincount(situation_of_pair).max()),
        n=cells.moments.n,
    )


def _add_to_norm(sofar: Floats, value: Floats, norm: float) -> Floats:
    """One more coordinate; coordinate by coordinate needs no table of all codes for all cells."""
    if norm == np.inf:
        return np.maximum(sofar, np.abs(value))
    return sofar + np.abs(value) ** norm


def disentanglement_scores(codes: Array, factor_bins: Integers, centre: Centre = "mean") -> Floats:
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
