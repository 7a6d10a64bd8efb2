"""Verdicts: by hand on curves with exact means and spreads, against scipy, and the coverage of their intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from demele.bench import AtLeast, AtMost, Candidate, Criterion, Falls, Holds, Keeps, NotAbove, Same, Scenario, Verdict
from demele.bench.expectations import Expectation, Property
from demele.bench.scenarios import SCENARIOS
from demele.bench.stored import agreement, printed_verdict
from demele.bench.verdicts import REVIEW_CRITERIA, Condition, Curve, PartVerdict, Status, added_criteria, judged
from tests.tolerances import ROUNDING, assert_close, assert_exact

CRITERIA = {criterion.name: criterion for criterion in REVIEW_CRITERIA}


def draw(rng: np.random.Generator, severity: float, n_samples: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    raise AssertionError("verdicts draw nothing")


def own_function(codes: object, factors: object) -> float:
    raise AssertionError("verdicts measure nothing")


def metric(name: str = "m", claims: tuple[Property, ...] | None = None, **more: Any) -> Candidate:
    return Candidate(name=name, title=name, group=name, claims=claims, **more)


def spread(mean: float, deviation: float, n: int) -> NDArray[np.float64]:
    """Return n values (n even) with exactly this mean and this standard deviation."""
    signs = np.tile([1.0, -1.0], n // 2)
    values: NDArray[np.float64] = mean + signs * deviation * np.sqrt((n - 1) / n)
    return values


def curve(
    values: Sequence[Sequence[float] | NDArray[np.float64]],
    *,
    name: str = "m",
    scenario: str = "s",
    seeds: Sequence[Sequence[int]] | None = None,
    reasons: Sequence[Sequence[str]] | None = None,
    declined: str | None = None,
) -> Curve:
    outcomes = []
    for place, own in enumerate(values):
        numbers = range(len(own)) if seeds is None else seeds[place]
        known = dict(zip(numbers, map(float, own), strict=True))
        missing = iter(() if reasons is None else reasons[place])
        count = max(len(known) + (0 if reasons is None else len(reasons[place])), max(known, default=-1) + 1)
        outcomes.append([known[seed] if seed in known else next(missing, "none") for seed in range(count)])
    return Curve(name, scenario, outcomes, declined)


def sweep(
    severities: Sequence[float] = (0.0, 0.5, 1.0),
    wanted: dict[str, tuple[Expectation, ...]] | None = None,
    name: str = "s",
    **more: Any,
) -> Scenario:
    return Scenario(
        name=name,
        title=name.title(),
        question="Does it?",
        sweep="severity",
        severities=tuple(severities),
        draw=draw,
        wanted=wanted or {},
        **more,
    )


def verdict_of(
    given: Curve,
    *expectations: Expectation,
    member: Candidate | None = None,
    level: float = 0.95,
    severities: Sequence[float] | None = None,
    **more: Any,
) -> Verdict:
    """Return the verdict of one metric on one scenario with these expectations."""
    scenario = sweep(severities or [place / 2 for place in range(len(given.outcomes))], {"any": expectations}, **more)
    (criterion,) = added_criteria([scenario])
    return judged("m", [member or metric()], criterion, {"s": scenario}, {("m", "s"): given}, level)


def constant(*values: float, n: int = 3) -> list[list[float]]:
    return [[value] * n for value in values]


# ------------------------------------------------------------------------------------------------ curves


def test_curve_by_hand() -> None:
    found = curve([[0.2, 0.4, 0.6], [0.5], []], reasons=[[], ["a", "b"], ["a"]])
    assert found.n == [3, 1, 0]
    assert found.failed == [0, 2, 1]
    # standard deviation 0.2; t(0.975, 2) = 4.30265...
    half = stats.t.ppf(0.975, 2) * 0.2 / np.sqrt(3)
    assert_close(found.interval(0, 0.95), (0.4 - half, 0.4 + half), ROUNDING)
    assert_exact(found.interval(1, 0.95), (np.nan, np.nan))
    assert_exact(found.interval(2, 0.95), (np.nan, np.nan))


# ------------------------------------------------------------------------- each expectation, without spread


def test_each_expectation_where_nothing_varies() -> None:
    expectation_cases: Any = [
        (Falls(total=0.2), (1.0, 0.9, 0.8), "holds"),  # both thresholds, one of them exactly
        (Falls(total=0.2), (1.0, 0.9, 0.81), "fails"),
        (Falls(total=0.2), (1.0, 1.0, 0.7), "fails"),  # a step without a fall
        (Holds(), (1.0, 0.95, 1.05), "holds"),
        (Holds(), (1.0, 0.95, 1.06), "fails"),
        (AtMost(0.05, at=1.0), (0.0, 0.0, 0.051), "fails"),
        (Same(at=0.5, than=1.0), (0.0, 0.7, 0.65), "holds"),
        (Same(at=0.5, than=1.0), (0.0, 0.7, 0.64), "fails"),
    ]
    for expectation, values, status in expectation_cases:
        assert verdict_of(curve(constant(*values)), expectation).status == status


# --------------------------------------------------------------------------------------------- intervals


def test_welch_interval_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.9, 0.05, 12), rng.normal(0.6, 0.2, 7)
    verdict = verdict_of(curve([first, second]), Falls(total=0.2, every_step=False))
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    (condition,) = verdict.parts[0].conditions
    assert_close([condition.low, condition.high], [expected.low, expected.high], ROUNDING)
    assert_close(condition.estimate, first.mean() - second.mean(), ROUNDING)


def test_weights_enter_the_spread_squared() -> None:
    # 0.5 - 0.25 * 1 = 0.25; variance 0.1^2 / 4 + 0.25^2 * 0.4^2 / 4 = 0.0025 + 0.0025, so df = 2 * 3 = 6.
    (_, condition) = verdict_of(curve([spread(1.0, 0.4, 4), spread(0.5, 0.1, 4)]), Keeps(0.25)).parts[0].conditions
    half = stats.t.ppf(1 - 0.05 / 2 / 2, 6) * np.sqrt(0.005)  # two conditions share the level
    assert_close([condition.estimate, condition.low, condition.high], [0.25, 0.25 - half, 0.25 + half], ROUNDING)


def test_conditions_of_a_part_share_its_level() -> None:
    values = [spread(0.9, 0.1, 10), spread(0.7, 0.1, 10), spread(0.5, 0.1, 10)]
    conditions = verdict_of(curve(values), Falls(total=0.2), level=0.9).parts[0].conditions
    assert len(conditions) == 3
    half = stats.t.ppf(1 - 0.1 / 3 / 2, 18) * np.sqrt(2 * 0.01 / 10)
    for condition in conditions:
        assert_close((condition.high - condition.low) / 2, half, ROUNDING)


def test_paired_severities_are_compared_seed_by_seed() -> None:
    first = np.array([0.2, 0.9, 0.5, 0.4])
    values = [first, first - [0.1, 0.12, 0.1, 0.12]]
    alone = verdict_of(curve(values), Falls(total=0.05, every_step=False))
    paired = verdict_of(curve(values), Falls(total=0.05, every_step=False), paired=True)
    assert (alone.status, paired.status) == ("inconclusive", "holds")
    (condition,) = paired.parts[0].conditions
    expected = stats.ttest_rel(values[0], values[1]).confidence_interval(0.95)
    assert_close([condition.low, condition.high], [expected.low, expected.high], ROUNDING)


def test_paired_uses_the_seeds_that_both_have() -> None:
    # Seeds 1, 2 and 4 are common, with falls 0.1, 0.2 and 0.3; the other values must not count.
    given = curve(
        [[0.5, 0.6, 0.7, 0.0], [9.0, 0.4, 0.4, 0.4]],
        seeds=[[1, 2, 4, 5], [0, 1, 2, 4]],
        reasons=[["x"], ["x"]],
    )
    verdict = verdict_of(given, Falls(total=0.01, every_step=False), paired=True)
    (condition,) = verdict.parts[0].conditions
    half = stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
    assert_close([condition.estimate, condition.low, condition.high], [0.2, 0.2 - half, 0.2 + half], ROUNDING)


@pytest.mark.parametrize("paired", [False, True])
def test_one_seed_decides_nothing(paired: bool) -> None:
    verdict = verdict_of(curve([[1.0], [0.1]]), Falls(total=0.2), paired=paired)
    assert verdict.status == "inconclusive"
    assert [(item.low, item.high) for item in verdict.parts[0].conditions] == [(-np.inf, np.inf)] * 2
    assert "spread unknown" in verdict.summary


@pytest.mark.parametrize("paired", [False, True])
def test_simultaneous_coverage(paired: bool) -> None:
    """All intervals of a part cover the truth together at least as often as stated; those of one alone just so."""
    rng = np.random.default_rng(20)
    runs, n, level = 600, 8, 0.8
    means, deviations = np.array([0.9, 0.7, 0.6, 0.3]), np.array([0.02, 0.1, 0.05, 0.2])
    truths = [-0.2, 0.2, -0.3, 0.3, -0.6, 0.6]
    together = alone = 0
    for _ in range(runs):
        values = list(rng.normal(means[:, None], deviations[:, None], (4, n)) + paired * rng.normal(0, 0.3, n))
        all_of_them = verdict_of(curve(values), Holds(1.0), level=level, paired=paired).parts[0].conditions
        assert [item.estimate for item in all_of_them[::2]] == pytest.approx(
            [-item.estimate for item in all_of_them[1::2]]
        )
        together += all(item.low <= truth <= item.high for item, truth in zip(all_of_them, truths, strict=True))
        only = NotAbove(at=0.5, than=0.0, margin=1.0)
        (single,) = verdict_of(curve(values), only, level=level, paired=paired).parts[0].conditions
        alone += single.low <= 0.2 <= single.high
    error = np.sqrt(level * (1 - level) / runs)  # 0.016
    assert together / runs >= level - 3 * error
    assert abs(alone / runs - level) <= 4 * error
    # A rise and a fall are one interval seen from two sides, so three intervals at 1 - 0.2 / 6 cover about 0.9.
    assert together / runs <= 0.9 + 0.06


# ---------------------------------------------------------------------------------- seeds without a value


def test_a_tenth_without_value_is_told_and_more_is_inconclusive() -> None:
    few = curve([[1.0] * 9], reasons=[["too few rows"]])
    verdict = verdict_of(few, AtLeast(0.9))
    assert (verdict.status, verdict.parts[0].reason) == ("holds", "1 of 10 seeds gave no value at 0: too few rows")
    many = verdict_of(curve([[1.0] * 8], reasons=[["rare", "too few rows", "too few rows"]]), AtLeast(0.9))
    assert many.status == "inconclusive"
    assert many.summary == "3 of 11 seeds gave no value at 0: too few rows"
    failing = verdict_of(curve([[0.1] * 8], reasons=[["too few rows"] * 3]), AtLeast(0.9))
    assert failing.status == "fails"
    assert failing.summary == "0.100 at 0, less than 0.9; 3 of 11 seeds gave no value at 0: too few rows"


def test_no_value_at_all() -> None:
    given = curve([[1.0] * 3, []], reasons=[[], ["crashed", "crashed", "slow"]])
    registered = verdict_of(given, Holds())
    assert (registered.status, registered.summary) == ("not applicable", "no value at 0.5: crashed")
    own = verdict_of(given, Holds(), member=metric(function=own_function))
    assert (own.status, own.summary) == ("fails", "no value at 0.5: crashed")
    nothing_run = verdict_of(curve([[1.0] * 3, []]), Holds(), member=metric(function=own_function))
    assert (nothing_run.status, nothing_run.summary) == ("inconclusive", "no value at 0.5: no seed was run")


def test_what_was_not_run_is_inconclusive() -> None:
    verdict = judged("m", [metric()], CRITERIA["calibrated"], {}, {}, 0.95)
    assert (verdict.status, verdict.summary) == ("inconclusive", "scenario 'noise' was not run")
    verdict = judged("m", [metric()], CRITERIA["calibrated"], SCENARIOS, {}, 0.95)
    assert verdict.status == "inconclusive"


def test_a_sweep_without_the_severities_of_the_rule_is_inconclusive() -> None:
    short = sweep((0.0, 0.5), name="noise")
    given = curve(constant(1.0, 0.5), scenario="noise")
    verdict = judged("m", [metric()], CRITERIA["calibrated"], {"noise": short}, {("m", "noise"): given}, 0.95)
    assert verdict.status == "inconclusive"
    assert "severities of the rule" in verdict.summary
    assert verdict_of(curve(constant(1.0)), Holds()).status == "inconclusive"


# ------------------------------------------------------------------------------------------- conjunctions


def row(statuses: dict[str, float | None], criterion: Criterion | None = None) -> Verdict:
    """Return the verdict of a row whose members score this everywhere (None: they decline), asked for at least 0.5."""
    scenario = sweep((0.0,), {"any": (AtLeast(0.5),)})
    curves = {
        (name, "s"): curve(constant(value), name=name)
        if value is not None
        else curve([[]], name=name, declined=f"{name} cannot")
        for name, value in statuses.items()
    }
    (asked,) = added_criteria([scenario])
    return judged("row", [metric(name) for name in statuses], criterion or asked, {"s": scenario}, curves, 0.95)


def test_a_row_is_a_conjunction_of_what_applies() -> None:
    assert row({"a": 0.6, "b": 0.7}).status == "holds"
    assert row({"a": 0.6, "b": 0.4}).status == "fails"
    assert row({"a": 0.6, "b": None}).status == "holds"
    assert row({"a": None, "b": None}).status == "not applicable"
    assert row({"a": None, "b": None}).summary == "a: a cannot; b: b cannot"
    assert len(row({"a": 0.6, "b": None}).parts) == 2


def test_scores_are_judged_by_what_they_claim() -> None:
    scenario = sweep((0.0,), {"modularity": (AtLeast(0.5),), "compactness": (AtMost(0.4),)})
    (asked,) = added_criteria([scenario])

    def verdict(claims: tuple[Property, ...] | None) -> Verdict:
        curves = {("m", "s"): curve(constant(0.6))}
        return judged("m", [metric(claims=claims)], asked, {"s": scenario}, curves, 0.95)

    assert verdict(("modularity",)).status == "holds"
    assert verdict(("compactness",)).status == "fails"
    assert verdict(("modularity", "compactness")).status == "fails"
    assert verdict(None).status == "fails"
    left_out = verdict(("explicitness",))
    assert (left_out.status, left_out.parts) == ("not applicable", ())
    assert left_out.summary == "does not claim to measure modularity or compactness"


# ------------------------------------------------------------------------------------------------ the criteria


def on(criterion: str, scenario: str, values: Sequence[float], *claims: Property) -> Status:
    """Return the status of a metric without spread on one of the review's criteria."""
    curves = {("m", scenario): curve(constant(*values), scenario=scenario)}
    return judged("m", [metric(claims=claims or None)], CRITERIA[criterion], SCENARIOS, curves, 0.95).status


