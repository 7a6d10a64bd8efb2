"""Votes of groups for the code that varies least or most within them, and how well they tell the factor."""

from collections.abc import Sequence

import numpy as np

from demele.estimation.groups import (
    Bools,
    Floats,
    Indexes,
    Ints,
    complement_groups,
    drawn_variances,
    first_extreme,
    require_groups,
    value_groups,
)

Votes = tuple[Indexes, Indexes]


def z_min_votes(
    codes: Floats,
    factor_bins: Ints,
    *,
    n_votes: int = 1600,
    batch_size: int = 200,
    rng: np.random.Generator,
    inactive_codes: Bools | None = None,
    factor_names: Sequence[str] | None = None,
    groups: Sequence[Sequence[int]] | None = None,
) -> Votes:
    """Draw the votes of Z-min variance: the code that varies least while one factor is held fixed.

    A factor is drawn uniformly, a value of it as that of a uniformly drawn sample, then `batch_size` distinct samples
    with that value, or all of them if there are no more. The vote names the active code with the smallest
    variance among them relative to its variance over all samples.

    Parameters
    ----------
    codes : ndarray, shape (N, d)
        In any unit.
    factor_bins : ndarray of int, shape (N, M)
        Values 0, 1, ...; -1 where a sample is not annotated.
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
        vote names code 0, which tells nothing of the factor.

    Raises
    ------
    NotEnoughData
        No two samples share a value of some factor.

    Notes
    -----
    Source: Kim & Mnih 2018, where a simulator makes the samples of a batch. A sample is in a batch once: repeating
    samples of a small group would add noise and no information. All codes are compared on the same samples, so the size
    of the group favours none. A value held by one sample only is left out: its variance is 0 for all codes.

    O(N M + n_votes batch_size d): 0.02 s for the default sizes, N = 20000 and d = M = 8.

    Examples
    --------
    >>> bins = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> code, factor = z_min_votes(bins[:, ::-1] * 1.0, bins, n_votes=50, rng=np.random.default_rng(0))
    >>> bool((code == 1 - factor).all())
    True
    """
    alike = value_groups(factor_bins)
    require_groups(alike, "no two samples share a value of {name}", factor_names)
    ratios, factors, active = _of_codes(drawn_variances(codes, alike, n_votes, batch_size, rng), inactive_codes, groups)
    ratios[:, ~active] = np.inf
    return first_extreme(ratios), factors


def z_max_votes(
    codes: Floats,
    factor_bins: Ints,
    *,
    n_votes: int = 1600,
    batch_size: int = 200,
    rng: np.random.Generator,
    inactive_codes: Bools | None = None,
    factor_names: Sequence[str] | None = None,
    groups: Sequence[Sequence[int]] | None = None,
) -> tuple[Indexes, Indexes, Indexes]:
    """Draw the votes of Z-max variance: the code that varies most while all factors but one are held fixed.

    As `z_min_votes`, with groups of two or more samples that agree on every factor *except* the one drawn, and the
    active code of the largest relative variance.

    Parameters
    ----------
    codes, factor_bins, n_votes, batch_size, rng, inactive_codes, factor_names, groups
        As for `z_min_votes`. Bins must be coarse (three per factor): see `complement_groups`.

    Returns
    -------
    code, factor : ndarrays of int, shape (n_votes,)
    n_groups : ndarray of int, shape (M,)
        Usable groups per factor. Votes from few groups repeat themselves: report these numbers with the score.

    Raises
    ------
    NotEnoughData
        No two samples agree on all factors but some factor.

    Notes
    -----
    Source: Kim, Wang, Sahu & Pavlovic 2019.

    Examples
    --------
    >>> bins = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]])
    >>> code, factor, n_groups = z_max_votes(bins * 1.0, bins, n_votes=50, rng=np.random.default_rng(0))
    >>> bool((code == factor).all()), n_groups.tolist()
    (True, [2, 2])
    """
    alike = complement_groups(factor_bins)
    require_groups(
        alike,
        "no two samples agree on all factors but {name}, in "
        f"{len(factor_bins)} samples; groups that hold all other factors fixed need fewer bins (2 or 3 per factor)",
        factor_names,
    )
    ratios, factors, active = _of_codes(drawn_variances(codes, alike, n_votes, batch_size, rng), inactive_codes, groups)
    ratios[:, ~active] = -np.inf
    return first_extreme(-ratios), factors, np.array([len(of_factor) for of_factor in alike])


def _of_codes(
    drawn: tuple[Floats, Indexes, Bools], inactive: Bools | None, groups: Sequence[Sequence[int]] | None
) -> tuple[Floats, Indexes, Bools]:
    """Return relative variances of codes, the factors, and which codes vary, from those of columns."""
    ratios, factors, active = drawn
    if inactive is not None:
        active &= ~inactive
    if groups is None:
        return ratios, factors, active
    own = [[column for column in columns if active[column]] for columns in groups]
    of_codes = [ratios[:, columns].mean(axis=1) if columns else np.zeros(len(ratios)) for columns in own]
    return np.column_stack(of_codes), factors, np.array([bool(columns) for columns in own])


def majority_vote_accuracy(train_votes: Votes, test_votes: Votes, d: int, M: int) -> float:  # noqa: N803 - M factors
    """Return how often the factor that a code mostly stood for in training is the factor of a test vote.

    Parameters
    ----------
    train_votes, test_votes : (code, factor)
        Two arrays of int each (`z_min_votes`, `z_max_votes`).
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
