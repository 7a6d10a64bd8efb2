"""What a classifier says of every image while its regions go, in one order, as often as something is drawn."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from demele.classifiers.measures.bias import correct_bounds, worst_case_interval
from demele.classifiers.measures.confusion import confusion_counts
from demele.classifiers.results import Estimate
from demele.core.arrays import Array, Counts, Floats, rng_for
from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import Indices, Vocabulary, read_labels, vocabulary
from demele.core.proportions import score_interval
from demele.core.result import Interval
from demele.noise.budget import NoiseBudget

Images = Array
Places = Counts

#: In which order regions are destroyed, as the map sees them.
Order = Literal["most", "random", "least"]
ORDERS: tuple[Order, ...] = get_args(Order)
#: What is put in the place of a region.
Filling = Literal["uniform", "mean", "blur"]
FILLINGS: tuple[Filling, ...] = get_args(Filling)
#: Standard deviation of a blurred image, as a share of its longer side: wide enough that no stroke is left.
BLUR = 0.15


def regions(height: int, width: int, region: tuple[int, int]) -> Places:
    """Return the number of the region that each pixel is in, row by row.

    Parameters
    ----------
    height, width : int
    region : (int, int)
        Height and width of a region; those at the lower and right edge may be smaller.

    Returns
    -------
    array of int64 of shape (height, width)
        From 0.

    Examples
    --------
    >>> regions(2, 5, (2, 2)).tolist()
    [[0, 0, 1, 1, 2], [0, 0, 1, 1, 2]]
    """
    rows, columns = np.arange(height) // region[0], np.arange(width) // region[1]
    return rows[:, None] * (int(columns[-1]) + 1) + columns


def region_importance(maps: Floats, where: Places) -> Floats:
    """Average maps over regions.

    Parameters
    ----------
    maps : array of shape (n, height, width)
    where : array of shape (height, width)
        As of :func:`regions`.

    Returns
    -------
    array of shape (n, n_regions)
    """
    n, count = len(maps), int(where.max()) + 1
    places = where.ravel() + count * np.arange(n)[:, None]
    sums = np.bincount(places.ravel(), weights=maps.ravel(), minlength=n * count).reshape(n, count)
    return sums / np.bincount(where.ravel(), minlength=count)


def destruction_order(importance: Floats, order: Order, seed: int, repeat: int) -> Places:
    """Order the regions of each image.

    Parameters
    ----------
    importance : array of shape (n, n_regions)
    order : {"most", "random", "least"}
        Most important first, whatever the map says, least important first.
    seed, repeat : int
        Regions of equal importance are ordered at random in each repeat: a constant map gives a random order, not the
        reading order.

    Returns
    -------
    array of int64 of shape (n, n_regions)
        The region that goes first, second, ...
    """
    chance = rng_for(seed, "order", order, repeat).random(importance.shape)
    if order == "random":
        return np.argsort(chance, axis=1)
    return np.lexsort((chance, -importance if order == "most" else importance), axis=1)


def fillings(
    images: Images, rows: Places, filling: Filling | float, ends: tuple[float, float], seed: int, repeat: int
) -> Images:
    """Return, for each image, another image whose regions replace its own.

    Parameters
    ----------
    images : array of shape (n, height, width, channels)
    rows : array of int of shape (n,)
        Their numbers in the whole set: the draws for an image do not depend on the rest of its batch.
    filling : "uniform", "mean", "blur" or float
        Values drawn between ``ends``; the mean colour of the image; the image, blurred; one value.
    ends : (float, float)
        Darkest and brightest.
    seed, repeat : int

    Returns
    -------
    array of the shape and the type of the images
    """
    whole = images.dtype.kind in "ui"
    if filling == "uniform":
        streams = [rng_for(seed, "filling", repeat, int(row)) for row in rows]
        if whole:
            low, high = int(ends[0]), int(ends[1]) + 1
            return np.stack([rng.integers(low, high, images.shape[1:], dtype=images.dtype) for rng in streams])
        return np.stack([rng.uniform(*ends, images.shape[1:]).astype(images.dtype) for rng in streams])
    if filling == "mean":
        found = np.broadcast_to(images.mean(axis=(1, 2), keepdims=True), images.shape)
    elif filling == "blur":
        from scipy.ndimage import gaussian_filter

        spread = BLUR * max(images.shape[1:3])
        found = gaussian_filter(images.astype(np.float64), (0, spread, spread, 0))
    else:
        found = np.full(images.shape, filling)
    return (np.rint(found) if whole else found).astype(images.dtype)


def destroyed(images: Images, filled: Images, order: Places, where: Places, steps: int) -> Iterator[Images]:
    """Yield images after 1, 2, ... ``steps`` regions of each were replaced; each array is a new one."""
    now = images.copy()
    for step in range(steps):
        gone = where == order[:, step, None, None]
        now[gone] = filled[gone]
        yield now.copy()


# What a classifier says of images: asked batch by batch, and checked each time ----------------------------------------


#: Images that are shown twice, to find out whether what comes is drawn; and how far two answers may differ.
_TRIED, _REPEATED = 8, 1e-4


@dataclass(frozen=True, slots=True)
class Answers:
    """What a classifier says of some images.

    Attributes
    ----------
    classes : array of int32 of shape (n,)
        What it predicts, as indices.
    outputs : array of shape (n, n_classes) or None
        Probabilities or scores, where it gives any.
    """

    classes: Indices
    outputs: Floats | None


class Classifier:
    """A function of images, called on batches of them.

    Parameters
    ----------
    predict : callable
        Takes an array of shape (b, height, width, channels), returns (b, n_classes) probabilities or scores, or (b,)
        classes.
    images : array of shape (n, height, width, channels)
        What it is asked of first, which settles what its answers are.
    labels : array of shape (n,) or None
        As :func:`demele.core.labelled.read_labels` returns them.
    words : Vocabulary or None
        The classes, where they are known.
    batch : int
        Images that are given at once.
    closed : bool
        Whether a class that was neither given, nor a label, nor predicted of a whole image is refused.

    Attributes
    ----------
    words : Vocabulary
    whole : Answers
        Of the images.

    Raises
    ------
    InputError, InputTypeError
        If its answers cannot be used, or differ between two calls.
    """

    def __init__(
        self,
        predict: Callable[[Images], Any],
        images: Images,
        labels: Array | None,
        words: Vocabulary | None,
        batch: int,
        *,
        closed: bool = False,
    ) -> None:
        if not callable(predict):
            raise InputTypeError("predict", f"expected a function of a batch of images, got {type(predict).__name__}")
        self._predict, self._batch = predict, batch
        self._shape: tuple[int, ...] | None = None
        self._closed = closed or words is not None
        first = self._called(images)
        self._shape = first.shape[1:]
        once, again = (self._called(images[:_TRIED]) for _ in range(2))
        near = once == again if once.ndim == 1 else np.abs(once - again) <= _REPEATED * np.abs(once).max()
        if not near.all():
            message = "two calls on the same images give different answers: something is drawn"
            raise InputError("predict", message, "with PyTorch, call eval() on the network first")
        if words is None and first.ndim == 1:  # what is predicted of whole images or given as label
            read = read_labels(first, "predict")
            alike = labels is not None and labels.dtype.kind == read.dtype.kind
            words = vocabulary(np.concatenate([read, labels]) if alike and labels is not None else read)
        elif words is None and labels is not None and labels.dtype.kind != "i":
            message = f"`predict` gives {first.shape[1]} columns and `labels` are names"
            raise InputError("classes", message, "say which class each column is, in order, with `classes=[...]`")
        self.words = Vocabulary(tuple(range(first.shape[1]))) if words is None else words
        if first.ndim == 2 and first.shape[1] != len(self.words):
            raise InputError("predict", f"expected {len(self.words)} columns, one per class, got {first.shape[1]}")
        self.whole = self._read(first)

    def answers(self, images: Images) -> Answers:
        """Say what it says of images."""
        return self._read(self._called(images))

    def _read(self, given: Array) -> Answers:
        if given.ndim == 1:
            read = read_labels(given, "predict")
            if not self._closed:
                known = self.words.classes
                self.words = Vocabulary((*known, *sorted(set(read.tolist()).difference(known))))
            return Answers(self.words.encode(read, "predict"), None)
        return Answers(given.argmax(axis=1).astype(np.int32), given)

    def _called(self, images: Images) -> Array:
        """Ask batch by batch; what is asked gets arrays of its own."""
        parts = [images[start : start + self._batch] for start in range(0, len(images), self._batch)]
        found = [_checked(self._predict(part.copy()), len(part)) for part in parts]
        shape = found[0].shape[1:] if self._shape is None else self._shape
        for one in found:
            if one.shape[1:] != shape:
                raise InputError("predict", f"expected {shape} per image as before, got {one.shape[1:]}")
        return np.concatenate(found)


def _checked(given: Any, n: int) -> Array:
    """Return what came for n images as numbers of shape (n, n_classes), or classes of shape (n,)."""
    found = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if found.ndim not in (1, 2) or len(found) != n:
        raise InputError("predict", f"expected shape ({n}, n_classes) or ({n},) for {n} images, got {found.shape}")
    if found.ndim == 1:
        if found.dtype.kind == "f" and not np.array_equal(found, np.rint(found)):
            message = f"expected classes in an array of shape ({n},), got numbers such as {found[0]:g}"
            raise InputError("predict", message, "give a column of probabilities for each class, as predict_proba does")
        return found
    if found.shape[1] < 2:
        raise InputError("predict", f"expected a column for each of 2 or more classes, got {found.shape[1]}")
    if found.dtype.kind not in "fiub":
        raise InputTypeError("predict", f"expected numbers, got values of type {found.dtype}")
    outputs = found.astype(np.float64)
    refuse_infinite(outputs, "predict", "rows")
    return outputs


def refuse_infinite(values: Array, argument: str, what: str) -> None:
    """Refuse rows of an array that hold values that are not finite."""
    wrong = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if wrong.size:
        raise InputError(argument, f"{wrong.size} {what} hold values that are not finite, first at row {wrong[0]}")


# What a classifier says of every image while its regions go, in one order, as often as something is drawn -------------


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
    followed : array of int32 of shape (n,)
        The class whose output is followed, or, for the accuracy, the label.
    """

    where: Places
    steps: int
    filling: Filling | float
    ends: tuple[float, float]
    n_repeats: int
    seed: int
    measured: Measured
    followed: Indices

    def runs(self, order: Order) -> int:
        """Return how often an order is gone through: once, if nothing in it is drawn."""
        return self.n_repeats if order == "random" or self.filling == "uniform" else 1

    def values(self, answers: Answers, rows: Any) -> Floats:
        """Return what is measured of some images."""
        followed = self.followed[rows]
        if self.measured == "accuracy" or answers.outputs is None:
            return np.asarray(answers.classes == followed, dtype=np.float64)
        return np.asarray(answers.outputs[np.arange(len(followed)), followed])


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
            some, numbers = images[rows], np.arange(n)[rows]
            filled = fillings(some, numbers, setting.filling, setting.ends, setting.seed, run)
            states = destroyed(some, filled, first_to_last[rows], setting.where, setting.steps)
            for step, now in enumerate(states, start=1):
                answers = classifier.answers(now)
                values[run, rows, step] = setting.values(answers, rows)
                predicted[run, rows, step] = answers.classes
                done(len(now))
    return Course(values, predicted)


