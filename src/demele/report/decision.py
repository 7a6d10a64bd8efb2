"""The page about one comparison of two classifiers: the verdict in a sentence, what it rests on, what it can bear."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report import worst_case
from demele.report.estimates import difference_chart, interval_chart, interval_table, labels_page
from demele.report.page import Cell, Html, controls, facts, h, lead, notes, of_kind, paragraph, signature, table
from demele.report.sentences import (
    KINDS,
    OTHER_LABELS,
    WITH_MORE,
    bears_sentence,
    decision_headline,
    estimate_sentence,
    expert_sentence,
    gain,
    is_nameless,
    labels_share,
    measure_words,
    method_facts,
    pair_names,
    prospect_sentence,
)
from demele.report.words import (
    DASH,
    Text,
    code,
    count,
    digits_for,
    em,
    level_text,
    link,
    named,
    percent,
    points,
    points_range,
    probability,
    span_of,
    strong,
)

__all__ = ["write_decision"]

Item = Mapping[str, Any]

#: Shown as figures or words of their own, or too long for a list of facts.
_SHOWN_ELSEWHERE = frozenset(
    {"label_says_baseline", "label_says_candidate", "label_says_neither", "by_class", "prospect", "inference"}
)
#: Methods that look whether two intervals overlap.
_OVERLAP = frozenset({"overlap", "true-labels", "worst-case-overlap", "hard-rows", "cleaned"})
_INFERENCES = {
    "population": "better on new instances",
    "test_set": "better on these instances, with right labels",
    "overlap": "so much better that the intervals on right labels would not overlap",
}


def write_decision(decision: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``Decision.to_dict()`` returns as one HTML file.

    The page needs no script to be read. A script adds a slider over the rate of wrong labels, the order of tables,
    downloads and the theme.

    Raises
    ------
    InputError
        If the dictionary is not that of a decision.
    """
    data = of_kind(decision, "decision")
    names = ("the baseline classifier", "the candidate") if is_nameless(data) else data["names"]
    sections = [
        ("verdict", "Verdict", _verdict(data)),
        ("each", "Each classifier by itself", _each(data)),
        ("disagreements", "Where they disagree", _disagreements(data)),
        ("breakdown", "What wrong labels could change", _breakdown(data)),
        ("prospect", "What an audit would buy", _prospect(data)),
        ("others", "Other measures", _others(data)),
        ("notes", "Notes", notes(data.get("notes") or ())),
        ("expert", "For experts", _expert(data)),
    ]
    return labels_page(
        data,
        kind="Comparison of two classifiers on labels that may be wrong",
        title=title or f"Is {names[1]} better than {names[0]}?",
        sections=sections,
        scripts=("worst_case.js", "decision.js"),
        styles=("decision.css",),
    ).write(path)


def _verdict(data: Item) -> Html:
    baseline, candidate = pair_names(data)
    value, span = gain(data)
    digits = digits_for(span)
    why = Text(": ", link("#breakdown", "why"))
    sentences: list[object] = [bears_sentence(data, why=why), expert_sentence(data)]
    if data["verdict"] == "inconclusive":
        sentences = [
            Text(
                *("The difference in ", measure_words(data)),
                *(f" is estimated at {points(value, digits, sign=True)} points for ", candidate),
                f", but anything in {points_range(span, digits, sign=True)} is possible. To be chosen, the candidate "
                "must be shown to be better.",
            )
        ]
    sentences.append(estimate_sentence(data))
    sentences.append(
        Text(
            f"At level {level_text(data['level'])}, each of the two claims, “",
            *(candidate, " is better” and “", baseline, " is better”, is wrong with a probability of at most "),
            f"{level_text((1 - data['level']) / 2)}, if what follows holds.",
        )
    )
    tone = str(data["verdict"])
    drawn = difference_chart(value, span, (baseline, candidate))
    return h("", lead(decision_headline(data), sentences, tone=tone, assumptions=data.get("assumptions") or ()), drawn)


def _each(data: Item) -> Html:
    roles = ("baseline", "candidate")
    rows = [
        (role if is_nameless(data) else h("", name, " ", h("span", role, class_="role")), colour, data[role])
        for colour, (name, role) in enumerate(zip(pair_names(data), roles, strict=True))
    ]
    kind = next((item["corrected"]["kind"] for _, _, item in rows if item.get("corrected")), None)
    after = (
        f" Below it: on right labels, {KINDS.get(str(kind), str(kind))}."
        if kind
        else " This method does not correct the measure of each by itself."
    )
    against = "" if data["method"] == "agreement" else ": against the given labels"
    pair = _pair(data)
    alone = (
        "That two intervals overlap does not mean that the two are equal: they are judged on the same instances, so "
        "that "
        f"{'only their disagreements count' if pair is not None else 'most of what moves the one moves the other'}."
    )
    return h(
        "",
        paragraph(
            *(
                "Observed ",
                measure_words(data),
                f"{against}; the line is what other instances with labels of the same ",
            ),
            f"quality could have given.{after}",
        ),
        interval_chart(rows),
        interval_table(rows, Text(measure_words(data), " of each"), "Classifier"),
        paragraph(alone)
        if data["method"] in ("worst-case", "audit", "sequential", "agreement") or pair is None
        else "",
    )


