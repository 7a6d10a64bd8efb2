"""Findings in files: one small file of all values, and the stored rows of demele's own metrics."""

import gzip
import io
import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, cast

import numpy as np

from demele.bench.expectations import EXPECTATIONS, Candidate, Same, Scenario, expectation_of
from demele.bench.run import chosen_candidates, declined
from demele.bench.scenarios import SCENARIOS
from demele.bench.verdicts import REVIEW_CRITERIA, Curve, Findings, Part, Status, Verdict, judged_part, row_name
from demele.core.arrays import Floats
from demele.core.errors import FormatError, InputError, plural, quoted, shortened
from demele.core.reading import check_nesting, check_shape, check_unpacked, most_unpacked, parsing
from demele.core.result import plain
from demele.metrics.catalogue import CATALOGUE
from demele.metrics.metric import Metric

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
    return gzip.compress(text_of(found), mtime=0)


def text_of(found: Findings) -> bytes:
    """Write findings as one line of JSON."""
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
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            text = file.read(most_unpacked(len(content)) + 1)
        check_unpacked(name, len(text), stored=len(content))
    return _of_text(text, name, kind)


def _of_text(text: bytes, name: str, kind: type[Found]) -> Found:
    with parsing(f"{name} is not a saved characterisation"):
        check_nesting(name, text)
        found = json.loads(text)
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise FormatError("path", f"{name} is not a saved characterisation")
    if found.get("format_version") != _FORMAT_VERSION:
        version, writer = quoted(found.get("format_version")), shortened(str(found.get("demele")), 40)
        problem = f"{name} has format version {version}, this demele reads {_FORMAT_VERSION}"
        raise FormatError("path", problem, f"read it with the demele that wrote it ({writer})")
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
CORRECTED = ("mislabelled", "mislabelled_corrected", "rotation_aligned")
#: How rows are made, but of the metrics below: fewer seeds where predictors are trained, and on the scenarios that are
#: not the review's.
PROTOCOL, N_SAMPLES, LEVEL = "review2022", 20_000, 0.95
SEEDS: Mapping[str, int] = {"source": 100, "added": 20, **dict.fromkeys(CORRECTED, 5)}
SLOW_SEEDS: Mapping[str, int] = {"source": 20, "added": 5, **dict.fromkeys(CORRECTED, 3)}
#: Metrics that take seconds a call, of which the usual rows would take days, and their seeds: fewer, of fewer rows too,
#: but where the number of rows itself is varied. Wherever their rows are shown, that is said.
FEWER: Mapping[str, int] = {"capacity_explicitness": 5, "nk": 3, "tmex": 5, "unique_information": 5}
FEWER_SAMPLES = 5_000


def read_rows(path: Path) -> dict[str, Findings]:
    """Return the rows of each metric that has some.

    Raises
    ------
    FormatError
        If the file is not what ``benchmarks.characterise`` writes.
    """
    lines = lzma.decompress(path.read_bytes()).splitlines() if path.exists() else []
    rows = [_of_text(line, f"{path.name}, line {number}", Findings) for number, line in enumerate(lines, 1)]
    return {own.candidates[0].name: own for own in rows}


