"""The shallow regression trees of one boosting stage, one per class, all classes at once (Friedman 2001).

From sums over at most 256 bins per code, or over its distinct values; codes enter through their ranks only.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.estimation.presorted_codes import Presorted, hold_freed_memory
from demele.estimation.trees import TIE

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Places = NDArray[np.unsignedinteger[Any]]


#: Bins per code in boosting, unless another number is asked for.
MAX_BINS = 256


class Bins:
    """Codes cut into at most `max_bins` bins of about as many rows each, and sums over the bins.

    Without `max_bins` every distinct value is a bin: all splits that there are, at a cost that grows with the rows.

    Attributes
    ----------
    cuts : list of (n_bins_f - 1,) intp
        For each code, the last rank of every bin but the last.
    binned : (n_codes, n_rows) unsigned int
        Bin of every row.
    counts : (n_codes, n_bins) float64
        Rows in every bin; codes with fewer bins than others end with empty ones.
    """

    def __init__(self, presorted: Presorted, max_bins: int | None = MAX_BINS) -> None:
        from scipy.sparse import csc_array

        hold_freed_memory()
        lines = zip(presorted.order, presorted.rank, strict=True)
        self.cuts = [_cuts(rank[order], max_bins) for order, rank in lines]
        self.binned = self.apply(presorted.rank)
        n_codes, n_rows = self.binned.shape
        n_bins = max(len(cut) for cut in self.cuts) + 1
        self._cells = self.binned.T + np.arange(n_codes) * n_bins  # (n_rows, n_codes)
        cells = self._cells.reshape(-1)
        begins = np.arange(n_rows + 1) * n_codes
        self._indicators = csc_array((np.ones(cells.size), cells, begins), shape=(n_codes * n_bins, n_rows))
        self.counts = np.bincount(cells, minlength=n_codes * n_bins).astype(np.float64).reshape(n_codes, n_bins)

    def apply(self, rank: Ints) -> Places:
        """Bins of rows, from their ranks (n_codes, n_rows)."""
        lines = [np.searchsorted(cut, line) for cut, line in zip(self.cuts, rank, strict=True)]
        return np.stack(lines).astype(np.min_scalar_type(max(len(cut) for cut in self.cuts)))

    def sums(self, residual: Floats) -> Floats:
        """Sum residuals (n_outputs, n_rows) over every bin: (1, n_outputs, n_codes, n_bins)."""
        flat: Floats = self._indicators @ np.ascontiguousarray(residual.T)
        return np.ascontiguousarray(flat.T).reshape(1, len(residual), *self.counts.shape)

    def left_sums(self, residual: Floats, place: NDArray[np.uint8], n_nodes: int) -> tuple[Floats, Floats]:
        """Sum residuals (n_outputs, n_rows), and count rows, over every bin of the left children of some nodes.

        ``place`` holds the child of each row and output: of node i, 2 i to the left and 2 i + 1 to the right. Returns
        two arrays (n_nodes, n_outputs, n_codes, n_bins).
        """
        n_outputs, n_rows = residual.shape
        shape = (n_nodes, n_outputs, *self.counts.shape)
        if n_outputs == 1:  # each row is in one node: half of the rows are looked at, once for all nodes
            rows = np.flatnonzero((place[0] & 1) == 0)
            cells = self._cells[rows]
            cells += place[0, rows, None].astype(np.intp) // 2 * self.counts.size
            flat, size = cells.reshape(-1), n_nodes * self.counts.size
            sums = np.bincount(flat, weights=np.repeat(residual[0, rows], len(self.counts)), minlength=size)
            counts = np.bincount(flat, minlength=size)
            return sums.astype(np.float64).reshape(shape), counts.astype(np.float64).reshape(shape)
        in_left = np.ascontiguousarray(place.T)[:, None, :] == 2 * np.arange(n_nodes, dtype=np.uint8)[:, None]
        both = np.empty((n_rows, 2, n_nodes, n_outputs))
        np.multiply(np.ascontiguousarray(residual.T)[:, None, :], in_left, out=both[:, 0])
        both[:, 1] = in_left
        lines: Floats = np.ascontiguousarray((self._indicators @ both.reshape(n_rows, -1)).T)
        left, counted = lines.reshape(2, *shape)
        return left, counted


def _cuts(ordered: Ints, max_bins: int | None) -> Ints:
    """Ranks half way between neighbours of different rank: all such places, or the nearest to equal shares of rows."""
    last = np.flatnonzero(ordered[1:] > ordered[:-1])
    if max_bins is not None and len(last) >= max_bins:
        wanted = np.arange(1, max_bins) * len(ordered) // max_bins - 1
        last = last[np.unique(np.searchsorted(last, wanted).clip(max=len(last) - 1))]
    return (ordered[last] + ordered[last + 1]) // 2


@dataclass(frozen=True, slots=True)
class StageTrees:
    """The trees of one boosting stage, one per output; the children of node i are 2 i + 1 and 2 i + 2.

    Attributes
    ----------
    feature, last_bin : (n_outputs, n_inner) intp
        Code that splits the node, and the last of its bins that goes left.
    decrease : (n_outputs, n_inner) float64
        Decrease of the sum of squares; 0 where no split serves, and all rows go left.
    """

    feature: Ints
    last_bin: Ints
    decrease: Floats

    @property
    def depth(self) -> int:
        """Splits on every path."""
        return int(self.feature.shape[1]).bit_length()

    def leaves(self, binned: Places) -> NDArray[np.uint8]:
        """Leaf (0, 1, ...) that every row reaches in every tree: (n_outputs, n_rows)."""
        place = np.zeros((len(self.feature), binned.shape[1]), dtype=np.uint8)
        for depth in range(self.depth):
            place = self.children(binned, place, depth)
        return place

    def children(self, binned: Places, place: NDArray[np.uint8], depth: int) -> NDArray[np.uint8]:
        """Places (0, 1, ... from left to right) in the next level, from those in the level at a depth."""
        below = 2 * place
        for output, line in enumerate(place):
            for here in range(2**depth):
                node = 2**depth - 1 + here
                right = binned[self.feature[output, node]] > int(self.last_bin[output, node])
                if depth:
                    right &= line == here
                below[output] |= right.view(np.uint8)
        return below


def boosted_stage(
    bins: Bins, residual: Floats, *, max_depth: int, rng: np.random.Generator
) -> tuple[StageTrees, NDArray[np.uint8]]:
    """Fit one shallow regression tree to each line of residuals, all at once.

    Parameters
    ----------
    residual : (n_outputs, n_rows) float64
    max_depth : int from 1 to 7
    rng : numpy.random.Generator
        Breaks ties between codes.

    Returns
    -------
    trees : StageTrees
    leaf : (n_outputs, n_rows) uint8
        Leaf of every row of `bins`.

    Notes
    -----
    The split maximises ``n_l n_r / n * (mean_l - mean_r)**2`` (the variance criterion; Friedman's improvement score
    ranks the splits of a node in the same order). Bins are summed for left children only; right children get the
    difference. Cost: O(n_rows * n_codes * n_outputs * 2**max_depth).
    """
    n_outputs = len(residual)
    shape = (n_outputs, 2**max_depth - 1)
    trees = StageTrees(np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.intp), np.zeros(shape))
    place = np.zeros(residual.shape, dtype=np.uint8)
    sums = bins.sums(residual)
    counts = np.broadcast_to(bins.counts, sums.shape)
    for depth in range(max_depth):
        level = slice(2**depth - 1, 2 ** (depth + 1) - 1)
        for table, found in zip(
            (trees.feature, trees.last_bin, trees.decrease), _best_bins(sums, counts, rng), strict=True
        ):
            table[:, level] = found.T
        place = trees.children(bins.binned, place, depth)
        if depth + 1 < max_depth:
            left, counts_left = bins.left_sums(residual, place, 2**depth)
            sums, counts = _with_right(sums, left), _with_right(counts, counts_left)
    return trees, place


def _with_right(parent: Floats, left: Floats) -> Floats:
    """Left and right children in turn, along the axis of nodes."""
    both = np.empty((2 * len(left), *left.shape[1:]))
    both[0::2] = left
    np.subtract(parent, left, out=both[1::2])
    return both


def _best_bins(sums: Floats, counts: Floats, rng: np.random.Generator) -> tuple[Ints, Ints, Floats]:
    """Code, last bin on the left and decrease of the best split of every node and output."""
    n_nodes, n_outputs, n_codes, n_bins = sums.shape
    in_left = counts.cumsum(axis=3)
    total = in_left[:, :, :1, -1:]
    quality = sums.cumsum(axis=3)
    quality -= in_left * (quality[:, :, :1, -1:] / np.maximum(total, 1.0))
    quality *= quality
    quality *= total
    in_right = total - in_left
    in_right *= in_left
    quality /= np.maximum(in_right, 1.0)
    np.copyto(quality, -1.0, where=in_right == 0)  # rows on one side only: no split
    best = quality.max(axis=3)
    turn = rng.random((n_codes, n_nodes, n_outputs)).transpose(1, 2, 0)
    feature = np.where(best >= best.max(axis=2, keepdims=True) * (1 - TIE), turn, -1.0).argmax(axis=2)
    lane = feature + np.arange(n_nodes * n_outputs).reshape(n_nodes, n_outputs) * n_codes
    last_bin = quality.reshape(-1, n_bins)[lane].argmax(axis=2)
    decrease = best.reshape(-1)[lane]
    useful = decrease > 0
    return feature, np.where(useful, last_bin, n_bins), np.where(useful, decrease, 0.0)
