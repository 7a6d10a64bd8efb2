"""What documents about classifiers share: names of measures, figures of estimates, assumptions."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from demele.core.signature import Signature
from demele.report.document import Mark, Strip, Strips
from demele.report.listing import Column, Thing
from demele.report.words import count, digits_for, ends, name, rate, written

if TYPE_CHECKING:
    from demele.classifiers.results import Estimate

#: What an interval on true labels allows for, by its kind.
_KINDS = {"worst-case": "worst case", "bias-union": "worst case", "shifted": "bias known", "design": "audit"}
_WORDS = {
    "f1": "F1", "macro-f1": "macro F1", "balanced-accuracy": "balanced accuracy", "matthews": "Matthews correlation",
}  # fmt: skip


def measure_of(measure: str, of: object = None, *, method: str = "") -> str:
    """Return what a measure is called in a sentence: ``accuracy``, ``precision of class cat``."""
    if method == "agreement":
        return "agreement with the reference"
    word = _WORDS.get(measure, measure)
    return word if of is None else f"{word} of class {name(of)}"


def true_labels_title(kinds: Iterable[str]) -> str:
    """Return the title of a column of intervals on true labels."""
    known = next((_KINDS[kind] for kind in kinds if kind in _KINDS), "")
    return f"True labels ({known})" if known else "True labels"


def estimate_columns(
    estimates: "Sequence[Estimate]", level: float, of: "Callable[[Thing], Estimate]"
) -> list[Column[Thing]]:
    """Return the columns of estimates, each of a thing: observed, its interval, and the interval on true labels."""
    whole = [one for one in estimates if one.of is None] or estimates
    digits = digits_for(ends(one.interval) for one in whole)
    form, kinds = f"percent.{digits}", [one.corrected.kind for one in estimates if one.corrected is not None]
    return [
        ("Observed", form, lambda thing: of(thing).value),
        (f"{rate(level)} interval", form, lambda thing: of(thing).interval),
        (true_labels_title(kinds), form, lambda thing: of(thing).corrected),
    ]


def estimate_strips(rows: "Iterable[tuple[str, Estimate]]", caption: str) -> Strips:
    """Return observed values with their intervals, and below them the intervals on true labels."""
    strips, series = [], {0: "observed, with its interval"}
    for title, one in rows:
        observed = [] if one.interval is None else [Mark("span", one.interval.low, one.interval.high)]
        true = [] if one.corrected is None else [Mark("span", one.corrected.low, one.corrected.high, 1)]
        series |= {1: "on true labels"} if true else {}
        strips.append(Strip(title, [*observed, Mark("dot", one.value), *true], written(one.value, "percent")))
    return Strips(caption, strips, "percent", series=series)


def rests_on(result: Any, audited: object = None) -> list[str]:
    """Return what was given otherwise, and what a result assumes."""
    said = {"method", "measure", "of", "level", "inference", "correction"}
    signature: Signature = result.signature
    given = [f"{key} = {value!r}" for key, value in signature.arguments.items() if key not in said]
    assumed = "; ".join(str(one).rstrip(".") for one in result.assumptions)
    return [
        f"Given: {'; '.join(given)}." if given else "",
        f"An expert labelled {count(int(str(audited)), 'row')}." if audited else "",
        f"Assumed: {assumed}." if assumed else "",
    ]
