"""Kendall's tau-b of all pairs of columns at once, also of rows that count several times: what resampling needs.

A resample of rows is a weight for each row, so that signs of differences are computed once for all resamples.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.kinds import checked, checked_name
from demele.core.lazy import pd

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
    step = max(1, _PAIRS_AT_ONCE // max(n, 1))
    for start in range(0, n, step):
        rows, others = slice(start, min(start + step, n)), slice(start, n)
        signs: NDArray[Any] = np.sign(scores[rows, None] - scores[None, others]).astype(kind)
        signs[np.arange(rows.start, rows.stop)[:, None] >= np.arange(others.start, others.stop)] = 0.0
        signs = signs.reshape(-1, columns)
        both = (counts[:, rows, None] * counts[:, None, others]).reshape(len(counts), -1)
        products = signs[:, first] * signs[:, second]
        concordant += both @ np.nan_to_num(products)
        if complete:
            untied += both @ np.abs(signs)
        else:  # a row that one column lacks does not count in the other either
            sizes = [np.where(np.isfinite(products), np.abs(signs[:, one]), 0) for one in (first, second)]
            untied += both @ np.concatenate(sizes, axis=1)
    if complete:
        return _ratio(concordant, untied[:, first], untied[:, second])
    return _ratio(concordant, untied[:, : first.size], untied[:, first.size :])


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
    return np.array([len(both) for both in _rows_of_both(scores)], dtype=np.intp)


def _rows_of_both(scores: Scores) -> Iterator[Scores]:
    """Yield the two columns of each pair, of the rows that have both scores."""
    for pair in zip(*column_pairs(scores.shape[1]), strict=True):
        both = scores[:, pair]
        yield both[np.isfinite(both).all(axis=1)]


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

    found = []
    for both in _rows_of_both(scores):
        varied = len(both) > 1 and (np.ptp(both, axis=0) > 0).all()
        found.append(kendalltau(*both.T).pvalue if varied else math.nan)
    return np.array(found)


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
    found = []
    for both in _rows_of_both(scores):
        ties = [int(np.unique(column, return_counts=True)[1].max(initial=0)) for column in both.T]
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


# Published rank correlations between metrics, and their similarity to other matrices ----------------------------------

SOURCE = "Boilard's review, figures 2.1 and 2.2: beta-VAEs of one architecture, beta .001 to 100, 2 to 64 codes"
#: From here on a published tau of 36 models is significant (two standard errors without association).
STRONG = 0.23
_FILE = Path(__file__).with_name("kendall_published.csv")
_TITLES = {"cars3d": "Cars3D", "smallnorb": "SmallNORB"}

Reading = Literal["row", "column"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublishedAgreement:
    """A published matrix of Kendall's tau between metrics.

    Attributes
    ----------
    name, title : str
        The data set.
    metrics : tuple of str
        Registered names, in the published order.
    printed : array of shape (n_metrics, n_metrics)
        Cell by cell as published.
    source : str

    Examples
    --------
    >>> from demele import bench
    >>> printed = bench.published_agreement("smallnorb")
    >>> float(printed.table().loc["z_min_variance", "z_diff"]), printed.disputed
    (0.71, ())
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    printed: NDArray[np.float64] = field(repr=False)
    source: str = SOURCE

    @property
    def disputed(self) -> tuple[tuple[str, str], ...]:
        """Pairs whose two cells differ.

        Cars3D has nine, all with DCI Lasso modularity, and they differ in sign. No 36 rankings without ties have the
        taus of its column, but some have those of its row. So the upper triangle is read, and results are given without
        these pairs, too.
        """
        unlike = self.table() != self.table("column")
        return tuple(pair for pair in combinations(self.metrics, 2) if unlike.loc[pair])

    def tau(self, first: str, second: str) -> float:
        """Return the tau of two metrics in the upper triangle."""
        places = sorted((self.metrics.index(first), self.metrics.index(second)))
        return float(self.printed[places[0], places[1]])

    @checked
    def table(self, reading: Reading = "row") -> "pd.DataFrame":
        """Return a symmetric table of tau.

        Parameters
        ----------
        reading : {"row", "column"}
            "row": the upper triangle, whose cells can all be true; "column": the lower one.

        Raises
        ------
        InputError
        """
        upper = np.triu(self.printed if reading == "row" else self.printed.T, 1)
        return pd.DataFrame(upper + upper.T + np.eye(len(upper)), index=self.metrics, columns=self.metrics)