def half_gone(images: Images, row: int, importance: Floats, setting: Setting) -> Images:
    """Return an image without the half of its regions that are destroyed first, the most important."""
    order = destruction_order(importance, "most", setting.seed, 0)[row]
    numbers = np.array([row])
    (filled,) = fillings(images[numbers], numbers, setting.filling, setting.ends, setting.seed, 0)
    gone = np.isin(setting.where, order[: math.ceil(setting.steps / 2)])
    return np.asarray(np.where(gone[..., None], filled, images[row]))


# Curves and areas, and how far labels that may be wrong move them -----------------------------------------------------

Ends = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class KnownNoise:
    """What is known of wrong labels: given classes of shape (n,), of k, and how many may be wrong."""

    labels: Indices
    k: int
    budget: NoiseBudget

    def inner(self, level: float) -> float:
        """Return the level of sampling intervals: half the error goes to limits that hold with some confidence only."""
        return level if self.budget.level is None else 1 - (1 - level) / 2


def t_factor(n: int, level: float) -> float:
    """Return the quantile of Student's distribution that an interval at this level is made with."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, n - 1))


def mean_interval(values: Floats, level: float) -> tuple[Floats, Ends]:
    """Return means over the first axis, and Student's interval of each.

    Examples
    --------
    >>> mean, (low, high) = mean_interval(np.array([0.0, 1.0, 2.0]), 0.95)
    >>> float(mean), round(float(low), 3), round(float(high), 3)
    (1.0, -1.484, 3.484)
    """
    mean = values.mean(axis=0)
    half = t_factor(len(values), level) * values.std(axis=0, ddof=1) / math.sqrt(len(values))
    return mean, (mean - half, mean + half)


def area_payoffs(run: Course, k: int) -> Floats:
    """Return the area of each image for every label that it could have: shape (n, k).

    With label y, it is 1 if y is predicted of the whole image, minus the share of steps at which y is predicted.
    """
    runs, n, steps = run.predicted.shape
    places = np.arange(n)[:, None] * k + run.predicted.transpose(1, 0, 2).reshape(n, -1)
    shares = np.bincount(places.ravel(), minlength=n * k).reshape(n, k) / (runs * steps)
    return np.asarray((run.predicted[0, :, 0][:, None] == np.arange(k)) - shares, dtype=np.float64)


def bounded_mean(payoffs: Floats, known: KnownNoise, level: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Bound the mean of what depends on the label of each image, where so many labels may be wrong.

    Parameters
    ----------
    payoffs : array of shape (n, k)
        The value of each image, for every label that it could have.
    known : KnownNoise
    level : float

    Returns
    -------
    mean : (float, float)
        Lowest and highest on these images: the labels that would lower (raise) it most are the wrong ones.
    interval : (float, float)
        Holds Student's interval on any possible true labels: around both means, with the largest possible standard
        deviation. The sum of squared distances to the observed mean bounds the one to any other.
    """
    n = len(payoffs)
    given = payoffs[np.arange(n), known.labels]
    centre = given.mean()

    def farthest(changes: Floats) -> float:
        return float(np.sort(changes)[::-1][: known.budget.wrong].sum())

    lowest = centre - farthest(given - payoffs.min(axis=1)) / n
    highest = centre + farthest(payoffs.max(axis=1) - given) / n
    own, squares = (given - centre) ** 2, (payoffs - centre) ** 2
    deviation = math.sqrt((own.sum() + farthest(squares.max(axis=1) - own)) / (n - 1))
    half = t_factor(n, known.inner(level)) * deviation / math.sqrt(n)
    return (lowest, highest), (lowest - half, highest + half)


