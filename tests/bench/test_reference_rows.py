"""The stored rows of demele's own metrics: a line for each, and none needed for the house to stand."""

import functools
import json
import lzma
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.characterise import fewer_seeds, write_reference
from demele import bench
from demele.bench import stored
from demele.bench.stored import FEWER, FEWER_SAMPLES, FILE
from demele.core.errors import FormatError
from demele.metrics.catalogue import CATALOGUE, names_of_all
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close

NOT_YET = "not yet characterised"


@functools.cache
def reference() -> bench.Characterisation:
    return bench.reference()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the file, which the bench reads instead."""
    reference()  # kept for the process: it must not be first read from the copy
    copy = tmp_path / "reference.xz"
    shutil.copy(FILE, copy)
    monkeypatch.setattr(stored, "FILE", copy)
    return copy


def test_the_reference_has_all_metrics_on_all_scenarios() -> None:
    found = reference()
    stored_ones = held(FILE)
    assert [item.name for item in found.candidates] == [
        name for name in CATALOGUE if name in names_of_all() or name in stored_ones
    ]
    assert "infom" in stored_ones  # one that is only computed where it is named
    assert (found.protocol, found.n_samples) == ("review2022", 20_000)
    assert [item.name for item in found.scenarios] == bench.scenario_names()
    assert set(found.curves) == {(item.name, one.name) for item in found.candidates for one in found.scenarios}
    assert not any(row.own for row in found.rows)


def test_every_value_is_a_number_and_every_seed_is_there() -> None:
    found = reference()
    for (metric, scenario), curve in found.curves.items():
        if curve.declined is not None or not curve.characterised:
            continue
        assert all(math.isfinite(value) for own in curve.values for value in own.tolist()), (metric, scenario)
        seeds = {number + failed for number, failed in zip(curve.n, curve.failed, strict=True)}
        if metric in FEWER:  # the exception that is declared, and no other
            declared, kind = fewer_seeds(metric), bench.scenario(scenario).kind
            usual = declared["source" if kind == "source" else "added"]
            assert seeds == {declared.get(scenario, usual)}, (metric, scenario)
        else:
            assert seeds <= {found.seeds[scenario], found.slow_seeds[scenario]}, (metric, scenario)
        assert len(curve.values) == len(bench.scenario(scenario).severities)


def held(path: Path) -> dict[str, Any]:
    """Return the line of each metric."""
    lines = map(json.loads, lzma.decompress(path.read_bytes()).splitlines())
    return {line["candidates"][0]["name"]: line for line in lines}


def damaged(path: Path, metric: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Write a file again with another line of a metric."""
    lines = held(path)
    change(lines[metric])
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, lines.values())).encode()))


def test_what_is_written_is_what_was_read(tmp_path: Path) -> None:
    found = reference()
    groups = [item.group for item in found.candidates]
    write_reference(found, tmp_path / "again.xz")
    again, before = held(tmp_path / "again.xz"), held(FILE)
    assert list(before) == sorted(before)
    for place, item in enumerate(found.candidates):
        if item.name in before:
            written, stored_ones = again[item.name], before[item.name]
            if groups.index(groups[place]) != place:
                # Of metrics that share a call the first tells the time; the values are each one's own.
                del written["seconds"], stored_ones["seconds"]
            assert written == {**stored_ones, "demele": found.version}, item.name


def test_rows_of_one_metric_are_those_of_a_run_and_no_others_are_touched(file: Path) -> None:
    found = bench.check_metrics("sap", "mixing", seeds=1)
    before = held(file)
    write_reference(found, file)
    after = held(file)
    assert list(after) == list(before)
    assert [name for name in after if after[name] != before[name]] == ["sap"]
    again, whole = bench.reference(), reference()
    new, old = again.curves["sap", "mixing"], whole.curves["sap", "mixing"]
    for own, stored_ones in zip(new.values, old.values, strict=True):
        assert_close(own, stored_ones[:1], ROUNDING)  # the last bits are those of the machine's linear algebra
    assert not again.curves["sap", "noise"].characterised
    other = again.curves["mig", "noise"]
    assert [own.tobytes() for own in other.values] == [own.tobytes() for own in whole.curves["mig", "noise"].values]


def without(scenario: str) -> Callable[[dict[str, Any]], object]:
    """Leave out a scenario of a file."""

    def change(content: dict[str, Any]) -> None:
        content["scenarios"] = [one for one in content["scenarios"] if one["name"] != scenario]
        for part in ("curves", "seconds"):
            content[part] = [one for one in content[part] if one["scenario"] != scenario]

    return change


