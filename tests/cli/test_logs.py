"""Logs of language models wherever predictions and labels are."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from demele.classifiers import compare
from demele.files import read_predictions
from demele.labels import disagreement, draw_audit
from tests.cli.conftest import Program
from tests.files.model_logs import harness_logs, inspect_log, inspect_samples, rights, sums

TASKS = ("mmlu_anatomy", "mmlu_law")
WORDS = ("--filter", "flexible-extract")


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    harness_logs(Path("mmlu"), ("old", "new", "third"), TASKS, 60)
    harness_logs(Path("gsm"), ("old", "new"), ("gsm8k",), 200, words=True)
    for model in ("old", "new"):
        inspect_log(Path(f"inspect/{model}.eval"), model, inspect_samples(model, "quiz", 200))
    return tmp_path


def filled(path: str, answer: Callable[[dict[str, str]], str], column: str) -> None:
    """Write an answer into every empty cell of a column."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    pd.DataFrame([{**line, column: line[column] or answer(line)} for line in lines]).to_csv(path, index=False)


def product(line: dict[str, str]) -> str:
    """The right answer to a question of gsm8k, as an expert writes it."""
    first, second = (int(word) for word in line["question"].split() if word.isdigit())
    return f"{first * second:,}"


def test_several_tasks_are_compared_assessed_and_planned(demele: Program, logs: Path) -> None:
    found = demele.json("compare", "mmlu/old", "mmlu/new", "--quiet")
    gained = sum((rights("new", task, 60).sum() - rights("old", task, 60).sum()) / 120 for task in TASKS)
    assert found["names"] == ["old", "new"]
    assert found["difference"] == pytest.approx(gained)
    files = sorted(map(str, Path("mmlu").glob("[on]*/samples*")), reverse=True)
    assert demele.json("compare", *files, "--quiet")["difference"] == pytest.approx(gained)
    ranked = demele.json("compare", "mmlu", "--names", "N,O,T")
    assert sorted(ranked["names"]) == ["N", "O", "T"]
    assert demele("compare", "mmlu", "--names", "N,O").err.count("--names: expected 3 different names") == 1
    assert demele.json("assess", "mmlu/old")["n"] == 120
    assert "expected one model, got new, old, third" in demele("assess", "mmlu").err
    demele.done("audit", "plan", "mmlu", "--sizes", "50", "--wrong", "0.05", "--draws", 2)


def test_rows_belong_together_by_a_field_of_the_logs(demele: Program, logs: Path) -> None:
    fields = read_predictions(["mmlu/old", "mmlu/new"])
    groups = [
        f"{task}/{passage}" for task, passage in zip(*map(fields.values_of, ("task", "doc.passage_id")), strict=True)
    ]
    old, new = fields.predictions.values()
    expected = compare(old, new, fields.labels, classes=fields.classes, groups=groups)
    run = demele("compare", "mmlu/old", "mmlu/new", "--groups", "doc.passage_id", "--quiet")
    assert json.loads(run.out)["interval"] == json.loads(expected.to_json())["interval"]
    assert json.loads(run.out)["interval"] != demele.json("compare", "mmlu/old", "mmlu/new")["interval"]
    run = demele.done("compare", "inspect/old.eval", "inspect/new.eval", "--groups", "metadata.passage")
    assert "did you mean 'metadata.passage'" in demele("assess", "inspect/old.eval", "--groups", "metadata.pasage").err


