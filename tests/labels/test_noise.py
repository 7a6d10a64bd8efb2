"""Label noise: artificial annotators, and noise by features, by models, uniform and per class."""

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, norm
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from demele.core.error_aims import ErrorAims
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.labels import NoisyLabels, TransitionCounts, TransitionMatrix, asymmetric_transition, symmetric_transition
from demele.labels.made.annotators import ArtificialAnnotators, artificial_annotators, candidate_annotator
from demele.labels.made.noise import (
    _drawn,
    add_class_noise,
    add_feature_noise,
    add_model_noise,
    add_noise,
    add_uniform_noise,
)
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_at_most, assert_close, assert_exact

# Artificial annotators ------------------------------------------------------------------------------------------------


STEP, TOLERANCE, HIGHEST = 0.05, 0.01, 0.4
AIMS = ErrorAims(HIGHEST, STEP, TOLERANCE)


@cache
def digits() -> tuple[Any, Any]:
    features, y = load_digits(return_X_y=True)
    return features[:600], y[:600]


@cache
def found() -> ArtificialAnnotators:
    return artificial_annotators(*digits(), n_annotators=27)


def blobs(n: int = 90) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + y[:, None], y


def test_every_annotator_is_eligible() -> None:
    errors = found().errors
    assert_exact(errors, (found().predictions != digits()[1]).mean(axis=1))
    assert (errors < HIGHEST).all()
    assert_at_most(np.abs(errors - STEP * np.round(errors / STEP)), TOLERANCE, ROUNDING)
    assert_exact(found().legitimacy, 1 - errors)
    assert_exact(errors, np.sort(errors))


def test_errors_are_spread_evenly_over_the_multiples() -> None:
    near = np.bincount(np.round(found().errors / STEP).astype(int), minlength=9)
    # 27 over nine multiples; few reach the first and the last, whose intervals are half as wide
    assert near.sum() == 27
    assert near[1:8].min() >= 2
    assert near.max() <= 5


def test_they_are_varied() -> None:
    families = {name.rstrip("0123456789").split(":")[0].rsplit(" ", 1)[0] for name in found().names}
    assert len(families) >= 6
    assert len(set(found().names)) == 27
    assert len({row.tobytes() for row in found().predictions}) == 27
    # alike in how often they are wrong, not in where: two of one multiple share few more mistakes than they must
    wrong = found().predictions != digits()[1]
    alike = np.flatnonzero(np.round(found().errors / STEP) == 4)
    shared = (wrong[alike[0]] & wrong[alike[1]]).sum() / wrong[alike[0]].sum()
    assert 0.2 < shared < 0.9


def test_same_bits_whatever_the_number_of_processes() -> None:
    features, y = blobs()
    one, two = (artificial_annotators(features, y, n_annotators=12, seed=3, n_jobs=jobs) for jobs in (1, 2))
    assert_exact(one.predictions, two.predictions)
    assert one.names == two.names
    assert str(one.signature) == str(two.signature)
    other = artificial_annotators(features, y, n_annotators=12, seed=4)
    assert one.names != other.names


def test_a_candidate_is_a_function_of_seed_and_index() -> None:
    features, y = digits()
    name, predictions = candidate_annotator(features, y, 0, AIMS, 7)
    candidate_annotator(features, y, 0, AIMS, 8)
    again = candidate_annotator(features, y, 0, AIMS, 7)
    assert name == again[0]
    assert_exact(predictions, again[1])
    # a kept annotator is the candidate of its number
    position = 13
    index = int(found().names[position].split(":")[0].split()[-1])
    name, predictions = candidate_annotator(features, y, 0, AIMS, index)
    assert name == found().names[position]
    assert_exact(predictions, found().predictions[position])


def test_own_models() -> None:
    features, y = digits()
    model = DecisionTreeClassifier(max_depth=5, random_state=0)
    expected = {"tree": model, "bayes": GaussianNB(), "nearest": KNeighborsClassifier(1)}
    some = artificial_annotators(features, y, models=expected, tolerance=0.025)
    by_error = sorted((np.mean(one.fit(features, y).predict(features) != y), name) for name, one in expected.items())
    assert some.names == tuple(name for _, name in by_error)
    assert_exact(some.errors, [error for error, _ in by_error])
    assert_exact(some.predictions[-1], expected[some.names[-1]].predict(features))
    assert some.notes == ()


