"""The parts of a forecast of audits: what audits of one design and size would show, and what can be settled at all."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Counts, Floats, Rows
from demele.core.labelled import Indices, Labelled
from demele.noise.audit import CodedAudit

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
    def of(cls, verdicts: Counts, half_widths: Floats, **named: Any) -> "AuditProspect":
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
        Labels by which half and 80% of the sequential comparisons have a verdict; infinite if they never do, NaN if
        these were not simulated.
    """

    baseline: str
    candidate: str
    world: str
    settled_by_all: float
    for_candidate_by_all: float
    labels_half: float
    labels_most: float

    @classmethod
    def of(cls, verdicts: Counts, labels: Floats, **named: Any) -> "PairOutlook":
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


# True classes that may stand behind given labels: what an audit is planned for, before an expert has seen a row -------


#: Where wrong labels are: on any row alike, or half of them where they speak for the model that leads.
Side = Literal["anywhere", "leader", "audit"]


@dataclass(frozen=True, slots=True)
class World:
    """One assumption on the wrong labels.

    Attributes
    ----------
    name : str
        In words, such as ``"5% wrong, anywhere"``.
    rate : float
        Share of wrong labels; for ``"audit"``, as the audit estimates it.
    side : {"anywhere", "leader", "audit"}
        ``"anywhere"``: on all rows equally often, with any other class as the true one. ``"leader"``: half of them so,
        the other half on rows whose label repeats the leading model, with a contradicting model correct. ``"audit"``:
        at the rates of an audit, by stratum, with their uncertainty.
    """

    name: str
    rate: float
    side: Side


def assumed_worlds(rates: tuple[float, ...]) -> tuple[World, ...]:
    """Return the worlds for some shares of wrong labels: with these anywhere, and with half of them for the leader."""
    found = []
    for rate in rates:
        if rate == 0:
            found.append(World("no label wrong", 0.0, "anywhere"))
            continue
        found.append(World(f"{100 * rate:g}% wrong, anywhere", rate, "anywhere"))
        found.append(World(f"{100 * rate:g}% wrong, half for the leader", rate, "leader"))
    return tuple(found)


class Truths:
    """Draws true classes of all rows of a test set, world by world.

    Parameters
    ----------
    data : Labelled
    audit : CodedAudit, optional
        What an expert said already: these rows are known in every draw, and the other wrong labels are like theirs.
    """

    def __init__(self, data: Labelled, audit: CodedAudit | None = None) -> None:
        self.data, self.audit = data, audit
        right = data.predictions == data.labels
        self._leader = int(np.argmax(right.sum(axis=1)))
        agree = right.sum(axis=0)
        self._contradicted = np.flatnonzero(right[self._leader] & (agree < len(right)))
        #: 0: all models say what the label does; 1: the leader and some; 2: some, not the leader; 3: none.
        self._strata = np.select([agree == len(right), right[self._leader], agree > 0], [0, 1, 2], 3)

    def drawn(self, world: World, rng: np.random.Generator) -> Indices:
        """Return true classes, of shape (n,)."""
        if self.audit is not None:
            return self._after_audit(self.audit, rng)
        truth = self.data.labels.copy()
        anywhere = world.rate / 2 if world.side == "leader" else world.rate
        wrong = rng.random(truth.size) < anywhere
        truth[wrong] = self._other_class(np.flatnonzero(wrong), rng)
        if world.side == "leader":
            size = min(round(world.rate / 2 * truth.size), self._contradicted.size)
            rows = rng.choice(self._contradicted, size, replace=False)
            truth[rows] = self._predicted_instead(rows, rng)
        return truth

    def _after_audit(self, audit: CodedAudit, rng: np.random.Generator) -> Indices:
        """Draw from what the audit leaves open.

        The share of wrong labels of each stratum has a Beta posterior; its prior is worth half a wrong label, at the
        rate of the whole audit. Whether a wrong label is truly what a model says, is drawn likewise.
        """
        rows, expert = audit.rows, audit.labels
        mistaken = expert != self.data.labels[rows]
        overall = (mistaken.sum() + 0.5) / (rows.size + 1)
        truth = self.data.labels.copy()
        for stratum in range(4):
            here = self._strata[rows] == stratum
            found = int((mistaken & here).sum())
            share = rng.beta(0.5 + found, 0.5 / overall - 0.5 + int(here.sum()) - found)
            members = np.flatnonzero(self._strata == stratum)
            wrong = members[rng.random(members.size) < share]
            if stratum == 0:
                truth[wrong] = self._other_class(wrong, rng)
                continue
            seen = rows[mistaken & here]
            by_models = int((self.data.predictions[:, seen] == expert[mistaken & here]).any(axis=0).sum())
            instead = rng.random(wrong.size) < rng.beta(0.5 + by_models, 0.5 + seen.size - by_models)
            truth[wrong[instead]] = self._predicted_instead(wrong[instead], rng)
            truth[wrong[~instead]] = self._other_class(wrong[~instead], rng)
        truth[rows] = expert
        return truth

    def _other_class(self, rows: Rows, rng: np.random.Generator) -> Indices:
        """Return any class but the given one, with equal probability."""
        k = self.data.k
        moved: Indices = ((self.data.labels[rows] + rng.integers(1, k, rows.size)) % k).astype(np.int32)
        return moved

    def _predicted_instead(self, rows: Rows, rng: np.random.Generator) -> Indices:
        """Return the prediction of a random model that contradicts the label; every row has one."""
        expert = self.data.predictions[:, rows]
        chances = np.where(expert != self.data.labels[rows], rng.random(expert.shape), -1.0)
        found: Indices = expert[chances.argmax(axis=0), np.arange(rows.size)].astype(np.int32)
        return found
