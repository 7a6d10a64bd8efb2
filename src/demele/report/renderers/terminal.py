"""Documents as text of a terminal: the answer, the table and the next step."""

from collections.abc import Iterator

from demele.report.document import Document, Table
from demele.report.renderers.tables import shown_tables, with_subject
from demele.report.words import count, cut, is_minor, is_number, sentence_of, typed, uncited, width_of, written

#: A name is cut to no less than this, and a table shows so many rows.
_SHORTEST, _MOST_ROWS, _GAP = 16, 20, "  "
#: No line is wider, however wide the terminal is.
_WIDEST = 120


def text(document: Document, *, width: int = 80, explain: bool = False, more: str = "--explain") -> str:
    """Return a document as text.

    Parameters
    ----------
    document : Document
    width : int
        Columns of the terminal; at most 120 are used. Commands, which are copied, are not wrapped.
    explain : bool
        Whether sentences, assumptions, notes and the method follow.
    more : str
        Where these are otherwise, for the line that counts them.
    """
    width = min(width, _WIDEST)
    lines = [*_wrapped(document.headline, width), *_wrapped(", ".join(document.scope), width)]
    for table in shown_tables(document):
        lines += ["", *_table(table, width)]
    for step, command in document.next:
        lines += ["", *_wrapped(f"Next step: {step}", width), *[f"  {typed(command)}"] * bool(command)]
    if explain:
        lines += _explained(document, width)
    elif counted := _counted(document):
        lines += ["", *_wrapped(f"{counted}: {more}", width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _counted(document: Document) -> str:
    warned = sum(note.severity != "info" for note in document.notes)
    said = sum(map(bool, document.sentences))
    kinds = (
        (said, "sentence"),
        (len(document.assumptions), "assumption"),
        (warned, "warning"),
        (len(document.notes) - warned, "note"),
    )
    return ", ".join(count(number, noun) for number, noun in kinds if number)


def _explained(document: Document, width: int) -> Iterator[str]:
    parts = {
        "": document.sentences,
        "Assumptions": [sentence_of(one) for one in document.assumptions],
        "Notes": [f"{note.severity}: " * (note.severity != "info") + with_subject(note) for note in document.notes],
        "Method": [uncited(document.methods), *(f"{term}: {value}" for term, value in document.signatures)],
    }
    for title, items in parts.items():
        if any(items):
            yield from ["", *[title] * bool(title)]
            for item in items:
                yield from _wrapped(item, width, "  " if title else "")


def _wrapped(words: str, width: int, indent: str = "") -> Iterator[str]:
    """Yield the lines of a text; words that are wider than a line are broken."""
    line = ""
    for word in typed(words).split():
        while width_of(indent) + width_of(word) > width:
            room = width - width_of(indent) - width_of(line) - bool(line)
            size = next(size for size in range(len(word), -1, -1) if width_of(word[:size]) <= max(room, 0))
            if size or not line:
                line, word = f"{line} {word[: size or 1]}".strip(), word[size or 1 :]
            yield indent + line
            line = ""
        if line and width_of(f"{indent}{line} {word}") > width:
            yield indent + line
            line = ""
        line = f"{line} {word}".strip()
    if line:
        yield indent + line


def _table(table: Table, width: int) -> Iterator[str]:
    rows = table.rows[: max(_MOST_ROWS, table.first)]
    forms = list(table.columns.values())
    texts = [[typed(written(cell, form)) for cell, form in zip(row, forms, strict=True)] for row in rows]
    cells = [[typed(title) for title in table.columns], *texts]
    sizes = {place: max(width_of(row[place]) for row in cells) for place in range(len(forms))}
    while sum(sizes.values()) + len(_GAP) * (len(sizes) - 1) > width:
        minor = [place for place in sizes if is_minor(forms[place])]
        names = [place for place in sizes if not is_number(forms[place]) and sizes[place] > _SHORTEST]
        if minor:
            del sizes[minor[-1]]
        elif names:
            sizes[max(names, key=sizes.__getitem__)] -= 1
        elif len(sizes) > 1:
            sizes.popitem()
        else:
            sizes = dict.fromkeys(sizes, width)
    for row in cells:
        parts = []
        for place, size in sizes.items():
            text = cut(row[place], size)
            space = " " * (size - width_of(text))
            parts.append(space + text if is_number(forms[place]) else text + space)
        yield _GAP.join(parts)
    more = len(table.rows) - len(rows)
    hidden = [count(more, "row")] if more else []
    hidden += [title for place, title in enumerate(table.columns) if place not in sizes]
    if hidden:
        yield from _wrapped(f"Not shown: {', '.join(hidden)}.", width)
    if table.note:
        yield from _wrapped(table.note, width)
