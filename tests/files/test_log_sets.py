"""Logs of several models, tasks and filters, read together; answers in words as classes."""

from pathlib import Path

import numpy as np
import pytest

from demele.core.errors import FormatError, InputError, UnknownNameError
from demele.files import read_predictions
from demele.files.model_logs import NO_ANSWER, OTHER_ANSWER, LoggedAnswer, known_answer, plain, texts_of
from tests.files.model_logs import harness_logs, inspect_log, inspect_samples, rights, sums

TASKS = ("mmlu_anatomy", "mmlu_law", "mmlu_virology")
WORDS = ("flexible-extract",)


def test_the_logs_of_several_tasks_are_one_model_and_rows_are_called_by_task_and_question(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new", "third"), TASKS, 40)
    found = read_predictions(paths)
    assert list(found.predictions) == ["old", "new", "third"]
    for model, said in found.predictions.items():
        expected = np.concatenate([rights(model, task, 40) for task in TASKS])
        assert (said == found.labels).tolist() == expected.tolist()
    assert found.ids is not None
    assert found.ids[[0, 39, 40]].tolist() == ["mmlu_anatomy/0", "mmlu_anatomy/39", "mmlu_law/0"]
    assert "120 questions of 3 tasks: each question has the same weight" in found.notes[0]
    # in any order, and by folders: of each model, and of all
    for texts in (paths[::-1], [str(tmp_path / name) for name in ("third", "new", "old")], [str(tmp_path)]):
        other = read_predictions(texts)
        assert set(other.predictions) == set(found.predictions)
        assert other.ids is not None
        assert other.ids.tolist() == found.ids.tolist()
        assert all((other.predictions[name] == found.predictions[name]).all() for name in found.predictions)


def test_a_task_that_one_model_lacks_is_refused_or_left_out(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new"), TASKS, 10)
    Path(paths[-1]).unlink()
    with pytest.raises(InputError, match="new lacks 10, first 'mmlu_virology/0'"):
        read_predictions([str(tmp_path)])
    assert read_predictions([str(tmp_path)], ids="common").left_out == 10


def test_two_runs_of_a_model_are_told_apart_by_their_folders_and_refused_in_one(tmp_path: Path) -> None:
    for run in ("monday", "friday"):
        harness_logs(tmp_path / run, ("old",), TASKS, 10)
    found = read_predictions([str(tmp_path / run) for run in ("monday", "friday")])
    assert list(found.predictions) == ["monday/old", "friday/old"]
    with pytest.raises(InputError, match=r"holds two runs of mmlu_anatomy by old: .*friday.* and .*monday"):
        read_predictions([str(tmp_path)])


def test_a_filter_is_given_once_for_all_logs(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new"), ("gsm8k",), words=True)
    with pytest.raises(FormatError, match=r"holds 2 filters .*pick one of all logs, such as `filter='strict-match'`"):
        read_predictions(paths)
    found = read_predictions(paths, filter=WORDS)
    picked = read_predictions([f"{path}::flexible-extract" for path in paths])
    assert all((found.predictions[name] == picked.predictions[name]).all() for name in ("old", "new"))
    with pytest.raises(UnknownNameError, match="'exact_matsch'; did you mean 'exact_match'"):
        read_predictions(paths, filter=["exact_matsch", *WORDS])
    # a log that does not hold the name is read as it is
    mixed = [*paths, *harness_logs(tmp_path, ("old", "new"), ("quiz",))]
    assert read_predictions(mixed, filter=WORDS).labels.size == 120


def test_generated_answers_are_classes_however_they_are_written(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new"), ("gsm8k",), 400, words=True)
    found = read_predictions(paths, filter=WORDS)
    assert (found.open, found.graded) == (True, False)
    products = [a * b for a, b in sums("gsm8k", 400)]
    assert found.labels.tolist() == [str(product) for product in products]
    for model, said in found.predictions.items():
        right = rights(model, "gsm8k", 400)
        assert said.tolist() == [str(p if ok else p + 7) for p, ok in zip(products, right, strict=True)]
    assert found.classes is not None
    assert len(found.classes) > 447
    assert found.classes[-1] == OTHER_ANSWER


@pytest.mark.parametrize(
    ("said", "targets", "right", "expected"),
    [
        ("$1,218.", ("So 6 x 203.\n#### 1,218",), True, ("1218", "1218")),
        ("1219", ("1,218",), False, ("1219", "1218")),
        ("Paris", ("The City of Light", "paris"), True, ("the city of light", "the city of light")),
        ("", ("7",), False, (NO_ANSWER, "7")),
        ("paris", ("Paris",), False, ("paris (judged wrong)", "paris")),
    ],
)
def test_texts_are_equal_if_the_log_calls_the_answer_right_and_only_then(
    said: str, targets: tuple[str, ...], right: bool, expected: tuple[str, str]
) -> None:
    answer = LoggedAnswer("1", "q", "exact_match", right, said=said, targets=targets)
    assert texts_of(answer) == expected


def test_what_an_expert_writes_is_read_as_the_answers_are() -> None:
    classes = ("1218", "new york", OTHER_ANSWER)
    written = ["1,218", "$1218.", " New  York", "7", "1218"]
    assert [known_answer(text, classes) for text in written] == ["1218", "1218", "new york", OTHER_ANSWER, "1218"]
    assert plain("1,2,3") == "1,2,3"  # no commas of thousands


def test_fields_of_the_questions(tmp_path: Path) -> None:
    found = read_predictions(harness_logs(tmp_path, ("old", "new"), TASKS[:2], 8))
    assert found.values_of("doc.passage_id") == [0, 0, 0, 0, 1, 1, 1, 1] * 2
    assert found.values_of("task") == [TASKS[0]] * 8 + [TASKS[1]] * 8
    (a, b), (c, d), *_ = sums(TASKS[0], 8)
    assert found.values_of("question")[0] == f"{a} x {b} = ?"
    assert found.values_of("choices")[1].splitlines()[1] == f"1: {c * d}"
    with pytest.raises(UnknownNameError, match=r"'doc.pasage_id'; did you mean 'doc.passage_id'"):
        found.values_of("doc.pasage_id")
    log = inspect_log(tmp_path / "run.eval", "old", inspect_samples("old", "quiz", 6))
    inspected = read_predictions([log])
    a, b = sums("quiz", 6)[0]
    assert inspected.values_of("question")[0] == f"{a} x {b} = ?"  # what the user says, not the system
    assert inspected.values_of("metadata.source.page") == [0, 1, 2, 3, 4, 5]
    assert inspected.values_of("choices")[0].startswith(f"A: {a * b}\nB: ")


def test_failed_runs_of_inspect_say_their_status_and_error(tmp_path: Path) -> None:
    samples = inspect_samples("old", "quiz", 20)
    good = inspect_log(tmp_path / "good.eval", "new", inspect_samples("new", "quiz", 20))
    failed = {"status": "error", "error": "503 from the server"}
    partly = inspect_log(tmp_path / "partly.eval", "old", samples[:5], **failed)
    with pytest.raises(InputError, match=r"partly.eval and its status is 'error', not success: 503 from .* lacks 15"):
        read_predictions([good, partly])
    assert "its status is 'error', not success: 503 from the server" in read_predictions([partly]).notes[0]
    empty = inspect_log(tmp_path / "empty.eval", "old", [], **failed)
    with pytest.raises(FormatError, match="holds no samples; its status is 'error', not success: 503 from the server"):
        read_predictions([empty])
    lost = [{**samples[0], "scores": None, "error": {"message": "time limit"}}, *samples[1:]]
    one = inspect_log(tmp_path / "one.json", "old", lost)
    with pytest.raises(InputError, match="1 question has no score, first 'q0' and sample 'q0' failed: time limit"):
        read_predictions([one])
    none = inspect_log(tmp_path / "none.eval", "old", [{**samples[0], "scores": None}])
    with pytest.raises(FormatError, match="none of its 1 samples has a score; the first sample names no error"):
        read_predictions([none])


def test_names_of_logs_are_of_one_model_each(tmp_path: Path) -> None:
    harness_logs(tmp_path, ("old", "new"), TASKS, 10)
    found = read_predictions({"a": str(tmp_path / "old"), "b": str(tmp_path / "new")})
    assert list(found.predictions) == ["a", "b"]
    with pytest.raises(InputError, match="logs of one model by each name, got logs of 2 models"):
        read_predictions({"a": str(tmp_path)})
