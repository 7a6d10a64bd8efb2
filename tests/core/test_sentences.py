"""Messages that name arguments: Python's words by default, those of another reader on request."""

import copy
import pickle
import warnings

import pytest

from demele.core.errors import DemeleWarning, FormatError, InputError, NotEnoughData, OutputError, warn_user
from demele.core.results import LeftOut, Note
from demele.core.sentences import Mention, arg, in_code, marked, rephrased, sentence, setting

_TEXT = (
    f"{arg('noise')}: needs {setting(noise=...)}; pass {setting(missing='omit')} or {in_code('x.T', otherwise='turn')}"
)
_SAID = "noise: needs noise=; pass missing='omit' or x.T"


def _options(it: Mention) -> str | None:
    options = {"noise": "--noise-rate", "missing": "--missing"}
    return None if it.name not in options else f"{options[it.name]}{f' {it.value or str()}' if it.given else ''}"


def test_python_is_what_a_sentence_says_unless_asked() -> None:
    assert sentence(_TEXT) == _SAID
    assert rephrased(sentence(_TEXT), _options) == "--noise-rate: needs --noise-rate ; pass --missing omit or turn"
    assert rephrased(sentence(_TEXT), lambda _: None) == _SAID.replace("x.T", "turn")
    assert sentence("no marks") == "no marks"
    assert sentence(marked(sentence(_TEXT))) == _SAID


@pytest.mark.parametrize("value", [{"my age": "continuous"}, 3, 0.5, "omit", [...], ..., True])
def test_values_come_to_the_reader_as_they_are(value: object) -> None:
    found: list[Mention] = []
    rephrased(sentence(setting(kinds=value)), lambda it: found.append(it))
    assert found == [Mention("kinds", given=True, value=None if value in (..., [...]) else value)]


def test_an_error_has_argument_problem_and_remedy() -> None:
    error = InputError("rate", "expected a share, got 2", f"pass {setting(rate=0.02)}")
    assert str(error) == "rate: expected a share, got 2; pass rate=0.02"
    assert (error.argument, error.problem) == ("rate", "expected a share, got 2")
    assert rephrased(error, lambda it: f"--{it.name}") == "--rate: expected a share, got 2; pass --rate"
    assert str(NotEnoughData(("codes", "factors"), "no row")) == "codes and factors: no row"
    assert InputError("no argument here").argument is None
    assert str(FormatError("a/b.csv", "is empty")) == "a/b.csv: is empty"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies_and_other_processes_have_the_same_error(again) -> None:  # type: ignore[no-untyped-def]
    for error in (InputError("rate", "odd", f"see {arg('n')}"), OutputError("f: full"), NotEnoughData(_TEXT)):
        other = again(error)
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert marked(other) == marked(error)


def test_notes_reasons_and_warnings_keep_their_marks() -> None:
    note, gap = Note(code="c", message=_TEXT), LeftOut(metric="mig", reason=_TEXT)
    assert (note.message, gap.reason) == (_SAID, _SAID)
    assert rephrased(note.message, _options) == rephrased(gap.reason, _options) == rephrased(sentence(_TEXT), _options)
    assert pickle.loads(pickle.dumps(note)) == note
    assert marked(pickle.loads(pickle.dumps(note)).message) == marked(note.message)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user(_TEXT, DemeleWarning)
    assert isinstance(caught[0].message, DemeleWarning)
    assert str(caught[0].message) == _SAID
    assert rephrased(caught[0].message, _options) == rephrased(note.message, _options)


def test_nothing_that_is_shown_has_marks() -> None:
    error = InputError("rate", _TEXT, _TEXT)
    for text in (str(error), repr(error), f"{error}", f"{sentence(_TEXT)}", repr(Note(code="c", message=_TEXT))):
        assert text.isprintable()
