"""Numbers that came as text: with a decimal comma, separators of thousands or a sign of percent; and names of rows.

Read as classes, they give a score that looks like one and means nothing, so they are refused where classes are
detected. Who says that a column holds classes, with ``kinds``, is believed.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, quoted

_SPACE = "[ \u00a0\u202f'’_]"
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_WHOLE = re.compile(r"[+\-−]?\d+")
_PLAIN = re.compile(rf"[+-]?(?:\d+\.\d*|\.\d+|\d+){_EXPONENT}")
_SEPARATED = re.compile(
    rf"[+\-−]?(?:\d*,\d+{_EXPONENT}|\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}})+,\d+|"
    rf"\d{{1,3}}(?:\.\d{{3}}){{2,}}|\d{{1,3}}(?:{_SPACE}\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?\s?%)"
)
_OR_COMMA = ", or read the file with `decimal=','`"
_DECIMAL_COMMA = re.compile(rf"[+\-−]?\d*,\d+{_EXPONENT}")
_THOUSANDS = re.compile(r"[+\-−]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
#: Classes of more different values than this, and fewer rows each than the second number, name their rows.
FEW_NAMES = 10
ROWS_PER_NAME = 2


def separated(text: str) -> bool:
    """Whether a text is a number with a decimal comma, separators of thousands or a percent sign.

    Examples
    --------
    >>> [separated(text) for text in ("0,5", "1.234,5", "1 234", "5 %", "0.5", "12", "1,2,3", "1.2.3")]
    [True, True, True, True, False, False, False, False]
    """
    return _SEPARATED.fullmatch(text.strip()) is not None


def thousands(text: str) -> bool:
    """Whether the commas of a text can separate thousands.

    Examples
    --------
    >>> [thousands(text) for text in ("1,234", "1,234,567.5", "0,123", "1234,567", "1,5")]
    [True, True, False, False, False]
    """
    return _THOUSANDS.fullmatch(text.strip()) is not None


def decimal_commas(texts: Iterable[str]) -> bool:
    """Whether the numbers of a column can be read with a decimal comma: none has another sign, and some no thousands.

    Examples
    --------
    >>> decimal_commas(["500", "1,5"]), decimal_commas(["500", "1,234"]), decimal_commas(["1,5", "2 %"])
    (True, False, False)
    """
    found = False
    for text in map(str.strip, texts):
        if _DECIMAL_COMMA.fullmatch(text):
            found = found or not thousands(text)
        elif separated(text) or ("." in text and _PLAIN.fullmatch(text)):
            return False
    return found


def number_hint(value: object, column: Iterable[object]) -> str:
    """Return what to do with a value that is a number written in another way; nothing if it is none.

    Examples
    --------
    >>> number_hint("0,5", ["0,5", "1"])
    "; write numbers with a decimal point and no other separator, or read the file with `decimal=','`"
    >>> number_hint("1,234", ["1,234", "500"])
    '; write numbers with a decimal point and no other separator'
    >>> number_hint("cat", ["cat"])
    ''
    """
    if not isinstance(value, str) or not (separated(value) or _PLAIN.fullmatch(value.strip())):
        return ""
    texts = [text for text in column if isinstance(text, str)]
    if not any(map(separated, texts)):
        return ""
    comma = decimal_commas(texts)
    return "; write numbers with a decimal point and no other separator" + _OR_COMMA * comma


def refuse_written_numbers(levels: Sequence[str], values: NDArray[np.integer] | None, name: str) -> None:
    """Refuse classes if half or more are numbers, but not all are plain whole ones.

    Parameters
    ----------
    levels : sequence of str
        The different texts of the column.
    values : array of int or None
        For each row the position of its text, to name the first row; None if rows are not at hand.
    name : str
        The column.
    """
    texts = [level.strip() for level in levels]
    other = [index for index, text in enumerate(texts) if _SEPARATED.fullmatch(text)]
    plain = [index for index, text in enumerate(texts) if _PLAIN.fullmatch(text)]
    odd = other or [index for index in plain if not _WHOLE.fullmatch(texts[index])]
    if not odd or 2 * (len(other) + len(plain)) < len(texts):
        return
    first, where = odd[0], ""
    rows = np.flatnonzero(np.isin([] if values is None else values, odd))
    if values is not None and rows.size:
        first, where = int(values[rows[0]]), f" at row {rows[0]}"
    what, remedy = "numbers as text", "convert them with astype(float), and mark other words missing"
    if other:
        what = "numbers with a decimal comma, separators of thousands or a percent sign"
        remedy = "write them with a decimal point and no other separator" + _OR_COMMA * decimal_commas(texts)
    raise InputError(
        "factors",
        f"column {quoted(name)} holds {what}, first {quoted(levels[first])}{where}, which would be read "
        f"as classes; {remedy}; if they are classes, pass `kinds={{{quoted(name)}: 'categorical'}}`",
    )


def refuse_names_of_rows(n_levels: int, n_annotated: int, name: str, example: object = None) -> None:
    """Refuse detected classes that hardly repeat: names of files or rows, which no code could hold.

    Text and columns of a categorical type are held to it; whole numbers that hardly repeat are a quantity.

    Up to 10 different values are classes whatever the number of rows, more only with 2 rows each on average.
    """
    if n_levels <= FEW_NAMES or n_annotated >= ROWS_PER_NAME * n_levels:
        return
    shown = "" if example is None else f", such as {quoted(example)}"
    raise InputError(
        "factors",
        f"column {quoted(name)} holds {n_levels} different values in {n_annotated} rows{shown}: almost "
        "every value is different, like an identifier; leave the column out, or if its values are classes, "
        f"pass `kinds={{{quoted(name)}: 'categorical'}}`",
    )
