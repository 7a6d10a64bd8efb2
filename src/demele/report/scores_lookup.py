"""The parts of the page of scores that are looked up: gaps, notes, inputs, meanings, signatures."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Cell, Html, controls, dot, facts, h, paragraph, table
from demele.report.scores_view import PROPERTIES, View
from demele.report.words import DASH, Text, brackets, code, count, named, number

__all__ = ["anchor", "fragile_sign", "inputs", "legend", "made", "missing_and_notes"]

Item = Mapping[str, Any]

_FAMILIES = {
    "information": "how much the codes tell about the factors, in shares of the factors' entropy",
    "predictor": "what a predictor makes of the codes, or which codes it uses",
    "intervention": "what stays and what changes where a factor is held fixed",
}


def anchor(kind: str, name: str) -> str:
    """Return an identifier that is safe in an attribute and in an address, and still readable."""
    return f"{kind}-" + re.sub(r"[^a-z0-9_-]", lambda sign: f".{ord(sign.group()):x}", name.lower())


def fragile_sign() -> Html:
    """Write the sign of fragile scores where the words beside it say so."""
    return h("span", "!", class_="mark fragile", aria_hidden="true")


def _who(view: View, indices: Sequence[int]) -> Html:
    if len(set(indices)) == len(view.evaluations):
        return h("", "all")
    names = [(dot(index), named(view.evaluations[index]["name"])) for index in dict.fromkeys(indices)]
    return h("", [[", " if place else "", *name] for place, name in enumerate(names)])


# Gaps and notes -------------------------------------------------------------------------------------------------------


def missing_and_notes(view: View) -> Html:
    """Write which numbers are missing, and what a reader must know of the others."""
    return h("", _left_out_table(view), _notes_list(view))


def _left_out_table(view: View) -> Html:
    reasons: dict[tuple[str, str], list[int]] = {}
    for index, item in enumerate(view.evaluations):
        gaps = [(gap["metric"], gap["reason"]) for gap in item["left_out"]]
        gaps += [
            (score["metric"], "; ".join(note["message"] for note in score["notes"]) or "undefined")
            for score in item["scores"]
            if score["value"] is None
        ]
        for gap in gaps:
            reasons.setdefault(gap, []).append(index)
    if not reasons:
        return paragraph("Every metric that was asked for has a number.")
    rows = [
        [view.catalogue.title(metric), h("td", reason), h("td", _who(view, who)) if view.several else None]
        for (metric, reason), who in reasons.items()
    ]
    heads = [("Metric", ""), ("Reason", ""), ("Representation", "") if view.several else None]
    listed = table("Metrics without a number", heads, rows, sortable=False)
    return h("", h("h3", "No number, and why"), listed)


def _notes_list(view: View) -> Html:
    """Equal messages are one entry, which names the metrics and representations that it is about."""
    found: dict[tuple[str, str], dict[int, list[str]]] = {}
    for index, item in enumerate(view.evaluations):
        of_all = [(note, None) for note in item["notes"]]
        of_scores = [(note, score["metric"]) for score in item["scores"] for note in score["notes"]]
        for note, metric in [*of_all, *of_scores]:
            about = found.setdefault((note["severity"], note["message"]), {}).setdefault(index, [])
            about += [metric] if metric is not None and metric not in about else []
    parts = []
    for severity, heading in (("fragile", "Fragile scores"), ("warning", "Warnings"), ("info", "To know")):
        items = [
            h("li", h("span", _about(view, about), class_="about"), " ", h("span", message))
            for (level, message), about in found.items()
            if level == severity
        ]
        if items:
            parts.append(h("", h("h3", heading), h("ul", items, class_=f"notes {severity}")))
    return h("", parts)


def _about(view: View, about: Mapping[int, Sequence[str]]) -> Html:
    metrics = list(dict.fromkeys(metric for group in about.values() for metric in group))
    titles = ", ".join(view.catalogue.title(metric) for metric in metrics)
    who = _who(view, list(about)) if view.several else ""
    return h("", titles, " · " if titles and who else "", who) if titles or who else h("", "all metrics")


# Inputs ---------------------------------------------------------------------------------------------------------------


def inputs(view: View) -> Html:
    """Write what was read: rows, codes, factors."""
    rows = [
        [
            h("", dot(index) if view.several else "", named(item["name"])),
            Cell(f"{item['n']:,}"),
            Cell(f"{item.get('codes_in_all', len(item['codes'])):,}"),
            Cell(len(item["factors"])),
            h("td", item["protocol"]),
            Cell(len(item["scores"])),
            Cell(sum(score["fragile"] for score in item["scores"])),
        ]
        for index, item in enumerate(view.evaluations)
    ]
    words = ("Representation", "Rows", "Codes", "Factors", "Protocol", "Scores", "Fragile")
    heads = [(word, "" if word in ("Representation", "Protocol") else "number") for word in words]
    groups: dict[str, list[int]] = {}
    for index, item in enumerate(view.evaluations):
        groups.setdefault(json.dumps(item["factors"]), []).append(index)
    factors = [_factor_table(view, who) for who in groups.values()]
    return h("", table("Representations", heads, rows, sortable=False), factors)


def _factor_table(view: View, who: Sequence[int]) -> Html:
    rows = [
        [
            named(factor["name"]),
            h("td", factor["kind"]),
            Cell(DASH if factor["n_levels"] is None else factor["n_levels"]),
            Cell(f"{factor['n_annotated']:,}"),
            h("td", "constant: left out" if factor["constant"] else ""),
        ]
        for factor in view.evaluations[who[0]]["factors"]
    ]
    heads = [("Factor", ""), ("Kind", ""), ("Values", "number"), ("Rows with a value", "number"), ("Remark", "")]
    of = [" of ", _who(view, who)] if len(who) < len(view.evaluations) else ""
    return h("", h("h3", "Factors", of), table("Factors", heads, rows, sortable=False))


# Meanings -------------------------------------------------------------------------------------------------------------


def legend(view: View) -> Html:
    """Write what each metric means and where it comes from."""
    left_out = [gap["metric"] for item in view.evaluations for gap in item["left_out"]]
    metrics = list(dict.fromkeys([*view.metrics, *left_out]))
    own = {view.catalogue.family(metric) for metric in metrics}
    families = [[h("dt", family), h("dd", words)] for family, words in _FAMILIES.items() if family in own]
    intro = [h("h3", "Families"), h("dl", families, class_="families")] if families else ""
    parts = []
    for key, group in view.by_property(metrics).items():
        title, meaning = PROPERTIES[key]
        parts.append(h("h3", title, " ", h("span", meaning, class_="meaning")))
        parts.append(h("dl", [_legend_entry(view, metric) for metric in group], class_="metrics"))
    return h("", intro, parts)


def _legend_entry(view: View, metric: str) -> Html:
    spec = view.catalogue.specs.get(metric, {})
    told = [view.catalogue.family(metric), *_range_words(spec)]
    if view.catalogue.property_of(metric) == "holistic":
        told.append("claims " + " and ".join(spec["properties"]))
    told += [str(spec["source"])] if spec.get("source") else []
    title = view.catalogue.title(metric)
    name = h("dt", title, [" ", h("code", metric)] if title != metric else "", id=anchor("metric", metric))
    definition = spec.get("definition") or "a function of the user; nothing more is known of it"
    return h("", name, h("dd", definition, h("span", " · ".join(filter(None, told)), class_="facts")))


def _range_words(spec: Item) -> list[str]:
    if not spec.get("range"):
        return []
    low, high = (float(end) for end in spec["range"])
    words = [f"{end:g}".replace("-", "−") if math.isfinite(end) else "∞" if end > 0 else "−∞" for end in (low, high)]
    return [f"{words[0]} to {words[1]}", f"best {spec.get('best', 1.0):g}"]


# Signatures -----------------------------------------------------------------------------------------------------------


def made(view: View) -> Html:
    """Write each number with its signature, settings and native values."""
    blocks = []
    for index, item in enumerate(view.evaluations):
        entries = [_made_entry(view, index, score) for score in item["scores"]]
        scores = h("span", count(len(item["scores"]), "score"), class_="meaning")
        summary = h("summary", dot(index), named(item["name"]), " ", scores)
        blocks.append(h("details", summary, entries, class_="representation") if view.several else h("", entries))
    return h(
        "",
        paragraph(
            Text(
                "A signature is the call that made the number, with everything that changes it. Paste one after ",
                *(code("demele score --replay"), ", or give it to ", code("demele.replay")),
                ", to make the same number from the same data.",
            )
        ),
        controls(
            h("button", "Open all", type="button", id="open-all"),
            h("button", "Close all", type="button", id="close-all"),
        ),
        blocks,
    )


def _made_entry(view: View, index: int, score: Item) -> Html:
    summary = h(
        "summary",
        h("span", view.catalogue.title(score["metric"]), class_="what"),
        h("span", number(score["value"]), class_="number"),
        " ",
        h("span", brackets(score["interval"]), class_="interval"),
        fragile_sign() if score["fragile"] else "",
    )
    copy = h("button", "Copy", type="button", class_="copy", hidden=True)
    return h(
        "details",
        summary,
        h("p", h("code", score["signature"]), copy, class_="signature"),
        facts(_facts(score)),
        h("ul", [h("li", note["message"]) for note in score["notes"]], class_="notes") if score["notes"] else "",
        _native_table(score),
        class_="made",
        id=anchor("made", f"{index}-{score['metric']}"),
    )


def _facts(score: Item) -> list[tuple[object, object]]:
    pairs: list[tuple[object, object]] = [("Rows", f"{score['n']:,}")]
    interval, spread, chance = score["interval"], score["spread"], score["chance"]
    if interval is not None:
        how = h("span", f"{interval['level']:.0%}, {interval['kind']}, {interval['method']}", class_="meaning")
        pairs.append(("Interval", h("", brackets(interval), " ", how)))
    if spread is not None:
        values = f"mean {number(spread['mean'])}, standard deviation {number(spread['std'])}"
        pairs.append((f"{len(spread['values'])} seeds", values))
    if chance is not None:
        p_value = "" if chance["p_value"] is None else f", p = {number(chance['p_value'])}"
        pairs.append(("Chance", f"{number(chance['mean'])} over {count(len(chance['values']), 'shuffle')}{p_value}"))
    if score["seconds"] is not None:
        pairs.append(("Time", f"{score['seconds']:.3g} s"))
    return pairs + [(name, _detail(value)) for name, value in score["details"].items()]


def _detail(value: Any) -> str:
    """Short values as they are; long ones cut, for the data of the page holds them whole."""
    text = number(value) if isinstance(value, float) else json.dumps(_rounded(value), ensure_ascii=False)
    return text if len(text) <= 300 else text[:300].rstrip() + " …"


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value[:100]]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _native_table(score: Item) -> Html:
    if not score["native"]:
        return h("")
    intervals = score["native_intervals"] or {}
    rows = [
        [named(name), Cell(number(value)), h("td", _ends(intervals.get(name))) if intervals else None]
        for name, value in score["native"].items()
    ]
    unit = score["native_unit"]
    heads = [(unit.removeprefix("per ").capitalize(), ""), ("Value", "number"), ("Interval", "") if intervals else None]
    return table(f"Values {unit}", heads, rows, sortable=False)


def _ends(pair: Sequence[float | None] | None) -> str:
    return brackets((None, None) if pair is None else (pair[0], pair[1]))
