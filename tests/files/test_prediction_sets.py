"""Predictions joined by what identifies their rows: logs as their own programs wrote them, and tables."""

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele.core.errors import FormatError, InputError, UnknownNameError
from demele.files import read_predictions
from demele.files.model_logs import NO_ANSWER, OTHER_ANSWER, LoggedAnswer, plain, texts_of
from demele.files.prediction_sets import PredictionSet, refuse_other_order
from tests.cli.conftest import Program
from tests.files.model_logs import harness_logs, inspect_log, inspect_samples, json_lines, rights, sums
from tests.refusals import refuses

LOGS = Path(__file__).parent / "logs"
#: Six questions to two mock models of Inspect: what they answered, and what is right.
RIGHT, OLD, NEW = [*"BBACBA"], [*"BBCABA"], [*"BBACBB"]


def harness(kind: str) -> list[str]:
    return [str(LOGS / model / f"samples_tiny_{kind}.jsonl") for model in ("old", "new")]


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_choices_of_the_harness_are_the_largest_likelihoods() -> None:
    found = read_predictions(harness("choice"))
    assert list(found.predictions) == ["old", "new"]
    held = lines(harness("choice")[0])
    assert found.labels.tolist() == [int(line["target"]) for line in held]
    largest = [int(np.argmax([float(score) for score, _ in line["filtered_resps"]])) for line in held]
    assert found.predictions["old"].tolist() == largest
    assert (found.predictions["old"] == found.labels).sum() == sum(line["acc"] for line in held) == 20
    assert (found.predictions["new"] == found.labels).sum() == 36
    assert (found.classes, found.graded, found.left_out) == ((0, 1, 2, 3), False, 0)


def test_answers_in_words_are_classes_that_are_right_as_the_harness_says() -> None:
    found = read_predictions(harness("words"))
    assert (found.open, found.graded, found.notes) == (True, False, ())
    for model, path in zip(("old", "new"), harness("words"), strict=True):
        assert found.predictions[model].tolist() == [line["filtered_resps"][0].lower() for line in lines(path)]
        verdicts = [bool(line["exact_match"]) for line in lines(path)]
        assert (found.predictions[model] == found.labels).tolist() == verdicts
    assert found.labels.tolist() == [line["target"] for line in lines(harness("words")[0])]


def unread(path: str, to: Path) -> str:
    """Write a log whose answers are not the texts that its verdicts are about, as a grader's log."""
    held = [{**line, "filtered_resps": ["It may well be."]} for line in lines(path)]
    return json_lines(to / Path(path).parent.name / "samples_words.jsonl", held)


def test_answers_whose_texts_explain_no_verdict_are_right_or_wrong(tmp_path: Path) -> None:
    found = read_predictions([unread(path, tmp_path) for path in harness("words")])
    for model, path in zip(("old", "new"), harness("words"), strict=True):
        verdicts = ["right" if line["exact_match"] else "wrong" for line in lines(path)]
        assert found.predictions[model].tolist() == verdicts
    assert set(found.labels) == {"right"}
    assert found.graded
    assert "right or wrong by exact_match" in found.notes[0]


@pytest.mark.parametrize("second", ["choices.eval", "choices.json"])
def test_both_forms_of_a_log_of_inspect(second: str) -> None:
    found = read_predictions([str(LOGS / "old/choices.eval"), str(LOGS / "new" / second)])
    assert {name: values.tolist() for name, values in found.predictions.items()} == {
        "mockllm/old": OLD,
        "mockllm/new": NEW,
    }
    assert found.labels.tolist() == RIGHT
    assert found.ids.tolist() == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert found.classes == ("A", "B", "C")


def sample(number: int, scores: list[float], target: Any, **more: Any) -> dict[str, Any]:
    right = float(int(np.argmax(scores)) == (target if isinstance(target, int) else 1))
    calls = {f"gen_args_{place}": {"arg_0": "?", "arg_1": f" {text}"} for place, text in enumerate(["no", "yes"])}
    pairs = [[str(score), "False"] for score in scores]
    held = {"doc_id": number, "target": str(target), "arguments": calls, "filtered_resps": pairs, "filter": "none"}
    return {**held, "metrics": ["acc"], "acc": right, "doc_hash": f"h{number}", **more}