def test_models_that_answer_the_same_join_once() -> None:
    features, y = blobs()
    some = artificial_annotators(features, y, models=[GaussianNB(), GaussianNB()], tolerance=0.025)
    assert some.names == ("GaussianNB 0",)
    assert some.notes[0].code == "ineligible-models"
    assert "1 answer all as an earlier one" in some.notes[0].message


def test_too_few_are_returned_with_a_note() -> None:
    # With seven instances, the only multiple of a seventh near a multiple of 5% is 0, and one annotator has no error.
    features, y = blobs(7)
    some = artificial_annotators(features, y, n_annotators=5, tolerance=0.001)
    assert_exact(some.predictions, [y])
    assert some.n_candidates == 50
    assert [note.code for note in some.notes] == ["few-annotators"]
    assert some.notes[0].message.startswith("1 of 5 annotators wanted: of 50 models tried")


def test_no_eligible_model() -> None:
    features, y = blobs()
    refuses(NotEnoughData, r"models: none of 1 models", artificial_annotators, features, y, models=[DummyClassifier()])
    # nothing to learn: what looks the same is called the same
    y = np.random.default_rng(0).integers(2, size=400)
    with pytest.raises(NotEnoughData, match=r"features: none of 10 models has an error under 0.01 .* go from"):
        artificial_annotators(
            np.zeros((400, 1)), y, n_annotators=1, highest_error=0.01, step=0.01, tolerance=0.001, seed=2
        )


def test_bad_input() -> None:
    changed_cases: Any = [
        ({"features": np.zeros((4, 90))}, InputError, r"features and y: .* got 4 and 90; pass features.T"),
        ({"y": np.arange(90) % 2, "features": np.zeros((80, 2))}, InputError, r"got 80 and 90; row r of both"),
        ({"y": np.zeros(90, dtype=int)}, NotEnoughData, r"y: expected at least 2 classes, got only 0"),
        ({"y": np.arange(90)}, NotEnoughData, r"y: expected fewer classes than instances, got 90 of 90"),
        ({"models": []}, NotEnoughData, r"models: expected at least 1 classifier"),
        ({"models": GaussianNB()}, InputTypeError, r"models: expected a sequence .* write \[model\]"),
        ({"models": "trees"}, InputTypeError, r"models: expected a sequence of classifiers"),
        ({"models": [GaussianNB]}, InputTypeError, r"make an instance of it"),
        ({"models": [3]}, InputTypeError, r"models: expected classifiers with fit, predict and get_params, got 3"),
        ({"models": [Ridge()]}, InputError, r"models: Ridge 0 predicts values outside its classes"),
    ]
    for changed, error, message in changed_cases:
        features, y = blobs()
        refuses(error, message, artificial_annotators, **{"features": features, "y": y, **changed})


# Noise ----------------------------------------------------------------------------------------------------------------


# Four annotators on five instances; legitimacies 0.8, 0.6, 0.6, 0.4 (one minus the share of mistakes).
TRUE = [0, 1, 2, 0, 1]
VOTES = [[0, 1, 2, 0, 2], [0, 1, 1, 0, 2], [0, 2, 0, 0, 1], [0, 2, 0, 0, 0]]
# Difficulties: 0; 0.6 + 0.4; 0.6 + 0.6 + 0.4; 0; 0.8 + 0.6 + 0.4. So the order is instance 4, 2, 1.
# Mistakes: instance 4: class 2 (1.4) over 0 (0.4). Instance 2: class 0 (1.0) over 1 (0.6). Instance 1: class 2.


@pytest.mark.parametrize(
    ("rate", "expected"), [(0, [0, 1, 2, 0, 1]), (0.2, [0, 1, 2, 0, 2]), (0.4, [0, 1, 0, 0, 2]), (0.6, [0, 2, 0, 0, 2])]
)
def test_by_hand(rate: float, expected: list[int]) -> None:
    noisy = add_feature_noise(TRUE, VOTES, rate)
    assert_exact(noisy.labels, expected)
    assert noisy.rate == rate
    assert_exact(noisy.mislabelled, np.array(expected) != np.array(TRUE))


