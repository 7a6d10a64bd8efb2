"""One self-contained HTML page about one or several evaluations: opens from disk, asks nothing of any network."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

from demele.core.errors import InputError
from demele.core.extras import require
from demele.report.figures import matrix_figures, native_figures, shortened, value_range

__all__ = ["write_report"]

#: What each property asks of a representation, in the order in which they are shown.
_PROPERTIES = {
    "modularity": ("Modularity", "each code informs on at most one factor"),
    "compactness": ("Compactness", "each factor is held by one code"),
    "explicitness": ("Explicitness", "the factors can be read off the codes by a simple predictor"),
    "holistic": ("Holistic", "one number for more than one of these properties"),
    "": ("Other metrics", "metrics that declare no property"),
}
_FAMILIES = {
    "information": "how much the codes tell about the factors, in shares of the factors' entropy",
    "predictor": "what a predictor makes of the codes, or which codes it uses",
    "intervention": "what stays and what changes where a factor is held fixed",
}
_DASH = "–"


def write_report(
    evaluations: Sequence[Mapping[str, Any]],
    path: Path,
    *,
    title: str | None = None,
    specs: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """Write one HTML file that shows evaluations side by side.

    Parameters
    ----------
    evaluations : sequence of dict
        What :meth:`demele.core.results.Evaluation.to_dict` returns, one for each representation.
    path : Path
        The file; replaced if it exists.
    title : str, optional
        Heading of the page.
    specs : mapping of str to mapping, optional
        What each metric declares, by its name: ``title``, ``family``, ``properties``, ``definition``, ``source``,
        ``range``, ``best``. Metrics that are not in it are shown by their name alone.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If there is nothing to show.
    MissingExtraError
        If plotly is not installed: the extra ``report`` brings it.

    Notes
    -----
    plotly.js is in the file (about 5 MB), and a content security policy forbids the page any request and any script
    but its own.
    """
    if not evaluations:
        raise InputError("evaluations: expected at least one to report on, got none")
    plotly_js: str = require("plotly.offline", purpose="the HTML report").get_plotlyjs()
    report = _Report([shortened(evaluation) for evaluation in evaluations], _Catalogue(specs or {}))
    page = _page(report, title or _title(report), plotly_js)
    # Names may hold what UTF-8 cannot, such as the lone surrogates of undecodable file names.
    path.write_bytes(page.encode("utf-8", "replace"))
    return path


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """What is known of the metrics; every question has an answer for a metric that nobody described."""

    specs: Mapping[str, Mapping[str, Any]]

    def title(self, metric: str) -> str:
        return str(self.specs.get(metric, {}).get("title") or metric)

    def family(self, metric: str) -> str:
        return str(self.specs.get(metric, {}).get("family") or "")

    def property_of(self, metric: str) -> str:
        """``"holistic"`` for more than one property."""
        properties = self.specs.get(metric, {}).get("properties") or ()
        return "holistic" if len(properties) > 1 else next(iter(properties), "")

    def best(self, metric: str) -> float:
        return float(self.specs.get(metric, {}).get("best", 1.0))


@dataclass(frozen=True, slots=True)
class _Report:
    """The evaluations with the questions that several parts of the page ask of them."""

    evaluations: list[dict[str, Any]]
    catalogue: _Catalogue

    @property
    def several(self) -> bool:
        return len(self.evaluations) > 1

    @property
    def metrics(self) -> list[str]:
        """Metrics with a score (be it undefined) in at least one evaluation, in order of appearance."""
        return list(dict.fromkeys(score["metric"] for item in self.evaluations for score in item["scores"]))

    @property
    def n_scores(self) -> int:
        return sum(len(item["scores"]) for item in self.evaluations)

    def score(self, evaluation: int, metric: str) -> dict[str, Any] | None:
        scores = self.evaluations[evaluation]["scores"]
        return next((score for score in scores if score["metric"] == metric), None)

    def values(self, metric: str) -> list[float | None]:
        """One value for each evaluation; None where there is none."""
        scores = [self.score(index, metric) for index in range(len(self.evaluations))]
        return [None if score is None else score["value"] for score in scores]

    def by_property(self, metrics: Iterable[str]) -> dict[str, list[str]]:
        """Metrics grouped by property, without empty groups."""
        metrics = list(metrics)
        groups = {name: [m for m in metrics if self.catalogue.property_of(m) == name] for name in _PROPERTIES}
        return {name: group for name, group in groups.items() if group}

    def winner(self, metric: str) -> tuple[int, bool | None] | None:
        """Evaluation with the best value, and whether its interval lies apart from all others.

        None where fewer than two values can be compared or where the best are equal as shown; the second item is
        None where an interval is missing.
        """
        sign = 1.0 if self.catalogue.best(metric) > 0 else -1.0
        values = {index: sign * value for index, value in enumerate(self.values(metric)) if value is not None}
        if len(values) < 2:
            return None
        first, second = sorted(values, key=lambda index: -values[index])[:2]
        if _number(values[first]) == _number(values[second]):
            return None
        intervals = [(self.score(index, metric) or {})["interval"] for index in [first, *(values.keys() - {first})]]
        if None in intervals:
            return first, None
        own, *others = intervals
        apart = [own["low"] > other["high"] if sign > 0 else own["high"] < other["low"] for other in others]
        return first, all(apart)


def _title(report: _Report) -> str:
    names = [str(item["name"]) for item in report.evaluations]
    return f"How disentangled is {names[0]}?" if len(names) == 1 else f"{len(names)} representations, side by side"


def _page(report: _Report, title: str, plotly_js: str) -> str:
    sections = [
        ("verdict", "Verdict", _verdict(report)),
        ("scores", "All scores", _overview(report)),
        ("matrices", "Codes against factors", _matrices(report)),
        ("natives", "Per factor, per code", _natives(report)),
        ("dependency", "What other factors do", _dependency(report)),
        ("notes", "Notes and gaps", _notes(report)),
        ("inputs", "What was scored", _inputs(report)),
        ("metrics", "What the metrics mean", _legend(report)),
        ("made", "How each number was made", _made(report)),
    ]
    sections = [section for section in sections if section[2]]
    data = report.evaluations[0] if not report.several else {"evaluations": report.evaluations}
    scripts = {
        "errors_js": _template("errors.js"),
        "plotly_js": _one_script(plotly_js),
        "report_js": _template("report.js"),
    }
    versions = sorted({str(item["demele"]) for item in report.evaluations if item["demele"]})
    return _fill(
        _template("report.html"),
        {
            "title": escape(title),
            "policy": _policy(scripts.values()),
            "css": _template("report.css"),
            "navigation": "\n".join(f'<li><a href="#{key}">{name}</a></li>' for key, name, _ in sections),
            "sections": "\n".join(_section(*section) for section in sections),
            "version": escape(" and ".join(f"demele {version}" for version in versions) or "demele"),
            "data": _embedded(data),
            "figures": _embedded(_figures(report)),
            **scripts,
        },
    )


def _section(key: str, name: str, body: str) -> str:
    return f'<section id="{key}" aria-labelledby="{key}-title">\n<h2 id="{key}-title">{name}</h2>\n{body}\n</section>'


def _figures(report: _Report) -> dict[str, Any]:
    return {
        "titles": {metric: report.catalogue.title(metric) for metric in report.metrics},
        "matrices": matrix_figures(report.evaluations),
        "natives": native_figures(report.evaluations),
    }


# Verdict ---------------------------------------------------------------------------------------------------------------


def _verdict(report: _Report) -> str:
    sentences = [_what_was_scored(report), *_how_far_to_trust(report)]
    paragraphs = "\n".join(f"<p>{sentence}</p>" for sentence in sentences)
    cards = "\n".join(_property_card(report, key, group) for key, group in report.by_property(report.metrics).items())
    return f'<div class="lead">{paragraphs}</div>\n<div class="cards">{cards}</div>'


def _what_was_scored(report: _Report) -> str:
    protocols = _list_of(dict.fromkeys(str(item["protocol"]) for item in report.evaluations))
    n_metrics = _count(len(report.metrics), "metric")
    if report.several:
        names = _list_of(str(item["name"]) for item in report.evaluations)
        factors = {tuple(factor["name"] for factor in item["factors"]) for item in report.evaluations}
        same = f" for the same {_count(len(next(iter(factors))), 'factor')}" if len(factors) == 1 else ""
        return (
            f"<strong>{_count(len(report.evaluations), 'representation')}</strong> ({names}) were scored by {n_metrics}"
            f"{same}, under the protocol {protocols}."
        )
    item = report.evaluations[0]
    factors = _list_of(str(factor["name"]) for factor in item["factors"])
    codes = _count(item.get("codes_in_all", len(item["codes"])), "code")
    return (
        f"<strong>{_name(item['name'])}</strong> was scored by {n_metrics} on {_count(item['n'], 'row')}: {codes} against "
        f"{_count(len(item['factors']), 'factor')} ({factors}), under the protocol {protocols}."
    )


def _how_far_to_trust(report: _Report) -> list[str]:
    scores = [score for item in report.evaluations for score in item["scores"]]
    fragile = sum(score["fragile"] for score in scores)
    undefined = sum(score["value"] is None for score in scores)
    left_out = {gap["metric"] for item in report.evaluations for gap in item["left_out"]}
    sentences = []
    if fragile:
        sentences.append(
            f"<strong>{fragile} of {_count(len(scores), 'score')}</strong> {'is' if fragile == 1 else 'are'} "
            f"<em>fragile</em> {_fragile_sign()}: another defensible setting would change "
            f'{"it" if fragile == 1 else "them"} much. Read <a href="#notes">why</a> before you quote one.'
        )
    elif scores:
        sentences.append("No score was found to be fragile, that is, to hang on one setting.")
    by_luck = sum(_not_above_chance(score) for score in scores)
    if by_luck:
        sentences.append(
            f"<strong>{_count(by_luck, 'score')}</strong> {'is' if by_luck == 1 else 'are'} no better than what codes "
            "that are independent of the factors reach."
        )
    if undefined or left_out:
        parts = [f"{_count(undefined, 'score')} undefined"] if undefined else []
        parts += [f"{_count(len(left_out), 'metric')} left out"] if left_out else []
        sentences.append(f'There are gaps: {" and ".join(parts)}; <a href="#notes">the reasons</a>.')
    return sentences


def _not_above_chance(score: Mapping[str, Any]) -> bool:
    """At least one permutation did as well, and that is more than one in twenty."""
    chance = score["chance"]
    if chance is None or chance["p_value"] is None or score["value"] is None:
        return False
    as_good = chance["p_value"] * (1 + len(chance["values"])) > 1.5
    return bool(as_good and chance["p_value"] > 0.05)


def _property_card(report: _Report, key: str, metrics: Sequence[str]) -> str:
    name, meaning = _PROPERTIES[key]
    values = {metric: report.values(metric) for metric in metrics}
    low, high = value_range(value for row in values.values() for value in row)
    rows = []
    for index, item in enumerate(report.evaluations):
        column = [row[index] for row in values.values() if row[index] is not None]
        known = [value for value in column if value is not None]
        head = f'<th scope="row">{_dot(index)}{_name(item["name"])}</th>' if report.several else ""
        if not known:
            rows.append(f"<tr>{head}<td>{_DASH}</td><td></td></tr>")
            continue
        rows.append(
            f'<tr>{head}<td class="number">{_number(median(known))}</td>'
            f"<td>{_spread_strip(known, low, high, index)}</td></tr>"
        )
    head = '<th scope="col">Representation</th>' if report.several else ""
    return (
        f'<article class="card"><h3>{name}</h3><p class="meaning">{meaning}</p><p>{_card_sentence(report, metrics)}</p>'
        f'<table class="plain"><caption class="hidden">{name}: median and range over {_count(len(metrics), "metric")}'
        f'</caption><thead><tr>{head}<th scope="col">Median</th><th scope="col">Each metric, {_number(low, 0)} to '
        f"{_number(high, 0)}</th></tr></thead><tbody>{''.join(rows)}</tbody></table></article>"
    )


def _card_sentence(report: _Report, metrics: Sequence[str]) -> str:
    if not report.several:
        known = {metric: value for metric in metrics for value in report.values(metric) if value is not None}
        if not known:
            return "No metric has a number."
        low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        if low == high:
            return f"One metric: {escape(report.catalogue.title(low))}, {_number(known[low])}."
        return (
            f"{_count(len(known), 'metric')}, from {_number(known[low])} ({escape(report.catalogue.title(low))}) to "
            f"{_number(known[high])} ({escape(report.catalogue.title(high))})."
        )
    winners = [winner for winner in map(report.winner, metrics) if winner is not None]
    if not winners:
        return "No metric tells the representations apart."
    wins = {index: sum(winner[0] == index for winner in winners) for index, _ in winners}
    ranked = sorted(wins, key=lambda index: -wins[index])
    parts = [f"{_name(report.evaluations[index]['name'])} in {wins[index]}" for index in ranked]
    clear = sum(winner[1] is True for winner in winners)
    known_intervals = any(winner[1] is not None for winner in winners)
    apart = f" In {clear} of these the interval lies apart from all others." if known_intervals else ""
    return f"Best by {_count(len(winners), 'metric')}: {', '.join(parts)}.{apart}"


def _spread_strip(values: Sequence[float], low: float, high: float, index: int) -> str:
    def at(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    ticks = "".join(f'<i class="tick" style="left:{at(value)}%"></i>' for value in values)
    middle = f'<i class="median" style="left:{at(median(values))}%"></i>'
    text = f"from {_number(min(values))} to {_number(max(values))}"
    return f'<span class="spread c{index % 8}" role="img" aria-label="{text}" title="{text}">{ticks}{middle}</span>'


# Overview --------------------------------------------------------------------------------------------------------------


def _overview(report: _Report) -> str:
    heads = "".join(
        f'<th scope="col" aria-sort="none"><button type="button" class="sort">{_dot(index) if report.several else ""}'
        f"{_name(item['name'])}</button></th>"
        for index, item in enumerate(report.evaluations)
    )
    bodies = "\n".join(
        f'<tbody><tr class="group"><th colspan="{1 + len(report.evaluations)}" scope="rowgroup">{_PROPERTIES[key][0]}'
        f' <span class="meaning">{_PROPERTIES[key][1]}</span></th></tr>'
        + "\n".join(_overview_row(report, metric) for metric in group)
        + "</tbody>"
        for key, group in report.by_property(report.metrics).items()
    )
    return f"""<p>{_reading_guide(report)}</p>