def test_an_audit_of_generated_answers_weighted_by_disagreement(demele: Program, logs: Path) -> None:
    demele.done("audit", "draw", "gsm", "--size", 60, "--disagreement", "gsm", *WORDS, "-o", "audit.csv")
    found = read_predictions(["gsm"], filter=WORDS[1])
    plan = draw_audit(200, 60, disagreement=disagreement(found.predictions))
    rows = pd.read_csv("audit.csv")
    assert rows["row"].tolist() == plan.rows.tolist()
    assert rows["design"].unique().tolist() == ["weighted"]
    for how in (("gsm/old", "--disagreement", "gsm/new"), ("--disagreement", "gsm/new", "gsm/old")):
        other = demele("audit", "draw", *how, "--size", 60, *WORDS, "--format", "csv")
        assert [line.split(",")[1] for line in other.out.splitlines()[1:]] == [str(row) for row in plan.rows]
    products = [a * b for a, b in sums("gsm8k", 200)]
    true = [products[row] + 7 * (place < 4) - (place == 5) for place, row in enumerate(plan.rows.tolist())]
    rows.assign(true_label=true).to_csv("audit.csv", index=False)
    run = demele.done("compare", "gsm/old", "gsm/new", *WORDS, "--audit", "audit.csv")
    assert "1 answer is none that a model or a log gave" in run.err
    texts = [str(value) if place != 5 else "another answer" for place, value in enumerate(true)]
    old, new = found.predictions["old"], found.predictions["new"]
    expected = compare(old, new, found.labels, classes=found.classes, audit=plan.answered(texts))
    interval = json.loads(run.out)["interval"]
    assert [interval["low"], interval["high"]] == pytest.approx([expected.interval.low, expected.interval.high])
    assessed = demele.done("assess", "gsm/old", *WORDS, "--audit", "audit.csv", "--format", "table")
    assert "macro" not in assessed.out
    assert "classes have fewer" not in assessed.out


def test_a_sheet_shows_the_question_and_hides_the_answer(demele: Program, logs: Path) -> None:
    demele.done("audit", "draw", "gsm", "--size", 30, "--disagreement", "gsm", *WORDS, "--blind", "-o", "sheet.csv")
    sheet = pd.read_csv("sheet.csv")
    assert list(sheet) == ["key", "question", "answer"]
    assert sheet["question"].str.startswith("A box holds").all()
    filled("sheet.csv", product, "answer")
    assert demele.json("compare", "gsm/old", "gsm/new", *WORDS, "--audit", "sheet.csv")["method"] == "audit"
    run = demele("audit", "draw", "mmlu/old", "--size", 5, "--blind", "-o", "mmlu.csv", "--quiet")
    assert list(pd.read_csv("mmlu.csv")) == ["key", "question", "choices", "answer"]
    run = demele("audit", "draw", "mmlu/old", "--size", 5, "--blind", "--keep", "question,doc.subject", "-o", "s.csv")
    assert list(pd.read_csv("s.csv")) == ["key", "question", "doc.subject", "answer"]
    for field in ("target", "doc.answer"):
        run = demele("audit", "draw", "gsm", *WORDS, "--size", 5, "--blind", "--keep", field, "-o", "x.csv")
        assert f"--keep: {field} holds the right answers" in run.err


@pytest.mark.parametrize("sheet", [(), ("--blind",)])
def test_one_label_at_a_time_from_logs(sheet: tuple[str, ...], demele: Program, logs: Path) -> None:
    products = [f"{a * b:,}" for a, b in sums("gsm8k", 200)]
    command = ("audit", "next", "gsm/old", "gsm/new", *WORDS, "--answers", "ask.csv", *sheet)
    for _ in range(20):
        run = demele.done(*command)
        if " decide it" in run.err or "would not decide it\n" in run.err:
            break
        column = "answer" if sheet else "true_label"
        filled("ask.csv", product if sheet else lambda line: products[int(line["row"])], column)
    else:
        pytest.fail("no verdict after 400 labels of 200")
    assert json.loads(run.out)["method"] == "sequential"


def test_an_expert_answers_choices_with_letters(demele: Program, logs: Path) -> None:
    demele("audit", "draw", "mmlu/old", "--size", 40, "-o", "numbers.csv")
    drawn = pd.read_csv("numbers.csv", dtype=object)
    drawn["true_label"] = drawn["given_label"]
    drawn.to_csv("numbers.csv", index=False)
    drawn["true_label"] = ["ABCDEFGH"[int(choice)] for choice in drawn["given_label"]]
    drawn.to_csv("letters.csv", index=False)
    pair = ("compare", "mmlu/old", "mmlu/new", "--audit")
    assert demele(*pair, "letters.csv").out == demele(*pair, "numbers.csv").out
    drawn.loc[0, "true_label"] = "none of these"
    drawn.to_csv("letters.csv", index=False)
    demele.refused("expected the number or letter of a choice, got 'none of these'", *pair, "letters.csv")


def test_a_folder_of_two_models_is_compared_as_two(demele: Program, logs: Path) -> None:
    for model in ("old", "new"):
        shutil.copytree(f"mmlu/{model}", f"both/{model}")
    assert demele("compare", "both").out == demele("compare", "mmlu/new", "mmlu/old").out
