"""Files of arrays and tables: read by what they are, with errors that say which file and what to do."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.cli.array_files import is_sparse, load_sparse, read_numpy
from demele.cli.table_files import quoted_name, read_csv, read_json, read_parquet
from demele.core.errors import FormatError, InputError, UnknownNameError
from demele.core.outputs import expect_new, why_not_writable
from demele.core.reading import real_path

if TYPE_CHECKING:
    import pandas as pd

    from demele.streaming.chunks import ParquetTable

__all__ = [
    "check_targets",
    "check_writable",
    "holds_sparse",
    "quoted_name",
    "read_or_scan",
    "read_sparse",
    "read_table",
    "split_name",
]

Warn = Callable[[str], None]

#: One name after ``FILE::``, and all that may stand there.
_NAME = r'(?:\s*"(?:[^"]|"")*"\s*|(?:(?!::)[^",])*)'
_SELECTED = re.compile(rf"(.*?)::({_NAME}(?:,{_NAME})*)", re.DOTALL)
_ONE_NAME = re.compile(_NAME)


def split_name(text: str) -> tuple[Path, tuple[str, ...]]:
    """Split ``FILE::name`` or ``FILE::a,b`` into the file and the names.

    As in CSV, a name with commas, quotes or spaces at its ends stands between double quotes, and a quote in it is
    written twice; other names lose spaces at their ends.

    Examples
    --------
    >>> file, names = split_name("data.csv::z1,z2")
    >>> file.name, names
    ('data.csv', ('z1', 'z2'))
    >>> split_name('data.csv::"score,v2",my score')[1]
    ('score,v2', 'my score')

    Raises
    ------
    InputError
        If there is no name, or a quote is not closed.
    """
    if "::" not in text or Path(text).exists():
        return Path(text), ()
    file, names = _file_and_names(text)
    chosen = tuple(name for name in map(_unquoted, _ONE_NAME.findall(names)) if name)
    if not chosen:
        raise InputError(f"{text}: expected a name after '::', such as {file}::z1,z2")
    return Path(file), chosen


def _file_and_names(text: str) -> tuple[str, str]:
    if '"' not in text:
        file, _, names = text.rpartition("::")
        return file, names
    found = _SELECTED.fullmatch(text)
    if found is None:
        raise InputError(
            f"{text}: expected names after '::' such as z1,z2; a name with commas or quotes stands between double "
            'quotes, and a quote in it is written twice: "score,v2","the ""best"""; on a command line the whole goes '
            "between single quotes"
        )
    return found.group(1), found.group(2)


def _unquoted(name: str) -> str:
    name = name.strip()
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def read_table(text: str, *, warn: Warn, row_names: bool = False) -> "NDArray[Any] | pd.DataFrame":
    """Read codes, factors or labels from a file.

    Parameters
    ----------
    text : str
        ``FILE``, ``FILE::name`` or ``FILE::a,b``. ``.npy`` is mapped into memory, not loaded; of an ``.npz``, the name
        picks an array; of a table (``.csv``, ``.tsv``, ``.parquet``, ``.json``), names pick columns.
    warn : callable
        Called with one line for anything that was guessed.
    row_names : bool
        Whether a first column without a name is kept: it names the rows. By default it is left out if it numbers them.

    Returns
    -------
    array or DataFrame
        Two dimensions, one row per sample.

    Raises
    ------
    FormatError
        If the file is not what its name says.
    UnknownNameError
        If it holds no such array or column.
    OSError
        If it cannot be opened.
    """
    path, names = split_name(text)
    text_table = partial(read_csv, warn=warn, row_names=row_names)
    readers: dict[str, Callable[[Path, tuple[str, ...]], Any]] = {
        ".npy": read_numpy,
        ".npz": read_numpy,
        ".csv": text_table,
        ".tsv": text_table,
        ".txt": text_table,
        ".parquet": read_parquet,
        ".json": read_json,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        if not path.exists():
            raise FormatError(f"{path}: there is no such file or folder")
        what = f"{suffix!r}" if suffix else "no suffix"
        raise FormatError(f"{path}: expected a file called .npy, .npz, .csv, .tsv, .parquet or .json, got {what}")
    if path.is_dir():
        raise FormatError(f"{path}: expected a file, got a folder")
    table = readers[suffix](path, names)
    if isinstance(table, np.ndarray) and table.ndim == 0:
        raise FormatError(f"{path}: expected a table, got one value")
    if not len(table):
        raise FormatError(f"{path}: has no rows")
    if table.ndim > 1 and table.shape[1] == 0:
        raise FormatError(f"{path}: expected a table, got one without columns")
    return table[:, None] if isinstance(table, np.ndarray) and table.ndim == 1 else table


def read_or_scan(text: str, *, warn: Warn) -> "NDArray[Any] | pd.DataFrame | ParquetTable":
    """Read codes or factors, or only name them where they are for reading a piece at a time.

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
        from demele.metrics.pieces import LARGEST_MAPPED
        from demele.streaming.chunks import scan_parquet

        table = scan_parquet(path, names or None)
        if path.is_dir() or table.n * len(table.names) * 8 > LARGEST_MAPPED:
            return table
    return read_table(text, warn=warn)


def check_writable(path: Path, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse a file that could not, or should not, be written: before an hour of computing, not after it.

    Parameters
    ----------
    path : Path
        What is to be written.
    force : bool
        Whether it may replace a file.
    inputs : sequence of Path
        What is read: never replaced.
    """
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{path}: expected the name of a file to write, got a folder")
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}; make it first")
    if any(real_path(path) == real_path(item) for item in inputs):
        raise InputError(f"{path}: it is read by the same command; write to another file")
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; --force replaces it")
    reason = why_not_writable(path)
    if reason is not None:
        raise InputError(f"{path}: {reason}")
    if not force:
        expect_new(path)


def check_targets(targets: Mapping[str, Path | None], *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse files of one command that could not all be written; ``targets`` by option, None where not given.

    A store is continued, never replaced.
    """
    taken: dict[Path, str] = {}
    for option, path in targets.items():
        if path is None:
            continue
        first = taken.setdefault(real_path(path), option)
        if first != option:
            raise InputError(f"{option}: the same file as {first}; write to another one")
        check_writable(path, force=force or option == "--store", inputs=inputs)


def holds_sparse(text: str) -> bool:
    """Whether a file is a sparse matrix, as ``scipy.sparse.save_npz`` writes it."""
    return is_sparse(split_name(text)[0])


def read_sparse(text: str) -> Any:
    """Read a sparse matrix from a file of ``scipy.sparse.save_npz``.

    Raises
    ------
    FormatError
        If it cannot be read.
    """
    path, names = split_name(text)
    if names:
        raise UnknownNameError(f"{path}: holds one sparse matrix; leave out '::{','.join(names)}'")
    return load_sparse(path)
