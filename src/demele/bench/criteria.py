"""The criteria that metrics are judged on: numeric rules on their curves, with every threshold stated."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from demele.bench.scenario import AtLeast, Candidate, Expectation, Property, Same, Scenario
from demele.bench.scenarios.sizes import SETTINGS
from demele.bench.scenarios.source import MIXING, NOISE, NON_LINEAR, PARTIAL, REDUNDANT

__all__ = ["REVIEW_CRITERIA", "Criterion", "Part", "added_criteria"]


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
    for item in scenarios:
        if item.name in told_elsewhere:
            continue
        parts = [
            Part(scenario=item.name, claims=(named,), expectations=tuple(item.wanted[named]))
            for named in get_args(Property)
            if item.wanted.get(named)
        ]
        if item.wanted.get("any"):
            parts.append(Part(scenario=item.name, claims=(), expectations=tuple(item.wanted["any"])))
        if parts:
            name = f"{item.name}_scenario" if item.name in taken else item.name
            found.append(_criterion(name, item.title, item.question, parts, group="added"))
    return tuple(found)


def _criterion(
    name: str,
    title: str,
    question: str,
    parts: Iterable[Part],
    note: str = "",
    group: Literal["review", "added"] = "review",
) -> Criterion:
    """Make a criterion whose rule lists the expectations that decide it."""
    parts = tuple(parts)
    told = [f"{part.text[0].upper()}{part.text[1:]}." for part in parts]
    rule = " ".join([*told, note] if note else told)
    return Criterion(name=name, title=title, question=question, rule=rule, group=group, parts=parts)


#: The ten columns of the review's table 3.2, in its order.
REVIEW_CRITERIA: tuple[Criterion, ...] = (
    _criterion(
        "coherent_modularity",
        "Coherent modularity",
        "Does a measure of modularity fall when codes take in a second factor?",
        [Part(scenario="mixing", claims=("modularity",), expectations=MIXING.wanted["modularity"])],
    ),
    _criterion(
        "coherent_compactness",
        "Coherent compactness",
        "Does a measure of compactness fall when factors spread over more codes?",
        [
            Part(scenario="mixing", claims=("compactness",), expectations=MIXING.wanted["compactness"]),
            Part(scenario="redundant", claims=("compactness",), expectations=REDUNDANT.wanted["compactness"]),
        ],
        "On 'redundant', severity 2 has the codes [v, v] and severity 3 has [v, v, v, v]. The review expects a lower "
        "score at 3. The rule only forbids a higher one, since the review calls SAP, MIG and JEMMIG coherent with "
        "equal scores.",
    ),
    _criterion(
        "coherent_explicitness",
        "Coherent explicitness",
        "Does a measure of explicitness fall as codes turn into noise?",
        [Part(scenario="noise", claims=("explicitness",), expectations=NOISE.wanted["explicitness"])],
    ),
    _criterion(
        "calibrated",
        "Calibrated",
        "Is the score 1 for a perfect representation and 0 for one without information on the factors?",
        [Part(scenario="noise", claims=(), expectations=NOISE.wanted["any"])],
    ),
    _criterion(
        "non_linear",
        "Non-linear relations",
        "Does a one-to-one but curved relation of code and factor leave the score alone?",
        [Part(scenario="non_linear", claims=(), expectations=NON_LINEAR.wanted["any"])],
    ),
    _criterion(
        "several_codes",
        "Several codes for a factor",
        "Is the score high for a factor that only several codes together describe, such as an angle by its cosine and "
        "sine?",
        [
            Part(
                scenario="redundant",
                claims=("modularity", "explicitness"),
                expectations=REDUNDANT.wanted["modularity"],
            ),
            Part(
                scenario="redundant",
                claims=("compactness",),
                expectations=(Same(at=1.0, than=2.0, within=0.1), AtLeast(0.1, at=1.0)),
            ),
        ],
        "1 is [cos v, sin v] and 2 is [v, v]. A score below 0.1 in 1 does not distinguish two codes that hold a factor "
        "together from codes without information on it. A score that claims both is judged by both.",
    ),
    _criterion(
        "robust_to_noise",
        "Robust to noise",
        "Do measures of modularity and compactness hold while noise makes codes less explicit?",
        [
            Part(scenario="noise", claims=("modularity", "compactness"), expectations=NOISE.wanted["modularity"]),
        ],
        "The review's text expects some robustness up to a share of noise of 0.8; the rule only expects it up to 0.6: "
        "there the review calls Z-diff and Z-min variance robust, and DCI forest, with about 0.8, robust enough. A "
        "score that claims explicitness, too, is also judged.",
    ),
    _criterion(
        "unmeasured_factors",
        "Robust to unmeasured factors",
        "Does the score of a perfect code stay when some of its factors are not measured?",
        [Part(scenario="partial", claims=(), expectations=PARTIAL.wanted["any"])],
    ),
    _criterion(
        "stable_settings",
        "Stable settings",
        "Does the score stay when the metric's own settings change?",
        [Part(scenario="settings", claims=(), expectations=SETTINGS.wanted["any"], when_declined="holds")],
        "A metric without settings of its own meets it by declaration.",
    ),
    Criterion(
        name="no_discretisation",
        title="No discretisation",
        question="Does the metric do without cutting continuous columns into bins?",
        rule="Declared by each metric, not measured.",
        group="review",
        parts=(),
        declared=True,
    ),
)