def referred(kind: type[Found], metrics: Sequence[str], rows: Mapping[str, Findings]) -> Found:
    """Return what the rows hold of these metrics, on all scenarios.

    Raises
    ------
    FormatError
        If rows were made in another way than those of the others.
    """
    candidates, scenarios = chosen_candidates(metrics), tuple(SCENARIOS.values())
    rows = {item.name: rows[item.name] for item in candidates if item.name in rows}
    curves: dict[tuple[str, str], Curve] = {}
    seconds: dict[tuple[str, str], tuple[Floats, ...]] = {}
    for item in candidates:
        held = rows.get(item.name)
        n_samples = FEWER_SAMPLES if item.name in FEWER else N_SAMPLES
        for what, expected in (("protocol", PROTOCOL), ("n_samples", n_samples)):
            if held is not None and getattr(held, what) != expected:
                raise FormatError(f"expected rows of {item.name} of {what} {expected!r}, got {getattr(held, what)!r}")
        for scenario in scenarios:
            key, reason = (item.name, scenario.name), declined(item, scenario)
            known = None if held is None or reason is not None else held.curves.get(key)
            curves[key] = known or Curve(*key, [()] * len(scenario.severities), reason)
        for (_, name), medians in {} if held is None else held.seconds.items():
            # Metrics of one group share a call: the first tells its time, others may have been timed by themselves.
            seconds.setdefault((item.group, name), medians)

    def most_seeds(slow: bool, usual: Mapping[str, int]) -> dict[str, int]:
        """Return the seeds of each scenario: those of the metric that has most, or the usual number."""
        most = {}
        for scenario in scenarios:
            own = [curves[item.name, scenario.name].outcomes for item in candidates if item.slow is slow]
            number = usual.get(scenario.name, usual["source" if scenario.kind == "source" else "added"])
            most[scenario.name] = max((len(of_seeds) for one in own for of_seeds in one), default=0) or number
        return most

    return kind(
        candidates=candidates,
        scenarios=scenarios,
        protocol=PROTOCOL,
        n_samples=N_SAMPLES,
        level=LEVEL,
        seeds=most_seeds(False, SEEDS),
        slow_seeds=most_seeds(True, SLOW_SEEDS),
        curves=curves,
        seconds=seconds,
        fewer_rows={item.name: FEWER_SAMPLES for item in candidates if item.name in FEWER},
        version=", ".join(dict.fromkeys(own.version for own in rows.values())),
    )


# What the review printed ----------------------------------------------------------------------------------------------

# Tables 3.2 and 3.1 (means of 100 seeds, one decimal) of Boilard's review; Carbonneau et al. 2022.
# y: has the property; x: has it not; x*: has it not because it discretises; -: does not measure it; n/a: left out.
# The first published cell of MIG is blank.
_VERDICTS = {
    "z_diff": "x - - y x* y y y x x",
    "z_min_variance": "x - - y x* y y y x x",
    "z_max_variance": "x - - x x* y x x x x",
    "irs": "y - y x x* n/a n/a x y x",
    "dci_lasso": "y x y x x y y y y y",
    "dci_forest": "y y y y y y y y y y",
    "explicitness": "- - y x x y n/a y y x",
    "sap": "- y - y x x n/a y y y",
    "mig": "blank y - y x* x x y y x",
    "mig_sup": "y - - y x* x x x y x",
    "jemmig": "y y y y x* x x y y x",
    "modularity": "x - - x x* x y x y x",
    "dcimig": "y x y y x* x x y y x",
}

#: Printed cell by row and criterion.
PRINTED_VERDICTS: Mapping[str, Mapping[str, str]] = {
    row: dict(zip([one.name for one in REVIEW_CRITERIA], cells.replace("blank", "").split(" "), strict=True))
    for row, cells in _VERDICTS.items()
}

_METRICS = (
    *("z_diff", "z_min_variance", "z_max_variance", "irs"),
    *("dci_lasso_modularity", "dci_lasso_compactness", "dci_lasso_explicitness"),
    *("dci_forest_modularity", "dci_forest_compactness", "dci_forest_explicitness"),
    *("explicitness", "sap", "mig", "mig_sup", "jemmig", "modularity", "dcimig"),
)
_SCORES = {
    1.0: (1.0, 1.0, 1.0, 0.8, 0.8, 1.0, 0.6, 1.0, 0.7, 1.0, 1.0, 0.6, 0.0, 0.7, 0.4, 1.0, 0.6),
    2.0: (1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.7, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0),
    3.0: (1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.4, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0),
}

