"""A score corrected for noisy annotations of the factors: the value, how far it can be trusted, what it assumes."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.shown import Worded
from demele.core.uncertainty import Interval, Note
from demele.core.written import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedScore(Worded):
    """What a score would be, as far as can be known, if all annotations of the factors were right.

    Attributes
    ----------
    value : float
        Never rounded, never clipped to the range of the metric; NaN where only an interval can be given.
    interval : Interval or None
        Of sampling and of what is known of the noise, together; for bounds, what the truth cannot leave.
    method : str
        How it was corrected: ``"transition"``, ``"audited"``, ...
    assumptions : tuple of str
        Whole sentences: what must be true for the value to be right.
    notes : tuple of Note
    audited_alone : float or None
        What the audited rows alone score by their true values, where rows were audited.
    signature : str
        The method with every option that can change the numbers.
    draws : array or None
        Values on resamples. Draw k is of the same rows for every representation of these rows that is corrected with
        the same seed, so that differences of draws are paired. None where nothing was resampled.

    Examples
    --------
    >>> CorrectedScore(value=0.62, method="transition", assumptions=("Errors do not depend on the codes.",))
    CorrectedScore(0.6200, method='transition')
    """

    value: float
    method: str
    assumptions: tuple[str, ...]
    interval: Interval | None = None
    notes: tuple[Note, ...] = ()
    audited_alone: float | None = None
    signature: str = ""
    draws: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def __float__(self) -> float:
        return self.value

    @property
    def value_text(self) -> str:
        """The value, or the interval where only that is known."""
        only = math.isnan(self.value) and self.interval is not None
        return str(self.interval) if only else f"{self.value:.4f}"

    def __repr__(self) -> str:
        interval = "" if self.interval is None else f" {self.interval}"
        return f"CorrectedScore({self.value:.4f}{interval}, method={self.method!r})"

    def row(self) -> dict[str, object]:
        """Flat, in a fixed column order: what tables and CSV files hold beside the score."""
        return {
            "corrected": self.value,
            "corrected_low": None if self.interval is None else self.interval.low,
            "corrected_high": None if self.interval is None else self.interval.high,
            "correction": self.method,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        interval = self.interval
        return {
            "value": plain(self.value),
            "interval": None
            if interval is None
            else {name: plain(getattr(interval, name)) for name in ("low", "high", "level", "method", "kind")},
            "method": self.method,
            "assumptions": list(self.assumptions),
            "notes": [
                {name: plain(getattr(note, name)) for name in ("code", "message", "subject", "severity")}
                for note in self.notes
            ],
            "audited_alone": plain(self.audited_alone),
            "signature": self.signature,
        }
