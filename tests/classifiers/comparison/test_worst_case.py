"""The paired worst case and the breakdown number, against every set of right labels that the noise leaves open."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from demele.classifiers.comparison.decision import breakdown
from demele.classifiers.comparison.methods import METHODS
from demele.classifiers.comparison.worst_case import Reach, mcnemar_p, paired_low, reach, worst_case, worst_counts
from demele.classifiers.question import Inference, PairCounts, Question
from demele.core.proportions import score_interval
from demele.noise.budget import NoiseBudget
from demele.noise.transition import TransitionCounts, TransitionMatrix
from tests.classifiers.comparison.cases import all_labels, clean_counts, mirror, question, random_question, transitions
from tests.tolerances import ROUNDING, assert_at_most, assert_close, assert_exact

SMALL = {"n": 6, "k": 3}
LEVELS = (0.2, 0.5, 0.7)


def noisy(asked: Question, m: int, **options: Any) -> Question:
    return replace(asked, noise=m / asked.data.n, **options)


def test_worst_difference_and_p_value_are_those_of_some_right_labels() -> None:
    for m in [0, 1, 2, 3, 6]:
        for seed in range(12):
            asked = random_question(np.random.default_rng(seed), **SMALL)
            asked = noisy(asked, m) if m < 6 else replace(asked, noise=0.999)
            wrong = min(m, int(asked.noise * 6 + 1e-9))  # type: ignore[operator]
            truths = all_labels(**SMALL)
            truths = truths[(truths != asked.data.labels).sum(axis=1) <= wrong]
            found = worst_case(asked)
            for pair, (lost, won) in enumerate(clean_counts(truths, asked)):
                assert_close(found.details["worst_difference"][pair], (won - lost).min() / 6, ROUNDING)
                assert_close(found.details["best_difference"][pair], (won - lost).max() / 6, ROUNDING)
                assert_close(found.p_value[pair], mcnemar_p(lost, won).max(), ROUNDING)
                assert found.low[pair] <= paired_low(lost, won, 6, asked.tail).min() + 1e-12
                assert found.high[pair] >= -paired_low(won, lost, 6, asked.tail).min() - 1e-12


def test_claims_exactly_what_holds_for_all_right_labels() -> None:
    """Not one claim more than all right labels allow, and not one less."""
    for inference in ["population", "test_set", "overlap"]:
        for level in LEVELS:
            truths = all_labels(**SMALL)
            claims = 0
            for seed, m in itertools.product(range(12), range(4)):
                rng = np.random.default_rng(seed)
                asked = random_question(rng, **SMALL, models=3, level=level, inference=inference)
                found = worst_case(noisy(asked, m))
                near = truths[(truths != asked.data.labels).sum(axis=1) <= m]
                for pair, (lost, won) in enumerate(clean_counts(near, asked)):
                    model = (asked.baseline[pair], asked.candidate[pair])
                    hits = [(asked.data.predictions[i] == near).sum(axis=1) for i in model]
                    ends = [score_interval(one, np.full(len(near), 6), level=level) for one in hits]
                    holds = {
                        "population": mcnemar_p(lost, won) <= asked.tail,
                        "test_set": won > lost,
                        "overlap": ends[1][0] > ends[0][1],
                    }[inference]
                    assert found.candidate[pair] == holds.all()
                    claims += int(holds.all())
            assert claims > 0


def limits(joint: Any, wrong: int) -> NoiseBudget:
    """At most ``joint[j, k]`` labels k hide class j, and at most ``wrong`` labels are wrong."""
    given, true = joint.sum(axis=0), joint.sum(axis=1)
    return NoiseBudget(wrong=wrong, wrong_given=given, wrong_true=true, joint=joint, level=None, assumptions=())


def random_budget(rng: np.random.Generator, k: int, n: int) -> NoiseBudget:
    joint = rng.integers(0, 3, (k, k)) * (rng.random((k, k)) < 0.6)
    np.fill_diagonal(joint, 0)
    wrong = int(rng.integers(0, int(joint.sum()) + 1))
    return replace(limits(joint, wrong), wrong_given=np.minimum(joint.sum(axis=0), rng.integers(0, 4, k)))


def within(counts: Any, budget: NoiseBudget) -> Any:
    """Which tables (true, given) respect a budget."""
    off = counts * ~np.eye(counts.shape[-1], dtype=np.bool_)
    return (
        (off.sum(axis=(1, 2)) <= budget.wrong)
        & (off.sum(axis=1) <= budget.wrong_given).all(axis=1)
        & (off.sum(axis=2) <= budget.wrong_true).all(axis=1)
        & (off <= budget.joint).all(axis=(1, 2))
    )


ANY_MATRIX = TransitionMatrix([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])


@pytest.mark.parametrize(("n", "k"), [(6, 3), (9, 2)])
def test_claims_hold_for_all_right_labels_within_limits_by_class(
    n: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With limits by class: no claim and no p-value that some right labels within them contradict.

    On 80 random questions of 6 pairs, each for three inferences.
    """
    truths = all_labels(n, k)
    inferences: tuple[Inference, ...] = ("population", "test_set", "overlap")
    by_rate, claims = (dict.fromkeys(inferences, 0) for _ in range(2))
    for seed in range(80):
        rng = np.random.default_rng(seed)
        budget, level = random_budget(rng, k, n), float(rng.uniform(0.2, 0.7))
        monkeypatch.setattr(f"{worst_case.__module__}.noise_budget", lambda *_, found=budget, **__: found)
        asked = random_question(rng, n=n, k=k, models=3, level=level)
        near = truths[within(transitions(truths, asked.data.labels, k), budget)]
        hits = (asked.data.predictions[:, None] == near).sum(axis=2)
        low, high = score_interval(hits, np.full(hits.shape, n), level=level)
        clean = list(clean_counts(near, asked))
        p_values = [mcnemar_p(lost, won) for lost, won in clean]
        for inference in inferences:
            question_of_target = replace(asked, inference=inference)
            found = worst_case(replace(question_of_target, noise=ANY_MATRIX))
            by_rate[inference] += int(worst_case(replace(question_of_target, noise=budget.wrong / n)).candidate.sum())
            claims[inference] += int(found.candidate.sum())
            for pair, ((lost, won), p) in enumerate(zip(clean, p_values, strict=True)):
                holds = {
                    "population": p <= asked.tail,
                    "test_set": won > lost,
                    "overlap": low[asked.candidate[pair]] > high[asked.baseline[pair]],
                }[inference]
                assert holds.all() or not found.candidate[pair]
                if inference == "population":
                    assert_at_most(p.max(), found.p_value[pair], ROUNDING)
                    assert_at_most(found.low[pair], paired_low(lost, won, n, asked.tail).min(), ROUNDING)
    # Limits by class allow claims that their total alone does not.
    assert all(claims[inference] > by_rate[inference] for inference in inferences)


