"""Whether a code tells anything of a factor, read off counts."""

import numpy as np
from numpy.typing import NDArray

from demele.estimation.counts import JointCounts
from demele.estimation.independence import dependence_of_counts
from tests.tolerances import ROUNDING, assert_close


def counts_of(*tables: NDArray[np.float64]) -> JointCounts:
    """Joint counts of one factor with several codes."""
    stacked = np.stack(tables)
    return JointCounts((stacked,), {}, np.full(len(tables), stacked.shape[1]))


def independent(n: float) -> NDArray[np.float64]:
    """Counts that are products of lopsided margins."""
    return n * np.outer([0.7, 0.2, 0.1], [0.5, 0.3, 0.2])


def told(n: float) -> NDArray[np.float64]:
    return n * np.diag([0.5, 0.3, 0.2])


def test_codes_whose_counts_are_products_of_their_margins_tell_nothing() -> None:
    found = dependence_of_counts(counts_of(independent(1000), independent(1000)[::-1]))
    assert not found.detected
    assert found.p > 0.9


def test_a_code_is_found_whatever_stands_beside_it() -> None:
    alone = dependence_of_counts(counts_of(told(1000)))
    beside = dependence_of_counts(counts_of(independent(1000), told(1000)))
    assert alone.detected
    assert beside.detected


def test_each_code_is_held_against_its_own_mean() -> None:
    weak = independent(1000) + np.array([[30.0, -30.0, 0.0], [-30.0, 30.0, 0.0], [0.0, 0.0, 0.0]])
    alone = dependence_of_counts(counts_of(weak))
    beside = dependence_of_counts(counts_of(weak, independent(1000)[::-1]))
    assert 0 < alone.p < 0.4
    assert_close(beside.p, 2 * alone.p, ROUNDING)  # of twice as many pairs
