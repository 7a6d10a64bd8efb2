"""``demele score --aligned``: in JSON, in a table, on a page; refused where codes cannot be turned."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Program

METRICS = ("--metrics", "mig,modularity,r2_affine")


@pytest.fixture
def turned(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    factors = rng.random((600, 2))
    np.save(folder / "turned.npy", factors @ np.array([[0.8, -0.6], [0.6, 0.8]]))
    pd.DataFrame(factors, columns=["size", "hue"]).to_csv(folder / "factors.csv", index=False)
    return folder


def test_gaps_and_what_they_say(demele: Program, turned: Path) -> None:
    held = demele("score", "turned.npy", "factors.csv", *METRICS, "--aligned", "--quiet", "--bootstrap", 5)
    scores = {score["metric"]: score for score in json.loads(held.out)["scores"]}
    gap = scores["mig"]["alignment"]
    assert gap["gap"] > 0.5
    assert gap["interval"]["low"] < gap["gap"] < gap["interval"]["high"]
    assert scores["modularity"]["alignment"] is None
    run = demele(
        *("score", "turned.npy", "factors.csv", *METRICS, "--aligned", "--whiten", "--quiet", "--format", "table"),
        *("-o", "axes.html", "--explain"),
    )
    told = " ".join(run.out.split())
    assert "Modularity: Not aligned: it rates codes with almost no information" in told
    assert "Metric Value Raw Aligned Gap" in told
    page = (turned / "axes.html").read_text(encoding="utf-8")
    assert "Aligned scores" in page
    assert "MIG: The codes carry the information, but not on the axes." in page


def test_where_codes_cannot_be_turned_it_is_refused(demele: Program, turned: Path) -> None:
    several = demele("score", "turned.npy", "run.npz::codes", "factors.csv", "--aligned")
    assert several.status == 2
    assert "--aligned: is for one representation" in several.err
    alone = demele("score", "turned.npy", "factors.csv", *METRICS, "--whiten")
    assert alone.status == 2
    assert "--aligned too" in alone.err
    replayed = demele("score", "turned.npy", "factors.csv", "--aligned", "--replay", "mig(bins=10)")
    assert replayed.status == 2
    assert "--aligned: is for one representation" in replayed.err