def test_rows_of_one_scenario_take_the_place_of_their_own_only(file: Path) -> None:
    before = held(file)["sap"]

    def checked(scenario: str, **given: Any) -> Any:
        return replace(bench.check_metrics("sap", scenario, seeds=1, **given), version=before["demele"])

    write_reference(checked("mixing"), file, keep=True)
    after = held(file)["sap"]
    assert after["scenarios"] == before["scenarios"]
    changed_ones = [new for new, old in zip(after["curves"], before["curves"], strict=True) if new != old]
    assert [[len(own) for own in one["outcomes"]] for one in changed_ones] == [[1] * 6]
    assert changed_ones[0]["scenario"] == "mixing"
    damaged(file, "sap", without("noise"))
    write_reference(checked("noise"), file, keep=True)  # rows that were not there are added
    assert held(file)["sap"]["scenarios"] == before["scenarios"]
    refuses(FormatError, "the rows of sap were made", write_reference, checked("noise", n_rows=200), file, keep=True)


def test_a_metric_without_its_line_is_not_yet_characterised(file: Path, tmp_path: Path) -> None:
    lines = [line for line in lzma.decompress(file.read_bytes()).splitlines() if b'[{"name":"z_diff"' not in line]
    file.write_bytes(lzma.compress(b"\n".join(lines)))
    found = bench.reference()
    verdict = found.verdict("z_diff", "calibrated")
    assert (verdict.status, verdict.summary, verdict.was_run) == (NOT_YET, NOT_YET, False)
    assert found.table().loc["z_diff", "calibrated"] == NOT_YET
    told = found.to_dict()
    json.dumps(told, allow_nan=False)
    assert [item["name"] for item in told["metrics"] if not item["characterised"]] == ["z_diff"]
    assert all(item.status != NOT_YET for item in found.verdicts if item.row == "mig")
    assert (
        found.verdict("z_diff", "no_discretisation").status == reference().verdict("z_diff", "no_discretisation").status
    )
    page = found.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "no stored rows" in page


def test_a_scenario_without_rows_is_open_alone(file: Path) -> None:
    damaged(file, "mig", without("noise"))
    found = bench.reference()
    assert found.verdict("mig", "calibrated").status == NOT_YET
    assert found.verdict("mig", "non_linear") == reference().verdict("mig", "non_linear")


def test_without_any_rows_there_is_no_reference(file: Path) -> None:
    file.unlink()
    refuses(FileNotFoundError, "no rows of metrics are stored", bench.reference)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda held: held.update(protocol="latte"), "expected rows of mig of protocol 'review2022', got 'latte'"),
        (lambda held: held.update(n_samples=10_000), "expected rows of mig of n_samples 20000, got 10000"),
        (lambda held: held["curves"].pop(), "reference.xz, line 25 lacks a part of a characterisation"),
        (lambda held: held.update(format_version=2), "reference.xz, line 25 has format version 2, this demele reads 1"),
        (lambda held: held["scenarios"][0].update(severities=[0.05]), "'noise' was measured at other severities"),
        (lambda held: held["curves"][0]["outcomes"][0].append([1]), "lacks a part of a characterisation"),
        (
            lambda held: held["seconds"][0].update(median=["a"]),
            "reference.xz, line 25 lacks a part of a characterisation",
        ),
    ],
)
def test_rows_that_are_not_those_of_the_bench_are_refused(
    change: Callable[[dict[str, Any]], object], message: str, file: Path
) -> None:
    damaged(file, "mig", change)
    refuses(FormatError, message, bench.reference)


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
    for name in FEWER:
        assert all(3 <= number <= stored.SLOW_SEEDS[kind] for kind, number in fewer_seeds(name).items())


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
    odd = replace(found, fewer_rows={"nowhere": 150}).save(tmp_path / "odd.json.gz")
    refuses(FormatError, "lacks a part of a characterisation", bench.load, odd)


# Judged ---------------------------------------------------------------------------------------------------------------


def test_stored_rows_of_other_metrics_may_not_be_of_fewer_rows() -> None:
    few = bench.check_metrics("sap", "mixing", seeds=1, n_rows=FEWER_SAMPLES)
    with pytest.raises(FormatError, match="expected rows of sap of n_samples 20000, got 5000"):
        stored.referred(bench.Characterisation, ["sap"], {"sap": few})
