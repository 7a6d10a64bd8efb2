"""A score corrected for noisy annotations of the factors: the value, how far it can be trusted, what it assumes."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from demele.core.result import TableResult
from demele.core.signature import Signature
from demele.core.uncertainty import Interval, Note
from demele.report.words import ends, written


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CorrectedScore(TableResult):
    """A score corrected for wrong annotations of the factors: an estimate, or bounds.

    Attributes
    ----------
    value : float
        Never rounded, never clipped to the range of the metric; NaN where only an interval can be given.
    interval : Interval or None
        Interval of sampling and of what is known of the noise, together; for bounds, what the truth cannot leave.
    method : str
        How it was corrected: ``"transition"``, ``"audited"``, ...
    assumptions : tuple of str
        Whole sentences: what must be true for the value to be right.
    notes : tuple of Note
    audited_alone : float or None
        What the audited rows alone score by their true values, where rows were audited.
    signature : Signature or None
        The method with every option that can change the numbers.
    draws : array or None
        Values on resamples. Draw k is of the same rows for every representation of these rows that is corrected with
        the same seed, so that differences of draws are paired. None where nothing was resampled.

    Examples
    --------
    >>> CorrectedScore(value=0.62, method="transition", assumptions=("Errors do not depend on the codes.",))
    CorrectedScore(Corrected by the method transition, the score is 0.620)
    """

    _kind = "corrected score"

    value: float
    method: str
    assumptions: tuple[str, ...]
    interval: Interval | None = None
    notes: tuple[Note, ...] = ()
    audited_alone: float | None = None
    signature: Signature | None = None
    draws: NDArray[np.float64] | None = field(default=None, compare=False, metadata={"json": False})

    def __float__(self) -> float:
        return self.value

    def headline(self) -> str:
        """Return the value, or the interval where only that is known."""
        span = "" if self.interval is None else written(ends(self.interval))
        if math.isnan(self.value):
            return f"Whatever annotations are wrong, the score is within {span}."
        return f"Corrected by the method {self.method}, the score is {f'{written(self.value)} {span}'.strip()}."

    def row(self) -> dict[str, object]:
        """Return the columns that tables and CSV files add to the score, in a fixed order."""
        return {
            "corrected": self.value,
            "corrected_low": None if self.interval is None else self.interval.low,
            "corrected_high": None if self.interval is None else self.interval.high,
            "correction": self.method,
        }
