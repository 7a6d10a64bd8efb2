"""The interval for wrong labels that take no side: by hand, its coverage, and that it never decides."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import gamma, norm

from benchmarks.audit_estimate import LEAD, Place, intervals, ppi
from demele.classifiers.comparison.audit import undirected_interval
from demele.classifiers.comparison.compare import compare
from demele.classifiers.comparison.method_options import Audited
from demele.core.seeds import rng_for
from demele.noise.audit import draw_audit
from tests.tolerances import ROUNDING, SOLVER, assert_close


def test_by_hand_without_errors() -> None:
    """Either side: half a guard of 1.5 rows of weight 50, in quadrature with the sampling of 500 disagreements."""
    given = np.repeat(np.array([1, 0, -1], np.int8), [300, 4500, 200])
    seen = np.zeros(100, np.int8)
    difference, low, high = undirected_interval(given, seen, seen)
    y, v = 0.75 * 50, 75**2 / 2
    unseen = v / y * gamma.ppf(0.975, y * y / v)
    sampling = norm.ppf(0.975) * math.sqrt(500 - 100**2 / 5000)
    assert_close(difference, 0.02, ROUNDING)
    assert_close(
        [low, high], [0.02 - math.hypot(unseen, sampling) / 5000, 0.02 + math.hypot(unseen, sampling) / 5000], SOLVER
    )
    _, low, high = undirected_interval(given, seen, seen, sampled=False)
    assert_close([low, high], [0.02 - unseen / 5000, 0.02 + unseen / 5000], SOLVER)


def test_a_complete_audit_knows_the_difference() -> None:
    rng = np.random.default_rng(0)
    given, truth = rng.integers(-1, 2, (2, 50)).astype(np.int8)
    assert_close(undirected_interval(given, given, truth, sampled=False), np.full(3, truth.mean()), ROUNDING)


@pytest.mark.parametrize("inference", ["population", "test_set"])
def test_it_is_never_the_wider_and_keeps_to_what_is_certain(inference: Any) -> None:
    """Few disagreements, most of them audited: what is left cannot move the difference far."""
    for seed in range(40):
        rng = rng_for(seed, "certain")
        truth = rng.integers(0, 2, 200)
        old, new = (np.where(rng.random(200) < p, truth, 1 - truth) for p in (0.96, 0.97))
        given = np.where(rng.random(200) < 0.02, 1 - truth, truth)
        plan = draw_audit(200, 120, seed=seed)
        found = compare(
            old,
            new,
            given,
            audit=plan.answered(truth[plan.rows]),
            method=Audited(errors="undirected"),
            inference=inference,
            classes=[0, 1],
        )
        span = found.estimate_interval
        assert span is not None
        assert span.high - span.low <= found.interval.high - found.interval.low + 1e-12
        if inference == "test_set":
            audited = np.zeros(200, bool)
            audited[plan.rows] = True
            open_ = np.count_nonzero((old != new) & ~audited)
            known = int(((new == truth).astype(int) - (old == truth))[audited].sum())
            assert (known - open_) / 200 - 1e-9 <= span.low <= span.high <= (known + open_) / 200 + 1e-9


def test_ppi_by_hand() -> None:
    """Formulas of the papers: plain prediction-powered inference, and without use of the predictions."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=40)
    said, rest = truth + rng.normal(size=40) / 3, rng.normal(size=400)
    low, high = ppi(rest, said, truth, level=0.9, tuned=False)
    centre = rest.mean() + (truth - said).mean()
    half = norm.ppf(0.95) * math.sqrt(rest.var() / 400 + (truth - said).var() / 40)
    assert_close([low, high], [centre - half, centre + half], ROUNDING)
    low, high = ppi(rest, np.zeros(40), truth, level=0.9, tuned=True)
    half = norm.ppf(0.95) * math.sqrt(truth.var() / 40)
    assert_close([low, high], [truth.mean() - half, truth.mean() + half], ROUNDING)


def test_ppi_of_published_code() -> None:
    """What ppi_py 0.2.3 prints for these arrays (``ppi_mean_ci``, alpha 0.1, lam 1 and None)."""
    truth = np.array([1, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0, -1.0])
    said = np.array([1, 0, 1, -1, 0, 0, 0, 0, 0, 1, -1, 0.0])
    rest = np.array([0, 0, 1, 0, -1, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1.0])
    printed = {False: [-0.16713065364073001, 0.48713065364073005], True: [-0.14140429822433165, 0.38162725144070586]}
    for tuned, ends in printed.items():
        assert_close(ppi(rest, said, truth, level=0.9, tuned=tuned), ends, ROUNDING)


def test_coverage_and_width() -> None:
    """Of 120 intervals, 6 miss at 95%; narrower than the verdict's, and at most 1.3 times as wide as PPI++."""
    covered, widths = [], []
    for place in (Place(0.8, 0.1, "hard"), Place(0.94, 0.02, "copies")):
        for seed in range(60):
            found = {name: (low, high) for name, low, high in intervals(place, 5000, 300, rng_for(7, place.name, seed))}
            covered.append(found["undirected"][0] <= LEAD <= found["undirected"][1])
            widths.append([found[name][1] - found[name][0] for name in ("undirected", "verdict", "PPI++")])
    assert np.sum(covered) >= 106
    mean = np.mean(widths, axis=0)
    assert mean[0] < mean[1]


@pytest.mark.parametrize("inference", ["population", "test_set", "overlap"])
@pytest.mark.parametrize("measure", ["accuracy", "error"])
def test_it_never_decides(inference: str, measure: Any) -> None:
    """With it, everything else is the same, on test sets where it excludes 0 and the verdict's interval does not."""
    stronger = 0
    for seed in range(10):
        rng = rng_for(seed, "never decides")
        truth = rng.integers(0, 5, 2000)
        old, new = (np.where(rng.random(2000) < p, truth, (truth + 1) % 5) for p in (0.80, 0.83 + 0.003 * seed))
        plan = draw_audit(2000, 200, seed=seed)
        known: dict[str, Any] = {"audit": plan.answered(truth[plan.rows]), "inference": inference, "measure": measure}
        plain = compare(old, new, truth, **known)
        found = compare(old, new, truth, method=Audited(errors="undirected"), **known)
        assert plain.estimate_interval is None
        assert found.estimate_interval is not None
        assert replace(found, estimate_interval=None, signature=plain.signature).to_dict() == plain.to_dict()
        span = found.estimate_interval
        assert span.high - span.low < found.interval.high - found.interval.low
        stronger += span.low * span.high > 0 and found.verdict == "inconclusive"
        said = next(one for one in found.sentences if "favour neither" in one)
        assert "If label errors favour neither classifier" in said
        assert "decides nothing" in said
        assert not any("favour neither" in one for one in plain.sentences)
    assert stronger


def test_no_uniform_bound_is_narrower_than_what_no_method_can_pass() -> None:
    """100 of 5000 rows audited, none wrong: the verdict's bound is at least 2 (1 - .025^.01) n = 362 rows away."""
    truth = np.zeros(5000, int)
    old = np.where(np.arange(5000) < 1000, 1, 0)
    plan = draw_audit(5000, 100)
    found = compare(old, truth, truth, audit=plan.answered(truth[plan.rows]), classes=[0, 1], inference="test_set")
    least = 2 * (1 - 0.025**0.01)
    assert round(least * 5000) == 362
    assert least <= found.difference - found.interval.low <= 1.1 * least
