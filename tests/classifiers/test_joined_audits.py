"""Two random audits as one: rows drawn among all, and rows drawn where classifiers disagree."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, norm, t

from demele.classifiers import assess, compare
from demele.core.errors import InputError, NotEnoughData
from demele.core.labelled import read_labelled
from demele.labels import Audit, draw_audit, join_audits
from tests.classifiers.audited import estimated
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

Ints = NDArray[np.int64]
MEASURES = ("accuracy", "precision", "recall", "f1")


def _world(
    seed: int, *, n: int = 2000, share: float = 0.4, right: float = 0.88, apart: float = 0.15
) -> tuple[Ints, ...]:
    """Return the truth, given labels of which 6% are wrong, and two classifiers; class 1 has a share of the rows."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < share).astype(np.int64)
    labels = np.where(rng.random(n) < 0.06, 1 - truth, truth)
    old = np.where(rng.random(n) < right, truth, 1 - truth)
    new = np.where(rng.random(n) < apart, np.where(rng.random(n) < 0.7, truth, 1 - truth), old)
    return truth, labels, old, new


def _audits(world: tuple[Ints, ...], seed: int, *, first: int = 150, second: int = 60) -> tuple[Audit, Audit, Ints]:
    """Return a random audit, a second one among the disagreements that it left, and all disagreements."""
    truth, _, old, new = world
    apart = np.flatnonzero(old != new)
    plan = draw_audit(truth.size, first, seed=seed)
    left = np.setdiff1d(apart, plan.rows)
    more = left[draw_audit(left.size, min(second, left.size), seed=seed).rows]
    return plan.answered(truth[plan.rows]), Audit(more, truth[more], design="uniform"), apart


def test_compare_and_assess_say_the_same_of_a_classifier() -> None:
    measure_cases: Any = MEASURES
    joined_cases: Any = [False, True]
    for measure in measure_cases:
        for joined in joined_cases:
            world = _world(0, share=0.05)
            _, labels, old, new = world
            first, second, apart = _audits(world, 1)
            audit = join_audits(first, second, within=apart) if joined else first
            of = None if measure == "accuracy" else 1
            alone = assess(new, labels, audit=audit)[measure if of is None else (measure, of)].corrected
            beside = compare(old, new, labels, audit=audit, measure=measure, of=of).candidate.corrected
            assert_exact([beside.low, beside.high], [alone.low, alone.high])


def test_probabilities_of_a_joined_audit_by_hand() -> None:
    first = Audit([0, 3, 6, 9], ["a", "b", "a", "b"], design="uniform")
    second = Audit([1, 2], ["b", "b"], design="uniform", unclear=1)
    data = read_labelled({"m": ["a", "b"] * 5}, ["a", "b"] * 5)
    coded = join_audits(first, second, within=[0, 1, 2, 4, 5]).coded(data.vocabulary, 10)
    # 3 of the 5 rows within, 3 of the other 5; and with 8 rows in all, 3 of 3.
    assert_exact(coded.inclusion, [0.6] * 6)
    assert coded.unclear == 1
    assert_exact(1 / coded.inclusion @ np.ones(6), 10.0)
    again = Audit([0, 1], ["a", "b"], design="uniform")  # drawn among all of `within`: one row met twice
    assert join_audits(first, again, within=[0, 1, 2]).k == 5


