"""The parts of the page that are looked up: gaps, notes, inputs, meanings, signatures."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from demele.report.view import PROPERTIES, View
from demele.report.words import (
    DASH,
    anchor,
    bracket,
    count,
    dot,
    ends,
    fragile_sign,
    named,
    number,
)

__all__ = ["inputs", "legend", "made", "notes"]

_FAMILIES = {
    "information": "how much the codes tell about the factors, in shares of the factors' entropy",
    "predictor": "what a predictor makes of the codes, or which codes it uses",
    "intervention": "what stays and what changes where a factor is held fixed",
}


def notes(view: View) -> str:
    """Write which numbers are missing, and what a reader must know of the others."""
    return _left_out_table(view) + _notes_list(view)


def _left_out_table(view: View) -> str:
    reasons: dict[tuple[str, str], list[int]] = {}
    for index, item in enumerate(view.evaluations):
        for gap in item["left_out"]:
            reasons.setdefault((gap["metric"], gap["reason"]), []).append(index)
        for score in item["scores"]:
            if score["value"] is None:
                why = "; ".join(note["message"] for note in score["notes"]) or "undefined"
                reasons.setdefault((score["metric"], why), []).append(index)
    if not reasons:
        return "<p>Every metric that was asked for has a number.</p>"
    head = '<th scope="col">Representation</th>' if view.several else ""
    rows = "".join(
        f'<tr><th scope="row">{escape(view.catalogue.title(metric))}</th><td>{escape(reason)}</td>'
        + (f"<td>{_who(view, who)}</td>" if view.several else "")
        + "</tr>"
        for (metric, reason), who in reasons.items()
    )
    return (
        f'<h3>No number, and why</h3><div class="scroll"><table class="text"><caption class="hidden">Metrics without a '
        f'number</caption><thead><tr><th scope="col">Metric</th><th scope="col">Reason</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _notes_list(view: View) -> str:
    """Equal messages are one entry, which names the metrics and representations that it is about."""
    found: dict[tuple[str, str], dict[int, list[str]]] = {}
    for index, item in enumerate(view.evaluations):
        of_all = [(note, None) for note in item["notes"]]
        of_scores = [(note, score["metric"]) for score in item["scores"] for note in score["notes"]]
        for note, metric in [*of_all, *of_scores]:
            about = found.setdefault((note["severity"], note["message"]), {}).setdefault(index, [])
            about += [metric] if metric is not None and metric not in about else []
    if not found:
        return ""
    parts = []
    for severity, heading in (("fragile", "Fragile scores"), ("warning", "Warnings"), ("info", "To know")):
        entries = {message: about for (level, message), about in found.items() if level == severity}
        if not entries:
            continue
        items = "".join(
            f'<li><span class="about">{_about(view, about)}</span> <span>{escape(message)}</span></li>'
            for message, about in entries.items()
        )
        parts.append(f'<h3>{heading}</h3><ul class="notes {severity}">{items}</ul>')
    return "".join(parts)


def _about(view: View, about: Mapping[int, Sequence[str]]) -> str:
    metrics = list(dict.fromkeys(metric for group in about.values() for metric in group))
    titles = ", ".join(escape(view.catalogue.title(metric)) for metric in metrics)
    who = _who(view, list(about)) if view.several else ""
    return " · ".join(part for part in (titles, who) if part) or "all metrics"


def _who(view: View, indices: Sequence[int]) -> str:
    if len(set(indices)) == len(view.evaluations):
        return "all"
    return ", ".join(dot(index) + named(view.evaluations[index]["name"]) for index in dict.fromkeys(indices))


def inputs(view: View) -> str:
    """Write what was read: rows, codes, factors."""
    rows = "".join(
        f'<tr><th scope="row">{dot(index) if view.several else ""}{named(item["name"])}</th>'
        f'<td class="number">{item["n"]:,}</td><td class="number">{item.get("codes_in_all", len(item["codes"])):,}</td>'
        f'<td class="number">{len(item["factors"])}</td><td>{escape(str(item["protocol"]))}</td>'
        f'<td class="number">{len(item["scores"])}</td>'
        f'<td class="number">{sum(score["fragile"] for score in item["scores"])}</td></tr>'
        for index, item in enumerate(view.evaluations)
    )
    heads = ("Representation", "Rows", "Codes", "Factors", "Protocol", "Scores", "Fragile")
    numbers = {"Rows", "Codes", "Factors", "Scores", "Fragile"}
    table = _table("Representations", heads, rows, numbers)
    return table + "".join(_factor_table(view, who) for who in _groups_of_equal_factors(view))


def _groups_of_equal_factors(view: View) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for index, item in enumerate(view.evaluations):
        groups.setdefault(json.dumps(item["factors"]), []).append(index)
    return list(groups.values())


def _factor_table(view: View, who: Sequence[int]) -> str:
    factors = view.evaluations[who[0]]["factors"]
    rows = "".join(
        f'<tr><th scope="row">{named(factor["name"])}</th><td>{escape(str(factor["kind"]))}</td>'
        f'<td class="number">{DASH if factor["n_levels"] is None else factor["n_levels"]}</td>'
        f'<td class="number">{factor["n_annotated"]:,}</td>'
        f"<td>{'constant: left out' if factor['constant'] else ''}</td></tr>"
        for factor in factors
    )
    of = f" of {_who(view, who)}" if len(who) < len(view.evaluations) else ""
    heads = ("Factor", "Kind", "Values", "Rows with a value", "")
    return f"<h3>Factors{of}</h3>" + _table("Factors", heads, rows, {"Values", "Rows with a value"})


def _table(caption: str, heads: Sequence[str], rows: str, numbers: Iterable[str] = ()) -> str:
    columns = "".join(
        f'<th scope="col"{" class=number" if head in set(numbers) else ""}>{head}</th>' if head else "<td></td>"
        for head in heads
    )
    return (
        f'<div class="scroll"><table class="text"><caption class="hidden">{caption}</caption>'
        f"<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def legend(view: View) -> str:
    """Write what each metric means and where it comes from."""
    left_out = [gap["metric"] for item in view.evaluations for gap in item["left_out"]]
    metrics = list(dict.fromkeys([*view.metrics, *left_out]))
    families = [family for family in _FAMILIES if any(view.catalogue.family(metric) == family for metric in metrics)]
    intro = "".join(f"<dt>{family}</dt><dd>{_FAMILIES[family]}</dd>" for family in families)
    intro = f'<h3>Families</h3><dl class="families">{intro}</dl>' if intro else ""
    return intro + "".join(
        f"<h3>{PROPERTIES[key][0]} <span class=meaning>{PROPERTIES[key][1]}</span></h3>"
        f'<dl class="metrics">{"".join(_legend_entry(view, metric) for metric in group)}</dl>'
        for key, group in view.by_property(metrics).items()
    )


def _legend_entry(view: View, metric: str) -> str:
    spec = view.catalogue.specs.get(metric, {})
    facts = [view.catalogue.family(metric), *_range_words(spec)]
    if view.catalogue.property_of(metric) == "holistic":
        facts.append("claims " + " and ".join(spec["properties"]))
    facts += [str(spec["source"])] if spec.get("source") else []
    title = view.catalogue.title(metric)
    name = f" <code>{escape(metric)}</code>" if title != metric else ""
    definition = str(spec.get("definition") or "a function of the user; nothing more is known of it")
    line = " · ".join(escape(fact) for fact in facts if fact)
    return (
        f'<dt id="{anchor("metric", metric)}">{escape(title)}{name}</dt>'
        f'<dd>{escape(definition)}<span class="facts">{line}</span></dd>'
    )


def _range_words(spec: Mapping[str, Any]) -> list[str]:
    if not spec.get("range"):
        return []
    low, high = (float(end) for end in spec["range"])
    words = [f"{end:g}".replace("-", "−") if math.isfinite(end) else "∞" if end > 0 else "−∞" for end in (low, high)]
    return [f"{words[0]} to {words[1]}", f"best {spec.get('best', 1.0):g}"]


def made(view: View) -> str:
    """Write each number with its signature, settings and native values."""
    blocks = []
    for index, item in enumerate(view.evaluations):
        entries = "\n".join(_made_entry(view, index, score) for score in item["scores"])
        name = f"{dot(index)}{named(item['name'])} <span class=meaning>{count(len(item['scores']), 'score')}</span>"
        blocks.append(
            f'<details class="representation"><summary>{name}</summary>{entries}</details>' if view.several else entries
        )
    return (
        "<p>A signature is the call that made the number, with everything that changes it. "
        "Paste one after <code>demele score --replay</code>, or give it to <code>demele.replay</code>, "
        "to make the same number from the same data.</p>"
        '<div class="controls" hidden><button type="button" id="open-all">Open all</button>'
        '<button type="button" id="close-all">Close all</button></div>' + "\n".join(blocks)
    )


def _made_entry(view: View, index: int, score: Mapping[str, Any]) -> str:
    metric = score["metric"]
    sign = fragile_sign() if score["fragile"] else ""
    head = (
        f'<summary><span class="what">{escape(view.catalogue.title(metric))}</span>'
        f'<span class="number">{number(score["value"])}</span> '
        f'<span class="interval">{bracket(score["interval"])}</span>{sign}</summary>'
    )
    facts = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in _facts(score))
    items = "".join(f"<li>{escape(note['message'])}</li>" for note in score["notes"])
    remarks = f'<ul class="notes">{items}</ul>' if items else ""
    return (
        f'<details class="made" id="{anchor("made", f"{index}-{metric}")}">{head}'
        f'<p class="signature"><code>{escape(score["signature"])}</code>'
        f'<button type="button" class="copy" hidden>Copy</button></p>'
        f'<dl class="facts">{facts}</dl>{remarks}{_native_table(score)}</details>'
    )


def _facts(score: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [("Rows", f"{score['n']:,}")]
    interval, spread, chance = score["interval"], score["spread"], score["chance"]
    if interval is not None:
        how = f"{interval['level']:.0%}, {interval['kind']}, {interval['method']}"
        facts.append(("Interval", f"{bracket(interval)} <span class=meaning>{escape(how)}</span>"))
    if spread is not None:
        values = f"mean {number(spread['mean'])}, standard deviation {number(spread['std'])}"
        facts.append((f"{len(spread['values'])} seeds", values))
    if chance is not None:
        p_value = "" if chance["p_value"] is None else f", p = {number(chance['p_value'])}"
        facts.append(("Chance", f"{number(chance['mean'])} over {count(len(chance['values']), 'shuffle')}{p_value}"))
    if score["seconds"] is not None:
        facts.append(("Time", f"{score['seconds']:.3g} s"))
    facts += [(escape(str(name)), _detail(value)) for name, value in score["details"].items()]
    return facts


def _detail(value: Any) -> str:
    """Short values as they are; long ones cut, for the data of the page holds them whole."""
    text = number(value) if isinstance(value, float) else json.dumps(_rounded(value), ensure_ascii=False)
    return escape(text if len(text) <= 300 else text[:300].rstrip() + " …")


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value[:100]]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _native_table(score: Mapping[str, Any]) -> str:
    if not score["native"]:
        return ""
    intervals = score["native_intervals"] or {}
    rows = "".join(
        f'<tr><th scope="row">{named(name)}</th><td class="number">{number(value)}</td>'
        + (f"<td>{ends(*intervals[name])}</td>" if intervals.get(name) else "")
        + "</tr>"
        for name, value in score["native"].items()
    )
    unit = score["native_unit"].removeprefix("per ").capitalize()
    heads = [unit, "Value", *(["Interval"] if intervals else [])]
    return _table(f"Values {score['native_unit']}", heads, rows, {"Value"})
