"""``demele score`` of a file of ``scipy.sparse.save_npz``."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import demele as library
from tests.cli.conftest import Program


@pytest.fixture
def sparse_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    factors = pd.DataFrame({"shape": rng.integers(0, 3, 200), "bit": rng.integers(0, 2, 200)})
    codes = (rng.random((200, 30)) < 0.1) * rng.random((200, 30))
    codes[:, 4] = factors["bit"] * rng.random(200)
    sp.save_npz(tmp_path / "codes.npz", sp.csr_array(codes))
    factors.to_csv(tmp_path / "factors.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::demele.FragileScoreWarning")  # 30 codes are many for 200 rows
def test_the_numbers_of_the_library(demele: Program, sparse_folder: Path) -> None:
    run = demele("score", "codes.npz", "factors.csv", "--bins", 4, "--seed", 2, "--name", "dictionary")
    assert run.status == 0, run.err
    found = json.loads(run.out)
    factors = pd.read_csv("factors.csv")
    expected = library.evaluate_sparse(sp.load_npz("codes.npz"), factors, bins=4, seed=2, name="dictionary")
    for scores in (found["scores"], json.loads(expected.to_json())["scores"]):
        for score in scores:
            del score["seconds"]
    assert found == json.loads(expected.to_json()) | {"scores": found["scores"]}
    assert [score["value"] for score in found["scores"]] == [score.value for score in expected]


def test_a_table_names_the_best_code(demele: Program, sparse_folder: Path) -> None:
    run = demele(
        "score", "codes.npz", "factors.csv", "--format", "table", "--metrics", "mig,sap", "--bins", 1, "--explain"
    )
    assert run.status == 0, run.err
    assert "200 rows, 30 codes, 2 factors" in run.out
    assert re.search(r"^bit +z5 +100\.0% +\S+ +100\.0% +1$", run.out, re.MULTILINE)
    assert "Fitted on 30 of 30" in " ".join(run.out.split())
    details = demele("score", "codes.npz", "factors.csv", "--format", "table", "--metrics", "mig", "--details")
    assert len(re.findall(r"^bit ", details.out, re.MULTILINE)) == 11  # ten codes, and its own value
    frame = demele("score", "codes.npz", "factors.csv", "--format", "csv", "--metrics", "mig")
    assert frame.out.startswith("name,metric,value")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("codes.npz", "factors.csv", "--bootstrap", 10), "--bootstrap: is for dense codes"),
        (("codes.npz", "factors.csv", "--reg-dim", "0,1"), "--reg-dim: is for dense codes"),
        (("codes.npz", "factors.csv", "--rows", 100), "--rows: is for dense codes"),
        (("codes.npz", "factors.csv", "--replay", "mig(seed=0)"), "--replay: is for dense codes"),
        (("codes.npz", "factors.csv", "--metrics", "irs"), "metrics: irs is not computed of sparse codes"),
        (("codes.npz::data", "factors.csv"), "holds one sparse matrix; leave out '::data'"),
        (("damaged.npz", "factors.csv"), "damaged.npz: not a sparse matrix that can be read"),
        (("codes.npz", "factors.csv", "--details", "--format", "csv"), "--details: is for tables"),
        (("factors.csv", "codes.npz"), "codes.npz: holds a sparse matrix, of scipy.sparse.save_npz; only"),
        (("factors.csv::bit", "factors.csv", "--code-names", "names.txt"), "--code-names: is for sparse codes"),
        (("--demo", "--code-names", "names.txt"), "--demo: brings its own codes and factors"),
        (("none.npz", "factors.csv", "--code-names", "names.txt"), "none.npz: "),
        (
            ("codes.npz", "factors.csv", "--code-names", "names.txt"),
            "--code-names: expected one name for each of the 30 codes",
        ),
        (("codes.npz", "factors.csv", "--code-names", "hole.txt"), "expected a name for each code, got none in row 1"),
        (("codes.npz", "factors.csv", "--code-names", "hole.csv::name"), "got none in row 2 (rows from 0)"),
        (("codes.npz", "factors.csv", "--code-names", "hole.csv"), "expected one column of names, got 2 columns"),
        (("codes.npz", "factors.csv", "--code-names", "latin.txt"), "latin.txt: not text in UTF-8"),
        (("codes.npz", "factors.csv", "--code-names", "none.txt"), "none.txt: "),
    ],
)
def test_mistakes_are_told_in_a_line(demele: Program, sparse_folder: Path, arguments: Any, text: str) -> None:
    np.savez("damaged.npz", format=np.array("nonsense"), shape=np.array([2, 2]), data=np.ones(2))
    Path("names.txt").write_text("a\nb\n")
    Path("hole.txt").write_text("a\n\nb\n")
    Path("hole.csv").write_text("number,name\n0,a\n1,b\n2,\n")
    Path("latin.txt").write_bytes(b"caf\xe9\n")
    run = demele("score", *arguments)
    assert run.status == 2
    assert text in run.err
    assert run.err.count("\n") == 1


def test_names_of_codes_are_lines_or_a_column(demele: Program, sparse_folder: Path) -> None:
    names = [f"neuron {index}" for index in range(30)]
    Path("names.txt").write_text("".join(f"{name}\n" for name in names))
    pd.DataFrame({"number": range(30), "name": names}).to_csv("names.csv", index=False)
    np.save("names.npy", np.array(names))
    for file in ("names.txt", "names.csv::name", "names.npy"):
        run = demele("score", "codes.npz", "factors.csv", "--metrics", "mig", "--code-names", file)
        assert run.status == 0, run.err
        best = {top["factor"]: top["code"] for top in json.loads(run.out)["top"] if top["rank"] == 1}
        assert best["bit"] == "neuron 4", file
    run = demele("score", "codes.npz", "factors.csv", "--metrics", "mig", "--code-names", "names.csv::number")
    assert '"code": "4"' in run.out
    run = demele("score", "codes.npz", "factors.csv", "--code-names", "names.txt", "--output", "names.txt", "--force")
    assert "it is read by the same command" in run.err
