"""What judging classifiers returns: estimates and decisions, frozen, with all that they rest on."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from demele.core.labelled import ALL_CORRECT
from demele.core.results import Interval, Note
from demele.core.shown import Shown
from demele.core.signature import Signature
from demele.core.written import ForPapers, Published, floor_percent, plain

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
#: Measures of two classes, one of them the positive one.
OF_POSITIVE = ("sensitivity", "specificity", "PPV", "NPV")
Verdict = Literal["baseline", "candidate", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One measure of one classifier, as the labels show it and as it may really be.

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
        return {
            "measure": self.measure,
            "of": self.of,
            "value": self.value,
            "trials": self.trials,
            "low": math.nan if self.interval is None else self.interval.low,
            "high": math.nan if self.interval is None else self.interval.high,
            "bias_low": math.nan if self.bias is None else self.bias[0],
            "bias_high": math.nan if self.bias is None else self.bias[1],
            "corrected_low": math.nan if self.corrected is None else self.corrected.low,
            "corrected_high": math.nan if self.corrected is None else self.corrected.high,
            "kind": None if self.corrected is None else self.corrected.kind,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        data: dict[str, Any] = plain(asdict(self))
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """How much label noise a verdict can bear: the largest number of wrong labels under which it still stands.

    Holds with no assumption on where the wrong labels are. ``labels`` is -1 if the verdict does not stand even when
    every label is right (it then rests on more than the labels, such as an audit).
    """

    labels: int
    n: int

    @property
    def rate(self) -> float:
        """The same as a share of all labels; NaN if there is none."""
        return self.labels / self.n if self.labels >= 0 else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertBreakdown:
    """How often the expert may be wrong where the two disagree while the verdict stands, wherever that is.

    Attributes
    ----------
    labels : int
        Of the labels that the expert would give to all disagreements.
    disagreements : int
        Rows on which the two disagree.
    """

    labels: int
    disagreements: int

    @property
    def rate(self) -> float:
        """The same as a share of the disagreements: the largest ``expert_error`` that leaves the verdict."""
        return self.labels / self.disagreements


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision(Published, ForPapers, Shown):
    """What a comparison says, and on what it rests.

    Attributes
    ----------
    verdict : {"baseline", "candidate", "inconclusive"}
        Which is shown to be better, if any.
    difference : float
        Candidate minus baseline, in the unit of the measure (for ``"error"``, more is worse), as the method
        estimates it.
    interval : Interval
        Of that difference; its kind and method say how it was made.
    baseline, candidate : Estimate
        Each by itself, before and after correction.
    breakdown : Breakdown or None
        For a verdict on accuracy: how many wrong labels it bears, wherever they are. Of an audited or sequential
        verdict: how many the given labels would bear that show the same without the audit.
    expert_breakdown : ExpertBreakdown or None
        For a verdict on accuracy that rests on an expert: how many of the expert's labels may be wrong.
    inference : {"population", "test_set", "overlap"}
        What "better" means: on new instances, on these with right labels, or beyond the overlap of intervals on those.
    others : tuple of Decision
        On the further measures that were asked for, each at its own level.
    p_value : float
        For "the candidate is not better"; NaN where the method gives none.
    estimate_interval : Interval or None
        With ``errors="undirected"``: of the same difference, if wrong labels do not side with one of the two. It stands
        beside ``interval`` and decides nothing.
    assumptions : tuple of str
        What must hold for the verdict to keep its level, in sentences.
    """

    _page = "decision"
    _kind = "decision"

    verdict: Verdict
    difference: float
    interval: Interval
    baseline: Estimate
    candidate: Estimate
    method: str
    measure: str
    of: int | str | None
    inference: str
    level: float
    n: int
    names: tuple[str, str]
    assumptions: tuple[str, ...]
    others: "tuple[Decision, ...]" = ()
    p_value: float = math.nan
    estimate_interval: Interval | None = None
    notes: tuple[Note, ...] = ()
    signature: Signature
    asked: Any = field(repr=False)

    @cached_property
    def breakdown(self) -> Breakdown | None:
        """How many wrong labels the verdict holds up to."""
        found: Breakdown | None = self.asked.breakdown()
        return found

    @cached_property
    def expert_breakdown(self) -> ExpertBreakdown | None:
        """How many wrong labels of the expert the verdict holds up to."""
        found: ExpertBreakdown | None = self.asked.expert_breakdown()
        return found

    @cached_property
    def details(self) -> Mapping[str, Any]:
        """Disagreements by class, what an audit would show, and quantities of the method."""
        found: dict[str, Any] = self.asked.details()
        return found

    @property
    def choice(self) -> Literal["baseline", "candidate"]:
        """Which to use: the baseline, unless the candidate is shown to be better."""
        return "candidate" if self.verdict == "candidate" else "baseline"

    def row(self) -> dict[str, Any]:
        """Flat, in a fixed order of columns."""
        return {
            "baseline": self.names[0],
            "candidate": self.names[1],
            "measure": self.measure,
            "of": self.of,
            "verdict": self.verdict,
            "choice": self.choice,
            "difference": self.difference,
            "low": self.interval.low,
            "high": self.interval.high,
            "inference": self.inference,
            "level": self.level,
            "p_value": self.p_value,
            "breakdown_rate": math.nan if self.breakdown is None else self.breakdown.rate,
            "method": self.method,
            "n": self.n,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        data = {
            "kind": "decision",
            "demele": dict(self.signature.context).get("demele"),
            **self.row(),
            "names": self.names,
            "interval": asdict(self.interval),
            "estimate_interval": None if self.estimate_interval is None else asdict(self.estimate_interval),
            "baseline": self.baseline.to_dict(),
            "candidate": self.candidate.to_dict(),
            "breakdown": None if self.breakdown is None else {**asdict(self.breakdown), "rate": self.breakdown.rate},
            "expert_breakdown": None
            if self.expert_breakdown is None
            else {**asdict(self.expert_breakdown), "rate": self.expert_breakdown.rate},
            "assumptions": self.assumptions,
            "notes": [asdict(note) for note in self.notes],
            "details": dict(self.details),
            "signature": str(self.signature),
            "others": [one.to_dict() for one in self.others],
        }
        cleaned: dict[str, Any] = plain(data)
        return cleaned

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the difference with its interval, against 0, in points, with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; in a figure of its own if None.

        Returns
        -------
        matplotlib.axes.Axes
            Its ``figure`` can be saved.

        Raises
        ------
        MissingExtraError
            Without matplotlib (``demele[pictures]``).
        NotEnoughData
            If the difference is undefined.
        """
        return self._drawn(ax)

    def __repr__(self) -> str:
        what = self.measure if self.of is None else f"{self.measure} of {self.of!r}"
        bears = ""
        if self.breakdown is not None and self.breakdown.labels >= 0:
            # Beside an audit the verdict rests on it; what is counted is what the given labels alone would bear.
            alone = "the labels without the audit bear" if self.method in ("audit", "sequential") else "bears"
            bears = f", {alone} {floor_percent(self.breakdown.rate)} wrong"
            bears += "" if self.method in ("audit", "sequential") else " labels"
        trusted = (
            ", if all labels are correct" if ALL_CORRECT in self.assumptions and self.verdict != "inconclusive" else ""
        )
        return (
            f"Decision({self.verdict}{trusted}: {what} of {self.names[1]} - {self.names[0]} = {self.difference:+.4f} "
            f"{self.interval}, {self.method}, n={self.n}{bears})"
        )
