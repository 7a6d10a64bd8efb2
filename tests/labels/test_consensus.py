"""The consensus of annotators: votes, Dawid-Skene by EM, the one-coin model, the blend, and one call for all."""

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.core.arrays import rng_for
from demele.core.errors import DemeleError, InputError, InputTypeError, NotConvergedWarning
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
from demele.labels.joined import voting
from demele.noise.transition import count_labels
from tests.oracles import annotators as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact, assert_mean

# Dawid-Skene by EM ----------------------------------------------------------------------------------------------------


Answers = list[tuple[int, int, int]]


@st.composite
def crowds(draw: st.DrawFn, least: int = 2) -> tuple[Answers, int]:
    """A few answers, repeats and silent items included, and the number of classes."""
    k = draw(st.integers(least, 4))
    answer = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, k - 1))
    return draw(st.lists(answer, min_size=1, max_size=25)), k


def read(answers: Answers, k: int, n_items: int = 6) -> Annotations:
    item, annotator, answer = zip(*answers, strict=True)
    return Annotations(item, annotator, answer, classes=range(k), all_items=range(n_items))


def simulated(
    name: str, truth: NDArray[Any], skills: list[float], *, k: int = 2, share: float = 1.0, seed: int = 0
) -> Annotations:
    """Annotators right with their probability, else any other class; each answers a share of the items."""
    rng = rng_for(seed, "test_item_response", name)
    n, w = truth.size, len(skills)
    right = rng.random((w, n)) < np.array(skills)[:, None]
    answers = np.where(right, truth, (truth + rng.integers(1, k, (w, n))) % k)
    answers[rng.random((w, n)) >= share] = -1
    return Annotations.from_matrix(answers, no_answer=-1, classes=range(k))


def accuracy(found: Consensus, truth: NDArray[Any]) -> tuple[float, float]:
    """Of the labels, and of the majority's."""
    return float(np.mean(found.labels == truth)), float(np.mean(found.majority == truth))


# Against the definition.


@settings(max_examples=60)
@given(crowds(), st.integers(1, 4), st.sampled_from([0.0, 0.01, 0.5, 2.0]))
def test_dawid_skene_is_what_loops_give(crowd: tuple[Answers, int], iterations: int, smoothing: float) -> None:
    answers, k = crowd
    found = dawid_skene(read(answers, k), smoothing=smoothing, max_iterations=iterations, tolerance=0)
    posterior, proportions, objective = oracle.dawid_skene(answers, 6, k, iterations=iterations, smoothing=smoothing)
    answered = sorted({i for i, _, _ in answers})
    assert_close(found.probabilities[answered], np.array(posterior)[answered], SOLVER)
    assert_close(found.proportions, proportions, SOLVER)
    assert_close([float(found.details["start"]), *found.objective], objective, SOLVER)
    assert found.iterations == len(found.objective) == iterations
    assert found.converged is None


def test_log_likelihood_is_that_of_the_estimates() -> None:
    table = simulated("likelihood", np.arange(60) % 3, [0.9, 0.7, 0.6, 0.5], k=3, share=0.8)
    found = dawid_skene(table, smoothing=0.3)
    profiles = {
        (w, k, c): float(found.transition(w).probabilities[k, c]) for w in range(4) for k in range(3) for c in range(3)
    }
    answers = list(zip(table.item.tolist(), table.annotator.tolist(), table.answer.tolist(), strict=True))
    posterior, value = oracle.log_likelihood(answers, 60, list(found.proportions), profiles)
    assert found.log_likelihood is not None
    assert_close(found.log_likelihood, value, ROUNDING)
    log_prior = 0.3 * sum(math.log(share) for share in profiles.values())
    assert_close(found.objective[-1], value + log_prior, ROUNDING)
    assert_close(found.probabilities, posterior, {"rtol": 1e-3, "atol": 1e-3})


# Its laws.


@settings(max_examples=80)
@given(crowds(), st.sampled_from([0.0, 1e-3, 1.0]))
def test_the_objective_never_decreases(crowd: tuple[Answers, int], smoothing: float) -> None:
    answers, k = crowd
    found = dawid_skene(read(answers, k), smoothing=smoothing, max_iterations=60, tolerance=0)
    trace = np.array([float(found.details["start"]), *found.objective])
    assert np.isfinite(trace).all()
    assert_at_most(trace[:-1], trace[1:], ROUNDING)
    assert_close(found.probabilities.sum(axis=1), np.ones(6), ROUNDING)
    assert (found.probabilities >= 0).all()


def test_a_cell_can_leave_zero() -> None:
    # At the votes, nobody can have met class 1 about items 2 and 3, where cal alone spoke, and cal met it elsewhere
    # only when saying 1. EM without the least pseudo-count holds cal's cell (class 1, answer 0) at exactly 0 for ever.
    table = [[0, 0, None, None, 1, 1, 1], [0, 0, None, None, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1]]
    found = dawid_skene(Annotations.from_matrix(table), max_iterations=1, tolerance=0)
    assert 0 < found.probabilities[2, 1] < 1e-8
    assert_close(found.probabilities[2], [1, 0], SOLVER)


# Odd crowds.


def test_items_without_answers_have_the_proportions_and_change_nothing() -> None:
    table = simulated("silent", np.arange(50) % 2, [0.9, 0.8, 0.7])
    frame = table.to_frame()
    wider = Annotations(frame["item"], frame["annotator"], frame["answer"], all_items=range(60))
    a, b = dawid_skene(table), dawid_skene(wider)
    assert_exact(b.probabilities[:50], a.probabilities)
    assert_exact(b.probabilities[50:], np.tile(a.proportions, (10, 1)))
    assert_exact(b.n_answers[50:], np.zeros(10))
    assert_exact(a.objective, b.objective)
    assert "unanswered-items" in {note.code for note in b.notes}


