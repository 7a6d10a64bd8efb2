"""``demele score`` of a file of ``scipy.sparse.save_npz``."""

import json
import re
from pathlib import Path

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


@pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")  # 30 codes are many for 200 rows
def test_the_numbers_of_the_library(demele: Program, sparse_folder: Path) -> None:
    run = demele("score", "codes.npz", "factors.csv", "--bins", 4, "--seed", 2, "--names", "dictionary")
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
    frame = demele("score", "codes.npz", "factors.csv", "--format", "csv", "--metrics", "mig")
    assert frame.out.startswith("name,metric,value")


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
    run = demele("score", "codes.npz", "factors.csv", "--code-names", "names.txt", "-o", "names.txt", "--force")
    assert "it is read by the same command" in run.err
