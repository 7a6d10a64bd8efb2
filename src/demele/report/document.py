"""The model of a result's document: a headline, figures, tables and notes, as data that every renderer reads.

A text may hold names that users chose, between the signs that :func:`demele.report.words.name` puts around them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

#: Blue, amber, red and grey; red only for what is worse or fails.
Tone = Literal["", "good", "open", "bad", "none"]
#: Two ends of an interval, either of which may be missing.
Span = tuple[float | None, float | None]
#: The series that has the colour of text; the others are 0 to 7.
INK = 8


@dataclass(frozen=True, slots=True)
class Pill:
    """A state in one to three words; tables sort it by ``order``."""

    text: str
    tone: Tone = ""
    order: float = 0


#: What stands in a table: a tuple is an interval, None and NaN are missing.
Cell = str | float | int | Pill | Span | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, which map titles to formats such as ``"percent.1"``; a format that ends in ``?`` is minor."""

    caption: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    first: int = 20


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on a strip: a bar from ``to`` (the zero of the axis if None) to ``at``, a span, a dot or a tick."""

    kind: Literal["bar", "span", "dot", "tick"]
    at: float | None
    to: float | None = None
    series: int = 0


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of marks, with what is written at its ends."""

    name: str
    marks: Sequence[Mark]
    text: str = ""
    pill: Pill | None = None


@dataclass(frozen=True, slots=True)
class Strips:
    """Rows of marks over one axis; ``sides`` says what lies left and right of ``zero``."""

    caption: str
    rows: Sequence[Strip]
    form: str = "number"
    axis: str = ""
    series: Mapping[int, str] = field(default_factory=dict)
    ends: tuple[float, float] | None = None
    sides: tuple[str, str] | None = None
    zero: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line, with a band between ``low`` and ``high`` if they are given; or ``dots`` that nothing joins."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over two axes, each a title and a format; ``at`` marks places of the x-axis by a text."""

    caption: str
    lines: Sequence[Line]
    x: tuple[str, str]
    y: tuple[str, str]
    at: Sequence[tuple[float, str]] = ()
    zero: float | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the data by the names of their columns; a heat map shows two columns against each other."""

    columns: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Heat:
    """A matrix of numbers in colour; cells may have a ring, or be struck: no more than the chance level."""

    caption: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    form: str = "number"
    axes: tuple[str, str] = ("row", "column")
    scale: Literal["all", "row", "column", "both ways"] = "all"
    rings: frozenset[tuple[int, int]] = frozenset()
    struck: frozenset[tuple[int, int]] = frozenset()
    scatter: Rows | None = None


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of states, with what each is based on; ``signs`` explains their texts."""

    caption: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[int, int], Pill]
    signs: Mapping[str, str]
    evidence: "Mapping[tuple[int, int], Sequence[Block]]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Images:
    """Rows of images, each an alternative text and a PNG, every pixel ``scale`` pixels wide."""

    caption: str
    rows: Sequence[tuple[str, Sequence[tuple[str, bytes]]]]
    scale: int = 1


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by name (x, y, what it is) and weighted links between them; a weight of None: removed."""

    caption: str
    nodes: Mapping[str, tuple[float, float, str]]
    links: Sequence[tuple[str, str, float | None]]


@dataclass(frozen=True, slots=True)
class Choice:
    """Panels of blocks by name, shown one at a time; a single one has no name."""

    label: str
    of: "Mapping[str, Sequence[Block]]"


#: A part of a page; a text is a paragraph.
Block = str | Table | Strips | Lines | Heat | Matrix | Images | Graph | Choice
#: Those that are drawn.
Figure = Strips | Lines | Heat | Matrix | Images | Graph


def is_empty(block: Block | None) -> bool:
    """Whether a block has nothing to show: no text, no rows, no panels."""
    match block:
        case None | "":
            return True
        case Table(rows=held) | Strips(rows=held) | Images(rows=held) | Heat(rows=held) | Matrix(cells=held):
            return len(held) == 0
        case Lines(lines=held) | Choice(of=held):
            return len(held) == 0
    return False


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a page; empty blocks are dropped, and all of them if only texts are left."""

    title: str
    blocks: Sequence[Block | None]

    @property
    def shown(self) -> list[Block]:
        """The blocks that there are."""
        kept = [block for block in self.blocks if block is not None and not is_empty(block)]
        return kept if any(not isinstance(block, str) for block in kept) else []


#: The section of a builder that has nothing to show.
NOTHING = Section("", ())


@dataclass(frozen=True, slots=True)
class Notice:
    """What a reader must know: how severe it is, and the names that it is about."""

    text: str
    severity: Literal["fragile", "warning", "info"] = "info"
    about: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """All that a result says; what is empty is dropped, and the title is the kind if none is given.

    ``table`` is what terminals, cards and papers show, ``below`` are tables that terminals show below it, and
    ``figure`` is what stands under the headline. ``next`` holds
    steps, each a sentence and a command. ``methods`` are sentences for a paper, which cite as ``[@key]``; a page
    shows them without citations.
    """

    kind: str
    headline: str
    title: str = ""
    tone: Tone = ""
    sentences: Sequence[str] = ()
    figure: Figure | Choice | None = None
    table: Table | None = None
    below: Sequence[Table] = ()
    scope: Sequence[str] = ()
    next: Sequence[tuple[str, str]] = ()
    sections: Sequence[Section] = ()
    assumptions: Sequence[str] = ()
    notes: Sequence[Notice] = ()
    methods: Sequence[str] = ()
    signatures: Sequence[tuple[str, str]] = ()
    version: str = ""

    def __post_init__(self) -> None:
        """Drop what is empty."""
        for key in ("sentences", "scope", "assumptions", "methods"):
            object.__setattr__(self, key, tuple(text for text in getattr(self, key) if text))
        object.__setattr__(self, "signatures", tuple(pair for pair in self.signatures if pair[1]))
        object.__setattr__(self, "title", self.title or self.kind)
        object.__setattr__(self, "figure", None if is_empty(self.figure) else self.figure)
        object.__setattr__(self, "sections", tuple(one for one in self.sections if one.title and one.shown))
