"""Verdicts of the bench in a terminal: a table of signs, what decided each, and what failed.

Characterisations are the plain dictionaries of :meth:`demele.bench.Characterisation.to_dict`.
"""

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from demele.report.bench_fewer import by_fewer
from demele.report.terminal.sheet import Sheet, Styled, clipped

__all__ = ["verdict_tables"]

Content = Mapping[str, Any]

#: Not a verdict: what decides was not measured, and more seeds do not change that.
_NOT_RUN = "not run"
_STYLES = {
    "holds": "green",
    "fails": "red",
    "undecided": "yellow",
    "not applicable": "dim",
    _NOT_RUN: "dim",
    "not yet characterised": "dim",
}
_SIGNS = dict(zip(_STYLES, "✓✗?–·∅", strict=True))
_PLAIN_SIGNS = dict(zip(_STYLES, "+x?-.0", strict=True))
#: Told under a table only where a cell has them.
_RARE = (_NOT_RUN, "not yet characterised")
#: Most kinds of failure that are told of one metric.
_MOST_REASONS = 3
#: The titles of the review's criteria in narrow columns; others are cut at their words.
_HEADS = {
    "coherent_modularity": "coherent modul- arity",
    "coherent_compactness": "coherent compact- ness",
    "coherent_explicitness": "coherent explicit- ness",
    "calibrated": "cali- brated",
    "non_linear": "non- linear",
    "several_codes": "several codes",
    "robust_to_noise": "robust to noise",
    "unmeasured_factors": "unmeas. factors",
    "stable_settings": "stable settings",
    "no_discretisation": "no bins",
}
_HEAD_WIDTH = 10
_NAME_WIDTH = 24
#: Where the text is not for a terminal, whose width is known.
_WIDTH = 100


def verdict_tables(content: Content, *, curves: Iterable[Any] = (), output: Path | None = None) -> str:
    """Write the verdicts of a characterisation.

    Parameters
    ----------
    content : mapping
        What ``Characterisation.to_dict()`` returns, perhaps joined with another.
    curves : iterable, optional
        Those of the characterisation: they know why each call failed.
    output : Path, optional
        File that the text is for; a terminal's colours are then left out.
    """
    sheet = Sheet(output, width=_WIDTH)
    signs = _signs(sheet.encoding)
    shown: set[str] = set()
    sheet.line(f"{_heading(content)}, level {content['level']:g}")
    for group, title in (("review", "Criteria of the review"), ("added", "Beyond the review")):
        criteria = [item for item in content["criteria"] if item["group"] == group]
        if criteria:
            sheet.blank()
            sheet.line(title, "bold")
            shown |= _tables(sheet, content, criteria, signs)
    _unasked(sheet, content)
    if content["criteria"]:
        sheet.blank()
        legend = [f"{sign} {status}" for status, sign in signs.items() if status not in _RARE or status in shown]
        sheet.line("   ".join(legend), "dim")
        for text, rows in _fewer(content).items():
            sheet.line(f"* {text}: {', '.join(rows)}", "dim")
    if content.get("beside"):
        sheet.line(f"stored: the published metrics as they come with demele; {_heading(content['beside'])}", "dim")
    for row in _explained(content):
        _reasons(sheet, content, row, signs)
    _failures(sheet, content, curves)
    return sheet.text()


def _signs(encoding: str) -> Mapping[str, str]:
    try:
        "".join(_SIGNS.values()).encode(encoding)
    except UnicodeEncodeError:
        return _PLAIN_SIGNS
    return _SIGNS


def _unasked(sheet: Sheet, content: Content) -> None:
    """Print the values on scenarios of the user's that state no expectation: there is no verdict on them."""
    for scenario in content["scenarios"]:
        if not scenario.get("own") or scenario["wanted"]:
            continue
        sheet.blank()
        expects = "states no expectation (wanted=...), so there is no verdict; mean scores by"
        sheet.line(f"{scenario['title']}: {expects} {scenario['sweep']}")
        for curve in content["curves"]:
            if curve["scenario"] == scenario["name"] and curve["declined"] is None:
                points = zip(scenario["labels"], curve["mean"], strict=True)
                told = "  ".join(f"{label}: {'none' if mean is None else f'{mean:.3f}'}" for label, mean in points)
                sheet.line(f"  {curve['metric']}  {told}")


