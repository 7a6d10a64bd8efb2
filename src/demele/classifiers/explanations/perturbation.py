"""The perturbation test of importance maps: what they call important is destroyed, and predictions watched."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from demele.classifiers.explanations import courses
from demele.classifiers.question import classes_of, read_noise
from demele.classifiers.results import Estimate
from demele.core import kinds
from demele.core.arrays import Array, Bytes, Floats, pd
from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.labelled import ALL_CORRECT, read_labels, vocabulary
from demele.core.result import Note, Result, about
from demele.core.signature import Signature
from demele.noise.audit import Audit
from demele.noise.budget import noise_budget
from demele.noise.transition import TransitionCounts, TransitionMatrix
from demele.report.document import Block, Choice, Document, Images, Line, Lines, Pill, Section, Tone
from demele.report.listing import Column, drawn, listed, strip, within
from demele.report.words import count, ends, joined, name, rate, written
from demele.runtime.work import reporting

# What a perturbation test of importance maps says: its document -------------------------------------------------------

#: What is measured, as a noun.
_NOUNS = {
    "probability": "probability of the class predicted of the whole image",
    "output": "output for the class predicted of the whole image",
    "prediction kept": "share of images whose prediction has not changed",
    "accuracy": "accuracy against the given labels",
}
_FILLINGS = {
    "uniform": "random values for each image and repeat",
    "mean": "the mean colour of the image",
    "blur": "the blurred image",
}
_ORDERS = {"most": "Most important first", "random": "Random order", "least": "Least important first"}
_DIFFERENCE = "Difference to random order"
_TONES: dict[str, Tone] = {"holds": "good", "misleads": "bad", "inconclusive": "open"}
#: Colours of a map: what speaks against the class, nothing, what speaks for it.
_AGAINST, _NOTHING, _FOR = (0, 114, 178), (255, 255, 255), (200, 84, 10)
#: Bytes of all images of a page, and the least width of a strip of them on it, in pixels of the screen.
_MOST_BYTES, _WIDE = 120_000, 360


def perturbation_document(result: "PerturbationTest") -> Document:
    """Say which maps find the regions that a classifier uses, and where each map is worst."""
    columns: list[Column[MapResult]] = [
        ("Map", "text", "name"),
        *((title, "number?", lambda one, order=order: one.areas[order].value) for order, title in _ORDERS.items()),
        ("Difference", "number", "difference.value"),
        ("Interval", "number", "difference.interval"),
        ("Corrected", "number", "difference.corrected"),
        ("Worse images", "percent.0", "worse_than_random"),
        ("Result", "text", lambda one: Pill(one.verdict, _TONES[one.verdict])),
    ]
    note = "Difference: area of the most important first minus that of random order."
    table = listed("Areas over the curve", result.maps, columns, note)
    pairs: list[Column[MapDifference]] = [
        ("First", "text", "first"),
        ("Second", "text", "second"),
        ("Difference", "number", "estimate.value"),
        ("Interval", "number", lambda pair: decisive(pair.estimate)),
        ("Better", "text", lambda pair: name(pair.better) if pair.better else Pill("inconclusive", "open")),
    ]
    axes, curves = (("Regions destroyed", "count"), (_NOUNS[result.measured].partition(" of ")[0], "number")), {}
    for found in result.maps:
        lines = []
        for order, title in _ORDERS.items():
            curve = found.curves[order]
            low, high = (curve.low, curve.high) if curve.corrected is None else curve.corrected
            ends_of = (values.tolist() for values in (curve.values, low, high))
            lines.append(Line(title, list(range(result.steps + 1)), *ends_of))
        curves[name(found.name)] = [Lines(f"Curves of {name(found.name)}", lines, *axes)]
    holds = [name(found.name) for found in result.maps if found.verdict == "holds"]
    of, first = len(result.maps), result.maps[0]
    gap = f"{name(first.name)} ({written(first.difference.value)} {written(ends(decisive(first.difference)))})"
    headline = f"{gap} is significantly {'better' if first.verdict == 'holds' else 'worse'} than random order."
    if of > 1:
        which = f": {joined(holds)}" if holds else ""
        headline = f"{len(holds)} of {of} maps are significantly better than random order{which}."
    elif first.verdict == "inconclusive":
        headline = f"Inconclusive: {gap} does not differ significantly from random order."
    labels = "All labels are taken as true." if result.measured == "accuracy" else "The test needs no labels."
    if first.difference.corrected is not None:
        labels = "Some labels may be wrong: verdicts depend on the corrected intervals."
    sides = ("worse than random", "better than random")
    region = "pixels" if result.region == (1, 1) else f"regions of {result.region[0]} x {result.region[1]} pixels"
    filling = _FILLINGS.get(str(result.destroy), f"the value {result.destroy}")
    interval = "Corrected" if "Corrected" in table.columns else "Interval"
    return Document(
        kind="Perturbation test",
        title="Does the explanation hold?" if of == 1 else "Which explanations hold?",
        headline=headline,
        tone="good" if len(holds) == of else "open" if holds else "bad",
        sentences=[labels],
        figure=drawn(table, "Difference", interval=interval, axis="Area", sides=sides, zero=0.0, caption=_DIFFERENCE),
        table=table,
        scope=[
            count(result.n, "image"),
            f"{result.steps} of {count(result.regions, 'region')} destroyed",
            f"level {rate(result.level)}",
        ],
        sections=[
            Section("Scores", [table]),
            Section("Pairwise results", [listed("Pairs of maps", result.pairs, pairs)]),
            Section("Curves", [Choice("Map", curves)]),
            _worst(result),
        ],
        methods=[
            f"{count(of, 'importance map')} of {count(result.n, 'image')} were tested with demele",
            f"[@demele]: {result.steps} of {count(result.regions, 'region')} ({region}) were replaced by {filling}.",
            f"The order was that of the map, or one of {count(result.n_repeats, 'random order')} of each image.",
            f"Compared is the area over the curve (AOPC) of the {_NOUNS[result.measured]}.",
            f"The level {rate(result.level)} is that of all differences together; each curve has it by itself.",
        ],
        **about(result),
    )


def decisive(estimate: "Estimate") -> Any:
    """Return the interval that a verdict depends on: the corrected one, if there is one."""
    return estimate.interval if estimate.corrected is None else estimate.corrected


# Images ---------------------------------------------------------------------------------------------------------------


def _worst(result: "PerturbationTest") -> Section:
    """Show the images whose map does worst: image, map, and what is left without its important regions."""
    low, high = result.ends

    def in_colours(image: Array) -> Bytes:
        """Return an image as bytes in three channels; of two or more than three, their mean."""
        values = image if image.shape[2] == 3 else image.mean(axis=2, keepdims=True, dtype=np.float64)
        scaled = np.rint((255 * (values - low) / ((high - low) or 1.0)).clip(0, 255))
        return np.broadcast_to(scaled, (*image.shape[:2], 3)).astype(np.uint8)

    strips = {
        f"{place} {one.row}": strip(
            [np.stack([in_colours(one.image), importance_picture(one.importance), in_colours(one.destroyed)])]
        )
        for place, found in enumerate(result.maps)
        for one in found.worst
    }
    images, smaller = within(_MOST_BYTES, strips)
    panels: dict[str, Sequence[Block]] = {}
    for place, found in enumerate(result.maps):
        shown = []
        for case in found.worst:
            own = found.images.iloc[case.row]
            label = "" if own["label"] is None else f", labelled {name(own['label'])}"
            title = f"image {case.row}: predicted {name(own['predicted'])}{label}, {written(float(own['difference']))}"
            shown.append((title, [(f"image {case.row}, its map, and what is left", images[f"{place} {case.row}"])]))
        wide = max((case.image.shape[1] for case in found.worst), default=1) * 3
        pictures = Images(f"Worst images of {name(found.name)}", shown, max(1, _WIDE // wide))
        panels |= {name(found.name): [pictures]} if shown else {}
    says = "Left: the image; middle: its map, orange for the class; right: without the half that it ranks first."
    return Section("Data", [says, Choice("Map", panels), smaller])


def importance_picture(importance: Array) -> Bytes:
    """Paint a map: the strongest pixel of either sign in full colour, 0 in white.

    Examples
    --------
    >>> importance_picture(np.array([[0.0, 2.0, -1.0]]))[0].tolist()
    [[255, 255, 255], [200, 84, 10], [128, 184, 216]]
    """
    values = np.asarray(importance, dtype=np.float64)
    share = values / (np.abs(values).max() or 1.0)
    colour = np.where(share[..., None] > 0, _FOR, _AGAINST)
    weight = np.abs(share)[..., None]
    return np.asarray(np.rint(_NOTHING + weight * (colour - np.asarray(_NOTHING))), dtype=np.uint8)


MapVerdict = Literal["holds", "inconclusive", "misleads"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCase:
    """An image whose map does worse than random orders, or least better.

    Attributes
    ----------
    row : int
    image : array of shape (height, width, channels)
    importance : array of shape (height, width)
        Its map.
    destroyed : array of shape (height, width, channels)
        The image without the half of its regions that were destroyed first, the most important.
    most, random : array of shape (steps + 1,)
        Its own curves.
    """

    row: int
    image: Array = field(metadata={"json": False})
    importance: Floats = field(metadata={"json": False})
    destroyed: Array = field(metadata={"json": False})
    most: Floats
    random: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MapResult:
    """What one method of explanation is worth.

    Attributes
    ----------
    name : str
    verdict : {"holds", "inconclusive", "misleads"}
        Whether the regions that the map calls important matter more to the classifier than regions at random: what the
        interval of ``difference`` says, the corrected one if there is one.
    difference : Estimate
        Area of the most important first minus that of random order, image by image. Its level is shared with the other
        maps, so that all verdicts hold together.
    areas : mapping of order to Estimate
        Area over the curve (AOPC): how far the measure falls on average over all steps. Each interval by itself.
    curves : mapping of order to PerturbationCurve
    images : DataFrame of shape (n, 7)
        Row per image, in their order: ``area_most``, ``area_random``, ``area_least``, ``difference``, ``beats`` (how
        many of the random orders its map does better than), ``predicted``, ``label``.
    worst : tuple of WorstCase
        Smallest differences first.
    """

    name: str
    verdict: MapVerdict
    difference: Estimate
    areas: Mapping[str, Estimate]
    curves: Mapping[str, courses.PerturbationCurve]
    images: "pd.DataFrame"
    worst: tuple[WorstCase, ...]

    @property
    def worse_than_random(self) -> float:
        """Share of images whose map does worse than the mean of the random orders."""
        return float((self.images["difference"] < 0).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class MapDifference:
    """One map compared with another, image by image.

    Attributes
    ----------
    first, second : str
    estimate : Estimate
        Area of the first minus that of the second, most important first. Its level is shared with all other pairs.
    better : str or None
        The one that is shown to be better.
    """

    first: str
    second: str
    estimate: Estimate
    better: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PerturbationTest(Result):
    """Result of a perturbation test of explanations.

    ``found["gradient"]`` is what was found of one map; a test of a single one also iterates over it.

    Attributes
    ----------
    maps : tuple of MapResult
    pairs : tuple of MapDifference
        Every two maps.
    n, regions, steps, repeats : int
        Images; regions of each; how many of them went; random orders, and draws of what is put in their place.
    region : (int, int)
        Height and width of a region, in pixels.
    measured : str
        What falls: ``"probability"`` or ``"output"`` of one class, ``"prediction kept"`` (1 until another class is
        predicted), or ``"accuracy"``.
    destroy : str or float
    level : float
    assumptions : tuple of str
    notes : tuple of Note
    signature : Signature
    """

    _kind = "perturbation test"

    maps: tuple[MapResult, ...]
    pairs: tuple[MapDifference, ...]
    n: int
    regions: int
    region: tuple[int, int]
    steps: int
    n_repeats: int
    measured: str
    destroy: str | float
    level: float
    ends: tuple[float, float]
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def __getitem__(self, name: str) -> MapResult:
        named = {found.name: found for found in self.maps}
        return named[kinds.checked_name(name, "map", named)]

    def __iter__(self) -> Iterator[MapResult]:
        return iter(self.maps)

    def to_frame(self) -> "pd.DataFrame":
        """Row per map: its areas, the difference to random order with its interval, the verdict."""
        rows = [
            {
                "map": found.name,
                **{f"area_{order}": estimate.value for order, estimate in found.areas.items()},
                **{
                    key: value
                    for key, value in found.difference.row().items()
                    if key not in ("measure", "of", "trials")
                },
                "worse_than_random": found.worse_than_random,
                "verdict": found.verdict,
            }
            for found in self.maps
        ]
        return pd.DataFrame(rows).rename(columns={"value": "difference"}).set_index("map")

    document = perturbation_document


#: By default an image has at most so many regions along its longer side, and so many of all are destroyed.
MOST_ACROSS, MOST_STEPS = 16, 100
#: What the map is called that was given without a name.
NAMELESS = "map"


def _read_images(images: Any) -> tuple[Array, tuple[float, float]]:
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
        courses.refuse_infinite(found, "images", "images")
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
    courses.refuse_infinite(whole, argument, "maps")
    return whole.sum(axis=3) if whole.ndim == 4 else whole


def _verdict(estimate: Estimate) -> MapVerdict:
    interval = decisive(estimate)
    if interval.low > 0:
        return "holds"
    return "misleads" if interval.high < 0 else "inconclusive"


#: A map that says the same of so large a share of its regions leaves much of their order to chance.
TIED = 0.5


# The perturbation test of importance maps: what they call important is destroyed, and predictions watched -------------


@kinds.checked
def perturbation_test(
    predict: Callable[[Any], Any],
    images: ArrayLike,
    maps: ArrayLike | Mapping[str, ArrayLike],
    *,
    labels: object = None,
    measure: courses.Measured | None = None,
    targets: ArrayLike | None = None,
    region: int | tuple[int, int] | None = None,
    steps: int | None = None,
    destroy: courses.Filling | float = "uniform",
    n_repeats: kinds.Count = 10,
    noise: float | TransitionMatrix | TransitionCounts | None = None,
    classes: Sequence[object] | None = None,
    level: kinds.Confidence = 0.95,
    worst: kinds.CountOrNone = 12,
    batch: kinds.Count = 256,
    seed: kinds.Seed = 0,
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
    if len(sides) != 2 or not all(map(kinds.is_whole, sides)):
        raise InputTypeError("region", f"expected a side, or (height, width), in pixels, got {quoted(region)}")
    if min(sides) < 1 or (all(side >= whole for side, whole in zip(sides, shape, strict=True)) and region is not None):
        raise InputError("region", f"expected 1 pixel or more, and several regions in an image of {shape}, got {sides}")
    sides = int(sides[0]), int(sides[1])
    where = courses.regions(shown.shape[1], shown.shape[2], sides)
    n_regions = int(where.max()) + 1
    expected = f"a whole number from 1 to {n_regions}, the number of regions"
    length = min(n_regions, MOST_STEPS)
    if steps is not None:
        length = kinds.checked_whole(steps, "steps", expected, inside=lambda number: 1 <= number <= n_regions)
    if kinds.is_number(destroy):
        destroy = kinds.checked_number(destroy, "destroy", "a finite value", inside=np.isfinite)
    elif not isinstance(destroy, str) or destroy not in courses.FILLINGS:
        hint = kinds.suggestion(destroy, courses.FILLINGS) if isinstance(destroy, str) else ""
        fillings = ", ".join(courses.FILLINGS)
        raise UnknownNameError("destroy", f"expected {fillings} or a number, got {quoted(destroy)}{hint}")
    classifier = courses.Classifier(predict, shown, read, words, batch, closed=supplied is not None)
    whole, k = classifier.whole, len(classifier.words)
    coded = None if read is None else classifier.words.encode(read, "labels")
    columns = whole.classes if targets is None else np.asarray(targets)
    if columns.shape != (n,) or columns.dtype.kind not in "iu":
        raise InputError("targets", f"expected a column number for each of {n} images, got {quoted(targets)}")
    if columns.min() < 0 or columns.max() >= k:
        raise InputError("targets", f"expected columns from 0 to {k - 1}, got {columns.min()} to {columns.max()}")
    setting = courses.Setting(
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
        known = courses.KnownNoise(coded, k, noise_budget(own, coded, k, tail=(1 - level) / 2))
    importance = {name: courses.region_importance(one, where) for name, one in named.items()}
    passes = setting.runs("random") + 2 * len(named) * setting.runs("most")
    total, done = passes * length * n, 0
    with reporting() as report:

        def looked_at(more: int) -> None:
            nonlocal done
            done += more
            if report is not None:
                report(done, total, f"{done:,} of {total:,} destroyed images looked at")

        goes = partial(courses.course, classifier, shown, setting=setting, batch=batch, done=looked_at)
        chance = goes(next(iter(importance.values())), "random")  # random orders serve all maps
        runs: dict[str, dict[courses.Order, courses.Course]] = {
            name: {"most": goes(one, "most"), "random": chance, "least": goes(one, "least")}
            for name, one in importance.items()
        }

    def described(run: courses.Course, order: courses.Order) -> tuple[Estimate, courses.PerturbationCurve]:
        return courses.area_estimate(order, [run], known, level), courses.curve_of(run, order, setting, known, level)

    results, of_chance = [], described(chance, "random")
    for called, gone in runs.items():
        difference = courses.area_estimate(called, [gone["most"], chance], known, 1 - (1 - level) / len(named))
        means = {f"area_{order}": gone[order].areas.mean(axis=0) for order in courses.ORDERS}
        of_images: dict[str, Any] = {
            **means,
            "difference": means["area_most"] - means["area_random"],
            "beats": (gone["most"].areas > chance.areas).sum(axis=0),
            "predicted": np.asarray(classifier.words.classes, dtype=object)[whole.classes],
            "label": read,
        }
        both = {order: of_chance if order == "random" else described(gone[order], order) for order in courses.ORDERS}
        results.append(
            MapResult(
                name=called,
                verdict=_verdict(difference),
                difference=difference,
                areas={order: area for order, (area, _) in both.items()},
                curves={order: curve for order, (_, curve) in both.items()},
                images=pd.DataFrame(of_images, index=pd.RangeIndex(n, name="image")),
                worst=tuple(
                    WorstCase(
                        row=int(row),
                        image=shown[row],
                        importance=named[called][row],
                        destroyed=courses.half_gone(shown, int(row), importance[called], setting),
                        most=gone["most"].values[:, row].mean(axis=0),
                        random=chance.values[:, row].mean(axis=0),
                    )
                    for row in np.argsort(of_images["difference"], kind="stable")[:worst]
                ),
            )
        )
    couples, pairs = list(itertools.combinations(runs, 2)), []
    for first, second in couples:
        most = [runs[one]["most"] for one in (first, second)]
        gap = courses.area_estimate(f"{first} - {second}", most, known, 1 - (1 - level) / len(couples))
        better = {"holds": first, "misleads": second, "inconclusive": None}[_verdict(gap)]
        pairs.append(MapDifference(first=first, second=second, estimate=gap, better=better))
    falls = "accuracy" if measured == "accuracy" else "prediction kept"
    if measured == "score" and whole.outputs is not None:
        shares = (whole.outputs >= 0).all() and (np.abs(whole.outputs.sum(axis=1) - 1) < 1e-3).all()
        falls = "probability" if shares else "output"
    notes = []
    for called, one in importance.items():
        distinct = 1 + (np.diff(np.sort(one, axis=1), axis=1) != 0).sum(axis=1).mean()
        if 1 - distinct / n_regions >= TIED:
            message = f"{called!r} has {distinct:.1f} different values for {n_regions} regions on average; equal ones "
            message += "have a random order"
            notes.append(Note(code="tied-regions", message=message, subject=(called,)))
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
        regions=n_regions,
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
