"""Interventional robustness: hand-worked cases, the slow oracle, laws, chunks and merges, edges."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.estimation.cells import summarise_cells
from demele.estimation.irs import (
    crossed_deviations,
    crossed_from_extremes,
    disentanglement_scores,
    general_irs,
    general_irs_from_cells,
    irs_score,
    summarise_extremes,
)
from tests.oracles import cells as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

Array = NDArray[Any]


def table(*columns: Any) -> Array:
    return np.column_stack(columns)


# ----------------------------------------------------------------------------------------------------------- crossed

#: Code 0, factor A = (0,0,0,1,1,1): value 0 has 0, 2, 4 (mean 2, farthest 2); value 1 has 10, 12, 20 (mean 14, farthest
#: 6); all rows: mean 8, farthest 12. R = 1 - (2 + 6)/2 / 12 = 2/3, and both weightings agree.
#: Factor B = (0,0,0,0,1,-1): value 0 has 0, 2, 4, 10 (mean 4, farthest 6), value 1 has 12 (farthest 0). On the five
#: annotated rows: mean 5.6, farthest 6.4. Frequency: 1 - (4/5 * 6)/6.4 = 1/4. Uniform: 1 - 3/6.4 = 17/32.
#: Code 1 is constant.
CODES = table([0.0, 2.0, 4.0, 10.0, 12.0, 20.0], np.full(6, 7.0))
BINS = table([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, -1])


def test_crossed_by_hand() -> None:
    result = crossed_deviations(CODES, BINS, [2, 3])
    assert_close(result.matrix, [[2 / 3, 1 / 4], [np.nan, np.nan]], ROUNDING)
    # Variance: (64 + 36 + 16 + 4 + 16 + 144)/6 = 280/6.
    assert_close(result.max_deviation, [12 / np.sqrt(280 / 6), 0.0], ROUNDING)
    assert_close(result.deviation, [np.sqrt(280 / 6), 0.0], ROUNDING)
    assert_exact(result.inactive, [False, True])


@settings(max_examples=60)
@given(data=st.data(), uniform=st.booleans(), q=st.sampled_from([1.0, 0.9, 0.5]))
def test_crossed_equals_oracle(data: st.DataObject, uniform: bool, q: float) -> None:
    n, d, m = (data.draw(st.integers(1, top)) for top in (12, 3, 3))
    codes = np.array(data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=n, max_size=n)))
    bins = np.array(data.draw(st.lists(st.lists(st.integers(-1, 3), min_size=m, max_size=m), min_size=n, max_size=n)))
    result = crossed_deviations(
        codes.astype(float), bins, [4] * m, quantile=q, value_weights="uniform" if uniform else "frequency"
    )
    expected = np.array(oracle.crossed_matrix(codes.tolist(), bins.tolist(), uniform=uniform, q=q))
    assert_close(result.matrix, expected, ROUNDING)


def wide_sample(n: int, seed: int = 3) -> tuple[Array, Array, list[int]]:
    """Codes far from 0, of unlike units and tails, and factors with gaps in their values and annotations."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, [4, 7, 2], (n, 3))
    bins[bins[:, 1] == 5, 1] = 6
    codes = bins @ rng.normal(size=(3, 4)) + rng.normal(size=(n, 4)) ** 3
    bins[rng.random((n, 3)) < 0.1] = -1
    return codes * [1.0, 1e-3, 1e4, 1.0] + [0.0, 5.0, -1e5, 100.0], bins, [4, 7, 2]


def test_chunks_and_memory_maps(tmp_path: Path) -> None:
    codes, bins, n_bins = wide_sample(70_001)
    path = tmp_path / "codes.npy"
    np.save(path, codes.astype(np.float32))
    mapped = np.load(path, mmap_mode="r")
    result = crossed_deviations(mapped, bins, n_bins)
    expected = oracle.crossed_matrix(mapped[:, :1].astype(float).tolist(), bins.tolist())
    assert_close(result.matrix[:1], expected, ROUNDING)
    assert_close(result.deviation, mapped.astype(float).std(axis=0), ROUNDING)


def test_edges_of_the_crossed_form() -> None:
    # A factor that no row is annotated for: NaN. A constant factor fixes nothing: 0. A code that the factor fixes: 1.
    codes = table([0.1, 0.1, 0.7, 0.7, 0.7])
    bins = table([-1] * 5, [2] * 5, [0, 0, 1, 1, 1])
    result = crossed_deviations(codes, bins, [3, 3, 2])
    assert_exact(result.matrix, [[np.nan, 0.0, 1.0]])
    # Constant on the rows annotated for a factor only: nothing to explain there.
    assert_exact(crossed_deviations(codes, table([-1, -1, 0, 1, 1]), [2]).matrix, [[np.nan]])
    # Constant but for a few rows: no distance at the median, hence inactive there.
    outlier = np.zeros((9, 1))
    outlier[0] = 1.0
    outlier[1] = -1.0
    result = crossed_deviations(outlier, np.zeros((9, 1), int), [1], quantile=0.5)
    assert_exact(result.inactive, [True])
    assert_exact(result.matrix, [[np.nan]])
    assert_exact(result.max_deviation, [0.0])
    none = crossed_from_extremes(summarise_extremes(np.empty((0, 2)), np.empty((0, 1), int), [3]))
    assert_exact(none.matrix, np.full((2, 1), np.nan))
    assert_exact(none.inactive, [True, True])


