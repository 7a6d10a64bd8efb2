"""How far wrong labels can move the difference of two classifiers: exact limits, as a figure and as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demele.core.written import floor_percent
from demele.report.estimates import axis, decimals
from demele.report.page import Cell, Html, h, table
from demele.report.words import Text, percent, points

__all__ = ["Disagreements", "figure", "rates_table", "reach"]


@dataclass(frozen=True, slots=True)
class Disagreements:
    """Instances on which two classifiers disagree, by what the given label says.

    ``lost``: the baseline is right; ``won``: the candidate; ``neither``: another class. ``n``: all instances.
    """

    lost: int
    won: int
    neither: int
    n: int

    def least(self, wrong: int) -> int:
        """Return the smallest difference of right answers, candidate minus baseline, with so many labels wrong.

        Study of noisy comparisons, formula 2: b - a - 2t - u with t = min(m, b), u = min(m - t, o).

        Examples
        --------
        >>> pair = Disagreements(lost=10, won=25, neither=4, n=100)
        >>> pair.least(0), pair.least(7), pair.least(25), pair.least(27), pair.least(90)
        (15, 1, -35, -37, -39)
        """
        turned = min(wrong, self.won)
        return self.won - self.lost - 2 * turned - min(wrong - turned, self.neither)

    def most(self, wrong: int) -> int:
        """Return the largest difference of right answers: the same with the roles exchanged."""
        return -Disagreements(self.won, self.lost, self.neither, self.n).least(wrong)

    def bends(self, until: int) -> list[int]:
        """Return the numbers of wrong labels between which both limits are straight."""
        places = {0, until, self.won, self.lost, self.won + self.neither, self.lost + self.neither}
        return sorted(place for place in places if place <= until)


def reach(pair: Disagreements, marks: Sequence[int]) -> int:
    """Return up to how many wrong labels to show: well past the marks and the place where the sign may change.

    Examples
    --------
    >>> reach(Disagreements(lost=100, won=220, neither=40, n=4000), [48])
    150
    """
    turning = abs(pair.won - pair.lost) / 2
    wanted = max(2.5 * turning, *(2 * mark for mark in marks), 0.02 * pair.n, 10)
    return min(pair.n, round(wanted))


def figure(pair: Disagreements, until: int, marks: Mapping[str, int], name: Text) -> Html:
    """Draw the limits of the difference against the number of wrong labels; a script moves a line through it."""
    places = pair.bends(until)
    least = [pair.least(place) / pair.n for place in places]
    most = [pair.most(place) / pair.n for place in places]
    low, high, ticks = axis([*least, *most, 0.0])
    marks = {text: place for text, place in marks.items() if place <= until}

    def x(place: float) -> str:
        return f"{1000 * place / until:.2f}"

    def y(value: float) -> str:
        return f"{300 * (high - value) / (high - low):.2f}"

    below = [f"{x(place)},{y(value)}" for place, value in zip(places, least, strict=True)]
    above = [f"{x(place)},{y(value)}" for place, value in zip(places, most, strict=True)]
    rules = [
        h("line", class_="zero" if abs(tick) < 1e-12 else "rule", x1="0", x2="1000", y1=y(tick), y2=y(tick))
        for tick in ticks
    ]
    picture = h(
        "svg",
        rules,
        h("polygon", class_="possible", points=" ".join([*below, *reversed(above)])),
        [h("polyline", class_="limit", points=" ".join(limit)) for limit in (below, above)],
        [h("line", class_="mark-line", x1=x(place), x2=x(place), y1="0", y2="300") for place in marks.values()],
        h("line", id="wrong-line", x1="0", x2="0", y1="0", y2="300", class_="now"),
        aria_hidden="true",
        viewBox="0 0 1000 300",
        preserveAspectRatio="none",
    )
    side = [
        h("span", points(tick, decimals(ticks), sign=True), style=f"top:{100 * (high - tick) / (high - low):.2f}%")
        for tick in ticks
    ]
    _, _, rates = axis([0.0, until / pair.n], steps=8)
    foot = [
        h("span", percent(rate, decimals(rates)), style=f"left:{100 * rate * pair.n / until:.2f}%")
        for rate in rates
        if rate * pair.n <= until * 1.001
    ]
    told = [
        h(
            "span",
            text,
            class_="told left" if place > until / 2 else "told",
            style=f"left:{100 * place / until:.2f}%;margin-bottom:{1.6 * line:.1f}em",  # one above the other
        )
        for line, (text, place) in enumerate(marks.items())
    ]
    frame = [h("div", side, class_="side"), h("div", picture, told, class_="plane"), h("div", foot, class_="foot")]
    return h(
        "figure",
        h("figcaption", name, ", in points"),
        h("div", frame, class_="frame"),
        h("p", "wrong labels", class_="foot-title"),
        class_="wedge",
        aria_hidden="true",
    )


def rates_table(pair: Disagreements, marks: Mapping[str, int], names: tuple[Text, Text]) -> Html:
    """Write both limits at round rates and at the marks."""
    places = {round(rate * pair.n): "" for rate in (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)}
    places |= {place: text for text, place in marks.items()}
    rows = []
    for place, text in sorted(places.items()):
        told = [" ", h("span", text, class_="meaning")] if text else []
        gaps = [Cell(points(gap / pair.n, 2, sign=True), gap) for gap in (pair.least(place), pair.most(place))]
        name = h("th", floor_percent(place / pair.n), told, scope="row", data_v=str(place))
        rows.append([name, Cell(f"{place:,}", place), *gaps])
    first, second = names
    heads: list[tuple[object, str] | None] = [
        ("Wrong labels", "text"),
        ("How many", "number"),
        (Text("Worst for ", second), "number"),
        (Text("Worst for ", first), "number"),
    ]
    return table("Limits of the true difference, candidate minus baseline, in points", heads, rows)
