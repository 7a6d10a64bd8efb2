"""Tables of scores for agreement: the configuration, collapse and group of each row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.given_arrays import items_of
from demele.core.names import checked_name, suggestion
from demele.core.sentences import give
from demele.core.table_columns import as_column, is_missing, real_column, split_columns

__all__ = ["ScoreTable", "read_beside", "read_scores"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """Scores of configurations, each trained once or several times.

    Attributes
    ----------
    metrics, configurations : tuple of str
    scores : array of shape (n_rows, n_metrics)
        NaN where undefined.
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
        -1 where lower is better: ``scores`` are multiplied by it.
    """

    metrics: tuple[str, ...]
    configurations: tuple[str, ...]
    scores: NDArray[np.float64]
    members: NDArray[np.intp]
    labels: NDArray[Any] | None
    collapsed: NDArray[np.bool_] | None
    groups: NDArray[np.intp] | None
    named_by: str | None
    signs: NDArray[np.float64]

    def means(self, scores: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the means of the configurations' rows, of these scores or others; NaN where one is undefined."""
        scores, n = self.scores if scores is None else scores, len(self.configurations)
        sums = np.zeros((n, scores.shape[1]))
        np.add.at(sums, self.members, scores)
        return np.asarray(sums / np.bincount(self.members, minlength=n)[:, None])

    def runs(self) -> NDArray[np.float64]:
        """Return the scores by configuration, metric and seed; NaN where a configuration has fewer seeds."""
        place = np.zeros(len(self.members), dtype=np.intp)
        seen: dict[int, int] = {}
        for row, member in enumerate(self.members.tolist()):
            place[row] = seen.get(member, 0)
            seen[member] = int(place[row]) + 1
        found = np.full((len(self.configurations), len(self.metrics), max(seen.values())), np.nan)
        found[self.members, :, place] = self.scores
        return found


def read_scores(
    scores: object,
    *,
    metrics: Sequence[str] | None,
    configuration: object,
    collapsed: object,
    within: object,
    lower_is_better: Sequence[str] = (),
) -> ScoreTable:
    """Read a table of scores; see :func:`demele.bench.agreement`.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, NotEnoughData
    """
    columns = _columns(scores, "scores")
    n = _length(columns, "scores")
    configuration = _names_of_rows(columns, n) if configuration is None else configuration
    given = {"configuration": configuration, "collapsed": collapsed, "within": within}
    found = {argument: _labels(value, columns, n, argument) for argument, value in given.items()}
    taken = [value for value in given.values() if isinstance(value, str)]
    names = _metrics(metrics, columns, taken)
    labels = found["configuration"]
    lower = [
        checked_name(name, "lower_is_better", names)
        for name in items_of(lower_is_better, "lower_is_better", "a list of names")
    ]
    signs = np.where(np.isin(names, lower), -1.0, 1.0)
    levels, members = _numbered(labels) if labels is not None else ([f"row {row}" for row in range(n)], np.arange(n))
    return ScoreTable(
        metrics=names,
        configurations=tuple(levels),
        scores=_numbers(columns, names, "scores") * signs,
        members=members,
        labels=labels,
        collapsed=_collapsed(found["collapsed"], members, len(levels)),
        groups=_groups(found["within"], members, levels),
        named_by=configuration if isinstance(configuration, str) else None,
        signs=signs,
    )


def _names_of_rows(columns: Mapping[str, Any], n: int) -> str | None:
    """Return the only column of texts, if every row has another one."""
    texts = [name for name, held in columns.items() if all(isinstance(one, str) for one in np.asarray(held).tolist())]
    return (
        texts[0]
        if len(texts) == 1 and len(columns) > 2 and len(set(np.asarray(columns[texts[0]]).tolist())) == n
        else None
    )


def read_beside(table: object, beside: ScoreTable, argument: str) -> NDArray[np.float64]:
    """Return another table's scores of the same rows, shape (n_rows, n_metrics).

    Raises
    ------
    InputError, InputTypeError
        If rows or metrics are others.
    """
    columns = _columns(table, argument)
    n = _length(columns, argument)
    if n != len(beside.members):
        raise InputError(argument, f"expected the rows of the scores, {len(beside.members)}, got {n}")
    lacking = [name for name in beside.metrics if name not in columns]
    if lacking:
        raise InputError(argument, f"expected a column for each metric, lacks {quoted(lacking[0])}")
    if beside.named_by in columns:
        odd = np.flatnonzero(np.asarray(as_column(columns[beside.named_by], argument)) != beside.labels)
        if odd.size:
            raise InputError(
                argument,
                f"row {odd[0]} is of another configuration than row {odd[0]} of the scores; bring the rows into the "
                "same order",
            )
    return _numbers(columns, beside.metrics, argument) * beside.signs


