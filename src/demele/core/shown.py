"""What a notebook shows of a result, what is said of it in words, and the picture that is drawn of it."""

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from demele.core.publish import card, words


class Worded:
    """A result whose text says what there is to say: in a sentence, and in a notebook with its rows, if it has any."""

    __slots__ = ()

    @property
    def sentence(self) -> str:
        """The result in one sentence, or line."""
        return in_a_line(repr(self))

    @property
    def sentences(self) -> tuple[str, ...]:
        """That, and what it warns of."""
        notes = [getattr(note, "message", note) for note in getattr(self, "notes", ()) if _warns(note)]
        return (self.sentence, *map(str, notes))

    def _rows_shown(self) -> Any:
        return None

    def _repr_html_(self) -> str:
        return card("\n".join(self.sentences), self._rows_shown())


def in_a_line(text: str) -> str:
    r"""Return the first line of what Python prints of a result, as who writes no Python would.

    Examples
    --------
    >>> in_a_line("ScoreCurve(3 evaluations by epoch: mig)"), in_a_line("UDR of 3 models, n=100\n  a: 0.5")
    ('Score curve: 3 evaluations by epoch: mig', 'UDR of 3 models, n=100')
    """
    first = text.splitlines()[0]
    found = re.fullmatch(r"([A-Z]\w*)\((.*)\)", first)
    if found is None:
        return first
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", found[1])
    return f"{name[0]}{name[1:].lower() if ' ' in name else name[1:]}: {found[2]}"


def _warns(note: object) -> bool:
    return getattr(note, "severity", "warning") != "info"


class Tabled(Worded, ABC):
    """What a notebook shows of a result that is a table: what it is, and its first rows."""

    __slots__ = ()

    @abstractmethod
    def to_frame(self) -> Any:
        """Return the result as a table."""

    def _rows_shown(self) -> Any:
        return self.to_frame()

    def _repr_html_(self) -> str:
        others = [line for line in repr(self).splitlines()[1:] if line.strip() != self.sentence]
        return card("\n".join([self.sentence, *others]), self._rows_shown())


class Said(ABC):
    """What is said of a result in words, as the command line says it; it is one of the kind ``_kind``."""

    __slots__ = ()
    _kind: ClassVar[str]

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""

    def _said_of(self) -> dict[str, Any]:
        """Return what the sentences are made of: by default everything."""
        return self.to_dict()

    @property
    def sentence(self) -> str:
        """What the command line says first: the result in one sentence."""
        return self.sentences[0]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that the command line says of the result in sentences, the most important one first."""
        return words(self._kind, self._said_of())


class SaidTable(Said, Tabled):
    """A result that is said in words, and shown as its sentences above its first rows."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return card("\n".join(self.sentences), self._rows_shown())
