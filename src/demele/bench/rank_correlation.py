"""Kendall's tau-b of all pairs of columns at once, also of rows that count several times: what resampling needs.

A resample of rows is a weight for each row, so that signs of differences are computed once for all resamples.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

#: Sums of products of weights are whole numbers below the square of the rows: exact in 32 bits up to here.
MOST_ROWS_OF_FLOAT32 = 4096
#: Pairs of rows whose signs are held at a time.
_PAIRS_AT_ONCE = 8192


def column_pairs(n_columns: int) -> Pairs:
    """Return first and second column of each pair, in the order of the upper triangle."""
    first, second = np.triu_indices(n_columns, 1)
    return first, second


def resamples(rng: np.random.Generator, n_rows: int, draws: int) -> NDArray[np.float64]:
    """Draw how often each row is in a resample of as many rows, shape (draws, n_rows)."""
    return rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=draws).astype(np.float64)


def weighted_taus(scores: Scores, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return tau-b of all pairs of columns, for rows that count as often as each line of weights says.

    With S the signs of the differences between rows, tau_w = w'(S_x o S_y)w / sqrt(w'|S_x|w w'|S_y|w): that of rows
    repeated w times, whose copies tie with each other.

    Parameters
    ----------
    scores : array of shape (n_rows, n_columns)
        NaN where a score is missing: that row is left out of the pairs of that column.
    weights : array of shape (n_draws, n_rows)
        Whole numbers.

    Returns
    -------
    array of shape (n_draws, n_pairs)
        In the order of :func:`column_pairs`; NaN where a column of the pair does not vary.

    Examples
    --------
    >>> scores = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]])
    >>> weighted_taus(scores, np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0]])).ravel()
    array([0.33333333, 1.        ])
    """
    n, columns = scores.shape
    kind = np.float32 if n <= MOST_ROWS_OF_FLOAT32 else np.float64
    first, second = column_pairs(columns)
    complete = bool(np.isfinite(scores).all())
    counts: NDArray[Any] = np.ascontiguousarray(weights, kind)
    concordant = np.zeros((len(weights), first.size))
    untied = np.zeros((len(weights), columns if complete else 2 * first.size))
    for rows, others in _blocks(n):
        signs: NDArray[Any] = np.sign(scores[rows, None] - scores[None, others]).astype(kind)
        signs[np.arange(rows.start, rows.stop)[:, None] >= np.arange(others.start, others.stop)] = 0.0
        signs = signs.reshape(-1, columns)
        both = (counts[:, rows, None] * counts[:, None, others]).reshape(len(counts), -1)
        products = signs[:, first] * signs[:, second]
        concordant += both @ np.nan_to_num(products)
        untied += both @ (np.abs(signs) if complete else _untied(signs, products, first, second))
    if complete:
        return _ratio(concordant, untied[:, first], untied[:, second])
    return _ratio(concordant, untied[:, : first.size], untied[:, first.size :])


