"""What metrics do on representations whose properties are known: the call, its result, and the document of it."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from demele.bench import run, stored
from demele.bench.expectations import Candidate, Scenario
from demele.bench.verdicts import NOT_CHARACTERISED, REVIEW_CRITERIA, Criterion, Curve, Findings, Row, Verdict
from demele.core.arrays import pd
from demele.core.errors import InputError, failing
from demele.core.kinds import Jobs, Kind, Level, StorePath, at_least, checked, checked_name, names_in
from demele.core.outputs import write_whole
from demele.core.reading import path_of, read_whole, unpacking_at_most
from demele.core.result import Result, about
from demele.core.store import reading_record
from demele.metrics.catalogue import list_metrics, names_of_all
from demele.metrics.protocols import DEFAULT_PROTOCOL
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
from demele.runtime.sweep import Record, Sweep

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
    same = stored.agreement(result.verdicts)
    agreed = f"{same['agree']} of {count(same['cells'], 'verdict')} agree with the published table of the review."
    facts = about(result)
    columns: list[Column[Criterion]] = [
        ("Code", "text", lambda one: shown.codes[one.name]),
        ("Criterion", "text", "title"),
        ("Question", "text", lambda one: one.question),
        ("Rule", "text?", lambda one: one.rule),
    ]
    return Document(
        kind="Characterisation of metrics",
        title=f"Properties of {joined((name(row.title) for row in own), most=3)}" if own else "Properties of metrics",
        headline=_headline(shown, own),
        tone="" if not own or not shown.criteria else "good" if met else "open",
        sentences=[agreed if same["cells"] and result.protocol == "review2022" else ""],
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
            Section("Criteria", [listed("Rules", shown.criteria, columns, first=_MOST_CELLS), _invariances(shown)]),
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
            known = [
                item
                for item in found.verdicts
                if (item.was_run or item.status == NOT_CHARACTERISED) and item.row not in taken
            ]
            asked = {item.row for item in known if item.criterion in {one.name for one in self.criteria}}
            self.rows += [(row, found) for row in found.rows if row.name in asked or found is result]
            self.verdicts |= {(item.row, item.criterion): item for item in known}
        #: Criteria of the review are numbered as there.
        self.codes = {one.name: f"R{place}" for place, one in enumerate(REVIEW_CRITERIA, start=1)}
        self.codes |= {one.name: f"A{place}" for place, one in enumerate(self.of_group("added"), start=1)}
        self.cards = {item.name: stored.card_of(found, item) for row, found in self.rows for item in row.members}

    def card(self, row: Row) -> dict[str, Any]:
        """Return the card of the first metric of a row."""
        return self.cards[row.members[0].name]

    def of_group(self, group: str) -> list[Criterion]:
        """Return the criteria of the review, or the others."""
        return [criterion for criterion in self.criteria if criterion.group == group]

    def statuses(self, row: Row) -> dict[str, str]:
        """Return the verdicts on a row, by criterion, of those that were run."""
        found = ((one.name, self.verdicts.get((row.name, one.name))) for one in self.criteria)
        return {criterion: verdict.status for criterion, verdict in found if verdict is not None}

    def tally(self, row: Row) -> Counter[str]:
        """Count the verdicts on a row."""
        return Counter(self.statuses(row).values())

    def title_of(self, criterion: Criterion) -> str:
        """Return the code and the title of a criterion."""
        return f"{self.codes[criterion.name]} {name(criterion.title)}"


# What is said first ---------------------------------------------------------------------------------------------------


def _judged(counts: Mapping[str, int]) -> int:
    return counts["holds"] + counts["fails"] + counts["inconclusive"]


def _headline(shown: _Shown, own: Sequence[Row]) -> str:
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
    for item in shown.result.candidates:
        curves = [curve for (metric, _), curve in shown.result.curves.items() if metric == item.name]
        reasons = Counter(" ".join(reason.split()) for curve in curves for own in curve.reasons for reason in own)
        if reasons:
            calls = count(sum(sum(curve.n) + sum(curve.failed) for curve in curves), "call")
            told = joined((f"{reason} ({times:,})" for reason, times in reasons.most_common()), most=_MOST_REASONS)
            yield Notice(f"no value in {reasons.total():,} of {calls}: {told}", "warning", [name(item.name)])
    for row, found in shown.rows:
        fewer = found.fewer(row.members[0].name)
        if fewer is not None:
            told = f"measured with {count(fewer[0], 'seed')} of {count(fewer[1], 'row')}, as a call takes seconds"
            yield Notice(told, about=[name(row.title)])
    for scenario in shown.result.scenarios:
        if not scenario.wanted and scenario.name not in ("settings", "invariances", "mislabelled"):
            yield Notice("states no expectation (wanted=...), so there is no verdict", about=[name(scenario.title)])


# Tables and matrices --------------------------------------------------------------------------------------------------


def _table(shown: _Shown, own: Sequence[Row]) -> Table:
    """Return the metrics, those of the user first, with how many criteria each meets."""
    groups = {title: shown.of_group(group) for group, title in (("review", "Review"), ("added", "Added"))}

    def claims(one: "tuple[Row, Characterisation]") -> str:
        return ", ".join(dict.fromkeys(of for item in one[0].members for of in item.claims or ("not stated",)))

    columns: list[Column[tuple[Row, Characterisation]]] = [
        ("Metric", "text", lambda one: name(one[0].title) + " (stored)" * (one[1] is not shown.result)),
        *((title, "text", lambda one, of=of: _share(shown, one[0], of)) for title, of in groups.items() if of),
        ("Fails", "count", lambda one: shown.tally(one[0])["fails"]),
        ("Inconclusive", "count", lambda one: shown.tally(one[0])["inconclusive"]),
        ("Chance level", "number?", lambda one: (shown.card(one[0])["chance"] or {}).get("mean")),
        ("Seconds of a call", "number?", lambda one: shown.card(one[0])["seconds"]),
        ("Claims", "text?", claims),
    ]
    ordered = sorted(shown.rows, key=lambda one: (not one[0].own, -_share(shown, one[0], shown.criteria).order))
    said = []
    for row in own:
        for status, verb in (("fails", "fails"), ("inconclusive", "is inconclusive on")):
            found = [name(one.title) for one in shown.criteria if shown.statuses(row).get(one.name) == status]
            said += [f"{name(row.title)} {verb} {joined(found, most=12)}."] if found else []
    return listed("Metrics", ordered, columns, " ".join(said))


def _share(shown: _Shown, row: Row, criteria: Sequence[Criterion]) -> Pill:
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
    shown: _Shown, found: "Characterisation", row: Row, criterion: Criterion, verdict: Verdict
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


def _is_a_line(scenario: Scenario) -> bool:
    """Whether the severities are places on an axis: no names, and no numbers of rows, which grow by factors."""
    return not scenario.labels and not scenario.counts_rows and len(scenario.severities) > 1


def _line(found: "Characterisation", metric: str, scenario: Scenario, title: str) -> Line | None:
    curve = found.curves.get((metric, scenario.name))
    swept = next((one.severities for one in found.scenarios if one.name == scenario.name), ())
    if curve is None or curve.declined is not None or not any(curve.n) or not set(scenario.severities) <= set(swept):
        return None
    points = [curve.point(swept.index(severity), found.level) for severity in scenario.severities]
    mean, low, high = ([float(f"{point[what]:.4g}") for point in points] for what in ("mean", "low", "high"))
    return Line(title, scenario.severities, mean, low, high)


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
    if shown.result.protocol != "review2022":  # the printed tables were made with these settings
        return NOTHING

    titles = {row.name: name(row.title) for row, _ in shown.rows}
    scores = pd.DataFrame(stored.printed_scores(shown.result))
    differing = [
        (titles[one.row], shown.codes[one.criterion], _PRINTED[printed], PILLS[one.status], one.summary)
        for one in shown.result.verdicts
        if one.was_run
        and (printed := stored.printed_verdict(one.row, one.criterion)) is not None
        and not stored.agrees(printed, one.status)
    ]
    columns = {"Metric": "text", "Criterion": "text", "Published": "text", "demele": "text", "Decided by": "text"}
    ours, _ = table_of_frame("Published scores", scores, {"severity": "number.1?", "printed": "number.1"})
    verdicts = Table("Verdicts that differ from the published table", columns, differing)
    return Section("Published results", [verdicts, ours])


def _scenarios(result: "Characterisation") -> Table:
    def rows_of(one: Scenario) -> str:
        return " to ".join(dict.fromkeys(f"{rows:,}" for rows in result.rows_of.get(one.name, (result.n_samples,))))

    columns: list[Column[Scenario]] = [
        ("Scenario", "text", "title"),
        ("Question", "text", lambda one: one.question),
        ("Sweep", "text", lambda one: one.sweep),
        ("Severities", "text?", lambda one: ", ".join(map(one.label, range(len(one.severities))))),
        ("Rows", "text?", rows_of),
    ]
    return listed("Scenarios", result.scenarios, columns, first=_MOST_CELLS)


# The result of the bench ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Characterisation(Findings, Result):
    """Behaviour of metrics on every scenario: rows, curves, verdicts, a card for each.

    Attributes
    ----------
    candidates : tuple of Candidate
        The metrics.
    scenarios : tuple of Scenario
        Where they were measured.
    protocol, n_samples, level
        How.
    seeds, slow_seeds : mapping of str to int
        Seeds of each scenario, and of the metrics that train predictors.
    curves : mapping of (metric, scenario) to Curve
        The scores of all seeds.
    seconds : mapping of (group, scenario) to arrays
        Seconds of each call, per severity.
    rows_of : mapping of scenario to (least, most)
        Rows of the scenarios that draw another number than ``n_samples``.
    fewer_rows : mapping of metric to int
        Rows of the representations of metrics that were measured on fewer than ``n_samples``, as some that are slow
        are in :func:`demele.bench.reference`; their seeds are fewer as well.
    drifting : mapping of metric to text
        What functions that draw without a seed gave, twice, on the same arrays.
    version : str
        The demele that measured.
    stored : Characterisation, optional
        Other results that the document shows under these: see :meth:`compared_with`.

    Examples
    --------
    >>> from demele import bench
    >>> found = bench.check_metrics(["mig"], ["mixing"], seeds=3, n_rows=500)
    >>> found.verdict("mig", "coherent_modularity").status
    'not applicable'
    """

    _kind = "characterisation"
    _files: ClassVar[Mapping[str, str]] = {
        ".json.gz": "save",
        ".values.csv": "value_frame",
        ".curves.csv": "curve_frame",
    }

    stored: "Characterisation | None" = None

    def verdict(self, row: str, criterion: str) -> Verdict:
        """Return one verdict, with its evidence.

        Parameters
        ----------
        row : str
            A metric, or "dci_forest", "dci_lasso", "dci_boosting".
        criterion : str
            Name of a criterion.

        Raises
        ------
        UnknownNameError
            With the nearest names.
        """
        checked_name(row, "row", [item.name for item in self.rows])
        checked_name(criterion, "criterion", [item.name for item in self.criteria])
        return next(item for item in self.verdicts if (item.row, item.criterion) == (row, criterion))

    def table(self, group: str | None = None) -> "pd.DataFrame":
        """Return the verdicts as a table: a row for each metric, a column for each criterion.

        Parameters
        ----------
        group : {"review", "added"}, optional
            Only the criteria of the review, or of the further scenarios.
        """
        if group is not None:
            checked_name(group, "group", ("review", "added"))
        names = [item.name for item in self.criteria if group in (None, item.group)]
        found = {(item.row, item.criterion): item.status for item in self.verdicts}
        return pd.DataFrame(
            [[found[row.name, name] for name in names] for row in self.rows],
            index=pd.Index([row.name for row in self.rows], name="metric"),
            columns=names,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return one row for each verdict, with the run that it comes from: "yours", "measured" or "stored"."""
        asked, taken = {item.name for item in self.criteria}, {row.name for row in self.rows}
        lines = []
        for source in (self, self.stored) if self.stored is not None else (self,):
            for row in (row for row in source.rows if source is self or row.name not in taken):
                origin = "yours" if row.own else "measured" if source is self else "stored"
                seeds, rows = source.fewer(row.members[0].name) or (max(source.seeds.values()), source.n_samples)
                lines += [
                    (item.row, item.criterion, item.status, item.summary, origin, rows, seeds)
                    for item in source.verdicts
                    if item.row == row.name and item.criterion in asked
                ]
        columns = ["metric", "criterion", "status", "summary", "origin", "n_rows", "seeds"]
        return pd.DataFrame(lines, columns=columns)

    def value_frame(self) -> "pd.DataFrame":
        """Return one row for each value: scenario, severity, seed, metric, value (NaN with a reason)."""
        lines = []
        for (metric, scenario), curve in self.curves.items():
            if curve.declined is not None:
                continue
            severities = next(one for one in self.scenarios if one.name == scenario).severities
            for severity, of_seeds in zip(severities, curve.outcomes, strict=True):
                for seed, own in enumerate(of_seeds):
                    value, reason = (float("nan"), own) if isinstance(own, str) else (own, "")
                    lines.append((scenario, severity, seed, metric, value, reason))
        return pd.DataFrame(lines, columns=["scenario", "severity", "seed", "metric", "value", "reason"])

    def curve_frame(self) -> "pd.DataFrame":
        """Return one row for each point of each curve: mean, interval, standard deviation, seeds."""
        lines = []
        for scenario, item in itertools.product(self.scenarios, self.candidates):
            curve = self.curves[item.name, scenario.name]
            for place, severity in enumerate(scenario.severities if curve.declined is None else ()):
                mean, low, high, count = curve.point(place, self.level).values()
                spread = float(curve.values[place].std(ddof=1)) if count > 1 else float("nan")
                label = scenario.label(place)
                lines.append((scenario.name, severity, label, item.name, mean, low, high, spread, count))
        columns = ["scenario", "severity", "label", "metric", "mean", "low", "high", "std", "seeds"]
        return pd.DataFrame(lines, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return curves, criteria, verdicts and the facts about each metric, as plain values that JSON can hold."""
        return stored.to_dictionary(self)

    document = characterisation_document

    def compared_with(self, stored: "Characterisation") -> "Characterisation":
        """Return this with other results under it in its document, where these lack a metric.

        Parameters
        ----------
        stored : Characterisation
            Such as :func:`demele.bench.reference`. :meth:`to_dict` and :meth:`value_frame` do not hold it.

        Examples
        --------
        >>> from demele import bench
        >>> found = bench.check_metrics(["mig"], ["mixing"], seeds=3, n_rows=500)
        >>> len(found.document().table.rows) < len(found.compared_with(bench.reference()).document().table.rows)
        True
        """
        return replace(self, stored=stored)

    def with_published(self) -> "Characterisation":
        """Return this with the stored results of the published metrics under those of your own, if it has any."""
        if not any(row.own for row in self.rows):
            return self
        try:
            return self.compared_with(reference())
        except FileNotFoundError:  # an installation may come without them
            return self

    def save(self, path: str | Path) -> Path:
        """Write every value compactly; :func:`demele.bench.load` reads it."""
        return write_whole(path, stored.packed(self))


def load(path: str | Path, *, max_size: int | None = None) -> Characterisation:
    """Read a file of :meth:`Characterisation.save`.

    Parameters
    ----------
    path : str or Path
        The file.
    max_size : int, optional
        Most bytes that it may take once it is unpacked; by default its own size and 512 MiB.

    Returns
    -------
    Characterisation
        Functions of your own are there by name; they cannot be called.

    Raises
    ------
    InputError
        If the file cannot be read.
    FormatError
        If it is something else, or takes more.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demele import bench
    >>> found = bench.check_metrics(["mig"], ["mixing"], seeds=2, n_rows=200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = bench.load(found.save(Path(folder) / "mig.json.gz"))
    >>> again.curve_frame().equals(found.curve_frame())
    True
    """
    with unpacking_at_most(max_size):
        with failing(f"cannot read {path}", kind=InputError, argument="path"):
            content = read_whole(path_of(path))
        return stored.unpacked(content, str(path), Characterisation)


def reference() -> Characterisation:
    """Return the stored characterisation of demele's metrics, for comparison with your own metric.

    Returns
    -------
    Characterisation
        Of all registered metrics, the newer ones where their rows are stored, under the protocol "review2022", with
        20 000 rows; some that take seconds a call have fewer seeds, of 5000 rows: those of ``fewer_rows``. A metric of
        which no rows are stored is there without values: its verdicts are "not yet characterised".

    Raises
    ------
    FileNotFoundError
        If demele was installed without any stored rows.

    Examples
    --------
    >>> from demele import bench
    >>> bench.reference().verdict("modularity", "calibrated").status
    'fails'
    """
    rows = stored.read_rows(stored.FILE)
    if not rows:
        raise FileNotFoundError(f"no rows of metrics are stored in {stored.FILE}")
    usual = names_of_all()
    return stored.referred(Characterisation, [name for name in list_metrics() if name in usual or name in rows], rows)


# The call -------------------------------------------------------------------------------------------------------------

Metric = str | Callable[..., float] | Candidate
_LIST = Kind("A,B", names_in)


@checked
def check_metrics(
    metrics: Annotated[Sequence[Metric] | Metric | None, _LIST] = None,
    scenarios: Annotated[Sequence[str | Scenario] | str | Scenario | None, _LIST] = None,
    *,
    seeds: run.Seeds = run.USUAL_SEEDS,
    slow_seeds: run.Seeds | None = None,
    n_rows: Annotated[int, at_least(run.LEAST_ROWS)] = 20_000,
    protocol: str = DEFAULT_PROTOCOL,
    level: Level = 0.95,
    n_jobs: Jobs = 1,
    executor: Executor | None = None,
    store: StorePath = None,
) -> Characterisation:
    """Measure metrics on representations whose properties are known.

    Parameters
    ----------
    metrics : names, callables, candidates, or None
        Metrics to measure (default: all registered ones). Names; any function ``(codes, factors) -> float``; or
        :func:`demele.bench.candidate`, which says what a function claims.
    scenarios : names, Scenario objects, or None
        Where they are measured (default: all). See :func:`demele.bench.scenario_names`; "source" is the five of the
        review, "added" the others.
    seeds : int or mapping, default 100
        Draws of each representation, or draws by scenario. A mapping gives numbers by scenario, or by "source" and
        "added"; of the others there are 100.
    slow_seeds : int or mapping, optional
        The same for metrics that train predictors (default: at most 20). These are DCI and Explicitness.
    n_rows : int, default 20 000
        Rows of each representation. The most, in the scenarios that sweep the number of rows.
    protocol : str, default "review2022"
        Named settings of the metrics. See :func:`demele.list_protocols`.
    level : float in (0, 1), default 0.95
        Confidence of the intervals. Of each point of a curve, and of all conditions together that one criterion asks
        of one metric in one scenario.
    n_jobs : int, default 1
        Processes, -1 for all processors. The rows are the same bits for any number.
    executor : concurrent.futures.Executor, optional
        Where to work instead.
    store : str or Path, optional
        File that keeps every row; the same run continues there. A run that was killed continues where it was; a later
        call with more metrics, scenarios or seeds computes only those. Rows of a function of yours are found again by
        its code; what it calls, and global variables, are not looked at: after a change there, use another file.

    Returns
    -------
    Characterisation

    Raises
    ------
    UnknownNameError
        If a metric, scenario or protocol is not known; with the nearest names.
    InputError, InputTypeError
        If a number is out of range, or the store cannot be used: before anything is computed.

    Warns
    -----
    DemeleWarning
        If a scenario sweeps around the settings of another protocol, and is left out.

    Notes
    -----
    A metric that raises, or returns no finite number, is recorded with the reason, never as 0, and the run goes on.
    A function of yours gets no seed: one that draws makes a generator of its own, with a seed of its own, inside.
    After Boilard's review and Carbonneau, Zaidi, Boilard & Gagnon (2022), section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from demele import bench
    >>> def best_correlation(codes, factors):
    ...     found = np.corrcoef(codes, factors, rowvar=False)[: codes.shape[1], codes.shape[1] :]
    ...     return float(np.abs(found).max(axis=0).mean())
    >>> found = bench.check_metrics(best_correlation, ["noise", "non_linear"], seeds=5, n_rows=1000)
    >>> found.verdict("best_correlation", "non_linear").status
    'fails'
    """
    plan = run.Plan(metrics, scenarios, seeds, slow_seeds, n_rows, protocol)
    with Sweep(plan.identity, store=store, n_jobs=n_jobs, executor=executor) as sweep:
        drifting = run.try_functions(plan, sweep)
        sweep.run(run.measured, plan.tasks(), what="representations to measure")
        rows = sweep.records
        curves, seconds = {}, {}
        sizes: dict[str, set[int]] = {}

        def read(scenario: Scenario, severity: float, seed: int, item: Candidate) -> Record:
            key = run.record_key(scenario, severity, seed, item)
            with reading_record(key):
                run.check_record(rows[key])
            return rows[key]

        for scenario, item in itertools.product(plan.scenarios, plan.candidates):
            reason = run.declined(item, scenario)
            runs = range(plan.number_of_seeds(item, scenario) if reason is None else 0)
            records = [[read(scenario, severity, seed, item) for seed in runs] for severity in scenario.severities]
            outcomes = [[run.outcome(record, item.name) for record in of_seeds] for of_seeds in records]
            curves[item.name, scenario.name] = Curve(item.name, scenario.name, outcomes, reason)
            if reason is None:
                found = (record.get("rows", plan.n_samples) for of_seeds in records for record in of_seeds)
                sizes.setdefault(scenario.name, set()).update(found)
                seconds[item.group, scenario.name] = tuple(
                    np.array([record["seconds"] for record in of_seeds]) for of_seeds in records
                )
        return Characterisation(
            **vars(plan),
            level=level,
            curves=curves,
            seconds=seconds,
            rows_of={name: (min(own), max(own)) for name, own in sizes.items() if own != {plan.n_samples}},
            drifting=drifting,
        )
