"""``demele bench metrics`` from its arguments to what it leaves behind."""

import csv
import functools
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele import bench
from demele.bench import characterise
from demele.bench.run import QUICK_ROWS, QUICK_SEEDS
from demele.cli import bench as bench_metrics
from demele.core.store import Store
from demele.runtime.sweep import Sweep
from demele.runtime.work import reporting
from tests.cli.conftest import Program, mistakes, never, replaced
from tests.tolerances import assert_exact

_MINE = """\
from dataclasses import replace

import numpy as np
from demele import bench
from beside_it import at_most

LIMIT = 1.0
data = [1, 2]
assert __file__.endswith("mine.py")


def _correlations(codes, factors):
    return np.corrcoef(codes, factors, rowvar=False)[: codes.shape[1], codes.shape[1] :]


def best_correlation(codes, factors):
    print("chatter")
    return at_most(LIMIT, float(np.abs(_correlations(codes, factors)).max(axis=0).mean()))


def fussy(codes, factors):
    value = best_correlation(codes, factors)
    if value < 0.3:
        raise ValueError("too little\\nto tell")
    return value


def lonely(codes):
    return 0.5


half = bench.candidate(lambda codes, factors: 0.5, name="a_half", claims="modularity", discretises=False)


def _faded(rng, severity, n_samples):
    print("drawn")
    factors = rng.random((n_samples, 2))
    return at_most(LIMIT, 1.0 - severity) * factors + severity * rng.random((n_samples, 2)), factors


fading = bench.Scenario(
    name="fading",
    title="Fading",
    question="Does it fall?",
    sweep="share of noise",
    severities=(0.0, 0.5),
    draw=_faded,
    wanted={"any": (bench.Falls(0.1),)},
)
same_fading = fading
ends = replace(bench.scenario("mixing"), severities=(0.0, 0.5))
taken = replace(fading, name="mixing")
"""
#: Small enough for a test: rows, seeds, and no progress.
TINY = ("--rows", 200, "--seeds", 2)
MIXING = ("bench", "metrics", "--scenarios", "mixing", *TINY)
OWN = ("--metrics", "mine.py::best_correlation", "--alone")


