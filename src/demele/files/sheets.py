r"""Tables as text that people open in spreadsheets, which take a cell that begins with = + - @ for a formula.

One rule, for every CSV and TSV that demele writes, and for the names of columns too: a text that is no number and
begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe in front; so does one that has
apostrophes before such a sign, so that every text comes back as it was. Numbers stay numbers: ``-0.5`` is ``-0.5``,
whether it came as a number or as the name of a class. What demele reads has that apostrophe taken off again.
"""

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.errors import FormatError, InputError, quoted
from demele.core.extras import require
from demele.core.reading import check_unpacked, parsing, regular_file
from demele.files.table_files import first_row, is_number_text, text_of, unescaped

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def escaped(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; what is no text is returned as it is.

    Examples
    --------
    >>> escaped("=1+1"), escaped("-0.5"), escaped(-0.5), escaped("-cat"), escaped("cat")
    ("'=1+1", '-0.5', -0.5, "'-cat", 'cat')
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) and not is_number_text(value) else value


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
#: Widths of columns, in characters.
_NARROWEST, _WIDEST = 10, 60

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
    found = _workbook_rows(path) if path.suffix.lower() == ".xlsx" else _text_rows(path)
    rows = [(number, cells) for number, cells in found if any(not is_empty(cell) for cell in cells)]
    if not rows:
        raise FormatError(f"{path}: is empty")
    return rows


def is_empty(cell: object) -> bool:
    """Whether a cell holds nothing but blanks."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


# Text ------------------------------------------------------------------------------------------------------------


def _text_rows(path: Path) -> Iterator[tuple[int, Cells]]:
    text = text_of(path)
    delimiter, _ = first_row(path)
    with parsing(f"{path}: not a table that can be read"):
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 1):
            yield number, [unescaped(cell) for cell in cells]


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
        sheet.column_dimensions[column].width = min(max(longest + 2, _NARROWEST), _WIDEST)
        if name in choices:
            _offer(sheet, f"{column}2:{column}{max(len(rows), 2)}", choices[name])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _offer(sheet: Any, cells: str, choices: Sequence[str]) -> None:
    """Let cells offer texts to pick from, where the format can hold them."""
    held = ",".join(choices)
    if len(held) > _LONGEST_LIST or any("," in choice or '"' in choice for choice in choices):
        return
    validation = require("openpyxl.worksheet.datavalidation", purpose="writing a workbook").DataValidation
    offered = validation(type="list", formula1=f'"{held}"', allow_blank=True, showErrorMessage=False)
    sheet.add_data_validation(offered)
    offered.add(cells)


def _workbook_rows(path: Path) -> Iterator[tuple[int, Cells]]:
    openpyxl = require("openpyxl", purpose=f"reading {path}")
    size = regular_file(path)
    what = f"{path}: not a workbook that can be read"
    with parsing(what), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a sheet has beside its cells
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
