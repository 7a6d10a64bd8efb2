"""What a comparison of comparison methods says: its document."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.bench.comparisons.published import PUBLISHED_SOURCE, published
from demele.bench.comparisons.setting import REFERENCES
from demele.core.png import png
from demele.core.result import about
from demele.report.document import (
    NOTHING,
    Block,
    Choice,
    Document,
    Facts,
    Images,
    Line,
    Lines,
    Mark,
    Section,
    Strip,
    Strips,
    Table,
)
from demele.report.written import count, joined, name, rate, written

if TYPE_CHECKING:
    from demele.bench.comparisons.result import MethodComparison, Tally

#: The noise rate that is shown first, if it was measured.
_USUAL_RATE = 0.05
#: Methods that are drawn together, and of one family: simulated cleanings are many variants of one.
_MOST_LINES, _OF_ONE_FAMILY = 8, 2
#: Pairs of all images of a page; beyond, only those at the rate that is shown first are there.
_MOST_PAIRS = 2_500_000
#: Sides of an image on a page, at least.
_SIDE = 240
#: Colours of the outcomes, by their number: the diagonal grey, then the source's blue, black, red and white.
COLOURS = np.array([[154, 163, 173], [47, 109, 181], [0, 0, 0], [255, 90, 60], [255, 255, 255]], dtype=np.uint8)


def methods_document(result: "MethodComparison", at: float | None = None) -> Document:
    """Say how often comparison methods err, at one noise rate and along all.

    Parameters
    ----------
    result : MethodComparison
    at : float, optional
        The noise rate of the table.
    """
    rates = [column.wanted for column in result.columns]
    shown = min(rates, key=lambda one: (abs(one - (_USUAL_RATE if at is None else at)), one))
    tables = {measure: _table(result, measure, shown) for measure in result.measures}
    figures = {measure: _errors(result, measure) for measure in result.measures}
    first, *others = result.measures
    pairs = len(result.names) * (len(result.names) - 1)
    return Document(
        kind="Comparison methods",
        title=name(result.title),
        headline=_headline(result, first, shown),
        sentences=[
            _best(result, first, shown),
            "Type I error: the method prefers the candidate, true labels do not. Power: both prefer it.",
            "Contradicted: method and true labels prefer opposite classifiers.",
            _blunt(result),
        ],
        figure=figures[first],
        table=tables[first],
        scope=[
            count(len(result.contenders), "method"),
            count(len(result.names), "classifier"),
            count(pairs, "ordered pair"),
            count(result.n, "instance"),
            f"{rate(shown)} wrong labels",
            first,
        ],
        sections=[
            Section("Measures", [tables[measure] for measure in result.measures]),
            Section("Each classifier", [_classifiers(result)]),
            Section("Pairwise results", [_explained(), _images(result, first, shown)]),
            Section("Curves", [Choice("Measure", {one: [figures[one]] for one in others})]) if others else NOTHING,
            _published(result),
            Section("Data", [_every(result), _data(result)]),
        ],
        method=[
            ("Reference", REFERENCES[result.reference]),
            ("Level of the intervals", rate(result.level)),
            ("Standard errors", "jackknife: one classifier left out at a time, with the same noise"),
            ("Noise", f"{result.noise}; wrong labels: {joined(map(rate, rates), most=8)}; seed {result.seed}"),
        ],
        methods=[
            f"Error rates of {count(len(result.contenders), 'comparison method')} were measured with demele [@demele]",
            f"on {count(pairs, 'ordered pair')} of classifiers, after Benjelloun [@benjelloun2021impact].",
            f"The reference was {REFERENCES[result.reference]}.",
        ],
        **about(result),
    )


# What is said first ---------------------------------------------------------------------------------------------------


def _title(result: "MethodComparison", method: str) -> str:
    return name(result.contenders[method][0])


def _at(result: "MethodComparison", measure: str, noise: float) -> "dict[str, Tally]":
    """Return the tallies of a measure at a noise rate, by method."""
    found = {one.method: one for one in result.tallies if (one.measure, one.noise) == (measure, noise)}
    return {method: found[method] for method in result.contenders if method in found}


def _share(percent: float) -> float | None:
    return None if np.isnan(percent) else percent / 100


def _power(tally: "Tally") -> float | None:
    return None if np.isnan(tally.type_2) else 1 - tally.type_2 / 100


def _free(result: "MethodComparison", measure: str) -> list[str]:
    """Return the methods without a type I error at any rate, of those that could make one."""
    erred, judged = Counter[str](), Counter[str]()
    for one in result.tallies:
        if one.measure == measure:
            erred[one.method] += one.n_type_1
            judged[one.method] += one.n_kept
    return [method for method in result.contenders if judged[method] and not erred[method]]


def _headline(result: "MethodComparison", measure: str, shown: float) -> str:
    tallies, free = _at(result, measure, shown), _free(result, measure)
    rates = "at any noise rate" if len(result.columns) > 1 else f"with {rate(shown)} wrong labels"
    if not tallies:
        return "Nothing was measured."
    usual = tallies.get("overlap")
    errs = ""
    if usual is not None and usual.n_type_1:
        errs = f"; interval overlap makes {written(_share(usual.type_1), 'percent')}"
        errs += f" with {rate(shown)} wrong labels" if len(result.columns) > 1 else ""
    if len(tallies) == 1:
        (method,) = tallies
        makes = "makes no type I error" if method in free else "makes type I errors"
        return f"{_title(result, method)} {makes} {rates if free else 'here'}."
    if not free:
        return f"Every method makes type I errors{errs}."
    verb = "makes" if len(free) == 1 else "make"
    return f"{len(free)} of {count(len(tallies), 'method')} {verb} no type I error {rates}{errs}."


def _best(result: "MethodComparison", measure: str, shown: float) -> str:
    """Name the methods of most power that make no type I error."""
    tallies = _at(result, measure, shown)
    found = [(power, one) for one in _free(result, measure) if one in tallies and (power := _power(tallies[one]))]
    found = sorted(found, key=lambda item: -item[0])[:2]
    if not found:
        return ""
    told = [f"{_title(result, one)} {written(power, 'percent')}" for power, one in found]
    return f"Most power without type I errors, at {rate(shown)} wrong labels: {joined(told, 'then')}."


def _blunt(result: "MethodComparison") -> str:
    if result.reference != "overlap":
        return ""
    return "The reference is blunt: a sharper method can make type I errors that true labels do not contradict."


# Figures --------------------------------------------------------------------------------------------------------------


def _main(result: "MethodComparison", tallies: Mapping[str, Any]) -> list[str]:
    """Return the methods that are drawn: few of each family."""
    seen = Counter[str]()
    found = []
    for method in tallies:
        family = method.partition("(")[0]
        seen[family] += 1
        found += [method] if seen[family] <= _OF_ONE_FAMILY else []
    return found[:_MOST_LINES]


def _errors(result: "MethodComparison", measure: str) -> Choice | Strips:
    """Return type I errors and power: along the noise rates, or side by side at the only one."""
    by_rate = {column.wanted: _at(result, measure, column.wanted) for column in result.columns}
    methods = _main(result, dict.fromkeys(one for found in by_rate.values() for one in found))
    caption = {"type_1": f"Type I error: {name(measure)}", "type_2": f"Power: {name(measure)}"}
    if len(by_rate) == 1:
        ((noise, tallies),) = by_rate.items()
        strips = [
            Strip(
                _title(result, one),
                [Mark("bar", _share(tallies[one].type_1)), Mark("dot", _power(tallies[one]), None, 1)],
            )
            for one in methods
        ]
        names = {0: "type I error", 1: "power"}
        return Strips(
            f"Errors at {rate(noise)} wrong labels: {name(measure)}", strips, "percent", "", names, (0.0, 1.0)
        )
    panels: dict[str, list[Block]] = {}
    for key, panel in (("type_1", "Type I error"), ("type_2", "Power")):
        lines = []
        for method in methods:
            places = [noise for noise, tallies in by_rate.items() if method in tallies]
            found = [by_rate[noise][method] for noise in places]
            values = [_share(one.type_1) if key == "type_1" else _power(one) for one in found]
            errors = [getattr(one, f"{key}_se") / 100 for one in found]
            low, high = ([_moved(*pair, sign) for pair in zip(values, errors, strict=True)] for sign in (-1, 1))
            lines.append(Line(_title(result, method), places, values, low, high))
        panels[panel] = [Lines(caption[key], lines, ("wrong labels", "percent"), (panel.lower(), "percent"), zero=0.0)]
    return Choice("Figure", panels)


def _moved(value: float | None, error: float, sign: int) -> float | None:
    return None if value is None or np.isnan(error) else min(1.0, max(0.0, value + sign * error))


def _explained() -> str:
    return (
        "One pixel for each pair: rows are baselines, columns candidates, from the least accurate (top, left). Blue: "
        "both keep the baseline. Black: both prefer the candidate. Red: type I error. White: type II error."
    )


def _images(result: "MethodComparison", measure: str, shown: float) -> Choice:
    """Return the outcome of every pair by method, with counts."""
    order = np.argsort(result.accuracies, kind="stable")
    m = len(order)
    whole = m * m * len(result.contenders) * len(result.columns) <= _MOST_PAIRS
    rates = [column.wanted for column in result.columns if whole or column.wanted == shown]
    columns = {"Wrong labels": "percent", "Both keep": "count", "Both prefer": "count"}
    panels: dict[str, list[Block]] = {}
    for method, (title, _) in result.contenders.items():
        found = {noise: tallies[method] for noise in rates if method in (tallies := _at(result, measure, noise))}
        if not found:
            continue
        images = [
            (
                f"{rate(noise)} wrong labels",
                png(COLOURS[result.matrix(method, noise, measure)[np.ix_(order, order)]]),
            )
            for noise in found
        ]
        rows = [
            (noise, one.n_kept - one.n_type_1, one.n_taken - one.n_type_2, one.n_type_1, one.n_type_2)
            for noise, one in found.items()
        ]
        counts = Table(f"Pairs: {name(title)}", {**columns, "Type I": "count", "Type II": "count"}, rows)
        panels[name(title)] = [
            Images(f"Outcomes: {name(title)}", [(name(measure), images)], max(1, _SIDE // m)),
            counts,
        ]
    return Choice("Method", panels)


# Tables ---------------------------------------------------------------------------------------------------------------

_COLUMNS = {
    "Type I error": "percent",
    "SE": "percent.1?",
    "Power": "percent",
    "SE of power": "percent.1?",
    "Agreement": "percent?",
    "Contradicted": "count",
    "Expert labels": "count",
}


def _cells(one: "Tally") -> tuple[Any, ...]:
    errors = [_share(value) for value in (one.type_1, one.type_1_se, one.type_2_se, one.agreement)]
    return (*errors[:2], _power(one), *errors[2:], one.reversed, one.labels_asked)


def _table(result: "MethodComparison", measure: str, shown: float) -> Table:
    rows = [
        (_title(result, method), *_cells(one), result.contenders[method][1])
        for method, one in _at(result, measure, shown).items()
    ]
    caption = f"Errors at {rate(shown)} wrong labels: {name(measure)}"
    return Table(caption, {"Method": "text", **_COLUMNS, "Known to the method": "text?"}, rows, first=40)


def _every(result: "MethodComparison") -> Table | None:
    columns = {"Method": "text", "Measure": "text", "Wrong labels": "percent.2", **_COLUMNS}
    rows = [(_title(result, one.method), name(one.measure), one.rate, *_cells(one)) for one in result.tallies]
    return Table("All noise rates", columns, rows) if len(result.columns) > 1 else None


def _classifiers(result: "MethodComparison") -> Table:
    best_first = np.argsort(-result.accuracies, kind="stable")
    rows = [(name(result.names[place]), float(result.accuracies[place])) for place in best_first]
    return Table("Classifiers", {"Classifier": "text", "Accuracy on true labels": "percent"}, rows)


def _published(result: "MethodComparison") -> Section:
    """Return the figures of the source next to ours; it has no other reference than overlap."""
    rows = []
    for row in published() if result.reference == "overlap" else ():
        for one in result.tallies:
            measure = one.measure.partition(" ")[0]
            if (measure, one.noise, one.method) == (row["measure"], row["noise"], row["method"]):
                theirs = (row["type_1"] / 100, 1 - row["type_2"] / 100)
                rows.append(
                    (
                        _title(result, one.method),
                        name(one.measure),
                        theirs[0],
                        _share(one.type_1),
                        theirs[1],
                        _power(one),
                    )
                )
    columns = {"Method": "text", "Measure": "text", "Type I, published": "percent", "Type I": "percent"}
    columns |= {"Power, published": "percent", "Power": "percent"}
    note = f"Source: {PUBLISHED_SOURCE}. Data, classifiers and noise differ: compare the order of the methods."
    return Section("Published results", [Table("Published error rates", columns, rows, note)]) if rows else NOTHING


def _data(result: "MethodComparison") -> Facts:
    facts = [
        ("Instances", written(result.n, "count")),
        ("Classes", f"{count(len(result.classes), 'class', 'classes')}: {joined(map(name, result.classes))}"),
    ]
    return Facts([*facts, *_details(result.details)])


def _details(details: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Return a free mapping as names and values, nested mappings by their path."""
    found = []
    for key, value in details.items():
        title = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            found += _details(value, f"{title}: ")
        else:
            found.append((title, joined(map(name, value)) if isinstance(value, list | tuple) else name(value)))
    return found
