"""Distances to nearest neighbours on a line and in a plane, and how many points lie within them."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


Distances = Literal["scikit-learn", "direct"]


#: Standard deviation of scikit-learn's noise, relative to max(1, mean magnitude) of a column of unit variance.
_JITTER = 1e-10


#: Samples that are counted at a time.
_BLOCK = 8192


def jittered(columns: FloatArray, noise: FloatArray | None) -> FloatArray:
    """Scale as scikit-learn does, to the bit, then add its noise."""
    from sklearn.preprocessing import scale

    if columns.ndim == 2:
        # scikit-learn selects the continuous columns by a mask. The memory layout of what that returns decides the
        # order in which NumPy adds up, hence the last bit of the standard deviations.
        columns = columns[:, np.ones(columns.shape[1], bool)]
    scaled: FloatArray = scale(columns, with_mean=False)
    if noise is None:
        return scaled
    scaled += _JITTER * np.maximum(1, np.mean(np.abs(scaled), axis=0)) * noise
    return scaled


def ross(ranked: FloatArray, labels: IntArray, n_neighbors: int, distances: Distances) -> float:
    """Ross's estimate for one code in increasing order and the labels in that order."""
    from scipy.special import digamma

    sizes = np.bincount(labels)
    if (sizes == 1).any():
        shared = sizes[labels] > 1
        ranked, labels = ranked[shared], labels[shared]
    sizes = sizes[sizes > 1]
    if not len(ranked):
        return np.nan
    by_label = np.argsort(labels, kind="stable")  # stable: inside a label the code still increases
    radii = np.empty_like(ranked)
    radii[by_label] = np.nextafter(_kth_distances(ranked[by_label], sizes, n_neighbors, distances), 0)
    closer = _count_within(ranked, radii)
    per_label = digamma(np.minimum(n_neighbors, sizes - 1)) - digamma(sizes)
    return float(digamma(len(ranked)) + sizes @ per_label / len(ranked) - mean_digamma(closer))


def _kth_distances(grouped: FloatArray, sizes: IntArray, n_neighbors: int, distances: Distances) -> FloatArray:
    """Distance of each value to its k-th neighbour in its group; groups are consecutive, each in increasing order."""
    kth = np.empty_like(grouped)
    small = sizes <= 2 * n_neighbors + 1
    in_large = np.repeat(~small, sizes)
    kth[in_large] = _kth_in_large_groups(grouped[in_large], sizes[~small], n_neighbors)
    for size in np.unique(sizes[small]):
        here = np.repeat(sizes == size, sizes)
        tables = _pair_distances(grouped[here].reshape(-1, size), distances)
        position = min(n_neighbors, size - 1)  # position 0 is the value itself
        kth[here] = np.partition(tables, position, axis=-1)[..., position].ravel()
    return kth


def _kth_in_large_groups(grouped: FloatArray, sizes: IntArray, n_neighbors: int) -> FloatArray:
    """Smallest reach, over the windows of k + 1 consecutive values that hold a value, of that window from the value."""
    kth = np.full_like(grouped, np.inf)
    group = np.repeat(np.arange(len(sizes)), sizes)
    one_group = group[:-n_neighbors] == group[n_neighbors:]
    first, last = grouped[:-n_neighbors], grouped[n_neighbors:]
    before, after = np.empty_like(first), np.empty_like(first)
    for place in range(n_neighbors + 1):
        windows = slice(place, place + len(first))
        np.subtract(grouped[windows], first, out=before)
        np.subtract(last, grouped[windows], out=after)
        reach = np.maximum(before, after, out=before)
        np.minimum(kth[windows], reach, out=kth[windows], where=one_group)
    return kth


def _pair_distances(rows: FloatArray, distances: Distances) -> FloatArray:
    """Distances between all values of each row, (n_rows, size, size)."""
    one, other = rows[:, :, None], rows[:, None, :]
    if distances == "direct":
        return np.abs(one - other)
    # The order of the operations is scikit-learn's: the rounding is to be the same.
    squares = one * one - 2.0 * (one * other) + other * other
    return np.sqrt(np.maximum(squares, 0.0))


def ksg(x: FloatArray, x_order: IntArray, y: FloatArray, y_order: IntArray, n_neighbors: int) -> float:
    """Kraskov's estimate, given what sorts each variable."""
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    if len(x) <= n_neighbors:
        raise NotEnoughData(
            f"codes, factors: n_neighbors={n_neighbors} needs at least {n_neighbors + 1} samples, got {len(x)};"
            " give more samples or lower n_neighbors"
        )
    plane = np.column_stack([x, y])
    tree = cKDTree(plane, compact_nodes=False, balanced_tree=False)
    radii = np.empty(len(x))
    nearby = tree.indices  # samples in the order of the leaves: neighbours in turn, warm in the cache
    kth = tree.query(plane[nearby], k=[n_neighbors + 1], p=np.inf)[0]  # the first neighbour is the sample itself
    radii[nearby] = np.nextafter(kth[:, 0], 0)
    information = digamma(len(x)) + digamma(n_neighbors)
    for values, order in ((x, x_order), (y, y_order)):
        ranked = values[order]
        information -= mean_digamma(_count_within(ranked, radii[order]))
    return float(information)


def _count_within(ranked: FloatArray, radii: FloatArray) -> IntArray:
    """Count the values at most a radius away from each value: ``abs(other - value) <= radius`` in floating point."""
    counts = np.empty(len(ranked), np.intp)
    mirrored = -ranked[::-1]
    # Blocks that fit in the cache: twice as fast as arrays of full length.
    for start in range(0, len(ranked), _BLOCK):
        block = slice(start, start + _BLOCK)
        centres, reach = ranked[block], radii[block]
        to_the_right = _count_up_to(ranked, centres, reach)
        counts[block] = to_the_right + _count_up_to(mirrored, -centres, reach) - len(ranked)
    return counts


def _count_up_to(ranked: FloatArray, centres: FloatArray, radii: FloatArray) -> IntArray:
    """Count the values with ``value - centre <= radius``, a test that the increasing values pass up to some point."""
    counts = np.searchsorted(ranked, centres + radii)
    # The sum rounds otherwise than the difference. Where the count is off, search again with the difference itself.
    # At either end of `ranked` there is nothing to compare with; such a count may be searched in vain.
    last = len(ranked) - 1
    inside = ranked[counts - 1] - centres <= radii
    outside = (ranked[np.minimum(counts, last)] - centres > radii) | (counts > last)
    doubtful = np.flatnonzero(~(inside & outside))
    if len(doubtful):
        counts[doubtful] = _bisect_up_to(ranked, centres[doubtful], radii[doubtful])
    return counts


def _bisect_up_to(ranked: FloatArray, centres: FloatArray, radii: FloatArray) -> IntArray:
    low = np.zeros(len(centres), np.intp)
    high = np.full(len(centres), len(ranked))
    while (low < high).any():
        middle = (low + high) // 2
        # Where the search has ended, middle == high may be one past the end; low stays what it is.
        passes = (ranked[np.minimum(middle, len(ranked) - 1)] - centres <= radii) & (middle < high)
        low = np.where(passes, middle + 1, low)
        high = np.where(passes, high, middle)
    return low


def mean_digamma(counts: IntArray) -> float:
    """Mean of the digamma function over positive integers, which repeat much: from a table."""
    from scipy.special import digamma

    table = digamma(np.arange(1.0, counts.max() + 1.0))
    return float(table[counts - 1].mean())
