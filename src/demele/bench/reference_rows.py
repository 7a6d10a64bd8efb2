"""What demele's own metrics gave on every scenario: a text file for each, computed, compared and merged alone.

A file is lines of JSON. The first says how its rows were made. Each of the others holds what the seeds gave at one
severity of one scenario, in their order, or the median seconds of a call at every severity; scenarios and severities
are in the order of the bench, and numbers are written so that the same bits are read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from demele.bench.candidates import chosen_candidates
from demele.bench.curves import Curve
from demele.bench.findings import Findings
from demele.bench.packed import median_seconds
from demele.bench.run import declined
from demele.bench.scenario import Candidate, Scenario
from demele.bench.scenarios import SCENARIOS
from demele.bench.scenarios.mended import MENDED_SCENARIOS
from demele.core.errors import FormatError
from demele.core.outputs import write_whole
from demele.core.reading import parsing

__all__ = [
    "FEWER",
    "FEWER_SAMPLES",
    "FOLDER",
    "LEVEL",
    "N_SAMPLES",
    "PROTOCOL",
    "SEEDS",
    "SLOW_SEEDS",
    "add_rows",
    "fewer_seeds",
    "in_one",
    "referred",
    "samples_of",
    "write_rows",
]

#: Where the files are; a metric whose file is not there was not yet characterised.
FOLDER = Path(__file__).with_name("reference")
#: Scores that are corrected or aligned take as long as many, and hardly vary.
_MENDED = [item.name for item in MENDED_SCENARIOS]
#: How rows are made, but of the metrics below: fewer seeds where predictors are trained, and on the scenarios that are
#: not the review's.
PROTOCOL, N_SAMPLES, LEVEL = "review2022", 20_000, 0.95
SEEDS: Mapping[str, int] = {"source": 100, "added": 20, **dict.fromkeys(_MENDED, 5)}
SLOW_SEEDS: Mapping[str, int] = {"source": 20, "added": 5, **dict.fromkeys(_MENDED, 3)}
#: Metrics that take seconds a call, of which the usual rows would take days, and their seeds: fewer, of fewer rows too,
#: but where the number of rows itself is varied. Wherever their rows are shown, that is said.
FEWER: Mapping[str, int] = {"capacity_explicitness": 5, "nk": 3, "tmex": 5, "unique_information": 5}
FEWER_SAMPLES = 5_000
_FORMAT = {"format": "demele-reference-rows", "format_version": 1}

Found = TypeVar("Found", bound=Findings)


def samples_of(metric: str) -> int:
    """Return how many rows the representations have that a metric's stored rows are made of."""
    return FEWER_SAMPLES if metric in FEWER else N_SAMPLES


def fewer_seeds(metric: str) -> dict[str, int]:
    """Return the seeds of a metric of :data:`FEWER`, by kind of scenario, and by name where there are fewer still."""
    return {"source": FEWER[metric], "added": FEWER[metric], **{name: min(FEWER[metric], 3) for name in _MENDED}}


def in_one(whole: Found, sized: Found) -> Found:
    """Return two runs of the same metrics as one: the second is of scenarios that count rows, and has more of them."""
    order = list(SCENARIOS)
    scenarios = sorted((*whole.scenarios, *sized.scenarios), key=lambda item: order.index(item.name))
    return replace(
        whole,
        scenarios=tuple(scenarios),
        seeds={**whole.seeds, **sized.seeds},
        slow_seeds={**whole.slow_seeds, **sized.slow_seeds},
        curves={**whole.curves, **sized.curves},
        seconds={**whole.seconds, **sized.seconds},
        rows_of={**whole.rows_of, **sized.rows_of},
    )


def write_rows(found: Findings, folder: Path) -> list[Path]:
    """Write one file for each metric of a run; the same rows give the same bytes."""
    return [write_whole(folder / f"{item.name}.jsonl", "".join(_lines(found, item))) for item in found.candidates]


def add_rows(found: Findings, folder: Path) -> list[Path]:
    """Replace the rows of the run's scenarios in the files of its metrics, and keep the other rows.

    Raises
    ------
    FormatError
        If a file's rows were made in another way.
    """
    written = []
    for item in found.candidates:
        path = folder / f"{item.name}.jsonl"
        head, *lines = _lines(found, item)
        if path.exists():
            first, *before = path.read_text(encoding="utf-8").splitlines(keepends=True)
            if first != head:
                raise FormatError(f"{path.name}: its rows were made in another way; compute all of them")
            own = {scenario.name for scenario in found.scenarios}
            lines += [line for line in before if json.loads(line)["scenario"] not in own]
        written.append(write_whole(path, "".join([head, *sorted(lines, key=_place)])))
    return written


def _place(line: str) -> tuple[bool, int]:
    """Return where a line belongs: values before seconds, scenarios in the order of the bench."""
    told = json.loads(line)
    return "seconds" in told, list(SCENARIOS).index(told["scenario"])


def _lines(found: Findings, item: Candidate) -> Iterator[str]:
    made = {"demele": found.version, "protocol": found.protocol, "n_samples": found.rows_for(item.name)}
    yield _line({**_FORMAT, "metric": item.name, **made})
    for scenario in found.scenarios:
        curve = found.curves[item.name, scenario.name]
        for place, severity in enumerate(scenario.severities if curve.declined is None else ()):
            yield _line({"scenario": scenario.name, "severity": severity, **_outcomes(curve, place)})
    for scenario in found.scenarios:
        times = found.seconds.get((item.group, scenario.name))
        if times is not None:
            yield _line({"scenario": scenario.name, "seconds": [median_seconds(own) for own in times]})


