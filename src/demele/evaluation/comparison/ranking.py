"""What ranking several classifiers returns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, quoted
from demele.core.names import checked_name
from demele.core.result import Result, plain
from demele.core.results import Note
from demele.core.signature import Signature
from demele.evaluation.comparison.breakdown import breakdown
from demele.evaluation.comparison.decision import AskedPairs, Decision, decision
from demele.evaluation.comparison.ranking_documents import MOST_MODELS, ranking_document
from demele.evaluation.question import Outcomes
from demele.evaluation.results import Estimate
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd


Flags = NDArray[np.bool_]
Correction = Literal["holm", "bonferroni", "none"]


def _single(outcomes: Outcomes, pair: int) -> Outcomes:
    """Keep what was said of one pair."""
    size = outcomes.difference.shape[0]

    def part(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.shape[:1] == (size,):
            return value[pair : pair + 1]
        if isinstance(value, Mapping):
            return {name: part(one) for name, one in value.items()}
        return tuple(map(part, value)) if isinstance(value, tuple) else value

    return replace(outcomes, **{one.name: part(getattr(outcomes, one.name)) for one in fields(outcomes)})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(Result):
    """Several classifiers in the order of their estimates, with the significant differences.

    Attributes
    ----------
    names : tuple of str
        Best estimate first; everything per model is in this order.
    estimates : tuple of Estimate
        Each by itself.
    leads : tuple of float
        By which the models are sorted: the mean of the estimated differences to the others, as the method makes them,
        in [-1, 1]; more is better for every measure. Of equal ones, the better on the given labels comes first.
    best_rank, worst_rank : tuple of int
        The true rank of a model lies between them, for all models together with probability ``level`` at least, as
        far as the assumptions hold. Rank 1 is best; rank = 1 + number of models that are truly better.
    pairs : DataFrame
        One row per ordered pair, with the columns of :meth:`demele.evaluation.Decision.row` and how many labels of the
        disagreements say ``lost`` (baseline), ``won`` (candidate) or ``neither``. ``level`` is that of each pair,
        made strict enough for all verdicts to hold together; ``p_value`` is not adjusted.
    reference : DataFrame or None
        The same pairs decided on true labels.
    level : float
        All verdicts hold together with this probability at least.
    correction : {"holm", "bonferroni", "none"}
        How the pairs share the error 1 - level; with ``"none"`` each pair has it for itself.
    """

    _kind = "ranking"

    names: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    leads: tuple[float, ...]
    best_rank: tuple[int, ...]
    worst_rank: tuple[int, ...]
    method: str
    measure: str
    of: int | str | None
    level: float
    pair_level: float
    correction: Correction
    n: int
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature
    title: str | None = None
    asked: AskedPairs = field(metadata={"json": False})
    on_true_labels: AskedPairs | None = field(default=None, metadata={"json": False})

    @cached_property
    def pairs(self) -> "pd.DataFrame":
        """One row for each ordered pair."""
        return _frame(self.asked, self.measure)

    @cached_property
    def reference(self) -> "pd.DataFrame | None":
        """The same pairs on true labels."""
        return None if self.on_true_labels is None else _frame(self.on_true_labels, self.measure)

    def decision(self, baseline: str, candidate: str) -> Decision:
        """Return the whole decision on one ordered pair, at the level of each pair.

        Raises
        ------
        UnknownNameError
            If there is no such model.
        InputError
            If both are the same.
        """
        for name in (baseline, candidate):
            checked_name(name, "models", self.names)
        if baseline == candidate:
            raise InputError(f"expected two different models, got {quoted(baseline)} twice")
        question, names = self.asked.question, self.asked.question.data.names
        first, second = names.index(baseline), names.index(candidate)
        pair = int(np.flatnonzero((question.baseline == first) & (question.candidate == second))[0])
        one = replace(question, baseline=np.array([first]), candidate=np.array([second]))
        return decision(self.asked.spec, one, _single(self.asked.outcomes, pair), measure=self.measure)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Largest runs of neighbours in the order without a significant difference; they may overlap."""
        place = {name: position for position, name in enumerate(self.names)}
        better = np.zeros((len(place), len(place)), dtype=np.bool_)
        won = self.pairs[self.pairs["verdict"] == "candidate"]
        better[won["baseline"].map(place), won["candidate"].map(place)] = True
        known = implied(better)
        decided = known | known.T
        runs: list[tuple[str, ...]] = []
        end = 0
        for start in range(len(self.names)):
            stop = start + 1
            while stop < len(self.names) and not decided[stop, start:stop].any():
                stop += 1
            if stop > end:  # else it lies within the run before
                runs.append(self.names[start:stop])
                end = stop
        return tuple(runs)

    def to_frame(self) -> "pd.DataFrame":
        """One row per model, best estimate first."""
        import pandas as pd

        rows = zip(self.names, self.best_rank, self.worst_rank, self.leads, self.estimates, strict=True)
        return pd.DataFrame(
            [
                {"model": name, "best_rank": best, "worst_rank": worst, "lead": lead, **one.row()}
                for name, best, worst, lead, one in rows
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        return {**super().to_dict(), **{key: plain(getattr(self, key)) for key in ("groups", "pairs", "reference")}}

    def _page_data(self) -> dict[str, Any]:
        """Return what a page offers to download: without the pairs, if these are more than a page can hold."""
        return self.to_dict() if len(self.names) <= MOST_MODELS else super().to_dict()

    def document(self) -> Document:
        """Return the document: figures, tables and sentences."""
        return ranking_document(self)


def _frame(asked: AskedPairs, measure: str) -> "pd.DataFrame":
    """Every ordered pair, with the columns of a decision's row."""
    import pandas as pd

    question, outcomes, data = asked.question, asked.outcomes, asked.question.data
    names = np.array(data.names, dtype=object)
    verdict = np.where(outcomes.candidate, "candidate", np.where(outcomes.baseline, "baseline", "inconclusive"))
    sign = -1.0 if measure == "error" else 1.0
    ends = np.stack([sign * outcomes.low, sign * outcomes.high])
    counts = question.counts()
    holds = np.full(question.n_pairs, math.nan)
    if question.measure == "accuracy":
        labels = np.asarray(breakdown(question, asked.spec, outcomes=outcomes), dtype=np.float64)
        holds = np.where((verdict == "inconclusive") | (labels < 0), math.nan, labels / data.n)
    return pd.DataFrame(
        {
            "baseline": names[question.baseline],
            "candidate": names[question.candidate],
            "measure": measure,
            "of": question.class_of(measure),
            "verdict": verdict.astype(object),
            "choice": np.where(outcomes.candidate, "candidate", "baseline").astype(object),
            "difference": sign * outcomes.difference,
            "low": ends.min(axis=0),
            "high": ends.max(axis=0),
            "level": question.level,
            "p_value": math.nan if outcomes.p_value is None else outcomes.p_value,
            "breakdown_rate": holds,
            "method": asked.spec.name,
            "n": data.n,
            "lost": counts.lost,
            "won": counts.won,
            "neither": counts.neither,
        }
    )


def rank_ranges(better: Flags) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the best and the worst rank of each model, from who is shown to be better, and what follows from it.

    Parameters
    ----------
    better : array of bool, shape (n_models, n_models)
        ``better[i, j]``: j is shown to be better than i.
    """
    known = implied(better)
    return 1 + known.sum(axis=1), known.shape[0] - known.sum(axis=0)


def implied(better: Flags) -> Flags:
    """Add what claims imply: if j is better than i and k better than j, then k is better than i (Warshall 1962).

    The true order is transitive, so what follows from true claims is true: nothing is paid for it. Claims that
    contradict each other, in a circle, are dropped.
    """
    known = better.copy()
    for middle in range(known.shape[0]):
        known |= known[:, [middle]] & known[[middle], :]
    return np.asarray(known & ~known.T)


def square(values: NDArray[Any], m: int) -> NDArray[Any]:
    """Per-pair values as a square (baseline, candidate), with zeros on its diagonal."""
    square = np.zeros((m, m), dtype=values.dtype)
    square[~np.eye(m, dtype=np.bool_)] = values
    return square
