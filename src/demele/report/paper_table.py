"""A table for a paper before it is written: plain text in rows, footnotes once each."""

import re
import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from demele.report.words import of_sentence

__all__ = ["Footnotes", "PaperRow", "PaperTable"]

_NUMBER = re.compile(r"([−+]?)(\d[\d,]*)((?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row: its head, its cells, and the marks of its footnotes."""

    head: str
    cells: tuple[str, ...]
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """What is written as a table.

    ``groups`` hold rows under a heading, which is not shown if there is one only; ``notes`` pairs of a mark (or none)
    and a sentence; ``comments`` lines that readers of the source see.
    """

    name: str
    caption: str
    heads: tuple[str, ...]
    groups: tuple[tuple[str, tuple[PaperRow, ...]], ...]
    notes: tuple[tuple[str, str], ...] = ()
    comments: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The name as letters and figures, for labels."""
        letters = unicodedata.normalize("NFKD", self.name).encode("ascii", "ignore").decode().lower()
        return re.sub(r"[^a-z0-9]+", "-", letters).strip("-") or "table"

    @property
    def shows_groups(self) -> bool:
        """Whether rows stand under headings."""
        return len(self.groups) > 1

    def column(self, place: int) -> list[str]:
        """Return the cells of a column, in the order of the rows."""
        return [row.cells[place] for _, rows in self.groups for row in rows]

    def is_numeric(self, place: int) -> bool:
        """Whether a column holds single numbers, which stand at its right."""
        return all(_NUMBER.fullmatch(cell) or cell in ("", "–") for cell in self.column(place))


@dataclass(slots=True)
class Footnotes:
    """Footnotes in the order in which they are met, each text once."""

    _marks: dict[str, str] = field(default_factory=dict)

    def add(self, message: str, *, about: str = "", marked: bool = True) -> str:
        """Return the mark of a message: a, b, ..., z, aa, ...; none for one that is of the whole table.

        ``about`` names what it is of, as it is written.
        """
        sentence = of_sentence(" ".join(message.split()))
        told = f"{about}: {sentence}" if about else sentence
        if told not in self._marks:
            place = sum(mark != "" for mark in self._marks.values())
            self._marks[told] = _letters(place) if marked else ""
        return self._marks[told]

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """Marks and sentences; those without a mark last."""
        pairs = [(mark, told) for told, mark in self._marks.items()]
        return tuple(sorted(pairs, key=lambda pair: pair[0] == ""))


def _letters(place: int) -> str:
    letters = string.ascii_lowercase
    return letters[place] if place < 26 else _letters(place // 26 - 1) + letters[place % 26]


def padded(cells: Iterable[str], sign: str, digit: str) -> list[str]:
    """Return cells whose numbers stand below each other, with what takes the room of a sign or a digit.

    Examples
    --------
    >>> padded(["1.5 [−2.0, 10.0]", "12.5 [10.0, 20.0]", "–"], sign="s", digit="d")
    ['d1.5 [d−2.0, 10.0]', '12.5 [s10.0, 20.0]', '–']
    """
    cells = list(cells)
    found = [list(_NUMBER.finditer(cell)) for cell in cells]
    most = max((len(numbers) for numbers in found), default=0)
    signs = [any(len(numbers) > k and numbers[k][1] for numbers in found) for k in range(most)]
    widths = [max(len(numbers[k][2]) for numbers in found if len(numbers) > k) for k in range(most)]
    made = []
    for cell, numbers in zip(cells, found, strict=True):
        for k, one in reversed(list(enumerate(numbers))):
            room = digit * (widths[k] - len(one[2])) + (one[1] or sign * signs[k])
            cell = cell[: one.start()] + room + one[2] + one[3] + cell[one.end() :]
        made.append(cell)
    return made