def test_several_codes_by_hand() -> None:
    # Positions: (1) [cos, sin], (2) [v, v], and two that the rule does not ask about.
    for claim in ("modularity", "explicitness"):
        assert on("several_codes", "redundant", (1.0, 1.0, 0.0, 0.0), claim) == "holds"
        assert on("several_codes", "redundant", (0.95, 1.0, 0.0, 0.0), claim) == "holds"
        assert on("several_codes", "redundant", (0.94, 1.0, 0.0, 0.0), claim) == "fails"
        assert on("several_codes", "redundant", (1.0, 0.5, 0.0, 0.0), claim) == "holds"
        assert on("several_codes", "redundant", (0.09, 0.09, 0.0, 0.0), claim) == "fails"
    assert on("several_codes", "redundant", (0.7, 0.7, 0.0, 0.0), "compactness") == "holds"
    assert on("several_codes", "redundant", (0.6, 0.0, 0.0, 0.0), "compactness") == "fails"
    assert on("several_codes", "redundant", (0.0, 0.0, 0.0, 0.0), "compactness") == "fails"
    assert on("several_codes", "redundant", (1.0, 0.5, 0.0, 0.0), "modularity", "compactness") == "fails"


def test_noise_criteria_by_hand() -> None:
    line = [1 - place / 10 for place in range(11)]
    late = [1.0] * 6 + [0.5, 0.2, 0.1, 0.05, 0.0]
    assert on("robust_to_noise", "noise", late, "modularity") == "holds"
    assert on("robust_to_noise", "noise", line, "modularity") == "fails"
    assert on("robust_to_noise", "noise", line, "explicitness") == "not applicable"
    assert on("robust_to_noise", "noise", line, "compactness", "explicitness") == "fails"
    assert on("coherent_explicitness", "noise", line, "explicitness") == "holds"
    assert on("coherent_explicitness", "noise", late, "explicitness") == "fails"
    assert on("calibrated", "noise", line) == "holds"
    assert on("calibrated", "noise", [0.2 + 0.8 * value for value in line]) == "fails"


