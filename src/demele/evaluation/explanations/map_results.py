"""From what a classifier said while regions went to what each map is worth."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import ALL_CORRECT
from demele.core.results import Interval, Note
from demele.evaluation.explanations.areas import (
    Ends,
    KnownNoise,
    accuracy_curve,
    area_payoffs,
    bounded_mean,
    corrected_curve,
    mean_interval,
    predicted_shares,
)
from demele.evaluation.explanations.arguments import Inputs
from demele.evaluation.explanations.classifier import Classifier
from demele.evaluation.explanations.courses import Course, Setting, state_after
from demele.evaluation.explanations.destruction import ORDERS, Order
from demele.evaluation.explanations.documents import decisive
from demele.evaluation.explanations.result import (
    MapDifference,
    MapResult,
    MapVerdict,
    PerturbationCurve,
    WorstCase,
)
from demele.evaluation.results import Estimate

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
#: Courses by the name of the map and the order; random orders are the same for all maps.
Courses = Mapping[tuple[str, Order], Course]

#: A map that says the same of so large a share of its regions leaves much of their order to chance.
TIED = 0.5


@dataclass(frozen=True, slots=True)
class Judged:
    """What all courses of a test amount to.

    Parameters
    ----------
    asked : Asked
    classifier : Classifier
    setting : Setting
    courses : mapping
    importance : mapping of name to array of shape (n, n_regions)
    known : KnownNoise or None
    kept : int
        Worst cases of each map.
    """

    inputs: Inputs
    classifier: Classifier
    setting: Setting
    courses: Courses
    importance: Mapping[str, Floats]
    known: KnownNoise | None
    kept: int

    @property
    def measured(self) -> str:
        """What falls, in a word."""
        if self.setting.measured == "accuracy":
            return "accuracy"
        if self.classifier.whole.outputs is None:
            return "prediction kept"
        return "probability" if self.classifier.whole.are_probabilities else "output"

    # One map ----------------------------------------------------------------------------------------------------------

    def maps(self) -> tuple[MapResult, ...]:
        """Return what each map is worth; random order is the same for all."""
        chance = self.courses[next(iter(self.importance)), "random"]
        alike = self._area(chance, "random"), self._curve(chance, "random")
        return tuple(self._map_result(name, *alike) for name in self.importance)

    def _map_result(self, name: str, area: Estimate, curve: PerturbationCurve) -> MapResult:
        own = {order: self.courses[name, order] for order in ORDERS}
        difference = self._difference(own["most"], own["random"], name, len(self.importance))
        images = self._images(own)
        lowest = np.argsort(images["difference"].to_numpy(), kind="stable")[: self.kept]
        return MapResult(
            name=name,
            verdict=_verdict(decisive(difference)),
            difference=difference,
            areas={order: area if order == "random" else self._area(own[order], order) for order in ORDERS},
            curves={order: curve if order == "random" else self._curve(own[order], order) for order in ORDERS},
            images=images,
            worst=tuple(self._worst(name, own, int(row)) for row in lowest),
        )

    def _area(self, run: Course, order: Order) -> Estimate:
        payoffs = None if self.known is None else area_payoffs(run, self.known.k)
        return self._estimate(run.areas.mean(axis=0), payoffs, order, 1)

    def _difference(self, first: Course, second: Course, name: str, shared: int) -> Estimate:
        """Return the mean difference of two areas, at a level that is shared by several of its kind."""
        payoffs = None
        if self.known is not None:  # what is predicted of the whole image is in both areas
            payoffs = predicted_shares(second, self.known.k) - predicted_shares(first, self.known.k)
        return self._estimate(first.areas.mean(axis=0) - second.areas.mean(axis=0), payoffs, name, shared)

    def _estimate(self, values: Floats, payoffs: Floats | None, of: str, shared: int) -> Estimate:
        level = 1 - (1 - self.inputs.level) / shared
        mean, (low, high) = mean_interval(values, level)
        bias, corrected = None, None
        if payoffs is not None and self.known is not None:
            bounds, ends = bounded_mean(payoffs, self.known.at(level))
            bias = float(mean) - bounds[1], float(mean) - bounds[0]
            corrected = Interval(low=ends[0], high=ends[1], level=level, method="t", kind="bias-union")
        return Estimate(
            measure="area",
            of=of,
            value=float(mean),
            trials=float(len(values)),
            interval=Interval(low=float(low), high=float(high), level=level, method="t"),
            bias=bias,
            corrected=corrected,
        )

    def _curve(self, run: Course, order: Order) -> PerturbationCurve:
        mean, ends = mean_interval(run.values.mean(axis=0), self.inputs.level)
        corrected: Ends | None = None
        if self.setting.measured == "accuracy" and self.setting.labels is not None:
            ends = accuracy_curve(run, self.setting.labels, self.inputs.level)
            corrected = None if self.known is None else corrected_curve(run, self.known)
        return PerturbationCurve(order=order, values=mean, low=ends[0], high=ends[1], corrected=corrected)

    def _images(self, own: Mapping[Order, Course]) -> "pd.DataFrame":
        import pandas as pd

        areas = {order: run.areas for order, run in own.items()}
        names = np.asarray(self.classifier.words.classes, dtype=object)
        means = {f"area_{order}": found.mean(axis=0) for order, found in areas.items()}
        columns: dict[str, Any] = {
            **means,
            "difference": means["area_most"] - means["area_random"],
            "beats": (areas["most"] > areas["random"]).sum(axis=0),
            "predicted": names[self.classifier.whole.classes],
            "label": None if self.inputs.labels is None else self.inputs.labels,
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(self.inputs.n, name="image"))

    def _worst(self, name: str, own: Mapping[Order, Course], row: int) -> WorstCase:
        images = self.inputs.images
        half = math.ceil(self.setting.steps / 2)
        return WorstCase(
            row=row,
            image=images[row],
            importance=self.inputs.maps[name][row],
            destroyed=state_after(images, row, self.importance[name], self.setting, half),
            most=own["most"].values[:, row].mean(axis=0),
            random=own["random"].values[:, row].mean(axis=0),
        )

    # Beside each other, and what to know ------------------------------------------------------------------------------

    def pairs(self) -> tuple[MapDifference, ...]:
        """Compare every two maps."""
        names = list(itertools.combinations(self.importance, 2))
        found = []
        for first, second in names:
            runs = [self.courses[name, "most"] for name in (first, second)]
            estimate = self._difference(runs[0], runs[1], f"{first} - {second}", len(names))
            verdict = _verdict(decisive(estimate))
            better = {"holds": first, "misleads": second, "inconclusive": None}[verdict]
            found.append(MapDifference(first=first, second=second, estimate=estimate, better=better))
        return tuple(found)

    def assumptions(self) -> tuple[str, ...]:
        """Say what must hold."""
        texts = [
            "The images are a random sample of those that the maps are for.",
            "There are enough images for a mean over them to be nearly normal.",
        ]
        if self.measured == "accuracy" and self.known is None:
            texts.append(ALL_CORRECT)
        if self.known is not None:
            texts += [f"{text[:1].upper()}{text[1:].removesuffix('.')}." for text in self.known.budget.assumptions]
        return tuple(texts)

    def notes(self) -> tuple[Note, ...]:
        """Return the notes for a reader."""
        found = [note for name, one in self.importance.items() if (note := _tied(name, one)) is not None]
        if self.known is not None:
            message = f"at most {self.known.budget.wrong} of {self.inputs.n} labels are assumed to be wrong"
            found.append(Note(code="wrong-labels", message=message))
        if self.measured == "output":
            message = "outputs are not probabilities: drops are in their unit; images with large outputs weigh more"
            found.append(Note(code="outputs", message=message))
        return tuple(found)


def _verdict(interval: Interval) -> MapVerdict:
    if interval.low > 0:
        return "holds"
    return "misleads" if interval.high < 0 else "inconclusive"


def _tied(name: str, importance: Floats) -> Note | None:
    """Return a note if a map has many equal regions."""
    ranked = np.sort(importance, axis=1)
    distinct = 1 + (np.diff(ranked, axis=1) != 0).sum(axis=1)
    share = float(1 - distinct.mean() / importance.shape[1])
    if share < TIED:
        return None
    message = (
        f"{name!r} has equal values in many regions: on average {distinct.mean():.1f} different values for "
        f"{importance.shape[1]} regions; equal regions have a random order"
    )
    return Note(code="tied-regions", message=message, subject=(name,))
