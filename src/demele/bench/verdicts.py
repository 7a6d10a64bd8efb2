"""Findings of the bench: curves of every metric on every scenario, judged by criteria."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import mode
from typing import Any, Literal, get_args

import numpy as np

from demele.bench.expectations import Candidate, Contrast, Expectation, Property, Scenario, expectation_of, is_model
from demele.bench.scenarios import SCENARIOS
from demele.core.arrays import Floats
from demele.core.version import __version__
from demele.estimation.differences import Difference, over_runs, student
from demele.metrics.catalogue import CATALOGUE

# The criteria that metrics are judged on ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a criterion asks on one scenario.

    Attributes
    ----------
    scenario : str
        Name of the scenario.
    claims : tuple of str
        Metrics that claim one of these properties are judged on it; none named: every metric.
    expectations : tuple of expectations
        What the curve must do, all of them.
    when_declined : str
        The status of a registered metric that takes no part in the scenario. ``"holds"`` is for sweeps of settings: a
        metric that has none cannot depend on them. A function never has settings that the bench could sweep.
    """

    scenario: str
    claims: tuple[Property, ...]
    expectations: tuple[Expectation, ...]
    when_declined: Literal["not applicable", "holds"] = "not applicable"

    def concerns(self, candidate: Candidate) -> bool:
        """Whether a metric is judged on this part."""
        return not self.claims or any(candidate.may_measure(item) for item in self.claims)

    @property
    def text(self) -> str:
        """What it says, thresholds included."""
        who = f"Scores that claim {' or '.join(self.claims)}" if self.claims else "Every score"
        return f"{who}, on '{self.scenario}': {'; '.join(item.text for item in self.expectations)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One column of the verdict table.

    Attributes
    ----------
    name, title : str
        Names in code and on pages.
    question : str
        What it asks of a metric, in one sentence.
    parts : tuple of Part
        What must hold on which scenario.
    note : str
        What the rule says beyond its parts.
    group : str
        ``"review"`` for the ten columns of the review, ``"added"`` for the others.
    declared : bool
        Decided by what the metric declares of itself (whether it discretises), not by curves.
    """

    name: str
    title: str
    question: str
    parts: tuple[Part, ...]
    note: str = ""
    group: Literal["review", "added"] = "review"
    declared: bool = False

    @property
    def rule(self) -> str:
        """The numeric rule, with its thresholds."""
        return " ".join(filter(None, [*(part.text for part in self.parts), self.note]))


def added_criteria(scenarios: Iterable[Scenario]) -> tuple[Criterion, ...]:
    """Return one criterion for each scenario beyond the review's that says what a good metric does.

    Those that :data:`REVIEW_CRITERIA` name are judged there; the page of each metric lists its "invariances".

    Examples
    --------
    >>> from demele.bench.verdicts import added_criteria
    >>> from demele.bench.expectations import Holds
    >>> from demele.bench.expectations import Scenario
    >>> draw = lambda rng, severity, n_samples: (rng.random((n_samples, 2)), rng.random((n_samples, 2)))
    >>> own = Scenario(name="mine", title="Mine", question="Does it hold?", sweep="a", severities=(0.0, 1.0), draw=draw,
    ...                wanted={"any": (Holds(0.1),)})
    >>> [criterion.rule for criterion in added_criteria([own])]
    ["Every score, on 'mine': stays within 0.1 of its first value."]
    """
    taken = {criterion.name for criterion in REVIEW_CRITERIA}
    told_elsewhere = {"invariances", *(part.scenario for criterion in REVIEW_CRITERIA for part in criterion.parts)}
    found = []
    for item in (one for one in scenarios if one.name not in told_elsewhere):
        claimed = [((named,), item.wanted.get(named)) for named in get_args(Property)]
        parts = [
            Part(scenario=item.name, claims=claims, expectations=tuple(wanted))
            for claims, wanted in [*claimed, ((), item.wanted.get("any"))]
            if wanted
        ]
        if parts:
            name = f"{item.name}_scenario" if item.name in taken else item.name
            found.append(
                Criterion(name=name, title=item.title, question=item.question, parts=tuple(parts), group="added")
            )
    return tuple(found)


def _of_review(entry: dict[str, Any]) -> Criterion:
    """Return a criterion of the file; its expectations are those of the scenario, where it says no others."""
    parts = []
    for part in entry.pop("parts"):
        claims, usual = tuple(part.pop("claims")), SCENARIOS[part["scenario"]].wanted
        own = tuple(map(expectation_of, part.pop("expectations", ()))) or usual[claims[0] if claims else "any"]
        parts.append(Part(**part, claims=claims, expectations=own))
    return Criterion(**entry, parts=tuple(parts))


#: The ten columns of the review's table 3.2, in its order; they stand in ``criteria.json``.
REVIEW_CRITERIA: tuple[Criterion, ...] = tuple(
    map(_of_review, json.loads(Path(__file__).with_name("criteria.json").read_text(encoding="utf-8")))
)


# Curves ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curve:
    """Values of a metric at every severity of a scenario, one for each seed that gave one.

    Attributes
    ----------
    metric, scenario : str
        Their names.
    outcomes : sequence of sequences
        At each severity what every seed gave: a value, or the reason why there is none.
    declined : str, optional
        Why the metric takes no part in the scenario at all.

    Examples
    --------
    >>> from demele.bench.verdicts import Curve
    >>> curve = Curve("a", "b", [[0.5, 0.6, 0.7], ["too few rows"]])
    >>> curve.n, curve.failed
    ([3, 0], [0, 1])
    >>> [round(end, 3) for end in curve.interval(0, 0.95)]
    [0.352, 0.848]
    """

    metric: str
    scenario: str
    outcomes: Sequence[Sequence[float | str]]
    declined: str | None = None

    @cached_property
    def by_seed(self) -> tuple[dict[int, float], ...]:
        """At each severity, the values by the seeds that gave one."""
        return tuple(
            {seed: own for seed, own in enumerate(of_seeds) if not isinstance(own, str)} for of_seeds in self.outcomes
        )

    @cached_property
    def values(self) -> tuple[Floats, ...]:
        """At each severity, the values of the seeds that gave one, in the order of the seeds."""
        return tuple(np.array(list(own.values()), dtype=np.float64) for own in self.by_seed)

    @cached_property
    def reasons(self) -> tuple[tuple[str, ...], ...]:
        """At each severity, why the other seeds gave none."""
        return tuple(tuple(own for own in of_seeds if isinstance(own, str)) for of_seeds in self.outcomes)

    @property
    def characterised(self) -> bool:
        """Whether there are rows, unless the metric takes no part."""
        return self.declined is not None or any(map(len, self.outcomes))

    @property
    def n(self) -> list[int]:
        """Return how many seeds gave a value at each severity."""
        return list(map(len, self.values))

    @property
    def failed(self) -> list[int]:
        """Return how many seeds gave no value at each severity."""
        return list(map(len, self.reasons))

    def point(self, position: int, level: float) -> dict[str, float | int]:
        """Return the mean at one place of the sweep, its interval, and the number of seeds that gave a value."""
        values, (low, high) = self.values[position], self.interval(position, level)
        return {"mean": float(values.mean()) if len(values) else np.nan, "low": low, "high": high, "n": len(values)}

    def interval(self, position: int, level: float) -> tuple[float, float]:
        """Return the Student t interval of the mean at one place of the sweep.

        Values without any spread give a point. Fewer than two values say nothing of their spread: (NaN, NaN).
        """
        return student(self.values[position], level)[:2]


# Verdicts -------------------------------------------------------------------------------------------------------------


Status = Literal["holds", "fails", "inconclusive", "not applicable", "not yet characterised"]

#: Of a metric that is to be measured on a scenario, and of which no rows are stored.
NOT_CHARACTERISED: Status = "not yet characterised"
#: Differences below this are rounding: 1 - 0.95 is not more than 0.05.
_ROUNDING = 1e-9
#: What decides a conjunction, first to last.
_ORDER: tuple[Status, ...] = ("fails", NOT_CHARACTERISED, "inconclusive", "holds")
#: What a status says of a least value, and of a largest one.
_AT_LEAST = {"holds": "at least", "fails": "less than", "inconclusive": "not distinguishable from"}
_AT_MOST = {"holds": "at most", "fails": "more than", "inconclusive": "not distinguishable from"}
#: If a larger share of the seeds gave no value, the others may not speak for them.
_FAILED_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One inequality, decided: an estimate with its interval, and the least that it may be.

    ``text`` names the quantity. ``sentence`` says in words what came out. Ends are infinite where too few seeds
    tell the spread.
    """

    text: str
    estimate: float
    low: float
    high: float
    bound: float
    status: Status
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartVerdict:
    """What came of one metric in one part of a criterion; ``scenario`` is empty for what is declared."""

    metric: str
    scenario: str
    status: Status
    reason: str | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One cell of the verdict table.

    Attributes
    ----------
    row, criterion : str
        Their names.
    status : str
        ``"holds"``, ``"fails"``, ``"inconclusive"``, ``"not applicable"``, or ``"not yet characterised"``: a metric of
        demele without stored rows.
    summary : str
        One sentence with the number that decided.
    parts : tuple of PartVerdict
        Every metric of the row in every part of the criterion that concerns it.
    """

    row: str
    criterion: str
    status: Status
    summary: str
    parts: tuple[PartVerdict, ...]

    @property
    def was_run(self) -> bool:
        """Whether anything was measured for it: what was not run is inconclusive, and more seeds do not change that."""
        if self.status == NOT_CHARACTERISED:
            return False
        return self.status != "inconclusive" or any(
            part.conditions for part in self.parts if part.status == "inconclusive"
        )


def judged(
    row_name: str,
    members: Sequence[Candidate],
    criterion: Criterion,
    scenarios: Mapping[str, Scenario],
    curves: Mapping[tuple[str, str], Curve],
    level: float,
) -> Verdict:
    """Judge the metrics of a row on a criterion.

    Parameters
    ----------
    row_name : str
        What the table calls the row.
    members : sequence of Candidate
        Its metrics; each is judged on the parts that concern what it claims, and the row meets the criterion if all do.
    criterion : Criterion
        The rule.
    scenarios : mapping of name to Scenario
        Those of the run.
    curves : mapping of (metric, scenario) to Curve
        What the run gave.
    level : float
        Level of the intervals of one part, together.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from demele.bench.run import candidate
    >>> from demele.bench.verdicts import REVIEW_CRITERIA
    >>> from demele.bench.verdicts import Curve
    >>> from demele.bench.scenarios import SCENARIOS
    >>> half = candidate(lambda codes, factors: 0.5, name="half")
    >>> curve = Curve("half", "non_linear", [[0.5] * 5] * 6)
    >>> verdict = judged("half", [half], REVIEW_CRITERIA[4], SCENARIOS, {("half", "non_linear"): curve}, 0.95)
    >>> verdict.status, verdict.summary
    ('holds', '0.500 at 0.2 is 0.000 below 0.500 at 0, at most 0.05')
    """
    parts = [
        judged_part(member, part, scenarios, curves, level)
        for part in criterion.parts
        for member in members
        if part.concerns(member)
    ]
    for member in members if criterion.declared else ():
        said, reason = _DECLARED[member.discretises]
        parts.append(PartVerdict(metric=member.name, scenario="", status=said, reason=reason))
    status = _together([part.status for part in parts if part.status != "not applicable"])
    several = len(members) > 1, len({part.scenario for part in criterion.parts}) > 1
    if not parts:
        wanted = dict.fromkeys(named for part in criterion.parts for named in part.claims)
        summary = f"does not claim to measure {' or '.join(wanted)}"
    else:
        summary = _summary(status, parts, *several)
    return Verdict(row=row_name, criterion=criterion.name, status=status, summary=summary, parts=tuple(parts))


def _together(statuses: Sequence[Status]) -> Status:
    """Return the status of a conjunction; of nothing, that it does not apply."""
    return next((status for status in _ORDER if status in statuses), "not applicable")


#: What a metric says of itself by whether it cuts continuous columns into bins.
_DECLARED: Mapping[bool | None, tuple[Status, str]] = {
    None: ("not applicable", "whether it cuts continuous columns into bins was not said"),
    True: ("fails", "cuts continuous columns into bins, by its definition"),
    False: ("holds", "cuts nothing into bins, by its definition"),
}


def judged_part(
    member: Candidate,
    part: Part,
    scenarios: Mapping[str, Scenario],
    curves: Mapping[tuple[str, str], Curve],
    level: float,
) -> PartVerdict:
    """Judge a metric on one part of a criterion."""

    def ended(status: Status, reason: str | None, conditions: Sequence[Condition] = ()) -> PartVerdict:
        about = {"metric": member.name, "scenario": part.scenario}
        return PartVerdict(**about, status=status, reason=reason, conditions=tuple(conditions))

    own = member.function is not None
    if own and part.when_declined == "holds":
        return ended("not applicable", "a function has no settings that could be swept")
    scenario, curve = scenarios.get(part.scenario), curves.get((member.name, part.scenario))
    if scenario is None or curve is None:
        return ended("inconclusive", f"scenario '{part.scenario}' was not run")
    if curve.declined is not None:
        return ended(part.when_declined, curve.declined)
    if not curve.characterised:
        return ended(NOT_CHARACTERISED, NOT_CHARACTERISED)
    labels = [scenario.label(place) for place in range(len(scenario.severities))]
    try:
        contrasts = [found for item in part.expectations for found in item.contrasts(scenario.severities, labels)]
    except ValueError:  # a severity that the scenario lacks
        return ended("inconclusive", f"scenario '{part.scenario}' was not run at the severities of the rule")
    if not contrasts:
        return ended("inconclusive", f"scenario '{part.scenario}' has one severity, with nothing to compare it to")
    needed = sorted({place for contrast in contrasts for place in contrast.weights})
    for place in needed:
        if not curve.n[place]:
            where = f"no value at {scenario.label(place)}"
            if not curve.failed[place]:
                return ended("inconclusive", f"{where}: no seed was run")
            return ended("fails" if own else "not applicable", f"{where}: {mode(curve.reasons[place])}")
    simultaneous = 1 - (1 - level) / len(contrasts)
    conditions = [_decided(contrast, curve, scenario, simultaneous) for contrast in contrasts]
    status = _together([condition.status for condition in conditions])
    worst = max(needed, key=lambda place: curve.failed[place] / len(curve.outcomes[place]))
    failed, seeds = curve.failed[worst], len(curve.outcomes[worst])
    if not failed:
        return ended(status, None, conditions)
    reason = f"{failed} of {seeds} seeds gave no value at {scenario.label(worst)}: {mode(curve.reasons[worst])}"
    if status == "holds" and failed > _FAILED_SHARE * seeds:
        status = "inconclusive"
    return ended(status, reason, conditions)


def _decided(contrast: Contrast, curve: Curve, scenario: Scenario, level: float) -> Condition:
    """Compare a weighted sum of means with its bound; its interval is infinite where too few seeds tell the spread.

    Of severities that are paired it is the mean of each seed's own sum, over the seeds that all have; of others the
    sum of means of separate draws, with Welch and Satterthwaite's degrees of freedom.
    """
    weights = contrast.weights
    samples, least = [weight * curve.values[place] for place, weight in weights.items()], 2
    if scenario.paired:
        common = sorted(set.intersection(*(set(curve.by_seed[place]) for place in weights)))
        own = [sum(weight * curve.by_seed[place][seed] for place, weight in weights.items()) for seed in common]
        samples, least = ([np.array(own)], 2) if own else (samples, len(samples[0]) + 1)
    value = float(sum(own.mean() for own in samples))
    found = Difference(value, -np.inf, np.inf)
    if min(map(len, samples)) >= least:
        found = over_runs(value, samples, level)
        found = Difference(value, value, value) if np.isnan(found.low) else found  # without spread, a point
    status: Status = "inconclusive"
    if found.low >= contrast.bound - _ROUNDING:
        status = "holds"
    elif found.high < contrast.bound - _ROUNDING:
        status = "fails"
    return Condition(
        text=contrast.text,
        estimate=found.value,
        low=found.low,
        high=found.high,
        bound=contrast.bound,
        status=status,
        sentence=_sentence(contrast, found, status, curve, scenario),
    )


def _summary(status: Status, parts: Sequence[PartVerdict], name_metric: bool, name_scenario: bool) -> str:
    """Return what decided: the worst failure, the closest call, or the reason."""
    deciding = [part for part in parts if part.status == status]
    found = [(part, item) for part in deciding for item in part.conditions if item.status == status]

    def told(part: PartVerdict, text: str) -> str:
        names = [name for name, shown in ((part.metric, name_metric), (part.scenario, name_scenario)) if shown and name]
        return f"{', '.join(names)}: {text}" if names else text

    if found:
        part, condition = min(found, key=lambda item: _margin(item[1]))
        return told(part, "; ".join(filter(None, (condition.sentence, part.reason))))
    by_reason: dict[str, PartVerdict] = {}
    for part in deciding:
        by_reason.setdefault(part.reason or "", part)
    if len(by_reason) == 1:  # the scores of one model share their reason as a rule
        return next(iter(by_reason))
    return "; ".join(told(part, reason) for reason, part in by_reason.items())


def _margin(condition: Condition) -> tuple[int, float]:
    """Return how far above its bound a condition is, for ordering: in half widths, or plainly where there are none.

    A miss without spread is the surest of all; a success without spread is no close call.
    """
    above = condition.estimate - condition.bound
    half = (condition.high - condition.low) / 2
    if half < _ROUNDING:
        return (-1 if above < -_ROUNDING else 1), above
    return 0, above if np.isinf(half) else above / half


def _sentence(contrast: Contrast, found: Difference, status: Status, curve: Curve, scenario: Scenario) -> str:
    """Return what came out, in words that fit the kind of inequality."""
    bound, above = contrast.bound, found.value > _ROUNDING
    least, most = f"{_AT_LEAST[status]} {bound:g}", f"{_AT_MOST[status]} {-bound:g}"
    # at least three decimals, and as many as tell an estimate from its bound
    told = (digits for digits in range(3, 9) if f"{abs(found.value):.{digits}f}" != f"{abs(bound):.{digits}f}")
    digits = next(told, 3)
    plain = _estimate((found.value, found.low, found.high), digits)
    turned = _estimate((-found.value, -found.high, -found.low), digits)
    (upper, upper_weight), *rest = sorted(contrast.weights.items(), key=lambda item: -item[1])

    def at(place: int) -> str:
        return f"{float(curve.values[place].mean()):z.3f} at {scenario.label(place)}"

    if not rest and upper_weight == 1:
        return f"{plain} at {scenario.label(upper)}, {least}"
    if not rest and upper_weight == -1:
        return f"{turned} at {scenario.label(upper)}, {most}"
    if len(rest) != 1 or upper_weight != 1:
        return f"{contrast.text}: {plain}, {least}"
    ((lower, lower_weight),) = rest
    if lower_weight == -1 and bound > 0:
        start = f"goes from {at(upper)} to {at(lower)}"
        if found.value >= 0:
            return f"{start}: a fall of {plain}, {least}"
        return f"{start}: a rise of {turned}, {'not' if status == 'fails' else 'perhaps'} a fall of at least {bound:g}"
    gap = f"{at(upper)} is {f'{plain} above' if above else f'{turned} below'}"
    if lower_weight == -1:
        not_below = "not below" if status == "holds" else f"not distinguishable from {-bound:g} below"
        return f"{gap} {at(lower)}, {not_below if above else most}"
    if lower_weight < 0 and bound == 0:
        return f"{gap} {-lower_weight:.0%} of {at(lower)}{', inconclusive' if status == 'inconclusive' else ''}"
    return f"{contrast.text}: {plain}, {least}"


def _estimate(found: tuple[float, float, float], digits: int) -> str:
    """Return an estimate with its interval, if it has one that is not a point."""
    value, low, high = (f"{item:z.{digits}f}" if np.isfinite(item) else "" for item in found)
    if not low:
        return f"{value} (spread unknown)"
    return value if low == high else f"{value} [{low}, {high}]"


# Findings -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the verdict table: a metric, or the three scores of one DCI model.

    Attributes
    ----------
    name, title : str
        Names in code and on pages.
    members : tuple of Candidate
        The scores that share it.
    """

    name: str
    title: str
    members: tuple[Candidate, ...]

    @property
    def own(self) -> bool:
        """Whether the metric is not one of demele's."""
        return self.members[0].function is not None or self.members[0].name not in CATALOGUE


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Findings:
    """What was measured, and what follows from it: see :class:`demele.bench.Characterisation`, which also shows it."""

    candidates: tuple[Candidate, ...]
    scenarios: tuple[Scenario, ...]
    protocol: str
    n_samples: int
    level: float
    seeds: Mapping[str, int]
    slow_seeds: Mapping[str, int]
    curves: Mapping[tuple[str, str], Curve]
    seconds: Mapping[tuple[str, str], tuple[Floats, ...]]
    rows_of: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    fewer_rows: Mapping[str, int] = field(default_factory=dict)
    drifting: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__

    def rows_for(self, metric: str) -> int:
        """Return how many rows the representations have that a metric was measured on."""
        return self.fewer_rows.get(metric, self.n_samples)

    def fewer(self, metric: str) -> tuple[int, int] | None:
        """Return how many seeds a metric was given, of how many rows, if these are fewer than those of the others.

        The number of seeds is that of most points of its curves. None as well where no rows are stored.
        """
        found = (curve.outcomes for (name, _), curve in self.curves.items() if name == metric)
        # nothing is stored, or a metric takes no part, where there is no seed
        counts = [len(own) for outcomes in found for own in outcomes if own]
        return (mode(counts), self.fewer_rows[metric]) if metric in self.fewer_rows and counts else None

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Lines of the verdict table, your own metrics first."""
        members: dict[str, list[Candidate]] = {}
        for item in self.candidates:
            members.setdefault(row_name(item), []).append(item)
        rows = []
        for name, own in members.items():
            title = own[0].title
            rows.append(Row(name, title if name == own[0].name else title.rpartition(" ")[0], tuple(own)))
        return tuple(sorted(rows, key=lambda row: not row.own))

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """What the metrics are judged by: those of the review whose scenarios were run, then the further scenarios."""
        run = {item.name for item in self.scenarios}
        asked = [item for item in REVIEW_CRITERIA if any(part.scenario in run for part in item.parts)]
        # what is declared belongs to the review's table, and is no table by itself
        declared = [item for item in REVIEW_CRITERIA if item.declared and asked]
        return (*asked, *declared, *added_criteria(self.scenarios))

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every row judged by every criterion."""
        by_name = {item.name: item for item in self.scenarios}
        return tuple(
            judged(row.name, row.members, criterion, by_name, self.curves, self.level)
            for row in self.rows
            for criterion in self.criteria
        )


def row_name(item: Candidate) -> str:
    """Return the row that a metric is shown in: the scores of one model share one."""
    return item.group if item.function is None and is_model(item.group) else item.name
