"""Findings in files: one small file of all values, and the stored rows of demele's own metrics."""

import gzip
import io
import json
import lzma
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from demele.bench.run import chosen_candidates, declined
from demele.bench.scenario import EXPECTATIONS, Candidate, Scenario, expectation_of
from demele.bench.scenarios import SCENARIOS
from demele.bench.verdicts import Curve, Findings
from demele.core.errors import FormatError, InputError, quoted, shortened
from demele.core.outputs import write_whole
from demele.core.reading import check_nesting, check_shape, check_unpacked, parsing

# One file -------------------------------------------------------------------------------------------------------------


Found = TypeVar("Found", bound=Findings)

_FORMAT = "demele-bench"
_FORMAT_VERSION = 1
#: No severity and no number of seeds is beyond this.
LARGEST_NUMBER = 1e15
_OF_CANDIDATES = ("name", "title", "group", "claims", "discretises")
_OF_CURVES = ("metric", "scenario", "declined", "outcomes")
_AS_THEY_ARE = ("protocol", "n_samples", "level", "seeds", "slow_seeds", "rows_of", "fewer_rows", "drifting")
_NUMBER, _TEXT_OR_NONE = (int, float), (str, NoneType)
#: What a file holds: see :func:`demele.core.reading.check_shape`.
_SHAPE = {
    "demele": str,
    "protocol": str,
    "n_samples": int,
    "level": float,
    "candidates": [{"name": str, "title": str, "group": str}],
    "scenarios": [{"name": str, "severities": [_NUMBER]}],
    "curves": [
        {"metric": str, "scenario": str, "declined": _TEXT_OR_NONE, "outcomes": [[(*_NUMBER, str)]]},
    ],
    "seconds": [{"group": str, "scenario": str, "median": [_NUMBER]}],
}


def packed(found: Findings) -> bytes:
    """Write a characterisation; the same one gives the same bytes."""
    return gzip.compress(_text(found), mtime=0)


def _text(found: Findings) -> bytes:
    content = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "demele": found.version,
        **{name: getattr(found, name) for name in _AS_THEY_ARE},
        "candidates": [
            {**{name: getattr(item, name) for name in _OF_CANDIDATES}, "own": item.function is not None}
            for item in found.candidates
        ],
        "scenarios": [_packed_scenario(item) for item in found.scenarios],
        "curves": [{name: getattr(curve, name) for name in _OF_CURVES} for curve in found.curves.values()],
        "seconds": [
            {"group": group, "scenario": scenario, "median": [round(float(np.median(own)), 5) for own in times]}
            for (group, scenario), times in found.seconds.items()
        ],
    }
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def unpacked(content: bytes, name: str, kind: type[Found]) -> Found:
    """Read what :func:`packed` wrote, as the kind of findings that is wanted.

    Raises
    ------
    FormatError
        If it is something else; ``name`` is what the message calls it.
    """
    with parsing(f"{name} is not a saved characterisation"):
        pieces, size = [], 0
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while piece := file.read(1 << 24):  # one that grows without end is refused before it does
                size += len(piece)
                check_unpacked(name, size, stored=len(content))
                pieces.append(piece)
    return _of_text(b"".join(pieces), name, kind)


def _of_text(text: bytes, name: str, kind: type[Found]) -> Found:
    with parsing(f"{name} is not a saved characterisation"):
        check_nesting(name, text)
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
        check_shape(found, _SHAPE)
        check_shape([item["claims"] or [] for item in found["candidates"]], [[str]])
        findings = kind(
            candidates=tuple(
                Candidate(
                    **{one: item[one] for one in _OF_CANDIDATES if one != "claims"},
                    claims=None if item["claims"] is None else tuple(item["claims"]),
                    function=_not_in_the_file if item["own"] else None,
                )
                for item in found["candidates"]
            ),
            scenarios=tuple(_unpacked_scenario(item) for item in found["scenarios"]),
            curves={
                (item["metric"], item["scenario"]): Curve(**{name: item[name] for name in _OF_CURVES})
                for item in found["curves"]
            },
            seconds={
                (item["group"], item["scenario"]): tuple(np.array([median]) for median in item["median"])
                for item in found["seconds"]
            },
            version=found["demele"],
            **{name: found[name] for name in _AS_THEY_ARE}
            | {"rows_of": {one: (int(low), int(high)) for one, (low, high) in found["rows_of"].items()}},
        )
        _check(findings)
    except FormatError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise FormatError("path", f"{name} lacks a part of a characterisation: {shortened(repr(error))}") from error
    return findings