def test_who_agrees_with_neither_by_hand() -> None:
    """Labelled 0, the baseline says 1: the candidate says 1 too (3 times), 0 (2 times), or 2 (4 times).

    On 6 instances labelled 2 the two differ too, but no label 2 is wrong. Of 5 labels 0 that hide a 1, 2
    exchange (cost 2) and 3 of the 4 with a third class are granted (cost 1).
    """
    old, new = [1] * 9 + [0] * 6, [1] * 3 + [0] * 2 + [2] * 4 + [1] * 6
    asked = question([0] * 9 + [2] * 6, [old, new], 3, noise=ANY_MATRIX)
    joint = np.zeros((3, 3), dtype=np.int64)
    for hidden, drop, granted in ((5, 7, 4), (6, 8, 4), (9, 8, 4), (3, 5, 3)):
        joint[1, 0] = hidden
        far = reach(asked, limits(joint, hidden))
        assert (far.exchanged[0], far.granted[0], far.drop[0]) == (2, granted, drop)


def test_transition_bound_by_hand() -> None:
    """The candidate wins 10 instances labelled 0, where the baseline says 1 (6 times) and 2 (4 times).

    At most 4 labels 0 hide a 1, at most 6 hide a 2: 4 + 4 exchanges cost 2 each; the other 2 of the 6 withdraw the 2
    that are left. At most 3 labels 0 in all leave 3 exchanges.
    """
    asked = question([0] * 10, [[1] * 6 + [2] * 4, [0] * 10], 3, noise=ANY_MATRIX)
    joint = np.zeros((3, 3), dtype=np.int64)
    joint[1, 0], joint[2, 0] = 4, 6
    free = limits(joint, 10)
    assert reach(asked, free).drop[0] == 2 * 8 + 2
    tight = replace(free, wrong_given=np.array([3, 0, 0]))
    assert reach(asked, tight).drop[0] == 6
    lost, won = worst_counts(asked.counts(), reach(asked, tight))
    assert (lost[0], won[0]) == (3, 7)


