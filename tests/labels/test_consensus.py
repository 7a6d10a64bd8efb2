"""The blend, the one-coin model and Dawid-Skene with its own prior: by hand, against loops, on crowds, bad settings."""

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from demele.core.errors import InputError, NotConvergedWarning, UnknownNameError
from demele.core.seeds import rng_for
from demele.data import load_example
from demele.data.label_sets import CROWDS, crowd_example
from demele.labels import Annotations, Consensus, consensus, dawid_skene, majority_vote, one_coin
from tests.labels.test_item_response import Answers, crowds, read
from tests.oracles import annotators as oracle
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

#: ann and bob say 0 0 1, cal says 0 1 1.
THREE = [[0, 0, 1], [0, 0, 1], [0, 1, 1]]


# By hand.


def test_one_step_of_the_own_prior_by_hand() -> None:
    found = dawid_skene(THREE, prior="own", max_iterations=1, tolerance=0)
    # Votes for 0: 1, 2/3, 0. Right answers expected of ann 8/3 of 3, of bob as many, of cal 7/3: 23/3 of 9 in all, so
    # P = (23/3 + 1) / 11 = 26/33; ann's coin (8/3 + 52/33) / 5 = 28/33, cal's (7/3 + 52/33) / 5 = 43/55.
    # ann about 0: counts 5/3 and 0, and 5 (28/33, 5/33): 39/44, 5/44; about 1: 1/3 and 1, and 5 (5/33, 28/33): 36/209,
    # 173/209. cal about 0: 1 and 2/3, and 5 (43/55, 12/55): 81/110, 29/110; about 1: 0 and 4/3: 36/209, 173/209.
    # Proportions (5/3 + 1) / 5 = 8/15 and 7/15.
    ann, cal = ((39, 44), (36, 209)), ((81, 110), (36, 209))
    expected = []
    for answers in zip(*THREE, strict=True):
        weights = [Fraction(8, 15), Fraction(7, 15)]
        for says, of in zip(answers, (ann, ann, cal), strict=True):
            for true in (0, 1):
                zero = Fraction(*of[true])
                weights[true] *= zero if says == 0 else 1 - zero
        expected.append([float(weight / sum(weights)) for weight in weights])
    assert_close(found.probabilities, expected, ROUNDING)
    # What the step after it holds, from these posteriors.
    p0 = [row[0] for row in expected]
    assert_close(found.proportions, [(sum(p0) + 1) / 5, (4 - sum(p0)) / 5], ROUNDING)
    right = [p0[0] + p0[1] + 1 - p0[2]] * 2 + [p0[0] + 2 - p0[1] - p0[2]]
    pooled = (sum(right) + 1) / 11
    coins = [(one + 2 * pooled) / 5 for one in right]
    assert_close(found.details["accuracies"], coins, ROUNDING)
    row = np.array([p0[0] + 5 * coins[2], p0[1] + p0[2] + 5 * (1 - coins[2])])
    assert_close(found.transition(2).probabilities[0], row / row.sum(), ROUNDING)
    assert found.objective == ()
    assert found.converged is None


def test_one_step_of_one_coin_by_hand() -> None:
    found = one_coin(THREE, max_iterations=1, tolerance=0)
    coins = (Fraction(28, 33), Fraction(28, 33), Fraction(43, 55))
    weights = [Fraction(8, 15), Fraction(7, 15)]
    for coin, says in zip(coins, (0, 0, 1), strict=True):  # of item 1
        for true in (0, 1):
            weights[true] *= coin if says == true else 1 - coin
    assert_close(found.probabilities[1, 0], float(weights[0] / sum(weights)), ROUNDING)


def read_with(answers: NDArray[Any], k: int) -> Annotations:
    """Of answers of shape (n_annotators, n_items), -1 for none, and one more item that nobody answered."""
    item, who = np.nonzero(answers.T != -1)
    return Annotations(item, who, answers[who, item], classes=range(k), all_items=[*range(answers.shape[1]), 99])


