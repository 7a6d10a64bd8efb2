"""Groups of samples that share factor values, and what the three Z metrics draw from them.

Z-diff, Z-min variance and Z-max variance ask what happens to the codes when a factor is held fixed, or when it alone
varies. With a simulator one would intervene; with given samples one looks for groups that agree.

All of it is independent of the unit of every code, for codes are divided by their own standard deviation first, unless
Z-diff is asked for in raw units, as in public code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from demele.core.arrays import Flags, Floats, Integers, Rows
from demele.core.errors import NotEnoughData
from demele.estimation.cells import packed
from demele.estimation.logistic import multinomial_logistic, scaled_codes

Units = Literal["standard", "raw"]

#: Numbers in one temporary array of drawn codes (2 MB): what a processor's cache still holds.
_BLOCK = 2**18
#: Votes drawn at a time, in drawn rows, and flags that mark rows as drawn (64 MB).
_DRAWN_ROWS = 2**22
_FLAGS = 2**26


@dataclass(frozen=True)
class ValueGroups:
    """Samples sorted into groups of at least two that share a key, such as the value of a factor.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The samples that are in a group, one group after the other, in their own order inside a group.
    starts, counts : ndarrays of int, shape (n_groups,)
        Group g is ``rows[starts[g] : starts[g] + counts[g]]``.

    Examples
    --------
    >>> groups = ValueGroups.of(np.array([2, 0, 2, 1, 0, -1, -1]))
    >>> groups.rows.tolist(), groups.starts.tolist(), groups.counts.tolist()
    ([1, 4, 0, 2], [0, 2], [2, 2])
    """

    rows: Rows
    starts: Rows
    counts: Rows

    @classmethod
    def of(cls, keys: Integers) -> "ValueGroups":
        """Group samples by their key (N,); negative keys are in no group, nor is a sample alone with its key."""
        info = np.iinfo(np.int16)
        fits = keys.dtype.itemsize > 2 and keys.size and keys.min() >= info.min and keys.max() <= info.max
        order = np.argsort(keys.astype(np.int16) if fits else keys, kind="stable")
        order = order[np.count_nonzero(keys < 0) :]
        ordered = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)])
        counts = np.diff(np.append(starts, len(ordered)))
        shared = counts >= 2
        kept = counts[shared]
        return cls(order[np.repeat(shared, counts)], np.cumsum(kept) - kept, kept)

    def __len__(self) -> int:
        return len(self.starts)


def complement_groups(factor_bins: Integers) -> tuple[ValueGroups, ...]:
    """Return, per factor, the groups of samples that share the values of all *other* factors.

    Parameters
    ----------
    factor_bins : ndarray of int, shape (N, M)
        Values 0, 1, ...; -1 where a sample is not annotated. For factor i a sample needs all other factors.

    Returns
    -------
    tuple of ValueGroups, length M
        With one factor there is no other to agree on: one group of all samples.

    Notes
    -----
    O(N M^2). With B bins per factor there are B^(M-1) combinations: groups need samples in proportion, or few bins.

    Examples
    --------
    >>> bins = np.array([[0, 0], [0, 1], [1, 1], [1, 2]])
    >>> [groups.rows.tolist() for groups in complement_groups(bins)]
    [[1, 2], [0, 1, 2, 3]]
    """
    sizes = [1 + max(int(column.max()), 0) for column in factor_bins.T]
    found = []
    for i in range(len(sizes)):
        others = [j for j in range(len(sizes)) if j != i]
        key, _ = packed([factor_bins[:, j] for j in others], [sizes[j] for j in others], len(factor_bins))
        key[(factor_bins[:, others] < 0).any(axis=1)] = -1
        found.append(ValueGroups.of(key))
    return tuple(found)


def z_diff_points(
    codes: Floats,
    factor_bins: Integers,
    *,
    n_points: int = 15000,
    batch_size: int = 200,
    rng: np.random.Generator,
    factor_names: Sequence[str] | None = None,
    units: Units = "standard",
) -> tuple[Floats, Rows]:
    r"""Draw the points that the classifier of Z-diff distinguishes.

    A point belongs to a factor i, drawn uniformly, and is the mean over `batch_size` pairs of

    .. math:: \lvert z_a - z_b \rvert / \sigma(z)

    per code, where a and b are distinct samples with the same value of factor i. Pairs are drawn independently: a
    uniformly from the samples that share their value with another one, b uniformly from those others. A value therefore
    comes as often as it does in the data, and the pairs of one point differ in value.

    Parameters
    ----------
    codes : ndarray, shape (N, d)
        In any unit; a constant code gives 0.
    factor_bins : ndarray of int, shape (N, M)
        Values 0, 1, ...; -1 where a sample is not annotated.
    n_points : int, default 15000
        Training and test points together.
    batch_size : int, default 200
        Pairs per point.
    factor_names : sequence of str, optional
        For messages.
    units : {"standard", "raw"}
        Differences in standard deviations of each code, or as the codes come.

    Returns
    -------
    points : ndarray, shape (n_points, d)
        >= 0, in standard deviations of each code unless `units` is "raw".
    factor_index : ndarray of int, shape (n_points,)

    Raises
    ------
    NotEnoughData
        No two samples share a value of some factor.

    Notes
    -----
    Source: Higgins et al. 2017. O(n_points batch_size d): 0.11 s for the default sizes and d = 8.

    Examples
    --------
    >>> bins = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> points, factors = z_diff_points(bins.astype(float), bins, n_points=3, rng=np.random.default_rng(0))
    >>> factors.tolist(), points.tolist()
    ([1, 1, 1], [[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    """
    groups = [ValueGroups.of(column) for column in factor_bins.T]
    require_groups(groups, "no two samples share a value of {name}", factor_names)
    scaled = codes if units == "raw" else _standardised(codes)[0]
    factor_index = rng.integers(len(groups), size=n_points)
    points = np.empty((n_points, codes.shape[1]))
    for i, of_factor in enumerate(groups):
        ordered = scaled[of_factor.rows]
        count = np.repeat(of_factor.counts, of_factor.counts)
        start = np.repeat(of_factor.starts, of_factor.counts)
        for block in _blocks(np.flatnonzero(factor_index == i), _BLOCK // (batch_size * codes.shape[1])):
            shape = (batch_size, len(block))
            first = rng.integers(len(ordered), size=shape)
            second = (rng.random(shape) * (count.take(first) - 1)).astype(np.intp) + start.take(first)
            second += second >= first  # the place of the first sample itself is skipped
            difference = ordered.take(first, axis=0)
            difference -= ordered.take(second, axis=0)
            points[block] = np.abs(difference, out=difference).mean(axis=0)
    return points, factor_index


def z_diff_accuracy(train_points: Floats, train_y: Integers, test_points: Floats, test_y: Integers) -> float:
    """Return how often a linear classifier names the factor of fresh Z-diff points.

    Parameters
    ----------
    train_points, test_points : ndarrays, shapes (n_train, d) and (n_test, d)
    train_y, test_y : ndarrays of int
        The factor of each point (`z_diff_points`).

    Returns
    -------
    float
        In [0, 1]; 1 / M for codes that tell nothing. Softmax regression (C = 1) on features standardised by the
        training points, without which its penalty would make the result depend on the unit of the codes.

    Examples
    --------
    >>> points, factors = np.array([[0.0, 1.0], [1.0, 0.1], [0.1, 0.9], [0.9, 0.0]]), np.array([0, 1, 0, 1])
    >>> z_diff_accuracy(points[:2], factors[:2], points[2:], factors[2:])
    1.0
    """
    n_factors = 1 + int(max(train_y.max(), test_y.max()))
    train, test = scaled_codes(train_points, test_points, scaling="standard")
    coef, intercept = multinomial_logistic(train, train_y, n_factors, C=1.0, balanced=False)
    scores = test @ coef.T + intercept
    scores[np.isnan(scores)] = -np.inf  # a factor without training points is never named
    return float((scores.argmax(axis=1) == test_y).mean())


def _standardised(codes: Floats) -> tuple[Floats, Flags]:
    """Codes with mean 0 and standard deviation 1, constant ones 0, and which are not constant."""
    largest = np.abs(codes).max(axis=0)
    scaled = codes / np.where(largest > 0, largest, 1.0)  # first, or the squares of huge units would overflow
    scaled -= scaled.mean(axis=0)
    deviation = scaled.std(axis=0)
    active = deviation > 1e-12
    scaled /= np.where(active, deviation, np.inf)
    return scaled, active


def require_groups(groups: Sequence[ValueGroups], problem: str, names: Sequence[str] | None) -> None:
    """Refuse a factor without a group."""
    for i, of_factor in enumerate(groups):
        if not len(of_factor):
            name = f"factor {i}" if names is None else f"factor '{names[i]}'"
            raise NotEnoughData("factors", f"{problem.format(name=name)}; use fewer bins or more samples")


def _blocks(rows: Rows, size: int) -> Iterator[Rows]:
    size = max(1, size)
    return (rows[first : first + size] for first in range(0, len(rows), size))


def _whole_variances(ordered: Floats, groups: ValueGroups, chosen: Rows) -> Floats:
    """Variances of the chosen groups, each computed once however often it was chosen."""
    distinct, which = np.unique(chosen, return_inverse=True)
    counts = groups.counts[distinct]
    starts = np.cumsum(counts) - counts
    rows = ordered[np.arange(counts.sum()) + np.repeat(groups.starts[distinct] - starts, counts)]
    if not len(rows):
        return np.empty((0, ordered.shape[1]))
    # Relative to a sample of the group: equal values then have the variance 0 exactly, in every unit.
    rows -= np.repeat(rows[starts], counts, axis=0)
    rows -= np.repeat(np.add.reduceat(rows, starts) / counts[:, None], counts, axis=0)
    variances: Floats = np.add.reduceat(rows**2, starts) / counts[:, None]
    return variances[which]


def _batch_variances(
    ordered: Floats, groups: ValueGroups, chosen: Rows, batch_size: int, rng: np.random.Generator
) -> Floats:
    """Variance of `batch_size` distinct rows of each chosen group, all of them larger than that."""
    variances = np.empty((len(chosen), ordered.shape[1]))
    widest = int(groups.counts.max())
    for drawn in _blocks(np.arange(len(chosen)), min(_DRAWN_ROWS // batch_size, _FLAGS // widest)):
        positions = _distinct_positions(groups.counts[chosen[drawn]], batch_size, rng)
        positions += groups.starts[chosen[drawn]]
        for block in _blocks(np.arange(len(drawn)), _BLOCK // (batch_size * ordered.shape[1])):
            rows = ordered.take(positions[:, block], axis=0)
            rows -= rows[0].copy()
            rows -= rows.mean(axis=0)
            variances[drawn[block]] = np.square(rows, out=rows).mean(axis=0)
    return variances


def _distinct_positions(sizes: Rows, batch_size: int, rng: np.random.Generator) -> Rows:
    """Subsets of `batch_size` positions below each size, all subsets equally likely, as columns (batch_size, n).

    Floyd's algorithm, all subsets in step: step t draws one of the first size - batch_size + t + 1 positions and, if
    that one is taken, takes the last of them, which no earlier step could reach.
    """
    width = int(sizes.max())
    taken = np.zeros(len(sizes) * width, dtype=bool)
    offsets = np.arange(len(sizes)) * width
    last = sizes - batch_size + np.arange(batch_size)[:, None]
    positions = (rng.random(last.shape) * (last + 1)).astype(np.intp)  # even to size / 2^53
    for t in range(batch_size):
        position = positions[t]
        np.copyto(position, last[t], where=taken.take(offsets + position))
        taken[offsets + position] = True
    return positions


# Votes of groups for the code that varies least or most within them, and how well they tell the factor ----------------

Votes = tuple[Rows, Rows]


def z_votes(
    codes: Floats,
    factor_bins: Integers,
    *,
    hold: Literal["one", "others"] = "one",
    n_votes: int = 1600,
    batch_size: int = 200,
    rng: np.random.Generator,
    inactive_codes: Flags | None = None,
    factor_names: Sequence[str] | None = None,
    groups: Sequence[Sequence[int]] | None = None,
) -> Votes:
    """Draw the votes of Z-min variance, or of Z-max variance: which code varies least, or most.

    A factor is drawn uniformly, then a group of samples: those that share a value of it, or that agree on every factor
    *except* it. The group is that of a uniformly drawn sample; `batch_size` distinct samples of it are drawn, or all of
    them if there are no more. The vote names the active code with the smallest variance among them relative to its
    variance over all samples, or the largest.

    Parameters
    ----------
    codes : ndarray, shape (N, d)
        In any unit.
    factor_bins : ndarray of int, shape (N, M)
        Values 0, 1, ...; -1 where a sample is not annotated.
    hold : {"one", "others"}
        Z-min variance holds the drawn factor fixed, Z-max variance all others. Bins must then be coarse (three per
        factor): see `complement_groups`.
    n_votes : int, default 1600
        Training and test votes together.
    batch_size : int, default 200
    inactive_codes : ndarray of bool, shape (d,), optional
        Codes that cannot win, besides the constant ones, which never can.
    factor_names : sequence of str, optional
        For messages.
    groups : sequence of columns, optional
        Codes of several columns, which vote together: the variances of the active ones are added up, relative to the
        sum over all samples.

    Returns
    -------
    code, factor : ndarrays of int, shape (n_votes,)
        Codes whose variances agree to 1e-9 count as equal, and the first of them is named. If no code is active every
        vote names code 0, which tells nothing of the factor. Votes from few groups repeat themselves.

    Raises
    ------
    NotEnoughData
        No two samples share a value of some factor, or agree on all factors but some factor.

    Notes
    -----
    Sources: Kim & Mnih 2018, where a simulator makes the samples of a batch; Kim, Wang, Sahu & Pavlovic 2019. A sample
    is in a batch once: repeating samples of a small group would add noise and no information. All codes are compared on
    the same samples, so the size of the group favours none. A group of one sample is left out: its variance is 0 for
    all codes.

    O(N M + n_votes batch_size d): 0.02 s for the default sizes, N = 20000 and d = M = 8, one factor held fixed.

    Examples
    --------
    >>> bins = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> code, factor = z_votes(bins[:, ::-1] * 1.0, bins, n_votes=50, rng=np.random.default_rng(0))
    >>> bool((code == 1 - factor).all())
    True
    >>> code, factor = z_votes(bins * 1.0, bins, hold="others", n_votes=50, rng=np.random.default_rng(0))
    >>> bool((code == factor).all())
    True
    """
    alike = complement_groups(factor_bins) if hold == "others" else [ValueGroups.of(column) for column in factor_bins.T]
    problem = "no two samples share a value of {name}"
    if hold == "others":
        problem = (
            f"no two samples agree on all factors but {{name}}, in {len(factor_bins)} samples; groups that hold all "
            "other factors fixed need fewer bins (2 or 3 per factor)"
        )
    require_groups(alike, problem, factor_names)
    scaled, active = _standardised(codes)
    factors = rng.integers(len(alike), size=n_votes)
    ratios = np.empty((n_votes, codes.shape[1]))
    for i, of_factor in enumerate(alike):
        votes = np.flatnonzero(factors == i)
        anchors = rng.integers(len(of_factor.rows), size=len(votes))
        chosen = np.searchsorted(of_factor.starts, anchors, side="right") - 1
        ordered = scaled[of_factor.rows]
        whole = of_factor.counts[chosen] <= batch_size
        ratios[votes[whole]] = _whole_variances(ordered, of_factor, chosen[whole])
        ratios[votes[~whole]] = _batch_variances(ordered, of_factor, chosen[~whole], batch_size, rng)
    if inactive_codes is not None:
        active &= ~inactive_codes
    if groups is not None:
        own = [[column for column in columns if active[column]] for columns in groups]
        means = [ratios[:, columns].mean(axis=1) if columns else np.zeros(n_votes) for columns in own]
        ratios, active = np.column_stack(means), np.array([bool(columns) for columns in own])
    if hold == "others":
        ratios = -ratios
    ratios[:, ~active] = np.inf
    # the smallest number of each row, the first one among those equal to nine digits
    smallest = ratios.min(axis=1, keepdims=True)
    slack = 1e-9 * np.abs(smallest)
    slack[~np.isfinite(slack)] = 0.0
    return np.argmax(ratios <= smallest + slack, axis=1), factors


def majority_vote_accuracy(train_votes: Votes, test_votes: Votes, d: int, M: int) -> float:  # noqa: N803 - M factors
    """Return how often the factor that a code mostly stood for in training is the factor of a test vote.

    Parameters
    ----------
    train_votes, test_votes : (code, factor)
        Two arrays of int each (`z_votes`).
    d, M : int
        Numbers of codes and factors.

    Returns
    -------
    float
        In [0, 1]; 1 / M for codes that tell nothing. A code that no training vote named stands for the factor with
        most training votes; ties go to the first factor.

    Examples
    --------
    >>> train = np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0])
    >>> majority_vote_accuracy(train, (np.array([0, 0, 1]), np.array([1, 0, 0])), d=2, M=2)
    0.6666666666666666
    """
    counts = np.bincount(train_votes[0] * M + train_votes[1], minlength=d * M).reshape(d, M)
    stands_for = np.where(counts.any(axis=1), counts.argmax(axis=1), counts.sum(axis=0).argmax())
    return float((stands_for[test_votes[0]] == test_votes[1]).mean())
