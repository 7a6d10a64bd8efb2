"""What a characterisation of metrics says: its document."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from demele.bench.cards import card_of
from demele.bench.criteria import REVIEW_CRITERIA, Criterion
from demele.bench.dictionary import printed_scores
from demele.bench.published import agreement, agrees, printed_verdict
from demele.bench.verdicts import NOT_CHARACTERISED, Verdict
from demele.core.result import about
from demele.report.document import (
    NOTHING,
    Block,
    Cell,
    Choice,
    Document,
    Evidence,
    Heat,
    Line,
    Lines,
    Matrix,
    Notice,
    Pill,
    Section,
    Table,
)
from demele.report.written import count, joined, name, rate, written

if TYPE_CHECKING:
    from demele.bench.characterisation import Characterisation
    from demele.bench.findings import Row
    from demele.bench.scenario import Scenario

#: How a verdict stands in a cell.
PILLS = {
    "holds": Pill("✓", "good", 3),
    "inconclusive": Pill("?", "open", 2),
    "fails": Pill("✗", "bad", 1),
    "not applicable": Pill("–", "none"),
    NOT_CHARACTERISED: Pill("∅", "none"),
}
_SIGNS = {
    "✓": "meets the criterion",
    "✗": "fails",
    "?": "inconclusive: too few seeds",
    "–": "not applicable",
    "∅": "no stored rows",
}
#: Captions of the matrices: the addresses of the evidence begin with them.
CAPTIONS = {"review": "Criteria of the review", "added": "Added criteria"}
#: What the review prints in its table.
_PRINTED = {"y": "meets it", "x": "fails", "x*": "fails, as it discretises", "-": "not measured", "n/a": "n/a", "": "–"}
#: Rows and columns of a grid that a browser lays out at once, and lines that can be distinguished.
_MOST_CELLS, _MOST_LINES, _MOST_REASONS = 60, 8, 3


def characterisation_document(result: "Characterisation") -> Document:
    """Say which criteria metrics meet: a matrix of verdicts with the evidence for each, and curves."""
    shown = _Shown(result)
    own = [row for row, _ in shown.rows if row.own] or [row for row, _ in shown.rows][: len(shown.rows) == 1]
    judged = {row.name: shown.tally(row) for row in own}
    met = all(counts["holds"] and not counts["fails"] + counts["inconclusive"] for counts in judged.values())
    table, curves = _table(shown), _curves(shown)
    matrices = {CAPTIONS[group]: [_matrix(shown, group)] for group in CAPTIONS if shown.of_group(group)}
    facts = about(result)
    return Document(
        kind="Characterisation of metrics",
        title=f"Properties of {joined((shown.title(row) for row in own), most=3)}" if own else "Properties of metrics",
        headline=_headline(shown, own),
        tone="" if not own or not shown.criteria else "good" if met else "open",
        sentences=[_hardest(shown), _counts(shown), _published_sentence(shown)],
        figure=Choice("Criteria", matrices) if matrices else curves,
        table=table if shown.criteria else None,
        scope=[
            count(len(result.candidates), "metric"),
            count(len(result.scenarios), "scenario"),
            f"{count(result.n_samples, 'row')} each",
            _seeds(result.seeds),
            f"protocol {name(result.protocol)}",
        ],
        sections=[
            Section("Measures", [table]),
            Section("Criteria", [_rules(shown), _invariances(shown)]),
            Section("Curves", [curves]) if curves and matrices else NOTHING,
            _published(shown),
            Section("Data", [_scenarios(result)]),
        ],
        notes=[*_notes(shown), *facts["notes"]],
        method=[
            ("Verdict", "A criterion is a list of inequalities between mean scores. It holds if every interval does."),
            (
                "Intervals",
                f"Student's t over seeds; all conditions of a metric in a scenario together: {_level(result)}",
            ),
            ("Seeds of slow metrics", _seeds(result.slow_seeds)),
        ],
        methods=[
            "Metrics were characterised on representations with known properties [@carbonneau2022measuring] with",
            f"demele [@demele]: {count(len(result.scenarios), 'scenario')} of {count(result.n_samples, 'row')} with",
            f"{_seeds(result.seeds)}.",
        ],
        assumptions=facts["assumptions"],
        version=facts["version"],
    )


class _Shown:
    """A characterisation with the stored one under it: rows, verdicts and cards of both."""

    def __init__(self, result: "Characterisation") -> None:
        self.result, self.criteria = result, result.criteria
        sources = [result] if result.stored is None else [result, result.stored]
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        self.rows: list[tuple[Row, Characterisation]] = []
        for found in sources:
            taken = {row.name for row, _ in self.rows}
            run = [
                item
                for item in found.verdicts
                if (item.was_run or item.status == NOT_CHARACTERISED) and item.row not in taken
            ]
            asked = {item.row for item in run if item.criterion in {one.name for one in self.criteria}}
            self.rows += [(row, found) for row in found.rows if row.name in asked or found is result]
            self.verdicts |= {(item.row, item.criterion): item for item in run}
        #: Criteria of the review are numbered as there.
        self.codes = {one.name: f"R{place}" for place, one in enumerate(REVIEW_CRITERIA, start=1)}
        self.codes |= {one.name: f"A{place}" for place, one in enumerate(self.of_group("added"), start=1)}
        self.cards = {item.name: card_of(found, item) for row, found in self.rows for item in row.members}

    def coded(self, criteria: Sequence[str]) -> str:
        """Return the codes of criteria in their order; of three or more neighbours, the first and the last."""
        found: list[list[str]] = []
        order = list(self.codes)
        for place in map(order.index, criteria):
            code, before = self.codes[order[place]], self.codes[order[place - 1]] if place else ""
            if found and found[-1][-1] == before and before[0] == code[0]:
                found[-1].append(code)
            else:
                found.append([code])
        return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else " ".join(run) for run in found)

    def of_group(self, group: str) -> list[Criterion]:
        """Return the criteria of the review, or the others."""
        return [criterion for criterion in self.criteria if criterion.group == group]

    def title(self, row: "Row") -> str:
        """Return the title of a row, isolated."""
        return name(row.title)

    def statuses(self, row: "Row", criteria: Sequence[Criterion] | None = None) -> list[tuple[str, str]]:
        """Return the criteria that were run of a row, with their verdicts."""
        listed = self.criteria if criteria is None else criteria
        found = ((one.name, self.verdicts.get((row.name, one.name))) for one in listed)
        return [(criterion, verdict.status) for criterion, verdict in found if verdict is not None]

    def tally(self, row: "Row", criteria: Sequence[Criterion] | None = None) -> Counter[str]:
        """Count the verdicts on a row."""
        return Counter(status for _, status in self.statuses(row, criteria))

    def title_of(self, criterion: Criterion) -> str:
        """Return the code and the title of a criterion."""
        return f"{self.codes[criterion.name]} {name(criterion.title)}"


# What is said first ---------------------------------------------------------------------------------------------------


def _judged(counts: Mapping[str, int]) -> int:
    return counts["holds"] + counts["fails"] + counts["inconclusive"]


def _criteria(number: int) -> str:
    return count(number, "criterion", "criteria")


def _headline(shown: _Shown, own: "Sequence[Row]") -> str:
    if not shown.criteria:
        return "No scenario states an expectation, so there are no verdicts."
    if len(own) == 1:
        counts, title = shown.tally(own[0]), shown.title(own[0])
        if not _judged(counts):
            return f"No criterion applies to {title}."
        left, parts = counts["inconclusive"], [f"meets {counts['holds']} of {_criteria(_judged(counts))}"]
        parts += [f"fails {counts['fails']}"] if counts["fails"] else []
        parts += [f"leaves {left} inconclusive"] if left else []
        return f"{title} {joined(parts)}."
    tallies = [(shown.title(row), shown.tally(row)) for row in (own or [row for row, _ in shown.rows])]
    if own:
        parts = [f"{title} meets {counts['holds']} of {_criteria(_judged(counts))}" for title, counts in tallies]
        return f"{joined(parts, most=3)}."
    most = max(counts["holds"] for _, counts in tallies)
    best = [(title, counts) for title, counts in tallies if counts["holds"] == most]
    verb = "meets" if len(best) == 1 else "meet"
    asked = max(_judged(counts) for _, counts in best)
    return f"{joined((title for title, _ in best), most=3)} {verb} the most criteria: {most} of {asked}."


def _hardest(shown: _Shown) -> str:
    """Name the criterion that the largest share of metrics fail."""
    failing = []
    for criterion in shown.criteria if len(shown.rows) > 1 else ():
        counts = sum((shown.tally(row, [criterion]) for row, _ in shown.rows), Counter[str]())
        if counts["fails"] and _judged(counts) > 1:
            failing.append((counts["fails"] / _judged(counts), counts["fails"], _judged(counts), criterion))
    if not failing:
        return ""
    _, fails, judged, criterion = max(failing, key=lambda one: one[:2])
    return f"Hardest criterion: {name(criterion.title)}, which {fails} of {count(judged, 'metric')} fail."


def _counts(shown: _Shown) -> str:
    counts = sum((shown.tally(row) for row, _ in shown.rows), Counter[str]())
    if len(shown.rows) < 2 or not counts["inconclusive"]:
        return ""
    return (
        f"{counts['inconclusive']} of {count(counts.total(), 'verdict')} are inconclusive; more seeds can decide them."
    )


def _published_sentence(shown: _Shown) -> str:
    counts = agreement(shown.result.verdicts) if _is_of_the_review(shown) else {"cells": 0}
    if not counts["cells"]:
        return ""
    return f"{counts['agree']} of {count(counts['cells'], 'verdict')} agree with the published table of the review."


def _is_of_the_review(shown: _Shown) -> bool:
    return shown.result.protocol == "review2022"  # the printed tables were made with these settings


def _seeds(seeds: Mapping[str, int]) -> str:
    low, high = min(seeds.values()), max(seeds.values())
    return count(high, "seed") if low == high else f"{low} to {count(high, 'seed')}"


def _level(result: "Characterisation") -> str:
    return rate(result.level)


def _notes(shown: _Shown) -> Iterator[Notice]:
    """Yield how a user's metrics were judged, which criteria they fail, and which calls gave no value."""
    criteria = {criterion.name: criterion for criterion in shown.criteria}
    own = [row for row, _ in shown.rows if row.own]
    for item in (member for row in own for member in row.members):
        if item.claims is None:
            told = (
                "its claims are unknown, so all three properties are judged; use bench.candidate(function, claims=...)"
            )
            yield Notice(told, "warning", [name(item.name)])
        if item.discretises is None:
            told = "whether it bins columns is unknown; use bench.candidate(function, discretises=False)"
            yield Notice(told, "info", [name(item.name)])
        if item.name in shown.result.drifting:
            yield Notice(f"draws without a seed: it {shown.result.drifting[item.name]}", "warning", [name(item.name)])
    asked = own or [row for row, _ in shown.rows][: len(shown.rows) == 1]
    for row in asked:
        for criterion, status in shown.statuses(row):
            if status in ("fails", "inconclusive"):
                summary = shown.verdicts[row.name, criterion].summary
                told = f"{shown.title_of(criteria[criterion])}: {status}, {' '.join(summary.split())}"
                yield Notice(told, "info", [shown.title(row)])
        changes = [one for item in row.members for one in shown.cards[item.name]["invariances"]]
        moved = [f"{one['change']} (by {written(one['difference'])})" for one in changes if one["status"] == "fails"]
        if moved:
            yield Notice(
                f"changes that should not matter move the score: {joined(moved)}", "warning", [shown.title(row)]
            )
    yield from _without_value(shown.result)
    for row, found in shown.rows:
        fewer = found.fewer(row.members[0].name)
        if fewer is not None:
            told = f"measured with {count(fewer[0], 'seed')} of {count(fewer[1], 'row')}, as a call takes seconds"
            yield Notice(told, "info", [shown.title(row)])
    for scenario in shown.result.scenarios:
        if not scenario.wanted and scenario.name not in ("settings", "invariances", "mislabelled"):
            yield Notice("states no expectation (wanted=...), so there is no verdict", "info", [name(scenario.title)])