def _outcomes(curve: Curve, place: int) -> dict[str, Any]:
    """Return the values of all seeds, None for those that gave none, and why: one reason if it is that of all."""
    values: list[float | None] = [None] * (curve.n[place] + curve.failed[place])
    for seed, value in zip(curve.seeds[place].tolist(), curve.values[place].tolist(), strict=True):
        values[seed] = value
    reasons = curve.reasons[place]
    if not reasons:
        return {"values": values}
    return {"values": values, "reasons": reasons[0] if len(set(reasons)) == 1 else list(reasons)}


def _line(content: Mapping[str, Any]) -> str:
    return json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"


def referred(kind: type[Found], metrics: Sequence[str], folder: Path) -> Found:
    """Return what the files hold of these metrics, on all scenarios.

    Raises
    ------
    FormatError
        If a file is not what :func:`write_rows` writes, or its rows were made in another way than those of the others.
    """
    candidates = chosen_candidates(metrics)
    scenarios = tuple(SCENARIOS.values())
    rows = {item.name: _read(folder / f"{item.name}.jsonl", item.name) for item in candidates}
    curves = {
        (item.name, scenario.name): _curve(item, scenario, rows[item.name])
        for scenario in scenarios
        for item in candidates
    }
    seconds: dict[tuple[str, str], tuple[NDArray[np.float64], ...]] = {}
    for item in candidates:
        for name, medians in rows[item.name].seconds.items():
            # Metrics of one group share a call: the first tells its time, others may have been timed by themselves.
            seconds.setdefault((item.group, name), tuple(np.array([median]) for median in medians))
    fewer = {item.name: samples_of(item.name) for item in candidates if samples_of(item.name) != N_SAMPLES}
    return kind(
        candidates=candidates,
        scenarios=scenarios,
        protocol=PROTOCOL,
        n_samples=N_SAMPLES,
        level=LEVEL,
        seeds=_most_seeds(scenarios, [item for item in candidates if not item.slow], curves, SEEDS),
        slow_seeds=_most_seeds(scenarios, [item for item in candidates if item.slow], curves, SLOW_SEEDS),
        curves=curves,
        seconds=seconds,
        fewer_rows=fewer,
        version=", ".join(dict.fromkeys(own.version for own in rows.values() if own.version)),
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """What one file holds: outcomes by scenario and severity, and median seconds by scenario."""

    version: str
    outcomes: Mapping[tuple[str, float], Sequence[float | str]]
    seconds: Mapping[str, Sequence[float]]


def _read(path: Path, metric: str) -> _Rows:
    if not path.exists():
        return _Rows("", {}, {})
    with parsing(f"{path.name} does not hold the rows of a metric"):
        first, *lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
        made = {**_FORMAT, "metric": metric, "protocol": PROTOCOL, "n_samples": samples_of(metric)}
        for what, expected in made.items():
            if first.get(what) != expected:
                raise FormatError(f"{path.name}: expected rows of {what} {expected!r}, got {first.get(what)!r}")
        outcomes: dict[tuple[str, float], list[float | str]] = {}
        seconds: dict[str, list[float]] = {}
        for line in lines:
            name = line["scenario"]
            severities = SCENARIOS[name].severities
            if "seconds" in line and name not in seconds and len(line["seconds"]) == len(severities):
                seconds[name] = [float(own) for own in line["seconds"]]
            elif line.get("severity") in severities and (name, line["severity"]) not in outcomes:
                outcomes[name, line["severity"]] = _told(line)
            else:
                raise FormatError(
                    f"{path.name}: rows twice, or at another severity than those of demele, on {name!r}; compute them "
                    "again"
                )
    return _Rows(first["demele"], outcomes, seconds)


def _told(line: Mapping[str, Any]) -> list[float | str]:
    reasons = line.get("reasons", ())
    missing = line["values"].count(None)
    told = iter([reasons] * missing if isinstance(reasons, str) else list(reasons))
    return [str(next(told)) if value is None else float(value) for value in line["values"]]


def _curve(item: Candidate, scenario: Scenario, rows: _Rows) -> Curve:
    reason = declined(item, scenario)
    outcomes = [
        rows.outcomes.get((scenario.name, severity), ()) if reason is None else () for severity in scenario.severities
    ]
    return Curve.of(item.name, scenario.name, outcomes, reason)


def _most_seeds(
    scenarios: Sequence[Scenario],
    candidates: Sequence[Candidate],
    curves: Mapping[tuple[str, str], Curve],
    usual: Mapping[str, int],
) -> dict[str, int]:
    """Return the seeds of each scenario: those of the metric that has most; the usual number where none has any."""
    most = {}
    for scenario in scenarios:
        own = [curves[item.name, scenario.name] for item in candidates]
        counts = [n + failed for curve in own for n, failed in zip(curve.n, curve.failed, strict=True)]
        kind = "source" if scenario.kind == "source" else "added"
        most[scenario.name] = max(counts, default=0) or usual.get(scenario.name, usual[kind])
    return most
