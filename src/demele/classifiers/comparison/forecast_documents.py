"""What a forecast of audits says: its document."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from demele.classifiers.comparison.forecast_parts import ENOUGH, ForecastDesign, PairOutlook
from demele.classifiers.documents import measure_of
from demele.core.result import about
from demele.report.document import Cell, Choice, Document, Line, Lines, Section, Table
from demele.report.listing import Column, listed
from demele.report.words import count, joined, name, rate, sentence_of, written

if TYPE_CHECKING:
    from demele.classifiers.comparison.forecast_result import AuditForecast

_DESIGNS: dict[ForecastDesign, str] = {
    "weighted": "weighted audit", "uniform": "uniform audit", "sequential": "one label at a time",
}  # fmt: skip
#: A range of further rows goes from where so many of the simulated audits settle a comparison to where so many do.
_RANGE = (0.5, 0.9)


def forecast_document(result: "AuditForecast") -> Document:
    """Say which audit would settle a comparison, or how many more rows would, under each assumption."""
    several = len(result.names) > 2
    simulated = {one.design for one in result.prospects}
    designs = [design for design in _DESIGNS if design in simulated and not (several and design == "sequential")]
    headline, *sentences = _several(result) if several else _after(result) if result.audited else _before(result)
    shares = _shares(result, designs)
    panels = {world.name: [_curves(result, world.name, designs)] for world in result.worlds}
    sizes = _sizes(result)
    asked = count(len(result.names), "model") if several else f"{name(result.names[0])} and {name(result.names[1])}"
    on = " on new rows" if result.inference == "population" else " on these rows"
    return Document(
        kind="Audit plan",
        title="How many more rows?" if result.audited else "Which audit would settle the comparison?",
        headline=headline,
        tone="open",
        sentences=sentences,
        figure=Choice("Assumption", panels),
        table=shares if several else sizes,
        scope=[
            "" if result.measure == "accuracy" else measure_of(result.measure, result.of),
            asked,
            count(result.n, "row"),
            f"{result.draws} draws for each assumption",
        ],
        sections=[Section("Audit plan", [sizes, shares])],
        methods=[
            f"Audits of {asked} were simulated with demele [@demele]: {result.draws} draws of true labels for each of",
            f"{count(len(result.worlds), 'assumption')} on the wrong labels, and sizes of",
            f"{joined(written(size, 'count') for size in result.sizes)} rows.",
            f"An audit settles a comparison if it shows which model is better{on} (level {rate(result.level)}).",
        ],
        **about(result),
    )


# Sentences ------------------------------------------------------------------------------------------------------------


def _before(result: "AuditForecast") -> list[str]:
    """Say the least size of each design that settles the comparison, for whom, and where none does."""
    closed = [one for one in result.outlooks if one.settled_by_all < ENOUGH]
    all_rows = f"labels of all {count(result.n, 'row')}"
    if len(closed) == len(result.outlooks):
        if all(one.hopeless for one in closed):
            return [f"No audit would settle the comparison: not even {all_rows} would."]
        return [f"Hardly any audit would settle the comparison: {all_rows} do so in {_draws(closed)}."]
    weighted, uniform = (_needs(result, design) for design in ("weighted", "uniform"))
    larger = [(design, _open(result, design)) for design in ("weighted", "uniform")]
    most = f"more than {result.sizes[-1]:,} rows"
    parts = [one.world.partition(", ") for one in closed]
    where = joined((f"{share} ({side})" if side else share for share, _, side in parts), "or")
    return [
        f"A weighted audit {weighted}, a uniform one {uniform}.",
        *(f"A {design} audit needs {most} if {worlds}." for design, worlds in larger if worlds),
        f"If {where}, {all_rows} settle it in {_draws(closed)} only." if closed else "",
    ]


def _needs(result: "AuditForecast", design: ForecastDesign) -> str:
    sizes = {world.name: result.smallest(design, world=world.name) for world in result.worlds}
    known = [size for size in sizes.values() if size is not None]
    if not known:
        return f"needs more than {result.sizes[-1]:,} rows"
    return f"needs {_span(known)} rows"


def _open(result: "AuditForecast", design: ForecastDesign) -> str:
    """Name the assumptions under which no audit of a design settles the comparison, where others do."""
    worlds = [world.name for world in result.worlds if result.smallest(design, world=world.name) is None]
    said = [world.replace(" wrong", " of the labels are wrong") for world in worlds]
    return joined(said, "or") if len(worlds) < len(result.worlds) else ""


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
    return [f"{how}, {more}.", sentence_of(all_rows)]


def _several(result: "AuditForecast") -> list[str]:
    """Say how many pairs the largest audits of both designs settle, at best and at worst."""
    pairs = len(result.outlooks) // len(result.worlds)
    largest = [one for one in result.prospects if one.rows == result.sizes[-1]]
    counts = {
        design: [
            sum(one.settled for one in largest if (one.design, one.world) == (design, world.name))
            for world in result.worlds
        ]
        for design in ("weighted", "uniform")
    }
    never = [sum(one.hopeless for one in result.outlooks if one.world == world.name) for world in result.worlds]
    size = written(result.sizes[-1], "count")
    return [
        f"A weighted audit of {size} rows settles {_span(counts['weighted'])} of {count(pairs, 'pair')}.",
        f"A uniform audit of {size} rows settles {_span(counts['uniform'])}.",
        f"Labels of all {count(result.n, 'row')} do not settle {_span(never)} of the pairs." if any(never) else "",
    ]


def _draws(outlooks: Sequence[PairOutlook]) -> str:
    low, high = (round(100 * bound(one.settled_by_all for one in outlooks)) for bound in (min, max))
    return f"{high}% of the draws" if low == high else f"{low}% to {high}% of the draws"


def _span(values: Sequence[float]) -> str:
    low, high = round(min(values)), round(max(values))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


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
        low = [max(share - 2 * error, 0.0) for share, error in zip(shares, errors, strict=True)]
        high = [min(share + 2 * error, 1.0) for share, error in zip(shares, errors, strict=True)]
        lines.append(Line(_DESIGNS[design], sizes, shares, low, high))
    return Lines(f"Settled: {world}", lines, ("Rows labelled", "count"), ("Settled", "percent.0"), zero=0.0)


def _shares(result: "AuditForecast", designs: Sequence[ForecastDesign]) -> Table:
    columns = {"Wrong labels": "text", "Design": "text", **{f"{size:,} rows": "percent.0" for size in result.sizes}}
    rows = []
    for world in result.worlds:
        for design in designs:
            found = {size: share for size, share, _ in _settled(result, world.name, design)}
            rows.append(
                (world.name.replace(" wrong,", ","), _DESIGNS[design], *(found.get(size) for size in result.sizes))
            )
    return Table("Share settled, by size", columns, rows)


def _sizes(result: "AuditForecast") -> Table:
    """Return the least size of each design that settles a pair in 80% of the draws."""
    several = len(result.names) > 2

    def size(outlook: PairOutlook, design: ForecastDesign) -> Cell:
        pair = (outlook.baseline, outlook.candidate)
        return _size(outlook, result.smallest(design, world=outlook.world, pair=pair), result.sizes[-1])

    columns: list[Column[PairOutlook]] = [
        ("Candidate", "text", lambda one: name(one.candidate) if several else ""),
        ("Baseline", "text", lambda one: name(one.baseline) if several else ""),
        ("Wrong labels", "text", lambda one: one.world.replace(" wrong,", ",")),
        ("Weighted", "count", lambda one: size(one, "weighted")),
        ("Uniform", "count", lambda one: size(one, "uniform")),
        (
            "Sequential",
            "count",
            lambda one: "" if math.isnan(one.labels_most) else _size(one, one.labels_most, result.n),
        ),
        ("All rows", "percent.0", "settled_by_all"),
        ("Better", "text", lambda one: name(one.winner) if one.winner and not one.hopeless else "open"),
    ]
    one_by_one = any(one.design == "sequential" for one in result.prospects)
    note = (
        "Rows that settle the comparison in 80% of the draws; never: labels of all rows would not. "
        f"{'Sequential: one label at a time. ' if one_by_one else ''}"
        "All rows: share of the draws that labels of all rows settle."
    )
    outlooks = sorted(result.outlooks, key=lambda one: one.settled_by_all) if several else result.outlooks
    return listed("Rows needed", outlooks, columns, note)


def _size(outlook: PairOutlook, size: float | None, most: int) -> Cell:
    if size is not None and math.isfinite(size):
        return size
    return "never" if outlook.hopeless else f"> {most:,}"
