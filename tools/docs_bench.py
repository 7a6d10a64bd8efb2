"""Pages on the metrics themselves, written from the stored rows of the bench.

The rows are those of :func:`demele.bench.reference`, and the causes of differences from print those of ``causes.csv``
among the results, where there is one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from demele import bench
from demele.report.bench_cards import runs
from demele.report.bench_view import STATUSES
from demele.report.words import count
from tools import docs_tables

TITLES = {
    "results/metrics.md": "Which metrics can be believed",
    "results/verdicts.md": "The evidence for each verdict",
    "results/published.md": "The published tables, redone",
    "results/cards.md": "A card for each metric",
}
#: How each status is written; the word is there for those who do not see the sign.
SIGNS = {**{status: sign for status, (sign, _) in STATUSES.items()}, "not yet characterised": "∅"}
#: A printed score has one decimal: what lies within half of its last digit is the same.
ROUNDED = 0.05 + 1e-9
#: Codes that know nothing should score 0; above this, a score by chance is worth a warning.
CHANCE = 0.05

PANEL_WIDTH, PANEL_HEIGHT, ACROSS = 230, 165, 4
LEFT, RIGHT, TOP, BOTTOM = 34, 12, 26, 24
LINE = "#14978a"  # readable on white and on black

#: Signs in colour, and heads of wide tables upright, so that they fit.
SIGN_STYLE = """<style>
.md-typeset a.holds{color:#17915a;font-weight:700}
.md-typeset a.fails{color:#d64545;font-weight:700}
.md-typeset a.undecided{color:#b07a10;font-weight:700}
.md-typeset a.not-applicable,.md-typeset a.not-yet-characterised{color:inherit;opacity:.6}
</style>
"""
UPRIGHT = """<style>
{scope} thead th:not(:first-child){{min-width:0;padding:.5em .4em;white-space:nowrap;writing-mode:vertical-rl;\
transform:rotate(180deg);vertical-align:middle}}
{scope} td{{padding:.4em .5em;white-space:nowrap}}
</style>
"""

#: Folded parts in a table, without the frame that the theme gives them.
FOLDED = """<style>
.md-typeset td details{border:0;box-shadow:none;margin:.2em 0 0;padding:0;background:none;font-size:inherit}
.md-typeset td details>summary{background:none;font-weight:400;margin:0!important;\
padding:0 1.4em 0 0!important;display:inline-block;min-height:0;opacity:.7}
.md-typeset td details>summary::before{display:none}
.md-typeset td details>summary::after{top:.1em;right:0;width:1em;height:1em}
</style>
"""

Item = Mapping[str, Any]


def pages(folder: Path) -> dict[str, str]:
    """Return the pages and pictures of the stored rows, by path, with the causes that are in a folder."""
    return bench_pages(bench.reference().to_dict(), docs_tables.read(folder / "causes.csv"))


def bench_pages(found: Item, causes: Sequence[Item]) -> dict[str, str]:
    """Return the pages and pictures of a characterisation, by path."""
    view = View(found)
    pictures = {_picture_path(item["name"]): picture(view, item["name"]) for item in found["metrics"]}
    return {
        "results/metrics.md": metrics_page(view),
        "results/verdicts.md": verdicts_page(view),
        "results/published.md": published_page(view, causes),
        "results/cards.md": cards_page(view),
        **pictures,
    }


class View:
    """A characterisation with its parts by name."""

    def __init__(self, found: Item) -> None:
        self.data = found
        self.metrics = {item["name"]: item for item in found["metrics"]}
        self.rows = {item["name"]: item for item in found["rows"]}
        self.scenarios = {item["name"]: item for item in found["scenarios"]}
        self.criteria = {item["name"]: item for item in found["criteria"]}
        self.curves = {(item["metric"], item["scenario"]): item for item in found["curves"]}
        self.verdicts = {(item["row"], item["criterion"]): item for item in found["verdicts"]}

    def of_group(self, group: str) -> list[Item]:
        """Return the criteria of a group."""
        return [item for item in self.data["criteria"] if item["group"] == group]

    def sign(self, row: str, criterion: str) -> str:
        """Return the sign of a verdict, as a link to its evidence."""
        status = self.verdicts[row, criterion]["status"]
        kind = status.replace(" ", "-")
        target = f"verdicts.md#{anchor(row, criterion)}"
        return f'[{SIGNS[status]}]({target} "{status}"){{ .{kind} aria-label="{status}" }}'


# Which metrics can be believed ----------------------------------------------------------------------------------------


def metrics_page(view: View) -> str:
    """Return the tables of verdicts, and what they come to."""
    found = view.data
    added = view.of_group("added")
    parts = [
        "---\nhide: [toc]\n---",
        f"# {TITLES['results/metrics.md']}\n",
        SIGN_STYLE + UPRIGHT.format(scope=".md-typeset table:not([class])"),
        "A metric is measured on representations whose properties are known. A numeric rule on its scores then says "
        "whether it does what it should. Each sign leads to [its evidence](verdicts.md); each metric to "
        "[its card](cards.md).\n",
        f"{LEGEND}\n",
        "## What was run\n",
        "\n".join(f"- {line}" for line in what_was_run(found)) + "\n",
        "## What came out\n",
        "\n".join(f"- {line}" for line in findings(view)) + "\n",
        "## The ten criteria of the review\n",
        verdict_table(view, view.of_group("review")),
        "≠: the review's table 3.2 says otherwise; [the two tables side by side](published.md#verdicts).\n",
        _questions(view.of_group("review")),
    ]
    if added:
        parts += [
            "## The scenarios added here\n",
            verdict_table(view, added),
            _questions(added),
        ]
    return "\n".join(parts)


LEGEND = (
    "✓ holds; ✗ fails; ? undecided, as the seeds do not tell; – not applicable, as the metric does not claim "
    "the property or takes no part. The three scores of a DCI model share a row, and all must hold."
)


def what_was_run(found: Item) -> list[str]:
    """Return what was measured, as sentences."""
    kinds = [item["kind"] for item in found["scenarios"]]
    values = sum(sum(curve["n"]) for curve in found["curves"])
    failed = sum(sum(curve["failed"]) for curve in found["curves"])
    return [
        f"{count(len(found['metrics']), 'score')} in {count(len(found['rows']), 'row')}, protocol "
        f"<code>{cell(found['protocol'])}</code>, demele {cell(found['demele'])}.",
        f"{count(len(kinds), 'scenario')}, {kinds.count('source')} of them from the review, with "
        f"{found['n_samples']:,} rows each, but where the number of rows itself is varied.",
        f"{_range_of(found['seeds'])} seeds a point; {_range_of(found['slow_seeds'])} for the metrics that train "
        "predictors.",
        f"{count(values, 'value')}; {count(failed, 'call')} gave none, and the reason is kept.",
        f"Intervals over seeds with level {found['level']:g}; those of one score in one scenario hold together.",
    ]


def findings(view: View) -> list[str]:
    """Return what the verdicts come to, as sentences."""
    lines = []
    counts = view.data["agreement"]
    if counts and counts["cells"]:
        lines.append(
            f"{counts['agree']} of {counts['cells']} verdicts say what the review's table says "
            f"({counts['agree'] / counts['cells']:.0%}); [each that does not](published.md#verdicts) is shown."
        )
    for group, words in (("review", "of the review"), ("added", "of the added scenarios")):
        criteria = [item["name"] for item in view.of_group(group)]
        if not criteria:
            continue
        statuses = {row: [view.verdicts[row, name]["status"] for name in criteria] for row in view.rows}
        statuses = {row: own for row, own in statuses.items() if "not yet characterised" not in own}
        clean = [row for row, own in statuses.items() if "holds" in own and not {"fails", "undecided"} & set(own)]
        # a row to which nothing applies has failed nothing, and says nothing
        judged = {row: own for row, own in statuses.items() if {"holds", "fails", "undecided"} & set(own)}
        fewest = min((own.count("fails") for own in judged.values()), default=0)
        best = [row for row, own in judged.items() if own.count("fails") == fewest]
        if clean:
            lines.append(f"Meets every criterion {words} that applies to it: {_titles(view, clean)}.")
        elif best and not fewest:
            lines.append(f"Fail no criterion {words}, though some are undecided: {_titles(view, best)}.")
        elif best:
            lines.append(
                f"No metric meets every criterion {words}. The fewest failures, {fewest}: {_titles(view, best)}."
            )
        lines += _hardest(view, criteria, words)
    high = [
        f"{cell(item['title'])} ({_number(chance['mean'])})"
        for item in view.metrics.values()
        if (chance := item["card"]["chance"]) and chance["low"] is not None and chance["low"] > CHANCE
    ]
    if high:
        lines.append(f"Score above {CHANCE:g} for codes that are nothing but noise: {', '.join(high)}.")
    lines += _chance_with_few_rows(view)
    missing = [cell(item["title"]) for item in view.metrics.values() if not item["characterised"]]
    if missing:
        lines.append(f"∅ Not yet characterised, as rows are missing: {', '.join(missing)}.")
    undecided = sum(item["status"] == "undecided" for item in view.verdicts.values())
    lines.append(f"Undecided: {undecided} of {count(len(view.verdicts), 'verdict')}.")
    return lines


def _hardest(view: View, criteria: Sequence[str], words: str) -> list[str]:
    shares = {}
    for name in criteria:
        judged = [view.verdicts[row, name]["status"] for row in view.rows]
        judged = [status for status in judged if status not in ("not applicable", "not yet characterised")]
        if judged:
            shares[name] = (judged.count("holds"), len(judged))
    if not shares:
        return []
    name = min(shares, key=lambda item: shares[item][0] / shares[item][1])
    met, judged_rows = shares[name]
    title = cell(view.criteria[name]["title"])
    return [f"The criterion {words} that the fewest meet is *{title}*: {met} of {judged_rows}."]


def _chance_with_few_rows(view: View) -> list[str]:
    smallest = {
        item["title"]: min(item["card"]["chance_by_size"], key=lambda point: point["n_samples"])
        for item in view.metrics.values()
        if item["card"]["chance_by_size"]
    }
    if not smallest:
        return []
    rows = min(point["n_samples"] for point in smallest.values())
    high = {
        title: point["mean"]
        for title, point in smallest.items()
        if point["n_samples"] == rows and point["low"] is not None and point["low"] > CHANCE
    }
    if not high:
        return []
    told = ", ".join(
        f"{cell(title)} ({_number(mean)})" for title, mean in sorted(high.items(), key=lambda item: -item[1])
    )
    return [f"With {rows} rows, codes that know nothing of the factors score above {CHANCE:g} by: {told}."]


def verdict_table(view: View, criteria: Sequence[Item]) -> str:
    """Return a table of signs: a line for each row, a column for each criterion."""
    lines = [["Metric", *(f"[{cell(item['title'])}](verdicts.md#{rule_anchor(item['name'])})" for item in criteria)]]
    for row in view.rows.values():
        own = [view.sign(row["name"], item["name"]) for item in criteria]
        differs = [view.verdicts[row["name"], item["name"]]["agrees"] is False for item in criteria]
        lines.append(
            [
                f"[{cell(row['title'])}](cards.md#{anchor(row['metrics'][0])})",
                *(f"{sign} ≠" if other else sign for sign, other in zip(own, differs, strict=True)),
            ]
        )
    return table(lines)


def _questions(criteria: Iterable[Item]) -> str:
    return "\n".join(f"- **{cell(item['title'])}**: {cell(item['question'])}" for item in criteria) + "\n"


# The evidence ---------------------------------------------------------------------------------------------------------


def verdicts_page(view: View) -> str:
    """Return the rules, and for each metric its curves and what decided each verdict."""
    parts = [
        f"# {TITLES['results/verdicts.md']}\n",
        FOLDED,
        f"{LEGEND}\n",
        f"Curves are means over seeds, with the interval of level {view.data['level']:g} as a band. A condition is a "
        "difference of means with a least value. It holds if its whole interval is above, fails if the whole is below, "
        "and is undecided otherwise.\n",
        "## The rules {#rules}\n",
    ]
    parts += [
        f'<a id="{rule_anchor(item["name"])}"></a>**{cell(item["title"])}**. {cell(item["question"])} '
        f"*{cell(item['rule'])}*\n"
        for item in view.data["criteria"]
    ]
    for row in view.rows.values():
        parts.append(f"## {cell(row['title'])} {{#{anchor(row['name'])}}}\n")
        for name in row["metrics"]:
            title, path = view.metrics[name]["title"], _picture_path(name).removeprefix("results/")
            parts.append(f"[![Curves of {cell(title)} in every scenario]({path})]({path})\n")
        lines = [["Criterion", "Verdict", "What decided"]]
        lines += [_evidence(view, row["name"], item) for item in view.data["criteria"]]
        parts.append(table(lines))
    return "\n".join(parts)


def _evidence(view: View, row: str, criterion: Item) -> list[str]:
    verdict = view.verdicts[row, criterion["name"]]
    status = verdict["status"]
    printed = "" if verdict["agrees"] is not False else f" (printed: {shown_print(verdict['printed'])})"
    details = "".join(f"<li>{_part(view, part)}</li>" for part in verdict["parts"])
    return [
        f'<a id="{anchor(row, criterion["name"])}"></a>{cell(criterion["title"])}',
        f"{SIGNS[status]} {status}{printed}",
        f"{cell(verdict['summary'])}<details><summary>rule and parts</summary>{cell(criterion['rule'])}"
        f"<ul>{details}</ul></details>",
    ]


def _part(view: View, part: Item) -> str:
    """Return what came of one score in one scenario: how many of its conditions hold."""
    names = [cell(view.metrics[part["metric"]]["title"])]
    if part["scenario"]:
        scenario = view.scenarios.get(part["scenario"])
        names.append(cell(part["scenario"] if scenario is None else scenario["title"]))
    statuses = [condition["status"] for condition in part["conditions"]]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in SIGNS if status in statuses)
    reason = cell(part["reason"]) if part["reason"] else ""
    told = "; ".join(text for text in (f"conditions: {counts}" if counts else "", reason) if text)
    return f"{', '.join(names)}: {SIGNS[part['status']]} {part['status']}" + (f"; {told}" if told else "")


# The published tables -------------------------------------------------------------------------------------------------


def published_page(view: View, causes: Sequence[Item]) -> str:
    """Return the printed tables beside ours, with the cause of each difference."""
    scope = ".md-typeset h2#verdicts ~ * table"
    parts = [
        "---\nhide: [toc]\n---",
        f"# {TITLES['results/published.md']}\n",
        SIGN_STYLE + UPRIGHT.format(scope=scope) + UPRIGHT.format(scope=scope.replace("* ", "")),
        "The review of disentanglement metrics by Boilard, and by Carbonneau, Zaidi, Boilard and Gagnon (2022), prints "
        "a table of scores and a table of verdicts. Here ours stand beside them. demele computes the definition. The "
        "printed numbers also carry choices and slips of the code that made them. Each difference is shown with its "
        "likely cause, and with what comes out when that cause is put back in an experiment.\n",
        _scores_part(view, causes),
        _verdicts_part(view, causes),
    ]
    return "\n".join(parts)


def _scores_part(view: View, causes: Sequence[Item]) -> str:
    scores = view.data["printed_scores"]
    parts = ["## Table 3.1: scores where several codes hold a factor {#scores}\n"]
    if not scores:
        return parts[0] + "\nThe scenario was not run with the review's settings.\n"
    off = [item for item in scores if abs(item["difference"]) > ROUNDED]
    answers = [_how_explained(_score_causes(item, causes)) for item in off]
    parts.append(
        f"Scenario *redundant*. Printed are means of 100 seeds with one decimal. {len(scores) - len(off)} of "
        f"{len(scores)} of our scores lie within 0.05 of print. "
        + (f"Of the {len(off)} others: {_counted(answers)}. " if off else "")
        + f"Intervals have level {view.data['level']:g}.\n"
    )
    for name in dict.fromkeys(item["scenario_row"] for item in scores):
        own = [item for item in scores if item["scenario_row"] == name]
        lines = [["Score", "Printed", "demele", "Interval", "Seeds", "Difference"]]
        for item in own:
            far = abs(item["difference"]) > ROUNDED
            difference = _signed(item["difference"])
            lines.append(
                [
                    cell(view.metrics[item["metric"]]["title"]),
                    f"{item['printed']:.1f}",
                    _number(item["ours"]),
                    _interval(item),
                    str(item["n"]),
                    f"**{difference}** ≠" if far else difference,
                ]
            )
        parts.append(f"### {cell(name)}\n\n{table(lines)}")
        told = [
            f"- **{cell(view.metrics[item['metric']]['title'])}**, printed {item['printed']:.1f}, ours "
            f"{_number(item['ours'])}: {_told_causes(_score_causes(item, causes))}"
            for item in own
            if abs(item["difference"]) > ROUNDED
        ]
        parts.append("\n".join(told) + "\n" if told else "")
    used = [id(cause) for item in off for cause in _score_causes(item, causes)]
    others = [cause for cause in causes if "3.1" in cause["table"] and id(cause) not in used]
    if others:
        names = {name: item["title"] for name, item in view.metrics.items()}
        told = [
            f"- **{cell(names.get(item['row'], item['row']))}** in {cell(item['column'])}, printed "
            f"{cell(item['print'])}: {_told_causes([item])}"
            for item in others
        ]
        parts.append("### Other experiments on this table\n\n" + "\n".join(told) + "\n")
    return "\n".join(parts)


def _verdicts_part(view: View, causes: Sequence[Item]) -> str:
    counts = view.data["agreement"]
    parts = ["## Table 3.2: verdicts {#verdicts}\n"]
    printed = [row for row in view.rows if any(item["printed"] is not None for item in _verdicts_of(view, row))]
    if not counts or not counts["cells"]:
        return parts[0] + "\nNothing was run with the review's settings.\n"
    parts.append(
        f"{counts['agree']} of {counts['cells']} cells agree ({counts['agree'] / counts['cells']:.0%})."
        + (
            f" In {counts['judged']} cells both tables pass a judgement; {counts['judged_agree']} of these agree "
            f"({counts['judged_agree'] / counts['judged']:.0%})."
            if counts["judged"]
            else ""
        )
        + "\n"
    )
    parts.append(
        "In each cell the printed mark comes first, then ours. Printed: y has the property, x has it not, x\\* has it "
        "not because of discretisation, - does not measure it, n/a was left out. "
        f"≠ marks a difference. Ours: {LEGEND}\n"
    )
    criteria = view.of_group("review")
    lines = [["Metric", *(f"[{cell(item['title'])}](verdicts.md#{rule_anchor(item['name'])})" for item in criteria)]]
    lines += [
        [cell(view.rows[row]["title"]), *(_both(view, row, item["name"]) for item in criteria)] for row in printed
    ]
    parts.append(table(lines))
    differing = [item for item in view.data["verdicts"] if item["agrees"] is False]
    answers = [_how_explained(_verdict_causes(view, item, causes)) for item in differing]
    if differing:
        parts.append(f"### The cells that differ\n\n{count(len(differing), 'cell')}: {_counted(answers)}.\n")
    parts += [_differing(view, item, _verdict_causes(view, item, causes)) for item in differing]
    return "\n".join(parts)


def _verdicts_of(view: View, row: str) -> list[Item]:
    return [item for item in view.data["verdicts"] if item["row"] == row]


def _both(view: View, row: str, criterion: str) -> str:
    verdict = view.verdicts[row, criterion]
    if verdict["printed"] is None:
        return view.sign(row, criterion)
    both = f"{shown_print(verdict['printed'])} {view.sign(row, criterion)}"
    return both if verdict["agrees"] else f"{both} [≠](#{_differing_anchor(verdict)})"


def _differing_anchor(verdict: Item) -> str:
    return f"differs-{anchor(verdict['row'], verdict['criterion'])}"


def _differing(view: View, verdict: Item, causes: Sequence[Item]) -> str:
    row, criterion = view.rows[verdict["row"]], view.criteria[verdict["criterion"]]
    lines = [
        f"#### {cell(row['title'])}: {cell(criterion['title'])} {{#{_differing_anchor(verdict)}}}\n",
        f"Printed: {shown_print(verdict['printed'])}. Ours: {view.sign(row['name'], criterion['name'])} "
        f"{verdict['status']}. {_sentence(cell(verdict['summary']))}\n",
    ]
    panels: list[str] = []
    for metric, scenario in deciding_curves(view, verdict):
        curve = view.curves.get((metric, scenario))
        if curve is not None and curve["declined"] is None:
            titles = view.metrics[metric]["title"], view.scenarios[scenario]["title"]
            panels.append(panel(", ".join(titles), view.scenarios[scenario], curve, len(panels) * PANEL_WIDTH, 0))
    if panels:
        size = f'width="{len(panels) * PANEL_WIDTH}" height="{PANEL_HEIGHT}"'
        lines.append(
            f'<div><svg {size} viewBox="0 0 {len(panels) * PANEL_WIDTH} {PANEL_HEIGHT}" style="max-width:100%" '
            f'role="img" font-size="11">{"".join(panels)}</svg></div>\n'
        )
    lines.append(f"Why: {_told_causes(causes)}\n")
    return "\n".join(lines)


def deciding_curves(view: View, verdict: Item) -> list[tuple[str, str]]:
    """Return the (metric, scenario) whose curves decided; those of the criterion where no part was judged."""
    found = [
        (part["metric"], part["scenario"])
        for part in verdict["parts"]
        if part["scenario"] and part["status"] == verdict["status"]
    ]
    if not verdict["parts"]:
        scenarios = view.criteria[verdict["criterion"]]["scenarios"]
        found = [(metric, scenario) for scenario in scenarios for metric in view.rows[verdict["row"]]["metrics"]]
    return list(dict.fromkeys(item for item in found if item[1] in view.scenarios))


def _score_causes(item: Item, causes: Sequence[Item]) -> list[Item]:
    columns = {item["scenario_row"], item["scenario_row"].partition(")")[0], f"{item['severity']:g}"}
    return _causes_of("3.1", {item["metric"]}, columns, causes)


def _verdict_causes(view: View, verdict: Item, causes: Sequence[Item]) -> list[Item]:
    row, criterion = view.rows[verdict["row"]], view.criteria[verdict["criterion"]]
    return _causes_of("3.2", {row["name"], row["title"]}, {criterion["name"], criterion["title"]}, causes)


def _causes_of(number: str, rows: Iterable[str], columns: Iterable[str], causes: Sequence[Item]) -> list[Item]:
    """Return the causes of one cell; how its names are spelt does not matter."""
    rows, columns = {_plain(name) for name in rows}, {_plain(name) for name in columns}
    return [
        item
        for item in causes
        if number in item["table"] and _plain(item["row"]) in rows and _plain(item["column"]) in columns
    ]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()


def _how_explained(causes: Sequence[Item]) -> str:
    """Return how far the causes of a cell explain it: "yes", "no", or what the file says beyond that."""
    answers = [(item.get("explained") or "yes").strip() for item in causes if item["cause"].strip()]
    return "yes" if "yes" in answers else answers[0] if answers else "no"


def _counted(answers: Iterable[str]) -> str:
    """Return how many cells are explained, not explained, or what else is said of them."""
    words = {"yes": "explained by an experiment", "no": "not explained"}
    answers = list(answers)
    kinds = sorted(set(answers), key=lambda kind: (kind == "no", kind != "yes", kind))
    return ", ".join(f"{answers.count(kind)} {cell(words.get(kind, kind))}" for kind in kinds)


def _told_causes(causes: Sequence[Item]) -> str:
    """Return the causes in words, with what comes out when they are put back."""
    known = [item for item in causes if item["cause"].strip()]
    if not known:
        return "not explained."
    return " ".join(_told_cause(item) for item in known)


def _told_cause(item: Item) -> str:
    def field(name: str) -> str:
        return cell((item.get(name) or "").strip())

    def with_verdict(value: str, verdict: str) -> str:
        return f"{value} ({verdict})" if verdict else value

    numbers = f"{field('what')}: " if field("what") else ""
    if field("put back"):
        error = f" ± {field('standard error')}" if field("standard error") else ""
        numbers += f"demele {with_verdict(field('demele'), field('demele verdict'))}, with the cause put back "
        numbers += with_verdict(f"{field('put back')}{error}", field("verdict with the cause"))
    else:
        numbers += f"demele {with_verdict(field('demele'), field('demele verdict'))}"
    seeds = f"; seeds: {field('seeds')}" if field("seeds") else ""
    doubt = {"yes": "", "no": " This does not explain the difference: it stays not explained."}
    answer = field("explained") or "yes"
    return f"{_sentence(field('cause'))} {_sentence(numbers + seeds)}" + doubt.get(answer, f" Explained: {answer}.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def shown_print(printed: str | None) -> str:
    """Return a printed mark as it stands there."""
    return cell(printed) if printed else "blank"


# Cards ----------------------------------------------------------------------------------------------------------------


def cards_page(view: View) -> str:
    """Return a card for each metric."""
    parts = [
        f"# {TITLES['results/cards.md']}\n",
        SIGN_STYLE,
        "What each metric claims and computes, what it gives by chance, what leaves it alone and what it costs. Times "
        "are medians of the calls of the run, on one processor; metrics that share their work are timed together.\n",
    ]
    parts += [_card(view, item) for item in view.metrics.values()]
    return "\n".join(parts)


def _card(view: View, metric: Item) -> str:
    card, row = metric["card"], metric["row"]
    claims = "nothing said" if metric["properties"] is None else ", ".join(metric["properties"]) or "nothing"
    ends = metric["range"]
    chance = card["chance"]
    facts = [
        ("Claims to measure", cell(claims)),
        ("Definition", cell(metric["definition"]) or "–"),
        ("Source", cell(metric["source"]) or "–"),
        ("Range", "–" if ends is None else " to ".join("unbounded" if end is None else f"{end:g}" for end in ends)),
        ("Cuts columns into bins", _yes(metric["discretises"])),
        ("Random", _yes(metric["stochastic"])),
        (
            f"Score by chance, {view.data['n_samples']:,} rows",
            "–" if chance is None else f"{_number(chance['mean'])} {_interval(chance)}".strip(),
        ),
        (f"Seconds a call, {view.data['n_samples']:,} rows", _seconds(card["seconds"])),
    ]
    parts = [
        f"## {cell(metric['title'])} {{#{anchor(metric['name'])}}}\n",
        f"<code>{cell(metric['name'])}</code>; [all curves and evidence](verdicts.md#{anchor(row)}).\n",
        "\n".join(f"- {name}: {value}" for name, value in facts) + "\n",
    ]
    for group, words in (("review", "The review's criteria"), ("added", "Added scenarios")):
        criteria = view.of_group(group)
        if criteria:
            signs = (f"{cell(item['title'])} {view.sign(row, item['name'])}" for item in criteria)
            parts.append(f"{words}: {'; '.join(signs)}.\n")
    if card["chance_by_size"]:
        lines = [["Rows", "Score by chance", "Interval"]]
        lines += [[f"{item['n_samples']:,}", _number(item["mean"]), _interval(item)] for item in card["chance_by_size"]]
        parts.append(table(lines))
    if card["invariances"]:
        lines = [["Change", "Mean difference", "Leaves the score alone"]]
        lines += [
            [cell(item["change"]), _number(item["difference"]), f"{SIGNS[item['status']]} {item['status']}"]
            for item in card["invariances"]
        ]
        parts.append(table(lines))
    if card["cost"]:
        lines = [["Rows", "Seconds a call"]]
        lines += [[f"{item['n_samples']:,}", _seconds(item["seconds"])] for item in card["cost"]]
        parts.append(table(lines))
    return "\n".join(parts)


def _yes(value: bool | None) -> str:
    return "not said" if value is None else "yes" if value else "no"


# Pictures -------------------------------------------------------------------------------------------------------------


def picture(view: View, metric: str) -> str:
    """Return the curves of a metric, a panel for each scenario, in SVG that follows the reader's light or dark."""
    panels = []
    for place, scenario in enumerate(view.data["scenarios"]):
        x, y = place % ACROSS * PANEL_WIDTH, place // ACROSS * PANEL_HEIGHT
        panels.append(panel(scenario["title"], scenario, view.curves[metric, scenario["name"]], x, y))
    width, height = ACROSS * PANEL_WIDTH, -(-len(panels) // ACROSS) * PANEL_HEIGHT
    style = "svg{color:#222;background:#fff}@media (prefers-color-scheme:dark){svg{color:#ddd;background:#1e2129}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11"><style>{style}</style>{"".join(panels)}</svg>\n'
    )


def panel(title: str, scenario: Item, curve: Item, left: float, top: float) -> str:
    """Return one curve with its band, axes and ticks; points without a value are gaps."""
    names = _ticks(scenario)
    known: list[float] = [
        value for ends in (curve["mean"], curve["low"], curve["high"]) for value in ends if value is not None
    ]
    bottom, upper = min([0.0, *known]), max([1.0, *known])
    width, height = PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM

    def x(place: int) -> float:
        return left + LEFT + width * place / max(len(names) - 1, 1)

    def y(value: float) -> float:
        return top + TOP + height * (upper - value) / (upper - bottom)

    parts = [_text(left + LEFT, top + 16, _shortened(title, 34), "start", 'font-weight="bold"')]
    values = [0.0, 0.5, 1.0] if upper - bottom < 2 else [bottom, upper]
    for value in values:
        end = left + LEFT + width
        parts.append(f'<path d="M{left + LEFT:g} {y(value):.1f}H{end:g}" stroke="currentColor" stroke-opacity=".25"/>')
        parts.append(
            _text(left + LEFT - 4, y(value) + 4, f"{value:g}" if value in (0, 0.5, 1) else f"{value:.1f}", "end")
        )
    if curve["declined"] is not None:
        parts.append(_text(left + LEFT + width / 2, y((bottom + upper) / 2) - 8, "takes no part", "middle"))
        parts.append(f"<title>{_xml(curve['declined'])}</title>")
        return f"<g>{''.join(parts)}</g>"
    for place in _shown_ticks(names):
        parts.append(
            f'<path d="M{x(place):.1f} {y(bottom):.1f}v4" stroke="currentColor" stroke-opacity=".6" fill="none"/>'
        )
        parts.append(_text(x(place), top + TOP + height + 16, names[place], "middle"))
    for run in runs(curve["mean"]):
        banded = [place for place in run if curve["low"][place] is not None and curve["high"][place] is not None]
        corners = [(x(place), y(curve["low"][place])) for place in banded]
        corners += [(x(place), y(curve["high"][place])) for place in reversed(banded)]
        if len(banded) > 1:
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
            parts.append(f'<polygon points="{points}" fill="{LINE}" fill-opacity=".3"/>')
        points = " ".join(f"{x(place):.1f},{y(curve['mean'][place]):.1f}" for place in run)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="1.8"/>')
    for place, mean in enumerate(curve["mean"]):
        if mean is not None:
            told = f"{scenario['labels'][place]}: {_number(mean)} {_interval_at(curve, place)}"
            parts.append(
                f'<circle cx="{x(place):.1f}" cy="{y(mean):.1f}" r="2.4" fill="{LINE}">'
                f"<title>{_xml(told)}</title></circle>"
            )
    if all(value is None for value in curve["mean"]):
        parts.append(_text(left + LEFT + width / 2, y((bottom + upper) / 2) - 8, "no value", "middle"))
    return f"<g>{''.join(parts)}</g>"


def _ticks(scenario: Item) -> list[str]:
    """Return short names of the severities: numbers, where the words are long."""
    words = [str(label) for label in scenario["labels"]]
    if max((len(word) for word in words), default=0) > 9:
        return [f"{severity:g}" for severity in scenario["severities"]]
    return words


def _shown_ticks(names: Sequence[str]) -> list[int]:
    """Return the places whose names fit beside each other, first and last among them."""
    longest = max((len(name) for name in names), default=1)
    room = max(2, int((PANEL_WIDTH - LEFT - RIGHT) / (longest * 6 + 10)))
    step = next(
        (step for step in range(1, len(names)) if (len(names) - 1) % step == 0 and (len(names) - 1) / step < room), 1
    )
    return list(range(0, len(names), step))


def _text(x: float, y: float, content: str, anchored: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchored}" fill="currentColor" {more}>{_xml(content)}</text>'


def _xml(text: str) -> str:
    """Return a text that XML and Markdown leave as it is."""
    return escape(re.sub(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]", " ", str(text)))


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _picture_path(metric: str) -> str:
    return f"results/curves/{anchor(metric)}.svg"


# Words ----------------------------------------------------------------------------------------------------------------


def anchor(*names: str) -> str:
    """Return the place of a thing on its page."""
    return "-".join(re.sub(r"[^A-Za-z0-9_]+", "-", name) for name in names)


def rule_anchor(criterion: str) -> str:
    """Return the place of the rule of a criterion."""
    return anchor("rule", criterion)


def table(lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the first line is its head."""
    return docs_tables.table(lines[0], lines[1:], plain=False)


def cell(text: object) -> str:
    """Return a text for a cell of a Markdown table, with nothing in it that Markdown or HTML would read."""
    plain = escape(" ".join(str(text).split()), quote=False)
    return re.sub(r"([\\`*_\[\]{}|])", r"\\\1", plain).replace("://", "&#58;//")


def _titles(view: View, rows: Iterable[str]) -> str:
    return ", ".join(cell(view.rows[row]["title"]) for row in rows)


def _range_of(seeds: Mapping[str, int]) -> str:
    low, high = min(seeds.values()), max(seeds.values())
    return str(low) if low == high else f"{low} to {high}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 3) + 0.0:.3f}"  # + 0.0: no minus before a zero


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}" if round(value, 3) else "0.000"


def _interval(item: Item) -> str:
    return (
        "" if item["low"] is None or item["high"] is None else f"\\[{_number(item['low'])}, {_number(item['high'])}\\]"
    )


def _interval_at(curve: Item, place: int) -> str:
    return _interval({"low": curve["low"][place], "high": curve["high"][place]}).replace("\\", "")


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"
