"""The blend, the one-coin model and Dawid-Skene with its own prior; and one call that joins answers."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from demele.core.arrays import rng_for
from demele.core.errors import DemeleError, InputError, NotConvergedWarning
from demele.core.proportions import exact_interval
from demele.data import load_example
from demele.data.examples import CROWDS, crowd_example
from demele.labels import (
    Annotations,
    Consensus,
    aggregate,
    consensus,
    dawid_skene,
    majority_vote,
    one_coin,
)
from demele.noise.transition import count_labels
from tests.labels.test_item_response import Answers, crowds, read
from tests.oracles import annotators as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

#: ann and bob say 0 0 1, cal says 0 1 1.
THREE = [[0, 0, 1], [0, 0, 1], [0, 1, 1]]


# By hand.


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


def test_bad_settings() -> None:
    options_cases: Any = [
        ({"prior": "pooled"}, "prior: expected 'own', got 'pooled'"),
        ({"prior": 5}, "prior: expected 'own', got 5"),
        ({"strength": 5}, "strength: is of prior='own', which is not asked for"),
        ({"prior": "own", "smoothing": 1}, "smoothing: prior='own' takes its place"),
        ({"prior": "own", "tolerance": -1}, "tolerance: expected a finite number >= 0"),
    ]
    for options, message in options_cases:
        refuses(InputError, "^" + re.escape(message), dawid_skene, THREE, **options)


# One call that joins answers, and compares the labels with true ones and with given ones -----------------------------


#: Four annotators about six items; the first is always right, the last nearly never.
TRUE = np.array([0, 1, 0, 1, 0, 1])
ANSWERS = [TRUE, [0, 1, 0, 1, 1, 1], [0, 1, 0, 0, 0, 1], [1, 0, 1, 1, 1, 1]]
NAMED = Annotations.from_matrix(ANSWERS, items=[f"i{place}" for place in range(6)])


def test_true_labels_are_found_by_the_names_of_items() -> None:
    every = aggregate(NAMED, gold=TRUE).gold
    assert (every.n, every.majority.right) == (6, int((consensus(ANSWERS, method="majority").labels == TRUE).sum()))
    shuffled = {f"i{place}": int(TRUE[place]) for place in (4, 1, 3)}
    found = aggregate(NAMED, gold={**shuffled, "nobody": 1})
    assert found.gold.n == 3
    assert found.gold.consensus.right == int((consensus(ANSWERS).labels[[4, 1, 3]] == TRUE[[4, 1, 3]]).sum())
    (note,) = found.notes
    assert note.message == "`gold`: 1 of 4 items have no answer and are left out."
    assert note.message in [one["message"] for one in found.to_dict()["notes"]]


def test_noise_of_given_labels() -> None:
    given = 1 - TRUE
    found = aggregate(NAMED, given=given)
    assert found.given.wrong_share == consensus(ANSWERS).wrong_share(given)
    assert_close(found.noise_frame().iloc[:, 1:].to_numpy(), consensus(ANSWERS).noise(given).probabilities, ROUNDING)
    refuses(InputError, "given: expected the labels whose noise", aggregate(ANSWERS).noise_frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": 1.0}, "smoothing: is for `method='dawid-skene'`, not blend"),
        ({"method": "majority", "n_chains": 2}, "n_chains: is for `method='bayesian'`, not majority"),
        ({"scale": "ratio"}, "scale: is for `agreement`, which is not asked for"),
        ({"method": "bayesian", "feature_model": "normal"}, "feature_model: says what `features` are"),
        ({"gold": [0, 1]}, "gold: expected 6 labels, one per item in their order, got 2"),
        ({"gold": {"z": 1}}, "gold: none of its 1 items has an answer, first 'z'"),
        ({"gold": [7] * 6}, "gold: none of its classes, such as 7"),
        ({"given": [7] * 6}, "given: 6 of 6 values are not among"),
        ({"method": "votes"}, "method: expected one of"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    refuses(DemeleError, re.escape(message), aggregate, ANSWERS, **options)


def test_counts_of_a_sample_have_intervals_of_their_level() -> None:
    found = count_labels([0, 0, 0, 1], [0, 0, 1, 1], level=0.8)
    low, high = exact_interval(1, 4, level=0.8)
    content = found.to_dict()
    assert (content["wrong"], content["n"], content["level"]) == (1, 4, 0.8)
    assert_close([content["interval"]["low"], content["interval"]["high"]], [low, high], ROUNDING)
    assert found.to_frame().to_numpy().tolist() == [[0, 2, 1], [1, 0, 1]]
    assert "80% interval" in found.document().headline