def test_legitimacy_changes_who_is_followed() -> None:
    # With trust in the last annotator only: instances 1, 2 and 4 are as difficult, and the earliest goes first.
    noisy = add_feature_noise(TRUE, VOTES, 0.4, legitimacy=[0, 0, 0, 1])
    assert_exact(noisy.labels, [0, 2, 0, 0, 1])
    # With trust in the first only, one instance can be mislabelled.
    refuses(InputError, r"highest reachable rate is 0.2$", add_feature_noise, TRUE, VOTES, 0.4, legitimacy=[1, 0, 0, 0])


def test_ties_go_to_the_earlier_instance_and_annotator() -> None:
    noisy = add_feature_noise([0, 0, 0], [[2, 2, 2], [1, 1, 1]], 0.34, legitimacy=[1, 1])
    assert_exact(noisy.labels, [2, 0, 0])


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
        refuses(InputError, r"highest reachable rate", add_feature_noise, true, votes, (reachable + 1) / n)


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


def test_refuses() -> None:
    refuses(InputError, r"rate: expected a share .* got 5; for 5% write 0.05", add_feature_noise, TRUE, VOTES, 5)
    refuses(InputError, r"^noise: expected a share .* got 1.5", add_noise, TRUE, [0.1, 1.5])
    for rate in (-0.1, float("nan"), True, "5%"):
        refuses(InputError, r"^rate: expected a share", add_feature_noise, TRUE, VOTES, rate)
    refuses(InputError, r"annotations: expected 5 labels of", lambda: add_feature_noise(TRUE, np.array(VOTES).T, 0.2))
    refuses(InputTypeError, r"pass frame.to_numpy", add_feature_noise, TRUE, pd.DataFrame(VOTES), 0.2)
    refuses(NotEnoughData, r"at least 1 annotator", add_feature_noise, TRUE, [], 0.2)
    refuses(InputTypeError, r"annotations: expected shape", add_feature_noise, TRUE, "votes", 0.2)
    refuses(NotEnoughData, r"at least 2 classes", add_feature_noise, [1, 1], [[1, 1]], 0)
    for odd, message in itertools.zip_longest(
        ([1, 1], [1, 1, 1, -1]), ("expected 4 numbers", "first -1 of annotator 3")
    ):
        refuses(InputError, r"legitimacy: .*" + message, add_feature_noise, TRUE, VOTES, 0.2, legitimacy=odd)


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
        (pd.DataFrame(VOTES), 0.1, InputTypeError, r"pass frame.to_numpy"),
        (None, None, InputTypeError, r"^predictions, model 0: expected one class per instance, got NoneType"),
        ({}, 0.1, NotEnoughData, r"^predictions: expected at least 1 model, got none"),
    ]:
        refuses(error, message, add_model_noise, TRUE, predictions, rate)


# Uniform noise and noise per class -----------------------------------------------------------------------------------


Array = NDArray[Any]

#: n and K; with (20, 20) and (1000, 1000) every class has one instance.
SIZES = [(20, 2), (20, 20), (999, 7), (1000, 1000), (5000, 300), (1_000_000, 1000)]
RATES = [0.0, 0.01, 0.1, 0.35, 0.9, 1.0]


def classes_of(n: int, k: int) -> Array:
    """Return n true classes of unequal frequencies, each of the K at least once."""
    rng = np.random.default_rng([n, k])
    drawn = np.minimum(rng.geometric(min(1.0, 3 / k), n - k) - 1, k - 1)
    return rng.permutation(np.concatenate([np.arange(k), drawn]))


def assert_within_five_errors(count: Any, trials: Any, rate: Any) -> None:
    """Binomial counts whose exact tail is no smaller than that of a normal variable beyond five standard errors."""
    tail = norm.sf(5)
    beyond = (binom.cdf(count, trials, rate) < tail) | (binom.sf(np.asarray(count) - 1, trials, rate) < tail)
    assert not beyond.any(), (np.asarray(count)[beyond][:3], (np.asarray(trials) * rate)[beyond][:3])


def assert_consistent(noisy: NoisyLabels, true: Array) -> None:
    assert_exact(noisy.true_labels, true)
    assert_exact(noisy.mislabelled, noisy.labels != true)
    assert noisy.labels.dtype == noisy.true_labels.dtype
    assert noisy.rate == noisy.mislabelled.mean() == noisy.counts.rate
    assert noisy.n == noisy.counts.n == true.size


