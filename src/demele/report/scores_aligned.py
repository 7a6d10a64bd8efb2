"""The part of the page of scores that asks about axes: raw and aligned scores, their gap, and what it says."""

from collections.abc import Mapping
from typing import Any

from demele.core.alignment import not_aligned, readings_told
from demele.report.page import Html, h, paragraph
from demele.report.scores_figures import value_range
from demele.report.scores_strip import strip
from demele.report.scores_view import View
from demele.report.words import Text, brackets, first_names, joined, named, number, strong

__all__ = ["on_which_axes"]

Item = Mapping[str, Any]
_BARS = (("raw", "as they are"), ("aligned", "turned"), ("gap", "gap"))


def on_which_axes(view: View) -> Html:
    """Write raw, aligned and gap of every metric that was aligned; nothing where none was."""
    parts = [_of_one(view, index) for index in range(len(view.evaluations))]
    if not any(parts):
        return h("")
    return h(
        "",
        paragraph(
            "Every score once more, of codes that were turned towards the factors. Axes were found on one half of the "
            "rows, and both scores are of the other half; then the halves changed places. The gap is what turning "
            "gains: a low estimate, which grows with the rows.",
            " Brackets and the thin line are the interval of the gap, with the axes fixed."
            if _any(view, "interval")
            else "",
            " The upright tick is the gap that chance gives." if _any(view, "chance") else "",
        ),
        parts,
    )


def _any(view: View, key: str) -> bool:
    return any(found[key] is not None for item in view.evaluations for _, found in _aligned(item))


def _aligned(item: Item) -> list[tuple[str, Item]]:
    scores = item["scores"]
    return [(score["metric"], score["alignment"]) for score in scores if score.get("alignment") is not None]


def _of_one(view: View, index: int) -> Html:
    """Write the sentences of one representation, with the metrics that they are true of, and a table with bars."""
    item = view.evaluations[index]
    found = _aligned(item)
    if not found:
        return h("")
    told = readings_told(found)
    titles = view.catalogue.title
    sentences = [Text(strong(text), " (", first_names(map(titles, metrics), 12), ")") for text, metrics in told.items()]
    sentences += [Text(first_names(map(titles, metrics)), ": ", why) for why, metrics in not_aligned(item).items()]
    name = paragraph(strong(named(item["name"]))) if view.several else ""
    head = h(
        "tr",
        h("th", "Metric", scope="col"),
        [h("th", f"Codes {word}" if word != "gap" else "Gap", scope="col") for _, word in _BARS],
    )
    rows = [_row(titles(metric), alignment, index) for metric, alignment in found]
    whole = h(
        "table",
        h("caption", "Scores of the codes as they are, turned, and the gap", class_="hidden"),
        h("thead", head),
        h("tbody", rows),
        class_="axes",
    )
    scroll = h("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Raw, aligned, gap")
    return h("", name, h("ul", [h("li", sentence) for sentence in sentences]), scroll, _chosen(found))


def _row(title: str, alignment: Item, index: int) -> Html:
    scale = value_range([alignment["raw"], alignment["aligned"], alignment["gap"]])
    cells = []
    for key, _ in _BARS:
        drawn = {"value": alignment[key], "interval": None, "chance": None}
        if key == "gap":
            drawn |= {"interval": alignment["interval"], "chance": alignment["chance"]}
        extras = f"chance {number(drawn['chance']['mean'])}" if drawn["chance"] is not None else ""
        cells.append(
            h(
                "td",
                h(
                    "span",
                    h("span", number(alignment[key]), class_="value"),
                    h("span", brackets(drawn["interval"]), class_="interval"),
                    class_="line",
                ),
                strip(drawn, scale, index),
                h("span", extras, class_="extras") if extras else "",
                class_="score",
            )
        )
    return h("tr", h("th", title, h("span", alignment["sentence"], class_="meaning below"), scope="row"), cells)


def _chosen(found: list[tuple[str, Item]]) -> Html:
    """Say how codes were turned on the two halves."""
    by_way: dict[str, list[str]] = {}
    for metric, alignment in found:
        ways = " and ".join(dict.fromkeys(half["candidate"] for half in alignment["halves"]))
        by_way.setdefault(ways, []).append(metric)
    said = joined((Text(way, " (", first_names(metrics), ")") for way, metrics in by_way.items()), last="; ")
    return paragraph("How codes were turned: ", said, ". “identity”: not at all.", class_="meaning")
