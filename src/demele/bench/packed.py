"""A characterisation as the bytes of one small file: every value of every seed, from which all else follows."""

import gzip
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from demele.bench.curves import Curve
from demele.bench.expectations import AtLeast, AtMost, Expectation, Falls, Holds, Keeps, NotAbove, Same
from demele.bench.findings import Findings
from demele.bench.scenario import Candidate, Scenario
from demele.bench.scenarios import SCENARIOS
from demele.core.errors import FormatError, InputError, quoted, shortened
from demele.core.reading import check_nesting, check_unpacked, parsing
from demele.core.sentences import arg

__all__ = ["median_seconds", "packed", "unpacked"]

Found = TypeVar("Found", bound=Findings)

_FORMAT = "demele-bench"
_FORMAT_VERSION = 1
_EXPECTATIONS: Mapping[str, Any] = {
    kind.__name__: kind for kind in (AtLeast, AtMost, Falls, Holds, Keeps, NotAbove, Same)
}
#: No severity and no number of seeds is beyond this.
LARGEST_NUMBER = 1e15


def packed(found: Findings) -> bytes:
    """Write a characterisation; the same one gives the same bytes."""
    content = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "demele": found.version,
        "protocol": found.protocol,
        "n_samples": found.n_samples,
        "level": found.level,
        "seeds": dict(found.seeds),
        "slow_seeds": dict(found.slow_seeds),
        "rows_of": dict(found.rows_of),
        "fewer_rows": dict(found.fewer_rows),
        "drifting": dict(found.drifting),
        "candidates": [_packed_candidate(item) for item in found.candidates],
        "scenarios": [_packed_scenario(item) for item in found.scenarios],
        "curves": [_packed_curve(curve) for curve in found.curves.values()],
        "seconds": [
            {"group": group, "scenario": scenario, "median": [median_seconds(own) for own in times]}
            for (group, scenario), times in found.seconds.items()
        ],
    }
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def median_seconds(times: "np.ndarray[Any, np.dtype[np.float64]]") -> float:
    """Return what is kept of the times of calls: it says what a metric costs, and nothing else is asked."""
    return round(float(np.median(times)), 5)


def unpacked(content: bytes, name: str, kind: type[Found]) -> Found:
    """Read what :func:`packed` wrote, as the kind of findings that is wanted.

    Raises
    ------
    FormatError
        If it is something else; ``name`` is what the message calls it.
    """
    with parsing(f"{arg('path')}: {name} is not a saved characterisation"):
        text = _decompressed(content, name)
        check_nesting(f"{arg('path')}: {name}", text)
        found = json.loads(text)
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise FormatError("path", f"{name} is not a saved characterisation")
    if found.get("format_version") != _FORMAT_VERSION:
        raise FormatError(
            "path",
            f"{name} has format version {quoted(found.get('format_version'))}, this demele reads "
            f"{_FORMAT_VERSION}; read it with the demele that wrote it ({shortened(str(found.get('demele')), 40)})",
        )
    try:
        curves = [_unpacked_curve(item) for item in found["curves"]]
        findings = kind(
            candidates=tuple(_unpacked_candidate(item) for item in found["candidates"]),
            scenarios=tuple(_unpacked_scenario(item) for item in found["scenarios"]),
            protocol=found["protocol"],
            n_samples=found["n_samples"],
            level=found["level"],
            seeds=found["seeds"],
            slow_seeds=found["slow_seeds"],
            curves={(item.metric, item.scenario): item for item in curves},
            seconds={
                (item["group"], item["scenario"]): tuple(np.array([median]) for median in item["median"])
                for item in found["seconds"]
            },
            rows_of={name: (int(low), int(high)) for name, (low, high) in found.get("rows_of", {}).items()},
            fewer_rows=found.get("fewer_rows", {}),
            drifting=found.get("drifting", {}),
            version=found["demele"],
        )
        _checked(findings)
    except FormatError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise FormatError("path", f"{name} lacks a part of a characterisation: {shortened(repr(error))}") from error
    return findings


