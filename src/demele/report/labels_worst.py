"""How far wrong labels can move the difference of two classifiers: exact limits, as a figure and as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demele.report.labels_parts import axis, cell, table
from demele.report.labels_words import floor_percent, percent, points

__all__ = ["Disagreements", "figure", "rates_table", "reach"]


@dataclass(frozen=True, slots=True)
class Disagreements:
    """Instances on which two classifiers disagree, by what the given label says.

    ``lost``: the established one is right; ``won``: the candidate; ``neither``: another class. ``n``: all instances.
    """

    lost: int
    won: int
    neither: int
    n: int

    def least(self, wrong: int) -> int:
        """Return the smallest difference of right answers, candidate minus established, with so many labels wrong.

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


def figure(pair: Disagreements, until: int, marks: Mapping[str, int], name: str) -> str:
    """Draw the limits of the difference against the number of wrong labels; a script moves a line through it."""
    places = pair.bends(until)
    least = [pair.least(place) / pair.n for place in places]
    most = [pair.most(place) / pair.n for place in places]
    low, high, ticks = axis([*least, *most, 0.0])

    def at(place: float, value: float) -> str:
        return f"{1000 * place / until:.2f},{300 * (high - value) / (high - low):.2f}"

    below = " ".join(at(place, value) for place, value in zip(places, least, strict=True))
    above = " ".join(at(place, value) for place, value in zip(places, most, strict=True))
    back = " ".join(reversed(above.split()))
    lines = "".join(
        f'<line class="{"zero" if abs(tick) < 1e-12 else "rule"}" x1="0" x2="1000" y1="{y}" y2="{y}"/>'
        for tick in ticks
        for y in [f"{300 * (high - tick) / (high - low):.2f}"]
    )
    marked = "".join(
        f'<line class="mark-line" x1="{x}" x2="{x}" y1="0" y2="300"/>'
        for place in marks.values()
        for x in [f"{1000 * place / until:.2f}"]
        if place <= until
    )
    digits = _decimals(ticks)
    side = "".join(
        f'<span style="top:{100 * (high - tick) / (high - low):.2f}%">{points(tick, digits, sign=True)}</span>'
        for tick in ticks
    )
    _, _, rates = axis([0.0, until / pair.n], steps=8)
    foot = "".join(
        f'<span style="left:{100 * rate * pair.n / until:.2f}%">{percent(rate, _decimals(rates))}</span>'
        for rate in rates
        if rate * pair.n <= until * 1.001
    )
    told = "".join(
        f'<span class="told{" left" if place > until / 2 else ""}" style="left:{100 * place / until:.2f}%;'
        f'margin-bottom:{1.6 * line:.1f}em">{text}</span>'  # one above the other
        for line, (text, place) in enumerate(marks.items())
        if place <= until
    )
    return (
        f'<figure class="wedge" aria-hidden="true"><figcaption>{name}, in points</figcaption><div class="frame">'
        f'<div class="side">{side}</div><div class="plane">'
        f'<svg aria-hidden="true" viewBox="0 0 1000 300" preserveAspectRatio="none">{lines}'
        f'<polygon class="possible" points="{below} {back}"/><polyline class="limit" points="{below}"/>'
        f'<polyline class="limit" points="{above}"/>{marked}<line id="wrong-line" x1="0" x2="0" y1="0" y2="300" '
        f'class="now"/></svg>{told}</div><div class="foot">{foot}</div></div>'
        '<p class="foot-title">wrong labels</p></figure>'
    )


def _decimals(ticks: Sequence[float]) -> int:
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 0.01
    return 0 if step > 0.0099 else 1 if step > 0.00099 else 2 if step > 0.000099 else 3


def rates_table(pair: Disagreements, marks: Mapping[str, int], names: tuple[str, str]) -> str:
    """Write both limits at round rates and at the marks."""
    places = {round(rate * pair.n): "" for rate in (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)}
    places |= {place: text for text, place in marks.items()}
    rows = []
    for place, text in sorted(places.items()):
        told = f' <span class="meaning">{text}</span>' if text else ""
        rows.append(
            f'<tr><th scope="row" data-v="{place}">{floor_percent(place / pair.n)}{told}</th>'
            f"{cell(f'{place:,}', place)}{_gap(pair.least(place), pair.n)}{_gap(pair.most(place), pair.n)}</tr>"
        )
    first, second = names
    heads = [
        ("Wrong labels", "text"),
        ("How many", "number"),
        (f"Worst for {second}", "number"),
        (f"Worst for {first}", "number"),
    ]
    return table("Limits of the true difference, candidate minus established, in points", heads, rows)


def _gap(gap: int, n: int) -> str:
    return cell(points(gap / n, 2, sign=True), gap)