def _without_value(result: "Characterisation") -> Iterator[Notice]:
    """Yield how many calls of each metric gave no value, and why."""
    for item in result.candidates:
        curves = [curve for (metric, _), curve in result.curves.items() if metric == item.name and not curve.declined]
        reasons = Counter(" ".join(reason.split()) for curve in curves for own in curve.reasons for reason in own)
        if reasons:
            calls = sum(sum(curve.n) + sum(curve.failed) for curve in curves)
            told = joined((f"{reason} ({times:,})" for reason, times in reasons.most_common()), most=_MOST_REASONS)
            yield Notice(
                f"no value in {reasons.total():,} of {count(calls, 'call')}: {told}", "warning", [name(item.name)]
            )


# Tables and matrices --------------------------------------------------------------------------------------------------


def _table(shown: _Shown) -> Table:
    """Return the metrics, those of the user first, with how many criteria each meets."""
    groups = {group: criteria for group in CAPTIONS if (criteria := shown.of_group(group))}
    titles = {"review": "Review", "added": "Added"} if len(groups) > 1 else dict.fromkeys(groups, "Met")
    columns = {
        "Metric": "text",
        **dict.fromkeys((titles[group] for group in groups), "text"),
        "Fails": "text",
        "Inconclusive": "text",
        "Chance level": "number?",
        "Seconds of a call": "number?",
        "Claims": "text?",
    }
    rows, used = [], set[str]()
    for row, found in sorted(shown.rows, key=lambda one: (not one[0].own, -_met(shown.tally(one[0])))):
        lists = {status: [c for c, s in shown.statuses(row) if s == status] for status in ("fails", "inconclusive")}
        used.update(*lists.values())
        cards = [shown.cards[item.name] for item in row.members]
        chance = cards[0]["chance"]
        claims = [claim for item in row.members for claim in item.claims or ("not stated",)]
        rows.append(
            (
                shown.title(row) + (" (stored)" if found is not shown.result else ""),
                *(_share(shown.tally(row, criteria)) for criteria in groups.values()),
                *(shown.coded(listed) or "–" for listed in lists.values()),
                None if chance is None else chance["mean"],
                cards[0]["seconds"],
                ", ".join(dict.fromkeys(claims)),
            )
        )
    key = ", ".join(shown.title_of(criterion) for criterion in shown.criteria if criterion.name in used)
    return Table("Metrics", columns, rows, f"Codes: {key}." if key else "")


