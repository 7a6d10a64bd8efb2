"""Every figure as a table of the same values, and the figures and tables that a document holds."""

from collections.abc import Iterator, Sequence

import numpy as np

from demele.core.arrays import Floats
from demele.report.document import (
    Block,
    Cell,
    Choice,
    Document,
    Figure,
    Graph,
    Heat,
    Lines,
    Mark,
    Matrix,
    Notice,
    Strips,
    Table,
)
from demele.report.words import is_missing, joined, plain, range_of, sentence_of, written

#: What the marks of a strip are called in its table.
_KINDS = {"bar": "Value", "span": "Interval", "dot": "Value", "tick": "Mark"}


def table_of(figure: Figure) -> Table:
    """Return a figure as a table."""
    if isinstance(figure, Strips):
        return _of_strips(figure)
    if isinstance(figure, Lines):
        return _of_lines(figure)
    if isinstance(figure, Heat):
        values = [(row, *cells) for row, cells in zip(figure.rows, figure.values, strict=True)]
        return Table(figure.caption, _heads(figure.axes[0], figure.columns, figure.form), values)
    if isinstance(figure, Matrix):
        places = range(len(figure.columns))
        cells = [(row, *(figure.cells.get((i, j)) for j in places)) for i, row in enumerate(figure.rows)]
        return Table(figure.caption, _heads("", figure.columns, "text"), cells)
    if isinstance(figure, Graph):
        links = [(one, other, "removed" if weight is None else weight) for one, other, weight in figure.links]
        return Table(figure.caption, {"From": "text", "To": "text", "Weight": "number"}, links)
    alts = [(row, ", ".join(alt for alt, _ in images)) for row, images in figure.rows]
    return Table(figure.caption, {"Row": "text", "Images": "text"}, alts)


def shown_tables(document: Document) -> list[Table]:
    """Return the tables that terminals and papers show, and cards the first of them; without any, the first figure."""
    figures = [] if document.table is not None else figures_of(document)[:1]
    tables = [document.table, *map(table_of, figures), *document.below]
    return [table for table in tables if table is not None and table.rows]


def with_subject(note: Notice) -> str:
    """Return a note after the names that it is about, at most six, as far as its text does not have them."""
    about = joined(unnamed(note), most=6)
    return f"{about}{': ' if about else ''}{sentence_of(note.text)}"


def unnamed(note: Notice) -> list[str]:
    """Return the names that a note is about and that its text does not have."""
    return [name for name in note.about if plain(name) not in plain(note.text)]


def ends_of(one: Strips) -> tuple[float, float]:
    """Return the ends of the axis of strips: those that are given, or room for all marks and the zero."""
    marks = [mark for strip in one.rows for mark in strip.marks]
    zeros = [0.0] * any(mark.kind == "bar" for mark in marks)
    return one.ends or range_of([*zeros, one.zero, *(end for mark in marks for end in (mark.at, mark.to))])


def depths_of(one: Heat) -> Floats:
    """Return how deep the colour of each cell is, from -100 to 100; NaN where there is no number."""
    values = np.array(one.values, dtype=np.float64).reshape(len(one.rows), len(one.columns))
    known, axis = np.where(np.isfinite(values), values, 0.0), {"row": 1, "column": 0}.get(one.scale)
    least = known.min(axis=axis, keepdims=True, initial=0.0) * (one.scale != "both ways")
    width = np.abs(known).max(axis=axis, keepdims=True, initial=0.0) - least
    depths: Floats = np.clip(100 * (values - least) / np.where(width == 0, 1.0, width), -100, 100)
    return depths


def figures_of(document: Document) -> list[Figure]:
    """Return all figures of a document, in the order of its page, each caption once."""
    found: dict[str, Figure] = {}
    for block in blocks_of(document):
        if isinstance(block, Figure):
            found.setdefault(block.caption, block)
    return list(found.values())


def blocks_of(document: Document) -> Iterator[Block]:
    """Yield every block of a document, also those within others."""
    yield from _inside([] if document.figure is None else [document.figure])
    for section in document.sections:
        yield from _inside(section.shown)


def _inside(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        held = block.of if isinstance(block, Choice) else block.evidence if isinstance(block, Matrix) else {}
        for blocks in held.values():
            yield from _inside(blocks)


def _heads(first: str, columns: Sequence[str], form: str) -> dict[str, str]:
    heads = {first: "text"}
    for column in columns:
        heads = _with(heads, column, form)
    return heads


def _with(heads: dict[str, str], title: str, form: str) -> dict[str, str]:
    """Return columns with one more; a title that is taken gets a number."""
    return {**heads, title if title not in heads else f"{title} ({len(heads)})": form}


def _of_strips(figure: Strips) -> Table:
    """Return one column for each kind of mark and series, in the order in which they come."""
    places: dict[str, None] = {}
    rows: list[dict[str, Cell]] = []
    for strip in figure.rows:
        cells: dict[str, Cell] = {}
        for mark in strip.marks:
            title = _title(figure, mark)
            while title in cells:
                title += "′"
            cells[title] = (mark.at, mark.to) if mark.kind == "span" else mark.at
        places |= dict.fromkeys(cells)
        rows.append(cells)
    said = [[written(mark.at, figure.form) for mark in strip.marks] for strip in figure.rows]
    more = any(strip.text and strip.text not in own for strip, own in zip(figure.rows, said, strict=True))
    texts = {"Text": "text"} if more else {}
    states = {"State": "text"} if any(strip.pill for strip in figure.rows) else {}
    columns = {"Name": "text", **dict.fromkeys(places, figure.form), **texts, **states}
    return Table(
        figure.caption,
        columns,
        [
            (strip.name, *map(cells.get, places), *([strip.text] if texts else []), *([strip.pill] if states else []))
            for strip, cells in zip(figure.rows, rows, strict=True)
        ],
    )


def _title(figure: Strips, mark: Mark) -> str:
    series = figure.series.get(mark.series, "")
    return f"{series}, interval" if series and mark.kind == "span" else series or _KINDS[mark.kind]


def _of_lines(figure: Lines) -> Table:
    """Return one row for each x and one column for each line, with a second one for its band."""
    heads = {figure.x[0] or "x": figure.x[1]}
    cells: list[dict[float, Cell]] = []
    for line in figure.lines:
        heads = _with(heads, line.name or "Value", figure.y[1])
        cells.append(dict(zip(line.x, line.y, strict=True)))
        if line.low is not None and line.high is not None:
            heads = _with(heads, f"{line.name or 'Value'}, interval", figure.y[1])
            cells.append(dict(zip(line.x, zip(line.low, line.high, strict=True), strict=True)))
    places = sorted({x for line in figure.lines for x in line.x if not is_missing(x)})
    return Table(figure.caption, heads, [(x, *(column.get(x) for column in cells)) for x in places])
