"""A scenario: representations whose properties are known, along a sweep, and what a good metric does on them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from demele.bench.expectations import Expectation
from demele.bench.facts import slowness
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.fingerprint import fingerprint
from demele.core.names import checked_name
from demele.metrics.metric import Metric
from demele.scoring.bare import Which

Property = Literal["modularity", "compactness", "explicitness"]

__all__ = ["Candidate", "Draw", "Representation", "Scenario", "group_of"]

Array = NDArray[np.float64]


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
        if not callable(self.draw):
            raise self._refused("draw is not a function of (rng, severity, n_samples)", InputTypeError)
        if self.declines is not None and not callable(self.declines):
            raise self._refused("declines is not a function of (candidate)", InputTypeError)
        checked_name(self.kind, f"scenario {self.name!r}: kind", get_args(Kind))
        checked_name(self.score, f"scenario {self.name!r}: score", get_args(Which))
        try:
            severities = () if isinstance(self.severities, str) else tuple(float(item) for item in self.severities)
        except (TypeError, ValueError):
            raise self._refused(f"expected severities, got {quoted(self.severities)}", InputTypeError) from None
        object.__setattr__(self, "severities", severities)
        if not severities:
            raise self._refused("expected at least one severity, got none")
        if not np.isfinite(severities).all():
            raise self._refused(f"expected finite severities, got {severities}")
        if len(set(severities)) < len(severities):
            raise self._refused(f"a severity is given twice: {severities}")
        if self.labels and len(self.labels) != len(severities):
            raise self._refused(f"expected a label for each of {len(severities)} severities, got {len(self.labels)}")
        if isinstance(self.labels, str) or not all(isinstance(item, str) for item in self.labels):
            raise self._refused(f"expected labels that are text, got {quoted(self.labels)}", InputTypeError)
        self._check_wanted()
        told = [fingerprint(self.draw)]
        told += ["paired"] * self.paired + [self.score] * (self.score != "value")
        object.__setattr__(self, "draw_fingerprint", "-".join(told))

    def _refused(self, problem: str, kind: type[InputError] = InputError) -> InputError:
        return kind(f"scenario {self.name!r}: {problem}")

    def _check_wanted(self) -> None:
        """Refuse expectations that cannot be asked of this sweep, before anything is computed."""
        if not isinstance(self.wanted, Mapping):
            raise self._refused(
                f"wanted: expected a mapping of property to expectations, got {quoted(self.wanted)}", InputTypeError
            )
        for wanted, expectations in self.wanted.items():
            if wanted not in ("modularity", "compactness", "explicitness", "any"):
                raise self._refused(
                    f"wanted: expected modularity, compactness, explicitness or any, got {quoted(wanted)}"
                )
            if not isinstance(expectations, tuple | list):
                such = f"a tuple of expectations, such as (bench.Holds(0.1),), got {quoted(expectations)}"
                raise self._refused(f"wanted[{wanted!r}]: expected {such}", InputTypeError)
            for expectation in expectations:
                if not callable(getattr(expectation, "contrasts", None)):
                    such = f"expectations, such as bench.Holds(0.1), got {quoted(expectation)}"
                    raise self._refused(f"wanted[{wanted!r}]: expected {such}", InputTypeError)
                self._check_expectation(expectation)

    def _check_expectation(self, expectation: Expectation) -> None:
        labels = [self.label(place) for place in range(len(self.severities))]
        try:
            contrasts = expectation.contrasts(self.severities, labels)
        except InputError as error:
            raise self._refused(f"wanted: {expectation!r}: {error}") from error
        except ValueError as error:  # of tuple.index: no such severity
            where = f"a severity that is not in {self.severities}"
            raise self._refused(f"wanted: {expectation!r} names {where}") from error
        except TypeError as error:  # minus a text
            raise self._refused(f"wanted: {expectation!r}: expected numbers: {error}", InputTypeError) from error
        bounds = [item.bound for item in contrasts]
        if not all(isinstance(item, int | float | np.number) and np.isfinite(item) for item in bounds):
            raise self._refused(f"wanted: {expectation!r}: expected finite numbers")
        if not contrasts and len(self.severities) > 1:
            raise self._refused(f"wanted: {expectation!r} asks nothing of {self.severities}")

    def label(self, position: int) -> str:
        """Return the label of the severity at a position."""
        return self.labels[position] if self.labels else f"{self.severities[position]:g}"

    def position(self, severity: float) -> int:
        """Return the place of a severity in the sweep."""
        try:
            return self.severities.index(severity)
        except ValueError:
            known = ", ".join(f"{item:g}" for item in self.severities)
            raise InputError(f"scenario {self.name!r}: no severity {severity:g}; known are {known}") from None


def group_of(spec: Metric) -> str:
    """Return the metrics that are measured, and stored, together: as in the catalogue, but RMIG has its own table."""
    return spec.name if spec.needs_codes_std else spec.group
