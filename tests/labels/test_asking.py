"""Whom to ask next: gains by hand, replayed answers, annotators kept apart; and the structure of errors."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from demele.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import Annotations, add_noise, error_structure, next_answers, simulated_asking, split_annotators
from demele.labels.joined.crowds import answer_gains
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close


def test_the_gain_of_an_answer_is_that_found_by_hand() -> None:
    """A classless coin and an annotator right with .9: 1 - H(.9) = .531 bits; a sure item, or a guess, brings none."""
    tables = [np.array([[9.0, 1], [1, 9]]), np.array([[5.0, 5], [5, 5]]), np.array([[1.0, 0], [0, 1]])]
    found: Any = SimpleNamespace(
        annotators=("good", "guess", "perfect"),
        probabilities=np.array([[0.5, 0.5], [1.0, 0.0], [0.8, 0.2]]),
        profiles=SimpleNamespace(table=lambda place: tables[place]),
    )
    entropy = -(0.9 * np.log2(0.9) + 0.1 * np.log2(0.1))
    told = -(0.74 * np.log2(0.74) + 0.26 * np.log2(0.26)) - entropy  # .8 x .9 + .2 x .1 = .74
    sure = -(0.8 * np.log2(0.8) + 0.2 * np.log2(0.2))
    expected = [[1 - entropy, 0, told], [0, 0, 0], [1, 0, sure]]
    assert_close(answer_gains(found), expected, {"rtol": 0, "atol": 1e-6})


def crowd(n: int = 80, *, seed: int = 0) -> tuple[dict[str, Any], Any]:
    """Six annotators who are right with .6 to .95."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    rates = (0.6, 0.65, 0.7, 0.8, 0.9, 0.95)
    return {f"a{k}": np.where(rng.random(n) < rate, truth, 1 - truth) for k, rate in enumerate(rates)}, truth


def test_nobody_is_asked_twice_and_good_annotators_first() -> None:
    answers, _ = crowd()
    rows = [(i, who, column[i]) for who, column in answers.items() for i in range(80) if not (who > "a3" and i >= 40)]
    table = Annotations(*zip(*rows, strict=True))
    found = next_answers(table, 30).to_frame()
    assert len(found) == 30
    assert found["item"].is_unique
    assert (found["item"] >= 40).all()
    assert set(found["annotator"]) <= {"a4", "a5"}
    assert found["gain"].is_monotonic_decreasing
    assert "bits" in next_answers(table, 1).sentence
    refuses(NotEnoughData, "every annotator has answered", next_answers, answers)


def test_chosen_answers_reach_the_accuracy_of_all_sooner() -> None:
    answers, truth = crowd(300)
    found = simulated_asking(answers, dict(enumerate(truth)), n_steps=6, n_draws=3)
    frame = found.to_frame()
    assert frame["answers"].tolist() == [600, 800, 1000, 1200, 1400, 1600, 1800]
    chosen, by_chance = frame["chosen"].to_numpy(), frame["random"].to_numpy()
    assert chosen[0] == by_chance[0]
    assert_close([chosen[-1], by_chance[-1]], [found.target] * 2, ROUNDING)
    assert chosen[1:-1].mean() > by_chance[1:-1].mean()
    assert found.answers <= found.random_answers
    assert "saved" in found.sentence
    refuses(InputError, "true_labels", simulated_asking, answers, {"another": 1})


@pytest.mark.parametrize("seed", range(5))
def test_training_and_test_have_no_annotator_and_no_item_in_common(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, who = rng.integers(0, 200, 900), rng.integers(0, 30, 900)
    training, test = split_annotators(Annotations(items, who, items % 3), seed=seed)
    assert not set(training.annotators) & set(test.annotators)
    assert not set(training.items) & set(test.items)
    assert len(test.annotators) <= 9
    assert 0.15 < len(test.items) / 200 < 0.6
    assert training.classes == test.classes
    held = set(zip(items.tolist(), who.tolist(), strict=True))
    for part in (training, test):
        pairs = zip(part.item, part.annotator, strict=True)
        assert {(part.items[i], part.annotators[j]) for i, j in pairs} <= held


def test_true_labels_must_be_classes_by_item() -> None:
    labels: Any = [0, 1]
    refuses(InputTypeError, "mapping of items", simulated_asking, {"a": [0, 1], "b": [0, 1]}, labels)
    refuses(InputError, "got 'cat'", simulated_asking, {"a": [0, 1], "b": [0, 1]}, {0: "cat"})


def test_one_annotator_cannot_be_split() -> None:
    refuses(NotEnoughData, "at least 2 annotators", split_annotators, {"ann": [0, 1, 1]})


# Structure of errors --------------------------------------------------------------------------------------------------


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
