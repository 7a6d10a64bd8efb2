"""What a comparison of comparison methods says: its document."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.bench.comparisons.setting import PUBLISHED_SOURCE, REFERENCES, published
from demele.core.png import png
from demele.core.result import about
from demele.report.document import (
    Block,
    Choice,
    Document,
    Images,
    Line,
    Lines,
    Mark,
    Section,
    Strip,
    Strips,
    Table,
)
from demele.report.words import count, joined, name, rate, written

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
            "The reference misses small differences: type I errors of a sharper method can be right."
            if result.reference == "overlap"
            else "",
        ],
        figure=figures[first],
        table=tables[first],
        scope=[
            count(len(result.contenders), "method"),
            count(len(result.names), "classifier"),
            count(pairs, "ordered pair"),
            count(result.n, "instance"),
            count(len(result.classes), "class", "classes"),
            f"{rate(shown)} wrong labels",
            first,
        ],
        sections=[
            Section("Measures", [tables[measure] for measure in result.measures]),
            Section("Each classifier", [_classifiers(result)]),
            Section("Pairwise results", [_COLOURS_MEAN, _images(result, first, shown)]),
            Section("Curves", [Choice("Measure", {one: [figures[one]] for one in others})]),
            _published(result),
        ],
        methods=[
            f"Error rates of {count(len(result.contenders), 'comparison method')} were measured with demele [@demele]",
            f"on {count(pairs, 'ordered pair')} of classifiers, after Benjelloun [@benjelloun2021impact].",
            f"The reference was {REFERENCES[result.reference]}; intervals have the level {rate(result.level)}.",
            f"Noise: {result.noise}; wrong labels: {joined(map(rate, rates), most=8)}; seed {result.seed}.",
            "Standard errors are those of a jackknife: one classifier left out at a time, with the same noise.",
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
    if not tallies:
        return "Nothing was measured."
    several, here = len(result.columns) > 1, f"with {rate(shown)} wrong labels"
    rates, usual = "at any noise rate" if several else here, tallies.get("overlap")
    if len(tallies) == 1:
        (method,) = tallies
        return f"{_title(result, method)} makes {f'no type I error {rates}' if free else 'type I errors here'}."
    errs = ""
    if usual is not None and usual.n_type_1:
        errs = f"; interval overlap makes {written(_share(usual.type_1), 'percent')}{f' {here}' if several else ''}"
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
    if len(by_rate) == 1:
        ((noise, tallies),) = by_rate.items()
        caption, names = f"Errors at {rate(noise)} wrong labels: {name(measure)}", {0: "type I error", 1: "power"}
        strips = []
        for one in methods:
            marks = [Mark("bar", _share(tallies[one].type_1)), Mark("dot", _power(tallies[one]), None, 1)]
            strips.append(Strip(_title(result, one), marks))
        return Strips(caption, strips, "percent", "", names, (0.0, 1.0))
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
        axes = ("wrong labels", "percent"), (panel.lower(), "percent")
        panels[panel] = [Lines(f"{panel}: {name(measure)}", lines, *axes, zero=0.0)]
    return Choice("Figure", panels)


def _moved(value: float | None, error: float, sign: int) -> float | None:
    return None if value is None or np.isnan(error) else min(1.0, max(0.0, value + sign * error))


_COLOURS_MEAN = (
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
        images, rows = [], []
        for noise, one in found.items():
            outcomes = result.matrix(method, noise, measure)[np.ix_(order, order)]
            images.append((f"{rate(noise)} wrong labels", png(COLOURS[outcomes])))
            agreed = one.n_kept - one.n_type_1, one.n_taken - one.n_type_2
            rows.append((noise, *agreed, one.n_type_1, one.n_type_2))
        if rows:
            drawn = Images(f"Outcomes: {name(title)}", [(name(measure), images)], max(1, _SIDE // m))
            counts = Table(f"Pairs: {name(title)}", {**columns, "Type I": "count", "Type II": "count"}, rows)
            panels[name(title)] = [drawn, counts]
    return Choice("Method", panels)


# Tables ---------------------------------------------------------------------------------------------------------------


def _table(result: "MethodComparison", measure: str, shown: float) -> Table:
    columns = {"Method": "text", "Type I error": "percent", "SE": "percent.1?", "Power": "percent"}
    columns |= {"SE of power": "percent.1?", "Agreement": "percent?", "Contradicted": "count", "Expert labels": "count"}
    rows = []
    for method, one in _at(result, measure, shown).items():
        first, first_se, second_se, same = map(_share, (one.type_1, one.type_1_se, one.type_2_se, one.agreement))
        cells = (first, first_se, _power(one), second_se, same, one.reversed, one.labels_asked)
        rows.append((_title(result, method), *cells, result.contenders[method][1]))
    caption = f"Errors at {rate(shown)} wrong labels: {name(measure)}"
    return Table(caption, {**columns, "Known to the method": "text?"}, rows, first=40)


def _classifiers(result: "MethodComparison") -> Table:
    best_first = np.argsort(-result.accuracies, kind="stable")
    rows = [(name(result.names[place]), float(result.accuracies[place])) for place in best_first]
    return Table("Classifiers", {"Classifier": "text", "Accuracy on true labels": "percent"}, rows)


def _published(result: "MethodComparison") -> Section:
    """Return the figures of the source next to ours; it has no other reference than overlap."""
    rows = []
    for row in published() if result.reference == "overlap" else ():
        for one in result.tallies:
            if (one.measure.partition(" ")[0], one.noise, one.method) == (row["measure"], row["noise"], row["method"]):
                errors = row["type_1"] / 100, _share(one.type_1)
                powers = 1 - row["type_2"] / 100, _power(one)
                rows.append((_title(result, one.method), name(one.measure), *errors, *powers))
    columns = {"Method": "text", "Measure": "text", "Type I, published": "percent", "Type I": "percent"}
    columns |= {"Power, published": "percent", "Power": "percent"}
    note = f"Source: {PUBLISHED_SOURCE}. Data, classifiers and noise differ: compare the order of the methods."
    return Section("Published results", [Table("Published error rates", columns, rows, note)])
