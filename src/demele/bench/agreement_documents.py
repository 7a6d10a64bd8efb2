"""What the agreement between metrics says: its document, whose parts a study shows too."""

import math
from typing import TYPE_CHECKING

from demele.bench.agreement_print import PublishedAgreement, published_agreement
from demele.core.result import about
from demele.metrics.catalogue import CATALOGUE
from demele.report.document import Block, Cell, Choice, Document, Heat, Pill, Section, Span, Table
from demele.report.listing import without_empty
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
_MOST_METRICS, _NAMED = 60, 2


def agreement_document(result: "Agreement") -> Document:
    """Say which metrics rank configurations the same way."""
    matrix = result.matrix()
    alone, corrected = matrix.lines
    return Document(
        kind="Agreement between metrics",
        headline=agreement_headline(result),
        sentences=agreement_sentences(result),
        figure=agreement_figure(result),
        table=_pairs(result),
        scope=[count(len(result.metrics), "metric"), count(len(result.configurations), "configuration")],
        sections=agreement_sections(result),
        methods=[
            f"Rankings of {count(len(result.configurations), 'configuration')} by",
            f"{count(len(result.metrics), 'metric')} were compared by Kendall's tau-b with demele [@demele].",
            f"Pairs were tested at {rate(1 - result.level)} with Bonferroni's correction: a |tau| of about",
            f"{written(corrected, 'number.2')} is significant, and {written(alone, 'number.2')} before correction.",
            f"Intervals are percentiles of resampled configurations ({rate(result.level)}, seed {result.seed}).",
        ],
        **about(result),
    )


def agreement_headline(result: "Agreement") -> str:
    """Return how many pairs of metrics correlate significantly."""
    pairs = result.pairs()
    found = [pair for pair in pairs if pair.verdict == "significant"]
    against = sum(pair.tau < 0 for pair in found)
    split = f" ({len(found) - against} positively, {against} negatively)" if found else ""
    verb = "correlates" if len(found) == 1 else "correlate"
    return f"{len(found)} of {count(len(pairs), 'metric pair')} {verb} significantly{split}."


def agreement_sentences(result: "Agreement") -> list[str]:
    """Return the strongest pairs, and what collapsed models, chance and published matrices have to do with it."""
    return [_strongest(result), _without(result), _null(result), _published_sentence(result)]


def agreement_figure(result: "Agreement") -> Choice:
    """Return a heat map of each matrix, and of each published one of these metrics."""
    shown = [result.metrics[place] for place in result.order][:_MOST_METRICS]
    null = " Without colour: no more than with permuted factors." if "permuted" in result.matrices else ""
    ring = f"A ring: significant after Bonferroni's correction.{null}"
    panels: dict[str, list[Block]] = {}
    for key, matrix in result.matrices.items():
        pairs = {frozenset((one.first, one.second)): one for one in result.pairs(key)}
        panels[_TITLES[key]] = [_heat(_TITLES[key], matrix, pairs, shown), ring]
    for printed in _printed(result):
        names = [metric for metric in shown if metric in printed.metrics]
        values = [[None if one == other else printed.tau(one, other) for other in names] for one in names]
        titles = [title_of_metric(metric) for metric in names]
        caption = f"Published: {printed.title}"
        panels[caption] = [Heat(caption, titles, titles, values, "number.2", ("metric", "metric"), "both ways")]
    return Choice("Matrix", panels)


def agreement_sections(result: "Agreement") -> list[Section]:
    """Return stability, pairs and published matrices."""
    return [
        Section("Measures", [_stability(result)]),
        Section("Agreement matrix", [_pairs(result)]),
        _published(result),
    ]


def title_of_metric(metric: str) -> str:
    """Return the title of a metric; one without a catalogue entry keeps its name."""
    return name(CATALOGUE[metric].title if metric in CATALOGUE else metric)


def _span(low: float, high: float) -> Span | None:
    return None if math.isnan(low) else (low, high)


def _tau(value: float, low: float, high: float) -> str:
    span = _span(low, high)
    return written(value, "number.2") + ("" if span is None else f" {written(span, 'number.2')}")


# Sentences ------------------------------------------------------------------------------------------------------------


def _strongest(result: "Agreement") -> str:
    found = sorted((one for one in result.pairs() if one.verdict == "significant"), key=lambda one: -one.tau)
    titles = (f"{title_of_metric(one.first)} and {title_of_metric(one.second)}" for one in found)
    told = [f"{title} ({written(one.tau, 'number.2')})" for title, one in zip(titles, found, strict=True)]
    high = [text for text, one in zip(told, found, strict=True) if one.tau > 0][:_NAMED]
    parts = [f"Highest tau: {joined(high)}."] * bool(high)
    return " ".join([*parts, *[f"Lowest: {text}." for text in told[-1:] if found[-1].tau < 0]])


