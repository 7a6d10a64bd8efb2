"""Differences of scores: worked by hand, and against SciPy's tests."""

import math

import numpy as np
import pytest
from scipy import stats

from demele.core.arrays import Floats
from demele.estimation.differences import Difference, interval_within, over_runs, run_difference, student
from tests.tolerances import ROUNDING, assert_close, assert_rate_at_most

A = np.array([0.31, 0.42, 0.35, 0.50])
B = np.array([0.52, 0.49, 0.71, 0.66])


def over_rows(first: float, second: float, firsts: Floats, seconds: Floats, level: float) -> Difference:
    return over_runs(second - first, [], level, seconds - firsts)


def test_differences_on_resamples_by_hand() -> None:
    # differences 0.1, 0.3, 0.2: standard deviation 0.1
    found = over_rows(0.5, 0.8, np.array([0.4, 0.4, 0.6]), np.array([0.5, 0.7, 0.8]), 0.95)
    assert_close(found.value, 0.3, ROUNDING)
    assert_close(found.low, 0.3 - 0.1 * stats.t.ppf(0.975, 2), ROUNDING)
    assert_close(found.high, 0.3 + 0.1 * stats.t.ppf(0.975, 2), ROUNDING)
    assert_close(found.p_value, 2 * stats.t.sf(3.0, 2), ROUNDING)


def test_a_failed_half_is_left_out_of_both() -> None:
    firsts, seconds = np.array([0.4, math.nan, 0.4, 0.6]), np.array([0.5, 0.9, 0.7, 0.8])
    whole = over_rows(0.5, 0.8, firsts[[0, 2, 3]], seconds[[0, 2, 3]], 0.95)
    assert over_rows(0.5, 0.8, firsts, seconds, 0.95) == whole


def test_halves_that_do_not_vary_show_nothing() -> None:
    found = over_rows(0.5, 0.8, np.full(20, 0.5), np.full(20, 0.8), 0.95)
    assert math.isnan(found.p_value)
    assert math.isnan(found.low)
    assert "same difference" in found.reason
    assert "fewer than 2" in over_rows(0.5, 0.8, np.array([0.5]), np.array([0.8]), 0.95).reason


def test_welch_and_paired_tests_are_scipys() -> None:
    welch = stats.ttest_ind(B, A, equal_var=False)
    found = run_difference(A, B, 0.9)
    assert_close([found.p_value, found.low, found.high], [welch.pvalue, *welch.confidence_interval(0.9)], ROUNDING)
    paired = stats.ttest_rel(B, A)
    found = run_difference(A, B, 0.9, paired=True)
    assert_close([found.p_value, found.low, found.high], [paired.pvalue, *paired.confidence_interval(0.9)], ROUNDING)


def test_runs_that_say_nothing_of_others() -> None:
    assert "one run" in run_difference(A[:1], B, 0.95).reason
    assert "same difference" in run_difference(np.zeros(3), np.ones(3), 0.95).reason
    assert "same difference" in run_difference(np.arange(3.0), np.arange(3.0) + 1, 0.95, paired=True).reason
    assert run_difference(np.zeros(3), np.ones(3), 0.95).value == 1.0


def test_runs_and_rows_add_their_variances() -> None:
    rows = np.array([0.3, 0.1, 0.2, 0.35, 0.05])
    found = run_difference(A, B, 0.9, rows=rows)
    parts = np.array([A.var(ddof=1) / 4, B.var(ddof=1) / 4, rows.var(ddof=1)])
    degrees = parts.sum() ** 2 / (parts**2 / [3, 3, 4]).sum()
    half = stats.t.ppf(0.95, degrees) * math.sqrt(parts.sum())
    assert_close([found.low, found.high], [B.mean() - A.mean() - half, B.mean() - A.mean() + half], ROUNDING)
    assert run_difference(np.zeros(3), np.ones(3), 0.9, rows=rows).low < 1  # equal runs, but the rows move them
    assert "fewer than 2" in run_difference(A, B, 0.9, rows=np.full(5, math.nan)).reason


def test_students_interval_of_equal_values_is_a_point() -> None:
    assert student(np.array([0.5, 0.5])) == (0.5, 0.5, 0.0)
    assert student(np.zeros(3)) == (0.0, 0.0, 1.0)


def test_intervals_stay_within_the_range_and_hold_the_value() -> None:
    runs = np.array([0.88, 0.99, 1.0, 0.995])
    found = over_runs(runs.mean(), [runs], 0.95, bounds=(0.0, 1.0))
    plain = student(runs)
    assert plain[1] > 1.0 > found.high > runs.mean() > found.low > 0.0
    assert_close(found.p_value, plain[2], ROUNDING)
    assert_close(interval_within(0.5, 1e-6, (0.0, 1.0)), (0.5 - 1e-6, 0.5 + 1e-6), ROUNDING)
    low, high = interval_within(-0.2, 0.3, (-1.0, 1.0))
    assert_close(interval_within(0.2, 0.3, (-1.0, 1.0)), (-high, -low), ROUNDING)
    for value, bounds in ((2.0, (0.0, np.inf)), (1.1, (0.0, 1.0)), (1.0, (0.0, 1.0))):
        assert_close(interval_within(value, 0.1, bounds), (value - 0.1, value + 0.1), ROUNDING)


@pytest.mark.parametrize(("mean", "like"), [(0.5, 50.0), (0.95, 50.0), (0.99, 300.0)])
def test_intervals_within_a_range_cover_means_of_four_runs(mean: float, like: float) -> None:
    drawn = np.random.default_rng(0).beta(mean * like, (1 - mean) * like, (1500, 4))
    found = [over_runs(runs.mean(), [runs], 0.95, bounds=(0.0, 1.0)) for runs in drawn]
    assert_rate_at_most(sum(not one.low <= mean <= one.high for one in found), len(drawn), 0.05)
