"""One card for each metric: what it is, what it costs, what chance gives, how it was judged, all its curves, small."""

from collections.abc import Sequence
from typing import Any

from demele.report.bench_view import STATUSES, BenchView, Item, badge, label_of, status_key, tally
from demele.report.page import Cell, Html, controls, facts, h, hidden, identity, paragraph, table
from demele.report.scores_figures import value_range
from demele.report.words import DASH, Text, duration, fine, fine_brackets, joined, number, plural, strong

__all__ = ["cards", "shares", "sparkline"]

#: Cards are open from the start where there are no more of them.
_FEW = 3
#: Of the small pictures, so fine that whole numbers will do.
_WIDTH, _HEIGHT, _EDGE = 264, 112, 8
#: A band that is nowhere wider is not seen beside the line.
_SEEN = 2
_POINT = h(
    "marker",
    h("circle", cx="4", cy="4", r="3.2"),
    id="point",
    markerWidth="8",
    markerHeight="8",
    refX="4",
    refY="4",
    markerUnits="userSpaceOnUse",
)


def cards(view: BenchView) -> Html:
    """Write the cards of all metrics, those of the user first."""
    metrics = sorted(view.metrics.values(), key=lambda item: not item.get("own"))
    return h(
        "",
        paragraph(
            "Small pictures share one axis within a card; its thin lines are 0 and 1, its bands are intervals of the "
            "mean. A picture opens as a large one."
        ),
        controls(
            h("label", "Find ", h("input", type="search", id="find", placeholder="metric, family, property")),
            h("button", "Open all", type="button", id="open-all"),
            h("button", "Close all", type="button", id="close-all"),
            h("span", id="found", role="status"),
        ),
        # The point of every small curve, to which the style leads.
        h("svg", _POINT, class_="hidden", aria_hidden="true"),
        [_card(view, item, len(metrics) <= _FEW) for item in metrics],
    )


def shares(counts: dict[str, int]) -> Html:
    """Draw counts of statuses as shares of a bar; the numbers stand beside it."""
    parts = [h("i", class_=status_key(status), style=f"flex-grow:{many}") for status, many in counts.items() if many]
    return h("span", parts, class_="shares", aria_hidden="true")


def _card(view: BenchView, metric: Item, is_open: bool) -> Html:
    name, title, own = metric["name"], view.title(metric["name"]), bool(metric.get("own"))
    card: Item = metric.get("card") or {}
    statuses = view.statuses(view.row_of(name), view.criteria)
    counts = tally(statuses)
    judged = len(statuses) - counts["not applicable"]
    brief = [f"{counts['holds']} of {judged} held"] if judged else []
    brief += ["not yet characterised"] if metric.get("characterised") is False else []
    brief += [metric["fewer"]["text"]] if metric.get("fewer") else []
    if card.get("seconds") is not None:
        rows = card.get("seconds_rows")
        brief.append(duration(card["seconds"]) + (f" at {plural(rows, 'row', 'rows')}" if rows else ""))
    summary = h(
        "summary",
        h("span", h("bdi", title), [" ", h("span", "yours", class_="tag")] if own else "", class_="name"),
        shares(counts) if statuses else "",
        h("span", " · ".join(brief), class_="meaning"),
    )
    return h(
        "details",
        summary,
        h("div", _facts(view, metric, card), class_="facts-of"),
        _chips(view, view.row_of(name)),
        h("div", _by_size(card), _invariances(card), class_="tables"),
        _small_multiples(view, name),
        class_=f"metric{' own' if own else ''}",
        id=identity("card", name),
        data_words=" ".join([name, title, str(metric.get("family") or ""), *(metric.get("properties") or ())]).lower(),
        open=own or is_open,
    )


def _said(value: bool | None) -> str:
    return "not said" if value is None else "yes" if value else "no"


def _facts(view: BenchView, metric: Item, card: Item) -> Html:
    properties, ends, drifts = metric.get("properties"), metric.get("range"), metric.get("drifts")
    claims = "not said; judged on all" if properties is None else joined(map(str, properties)) or "none"
    random = Text(strong("yes, without a seed"), f": it {drifts}") if drifts else _said(metric.get("stochastic"))
    pairs: list[tuple[object, object]] = [
        ("Claims to measure", claims),
        ("Source", metric.get("source")),
        ("Range", _range(*ends) if ends else ""),
        ("Family", metric.get("family")),
        ("Cuts into bins", _said(metric.get("discretises"))),
        ("Draws at random", random),
    ]
    if metric.get("fewer"):
        pairs.append(("Measured with", f"{metric['fewer']['text']}, fewer than the others, since a call takes seconds"))
    chance = card.get("chance")
    if chance:
        seeds = f" · {plural(chance['n'], 'seed', 'seeds')}" if chance.get("n") is not None else ""
        interval = h("span", fine_brackets(chance.get("low"), chance.get("high")) + seeds, class_="interval")
        pairs.append(("Chance: codes know nothing", h("", fine(chance.get("mean")), " ", interval)))
    if card.get("seconds") is not None:
        rows = card.get("seconds_rows") or view.data.get("n_samples")
        at = [" ", h("span", f"at {plural(rows, 'row', 'rows')}", class_="interval")] if rows else ""
        pairs.append(("Median time of a call", h("", duration(card["seconds"]), at)))
    return h("", paragraph(metric["definition"]) if metric.get("definition") else "", facts(pairs))


def _range(low: float | None, high: float | None) -> str:
    start = "−∞" if low is None else f"{low:g}".replace("-", "−")
    return f"{start} to {'∞' if high is None else f'{high:g}'}"


