"""Traversals of codes that take any value: between their own quantiles."""

import numpy as np

from demele.studies.examination import traversals
from tests.tolerances import ROUNDING, assert_close


def test_a_code_moves_between_its_own_quantiles() -> None:
    codes = np.column_stack([np.arange(1001.0), -3.0 * np.arange(1001.0)])
    found = traversals(lambda asked: np.zeros((len(asked), 2, 2, 1), np.uint8), codes, seed=0)
    assert_close(found.values[0], np.linspace(25, 975, 9), ROUNDING)
    assert_close(found.values[1], np.linspace(-2925, -75, 9), ROUNDING)
