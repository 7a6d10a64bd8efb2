"""Words and numbers of the pages about labels: percent, points, measures, methods; names are safe in HTML."""

import math
from collections.abc import Mapping
from html import escape
from typing import Any, Final, NamedTuple

from demele.report.words import DASH, named

__all__ = [
    "METHOD_WORDS",
    "MethodWords",
    "Span",
    "digits_for",
    "floor_percent",
    "labels_share",
    "level_text",
    "measure_of",
    "of_sentence",
    "percent",
    "percent_range",
    "points",
    "points_range",
    "probability",
    "span_of",
]


#: Two ends, either of which may be unknown.
Span = tuple[float | None, float | None]


class MethodWords(NamedTuple):
    """A comparison method: its title, its rule, and what the rule is worth."""

    title: str
    rule: str
    worth: str


#: By the name of the method; a test keeps the names those of the comparison methods.
METHOD_WORDS: Final[Mapping[str, MethodWords]] = {
    "classic": MethodWords(
        "Overlap of intervals",
        "Score intervals of both on the given labels; one is better if its interval lies wholly above the other's.",
        "Believes every label. It errs as often as the labels mislead.",
    ),
    "reference": MethodWords(
        "Overlap of intervals on true labels",
        "Score intervals of both on the true labels; one is better if its interval lies wholly above the other's.",
        "What the classic comparison would say without label noise.",
    ),
    "prudent-v1": MethodWords(
        "Prudent, largest bias",
        "The interval of the one is shifted by its most favourable bias, that of the other by its least "
        "favourable; then overlap.",
        "Safe if the noise is not larger than supplied; it leaves many true improvements undecided.",
    ),
    "prudent-v2": MethodWords(
        "Prudent, disagreements given to the established",
        "Among the hardest instances, where the two disagree, the true class is taken to be what the established one "
        "predicts; elsewhere the label. Then overlap of intervals.",
        "Safe if every wrong label is among the share of instances that is given away.",
    ),
    "cleaned": MethodWords(
        "Overlap of intervals after cleaning",
        "Suspect labels are dropped or replaced; then overlap of intervals.",
        "As good as the cleaning: wrong labels that stay, and right ones that go, mislead it.",
    ),
    "label-free": MethodWords(
        "Agreement with a reference classifier",
        "McNemar's test on the instances where just one of the two agrees with a third classifier.",
        "Keeps its level only if all three err independently of each other, which real classifiers do not.",
    ),
    "bounded": MethodWords(
        "Paired worst case",
        "Only disagreements can move the difference. The wrong labels that the noise allows are put where they hurt "
        "most; McNemar's exact test decides on the counts that are left.",
        "Errs at most at its level for every pattern of wrong labels within the noise supplied.",
    ),
    "audited": MethodWords(
        "Random sample of expert labels",
        "The difference on the given labels, corrected by what a random sample of expert labels shows of their "
        "errors; the way the sample was drawn gives the standard error.",
        "Errs at most at its level, as measured where it is weakest, if the audit is a random sample; when asked to be "
        "exact, by a theorem.",
    ),
    "sequential": MethodWords(
        "Expert labels one at a time",
        "Every expert label is a bet against the claim that the candidate is not better; the claim falls when the "
        "winnings pass the inverse of the error allowed.",
        "Errs at most at its level whatever the label noise, and whenever the audit stops.",
    ),
}


def measure_of(measure: str, of: object = None, *, method: str = "") -> str:
    """Name a measure for a sentence: ``accuracy``, ``precision for class cat``."""
    if method == "label-free":
        return "agreement with the reference classifier"
    word = {"f1": "F1"}.get(measure, measure)
    return escape(word) if of is None else f"{escape(word)} for class {named(of)}"


def digits_for(span: Span) -> int:
    """Return how many decimals of a percent are worth showing: as many as the width of an interval lets one trust.

    Examples
    --------
    >>> digits_for((0.019, 0.044)), digits_for((0.9121, 0.9178)), digits_for((None, None))
    (1, 2, 1)
    """
    low, high = span
    if low is None or high is None or high <= low:
        return 1
    width = 100 * (high - low)
    return 1 if width >= 1 else 2 if width >= 0.1 else 3


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as percent.

    Examples
    --------
    >>> percent(0.9123), percent(None)
    ('91.2%', '–')
    """
    return DASH if value is None or math.isnan(value) else f"{_fixed(100 * value, digits)}%"


def percent_range(span: Span, digits: int = 1) -> str:
    """Write an interval of shares, such as ``[88.0%, 94.4%]``; nothing if an end is missing."""
    low, high = span
    return "" if low is None or high is None else f"[{percent(low, digits)}, {percent(high, digits)}]"


def level_text(level: float) -> str:
    """Write a level as it was given, without needless decimals.

    Examples
    --------
    >>> level_text(0.95), level_text(1 - 0.95 / 2), level_text(0.999)
    ('95%', '52.5%', '99.9%')
    """
    return f"{100 * level:.10g}%"


def points(value: float | None, digits: int = 1, *, sign: bool = False) -> str:
    """Write a difference of shares in percentage points, without the word.

    Examples
    --------
    >>> points(0.031), points(-0.004, sign=True), points(0.004, sign=True)
    ('3.1', '−0.4', '+0.4')
    """
    if value is None or math.isnan(value):
        return DASH
    text = _fixed(100 * value, digits)
    return f"+{text}" if sign and float(text.replace("−", "-")) > 0 else text


def points_range(span: Span, digits: int = 1, *, sign: bool = False) -> str:
    """Write an interval of differences in points; nothing if an end is missing."""
    low, high = span
    if low is None or high is None:
        return ""
    return f"[{points(low, digits, sign=sign)}, {points(high, digits, sign=sign)}]"


def floor_percent(share: float) -> str:
    """Write how much a verdict bears: never more than it does.

    Examples
    --------
    >>> floor_percent(0.02299), floor_percent(0.0007), floor_percent(0.1299), floor_percent(0)
    ('2.29%', '0.07%', '12.9%', '0%')
    """
    if share <= 0:
        return "0%"
    digits = 1 if share >= 0.1 else 2 if share >= 0.0001 else 4
    # A hair is added for shares such as 0.023, whose hundredfold falls below 2.3 in binary.
    return f"{math.floor(share * 100 * 10**digits + 1e-9) / 10**digits:.{digits}f}%"


def labels_share(labels: int, n: int) -> str:
    """Write some labels as a share, rounded down, and as they are counted: ``2.30% of the labels (276 of 12,000)``."""
    return f"{floor_percent(labels / n)} of the labels ({labels:,} of {n:,})"


def probability(value: float | None) -> str:
    """Write a p-value.

    Examples
    --------
    >>> probability(0.03217), probability(0.00002), probability(None)
    ('0.032', '< 0.0001', '–')
    """
    if value is None or math.isnan(value):
        return DASH
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def of_sentence(text: str) -> str:
    """Return a text as a sentence: a capital first, a full stop last."""
    text = text.strip()
    if not text:
        return text
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def _fixed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def span_of(item: Mapping[str, Any] | None) -> Span:
    """Return the ends of an interval that may be missing."""
    return (None, None) if item is None else (item.get("low"), item.get("high"))
