"""Mean scores that are trusted, partly wrong, or audited: check values, laws, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demele.classifiers import RowScores, SequentialComparison, compare, rank
from demele.classifiers.audit_plausibility import audit_alarms
from demele.classifiers.intervals import exact_mean_ends, score_wealth
from demele.classifiers.mean_scores import bounded_mean, breakdown, trusted_mean
from demele.classifiers.pooled_strata import pooled_strata
from demele.classifiers.row_scores import item_means
from demele.core.errors import DemeleError, InputError, NotEnoughData
from demele.labels import Audit, join_audits
from tests.classifiers.audited import audited_mean
from tests.classifiers.test_pooled_strata import binary, counted
from tests.refusals import refuses

FIRST = [1, 0, 1, 1, 0, 1, 0.5, 1, 0, 1, 1, 0.5]
SECOND = [1, 1, 1, 0, 0, 1, 1, 1, 0.5, 1, 0, 1]
GROUPS = [0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]


def three(mean: Any) -> tuple[float, float, float]:
    """Return the value and both ends."""
    return mean.value, mean.low, mean.high


# Trusted --------------------------------------------------------------------------------------------------------------


def test_a_mean_and_a_difference() -> None:
    mean = trusted_mean(RowScores(FIRST))
    assert (*three(mean), mean.error) == pytest.approx((0.666667, 0.384682, 0.948652, 0.128118), abs=1e-6)
    difference = trusted_mean(RowScores(SECOND).minus(RowScores(FIRST)))
    assert (difference.value, difference.error) == pytest.approx((0.041667, 0.168081), abs=1e-6)


def test_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demele.classifiers.mean_scores.LEAST_GROUPS", 2)
    first, second = (RowScores(values, group=GROUPS) for values in (FIRST, SECOND))
    mean = trusted_mean(first)
    assert (mean.error, mean.low, mean.high) == pytest.approx((0.065881, 0.483752, 0.849581), abs=1e-6)
    assert trusted_mean(second.minus(first)).error == pytest.approx(0.150051, abs=1e-6)
    apart = trusted_mean(RowScores(FIRST, group=np.arange(12)))
    assert apart.error == pytest.approx(trusted_mean(RowScores(FIRST)).error, abs=1e-15)
    assert [note.code for note in mean.notes] == ["few-groups"]


def test_few_groups_are_refused() -> None:
    refuses(NotEnoughData, "5", trusted_mean, RowScores(FIRST, group=GROUPS))


def test_epochs_are_averaged() -> None:
    items = ["1101", "0001", "1111", "0101", "0000", "1011"]
    values = [int(letter) for item in items for letter in item]
    scores, names, spread = item_means(values, np.repeat(list("abcdef"), 4))
    assert names == tuple("abcdef")
    assert scores.mean == pytest.approx(0.541667, abs=1e-6)
    assert (spread.within, spread.between, spread.correlation) == pytest.approx((0.180556, 0.090278, 1 / 3), abs=1e-6)
    assert trusted_mean(scores).error == pytest.approx(0.150231, abs=1e-6)
    errors = [spread.error(epochs) for epochs in (1, 16, np.inf)]
    assert errors == pytest.approx([0.212459, 0.130104, 0.122663], abs=1e-6)


def tasks(weight: Any = None) -> RowScores:
    """Return three tasks of unequal size."""
    parts = [(200, 162), (50, 31), (1000, 930)]
    given = np.concatenate([np.repeat([1.0, 0], [hits, n - hits]) for n, hits in parts])
    task = np.repeat(list("abc"), [n for n, _ in parts])
    return RowScores(given, task=task, weight=None if weight is None else np.repeat(weight, [n for n, _ in parts]))


def test_tasks_count_the_same_unless_weighted() -> None:
    mean = trusted_mean(tasks())
    assert (*three(mean), mean.error) == pytest.approx((0.786667, 0.736672, 0.836661, 0.025048), abs=1e-6)
    assert mean.degrees == pytest.approx(67.1529, abs=1e-4)
    mean = trusted_mean(tasks([0.5 / 200, 0.3 / 50, 0.2 / 1000]))
    assert (*three(mean), mean.error) == pytest.approx((0.777, 0.727246, 0.826754, 0.025074), abs=1e-6)
    assert mean.degrees == pytest.approx(98.5773, abs=1e-4)


# Bounded --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "ends"), [(0.1, (0.7, 0.875)), (0.2, (0.6, 0.925)), (0.3, (0.5, 0.975))])
def test_wrong_scores_move_a_mean_so_far(rate: float, ends: tuple[float, float]) -> None:
    bound = bounded_mean(RowScores([1, 1, 1, 0.75, 0.5, 1, 0.25, 1, 0.5, 1]), rate)
    assert (bound.low, bound.high) == pytest.approx(ends, abs=1e-12)
    wider = bounded_mean(RowScores([1, 1, 1, 0.75, 0.5, 1, 0.25, 1, 0.5, 1]), rate, inference="population")
    assert wider.low < bound.low
    assert wider.high > bound.high


def test_a_lead_breaks_down_with_so_many_wrong_rows_or_verdicts() -> None:
    first, second = (RowScores([int(letter) for letter in text]) for text in ("1111011011", "1010010011"))
    lead = first.minus(second)
    assert lead.mean == pytest.approx(0.3)
    assert sorted(lead.down, reverse=True) == [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    assert (breakdown(lead), breakdown(second.minus(first)), breakdown(lead, unit="verdict")) == (2, 2, 3)
    assert bounded_mean(lead, 0.15, unit="verdict").low == pytest.approx(0)
    assert bounded_mean(lead, 0.2).low <= 0 < bounded_mean(lead, 0.1).low


def test_a_known_reach_bounds_more() -> None:
    scores = RowScores([1, 1, 0, 0.5], reach=([0.5, 1, 0, 0.1], [0, 0, 0.2, 0.1]))
    assert (bounded_mean(scores, 0.25).low, bounded_mean(scores, 0.25).high) == pytest.approx((0.375, 0.675))
    assert breakdown(scores, gate=0.05) == 0
    scores = RowScores([1, 0.75], reach=([2, 1], [1, 1]))  # further than the scale goes
    assert (scores.down.tolist(), scores.up.tolist()) == ([1, 0.75], [0, 0.25])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_pattern_of_wrong_rows_stays_within_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given_scores = rng.choice([0, 0.5, 1], 7)
    true = given_scores.copy()
    rows = rng.permutation(7)[:2]
    true[rows] = rng.random(2)
    bound = bounded_mean(RowScores(given_scores), 2 / 7)
    assert bound.low - 1e-12 <= true.mean() <= bound.high + 1e-12


# Audited --------------------------------------------------------------------------------------------------------------


def test_a_preference_is_on_its_own_scale() -> None:
    rng = np.random.default_rng(4)
    true = rng.choice([-1.0, 0, 1], 1000, p=[0.25, 0.35, 0.4])
    scores = np.where(rng.random(1000) < 0.8, true, rng.choice([-1.0, 0, 1], 1000))
    rows = rng.permutation(1000)[:50]
    mean = audited_mean(RowScores(scores, -1, 1), Audit(rows, true[rows], design="uniform"))
    assert [stratum.least for stratum in mean.strata] == [-1, 0, 1]
    assert sum(stratum.audited for stratum in mean.strata) == 50


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(0, 1), (1, 5), (-1, 1), (-3.7, 0.2)]))
def test_the_scale_does_not_matter(seed: int, ends: tuple[float, float]) -> None:
    rng = np.random.default_rng(seed)
    levels = int(rng.choice([2, 5, 40]))
    true = np.round(rng.random(200) * levels) / levels
    scores = np.where(rng.random(200) < 0.7, true, np.round(rng.random(200) * levels) / levels)
    rows, (low, high) = rng.permutation(200)[:30], ends

    def moved(values: Any) -> Any:
        return np.clip(low + (high - low) * values, low, high)

    mean = audited_mean(RowScores(scores), Audit(rows, true[rows], design="uniform"), gate=0.3)
    audit = Audit(rows, moved(true[rows]), design="uniform")
    other = audited_mean(RowScores(moved(scores), low, high), audit, gate=float(moved(0.3)))
    np.testing.assert_allclose(three(other), [moved(one) for one in three(mean)], atol=1e-10)
    assert other.p_value == pytest.approx(mean.p_value, abs=1e-9)
    reference, again = mean.asymptotic, other.asymptotic
    expected = [low + (high - low) * end for end in (reference.low, reference.high)]
    np.testing.assert_allclose((again.low, again.high), expected)


def two_tasks() -> tuple[RowScores, Audit]:
    """Return the first and the third counts as two tasks."""
    parts = [counted(1900, 100, 47, 0, 0, 3), counted(1800, 200, 84, 6, 4, 6)]
    scores = RowScores(np.concatenate([part[0] for part in parts]), task=np.repeat(["a", "b"], 2000))
    rows = np.concatenate([parts[0][1], parts[1][1] + 2000])
    return scores, Audit(rows, np.concatenate([part[2] for part in parts]), design="uniform")


def test_tasks_add_in_quadrature() -> None:
    scores, audit = two_tasks()
    mean = audited_mean(scores, audit)
    assert three(mean) == pytest.approx((0.915, 0.875297, 0.942069), abs=1e-6)
    assert mean.given == pytest.approx(0.925)


def test_tasks_with_few_labels_are_pooled() -> None:
    scores, audit = two_tasks()
    kept = np.r_[0:50, 50:55, 140:145]
    mean = audited_mean(scores, Audit(audit.rows[kept], audit.scores[""][kept], design="uniform"))
    assert "few-per-task" in {note.code for note in mean.notes}
    assert mean.low < mean.value < mean.high


def test_alike_rows_of_a_group_widen_the_interval() -> None:
    rng = np.random.default_rng(11)
    group = np.repeat(np.arange(200), 10)
    true = (rng.random(200) < 0.8).astype(float)[group]
    scores = np.where(true > 0, rng.random(2000) < 0.97, rng.random(2000) > 0.7).astype(float)
    rows = rng.permutation(2000)[:300]
    audit = Audit(rows, true[rows], design="uniform")
    apart, grouped = audited_mean(RowScores(scores), audit), audited_mean(RowScores(scores, group=group), audit)
    assert grouped.value == apart.value
    assert grouped.high - grouped.low > 1.3 * (apart.high - apart.low)
    alone = audited_mean(RowScores(scores, group=group), audit, inference="test_set")
    assert three(alone) == three(audited_mean(RowScores(scores), audit, inference="test_set"))


def test_humans_who_err() -> None:
    scores, rows, true = counted(1800, 200, 84, 6, 4, 6)
    mean = audited_mean(RowScores(scores), Audit(rows, true, design="uniform"), gate=0.8)
    moved = audited_mean(RowScores(scores), Audit(rows, true, design="uniform"), gate=0.8, expert_error=0.01)
    assert (moved.low, moved.high) == pytest.approx((mean.low - 0.01, mean.high + 0.01))
    assert moved.p_value > mean.p_value
    at = audited_mean(RowScores(scores), Audit(rows, true, design="uniform"), gate=0.8, expert_error=0.014841300)
    assert at.low > 0.8


# One label at a time --------------------------------------------------------------------------------------------------


def test_the_proved_interval() -> None:
    rng, true, scores = binary(1)
    rows = rng.permutation(2000)[:50]
    assert exact_mean_ends(scores, rows, true[rows], 0.025) == pytest.approx((0.715397, 0.978153), abs=1e-5)
    mean = audited_mean(RowScores(scores), Audit(rows, true[rows], design="uniform"), exact=True, inference="test_set")
    assert (mean.low, mean.high) == pytest.approx((0.715397, 0.978153), abs=1e-5)
    assert mean.value == pytest.approx(0.883467, abs=1e-6)


def test_evidence_after_each_draw_is_infinite_once_the_draws_contradict_the_claim() -> None:
    rng = np.random.default_rng(1)
    true = (rng.random(200) < 0.95).astype(float)
    scores = np.where(rng.random(200) < 0.95, true, 1 - true)
    evidence = score_wealth(scores, np.arange(200), true, 0.85)
    assert evidence[[19, 49, 99]] == pytest.approx([1.271338, 3.699601, 10.786385], abs=1e-6)
    assert score_wealth(np.ones(10), np.arange(6), np.ones(6), 0.5)[-1] == np.inf


def asked_to_the_end(comparison: SequentialComparison, true: Any) -> Any:
    """Answer row by row until a decision, and return it."""
    while not comparison.done:
        rows = comparison.ask()
        comparison.tell(rows, true[rows])
    return comparison.decision()


@pytest.mark.parametrize("ends", [(0.0, 1.0), (1.0, 5.0)])
def test_one_label_at_a_time(ends: tuple[float, float]) -> None:
    """As many labels as evidence of the draws needs, on any scale and from either side, and proved intervals."""
    low, width = ends[0], ends[1] - ends[0]
    rng = np.random.default_rng(1)
    true = (rng.random(200) < 0.95).astype(float)
    scores = np.where(rng.random(200) < 0.95, true, 1 - true)
    given, gate = RowScores(low + width * scores, *ends), low + width * 0.85
    comparison = SequentialComparison(given, gate=gate, inference="test_set", seed=3)
    order = comparison.ask(200)
    assert sorted(order.tolist()) == list(range(200))
    needed = int(np.argmax(score_wealth(scores, order, true[order], 0.85) >= np.log(40))) + 1
    judged = asked_to_the_end(comparison, low + width * true)["system"]
    assert (judged.verdict, comparison.labels_used) == ("above", needed)
    below = SequentialComparison(RowScores(1 - scores), gate=0.15, inference="test_set", seed=3)
    assert asked_to_the_end(below, 1 - true)["system"].verdict == "below"
    assert below.labels_used == needed
    assert below.wealth["baseline"] >= 40 > below.wealth["candidate"]
    new = SequentialComparison(given, gate=gate, seed=3)
    asked_to_the_end(new, low + width * true)
    assert new.labels_used > needed


def test_two_systems_one_label_at_a_time() -> None:
    rng = np.random.default_rng(4)
    true = rng.random((2, 600)) < np.array([0.6, 0.8])[:, None]
    first, second = (RowScores(np.where(rng.random(600) < 0.95, one, ~one)) for one in true)
    made = SequentialComparison(first, second, inference="test_set")
    rows = made.ask(8)
    made.tell(rows, true[:, rows].T)
    again = SequentialComparison(first, second, inference="test_set")
    again.resume(made.to_dict())
    assert again.labels_used == made.labels_used == 8
    assert again.decision().verdict == "inconclusive"
    assert again.expected_labels > 0
    judged = asked_to_the_end(again, true.T)
    assert judged.verdict == "candidate"
    assert judged["candidate - baseline"].corrected.low > 0
    assert str(again.labels_used) in str(again)
    refuses(InputError, "cannot be changed", again.tell, rows[:1], [[0.5, 0.5]])
    with pytest.raises(InputError, match="other predictions"):
        SequentialComparison(second, first, inference="test_set").resume(made.to_dict())
    refuses(InputError, "gate: expected the scores of two systems", SequentialComparison, first)
    refuses(InputError, "gate: expected the scores of two systems", SequentialComparison, first, second, gate=0.5)
    refuses(InputError, "without tasks, groups", SequentialComparison, RowScores([1, 0], weight=[1, 2]), gate=0.5)
    with pytest.raises(InputError, match="gate: is for the scores"):
        SequentialComparison([1, 0] * 30, [1, 1] * 30, [0, 1] * 30, gate=0.5)


def test_a_joined_audit_of_scores_weighs_rows_by_their_stratum_and_names_unclear_ones() -> None:
    rng = np.random.default_rng(3)
    scores, within = RowScores(rng.random(400)), np.arange(100)
    rows = np.r_[rng.permutation(100)[:40], 100 + rng.permutation(300)[:30]]
    true = np.clip(scores.given[rows] + 0.1 * rng.standard_normal(70), 0, 1)
    joined = audited_mean(scores, Audit(rows, true, design="stratified", within=within, unclear=3))
    weighted = Audit(rows, true, design="weighted", probabilities=np.where(rows < 100, 0.4, 0.1))
    assert three(joined) == pytest.approx(three(audited_mean(scores, weighted)), rel=1e-12)
    assert "audit-unclear" in {note.code for note in joined.notes}


def test_audits_of_scores_and_of_classes_are_not_exchanged() -> None:
    said = Audit([0, 1], [0.5, 1], design="uniform")
    refuses(InputError, "has scores, where classes are expected", compare, [1, 0, 1], [1, 1, 1], [1, 0, 0], audit=said)
    refuses(InputError, "expected audits of classes", join_audits, said, said, within=[0, 1])
    words = Audit([0, 1], ["good", "bad"], design="uniform")
    refuses(InputError, "labels: expected numbers", audited_mean, RowScores([1, 0, 1]), words)
    assert said.of("").scores_of("any").tolist() == [0.5, 1]
    assert list(Audit([4], {"A": [1], "B": [None]}, design="uniform").to_frame()) == ["row", "A", "B"]


# Audits that do not look random ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("failures", "alarm"), [(22, False), (40, True)])
def test_an_audit_of_too_many_failures_is_named(failures: int, alarm: bool) -> None:
    scores = np.repeat([0.0, 1.0], [215, 985])
    rng = np.random.default_rng(7)
    rows = np.r_[rng.permutation(215)[:failures], 215 + rng.permutation(985)[: 120 - failures]]
    order = rng.permutation(1200)
    place = np.empty(1200, dtype=int)
    place[order] = np.arange(1200)
    notes = audit_alarms(RowScores(scores[order]), Audit(place[rows], np.ones(120), design="uniform"))
    assert [note.code for note in notes] == ["audit-not-uniform"] * alarm
    if alarm:
        assert "40 of 120 audited rows are of one given score, 21.5 expected. The estimate allows" in notes[0].message


def test_an_audit_of_the_first_rows_is_named() -> None:
    scores = np.tile([0.0, 1, 1, 1], 300)
    (note,) = audit_alarms(RowScores(scores), Audit(np.arange(120), np.ones(120), design="uniform"))
    assert "row number" in note.message


# Bad input ------------------------------------------------------------------------------------------------------------

TWO = Audit([0, 1], [1, 1], design="uniform")
OF_TWO = Audit([0, 1], {"A": [1, 1], "B": [1, 1]}, design="uniform")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: RowScores([0, 1.5, 1]), "row 1 is 1.5"),
        (lambda: RowScores([0, 1], low=1, high=1), "high"),
        (lambda: RowScores([0, np.inf]), "inf"),
        (lambda: RowScores([]), "score per row"),
        (lambda: RowScores([0, 1], weight=[0, 0]), "weight"),
        (lambda: RowScores([0, 1], group=[1]), "group"),
        (lambda: RowScores([0, 1], reach=([0, 1], [0, -1])), "reach"),
        (lambda: audited_mean(RowScores([0, 1, 1]), Audit([0, 1], [1, 5], design="uniform")), "reach 5"),
        (lambda: audited_mean(RowScores([0, 1, 1]), Audit([0], [1], design="uniform")), "at least 2"),
        (lambda: audited_mean(RowScores([0, 1, 1]), Audit([0, 7], [1, 1], design="uniform")), "row 7"),
        (lambda: audited_mean(RowScores([0, 1, 1]), Audit([0, 1], [1, 1], design="selective")), "selective"),
        (lambda: audited_mean(RowScores([0, 1, 1]), TWO, gate=2), "gate"),
        (lambda: audited_mean(RowScores([0, 1, 1], weight=[1, 2, 3]), TWO, exact=True), "exact: is proved"),
        (lambda: audited_mean(RowScores([0, 1, 1]), OF_TWO), "2 systems"),
        (lambda: Audit([0, 1], {"A": [1, 1]}, design="uniform").of("C"), "'C'"),
        (lambda: RowScores([0, 1]).minus(RowScores([0, 1, 1])), "2 rows"),
        (lambda: RowScores([0, 1], task=[0, 1]).minus(RowScores([0, 1])), "task"),
        (lambda: trusted_mean(RowScores([None, None])), "no row has a score"),
    ],
)
def test_bad_input_is_refused(make: Any, says: str) -> None:
    refuses(DemeleError, says, make)


def test_missing_scores_are_left_out_and_counted() -> None:
    scores = RowScores([1, None, 0, 1, np.nan, 1, 1, 0] * 5)
    mean = trusted_mean(scores)
    assert mean.value == pytest.approx(4 / 6)
    assert [(note.code, note.severity) for note in mean.notes] == [("unscored", "warning")]
    found = audited_mean(scores, Audit([1, 0, 2, 3, 8], [1, 1, 0, np.nan, 0], design="uniform"))
    kept = np.array([1.0, 0, 1, 1, 1, 0] * 5)
    assert found.value == pytest.approx(float(pooled_strata(kept, np.array([0, 1, 6]), np.array([1.0, 0, 0])).value))


def test_all_rows_audited() -> None:
    scores, audit = RowScores([1, 0, 1, 1] * 10), Audit(np.arange(40), [1, 0.5, 1, 0] * 10, design="uniform")
    alone = audited_mean(scores, audit, inference="test_set", gate=0.5)
    assert three(alone) == pytest.approx((0.625, 0.625, 0.625))
    assert alone.p_value == 0
    erring = audited_mean(scores, audit, inference="test_set", gate=0.5, expert_error=0.2)
    assert (*three(erring), erring.p_value) == pytest.approx((0.625, 0.425, 0.825, 1))
    systems = {"A": scores, "B": RowScores([0, 1, 1, 1] * 10)}
    both = Audit(audit.rows, {"A": audit.scores[""], "B": audit.scores[""]}, design="uniform")
    for inference in ("test_set", "population"):
        equal = rank(systems, audit=both, inference=inference, expert_error=0.1).differences[0]
        assert (equal.value, equal.verdict, equal.p_value) == (0, "inconclusive", 1)
    new = audited_mean(scores, audit, gate=0.5)
    assert three(new) == pytest.approx(three(trusted_mean(RowScores([1, 0.5, 1, 0] * 10))))


def test_notes_of_constant_and_perfect_judges() -> None:
    uniform: dict[str, Any] = {"design": "uniform"}
    weighted = {"design": "weighted", "probabilities": np.where(np.arange(20) < 2, 0.01, 0.9)}
    for scores, rows, true, design, code in (
        (np.ones(200), np.arange(0, 200, 5), [1.0] * 30 + [0] * 10, uniform, "judge-constant"),
        (np.tile([1.0, 0], 100), np.arange(2, 162, 5), np.tile([1.0, 0], 16), uniform, "judge-nearly-perfect"),
        (np.repeat([1.0, 0], [180, 20]), np.arange(3, 170, 8), [1.0] * 20 + [0], uniform, "stratum-unaudited"),
        (np.ones(200), np.arange(0, 200, 10), [1.0] * 18 + [0] * 2, weighted, "weights-uneven"),
    ):
        audit = Audit(rows, true, **design)
        assert code in {note.code for note in audited_mean(RowScores(scores), audit).notes}


def test_a_task_of_one_group_is_refused() -> None:
    rng = np.random.default_rng(0)
    groups = np.where(np.arange(500) < 250, np.arange(500) % 25, 99)
    scores = RowScores(rng.random(500) < 0.7, task=groups == 99, group=groups)
    rows = np.sort(rng.permutation(500)[:200])
    audit = Audit(rows, scores.given[rows], design="uniform")
    refuses(NotEnoughData, "2 rows or groups in each task", audited_mean, scores, audit)
