"""What results about labels say: their documents."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from demele.core.result import about
from demele.noise.documents import counts_document
from demele.report.document import Document, Section, Strip, Strips, Table
from demele.report.written import count, ends, marks_of, name, written

if TYPE_CHECKING:
    from demele.labels.joined.agreement_coefficients import Agreement
    from demele.labels.made.noise import NoisyLabels

_COEFFICIENTS = {
    "raw": "Observed agreement",
    "cohen": "Cohen's kappa (mean)",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's alpha",
}


def agreement_document(result: "Agreement") -> Document:
    """Say how far annotators agree, by coefficient, class and annotator."""
    rows = [(title, getattr(result, key), ends(result.intervals.get(key))) for key, title in _COEFFICIENTS.items()]
    strips = [Strip(title, marks_of(value, span), written(value)) for title, value, span in rows]
    table = Table("Agreement", {"Coefficient": "text", "Value": "number", "Interval": "number"}, rows)
    columns = {"Annotator": "text", "Answers": "count", "Agrees with the majority": "percent", "Mean kappa": "number?"}
    people = [
        (name(who), answers, same, kappa)
        for who, answers, same, kappa in result.per_annotator[["answers", "with_rest", "cohen"]].itertuples()
    ]
    kinds = {"Class": "text", "Answers": "count", "Share": "percent", "Agreement": "percent", "Kappa": "number"}
    classes = [(name(label), *cells) for label, *cells in result.per_class.itertuples()]
    alpha = "undefined" if math.isnan(result.krippendorff) else written(result.krippendorff)
    pairs = f"{written(result.raw, 'percent')} of the pairs of answers"
    return Document(
        kind="Agreement of annotators",
        title="Agreement of annotators",
        headline=f"Annotators agree on {pairs}; Krippendorff's alpha is {alpha}.",
        figure=Strips("Agreement", strips, zero=0.0),
        table=table,
        scope=(
            count(result.n_annotators, "annotator"),
            count(result.n_items, "item"),
            count(result.n_answers, "answer"),
            f"{result.scale} scale",
        ),
        sections=[
            Section("Measures", [table]),
            Section("Classes", [Table("Classes", kinds, classes)]),
            Section("Annotators", [Table("Annotators", columns, people)]),
        ],
        method=[("Intervals", one.method) for one in list(result.intervals.values())[:1]],
        methods=[
            f"Agreement of {count(result.n_annotators, 'annotator')} about {count(result.n_items, 'item')} was",
            "measured with demele [@demele]: observed agreement, Cohen's and Fleiss' kappa, and Krippendorff's alpha",
            f"on a {result.scale} scale.",
        ],
        **about(result),
    )


def noisy_document(result: "NoisyLabels") -> Document:
    """Say how many labels were made wrong, of which class, and what they are mistaken for."""
    made, counts = counts_document(result.counts, level=None), result.counts
    asked = "" if result.wanted is None else f"; {written(result.wanted, 'percent')} were asked for"
    return replace(
        made,
        kind="Label noise",
        title="Label noise",
        headline=f"{written(counts.wrong, 'count')} of {count(counts.n, 'label')} were made wrong: "
        f"{written(result.rate, 'percent')}{asked}.",
        sentences=[
            "" if result.source is None else f"The labels are the predictions of {name(result.source)}.",
            ""
            if result.highest_rate is None
            else f"These annotators can make at most {written(result.highest_rate, 'percent')} of the labels wrong.",
        ],
    )