@pytest.fixture
def own(fresh_workers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a file of functions in it."""
    (tmp_path / "mine.py").write_text(_MINE, encoding="utf-8")
    (tmp_path / "beside_it.py").write_text("def at_most(limit, value):\n    return min(limit, value)\n", "utf-8")
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _without_times(content: dict[str, Any]) -> dict[str, Any]:
    for metric in content["metrics"]:
        metric["card"]["seconds"] = None
    return content


# What is computed ------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_library(demele: Program, own: Path) -> None:
    run = demele.done(*MIXING, "--metrics", "mig,dlig", "--level", 0.9, "--protocol", "robust")
    expected = bench.check_metrics(
        ["mig", "dlig"], ["mixing"], seeds=2, n_rows=200, level=0.9, protocol="robust"
    ).to_dict()
    assert _without_times(json.loads(run.out)) == _without_times(json.loads(json.dumps(expected)))


def test_a_function_of_a_file(demele: Program, own: Path) -> None:
    run = demele.done(*MIXING, *OWN)
    content = json.loads(run.out)  # what the function prints is not among the results
    assert [row["name"] for row in content["rows"]] == ["best_correlation"]
    (curve,) = content["curves"]
    (scenario,) = content["scenarios"]
    # codes (1 - a) v + a w of independent v and w of equal variance correlate (1 - a) / sqrt((1 - a)^2 + a^2) with v
    shares = np.array(scenario["severities"])
    assert_exact(curve["mean"][0], 1.0)
    assert np.abs(np.array(curve["mean"]) - (1 - shares) / np.hypot(1 - shares, shares)).max() < 0.05
    assert "chatter" in run.err
    assert "beside_it" not in [Path(folder).name for folder in sys.path]
    assert not [name for name in sys.modules if name.startswith("_functions_of_")]
    assert not list(own.glob("__pycache__/mine*"))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_scenario_of_a_file(jobs: int, demele: Program, own: Path) -> None:
    named = "mixing,mine.py::fading,./mine.py::same_fading"
    content = demele.json("bench", "metrics", "--scenarios", named, *TINY, *OWN, "--jobs", jobs)
    assert [item["name"] for item in content["scenarios"]] == ["mixing", "fading"]
    (curve,) = (item for item in content["curves"] if item["scenario"] == "fading")
    # halves of two independent columns of equal variance: a correlation of 1 / sqrt(2) with either
    assert_exact(curve["mean"][0], 1.0)
    assert abs(curve["mean"][1] - 2**-0.5) < 0.05
    assert {item["criterion"] for item in content["verdicts"] if item["status"] == "holds"} == {"fading"}


def test_usual_choices(own: Path, demele: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    whole = bench.check_metrics

    @functools.wraps(whole)
    def watched(**options: Any) -> Any:
        with reporting() as report:
            seen.append(options | {"report": report})
        return whole(["mig"], ["mixing"], seeds=1, n_rows=200)

    monkeypatch.setattr(bench_metrics, "check_metrics", watched)
    for arguments in (
        (),
        ("--quick",),
        ("--quick", "--rows", 300, "--seeds", "added=2", "--slow-seeds", "source=1", "--scenarios", "noise", "--quiet"),
    ):
        assert demele("bench", "metrics", *arguments).status == 0
    plain, quick, overridden = seen
    assert set(plain) == {"report"}
    assert set(quick) == {"metrics", "seeds", "n_rows", "report"}
    assert {"mig", "sap", "rmig"} < set(quick["metrics"])
    assert not {"dci_forest_modularity", "dci_lasso_modularity", "explicitness"} & set(quick["metrics"])
    assert (quick["n_rows"], quick["seeds"]) == (QUICK_ROWS, QUICK_SEEDS)
    assert overridden["scenarios"] == ["noise"]
    assert overridden["n_rows"] == 300
    assert overridden["seeds"] == {**QUICK_SEEDS, "added": 2}
    assert overridden["slow_seeds"] == {"source": 1}
    assert overridden["report"] is None


def test_the_same_command_goes_on_where_it_stopped(demele: Program, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = own / "rows.jsonl"
    first = demele(*MIXING, *OWN, "--store", rows)
    assert f"demele: results are kept in {rows}" in first.err
    assert "finished records" not in first.err
    (lines, curves) = len(rows.read_text("utf-8").splitlines()), json.loads(first.out)["curves"]
    assert lines == 1 + 6 * 2
    again = demele(*MIXING, *OWN, "--store", rows, "--quiet")
    assert json.loads(again.out)["curves"] == curves
    assert again.err == ""  # not even the function's own chatter: it was not called
    assert len(rows.read_text("utf-8").splitlines()) == lines
    (own / "mine.py").write_text(_MINE + "\n# a remark\n", encoding="utf-8")
    more = demele(*replaced((*MIXING, *OWN, "--store", rows), "--scenarios", "mixing,noise", "--seeds", 1))
    assert more.err.splitlines()[0] == f"demele: {rows} holds 12 finished records"
    rows.write_text("".join(rows.read_text("utf-8").splitlines(keepends=True)[:lines]), encoding="utf-8")
    assert demele(*MIXING, *OWN, "--store", rows).status == 0
    assert len(rows.read_text("utf-8").splitlines()) == lines
    # a constant of the file decides too, though the function itself is unchanged
    (own / "mine.py").write_text(_MINE.replace("LIMIT = 1.0", "LIMIT = 0.5"), encoding="utf-8")
    changed = demele(*MIXING, *OWN, "--store", rows)
    assert max(json.loads(changed.out)["curves"][0]["mean"]) == 0.5
    refused = demele(*replaced((*MIXING, *OWN, "--store", rows), "--rows", 300))
    assert refused.status == 2
    assert "--store: " in refused.err
    assert "was made with --rows = 200, this run has 300" in refused.err


@pytest.mark.parametrize("stored", [True, False])
def test_interrupted(stored: bool, demele: Program, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first finished representation."""
    whole = Store.append

    def interrupting(*arguments: Any) -> None:
        whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "append", interrupting)
    run = demele(*MIXING, "--metrics", "mig", *(("--store", "rows.jsonl") if stored else ()))
    assert (run.status, run.out) == (130, "")
    *told, last = run.err.splitlines()
    assert last == "demele: interrupted"
    assert told == (
        ["demele: what was finished is in rows.jsonl; the same command continues where it stopped"] if stored else []
    )
    assert not stored or len(Store.read(own / "rows.jsonl")[1]) == 1


