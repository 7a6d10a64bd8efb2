"""Values of metrics on draws of the rows: repeats, resamples and permutations."""

from dataclasses import dataclass

import numpy as np

from demele.core.results import Note
from demele.metrics.metric import Array, Native


@dataclass(frozen=True, slots=True)
class Draws:
    """Values of one metric over repeats, resamples or permutations; the first axis is the draw.

    ``failed`` are the numbers, among all that were asked for, of draws that could not be computed and have no value.
    """

    value: Array
    per_factor: Array | None
    per_code: Array | None
    failed: tuple[int, ...] = ()

    @property
    def n(self) -> int:
        """Number of draws."""
        return len(self.value)

    @property
    def numbered(self) -> Array:
        """Values in the places of their draws, NaN where one failed: place k is of the same rows for all codes."""
        if not self.failed:
            return self.value
        whole = np.full(self.n + len(self.failed), np.nan)
        whole[np.setdiff1d(np.arange(whole.size), self.failed)] = self.value
        return whole

    @classmethod
    def of(cls, natives: list[Native], failed: tuple[int, ...] = ()) -> "Draws":
        """Collect natives of single draws, or of blocks of draws."""
        scalar = natives[0].value.ndim == 0

        def joined(arrays: list[Array]) -> Array:
            return np.stack(arrays) if scalar else np.concatenate(arrays)

        def optional(arrays: list[Array | None]) -> Array | None:
            given = [array for array in arrays if array is not None]
            return joined(given) if given else None

        return cls(
            joined([np.asarray(item.value) for item in natives]),
            optional([item.per_factor for item in natives]),
            optional([item.per_code for item in natives]),
            failed,
        )

    def mean(self, first: Native) -> Native:
        """Return the mean over draws, with the matrix, details and notes of the first."""
        return Native(
            value=np.asarray(self.value.mean()),
            per_factor=None if self.per_factor is None else self.per_factor.mean(axis=0),
            per_code=None if self.per_code is None else self.per_code.mean(axis=0),
            matrix=first.matrix,
            matrix_of=first.matrix_of,
            details=first.details,
            notes=first.notes,
        )

    @staticmethod
    def quantiles(values: Array, level: float, bounds: tuple[float, float], centre: float) -> Array:
        """Return the ends of the central range of the values, moved so that their mean is at ``centre``.

        Resamples are biased as samples are: estimated information, for one, is too high by about the same amount
        again in each resample. What they tell is the spread. What leaves the bounds then, which the definition does
        not allow, says nothing about other rows.
        """
        known = values[~np.isnan(values)]
        if not known.size:
            return np.full(2, np.nan)
        shift = centre - float(known.mean())
        found: Array = np.clip(np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) + shift, *bounds)
        return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What computing gave for one metric: the value, and its draws under repeats, resamples and permutations.

    ``halves`` are values on half-samples, for metrics whose ``resamples`` may be others.
    """

    native: Native
    repeats: Draws | None = None
    resamples: Draws | None = None
    resampling: str = ""
    halves: Draws | None = None
    permutations: Draws | None = None
    seconds: float = float("nan")
    notes: tuple[Note, ...] = ()
