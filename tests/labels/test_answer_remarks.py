"""What is said of the answers themselves: -1 as a class, unanimity, ties, columns that compete."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.core.errors import InputError, NotEnoughData
from demele.labels import Annotations, annotator_agreement, bayesian_consensus, dawid_skene, majority_vote
from demele.labels.joined.annotations import read_annotations
from tests.tolerances import assert_exact

WIDE = np.array([[0, 1, 1, -1, 1], [0, 1, 0, 1, -1], [0, -1, 1, 1, 1]])
JOINS: list[Callable[..., Any]] = [majority_vote, dawid_skene, annotator_agreement, bayesian_consensus]


def codes(found: Any) -> set[str]:
    return {note.code for note in found.notes}


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.filterwarnings("ignore:the Bayesian consensus had not converged")
def test_minus_1_among_the_classes_is_told_and_can_be_no_answer(join: Callable[..., Any]) -> None:
    (note,) = (note for note in join(WIDE).notes if note.code == "negative-class")
    assert note.severity == "warning"
    assert "it is 3 of the 15 answers" in note.message
    assert "`no_answer=-1` with a table" in note.message
    found, expected = join(WIDE, no_answer=-1), join(Annotations.from_matrix(WIDE, no_answer=-1))
    assert "negative-class" not in codes(found)
    assert found.to_dict() == expected.to_dict()
    assert "negative-class" not in codes(join(WIDE, classes=[-1, 0, 1]))


def test_missing_answers_of_a_long_table() -> None:
    frame = pd.DataFrame({"item": [3, 3, 1, 2], "worker": ["a", "b", "a", "b"], "label": [1, -1, 0, -1]})
    found = read_annotations(frame, no_answer=-1)
    assert (found.items, found.annotators, found.classes) == ((1, 2, 3), ("a",), (0, 1))
    assert_exact(found.votes(), [[1, 0], [0, 0], [0, 1]])
    assert "unanswered-items" in codes(majority_vote(frame, no_answer=-1))
    with pytest.raises(NotEnoughData, match=r"expected at least 1 answer, got -1 only"):
        read_annotations(frame.assign(label=-1), no_answer=-1)
    with pytest.raises(InputError, match=r"^no_answer: these annotations are read already"):
        dawid_skene(Annotations.from_matrix(WIDE), no_answer=-1)


@pytest.mark.parametrize("join", JOINS[:3])
def test_unanimous_answers(join: Callable[..., Any]) -> None:
    (note,) = (note for note in join([[0, 1, 1], [0, 1, None]]).notes if note.code == "unanimous")
    assert "each of the 2 items with two answers or more" in note.message
    assert "does not say that they are right" in note.message
    assert "unanimous" not in codes(join([[0, 1, 1], [0, 1, 0]]))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"answer": 0}, r"^annotations: columns 'label' and 'answer' may all be the answers; leave out all but one"),
        ({"item": 0}, r"^annotations: columns 'task' and 'item' may all be the items"),
        ({"rater": 0, "user": 0}, r"columns 'worker' and 'rater' and 'user' may all be the annotators"),
    ],
)
def test_columns_that_compete_are_named(more: dict[str, int], message: str) -> None:
    frame = pd.DataFrame({"task": [0, 1], "worker": [0, 0], "label": [0, 1]})
    assert read_annotations(frame).n_answers == 2
    with pytest.raises(InputError, match=message):
        read_annotations(frame.assign(**more))


def test_ties_are_counted() -> None:
    found = majority_vote([["a", "b", "b", None], ["b", "a", "b", None]])
    (note,) = (note for note in found.notes if note.code == "ties")
    assert note.message.startswith("2 of 4 items have a tie")
    assert "drawn" in note.message
    assert note.subject == ("0", "1")
    assert found.labels[2] == "b"
    # 0.1 + 0.2 against 0.3: a tie but for rounding.
    weighted = majority_vote([[0], [0], [1]], weights=[0.1, 0.2, 0.3])
    assert "ties" in codes(weighted)
    assert "ties" not in codes(majority_vote([[0], [0], [1]]))
    assert "ties" not in codes(majority_vote([[0], [1]], weights=[1, 2]))