<div class="controls" hidden>
<label>Find <input type="search" id="find" placeholder="metric, family, property"></label>
<label>Group by <select id="group"><option value="property">property</option><option value="family">family</option>
<option value="">nothing</option></select></label>
<label><input type="checkbox" id="only-fragile"> only fragile</label>
<span id="found" role="status"></span></div>
<div class="scroll" tabindex="0" role="region" aria-labelledby="scores-title">
<table id="overview"><caption class="hidden">Every metric of every representation</caption>
<thead><tr><th scope="col" aria-sort="none"><button type="button" class="sort">Metric</button></th>{heads}</tr></thead>
{bodies}
</table></div>"""


def _reading_guide(report: _Report) -> str:
    scores = [score for item in report.evaluations for score in item["scores"]]
    parts = ["The bar is the value, drawn from 0 to 1 unless a value lies outside."]
    intervals = [score["interval"] for score in scores if score["interval"] is not None]
    if intervals:
        kinds = _list_of(
            dict.fromkeys(f"{interval['level']:.0%} {interval['kind']} intervals" for interval in intervals)
        )
        parts.append(f"Brackets and the thin line are {kinds}.")
    if any(score["spread"] is not None for score in scores):
        parts.append("± is the standard deviation over seeds.")
    if any(score["chance"] is not None for score in scores):
        parts.append("The upright tick is chance: what the same codes score when the factors' rows are shuffled.")
    if report.several:
        best = f"{_best_sign(True)} marks the best of a row"
        parts.append(f"{best}, {_best_sign(False)} where intervals overlap." if intervals else f"{best}.")
    parts.append(f"{_fragile_sign()} marks fragile scores.")
    return " ".join(parts)


def _overview_row(report: _Report, metric: str) -> str:
    title, family = report.catalogue.title(metric), report.catalogue.family(metric)
    scores = [report.score(index, metric) for index in range(len(report.evaluations))]
    ends = [end for score in scores if score is not None for end in _extent(score)]
    low, high = value_range(ends)
    winner = report.winner(metric)
    cells = "".join(
        _overview_cell(report, metric, index, score, low, high, winner) for index, score in enumerate(scores)
    )
    group = report.catalogue.property_of(metric)
    fragile = any(score is not None and score["fragile"] for score in scores)
    words = escape(" ".join([metric, title, family, _PROPERTIES[group][0]]).lower())
    return (
        f'<tr class="row" data-words="{words}" data-property="{group}" data-family="{escape(family)}" '
        f'data-fragile="{int(fragile)}"><th scope="row" data-value="{escape(title.lower())}">'
        f'<a href="#{_anchor("metric", metric)}">{escape(title)}</a><span class="family">{escape(family)}</span></th>{cells}</tr>'
    )


def _extent(score: Mapping[str, Any]) -> list[float | None]:
    interval, chance = score["interval"] or {}, score["chance"] or {}
    return [score["value"], interval.get("low"), interval.get("high"), chance.get("mean")]


def _overview_cell(
    report: _Report,
    metric: str,
    index: int,
    score: Mapping[str, Any] | None,
    low: float,
    high: float,
    winner: tuple[int, bool | None] | None,
) -> str:
    if score is None:
        gaps = report.evaluations[index]["left_out"]
        reason = next((gap["reason"] for gap in gaps if gap["metric"] == metric), "not asked for")
        return f'<td class="score" data-value="">{_gap(reason)}</td>'
    number = f'<a class="value" href="#{_anchor("made", f"{index}-{metric}")}">{_number(score["value"])}</a>'
    if score["value"] is None:
        reasons = [note["message"] for note in score["notes"]]
        return f'<td class="score" data-value="">{_gap("; ".join(reasons) or "undefined")}</td>'
    marks = ""
    if winner is not None and winner[0] == index:
        number = f"<strong>{number}</strong>"
        marks += _best_sign(winner[1] is not False)
    if score["fragile"]:
        reasons = [note["message"] for note in score["notes"] if note["severity"] == "fragile"]
        marks += _mark("!", "fragile", f"Fragile: {'; '.join(reasons)}")
    return (
        f'<td class="score" data-value="{score["value"]!r}"><span class="line">{number}{marks}'
        f'<span class="interval">{_interval(score["interval"])}</span></span>{_strip(score, low, high, index)}'
        f"{_extras_line(score)}</td>"
    )


def _extras_line(score: Mapping[str, Any]) -> str:
    parts = []
    if score["spread"] is not None:
        parts.append(f"± {_number(score['spread']['std'])}")
    if score["chance"] is not None:
        parts.append(f"chance {_number(score['chance']['mean'])}")
    return f'<span class="extras">{" · ".join(parts)}</span>' if parts else ""


def _strip(score: Mapping[str, Any], low: float, high: float, index: int) -> str:
    """Value as a bar from 0, interval as a line, chance as a tick; a picture of numbers that stand beside it."""

    def at(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

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


# Figures: places that the page's script draws in ----------------------------------------------------------------------


def _matrices(report: _Report) -> str:
    if not any(score["matrix"] for item in report.evaluations for score in item["scores"]):
        return ""
    return f"""<p>Each cell is one code and one factor. In a modular representation a row has one bright cell; in a compact one
