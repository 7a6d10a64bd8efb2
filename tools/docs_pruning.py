"""The page about pruning under label noise, written from the stored rows of the embedded study."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from demele import studies
from demele.report.pruning import pruning_page
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
from demele.report.words import percent
from tools import docs_tables
from tools.docs_tables import table

PAGE, TITLE = "results/pruning.md", "Pruning under label noise"
#: The page of the study itself, with all that this one leads to.
STUDY = "results/pruning-study.html"
#: Line of a page in another folder that becomes a link.
MARK = "<!-- pruning-under-label-noise -->"
_WHERE = ("test", "training")

said = partial(docs_tables.said, "pruning")


def reference(folder: Path) -> str:
    """Return a link to the page from a page of another folder."""
    return f"What it found: [{TITLE}](../{PAGE})."


def pages(folder: Path) -> dict[str, str]:
    """Return the pages by path."""
    content = studies.pruning_demo().to_dict()
    return {PAGE: page_of(content), STUDY: pruning_page(content).text()}


def page_of(content: dict[str, Any]) -> str:
    """Return the page of what ``PruningStudy.to_dict()`` returns."""
    view, settings = pruning_view(content), content["settings"]
    wrong, decisions = _decisions(view)
    figures = {
        "title": TITLE,
        "shape": settings["data"]["shape"],
        "images": settings["data"]["images"],
        "ways": len(settings["configurations"]),
        "noises": len(view.noises),
        "epochs": settings["training"]["epochs"],
        "headline": headline(view),
        "summary": "\n".join(f"- {sentence}" for sentence in summary(view) if sentence),
        "claims": _claims(view),
        "wrong": wrong,
        "decisions": decisions,
        "fabrics": len(view.configurations),
        "worst": len(view.configurations) - 1,
        "ranks": _ranks(view),
        "errors": _errors(view),
        "again": _again(view),
        "cost": _cost(view),
    }
    return said("page", settings | settings["times"] | figures)


def _claims(view: PruningView) -> str:
    rows = []
    for name, claim in view.claims.items():
        said_before = False
        for place in (*view.noises, ALL):
            own = view.differences.get((name, place))
            if own is not None:
                title = "" if said_before else f"{claim['title']}: {claim['says']}"
                lower = f"{own['first_lower']} / {own['second_lower']}"
                rows.append([title, labels_words(place), difference_words(own), lower, str(answer_words(claim, own))])
                said_before = True
    return table(["Claim", "Labels", "Difference", "Lower", "What these rows say"], rows)


def _decisions(view: PruningView) -> tuple[str, str]:
    """Return how often each method contradicts true labels, and the table of decisions."""
    decisions: Sequence[dict[str, Any]] = view.data["decisions"]
    methods = list(dict.fromkeys(one["method"] for one in decisions))
    found = {(one["claim"], one["noise"], one["method"]): one for one in decisions}
    rows = []
    for claim in dict.fromkeys(one["claim"] for one in decisions):
        for noise in view.noises:
            own = [found.get((claim, noise, method)) for method in methods]
            if all(own):
                counts = [f"{one['second_better']} / {one['first_better']} / {one['undecided']}" for one in own if one]
                rows.append([view.claims[claim]["title"], labels_words(noise), *counts])
    wrong = {method: sum(one["contradicts"] for one in decisions if one["method"] == method) for method in methods}
    told = ", ".join(f"{method} {count}" for method, count in wrong.items() if method != "true labels")
    return told, table(["Pair", "Labels", *methods], rows)


def _ranks(view: PruningView) -> str:
    ranks: Sequence[dict[str, Any]] = view.data["ranks"]
    methods = list(dict.fromkeys(one["method"] for one in ranks))
    rows = []
    for noise in view.noises:
        spans = {
            method: [one["worst"] - one["best"] for one in ranks if (one["noise"], one["method"]) == (noise, method)]
            for method in methods
        }
        rows.append([labels_words(noise), *(f"{sum(own) / len(own):.1f}" if own else "" for own in spans.values())])
    return table(["Labels", *methods], rows)


def _errors(view: PruningView) -> str:
    rows = []
    for name in view.configurations:
        errors = [with_error(_done(view, noise, name), "error") for noise in view.noises]
        rows.append([name, *errors, with_error(_done(view, view.noises[0], name), "recalibrated")])
    return table(["Fabric", *map(labels_words, view.noises), f"averaged anew, {labels_words(view.noises[0])}"], rows)


def _again(view: PruningView) -> str:
    places = [(noise, where) for noise in view.noises if noise != "none" for where in _WHERE]
    rows = [
        [name, *(with_error(_done(view, noise, name), f"wrong_again_{where}") for noise, where in places)]
        for name in view.configurations
    ]
    return table(["Fabric", *(f"{where}, {labels_words(noise)}" for noise, where in places)], rows)


def _cost(view: PruningView) -> str:
    noise, rows = view.noises[0], []
    whole = mean_of(_done(view, noise, "whole"), "multiply_adds")
    for name in view.configurations:
        own = _done(view, noise, name)
        links, cost, weights = (mean_of(own, part) for part in ("links", "multiply_adds", "kept_weights"))
        left = ["" if links is None else f"{links:.1f}", "" if weights is None else f"{weights / 1000:.0f} k"]
        left.append("" if cost is None or whole is None else percent(cost / whole, 0))
        rows.append([name, *left, percent(mean_of(own, "training_share"), 0)])
    return table(["Fabric", "Links", "Weights", "Multiply-adds", "Training"], rows)


def _done(view: PruningView, noise: str, name: str) -> list[dict[str, Any]]:
    return [dict(one) for one in view.fabrics.get((noise, name), []) if one["status"] == "done"]
