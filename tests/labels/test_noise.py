"""Noise by features: exact rate, nested, deterministic, as artificial annotators would mistake."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import TransitionCounts, add_feature_noise
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


def test_ties_go_to_the_earlier_instance_and_class() -> None:
    noisy = add_feature_noise([0, 0, 0], [[2, 2, 2], [1, 1, 1]], 0.34, legitimacy=[1, 1])
    assert_exact(noisy.labels, [1, 0, 0])


def test_the_highest_reachable_rate() -> None:
    assert add_feature_noise(TRUE, VOTES, 0.6).rate == 0.6
    message = r"^rate: 0.8 of 5 instances would be 4 wrong labels, but only 3 .* highest reachable rate is 0.6$"
    with pytest.raises(InputError, match=message):
        add_feature_noise(TRUE, VOTES, 0.8)


def test_names_stay_names() -> None:
    names = np.array(["cat", "dog", "elephant"])
    noisy = add_feature_noise(names[TRUE], {str(i): names[row] for i, row in enumerate(np.array(VOTES))}, 0.6)
    assert noisy.labels.tolist() == ["cat", "elephant", "cat", "cat", "elephant"]
    assert noisy.counts.classes == ("cat", "dog", "elephant")


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
    monkeypatch.setattr("demele.labels.noise.CELLS_AT_ONCE", 10)
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
