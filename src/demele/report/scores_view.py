"""What a report is about, and the questions that several parts of it ask."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from demele.report.words import number

__all__ = ["PROPERTIES", "Catalogue", "View"]


#: What each property asks of a representation, in the order in which they are shown.
PROPERTIES = {
    "modularity": ("Modularity", "each code informs on at most one factor"),
    "compactness": ("Compactness", "each factor is held by one code"),
    "explicitness": ("Explicitness", "the factors can be read off the codes by a simple predictor"),
    "holistic": ("Holistic", "one number for more than one of these properties"),
    "": ("Other metrics", "metrics that declare no property"),
}


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is known of the metrics; every question has an answer for a metric that nobody described."""

    specs: Mapping[str, Mapping[str, Any]]

    def title(self, metric: str) -> str:
        """Name in print."""
        return str(self.specs.get(metric, {}).get("title") or metric)

    def family(self, metric: str) -> str:
        """Family, or an empty word."""
        return str(self.specs.get(metric, {}).get("family") or "")

    def property_of(self, metric: str) -> str:
        """Key of :data:`PROPERTIES`; ``"holistic"`` for more than one property."""
        properties = self.specs.get(metric, {}).get("properties") or ()
        only = next(iter(properties), "")
        return "holistic" if len(properties) > 1 else only if only in PROPERTIES else ""

    def best(self, metric: str) -> float:
        """Value of a perfect representation."""
        return float(self.specs.get(metric, {}).get("best", 1.0))


@dataclass(frozen=True, slots=True)
class View:
    """The evaluations with the questions that several parts of the page ask of them.

    ``of_models``: each stands for the training runs of a model, with their means.
    """

    evaluations: list[dict[str, Any]]
    catalogue: Catalogue
    of_models: bool = False

    @property
    def several(self) -> bool:
        """Whether there is anything to compare."""
        return len(self.evaluations) > 1

    @property
    def metrics(self) -> list[str]:
        """Metrics with a score (be it undefined) in at least one evaluation, in order of appearance."""
        return list(dict.fromkeys(score["metric"] for item in self.evaluations for score in item["scores"]))

    def score(self, evaluation: int, metric: str) -> dict[str, Any] | None:
        """Score of one metric of one evaluation, if there is one."""
        scores = self.evaluations[evaluation]["scores"]
        return next((score for score in scores if score["metric"] == metric), None)

    def values(self, metric: str) -> list[float | None]:
        """Return one value for each evaluation; None where there is none."""
        scores = [self.score(index, metric) for index in range(len(self.evaluations))]
        return [None if score is None else score["value"] for score in scores]

    def by_property(self, metrics: Iterable[str]) -> dict[str, list[str]]:
        """Group metrics by property; no group is empty."""
        metrics = list(metrics)
        groups = {name: [m for m in metrics if self.catalogue.property_of(m) == name] for name in PROPERTIES}
        return {name: group for name, group in groups.items() if group}

    def assumed(self, metric: str) -> str:
        """Say why the values of a metric cannot be compared, where codes were matched to factors by their order alone.

        Empty where they can be. One such score is enough: the others would be set against a number without a meaning.
        """
        scores = [self.score(index, metric) or {} for index in range(len(self.evaluations))]
        notes = [note for score in scores for note in score.get("notes", ())]
        reasons = [n["message"] for n in notes if n["code"] == "assumed-reg-dim" and n["severity"] == "warning"]
        return "; ".join(dict.fromkeys(reasons))

    def ranked(self, metric: str) -> list[int]:
        """Return the evaluations that have a value, the best one first."""
        sign = 1.0 if self.catalogue.best(metric) > 0 else -1.0
        values = {index: sign * value for index, value in enumerate(self.values(metric)) if value is not None}
        return sorted(values, key=lambda index: -values[index])

    def tied(self, metric: str) -> bool:
        """Tell whether the two best values are equal as shown."""
        values = self.values(metric)
        best = [number(values[index]) for index in self.ranked(metric)[:2]]
        return len(best) == 2 and best[0] == best[1]

    def winner(self, metric: str) -> tuple[int, bool | None] | None:
        """Return the evaluation with the best value, and whether its interval lies apart from all others.

        None where fewer than two values can be compared, where the best are equal as shown and where the order of
        the codes was assumed; the second item is None where an interval is missing.
        """
        ranked = self.ranked(metric)
        if len(ranked) < 2 or self.tied(metric) or self.assumed(metric):
            return None
        first = ranked[0]
        ends = {index: self._interval(index, metric) for index in ranked}
        if None in ends.values():
            return first, None
        (low, high), *others = [ends.pop(first) or (0.0, 0.0), *(pair or (0.0, 0.0) for pair in ends.values())]
        up = self.catalogue.best(metric) > 0
        return first, all(low > other[1] if up else high < other[0] for other in others)

    def _interval(self, evaluation: int, metric: str) -> tuple[float, float] | None:
        interval = (self.score(evaluation, metric) or {}).get("interval") or {}
        low, high = interval.get("low"), interval.get("high")
        return None if low is None or high is None else (low, high)
