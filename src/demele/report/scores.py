"""The page about one or several evaluations: how far to trust them, who is best at what, every score, its figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from demele.core.errors import InputError
from demele.metrics.catalogue import CATALOGUE
from demele.report.page import Html, Page, controls, data_element, dot, embedded, h, paragraph, tool
from demele.report.scores_figures import matrix_figures, native_figures, shortened, value_range
from demele.report.scores_lookup import anchor, fragile_sign, inputs, legend, made, missing_and_notes
from demele.report.scores_view import PROPERTIES, Catalogue, View
from demele.report.words import DASH, Text, brackets, count, em, first_names, link, named, number, strong

__all__ = ["overview", "verdict", "write_report"]

Item = Mapping[str, Any]


def write_report(
    evaluations: Sequence[Item],
    path: Path,
    *,
    title: str | None = None,
    specs: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    """Write evaluations side by side as one HTML file.

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
        ``range``, ``best``; by default what the catalogue says. Metrics that are not in it are shown by their name.

    Returns
    -------
    Path
        The file. Its tables need no script; a script draws the figures.

    Raises
    ------
    InputError
        If there is nothing to show.
    """
    if not evaluations:
        raise InputError("evaluations", "expected at least one to report on, got none")
    known = {name: metric.facts() for name, metric in CATALOGUE.items()} if specs is None else specs
    view = View([shortened(evaluation) for evaluation in evaluations], Catalogue(known))
    names = [str(item["name"]) for item in view.evaluations]
    alone = f"How disentangled is {names[0]}?"
    versions = sorted({str(item["demele"]) for item in view.evaluations if item["demele"]})
    figures = {
        "titles": {metric: view.catalogue.title(metric) for metric in view.metrics},
        "matrices": matrix_figures(view.evaluations),
        "natives": native_figures(view.evaluations),
    }
    return Page(
        kind="Disentanglement report",
        title=title or (f"{len(names)} representations, side by side" if view.several else alone),
        sections=[
            ("verdict", "Verdict", verdict(view)),
            ("scores", "All scores", overview(view)),
            ("matrices", "Codes against factors", _matrices(view)),
            ("natives", "Per factor, per code", _natives(view)),
            ("dependency", "What other factors do", _dependency(view)),
            ("notes", "Notes and gaps", missing_and_notes(view)),
            ("inputs", "What was scored", inputs(view)),
            ("metrics", "What the metrics mean", legend(view)),
            ("made", "How each number was made", made(view)),
        ],
        style="scores",
        styles=("figures.css",),
        scripts=("figures.js", "report.js"),
        tools=tool("Download data", "download-json"),
        data=data_element(embedded({"evaluations": view.evaluations} if view.several else view.evaluations[0])),
        more=data_element(embedded(figures), "figures"),
        version=" and demele ".join(versions),
    ).write(path)


# The verdict ----------------------------------------------------------------------------------------------------------


def verdict(view: View) -> Html:
    """Write what was scored, how far the numbers can be trusted, and a card for each property."""
    sentences = [_what_was_scored(view), *_how_far_to_trust(view)]
    cards = [_property_card(view, key, group) for key, group in view.by_property(view.metrics).items()]
    return h("", h("div", map(paragraph, sentences), class_="lead"), h("div", cards, class_="cards"))


def _what_was_scored(view: View) -> Text:
    protocols = first_names(dict.fromkeys(str(item["protocol"]) for item in view.evaluations))
    n_metrics = count(len(view.metrics), "metric")
    under = (", under the protocol ", protocols, ".")
    if view.several:
        names = first_names(str(item["name"]) for item in view.evaluations)
        factors = {tuple(factor["name"] for factor in item["factors"]) for item in view.evaluations}
        same = f" for the same {count(len(next(iter(factors))), 'factor')}" if len(factors) == 1 else ""
        many = strong(count(len(view.evaluations), "representation"))
        return Text(many, " (", names, f") were scored by {n_metrics}{same}", *under)
    item = view.evaluations[0]
    names = first_names(str(factor["name"]) for factor in item["factors"])
    codes = count(item.get("codes_in_all", len(item["codes"])), "code")
    against = f"{codes} against {count(len(item['factors']), 'factor')} ("
    scored = f" was scored by {n_metrics} on {count(item['n'], 'row')}: {against}"
    return Text(strong(named(item["name"])), scored, names, ")", *under)


def _how_far_to_trust(view: View) -> list[object]:
    scores = [score for item in view.evaluations for score in item["scores"]]
    fragile = sum(score["fragile"] for score in scores)
    undefined = sum(score["value"] is None for score in scores)
    left_out = {gap["metric"] for item in view.evaluations for gap in item["left_out"]}
    sentences: list[object] = []
    if fragile:
        it, verb = ("it", "is") if fragile == 1 else ("them", "are")
        told = Text(strong(f"{fragile} of {count(len(scores), 'score')}"), f" {verb} ", em("fragile"), " ")
        why = Text(
            f": another defensible setting would change {it} much, or codes of noise would score as well. Read ",
            *(link("#notes", "why"), " before you quote one."),
        )
        sentences.append([told, fragile_sign(), why])
    elif scores:
        sentences.append(
            "No score was found to be fragile, that is, to hang on one setting or to be what noise scores."
        )
    by_luck = sum(_not_above_chance(score) for score in scores)
    if by_luck:
        chance = (
            " may be chance: with the factors' rows shuffled, the same codes do as well in more than one shuffle of "
        )
        sentences.append(Text(strong(count(by_luck, "score")), chance, "twenty."))
    if scores and all(score["interval"] is None for score in scores):
        sentences.append(
            "No intervals were asked for: other rows from the same source would move these numbers, and this page "
            "cannot say by how much."
        )
    if undefined or left_out:
        parts = [f"{count(undefined, 'score')} undefined"] if undefined else []
        parts += [f"{count(len(left_out), 'metric')} left out"] if left_out else []
        sentences.append(Text(f"There are gaps: {' and '.join(parts)}; ", link("#notes", "the reasons"), "."))
    return sentences


def _not_above_chance(score: Item) -> bool:
    """At least one permutation did as well, and that is more than one in twenty."""
    chance = score["chance"]
    if chance is None or chance["p_value"] is None or score["value"] is None:
        return False
    as_good = chance["p_value"] * (1 + len(chance["values"])) > 1.5
    return bool(as_good and chance["p_value"] > 0.05)


def _property_card(view: View, key: str, metrics: Sequence[str]) -> Html:
    name, meaning = PROPERTIES[key]
    compared = [metric for metric in metrics if not view.assumed(metric)]
    values = [view.values(metric) for metric in compared]
    low, high = value_range(value for row in values for value in row)
    rows = []
    for index in range(len(view.evaluations)):
        known = [value for row in values if (value := row[index]) is not None]
        middle = h("td", number(median(known)), class_="number") if known else h("td", DASH)
        strip = h("td", _spread_strip(known, low, high, index) if known else "")
        rows.append(h("tr", h("th", _dotted(view, index), scope="row") if view.several else "", middle, strip))
    ends = " to ".join(f"{end:.2g}".replace("-", "−") for end in (low, high))
    heads = [*(["Representation"] if view.several else []), "Median", f"Each metric, {ends}"]
    whole = h(
        "table",
        h("caption", f"{name}: median and range over {count(len(compared), 'metric')}", class_="hidden"),
        h("thead", h("tr", [h("th", head, scope="col") for head in heads])),
        h("tbody", rows),
        class_="plain" if view.several else "plain single",
    )
    sentence = paragraph(_card_sentence(view, metrics, compared))
    return h("article", h("h3", name), paragraph(meaning, class_="meaning"), sentence, whole, class_="card")


def _card_sentence(view: View, metrics: Sequence[str], compared: Sequence[str]) -> Text:
    assumed = len(metrics) - len(compared)
    verb = "is" if assumed == 1 else "are"
    aside = f"{count(assumed, 'metric')} {verb} left out of this card: order of codes assumed." if assumed else ""
    if not compared:
        return Text(aside)
    return Text(_summary(view, compared), " " if aside else "", aside)


def _summary(view: View, metrics: Sequence[str]) -> Text:
    if not view.several:
        known = {metric: value for metric in metrics for value in view.values(metric) if value is not None}
        if not known:
            return Text("No metric has a number.")
        low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        ends = [f"{number(known[end])} ({view.catalogue.title(end)})" for end in (low, high)]
        if low == high:
            return Text(f"One metric: {view.catalogue.title(low)}, {number(known[low])}.")
        return Text(f"{count(len(known), 'metric')}, from {ends[0]} to {ends[1]}.")
    winners = [winner for winner in map(view.winner, metrics) if winner is not None]
    if not winners:
        return Text("No metric tells the representations apart.")
    wins = {index: sum(winner[0] == index for winner in winners) for index, _ in winners}
    parts = [
        piece
        for index in sorted(wins, key=lambda index: -wins[index])
        for piece in (", ", named(view.evaluations[index]["name"]), f" in {wins[index]}")
    ]
    clear = sum(winner[1] is True for winner in winners)
    known_intervals = any(winner[1] is not None for winner in winners)
    apart = f" In {clear} of these the interval lies apart from all others." if known_intervals else ""
    ties = sum(map(view.tied, metrics))
    return Text(f"Best by {count(len(winners), 'metric')}: ", *parts[1:], f"; {ties} tied" if ties else "", f".{apart}")


def _spread_strip(values: Sequence[float], low: float, high: float, index: int) -> Html:
    def mark(value: float, kind: str) -> Html:
        return h("i", class_=kind, style=f"left:{round(100 * (value - low) / (high - low), 2)}%")

    ticks = [*(mark(value, "tick") for value in values), mark(median(values), "median")]
    text = f"from {number(min(values))} to {number(max(values))}"
    return h("span", ticks, class_=f"spread c{index % 8}", role="img", aria_label=text, title=text)


def _dotted(view: View, index: int) -> Html:
    return h("", dot(index) if view.several else "", named(view.evaluations[index]["name"]))


# All scores -----------------------------------------------------------------------------------------------------------


def overview(view: View) -> Html:
    """Write the table of all scores, grouped by property, with what it takes to read it."""

    def head(content: object) -> Html:
        return h("th", h("button", content, type="button", class_="sort"), scope="col", aria_sort="none")

    columns = range(len(view.evaluations))
    bodies = []
    for key, group in view.by_property(view.metrics).items():
        title = [PROPERTIES[key][0], " ", h("span", PROPERTIES[key][1], class_="meaning")]
        titled = h("tr", h("th", title, colspan=str(1 + len(columns)), scope="rowgroup"), class_="group")
        bodies.append(h("tbody", titled, [[_overview_row(view, metric), "\n"] for metric in group]))
    whole = h(
        "table",
        h("caption", "Every metric of every representation", class_="hidden"),
        h("thead", h("tr", head("Metric"), [head(_dotted(view, index)) for index in columns])),
        bodies,
        id="overview",
        class_="several" if view.several else "single",
    )
    groups = {"property": "property", "family": "family", "": "nothing"}
    return h(
        "",
        paragraph(_reading_guide(view)),
        controls(
            h("label", "Find ", h("input", type="search", id="find", placeholder="metric, family, property")),
            h("label", "Group by ", _select("group", groups)),
            h("label", h("input", type="checkbox", id="only-fragile"), " only fragile"),
            h("span", id="found", role="status"),
        ),
        h("div", whole, class_="scroll", tabindex="0", role="region", aria_labelledby="scores-title"),
    )


def _select(name: str, options: Mapping[str, str] | None = None) -> Html:
    return h("select", [h("option", text, value=value) for value, text in (options or {}).items()], id=name)


def _best_sign(clear: bool) -> Html:
    sign, text = ("▲", "best of the row") if clear else ("△", "best of the row, but the intervals overlap")
    return h("span", sign, class_="best", role="img", aria_label=text, title=text)


def _mark(sign: str, kind: str, text: str) -> Html:
    """Write a sign that tells its reason to the mouse and to the keyboard."""
    return h("button", sign, type="button", class_=f"mark {kind}", title=text)


def _reading_guide(view: View) -> list[object]:
    scores = [score for item in view.evaluations for score in item["scores"]]
    parts: list[object] = ["The bar is the value, drawn from 0 to 1 unless a value lies outside."]
    intervals = [score["interval"] for score in scores if score["interval"] is not None]
    if intervals:
        kinds = dict.fromkeys(f"{interval['level']:.0%} {interval['kind']} intervals" for interval in intervals)
        parts.append(Text(" Brackets and the thin line are ", first_names(kinds), "."))
    if any(score["spread"] is not None for score in scores):
        parts.append(" ± is the standard deviation over seeds.")
    if any(score["chance"] is not None for score in scores):
        parts.append(" The upright tick is chance: what the same codes score when the factors' rows are shuffled.")
    if view.several:
        overlap = [", ", _best_sign(False), " where intervals overlap"] if intervals else []
        parts.append([" ", _best_sign(True), " marks the best of a row", overlap, "."])
    if any(map(view.assumed, view.metrics)):
        shown = ": it is shown, not compared." if view.several else "."
        parts.append(f" Where the order of codes was assumed, a value hangs on the order of the columns{shown}")
    return [*parts, " ", fragile_sign(), " marks fragile scores."]


def _overview_row(view: View, metric: str) -> Html:
    title, family = view.catalogue.title(metric), view.catalogue.family(metric)
    scores = [view.score(index, metric) for index in range(len(view.evaluations))]
    known = [score for score in scores if score is not None]
    scale = value_range(end for score in known for end in (score["value"], (score["chance"] or {}).get("mean")))
    group = view.catalogue.property_of(metric)
    reason = view.assumed(metric)
    name = h(
        "th",
        h("a", title, href=f"#{anchor('metric', metric)}"),
        h("span", family, class_="family"),
        h("span", "order of codes assumed", class_="assumed", title=reason) if reason else "",
        scope="row",
        data_value=title.lower(),
    )
    winner = view.winner(metric)
    return h(
        "tr",
        name,
        [_overview_cell(view, metric, index, score, scale, winner) for index, score in enumerate(scores)],
        class_="row",
        data_words=" ".join([metric, title, family, PROPERTIES[group][0]]).lower(),
        data_property=group,
        data_family=family,
        data_fragile=str(int(any(score["fragile"] for score in known))),
    )


def _gap(reason: str) -> Html:
    shown = h("span", h("span", DASH, class_="value"), _mark("?", "gap_mark", f"No number: {reason}"), class_="line")
    return h("td", shown, class_="score", data_value="")


def _overview_cell(
    view: View,
    metric: str,
    index: int,
    score: Item | None,
    scale: tuple[float, float],
    winner: tuple[int, bool | None] | None,
) -> Html:
    if score is None:
        gaps = view.evaluations[index]["left_out"]
        return _gap(next((gap["reason"] for gap in gaps if gap["metric"] == metric), "not asked for"))
    if score["value"] is None:
        return _gap("; ".join(note["message"] for note in score["notes"]) or "undefined")
    value = h("a", number(score["value"]), class_="value", href=f"#{anchor('made', f'{index}-{metric}')}")
    marks = []
    if winner is not None and winner[0] == index:
        value = h("strong", value)
        marks.append(_best_sign(winner[1] is not False))
    if score["fragile"]:
        reasons = [note["message"] for note in score["notes"] if note["severity"] == "fragile"]
        marks.append(_mark("!", "fragile", f"Fragile: {'; '.join(reasons)}"))
    extras = [f"± {number(score['spread']['std'])}"] if score["spread"] is not None else []
    extras += [f"chance {number(score['chance']['mean'])}"] if score["chance"] is not None else []
    interval = h("span", brackets(score["interval"]), class_="interval")
    return h(
        "td",
        h("span", value, marks, interval, class_="line"),
        _strip(score, scale, index),
        h("span", " · ".join(extras), class_="extras") if extras else "",
        class_="score",
        data_value=repr(score["value"]),
    )


def _strip(score: Item, scale: tuple[float, float], index: int) -> Html:
    """Value as a bar from 0, interval as a line, chance as a tick; a picture of numbers that stand beside it."""
    low, high = scale

    def at(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / (high - low), 2)

    def box(kind: str, start: float, end: float, top: object, height: object) -> Html:
        return h("rect", class_=kind, x=start, y=top, width=round(end - start, 2), height=height)

    start, end = sorted((at(0.0), at(score["value"])))
    parts = [box("track", 0, 100, 2, 6), box("bar", start, end, 2, 6)]
    interval, chance = score["interval"], score["chance"]
    if interval is not None and interval["low"] is not None and interval["high"] is not None:
        parts.append(box("range", at(interval["low"]), at(interval["high"]), 4.25, 1.5))
    if chance is not None and chance["mean"] is not None:
        parts.append(box("chance", at(chance["mean"]), at(chance["mean"]) + 0.8, 0, 10))
    frame = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none"}
    return h("svg", parts, class_=f"strip c{index % 8}", **frame, aria_hidden="true")


# The places that the script draws figures in --------------------------------------------------------------------------


def _matrices(view: View) -> Html:
    if not any(score["matrix"] for item in view.evaluations for score in item["scores"]):
        return h("")
    cut = [
        Text(named(item["name"]), f" has {item['codes_in_all']:,} codes, of which the {len(item['codes'])}")
        for item in view.evaluations
        if "codes_in_all" in item
    ]
    largest = " with the largest values are shown. The JSON of the evaluation holds all."
    orders = {"given": "as given", "factor": "by their strongest factor"}
    return h(
        "",
        paragraph(
            "Each cell is one code and one factor. In a modular representation a row has one bright cell; in a compact "
            "one a column has. ",
            [[text, "; " if place < len(cut) else largest] for place, text in enumerate(cut, start=1)],
        ),
        controls(
            h("label", "Quantity ", _select("matrix")), h("label", "Order of the codes ", _select("order", orders))
        ),
        _chips(view),
        h("div", class_="ramp", id="ramp", aria_hidden="true"),
        _place("matrix", "panels"),
    )


def _natives(view: View) -> Html:
    if not any(score["native"] for item in view.evaluations for score in item["scores"]):
        return h("")
    return h(
        "",
        paragraph("A mean hides which factor or which code fails. These are the values that each metric averages."),
        controls(
            h("label", "Metric ", _select("native")),
            h("label", h("input", type="checkbox", id="axis"), " fit the axis to the values"),
        ),
        _chips(view),
        paragraph(class_="definition", id="native-definition"),
        _place("native"),
    )


def _dependency(view: View) -> Html:
    if not any(item["dependency"] for item in view.evaluations):
        return h("")
    return h(
        "",
        paragraph(
            "How a code answers to one factor while all others vary. The line or dot is the mean of the code at each "
            "value of the factor; the band is the range that the other factors cause. A code that belongs to the "
            "factor has a steep line and a narrow band."
        ),
        controls(
            h("label", "Representation ", _select("dep-evaluation"), hidden=not view.several),
            h("label", "Factor ", _select("dep-factor")),
            h("label", "Code ", _select("dep-code")),
        ),
        _place("dep"),
    )


def _place(key: str, kind: str = "panels wide") -> Html:
    values = [h("summary", "These values as a table"), h("div", class_="scroll")]
    return h(
        "",
        h("div", class_=kind, id=f"{key}-panels"),
        h("details", values, class_="values", id=f"{key}-values"),
        h("noscript", paragraph("This figure needs JavaScript; the tables of this page do not.")),
    )


def _chips(view: View) -> Html:
    if not view.several:
        return h("")
    chips = [
        h("label", h("input", type="checkbox", value=str(index), checked=True), _dotted(view, index))
        for index in range(len(view.evaluations))
    ]
    return h("fieldset", h("legend", "Representations shown", class_="hidden"), chips, class_="chips", hidden=True)
