"""Findings of the bench: curves of every metric on every scenario, judged by criteria."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demele.bench.criteria import REVIEW_CRITERIA, Criterion, Part, added_criteria
from demele.bench.scenario import Candidate, Contrast, Scenario, is_model
from demele.core.version import __version__
from demele.estimation.differences import student
from demele.metrics.catalogue import CATALOGUE

# Curves ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Values of a metric at every severity of a scenario, one for each seed that gave one.

    Attributes
    ----------
    metric, scenario : str
        Their names.
    values : tuple of arrays
        At each severity, the values of the seeds that gave one, in the order of the seeds.
    seeds : tuple of arrays
        The numbers of those seeds.
    reasons : tuple of tuples of str
        At each severity, why the other seeds gave none.
    declined : str, optional
        Why the metric takes no part in the scenario at all.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.bench.verdicts import Curve
    >>> three, none = np.array([0.5, 0.6, 0.7]), np.array([])
    >>> seeds = (np.arange(3), np.arange(0))
    >>> curve = Curve(metric="a", scenario="b", values=(three, none), seeds=seeds, reasons=((), ("too few rows",)))
    >>> curve.n, curve.failed
    ([3, 0], [0, 1])
    >>> [round(end, 3) for end in curve.interval(0, 0.95)]
    [0.352, 0.848]
    """

    metric: str
    scenario: str
    values: tuple[NDArray[np.float64], ...]
    seeds: tuple[NDArray[np.intp], ...]
    reasons: tuple[tuple[str, ...], ...]
    declined: str | None = None

    @classmethod
    def of(cls, metric: str, scenario: str, outcomes: Sequence[Sequence[float | str]], declined: str | None) -> "Curve":
        """Return the curve of what every seed gave at every severity: a value, or the reason why there is none."""
        seeds = [[seed for seed, own in enumerate(of_seeds) if not isinstance(own, str)] for of_seeds in outcomes]
        return cls(
            metric=metric,
            scenario=scenario,
            values=tuple(
                np.array([own for own in of_seeds if not isinstance(own, str)], dtype=np.float64)
                for of_seeds in outcomes
            ),
            seeds=tuple(np.array(own, dtype=np.intp) for own in seeds),
            reasons=tuple(tuple(own for own in of_seeds if isinstance(own, str)) for of_seeds in outcomes),
            declined=declined,
        )

    def outcomes(self, position: int) -> list[float | str]:
        """Return what every seed gave at one place of the sweep: a value, or the reason why there is none."""
        values = dict(zip(self.seeds[position].tolist(), self.values[position].tolist(), strict=True))
        missing = iter(self.reasons[position])
        count = self.n[position] + self.failed[position]
        return [values[seed] if seed in values else next(missing) for seed in range(count)]

    @property
    def characterised(self) -> bool:
        """Whether there are rows, unless the metric takes no part."""
        return self.declined is not None or any(self.n) or any(self.failed)

    @property
    def means(self) -> NDArray[np.float64]:
        """Return the mean at each severity; NaN where no seed gave a value."""
        return np.array([values.mean() if len(values) else np.nan for values in self.values], dtype=np.float64)

    @property
    def n(self) -> list[int]:
        """Return how many seeds gave a value at each severity."""
        return [len(values) for values in self.values]

    @property
    def failed(self) -> list[int]:
        """Return how many seeds gave no value at each severity."""
        return [len(reasons) for reasons in self.reasons]

    def point(self, position: int, level: float) -> dict[str, float | int]:
        """Return the mean at one place of the sweep, its interval, and the number of seeds that gave a value."""
        low, high = self.interval(position, level)
        values = self.values[position]
        mean = float(values.mean()) if len(values) else np.nan
        return {"mean": mean, "low": low, "high": high, "n": len(values)}

    def interval(self, position: int, level: float) -> tuple[float, float]:
        """Return the Student t interval of the mean at one place of the sweep.

        Values without any spread give a point. Fewer than two values say nothing of their spread: (NaN, NaN).
        """
        return student(self.values[position], level)[:2]


