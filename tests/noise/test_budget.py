"""Limits of label noise: they hold as often as they say, whatever the noise, and are close to the sharpest."""

import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import given as given_that
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom, hypergeom

from demele.core.errors import InputError, InputTypeError, OutOfDomainWarning
from demele.labels import NoiseBudget, TransitionCounts, TransitionMatrix, noise_budget
from demele.noise.budget import _binomial_limit, _class_proportions, _largest
from demele.noise.transition import hypergeometric_limit
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_at_most, assert_close, assert_exact, assert_rate_at_most

TAIL = 0.05
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def labels_of(*sizes: int) -> NDArray[np.int32]:
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def realised(true: NDArray[np.int32], given: NDArray[np.int32], k: int) -> Ints:
    table = np.bincount(true.astype(np.int64) * k + given, minlength=k * k).reshape(k, k)
    return table * (1 - np.eye(k, dtype=np.int64))


def holds(budget: NoiseBudget, mistakes: Ints) -> bool:
    return (
        bool(mistakes.sum() <= budget.wrong)
        and bool((mistakes.sum(axis=0) <= budget.wrong_given).all())
        and bool((mistakes.sum(axis=1) <= budget.wrong_true).all())
        and bool((mistakes <= budget.joint).all())
    )


def failures(draw: Callable[[np.random.Generator], tuple[NoiseBudget, Ints]], repetitions: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    return sum(not holds(*draw(rng)) for _ in range(repetitions))


# A rate ------------------------------------------------------------------------------------------------------------


def test_a_rate() -> None:
    budget = noise_budget(0.07, labels_of(70, 28, 2), 3, tail=TAIL)
    assert budget.wrong == 7  # 0.07 * 100 is 7.000000000000001
    assert_exact(budget.wrong_given, [7, 7, 2])
    assert_exact(budget.wrong_true, [7, 7, 7])
    assert_exact(budget.joint, [[0, 7, 2], [7, 0, 2], [7, 7, 0]])
    assert budget.level is None
    assert not budget.out_of_domain
    assert budget.assumptions == ("at most 7 of the 100 labels are wrong (a rate of 0.07), in the worst case",)
    assert noise_budget(0.29, labels_of(50, 50), 2, tail=TAIL).wrong == 29  # 0.29 * 100 is 28.999999999999996
    assert noise_budget(0.0, labels_of(50, 50), 2, tail=TAIL).joint.sum() == 0


def test_a_rate_cannot_exceed_what_the_labels_allow() -> None:
    budget = noise_budget(0.9, labels_of(6, 4), 2, tail=TAIL)
    assert budget.wrong == 9
    assert_exact(budget.wrong_given, [6, 4])
    assert_exact(budget.wrong_true, [4, 6])  # an instance truly of class 0 with another label has label 1: at most 4
    assert_exact(budget.joint, [[0, 4], [6, 0]])


@given_that(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40), st.floats(0, 0.5))
def test_a_rate_that_is_not_exceeded_holds_for_every_pattern(rows: list[tuple[int, int]], margin: float) -> None:
    true, given = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
    mistakes = realised(true, given, 3)
    rate = min(mistakes.sum() / len(rows) + margin, 0.999999)
    if rate * len(rows) >= mistakes.sum():
        assert holds(noise_budget(rate, given, 3, tail=TAIL), mistakes)


def test_what_is_no_noise() -> None:
    given = labels_of(5, 5)
    refuses(InputError, r"noise: expected a rate of wrong labels in \[0, 1\)", noise_budget, 1.5, given, 2, tail=TAIL)
    refuses(InputTypeError, "noise:", noise_budget, [0.1], given, 2, tail=TAIL)
    refuses(InputError, "tail: expected", noise_budget, 0.1, given, 2, tail=0)
    with pytest.raises(InputError, match="noise: expected 3 classes, as the labels have, got 2"):
        noise_budget(TransitionMatrix([[1, 0], [0, 1]]), given, 3, tail=TAIL)


# A matrix ----------------------------------------------------------------------------------------------------------

CONFUSED = np.array([[0.95, 0.05, 0.0], [0.02, 0.9, 0.08], [0.1, 0.1, 0.8]])


@pytest.mark.parametrize("fixed", [False, True], ids=["classes drawn", "classes fixed"])
@pytest.mark.parametrize("n", [30, 400])
def test_limits_of_a_matrix_hold(n: int, fixed: bool) -> None:
    noise = TransitionMatrix(CONFUSED)
    shares = np.array([0.6, 0.3, 0.1])
    edges = CONFUSED.cumsum(axis=1)

    def draw(rng: np.random.Generator) -> tuple[NoiseBudget, Ints]:
        true = labels_of(*(shares * n).astype(int)) if fixed else rng.choice(3, n, p=shares).astype(np.int32)
        given = (rng.random(true.size)[:, None] > edges[true]).sum(axis=1).astype(np.int32)
        return noise_budget(noise, given, 3, tail=TAIL), realised(true, given, 3)

    assert_rate_at_most(failures(draw, 400, seed=n), 400, TAIL)