def _columns(table: object, argument: str) -> dict[str, Any]:
    if isinstance(table, Mapping):
        return {str(name): _column(values, str(name), argument) for name, values in table.items()}
    columns, names = split_columns(table, argument, "metric")
    parts = columns if isinstance(columns, list) else list(columns.T)
    return dict(zip(names, parts, strict=True))


def _column(values: object, name: str, argument: str) -> NDArray[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputTypeError(argument, f"expected a score for each row in {quoted(name)}, got {type(values).__name__}")
    return as_column(
        values if isinstance(values, list | tuple) or hasattr(values, "__array__") else list(values), argument
    )


def _length(columns: Mapping[str, Any], argument: str) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, n), *others = lengths.items()
        odd = next(name for name, length in others if length != n)
        raise InputError(
            argument, f"expected columns of one length, got {n} in {quoted(first)} and {lengths[odd]} in {quoted(odd)}"
        )
    if not lengths or next(iter(lengths.values())) < 2:
        raise NotEnoughData(argument, "expected two or more rows: the metrics rank configurations")
    return next(iter(lengths.values()))


def _metrics(metrics: Sequence[str] | None, columns: Mapping[str, Any], taken: Sequence[str]) -> tuple[str, ...]:
    names = (
        tuple(name for name in columns if name not in taken)
        if metrics is None
        else tuple(items_of(metrics, "metrics", "names of columns"))
    )
    for name in names:
        if name not in columns:
            raise UnknownNameError("metrics", f"unknown column {name!r}{suggestion(str(name), columns)}")
        if names.count(name) > 1:
            raise InputError("metrics", f"expected different names, got {quoted(name)} twice")
    if len(names) < 2:
        raise NotEnoughData("scores", f"expected columns of two or more metrics, got {len(names)}")
    return names


def _numbers(columns: Mapping[str, Any], names: Sequence[str], argument: str) -> NDArray[np.float64]:
    found = np.empty((len(columns[names[0]]), len(names)))
    for place, name in enumerate(names):
        found[:, place] = _real_scores(columns[name], name, argument)
        infinite = np.flatnonzero(np.isinf(found[:, place]))
        if infinite.size:
            raise InputError(
                argument,
                f"{infinite.size} infinite in column {quoted(name)}, first at row {infinite[0]}",
                "a score that is undefined is NaN",
            )
    return found


def _real_scores(column: Any, name: str, argument: str) -> NDArray[Any]:
    """Return scores; of texts in every row say that they may name the models."""
    try:
        return real_column(column, name, argument)
    except InputTypeError as error:
        texts = [value for value in np.asarray(column).tolist() if isinstance(value, str)]
        if error.remedy is not None or argument != "scores" or len(texts) < len(column):
            raise
        problem = f"expected scores in column {quoted(name)}, got texts, first {quoted(texts[0])} at row 0"
        remedy = f"if they name the models, {give(configuration=name)}; seeds of one model share its name"
        raise InputTypeError(argument, problem, remedy) from error


def _labels(value: object, columns: Mapping[str, Any], n: int, argument: str) -> NDArray[Any] | None:
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
    if found.dtype.kind in "fO":
        missing = [row for row, one in enumerate(found.tolist()) if one is None or is_missing(one)]
        if missing:
            raise InputError(argument, f"{len(missing)} missing, first at row {missing[0]}")
    return found


def _numbered(labels: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the different labels in the order in which they come, and the number of each row's."""
    places: dict[Any, int] = {}
    members = np.array([places.setdefault(label, len(places)) for label in labels.tolist()], dtype=np.intp)
    return [str(label) for label in places], members


def _collapsed(labels: NDArray[Any] | None, members: NDArray[np.intp], n: int) -> NDArray[np.bool_] | None:
    if labels is None:
        return None
    odd = [one for one in labels.tolist() if one not in (True, False)]
    if odd:
        raise InputError("collapsed", f"expected true or false for each row, got {quoted(odd[0])}")
    found = np.zeros(n, dtype=np.bool_)
    np.logical_or.at(found, members, labels.astype(np.bool_))
    return found


def _groups(
    labels: NDArray[Any] | None, members: NDArray[np.intp], configurations: Sequence[str]
) -> NDArray[np.intp] | None:
    if labels is None:
        return None
    _, numbers = _numbered(labels)
    found = np.zeros(len(configurations), dtype=np.intp)
    found[members] = numbers
    odd = np.flatnonzero(found[members] != numbers)
    if odd.size:
        raise InputError(
            "within",
            f"expected one group for each configuration, got two for {quoted(configurations[members[odd[0]]])}",
        )
    return found
