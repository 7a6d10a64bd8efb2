"""Agreement of metrics about models: their scores, rank correlations of all pairs of columns at once, and intervals.

A resample of rows is a weight for each row, so that signs of differences are computed once for all resamples.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from demele.bench import agreement_result
from demele.core.arrays import Array, Flags, Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.kinds import FILES, ColumnName, Data, Level, Seed, at_least, checked, checked_name, suggestion
from demele.core.result import Note
from demele.core.table_columns import as_column, is_missing, items_of, reads_as_number, real_column, split_columns
from demele.core.version import __version__

# Kendall's tau-b of all pairs of columns ------------------------------------------------------------------------------

Pairs = tuple[Rows, Rows]

#: Sums of products of weights are whole numbers below the square of the rows: exact in 32 bits up to here.
MOST_ROWS_OF_FLOAT32 = 4096
#: Pairs of rows whose signs are held at a time.
_PAIRS_AT_ONCE = 8192


def column_pairs(n_columns: int) -> Pairs:
    """Return first and second column of each pair, in the order of the upper triangle."""
    first, second = np.triu_indices(n_columns, 1)
    return first, second


def resamples(rng: np.random.Generator, n_rows: int, draws: int) -> Floats:
    """Draw how often each row is in a resample of as many rows, shape (draws, n_rows)."""
    return rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=draws).astype(np.float64)


def weighted_taus(scores: Floats, weights: Floats) -> Floats:
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
    counts: Array = np.ascontiguousarray(weights, kind)
    concordant = np.zeros((len(weights), first.size))
    untied = np.zeros((len(weights), columns if complete else 2 * first.size))
    step = max(1, _PAIRS_AT_ONCE // max(n, 1))
    for start in range(0, n, step):
        rows, others = slice(start, min(start + step, n)), slice(start, n)
        signs: Array = np.sign(scores[rows, None] - scores[None, others]).astype(kind)
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


def _ratio(concordant: Floats, untied_first: Floats, untied_second: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(concordant / np.sqrt(untied_first * untied_second))


def taus(scores: Floats) -> Floats:
    """Return tau-b of all pairs of columns, shape (n_pairs,).

    Examples
    --------
    >>> taus(np.array([[1.0, 1.0, 5.0], [2.0, 3.0, 5.0], [3.0, 2.0, 5.0]]))
    array([0.33333333,        nan,        nan])
    """
    return np.asarray(weighted_taus(scores, np.ones((1, len(scores))))[0])


def counted(scores: Floats) -> Rows:
    """Return how many rows have both scores of each pair, shape (n_pairs,)."""
    return np.array([len(both) for both in _rows_of_both(scores)], dtype=np.intp)


def _rows_of_both(scores: Floats) -> Iterator[Floats]:
    """Yield the two columns of each pair, of the rows that have both scores."""
    for pair in zip(*column_pairs(scores.shape[1]), strict=True):
        both = scores[:, pair]
        yield both[np.isfinite(both).all(axis=1)]


# What a group explains -----------------------------------------------------------------------------------------------


def weighted_taus_within(scores: Floats, groups: Rows, weights: Floats) -> Floats:
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
    first, second = column_pairs(columns)
    found = []
    for counts in (weights[start : start + step] for start in range(0, len(weights), step)):
        left = np.stack([_ranks_less_those_of_groups(column, groups, counts) for column in scores.T], axis=-1)
        signs = np.sign(left[:, upper[0]] - left[:, upper[1]])
        there = np.isfinite(signs).astype(np.float64)
        signs = np.nan_to_num(signs)
        both = (counts[:, upper[0]] * counts[:, upper[1]])[..., None]
        columns_first = signs.transpose(0, 2, 1)
        concordant = columns_first @ (both * signs)
        untied = np.abs(columns_first) @ (both * there)  # of the row's column, among the rows that the other has too
        found.append(_ratio(concordant[:, first, second], untied[:, first, second], untied[:, second, first]))
    return np.concatenate(found)


def _ranks_less_those_of_groups(column: Floats, groups: Rows, weights: Floats) -> Floats:
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


def p_values(scores: Floats) -> Floats:
    """Return for each pair of columns how often rows without association have a tau as large, shape (n_pairs,).

    Kendall's test as SciPy computes it: exact for up to 33 untied rows, else normal with the variance of the ties.
    """
    from scipy.stats import kendalltau

    found = []
    for both in _rows_of_both(scores):
        varied = len(both) > 1 and (np.ptp(both, axis=0) > 0).all()
        found.append(kendalltau(*both.T).pvalue if varied else math.nan)
    return np.array(found)


def p_values_within(taus: Floats, n: Rows, n_groups: int) -> Floats:
    """Return the same, roughly, for ranks minus their means within groups; each group costs about one row."""
    from scipy.stats import norm

    errors = np.array([agreement_result.error_without_association(max(int(one) - n_groups + 1, 0)) for one in n])
    return np.asarray(2 * norm.sf(np.abs(taus) / errors))


# How far a tau can be trusted ----------------------------------------------------------------------------------------

#: From this share of equal scores on, few rows decide about the rest, and resamples miss what they do not hold.
_MANY_TIES = 0.2


def untied_rows(scores: Floats) -> Rows:
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
    taus: Floats,
    draws: Floats,
    n: Rows,
    *,
    level: float,
    untied: Rows | None = None,
) -> tuple[Floats, Floats]:
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
    for place in np.flatnonzero((untied >= agreement_result.LEAST_FOR_INTERVALS) & np.isfinite(taus)):
        defined = draws[np.isfinite(draws[:, place]), place]
        if not defined.size:
            continue
        low[place], high[place] = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
        if abs(taus[place]) == 1 or n[place] - untied[place] + 1 >= _MANY_TIES * n[place]:
            nearer = taus[place] * ((1 - level) / 2) ** (2 / untied[place])
            low[place], high[place] = min(low[place], nearer), max(high[place], nearer)
    return low, high


# Scores ---------------------------------------------------------------------------------------------------------------


class ScoreTable:
    """Scores of configurations, each trained once or several times; see :func:`agreement`.

    Attributes
    ----------
    metrics, configurations : tuple of str
    scores : array of shape (n_rows, n_metrics)
        NaN where undefined; multiplied by the signs.
    members : array of int, shape (n_rows,)
        The number of each row's configuration.
    labels : array of shape (n_rows,) or None
        What the rows' configurations are called, as given.
    collapsed : array of bool, shape (n_configurations,), or None
        Where one of the seeds is.
    groups : array of int, shape (n_configurations,), or None
        Numbers from 0.
    named_by : str or None
        The column of these labels.
    signs : array of shape (n_metrics,)
        -1 where lower is better.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, NotEnoughData
    """

    def __init__(
        self,
        scores: object,
        *,
        metrics: Sequence[str] | None,
        configuration: object,
        collapsed: object,
        within: object,
        lower_is_better: Sequence[str] = (),
    ) -> None:
        columns, n = _columns(scores, "scores")
        if configuration is None:  # the only column of texts, if every row has another one
            texts = [name for name, held in columns.items() if all(isinstance(one, str) for one in held.tolist())]
            distinct = len(texts) == 1 and len(columns) > 2 and len(set(columns[texts[0]].tolist())) == n
            configuration = texts[0] if distinct else None
        given = {"configuration": configuration, "collapsed": collapsed, "within": within}
        self.labels, is_collapsed, group = (_labels(value, columns, n, argument) for argument, value in given.items())
        self.metrics = names = _metrics(metrics, columns, [value for value in given.values() if isinstance(value, str)])
        lower = items_of(lower_is_better, "lower_is_better", "a list of names")
        negated = [checked_name(name, "lower_is_better", names) for name in lower]
        self.signs = np.where(np.isin(names, negated), -1.0, 1.0)
        own = np.array([f"row {row}" for row in range(n)]) if self.labels is None else self.labels
        self.members, levels = pd.factorize(own)
        if is_collapsed is not None:
            if odd := [one for one in is_collapsed.tolist() if one not in (True, False)]:
                raise InputError("collapsed", f"expected true or false for each row, got {quoted(odd[0])}")
            is_collapsed = pd.Series(is_collapsed.astype(np.bool_)).groupby(self.members).any().to_numpy()
        if group is not None:
            groups = pd.Series(pd.factorize(group)[0]).groupby(self.members)
            if (groups.nunique() > 1).any():
                two = quoted(str(levels[int((groups.nunique() > 1).to_numpy().argmax())]))
                raise InputError("within", f"expected one group for each configuration, got two for {two}")
            group = groups.first().to_numpy()
        self.configurations = tuple(map(str, levels.tolist()))
        self.scores = _numbers(columns, names, "scores") * self.signs
        self.collapsed: Flags | None = is_collapsed
        self.groups: Rows | None = group
        self.named_by = configuration if isinstance(configuration, str) else None

    def means(self, scores: Floats | None = None) -> Floats:
        """Return the means of the configurations' rows, of these scores or others; NaN where one is undefined."""
        scores, n = self.scores if scores is None else scores, len(self.configurations)
        sums = np.zeros((n, scores.shape[1]))
        np.add.at(sums, self.members, scores)
        return np.asarray(sums / np.bincount(self.members, minlength=n)[:, None])

    def runs(self) -> Floats:
        """Return the scores by configuration, metric and seed; NaN where a configuration has fewer seeds."""
        place = pd.Series(self.members).groupby(self.members).cumcount().to_numpy()
        found = np.full((len(self.configurations), len(self.metrics), place.max() + 1), np.nan)
        found[self.members, :, place] = self.scores
        return found


