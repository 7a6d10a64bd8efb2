"""Pages on the metrics themselves, written from the stored rows of the bench.

The rows are those of :func:`demele.bench.reference`, and the causes of differences from print those of ``causes.csv``
among the results, where there is one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from demele import bench
from demele.bench.metric_documents import CAPTIONS, PILLS
from demele.report.renderers.elements import slug
from demele.report.renderers.html import page
from demele.report.words import count
from tools import docs_tables

said = partial(docs_tables.said, "bench")

#: The page of the bench itself, with all that the two pages lead to.
PAGE = "results/bench.html"
BENCH = "bench.html"
#: Where the questions and rules of all criteria are.
RULES = f"{BENCH}#criteria"
TITLES = {
    "results/metrics.md": "Test bench of metrics",
    "results/published.md": "Published tables, computed again",
}
#: How each status is written; the word is there for those who do not see the sign.
SIGNS = {status: pill.text for status, pill in PILLS.items()}
#: A printed score has one decimal: what lies within half of its last digit is the same.
ROUNDED = 0.05 + 1e-9
#: Codes that know nothing should score 0; above this, a score by chance is worth a warning.
CHANCE = 0.05
LEGEND = said("legend").strip()


Item = Mapping[str, Any]


def pages(folder: Path) -> dict[str, str]:
    """Return the pages and pictures of the stored rows, by path, with the causes that are in a folder."""
    stored = bench.reference()
    pages = bench_pages(stored.to_dict(), docs_tables.read(folder / "causes.csv"))
    return {**pages, PAGE: page(stored.document(), stored.to_json())}


def bench_pages(found: Item, causes: Sequence[Item]) -> dict[str, str]:
    """Return the pages that are written from a characterisation, by path."""
    view = View(found)
    return {
        "results/metrics.md": metrics_page(view),
        "results/published.md": published_page(view, causes),
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

    def fewer(self, row: str) -> str:
        """Return, to stand behind the name of a row, how many seeds it has, of how many rows, if these are fewer."""
        told = (self.metrics[name].get("fewer") for name in self.rows[row]["metrics"])
        return next((f" ({fewer['text']})" for fewer in told if fewer), "")

    def sign(self, row: str, criterion: str) -> str:
        """Return the sign of a verdict, as a link to its evidence."""
        status = self.verdicts[row, criterion]["status"]
        if status == "not yet characterised":
            return SIGNS[status]
        kind = status.replace(" ", "-")
        group = self.criteria[criterion]["group"]
        place = [item["name"] for item in self.of_group(group)].index(criterion)
        target = f"{BENCH}#{slug(CAPTIONS[group])}-{list(self.rows).index(row)}-{place}"
        return f'[{SIGNS[status]}]({target} "{status}"){{ .{kind} aria-label="{status}" }}'


# Test bench of metrics ------------------------------------------------------------------------------------------------


def metrics_page(view: View) -> str:
    """Return the tables of verdicts, and what they come to."""
    added, review = view.of_group("added"), view.of_group("review")
    figures = {
        "title": TITLES["results/metrics.md"],
        "style": style(".md-typeset table:not([class])"),
        "bench": BENCH,
        "legend": LEGEND,
        "run": "\n".join(f"- {line}" for line in what_was_run(view.data)),
        "findings": "\n".join(f"- {line}" for line in findings(view)),
        "review": verdict_table(view, review),
        "review_questions": _questions(review),
    }
    more = said("added", table=verdict_table(view, added), questions=_questions(added)) if added else ""
    return said("metrics", figures) + (f"\n{more}" if more else "")


def style(*wide: str) -> str:
    """Return what colours the signs, and what turns the heads of wide tables upright, so that they fit."""
    return "".join([said("signs"), *(said("upright", scope=scope) for scope in wide)])


def what_was_run(found: Item) -> list[str]:
    """Return what was measured, as sentences."""
    kinds = [item["kind"] for item in found["scenarios"]]
    slow = [
        said("slow", text=text, metrics=", ".join(cell(item["title"]) for item in items)).strip()
        for text, items in _by_fewer(found["metrics"]).items()
    ]
    figures = {
        "scores": count(len(found["metrics"]), "score"),
        "rows": count(len(found["rows"]), "row"),
        "protocol": cell(found["protocol"]),
        "demele": cell(found["demele"]),
        "scenarios": count(len(kinds), "scenario"),
        "source": kinds.count("source"),
        "seeds": _range_of(found["seeds"]),
        "slow_seeds": _range_of(found["slow_seeds"]),
        "values": count(sum(sum(curve["n"]) for curve in found["curves"]), "value"),
        "calls": count(sum(sum(curve["failed"]) for curve in found["curves"]), "call"),
        "n_samples": found["n_samples"],
        "level": found["level"],
    }
    first, second, third, *rest = said("run", figures).splitlines()
    return [first, second, third, *slow, *rest]


def _by_fewer(metrics: Iterable[Item]) -> dict[str, list[Item]]:
    """Return the metrics with fewer seeds, of fewer rows, than the others, by how many."""
    found: dict[str, list[Item]] = {}
    for item in metrics:
        if item["fewer"]:
            found.setdefault(item["fewer"]["text"], []).append(item)
    return found


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
        clean = [row for row, own in statuses.items() if "holds" in own and not {"fails", "inconclusive"} & set(own)]
        # a row to which nothing applies has failed nothing, and says nothing
        judged = {row: own for row, own in statuses.items() if {"holds", "fails", "inconclusive"} & set(own)}
        fewest = min((own.count("fails") for own in judged.values()), default=0)
        best = [row for row, own in judged.items() if own.count("fails") == fewest]
        if clean:
            lines.append(f"Meets every criterion {words} that applies to it: {_titles(view, clean)}.")
        elif best and not fewest:
            lines.append(f"Fail no criterion {words}, though some are inconclusive: {_titles(view, best)}.")
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
    inconclusive = sum(item["status"] == "inconclusive" for item in view.verdicts.values())
    lines.append(f"Inconclusive: {inconclusive} of {count(len(view.verdicts), 'verdict')}.")
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
    lines = [["Metric", *(f"[{cell(item['title'])}]({RULES})" for item in criteria)]]
    for row in view.rows.values():
        own = [view.sign(row["name"], item["name"]) for item in criteria]
        differs = [view.verdicts[row["name"], item["name"]]["agrees"] is False for item in criteria]
        lines.append(
            [
                f"[{cell(row['title'])}]({BENCH}#measures){view.fewer(row['name'])}",
                *(f"{sign} ≠" if other else sign for sign, other in zip(own, differs, strict=True)),
            ]
        )
    return table(lines)


def _questions(criteria: Iterable[Item]) -> str:
    return "\n".join(f"- **{cell(item['title'])}**: {cell(item['question'])}" for item in criteria)


# The published tables -------------------------------------------------------------------------------------------------


def published_page(view: View, causes: Sequence[Item]) -> str:
    """Return the printed tables beside ours, with the cause of each difference."""
    scope = ".md-typeset h2#verdicts ~ * table"
    figures = {
        "title": TITLES["results/published.md"],
        "style": style(scope, scope.replace("* ", "")),
        "scores": _scores_part(view, causes),
        "verdicts": _verdicts_part(view, causes),
    }
    return said("published", figures)


def _scores_part(view: View, causes: Sequence[Item]) -> str:
    scores = view.data["printed_scores"]
    if not scores:
        return said("no-scores")
    off = [item for item in scores if abs(item["difference"]) > ROUNDED]
    rest = f"Of the {len(off)} others: {_counted(_how_explained(_score_causes(item, causes)) for item in off)}. "
    figures = {"near": len(scores) - len(off), "all": len(scores), "level": view.data["level"]}
    parts = [said("scores", figures, others=rest if off else "")]
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
    printed = [row for row in view.rows if any(item["printed"] is not None for item in _verdicts_of(view, row))]
    if not counts or not counts["cells"]:
        return said("no-verdicts")
    judged = ""
    if counts["judged"]:
        judged = " " + said("judged", counts, share=counts["judged_agree"] / counts["judged"]).strip()
    parts = [said("verdicts", counts, share=counts["agree"] / counts["cells"], judged_words=judged, legend=LEGEND)]
    criteria = view.of_group("review")
    lines = [["Metric", *(f"[{cell(item['title'])}]({RULES})" for item in criteria)]]
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
    return f"differs-{verdict['row']}-{verdict['criterion']}"


def _differing(view: View, verdict: Item, causes: Sequence[Item]) -> str:
    row, criterion = view.rows[verdict["row"]], view.criteria[verdict["criterion"]]
    lines = [
        f"#### {cell(row['title'])}: {cell(criterion['title'])} {{#{_differing_anchor(verdict)}}}\n",
        f"Printed: {shown_print(verdict['printed'])}. Ours: {view.sign(row['name'], criterion['name'])} "
        f"{verdict['status']}. {_sentence(cell(verdict['summary']))}\n",
    ]
    return "\n".join([*lines, f"Why: {_told_causes(causes)}\n"])


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


# Words ----------------------------------------------------------------------------------------------------------------


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
