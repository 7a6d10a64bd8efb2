"""Rows of slow metrics, of fewer seeds and fewer rows: where that is declared, how they are made, where it is said."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.characterise import fewer_seeds
from demele import bench
from demele.bench import stored
from demele.bench.stored import FEWER, FEWER_SAMPLES, N_SAMPLES, samples_of
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


def test_stored_rows_of_other_metrics_may_not_be_of_fewer_rows() -> None:
    few = bench.check_metrics("sap", "mixing", seeds=1, n_rows=FEWER_SAMPLES)
    with pytest.raises(FormatError, match="expected rows of sap of n_samples 20000, got 5000"):
        stored.referred(bench.Characterisation, ["sap"], {"sap": few})
