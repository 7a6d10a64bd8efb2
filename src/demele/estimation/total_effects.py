r"""Total effects of factors on codes: the part of a code's variance that is left while one factor alone varies.

.. math:: T_{ij} = E[\mathrm{Var}(z_j | v_{-i})] / \mathrm{Var}(z_j)

the total-effect (Sobol) index of factor i on code j (Homma & Saltelli 1996), from sums of the codes in the cells of the
other factors. Factors arrive as integer levels from 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.estimation.cells import FactorCells, summarise_cells
from demele.estimation.moments import FloatArray

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TotalEffects:
    """Total effects, and the number of rows that they use.

    Attributes
    ----------
    effect : array of shape (n_codes, n_factors)
        NaN for constant codes, and for a factor that no two rows differ in alone.
    cells : array of int of shape (n_factors,)
        Cells of the other factors that hold two rows or more.
    rows : array of int of shape (n_factors,)
        Rows in these cells; a row alone in its cell tells nothing of the effect.
    n : int
        Rows in all.
    """

    effect: FloatArray
    cells: Ints
    rows: Ints
    n: int


def is_grid(cells: FactorCells) -> bool:
    """Whether all combinations of the levels that occur are there, equally often: rows of a design, not a sample."""
    occurring = [len(np.unique(line)) for line in cells.levels]
    return len(cells.count) == int(np.prod(occurring)) and bool((cells.count == cells.count[0]).all())


def total_effects(cells: FactorCells, *, unbiased: bool) -> TotalEffects:
    """Return the total effects of all factors on all codes.

    Parameters
    ----------
    cells : FactorCells
        With codes that have a mean near 0 in their unit: squares are taken about the reference.
    unbiased : bool
        Whether variances within cells have divisor n - 1. Of rows drawn at random, those with divisor n are too small
        by the share of cells among the rows; of a complete grid of K levels they are exact, and the others too large,
        by K / (K - 1).

    Returns
    -------
    TotalEffects
        With effects in [0, 1], but for the unbiased ones, which may be larger.

    Examples
    --------
    >>> grid = np.array([(a, b) for a in range(4) for b in range(4)])
    >>> codes = np.column_stack([grid[:, 0], grid.sum(axis=1)])
    >>> total_effects(summarise_cells(codes, list(grid.T), [4, 4]), unbiased=False).effect
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    moments, m = cells.moments, len(cells.sizes)
    all_squares = moments.squares - moments.total**2 / moments.n
    effect = np.full((len(moments.total), m), np.nan)
    n_cells, n_rows = np.zeros(m, dtype=np.intp), np.zeros(m, dtype=np.intp)
    for i in range(m):
        others = cells.partition([k for k in range(m) if k != i])
        count = others.sum(cells.count)
        means = np.stack([others.sum(line) for line in cells.total]) / count
        within = moments.squares - (count * means**2).sum(axis=1)
        shared = count >= 2
        n_cells[i], n_rows[i] = shared.sum(), count[shared].sum()
        freedom = n_rows[i] - (n_cells[i] if unbiased else 0)
        if freedom > 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                effect[:, i] = np.maximum(within, 0.0) / freedom / (all_squares / moments.n)
    effect[moments.constant] = np.nan
    # a code that does not vary in the cells leaves the rounding of its squares
    effect[effect < 1e-12] = 0.0
    return TotalEffects(effect, n_cells, n_rows, moments.n)


def correlation_effects(codes: FloatArray, labels: Ints, n_levels: list[int]) -> TotalEffects:
    r"""Return 1 - |r|, r being the correlation of a code's values over pairs of rows that differ in one factor alone.

    Published stand-in for the total effect. A code that is a factor of K levels has
    :math:`r = -1 / (K - 1)`, since no pair has equal values, so that its effect is :math:`1 - 1 / (K - 1)` and not 1.

    Parameters
    ----------
    codes : array of shape (n_samples, n_codes)
    labels : array of int of shape (n_samples, n_factors)
        Levels from 0.
    n_levels : list of int

    Notes
    -----
    Of all pairs, not of drawn ones: sums over pairs of a cell of the other factors are those of all its rows less those
    of each level.
    """
    d = codes.shape[1]
    cells = summarise_cells(np.hstack([codes, codes**2]), list(labels.T), n_levels)
    # sums about the reference of the summary, moved back to the codes as they are
    sums = cells.total + cells.moments.reference[:, None] * cells.count
    return correlations_of_sums(cells, sums[:d], sums[d:])


def correlations_of_sums(cells: FactorCells, first: FloatArray, second: FloatArray) -> TotalEffects:
    """Return what :func:`correlation_effects` does, from sums of codes and of their squares in cells.

    Parameters
    ----------
    cells : FactorCells
        Source of levels, counts and constant codes.
    first, second : arrays of shape (n_codes, n_cells)
        Sums of the codes, in their unit and with a mean near 0, and of their squares.
    """
    m, d = len(cells.sizes), len(first)
    effect = np.full((d, m), np.nan)
    n_cells, n_rows = (np.zeros(m, dtype=np.intp) for _ in range(2))
    for i in range(m):
        others = cells.partition([k for k in range(m) if k != i])
        whole = others.sum(cells.count)
        partners = whole[others.group] - cells.count  # of each row of a combination
        pairs = float((cells.count * partners).sum())
        shared = others.sum(partners) > 0
        n_cells[i], n_rows[i] = shared.sum(), whole[shared].sum()
        if not pairs:
            continue
        mean = (first * partners).sum(axis=1) / pairs
        square = (second * partners).sum(axis=1) / pairs - mean**2
        of_cells = np.stack([others.sum(line) for line in first])
        product = ((of_cells**2).sum(axis=1) - (first**2).sum(axis=1)) / pairs - mean**2
        with np.errstate(divide="ignore", invalid="ignore"):
            # a code that is the same in all pairs correlates with itself
            effect[:, i] = np.where(square > 1e-12, 1.0 - np.abs(product / square), 0.0)
    effect[cells.moments.constant[:d]] = np.nan
    return TotalEffects(np.clip(effect, 0.0, 1.0), n_cells, n_rows, int(cells.count.sum()))
