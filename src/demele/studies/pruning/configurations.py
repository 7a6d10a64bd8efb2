"""What a study of pruning varies: how a fabric is pruned, and how wrong its labels are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from demele.core.checked_numbers import checked_share
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.names import checked_name

Strategy = Literal["whole", "early", "iterative", "late"]
Level = Literal["links", "weights", "links and weights", "links then weights"]
NoiseKind = Literal["none", "uniform", "visibility", "resubstitution"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningConfiguration:
    """One way to prune a fabric, or none.

    Attributes
    ----------
    strategy : {"whole", "early", "iterative", "late"}
        After which epochs: once and soon, in equal steps, once and late; or never.
    level : {"links", "weights", "links and weights", "links then weights"}
        What goes. "links and weights": links until as many weights have gone with them as then go one by one, so that
        the fraction goes in all. "links then weights": the fraction of the links, and of the weights that these leave,
        as published.
    criterion : str
        As of :meth:`demele.lab.Fabric.scores`.
    fraction : float
        Share of the links, or of all weights of links, that shall go.

    Raises
    ------
    InputError
        For what is none of these. Channels are not among the levels: see :func:`demele.lab.fit_pruned`.
    """

    strategy: Strategy
    level: Level = "links"
    criterion: str = ""
    fraction: float = 0.0

    def __post_init__(self) -> None:
        for value, known, argument in ((self.strategy, Strategy, "strategy"), (self.level, Level, "level")):
            checked_name(value, argument, get_args(known))
        if self.strategy == "whole":
            return
        checked_share(self.fraction, "fraction", 0, 1, "()")

    @property
    def name(self) -> str:
        """Such as ``"late links 75% magnitude"``."""
        if self.strategy == "whole":
            return "whole"
        return f"{self.strategy} {self.level} {self.fraction:.0%} {self.criterion}"

    def shares(self) -> dict[str, float]:
        """Return the pruned share at each level, links first."""
        if self.level == "links and weights":
            # each level leaves the square root of what shall stay
            return {"links": 1 - (1 - self.fraction) ** 0.5, "weights": self.fraction}
        if self.level == "links then weights":
            return {"links": self.fraction, "weights": self.fraction}
        return {self.level: self.fraction}

    @property
    def fraction_of(self) -> Literal["live", "whole"]:
        """What the share of weights is of: see :meth:`demele.lab.Fabric.prune`."""
        return "live" if self.level == "links then weights" else "whole"


#: The reference of every study: nothing is pruned.
WHOLE = PruningConfiguration(strategy="whole")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNoise:
    """How wrong the labels are, those of the training and those of the test.

    Attributes
    ----------
    kind : {"none", "uniform", "visibility", "resubstitution"}
        As of :func:`demele.data.clutter_labels`; or the predictions of a random fabric on all images, those of the test
        too, which it was trained on until its error was near the rate (Benjelloun, section 7.8.1).
    rate : float
    """

    kind: NoiseKind = "none"
    rate: float = 0.0

    @property
    def name(self) -> str:
        """Such as ``"visibility 20%"``."""
        return "none" if self.kind == "none" else f"{self.kind} {self.rate:.0%}"

    @classmethod
    def of(cls, given: Any, argument: str = "noises") -> LabelNoise:
        """Return the noise that a text names: ``"none"``, ``"uniform:0.2"``, ``"resubstitution:0.1"``.

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> LabelNoise.of("visibility:0.2").name
        'visibility 20%'
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, str):
            raise InputTypeError(argument, f"expected texts such as 'uniform:0.2', got {quoted(given)}")
        kind, _, rate = given.partition(":")
        if kind not in get_args(NoiseKind) or (kind == "none") != (not rate):
            kinds = "expected 'none', 'uniform:RATE', 'visibility:RATE' or 'resubstitution:RATE'"
            raise InputError(argument, f"{kinds}, got {quoted(given)}")
        if kind == "none":
            return cls()
        try:
            value = float(rate)
        except ValueError as error:
            raise InputError(argument, f"expected a rate after the colon, got {quoted(given)}") from error
        share = checked_share(value, argument, 0, 0.5)
        return cls(kind=kind, rate=share)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When a fabric is pruned, in epochs.

    Attributes
    ----------
    early, late : int
        After which of them; iterative pruning begins with the first and ends with the last.
    every : int
        Epochs between two steps of iterative pruning.
    """

    early: int
    every: int
    late: int

    def steps(self, strategy: Strategy) -> tuple[tuple[int, float], ...]:
        """Return after which epochs, and what part of the whole has gone after each."""
        if strategy == "whole":
            return ()
        if strategy == "iterative":
            epochs = range(self.early, self.late + 1, self.every)
            return tuple((epoch, (place + 1) / len(epochs)) for place, epoch in enumerate(epochs))
        return ((self.early if strategy == "early" else self.late, 1.0),)


def _ways(strategy: Strategy, criteria: str, *fractions: float, level: Level = "links") -> list[PruningConfiguration]:
    return [
        PruningConfiguration(strategy=strategy, level=level, criterion=criterion, fraction=fraction)
        for fraction in fractions
        for criterion in criteria.split()
    ]


#: 18 ways and the control at random, all from one whole fabric of each seed.
EMBEDDED = (
    *_ways("late", "random magnitude sensitivity fisher gate label_free", 0.5, 0.75),
    *_ways("early", "random magnitude sensitivity", 0.75),
    *_ways("iterative", "random magnitude sensitivity", 0.75),
    *_ways("late", "magnitude", 0.75, level="links and weights"),
    *_ways("late", "magnitude", 0.75, level="weights"),
    *_ways("early", "magnitude", 0.75, level="links and weights"),
    *_ways("early", "magnitude", 0.75, level="weights"),
)
#: Enough to see everything at work.
CI = tuple(_ways("late", "random magnitude sensitivity", 0.5))
#: Those in print, with the control that it lacks.
PRINT = tuple(
    one
    for strategy in ("early", "iterative", "late")
    for one in _ways(strategy, "random magnitude sensitivity", 0.95, 0.97, 0.99, level="links then weights")
)
