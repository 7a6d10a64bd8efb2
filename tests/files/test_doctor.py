"""What files of every kind hold, and that the commands which are named for them can use them."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from demele.cli.main import COMMANDS
from demele.core.errors import DemeleError
from demele.data import ArrayImages
from demele.doctor import FileFacts, doctor
from demele.lab import VAE, Fabric
from tests.cli.conftest import Program
from tests.files.model_logs import harness_logs, inspect_log
from tests.files.test_score_files import answer, labelled, promptfoo, result, samples, traced, verdict
from tests.refusals import refuses

CLASSES = "old,new,label\n" + "cat,cat,cat\ndog,cat,dog\ncat,,cat\n" * 10


def examined(path: Path, content: object = None) -> FileFacts:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    (facts,) = doctor(path).files
    for _, command in facts.commands:
        program, *words = shlex.split(command)
        assert program == "demele"
        assert any(" ".join(words[:n]) in COMMANDS for n in (1, 2, 3)), command
    return facts


def commands(facts: FileFacts, folder: Path) -> list[str]:
    return [command.replace(f"{folder}/", "") for _, command in facts.commands]


def test_a_table_of_classes_names_missing_ones_and_the_command_to_compare(tmp_path: Path, demele: Program) -> None:
    facts = examined(tmp_path / "data.csv", CLASSES.replace("cat,,cat", "cat,dog,cat"))
    assert (facts.kind, facts.rows) == ("a table", 30)
    assert [(one.name, one.holds, one.values, one.missing) for one in facts.columns] == [
        ("old", "classes", 2, 0),
        ("new", "classes", 2, 0),
        ("label", "classes", 2, 0),
    ]
    assert commands(facts, tmp_path) == ["demele compare data.csv::old data.csv::new data.csv::label"]
    assert demele(*shlex.split(facts.commands[0][1])[1:]).status == 0
    assert examined(tmp_path / "gaps.csv", CLASSES).columns[1].missing == 10


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "json", "jsonl", "parquet", "tsv"])
def test_tables_in_every_format_are_examined_alike(tmp_path: Path, suffix: str) -> None:
    import pandas as pd

    frame = pd.DataFrame({"z1": np.linspace(0, 1, 12), "z2": np.linspace(-1, 0, 12), "shape": ["a", "b"] * 6})
    path = tmp_path / f"codes.{suffix}"
    if suffix == "xlsx":
        frame.to_excel(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path)
    elif suffix.startswith("json"):
        frame.to_json(path, orient="records", lines=suffix == "jsonl")
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    facts = examined(path)
    assert [one.holds for one in facts.columns] == ["numbers", "numbers", "classes"]
    assert (facts.columns[1].low, facts.columns[1].high) == (-1, 0)
    score = [f"demele score codes.{suffix}::z1,z2 codes.{suffix}::shape"]  # which reads no workbook
    assert commands(facts, tmp_path) == (score if suffix != "xlsx" else [])
    frame.loc[3, "z1"] = np.nan
    assert not examined(tmp_path / "gaps.csv", frame.to_csv(index=False)).commands


def test_constant_codes_are_no_factors_and_shares_of_mistakes_no_codes(tmp_path: Path) -> None:
    codes = "z1,z2,z3\n" + "".join(f"{k / 7},{k / 9},0.0\n" for k in range(12))
    steps = commands(examined(tmp_path / "codes.csv", codes), tmp_path)
    assert steps == ["demele score codes.csv::z1,z2 FACTORS"]
    steps = commands(examined(tmp_path / "noise.csv", "true,cat,dog\ncat,0.9,0.1\ndog,0.2,0.8\n"), tmp_path)
    assert steps == ["demele assess PREDICTIONS LABELS --noise noise.csv"]


def test_an_audit_without_answers_is_filled_in_first(tmp_path: Path) -> None:
    text = "row,true_label,design\n1,,uniform\n2,,uniform\n"
    steps = [
        examined(tmp_path / name, held).commands[0][0]
        for name, held in (("a.csv", text), ("b.csv", text.replace(",,", ",x,")))
    ]
    assert steps == ["After an expert has filled it in: labels of an expert", "Labels of an expert"]


def test_true_labels_are_no_model_and_weights_no_system(tmp_path: Path) -> None:
    told = CLASSES.replace("cat,,cat", "cat,dog,cat").replace("old,new,label", "old,true,label")
    assert commands(examined(tmp_path / "data.csv", told), tmp_path) == ["demele assess data.csv::old data.csv::label"]
    weighted = "id,weight,text\n" + "".join(f"q{place},0.{place},text {place}\n" for place in range(1, 9))
    assert commands(examined(tmp_path / "rows.csv", weighted), tmp_path) == []


def test_a_sheet_and_its_key_belong_together(tmp_path: Path, demele: Program) -> None:
    (tmp_path / "data.csv").write_text(CLASSES.replace("cat,,cat", "cat,dog,cat"))
    data = f"{tmp_path}/data.csv"
    made = demele("audit", "draw", f"{data}::label", "--size", 5, "--blind", "-o", tmp_path / "sheet.csv")
    assert made.status == 0, made.err
    assert examined(tmp_path / "sheet.csv").kind == "an expert's sheet"
    key = examined(tmp_path / "sheet.key.json")
    assert (key.kind, key.rows) == ("the key of an expert's sheet, drawn from 30 rows", 5)


def test_arrays_and_archives_are_named_with_their_shapes(tmp_path: Path, demele: Program) -> None:
    codes, rng = np.random.default_rng(0).random((40, 3)), np.random.default_rng(1)
    np.save(tmp_path / "codes.npy", codes)
    np.save(tmp_path / "labels.npy", rng.integers(0, 3, 40))
    np.savez(tmp_path / "both.npz", codes=codes, factors=rng.integers(0, 3, (40, 2)))
    np.savez(tmp_path / "images.npz", images=np.zeros((4, 8, 8, 1), np.uint8))
    scipy.sparse.save_npz(tmp_path / "sparse.npz", scipy.sparse.random(40, 9, 0.2, format="csr", rng=rng))
    assert examined(tmp_path / "codes.npy").columns[0].holds == "float64 40 x 3"
    assert commands(examined(tmp_path / "labels.npy"), tmp_path) == []
    both = examined(tmp_path / "both.npz")
    assert commands(both, tmp_path) == ["demele score both.npz::codes both.npz::factors"]
    assert demele(*shlex.split(both.commands[0][1])[1:]).status == 0
    assert "lab vae train" in examined(tmp_path / "images.npz").commands[0][1]
    sparse = examined(tmp_path / "sparse.npz")
    assert (sparse.kind, sparse.rows) == ("a sparse matrix of 9 codes", 40)


def test_logs_and_results_name_systems_scores_and_people(tmp_path: Path, demele: Program) -> None:
    log = examined(Path(inspect_log(tmp_path / "log.eval", "m", samples({"a": ["C", "I"], "b": ["I", float("nan")]}))))
    assert (log.kind, log.rows, log.notes) == ("results of Inspect", 4, ("2 repeats",))
    assert [(one.name, one.holds, one.missing) for one in log.columns] == [("mockllm/m", "scores", 1)]
    graded = [{"id": k, "epoch": 1, "input": k, "target": "x", "scores": {"f": {"value": 0.5}}} for k in range(3)]
    assert len(examined(Path(inspect_log(tmp_path / "graded.json", "m", graded))).commands) == 1
    old, _ = harness_logs(tmp_path / "runs", ("old", "new"))
    facts = examined(Path(old))
    assert commands(facts, Path(old).parent)[1].startswith("demele assess samples_quiz")
    assert demele(*shlex.split(facts.commands[1][1])[1:]).status == 0
    folder = examined(tmp_path / "runs")
    assert folder.kind == "a folder of results of lm-evaluation-harness"
    assert [one.name for one in folder.columns] == ["new", "old"]
    assert folder.commands[1][1] == f"demele compare {tmp_path}/runs --ids common"
    rated = promptfoo(tmp_path / "p.json", [result(0, [verdict("llm-rubric", 1), verdict("human", 0)])])
    facts = examined(rated)
    assert (facts.kind, facts.notes) == ("results of promptfoo", ("1 row has scores by people",))
    assert commands(facts, tmp_path) == ["demele judge p.json"]
    (words,) = harness_logs(tmp_path / "words", ("third",), ("gsm8k",), 4, words=True)
    assert "holds 2 filters" in examined(Path(words)).notes[0]
    assert examined(tmp_path / "l.json", [traced("t", 1)]).kind == "results of Langfuse"
    assert examined(tmp_path / "s.json", [labelled(0, [answer({"rating": 4})])]).kind == "results of Label Studio"
    case = {"name": "t", "metricsData": [{"name": "m", "score": 1.0, "success": True}], "success": True}
    assert examined(tmp_path / "d.json", {"testCases": [case]}).kind == "results of DeepEval"


def test_models_and_functions_are_recognised(tmp_path: Path) -> None:
    Fabric(2, 3, 4, image_channels=1).save(tmp_path / "small.fabric")
    fabric = examined(tmp_path / "small.fabric")
    assert fabric.kind.startswith("a fabric of ")
    assert commands(fabric, tmp_path)[0] == "demele lab fabric show small.fabric"
    images = ArrayImages(np.zeros((40, 16, 16), np.uint8))
    VAE("vae", latents=3, network="mlp").fit(images, steps=1, batch=8, checkpoint=tmp_path / "run")
    assert commands(examined(tmp_path / "run"), tmp_path)[0] == "demele lab vae report run"
    python = examined(tmp_path / "mine.py", "raise SystemExit\ndef mine(codes, factors):\n    return 0.0\n")
    assert commands(python, tmp_path) == ["demele bench metrics --metrics mine.py::mine"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.csv", b"a,b\n1,2,3\n", "expected 2 fields"),
        ("a.csv", b"", "is empty"),
        ("a.npy", b"\x93NUMPY\x01\x00", "not"),
        ("a.npz", b"PK\x03\x04", "not"),
        ("a.json", b"{", "not JSON"),
        ("a.json", b"[" * 10_000_000, "more than"),
        ("a.eval", b"no archive", "not a log of Inspect"),
        ("a.fabric", b"no fabric", "not"),
        ("a.key.json", b"{}", "not the key"),
        ("a.py", b"def", "not Python"),
        ("a.pkl", b"\x80\x04.", "of no kind that demele reads"),
        ("a.parquet", b"PAR1", "not"),
        ("a.xlsx", b"PK", "not a workbook"),
    ],
)
def test_broken_files_are_refused_with_the_reason(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(content)
    refuses(DemeleError, rf"{name}\b.*{why}", doctor, tmp_path / name)
