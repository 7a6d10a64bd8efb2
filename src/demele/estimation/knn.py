"""Mutual information from nearest neighbours: Ross (continuous and categorical), Kraskov (both continuous).

Both estimators compare, around each sample, a distance to its k-th neighbour with how many samples lie closer in a
margin. They need no bins, follow the local density, and give the values of scikit-learn's ``mutual_info_classif`` and
``mutual_info_regression``, whose kernels they share; in one dimension sorting replaces the search trees.

What decides the last digits is who is counted. A neighbour is *closer* if the difference of the two floating-point
numbers, rounded as the machine rounds it, is smaller than the distance to the k-th neighbour. Comparing
``x + radius`` with the sample instead rounds elsewhere: it lets the k-th neighbour itself in now and then, and a count
of m that should be m - 1 moves the estimate by 1 / (m N) each time.

Nearest neighbours presuppose that no two samples, and no two distances, are equal. For variables with atoms (ReLU
codes, rounded attributes) the estimates are far too low, down to 0, unless noise too small to matter separates the
samples, as in scikit-learn; `tie_fraction` says how many samples that concerns. The distances of ranks tie too.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from demele.core.arrays import Array, Floats, Integers
from demele.core.errors import NotEnoughData
from demele.estimation.univariate import compact

# Distances to nearest neighbours on a line and in a plane, and how many points lie within them ------------------------

Distances = Literal["scikit-learn", "direct"]


#: Standard deviation of scikit-learn's noise, relative to max(1, mean magnitude) of a column of unit variance.
_JITTER = 1e-10


#: Samples that are counted at a time.
_BLOCK = 8192


def jittered(columns: Floats, noise: Floats) -> Floats:
    """Scale as scikit-learn does, to the bit, then add its noise."""
    from sklearn.preprocessing import scale

    if columns.ndim == 2:
        # scikit-learn selects the continuous columns by a mask. The memory layout of what that returns decides the
        # order in which NumPy adds up, hence the last bit of the standard deviations.
        columns = columns[:, np.ones(columns.shape[1], bool)]
    scaled: Floats = scale(columns, with_mean=False)
    scaled += _JITTER * np.maximum(1, np.mean(np.abs(scaled), axis=0)) * noise
    return scaled


def ross(ranked: Floats, labels: Integers, n_neighbors: int, distances: Distances) -> float:
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
    grouped = ranked[by_label]
    kth = np.empty_like(grouped)
    small = sizes <= 2 * n_neighbors + 1
    in_large = np.repeat(~small, sizes)
    kth[in_large] = _kth_in_large_groups(grouped[in_large], sizes[~small], n_neighbors)
    for size in np.unique(sizes[small]):
        here = np.repeat(sizes == size, sizes)
        tables = _pair_distances(grouped[here].reshape(-1, size), distances)
        position = min(n_neighbors, size - 1)  # position 0 is the value itself
        kth[here] = np.partition(tables, position, axis=-1)[..., position].ravel()
    radii[by_label] = np.nextafter(kth, 0)
    closer = _count_within(ranked, radii)
    per_label = digamma(np.minimum(n_neighbors, sizes - 1)) - digamma(sizes)
    return float(digamma(len(ranked)) + sizes @ per_label / len(ranked) - mean_digamma(closer))


def _kth_in_large_groups(grouped: Floats, sizes: Integers, n_neighbors: int) -> Floats:
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


def _pair_distances(rows: Floats, distances: Distances) -> Floats:
    """Distances between all values of each row, (n_rows, size, size)."""
    one, other = rows[:, :, None], rows[:, None, :]
    if distances == "direct":
        return np.abs(one - other)
    # The order of the operations is scikit-learn's: the rounding is to be the same.
    squares = one * one - 2.0 * (one * other) + other * other
    return np.sqrt(np.maximum(squares, 0.0))


def require_neighbours(n: int, n_neighbors: int) -> None:
    """Refuse samples among which a sample has too few others."""
    if n <= n_neighbors:
        raise NotEnoughData(
            f"codes, factors: n_neighbors={n_neighbors} needs at least {n_neighbors + 1} samples, got {n};"
            " give more samples or lower n_neighbors"
        )


def ksg(x: Floats, x_order: Integers, y: Floats, y_order: Integers, n_neighbors: int) -> float:
    """Kraskov's estimate, given what sorts each variable."""
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    require_neighbours(len(x), n_neighbors)
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


