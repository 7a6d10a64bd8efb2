"""Result of a perturbation test: curves, areas, the gain of a map over random order, and its worst images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.results import Estimate
from demele.core.arrays import Floats
from demele.core.kinds import checked_name
from demele.core.lazy import pd
from demele.core.result import Result, about
from demele.core.signature import Signature
from demele.core.uncertainty import Note
from demele.report.document import Block, Choice, Document, Images, Line, Lines, Pill, Section, Tone
from demele.report.listing import Column, drawn, listed, strip, within
from demele.report.words import count, ends, joined, name, rate, written

if TYPE_CHECKING:
    from demele.classifiers.results import Estimate


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

    def in_colours(image: NDArray[Any]) -> NDArray[np.uint8]:
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


def importance_picture(importance: NDArray[Any]) -> NDArray[np.uint8]:
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
    painted: NDArray[np.uint8] = np.rint(_NOTHING + weight * (colour - np.asarray(_NOTHING))).astype(np.uint8)
    return painted


MapVerdict = Literal["holds", "inconclusive", "misleads"]


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
    image: NDArray[Any] = field(metadata={"json": False})
    importance: Floats = field(metadata={"json": False})
    destroyed: NDArray[Any] = field(metadata={"json": False})
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
    curves: Mapping[str, PerturbationCurve]
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
        return named[checked_name(name, "map", named)]

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
