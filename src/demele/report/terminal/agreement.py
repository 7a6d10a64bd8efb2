"""How far metrics agree, in a terminal: what ``Study.to_dict()`` returns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demele.metrics.chosen import RECOMMENDED
from demele.report.agreement_view import (
    TITLES,
    AgreementView,
    agreement_view,
    headline,
    interval_words,
    short_tau,
    summary,
    title_of,
)
from demele.report.study import models_sentence, too_few
from demele.report.terminal.sheet import Sheet, Words, clipped
from demele.report.words import number, percent

__all__ = ["study_text"]

Content = Mapping[str, Any]

_WIDTH = 110
_SIGNS = {"significant": "clear", "significant alone": "alone", "undefined": "-"}
#: Pairs that are listed; all of them are in JSON and CSV.
_MOST_PAIRS = 20


def study_text(content: Content, *, output: Path | None = None, words: Words = str) -> str:
    """Write the same of a study, and what became of its models."""
    sheet = Sheet(output, width=_WIDTH)
    settings = content["settings"]
    sheet.wrapped(f"{settings['images']}, {settings['steps'][-1]:,} steps each, protocol {settings['protocol']}", "dim")
    sheet.wrapped(models_sentence(content))
    if content["agreement"] is None:
        sheet.wrapped(str(too_few(content)), "bold")
        _scores(sheet, content)
        return sheet.text()
    sheet.blank()
    _agreement(sheet, agreement_view(content["agreement"]), words)
    return sheet.text()


def _scores(sheet: Sheet, study: Content) -> None:
    """List the models with a metric of each property: what a study of few models can show."""
    metrics = study["settings"]["metrics"]
    shown = [name for name in RECOMMENDED if name in metrics] or metrics[: len(RECOMMENDED)]
    rows = [
        [
            f"{model['configuration']}, seed {model['seed']}",
            f"{model['active']} of {model['latents']}",
            *(number(scores[metrics.index(name)], 3) for name in shown),
            model["flag"],
        ]
        for model, scores in zip(study["models"], study["scores"], strict=True)
    ]
    sheet.blank()
    sheet.table(["model", "codes in use", *map(str, map(title_of, shown)), ""], rows, numbers=1 + len(shown))
    sheet.wrapped(f"{len(shown)} of {len(metrics)} metrics; all of them with --format csv", "dim")


def _agreement(sheet: Sheet, view: AgreementView, words: Words) -> None:
    sheet.wrapped(headline(view), "bold")
    for text in summary(view):
        sheet.wrapped(text)
    _pairs(sheet, view)
    _print(sheet, view)
    _stability(sheet, view)
    if view.data["notes"]:
        sheet.blank()
    for note in view.data["notes"]:
        about = f"{', '.join(note['subject'][:6])}: " if note["subject"] and note["code"] != "collapsed" else ""
        sheet.wrapped(f"note: {about}{words(note['message'])}")


def _pairs(sheet: Sheet, view: AgreementView) -> None:
    others = [name for name in view.matrices if name != "all"]
    pairs = sorted(view.matrices["all"].items(), key=lambda item: -abs(item[1]["tau"] or 0.0))
    rows = []
    for names, pair in pairs[:_MOST_PAIRS]:
        cells = [
            clipped(f"{title_of(pair['first'])}, {title_of(pair['second'])}", 46),
            short_tau(pair["tau"]),
            interval_words(pair).partition(" ")[2],
            _SIGNS.get(pair["verdict"], ""),
            *(short_tau(view.matrices[name].get(names, {}).get("tau")) for name in others),
            *(short_tau(printed.get(names, {}).get("tau")) for printed in view.printed.values()),
        ]
        rows.append(cells)
    sheet.blank()
    short = {"without collapsed": "not collapsed", "within groups": "in groups"}
    sheet.table(["metrics", "tau", "", "", *(short.get(name, name) for name in others), *view.printed], rows, numbers=2)
    told = "clear: told from 0 beside all other pairs; alone: only if it were the one pair"
    sheet.wrapped(told, "dim")
    if len(pairs) > _MOST_PAIRS:
        sheet.wrapped(f"the {_MOST_PAIRS} largest of {len(pairs)} pairs; all of them with --format csv", "dim")


def _print(sheet: Sheet, view: AgreementView) -> None:
    if not view.data["likeness"]:
        return
    titles = {one["name"]: one["title"] for one in view.data["published"]}
    rows = [
        [
            TITLES.get(row["matrix"], row["matrix"]),
            titles[row["published"]] + (", undisputed" if row["disputed"] == "left out" else ""),
            f"{row['pairs']}",
            _measured(row, "r"),
            _measured(row, "difference"),
            f"{percent(row['same_sign'], 0)} of {row['strong_pairs']}",
        ]
        for row in view.data["likeness"]
    ]
    sheet.blank()
    sheet.wrapped("Beside print", "bold")
    sheet.table(["ours", "in print", "pairs", "r", "mean difference", "same sign"], rows)


def _measured(row: Content, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return number(row[name], 2) + ("" if low is None else f" [{number(low, 2)}, {number(high, 2)}]")


def _stability(sheet: Sheet, view: AgreementView) -> None:
    between = list(view.data["alike"])
    if not between:
        return
    found = {(row["between"], row["metric"]): row for row in view.data["stability"]}
    rows = [
        [str(title_of(metric)), *(short_tau(found[name, metric]["tau"]) for name in between)]
        for metric in view.by_family
    ]
    rows.append(["the whole matrix (r)", *(number(view.data["alike"][name], 2) for name in between)])
    sheet.blank()
    sheet.wrapped("How stable each ranking is: tau between", "bold")
    sheet.table(["metric", *between], rows, numbers=len(between))