# Disagreements --------------------------------------------------------------------------------------------------------


def _pair(data: Item) -> worst_case.Disagreements | None:
    details = data.get("details") or {}
    counts = [details.get(f"label_says_{who}") for who in ("baseline", "candidate", "neither")]
    if any(item is None for item in counts):
        return None
    lost, won, neither = (int(item) for item in counts if item is not None)
    agrees = [details.get(f"agrees_with_{who}_only") for who in ("baseline", "candidate")]
    if data["method"] == "agreement" and None not in agrees:  # judged by the reference, not by labels
        total = lost + won + neither
        lost, won = (int(item) for item in agrees if item is not None)
        neither = total - lost - won
    return worst_case.Disagreements(lost, won, neither, int(data["n"]))


def _disagreements(data: Item) -> Html:
    pair = _pair(data)
    if pair is None:
        return h("")
    baseline, candidate = pair_names(data)
    total = pair.lost + pair.won + pair.neither
    same = "" if total else " They never differ, so that nothing can tell them apart here."
    who = "reference" if data["method"] == "agreement" else "label"
    parts = [(baseline, pair.lost, 0), (candidate, pair.won, 1), ("neither", pair.neither, 7)]
    drawn = [h("i", class_=f"c{colour}", style=f"flex-grow:{size}") for _, size, colour in parts if size]
    return h(
        "",
        paragraph(
            "The two predict different classes for ",
            strong(count(total, "instance")),
            f" of {pair.n:,} ({percent(total / pair.n)}). Only these can tell which is better: elsewhere both are "
            f"right or both are wrong, whatever the label.{same}",
        ),
        h("div", drawn, class_="stack", aria_hidden="true") if total else "",
        h(
            "ul",
            [
                h(
                    "li",
                    h("i", class_=f"dot c{colour}", aria_hidden="true"),
                    f"{who} says ",
                    name,
                    ": ",
                    h("b", f"{size:,}"),
                )
                for name, size, colour in parts
            ],
            class_="key",
        ),
        _by_class(data),
    )


def _by_class(data: Item) -> Html:
    rows = (data.get("details") or {}).get("by_class") or ()
    if not rows or data["method"] == "agreement":
        return h("")
    baseline, candidate = pair_names(data)
    ranked = sorted(rows, key=lambda row: -(row["lost"] + row["won"] + row["neither"]))
    lines = []
    for row in ranked:
        gap = row["won"] - row["lost"]
        sizes = [Cell(f"{row[key]:,}", row[key]) for key in ("lost", "won", "neither")]
        lines.append([named(row["class"]), *sizes, Cell(f"{gap:+,}".replace("-", "−") if gap else "0", gap)])
    heads: list[tuple[object, str] | None] = [
        ("Given label", "text"),
        (Text("says ", baseline), "number"),
        (Text("says ", candidate), "number"),
        ("says neither", "number"),
        (Text(candidate, " minus ", baseline), "number"),
    ]
    listed = table("Disagreements by given label", heads, lines, first=20, noun="classes")
    return h("", h("h3", "By given label"), listed)


# What wrong labels could change ---------------------------------------------------------------------------------------


def _breakdown(data: Item) -> Html:
    pair = _pair(data)
    if pair is None or not pair.lost + pair.won + pair.neither or data["method"] in OTHER_LABELS:
        return h("")
    baseline, candidate = pair_names(data)
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
    until = worst_case.reach(pair, list(marks.values()))
    better = "candidate" if pair.won >= pair.lost else "baseline"
    slider = controls(
        h("label", "If so many labels are wrong: ", h("b", id="wrong-rate"), for_="wrong"),
        h(
            "input",
            type="range",
            id="wrong",
            min="0",
            max=str(until),
            step="1",
            value=str(min(bears if bears > 0 else round(0.01 * pair.n), until)),
        ),
        h("div", id="wrong-says", role="status"),
        kind="controls what-if",
        data_lost=str(pair.lost),
        data_won=str(pair.won),
        data_neither=str(pair.neither),
        data_n=str(pair.n),
        data_rule="overlap" if data["method"] in _OVERLAP or data.get("inference") == "overlap" else "other",
        data_alone=str(with_more),
        data_claim=data["verdict"] if data["verdict"] != "inconclusive" else better,
        data_bears=str(bears),
        data_tail=repr((1 - data["level"]) / 2),
    )
    return h(
        "",
        paragraph(
            *("A wrong label moves the difference most where it says that ", candidate, " is right and truly "),
            *(baseline, " is, or the other way round: by two instances. Where it says that neither is right, by "),
            "one. So for any number of wrong labels there is a worst case, wherever they are; nothing is assumed about "
            "them.",
        ),
        paragraph(
            *(
                "The ",
                em("breakdown rate"),
                f" is the largest share of wrong labels under which {stands} in the worst ",
            ),
            f"case. {_bears_here(data, bears)}",
        ),
        slider,
        worst_case.figure(pair, until, marks, Text("True difference in accuracy, ", candidate, " minus ", baseline)),
        h(
            "details",
            h("summary", "The same as a table"),
            worst_case.rates_table(pair, marks, (baseline, candidate)),
            class_="values",
        ),
    )


