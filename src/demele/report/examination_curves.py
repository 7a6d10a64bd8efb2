"""How codes respond to a factor, and how a training went: small figures that need no script."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Html, h
from demele.report.words import named, number, percent

__all__ = ["history_figure", "response"]

Item = Mapping[str, Any]


def response(sweep: Item, code: int, name: str, share: float | None, ends: tuple[float, float]) -> Html:
    """Draw the mean of a code at each value of a factor, and the range that the other factors cause.

    Parameters
    ----------
    sweep : mapping
        ``factor``, ``values``, and ``mean``, ``low`` and ``high`` by value and code.
    code : int
    name : str
        Of the code.
    share : float or None
        How much of the factor it tells.
    ends : (float, float)
        Of the axis: of all factors the same, so that a code that does not respond is flat.
    """
    mean, low, high = ([row[code] for row in sweep[key]] for key in ("mean", "low", "high"))
    below, above, middle = (_points(values, ends) for values in (low, high, mean))
    picture = h(
        "svg",
        h("polygon", class_="range", points=" ".join([*below, *reversed(above)])),
        h("polyline", class_="mean", points=" ".join(middle)),
        viewBox="0 0 100 60",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{name} along {sweep['factor']}: mean from {number(mean[0], 2)} to {number(mean[-1], 2)}",
    )
    told = [" ", h("span", percent(share, 0), class_="meaning")] if share is not None else []
    return h("figure", h("figcaption", named(name), told), picture, class_="response")


def _points(values: Sequence[float], ends: tuple[float, float]) -> list[str]:
    low, high = ends
    wide, tall = max(len(values) - 1, 1), (high - low) or 1.0
    return [f"{100 * place / wide:.2f},{58 - 56 * (value - low) / tall:.2f}" for place, value in enumerate(values)]


def history_figure(
    history: Mapping[str, Sequence[float | None]], key: str, title: str, *, along: str = "step", digits: int = 2
) -> Html:
    """Draw one quantity of a training against its steps, or epochs."""
    steps, values = history[along], history[key]
    known = [(float(step), value) for step, value in zip(steps, values, strict=True) if value is not None and step]
    if len(known) < 2:
        return h("")
    # The first steps fall from so high that nothing else would be seen.
    late = [value for _, value in known[len(known) // 20 :]]
    low, high = min(late), max(late)
    last, tall = known[-1][0], (high - low) or 1.0
    points = [
        f"{100 * step / last:.2f},{58 - 56 * (min(max(value, low), high) - low) / tall:.2f}" for step, value in known
    ]
    first = number(known[0][1], digits)
    picture = h(
        "svg",
        h("polyline", class_="mean", points=" ".join(points)),
        viewBox="0 0 100 60",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{title}, from {first} to {number(known[-1][1], digits)} after {last:,.0f} {along}s",
    )
    ends = f"{number(low, digits)} to {number(high, digits)}; last {number(known[-1][1], digits)}"
    told = h("span", ends, class_="meaning")
    return h("figure", h("figcaption", title, " ", told), picture, class_="response wide")
