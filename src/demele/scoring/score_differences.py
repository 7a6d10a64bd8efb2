"""Differences between representations, or models of several training runs, with intervals over rows, runs or both."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from demele.core.arrays import Floats
from demele.core.holm import holm
from demele.core.representation_comparison import ModelScore, ScoreDifference, without_intervals
from demele.core.results import Evaluation, Interval, Score
from demele.estimation.differences import Difference, over_runs, run_difference
from demele.scoring.evaluate import Call

__all__ = ["Compared"]

#: Why scores of resamples say too little of a metric of extreme values; measured by benchmarks/paired_differences.py.
_EXTREMES = "it depends on extreme values; resampling repeats these, so an interval would be too narrow"


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """One metric of the runs of a model; ``draws`` (n_runs, n_resamples) are of the same rows for every run."""

    values: Floats
    draws: Floats | None
    bounds: Floats | None

    @property
    def rows(self) -> Floats | None:
        """The mean over runs on each resample of the rows."""
        return None if self.draws is None else self.draws.mean(axis=0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """What is compared, and how.

    Attributes
    ----------
    call : Call
    evaluations : mapping of str to Evaluation
    models : mapping of str to tuple of str
        The runs of each model; without runs each representation is the one run of itself.
    by_runs, paired : bool
        Whether intervals are over runs, and whether these are paired.
    noisy : bool
        Whether scores corrected for noisy factors are compared.
    primary : tuple of str
        The metrics that share the error; empty: all.
    """

    call: Call
    evaluations: Mapping[str, Evaluation]
    models: Mapping[str, tuple[str, ...]]
    by_runs: bool
    paired: bool
    noisy: bool
    primary: tuple[str, ...]

    def differences(self, pairs: Iterable[tuple[str, str]]) -> tuple[ScoreDifference, ...]:
        """Return the difference of each pair by each metric; those that are significant together name the better."""
        found = [self._difference(metric, pair) for pair in pairs for metric in self._metrics()]
        family = [each for each in found if each.interval is not None and not each.exploratory]
        flags = holm(np.array([each.p_value for each in family], dtype=np.float64), 1 - self.call.run.level)
        rejected = {id(each) for each, flag in zip(family, flags, strict=True) if flag}
        return tuple(replace(each, better=each.ahead) if id(each) in rejected else each for each in found)

    def model_scores(self) -> Iterator[ModelScore]:
        """Yield the mean of each model by each metric, with its interval."""
        ranges = {one.name: one.metric.range for one in self.call.asked}
        for model in self.models:
            for metric in self._metrics():
                own = self._runs(self._scores(model, metric).values())
                if not own.values.size:
                    continue
                found = Difference(float(own.values.mean()), reason="one run")
                if own.values.size > 1:
                    found = over_runs(found.value, [own.values], self.call.run.level, own.rows, ranges[metric])
                yield ModelScore(
                    model=model,
                    metric=metric,
                    values=tuple(float(value) for value in own.values),
                    mean=found.value,
                    std=float(own.values.std(ddof=1)) if own.values.size > 1 else np.nan,
                    interval=self._interval(
                        found, f"Student's t over {own.values.size} runs{self._of_rows(own.rows, ' and ')}"
                    ),
                )

    def _metrics(self) -> list[str]:
        return list(dict.fromkeys(score.metric for each in self.evaluations.values() for score in each.scores))

    def _scores(self, model: str, metric: str) -> dict[str, Score | None]:
        return {
            run: next((score for score in self.evaluations[run].scores if score.metric == metric), None)
            for run in self.models[model]
        }

    def _difference(self, metric: str, pair: tuple[str, str]) -> ScoreDifference:
        scores = [self._scores(model, metric) for model in pair]
        reason = next((why for own in scores for run, one in own.items() if (why := self._no_value(run, one))), "")
        found, method = Difference(np.nan, reason=reason), ""
        if not reason:
            found, method = self._measured(metric, *(self._runs(own.values()) for own in scores))
        best = next((one.metric.best for one in self.call.asked if one.name == metric), 1.0)
        sign = found.low + found.high if np.isnan(found.value) else found.value  # of bounds there is no value
        return ScoreDifference(
            metric=metric,
            first=pair[0],
            second=pair[1],
            value=found.value,
            interval=self._interval(found, method),
            p_value=found.p_value,
            ahead=("" if np.isnan(sign) else pair[(sign > 0) == (best > 0)]),
            fragile=not reason and any(score is not None and score.fragile for own in scores for score in own.values()),
            exploratory=bool(self.primary) and metric not in self.primary,
            reason=found.reason,
        )

    def _interval(self, found: Difference, method: str) -> Interval | None:
        if found.reason:
            return None
        kind = "training" if self.by_runs else "sampling"
        return Interval(low=found.low, high=found.high, level=self.call.run.level, method=method, kind=kind)

    def _of_rows(self, rows: Floats | None, before: str) -> str:
        what = "resamples" if self.noisy else "half-samples"
        return "" if rows is None else f"{before}{rows.size} paired {what} of the rows"

    def _no_value(self, run: str, score: Score | None) -> str:
        """Return why a score cannot be compared; empty if it can."""
        if score is None:
            return f"{run} has no score by it"
        if not np.isfinite(score.value):
            return f"it is undefined for {run}"
        if any(note.code == "assumed-reg-dim" and note.severity == "warning" for note in score.notes):
            return "which code is meant for which factor was assumed by their order"
        return f"it is not corrected for {run}" if self.noisy and score.corrected is None else ""

    def _runs(self, scores: Iterable[Score | None]) -> _Runs:
        known = [self._number(score) for score in scores if score is not None and np.isfinite(score.value)]
        values, draws, bounds = zip(*known, strict=True) if known else ((), (), ())
        drawn = [one for one in draws if one is not None]
        ends = [one for one in bounds if one is not None]
        return _Runs(
            np.array(values, dtype=np.float64),
            np.stack(drawn) if len(drawn) == len(draws) and len({one.size for one in drawn}) == 1 else None,
            np.array(ends) if ends else None,
        )

    def _number(self, score: Score) -> tuple[float, Floats | None, tuple[float, float] | None]:
        """Return the value that is compared, its values on resamples of the rows, and its bounds."""
        found = score.corrected
        if not self.noisy or found is None:
            return score.value, score.halves, None
        if found.draws is None and found.interval is not None:
            return score.value, score.halves, (found.interval.low, found.interval.high)
        return found.value, found.draws, None

    def _measured(self, metric: str, first: _Runs, second: _Runs) -> tuple[Difference, str]:
        """Return the difference with its interval, and how that was made."""
        value, run = float(second.values.mean() - first.values.mean()), self.call.run
        rows = None if first.rows is None or second.rows is None else second.rows - first.rows
        if run.n_bootstrap or self.noisy or not self.by_runs:  # over rows
            if any(one.name == metric and "extremes" in one.metric.states for one in self.call.asked):
                return Difference(value, reason=_EXTREMES if run.n_bootstrap else without_intervals(0)), ""
            if rows is None:
                return Difference(value, reason=without_intervals(run.n_bootstrap)), ""

        def moved(shift: float) -> Difference:
            if self.by_runs:
                return run_difference(first.values, second.values + shift, run.level, paired=self.paired, rows=rows)
            return over_runs(value + shift, [], run.level, rows)

        how = "Student's t over runs paired by seed" if self.paired else "Welch's t over runs"
        method = how + self._of_rows(rows, " and ") if self.by_runs else self._of_rows(rows, "Student's t over ")
        if first.bounds is None or second.bounds is None:
            return moved(0.0), method
        ends = second.bounds.mean(axis=0) - first.bounds.mean(axis=0)[::-1]
        lowest, highest = (moved(float(end) - value) for end in ends)
        p_value = 1.0 if ends[0] <= 0 <= ends[1] else max(lowest.p_value, highest.p_value)
        found = Difference(np.nan, lowest.low, highest.high, p_value, lowest.reason)
        return found, f"certified bounds, widened by {method}"
