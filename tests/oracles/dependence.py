"""The projected covariance measure with linear regressions, step by step, for one code and one factor."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def regressed(on: Array, target: Array, at: Array) -> Array:
    """Predictions at other rows of the normal equations."""
    design, other = (np.column_stack([np.ones(len(one)), one]) for one in (on, at))
    fitted: Array = other @ np.linalg.solve(design.T @ design, design.T @ target)
    return fitted


def projected_covariance(code: Array, factors: Array, factor: int, train: Sequence[int], test: Sequence[int]) -> float:
    others = np.delete(factors, factor, axis=1)
    direction = regressed(factors[train], code[train], factors[test]) - regressed(
        others[train], code[train], others[test]
    )
    direction = direction - regressed(others[test], direction, others[test])
    rest = code[test] - regressed(others[test], code[test], others[test])
    products = [a * b for a, b in zip(direction, rest, strict=True)]
    mean = sum(products) / len(products)
    deviation = (sum((one - mean) ** 2 for one in products) / len(products)) ** 0.5
    return float(len(products) ** 0.5 * mean / deviation)
