"""What a characterisation shows, worked and as data, and the one file that holds it and no other."""

import functools
import gzip
import json
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import demele
from demele import bench
from demele.bench.run import candidate, chosen_candidates
from demele.bench.stored import card_of
from demele.bench.verdicts import Curve
from demele.core.errors import DemeleWarning, FormatError, InputError
from demele.report.document import Pill
from demele.report.words import name
from tests.bench.own import mine as plain
from tests.bench.own import sometimes
from tests.bench.sample_comparisons import measured
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close


def found_of(item: bench.Candidate, curves: Sequence[Curve]) -> bench.Characterisation:
    """Return a characterisation of a metric from its curves."""
    scenarios = tuple(bench.scenario(curve.scenario) for curve in curves)
    return bench.Characterisation(
        candidates=(item,),
        scenarios=scenarios,
        protocol="review2022",
        n_samples=500,
        level=0.9,
        seeds={scenario.name: 3 for scenario in scenarios},
        slow_seeds={scenario.name: 3 for scenario in scenarios},
        curves={(curve.metric, curve.scenario): curve for curve in curves},
        seconds={},
    )


def test_a_metric_of_your_own_is_said_first_with_what_it_meets_and_fails() -> None:
    falling = {"mixing": [1.0, 0.8, 0.6, 0.4, 0.2, 0.0], "non_linear": [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]}
    curves = [Curve("<b>", scenario, [[value] * 3 for value in values]) for scenario, values in falling.items()]
    own = candidate(lambda codes, factors: 0.0, name="<b>", claims="modularity", discretises=False)
    document = found_of(own, curves).document()
    assert document.headline == f"{name('<b>')} meets 2 of 3 criteria and fails 1."
    assert (document.tone, document.title) == ("open", f"Properties of {name('<b>')}")
    assert [section.title for section in document.sections] == ["Measures", "Criteria", "Curves", "Data"]
    met, failed, left = document.table.rows[0][1:4]
    assert isinstance(met, Pill)
    # coherent modularity and no discretisation are met; the scores of bent relations are not those of straight ones
    assert (met.text, failed, left) == ("2/3", 1, 0)
    assert document.table.note == f"{name('<b>')} fails {name('Non-linear relations')}."
    assert document.scope == ("1 metric", "2 scenarios", "500 rows each", "3 seeds", f"protocol {name('review2022')}")


#: Values by seed; None where a seed gave none.
Points = Mapping[int, Sequence[float | None]]


def card(scenario: bench.Scenario, points: Points, elsewhere: Sequence[float | None]) -> dict[str, Any]:
    """Return the card of a metric with these values at some places of the sweep, and the same everywhere else."""
    every = [points.get(place, elsewhere) for place in range(len(scenario.severities))]
    outcomes = [["none" if value is None else value for value in own] for own in every]
    (item,) = chosen_candidates("mig")
    return card_of(found_of(item, [Curve("mig", scenario.name, outcomes)]), item)


NOISE, INVARIANCES = bench.scenario("noise"), bench.scenario("invariances")


# Chance ---------------------------------------------------------------------------------------------------------------


def test_chance_is_the_score_of_nothing_but_noise() -> None:
    values = [0.1, 0.2, 0.6]
    place = NOISE.severities.index(1.0)
    told = card(NOISE, {place: values}, [0.9, 0.8])["chance"]
    low, high = stats.t.interval(0.9, 2, loc=0.3, scale=stats.sem(values))
    assert_close([told["mean"], told["low"], told["high"]], [0.3, low, high], ROUNDING)
    assert (set(told), told["n"]) == ({"mean", "low", "high", "n"}, 3)


# Invariances ----------------------------------------------------------------------------------------------------------


def changes(points: Points, elsewhere: Sequence[float] = ()) -> dict[str, tuple[float, str]]:
    lines = card(INVARIANCES, points, elsewhere)["invariances"]
    return {line["change"]: (line["difference"], line["status"]) for line in lines}


def test_what_moves_nothing_holds_and_what_moves_much_fails() -> None:
    base = [0.5, 0.625, 0.75, 0.375]
    moved = [value + step for value, step in zip(base, [0.25, 0.125, 0.25, 0.125], strict=True)]
    little = [value + 2**-10 for value in base]
    told = changes({0: base, 2: moved, 3: [value - 0.25 for value in base], 4: little}, elsewhere=base)
    assert list(told) == list(INVARIANCES.labels[1:])
    assert told["rows permuted"] == (0.0, "holds")
    assert told["codes permuted"] == (0.1875, "fails")
    assert told["factors permuted"] == (0.25, "fails")
    assert told["codes times 1000"] == (2**-10, "holds")  # moved, by less than counts
    assert told["rows doubled"] == (0.0, "holds")