def corrected_accuracy(predicted: Indices, known: KnownNoise, level: float) -> tuple[float, float]:
    """Return the interval of the correct accuracy as :func:`demele.classifiers.assess` makes it."""
    table, n, inner = confusion_counts(known.labels, predicted, known.k), len(predicted), known.inner(level)
    right = float(np.trace(table))
    lowest, highest = correct_bounds("accuracy", table, known.budget)
    # The score interval moved by every bias that is possible, joined with those on all true labels that are.
    low, high = score_interval(right, n, level=inner)
    worst = worst_case_interval("accuracy", table, known.budget, level=inner)
    low, high = min(low - (right / n - lowest), worst[0]), max(high - (right / n - highest), worst[1])
    return max(float(low), 0.0), min(float(high), 1.0)


def area_estimate(of: str, courses: Sequence[Course], known: KnownNoise | None, level: float) -> Estimate:
    """Estimate the area of a course, or that of the first minus that of the second."""
    signs = (1, -1)[: len(courses)]
    values = np.asarray(sum(sign * run.areas.mean(axis=0) for sign, run in zip(signs, courses, strict=True)))
    mean, (low, high) = mean_interval(values, level)
    bias, corrected = None, None
    if known is not None:
        payoffs = sum(sign * area_payoffs(run, known.k) for sign, run in zip(signs, courses, strict=True))
        bounds, (least, most) = bounded_mean(np.asarray(payoffs), known, level)
        bias = float(mean) - bounds[1], float(mean) - bounds[0]
        corrected = Interval(low=least, high=most, level=level, method="t", kind="bias-union")
    return Estimate(
        measure="area",
        of=of,
        value=float(mean),
        trials=float(len(values)),
        interval=Interval(low=float(low), high=float(high), level=level, method="t"),
        bias=bias,
        corrected=corrected,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PerturbationCurve:
    """What is measured while regions go, averaged over images.

    Attributes
    ----------
    order : {"most", "random", "least"}
    values, low, high : array of shape (steps + 1,)
        Mean after 0, 1, 2, ... regions, and the ends of its interval, each by itself.
    corrected : (array, array) or None
        Of the accuracy on the true labels, where what is known of their noise was given.
    """

    order: str
    values: Floats
    low: Floats
    high: Floats
    corrected: tuple[Floats, Floats] | None = None


def curve_of(run: Course, order: Order, setting: Setting, known: KnownNoise | None, level: float) -> PerturbationCurve:
    """Return the mean of what is measured at each step, with its interval, and the corrected one if noise is known."""
    mean, ends = mean_interval(run.values.mean(axis=0), level)
    corrected: Ends | None = None
    if setting.measured == "accuracy":  # intervals of several runs are averaged
        n, hits = len(setting.followed), (run.predicted == setting.followed[:, None]).sum(axis=1)
        low, high = score_interval(hits, np.full(hits.shape, n), level=level)
        ends = low.mean(axis=0), high.mean(axis=0)
        if known is not None:
            columns = run.predicted.transpose(0, 2, 1).reshape(-1, n)
            found = np.array([corrected_accuracy(column, known, level) for column in columns])
            low, high = found.reshape(*hits.shape, 2).mean(axis=0).T
            corrected = low, high
    return PerturbationCurve(order=order, values=mean, low=ends[0], high=ends[1], corrected=corrected)