def student_interval(estimate: float, error: float, freedom: float, level: float) -> tuple[float, float]:
    """Return the Student t interval of an estimate with its standard error and degrees of freedom."""
    from scipy.special import stdtrit

    half = error * float(stdtrit(freedom, (1 + level) / 2))
    return estimate - half, estimate + half


# Verdicts -------------------------------------------------------------------------------------------------------------


Status = Literal["holds", "fails", "inconclusive", "not applicable", "not yet characterised"]

#: Of a metric that is to be measured on a scenario, and of which no rows are stored.
NOT_CHARACTERISED: Status = "not yet characterised"
#: Differences below this are rounding: 1 - 0.95 is not more than 0.05.
_ROUNDING = 1e-9
#: What decides a conjunction, first to last.
_ORDER: tuple[Status, ...] = ("fails", NOT_CHARACTERISED, "inconclusive", "holds")
_WORDS_OF_LEAST: Mapping[str, str] = {
    "holds": "at least",
    "fails": "less than",
    "inconclusive": "not distinguishable from",
}
_WORDS_OF_MOST: Mapping[str, str] = {
    "holds": "at most",
    "fails": "more than",
    "inconclusive": "not distinguishable from",
}
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
    reason: str | None
    conditions: tuple[Condition, ...]


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
    >>> import numpy as np
    >>> from demele.bench.candidates import candidate
    >>> from demele.bench.criteria import REVIEW_CRITERIA
    >>> from demele.bench.verdicts import Curve, student_interval
    >>> from demele.bench.scenarios import SCENARIOS
    >>> half = candidate(lambda codes, factors: 0.5, name="half")
    >>> values = (np.full(5, 0.5),) * 6
    >>> curve = Curve(metric="half", scenario="non_linear", values=values, seeds=(np.arange(5),) * 6, reasons=((),) * 6)
    >>> verdict = judged("half", [half], REVIEW_CRITERIA[4], SCENARIOS, {("half", "non_linear"): curve}, 0.95)
    >>> verdict.status, verdict.summary
    ('holds', '0.500 at 0.2 is 0.000 below 0.500 at 0, at most 0.05')
    """
    if criterion.declared:
        parts = [_declared(member) for member in members]
    else:
        parts = [
            _judged_part(member, part, scenarios, curves, level)
            for part in criterion.parts
            for member in members
            if part.concerns(member)
        ]
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


def _declared(member: Candidate) -> PartVerdict:
    status: Status
    if member.discretises is None:
        status, reason = "not applicable", "whether it cuts continuous columns into bins was not said"
    elif member.discretises:
        status, reason = "fails", "cuts continuous columns into bins, by its definition"
    else:
        status, reason = "holds", "cuts nothing into bins, by its definition"
    return PartVerdict(metric=member.name, scenario="", status=status, reason=reason, conditions=())


def _judged_part(
    member: Candidate,
    part: Part,
    scenarios: Mapping[str, Scenario],
    curves: Mapping[tuple[str, str], Curve],
    level: float,
) -> PartVerdict:
    def ended(status: Status, reason: str | None, conditions: Sequence[Condition] = ()) -> PartVerdict:
        return PartVerdict(
            metric=member.name, scenario=part.scenario, status=status, reason=reason, conditions=tuple(conditions)
        )

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
    contrasts = _contrasts(part, scenario)
    if contrasts is None:
        return ended("inconclusive", f"scenario '{part.scenario}' was not run at the severities of the rule")
    if not contrasts:
        return ended("inconclusive", f"scenario '{part.scenario}' has one severity, with nothing to compare it to")
    needed = sorted({place for contrast in contrasts for place in contrast.weights})
    for place in needed:
        if len(curve.values[place]):
            continue
        where = f"no value at {scenario.label(place)}"
        if not curve.reasons[place]:
            return ended("inconclusive", f"{where}: no seed was run")
        return ended("fails" if own else "not applicable", f"{where}: {_commonest(curve.reasons[place])}")
    simultaneous = 1 - (1 - level) / len(contrasts)
    conditions = [_decided(contrast, curve, scenario, simultaneous) for contrast in contrasts]
    status = _together([condition.status for condition in conditions])
    worst = max(needed, key=lambda place: len(curve.reasons[place]) / (curve.n[place] + curve.failed[place]))
    failed, seeds = curve.failed[worst], curve.n[worst] + curve.failed[worst]
    if not failed:
        return ended(status, None, conditions)
    reason = f"{failed} of {seeds} seeds gave no value at {scenario.label(worst)}: {_commonest(curve.reasons[worst])}"
    if status == "holds" and failed > _FAILED_SHARE * seeds:
        status = "inconclusive"
    return ended(status, reason, conditions)


def _contrasts(part: Part, scenario: Scenario) -> list[Contrast] | None:
    """Return the inequalities of a part; None if the scenario lacks a severity that they name."""
    labels = [scenario.label(place) for place in range(len(scenario.severities))]
    try:
        return [found for item in part.expectations for found in item.contrasts(scenario.severities, labels)]
    except ValueError:  # tuple.index
        return None


def _commonest(reasons: Sequence[str]) -> str:
    return Counter(reasons).most_common(1)[0][0]


def _decided(contrast: Contrast, curve: Curve, scenario: Scenario, level: float) -> Condition:
    estimate, low, high = (_paired if scenario.paired else _independent)(contrast.weights, curve, level)
    status: Status = "inconclusive"
    if low >= contrast.bound - _ROUNDING:
        status = "holds"
    elif high < contrast.bound - _ROUNDING:
        status = "fails"
    return Condition(
        text=contrast.text,
        estimate=estimate,
        low=low,
        high=high,
        bound=contrast.bound,
        status=status,
        sentence=_sentence(contrast, (estimate, low, high), status, curve, scenario),
    )


def _independent(weights: Mapping[int, float], curve: Curve, level: float) -> tuple[float, float, float]:
    """Return a sum of means of separate draws, and its interval with Welch and Satterthwaite's degrees of freedom."""
    estimate = float(sum(weight * curve.values[place].mean() for place, weight in weights.items()))
    if any(len(curve.values[place]) < 2 for place in weights):
        return estimate, -np.inf, np.inf
    terms = [(weight**2 * float(curve.values[place].var(ddof=1)) / curve.n[place]) for place, weight in weights.items()]
    variance = sum(terms)
    if not variance:
        return estimate, estimate, estimate
    shares = [term / variance for term in terms]  # of the whole first: squares of tiny variances would be lost
    freedom = 1 / sum(share**2 / (curve.n[place] - 1) for share, place in zip(shares, weights, strict=True))
    return estimate, *student_interval(estimate, variance**0.5, freedom, level)


