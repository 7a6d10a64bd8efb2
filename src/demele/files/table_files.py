"""Tables in text, JSON and Parquet: checked for what readers of tables would guess, fill in or leave out."""

import csv
import difflib
import math
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from demele.core import reading
from demele.core.array_files import check_columns, facts_of, parsing_parquet
from demele.core.arrays import Array, pd
from demele.core.errors import FormatError, UnknownNameError, plural, quoted, shortened
from demele.core.written_numbers import thousands

Warn = Callable[[str], None]

_DELIMITERS = (",", ";", "\t")
#: The decimal sign of numbers in tables of text.
DECIMAL_SIGN: ContextVar[str] = ContextVar("demele_decimal", default=".")


@contextmanager
def decimal_comma(used: bool) -> Iterator[None]:
    """Read numbers in tables of text with a decimal comma within, if it is used, but where commas split the columns."""
    before = DECIMAL_SIGN.set("," if used else ".")
    try:
        yield
    finally:
        DECIMAL_SIGN.reset(before)


# Text ------------------------------------------------------------------------------------------------------------


def read_csv(path: Path, names: tuple[str, ...], warn: Warn, *, row_names: bool = False) -> "Array | pd.DataFrame":
    """Read a table of text; see :func:`demele.files.named.read_table`."""
    what = f"{path}: not a table that can be read"
    with reading.parsing(what), _in_utf8(path), long_fields():
        delimiter, first = first_row(path)
        # where commas split the columns, none stands in their numbers, whatever other files have
        decimal = "." if delimiter == "," else DECIMAL_SIGN.get()
        reading.check_unpacked(path, len(first) * reading.BYTES_PER_COLUMN, stored=path.stat().st_size)
        expected, blank = 0, 0
        with reading.opened(path) as file:
            for line, found in _widths(file, path, delimiter):
                if not found:
                    blank = blank or line * bool(expected)
                    continue
                expected = expected or found
                if blank or found != expected:
                    fields = plural(expected, "field", "fields")
                    if not blank:
                        raise FormatError(f"{path}: line {line}: expected {fields} as in the first, got {found}")
                    remedy = "write nan for a missing value, or delete the line"
                    raise FormatError(f"{path}: line {blank}: expected {fields}, got a blank line; {remedy}")
        header = _has_header(first, path, warn, decimal)
        if header:
            check_repeated([name.strip() for name in first if name.strip()], path)
        if decimal == ",":
            _check_commas(path, delimiter, first if header else [], names)
        with warnings.catch_warnings():
            # pandas 2 must be told to read the bits that were written; later releases do so, and warn of being told
            warnings.filterwarnings("ignore", "The 'float_precision' argument", DeprecationWarning)
            frame = pd.read_csv(
                path,
                sep=delimiter,
                header=0 if header else None,
                encoding="utf-8-sig",
                low_memory=False,
                decimal=decimal,
                float_precision="round_trip",
            )
        frame = plain_frame(frame)
    if header:
        return _picked(frame if row_names else _without_index(frame, path, names, warn), names, path)
    frame.columns = [str(position + 1) for position in range(frame.shape[1])]
    picked = _picked(frame, names, path)
    return picked if names else np.asarray(picked.to_numpy())


