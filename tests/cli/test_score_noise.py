"""``demele score`` with factors whose annotations may be wrong."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from demele import labels
from tests.cli.conftest import Program, Run

CALL = ("score", "codes.npy", "factors.csv", "--metrics", "mig,infom", "--bootstrap", "20", "--level", "0.9")


@pytest.fixture
def noisy(folder: Path) -> Path:
    """Codes, factors of which a tenth is wrong, true values of rows drawn at random, and how values are mistaken."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, (900, 2))
    np.save(folder / "codes.npy", true + rng.normal(0, 0.3, true.shape))
    given = np.where(rng.random(true.shape) < 0.1, (true + 1) % 3, true)
    pd.DataFrame(given, columns=["shape", "size"]).to_csv(folder / "factors.csv", index=False)
    rows = labels.draw_audit(900, 200, seed=0).rows
    audit = pd.DataFrame({"row": rows, "shape": true[rows, 0], "size": true[rows, 1]})
    audit.to_csv(folder / "bare.csv", index=False)
    audit.assign(design="uniform").to_csv(folder / "audited.csv", index=False)
    one = pd.DataFrame({"row": rows, "true_label": true[rows, 0], "design": "uniform"})
    one.to_csv(folder / "shape.csv", index=False)
    unclear = audit.astype(object).assign(design="uniform")
    unclear.loc[5, "size"] = "unclear"
    unclear.to_csv(folder / "unclear.csv", index=False)
    gap = audit.astype(object).assign(design="uniform")
    gap.loc[3, "size"] = None
    gap.to_csv(folder / "gap.csv", index=False)
    labels.TransitionMatrix([[0.9, 0.1, 0], [0, 0.9, 0.1], [0.1, 0, 0.9]], [0, 1, 2]).to_frame().to_csv(
        folder / "t.csv"
    )
    (folder / "noise.json").write_text(
        json.dumps({"shape": {"counts": [[90, 10, 0], [0, 90, 10], [10, 0, 90]]}, "size": 0.1})
    )
    return folder


def corrected(run: Run) -> dict[str, Any]:
    content = json.loads(run.out)
    return {score["metric"]: score["corrected"] for score in content["scores"]}


def test_an_audit_of_all_factors_corrects_all_scores(demele: Program, noisy: Path) -> None:
    run = demele(*CALL, "--factor-noise", "audited.csv", "--format", "json", "-o", "page.html")
    assert run.status == 0, run.err
    found = corrected(run)
    assert {one["method"] for one in found.values()} == {"audited"}
    assert demele(*CALL, "--factor-noise", "bare.csv", "--audit-design", "uniform", "--format", "json").status == 0
    page = (noisy / "page.html").read_text("utf-8")
    assert "Corrected scores" in page
    assert "Audited rows alone" in page
    table = demele(*CALL, "--factor-noise", "unclear.csv", "--format", "table", "--explain")
    assert "drawn at random, and their true values are right" in " ".join(table.out.split())
    assert "1 of 200 drawn rows have unclear true values" in " ".join(table.out.split())


def test_transitions_of_each_factor(demele: Program, noisy: Path) -> None:
    run = demele(*CALL, "--factor-noise", "shape=t.csv,size=t.csv", "--format", "json")
    found = corrected(run)
    assert found["mig"]["method"] == "transition"
    assert found["infom"] is None
    table = " ".join(
        demele(*CALL, "--factor-noise", "shape=t.csv,size=t.csv", "--format", "table", "--explain").out.split()
    )
    assert "do not depend on the codes" in table
    assert "the score is not made of tables" in table
    mixed = demele(*CALL, "--factor-noise", "shape=shape.csv", "--factor-noise", "size=t.csv", "--format", "json")
    assert corrected(mixed)["mig"]["method"] == "transition"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--factor-noise", "shap=0.1"), "unknown factor 'shap'"),
        (("--factor-noise", "shape=8%"), "--factor-noise: shape: expected a number, got '8%'; write 0.08"),
        (("--factor-noise", "noise.csv"), "noise.csv: No such file"),
        (("--factor-noise", "shape=0.1", "--factor-noise", "audited.csv"), "--factor-noise: 'shape' is given twice"),
        (("--factor-noise", "bare.csv"), "--audit-design uniform"),
        (("--factor-noise", "bare.csv", "--audit-design", "selective"), "chosen because they looked wrong"),
        (("--factor-noise", "gap.csv"), "1 row has no true value"),
        (("--factor-noise", "factors.csv"), "expected columns row"),
        (("--factor-noise-method", "audited"), "needs"),
        (("--audit-design", "uniform"), "is not given"),
    ],
)
def test_mistakes_are_told(demele: Program, noisy: Path, words: tuple[str, ...], message: str) -> None:
    run = demele(*CALL, *words)
    assert run.status == 2
    assert message in run.err


def test_a_file_of_json_tells_of_all_factors(demele: Program, noisy: Path) -> None:
    (noisy / "noise.json").write_text(json.dumps({"shape": {"counts": [[90, 10, 0], [0, 90, 10], [10, 0, 90]]}}))
    run = demele(*CALL, "--factor-noise", "noise.json", "--format", "json")
    assert corrected(run)["mig"]["method"] == "transition"


def test_one_factor_of_a_file_with_columns_called_as_factors(demele: Program, noisy: Path) -> None:
    words = ("--factor-noise", "shape=audited.csv", "--factor-noise", "size=t.csv", "--format", "json")
    beside = ("--factor-noise", "shape=shape.csv", "--factor-noise", "size=t.csv", "--format", "json")
    assert corrected(demele(*CALL, *words)) == corrected(demele(*CALL, *beside))
