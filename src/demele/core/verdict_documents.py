"""What a verdict says of codes and factors: its document, and the parts that evaluations show of it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demele.core.result import about
from demele.report.document import INK, Document, Heat, Mark, Pill, Rows, Section, Strip, Strips, Table
from demele.report.listing import Column, listed
from demele.report.words import count, is_missing, joined, name, plain, written

if TYPE_CHECKING:
    from demele.core.verdict import CodeVerdict, FactorVerdict, RepresentationVerdict

#: Codes that a heat map shows: a browser lays out more too slowly.
MOST_CODES = 60
#: What readers call a status, its colour, and its place.
STATUS = {
    "one code": Pill("one code", "good", 0),
    "mixed code": Pill("mixed code", "open", 1),
    "several codes": Pill("several codes", "open", 2),
    "weak": Pill("weak", "open", 3),
    "no code": Pill("lost", "bad", 4),
    "inconclusive": Pill("too few rows", "none", 5),
    "constant": Pill("constant", "none", 6),
}
_CODES = {
    "one factor": "one factor",
    "mixed": "several factors",
    "weak": "weak",
    "noise": "noise",
    "dead": "constant",
    "inconclusive": "too few rows",
}
_SHARING = {"copies": "repeated in", "mixture": "shared by", "parts": "split over", "spread": "spread over"}
#: What a sentence says of factors without a code of their own, and of codes that hold no factor.
_OTHERS = {
    "mixed code": "in a code with others",
    "several codes": "in several codes",
    "weak": "only weakly in the codes",
    "no code": "lost",
    "inconclusive": "inconclusive (too few rows)",
}
_IDLE = {"weak": "weak", "noise": "noise", "dead": "constant"}
_HELD = ("one code", "mixed code", "several codes")
RULE = (
    "A code holds a factor if it carries at least a tenth of its entropy. One code: the next carries at most half as "
    "much. Mixed: the code also holds another factor. Weak: more than chance, less than a tenth. Lost: no code carries "
    "more than chance."
)


def verdict_document(verdict: "RepresentationVerdict") -> Document:
    """Say which code holds which factor."""
    headline, *sentences = verdict_sentences(verdict)
    sizes = {"row": verdict.n, "code": len(verdict.codes), "factor": len(verdict.factors)}
    return Document(
        kind="Verdict",
        title="Codes and factors",
        headline=headline,
        sentences=sentences,
        figure=verdict_strips(verdict),
        table=verdict_table(verdict),
        scope=[count(size, noun) for noun, size in sizes.items()],
        sections=[
            Section("Code-factor matrix", [share_map(verdict, None), note_on_map(verdict), words_table(verdict)])
        ],
        methods=["Codes and factors were compared with demele [@demele].", *verdict_methods(verdict)],
        **about(verdict),
    )


def verdict_sentences(verdict: "RepresentationVerdict") -> Iterator[str]:
    """Yield the headline on all factors, then sentences on codes that hold none or several, and what to look at."""
    rows = [row for row in verdict.factors if row.status != "constant"]
    if rows and all(row.status == "inconclusive" for row in rows):
        needed = [row.rows_needed for row in rows]
        most = None if None in needed else max(filter(None, needed))
        enough = "" if most is None else f"; about {count(most, 'row')} would be enough"
        yield f"{count(verdict.n, 'row')} are too few to decide which code holds which factor{enough}."
    else:
        yield _counted(rows)
        idle = {what: [name(row.code) for row in verdict.codes if row.status == of] for of, what in _IDLE.items()}
        found = [f"{_are(len(codes))} {what} ({joined(codes)})" for what, codes in idle.items() if codes]
        yield f"Of {count(len(verdict.codes), 'code')} {joined(found)}." if found else ""
    mixed = [
        f"{name(one.code)} ({joined(map(name, one.factors), most=3)})" for one in verdict.codes if one.status == "mixed"
    ]
    yield f"Mixed codes: {joined(mixed, most=4)}." if mixed else ""
    yield verdict.first_look


def _counted(rows: "list[FactorVerdict]") -> str:
    """Say how many factors have a code of their own, and how many each other status."""
    numbers = Counter[str](row.status for row in rows)
    own = numbers["one code"]
    has = "has a code of its own" if own == 1 else "have a code of their own"
    others = [f"{_are(numbers[status])} {what}" for status, what in _OTHERS.items() if numbers[status]]
    return "; ".join([f"{own} of {count(len(rows), 'factor')} {has}", *others]) + "."


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"


def verdict_table(verdict: "RepresentationVerdict") -> Table:
    """Return a row for each factor: its best codes, shares of its entropy, and the verdict."""
    columns: list[Column[FactorVerdict]] = [
        ("Factor", "text", "factor"),
        ("Best code", "text", _codes),
        ("Share", "percent.0", "share"),
        ("Next", "percent.0", "second"),
        ("Chance", "percent.1?", "chance"),
        ("Verdict", "text", state_of),
    ]
    return listed("Best codes of each factor", verdict.factors, columns)


def _codes(row: "FactorVerdict") -> str | None:
    shown = row.codes if len(row.codes) < 3 else row.codes[:1]
    more = f" +{len(row.codes) - 1}" if len(row.codes) > 2 else ""
    return f"{', '.join(map(name, shown))}{more}" or None


def state_of(row: "FactorVerdict") -> Pill:
    """Return the verdict on a factor in a few words."""
    words, others = STATUS[row.status].text, joined(map(name, row.others), most=2)
    if row.status == "mixed code":
        words = f"in a code with {others}"
    elif row.status == "several codes":
        words = f"{_SHARING.get(row.sharing, 'shared by')} {len(row.codes) or 'all'} codes"
    elif row.status == "inconclusive" and row.rows_needed is not None:
        words = f"needs about {row.rows_needed:,} rows"
    elif row.status == "no code" and others:
        words = f"lost: only through {others}"
    if row.next_code and row.status in ("one code", "mixed code"):
        words += f"; {written(row.second, 'percent.0')} also in {name(row.next_code)}"
    return replace(STATUS[row.status], text=words)


def factor_words(row: "FactorVerdict") -> str:
    """Return a verdict on a factor in words: its state, the shares of its entropy, and the chance level."""
    state = "inconclusive" if row.rows_needed else plain(state_of(row).text)
    parts = [f"{row.factor}: {state}"]
    parts[0] += f", about {count(row.rows_needed, 'row')} would decide" if row.rows_needed else ""
    if len(row.codes) > 1:
        parts[0] += f" ({joined(row.codes, most=4)})"
    if row.codes:
        best, second = (written(share, f"percent.{int(share < 0.1)}") for share in (row.share, row.second))
        parts.append(f"{row.codes[0]} alone explains {best} of {row.factor}")
        parts += [] if is_missing(row.second) else [f"{row.next_code or 'the next code'} alone {second}"]
    if not is_missing(row.together):
        share = written(row.together, "percent.0")
        linear = f"a linear regression on all codes explains {share} of {row.factor}"
        parts.append(f"both together {share}" if row.codes else linear)
    return f"{parts[0]}{'; ' * (len(parts) > 1)}{', '.join(parts[1:])}{_chance(row.chance)}"


def code_words(row: "CodeVerdict") -> str:
    """Return a verdict on a code in words."""
    carried = [f"{written(share, 'percent.0')} of {of}" for share, of in zip(row.shares, row.factors, strict=False)]
    parts = [f"{row.code}: {_CODES[row.status]}"]
    parts += [f"carries {joined(carried)}"] if carried else []
    parts += [f"traces of {joined(row.traces)}"] if row.traces else []
    parts += [f"about {count(row.rows_needed, 'row')} would decide"] if row.rows_needed else []
    return "; ".join(parts) + _chance(row.chance)


def _chance(share: float) -> str:
    return "" if is_missing(share) else f" (chance level {written(share, 'percent.1')})"


def verdict_strips(verdict: "RepresentationVerdict") -> Strips:
    """Draw the shares of the best and the next code of each factor, and the chance level."""
    strips = []
    for row in verdict.factors:
        marks = [Mark("bar", row.share), Mark("dot", row.second, None, 1), Mark("tick", row.chance, None, INK)]
        text = f"{_codes(row) or ''} {written(row.share, 'percent.0')}".strip()
        strips.append(Strip(name(row.factor), marks, text, STATUS[row.status]))
    series = {0: "best code", 1: "next code", INK: "chance level"}
    return Strips("Best codes of each factor", strips, "percent", "Share of the factor's entropy", series)


def order_of(values: np.ndarray) -> list[int]:
    """Return the codes by their best factor, those with the largest values first; of many, the strongest."""
    filled = np.nan_to_num(values)
    best, most = filled.argmax(axis=1), np.abs(filled).max(axis=1)
    kept = np.sort(np.argsort(-most, kind="stable")[:MOST_CODES])
    return [int(kept[place]) for place in np.lexsort((-most[kept], best[kept]))]


def share_map(verdict: "RepresentationVerdict", rows: Rows | None) -> Heat | None:
    """Draw how much each code carries of each factor, with rings where the code holds it."""
    if not verdict.shares.size:
        return None
    order, codes = order_of(verdict.shares), [one.code for one in verdict.codes]
    cells = [(place, i) for place in range(len(order)) for i in range(len(verdict.factors))]
    held = [row.codes if row.status in _HELD else () for row in verdict.factors]
    return Heat(
        "Share of the factor's entropy",
        [name(codes[j]) for j in order],
        [name(row.factor) for row in verdict.factors],
        verdict.shares[order].tolist(),
        "percent.0",
        ("code", "factor"),
        "column",
        frozenset((place, i) for place, i in cells if codes[order[place]] in held[i]),
        frozenset((place, i) for place, i in cells if not verdict.above_chance[order[place], i]),
        rows,
    )


def note_on_map(verdict: "RepresentationVerdict") -> str:
    """Return how the map is read."""
    more = f" The {MOST_CODES} strongest codes are shown." if len(verdict.codes) > MOST_CODES else ""
    read = "A ring marks the codes that the verdict names. Grey cells are at the chance level."
    return f"{read} Codes are ordered by their best factor.{more}"


def words_table(verdict: "RepresentationVerdict") -> Table:
    """Return the verdicts on factors and codes in words."""
    words = [*(row.words for row in verdict.factors), *(row.words for row in verdict.codes[:MOST_CODES])]
    rows = [tuple(map(name, text.split(": ", 1))) for text in words if text]
    return Table("Each factor and code in words", {"Name": "text", "Verdict": "text"}, rows)


def verdict_methods(verdict: "RepresentationVerdict") -> list[str]:
    """Return how the verdict was made."""
    return [RULE, f"Based on {count(verdict.n, 'row')} in {verdict.bins} bins of equal frequency."]
