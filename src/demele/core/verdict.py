"""What an evaluation says in words: which code holds which factor, what is lost, which codes are dead or noise."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Flags, Floats, pd
from demele.core.result import Result, about
from demele.report.document import INK, Document, Heat, Mark, Pill, Rows, Section, Strip, Strips, Table
from demele.report.listing import Column, listed
from demele.report.words import count, is_missing, joined, name, plain, written

# What a verdict says of codes and factors -----------------------------------------------------------------------------

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


FactorStatus = Literal["one code", "mixed code", "several codes", "weak", "no code", "inconclusive", "constant"]
CodeStatus = Literal["one factor", "mixed", "weak", "noise", "dead", "inconclusive"]
#: How several codes share a factor: as copies of each other, as mixtures with other factors, in parts, or over many.
Sharing = Literal["", "copies", "mixture", "parts", "spread"]
#: A code holds a factor if it carries at least this share of the factor's entropy.
HELD = 0.1
#: A factor is shared where the next code carries more than this share of what the best one does; a code is mixed where
#: it carries more than this share of another factor.
SHARED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorVerdict:
    """The codes that hold one factor.

    Attributes
    ----------
    factor : str
    status : {"one code", "mixed code", "several codes", "weak", "no code", "inconclusive", "constant"}
        "mixed code": one code holds it, and another factor as well. "weak": codes carry more than chance, but less than
        a tenth of its entropy.
    sharing : {"", "copies", "mixture", "parts", "spread"}
        Of several codes: "copies" add nothing to each other; a "mixture" holds other factors too; "parts" add to each
        other; "spread" is over four or more, or over codes that carry nothing alone. Empty if rows are too few.
    codes : tuple of str
        The codes that hold it, the one that carries most first.
    others : tuple of str
        Factors that the best code holds as well, or, of a lost factor, through which a code carries it.
    share, second : float in [0, 1]
        Shares of the factor's entropy in the best code and the next one, among codes that carry it directly, not
        through a factor that it depends on. NaN if rows are too few.
    next_code : str
        The next code, if it carries at least a tenth of the factor's entropy.
    chance : float in [0, 1]
        Largest share of the factor in any code when its rows are permuted.
    together : float in [0, 1]
        What the two best codes carry together, in coarser bins, where that is more than one of them carries. For a
        factor spread over codes that carry nothing alone: R squared of a linear regression. NaN elsewhere.
    n : int
        Rows it was judged on.
    rows_needed : int or None
        If inconclusive: estimated number of rows that would be enough.
    words : str
        The verdict as a sentence.
    """

    factor: str
    status: FactorStatus
    sharing: Sharing = ""
    codes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    share: float = float("nan")
    second: float = float("nan")
    next_code: str = ""
    chance: float = float("nan")
    together: float = float("nan")
    n: int = 0
    rows_needed: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeVerdict:
    """The factors in one code.

    Attributes
    ----------
    code : str
    status : {"one factor", "mixed", "weak", "noise", "dead", "inconclusive"}
        "dead": it does not vary. "noise": it carries nothing of any factor beyond chance. "weak": it carries more,
        but less than a tenth of any factor.
    factors : tuple of str
        Factors in the code, the one with the largest share first.
    shares : tuple of float
        Shares of the entropy of each.
    traces : tuple of str
        Factors with a share above chance, but at most half of the largest.
    chance : float
        Largest chance level over the factors.
    rows_needed : int or None
        If inconclusive: estimated number of rows that would be enough.
    words : str
    """

    code: str
    status: CodeStatus
    factors: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    traces: tuple[str, ...] = ()
    chance: float = float("nan")
    rows_needed: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepresentationVerdict(Result):
    """Which code holds which factor: by factor, by code, and as a whole.

    Attributes
    ----------
    factors : tuple of FactorVerdict
    codes : tuple of CodeVerdict
    shares : array of shape (n_codes, n_factors)
        Of the factor's entropy, what each code carries; NaN for a factor that does not vary.
    above_chance : array of bool of the same shape
        Whether that is more than chance gives.
    n : int
        Rows behind the verdict: 5,000 drawn at random, or more if these are too few, up to all.
    bins : int
        Bins of equal frequency for codes and continuous factors.
    first_look : str
        The score to look at first, and why; empty where it was not computed.

    Notes
    -----
    Held: codes carry at least a tenth of the factor's entropy, one alone or several together. Weak: codes carry more
    than chance, but less than a tenth. Lost: no code carries more than chance, or codes do only through another factor.
    Held by one code: the next code carries at most half as much. Mixed: the code also carries more than half as much of
    another factor, and not only because the two factors depend on each other. Inconclusive: rows are too few, or shares
    too near these limits.

    Examples
    --------
    >>> import numpy as np, demele
    >>> v = np.random.default_rng(0).random((1000, 2))
    >>> print(demele.evaluate(np.column_stack([v[:, 0], v[:, 0] ** 3]), v, ["mig"]).verdict)
    0 of 2 factors have a code of their own; 1 is in several codes; 1 is lost.
    1,000 rows, 2 codes, 2 factors
    <BLANKLINE>
    Factor  Best code  Share  Next  Chance  Verdict
    v1      z1, z2      100%  100%    0.5%  repeated in 2 codes
    v2      –             0%     –    0.3%  lost
    """

    _kind = "verdict"

    factors: tuple[FactorVerdict, ...]
    codes: tuple[CodeVerdict, ...]
    shares: Floats
    above_chance: Flags
    n: int
    bins: int
    first_look: str = ""

    document = verdict_document

    def to_frame(self) -> "pd.DataFrame":
        """One row for each factor and each code: ``unit``, ``name``, ``status``, ``holds``, ``share``, ``words``..."""
        columns = ("unit", "name", "status", "sharing", "by", "share", "second", "chance", "together", "words")
        rows: list[dict[str, Any]] = [
            {**{key: getattr(one, key, None) for key in columns}, "unit": "factor", "name": one.factor, "by": one.codes}
            for one in self.factors
        ]
        for code in self.codes:
            own = {"unit": "code", "name": code.code, "status": code.status, "sharing": "", "by": code.factors}
            shares = dict(zip(("share", "second"), code.shares, strict=False))
            rows.append({**own, **shares, "chance": code.chance, "words": code.words})
        return pd.DataFrame([{**row, "by": ", ".join(row["by"])} for row in rows], columns=list(columns))
