"""What pages of measured results share: rows of CSV files, tables in Markdown, and words with figures in them.

The words of a page are in ``tools/words/PAGE.md``, in parts that begin with a line ``<!-- PART -->``. A part, and a
column of a table, is a format of figures: ``{rows:,}`` is the cell of a column with its thousands apart.
"""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

WORDS = Path(__file__).parent / "words"
Row = Mapping[str, str]
Rows = list[dict[str, str]]
#: A head and the format of its cells, or the name of a column that is shown unchanged.
Column = str | tuple[str, str]


class _Cell(str):
    """A cell of a CSV. A format makes it a number, in percent with ``%`` or ``p`` (no sign) at its end; NaN is none."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if not spec or not self:
            return str(self)
        if self == "nan":
            return "none"
        if spec[-1] in "%p":
            return f"{100 * float(self):{spec[:-1]}}" + ("%" if spec[-1] == "%" else "")
        return format(int(self) if self.lstrip("-").isdigit() else float(self), spec)


def read(file: Path) -> list[dict[str, str]]:
    """Return the rows of a file; none where it does not exist."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def cells(row: Row) -> dict[str, str]:
    """Return a row whose cells can be formatted as numbers."""
    return {name: _Cell(text) for name, text in row.items()}


def unique(rows: Sequence[Row], name: str) -> list[str]:
    """Return the cells of a column, each once, in their order."""
    return list(dict.fromkeys(row[name] for row in rows))


def numbers(rows: Iterable[Row], name: str, **where: str) -> list[float]:
    """Return the numbers of a column, of the rows that have one and whose other cells are these."""
    return [float(row[name]) for row in rows if row[name] and all(row[key] == value for key, value in where.items())]


def table(header: Iterable[str], rows: Iterable[Iterable[str]], *, plain: bool = True) -> str:
    """Return a table in Markdown; ``plain`` cells are texts, in which it must read nothing else."""
    header = list(header)
    lines = [header, ["---"] * len(header), *([escaped(cell) if plain else cell for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def filled(columns: Iterable[Column], rows: Iterable[Row], *, plain: bool = True) -> str:
    """Return a table with a line for each row."""
    pairs = [(one, f"{{{one}}}") if isinstance(one, str) else one for one in columns]
    lines = ([text.format_map(cells(row)) for _, text in pairs] for row in rows)
    return table((head for head, _ in pairs), lines, plain=plain)


def escaped(text: str) -> str:
    """Return a text in which Markdown reads no bars, stars or underlines."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


@cache
def words(page: str) -> dict[str, str]:
    """Return the parts of the words of a page, by name."""
    _, *parts = re.split(r"^<!-- (\S+) -->\n", (WORDS / f"{page}.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip("\n") + "\n" for name, text in zip(parts[::2], parts[1::2], strict=True)}


def said(page: str, part: str, figures: Mapping[str, object] | None = None, /, **more: object) -> str:
    """Return a part of the words of a page with figures in it; it ends with the end of a line."""
    return words(page)[part].format_map({**(figures or {}), **more}).rstrip("\n") + "\n"


def pivot(lines: Sequence[str], column: str, cell: Callable[[Rows], str], head: str = "{}") -> Callable[[Rows], str]:
    """Return what makes a table: a line for each value of some columns, a column for each value of another."""

    def made(rows: Rows) -> str:
        groups: dict[tuple[str, ...], dict[str, Rows]] = {}
        for row in rows:
            groups.setdefault(tuple(row[name] for name in lines), {}).setdefault(row[column], []).append(row)
        values = unique(rows, column)
        if all(one.replace(".", "").isdigit() for one in values):
            values.sort(key=float)
        body = [[*key, *(cell(own[one]) if one in own else "" for one in values)] for key, own in groups.items()]
        return table([*(name.replace("_", " ") for name in lines), *(head.format(_Cell(one)) for one in values)], body)

    return made


def means(*names: str, form: str = ".2f") -> Callable[[Rows], str]:
    """Return what shows the means of some columns."""
    return lambda rows: " / ".join(f"{fmean(own):{form}}" if (own := numbers(rows, name)) else "–" for name in names)


@dataclass(frozen=True)
class Measured:
    """A table of a file, and the words around it: "PAGE/PART" of ``words``, if there are any.

    All columns are shown unless some are given, or what makes the table of the rows. ``figures`` are what the words
    need beside the table and the cells of the first row.
    """

    file: str
    columns: Sequence[Column] | Callable[[Rows], str] = ()
    words: str = ""
    chosen: Callable[[Rows], Rows] = list
    figures: Callable[[Rows], Mapping[str, object]] = lambda rows: {}
    plain: bool = True

    def __call__(self, folder: Path) -> str:
        """Return it for the file in a folder; nothing without rows."""
        rows = self.chosen(read(folder / self.file))
        if not rows:
            return ""
        own = self.columns
        shown = own(rows) if callable(own) else filled(own or rows[0], rows, plain=self.plain)
        page, _, part = self.words.partition("/")
        return said(page, part, cells(rows[0]), table=shown, **self.figures(rows)) if page else shown


def together(*parts: Callable[[Path], str]) -> Callable[[Path], str]:
    """Return what makes all parts, one below the other, of those for which there are files."""
    return lambda folder: "\n".join(filter(None, (part(folder) for part in parts)))


@dataclass(frozen=True)
class Page:
    """A page of results: the words "head" of its file of words, and parts below."""

    path: str
    title: str
    words: str
    parts: Sequence[Measured]

    def __call__(self, folder: Path) -> str:
        """Return it for the files in a folder; nothing without one."""
        found = together(*self.parts)(folder)
        return f"{said(self.words, 'head', title=self.title)}\n{found}" if found else ""