def test_a_target_may_be_text_and_questions_may_come_in_any_order(tmp_path: Path) -> None:
    one = [sample(10, [-1, -2], 0), sample(9, [-3, -2], "yes"), sample(2, [-1, -9], 1)]
    other = [sample(2, [-1, -0.5], 1), sample(10, [-4, -2], 0), sample(9, [-3, -2], "yes")]
    found = read_predictions([json_lines(tmp_path / "a.jsonl", one), json_lines(tmp_path / "b.jsonl", other)])
    assert found.ids.tolist() == ["2", "9", "10"]
    assert found.labels.tolist() == [1, 1, 0]
    assert found.predictions["a"].tolist() == [0, 1, 0]
    assert found.predictions["b"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda held: held[:1], "lacks 1, first '1'; to compare the 1 that all have"),
        (lambda held: [held[0], {**held[1], "doc_hash": "x"}], "1 of 2 questions are others than in"),
        (lambda held: [*held, held[0]], "question '0' is answered twice"),
        (
            lambda held: [held[0], {**held[1], "acc": 0.5}],
            "acc: 0.5 says neither right nor wrong, and scores between are not rounded; pick a measure",
        ),
        (lambda held: [held[0], {"doc_id": 1}], "line 2: no sample of lm-evaluation-harness"),
        (
            lambda held: [*held, {**held[0], "filter": "strict"}],
            "holds 2 filters (none, strict); pick one by `filter='none'`",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], message: str, tmp_path: Path
) -> None:
    held = [sample(0, [-1, -2], 0), sample(1, [-3, -2], 1)]
    paths = [json_lines(tmp_path / "a.jsonl", held), json_lines(tmp_path / "b.jsonl", change(held))]
    refuses((InputError, FormatError), re.escape(message), read_predictions, paths)


def test_common_rows_are_kept_and_the_others_counted(tmp_path: Path) -> None:
    held = [sample(place, [-1, -2], 0) for place in range(5)]
    paths = [json_lines(tmp_path / "a.jsonl", held[:4]), json_lines(tmp_path / "b.jsonl", held[1:])]
    found = read_predictions(paths, ids="common")
    assert (found.ids.tolist(), found.left_out) == (["1", "2", "3"], 2)


def run(name: str, value: Any, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": name, "epoch": epoch, "target": "A", "input": name, "scores": {"match": {"value": value}}, **more}


def test_epochs_scorers_and_samples_without_score(tmp_path: Path) -> None:
    twice = inspect_log(
        tmp_path / "twice.eval", "twice", [run("a", "C"), run("a", "I", 2), run("b", 1.0), run("b", 0, 2)]
    )
    refuses(FormatError, "holds 2 epochs", read_predictions, [twice])
    assert read_predictions([f"{twice}::epoch=2"]).predictions["mockllm/twice"].tolist() == ["wrong", "wrong"]
    failed = inspect_log(
        tmp_path / "failed.eval", "failed", [run("a", "C"), run("b", "C", scores=None)], status="error"
    )
    refuses(InputError, "1 question has no score, first 'b' and its", read_predictions, [f"{twice}::epoch=1", failed])
    found = read_predictions([f"{twice}::epoch=1", failed], ids="common")
    assert found.left_out == 1
    assert "its status is 'error'" in found.notes[0]
    partly = inspect_log(tmp_path / "partly.eval", "partly", [run("a", "P")])
    refuses(FormatError, "'P' says neither right nor wrong", read_predictions, [partly])


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    content = bytearray((LOGS / "old/choices.eval").read_bytes())
    with zipfile.ZipFile(LOGS / "old/choices.eval") as archive:
        info = archive.getinfo("samples/q1_epoch_1.json")
    content[info.header_offset + 200] ^= 255
    (tmp_path / "x.eval").write_bytes(content)
    refuses(FormatError, "damaged", read_predictions, [str(tmp_path / "x.eval")])


# Tables ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"id": [3, 1, 2], "label": [*"xyx"]}).to_csv("gold.csv", index=False)
    pd.DataFrame({"id": [1, 2, 3], "answer": [*"yxy"]}).to_json("a.jsonl", orient="records", lines=True)
    pd.DataFrame({"answer": [*"xyy"], "id": [2, 3, 1]}).to_parquet("b.parquet")
    pd.DataFrame({"id": [1, 2, 3], "p_x": [0.2, 0.7, 0.6], "p_y": [0.8, 0.3, 0.4]}).to_csv("p.csv", index=False)
    return tmp_path


def test_tables_are_joined_in_the_order_of_the_labels(tables: Path) -> None:
    found = read_predictions(["a.jsonl", "b.parquet"], "gold.csv", id="id")
    assert found.ids.tolist() == ["3", "1", "2"]
    assert found.labels.tolist() == [*"xyx"]
    assert {name: values.tolist() for name, values in found.predictions.items()} == {"a": [*"yyx"], "b": [*"yyx"]}


def test_scores_are_kept_and_the_largest_is_predicted(tables: Path) -> None:
    found = read_predictions({"model": "p.csv"}, "gold.csv", id="id", scores=True)
    assert found.predictions["model"].tolist() == [*"xyx"]
    assert found.scores["model"].tolist() == [[0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]
    pd.read_csv("p.csv").assign(p_=1.0).to_csv("p.csv", index=False)  # a score of no class
    refuses(
        InputError,
        "expected a column of scores for each class",
        read_predictions,
        ["p.csv"],
        "gold.csv",
        id="id",
        scores=True,
    )


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2, 2], "'2' identifies rows 1 and 2; each row needs its own"),
        ([1, 2, None], "no identifier in 1 row, first row 2"),
        ([1, 2, 4], "of 4 in all, gold.csv lacks 1, first '4', a.csv lacks 1, first '3'"),
    ],
)
def test_identifiers_that_do_not_fit_are_refused(ids: list[Any], message: str, tables: Path) -> None:
    pd.DataFrame({"id": ids, "answer": [*"xyx"]}).to_csv("a.csv", index=False)
    refuses(InputError, re.escape(message), read_predictions, ["a.csv"], "gold.csv", id="id")