def test_settings_hold_by_declaration_for_a_metric_without_any() -> None:
    settings = sweep((0.0, 1.0), name="settings", kind="settings")
    declined = {("m", "settings"): curve([[], []], scenario="settings", declined="it has no settings")}

    def verdict(member: Candidate, curves: dict[tuple[str, str], Curve]) -> Verdict:
        return judged("m", [member], CRITERIA["stable_settings"], {"settings": settings}, curves, 0.95)

    found = verdict(metric(), declined)
    assert (found.status, found.summary) == ("holds", "it has no settings")
    assert verdict(metric(function=own_function), declined).status == "not applicable"
    moving = {("m", "settings"): curve(constant(0.9, 0.7), scenario="settings")}
    assert verdict(metric(), moving).status == "fails"


# ------------------------------------------------------------------------------------------------ the printed tables


def test_agreement_by_hand() -> None:
    statuses: list[tuple[str, str, Status]] = [
        ("mig", "calibrated", "holds"),  # printed y: agrees
        ("mig", "non_linear", "fails"),  # x*: agrees
        ("mig", "several_codes", "holds"),  # x: judged, disagrees
        ("mig", "unmeasured_factors", "inconclusive"),  # y: judged, agrees with nothing
        ("mig", "coherent_explicitness", "not applicable"),  # -: agrees, not judged
        ("mig", "coherent_modularity", "fails"),  # blank: disagrees, not judged
        ("irs", "several_codes", "not applicable"),  # n/a: agrees, not judged
        ("irs", "coherent_explicitness", "not applicable"),  # y: disagrees; does not apply here, so not judged
        ("dlig", "calibrated", "holds"),  # not printed
        ("mig", "own", "holds"),  # not printed
    ]
    decided = Condition(text="", estimate=0.0, low=0.0, high=0.0, bound=0.0, status="inconclusive", sentence="")
    part = PartVerdict(metric="mig", scenario="noise", status="inconclusive", reason=None, conditions=(decided,))
    verdicts = [
        Verdict(row=name, criterion=criterion, status=status, summary="", parts=(part,))
        for name, criterion, status in statuses
    ]
    # not run: left out
    verdicts.append(Verdict(row="sap", criterion="calibrated", status="inconclusive", summary="", parts=()))
    assert agreement(verdicts) == {"cells": 8, "agree": 4}
    assert printed_verdict("dlig", "calibrated") is None


