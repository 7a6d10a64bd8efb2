"""What results about labels say: their documents."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demele.core.result import about
from demele.noise.documents import counts_document
from demele.report.document import Document, Section, Table
from demele.report.listing import drawn, table_of_frame, without_empty
from demele.report.words import count, ends, name, written

if TYPE_CHECKING:
    from demele.labels.joined.agreement_coefficients import Agreement
    from demele.labels.joined.consensus_result import Consensus
    from demele.labels.made.noise import NoisyLabels

_COEFFICIENTS = {
    "raw": "Observed agreement",
    "cohen": "Cohen's kappa (mean)",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's alpha",
}
#: Annotators with fewer answers stand last: little can be said of them.
_FEW_ANSWERS = 10
#: Items in a table, the least certain ones.
_MOST_ITEMS = 200


def agreement_document(result: "Agreement") -> Document:
    """Say how far annotators agree, by coefficient, class and annotator."""
    rows = [(title, getattr(result, key), ends(result.intervals.get(key))) for key, title in _COEFFICIENTS.items()]
    table = Table("Agreement", {"Coefficient": "text", "Value": "number", "Interval": "number"}, rows)
    people, _ = table_of_frame("Annotators", result.per_annotator, {"with_rest": "percent"})
    shares = {"share": "percent", "agreement": "percent"}
    classes, _ = table_of_frame("Classes", result.per_class, shares)
    sizes = [count(result.n_annotators, "annotator"), count(result.n_items, "item")]
    alpha = "undefined" if math.isnan(result.krippendorff) else written(result.krippendorff)
    pairs = f"{written(result.raw, 'percent')} of the pairs of answers"
    return Document(
        kind="Agreement of annotators",
        headline=f"Annotators agree on {pairs}; Krippendorff's alpha is {alpha}.",
        figure=drawn(table, "Value", zero=0.0),
        table=table,
        scope=(*sizes, count(result.n_answers, "answer"), f"{result.scale} scale"),
        sections=[
            Section("Measures", [table]),
            Section("Classes", [classes]),
            Section("Annotators", [people]),
        ],
        methods=[
            f"Agreement of {sizes[0]} about {sizes[1]} was",
            "measured with demele [@demele]: observed agreement, Cohen's and Fleiss' kappa, and Krippendorff's alpha",
            f"on a {result.scale} scale.",
            *[f"Intervals: {one.method}." for one in list(result.intervals.values())[:1]],
        ],
        **about(result),
    )


def noisy_document(result: "NoisyLabels") -> Document:
    """Return the document on added noise: the number of wrong labels by class, and their confusions."""
    made, counts = counts_document(result.counts, level=None), result.counts
    asked = "" if result.wanted is None else f" (asked for: {written(result.wanted, 'percent')})"
    wrong = f"{written(counts.wrong, 'count')} of {count(counts.n, 'label')} were made wrong"
    source = "" if result.source is None else f"The labels are the predictions of {name(result.source)}."
    most = "" if result.highest_rate is None else written(result.highest_rate, "percent")
    return replace(
        made,
        kind="Label noise",
        title="Label noise",
        headline=f"{wrong}: {written(result.rate, 'percent')}{asked}.",
        sentences=[source, f"These annotators can make at most {most} of the labels wrong." if most else ""],
    )


def consensus_document(result: "Consensus") -> Document:
    """Say how certain the joined labels are and how many differ from the majority vote, by class and annotator."""
    n, tied = len(result.items), int(result.tied.sum())
    answers, people = count(int(result.n_answers.sum()), "answer"), count(len(result.annotators), "annotator")
    apart = int((result.labels != result.majority).sum())
    differing = f"{written(apart, 'count')} ({written(apart / n, 'percent')}) differ from the majority vote"
    sure = f"Labels of {count(n, 'item')} have a mean confidence of {written(result.confidence.mean(), 'percent')}"
    spans = result.intervals.get("proportions", [None] * len(result.classes))
    rows = [
        (name(of), float(value), int((result.labels == of).sum()), int((result.majority == of).sum()), ends(span))
        for of, value, span in zip(result.classes, result.proportions, spans, strict=True)
    ]
    columns = {"Class": "text", "Share": "percent", "Items": "count", "Majority vote": "count"}
    table = without_empty(Table("Classes", {**columns, "Interval of the share": "percent"}, rows))
    least = result.to_frame().sort_values("confidence", kind="stable").head(_MOST_ITEMS)
    items, _ = table_of_frame("Least certain items", least, {"confidence": "percent"})
    steps = count(result.iterations, "iteration")
    converged = {True: f"Converged after {steps}.", False: f"NOT converged after {steps}.", None: ""}
    return Document(
        kind="Consensus of annotators",
        headline=f"{sure}; {differing}.",
        sentences=[
            f"{count(tied, 'item has', 'items have')} a tied majority vote." if tied else "",
            converged[result.converged],
            "Confidence is not accuracy: it assumes that annotators err independently.",
        ],
        figure=drawn(table, "Share", caption="Share of each class", zero=0.0),
        table=table,
        scope=(f"method {result.method}", people, answers),
        sections=[
            Section("Classes", [table]),
            Section("Annotators", [annotators_table(result)]),
            Section("Disagreements", [items]),
        ],
        methods=[
            f"{answers} of {people} about {count(n, 'item')} were joined with demele [@demele]",
            f"(method {result.method}).",
        ],
        **about(result),
    )


def annotators_table(result: "Consensus") -> Table:
    """Return a row for each annotator, the least informative first.

    Accuracy flatters annotators who always give the commonest class.
    """
    frame = result.annotator_frame()
    order = np.lexsort((frame["informativeness"], frame["answers"] < _FEW_ANSWERS))
    table, _ = table_of_frame("Annotators", frame.iloc[order], {"accuracy": "percent"})
    note = (
        "Accuracy: expected share of true answers. Informativeness: share of the entropy of the classes that answers "
        f"explain. Least informative first, those with fewer than {_FEW_ANSWERS} answers last."
    )
    return replace(table, note=note)
