"""What is said of scores corrected for noisy factors: each sentence once, with the metrics that it is about."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Corrections", "corrections"]

Item = Mapping[str, Any]
_NOT = "not corrected for noisy factors: "


@dataclass(frozen=True, slots=True)
class Corrections:
    """What was corrected of one evaluation, and what not.

    Attributes
    ----------
    scores : tuple of mapping
        Scores with a correction.
    interval_head : str
        What a column of their intervals is called.
    audited : bool
        Whether there are scores of audited rows alone.
    assumptions, notes, missing : tuple of str
        What corrected values assume, what is to be known of them, and why others have none.
    """

    scores: tuple[Item, ...]
    interval_head: str
    audited: bool
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    missing: tuple[str, ...]


def corrections(evaluation: Item, title: Callable[[str], str] = str) -> Corrections | None:
    """Return what an evaluation holds of corrections for noisy factors; None if nobody asked for any.

    Parameters
    ----------
    evaluation : mapping
        What ``Evaluation.to_dict()`` returns.
    title : callable (metric) -> str, optional
        What a metric is called.
    """
    scores = tuple(score for score in evaluation["scores"] if score.get("corrected"))
    reasons = [
        (note["message"].removeprefix(_NOT), title(score["metric"]))
        for score in evaluation["scores"]
        for note in score["notes"]
        if note["code"] == "not-corrected"
    ]
    if not scores and not reasons:
        return None
    assumed = [(text, title(one["metric"])) for one in scores for text in one["corrected"]["assumptions"]]
    notes = [(note["message"], title(one["metric"])) for one in scores for note in one["corrected"]["notes"]]
    ends = [one["corrected"]["interval"] for one in scores if one["corrected"]["interval"]]
    heads = dict.fromkeys("Bounds" if one["kind"] == "bounds" else f"{one['level']:.0%} interval" for one in ends)
    return Corrections(
        scores,
        " or ".join(heads) or "Interval",
        any(one["corrected"]["audited_alone"] is not None for one in scores),
        _with_metrics(assumed, len(scores)),
        _with_metrics(notes, len(scores)),
        _with_metrics(reasons, -1),
    )


def _with_metrics(found: Iterable[tuple[str, str]], everything: int) -> tuple[str, ...]:
    """Return each sentence once, after the metrics that it is about, unless it is about all."""
    about: dict[str, list[str]] = {}
    for text, metric in found:
        about.setdefault(text, []).append(metric)
    return tuple(
        text if len(set(metrics)) == everything else f"{', '.join(dict.fromkeys(metrics))}: {text}"
        for text, metrics in about.items()
    )
