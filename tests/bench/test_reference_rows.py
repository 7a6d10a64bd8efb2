"""The stored rows of demele's own metrics: a file for each, and none needed for the house to stand."""

import functools
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import characterise
from demele import bench
from demele.bench import characterisation, stored
from demele.bench.stored import FEWER, FOLDER, add_rows, fewer_seeds, referred, write_rows
from demele.core.errors import FormatError
from demele.metrics.catalogue import CATALOGUE, names_of_all
from tests.tolerances import ROUNDING, assert_close
from tools import docs_bench

NOT_YET = "not yet characterised"


@functools.cache
def reference() -> bench.Characterisation:
    return bench.reference()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the files, which the bench reads instead."""
    reference()  # kept for the process: it must not be first read from the copy
    copy = tmp_path / "reference"
    shutil.copytree(FOLDER, copy)
    monkeypatch.setattr(characterisation, "FOLDER", copy)
    return copy


def test_the_reference_has_all_metrics_on_all_scenarios() -> None:
    found = reference()
    stored_ones = {path.stem for path in FOLDER.glob("*.jsonl")}
    assert [item.name for item in found.candidates] == [
        name for name in CATALOGUE if name in names_of_all() or name in stored_ones
    ]
    assert "infom" in stored_ones  # one that is only computed where it is named
    assert (found.protocol, found.n_samples) == ("review2022", 20_000)
    assert [item.name for item in found.scenarios] == bench.scenario_names()
    assert set(found.curves) == {(item.name, one.name) for item in found.candidates for one in found.scenarios}
    assert not any(row.own for row in found.rows)


def kind(scenario: str) -> str:
    return "source" if bench.scenario(scenario).kind == "source" else "added"


def test_every_value_is_a_number_and_every_seed_is_there() -> None:
    found = reference()
    for (metric, scenario), curve in found.curves.items():
        if curve.declined is not None or not curve.characterised:
            continue
        assert all(math.isfinite(value) for own in curve.values for value in own.tolist()), (metric, scenario)
        seeds = {number + failed for number, failed in zip(curve.n, curve.failed, strict=True)}
        if metric in FEWER:  # the exception that is declared, and no other
            declared = fewer_seeds(metric)
            assert seeds == {declared.get(scenario, declared[kind(scenario)])}, (metric, scenario)
        else:
            assert seeds <= {found.seeds[scenario], found.slow_seeds[scenario]}, (metric, scenario)
        assert len(curve.values) == len(bench.scenario(scenario).severities)


def test_the_verdicts_have_a_row_for_every_metric() -> None:
    table = reference().table()
    assert set(table.to_numpy().ravel()) <= {"holds", "fails", "inconclusive", "not applicable", NOT_YET}
    shown = {item.name for row in reference().rows for item in row.members}
    assert shown == {*names_of_all(), *(path.stem for path in FOLDER.glob("*.jsonl"))}
    assert list(table.index) == [row.name for row in reference().rows]
    assert "dci_forest" in table.index
    assert (table == "holds").any(axis=None)
    assert (table == "fails").any(axis=None)


def test_what_is_written_is_what_was_read(tmp_path: Path) -> None:
    found = reference()
    groups = [item.group for item in found.candidates]
    for place, path in enumerate(write_rows(found, tmp_path)):
        if not (FOLDER / path.name).exists():
            continue
        written, stored_lines = path.read_text().splitlines(), (FOLDER / path.name).read_text().splitlines()
        # Of metrics that share a call the first tells the time; the values are each one's own.
        timed = groups.index(groups[place]) == place
        assert [line for line in written if timed or '"seconds"' not in line] == [
            line for line in stored_lines if timed or '"seconds"' not in line
        ], path.name


def test_rows_of_one_metric_are_those_of_a_run_and_no_other_file_is_touched(folder: Path) -> None:
    found = bench.characterise("sap", "mixing", seeds=1)
    before = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}
    assert write_rows(found, folder) == [folder / "sap.jsonl"]
    after = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}
    assert {name for name in after if after[name] != before.get(name)} == {"sap.jsonl"}
    again, whole = bench.reference(), reference()
    new, old = again.curves["sap", "mixing"], whole.curves["sap", "mixing"]
    for own, stored_ones in zip(new.values, old.values, strict=True):
        assert_close(own, stored_ones[:1], ROUNDING)  # the last bits are those of the machine's linear algebra
    assert not again.curves["sap", "noise"].characterised
    other = again.curves["mig", "noise"]
    assert [own.tobytes() for own in other.values] == [own.tobytes() for own in whole.curves["mig", "noise"].values]


def test_rows_of_one_scenario_take_the_place_of_their_own_only(folder: Path) -> None:
    path = folder / "sap.jsonl"
    before = path.read_text(encoding="utf-8").splitlines()
    assert add_rows(bench.characterise("sap", "mixing", seeds=1), folder) == [path]
    after = path.read_text(encoding="utf-8").splitlines()
    assert len(after) == len(before)
    changed_lines = [json.loads(new) for new, old in zip(after, before, strict=True) if new != old]
    assert {line["scenario"] for line in changed_lines} == {"mixing"}
    assert [len(line["values"]) for line in changed_lines if "values" in line] == [1] * 6
    missing = [line for line in after if '"scenario":"noise"' not in line]
    path.write_text("\n".join(missing) + "\n", encoding="utf-8")
    add_rows(bench.characterise("sap", "noise", seeds=1), folder)  # rows that were not there go where they belong
    order = [(line.get("scenario"), line.get("severity")) for line in map(json.loads, path.read_text().splitlines())]
    assert order == [(line.get("scenario"), line.get("severity")) for line in map(json.loads, before)]
    with pytest.raises(FormatError, match=r"sap\.jsonl: its rows were made in another way"):
        add_rows(bench.characterise("sap", "noise", seeds=1, n_samples=200), folder)


def test_the_benchmark_computes_the_rows_of_one_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(metrics: Any, scenarios: Any, *, seeds: Any, slow_seeds: Any, **given: Any) -> bench.Characterisation:
        assert scenarios is None
        assert (seeds, slow_seeds) == (stored.SEEDS, stored.SLOW_SEEDS)
        return whole(metrics, "mixing", seeds=2, n_samples=100, **given)

    whole, store = bench.characterise, tmp_path / "rows.store"
    monkeypatch.setattr(bench, "characterise", small)
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    monkeypatch.setattr("sys.argv", ["characterise", "--only", "sap", "--jobs", "1", "--store", str(store)])
    characterise.main()
    assert [path.name for path in tmp_path.iterdir()] == ["sap.jsonl"]  # and no store that an edit would not undo
    first, *lines = (tmp_path / "sap.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["n_samples"] == 100
    assert [len(json.loads(line).get("values", [0, 0])) for line in lines] == [2] * 7


def check_everything_says_so(found: bench.Characterisation, metric: str) -> None:
    verdict = found.verdict(metric, "calibrated")
    assert (verdict.status, verdict.summary, verdict.was_run) == (NOT_YET, NOT_YET, False)
    assert found.table().loc[metric, "calibrated"] == NOT_YET
    told = found.to_dict()
    json.dumps(told, allow_nan=False)
    assert [item["name"] for item in told["metrics"] if not item["characterised"]] == [metric]
    pages = docs_bench.bench_pages(told, [])
    assert f"Not yet characterised, as rows are missing: {CATALOGUE[metric].title}." in pages["results/metrics.md"]
    assert all(item.status != NOT_YET for item in found.verdicts if item.row == "mig")


def test_a_metric_without_its_file_is_not_yet_characterised(folder: Path, tmp_path: Path) -> None:
    (folder / "z_diff.jsonl").unlink()
    found = bench.reference()
    check_everything_says_so(found, "z_diff")
    assert (
        found.verdict("z_diff", "no_discretisation").status == reference().verdict("z_diff", "no_discretisation").status
    )
    page = found.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "no stored rows" in page


def test_a_metric_that_was_just_registered_is_not_yet_characterised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOGUE._others, "newer", replace(CATALOGUE["mig"], name="newer", title="Newer", aliases=()))
    found = bench.reference()
    check_everything_says_so(found, "newer")
    assert found.verdicts != reference().verdicts
    assert [item for item in found.verdicts if item.row != "newer"] == list(reference().verdicts)


def test_one_score_of_a_model_without_rows_leaves_its_row_open(folder: Path) -> None:
    (folder / "dci_forest_modularity.jsonl").unlink()
    found = bench.reference()
    assert found.verdict("dci_forest", "calibrated").status == NOT_YET
    assert found.verdict("dci_forest", "coherent_compactness").status == "holds"
    assert found.seconds["dci_forest", "noise"][0].tolist() == reference().seconds["dci_forest", "noise"][0].tolist()


def test_a_scenario_without_rows_is_open_alone(folder: Path) -> None:
    path = folder / "mig.jsonl"
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if '"scenario":"noise"' not in line]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    found = bench.reference()
    assert found.verdict("mig", "calibrated").status == NOT_YET
    assert found.verdict("mig", "non_linear") == reference().verdict("mig", "non_linear")


def test_without_any_rows_there_is_no_reference(folder: Path) -> None:
    for path in folder.glob("*.jsonl"):
        path.unlink()
    with pytest.raises(FileNotFoundError, match="no rows of metrics are stored"):
        bench.reference()


def changed(**given: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: lines[0].update(given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(protocol="latte"), "expected rows of protocol 'review2022', got 'latte'"),
        (changed(n_samples=10_000), "expected rows of n_samples 20000, got 10000"),
        (changed(metric="sap"), "expected rows of metric 'mig', got 'sap'"),
        (changed(format_version=2), "expected rows of format_version 1, got 2"),
        (lambda lines: lines.append(lines[1]), "rows twice, or at another severity .* on 'noise'; compute them again"),
        (lambda lines: lines[1].update(severity=0.05), "rows twice, or at another severity .* on 'noise'"),
        (lambda lines: lines[1].update(scenario="nowhere"), "mig.jsonl does not hold the rows of a metric"),
        (lambda lines: lines[1].update(values=["high"]), "mig.jsonl does not hold the rows of a metric"),
        (lambda lines: lines[-1].update(seconds=[1.0]), "rows twice, or at another severity"),
    ],
)
def test_rows_that_are_not_those_of_the_bench_are_refused(
    change: Callable[[list[dict[str, Any]]], None], message: str, folder: Path
) -> None:
    path = folder / "mig.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        bench.reference()


def test_rows_of_several_versions_are_said_to_be(folder: Path) -> None:
    path = folder / "sap.jsonl"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"demele":"0.1.0"', '"demele":"0.2.0"', 1), encoding="utf-8"
    )
    assert bench.reference().version == "0.1.0, 0.2.0"
    assert referred(bench.Characterisation, ["sap"], folder).version == "0.2.0"