#: Printed score by severity of the scenario "redundant" and metric.
PRINTED_SCORES: Mapping[float, Mapping[str, float]] = {
    severity: dict(zip(_METRICS, scores, strict=True)) for severity, scores in _SCORES.items()
}
#: The status that each published sign means; any other sign: not applicable.
_STATUS = {"y": "holds", "x": "fails", "x*": "fails"}


def printed_verdict(row: str, criterion: str) -> str | None:
    """Return the printed cell of a row and criterion; None where the review has none.

    Examples
    --------
    >>> from demele.bench.stored import printed_verdict
    >>> printed_verdict("irs", "non_linear"), printed_verdict("dlig", "non_linear")
    ('x*', None)
    """
    return PRINTED_VERDICTS.get(row, {}).get(criterion)


def agrees(printed: str, status: Status) -> bool:
    """Whether a printed cell and a computed status say the same; nothing agrees with "inconclusive".

    Examples
    --------
    >>> from demele.bench.stored import agrees
    >>> agrees("y", "holds"), agrees("x*", "fails"), agrees("-", "not applicable"), agrees("y", "inconclusive")
    (True, True, True, False)
    """
    return status == _STATUS.get(printed, "not applicable")


def agreement(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count how many verdicts say what the review printed; what was not run is left out.

    Returns
    -------
    dict
        ``cells``: verdicts with a printed cell; ``agree``: those that say the same.
    """
    run = ((printed_verdict(one.row, one.criterion), one.status) for one in verdicts if one.was_run)
    same = [agrees(printed, status) for printed, status in run if printed is not None]
    return {"cells": len(same), "agree": sum(same)}


# The card of a metric: its level by chance, what leaves it alone, what it costs ---------------------------------------

#: A change that moves a score by less than this leaves it alone; shuffled rows move those of random predictors by more
#: than nothing.
UNMOVED = 0.02


def card_of(found: Findings, item: Candidate) -> dict[str, Any]:
    """Return the card of one metric, as plain lists and numbers."""
    severities = {scenario.name: scenario.severities for scenario in found.scenarios}
    curves = {name: curve for name in severities if (curve := found.curves[item.name, name]).declined is None}
    worst = severities["noise"].index(1.0) if "noise" in curves and 1.0 in severities["noise"] else None
    # with whatever else the machine did
    usual = [own for name in ("noise", "mixing", "partial") for own in found.seconds.get((item.group, name), ())]
    card = {
        "chance": curves["noise"].point(worst, found.level) if worst is not None and curves["noise"].n[worst] else None,
        "invariances": _invariances(found, item) if "invariances" in curves else [],
        "seconds": float(np.median(np.concatenate(usual))) if usual else None,
        "seconds_rows": found.rows_for(item.name),
    }
    plain_card: dict[str, Any] = plain(card)
    return plain_card


def _invariances(found: Findings, item: Candidate) -> list[dict[str, Any]]:
    """Return what each change of the same rows does to a score: the mean difference, and whether it is more than 0."""
    scenario, lines = SCENARIOS["invariances"], []
    curve = found.curves[item.name, scenario.name]
    for place, severity in enumerate(scenario.severities[1:], start=1):
        base, moved = curve.by_seed[0], curve.by_seed[place]
        differences = [abs(moved[seed] - base[seed]) for seed in moved if seed in base]
        if differences:
            same = Same(at=severity, than=scenario.severities[0], within=UNMOVED)
            part = Part(scenario=scenario.name, claims=(), expectations=(same,))
            status = judged_part(item, part, {scenario.name: scenario}, found.curves, found.level).status
            # one draw on which nothing moved, not even by rounding, is not inconclusive
            status = "holds" if max(differences) == 0.0 else status
            lines.append({"change": scenario.label(place), "difference": float(np.mean(differences)), "status": status})
    return lines


# A characterisation as plain lists, texts and numbers -----------------------------------------------------------------


def _some(thing: object, names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names.split()}


def to_dictionary(found: Findings) -> dict[str, Any]:
    """Return everything that is shown of a characterisation."""
    complete = found.protocol == "review2022"  # the printed tables were made with these settings
    content: dict[str, Any] = {
        "kind": "characterisation",
        "demele": found.version,
        **_some(found, "protocol n_samples level seeds slow_seeds"),
        "metrics": [_metric(found, item) for item in found.candidates],
        "rows": [
            {**_some(row, "name title own"), "metrics": [item.name for item in row.members]} for row in found.rows
        ],
        "scenarios": [
            {
                **_some(item, "name title question sweep severities source kind"),
                "labels": [item.label(place) for place in range(len(item.severities))],
                "own": item.name not in SCENARIOS,
                "rows": found.rows_of.get(item.name),
                "wanted": [
                    {"property": key, "text": one.text} for key, several in item.wanted.items() for one in several
                ],
            }
            for item in found.scenarios
        ],
        "curves": [
            _curve(found.curves[item.name, scenario.name], found.level)
            for scenario in found.scenarios
            for item in found.candidates
        ],
        "criteria": [
            {
                **_some(item, "name title question rule group"),
                "scenarios": list(dict.fromkeys(part.scenario for part in item.parts)),
            }
            for item in found.criteria
        ],
        "verdicts": [_verdict(item, complete) for item in found.verdicts],
        "agreement": agreement(found.verdicts) if complete else None,
        "printed_scores": printed_scores(found) if complete else [],
    }
    plain_content: dict[str, Any] = plain(content)
    return plain_content


def _metric(found: Findings, item: Candidate) -> dict[str, Any]:
    spec = item.function if isinstance(item.function, Metric) else None
    spec = CATALOGUE.get(item.name) if item.function is None else spec
    fewer = found.fewer(item.name)
    said = None if fewer is None else f"{plural(fewer[0], 'seed', 'seeds')} of {fewer[1]:,} rows"
    return {
        **_some(item, "name title discretises"),
        "row": row_name(item),
        "own": item.function is not None,
        "properties": item.claims,
        "stochastic": (True if item.name in found.drifting else None) if spec is None else spec.stochastic,
        "drifts": found.drifting.get(item.name),
        "fewer": None if fewer is None else {"seeds": fewer[0], "n_samples": fewer[1], "text": said},
        "characterised": all(found.curves[item.name, scenario.name].characterised for scenario in found.scenarios),
        "card": card_of(found, item),
    }


def _curve(curve: Curve, level: float) -> dict[str, Any]:
    points = [] if curve.declined else [curve.point(place, level) for place in range(len(curve.outcomes))]
    return {
        **_some(curve, "metric scenario declined"),
        **{what: [point[what] for point in points] for what in ("mean", "low", "high", "n")},
        "failed": curve.failed[: len(points)],
        "reasons": [next(iter(own), None) for own in curve.reasons[: len(points)]],
    }


def _verdict(item: Verdict, complete: bool) -> dict[str, Any]:
    printed = printed_verdict(item.row, item.criterion) if complete else None
    return {
        **_some(item, "row criterion status summary was_run"),
        "parts": [_some(part, "metric scenario status reason") for part in item.parts],
        "printed": printed,
        "agrees": agrees(printed, item.status) if printed is not None and item.was_run else None,
    }


def printed_scores(found: Findings) -> list[dict[str, Any]]:
    """Return the published table of the redundant scenario, with our scores."""
    scenario = next((item for item in found.scenarios if item.name == "redundant"), None)
    if scenario is None:
        return []
    lines = []
    for severity, scores in PRINTED_SCORES.items():
        for metric, printed in scores.items() if severity in scenario.severities else ():
            curve, place = found.curves.get((metric, scenario.name)), scenario.severities.index(severity)
            if curve is not None and curve.n[place]:
                about = {"scenario_row": scenario.label(place), "severity": severity, "metric": metric}
                point = curve.point(place, found.level)
                ours = point.pop("mean")
                lines.append({**about, "printed": printed, "ours": ours, **point, "difference": ours - printed})
    return lines