def _count_within(ranked: Floats, radii: Floats) -> Integers:
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


def _count_up_to(ranked: Floats, centres: Floats, radii: Floats) -> Integers:
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


def _bisect_up_to(ranked: Floats, centres: Floats, radii: Floats) -> Integers:
    low = np.zeros(len(centres), np.intp)
    high = np.full(len(centres), len(ranked))
    while (low < high).any():
        middle = (low + high) // 2
        # Where the search has ended, middle == high may be one past the end; low stays what it is.
        passes = (ranked[np.minimum(middle, len(ranked) - 1)] - centres <= radii) & (middle < high)
        low = np.where(passes, middle + 1, low)
        high = np.where(passes, high, middle)
    return low


def mean_digamma(counts: Integers) -> float:
    """Mean of the digamma function over positive integers, which repeat much: from a table."""
    from scipy.special import digamma

    table = digamma(np.arange(1.0, counts.max() + 1.0))
    return float(table[counts - 1].mean())


def ross_information(
    codes: Floats, labels: Integers, *, n_neighbors: int = 3, distances: Distances = "scikit-learn"
) -> Floats:
    r"""Mutual information of each code with a categorical variable, in nats (Ross 2014).

    .. math:: I(z; v) = \psi(N) + \langle\psi(k_i)\rangle - \langle\psi(N_{v_i})\rangle
              - \langle\psi(m_i)\rangle

    where :math:`N_{v_i}` samples have the label of sample i, :math:`k_i = \min(k, N_{v_i} - 1)`, and :math:`m_i`
    samples of any label, i included, are closer to i than its :math:`k_i`-th neighbour among those of its own label.
    Samples whose label occurs once are left out, of N too.

    Parameters
    ----------
    codes : (n_samples, n_codes) array
    labels : (n_samples,) array of int >= 0
        Levels without samples are allowed.
    n_neighbors : int >= 1
        k. Larger values have less variance and more bias.
    distances : {"scikit-learn", "direct"}
        How distances inside a label with at most 2 k + 1 samples are computed. scikit-learn expands the square,
        :math:`x^2 - 2 x y + y^2`, for those; the cancellation (absolute error about :math:`10^{-8} |x|`) decides at
        random whether the k-th neighbour is counted. ``"direct"`` subtracts, as both do for all other labels.

    Returns
    -------
    (n_codes,) array
        At most about the entropy of the labels; slightly negative at times for independent variables (scikit-learn
        replaces that by 0, this function does not). NaN where no label occurs twice.

    Notes
    -----
    O(N log N) per code. The values are those of ``mutual_info_classif`` on the same array, that is after its scaling
    and noise, as `knn_distances.jittered` adds it.

    References
    ----------
    B. C. Ross, "Mutual information between discrete and continuous data sets", PLoS ONE 9(2), e87357, 2014.

    Examples
    --------
    >>> labels = np.repeat([0, 1], 500)
    >>> noise = np.random.default_rng(0).normal(size=(1000, 2))
    >>> codes = noise + labels[:, None] * [9.0, 0.0]  # the first tells the labels apart, the second is noise
    >>> ross_information(codes, labels).round(2)  # log 2 = 0.69
    array([ 0.69, -0.02])
    """
    labels = compact(labels)
    orders = np.argsort(codes, axis=0)
    return np.array(
        [
            ross(code[order], labels[order], n_neighbors, distances)
            for code, order in zip(codes.T, orders.T, strict=True)
        ]
    )


