"""Expert labels one at a time: what is asked, what counts, and that the promises hold."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.classifiers.comparison.sequential import SequentialComparison
from demele.classifiers.comparison.sequential_plan import Plan, sequential, sequential_many
from demele.classifiers.intervals import overlap_gap, sampling_gap
from demele.classifiers.question import Inference, Question
from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import Indices
from demele.core.signature import Signature
from demele.noise.audit import Audit, draw_audit
from tests.classifiers.comparison.cases import mirror, question
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_at_most, assert_close, assert_exact

Case = tuple[Indices, Indices, Indices, Indices]  # baseline, candidate, given labels, true labels


def _case(seed: int, n: int = 2000, old: float = 0.75, new: float = 0.85, noise: float = 0.05) -> Case:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 6, n)
    first, second = (np.where(rng.random(n) < p, truth, (truth + rng.integers(1, 3, n)) % 6) for p in (old, new))
    given_labels = np.where(rng.random(n) < noise, (truth + rng.integers(1, 6, n)) % 6, truth)
    return tuple(values.astype(np.int32) for values in (first, second, given_labels, truth))  # type: ignore[return-value]


def _even(n: int, seed: int, wrong: int) -> Case:
    """Two classifiers that are right equally often on true labels, and labels that say that the candidate is better.

    Where the baseline is right and the candidate is not, ``wrong`` labels are as the candidate says.
    """
    rng = np.random.default_rng(seed)
    truth, first, second = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    first[: n // 3], second[n // 3 : 2 * (n // 3)] = 1, 1
    labels = truth.copy()
    labels[n // 3 : n // 3 + wrong] = 1
    order = rng.permutation(n)
    return first[order], second[order], labels[order], truth[order]


def _question(case: Case, audit: Audit, **known: Any) -> Question:
    first, second, given_labels, _ = case
    made = question(given_labels, [first, second], 6, baseline=np.array([0]), candidate=np.array([1]), **known)
    return replace(made, audit=audit.coded(made.data.vocabulary, made.data.n))


def _comparison(case: Case, **known: Any) -> SequentialComparison:
    first, second, given_labels, _ = case
    return SequentialComparison(first, second, given_labels, classes=range(6), **known)


def _audit(case: Case, size: int, seed: int = 0) -> Audit:
    made = draw_audit(case[3].size, size, seed=seed)
    return made.answered(case[3][made.rows])


# A fixed audit.


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.4, 0.9), st.floats(0, 0.4))
def test_an_audit_of_all_rows_tells_the_truth(seed: int, new: float, noise: float) -> None:
    case = _case(seed, n=60, old=0.65, new=new, noise=noise)
    outcomes = sequential(_question(case, _audit(case, 60), inference="test_set"))
    gap = int((case[1] == case[3]).sum()) - int((case[0] == case[3]).sum())
    assert not outcomes.candidate[0] or gap > 0
    assert not outcomes.baseline[0] or gap < 0
    assert_at_most(outcomes.low, gap / 60, ROUNDING)
    assert_at_most(gap / 60, outcomes.high, ROUNDING)
    if outcomes.details["drawn_from"][0] == (case[0] != case[1]).sum():  # no row was left out
        assert (bool(outcomes.candidate[0]), bool(outcomes.baseline[0])) == ((gap > 0), (gap < 0))


def test_rows_without_a_say_do_not_count() -> None:
    case = _case(3)
    audit = _audit(case, 600)
    outcomes = sequential(_question(case, audit, inference="test_set"))
    apart = case[0][audit.rows] != case[1][audit.rows]
    with_baseline = case[2][audit.rows] == case[0][audit.rows]
    helping = apart & ~with_baseline  # a clear gap: labels with the baseline are left out
    left = Audit(audit.rows[helping], audit.labels[helping], design="uniform")
    fewer = sequential(_question(case, left, inference="test_set"))
    assert outcomes.candidate[0]
    assert_exact(fewer.details["wealth"], outcomes.details["wealth"])
    used, stopped = int(outcomes.details["labels_used"][0]), int(outcomes.details["stopped_at"][0])
    assert used == helping[:stopped].sum()
    assert helping[stopped - 1]
    # The label before the last does not decide yet.
    before = Audit(audit.rows[: stopped - 1], np.asarray(audit.labels)[: stopped - 1], design="uniform")
    assert not sequential(_question(case, before, inference="test_set")).candidate[0]
    assert sequential(_question(case, before, inference="test_set")).details["expected_labels"][0] >= 1


@pytest.mark.parametrize("inference", ["test_set", "population", "overlap"])
def test_exchanging_the_roles_exchanges_the_verdicts(inference: Inference) -> None:
    for seed, new in ((1, 0.85), (2, 0.76), (3, 0.60)):
        case = _case(seed, new=new)
        asked = _question(case, _audit(case, 500), inference=inference)
        there, back = sequential(asked), sequential(mirror(asked))
        assert_exact(there.candidate, back.baseline)
        assert_exact(there.baseline, back.candidate)
        assert_close(there.low, -back.high, ROUNDING)
        assert_close(there.difference, -back.difference, ROUNDING)
        assert_exact(there.details["wealth"], back.details["wealth_of_baseline"])


@pytest.mark.parametrize("inference", ["test_set", "population", "overlap"])
def test_p_value_and_interval_agree_with_the_verdict(inference: Inference) -> None:
    seen = set()
    for seed in range(12):
        case = _case(seed, new=0.77 + 0.012 * seed)
        asked = _question(case, _audit(case, 400, seed), inference=inference)
        outcomes = sequential(asked)
        shown = bool(outcomes.candidate[0])
        seen.add(shown)
        assert shown == bool(outcomes.p_value[0] <= asked.tail)
        required = float(outcomes.details["required_gap"][0]) if inference == "overlap" else 0.0
        assert shown == bool(outcomes.low[0] * asked.data.n > required + 1e-9)
    assert seen == {True, False}


def test_required_gaps() -> None:
    case = _case(0)
    audit = _audit(case, 300)
    apart = int((case[0] != case[1]).sum())
    gaps = {
        inference: float(sequential(_question(case, audit, inference=inference)).details["required_gap"][0])
        for inference in ("test_set", "population", "overlap")
    }
    assert (gaps["test_set"], gaps["population"]) == (0, int(sampling_gap(apart, 0.0125)))
    known = sequential(_question(case, audit, inference="overlap", noise=0.05)).details["required_gap"][0]
    hits = [int((model == case[2]).sum()) for model in case[:2]]
    assert_close(known, overlap_gap(hits[0], hits[1], 2000, wrong=100), ROUNDING)
    # Unknown noise is limited by the audit: less than nothing known, more than the truth.
    assert known < gaps["overlap"] < overlap_gap(hits[0], hits[1], 2000, wrong=2000)


def test_only_a_uniform_audit_is_taken() -> None:
    case = _case(0)
    rows = np.arange(30)
    weighted = Audit(rows, case[3][rows], design="weighted", probabilities=np.full(30, 0.1))
    selective = Audit(rows, case[3][rows], design="selective")
    for audit, name in ((weighted, "a weighted one"), (selective, "a selective one")):
        refuses(InputError, rf"uniform random sample of all rows, got {name}", sequential, _question(case, audit))


def test_sorted_rows_are_not_the_order_drawn() -> None:
    case = _case(3)
    audit = _audit(case, 200)
    order = np.argsort(audit.rows)
    outcomes = sequential(_question(case, Audit(audit.rows[order], np.asarray(audit.labels)[order], design="uniform")))
    assert [note.code for note in outcomes.notes] == ["order-lost"]
    assert sequential(_question(case, audit)).notes == ()


# One label at a time.


def test_asks_only_what_helps_and_stops_when_it_is_shown() -> None:
    first, second, given_labels, truth = case = _case(5)
    comparison = _comparison(case, inference="test_set")
    assert comparison.decision().verdict == "inconclusive"
    before = comparison.expected_labels
    asked: list[int] = []
    while not comparison.done:
        rows = comparison.ask(3)
        asked.extend(rows)
        comparison.tell(rows, truth[rows])
    assert (first[asked] != second[asked]).all()
    assert (given_labels[asked] != first[asked]).all()  # a clear gap
    assert len(set(asked)) == len(asked) == comparison.labels_used
    decision = comparison.decision()
    assert (decision.verdict, decision.notes[0].code) == ("candidate", "one-sided")
    assert (comparison.ask().size, comparison.expected_labels) == (0, 0)
    assert comparison.wealth["candidate"] >= 1 / 0.025
    assert 1 <= before < 10 * len(asked)
    assert len(asked) < 60
    stored = json.loads(decision.to_json())
    assert stored["details"]["labels_used"] == len(asked)
    assert_close(stored["difference"], decision.difference, ROUNDING)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.4, 0.9), st.floats(0, 0.4))
def test_asking_to_the_end_never_says_what_is_false(seed: int, new: float, noise: float) -> None:
    first, second, _, truth = case = _case(seed, n=60, old=0.65, new=new, noise=noise)
    apart = np.flatnonzero(first != second)
    # So high a level that nothing but certainty will do: otherwise it stops, and errs, with its small probability.
    comparison = _comparison(case, inference="test_set", seed=seed, level=1 - 1e-12)
    while (rows := comparison.ask(9)).size:
        comparison.tell(rows[::-1], truth[rows[::-1]])
    decision, gap = comparison.decision(), int((second == truth).sum()) - int((first == truth).sum())
    assert_at_most(decision.interval.low, gap / 60, ROUNDING)
    assert_at_most(gap / 60, decision.interval.high, ROUNDING)
    assert decision.verdict != ("candidate" if gap <= 0 else "baseline")
    if comparison.labels_used == apart.size:
        assert decision.verdict == ("candidate" if gap > 0 else "baseline" if gap < 0 else "inconclusive")
        assert_close(decision.difference, gap / 60, ROUNDING)


def test_evidence_counts_in_the_order_drawn_up_to_the_first_gap() -> None:
    *_, truth = case = _case(7, new=0.8)
    comparison = _comparison(case)
    rows = comparison.ask(10)
    assert_exact(comparison.ask(10), rows)  # asking again asks the same
    comparison.tell(rows[[4, 2, 0]], truth[rows[[4, 2, 0]]])
    assert comparison.labels_used == 1
    assert_exact(comparison.ask(3), rows[[1, 3, 5]])
    comparison.tell(int(rows[1]), int(truth[rows[1]]))
    assert comparison.labels_used == 3
    comparison.tell(rows[:2], truth[rows[:2]])  # the same answer again is none
    in_order = _comparison(case)
    in_order.tell(rows[:3], truth[rows[:3]])
    assert comparison.wealth == in_order.wealth
    assert comparison.decision().details["labels_answered"] == 4


def test_mistakes_are_told() -> None:
    first, second, _, truth = case = _case(7)
    comparison = _comparison(case)
    rows = comparison.ask(2)
    agreed = int(np.flatnonzero(first == second)[0])
    refuses(InputError, rf"1 of 2 are never asked, first {agreed}", comparison.tell, [rows[0], agreed], [0, 0])
    refuses(InputError, r"labels: 1 of 2 values are not among the 6 classes", comparison.tell, rows, [0, 9])
    refuses(InputError, r"labels: expected 2, one per row, got 1", comparison.tell, rows, [0])
    refuses(InputError, r"1 of 1 are never asked, first 2000", comparison.tell, [2000], [0])
    refuses(InputTypeError, r"rows: expected row numbers", comparison.tell, [0.5], [0])
    refuses(InputError, r"k: expected a whole number >= 1, got 0", comparison.ask, 0)
    assert comparison.labels_used == 0
    comparison.tell(rows, truth[rows])
    refuses(InputError, rf"row {rows[0]} was answered", comparison.tell, rows[:1], (truth[rows[:1]] + 1) % 6)
    for option, value in (("seed", -1), ("inference", "sign"), ("level", 95), ("noise", 5), ("disagreement", [1.0])):
        refuses(InputError, option, _comparison, case, **{option: value})


def test_resumes_and_depends_on_the_seed_only() -> None:
    *_, truth = case = _case(8)
    comparison = _comparison(case, seed=4)
    rows = comparison.ask(12)
    comparison.tell(rows[[0, 1, 5]], truth[rows[[0, 1, 5]]])
    state = json.loads(json.dumps(comparison.to_dict()))
    again = _comparison(case, seed=4)
    again.resume(state)
    assert again.labels_used == 2
    assert_exact(again.ask(5), comparison.ask(5))
    assert again.wealth == comparison.wealth
    other = _comparison(case, seed=5)
    assert set(other.ask(12)) != set(rows)
    refuses(InputError, r"state: comes from other", other.resume, state)


def test_signature_tells_what_the_decision_rests_on() -> None:
    *_, truth = case = _case(8)
    comparison = _comparison(case)
    seen = [comparison.decision().signature]
    rows = comparison.ask(12)
    for some in (rows[:5], rows[5:]):
        comparison.tell(some, truth[some])
        seen.append(comparison.decision().signature)
    assert len({str(signature) for signature in seen}) == len(seen)
    assert [signature.context["answers"] for signature in seen] == ["0", "5", "12"]
    assert all(Signature.parse(str(signature)) == signature for signature in seen)
    # The same answers, in another order; and another answer to one row.
    again, other = _comparison(case), _comparison(case)
    rows = again.ask(12)
    for row in rows[::-1]:
        again.tell(int(row), int(truth[row]))
    assert again.decision().signature == seen[2]
    other.tell(rows, np.r_[(truth[rows[0]] + 1) % 6, truth[rows[1:]]])
    assert other.decision().signature != seen[2]


def test_doubt_comes_first_in_close_comparisons() -> None:
    _, _, given_labels, truth = case = _case(6, old=0.8, new=0.8)
    doubtful = given_labels != truth
    plain, tilted = (_comparison(case, disagreement=doubts).ask(200) for doubts in (None, doubtful))
    assert doubtful[tilted].mean() > doubtful[plain].mean()


def test_weights_are_what_a_label_can_change() -> None:
    first, second, given_labels, truth = _case(6, old=0.8, new=0.8)
    clocks = np.random.default_rng(0).exponential(size=2000)
    made = Plan(first, second, given_labels, 0.0, clocks)
    scores = ((second == truth).astype(int) - (first == truth))[made.rows] - made.before
    assert (scores >= -made.loss * made.weights).all()
    assert (scores <= made.gain * made.weights).all()
    assert (made.loss, made.gain) == (1.0, 1.0)
    assert set(made.weights[made.before == 0]) == {1.0}
    assert set(made.weights[made.before != 0]) == {2.0}
    assert (np.diff(clocks[made.rows] / made.weights) >= 0).all()


@pytest.mark.parametrize("inference", ["test_set", "population"])
def test_many_pairs_are_as_one(inference: Inference) -> None:
    first, second, given_labels, truth = case = _case(10, new=0.8)
    known: Any = {"alpha": 0.025, "inference": inference, "cap": 150, "start": "shown", "seed": 3}
    pairs = np.array([(0, 1), (1, 0)])
    certified, used = sequential_many(given_labels, np.stack([first, second]), pairs, truth, **known)
    comparison = _comparison(case, inference=inference, seed=3)
    while not comparison.done and comparison.labels_used < 150:
        rows = comparison.ask(1)
        comparison.tell(rows, truth[rows])
    assert certified[0] == (comparison.decision().verdict == "candidate")
    assert used[0] == comparison.labels_used
    assert (certified[1], used[1]) == (False, 0)  # the labels say otherwise: nothing is asked


def _rate(case: Case, alpha: float, seeds: int, cap: int) -> NDArray[np.bool_]:
    first, second, given_labels, truth = case
    known: Any = {"alpha": alpha, "inference": "test_set", "cap": cap}
    both, pair = np.stack([first, second]), np.array([[0, 1]])
    return np.array([sequential_many(given_labels, both, pair, truth, seed=s, **known)[0][0] for s in range(seeds)])


@pytest.mark.parametrize(("n", "wrong"), [(300, 10), (300, 60), (30, 3), (30, 8)])
def test_level_at_equal_accuracies_with_adversarial_labels(n: int, wrong: int) -> None:
    """Wrong labels only where they help the candidate; stopping is at the first moment that shows it."""
    for alpha in (0.2, 0.05):
        assert _rate(_even(n, 1, wrong), alpha, 300, n).mean() <= alpha + 5 * np.sqrt(alpha * (1 - alpha) / 300)


def test_shows_a_real_difference() -> None:
    assert _rate(_case(11, n=1000), 0.025, 40, 300).mean() > 0.9
