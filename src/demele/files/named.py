"""Files of arrays, tables and sheets: read by what they are, with errors that say which file and what to do."""

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from demele.core.array_files import mapped_array, members_of, objects_refused, opened_archive, read_member
from demele.core.arrays import Array, pd
from demele.core.errors import FormatError, InputError, UnknownNameError, quoted
from demele.core.kinds import NAME, unquoted
from demele.core.lazy import require
from demele.core.outputs import write_whole
from demele.core.reading import check_unpacked, parsing, path_of, regular_file
from demele.core.table_columns import checked_structure
from demele.files import table_files

#: Arrays that every archive of ``scipy.sparse.save_npz`` holds, and those of positions that some do.
_OF_SPARSE = {"format", "shape", "data"}
_POSITIONS = ("indices", "indptr", "row", "col", "coords", "offsets")
#: What a column of sparse codes takes while it is scored, an upper estimate: its name, its counts, its scores.
_BYTES_PER_CODE = 1024


def read_numpy(path: Path, names: tuple[str, ...]) -> "Array | pd.DataFrame":
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
        held = list(members_of(archive))
        if not held:
            raise FormatError(f"{path}: holds no array")
        if not names and set(held) >= _OF_SPARSE:
            raise FormatError(
                f"{path}: holds a sparse matrix, of scipy.sparse.save_npz; only demele score and probe sparse read "
                "one, as the first file, CODES; make other tables dense with .toarray()"
            )
        if not names and len(held) > 1:
            such = table_files.picking(path, held[0])
            raise InputError(f"{path}: holds arrays {table_files.listed(held)}; pick one, such as {such}")
        chosen = names or (held[0],)
        table_files.check_known(chosen, held, path, "array")
        arrays = _loaded(archive, path, chosen)
    if len(arrays) == 1:
        return arrays[0]
    lengths = {len(array) for array in arrays if array.ndim == 1}
    if len(lengths) != 1 or any(array.ndim != 1 for array in arrays):
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(chosen, arrays, strict=True))
        raise InputError(f"{path}: several arrays make a table only as columns of equal length, got {shapes}")

    with parsing(f"{path}: not columns of a table"):
        return pd.DataFrame(dict(zip(chosen, arrays, strict=True)))


def _loaded(archive: zipfile.ZipFile, path: Path, chosen: Sequence[str]) -> list[Array]:
    """Load arrays of an archive, if they are what its directory says and take no more than they may."""
    held = members_of(archive)
    members = [held[name] for name in chosen]
    check_unpacked(path, sum(info.file_size for info in members), stored=regular_file(path))
    return [read_member(archive, info) for info in members]


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
    whole = dict.fromkeys(("shape", *_POSITIONS), "iu")
    kinds = {name: kind for name, kind in {**whole, "data": "biufc"}.items() if name in held}
    odd = [name for name, kind in kinds.items() if held[name].dtype.kind not in kind]
    with parsing(what):
        if odd:
            raise ValueError(f"its {odd[0]} are {held[odd[0]].dtype}")
        n_rows, n_columns = (int(length) for length in held["shape"])
        check_unpacked(path, n_columns * _BYTES_PER_CODE, stored=size)
        if min(n_rows, n_columns) < 0 or n_rows > np.iinfo(np.int64).max // max(n_columns, 1):
            raise ValueError(f"it declares a shape of {n_rows:,} x {n_columns:,}")
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


