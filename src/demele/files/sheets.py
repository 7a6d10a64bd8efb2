r"""Tables as text that people open in spreadsheets, which take a cell that begins with = + - @ for a formula.

One rule, for every CSV and TSV that demele writes, and for the names of columns too: a text that is no number and
begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe in front; so does one that has
apostrophes before such a sign, so that every text comes back as it was. Numbers stay numbers: ``-0.5`` is ``-0.5``,
whether it came as a number or as the name of a class. What demele reads has that apostrophe taken off again.
"""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")


def escaped(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; what is no text is returned as it is.

    Examples
    --------
    >>> escaped("=1+1"), escaped("-0.5"), escaped(-0.5), escaped("-cat"), escaped("cat")
    ("'=1+1", '-0.5', -0.5, "'-cat", 'cat')
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value) else value


def unescaped(value: Any) -> Any:
    """Return the text that :func:`escaped` was given.

    Examples
    --------
    >>> unescaped("'=1+1"), unescaped("'tis"), unescaped(escaped("'-a"))
    ('=1+1', "'tis", "'-a")
    """
    # An apostrophe before a number was not put there by escaped, which leaves numbers alone.
    return value[1:] if isinstance(value, str) and _ESCAPED.match(value) and not _is_number(value[1:]) else value


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


def plain_frame(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table that was read from CSV with its texts and names as they were before :func:`csv_text`."""
    import pandas as pd

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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text and "_" not in text
