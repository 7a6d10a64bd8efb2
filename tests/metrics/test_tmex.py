"""T-MEX: known counts, the test statistic by another way, assignment, many tests, exact codes, noise."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.metrics.predictor.tmex import projected_covariances
from tests.metrics.grid import scored
from tests.oracles import dependence as oracle
from tests.refusals import refuses
from tests.tolerances import SOLVER, assert_close

Array = NDArray[np.float64]
pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")
IDENTITY = np.eye(3, dtype=int)


score = partial(scored, "tmex", kinds="continuous")


def along(n: int = 1000, seed: int = 0) -> tuple[Array, Array]:
    """Three factors, of which the second comes along with the first, and noise."""
    rng = np.random.default_rng(seed)
    factors, noise = rng.standard_normal((2, n, 3))
    factors[:, 1] = 0.8 * factors[:, 0] + 0.6 * factors[:, 1]
    return factors, noise


@pytest.mark.worked("tmex")
def test_counts_of_known_codes() -> None:
    factors, noise = along()
    mixed = factors @ np.array([[2.0, 1, -1], [1, -2, 1], [-1, 1, 2]]) + 0.1 * noise
    codes = {"held": factors + 0.3 * noise, "mixed": mixed, "cubes": factors**3 + 0.3 * noise}
    found = {name: score(own, factors) for name, own in codes.items()}
    assert [found[name].details["mismatches"] for name in codes] == [0, 6, 0]
    assert_close(found["mixed"].value, 1 / 3, SOLVER)
    assert_close(score(codes["held"][:, [0, 2]], factors).value, 1.0, SOLVER)
    # one more code of all three factors: 3 of 12 pairs
    more = np.column_stack([codes["held"], mixed[:, 0]])
    assert_close([*score(more, factors).native.values()], [1, 1, 1, 0], SOLVER)
    assert_close(score(more, factors).value, 3 / 4, SOLVER)


def test_the_order_of_perfect_codes_does_not_matter_unless_an_order_is_meant() -> None:
    factors, noise = along()
    turned = (factors + 0.3 * noise)[:, [2, 0, 1]]
    assert score(turned, factors).details["mismatches"] == 0
    assert score(turned, factors, intended=IDENTITY).details["mismatches"] == 6
    assert score(turned, factors, intended=IDENTITY[[2, 0, 1]]).details["mismatches"] == 0


def test_noise_scores_above_a_mixture_and_says_so() -> None:
    factors, noise = along()
    found, mixed = score(noise, factors), score(factors @ np.array([[2.0, 1, -1], [1, -2, 1], [-1, 1, 2]]), factors)
    assert_close([found.value, mixed.value], [2 / 3, 1 / 3], SOLVER)
    assert {note.code: note.severity for note in found.notes}["nothing-depends"] == "fragile"
    assert not any(note.code == "nothing-depends" for note in mixed.notes)


@pytest.mark.oracle("tmex")
def test_the_statistic_by_normal_equations() -> None:
    factors, noise = along(120)
    codes = factors[:, [0, 1]] + factors[:, [2, 1]] + noise[:, :2]
    train, test = np.arange(60), np.arange(60, 120)
    found = projected_covariances(codes, [factors[:, [i]] for i in range(3)], train, test)
    expected = [
        [oracle.projected_covariance(code, factors, i, train.tolist(), test.tolist()) for i in range(3)]
        for code in codes.T
    ]
    assert_close(found, expected, SOLVER)


def test_many_tests_have_one_error() -> None:
    """At level 0.05 for each pair, some of the 56 wrong ones would be found in most draws."""
    single = wrong = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        factors = rng.standard_normal((400, 8))
        codes = factors + 0.3 * rng.standard_normal((400, 8))
        found = score(codes, factors, n_splits=1, basis="linear")
        single += int((np.array(found.details["p_values"])[~np.eye(8, dtype=bool)] < 0.05).sum())
        wrong += int(found.details["mismatches"])
    assert single >= 6
    assert wrong <= 1


def test_classes_missing_rows_and_constant_codes() -> None:
    factors, noise = along()
    classes = np.digitize(factors, [-0.6, 0.6]).astype(float)
    codes = np.column_stack([classes[:, ::-1] + 0.3 * noise, np.ones(1000)])
    holes = np.where(np.arange(1000)[:, None] % 4 == np.arange(3), np.nan, classes)
    read: list[tuple[Any, Any]] = [(classes, "raise"), (holes, "omit")]
    for values, missing in read:
        found = score(codes, demele.Factors(values, kinds="categorical", missing=missing))
        assert found.details["intended"] == [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
        assert found.details["mismatches"] == 0
    refuses(demele.errors.NotEnoughData, "no code varies", score, 0 * noise, factors)
    refuses(demele.errors.NotEnoughData, "columns", score, noise[:40], factors[:40])


@pytest.mark.parametrize(
    ("wrong", "got"),
    [
        (np.eye(2), r"shape \(2, 2\)"),
        (2 * np.eye(3), r"other numbers, such as 2"),
        ([["a", "b"]], "list"),
        (3, r"shape \(\)"),
    ],
)
def test_a_graph_of_other_shape_or_values_is_refused(wrong: Any, got: str) -> None:
    factors, noise = along(200)
    with pytest.raises(demele.errors.InputError, match=f"intended: expected zeros and ones of shape .* got {got}$"):
        score(noise, factors, intended=wrong)