def ksg_information(x: Floats, y: Floats, *, n_neighbors: int = 3) -> float:
    r"""Mutual information of two continuous variables, in nats (Kraskov et al. 2004, first estimator).

    .. math:: I(x; y) = \psi(N) + \psi(k) - \langle\psi(n_x) + \psi(n_y)\rangle

    where :math:`n_x` samples, i included, are closer to sample i along x than its k-th neighbour is in the plane, by
    the larger of the two coordinate distances.

    Parameters
    ----------
    x, y : (n_samples,) arrays
        Their units matter: bring them to one scale (`knn_distances.jittered`) or take ranks.
    n_neighbors : int >= 1
        k.

    Returns
    -------
    float
        Symmetric in x and y; slightly negative at times for independent variables (scikit-learn replaces that by 0).
        If y is a function of x the truth is infinite and the estimate grows with N: of a variable with itself it is
        :math:`\psi(N) - \psi(k)` whatever the distribution. That is not an entropy.

    Raises
    ------
    NotEnoughData
        With `n_neighbors` samples or fewer.

    Notes
    -----
    O(N log N) with a k-d tree of the plane and sorted margins. Many samples that agree in both variables make the tree
    slow; jitter them.

    References
    ----------
    A. Kraskov, H. Stoegbauer, P. Grassberger, "Estimating mutual information", Physical Review E 69, 066138, 2004.

    Examples
    --------
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 2000))
    >>> round(ksg_information(x, 0.8 * x + 0.6 * noise), 2)  # -log(1 - 0.8 ** 2) / 2 = 0.51
    0.51
    """
    return ksg(x, np.argsort(x), y, np.argsort(y), n_neighbors)


def tie_fraction(x: Array) -> float:
    """Share of the samples whose value occurs more than once.

    Above about 0.01, nearest neighbours need jitter, or another estimator.

    Parameters
    ----------
    x : (n_samples,) array

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> tie_fraction(np.array([0.0, 0.0, 0.3, 0.7]))
    0.5
    """
    counts = np.unique(x, return_counts=True)[1]
    return float(counts[counts > 1].sum() / len(x))


def knn_information_matrix(
    codes: Floats,
    factors: Sequence[tuple[bool, Array]],
    *,
    n_neighbors: int = 3,
    jitter_seed: int,
    one_by_one: bool = False,
) -> Floats:
    """Nearest-neighbour mutual information of every code with every factor, in nats.

    These are the numbers of ``mutual_info_classif(codes, factor, random_state=seed)`` for
    a categorical factor and of ``mutual_info_regression`` for a continuous one, hence those of Latte.

    Parameters
    ----------
    codes : (n_samples, n_codes) array
    factors : sequence of (categorical, values)
        ``values`` of shape (n_samples,): int >= 0 if ``categorical``, else numbers.
    n_neighbors : int >= 1
    jitter_seed : int
        Of the noise that breaks ties, as scikit-learn draws it.
    one_by_one : bool, default False
        Whether every code gets the noise that it would get in a call of its own, as for Latte's DLIG. It matters where
        values are tied.

    Returns
    -------
    (n_codes, n_factors) array
        Clipped at 0, as scikit-learn does. Over pure noise the clipped values are positive for about half of the pairs
        and 0 for the others, so ratios of them mean nothing. NaN where no label occurs twice.

    Raises
    ------
    NotEnoughData
        With a continuous factor and `n_neighbors` samples or fewer.

    Examples
    --------
    >>> labels = np.repeat([0, 1, 2], 300)
    >>> angle, noise = np.random.default_rng(0).uniform(size=(2, 900))
    >>> codes = np.column_stack([labels + 0.1 * noise, np.exp(angle) + noise])
    >>> knn_information_matrix(codes, [(True, labels), (False, angle)], jitter_seed=0).round(1)
    array([[1.1, 0. ],
           [0. , 0.8]])
    """
    from sklearn.utils import check_random_state

    stream = check_random_state(jitter_seed)
    noise = stream.standard_normal((len(codes), 1) if one_by_one else codes.shape)
    return _information(
        jittered(codes.astype(np.float64), noise), factors, stream.standard_normal(len(codes)), n_neighbors
    )