def read_table(text: str, *, warn: table_files.Warn, row_names: bool = False) -> "Array | pd.DataFrame":
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
    text_table = partial(table_files.read_csv, warn=warn, row_names=row_names)
    readers: dict[str, Callable[[Path, tuple[str, ...]], Any]] = {
        ".npy": read_numpy,
        ".npz": read_numpy,
        ".csv": text_table,
        ".tsv": text_table,
        ".txt": text_table,
        ".parquet": table_files.read_parquet,
        ".json": table_files.read_json,
        ".jsonl": table_files.read_json_lines,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        if not path.exists():
            raise FormatError(f"{path}: there is no such file or folder")
        what = f"{suffix!r}" if suffix else "no suffix"
        raise FormatError(f"{path}: expected .npy, .npz, .csv, .tsv, .parquet, .json or .jsonl, got {what}")
    if path.is_dir():
        raise FormatError(f"{path}: expected a file, got a folder")
    table = readers[suffix](path, names)
    shape = np.shape(table)
    if 0 in (shape or (0,)):
        raise FormatError(f"{path}: has no rows or no columns: its shape is {shape}")
    return table[:, None] if isinstance(table, np.ndarray) and table.ndim == 1 else table


#: Fewer rows may well hold 0, 1, 2, ... by themselves.
_ROWS_THAT_COUNT = 20


def without_row_numbers(frame: "pd.DataFrame", path: Path, warn: table_files.Warn) -> "pd.DataFrame":
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


def names_of_codes(text: str, *, warn: table_files.Warn) -> list[str]:
    """Read the names of codes: the lines of a text file, or a column of a table."""
    path, picked = split_name(text)
    if not picked and path.suffix.lower() not in _TABLES:
        names = [line.strip() for line in table_files.text_of(path).rstrip().splitlines()]
    else:
        table = read_table(text, warn=warn)
        if table.ndim != 2 or table.shape[1] != 1:
            held = f"{table.shape[1]} columns" if table.ndim == 2 else f"shape {tuple(table.shape)}"
            raise InputError(f"{text}: expected one column of names, got {held}; pick one with {path}::column")
        names = ["" if value is None or value != value else str(value).strip() for value in np.asarray(table)[:, 0]]
    if "" in names:
        raise FormatError(f"{text}: expected a name for each code, got none in row {names.index('')} (rows from 0)")
    return names


# Tables as text that people open in spreadsheets, which take a cell that begins with = + - @ for a formula ------------
#
# One rule, for every CSV and TSV that demele writes, and for the names of columns too: a text that is no number and
# begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe in front; so does one that has
# apostrophes before such a sign, so that every text comes back as it was. Numbers stay numbers: ``-0.5`` is ``-0.5``,
# whether it came as a number or as the name of a class. What demele reads has that apostrophe taken off again.

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def escaped(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; what is no text is returned as it is.

    Examples
    --------
    >>> escaped("=1+1"), escaped("-0.5"), escaped(-0.5), escaped("-cat"), escaped("cat")
    ("'=1+1", '-0.5', -0.5, "'-cat", 'cat')
    """
    harmless = not isinstance(value, str) or not _FORMULA.match(value) or table_files.is_number_text(value)
    return value if harmless else f"'{value}"


def csv_text(frame: "pd.DataFrame", *, delimiter: str = ",") -> str:
    """Return a table as CSV with its names and without its index; the one place where demele writes a frame as CSV.

    Parameters
    ----------
    frame : DataFrame
    delimiter : str
        A tab for TSV.
    """
    safe = frame.set_axis([escaped(name) for name in frame.columns], axis=1)
    for place, kind in enumerate(safe.dtypes):
        if kind.kind not in "biufcmM":
            cells = np.empty(len(safe), dtype=object)  # each as it is: a column of 1 and None stays one
            cells[:] = [escaped(value) for value in safe.iloc[:, place]]
            safe.isetitem(place, cells)
    return str(safe.to_csv(index=False, sep=delimiter))


SUFFIXES = (".csv", ".tsv", ".xlsx")
#: No sheet for people is larger; what declares more columns is damaged or hostile.
_MOST_COLUMNS = 1000
_MOST_ROWS = 1 << 20
#: Characters of a cell, by the format; longer ones would be cut off without a word.
_LONGEST_CELL = 32_767
#: Control characters, which the format cannot hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TEXT = "@"
#: Characters of a list that a cell offers, in all; the format holds no more.
_LONGEST_LIST = 255

Cells = list[Any]


def is_sheet_name(path: Path) -> bool:
    """Whether a file is called as a sheet is."""
    return path.suffix.lower() in SUFFIXES


def check_sheet_name(path: Path, option: str) -> None:
    """Refuse a sheet that could not be written because of its name, or of a package that is missing.

    Raises
    ------
    InputError, MissingExtraError
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{option}: expected a file called {', '.join(SUFFIXES)}, got {path}")
    if suffix == ".xlsx":
        require("openpyxl", purpose=f"writing {path}")


def sheet_bytes(rows: Sequence[Cells], path: Path, *, choices: Mapping[str, Sequence[str]] | None = None) -> bytes:
    """Return a table as a file of the kind that its name says; texts are texts, whatever they begin with.

    Parameters
    ----------
    rows : sequence of lists
        The names of the columns, then the rows: numbers, texts, or None for an empty cell.
    path : Path
        Its suffix says the format; its name, what messages call it.
    choices : mapping of str to sequence of str, optional
        What a workbook offers to pick from in a column, by its name; other text may be written all the same.

    Raises
    ------
    FormatError
        If a text is longer than a cell of a workbook may be.
    MissingExtraError
        If it is a workbook and openpyxl is not installed.
    """
    if path.suffix.lower() == ".xlsx":
        return _workbook(rows, path, choices or {})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    writer.writerows([["" if cell is None else escaped(cell) for cell in row] for row in rows])
    return text.getvalue().encode("utf-8")


def read_sheet_rows(path: Path) -> list[tuple[int, Cells]]:
    """Read the first table of a file: its rows, each with its number as spreadsheets count, from 1; none is blank.

    Raises
    ------
    FormatError
        If it is damaged, or declares more than a sheet for people holds.
    MissingExtraError
        If it is a workbook and openpyxl is not installed.
    """
    if path.suffix.lower() == ".xlsx":
        found = _workbook_rows(path)
    else:
        delimiter, _ = table_files.first_row(path)
        with parsing(f"{path}: not a table that can be read"):
            read = csv.reader(io.StringIO(table_files.text_of(path), newline=""), delimiter=delimiter)
            found = iter([(number, list(map(table_files.unescaped, cells))) for number, cells in enumerate(read, 1)])
    rows = [(number, cells) for number, cells in found if any(not is_empty(cell) for cell in cells)]
    if not rows:
        raise FormatError(f"{path}: is empty")
    return rows


def is_empty(cell: object) -> bool:
    """Whether a cell holds nothing but blanks."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


# Workbooks -------------------------------------------------------------------------------------------------------


def _workbook(rows: Sequence[Cells], path: Path, choices: Mapping[str, Sequence[str]]) -> bytes:
    openpyxl = require("openpyxl", purpose=f"writing {path}")
    book = openpyxl.Workbook()
    sheet = book.active
    for line, row in enumerate(rows, 1):
        for place, value in enumerate(row, 1):
            cell = sheet.cell(line, place)
            if isinstance(value, str):
                if len(value) > _LONGEST_CELL:
                    raise FormatError(
                        f"{path}: column {quoted(rows[0][place - 1])}: a cell of a workbook holds {_LONGEST_CELL:,} "
                        f"characters, one has {len(value):,}; write .csv"
                    )
                cell.value = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", value)
                cell.data_type = "s"  # and no formula, whatever it begins with
            elif value is not None:
                cell.value = value
            if isinstance(value, str) or value is None:  # what is written there later stays text, too
                cell.number_format = _TEXT
    sheet.freeze_panes = "A2"
    for place, name in enumerate(rows[0], 1):
        column = openpyxl.utils.get_column_letter(place)
        longest = max(len(str(row[place - 1])) for row in rows if row[place - 1] is not None)
        sheet.column_dimensions[column].width = min(max(longest + 2, 10), 60)
        offers = choices.get(name, ())
        held = ",".join(offers)  # texts to pick from, where the format can hold them
        if offers and len(held) <= _LONGEST_LIST and held.count(",") < len(offers) and '"' not in held:
            validation = require("openpyxl.worksheet.datavalidation", purpose="writing a workbook").DataValidation
            offered = validation(type="list", formula1=f'"{held}"', allow_blank=True, showErrorMessage=False)
            sheet.add_data_validation(offered)
            offered.add(f"{column}2:{column}{max(len(rows), 2)}")
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _workbook_rows(path: Path) -> Iterator[tuple[int, Cells]]:
    openpyxl = require("openpyxl", purpose=f"reading {path}")
    size = regular_file(path)
    what = f"{path}: not a workbook that can be read"
    with parsing(what), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a sheet has besides its cells
        with zipfile.ZipFile(path) as archive:
            check_unpacked(path, sum(info.file_size for info in archive.infolist()), stored=size)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # what it declares of its size is not believed
            for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
                if number > _MOST_ROWS or len(cells) > _MOST_COLUMNS:
                    raise FormatError(f"{path}: expected a sheet of at most {_MOST_COLUMNS} columns, got more")
                yield number, list(cells)
        finally:
            book.close()


# Columns that commands write for other programs -----------------------------------------------------------------------


def write_columns(frame: "pd.DataFrame", path: Path) -> None:
    """Write columns by name; the other commands read them back as ``FILE::name``."""
    suffix = path.suffix.lower()
    content: bytes | str
    if suffix == ".parquet":
        content = frame.to_parquet(index=False)
    elif suffix == ".npz":  # archives hold no Python objects
        held = {str(name): frame[name].to_numpy() for name in frame}
        arrays: dict[str, Any] = {name: one.astype(str) if one.dtype.kind == "O" else one for name, one in held.items()}
        archive = io.BytesIO()
        np.savez_compressed(archive, **arrays)
        content = archive.getvalue()
    else:
        content = csv_text(frame, delimiter="\t")
    write_whole(path, content)


def read_frame(text: str, warn: table_files.Warn) -> "pd.DataFrame":
    """Read a table whose columns have names.

    Raises
    ------
    FormatError
        If they have none.
    """
    table = read_table(text, warn=warn)
    if isinstance(table, np.ndarray):
        raise FormatError(f"{text}: expected a table with names of columns, got one without")
    return table.set_axis([str(name) for name in table.columns], axis=1)