def test_what_a_matrix_excludes_stays_excluded() -> None:
    budget = noise_budget(TransitionMatrix(CONFUSED), labels_of(500, 300, 100), 3, tail=TAIL)
    assert budget.joint[0, 2] == 0
    none = noise_budget(TransitionMatrix(np.eye(3)), labels_of(500, 300, 100), 3, tail=TAIL)
    assert none.wrong == 0
    assert none.joint.sum() == none.wrong_given.sum() == none.wrong_true.sum() == 0


def exact_proportions(table: Floats, lows: Floats, highs: Floats) -> tuple[Floats, Floats] | None:
    """Limits of each proportion by linear programmes: the oracle."""
    k = len(table)
    ends = []
    for j, sign in itertools.product(range(k), (1, -1)):
        solved = linprog(
            sign * np.eye(k)[j],
            A_ub=np.vstack([table.T, -table.T]),
            b_ub=np.concatenate([highs, -lows]),
            A_eq=np.ones((1, k)),
            b_eq=[1],
            bounds=(0, 1),
        )
        if solved.status == 2:
            return None
        ends.append(sign * solved.fun)
    return np.array(ends[::2]), np.array(ends[1::2])


def test_class_proportions_contain_the_exact_limits_and_are_close() -> None:
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(60):
        k = int(rng.integers(2, 6))
        mistakes = rng.dirichlet(np.ones(k), k)
        weight = rng.uniform(0.02, 0.5)
        table = (1 - weight) * np.eye(k) + weight * mistakes
        shares = rng.dirichlet(np.ones(k)) @ table
        half = rng.uniform(0.01, 0.05)
        lows, highs = np.maximum(shares - half, 0), np.minimum(shares + half, 1)
        exact, found = exact_proportions(table, lows, highs), _class_proportions(table, lows, highs)
        assert_at_most(found[0], exact[0], SOLVER)
        assert_at_most(exact[1], found[1], SOLVER)
        ratios.append((found[1] - found[0]).sum() / (exact[1] - exact[0]).sum())
    assert np.median(ratios) < 1.1, np.median(ratios)


def test_proportions_that_no_classes_have() -> None:
    table = np.array([[0.6, 0.4], [0.3, 0.7]])  # the share of label 0 is between 0.3 and 0.6, whatever the classes
    for share, possible in ((0.1, False), (0.25, False), (0.29, True), (0.45, True), (0.61, True), (0.7, False)):
        shares = np.array([share, 1 - share])
        assert (_class_proportions(table, shares - 0.02, shares + 0.02) is not None) == possible
        assert (exact_proportions(table, shares - 0.02, shares + 0.02) is not None) == possible


def test_largest_gain_against_linear_programmes() -> None:
    rng = np.random.default_rng(8)
    for _ in range(30):
        k = int(rng.integers(2, 6))
        centre = rng.dirichlet(np.ones(k))
        least, most = np.maximum(centre - 0.1, 0), np.minimum(centre + 0.2, 1)
        gains = rng.random((k, 3))
        for column, best in enumerate(_largest(gains, least, most)):
            solved = linprog(-gains[:, column], A_eq=np.ones((1, k)), b_eq=[1], bounds=np.stack([least, most], axis=1))
            assert_close(best, -solved.fun, SOLVER)


def test_a_matrix_that_contradicts_the_labels() -> None:
    # All but label 0 are rare, though 40% of class 0 should be labelled 1.
    noise = TransitionMatrix([[0.6, 0.4], [0.3, 0.7]])
    with pytest.warns(OutOfDomainWarning, match="may be transposed"):
        budget = noise_budget(noise, labels_of(900, 100), 2, tail=TAIL)
    assert budget.out_of_domain
    assert any("transposed" in assumption for assumption in budget.assumptions)
    # Nothing is known of the classes then: at most 40% wrong, up to chance, but no more than the labels allow.
    assert budget.wrong >= 400
    assert_exact(budget.wrong_true, [100, budget.wrong_true[1]])
    assert budget.wrong_true[1] >= 300


def test_limits_are_coherent() -> None:
    rng = np.random.default_rng(11)
    for _ in range(30):
        k = int(rng.integers(2, 5))
        table = 0.85 * np.eye(k) + 0.15 * rng.dirichlet(np.ones(k), k)
        given = rng.choice(k, 300, p=rng.dirichlet(np.full(k, 5.0)) @ table).astype(np.int32)
        cells = (table * np.bincount(given, minlength=k)).ravel()
        counts = TransitionCounts(rng.multinomial(100, cells / cells.sum()).reshape(k, k))
        for noise in (TransitionMatrix(table), counts):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OutOfDomainWarning)
                budget = noise_budget(noise, given, k, tail=TAIL)
            assert (np.diag(budget.joint) == 0).all()
            assert (budget.joint <= budget.wrong_given).all()
            assert (budget.joint <= budget.wrong_true[:, None]).all()
            assert (budget.wrong_given <= np.bincount(given, minlength=k)).all()
            assert budget.wrong <= budget.wrong_given.sum()
            assert max(budget.wrong_given.max(), budget.wrong_true.max()) <= budget.wrong <= 300