def _met(counts: Mapping[str, int]) -> float:
    return counts["holds"] / max(1, _judged(counts))


def _share(counts: Mapping[str, int]) -> Pill:
    met, judged = counts["holds"], _judged(counts)
    return Pill(f"{met}/{judged}", "", met / judged) if judged else Pill("–", "", -1)


def _matrix(shown: _Shown, group: str) -> Matrix:
    criteria = shown.of_group(group)[:_MOST_CELLS]
    rows = shown.rows[:_MOST_CELLS]
    cells, evidence = {}, {}
    for i, (row, found) in enumerate(rows):
        for j, criterion in enumerate(criteria):
            verdict = shown.verdicts.get((row.name, criterion.name))
            if verdict is not None:
                cells[i, j] = PILLS[verdict.status]
                evidence[i, j] = _evidence(shown, found, row, criterion, verdict)
    signs = {sign: text for sign, text in _SIGNS.items() if sign in {pill.text for pill in cells.values()}}
    columns = [shown.title_of(criterion) for criterion in criteria]
    return Matrix(CAPTIONS[group], [shown.title(row) for row, _ in rows], columns, cells, signs, evidence)


def _evidence(shown: _Shown, found: "Characterisation", row: "Row", criterion: Criterion, verdict: Verdict) -> Evidence:
    titles = {item.name: name(item.title) for item in row.members}
    scenarios = {item.name: item for item in found.scenarios}
    rows, blocks = list[Sequence[Cell]](), list[Block]()
    for part in verdict.parts:
        scenario = scenarios.get(part.scenario)
        who = (titles[part.metric], "" if scenario is None else name(scenario.title))
        if part.reason and not part.conditions:
            rows.append((*who, part.reason, None, None, None, PILLS[part.status]))
        for one in part.conditions:
            ends = (one.low, one.high)
            rows.append((*who, one.text, one.estimate, ends, one.bound, PILLS[one.status]))
        if scenario is not None and part.conditions and _is_a_line(scenario):
            line = _line(found, part.metric, scenario, titles[part.metric])
            blocks += [Lines(": ".join(who), [line], (scenario.sweep, "number"), ("score", "number"))] if line else []
    columns = {"Metric": "text", "Scenario": "text", "Condition": "text"}
    numbers = {"Estimate": "number", "Interval": "number", "At least": "number", "Verdict": "text"}
    table = Table(f"{shown.title(row)}: {shown.title_of(criterion)}", {**columns, **numbers}, rows)
    printed = printed_verdict(row.name, criterion.name) if _is_of_the_review(shown) else None
    published = [] if printed is None else [("Published", _PRINTED[printed])]
    return Evidence(f"{verdict.summary}.", [("Question", criterion.question), *published], [table, *blocks])