def test_seeds_that_differ_both_ways_do_not_cancel() -> None:
    base = [0.5] * 4
    difference, status = changes({0: base, 1: [0.75, 0.25, 0.75, 0.25]})["rows permuted"]
    assert difference == 0.25
    assert status == "inconclusive"


SMALL: dict[str, Any] = {"seeds": 2, "n_rows": 100}


@functools.cache
def reference() -> dict[str, Any]:
    """Return what is shown of registered metrics, on more scenarios, with other numbers."""
    metrics = ["mig", "sap", "z_min_variance"]
    found = bench.check_metrics(metrics, ["mixing", "redundant"], seeds=3, n_rows=150)
    return found.to_dict()


# One ------------------------------------------------------------------------------------------------------------------


def test_printed_cells_are_compared_under_the_protocol_of_the_review_only() -> None:
    told = reference()
    cells = [item for item in told["verdicts"] if item["printed"] is not None]
    assert {item["row"] for item in cells} == {"mig", "sap", "z_min_variance"}
    assert told["agreement"]["cells"] == len(cells)
    assert told["agreement"]["agree"] == sum(item["agrees"] for item in cells)
    assert {item["metric"] for item in told["printed_scores"]} == {"mig", "sap", "z_min_variance"}
    other = bench.check_metrics("mig", "redundant", protocol="latte", **SMALL).to_dict()
    assert {item["printed"] for item in other["verdicts"]} == {item["agrees"] for item in other["verdicts"]} == {None}
    assert (other["agreement"], other["printed_scores"]) == (None, [])


# Two ------------------------------------------------------------------------------------------------------------------


def test_the_verdict_counts_methods_without_type_one_errors() -> None:
    found, document = measured(), measured().document()
    free = {method for method in found.contenders if not found.table("n_type_1").loc[method].any()}
    assert document.headline.startswith(f"{len(free)} of 5 methods make no type I error at any noise rate; ")
    share = found.tally("overlap", 0.05).type_1
    assert f"interval overlap makes {share:.1f}% with 5% wrong labels." in document.headline
    assert document.title == name("Error rates of comparison methods")
    assert [section.title for section in document.sections] == ["Measures", "Pairwise results", "Curves"]


Array = NDArray[np.float64]
EVERY_KIND = (
    bench.Falls(0.2, step=0.01, start=0.0, stop=0.5),
    bench.Falls(0.3, every_step=False),
    bench.Holds(0.1, stop=0.5),
    bench.Keeps(0.25, stop=0.5),
    bench.AtLeast(0.9, at=0.0),
    bench.AtMost(0.7, at=1.0),
    bench.NotAbove(at=1.0, than=0.0, margin=0.01),
    bench.Same(at=1.0, than=0.5, within=0.3),
)


def declines(item: bench.Candidate) -> str | None:
    return "has no square" if item.name == "sap" else None


def mine(**given: Any) -> bench.Scenario:
    usual: dict[str, Any] = {
        "title": "Mine, my own",
        "severities": (0.0, 0.5, 1.0),
        "wanted": {"any": EVERY_KIND[:5], "compactness": EVERY_KIND[5:]},
        "labels": ("none", "half", "all"),
        "paired": True,
        "declines": declines,
        "source": "a book",
        "kind": "settings",
    }
    return plain(**{**usual, **given})


def mean(codes: Array, factors: Array) -> float:
    return float(codes.mean())


@functools.cache
def varied() -> bench.Characterisation:
    """Registered and own metrics, own and known scenarios, seeds that failed, a curve that was declined."""
    own = bench.candidate(mean, name="own", claims=("compactness", "explicitness"), discretises=False)
    metrics: list[Any] = ["mig", "sap", sometimes, own]
    with warnings.catch_warnings(action="ignore", category=DemeleWarning):  # one may give no value at first
        return bench.check_metrics(metrics, ["mixing", mine()], seeds={"source": 4, "added": 3}, n_rows=100, level=0.9)


def without_seconds(found: bench.Characterisation) -> dict[str, Any]:
    """Return what is shown; of the times only medians are kept."""
    told = found.to_dict()
    for item in told["metrics"]:
        item["card"] = {what: shown for what, shown in item["card"].items() if what != "seconds"}
    return told


