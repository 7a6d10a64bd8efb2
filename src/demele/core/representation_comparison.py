"""Scores of several representations, or models of several training runs, and which differences are significant."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from demele.core.errors import UnknownNameError
from demele.core.publish import publish
from demele.core.results import Evaluation, Interval
from demele.core.sentences import give, marked, sentence, setting
from demele.core.shown import Tabled
from demele.core.verdict import listed
from demele.core.written import ForPapers, Written, plain

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
        """Keep what the reason marks, for readers who do not write Python."""
        object.__setattr__(self, "reason", sentence(self.reason))

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepresentationComparison(Tabled, Written, ForPapers):
    """Several representations of the same rows, side by side.

    Iterates over the evaluations; ``comparison["name"]`` is one of them.

    Attributes
    ----------
    evaluations : tuple of Evaluation
    differences : tuple of ScoreDifference
        Of each pair, by each metric. The error ``1 - level`` is shared by all that have an interval (by the primary
        ones, if some were named), by Holm's procedure: those that it rejects are significant together.
    level : float
        Of every interval by itself, and of all that is significant together.
    models : mapping of str to tuple of str
        The names of the runs of each model; empty where no runs were named.
    model_scores : tuple of ModelScore
    paired_runs : bool
        Whether runs were paired by their place.
    """

    evaluations: tuple[Evaluation, ...]
    differences: tuple[ScoreDifference, ...]
    level: float
    models: Mapping[str, tuple[str, ...]]
    model_scores: tuple[ModelScore, ...] = ()
    paired_runs: bool = False
    version: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the representations."""
        return tuple(each.name for each in self.evaluations)

    @property
    def unit(self) -> Literal["rows", "runs"]:
        """What intervals are over: rows of the same source, or training runs (with ``bootstrap``, rows too)."""
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

    @property
    def sentence(self) -> str:
        """How many differences are significant, together and alone."""
        return sentence(_whole(self))

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many differences are significant; which, pair by pair; then why some have no interval."""
        known = any(each.interval is not None for each in self.differences)
        pairs = dict.fromkeys((each.first, each.second) for each in self.differences if known)
        told = [_of_pair([each for each in self.differences if (each.first, each.second) == pair]) for pair in pairs]
        reasons: dict[str, dict[str, None]] = {}
        for each in self.differences:
            if each.reason:
                reasons.setdefault(marked(each.reason), {})[each.metric] = None
        told += [f"No interval for {listed(metrics, 8)}: {reason}." for reason, metrics in reasons.items()]
        return tuple(sentence(each) for each in (_whole(self), *told, *_cautions(self)))

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

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        data: dict[str, Any] = {
            "kind": "representation comparison",
            "demele": self.version,
            "level": self.level,
            "unit": self.unit,
            "sentence": self.sentence,
            "sentences": self.sentences,
            "paired_runs": self.paired_runs,
            "models": self.models,
            "model_scores": [
                {
                    "model": each.model,
                    "metric": each.metric,
                    "values": each.values,
                    "mean": each.mean,
                    "std": each.std,
                    "interval": _ends(each.interval),
                }
                for each in self.model_scores
            ],
            "differences": [
                {**each.row(), "method": each.interval and each.interval.method} for each in self.differences
            ],
        }
        return {**plain(data), "evaluations": [each.to_dict() for each in self.evaluations]}

    def to_html(self, path: str | Path, *, title: str | None = None, rows: int | None = None) -> Path:
        """Write one self-contained, interactive HTML page.

        Parameters
        ----------
        path : str or Path
        title : str, optional
            Heading of the page.
        rows : int, optional
            Rows of the data that the page holds of each representation, to draw codes against factors; by default
            their share of 3,000, drawn at random, at most 1,500. 0: none.
        """
        most = 3_000 // len(self.evaluations) if rows is None else rows
        contents = [each.to_content(rows=most) for each in self.evaluations]
        written: Path = publish("evaluation", contents, path, title=title, comparison=self.to_dict())
        return written

    def __repr__(self) -> str:
        lines = [f"RepresentationComparison of {listed(self.names)}: n={self.evaluations[0].n}"]
        lines += [f"  {words}" for words in self.sentences]
        return "\n".join(lines)


def _ends(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {name: getattr(interval, name) for name in ("low", "high", "level", "method", "kind")}


# In words -------------------------------------------------------------------------------------------------------------


def _whole(comparison: RepresentationComparison) -> str:
    known = [each for each in comparison.differences if each.interval is not None]
    if not comparison.differences:
        return "There is one model only, and so no difference."
    if not known:
        return f"No difference can be tested: none of {len(comparison.differences)} has an interval."
    family = [each for each in comparison.differences if not each.exploratory]
    together = sum(each.shown for each in known)
    alone = sum(each.significance == "alone" for each in known)
    primary = "primary " if len(family) < len(comparison.differences) else ""
    verb, many = "is" if together == 1 else "are", "difference" if len(family) == 1 else "differences"
    error = f"error {100 * (1 - comparison.level):.4g}%"
    whole = f"{together} of {len(family)} {primary}{many} {verb} significant together ({error}, Holm)"
    untested = len(comparison.differences) - len(known)
    parts = [f"{alone} more {'is' if alone == 1 else 'are'} significant alone"] if alone else []
    parts += [f"{untested} could not be tested"] if untested else []
    return f"{whole}{'; ' if parts else ''}{', '.join(parts)}."


def _of_pair(pair: Sequence[ScoreDifference]) -> str:
    """Say of one pair which is significantly better by what."""
    first, second = pair[0].first, pair[0].second
    asked = [each for each in pair if each.interval is not None]
    if not asked:
        return f"{second} and {first}: no difference was tested."
    parts = []
    for level, how in (("together", ""), ("alone", ", alone")):
        for name, other in ((second, first), (first, second)):
            by = [_with_numbers(each) for each in asked if each.ahead == name and each.significance == level]
            if by:
                parts.append(f"{name} is better than {other} by {listed(by, len(by))}{how}")
    left = sum(each.significance == "no" for each in asked)
    if not parts:
        which = "the one metric" if left == 1 else f"any of {left} metrics"
        return f"{second} and {first} do not differ significantly by {which}."
    return "; ".join(parts) + (f"; not significant by {left} of {len(asked)} metrics." if left else ".")


def _with_numbers(each: ScoreDifference) -> str:
    """Write by how much the better one is better."""
    if each.interval is None:
        raise ValueError("no interval")
    value, ends = each.value, (each.interval.low, each.interval.high)
    if each.ahead == each.first:
        value, ends = -value, (-ends[1], -ends[0])
    known = "" if math.isnan(value) else f"{value:+.3f} "
    fragile = ", fragile" if each.fragile else ""
    return f"{each.metric} ({known}[{ends[0]:z.3f}, {ends[1]:z.3f}]{fragile})"


def _cautions(comparison: RepresentationComparison) -> Iterator[str]:
    if comparison.models and not any(_over_rows(each) for each in comparison.differences):
        rows = f"pass {setting(bootstrap=50)} to include other rows"
        yield f"Intervals are over training runs on these rows only; {rows}."
    levels = {each.significance for each in comparison.differences}
    if levels >= {"alone"} and "together" not in levels and len({each.metric for each in comparison.differences}) > 1:
        fewer = f"name one metric in advance ({setting(primary=...)}), or a baseline ({setting(against=...)})"
        yield f"To test fewer differences, {fewer}."
    sizes = {len(each.code_names) for each in comparison.evaluations}
    if len(sizes) > 1:
        chance = all(score.chance is None for each in comparison.evaluations for score in each)
        more = f": {give(chance=20)} to see what noise of as many codes scores" if chance else ""
        numbers = listed(map(str, sorted(sizes)))
        yield f"The numbers of codes differ ({numbers}), which moves some metrics by itself{more}."


def _over_rows(each: ScoreDifference) -> bool:
    return each.interval is not None and "rows" in each.interval.method


def without_intervals(bootstrap: int) -> str:
    """Return why a difference over rows has no interval, if nothing else is known of it."""
    if bootstrap:
        return "too many half-samples could not be scored"
    return f"no half-samples were asked for; {give(bootstrap=50)}"
