"""What comparison methods are asked about: noisy labels of a test set, all ordered pairs of classifiers, the truth."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Indices, Labelled
from demele.evaluation.question import Question
from demele.noise.transition import TransitionCounts

__all__ = ["REFERENCES", "Asked", "Contender", "Decided", "Flags", "MeasureName", "Setting", "ordered_pairs"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
MeasureName = Literal["accuracy", "precision", "recall", "f1"]
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
