"""Codes and factors as every command on representations reads them, and what is known of wrong annotations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.engine import Given
from demele.core.errors import FormatError, InputError, quoted
from demele.core.inputs import read_factors
from demele.core.kinds import joined, share_or_file, unquoted
from demele.core.reading import real_path
from demele.files.label_files import in_file, read_transition
from demele.files.named import holds_sparse, read_sparse, read_table, split_name
from demele.files.table_files import Warn, json_of, text_of
from demele.scoring import pieces

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from demele.core.inputs import Factors
    from demele.outofcore.tables import ParquetTable

#: Fewer rows may well hold 0, 1, 2, ... by themselves.
_ROWS_THAT_COUNT = 20
#: Files of names that are read as tables; any other is one name per line.
_TABLES = (".npy", ".npz", ".csv", ".tsv", ".parquet", ".json")


# Files ---------------------------------------------------------------------------------------------------------------


def read_or_scan(text: str, *, warn: Warn) -> "NDArray[Any] | pd.DataFrame | ParquetTable":
    """Read codes or factors, or only name them if they are read a piece at a time.

    Parameters
    ----------
    text : str
        As for :func:`read_table`; also ``FOLDER`` and ``FOLDER::a,b``: all Parquet files in a folder.
    warn : callable
        Called with one line for anything that was guessed.

    Returns
    -------
    array, DataFrame or ParquetTable
        The last for folders, and for Parquet files whose columns would take more than 4 GiB.

    Raises
    ------
    FormatError, UnknownNameError, OSError
        As :func:`read_table`.
    """
    path, names = split_name(text)
    if path.is_dir() or (path.suffix.lower() == ".parquet" and path.exists()):
        from demele.outofcore.tables import scan_parquet

        scanned = scan_parquet(path, names or None)
        if path.is_dir() or scanned.n * len(scanned.names) * 8 > pieces.LARGEST_MAPPED:
            return scanned
    table = read_table(text, warn=warn)
    return table if names or isinstance(table, np.ndarray) else without_row_numbers(table, path, warn)


def without_row_numbers(frame: "pd.DataFrame", path: Path, warn: Warn) -> "pd.DataFrame":
    """Leave out columns that count the rows, unless they are asked for or all there is: they are no code or factor."""
    whole = frame.select_dtypes("integer") if len(frame) >= _ROWS_THAT_COUNT else frame.iloc[:, :0]
    counting = [name for name in whole if (whole[name].diff().iloc[1:] == 1).all()]
    if len(counting) == frame.shape[1]:
        return frame
    for name in counting:
        first, second = frame[name].iloc[:2]
        warn(
            f"{path}: column {name} numbers the rows ({first}, {second}, ...); it was left out, rows are paired by "
            f"position; if it is a code or a factor, name the columns, such as {path}::{name},..."
        )
    return frame.drop(columns=counting)


def read_codes_and_factors(given: Given, codes: Sequence[str], factors: str) -> tuple[list[Any], Any]:
    """Read codes of one or several representations, and the factors of the same rows."""
    for text in codes:
        _warn_of_shared_columns(text, factors, given.warn)
    read = [read_sparse(text) if holds_sparse(text) else read_or_scan(text, warn=given.warn) for text in codes]
    return read, read_or_scan(factors, warn=given.warn)


def _warn_of_shared_columns(codes: str, factors: str, warn: Warn) -> None:
    """Tell that codes are scored against themselves: a slip that gives the best of scores."""
    (codes_file, codes_names), (factors_file, factors_names) = split_name(codes), split_name(factors)
    if real_path(codes_file) != real_path(factors_file):
        return
    both = codes_names and factors_names
    shared = [name for name in codes_names if name in factors_names] if both else codes_names or factors_names or ("",)
    if shared:
        named = ", ".join(shared) or "all of it"
        warn(f"{codes_file}: {named} given as CODES and as FACTORS: scored against itself")


def names_of_codes(text: str, *, warn: Warn) -> list[str]:
    """Read the names of codes: the lines of a text file, or a column of a table."""
    path, picked = split_name(text)
    if not picked and path.suffix.lower() not in _TABLES:
        names = [line.strip() for line in text_of(path).rstrip().splitlines()]
    else:
        table = read_table(text, warn=warn)
        if table.ndim != 2 or table.shape[1] != 1:
            held = f"{table.shape[1]} columns" if table.ndim == 2 else f"shape {tuple(table.shape)}"
            raise InputError(f"{text}: expected one column of names, got {held}; pick one with {path}::column")
        names = ["" if value is None or value != value else str(value).strip() for value in np.asarray(table)[:, 0]]
    if "" in names:
        raise FormatError(f"{text}: expected a name for each code, got none in row {names.index('')} (rows from 0)")
    return names


def names_of(files: Sequence[str], asked: Sequence[str] | None = None) -> list[str]:
    """Return what to call representations: the stems of their files, with so many folders that no two are equal.

    Raises
    ------
    InputError
        If a file is given twice, or the names are not as many as the files, or one is there twice.

    Examples
    --------
    >>> names_of(["old.npy", "new.npy"]), names_of(["run1/codes.npy", "run2/codes.npy"])
    (['old', 'new'], ['run1/codes', 'run2/codes'])
    >>> names_of(["all.csv::a,b", "all.csv::c,d"])
    ['all::a,b', 'all::c,d']
    """
    twice = next((file for place, file in enumerate(files) if file in files[:place]), None)
    if twice is not None:
        raise InputError(f"{twice}: given twice; each file is one representation")
    if asked is not None:
        if len(asked) != len(files) or len(set(asked)) < len(asked):
            raise InputError(f"--names: expected {len(files)} different names, got {','.join(asked)}")
        return list(asked)
    paths = [split_name(file)[0] for file in files]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join((*path.parts[-depth:-1], path.stem)) for path in paths]
        if len(set(names)) == len(names):
            return names
    names = [f"{path.stem}{file.removeprefix(str(path))}" for path, file in zip(paths, files, strict=True)]
    return names if len(set(names)) == len(names) else list(files)


def files_of(runs: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the files of the runs of each model.

    Raises
    ------
    InputError
        If a pattern names no file.
    """
    found: dict[str, list[str]] = {}
    for model, patterns in runs.items():
        found[model] = [file for pattern in patterns for file in (sorted(glob(pattern)) or [pattern])]
        lacking = [file for file in found[model] if not split_name(file)[0].exists()]
        if lacking:
            raise InputError(f"--runs: {model}: no file matches {lacking[0]}")
    return found


