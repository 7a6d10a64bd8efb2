"""Files of arrays and tables: read by what they are, with errors that say which file and what to do."""

import re
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, UnknownNameError, quoted
from demele.core.kinds import NAME, unquoted
from demele.core.npy_files import mapped_array, members_of, objects_refused, opened_archive, read_member
from demele.core.reading import check_unpacked, parsing, path_of, regular_file
from demele.core.table_columns import checked_structure
from demele.files.table_files import (
    Warn,
    check_known,
    listed,
    picking,
    read_csv,
    read_json,
    read_json_lines,
    read_parquet,
    text_of,
)

if TYPE_CHECKING:
    import pandas as pd

#: Arrays that every archive of ``scipy.sparse.save_npz`` holds, and those of positions that some do.
_OF_SPARSE = {"format", "shape", "data"}
_POSITIONS = ("indices", "indptr", "row", "col", "coords", "offsets")
#: What a column of sparse codes takes while it is scored, an upper estimate: its name, its counts, its scores.
_BYTES_PER_CODE = 1024


def read_numpy(path: Path, names: tuple[str, ...]) -> "NDArray[Any] | pd.DataFrame":
    """Read an array, mapped into memory, or arrays of an archive.

    Raises
    ------
    FormatError, InputError, UnknownNameError
    """
    regular_file(path)
    with path.open("rb") as file:
        start = file.read(6)
        if start == npy.MAGIC_PREFIX:
            if names:
                raise UnknownNameError(f"{path}: holds one array without a name; leave out '::{','.join(names)}'")
            return mapped_array(path)
    if start[:1] == b"\x80":
        raise FormatError(objects_refused(path))
    if start[:1] not in (b"P", b"\x93"):
        raise FormatError(f"{path}: not a NumPy file that can be read: it does not start as one")
    with opened_archive(path) as archive:
        return _from_archive(archive, path, names)


# Archives --------------------------------------------------------------------------------------------------------


def _loaded(archive: zipfile.ZipFile, path: Path, chosen: Sequence[str]) -> list[NDArray[Any]]:
    """Load arrays of an archive, if they are what its directory says and take no more than they may."""
    held = members_of(archive)
    members = [held[name] for name in chosen]
    check_unpacked(path, sum(info.file_size for info in members), stored=regular_file(path))
    return [read_member(archive, info) for info in members]


def _from_archive(archive: zipfile.ZipFile, path: Path, names: tuple[str, ...]) -> "NDArray[Any] | pd.DataFrame":
    held = list(members_of(archive))
    if not held:
        raise FormatError(f"{path}: holds no array")
    if not names and set(held) >= _OF_SPARSE:
        raise FormatError(
            f"{path}: holds a sparse matrix, of scipy.sparse.save_npz; only demele score and probe sparse read one, "
            "as the first file, CODES; make other tables dense with .toarray()"
        )
    if not names and len(held) > 1:
        raise InputError(
            f"{path}: holds {len(held)} arrays ({listed(held)}); pick one, such as {picking(path, held[0])}"
        )
    chosen = names or (held[0],)
    check_known(chosen, held, path, "array")
    arrays = _loaded(archive, path, chosen)
    if len(arrays) == 1:
        return arrays[0]
    lengths = {len(array) for array in arrays if array.ndim == 1}
    if len(lengths) != 1 or any(array.ndim != 1 for array in arrays):
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(chosen, arrays, strict=True))
        raise InputError(f"{path}: several arrays make a table only as columns of equal length, got {shapes}")
    import pandas as pd

    with parsing(f"{path}: not columns of a table"):
        return pd.DataFrame(dict(zip(chosen, arrays, strict=True)))


# Sparse matrices -------------------------------------------------------------------------------------------------


def holds_sparse(text: str) -> bool:
    """Whether a file is a sparse matrix, as ``scipy.sparse.save_npz`` writes it."""
    path = split_name(text)[0]
    if path.suffix.lower() != ".npz" or not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with opened_archive(path) as archive:
            return set(members_of(archive)) >= _OF_SPARSE
    except FormatError:  # told by the reader
        return False


def read_sparse(text: str) -> Any:
    """Read a file of ``scipy.sparse.save_npz``.

    Raises
    ------
    FormatError
        If it cannot be read, has positions outside its shape, or declares more than a file may.
    """
    import scipy.sparse

    path, chosen = split_name(text)
    if chosen:
        raise UnknownNameError(f"{path}: holds one sparse matrix; leave out '::{','.join(chosen)}'")
    size = regular_file(path)
    what = f"{path}: not a sparse matrix that can be read"
    with opened_archive(path) as archive:
        names = list(members_of(archive))
        held = dict(zip(names, _loaded(archive, path, names), strict=True))
    shape, data = held["shape"], held["data"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise FormatError(f"{what} (expected a shape of two whole numbers, got {quoted(shape.tolist())})")
    n_rows, n_columns = (int(length) for length in shape)
    if data.dtype.kind not in "biufc":
        raise FormatError(f"{what} (its values are {data.dtype})")
    for name in _POSITIONS:
        if name in held and held[name].dtype.kind not in "iu":
            raise FormatError(f"{what} (its {name} are {held[name].dtype}, not whole numbers)")
    check_unpacked(path, n_columns * _BYTES_PER_CODE, stored=size)
    if n_rows > np.iinfo(np.int64).max // max(n_columns, 1):
        raise FormatError(f"{what} (it declares a shape of {n_rows:,} x {n_columns:,})")
    with parsing(what):
        return checked_structure(scipy.sparse.load_npz(path), str(path))


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
    file, _, names = text.rpartition("::")
    if '"' in text:
        found = _SELECTED.fullmatch(text)
        if found is None:
            raise InputError(
                f"{text}: expected names after '::' such as z1,z2; a name with commas or quotes stands between double "
                'quotes, and a quote in it is written twice: "score,v2","the ""best"""; on a command line the whole '
                "goes between single quotes"
            )
        file, names = found.groups()
    chosen = tuple(name for name in map(unquoted, _ONE_NAME.findall(names)) if name)
    if not chosen:
        raise InputError(f"{text}: expected a name after '::', such as {file}::z1,z2")
    return Path(file), chosen


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


#: Fewer rows may well hold 0, 1, 2, ... by themselves.
_ROWS_THAT_COUNT = 20


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


#: Files of names that are read as tables; any other is one name per line.
_TABLES = (".npy", ".npz", ".csv", ".tsv", ".parquet", ".json")


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
