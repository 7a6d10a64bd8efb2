"""Matrices of rank correlations as tables that are coloured, and ours against print as a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.agreement_view import AgreementView, interval_words, short_tau, title_of
from demele.report.page import Html, h
from demele.report.words import Text, number

__all__ = ["matrix_table", "scatter"]

Item = Mapping[str, Any]

_SIZE, _LEFT, _BOTTOM, _EDGE = 340.0, 40.0, 36.0, 10.0


def matrix_table(view: AgreementView, name: str, pairs: Mapping[frozenset[str], Item], order: Sequence[str]) -> Html:
    """Draw taus as a square: colour says sign and size, weight what is told from 0, a dot what a null explains."""
    heads = [h("th", h("span", title_of(metric)), scope="col", data_metric=metric) for metric in order]
    return h(
        "table",
        h("caption", name, class_="hidden"),
        h("thead", h("tr", h("td"), heads)),
        h("tbody", [_row(metric, order, pairs) for metric in order]),
        class_="taus",
        data_name=name,
    )


def _row(metric: str, order: Sequence[str], pairs: Mapping[frozenset[str], Item]) -> Html:
    cells = [_cell(pairs.get(frozenset((metric, other))), metric, other) for other in order]
    return h("tr", h("th", title_of(metric), scope="row"), cells, data_metric=metric)


def _cell(pair: Item | None, metric: str, other: str) -> Html:
    if metric == other:
        return h("td", class_="self", data_metric=other)
    tau = None if pair is None else pair["tau"]
    if pair is None or tau is None:
        return h("td", "–", class_="none", data_metric=other)
    kind = {"significant": "clear", "significant alone": "alone"}.get(pair.get("verdict", ""), "untold")
    if "verdict" not in pair:  # in print
        kind = "printed disputed" if pair.get("disputed") else "printed"
    side = "with" if tau >= 0 else "against"
    null = " null" if pair.get("within_null") else ""
    return h(
        "td",
        short_tau(tau),
        class_=f"{kind} {side}{null}",
        style=f"--t:{abs(tau):.2f}",
        title=_told(pair),
        data_metric=other,
    )


def _told(pair: Item) -> Text:
    names = Text(title_of(pair["first"]), " and ", title_of(pair["second"]), ": ", interval_words(pair))
    if "verdict" not in pair:
        return Text(names, ", in print", ", whose other cell has another sign" if pair.get("disputed") else "")
    null = "" if pair.get("null_tau") is None else f"; null {short_tau(pair['null_tau'])}"
    within = ", which would explain it" if pair.get("within_null") else ""
    return Text(names, f", {pair['n']} configurations, {pair['verdict']}", null, within)


def scatter(view: AgreementView, title: str, printed: Mapping[frozenset[str], Item]) -> Html:
    """Draw our taus against printed ones: a point for each pair of metrics, hollow where print disputes it."""

    def across(value: float) -> float:
        return round(_LEFT + (value + 1) / 2 * (_SIZE - _LEFT - _EDGE), 1)

    def up(value: float) -> float:
        return round(_EDGE + (1 - value) / 2 * (_SIZE - _BOTTOM - _EDGE), 1)

    parts: list[Html] = []
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        kind = "axis" if tick == 0 else "rule"
        parts.append(h("line", class_=kind, x1=across(-1), x2=across(1), y1=up(tick), y2=up(tick)))
        parts.append(h("line", class_=kind, y1=up(-1), y2=up(1), x1=across(tick), x2=across(tick)))
        parts.append(h("text", number(tick, 1), class_="side", x=_LEFT - 5, y=up(tick) + 3.5))
        parts.append(h("text", number(tick, 1), class_="foot", x=across(tick), y=_SIZE - _BOTTOM + 14))
    parts.append(h("line", class_="same", x1=across(-1), x2=across(1), y1=up(-1), y2=up(1)))
    for names, pair in printed.items():
        ours = view.matrices["all"].get(names)
        if ours is None or ours["tau"] is None:
            continue
        words = Text(_told(ours), "; in print ", short_tau(pair["tau"]))
        kind = f"{'hollow ' if pair.get('disputed') else ''}dot-of"
        point = h("circle", h("title", words), class_=kind, cx=across(pair["tau"]), cy=up(ours["tau"]), r=3.4)
        parts.append(point)
    middle = (_LEFT + _SIZE - _EDGE) / 2
    parts.append(h("text", f"tau in print, {title}", class_="foot", x=middle, y=_SIZE - 4))
    box = {"viewBox": f"0 0 {_SIZE:g} {_SIZE:g}"}
    label = f"Our taus against those in print for {title}; the values are in the matrices"
    return h("svg", parts, class_="scatter", **box, role="img", aria_label=label)