# Wrong annotations ---------------------------------------------------------------------------------------------------


def read_noise(
    items: Iterable[str], factors: object, *, kinds: object, design: str | None, warn: Warn
) -> dict[str, Any]:
    """Return what is known of noisy factors, as the library takes it.

    Parameters
    ----------
    items : iterable of str
        FACTOR=RATE; FACTOR=FILE, a transition or an audit; a JSON file that says so of several; or a file of audits,
        with columns row and one called as each audited factor.
    factors : object
        As they were read, to know their names and classes.

    Raises
    ------
    FormatError, InputError
    """
    if pieces.read_in_pieces(factors, factors):
        raise InputError("--factor-noise: needs rows in memory, and FACTORS are read a piece at a time; give a sample")
    columns: Any = read_factors(factors, kinds=kinds, missing="omit")
    found = [_known(item, columns, design, warn) for item in items]
    with in_file("--factor-noise"):
        known: dict[str, Any] = joined({}, *found)
    return known


def _known(item: str, columns: "Factors", design: str | None, warn: Warn) -> dict[str, Any]:
    name, mark, said = item.rpartition("=")
    name, said = unquoted(name), said.strip()
    if not mark or (name not in columns.names and split_name(item)[0].exists()):
        if Path(item).suffix.lower() == ".json":
            return _of_json(Path(item))
        from demele.files.audit_files import read_factor_audits

        return dict(read_factor_audits(item, columns.names, design, warn))
    if name not in columns.names:
        raise InputError(f"unknown factor {quoted(name)}; the factors are {', '.join(map(quoted, columns.names))}")
    with in_file(f"--factor-noise: {name}"):
        value = share_or_file(said)
    return {name: _of_file(name, value, columns, design, warn) if isinstance(value, str) else value}


def _of_file(name: str, file: str, columns: "Factors", design: str | None, warn: Warn) -> Any:
    """Read an audit, which has a column of rows, or a transition."""
    from demele.files.audit_files import ROW, TRUE, read_audit, read_factor_audits

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
    return read_audit(file, design, _classes(column), warn)


def _classes(column: Any) -> "NDArray[Any]":
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
    from demele.labels import TransitionCounts, TransitionMatrix

    if isinstance(said, int | float) and not isinstance(said, bool):
        return float(said)
    ways: dict[str, Callable[..., object]] = {"transition": TransitionMatrix, "counts": TransitionCounts}
    given = [way for way in ways if isinstance(said, dict) and way in said]
    if len(given) != 1:
        raise FormatError(f"{where}: expected a rate, or an object with one of {', '.join(ways)}")
    with in_file(where, probabilities="transition", counts="counts"):
        return ways[given[0]](said[given[0]], said.get("classes"))