a column has. {_too_many(report)}</p>
<div class="controls" hidden><label>Quantity <select id="matrix"></select></label>
<label>Order of the codes <select id="order"><option value="given">as given</option>
<option value="factor">by their strongest factor</option></select></label></div>
{_chips(report)}
<div class="ramp" id="ramp" aria-hidden="true"></div>
<div class="panels" id="matrix-panels"></div>
{_values_below("matrix")}{_NO_SCRIPT}"""


def _natives(report: _Report) -> str:
    if not any(score["native"] for item in report.evaluations for score in item["scores"]):
        return ""
    return f"""<p>A mean hides which factor or which code fails. These are the values that each metric averages.</p>
<div class="controls" hidden><label>Metric <select id="native"></select></label></div>
{_chips(report)}
<p class="definition" id="native-definition"></p>
<div class="panels wide" id="native-panels"></div>
{_values_below("native")}{_NO_SCRIPT}"""


def _dependency(report: _Report) -> str:
    if not any(item["dependency"] for item in report.evaluations):
        return ""
    hidden = "" if report.several else " hidden"
    return f"""<p>How a code answers to one factor while all others vary. The line is the mean of the code at each value of the
factor; the band is the range that the other factors cause. A code that belongs to the factor has a steep line and a narrow band.</p>
<div class="controls" hidden><label{hidden}>Representation <select id="dep-evaluation"></select></label>
<label>Factor <select id="dep-factor"></select></label><label>Code <select id="dep-code"></select></label></div>
<div class="panels wide" id="dep-panels"></div>
{_values_below("dep")}{_NO_SCRIPT}"""


_NO_SCRIPT = "<noscript><p>This figure needs JavaScript; the tables of this page do not.</p></noscript>"


def _values_below(key: str) -> str:
    return f'<details class="values" id="{key}-values"><summary>These values as a table</summary><div class="scroll"></div></details>'


def _chips(report: _Report) -> str:
    if not report.several:
        return ""
    chips = "".join(
        f'<label><input type="checkbox" value="{index}" checked>{_dot(index)}{_name(item["name"])}</label>'
        for index, item in enumerate(report.evaluations)
    )
    return f'<fieldset class="chips" hidden><legend class="hidden">Representations shown</legend>{chips}</fieldset>'


def _too_many(report: _Report) -> str:
    cut = [item for item in report.evaluations if "codes_in_all" in item]
    if not cut:
        return ""
    parts = [
        f"{_name(item['name'])} has {item['codes_in_all']:,} codes, of which the {len(item['codes'])}" for item in cut
    ]
    return f"{'; '.join(parts)} with the largest values are shown. The JSON of the evaluation holds all."


# Notes and gaps --------------------------------------------------------------------------------------------------------


def _notes(report: _Report) -> str:
    return _left_out_table(report) + _notes_list(report)


def _left_out_table(report: _Report) -> str:
    reasons: dict[tuple[str, str], list[int]] = {}
    for index, item in enumerate(report.evaluations):
        for gap in item["left_out"]:
            reasons.setdefault((gap["metric"], gap["reason"]), []).append(index)
        for score in item["scores"]:
            if score["value"] is None:
                why = "; ".join(note["message"] for note in score["notes"]) or "undefined"
                reasons.setdefault((score["metric"], why), []).append(index)
    if not reasons:
        return "<p>Every metric that was asked for has a number.</p>"
    head = '<th scope="col">Representation</th>' if report.several else ""
    rows = "".join(
        f'<tr><th scope="row">{escape(report.catalogue.title(metric))}</th><td>{escape(reason)}</td>'
        + (f"<td>{_who(report, who)}</td>" if report.several else "")
        + "</tr>"
        for (metric, reason), who in reasons.items()
    )
    return (
        f'<h3>No number, and why</h3><div class="scroll"><table class="text"><caption class="hidden">Metrics without a '
        f'number</caption><thead><tr><th scope="col">Metric</th><th scope="col">Reason</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _notes_list(report: _Report) -> str:
    """Equal messages are one entry, which names the metrics and representations that it is about."""
    found: dict[tuple[str, str], dict[int, list[str]]] = {}
    for index, item in enumerate(report.evaluations):
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
            f'<li><span class="about">{_about(report, about)}</span> {escape(message)}</li>'
            for message, about in entries.items()
        )
        parts.append(f'<h3>{heading}</h3><ul class="notes {severity}">{items}</ul>')
    return "".join(parts)


def _about(report: _Report, about: Mapping[int, Sequence[str]]) -> str:
    metrics = list(dict.fromkeys(metric for group in about.values() for metric in group))
    titles = ", ".join(escape(report.catalogue.title(metric)) for metric in metrics)
    who = _who(report, list(about)) if report.several else ""
    return " · ".join(part for part in (titles, who) if part)


def _who(report: _Report, indices: Sequence[int]) -> str:
    if len(set(indices)) == len(report.evaluations):
        return "all"
    return ", ".join(_dot(index) + _name(report.evaluations[index]["name"]) for index in dict.fromkeys(indices))


# Inputs ----------------------------------------------------------------------------------------------------------------


def _inputs(report: _Report) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_dot(index) if report.several else ""}{_name(item["name"])}</th>'
        f'<td class="number">{item["n"]:,}</td><td class="number">{item.get("codes_in_all", len(item["codes"])):,}</td>'
        f'<td class="number">{len(item["factors"])}</td><td>{escape(str(item["protocol"]))}</td>'
        f'<td class="number">{len(item["scores"])}</td>'
        f'<td class="number">{sum(score["fragile"] for score in item["scores"])}</td></tr>'
        for index, item in enumerate(report.evaluations)
    )
    heads = ("Representation", "Rows", "Codes", "Factors", "Protocol", "Scores", "Fragile")
    numbers = {"Rows", "Codes", "Factors", "Scores", "Fragile"}
    table = _table("Representations", heads, rows, numbers)
    return table + "".join(_factor_table(report, who) for who in _groups_of_equal_factors(report))


def _groups_of_equal_factors(report: _Report) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for index, item in enumerate(report.evaluations):
        groups.setdefault(json.dumps(item["factors"]), []).append(index)
    return list(groups.values())


def _factor_table(report: _Report, who: Sequence[int]) -> str:
    factors = report.evaluations[who[0]]["factors"]
    rows = "".join(
        f'<tr><th scope="row">{_name(factor["name"])}</th><td>{escape(str(factor["kind"]))}</td>'
        f'<td class="number">{_DASH if factor["n_levels"] is None else factor["n_levels"]}</td>'
        f'<td class="number">{factor["n_annotated"]:,}</td>'
        f"<td>{'constant: left out' if factor['constant'] else ''}</td></tr>"
        for factor in factors
    )
    of = f" of {_who(report, who)}" if len(who) < len(report.evaluations) else ""
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


# Metrics ---------------------------------------------------------------------------------------------------------------


def _legend(report: _Report) -> str:
    left_out = [gap["metric"] for item in report.evaluations for gap in item["left_out"]]
    metrics = list(dict.fromkeys([*report.metrics, *left_out]))
    families = [family for family in _FAMILIES if any(report.catalogue.family(metric) == family for metric in metrics)]
    intro = "".join(f"<dt>{family}</dt><dd>{_FAMILIES[family]}</dd>" for family in families)
    intro = f'<h3>Families</h3><dl class="families">{intro}</dl>' if intro else ""
    return intro + "".join(
        f"<h3>{_PROPERTIES[key][0]} <span class=meaning>{_PROPERTIES[key][1]}</span></h3>"
        f'<dl class="metrics">{"".join(_legend_entry(report, metric) for metric in group)}</dl>'
        for key, group in report.by_property(metrics).items()
    )


def _legend_entry(report: _Report, metric: str) -> str:
    spec = report.catalogue.specs.get(metric, {})
    facts = [report.catalogue.family(metric), *_range_words(spec)]
    if report.catalogue.property_of(metric) == "holistic":
        facts.append("claims " + " and ".join(spec["properties"]))
    facts += [str(spec["source"])] if spec.get("source") else []
    title = report.catalogue.title(metric)
    name = f" <code>{escape(metric)}</code>" if title != metric else ""
    definition = str(spec.get("definition") or "a function of the user; nothing more is known of it")
    line = " · ".join(escape(fact) for fact in facts if fact)
    return (
        f'<dt id="{_anchor("metric", metric)}">{escape(title)}{name}</dt>'
        f'<dd>{escape(definition)}<span class="facts">{line}</span></dd>'
    )


def _range_words(spec: Mapping[str, Any]) -> list[str]:
    if not spec.get("range"):
        return []
    low, high = (float(end) for end in spec["range"])
    ends = [f"{end:g}".replace("-", "−") if math.isfinite(end) else ("∞" if end > 0 else "−∞") for end in (low, high)]
    return [f"{ends[0]} to {ends[1]}", f"best {spec.get('best', 1.0):g}"]


# How each number was made ----------------------------------------------------------------------------------------------


def _made(report: _Report) -> str:
    blocks = []
    for index, item in enumerate(report.evaluations):
        entries = "\n".join(_made_entry(report, index, score) for score in item["scores"])
        name = f"{_dot(index)}{_name(item['name'])} <span class=meaning>{_count(len(item['scores']), 'score')}</span>"
        blocks.append(
            f'<details class="representation"><summary>{name}</summary>{entries}</details>'
            if report.several
            else entries
        )
    return (
        "<p>A signature is the call that made the number, with everything that changes it. "
        "Paste one after <code>demele score --replay</code>, or give it to <code>demele.replay</code>, "
        "to make the same number from the same data.</p>"
        '<div class="controls" hidden><button type="button" id="open-all">Open all</button>'
        '<button type="button" id="close-all">Close all</button></div>' + "\n".join(blocks)
    )


def _made_entry(report: _Report, index: int, score: Mapping[str, Any]) -> str:
    metric = score["metric"]
    sign = _fragile_sign() if score["fragile"] else ""
    head = (
        f'<summary><span class="what">{escape(report.catalogue.title(metric))}</span>'
        f'<span class="number">{_number(score["value"])}</span> <span class="interval">{_interval(score["interval"])}</span>{sign}'
        "</summary>"
    )
    facts = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in _facts(score))
    notes = "".join(f"<li>{escape(note['message'])}</li>" for note in score["notes"])
    notes = f'<ul class="notes">{notes}</ul>' if notes else ""
    return (
        f'<details class="made" id="{_anchor("made", f"{index}-{metric}")}">{head}'
        f'<p class="signature"><code>{escape(score["signature"])}</code>'
        f'<button type="button" class="copy" hidden>Copy</button></p>'
        f'<dl class="facts">{facts}</dl>{notes}{_native_table(score)}</details>'
    )


def _facts(score: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [("Rows", f"{score['n']:,}")]
    interval, spread, chance = score["interval"], score["spread"], score["chance"]
    if interval is not None:
        how = f"{interval['level']:.0%}, {interval['kind']}, {interval['method']}"
        facts.append(("Interval", f"{_interval(interval)} <span class=meaning>{escape(how)}</span>"))
    if spread is not None:
        values = f"mean {_number(spread['mean'])}, standard deviation {_number(spread['std'])}"
        facts.append((f"{len(spread['values'])} seeds", values))
    if chance is not None:
        p_value = "" if chance["p_value"] is None else f", p = {_number(chance['p_value'])}"
        facts.append(("Chance", f"{_number(chance['mean'])} over {_count(len(chance['values']), 'shuffle')}{p_value}"))
    if score["seconds"] is not None:
        facts.append(("Time", f"{score['seconds']:.3g} s"))
    facts += [(escape(str(name)), _detail(value)) for name, value in score["details"].items()]
    return facts


def _detail(value: Any) -> str:
    """Short values as they are; long ones cut, for the data of the page holds them whole."""
    text = _number(value) if isinstance(value, float) else json.dumps(_rounded(value), ensure_ascii=False)
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
        f'<tr><th scope="row">{_name(name)}</th><td class="number">{_number(value)}</td>'
        + (f"<td>{_ends(*intervals[name])}</td>" if intervals.get(name) else "")
        + "</tr>"
        for name, value in score["native"].items()
    )
    unit = score["native_unit"].removeprefix("per ").capitalize()
    heads = [unit, "Value", *(["Interval"] if intervals else [])]
    return _table(f"Values {score['native_unit']}", heads, rows, {"Value"})


# Words and numbers -----------------------------------------------------------------------------------------------------


def _number(value: float | None, digits: int = 3) -> str:
    """Rounded for the eye; a dash for what is undefined."""
    if value is None or math.isnan(value):
        return _DASH
    text = f"{value:.{digits}f}" if abs(value) < 1e4 else f"{value:.4g}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _interval(interval: Mapping[str, Any] | None) -> str:
    return "" if interval is None else _ends(interval["low"], interval["high"])


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{_number(low)}, {_number(high)}]"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _list_of(names: Iterable[str]) -> str:
    """First names of a list, for a sentence."""
    names = list(names)
    shown = ", ".join(_name(name) for name in names[:6])
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _name(name: object) -> str:
    """A name that a user chose: never markup, and isolated where it is written from right to left."""
    return f"<bdi>{escape(str(name))}</bdi>"


def _dot(index: int) -> str:
    return f'<i class="dot c{index % 8}" aria-hidden="true"></i>'


def _mark(sign: str, kind: str, text: str) -> str:
    return f'<button type="button" class="mark {kind}" title="{escape(text)}">{sign}</button>'


def _fragile_sign() -> str:
    return '<span class="mark fragile" aria-hidden="true">!</span>'


def _best_sign(clear: bool) -> str:
    sign, text = ("▲", "best of the row") if clear else ("△", "best of the row, but the intervals overlap")
    return f'<span class="best" role="img" aria-label="{text}" title="{text}">{sign}</span>'


def _gap(reason: str) -> str:
    return f'<span class="line"><span class="value">{_DASH}</span>{_mark("?", "gap", f"No number: {reason}")}</span>'


def _anchor(kind: str, name: str) -> str:
    """Safe in an attribute and in an address, and still readable."""
    return f"{kind}-" + re.sub(r"[^a-z0-9_-]", lambda sign: f".{ord(sign.group()):x}", name.lower())


# The file --------------------------------------------------------------------------------------------------------------


def _template(name: str) -> str:
    return (files("demele.report") / "templates" / name).read_text(encoding="utf-8")


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """Put parts in the places ``{{name}}``, in one pass: what is put in is never searched for places."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place.group(1)], template)


def _embedded(data: object) -> str:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _one_script(text: str) -> str:
    """Script as it must stand in a page: line ends as browsers hash them, and no end of its own element."""
    return re.sub(r"\r\n?", "\n", text).replace("</script", "<\\/script")


def _policy(scripts: Iterable[str]) -> str:
    """No request to anywhere, no script but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
