"""What is known of wrong annotations of factors, in words and files: rates, transitions and audits."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, quoted
from demele.core.inputs import Factors
from demele.core.kinds import joined, share_or_file, unquoted
from demele.files.audit_files import ROW, TRUE, audit_of, read_answers, read_factor_audits
from demele.files.label_files import in_file, read_transition
from demele.files.named import read_table, split_name
from demele.files.table_files import Warn, json_of
from demele.labels import TransitionCounts, TransitionMatrix


def read_factor_noise(items: Iterable[str], columns: Factors, *, design: str | None, warn: Warn) -> dict[str, Any]:
    """Return what is known of noisy factors, as the library takes it.

    Parameters
    ----------
    items : iterable of str
        FACTOR=RATE; FACTOR=FILE, a transition or an audit; a JSON file that says so of several; or a file of audits,
        with columns row and one called as each audited factor.
    columns : Factors
        As they were read, to know their names and classes.

    Raises
    ------
    FormatError, InputError
    """
    found = [_known(item, columns, design, warn) for item in items]
    with in_file("--factor-noise"):
        known: dict[str, Any] = joined({}, *found)
    return known


def _known(item: str, columns: Factors, design: str | None, warn: Warn) -> dict[str, Any]:
    name, mark, said = item.rpartition("=")
    name, said = unquoted(name), said.strip()
    if not mark or (name not in columns.names and split_name(item)[0].exists()):
        if Path(item).suffix.lower() == ".json":
            return _of_json(Path(item))
        return dict(read_factor_audits(item, columns.names, design, warn))
    if name not in columns.names:
        raise InputError(f"unknown factor {quoted(name)}; the factors are {', '.join(map(quoted, columns.names))}")
    with in_file(f"--factor-noise: {name}"):
        value = share_or_file(said)
    return {name: _of_file(name, value, columns, design, warn) if isinstance(value, str) else value}


def _of_file(name: str, file: str, columns: Factors, design: str | None, warn: Warn) -> Any:
    """Read an audit, which has a column of rows, or a transition."""
    table = read_table(file, warn=lambda _: None, row_names=True)  # warnings come when its values are read
    column = columns.columns[columns.names.index(name)]
    if isinstance(table, np.ndarray) or ROW not in table:
        return read_transition(file, _classes(column), warn)
    if name in table and TRUE not in table:
        return read_factor_audits(file, [name], design, warn)[name]
    if not column.categorical:
        raise InputError(
            f"--factor-noise: factor {quoted(name)} is continuous; give its true values in a file with columns row and "
            f"{name}"
        )
    return audit_of(read_answers(file, _classes(column), warn), design, warn)


def _classes(column: Any) -> NDArray[Any]:
    """Return the values of a factor as files name its classes: whole numbers if all are."""
    if not column.categorical:
        return np.arange(2)
    levels = list(column.levels)
    whole = all(level.lstrip("-").isdecimal() for level in levels)
    classes = np.array([int(level) for level in levels]) if whole else np.array(levels, dtype=object)
    values = np.asarray(column.values, dtype=np.intp)
    found: NDArray[Any] = classes[np.where(values >= 0, values, 0)]
    return found


def _of_json(path: Path) -> dict[str, Any]:
    """Read what a JSON file says of factors: rates, or objects with a transition or counts."""
    content, _ = json_of(path)
    if not isinstance(content, dict):
        raise FormatError(f'{path}: expected an object of factors, such as {{"shape": 0.05}}')
    return {str(name): _of_entry(f"{path}: {name}", said) for name, said in content.items()}


def _of_entry(where: str, said: Any) -> object:
    if isinstance(said, int | float) and not isinstance(said, bool):
        return float(said)
    ways: dict[str, Callable[..., object]] = {"transition": TransitionMatrix, "counts": TransitionCounts}
    given = [way for way in ways if isinstance(said, dict) and way in said]
    if len(given) != 1:
        raise FormatError(f"{where}: expected a rate, or an object with one of {', '.join(ways)}")
    with in_file(where, probabilities="transition", counts="counts"):
        return ways[given[0]](said[given[0]], said.get("classes"))