def test_constant_codes_stay_constant_far_from_zero() -> None:
    codes = np.full((40_000, 1), 0.1)
    result = crossed_deviations(codes, np.arange(40_000)[:, np.newaxis] % 3, [3])
    assert_exact(result.inactive, [True])
    assert_exact(result.deviation, [0.0])


def test_a_code_that_the_factor_fixes_scores_exactly_one() -> None:
    # Means of equal values are not exact in floating point; distances from them must be.
    levels = np.random.default_rng(4).random((50, 3))
    codes, bins = np.repeat(levels, 7, axis=0), np.repeat(np.arange(50), 7)[:, np.newaxis]
    for q in (1.0, 0.9):
        assert_exact(crossed_deviations(codes, bins, [50], quantile=q).matrix, np.ones((3, 1)))


def test_distances_of_rounding_size_are_none() -> None:
    # The five annotated rows: median distance 0 (three rows are at the mean), but their mean is not exact.
    for unit in (1.0, 0.1, 0.3, 0.7):
        codes = unit * table([0.0, 1.0, 1.0, 1.0, 2.0, 5.0])
        result = crossed_deviations(codes, table([0, 0, 0, 0, 0, -1]), [1], quantile=0.5)
        assert_exact(result.matrix, [[np.nan]])


def test_irs_score_by_hand() -> None:
    matrix = np.array([[0.2, 0.9], [0.5, np.nan], [np.nan, np.nan]])
    # (3 * 0.9 + 1 * 0.5) / 4 = 0.8; uniform 0.7; the undefined code drops out.
    per_code, value = irs_score(matrix, np.array([3.0, 1.0, 0.0]))
    assert_exact(per_code, [0.9, 0.5, np.nan])
    assert_close(value, 0.8, ROUNDING)
    assert_close(irs_score(matrix, np.array([3.0, 1.0, 0.0]), "uniform")[1], 0.7, ROUNDING)
    per_code, value = irs_score(matrix[2:], np.zeros(1))
    assert_exact(per_code, [np.nan])
    assert_exact(value, np.nan)


# ----------------------------------------------------------------------------------------------------------- general

#: Factors A (of interest), B (nuisance), C (rest), one code; B and C come along with each other.
#:
#: A = 0, 8 rows: (B0,C0) 0 0 3, mean 1; (B0,C1) 5; (B1,C0) 1; (B1,C1) 6 7 8, mean 7. E[z|A0] = 30/8 = 3.75.
#:   p(C0|A0) = p(C1|A0) = 1/2. do(B0): (1 + 5)/2 = 3 (the plain mean of the cell is 2); do(B1): (1 + 7)/2 = 4 (plain
#:   5.5). PIDA 0.75 and 0.25 (plain means: 1.75 both); MPIDA 0.75, at B0.
#:   Weights at (A0,B0): (1/2)/(3/4) = 2/3 for three rows, (1/2)/(1/4) = 2 for one; 4^2 / (3 * 4/9 + 4) = 3 rows.
#: A = 1, 4 rows: (B0,C0) 10; (B0,C1) 12; (B1,C1) 13 17, mean 15. E[z|A1] = 52/4 = 13. p(C0|A1) = 1/4.
#:   do(B0): 10/4 + 12 * 3/4 = 11.5 (plain 11). do(B1): C0 never occurs with it, coverage 3/4, 15. MPIDA 2, at B1.
#: EMPIDA = 8/12 * 0.75 + 4/12 * 2 = 7/6. Normaliser: mean 82/12 = 41/6, the farthest cell has 15: 49/6.
#: IRS = 1 - 7/49 = 6/7. Variance: 886/12 - (41/6)^2 = 977/36.
INTEREST = table([0] * 8 + [1] * 4)
NUISANCE = table([0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1])
REST = table([0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1])
CODE = table([0.0, 0, 3, 5, 1, 6, 7, 8, 10, 12, 13, 17])


