"""Shares of the entropy of factors that codes carry, from bins alone, with chance levels.

Everything here works on bin numbers. Bins of equal frequency make it independent of units, tails and any monotone
change of a code. Chance is calibrated on permuted rows: the statistic of a likelihood ratio follows a chi-squared
distribution only where cells are full, so its mean under permutation scales the quantile.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.seeds import rng_for
from demele.estimation.counts import BinnedRows, PackedRows
from demele.estimation.information import entropy, mutual_information, ratio

#: Probability, at most about, with which any code of noise is taken to tell something of any factor.
LEVEL = 1e-4
#: Permutations that calibrate chance.
PERMUTATIONS = 5
#: Codes counted together.
BLOCK = 64
#: Standard errors of a conditional information beyond which it is more than chance.
FAR = 5.0
#: Of what a code tells of a factor, the share that must be its own to be no echo of another factor.
OWN = 0.15


@dataclass(frozen=True, slots=True)
class Held:
    """The share of each factor that each code carries, with chance levels.

    Attributes
    ----------
    share : array of shape (n_codes, n_factors), in [0, 1]
        Mutual information divided by the entropy of the factor, both with Miller-Madow's correction.
    error : array of the same shape
        Standard error of the share.
    detected : array of bool of the same shape
        Whether a code carries more information than chance, all pairs together at :data:`LEVEL`.
    chance : array of shape (n_factors,)
        Largest share of any code in permuted factors, over all permutations.
    detectable : array of shape (n_factors,)
        Share above chance from which a code would have been detected.
    """

    share: Floats
    error: Floats
    detected: NDArray[np.bool_]
    chance: Floats
    detectable: Floats


def held(rows: BinnedRows, *, seed: int = 0) -> Held:
    """Return the share of each factor that each code carries, compared with chance.

    Parameters
    ----------
    rows : BinnedRows
    seed : int
        Random seed of the permutations.

    Examples
    --------
    >>> levels = np.tile([0, 1], 200)
    >>> noise = np.repeat([0, 1], 200)
    >>> both = np.array([2, 2])
    >>> rows = BinnedRows(np.array([levels, noise]), levels[None], both, both[:1], np.array([False]))
    >>> found = held(rows)
    >>> found.share.round(2).tolist(), found.detected.tolist()
    ([[1.0], [0.0]], [[True], [False]])
    """
    d, m = len(rows.code_bins), len(rows.factor_bins)
    share, error, plain, bias = (np.zeros((d, m)) for _ in range(4))
    chance, inflation, heights = np.zeros(m), np.zeros(m), np.ones(m)
    orders = [rng_for(seed, "verdict", draw).permutation(rows.n) for draw in range(PERMUTATIONS)]
    for first in range(0, d, BLOCK):
        block = slice(first, first + BLOCK)
        tables = _tables(rows, block)
        drawn = [_tables(rows, block, order) for order in orders]
        for i, table in enumerate(tables):
            heights[i] = float(entropy(table[0].sum(axis=0), "miller-madow"))
            share[block, i] = _shares(table)
            plain[block, i], error[block, i] = mutual_information(table), _errors(table) / max(heights[i], 1e-12)
            bias[block, i] = _degrees(table) / (2 * max(float(table[0].sum()), 1.0))
            for permuted in drawn:
                chance[i] = max(chance[i], float(_shares(permuted[i]).max(initial=0.0)))
                inflation[i] += float(mutual_information(permuted[i]).sum()) / PERMUTATIONS
    scale = np.maximum(ratio(inflation, bias.sum(axis=0)), 1.0)
    scale = np.where(np.isnan(scale), 1.0, scale)
    counts = np.array([max(int((of < bins).sum()), 1) for of, bins in zip(rows.factors, rows.factor_bins, strict=True)])
    threshold = chi_squared_quantile(LEVEL / max(d * m, 1), bias * 2 * counts) * scale / (2 * counts)
    beyond = np.where(bias > 0, threshold - bias * scale, 0.0).max(axis=0, initial=0.0)
    detected = (plain > threshold) & (bias > 0)
    return Held(share, error, detected, chance, np.asarray(beyond / np.maximum(heights, 1e-12)))


def _tables(rows: BinnedRows, block: slice, order: Rows | None = None) -> tuple[Floats, ...]:
    factors = rows.factors if order is None else rows.factors[:, order]
    part = BinnedRows(rows.codes[block], factors, rows.code_bins[block], rows.factor_bins, rows.incomplete)
    return PackedRows(part, factor_pairs=False).count().tables


def _shares(table: Floats) -> Floats:
    """Shares of the factor's entropy, from counts (n_codes, code bins, factor bins)."""
    height = entropy(table[0].sum(axis=0), "miller-madow")
    found = ratio(mutual_information(table, "miller-madow"), np.asarray(height))
    return np.clip(np.nan_to_num(found), 0.0, 1.0)


