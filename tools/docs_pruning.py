"""The page about pruning under label noise, written from the stored rows of the embedded study."""

from collections.abc import Sequence
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
from tools.docs_tables import table

PAGE, TITLE = "results/pruning.md", "Pruning under label noise"
#: The page of the study itself, with all that this one leads to.
STUDY = "results/pruning-study.html"
#: Line of a page in another folder that becomes a link.
MARK = "<!-- pruning-under-label-noise -->"


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
    data, times = settings["data"], settings["times"]
    height, width, _ = data["shape"]
    parts = [
        f"# {TITLE}\n",
        f"Convolutional fabrics on images of {height} x {width} pixels ({data['images']}), pruned in "
        f"{len(settings['configurations'])} ways under {len(view.noises)} label noises with {settings['seeds']} "
        f"seeds: `demele study pruning run --preset {settings['preset']}`. A whole fabric is trained for each seed "
        "and noise, and every way begins with it, so that ways are compared in pairs; all train for "
        f"{settings['training']['epochs']} epochs. Early is after epoch {times['early']}, late after "
        f"{times['late']}, iterative every {times['every']} epochs from the one to the other. The claims are those "
        "of the thesis that proposed to prune fabrics link by link (Benjelloun, chapter 7), which was on other "
        "images, with a larger fabric and one seed: what these rows do not show may still be so there.\n",
        f"**{headline(view)}**\n",
        *(f"- {sentence}" for sentence in summary(view) if sentence),
        "\n[The whole study](pruning-study.html): every difference under each noise, decisions, ranks, all fabrics,"
        " and what is left of them.\n",
        f"## Claim by claim\n\n{_claims(view)}",
        f"## By a test set whose labels are wrong\n\n{_decisions(view)}",
        f"## What cannot be told apart\n\n{_ranks(view)}",
        f"## Errors\n\n{_errors(view)}",
        f"## Wrong labels that are given again\n\n{_again(view)}",
        f"## What pruning cost, and saved\n\n{_cost(view)}",
    ]
    return "\n".join(parts)


def _claims(view: PruningView) -> str:
    rows = []
    for name, claim in view.claims.items():
        for place in (*view.noises, ALL):
            own = view.differences.get((name, place))
            if own is None:
                continue
            first = place == next(one for one in (*view.noises, ALL) if (name, one) in view.differences)
            rows.append(
                [
                    f"{claim['title']}: {claim['says']}" if first else "",
                    labels_words(place),
                    difference_words(own),
                    f"{own['first_lower']} / {own['second_lower']}",
                    str(answer_words(claim, own)),
                ]
            )
    return (
        "Differences in percentage points, paired by seed, with Student's interval at 95% over seeds; lower: in how"
        " many cases the first, or the second, has the lower value. A difference is shown beside all others if "
        "Holm's procedure tells it from 0 among all claims under the same labels.\n\n"
        + table(["Claim", "Labels", "Difference", "Lower", "What these rows say"], rows)
    )


def _decisions(view: PruningView) -> str:
    decisions: Sequence[dict[str, Any]] = view.data["decisions"]
    methods = list(dict.fromkeys(one["method"] for one in decisions))
    found = {(one["claim"], one["noise"], one["method"]): one for one in decisions}
    rows = []
    for claim in dict.fromkeys(one["claim"] for one in decisions):
        for noise in view.noises:
            own = [found.get((claim, noise, method)) for method in methods]
            if all(own):
                cells = [f"{one['second_better']} / {one['first_better']} / {one['undecided']}" for one in own if one]
                rows.append([view.claims[claim]["title"], labels_words(noise), *cells])
    wrong = {method: sum(one["contradicts"] for one in decisions if one["method"] == method) for method in methods}
    told = ", ".join(f"{method} {count}" for method, count in wrong.items() if method != "true labels")
    return (
        "One test set, one pair of fabrics: which is better? Each cell counts the pairs of all seeds: second "
        "better, first better, undecided. The labels of the test are as wrong as those of the training; the methods"
        f" know the rate. Decisions that contradict what the true labels show: {told}. What a method leaves "
        "undecided is the price of prudence; what seeds leave open no single test set can settle, however it is "
        "labelled.\n\n" + table(["Pair", "Labels", *methods], rows)
    )


def _ranks(view: PruningView) -> str:
    ranks: Sequence[dict[str, Any]] = view.data["ranks"]
    methods = list(dict.fromkeys(one["method"] for one in ranks))
    rows = []
    for noise in view.noises:
        cells = []
        for method in methods:
            spans = [one["worst"] - one["best"] for one in ranks if one["noise"] == noise and one["method"] == method]
            cells.append(f"{sum(spans) / len(spans):.1f}" if spans else "")
        rows.append([labels_words(noise), *cells])
    count = len(view.configurations)
    return (
        f"Of {count} fabrics of a seed, how far apart the best and the worst rank of one lie, on average, all verdicts "
        f"holding together at 95%: 0 would be a known order, {count - 1} none at all.\n\n"
        + table(["Labels", *methods], rows)
    )


def _errors(view: PruningView) -> str:
    rows = []
    for name in view.configurations:
        errors = [with_error(_done(view, noise, name), "error") for noise in view.noises]
        rows.append([name, *errors, with_error(_done(view, view.noises[0], name), "recalibrated")])
    heads = ["Fabric", *map(labels_words, view.noises), f"averaged anew, {labels_words(view.noises[0])}"]
    return (
        "Error in percent on right labels, mean and standard error over seeds; last, before training went on, once the "
        "batch norms were averaged anew.\n\n" + table(heads, rows)
    )


def _again(view: PruningView) -> str:
    noisy = [noise for noise in view.noises if noise != "none"]
    rows = [
        [name, *(with_error(_done(view, noise, name), f"wrong_again_{where}") for noise in noisy for where in _WHERE)]
        for name in view.configurations
    ]
    heads = ["Fabric", *(f"{where}, {labels_words(noise)}" for noise in noisy for where in _WHERE)]
    return (
        "The share of wrong labels that a fabric gives again (F_n), in percent: of the test, it has learnt how "
        "labels are wrong; of the training, it may also have learnt them by heart.\n\n" + table(heads, rows)
    )


_WHERE = ("test", "training")


def _cost(view: PruningView) -> str:
    noise = view.noises[0]
    rows = []
    for name in view.configurations:
        own = _done(view, noise, name)
        links, whole = mean_of(own, "links"), mean_of(_done(view, noise, "whole"), "multiply_adds")
        cost, weights = mean_of(own, "multiply_adds"), mean_of(own, "kept_weights")
        rows.append(
            [
                name,
                "" if links is None else f"{links:.1f}",
                "" if weights is None else f"{weights / 1000:.0f} k",
                "" if cost is None or whole is None else percent(cost / whole, 0),
                percent(mean_of(own, "training_share"), 0),
            ]
        )
    return (
        "Links and weights that are left, multiply-adds for one image and those of the whole training beside the whole "
        "fabric's. Masked weights are multiplied like all others: see [What pruning speeds "
        "up](../concepts/what-pruning-speeds-up.md).\n\n"
        + table(["Fabric", "Links", "Weights", "Multiply-adds", "Training"], rows)
    )


def _done(view: PruningView, noise: str, name: str) -> list[dict[str, Any]]:
    return [dict(one) for one in view.fabrics.get((noise, name), []) if one["status"] == "done"]
