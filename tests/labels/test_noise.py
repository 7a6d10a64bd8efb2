"""Noise by features: exact rate, nested, deterministic, as annotators would mistake; and as one model mistakes."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import TransitionCounts
from demele.labels.made.noise import add_feature_noise, add_model_noise
from tests.tolerances import assert_exact

# Four annotators on five instances; legitimacies 0.8, 0.6, 0.6, 0.4 (one minus the share of mistakes).
TRUE = [0, 1, 2, 0, 1]
VOTES = [
    [0, 1, 2, 0, 2],
    [0, 1, 1, 0, 2],
    [0, 2, 0, 0, 1],
    [0, 2, 0, 0, 0],
]
# Difficulties: 0; 0.6 + 0.4; 0.6 + 0.6 + 0.4; 0; 0.8 + 0.6 + 0.4. So the order is instance 4, 2, 1.
# Mistakes: instance 4: class 2 (1.4) over 0 (0.4). Instance 2: class 0 (1.0) over 1 (0.6). Instance 1: class 2.


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(0, [0, 1, 2, 0, 1]), (0.2, [0, 1, 2, 0, 2]), (0.4, [0, 1, 0, 0, 2]), (0.6, [0, 2, 0, 0, 2])],
)
def test_by_hand(rate: float, expected: list[int]) -> None:
    noisy = add_feature_noise(TRUE, VOTES, rate)
    assert_exact(noisy.labels, expected)
    assert noisy.rate == rate
    assert_exact(noisy.mislabelled, np.array(expected) != np.array(TRUE))


def test_counts_have_true_classes_in_rows() -> None:
    noisy = add_feature_noise(TRUE, VOTES, 0.6)
    expected = TransitionCounts([[2, 0, 0], [0, 0, 2], [1, 0, 0]], classes=[0, 1, 2], sample_of="labels")
    assert noisy.counts == expected
    assert noisy.counts.rate == noisy.rate


def test_legitimacy_changes_who_is_followed() -> None:
    # With trust in the last annotator only: instances 1, 2 and 4 are as difficult, and the earliest goes first.
    noisy = add_feature_noise(TRUE, VOTES, 0.4, legitimacy=[0, 0, 0, 1])
    assert_exact(noisy.labels, [0, 2, 0, 0, 1])
    # With trust in the first only, one instance can be mislabelled.
    with pytest.raises(InputError, match=r"highest reachable rate is 0.2$"):
        add_feature_noise(TRUE, VOTES, 0.4, legitimacy=[1, 0, 0, 0])


def test_ties_go_to_the_earlier_instance_and_annotator() -> None:
    noisy = add_feature_noise([0, 0, 0], [[2, 2, 2], [1, 1, 1]], 0.34, legitimacy=[1, 1])
    assert_exact(noisy.labels, [2, 0, 0])


def test_the_highest_reachable_rate() -> None:
    assert add_feature_noise(TRUE, VOTES, 0.6).rate == 0.6
    message = r"^rate: 0.8 of 5 instances would be 4 wrong labels, but only 3 .* highest reachable rate is 0.6$"
    with pytest.raises(InputError, match=message):
        add_feature_noise(TRUE, VOTES, 0.8)


def test_the_highest_rate_is_part_of_the_result() -> None:
    noisy = add_feature_noise(TRUE, VOTES, 0.2)
    assert (noisy.highest_rate, noisy.wanted, noisy.rate) == (0.6, 0.2, 0.2)
    assert add_feature_noise(TRUE, VOTES, noisy.highest_rate or 0.0).rate == 0.6
    # All instances can be wrong, where annotators are wrong on all and have legitimacy.
    assert add_feature_noise([0, 1], [[1, 0], [0, 1]], 1, legitimacy=[1, 1]).labels.tolist() == [1, 0]


pools = st.integers(2, 4).flatmap(
    lambda k: st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, k - 1), min_size=n, max_size=n),
            st.lists(st.lists(st.integers(0, k - 1), min_size=n, max_size=n), min_size=1, max_size=5),
        )
    )
)


@given(pools)
def test_exact_rate_and_nested(pool: tuple[list[int], list[list[int]]]) -> None:
    true, votes = np.array(pool[0]), np.array(pool[1])
    n = true.size
    reachable = int((((votes == true).any(axis=1)[:, None]) & (votes != true)).any(axis=0).sum())
    if np.unique(np.concatenate([true, votes.ravel()])).size < 2:
        return
    previous = add_feature_noise(true, votes, 0.0)
    assert not previous.mislabelled.any()
    for wanted in range(1, reachable + 1):
        if wanted == n:
            break
        noisy = add_feature_noise(true, votes, wanted / n)
        assert noisy.mislabelled.sum() == wanted == round(noisy.rate * n)
        assert (noisy.labels != true).sum() == wanted
        assert (noisy.labels[previous.mislabelled] == previous.labels[previous.mislabelled]).all()
        # A mistake is one that an annotator made.
        assert (votes[:, noisy.mislabelled] == noisy.labels[noisy.mislabelled]).any(axis=0).all()
        previous = noisy
    if reachable < n - 1:
        with pytest.raises(InputError, match=r"highest reachable rate"):
            add_feature_noise(true, votes, (reachable + 1) / n)


def test_against_the_algorithm_as_printed() -> None:
    rng = np.random.default_rng(4)
    true = rng.integers(0, 5, 300)
    votes = np.where(rng.random((7, 300)) < np.linspace(0.05, 0.5, 7)[:, None], rng.integers(0, 5, (7, 300)), true)
    trust = [float(np.mean(row == true)) for row in votes]
    ranking = []
    for i in range(300):
        difficulty = sum(trust[a] for a in range(7) if votes[a, i] != true[i])
        ranking.append((-difficulty, i))
    expected = true.copy()
    for _, i in sorted(ranking)[:60]:
        plausible = {c: sum(trust[a] for a in range(7) if votes[a, i] == c) for c in range(5) if c != true[i]}
        expected[i] = max(plausible, key=lambda c: plausible[c])
    assert_exact(add_feature_noise(true, votes, 0.2).labels, expected)


def test_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    true, votes = rng.integers(0, 3, 50), rng.integers(0, 3, (4, 50))
    whole = add_feature_noise(true, votes, 0.5)
    monkeypatch.setattr("demele.labels.made.noise.CELLS_AT_ONCE", 10)
    assert_exact(add_feature_noise(true, votes, 0.5).labels, whole.labels)


def test_refuses() -> None:
    with pytest.raises(InputError, match=r"rate: expected a share .* got 5; for 5% write 0.05"):
        add_feature_noise(TRUE, VOTES, 5)
    for rate in (-0.1, float("nan"), True, "5%"):
        with pytest.raises(InputError, match=r"^rate: expected a share"):
            add_feature_noise(TRUE, VOTES, rate)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"annotations: expected 5 labels of each annotator.*pass annotations.T"):
        add_feature_noise(TRUE, np.array(VOTES).T, 0.2)
    with pytest.raises(InputTypeError, match=r"pass frame.to_numpy"):
        add_feature_noise(TRUE, pd.DataFrame(VOTES), 0.2)
    with pytest.raises(NotEnoughData, match=r"at least 1 annotator"):
        add_feature_noise(TRUE, [], 0.2)
    with pytest.raises(InputTypeError, match=r"annotations: expected shape"):
        add_feature_noise(TRUE, "votes", 0.2)
    with pytest.raises(NotEnoughData, match=r"at least 2 classes"):
        add_feature_noise([1, 1], [[1, 1]], 0)
    for odd, message in itertools.zip_longest(
        ([1, 1], [1, 1, 1, -1]), ("expected 4 numbers", "first -1 of annotator 3")
    ):
        with pytest.raises(InputError, match=r"legitimacy: .*" + message):
            add_feature_noise(TRUE, VOTES, 0.2, legitimacy=odd)


# Errors of the four annotators as models: 0.2, 0.4, 0.4, 0.6.
def test_the_model_of_the_nearest_error() -> None:
    for rate, model in [(0, 0), (0.29, 0), (0.3, 0), (0.31, 1), (0.4, 1), (0.5, 1), (0.51, 3), (1, 3)]:
        noisy = add_model_noise(TRUE, np.array(VOTES), rate)
        assert_exact(noisy.labels, VOTES[model])
        assert noisy.source == f"model {model}"
        assert noisy.rate == np.mean(np.array(VOTES[model]) != TRUE)
        assert (noisy.wanted, noisy.highest_rate) == (rate, 0.6)
        assert noisy.sentences[1] == f"The labels are the predictions of model {model}."


def test_ties_of_errors_are_exact() -> None:
    # 0.2 and 0.4 are as far from 0.3, though not in their last bits; so are 0.1 and 0.2 from 0.15.
    assert add_model_noise(TRUE, [VOTES[1], VOTES[0]], 0.3).source == "model 0"
    true, wrong = np.zeros(10, dtype=int), np.eye(10, dtype=int)
    for models in ([wrong[0], wrong[0] + wrong[1]], [wrong[0] + wrong[1], wrong[0]]):
        assert add_model_noise(true, models, 0.15).source == "model 0"


def test_model_noise_refuses() -> None:
    for predictions, rate, error, message in [
        (VOTES, None, InputError, r"^rate: expected the rate wanted, to choose one of 4 models by its error, got None"),
        (VOTES, 10, InputError, r"^rate: .*for 10% write 0.1"),
        ([0, 1], None, InputError, r"^predictions: expected 5 labels of each model, as many as `y` has, got 2 of"),
        (np.array(VOTES).T, 0.2, InputError, r"pass predictions.T$"),
        (["a", "b", "a", "b", "a"], None, InputError, r"^predictions, model 0: expected classes among 0, 1, 2"),
        ({"m": VOTES[0], "w": ["a"] * 5}, 0.1, InputError, r"^predictions, model 'w': expected classes among"),
        (pd.DataFrame(VOTES), 0.1, InputTypeError, r"pass frame.to_numpy"),
        (None, None, InputTypeError, r"^predictions, model 0: expected one class per instance, got NoneType"),
        ({}, 0.1, NotEnoughData, r"^predictions: expected at least 1 model, got none"),
        (np.full((5, 3), 0.3), 0.1, InputError, r"look like probabilities"),
    ]:
        with pytest.raises(error, match=message):
            add_model_noise(TRUE, predictions, rate)
