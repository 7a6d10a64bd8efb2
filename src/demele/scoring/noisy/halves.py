"""Three scores of audited and other rows, whole and on halves: what method ``audited`` is made of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.seeds import rng_for
from demele.scoring.noisy.case import half_width

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Parts:
    """The three scores of the difference, and those of halves.

    Attributes
    ----------
    audit_true, audit_given, all_given : float
        Scores of the audited rows by true values and by given ones, and of all rows by given ones.
    halves : array of shape (n_splits, 2)
        The difference on both halves of each split of the rows; empty where none were scored.
    extrapolates : bool
        Whether the bias of few rows is extrapolated from halves.
    """

    audit_true: float
    audit_given: float
    all_given: float
    halves: NDArray[np.float64]
    extrapolates: bool

    @property
    def difference(self) -> float:
        """The score of true values of the audited rows, plus what all rows add."""
        return self.audit_true + (self.all_given - self.audit_given)

    @property
    def value(self) -> float:
        """The difference, its bias by few rows extrapolated from halves where that helps."""
        if not self.extrapolates or not self.halves.size:
            return self.difference
        return 2 * self.difference - float(np.nanmean(self.halves))

    def half_width(self, level: float) -> float:
        """Return half of the width of the interval: chance of rows, and half of what was extrapolated."""
        apart = self.halves[:, 0] - self.halves[:, 1]
        error = float(np.sqrt(np.nanmean(apart**2) / 4))
        return half_width(error, level) + abs(self.value - self.difference) / 2


def draws_of_halves(value: float, halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values about a score, as far apart as its error: half of what both halves of a split differ by."""
    apart = (halves[:, 0] - halves[:, 1]) / 2
    return value + np.concatenate([apart, -apart])


@dataclass(frozen=True, slots=True)
class Half:
    """One half of the rows: the audited ones in it, and all in it."""

    audited: Rows
    everything: Rows


def split_rows(n: int, audited: Rows, seed: int, index: int) -> tuple[Half, Half]:
    """Return two halves of all rows, each with half of the audited ones.

    Parameters
    ----------
    n : int
        Rows in all.
    audited : array of shape (k,)
    seed, index : int
        Of the split.
    """
    rng = rng_for(seed, "corrected", "halves", index)
    others = np.setdiff1d(np.arange(n, dtype=np.intp), audited)
    drawn, rest = rng.permutation(audited), rng.permutation(others)
    k, r = drawn.size // 2, rest.size // 2
    pairs = ((drawn[:k], rest[:r]), (drawn[k:], rest[r:]))
    first, second = (Half(np.sort(some), np.sort(np.concatenate([some, more]))) for some, more in pairs)
    return first, second
