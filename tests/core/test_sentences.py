"""Messages: an argument, a problem and a remedy; their copies; what they repeat of data is cut."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import labels
from demele.core.errors import DemeleError, FormatError, InputError, NotEnoughData, OutputError, in_backticks, quoted
from demele.core.labelled import Vocabulary, shown
from demele.core.results import LeftOut, Note


def test_an_error_has_argument_problem_and_remedy() -> None:
    error = InputError("rate", "expected a share, got 2", "pass `rate=0.02`")
    assert str(error) == "rate: expected a share, got 2; pass `rate=0.02`"
    assert (error.argument, error.problem) == ("rate", "expected a share, got 2")
    assert error.said(lambda name: f"--{name}") == "--rate: expected a share, got 2; pass `rate=0.02`"
    assert str(NotEnoughData(("codes", "factors"), "no row")) == "codes and factors: no row"
    assert InputError("no argument here").argument is None
    assert str(FormatError("a/b.csv", "is empty")) == FormatError("a/b.csv", "is empty").said(in_backticks)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("annotations, annotator 3", "`annotations`, annotator 3: odd"),
        ("seeds['source']", "`seeds`['source']: odd"),
        (("codes", "factors"), "`codes` and `factors`: odd"),
        ("data.csv", "data.csv: odd"),
        ("my own file", "my own file: odd"),
    ],
)
def test_only_names_of_arguments_are_renamed(argument: object, said: str) -> None:
    assert InputError(argument, "odd").said(in_backticks) == said


def test_an_error_of_a_file_calls_arguments_what_they_are_called_there() -> None:
    error = InputError("y", "3 labels, as many as `rows` has, and `rows, ` stays", "see `other`")
    said = str(error.within("a.csv", y="column label", rows="column row"))
    assert said == "a.csv: column label: 3 labels, as many as column row has, and `rows, ` stays; see `other`"
    assert str(error.within("a.csv", y="")).startswith("a.csv: 3 labels")
    assert str(error.within("a.csv")).startswith("a.csv: `y`: 3 labels")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies_and_other_processes_have_the_same_error(again) -> None:  # type: ignore[no-untyped-def]
    for error in (InputError("rate", "odd", "see `n`"), OutputError("f: full"), NotEnoughData("no `n`")):
        other = again(error)
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert other.said(in_backticks) == error.said(in_backticks)


def test_overlong_words_of_data_are_cut() -> None:
    long = "z" * 5000
    note, gap = Note(code="c", message=long), LeftOut(metric="mig", reason=long)
    assert max(map(len, (str(InputError("codes", long)), note.message, gap.reason))) < 300


# Messages show numbers as plain Python does, whatever kind of number came --------------------------------------------


ONE, HALF = np.int64(1), np.float64(1.5)
ANSWERS = labels.Annotations([0, 1], [0, 0], [0, 1])


def test_values_in_messages() -> None:
    for value, text in [
        (ONE, "1"),
        (HALF, "1.5"),
        (np.str_("a"), "'a'"),
        (np.bool_(True), "True"),
        ([ONE, "a"], "[1, 'a']"),
        ((ONE,), "(1,)"),
        ((ONE, (HALF,)), "(1, (1.5,))"),
        ({ONE: [HALF]}, "{1: [1.5]}"),
        (None, "None"),
    ]:
        assert quoted(value) == text
        assert shown([value, 2]) == f"{text}, 2"


def test_no_message_shows_how_numpy_writes_a_number() -> None:
    call_cases: Any = [
        lambda: Vocabulary((0, 2)).index(ONE),
        lambda: labels.Annotations.from_matrix(pd.DataFrame({ONE: [[0], [1]]})),
        lambda: labels.Annotations.from_matrix({ONE: np.zeros((2, 2))}),
        lambda: labels.Annotations.from_matrix({0: [0], 1: [1]}, annotators=[ONE, ONE]),
        lambda: labels.dawid_skene(ANSWERS).transition(np.int64(7)),
        lambda: labels.dawid_skene(ANSWERS, smoothing=-HALF),
        lambda: labels.annotator_agreement(ANSWERS, level=HALF),
        lambda: labels.cleaning_harm(labels.Cleaning([True, False]), [0, 1], level=HALF),
        lambda: labels.add_noise([0, 1], HALF, seed=0),
        lambda: labels.add_noise([0, 1], predictions={ONE: [0]}),
        lambda: labels.add_noise([0, 1], predictions={ONE: [0, 1], np.int64(2): [2.5, 1]}),
        lambda: labels.asymmetric_transition(2, {(ONE, ONE): 0.1}),
        lambda: labels.asymmetric_transition(2, {(np.int64(0), ONE): HALF}),
        lambda: labels.asymmetric_transition(2, {ONE: HALF}),
        lambda: labels.symmetric_transition(ONE, 0.1),  # type: ignore[arg-type]
        lambda: labels.clean([0, 1, 1], [[0], [1], [2]], method="entropy", threshold=HALF),
        lambda: labels.clean([0, 1, 1], [[0], [1], [2]], method="knn", k=-ONE),  # type: ignore[arg-type]
        lambda: labels.simulated_cleaning([0, 1], [0, 1], detected=HALF, false_alarms=0),
        lambda: labels.TransitionCounts([[1, 0], [0, 1]]).rate_interval(level=HALF),
        lambda: labels.majority_vote(ANSWERS, weights=[np.float64(-1)]),
    ]
    for call in call_cases:
        with pytest.raises(DemeleError) as caught:
            call()
        assert "np." not in str(caught.value)
