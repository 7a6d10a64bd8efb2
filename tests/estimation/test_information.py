"""Information-based metrics against values worked by hand, closed forms, and an oracle in plain loops."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import demele
from demele.estimation.information import entropy, mutual_information
from demele.metrics import dci_compactness, dci_modularity, mig_from_information, modularity_from_information
from tests.oracles import information as oracle
from tests.tolerances import ROUNDING, assert_close, assert_exact

# sixteen rows are few, and a warning says so
pytestmark = [
    pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning"),
    pytest.mark.filterwarnings("ignore::demele.errors.AmbiguousKindWarning"),
]

LOG2 = math.log(2)


def h(p: float) -> float:
    """Entropy of a coin, in bits."""
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


# All cases below are made of fair bits a, b, c, e, every combination once (16 rows), so that informations are small
# numbers of bits. T is what "x and y" tells of x: H(x and y) - H(x and y | x) = h(1/4) - 1/2 * h(1/2).
T = h(1 / 4) - 1 / 2
A, B, C, E = (np.arange(16) >> shift & 1 for shift in (3, 2, 1, 0))
# 4 equal-width bins leave codes of 0..3 (and of 0..1) as they are
BINS = 4


def native(score: demele.Score) -> list[float]:
    return list(score.native.values())


def columns(*values: NDArray[np.int_]) -> NDArray[np.float64]:
    return np.column_stack(values).astype(float)


# Independent factors v1 = (a, b, e) of 3 bits and v2 = c of 1 bit. Bits of information, rows: codes:
#            v1  v2
# (a, b)      2   0
# (e, c)      1   1
# a and c     T   T
CODES = columns(2 * A + B, 2 * E + C, A & C)
FACTORS = np.column_stack([4 * A + 2 * B + E, C])
MATRIX = np.array([[2, 0], [1, 1], [T, T]])

# Dependent factors v1 = (a, b) and v2 = (b, c): 2 bits each, 1 bit shared, so H(v1|v2) = H(v2|v1) = 1.
#                 v1     v2
# (a, b and e)   1 + T   T
# (b, c)           1     2
# c                0     1
DEPENDENT_CODES = columns(2 * A + (B & E), 2 * B + C, C)
DEPENDENT_FACTORS = np.column_stack([2 * A + B, 2 * B + C])


def test_matrix_holds_informations_in_nats_with_names() -> None:
    score = demele.metrics.mig(CODES, FACTORS, bins=BINS)
    assert_close(score.matrix.to_numpy(), MATRIX * LOG2, ROUNDING)
    assert list(score.matrix.index) == ["z1", "z2", "z3"]
    assert list(score.matrix.columns) == ["v1", "v2"]


@pytest.mark.worked("mig")
def test_mig() -> None:
    # (2 - 1) / 3 and (1 - T) / 1
    score = demele.metrics.mig(CODES, FACTORS, bins=BINS)
    assert_close(native(score), [1 / 3, 1 - T], ROUNDING)
    assert_close(score.value, (1 / 3 + 1 - T) / 2, ROUNDING)


def test_mig_with_code_i_for_factor_i() -> None:
    # first two codes swapped: (1 - 2) / 3 and (0 - 1) / 1
    swapped = demele.metrics.mig(CODES[:, [1, 0, 2]], FACTORS, bins=BINS, reg_dim="in order")
    assert_close(native(swapped), [-1 / 3, -1], ROUNDING)


@pytest.mark.worked("mig_sup")
def test_mig_sup_ranks_normalised_values() -> None:
    # 2/3 - 0; for (e, c) the informations tie at 1 bit but 1/1 - 1/3 = 2/3; T/1 - T/3
    score = demele.metrics.mig_sup(CODES, FACTORS, bins=BINS)
    assert_close(native(score), [2 / 3, 2 / 3, 2 * T / 3], ROUNDING)
    assert_close(score.value, (4 / 3 + 2 * T / 3) / 3, ROUNDING)


@pytest.mark.worked("modularity")
def test_modularity() -> None:
    # factors (a, b), c, e. Code (a, b, c) informs by 2, 1, 0 bits: 1 - 1 / (2 * 4) = 7/8.
    # Code (a, c) by 1, 1, 0: 1 - 1/2 = 1/2. A constant code informs on nothing: 0.
    codes = columns(4 * A + 2 * B + C, 2 * A + C, 0 * A)
    score = demele.metrics.modularity(codes, np.column_stack([2 * A + B, C, E]), bins=8)
    assert_close(native(score), [7 / 8, 1 / 2, 0], ROUNDING)
    assert_close(score.value, (7 / 8 + 1 / 2) / 3, ROUNDING)


@pytest.mark.worked("dcimig")
def test_dcimig_takes_the_largest_gap_of_a_factor_not_their_sum() -> None:
    # Gaps: (a, b): 2 for v1; b: 1 for v1; (e, c) and (a and c): 0. v1 gets max(2, 1) = 2 of 3 bits, v2 none of 1.
    codes = np.column_stack([CODES, B])
    score = demele.metrics.dcimig(codes, FACTORS, bins=BINS)
    assert_close(score.value, 2 / 4, ROUNDING)
    assert_close(native(score), [2 / 3, 0], ROUNDING)


@pytest.mark.worked("jemmig")
def test_jemmig() -> None:
    # v1: z_* = (a, b), H(v1, z_*) = 3: 3 - 2 + 1 = 2 bits of at most 3 + log2(4) = 5.
    # v2: z_* = (e, c), H(v2, z_*) = 2: 2 - 1 + T = 1 + T bits of at most 1 + 2 = 3.
    score = demele.metrics.jemmig(CODES, FACTORS, bins=BINS)
    assert_close(native(score), [1 - 2 / 5, 1 - (1 + T) / 3], ROUNDING)
    assert_close(score.details["raw_per_factor"], [2 * LOG2, (1 + T) * LOG2], ROUNDING)
    assert_close(score.details["raw"], (3 + T) / 2 * LOG2, ROUNDING)


def test_jemmig_of_codes_tied_but_for_rounding() -> None:
    # v of 3 values, and (v, 7 values): both inform by log 3, in floats one more than the other.
    # H(v, z_*) = log 3, so log 3 of at most log 3 + log 21.
    v = np.tile(np.arange(3), 7 * 5)
    codes = columns(v, 7 * v + np.repeat(np.arange(7), 15))
    for order in ([0, 1], [1, 0]):
        score = demele.metrics.jemmig(codes[:, order], v[:, None], bins=21)
        assert_close(score.value, 1 - math.log(3) / math.log(63), ROUNDING)


@pytest.mark.worked("dmig")
def test_dmig_divides_by_what_the_factor_of_the_rival_leaves() -> None:
    # v1: own 1 + T, best other (b, c) with 1, which regularises v2: T / H(v1|v2) = T / 1.
    # v2: own 2, best other c with 1, which regularises nothing: 1 / H(v2) = 1/2.
    score = demele.metrics.dmig(DEPENDENT_CODES, DEPENDENT_FACTORS, bins=BINS, reg_dim=[0, 1])
    assert_close(native(score), [T, 1 / 2], ROUNDING)


def test_dmig_assumes_code_i_for_factor_i_and_says_so() -> None:
    # codes 1 and 2 swapped. v1: own (b, c) 1, best other 1 + T, which "regularises" v2: -T / 1.
    # v2: own (a, b and e) T, best other (b, c) 2, which "regularises" v1: (T - 2) / H(v2|v1) = T - 2.
    score = demele.metrics.dmig(DEPENDENT_CODES[:, [1, 0, 2]], DEPENDENT_FACTORS, bins=BINS)
    assert_close(native(score), [-T, T - 2], ROUNDING)
    assert "assumed-reg-dim" in {note.code for note in score.notes}


def test_dmig_of_tied_rivals_does_not_depend_on_their_order() -> None:
    # (b, c) and a copy of it tie as best other of v1; one regularises v2, the copy nothing: the larger entropy counts,
    # H(v1) = 2: T / 2. v2: own 2, the copy 2: 0.
    codes = DEPENDENT_CODES[:, [0, 1, 1]]
    for reg_dim in ([0, 1], [0, 2]):
        score = demele.metrics.dmig(codes, DEPENDENT_FACTORS, bins=BINS, reg_dim=reg_dim)
        assert_close(native(score), [T / 2, 0], ROUNDING)


def test_dmig_is_undefined_where_another_factor_determines_one() -> None:
    # v1 = v2: nothing is left of either once the other is known
    factors = np.column_stack([A, A])
    score = demele.metrics.dmig(columns(A, 2 * B + A), factors, bins=BINS, reg_dim=[0, 1])
    assert_exact(native(score), [np.nan, np.nan])


@pytest.mark.worked("xmig")
def test_xmig_looks_only_at_codes_that_regularise_nothing() -> None:
    # free is c: v1: (1 + T - 0) / 2; v2: (2 - 1) / 2
    score = demele.metrics.xmig(DEPENDENT_CODES, DEPENDENT_FACTORS, bins=BINS, reg_dim=[0, 1])
    assert_close(native(score), [(1 + T) / 2, 1 / 2], ROUNDING)


@pytest.mark.worked("dlig")
def test_dlig() -> None:
    # z1 = (b, a and e): I(v1) = 1 + T, I(v2) = 1: T / H(v1|v2) = T.
    # z2 = (c and e, a and b): I(v2) = 2T; I(v1) = H(a and b) = h(1/4), all of it: (2T - h(1/4)) / 1 < 0.
    codes = columns(2 * B + (A & E), 2 * (C & E) + (A & B))
    score = demele.metrics.dlig(codes, DEPENDENT_FACTORS, bins=BINS)
    assert_close(native(score), [T, 2 * T - h(1 / 4)], ROUNDING)


def test_dlig_of_tied_factors_does_not_depend_on_their_order() -> None:
    # Three factors a, (a, b), (a, b, c) and the code a for the first: it informs on both others by 1 bit.
    # H(a | a, b) = 0 for either: undefined, in any order.
    code = columns(A, B, C)
    factors = np.column_stack([A, 2 * A + B, 4 * A + 2 * B + C])
    for order in ([0, 1, 2], [0, 2, 1]):
        score = demele.metrics.dlig(code, factors[:, order], bins=2, reg_dim=[0, 1, 2])
        assert np.isnan(score.per_factor[0])


@pytest.mark.worked("rmig")
def test_rmig() -> None:
    # Means -1 and 1 by a fair bit, 2 bins with the edge at 0. A sample stays on its side with probability
    # Phi(1 / std), so I = 1 - h(Phi(1 / std)) bits: std 1 for the first code, 2 for the second.
    codes = columns(2 * A - 1, 2 * A - 1)
    stds = np.tile([1.0, 2.0], (16, 1))
    phi = [0.5 * (1 + math.erf(1 / (std * math.sqrt(2)))) for std in (1, 2)]
    score = demele.metrics.rmig(demele.Codes(codes, std=stds), A[:, None], bins=2)
    assert_close(score.value, (1 - h(phi[0])) - (1 - h(phi[1])), ROUNDING)
    assert 0.2 < score.value < 0.3


# Closed forms on matrices ------------------------------------------------------------------------------------------

TEN = 5 * np.eye(10)
CLOSED_FORMS: dict[str, tuple[NDArray[np.float64], float | None, float | None, float]] = {
    "5I": (TEN, 1, 1, 1),
    "a dead code": (np.array([[1, 0], [0, 1], [0, 0]]), 1, 1, 2 / 3),
    "zeros": (np.zeros((10, 10)), 0, 0, 0),
    "redundant codes [5I;5I]": (np.vstack([TEN, TEN]), 1, None, 1),
    "one code for two factors [5I,5I]": (np.hstack([TEN, TEN]), None, 1, 1 - 1 / 19),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms(name: str) -> None:
    matrix, dci_d, dci_c, modularity = CLOSED_FORMS[name]
    # two of twenty columns (rows) share a code (factor) equally: 1 - log 2 / log 20
    two_of_twenty = 1 - math.log(2) / math.log(20)
    assert_close(dci_modularity(matrix), two_of_twenty if dci_d is None else dci_d, ROUNDING)
    assert_close(dci_compactness(matrix), two_of_twenty if dci_c is None else dci_c, ROUNDING)
    assert_close(modularity_from_information(matrix), modularity, ROUNDING)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (1, 3), (3, 1)])
def test_dci_of_matrices_agrees_with_oracle(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(sum(shape)).random(shape) * (np.random.default_rng(1).random(shape) > 0.2)
    assert_close(dci_modularity(matrix), oracle.dci_modularity(matrix.tolist()), ROUNDING)
    assert_close(dci_compactness(matrix), oracle.dci_compactness(matrix.tolist()), ROUNDING)


# Random data against the oracle ------------------------------------------------------------------------------------


class Case:
    """Continuous codes, a continuous and two categorical factors that depend on each other, as arrays and as labels."""

    def __init__(self, seed: int, n: int, d: int, bins: int) -> None:
        rng = np.random.default_rng(seed)
        base = rng.random((n, 3))
        classes = np.column_stack([np.digitize(base[:, 1], [0.2, 0.5]), np.digitize(base[:, 1] + base[:, 2], [0.9])])
        self.factors = np.column_stack([base[:, 0], classes])
        self.codes = base @ rng.standard_normal((3, d)) + 0.2 * rng.standard_normal((n, d))
        self.stds = rng.uniform(0.05, 0.6, (n, d))
        self.bins = bins
        self.z = [oracle.equal_width(column.tolist(), bins) for column in self.codes.T]
        self.v = [oracle.equal_width(base[:, 0].tolist(), bins), *classes.T.tolist()]


CASES = [Case(0, 120, 4, 5), Case(1, 60, 5, 10), Case(2, 200, 4, 2)]
REG_DIM = [3, 0, 1]

#: Name of a metric, options, and its values by the oracle.
AGAINST_ORACLE: list[tuple[str, dict[str, Any], Callable[[Case], list[float]]]] = [
    ("mig", {}, lambda c: oracle.mig(c.z, c.v)),
    ("mig", {"reg_dim": REG_DIM}, lambda c: oracle.mig_with_reg_dim(c.z, c.v, REG_DIM)),
    ("mig_sup", {}, lambda c: oracle.mig_sup(c.z, c.v)),
    ("modularity", {}, lambda c: oracle.modularity(c.z, c.v)),
    ("jemmig", {}, lambda c: oracle.jemmig(c.z, c.v, [c.bins] * len(c.z))[0]),
    ("dmig", {"reg_dim": REG_DIM}, lambda c: oracle.dmig(c.z, c.v, REG_DIM)),
    ("xmig", {"reg_dim": REG_DIM}, lambda c: oracle.xmig(c.z, c.v, REG_DIM)),
    ("dlig", {"reg_dim": REG_DIM}, lambda c: oracle.dlig(c.z, c.v, REG_DIM)),
    ("rmig", {}, lambda c: oracle.rmig(c.codes.T.tolist(), c.stds.T.tolist(), c.v, c.bins)),
]


@pytest.mark.oracle("mig", "mig_sup", "modularity", "jemmig", "dmig", "xmig", "dlig", "rmig")
def test_agrees_with_oracle() -> None:
    for name, options, theirs in AGAINST_ORACLE:
        for case in CASES:
            codes = demele.Codes(case.codes, std=case.stds if name == "rmig" else None)
            computed = getattr(demele.metrics, name)(codes, case.factors, bins=case.bins, **options)
            assert_close(native(computed), theirs(case), ROUNDING)
            assert_close(computed.value, np.mean(native(computed)), ROUNDING)


@pytest.mark.oracle("dcimig", "jemmig")
@pytest.mark.parametrize("case", CASES, ids=["5 bins", "10 bins", "2 bins"])
def test_dcimig_and_raw_jemmig_agree_with_oracle(case: Case) -> None:
    score = demele.metrics.dcimig(case.codes, case.factors, bins=case.bins)
    value, per_factor = oracle.dcimig(case.z, case.v)
    assert_close(score.value, value, ROUNDING)
    assert_close(native(score), per_factor, ROUNDING)
    raw = demele.metrics.jemmig(case.codes, case.factors, bins=case.bins).details["raw_per_factor"]
    assert_close(raw, oracle.jemmig(case.z, case.v, [case.bins] * len(case.z))[1], ROUNDING)


# Corrected informations --------------------------------------------------------------------------------------------


def test_perfect_codes_of_few_rows_are_perfect_once_corrected() -> None:
    # the plug-in gap of 40 rows is 0.48, its rival's bias being 81 cells over 80
    factors = np.random.default_rng(0).random((400, 2))
    for metric in (demele.metrics.mig, demele.metrics.dcimig, demele.metrics.mig_sup):
        assert metric(factors[:40], factors[:40]).value < 0.6
        assert metric(factors[:40], factors[:40], correction="adjusted").value > 0.8
        assert metric(factors, factors, correction="miller-madow").value > 0.97


# The robust estimator ----------------------------------------------------------------------------------------------


def test_robust_dmig_is_in_the_unit_of_its_own_factor() -> None:
    # v2 = v1 mod 2 leaves log 5 of log 10 nats of v1: DMIG_1 = (1 - log 2 / log 10) / (log 5 / log 10) = 1.
    # Nothing is left of v2 once v1 is known: undefined.
    rng = np.random.default_rng(0)
    first = rng.integers(0, 10, 2000)
    factors = np.column_stack([first, first % 2])
    codes = factors + rng.uniform(-0.2, 0.2, (2000, 2))
    for estimator in ("histogram", "robust"):
        score = demele.metrics.dmig(codes, factors, estimator=estimator)
        assert native(score)[0] == pytest.approx(1, abs=0.02)
        assert np.isnan(native(score)[1])


@pytest.mark.parametrize("name", ["mig", "modularity", "dcimig", "dlig"])
def test_robust_half_samples_may_lose_a_rare_value(name: str) -> None:
    # in about half of the half-samples the only row of the rare value is missing, and the factor is constant
    rng = np.random.default_rng(0)
    factors = np.column_stack([np.arange(60) == 7, rng.random(60)]).astype(float)
    codes = factors + 0.01 * rng.random((60, 2))
    score = getattr(demele.metrics, name)(codes, factors, estimator="robust", n_bootstrap=10)
    assert np.isfinite(score.value)
    assert score.interval.low <= score.value <= score.interval.high


@pytest.mark.parametrize(("codes", "factors"), [("aabbab", "xxyyyy"), ("aabbcc", "xxyyzz"), ("aaabbb", "xyzxyz")])
def test_adjusted_information_takes_off_the_mean_over_all_orders_of_the_rows(codes: str, factors: str) -> None:
    def table(of: Sequence[str]) -> NDArray[np.float64]:
        rows, columns = sorted(set(codes)), sorted(set(factors))
        found = np.zeros((len(rows), len(columns)))
        for one, other in zip(codes, of, strict=True):
            found[rows.index(one), columns.index(other)] += 1
        return found

    chance = np.mean([mutual_information(table(order)) for order in itertools.permutations(factors)])
    height = entropy(table(factors).sum(axis=0))
    expected = height * (mutual_information(table(factors)) - chance) / (height - chance)
    assert_close(mutual_information(table(factors), "adjusted"), expected, ROUNDING)


def test_adjusted_information_is_nothing_where_chance_is_all_there_could_be() -> None:
    own, one = np.eye(4), np.array([[2.0], [3.0]])  # every row its own class: any order is perfect; one class
    for table in (own, one):
        assert_exact(mutual_information(table, "adjusted"), np.zeros(()))


def test_mig_of_a_given_matrix() -> None:
    # (0.6 - 0.2) / 1 and (0.5 - 0) / 0.8
    assert_close(mig_from_information([[0.6, 0.0], [0.2, 0.5]], [1.0, 0.8]), (0.4 + 0.625) / 2, ROUNDING)