def read_same_rows(table: object, scores: ScoreTable, argument: str) -> Floats:
    """Return another table's scores of the same rows, shape (n_rows, n_metrics).

    Raises
    ------
    InputError, InputTypeError
        If rows or metrics are others.
    """
    columns, n = _columns(table, argument)
    if n != len(scores.members):
        raise InputError(argument, f"expected the rows of the scores, {len(scores.members)}, got {n}")
    lacking = [name for name in scores.metrics if name not in columns]
    if lacking:
        raise InputError(argument, f"expected a column for each metric, lacks {quoted(lacking[0])}")
    odd = np.flatnonzero(columns[scores.named_by] != scores.labels) if scores.named_by in columns else np.zeros(0)
    if odd.size:
        problem = f"row {odd[0]} is of another configuration than row {odd[0]} of the scores"
        raise InputError(argument, f"{problem}; bring the rows into the same order")
    return _numbers(columns, scores.metrics, argument) * scores.signs


def _columns(table: object, argument: str) -> tuple[dict[str, Array], int]:
    """Return the columns of a table, and their one length."""
    given: dict[str, Any] = {}
    if isinstance(table, Mapping):
        for name, values in table.items():
            if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
                problem = f"expected a score for each row in {quoted(str(name))}, got {type(values).__name__}"
                raise InputTypeError(argument, problem)
            given[str(name)] = values if hasattr(values, "__array__") else list(values)
    else:
        columns, names = split_columns(table, argument, "metric")
        given = dict(zip(names, columns if isinstance(columns, list) else columns.T, strict=True))
    found = {name: np.asarray(as_column(values, argument)) for name, values in given.items()}
    first = next(iter(found), "")
    n = len(found[first]) if found else 0
    for name, column in found.items():
        if len(column) != n:
            problem = f"got {n} in {quoted(first)} and {len(column)} in {quoted(name)}"
            raise InputError(argument, f"expected columns of one length, {problem}")
    if n < 2:
        raise NotEnoughData(argument, "expected two or more rows: the metrics rank configurations")
    return found, n