def _rules(shown: _Shown) -> Table | None:
    columns = {"Code": "text", "Criterion": "text", "Question": "text", "Rule": "text?"}
    rows = [(shown.codes[one.name], name(one.title), one.question, one.rule) for one in shown.criteria]
    return Table("Rules", columns, rows, first=_MOST_CELLS) if rows else None


def _invariances(shown: _Shown) -> Heat | None:
    """Return how far changes that say the same in another form move the scores."""
    found = [
        (name(item.title), {one["change"]: one for one in shown.cards[item.name]["invariances"]})
        for row, _ in shown.rows
        for item in row.members
    ]
    found = [(title, changes) for title, changes in found if changes][:_MOST_CELLS]
    if not found:
        return None
    changes = list(dict.fromkeys(change for _, own in found for change in own))
    values = [[own.get(change, {}).get("difference") for change in changes] for _, own in found]
    moved = frozenset(
        (i, j)
        for i, (_, own) in enumerate(found)
        for j, change in enumerate(changes)
        if own.get(change, {}).get("status") == "fails"
    )
    caption = "Mean change of the score by changes that should not matter (ring: more than 0.02)"
    return Heat(caption, [title for title, _ in found], changes, values, "number.2", ("metric", "change"), rings=moved)


# Curves, published results, data --------------------------------------------------------------------------------------