def test_worst_counts_by_enumeration_of_the_reach() -> None:
    """The closed form is the largest p-value over all (exchanged, granted, withdrawn) within the reach."""
    rng = np.random.default_rng(0)
    for _ in range(400):
        lost, won, neither = (int(v) for v in rng.integers(0, [4, 14, 5]))
        wrong = int(rng.integers(0, 9))
        exchanged, granted = int(rng.integers(0, min(wrong, won) + 1)), int(rng.integers(0, min(wrong, neither) + 1))
        drop = int(rng.integers(0, exchanged + wrong + 1))
        counts = PairCounts(*(np.array([v]) for v in (lost, won, neither)))
        far = Reach(*(np.array([v]) for v in (exchanged, granted, drop, wrong)))
        options = [
            (lost + x + u, won - x - y)
            for x in range(exchanged + 1)
            for u in range(granted + 1)
            for y in range(won - x + 1)
            if x + u + y <= wrong and 2 * x + u + y <= drop
        ]
        largest = max(float(mcnemar_p(np.array([a]), np.array([b]))[0]) for a, b in options)
        found = float(mcnemar_p(*worst_counts(counts, far))[0])
        if largest <= 0.5 and won - lost > drop:
            assert found == pytest.approx(largest, rel=1e-12)


def test_interval_excludes_zero_if_and_only_if_a_claim_is_made() -> None:
    for noise in [0.0, 0.03, TransitionMatrix(np.eye(3) * 0.97 + 0.01), TransitionCounts(np.eye(3) * 500 + 1)]:
        for inference in ["population", "test_set", "overlap"]:
            rng = np.random.default_rng(8)
            asked = random_question(rng, n=400, k=3, models=12, noise=noise, inference=inference)
            found = worst_case(asked)
            assert_exact(found.low > 0, found.candidate)
            assert_exact(found.high < 0, found.baseline)
            assert_exact(found.p_value <= asked.tail, found.candidate)
            assert 0 < found.candidate.sum() <= asked.n_pairs / 2
            assert (found.low <= found.difference).all()
            assert (found.difference <= found.high).all()


def test_transition_counts_share_the_error() -> None:
    """The p-value holds the error of the limits; a few counts allow more noise than many."""
    asked = random_question(np.random.default_rng(4), n=1000, k=2, models=5)
    few, many = (worst_case(replace(asked, noise=TransitionCounts([[w, 0], [0, w]]))) for w in (40, 4000))
    assert few.p_value.min() >= asked.tail / 2
    assert many.p_value.min() >= asked.tail / 2
    assert few.candidate.sum() < many.candidate.sum()


def test_paired_interval_covers_the_difference() -> None:
    """Each side misses with probability ``tail`` at most, in the four corners of share and number of disagreements."""
    rng = np.random.default_rng(6)
    n, repeats, tail = 500, 4000, 0.025
    for disagreement in (0.02, 0.4):
        for share in (0.5, 0.9):
            shares = [disagreement * (1 - share), disagreement * share, 1 - disagreement]
            lost, won, _ = rng.multinomial(n, shares, repeats).T
            truth = disagreement * (2 * share - 1)
            for missed in (paired_low(lost, won, n, tail) > truth, -paired_low(won, lost, n, tail) < truth):
                assert missed.mean() <= tail + 5 * np.sqrt(tail * (1 - tail) / repeats)


