"""What is drawn of a perturbation test: curves with their intervals, and pictures of maps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.report.examination_pictures import strip
from demele.report.page import Html, h
from demele.report.words import named, number

__all__ = ["MARKS", "curves_figure", "importance_picture", "own_curves", "pictures_of"]

Item = Mapping[str, Any]
Pixels = NDArray[np.uint8]

#: Orders in the order of the key, and what they are called.
MARKS = {"most": "most important first", "random": "random order", "least": "least important first"}
#: Colours of a map: what speaks against the class, nothing, what speaks for it.
_AGAINST, _NOTHING, _FOR = (0, 114, 178), (255, 255, 255), (200, 84, 10)
#: The figure: its size, and the room for numbers at the left and below.
_WIDE, _TALL, _LEFT, _BELOW, _ABOVE = 360, 220, 46, 34, 8


def curves_figure(one: Item, measured: str) -> Html:
    """Draw the three curves of a map, each with its band; dotted the ends of corrected intervals."""
    curves = {curve["order"]: curve for curve in one["curves"]}
    steps = len(curves["most"]["values"]) - 1
    ends = [value for curve in curves.values() for key in ("low", "high") for value in curve[key]]
    ends += [value for curve in curves.values() for side in curve["corrected"] or () for value in side]
    frame = _Frame(steps, *((0.0, 1.0) if measured != "output" else (min(ends), max(ends))))
    drawn = []
    for order in ("least", "random", "most"):  # what is asked about is drawn on top
        curve = curves[order]
        band = [*frame.points(curve["low"]), *reversed(frame.points(curve["high"]))]
        drawn.append(h("polygon", class_=f"band {order}", points=" ".join(band)))
        drawn += [
            h("polyline", class_=f"bound {order}", points=" ".join(frame.points(side)))
            for side in curve["corrected"] or ()
        ]
        drawn.append(h("polyline", class_=f"curve {order}", points=" ".join(frame.points(curve["values"]))))
    told = ", ".join(f"{MARKS[order]} to {number(curves[order]['values'][-1], 2)}" for order in MARKS)
    picture = h(
        "svg",
        frame.axes("regions destroyed"),
        drawn,
        viewBox=f"0 0 {_WIDE} {_TALL}",
        role="img",
        aria_label=f"{measured} from {number(curves['most']['values'][0], 2)}: {told}, after {steps} regions",
    )
    return h("figure", h("figcaption", h("strong", named(one["name"]))), picture)


class _Frame:
    """Places in a figure, of steps and of values."""

    def __init__(self, steps: int, low: float, high: float) -> None:
        self.steps, self.low, self.high = max(steps, 1), low, high if high > low else low + 1

    def points(self, values: Sequence[float]) -> list[str]:
        return [f"{self._x(step):.1f},{self._y(value):.1f}" for step, value in enumerate(values)]

    def _x(self, step: float) -> float:
        return _LEFT + (_WIDE - _LEFT - 6) * step / self.steps

    def _y(self, value: float) -> float:
        return _TALL - _BELOW - (_TALL - _BELOW - _ABOVE) * (value - self.low) / (self.high - self.low)

    def axes(self, words: str) -> Html:
        """Draw lines at round values, and write them."""
        values = [self.low + share * (self.high - self.low) for share in (0, 0.25, 0.5, 0.75, 1)]
        digits = 2 if self.high - self.low <= 10 else 0
        lines = [
            h(
                "",
                h("line", class_="grid", x1=_LEFT, x2=_WIDE - 6, y1=f"{self._y(one):.1f}", y2=f"{self._y(one):.1f}"),
                h("text", number(one, digits), x=_LEFT - 6, y=f"{self._y(one) + 4:.1f}", text_anchor="end"),
            )
            for one in values
        ]
        steps = sorted({0, self.steps // 2, self.steps})
        below = _TALL - _BELOW + 15
        marks = [
            h("text", f"{step}", x=f"{self._x(step):.1f}", y=below, text_anchor=_anchor(step, steps)) for step in steps
        ]
        middle = f"{(_LEFT + _WIDE - 6) / 2:.1f}"
        return h("g", lines, marks, h("text", words, x=middle, y=_TALL - 4, text_anchor="middle"), class_="axes")


def _anchor(step: int, steps: Sequence[int]) -> str:
    return "start" if step == steps[0] else "end" if step == steps[-1] else "middle"


def own_curves(case: Item, name: str) -> Html:
    """Draw the curves of one image, most important first and in random order, on one scale."""
    values = [*case["most"], *case["random"]]
    low, high = min(0.0, *values), max(*values, 1e-12)

    def points(curve: Sequence[float]) -> str:
        wide, tall = max(len(curve) - 1, 1), high - low or 1.0
        return " ".join(f"{100 * k / wide:.1f},{38 - 36 * (one - low) / tall:.1f}" for k, one in enumerate(curve))

    return h(
        "svg",
        h("polyline", class_="curve random", points=points(case["random"])),
        h("polyline", class_="curve most", points=points(case["most"])),
        viewBox="0 0 100 40",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{name}: from {number(case['most'][0], 2)}, most important first, against random order",
        class_="own",
    )


# Pictures -------------------------------------------------------------------------------------------------------------


def pictures_of(worst: Iterable[Sequence[Item]], ends: Sequence[float]) -> dict[str, Pixels]:
    """Return a strip per worst case, by the places of its map and of itself: image, map, what is left."""
    found = {}
    for place, cases in enumerate(worst):
        for number_of_case, case in enumerate(cases):
            image, left = (_in_colours(case[key], ends) for key in ("image", "destroyed"))
            three = [image, importance_picture(case["importance"]), left]
            found[f"{place} {number_of_case}"] = strip([np.stack(three)])
    return found


def importance_picture(importance: NDArray[Any]) -> Pixels:
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
    painted: Pixels = np.rint(_NOTHING + weight * (colour - np.asarray(_NOTHING))).astype(np.uint8)
    return painted


def _in_colours(image: NDArray[Any], ends: Sequence[float]) -> Pixels:
    """Return an image as bytes in three channels; of two or more than three, their mean."""
    values = np.asarray(image, dtype=np.float64)
    if values.shape[2] != 3:
        values = values.mean(axis=2, keepdims=True)
    scaled = 255 * (values - ends[0]) / ((ends[1] - ends[0]) or 1.0)
    whole: Pixels = np.broadcast_to(np.rint(scaled.clip(0, 255)), (*values.shape[:2], 3)).astype(np.uint8)
    return whole