# What is written -------------------------------------------------------------------------------------------------


def test_published_metrics_are_shown_under_your_own(
    demele: Program, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = bench.check_metrics(["mig", "dlig"], ["mixing"], seeds=3, n_rows=250)
    monkeypatch.setattr(characterise, "reference", lambda: stored)
    mine = ("--metrics", "mine.py::half")
    assert [row["name"] for row in demele.json(*MIXING, *mine)["rows"]] == ["a_half"]
    comma = csv.DictReader(io.StringIO(demele(*MIXING, "--metrics", "mine.py::half,mig", "--format", "csv").out))
    assert {(line["metric"], line["origin"], line["n_rows"], line["seeds"]) for line in comma} == {
        ("a_half", "yours", "200", "2"),
        ("mig", "measured", "200", "2"),
        ("dlig", "stored", "250", "3"),
    }

    def first() -> list[str]:
        return [line.split("  ")[0] for line in demele(*MIXING, *mine, "--format", "table").out.splitlines()[4:7]]

    assert first() == ["a_half", "DLIG (stored)", "MIG (stored)"]

    def lost() -> Any:
        raise FileNotFoundError("reference.json.gz")

    monkeypatch.setattr(characterise, "reference", lost)
    assert first()[:2] == ["a_half", "a_half fails Coherent modularity."]


# Mistakes --------------------------------------------------------------------------------------------------------


@mistakes("""
--metrics mgi | error: --metrics: unknown metric 'mgi'; did you mean 'mig'
--metrics mine.py::fussy,best_correlation | is written mine.py::best_correlation
--metrics mine.py::fusy | mine.py has no function called 'fusy'; did you mean 'fussy'?
--metrics mine.py::zzz | 'zzz'; known are best_correlation, fussy, lonely
--metrics mine.py:: | mine.py has no function called ''; known are
--metrics empty.py::f | empty.py has no function called 'f'; it has none
--metrics mine.py::data | mine.py::data is no function (codes, factors) -> float, but list
--scenarios mine.py::ends,fading | a scenario of mine.py is written mine.py::fading
--scenarios mine.py::fadin | --scenarios: mine.py has no scenario called 'fadin'; did you mean 'fading'
--scenarios empty.py::s | empty.py has no scenario called 's'; it has none
""")
def test_a_mistake_is_one_clear_line_before_any_computing(
    words: list[str], message: str, demele: Program, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sweep, "run", never)
    demele.refused(message, "bench", "metrics", *words)


# What was saved --------------------------------------------------------------------------------------------------


def test_show_writes_what_was_saved_and_its_page(demele: Program, own: Path) -> None:
    made = demele.done(*MIXING, *OWN, "-o", "mine.json.gz")
    again = demele.done("bench", "show", "mine.json.gz", "--alone", "-o", "mine.html")
    assert json.loads(again.out)["verdicts"] == json.loads(made.out)["verdicts"]
    assert json.loads(again.out)["curves"] == json.loads(made.out)["curves"]
    page = (own / "mine.html").read_text(encoding="utf-8")
    assert "Properties of" in page
    assert 'id="criteria-of-the-review-0-0"' in page
