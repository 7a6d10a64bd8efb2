"""What a verdict says of codes and factors: its document, and the parts that evaluations show of it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from demele.core.result import about
from demele.report.document import Document, Folded, Heat, Mark, Pill, Rows, Section, Strip, Strips, Table
from demele.report.written import count, joined, name, sentence_of, written

if TYPE_CHECKING:
    from demele.core.verdict import FactorVerdict, RepresentationVerdict

#: Codes that a heat map shows: a browser lays out more too slowly.
MOST_CODES = 60
#: What readers call a status, its colour, and its place.
_STATUS = {
    "one code": Pill("one code", "good", 0),
    "mixed code": Pill("mixed code", "open", 1),
    "several codes": Pill("several codes", "open", 2),
    "weak": Pill("weak", "open", 3),
    "no code": Pill("lost", "bad", 4),
    "undecided": Pill("too few rows", "none", 5),
    "constant": Pill("constant", "none", 6),
}
_SHARING = {"copies": "copies in", "mixture": "mixed in", "parts": "in parts in", "spread": "spread over"}
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
        method=verdict_method(verdict),
        **about(verdict),
    )


def whole(verdict: "RepresentationVerdict") -> Iterator[str]:
    """Yield the sentences on all factors, and on codes that hold none."""
    rows = [row for row in verdict.factors if row.status != "constant"]
    if rows and all(row.status == "undecided" for row in rows):
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
        ("undecided", "undecided"),
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
    columns = {
        "Factor": "text",
        "Best code": "text",
        "Share": "percent.0",
        "Next": "percent.0",
        "Chance": "percent.1?",
        "Verdict": "text",
    }
    rows = [
        (name(row.factor), _codes(row), row.share, row.second, row.chance, state_of(row)) for row in verdict.factors
    ]
    return Table("Best codes of each factor", columns, rows)


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
    if row.status == "no code" and row.others:
        return Pill(f"lost: only through {joined(map(name, row.others), most=2)}", pill.tone, pill.order)
    return pill


def verdict_strips(verdict: "RepresentationVerdict") -> Strips:
    """Draw the shares of the best and the next code of each factor, and the chance level."""
    strips = [
        Strip(
            name(row.factor),
            [
                Mark("bar", _known(row.share)),
                Mark("bar", _known(row.second), None, 1),
                Mark("tick", _known(row.chance)),
            ],
            f"{_codes(row) or ''} {written(row.share, 'percent.0')}".strip(),
            _STATUS[row.status],
        )
        for row in verdict.factors
    ]
    series = {0: "best code", 1: "next code"}
    axis = "Share of the factor's entropy; tick: chance level"
    return Strips("Best codes of each factor", strips, "percent", axis, series)


def _known(value: float) -> float | None:
    return None if value != value else value


def order_of(values: np.ndarray) -> list[int]:
    """Return the codes by their best factor, those with the largest values first; of many, the strongest."""
    filled = np.nan_to_num(values)
    best, most = filled.argmax(axis=1), np.abs(filled).max(axis=1)
    kept = np.sort(np.argsort(-most, kind="stable")[:MOST_CODES])
    return [int(kept[place]) for place in np.lexsort((-most[kept], best[kept]))]


def share_map(verdict: "RepresentationVerdict", rows: Rows | None) -> Heat | None:
    """Draw how much each code tells of each factor, with rings where the code holds it."""
    if not verdict.shares.size:
        return None
    order, codes = order_of(verdict.shares), [one.code for one in verdict.codes]
    held = {(codes.index(code), i) for i, row in enumerate(verdict.factors) for code in row.codes if code in codes}
    if_held = ("one code", "mixed code", "several codes")
    held = {(j, i) for j, i in held if verdict.factors[i].status in if_held}
    cells = [(place, i) for place in range(len(order)) for i in range(len(verdict.factors))]
    return Heat(
        "Share of the factor's entropy",
        [name(codes[j]) for j in order],
        [name(row.factor) for row in verdict.factors],
        verdict.shares[order].tolist(),
        "percent.0",
        ("code", "factor"),
        "column",
        frozenset((place, i) for place, i in cells if (order[place], i) in held),
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


def verdict_method(verdict: "RepresentationVerdict") -> list[tuple[str, str]]:
    """Return how the verdict was made."""
    rows = f"{count(verdict.n, 'row')} in {verdict.bins} bins of equal frequency"
    return [("Verdict", f"{RULE} Based on {rows}.")]
