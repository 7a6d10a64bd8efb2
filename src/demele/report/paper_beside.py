"""What stands beside a score in a paper: its correction for wrong annotations, and how it is of turned codes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from demele.core.signature import Signature
from demele.report.words import brackets, count, joined, level_text, number

__all__ = ["BESIDE", "beside_cells", "beside_heads", "beside_made", "beside_messages", "beside_words", "grouped_made"]

Score = Mapping[str, Any]
#: What a score may have beside it, by its key, with the columns that show it.
BESIDE = {"corrected": ("Corrected",), "alignment": ("Aligned", "Gap")}


def beside_heads(scores: Iterable[Score]) -> dict[str, tuple[str, ...]]:
    """Return the heads of the columns for what at least one score has."""
    listed = list(scores)
    heads = {key: columns for key, columns in BESIDE.items() if any(score.get(key) for score in listed)}
    if "corrected" in heads and all(_bounded(score) for score in listed if score.get("corrected")):
        heads["corrected"] = ("Bounds",)
    return heads


def _bounded(score: Score) -> bool:
    return (score["corrected"]["interval"] or {}).get("kind") == "bounds"


def beside_cells(score: Score, keys: Iterable[str]) -> list[str]:
    """Return the cells of one score; empty ones where it has nothing of the kind."""
    cells = []
    for key in keys:
        found = score.get(key)
        if not found:
            cells += [""] * len(BESIDE[key])
        elif key == "corrected":
            value = "" if found["value"] is None and found["interval"] else number(found["value"])
            cells.append(f"{value} {brackets(found['interval'])}".strip())
        else:
            cells += [number(found["aligned"]), f"{number(found['gap'])} {brackets(found['interval'])}".strip()]
    return cells


def beside_words(scores: Sequence[Score]) -> list[str]:
    """Return what a caption says of the columns, without a full stop."""
    told = []
    found = [score["corrected"] for score in scores if score.get("corrected")]
    if found and all(_bounded(score) for score in scores if score.get("corrected")):
        told.append("Bounds: what the score cannot leave, whichever annotations are wrong")
    elif found:
        told.append(f"Corrected: estimate of the score if all annotations were right ({_how(found)})")
    aligned = [score["alignment"] for score in scores if score.get("alignment")]
    if aligned:
        white = "whitened and " if any(one["whitened"] for one in aligned) else ""
        told.append(
            f"Aligned: of codes {white}turned towards the factors, on rows not used to turn them; gap: less the score "
            "of the codes as they are on the same rows"
        )
    return told


def _how(found: Iterable[Mapping[str, Any]]) -> str:
    """Return the methods of corrections, with the levels of their intervals."""
    ways = dict.fromkeys(
        f"method {one['method']}"
        + (
            f", {level_text(one['interval']['level'])} interval"
            if one["interval"] and one["method"] != "bounds"
            else ""
        )
        for one in found
    )
    return "; ".join(ways)


def beside_messages(score: Score) -> list[str]:
    """Return what a corrected value assumes, and why a score has none or was not turned."""
    found = score.get("corrected") or {"assumptions": [], "notes": []}
    told = [str(text) for text in found["assumptions"]] + [str(note["message"]) for note in found["notes"]]
    return told + [str(note["message"]) for note in score["notes"] if note["code"] in ("not-corrected", "not-aligned")]


def beside_made(scores: Sequence[Score], title: Callable[[str], str]) -> list[str]:
    """Return sentences on how corrected and aligned scores were made."""
    sentences = []
    ways: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for score in scores:
        if score.get("corrected"):
            key = _how([score["corrected"]]), tuple(score["corrected"]["assumptions"])
            ways.setdefault(key, []).append(title(score["metric"]))
    for (how, assumed), names in ways.items():
        done = "bounded" if how == "method bounds" else f"corrected ({how})"
        sentences.append(f"For wrong annotations of the factors, {joined(names)} {_were(names)} {done}.")
        if assumed:
            sentences.append(f"Assumed: {' '.join(assumed)}")
    for white in (False, True):
        names = [
            title(score["metric"])
            for score in scores
            if score.get("alignment") and bool(score["alignment"]["whitened"]) is white
        ]
        if names:
            turned = "whitened and turned" if white else "turned"
            sentences.append(
                f"Aligned scores of {joined(names)} are of codes {turned} towards the factors on one half of the rows, "
                "and scored on the other; means of both halves."
            )
    return sentences


def _were(names: Sequence[str]) -> str:
    return "were" if len(names) > 1 else "was"


def grouped_made(calls: Iterable[Signature]) -> list[str]:
    """Return a sentence on columns that are one code together, if there are any."""
    for call in calls:
        groups = call.arguments.get("code_groups")
        if not isinstance(groups, Mapping):
            continue
        several = [f"{name} ({count(len(columns), 'column')})" for name, columns in groups.items() if len(columns) > 1]
        if several:
            reduced = call.arguments.get("reduce_groups") == "pca1"
            taken = "represented by their first principal component" if reduced else "one code together"
            return [f"Columns of the codes were {taken}: {joined(several)}."]
    return []