def _is_a_line(scenario: "Scenario") -> bool:
    """Whether the severities are places on an axis: no names, and no numbers of rows, which grow by factors."""
    return not scenario.labels and not scenario.counts_rows and len(scenario.severities) > 1


def _line(found: "Characterisation", metric: str, scenario: "Scenario", title: str) -> Line | None:
    curve = found.curves.get((metric, scenario.name))
    measured = next((one.severities for one in found.scenarios if one.name == scenario.name), ())
    if curve is None or curve.declined is not None or not any(curve.n) or not set(scenario.severities) <= set(measured):
        return None
    points = [curve.point(measured.index(severity), found.level) for severity in scenario.severities]
    mean, low, high = ([_known(point[what]) for point in points] for what in ("mean", "low", "high"))
    return Line(title, scenario.severities, mean, low, high)


def _known(value: float) -> float | None:
    return None if value != value else float(f"{value:.4g}")


def _curves(shown: _Shown) -> Choice | None:
    """Return the scores along each scenario: lines of a few metrics, or numbers of all where there is no axis."""
    metrics = [(item, found) for row, found in shown.rows for item in row.members]
    kinds: Counter[Any] = Counter()
    order = {}
    for item, _ in metrics:
        order[item.name] = (item.function is None, kinds[item.claims])
        kinds[item.claims] += 1
    panels: dict[str, list[Block]] = {}
    for scenario in shown.result.scenarios:
        lines = [
            (order[item.name], line)
            for item, found in metrics
            if (line := _line(found, item.name, scenario, name(item.title)))
        ]
        if not lines:
            continue
        caption = f"Scores: {name(scenario.title)}"
        if _is_a_line(scenario):
            first = [line for _, line in sorted(lines, key=lambda one: one[0])[:_MOST_LINES]]
            figure: Block = Lines(caption, first, (scenario.sweep, "number"), ("score", "number"))
            left = len(lines) - len(first)
            more = f"{left} more metrics have curves in the evidence of their cells." if left else ""
            panels[name(scenario.title)] = [scenario.question, figure, *[more] * bool(more)]
        else:
            labels = [scenario.label(place) for place in range(len(scenario.severities))]
            names, values = [line.name for _, line in lines], [line.y for _, line in lines]
            heat = Heat(
                caption, names[:_MOST_CELLS], labels, values[:_MOST_CELLS], "number.2", ("metric", scenario.sweep)
            )
            panels[name(scenario.title)] = [scenario.question, heat]
    return Choice("Scenario", panels) if panels else None


