"""Agreement of metrics: Kendall rank correlations of any scores, with intervals and chance level."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from demele.bench.agreement_result import Agreement, Best, RankMatrix, Stability
from demele.bench.agreement_scores import ScoreTable, read_beside, read_scores
from demele.bench.rank_correlation import (
    LEAST_FOR_INTERVALS,
    Scores,
    counted,
    p_values,
    p_values_within,
    resamples,
    tau_intervals,
    taus,
    untied_rows,
    weighted_taus,
    weighted_taus_within,
)
from demele.core.checked_numbers import checked_count, checked_level
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import FILES, ColumnName, Data
from demele.core.results import Note
from demele.core.seeds import checked_seed, rng_for
from demele.core.version import __version__

__all__ = ["agreement"]

#: From so many configurations on, simulated intervals hold what they promise, ties and all.
ENOUGH = 12
#: Resamples that are looked at together where a whole table is made for each.
_DRAWS_AT_ONCE = 100


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
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Agreement:
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
    level, draws, seed = checked_level(level), checked_count(draws, "draws", 100), checked_seed(seed)
    own = {"configuration": configuration, "collapsed": collapsed, "within": within}
    table = read_scores(scores, metrics=metrics, lower_is_better=lower_is_better, **own)

    def read(other: object, argument: str) -> NDArray[np.float64]:
        return table.means(read_beside(other, table, argument))

    means = table.means()
    nulls = [] if null is None else [read(one, "null") for one in _tables(null)]
    weights = resamples(rng_for(seed, "agreement", len(means)), len(means), draws)
    matrices = {"all": _matrix("all", table, means, weights, level)}
    if table.collapsed is not None and (~table.collapsed).sum() > 1:
        kept = means[~table.collapsed]
        fewer = resamples(rng_for(seed, "agreement", len(kept), "kept"), len(kept), draws)
        matrices["without collapsed"] = _matrix("without collapsed", table, kept, fewer, level)
    if nulls:
        matrices["permuted"] = _mean_matrix("permuted", table, nulls, weights, level)
    if table.groups is not None:
        matrices["within groups"] = _matrix("within groups", table, means, weights, level, table.groups)
    parts = None if halves is None else _halves(halves, read)
    repeated = _repeated(table, means, parts, _again(again, read))
    return Agreement(
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
        notes=tuple(_notes(table, means, matrices)),
        version=__version__,
    )


# Tables --------------------------------------------------------------------------------------------------------------


def _tables(given: object) -> list[object]:
    """Return one table, or several, as a list."""
    return list(given) if isinstance(given, list | tuple) else [given]


def _halves(halves: Sequence[object], read: Any) -> tuple[Scores, Scores]:
    if not isinstance(halves, list | tuple) or len(halves) != 2:
        raise InputError("halves", "expected two tables, of the scores on either half of the rows")
    return read(halves[0], "halves"), read(halves[1], "halves")


def _again(again: Mapping[str, object] | None, read: Any) -> dict[str, list[Scores]]:
    if not isinstance(again, Mapping | None):
        raise InputTypeError("again", f"expected tables by name, got {type(again).__name__}")
    return {str(name): [read(one, "again") for one in _tables(tables)] for name, tables in (again or {}).items()}


# Matrices ------------------------------------------------------------------------------------------------------------


def _matrix(
    name: str,
    table: ScoreTable,
    means: Scores,
    weights: NDArray[np.float64],
    level: float,
    groups: NDArray[np.intp] | None = None,
) -> RankMatrix:
    n = counted(means)
    once = np.ones((1, len(means)))
    if groups is None:
        tau, draws = weighted_taus(means, once)[0], weighted_taus(means, weights)
        chances = p_values(means)
    else:
        tau = weighted_taus_within(means, groups, once)[0]
        draws = weighted_taus_within(means, groups, weights)
        chances = p_values_within(tau, n, int(groups.max()) + 1)
    low, high = tau_intervals(tau, draws, n, level=level, untied=untied_rows(means))
    return RankMatrix(
        name=name,
        metrics=table.metrics,
        tau=tau,
        low=low,
        high=high,
        p_value=chances,
        n=n,
        configurations=len(means),
        level=level,
        draws=draws,
    )


def _mean_matrix(
    name: str, table: ScoreTable, several: Sequence[Scores], weights: NDArray[np.float64], level: float
) -> RankMatrix:
    """Return the matrix of mean taus of several tables, over the same resamples."""
    found = [_matrix(name, table, means, weights, level) for means in several]
    if len(found) == 1:
        return found[0]
    tau, draws = (np.mean([getattr(one, what) for one in found], axis=0) for what in ("tau", "draws"))
    n = np.min([one.n for one in found], axis=0)
    untied = np.min([untied_rows(means) for means in several], axis=0)
    low, high = tau_intervals(tau, draws, n, level=level, untied=untied)
    return RankMatrix(
        name=name,
        metrics=table.metrics,
        tau=tau,
        low=low,
        high=high,
        p_value=np.full(tau.shape, np.nan),
        n=n,
        configurations=len(weights[0]),
        level=level,
        draws=draws,
    )


# Stability -----------------------------------------------------------------------------------------------------------


def _repeated(
    table: ScoreTable, means: Scores, halves: tuple[Scores, Scores] | None, again: Mapping[str, Sequence[Scores]]
) -> dict[str, NDArray[np.float64]]:
    """Return what was done several times, by its name: scores by configuration, metric and time."""
    found: dict[str, NDArray[np.float64]] = {}
    runs = table.runs()
    if runs.shape[2] > 1:
        found["seeds"] = runs
    if halves is not None:
        found["halves of the rows"] = np.stack(halves, axis=-1)
    for name, tables in again.items():
        found[name] = np.stack([means, *tables] if len(tables) == 1 else list(tables), axis=-1)
    return found


def _matrix_stability(values: NDArray[np.float64]) -> float:
    """Return the correlation between the taus of one time and of another, the mean over pairs of times."""
    matrices = [taus(values[..., time]) for time in range(values.shape[2])]
    found = []
    for place, one in enumerate(matrices):
        for other in matrices[place + 1 :]:
            both = np.isfinite(one) & np.isfinite(other)
            varied = both.sum() > 2 and np.ptp(one[both]) > 0 and np.ptp(other[both]) > 0
            found.append(float(np.corrcoef(one[both], other[both])[0, 1]) if varied else float("nan"))
    return float(np.mean(found))


def _stable(metric: str, between: str, values: Scores, weights: NDArray[np.float64], level: float) -> Stability:
    """Return the mean tau over pairs of columns, shape (n_configurations, n_times)."""
    whole = np.isfinite(values).all(axis=1)
    tau = _mean_tau(values, np.ones((1, len(values))))
    low, high = tau_intervals(tau, _mean_tau(values, weights)[:, None], np.array([whole.sum()]), level=level)
    return Stability(
        metric=metric, between=between, tau=float(tau[0]), low=float(low[0]), high=float(high[0]), n=int(whole.sum())
    )


def _mean_tau(values: Scores, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(weighted_taus(values, weights).mean(axis=1))


def _best(
    table: ScoreTable,
    means: Scores,
    halves: tuple[Scores, Scores] | None,
    rng: np.random.Generator,
    draws: int,
) -> list[Best]:
    """Return for each metric its best configuration, and how often another set of seeds and rows would keep it.

    Seeds are drawn with replacement, and their deviation widened by sqrt(r / (r - 1)) for r of them. Two halves of the
    rows differ by twice the standard error of all rows: half of it, times a normal number, stands for other rows.
    """
    runs = table.runs()
    known = [place for place in range(len(table.metrics)) if np.isfinite(means[:, place]).any()]
    first = {place: int(np.nanargmax(means[:, place])) for place in known}
    stayed = np.zeros(len(table.metrics))
    repeated = runs.shape[2] > 1 or halves is not None
    for start in range(0, draws if repeated else 0, _DRAWS_AT_ONCE):
        size = min(_DRAWS_AT_ONCE, draws - start)
        drawn = _other_seeds(runs, means, rng, size)
        if halves is not None:
            drawn = drawn + rng.standard_normal((size, len(means), 1)) * (halves[0] - halves[1]) / 2
        drawn = np.where(np.isfinite(drawn), drawn, -np.inf)
        for place, best in first.items():
            stayed[place] += (drawn[..., place].argmax(axis=1) == best).sum()
    return [
        Best(
            metric=table.metrics[place],
            configuration=table.configurations[best],
            stays=float(stayed[place] / draws) if repeated else float("nan"),
        )
        for place, best in first.items()
    ]


def _other_seeds(runs: NDArray[np.float64], means: Scores, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Draw mean scores of resampled seeds, shape (size, n_configurations, n_metrics)."""
    there: NDArray[np.bool_] = np.asarray(np.isfinite(runs).any(axis=1))
    found = np.repeat(means[None], size, axis=0)
    for row, held in enumerate(there):
        r = int(held.sum())
        if r > 1:
            counts = rng.multinomial(r, np.full(r, 1 / r), size=size) / r
            beside = runs[row][:, held] - means[row][:, None]
            found[:, row] += np.sqrt(r / (r - 1)) * (counts @ beside.T)
    return found


