"""Results as tables for a paper: what stands in which cell, once for LaTeX and Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from demele.core.errors import InputError
from demele.core.signature import Signature
from demele.metrics.catalogue import CATALOGUE
from demele.report.paper_beside import beside_cells, beside_heads, beside_messages, beside_words
from demele.report.paper_latex import latex_text
from demele.report.paper_markdown import markdown_text
from demele.report.paper_representations import representations_paper
from demele.report.paper_table import Footnotes, PaperRow, PaperTable
from demele.report.scores_view import PROPERTIES, Catalogue, View
from demele.report.words import DASH, brackets, count, joined, level_text, number

__all__ = ["REPRESENTATIONS", "as_evaluations", "blocks_of", "kind_of", "latex", "markdown", "paper_table"]

Content = Mapping[str, Any]
#: The kind of a comparison of representations.
REPRESENTATIONS = "representation comparison"


def latex(contents: Sequence[Content]) -> str:
    """Write what ``to_dict()`` of a result returns, or of several evaluations, as a table of LaTeX."""
    return latex_text(paper_table(contents))


def markdown(contents: Sequence[Content]) -> str:
    """Write the same as a table of GitHub-flavoured Markdown."""
    return markdown_text(paper_table(contents))


def kind_of(contents: Sequence[Content]) -> str:
    """Return what some results are: ``"evaluation"`` for scores too.

    Raises
    ------
    InputError
        If there are none, or no table is known for them.
    """
    kinds = {"evaluation" if "metric" in item else str(item.get("kind")) for item in contents}
    known = {"evaluation", REPRESENTATIONS}
    if len(kinds) != 1 or not kinds <= known or (len(contents) > 1 and kinds != {"evaluation"}):
        raise InputError(f"expected evaluations, or one comparison of representations, got {sorted(kinds)}")
    return kinds.pop()


def paper_table(contents: Sequence[Content]) -> PaperTable:
    """Return the table of results."""
    kind = kind_of(contents)
    if kind == "evaluation":
        return _scores(as_evaluations(contents))
    catalogue = Catalogue({name: metric.facts() for name, metric in CATALOGUE.items()})
    return representations_paper(contents[0], catalogue.title, _comments(contents[0]["evaluations"]))


def as_evaluations(contents: Iterable[Content]) -> list[dict[str, Any]]:
    """Return evaluations; a score by itself becomes one of a single score."""
    return [dict(item) if "scores" in item else _alone(item) for item in contents]


def _alone(score: Content) -> dict[str, Any]:
    met = Signature.parse(str(score["signature"])).context
    return {
        "name": "codes",
        "protocol": score["protocol"],
        "n": score["n"],
        "codes": [""] * int(met.get("codes", 0)),
        "factors": [{}] * int(met.get("factors", 0)),
        "scores": [score],
        "left_out": [],
        "notes": [],
        "demele": met.get("demele", ""),
    }


# Scores ---------------------------------------------------------------------------------------------------------------


def _scores(evaluations: list[dict[str, Any]]) -> PaperTable:
    view = View(evaluations, Catalogue({name: metric.facts() for name, metric in CATALOGUE.items()}))
    columns = {} if view.several else _columns(evaluations[0]["scores"])
    beside = {} if view.several else beside_heads(evaluations[0]["scores"])
    notes = Footnotes()
    groups = []
    for key, metrics in view.by_property(view.metrics).items():
        groups.append((PROPERTIES[key][0], tuple(_row(view, metric, columns, beside, notes) for metric in metrics)))
    for index, item in enumerate(evaluations):
        for note in item["notes"]:
            notes.add(note["message"], about=_of(view, [index]), marked=False)
    level = _level(evaluations)
    value = f"Score [{level} interval]" if level and not view.several else "Score"
    names = [str(item["name"]) for item in evaluations]
    return PaperTable(
        name="-".join(names),
        caption=_caption(evaluations, columns),
        heads=("Metric", *(names if view.several else (value, *columns.values(), *chain(*beside.values())))),
        groups=tuple(groups),
        notes=notes.all,
        comments=_comments(evaluations),
    )


def _columns(scores: Iterable[Content]) -> dict[str, str]:
    """Return the columns beside the value, for what at least one score has."""
    known = {"spread": "SD", "chance": "Chance"}
    return {key: head for key, head in known.items() if any(score[key] is not None for score in scores)}


def _row(
    view: View, metric: str, columns: Mapping[str, str], beside: Mapping[str, tuple[str, ...]], notes: Footnotes
) -> PaperRow:
    scores = [view.score(index, metric) for index in range(len(view.evaluations))]
    cells = [
        DASH if score is None else f"{number(score['value'])} {brackets(score['interval'])}".strip() for score in scores
    ]
    first = scores[0] or {}
    single = {"spread": (first.get("spread") or {}).get("std"), "chance": (first.get("chance") or {}).get("mean")}
    cells += [number(single[key]) if first.get(key) else "" for key in columns]
    cells += beside_cells(first, beside)
    told: dict[str, list[int]] = {}
    for index, score in enumerate(scores):
        for message in _messages(view.evaluations[index], score, metric, with_beside=bool(beside)):
            told.setdefault(message, []).append(index)
    marks = {notes.add(message, about=_of(view, about)) for message, about in told.items()}
    return PaperRow(
        view.catalogue.title(metric), tuple(cells), tuple(sorted(marks, key=lambda mark: (len(mark), mark)))
    )


def _messages(evaluation: Content, score: Content | None, metric: str, *, with_beside: bool) -> list[str]:
    """Return what a reader must know of a number, or why there is none."""
    if score is None:
        return [str(gap["reason"]) for gap in evaluation["left_out"] if gap["metric"] == metric]
    every = score["value"] is None
    told = [str(note["message"]) for note in score["notes"] if every or note["severity"] != "info"]
    return list(dict.fromkeys([*told, *(beside_messages(score) if with_beside else [])]))


def _of(view: View, about: Sequence[int]) -> str:
    """Return the representations that a note is of; none for all of them."""
    if len(about) == len(view.evaluations):
        return ""
    return joined(str(view.evaluations[index]["name"]) for index in about)


def _level(evaluations: Iterable[Content]) -> str:
    levels = {score["interval"]["level"] for item in evaluations for score in item["scores"] if score["interval"]}
    return " and ".join(level_text(level) for level in sorted(levels))


def _caption(evaluations: Sequence[Content], columns: Mapping[str, str]) -> str:
    about: dict[str, list[str]] = {}
    for item in evaluations:
        counts = (count(item["n"], "row"), count(len(item["codes"]), "code"), count(len(item["factors"]), "factor"))
        about.setdefault(f"{', '.join(counts)}; protocol {item['protocol']}", []).append(str(item["name"]))
    parts = ["; ".join(f"{joined(names)} ({what})" for what, names in about.items())]
    scores = [score for item in evaluations for score in item["scores"]]
    methods = list(dict.fromkeys(score["interval"]["method"] for score in scores if score["interval"]))
    if methods:
        parts.append(f"Brackets: {_level(evaluations)} intervals ({'; '.join(methods)})")
    if "spread" in columns:
        parts.append(f"SD: standard deviation over {_numbers('spread', scores)} seeds")
    if "chance" in columns:
        whole = f", {blocks} as wholes" if (blocks := blocks_of(scores)) else ""
        shuffles = f"{_numbers('chance', scores)} permutations of the rows of the factors{whole}"
        parts.append(f"Chance: mean score over {shuffles}")
    if len(evaluations) == 1:
        parts += beside_words(scores)
    return f"Scores of {'. '.join(parts)}."


def blocks_of(scores: Iterable[Content]) -> str:
    """Return how many blocks of rows chance permuted, in words; nothing where it permuted single rows."""
    found = {Signature.parse(str(score["signature"])).context.get("blocks") for score in scores} - {None}
    return f"{' or '.join(sorted(map(str, found)))} blocks of rows" if found else ""


def _numbers(key: str, scores: Iterable[Content]) -> str:
    return " or ".join(str(one) for one in sorted({len(score[key]["values"]) for score in scores if score[key]}))


def _comments(evaluations: Sequence[Content]) -> tuple[str, ...]:
    """Return the signature of each metric once, with the representations that it is of unless it is of all."""
    about: dict[str, dict[str, dict[str, None]]] = {}
    for item in evaluations:
        for score in item["scores"]:
            signature = Signature.parse(str(score["signature"]))
            met = about.setdefault(str(replace(signature, context={})), {})
            for key, value in {"": str(item["name"]), **signature.context}.items():
                met.setdefault(key, {})[value] = None
        told = [
            f"{one['metric']} is corrected: {one['corrected']['signature']}"
            for one in item["scores"]
            if one.get("corrected")
        ]
        for line in [*told, *(f"{gap['metric']} is left out: {gap['reason']}" for gap in item["left_out"])]:
            about.setdefault(line, {}).setdefault("", {})[str(item["name"])] = None
    lines = [f"Made by demele {' and '.join(sorted({str(item.get('demele') or '?') for item in evaluations}))}."]
    for line, met in about.items():
        names = met.pop("")
        context = ", ".join(f"{key}={' or '.join(values)}" for key, values in met.items())
        lead = "" if len(names) == len(evaluations) else f"{', '.join(names)}: "
        lines.append(f"{lead}{line}  # {context}" if context else f"{lead}{line}")
    return tuple(re.sub(r"\s+", " ", line) for line in lines)
