"""What mutual information independent columns have: its expectation in closed form, an expansion, and a limit."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Rows for each cell, and rows times tables, from which the expectation is taken from cells as Poisson counts: a few
#: percent off at most, and quick where exact sums take long.
ROWS_PER_CELL, MOST_SUMMED = 20, 500_000


def expected_information(table: Array) -> Array:
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


def _of_cells(a: NDArray[np.int64], b: NDArray[np.int64], n: int) -> Array:
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


def information_by_chance(table: Array, level: float, n_cells: int) -> tuple[Array, Array]:
    """Return what the information of independent columns is: its mean, and a limit that it seldom exceeds.

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
        mean = _expansion(table, n)
    else:
        mean = expected_information(table)
    known = np.maximum(degrees, 1.0)
    return mean, np.where(degrees > 0, mean * chdtri(known, level / max(n_cells, 1)) / known, 0.0)


def _expansion(table: Array, n: Array) -> Array:
    """Return about the expected information: each cell as a Poisson count, less of it the fuller its row and column."""
    size = n[..., None, None]
    rows, columns = table.sum(axis=-1)[..., :, None], table.sum(axis=-2)[..., None, :]
    free = (1 - rows / size) * (1 - columns / size)
    return np.asarray((_of_poisson(rows * columns / size) * free).sum(axis=(-2, -1)) / n)


def _of_poisson(mean: Array) -> Array:
    """Return E[x log(x / mean)] of Poisson counts: 1/2 for large means, 0 at 0."""
    logs, known = _poisson_values()
    large = np.maximum(mean, 1.0)
    series = 0.5 + 1 / (12 * large) + 1 / (12 * large**2)
    return np.where(mean > 30, series, np.interp(np.log(np.maximum(mean, 1e-9)), logs, known, left=0.0))


@cache
def _poisson_values() -> tuple[Array, Array]:
    """Return logarithms of means up to 30, and E[x log(x / mean)] at each."""
    from scipy.special import gammaln, xlogy

    grid = np.geomspace(1e-6, 30, 400)
    counts = np.arange(1, 120)[:, None]
    weights = np.exp(xlogy(counts, grid) - grid - gammaln(counts + 1))
    return np.log(grid), (weights * counts * np.log(counts / grid)).sum(axis=0)