def _bears_here(data: Item, bears: int) -> str:
    if data["verdict"] == "inconclusive":
        return "Here there is none: no classifier is shown to be better."
    if bears < 0:
        return "Here there is none: the verdict rests on more than the given labels."
    return f"Here it is {labels_share(bears, int(data['n']))}."


def _others(data: Item) -> Html:
    lines = [h("li", measure_words(one), ": ", decision_headline(one)) for one in data.get("others") or ()]
    return h("ul", lines) if lines else h("")


def _prospect(data: Item) -> Html:
    rows = (data.get("details") or {}).get("prospect") or ()
    if not rows:
        return h("")
    rated = any(row.get("certified_if_rate") is not None for row in rows)
    heads = [
        ("Expert labels", "text"),
        ("Interval, ± points", "number"),
        ("Settled if all confirm", "text"),
        ("Settled at the rate supplied", "text") if rated else None,
    ]
    lines = [
        [
            h("th", f"{row['labels']:,}", scope="row", data_v=str(row["labels"])),
            Cell(points(row.get("half_width"), 2), row.get("half_width")),
            _yes(row.get("certified_if_clean")),
            _yes(row.get("certified_if_rate")) if rated else None,
        ]
        for row in rows
    ]
    audit = Text("In an ", em("audit"), ", experts label instances that were drawn at random; ")
    answers = "their answers replace the assumption about the noise. "
    listed = table("What an audit would buy", heads, lines)
    return h("", paragraph(audit, answers, prospect_sentence(data)), listed)


def _yes(value: Any) -> Cell:
    return Cell(DASH if value is None else "yes" if value else "no", kind="yes" if value else "no")


# For experts ----------------------------------------------------------------------------------------------------------


def _expert(data: Item) -> Html:
    baseline, candidate = pair_names(data)
    pair = _pair(data)
    value, span = data["difference"], span_of(data.get("interval"))
    digits = max(2, digits_for(span))
    inference, interval = str(data.get("inference") or ""), data.get("interval") or {}
    difference = f"{points(value, digits, sign=True)} points, {points_range(span, digits, sign=True)} ("
    rows = [
        *method_facts(data),
        ("Question", Text(f"{_INFERENCES.get(inference, inference)} (", code(inference), ")") if inference else ""),
        ("Measure", measure_words(data)),
        ("Instances", f"{data['n']:,}"),
        ("Difference", Text(difference, candidate, " minus ", baseline, ")")),
        ("Interval", ", ".join(str(interval[key]) for key in ("method", "kind") if interval.get(key))),
        ("Level", f"{level_text(data['level'])}, two-sided"),
    ]
    if data.get("p_value") is not None:
        rows.append(("p-value", Text(probability(data["p_value"]), ", one-sided: ", candidate, " is not better")))
    if pair is not None:
        who = "reference" if data["method"] == "agreement" else "label"
        counts = Text(
            *(f"a = {pair.lost:,} ({who} says ", baseline, f"), b = {pair.won:,} (", candidate),
            f"), o = {pair.neither:,} (neither)",
        )
        rows.append(("Counts", counts))
        if data["method"] not in OTHER_LABELS:
            rows.append(("Worst case", "with m wrong labels: b − a − 2t − u, where t = min(m, b), u = min(m − t, o)"))
    details = [
        (str(name).replace("_", " "), _value(item))
        for name, item in (data.get("details") or {}).items()
        if name not in _SHOWN_ELSEWHERE
    ]
    rest = [h("h3", "Further quantities of the method"), facts(details)] if details else []
    return h("", facts(rows), rest, signature(data.get("signature")))


def _value(item: Any) -> str:
    if item is None or isinstance(item, bool):
        return DASH if item is None else "yes" if item else "no"
    if isinstance(item, int | float):
        return (f"{item:.6g}" if isinstance(item, float) else f"{item:,}").replace("-", "−")
    if isinstance(item, Sequence) and not isinstance(item, str) and len(item) > 20:
        return f"{len(item):,} values: see the data of this page"
    return str(item)
