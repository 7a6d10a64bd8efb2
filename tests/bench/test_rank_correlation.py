"""Kendall's tau-b of many columns: against SciPy, by hand, and how often its intervals hold the truth."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from demele.bench import rank_agreement
from demele.bench.agreement_result import error_without_association
from demele.bench.rank_agreement import (
    column_pairs,
    counted,
    p_values,
    p_values_within,
    resamples,
    tau_intervals,
    taus,
    untied_rows,
    weighted_taus,
    weighted_taus_within,
)
from tests.tolerances import ROUNDING, assert_close, assert_exact

Matrix = NDArray[np.float64]


def with_ties_and_gaps(rng: np.random.Generator, n: int = 40, columns: int = 6) -> Matrix:
    scores = rng.integers(0, 7, (n, columns)).astype(float)
    scores[:, 0] = rng.normal(size=n)
    scores[3, 1] = scores[5:9, 4] = np.nan
    return scores


def by_scipy(scores: Matrix) -> list[tuple[float, float]]:
    found = []
    for one, other in zip(*column_pairs(scores.shape[1]), strict=True):
        there = np.isfinite(scores[:, one] + scores[:, other])
        result = kendalltau(scores[there, one], scores[there, other])
        found.append((float(result.statistic), float(result.pvalue)))
    return found


def test_tau_b_is_that_of_scipy_with_ties_and_gaps() -> None:
    scores = with_ties_and_gaps(np.random.default_rng(0))
    expected = by_scipy(scores)
    assert_close(taus(scores), [tau for tau, _ in expected], ROUNDING)
    assert_close(p_values(scores), [p for _, p in expected], ROUNDING)


@pytest.mark.parametrize("gaps", [True, False])
def test_a_weight_is_a_repetition(gaps: bool) -> None:
    rng = np.random.default_rng(1)
    scores = with_ties_and_gaps(rng) if gaps else rng.integers(0, 7, (40, 6)).astype(float)
    weights = resamples(rng, 40, 5)
    found = weighted_taus(scores, weights)
    for line, row in zip(weights, found, strict=True):
        repeated = np.repeat(scores, line.astype(int), axis=0)
        assert_close(row, [tau for tau, _ in by_scipy(repeated)], ROUNDING)


@pytest.mark.parametrize("at_once", [1, 45, 10**6])
def test_how_many_pairs_are_held_at_a_time_changes_no_bit(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    scores, weights = with_ties_and_gaps(rng), resamples(rng, 40, 50)
    groups = np.arange(40) % 5
    expected = weighted_taus(scores, weights), weighted_taus_within(scores, groups, weights)
    monkeypatch.setattr(rank_agreement, "_PAIRS_AT_ONCE", at_once)
    assert_exact(weighted_taus(scores, weights), expected[0])
    assert_exact(weighted_taus_within(scores, groups, weights), expected[1])


# Within groups -------------------------------------------------------------------------------------------------------


def test_what_only_a_group_explains_is_removed() -> None:
    """Two groups far apart; within them the columns are opposed: ranks 1 2 / 3 4 against 2 1 / 4 3."""
    scores = np.array([[1.0, 2.0], [2.0, 1.0], [11.0, 12.0], [12.0, 11.0]])
    groups = np.array([0, 0, 1, 1])
    assert_close(taus(scores), [2 / 6], ROUNDING)
    assert_close(weighted_taus_within(scores, groups, np.ones((1, 4)))[0], [-1.0], ROUNDING)


def test_residual_ranks_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(3)
    scores, groups = with_ties_and_gaps(rng), rng.integers(0, 4, 40)
    weights = resamples(rng, 40, 3)
    found = weighted_taus_within(scores, groups, weights)
    for line, row in zip(weights, found, strict=True):
        times = line.astype(int)
        repeated, of = np.repeat(scores, times, axis=0), np.repeat(groups, times)
        assert_close(row, [tau for tau, _ in by_scipy(np.column_stack([left(c, of) for c in repeated.T]))], ROUNDING)


def left(column: Matrix, groups: NDArray[np.intp]) -> Matrix:
    """Mid-ranks less their mean in the group, slowly."""
    found = np.full(len(column), np.nan)
    there = np.flatnonzero(np.isfinite(column))
    ranks = {row: sum((column[o] < column[row]) + 0.5 * (column[o] == column[row]) for o in there) for row in there}
    for row in there:
        own = [ranks[other] for other in there if groups[other] == groups[row]]
        found[row] = round(ranks[row] - sum(own) / len(own), 6)
    return found


# Without association -------------------------------------------------------------------------------------------------


def test_p_values_within_groups_count_fewer_rows() -> None:
    """31 rows in all but name: 36 less one for each of 6 groups but the first."""
    found = p_values_within(np.array([2 * error_without_association(31)]), np.array([36]), 6)
    assert_close(found, [0.04550026389635839], ROUNDING)  # two standard errors


# Intervals -----------------------------------------------------------------------------------------------------------


def test_intervals_are_percentiles_of_what_is_defined() -> None:
    draws = np.column_stack([np.linspace(-1, 1, 201), np.where(np.arange(201) % 2, np.nan, np.linspace(0, 1, 201))])
    low, high = tau_intervals(np.array([0.0, 0.5]), draws, np.array([36, 36]), level=0.9)
    assert_close(low, [-0.9, 0.05], ROUNDING)
    assert_close(high, [0.9, 0.95], ROUNDING)


def test_of_equal_orders_the_limit_is_what_could_have_been_missed() -> None:
    low, high = tau_intervals(np.array([1.0, -1.0]), np.tile([1.0, -1.0], (100, 1)), np.array([12, 12]), level=0.95)
    assert_close([low[0], high[0]], [0.025 ** (1 / 6), 1], ROUNDING)
    assert_close([low[1], high[1]], [-1, -(0.025 ** (1 / 6))], ROUNDING)


def test_where_many_rows_tie_the_limit_is_what_could_have_been_missed() -> None:
    """Of 36 rows 8 tie: 29 if they count as one. Of 36 with 7 that tie, less than a fifth do."""
    draws = np.tile(np.linspace(0.75, 0.85, 101)[:, None], (1, 3))
    n = np.array([36, 36, 36])
    low, high = tau_intervals(np.full(3, 0.8), draws, n, level=0.9, untied=np.array([36, 30, 29]))
    assert_close(low, [0.755, 0.755, 0.8 * 0.05 ** (2 / 29)], ROUNDING)
    assert_close(high, [0.845] * 3, ROUNDING)
    low, high = tau_intervals(np.full(3, -0.8), -draws, n, level=0.9, untied=np.array([36, 30, 29]))
    assert_close(high, [-0.755, -0.755, -0.8 * 0.05 ** (2 / 29)], ROUNDING)
    assert np.isnan(tau_intervals(np.full(3, 0.8), draws, n, level=0.9, untied=np.array([7, 8, 8]))[0][0])


def test_ties_are_counted_among_the_rows_that_both_columns_have() -> None:
    scores = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 5.0], [0.0, np.nan, 5.0], [1.0, 4.0, np.nan], [2.0, 4.0, 6.0]])
    assert_exact(untied_rows(scores), [3, 2, 2])


def pair_of(rng: np.random.Generator, tau: float, n: int, tied: float) -> Matrix:
    """Two normal columns of a given tau; a share of the rows is tied in the middle of both, which keeps tau-b."""
    rho = np.sin(np.pi * tau / 2)
    first = rng.normal(size=n)
    pair = np.column_stack([first, rho * first + np.sqrt(1 - rho**2) * rng.normal(size=n)])
    pair[rng.random(n) < tied] = 0
    return pair


@pytest.mark.parametrize("tied", [0, 1 / 6], ids=["untied", "tied"])
@pytest.mark.parametrize("tau", [0, 0.6])
def test_intervals_hold_the_truth_as_often_as_they_say(tau: float, tied: float) -> None:
    rng = np.random.default_rng([36, int(10 * tau), int(10 * tied)])
    inside = []
    for _ in range(400):
        scores = pair_of(rng, tau, 36, tied)
        draws = weighted_taus(scores, resamples(rng, 36, 300))
        low, high = tau_intervals(taus(scores), draws, counted(scores), level=0.95)
        inside.append(low[0] <= tau <= high[0])
    assert 0.925 <= np.mean(inside) <= 0.985
