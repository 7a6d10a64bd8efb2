"""The criteria that metrics are judged on: numeric rules on their curves, with every threshold stated."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from demele.bench.scenario import Candidate, Expectation, Property, Scenario, expectation_of
from demele.bench.scenarios import SCENARIOS


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
        who = f"scores that claim {' or '.join(self.claims)}" if self.claims else "every score"
        return f"{who}, on '{self.scenario}': {'; '.join(item.text for item in self.expectations)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One column of the verdict table.

    Attributes
    ----------
    name, title : str
        Names in code and on pages.
    question : str
        What it asks of a metric, in one sentence.
    rule : str
        The numeric rule, with its thresholds.
    group : str
        ``"review"`` for the ten columns of the review, ``"added"`` for the others.
    parts : tuple of Part
        What must hold on which scenario.
    declared : bool
        Decided by what the metric declares of itself (whether it discretises), not by curves.
    """

    name: str
    title: str
    question: str
    rule: str
    group: Literal["review", "added"]
    parts: tuple[Part, ...]
    declared: bool = False


def added_criteria(scenarios: Iterable[Scenario]) -> tuple[Criterion, ...]:
    """Return one criterion for each scenario beyond the review's that says what a good metric does.

    Those that :data:`REVIEW_CRITERIA` name are judged there; the page of each metric lists its "invariances".

    Examples
    --------
    >>> from demele.bench.criteria import added_criteria
    >>> from demele.bench.scenario import Holds
    >>> from demele.bench.scenario import Scenario
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
            found.append(_criterion(name, item.title, item.question, parts, group="added"))
    return tuple(found)


def _criterion(
    name: str,
    title: str,
    question: str,
    parts: Sequence[Part],
    note: str = "",
    group: Literal["review", "added"] = "review",
    declared: bool = False,
) -> Criterion:
    """Make a criterion whose rule lists the expectations that decide it."""
    told = [f"{part.text[0].upper()}{part.text[1:]}." for part in parts]
    rule = " ".join(filter(None, [*told, note]))
    return Criterion(
        name=name, title=title, question=question, rule=rule, group=group, parts=tuple(parts), declared=declared
    )


def _of_review(entry: dict[str, Any]) -> Criterion:
    """Return a criterion of the file; its expectations are those of the scenario, where it says no others."""
    parts = []
    for part in entry.pop("parts"):
        claims, usual = tuple(part.pop("claims")), SCENARIOS[part["scenario"]].wanted
        own = tuple(map(expectation_of, part.pop("expectations", ()))) or usual[claims[0] if claims else "any"]
        parts.append(Part(**part, claims=claims, expectations=own))
    return _criterion(**entry, parts=parts)


#: The ten columns of the review's table 3.2, in its order; they stand in ``criteria.json``.
REVIEW_CRITERIA: tuple[Criterion, ...] = tuple(
    map(_of_review, json.loads(Path(__file__).with_name("criteria.json").read_text(encoding="utf-8")))
)
