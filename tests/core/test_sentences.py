"""Messages: an argument, a problem and a remedy; their copies; what they repeat of data is cut."""

import copy
import pickle

import pytest

from demele.core.errors import FormatError, InputError, NotEnoughData, OutputError, in_backticks
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
