"""The proven comparison by audit: the bet's mean by hand, its level, and what it needs to know."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.audit_worlds import Corner, drawn
from demele.classifiers.comparison.audit import by_audit, product_bet
from demele.classifiers.comparison.compare import compare, rank
from demele.classifiers.comparison.methods import Audited
from demele.classifiers.intervals import FRACTIONS
from demele.core.arrays import rng_for
from demele.core.errors import InputError
from demele.noise.audit import Audit, draw_audit
from tests.classifiers.comparison.cases import mirror
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact

EXACT = Audited(exact=True)


def test_the_mean_of_the_bet_is_one_where_the_gap_is_nothing() -> None:
    """All draws of 6 rows, independent; 3 of them wrong labels that cost 2, 1 and 2; the labels say a gap of 5."""
    chances = np.array([0.3, 0.5, 0.7, 0.4, 0.9, 0.6])
    loss = np.array([2, 1, 2, 0, 0, 0])
    theta = -FRACTIONS * np.log1p(-chances.min()) / 2
    grown = np.log((1 - (1 - chances[:, None]) * np.exp(theta * loss[:, None])) / chances[:, None])
    mean = below = 0.0
    for draw in itertools.product((0, 1), repeat=6):
        seen = np.array(draw, bool)
        probability = np.where(seen, chances, 1 - chances).prod()
        losses, growth = np.array(loss[seen].sum()), grown[seen].sum(axis=0)
        mean += probability * np.exp(product_bet(np.array(5.0), losses, growth, theta))
        below += probability * np.exp(product_bet(np.array(4.0), losses, growth, theta))
    assert_close(mean, 1.0, ROUNDING)
    assert below < 1


@pytest.mark.parametrize("inference", ["test_set", "population", "overlap"])
def test_exchanged_roles_and_agreeing_p_values(inference: Any) -> None:
    decided = 0
    for seed in range(12):
        corner = Corner(n=600, apart=200, copies=4, size=200, gap=0 if seed % 2 else 60, inference=inference)
        query = drawn(corner, rng_for(seed, "bet"), seed, exact=True).question
        there, back = by_audit(query), by_audit(mirror(query))
        assert_exact(there.candidate, back.baseline)
        assert_close(there.low, -back.high, ROUNDING)
        assert_exact(there.candidate, there.p_value <= query.tail)
        assert there.low[0] <= there.high[0]
        if inference == "test_set":
            assert_exact(there.candidate, there.low > 0)
        decided += int(there.candidate[0])
    assert decided or inference == "population"  # there, the candidate is never better


def test_the_level_holds_in_the_weak_corners() -> None:
    """Proved; 2.5% of 120 would be 3. With 20 labels in the least disagreement, bounds by moments err most."""
    corners = (
        Corner(n=2000, apart=260, copies=20, others=4, place="least"),
        Corner(n=200, apart=60, copies=6, size=50),
    )
    claims = [
        bool(by_audit(drawn(corner, rng_for(5, corner.name, seed), seed, exact=True).question).candidate[0])
        for corner in corners
        for seed in range(60)
    ]
    assert sum(claims) <= 3


def test_all_disagreements_audited_are_known() -> None:
    for gap in (0, 3, -3):
        for seed in range(40):
            corner = Corner(n=400, apart=20, copies=2, size=30, gap=gap)
            test_set = drawn(corner, rng_for(2, gap, seed), seed, exact=True)
            audit, (first, second) = test_set.question.audit, test_set.question.data.predictions
            if np.isin(np.flatnonzero(first != second), audit.rows).all():
                break
        found = by_audit(test_set.question)
        assert_close([found.low[0], found.high[0]], [gap / 400] * 2, ROUNDING)
        assert (found.candidate[0], found.baseline[0]) == (gap > 0, gap < 0)


@pytest.mark.parametrize("inference", ["test_set", "population"])
def test_an_expert_who_errs_moves_verdict_and_interval_alike(inference: Any) -> None:
    corner = Corner(n=600, apart=200, size=200, gap=60, inference=inference)
    query = drawn(corner, rng_for(0, "expert"), 0, exact=True).question
    sure, unsure = by_audit(query), by_audit(replace(query, expert_error=0.02))
    assert_close(sure.low - unsure.low, 8 / 600, SOLVER)
    assert_close(unsure.high - sure.high, 8 / 600, SOLVER)
    if inference == "test_set":
        assert_exact(unsure.candidate, unsure.low > 0)


def test_it_needs_the_least_probability() -> None:
    rng = rng_for(0, "least")
    truth = rng.integers(0, 3, 300)
    models = {name: np.where(rng.random(300) < 0.7, truth, (truth + 1) % 3) for name in "abc"}
    apart = models["a"] != models["b"]
    plan = draw_audit(300, 80, disagreement=apart)
    known = plan.answered(truth[plan.rows])
    assert plan.least_probability is not None
    assert_close(plan.least_probability, known.probabilities[apart[plan.rows]].min(), ROUNDING)
    found = compare(models["a"], models["b"], truth, audit=known, method=EXACT)
    assert f"had a probability below {plan.least_probability:.4g}" in found.assumptions[0]
    assert f"least_probability={plan.least_probability:.6g}" in str(found.signature)
    bare = Audit(plan.rows, truth[plan.rows], design="weighted", probabilities=plan.probabilities)
    with pytest.raises(InputError, match="needs its least_probability"):
        compare(models["a"], models["b"], truth, audit=bare, method=EXACT)
    refuses(InputError, r"row \d+, a disagreement, was drawn", rank, models, truth, audit=known, method=EXACT)
    assert_at_most(plan.least_probability, 1.0, ROUNDING)


@pytest.mark.parametrize(("value", "message"), [(0, "in \\(0, 1\\]"), (1.5, "in \\(0, 1\\]"), (True, "in \\(0, 1\\]")])
def test_odd_least_probabilities(value: Any, message: str) -> None:
    refuses(InputError, message, Audit, [0], [1], design="weighted", probabilities=[0.5], least_probability=value)
    refuses(InputError, "only for design 'weighted'", Audit, [0], [1], design="uniform", least_probability=0.5)


def test_a_uniform_audit_needs_no_plan() -> None:
    # 200 of 1000 rows audited and no label wrong; m of 300 could be: a bet at 0.2 everywhere.
    truth = np.zeros(1000, int)
    first = np.where(np.arange(1000) < 300, 1, 0)
    plan = draw_audit(1000, 200)
    known: Any = {"audit": plan.answered(truth[plan.rows]), "classes": [0, 1], "inference": "test_set"}
    found = compare(first, truth, truth, method=EXACT, **known)
    theta = -FRACTIONS * np.log(0.8) / 2
    logs = product_bet(300.0 - np.arange(300.0), np.zeros(300, int), np.zeros((300, 19)), theta)
    assert_close(found.interval.low, (np.count_nonzero(logs >= np.log(40))) / 1000, SOLVER)
    assert found.verdict == "candidate"
    assert "exact=True" in str(found.signature)
