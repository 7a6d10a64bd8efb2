"""Votes: against loops, by hand, by their laws, and with weights that are given or found."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from demele.core.errors import InputError, InputTypeError
from demele.labels import Annotations, majority_vote
from demele.labels.joined import voting
from tests.oracles import annotators as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact, assert_mean

Answers = list[tuple[int, int, int]]


@st.composite
def crowds(draw: st.DrawFn) -> tuple[Answers, int]:
    k = draw(st.integers(1, 4))
    answer = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, k - 1))
    return draw(st.lists(answer, min_size=1, max_size=25)), k


def read(answers: Answers, k: int) -> Annotations:
    item, annotator, answer = zip(*answers, strict=True)
    return Annotations(item, annotator, answer, classes=range(k), all_items=range(6))


@given(crowds(), st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=4, max_size=4))
def test_it_is_what_loops_give(crowd: tuple[Answers, int], weights: list[float]) -> None:
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
