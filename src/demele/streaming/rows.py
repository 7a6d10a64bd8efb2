"""Batches in the coding of a frame, and their bins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.estimation.discretise import ColumnBins, cut
from demele.estimation.moments import smallest_unsigned


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch in the coding of a frame.

    ``codes`` (n, d); ``factors``, one array per factor: floats (NaN: not annotated), or level numbers (-1).
    ``clipped`` counts values outside the ranges that were moved to their ends; ``unclipped`` are the rows before.
    """

    codes: NDArray[Any]
    factors: tuple[NDArray[Any], ...]
    clipped: int
    unclipped: "Rows | None" = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.codes)


@dataclass(frozen=True, slots=True)
class Binned:
    """Bins of all columns of a frame under one rule."""

    codes: tuple[ColumnBins, ...]
    factors: tuple[ColumnBins | None, ...]
    n_levels: tuple[int, ...]

    @property
    def code_bins(self) -> NDArray[np.intp]:
        """Number of bins of each code."""
        return np.array([bins.n_bins for bins in self.codes], dtype=np.intp)

    def cut(self, rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the bins of codes (d, n) and factors (M, n); a missing annotation is one bin more than there are."""
        most = max(int(self.code_bins.max()), *self.n_levels)
        kind = smallest_unsigned(most)
        codes = np.empty((len(self.codes), rows.n), dtype=kind)
        for index, bins in enumerate(self.codes):
            codes[index] = cut(rows.codes[:, index], bins)
        factors = np.empty((len(self.factors), rows.n), dtype=kind)
        for index, (values, own) in enumerate(zip(rows.factors, self.factors, strict=True)):
            factors[index] = np.where(values < 0, self.n_levels[index], values) if own is None else cut(values, own)
        return codes, factors


def n_rows(table: NDArray[Any] | list[Any]) -> int:
    """Return the number of rows of a table that was split into columns."""
    return len(table) if isinstance(table, np.ndarray) else len(table[0]) if table else 0