def _chips(view: BenchView, row: str) -> Html:
    chips = []
    for item in view.criteria:
        status = view.status(row, item["name"])
        if status is not None:
            shown = [
                h("b", STATUSES.get(status, ("?", ""))[0]),
                f" {view.criterion_title(item)}",
                hidden(f": {status}"),
            ]
            to = f"#{identity('evidence', row, item['name'])}"
            chips.append(h("li", h("a", shown, class_=f"cell chip {status_key(status)}", href=to)))
    return h("ul", chips, class_="verdict-chips") if chips else h("")


def _by_size(card: Item) -> Html:
    """Chance and cost by sample size, in one table."""
    chance = {item["n_samples"]: item for item in card.get("chance_by_size") or ()}
    cost = {item["n_samples"]: item.get("seconds") for item in card.get("cost") or ()}
    if not chance and not cost:
        return h("")
    rows = [
        [
            h("th", f"{size:,}", scope="row", class_="number"),
            Cell(fine(chance.get(size, {}).get("mean"))) if chance else None,
            Cell(_ends(chance.get(size)), kind="number interval") if chance else None,
            Cell(duration(cost.get(size))) if cost else None,
        ]
        for size in sorted({*chance, *cost})
    ]
    shown = {"Rows": True, "Chance": chance, "Interval": chance, "Time": cost}
    heads = [(head, "number") if there else None for head, there in shown.items()]
    return h("div", h("h4", "By sample size"), table("By sample size", heads, rows, sortable=False))


def _ends(item: Item | None) -> str:
    return DASH if item is None else fine_brackets(item.get("low"), item.get("high"))


def _invariances(card: Item) -> Html:
    changes = card.get("invariances") or ()
    if not changes:
        return h("")
    rows = [[item["change"], Cell(fine(item.get("difference"))), h("td", badge(item["status"]))] for item in changes]
    heads = [("Change", ""), ("Difference", "number"), ("Status", "")]
    listed = table("Invariances", heads, rows, sortable=False)
    return h("div", h("h4", "Changes that should not matter"), listed)


# Small curves ---------------------------------------------------------------------------------------------------------


def _small_multiples(view: BenchView, metric: str) -> Html:
    """Write one small picture for each scenario of a metric, all on one axis."""
    curves = [view.curves[metric, name] for name in view.scenarios if (metric, name) in view.curves]
    if not curves:
        return h("")
    low, high = value_range(value for curve in curves for key in ("mean", "low", "high") for value in curve[key])
    return h("ul", [_picture(view, curve, low, high) for curve in curves], class_="multiples")


def _picture(view: BenchView, curve: Item, low: float, high: float) -> Html:
    scenario = view.scenarios[curve["scenario"]]
    title = h("b", view.scenario_title(curve["scenario"]))
    known = [(place, mean) for place, mean in enumerate(curve["mean"]) if mean is not None]
    if curve.get("declined") or not known:
        reason = curve.get("declined") or next(filter(None, curve.get("reasons") or ()), "no value")
        return h("li", title, h("span", f"takes no part: {reason}"), class_="declined")
    (first, start), (last, end) = known[0], known[-1]
    words = f"{number(start)} at {label_of(scenario, first)}, {number(end)} at {label_of(scenario, last)}"
    ends = number(start) if len(known) == 1 else f"{number(start)} → {number(end)}"
    button = h(
        "button",
        *(title, sparkline(curve["mean"], curve["low"], curve["high"], low, high)),
        h("span", ends, class_="ends", aria_hidden="true"),
        hidden(words),
        type="button",
        class_="spark",
        data_metric=curve["metric"],
        data_scenario=curve["scenario"],
    )
    return h("li", button)


def sparkline(
    mean: Sequence[float | None], lower: Sequence[float | None], upper: Sequence[float | None], low: float, high: float
) -> Html:
    """Draw means as a line with points, their intervals as a band; where a mean is missing the line breaks."""
    step = (_WIDTH - 2 * _EDGE) / max(1, len(mean) - 1)

    def at(place: int) -> int:
        return round(_WIDTH / 2 if len(mean) == 1 else _EDGE + step * place)

    def up(value: float) -> int:
        return round(_HEIGHT - _EDGE - (value - low) / (high - low) * (_HEIGHT - 2 * _EDGE))

    parts = [h("path", class_="rule", d="".join(f"M0 {up(end)}H{_WIDTH}" for end in (0.0, 1.0)))]
    for run in runs(mean):
        line = [(at(place), up(mean[place] or 0.0)) for place in run]
        tops, feet = (
            [(x, y if side[place] is None else up(side[place] or 0.0)) for place, (x, y) in zip(run, line, strict=True)]
            for side in (upper, lower)
        )
        if len(run) == 1:
            parts.append(h("path", class_="bar", d=_path([*tops, *feet])))
        elif any(foot[1] - top[1] > _SEEN for top, foot in zip(tops, feet, strict=True)):
            parts.append(h("path", class_="band", d=_path([*tops, *reversed(feet)])))
        parts.append(h("path", class_="mean", d=_path(line)))
    return h("svg", parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", aria_hidden="true")


def _path(corners: Sequence[tuple[int, int]]) -> str:
    return "M" + " ".join(f"{x} {y}" for x, y in corners)


def runs(values: Sequence[Any]) -> list[list[int]]:
    """Return the stretches of places that have a value."""
    found: list[list[int]] = [[]]
    for place, value in enumerate(values):
        if value is not None:
            found[-1].append(place)
        elif found[-1]:
            found.append([])
    return [run for run in found if run]