def _heading(content: Content) -> str:
    numbers = sorted(set(content["seeds"].values()))
    seeds = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    words = f"{seeds} {'seed' if numbers[-1] == 1 else 'seeds'}"
    others = [
        f"{item['name']}: {' to '.join(f'{rows:,}' for rows in dict.fromkeys(item['rows']))}"
        for item in content.get("scenarios", ())
        if item.get("own") and item.get("rows")
    ]
    rows = f"{content['n_samples']:,} rows" + (f" ({', '.join(others)})" if others else "")
    return f"{rows}, {words}; protocol {content['protocol']}"


def _fewer(content: Content) -> dict[str, list[str]]:
    """Return the rows of metrics that were measured with fewer seeds, of fewer rows, by how many."""
    # a row of several metrics is named once
    return {
        text: list(dict.fromkeys(item["row"] for item in items)) for text, items in by_fewer(content["metrics"]).items()
    }


def _tables(sheet: Sheet, content: Content, criteria: Sequence[Content], signs: Mapping[str, str]) -> set[str]:
    """Print as many criteria side by side as the width holds; return what is in their cells."""
    shown: set[str] = set()
    found = {(item["row"], item["criterion"]): _status(item) for item in content["verdicts"]}
    starred = {name for rows in _fewer(content).values() for name in rows}
    names = {row["name"]: clipped(row["name"], _NAME_WIDTH) + "*" * (row["name"] in starred) for row in content["rows"]}
    first = max(len("metric"), *map(len, names.values())) + 1
    for number, columns in enumerate(_blocks(criteria, sheet.width - first)):
        if number:
            sheet.blank()
        lines: list[Sequence[Any] | str] = []
        for beside in (False, True):
            rows = [row for row in content["rows"] if bool(row.get("beside")) == beside]
            rows = [row for row in rows if any((row["name"], item["name"]) in found for item in columns)]
            lines += ["stored"] if beside and rows else []
            for row in rows:
                cells = [found.get((row["name"], item["name"]), _NOT_RUN) for item in columns]
                shown.update(cells)
                marks = [Styled(signs[cell], _STYLES[cell]) for cell in cells]
                lines.append([Styled(names[row["name"]], "bold" if row["own"] else ""), *marks])
        sheet.table(["metric", *("\n".join(_head(item)) for item in columns)], lines, gap=1, centred=True)
    return shown


def _status(verdict: Content) -> str:
    """Return the status of a verdict; that it was not run where nothing that is undecided was measured."""
    if verdict["status"] != "undecided":
        return str(verdict["status"])
    undecided = [part for part in verdict["parts"] if part["status"] == "undecided"]
    return "undecided" if any(part["conditions"] for part in undecided) else _NOT_RUN


def _blocks(criteria: Sequence[Content], room: int) -> list[list[Content]]:
    blocks: list[list[Content]] = [[]]
    left = room
    for item in criteria:
        width = max(map(len, _head(item))) + 1
        if blocks[-1] and width > left:
            blocks.append([])
            left = room
        blocks[-1].append(item)
        left -= width
    return blocks


def _head(criterion: Content) -> list[str]:
    short = _HEADS.get(criterion["name"])
    if short is not None:
        return short.split(" ")
    return textwrap.wrap(criterion["title"].lower(), _HEAD_WIDTH)


def _explained(content: Content) -> list[Content]:
    """Return the rows whose every verdict is explained: your own, or the only one that was asked for."""
    asked = [row for row in content["rows"] if not row.get("beside")]
    return [row for row in asked if row["own"] or len(asked) == 1]


