"""Levels of factors under a frame: the bins of continuous factors, fixed, and how a batch is read into them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from demele.estimation.counts import factor_bins
from demele.estimation.discretise import ColumnBins, cut
from demele.streaming.batches import Rows
from demele.streaming.frame import Frame

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning


@dataclass(frozen=True, slots=True, eq=False)
class FactorLevels:
    """What the values of factors are counted as.

    Attributes
    ----------
    bins : tuple of ColumnBins or None
        Of each continuous factor, fixed; None for a categorical one.
    sizes : tuple of int
        Number of levels of each factor.
    """

    bins: tuple[ColumnBins | None, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, frame: Frame, rule: "Binning") -> Self:
        """Return the levels under a rule.

        Raises
        ------
        InputError
            If the rule looks at values that the frame has not seen.
        """
        if rule in frame.exact or rule.needs_values:
            bins = frame.bins(rule).factors
        else:  # of factors only: nothing is counted by the bins of codes
            _, factors = frame.described(2, [2] * len(frame.columns))
            bins = tuple(factor_bins(factor, rule) for factor in factors.columns)
        sizes = tuple(
            len(column.levels) if own is None else own.n_bins for column, own in zip(frame.columns, bins, strict=True)
        )
        return cls(bins, sizes)

    def read(self, rows: Rows) -> tuple[NDArray[np.intp], int]:
        """Return levels (n, n_factors), -1 where not annotated, and how many values were moved into the ranges."""
        labels = np.empty((rows.n, len(self.bins)), dtype=np.intp, order="F")
        clipped = 0
        for index, (values, own) in enumerate(zip(rows.factors, self.bins, strict=True)):
            labels[:, index] = values if own is None else cut(values, own)
            if rows.unclipped is not None and own is not None:
                raw = rows.unclipped.factors[index]
                clipped += int(((raw != values) & ~np.isnan(raw)).sum())
        labels[labels >= np.array(self.sizes)] = -1
        return labels, clipped

    def same(self, other: "FactorLevels") -> bool:
        """Whether two are equal."""
        mine, theirs = ([None if own is None else own.edges for own in one.bins] for one in (self, other))
        return self.sizes == other.sizes and all(
            a is b if a is None or b is None else np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)
        )