class Measured(NamedTuple):
    """A figure and its interval; NaN where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Similarity of a matrix to a published one, with intervals over other samples of configurations.

    Attributes
    ----------
    published, matrix : str
        The two matrices.
    disputed : {"kept", "left out"}
        Treatment of the pairs whose two published cells differ.
    pairs, strong_pairs : int
        Pairs of metrics in both; those with a published tau of at least 0.23 or at most -0.23.
    r : Measured
        Pearson correlation of the taus.
    same_sign : Measured
        Share of equal signs among the strong pairs.
    difference : Measured
        Mean absolute difference of the taus.

    Notes
    -----
    A resample has the sampling error of its sample twice, so that its taus are less similar to the published ones than
    those of the sample. Percentiles of resamples are moved until their mean is the estimate: for r as Fisher's z, for
    the difference as logarithms. Simulated, such 95% intervals hold the mean of
    other configurations in 86 to 100 of 100 samples, and plain percentiles of r in 54 to 98.
    """

    published: str
    matrix: str
    disputed: str
    pairs: int
    strong_pairs: int
    r: Measured
    same_sign: Measured
    difference: Measured

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns."""
        found = {name: getattr(self, name) for name in ("published", "matrix", "disputed", "pairs", "strong_pairs")}
        for name in MEASURES:
            figure: Measured = getattr(self, name)
            found |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
        return found


#: What is measured of likeness, in the order in which it is shown.
MEASURES = ("r", "same_sign", "difference")


@cache
def _published() -> Mapping[str, PublishedAgreement]:

    found = {}
    for name, taus in pd.read_csv(_FILE).groupby("dataset", sort=False):
        metrics = tuple(taus["metric_row"].unique())
        square = taus.pivot(index="metric_row", columns="metric_col", values="tau").loc[list(metrics), list(metrics)]
        key = str(name)
        printed = square.to_numpy()
        found[key] = PublishedAgreement(name=key, title=_TITLES[key], metrics=metrics, printed=printed)
    return found


def published_agreement_names() -> list[str]:
    """Return the data sets with a published matrix.

    Examples
    --------
    >>> from demele import bench
    >>> bench.published_agreement_names()
    ['cars3d', 'smallnorb']
    """
    return list(_published())


def published_agreement(name: str) -> PublishedAgreement:
    """Return the published Kendall rank correlations of 17 metrics over models of one family.

    Parameters
    ----------
    name : str
        The data set: see :func:`published_agreement_names`.

    Returns
    -------
    PublishedAgreement

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> from demele import bench
    >>> len(bench.published_agreement("cars3d").disputed)
    9
    """
    return _published()[checked_name(name, "published", _published())]


# Likeness -------------------------------------------------------------------------------------------------------------


def likeness(
    ours: NDArray[np.float64],
    printed: NDArray[np.float64],
    draws: NDArray[np.float64],
    *,
    level: float,
) -> dict[str, Any]:
    """Return the similarity of taus to published ones: the figures of :class:`Likeness`.

    Parameters
    ----------
    ours, printed : array of shape (n_pairs,)
    draws : array of shape (n_draws, n_pairs)
        Ours from resampled configurations; those with an undefined tau are left out.
    level : float
        Level of the intervals.
    """
    strong = np.abs(printed) >= STRONG - 1e-12
    whole = draws[np.isfinite(draws).all(axis=1)]

    def measured(measure: Callable[[NDArray[np.float64]], NDArray[np.float64]], scale: str) -> Measured:
        value = float(measure(ours[None])[0])
        return Measured(value, *centred_interval(value, measure(whole), level=level, scale=scale))

    def correlations(taus: NDArray[np.float64]) -> NDArray[np.float64]:
        ours, theirs = taus - taus.mean(axis=1, keepdims=True), printed - printed.mean()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(ours @ theirs / np.sqrt(np.square(ours).sum(axis=1) * np.square(theirs).sum()))

    def same_signs(taus: NDArray[np.float64]) -> NDArray[np.float64]:
        same = np.sign(taus[:, strong]) == np.sign(printed[strong])
        return np.asarray(same.mean(axis=1)) if strong.any() else np.full(len(taus), math.nan)

    return {
        "pairs": int(printed.size),
        "strong_pairs": int(strong.sum()),
        "r": measured(correlations, "z"),
        "same_sign": measured(same_signs, "plain"),
        "difference": measured(lambda taus: np.abs(taus - printed).mean(axis=1), "log"),
    }


_SCALES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float, float]] = {
    "z": (lambda r: np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9)), np.tanh, -1.0, 1.0),
    "log": (lambda m: np.log(np.maximum(m, 1e-9)), np.exp, 0.0, math.inf),
    "plain": (lambda s: s, lambda s: s, 0.0, 1.0),
}


def centred_interval(value: float, draws: NDArray[np.float64], *, level: float, scale: str) -> tuple[float, float]:
    """Return percentiles of draws, moved so that their mean is the value; NaN without both.

    Examples
    --------
    >>> low, high = centred_interval(0.5, np.linspace(0.1, 0.3, 1001), level=0.9, scale="plain")
    >>> round(low, 3), round(high, 3)
    (0.41, 0.59)
    """
    draws = draws[np.isfinite(draws)]
    if not math.isfinite(value) or draws.size < 2:
        return math.nan, math.nan
    there, back, least, most = _SCALES[scale]
    moved = there(draws)
    low, high = np.quantile(moved, [(1 - level) / 2, (1 + level) / 2]) - moved.mean() + there(value)
    return float(np.clip(back(low), least, most)), float(np.clip(back(high), least, most))
