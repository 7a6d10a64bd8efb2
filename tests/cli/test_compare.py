"""``demele compare`` from its arguments to what it leaves behind, and the rows that it asks of an expert."""

import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import classifiers
from demele.labels import Audit, Cleaning, disagreement, draw_audit, estimate_transition
from tests.cli.conftest import WORDS, Program, Run
from tests.tolerances import assert_exact

PAIR = ("data.csv::old", "data.csv::new", "data.csv::label")
CLOSE = ("data.csv::old", "data.csv::twin", "data.csv::label")
SEVERAL = ("data.csv::old,new,twin", "data.csv::label")


def _compare(judged: pd.DataFrame, **known: Any) -> Any:
    return classifiers.compare(judged["old"], judged["new"], judged["label"], **known).to_dict()


# Two classifiers -------------------------------------------------------------------------------------------------


def test_the_next_step_names_the_files_that_were_given(demele: Program, labels_folder: Path) -> None:
    lines = demele("compare", *CLOSE, "--noise", 0.02, "--format", "table").out.splitlines()
    (step,) = [line.strip() for line in lines if line.startswith("  demele audit ")]
    assert "LABELS" not in step
    assert step.startswith(("demele audit draw data.csv::label --size ", f"demele audit plan {shlex.join(CLOSE)}"))


