"""Scenarios: a representation made by severity, and what is expected of a metric on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

import numpy as np

from demele.core.errors import FormatError, InputError, InputTypeError, quoted
from demele.core.kinds import checked_flag, checked_name, is_number
from demele.core.signature import fingerprint
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Metric

# Expectations ---------------------------------------------------------------------------------------------------------


#: Which number of a score is judged: its value, that with correct annotations, or that of turned codes.
Which = Literal["value", "corrected", "aligned"]
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
        return f"is at least {self.value:g}" + ("" if self.at is None else f" at {self.at:g}")

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return one inequality for each severity meant."""
        places = range(len(severities)) if self.at is None else [_place(severities, self.at)]
        return [Contrast(f"at {labels[place]}", {place: 1.0}, self.value) for place in places]


@dataclass(frozen=True, slots=True)
class AtMost:
    """The score is at most ``value``, at one severity or at all."""

    value: float
    at: float | None = None

    @property
    def text(self) -> str:
        """What it says."""
        return f"is at most {self.value:g}" + ("" if self.at is None else f" at {self.at:g}")

    def contrasts(self, severities: Sequence[float], labels: Sequence[str]) -> list[Contrast]:
        """Return one inequality for each severity meant, with the sign turned."""
        found = AtLeast(-self.value, self.at).contrasts(severities, labels)
        return [Contrast(f"minus the value {one.text}", dict.fromkeys(one.weights, -1.0), one.bound) for one in found]


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
        here, there = _place(severities, self.at), _place(severities, self.than)
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


#: The kinds of expectations, as files call them.
EXPECTATIONS: Mapping[str, Any] = {
    kind.__name__: kind for kind in (AtLeast, AtMost, Falls, Holds, Keeps, NotAbove, Same)
}


def expectation_of(item: Mapping[str, Any]) -> Expectation:
    """Return an expectation of a file: its kind is its ``type``.

    Raises
    ------
    FormatError
        If there is no such kind.

    Examples
    --------
    >>> expectation_of({"type": "Holds", "within": 0.1}).text
    'stays within 0.1 of its first value'
    """
    if item["type"] not in EXPECTATIONS:
        raise FormatError("path", f"unknown expectation {item['type']!r}")
    made: Expectation = EXPECTATIONS[item["type"]](**{name: value for name, value in item.items() if name != "type"})
    return made


def _place(severities: Sequence[float], severity: float) -> int:
    if severity not in severities:
        known = ", ".join(f"{item:g}" for item in severities)
        raise InputError("severity", f"expected one of {known}, got {severity:g}")
    return list(severities).index(severity)


def _range(severities: Sequence[float], start: float | None, stop: float | None) -> tuple[int, int]:
    first = 0 if start is None else _place(severities, start)
    last = len(severities) - 1 if stop is None else _place(severities, stop)
    if first > last:
        raise InputError("start", f"{severities[first]:g} comes after {severities[last]:g} in the sweep")
    return first, last


def _between(start: float | None, stop: float | None) -> str:
    if start is None:
        return "" if stop is None else f", up to {stop:g}"
    return f", from {start:g}" + ("" if stop is None else f" to {stop:g}")


# What the bench reads off metrics -------------------------------------------------------------------------------------


def slowness(group: str) -> int:
    """Return 0, 1 for predictors on all rows, 2 for a model of each factor (``Metric.slow``)."""
    return max((metric.slow for metric in CATALOGUE.values() if metric.group == group), default=0)


def own_settings() -> Mapping[str, tuple[str, tuple[Any, ...]]]:
    """Return by group the swept option other than bins, and its values: the default first."""
    return {metric.group: metric.probe for metric in CATALOGUE.values() if metric.probe is not None}


def is_model(group: str) -> bool:
    """Whether its scores are read off one fit: they share a row."""
    return any(metric.fit is not None for metric in CATALOGUE.values() if metric.group == group)


# Scenarios ------------------------------------------------------------------------------------------------------------