# The breakdown number -------------------------------------------------------------------------------------------------


def stands(asked: Question, pair: int, truths: Any, way: str) -> Any:
    """Whether "candidate better" would be said on each set of right labels."""
    lost, won = list(clean_counts(truths, asked))[pair]
    if way == "test_set":
        return won > lost
    if way == "population":
        return mcnemar_p(lost, won) <= asked.tail
    ends = [
        score_interval((asked.data.predictions[m] == truths).sum(axis=1), np.full(len(truths), 6), level=asked.level)
        for m in (asked.baseline[pair], asked.candidate[pair])
    ]
    return ends[1][0] > ends[0][1]


def test_against_every_set_of_right_labels() -> None:
    for level in [0.1, 0.4]:
        for way in ["population", "test_set", "overlap", "by overlap"]:
            truths, seen = all_labels(6, 3), set()
            for seed in range(15):
                inference = "population" if way == "by overlap" else way
                rng = np.random.default_rng(seed)
                asked = random_question(rng, n=6, k=3, models=3, level=level, inference=inference)
                found = breakdown(asked, METHODS["overlap" if way == "by overlap" else "worst-case"])
                distance = (truths != asked.data.labels).sum(axis=1)
                for pair in range(asked.n_pairs):
                    bears = []
                    for one in (asked, mirror(asked)):
                        ok = stands(one, pair, truths, "overlap" if way == "by overlap" else way)
                        fails = distance[~ok]
                        bears.append(int(fails.min()) - 1 if fails.size else 6)
                    assert found[pair] == max(bears)
                    seen.add(int(found[pair]))
            assert {-1, 0, 1} <= seen


@pytest.mark.parametrize("inference", ["population", "test_set", "overlap"])
def test_it_is_the_largest_rate_under_which_bounded_still_decides(inference: str) -> None:
    asked = random_question(np.random.default_rng(4), n=500, k=4, models=9, inference=inference)
    found = breakdown(asked, METHODS["worst-case"])
    assert ((found >= 0).any() and (found < 0).any()) or inference == "test_set"
    for pair in range(asked.n_pairs):
        one = replace(asked, baseline=asked.baseline[[pair]], candidate=asked.candidate[[pair]])
        most = int(found[pair])
        if most >= 0:
            at = worst_case(replace(one, noise=most / 500))
            assert at.candidate[0] or at.baseline[0]
        beyond = worst_case(replace(one, noise=(most + 1) / 500))
        assert not beyond.candidate[0]
        assert not beyond.baseline[0]


def test_labels_that_the_method_used() -> None:
    rng = np.random.default_rng(5)
    asked = random_question(rng, n=300, k=3, models=5, suspects=rng.random(300) < 0.3)
    truth = rng.integers(0, 3, 300).astype(np.int32)
    kept = replace(asked, data=asked.data.take(~asked.suspects))
    assert_exact(breakdown(asked, METHODS["cleaned"]), breakdown(kept, METHODS["overlap"]))
    true = replace(asked, data=asked.data.relabelled(truth))
    told = breakdown(replace(asked, true_labels=truth), METHODS["true-labels"])
    assert_exact(told, breakdown(true, METHODS["overlap"]))
    assert_exact(breakdown(asked, METHODS["agreement"]), np.full(asked.n_pairs, -1))


@pytest.mark.parametrize("level", [0.9375, 0.75, 0.5])
def test_ties_with_the_level_count_as_rejections(level: float) -> None:
    """A tail of 1/32 is exactly the p-value of 5 wins of 5: the verdict stands, and bears no wrong label."""
    wins = {0.9375: 5, 0.75: 3, 0.5: 2}[level]
    asked = question([0] * 10, [[1] * wins + [0] * (10 - wins), [0] * 10], 2, level=level)
    assert_exact(breakdown(asked, METHODS["worst-case"]), [0, 0])
    assert worst_case(replace(asked, noise=0.0)).candidate[0]