def test_no_common_seed_decides_nothing() -> None:
    given = curve([[1.0, 1.0], [0.1, 0.1]], seeds=[[0, 1], [2, 3]])
    assert verdict_of(given, Falls(total=0.2), paired=True).status == "inconclusive"


SEVERITIES = (0.0, 0.5, 1.0)
LABELS = ("none", "half", "all")


def told(expectation: Expectation) -> list[tuple[dict[int, float], float]]:
    return [(dict(item.weights), item.bound) for item in expectation.contrasts(SEVERITIES, LABELS)]


CASES: list[tuple[Expectation, list[tuple[dict[int, float], float]]]] = [
    (Falls(total=0.2, step=0.01), [({0: 1, 1: -1}, 0.01), ({1: 1, 2: -1}, 0.01), ({0: 1, 2: -1}, 0.2)]),
    (Falls(step=0.01), [({0: 1, 1: -1}, 0.01), ({1: 1, 2: -1}, 0.01)]),
    (Falls(total=0.2, every_step=False), [({0: 1, 2: -1}, 0.2)]),
    (Falls(step=0.01, start=0.5), [({1: 1, 2: -1}, 0.01)]),
    (Falls(step=0.01, stop=0.5), [({0: 1, 1: -1}, 0.01)]),
    (Holds(0.1), [({1: 1, 0: -1}, -0.1), ({0: 1, 1: -1}, -0.1), ({2: 1, 0: -1}, -0.1), ({0: 1, 2: -1}, -0.1)]),
    (Holds(0.1, stop=0.5), [({1: 1, 0: -1}, -0.1), ({0: 1, 1: -1}, -0.1)]),
    (Keeps(0.5), [({0: 1}, 0.1), ({1: 1, 0: -0.5}, 0.0), ({2: 1, 0: -0.5}, 0.0)]),
    (Keeps(0.8, stop=0.5, least=0.2), [({0: 1}, 0.2), ({1: 1, 0: -0.8}, 0.0)]),
    (AtLeast(0.9, at=0.5), [({1: 1}, 0.9)]),
    (AtLeast(0.9), [({0: 1}, 0.9), ({1: 1}, 0.9), ({2: 1}, 0.9)]),
    (AtMost(0.1, at=1.0), [({2: -1}, -0.1)]),
    (AtMost(0.1), [({0: -1}, -0.1), ({1: -1}, -0.1), ({2: -1}, -0.1)]),
    (NotAbove(at=1.0, than=0.0, margin=0.05), [({0: 1, 2: -1}, -0.05)]),
    (Same(at=0.5, than=1.0, within=0.1), [({2: 1, 1: -1}, -0.1), ({1: 1, 2: -1}, -0.1)]),
]


def test_each_kind_by_hand() -> None:
    for expectation, expected in CASES:
        assert told(expectation) == expected