def _without(result: "Agreement") -> str:
    kept = result.matrices.get("without collapsed")
    left_out = 0 if kept is None else len(result.configurations) - kept.configurations
    if kept is None or not left_out:
        return ""
    pairs = count(kept.verdicts.count("significant"), "pair")
    verb = "is" if kept.verdicts.count("significant") == 1 else "are"
    return f"Without {count(left_out, 'collapsed configuration')}, {pairs} {verb} significant."


def _null(result: "Agreement") -> str:
    if "permuted" not in result.matrices:
        return ""
    sizes = [_tau(*result.matrix(key).mean_size) for key in ("permuted", "all")]
    return f"Mean |tau| is {sizes[0]} with permuted factors and {sizes[1]} with the factors."


def _published_sentence(result: "Agreement") -> str:
    told = [
        f"{published_agreement(row['published']).title} (r = {_tau(row['r'], row['r_low'], row['r_high'])})"
        for row in result.likeness_rows()
        if row["matrix"] == "all" and row["disputed"] == "kept" and not math.isnan(row["r"])
    ]
    return f"Correlation with the published matrices: {joined(told)}." if told else ""


# Figures and tables ---------------------------------------------------------------------------------------------------


def _heat(title: str, matrix: "RankMatrix", pairs: "dict[frozenset[str], PairAgreement]", shown: list[str]) -> Heat:
    taus = matrix.table()
    values = [[None if one == other else float(taus[one][other]) for other in shown] for one in shown]
    places = [
        (i, j, pairs[frozenset((one, other))])
        for i, one in enumerate(shown)
        for j, other in enumerate(shown)
        if one != other
    ]
    rings = frozenset((i, j) for i, j, pair in places if pair.verdict == "significant")
    struck = frozenset((i, j) for i, j, pair in places if pair.within_null)
    titles = [title_of_metric(metric) for metric in shown]
    return Heat(
        f"Kendall's tau: {title}", titles, titles, values, "number.2", ("metric", "metric"), "both ways", rings, struck
    )


def _pairs(result: "Agreement") -> Table:
    others = [key for key in result.matrices if key != "all"]
    taus = {key: {frozenset((one.first, one.second)): one.tau for one in result.pairs(key)} for key in others}
    printed = _printed(result)
    columns = {"Metric": "text", "Other metric": "text", "tau": "number.2", "Interval": "number.2", "p": "p?"}
    minor = [*(_TITLES[key] for key in others), *(f"{one.title}, published" for one in printed)]
    columns |= {"Result": "text", **dict.fromkeys(minor, "number.2?")}
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(result.pairs(), key=lambda pair: 0.0 if math.isnan(pair.tau) else -abs(pair.tau)):
        both = frozenset((one.first, one.second))
        own = (*map(title_of_metric, (one.first, one.second)), one.tau, _span(one.low, one.high), one.p_value)
        elsewhere = (found.tau(one.first, one.second) if both <= set(found.metrics) else None for found in printed)
        rows.append((*own, _PILLS[one.verdict], *(taus[key].get(both) for key in others), *elsewhere))
    return Table("Pairs of metrics", columns, rows)


def _stability(result: "Agreement") -> Table:
    between = list(dict.fromkeys(one.between for one in result.stability))
    found = {(one.metric, one.between): one.tau for one in result.stability}
    best = {one.metric: one for one in result.best}
    columns = {"Metric": "text", **{f"tau between {key}": "number.2" for key in between}}
    columns |= {"Best configuration": "text", "Remains best": "percent?"}
    rows: list[tuple[Cell, ...]] = []
    for metric in result.metrics if between or not all(math.isnan(one.stays) for one in result.best) else ():
        taus, own = [found.get((metric, key)) for key in between], best.get(metric)
        last = (None, None) if own is None else (name(own.configuration), own.stays)
        rows.append((title_of_metric(metric), *taus, *last))
    whole = [f"{key} {written(value, 'number.2')}" for key, value in result.matrix_stability.items()]
    note = f"Correlation of all taus: {joined(whole)}." if whole else ""
    return without_empty(Table("Stability of rankings", columns, rows, note))


def _published(result: "Agreement") -> Section:
    rows = result.likeness_rows()
    columns = {"Matrix": "text", "Published": "text", "Pairs": "count", "r": "number.2", "Interval": "number.2"}
    columns |= {"Same sign": "percent", "Mean difference": "number.2"}
    cells = []
    for row in rows:
        which = published_agreement(row["published"]).title + ", undisputed" * (row["disputed"] == "left out")
        numbers = (row["pairs"], row["r"], _span(row["r_low"], row["r_high"]), row["same_sign"], row["difference"])
        cells.append((_TITLES[row["matrix"]], which, *numbers))
    sources = " ".join(f"{printed.title}: {printed.source}." for printed in _printed(result))
    return Section("Published results", [Table("Similarity to published matrices", columns, cells, sources)])


def _printed(result: "Agreement") -> list[PublishedAgreement]:
    return [published_agreement(key) for key in result.comparable()]
