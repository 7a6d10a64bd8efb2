"""Files of arrays and tables: read by what they are, with errors that say which file and what to do."""

import csv
import difflib
import json
import math
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, UnknownNameError
from demele.core.extras import require
from demele.core.outputs import expect_new, why_not_writable
from demele.core.sheets import plain_frame

if TYPE_CHECKING:
    import pandas as pd

    from demele.streaming.chunks import ParquetTable

__all__ = [
    "check_targets",
    "check_writable",
    "first_row",
    "holds_sparse",
    "quoted_name",
    "read_or_scan",
    "read_sparse",
    "read_table",
    "split_name",
]

Warn = Callable[[str], None]

_DELIMITERS = (",", ";", "\t")
#: Arrays that every archive of ``scipy.sparse.save_npz`` holds.
_OF_SPARSE = {"format", "shape", "data"}

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


def quoted_name(name: str) -> str:
    """Return a name of a column as it is picked after ``FILE::``.

    Examples
    --------
    >>> quoted_name("z1"), quoted_name("score,v2")
    ('z1', '"score,v2"')
    """
    odd = name != name.strip() or any(sign in name for sign in (",", '"', "::"))
    return '"' + name.replace('"', '""') + '"' if odd else name


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
    readers: dict[str, Callable[[Path, tuple[str, ...], Warn], Any]] = {
        ".npy": _read_numpy,
        ".npz": _read_numpy,
        ".csv": partial(_read_csv, row_names=row_names),
        ".tsv": partial(_read_csv, row_names=row_names),
        ".txt": partial(_read_csv, row_names=row_names),
        ".parquet": _read_parquet,
        ".json": _read_json,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        if not path.exists():
            raise FormatError(f"{path}: there is no such file or folder")
        what = f"{suffix!r}" if suffix else "no suffix"
        raise FormatError(f"{path}: expected a file called .npy, .npz, .csv, .tsv, .parquet or .json, got {what}")
    if path.is_dir():
        raise FormatError(f"{path}: expected a file, got a folder")
    table = readers[suffix](path, names, warn)
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
    if any(path.resolve() == item.resolve() for item in inputs):
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
        first = taken.setdefault(path.resolve(), option)
        if first != option:
            raise InputError(f"{option}: the same file as {first}; write to another one")
        check_writable(path, force=force or option == "--store", inputs=inputs)


# NumPy -----------------------------------------------------------------------------------------------------------


def _read_numpy(path: Path, names: tuple[str, ...], warn: Warn) -> "NDArray[Any] | pd.DataFrame":
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            if names:
                raise UnknownNameError(f"{path}: holds one array without a name; leave out '::{','.join(names)}'")
            array: NDArray[Any] = loaded
            return array
        with loaded:
            return _from_archive(loaded, path, names)
    except (ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        if isinstance(error, InputError | FormatError):
            raise
        with path.open("rb") as file:
            start = file.read(1)
        if start == b"\x80" or (start == b"\x93" and "bject" in str(error)):
            raise FormatError(
                f"{path}: holds Python objects, which are not loaded because they can run code; "
                "save plain arrays of numbers or strings"
            ) from error
        why = "damaged or cut off" if start in (b"\x93", b"P") else "it does not start as one"
        raise FormatError(f"{path}: not a NumPy file that can be read: {why}") from error


def _from_archive(archive: Any, path: Path, names: tuple[str, ...]) -> "NDArray[Any] | pd.DataFrame":
    held = list(archive.files)
    if not held:
        raise FormatError(f"{path}: holds no array")
    if not names and set(held) >= _OF_SPARSE:
        raise FormatError(
            f"{path}: holds a sparse matrix, of scipy.sparse.save_npz; only demele score reads one, as the first file, "
            "CODES; make other tables dense with .toarray()"
        )
    if not names and len(held) > 1:
        raise InputError(f"{path}: holds {len(held)} arrays ({_listed(held)}); pick one, such as {path}::{held[0]}")
    chosen = names or (held[0],)
    _known(chosen, held, path, "array")
    arrays = [np.asarray(archive[name]) for name in chosen]
    if len(arrays) == 1:
        array: NDArray[Any] = arrays[0]
        return array
    lengths = {len(array) for array in arrays if array.ndim == 1}
    if len(lengths) != 1 or any(array.ndim != 1 for array in arrays):
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(chosen, arrays, strict=True))
        raise InputError(f"{path}: several arrays make a table only as columns of equal length, got {shapes}")
    import pandas as pd

    return pd.DataFrame(dict(zip(chosen, arrays, strict=True)))


def holds_sparse(text: str) -> bool:
    """Whether a file is a sparse matrix, as ``scipy.sparse.save_npz`` writes it."""
    path = split_name(text)[0]
    if path.suffix.lower() != ".npz" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        held = {name.removesuffix(".npy") for name in archive.namelist()}
    return held >= _OF_SPARSE


def read_sparse(text: str) -> Any:
    """Read a sparse matrix from a file of ``scipy.sparse.save_npz``.

    Raises
    ------
    FormatError
        If it cannot be read.
    """
    import scipy.sparse

    path, names = split_name(text)
    if names:
        raise UnknownNameError(f"{path}: holds one sparse matrix; leave out '::{','.join(names)}'")
    try:
        return scipy.sparse.load_npz(path)
    except (ValueError, KeyError, EOFError, NotImplementedError, zipfile.BadZipFile) as error:
        raise FormatError(f"{path}: not a sparse matrix that can be read ({_first_line(error)})") from error


# Tables ----------------------------------------------------------------------------------------------------------


def _read_csv(
    path: Path, names: tuple[str, ...], warn: Warn, *, row_names: bool = False
) -> "NDArray[Any] | pd.DataFrame":
    import pandas as pd

    try:
        delimiter, first = first_row(path)
        _check_widths(path, delimiter)
        header = _has_header(first, path, warn)
        with warnings.catch_warnings():
            # pandas 2 must be told to read the bits that were written; later releases do so, and warn of being told
            warnings.filterwarnings("ignore", "The 'float_precision' argument", DeprecationWarning)
            frame = pd.read_csv(
                path,
                sep=delimiter,
                header=0 if header else None,
                encoding="utf-8-sig",
                low_memory=False,
                float_precision="round_trip",
            )
        frame = plain_frame(frame)
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not text in UTF-8 ({_first_line(error)})") from error
    except (ValueError, csv.Error) as error:  # pandas' own errors are ValueErrors
        if isinstance(error, InputError | FormatError):
            raise
        raise FormatError(f"{path}: not a table that can be read ({_first_line(error)})") from error
    if not len(frame):
        raise FormatError(f"{path}: has a header but no rows")
    if header:
        return _picked(frame if row_names else _without_index(frame, path, names, warn), names, path)
    frame.columns = [str(position + 1) for position in range(frame.shape[1])]
    picked = _picked(frame, names, path)
    return picked if names else np.asarray(picked.to_numpy())


def first_row(path: Path) -> tuple[str, list[str]]:
    """Return the delimiter that splits the first line best, and the fields of that line."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        line = next((line for line in file if line.strip()), "")
    if not line:
        raise FormatError(f"{path}: is empty")
    rows = {sign: next(csv.reader([line], delimiter=sign)) for sign in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda sign: len(rows[sign]))
    return delimiter, rows[delimiter]


def _check_widths(path: Path, delimiter: str) -> None:
    """Refuse lines that are shorter or longer than the first, and blank ones between others.

    Readers of tables fill or skip them, which shifts values into other columns and rows.
    """
    expected, blank = 0, 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        for line, found in _widths(file, delimiter):
            if not found:
                blank = blank or line * bool(expected)
                continue
            expected = expected or found
            if blank:
                raise FormatError(
                    f"{path}: line {blank}: expected {_fields(expected)}, got a blank line; "
                    "write nan for a missing value, or delete the line"
                )
            if found != expected:
                raise FormatError(f"{path}: line {line}: expected {_fields(expected)} as in the first, got {found}")


def _widths(file: Iterable[str], delimiter: str) -> Iterator[tuple[int, int]]:
    """Yield the line at which each row starts, and how many fields it has: none if it is blank."""
    lines = enumerate(file, 1)
    for number, line in lines:
        if '"' in line:  # the row may have delimiters in its fields, and go on in the next lines
            row = csv.reader(chain([line], (more for _, more in lines)), delimiter=delimiter)
            yield number, len(next(row))
        elif line.isspace() and delimiter not in line:
            yield number, 0
        else:
            yield number, line.count(delimiter) + 1


def _fields(number: int) -> str:
    return f"{number} field" + ("" if number == 1 else "s")


def _has_header(first: Sequence[str], path: Path, warn: Warn) -> bool:
    """Tell names from data: numbers are data, unless they count the columns, as frames without names are written."""
    if not all(_is_number(field) for field in first):
        return True
    if [field.strip() for field in first] == [str(position) for position in range(len(first))]:
        if len(first) > 1:
            warn(f"{path}: the first line, {_listed(first)}, was read as the names of the columns")
            return True
        raise FormatError(
            f"{path}: its first line, {first[0].strip()}, may be the name of the column or a value; "
            "write a line with a name above the values"
        )
    warn(f"{path}: has no line of names; columns are called by their position, from 1")
    return False


def _without_index(frame: "pd.DataFrame", path: Path, names: Sequence[str], warn: Warn) -> "pd.DataFrame":
    """Leave out the row numbers that frames write in front of their columns: they are no code and no factor."""
    first = str(frame.columns[0])
    if first != "Unnamed: 0" or first in names or frame.shape[1] == 1:
        return frame
    values = frame.iloc[:, 0].to_numpy()
    if values.dtype.kind not in "iu" or len(np.unique(values)) < len(values):
        return frame
    warn(f"{path}: the first column has no name and numbers the rows; it was left out, rows are paired by position")
    return frame.iloc[:, 1:]


def _read_parquet(path: Path, names: tuple[str, ...], warn: Warn) -> "pd.DataFrame":
    arrow = require("pyarrow", purpose=f"reading {path}")
    import pandas as pd

    try:
        return _picked(pd.read_parquet(path, engine="pyarrow"), names, path)
    except arrow.ArrowException as error:
        raise FormatError(f"{path}: not a Parquet file that can be read ({_first_line(error)})") from error


def _read_json(path: Path, names: tuple[str, ...], warn: Warn) -> "NDArray[Any] | pd.DataFrame":
    import pandas as pd

    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise FormatError(f"{path}: not JSON ({_first_line(error)})") from error
    records = isinstance(data, list) and bool(data) and all(isinstance(row, dict) for row in data)
    columns = isinstance(data, dict) and bool(data) and all(isinstance(column, list) for column in data.values())
    if records or columns:
        try:
            return _picked(pd.DataFrame(data), names, path)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise FormatError(f"{path}: columns of different lengths ({_first_line(error)})") from error
    if not isinstance(data, list) or not data:
        raise FormatError(f"{path}: expected a list of rows, or columns by name, got {type(data).__name__}")
    if names:
        raise UnknownNameError(f"{path}: its columns have no names; leave out '::{','.join(names)}'")
    try:
        return np.asarray(data)
    except ValueError as error:
        raise FormatError(f"{path}: rows of different lengths") from error


def _picked(frame: "pd.DataFrame", names: tuple[str, ...], path: Path) -> "pd.DataFrame":
    if not names:
        return frame
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    _known(names, list(frame.columns), path, "column")
    return frame[list(names)]


def _known(names: Sequence[str], held: Sequence[str], path: Path, what: str) -> None:
    for name in names:
        if name not in held:
            near = difflib.get_close_matches(name, held, n=3, cutoff=0.6)
            whole = ",".join(names)
            if whole in held:
                near = [quoted_name(whole)]
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it holds {_listed(held)}"
            raise UnknownNameError(f"{path}: holds no {what} called {name!r}; {hint}")


def _is_number(field: str) -> bool:
    try:
        return not math.isnan(float(field))  # a column may well be called "nan"
    except ValueError:
        return False


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(name.strip() for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