def test_confounded_factors_by_hand() -> None:
    result = general_irs(CODE, INTEREST, NUISANCE, REST)
    deviation = np.sqrt(977) / 6
    assert_close(result.value, 6 / 7, ROUNDING)
    assert_close(result.empida, 7 / 6 / deviation, ROUNDING)
    assert_close(result.normaliser, 49 / 6 / deviation, ROUNDING)
    assert_exact(result.situations, [[0], [1]])
    assert_close(result.frequency, [2 / 3, 1 / 3], ROUNDING)
    assert_close(result.mpida, np.array([0.75, 2.0]) / deviation, ROUNDING)
    assert_close(result.worst_rows, [3.0, 2.0], ROUNDING)
    assert_close(result.min_coverage, 0.75, ROUNDING)
    assert_close(result.mean_coverage, (4 + 4 + 2 + 2 * 0.75) / 12, ROUNDING)
    assert_exact(result.settings_seen, 1.0)
    assert result.n == 12


@settings(max_examples=80)
@given(data=st.data(), order=st.sampled_from([1, 2, np.inf]))
def test_general_equals_oracle(data: st.DataObject, order: float) -> None:
    n = data.draw(st.integers(1, 14))
    d = data.draw(st.integers(1, 3))
    codes = np.array(data.draw(st.lists(st.lists(st.integers(-4, 4), min_size=d, max_size=d), min_size=n, max_size=n)))
    parts = []
    for _ in range(3):
        m = data.draw(st.integers(0, 2))
        part = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), min_size=n, max_size=n))
        parts.append(np.array(part, dtype=int).reshape(n, m))
    result = general_irs(codes.astype(float), *parts, norm=order)
    interest, nuisance, rest = (part.tolist() for part in parts)
    expected = oracle.general_irs(codes.tolist(), interest, nuisance, rest, order)
    assert_close(result.value, expected, ROUNDING)
    assert np.isnan(result.value) or result.value <= 1 + 1e-12


def confounded_sample(n: int, seed: int = 5) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 3, n)
    bins = (hidden[:, np.newaxis] + rng.integers(0, 3, (n, 4))) % [5, 4, 3, 5]
    return bins @ rng.normal(size=(4, 3)) + rng.normal(size=(n, 3)) + [0, 50, -3], bins


@pytest.mark.parametrize("sizes", [[5, 4, 3, 5], [900, 900, 900, 900], [5, 2**32, 2**32, 5]])
def test_tables_and_hashes_agree(sizes: list[int]) -> None:
    codes, bins = confounded_sample(400)
    expected = general_irs(codes, bins[:, :1], bins[:, 1:3], bins[:, 3:])
    result = general_irs_from_cells(summarise_cells(codes, list(bins.T), sizes), [0], [1, 2])
    assert_close(result.value, expected.value, ROUNDING)
    order = np.argsort(result.situations[:, 0])  # cells that were hashed come in order of appearance
    assert_exact(result.situations[order], expected.situations)
    assert_close(result.mpida[order], expected.mpida, ROUNDING)


def test_many_chunks_of_few_and_of_many_cells() -> None:
    rng = np.random.default_rng(2)
    bins = rng.integers(0, [3, 40, 40, 40], (70_001, 4))
    codes = bins @ rng.normal(size=(4, 2)) + 1e3
    for columns in (bins[:, :2], bins):  # 120 cells in a table; 47 000 hashed, more than a chunk has rows
        summary = summarise_cells(codes, list(columns.T), columns.max(axis=0) + 1)
        keys, cell, count = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
        order = np.lexsort(summary.levels[::-1])
        assert_exact(summary.levels[:, order].T, keys)
        assert_exact(summary.count[order], count)
        for j in range(2):
            expected = np.bincount(cell, weights=codes[:, j] - summary.moments.reference[j])
            unit = 1e4  # of sums of some hundred values around 0, 50 wide
            assert_close(summary.total[j, order] / unit, expected / unit, ROUNDING)


def test_rows_without_annotation_are_left_out() -> None:
    interest, rest, code = (np.append(part, [[1], [1]], axis=0) for part in (INTEREST, REST, CODE))
    interest[12], rest[13] = -1, -1
    code[12:] = 1e9
    result = general_irs(code, interest, np.append(NUISANCE, [[0], [1]], axis=0), rest)
    assert_close(result.value, 6 / 7, ROUNDING)
    assert result.n == 12
    refuses(NotEnoughData, "none of the 14", general_irs, code, np.full((14, 1), -1), rest, rest)


def test_disentanglement_scores_equal_the_general_form() -> None:
    codes, bins = confounded_sample(150)
    codes = table(codes, np.full(150, 2.0))
    bins = bins.copy()
    bins[:3, 1] = -1
    scores = disentanglement_scores(codes, bins)
    assert_exact(np.isnan(scores).all(axis=1), [False, False, False, True])
    nothing = np.zeros((150, 0), int)
    for code in range(3):
        for i in range(4):
            expected = general_irs(codes[:, [code]], bins[:, [i]], np.delete(bins, i, axis=1), nothing).value
            assert_close(scores[code, i], expected, ROUNDING)


# ----------------------------------------------------------------------------------------------------------- picture
