"""Facts about a number: intervals, spreads, notes; frozen, never rounded."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from demele.core.sentences import short_words

Severity = Literal["info", "warning", "fragile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A range for a score.

    ``level`` is the nominal coverage, ``method`` says how the range was made, ``kind`` what it covers:
    ``"sampling"`` is what other rows from the same source would have given.
    """

    low: float
    high: float
    level: float
    method: str
    kind: str = "sampling"

    def __str__(self) -> str:
        return f"[{self.low:z.3f}, {self.high:z.3f}]"


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of a stochastic metric under different seeds, on the same rows."""

    values: tuple[float, ...]
    mean: float = field(init=False)
    std: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the mean and the standard deviation (n - 1), NaN for a single value."""
        object.__setattr__(self, "mean", float(np.mean(self.values)))
        object.__setattr__(self, "std", float(np.std(self.values, ddof=1)) if len(self.values) > 1 else math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something the reader of a score must know, readable by programs.

    ``code`` is stable (``"constant-factor"``, ``"outliers"``, ...); ``subject`` names the columns concerned;
    severity ``"fragile"`` means that the score would change much under another defensible setting, or that codes of
    noise would score as well.
    """

    code: str
    message: str
    subject: tuple[str, ...] = ()
    severity: Severity = "info"

    def __post_init__(self) -> None:
        """Cut the overlong words of the message, which come from data."""
        object.__setattr__(self, "message", short_words(self.message))
