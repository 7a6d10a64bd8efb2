"""The page of a study of pruning: which claims hold, what a noisy test decides, every fabric, and what was kept."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.estimates import axis, strip
from demele.report.page import Cell, Html, Page, data_element, embedded, facts, h, lead, paragraph, table, tool
from demele.report.pruning_view import (
    ALL,
    PruningView,
    answer_words,
    difference_words,
    headline,
    labels_words,
    mean_of,
    pruning_view,
    summary,
    with_error,
)
from demele.report.words import DASH, Text, count, named, percent, points

__all__ = ["pruning_page", "write_pruning"]

Item = Mapping[str, Any]

#: How often either criterion was lower in print, in percent (figure 7.7).
_PRINTED = {"without wrong labels": (62.5, 37.5), "with wrong labels": (52.0, 48.0)}


def write_pruning(data: Item, path: Path, *, title: str | None = None) -> Path:
    """Write what ``PruningStudy.to_dict()`` returns as one HTML file; see :func:`pruning_page`."""
    return pruning_page(data, title=title).write(path)


def pruning_page(data: Item, *, title: str | None = None) -> Page:
    """Make the page of a study of pruning, which may be unfinished.

    Raises
    ------
    InputError
        If it is something else.
    """
    view = pruning_view(data)
    return Page(
        kind="A study of pruned fabrics",
        title=title or "Pruning under label noise: which way is really better?",
        sections=[
            ("lead", "In short", lead(headline(view), [*summary(view), _missing(view)])),
            ("claims", "Claims", _claims(view)),
            ("counts", "How often which is lower", _counts(view)),
            ("decisions", "What a noisy test decides", _decisions(view)),
            ("ranks", "Ranks", _ranks(view)),
            ("fabrics", "Fabrics", _fabrics(view)),
            ("structures", "What is left", _structures(view)),
            ("run", "What was run", _run(view)),
        ],
        style="labels agreement pruning",
        styles=("labels.css", "agreement.css"),
        scripts=("labels.js",),
        tools=h(
            "",
            tool("Data (JSON)", "download-json"),
            tool("Fabrics (CSV)", "download-csv", data_list="fabrics"),
            tool("Differences (CSV)", "download-csv", data_list="differences"),
        ),
        data=data_element(embedded({name: value for name, value in view.data.items() if name != "structures"})),
        version=view.data.get("demele"),
    )


def _missing(view: PruningView) -> Text:
    odd = [one for one in view.data["fabrics"] if one["status"] != "done"]
    if not odd:
        return Text("")
    told = [
        f"{sum(one['status'] == kind for one in odd)} {kind}" for kind in dict.fromkeys(one["status"] for one in odd)
    ]
    return Text(f"Of {count(len(view.data['fabrics']), 'fabric')}, {', '.join(told)}.")


# Claims ---------------------------------------------------------------------------------------------------------------


def _claims(view: PruningView) -> Html:
    parts = []
    for name, claim in view.claims.items():
        places = [place for place in (*view.noises, ALL) if (name, place) in view.differences]
        every = [view.differences[name, place][end] for place in places for end in ("low", "mean", "high")]
        low, high, _ = axis([*every, 0.0])
        rows = []
        for place in places:
            own = view.differences[name, place]
            rows.append(
                [
                    labels_words(place),
                    Cell(points(own["mean"], sign=True), own["mean"], difference_words(own).partition(" ")[2]),
                    strip((own["low"], own["high"]), own["mean"], (low, high), "apparent", rule=0.0),
                    h("td", answer_words(claim, own), class_="text"),
                    Cell(f"{own['first_lower']} / {own['second_lower']}", own["first_lower"]),
                    Cell(f"{own['pairs']} x {own['seeds']}", own["seeds"]),
                    Cell(DASH if own["seeds_needed"] is None else f"{own['seeds_needed']:,}", own["seeds_needed"]),
                ]
            )
        heads: list[tuple[object, str] | None] = [("", "text"), ("Difference, points", "number"), ("", "text drawn")]
        heads += [("What these rows say", "text"), ("Lower: first / second", "number"), ("Pairs x seeds", "number")]
        heads += [("Seeds needed", "number")]
        parts.append(
            h(
                "",
                h("h3", named(claim["title"])),
                paragraph(_says(claim)),
                table(claim["title"], heads, rows, kind="ranks c0", sortable=False),
            )
        )
    return h(
        "",
        paragraph(
            "Each difference is paired by seed: both fabrics begin with the same whole one. Below it, Student's "
            "interval at 95% over seeds, of this difference alone. Seeds needed: for a probability of 80% to tell it"
            " from 0, if it is as large and as spread as seen."
        ),
        parts,
    )


def _says(claim: Item) -> str:
    said = claim["says"]
    return f"In print: {said}." if claim["expected"] else f"{said[:1].upper()}{said[1:]}."


def _counts(view: PruningView) -> Html:
    """Write what print counts (figures 7.7 and 7.9): of all cases, how often either has the lower error."""
    rows = []
    for place in (*view.noises, ALL):
        own = view.differences.get(("sensitivity-magnitude", place))
        if own is None:
            continue
        cases = own["first_lower"] + own["second_lower"] + own["ties"]
        told = _PRINTED["without wrong labels" if place == "none" else "with wrong labels"]
        rows.append(
            [
                labels_words(place),
                Cell(percent(own["second_lower"] / cases, 0), own["second_lower"] / cases),
                Cell(percent(own["first_lower"] / cases, 0), own["first_lower"] / cases),
                Cell(str(cases), cases),
                Cell(DASH if place == ALL else f"{told[0]:g}% / {told[1]:g}%"),
            ]
        )
    if not rows:
        return h("")
    heads: list[tuple[object, str] | None] = [("", "text"), ("Magnitude lower", "number")]
    heads += [("Sensitivity lower", "number"), ("Cases", "number"), ("In print", "number")]
    return h(
        "",
        paragraph(
            "Print counts in how many cases a criterion has the lower error (figure 7.7), and infers from that. "
            "Counts know nothing of by how much, and cases of one seed share a fabric: the table above is what can "
            "be inferred."
        ),
        table("How often either criterion has the lower error", heads, rows, sortable=False),
    )


# Decisions ------------------------------------------------------------------------------------------------------------


def _decisions(view: PruningView) -> Html:
    if not view.data["decisions"]:
        return h("")
    methods = list(dict.fromkeys(one["method"] for one in view.data["decisions"]))
    found = {(one["claim"], one["noise"], one["method"]): one for one in view.data["decisions"]}
    heads: list[tuple[object, str] | None] = [
        ("Pair", "text"),
        ("Labels", "text"),
        *((name, "number") for name in methods),
    ]
    rows = []
    for claim in dict.fromkeys(one["claim"] for one in view.data["decisions"]):
        for noise in view.noises:
            if (claim, noise, methods[0]) not in found:
                continue
            cells = [_decided(found[claim, noise, method]) for method in methods]
            rows.append([named(view.claims[claim]["title"]), h("td", labels_words(noise), class_="text"), *cells])
    wrong = sum(one["contradicts"] for one in view.data["decisions"])
    return h(
        "",
        paragraph(
            "Every pair of every seed, decided on a test set whose labels are as wrong as those of the training: how"
            " often the second is shown to have the lower error, how often the first, and how often neither. Methods"
            " of print: classic (two intervals that do not overlap, every label believed), prudent-v1, prudent-v2 "
            "(its difficulty is how much all fabrics disagree about an image); bounded: by the noise rate, whatever "
            "labels it hits. True labels: the same images, no label wrong. "
            + (
                "Nothing that is shown contradicts these."
                if not wrong
                else f"{count(wrong, 'decision')} contradict these."
            )
        ),
        table("Decisions on noisy labels", heads, rows),
    )


def _decided(one: Item) -> Cell:
    told = f"{one['second_better']} / {one['first_better']} / {one['undecided']}"
    return Cell(told, one["second_better"], f"{one['contradicts']} wrong" if one["contradicts"] else "")


def _ranks(view: PruningView) -> Html:
    if not view.data["ranks"]:
        return h("")
    methods = list(dict.fromkeys(one["method"] for one in view.data["ranks"]))
    spans: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for one in view.data["ranks"]:
        spans.setdefault((one["configuration"], one["noise"], one["method"]), []).append((one["best"], one["worst"]))
    heads: list[tuple[object, str] | None] = [("Fabric", "text")]
    heads += [(f"{method}, {labels_words(noise)}", "number") for noise in view.noises for method in methods]
    rows = []
    for name in view.configurations:
        cells = []
        for noise in view.noises:
            for method in methods:
                own = spans.get((name, noise, method), [])
                best, worst = (sum(pair[end] for pair in own) / len(own) if own else None for end in (0, 1))
                cells.append(Cell(DASH if best is None or worst is None else f"{best:.1f}–{worst:.1f}", best))
        rows.append([named(name), *cells])
    return h(
        "",
        paragraph(
            "Between which ranks each fabric lies among all of its seed, all verdicts holding together at 95%: the "
            "mean best and the mean worst over seeds."
        ),
        table("Ranks", heads, rows),
    )


# Fabrics --------------------------------------------------------------------------------------------------------------


def _fabrics(view: PruningView) -> Html:
    parts = []
    for noise in view.noises:
        noisy = any(
            one["wrong_again_test"] is not None for name in view.configurations for one in _of(view, noise, name)
        )
        rows = [_fabric(view, noise, name, noisy=noisy) for name in view.configurations]
        heads: list[tuple[object, str] | None] = [("Fabric", "text"), ("Error", "number"), ("Averaged anew", "number")]
        heads += [("Right after pruning", "number"), ("Links, asked", "number"), ("Weights", "number")]
        heads += [("Multiply-adds", "number"), ("Work of training", "number")]
        heads += [("Wrong labels again, test", "number") if noisy else None]
        heads += [("training", "number") if noisy else None]
        parts.append(h("", h("h3", _begun(labels_words(noise))), table(f"Fabrics, {labels_words(noise)}", heads, rows)))
    return h(
        "",
        paragraph(
            "Means over seeds with their standard errors. Errors in percent of the images of the test, on right "
            "labels: at the end, once norms were averaged anew after the last pruning, and right after it. Links: "
            "left, and how many should have been. Weights of links that are not masked. Multiply-adds for one image;"
            " work: those of all epochs, beside the whole fabric's. Wrong labels again (F_n): the share of wrong "
            "labels that the fabric predicts."
        ),
        parts,
    )


def _begun(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _of(view: PruningView, noise: str, name: str) -> list[Item]:
    return view.fabrics.get((noise, name), [])


def _fabric(view: PruningView, noise: str, name: str, *, noisy: bool) -> list[object]:
    own, whole = _of(view, noise, name), mean_of(_of(view, noise, "whole"), "links")
    done = [one for one in own if one["status"] == "done"]
    links, asked = mean_of(done, "links"), mean_of(done, "requested")
    wanted = "" if whole is None or not asked else f", {whole - asked:.0f}"
    return [
        named(name),
        *(Cell(with_error(done, figure), mean_of(done, figure)) for figure in ("error", "recalibrated", "raw")),
        Cell(DASH if links is None else f"{links:.0f}{wanted}", links),
        Cell(_thousands(mean_of(done, "kept_weights")), mean_of(done, "kept_weights")),
        Cell(_thousands(mean_of(done, "multiply_adds")), mean_of(done, "multiply_adds")),
        Cell(percent(mean_of(done, "training_share"), 0), mean_of(done, "training_share")),
        Cell(with_error(done, "wrong_again_test"), mean_of(done, "wrong_again_test")) if noisy else None,
        Cell(with_error(done, "wrong_again_training"), mean_of(done, "wrong_again_training")) if noisy else None,
    ]


def _thousands(value: float | None) -> str:
    return DASH if value is None else f"{value / 1000:,.0f} k"


def _structures(view: PruningView) -> Html:
    shown: Sequence[Item] = view.data["structures"]
    figures = [
        h(
            "figure",
            h("figcaption", named(one["configuration"]), f", {labels_words(one['noise'])}"),
            h("img", src=_address(one["svg"]), alt=f"Links left: {one['configuration']}, {labels_words(one['noise'])}"),
        )
        for one in shown
        if one.get("svg")
    ]
    if not figures:
        return h("")
    return h(
        "",
        paragraph("The wider a link, the more seeds keep it; a dashed one is kept by none."),
        h("div", figures, class_="grids"),
    )


def _address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _run(view: PruningView) -> Html:
    settings = view.data["settings"]
    data, times = settings["data"], settings["times"]
    height, width, channels = data["shape"]
    trained = data["n"] - data["held"]
    pairs: list[tuple[object, object]] = [
        (
            "Images",
            f"{data['images']}: {trained:,} of {height} x {width} x {channels} to train on, {data['held']:,} for "
            f"criteria, {data['test']:,} to test on",
        ),
        ("From", data["provenance"]),
        ("Whole fabric", _told(settings["structure"])),
        ("Training", _told(settings["training"])),
        (
            "Pruned",
            f"early after epoch {times['early']}, late after {times['late']}, iteratively every {times['every']} "
            "epochs from the one to the other",
        ),
        ("Labels", "; ".join(map(labels_words, view.noises))),
        ("Seeds", str(settings["seeds"])),
        ("Version", f"demele {view.data.get('demele') or ''}"),
    ]
    return facts(pairs)


def _told(options: Item) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())
