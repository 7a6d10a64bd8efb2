"""Documents of one classifier: its assessment and confusion counts; and the parts that comparisons share with them."""

import math
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.result import about
from demele.core.signature import Signature
from demele.report.document import (
    NOTHING,
    Cell,
    Document,
    Heat,
    Mark,
    Section,
    Strip,
    Strips,
    Table,
)
from demele.report.listing import Column, Thing, listed
from demele.report.words import (
    count,
    digits_for,
    ends,
    is_missing,
    joined,
    name,
    rate,
    title_of,
    written,
)

if TYPE_CHECKING:
    from demele.classifiers.measures.assess import Assessment
    from demele.classifiers.measures.confusion import ConfusionCounts
    from demele.classifiers.results import Estimate

#: What an interval on true labels allows for, by its kind.
_KINDS = {"worst-case": "worst case", "bias-union": "worst case", "shifted": "bias known", "design": "audit"}
_WORDS = {
    "f1": "F1", "macro-f1": "macro F1", "balanced-accuracy": "balanced accuracy", "matthews": "Matthews correlation",
}  # fmt: skip


def measure_of(measure: str, of: object = None, *, method: str = "") -> str:
    """Return what a measure is called in a sentence: ``accuracy``, ``precision of class cat``."""
    if method == "agreement":
        return "agreement with the reference"
    word = _WORDS.get(measure, measure)
    return word if of is None else f"{word} of class {name(of)}"


def true_labels_title(kinds: Iterable[str]) -> str:
    """Return the title of a column of intervals on true labels."""
    known = next((_KINDS[kind] for kind in kinds if kind in _KINDS), "")
    return f"True labels ({known})" if known else "True labels"


def estimate_columns(
    estimates: "Sequence[Estimate]", level: float, of: "Callable[[Thing], Estimate]"
) -> list[Column[Thing]]:
    """Return the columns of estimates, each of a thing: observed, its interval, and the interval on true labels."""
    whole = [one for one in estimates if one.of is None] or estimates
    digits = digits_for(ends(one.interval) for one in whole)
    form, kinds = f"percent.{digits}", [one.corrected.kind for one in estimates if one.corrected is not None]
    return [
        ("Observed", form, lambda thing: of(thing).value),
        (f"{rate(level)} interval", form, lambda thing: of(thing).interval),
        (true_labels_title(kinds), form, lambda thing: of(thing).corrected),
    ]


def estimate_strips(rows: "Iterable[tuple[str, Estimate]]", caption: str) -> Strips:
    """Return observed values with their intervals, and below them the intervals on true labels."""
    strips, series = [], {0: "observed, with its interval"}
    for title, one in rows:
        observed = [] if one.interval is None else [Mark("span", one.interval.low, one.interval.high)]
        true = [] if one.corrected is None else [Mark("span", one.corrected.low, one.corrected.high, 1)]
        series |= {1: "on true labels"} if true else {}
        strips.append(Strip(title, [*observed, Mark("dot", one.value), *true], written(one.value, "percent")))
    return Strips(caption, strips, "percent", series=series)


def rests_on(result: Any, audited: object = None) -> list[str]:
    """Return what was given otherwise, and what a result assumes."""
    said = {"method", "measure", "of", "level", "inference", "correction"}
    signature: Signature = result.signature
    given = [f"{key} = {value!r}" for key, value in signature.arguments.items() if key not in said]
    assumed = "; ".join(str(one).rstrip(".") for one in result.assumptions)
    return [
        f"Given: {'; '.join(given)}." if given else "",
        f"An expert labelled {count(int(str(audited)), 'row')}." if audited else "",
        f"Assumed: {assumed}." if assumed else "",
    ]


_OF_CLASSES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
#: Classes of least F1 in the table of all measures, and classes of a confusion matrix that can be read.
_MOST_CLASSES, _READABLE = 20, 50


def assessment_document(result: "Assessment") -> Document:
    """Say how accurate a classifier is on the given labels and on true ones, as a whole and class by class."""
    whole, classes = split(result)
    ordered = sorted(whole, key=lambda one: one.of is not None)
    titled = [(title_of(f"{one.of or ''} {measure_of(one.measure)}".strip()), one) for one in ordered]
    weakest = sorted(classes, key=lambda of: np.nan_to_num(classes[of]["f1"].value, nan=-math.inf))
    shown = [of for of in classes if of in weakest[:_MOST_CLASSES]]
    table = _measures_table(titled + [(f"F1, {name(of)}", classes[of]["f1"]) for of in shown], result.level)
    known = [of for of in weakest if not is_missing(classes[of]["f1"].value)][:3]
    least = joined(f"\u201c{name(of)}\u201d {written(classes[of]['f1'].value, 'percent')}" for of in known)
    corrected = any(one.corrected is not None for own in classes.values() for one in own.values())
    columns = {"Class": "text", "Labelled": "count", "Predicted": "count"}
    for title in _OF_CLASSES.values():
        columns |= {title: "percent", f"{title}, {'true labels' if corrected else 'interval'}": "percent"}
    rows = []
    for of in weakest:
        own = [classes[of][measure] for measure in _OF_CLASSES]
        cells = [cell for one in own for cell in (one.value, ends(one.corrected if corrected else one.interval))]
        rows.append((name(of), own[1].trials, own[0].trials, *cells))
    methods = sorted({one.interval.method for one in result.estimates if one.interval is not None})
    cited = " [@wilson1927probable]" if "score" in methods else ""
    scope = [count(result.n, "row"), count(len(result.classes), "class", "classes"), f"level {rate(result.level)}"]
    strips = [(title, one) for title, one in titled if not is_missing(one.value) and one.measure != "error"]
    return Document(
        kind="Assessment of a classifier",
        headline=_assessment_headline(result),
        sentences=[_bias_says(whole), f"Lowest F1 by class: {least}." if len(classes) > 1 and known else ""],
        figure=estimate_strips(strips, "Measures"),
        table=table,
        scope=scope,
        sections=[
            Section("Measures", [_measures_table(titled, result.level)]),
            Section("Classes", [Table("Classes, least F1 first", columns, rows)]),
            _confusion(result.confusion),
        ],
        methods=[
            f"A classifier was assessed on {', '.join(scope[:2])} with demele [@demele].",
            f"Intervals have level {rate(result.level)}, each by itself ({joined(methods)}{cited}). Macro averages are",
            "means over classes, weighted ones are weighted by the labels of each class.",
            *rests_on(result),
        ],
        **about(result),
    )


