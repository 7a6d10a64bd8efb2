"""Rows of slow metrics, of fewer seeds and fewer rows: where that is declared, how they are made, where it is said."""

import json
import lzma
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import characterise
from demele import bench
from demele.bench import stored
from demele.bench.scenarios import SCENARIOS
from demele.bench.stored import FEWER, FEWER_SAMPLES, N_SAMPLES, fewer_seeds, samples_of
from demele.bench.verdicts import Curve
from demele.core.errors import FormatError
from demele.metrics.catalogue import CATALOGUE

SAID = "2 seeds of 150 rows"
#: One that is measured as usual, and one with fewer rows.
NAMES = ("mig", "sap")


@pytest.fixture(scope="module")
def found() -> bench.Characterisation:
    """A run of which one metric is taken to be slow."""
    whole = bench.check_metrics(NAMES, ["mixing", "noise", "rotation"], seeds=2, n_rows=300)
    return replace(whole, fewer_rows={"sap": 150})


# Declared -------------------------------------------------------------------------------------------------------------


def test_the_declared_metrics_are_slow_ones_that_are_only_computed_where_they_are_named() -> None:
    assert len(FEWER) == 4
    assert all(CATALOGUE[name].slow and not CATALOGUE[name].in_all for name in FEWER)
    assert {samples_of(name) for name in FEWER} == {FEWER_SAMPLES}
    assert samples_of("dci_forest_modularity") == N_SAMPLES > FEWER_SAMPLES
    for name in FEWER:
        assert all(3 <= number <= stored.SLOW_SEEDS[kind] for kind, number in fewer_seeds(name).items())


# Made -----------------------------------------------------------------------------------------------------------------


def test_the_benchmark_measures_declared_metrics_on_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def small(metrics: Any, scenarios: Any, *, seeds: Mapping[str, int], **given: Any) -> bench.Characterisation:
        calls.append((metrics, scenarios, seeds, given["slow_seeds"], given["n_rows"]))
        taken = "sample_size" if "sample_size" in scenarios else "mixing"
        return whole("tmex", taken, seeds=1, n_rows=200, store=given["store"])

    whole = bench.check_metrics
    monkeypatch.setattr(bench, "check_metrics", small)
    monkeypatch.setattr(stored, "FILE", tmp_path / "reference.xz")
    monkeypatch.setattr(
        "sys.argv", ["check_metrics", "--only", "tmex", "--jobs", "1", "--store", str(tmp_path / "a.store")]
    )
    characterise.main()
    usual = [item.name for item in SCENARIOS.values() if not item.counts_rows]
    assert [call[:2] for call in calls] == [("tmex", usual), ("tmex", ["sample_size", "chance"])]
    assert [call[4] for call in calls] == [FEWER_SAMPLES, N_SAMPLES]
    assert calls[0][2] == calls[0][3] == fewer_seeds("tmex")
    # no scenario may be named there that is not of the run
    assert calls[1][2] == calls[1][3] == dict.fromkeys(("source", "added"), FEWER["tmex"])
    assert [path.name for path in tmp_path.iterdir()] == ["reference.xz"]  # and no store
    content = json.loads(lzma.decompress((tmp_path / "reference.xz").read_bytes()))
    assert content["n_samples"] == FEWER_SAMPLES
    assert [one["name"] for one in content["scenarios"]] == ["mixing", "sample_size"]


# Said -----------------------------------------------------------------------------------------------------------------


def test_data_and_files_keep_it(found: bench.Characterisation, tmp_path: Path) -> None:
    told = {item["name"]: item for item in found.to_dict()["metrics"]}
    assert told["sap"]["fewer"] == {"seeds": 2, "n_samples": 150, "text": SAID}
    assert told["mig"]["fewer"] is None
    assert (told["sap"]["card"]["seconds_rows"], told["mig"]["card"]["seconds_rows"]) == (150, 300)
    again = bench.load(found.save(tmp_path / "found.json.gz"))
    assert again.fewer_rows == {"sap": 150}
    assert again.to_dict()["metrics"][1]["fewer"] == told["sap"]["fewer"]
    assert again.verdicts == found.verdicts
    with pytest.raises(FormatError, match="lacks a part of a characterisation"):
        bench.load(replace(found, fewer_rows={"nowhere": 150}).save(tmp_path / "odd.json.gz"))


# Judged ---------------------------------------------------------------------------------------------------------------


def first_seeds(curve: Curve, number: int) -> Curve:
    """Return a curve of the first seeds alone."""
    return replace(curve, outcomes=[of_seeds[:number] for of_seeds in curve.outcomes])


@pytest.mark.parametrize("number", [3, 5])
def test_fewer_seeds_leave_verdicts_inconclusive_and_turn_none_round(number: int) -> None:
    """The stored rows of metrics with many seeds, cut: what fewer seeds say must be what many say, or nothing."""
    whole = bench.reference()
    fast = [item.name for item in whole.candidates if not item.slow]
    curves = {key: first_seeds(curve, number) if key[0] in fast else curve for key, curve in whole.curves.items()}
    pairs = [
        (many.status, few.status)
        for many, few in zip(whole.verdicts, replace(whole, curves=curves).verdicts, strict=True)
        if many.row in fast
    ]
    decided = [pair for pair in pairs if pair[0] in ("holds", "fails")]
    assert len(decided) > 500
    assert {("holds", "fails"), ("fails", "holds"), ("inconclusive", "holds"), ("inconclusive", "fails")}.isdisjoint(
        pairs
    )
    inconclusive = sum(few == "inconclusive" for _, few in decided)
    assert 0 < inconclusive < 0.1 * len(decided)


def test_stored_rows_of_other_metrics_may_not_be_of_fewer_rows() -> None:
    few = bench.check_metrics("sap", "mixing", seeds=1, n_rows=FEWER_SAMPLES)
    with pytest.raises(FormatError, match="expected rows of sap of n_samples 20000, got 5000"):
        stored.referred(bench.Characterisation, ["sap"], {"sap": few})
