"""Audits: what is refused, what a drawn sample promises, and where models disagreement."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.labelled import Vocabulary
from demele.core.signature import Signature
from demele.labels import Audit, disagreement, draw_audit
from demele.noise.audit import inclusion_probabilities
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_at_most, assert_close, assert_exact

WORDS = Vocabulary(("cat", "dog"))


# What an expert says -------------------------------------------------------------------------------------------------


def test_an_audit_in_the_vocabulary_of_the_labels() -> None:
    coded = Audit([7, 2, 5], ["cat", "dog", "cat"], design="uniform").coded(WORDS, 30)
    assert_exact(coded.rows, [7, 2, 5])
    assert_exact(coded.labels, [0, 1, 0])
    assert coded.rows.dtype == np.intp
    assert coded.labels.dtype == np.int32
    assert_exact(coded.inclusion, [0.1, 0.1, 0.1])
    assert (coded.design, coded.n, coded.k) == ("uniform", 30, 3)


def test_inclusion_of_the_other_designs() -> None:
    weighted = Audit([0, 1], ["cat", "dog"], design="weighted", probabilities=[0.5, 1]).coded(WORDS, 4)
    assert_exact(weighted.inclusion, [0.5, 1.0])
    selective = Audit([0, 1], ["cat", "dog"], design="selective").coded(WORDS, 4)
    assert np.isnan(selective.inclusion).all()


def test_no_rows() -> None:
    for rows, message in [
        ([3, 5, 3, 5, 5], "each row once, got row 3 more than once"),
        ([1, -2], r"row numbers from 0, got -2 \(entry 1\)"),
        ([1.0, 2.0], r"of an integer type, got float64; use astype\(int\)"),
        ([True, False], r"got bool; use numpy.flatnonzero\(mask\)"),
        ([], "at least 1 row, got none"),
        ([[1], [2]], r"shape \(k,\), got shape \(2, 1\)"),
        (["a", "b"], "integer type"),
        (None, "NoneType"),
    ]:
        refuses(InputError, r"^rows: .*" + message, Audit, rows, ["cat", "dog"], design="uniform")


def test_rows_that_do_not_exist() -> None:
    audit = Audit([0, 40, 30, 29], [0, 1, 0, 1], design="uniform")
    refuses(InputError, r"^audit:", audit.coded, Vocabulary((0, 1)), 30)
    refuses(InputError, r"^other: names row 40 \(entry 1\)", audit.coded, Vocabulary((0, 1)), 31, "other")


def test_labels_of_an_audit() -> None:
    refuses(InputError, r"^labels: expected one per audited row, 2, got 1", Audit, [0, 1], [1], design="uniform")
    bird = Audit([0, 1], ["cat", "bird"], design="uniform")
    refuses(InputError, r"audit.labels: 1 of 2 values are not among the 2 classes 'cat', 'dog'", bird.coded, WORDS, 3)
    refuses(InputError, r"1 missing value, first at row 1", Audit, [0, 1], ["cat", None], design="uniform")


def test_designs() -> None:
    refuses(InputError, r"design: expected one of uniform, weighted, .*, got", Audit, [0], [0], design="random")
    refuses(InputError, r"probabilities: a weighted design needs", Audit, [0], [0], design="weighted")
    refuses(InputError, r"probabilities: only for design", Audit, [0], [0], design="uniform", probabilities=[0.5])
    for odd in (0.0, 1.5, np.nan):
        with pytest.raises(InputError, match=r"numbers in \(0, 1\], got 1 other, first .* of audited row 1"):
            Audit([0, 1], [0, 0], design="weighted", probabilities=[0.5, odd])
    refuses(InputError, r"probabilities: expected 1", Audit, [0], [0], design="weighted", probabilities=[0.5, 0.5])


# Drawing -------------------------------------------------------------------------------------------------------------


def test_a_uniform_plan() -> None:
    plan = draw_audit(50, 20, seed=3)
    assert len(set(plan.rows.tolist())) == 20
    assert plan.probabilities is None
    assert_exact(plan.rows, draw_audit(50, 20, seed=3).rows)
    assert_exact(plan.rows, draw_audit(50, 35, seed=3).rows[:20])
    assert plan.rows.tolist() != draw_audit(50, 20, seed=4).rows.tolist()
    audit = plan.answered(["cat"] * 20)
    assert_exact(audit.rows, plan.rows)
    assert audit.design == "uniform"
    assert sorted(draw_audit(50, 50).rows.tolist()) == list(range(50))


def test_weighted_inclusion_is_realised() -> None:
    n, size, repetitions = 60, 25, 6000
    rng = np.random.default_rng(0)
    doubts = np.where(rng.random(n) < 0.4, 0.0, rng.exponential(size=n))
    doubts[7] = 40.0  # drawn surely
    drawn, stated = np.zeros((repetitions, n)), np.full(n, np.nan)
    for seed in range(repetitions):
        plan = draw_audit(n, size, disagreement=doubts, seed=seed)
        assert plan.probabilities is not None
        drawn[seed, plan.rows] = 1
        stated[plan.rows] = plan.probabilities
    assert (drawn.sum(axis=1) == size).all()
    assert stated[7] == 1
    assert drawn[:, 7].all()
    # What the method leaves out of exactness is below 0.001 here; the rest is chance.
    error = np.sqrt(stated * (1 - stated) / repetitions)
    assert (abs(drawn.mean(axis=0) - stated) <= 5 * error + 0.001).all()
    # The estimate of a total by 1 / probability is right on average.
    values = rng.normal(size=n) + doubts
    totals = (drawn * values / stated).sum(axis=1)
    assert abs(totals.mean() - values.sum()) <= 5 * totals.std() / math.sqrt(repetitions) + 0.001 * abs(values).sum()


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30), st.integers(1, 30))
def test_inclusion_probabilities(weights: list[float], size: int) -> None:
    size = min(size, len(weights))
    chances = inclusion_probabilities(np.array(weights), size)
    assert_close(chances.sum(), size, ROUNDING)
    assert chances.max() <= 1
    assert chances.min() > 0
    free = chances < 1
    ratios = chances[free] / np.array(weights)[free]
    assert_close(ratios, np.full(ratios.size, ratios[0] if ratios.size else 0), ROUNDING)
    if free.any() and not free.all():  # a row is drawn surely only if its share would be 1 or more
        assert_at_most(1, np.array(weights)[~free] * ratios[0], ROUNDING)


def test_inclusion_by_hand() -> None:
    # 3 of weights 8, 1, 1, 1, 1: 3 * 8 / 12 > 1, so the first is sure and the others share 2 of 4.
    assert_close(inclusion_probabilities(np.array([1, 8.0, 1, 1, 1]), 3), [0.5, 1, 0.5, 0.5, 0.5], ROUNDING)
    # In turn: 2 of 5 and 3 make more than 1 once 100 is sure, then 1 of 1, 1.
    assert_close(inclusion_probabilities(np.array([100, 30, 1.0, 1]), 3), [1, 1, 0.5, 0.5], ROUNDING)


def test_floor_and_no_doubt() -> None:
    plan = draw_audit(10, 4, disagreement=np.zeros(10))
    assert plan.design == "weighted"
    assert_close(plan.probabilities, np.full(4, 0.4), ROUNDING)
    level = draw_audit(10, 4, disagreement=np.arange(10), floor=1)
    assert_close(level.probabilities, np.full(4, 0.4), ROUNDING)
    # floor 0.4, disagreement 0 or 2 in halves (mean 1): weights 0.4 and 1.6, so 0.08 and 0.32 with 2 of 10.
    half = draw_audit(10, 2, disagreement=np.repeat([0.0, 2.0], 5), seed=1)
    assert half.probabilities is not None
    assert_close(half.probabilities, np.where(half.rows < 5, 0.08, 0.32), ROUNDING)
    frame = half.to_frame()
    assert list(frame.columns) == ["row", "probability"]


def test_no_plan() -> None:
    for arguments, message in [
        ({"n": 5, "size": 6}, "size: expected at most 5 rows, as many as there are, got 6"),
        ({"n": 5, "size": 2, "disagreement": [1, 2]}, r"disagreement: expected 5 numbers, .* got shape \(2,\)"),
        ({"n": 2, "size": 1, "disagreement": [1, -2]}, "disagreement: .* got 1 other, first -2 of row 1"),
        ({"n": 2, "size": 1, "disagreement": [1, 2], "floor": 0}, r"floor: expected a number in \(0, 1\]"),
    ]:
        refuses(InputError, r"^" + message, draw_audit, **arguments)  # type: ignore[arg-type]


# Doubt ---------------------------------------------------------------------------------------------------------------


def test_doubt_by_hand() -> None:
    pool = [[0, 0, 0], [0, 1, 1], [0, 0, 2], [0, 0, 2]]
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    three = -(2 * 0.25 * math.log(0.25) + 0.5 * math.log(0.5))
    assert_close(disagreement(pool), [0, quarter**2, three**2], ROUNDING)


def test_doubt_of_two_models() -> None:
    assert_close(disagreement([[0, 1, 5], [0, 5, 1]]), [0, math.log(2) ** 2, math.log(2) ** 2], ROUNDING)
    named = {"old": ["a", "b"], "new": ["a", "c"]}
    assert_close(disagreement(named), [0, math.log(2) ** 2], ROUNDING)
    assert_close(disagreement(pd.DataFrame(named)), [0, math.log(2) ** 2], ROUNDING)


def test_doubt_refuses() -> None:
    refuses(NotEnoughData, r"at least 2 models", disagreement, [[0, 1]])
    refuses(InputError, r"the same n for all, got 2 rows for model 0 and 3 for", disagreement, [[0, 1], [0, 1, 1]])
    refuses(InputError, r"for labels; pass predictions.T", disagreement, [[0, 1], [0, 1], [1, 1]], labels=[0, 1, 1])
    refuses(InputTypeError, r"got NoneType", disagreement, None)
    refuses(InputError, r"cannot be matched", disagreement, [[0, 1], ["a", "b"]])


def test_series_and_other_containers() -> None:
    frame = pd.DataFrame({"row": [4, 1], "label": ["dog", "cat"]})
    audit = Audit(frame["row"], frame["label"], design="uniform")
    assert_exact(audit.coded(WORDS, 5).labels, [1, 0])
    assert audit.to_frame().equals(frame)


def test_reprs_stand_in_a_signature() -> None:
    audit = Audit(np.arange(500), np.zeros(500, dtype=int), design="uniform")
    for value in (audit, audit.coded(Vocabulary((0, 1)), 600), draw_audit(600, 500)):
        assert len(repr(value)) < 80
        text = str(Signature("compare", {"audit": value}, {"n": "600"}))
        assert str(Signature.parse(text)) == text
    other = Audit(np.arange(500), np.eye(500, dtype=int)[3], design="uniform")
    assert repr(other) != repr(audit)


def test_labels_are_one_more_model() -> None:
    pool = np.array([[0, 1], [0, 1]])
    assert_exact(disagreement(pool), [0, 0])
    assert_close(disagreement(pool, labels=[0, 0]), disagreement([*pool, [0, 0]]), ROUNDING)
    assert disagreement(pool, labels=[0, 0])[1] > 0
