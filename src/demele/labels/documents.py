"""What results about labels say: their documents."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demele.core.result import about
from demele.noise.transition import counts_document
from demele.report.document import Document, Section, Table
from demele.report.listing import Column, drawn, listed, table_of_frame, without_empty
from demele.report.words import count, ends, joined, name, rate, written

if TYPE_CHECKING:
    from demele.labels.cleaned.cleaning import Cleaning
    from demele.labels.cleaned.harm import ClassHarm, Harm
    from demele.labels.joined.agreement_coefficients import Agreement
    from demele.labels.joined.voting import Consensus
    from demele.labels.made.noise import NoisyLabels

_COEFFICIENTS = {
    "raw": "Observed agreement",
    "cohen": "Cohen's kappa (mean)",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's alpha",
}
#: Annotators with fewer answers stand last: little can be said of them.
_FEW_ANSWERS = 10
#: Items in a table, the least certain ones, and suspected labels, the most suspicious ones.
_MOST_ITEMS, _MOST_SUSPECTS = 200, 500


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
    noisy = replace(
        made,
        kind="Label noise",
        title="Label noise",
        headline=f"{wrong}: {written(result.rate, 'percent')}{asked}.",
        sentences=[
            source,
            f"These annotators can make at most {most} of the labels wrong." if most else "",
            "" if result.annotators is None else result.annotators.headline(),
        ],
    )
    if not result.others:
        return noisy
    columns = {"Rate": "percent", "Wrong labels": "percent", "Rows": "count"}
    rates = [(one.wanted, one.rate, one.n) for one in result.versions]
    return replace(noisy, table=Table("Rates", columns, rates), sections=())


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


# Cleaning -------------------------------------------------------------------------------------------------------------


def cleaning_document(result: "Cleaning") -> Document:
    """Say how many labels are suspected, and which are the most suspicious."""
    n, found = result.suspect.size, result.n_suspects
    frame = result.worst(_MOST_SUSPECTS).head(found).drop(columns="suspect").rename_axis("row")
    table, _ = table_of_frame("Suspected labels", frame)
    shares = [("suspected", found), ("others", n - found)]
    left = f"The {_MOST_SUSPECTS} most suspicious of {written(found, 'count')} are listed."
    read = None if result.signature is None else result.signature.arguments.get("kind")
    return Document(
        kind="Cleaning",
        headline=f"{written(found, 'count')} of {count(n, 'label')} are suspected: {_share(found, n)}.",
        figure=drawn(Table("Labels", {"": "text", "Labels": "count"}, shares), "Labels", bar=True),
        table=table,
        scope=[f"method {name(result.method)}" if result.method else "", f"read from {read}" if read else ""],
        sections=[Section("Label errors", [table, left if found > _MOST_SUSPECTS else ""])],
        **about(result),
    )


def harm_document(result: "Harm") -> Document:
    """Say whether rare classes lose more labels in a cleaning than the others."""
    every = result.overall
    harmed = [name(one) for note in result.notes if note.code == "minority-harm" for one in note.subject]
    what, suspected = "correct labels" if result.true else "labels", _share(every.suspected, every.instances)
    if every.suspected == 0:
        headline = "No label is suspected, so that no class loses any."
    elif len(result.rarest) < len(result.loss):
        rarest = f"class ({name(result.rarest[0])}) loses" if len(result.rarest) == 1 else "classes lose"
        times = written(result.ratio, "number.2")
        headline = f"The rarest {rarest} {what} at {times} times the mean rate of all classes."
    else:
        headline = f"No class is rarer than the others; {suspected} of the labels are suspected."
    of_right, of_wrong = (written(share, "percent") for share in (every.false_alarms, every.detected))
    rare = sorted(result.given, key=lambda one: one.instances)
    tables = [_harm_table("By given label", [*rare, every])]
    tables += [_harm_table("By true class", result.true)] if result.true else []
    share = "Of the correct" if "Of the correct" in tables[0].columns else "Share"
    return Document(
        kind="Cost of a cleaning",
        headline=headline,
        tone="bad" if harmed else "",
        sentences=[
            f"{written(every.suspected, 'count')} of {count(every.instances, 'label')} are suspected.",
            f"Among them are {of_right} of the correct labels and {of_wrong} of the wrong ones." if result.true else "",
            f"Significantly more {what} than others lose: {joined(harmed)}." if harmed else "",
        ],
        figure=drawn(tables[0], share, caption=f"Share of the {what} that are suspected", most=len(rare)),
        table=tables[0],
        scope=[f"method {name(result.method)}" if result.method else ""],
        sections=[Section("Classes", tables)],
        methods=[
            "Suspected labels were counted by class with demele [@demele].",
            f"Intervals are those of Wilson, level {rate(result.level)}. Each minority class was compared with all",
            "others by Fisher's exact test, one-sided, with Holm's correction [@holm1979simple].",
        ],
        **about(result),
    )


def _harm_table(caption: str, lines: "Sequence[ClassHarm]") -> Table:
    """Return a row for each class; what only true labels say has columns where they are known."""
    columns: list[Column[ClassHarm]] = [
        ("Class", "text", lambda one: "all" if one.of is None else name(one.of)),
        ("Labels", "count", "instances"),
        ("Suspected", "count", "suspected"),
        ("Share", "percent", "share"),
        ("Interval", "percent?", "interval"),
        ("Of the correct", "percent", "false_alarms"),
        ("Of the correct interval", "percent?", "false_alarm_interval"),
        ("Of the wrong", "percent", "detected"),
        ("Before", "percent", "before"),
        ("After", "percent", "after"),
    ]
    return listed(caption, lines, columns, "Before and after: share of the class among all labels.")


def _share(part: int, whole: int) -> str:
    return written(part / max(whole, 1), "percent")
