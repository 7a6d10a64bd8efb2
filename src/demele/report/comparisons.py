"""The page about comparison methods: how often each errs on noisy labels, and on which pairs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.comparisons_drawn import COLOURS, FIGURES, curve_picture, line_key, matrix_png, packed_cells
from demele.report.comparisons_verdict import asked_text, comparisons_verdict, dotted
from demele.report.comparisons_view import CELLS, ComparisonView, MethodLook, cells_of, comparison_view
from demele.report.page import (
    Cell,
    Html,
    Page,
    controls,
    data_element,
    embedded,
    facts,
    h,
    notes,
    paragraph,
    table,
    tool,
)
from demele.report.words import (
    DASH,
    Text,
    count,
    em,
    first_names,
    level_text,
    named,
    rate_text,
    share,
    spread,
    whole,
)

__all__ = ["write_comparisons"]

Item = Mapping[str, Any]

_FIGURES = {"type_1": "Type I", "type_2": "Type II", "agreement": "Agreement"}
_FEW_CLASSES = 20


def write_comparisons(content: Item, path: Path, title: str | None = None) -> Path:
    """Write what ``MethodComparison.to_dict()`` returns as one HTML file.

    The page needs no script to be read. A script lets rate, measure and methods be chosen, and tells about each pair.

    Raises
    ------
    InputError
        If the dictionary is not that of a measurement.
    """
    view = comparison_view(content)
    sections = [
        ("verdict", "Verdict", comparisons_verdict(view)),
        ("table", "Errors at one noise rate", _table(view)),
        ("curves", "Errors against noise", _curves(view)),
        ("matrices", "Every pair of classifiers", _matrices(view)),
        ("notes", "Notes", notes(view.data.get("notes") or ())),
        ("experiment", "The experiment", _experiment(view)),
        ("expert", "For experts", _expert(view)),
    ]
    return Page(
        kind="Comparison methods on labels known to be wrong",
        title=title or str(view.data.get("title") or "Which comparison methods can be believed?"),
        sections=sections,
        style="labels",
        styles=("labels.css", "figures.css", "comparisons.css"),
        scripts=("figures.js", "labels.js", "comparisons.js", "comparisons_matrix.js"),
        tools=h("", tool("Data (JSON)", "download-json"), tool("Data (CSV)", "download-csv", data_list="tallies")),
        data=data_element(embedded(_data(view))),
        version=view.data.get("demele"),
    ).write(path)


def _data(view: ComparisonView) -> dict[str, Any]:
    """Everything, its matrices packed, with what the script needs beside."""
    matrices = [
        {"method": method, "measure": measure, "noise": rate, "packed": packed_cells(cells)}
        for (measure, rate, method), cells in view.matrices.items()
    ]
    keys = ("name", "title", "colour", "variant", "main")
    page = {
        "looks": [{key: getattr(method, key) for key in keys} for method in view.methods.values()],
        "rate": view.rate,
        "by_accuracy": view.by_accuracy,
        "colours": COLOURS,
        "cells": CELLS,
        "first": _first(view).name,
    }
    return {**view.data, "matrices": matrices, "page": page}


def _first(view: ComparisonView) -> MethodLook:
    """Return the method whose matrix is shown first."""
    shown = (method for name, method in view.methods.items() if (view.measures[0], view.rate, name) in view.matrices)
    return next(shown, next(iter(view.methods.values())))


# The table ------------------------------------------------------------------------------------------------------------


def _choose(view: ComparisonView, *, also: object = "", rates_too: bool = True) -> Html:
    """Write the choice of the rate and the measure; all choices of a page move together."""
    rates = [h("option", rate_text(rate), value=repr(rate), selected=rate == view.rate) for rate in view.rates]
    measures = [h("option", measure, value=measure) for measure in view.measures]
    of_rate = h("label", "Noise rate", h("select", rates, class_="pick-rate"))
    of_measure = h("label", "Measure", h("select", measures, class_="pick-measure"))
    parts = [also, of_rate if rates_too and len(rates) > 1 else "", of_measure if len(measures) > 1 else ""]
    return controls(*parts) if any(parts) else h("")


def _shown(view: ComparisonView, *, of_rate: bool = True) -> Html:
    """Say what is shown; the script changes the words with the choice."""
    rate = [", ", h("span", rate_text(view.rate), class_="of-rate"), " wrong labels"] if of_rate else []
    return paragraph("Measure: ", h("span", view.measures[0], class_="of-measure"), rate, ".", class_="shown")


def _table(view: ComparisonView) -> Html:
    measure, rate = view.measures[0], view.rate
    source = any(view.with_source(one, at) for one in view.measures for at in view.rates)
    now = view.with_source(measure, rate)
    lines = []
    for name, method in view.methods.items():
        row: Item = view.tallies.get((measure, rate, name)) or {}
        printed = view.source(measure, rate, name) or {}
        told = h("span", "told: ", method.told, class_="role") if method.told else ""
        cells = [_with_error(row, key) for key in _FIGURES]
        cells += [
            Cell(share(row.get("inconclusive")), row.get("inconclusive")),
            Cell(whole(row.get("reversed")), row.get("reversed")),
            Cell(asked_text(row.get("labels_asked")), row.get("labels_asked")),
        ]
        theirs = [
            h("td", share(printed.get(key)), class_="number printed", data_v=printed.get(key), hidden=not now)
            for key in _FIGURES
            if source
        ]
        lines.append(
            h(
                "tr",
                h("th", dotted(method), told, scope="row"),
                [cell.html() for cell in cells],
                theirs,
                data_method=name,
            )
        )
    words = ["Method", *_FIGURES.values(), "Inconclusive", "Opposite verdicts", "Expert labels per pair"]
    heads = [h("th", word, scope="col", class_="number" if place else "text") for place, word in enumerate(words)]
    heads += [
        h("th", f"{word}, source", scope="col", class_="number printed", hidden=not now)
        for word in _FIGURES.values()
        if source
    ]
    whole_table = h(
        "table",
        h("caption", "Errors of each method", class_="hidden"),
        h("thead", h("tr", heads)),
        h("tbody", lines),
        class_="sortable tallies",
    )
    sharper = (
        "A type I error need not mean that a worse classifier is taken. Overlap is blunt: a sharper method rightly "
        "takes some candidates whose interval still overlaps. Only "
    )
    return h(
        "",
        paragraph(
            *(
                f"The reference is {view.reference_text}. ",
                em("Type I"),
                ": of the pairs where the reference keeps the ",
            ),
            *("baseline classifier, how many candidates the method takes. ", em("Type II"), ": of those where the "),
            *("reference takes the candidate, how many it leaves. ", em("Agreement"), ": of all pairs. Below each "),
            *(
                "figure, its standard error over the choice of classifiers. ",
                em("Opposite verdicts"),
                ": pairs of which ",
            ),
            "the method says that the one is better, and the reference that the other is.",
        ),
        paragraph(sharper, em("opposite verdicts"), " are claims that the reference contradicts.")
        if view.reference == "overlap"
        else "",
        _choose(view),
        _shown(view),
        h("div", whole_table, class_="scroll"),
        _about_source(view) if source else "",
        _all_rates(view),
    )


def _with_error(row: Item, key: str) -> Cell:
    return Cell(share(row.get(key)), row.get(key), below=spread(row.get(f"{key}_se")))


def _about_source(view: ComparisonView) -> Html:
    rates = ", ".join(map(rate_text, sorted({rate for _, rate, _ in view.printed})))
    of_class = any(" of " in measure for measure in view.measures)
    return paragraph(
        f"Source: {view.data.get('published_source') or 'the source'}. It printed figures at {rates} noise only"
        f"{', for precision and recall of its class 0' if of_class else ''}. They differ from those measured here "
        f"because data, classifiers and wrong labels are others, and because this test set has {view.data['n']:,} "
        "instances: the fewer, the wider the intervals, and the more rarely any method takes a candidate. Compare the "
        "order of the methods and the size of their errors, not the digits.",
        class_="meaning",
    )


def _all_rates(view: ComparisonView) -> Html:
    several = len(view.measures) > 1
    rows = []
    for (measure, rate, name), row in view.tallies.items():
        method = view.methods.get(name)
        rows.append(
            [
                named(method.title if method else name),
                Cell(measure, kind="text") if several else None,
                *(Cell(rate_text(one), one) for one in (rate, row["rate"])),
                *(_with_error(row, key) for key in _FIGURES),
                Cell(f"{row['n_type_1']:,} of {row['n_kept']:,}", row["n_type_1"]),
                Cell(f"{row['n_type_2']:,} of {row['n_taken']:,}", row["n_type_2"]),
                Cell(share(row["inconclusive"]), row["inconclusive"]),
                Cell(f"{row['reversed']:,}", row["reversed"]),
                Cell(asked_text(row["labels_asked"]), row["labels_asked"]),
            ]
        )
    words = ("Noise asked", "made", *_FIGURES.values(), "Type I, pairs", "Type II, pairs", "Inconclusive")
    heads: list[tuple[object, str] | None] = [("Method", "text"), ("Measure", "text") if several else None]
    heads += [(word, "number") for word in (*words, "Opposite verdicts", "Expert labels per pair")]
    listed = table("Errors of all methods at all rates", heads, rows, first=60, noun="rows")
    return _folded(f"All {len(rows):,} figures, with counts of pairs", listed)


def _folded(summary: str, inside: Html) -> Html:
    return h("details", h("summary", summary), inside, class_="values screen-only")


# Curves ---------------------------------------------------------------------------------------------------------------


def _curves(view: ComparisonView) -> Html:
    pictures = [
        h("figure", h("figcaption", figure[1]), curve_picture(view, view.measures[0], figure)) for figure in FIGURES
    ]
    keys = [
        h(
            "label",
            h("input", type="checkbox", hidden=True, value=method.name, checked=method.main),
            line_key(method),
            named(method.title),
            class_=f"c{method.colour}",
            hidden=not method.main,
        )
        for method in view.methods.values()
    ]
    picks = {"main": "Main methods", "all": "All methods", "none": "No method"}
    choices = [h("button", words, type="button", class_="pick", data_pick=key) for key, words in picks.items()]
    return h(
        "",
        paragraph(
            "Shares of pairs, with one standard error up and down. Point at a curve, or move through it with the arrow "
            "keys, for the values."
        ),
        _choose(view, also=choices, rates_too=False),
        _shown(view, of_rate=False),
        h("fieldset", h("legend", "Methods shown", class_="hidden"), keys, class_="legend", id="legend"),
        h("div", pictures, class_="curves"),
    )


# Matrices -------------------------------------------------------------------------------------------------------------


def _matrices(view: ComparisonView) -> Html:
    if not view.matrices:
        return h("")
    first, measure, rate = _first(view), view.measures[0], view.rate
    key = (measure, rate, first.name)
    rows = cells_of(view, key, view.by_accuracy) if key in view.matrices else ["0"]
    options = [
        h("option", method.title, value=name, selected=name == first.name) for name, method in view.methods.items()
    ]
    canvas = h("canvas", id="matrix", hidden=True, tabindex="0", role="img", aria_describedby="matrix-says")
    still = h("img", class_="still", src=matrix_png(rows), alt=f"Matrix of {first.title}; its counts stand beside it")
    choose = h("span", " Choose one to see it large.", class_="controls inline", hidden=True)
    order = h("label", h("input", type="checkbox", id="by-accuracy", checked=True), "Order by accuracy")
    at = h("span", rate_text(rate), class_="of-rate")
    says = "Point at a cell, or move with the arrow keys."
    return h(
        "",
        paragraph(
            f"One cell for each ordered pair of the {count(view.m, 'classifier')}: the row is the baseline, the "
            "column the candidate. ",
            h("span", "From the least accurate on true labels (top, left) to the most accurate.", class_="order-says"),
        ),
        _choose(view, also=[h("label", "Method", h("select", options, id="pick-method")), order]),
        paragraph(
            *(h("b", first.title, class_="of-method"), ", measure: "),
            *(h("span", measure, class_="of-measure"), ", ", at, " wrong labels."),
            class_="shown",
        ),
        h(
            "div",
            h(
                "div",
                h("span", "candidate →", class_="axis-of top"),
                h("span", "baseline →", class_="axis-of left"),
                h("div", still, canvas, class_="drawn"),
                class_="square",
            ),
            h(
                "div",
                h("ul", _outcomes(rows, view.m * (view.m - 1)), class_="outcomes", id="outcomes"),
                h("p", says, id="matrix-says", class_="controls", hidden=True, role="status"),
            ),
            class_="matrix-of",
        ),
        h("h3", "Side by side"),
        paragraph("The methods of the curves, at ", at, " wrong labels.", choose, class_="meaning"),
        h(
            "ul",
            [_thumb(view, method, (measure, rate, method.name)) for method in view.main()],
            class_="thumbs",
            id="thumbs",
        ),
    )


def _outcomes(rows: Sequence[str], whole_matrix: int) -> list[Html]:
    entries = []
    for outcome, (sign, name, meaning) in enumerate(CELLS):
        if not outcome:
            continue
        pairs = sum(row.count(str(outcome)) for row in rows)
        part = share(100 * pairs / whole_matrix if whole_matrix else None)
        entries.append(
            h(
                "li",
                h(
                    "label",
                    h("input", type="checkbox", hidden=True, checked=True, value=str(outcome)),
                    h("i", sign, class_=f"cell o{outcome}", aria_hidden="true"),
                    h("span", h("b", name), h("span", meaning, class_="role")),
                ),
                h("span", f"{pairs:,} ({part})", class_="counted", data_outcome=str(outcome)),
            )
        )
    return entries


def _thumb(view: ComparisonView, method: MethodLook, key: tuple[str, float, str]) -> Html:
    if key not in view.matrices:
        return h("")
    row: Item = view.tallies.get(key) or {}
    picture = h("img", src=matrix_png(cells_of(view, key, view.by_accuracy)), alt="")
    errors = h("span", f"I {share(row.get('type_1'))} · II {share(row.get('type_2'))}")
    return h("li", h("button", picture, h("b", named(method.title)), errors, type="button", data_method=method.name))


# The experiment -------------------------------------------------------------------------------------------------------


def _experiment(view: ComparisonView) -> Html:
    data = view.data
    accuracies = [100 * data["accuracies"][model] for model in view.by_accuracy]
    classes = data.get("classes") or ()
    made = [
        rate_text(rate)
        + ("" if abs(view.realised[rate] - rate) < 1e-9 else f" (made: {rate_text(view.realised[rate])})")
        for rate in view.rates
    ]
    pairs = [
        ("Instances", f"{data['n']:,}"),
        ("Classes", Text(f"{len(classes):,}: ", first_names(classes, _FEW_CLASSES)) if classes else ""),
        ("Classifiers", f"{view.m:,}, {count(view.m * (view.m - 1), 'ordered pair')}"),
        ("Their accuracy", f"{share(accuracies[0])} to {share(accuracies[-1])} on true labels"),
        ("Kind of noise", str(data.get("noise") or "")),
        ("Wrong labels", ", ".join(made)),
        *_details(data.get("details") or {}),
    ]
    rows = [
        [named(data["names"][model]), Cell(share(100 * data["accuracies"][model]), data["accuracies"][model])]
        for model in reversed(view.by_accuracy)
    ]
    heads: list[tuple[object, str] | None] = [("Classifier", "text"), ("Accuracy on true labels", "number")]
    listed = table("Classifiers", heads, rows, first=30 if len(rows) > 40 else None, noun="classifiers")
    return h("", facts(pairs), _folded(f"The {count(view.m, 'classifier')}", listed))


def _details(details: Item, before: str = "") -> list[tuple[str, Text]]:
    """Write a free mapping as names and values, nested mappings by their path."""
    found: list[tuple[str, Text]] = []
    for key, value in details.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            found += _details(value, f"{name}: ")
        elif isinstance(value, list):
            found.append((name, first_names(value, _FEW_CLASSES)))
        else:
            found.append((name, named(DASH if value is None else f"{value:,}" if type(value) is int else value)))
    return found


def _expert(view: ComparisonView) -> Html:
    data = view.data
    level = data.get("level")
    rows = [
        ("Reference", view.reference_text),
        ("Level of the intervals", "" if level is None else level_text(level)),
        ("Seed", str(data.get("seed", ""))),
        ("Version", f"demele {data.get('demele') or ''}"),
        ("Standard errors", "jackknife over classifiers: one left out at a time, with the same noise"),
        ("Matrices", f"{len(view.matrices):,}, in the data (JSON): one digit for each cell, row by row"),
    ]
    buttons = [tool("Figures (CSV)", "download-csv", data_list="tallies"), tool("Everything (JSON)", "download-json")]
    return h("", facts(rows), controls(*buttons, kind="tools"))