Property = Literal["modularity", "compactness", "explicitness"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Representation:
    """The codes and factors that a scenario gives to the metrics.

    Attributes
    ----------
    codes : array of shape (n_samples, n_codes)
        The codes.
    factors : array of shape (n_samples, n_factors), or a data frame
        The factors of the same rows.
    kinds : None, str or sequence
        As in :func:`demele.evaluate`.
    reg_dim : sequence of int, optional
        The code that is meant for each factor, where it is not the one of the same number.
    codes_std : array of shape (n_samples, n_codes), optional
        Standard deviations of the codes for RMIG; where not given, 0.01 of each code's own.
    options : mapping of group of metrics to mapping
        Settings instead of the protocol's.
    factor_noise : mapping of factor to knowledge, optional
        What is known of wrong annotations, as in :func:`demele.evaluate`, for a scenario whose ``score`` is
        ``"corrected"``.
    """

    codes: Any
    factors: Any
    kinds: Any = None
    reg_dim: Sequence[int] | None = None
    codes_std: Any = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    factor_noise: Mapping[str, Any] | None = None


Kind = Literal["source", "added", "settings"]
Draw = Callable[[np.random.Generator, float, int], "Representation | tuple[Any, Any]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A metric as the bench sees it: a registered one, or any function.

    Attributes
    ----------
    name : str
        What tables call it.
    title : str
        What pages call it.
    group : str
        Metrics of one group share one computation; a function is a group of its own.
    function : callable or Metric, optional
        ``(codes, factors) -> float``, or a metric, where it is not one of demele's.
    claims : tuple of str, or None
        What it is meant to measure: modularity, compactness, explicitness. None: not said, so it is judged on all.
    discretises : bool, or None
        Whether it cuts continuous columns into bins; None: not said.
    key : str
        Key of its stored rows; that of a function changes with its code. It is computed once, because calls can change
        a function that counts or remembers.
    """

    name: str
    title: str
    group: str
    function: Callable[..., float] | Metric | None = None
    claims: tuple[Property, ...] | None = None
    discretises: bool | None = None
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.group, str):
            raise InputTypeError("group", f"expected a text, got {quoted(self.group)}")
        own = self.group
        if isinstance(self.function, Metric):
            own += "@" + "-".join(filter(None, (self.function.code.partition("/")[0], self.function.package)))
        elif self.function is not None:
            own += f"@{fingerprint(self.function)}"
        object.__setattr__(self, "key", own)

    @property
    def slow(self) -> bool:
        """Whether it trains predictors, so that fewer seeds are measured; of a plain function nothing is known."""
        if self.function is None:
            return slowness(self.group) > 0
        return isinstance(self.function, Metric) and self.function.slow > 0

    def may_measure(self, wanted: Property) -> bool:
        """Whether the metric is judged as a measure of a property."""
        return self.claims is None or wanted in self.claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Representations along a sweep from the perfect one, and what a good metric does.

    Attributes
    ----------
    name, title : str
        Names in code and on pages.
    question : str
        What it asks of a metric, in one sentence.
    sweep : str
        What changes from one severity to the next: the axis of its curves.
    severities : tuple of float
        Where metrics are measured. The first is the perfect representation, if there is one.
    draw : callable
        ``(rng, severity, n_samples) -> Representation`` or ``(codes, factors)``. A function of a module, so that other
        processes can call it.
    wanted : mapping of property to expectations
        What a good measure of modularity, compactness or explicitness does. ``"any"`` holds for every metric.
    labels : tuple of str
        Names of the severities, where they are not numbers.
    paired : bool
        Every severity changes the same draw, so that values of one seed can be compared one by one.
    declines : callable, optional
        ``(candidate) -> str or None``: why a metric cannot take part.
    source : str
        Where it comes from; empty for our own.
    counts_rows : bool
        A severity is a number of rows. Those beyond ``n_samples`` of a run are left out of it.
    score : str
        Which number of a score is judged: ``"value"``; ``"corrected"``, what it would be if all annotations were right,
        by method "transition" and the ``factor_noise`` of the representation; or ``"aligned"``, of codes that are
        turned towards the factors. A metric without this number takes no part.
    kind : str
        ``"source"`` for the five of the review, ``"added"``, ``"settings"`` for sweeps of a metric's own settings.
    draw_fingerprint : str
        Changes with the code of ``draw``, with ``paired`` and with ``score``.
    """

    name: str
    title: str
    question: str
    sweep: str
    severities: tuple[float, ...]
    draw: Draw
    wanted: Mapping[str, tuple[Expectation, ...]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    paired: bool = False
    declines: Callable[[Candidate], str | None] | None = None
    source: str = ""
    counts_rows: bool = False
    score: Which = "value"
    kind: Kind = "added"
    draw_fingerprint: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError("scenario", f"expected a name, got {quoted(self.name)}")
        where, labels = f"scenario {self.name!r}", self.labels
        checked_name(self.kind, f"{where}: kind", get_args(Kind))
        checked_name(self.score, f"{where}: score", get_args(Which))
        try:
            severities = () if isinstance(self.severities, str) else tuple(float(item) for item in self.severities)
        except (TypeError, ValueError):
            problem = f"{where}: expected severities, got {quoted(self.severities)}"
            raise InputTypeError(problem) from None
        object.__setattr__(self, "severities", severities)
        of_text = not isinstance(labels, str) and all(isinstance(item, str) for item in labels)
        n, such = len(severities), "expectations, such as (bench.Holds(0.1),)"
        no_function = self.declines is not None and not callable(self.declines)
        problems: list[tuple[type[InputError], bool, str]] = [
            (InputTypeError, not callable(self.draw), "draw is not a function of (rng, severity, n_samples)"),
            (InputTypeError, no_function, "declines is not a function of (candidate)"),
            (InputTypeError, not of_text, f"expected labels that are text, got {quoted(labels)}"),
            (InputError, not severities, "expected at least one severity, got none"),
            (InputError, not np.isfinite(severities).all(), f"expected finite severities, got {severities}"),
            (InputError, len(set(severities)) < n, f"a severity is given twice: {severities}"),
            (
                InputError,
                bool(labels) and len(labels) != n,
                f"expected {n} labels, one per severity, got {len(labels)}",
            ),
            (InputTypeError, not isinstance(self.wanted, Mapping), f"wanted: expected a mapping of property to {such}"),
        ]
        for kind, is_there, problem in problems:
            if is_there:
                raise kind(f"{where}: {problem}")
        for wanted, expectations in self.wanted.items():
            checked_name(wanted, f"{where}: wanted", (*get_args(Property), "any"))
            several = expectations if isinstance(expectations, tuple | list) else [None]
            for expectation in several:
                if not callable(getattr(expectation, "contrasts", None)):
                    problem = f"wanted[{wanted!r}]: expected a tuple of {such}, got {quoted(expectations)}"
                    raise InputTypeError(f"{where}: {problem}")
                asked = f"{where}: wanted: {expectation!r}"
                try:
                    contrasts = expectation.contrasts(severities, [self.label(place) for place in range(n)])
                except ValueError as error:  # no such severity
                    raise InputError(f"{asked}: {error}") from error
                except TypeError as error:  # minus a text
                    raise InputTypeError(f"{asked}: expected numbers: {error}") from error
                if not all(is_number(item.bound) and np.isfinite(item.bound) for item in contrasts):
                    raise InputError(f"{asked}: expected finite numbers")
                if not contrasts and n > 1:
                    raise InputError(f"{asked} asks nothing of {severities}")
        told = [fingerprint(self.draw)]
        told += ["paired"] * self.paired + [self.score] * (self.score != "value")
        object.__setattr__(self, "draw_fingerprint", "-".join(told))

    def label(self, position: int) -> str:
        """Return the label of the severity at a position."""
        return self.labels[position] if self.labels else f"{self.severities[position]:g}"


def group_of(spec: Metric) -> str:
    """Return the metrics that are measured, and stored, together: as in the catalogue, but RMIG has its own table."""
    return spec.name if spec.needs_codes_std else spec.group
