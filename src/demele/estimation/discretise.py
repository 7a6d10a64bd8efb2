"""Cutting continuous columns into bins: one rule for all metrics of a run, computed once per column."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, quoted
from demele.core.table_columns import real_numbers

#: Values within this share of the column's range below an edge count as on it, so that rounding in the unit of a
#: column cannot move them to another bin.
EDGE_TOLERANCE = 1e-10
#: More bins than this are a mistake: tables of pairs grow with their square.
MAX_BINS = 10_000


@dataclass(frozen=True, slots=True)
class ColumnBins:
    """The bins of one column: ``n_bins`` bins between frozen ``edges``, the last one closed.

    ``regular`` bins have equal width, so that a value's bin is a multiplication rather than a search.
    """

    edges: NDArray[np.float64]
    regular: bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnBins) and np.array_equal(self.edges, other.edges)

    @property
    def n_bins(self) -> int:
        """Number of bins, at least 1."""
        return max(len(self.edges) - 1, 1)


class Binning(Protocol):
    """A rule that turns a column into bins."""

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return the bins of a column of finite values, whose extremes are known."""
        ...

    @property
    def needs_values(self) -> bool:
        """Whether the rule looks at the values, or only at their extremes."""
        ...


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Bins of equal width between the smallest and the largest value: the choice of the published studies.

    One outlier widens all bins and empties most of them: a score under this rule says so when it happens.
    """

    needs_values: ClassVar[bool] = False
    bins: int = 10

    def __post_init__(self) -> None:
        _check_count(self.bins)

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return ``bins`` equal parts of [low, high]; a constant column has one bin."""
        if low == high:
            return ColumnBins(np.array([low, high]), regular=True)
        return ColumnBins(np.linspace(low, high, self.bins + 1), regular=True)


@dataclass(frozen=True, slots=True)
class EqualFrequency:
    """Bins that hold equally many values, equal values never being split.

    Edges lie at quantiles that are values of the column, so ties stay together: a column of 60% zeros has one bin for
    them. Fewer bins than asked for remain when ties are many.
    """

    needs_values: ClassVar[bool] = True
    bins: int = 10

    def __post_init__(self) -> None:
        _check_count(self.bins)

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return edges at the distinct lower quantiles of the values."""
        if low == high or values.min() == values.max():
            return ColumnBins(np.array([low, high]), regular=False)
        # Order statistics at exact integer positions: a column repeated whole has the same edges.
        at = len(values) * np.arange(1, self.bins) // self.bins
        inner = np.unique(np.partition(values, at)[at])
        # A value that holds a bin's share or more (60% zeros) is a bin of its own: the next value starts another.
        candidates = np.union1d(inner, [low])
        heavy = [tie for tie in candidates if tie < values.max() and (values == tie).sum() * self.bins >= len(values)]
        inner = np.union1d(inner[inner > low], [values[values > tie].min() for tie in heavy])
        if not inner.size:
            inner = np.array([values[values > low].min()])
        return ColumnBins(np.concatenate([[low], inner, [max(high, np.nextafter(inner[-1], np.inf))]]), regular=False)


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Equal-frequency bins whose number follows the number of rows: 2 n^(1/3), at least 2 and at most ``most``.

    The cube root balances the bias of wide bins, which falls with their number, against that of sparse tables, which
    grows with it (the rate of Freedman & Diaconis 1981 for histograms).
    """

    needs_values: ClassVar[bool] = True
    most: int = 256

    def __post_init__(self) -> None:
        _check_count(self.most)

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return equal-frequency bins, as many as the rows support."""
        return self.of_rows(len(values)).column_bins(values, low, high)

    def of_rows(self, n: int) -> EqualFrequency:
        """Return as many equal-frequency bins as n rows support."""
        return EqualFrequency(int(np.clip(round(2 * n ** (1 / 3)), 2, self.most)))


@dataclass(frozen=True, slots=True)
class Edges:
    """Explicit edges, the same for every continuous column; a value outside them is an error.

    Parameters
    ----------
    edges : sequence of float
        Increasing; b + 1 edges make b bins, the last one closed.
    """

    needs_values: ClassVar[bool] = False
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        edges = real_numbers(self.edges, "bins", "increasing edges")
        if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
            raise InputError("bins", f"expected at least 2 increasing finite edges, got {quoted(self.edges)}")
        object.__setattr__(self, "edges", tuple(float(edge) for edge in edges))

    def column_bins(self, values: NDArray[np.float64], low: float, high: float) -> ColumnBins:
        """Return the given edges.

        Raises
        ------
        InputError
            If a value lies outside them.
        """
        if low < self.edges[0] or high > self.edges[-1]:
            raise InputError(
                "bins",
                f"values from {low:g} to {high:g} do not lie within the edges "
                f"{self.edges[0]:g} to {self.edges[-1]:g}; widen the edges",
            )
        return ColumnBins(np.asarray(self.edges), regular=False)


def cut(values: NDArray[np.floating], bins: ColumnBins, kind: Any = np.intp) -> NDArray[Any]:
    """Return the bin of each value, from 0; NaN (a missing annotation) gets the index ``n_bins``.

    Parameters
    ----------
    values : array of shape (n,)
        Those beyond the outer edges, as true values may be where annotations never go so far, are of the outer bins.
    kind : type of whole numbers
        Which holds ``n_bins``.

    Examples
    --------
    >>> cut(np.array([0.0, 0.24, 0.5, 1.0]), EqualWidth(4).column_bins(np.empty(0), 0.0, 1.0)).tolist()
    [0, 0, 2, 3]
    >>> cut(np.array([-3.0, 1e300]), EqualWidth(4).column_bins(np.empty(0), 0.0, 1.0)).tolist()
    [0, 3]
    """
    n_bins, incomplete = bins.n_bins, True
    values = np.asarray(values, dtype=np.float64)
    if n_bins == 1:
        index = np.zeros(len(values), dtype=kind)
    elif bins.regular:
        low, high = bins.edges[0], bins.edges[-1]
        position = values - low
        position /= high - low
        position += EDGE_TOLERANCE
        position *= n_bins
        np.clip(position, 0, n_bins - 1, out=position)
        incomplete = bool(np.isnan(position.sum()))  # read once where nothing is missing
        with np.errstate(invalid="ignore"):
            index = position.astype(kind)
    else:
        index = np.searchsorted(bins.edges[1:-1], values, side="right").astype(kind, copy=False)
    if incomplete:
        index[np.isnan(values)] = n_bins
    return index


def _check_count(bins: object) -> None:
    if not isinstance(bins, int | np.integer) or isinstance(bins, bool) or not 2 <= bins <= MAX_BINS:
        raise InputError("bins", f"expected a whole number from 2 to {MAX_BINS}, got {quoted(bins)}")