@contextmanager
def long_fields() -> Iterator[None]:
    """Let a field within be as long as a file may be: a line of many columns is one field by other delimiters."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def text_of(path: Path) -> str:
    """Return the content of a file of text in UTF-8.

    Raises
    ------
    FormatError, OSError
    """
    with _in_utf8(path), reading.opened(path) as file:
        return file.read()


@contextmanager
def _in_utf8(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not text in UTF-8; save it as UTF-8 ({error})") from error


def first_row(path: Path) -> tuple[str, list[str]]:
    """Return the delimiter that splits the first line best, and the fields of that line.

    Where numbers are said to have a decimal comma, commas split a line of names only, and only if no other sign does.
    """
    with _in_utf8(path), reading.opened(path) as file:
        line = next((line for line in file if line.strip()), "")
    if not line:
        raise FormatError(f"{path}: is empty")
    with reading.parsing(f"{path}: not a table that can be read"), long_fields():
        rows = {sign: next(csv.reader([line], delimiter=sign)) for sign in _DELIMITERS}
    signs = [sign for sign in _DELIMITERS if sign != DECIMAL_SIGN.get()]
    delimiter = max(signs, key=lambda sign: len(rows[sign]))
    if "," not in signs and len(rows[delimiter]) == 1 and not any(_is_number(field, ".") for field in rows[","]):
        delimiter = ","
    return delimiter, rows[delimiter]


def _without_nulls(file: Iterable[str], path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file, 1):
        if "\0" in line:
            raise FormatError(f"{path}: line {number} holds a null byte: not a file of text, or damaged")
        yield number, line


def _widths(file: Iterable[str], path: Path, delimiter: str) -> Iterator[tuple[int, int]]:
    """Yield the line at which each row starts, and how many fields it has: none if it is blank."""
    lines = _without_nulls(file, path)
    for number, line in lines:
        if '"' in line:  # the row may have delimiters in its fields, and go on in the next lines
            row = csv.reader(chain([line], (more for _, more in lines)), delimiter=delimiter)
            yield number, len(next(row))
        elif line.isspace() and delimiter not in line:
            yield number, 0
        else:
            yield number, line.count(delimiter) + 1


def _check_commas(path: Path, delimiter: str, header: Sequence[str], names: Sequence[str]) -> None:
    """Refuse columns whose commas could all separate thousands, if other numbers have none or several.

    Where each number has one comma and three digits after it, as decimals of one length have, it is believed.
    """
    commas: dict[int, str] = {}
    others: set[int] = set()
    decimals: set[int] = set()
    with reading.opened(path) as file:
        rows = csv.reader(file, delimiter=delimiter)
        for row in islice((row for row in rows if row), 1 if header else 0, None):
            for place, field in enumerate(row):
                if place in decimals:
                    continue
                text = field.strip()
                if "," in text:
                    if not thousands(text):
                        decimals.add(place)
                    commas.setdefault(place, text)
                    if text.count(",") > 1:
                        others.add(place)
                elif text.lstrip("+-").isdecimal():
                    others.add(place)
    for place in sorted((others & commas.keys()) - decimals):
        name = header[place].strip() if header else str(place + 1)
        if not names or name in names:
            raise FormatError(
                f"{path}: column {quoted(name)}: the commas, such as in {quoted(commas[place])}, may separate "
                "thousands or be decimal, since exactly three digits follow each and others have none or several; "
                "write the numbers with a decimal point and no other separator"
            )


def _has_header(first: Sequence[str], path: Path, warn: Warn, decimal: str) -> bool:
    """Distinguish names from data: numbers are data, unless they number the columns, as in frames without names."""
    if not all(_is_number(field, decimal) for field in first):
        return True
    if [field.strip() for field in first] == [str(position) for position in range(len(first))]:
        if len(first) > 1:
            warn(f"{path}: the first line, {listed(first)}, was read as the names of the columns")
            return True
        raise FormatError(f"{path}: {first[0].strip()} may be a name or a value; write a line with a name above")
    warn(f"{path}: has no line of names; columns are called by their position, from 1")
    return False


def _is_number(field: str, decimal: str) -> bool:
    """Whether a text is read as a number."""
    if decimal == ",":
        field = field.replace(",", ".", 1)
    try:
        return not math.isnan(float(field))  # a column may well be called "nan"
    except ValueError:
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


# Parquet ---------------------------------------------------------------------------------------------------------


def read_parquet(path: Path, names: tuple[str, ...]) -> "pd.DataFrame":
    """Read a Parquet file, or some columns of it; see :func:`demele.files.named.read_table`."""
    facts = facts_of(path, f"reading {path}")
    check_known(names, facts.names, path, "column")
    check_columns(facts, names or facts.names)
    # a name with a dot could be taken for a part of a record
    chosen = list(names) if names and not any("." in name for name in names) else None
    with parsing_parquet(path):
        return _picked(pd.read_parquet(path, engine="pyarrow", columns=chosen), names, path)


# JSON ------------------------------------------------------------------------------------------------------------


def json_of(path: Path) -> tuple[Any, int]:
    """Return what a file of JSON holds, and its size in bytes.

    Raises
    ------
    FormatError
        If it is no JSON, or names something twice.
    """
    content = reading.read_whole(path)
    reading.check_nesting(path, content)
    return _parsed(content, str(path), path), len(content)


def _parsed(content: bytes, what: str, path: Path) -> Any:
    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        check_repeated([name for name, _ in pairs], path)
        return dict(pairs)

    with reading.parsing(f"{what}: not JSON"):
        return reading.parsed_json(content, checked)


def read_json(path: Path, names: tuple[str, ...]) -> "Array | pd.DataFrame":
    """Read a table of JSON; see :func:`demele.files.named.read_table`."""
    data, size = json_of(path)
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        return _frame(path, data, size, names)
    if isinstance(data, dict) and data and all(isinstance(column, list) for column in data.values()):
        return _frame(path, data, size, names)
    if not isinstance(data, list) or not data:
        raise FormatError(f"{path}: expected a list of rows, or columns by name, got {type(data).__name__}")
    if names:
        raise UnknownNameError(f"{path}: its columns have no names; leave out '::{','.join(names)}'")
    with reading.parsing(f"{path}: rows of different lengths", details=False):
        array = np.asarray(data)
    if array.dtype.kind == "O" and (array.ndim > 2 or any(isinstance(value, list | dict) for value in array.flat)):
        raise FormatError(f"{path}: expected rows of numbers or words, got lists or objects within them")
    return array


def read_json_lines(path: Path, names: tuple[str, ...]) -> "pd.DataFrame":
    """Read a table of JSON Lines: an object per line; see :func:`demele.files.named.read_table`."""
    content = reading.read_whole(path)
    reading.check_nesting(path, content)
    rows = []
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            rows.append(_parsed(line, f"{path}: line {number}", path))
            if not isinstance(rows[-1], dict):
                raise FormatError(f"{path}: line {number}: expected an object, got {type(rows[-1]).__name__}")
    return _frame(path, rows, len(content), names)


def _frame(path: Path, data: Any, size: int, names: tuple[str, ...]) -> "pd.DataFrame":
    """Return a table of rows or of columns, which are objects, if it takes no more memory than it may."""
    columns = data if isinstance(data, dict) else {name: data for row in data for name in row}
    width, height = len(columns), max(map(len, columns.values()), default=0)
    reading.check_unpacked(path, width * (reading.BYTES_PER_COLUMN + 8 * height), stored=size)
    with reading.parsing(f"{path}: columns of different lengths"):
        return _picked(pd.DataFrame(data), names, path)


# Names -----------------------------------------------------------------------------------------------------------


def check_repeated(names: Sequence[str], path: Path) -> None:
    """Refuse two columns of one name: one of them would be renamed or lost.

    Raises
    ------
    FormatError
    """
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise FormatError(f"{path}: holds more than one column called {quoted(twice)}; rename them")


def _picked(frame: "pd.DataFrame", names: tuple[str, ...], path: Path) -> "pd.DataFrame":
    if not names:
        return frame
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    check_known(names, list(frame.columns), path, "column")
    return frame[list(names)]


def quoted_name(name: str) -> str:
    """Return a name of a column as it is picked after ``FILE::``.

    Examples
    --------
    >>> quoted_name("z1"), quoted_name("score,v2")
    ('z1', '"score,v2"')
    """
    odd = name != name.strip() or any(sign in name for sign in (",", '"', "::"))
    return '"' + name.replace('"', '""') + '"' if odd else name


def picking(path: object, *names: str) -> str:
    """Return what picks columns of a file, as it is written in a shell.

    Examples
    --------
    >>> print(picking("data.csv", "old"), picking("my data.csv", "old", "score,v2"))
    data.csv::old 'my data.csv::old,"score,v2"'
    """
    return shlex.quote(f"{path}::{','.join(map(quoted_name, names))}")


def check_known(names: Sequence[str], held: Sequence[str], path: Path, what: str) -> None:
    """Refuse names that a file does not hold.

    Raises
    ------
    UnknownNameError
    """
    known = set(held)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(shortened(name), [shortened(one) for one in held[:1000]], n=3, cutoff=0.6)
            near = [quoted_name(one) for one in held if one != name and one.strip() == name.strip()] or near
            whole = ",".join(names)
            if whole in known:
                near = [quoted_name(whole)]
            hint = f"did you mean {' or '.join(map(quoted, near))}?" if near else f"it holds {listed(held)}"
            raise UnknownNameError(f"{path}: holds no {what} called {quoted(name)}; {hint}")


def listed(names: Sequence[str], most: int = 12) -> str:
    """List names for a message."""
    shown = ", ".join(shortened(name.strip(), 60) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


# Formulas that spreadsheets would run ---------------------------------------------------------------------------------

_ESCAPED = re.compile(r"'+[=+\-@\t\r]")


def unescaped(value: Any) -> Any:
    """Return the text that :func:`escaped` was given.

    Examples
    --------
    >>> from demele.files.named import escaped
    >>> unescaped("'=1+1"), unescaped("'tis"), unescaped(escaped("'-a"))
    ('=1+1', "'tis", "'-a")
    """
    # An apostrophe before a number was not put there by escaped, which leaves numbers alone.
    return value[1:] if isinstance(value, str) and _ESCAPED.match(value) and not is_number_text(value[1:]) else value


def plain_frame(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table that was read from CSV with its texts and names as they were before :func:`csv_text`."""
    names = [unescaped(name) for name in frame.columns]
    found = frame if names == list(frame.columns) else frame.set_axis(names, axis=1)
    for place, kind in enumerate(found.dtypes):
        if kind.kind in "biufcmM":
            continue
        held = found.iloc[:, place].tolist()
        plain = [unescaped(value) for value in held]
        if any(one is not other for one, other in zip(plain, held, strict=True)):
            found = found.copy() if found is frame else found
            found.isetitem(place, pd.array(plain, dtype=kind))
    return found


def is_number_text(text: str) -> bool:
    """Whether a text reads as a number, which a spreadsheet takes for no formula."""
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text and "_" not in text
