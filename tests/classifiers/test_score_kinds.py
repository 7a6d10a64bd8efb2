"""Scores of several samples and of probabilities: published values, all draws of samples, all labels."""

import itertools
from typing import Any

import numpy as np
import pytest

from demele.classifiers import label_set_scores, loss_scores, pass_at_k
from demele.classifiers.mean_scores import bounded_mean
from demele.errors import InputError
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close


def test_pass_at_k_is_the_share_of_all_draws_of_samples() -> None:
    for n, k in ((6, 2), (6, 6), (5, 1), (7, 4)):
        for c in range(n + 1):
            drawn = [any(one < c for one in draw) for draw in itertools.combinations(range(n), k)]
            assert_close(pass_at_k([c], [n], k).given, [np.mean(drawn)], ROUNDING)


def test_wrong_verdicts_reach_the_neighbouring_counts() -> None:
    scores = pass_at_k([0, 2, 5, 1], [5, 5, 5, 2], 3, wrong=1)
    known = {c: pass_at_k([c], [5], 3).given[0] for c in range(6)}
    assert_close(scores.given[:3] + scores.up[:3], [known[1], known[3], known[5]], ROUNDING)
    assert_close(scores.given[:3] - scores.down[:3], [known[0], known[1], known[4]], ROUNDING)
    assert np.isnan(scores.given[3])  # two samples, of which three cannot be drawn
    refuses(InputError, "correct", pass_at_k, [6], [5], 3)


def test_losses_reach_those_of_the_other_labels() -> None:
    p, y = np.array([0.9, 0.8, 0.3, 0.6, 0.05]), np.array([1, 0, 0, 1, 0])
    scores = loss_scores(p, y)
    assert_close(scores.given, (p - y) ** 2, ROUNDING)
    assert_close(scores.down + scores.up, np.abs(1 - 2 * p), ROUNDING)
    log = loss_scores(p, y, loss="log", most=10)
    assert_close(log.down + log.up, np.abs(np.log(p / (1 - p))), ROUNDING)
    three = np.random.default_rng(1).dirichlet([1, 1, 1], 8)
    z = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    scores = loss_scores(three, z)
    cells = itertools.product(range(8), range(3))
    flipped = [loss_scores(three, np.where(np.arange(8) == row, label, z)).mean for row, label in cells]
    bounds = bounded_mean(scores, 1 / 8)
    assert_close([bounds.low, bounds.high], [min(flipped), max(flipped)], ROUNDING)
    refuses(InputError, "has no bound", loss_scores, p, y, loss="log")


@pytest.mark.parametrize(
    ("score", "expected"),
    [("jaccard", [1 / 3, 0, 1]), ("f1", [1 / 2, 0, 1]), ("hamming", [1 / 2, 3 / 4, 1]), ("exact", [0, 0, 1])],
)
def test_scores_of_sets_of_labels_are_those_found_by_hand(score: Any, expected: list[float]) -> None:
    predicted, given = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert_close(label_set_scores(predicted, given, score=score).given, expected, ROUNDING)


@pytest.mark.parametrize("score", ["jaccard", "f1", "hamming", "exact"])
@pytest.mark.parametrize("wrong", [1, 2, 3])
def test_a_row_reaches_what_other_labels_would_score(score: Any, wrong: int) -> None:
    """Against all sets of labels that differ in at most so many."""
    sets = np.array(list(itertools.product((0, 1), repeat=4)))
    for predicted in sets[[0, 1, 6, 15]]:
        every = label_set_scores(np.tile(predicted, (16, 1)), sets, score=score, wrong=1).given
        found = label_set_scores(np.tile(predicted, (16, 1)), sets, score=score, wrong=wrong)
        near = np.array([every[(sets != one).sum(axis=1) <= wrong] for one in sets], dtype=object)
        assert_close(found.given - found.down, [one.min() for one in near], ROUNDING)
        assert_close(found.given + found.up, [one.max() for one in near], ROUNDING)


def test_sets_of_labels_that_do_not_fit_are_refused() -> None:
    refuses(InputError, "0 and 1 for each row and label", label_set_scores, [[1, 2]], [[1, 0]])
