"""Settings of a comparison of methods, and published results."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.question import Question
from demele.core.labelled import Indices, Labelled
from demele.noise.transition import TransitionCounts

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
MeasureName = Literal["accuracy", "precision", "recall", "f1"]
Reference = Literal["overlap", "paired", "sample"]
#: What verdicts can be held against, and how texts call it.
REFERENCES = {
    "overlap": "the overlap of the two score intervals on true labels",
    "paired": "McNemar's exact test on true labels",
    "sample": "the larger value on the true labels of these instances",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A measure, and the class (by index) that a precision, recall or f1 is of."""

    measure: MeasureName
    of: int | None
    #: As users and tables write it, such as ``recall of cat``.
    text: str


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One noisy version of a test set with all ordered pairs of its classifiers.

    Attributes
    ----------
    data : Labelled
        Noisy labels and predictions, shape (n_models, n).
    true_labels : array of int of shape (n,)
        Used only by simulated experts and cleanings; methods do not see them.
    rate : float
        Share of wrong labels, as realised.
    difficulty : array of shape (n,) or None
        The ranking of instances that artificial annotators gave, if they made the noise: larger is harder.
    """

    data: Labelled
    true_labels: Indices
    rate: float
    asked: Asked
    level: float
    difficulty: Floats | None
    seed: int

    @cached_property
    def pairs(self) -> NDArray[np.intp]:
        """All ordered pairs (baseline, candidate), shape (n_pairs, 2)."""
        return ordered_pairs(len(self.data.names))

    @cached_property
    def transition(self) -> TransitionCounts:
        """The noise of these very labels, counted."""
        k = self.data.k
        flat = np.bincount(self.true_labels.astype(np.int64) * k + self.data.labels, minlength=k * k)
        return TransitionCounts(flat.reshape(k, k), self.data.vocabulary.classes, sample_of="labels")

    def question(self, **known: Any) -> Question:
        """Ask about all pairs, telling a method what is given."""
        options = {"level": self.level, "measure": self.asked.measure, "of": self.asked.of, "seed": self.seed, **known}
        return Question(data=self.data, baseline=self.pairs[:, 0], candidate=self.pairs[:, 1], **options)

    def on_true_labels(self) -> "Setting":
        """Return the same pairs with true labels."""
        return replace(self, data=self.data.relabelled(self.true_labels), rate=0.0)


@dataclass(frozen=True, slots=True)
class Decided:
    """What a method says of every ordered pair: which is shown to be better; never both.

    ``labels_asked`` is how many expert labels a pair cost on average, those shared by all pairs included.
    """

    candidate: Flags
    baseline: Flags
    labels_asked: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A comparison method with its options, as it takes part.

    Attributes
    ----------
    name : str
        As it is asked for, and what results are kept under, such as ``audit(labels=500)``.
    title : str
        What tables and pictures call it.
    family : str
        The method without its options.
    decide : callable
        Setting -> Decided.
    inputs : str
        Its inputs in addition to predictions and noisy labels.
    measures : tuple of str
        What it can compare.
    """

    name: str
    title: str
    family: str
    decide: Callable[[Setting], Decided]
    inputs: str = "nothing"
    measures: tuple[str, ...] = ("accuracy", "precision", "recall", "f1")
    own: bool = False


def ordered_pairs(n_models: int) -> NDArray[np.intp]:
    """Return all ordered pairs (baseline, candidate), row by row of the square of models without its diagonal."""
    return np.argwhere(~np.eye(n_models, dtype=np.bool_))


PUBLISHED_SOURCE = (
    "Benjelloun, tables 6.2 to 6.5: 100 convolutional neural fabrics on 12 000 images of CIFAR-10, 5% of the labels "
    "made wrong by artificial annotators"
)
PUBLISHED_NOISE = 0.05

#: Type I, type II, agreement; "class" is the source's class 0.
_MAIN = {
    ("accuracy", "overlap"): (1.62, 1.58, 98.39),
    ("accuracy", "worst-case-overlap"): (0.0, 66.82, 71.45),
    ("accuracy", "hard-rows"): (0.0, 52.61, 77.53),
    ("precision", "overlap"): (1.24, 1.50, 98.64),
    ("precision", "worst-case-overlap"): (0.0, 11.94, 94.36),
    ("recall", "overlap"): (1.30, 1.35, 98.68),
    ("recall", "worst-case-overlap"): (0.0, 30.51, 85.57),
}
#: Detected, false alarms: without correction, then corrected with probability .25, .5, .75.
_CLEANED = {
    (0.75, 0.25): ((1.59, 1.32, 98.53), (0.34, 5.79, 97.33), (0.56, 3.90, 98.01), (0.51, 2.34, 98.71)),
    (0.6, 0.1): ((1.53, 1.02, 98.69), (0.71, 2.60, 98.48), (0.76, 2.06, 98.69), (0.86, 1.32, 98.94)),
    (0.9, 0.4): ((2.20, 1.68, 98.02), (0.51, 9.22, 95.77), (0.32, 5.65, 97.40), (0.25, 2.77, 98.68)),
    (0.6, 0.4): ((2.35, 2.32, 97.67), (0.34, 9.39, 95.80), (0.60, 6.08, 97.06), (0.37, 3.05, 98.48)),
    (0.9, 0.6): ((3.02, 3.00, 96.99), (0.18, 16.58, 92.82), (0.39, 8.87, 95.99), (0.42, 4.28, 97.93)),
    (0.4, 0.1): ((1.50, 1.30, 98.59), (0.83, 2.65, 98.39), (0.88, 2.18, 98.57), (1.09, 1.51, 98.73)),
}


def published() -> list[dict[str, Any]]:
    """Return the printed rows: measure, method, noise rate, type I, type II and agreement in percent."""
    rows: list[dict[str, Any]] = [
        {"measure": measure, "method": method, "noise": PUBLISHED_NOISE, **_figures(figures)}
        for (measure, method), figures in _MAIN.items()
    ]
    for (s, e), printed in _CLEANED.items():
        for c, figures in zip((None, 0.25, 0.5, 0.75), printed, strict=True):
            told = f"s={s!r}, e={e!r}" + ("" if c is None else f", c={c!r}")
            rows.append(
                {"measure": "accuracy", "method": f"cleaned({told})", "noise": PUBLISHED_NOISE, **_figures(figures)}
            )
    return rows


def _figures(figures: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("type_1", "type_2", "agreement"), figures, strict=True))