def _blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Yield rows, and the rows from the first of them on, so that few enough pairs are held at a time."""
    step = max(1, _PAIRS_AT_ONCE // max(n, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n)), slice(start, n)


def _untied(signs: NDArray[Any], products: NDArray[Any], first: NDArray[np.intp], second: NDArray[np.intp]) -> Any:
    """Return which pairs of rows are untied in the first column of each pair, then in the second.

    Missing scores have signs that are NaN; a row that one column lacks does not count in the other either.
    """
    there = np.isfinite(products)
    return np.concatenate([np.where(there, np.abs(signs[:, column]), 0) for column in (first, second)], axis=1)


def _ratio(
    concordant: NDArray[np.float64], untied_first: NDArray[np.float64], untied_second: NDArray[np.float64]
) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(concordant / np.sqrt(untied_first * untied_second))


def taus(scores: Scores) -> NDArray[np.float64]:
    """Return tau-b of all pairs of columns, shape (n_pairs,).

    Examples
    --------
    >>> taus(np.array([[1.0, 1.0, 5.0], [2.0, 3.0, 5.0], [3.0, 2.0, 5.0]]))
    array([0.33333333,        nan,        nan])
    """
    return np.asarray(weighted_taus(scores, np.ones((1, len(scores))))[0])


def counted(scores: Scores) -> NDArray[np.intp]:
    """Return how many rows have both scores of each pair, shape (n_pairs,)."""
    there = np.isfinite(scores)
    first, second = column_pairs(scores.shape[1])
    return np.asarray((there[:, first] & there[:, second]).sum(axis=0))


# What a group explains -----------------------------------------------------------------------------------------------


def weighted_taus_within(scores: Scores, groups: NDArray[np.intp], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return tau-b of all pairs of columns after each column's mean rank within a group is removed from its ranks.

    Ranks and means are computed from the weighted rows of each draw: with ranks of the whole, intervals would cover too
    little.

    Parameters
    ----------
    scores : array of shape (n_rows, n_columns)
        NaN where a score is missing.
    groups : array of shape (n_rows,)
        Numbers of groups, from 0.
    weights : array of shape (n_draws, n_rows)
        Whole numbers.

    Returns
    -------
    array of shape (n_draws, n_pairs)

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0], [2.0, 1.0], [11.0, 12.0], [12.0, 11.0]])
    >>> once = np.ones((1, 4))
    >>> weighted_taus(scores, once).round(2), weighted_taus_within(scores, np.array([0, 0, 1, 1]), once)
    (array([[0.33]]), array([[-1.]]))
    """
    n, columns = scores.shape
    upper = np.triu_indices(n, 1)
    step = max(1, 64 * _PAIRS_AT_ONCE // max(1, upper[0].size * columns))
    parts = [weights[start : start + step] for start in range(0, len(weights), step)]
    return np.concatenate([_within_at_once(scores, groups, counts, upper) for counts in parts])


def _within_at_once(
    scores: Scores, groups: NDArray[np.intp], weights: NDArray[np.float64], upper: Pairs
) -> NDArray[np.float64]:
    left = np.stack([_ranks_less_those_of_groups(column, groups, weights) for column in scores.T], axis=-1)
    signs = np.sign(left[:, upper[0]] - left[:, upper[1]])
    there = np.isfinite(signs).astype(np.float64)
    signs = np.nan_to_num(signs)
    both = (weights[:, upper[0]] * weights[:, upper[1]])[..., None]
    columns_first = signs.transpose(0, 2, 1)
    concordant = columns_first @ (both * signs)
    untied = np.abs(columns_first) @ (both * there)  # of the row's column, among the rows that the other has too
    first, second = column_pairs(scores.shape[1])
    return _ratio(concordant[:, first, second], untied[:, first, second], untied[:, second, first])


def _ranks_less_those_of_groups(
    column: NDArray[np.float64], groups: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return twice the ranks less twice their mean within the group, shape (n_draws, n_rows); NaN where missing."""
    there = np.isfinite(column)
    counts = weights * there
    below = np.nan_to_num(np.sign(column[:, None] - column[None, :])) + 1  # 2 below, 1 tied: twice the mid-rank
    ranks = counts @ below.T
    members = np.equal.outer(np.arange(groups.max() + 1), groups).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means = (counts * ranks) @ members.T / (counts @ members.T)
    # ranks are whole numbers and means fractions of them: what differs by rounding only is tied
    return np.where(there, np.round(ranks - means[:, groups], 9), np.nan)


# What no association gives -------------------------------------------------------------------------------------------


def error_without_association(n: int) -> float:
    """Return the standard error of tau of n untied rows where two columns have nothing to do with each other.

    Examples
    --------
    >>> round(error_without_association(36), 4)
    0.1165
    """
    return math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))) if n > 1 else math.nan


def clear_line(n: int, alpha: float) -> float:
    """Return the approximate least significant tau of n untied rows at a level.

    Examples
    --------
    >>> round(clear_line(36, 0.05), 2), round(clear_line(36, 0.05 / 136), 2)
    (0.23, 0.42)
    """
    from scipy.stats import norm

    return float(norm.isf(alpha / 2)) * error_without_association(n)


def p_values(scores: Scores) -> NDArray[np.float64]:
    """Return for each pair of columns how often rows without association have a tau as large, shape (n_pairs,).

    Kendall's test as SciPy computes it: exact for up to 33 untied rows, else normal with the variance of the ties.
    """
    from scipy.stats import kendalltau

    first, second = column_pairs(scores.shape[1])
    found = np.full(first.size, np.nan)
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        there = np.isfinite(scores[:, one]) & np.isfinite(scores[:, other])
        x, y = scores[there, one], scores[there, other]
        if there.sum() > 1 and np.ptp(x) > 0 and np.ptp(y) > 0:
            found[place] = kendalltau(x, y).pvalue
    return found


def p_values_within(taus: NDArray[np.float64], n: NDArray[np.intp], n_groups: int) -> NDArray[np.float64]:
    """Return the same, roughly, for ranks minus their means within groups; each group costs about one row."""
    from scipy.stats import norm

    errors = np.array([error_without_association(max(int(one) - n_groups + 1, 0)) for one in n])
    return np.asarray(2 * norm.sf(np.abs(taus) / errors))


# How far a tau can be trusted ----------------------------------------------------------------------------------------

#: Resamples of fewer rows than this say too little: with ties, their intervals hold 85% instead of 95%.
LEAST_FOR_INTERVALS = 8
#: From this share of equal scores on, few rows decide about the rest, and resamples miss what they do not hold.
_MANY_TIES = 0.2


def untied_rows(scores: Scores) -> NDArray[np.intp]:
    """Return how many rows each pair of columns has if those that tie most, in either, count as one.

    Examples
    --------
    >>> untied_rows(np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 4.0]]))
    array([2])
    """
    first, second = column_pairs(scores.shape[1])
    found = []
    for one, other in zip(first, second, strict=True):
        both = scores[np.isfinite(scores[:, one]) & np.isfinite(scores[:, other])]
        ties = [int(np.unique(both[:, column], return_counts=True)[1].max(initial=0)) for column in (one, other)]
        found.append(len(both) - max(max(ties) - 1, 0))
    return np.array(found, dtype=np.intp)


def tau_intervals(
    taus: NDArray[np.float64],
    draws: NDArray[np.float64],
    n: NDArray[np.intp],
    *,
    level: float,
    untied: NDArray[np.intp] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of percentile intervals, shapes (n_pairs,); NaN where there are too few rows.

    Percentiles of resamples know nothing of rows that the sample happens not to hold. That matters where all rows
    agree, and where a fifth of them or more are tied, so that one row can differ from all of these. There the limit
    towards 0 is at least as near to it as tau a^(2/m), with m untied rows and a the level left on one side: a share
    p = a^(1/m) of the population is like the sample, and none of the rest, which is in no order, was seen.

    Parameters
    ----------
    taus : array of shape (n_pairs,)
    draws : array of shape (n_draws, n_pairs)
        Of resamples; those that are undefined are left out.
    n : array of int, shape (n_pairs,)
    level : float
    untied : array of int, shape (n_pairs,), optional
        See :func:`untied_rows`; by default all.

    Examples
    --------
    >>> low, high = tau_intervals(np.array([1.0]), np.ones((100, 1)), np.array([36]), level=0.95)
    >>> low.round(3), high
    (array([0.815]), array([1.]))
    """
    untied = n if untied is None else untied
    low, high = np.full(taus.shape, np.nan), np.full(taus.shape, np.nan)
    for place in np.flatnonzero((untied >= LEAST_FOR_INTERVALS) & np.isfinite(taus)):
        defined = draws[np.isfinite(draws[:, place]), place]
        if not defined.size:
            continue
        low[place], high[place] = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
        if abs(taus[place]) == 1 or n[place] - untied[place] + 1 >= _MANY_TIES * n[place]:
            nearer = taus[place] * ((1 - level) / 2) ** (2 / untied[place])
            low[place], high[place] = min(low[place], nearer), max(high[place], nearer)
    return low, high
