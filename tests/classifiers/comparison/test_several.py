"""Many classifiers at once: verdicts that hold together, and the ranks that they leave open."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.classifiers.comparison.compare import compare, rank
from demele.classifiers.comparison.methods import HardRows
from demele.classifiers.results import implied, rank_ranges
from demele.core.errors import InputError, UnknownNameError
from demele.core.proportions import holm
from demele.labels import draw_audit
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact, assert_rate_at_most

Models = dict[str, NDArray[np.int64]]


def world(accuracies: dict[str, float], n: int = 3000, seed: int = 0) -> tuple[Models, NDArray[np.int64]]:
    """Independent models on right labels of five classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, n)
    wrong = {name: (labels + rng.integers(1, 5, n)) % 5 for name in accuracies}
    return {name: np.where(rng.random(n) < p, labels, wrong[name]) for name, p in accuracies.items()}, labels


def nested(hits: list[int], n: int) -> tuple[Models, NDArray[np.int64]]:
    """Models that are right on the first so many of n rows labelled 0."""
    rows = np.arange(n)
    return {f"m{h}": (rows >= h).astype(np.int64) for h in hits}, np.zeros(n, dtype=np.int64)


# Holm's procedure ----------------------------------------------------------------------------------------------------


def test_holm_makes_no_claim_without_a_p_value() -> None:
    assert_exact(holm(np.array([np.nan, 0.05]), 0.05), [False, False])
    assert_exact(holm(np.array([np.nan, 0.025]), 0.05), [False, True])


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=6), st.floats(0.001, 0.2))
def test_holm_is_the_closure_of_bonferroni(values: list[float], error: float) -> None:
    """A hypothesis is rejected if every set of hypotheses with it is rejected by Bonferroni's inequality."""
    p = np.array(values)
    close = np.isclose(p[:, None] * np.arange(1, p.size + 1), error, rtol=SOLVER["rtol"])
    if close.any():  # on the edge the two may differ by rounding
        return
    expected = []
    for one in range(p.size):
        others = [index for index in range(p.size) if index != one]
        sets = itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(len(others) + 1))
        expected.append(all(min(p[[one, *rest]]) <= error / (1 + len(rest)) for rest in sets))
    assert_exact(holm(p, error), expected)


# Ranks ---------------------------------------------------------------------------------------------------------------


def test_nothing_follows_from_claims_in_a_circle() -> None:
    better = np.zeros((4, 4), dtype=bool)
    better[1, 2] = better[0, 1] = better[2, 0] = True
    best, worst = rank_ranges(implied(better))
    assert_exact(best, [1, 1, 1, 1])
    assert_exact(worst, [4, 4, 4, 4])


@given(st.permutations(range(5)), st.integers(0, 2**20 - 1))
def test_ranges_are_those_of_all_orders_that_fit_the_claims(order: list[int], mask: int) -> None:
    """Oracle: over all orders that agree with every claim, the least and the largest rank of each model."""
    better = np.zeros((5, 5), dtype=bool)
    for bit, (i, j) in enumerate(itertools.permutations(range(5), 2)):
        better[i, j] = bool(mask >> bit & 1) and order[j] < order[i]
    fitting = [
        ranks
        for ranks in itertools.permutations(range(1, 6))
        if all(ranks[j] < ranks[i] for i, j in zip(*np.nonzero(better), strict=True))
    ]
    best, worst = rank_ranges(implied(better))
    assert_exact(best, np.min(fitting, axis=0))
    assert_exact(worst, np.max(fitting, axis=0))


def test_a_ranking_worked_by_hand() -> None:
    """Nested models: each pair disagrees where the better one is right, so p = 2^-d of d disagreements.

    Disagreements: 6 of m20 and m14, 2 of m14 and m12, 8 of m20 and m12. Of six claims at an error of 0.09, 2^-8 is at
    most 0.09/6 = 0.015, 2^-6 = 0.0156 is above that but at most 0.09/5 = 0.018, 2^-2 is above 0.09/4: Holm's procedure
    makes two claims, Bonferroni's only the first.
    """
    models, labels = nested([12, 20, 14], 40)
    ask: dict[str, Any] = {"method": "worst-case", "noise": 0.0, "classes": [0, 1]}
    found = rank(models, labels, level=0.91, **ask)
    assert (found.names, (found.best_rank, found.worst_rank)) == (("m20", "m14", "m12"), ((1, 2, 2), (1, 3, 3)))
    assert found.correction == "holm"
    p = found.pairs.set_index(["baseline", "candidate"])["p_value"]
    assert_close([p["m12", "m20"], p["m14", "m20"], p["m12", "m14"]], [2**-8, 2**-6, 2**-2], ROUNDING)
    strict = rank(models, labels, level=0.91, correction="bonferroni", **ask)
    assert (strict.best_rank, strict.worst_rank) == ((1, 1, 2), (2, 3, 3))
    assert_close(strict.pair_level, 1 - 2 * 0.09 / 6, ROUNDING)
    alone = rank(models, labels, level=0.5, correction="none", **ask)  # 2^-2 <= 0.25
    assert (alone.best_rank, alone.worst_rank) == ((1, 2, 3), (1, 2, 3))
    # The labels are all of one class, which nobody can beat: no reason to warn of those who do not.
    assert [note.code for note in alone.notes if note.severity == "warning"] == ["no-correction"]
    assert (found.tiers, strict.tiers) == ((("m20",), ("m14", "m12")), (("m20", "m14"), ("m12",)))