def split(result: "Assessment") -> "tuple[list[Estimate], dict[Any, dict[str, Estimate]]]":
    """Return the estimates of all classes, and the others by class and measure; a class may be called "macro" too."""
    whole: list[Estimate] = []
    found: dict[Any, dict[str, Estimate]] = {of: {} for of in result.classes}
    for one in result.estimates:
        own = found.get(one.of) if one.of is not None else None
        if own is None or one.measure in own:
            whole.append(one)
        else:
            own[one.measure] = one
    return whole, {of: own for of, own in found.items() if own}


def _assessment_headline(result: "Assessment") -> str:
    one = result["accuracy"]
    if is_missing(one.value):
        return "The accuracy is undefined."
    digits = digits_for([ends(one.interval)])
    observed = f"{written(one.value, f'percent.{digits}')} {written(ends(one.interval), f'percent.{digits}')}"
    if one.corrected is None:
        return f"The observed accuracy is {observed} on {count(result.n, 'row')}."
    right = ends(one.corrected)
    span = written(right, f"percent.{digits_for([right])}")
    return f"The accuracy on true labels is in {span}; observed: {observed}."


def _bias_says(whole: "Sequence[Estimate]") -> str:
    """Say by how much label errors change the accuracy."""
    bias = next(one.bias for one in whole if one.measure == "accuracy")
    if bias is None:
        return "Nothing is known of the label errors, so the accuracy on true labels may be higher or lower."
    low, high = bias
    if low == high:
        side = "above" if low > 0 else "below"
        return f"The observed accuracy is {_pp(low)} pp {side} that on true labels." if low else ""
    ends = f"at most {_pp(max(high, 0.0))} pp too high and at most {_pp(min(low, 0.0))} pp too low"
    return f"Label errors make the observed accuracy {ends}."


def _pp(share: float) -> str:
    return written(abs(share), "points").lstrip("+")


def _measures_table(rows: "Sequence[tuple[str, Estimate]]", level: float) -> Table:
    estimate: Callable[[tuple[str, Estimate]], Estimate] = itemgetter(1)

    def bias(row: "tuple[str, Estimate]") -> Cell:
        ends = row[1].bias
        return ends[0] if ends is not None and ends[0] == ends[1] else ends

    columns: list[Column[tuple[str, Estimate]]] = [
        ("Measure", "text", itemgetter(0)),
        *estimate_columns([one for _, one in rows], level, estimate),
        ("Bias (pp)", "points?", bias),
    ]
    return listed("Measures", rows, columns, "Bias: observed minus true labels, a range where it is bounded.")


def confusion_document(result: "ConfusionCounts") -> Document:
    """Say how often each class is predicted for each class."""
    right = "undefined" if is_missing(result.accuracy) else written(result.accuracy, "percent")
    columns = {"Class": "text", "Rows": "count", "Predicted": "count"}
    columns |= dict.fromkeys(_OF_CLASSES.values(), "percent")
    measures = [result.measure(key).tolist() for key in _OF_CLASSES]
    sizes = [one.tolist() for one in (result.support, result.predicted)]
    rows = list(zip(map(name, result.classes), *sizes, *measures, strict=True))
    table = Table("Classes", columns, rows)
    return Document(
        kind="Confusion counts",
        headline=f"The accuracy against the {result.truth} is {right}.",
        figure=next((one for one in _confusion(result).shown if isinstance(one, Heat)), None),
        table=table,
        scope=[count(result.n, "row"), count(len(result.classes), "class", "classes")],
        sections=[Section("Classes", [table])],
        methods=[
            f"Predictions of {count(result.n, 'row')} were counted against the {result.truth} with demele [@demele]."
        ],
        **about(result),
    )


def _confusion(result: "ConfusionCounts") -> Section:
    counts = np.asarray(result.counts)
    if len(result.classes) > _READABLE or not counts.size:
        return NOTHING
    names = list(map(name, result.classes))
    axes = (f"{'true' if result.rows == 'true' else 'given'} label", "predicted")
    heat = Heat("Confusion matrix", names, names, counts.tolist(), "count", axes, "row")
    wrong = sorted(((int(n), i, j) for (i, j), n in np.ndenumerate(counts) if i != j and n), reverse=True)[:10]
    by_row, by_column = counts.sum(axis=1), counts.sum(axis=0)
    rows = [(names[i], names[j], n, n / by_row[i], n / by_column[j]) for n, i, j in wrong]
    columns = {title_of(axes[0]): "text", "Predicted": "text", "Rows": "count"}
    columns |= {f"Of this {axes[0]}": "percent", "Of these predictions": "percent"}
    return Section("Confusion matrix", [heat, Table("Most frequent errors", columns, rows) if rows else None])
