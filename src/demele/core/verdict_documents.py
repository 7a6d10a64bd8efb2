"""What a verdict says of codes and factors: its document, and the parts that evaluations show of it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from demele.core.result import about
from demele.report.document import INK, Document, Folded, Heat, Mark, Pill, Rows, Section, Strip, Strips, Table
from demele.report.listing import listed
from demele.report.words import count, is_missing, joined, name, plain, sentence_of, written

if TYPE_CHECKING:
    from demele.core.verdict import CodeVerdict, FactorVerdict, RepresentationVerdict

#: Codes that a heat map shows: a browser lays out more too slowly.
MOST_CODES = 60
#: What readers call a status, its colour, and its place.
_STATUS = {
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
_SHARING = {"copies": "copies in", "mixture": "mixed in", "parts": "in parts in", "spread": "spread over"}
_HELD = ("one code", "mixed code", "several codes")
RULE = (
    "A code holds a factor if it carries at least a tenth of its entropy. One code: the next carries at most half as "
    "much. Mixed: the code also holds another factor. Weak: more than chance, less than a tenth. Lost: no code carries "
    "more than chance."
)


def verdict_document(verdict: "RepresentationVerdict") -> Document:
    """Say which code holds which factor."""
    first, *others = whole(verdict)
    return Document(
        kind="Verdict",
        title="Codes and factors",
        headline=first,
        sentences=[*others, *of_codes(verdict), verdict.first_look],
        figure=verdict_strips(verdict),
        table=verdict_table(verdict),
        scope=[
            count(verdict.n, "row"),
            count(len(verdict.codes), "code"),
            count(len(verdict.factors), "factor"),
        ],
        sections=[Section("Code-factor matrix", [share_map(verdict, None), *notes_on_map(verdict)])],
        methods=["Codes and factors were compared with demele [@demele].", *verdict_methods(verdict)],
        **about(verdict),
    )


def whole(verdict: "RepresentationVerdict") -> Iterator[str]:
    """Yield the sentences on all factors, and on codes that hold none."""
    rows = [row for row in verdict.factors if row.status != "constant"]
    if rows and all(row.status == "inconclusive" for row in rows):
        needed = [row.rows_needed for row in rows]
        most = None if None in needed else max(filter(None, needed))
        enough = "" if most is None else f"; about {count(most, 'row')} would be enough"
        yield f"{count(verdict.n, 'row')} are too few to decide which code holds which factor{enough}."
        return
    yield f"{'; '.join(factor_counts(row.status for row in rows))}."
    found = []
    for status, what in (("weak", "weak"), ("noise", "noise"), ("dead", "constant")):
        idle = [name(row.code) for row in verdict.codes if row.status == status]
        found += [f"{len(idle)} {'is' if len(idle) == 1 else 'are'} {what} ({joined(idle)})"] * bool(idle)
    if found:
        yield f"Of {count(len(verdict.codes), 'code')} {joined(found)}."


def factor_counts(statuses: Iterable[str]) -> list[str]:
    """Say how many factors have a code of their own, and how many each other status.

    Examples
    --------
    >>> factor_counts(["one code", "weak", "weak"])
    ['1 of 3 factors has a code of its own', '2 are weak']
    """
    found = list(statuses)
    own = found.count("one code")
    has = "has a code of its own" if own == 1 else "have a code of their own"
    parts = [f"{own} of {count(len(found), 'factor')} {has}"]
    for status, what in (
        ("mixed code", "in a code with others"),
        ("several codes", "in several codes"),
        ("weak", "weak"),
        ("no code", "lost"),
        ("inconclusive", "inconclusive"),
    ):
        if number := found.count(status):
            parts.append(f"{number} {'is' if number == 1 else 'are'} {what}")
    return parts


def of_codes(verdict: "RepresentationVerdict") -> Iterator[str]:
    """Yield a sentence on codes that hold several factors."""
    mixed = [
        f"{name(one.code)} ({joined(map(name, one.factors), most=3)})" for one in verdict.codes if one.status == "mixed"
    ]
    if mixed:
        yield f"Mixed codes: {joined(mixed, most=4)}."


def verdict_table(verdict: "RepresentationVerdict") -> Table:
    """Return a row for each factor: its best codes, shares of its entropy, and the verdict."""
    return listed(
        "Best codes of each factor",
        verdict.factors,
        [
            ("Factor", "text", "factor"),
            ("Best code", "text", _codes),
            ("Share", "percent.0", "share"),
            ("Next", "percent.0", "second"),
            ("Chance", "percent.1?", "chance"),
            ("Verdict", "text", state_of),
        ],
    )


def _codes(row: "FactorVerdict") -> str | None:
    codes = [name(code) for code in row.codes]
    more = f" +{len(codes) - 2}" if len(codes) > 2 else ""
    return f"{', '.join(codes[: 1 if more else 2])}{f' +{len(codes) - 1}' if more else ''}" or None


def state_of(row: "FactorVerdict") -> Pill:
    """Return the verdict on a factor in a few words."""
    pill = _STATUS[row.status]
    if row.status == "mixed code":
        return Pill(f"one code, shared with {joined(map(name, row.others), most=2)}", pill.tone, pill.order)
    if row.status == "several codes" and not row.codes:
        return Pill("spread over all codes", pill.tone, pill.order)
    if row.status == "several codes":
        return Pill(f"{_SHARING.get(row.sharing, 'shared by')} {len(row.codes)} codes", pill.tone, pill.order)
    if row.status == "inconclusive" and row.rows_needed is not None:
        return Pill(f"needs about {row.rows_needed:,} rows", pill.tone, pill.order)
    if row.status == "no code" and row.others:
        return Pill(f"lost: only through {joined(map(name, row.others), most=2)}", pill.tone, pill.order)
    return pill


def factor_words(row: "FactorVerdict") -> str:
    """Return a verdict on a factor in words: its state, the shares of its entropy, and the chance level."""
    parts = [f"{row.factor}: {plain(state_of(row).text)}"]
    if len(row.codes) > 1:
        parts[0] += f" ({joined(row.codes, most=4)})"
    if row.codes:
        best, second = (written(share, f"percent.{int(share < 0.1)}") for share in (row.share, row.second))
        parts.append(f"{row.codes[0]} carries {best}, the next code {second}")
    if not is_missing(row.together):
        how = "the two best codes together" if row.codes else "a linear regression on all codes"
        parts.append(f"{how} {written(row.together, 'percent.0')}")
    return _with_chance(parts, row)


def code_words(row: "CodeVerdict") -> str:
    """Return a verdict on a code in words."""
    carried = [f"{written(share, 'percent.0')} of {of}" for share, of in zip(row.shares, row.factors, strict=False)]
    parts = [f"{row.code}: {_CODES[row.status]}"]
    parts += [f"carries {joined(carried)}"] if carried else []
    parts += [f"traces of {joined(row.traces)}"] if row.traces else []
    return _with_chance(parts, row)


def _with_chance(parts: list[str], row: "FactorVerdict | CodeVerdict") -> str:
    of_code = not hasattr(row, "factor")  # the state of a factor says it
    enough = [f"about {count(row.rows_needed, 'row')} would be enough"] if row.rows_needed and of_code else []
    chance = "" if is_missing(row.chance) else f" (chance level {written(row.chance, 'percent.1')})"
    return "; ".join([*parts, *enough]) + chance


def verdict_strips(verdict: "RepresentationVerdict") -> Strips:
    """Draw the shares of the best and the next code of each factor, and the chance level."""
    strips = []
    for row in verdict.factors:
        marks = [Mark("bar", row.share), Mark("dot", row.second, None, 1), Mark("tick", row.chance, None, INK)]
        text = f"{_codes(row) or ''} {written(row.share, 'percent.0')}".strip()
        strips.append(Strip(name(row.factor), marks, text, _STATUS[row.status]))
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


def notes_on_map(verdict: "RepresentationVerdict") -> list[str | Folded]:
    """Return how the map is read, and the verdicts as sentences."""
    more = f" The {MOST_CODES} strongest codes are shown." if len(verdict.codes) > MOST_CODES else ""
    words = [*(row.words for row in verdict.factors), *(row.words for row in verdict.codes)]
    said = [sentence_of(text) for text in words if text]
    return [
        f"A ring marks a code that holds the factor. Grey cells are at the chance level. Codes are ordered by their "
        f"best factor.{more}",
        Folded("Each factor and code in words", said[: len(verdict.factors) + MOST_CODES]),
    ]


def verdict_methods(verdict: "RepresentationVerdict") -> list[str]:
    """Return how the verdict was made."""
    return [RULE, f"Based on {count(verdict.n, 'row')} in {verdict.bins} bins of equal frequency."]
