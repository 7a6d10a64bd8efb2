"""Slopes of scores in single annotations, and relabellings that turn an order round."""

import numpy as np
from numpy.typing import NDArray

from demele.estimation.information import InformationTable
from demele.estimation.noise_bounds import BinnedCodes, attained_share, label_slopes, table_of
from demele.metrics.catalogue import CATALOGUE

Ints = NDArray[np.intp]


def mig(table: InformationTable) -> NDArray[np.float64]:
    return np.asarray(CATALOGUE["mig"].formula(table).value)


def dcimig(table: InformationTable) -> NDArray[np.float64]:
    return np.asarray(CATALOGUE["dcimig"].formula(table).value)


def drawn(n: int = 1000) -> tuple[BinnedCodes, BinnedCodes, Ints]:
    """A better and a worse representation of two factors of four values."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (2, n))

    def codes(share: float) -> BinnedCodes:
        known = np.where(rng.random((2, n)) < share, factors, rng.integers(0, 4, (2, n)))
        return BinnedCodes(np.vstack([known, rng.integers(0, 4, n)]), 4)

    return codes(0.9), codes(0.8), factors


def test_slopes_tell_how_the_score_changes_with_one_annotation() -> None:
    codes, _, factors = drawn(4000)
    for formula in (mig, dcimig):
        counts = [codes.counts(factor, 4) for factor in factors]
        before = float(formula(table_of(counts)))
        slope = label_slopes(codes, counts, formula)[0]
        for row in range(0, 4000, 400):
            changed = factors[0].copy()
            changed[row] = (changed[row] + 1) % 4
            after = float(formula(table_of([codes.counts(changed, 4), counts[1]])))
            expected = (slope[row, changed[row]] - slope[row, factors[0, row]]) / 4000
            assert abs(after - before - expected) < 0.15 * abs(expected) + 1e-7


def test_the_order_turns_round_at_the_attained_share_and_earlier_than_by_wrong_annotations_at_random() -> None:
    better, worse, factors = drawn()
    found = attained_share(better, worse, factors, [4, 4], mig)
    assert 0.005 < found < 0.2
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(factors.shape) < found, rng.integers(0, 4, factors.shape), factors)
    scores = [float(mig(table_of([codes.counts(factor, 4) for factor in noisy]))) for codes in (better, worse)]
    assert scores[0] > scores[1]
    assert attained_share(worse, better, factors, [4, 4], mig) == 0.0
    assert np.isnan(attained_share(better, worse, factors, [4, 4], mig, most=0.005))
