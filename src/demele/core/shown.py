"""What a notebook shows of a result, what is said of it in words, and the picture that is drawn of it."""

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from demele.core.publish import card, drawing, words


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
        return card("table", "\n".join(self.sentences), self._rows_shown())


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
        return card("table", "\n".join([self.sentence, *others]), self._rows_shown())


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

    def _drawn(self, ax: Any, **options: Any) -> Any:
        return drawing(self._kind, self.to_dict(), ax=ax, **options)


class DrawnScore(Shown):
    """A score, which is drawn by code and factor."""

    __slots__ = ()

    def plot(self, *, show: str | None = None, ax: Any = None) -> Any:
        """Draw what the score was computed from, or the values that it averages, with matplotlib.

        Parameters
        ----------
        show : {"matrix", "native"}, optional
            The heat map of codes and factors, or the values per factor or code; by default the first of these that
            the score has.
        ax : matplotlib.axes.Axes, optional
            Where to draw; in a figure of its own if None.

        Returns
        -------
        matplotlib.axes.Axes
            Its ``figure`` can be saved.

        Raises
        ------
        MissingExtraError
            Without matplotlib (``demele[pictures]``).
        InputError, NotEnoughData
            For another picture, or one of which there is nothing to draw.
        """
        return self._drawn(ax, show=show)


class DrawnScores(Shown):
    """Scores of one representation, which are drawn side by side."""

    __slots__ = ()

    def plot(
        self, *, show: str = "scores", metric: str | None = None, minus_chance: bool = False, ax: Any = None
    ) -> Any:
        """Draw the scores with their intervals against chance, or what one was computed from, with matplotlib.

        Parameters
        ----------
        show : {"scores", "matrix"}
            Values as bars, intervals as lines, chance as ticks; or the heat map of codes and factors.
        metric : str, optional
            Whose matrix; by default that of the first score that has one.
        minus_chance : bool
            Of a matrix of information: without what codes of noise would tell. In either case, cells that tell no more
            than noise are not lit, and have a stroke.
        ax : matplotlib.axes.Axes, optional
            Where to draw; in a figure of its own if None.

        Returns
        -------
        matplotlib.axes.Axes
            Its ``figure`` can be saved.

        Raises
        ------
        MissingExtraError
            Without matplotlib (``demele[pictures]``).
        InputError, NotEnoughData
            For another picture, or one of which there is nothing to draw.
        UnknownNameError
            For a metric that has no score here.
        """
        return self._drawn(ax, show=show, metric=metric, minus_chance=minus_chance)
