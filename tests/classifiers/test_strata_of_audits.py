"""Audits in strata: two random audits as one, a rare class, and an assumption on rows that nobody calls positive."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, norm, t

from demele.classifiers import assess, compare
from demele.core.errors import InputError, NotEnoughData
from demele.core.labelled import read_labelled
from demele.labels import Audit, AuditPlan, draw_audit, join_audits
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
    world = _world(0, share=0.05)
    _, labels, old, new = world
    first, second, apart = _audits(world, 1)
    for measure, audit in product(MEASURES, (first, join_audits(first, second, within=apart))):
        of = None if measure == "accuracy" else 1
        alone = assess(new, labels, audit=audit)[measure if of is None else (measure, of)].corrected
        both = compare(old, new, labels, audit=audit, measure=measure, of=of)  # type: ignore[arg-type]
        assert_exact([both.candidate.corrected.low, both.candidate.corrected.high], [alone.low, alone.high])


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


# A rare class, and an assumption on the rows that nobody calls positive -----------------------------------------------


N = 2000


def _rare_world(seed: int, *, hidden: float = 0.0, share: float = 0.03) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return the truth, labels, two classifiers, and the rows that one of the three calls positive."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(N) < share).astype(np.int64)
    seen = truth * (rng.random(N) >= hidden)

    def calls(positive: float, negative: float) -> Ints:
        found = np.where(seen == 1, rng.random(N) < positive, rng.random(N) >= negative)
        return np.where((truth == 1) & (seen == 0), 0, found).astype(np.int64)

    labels, old, new = calls(1.0, 0.99), calls(0.7, 0.98), calls(0.85, 0.98)
    return truth, labels, old, new, np.flatnonzero(labels | old | new)


def _recall(
    said: Ints, labels: Ints, audit: Audit, inference: Any = "test_set", measure: str = "recall", k: int = 2
) -> list[float]:
    data = read_labelled({"m": said}, labels, classes=list(range(k)))
    coded = audit.coded(data.vocabulary, labels.size)
    found = estimated(data, coded, measure, None if measure == "accuracy" else 1, inference=inference)
    return [float(end) for end in found[1:]]


def test_half_of_the_rows_are_drawn_among_those_within() -> None:
    plan = draw_audit(1000, 100, within=np.arange(100, 300), seed=1)
    inside = (plan.rows >= 100) & (plan.rows < 300)
    assert (plan.design, inside.sum(), np.unique(plan.rows).size) == ("stratified", 50, 100)
    assert not np.array_equal(plan.rows, draw_audit(1000, 100, within=np.arange(100, 300), seed=2).rows)
    few = draw_audit(1000, 100, within=np.arange(20), seed=1)
    assert_exact(np.sort(few.rows[:20]), np.arange(20))
    assert few.rows.size == 100
    nearly_all = draw_audit(100, 90, within=np.arange(95), seed=0)
    assert_exact(np.sort(nearly_all.rows[nearly_all.rows >= 95]), np.arange(95, 100))
    shares = np.bincount(np.concatenate([draw_audit(40, 10, within=np.arange(20), seed=s).rows for s in range(2000)]))
    assert np.abs(shares / 2000 - 0.25).max() < 0.05  # five standard errors
    answered = plan.answered([0] * 100, unseen_positives=0.01)
    assert (answered.design, answered.unseen_positives) == ("stratified", 0.01)


@pytest.mark.parametrize(
    ("size", "within"), [(10, range(20)), (1, [1]), (10, [20]), (10, [])], ids=["all rows", "one row", "beyond", "none"]
)
def test_strata_that_cannot_be_drawn(size: int, within: Any) -> None:
    refuses(InputError, "within: ", draw_audit, 20, size, within=list(within))
    refuses(InputError, "no disagreement", draw_audit, 20, 5, within=[1], disagreement=np.ones(20))


def _whole_stratum(*, most: float, found: int = 0) -> tuple[Ints, Ints, Audit]:
    """Return predictions and labels of 1,000 rows: 100 in the stratum are all audited, and 100 of the other 900.

    30 of the stratum are positive, 20 of them are predicted, with 5 others.
    """
    truth, said, labels = (np.zeros(1000, np.int64) for _ in range(3))
    truth[:30] = said[:20] = said[95:100] = labels[:10] = 1
    truth[100 : 100 + found] = 1
    rows = np.arange(200)
    within = np.arange(100)
    return said, labels, Audit(rows, truth[rows], design="stratified", within=within, unseen_positives=most)


def test_the_assumption_by_hand() -> None:
    """With the stratum known, recall is 20 / (30 + unseen), and at most so many are unseen as is assumed."""
    open_low, open_high = _recall(*_whole_stratum(most=1.0))
    for most, low in ((0.0, 20 / 30), (0.005, 20 / 34), (0.01, 20 / 39)):
        assert_close(_recall(*_whole_stratum(most=most)), [low, 20 / 30], ROUNDING)
        assert open_low < low
    assert open_high == pytest.approx(20 / 30)
    # An assumption that is weaker than what the audit shows changes nothing.
    assert_exact(_recall(*_whole_stratum(most=0.5)), [open_low, open_high])
    # One positive found: at least one is unseen, and the assumption allows 9.
    low, high = _recall(*_whole_stratum(most=0.01, found=1))
    assert_close(low, 20 / 39, ROUNDING)
    assert 20 / 32 < high <= 20 / 31
    # F1 = 2 TP / (predicted + true); all labels right: 20 + 65 in the stratum, and 900 less the unseen.
    assert_close(_recall(*_whole_stratum(most=0.005), measure="f1"), [40 / (25 + 34), 40 / (25 + 30)], ROUNDING)
    assert_close(_recall(*_whole_stratum(most=0.005), measure="accuracy"), [(85 + 896) / 1000, 0.985], ROUNDING)


def test_other_classes_are_left_open() -> None:
    """Among three classes, two of which are labels of the other rows, only the absent one is limited."""
    said, labels, audit = _whole_stratum(most=0.0)
    labels[600:], said[600:] = 2, 2
    truth = np.where(audit.rows < 100, np.asarray(audit.labels), labels[audit.rows])
    known = {most: Audit(audit.rows, truth, design="stratified", within=np.arange(100), unseen_positives=most)
             for most in (1.0, 0.0)}  # fmt: skip
    assert_close(_recall(said, labels, known[0.0], k=3), [20 / 30, 20 / 30], ROUNDING)
    assert _recall(said, labels, known[1.0], k=3)[0] < 0.5
    ends = [_recall(said, labels, one, measure="accuracy", k=3) for one in known.values()]
    assert_exact(ends[0], ends[1])


def test_what_contradicts_the_assumption_is_refused() -> None:
    said, labels, audit = _whole_stratum(most=0.0, found=1)
    refuses(InputError, r"a share of 0 \(0\) of the 900 rows .* 1 of 100 audited", assess, said, labels, audit=audit)
    refuses(InputError, "give a larger share", compare, said, labels, labels, audit=audit)
    said, labels, audit = _whole_stratum(most=0.01)
    labels[500] = 1
    refuses(InputError, "every class is the label of a row outside", assess, said, labels, audit=audit)
    refuses(InputError, "only for design 'stratified'", Audit, [0], [1], design="uniform", unseen_positives=0.1)
    with pytest.raises(InputError, match=r"a share of the rows in \[0, 1\]"):
        Audit([0], [1], design="stratified", within=[0], unseen_positives=1.5)


def test_assess_and_compare_say_the_same_and_name_the_assumption() -> None:
    truth, labels, old, new, within = _rare_world(3)
    plan: AuditPlan = draw_audit(N, 250, within=within, seed=3)
    for most in (1.0, 0.002):
        audit = plan.answered(truth[plan.rows], unseen_positives=most)
        alone = assess(old, labels, audit=audit)
        pair = compare(old, new, labels, audit=audit, measure="recall", of=1)
        corrected = alone["recall", 1].corrected, pair.baseline.corrected
        assert_exact([corrected[0].low, corrected[0].high], [corrected[1].low, corrected[1].high])
        named = [any("Assumed, not measured" in text for text in one.assumptions) for one in (alone, pair)]
        assert named == [most < 1] * 2
        notes = [[note.code for note in one.notes] for one in (alone, pair)]
        assert [("rare-class" in codes) for codes in notes] == [most == 1] * 2


def test_strata_narrow_the_difference_of_recalls() -> None:
    truth, labels, old, new, within = _rare_world(5)
    widths = []
    for plan in (draw_audit(N, 250, seed=5), draw_audit(N, 250, within=within, seed=5)):
        audit = plan.answered(truth[plan.rows])
        interval = compare(old, new, labels, audit=audit, measure="recall", of=1, inference="test_set").interval
        widths.append(interval.high - interval.low)
    assert widths[1] < 0.75 * widths[0]


@pytest.mark.long
@pytest.mark.parametrize("hidden", [0.0, 0.1])
def test_intervals_and_claims_keep_their_level(hidden: float) -> None:
    """95% less 3 standard errors of 300 draws: 91.2%; the assumption allows just so many as there are."""
    covered = np.zeros((300, 3))
    for draw in range(300):
        truth, labels, old, new, within = _rare_world(draw, hidden=hidden, share=0.02)
        plan = draw_audit(N, 250, within=within, seed=draw)
        value, other = ((said * truth).sum() / truth.sum() for said in (old, new))
        unseen = np.delete(truth, within).mean()
        audits = [plan.answered(truth[plan.rows], unseen_positives=most) for most in (1.0, float(unseen))]
        for place, audit in enumerate(audits):
            low, high = _recall(old, labels, audit)
            covered[draw, place] = low - 1e-9 <= value <= high + 1e-9
        gap = compare(old, new, labels, audit=audits[0], measure="recall", of=1, inference="test_set").interval
        covered[draw, 2] = gap.low - 1e-9 <= other - value <= gap.high + 1e-9
    assert (covered.mean(axis=0) >= 0.912).all(), covered.mean(axis=0)