def _metrics(metrics: Sequence[str] | None, columns: Mapping[str, Any], taken: Sequence[str]) -> tuple[str, ...]:
    usual = [name for name in columns if name not in taken]
    names = tuple(usual if metrics is None else items_of(metrics, "metrics", "names of columns"))
    for name in names:
        if name not in columns:
            raise UnknownNameError("metrics", f"unknown column {name!r}{suggestion(str(name), columns)}")
        if names.count(name) > 1:
            raise InputError("metrics", f"expected different names, got {quoted(name)} twice")
    if len(names) < 2:
        raise NotEnoughData("scores", f"expected columns of two or more metrics, got {len(names)}")
    return names


def _numbers(columns: Mapping[str, Any], names: Sequence[str], argument: str) -> Floats:
    """Return the scores of some columns; of texts in every row say that they may name the models."""
    found = np.empty((len(columns[names[0]]), len(names)))
    for place, name in enumerate(names):
        try:
            found[:, place] = real_column(columns[name], name, argument)
        except InputTypeError as error:
            texts = [value for value in columns[name].tolist() if isinstance(value, str)]
            if argument != "scores" or len(texts) < len(found) or any(map(reads_as_number, texts)):
                raise
            problem = f"expected scores in column {quoted(name)}, got texts, first {quoted(texts[0])} at row 0"
            remedy = f"if they name the models, pass `configuration={name!r}`; seeds of one model share its name"
            raise InputTypeError(argument, problem, remedy) from error
        infinite = np.flatnonzero(np.isinf(found[:, place]))
        if infinite.size:
            problem = f"{infinite.size} infinite in column {quoted(name)}, first at row {infinite[0]}"
            raise InputError(argument, problem, "a score that is undefined is NaN")
    return found


