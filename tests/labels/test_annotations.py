"""The door for answers of several annotators, and what is said of the answers themselves."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.labels import Annotations, annotator_agreement, bayesian_consensus, dawid_skene, majority_vote
from demele.labels.joined.annotations import read_annotations
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

ITEMS, WHO, WHAT = ["b", "a", "b", "c"], ["zoe", "ann", "ann", "zoe"], ["no", "yes", "yes", "no"]


# The long table.


def test_columns_become_codes_in_sorted_vocabularies() -> None:
    table = Annotations(ITEMS, WHO, WHAT)
    assert (table.items, table.annotators, table.classes) == (("a", "b", "c"), ("ann", "zoe"), ("no", "yes"))
    assert_exact(table.item, [1, 0, 1, 2])
    assert_exact(table.annotator, [1, 0, 0, 1])
    assert_exact(table.answer, [0, 1, 1, 0])
    assert (table.n_answers, table.n_items, table.n_annotators, table.k, table.n_repeats) == (4, 3, 2, 2, 0)
    assert repr(table) == "Annotations(n_answers=4, n_items=3, n_annotators=2, classes=('no', 'yes'))"
    assert table.remarks() == ()
    assert_exact(table.votes(), [[0, 1], [1, 1], [1, 0]])


def test_orders_that_are_given_are_kept() -> None:
    table = Annotations(ITEMS, WHO, WHAT, classes=["yes", "maybe", "no"], all_items=["c", "x", "b", "a"])
    assert table.classes == ("yes", "maybe", "no")
    assert table.items == ("c", "x", "b", "a")
    assert_exact(table.votes(), [[0, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0]])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30))
def test_sparse_responses_are_the_counts(answers: list[tuple[int, int, int]]) -> None:
    item, annotator, answer = (list(column) for column in zip(*answers, strict=True))
    table = Annotations(item, annotator, answer, classes=range(3), all_items=range(5))
    counts, who, what = table.responses()
    dense = counts.toarray()
    assert dense.sum() == len(answers)
    pairs = [(table.annotators[w], int(c)) for w, c in zip(who, what, strict=True)]
    assert pairs == sorted(set(zip(annotator, answer, strict=True)))
    for i in range(5):
        for column, pair in enumerate(pairs):
            assert dense[i, column] == sum((j, w, c) == (i, *pair) for j, w, c in answers)
    assert table.n_repeats == len(answers) - len({(i, w) for i, w, _ in answers})


def test_remarks_say_what_a_reader_must_know() -> None:
    items = [*range(10), *range(10), 0]
    who = ["bot"] * 10 + ["ann"] * 10 + ["ann"]
    table = Annotations(items, who, [1] * 10 + [0, 1] * 5 + [1], all_items=range(13))
    said = {note.code: note for note in table.remarks()}
    assert set(said) == {"repeated-answers", "unanswered-items", "constant-annotators"}
    assert said["repeated-answers"].message.startswith("1 answers repeat")
    assert said["unanswered-items"].message.startswith("3 of 13 items")
    assert said["unanswered-items"].subject == ("10", "11", "12")
    assert said["constant-annotators"].message.startswith("1 of 2 annotators")
    assert said["constant-annotators"].subject == ("bot",)
    [note] = Annotations(list(range(10)), ["ann"] * 10, ["x"] * 10).remarks()
    assert note.code == "one-class"


def test_columns_that_cannot_be_used() -> None:
    columns_cases: Any = [
        (([1], ["a", "b"], [0, 1]), {}, InputError, "got 1 items, 2 annotators, 2 answers"),
        (([1, 2], [1, 2], [0, 5]), {"classes": [0, 1]}, InputError, "answers: 1 of 2 values are not among the 2"),
        (([1, 7], [1, 2], [0, 1]), {"all_items": [1, 2]}, InputError, "all_items does not list, first 7 at row 1"),
        (([1, 7], [1, 2], [0, 1]), {"all_items": ["a"]}, InputError, "one lists numbers, the other names"),
    ]
    for columns, options, error, says in columns_cases:
        refuses(error, says, Annotations, *columns, **options)


# Other shapes of the same answers.


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_a_mapping_a_wide_frame_and_a_long_one_say_the_same(missing: Any) -> None:
    wide = {"ann": ["x", "y", "y"], "bob": ["x", missing, "x"]}
    long = {"task": [0, 1, 2, 0, 2], "worker": ["ann"] * 3 + ["bob"] * 2, "label": ["x", "y", "y", "x", "x"]}
    expected = Annotations(long["task"], long["worker"], long["label"])
    for given_ in (wide, pd.DataFrame(wide), pd.DataFrame(long), pd.DataFrame(long).sample(frac=1, random_state=0)):
        found = read_annotations(given_)
        assert (found.items, found.annotators, found.classes) == (expected.items, expected.annotators, expected.classes)
        assert_exact(found.responses()[0].toarray(), expected.responses()[0].toarray())


def test_tables_that_cannot_be_used() -> None:
    given__cases: Any = [
        (None, InputTypeError, "expected a table of answers, got NoneType"),
        ("file.csv", InputTypeError, "expected a table of answers, got str"),
        (3, InputTypeError, "expected a table of answers, got int"),
        ([], NotEnoughData, "at least 1 annotator"),
        ({}, NotEnoughData, "at least 1 annotator"),
        ([[None, None], [None, None]], NotEnoughData, "at least 1 answer"),
        ([[0, 1], [0]], InputError, "as many items of each annotator, got from 1 to 2"),
        (np.zeros((2, 3, 2), int), InputError, "expected one answer per item, got shape \\(3, 2\\)"),
        ([0, 1, 1], InputError, "annotations, annotator 0"),
        (pd.DataFrame({"item": [1], "worker": [2], "grade": [0]}), InputError, "expected columns item, annotator"),
        ([[0.5, 0.2]], InputError, "answers: expected classes, got 2 numbers that are not whole"),
    ]
    for given_, error, says in given__cases:
        refuses(error, says, read_annotations, given_)


def test_names_of_rows_that_cannot_be_used() -> None:
    refuses(InputError, "expected 2 names, one per row, got 1", Annotations.from_matrix, [[0], [1]], annotators=["x"])
    refuses(InputError, "expected each name once", Annotations.from_matrix, [[0], [1]], annotators=["x", "x"])


# What a consensus says.


def test_noise_of_given_labels_by_hand() -> None:
    # P(class 1) of the four items: 0, 0, 1, 1/2. Given labels: 0, 1, 1, 1.
    found = majority_vote([[0, 0, 1, 0], [0, 0, 1, 1]])
    noise = found.noise([0, 1, 1, 1])
    # Class 0 has 1 given as 0, and 1 + 1/2 as 1; class 1 has 1 + 1/2 as 1.
    assert_close(noise.probabilities, [[1 / 2.5, 1.5 / 2.5], [0.0, 1.0]], ROUNDING)
    assert_close(found.wrong_share([0, 1, 1, 1]), (0 + 1 + 0 + 1 / 2) / 4, ROUNDING)
    refuses(InputError, "given: expected 4 labels, one per item, got 3", found.noise, [0, 1, 1])
    refuses(InputError, "given: 1 of 4 values are not among the 2 classes", found.wrong_share, [0, 1, 1, 2])


def test_transitions_of_annotators() -> None:
    found = majority_vote({"ann": ["x", "y"], "bob": ["x", "y"], "eve": ["x", "x"]})
    # Item 1 is y with 2/3: eve said x of 1 + 1/3 of class x, and of 2/3 of class y.
    assert_close(found.transition("eve").probabilities, [[1, 0], [1, 0]], ROUNDING)
    assert_close(found.transition("ann").probabilities, [[3 / 4, 1 / 4], [0.0, 1.0]], ROUNDING)
    refuses(UnknownNameError, "expected one of 'ann', 'bob', 'eve', got 'zoe'", found.transition, "zoe")


def test_informativeness_is_not_accuracy() -> None:
    truth = np.arange(60) % 2
    found = dawid_skene({"a": truth, "b": truth, "c": truth, "liar": 1 - truth, "bot": np.zeros(60, int)})
    frame = found.annotator_frame().set_index("annotator")
    assert_close(frame.loc[["a", "b", "c", "liar", "bot"], "accuracy"], [1, 1, 1, 0, 0.5], SOLVER)
    assert_close(frame.loc[["a", "liar", "bot"], "informativeness"], [1, 1, 0], SOLVER)


def test_annotations_pass_through() -> None:
    table = Annotations(ITEMS, WHO, WHAT)
    assert read_annotations(table) is table
    assert read_annotations(table, classes=["no", "yes"]) is table
    refuses(InputError, "classes: the annotations have their own", read_annotations, table, classes=["yes", "no"])


def test_one_class_has_no_informativeness() -> None:
    found = majority_vote([[0, 0], [0, 0]])
    assert found.annotator_frame()["informativeness"].isna().all()


# What is said of the answers themselves ------------------------------------------------------------------------------


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
    refuses(NotEnoughData, r"expected at least 1 answer, got", read_annotations, frame.assign(label=-1), no_answer=-1)
    refuses(InputError, r"^no_answer: these annotations", dawid_skene, Annotations.from_matrix(WIDE), no_answer=-1)


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
    refuses(InputError, message, read_annotations, frame.assign(**more))
