"""What is left of a verdict if the expert errs: worked allowances, what stands and falls, simulated experts."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.expert_error import CELLS, question
from demele.classifiers import Audited, Sequential, SequentialComparison, assess, compare
from demele.classifiers.question import allowed_rows
from demele.core.arrays import rng_for
from demele.core.errors import DemeleError
from demele.labels import Audit, disagreement, draw_audit
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact


class Case:
    """2 000 rows of 10 classes, 5% wrong labels; 86 and 92% right; 300 audited by disagreement, 1 000 uniformly."""

    rng = rng_for(0, "expert errors")
    n = 2000
    truth = rng.integers(0, 10, n)
    old = np.where(rng.random(n) < 0.86, truth, (truth + 1) % 10)
    new = np.where(rng.random(n) < 0.92, truth, (truth + 2) % 10)
    given = np.where(rng.random(n) < 0.05, (truth + 4) % 10, truth)
    plan = draw_audit(n, 300, disagreement=disagreement([old, new]), seed=1)
    weighted = plan.answered(truth[plan.rows])
    rows = draw_audit(n, 1000, seed=1).rows
    uniform = Audit(rows, truth[rows], design="uniform")
    apart = int(np.count_nonzero(old != new))


def decide(**known: Any) -> Any:
    return compare(Case.old, Case.new, Case.given, **known)


def expecting(way: dict[str, Any], error: float) -> dict[str, Any]:
    """Return a way to compare, with an expert who may err."""
    made = Sequential if way.get("method") == "sequential" else Audited
    return {**way, "method": made(expert_error=error)}


WAYS: tuple[dict[str, Any], ...] = (
    {"audit": Case.weighted},
    {"audit": Case.weighted, "inference": "test_set"},
    {"audit": Case.weighted, "inference": "overlap"},
    {"audit": Case.uniform, "method": "sequential"},
    {"audit": Case.uniform, "method": "sequential", "inference": "test_set"},
)


@pytest.mark.parametrize("way", WAYS)
def test_an_expert_who_is_right_changes_nothing(way: dict[str, Any]) -> None:
    assert decide(**expecting(way, 0.0)).to_dict() == decide(**way).to_dict()


def test_intervals_stay_within_what_is_possible() -> None:
    for way in WAYS:
        found = compare(Case.old, Case.truth, Case.truth, **expecting(way, 0.5))
        apart = np.count_nonzero(Case.old != Case.truth) / Case.n
        most = 1.0 if found.inference == "population" else apart
        assert found.verdict == "inconclusive"
        assert -most <= found.interval.low <= found.difference <= found.interval.high <= most


def test_no_other_audit_is_recommended_where_the_expert_alone_leaves_it_open() -> None:
    few = Audit(Case.rows[:100], Case.truth[Case.rows[:100]], design="uniform")
    for error, told in ((0.0, True), (0.5, False)):
        found = decide(audit=few, method=Audited(expert_error=error))
        assert found.verdict == "inconclusive"
        assert ("weighted-audit" in [note.code for note in found.notes]) is told


def test_a_proved_verdict_has_no_expert_breakdown() -> None:
    plain, found = (decide(audit=Case.weighted, method=Audited(exact=exact)) for exact in (False, True))
    assert (plain.verdict, found.verdict) == ("candidate", "candidate")
    assert plain.expert_breakdown is not None
    assert found.expert_breakdown is None


def test_how_far_errors_of_the_expert_move_a_gap() -> None:
    asked = question(CELLS[0], rng_for(0, "tau"), 0)
    assert_exact(asked.counts().disagreements, [260])
    for error, tau in ((0.0, 0), (0.02, 2 * 5), (0.05, 2 * 13), (0.0038, 0), (1 / 26, 2 * 10), (0.5, 260), (1.0, 520)):
        assert_exact(allowed_rows(replace(asked, expert_error=error), np.array([260])), [tau])
    # Half of an odd number: two of five wrong leave a gap of one, which half does not promise.
    assert_exact(allowed_rows(replace(asked, expert_error=0.5), np.array([5])), [5])


@pytest.mark.parametrize("way", WAYS[:2] + WAYS[3:])
def test_errors_widen_the_intervals(way: dict[str, Any]) -> None:
    before, after = decide(**way), decide(**expecting(way, 0.02))
    reach = 2 * math.floor(0.02 * Case.apart) / Case.n
    if way.get("method") == "sequential":  # its rows are chosen by what the claim must exceed
        assert after.interval.low < before.interval.low
        assert before.interval.high < after.interval.high
        return
    was, now = before.interval, after.interval
    assert_close([now.low, now.high], [was.low - reach, was.high + reach], ROUNDING)
    assert_exact(after.difference, before.difference)
    was, now = before.candidate.corrected, after.candidate.corrected
    assert_close([now.low, now.high], [was.low - 0.02, was.high + 0.02], ROUNDING)
    assert after.p_value >= before.p_value
    assert "0.02 of all rows" in " ".join(after.assumptions)


@pytest.mark.parametrize("way", WAYS)
def test_the_expert_breakdown_is_the_largest_share_that_leaves_the_verdict(way: dict[str, Any]) -> None:
    found = decide(**way)
    assert found.verdict == "candidate"
    bears = found.expert_breakdown
    assert bears.disagreements == Case.apart
    assert 0 < bears.labels < Case.apart / 2
    assert decide(**expecting(way, bears.rate)).verdict == "candidate"
    assert decide(**expecting(way, bears.rate)).expert_breakdown.labels == bears.labels
    assert decide(**expecting(way, (bears.labels + 1) / bears.disagreements)).verdict == "inconclusive"
    turned = compare(Case.new, Case.old, Case.given, **way)
    assert (turned.verdict, turned.expert_breakdown) == ("baseline", bears)
    assert found.to_dict()["expert_breakdown"] == {"labels": bears.labels, "disagreements": Case.apart}
    assert bears.rate == bears.labels / Case.apart


def test_one_label_at_a_time() -> None:
    plain, careful = (SequentialComparison(Case.old, Case.new, Case.given, expert_error=error) for error in (0.0, 0.02))
    for comparison in (plain, careful):
        while not comparison.done:
            rows = comparison.ask(5)
            comparison.tell(rows, Case.truth[rows])
        found = comparison.decision()
        assert found.verdict == "candidate"
        assert found.expert_breakdown is not None
        assert "expert_breakdown" not in found.details
    assert careful.labels_used > plain.labels_used
    assert careful.decision().expert_breakdown.labels >= math.floor(0.02 * Case.apart)
    refuses(DemeleError, "state: comes from other", careful.resume, plain.to_dict())


def test_one_accuracy_both_ways() -> None:
    before, after = (assess(Case.new, Case.given, audit=Case.weighted, expert_error=e) for e in (0.0, 0.02))
    assert before.to_dict() == assess(Case.new, Case.given, audit=Case.weighted).to_dict()
    was, now = before["accuracy"].corrected, after["accuracy"].corrected
    assert_close([now.low, now.high], [was.low - 0.02, was.high + 0.02], ROUNDING)
    assert after["f1", 0].corrected is None
    assert "expert-error" in [note.code for note in after.notes]


def test_the_signature_says_what_was_allowed() -> None:
    assert "expert_error=0.02" in str(decide(audit=Case.weighted, method=Audited(expert_error=0.02)).signature)
    assert "expert_error" not in str(decide(audit=Case.weighted).signature)


def test_mistakes_are_named() -> None:
    known_cases: Any = [
        ({"expert_error": 2}, r"expert_error: .* got 2; for 2% write 0\.02"),
        ({"expert_error": "often"}, "expert_error: expected a share of the rows .* got 'often'"),
        ({"expert_error": None}, "expert_error: .* got None"),
    ]
    for known, message in known_cases:
        with pytest.raises(DemeleError, match=message):
            decide(audit=Case.weighted, method=Audited(**known))
        refuses(DemeleError, message, assess, Case.new, Case.given, audit=Case.weighted, **known)
        refuses(DemeleError, message, SequentialComparison, Case.old, Case.new, Case.given, **known)
    selective = Audit([0, 1], Case.truth[:2], design="selective")
    other_cases: Any = [
        ({"measure": "f1", "of": 1}, "expert_error: only for accuracy and error, got 'f1'"),
        ({"noise": 0.1, "audit": selective}, "expert_error: only for audits drawn at random"),
        ({"method": Audited(expert_error=0.02, exact=True)}, "expert_error and exact: the proved verdict takes"),
    ]
    for known, message in other_cases:
        refuses(DemeleError, message, decide, **{"audit": Case.weighted, "method": Audited(expert_error=0.02), **known})


def test_without_an_expert_there_is_none_to_err() -> None:
    refuses(DemeleError, "expert_error: is of a random audit", assess, Case.new, Case.given, expert_error=0.01)
