"""Files of arrays and tables: read by what they are, with errors that say which file and what to do."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, UnknownNameError
from demele.core.kinds import NAME, unquoted
from demele.core.reading import path_of
from demele.files.array_files import is_sparse, load_sparse, read_numpy
from demele.files.table_files import Warn, read_csv, read_json, read_json_lines, read_parquet

if TYPE_CHECKING:
    import pandas as pd

#: All that may stand after ``FILE::``, and one name of it.
_SELECTED = re.compile(rf"(.*?)::({NAME}(?:,{NAME})*)", re.DOTALL)
_ONE_NAME = re.compile(NAME)


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
    if not isinstance(text, str) or "::" not in text or Path(text).exists():
        return path_of(text, "file"), ()
    file, names = _file_and_names(text)
    chosen = tuple(name for name in map(unquoted, _ONE_NAME.findall(names)) if name)
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


def read_table(text: str, *, warn: Warn, row_names: bool = False) -> "NDArray[Any] | pd.DataFrame":
    """Read codes, factors or labels from a file.

    Parameters
    ----------
    text : str
        ``FILE``, ``FILE::name`` or ``FILE::a,b``. ``.npy`` is mapped into memory, not loaded; of an ``.npz``, the name
        picks an array; of a table (``.csv``, ``.tsv``, ``.parquet``, ``.json``, ``.jsonl``), names pick columns.
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
        ".jsonl": read_json_lines,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        if not path.exists():
            raise FormatError(f"{path}: there is no such file or folder")
        what = f"{suffix!r}" if suffix else "no suffix"
        raise FormatError(
            f"{path}: expected a file called .npy, .npz, .csv, .tsv, .parquet, .json or .jsonl, got {what}"
        )
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