def _decompressed(content: bytes, name: str) -> bytes:
    """Unpack a file a piece at a time, so that one that grows without end is refused before it does."""
    pieces, size = [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        while piece := file.read(1 << 24):
            size += len(piece)
            check_unpacked(f"{arg('path')}: {name}", size, stored=len(content))
            pieces.append(piece)
    return b"".join(pieces)


def _checked(found: Findings) -> None:
    """Refuse curves that are not of the metrics and scenarios of the file, one each, and settings of another kind."""
    for scenario in found.scenarios:
        for item in found.candidates:
            points = len(found.curves[item.name, scenario.name].values)
            if points != len(scenario.severities):
                raise ValueError(f"{points} points of {item.name} on {scenario.name}, not {len(scenario.severities)}")
    if not 0 < float(found.level) < 1 or int(found.n_samples) < 1:
        raise ValueError(f"level {found.level}, n_samples {found.n_samples}")
    texts: list[object] = [found.protocol, found.version]
    texts += [text for item in found.candidates for text in (item.name, item.title, item.group)]
    texts += [
        text for item in found.scenarios for text in (item.name, item.title, item.question, item.sweep, item.source)
    ]
    odd: list[object] = [text for text in texts if not isinstance(text, str)]
    odd += [number for counts in (found.seeds, found.slow_seeds) for number in counts.values() if not _count(number)]
    odd += [number for item in found.scenarios for number in item.severities if not _number(number)]
    odd += [rows for rows in found.fewer_rows.values() if not _count(rows)]
    odd += [name for name in found.fewer_rows if name not in {item.name for item in found.candidates}]
    odd += [text for pair in found.drifting.items() for text in pair if not isinstance(text, str)]
    if odd:
        raise ValueError(f"{odd[0]!r:.60} where there is a text or a number")


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST_NUMBER


def _count(value: object) -> bool:
    return isinstance(value, int) and _number(value) and value >= 0


def _packed_candidate(item: Candidate) -> dict[str, Any]:
    return {
        "name": item.name,
        "title": item.title,
        "group": item.group,
        "own": item.function is not None,
        "claims": item.claims,
        "discretises": item.discretises,
    }


def _unpacked_candidate(item: Mapping[str, Any]) -> Candidate:
    return Candidate(
        name=item["name"],
        title=item["title"],
        group=item["group"],
        function=_not_in_the_file if item["own"] else None,
        claims=None if item["claims"] is None else tuple(item["claims"]),
        discretises=item["discretises"],
    )


#: What is told of a scenario that demele does not have.
_TOLD = ("title", "question", "sweep", "labels", "paired", "counts_rows", "source", "kind")


def _packed_scenario(item: Scenario) -> dict[str, Any]:
    packed: dict[str, Any] = {"name": item.name, "severities": item.severities}
    if SCENARIOS.get(item.name) is item:
        return packed
    wanted = {
        # an expectation of a user's own class cannot be read back: what it came to is in the verdicts
        wanted: [_packed_expectation(one) for one in given if type(one) in _EXPECTATIONS.values()]
        for wanted, given in item.wanted.items()
    }
    return {**packed, **{name: getattr(item, name) for name in _TOLD}, "wanted": wanted}


def _packed_expectation(item: Any) -> dict[str, Any]:
    return {"type": type(item).__name__, **asdict(item)}


def _unpacked_scenario(item: Mapping[str, Any]) -> Scenario:
    severities = tuple(item["severities"])
    if "title" in item:
        wanted = {name: tuple(_unpacked_expectation(one) for one in given) for name, given in item["wanted"].items()}
        told = {name: item[name] for name in _TOLD if name != "labels"}
        labels = tuple(item["labels"])
        return Scenario(
            **told, name=item["name"], severities=severities, labels=labels, draw=_not_in_the_file, wanted=wanted
        )
    known = SCENARIOS[item["name"]]
    if known.severities != severities:
        raise FormatError(
            "path",
            f"scenario {item['name']!r} was measured at other severities than those of this demele; "
            "read the file with the demele that wrote it",
        )
    return known


def _unpacked_expectation(item: Mapping[str, Any]) -> Expectation:
    fields = dict(item)
    name = fields.pop("type")
    if name not in _EXPECTATIONS:
        raise FormatError("path", f"unknown expectation {name!r}")
    expectation: Expectation = _EXPECTATIONS[name](**fields)
    return expectation


def _packed_curve(curve: Curve) -> dict[str, Any]:
    plain = all(np.array_equal(own, np.arange(len(own))) for own in curve.seeds)
    return {
        "metric": curve.metric,
        "scenario": curve.scenario,
        "values": [own.tolist() for own in curve.values],
        "seeds": None if plain else [own.tolist() for own in curve.seeds],
        "reasons": curve.reasons if any(curve.reasons) else None,
        "declined": curve.declined,
    }


def _unpacked_curve(item: Mapping[str, Any]) -> Curve:
    values = tuple(np.array(own, dtype=np.float64) for own in item["values"])
    if item["seeds"] is None:
        seeds = tuple(np.arange(len(own), dtype=np.intp) for own in values)
    else:
        seeds = tuple(np.array(own, dtype=np.intp) for own in item["seeds"])
    reasons = tuple(() for _ in values) if item["reasons"] is None else tuple(tuple(own) for own in item["reasons"])
    return Curve(
        metric=item["metric"],
        scenario=item["scenario"],
        values=values,
        seeds=seeds,
        reasons=reasons,
        declined=item["declined"],
    )


def _not_in_the_file(*_: Any) -> Any:
    raise InputError("the functions of metrics and scenarios are not in a saved characterisation; run it again to call")