def _reasons(sheet: Sheet, content: Content, row: Content, signs: Mapping[str, str]) -> None:
    titles = {item["name"]: item["title"] for item in content["criteria"]}
    told = []
    for item in content["verdicts"]:
        if item["row"] == row["name"] and item["criterion"] in titles:
            status, summary = _status(item), " ".join(item["summary"].split())
            name = (f"{titles[item['criterion']]}: ", "bold")
            told.append(((signs[status], _STYLES[status]), (name, (summary, "not bold"))))
    sheet.blank()
    sheet.line(row["name"], "bold")
    metrics = [item for item in content["metrics"] if item["row"] == row["name"] and item["own"]]
    for metric in metrics:
        if metric["properties"] is None or metric["discretises"] is None:
            sheet.indented(_not_said(metric))
    sheet.grid(told)
    for metric in metrics:
        _changes(sheet, metric["card"]["invariances"])


def _not_said(metric: Content) -> str:
    """Tell what a function does not say of itself, and how its file can."""
    told, given = [], []
    if metric["properties"] is None:
        told.append(
            "What it claims was not said, so it is judged as a measure of modularity, of compactness and of "
            "explicitness at once."
        )
        given.append("claims=...")
    if metric["discretises"] is None:
        told.append("Whether it cuts continuous columns into bins was not said.")
        given.append("discretises=False")
    way = f"NAME = bench.candidate(function, {', '.join(given)}) in its file says {'both' if told[1:] else 'it'}"
    more = " (True, if it does)." if metric["discretises"] is None else "."
    return " ".join((*told, way + more))


def _changes(sheet: Sheet, invariances: Sequence[Content]) -> None:
    """Tell which changes that say the same in another form move the score."""
    if not invariances:
        return
    unmoved = sum(item["status"] == "holds" for item in invariances)
    if unmoved == len(invariances):
        changes = "the change" if unmoved == 1 else f"all {unmoved} changes"
        sheet.indented(f"Changes that say the same in another form: unmoved by {changes}")
        return
    sheet.indented(f"Changes that say the same in another form: unmoved by {unmoved} of {len(invariances)}")
    for item in invariances:
        if item["status"] == "fails":
            sheet.indented(f"{item['change']}: moves it by {item['difference']:.3f}", by=4)
        elif item["status"] != "holds":
            sheet.indented(f"{item['change']}: by {item['difference']:.3f}, too few seeds to tell", by=4)


def _failures(sheet: Sheet, content: Content, curves: Iterable[Any]) -> None:
    """Tell of each metric of this run how many calls gave no value, and why."""
    labels = {item["name"]: item["labels"] for item in content["scenarios"]}
    reasons: dict[str, Counter[str]] = {}
    calls: Counter[str] = Counter()
    first: dict[tuple[str, str], str] = {}
    for curve in curves:
        if curve.declined is not None:
            continue
        counted = reasons.setdefault(curve.metric, Counter())
        calls[curve.metric] += sum(curve.n) + sum(curve.failed)
        for label, given in zip(labels[curve.scenario], curve.reasons, strict=True):
            for reason in given:
                told = " ".join(reason.split())
                counted[told] += 1
                first.setdefault((curve.metric, told), f"{curve.scenario} at {label}")
    failing = [metric for metric, counted in reasons.items() if counted]
    if failing:
        sheet.blank()
        sheet.line("no value", "bold")
    for metric in failing:
        of = f"{calls[metric]:,} {'call' if calls[metric] == 1 else 'calls'}"
        sheet.indented(f"{metric} gave no value in {reasons[metric].total():,} of {of}:")
        for reason, number in reasons[metric].most_common(_MOST_REASONS):
            times = "once, in" if number == 1 else f"{number:,} times, first in"
            sheet.indented(f"{times} {first[metric, reason]}: {reason}", by=4)
        more = len(reasons[metric]) - _MOST_REASONS
        if more > 0:
            sheet.indented(f"and {more:,} more {'reason' if more == 1 else 'reasons'}", by=4)
