"""The interval of one measure from an audit: worked cases, an independent oracle, and simulated coverage."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, hypergeom

from benchmarks.audit_interval import coverage
from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import Labelled, Vocabulary
from demele.core.seeds import rng_for
from demele.evaluation.audit_interval import (
    audit_interval,
    audited_estimate,
    hypergeometric_upper,
    total_bounds,
)
from demele.labels.audit import CodedAudit, draw_audit
from tests.tolerances import SOLVER, assert_close, assert_exact


def labelled(labels: Any, predictions: Any, k: int) -> Labelled:
    return Labelled(
        np.asarray(labels, np.int32),
        np.atleast_2d(predictions).astype(np.int32),
        ("model",),
        Vocabulary(tuple(range(k))),
    )


def uniform(rows: Any, truth: Any, n: int) -> CodedAudit:
    rows = np.asarray(rows, np.intp)
    return CodedAudit(rows, np.asarray(truth, np.int32)[rows], np.full(rows.size, rows.size / n), "uniform", n)


def test_formula_8_with_jeffreys_bounds() -> None:
    # 900 hits of 1000; 4 of 180 audited hits lost, 3 of 20 audited misses won; finite strata: 1 - 180/900 = 0.8 left.
    left = 0.8
    lost = beta.ppf([0.025, 0.975], 4 / left + 0.5, 176 / left + 0.5)
    won = beta.ppf([0.025, 0.975], 3 / left + 0.5, 17 / left + 0.5)
    centre = (900 * (1 - 4 / 180) + 100 * 3 / 20) / 1000
    low = centre - math.hypot(0.9 * (lost[1] - 4 / 180), 0.1 * (0.15 - won[0]))
    high = centre + math.hypot(0.9 * (4 / 180 - lost[0]), 0.1 * (won[1] - 0.15))
    found = audit_interval(900, 1000, 180, 4, 20, 3, target="sample")
    assert_close([found.low, found.high], [low, high], SOLVER)
    assert found.kind == "design"


def test_the_population_adds_what_a_score_interval_has() -> None:
    # With every row audited nothing is left but the sampling of the rows: Wilson's interval of 899 right of 1000.
    from demele.evaluation.intervals import score_interval

    found = audit_interval(900, 1000, 900, 4, 100, 3)
    low, high = score_interval(899, 1000)
    assert_close([found.low, found.high], [low, high], SOLVER)
    everything = audit_interval(900, 1000, 900, 4, 100, 3, target="sample")
    assert_close([everything.low, everything.high], [0.899, 0.899], SOLVER)
    assert found.kind == "sampling"


def test_no_error_seen_does_not_mean_no_error() -> None:
    found = audit_interval(900, 1000, 45, 0, 5, 0, target="sample")
    assert found.low < 0.88
    assert found.high > 0.91


def test_a_known_number_of_wrong_labels_bounds_every_cell() -> None:
    # At most 2 of 100 are wrong: with nothing audited, 1 lost and 1 won are as far as each other, in quadrature.
    none = audit_interval(90, 100, 0, 0, 0, 0, wrong=2, target="sample")
    assert_close([none.low, none.high], [0.88, 0.92], SOLVER)
    # 10 rows are misses, so that 20 wrong labels bound nothing there; 20 of 90 hits bound the loss.
    loose = audit_interval(90, 100, 0, 0, 0, 0, wrong=20, target="sample")
    assert_close([loose.low, loose.high], [0.70, 1.00], SOLVER)
    exact = audit_interval(90, 100, 0, 0, 0, 0, wrong=2, target="sample", exact=True)
    assert_close([exact.low, exact.high], [0.88, 0.92], SOLVER)


@given(st.integers(1, 199), st.integers(0, 200), st.data())
@settings(max_examples=100, deadline=None)
def test_knowing_more_never_widens(hits: int, wrong: int, data: st.DataObject) -> None:
    from demele.evaluation.intervals import score_interval

    n = 200
    audited = data.draw(st.integers(0, hits)), data.draw(st.integers(0, n - hits))
    lost = data.draw(st.integers(0, min(audited[0], wrong)))
    won = data.draw(st.integers(0, min(audited[1], wrong - lost)))
    counts = (hits, n, audited[0], lost, audited[1], won)
    for exact in (False, True):
        plain = audit_interval(*counts, exact=exact, target="sample")
        told = audit_interval(*counts, wrong=wrong, exact=exact, target="sample")
        if lost + won == 0:  # else the estimate may move to what is possible
            assert told.high - told.low <= plain.high - plain.low + 1e-9
    low, high = score_interval([max(hits - wrong, 0), min(hits + wrong, n)], [n, n])
    found = audit_interval(*counts, wrong=wrong)
    assert found.low >= low[0] - 1e-9
    assert found.high <= high[1] + 1e-9


def test_the_exact_variant_is_wider_and_right() -> None:
    # Oracle: try every number of lost and of won.
    h, n, kh, x, km, w, tail = 30, 40, 12, 2, 4, 1, 0.0125
    losses = [count for count in range(h + 1) if hypergeom.cdf(x, h, count, kh) > tail]
    gains = [count for count in range(n - h + 1) if hypergeom.sf(w - 1, n - h, count, km) > tail]
    lows = [h - count for count in losses]
    most_lost = [count for count in range(h + 1) if hypergeom.sf(x - 1, h, count, kh) > tail]
    most_won = [count for count in range(n - h + 1) if hypergeom.cdf(w, n - h, count, km) > tail]
    found = audit_interval(h, n, kh, x, km, w, exact=True, target="sample")
    assert_close(found.low, (min(lows) + min(gains)) / n, SOLVER)
    assert_close(found.high, (h - min(most_lost) + max(most_won)) / n, SOLVER)
    wider = audit_interval(h, n, kh, x, km, w, exact=True)
    assert wider.low < found.low
    assert wider.high > found.high


@given(st.integers(1, 30), st.data())
@settings(max_examples=50, deadline=None)
def test_hypergeometric_upper_is_the_largest_count_not_rejected(size: int, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, size))
    seen = data.draw(st.integers(0, drawn))
    tail = data.draw(st.sampled_from([0.001, 0.025, 0.2]))
    possible = [
        count
        for count in range(seen, size - (drawn - seen) + 1)
        if count == seen or hypergeom.cdf(seen, size, count, drawn) > tail
    ]
    found = hypergeometric_upper(np.array(size), np.array(drawn), np.array(seen), tail)
    assert_exact(found, max(possible))


def test_total_bounds_are_exact_for_equal_weights() -> None:
    # Counts of a Poisson variable: Garwood's limits, from gamma quantiles.
    from scipy.stats import gamma

    counts = np.array([0.0, 1.0, 7.0])
    low, high = total_bounds(3 * counts, 9 * counts, np.full(3, 3.0), 0.01)
    assert_close(low[1:], 3 * gamma.ppf(0.01, counts[1:]), SOLVER)
    assert low[0] == 0
    assert_close(high, 3 * gamma.ppf(0.99, counts + 1), SOLVER)
    assert_close(high[0], 3 * math.log(100), SOLVER)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((11, 10, 1, 0, 1, 0), "hits: expected a count between 0 and n = 10, got 11"),
        ((5, 10, 6, 0, 1, 0), "audited_hits: expected a count between 0 and hits = 5, got 6"),
        ((5, 10, 3, 4, 1, 0), "lost: expected a count between 0 and audited_hits = 3, got 4"),
        ((5, 10, 3, 1, 6, 0), "audited_misses: expected a count between 0 and n - hits = 5, got 6"),
        ((5, 10, 3, 1, 1, 2), "won: expected a count between 0 and audited_misses = 1, got 2"),
        ((0, 0, 0, 0, 0, 0), "n: expected at least 1 row"),
    ],
)
def test_contradictory_counts_are_refused(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit_interval(*arguments)


def test_other_mistakes_are_named() -> None:
    with pytest.raises(InputTypeError, match=r"lost: expected a count, got 0\.5"):
        audit_interval(5, 10, 3, 0.5, 1, 0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="target: expected 'population' or 'sample'"):
        audit_interval(5, 10, 3, 0, 1, 0, target="overlap")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="level"):
        audit_interval(5, 10, 3, 0, 1, 0, level=95)
    with pytest.raises(InputError, match="wrong: at most 1 labels are said to be wrong, but the audit shows 2"):
        audit_interval(5, 10, 3, 2, 1, 0, wrong=1)
    with pytest.raises(InputError, match="wrong: expected a count between 0 and n = 10, got 11"):
        audit_interval(5, 10, 3, 2, 1, 0, wrong=11)


MEASURES = ("accuracy", "error", "precision", "recall", "f1")


def right_value(truth: Any, predicted: Any, measure: str, of: int) -> float:
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    both = np.count_nonzero((truth == of) & (predicted == of))
    says, is_ = np.count_nonzero(predicted == of), np.count_nonzero(truth == of)
    return {
        "accuracy": float(np.mean(truth == predicted)),
        "error": float(np.mean(truth != predicted)),
        "precision": both / says,
        "recall": both / is_,
        "f1": 2 * both / (says + is_),
    }[measure]


@pytest.mark.parametrize(("measure", "design"), list(product(MEASURES, ("uniform", "weighted"))))
def test_a_complete_audit_gives_the_measure_itself(measure: str, design: str) -> None:
    rng = rng_for(0, "complete audit")
    truth, given_labels, predicted = rng.integers(0, 3, (3, 60))
    data = labelled(given_labels, predicted, 3)
    audit = CodedAudit(np.arange(60), truth.astype(np.int32), np.ones(60), design, 60)  # type: ignore[arg-type]
    value, interval = audited_estimate(data, audit, measure, 1, 0.95, target="sample")
    expected = right_value(truth, predicted, measure, 1)
    assert_close([value, interval.low, interval.high], np.full(3, expected), SOLVER)
    _, wider = audited_estimate(data, audit, measure, 1, 0.95)
    assert wider.low < expected < wider.high


@pytest.mark.parametrize("design", ["uniform", "weighted"])
def test_averages_lie_within_their_classes(design: str) -> None:
    rng = rng_for(0, "averages")
    truth = rng.integers(0, 3, 500)
    given_labels = np.where(rng.random(500) < 0.1, (truth + 1) % 3, truth)
    predicted = np.where(rng.random(500) < 0.2, (truth + 2) % 3, truth)
    data = labelled(given_labels, predicted, 3)
    rows = rng.permutation(500)[:200]
    audit = CodedAudit(rows, truth[rows].astype(np.int32), np.full(200, 0.4), design, 500)  # type: ignore[arg-type]
    each = [audited_estimate(data, audit, "recall", k, 0.95) for k in range(3)]
    macro, interval = audited_estimate(data, audit, "recall", "macro", 0.95)
    assert_close(macro, np.mean([value for value, _ in each]), SOLVER)
    assert_close(interval.low, np.mean([one.low for _, one in each]), SOLVER)
    weighted, _ = audited_estimate(data, audit, "recall", "weighted", 0.95)
    micro, _ = audited_estimate(data, audit, "recall", "micro", 0.95)
    accuracy, _ = audited_estimate(data, audit, "accuracy", None, 0.95)
    assert micro == accuracy
    assert abs(weighted - accuracy) < 0.05


def test_a_class_that_is_nowhere_has_no_precision() -> None:
    data = labelled([0, 0, 1, 1], [0, 0, 1, 1], 3)
    value, interval = audited_estimate(data, uniform([0, 2], [0, 0, 1, 1], 4), "precision", 2, 0.95)
    assert math.isnan(value)
    assert math.isnan(interval.low)


def test_a_selective_audit_is_refused() -> None:
    data = labelled([0, 1, 1], [0, 1, 0], 2)
    audit = CodedAudit(np.array([2]), np.array([0], np.int32), np.array([np.nan]), "selective", 3)
    with pytest.raises(InputError, match="chosen for a reason"):
        audited_estimate(data, audit, "accuracy", None, 0.95)


@pytest.mark.parametrize(("n", "size"), [(500, 50), (12_000, 50), (12_000, 200)])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_coverage_of_accuracy(n: int, size: int, rate: float) -> None:
    repeats = 1500
    found = coverage(n, size, rate, 0.9, 0.6, 0.3, repeats=repeats)
    error = 3 * math.sqrt(0.95 * 0.05 / repeats)
    for target in ("sample", "population"):
        assert found[f"{target} default coverage"] >= 0.93 - error
        assert found[f"{target} exact coverage"] >= 0.95 - error
    known = "population, number of wrong labels known"
    widened = found["score interval widened by the rate, width"]
    assert found[f"{known}, coverage"] >= 0.93 - error
    assert found[f"{known}, width"] < widened
    if size >= 200 and rate >= 0.05:  # not even knowing the noise rate gives as much
        assert found["population default width"] < widened


@pytest.mark.parametrize("design", ["uniform", "weighted"])
@pytest.mark.parametrize(("measure", "of"), [("accuracy", None), ("precision", 0), ("recall", 0), ("f1", 0)])
def test_coverage_of_every_measure(design: str, measure: str, of: int | None) -> None:
    rng = rng_for(0, "coverage", design, measure)
    n, size, repeats, noise = 800, 150, 150, 0.1
    covered = []
    for repeat in range(repeats):
        truth = (rng.random(n) < 0.6).astype(np.int32)
        hard = rng.random(n) < 0.3
        given_labels = np.where(rng.random(n) < np.where(hard, 3, 1 / 7) * noise, 1 - truth, truth)
        predicted = np.where(rng.random(n) < np.where(hard, 0.4, 0.1), 1 - truth, truth)
        data = labelled(given_labels, predicted, 2)
        plan = draw_audit(n, size, doubt=hard.astype(float) if design == "weighted" else None, seed=repeat)
        audit = plan.answered(truth[plan.rows]).coded(data.vocabulary, n)
        _, interval = audited_estimate(data, audit, measure, of, 0.95, target="sample")
        covered.append(interval.low <= right_value(truth, predicted, measure, 0) <= interval.high)
    assert np.mean(covered) >= 0.93 - 3 * math.sqrt(0.07 * 0.93 / repeats)
