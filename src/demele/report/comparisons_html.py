"""One self-contained HTML page about comparison methods: how often each errs on noisy labels, and on which pairs."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from demele.core.outputs import write_whole
from demele.report.comparisons_drawn import COLOURS, FIGURES, curve_picture, line_key, matrix_png, packed
from demele.report.comparisons_view import CELLS, ComparisonView, MethodLook, cells_of, comparison_view, rate_text
from demele.report.comparisons_words import asked_text, share, spread, verdict
from demele.report.labels_parts import Item, cell, facts, notes, table
from demele.report.labels_words import level_text
from demele.report.page import assembled, embedded, template
from demele.report.words import DASH, count, named

__all__ = ["write_comparisons"]

_PICKED = ("type_1", "type_2", "agreement")
_FEW_CLASSES = 20


def write_comparisons(content: Mapping[str, Any], path: Path, title: str | None = None) -> Path:
    """Write one HTML file about comparison methods measured on noisy labels.

    Parameters
    ----------
    content : mapping
        What ``MethodComparison.to_dict()`` returns.
    path : Path
        The file; replaced if it exists.
    title : str, optional
        Heading of the page; by default that of the measurement.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the dictionary is not that of a measurement.

    Notes
    -----
    The page needs no script to be read. A script lets rate, measure and methods be chosen, and tells about each pair; a
    content security policy forbids it any request.
    """
    view = comparison_view(content)
    shown = title or str(view.data.get("title") or "Which comparison methods can be believed?")
    sections = [
        ("verdict", "Verdict", verdict(view)),
        ("table", "Errors at one noise rate", _table(view)),
        ("curves", "Errors against noise", _curves(view)),
        ("matrices", "Every pair of classifiers", _matrices(view)),
        ("notes", "Notes", notes(view.data.get("notes") or ())),
        ("experiment", "The experiment", _experiment(view)),
        ("expert", "For experts", _expert(view)),
    ]
    version = view.data.get("demele")
    scripts = ("common.js", "labels.js", "comparisons.js", "comparisons_matrix.js")
    page = assembled(
        "labels.html",
        title=shown,
        sections=sections,
        styles=("report.css", "labels.css", "comparisons.css"),
        scripts={"errors_js": template("errors.js"), "labels_js": "".join(map(template, scripts))},
        parts={
            "kind": "Comparison methods on labels known to be wrong",
            "csv": '<button type="button" class="download-csv" data-list="tallies">Data (CSV)</button>',
            "version": escape(f"demele {version}" if version else "demele"),
            "data": embedded(_data(view)),
        },
    )
    # The title may hold what UTF-8 cannot; names were freed of it before, so that those of page and data agree.
    return write_whole(path, page.encode("utf-8", "replace"))


def _data(view: ComparisonView) -> dict[str, Any]:
    """Everything, its matrices packed, with what the script needs beside."""
    matrices = [
        {"method": method, "measure": measure, "noise": rate, "packed": packed(cells)}
        for (measure, rate, method), cells in view.matrices.items()
    ]
    looks = [
        {
            "name": method.name,
            "title": method.title,
            "colour": method.colour,
            "variant": method.variant,
            "main": method.main,
        }
        for method in view.methods.values()
    ]
    page = {
        "looks": looks,
        "rate": view.rate,
        "by_accuracy": view.by_accuracy,
        "colours": COLOURS,
        "cells": CELLS,
        "first": _first(view).name,
    }
    return {**view.data, "matrices": matrices, "page": page}


def _first(view: ComparisonView) -> MethodLook:
    """Return the method whose matrix is shown first."""
    with_matrix = [
        method for name, method in view.methods.items() if (view.measures[0], view.rate, name) in view.matrices
    ]
    return next(iter(with_matrix), next(iter(view.methods.values())))


def _choose(view: ComparisonView, *, also: str = "", rates_too: bool = True) -> str:
    """Write the choice of the rate and the measure; all choices of a page move together."""
    rates = "".join(
        f'<option value="{rate!r}"{" selected" if rate == view.rate else ""}>{rate_text(rate)}</option>'
        for rate in view.rates
    )
    measures = "".join(f'<option value="{escape(one)}">{escape(one)}</option>' for one in view.measures)
    of_measure = (
        f'<label>Measure<select class="pick-measure">{measures}</select></label>' if len(view.measures) > 1 else ""
    )
    of_rate = (
        f'<label>Noise rate<select class="pick-rate">{rates}</select></label>'
        if rates_too and len(view.rates) > 1
        else ""
    )
    return f'<div class="controls" hidden>{also}{of_rate}{of_measure}</div>' if also or of_rate or of_measure else ""


def _shown(view: ComparisonView, *, of_rate: bool = True) -> str:
    """Say what is shown; the script changes the words with the choice."""
    rate = f', <span class="of-rate">{rate_text(view.rate)}</span> wrong labels' if of_rate else ""
    return f'<p class="shown">Measure: <span class="of-measure">{escape(view.measures[0])}</span>{rate}.</p>'


# The table ------------------------------------------------------------------------------------------------------------


def _table(view: ComparisonView) -> str:
    measure, rate = view.measures[0], view.rate
    source = any(view.with_source(one, at) for one in view.measures for at in view.rates)
    now = view.with_source(measure, rate)
    rows = []
    for name, method in view.methods.items():
        row: Item = view.tallies.get((measure, rate, name)) or {}
        printed = view.source(measure, rate, name) or {}
        cells = "".join(_with_error(row.get(key), row.get(f"{key}_se")) for key in _PICKED)
        cells += cell(share(row.get("undecided")), row.get("undecided"))
        cells += cell(DASH if row.get("reversed") is None else f"{row['reversed']:,}", row.get("reversed"))
        cells += cell(asked_text(row.get("labels_asked")), row.get("labels_asked"))
        if source:
            hidden = "" if now else " hidden"
            cells += "".join(
                cell(share(printed.get(key)), printed.get(key), kind="number printed").replace("<td", f"<td{hidden}", 1)
                for key in _PICKED
            )
        rows.append(f'<tr data-method="{escape(name)}">{_method(method)}{cells}</tr>')
    heads = [
        ("Method", "text"),
        ("Type I", "number"),
        ("Type II", "number"),
        ("Agreement", "number"),
        ("Undecided", "number"),
        ("Opposite verdicts", "number"),
        ("Expert labels per pair", "number"),
    ]
    heads += [(f"{word}, source", "number printed") for word in ("Type I", "Type II", "Agreement")] if source else []
    return (
        f"<p>The reference is {escape(view.reference_text)}. <em>Type I</em>: of the pairs "
        "where the reference keeps the established classifier, how many candidates the method takes. "
        "<em>Type II</em>: of those where the reference takes the candidate, how many it leaves. "
        "<em>Agreement</em>: of all pairs. Below "
        "each figure, its standard error over the choice of classifiers. <em>Opposite verdicts</em>: pairs of "
        "which the method says that the one is better, and the reference that the other is.</p>"
        f"{_sharper(view)}"
        + _choose(view)
        + _shown(view)
        + table("Errors of each method", heads, rows, kind="tallies").replace(
            'class="number printed">', f'class="number printed"{"" if now else " hidden"}>'
        )
        + (_about_source(view) if source else "")
        + _all_rates(view)
    )


def _sharper(view: ComparisonView) -> str:
    if view.reference != "overlap":
        return ""
    return (
        "<p>A type I error need not mean that a worse classifier is taken. Overlap is blunt: a sharper method rightly "
        "takes some candidates whose interval still overlaps. Only <em>opposite verdicts</em> are claims that the "
        "reference contradicts.</p>"
    )


def _method(method: MethodLook) -> str:
    told = f'<span class="role">told: {escape(method.told)}</span>' if method.told else ""
    return f'<th scope="row"><i class="dot c{method.colour}" aria-hidden="true"></i>{named(method.title)}{told}</th>'


def _with_error(value: float | None, error: float | None) -> str:
    below = f'<span class="interval below">{spread(error)}</span>' if error is not None else ""
    return cell(f"{share(value)}{below}", value)


def _about_source(view: ComparisonView) -> str:
    rates = sorted({rate for _, rate, _ in view.printed})
    of_class = any(" of " in measure for measure in view.measures)
    return (
        f'<p class="meaning">Source: {escape(str(view.data.get("published_source") or "the source"))}. It printed '
        f"figures at {', '.join(map(rate_text, rates))} noise only"
        f"{', for precision and recall of its class 0' if of_class else ''}. They differ from those measured here "
        f"because data, classifiers and wrong labels are others, and because this test set has {view.data['n']:,} "
        "instances: the fewer, the wider the intervals, and the more rarely any method takes a candidate. Compare the "
        "order of the methods and the size of their errors, not the digits.</p>"
    )


def _all_rates(view: ComparisonView) -> str:
    several = len(view.measures) > 1
    rows = []
    for (measure, rate, name), row in view.tallies.items():
        method = view.methods.get(name)
        cells = [
            *([cell(escape(measure), kind="text")] if several else []),
            cell(rate_text(rate), rate),
            cell(rate_text(row["rate"]), row["rate"]),
            *(_with_error(row[key], row[f"{key}_se"]) for key in _PICKED),
            cell(f"{row['n_type_1']:,} of {row['n_kept']:,}", row["n_type_1"]),
            cell(f"{row['n_type_2']:,} of {row['n_taken']:,}", row["n_type_2"]),
            cell(share(row["undecided"]), row["undecided"]),
            cell(f"{row['reversed']:,}", row["reversed"]),
            cell(asked_text(row["labels_asked"]), row["labels_asked"]),
        ]
        rows.append(f'<tr><th scope="row">{named(method.title if method else name)}</th>{"".join(cells)}</tr>')
    heads = [
        ("Method", "text"),
        *([("Measure", "text")] if several else []),
        ("Noise asked", "number"),
        ("made", "number"),
        ("Type I", "number"),
        ("Type II", "number"),
        ("Agreement", "number"),
        ("Type I, pairs", "number"),
        ("Type II, pairs", "number"),
        ("Undecided", "number"),
        ("Opposite verdicts", "number"),
        ("Expert labels per pair", "number"),
    ]
    listed = table("Errors of all methods at all rates", heads, rows, first=60, noun="rows")
    return (
        f'<details class="values screen-only"><summary>All {len(rows):,} figures, with counts of pairs</summary>'
        f"{listed}</details>"
    )


# Curves ---------------------------------------------------------------------------------------------------------------


def _curves(view: ComparisonView) -> str:
    pictures = "".join(
        f"<figure><figcaption>{figure[1]}</figcaption>{curve_picture(view, view.measures[0], figure)}</figure>"
        for figure in FIGURES
    )
    keys = "".join(
        f'<label class="c{method.colour}"{"" if method.main else " hidden"}><input type="checkbox" hidden '
        f'value="{escape(method.name)}"{" checked" if method.main else ""}>{line_key(method)}'
        f"{named(method.title)}</label>"
        for method in view.methods.values()
    )
    choices = '<button type="button" class="pick" data-pick="main">Main methods</button>' + (
        '<button type="button" class="pick" data-pick="all">All methods</button>'
        '<button type="button" class="pick" data-pick="none">No method</button>'
    )
    return (
        "<p>Shares of pairs, with one standard error up and down. Point at a curve, or move through it with the arrow "
        "keys, for the values.</p>"
        + _choose(view, also=choices, rates_too=False)
        + _shown(view, of_rate=False)
        + f'<fieldset class="legend" id="legend"><legend class="hidden">Methods shown</legend>{keys}</fieldset>'
        f'<div class="curves">{pictures}</div><div id="tip" hidden></div>'
    )


# Matrices -------------------------------------------------------------------------------------------------------------


def _matrices(view: ComparisonView) -> str:
    if not view.matrices:
        return ""
    first, measure, rate = _first(view), view.measures[0], view.rate
    key = (measure, rate, first.name)
    rows = cells_of(view, key, view.by_accuracy) if key in view.matrices else ["0"]
    options = "".join(
        f'<option value="{escape(name)}"{" selected" if name == first.name else ""}>{escape(method.title)}</option>'
        for name, method in view.methods.items()
    )
    whole = view.m * (view.m - 1)
    legend = "".join(
        f'<li><label><input type="checkbox" hidden checked value="{number}"><i class="cell o{number}" aria-hidden='
        f'"true">{sign}</i><span><b>{name}</b><span class="role">{meaning}</span></span></label>'
        f'<span class="counted" data-outcome="{number}">{_counted(rows, str(number), whole)}</span></li>'
        for number, (sign, name, meaning) in enumerate(CELLS)
        if number
    )
    thumbs = "".join(_thumb(view, method, (measure, rate, method.name)) for method in view.main())
    order = '<label><input type="checkbox" id="by-accuracy" checked>Order by accuracy</label>'
    return (
        f"<p>One cell for each ordered pair of the {count(view.m, 'classifier')}: the row is the established one, the "
        'column the candidate. <span class="order-says">From the least accurate on true labels (top, left) to the most '
        "accurate.</span></p>"
        + _choose(view, also=f'<label>Method<select id="pick-method">{options}</select></label>{order}')
        + f'<p class="shown"><b class="of-method">{escape(first.title)}</b>, measure: <span class="of-measure">'
        f'{escape(measure)}</span>, <span class="of-rate">{rate_text(rate)}</span> wrong labels.</p>'
        '<div class="matrix-of"><div class="square"><span class="axis-of top">candidate →</span>'
        '<span class="axis-of left">established →</span><div class="drawn">'
        f'<img class="still" src="{matrix_png(rows)}" '
        f'alt="Matrix of {escape(first.title)}; its counts stand beside it">'
        '<canvas id="matrix" hidden tabindex="0" role="img" aria-describedby="matrix-says"></canvas></div></div>'
        f'<div><ul class="outcomes" id="outcomes">{legend}</ul>'
        '<p id="matrix-says" class="controls" hidden role="status">Point at a cell, or move with the arrow keys.</p>'
        "</div>"
        f'</div><h3>Side by side</h3><p class="meaning">The methods of the curves, at '
        f'<span class="of-rate">{rate_text(rate)}</span> wrong labels.<span class="controls inline" hidden> Choose one '
        f'to see it large.</span></p><ul class="thumbs" id="thumbs">{thumbs}</ul>'
    )


def _counted(rows: list[str], digit: str, whole: int) -> str:
    number = sum(row.count(digit) for row in rows)
    return f"{number:,} ({share(100 * number / whole if whole else None)})"


def _thumb(view: ComparisonView, method: MethodLook, key: tuple[str, float, str]) -> str:
    if key not in view.matrices:
        return ""
    row: Item = view.tallies.get(key) or {}
    errors = f"I {share(row.get('type_1'))} · II {share(row.get('type_2'))}"
    return (
        f'<li><button type="button" data-method="{escape(method.name)}"><img src='
        f'"{matrix_png(cells_of(view, key, view.by_accuracy))}" alt="">'
        f"<b>{named(method.title)}</b><span>{errors}</span></button></li>"
    )


# The experiment -------------------------------------------------------------------------------------------------------


def _experiment(view: ComparisonView) -> str:
    data = view.data
    accuracies = [data["accuracies"][model] for model in view.by_accuracy]
    classes = [str(name) for name in data.get("classes") or ()]
    more = f" and {len(classes) - _FEW_CLASSES:,} more" if len(classes) > _FEW_CLASSES else ""
    made = ", ".join(
        rate_text(rate)
        + ("" if abs(view.realised[rate] - rate) < 1e-9 else f" (made: {rate_text(view.realised[rate])})")
        for rate in view.rates
    )
    pairs = [
        ("Instances", f"{data['n']:,}"),
        ("Classes", f"{len(classes):,}: {', '.join(map(named, classes[:_FEW_CLASSES]))}{more}" if classes else ""),
        ("Classifiers", f"{view.m:,}, {count(view.m * (view.m - 1), 'ordered pair')}"),
        ("Their accuracy", f"{_percent(accuracies[0])} to {_percent(accuracies[-1])} on true labels"),
        ("Kind of noise", escape(str(data.get("noise") or ""))),
        ("Wrong labels", made),
        *_details(data.get("details") or {}),
    ]
    rows = [
        f'<tr><th scope="row">{named(data["names"][model])}</th>'
        f"{cell(_percent(data['accuracies'][model]), data['accuracies'][model])}</tr>"
        for model in reversed(view.by_accuracy)
    ]
    heads = [("Classifier", "text"), ("Accuracy on true labels", "number")]
    listed = table("Classifiers", heads, rows, first=30 if len(rows) > 40 else None, noun="classifiers")
    return (
        facts(pairs)
        + f'<details class="values screen-only"><summary>The {count(view.m, "classifier")}</summary>{listed}</details>'
    )


def _percent(part: float | None) -> str:
    return share(None if part is None else 100 * part)


def _details(details: Item, before: str = "") -> list[tuple[str, str]]:
    """Write a free mapping as names and values, nested mappings by their path."""
    found: list[tuple[str, str]] = []
    for key, value in details.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            found += _details(value, f"{name}: ")
        elif isinstance(value, list):
            told = ", ".join(named(item) for item in value[:_FEW_CLASSES])
            more = f" and {len(value) - _FEW_CLASSES:,} more" if len(value) > _FEW_CLASSES else ""
            found.append((name, told + more))
        else:
            text = DASH if value is None else f"{value:,}" if type(value) is int else str(value)
            found.append((name, named(text)))
    return found


def _expert(view: ComparisonView) -> str:
    data = view.data
    level = data.get("level")
    return (
        facts(
            [
                ("Reference", escape(view.reference_text)),
                ("Level of the intervals", "" if level is None else level_text(level)),
                ("Seed", escape(str(data.get("seed", "")))),
                ("Version", escape(f"demele {data.get('demele') or ''}")),
                ("Standard errors", "jackknife over classifiers: one left out at a time, with the same noise"),
                ("Matrices", f"{len(view.matrices):,}, in the data (JSON): one digit for each cell, row by row"),
            ]
        )
        + '<div class="tools" hidden>'
        '<button type="button" class="download-csv" data-list="tallies">Figures (CSV)</button>'
        '<button type="button" class="download-json">Everything (JSON)</button></div>'
    )
