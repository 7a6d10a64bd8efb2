"""Tables and strips of things: a column is described once, and a figure draws columns of a table."""

import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from demele.core.arrays import Bytes, pd
from demele.report.document import INK, Cell, Mark, Pill, Strip, Strips, Table
from demele.report.words import is_missing, is_number, name, title_of, written

Thing = TypeVar("Thing")
#: Its title, its format, and its cell: a key of a mapping, the path of an attribute such as ``"chance.mean"``, or a
#: function of the thing.
Column = tuple[str, str, str | Callable[[Thing], Any]]
#: Formats of columns that a figure shows by default, and rows of a figure.
_DRAWN, _MOST_ROWS = ("number", "percent", "points"), 40


def listed(
    caption: str, things: Iterable[Thing], columns: Sequence[Column[Thing]], note: str = "", first: int = 20
) -> Table:
    """Return a table with a row for each thing; a column in which no row has anything is left out.

    A path is missing where a part of it is None, and its texts are isolated as names that users chose; the texts of a
    function stand as they are. What has two ends is an interval.

    Examples
    --------
    >>> rows = [{"city": "Oslo", "size": 3, "area": None}]
    >>> table = listed("Cities", rows, [("Size", "count", "size"), ("Area", "number", "area")])
    >>> table.columns, table.rows
    ({'Size': 'count'}, [(3,)])
    """
    rows = [[_held(thing, cell) for _, _, cell in columns] for thing in things]
    return without_empty(Table(caption, {title: form for title, form, _ in columns}, rows, note, first))


def without_empty(table: Table) -> Table:
    """Return a table without the columns in which no row has anything."""
    known = [not all(map(_is_unknown, cells)) for cells in zip(*table.rows, strict=True)]
    known = known or [True] * len(table.columns)
    columns = dict(compress(table.columns.items(), known))
    return replace(table, columns=columns, rows=[tuple(compress(row, known)) for row in table.rows])


def _held(thing: Any, cell: Any) -> Cell:
    if callable(cell):
        return cell_of(cell(thing))
    for part in [cell] if isinstance(thing, Mapping) else cell.split("."):
        thing = None if thing is None else thing[part] if isinstance(thing, Mapping) else getattr(thing, part)
    return cell_of(name(thing) if isinstance(thing, str) and thing else thing)