def test_a_stratum_that_was_audited_whole_leaves_the_interval_of_the_other() -> None:
    # 40 rows audited whole, all wrong for the classifier; of the other 960, a random 100 with 3 wrong labels.
    n, within = 1000, np.arange(40)
    truth, said = np.zeros(n, np.int64), np.zeros(n, np.int64)
    said[within] = 1
    rows = np.arange(40, 140)
    truth[rows[:3]] = 1
    first = Audit(np.r_[rows, 0], truth[np.r_[rows, 0]], design="uniform")
    audit = join_audits(first, Audit(within[1:], truth[within[1:]], design="uniform"), within=within)
    data = read_labelled({"m": said}, np.zeros(n, np.int64), classes=[0, 1])
    value, low, high = estimated(data, audit.coded(data.vocabulary, n), "accuracy", inference="test_set")
    assert_close(value, 960 * 0.97 / n, ROUNDING)
    # Jeffreys' law of 97 in 100, with the variance of the share that was not audited, and the t quantile.
    law = beta(97.5, 3.5)
    mean, variance = law.mean(), law.var() * (1 - 100 / 960)
    size = mean * (1 - mean) / variance - 1
    bounds = beta.ppf([0.025, 0.975], mean * size, (1 - mean) * size)
    wider = t.ppf(0.975, 140 - 2) / norm.ppf(0.975)
    assert_close([low, high], [960 * (0.97 + wider * (end - 0.97)) / n for end in bounds], SOLVER)


@pytest.mark.parametrize(
    ("first", "second", "within", "message"),
    [
        (Audit([0], [1], design="selective"), Audit([1], [1], design="uniform"), [1], "first: expected an audit of"),
        (Audit([0], [1], design="uniform"), Audit([1], [1], design="selective"), [1], "second: expected an audit of"),
        (Audit([0], [1], design="uniform"), Audit([2, 1], [1, 1], design="uniform"), [1], "first row 2"),
        (
            Audit([1], [1], design="uniform"),
            Audit([1], [0], design="uniform"),
            [1],
            "row 1 is 1 in one, 0 in",
        ),
        (Audit([1], [1], design="uniform"), Audit([2], ["a"], design="uniform"), [2], "labels: "),
        (Audit([1], [1], design="uniform"), 3, [2], "expected demele's Audit, got int"),
    ],
)
def test_what_cannot_be_joined(first: Any, second: Any, within: Any, message: str) -> None:
    refuses(InputError, message, join_audits, first, second, within=within)


def test_a_stratum_without_an_audited_row_is_refused() -> None:
    audit = join_audits(Audit([0], [1], design="uniform"), Audit([1], [1], design="uniform"), within=[0, 1, 2])
    refuses(NotEnoughData, "outside the 3 rows", assess, [1, 0, 1, 0], [1, 1, 1, 0], audit=audit)
    with pytest.raises(InputError, match="names row 9"):
        assess([1, 0], [1, 0], audit=Audit([0, 1], [1, 0], design="stratified", within=[9]))
    refuses(InputError, "only for design 'stratified'", Audit, [0], [1], design="uniform", within=[1])


@pytest.mark.long
@pytest.mark.parametrize(("share", "apart"), [(0.4, 0.15), (0.03, 0.15), (0.4, 0.02), (0.03, 0.02)])
def test_joined_audits_keep_their_level_and_never_widen_an_interval(share: float, apart: float) -> None:
    """The corners: a rare class, few disagreements, both. 95% less 3 standard errors of 300 draws: 91.2%."""
    draws = 300
    found = {measure: np.zeros((draws, 3)) for measure in MEASURES}
    for draw in range(draws):
        world = _world(draw, share=share, apart=apart)
        truth, labels, _, new = world
        first, second, disagreements = _audits(world, draw)
        joined = join_audits(first, second, within=disagreements)
        data = read_labelled({"new": new}, labels, classes=[0, 1])
        both = np.count_nonzero((new == 1) & (truth == 1))
        says, has = np.count_nonzero(new), np.count_nonzero(truth)
        right = [float((new == truth).mean()), both / says, both / has, 2 * both / (says + has)]
        for measure, value in zip(MEASURES, right, strict=True):
            of = None if measure == "accuracy" else 1
            coded = [one.coded(data.vocabulary, truth.size) for one in (first, joined)]
            ends = [estimated(data, one, measure, of, inference="test_set")[1:] for one in coded]
            widths = [high - low for low, high in ends]
            found[measure][draw] = *widths, ends[1][0] - 1e-9 <= value <= ends[1][1] + 1e-9
    for measure, table in found.items():
        width, joined_width, _ = np.median(table, axis=0)
        assert joined_width <= 1.05 * width, measure
        assert table[:, 2].mean() >= 0.912, measure
