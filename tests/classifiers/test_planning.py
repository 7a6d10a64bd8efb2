"""Plans: the numbers of published formulas, and what simulated samples show of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import demele.classifiers
from demele.classifiers import RowScores, planning
from demele.errors import InputError
from demele.labels import Audit
from tests.refusals import refuses


def test_a_detectable_difference_is_found_as_often_as_the_power_says() -> None:
    rng, n = np.random.default_rng(3), 400
    delta = planning.detectable_difference(n, between=0.05, within=(0.1, 0.1), repeats=(2, 2), power=0.8)
    true = delta + np.sqrt(0.05) * rng.standard_normal((4000, n))
    seen = true + np.sqrt(0.05) * rng.standard_normal((4000, n)) - np.sqrt(0.05) * rng.standard_normal((4000, n))
    found = seen.mean(axis=1) > 1.959964 * seen.std(axis=1, ddof=1) / np.sqrt(n)
    assert abs(found.mean() - 0.8) < 4 * np.sqrt(0.16 / 4000)


def test_the_best_number_of_repeats_has_the_least_variance_for_the_money() -> None:
    repeats, best = np.linspace(1, 10, 9001), planning.best_repeats(5, 1, within=0.12, between=0.05)
    assert repeats[np.argmin((0.05 + 0.12 / repeats) * (5 + repeats))] == pytest.approx(best, abs=1e-3)
    assert planning.best_repeats(1, 1, within=0.01, between=0.05) == 1


def test_labels_for_a_half_width() -> None:
    needed = planning.labels_for(0.03, variance=0.09, r2=0.5, n=2000)
    assert planning.half_width(needed, variance=0.09, r2=0.5, n=2000) == pytest.approx(0.03)
    refuses(InputError, "score 385 rows", planning.labels_for, 0.03, variance=0.09, r2=1.0, n=380)


def test_draws_by_stratum() -> None:
    few = planning.draws_by_stratum([0.9, 0.09, 0.01], [0.3, 0.1, 0.1], 60)
    assert few[1:] == pytest.approx([8, 8])
    assert few.sum() == pytest.approx(60)
    refuses(InputError, "at least 8 for each of 2", planning.draws_by_stratum, [0.9, 0.1], [0.2, 0.5], 10)


def test_judge_or_human() -> None:
    assert planning.share_to_label(0.01, 1, error=0.1, variance=0.09) == 1
    assert planning.more_or_better(2000, noise=0.45)["way"].iloc[0] == "experts"
    refuses(InputError, "noise", planning.more_or_better, 100, noise=0.5)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), True, "3"])
def test_what_is_not_above_0_is_refused(wrong: float) -> None:
    refuses(InputError, "n: expected a finite number above 0", planning.detectable_difference, wrong, between=0.05)


def test_odd_arguments_of_all_estimates_are_refused_in_words() -> None:
    classifiers: Any = demele.classifiers  # odd types on purpose
    one, planning = RowScores([0, 1, 1]), classifiers.planning
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: classifiers.auc([1, 2, 3, 4], [0, 1, 0, 1], contamination=0.1), "contamination: expected two numbers"),
        (lambda: classifiers.calibration_error([0.5], [1], flips=3), "flips: expected two numbers"),
        (lambda: classifiers.calibration_error([], []), "confidence: expected at least one row"),
        (lambda: classifiers.probability_loss([0.5, 0.2], [1, 1]), "labels: expected at least 2 classes"),
        (lambda: classifiers.task_ranks({"a": 1}), "rankings: expected rankings by the names"),
        (
            lambda: classifiers.judge_errors(one, Audit([0, 1], [0, 1], design="uniform"), [1, 2, 3]),
            "covariates: expected columns",
        ),
        (lambda: planning.detectable_difference(9, between=0.1, within=(0,)), "within: expected two numbers"),
        (lambda: planning.detectable_difference(9, between=0.1, repeats=(0, 1)), "repeats: expected numbers >= 1"),
        (lambda: planning.detectable_difference(9, between=0.1, power=2), "power: expected a number in"),
        (lambda: planning.pilot_spread([]), "scores: expected at least one"),
    ]
    for call, message in cases:
        refuses(InputError, message, call)