def _labels(value: object, columns: Mapping[str, Any], n: int, argument: str) -> Array | None:
    """Return a column that was named, or labels that were given, one for each row."""
    if value is None:
        return None
    if isinstance(value, str):
        if value not in columns:
            raise UnknownNameError(argument, f"unknown column {value!r}{suggestion(value, columns)}")
        value = columns[value]
    found = np.asarray(as_column(value, argument))
    if found.shape != (n,):
        raise InputError(argument, f"expected one for each of the {n} rows, got shape {found.shape}")
    missing = [row for row, one in enumerate(found.tolist()) if one is None or is_missing(one)]
    if missing and found.dtype.kind in "fO":
        raise InputError(argument, f"{len(missing)} missing, first at row {missing[0]}")
    return found


# Agreement ------------------------------------------------------------------------------------------------------------


#: From so many configurations on, simulated intervals hold what they promise, ties and all.
ENOUGH = 12
#: Resamples that are looked at together where a whole table is made for each.
_DRAWS_AT_ONCE = 100


@checked
def agreement(
    scores: object,
    *,
    metrics: Sequence[str] | None = None,
    configuration: ColumnName = None,
    collapsed: ColumnName = None,
    within: ColumnName = None,
    lower_is_better: Sequence[str] = (),
    null: Data = None,
    halves: Annotated[Sequence[object] | None, FILES] = None,
    again: Mapping[str, object] | None = None,
    level: Level = 0.95,
    draws: Annotated[int, at_least(100)] = 2000,
    seed: Seed = 0,
) -> agreement_result.Agreement:
    """Measure the agreement of metrics on the order of configurations.

    Kendall's tau-b between the scores of every two metrics, over configurations: models of a family, say, that differ
    in a penalty and in their number of codes.

    Parameters
    ----------
    scores : DataFrame, mapping of columns, or array of shape (n_rows, n_metrics)
        A row for each trained model, a column for each metric; NaN where a score is undefined. Large scores are good;
        where small ones are, see ``lower_is_better``.
    metrics : sequence of str, optional
        Columns that are metrics (default: all that no other argument names).
    configuration : str or sequence, optional
        Column that says which rows are seeds of one configuration. Or a label for each row. They are averaged,
        and a configuration with an undefined one is left out of that metric's pairs. By default every row is its own,
        and the only column of texts names them, if all are different.
    collapsed : str or sequence of bool, optional
        Column that is true if the codes of a model collapsed. Their scores are noise and agree with each other; so a
        second matrix leaves out each configuration with such a row.
    within : str or sequence, optional
        Column of groups, such as the number of codes. A further matrix removes from the ranks of each metric their
        mean within the group: what is left is not agreement about groups.
    lower_is_better : sequence of str, optional
        Metrics whose small scores are good, such as FID. Their scores are negated, so that a positive tau means that
        two metrics prefer the same configurations.
    null : table or sequence of tables, optional
        Scores of the same rows against permuted factors. Their matrix shows what agreement there is
        without any information; of several, the mean.
    halves : two tables, optional
        Scores on two disjoint halves of the rows that were scored.
    again : mapping of str to table or sequence of tables, optional
        Other scores of the same rows, such as from earlier checkpoints, for the stability of the ranking of each
        metric. One table is compared with ``scores``, several with each other.
    level : float, default 0.95
        Confidence of the intervals and verdicts.
    draws : int, default 2000
        Resamples of configurations.
    seed : int, default 0
        Random seed of the resamples.

    Returns
    -------
    Agreement

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, NotEnoughData
        If a table cannot be read, or rows of tables do not belong together.

    Notes
    -----
    Intervals are percentiles of resampled configurations, wider where many scores tie. Simulated
    (``benchmarks/agreement_coverage.py``), those for 95% hold the true tau in 93 to 100 of 100 samples of 36
    configurations, and in 91 to 100 of 8 to 24, with ties and without. Fewer than 8 have none. They take configurations
    for a random sample: those of a grid vary less.

    A pair is "significant" by Kendall's test with Bonferroni's correction for all pairs, and "significant before
    correction" without; its interval must exclude 0, too. Kendall 1938; for the question, Boilard's review, section
    2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from demele import bench
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=36)
    >>> scores = {name: quality + noise * rng.normal(size=36) for name, noise in (("a", 0.3), ("b", 0.3), ("c", 30))}
    >>> found = bench.agreement(scores)
    >>> found.pair("a", "b").verdict, found.pair("a", "c").verdict
    ('significant', 'not significant')
    """
    own = {"configuration": configuration, "collapsed": collapsed, "within": within}
    table = ScoreTable(scores, metrics=metrics, lower_is_better=lower_is_better, **own)

    def read(tables: object, argument: str) -> list[Floats]:
        several = tables if isinstance(tables, list | tuple) else [tables]
        return [table.means(read_same_rows(one, table, argument)) for one in several]

    means = table.means()
    weights = resamples(rng_for(seed, "agreement", len(means)), len(means), draws)
    asked: dict[str, tuple[Any, ...]] = {"all": ([means], weights)}
    if table.collapsed is not None and (~table.collapsed).sum() > 1:
        kept = means[~table.collapsed]
        asked["without collapsed"] = [kept], resamples(rng_for(seed, "agreement", len(kept), "kept"), len(kept), draws)
    if null is not None and (nulls := read(null, "null")):
        asked["permuted"] = nulls, weights
    if table.groups is not None:
        asked["within groups"] = [means], weights, table.groups
    matrices = {name: _matrix(name, table, level, *given) for name, given in asked.items()}
    if halves is not None and (not isinstance(halves, list | tuple) or len(halves) != 2):
        raise InputError("halves", "expected two tables, of the scores on either half of the rows")
    if not isinstance(again, Mapping | None):
        raise InputTypeError("again", f"expected tables by name, got {type(again).__name__}")
    parts = None if halves is None else read(halves, "halves")
    # what was done several times: scores by configuration, metric and time
    runs = table.runs()
    repeated = {"seeds": runs} if runs.shape[2] > 1 else {}
    if parts is not None:
        repeated["halves of the rows"] = np.stack(parts, axis=-1)
    for name, one in (again or {}).items():
        tables = read(one, "again")
        repeated[str(name)] = np.stack([means, *tables] if len(tables) == 1 else tables, axis=-1)
    return agreement_result.Agreement(
        metrics=table.metrics,
        matrices=matrices,
        stability=tuple(
            _stable(metric, between, values[:, place], weights, level)
            for between, values in repeated.items()
            for place, metric in enumerate(table.metrics)
        ),
        matrix_stability={between: _matrix_stability(values) for between, values in repeated.items()},
        best=tuple(_best(table, means, parts, rng_for(seed, "agreement", "best"), draws)),
        configurations=table.configurations,
        level=level,
        seed=seed,
        notes=tuple(_notes(table, means)),
        version=__version__,
    )


