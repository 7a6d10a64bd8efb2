"""Findings in files: one small file of all values, and the stored rows of demele's own metrics."""

import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from demele.bench.candidates import chosen_candidates
from demele.bench.run import declined
from demele.bench.scenario import AtLeast, AtMost, Candidate, Expectation, Falls, Holds, Keeps, NotAbove, Same, Scenario
from demele.bench.scenarios import SCENARIOS
from demele.bench.scenarios.mended import MENDED_SCENARIOS
from demele.bench.verdicts import Curve, Findings
from demele.core.errors import FormatError, InputError, quoted, shortened
from demele.core.outputs import write_whole
from demele.core.reading import check_nesting, check_unpacked, parsing
from demele.core.sentences import arg

# One file -------------------------------------------------------------------------------------------------------------


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


# Rows of demele's metrics ---------------------------------------------------------------------------------------------


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
_ROWS_FORMAT = {"format": "demele-reference-rows", "format_version": 1}


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
    yield _line({**_ROWS_FORMAT, "metric": item.name, **made})
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
        made = {**_ROWS_FORMAT, "metric": metric, "protocol": PROTOCOL, "n_samples": samples_of(metric)}
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