@functools.cache
def content() -> dict[str, Any]:
    """Return what is in the file of a run with nothing special, to be damaged."""
    with tempfile.TemporaryDirectory() as folder:
        path = bench.check_metrics(mean, "mixing", seeds=1, n_rows=100).save(Path(folder) / "a")
        read: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return read


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    found = varied()
    path = tmp_path / "varied.json.gz"
    assert found.save(str(path)) == path
    again = bench.load(path)
    assert set(again.curves) == set(found.curves)
    for key, curve in found.curves.items():
        other = again.curves[key]
        assert (other.metric, other.scenario, other.declined) == (curve.metric, curve.scenario, curve.declined)
        assert [list(own) for own in other.outcomes] == [list(own) for own in curve.outcomes]
    assert again.value_frame().equals(found.value_frame())
    assert again.curve_frame().equals(found.curve_frame())
    assert again.verdicts == found.verdicts
    assert again.criteria == found.criteria
    assert without_seconds(again) == without_seconds(found)
    assert repr(again) == repr(found)


def test_times_are_kept_as_medians(tmp_path: Path) -> None:
    again = bench.load(varied().save(tmp_path / "a"))
    assert set(again.seconds) == set(varied().seconds)
    for key, times in varied().seconds.items():
        medians = [float(own[0]) for own in again.seconds[key]]
        assert medians == pytest.approx([float(np.median(own)) for own in times], abs=5.1e-6)


def test_the_same_gives_the_same_bytes(tmp_path: Path) -> None:
    first = varied().save(tmp_path / "first").read_bytes()
    assert varied().save(tmp_path / "second").read_bytes() == first
    assert bench.load(tmp_path / "first").save(tmp_path / "third").read_bytes() == first


def test_functions_are_there_by_name_and_cannot_be_called(tmp_path: Path) -> None:
    again = bench.load(varied().save(tmp_path / "a"))
    function = again.candidates[3].function
    assert callable(function)
    assert not isinstance(function, demele.metrics.Metric)
    refuses(InputError, "are not in a saved characterisation", lambda: function(np.zeros((2, 2)), np.zeros((2, 2))))
    with pytest.raises(InputError, match="are not in a saved characterisation"):
        again.scenarios[1].draw(np.random.default_rng(0), 0.0, 10)


@dataclass(frozen=True)
class Middle:
    """What no class of the bench says."""

    text: str = "is not the last"

    def contrasts(self, severities: Any, labels: Any) -> list[Any]:
        return bench.AtLeast(0.1, at=0.0).contrasts(severities, labels)


def test_an_expectation_of_an_own_class_is_left_out(tmp_path: Path) -> None:
    own = mine(wanted={"any": (Middle(), bench.Holds(0.1))})
    found = bench.check_metrics(mean, own, seeds=2, n_rows=100)
    assert bench.load(found.save(tmp_path / "a")).scenarios[0].wanted == {"any": (bench.Holds(0.1),)}


# Other files ----------------------------------------------------------------------------------------------------------


def packed(told: Any) -> bytes:
    return gzip.compress(json.dumps(told).encode(), mtime=0)


def test_other_files_and_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path, whole = tmp_path / "other.gz", content()
    other, lacks = r"other\.gz is not a saved characterisation", "lacks a part of a characterisation"
    bare = {"format": "demele-bench", "format_version": 1}
    parts = set(whole) - {"format", "format_version", "rows_of", "fewer_rows", "drifting", "own"}
    odd: list[dict[str, Any]] = [{"curves": []}, {"level": "x"}, {"level": 2.0}, {"n_samples": "many"}]
    severities = {"scenarios": [{"name": "mixing", "severities": [0.0, 1.0]}]}
    cases = [
        *((b, other) for b in (b"", b"no gzip at all", packed([1, 2]), packed({}), packed(bare)[:-9])),
        (packed({**bare, "format": "demele-rows"}), other),
        (packed({**whole, "format_version": 2, "demele": "9.8"}), "has format version 2, .*the demele that wrote it"),
        *((packed({k: v for k, v in whole.items() if k != part}), rf"{lacks}: KeyError\('{part}'\)") for part in parts),
        *((packed({**whole, **one}), lacks) for one in odd),
        (packed({**whole, **severities}), "'mixing' was measured at other severities"),
    ]
    for written, message in cases:
        path.write_bytes(written)
        refuses(FormatError, message, bench.load, path)


def test_an_expectation_that_is_not_known_is_refused(tmp_path: Path) -> None:
    found = bench.check_metrics(mean, mine(wanted={"any": (bench.Holds(),)}), seeds=1, n_rows=100)
    told = json.loads(gzip.decompress(found.save(tmp_path / "a").read_bytes()))
    told["scenarios"][0]["wanted"]["any"][0]["type"] = "Contrast"
    (tmp_path / "a").write_bytes(packed(told))
    refuses(FormatError, "unknown expectation 'Contrast'", bench.load, tmp_path / "a")


def test_paths_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    refuses(InputError, "path: cannot read", bench.load, tmp_path / "absent.gz")
    refuses(InputError, "expected a file, got a folder", bench.load, tmp_path)
    refuses(InputError, "cannot write", varied().save, tmp_path / "no" / "folder.gz")
