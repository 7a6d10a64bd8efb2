"""Can an audit be what it is declared to be? Worked cases, every possible sample, simulated alarms, and who says it."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from benchmarks.audit_plausibility import AS_DECLARED, Cell, measured
from demele.classifiers import assess, compare, rank
from demele.classifiers.audit_plausibility import audit_checks
from demele.core.arrays import rng_for
from demele.core.labelled import Labelled
from demele.core.results import Note
from demele.labels import Audit, draw_audit
from demele.noise.audit import CodedAudit
from tests.classifiers.comparison.cases import question
from tests.tolerances import ROUNDING, assert_close, assert_rate_at_most


def uniform(rows: Any, n: int) -> CodedAudit:
    rows = np.asarray(rows, np.intp)
    return CodedAudit(rows, np.zeros(rows.size, np.int32), np.full(rows.size, rows.size / n), "uniform", n)


def by_name(data: Labelled, audit: CodedAudit) -> dict[str, Any]:
    return {check.name: check for check in audit_checks(data, audit)}


def test_three_rows_of_ten_by_hand() -> None:
    # The two disagree on rows 0 to 3; labels are the first one's, so the second contradicts the same rows; rows 0 to 4
    # are labelled 1. All 3 audited rows are among 0 to 3.
    first = [1] * 5 + [0] * 5
    second = [0, 0, 0, 0, 1] + [0] * 5
    found = by_name(question(first, [first, second], 2).data, uniform([2, 0, 1], 10))
    # 4 of the 120 samples of 3 lie in 4 given rows, 10 in 5 given ones; two sides, and two classes.
    assert_close(found["class"].p_value, 2 * 2 * 10 / 120, ROUNDING)
    # Mean row 1 where 4.5 is expected, with the variance 11 x 7 / 36.
    assert_close(found["place"].p_value, 2 * ndtr(-3.5 / math.sqrt(77 / 36)), ROUNDING)
    assert not any(check.alarm for check in found.values())


def test_p_values_are_those_of_all_possible_samples() -> None:
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    predictions = np.array([labels, [0, 0, 1, 0, 1, 1, 1, 0], [1, 0, 0, 0, 1, 1, 1, 0]])
    data = question(labels, predictions, 2).data
    apart = (predictions != predictions[0]).any(axis=0)
    against = (predictions != labels).any(axis=0)
    samples = [list(rows) for rows in itertools.combinations(range(8), 3)]
    for name, marked in (("disagreements", apart), ("contradicted", against)):
        assert marked.sum() == 3
        counts = np.array([marked[rows].sum() for rows in samples])
        for rows, x in zip(samples, counts, strict=True):
            expected = min(1.0, 2 * min(np.mean(counts <= x), np.mean(counts >= x)))
            assert_close(by_name(data, uniform(rows, 8))[name].p_value, expected, ROUNDING)


def pair() -> tuple[Any, Any, Any, Any]:
    rng = rng_for(0, "pair")
    truth = rng.integers(0, 5, 2000)
    old, new = (np.where(rng.random(2000) < share, truth, (truth + 1 + i) % 5) for i, share in enumerate((0.94, 0.95)))
    return truth, np.where(rng.random(2000) < 0.05, (truth + 3) % 5, truth), old, new


def alarms(notes: tuple[Note, ...], code: str = "audit-not-uniform") -> list[Note]:
    return [note for note in notes if note.code == code]


def test_rows_of_the_disagreements_declared_uniform_draw_a_warning_everywhere_and_no_refusal() -> None:
    truth, given, old, new = pair()
    rows = rng_for(0, "chosen").permutation(np.flatnonzero(old != new))[:120]
    audit = Audit(rows, truth[rows], design="uniform")
    expected = 120 * np.count_nonzero(old != new) / 2000
    notes = {
        "audited": compare(old, new, given, audit=audit).notes,
        "sequential": compare(old, new, given, audit=audit, method="sequential").notes,
        "rank": rank({"old": old, "new": new, "given": given}, given, audit=audit).notes,
    }
    for found in notes.values():
        (note,) = alarms(found)
        assert (note.severity, note.subject[0]) == ("warning", "disagreements")
    (note,) = alarms(notes["audited"])
    assert f"120 of 120 audited rows are disagreements of the classifiers, {expected:.3g} expected" in note.message
    # One classifier: no two can disagree, but what it contradicts is too often among the rows.
    (note,) = alarms(assess(old, given, audit=audit).notes)
    assert note.subject == ("contradicted",)


def test_a_selective_audit_claims_nothing() -> None:
    truth, given, old, new = pair()
    rows = np.flatnonzero(old != new)[:100]
    audit = Audit(rows, truth[rows], design="selective")
    found = compare(old, new, given, audit=audit, noise=0.06)
    assert not [note for note in found.notes if note.code.startswith("audit-not")]


@pytest.mark.parametrize(("labels", "accuracy", "noise"), [(50, 0.94, 0.2), (300, 0.8, 0.05)])
def test_uniform_samples_hardly_ever_alarm_and_chosen_rows_do(labels: int, accuracy: float, noise: float) -> None:
    cell = Cell(design="uniform", chosen=AS_DECLARED, n=500, labels=labels, accuracy=accuracy, noise=noise)
    assert_rate_at_most(measured(cell, repeats=400)["alarms"], 400, 0.002)
    for chosen in ("all disagreements", "first rows"):
        # With 300 audited rows, all 240 disagreements of 2000 rows at most.
        assert measured(replace(cell, chosen=chosen, n=2000), repeats=40)["alarms"] == 40


def test_weighted_samples_hardly_ever_alarm_and_chosen_rows_do() -> None:
    cell = Cell(design="weighted", chosen=AS_DECLARED, n=500, labels=50, accuracy=0.94, noise=0.05, rare=0.02)
    drawn = measured(cell, repeats=200)
    assert_rate_at_most(drawn["alarms"], 200, 0.002)
    assert drawn["plain"] > 50  # what a normal interval would do
    for chosen in ("all disagreements", "probabilities halved"):
        assert measured(replace(cell, chosen=chosen, n=2000, labels=300), repeats=20)["alarms"] == 20


def test_weights_that_do_not_sum_to_the_rows_draw_a_warning() -> None:
    truth, given, old, new = pair()
    plan = draw_audit(2000, 100, disagreement=np.ones(2000), seed=1)
    good = Audit(plan.rows, truth[plan.rows], design="weighted", probabilities=plan.probabilities)
    assert not alarms(compare(old, new, given, audit=good).notes, "audit-not-weighted")
    halved = Audit(plan.rows, truth[plan.rows], design="weighted", probabilities=np.asarray(plan.probabilities) / 2)
    (note,) = alarms(compare(old, new, given, audit=halved).notes, "audit-not-weighted")
    assert "weights" in note.subject
    assert "the weights of all audited rows sum to 4000, 2000 expected" in note.message