def _published(shown: _Shown) -> Section:
    """Return our verdicts and scores next to those of the review."""
    if not _is_of_the_review(shown):
        return NOTHING
    titles = {row.name: shown.title(row) for row, _ in shown.rows}
    differing = []
    for verdict in shown.result.verdicts:
        printed = printed_verdict(verdict.row, verdict.criterion)
        if printed is not None and verdict.was_run and not agrees(printed, verdict.status):
            code = shown.codes[verdict.criterion]
            differing.append((titles[verdict.row], code, _PRINTED[printed], PILLS[verdict.status], verdict.summary))
    columns = {"Metric": "text", "Criterion": "text", "Published": "text", "demele": "text", "Decided by": "text"}
    verdicts = Table("Verdicts that differ from the published table", columns, differing)
    names = {item.name: name(item.title) for item in shown.result.candidates}
    numbers = {"Published": "number.1", "demele": "number", "Interval": "number", "Difference": "number"}
    scores = [
        (
            names[one["metric"]],
            one["scenario_row"],
            one["printed"],
            one["ours"],
            (one["low"], one["high"]),
            one["difference"],
        )
        for one in printed_scores(shown.result)
    ]
    table = Table("Published scores", {"Metric": "text", "Codes": "text", **numbers}, scores)
    return Section("Published results", [verdicts if differing else None, table if scores else None])


def _scenarios(result: "Characterisation") -> Table:
    columns = {"Scenario": "text", "Question": "text", "Sweep": "text", "Severities": "text?", "Expectations": "text?"}
    rows = [
        (
            name(one.title),
            one.question,
            one.sweep,
            ", ".join(one.label(place) for place in range(len(one.severities))),
            " to ".join(dict.fromkeys(f"{rows:,}" for rows in result.rows_of.get(one.name, (result.n_samples,)))),
            "; ".join(f"{what}: {each.text}" for what, wanted in one.wanted.items() for each in wanted) or "–",
        )
        for one in result.scenarios
    ]
    return Table("Scenarios", columns, rows, first=_MOST_CELLS)