def test_many_classes_and_items_with_many_answers() -> None:
    rng = rng_for(0, "test_item_response", "many")
    truth = rng.integers(0, 1000, 400)
    table = simulated("many", truth, [0.9] * 4, k=1000)
    found = dawid_skene(table, tolerance=1e-6)
    assert accuracy(found, truth)[0] > 0.95
    # Products of 3 000 probabilities are far below the smallest float.
    labels = np.arange(4) % 2
    crowd = [np.where(rng.random(4) < 0.6, labels, 1 - labels) for _ in range(3000)]
    deep = dawid_skene(crowd, smoothing=1.0)
    assert_exact(deep.labels, labels)
    assert np.isfinite(deep.objective).all()


# Settings.


def test_convergence_is_said() -> None:
    table = simulated("convergence", np.arange(200) % 2, [0.8, 0.7, 0.65, 0.6])
    done = dawid_skene(table)
    assert done.converged is True
    assert done.iterations == len(done.objective) < 5000
    trace = np.diff([float(done.details["start"]), *done.objective])
    limit = 1e-10 * table.n_answers
    assert trace[-1] < limit
    assert (trace[:-1] >= limit).all()
    with pytest.warns(NotConvergedWarning, match="not converged after 3 iterations"):
        short = dawid_skene(table, max_iterations=3)
    assert short.converged is False
    assert_exact(short.objective, done.objective[:3])
    assert "dawid_skene(smoothing=0.0, max_iterations=3" in str(short.signature)


# Votes ----------------------------------------------------------------------------------------------------------------


@given(crowds(least=1), st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=4, max_size=4))
def test_votes_are_what_loops_give(crowd: tuple[Answers, int], weights: list[float]) -> None:
    answers, k = crowd
    table = read(answers, k)
    plain = majority_vote(table)
    assert_close(plain.probabilities, oracle.vote_shares(answers, 6, k), ROUNDING)
    assert_close(plain.proportions, plain.probabilities.mean(axis=0), ROUNDING)
    assert_close(plain.profiles.counts.sum(), len(answers), ROUNDING)
    if any(weights[w] for _, w, _ in answers):
        named = dict(enumerate(weights))
        found = majority_vote(table, weights=named)
        assert_close(found.probabilities, oracle.vote_shares(answers, 6, k, weights), ROUNDING)
        assert_exact(found.majority, plain.labels)


def test_ties_go_to_those_who_agree_with_the_vote() -> None:
    # The plain vote upholds ann and bob in 4.5 of 5 answers, eve in 1.5 of 5 and dan in 1.5 of 2.
    rows = {"ann": [0, 0, 1, 1, 0], "bob": [0, 0, 1, 1, 0], "eve": [1, 1, 0, 1, 1], "dan": [None] * 3 + [1, 1]}
    found = majority_vote(rows)
    assert found.labels.tolist() == [0, 0, 1, 1, 0]
    assert found.tied.tolist() == [False] * 4 + [True]
    assert found.to_frame()["tied"].sum() == 1
    assert found.sentences[1] == "1 item has a tied majority vote."
    assert_close(
        voting.agreement_weights(Annotations.from_matrix(rows), found.probabilities), [0.9, 0.9, 0.3, 0.75], ROUNDING
    )


def test_ties_that_are_left_are_drawn() -> None:
    rows = [[0] * 300 + [1] * 300, [1] * 300 + [0] * 300]
    found = majority_vote(rows, seed=1)
    assert found.tied.all()
    assert_mean((found.labels == np.array(rows[0])).astype(float), 0.5)
    assert_exact(found.labels, majority_vote(rows, seed=1).labels)
    assert (found.labels != majority_vote(rows, seed=2).labels).any()
    # What is drawn belongs to the item, whatever else is asked.
    long = Annotations.from_matrix(rows).to_frame().sample(frac=1, random_state=0)
    assert_exact(majority_vote(long, seed=1).labels, found.labels)


def test_items_of_annotators_that_do_not_count() -> None:
    found = majority_vote({"ann": [0, 1, 1], "eve": [1, 1, 0]}, weights={"ann": 1, "eve": 0})
    assert found.labels.tolist() == [0, 1, 1]
    table = Annotations([0, 1, 2], ["ann", "ann", "eve"], [0, 0, 1])
    found = majority_vote(table, weights=[2, 0])
    assert_exact(found.probabilities, [[1, 0], [1, 0], [1, 0]])
    [note] = found.notes
    assert note.code == "weightless-items"
    assert note.message.startswith("1 of 3 items were answered only by annotators of weight 0")


def test_weights_that_cannot_be_used() -> None:
    for weights, error, says in [
        ("trust", InputTypeError, "weights: expected one weight per annotator, got 'trust'"),
        ({"ann": 1}, InputError, "none of 1 of 2: 'bob'"),
        ([1.0], InputError, "expected 2 numbers, one per annotator, got shape \\(1,\\)"),
        ([[1, 2]], InputError, "got shape \\(1, 2\\)"),
        ([1, -1], InputError, "got 1 other, first -1 of annotator 'bob'"),
        ([math.nan, 1], InputError, "first nan of annotator 'ann'"),
        ([math.inf, 1], InputError, "first inf of annotator 'ann'"),
        ([0, 0], InputError, "at least one above 0"),
        (["a", "b"], InputTypeError, "expected 2 numbers"),
    ]:
        refuses(error, says, majority_vote, {"ann": [0, 1], "bob": [1, 1]}, weights=weights)


# The blend, and what one call says ------------------------------------------------------------------------------------


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
    (note,) = [one.text for one in found.document().notes if "share of wrong labels" in one.text]
    assert "audit of random rows" in note
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
