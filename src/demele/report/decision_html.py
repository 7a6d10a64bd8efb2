"""One self-contained HTML page about one comparison: the verdict in a sentence, what it rests on, what it can bear."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from demele.report import labels_worst as worst
from demele.report.bench_view import plain
from demele.report.labels_parts import (
    KINDS,
    Item,
    assumptions,
    cell,
    checked,
    facts,
    interval_chart,
    interval_table,
    lead,
    notes,
    signature,
    table,
    write,
)
from demele.report.labels_sentences import (
    OTHER_LABELS,
    WITH_MORE,
    bears_sentence,
    decision_headline,
    estimate_sentence,
    expert_sentence,
    gain,
    is_nameless,
    measure_words,
    pair_names,
    prospect_sentence,
)
from demele.report.labels_words import (
    METHOD_WORDS,
    digits_for,
    labels_share,
    level_text,
    percent,
    points,
    points_range,
    probability,
    span_of,
)
from demele.report.words import DASH, count, named

__all__ = ["write_decision"]

#: Shown as figures or words of their own, or too long for a list of facts.
_SHOWN_ELSEWHERE = frozenset(
    {"label_says_established", "label_says_candidate", "label_says_neither", "by_class", "prospect", "target"}
)
#: Methods that look whether two intervals overlap.
_OVERLAP = frozenset({"classic", "reference", "prudent-v1", "prudent-v2", "cleaned"})
_TARGETS = {
    "population": "better on new instances",
    "sample": "better on these instances, with right labels",
    "overlap": "so much better that the intervals on right labels would not overlap",
}


def write_decision(decision: Mapping[str, Any], path: Path, title: str | None = None) -> Path:
    """Write one HTML file about one comparison of two classifiers.

    Parameters
    ----------
    decision : mapping
        What ``Decision.to_dict()`` returns.
    path : Path
        The file; replaced if it exists.
    title : str, optional
        Heading of the page.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the dictionary is not that of a decision.

    Notes
    -----
    The page needs no script to be read. A script adds a slider over the rate of wrong labels, the order of tables,
    downloads and the theme; a content security policy forbids it any request.
    """
    data = checked(plain(decision), "decision")
    sections = [
        ("verdict", "Verdict", _verdict(data)),
        ("each", "Each classifier by itself", _each(data)),
        ("disagreements", "Where they disagree", _disagreements(data)),
        ("breakdown", "What wrong labels could change", _breakdown(data)),
        ("prospect", "What an audit would buy", _prospect(data)),
        ("notes", "Notes", notes(data.get("notes") or ())),
        ("expert", "For experts", _expert(data)),
    ]
    return write(
        data,
        Path(path),
        kind="Comparison of two classifiers on labels that may be wrong",
        title=title or _title(data),
        sections=sections,
        scripts=("labels.js", "worst_case.js", "decision.js"),
    )


def _title(data: Item) -> str:
    if is_nameless(data):
        return "Is the candidate better than the established classifier?"
    return f"Is {data['names'][1]} better than {data['names'][0]}?"


# The verdict ----------------------------------------------------------------------------------------------------------


def _verdict(data: Item) -> str:
    established, candidate = pair_names(data)
    value, span = gain(data)
    digits = digits_for(span)
    measure = measure_words(data)
    sentences = [bears_sentence(data, why=': <a href="#breakdown">why</a>'), expert_sentence(data)]
    if data["verdict"] == "undecided":
        sentences = [
            f"The difference in {measure} is estimated at {points(value, digits, sign=True)} points for {candidate}, "
            f"but anything in {points_range(span, digits, sign=True)} is possible. To be chosen, the candidate must "
            "be shown to be better."
        ]
    sentences += [said] if (said := estimate_sentence(data)) else []
    sentences.append(
        f"At level {level_text(data['level'])}, each of the two claims, “{candidate} is "
        f"better” and “{established} is better”, is wrong with a probability of at most "
        f"{level_text((1 - data['level']) / 2)}, if what follows holds."
    )
    return lead(decision_headline(data), sentences, tone=str(data["verdict"])) + assumptions(
        data.get("assumptions") or (), "<strong>This assumes:</strong>"
    )


# Each by itself -------------------------------------------------------------------------------------------------------


def _each(data: Item) -> str:
    rows = [
        (role if is_nameless(data) else f'{name} <span class="role">{role}</span>', colour, data[role])
        for colour, (name, role) in enumerate(zip(pair_names(data), ("established", "candidate"), strict=True))
    ]
    kind = next((item["corrected"]["kind"] for _, _, item in rows if item.get("corrected")), None)
    measure = measure_words(data)
    after = (
        f" Below it: on right labels, {escape(KINDS.get(str(kind), str(kind)))}."
        if kind
        else " This method does not correct the measure of each by itself."
    )
    against = "" if data["method"] == "label-free" else ": against the given labels"
    words = (
        f"<p>Apparent {measure}{against}; the line is what other instances with labels of the same quality could have "
        f"given.{after}</p>"
    )
    alone = (
        "<p>That two intervals overlap does not mean that the two are equal: they are judged on the same instances, so "
        "that only their disagreements count.</p>"
        if str(data["method"]) in ("bounded", "audited", "sequential", "label-free")
        else ""
    )
    return words + interval_chart(rows) + interval_table(rows, f"{measure} of each", "Classifier") + alone


# Disagreements --------------------------------------------------------------------------------------------------------


def _pair(data: Item) -> worst.Disagreements | None:
    details = data.get("details") or {}
    counts = [details.get(f"label_says_{who}") for who in ("established", "candidate", "neither")]
    if any(item is None for item in counts):
        return None
    lost, won, neither = (int(item) for item in counts if item is not None)
    agrees = [details.get(f"agrees_with_{who}_only") for who in ("established", "candidate")]
    if data["method"] == "label-free" and None not in agrees:  # judged by the reference, not by labels
        total = lost + won + neither
        lost, won = (int(item) for item in agrees if item is not None)
        neither = total - lost - won
    return worst.Disagreements(lost, won, neither, int(data["n"]))


def _disagreements(data: Item) -> str:
    pair = _pair(data)
    if pair is None:
        return ""
    established, candidate = pair_names(data)
    total = pair.lost + pair.won + pair.neither
    n = pair.n
    same = "" if total else " They never differ, so that nothing can tell them apart here."
    words = (
        f"<p>The two predict different classes for <strong>{count(total, 'instance')}</strong> of {n:,} "
        f"({percent(total / n)}). Only these can tell which is better: elsewhere both are right or both are wrong, "
        f"whatever the label.{same}</p>"
    )
    who = "reference" if data["method"] == "label-free" else "label"
    parts = [
        (f"{who} says {established}", pair.lost, "c0"),
        (f"{who} says {candidate}", pair.won, "c1"),
        (f"{who} says neither", pair.neither, "c7"),
    ]
    if total:
        drawn = "".join(f'<i class="{colour}" style="flex-grow:{size}"></i>' for _, size, colour in parts if size)
        words += f'<div class="stack" aria-hidden="true">{drawn}</div>'
    items = "".join(
        f'<li><i class="dot {colour}" aria-hidden="true"></i>{text}: <b>{size:,}</b></li>'
        for text, size, colour in parts
    )
    return f'{words}<ul class="key">{items}</ul>{_by_class(data)}'


def _by_class(data: Item) -> str:
    rows = (data.get("details") or {}).get("by_class") or ()
    if not rows or data["method"] == "label-free":
        return ""
    established, candidate = pair_names(data)
    ranked = sorted(rows, key=lambda row: -(row["lost"] + row["won"] + row["neither"]))
    lines = [
        f'<tr><th scope="row">{named(row["class"])}</th>{_number(row["lost"])}{_number(row["won"])}'
        f"{_number(row['neither'])}{_number(row['won'] - row['lost'], sign=True)}</tr>"
        for row in ranked
    ]
    heads = [
        ("Given label", "text"),
        (f"says {established}", "number"),
        (f"says {candidate}", "number"),
        ("says neither", "number"),
        (f"{candidate} minus {established}", "number"),
    ]
    return "<h3>By given label</h3>" + table("Disagreements by given label", heads, lines, first=20, noun="classes")


def _number(value: int, *, sign: bool = False) -> str:
    return cell(f"{value:+,}".replace("-", "−") if sign and value else f"{value:,}", value)


# What wrong labels could change ---------------------------------------------------------------------------------------


def _breakdown(data: Item) -> str:
    pair = _pair(data)
    if pair is None or not pair.lost + pair.won + pair.neither or data["method"] in OTHER_LABELS:
        return ""
    established, candidate = pair_names(data)
    found = data.get("breakdown")
    bears = int(found["labels"]) if found else -1
    with_more = data["method"] in WITH_MORE
    stands = (
        "the given labels, without the audit, would still show the same" if with_more else "the verdict still stands"
    )
    mark = "the labels without the audit show it up to here" if with_more else "the verdict stands up to here"
    marks = {mark: bears} if bears > 0 else {}
    wrong = (data.get("details") or {}).get("wrong_labels_estimated")
    if wrong is not None and round(wrong) > 0:
        marks["so many are wrong, as the audit estimates"] = min(round(wrong), pair.n)
    until = worst.reach(pair, list(marks.values()))
    start = min(bears if bears > 0 else round(0.01 * pair.n), until)
    claim = (
        data["verdict"] if data["verdict"] != "undecided" else "candidate" if pair.won >= pair.lost else "established"
    )
    words = (
        f"<p>A wrong label moves the difference most where it says that {candidate} is right and truly "
        f"{established} is, or the other way round: by two instances. Where it says that neither is right, by one. So "
        "for any number of wrong labels there is a worst case, wherever they are; nothing is assumed about them.</p>"
        f"<p>The <em>breakdown rate</em> is the largest share of wrong labels under which {stands} in the worst case. "
        f"{_bears_here(data, bears)}</p>"
    )
    slider = (
        f'<div class="controls what-if" hidden data-lost="{pair.lost}" data-won="{pair.won}" '
        f'data-neither="{pair.neither}" data-rule="{"overlap" if _by_overlap(data) else "other"}" '
        f'data-n="{pair.n}" data-alone="{data["method"] in WITH_MORE}" data-claim="{claim}" data-bears="{bears}" '
        f'data-tail="{(1 - data["level"]) / 2!r}">'
        f'<label for="wrong">If so many labels are wrong: <b id="wrong-rate"></b></label>'
        f'<input type="range" id="wrong" min="0" max="{until}" value="{start}" step="1">'
        '<div id="wrong-says" role="status"></div></div>'
    )
    name = f"True difference in accuracy, {candidate} minus {established}"
    return (
        words
        + slider
        + worst.figure(pair, until, marks, name)
        + '<details class="values"><summary>The same as a table</summary>'
        + f"{worst.rates_table(pair, marks, (established, candidate))}</details>"
    )


def _by_overlap(data: Item) -> bool:
    return str(data["method"]) in _OVERLAP or _target(data) == "overlap"


def _bears_here(data: Item, bears: int) -> str:
    if data["verdict"] == "undecided":
        return "Here there is none: no classifier is shown to be better."
    if bears < 0:
        return "Here there is none: the verdict rests on more than the given labels."
    return f"Here it is {labels_share(bears, int(data['n']))}."


# Audit ----------------------------------------------------------------------------------------------------------------


def _prospect(data: Item) -> str:
    rows = (data.get("details") or {}).get("prospect") or ()
    if not rows:
        return ""
    rated = any(row.get("certified_if_rate") is not None for row in rows)
    heads = [("Expert labels", "text"), ("Interval, ± points", "number"), ("Settled if all confirm", "text")]
    heads += [("Settled at the rate supplied", "text")] if rated else []
    lines = [
        f'<tr><th scope="row" data-v="{row["labels"]}">{row["labels"]:,}</th>'
        f"{cell(points(row.get('half_width'), 2), row.get('half_width'))}{_yes(row.get('certified_if_clean'))}"
        f"{_yes(row.get('certified_if_rate')) if rated else ''}</tr>"
        for row in rows
    ]
    return (
        "<p>In an <em>audit</em>, experts label instances that were drawn at random; "
        f"their answers replace the assumption about the noise. {prospect_sentence(data)}</p>"
        + table("What an audit would buy", heads, lines)
    )


def _yes(value: Any) -> str:
    word = DASH if value is None else "yes" if value else "no"
    return cell(word, kind="yes" if value else "no")


# For experts ----------------------------------------------------------------------------------------------------------


def _expert(data: Item) -> str:
    method = str(data["method"])
    words = METHOD_WORDS.get(method)
    established, candidate = pair_names(data)
    pair = _pair(data)
    value, span = data["difference"], span_of(data.get("interval"))
    digits = max(2, digits_for(span))
    target = _target(data)
    interval = data.get("interval") or {}
    rows = [
        ("Method", f"<code>{escape(method)}</code>" + (f": {escape(words.title)}" if words else "")),
        ("Rule", escape(words.rule) if words else ""),
        ("Worth", escape(words.worth) if words else ""),
        ("Question", f"{escape(_TARGETS.get(target, target))} (<code>{escape(target)}</code>)" if target else ""),
        ("Measure", measure_words(data)),
        ("Instances", f"{data['n']:,}"),
        (
            "Difference",
            f"{points(value, digits, sign=True)} points, {points_range(span, digits, sign=True)} "
            f"({candidate} minus {established})",
        ),
        ("Interval", escape(", ".join(str(interval[key]) for key in ("method", "kind") if interval.get(key)))),
        ("Level", f"{level_text(data['level'])}, two-sided"),
        (
            "p-value",
            f"{escape(probability(data['p_value']))}, one-sided: {candidate} is not better"
            if data.get("p_value") is not None
            else "",
        ),
    ]
    if pair is not None:
        who = "reference" if method == "label-free" else "label"
        rows.append(
            (
                "Counts",
                f"a = {pair.lost:,} ({who} says {established}), b = {pair.won:,} ({candidate}), "
                f"o = {pair.neither:,} (neither)",
            )
        )
        if method not in OTHER_LABELS:
            rows.append(("Worst case", "with m wrong labels: b − a − 2t − u, where t = min(m, b), u = min(m − t, o)"))
    details = [
        (str(name).replace("_", " "), _value(item))
        for name, item in (data.get("details") or {}).items()
        if name not in _SHOWN_ELSEWHERE
    ]
    rest = f"<h3>Further quantities of the method</h3>{facts(details)}" if details else ""
    return facts(rows) + rest + signature(data.get("signature"))


def _value(item: Any) -> str:
    if item is None:
        return DASH
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, float):
        return f"{item:.6g}".replace("-", "−")
    if isinstance(item, int):
        return f"{item:,}".replace("-", "−")
    if isinstance(item, Sequence) and not isinstance(item, str) and len(item) > 20:
        return f"{len(item):,} values: see the data of this page"
    return escape(str(item))


def _target(data: Item) -> str:
    return str(data.get("target") or "")
