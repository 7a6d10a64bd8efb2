"""Nearest-neighbour information of several columns together: Ross and Kraskov, distances by the largest column.

The estimates of :mod:`demele.estimation.knn` with vectors instead of numbers. Counts and distances are defined in the
same way, and a single column gives the same numbers. With more columns, the nearest neighbour is farther away, and both
estimates are lower.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.estimation.knn_distances import jittered, mean_digamma

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


def ross_of_vectors(columns: FloatArray, labels: IntArray, n_neighbors: int) -> float:
    """Return what :func:`demele.estimation.knn.ross_information` does, of columns (n_samples, n_columns) together."""
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    sizes = np.bincount(labels)
    shared = sizes[labels] > 1
    columns, labels = columns[shared], labels[shared]
    if not len(labels):
        return np.nan
    radii, neighbours = np.empty(len(labels)), np.empty(len(labels))
    for label in np.flatnonzero(sizes > 1):
        own = np.flatnonzero(labels == label)
        neighbours[own] = k = min(n_neighbors, len(own) - 1)
        radii[own] = cKDTree(columns[own]).query(columns[own], k=[k + 1], p=np.inf)[0][:, 0]
    closer = _within(columns, np.nextafter(radii, 0))
    of_labels = digamma(neighbours) - digamma(sizes[labels])
    return float(digamma(len(labels)) + of_labels.mean() - mean_digamma(closer))


def ksg_of_vectors(columns: FloatArray, target: FloatArray, n_neighbors: int) -> float:
    """Return what :func:`demele.estimation.knn.ksg_information` does, of columns (n_samples, n_columns) together.

    Raises
    ------
    NotEnoughData
        With `n_neighbors` samples or fewer.
    """
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    if len(target) <= n_neighbors:
        raise NotEnoughData(
            f"codes, factors: n_neighbors={n_neighbors} needs at least {n_neighbors + 1} samples, got {len(target)};"
            " give more samples or lower n_neighbors"
        )
    whole = np.column_stack([columns, target])
    radii = np.nextafter(cKDTree(whole).query(whole, k=[n_neighbors + 1], p=np.inf)[0][:, 0], 0)
    margins = (mean_digamma(_within(own, radii)) for own in (columns, target[:, None]))
    return float(digamma(len(target)) + digamma(n_neighbors) - sum(margins))


def _within(points: FloatArray, radii: FloatArray) -> IntArray:
    """Count the points at most a radius away from each, itself among them."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points).query_ball_point(points, radii, p=np.inf, return_length=True))


def knn_vector_information(
    codes: FloatArray,
    groups: Sequence[Sequence[int]],
    factors: Sequence[tuple[bool, NDArray[Any]]],
    *,
    n_neighbors: int,
    jitter_seed: int,
) -> FloatArray:
    """Return the information of groups of columns with every factor, nats, (n_groups, n_factors), at least 0.

    Scaled, and parted by noise, as :func:`demele.estimation.knn.knn_information_matrix` does it with the columns.

    Examples
    --------
    >>> angle = np.arange(800) % 8 * np.pi / 4
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> labels = (True, np.arange(800) % 8)  # log 8 = 2.08; either column alone tells 1.56
    >>> knn_vector_information(circle, [(0, 1)], [labels], n_neighbors=3, jitter_seed=0).round(2)
    array([[2.08]])
    """
    from sklearn.utils import check_random_state

    stream = check_random_state(jitter_seed)
    codes = jittered(codes.astype(np.float64), stream.standard_normal(codes.shape))
    noise = stream.standard_normal(len(codes))
    found = np.empty((len(groups), len(factors)))
    for i, (categorical, values) in enumerate(factors):
        target = None if categorical else jittered(values.astype(np.float64), noise)
        for place, columns in enumerate(groups):
            own = codes[:, list(columns)]
            if target is None:
                found[place, i] = ross_of_vectors(own, values.astype(np.intp), n_neighbors)
            else:
                found[place, i] = ksg_of_vectors(own, target, n_neighbors)
    return np.maximum(found, 0.0)