def _paired(weights: Mapping[int, float], curve: Curve, level: float) -> tuple[float, float, float]:
    """Return the mean, over the seeds that all severities have, of each seed's own sum."""
    by_seed = [dict(zip(curve.seeds[place].tolist(), curve.values[place].tolist(), strict=True)) for place in weights]
    common = set.intersection(*(set(values) for values in by_seed))
    if not common:
        return _independent(weights, curve, level)[0], -np.inf, np.inf
    sums = np.array(
        [
            sum(weight * values[seed] for weight, values in zip(weights.values(), by_seed, strict=True))
            for seed in sorted(common)
        ]
    )
    estimate = float(sums.mean())
    if len(sums) < 2:
        return estimate, -np.inf, np.inf
    return estimate, *student_interval(estimate, float(sums.std(ddof=1)) / len(sums) ** 0.5, len(sums) - 1, level)


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


def _sentence(
    contrast: Contrast, found: tuple[float, float, float], status: Status, curve: Curve, scenario: Scenario
) -> str:
    """Return what came out, in words that fit the kind of inequality."""
    bound, estimate = contrast.bound, found[0]
    digits = _digits(estimate, bound)
    (upper, upper_weight), *rest = sorted(contrast.weights.items(), key=lambda item: -item[1])

    def at(place: int) -> str:
        return f"{_score(float(curve.values[place].mean()))} at {scenario.label(place)}"

    if not rest and upper_weight == 1:
        return f"{_estimate(found, digits)} at {scenario.label(upper)}, {_least(status, bound)}"
    if not rest and upper_weight == -1:
        return f"{_estimate(_turned(found), digits)} at {scenario.label(upper)}, {_most(status, -bound)}"
    if len(rest) == 1 and upper_weight == 1:
        ((lower, lower_weight),) = rest
        if lower_weight == -1 and bound > 0:
            start = f"goes from {at(upper)} to {at(lower)}"
            if estimate >= 0:
                return f"{start}: a fall of {_estimate(found, digits)}, {_least(status, bound)}"
            word = "not" if status == "fails" else "perhaps"
            return f"{start}: a rise of {_estimate(_turned(found), digits)}, {word} a fall of at least {bound:g}"
        above = estimate > _ROUNDING
        gap = f"{_estimate(found if above else _turned(found), digits)} {'above' if above else 'below'}"
        if lower_weight == -1:
            if above:
                end = "not below" if status == "holds" else f"not distinguishable from {-bound:g} below"
            else:
                end = _most(status, -bound)
            return f"{at(upper)} is {gap} {at(lower)}, {end}"
        if lower_weight < 0 and bound == 0:
            end = ", inconclusive" if status == "inconclusive" else ""
            return f"{at(upper)} is {gap} {-lower_weight:.0%} of {at(lower)}{end}"
    return f"{contrast.text}: {_estimate(found, digits)}, {_least(status, bound)}"