def assert_nested(inner: NoisyLabels, outer: NoisyLabels, *, labels: bool = True) -> None:
    assert outer.mislabelled[inner.mislabelled].all()
    if labels:
        assert_exact(outer.labels[inner.mislabelled], inner.labels[inner.mislabelled])


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_class_noise_has_the_rate(n: int, k: int) -> None:
    true = classes_of(n, k)
    previous = {flag: add_class_noise(true, symmetric_transition(k, 0.0), exact=flag, seed=3) for flag in (True, False)}
    sizes = np.bincount(true)
    for rate in RATES if n < 10**5 else [0.35]:
        matrix = symmetric_transition(k, rate)
        exact, free = (add_class_noise(true, matrix, exact=flag, seed=3) for flag in (True, False))
        assert_within_five_errors(free.counts.wrong, n, rate)
        for noisy in (exact, free):
            assert_consistent(noisy, true)
            assert_close(noisy.wanted or 0.0, rate, ROUNDING)
            assert_nested(previous[noisy is exact], noisy)
        assert_exact(exact.counts.counts.sum(axis=1), sizes)
        assert (np.abs(exact.counts.counts - sizes[:, None] * matrix.probabilities) <= 1).all()
        previous = {True: exact, False: free}


@pytest.mark.parametrize(
    ("true", "table", "expected"),
    [
        # 4 x (.7, .2, .1) = 2.8, .8, .4: down to 2, 0, 0; two are left, for .8 and .8.
        ([0] * 4 + [1, 2], [[0.7, 0.2, 0.1], [0, 1, 0], [0, 0, 1]], [[3, 1, 0], [0, 1, 0], [0, 0, 1]]),
        # A tie of right and wrong: the right label first.
        ([0] * 3 + [1], [[0.5, 0.5], [0, 1]], [[2, 1], [0, 1]]),
        # 10 x .29 is 2.9 and 10 x .71 is 7.1, whatever their last bits.
        ([0] * 10 + [1] * 10, [[0.71, 0.29], [0.3, 0.7]], [[7, 3], [3, 7]]),
        ([0, 1, 1], [[0, 1], [1, 0]], [[0, 1], [2, 0]]),
    ],
)
def test_exact_cells_by_hand(true: list[int], table: list[list[float]], expected: list[list[int]]) -> None:
    for seed in range(5):
        assert_exact(add_class_noise(true, table, exact=True, seed=seed).counts.counts, expected)


def test_a_draw_of_nothing_never_finds_a_label_without_probability() -> None:
    table = np.array([[0.0, 0.0, 1.0], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0]])
    found = _drawn(np.arange(3, dtype=np.int32), table, np.full(3, 0.9), np.zeros(3))
    assert_exact(found, [2, 2, 0])


def nearest_by_enumeration(size: int, row: list[float]) -> float:
    """Least sum of squared gaps to size x row among whole numbers that sum to size."""

    def best(left: int, index: int) -> float:
        if index == len(row) - 1:
            return (left - size * row[index]) ** 2
        return min((m - size * row[index]) ** 2 + best(left - m, index + 1) for m in range(left + 1))

    return best(size, 0)


tables = st.integers(2, 4).flatmap(
    lambda k: st.tuples(
        st.lists(st.integers(0, k - 1), min_size=1, max_size=25),
        st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any), min_size=k, max_size=k),
        st.integers(0, 2**40),
    )
)


@given(tables)
def test_exact_cells_are_the_nearest(drawn: tuple[list[int], list[list[int]], int]) -> None:
    true, whole, seed = np.array(drawn[0]), np.array(drawn[1], float), drawn[2]
    table = whole / whole.sum(axis=1, keepdims=True)
    matrix = TransitionMatrix(table, classes=range(len(table)))
    noisy = add_class_noise(true, matrix, exact=True, seed=seed)
    assert_consistent(noisy, true)
    for row in np.unique(true):
        size = int((true == row).sum())
        gap = float(((noisy.counts.counts[row] - size * table[row]) ** 2).sum())
        assert_close(gap, nearest_by_enumeration(size, table[row].tolist()), ROUNDING)
    assert (noisy.counts.counts[table == 0] == 0).all()