def knn_factor_information(
    factors: Sequence[tuple[bool, Array]],
    *,
    n_neighbors: int = 3,
    jitter_seed: int,
) -> Floats:
    """Nearest-neighbour mutual information of every factor with every factor, in nats, as Latte computes it.

    Entry (i, l) is the estimate with factor i as a continuous feature and factor l as the target, categorical or
    continuous: ``mutual_info_classif(v_i[:, None], v_l)`` or ``mutual_info_regression(v_i[:, None], v_l)``. Row and
    column are not exchangeable for categorical factors. On the diagonal stands what Latte takes for the entropy, and
    ``H(v_i | v_l) = matrix[i, i] - matrix[i, l]``.

    .. warning:: For a continuous factor the diagonal is not an entropy. It is about log N - 1.26 for k = 3 whatever
       the distribution, because the truth, the information of a continuous variable about itself, is infinite. Scores
       divided by it fall as N grows. For a categorical factor it approaches the entropy.

    Parameters
    ----------
    factors : sequence of (categorical, values)
        The numbers of a categorical factor are used too (as the feature); order and spacing hardly matter.
    n_neighbors, jitter_seed
        As in `knn_information_matrix`. Categorical factors are never replaced by ranks.

    Returns
    -------
    (n_factors, n_factors) array
        Clipped at 0.

    Examples
    --------
    >>> first = np.arange(400) % 2
    >>> second = np.arange(400) // 2 % 2  # independent of the first
    >>> knn_factor_information([(True, first), (True, second)], jitter_seed=0).round(2)  # log 2 = 0.69
    array([[0.69, 0.  ],
           [0.  , 0.69]])
    """
    from sklearn.utils import check_random_state

    feature_noise, target_noise = check_random_state(jitter_seed).standard_normal((2, len(factors[0][1])))
    features = [jittered(values.astype(np.float64), feature_noise) for _, values in factors]
    return _information(np.column_stack(features), factors, target_noise, n_neighbors)


def _information(
    codes: Floats,
    factors: Sequence[tuple[bool, Array]],
    target_noise: Floats,
    n_neighbors: int,
) -> Floats:
    """Information of codes that are ready with factors that are not yet."""
    matrix = np.empty((codes.shape[1], len(factors)))
    orders = np.argsort(codes, axis=0)  # once for all factors
    for i, (categorical, values) in enumerate(factors):
        sorted_codes = zip(codes.T, orders.T, strict=True)
        if categorical:
            labels = compact(values)
            matrix[:, i] = [ross(code[own], labels[own], n_neighbors, "scikit-learn") for code, own in sorted_codes]
        else:
            target = jittered(values.astype(np.float64), target_noise)
            order = np.argsort(target)
            matrix[:, i] = [ksg(code, own, target, order, n_neighbors) for code, own in sorted_codes]
    return np.maximum(matrix, 0.0)


# Nearest-neighbour information of several columns together ------------------------------------------------------------
#
# The estimates of :mod:`demele.estimation.knn` with vectors instead of numbers. Counts and distances are defined in the
# same way, and a single column gives the same numbers. With more columns, the nearest neighbour is farther away, and
# both estimates are lower.


def ross_of_vectors(columns: Floats, labels: Integers, n_neighbors: int) -> float:
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


def ksg_of_vectors(columns: Floats, target: Floats, n_neighbors: int) -> float:
    """Return what :func:`demele.estimation.knn.ksg_information` does, of columns (n_samples, n_columns) together.

    Raises
    ------
    NotEnoughData
        With `n_neighbors` samples or fewer.
    """
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    require_neighbours(len(target), n_neighbors)
    whole = np.column_stack([columns, target])
    radii = np.nextafter(cKDTree(whole).query(whole, k=[n_neighbors + 1], p=np.inf)[0][:, 0], 0)
    margins = (mean_digamma(_within(own, radii)) for own in (columns, target[:, None]))
    return float(digamma(len(target)) + digamma(n_neighbors) - sum(margins))


def _within(points: Floats, radii: Floats) -> Integers:
    """Count the points at most a radius away from each, itself among them."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points).query_ball_point(points, radii, p=np.inf, return_length=True))


def knn_vector_information(
    codes: Floats,
    groups: Sequence[Sequence[int]],
    factors: Sequence[tuple[bool, Array]],
    *,
    n_neighbors: int,
    jitter_seed: int,
) -> Floats:
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
