"""What a cleaning of labels, and what it costs each class, say: their documents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from demele.core.result import about
from demele.report.document import Document, Section, Table
from demele.report.listing import Column, drawn, listed, table_of_frame
from demele.report.words import count, joined, name, rate, written

if TYPE_CHECKING:
    from demele.labels.cleaned.cleaning import Cleaning
    from demele.labels.cleaned.harm import ClassHarm, Harm

#: Suspects in a table, the most suspicious ones, and classes in a figure, the rarest ones.
_MOST_SUSPECTS, _MOST_CLASSES = 500, 40


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
    tables = [_table("By given label", [*rare, every])]
    tables += [_table("By true class", result.true)] if result.true else []
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


def _table(caption: str, lines: "Sequence[ClassHarm]") -> Table:
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
