"""The table of all scores."""

from collections.abc import Mapping
from html import escape
from typing import Any

from demele.report.figures import value_range
from demele.report.view import PROPERTIES, View
from demele.report.words import anchor, best_sign, bracket, dot, fragile_sign, gap_mark, list_of, mark, named, number

__all__ = ["overview"]


def overview(view: View) -> str:
    """Write the table of all scores, grouped by property, with what it takes to read it."""
    heads = "".join(
        f'<th scope="col" aria-sort="none"><button type="button" class="sort">{dot(index) if view.several else ""}'
        f"{named(item['name'])}</button></th>"
        for index, item in enumerate(view.evaluations)
    )
    bodies = "\n".join(
        f'<tbody><tr class="group"><th colspan="{1 + len(view.evaluations)}" scope="rowgroup">{PROPERTIES[key][0]}'
        f' <span class="meaning">{PROPERTIES[key][1]}</span></th></tr>'
        + "\n".join(_overview_row(view, metric) for metric in group)
        + "</tbody>"
        for key, group in view.by_property(view.metrics).items()
    )
    kind = "several" if view.several else "single"
    return f"""<p>{_reading_guide(view)}</p>
<div class="controls" hidden>
<label>Find <input type="search" id="find" placeholder="metric, family, property"></label>
<label>Group by <select id="group"><option value="property">property</option><option value="family">family</option>
<option value="">nothing</option></select></label>
<label><input type="checkbox" id="only-fragile"> only fragile</label>
<span id="found" role="status"></span></div>
<div class="scroll" tabindex="0" role="region" aria-labelledby="scores-title">
<table id="overview" class="{kind}"><caption class="hidden">Every metric of every representation</caption>
<thead><tr><th scope="col" aria-sort="none"><button type="button" class="sort">Metric</button></th>{heads}</tr></thead>
{bodies}
</table></div>"""


def _reading_guide(view: View) -> str:
    scores = [score for item in view.evaluations for score in item["scores"]]
    parts = ["The bar is the value, drawn from 0 to 1 unless a value lies outside."]
    intervals = [score["interval"] for score in scores if score["interval"] is not None]
    if intervals:
        kinds = list_of(
            dict.fromkeys(f"{interval['level']:.0%} {interval['kind']} intervals" for interval in intervals)
        )
        parts.append(f"Brackets and the thin line are {kinds}.")
    if any(score["spread"] is not None for score in scores):
        parts.append("± is the standard deviation over seeds.")
    if any(score["chance"] is not None for score in scores):
        parts.append("The upright tick is chance: what the same codes score when the factors' rows are shuffled.")
    if view.several:
        best = f"{best_sign(True)} marks the best of a row"
        parts.append(f"{best}, {best_sign(False)} where intervals overlap." if intervals else f"{best}.")
    if any(map(view.assumed, view.metrics)):
        text = "Where the order of codes was assumed, a value hangs on the order of the columns"
        parts.append(f"{text}: it is shown, not compared." if view.several else f"{text}.")
    parts.append(f"{fragile_sign()} marks fragile scores.")
    return " ".join(parts)


def _overview_row(view: View, metric: str) -> str:
    title, family = view.catalogue.title(metric), view.catalogue.family(metric)
    scores = [view.score(index, metric) for index in range(len(view.evaluations))]
    ends = [end for score in scores if score is not None for end in _extent(score)]
    low, high = value_range(ends)
    winner = view.winner(metric)
    cells = "".join(_overview_cell(view, metric, index, score, low, high, winner) for index, score in enumerate(scores))
    group = view.catalogue.property_of(metric)
    fragile = any(score is not None and score["fragile"] for score in scores)
    reason = view.assumed(metric)
    hint = f'<span class="assumed" title="{escape(reason)}">order of codes assumed</span>' if reason else ""
    words = escape(" ".join([metric, title, family, PROPERTIES[group][0]]).lower())
    return (
        f'<tr class="row" data-words="{words}" data-property="{group}" data-family="{escape(family)}" '
        f'data-fragile="{int(fragile)}"><th scope="row" data-value="{escape(title.lower())}">'
        f'<a href="#{anchor("metric", metric)}">{escape(title)}</a>'
        f'<span class="family">{escape(family)}</span>{hint}</th>'
        f"{cells}</tr>"
    )


def _extent(score: Mapping[str, Any]) -> list[float | None]:
    return [score["value"], (score["chance"] or {}).get("mean")]


def _overview_cell(
    view: View,
    metric: str,
    index: int,
    score: Mapping[str, Any] | None,
    low: float,
    high: float,
    winner: tuple[int, bool | None] | None,
) -> str:
    if score is None:
        gaps = view.evaluations[index]["left_out"]
        reason = next((gap["reason"] for gap in gaps if gap["metric"] == metric), "not asked for")
        return f'<td class="score" data-value="">{gap_mark(reason)}</td>'
    shown = f'<a class="value" href="#{anchor("made", f"{index}-{metric}")}">{number(score["value"])}</a>'
    if score["value"] is None:
        reasons = [note["message"] for note in score["notes"]]
        return f'<td class="score" data-value="">{gap_mark("; ".join(reasons) or "undefined")}</td>'
    marks = ""
    if winner is not None and winner[0] == index:
        shown = f"<strong>{shown}</strong>"
        marks += best_sign(winner[1] is not False)
    if score["fragile"]:
        reasons = [note["message"] for note in score["notes"] if note["severity"] == "fragile"]
        marks += mark("!", "fragile", f"Fragile: {'; '.join(reasons)}")
    return (
        f'<td class="score" data-value="{score["value"]!r}"><span class="line">{shown}{marks}'
        f'<span class="interval">{bracket(score["interval"])}</span></span>{_strip(score, low, high, index)}'
        f"{_extras_line(score)}</td>"
    )


def _extras_line(score: Mapping[str, Any]) -> str:
    parts = []
    if score["spread"] is not None:
        parts.append(f"± {number(score['spread']['std'])}")
    if score["chance"] is not None:
        parts.append(f"chance {number(score['chance']['mean'])}")
    return f'<span class="extras">{" · ".join(parts)}</span>' if parts else ""


def _strip(score: Mapping[str, Any], low: float, high: float, index: int) -> str:
    """Value as a bar from 0, interval as a line, chance as a tick; a picture of numbers that stand beside it."""

    def at(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    start, end = sorted((at(0.0), at(score["value"])))
    parts = [f'<rect class="bar" x="{start}" y="2" width="{round(end - start, 2)}" height="6"/>']
    interval, chance = score["interval"], score["chance"]
    if interval is not None and interval["low"] is not None and interval["high"] is not None:
        left, right = at(interval["low"]), at(interval["high"])
        parts.append(f'<rect class="range" x="{left}" y="4.25" width="{round(right - left, 2)}" height="1.5"/>')
    if chance is not None and chance["mean"] is not None:
        parts.append(f'<rect class="chance" x="{at(chance["mean"])}" y="0" width="0.8" height="10"/>')
    return (
        f'<svg class="strip c{index % 8}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" x="0" y="2" width="100" height="6"/>{"".join(parts)}</svg>'
    )
