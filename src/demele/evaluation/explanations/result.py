"""What a perturbation test has found: curves, areas, what a map is worth beside chance, and where it is worst."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import UnknownNameError, quoted
from demele.core.names import suggestion
from demele.core.publish import publish
from demele.core.results import Interval, Note
from demele.core.shown import SaidTable
from demele.core.signature import Signature
from demele.core.written import Published, plain
from demele.evaluation.results import Estimate

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
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
    image: NDArray[Any]
    importance: Floats
    destroyed: NDArray[Any]
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
    """One map beside another, image by image.

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
class PerturbationTest(Published, SaidTable):
    """Whether explanations hold, and where they do not.

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

    _page = "perturbation test"
    _kind = "perturbation test"

    maps: tuple[MapResult, ...]
    pairs: tuple[MapDifference, ...]
    n: int
    regions: int
    region: tuple[int, int]
    steps: int
    repeats: int
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
        raise UnknownNameError(f"no map is called {quoted(name)}{suggestion(str(name), names)}")

    def __iter__(self) -> Iterator[MapResult]:
        return iter(self.maps)

    def __len__(self) -> int:
        return len(self.maps)

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return _words(self.maps, self.pairs, self.measured)

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

    def to_dict(self) -> dict[str, Any]:
        """Everything but the pictures, as plain values that JSON can hold (NaN becomes None)."""
        whole: dict[str, Any] = plain(
            {
                "kind": "perturbation_test",
                "demele": dict(self.signature.context).get("demele"),
                "sentence": self.sentence,
                "maps": [_map_content(found) for found in self.maps],
                "pairs": [asdict(pair) for pair in self.pairs],
                "images": [
                    {"map": found.name, **row}
                    for found in self.maps
                    for row in found.images.reset_index().to_dict(orient="records")
                ],
                **{
                    key: getattr(self, key)
                    for key in ("n", "regions", "region", "steps", "repeats", "measured", "destroy", "level")
                },
                "assumptions": self.assumptions,
                "notes": [asdict(note) for note in self.notes],
                "signature": str(self.signature),
            }
        )
        return whole

    def to_content(self) -> dict[str, Any]:
        """Everything: what :meth:`to_dict` returns, and the pictures of the worst cases as arrays."""
        pictures = [
            [{"image": one.image, "importance": one.importance, "destroyed": one.destroyed} for one in found.worst]
            for found in self.maps
        ]
        return {**self.to_dict(), "pictures": pictures, "ends": self.ends}

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained HTML page: the sentence, curves, areas, and the worst cases as pictures.

        Raises
        ------
        MissingExtraError
            If Pillow (``demele[images]``) is not installed.
        """
        written: Path = publish(self._page, self.to_content(), path)
        return written

    def __repr__(self) -> str:
        head = f"PerturbationTest of {self.n} images, {self.steps} of {self.regions} regions destroyed"
        lines = [
            f"  {found.name}: area {found.areas['most'].value:z.3f}, {found.difference.value:+z.3f} "
            f"{decisive(found.difference)} against random order: {found.verdict}"
            for found in self.maps
        ]
        return "\n".join([head, *lines])


def decisive(estimate: Estimate) -> Interval:
    """Return the interval that a verdict rests on: the corrected one, if there is one."""
    found = estimate.interval if estimate.corrected is None else estimate.corrected
    if found is None:
        raise ValueError("an area without an interval")
    return found


def _words(maps: Sequence[MapResult], pairs: Sequence[MapDifference], measured: str) -> str:
    """Say what was found: the maps that hold, those that mislead, those of which nothing is shown, the best."""
    noun = {"prediction kept": "of the predictions", "output": "of the output"}.get(measured, measured)
    told = []
    for verdict, claim in _CLAIMS.items():
        own = [found for found in maps if found.verdict == verdict]
        if own:
            several = len(own) > 1
            names = _listed([f"{found.name} ({_signed(found.difference)})" for found in own])
            told.append(claim[several].format(names=names, noun=noun))
    others = {name: {found.name for found in maps} - {name} for name in (found.name for found in maps)}
    beaten = {
        name: {pair.first if pair.second == name else pair.second for pair in pairs if pair.better == name}
        for name in others
    }
    best = [name for name in others if pairs and beaten[name] == others[name]]
    if best:
        told.append(f"{best[0]} is shown to be better than {'every other' if len(maps) > 2 else 'the other'}.")
    elif pairs:
        told.append(
            "No map is shown to be better than every other." if len(maps) > 2 else "Neither is shown to be better."
        )
    return " ".join(told)


#: What a verdict says of one map, and of several.
_CLAIMS = {
    "holds": (
        "{names} holds: what it calls important, destroyed first, costs more {noun} than regions in random order.",
        "{names} hold: what they call important, destroyed first, costs more {noun} than regions in random order.",
    ),
    "misleads": (
        "{names} misleads: what it calls important, destroyed first, costs less {noun} than regions in random order.",
        "{names} mislead: what they call important, destroyed first, costs less {noun} than regions in random order.",
    ),
    "inconclusive": (
        "{names} is not told apart from random order.",
        "{names} are not told apart from random order.",
    ),
}


def _signed(estimate: Estimate) -> str:
    interval = decisive(estimate)
    return f"{estimate.value:+z.3f} [{interval.low:z.3f}, {interval.high:z.3f}]"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _map_content(found: MapResult) -> dict[str, Any]:
    return {
        "name": found.name,
        "verdict": found.verdict,
        "worse_than_random": found.worse_than_random,
        "difference": asdict(found.difference),
        "areas": {order: asdict(estimate) for order, estimate in found.areas.items()},
        "curves": [asdict(curve) for curve in found.curves.values()],
        "worst": [{"row": one.row, "most": one.most, "random": one.random} for one in found.worst],
    }
