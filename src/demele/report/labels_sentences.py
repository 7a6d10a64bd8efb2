"""The first sentence of every verdict on classifiers, for pages and for terminals: one wording, safe in HTML.

:func:`as_text` turns it into plain text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from typing import Any

from demele.report.labels_words import (
    Span,
    digits_for,
    labels_share,
    level_text,
    measure_of,
    percent,
    percent_range,
    points,
    points_range,
    span_of,
)
from demele.report.words import count, named

__all__ = [
    "OTHER_LABELS",
    "WITH_MORE",
    "as_text",
    "assessment_headline",
    "bears_sentence",
    "better_of",
    "by_names",
    "decision_headline",
    "estimate_sentence",
    "expert_sentence",
    "find_estimate",
    "gain",
    "is_nameless",
    "measure_words",
    "pair_names",
    "prospect_sentence",
    "ranking_headline",
    "turned",
]

Item = Mapping[str, Any]

#: Methods that rest on more than the labels.
WITH_MORE = frozenset({"audited", "sequential"})
#: Methods that do not judge by the labels that the disagreements are counted on.
OTHER_LABELS = frozenset({"reference", "cleaned", "label-free"})


def as_text(html: str) -> str:
    """Return a sentence without its marks.

    Examples
    --------
    >>> as_text("Keep <bdi>a &lt; b</bdi>: the labels cannot show more.")
    'Keep a < b: the labels cannot show more.'
    """
    return unescape(re.sub(r"<[^>]*>", "", html))


# Two classifiers ------------------------------------------------------------------------------------------------------


def decision_headline(data: Item) -> str:
    """Say which of two classifiers to use, and by how much it is better or why not.

    Parameters
    ----------
    data : mapping
        What ``Decision.to_dict()`` returns.
    """
    established, candidate = pair_names(data)
    value, span = gain(data)
    if data["verdict"] == "candidate":
        return f"Replace {established} by {candidate}: {_by(data, value, span)}."
    if data["verdict"] == "established":
        return f"Keep {established}: {_by(data, *turned(value, span))}."
    return f"Keep {established}: {_means(data)} cannot show that {candidate} is better."


def bears_sentence(data: Item, *, why: str = "") -> str:
    """Say how many wrong labels a verdict bears; nothing if that is not known. ``why`` is put at its end."""
    found = data.get("breakdown")
    if not found or data["method"] == "label-free":
        return ""
    labels, n = int(found["labels"]), int(found["n"])
    if labels < 0:
        return (
            "The given labels alone would not show this, even if all were right: the verdict rests on more than them, "
            "such as an audit."
        )
    if labels == 0:
        return "A single wrong label, in the worst place, could overturn this."
    after = {"cleaned": ", after the cleaning,", "reference": ", the true ones,"}.get(str(data["method"]), "")
    why = "" if data["method"] in OTHER_LABELS else why
    if data["method"] in WITH_MORE:
        return (
            "The verdict rests on the audit. The given labels without it, none of them replaced, would show the same "
            f"as long as at most <strong>{labels_share(labels, n)}</strong> are wrong, wherever they are{why}."
        )
    return f"This stands even if <strong>{labels_share(labels, n)}</strong>{after} are wrong, wherever they are{why}."


def estimate_sentence(data: Item) -> str:
    """Say which interval holds if wrong labels side with neither classifier; nothing if it was not asked for."""
    if not data.get("estimate_interval"):
        return ""
    span = span_of(data["estimate_interval"])
    span = turned(None, span)[1] if data["measure"] == "error" else span
    return (
        f"If wrong labels do not side with one of the two, the difference is in "
        f"{points_range(span, digits_for(span), sign=True)} points. The audit cannot show that they do not, so this "
        "interval decides nothing."
    )


def expert_sentence(data: Item) -> str:
    """Say how many of the expert's labels may be wrong while a verdict stands; nothing if it rests on no expert."""
    found = data.get("expert_breakdown")
    if not found:
        return ""
    labels, rows = int(found["labels"]), int(found["disagreements"])
    if labels == 0:
        return f"If the expert is wrong on one of the {rows:,} disagreements, in the worst place, this may fall."
    return (
        f"The expert may be wrong on <strong>{labels:,} of the {rows:,} disagreements</strong> "
        f"({percent(labels / rows, 1)}), wherever they are, and this still stands."
    )


