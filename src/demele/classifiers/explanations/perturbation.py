"""The perturbation test of importance maps: what they call important is destroyed, and predictions watched."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from demele.classifiers.explanations.courses import (
    FILLINGS,
    ORDERS,
    Classifier,
    Course,
    Filling,
    Images,
    Measured,
    Order,
    Setting,
    course,
    half_gone,
    refuse_infinite,
    region_importance,
    regions,
)
from demele.classifiers.explanations.result import (
    MapDifference,
    MapResult,
    MapVerdict,
    PerturbationCurve,
    PerturbationTest,
    WorstCase,
    decisive,
)
from demele.classifiers.measures.bias import correct_bounds, worst_case_interval
from demele.classifiers.measures.confusion import confusion_counts
from demele.classifiers.question import classes_of, read_noise
from demele.classifiers.results import Estimate
from demele.core.arrays import Floats
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.kinds import (
    Confidence,
    Count,
    CountOrNone,
    Seed,
    checked,
    checked_name,
    checked_number,
    checked_whole,
    is_number,
    is_whole,
    suggestion,
)
from demele.core.labelled import ALL_CORRECT, Indices, read_labels, vocabulary
from demele.core.lazy import pd
from demele.core.proportions import score_interval
from demele.core.signature import Signature
from demele.core.uncertainty import Interval, Note
from demele.noise.audit import Audit
from demele.noise.budget import NoiseBudget, noise_budget
from demele.noise.transition import TransitionCounts, TransitionMatrix
from demele.runtime.progress import reporting

#: By default an image has at most so many regions along its longer side, and so many of all are destroyed.
MOST_ACROSS, MOST_STEPS = 16, 100
#: What the map is called that was given without a name.
NAMELESS = "map"


def _read_images(images: Any) -> tuple[Images, tuple[float, float]]:
    found = np.asarray(images)
    if found.dtype.kind not in "fiu":
        hint = "; draw them: images.images(range(len(images)))" if hasattr(images, "images") else ""
        raise InputTypeError("images", f"expected an array of numbers, got values of type {found.dtype}{hint}")
    if found.ndim == 3:
        found = found[..., None]
    if found.ndim != 4 or 0 in found.shape:
        told = f"(n, height, width) or (n, height, width, channels), got {np.shape(images)}"
        raise InputError("images", f"expected shape {told}")
    if len(found) < 2:
        raise NotEnoughData("images", "expected at least 2 images, for an interval, got 1")
    if found.dtype.kind == "f":
        refuse_infinite(found, "images", "images")
        return found, (float(found.min()), float(found.max()))
    if found.min() < 0 or found.max() > 255:
        message = f"expected whole numbers from 0 to 255, got {found.min()} to {found.max()}"
        raise InputError("images", message, "pass other values as real numbers, images.astype(float)")
    return found.astype(np.uint8, copy=False), (0.0, 255.0)


def _read_map(given: Any, name: str, shape: tuple[int, ...]) -> Floats:
    argument = "maps" if name == NAMELESS else f"maps[{name!r}]"
    found = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if found.dtype.kind not in "fiub":
        raise InputTypeError(argument, f"expected an array of numbers, got values of type {found.dtype}")
    if found.shape not in (shape, shape[:3]):
        hint = "; channels come last" if found.ndim == 4 and found.shape[2:] == shape[1:3] else ""
        raise InputError(argument, f"expected a map per image, shape {shape[:3]} or {shape}, got {found.shape}{hint}")
    whole = found.astype(np.float64)
    refuse_infinite(whole, argument, "maps")
    return whole.sum(axis=3) if whole.ndim == 4 else whole


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


def _verdict(estimate: Estimate) -> MapVerdict:
    interval = decisive(estimate)
    if interval.low > 0:
        return "holds"
    return "misleads" if interval.high < 0 else "inconclusive"


#: A map that says the same of so large a share of its regions leaves much of their order to chance.
TIED = 0.5


# The perturbation test of importance maps: what they call important is destroyed, and predictions watched -------------


@checked
def perturbation_test(
    predict: Callable[[Any], Any],
    images: ArrayLike,
    maps: ArrayLike | Mapping[str, ArrayLike],
    *,
    labels: object = None,
    measure: Measured | None = None,
    targets: ArrayLike | None = None,
    region: int | tuple[int, int] | None = None,
    steps: int | None = None,
    destroy: Filling | float = "uniform",
    n_repeats: Count = 10,
    noise: float | TransitionMatrix | TransitionCounts | None = None,
    classes: Sequence[object] | None = None,
    level: Confidence = 0.95,
    worst: CountOrNone = 12,
    batch: Count = 256,
    seed: Seed = 0,
) -> PerturbationTest:
    """Test whether the regions that importance maps mark as important matter to the classifier.

    The regions of each image are destroyed one after the other, the most important first, in random order, and the
    least important first. If a map holds, predictions fall faster in the first order than in random ones.

    Parameters
    ----------
    predict : callable
        Takes a batch of images as they were given, (b, height, width, channels), and returns probabilities or scores
        (b, n_classes), or classes (b,). :func:`demele.explain.predictor` makes one of a module of PyTorch.
    images : array-like of shape (n, height, width) or (n, height, width, channels)
        Whole numbers from 0 to 255, or real numbers.
    maps : array-like of shape (n, height, width), or mapping of name to one
        How important each pixel is, more being more; or (n, height, width, channels), which is summed over channels.
    labels : array-like of shape (n,), optional
        Classes. Numbers are columns of what ``predict`` returns, unless ``classes`` says otherwise.
    measure : {"score", "accuracy"}, optional
        What is to fall: the output for the class predicted of the whole image (needs no labels), or the accuracy. By
        default the accuracy if labels are given.
    targets : array-like of int of shape (n,), optional
        Columns whose output is followed, instead of the predictions for the whole images.
    region : int or (int, int), optional
        Side, or height and width, of a region in pixels; by default a sixteenth of the longer side.
    steps : int, optional
        Regions that are destroyed, one at each step; by default all, and 100 at most.
    destroy : {"uniform", "mean", "blur"} or float, default "uniform"
        Replacement of a region: values drawn for each image and repeat, between 0 and 255, or between the extremes of
        the images if they are real numbers; the mean colour of the image; the blurred image; or one value.
    n_repeats : int, default 10
        Random orders of each image, and draws of what is put in the place of regions.
    noise : float, TransitionMatrix or TransitionCounts, optional
        What is known of wrong labels, as for :func:`demele.classifiers.assess`; for the accuracy. Its curves, areas and
        differences then have corrected intervals, and verdicts use these.
    classes : sequence, optional
        All classes, in the order of the columns of what ``predict`` returns.
    level : float in (0, 1)
        Nominal coverage. The differences to random order share the error 1 - level (Bonferroni), and so do the pairs
        of maps; areas and points of curves have it each.
    worst : int, default 12
        Images that are kept of each map, those for which it does worst.
    batch : int, default 256
        Images per call of ``predict``; it bounds the memory in addition to the set and the answers.
    seed : int, default 0

    Returns
    -------
    PerturbationTest
        ``sentence``, ``to_frame()``, ``to_html(path)``; ``found[name].images`` has every image.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, NotEnoughData
        For shapes that differ, values that are not finite, answers of ``predict`` that cannot be used or differ
        between two calls, fewer than 2 images.

    Notes
    -----
    Source: Samek, Binder, Montavon, Lapuschkin and Müller 2017, which Benjelloun, section 5.3.1, names as the way to
    evaluate explanations. The area over the curve (AOPC, eq. 12) of an image is 1 / (L + 1) times the sum over
    k = 0 ... L of f(x_0) - f(x_k), with k regions destroyed; the whole image is among the terms, so that it is at most
    L / (L + 1) of a probability. Benjelloun prints that the map with the *smallest* fall is the best; the first of
    his three points, and his source, say the contrary, which is what is computed here.

    Differences from the paper: regions of equal importance have a random order, not the reading order. Orders are
    compared image by image on the same draws: if the map is as good as a random order, the mean difference is exactly
    0. Intervals are Student's over images. With a few very different images, the mean is far from normal, and its
    interval covers less.

    The measure ``"score"`` does not depend on labels. Accuracy does, and a wrong label moves it (Benjelloun): with at
    most m wrong labels, each area is bounded by the m labels that would move it most, for any classifier, and Student's
    interval is the union over all these. Points of curves are corrected as :func:`demele.classifiers.assess` does. If
    labels are wrong at random, independent of the image, with equal probability of the other K - 1 classes, all areas
    shrink by the same factor 1 - rate K / (K - 1), and no order of maps changes.

    Quantus (``RegionPerturbation``) gives the falls at k = 1 ... L, whose sum divided by L + 1 is the area here, to the
    rounding of single precision; its "black" is the least value of the image, not 0.

    A destroyed image is unlike those that the classifier has learned from, and what it then says may be due to that
    (Hooker et al. 2019): random order meets the same images, and another ``destroy`` should give the same verdict.

    Cost: at most (2 maps + 1) repeats steps n predictions; with a ``destroy`` that draws nothing,
    (2 maps + repeats) steps n.

    Examples
    --------
    A classifier that looks at one pixel, the map that says so, and one that points elsewhere:

    >>> rng = np.random.default_rng(0)
    >>> images = rng.random((40, 4, 4))
    >>> def predict(batch):
    ...     shade = batch[:, 1, 2, 0]
    ...     return np.stack([1 - shade, shade], axis=1)
    >>> right, wrong = np.zeros((40, 4, 4)), np.zeros((40, 4, 4))
    >>> right[:, 1, 2], wrong[:, 3, 3] = 1, 1
    >>> found = perturbation_test(predict, images, {"right": right, "wrong": wrong}, destroy=0.5)
    >>> [one.verdict for one in found]
    ['holds', 'misleads']
    >>> found.pairs[0].better
    'right'
    """
    shown, ends = _read_images(images)
    if isinstance(noise, Audit):
        message = "an audit cannot be used: confirmed labels do not check predictions on destroyed images"
        raise InputTypeError("noise", message, "give a limit of the share of wrong labels, or a transition matrix")
    supplied, measured = read_noise(noise), measure or ("score" if labels is None else "accuracy")
    checked_name(measured, "measure", get_args(Measured))
    if measured == "accuracy" and labels is None:
        raise InputError("labels", "the accuracy is measured against labels: give them, or pass `measure='score'`")
    if noise is not None and measured == "score":
        message = "outputs for a class do not depend on labels, so their noise does not matter"
        raise InputError("noise", message, "leave it out, or give `labels` and `measure='accuracy'`")
    names = classes_of(supplied, classes)
    read, n = None if labels is None else read_labels(labels, "labels"), len(shown)
    if read is not None and len(read) != n:
        raise InputError("labels", f"expected {n} labels, one per image, got {len(read)}")
    given = maps if isinstance(maps, Mapping) else {NAMELESS: maps}
    if not given:
        raise NotEnoughData("maps", "expected at least 1 map, got none")
    named = {str(name): _read_map(one, str(name), shown.shape) for name, one in given.items()}
    words = None if names is None else vocabulary(np.empty(0), classes=names)
    shape = shown.shape[1:3]
    side = -(-max(shape) // MOST_ACROSS) if region is None else region
    sides = tuple(side) if isinstance(side, tuple | list) else (side, side)
    if len(sides) != 2 or not all(map(is_whole, sides)):
        raise InputTypeError("region", f"expected a side, or (height, width), in pixels, got {quoted(region)}")
    if min(sides) < 1 or (all(side >= whole for side, whole in zip(sides, shape, strict=True)) and region is not None):
        raise InputError("region", f"expected 1 pixel or more, and several regions in an image of {shape}, got {sides}")
    sides = int(sides[0]), int(sides[1])
    where = regions(shown.shape[1], shown.shape[2], sides)
    count = int(where.max()) + 1
    expected = f"a whole number from 1 to {count}, the number of regions"
    length = min(count, MOST_STEPS)
    if steps is not None:
        length = checked_whole(steps, "steps", expected, inside=lambda number: 1 <= number <= count)
    if is_number(destroy):
        destroy = checked_number(destroy, "destroy", "a finite value", inside=np.isfinite)
    elif not isinstance(destroy, str) or destroy not in FILLINGS:
        hint = suggestion(destroy, FILLINGS) if isinstance(destroy, str) else ""
        raise UnknownNameError("destroy", f"expected {', '.join(FILLINGS)} or a number, got {quoted(destroy)}{hint}")
    classifier = Classifier(predict, shown, read, words, batch, closed=supplied is not None)
    whole, k = classifier.whole, len(classifier.words)
    coded = None if read is None else classifier.words.encode(read, "labels")
    columns = whole.classes if targets is None else np.asarray(targets)
    if columns.shape != (n,) or columns.dtype.kind not in "iu":
        raise InputError("targets", f"expected a column number for each of {n} images, got {quoted(targets)}")
    if columns.min() < 0 or columns.max() >= k:
        raise InputError("targets", f"expected columns from 0 to {k - 1}, got {columns.min()} to {columns.max()}")
    setting = Setting(
        where=where,
        steps=length,
        filling=destroy,
        ends=ends,
        n_repeats=n_repeats,
        seed=seed,
        measured=measured,
        followed=columns.astype(np.int32) if coded is None or measured == "score" else coded,
    )
    known = None
    if supplied is not None and coded is not None:
        own = supplied if isinstance(supplied, float) else supplied.ordered(classifier.words.classes)
        known = KnownNoise(coded, k, noise_budget(own, coded, k, tail=(1 - level) / 2))
    importance = {name: region_importance(one, where) for name, one in named.items()}
    passes = setting.runs("random") + 2 * len(named) * setting.runs("most")
    total, done = passes * length * n, 0
    with reporting() as report:

        def looked_at(more: int) -> None:
            nonlocal done
            done += more
            if report is not None:
                report(done, total, f"{done:,} of {total:,} destroyed images looked at")

        def goes(one: Floats, order: Order) -> Course:
            return course(classifier, shown, one, order, setting, batch=batch, done=looked_at)

        chance = goes(next(iter(importance.values())), "random")  # random orders serve all maps
        runs: dict[str, dict[Order, Course]] = {
            name: {"most": goes(one, "most"), "random": chance, "least": goes(one, "least")}
            for name, one in importance.items()
        }

    def estimate(of: str, courses: list[Course], shared: int = 1) -> Estimate:
        """Estimate an area, or the first minus the second, at a level shared with so many others."""
        own, signs = 1 - (1 - level) / shared, (1, -1)[: len(courses)]
        values = sum(sign * run.areas.mean(axis=0) for sign, run in zip(signs, courses, strict=True))
        mean, (low, high) = mean_interval(np.asarray(values), own)
        bias, corrected = None, None
        if known is not None:
            payoffs = sum(sign * area_payoffs(run, k) for sign, run in zip(signs, courses, strict=True))
            bounds, (least, most) = bounded_mean(np.asarray(payoffs), known, own)
            bias = float(mean) - bounds[1], float(mean) - bounds[0]
            corrected = Interval(low=least, high=most, level=own, method="t", kind="bias-union")
        interval = Interval(low=float(low), high=float(high), level=own, method="t")
        return Estimate(
            measure="area", of=of, value=float(mean), trials=float(n), interval=interval, bias=bias, corrected=corrected
        )

    def described(run: Course, order: Order) -> tuple[Estimate, PerturbationCurve]:
        return estimate(order, [run]), curve_of(run, order, setting, known, level)

    results, of_chance = [], described(chance, "random")
    for name, gone in runs.items():
        difference = estimate(name, [gone["most"], chance], len(named))
        means = {f"area_{order}": gone[order].areas.mean(axis=0) for order in ORDERS}
        of_images: dict[str, Any] = {
            **means,
            "difference": means["area_most"] - means["area_random"],
            "beats": (gone["most"].areas > chance.areas).sum(axis=0),
            "predicted": np.asarray(classifier.words.classes, dtype=object)[whole.classes],
            "label": read,
        }
        both = {order: of_chance if order == "random" else described(gone[order], order) for order in ORDERS}
        results.append(
            MapResult(
                name=name,
                verdict=_verdict(difference),
                difference=difference,
                areas={order: area for order, (area, _) in both.items()},
                curves={order: curve for order, (_, curve) in both.items()},
                images=pd.DataFrame(of_images, index=pd.RangeIndex(n, name="image")),
                worst=tuple(
                    WorstCase(
                        row=int(row),
                        image=shown[row],
                        importance=named[name][row],
                        destroyed=half_gone(shown, int(row), importance[name], setting),
                        most=gone["most"].values[:, row].mean(axis=0),
                        random=chance.values[:, row].mean(axis=0),
                    )
                    for row in np.argsort(of_images["difference"], kind="stable")[:worst]
                ),
            )
        )
    couples, pairs = list(itertools.combinations(runs, 2)), []
    for first, second in couples:
        gap = estimate(f"{first} - {second}", [runs[name]["most"] for name in (first, second)], len(couples))
        better = {"holds": first, "misleads": second, "inconclusive": None}[_verdict(gap)]
        pairs.append(MapDifference(first=first, second=second, estimate=gap, better=better))
    falls = "accuracy" if measured == "accuracy" else "prediction kept"
    if measured == "score" and whole.outputs is not None:
        shares = (whole.outputs >= 0).all() and (np.abs(whole.outputs.sum(axis=1) - 1) < 1e-3).all()
        falls = "probability" if shares else "output"
    notes = []
    for name, one in importance.items():
        distinct = 1 + (np.diff(np.sort(one, axis=1), axis=1) != 0).sum(axis=1).mean()
        if 1 - distinct / count >= TIED:
            message = f"{name!r} has {distinct:.1f} different values for {count} regions on average; equal ones have a "
            message += "random order"
            notes.append(Note(code="tied-regions", message=message, subject=(name,)))
    if known is not None:
        notes.append(Note(code="wrong-labels", message=f"at most {known.budget.wrong} of {n} labels are assumed wrong"))
    if falls == "output":
        message = "outputs are not probabilities: drops are in their unit; images with large outputs weigh more"
        notes.append(Note(code="outputs", message=message))
    assumptions = [
        "The images are a random sample of those that the maps are for.",
        "There are enough images for a mean over them to be nearly normal.",
    ]
    if known is not None:
        assumptions += [f"{text[:1].upper()}{text[1:].removesuffix('.')}." for text in known.budget.assumptions]
    elif falls == "accuracy":
        assumptions.append(ALL_CORRECT)
    arguments: dict[str, object] = {"measure": measured, "region": sides, "steps": length, "destroy": destroy}
    arguments |= {"n_repeats": n_repeats} | ({} if supplied is None else {"noise": supplied})
    met = {} if targets is None else {"targets": "given"}
    return PerturbationTest(
        maps=tuple(results),
        pairs=tuple(pairs),
        n=n,
        regions=count,
        region=sides,
        steps=length,
        n_repeats=n_repeats,
        measured=falls,
        destroy=destroy,
        level=level,
        ends=ends,
        assumptions=tuple(assumptions),
        notes=tuple(notes),
        signature=Signature.of(
            "perturbation_test", arguments | {"level": level, "seed": seed}, n=n, maps=len(named), **met
        ),
    )
