"""One small file holds a characterisation: what is read is what was written, and no other file is taken for one."""

import functools
import gzip
import json
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele import bench
from demele.core.errors import DemeleWarning, FormatError, InputError
from tests.bench.own import mine as plain
from tests.bench.own import sometimes
from tests.refusals import refuses

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
