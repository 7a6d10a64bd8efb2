"""``demele audit``: rows for experts, plans, two audits, and sheets that hide the labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import classifiers
from demele.labels import Audit, disagreement, draw_audit, join_audits
from tests.cli.conftest import WORDS, Program, mistakes


@pytest.mark.parametrize("design", ["uniform", "weighted"])
@pytest.mark.parametrize("source", ["data.csv", "names.csv"])
def test_what_an_expert_fills_in_is_read_back(
    design: str, source: str, demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    extra = ("--disagreement", f"{source}::old,new,twin") if design == "weighted" else ()
    run = demele("audit", "draw", f"{source}::label", "--size", 200, *extra, "-o", "audit.csv")
    assert (run.status, run.err) == (0, "demele: audit.csv written\n")
    frame = pd.read_csv("audit.csv", converters={"probability": float})
    true = judged["true"].to_numpy() if source == "data.csv" else WORDS[judged["true"]]
    frame["true_label"] = true[frame["row"]]
    frame.sort_values("row").to_csv("audit.csv", index=False)

    plan = draw_audit(600, 200, disagreement=disagreement(judged[["old", "new", "twin"]]) if extra else None)
    data = judged if source == "data.csv" else pd.DataFrame({name: WORDS[judged[name]] for name in judged})
    audit = plan.answered(true[plan.rows])
    found = demele.json("assess", f"{source}::old", f"{source}::label", "--audit", "audit.csv")
    assert found == classifiers.assess(data["old"], data["label"], audit=audit).to_dict()
    found = json.loads(
        demele("compare", f"{source}::old", f"{source}::new", f"{source}::label", "--audit", "audit.csv").out
    )
    expected = classifiers.compare(data["old"], data["new"], data["label"], audit=audit)
    assert found == expected.to_dict()
    assert found["method"] == "audit"


# ``demele audit plan``, and the formats of ``demele audit`` ----------------------------------------------------------


FILES = ("data.csv::old,new", "data.csv::label")
QUICK = ("--sizes", "50,200", "--wrong", "0.05", "--draws", 3)


def test_a_measure_of_one_class_and_groups(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    pd.DataFrame({"site": [row // 6 for row in range(600)]}).to_csv("sites.csv", index=False)
    run = demele("audit", "plan", *FILES, *QUICK, "--measure", "f1", "--of", "1", "--groups", "sites.csv", "--quiet")
    assert (run.status, run.err) == (0, "")
    expected = classifiers.plan_audit(
        judged[["old", "new"]],
        judged["label"],
        sizes=(50, 200),
        wrong=0.05,
        measure="f1",
        of=1,
        groups=[row // 6 for row in range(600)],
        draws=3,
    )
    assert json.loads(run.out) == expected.to_dict()


def test_how_many_more_rows(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    plan = draw_audit(600, 6, seed=1)
    rows = pd.DataFrame({"row": plan.rows, "true_label": judged["true"][plan.rows], "design": "uniform"})
    rows.to_csv("audit.csv", index=False)
    run = demele.done("audit", "plan", *FILES, "--audit", "audit.csv", "--draws", 3, "--format", "table")
    assert "settle it in half of the draws" in " ".join(run.out.split())
    demele.refused("--wrong", "audit", "plan", *FILES, "--audit", "audit.csv", "--wrong", "0.1")


# Two files of --audit, and options that are given twice --------------------------------------------------------------


COLUMNS = {
    "assess": ("data.csv::new", "data.csv::label"),
    "compare": ("data.csv::old", "data.csv::new", "data.csv::label"),
}


def _written(name: str, rows: np.ndarray, judged: pd.DataFrame, design: str = "uniform") -> Audit:
    said = judged["true"].to_numpy()[rows]
    pd.DataFrame({"row": rows, "true_label": said, "design": design}).to_csv(name, index=False)
    return Audit(rows, said, design="uniform")


@pytest.mark.parametrize("command", ["assess", "compare"])
def test_two_audits_are_joined(command: str, demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    old, new, label = (judged[name].to_numpy() for name in ("old", "new", "label"))
    apart = np.flatnonzero(new != (label if command == "assess" else old))
    first = _written("first.csv", rng.permutation(600)[:100], judged)
    second = _written("second.csv", rng.permutation(np.setdiff1d(apart, first.rows))[:10], judged)
    run = demele.done(command, *COLUMNS[command], "--audit", "first.csv", "--audit", "second.csv")
    audit = join_audits(first, second, within=apart)
    names = ("new", "label") if command == "assess" else ("old", "new", "label")
    expected = getattr(classifiers, command)(*(judged[name] for name in names), audit=audit)
    assert json.loads(run.out) == json.loads(json.dumps(expected.to_dict()))


def test_a_plan_goes_on_from_one_audit(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    _written("first.csv", np.arange(60, 120), judged)
    _written("second.csv", np.flatnonzero(judged["old"] != judged["new"])[:3], judged)
    audits = ("--audit", "first.csv", "--audit", "second.csv")
    demele.refused("of joined ones the first", "audit", "plan", "data.csv::old,new", "data.csv::label", *audits)


# ``demele audit --blind`` --------------------------------------------------------------------------------------------


TEXTS = ["=HYPERLINK(1)", "+1 cat", "plain, with comma", "two\nlines"]


@pytest.fixture
def questions(labels_folder: Path, judged: pd.DataFrame) -> pd.DataFrame:
    """The columns as names, with an identifier and a text that spreadsheets would take for a formula."""
    table = pd.DataFrame({name: WORDS[judged[name]] for name in judged})
    table["id"] = [f"q{row}" for row in range(600)]
    table["text"] = [TEXTS[row % 4] for row in range(600)]
    table.to_csv("questions.csv", index=False)
    return table


def sheet(path: str = "sheet.csv") -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def filled(answers: Callable[[str], str], path: str = "sheet.csv") -> pd.DataFrame:
    """Fill in the sheet by identifier, sort it by key, and save it as spreadsheets do."""
    table = sheet(path)
    table["answer"] = [answers(name) for name in table["id"]]
    table.sort_values("key").to_csv(path, index=False)
    return table


def draw(demele: Program, *more: object) -> None:
    demele.done("audit", "draw", "questions.csv::label", "--blind", "--keep", "id,text", "-o", "sheet.csv", *more)


def assess(demele: Program, *more: object) -> Any:
    return demele.json("assess", "questions.csv::old", "questions.csv::label", "--audit", "sheet.csv", *more)


def test_the_sheet_holds_keys_kept_columns_and_nothing_else(demele: Program, questions: pd.DataFrame) -> None:
    draw(demele, "--size", 40)
    table = sheet()
    assert list(table) == ["key", "id", "text", "answer"]
    assert set(table["answer"]) == {""}
    assert table["key"].str.fullmatch("[b-z]{6}").all()
    assert table["key"].is_unique
    assert set(table["text"]) == {"'=HYPERLINK(1)", "'+1 cat", "plain, with comma", "two\nlines"}
    key = json.loads(Path("sheet.key.json").read_text(encoding="utf-8"))
    assert [one["row"] for one in key["rows"]] == draw_audit(600, 40).rows.tolist()
    assert [f"q{one['row']}" for one in key["rows"]] == table["id"].tolist()
    assert (key["design"], key["seed"], key["n"]) == ("uniform", 0, 600)


def test_weighted_rows_come_in_an_order_that_is_not_that_of_doubt(demele: Program, questions: pd.DataFrame) -> None:
    draw(demele, "--size", 200, "--disagreement", "questions.csv::old,new,twin", "--seed", 3)
    rows = json.loads(Path("sheet.key.json").read_text(encoding="utf-8"))["rows"]
    plan = draw_audit(600, 200, disagreement=disagreement(questions[["old", "new", "twin"]]), seed=3)
    assert sorted(one["row"] for one in rows) == sorted(plan.rows.tolist())
    chances = np.array([one["probability"] for one in rows])
    assert abs(np.corrcoef(np.arange(200), chances)[0, 1]) < 0.2  # 0.62 in the order drawn
    assert plan.probabilities is not None
    drawn = np.corrcoef(np.arange(200), plan.probabilities)[0, 1]
    assert abs(drawn) > 0.3
    assert [one["row"] for one in sorted(rows, key=lambda one: one["draw"])] == plan.rows.tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_what_comes_back_in_any_order_is_the_audit(weighted: bool, demele: Program, questions: pd.DataFrame) -> None:
    more = ("--disagreement", "questions.csv::old,new,twin") if weighted else ()
    draw(demele, "--size", 150, *more)
    filled(lambda name: f" {questions['true'][int(name[1:])].upper()}")  # people write Cat
    plan = draw_audit(600, 150, disagreement=disagreement(questions[["old", "new", "twin"]]) if weighted else None)
    audit = plan.answered(questions["true"].to_numpy()[plan.rows])
    assert assess(demele) == classifiers.assess(questions["old"], questions["label"], audit=audit).to_dict()


def test_unclear_rows_are_left_out_counted_and_told(demele: Program, questions: pd.DataFrame) -> None:
    draw(demele, "--size", 100, "--disagreement", "questions.csv::old,new,twin")
    plan = draw_audit(600, 100, disagreement=disagreement(questions[["old", "new", "twin"]]))
    odd = set(plan.rows[[3, 50]].tolist())
    filled(lambda name: "Unclear" if int(name[1:]) in odd else str(questions["true"][int(name[1:])]))
    clear = np.array([row not in odd for row in plan.rows])
    audit = Audit(
        plan.rows[clear],
        questions["true"].to_numpy()[plan.rows[clear]],
        design="weighted",
        probabilities=plan.probabilities[clear] * 98 / 100,
        least_probability=plan.least_probability * 98 / 100,
        unclear=2,
    )
    found = assess(demele)
    assert found == classifiers.assess(questions["old"], questions["label"], audit=audit).to_dict()
    assert "2 of 100 rows were unclear to the expert" in json.dumps(found["notes"])


def test_rows_that_are_not_answered_yet(demele: Program, questions: pd.DataFrame) -> None:
    draw(demele, "--size", 30)
    first = sheet()["id"].tolist()
    filled(lambda name: str(questions["true"][int(name[1:])]) if name in first[:20] else "")
    run = demele("assess", "questions.csv::old", "questions.csv::label", "--audit", "sheet.csv")
    assert "the last 10 rows have no answer; the first 20 are used" in run.err
    plan = draw_audit(600, 20)
    expected = classifiers.assess(
        questions["old"], questions["label"], audit=plan.answered(questions["true"].to_numpy()[plan.rows])
    )
    assert json.loads(run.out) == expected.to_dict()
    filled(lambda name: "" if name == first[4] else "cat")
    gap = f"1 row has no answer, first {sheet().set_index('id')['key'][first[4]]}"
    demele.refused(gap, "assess", "questions.csv::old", "questions.csv::label", "--audit", "sheet.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.assign(key=["zzz", *table["key"][1:]]), "row 2 has no key that was written; the column"),
        (lambda table: pd.concat([table, table.iloc[[4]]]), "the same key stands in rows 6 and 14"),
        (lambda table: table.iloc[3:], "3 of 12 rows are missing, first"),
        (
            lambda table: table.assign(answer=["cat", "kat", *["dog"] * 10]),
            "1 answer is no class of LABELS: row 3 'kat'",
        ),
        (lambda table: table.drop(columns="key"), "expected one column key, got 0"),
        (lambda table: table.assign(answer="unclear"), "no row has an answer in column answer but unclear"),
    ],
)
def test_a_sheet_that_was_changed_is_refused_with_its_rows(
    change: Callable[[pd.DataFrame], pd.DataFrame], message: str, demele: Program, questions: pd.DataFrame
) -> None:
    draw(demele, "--size", 12)
    change(sheet().assign(answer="cat")).to_csv("sheet.csv", index=False)
    demele.refused(message, "assess", "questions.csv::old", "questions.csv::label", "--audit", "sheet.csv")


def test_asking_in_sheets_decides_as_the_library_does(demele: Program, questions: pd.DataFrame) -> None:
    names = ("questions.csv::old", "questions.csv::twin", "questions.csv::label")
    call = ("audit", "next", *names, "--answers", "ask.csv", "--blind", "--keep", "id", "--batch", 10)
    comparison = classifiers.SequentialComparison(questions["old"], questions["twin"], questions["label"])
    truth = questions["true"].to_numpy()
    run = demele(*call)
    assert "label the 10 rows that have no answer in ask.csv" in run.err
    for turn in range(3):
        rows, written = comparison.ask(10), sheet("ask.csv")
        names_written = [f"q{row}" for row in rows]
        assert sorted(written["id"][10 * turn :]) == sorted(names_written)
        assert written["id"][10 * turn :].tolist() != names_written  # shuffled
        unclear = rows[2] if turn == 0 else -1
        said = {name: str(truth[int(name[1:])]) for name in written["id"]}
        said |= {name: answer for name, answer in zip(written["id"], written["answer"], strict=True) if answer}
        said |= {f"q{unclear}": "unclear"}
        filled(said.__getitem__, "ask.csv")
        comparison.pass_over(rows[rows == unclear])
        comparison.tell(rows[rows != unclear], truth[rows[rows != unclear]])
        run = demele(*call)
        assert json.loads(run.out) == comparison.decision().to_dict()
    assert "1 of 30 rows were unclear to the expert; they count for neither classifier" in run.out


def test_a_workbook_holds_texts_and_comes_back(demele: Program, questions: pd.DataFrame) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    run = demele.done(
        "audit", "draw", "questions.csv::label", "--size", 40, "--blind", "--keep", "id,text", "-o", "sheet.xlsx"
    )
    book = openpyxl.load_workbook("sheet.xlsx")
    cells = [list(row) for row in book.active.iter_rows()]
    assert [cell.value for cell in cells[0]] == ["key", "id", "text", "answer"]
    texts = [row[2] for row in cells[1:]]
    assert "=HYPERLINK(1)" in {cell.value for cell in texts}
    assert {cell.data_type for cell in texts} == {"s"}
    for row in cells[1:]:
        row[3].value = questions["true"][int(row[1].value[1:])]
    book.save("sheet.xlsx")
    run = demele("assess", "questions.csv::old", "questions.csv::label", "--audit", "sheet.xlsx")
    plan = draw_audit(600, 40)
    audit = plan.answered(questions["true"].to_numpy()[plan.rows])
    assert json.loads(run.out) == classifiers.assess(questions["old"], questions["label"], audit=audit).to_dict()


def test_a_sheet_in_strata_leads_back_to_its_audit(demele: Program, questions: pd.DataFrame) -> None:
    """Half of the rows are drawn where the label or a model is the class; the key holds all rows of the stratum."""
    draw(demele, "--size", 60, "--positive", "yak", "--disagreement", "questions.csv::old,new", "--seed", 3)
    within = np.flatnonzero((questions[["label", "old", "new"]] == "yak").any(axis=1))
    plan = draw_audit(600, 60, within=within, seed=3)
    key = json.loads(Path("sheet.key.json").read_text(encoding="utf-8"))
    assert (key["design"], key["within"]) == ("stratified", within.tolist())
    assert [row["row"] for row in sorted(key["rows"], key=lambda row: row["draw"])] == plan.rows.tolist()
    filled(lambda name: str(questions["true"][int(name[1:])]))
    truth = questions["true"].to_numpy()[plan.rows]
    for options, most in (((), 1.0), (("--unseen-positives", 0.2), 0.2)):
        audit = plan.answered(truth, unseen_positives=most)
        expected = classifiers.assess(questions["old"].to_numpy(), questions["label"].to_numpy(), audit=audit)
        assert assess(demele, *options) == json.loads(json.dumps(expected.to_dict()))
    table = sheet()
    table.loc[3, "answer"] = ""
    table.to_csv("sheet.csv", index=False)
    demele.refused(
        "1 row has no answer", "assess", "questions.csv::old", "questions.csv::label", "--audit", "sheet.csv"
    )


@mistakes("""
audit draw questions.csv::label | expected LABELS --size N or LOG... --size N, got no --size (see demele audit draw -h)
audit draw questions.csv::label --size 9 --disagreement short.csv | --disagreement: expected 600 rows, as many as
audit draw questions.csv::label --size 9 --blind | -o: --blind writes a sheet and a key next to it
audit draw questions.csv::label --size 9 --blind -o s.json | -o: expected a file called .csv, .tsv, .xlsx, got s.json
audit draw questions.csv::label --size 9 --keep id | --keep: says what the sheet of --blind shows
audit draw questions.csv::label --size 9 --blind -o s.csv --keep id,label | --keep: label holds labels or predictions
audit draw questions.csv::label --size 9 --positive yak | --positive: give --blind as well
audit draw questions.csv::label --size 9 --positive cow --blind -o s.csv | --positive: expected at least 1 row
assess questions.csv::old questions.csv::label --unseen-positives 0.01 | that demele audit draw --positive drew
""")
def test_a_mistake_is_one_clear_line(words: list[str], message: str, demele: Program, questions: pd.DataFrame) -> None:
    questions[["old", "new"]].head(10).to_csv("short.csv", index=False)
    demele.refused(message, *words)
    assert not Path("s.csv").exists()


def test_a_copy_of_the_sheet_needs_its_key_named(demele: Program, questions: pd.DataFrame) -> None:
    draw(demele, "--size", 12)
    filled(lambda name: "cat")
    Path("sheet.csv").rename("from_anna.csv")
    call = ("assess", "questions.csv::old", "questions.csv::label", "--audit", "from_anna.csv")
    assert "expected columns row (counted from 0) and true_label" in demele(*call).err
    assert demele(*call, "--audit-key", "sheet.key.json").status == 0
    other = demele("assess", "questions.csv::old", "questions.csv::new", *call[3:], "--audit-key", "sheet.key.json")
    assert "its rows were drawn from other labels" in other.err