# Counts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample_of", ["labels", "source"])
@pytest.mark.parametrize("size", [40, 200])
@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_limits_of_counts_hold(sample_of: str, size: int, rate: float) -> None:
    n, k, shares = 300, 3, np.array([0.6, 0.3, 0.1])

    def draw(rng: np.random.Generator) -> tuple[NoiseBudget, Ints]:
        true = rng.choice(k, n + size, p=shares).astype(np.int32)
        wrong = rng.random(n + size) < rate * (1 + (true == 2))
        given = np.where(wrong, (true + 1) % k, true).astype(np.int32)
        judged = np.arange(n)
        sample = rng.choice(n, size, replace=False) if sample_of == "labels" else np.arange(n, n + size)
        table = np.bincount(true[sample] * k + given[sample], minlength=k * k).reshape(k, k)
        noise = TransitionCounts(table, sample_of=sample_of)  # type: ignore[arg-type]
        return noise_budget(noise, given[judged], k, tail=TAIL), realised(true[judged], given[judged], k)

    assert_rate_at_most(failures(draw, 150, seed=size), 150, TAIL)


def test_counts_are_exact_hypergeometric_limits() -> None:
    # One limit worked out alone: 5 wrong of 50 counted, of 200 labels; half of the error is for the total.
    noise = TransitionCounts([[22, 3], [2, 23]], sample_of="labels")
    budget = noise_budget(noise, labels_of(100, 100), 2, tail=TAIL)
    possible = [w for w in range(201) if hypergeom.cdf(5, 200, w, 50) > TAIL / 2]
    assert budget.wrong == max(possible)
    # Of others of the same source: 250 instances, 50 counted.
    others = noise_budget(TransitionCounts([[22, 3], [2, 23]]), labels_of(100, 100), 2, tail=TAIL)
    assert others.wrong == max(w for w in range(251) if hypergeom.cdf(5, 250, w, 50) > TAIL / 2) - 5
    assert others.wrong > budget.wrong
    assert budget.level is not None
    assert budget.level == others.level
    assert_close(budget.level, 0.95, ROUNDING)
    assert "these instances" in budget.assumptions[0]
    assert "the source of these instances" in others.assumptions[0]


def test_a_label_that_was_never_counted_may_always_be_wrong() -> None:
    noise = TransitionCounts([[50, 0, 0], [0, 50, 0], [0, 0, 0]])
    budget = noise_budget(noise, labels_of(500, 495, 5), 3, tail=TAIL)
    assert budget.wrong_given[2] == 5


def test_counts_that_the_labels_do_not_hold() -> None:
    noise = TransitionCounts([[30, 0], [0, 70]], sample_of="labels")
    refuses(
        InputError,
        r"counts 70 labels of class number 1, the labels judged hold 50; pass sample_of",
        lambda: noise_budget(noise, labels_of(50, 50), 2, tail=TAIL),
    )


def test_a_sample_by_given_label_is_noticed_and_still_holds() -> None:
    # 50 of each given label, though one is rare: the total cannot be read from the pooled sample.
    noise = TransitionCounts([[50, 25], [0, 25]])
    with pytest.warns(OutOfDomainWarning, match="distributed otherwise"):
        budget = noise_budget(noise, labels_of(10_000, 1_000), 2, tail=TAIL)
    assert budget.out_of_domain
    assert budget.wrong_given[1] >= 500
    assert budget.wrong >= 500
    assert "within each given label" in budget.assumptions[0]


def test_binomial_limit_is_the_smallest() -> None:
    for n, share, error in itertools.product((1, 10, 1000), (0.0, 1e-6, 0.02, 0.5, 0.99, 1.0), (1e-5, 0.01, 0.3)):
        limit = int(_binomial_limit(n, np.array([share]), error)[0])
        assert binom.sf(limit, n, share) <= error
        assert limit == 0 or binom.sf(limit - 1, n, share) > error


# Limits of marked ones in a finite set -------------------------------------------------------------------------------


@given(st.integers(1, 30), st.data())
@settings(max_examples=50)
def test_the_largest_number_that_is_not_rejected(size: int, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, size))
    seen = data.draw(st.integers(0, drawn))
    error = data.draw(st.sampled_from([0.001, 0.025, 0.2]))
    possible = np.arange(seen, size - (drawn - seen) + 1)
    kept = possible[hypergeom.cdf(seen, size, possible, drawn) > error]
    assert_exact(hypergeometric_limit(size, drawn, seen, error), kept.max())


@pytest.mark.parametrize(("case", "limit"), [((0, 0, 0), 0), ((7, 7, 3), 3), ((7, 0, 0), 7), ((5, 3, 3), 5)])
def test_what_needs_no_search(case: tuple[int, int, int], limit: int) -> None:
    assert_exact(hypergeometric_limit(*case, 0.05), limit)


def test_arrays_and_no_case() -> None:
    assert_exact(hypergeometric_limit([7, 7], [7, 0], [3, 0], 0.05), [3, 7])
    assert hypergeometric_limit([], [], [], 0.05).shape == (0,)
