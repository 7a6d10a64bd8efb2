"""What a notebook shows of a result, and what is said of it in words."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from demele.core.publish import card, words


class Tabled(ABC):
    """What a notebook shows of a result that is a table: what it is, and its first rows."""

    __slots__ = ()

    @abstractmethod
    def to_frame(self) -> Any:
        """Return the result as a table."""

    def _rows_shown(self) -> Any:
        return self.to_frame()

    def _repr_html_(self) -> str:
        return card("table", repr(self), self._rows_shown())


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
        return card("table", "\n".join(self.sentences), self._rows_shown())


class Shown(Said):
    """A result that is said in words, and for which notebooks have a card of its own."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return card(self._kind, self.to_dict())