def test_every_method_is_reached(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    rows = np.random.default_rng(1).permutation(600)[:150]
    answers = judged["true"].to_numpy()[rows]
    pd.DataFrame({"row": rows, "true_label": answers, "design": "uniform"}).to_csv("audit.csv", index=False)
    counts = estimate_transition(answers, judged["label"].to_numpy()[rows], classes=[0, 1, 2, 3])
    counts.to_frame().to_csv("counts.csv")
    difficulty = np.random.default_rng(2).random(600)
    np.save("difficulty.npy", difficulty)
    hard = classifiers.HardRows(difficulty, prudence=0.2)
    suspect = (judged["label"] != judged["true"]).to_numpy()
    pd.DataFrame({"s": suspect, "r": judged["true"].where(suspect)}).to_csv("suspects.csv", index=False)
    audit = Audit(rows, answers, design="uniform")
    cleaning = Cleaning(suspect, judged["true"])
    reached = set()
    for words, known in (
        ("--level 0.9", {"level": 0.9}),
        ("--method overlap", {"method": "overlap"}),
        ("--inference test_set", {"inference": "test_set"}),
        ("--method true-labels --true-labels true.npy", {"method": classifiers.TrueLabels(judged["true"])}),
        ("--method worst-case-overlap --noise 0.03", {"method": "worst-case-overlap", "noise": 0.03}),
        ("--method hard-rows --difficulty difficulty.npy --prudence 0.2", {"method": hard}),
        ("--method cleaned --cleaning suspects.csv", {"method": classifiers.Cleaned(cleaning)}),
        ("--method agreement --reference twin.npy", {"method": classifiers.Agreement(judged["twin"])}),
        ("--noise 0.05 --inference overlap", {"noise": 0.05, "inference": "overlap"}),
        ("--noise counts.csv", {"noise": counts}),
        ("--audit audit.csv --inference test_set", {"audit": audit, "inference": "test_set"}),
        ("--audit audit.csv --method sequential", {"audit": audit, "method": "sequential"}),
        ("--audit audit.csv --expert-error 0.01", {"audit": audit, "method": classifiers.Audited(expert_error=0.01)}),
        ("--measure recall --of 2 --noise 0.02", {"measure": "recall", "of": 2, "noise": 0.02}),
        ("--measure error", {"measure": "error"}),
    ):
        found = demele.json("compare", *PAIR, *words.split())
        assert found == _compare(judged, **known), words
        reached.add(found["method"])
    assert reached == set(classifiers.method_names())


def test_files_give_names_where_columns_are_the_same(
    demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    for name in ("old", "new"):
        judged[[name]].rename(columns={name: "class"}).to_csv(f"run-{name}.csv", index=False)
    found = demele.json("compare", "run-old.csv::class", "run-new.csv::class", "label.npy")
    assert found["names"] == ["run-old", "run-new"]
    (labels_folder / "a").mkdir()
    judged[["old"]].to_csv("a/run-new.csv", index=False)
    assert demele.json("compare", "a/run-new.csv", "run-new.csv", "label.npy")["names"] == [
        "baseline",
        "candidate",
    ]


def test_digits_are_names_where_labels_hold_a_name(demele: Program, labels_folder: Path) -> None:
    pd.DataFrame({"y": ["1", "2", "none"] * 30, "p": [1, 2, 1] * 30, "q": [1, 1, 2] * 30}).to_csv("d.csv", index=False)
    found = demele.json("compare", "d.csv::q", "d.csv::p", "d.csv::y")
    assert (found["baseline"]["successes"], found["candidate"]["successes"]) == (30, 60)


def test_a_classifier_against_itself(demele: Program, labels_folder: Path) -> None:
    run = demele("compare", "old.npy", "old.npy", "label.npy")
    assert json.loads(run.out)["verdict"] == "inconclusive"
    assert run.err == "demele: warning: old.npy is given twice: judged against itself\n"
    run = demele("compare", "old.npy", "label.npy", "label.npy")
    assert "label.npy is given twice: judged against itself" in run.err


# Several ---------------------------------------------------------------------------------------------------------


def test_the_ranking_of_the_library(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    expected = classifiers.rank(judged[["old", "new", "twin"]], judged["label"], noise=0.02)
    found = demele.json("compare", *SEVERAL, "--noise", 0.02)
    assert found == expected.to_dict()
    assert found["names"][0] == "new"
    assert (found["best_rank"][0], found["worst_rank"][0]) == (1, 1)
    table = pd.read_csv(io.StringIO(demele("compare", *SEVERAL, "--noise", 0.02, "--format", "csv").out))
    assert table["model"].tolist() == list(expected.names)
    assert_exact(table["worst_rank"], expected.worst_rank)


def test_the_column_of_labels_is_no_model(demele: Program, labels_folder: Path) -> None:
    run = demele("compare", "data.csv", "data.csv::label")
    assert run.err == "demele: warning: data.csv: column label was left out of the models: it is LABELS\n"
    assert set(json.loads(run.out)["names"]) == {"old", "new", "twin", "true"}


def test_more_classes_than_labels_have(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    names = pd.DataFrame({name: WORDS[judged[name]] for name in judged})
    names.loc[::10, "new"] = "no answer"
    names.to_csv("silent.csv", index=False)
    pair = ("silent.csv::old", "silent.csv::new", "silent.csv::label")
    several = ("silent.csv::old,new", "silent.csv::label")
    asked = (*pair, "--answers", "answers.csv")
    for command, arguments in (("compare", pair), ("compare", several), ("audit next", asked)):
        refused = demele(*command.split(), *arguments, "--classes", "cat,dog,owl,yak")
        assert refused.status == 2
        remedy = refused.err.strip().partition("give all classes with ")[2]
        assert shlex.split(remedy) == ["--classes", "cat,dog,no answer,owl,yak"]
        assert not Path("answers.csv").exists()
    for found in map(json.loads, (demele("compare", *pair).out, demele("compare", *pair, *shlex.split(remedy)).out)):
        assert found["candidate"]["successes"] == int((names["new"] == names["label"]).sum())
    for arguments in (pair, several):
        [note] = [note for note in demele.json("compare", *arguments)["notes"] if "no label has" in note["message"]]
        assert note["message"].startswith("60 predictions use a class that no label has, 'no answer' (first: row 0)")


# One label at a time ---------------------------------------------------------------------------------------------


@pytest.fixture
def expert(judged: pd.DataFrame) -> Callable[..., int]:
    """Fill in rows that have no answer yet, ``most`` of them, as a spreadsheet would write the file again."""

    def answers(
        file: str = "answers.csv", *, most: int = 1000, words: bool = False, sep: str = ",", seed: int = 0
    ) -> int:
        frame = pd.read_csv(file, sep=None, engine="python", dtype=str)
        frame = frame.sort_values("draw", key=lambda column: column.astype(int))
        waiting = frame.index[frame["true_label"].isna()][:most]
        rows = frame.loc[waiting, "row"].astype(int)
        true = judged["true"].to_numpy()[rows]
        frame.loc[waiting, "true_label"] = WORDS[true] if words else true.astype(str)
        frame = frame.sample(frac=1, random_state=seed)[[*frame.columns[::-1]]]
        Path(file).write_text("\ufeff" + frame.to_csv(index=False, sep=sep).rstrip("\n"), encoding="utf-8")
        return len(waiting)

    return answers


def _ask(demele: Program, *options: object, pair: tuple[str, ...] = PAIR) -> Run:
    return demele("audit", "next", *pair, "--answers", "answers.csv", *options)


def _in_one_go(judged: pd.DataFrame, first: str, second: str, **options: Any) -> Any:
    """Ask the same of the library, one label at a time, until it is decided."""
    comparison = classifiers.SequentialComparison(judged[first], judged[second], judged["label"], **options)
    while not comparison.done:
        rows = comparison.ask()
        comparison.tell(rows, judged["true"].to_numpy()[rows])
    return comparison


@pytest.mark.parametrize("sep", [",", ";"])
def test_asking_to_the_end(
    sep: str, demele: Program, labels_folder: Path, judged: pd.DataFrame, expert: Callable[..., int]
) -> None:
    run = _ask(demele, "--batch", 4)
    assert run.status == 0
    assert json.loads(run.out)["verdict"] == "inconclusive"
    assert run.err.startswith("demele: 0 answers, inconclusive; about ")
    assert run.err.endswith("label the 4 rows that have no true_label in answers.csv, then run this again\n")
    alone = _in_one_go(judged, "old", "new")
    assert alone.labels_used > 8
    for number in range(100):
        given = expert(sep=sep, seed=number)
        run = _ask(demele, "--batch", 4)
        found = json.loads(run.out)
        if found["verdict"] != "inconclusive":
            break
        assert given == 4
    # Decided in the batch in which the library decides, and asked for nothing after it.
    asked = len(pd.read_csv("answers.csv", sep=sep))
    assert asked == 4 * -(-alone.labels_used // 4)
    assert found["verdict"] == alone.decision().verdict == "candidate"
    assert found["details"]["labels_used"] == asked
    assert run.err == f"demele: {asked} answers decide it\n"
    written = Path("answers.csv").read_bytes()
    assert _ask(demele, "--batch", 4).out == run.out
    assert Path("answers.csv").read_bytes() == written


def test_later_answers_wait_for_earlier_ones(demele: Program, labels_folder: Path, judged: pd.DataFrame) -> None:
    _ask(demele, "--batch", 5, "--quiet")
    frame = pd.read_csv("answers.csv")
    true = judged["true"].to_numpy()[frame["row"]]
    frame["true_label"] = [true[0], None, true[2], None, true[4]]
    frame.to_csv("answers.csv", index=False)
    run = _ask(demele, "--batch", 2)
    assert f"row {frame['row'][1]} has no answer; the 2 after it count once it has" in run.err
    assert json.loads(run.out)["details"]["labels_used"] == 1
    frame["true_label"] = true
    frame.to_csv("answers.csv", index=False)
    assert json.loads(_ask(demele, "--batch", 2).out)["details"]["labels_used"] == 5


def test_files_of_other_comparisons_are_refused(
    demele: Program, labels_folder: Path, judged: pd.DataFrame, expert: Callable[..., int]
) -> None:
    _ask(demele, "--quiet")
    expert()
    before = Path("answers.csv").read_bytes()
    other = judged.assign(old=judged["new"].to_numpy()[::-1])
    other.to_csv("other.csv", index=False)
    judged.assign(label=judged["label"][::-1].to_numpy()).to_csv("turned.csv", index=False)
    for pair, options in (
        (CLOSE, ()),
        (("data.csv::new", "data.csv::old", "data.csv::label"), ()),
        (("other.csv::old", "data.csv::new", "data.csv::label"), ()),
        (("data.csv::old", "data.csv::new", "turned.csv::label"), ()),
        (PAIR, ("--seed", 1)),
        (PAIR, ("--level", 0.9)),
        (PAIR, ("--inference", "test_set")),
    ):
        run = _ask(demele, *options, pair=pair)
        assert (run.status, run.out) == (2, "")
        assert run.err.startswith("demele: error: answers.csv: ")
        assert ("another comparison" in run.err) or ("was it made for other labels?" in run.err)
        assert run.err.count("\n") == 1
        assert Path("answers.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("row,true_label\n1,1\n", "answers.csv: its rows were asked for another comparison"),
        ("row,true_label\n", "answers.csv: has no rows or no columns"),
    ],
)
def test_what_is_no_file_of_answers_is_kept(content: str, message: str, demele: Program, labels_folder: Path) -> None:
    Path("answers.csv").write_text(content, encoding="utf-8")
    run = _ask(demele)
    assert run.status == 2
    assert message in run.err
    assert Path("answers.csv").read_text(encoding="utf-8") == content


def test_rows_asked_for_a_comparison_are_no_random_sample(
    demele: Program, labels_folder: Path, expert: Callable[..., int]
) -> None:
    _ask(demele, "--quiet")
    expert()
    demele.refused("continue with demele audit next", "compare", *PAIR, "--audit", "answers.csv")


# What to look at -------------------------------------------------------------------------------------------------


def test_a_proved_verdict_and_an_interval_that_decides_nothing(
    demele: Program, labels_folder: Path, judged: pd.DataFrame
) -> None:
    truth = judged["true"].to_numpy()
    draw = ("audit", "draw", "data.csv::label", "--size", 120, "--disagreement", "data.csv::old,new", "-o", "w.csv")
    assert demele(*draw).status == 0
    drawn = pd.read_csv("w.csv", dtype={"probability": str, "least_probability": str})  # as they are written
    assert drawn["least_probability"].nunique() == 1
    drawn.assign(true_label=truth[drawn["row"]]).to_csv("w.csv", index=False)
    plan = draw_audit(len(truth), 120, disagreement=disagreement([judged["old"], judged["new"]]))
    found = demele.json("compare", *PAIR, "--audit", "w.csv", "--exact")
    assert found == _compare(judged, audit=plan.answered(truth[plan.rows]), method=classifiers.Audited(exact=True))
    assert found["interval"]["method"] == "audit, product bet"
    # A file of before has no such column: everything else of it is read.
    drawn.drop(columns="least_probability").assign(true_label=truth[drawn["row"]]).to_csv("older.csv", index=False)
    older, newer = (demele("compare", *PAIR, "--audit", name).out for name in ("older.csv", "w.csv"))
    assert older == newer
    demele.refused("least_probability", "compare", *PAIR, "--audit", "older.csv", "--exact")
    drawn.assign(true_label=truth[drawn["row"]], least_probability="often").to_csv("odd.csv", index=False)
    run = demele("compare", *PAIR, "--audit", "odd.csv")
    assert (run.status, "column least_probability: expected a probability, got 'often'" in run.err) == (2, True)

    plan = draw_audit(len(truth), 60)
    frame = pd.DataFrame({"row": plan.rows, "true_label": truth[plan.rows], "design": "uniform"})
    frame.to_csv("u.csv", index=False)
    told = ("--names", "[bold]a<b>,x & y", "--format", "table", "--explain", "-o", "u.html")
    run = demele("compare", *CLOSE, "--audit", "u.csv", *told)
    assert "demele audit draw --disagreement" in " ".join(run.out.split())
    # Names are never markup.
    assert "[bold]a<b>" in run.out
    assert "x & y" in run.out
    page = Path("u.html").read_text(encoding="utf-8")
    assert ("a<b>" in page, "[bold]a&lt;b&gt;" in page) == (False, True)


@pytest.mark.parametrize("command", ["compare", "assess"])
def test_a_csv_leaves_its_warnings_to_stderr(demele: Program, labels_folder: Path, command: str) -> None:
    """JSON holds its notes; a CSV has no place for them."""
    pd.DataFrame({"row": range(8), "true_label": [1] * 8, "design": "uniform"}).to_csv("few.csv", index=False)
    files = PAIR if command == "compare" else PAIR[1:]
    held = demele(command, *files, "--audit", "few.csv", "--format", "json")
    notes = [note["message"] for note in json.loads(held.out)["notes"] if note["severity"] == "warning"]
    assert notes
    told = demele.done(command, *files, "--audit", "few.csv", "--format", "csv")
    assert told.err.count("demele: warning: ") >= len(notes)
    assert "demele: warning: only 8 labels were audited" in told.err or command == "assess"
    assert "warning" not in demele(command, *files, "--audit", "few.csv", "--format", "csv", "--quiet").err


@pytest.mark.parametrize(
    ("write", "file", "remedy"),
    [
        (lambda file: pd.DataFrame({"a b": [0, 1], "c": [1, 0]}).to_csv(file, index=False), "my data.csv", "::a b"),
        (lambda file: np.savez(file, **dict[str, Any]({"old one": [0], "new": [1]})), "my arrays.npz", "::old one"),
    ],
)
def test_what_an_error_tells_to_pick_can_be_pasted(
    write: Any, file: str, remedy: str, demele: Program, labels_folder: Path
) -> None:
    write(file)
    run = demele("compare", file, "old.npy", "label.npy")
    assert run.status == 2
    picked = shlex.split(run.err.partition("such as ")[2])
    assert picked == [file + remedy]
    assert "expected" in demele("compare", *picked, "old.npy", "label.npy").err  # of rows: it is read
