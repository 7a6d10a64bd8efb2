"""Corrections for noisy factors: the values as given beside the corrected ones, what these assume, and what is none."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.corrections import corrections
from demele.report.page import Html, h, paragraph
from demele.report.scores_view import View
from demele.report.words import DASH, brackets, number

__all__ = ["corrected"]

Item = Mapping[str, Any]


def corrected(view: View) -> Html:
    """Write what scores would be if all annotations of the factors were right; empty where nobody asked."""
    parts = [_of_one(view, item) for item in view.evaluations]
    if not any(corrections(item) is not None for item in view.evaluations):
        return h("")
    lead = (
        "Some annotations of the factors are wrong. Values elsewhere on this page are of the annotations as given; "
        "these are estimates of what they would be if all were right, on the assumptions below."
    )
    return h("", paragraph(lead), parts)


def _of_one(view: View, item: Item) -> Html:
    found = corrections(item, view.catalogue.title)
    if found is None:
        return h("")
    heads = ["Metric", "As given", "Corrected", found.interval_head, "Method"]
    heads[4:4] = ["Audited rows alone"] * found.audited
    rows = [_row(view, score, alone=found.audited) for score in found.scores]
    table = h("table", h("thead", h("tr", [h("th", head, scope="col") for head in heads])), h("tbody", rows))
    return h(
        "",
        h("h3", item["name"]) if view.several else "",
        h("div", table, class_="scroll", tabindex="0") if rows else "",
        _listed("What the corrected values assume", found.assumptions),
        _listed("To know", found.notes),
        _listed("Not corrected", found.missing),
    )


def _row(view: View, score: Item, *, alone: bool) -> Html:
    own = score["corrected"]
    shown = [
        number(score["value"]),
        DASH if own["value"] is None else h("strong", number(own["value"])),
        brackets(own["interval"]) or DASH,
        *[number(own["audited_alone"])] * alone,
        own["method"],
    ]
    return h("tr", h("th", view.catalogue.title(score["metric"]), scope="row"), [h("td", cell) for cell in shown])


def _listed(title: str, sentences: Sequence[str]) -> Html:
    if not sentences:
        return h("")
    return h("", h("h4", title), h("ul", [h("li", sentence) for sentence in sentences]))
