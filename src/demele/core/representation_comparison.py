"""Scores of several representations, or models of several training runs, and which differences are significant."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from demele.core.comparison_documents import comparison_document
from demele.core.errors import UnknownNameError
from demele.core.later import Later
from demele.core.result import Result, page_of
from demele.core.results import Evaluation, Interval
from demele.core.sentences import short_words

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ModelScore", "RepresentationComparison", "ScoreDifference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """How much higher one representation, or model, scores than another by one metric.

    Attributes
    ----------
    metric, first, second : str
    value : float
        The score of ``second`` minus the one of ``first``; NaN where one is undefined.
    interval : Interval or None
        By itself, at the level of the comparison: of several such intervals some may miss.
    p_value : float
        Two-sided, against a difference of 0; NaN without an interval.
    ahead : str
        The one with the better value, significant or not; empty where none is known.
    better : str
        The one that is significantly better, at the family-wise level; empty where none is.
    fragile : bool
        Whether one of the two scores is fragile.
    exploratory : bool
        Whether other metrics were named as primary: the difference is then never significant together with others.
    reason : str
        Why there is no interval, and so no test; empty where there is one.
    """

    metric: str
    first: str
    second: str
    value: float
    interval: Interval | None = None
    p_value: float = math.nan
    ahead: str = ""
    better: str = ""
    fragile: bool = False
    exploratory: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        """Cut the overlong words of the reason, which come from data."""
        object.__setattr__(self, "reason", short_words(self.reason))

    @property
    def shown(self) -> bool:
        """Whether the difference is significant at the family-wise level."""
        return bool(self.better)

    @property
    def significance(self) -> Literal["together", "alone", "no"]:
        """``"together"`` with all others, ``"alone"`` where only the interval by itself excludes 0, or ``"no"``."""
        if self.shown:
            return "together"
        return "alone" if self.interval is not None and self.p_value <= 1 - self.interval.level else "no"

    def row(self) -> dict[str, object]:
        """Flat, in a fixed column order."""
        return {
            "metric": self.metric,
            "first": self.first,
            "second": self.second,
            "difference": self.value,
            "low": math.nan if self.interval is None else self.interval.low,
            "high": math.nan if self.interval is None else self.interval.high,
            "p_value": self.p_value,
            "shown": self.shown,
            "significance": self.significance,
            "ahead": self.ahead,
            "better": self.better,
            "fragile": self.fragile,
            "exploratory": self.exploratory,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    """One metric over the training runs of a model.

    ``interval`` is where the mean over all runs that could be trained would be, on these rows; None for a single run.
    """

    model: str
    metric: str
    values: tuple[float, ...]
    mean: float
    std: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepresentationComparison(Result):
    """Several representations of the same rows, side by side.

    Iterates over the evaluations; ``comparison["name"]`` is one of them.

    Attributes
    ----------
    evaluations : tuple of Evaluation
    differences : tuple of ScoreDifference
        Of each pair, by each metric. The error ``1 - level`` is shared by all that have an interval (by the primary
        ones, if some were named), by Holm's procedure: those that it rejects are significant together.
    level : float
        Level of every interval by itself, and of all that is significant together.
    models : mapping of str to tuple of str
        The names of the runs of each model; empty where no runs were named.
    model_scores : tuple of ModelScore
    paired_runs : bool
        Whether runs were paired by their place.
    """

    _kind = "representation comparison"
    _files: ClassVar[Mapping[str, str]] = {".scores.csv": "scores_frame"}

    evaluations: tuple[Evaluation, ...]
    differences: tuple[ScoreDifference, ...]
    level: float
    models: Mapping[str, tuple[str, ...]]
    model_scores: tuple[ModelScore, ...] = ()
    paired_runs: bool = False
    version: str = ""

    document = comparison_document

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the representations."""
        return tuple(each.name for each in self.evaluations)

    @property
    def unit(self) -> Literal["rows", "runs"]:
        """What intervals are over: rows of the same source, or training runs (with ``n_bootstrap``, rows too)."""
        return "runs" if self.models else "rows"

    def __getitem__(self, name: str) -> Evaluation:
        for evaluation in self.evaluations:
            if evaluation.name == name:
                return evaluation
        raise UnknownNameError(f"{name!r} is not among the representations: {', '.join(self.names)}")

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def to_frame(self) -> "pd.DataFrame":
        """One row per difference: ``metric``, ``first``, ``second``, ``difference`` (second - first), ``low``..."""
        import pandas as pd

        columns = list(ScoreDifference(metric="", first="", second="", value=0.0).row())
        return pd.DataFrame([each.row() for each in self.differences], columns=columns)

    def scores_frame(self) -> "pd.DataFrame":
        """One row per score: the frames of the evaluations below each other; with ``model``, where runs are named."""
        import pandas as pd

        frame = pd.concat([each.to_frame() for each in self.evaluations], ignore_index=True)
        if self.models:
            model_of = {run: model for model, runs in self.models.items() for run in runs}
            frame.insert(0, "model", frame["name"].map(model_of))
        return frame

    def to_html(self, path: str | Path, *, rows: int | None = None) -> Path:
        """Write one self-contained, interactive HTML page.

        Parameters
        ----------
        path : str or Path
        rows : int, optional
            Rows of the data that the page holds of each representation, to draw codes against factors; by default
            their share of 3,000, drawn at random, at most 1,500. 0: none.
        """
        most = 3_000 // len(self.evaluations) if rows is None else rows
        shown = [
            replace(each, later=Later(verdict=each.verdict, rows=each.rows and each.rows.first(most)))
            for each in self.evaluations
        ]
        return page_of(replace(self, evaluations=tuple(shown)), path)


def without_intervals(bootstrap: int) -> str:
    """Return why a difference over rows has no interval, if nothing else is known of it."""
    if bootstrap:
        return "too many half-samples could not be scored"
    return "no half-samples were asked for; pass `n_bootstrap=50`"