# What a reader must know ---------------------------------------------------------------------------------------------


def _notes(table: ScoreTable, means: Scores, matrices: Mapping[str, RankMatrix]) -> list[Note]:
    notes = []
    n = len(means)
    if (table.signs < 0).any():
        subject = tuple(np.array(table.metrics)[table.signs < 0].tolist())
        notes.append(Note(code="lower-is-better", message="lower is better: scores were negated", subject=subject))
    if n < ENOUGH:
        what = (
            f"{n} configurations are too few for intervals, which need {LEAST_FOR_INTERVALS}"
            if n < LEAST_FOR_INTERVALS
            else f"of {n} configurations with ties, intervals for 95% hold about 91% (simulated); {ENOUGH} are enough"
        )
        notes.append(Note(code="few-configurations", message=what, severity="warning"))
    if table.collapsed is not None and table.collapsed.any():
        names = tuple(np.array(table.configurations)[table.collapsed])
        message = (
            f"{len(names)} of {n} configurations collapsed: metrics score noise there, so they agree; a second matrix "
            "leaves them out"
        )
        notes.append(Note(code="collapsed", message=message, subject=names))
    for place, metric in enumerate(table.metrics):
        missing = int(np.isnan(means[:, place]).sum())
        there = means[np.isfinite(means[:, place]), place]
        if there.size and np.ptp(there) == 0:
            message = (
                f"gives every configuration the same score, {table.signs[place] * there[0]:g}: its ranking is undefined"
            )
            notes.append(Note(code="constant-score", message=message, subject=(metric,), severity="warning"))
        if missing:
            message = f"is undefined for {missing} of {n} configurations, which are left out of its pairs"
            notes.append(Note(code="undefined-scores", message=message, subject=(metric,)))
    return notes