def prospect_sentence(data: Item) -> str:
    """Say how many expert labels would settle an open comparison; nothing if that was not computed."""
    rows = (data.get("details") or {}).get("prospect") or ()
    if not rows:
        return ""
    clean = next((row["labels"] for row in rows if row.get("certified_if_clean")), None)
    noisy = next((row["labels"] for row in rows if row.get("certified_if_rate")), None)
    most = rows[-1]["labels"]
    if clean is None:
        return f"Even if all of them confirm the given ones, {count(most, 'expert label')} would not settle it."
    sentence = f"<strong>{count(clean, 'expert label')}</strong> would settle it if all of them confirm the given ones"
    if noisy is not None:
        sentence += f"; <strong>{noisy:,}</strong> if the labels are as wrong as supplied"
    elif any(row.get("certified_if_rate") is not None for row in rows):
        sentence += f"; more than {most:,} if the labels are as wrong as supplied"
    return f"{sentence}."


def pair_names(data: Item) -> tuple[str, str]:
    """Return what a sentence calls the established classifier and the candidate."""
    if is_nameless(data):
        return "the established", "the candidate"
    return named(data["names"][0]), named(data["names"][1])


def is_nameless(data: Item) -> bool:
    """Whether the two were given no names, and so are called by their roles."""
    return tuple(data["names"]) == ("established", "candidate")


def measure_words(data: Item) -> str:
    """Name what a decision is on."""
    return measure_of(str(data["measure"]), data.get("of"), method=str(data["method"]))


def gain(data: Item) -> tuple[float | None, Span]:
    """Return by how much the candidate is better, with its interval: more is better, whatever the measure."""
    value, span = data["difference"], span_of(data.get("interval"))
    return turned(value, span) if data["measure"] == "error" else (value, span)


def turned(value: float | None, span: Span) -> tuple[float | None, Span]:
    """Return a difference and its interval with the other sign."""
    value, high, low = (None if item is None else -item for item in (value, *span))
    return value, (low, high)


def _means(data: Item) -> str:
    extra = {"audited": "the labels and the audit", "sequential": "the labels and the audit so far"}
    return {**extra, "label-free": "agreement with the reference"}.get(str(data["method"]), "the labels")


def _by(data: Item, value: float | None, span: Span) -> str:
    digits = digits_for(span)
    size = f"{points(value, digits)} points {points_range(span, digits)}"
    word = "error is lower" if data["measure"] == "error" else f"{measure_words(data)} is higher"
    return f"its {word} by {size}"


# Several --------------------------------------------------------------------------------------------------------------


def ranking_headline(data: Item) -> str:
    """Say how many differences are shown, and who may be the best.

    Parameters
    ----------
    data : mapping
        What ``Ranking.to_dict()`` returns.
    """
    pairs = by_names(data["pairs"])
    names = [model["name"] for model in data["models"]]
    every = [(first, second) for place, first in enumerate(names) for second in names[place + 1 :]]
    shown = sum(better_of(pairs, *pair) is not None for pair in every)
    first = [named(model["name"]) for model in data["models"] if model["best_rank"] == 1]
    if len(first) == 1:
        top = f"{first[0]} is shown to be the best"
    elif len(first) == len(names):
        top = "any of them may be the best"
    else:
        top = f"the best is one of {_and(first)}"
    return f"Of {count(len(every), 'difference')}, {shown:,} {'is' if shown == 1 else 'are'} shown; {top}."


def by_names(rows: Iterable[Item] | None) -> dict[tuple[str, str], Item]:
    """Return the pairs of a ranking by the names (established, candidate)."""
    return {(row["established"], row["candidate"]): row for row in rows or ()}


def better_of(pairs: Mapping[tuple[str, str], Item], first: str, second: str) -> str | None:
    """Return who of two is shown to be better, if any."""
    for established, candidate in ((first, second), (second, first)):
        row = pairs.get((established, candidate))
        if row is not None and row["verdict"] != "undecided":
            return established if row["verdict"] == "established" else candidate
    return None


def _and(names: Sequence[str]) -> str:
    if len(names) > 6:
        return f"{', '.join(names[:5])} and {len(names) - 5} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


# One classifier -------------------------------------------------------------------------------------------------------


def assessment_headline(data: Item) -> str:
    """Say how often a classifier predicts the label, and what its accuracy may be on right labels.

    Parameters
    ----------
    data : mapping
        What ``Assessment.to_dict()`` returns.
    """
    accuracy = find_estimate(data, "accuracy")
    instances = count(data["n"], "instance")
    if accuracy is None:
        return f"Measures on {instances}."
    digits, right = digits_for(span_of(accuracy.get("interval"))), span_of(accuracy.get("corrected"))
    agrees = f"It predicts the given label for {percent(accuracy.get('value'), digits)} of {instances}"
    if right[0] is None:
        return f"{agrees}."
    sure = f"with {level_text(data['level'])} confidence, its accuracy on right labels lies in"
    return f"{agrees}; {sure} {percent_range(right, digits_for(right))}."


def find_estimate(data: Item, measure: str) -> Item | None:
    """Return the estimate of a measure over all classes, if there is one."""
    return next((item for item in data["estimates"] if item["measure"] == measure and item.get("of") is None), None)
