"""Promises of intervals of mean scores, by simulation: two systems, groups, humans who err, one label at a time."""

from typing import Any

import numpy as np
import pytest

from demele.classifiers.intervals import score_wealth
from demele.classifiers.pooled_strata import pooled_strata
from demele.classifiers.row_scores import RowScores
from demele.core.arrays import rng_for
from demele.labels import Audit
from tests.classifiers.audited import audited_mean
from tests.tolerances import assert_rate_at_most

pytestmark = pytest.mark.long
N = 2000


def given_by(true: Any, sensitivity: float, specificity: float, u: Any) -> Any:
    """Return what a judge says of true verdicts."""
    return np.where(true, u < sensitivity, u >= specificity).astype(np.float64)


def two_systems(rng: np.random.Generator, rates: Any, judges: Any, common: float) -> tuple[Any, Any, Any]:
    """Draw two systems with errors in common: given and true scores, and an order of the rows."""
    same = rng.random(N) < common
    difficulty = [rng.random(N), rng.random(N)]
    difficulty[1] = np.where(same, difficulty[0], difficulty[1])
    true = [u < rate for u, rate in zip(difficulty, rates, strict=True)]
    given = [given_by(one, judge[0], judge[1], rng.random(N)) for one, judge in zip(true, judges, strict=True)]
    return given, [one.astype(np.float64) for one in true], rng.permutation(N)


def paired_ends(given: Any, true: Any, rows: Any) -> tuple[float, float]:
    """Return the interval of the second minus the first, on [-1, 1]."""
    s, t = ((two[1] - two[0] + 1) / 2 for two in (given, true))
    low, high = pooled_strata(s, rows, t[rows]).ends(0.025)
    return 2 * float(low) - 1, 2 * float(high) - 1


@pytest.mark.parametrize("labels", [50, 100, 300])
def test_a_lenient_judge_does_not_turn_the_order(labels: int) -> None:
    """A passes .72 and B .68, and the judge is lenient to B: its difference is +.09, the true one -.04."""
    rng, repeats, wrong, missed = rng_for(31, "two systems", labels), 1000, 0, 0
    for _ in range(repeats):
        given, true, order = two_systems(rng, (0.72, 0.68), ((0.95, 0.90), (0.97, 0.55)), 0.7)
        low, high = paired_ends(given, true, order[:labels])
        wrong += low > 0
        missed += not low <= -0.04 <= high
    assert wrong <= 0.01 * repeats
    assert_rate_at_most(missed, repeats, 0.06)


@pytest.mark.parametrize("labels", [30, 50, 100, 300])
def test_equal_systems_are_rarely_told_apart(labels: int) -> None:
    rng, repeats, better, worse = rng_for(32, "equal", labels), 1000, 0, 0
    for _ in range(repeats):
        given, true, order = two_systems(rng, (0.8, 0.8), ((0.95, 0.80), (0.95, 0.80)), 0.9)
        low, high = paired_ends(given, true, order[:labels])
        better, worse = better + (low > 0), worse + (high < 0)
    assert_rate_at_most(better, repeats, 0.025)
    assert_rate_at_most(worse, repeats, 0.025)


@pytest.mark.parametrize(("groups", "size", "alike"), [(200, 10, 1.0), (200, 10, 0.3), (400, 5, 1.0), (50, 40, 1.0)])
@pytest.mark.parametrize("labels", [50, 100, 300])
def test_groups_keep_the_level(groups: int, size: int, alike: float, labels: int) -> None:
    """Rows of a group share their true verdict, all of them or 30%."""
    rng, repeats = rng_for(33, "groups", groups, int(10 * alike), labels), 600
    covered: Any = 0
    group: Any = np.repeat(np.arange(groups), size)
    for _ in range(repeats):
        own, of_group = rng.random(N) < 0.8, (rng.random(groups) < 0.8)[group]
        # A correlation of r between rows: each follows its group with probability sqrt(r).
        true = np.where(rng.random(N) < np.sqrt(alike), of_group, own)
        given = given_by(true, 0.97, 0.70, rng.random(N))
        rows = rng.permutation(N)[:labels]
        low, high = pooled_strata(given, rows, true[rows].astype(float), groups=group).ends(0.025)
        covered += bool(low <= 0.8 <= high)
    assert covered >= 0.923 * repeats


@pytest.mark.parametrize("kind", ["random", "one-sided", "copying"])
@pytest.mark.parametrize("labels", [50, 300])
def test_humans_who_err_are_allowed_for(kind: str, labels: int) -> None:
    rng, repeats, covered = rng_for(34, kind, labels), 600, 0
    for _ in range(repeats):
        true = rng.random(N) < 0.95
        given = given_by(true, 0.97, 0.60, rng.random(N))
        rows = rng.permutation(N)[:labels]
        right, said = true[rows].astype(float), given[rows]
        slips = rng.random(labels) < 0.03
        human = {
            "random": np.where(slips, 1 - right, right),
            "one-sided": np.where(slips, 0.0, right),
            "copying": np.where(slips, said, right),
        }[kind]
        mean = audited_mean(RowScores(given), Audit(rows, human, design="uniform"), expert_error=0.03)
        covered += mean.low <= 0.95 <= mean.high
    assert_rate_at_most(repeats - covered, repeats, 0.05)


@pytest.mark.parametrize(("rate", "judge"), [(0.95, (0.995, 0.90)), (0.9, (0.97, 0.60)), (0.7, (0.80, 0.60))])
def test_stopping_at_any_label_keeps_the_level(rate: float, judge: Any) -> None:
    """The mean is exactly at the gate: evidence reaches 1/40 in at most 2.5% of the orders."""
    rng, repeats, n, reached = rng_for(35, "at the gate", int(100 * rate)), 2000, 500, 0
    true = np.arange(n) < round(rate * n)
    for _ in range(repeats):
        given = given_by(true, judge[0], judge[1], rng.random(n))
        order = rng.permutation(n)
        evidence = score_wealth(given, order, true[order].astype(float), float(true.mean()))
        reached += bool((evidence >= np.log(40)).any())
    assert_rate_at_most(reached, repeats, 0.025)
