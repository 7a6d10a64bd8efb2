"""What documents of scores hold to be looked up: data, notes, meanings, how numbers were made."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from demele.core.methods_documents import Scored
from demele.core.sentences import marked, sentence
from demele.report.document import Notice, Section, Table
from demele.report.listing import Column, listed
from demele.report.words import name, written

if TYPE_CHECKING:
    from demele.core.results import Score


def title_of(score: "Score") -> str:
    """Return the name of the metric as papers have it."""
    return score.facts.title or name(score.metric)


def factors_table(result: Scored) -> Table:
    """Return what was read of each factor."""
    return listed(
        "Factors",
        result.factors,
        [
            ("Factor", "text", "name"),
            ("Kind", "text", "kind"),
            ("Values", "count", "n_levels"),
            ("Annotated rows", "count", "n_annotated"),
            ("Remark", "text?", lambda one: "constant: left out" if one.constant else ""),
        ],
    )


def glossary(scores: Iterable["Score"]) -> Section:
    """Return what each metric means."""
    known = {one.metric: one for one in scores if one.facts.definition}
    columns: list[Column[Score]] = [
        ("Metric", "text", title_of),
        ("Name", "code", "metric"),
        ("Definition", "text", lambda one: one.facts.definition),
        ("Range", "text", lambda one: " to ".join(map(_end, one.facts.range))),
        ("Best", "number?", "facts.best"),
        ("Source", "text?", lambda one: one.facts.source),
    ]
    return Section("Glossary", [listed("Metrics", known.values(), columns)])


def _end(value: float) -> str:
    return written(value, "number.0" if value == round(value) else "number") if math.isfinite(value) else written(value)


def notes_of(results: Sequence[Scored]) -> list[Notice]:
    """Return notes, of whole evaluations and of scores, and why metrics have no score: each text once."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    texts: dict[str, str] = {}
    several = len(results) > 1

    def add(text: str, severity: str, *who: str) -> None:
        texts.setdefault(str(text), text)
        found.setdefault((str(text), severity), {}).update(dict.fromkeys(filter(None, who)))

    for result in results:
        own = name(result.name) if several else ""
        for note in result.notes:
            add(note.message, note.severity, own)
        for score in result.scores:
            corrected = () if score.corrected is None else score.corrected.notes
            for note in (*score.notes, *corrected):
                add(note.message, note.severity, title_of(score), own)
        for gap in result.left_out:
            add(sentence(f"no score of {gap.metric}: {marked(gap.reason)}"), "warning", own)
    order = ("fragile", "warning", "info")
    listed = sorted(found.items(), key=lambda item: order.index(item[0][1]))
    return [Notice(texts[text], severity, tuple(who)) for (text, severity), who in listed]  # type: ignore[arg-type]


def signatures_of(scores: Iterable["Score"]) -> list[tuple[str, str]]:
    """Return the signatures of scores, and of their corrections."""
    pairs = []
    for one in scores:
        pairs.append((title_of(one), str(one.signature)))
        if one.corrected is not None and one.corrected.signature is not None:
            pairs.append((f"{title_of(one)}, corrected", str(one.corrected.signature)))
    return pairs