def _matrix(
    name: str,
    table: ScoreTable,
    level: float,
    several: Sequence[Floats],
    weights: Floats,
    groups: Rows | None = None,
) -> agreement_result.RankMatrix:
    """Return the matrix of taus of a table, or of the mean taus of several, over the same resamples."""
    taus_of: Any = weighted_taus if groups is None else partial(weighted_taus_within, groups=groups)
    configurations = weights.shape[1]
    (tau, *_), draws = (
        np.mean([taus_of(means, weights=counts) for means in several], axis=0)
        for counts in (np.ones((1, configurations)), weights)
    )
    n, untied = (np.min([of(means) for means in several], axis=0) for of in (counted, untied_rows))
    low, high = tau_intervals(tau, draws, n, level=level, untied=untied)
    chances = np.full(tau.shape, np.nan)
    if len(several) == 1:
        chances = p_values(several[0]) if groups is None else p_values_within(tau, n, int(groups.max()) + 1)
    return agreement_result.RankMatrix(
        name=name,
        metrics=table.metrics,
        tau=tau,
        low=low,
        high=high,
        p_value=chances,
        n=n,
        configurations=configurations,
        level=level,
        draws=draws,
    )


# Stability -----------------------------------------------------------------------------------------------------------


def _matrix_stability(values: Floats) -> float:
    """Return the correlation between the taus of one time and of another, the mean over pairs of times."""
    found = []
    for one, other in combinations([taus(values[..., time]) for time in range(values.shape[2])], 2):
        both = np.isfinite(one) & np.isfinite(other)
        varied = both.sum() > 2 and np.ptp(one[both]) > 0 and np.ptp(other[both]) > 0
        found.append(float(np.corrcoef(one[both], other[both])[0, 1]) if varied else float("nan"))
    return float(np.mean(found))


