"""The rows that metrics work on: validated codes, and the factors that vary."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.inputs import Codes, Factors
from demele.estimation.counts import BinnedRows, bin_rows, column_bins
from demele.estimation.discretise import Binning
from demele.metrics.native import Array

__all__ = ["Data"]


@dataclass(frozen=True, slots=True)
class Data:
    """Codes and (not constant) factors, row by row; optionally the standard deviations of stochastic codes."""

    codes: Codes
    factors: Factors
    codes_std: Array | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.codes.n

    def take(self, rows: NDArray[np.intp]) -> "Data":
        """Return some rows."""
        std = None if self.codes_std is None else self.codes_std[rows]
        return Data(self.codes.take(rows), self.factors.take(rows), std)

    def permuted(self, order: NDArray[np.intp]) -> "Data":
        """Return the same codes with the rows of all factors permuted together, so that they are independent."""
        return Data(self.codes, self.factors.take(order), self.codes_std)

    def standardised(self) -> Array:
        """Codes with mean 0 and standard deviation 1; constant codes are 0."""
        values = self.codes.dense()
        centred = values - values.mean(axis=0)
        scale = np.abs(centred).max(axis=0)  # first to the range of 1: squares of tiny or huge codes leave the floats
        alive = ~self.codes.constant & (scale > 0)
        centred /= np.where(alive, scale, 1.0)
        centred /= np.where(alive, centred.std(axis=0), 1.0)
        centred[:, ~alive] = 0.0
        result: Array = centred
        return result

    def binned(self, binning: Binning) -> BinnedRows:
        """All rows as bin numbers."""
        of_codes, of_factors = column_bins(self.codes, self.factors, binning)
        return bin_rows(self.codes, self.factors, of_codes, of_factors)
