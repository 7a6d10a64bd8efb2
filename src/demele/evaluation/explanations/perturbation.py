"""The perturbation test of importance maps: what they call important is destroyed, and predictions watched."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import checked_count
from demele.core.names import NEW_ARGUMENTS, renamed
from demele.core.seeds import checked_seed
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.evaluation.explanations.areas import KnownNoise
from demele.evaluation.explanations.arguments import Inputs, checked, checked_region, checked_steps, checked_targets
from demele.evaluation.explanations.classifier import Classifier
from demele.evaluation.explanations.courses import Course, Measured, Setting, course
from demele.evaluation.explanations.destruction import (
    Filling,
    Images,
    Order,
    checked_filling,
    region_importance,
    regions,
)
from demele.evaluation.explanations.map_results import Courses, Judged
from demele.evaluation.explanations.result import PerturbationTest
from demele.noise.transition import TransitionCounts, TransitionMatrix
from demele.runtime.progress import Report, reporting

Floats = NDArray[np.float64]


@renamed(**NEW_ARGUMENTS)
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
    n_repeats: int = 10,
    noise: float | TransitionMatrix | TransitionCounts | None = None,
    classes: Sequence[object] | None = None,
    level: float = 0.95,
    worst: int = 12,
    batch: int = 256,
    seed: int = 0,
    progress: bool | Report = False,
) -> PerturbationTest:
    """Test whether the regions that importance maps mark as important matter to the classifier.

    The regions of each image are destroyed one after the other, the most important first, in random order, and the
    least important first. If a map holds, predictions fall faster in the first order than in random ones.

    Parameters
    ----------
    predict : callable
        Takes a batch of images as they were given, (b, height, width, channels), and returns probabilities or scores
        (b, n_classes), or classes (b,). :func:`demele.models.predictor` makes one of a module of PyTorch.
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
        What is known of wrong labels, as for :func:`demele.evaluation.assess`; for the accuracy. Its curves, areas and
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
    progress : bool or callable(done, total, label), default False
        True shows a bar on terminals.

    Returns
    -------
    PerturbationTest
        ``sentence``, ``to_frame()``, ``curves_frame()``, ``to_html(path)``; ``found[name].images`` has every image.

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
    interval is the union over all these. Points of curves are corrected as :func:`demele.evaluation.assess` does. If
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
    inputs = checked(images, maps, labels, noise, measure, classes, level)
    sides = checked_region(region, inputs.images.shape[1:3])
    where = regions(inputs.images.shape[1], inputs.images.shape[2], sides)
    count, size = int(where.max()) + 1, checked_count(batch, "batch", 1)
    filling, length, kept = checked_filling(destroy), checked_steps(steps, count), checked_count(worst, "worst", 0)
    runs, seed = checked_count(n_repeats, "n_repeats", 1), checked_seed(seed)
    classifier = Classifier(predict, inputs.images, inputs.labels, inputs.words, size, closed=inputs.noise is not None)
    coded = None if inputs.labels is None else classifier.words.encode(inputs.labels, "labels")
    followed = Setting(
        where=where,
        steps=length,
        filling=filling,
        ends=inputs.ends,
        n_repeats=runs,
        seed=seed,
        measured=inputs.measured,
        targets=classifier.whole.classes
        if targets is None
        else checked_targets(targets, inputs.n, len(classifier.words)),
        labels=coded,
    )
    known = None
    if inputs.noise is not None and coded is not None:
        own = inputs.noise if isinstance(inputs.noise, float) else inputs.noise.ordered(classifier.words.classes)
        known = KnownNoise.of(own, coded, len(classifier.words), inputs.level)
    importance = {name: region_importance(one, where) for name, one in inputs.maps.items()}
    courses = _courses(classifier, inputs.images, importance, followed, size, progress)
    judged = Judged(inputs, classifier, followed, courses, importance, known, kept)
    return PerturbationTest(
        maps=judged.maps(),
        pairs=judged.pairs(),
        n=inputs.n,
        regions=count,
        region=sides,
        steps=length,
        n_repeats=runs,
        measured=judged.measured,
        destroy=filling,
        level=inputs.level,
        ends=inputs.ends,
        assumptions=judged.assumptions(),
        notes=judged.notes(),
        signature=_signature(inputs, followed, sides, own_targets=targets is not None),
    )


def _courses(
    classifier: Classifier,
    images: Images,
    importance: Mapping[str, Floats],
    setting: Setting,
    batch: int,
    progress: bool | Report,
) -> Courses:
    """Destroy the regions of all images in every order; random orders serve all maps."""
    orders: list[tuple[str, Order]] = [(name, order) for name in importance for order in ("most", "least")]
    passes = setting.runs("random") + sum(setting.runs(order) for _, order in orders)
    total, done = passes * setting.steps * len(images), 0
    found: dict[tuple[str, Order], Course] = {}
    with reporting(progress) as report:

        def looked_at(more: int) -> None:
            nonlocal done
            done += more
            if report is not None:
                report(done, total, f"{done:,} of {total:,} destroyed images looked at")

        def run(name: str, order: Order) -> Course:
            return course(classifier, images, importance[name], order, setting, batch=batch, done=looked_at)

        chance = run(next(iter(importance)), "random")
        for name, order in orders:
            found[name, order] = run(name, order)
            found[name, "random"] = chance
    return found


def _signature(inputs: Inputs, setting: Setting, sides: tuple[int, int], *, own_targets: bool) -> Signature:
    arguments: dict[str, object] = {"measure": inputs.measured, "region": sides, "steps": setting.steps}
    arguments |= {"destroy": setting.filling, "n_repeats": setting.n_repeats}
    if inputs.noise is not None:
        arguments["noise"] = inputs.noise
    arguments |= {"level": inputs.level, "seed": setting.seed}
    context = {"n": str(inputs.n), "maps": str(len(inputs.maps)), "demele": __version__}
    if own_targets:
        context["targets"] = "given"
    return Signature("perturbation_test", arguments, context)
