"""Dawid-Skene by EM: against loops, by hand, by its laws, and on crowds whose skill is known."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.core.arrays import rng_for
from demele.core.errors import NotConvergedWarning
from demele.labels import Annotations, Consensus, dawid_skene
from tests.oracles import annotators as oracle
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

Answers = list[tuple[int, int, int]]


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Answers, int]:
    """A few answers, repeats and silent items included, and the number of classes."""
    k = draw(st.integers(2, 4))
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
def test_it_is_what_loops_give(crowd: tuple[Answers, int], iterations: int, smoothing: float) -> None:
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


# Crowds whose skill is known.


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
