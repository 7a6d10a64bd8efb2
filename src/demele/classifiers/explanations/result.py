"""Result of a perturbation test: curves, areas, the gain of a map over random order, and its worst images."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.explanations.documents import perturbation_document
from demele.classifiers.results import Estimate
from demele.core.arrays import Floats
from demele.core.errors import UnknownNameError, quoted
from demele.core.names import suggestion
from demele.core.result import Result
from demele.core.results import Note
from demele.core.signature import Signature

if TYPE_CHECKING:
    import pandas as pd


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
        for found in self.maps:
            if found.name == name:
                return found
        names = [found.name for found in self.maps]
        raise UnknownNameError(f"unknown map {quoted(name)}{suggestion(str(name), names)}")

    def __iter__(self) -> Iterator[MapResult]:
        return iter(self.maps)

    def __len__(self) -> int:
        return len(self.maps)

    def to_frame(self) -> "pd.DataFrame":
        """Row per map: its areas, the difference to random order with its interval, the verdict."""
        import pandas as pd

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

    def curves_frame(self) -> "pd.DataFrame":
        """Row per map, order and step: value, interval, corrected interval (NaN where there is none)."""
        import pandas as pd

        parts = []
        for found in self.maps:
            for curve in found.curves.values():
                nothing = np.full(self.steps + 1, np.nan)
                low, high = curve.corrected or (nothing, nothing)
                columns = {"map": found.name, "order": curve.order, "destroyed": np.arange(self.steps + 1)}
                columns |= {"value": curve.values, "low": curve.low, "high": curve.high}
                parts.append(pd.DataFrame(columns | {"corrected_low": low, "corrected_high": high}))
        return pd.concat(parts, ignore_index=True)

    document = perturbation_document