# On the command line ---------------------------------------------------------------------------------------------


def test_tables_by_identifier_and_one_file_for_each_model(demele: Program, tables: Path) -> None:
    found = json.loads(demele("compare", "a.jsonl", "b.parquet", "gold.csv", "--id", "id").out)
    assert found["difference"] == 0
    assert (
        "columns of probabilities or scores: pass --scores" in demele("compare", "p.csv", "gold.csv", "--id", "id").err
    )
    scored = demele("assess", "p.csv", "gold.csv", "--id", "id", "--scores")
    assert json.loads(scored.out)["n"] == 3
    Path("c.csv").write_text("id,answer\n1,x\n2,x\n3,x\n", encoding="utf-8")
    ranked = demele("compare", "a.jsonl", "b.parquet", "c.csv", "gold.csv", "--id", "id")
    assert ranked.status == 0, ranked.err
    assert sorted(json.loads(ranked.out)["names"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "A", "gold.csv"), "is a log, which brings its own labels, gold.csv is none"),
        (("compare", "A", "B", "--id", "id"), "--id: is for tables"),
        (("compare", "W", "V", "--audit", "x.csv"), "--audit: holds classes, but the logs say only whether"),
        (("audit", "draw", "W", "--size", "3"), "says only whether answers were right"),
        (("compare", "a.jsonl", "gold.csv", "--filter", "acc"), "--filter: picks what to read of logs"),
        (("compare", "a.jsonl", "a.jsonl", "gold.csv", "--ids", "common"), "--ids: rows are paired by position"),
        (("assess", "a.jsonl"), "only logs bring their labels"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments: tuple[str, ...], message: str, demele: Program, tables: Path) -> None:
    graded = [unread(path, tables) for path in harness("words")]
    known = dict(zip("ABWV", [*harness("choice"), *graded], strict=True))
    found = demele(*(known.get(word, word) for word in arguments))
    assert (found.status, found.out) == (2, "")
    assert message in found.err


def test_likelihoods_per_character_for_acc_norm(tmp_path: Path) -> None:
    # -1.5 / 2 = -0.75 for "no", -1.8 / 3 = -0.6 for "yes": another choice than by acc
    one = sample(0, [-1.5, -1.8], 1, metrics=["acc", "acc_norm"], acc_norm=1.0)
    path = json_lines(tmp_path / "a.jsonl", [one])
    assert read_predictions([path]).predictions["a"].tolist() == [0]
    assert read_predictions([f"{path}::acc_norm"]).predictions["a"].tolist() == [1]


# Files whose rows stand in another order than those of the others ----------------------------------------------------


ONE = pd.DataFrame({"id": ["a", "b", "c"], "number": [1, 2, 3], "site": ["x", "x", "y"], "old": [0, 1, 1]})


def written_of_row_order(folder: Path, name: str, **columns: Any) -> str:
    ONE.assign(**columns).to_csv(folder / f"{name}.csv", index=False)
    return f"{folder / name}.csv::old"


@pytest.mark.parametrize(
    ("columns", "named"),
    [({"id": ["b", "a", "c"]}, "'id'"), ({"number": [3, 2, 1], "id": ["x", "y", "z"]}, "'number'")],
)
def test_the_same_in_another_order_is_refused(columns: dict[str, Any], named: str, tmp_path: Path) -> None:
    files = [written_of_row_order(tmp_path, "one"), written_of_row_order(tmp_path, "other", **columns)]
    refuses(InputError, f"column {named} has the same values in another order.*--id", refuse_other_order, files)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"id": ["b", "a", "d"]},  # of other rows: nothing is known
        {"site": ["y", "x", "x"]},  # no name of a row
        {"number": [0.5, 2.0, 1.0]},
    ],
)
def test_what_tells_no_order_is_let_alone(columns: dict[str, Any], tmp_path: Path) -> None:
    files = [written_of_row_order(tmp_path, "one"), written_of_row_order(tmp_path, "other", **columns)]
    refuse_other_order(files)
    refuse_other_order([f"{files[0].removesuffix('::old')}::id", f"{files[1].removesuffix('::old')}::number"])