def cell_of(value: Any) -> Cell:
    """Return a value as a cell: two ends as an interval, truth as a word, numbers of NumPy as those of Python."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, np.generic):
        return cell_of(value.item())
    if hasattr(value, "low") and hasattr(value, "high"):
        return float(value.low), float(value.high)
    if value is None or isinstance(value, str | int | float | Pill | tuple):
        return value
    return name(value)


def _is_unknown(cell: Cell) -> bool:
    """Whether nothing stands in a cell."""
    return all(map(is_missing, cell)) if isinstance(cell, tuple) else cell == "" or is_missing(cell)


def drawn(
    table: Table,
    value: str,
    *,
    interval: str = "",
    tick: str = "",
    label: str = "",
    caption: str = "",
    axis: str = "",
    ends: tuple[float, float] | None = None,
    sides: tuple[str, str] | None = None,
    zero: float | None = None,
    most: int = _MOST_ROWS,
    bar: bool = False,
) -> Strips:
    """Draw a column of a table: a dot for each row, its interval, a tick for another column, and its state.

    Parameters
    ----------
    table : Table
    value, interval, tick, label : str
        Titles of columns; a column that the table lacks is not drawn, and without the value nothing is. By default the
        interval is that of the value or the first one of a row, and the label is the first column.
    caption, axis, sides, zero
        As of :class:`demele.report.document.Strips`; the caption is that of the table by default.
    ends : tuple of float, optional
        The axis reaches at least from the first to the second.
    most : int
        So many rows are drawn, the first ones.
    bar : bool
        Whether bars from 0 are drawn, not dots.
    """
    titles = list(table.columns)
    form = table.columns.get(value, "number").rstrip("?")
    interval = interval or (own if (own := f"{value} interval") in table.columns else "")
    strips = []
    for row in table.rows[:most] if value in titles else ():
        cells: Mapping[str, Cell] = dict(zip(titles, row, strict=True))
        found = cells.get(interval) if interval else next((cell for cell in row if isinstance(cell, tuple)), None)
        span = [Mark("span", *found)] if isinstance(found, tuple) else []
        at, level = cells[value], cells.get(tick)
        dots = [Mark("bar" if bar else "dot", at)] if isinstance(at, int | float) else []
        ticks = [Mark("tick", level, None, INK)] if isinstance(level, int | float) else []
        state = next((cell for cell in row if isinstance(cell, Pill)), None)
        text = written(at if dots else found, form)
        strips.append(Strip(written(cells[label or titles[0]], "text"), [*span, *dots, *ticks], text, state))
    if ends is not None:
        places = [end for strip in strips for mark in strip.marks for end in (mark.at, mark.to) if not is_missing(end)]
        ends = min([ends[0], *filter(None, places)]), max([ends[1], *filter(None, places)])
    series = {INK: tick} if tick and tick in titles else {}
    return Strips(caption or table.caption, strips, form, axis, series, ends, sides, zero)


# Data frames ----------------------------------------------------------------------------------------------------------


def table_of_frame(
    caption: str, frame: "pd.DataFrame", forms: Mapping[str, str] | None = None, figure: str = ""
) -> tuple[Table, Strips | None]:
    """Return a data frame as a table, and one column of numbers as a figure; ``low`` and ``high`` are one interval.

    ``forms`` are formats by the names of columns, and ``figure`` is the column that is drawn; by default the first one
    of fractions. More than 40 rows are not drawn.
    """
    frame, forms = frame.reset_index() if frame.index.name else frame, forms or {}
    columns: dict[str, Column[Any]] = {}
    before = "number"
    for key in map(str, frame.columns):
        start = key.removesuffix("low")
        if key.endswith("high") and f"{key[:-4]}low" in frame:
            continue
        if start != key and f"{start}high" in frame:
            columns[key] = (title_of(f"{start}interval"), forms.get(key, before), itemgetter(key, f"{start}high"))
            continue
        form = forms.get(key, _form(frame[key]))
        columns[key] = (title_of(key), form, key)
        before = form if is_number(form) else before
    table = listed(caption, frame.to_dict("records"), list(columns.values()))
    fractions = [title for title, form in table.columns.items() if form in _DRAWN]
    asked = columns[figure][0] if figure in columns else ""
    shown = asked if asked in table.columns else next(iter(fractions), "")
    if not shown or len(table.rows) > _MOST_ROWS:
        return table, None
    return table, drawn(table, shown, caption=shown, axis=shown)


def _form(column: "pd.Series[Any]") -> str:
    if column.dtype.kind in "iu":
        return "count"
    if column.dtype.kind == "f":
        return "p" if "p_value" in str(column.name) else "number"
    return "text"


# Images as PNG files in memory, without any other library -------------------------------------------------------------

Pixels = Bytes
#: Pixels between images, and their grey.
_GAP, _GREY = 2, 160
#: How images are made smaller until they fit: bits that are dropped, and pixels of which one is kept.
_WAYS = ((0, 1), (3, 1), (4, 1), (4, 2), (5, 4), (5, 8))


def png(pixels: Pixels) -> bytes:
    r"""Return an image as a PNG file.

    Parameters
    ----------
    pixels : array of uint8 of shape (height, width), or (height, width, channels) with 1 or 3 channels

    Examples
    --------
    >>> png(np.zeros((2, 3), dtype=np.uint8))[:4]
    b'\x89PNG'
    """
    tall, wide = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels, dtype=np.uint8).reshape(tall, -1)
    colours = 2 if rows.shape[1] == 3 * wide else 0
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", wide, tall, 8, colours, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def strip(rows: Iterable[Pixels]) -> Pixels:
    """Put images side by side, and rows of them below each other, with gaps; channels after the third are dropped.

    Parameters
    ----------
    rows : iterable of array of uint8 of shape (n, height, width, channels)

    Examples
    --------
    >>> strip([np.zeros((3, 4, 4, 1), dtype=np.uint8)] * 2).shape
    (10, 16, 1)
    """
    lines = []
    for images in rows:
        shown = images if images.shape[3] == 1 else images[..., :3]
        padded = np.pad(shown, ((0, 0), (0, _GAP), (0, _GAP), (0, 0)), constant_values=_GREY)
        lines.append(np.concatenate(list(padded), axis=1)[:, :-_GAP])
    wide = max(line.shape[1] for line in lines)
    whole = [np.pad(one, ((0, 0), (0, wide - one.shape[1]), (0, 0)), constant_values=_GREY) for one in lines]
    return np.concatenate(whole)[:-_GAP]


def within(most: int, pictures: Mapping[str, Pixels]) -> tuple[dict[str, bytes], str]:
    """Return images as PNG files of at most so many bytes together, and a sentence on what they lost for it."""
    found: dict[str, bytes] = {}
    for bits, kept in _WAYS:
        found = {key: png((one[::kept, ::kept] >> bits << bits).astype(np.uint8)) for key, one in pictures.items()}
        if sum(map(len, found.values())) <= most:
            break
    size = f" and every {kept}th pixel" if kept > 1 else ""
    return found, f"Images have {2 ** (8 - bits)} levels of each colour{size}, to limit the size." if bits else ""
