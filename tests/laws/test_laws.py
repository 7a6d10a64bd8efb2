"""What must not matter: the order of rows, codes and factors, their units, and a second copy of every row."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import demele
from tests.contract.cases import CHEAP, GROUPS
from tests.tolerances import ROUNDING, SOLVER, assert_close

pytestmark = pytest.mark.filterwarnings("ignore::demele.errors.FragileScoreWarning")

Floats = NDArray[np.float64]
INFORMATION = ["mig", "rmig", "mig_sup", "modularity", "dcimig", "jemmig", "dmig", "xmig", "dlig"]
#: Metrics that are functions of the rows, without a seed, and so are equal to rounding or not at all.
EXACT = [*INFORMATION, "irs"]
#: Draws of the others depend on the order of the rows or columns; on these data their score is certain.
DRAWN = [group for group in GROUPS if group not in EXACT]


class Case:
    """Codes, their spreads, mixed factors, and the code of each factor; small numbers, so that ties are many."""

    def __init__(self, seed: int, n: int, levels: int) -> None:
        rng = np.random.default_rng(seed)
        self.factors = np.column_stack([rng.integers(0, levels, n), rng.integers(0, 3, n), rng.integers(0, 40, n) / 8])
        mixing = rng.integers(-1, 3, (3, 4))
        self.codes = self.factors @ mixing + rng.integers(0, 4, (n, 4)) / 4
        self.stds = rng.uniform(0.05, 0.5, (n, 4))
        self.reg_dim = rng.permutation(4)[:3]
        self.n = n

    def varies(self) -> bool:
        return bool((np.ptp(self.codes, axis=0) > 0).all() and (np.ptp(self.factors, axis=0) > 0).all())


cases = st.builds(Case, st.integers(0, 10**6), st.integers(8, 60), st.integers(2, 6)).filter(Case.varies)
#: Exact in floats, so that a value on an edge stays on it.
units = st.sampled_from([2.0**-10, 0.5, 4.0, 1024.0])
shifts = st.sampled_from([-64.0, 0.0, 8.0])
laws = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])

BINS: list[Any] = [4, demele.bins.EqualFrequency(4)]


def value_and_native(
    name: str, codes: Floats, factors: Floats, stds: Floats, reg_dim: Any, **keywords: Any
) -> tuple[Any, Any, Any]:
    """Score, native values and matrix of one deterministic metric."""
    options = {metric: {"reg_dim": [int(code) for code in reg_dim]} for metric in ("dmig", "xmig", "dlig")}
    score = demele.evaluate(
        demele.Codes(codes, std=stds),
        demele.Factors(factors, kinds=["categorical", "categorical", "continuous"]),
        [name],
        options=options,
        **keywords,
    )[name]
    matrix = np.zeros((0, 0)) if score.matrix is None else score.matrix.to_numpy()
    return score.value, list(score.native.values()), matrix


def reordered(native: list[float], unit: str, codes: Any, factors: Any) -> list[float]:
    """Native values of permuted columns, from those of the columns in their order."""
    return [native[int(index)] for index in (codes if unit == "per code" else factors)]


@pytest.mark.parametrize("bins", BINS, ids=["equal width", "equal frequency"])
@pytest.mark.parametrize("name", EXACT)
@given(case=cases, seed=st.integers(0, 10**6))
@laws
def test_order_of_rows_does_not_matter(name: str, bins: Any, case: Case, seed: int) -> None:
    rows = np.random.default_rng(seed).permutation(case.n)
    plain = value_and_native(name, case.codes, case.factors, case.stds, case.reg_dim, bins=bins)
    other = value_and_native(name, case.codes[rows], case.factors[rows], case.stds[rows], case.reg_dim, bins=bins)
    for before, after in zip(plain, other, strict=True):
        assert_close(after, before, ROUNDING)


@pytest.mark.parametrize("name", EXACT)
@given(case=cases, seed=st.integers(0, 10**6))
@laws
def test_order_of_codes_orders_only_the_details(name: str, case: Case, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(4)
    place = np.argsort(order)
    plain = value_and_native(name, case.codes, case.factors, case.stds, case.reg_dim, bins=4)
    other = value_and_native(name, case.codes[:, order], case.factors, case.stds[:, order], place[case.reg_dim], bins=4)
    assert_close(other[0], plain[0], ROUNDING)
    assert_close(other[1], reordered(plain[1], demele.metrics.describe(name).native, order, range(3)), ROUNDING)
    assert_close(other[2], plain[2][order], ROUNDING)


@pytest.mark.parametrize("name", EXACT)
@given(case=cases)
@laws
def test_order_of_factors_orders_only_the_details(name: str, case: Case) -> None:
    order = [1, 0, 2]  # the third is the continuous one
    plain = value_and_native(name, case.codes, case.factors, case.stds, case.reg_dim, bins=4)
    other = value_and_native(name, case.codes, case.factors[:, order], case.stds, case.reg_dim[order], bins=4)
    assert_close(other[0], plain[0], ROUNDING)
    assert_close(other[1], reordered(plain[1], demele.metrics.describe(name).native, range(4), order), ROUNDING)
    assert_close(other[2], plain[2][:, order], ROUNDING)


@pytest.mark.parametrize("bins", BINS, ids=["equal width", "equal frequency"])
@pytest.mark.parametrize("name", EXACT)
@given(case=cases, scale=units, shift=shifts, of_factor=units)
@laws
def test_units_do_not_matter(name: str, bins: Any, case: Case, scale: float, shift: float, of_factor: float) -> None:
    plain = value_and_native(name, case.codes, case.factors, case.stds, case.reg_dim, bins=bins)
    scales, shifted = np.array([scale, 1.0, 1 / scale, scale]), np.array([shift, 0.0, -shift, 3.0])
    factors = case.factors * [1.0, 1.0, of_factor] + [0.0, 0.0, shift]
    other = value_and_native(name, case.codes * scales + shifted, factors, case.stds * scales, case.reg_dim, bins=bins)
    tolerance = SOLVER if name == "rmig" else ROUNDING  # Gaussian masses near an edge
    for before, after in zip(plain, other, strict=True):
        assert_close(after, before, tolerance)


@pytest.mark.parametrize("bins", BINS, ids=["equal width", "equal frequency"])
@pytest.mark.parametrize("name", EXACT)
@given(case=cases, copies=st.integers(2, 3))
@laws
def test_copies_of_all_rows_do_not_matter(name: str, bins: Any, case: Case, copies: int) -> None:
    plain = value_and_native(name, case.codes, case.factors, case.stds, case.reg_dim, bins=bins)
    codes, factors, stds = (np.tile(array, (copies, 1)) for array in (case.codes, case.factors, case.stds))
    for before, after in zip(plain, value_and_native(name, codes, factors, stds, case.reg_dim, bins=bins), strict=True):
        assert_close(after, before, ROUNDING)


@pytest.mark.parametrize("name", EXACT)
@given(case=cases)
@laws
def test_scores_stay_within_their_range(name: str, case: Case) -> None:
    low, high = demele.metrics.describe(name).range
    value, native, matrix = value_and_native(name, case.codes, case.factors, case.stds, case.reg_dim, bins=4)
    for number in (value, *native):
        assert np.isnan(number) or low - 1e-12 <= number <= high + 1e-12
    assert (matrix >= (-1 if name == "irs" else 0) - 1e-12).all()


@given(case=cases)
@laws
def test_information_is_between_zero_and_the_entropy_and_mig_below_its_share(case: Case) -> None:
    _, native, matrix = value_and_native("mig", case.codes, case.factors, case.stds, case.reg_dim, bins=4)
    labels = case.factors[:, 1]
    _, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    height = -(shares * np.log(shares)).sum()
    assert (matrix[:, 1] <= height + 1e-12).all()
    assert native[1] <= matrix[:, 1].max() / height + 1e-12


@given(case=cases)
@laws
def test_more_spread_informs_less(case: Case) -> None:
    # blurring a single code can only lose information
    matrices = []
    for spread in (0.0, 0.3, 3.0):
        score = demele.metrics.rmig(
            demele.Codes(case.codes[:, :1], std=np.full((case.n, 1), spread)), case.factors[:, 1], bins=4
        )
        matrices.append(score.value)
    assert matrices[0] >= matrices[2] - 1e-12


# Metrics that draw ----------------------------------------------------------------------------------------------------


def certain(n: int = 240) -> tuple[Floats, Floats, Floats]:
    """Codes that hold their factors almost without noise: scores that hardly depend on what is drawn."""
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 4, n)]).astype(float)
    return factors + 0.02 * rng.standard_normal((n, 2)), factors, np.full((n, 2), 0.01)


def drawn_scores(group: str, codes: Floats, factors: Floats, stds: Floats, repeats: int = 1) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.errors.DemeleWarning)
        evaluation = demele.evaluate(
            demele.Codes(codes, std=stds), factors, GROUPS[group], options=CHEAP, n_repeats=repeats
        )
    return {score.metric: score.value for score in evaluation}


@pytest.mark.parametrize("what", ["rows", "codes", "factors"])
@pytest.mark.parametrize("group", DRAWN)
def test_order_does_not_matter_to_drawn_metrics(group: str, what: str) -> None:
    codes, factors, stds = certain()
    # from which number of random features on a factor is read depends on which were drawn, on few rows most of all
    repeats = 20 if group == "capacity_explicitness" else 1
    plain = drawn_scores(group, codes, factors, stds, repeats)
    rows = np.random.default_rng(1).permutation(len(codes)) if what == "rows" else np.arange(len(codes))
    swap_codes, swap_factors = ([1, 0] if what == axis else [0, 1] for axis in ("codes", "factors"))
    other = drawn_scores(group, codes[rows][:, swap_codes], factors[rows][:, swap_factors], stds, repeats)
    for name, value in plain.items():
        assert abs(other[name] - value) < 0.1, name
