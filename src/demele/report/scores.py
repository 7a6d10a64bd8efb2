"""The page about one or several evaluations: how far to trust them, who is best at what, every score, its figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.core.errors import InputError
from demele.metrics.catalogue import CATALOGUE
from demele.report.page import Html, Page, controls, data_element, embedded, h, paragraph, tool
from demele.report.scores_aligned import on_which_axes
from demele.report.scores_corrected import corrected
from demele.report.scores_differences import by_model, differences, shown_first
from demele.report.scores_figures import matrix_figures, native_figures, shortened, value_range
from demele.report.scores_lookup import anchor, fragile_sign, inputs, legend, made, missing_and_notes
from demele.report.scores_pairs import pair_place, row_samples
from demele.report.scores_strip import strip
from demele.report.scores_verdict import dotted, verdict
from demele.report.scores_view import PROPERTIES, Catalogue, View
from demele.report.words import DASH, Text, adjusted_text, brackets, first_names, named, number

__all__ = ["overview", "write_report"]

Item = Mapping[str, Any]


def write_report(
    evaluations: Sequence[Item],
    path: Path,
    *,
    title: str | None = None,
    specs: Mapping[str, Mapping[str, Any]] | None = None,
    comparison: Item | None = None,
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
    comparison : dict, optional
        What their comparison's ``to_dict()`` returns: differences, and models with their runs.

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
    rows = row_samples(evaluations)
    figures = {
        "titles": {metric: view.catalogue.title(metric) for metric in view.metrics},
        "matrices": matrix_figures(view.evaluations),
        "natives": native_figures(view.evaluations),
        "rows": rows,
    }
    return Page(
        kind="Disentanglement report",
        title=title or (f"{len(names)} representations, side by side" if view.several else alone),
        sections=[
            ("verdict", "Verdict", h("", shown_first(comparison), verdict(view, by_model(view, comparison)))),
            ("differences", "Differences", differences(view, comparison)),
            ("scores", "All scores", overview(view)),
            ("corrected", "Corrected for noisy factors", corrected(view)),
            ("axes", "On which axes", on_which_axes(view)),
            ("matrices", "Codes against factors", _matrices(view)),
            ("pair", "One code, one factor", pair_place(view, rows)),
            ("natives", "Per factor, per code", _natives(view)),
            ("dependency", "What other factors do", _dependency(view)),
            ("notes", "Notes and gaps", missing_and_notes(view)),
            ("inputs", "What was scored", inputs(view)),
            ("metrics", "What the metrics mean", legend(view)),
            ("made", "How each number was made", made(view)),
        ],
        style="scores",
        styles=("figures.css",),
        scripts=("figures.js", "pairs.js", "report.js"),
        tools=tool("Download data", "download-json"),
        data=data_element(embedded(_downloaded(view, comparison))),
        more=data_element(embedded(figures), "figures"),
        version=" and demele ".join(versions),
    ).write(path)


def _downloaded(view: View, comparison: Item | None) -> Item:
    """Return what the page gives as data."""
    if comparison is not None:
        return {**comparison, "evaluations": view.evaluations}
    return {"evaluations": view.evaluations} if view.several else view.evaluations[0]


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
        h("thead", h("tr", head("Metric"), [head(dotted(view, index)) for index in columns])),
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
    if score["chance"] is not None:
        p_value = score["chance"]["p_value"]
        extras.append(f"chance {number(score['chance']['mean'])}" + (f", p = {number(p_value)}" if p_value else ""))
    extras += [told] if (told := adjusted_text(score)) else []
    interval = h("span", brackets(score["interval"]), class_="interval")
    return h(
        "td",
        h("span", value, marks, interval, class_="line"),
        strip(score, scale, index),
        h("span", " · ".join(extras), class_="extras") if extras else "",
        class_="score",
        data_value=repr(score["value"]),
    )


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
            "one a column has. A click, or Enter, draws the code against the factor. ",
            _noise_told(view),
            [[text, "; " if place < len(cut) else largest] for place, text in enumerate(cut, start=1)],
        ),
        controls(
            h("label", "Quantity ", _select("matrix")),
            h("label", "Order of the codes ", _select("order", orders)),
            h("label", h("input", type="checkbox", id="minus"), " minus chance", id="minus-chance", hidden=True),
        ),
        _chips(view),
        h("div", class_="ramp", id="ramp", aria_hidden="true"),
        _place("matrix", "panels"),
    )


def _noise_told(view: View) -> str:
    if not any(item.get("matrix_chance") for item in view.evaluations):
        return ""
    return (
        "Counting in bins finds some information in noise, more with more bins and fewer rows. A cell that holds no "
        "more than that is not lit, and has a stroke: of codes of noise, no cell of a map exceeds its limit in 99% of "
        "cases. "
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
        h("label", h("input", type="checkbox", value=str(index), checked=True), dotted(view, index))
        for index in range(len(view.evaluations))
    ]
    return h("fieldset", h("legend", "Representations shown", class_="hidden"), chips, class_="chips", hidden=True)
