"""What a comparison of two classifiers returns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from demele.core.result import Result, plain
from demele.core.results import Interval, Note
from demele.core.signature import Signature
from demele.evaluation.comparison.documents import decision_document
from demele.evaluation.results import Estimate, Verdict
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decision(Result):
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
    asked: Any = field(metadata={"json": False})

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
        """Which to use: the baseline, unless the candidate is significantly better."""
        return "candidate" if self.verdict == "candidate" else "baseline"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        parts = {key: plain(getattr(self, key)) for key in ("breakdown", "expert_breakdown", "details")}
        return {**super().to_dict(), **parts}

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each measure."""
        import pandas as pd

        rows = [
            {
                "baseline": one.names[0],
                "candidate": one.names[1],
                "measure": one.measure,
                "of": one.of,
                "verdict": one.verdict,
                "choice": one.choice,
                "difference": one.difference,
                "low": one.interval.low,
                "high": one.interval.high,
                "inference": one.inference,
                "level": one.level,
                "p_value": one.p_value,
                "breakdown_rate": math.nan if one.breakdown is None else one.breakdown.rate,
                "method": one.method,
                "n": one.n,
            }
            for one in (self, *self.others)
        ]
        return pd.DataFrame(rows)

    def document(self) -> Document:
        """Return what the decision says: figures, tables and sentences."""
        return decision_document(self)
