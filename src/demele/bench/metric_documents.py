"""What a characterisation of metrics says: its document."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from demele.bench.criteria import REVIEW_CRITERIA, Criterion
from demele.bench.dictionary import card_of, printed_scores
from demele.bench.published import agreement, agrees, printed_verdict
from demele.bench.verdicts import NOT_CHARACTERISED, Verdict
from demele.core.result import about
from demele.report.document import (
    NOTHING,
    Block,
    Cell,
    Choice,
    Document,
    Heat,
    Line,
    Lines,
    Matrix,
    Notice,
    Pill,
    Section,
    Table,
)
from demele.report.listing import Column, listed, table_of_frame, without_empty
from demele.report.words import count, joined, name, rate

if TYPE_CHECKING:
    from demele.bench.characterisation import Characterisation
    from demele.bench.scenario import Scenario
    from demele.bench.verdicts import Row

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
    judged = [shown.tally(row) for row in own]
    met = all(counts["holds"] and not counts["fails"] + counts["inconclusive"] for counts in judged)
    table, curves = _table(shown, own), _curves(shown)
    matrices = {CAPTIONS[group]: [_matrix(shown, group)] for group in CAPTIONS if shown.of_group(group)}
    scenarios, seeds = count(len(result.scenarios), "scenario"), _seeds(result.seeds)
    facts = about(result)
    return Document(
        kind="Characterisation of metrics",
        title=f"Properties of {joined((name(row.title) for row in own), most=3)}" if own else "Properties of metrics",
        headline=_headline(shown, own),
        tone="" if not own or not shown.criteria else "good" if met else "open",
        sentences=[_published_sentence(shown)],
        figure=Choice("Criteria", matrices) if matrices else curves,
        table=table if shown.criteria else None,
        scope=[
            count(len(result.candidates), "metric"),
            scenarios,
            f"{count(result.n_samples, 'row')} each",
            seeds,
            f"protocol {name(result.protocol)}",
        ],
        sections=[
            Section("Measures", [table]),
            Section("Criteria", [_rules(shown), _invariances(shown)]),
            Section("Curves", [curves if matrices else None]),
            _published(shown),
            Section("Data", [_scenarios(result)]),
        ],
        notes=[*_notes(shown), *facts["notes"]],
        methods=[
            "Metrics were characterised on representations with known properties [@carbonneau2022measuring] with",
            f"demele [@demele]: {scenarios} of {count(result.n_samples, 'row')} with {seeds}; slow metrics:",
            f"{_seeds(result.slow_seeds)}. A criterion is a list of inequalities between mean scores. It holds if",
            f"every interval does: Student's t, {rate(result.level)} for all conditions of a metric in a scenario.",
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

    def card(self, row: "Row") -> dict[str, Any]:
        """Return the card of the first metric of a row."""
        return self.cards[row.members[0].name]

    def of_group(self, group: str) -> list[Criterion]:
        """Return the criteria of the review, or the others."""
        return [criterion for criterion in self.criteria if criterion.group == group]

    def statuses(self, row: "Row") -> dict[str, str]:
        """Return the verdicts on a row, by criterion, of those that were run."""
        found = ((one.name, self.verdicts.get((row.name, one.name))) for one in self.criteria)
        return {criterion: verdict.status for criterion, verdict in found if verdict is not None}

    def tally(self, row: "Row") -> Counter[str]:
        """Count the verdicts on a row."""
        return Counter(self.statuses(row).values())

    def title_of(self, criterion: Criterion) -> str:
        """Return the code and the title of a criterion."""
        return f"{self.codes[criterion.name]} {name(criterion.title)}"


# What is said first ---------------------------------------------------------------------------------------------------


def _judged(counts: Mapping[str, int]) -> int:
    return counts["holds"] + counts["fails"] + counts["inconclusive"]


def _headline(shown: _Shown, own: "Sequence[Row]") -> str:
    if not shown.criteria:
        return "No scenario states an expectation, so there are no verdicts."
    tallies = [(name(row.title), shown.tally(row)) for row in (own or [row for row, _ in shown.rows])]
    if not own:
        most = max(counts["holds"] for _, counts in tallies)
        best = {title: _judged(counts) for title, counts in tallies if counts["holds"] == most}
        verb = "meets" if len(best) == 1 else "meet"
        return f"{joined(best, most=3)} {verb} the most criteria: {most} of {max(best.values())}."
    parts = [
        f"{title} meets {counts['holds']} of {count(_judged(counts), 'criterion', 'criteria')}"
        for title, counts in tallies
    ]
    if len(own) == 1:
        counts = tallies[0][1]
        parts += [f"fails {counts['fails']}"] * bool(counts["fails"])
        parts += [f"leaves {counts['inconclusive']} inconclusive"] * bool(counts["inconclusive"])
    return f"{joined(parts, most=3)}."


def _published_sentence(shown: _Shown) -> str:
    counts = agreement(shown.result.verdicts) if _is_of_the_review(shown) else {"cells": 0}
    told = f"{counts.get('agree')} of {count(counts['cells'], 'verdict')} agree with the published table of the review."
    return told if counts["cells"] else ""


def _is_of_the_review(shown: _Shown) -> bool:
    return shown.result.protocol == "review2022"  # the printed tables were made with these settings


def _seeds(seeds: Mapping[str, int]) -> str:
    low, high = min(seeds.values()), max(seeds.values())
    return count(high, "seed") if low == high else f"{low} to {count(high, 'seed')}"


def _notes(shown: _Shown) -> Iterator[Notice]:
    """Yield how a user's metrics were judged, and which calls gave no value."""
    unknown = "its claims are unknown, so all three properties are judged; use bench.candidate(function, claims=...)"
    binned = "whether it bins columns is unknown; use bench.candidate(function, discretises=False)"
    for item in (member for row, _ in shown.rows if row.own for member in row.members):
        drifts = shown.result.drifting.get(item.name)
        yield from [Notice(unknown, "warning", [name(item.name)])] * (item.claims is None)
        yield from [Notice(binned, "info", [name(item.name)])] * (item.discretises is None)
        yield from [Notice(f"draws without a seed: it {drifts}", "warning", [name(item.name)])] * bool(drifts)
    yield from _without_value(shown.result)
    for row, found in shown.rows:
        fewer = found.fewer(row.members[0].name)
        if fewer is not None:
            told = f"measured with {count(fewer[0], 'seed')} of {count(fewer[1], 'row')}, as a call takes seconds"
            yield Notice(told, about=[name(row.title)])
    for scenario in shown.result.scenarios:
        if not scenario.wanted and scenario.name not in ("settings", "invariances", "mislabelled"):
            yield Notice("states no expectation (wanted=...), so there is no verdict", about=[name(scenario.title)])


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