def _stable(metric: str, between: str, values: Floats, weights: Floats, level: float) -> agreement_result.Stability:
    """Return the mean tau over pairs of columns, shape (n_configurations, n_times)."""
    whole = np.isfinite(values).all(axis=1)
    tau, draws = (weighted_taus(values, counts).mean(axis=1) for counts in (np.ones((1, len(values))), weights))
    low, high = tau_intervals(tau, draws[:, None], np.array([whole.sum()]), level=level)
    return agreement_result.Stability(
        metric=metric, between=between, tau=float(tau[0]), low=float(low[0]), high=float(high[0]), n=int(whole.sum())
    )


def _best(
    table: ScoreTable,
    means: Floats,
    halves: Sequence[Floats] | None,
    rng: np.random.Generator,
    draws: int,
) -> list[agreement_result.Best]:
    """Return for each metric its best configuration, and how often another set of seeds and rows would keep it.

    Seeds are drawn with replacement, and their deviation widened by sqrt(r / (r - 1)) for r of them. Two halves of the
    rows differ by twice the standard error of all rows: half of it, times a normal number, stands for other rows.
    """
    runs = table.runs()
    first = {place: int(np.nanargmax(own)) for place, own in enumerate(means.T) if np.isfinite(own).any()}
    stayed = np.zeros(len(table.metrics))
    repeated = runs.shape[2] > 1 or halves is not None
    for start in range(0, draws if repeated else 0, _DRAWS_AT_ONCE):
        size = min(_DRAWS_AT_ONCE, draws - start)
        # Draw mean scores of resampled seeds, shape (size, n_configurations, n_metrics)
        there: Flags = np.asarray(np.isfinite(runs).any(axis=1))
        drawn = np.repeat(means[None], size, axis=0)
        for row, held in enumerate(there):
            r = int(held.sum())
            if r > 1:
                counts = rng.multinomial(r, np.full(r, 1 / r), size=size) / r
                beside = runs[row][:, held] - means[row][:, None]
                drawn[:, row] += np.sqrt(r / (r - 1)) * (counts @ beside.T)
        if halves is not None:
            drawn = drawn + rng.standard_normal((size, len(means), 1)) * (halves[0] - halves[1]) / 2
        drawn = np.where(np.isfinite(drawn), drawn, -np.inf)
        for place, best in first.items():
            stayed[place] += (drawn[..., place].argmax(axis=1) == best).sum()
    return [
        agreement_result.Best(
            metric=table.metrics[place],
            configuration=table.configurations[best],
            stays=float(stayed[place] / draws) if repeated else float("nan"),
        )
        for place, best in first.items()
    ]


# What a reader must know ---------------------------------------------------------------------------------------------


def _notes(table: ScoreTable, means: Floats) -> Iterator[Note]:
    n, metrics = len(means), np.array(table.metrics)
    if (table.signs < 0).any():
        subject = tuple(metrics[table.signs < 0].tolist())
        yield Note(code="lower-is-better", message="lower is better: scores were negated", subject=subject)
    if n < ENOUGH:
        message = f"of {n} configurations with ties, intervals for 95% hold about 91% (simulated); {ENOUGH} are enough"
        if n < agreement_result.LEAST_FOR_INTERVALS:
            message = f"{n} configurations are too few for intervals, which need {agreement_result.LEAST_FOR_INTERVALS}"
        yield Note(code="few-configurations", message=message, severity="warning")
    if table.collapsed is not None and table.collapsed.any():
        names = tuple(np.array(table.configurations)[table.collapsed])
        message = (
            f"{len(names)} of {n} configurations collapsed: all metrics score only noise there, so their agreement "
            "means nothing; a second matrix leaves these configurations out"
        )
        yield Note(code="collapsed", message=message, subject=names)
    for metric, scores, sign in zip(table.metrics, means.T, table.signs, strict=True):
        there = scores[np.isfinite(scores)]
        if there.size and np.ptp(there) == 0:
            message = f"gives every configuration the same score, {sign * there[0]:g}: its ranking is undefined"
            yield Note(code="constant-score", message=message, subject=(metric,), severity="warning")
        if missing := int(np.isnan(scores).sum()):
            message = f"is undefined for {missing} of {n} configurations, which are left out of its pairs"
            yield Note(code="undefined-scores", message=message, subject=(metric,))