def _check(found: Findings) -> None:
    """Refuse curves that are not of the metrics and scenarios of the file, and numbers that cannot be."""
    if not found.candidates:
        raise ValueError("no metric")
    counts = [*found.seeds.values(), *found.slow_seeds.values(), *found.fewer_rows.values()]
    check_shape([counts, list(found.drifting.values())], [[(int, str)]])
    if not all(0 <= number < LARGEST_NUMBER for number in counts):
        raise ValueError(f"{counts} seeds and rows")
    if not found.fewer_rows.keys() <= {item.name for item in found.candidates}:
        raise ValueError("rows of metrics that are not there")
    if not 0 < found.level < 1 or not 1 <= found.n_samples < LARGEST_NUMBER:
        raise ValueError(f"level {found.level}, n_samples {found.n_samples}")
    for scenario in found.scenarios:
        for item in found.candidates:
            if len(found.curves[item.name, scenario.name].outcomes) != len(scenario.severities):
                raise ValueError(f"other points of {item.name} on {scenario.name} than it has severities")


#: What is told of a scenario that demele does not have.
_TOLD = ("title", "question", "sweep", "labels", "paired", "counts_rows", "source", "kind")


def _packed_scenario(item: Scenario) -> dict[str, Any]:
    packed: dict[str, Any] = {"name": item.name, "severities": item.severities}
    if SCENARIOS.get(item.name) is item:
        return packed
    # an expectation of a user's own class cannot be read back: what it came to is in the verdicts
    wanted = {
        key: [
            {"type": type(one).__name__, **asdict(cast("Any", one))}
            for one in given
            if type(one) in EXPECTATIONS.values()
        ]
        for key, given in item.wanted.items()
    }
    return {**packed, **{name: getattr(item, name) for name in _TOLD}, "wanted": wanted}


def _unpacked_scenario(item: Mapping[str, Any]) -> Scenario:
    severities = tuple(item["severities"])
    if max(map(abs, severities), default=0) >= LARGEST_NUMBER:
        raise ValueError(f"severities {severities}")
    if "title" in item:
        check_shape(item, dict.fromkeys(("title", "question", "sweep", "source"), str))
        told = {name: item[name] for name in ("name", *_TOLD)} | {"labels": tuple(item["labels"])}
        wanted = {key: tuple(map(expectation_of, given)) for key, given in item["wanted"].items()}
        return Scenario(**told, severities=severities, draw=_not_in_the_file, wanted=wanted)
    known = SCENARIOS[item["name"]]
    if known.severities != severities:
        others = f"scenario {item['name']!r} was measured at other severities than those of this demele"
        raise FormatError("path", f"{others}; read the file with the demele that wrote it")
    return known


def _not_in_the_file(*_: Any) -> Any:
    raise InputError("the functions of metrics and scenarios are not in a saved characterisation; run it again to call")


# Rows of demele's metrics ---------------------------------------------------------------------------------------------


#: The rows, a line for each metric; a metric without one was not yet characterised.
FILE = Path(__file__).with_name("reference.xz")
#: Scores that are corrected or aligned take as long as many, and hardly vary.
_MENDED = ("mislabelled", "mislabelled_corrected", "rotation_aligned")
#: How rows are made, but of the metrics below: fewer seeds where predictors are trained, and on the scenarios that are
#: not the review's.
PROTOCOL, N_SAMPLES, LEVEL = "review2022", 20_000, 0.95
SEEDS: Mapping[str, int] = {"source": 100, "added": 20, **dict.fromkeys(_MENDED, 5)}
SLOW_SEEDS: Mapping[str, int] = {"source": 20, "added": 5, **dict.fromkeys(_MENDED, 3)}
#: Metrics that take seconds a call, of which the usual rows would take days, and their seeds: fewer, of fewer rows too,
#: but where the number of rows itself is varied. Wherever their rows are shown, that is said.
FEWER: Mapping[str, int] = {"capacity_explicitness": 5, "nk": 3, "tmex": 5, "unique_information": 5}
FEWER_SAMPLES = 5_000


def samples_of(metric: str) -> int:
    """Return how many rows the representations have that a metric's stored rows are made of."""
    return FEWER_SAMPLES if metric in FEWER else N_SAMPLES


def fewer_seeds(metric: str) -> dict[str, int]:
    """Return the seeds of a metric of :data:`FEWER`, by kind of scenario, and by name where there are fewer still."""
    return {"source": FEWER[metric], "added": FEWER[metric], **{name: min(FEWER[metric], 3) for name in _MENDED}}


