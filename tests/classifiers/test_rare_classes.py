"""A rare class: an audit in strata, and an assumption on the rows that nobody calls positive."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demele.classifiers import assess, compare
from demele.core.errors import InputError
from demele.core.labelled import read_labelled
from demele.labels import Audit, AuditPlan, draw_audit
from tests.classifiers.audited import estimated
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

Ints = NDArray[np.int64]
N = 2000


def _world(seed: int, *, hidden: float = 0.0, share: float = 0.03) -> tuple[Ints, Ints, Ints, Ints, Ints]:
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
    truth, labels, old, new, within = _world(3)
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
    truth, labels, old, new, within = _world(5)
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
        truth, labels, old, new, within = _world(draw, hidden=hidden, share=0.02)
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
