"""Differences between representations: in words, over the runs of models, and pair by pair."""

from collections.abc import Mapping, Sequence
from typing import Any

from demele.report.page import Cell, Html, h, paragraph, table
from demele.report.scores_view import View
from demele.report.words import DASH, Text, brackets, count, level_text, link, named, number, probability, strong

__all__ = ["by_model", "differences", "shown_first"]

Item = Mapping[str, Any]
#: Pairs whose tables are open at first.
MOST_OPEN = 3


def shown_first(comparison: Item | None) -> Html:
    """Write at the head of the page how many differences are significant."""
    if comparison is None:
        return h("")
    told = Text(strong(comparison["sentence"]), " ", link("#differences", "Which, and by how much."))
    return h("div", paragraph(told), class_="lead")


def differences(view: View, comparison: Item | None) -> Html:
    """Write which differences of each pair are significant, with every difference; nothing without a comparison."""
    if comparison is None:
        return h("")
    words = h("ul", [h("li", sentence) for sentence in comparison["sentences"][1:]], class_="in_words")
    pairs: dict[tuple[str, str], list[Item]] = {}
    for row in comparison["differences"]:
        pairs.setdefault((row["first"], row["second"]), []).append(row)
    is_open = len(pairs) <= MOST_OPEN and any(row["low"] is not None for row in comparison["differences"])
    tables = [_pair(view, pair, rows, comparison, is_open=is_open) for pair, rows in pairs.items()]
    whole = h("div", paragraph(strong(comparison["sentence"])), words, class_="lead")
    return h("", whole, _models(view, comparison), paragraph(_reading(comparison)) if pairs else "", tables)


def _reading(comparison: Item) -> Text:
    level = level_text(comparison["level"])
    if comparison["unit"] == "runs":
        how = "by the same seeds" if comparison["paired_runs"] else "by Welch's method, which lets models vary unlike"
        rows = any(" rows" in (row["method"] or "") for row in comparison["differences"])
        over = f"over training runs{' and rows' if rows else ''}, {how}"
    else:
        over = "over rows: all representations are scored on the same halves of them, so that what the rows do to all "
        over += "alike drops out. Two intervals of single scores may overlap where the difference is significant"
    return Text(
        f"Brackets and the bar are {level} intervals of a difference by itself, {over}. Significant alone: the "
        "interval excludes 0. Significant together (bold): also with one error for all differences. The upright line "
        "is 0."
    )


def by_model(view: View, comparison: Item | None) -> View:
    """Return the view whose columns are models with their means over runs, where runs were named."""
    if comparison is None or not comparison["models"]:
        return view
    place = {str(item["name"]): index for index, item in enumerate(view.evaluations)}
    made = []
    for model, runs in comparison["models"].items():
        scores = []
        for row in comparison["model_scores"]:
            if row["model"] == model:
                own = [view.score(place[run], row["metric"]) or {} for run in runs]
                notes = [note for score in own for note in score.get("notes", ())]
                scores.append(
                    {"metric": row["metric"], "value": row["mean"], "interval": row["interval"], "notes": notes}
                )
        made.append({"name": model, "scores": scores})
    return View(made, view.catalogue, of_models=True)


def _models(view: View, comparison: Item) -> Html:
    """Write mean, spread and interval of each model by each metric."""
    models: Mapping[str, Sequence[str]] = comparison["models"]
    if not models:
        return h("")
    found = {(row["model"], row["metric"]): row for row in comparison["model_scores"]}
    heads = [("Metric", "text"), *((_with_runs(name, runs), "number") for name, runs in models.items())]
    rows = [
        [view.catalogue.title(metric), *(_model_cell(found.get((model, metric))) for model in models)]
        for metric in view.metrics
    ]
    whole = table("Mean over the runs of each model", heads, rows, kind="models")
    guide = "Means over runs, ± their standard deviation; brackets are intervals of the mean, over runs on these rows."
    return h("", h("h3", "Models, over their runs"), paragraph(guide), whole)


def _with_runs(name: str, runs: Sequence[str]) -> Text:
    return Text(named(name), f", {count(len(runs), 'run')}")


def _model_cell(row: Item | None) -> Cell:
    if row is None:
        return Cell(DASH)
    spread = f" ± {number(row['std'])}" if row["std"] is not None else ""
    return Cell(f"{number(row['mean'])}{spread}", row["mean"], brackets(row["interval"]))


def _pair(view: View, pair: tuple[str, str], rows: Sequence[Item], comparison: Item, *, is_open: bool) -> Html:
    first, second = (named(name) for name in pair)
    ends = [abs(row[key]) for row in rows for key in ("difference", "low", "high") if row[key] is not None]
    furthest = max(ends, default=0.0) or 1.0
    interval = f"{level_text(comparison['level'])} interval"
    heads = [
        ("Metric", "text"),
        ("Difference", "number"),
        (interval, "text drawn"),
        ("p", "number"),
        ("Significant", "text"),
    ]
    body = [
        [
            view.catalogue.title(row["metric"]),
            Cell(_value(row), row["difference"], brackets((row["low"], row["high"]))),
            h("td", _bar(row, furthest)),
            Cell(probability(row["p_value"]), row["p_value"]),
            h("td", _said(row)),
        ]
        for row in rows
    ]
    shown = sum(bool(row["shown"]) for row in rows)
    title = Text(second, " minus ", first, f": {shown} of {len(rows)} significant together")
    whole = table(Text("Differences, ", second, " minus ", first), heads, body, kind="differences")
    return h("details", h("summary", title), whole, class_="pair", open=is_open)


def _value(row: Item) -> object:
    value = number(row["difference"])
    return h("strong", value) if row["shown"] else value


def _said(row: Item) -> object:
    """Say whether it is significant; why there is no interval is said once, above the tables."""
    if row["reason"]:
        return h("span", "not tested", class_="meaning", title=row["reason"])
    name = strong(named(row["ahead"])) if row["shown"] else named(row["ahead"])
    said = Text("no") if row["significance"] == "no" else Text(f"{row['significance']}: ", name, " is better")
    return Text(said, " (exploratory)" if row["exploratory"] else "", "; a score is fragile" if row["fragile"] else "")


def _bar(row: Item, furthest: float) -> Html:
    """Draw the interval about no difference; a picture of numbers that stand beside it."""
    if row["low"] is None or row["high"] is None:
        return h("")

    def at(value: float) -> float:
        return round(50 + 48 * value / furthest, 2)

    low, high = at(row["low"]), at(row["high"])
    parts = [
        h("rect", class_="track", x=0, y=4, width=100, height=2),
        h(
            "rect",
            class_="bar" if row["shown"] else "unshown",
            x=low,
            y=2,
            width=max(round(high - low, 2), 0.4),
            height=6,
        ),
        h("rect", class_="range", x=at(row["difference"]) - 0.3, y=1, width=0.6, height=8),
        h("rect", class_="zero", x=49.75, y=0, width=0.5, height=10),
    ]
    frame = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none"}
    return h("svg", parts, class_="strip wide", **frame, aria_hidden="true")
