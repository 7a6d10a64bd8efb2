"""What every judgement of classifiers returns: estimates, ranges of ranks, and tiers."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from demele.core.arrays import Flags, Rows
from demele.core.kinds import checked_name
from demele.core.result import Interval, Note, TableResult
from demele.core.signature import Signature
from demele.report.document import Mark, Strip, Strips
from demele.report.listing import Column, Thing
from demele.report.words import count, digits_for, ends, name, rate, written

Measure = Literal[
    "accuracy",
    "error",
    "precision",
    "recall",
    "f1",
    "macro-f1",
    "balanced-accuracy",
    "matthews",
    "sensitivity",
    "specificity",
    "PPV",
    "NPV",
]
Verdict = Literal["baseline", "candidate", "inconclusive"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One measure of one classifier: observed on the labels, and corrected.

    Attributes
    ----------
    measure : str
        As in :func:`compare`.
    of : int, str or None
        The class, or ``"macro"``, ``"weighted"``, ``"micro"``; None for measures of all classes.
    value : float
        Against the given labels; NaN where undefined (no instance predicted or labelled so).
    successes, trials : float
        The proportion that the interval is of; for f1 the Jaccard index (f1 = 2 J / (1 + J)). NaN for averages and the
        other measures of all classes.
    interval : Interval or None
        What other instances with labels of the same quality would have given.
    bias : tuple of float (low, high) or None
        Observed minus correct: exact if both are equal, else bounds; None if nothing is known of the noise.
    corrected : Interval or None
        For the correct measure. Its kind: ``"shifted"`` (bias known), ``"bias-union"`` (bias bounded), ``"design"``
        (from an audit).
    """

    measure: str
    of: int | str | None
    value: float
    successes: float = math.nan
    trials: float = math.nan
    interval: Interval | None = None
    bias: tuple[float, float] | None = None
    corrected: Interval | None = None

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns; NaN where there is nothing."""
        row: dict[str, Any] = {name: getattr(self, name) for name in ("measure", "of", "value", "trials")}
        for before, span in (("", ends(self.interval)), ("bias_", self.bias), ("corrected_", ends(self.corrected))):
            row[f"{before}low"], row[f"{before}high"] = span or (math.nan, math.nan)
        return row | {"kind": None if self.corrected is None else self.corrected.kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEstimate:
    """One number with its name.

    Attributes
    ----------
    name : str
        Of a system, of a difference ("B - A"), of a slice, of a covariate.
    value : float
        By the given labels; NaN where there is none.
    interval : Interval or None
        What other rows with labels of the same quality would have given.
    corrected_value : float
        The estimate on true labels; NaN where the labels only bound it.
    corrected : Interval or None
        For the value on true labels.
    p_value : float
        Two-sided, that it is 0; NaN where nothing is tested.
    n : int
        Rows that it was computed from.
    """

    name: str
    value: float
    interval: Interval | None = None
    corrected_value: float = math.nan
    corrected: Interval | None = None
    p_value: float = math.nan
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NamedEstimates(TableResult):
    """Numbers of one kind, each with its name.

    Attributes
    ----------
    measure : str
        What they are.
    rows : tuple of NamedEstimate
    level : float
        Of each interval by itself.
    assumptions : tuple of str
        What must hold, and what the data cannot show.
    notes : tuple of Note
    signature : Signature
    """

    _kind, _rows = "table of estimates", "rows"
    _figure: ClassVar[str] = "value"

    measure: str
    rows: tuple[NamedEstimate, ...]
    level: float
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    signature: Signature

    def __getitem__(self, key: str) -> NamedEstimate:
        return {row.name: row for row in self.rows}[checked_name(key, "name", [row.name for row in self.rows])]

    def headline(self) -> str:
        """Return the first number, and the significant ones among those that are tested."""
        first = self.rows[0]
        span = "" if first.interval is None else f" {written(ends(first.interval))}"
        known = [f"{name(first.name)} {written(first.value)}{span}"]
        if first.corrected is not None or not math.isnan(first.corrected_value):
            parts = [] if math.isnan(first.corrected_value) else [written(first.corrected_value)]
            parts += [] if first.corrected is None else [written(ends(first.corrected))]
            known.append(f"on true labels {' '.join(parts)}")
        tested = [row for row in self.rows if not math.isnan(row.p_value)]
        if len(tested) == 1:
            where = "" if tested[0] is first else f"{name(tested[0].name)}: "
            known.append(f"{where}p = {written(tested[0].p_value, 'p')}".replace("= <", "<"))
        elif tested:
            found = ", ".join(name(row.name) for row in tested if row.p_value <= 1 - self.level)
            known.append(f"significant: {found or 'none'} (of {count(len(tested), 'test')})")
        return f"{self.measure}: {'; '.join(known)}."


# Ranges of ranks, and tiers of systems, from all pairs that differ significantly --------------------------------------


#: Up to so many models, pages list every pair.
MOST_MODELS = 50


def rank_ranges(better: Flags) -> tuple[Rows, Rows]:
    """Return the best and the worst rank of each model, from who is shown to be better, with what follows from it.

    Parameters
    ----------
    better : array of bool, shape (n_models, n_models)
        ``better[i, j]``: j is shown to be better than i.
    """
    return 1 + better.sum(axis=1), better.shape[0] - better.sum(axis=0)


def tiers(names: tuple[T, ...], better: Flags) -> tuple[tuple[T, ...], ...]:
    """Cut an order into parts: one ends before the first model that is shown to be worse than the part's first."""
    starts = [0]
    for place in range(1, len(names)):
        if better[place, starts[-1]]:
            starts.append(place)
    return tuple(names[start:end] for start, end in itertools.pairwise([*starts, len(names)]))


def implied(better: Flags) -> Flags:
    """Add what claims imply: if j is better than i and k better than j, then k is better than i (Warshall 1962).

    The true order is transitive, so what follows from true claims is true: nothing is paid for it. Claims that
    contradict each other, in a circle, are dropped.
    """
    known = better.copy()
    for middle in range(known.shape[0]):
        known[known[:, middle]] |= known[middle]
    return np.asarray(known & ~known.T)


def rank_text(best: int, worst: int) -> str:
    """Write the ranks that a model may have.

    Examples
    --------
    >>> rank_text(1, 1), rank_text(2, 4)
    ('1', '2-4')
    """
    return str(best) if best == worst else f"{best}-{worst}"


# Estimates in tables, pictures and sentences --------------------------------------------------------------------------

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
    estimates: Sequence[Estimate], level: float, of: Callable[[Thing], Estimate]
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


def estimate_strips(rows: Iterable[tuple[str, Estimate]], caption: str) -> Strips:
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