@pytest.mark.parametrize("k", [2, 3])
def test_the_blend_is_the_mean_of_its_members(k: int) -> None:
    rng = rng_for(0, "test_consensus", "members", k)
    answers = rng.integers(k, size=(6, 40))
    answers[0, :5] = -1
    table = read_with(answers, k)
    found = consensus(table)
    members = [majority_vote(table), dawid_skene(table, prior="own")]
    if k == 2:
        members.append(one_coin(table))
    mean = np.mean([one.probabilities[:40] for one in members], axis=0)
    assert_close(found.probabilities[:40], mean, ROUNDING)
    assert_close(found.proportions, mean.mean(axis=0), ROUNDING)
    assert_exact(found.probabilities[40], found.proportions)
    assert_exact(found.labels[:40], mean.argmax(axis=1))
    assert_exact(found.majority, members[0].labels)
    assert found.details["members"] == ("majority", "own-prior", *(["one-coin"] if k == 2 else []))
    assert found.converged
    assert found.iterations == max(one.iterations for one in members)
    assert str(found.signature).startswith("consensus")
    counts = found.profiles.counts.sum()
    assert_close(counts, np.count_nonzero(answers != -1), ROUNDING)


def test_a_blend_by_hand() -> None:
    # Of two annotators who never answer the same, all is even: every member says a half of each class.
    found = consensus([[0, 1, 0, 1], [1, 0, 1, 0]])
    assert_close(found.probabilities, np.full((4, 2), 0.5), ROUNDING)
    # One answer each: both coins are P = (1 + 1) / (2 + 2), one in two, so that the models know the proportions only.
    alone = consensus([[0, -1], [-1, 1]], no_answer=-1, classes=[0, 1])
    own = dawid_skene([[0, -1], [-1, 1]], no_answer=-1, classes=[0, 1], prior="own")
    coin = one_coin([[0, -1], [-1, 1]], no_answer=-1, classes=[0, 1])
    assert_close(alone.probabilities[0, 0], (1 + own.probabilities[0, 0] + coin.probabilities[0, 0]) / 3, ROUNDING)


# Against the definition.


@settings(max_examples=60)
@given(crowds())
def test_they_are_what_loops_give(crowd: tuple[Answers, int]) -> None:
    answers, k = crowd
    answered = sorted({i for i, _, _ in answers})
    for strength in (None, 0.5, 5.0):
        table = read(answers, k)
        if strength is None:
            found = one_coin(table, max_iterations=3, tolerance=0)
        else:
            found = dawid_skene(table, prior="own", strength=strength, max_iterations=3, tolerance=0)
        posterior, proportions, accuracies = oracle.shrunken(answers, 6, k, iterations=3, strength=strength)
        assert_close(found.probabilities[answered], np.array(posterior)[answered], SOLVER)
        assert_close(found.proportions, proportions, SOLVER)
        assert_close(found.details["accuracies"], accuracies, SOLVER)
        assert found.iterations == 3


def test_the_own_prior_ends_where_nothing_moves() -> None:
    crowd = load_example("mozafari_1000").to_frame()
    found = dawid_skene(crowd, prior="own")
    assert found.converged
    assert found.details["change"] <= 1e-6
    further = dawid_skene(crowd, prior="own", max_iterations=found.iterations + 200, tolerance=0)
    assert_close(further.probabilities, found.probabilities, SOLVER)


def test_a_strong_prior_is_one_coin_and_a_weak_one_the_plain_model() -> None:
    table = load_example("mozafari_1000").to_frame()
    strong = dawid_skene(table, prior="own", strength=1e9, max_iterations=5, tolerance=0)
    assert_close(strong.probabilities, one_coin(table, max_iterations=5, tolerance=0).probabilities, SOLVER)
    weak = dawid_skene(table, prior="own", strength=1e-9, max_iterations=2, tolerance=0)
    plain = dawid_skene(table, max_iterations=2, tolerance=0)
    assert float(np.mean(weak.labels == plain.labels)) > 0.99


def test_plain_dawid_skene_keeps_its_numbers() -> None:
    found = dawid_skene(load_example("mozafari_1000").to_frame())
    assert found.iterations == 212
    assert found.objective[-1] == pytest.approx(-2094.7468, abs=1e-3)
    assert str(dawid_skene(THREE).signature) == str(dawid_skene(THREE, tolerance=1e-10).signature)


# On crowds.


def right(found: Consensus, truth: NDArray[Any], rows: NDArray[np.intp]) -> float:
    """Share of right labels; of a tie, the share of a draw."""
    top = found.probabilities[rows] >= found.probabilities[rows].max(axis=1, keepdims=True) - 1e-12
    return float((top[np.arange(rows.size), truth] / top.sum(axis=1)).mean())