def _degrees(table: Floats) -> Floats:
    """Degrees of freedom of independence: occupied values of the code less 1, times those of the factor less 1."""
    of_code, of_factor = (table.sum(axis=2) > 0).sum(axis=1), (table.sum(axis=1) > 0).sum(axis=1)
    return np.asarray(np.maximum(of_code - 1, 0) * np.maximum(of_factor - 1, 0).astype(np.float64))


def _errors(table: Floats) -> Floats:
    """Return standard errors of informations, in nats: the spread of the pointwise ones over the rows."""
    p = table / np.maximum(table.sum(axis=(1, 2), keepdims=True), 1.0)
    margins = p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True)
    pointwise = np.log(np.divide(p, margins, out=np.ones_like(p), where=p > 0))
    mean = (p * pointwise).sum(axis=(1, 2))
    variance = (p * pointwise**2).sum(axis=(1, 2)) - mean**2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0) / np.maximum(table.sum(axis=(1, 2)), 1.0)))


def chi_squared_quantile(level: float, degrees: Floats) -> Floats:
    """Return what a chi-squared variable exceeds with a probability; degrees of freedom below 1 count as 1.

    Examples
    --------
    >>> chi_squared_quantile(0.05, np.array([1.0])).round(2).tolist()
    [3.84]
    """
    from scipy.special import chdtri

    return np.asarray(chdtri(np.maximum(degrees, 1.0), level))


# Of three columns -----------------------------------------------------------------------------------------------------


def joint_label(first: Rows, second: Rows) -> Rows:
    """Return a number for each of the pairs of two columns of bin numbers.

    Examples
    --------
    >>> joint_label(np.array([0, 1, 1]), np.array([2, 0, 2])).tolist()
    [2, 3, 5]
    """
    return first * (int(second.max(initial=0)) + 1) + second


def labels_entropy(labels: Rows) -> float:
    """Entropy of a column of bin numbers, plug-in, in nats."""
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    return float(np.log(len(labels)) - counts @ np.log(counts) / len(labels)) if counts.size > 1 else 0.0


def conditional_information(x: Rows, y: Rows, given: Rows) -> float:
    """Information of two columns within the values of a third one, plug-in, in nats.

    Examples
    --------
    >>> x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> round(conditional_information(x, y, x ^ y), 3), round(conditional_information(x, x, x), 3)
    (0.693, 0.0)
    """
    own = joint_label(given, x)
    parts = labels_entropy(own) + labels_entropy(joint_label(given, y))
    return max(parts - labels_entropy(joint_label(own, y)) - labels_entropy(given), 0.0)


def order_within(given: Rows, rng: np.random.Generator) -> Rows:
    """Return rows permuted at random among those of the same value."""
    drawn = rng.permutation(len(given))
    shuffled = np.empty(len(given), dtype=np.intp)
    shuffled[np.argsort(given, kind="stable")] = drawn[np.argsort(given[drawn], kind="stable")]
    return shuffled


def is_echo(code: Rows, factor: Rows, other: Rows, other_fine: Rows, shuffled: Rows) -> bool:
    """Whether a code tells of a factor only what another factor, which it holds, tells of it.

    Parameters
    ----------
    code, factor, other : array of bin numbers of shape (n,)
        Coarse, so that triples have full cells.
    other_fine : array of shape (n,)
        The other factor in finer bins: inside one coarse bin it still tells something.
    shuffled : array of shape (n,)
        What :func:`order_within` returns for ``other``; what permuted rows tell is chance.

    Notes
    -----
    A code made of the other factor alone tells within its values no more than the other factor does itself.
    """
    own = conditional_information(code, factor, other)
    by_chance = conditional_information(code[shuffled], factor, other)
    fine = conditional_information(other_fine, factor, other)
    fine -= conditional_information(other_fine[shuffled], factor, other)
    beyond = own - by_chance - max(fine, 0.0)
    alone = conditional_information(code, factor, np.zeros_like(other))
    return beyond <= max(FAR * float(np.sqrt(by_chance / len(code))), OWN * alone)