def _table(shown: _Shown, own: "Sequence[Row]") -> Table:
    """Return the metrics, those of the user first, with how many criteria each meets."""
    groups = {title: shown.of_group(group) for group, title in (("review", "Review"), ("added", "Added"))}
    columns: list[Column[tuple[Row, Characterisation]]] = [
        ("Metric", "text", lambda one: name(one[0].title) + " (stored)" * (one[1] is not shown.result)),
        *((title, "text", lambda one, of=of: _share(shown, one[0], of)) for title, of in groups.items() if of),
        ("Fails", "count", lambda one: shown.tally(one[0])["fails"]),
        ("Inconclusive", "count", lambda one: shown.tally(one[0])["inconclusive"]),
        ("Chance level", "number?", lambda one: (shown.card(one[0])["chance"] or {}).get("mean")),
        ("Seconds of a call", "number?", lambda one: shown.card(one[0])["seconds"]),
        ("Claims", "text?", lambda one: ", ".join(dict.fromkeys(_claims(one[0])))),
    ]
    ordered = sorted(shown.rows, key=lambda one: (not one[0].own, -_share(shown, one[0], shown.criteria).order))
    said = []
    for row in own:
        for status, verb in (("fails", "fails"), ("inconclusive", "is inconclusive on")):
            found = [name(one.title) for one in shown.criteria if shown.statuses(row).get(one.name) == status]
            said += [f"{name(row.title)} {verb} {joined(found, most=12)}."] if found else []
    return listed("Metrics", ordered, columns, " ".join(said))


def _claims(row: "Row") -> Iterator[str]:
    for item in row.members:
        yield from item.claims or ("not stated",)


def _share(shown: _Shown, row: "Row", criteria: Sequence[Criterion]) -> Pill:
    names = {criterion.name for criterion in criteria}
    counts = Counter(status for criterion, status in shown.statuses(row).items() if criterion in names)
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
    return Matrix(CAPTIONS[group], [name(row.title) for row, _ in rows], columns, cells, signs, evidence)


def _evidence(
    shown: _Shown, found: "Characterisation", row: "Row", criterion: Criterion, verdict: Verdict
) -> list[Block]:
    titles = {item.name: name(item.title) for item in row.members}
    scenarios = {item.name: item for item in found.scenarios}
    rows: list[tuple[Cell, ...]] = []
    figures: list[Block] = []
    for part in verdict.parts:
        scenario = scenarios.get(part.scenario)
        who = (titles[part.metric], "" if scenario is None else name(scenario.title))
        if part.reason and not part.conditions:
            rows.append((*who, part.reason, None, None, None, PILLS[part.status]))
        rows += [
            (*who, one.text, one.estimate, (one.low, one.high), one.bound, PILLS[one.status]) for one in part.conditions
        ]
        if scenario is not None and part.conditions and _is_a_line(scenario):
            line = _line(found, part.metric, scenario, titles[part.metric])
            figures += [Lines(": ".join(who), [line], (scenario.sweep, "number"), ("score", "number"))] if line else []
    columns = {"Metric": "text", "Scenario": "text", "Condition": "text", "Estimate": "number", "Interval": "number"}
    columns |= {"At least": "number", "Verdict": "text"}
    table = without_empty(Table(f"{name(row.title)}: {shown.title_of(criterion)}", columns, rows))
    return [f"{verdict.summary}.", criterion.question, table, *figures]


