"""A table for a paper in GitHub-flavoured Markdown, with footnotes."""

import re
from collections.abc import Sequence

from demele.report.paper_table import PaperTable

__all__ = ["escaped", "markdown_text"]

#: Signs that Markdown, or GitHub's mathematics, reads as more than themselves.
_SIGNS = re.compile(r"([\\`*_\[\]|~$])")


def escaped(text: str) -> str:
    r"""Return text as Markdown shows it.

    Examples
    --------
    >>> print(escaped("a_b | *c* <d> & e"))
    a\_b \| \*c\* &lt;d&gt; &amp; e
    """
    shown = "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        shown = shown.replace(sign, entity)
    return _SIGNS.sub(r"\\\1", shown)


def markdown_text(table: PaperTable) -> str:
    """Write a caption, a table, its footnotes, and comments that pages do not show."""
    rows = [[escaped(head) for head in table.heads]]
    for heading, group in table.groups:
        if table.shows_groups:
            rows.append([f"*{escaped(heading)}*", *[""] * (len(table.heads) - 1)])
        for row in group:
            marks = "".join(f"[^{table.slug}-{mark}]" for mark in row.marks)
            rows.append([escaped(row.head) + marks, *map(_cell, row.cells)])
    right = [False, *(table.is_numeric(place) for place in range(len(table.heads) - 1))]
    widths = [max(3, *(len(row[place]) for row in rows)) for place in range(len(right))]
    rule = ["-" * (width - 1) + (":" if at_right else "-") for width, at_right in zip(widths, right, strict=True)]
    lines = [_line(row, widths, right) for row in (rows[0], rule, *rows[1:])]
    notes = [f"[^{table.slug}-{mark}]: {escaped(told)}" for mark, told in table.notes if mark]
    plain = [escaped(told) for mark, told in table.notes if not mark]
    comments = "\n".join(line.replace("-->", "--&gt;") for line in table.comments)
    parts = [f"<!--\n{comments}\n-->", f"**Table.** {escaped(table.caption)}", "\n".join(lines)]
    return "\n\n".join([*parts, *plain, *(["\n".join(notes)] if notes else [])]) + "\n"


def _cell(cell: str) -> str:
    """Return a cell; brackets after a number lead nowhere."""
    return cell if re.fullmatch(r"[−+\d.,e]+( \[[−+\d.,e ]+\])?", cell) else escaped(cell)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    shown = zip(cells, widths, right, strict=True)
    return f"| {' | '.join(cell.rjust(width) if at_right else cell.ljust(width) for cell, width, at_right in shown)} |"
