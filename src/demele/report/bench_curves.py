"""Curves as small pictures that need no script."""

from collections.abc import Sequence
from html import escape

from demele.report.bench_view import BenchView, Item
from demele.report.bench_words import label_of
from demele.report.figures import value_range
from demele.report.words import number

__all__ = ["small_multiples", "sparkline"]

_WIDTH, _HEIGHT, _EDGE = 132.0, 56.0, 4.0


def small_multiples(view: BenchView, metric: str) -> str:
    """Write one small picture for each scenario of a metric, all on one axis."""
    curves = [view.curves[metric, name] for name in view.scenarios if (metric, name) in view.curves]
    if not curves:
        return ""
    low, high = value_range(value for curve in curves for key in ("mean", "low", "high") for value in curve[key])
    pictures = "".join(_picture(view, curve, low, high) for curve in curves)
    return f'<ul class="multiples">{pictures}</ul>'


def _picture(view: BenchView, curve: Item, low: float, high: float) -> str:
    scenario = view.scenarios[curve["scenario"]]
    title = escape(view.scenario_title(curve["scenario"]))
    known = [(place, mean) for place, mean in enumerate(curve["mean"]) if mean is not None]
    if curve.get("declined") or not known:
        reasons = [reason for reason in curve.get("reasons") or () if reason]
        reason = curve.get("declined") or (reasons[0] if reasons else "no value")
        return f'<li class="declined"><b>{title}</b><span>takes no part: {escape(str(reason))}</span></li>'
    (first, start), (last, end) = known[0], known[-1]
    words = (
        f"{number(start)} at {escape(label_of(scenario, first))}, {number(end)} at {escape(label_of(scenario, last))}"
    )
    ends = number(start) if len(known) == 1 else f"{number(start)} → {number(end)}"
    return (
        f'<li><button type="button" class="spark" data-metric="{escape(str(curve["metric"]))}" '
        f'data-scenario="{escape(str(curve["scenario"]))}" title="{words}"><b>{title}</b>'
        f'{sparkline(curve["mean"], curve["low"], curve["high"], low, high)}<span class="ends">{ends}</span>'
        f'<span class="hidden">{words}. Show the curve.</span></button></li>'
    )


def sparkline(
    mean: Sequence[float | None],
    lower: Sequence[float | None],
    upper: Sequence[float | None],
    low: float,
    high: float,
) -> str:
    """Draw means as a line with points, their intervals as a band; where a mean is missing the line breaks."""
    step = (_WIDTH - 2 * _EDGE) / max(1, len(mean) - 1)

    def at(place: int) -> float:
        return round(_WIDTH / 2 if len(mean) == 1 else _EDGE + step * place, 1)

    def up(value: float) -> float:
        return round(_HEIGHT - _EDGE - (value - low) / (high - low) * (_HEIGHT - 2 * _EDGE), 1)

    lines = "".join(
        f'<line class="{kind}" x1="0" x2="{_WIDTH:g}" y1="{up(value)}" y2="{up(value)}"/>'
        for kind, value in (("zero", 0.0), ("one", 1.0))
    )
    parts = [lines]
    for run in _runs(mean):
        values = [(at(place), mean[place], lower[place], upper[place]) for place in run]
        tops = [f"{x},{up(value if top is None else top)}" for x, value, _, top in values if value is not None]
        feet = [f"{x},{up(value if foot is None else foot)}" for x, value, foot, _ in values if value is not None]
        if len(run) > 1:
            points = " ".join(f"{x},{up(value)}" for x, value, _, _ in values if value is not None)
            parts.append(f'<polygon class="band" points="{" ".join([*tops, *reversed(feet)])}"/>')
            parts.append(f'<polyline class="mean" points="{points}"/>')
        else:
            parts.append(f'<polyline class="bar" points="{tops[0]} {feet[0]}"/>')
        parts += [f'<circle cx="{x}" cy="{up(value)}" r="1.6"/>' for x, value, _, _ in values if value is not None]
    return f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" aria-hidden="true">{"".join(parts)}</svg>'


def _runs(mean: Sequence[float | None]) -> list[list[int]]:
    """Places of means without a gap between them."""
    runs: list[list[int]] = [[]]
    for place, value in enumerate(mean):
        if value is not None:
            runs[-1].append(place)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
