"""What a classifier says of every image while its regions go, in one order, as often as something is drawn."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Indices
from demele.evaluation.explanations.classifier import Answers, Classifier
from demele.evaluation.explanations.destruction import (
    Filling,
    Images,
    Order,
    Places,
    destroyed,
    destruction_order,
    fillings,
    is_drawn,
)

Floats = NDArray[np.float64]

#: What falls while regions go: the output for one class, or how often the label is predicted.
Measured = Literal["score", "accuracy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How regions are destroyed, and what is measured meanwhile; the same for all orders and maps.

    Attributes
    ----------
    where : array of shape (height, width)
        The region of each pixel.
    steps : int
        Regions that go.
    filling, ends
        What is put in their place, between which values.
    n_repeats : int
        Random orders, and draws of what is put in the place of regions.
    seed : int
    measured : {"score", "accuracy"}
    targets : array of int32 of shape (n,)
        The class whose output is followed.
    labels : array of int32 of shape (n,) or None
    """

    where: Places
    steps: int
    filling: Filling | float
    ends: tuple[float, float]
    n_repeats: int
    seed: int
    measured: Measured
    targets: Indices
    labels: Indices | None

    def runs(self, order: Order) -> int:
        """Return how often an order is gone through: once, if nothing in it is drawn."""
        return self.n_repeats if order == "random" or is_drawn(self.filling) else 1

    def values(self, answers: Answers, rows: Any) -> Floats:
        """Return what is measured of some images."""
        if self.measured == "accuracy" and self.labels is not None:
            return np.asarray(answers.classes == self.labels[rows], dtype=np.float64)
        if answers.outputs is None:
            return np.asarray(answers.classes == self.targets[rows], dtype=np.float64)
        return np.asarray(answers.outputs[np.arange(len(answers.classes)), self.targets[rows]])


@dataclass(frozen=True, slots=True)
class Course:
    """What became of every image while its regions went.

    Attributes
    ----------
    values : array of shape (runs, n, steps + 1)
        What is measured, from the whole image on.
    predicted : array of int32 of the same shape
        The class that is predicted.
    """

    values: Floats
    predicted: Indices

    @property
    def areas(self) -> Floats:
        """Mean fall over all steps, the whole image among them: shape (runs, n).

        Samek et al. 2017, eq. 12: 1 / (L + 1) sum over k = 0 ... L of f(x_0) - f(x_k).
        """
        found: Floats = (self.values[:, :, :1] - self.values).mean(axis=2)
        return found


def course(
    classifier: Classifier,
    images: Images,
    importance: Floats,
    order: Order,
    setting: Setting,
    *,
    batch: int,
    done: Callable[[int], None] = lambda _: None,
) -> Course:
    """Destroy the regions of all images in one order.

    Parameters
    ----------
    classifier : Classifier
    images : array of shape (n, height, width, channels)
    importance : array of shape (n, n_regions)
    order : {"most", "random", "least"}
    setting : Setting
    batch : int
        Images per batch, in addition to the whole set in memory.
    done : callable
        Gets the number of images whose next step was asked for.
    """
    runs, n = setting.runs(order), len(images)
    shape = (runs, n, setting.steps + 1)
    values, predicted = np.empty(shape), np.empty(shape, dtype=np.int32)
    values[:, :, 0] = setting.values(classifier.whole, slice(None))
    predicted[:, :, 0] = classifier.whole.classes
    for run in range(runs):
        first_to_last = destruction_order(importance, order, setting.seed, run)
        for start in range(0, n, batch):
            rows = slice(start, start + batch)
            for step, now in enumerate(_states(images, rows, first_to_last, setting, run), start=1):
                answers = classifier.answers(now)
                values[run, rows, step] = setting.values(answers, rows)
                predicted[run, rows, step] = answers.classes
                done(len(now))
    return Course(values, predicted)


def _states(images: Images, rows: slice, order: Places, setting: Setting, run: int) -> Iterator[Images]:
    some = images[rows]
    numbers = np.arange(rows.start, rows.start + len(some))
    filled = fillings(some, numbers, setting.filling, setting.ends, setting.seed, run)
    return destroyed(some, filled, order[rows], setting.where, setting.steps)


def state_after(images: Images, row: int, importance: Floats, setting: Setting, step: int) -> Images:
    """Return one image after some steps of the first run, the most important regions first."""
    order = destruction_order(importance, "most", setting.seed, 0)
    states = _states(images, slice(row, row + 1), order, setting, 0)
    found: Images = next(itertools.islice(states, step - 1, None))[0]
    return found
