"""Which columns have outliers, and what clipping leaves of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from demele.core.inputs import read_pair
from demele.metrics.data import Data

Array = NDArray[np.float64]


def of(*codes: Array) -> Data:
    return Data(*read_pair(np.column_stack(codes), np.arange(float(len(codes[0]))), kinds="continuous"))


def is_outlying(code: Array) -> bool:
    return "z1" in of(code).outlying()


def is_far(values: Array) -> bool:
    """The rule as it is written: 8 standard deviations, or 0.95 of the farthest that so few values can be."""
    if len(values) == 0 or values.min() == values.max():
        return False
    far = 8.0 if len(values) < 12 else min(8.0, 0.95 * (len(values) - 1) / math.sqrt(len(values)))
    return bool((np.abs(values - values.mean()) / values.std()).max() > far)


@given(st.integers(0, 10**6), st.integers(3, 300), st.floats(0, 1), st.sampled_from([1.0, 30.0, 1000.0]))
def test_the_rule_is_that_of_loops(seed: int, n: int, zeros: float, far: float) -> None:
    rng = np.random.default_rng(seed)
    code = np.where(rng.random(n) < zeros, 0.0, rng.normal(size=n))
    code[0] = far
    others = code[code != 0]
    assert is_outlying(code) == is_far(others if 2 * len(others) < n else code)


def test_what_is_not_zero_is_no_outlier_for_that() -> None:
    rng = np.random.default_rng(0)
    code = np.zeros(5000)
    code[:20] = 1 + rng.random(20)  # 1.5 of a column whose standard deviation is 0.1
    assert (code.max() - code.mean()) / code.std() > 8
    assert not is_outlying(code)
    code[3] = 500.0
    assert is_outlying(code)


@pytest.mark.parametrize("sign", [1, -1])
def test_clipping_a_column_of_zeros_keeps_them_and_the_ordinary_values(sign: int) -> None:
    code = np.zeros(1000)
    code[:40] = sign * (1 + np.arange(40) / 40)
    code[7] = sign * 500.0
    codes = of(code).winsorised(["z1"]).codes.values[:, 0]
    ordinary = np.arange(1000) != 7
    middle = np.abs(code[ordinary & (code != 0)])
    assert (codes[40:] == 0).all()
    assert abs(codes[7]) == middle.max()
    assert np.abs(codes[:40]).min() == np.sort(middle)[1]  # one of 40 values lies below the central 99%