def test_every_verdict_is_that_of_its_pair_at_the_level_of_the_pair() -> None:
    measure_cases: Any = ["accuracy", "error"]
    method_cases: Any = ["overlap", "worst-case-overlap", "hard-rows", "worst-case"]
    for measure in measure_cases:
        for method in method_cases:
            models, labels = world({"a": 0.9, "b": 0.86, "c": 0.85, "d": 0.7})
            noise = None if method in ("overlap", "hard-rows") else 0.005
            asked: Any = HardRows(np.arange(labels.size), 0.01) if method == "hard-rows" else method
            found = rank(models, labels, method=asked, measure=measure, noise=noise)
            assert found.names == ("a", "b", "c", "d")
            for row in found.pairs.to_dict(orient="records"):
                baseline, candidate = str(row["baseline"]), str(row["candidate"])
                one = compare(
                    models[baseline],
                    models[candidate],
                    labels,
                    method=asked,
                    measure=measure,
                    noise=noise,
                    level=found.pair_level,
                    classes=range(5),
                )
                assert one.verdict == row["verdict"]
                ends = [row["difference"], row["low"], row["high"]]
                assert_close([one.difference, one.interval.low, one.interval.high], ends, ROUNDING)
                again = found.decision(baseline, candidate)
                assert (again.verdict, again.names) == (row["verdict"], (baseline, candidate))
            assert found.correction == ("holm" if method == "worst-case" else "bonferroni")
            assert ("bonferroni" in [note.code for note in found.notes]) == (method != "worst-case")


def test_together_the_verdicts_keep_their_level() -> None:
    """Six equally good models: any claim is wrong. At most 10% of rankings may hold one.

    Of 150 rankings 24 may: a procedure that errs in 20% passes with a probability of 13%, in 25% with 0.5%.
    """
    repeats, false, loose = 150, 0, 0
    for seed in range(repeats):
        models, labels = world(dict.fromkeys("abcdef", 0.8), n=300, seed=seed)
        found = rank(models, labels, noise=0.0, method="worst-case", level=0.9)
        false += int((found.pairs["verdict"] != "inconclusive").any())
        loose += int((found.pairs["p_value"] <= 0.05).any())
    assert_rate_at_most(false, repeats, 0.1)
    # Without correction, the pairs together err far more often: the correction is what keeps the level.
    with pytest.raises(AssertionError):
        assert_rate_at_most(loose, repeats, 0.3)


def test_order_of_models_does_not_matter() -> None:
    models, labels = world({"x": 0.9, "y": 0.8, "z": 0.7, "w": 0.79})
    found = rank(models, labels, noise=0.01)
    turned = rank(dict(reversed(models.items())), labels, noise=0.01)
    pd.testing.assert_frame_equal(found.to_frame(), turned.to_frame())


@pytest.mark.parametrize("method", ["audit", "sequential"])
def test_an_audit_ranks_what_noise_hides(method: str) -> None:
    """10% of labels wrong in favour of the worse model: the given labels mislead, expert labels of a sample do not."""
    models, labels = world({"good": 0.85, "other": 0.8, "bad": 0.5})
    noisy = labels.copy()
    turned = np.flatnonzero((models["good"] == labels) & (models["other"] != labels))[:300]
    noisy[turned] = models["other"][turned]
    plan = draw_audit(labels.size, 1500, seed=0)
    audit = plan.answered(labels[plan.rows])
    assert rank(models, noisy).names[0] == "other"
    found = rank(models, noisy, method=method, audit=audit, true_labels=labels, inference="test_set")
    assert (found.correction, found.names[2]) == ("holm", "bad")
    assert (found.best_rank[2], found.worst_rank[2]) == (3, 3)
    claimed = found.pairs["verdict"] == "candidate"
    assert claimed.any()
    assert not (claimed & (found.reference["verdict"] == "baseline")).any()
    one = found.decision("bad", "good")
    assert (one.verdict, one.method) == ("candidate", method)


def test_mistakes_are_named() -> None:
    models, labels = world({"a": 0.9, "b": 0.8})
    refuses(InputError, "correction: expected one of holm, bonferroni, none", rank, models, labels, correction="bonf")
    with pytest.raises(InputError):
        rank(pd.DataFrame(np.column_stack([models["a"], models["b"]]), columns=["a", "a"]), labels)
    found = rank(models, labels)
    refuses(UnknownNameError, "'c'", found.decision, "a", "c")
    refuses(InputError, "two different", found.decision, "a", "a")
