"""What every judgement of a classifier returns: estimates."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from demele.core.results import Interval

Measure = Literal[
    "accuracy",
    "error",
    "precision",
    "recall",
    "f1",
    "macro-f1",
    "balanced-accuracy",
    "matthews",
    "sensitivity",
    "specificity",
    "PPV",
    "NPV",
]
#: Measures of two classes, one of them the positive one.
OF_POSITIVE = ("sensitivity", "specificity", "PPV", "NPV")
Verdict = Literal["baseline", "candidate", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One measure of one classifier: observed on the labels, and corrected.

    Attributes
    ----------
    measure : str
        As in :func:`compare`.
    of : int, str or None
        The class, or ``"macro"``, ``"weighted"``, ``"micro"``; None for measures of all classes.
    value : float
        Against the given labels; NaN where undefined (no instance predicted or labelled so).
    successes, trials : float
        The proportion that the interval is of; for f1 the Jaccard index (f1 = 2 J / (1 + J)). NaN for averages and the
        other measures of all classes.
    interval : Interval or None
        What other instances with labels of the same quality would have given.
    bias : tuple of float (low, high) or None
        Observed minus correct: exact if both are equal, else bounds; None if nothing is known of the noise.
    corrected : Interval or None
        For the correct measure. Its kind: ``"shifted"`` (bias known), ``"bias-union"`` (bias bounded), ``"design"``
        (from an audit).
    """

    measure: str
    of: int | str | None
    value: float
    successes: float = math.nan
    trials: float = math.nan
    interval: Interval | None = None
    bias: tuple[float, float] | None = None
    corrected: Interval | None = None

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns; NaN where there is nothing."""
        return {
            "measure": self.measure,
            "of": self.of,
            "value": self.value,
            "trials": self.trials,
            "low": math.nan if self.interval is None else self.interval.low,
            "high": math.nan if self.interval is None else self.interval.high,
            "bias_low": math.nan if self.bias is None else self.bias[0],
            "bias_high": math.nan if self.bias is None else self.bias[1],
            "corrected_low": math.nan if self.corrected is None else self.corrected.low,
            "corrected_high": math.nan if self.corrected is None else self.corrected.high,
            "kind": None if self.corrected is None else self.corrected.kind,
        }