def _rules(shown: _Shown) -> Table:
    columns: list[Column[Criterion]] = [
        ("Code", "text", lambda one: shown.codes[one.name]),
        ("Criterion", "text", "title"),
        ("Question", "text", lambda one: one.question),
        ("Rule", "text?", lambda one: one.rule),
    ]
    return listed("Rules", shown.criteria, columns, first=_MOST_CELLS)


def _invariances(shown: _Shown) -> Heat:
    """Return how far changes that say the same in another form move the scores."""
    items = [item for row, _ in shown.rows for item in row.members if shown.cards[item.name]["invariances"]]
    rows = [{one["change"]: one for one in shown.cards[item.name]["invariances"]} for item in items[:_MOST_CELLS]]
    titles = [name(item.title) for item in items[:_MOST_CELLS]]
    changes = list(dict.fromkeys(change for own in rows for change in own))
    values = [[own[change]["difference"] if change in own else None for change in changes] for own in rows]
    places = [(i, j, own.get(change, {})) for i, own in enumerate(rows) for j, change in enumerate(changes)]
    moved = frozenset((i, j) for i, j, one in places if one.get("status") == "fails")
    caption = "Mean change of the score by changes that should not matter (ring: more than 0.02)"
    return Heat(caption, titles, changes, values, "number.2", ("metric", "change"), rings=moved)


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


def _curves(shown: _Shown) -> Choice:
    """Return the scores along each scenario: lines of a few metrics, or numbers of all where there is no axis."""
    metrics = [(item, found) for row, found in shown.rows for item in row.members]
    metrics.sort(key=lambda one: one[0].function is None)
    panels: dict[str, list[Block]] = {}
    for scenario in shown.result.scenarios:
        found_lines = (_line(found, item.name, scenario, name(item.title)) for item, found in metrics)
        lines = [line for line in found_lines if line is not None]
        caption, question = f"Scores: {name(scenario.title)}", scenario.question
        labels = list(map(scenario.label, range(len(scenario.severities))))
        names, values = [line.name for line in lines[:_MOST_CELLS]], [line.y for line in lines[:_MOST_CELLS]]
        figure: Block = Heat(caption, names, labels, values, "number.2", ("metric", scenario.sweep))
        if _is_a_line(scenario):
            figure = Lines(caption, lines[:_MOST_LINES], (scenario.sweep, "number"), ("score", "number"))
            left = max(len(lines) - _MOST_LINES, 0)
            question += f" {left} more metrics have curves in the evidence of their cells." if left else ""
        panels |= {name(scenario.title): [question, figure]} if lines else {}
    return Choice("Scenario", panels)


def _published(shown: _Shown) -> Section:
    """Return our verdicts and scores next to those of the review."""
    if not _is_of_the_review(shown):
        return NOTHING
    import pandas as pd

    titles = {row.name: name(row.title) for row, _ in shown.rows}
    scores = pd.DataFrame(printed_scores(shown.result))
    differing = [
        (titles[one.row], shown.codes[one.criterion], _PRINTED[printed], PILLS[one.status], one.summary)
        for one in shown.result.verdicts
        if one.was_run
        and (printed := printed_verdict(one.row, one.criterion)) is not None
        and not agrees(printed, one.status)
    ]
    columns = {"Metric": "text", "Criterion": "text", "Published": "text", "demele": "text", "Decided by": "text"}
    ours, _ = table_of_frame("Published scores", scores, {"severity": "number.1?", "printed": "number.1"})
    verdicts = Table("Verdicts that differ from the published table", columns, differing)
    return Section("Published results", [verdicts, ours])


def _scenarios(result: "Characterisation") -> Table:
    def rows_of(one: "Scenario") -> str:
        return " to ".join(dict.fromkeys(f"{rows:,}" for rows in result.rows_of.get(one.name, (result.n_samples,))))

    columns: list[Column[Scenario]] = [
        ("Scenario", "text", "title"),
        ("Question", "text", lambda one: one.question),
        ("Sweep", "text", lambda one: one.sweep),
        ("Severities", "text?", lambda one: ", ".join(map(one.label, range(len(one.severities))))),
        ("Rows", "text?", rows_of),
        (
            "Expectations",
            "text?",
            lambda one: "; ".join(f"{key}: {each.text}" for key in one.wanted for each in one.wanted[key]),
        ),
    ]
    return listed("Scenarios", result.scenarios, columns, first=_MOST_CELLS)
