"""What a good metric does along a sweep, as inequalities between means that data can decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from demele.core.checked_numbers import checked_flag
from demele.core.errors import InputError

__all__ = ["AtLeast", "AtMost", "Contrast", "Expectation", "Falls", "Holds", "Keeps", "NotAbove", "Same"]

#: A step down by less than a thousandth of the range is no step.
STEP = 0.001
#: Scores within a twentieth of the range are taken for the same.
WITHIN = 0.05


@dataclass(frozen=True, slots=True)
class Contrast:
    """One inequality: a weighted sum of mean scores is at least a bound.

    Attributes
    ----------
    text : str
        What it says, in words.
    weights : mapping of int to float
        Weight of the mean at each position of the sweep.
    bound : float
        The least that the sum may be.
    """

    text: str
    weights: Mapping[int, float]
    bound: float


class Expectation(Protocol):
    """Turns itself into inequalities on the positions of a sweep."""

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return the inequalities that must all hold; ``labels`` name the severities in words."""
        ...

    @property
    def text(self) -> str:
        """What it says, in words."""
        ...


@dataclass(frozen=True, slots=True)
class Falls:
    """The score falls at every step from ``start`` to ``stop``, and by ``total`` in all.

    Attributes
    ----------
    total : float
        The least fall from the first to the last.
    step : float
        A step must be at least this.
    start, stop : float, optional
        Severities between which it must fall; the ends of the sweep by default.
    every_step : bool
        False: only the fall in all counts.
    """

    total: float = 0.0
    step: float = STEP
    start: float | None = None
    stop: float | None = None
    every_step: bool = True

    def __post_init__(self) -> None:
        if not checked_flag(self.every_step, "every_step") and not self.total:
            raise InputError("Falls: with every_step=False, give the least fall in all as total")

    @property
    def text(self) -> str:
        """What it says."""
        steps = f"falls by at least {self.step:g} at every step" if self.every_step else ""
        whole = f"falls by at least {self.total:g} in all" if self.total else ""
        return " and ".join(part for part in (steps, whole) if part) + _between(self.start, self.stop)

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return one inequality a step, and one for the fall in all."""
        first, last = _range(severities, self.start, self.stop)
        found = []
        if self.every_step:
            found = [
                Contrast(f"fall from {labels[place]} to {labels[place + 1]}", {place: 1.0, place + 1: -1.0}, self.step)
                for place in range(first, last)
            ]
        if self.total:
            found.append(Contrast(f"fall from {labels[first]} to {labels[last]}", {first: 1.0, last: -1.0}, self.total))
        return found


@dataclass(frozen=True, slots=True)
class Holds:
    """The score stays within ``within`` of what it is at the first severity.

    Attributes
    ----------
    within : float
        How far it may move, either way.
    start, stop : float, optional
        Severities between which it must hold.
    """

    within: float = WITHIN
    start: float | None = None
    stop: float | None = None

    @property
    def text(self) -> str:
        """What it says."""
        first = "first value" if self.start is None else f"value at {self.start:g}"
        return f"stays within {self.within:g} of its {first}" + _between(None, self.stop)

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return two inequalities for each severity but the first."""
        first, last = _range(severities, self.start, self.stop)
        found = []
        for place in range(first + 1, last + 1):
            words = f"from {labels[first]} to {labels[place]}"
            found.append(Contrast(f"rise {words}", {place: 1.0, first: -1.0}, -self.within))
            found.append(Contrast(f"fall {words}", {first: 1.0, place: -1.0}, -self.within))
        return found


@dataclass(frozen=True, slots=True)
class Keeps:
    """The score keeps at least a share of what it is at the first severity.

    Attributes
    ----------
    share : float
        The share.
    stop : float, optional
        Severity up to which it must be kept.
    least : float
        What the first value must be at least: of nothing, any share is kept.
    """

    share: float = 0.5
    stop: float | None = None
    least: float = 0.1

    @property
    def text(self) -> str:
        """What it says."""
        first = f"is at least {self.least:g} at first"
        return f"{first}, and keeps at least {self.share:.0%} of that" + _between(None, self.stop)

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return one inequality for the first value, and one for each severity after it."""
        first, last = _range(severities, None, self.stop)
        kept = [
            Contrast(
                f"at {labels[place]}, minus {self.share:g} times the value at {labels[first]}",
                {place: 1.0, first: -self.share},
                0.0,
            )
            for place in range(first + 1, last + 1)
        ]
        return [Contrast(f"at {labels[first]}", {first: 1.0}, self.least), *kept] if kept else []


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The score is at least ``value``, at one severity or at all."""

    value: float
    at: float | None = None

    @property
    def text(self) -> str:
        """What it says."""
        return f"is at least {self.value:g}" + _at(self.at)

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return one inequality for each severity meant."""
        return [Contrast(f"at {labels[place]}", {place: 1.0}, self.value) for place in _places(severities, self.at)]


@dataclass(frozen=True, slots=True)
class AtMost:
    """The score is at most ``value``, at one severity or at all."""

    value: float
    at: float | None = None

    @property
    def text(self) -> str:
        """What it says."""
        return f"is at most {self.value:g}" + _at(self.at)

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return one inequality for each severity meant, with the sign turned."""
        return [
            Contrast(f"minus the value at {labels[place]}", {place: -1.0}, -self.value)
            for place in _places(severities, self.at)
        ]


@dataclass(frozen=True, slots=True)
class NotAbove:
    """The score at one severity is at most ``margin`` above the score at another."""

    at: float
    than: float
    margin: float = 0.0

    @property
    def text(self) -> str:
        """What it says."""
        return f"at {self.at:g} is not more than {self.margin:g} above its value at {self.than:g}"

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return the one inequality."""
        here, there = severities.index(self.at), severities.index(self.than)
        words = f"the value at {labels[there]} minus that at {labels[here]}"
        return [Contrast(words, {there: 1.0, here: -1.0}, -self.margin)]


@dataclass(frozen=True, slots=True)
class Same:
    """The scores at two severities differ by at most ``within``."""

    at: float
    than: float
    within: float = WITHIN

    @property
    def text(self) -> str:
        """What it says."""
        return f"at {self.at:g} is within {self.within:g} of its value at {self.than:g}"

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return two inequalities."""
        return [
            *NotAbove(self.at, self.than, self.within).contrasts(severities, labels),
            *NotAbove(self.than, self.at, self.within).contrasts(severities, labels),
        ]


def _range(severities: Sequence[float], start: float | None, stop: float | None) -> tuple[int, int]:
    first = 0 if start is None else severities.index(start)
    last = len(severities) - 1 if stop is None else severities.index(stop)
    if first > last:
        raise InputError("start", f"{severities[first]:g} comes after {severities[last]:g} in the sweep")
    return first, last


def _places(severities: Sequence[float], at: float | None) -> Sequence[int]:
    return range(len(severities)) if at is None else [severities.index(at)]


def _between(start: float | None, stop: float | None) -> str:
    if start is None:
        return "" if stop is None else f", up to {stop:g}"
    return f", from {start:g}" + ("" if stop is None else f" to {stop:g}")


def _at(at: float | None) -> str:
    return "" if at is None else f" at {at:g}"
