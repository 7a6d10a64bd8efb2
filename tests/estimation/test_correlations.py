"""Ranks of columns, against SciPy's, where values tie, hardly differ, or are of both signs and any size."""

import numpy as np
import pytest

from demele.estimation.correlations import mid_ranks
from demele.estimation.linear_recovery import Basis, canonical_correlations, largest_with_classes
from tests.tolerances import ROUNDING, assert_close, assert_exact

DRAWN = np.random.default_rng(0).normal(size=999)
COLUMNS = {
    "both signs": DRAWN,
    "ties": np.round(DRAWN, 1),
    "both zeros": np.where(np.abs(DRAWN) < 0.5, np.copysign(0.0, DRAWN), DRAWN),
    "next floats": np.concatenate(
        [one + np.random.default_rng(1).permutation(333) * 2.0**-52 for one in (1.0, -2.0, 1.5)]
    ),
    "any size": np.sign(DRAWN) * 10.0 ** (100 * DRAWN),
    "integers": np.arange(999)[::-1] + (1 << 53),
    "small floats": DRAWN.astype(np.float32),
    "one row": np.array([3.0]),
}


def test_ranks_are_those_of_scipy() -> None:
    for name in COLUMNS:
        from scipy.stats import rankdata

        column = COLUMNS[name]
        table = np.column_stack([column, column[::-1]])
        assert_exact(mid_ranks(table)[:, 0], rankdata(column))
        assert_exact(mid_ranks(table)[:, 1], rankdata(column[::-1]))


@pytest.mark.parametrize("mixed", [0.5, 1e-3, 1e-7])
def test_a_basis_is_the_same_however_alike_its_columns_are(mixed: float) -> None:
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(400, 1)) + mixed * rng.normal(size=(400, 3))
    basis = Basis.of(columns)
    vectors = basis.unit @ basis.turned
    assert basis.rank == 3
    assert np.abs(vectors.T @ vectors - np.eye(3)).max() < 1e-6 * max(1.0, 1e-3 / mixed)
    assert Basis.of(np.hstack([columns, columns[:, :1]])).rank == 3


def test_classes_correlate_as_their_indicators() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, 300)
    codes = rng.normal(size=(300, 3)) + labels[:, None] % 3
    indicators = (labels[:, None] == np.arange(4)).astype(float)
    expected = canonical_correlations(Basis.of(codes), Basis.of(indicators))[0]
    assert_close(largest_with_classes(Basis.of(codes), labels, 6), expected, ROUNDING)
