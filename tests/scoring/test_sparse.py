"""Sparse codes: what is counted from the non-zeros alone is what a dense computation counts."""

import math
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import demele
from demele.core.columns import read_sparse_codes
from demele.core.inputs import read_factors
from demele.errors import AmbiguousKindWarning, InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.estimation.counts import EqualFrequency, EqualWidth, cut
from demele.estimation.information import information_table
from demele.estimation.univariate import squared_correlations
from demele.metrics import sparse_source
from demele.metrics.sparse_source import blocks, count_block, factor_levels, nonzero_bins
from demele.scoring.sparse import sparse_metrics
from tests.oracles import information as oracle
from tests.refusals import refuses
from tests.tolerances import ROUNDING, assert_close, assert_exact

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")

OF_COUNTS = ["mig", "mig_sup", "modularity", "dcimig", "jemmig"]
LOG2 = math.log(2)


def sparse_case(n: int = 300, d: int = 12, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Codes that are mostly zero, of both signs, some of which know a factor; the last code is dead."""
    rng = np.random.default_rng(seed)
    factors = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 10, n), rng.integers(0, 3, n)])
    codes = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
    codes[:, 0] = (factors[:, 0] == 1) * rng.random(n)
    codes[:, 1] = (factors[:, 1] > 6) * (rng.random(n) < 0.8) * factors[:, 1]
    codes[:, 2] = 1.0 + rng.random(n)  # never zero
    codes[:, -1] = 0.0
    return codes, factors


def equal_width(own: NDArray[Any], bins: int) -> Any:
    return oracle.equal_width(own.tolist(), bins)


def equal_frequency(own: NDArray[Any], bins: int) -> Any:
    return cut(own, EqualFrequency(bins).column_bins(own, own.min(), own.max()))


def zero_apart(codes: NDArray[Any], bins: int, rule: Callable[[NDArray[Any], int], Any] = equal_width) -> NDArray[Any]:
    """Bin of every value, made densely: 0 is zero, non-zeros are cut by themselves."""
    binned = np.zeros(codes.shape, dtype=np.intp)
    for column in range(codes.shape[1]):
        filled = codes[:, column] != 0
        own = codes[filled, column].astype(float)
        if len(own):
            binned[filled, column] = 1 + np.array(rule(own, bins))
    return binned


def columns(table: NDArray[Any]) -> list[list[int]]:
    return [column.tolist() for column in table.T]


# Against hand, loops, and the dense metrics ---------------------------------------------------------------------------


def test_worked_by_hand() -> None:
    # Eight rows, a fair bit v. "exact" is v. "half" is active in two of the four rows with v = 1:
    # I = h(1/4) - 1/2 h(1/2) = log 4 - 3/4 log 3 - 1/2 log 2. "dead" says nothing.
    v = [0, 0, 0, 0, 1, 1, 1, 1]
    codes = sp.csr_array(np.column_stack([v, [0, 0, 0, 0, 0, 0, 5.0, 5.0], np.zeros(8)]))
    half = math.log(4) - 0.75 * math.log(3) - LOG2 / 2
    found = demele.evaluate_sparse(codes, v, ["mig", "dcimig"], code_names=["exact", "half", "dead"])
    assert_close(found.information["v1"], [LOG2, half, 0.0], ROUNDING)
    assert_close(found["mig"].value, 1 - half / LOG2, ROUNDING)
    assert_close(found["dcimig"].value, 1.0, ROUNDING)
    assert_close(found.code_entropy, [LOG2, math.log(4) - 0.75 * math.log(3), 0.0], ROUNDING)
    assert_close(found.joint_entropy["v1"], [LOG2, LOG2 + LOG2 / 2, LOG2], ROUNDING)
    assert_close(found.factor_entropy["v1"], LOG2, ROUNDING)
    assert_exact(found.activity, [0.5, 0.25, 0.0])
    assert found.dead.tolist() == [2]
    best, second = found.top_codes("v1", 2)
    assert (best.code, best.rank, best.direction, best.activity_there) == ("exact", 1, "1", 1.0)
    assert (second.code, second.direction, second.activity, second.activity_there) == ("half", "1", 0.25, 0.5)
    assert_close(second.relative, half / LOG2, ROUNDING)


@pytest.mark.parametrize("bins", [2, 3, 10])
def test_equals_the_loops_of_the_oracle(bins: int) -> None:
    codes, factors = sparse_case()
    found = demele.evaluate_sparse(sp.csc_array(codes), factors, OF_COUNTS, bins=bins)
    own, labels = columns(zero_apart(codes, bins)), columns(factors)
    assert_close(found.information, oracle.information_matrix(own, labels), ROUNDING)
    assert_close(found["mig"].per_factor, oracle.mig(own, labels), ROUNDING)
    assert_close(found["mig_sup"].per_code, oracle.mig_sup(own, labels), ROUNDING)
    assert_close(found["modularity"].per_code, oracle.modularity(own, labels), ROUNDING)
    assert_close(found["dcimig"].value, oracle.dcimig(own, labels)[0], ROUNDING)
    assert_close(found.code_entropy, oracle.entropies(own), ROUNDING)
    joint = [[oracle.joint_entropy(code, factor) for factor in labels] for code in own]
    assert_close(found.joint_entropy, joint, ROUNDING)


@pytest.mark.parametrize("correction", ["none", "miller-madow"])
def test_equals_the_dense_metrics_on_the_same_bins(correction: Literal["none", "miller-madow"]) -> None:
    codes, factors = sparse_case()
    codes[:, 2] *= np.arange(300) % 2  # so that each code but the dead one has all bins, and JEMMIG the same number
    found = demele.evaluate_sparse(sp.csc_array(codes), factors, OF_COUNTS, bins=4, correction=correction)
    same: Any = {"bins": np.arange(-0.5, 5).tolist(), "options": {"information": {"correction": correction}}}
    dense = demele.evaluate(zero_apart(codes, 4), factors, OF_COUNTS, **same)
    for name in OF_COUNTS:
        assert_close(found[name].value, dense[name].value, ROUNDING)
        assert_close(found[name].matrix.to_numpy(), dense[name].matrix.to_numpy(), ROUNDING)


def test_jemmig_counts_the_bins_that_a_code_has() -> None:
    # A code that is always there has no bin of zero: two bins, not three. I = H = log 2 for both codes.
    v = np.array([0, 0, 1, 1] * 5)
    noise = np.tile([0, 1], 10)
    score = demele.evaluate_sparse(sp.csc_array(noise[:, None] + 1), v, "jemmig", bins=2)["jemmig"]
    assert_close(score.value, 1 - (2 * LOG2) / (2 * LOG2), ROUNDING)
    silent_last = (noise + 1) * (np.arange(20) < 16)
    three = demele.evaluate_sparse(sp.csc_array(silent_last[:, None]), v, "jemmig", bins=2)
    joint = oracle.joint_entropy(silent_last.tolist(), v.tolist())
    information = oracle.mutual_information(silent_last.tolist(), v.tolist())
    assert_close(three["jemmig"].value, 1 - (joint - information) / (LOG2 + math.log(3)), ROUNDING)


def test_bins_of_equal_frequency_are_those_of_the_nonzeros() -> None:
    codes, factors = sparse_case()
    found = demele.evaluate_sparse(sp.csc_array(codes), factors, ["mig"], bins=demele.bins.EqualFrequency(3))
    binned = zero_apart(codes, 3, equal_frequency)
    assert_close(found.information, oracle.information_matrix(columns(binned), columns(factors)), ROUNDING)


# SAP and DCI ---------------------------------------------------------------------------------------------------------


def mixed_factors(n: int = 300) -> NDArray[Any]:
    _, factors = sparse_case(n)
    return np.column_stack([factors[:, 0].astype(float), np.random.default_rng(5).random(n) + factors[:, 0]])


@pytest.mark.parametrize("missing", [False, True])
def test_sap_is_the_dense_one_where_all_codes_are_screened(missing: bool) -> None:
    codes, _ = sparse_case()
    factors = mixed_factors()
    if missing:
        factors[::7, 1] = np.nan
    found = demele.evaluate_sparse(sp.csr_array(codes), factors, "sap", missing="omit")["sap"]
    dense = demele.metrics.sap(codes, demele.Factors(factors, missing="omit"))
    assert_exact(found.matrix.to_numpy()[:, 0], dense.matrix.to_numpy()[:, 0])  # accuracies
    # squared correlations from sums over the non-zeros
    assert_close(found.matrix.to_numpy(), dense.matrix.to_numpy(), ROUNDING)
    assert_close(found.value, dense.value, ROUNDING)


@pytest.mark.parametrize("model", ["forest", "lasso"])
def test_dci_is_the_dense_one_where_all_codes_are_screened(model: str) -> None:
    codes, factors = sparse_case(200, 6)
    names = [f"dci_{model}_{prop}" for prop in ("modularity", "compactness", "explicitness")]
    found = demele.evaluate_sparse(sp.csr_array(codes), factors[:, [0, 2]], names, seed=3)
    dense = demele.evaluate(codes, factors[:, [0, 2]], names, seed=3)
    for name in names:
        assert_exact(found[name].value, dense[name].value)
        assert_exact(found[name].matrix.to_numpy(), dense[name].matrix.to_numpy())


def test_screening_takes_the_best_codes_of_each_factor_and_says_what_is_left() -> None:
    codes, factors = sparse_case(400)
    found = demele.evaluate_sparse(sp.csc_array(codes), factors[:, [0, 1]], ["sap", "dcimig"], screen=2, n_rows=100)
    assert found.screened == ("z1", "z2")
    assert found["sap"].n == 100
    text = "; ".join(note.message for note in found["sap"].notes)
    information = found.information.to_numpy()
    share = 1 - information[:2].sum() / information.sum()
    assert (
        f"fitted on 2 of 12 codes (those that inform most on each factor in turn) and 100 of 400 rows; the other "
        f"codes hold {share:.1%} of the information" in text
    )
    assert np.isnan(found["sap"].matrix.to_numpy()).all(axis=1).sum() == 10
    again = demele.evaluate_sparse(sp.csc_array(codes), factors[:, [0, 1]], "sap", screen=2, n_rows=100, seed=1)
    assert again["sap"].value != found["sap"].value  # another sample of rows


def test_squared_correlations_look_at_all_codes() -> None:
    codes, _ = sparse_case()
    factor = mixed_factors()[:, 1] + codes[:, 5]
    found = demele.evaluate_sparse(sp.csc_array(codes), factor, "sap", screen=2, n_rows=50)["sap"]
    assert_close(found.matrix.to_numpy()[:, 0], squared_correlations(codes, factor), ROUNDING)
    assert found.n == 300
    assert not [note for note in found.notes if note.code == "screened-codes"]


@pytest.mark.parametrize("unit", [1e-150, 1e-3, 1.0, 1e150])
def test_squared_correlations_do_not_depend_on_the_unit(unit: float) -> None:
    codes, _ = sparse_case()
    factors = read_factors(mixed_factors()[:, 1])
    read = read_sparse_codes(sp.csc_array(codes * unit))
    work = blocks(read, nonzero_bins(read, sparse_source.Active()), factor_levels(factors, EqualWidth(10)))
    found = np.concatenate([sparse_source.squared_correlation_block(read, factors.columns, block) for block in work])
    assert_close(found[:, 0], squared_correlations(codes, factors.columns[0].values), ROUNDING)


# What must not matter -------------------------------------------------------------------------------------------------


def scores_of(found: demele.SparseEvaluation) -> list[float]:
    return [score.value for score in found]


FORMS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "csr": sp.csr_array,
    "coo": sp.coo_array,
    "csr matrix": sp.csr_matrix,
    "csc matrix": sp.csc_matrix,
    "lil": sp.lil_array,
    "unsorted": lambda codes: sp.csc_array(sp.csr_array(codes)[:, ::-1].tocsr()[:, ::-1]),
    "explicit zeros": lambda codes: with_stored_zeros(sp.csc_array(codes)),
    "added up": lambda codes: doubled(sp.coo_array(codes)),
}


def with_stored_zeros(codes: Any) -> Any:
    everything = sp.csc_array(np.ones(codes.shape))
    everything.data = codes.toarray().ravel(order="F")
    assert everything.nnz > codes.nnz
    return everything


def doubled(codes: Any) -> Any:
    """Every value as two halves, and a pair that adds up to zero."""
    rows, columns = codes.row, codes.col
    data = np.concatenate([codes.data / 2, codes.data / 2, [3.0, -3.0]])
    coords = (np.concatenate([rows, rows, [0, 0]]), np.concatenate([columns, columns, [11, 11]]))
    return sp.coo_array((data, coords), shape=codes.shape)


def test_forms_of_the_same_matrix_score_the_same() -> None:
    for form in FORMS:
        codes, factors = sparse_case()
        expected = demele.evaluate_sparse(sp.csc_array(codes), factors)
        given_matrix = FORMS[form](codes)
        before = given_matrix.copy()
        found = demele.evaluate_sparse(given_matrix, factors)
        assert_exact(found.information, expected.information)
        assert_exact(scores_of(found), scores_of(expected))
        assert_exact(found.activity, expected.activity)
        assert (before != given_matrix).nnz == 0
        assert before.nnz == given_matrix.nnz


@pytest.mark.parametrize("limits", [(1, 10**9), (10**9, 1), (1500, 200)])
def test_size_of_the_blocks_does_not_matter(limits: tuple[int, int]) -> None:
    codes, factors = sparse_case()
    read, levels = read_sparse_codes(sp.csc_array(codes)), factor_levels(read_factors(factors), EqualWidth(10))
    bins = nonzero_bins(read, EqualWidth(10))
    whole = blocks(read, bins, levels)
    parts = blocks(read, bins, levels, max_cells=limits[0], max_nonzeros=limits[1])
    assert len(whole) == 1
    assert len(parts) > 2
    assert [part.first for part in parts[1:]] == [part.last for part in parts[:-1]]
    assert (parts[0].first, parts[-1].last) == (0, read.d)
    counted = [count_block(read, bins, levels, block) for block in parts]
    expected, alone = count_block(read, bins, levels, whole[0])
    for block, (counts, own) in zip(parts, counted, strict=True):
        for table, full in zip(counts.tables, expected.tables, strict=True):
            assert_exact(table, full[block.first : block.last, : block.width + 1])
            assert_exact(full[block.first : block.last, block.width + 1 :], 0)
        assert_exact(own, alone[block.first : block.last, : block.width + 1])
        assert_exact(counts.code_bins, expected.code_bins[block.first : block.last])
    information = np.concatenate([information_table(counts).information for counts, _ in counted])
    assert_close(information, information_table(expected).information, ROUNDING)


def test_number_of_jobs_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demele.metrics.sparse_source.blocks.__kwdefaults__", {"max_cells": 2000, "max_nonzeros": 99})
    codes, _ = sparse_case()
    factors = mixed_factors()
    one = demele.evaluate_sparse(sp.csc_array(codes), factors)
    two = demele.evaluate_sparse(sp.csc_array(codes), factors, n_jobs=2)
    assert_exact(one.information, two.information)
    assert_exact(scores_of(one), scores_of(two))
    pd.testing.assert_frame_equal(one.top_frame(), two.top_frame(), check_exact=True)


# Missing, constant, dead ---------------------------------------------------------------------------------------------


def test_missing_annotations_are_left_out_factor_by_factor() -> None:
    codes, factors = sparse_case()
    holes = factors.astype(float)
    holes[::3, 1] = np.nan
    found = demele.evaluate_sparse(sp.csc_array(codes), holes, ["mig"], missing="omit")
    whole = demele.evaluate_sparse(sp.csc_array(codes), factors, ["mig"])
    kept = ~np.isnan(holes[:, 1])
    # the bins are those of all rows, the counts those of the annotated ones
    labels = [holes[kept, 1].astype(int).tolist()]
    own = oracle.information_matrix(columns(zero_apart(codes, 10)[kept]), labels)
    assert_close(found.information[["v2"]], own, ROUNDING)
    assert_exact(found.information[["v1", "v3"]], whole.information[["v1", "v3"]])
    assert [note.code for note in found.notes] == ["missing-annotations", "dead-codes"]
    top = found.top_codes("v2", 1)[0]
    active = (codes[:, int(top.code[1:]) - 1] != 0) & (holes[:, 1] == float(top.direction))
    assert_close(top.activity_there, active.sum() / (holes[:, 1] == float(top.direction)).sum(), ROUNDING)
    refuses(InputError, "missing annotations in column 'v2'", demele.evaluate_sparse, sp.csc_array(codes), holes)


def test_what_needs_more_factors_is_refused_by_name() -> None:
    codes, factors = sparse_case()
    for name in ("modularity", "dci_lasso_modularity"):
        words = f"{name} needs at least 2 factors that vary, got 1"
        refuses(NotEnoughData, words, demele.evaluate_sparse, sp.csr_array(codes), factors[:, 0], [name])


# What comes back -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda e: e.top_codes("v9"), UnknownNameError, "factor: expected one of v1, v2, v3, got 'v9'"),
        (lambda e: e.top_codes(3), InputError, "factor: expected a position from 0 to 2, got 3"),
        (lambda e: e.top_codes(0, 6), InputError, "k: expected a number from 1 to 5, as many"),
        (lambda e: e.top_codes(0, 0), InputError, "k: expected a number from 1 to 5"),
        (lambda e: e.top_frame(1.5), InputTypeError, "k: expected a number from 1 to 5"),
        (lambda e: e["irs"], UnknownNameError, "'irs' is not among the scores of this evaluation: mig"),
    ],
)
def test_bad_questions_to_a_result(call: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    codes, factors = sparse_case()
    found = demele.evaluate_sparse(sp.csc_array(codes), factors, ["mig"], top=5)
    refuses(error, re.escape(text), call, found)


# Bad input -----------------------------------------------------------------------------------------------------------

GOOD = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [1.0, 0.0]]))
V = [0, 1, 0, 1]


def spoilt(value: float) -> Any:
    codes = sp.csc_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [1.0, 4.0]]))
    codes.data[[3, 4]] = value  # rows 2 and 3 of the second column
    return codes


@pytest.mark.parametrize(
    ("codes", "factors", "options", "error", "text"),
    [
        (np.eye(4), V, {}, InputTypeError, "got ndarray; dense codes are scored by demele.evaluate, or made"),
        (
            *(pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0, 0.0, 0.0])}), V, {}, InputTypeError),
            "got DataFrame; convert it: codes.sparse.to_coo(), with code_names=",
        ),
        (
            *(SimpleNamespace(layout="torch.sparse_csr"), V, {}, InputTypeError),
            "convert it: t = codes.detach().cpu().to_sparse_coo().coalesce()",
        ),
        (spoilt(np.nan), V, {}, InputError, "2 non-finite values (NaN or infinite) in column 'z2', first"),
        (GOOD.astype(complex), V, {}, InputTypeError, "codes: expected real numbers, got complex numbers"),
        pytest.param(
            *(sp.coo_array(np.arange(4)), V, {}, InputError, "(n_samples, n_codes), got shape (4,)"),
            marks=pytest.mark.skipif(
                sp.coo_array(np.arange(4)).ndim != 1, reason="SciPy before 1.13 has no sparse arrays of one dimension"
            ),
        ),
        (sp.csr_array((4, 0)), V, {}, NotEnoughData, "codes: expected at least 1 column, got none"),
        (sp.csr_array((0, 3)), [], {}, NotEnoughData, "codes: expected at least 2 rows, got none"),
        (sp.csr_array((1, 3)), [1], {}, NotEnoughData, "codes: expected at least 2 rows, got 1"),
        (GOOD, [0, 1, 0], {}, InputError, "got 4 rows of codes and 3 rows of factors; row r of both"),
        (GOOD, [1, 1, 1, 1], {}, NotEnoughData, "factors: every factor is constant ('v1')"),
        (sp.csr_array([[1e308], [-1e308], [0], [0]]), V, {}, InputError, "the range of column 'z1' exceeds"),
        (GOOD, V, {"metrics": ["irs"]}, InputError, "metrics: irs is not computed of sparse codes; there"),
        (GOOD, V, {"metrics": [lambda z, v: 0.0]}, InputTypeError, "metrics: expected names, got"),
        (GOOD, V, {"bins": 0}, InputError, "bins: expected a whole number from 2 to"),
        (GOOD, V, {"bins": [0.0, 1.0, 2.0]}, InputError, "non-zeros of 'z2': bins: values from 1 to 3"),
        (GOOD, V, {"factor_bins": 1}, InputError, "factor_bins: expected a whole number from 2"),
        (GOOD, V, {"name": 3}, InputTypeError, "name: expected a string, got 3"),
        (GOOD, V, {"code_names": ["a"]}, InputError, "expected one name for each of the 2 codes, got 1"),
        (GOOD, V, {"code_names": ["a", "a"]}, InputError, "expected different names, got 'a' more"),
        (GOOD, V, {"options": {"mig": {"bins": 3}}}, InputError, "options: 'mig' has none here; sparse"),
        (GOOD, V, {"options": {"sap": {"penaltie": 3}}}, UnknownNameError, "sap has no option 'penaltie'"),
    ],
)  # fmt: skip
def test_bad_input(codes: Any, factors: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)) as caught:
        demele.evaluate_sparse(codes, factors, **options)
    assert type(caught.value) is error


def test_a_factor_with_too_many_values_for_the_tables() -> None:
    codes = sp.csr_array(np.eye(3000, 2))
    with (
        pytest.warns(AmbiguousKindWarning, match="each of its 3000 rows has its own class"),
        pytest.raises(InputError, match=re.escape("make tables too large (at most 50,000,000 cells for a code)")),
    ):
        demele.evaluate_sparse(
            codes,
            [str(row) for row in range(3000)],
            ["mig"],
            bins=tuple(np.linspace(0.0, 1.0, 20_000)),
            kinds="categorical",
        )


def test_every_metric_that_is_offered_is_computed() -> None:
    concept = np.arange(400) % 2
    codes = sp.csr_array(np.column_stack([concept * 0.5, 1.0 - concept, (np.arange(400) % 3 == 0) * 1.0]))
    factors = np.column_stack([concept, np.arange(400) % 3])
    for name in sparse_metrics():
        if not name.startswith("dci_"):
            assert demele.evaluate_sparse(codes, factors, [name], kinds="categorical")[name].n == 400
    assert {"infom", "infoc", "med_modularity", "minimality", "sufficiency"} <= set(sparse_metrics())
    assert "snc" not in sparse_metrics()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64", "longdouble"])
def test_types_of_numbers(dtype: str) -> None:
    codes, factors = sparse_case()
    whole = np.abs(np.round(3 * codes)).astype(dtype)
    found = demele.evaluate_sparse(sp.csr_array(whole), factors, [*OF_COUNTS, "sap"], bins=3)
    expected = demele.evaluate_sparse(sp.csr_array(whole.astype(float)), factors, [*OF_COUNTS, "sap"], bins=3)
    assert_exact(found.information, expected.information)
    assert_exact(scores_of(found), scores_of(expected))


def test_a_single_code() -> None:
    v = np.array([0, 1] * 10)
    found = demele.evaluate_sparse(sp.csr_array(v[:, None]), v)
    assert found["mig"].value == pytest.approx(1.0)
    assert [item.metric for item in found.left_out] == ["modularity"]  # a single factor
    refuses(UnknownNameError, "modularity has no score here: `factors`: modularity needs", lambda: found["modularity"])
