"""Entropy and mutual information from counts, with bias corrections, in nats; and what is read off tables of them."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from demele.core.arrays import Array, Counts, Flags, Floats, Rows
from demele.estimation.counts import JointCounts

Correction = Literal["none", "miller-madow", "adjusted"]


@dataclass(frozen=True, slots=True)
class InformationTable:
    """What every information-based metric is computed from. Leading axes are resamples.

    Attributes
    ----------
    information : array of shape (..., n_codes, n_factors)
        Mutual information of each code and each factor.
    factor_entropy : array of shape (..., n_factors)
    joint_entropy : array of shape (..., n_codes, n_factors) or None
        None where the estimator has none.
    factor_information : array of shape (..., n_factors, n_factors) or None
        Mutual information of factors, their entropies on the diagonal.
    code_bins : array of shape (n_codes,) or None
        Number of bins of each code.
    statistic, freedom : arrays of shape (..., n_codes, n_factors) or None
        2 n times the plug-in information, and (occupied bins - 1) (occupied values - 1): of independent ones the first
        follows a chi-squared distribution with so many degrees of freedom. None where nothing is counted.
    counts : JointCounts or None
        What the informations were counted from; None where it is not kept.
    floor : float
        Informations up to it (nats) are those of independent ones, where nothing is counted.
    code_range : array of shape (n_codes,) or None
        Largest minus smallest value of each code, where known.
    """

    information: Floats
    factor_entropy: Floats
    joint_entropy: Floats | None = None
    factor_information: Floats | None = None
    code_bins: Rows | None = None
    statistic: Floats | None = None
    freedom: Floats | None = None
    counts: JointCounts | None = None
    floor: float = 0.0
    code_range: Floats | None = None


def entropy(counts: Floats, correction: Correction = "none") -> Floats:
    """Entropy of counts along the last axis, in nats.

    Parameters
    ----------
    counts : array of shape (..., n_values), >= 0
        As in :func:`mutual_information`.
    correction : {"none", "miller-madow", "adjusted"}
        Miller-Madow adds (occupied values - 1) / 2n (Miller 1955).

    Examples
    --------
    >>> bool(np.isclose(entropy(np.array([5.0, 5.0])), np.log(2)))
    True
    """
    n = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        plug_in = np.log(n) - n_log_n(counts).sum(axis=-1) / n
    plug_in = np.maximum(plug_in, 0.0)
    if correction == "miller-madow":
        plug_in = plug_in + ((counts > 0).sum(axis=-1) - 1) / (2 * n)
    return np.asarray(plug_in)


def mutual_information(table: Floats, correction: Correction = "none") -> Floats:
    """Mutual information of the last two axes of counts, in nats.

    Parameters
    ----------
    table : array of shape (..., n_rows, n_columns), >= 0
        Where errors of annotations were undone, cells may be negative by chance: x ln x is then x ln abs(x).
    correction : {"none", "miller-madow", "adjusted"}
        ``"none"``: plug-in, biased upwards by about (rows - 1)(columns - 1) / 2n.
        ``"miller-madow"``: minus (occupied cells - rows - columns + 1) / 2n; may be slightly negative.
        ``"adjusted"``: H (I - E) / (H - E), E being the expectation of I over tables with the same margins
        (hypergeometric; Vinh, Epps & Bailey 2010) and H the entropy of the columns (the factor): 0 by chance,
        H for a perfect code.

    Examples
    --------
    >>> bool(np.isclose(mutual_information(np.array([[5.0, 0.0], [0.0, 5.0]])), np.log(2)))
    True
    >>> round(float(mutual_information(np.array([[-0.04, 0.44], [0.54, 0.06]]))), 6)
    0.632137
    """
    n = table.sum(axis=(-2, -1))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = n_log_n(table).sum(axis=(-2, -1))
        margins = n_log_n(rows).sum(axis=-1) + n_log_n(columns).sum(axis=-1)
        plug_in = np.maximum(np.log(n) + (cells - margins) / n, 0.0)
    if correction == "miller-madow":
        occupied = (table > 0).sum(axis=(-2, -1)) - (rows > 0).sum(axis=-1) - (columns > 0).sum(axis=-1) + 1
        plug_in = plug_in - occupied / (2 * n)
    if correction == "adjusted":
        chance, height = expected_information(table), entropy(columns)
        with np.errstate(divide="ignore", invalid="ignore"):
            adjusted = height * (plug_in - chance) / (height - chance)
        plug_in = np.where(height - chance > 1e-12, adjusted, 0.0)
    return np.asarray(plug_in)


#: Rows for each cell, and rows times tables, from which the expectation is taken from cells as Poisson counts: a few
#: percent off at most, and quick where exact sums take long.
ROWS_PER_CELL, MOST_SUMMED = 20, 500_000


def expected_information(table: Floats) -> Floats:
    """Return the mean of the plug-in information over all tables with the margins of these (Vinh et al. 2010, eq. 24a).

    Parameters
    ----------
    table : array of shape (..., rows, columns)
        Counts.

    Returns
    -------
    array of shape (...), nats
        0 where a row or a column holds all.

    Examples
    --------
    Of the 6 ways to pair two and two with two and two, 2 give log 2 and 4 give 0.

    >>> bool(abs(expected_information(np.array([[2.0, 0.0], [0.0, 2.0]])) - np.log(2) / 3) < 1e-12)
    True
    """
    counts = np.rint(table).astype(np.int64).reshape(-1, *table.shape[-2:])
    n = counts.sum(axis=(-2, -1))
    rows, columns = np.broadcast_arrays(counts.sum(axis=-1)[:, :, None], counts.sum(axis=-2)[:, None, :])
    expected = np.zeros(len(counts))
    for size in np.unique(n[n > 0]):
        own = np.flatnonzero(n == size)
        low, high = np.minimum(rows[own], columns[own]), np.maximum(rows[own], columns[own])
        pairs, place = np.unique(low * (size + 1) + high, return_inverse=True)
        cells = _of_cells(pairs // (size + 1), pairs % (size + 1), int(size))
        expected[own] = cells[place.reshape(low.shape)].sum(axis=(-2, -1))
    return np.maximum(expected, 0.0).reshape(table.shape[:-2])


#: Terms of the sums over counts of cells that are held in memory at a time.
TERMS = 500_000
#: How many times (standard deviation + 1) counts of a cell lie from their mean, at most: others are too rare to matter.
REACH = 9.0


def _of_cells(a: Counts, b: Counts, n: int) -> Floats:
    """Return the expectation of (x / n) log(n x / (a b)) of cells with these margins, a <= b, x hypergeometric."""
    from scipy.special import gammaln

    found = np.zeros(len(a))
    mean = a * (b / n)
    reach = REACH * (np.sqrt(mean * (1 - a / n) * (1 - b / n) * (n / max(n - 1, 1))) + 1.0)
    first = np.maximum(np.maximum(1, a + b - n), np.floor(mean - reach).astype(np.int64))
    last = np.minimum(a, np.ceil(mean + reach).astype(np.int64))
    used = np.flatnonzero((a > 0) & (b < n) & (last >= first))
    if not len(used):
        return found
    a, b, first, lengths = a[used], b[used], first[used], (last - first + 1)[used]
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    of_margins = log_factorial[a] + log_factorial[b] + log_factorial[n - a] + log_factorial[n - b] - log_factorial[n]
    ends = np.cumsum(lengths)
    blocks = np.flatnonzero(np.diff(np.concatenate([[0], ends]) // TERMS))
    for own in np.split(np.arange(len(used)), blocks):
        if not len(own):
            continue
        size = lengths[own]
        starts = np.cumsum(size) - size
        cell = np.repeat(own, size)
        x = np.arange(int(size.sum())) - np.repeat(starts - first[own], size)
        ways = of_margins[cell] - log_factorial[x] - log_factorial[a[cell] - x] - log_factorial[b[cell] - x]
        ways -= log_factorial[x + (n - a[cell] - b[cell])]
        terms = x * np.log(x * (n / (a[cell] * b[cell].astype(float)))) * np.exp(ways)
        found[used[own]] = np.add.reduceat(terms, starts) / n
    return found


def information_by_chance(table: Floats, level: float, n_cells: int) -> tuple[Floats, Floats]:
    """Return the mean and an upper limit of the mutual information of independent columns.

    Parameters
    ----------
    table : array of shape (n_codes, code bins, factor bins)
        Counts of codes against one factor.
    level : float in (0, 1)
        Probability, about, that any of ``n_cells`` such informations exceeds its limit.
    n_cells : int

    Returns
    -------
    tuple of arrays of shape (n_codes,), nats
        Mean and limit. 2 n I is taken for chi-squared, scaled so that its mean is the expectation.
    """
    from scipy.special import chdtri

    n = np.maximum(table.sum(axis=(-2, -1)), 1.0)
    rows, columns = (np.maximum((table.sum(axis=axis) > 0).sum(axis=-1) - 1, 0) for axis in (-1, -2))
    degrees = (rows * columns).astype(float)
    most = float(n.max(initial=0.0))
    if most * n_cells > MOST_SUMMED or most >= ROWS_PER_CELL * table.shape[-2] * table.shape[-1]:
        size = n[..., None, None]
        rows, columns = table.sum(axis=-1)[..., :, None], table.sum(axis=-2)[..., None, :]
        free = (1 - rows / size) * (1 - columns / size)
        logs, known = _poisson_values()
        counts = rows * columns / size
        large = np.maximum(counts, 1.0)
        series = 0.5 + 1 / (12 * large) + 1 / (12 * large**2)
        small = np.interp(np.log(np.maximum(counts, 1e-9)), logs, known, left=0.0)
        mean = np.asarray((np.where(counts > 30, series, small) * free).sum(axis=(-2, -1)) / n)
    else:
        mean = expected_information(table)
    known = np.maximum(degrees, 1.0)
    return mean, np.where(degrees > 0, mean * chdtri(known, level / max(n_cells, 1)) / known, 0.0)


@cache
def _poisson_values() -> tuple[Floats, Floats]:
    """Return logarithms of means up to 30, and E[x log(x / mean)] of Poisson counts at each; 1/2 for large means."""
    from scipy.special import gammaln, xlogy

    grid = np.geomspace(1e-6, 30, 400)
    counts = np.arange(1, 120)[:, None]
    weights = np.exp(xlogy(counts, grid) - grid - gammaln(counts + 1))
    return np.log(grid), (weights * counts * np.log(counts / grid)).sum(axis=0)


def n_log_n(counts: Floats) -> Floats:
    """Return n log abs(n), 0 of 0."""
    # log of max(count, 1) is 0 where the count is 0; soft counts below 1, and signed ones, need their own logarithm
    if (counts == np.floor(counts)).all() and counts.min(initial=0.0) >= 0:
        logarithms = np.log(np.maximum(counts, 1.0))
    else:
        logarithms = np.log(np.where(counts != 0, np.abs(counts), 1.0))
    return counts * logarithms


def information_table(counts: JointCounts, correction: Correction = "none") -> InformationTable:
    """Return all informations and entropies that the metrics need, from joint counts."""
    information = np.stack([mutual_information(table, correction) for table in counts.tables], axis=-1)
    factor_counts = [table[..., 0, :, :].sum(axis=-2) for table in counts.tables]
    factor_entropy = np.stack([entropy(values, correction) for values in factor_counts], axis=-1)
    code_entropy = np.stack([entropy(table.sum(axis=-1), correction) for table in counts.tables], axis=-1)
    joint = code_entropy + factor_entropy[..., None, :] - information
    between = None
    if counts.factor_tables:
        m = len(counts.tables)
        between = np.zeros((*factor_entropy.shape[:-1], m, m))
        for (i, k), table in counts.factor_tables.items():
            if i == k:
                between[..., i, i] = factor_entropy[..., i]
            else:
                between[..., i, k] = between[..., k, i] = mutual_information(table, correction)
    plug_in = information
    if correction != "none":
        plug_in = np.stack([mutual_information(table) for table in counts.tables], axis=-1)
    rows = np.stack([table.sum(axis=(-2, -1)) for table in counts.tables], axis=-1)
    cells = [
        (np.count_nonzero(table.sum(axis=-1), axis=-1) - 1.0) * (np.count_nonzero(table.sum(axis=-2), axis=-1) - 1.0)
        for table in counts.tables
    ]
    statistic, freedom = 2.0 * rows * plug_in, np.maximum(np.stack(cells, axis=-1), 0.0)
    return InformationTable(information, factor_entropy, joint, between, counts.code_bins, statistic, freedom, counts)


def beyond_chance(table: InformationTable, level: float = 0.05) -> Flags:
    """Say which codes inform on which factors beyond chance: the one rule for codes that count, and for gates.

    Parameters
    ----------
    table : InformationTable
        Of counts, or of nearest neighbours, where informations above its floor are beyond chance.
    level : float in (0, 1)
        Probability, about, that any of the pairs of independent codes and factors is found (Bonferroni).

    Returns
    -------
    array of shape (..., n_codes, n_factors)

    Notes
    -----
    The statistic of a G test is taken for chi-squared, scaled so that its mean is the hypergeometric expectation: on
    its own it is far too large on few rows (of codes of noise in 10 bins, 35 % would pass for a factor of 10 values
    and 100 or 200 rows). Where no counts are kept, as of sparse codes, it is not scaled.

    Examples
    --------
    >>> counts = np.array([[[9.0, 1.0], [1.0, 9.0]], [[5.0, 5.0], [5.0, 5.0]]])
    >>> beyond_chance(information_table(JointCounts((counts,), {}, np.array([2, 2])))).tolist()
    [[True], [False]]
    """
    from scipy.special import chdtri

    if table.statistic is None or table.freedom is None:
        return np.asarray(table.information > table.floor)
    n_pairs = table.statistic.shape[-1] * table.statistic.shape[-2]
    if table.counts is None:
        limit = chdtri(np.maximum(table.freedom, 1.0), level / n_pairs)
    else:
        tables = table.counts.tables
        limits = [2.0 * one.sum(axis=(-2, -1)) * information_by_chance(one, level, n_pairs)[1] for one in tables]
        limit = np.stack(limits, axis=-1)
    return np.asarray((table.freedom > 0) & (table.statistic > limit))


# Read off a table -----------------------------------------------------------------------------------------------------


def top_two(values: Array, axis: int) -> tuple[Floats, Floats]:
    """Return the largest and the second largest value along an axis.

    With a single entry there is no rival: the second largest is 0. Ties give a gap of 0.

    Examples
    --------
    >>> first, second = top_two(np.array([[3.0, 1.0], [1.0, 1.0]]), axis=0)
    >>> (first - second).tolist()
    [2.0, 0.0]
    """
    if values.shape[axis] == 1:
        first = np.take(values, 0, axis=axis)
        return first, np.zeros_like(first)
    ordered = np.partition(values, (-2, -1), axis=axis)
    return np.take(ordered, -1, axis=axis), np.take(ordered, -2, axis=axis)


#: Informations that differ by less (nats) are equal but for rounding: which of them is met first must not matter.
TIE = 1e-12


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, NaN where the denominator vanishes."""
    safe = np.where(denominator > 1e-12, denominator, np.nan)
    return numerator / safe


def best_other(information: Floats, own: Rows) -> tuple[Floats, Flags]:
    """For each factor, the largest information among the codes that are not its own, and which codes have it.

    With a single code there is no other: 0, and no code has it.
    """
    d, m = information.shape[-2:]
    if d == 1:
        return np.zeros((*information.shape[:-2], m)), np.zeros(information.shape, dtype=bool)
    others = information.copy()
    others[..., own, np.arange(m)] = -np.inf
    largest = others.max(axis=-2)
    return largest, others >= largest[..., None, :] - TIE


def mean_of_defined(values: Floats) -> Floats:
    """Mean along the last axis over the values that are defined; NaN where none is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