def in_one(whole: Found, added: Found) -> Found:
    """Return two runs of the same metrics as one; on a scenario of both, the second counts."""
    named = {item.name: item for item in (*whole.scenarios, *added.scenarios)}
    fields = ("seeds", "slow_seeds", "curves", "seconds", "rows_of")
    merged: Any = {name: {**getattr(whole, name), **getattr(added, name)} for name in fields}
    return replace(whole, scenarios=tuple(named[name] for name in SCENARIOS if name in named), **merged)


def rounded(curve: Curve) -> Curve:
    """Return a curve whose values keep four digits, of them and of their distance to 1, and at least six decimals."""

    def short(value: float | str) -> float | str:
        if isinstance(value, str) or value in (0, 1):
            return value
        return round(value, max(6, 4 - math.floor(math.log10(min(abs(value), abs(1 - value))))))

    return replace(curve, outcomes=[list(map(short, of_seeds)) for of_seeds in curve.outcomes])


def read_rows(path: Path) -> dict[str, Findings]:
    """Return the rows of each metric that has some.

    Raises
    ------
    FormatError
        If the file is not what :func:`write_rows` writes.
    """
    lines = lzma.decompress(path.read_bytes()).splitlines() if path.exists() else []
    rows = [_of_text(line, f"{path.name}, line {number}", Findings) for number, line in enumerate(lines, 1)]
    return {own.candidates[0].name: own for own in rows}


def write_rows(found: Findings, path: Path, *, keep: bool = False) -> None:
    """Write the rows of each metric of a run, its values :func:`rounded`; those of other metrics stay as they are.

    Parameters
    ----------
    found : Findings
    path : Path
    keep : bool
        Keep what the file holds of other scenarios.

    Raises
    ------
    FormatError
        If rows that are kept were made in another way.
    """
    rows = read_rows(path)
    for item in found.candidates:
        of_item = {name: curve for (metric, name), curve in found.curves.items() if metric == item.name}
        held = [name for name, curve in of_item.items() if curve.declined is None and curve.characterised]
        own = Findings(
            candidates=(item,),
            scenarios=tuple(one for one in found.scenarios if one.name in held),
            protocol=found.protocol,
            n_samples=found.rows_for(item.name),
            level=found.level,
            seeds={},
            slow_seeds={},
            curves={(item.name, name): rounded(of_item[name]) for name in held},
            seconds={key: own for key, own in found.seconds.items() if key[0] == item.group},
            version=found.version,
        )
        if keep and item.name in rows:
            before = rows[item.name]
            if any(getattr(before, what) != getattr(own, what) for what in ("version", "protocol", "n_samples")):
                raise FormatError(f"the rows of {item.name} were made in another way; compute all of them")
            own = in_one(before, own)
        rows[item.name] = own
    write_whole(path, lzma.compress(b"\n".join(_text(rows[name]) for name in sorted(rows)), preset=9))


def referred(kind: type[Found], metrics: Sequence[str], rows: Mapping[str, Findings]) -> Found:
    """Return what the rows hold of these metrics, on all scenarios.

    Raises
    ------
    FormatError
        If rows were made in another way than those of the others.
    """
    candidates = chosen_candidates(metrics)
    scenarios = tuple(SCENARIOS.values())
    rows = {item.name: rows[item.name] for item in candidates if item.name in rows}
    for metric, held in rows.items():
        for what, expected in (("protocol", PROTOCOL), ("n_samples", samples_of(metric))):
            if getattr(held, what) != expected:
                own = getattr(held, what)
                raise FormatError(f"expected rows of {metric} of {what} {expected!r}, got {own!r}")
    curves: dict[tuple[str, str], Curve] = {}
    seconds: dict[tuple[str, str], tuple[NDArray[np.float64], ...]] = {}
    for scenario in scenarios:
        for item in candidates:
            key, reason = (item.name, scenario.name), declined(item, scenario)
            known = rows[item.name].curves.get(key) if item.name in rows and reason is None else None
            curves[key] = known or Curve(*key, [()] * len(scenario.severities), reason)
    for item in candidates:
        for (_, name), medians in rows[item.name].seconds.items() if item.name in rows else ():
            # Metrics of one group share a call: the first tells its time, others may have been timed by themselves.
            seconds.setdefault((item.group, name), medians)
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
        version=", ".join(dict.fromkeys(own.version for own in rows.values())),
    )


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
        counts = [len(of_seeds) for curve in own for of_seeds in curve.outcomes]
        kind = "source" if scenario.kind == "source" else "added"
        most[scenario.name] = max(counts, default=0) or usual.get(scenario.name, usual[kind])
    return most