def _digits(estimate: float, bound: float) -> int:
    """Return the decimals, at least three, that tell an estimate from its bound."""
    for digits in range(3, 9):
        if f"{abs(estimate):.{digits}f}" != f"{abs(bound):.{digits}f}":
            return digits
    return 3


def _score(value: float, digits: int = 3) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: no minus before a zero


def _estimate(found: tuple[float, float, float], digits: int) -> str:
    """Return an estimate with its interval, if it has one that is not a point."""
    value, low, high = (_score(item, digits) if np.isfinite(item) else "" for item in found)
    if not low:
        return f"{value} (spread unknown)"
    return value if low == high else f"{value} [{low}, {high}]"


def _turned(found: tuple[float, float, float]) -> tuple[float, float, float]:
    estimate, low, high = found
    return -estimate, -high, -low


def _least(status: Status, bound: float) -> str:
    return f"{_WORDS_OF_LEAST[status]} {bound:g}"


def _most(status: Status, bound: float) -> str:
    return f"{_WORDS_OF_MOST[status]} {bound:g}"


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
    seconds: Mapping[tuple[str, str], tuple[NDArray[np.float64], ...]]
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
        if metric not in self.fewer_rows:
            return None
        found = [curve for (name, _), curve in self.curves.items() if name == metric]
        counts = Counter(n + failed for curve in found for n, failed in zip(curve.n, curve.failed, strict=True))
        del counts[0]  # where nothing is stored, or a metric takes no part
        if not counts:
            return None
        ((most, _),) = counts.most_common(1)
        return most, self.fewer_rows[metric]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Lines of the verdict table, your own metrics first."""
        members: dict[str, list[Candidate]] = {}
        for item in self.candidates:
            members.setdefault(row_name(item), []).append(item)
        rows = [Row(name, _row_title(own), tuple(own)) for name, own in members.items()]
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


def _row_title(members: Sequence[Candidate]) -> str:
    title = members[0].title
    return title.rpartition(" ")[0] if row_name(members[0]) != members[0].name else title
