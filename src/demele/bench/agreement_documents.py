"""What the agreement between metrics says: its document, whose parts a study shows too."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from demele.bench.agreement_print import PublishedAgreement, published_agreement
from demele.core.result import about
from demele.metrics.catalogue import CATALOGUE
from demele.report.document import Block, Cell, Choice, Document, Heat, Pill, Section, Span, Table
from demele.report.listing import Column, listed
from demele.report.words import count, joined, name, rate, written

if TYPE_CHECKING:
    from demele.bench.agreement_result import Agreement, PairAgreement, RankMatrix

_TITLES = {
    "all": "All configurations",
    "without collapsed": "Without collapsed ones",
    "permuted": "Permuted factors",
    "within groups": "Within groups",
}
_PILLS = {
    "significant": Pill("significant", "good", 3),
    "significant alone": Pill("before correction", "open", 2),
    "not significant": Pill("not significant", "none", 1),
    "undefined": Pill("undefined", "none"),
}
#: A larger grid is slow to lay out in a browser.
_MOST_METRICS = 60


def agreement_document(result: "Agreement") -> Document:
    """Say which metrics rank configurations the same way."""
    alone, corrected = result.matrix().lines
    table = _pairs(result)
    sizes = [count(len(result.metrics), "metric"), count(len(result.configurations), "configuration")]
    return Document(
        kind="Agreement between metrics",
        headline=_headline(result.pairs()),
        figure=_matrices(result),
        table=table,
        scope=sizes,
        sections=[
            Section("Measures", [_measures(result), _stability(result)]),
            Section("Agreement matrix", [table]),
            Section("Published results", [_published(result)]),
        ],
        methods=[
            f"Rankings of {sizes[1]} by",
            f"{sizes[0]} were compared by Kendall's tau-b with demele [@demele].",
            f"Pairs were tested at {rate(1 - result.level)} with Bonferroni's correction: a |tau| of about",
            f"{written(corrected, 'number.2')} is significant, and {written(alone, 'number.2')} before correction.",
            f"Intervals are percentiles of resampled configurations ({rate(result.level)}, seed {result.seed}).",
        ],
        **about(result),
    )


def title_of_metric(metric: str) -> str:
    """Return the title of a metric; one without a catalogue entry keeps its name."""
    return name(CATALOGUE[metric].title if metric in CATALOGUE else metric)


# Sentences ------------------------------------------------------------------------------------------------------------


def _headline(pairs: "Sequence[PairAgreement]") -> str:
    found = [pair for pair in pairs if pair.verdict == "significant"]
    against = sum(pair.tau < 0 for pair in found)
    split = f" ({len(found) - against} positively, {against} negatively)" if found else ""
    verb = "correlates" if len(found) == 1 else "correlate"
    return f"{len(found)} of {count(len(pairs), 'metric pair')} {verb} significantly{split}."


# Figures and tables ---------------------------------------------------------------------------------------------------


def _matrices(result: "Agreement") -> Choice:
    """Return a heat map of each matrix, and of each published one of these metrics."""
    shown = [result.metrics[place] for place in result.order][:_MOST_METRICS]
    null = " Without colour: no more than with permuted factors." if "permuted" in result.matrices else ""
    ring = f"A ring: significant after Bonferroni's correction.{null}"
    panels: dict[str, list[Block]] = {}
    for key, title in _TITLES.items():
        pairs = {(one.first, one.second): one for one in result.pairs(key)} if key in result.matrices else {}
        pairs |= {(second, first): one for (first, second), one in pairs.items()}
        panels |= {title: [_heat(f"Kendall's tau: {title}", shown, pairs), ring]} if pairs else {}
    for printed in _printed(result):
        names = [metric for metric in shown if metric in printed.metrics]
        titles = list(map(title_of_metric, names))
        values = [[None if one == other else printed.tau(one, other) for other in names] for one in names]
        caption = f"Published: {printed.title}"
        panels[caption] = [Heat(caption, titles, titles, values, "number.2", ("metric", "metric"), "both ways")]
    return Choice("Matrix", panels)


def _heat(caption: str, shown: Sequence[str], pairs: "Mapping[tuple[str, str], PairAgreement]") -> Heat:
    titles, found = list(map(title_of_metric, shown)), [[pairs.get((one, other)) for other in shown] for one in shown]
    values = [[None if one is None else one.tau for one in row] for row in found]
    cells = [(i, j, one) for i, row in enumerate(found) for j, one in enumerate(row) if one is not None]
    rings = frozenset((i, j) for i, j, one in cells if one.verdict == "significant")
    struck = frozenset((i, j) for i, j, one in cells if one.within_null)
    return Heat(caption, titles, titles, values, "number.2", ("metric", "metric"), "both ways", rings, struck)


def _span(low: float, high: float) -> Span | None:
    return None if math.isnan(low) else (low, high)


def _pairs(result: "Agreement") -> Table:
    printed = _printed(result)

    def published(one: "PairAgreement", found: PublishedAgreement) -> Cell:
        return found.tau(one.first, one.second) if {one.first, one.second} <= set(found.metrics) else None

    columns: list[Column[PairAgreement]] = [
        ("Metric", "text", lambda one: title_of_metric(one.first)),
        ("Other metric", "text", lambda one: title_of_metric(one.second)),
        ("tau", "number.2", "tau"),
        ("Interval", "number.2", lambda one: _span(one.low, one.high)),
        ("p", "p?", "p_value"),
        ("Result", "text", lambda one: _PILLS[one.verdict]),
        *((f"{of.title}, published", "number.2?", lambda one, of=of: published(one, of)) for of in printed),
    ]
    strongest = sorted(result.pairs(), key=lambda pair: 0.0 if math.isnan(pair.tau) else -abs(pair.tau))
    return listed("Pairs of metrics", strongest, columns)


def _measures(result: "Agreement") -> Table:
    """Return how many pairs are significant, and how large taus are, in each matrix."""
    columns: list[Column[RankMatrix]] = [
        ("Matrix", "text", lambda one: _TITLES[one.name]),
        ("Configurations", "count", "configurations"),
        ("Significant pairs", "count", lambda one: one.verdicts.count("significant")),
        ("Mean |tau|", "number.2", "mean_size.value"),
        ("Interval", "number.2", lambda one: _span(one.mean_size.low, one.mean_size.high)),
    ]
    return listed("Matrices", result.matrices.values(), columns)


def _stability(result: "Agreement") -> Table:
    found = {(one.metric, one.between): one.tau for one in result.stability}
    best = {one.metric: one for one in result.best}
    columns: list[Column[str]] = [
        ("Metric", "text", title_of_metric),
        *(
            (f"tau between {key}", "number.2", lambda metric, key=key: found.get((metric, key)))
            for key in dict.fromkeys(one.between for one in result.stability)
        ),
        ("Best configuration", "text", lambda metric: name(best[metric].configuration) if metric in best else None),
        ("Remains best", "percent?", lambda metric: best[metric].stays if metric in best else None),
    ]
    whole = [f"{key} {written(value, 'number.2')}" for key, value in result.matrix_stability.items()]
    note = f"Correlation of all taus: {joined(whole)}." if whole else ""
    return listed("Stability of rankings", result.metrics, columns, note)


def _published(result: "Agreement") -> Table:
    columns: list[Column[Any]] = [
        ("Matrix", "text", lambda row: _TITLES[row["matrix"]]),
        ("Published", "text", lambda row: published_agreement(row["published"]).title),
        ("Disputed pairs", "text?", "disputed"),
        ("Pairs", "count", "pairs"),
        ("r", "number.2", "r"),
        ("Interval", "number.2", lambda row: _span(row["r_low"], row["r_high"])),
        ("Same sign", "percent", "same_sign"),
        ("Mean difference", "number.2", "difference"),
    ]
    sources = " ".join(f"{printed.title}: {printed.source}." for printed in _printed(result))
    return listed("Similarity to published matrices", result.likeness_rows(), columns, sources)


def _printed(result: "Agreement") -> list[PublishedAgreement]:
    return [published_agreement(key) for key in result.comparable()]