@given(tables, st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_nested_where_only_the_diagonal_changes(
    drawn: tuple[list[int], list[list[int]], int], one: float, two: float, exact: bool
) -> None:
    true, whole, seed = np.array(drawn[0]), np.array(drawn[1], float), drawn[2]
    k = len(whole)
    others = np.where(np.eye(k, dtype=bool), 0.0, whole + 1)
    others /= others.sum(axis=1, keepdims=True)
    low, high = (
        add_class_noise(
            true, TransitionMatrix(rate * others + (1 - rate) * np.eye(k), classes=range(k)), exact=exact, seed=seed
        )
        for rate in sorted([one, two])
    )
    assert_nested(low, high, labels=not exact)
    low, high = (
        add_class_noise(true, symmetric_transition(k, rate), exact=exact, seed=seed) for rate in sorted([one, two])
    )
    assert_nested(low, high)


@pytest.mark.parametrize(
    "make",
    [
        lambda y, seed: add_uniform_noise(y, 0.4, seed=seed),
        lambda y, seed: add_uniform_noise(y, 0.4, exact=False, seed=seed),
        lambda y, seed: add_class_noise(y, symmetric_transition(4, 0.4), seed=seed),
        lambda y, seed: add_class_noise(y, symmetric_transition(4, 0.4), exact=True, seed=seed),
    ],
)
def test_the_seed_decides(make: Callable[[Array, int], NoisyLabels]) -> None:
    true = np.arange(400) % 4
    assert_exact(make(true, 1).labels, make(true, 1).labels)
    assert_exact(make(true, 1).labels, make(true, np.int64(1)).labels)  # type: ignore[arg-type]
    assert (make(true, 1).mislabelled != make(true, 2).mislabelled).sum() > 100


def test_classes_are_matched_by_name() -> None:
    table = pd.DataFrame([[0.0, 1.0], [0.0, 1.0]], index=["dog", "cat"], columns=["dog", "cat"])
    assert add_class_noise(["cat", "dog"], table, seed=0).labels.tolist() == ["cat", "cat"]
    # Without names, numbers are in sorted order; strings would be in an order that nobody chose, and are refused.
    assert add_class_noise([5, 7], table.to_numpy(), seed=0).labels.tolist() == [7, 7]
    named = TransitionMatrix(table.to_numpy(), classes=["cat", "dog"])
    assert add_class_noise(["cat", "dog"], named, seed=0).labels.tolist() == ["dog", "dog"]
    counts = TransitionCounts([[0, 5], [0, 5]], classes=["dog", "cat"])
    assert add_class_noise(["cat", "dog"], counts, seed=0).labels.tolist() == ["cat", "cat"]
    # The matrix may know classes that these labels lack.
    noisy = add_class_noise(["owl"], asymmetric_transition(["dog", "owl"], {"owl": {"dog": 1}}), seed=0)
    assert noisy.labels.tolist() == ["dog"]
    assert noisy.counts.classes == ("dog", "owl")


def test_symmetric_and_asymmetric_by_hand() -> None:
    assert_close(
        symmetric_transition(3, 0.4).probabilities, [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]], ROUNDING
    )
    assert symmetric_transition(3, 0.4).classes == (0, 1, 2)
    assert_exact(symmetric_transition(["a", "b"], 1).probabilities, [[0, 1], [1, 0]])
    expected = np.array([[0.85, 0.1, 0.05], [0, 1, 0], [0.2, 0, 0.8]])
    pairs = {("a", "b"): 0.1, ("a", "c"): 0.05, ("c", "a"): 0.2}
    rows = {"a": {"b": 0.1, "c": 0.05}, "c": ("a", 0.2)}
    for confusions in (pairs, rows):
        found = asymmetric_transition(["a", "b", "c"], confusions)
        assert_close(found.probabilities, expected, ROUNDING)
        assert found.classes == ("a", "b", "c")
    assert_exact(asymmetric_transition(2, {}).probabilities, np.eye(2))
    assert asymmetric_transition(2, {(0, 1): 1}).probability(true=0, given=0) == 0
    # These sum to more than 1 in the last bit.
    whole = asymmetric_transition(5, {0: {1: 0.05, 2: 0.55, 3: 0.3, 4: 0.1}})
    assert_close(whole.probabilities[0], [0, 0.05, 0.55, 0.3, 0.1], ROUNDING)
    thirds = asymmetric_transition(4, {0: {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}})
    assert_close(thirds.probabilities[0], np.array([0, 1, 1, 1]) / 3, ROUNDING)


