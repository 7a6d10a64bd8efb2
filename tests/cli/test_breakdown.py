"""``demele score --stability``: what Python finds, said in a sentence and in every format, and what is refused."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import demele as library
from tests.cli.conftest import Program

BOTH = ("score", "codes.npy", "blurred.npy", "factors.csv::shape", "--stability")


@pytest.fixture
def blurred(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Beside the codes, others that hold less of the factors."""
    monkeypatch.setattr("demele.scoring.breakdown.PRECISION", 0.01)
    codes = np.load("codes.npy")
    np.save("blurred.npy", codes + 0.5 * np.random.default_rng(1).normal(size=codes.shape))
    return folder


def test_it_is_what_python_finds(demele: Program, blurred: Path) -> None:
    found = library.probes.breakdown(
        np.load("codes.npy"), np.load("blurred.npy"), pd.read_csv("factors.csv")["shape"], names=("codes", "blurred")
    )
    assert 0 < found.guaranteed < found.attained
    run = demele(*BOTH, "--format", "json", "--quiet")
    assert (run.status, run.err) == (0, "")
    assert json.loads(run.out) == json.loads(found.to_json())
    row = pd.read_csv(io.StringIO(demele(*BOTH, "--format", "csv", "--quiet").out)).iloc[0]
    assert (row["ahead"], row["guaranteed"], row["attained"]) == ("codes", found.guaranteed, found.attained)
    told = demele(*BOTH, "--format", "table", "--quiet").out
    assert " ".join(told.split()).startswith(found.sentence)


def test_options_are_passed_on(demele: Program, blurred: Path) -> None:
    run = demele(
        *BOTH, "--metrics", "dcimig", "--bins", "4", "--kinds", "categorical", "--names", "new,old", "-o", "b.json"
    )
    assert "demele: b.json written" in run.err
    found = json.loads(Path("b.json").read_text(encoding="utf-8"))
    direct = library.metrics.dcimig(
        np.load("blurred.npy"), pd.read_csv("factors.csv")[["shape"]], bins=4, kinds="categorical"
    )
    assert (found["ahead"], found["behind"], found["metric"]) == ("new", "old", "dcimig")
    assert found["value_behind"] == pytest.approx(direct.value)


def test_mistakes_are_one_line(demele: Program, blurred: Path) -> None:
    for words, message in (
        (("score", "codes.npy", "factors.csv", "--stability"), "--stability: expected CODES CODES FACTORS"),
        ((*BOTH, "--metrics", "sap"), "expected one of mig, mig_sup, dcimig, got 'sap'"),
        ((*BOTH, "--bootstrap", "5"), "--bootstrap: is for one representation or several representations"),
    ):
        run = demele(*words)
        assert (run.status, run.out) == (2, "")
        assert message in run.err
