"""The page about a forecast of audits: which size of which design would settle the comparison."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from demele.report.estimates import labels_page
from demele.report.forecast_drawn import DESIGNS, settled_figure
from demele.report.forecast_view import mean_settled, sizes_needed
from demele.report.page import Cell, Html, facts, h, lead, notes, of_kind, paragraph, signature, table
from demele.report.words import DASH, Text, count, level_text, named, percent, points

__all__ = ["write_forecast"]

Item = Mapping[str, Any]

#: Of more rows, the table is left to the downloads.
_MOST_ROWS = 300


def write_forecast(forecast: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``AuditForecast.to_dict()`` returns as one HTML file; its figures need no script.

    Raises
    ------
    InputError
        If the dictionary is not that of a forecast of audits.
    """
    data = of_kind(forecast, "audit forecast")
    asked = "How many more rows?" if data["audited"] else "What would an audit settle?"
    sections = [
        ("verdict", "Answer", _verdict(data)),
        ("picture", "What is settled, by rows labelled", _figures(data)),
        ("pairs", "Pair by pair", _pairs(data)),
        ("numbers", "The numbers", _numbers(data)),
        ("notes", "Notes", notes(data["notes"])),
        ("made", "How this was made", _made(data)),
    ]
    return labels_page(
        data,
        kind="Audits of classifiers on labels that may be wrong, simulated",
        title=title or asked,
        sections=sections,
        scripts=(),
        csv="prospects",
        styles=("forecast.css",),
    ).write(path)


def _verdict(data: Item) -> Html:
    names = [named(name) for name in data["names"]]
    compared = (
        Text(names[0], " and ", names[1]) if len(names) == 2 else Text(count(len(names), "model"), ", pair by pair")
    )
    sentences = [
        Text(
            "Compared are ",
            compared,
            f", on {count(data['n'], 'row')}. An audit settles a comparison if it shows one of the two to be better, "
            f"at level {level_text(data['level'])}.",
        ),
        f"Each assumption was drawn {data['draws']} times: true labels of all rows, then audits of each size, read by "
        "the comparisons that would be made with the expert's answers.",
    ]
    return lead(data["sentence"], sentences, assumptions=data["assumptions"])


def _figures(data: Item) -> Html:
    several = len(data["names"]) > 2
    figures = []
    for world in data["worlds"]:
        own = [one for one in data["prospects"] if one["world"] == world["name"]]
        curves = {
            design: mean_settled(one for one in own if one["design"] == design)
            for design in DESIGNS
            if not (several and design == "sequential")
        }
        figures.append(settled_figure(world["name"], curves, enough=not several))
    key = [
        h("span", h("i", class_=f"key {design}"), words)
        for design, words in DESIGNS.items()
        if not (several and design == "sequential")
    ]
    what = (
        "The mean share of pairs that one audit settles."
        if several
        else "The share of simulated audits that settle it; the thin line is at 80%."
    )
    return h(
        "",
        paragraph(f"{what} Upright lines are two standard errors of the simulation."),
        h("p", key, class_="keys"),
        h("div", figures, class_="curves"),
    )


def _pairs(data: Item) -> Html:
    """Write, for each pair and assumption, the least size of each design that settles it in 80% of the draws."""
    heads: list[tuple[object, str] | None] = [
        ("Pair", "text"),
        ("If", "text"),
        *((f"{words[0].upper()}{words[1:]}, rows", "number") for words in DESIGNS.values()),
        ("Settled by all rows", "number"),
    ]
    rows = []
    for one in sizes_needed(data):
        pair = Text(named(one["candidate"]), " against ", named(one["baseline"]))
        cells = [Cell(_size(one, design, data), one[design]) for design in DESIGNS]
        share = Cell(percent(one["settled_by_all"], 0), one["settled_by_all"])
        rows.append([pair, Cell(one["world"], kind="text"), *cells, share])
    return h(
        "",
        paragraph(
            "The least size that settles it in 80% of the draws. Of one label at a time, the number of labels by which "
            "80% of the draws have a verdict, up to all rows. Where even all rows seldom settle it, the difference is "
            "within what chance leaves open on a test set of this size: no audit helps, more rows may."
        ),
        table("Least sizes", heads, rows, first=20, noun="pairs"),
    )


def _size(one: Item, design: str, data: Item) -> str:
    """Write the least size of a design, or that none is enough."""
    if one[design] is not None:
        return f"{one[design]:,.0f}"
    if one["hopeless"]:
        return "never"
    return f"more than {data['n'] if design == 'sequential' else data['sizes'][-1]:,}"


def _numbers(data: Item) -> Html:
    if len(data["prospects"]) > _MOST_ROWS:
        return h("")
    heads: list[tuple[object, str] | None] = [
        ("Pair", "text"),
        ("If", "text"),
        ("Design", "text"),
        ("Rows", "number"),
        ("Settled", "number"),
        ("For the one that leads", "number"),
        ("Interval, ± points", "number"),
    ]
    rows = [
        [
            Text(named(one["candidate"]), " against ", named(one["baseline"])),
            Cell(one["world"], kind="text"),
            Cell(DESIGNS[one["design"]], kind="text"),
            Cell(f"{one['rows']:,}", one["rows"]),
            Cell(percent(one["settled"], 0), one["settled"], f"± {percent(one['error'], 0)}"),
            Cell(percent(one["for_candidate"], 0), one["for_candidate"]),
            Cell(points(one["half_width"], 1) if one["half_width"] is not None else DASH, one["half_width"]),
        ]
        for one in data["prospects"]
    ]
    told = paragraph(
        "± below a share is the standard error of the simulation. The interval is that of the difference, at the mean "
        "of the draws; labels asked one at a time stop at the verdict and have none to compare."
    )
    return h(
        "details",
        h("summary", "Every design, size and assumption"),
        told,
        table("Prospects", heads, rows, first=60),
        class_="values",
    )


def _made(data: Item) -> Html:
    pairs: Iterable[tuple[object, object]] = [
        ("Rows", f"{data['n']:,}"),
        ("Audited so far", f"{data['audited']:,}, {data['design']}" if data["audited"] else ""),
        ("Sizes", ", ".join(f"{size:,}" for size in data["sizes"])),
        ("Draws", f"{data['draws']} for each assumption"),
        ("Question", "better on new instances" if data["inference"] == "population" else "better on these instances"),
        ("Level", f"{level_text(data['level'])}, of each pair by itself"),
    ]
    return h("", facts(pairs), signature(data["signature"]))
