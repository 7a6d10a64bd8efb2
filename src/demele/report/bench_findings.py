"""What a characterisation comes to, in a few sentences."""

from collections.abc import Sequence
from typing import Any

from demele.report.bench_fewer import by_fewer
from demele.report.bench_view import (
    BenchView,
    Item,
    tally,
)
from demele.report.page import (
    Html,
    h,
    paragraph,
)
from demele.report.words import Text, code, em, joined, link, named, plural, strong

__all__ = ["findings", "seeds_of"]


def findings(view: BenchView) -> Html:
    """Write what was run and what was found."""
    found = _findings(view)
    listed = h("ul", [h("li", text) for text in found], class_="findings") if found else ""
    return h("div", _not_said(view), paragraph(_what_was_run(view)), listed, class_="lead")


def _not_said(view: BenchView) -> Html:
    """Say how own metrics are judged of which is not known what they claim to measure."""
    silent = [name for name, item in view.metrics.items() if item.get("own") and item.get("properties") is None]
    if not silent:
        return h("")
    names = joined(strong(named(view.title(name))) for name in silent)
    one = len(silent) == 1
    return paragraph(
        *("What ", names, f" claim{'s' if one else ''} to measure was not said, so "),
        f"{'it is judged as a measure' if one else 'they are judged as measures'} of all three: modularity, "
        "compactness and explicitness. ",
        *(code("bench.candidate(function, claims=...)"), " says it."),
    )


def _what_was_run(view: BenchView) -> Text:
    data = view.data
    measured = [name for name, item in view.metrics.items() if not item.get("beside")]
    parts: list[object] = [strong(plural(len(measured), "metric", "metrics")), " were themselves measured"]
    if len(measured) == 1:
        parts = [strong(named(view.title(measured[0]))), " was itself measured"]
    scenarios = plural(len(view.scenarios), "scenario", "scenarios")
    parts.append(f", on representations whose properties are known: {scenarios}")
    if data.get("n_samples"):
        parts.append(f" of {plural(data['n_samples'], 'row', 'rows')}")
        for name, item in view.scenarios.items():
            if item.get("own") and item.get("rows"):
                parts += [" (", named(item.get("title") or name), f": {_rows_of(item['rows'])})"]
    if seeds := seeds_of(data.get("seeds")):
        slow = seeds_of(data.get("slow_seeds"))
        parts.append(f", with {seeds} at every step")
        parts.append(f" ({slow} for metrics that train predictors)" if slow and slow != seeds else "")
    for fewer, items in by_fewer(view.metrics[name] for name in measured).items():
        parts += ["; of ", joined(strong(named(view.title(item["name"]))) for item in items), f" {fewer}"]
    parts.append(".")
    if data.get("protocol"):
        version = f"; demele {data['demele']}." if data.get("demele") else "."
        parts += [" The settings are those of the protocol ", named(data["protocol"]), version]
    stored = len(view.metrics) - len(measured)
    if stored:
        beside = data.get("beside") or {}
        parts.append(f" Below stand the stored results of {plural(stored, 'metric', 'metrics')}")
        parts.append(f", measured on {plural(beside['n_samples'], 'row', 'rows')}" if beside.get("n_samples") else "")
        parts.append(f" with {seeds_of(beside.get('seeds'))}." if seeds_of(beside.get("seeds")) else ".")
    return Text(*parts)


def _rows_of(ends: Sequence[int]) -> str:
    low, high = ends
    return plural(high, "row", "rows") if low == high else f"{low:,} to {plural(high, 'row', 'rows')}"


def seeds_of(given: Any) -> str:
    """Write a number of seeds, or the least and most of the scenarios."""
    numbers = sorted(set(given.values())) if isinstance(given, dict) else [given] if given else []
    if not numbers:
        return ""
    most = plural(numbers[-1], "seed", "seeds")
    return most if len(numbers) == 1 else f"{numbers[0]} to {most}"


def _findings(view: BenchView) -> list[Text]:
    criteria = view.tables[0] if view.tables else []
    what = "criteria of the review" if criteria is view.review else "added criteria"
    found = [
        Text(strong(named(view.title(name)), " draws without a seed"), f": it {item['drifts']}.")
        for name, item in view.metrics.items()
        if item.get("drifts")
    ]
    own = [row for row in view.rows if view.rows[row].get("own")]
    found += [
        Text("Your metric ", named(view.row_title(row)), f", {text}.")
        for row in own
        if (text := _own_finding(view, row))
    ]
    judged = {row: statuses for row in view.rows if (statuses := view.statuses(row, criteria))}
    held = {row: tally(statuses)["holds"] for row, statuses in judged.items()}
    most = max(held.values(), default=0)
    if len(held) > 1 and most:
        best = [row for row in held if held[row] == most]
        names = joined(named(view.row_title(row)) for row in best[:4])
        more = f" and {len(best) - 4} more" if len(best) > 4 else ""
        asked = max(len(judged[row]) for row in best)
        found.append(Text(f"Most {what} are held by ", names, f"{more}: {most} of the {asked}."))
    if len(view.rows) > 1:
        found += _hardest(view, criteria)
    counts = tally([status for row in view.rows for status in view.statuses(row, view.criteria)])
    if total := sum(counts.values()):
        more = " More seeds can decide what is undecided." if counts["undecided"] else ""
        found.append(Text(f"Of {plural(total, 'cell', 'cells')} in all, {_counted(counts)}.{more}"))
    agreement = view.data.get("agreement") or {}
    if agreement.get("cells"):
        cells = plural(agreement["cells"], "cell", "cells")
        found.append(
            Text(f"{agreement.get('agree')} of {cells} ", link("#printed", "agree with the printed table"), ".")
        )
    return found


def _own_finding(view: BenchView, row: str) -> str:
    """Count how a row of the user's fares in each table, in the order of the tables."""
    places = []
    for criteria in view.tables:
        if statuses := view.statuses(row, criteria):
            where = "by the criteria of the review" if criteria is view.review else "beyond the review"
            places.append(f"{where}: {_counted(tally(statuses))}")
    return "; ".join(places)


def _hardest(view: BenchView, criteria: Sequence[Item]) -> list[Text]:
    """Name the criterion that the largest share of those it was asked of fail."""
    failing = []
    for item in criteria:
        counts = tally([view.status(row, item["name"]) or "" for row in view.rows])
        judged = counts["holds"] + counts["fails"] + counts["undecided"]
        if judged > 1 and counts["fails"]:
            failing.append((counts["fails"] / judged, counts["fails"], judged, view.criterion_title(item)))
    if not failing:
        return []
    _, fails, judged, title = max(failing, key=lambda one: one[:2])
    return [Text("Hardest to meet: ", em(title), f", which {fails} of {judged} fail.")]


def _counted(counts: dict[str, int]) -> str:
    words = {
        "holds": ("holds", "hold"),
        "fails": ("fails", "fail"),
        "undecided": ("is undecided", "are undecided"),
        "not applicable": ("is not applicable", "are not applicable"),
    }
    return joined(f"{many} {words[status][many != 1]}" for status, many in counts.items() if many)
