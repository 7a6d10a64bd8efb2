"""What a perturbation test of importance maps says: its document."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.png import strip, within
from demele.core.result import about
from demele.report.document import (
    NOTHING,
    Block,
    Cell,
    Choice,
    Document,
    Images,
    Line,
    Lines,
    Pill,
    Section,
    Strip,
    Strips,
    Table,
    Tone,
)
from demele.report.written import count, ends, joined, marks_of, name, rate, written

if TYPE_CHECKING:
    from demele.evaluation.explanations.result import MapResult, PerturbationTest, WorstCase
    from demele.evaluation.results import Estimate

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
_ORDERS = {"most": "most important first", "random": "random order", "least": "least important first"}
_TONES: dict[str, Tone] = {"holds": "good", "misleads": "bad", "inconclusive": "open"}
#: Colours of a map: what speaks against the class, nothing, what speaks for it.
_AGAINST, _NOTHING, _FOR = (0, 114, 178), (255, 255, 255), (200, 84, 10)
#: Bytes of all images of a page, and the least width of a strip of them on it, in pixels of the screen.
_MOST_BYTES, _WIDE = 120_000, 360


def perturbation_document(result: "PerturbationTest") -> Document:
    """Say which maps find the regions that a classifier uses, and where each map is worst."""
    table = _areas(result)
    strips = [
        Strip(
            name(found.name),
            marks_of(found.difference.value, ends(decisive(found.difference))),
            written(found.difference.value),
            Pill(found.verdict, _TONES[found.verdict]),
        )
        for found in result.maps
    ]
    sides = ("worse than random", "better than random")
    region = "pixels" if result.region == (1, 1) else f"regions of {result.region[0]} x {result.region[1]} pixels"
    holds = sum(found.verdict == "holds" for found in result.maps)
    filling = _FILLINGS.get(str(result.destroy), f"the value {result.destroy}")
    orders = count(result.n_repeats, "random order")
    return Document(
        kind="Perturbation test",
        title="Does the explanation hold?" if len(result.maps) == 1 else "Which explanations hold?",
        headline=_headline(result),
        tone="good" if holds == len(result.maps) else "bad" if not holds else "open",
        sentences=[_best(result), _misleading(result), _labels(result)],
        figure=Strips("Difference to random order", strips, axis="Area", sides=sides, zero=0.0),
        table=table,
        scope=[
            count(result.n, "image"),
            f"{result.steps} of {count(result.regions, 'region')} destroyed",
            f"level {rate(result.level)}",
        ],
        sections=[
            Section("Scores", [table]),
            _pairs(result),
            Section("Curves", [Choice("Map", {name(found.name): [_curves(result, found)] for found in result.maps})]),
            _worst(result),
        ],
        method=[
            ("Measured", _NOUNS[result.measured]),
            ("Area", "mean fall of the measure over all steps (AOPC, Samek et al. 2017)"),
            ("Destroyed", f"{region}, one at each step, replaced by {filling}"),
            ("Random orders", f"{result.n_repeats} of each image"),
            ("Level", f"{rate(result.level)} for all differences together; each curve by itself"),
        ],
        methods=[
            f"{count(len(result.maps), 'importance map')} of {count(result.n, 'image')} were tested with demele",
            f"[@demele]: {result.steps} of {count(result.regions, 'region')} were replaced by {filling}, in the order",
            f"of the map and in {orders}. Compared is the area over the curve of the {_NOUNS[result.measured]}.",
        ],
        **about(result),
    )


def decisive(estimate: "Estimate") -> Any:
    """Return the interval that a verdict depends on: the corrected one, if there is one."""
    return estimate.interval if estimate.corrected is None else estimate.corrected


def _gap(found: "MapResult") -> str:
    return f"{name(found.name)} ({written(found.difference.value)} {written(ends(decisive(found.difference)))})"


def _headline(result: "PerturbationTest") -> str:
    if len(result.maps) > 1:
        holds = [name(found.name) for found in result.maps if found.verdict == "holds"]
        which = f": {joined(holds)}" if holds else ""
        return f"{len(holds)} of {len(result.maps)} maps are significantly better than random order{which}."
    (found,) = result.maps
    if found.verdict == "inconclusive":
        return f"Inconclusive: {_gap(found)} does not differ significantly from random order."
    better = "better" if found.verdict == "holds" else "worse"
    return f"{_gap(found)} is significantly {better} than random order."


def _best(result: "PerturbationTest") -> str:
    if not result.pairs:
        return ""
    names = [found.name for found in result.maps]
    wins = [pair.better for pair in result.pairs]
    best = [one for one in names if wins.count(one) == len(names) - 1]
    other = "every other" if len(names) > 2 else "the other"
    if best:
        return f"{name(best[0])} is significantly better than {other}."
    return f"No map is significantly better than {other}."


def _misleading(result: "PerturbationTest") -> str:
    worse = [name(found.name) for found in result.maps if found.verdict == "misleads"]
    if not worse or len(result.maps) == 1:
        return ""
    return f"{joined(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse than random order."


def _labels(result: "PerturbationTest") -> str:
    if any(found.difference.corrected is not None for found in result.maps):
        return "Some labels may be wrong: verdicts depend on the corrected intervals."
    return "All labels are taken as true." if result.measured == "accuracy" else "The test needs no labels."


def _areas(result: "PerturbationTest") -> Table:
    corrected = any(found.difference.corrected is not None for found in result.maps)
    columns = {"Map": "text", **{f"{title[:1].upper()}{title[1:]}": "number?" for title in _ORDERS.values()}}
    columns |= {"Difference": "number", "Interval": "number", **({"Corrected": "number"} if corrected else {})}
    columns |= {"Worse images": "percent.0", "Result": "text"}
    rows = []
    for found in result.maps:
        areas = [found.areas[order].value for order in _ORDERS]
        cells: list[Cell] = [name(found.name), *areas, found.difference.value, ends(found.difference.interval)]
        cells += [ends(found.difference.corrected)] if corrected else []
        rows.append([*cells, found.worse_than_random, Pill(found.verdict, _TONES[found.verdict])])
    note = "Difference: area of the most important first minus that of random order."
    return Table("Areas over the curve", columns, rows, note)


def _pairs(result: "PerturbationTest") -> Section:
    columns = {"First": "text", "Second": "text", "Difference": "number", "Interval": "number", "Better": "text"}
    rows = [
        (
            *(name(pair.first), name(pair.second), pair.estimate.value, ends(decisive(pair.estimate))),
            name(pair.better) if pair.better else Pill("inconclusive", "open"),
        )
        for pair in result.pairs
    ]
    return Section("Pairwise results", [Table("Pairs of maps", columns, rows)]) if rows else NOTHING


def _curves(result: "PerturbationTest", found: "MapResult") -> Lines:
    places = list(range(result.steps + 1))
    lines = []
    for order, title in _ORDERS.items():
        curve = found.curves[order]
        low, high = (curve.low, curve.high) if curve.corrected is None else curve.corrected
        lines.append(Line(title, places, *(values.tolist() for values in (curve.values, low, high))))
    axes = ("Regions destroyed", "count"), (_NOUNS[result.measured].partition(" of ")[0], "number")
    return Lines(f"Curves of {name(found.name)}", lines, *axes)


# Images ---------------------------------------------------------------------------------------------------------------


def _worst(result: "PerturbationTest") -> Section:
    """Show the images whose map does worst: image, map, and what is left without its important regions."""
    drawn, smaller = within(_MOST_BYTES, dict(_strips(result)))
    panels: dict[str, Sequence[Block]] = {}
    for place, found in enumerate(result.maps):
        shown, rows = [], []
        for case in found.worst:
            own = found.images.iloc[case.row]
            key = f"{place} {case.row}"
            shown.append((f"image {case.row}", [(f"image {case.row}, its map, and what is left", drawn[key])]))
            label = "" if own["label"] is None else name(own["label"])
            rows.append((str(case.row), float(own["difference"]), int(own["beats"]), name(own["predicted"]), label))
        if shown:
            wide = max(case.image.shape[1] for case in found.worst) * 3
            columns = {"Image": "text", "Difference": "number", "Random orders beaten": "count"}
            columns |= {"Predicted": "text", "Label": "text"}
            images = Images(f"Worst images of {name(found.name)}", shown, max(1, _WIDE // wide))
            panels[name(found.name)] = [images, Table(f"Worst images of {name(found.name)}, measured", columns, rows)]
    says = (
        "Left: the image. Middle: its map, orange for the class and blue against it. Right: the image without the half "
        "of its regions that the map calls most important."
    )
    return Section("Data", [says, Choice("Map", panels), smaller]) if panels else NOTHING


def _strips(result: "PerturbationTest") -> Iterator[tuple[str, NDArray[np.uint8]]]:
    for place, found in enumerate(result.maps):
        for case in found.worst:
            yield f"{place} {case.row}", _strip(case, result.ends)


def _strip(case: "WorstCase", limits: Sequence[float]) -> NDArray[np.uint8]:
    image, left = (_in_colours(one, limits) for one in (case.image, case.destroyed))
    return strip([np.stack([image, importance_picture(case.importance), left])])


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


def _in_colours(image: NDArray[Any], limits: Sequence[float]) -> NDArray[np.uint8]:
    """Return an image as bytes in three channels; of two or more than three, their mean."""
    values = np.asarray(image, dtype=np.float64)
    if values.shape[2] != 3:
        values = values.mean(axis=2, keepdims=True)
    scaled = 255 * (values - limits[0]) / ((limits[1] - limits[0]) or 1.0)
    whole: NDArray[np.uint8] = np.broadcast_to(np.rint(scaled.clip(0, 255)), (*values.shape[:2], 3)).astype(np.uint8)
    return whole
