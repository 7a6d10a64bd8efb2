"""The parts of a forecast of audits: what audits of one design and size would show, and what can be settled at all."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

ForecastDesign = Literal["uniform", "weighted", "sequential"]

#: A size settles a comparison if this share of the simulated audits do.
ENOUGH = 0.8
#: Where fewer audits of all rows than this share would settle it, the difference is within what no audit decides.
HOPELESS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProspect:
    """What audits of one design and size would show of one pair, under one assumption.

    Attributes
    ----------
    baseline, candidate : str
        The candidate is the one that the given labels put ahead.
    world : str
        Name of the assumption.
    design : {"uniform", "weighted", "sequential"}
    rows : int
        Labels of the expert.
    settled : float
        Share of the simulated audits that show one of the two to be better.
    for_candidate : float
        Share that show the candidate to be better.
    error : float
        Standard error of ``settled``, by (settled draws + 1) / (draws + 2).
    half_width : float
        Mean half width of the interval of the difference; NaN for a sequential one, which stops at the verdict.
    """

    baseline: str
    candidate: str
    world: str
    design: ForecastDesign
    rows: int
    settled: float
    for_candidate: float
    error: float
    half_width: float

    @classmethod
    def of(cls, verdicts: NDArray[np.int64], half_widths: NDArray[np.float64], **named: Any) -> "AuditProspect":
        """Count verdicts of shape (draws,): 1 for the candidate, -1 for the baseline, 0 for neither."""
        draws, settled = verdicts.size, int(np.count_nonzero(verdicts))
        drawn = (settled + 1) / (draws + 2)
        return cls(
            settled=settled / draws,
            for_candidate=int(np.count_nonzero(verdicts > 0)) / draws,
            error=math.sqrt(drawn * (1 - drawn) / (draws + 2)),
            half_width=float(half_widths.mean()),
            **named,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutlook:
    """What can be settled of one pair at all, under one assumption.

    Attributes
    ----------
    baseline, candidate, world : str
    settled_by_all : float
        Share of the draws in which labels of all rows would settle it.
    for_candidate_by_all : float
        Share in which they would show the candidate to be better.
    labels_half, labels_most : float
        Labels by which half and 80% of the sequential comparisons have a verdict; infinite if they never do.
    """

    baseline: str
    candidate: str
    world: str
    settled_by_all: float
    for_candidate_by_all: float
    labels_half: float
    labels_most: float

    @classmethod
    def of(cls, verdicts: NDArray[np.int64], labels: NDArray[np.float64], **named: Any) -> "PairOutlook":
        """Summarise verdicts on all rows, and labels until a sequential verdict; both of shape (draws,)."""
        ordered = np.sort(labels)
        half, most = (float(ordered[math.ceil(share * labels.size) - 1]) for share in (0.5, ENOUGH))
        return cls(
            settled_by_all=int(np.count_nonzero(verdicts)) / verdicts.size,
            for_candidate_by_all=int(np.count_nonzero(verdicts > 0)) / verdicts.size,
            labels_half=half,
            labels_most=most,
            **named,
        )

    @property
    def hopeless(self) -> bool:
        """Whether not even labels of all rows would settle it."""
        return self.settled_by_all < HOPELESS

    @property
    def winner(self) -> str:
        """Whom labels of all rows would show to be better, where they settle it; empty where now one, now the other."""
        share = self.for_candidate_by_all / self.settled_by_all if self.settled_by_all else 0.5
        return self.candidate if share >= ENOUGH else self.baseline if share <= 1 - ENOUGH else ""