def test_uniform_noise_refuses() -> None:
    y_cases: Any = [
        ([1, 1], {}, NotEnoughData, r"^y: expected at least 2 classes, got only 1; give all classes with `classes="),
        ([1, 2], {"classes": [1, 3]}, InputError, r"^y: 1 of 2 values are not among the 2 classes 1, 3: 2, first"),
        ([1, 2], {"exact": "no"}, InputTypeError, r"^exact: expected True or False, got 'no'"),
    ]
    for y, options, error, message in y_cases:
        refuses(error, message, add_uniform_noise, y, 0.5, seed=0, **options)


GOOD = [[0.9, 0.1], [0.2, 0.8]]


def test_class_noise_refuses() -> None:
    for y, transition, error, message in [
        ([0, 1], [[0.9, 0.2], [0.1, 0.8]], InputError, r"^transition: .*it looks transposed: rows are true classes"),
        ([0, 1, 2], GOOD, InputError, r"^transition: its 2 classes have no names, and `y` has 3 classes: 0, 1, 2; "),
        ([0, 0], GOOD, InputError, r"^transition: its 2 classes have no names, and `y` has 1 classes: 0; name them"),
        (["cat", "cow"], TransitionMatrix(GOOD, ["cat", "dog"]), InputError, "^transition:"),
        ([0, 1], TransitionMatrix(GOOD, ["cat", "dog"]), InputError, r"lack 0, 1, which `y` has"),
        (["dog", "cat"], GOOD, InputError, r"and those of `y` have.*classes=\[\.\.\.\]\).*; in sorted order they"),
        (["dog", "cat"], TransitionCounts([[3, 1], [1, 3]]), InputError, "no names, and those of `y` have"),
        ([0, 1], TransitionCounts([[3, 1], [0, 0]]), NotEnoughData, r"never counted.*to_matrix\(empty='right'\)"),
        ([], GOOD, NotEnoughData, r"^y: expected at least 1 instance"),
        (["a", "b"], pd.DataFrame(GOOD, index=["a", "b"], columns=["b", "a"]), InputError, "^transition:"),
    ]:
        refuses(error, message, add_class_noise, y, transition, seed=0)


def test_asymmetric_transition_refuses() -> None:
    confusions_cases: Any = [
        ({("a", "z"): 0.1}, InputError, r"^confusions: expected one of the classes 'a', 'b', 'c', got 'z'"),
        ({"z": {"a": 0.1}}, InputError, r"got 'z'"),
        ({("a", "a"): 0.9}, InputError, r"^confusions: expected two different classes, got 'a' twice"),
        ({("a", "b"): 10}, InputError, r"^confusions, 'a' as 'b': expected a share.*got 10; for 10% write 0.1"),
        ({("a", "b"): float("nan")}, InputError, r"got nan"),
        ({"a": {"b": 0.6, "c": 0.5}}, InputError, r"sum to at most 1 for each true class, got 1.1 for 'a'"),
        ({("a", "b"): 0.1, "a": {"b": 0.2}}, InputError, r"'a' as 'b' more than once"),
        ({"a": 0.1}, InputTypeError, r"^confusions: expected a mapping .*got 'a': 0.1"),
        ([("a", "b", 0.1)], InputTypeError, r"^confusions: expected a mapping .*got list"),
    ]
    for confusions, error, message in confusions_cases:
        refuses(error, message, asymmetric_transition, ["a", "b", "c"], confusions)


@pytest.mark.parametrize("classes", [None, True, "ab", 2.0])
def test_transitions_refuse_what_is_no_classes(classes: Any) -> None:
    refuses(InputTypeError, r"^classes: expected ", asymmetric_transition, classes, {})


def test_what_was_done_can_be_read() -> None:
    noisy = add_uniform_noise(["a", "b", "a", "b"], 0.5, classes=["a", "b", "c"], seed=1)
    frame = noisy.to_frame()
    assert list(frame.columns) == ["label", "true", "mislabelled"]
    assert_exact(frame["label"], noisy.labels)
    assert_exact(frame["true"], ["a", "b", "a", "b"])
    assert_exact(frame["mislabelled"], frame["label"] != frame["true"])
    realised = noisy.transition
    assert realised.classes == ("a", "b", "c")
    assert_close(realised.probabilities[:2], noisy.counts.counts[:2] / 2, ROUNDING)
    assert_exact(realised.probabilities[2], [0, 0, 1])
    assert noisy.sentence == "2 of 4 labels were made wrong: 50.0% (asked for: 50.0%)."
