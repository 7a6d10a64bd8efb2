"""What a forecast of audits says: its document."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from demele.core.result import about
from demele.evaluation.comparison.forecast_parts import ENOUGH, AuditProspect, ForecastDesign, PairOutlook
from demele.report.document import Cell, Choice, Document, Line, Lines, Section, Table
from demele.report.written import count, joined, name, rate, sentence_of, written

if TYPE_CHECKING:
    from demele.evaluation.comparison.forecast_result import AuditForecast

_DESIGNS: dict[ForecastDesign, str] = {
    "weighted": "weighted audit", "uniform": "uniform audit", "sequential": "one label at a time",
}  # fmt: skip
#: A range of further rows goes from where so many of the simulated audits settle a comparison to where so many do.
_RANGE = (0.5, 0.9)


def forecast_document(result: "AuditForecast") -> Document:
    """Say which audit would settle a comparison, or how many more rows would, under each assumption."""
    several = len(result.names) > 2
    designs = [design for design in _DESIGNS if not (several and design == "sequential")]
    headline, *sentences = _several(result) if several else _after(result) if result.audited else _before(result)
    shares = _shares(result, designs)
    panels = {world.name: [_curves(result, world.name, designs)] for world in result.worlds}
    sizes = _sizes(result)
    asked = count(len(result.names), "model") if several else f"{name(result.names[0])} and {name(result.names[1])}"
    return Document(
        kind="Audit plan",
        title="How many more rows?" if result.audited else "Which audit would settle the comparison?",
        headline=headline,
        tone="open",
        sentences=sentences,
        figure=Choice("Assumption", panels) if len(panels) > 1 else next(iter(panels.values()))[0],
        table=shares if several else sizes,
        scope=[asked, count(result.n, "row"), f"{result.draws} draws for each assumption"],
        sections=[Section("Audit plan", [sizes, shares]), Section("Data", [_numbers(result)])],
        method=[
            ("Settled", "an audit settles a comparison if it shows that one of the two models is better"),
            ("Simulation", "true labels of all rows are drawn, then audits of each size, which are compared as usual"),
            ("Audited so far", f"{result.audited:,} rows, {result.design}" if result.audited else ""),
            ("Inference", "new rows" if result.inference == "population" else "these rows"),
            ("Level", f"{rate(result.level)}, of each pair"),
        ],
        methods=[
            f"Audits of {asked} were simulated with demele [@demele]: {result.draws} draws of true labels for each of",
            f"{count(len(result.worlds), 'assumption')} on the wrong labels, and sizes of",
            f"{joined(written(size, 'count') for size in result.sizes)} rows.",
        ],
        **about(result),
    )


# Sentences ------------------------------------------------------------------------------------------------------------


def _before(result: "AuditForecast") -> list[str]:
    """Say the least size of each design that settles the comparison, for whom, and where none does."""
    open_ones = [one for one in result.outlooks if one.settled_by_all >= ENOUGH]
    closed = [one for one in result.outlooks if one.settled_by_all < ENOUGH]
    all_rows = f"labels of all {count(result.n, 'row')}"
    if not open_ones:
        if all(one.hopeless for one in closed):
            return [f"No audit would settle the comparison: not even {all_rows} would."]
        return [f"Hardly any audit would settle the comparison: {all_rows} do so in {_draws(closed)}."]
    worlds = [one.world for one in open_ones]
    weighted, uniform = (_needs(result, design, worlds) for design in ("weighted", "uniform"))
    labels = [one.labels_most for one in open_ones if math.isfinite(one.labels_most)]
    one_by_one = f"{_span(labels)} labels, asked one at a time, settle it" if labels else ""
    one_by_one += f" under {len(labels)} of {len(worlds)} assumptions" if 0 < len(labels) < len(worlds) else ""
    return [
        f"A weighted audit {weighted}, a uniform one {uniform}.",
        sentence_of(one_by_one),
        _for_whom(open_ones),
        f"If {_or(closed)}, {all_rows} settle it in {_draws(closed)} only." if closed else "",
    ]


def _needs(result: "AuditForecast", design: ForecastDesign, worlds: Sequence[str]) -> str:
    sizes = [result.smallest(design, world=world) for world in worlds]
    known = [size for size in sizes if size is not None]
    if not known:
        return f"needs more than {result.sizes[-1]:,} rows"
    more = f" (more under {len(sizes) - len(known)} of {len(sizes)} assumptions)" if len(known) < len(sizes) else ""
    return f"needs {_span(known)} rows{more}"


def _after(result: "AuditForecast") -> list[str]:
    """Say how many more rows settle the comparison, as a range, and for whom; or that none do."""
    (outlook, *_) = result.outlooks
    all_rows = f"labels of all {count(result.n, 'row')} settle it in {_draws([outlook])}"
    design: ForecastDesign = result.design or "uniform"
    least, most = (result.smallest(design, share=share) for share in _RANGE)
    if least == most == result.audited:
        return [f"The {result.audited:,} audited rows settle the comparison already."]
    if outlook.settled_by_all < _RANGE[0]:
        return [f"No audit will probably settle the comparison: {all_rows}.", "Collect new rows."]
    fewest = max((least or 0) - result.audited, 0)
    if least is None:
        last = max((one for one in result.prospects if one.design == design), key=lambda one: one.rows)
        more = f"{last.rows - result.audited:,} more rows settle it in {rate(round(last.settled, 2))} of the draws"
    elif most is None:
        more = f"{fewest:,} more rows settle it in half of the draws, no size in nine tenths"
    else:
        more = f"{_span([fewest, most - result.audited])} more rows settle it (in half and nine tenths of the draws)"
    how = "Going on with the audit" if design == "uniform" else "In a larger audit of the same kind"
    other: ForecastDesign = "weighted" if design == "uniform" else "uniform"
    size = result.smallest(other, share=_RANGE[1])
    instead = f"more than {result.sizes[-1]:,}" if size is None else f"{size:,}"
    return [
        f"{how}, {more}.",
        f"A new {other} audit needs {instead} rows in all.",
        sentence_of(all_rows),
        _for_whom([outlook]),
    ]


def _several(result: "AuditForecast") -> list[str]:
    """Say how many pairs the largest audits of both designs settle, at best and at worst."""
    pairs = len(result.outlooks) // len(result.worlds)
    counts = {}
    for design in ("weighted", "uniform"):
        own = [one for one in result.prospects if (one.design, one.rows) == (design, result.sizes[-1])]
        counts[design] = [sum(one.settled for one in own if one.world == world.name) for world in result.worlds]
    never = [sum(one.hopeless for one in result.outlooks if one.world == world.name) for world in result.worlds]
    size = written(result.sizes[-1], "count")
    return [
        f"A weighted audit of {size} rows settles {_span(counts['weighted'])} of {count(pairs, 'pair')}.",
        f"A uniform audit of {size} rows settles {_span(counts['uniform'])}.",
        f"Labels of all {count(result.n, 'row')} do not settle {_span(never)} of the pairs." if any(never) else "",
    ]


def _for_whom(outlooks: Sequence[PairOutlook]) -> str:
    """Say who would be shown to be better, and under which assumptions."""
    winners: dict[str, list[PairOutlook]] = {}
    for one in outlooks:
        winners.setdefault(one.winner, []).append(one)
    if len(winners) == 1:
        (only,) = winners
        return f"The audit would show that {name(only)} is better." if only else "Either model may turn out better."
    told = [f"{name(who) if who else 'either model'} if {_or(own)}" for who, own in winners.items()]
    return f"Better would be {'; '.join(told)}."


def _draws(outlooks: Sequence[PairOutlook]) -> str:
    low, high = (round(100 * bound(one.settled_by_all for one in outlooks)) for bound in (min, max))
    return f"{high}% of the draws" if low == high else f"{low}% to {high}% of the draws"


def _span(values: Sequence[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _or(outlooks: Sequence[PairOutlook]) -> str:
    parts = [one.world.partition(", ") for one in outlooks]
    return joined([f"{share} ({side})" if side else share for share, _, side in parts], "or")


# Figures and tables ---------------------------------------------------------------------------------------------------


def _settled(result: "AuditForecast", world: str, design: ForecastDesign) -> Iterator[tuple[int, float, float]]:
    """Yield each size with the mean share of pairs that are settled, and its standard error.

    The pairs of one draw share their labels and so are not independent: their errors are averaged as they are.
    """
    own = [one for one in result.prospects if (one.world, one.design) == (world, design)]
    for size in sorted({one.rows for one in own}):
        here = [one for one in own if one.rows == size]
        yield size, *(sum(getattr(one, key) for one in here) / len(here) for key in ("settled", "error"))


def _curves(result: "AuditForecast", world: str, designs: Sequence[ForecastDesign]) -> Lines:
    lines = []
    for design in designs:
        sizes, shares, errors = zip(*_settled(result, world, design), strict=True)
        low, high = (
            [min(max(share + sign * 2 * error, 0.0), 1.0) for share, error in zip(shares, errors, strict=True)]
            for sign in (-1, 1)
        )
        lines.append(Line(_DESIGNS[design], sizes, shares, low, high))
    return Lines(f"Settled: {world}", lines, ("Rows labelled", "count"), ("Settled", "percent.0"), zero=0.0)


def _shares(result: "AuditForecast", designs: Sequence[ForecastDesign]) -> Table:
    columns = {"If": "text", "Design": "text", **{f"{size:,} rows": "percent.0" for size in result.sizes}}
    rows = []
    for world in result.worlds:
        for design in designs:
            found = {size: share for size, share, _ in _settled(result, world.name, design)}
            rows.append((world.name, _DESIGNS[design], *(found.get(size) for size in result.sizes)))
    return Table("Share settled, by size", columns, rows)


def _sizes(result: "AuditForecast") -> Table:
    """Return the least size of each design that settles a pair in 80% of the draws."""
    least: dict[tuple[str, str, str, str], int] = {}
    for one in result.prospects:
        key = (one.world, one.baseline, one.candidate, one.design)
        if one.settled >= ENOUGH:
            least[key] = min(least.get(key, one.rows), one.rows)
    several = len(result.names) > 2
    columns = {"Candidate": "text", "Baseline": "text"} if several else {}
    columns |= {"If": "text", "Weighted": "count", "Uniform": "count", "One at a time": "count"}
    columns |= {"All rows": "percent.0", "Better": "text"}
    rows: list[Sequence[Cell]] = []
    for outlook in sorted(result.outlooks, key=lambda one: one.settled_by_all) if several else result.outlooks:
        pair = (outlook.world, outlook.baseline, outlook.candidate)
        found = [_size(outlook, least.get((*pair, design)), result.sizes[-1]) for design in ("weighted", "uniform")]
        labels = _size(outlook, outlook.labels_most if math.isfinite(outlook.labels_most) else None, result.n)
        better = name(outlook.winner) if outlook.winner and not outlook.hopeless else "open"
        who = (name(outlook.candidate), name(outlook.baseline)) if several else ()
        rows.append((*who, outlook.world, *found, labels, outlook.settled_by_all, better))
    return Table(
        "Rows needed",
        columns,
        rows,
        "Rows that settle the comparison in 80% of the draws. All rows: draws that labels of all rows settle.",
    )


def _size(outlook: PairOutlook, size: float | None, most: int) -> Cell:
    return size if size is not None else "never" if outlook.hopeless else f"> {most:,}"


def _numbers(result: "AuditForecast") -> Table:
    columns = {"Candidate": "text", "Baseline": "text", "If": "text", "Design": "text", "Rows": "count"}
    columns |= {"Settled": "percent.0", "± error": "percent.0", "Candidate better": "percent.0"}
    columns |= {"Interval (± pp)": "text?"}

    def row(one: AuditProspect) -> Sequence[Cell]:
        half = None if math.isnan(one.half_width) else written(one.half_width, "points").lstrip("+")
        who = (name(one.candidate), name(one.baseline), one.world, _DESIGNS[one.design])
        return (*who, one.rows, one.settled, one.error, one.for_candidate, half)

    return Table("All designs, sizes and assumptions", columns, list(map(row, result.prospects)))
