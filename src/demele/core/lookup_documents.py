"""What documents of scores hold to be looked up: data, notes, meanings, how numbers were made."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from demele.core.methods_documents import Scored
from demele.core.sentences import marked, sentence
from demele.report.document import NOTHING, Facts, Notice, Section, Table
from demele.report.written import count, name, rate, written

if TYPE_CHECKING:
    from demele.core.results import Score


def title_of(score: "Score") -> str:
    """Return the name of the metric as papers have it."""
    return score.facts.title or name(score.metric)


def data_facts(result: Scored) -> Facts:
    """Return what was scored."""
    counts = (("Rows", result.n), ("Codes", len(result.code_names)), ("Factors", len(result.factors)))
    return Facts([*((title, written(number, "count")) for title, number in counts), ("Protocol", result.protocol)])


def factors_table(result: Scored) -> Table:
    """Return what was read of each factor."""
    columns = {"Factor": "text", "Kind": "text", "Values": "count", "Annotated rows": "count", "Remark": "text?"}
    rows = [
        (name(one.name), one.kind, one.n_levels, one.n_annotated, "constant: left out" if one.constant else "")
        for one in result.factors
    ]
    return Table("Factors", columns, rows)


def glossary(scores: Iterable["Score"]) -> Section:
    """Return what each metric means."""
    columns = {"Metric": "text", "Name": "code", "Definition": "text", "Range": "text"}
    columns |= {"Best": "number?", "Source": "text?"}
    known = {one.metric: (title_of(one), one.facts) for one in scores if one.facts.definition}
    rows = [
        (title, metric, facts.definition, f"{_end(facts.range[0])} to {_end(facts.range[1])}", facts.best, facts.source)
        for metric, (title, facts) in known.items()
    ]
    return Section("Glossary", [Table("Metrics", columns, rows)]) if rows else NOTHING


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


def method_of(scores: Sequence["Score"]) -> list[tuple[str, str]]:
    """Return how intervals, chance levels and corrections were made."""
    found: dict[str, dict[str, None]] = {}
    for one in scores:
        if one.interval is not None:
            found.setdefault("Intervals", {})[f"{rate(one.interval.level)}, {one.interval.method}"] = None
        if one.spread is not None:
            found.setdefault("SD", {})[f"standard deviation over {count(len(one.spread.values), 'seed')}"] = None
        if one.chance is not None:
            drawn = count(len(one.chance.values), "permutation")
            found.setdefault("Chance", {})[f"mean score over {drawn} of the rows of the factors"] = None
        if one.corrected is not None:
            found.setdefault("Corrected", {})[one.corrected.method] = None
    return [(term, "; ".join(ways)) for term, ways in found.items()]


def signatures_of(scores: Iterable["Score"]) -> list[tuple[str, str]]:
    """Return the signatures of scores, and of their corrections."""
    pairs = []
    for one in scores:
        pairs.append((title_of(one), str(one.signature)))
        if one.corrected is not None and one.corrected.signature is not None:
            pairs.append((f"{title_of(one)}, corrected", str(one.corrected.signature)))
    return pairs