# Logs of several models, tasks and filters, read together; answers in words as classes -------------------------------


TASKS = ("mmlu_anatomy", "mmlu_law", "mmlu_virology")
WORDS = ("flexible-extract",)


def test_the_logs_of_several_tasks_are_one_model_and_rows_are_called_by_task_and_question(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new", "third"), TASKS, 40)
    found = read_predictions(paths)
    assert list(found.predictions) == ["old", "new", "third"]
    for model, said in found.predictions.items():
        expected = np.concatenate([rights(model, task, 40) for task in TASKS])
        assert (said == found.labels).tolist() == expected.tolist()
    assert found.ids[[0, 39, 40]].tolist() == ["mmlu_anatomy/0", "mmlu_anatomy/39", "mmlu_law/0"]
    assert "120 questions of 3 tasks: each question has the same weight" in found.notes[0]
    # in any order, and by folders: of each model, and of all
    for texts in (paths[::-1], [str(tmp_path / name) for name in ("third", "new", "old")], [str(tmp_path)]):
        other = read_predictions(texts)
        assert set(other.predictions) == set(found.predictions)
        assert other.ids.tolist() == found.ids.tolist()
        assert all((other.predictions[name] == found.predictions[name]).all() for name in found.predictions)


def test_two_runs_of_a_model_are_told_apart_by_their_folders_and_refused_in_one(tmp_path: Path) -> None:
    for run in ("monday", "friday"):
        harness_logs(tmp_path / run, ("old",), TASKS, 10)
    found = read_predictions([str(tmp_path / run) for run in ("monday", "friday")])
    assert list(found.predictions) == ["monday/old", "friday/old"]
    refuses(InputError, r"holds two runs of mmlu_anatomy by old", lambda: read_predictions([str(tmp_path)]))


def test_generated_answers_are_classes_however_they_are_written(tmp_path: Path) -> None:
    paths = harness_logs(tmp_path, ("old", "new"), ("gsm8k",), 400, words=True)
    found = read_predictions(paths, filter=WORDS)
    assert (found.open, found.graded) == (True, False)
    products = [a * b for a, b in sums("gsm8k", 400)]
    assert found.labels.tolist() == [str(product) for product in products]
    for model, said in found.predictions.items():
        right = rights(model, "gsm8k", 400)
        assert said.tolist() == [str(p if ok else p + 7) for p, ok in zip(products, right, strict=True)]
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
    as_known = PredictionSet({}, np.array(classes), classes=classes, open=True).as_known
    assert as_known is not None
    assert [as_known(text) for text in written] == ["1218", "1218", "new york", OTHER_ANSWER, "1218"]
    assert plain("1,2,3") == "1,2,3"  # no commas of thousands


def test_fields_of_the_questions(tmp_path: Path) -> None:
    found = read_predictions(harness_logs(tmp_path, ("old", "new"), TASKS[:2], 8))
    assert found.values_of("doc.passage_id") == [0, 0, 0, 0, 1, 1, 1, 1] * 2
    assert found.values_of("task") == [TASKS[0]] * 8 + [TASKS[1]] * 8
    (a, b), (c, d), *_ = sums(TASKS[0], 8)
    assert found.values_of("question")[0] == f"{a} x {b} = ?"
    assert found.values_of("choices")[1].splitlines()[1] == f"1: {c * d}"
    refuses(UnknownNameError, r"'doc.pasage_id'; did you mean 'doc.passage_id'", found.values_of, "doc.pasage_id")
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
    refuses(InputError, r"partly.eval and its status is 'error', not success: 503", read_predictions, [good, partly])
    assert "its status is 'error', not success: 503 from the server" in read_predictions([partly]).notes[0]
    empty = inspect_log(tmp_path / "empty.eval", "old", [], **failed)
    refuses(FormatError, "holds no samples; its status is 'error', not success: 503 from", read_predictions, [empty])
    lost = [{**samples[0], "scores": None, "error": {"message": "time limit"}}, *samples[1:]]
    one = inspect_log(tmp_path / "one.json", "old", lost)
    refuses(InputError, "1 question has no score, first 'q0' and sample 'q0' failed: time", read_predictions, [one])
    none = inspect_log(tmp_path / "none.eval", "old", [{**samples[0], "scores": None}])
    refuses(FormatError, "none of its 1 samples has a score; the first sample names no error", read_predictions, [none])


def test_names_of_logs_are_of_one_model_each(tmp_path: Path) -> None:
    harness_logs(tmp_path, ("old", "new"), TASKS, 10)
    found = read_predictions({"a": str(tmp_path / "old"), "b": str(tmp_path / "new")})
    assert list(found.predictions) == ["a", "b"]
    refuses(InputError, "logs of one model by each name, got logs of 2 models", read_predictions, {"a": str(tmp_path)})
