"""Structure of errors: a case by hand, uniform noise, errors on hard items, and what is refused."""

from typing import Any

import numpy as np
import pytest

from demele.errors import InputError, NotEnoughData
from demele.labels import add_noise, error_structure
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

ANSWERS = {"ann": [0, 1, 1, 0], "bob": [0, 0, 1, 0], "eve": [0, 0, 1, 1]}
TRUTH = {0: 0, 1: 1, 2: 1, 3: 0}


def test_the_numbers_are_those_found_by_hand() -> None:
    """3 of 12 are wrong, as two confusions on two items; 17 of 27 pairs are in order; 2 of 24 pairs are both wrong."""
    found: Any = error_structure(ANSWERS, TRUTH)
    assert_close(found.table["value"], [0.25, 0, 17 / 27, (2 / 24) / 0.0625], ROUNDING)
    assert (found.n_items, found.n_annotators, found.n_errors) == (4, 3, 3)
    assert "63.0%" in found.sentence


def test_two_errors_of_one_confusion_are_as_concentrated_as_can_be() -> None:
    """Both errors call a 1 a 0: likelihood 1, against 1/2 of uniform noise at two classes of equal size."""
    found: Any = error_structure([[0, 0, 0, 0], [0, 0, 1, 1]], {0: 0, 1: 0, 2: 1, 3: 1})
    assert_close(found.table.loc["concentration", "value"], 2.0, ROUNDING)


def test_a_difficulty_of_ones_own_is_what_wrong_answers_are_ranked_by() -> None:
    found: Any = error_structure([[0, 1, 0, 0]], {0: 0, 1: 1, 2: 1, 3: 0}, difficulty={0: 0.1, 1: 0.3, 2: 0.2, 3: 0.2})
    assert_close(found.table.loc["difficulty", "value"], 1.5 / 3, ROUNDING)  # above .1, below .3, a tie with .2
    assert found.table.loc["similarity"].isna().all()


def test_uniform_noise_has_no_structure() -> None:
    truth = np.arange(1500) % 5
    made = np.array([add_noise(truth, 0.2, seed=seed).labels for seed in range(8)])
    table: Any = error_structure(made, dict(enumerate(truth))).table
    for measure, plain in (("concentration", 1.0), ("difficulty", 0.5), ("similarity", 1.0)):
        assert table.loc[measure, "low"] - 0.01 <= plain <= table.loc[measure, "high"] + 0.01


def test_errors_on_hard_items_are_found() -> None:
    rng = np.random.default_rng(0)
    truth, hard = rng.integers(0, 3, 600), rng.random(600) < 0.3
    answers = [np.where(hard & (rng.random(600) < 0.6), (truth + 1) % 3, truth) for _ in range(6)]
    table: Any = error_structure(answers, dict(enumerate(truth))).table
    assert table.loc["difficulty", "low"] > 0.8
    assert table.loc["similarity", "low"] > 2
    assert table.loc["concentration", "low"] > 1.5


@pytest.mark.parametrize(
    ("truth", "error", "message"),
    [({0: 7}, InputError, "classes that are answers, got 7"), ({9: 0}, NotEnoughData, "classes of some of the items")],
)
def test_labels_of_nothing_are_refused(truth: Any, error: type[Exception], message: str) -> None:
    refuses(error, message, error_structure, ANSWERS, truth)