def added_share(code: Rows, factor: Rows, given: Rows, orders: Sequence[Rows]) -> float:
    """Return what a code tells of a factor within the bins of another code, of what that other one tells.

    Parameters
    ----------
    code, factor, given : array of bin numbers of shape (n,)
        Fine bins of the other code, ``given``: copies are cut at other places, and add to coarse ones.
    orders : sequence of arrays of shape (n,)
        What :func:`order_within` returns for ``given``, each of another draw; what permuted rows tell is chance.

    Examples
    --------
    >>> x, y = np.tile([0, 1], 200), np.repeat([0, 1], 200)
    >>> orders = [order_within(x, np.random.default_rng(draw)) for draw in range(5)]
    >>> round(added_share(y, 2 * x + y, x, orders), 1), added_share(x, 2 * x + y, x, orders)
    (1.0, 0.0)
    """
    own = conditional_information(code, factor, given)
    by_chance = float(np.mean([conditional_information(code[order], factor, given) for order in orders]))
    alone = conditional_information(given, factor, np.zeros_like(given))
    return max(own - by_chance, 0.0) / max(alone, 1e-12)


def together(first: Rows, second: Rows, factor: Rows) -> tuple[float, float]:
    """Return the share of a factor's entropy that the better of two codes tells, and what both tell together.

    Examples
    --------
    >>> x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> together(x, y, x ^ y)
    (0.0, 1.0)
    """
    height = max(labels_entropy(factor), 1e-12)
    nothing = np.zeros_like(factor)
    alone = max(_corrected(one, factor, nothing) for one in (first, second))
    both = _corrected(joint_label(first, second), factor, nothing)
    return min(max(alone / height, 0.0), 1.0), min(max(both / height, alone / height, 0.0), 1.0)


def share_carried(first: Rows, second: Rows) -> float:
    """Return the share of the entropy of a second column that a first one tells.

    Examples
    --------
    >>> share_carried(np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    1.0
    """
    carried = _corrected(first, second, np.zeros_like(first)) / max(labels_entropy(second), 1e-12)
    return float(min(max(carried, 0.0), 1.0))


def _corrected(x: Rows, y: Rows, nothing: Rows) -> float:
    """Information of two columns, with Miller-Madow's correction."""
    cells = len(np.unique(joint_label(x, y))) - len(np.unique(x)) - len(np.unique(y)) + 1
    return conditional_information(x, y, nothing) - cells / (2 * len(x))


def partial_r_squared(codes: Floats, target: Floats, known: Floats) -> tuple[float, float]:
    """Return what codes add to a linear regression on known columns: adjusted partial R squared, and its p-value.

    Parameters
    ----------
    codes : array of shape (n, d)
    target : array of shape (n,)
    known : array of shape (n, k)
        Columns that are in the regression already, such as other factors; none for ordinary R squared.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).normal(size=(2, 500))
    >>> share, p = partial_r_squared(np.column_stack([a, a + b]), b, np.empty((500, 0)))
    >>> round(share, 6), p < 1e-12
    (1.0, True)
    """
    from scipy.special import betainc

    n, base = len(target), np.column_stack([np.ones(len(target)), known])
    residual, before = _residual(base, target)
    others, _ = _residual(base, codes)
    # What the known columns explain whole leaves rounding, which a regression would blow up.
    others = others * (np.einsum("ij,ij->j", others, others) > 1e-12 * np.einsum("ij,ij->j", codes, codes))
    after, rank = _residual(others, residual)
    left = n - before - rank
    if left < 1 or rank < 1 or float(residual @ residual) < 1e-9 * float(target @ target):
        return 0.0, 1.0
    unexplained = float(after @ after) / float(residual @ residual)
    p = float(betainc(left / 2, rank / 2, min(max(unexplained, 0.0), 1.0)))
    return 1.0 - unexplained * (n - before) / left, p


def _residual(columns: Floats, target: Floats) -> tuple[Floats, int]:
    """Return the residuals of a regression of one or several targets, and the number of columns that it used.

    By the eigenvectors of the columns' products: of few columns a small problem, however many the rows; no product of
    these sizes is left to threads, so that its bits are the same everywhere.
    """
    length = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    unit = columns / np.where(length > 0, length, 1.0)
    values, vectors = np.linalg.eigh(np.einsum("ij,ik->jk", unit, unit))
    used = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    basis = np.einsum("ij,jk->ik", unit, vectors[:, used] / np.sqrt(values[used]))
    return target - basis @ (basis.T @ target), int(used.sum())