@pytest.mark.parametrize(
    ("name", "expected"),
    # Percent right of majority, one-coin, own prior and blend, as measured by another program.
    [("mozafari_1000", (69.6, 66.9, 70.4, 69.1)), ("hitspam_crowdflower", (66.0, 66.0, 66.0, 66.0))],
)
def test_bundled_sets_have_the_published_shares(name: str, expected: tuple[float, ...]) -> None:
    assert name in CROWDS
    crowd = crowd_example(name)
    found = [consensus(crowd.to_frame(), method=each) for each in ("majority", "one-coin", "own-prior", "blend")]
    place = {item: row for row, item in enumerate(found[0].items)}
    rows = np.array([place[item] for item in crowd.gold if item in place])
    truth = np.array([found[0].classes.index(crowd.gold[item]) for item in crowd.gold if item in place])
    shares = [round(100 * right(one, truth, rows), 1) for one in found]
    assert tuple(shares) == expected
    assert_at_most([shares[0] - 1.0], [shares[3]], ROUNDING)


# What it says of itself.


def test_one_class_and_a_silent_item() -> None:
    for method in ("blend", "one-coin", "own-prior"):
        found = consensus([["a", "a"], ["a", "a"]], method=method)
        assert_exact(found.probabilities, np.ones((2, 1)))
        assert found.converged
        assert "one-class" in {note.code for note in found.notes}


def test_it_says_when_it_had_not_converged() -> None:
    table = load_example("mozafari_1000").to_frame()
    with pytest.warns(NotConvergedWarning, match=r"own prior had not converged after 3 iterations: .* moved a post"):
        found = dawid_skene(table, prior="own", max_iterations=3)
    assert found.converged is False
    with pytest.warns(NotConvergedWarning, match=r"^one-coin had not converged after 2"):
        one_coin(table, max_iterations=2)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "median"}, UnknownNameError, "method: expected one of blend, majority"),
        ({"method": None}, UnknownNameError, "method: expected one of"),
        ({"method": ["blend"]}, UnknownNameError, "method: expected one of"),
    ],
)
def test_bad_methods(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        consensus(THREE, **options)


def test_bad_settings() -> None:
    options_cases: Any = [
        ({"prior": "pooled"}, "prior: expected 'own', got 'pooled'"),
        ({"prior": 5}, "prior: expected 'own', got 5"),
        ({"strength": 5}, "strength: is of prior='own', which is not asked for"),
        ({"prior": "own", "smoothing": 1}, "smoothing: prior='own' takes its place"),
        ({"prior": "own", "strength": 0}, "strength: expected a finite number above 0, got 0"),
        ({"prior": "own", "strength": float("nan")}, "strength: expected a finite number"),
        ({"prior": "own", "strength": float("inf")}, "strength: expected a finite number"),
        ({"prior": "own", "strength": True}, "strength: expected a finite number"),
        ({"prior": "own", "strength": "5"}, "strength: expected a finite number"),
        ({"prior": "own", "tolerance": -1}, "tolerance: expected a finite number >= 0"),
        ({"prior": "own", "max_iterations": 0}, "max_iterations: expected a whole number >= 1"),
    ]
    for options, message in options_cases:
        with pytest.raises(InputError, match="^" + re.escape(message)):
            dawid_skene(THREE, **options)
        if set(options) <= {"tolerance", "max_iterations"}:
            with pytest.raises(InputError, match="^" + re.escape(message)):
                one_coin(THREE, **options)


def test_the_vote_is_recommended_where_annotators_of_two_classes_answer_little() -> None:
    """Three answers an item of 200 annotators, each right on a share between .5 and .9: the blend loses to the vote."""
    rng = np.random.default_rng(0)
    right = {"vote": 0, "blend": 0}
    for _ in range(4):
        ability, truth = rng.uniform(0.5, 0.9, 200), rng.integers(0, 2, 400)
        answers = np.full((200, 400), -1)
        for item in range(400):
            who = rng.choice(200, 3, replace=False)
            answers[who, item] = np.where(rng.random(3) < ability[who], truth[item], 1 - truth[item])
        blend = consensus(answers, no_answer=-1)
        right["vote"] += int((blend.majority == truth).sum())
        right["blend"] += int((blend.labels == truth).sum())
        assert "few-answers" in [note.code for note in blend.notes]
    assert right["blend"] < right["vote"]
    many = consensus(rng.integers(0, 2, (3, 10)))
    assert "few-answers" not in [note.code for note in many.notes]
    assert "few-answers" not in [note.code for note in consensus(rng.integers(0, 3, (3, 9))).notes]
