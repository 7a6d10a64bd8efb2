"""Scores of several representations, or models of several training runs, and which differences are significant."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from demele.core.arrays import pd
from demele.core.errors import UnknownNameError, short_words
from demele.core.lazy import Later
from demele.core.result import Result, page_of
from demele.core.results import Evaluation, Interval
from demele.core.score_documents import (
    PROPERTIES,
    about_scores,
    cited,
    factors_table,
    glossary,
    matrix_blocks,
    property_of,
    title_of,
)
from demele.core.verdict import STATUS, verdict_strips
from demele.report.document import Block, Cell, Choice, Document, Notice, Pill, Section, Table
from demele.report.listing import Column, drawn, listed
from demele.report.words import count, ends, joined, name, rate, written

# What a comparison of representations says: its document --------------------------------------------------------------

_NEXT = ("Add intervals of differences:", "demele score CODES CODES FACTORS --bootstrap 50")
#: Pairs whose differences are sentences.
_MOST_PAIRS = 2
_SIGNIFICANT = {
    "together": Pill("yes", "good", 0),
    "alone": Pill("alone only", "open", 1),
    "no": Pill("no", "none", 2),
}


def comparison_document(result: "RepresentationComparison") -> Document:
    """Say which differences between representations, or models, are significant."""
    table, verdicts = _scores(result), _verdicts(result)
    first = result.evaluations[0]
    pairs, tested = _by_pair(result), any(one.interval for one in result.differences)
    shared = about_scores(result.evaluations, _methods(result))
    return Document(
        kind="Comparison of representations",
        title=joined(map(name, result.models or result.names)),
        headline=_whole(result),
        sentences=_pairs(result),
        figure=_differences(result),
        table=table,
        below=[verdicts],
        scope=[
            count(len(result.evaluations), "representation"),
            count(len(result.models), "model") if result.models else "",
            count(first.n, "row"),
            count(len(first.factors), "factor"),
            first.protocol,
        ],
        next=[_NEXT] if result.differences and not tested else [],
        sections=[
            Section("Scores", [table]),
            Section("Code-factor matrix", [verdicts, _matrices(result)]),
            # The table of scores has the differences of one pair.
            Section("Pairwise results", [_differences_table(result, result.differences)] if len(pairs) > 1 else []),
            Section("Data", [factors_table(first)]),
            glossary(score for one in result.evaluations for score in one.scores),
        ],
        **{**shared, "notes": [*_cautions(result), *shared["notes"]], "version": result.version},
    )


def _titles(result: "RepresentationComparison") -> dict[str, tuple[str, str]]:
    """Return property and title of each metric, by property."""
    found = {one.metric: (property_of(one), title_of(one)) for each in result.evaluations for one in each.scores}
    return dict(sorted(found.items(), key=lambda item: PROPERTIES.index(item[1][0])))


def _by_pair(result: "RepresentationComparison") -> "dict[tuple[str, str], list[ScoreDifference]]":
    pairs: dict[tuple[str, str], list[ScoreDifference]] = {}
    for one in result.differences:
        pairs.setdefault((one.first, one.second), []).append(one)
    return pairs


# In words -------------------------------------------------------------------------------------------------------------


def _whole(result: "RepresentationComparison") -> str:
    """Say how many differences are significant; of one pair, who is better by how many metrics."""
    known = [one for one in result.differences if one.interval is not None]
    if not result.differences:
        return "There is one model only, so no difference can be tested."
    if not known:
        return f"No difference can be tested: none of {len(result.differences)} has an interval."
    family = [one for one in result.differences if not one.exploratory]
    primary, level = "primary " if len(family) < len(result.differences) else "", rate(result.level)
    winners = list(dict.fromkeys(one.better for one in known if one.better))
    if len(_by_pair(result)) == 1 and winners:
        by = [sum(one.better == who for one in known) for who in winners]
        said = f"{name(winners[0])} is significantly better by {by[0]} of {count(len(family), f'{primary}metric')}"
        said += f", {name(winners[1])} by {by[1]}" if len(winners) > 1 else ""
    else:
        together = sum(bool(one.better) for one in known)
        many, verb = "difference" if len(family) == 1 else "differences", "is" if together == 1 else "are"
        said = f"{together} of {len(family)} {primary}{many} {verb} significant"
    alone, untested = sum(one.significance == "alone" for one in known), len(result.differences) - len(known)
    more = f"; {alone} more only without the correction" if alone else ""
    left = f"; {untested} could not be tested" if untested else ""
    return f"{said} (Holm, {level}){more}{left}."


def _pairs(result: "RepresentationComparison") -> list[str]:
    """Say of the first pairs which is significantly better, by which metrics."""
    said = []
    titles = _titles(result)
    for pair, rows in list(_by_pair(result).items())[:_MOST_PAIRS]:
        for who, other in (pair[::-1], pair):
            better = [titles[one.metric][1] for one in rows if one.better == who]
            said += [f"{name(who)} is better than {name(other)} by {joined(better, most=3)}."] if better else []
    return said


def _cautions(result: "RepresentationComparison") -> Iterator[Notice]:
    """Yield why differences have no interval, and what to ask for."""
    titles = _titles(result)
    for reason in dict.fromkeys(one.reason for one in result.differences if one.reason):
        metrics = dict.fromkeys(titles[one.metric][1] for one in result.differences if one.reason == reason)
        yield Notice(f"no interval: {reason}", "warning", tuple(metrics))
    over_rows = any(one.interval is not None and "rows" in one.interval.method for one in result.differences)
    if result.models and not over_rows:
        yield Notice("intervals are over training runs on these rows only; pass `n_bootstrap=50` to include other rows")
    levels = {one.significance for one in result.differences}
    if "alone" in levels and "together" not in levels and len(titles) > 1:
        yield Notice("to test fewer differences, name one metric in advance (`primary=`), or a baseline (`against=`)")
    sizes = sorted({len(one.code_names) for one in result.evaluations})
    if len(sizes) > 1:
        chance = all(score.chance is None for each in result.evaluations for score in each)
        more = ": pass `n_permutations=20` to see what noise of as many codes scores" if chance else ""
        differ = f"the numbers of codes differ ({joined(map(str, sizes))})"
        yield Notice(f"{differ}, which moves some metrics by itself{more}")


# Figures and tables ---------------------------------------------------------------------------------------------------


def _differences(result: "RepresentationComparison") -> Choice:
    """Draw the differences of each pair against no difference."""
    panels: dict[str, list[Block]] = {}
    for (first, second), rows in _by_pair(result).items():
        caption, axis = f"{name(second)} − {name(first)}", "Difference of scores"
        sides, table = (
            (f"{name(first)} scores higher", f"{name(second)} scores higher"),
            _differences_table(result, rows),
        )
        panels[caption] = [drawn(table, "Value", caption=caption, axis=axis, sides=sides, zero=0.0)]
    return Choice("Pair", panels)


def _verdicts(result: "RepresentationComparison") -> Table:
    """Return the verdict on each factor in each representation."""
    known = {name(one.name): one.verdict.factors for one in result.evaluations if one.verdict is not None}
    states = {who: {row.factor: STATUS[row.status] for row in rows} for who, rows in known.items()}
    factors = dict.fromkeys(row.factor for rows in known.values() for row in rows)
    rows = [(name(factor), *(own.get(factor) for own in states.values())) for factor in factors]
    return Table("Verdict on each factor", {"Factor": "text", **dict.fromkeys(states, "text")}, rows)


def _scores(result: "RepresentationComparison") -> Table:
    """Return the scores of all representations, or models, with a difference and its p-value.

    Of more than two without a baseline the difference is that of the best two. A value is bold where it is
    significantly better than all others.
    """
    columns, pairs = list(result.models or result.names), list(_by_pair(result))
    heads = {"Property": "text?", "Metric": "text", **dict.fromkeys(map(name, columns), "number")}
    notes = []
    if len(pairs) == 1:
        heads |= {"Difference": "number", f"{rate(result.level)} interval": "number", "p": "p"}
        notes.append(f"Difference: {name(pairs[0][1])} − {name(pairs[0][0])}.")
    elif pairs:
        heads |= {"p": "p"}
        notes.append("p: the least significant difference of the best one.")
    rows = []
    for metric, titles in _titles(result).items():
        own = [one for one in result.differences if one.metric == metric]
        best = {one.better for one in own if one.better}
        clear = {who for who in best if all(one.better == who for one in own if who in (one.first, one.second))}
        values = {who: _value(result, who, metric) for who in columns}
        cells: list[Cell] = [Pill(text, "good") if who in clear else text for who, text in values.items()]
        if len(pairs) == 1:
            cells += [own[0].value, ends(own[0].interval), own[0].p_value] if own else [None, None, None]
        elif pairs:
            top = max(columns, key=[one.ahead for one in own].count)
            tested = [one.p_value for one in own if top in (one.first, one.second) and not math.isnan(one.p_value)]
            cells.append(max(tested, default=None))
        rows.append((*titles, *cells))
    return Table("Scores", heads, rows, " ".join(notes))


def _value(result: "RepresentationComparison", who: str, metric: str) -> str:
    if result.models:
        found = [one for one in result.model_scores if (one.model, one.metric) == (who, metric)]
        spread = "" if not found or math.isnan(found[0].std) else f" ± {written(found[0].std)}"
        return f"{written(found[0].mean if found else None)}{spread}"
    score = next((one for one in result[who].scores if one.metric == metric), None)
    own = score if score is None or score.corrected is None else score.corrected
    if own is None:
        return written(None)
    return written(ends(own.interval)) if math.isnan(own.value) and own is not score else written(own.value)


def _differences_table(result: "RepresentationComparison", differences: "Sequence[ScoreDifference]") -> Table:
    titles = _titles(result)
    columns: list[Column[ScoreDifference]] = [
        ("Metric", "text", lambda one: titles[one.metric][1]),
        ("Difference of", "text", lambda one: f"{name(one.second)} − {name(one.first)}"),
        ("Value", "number", "value"),
        (f"{rate(result.level)} interval", "number", "interval"),
        ("p", "p", "p_value"),
        ("Better", "text", "ahead"),
        ("Significant", "text", lambda one: None if one.reason else _SIGNIFICANT[one.significance]),
        ("Remark", "text?", lambda one: ", ".join(["exploratory"] * one.exploratory + ["fragile"] * one.fragile)),
    ]
    return listed("Differences", differences, columns, first=len(differences))


def _matrices(result: "RepresentationComparison") -> Choice:
    panels: dict[str, list[Block]] = {}
    for one in result.evaluations:
        rows = None if one.rows is None else one.rows.columns()
        blocks = matrix_blocks([] if one.verdict is not None else one.scores, one.verdict, rows)
        shares = None if one.verdict is None else verdict_strips(one.verdict)
        panels[name(one.name)] = [block for block in (shares, *blocks) if block is not None]
    return Choice("Representation", panels)


# How it was made ------------------------------------------------------------------------------------------------------


def _methods(result: "RepresentationComparison") -> list[str]:
    if not result.differences:
        return []
    ways = dict.fromkeys(one.interval.method for one in result.differences if one.interval is not None)
    runs = ", ".join(f"{name(model)}: {len(own)}" for model, own in result.models.items())
    family = "the primary differences" if any(one.exploratory for one in result.differences) else "all differences"
    tested = [
        f"Intervals of differences have the level {rate(result.level)} each ({'; '.join(ways)}).",
        f"Significance was tested at an error of {rate(1 - result.level)} for {family} together, by Holm's "
        f"procedure{cited(['holm1979simple'])}.",
    ]
    return [
        f"Models are compared by the means over their training runs ({runs}), on the same rows."
        if runs
        else "The representations are compared on the same rows, by the differences of their scores.",
        *(tested if ways else ["No difference has an interval, so none was tested."]),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """How much higher one representation, or model, scores than another by one metric.

    Attributes
    ----------
    metric, first, second : str
    value : float
        The score of ``second`` minus the one of ``first``; NaN where one is undefined.
    interval : Interval or None
        By itself, at the level of the comparison: of several such intervals some may miss.
    p_value : float
        Two-sided, against a difference of 0; NaN without an interval.
    ahead : str
        The one with the better value, significant or not; empty where none is known.
    better : str
        The one that is significantly better, at the family-wise level; empty where none is.
    fragile : bool
        Whether one of the two scores is fragile.
    exploratory : bool
        Whether other metrics were named as primary: the difference is then never significant together with others.
    reason : str
        Why there is no interval, and so no test; empty where there is one.
    """

    metric: str
    first: str
    second: str
    value: float
    interval: Interval | None = None
    p_value: float = math.nan
    ahead: str = ""
    better: str = ""
    fragile: bool = False
    exploratory: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        """Cut the overlong words of the reason, which come from data."""
        object.__setattr__(self, "reason", short_words(self.reason))

    @property
    def shown(self) -> bool:
        """Whether the difference is significant at the family-wise level."""
        return bool(self.better)

    @property
    def significance(self) -> Literal["together", "alone", "no"]:
        """``"together"`` with all others, ``"alone"`` where only the interval by itself excludes 0, or ``"no"``."""
        if self.shown:
            return "together"
        return "alone" if self.interval is not None and self.p_value <= 1 - self.interval.level else "no"

    def row(self) -> dict[str, object]:
        """Flat, in a fixed column order."""
        low, high = ends(self.interval) or (math.nan, math.nan)
        found = {"metric": self.metric, "first": self.first, "second": self.second, "difference": self.value}
        more = ("p_value", "shown", "significance", "ahead", "better", "fragile", "exploratory", "reason")
        return {**found, "low": low, "high": high, **{name: getattr(self, name) for name in more}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    """One metric over the training runs of a model.

    ``interval`` is where the mean over all runs that could be trained would be, on these rows; None for a single run.
    """

    model: str
    metric: str
    values: tuple[float, ...]
    mean: float
    std: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RepresentationComparison(Result):
    """Several representations of the same rows, side by side.

    Iterates over the evaluations; ``comparison["name"]`` is one of them.

    Attributes
    ----------
    evaluations : tuple of Evaluation
    differences : tuple of ScoreDifference
        Of each pair, by each metric. The error ``1 - level`` is shared by all that have an interval (by the primary
        ones, if some were named), by Holm's procedure: those that it rejects are significant together.
    level : float
        Level of every interval by itself, and of all that is significant together.
    models : mapping of str to tuple of str
        The names of the runs of each model; empty where no runs were named.
    model_scores : tuple of ModelScore
    paired_runs : bool
        Whether runs were paired by their place.
    """

    _kind = "representation comparison"
    _files: ClassVar[Mapping[str, str]] = {".scores.csv": "scores_frame"}

    evaluations: tuple[Evaluation, ...]
    differences: tuple[ScoreDifference, ...]
    level: float
    models: Mapping[str, tuple[str, ...]]
    model_scores: tuple[ModelScore, ...] = ()
    paired_runs: bool = False
    version: str = ""

    document = comparison_document

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the representations."""
        return tuple(each.name for each in self.evaluations)

    def __getitem__(self, name: str) -> Evaluation:
        for evaluation in self.evaluations:
            if evaluation.name == name:
                return evaluation
        raise UnknownNameError(f"{name!r} is not among the representations: {', '.join(self.names)}")

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def to_frame(self) -> "pd.DataFrame":
        """One row per difference: ``metric``, ``first``, ``second``, ``difference`` (second - first), ``low``..."""
        columns = list(ScoreDifference(metric="", first="", second="", value=0.0).row())
        return pd.DataFrame([each.row() for each in self.differences], columns=columns)

    def scores_frame(self) -> "pd.DataFrame":
        """One row per score: the frames of the evaluations below each other; with ``model``, where runs are named."""
        frame = pd.concat([each.to_frame() for each in self.evaluations], ignore_index=True)
        if self.models:
            model_of = {run: model for model, runs in self.models.items() for run in runs}
            frame.insert(0, "model", frame["name"].map(model_of))
        return frame

    def to_html(self, path: str | Path, *, rows: int | None = None) -> Path:
        """Write one self-contained, interactive HTML page.

        Parameters
        ----------
        path : str or Path
        rows : int, optional
            Rows of the data that the page holds of each representation, to draw codes against factors; by default
            their share of 3,000, drawn at random, at most 1,500. 0: none.
        """
        most = 3_000 // len(self.evaluations) if rows is None else rows
        shown = [
            replace(each, later=Later(verdict=each.verdict, rows=each.rows and each.rows.first(most)))
            for each in self.evaluations
        ]
        return page_of(replace(self, evaluations=tuple(shown)), path)


def without_intervals(bootstrap: int) -> str:
    """Return why a difference over rows has no interval, if nothing else is known of it."""
    if bootstrap:
        return "too many half-samples could not be scored"
    return "no half-samples were asked for; pass `n_bootstrap=50`"
