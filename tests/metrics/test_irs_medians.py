"""Interventional robustness with medians of cells in place of means."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import demele
from demele.core.errors import InputError


def test_medians_withstand_outliers() -> None:
    """The code is the shape in every cell of five rows; one row of a million moves the mean of its cell, no median."""
    shape, light = np.repeat(np.arange(3), 10), np.tile(np.repeat(np.arange(2), 5), 3)
    factors = pd.DataFrame({"shape": shape, "light": light})
    codes = shape[:, None].astype(float)
    codes[7] = 1e6
    asked: dict[str, Any] = {"codes_of_interest": [0], "factors_of_interest": ["shape"], "kinds": "categorical"}
    assert demele.metrics.interventional_robustness(codes, factors, centre="median", **asked).value == pytest.approx(
        1.0
    )
    assert demele.metrics.interventional_robustness(codes, factors, **asked).value < 0.9
    of_codes = demele.metrics.interventional_disentanglement(codes, factors, centre="median", kinds="categorical")
    assert of_codes.matrix_values is not None
    assert of_codes.matrix_values[0, 0] == pytest.approx(1.0)
    assert "centre='median'" in str(of_codes.signature)


def test_medians_by_hand() -> None:
    """Cells (0, 0): 0, 0, 9; (0, 1): 1, 1, 1; (1, 0): 4, 4, 4; (1, 1): 5, 5, 5. Medians are 0, 1, 4, 5.

    As in the paper's form for means: within a shape the light moves them by 0.5 from their mean, overall by 2.5.
    """
    factors = pd.DataFrame({"shape": np.repeat([0, 1], 6), "light": np.tile(np.repeat([0, 1], 3), 2)})
    codes = np.array([0.0, 9.0, 0.0, 1, 1, 1, 4, 4, 4, 5, 5, 5])[:, None]
    order = np.random.default_rng(0).permutation(12)
    score = demele.metrics.interventional_robustness(
        codes[order], factors.iloc[order], factors_of_interest=["shape"], centre="median", kinds="categorical"
    )
    assert score.value == pytest.approx(0.8)


def test_medians_of_single_rows_are_means() -> None:
    rng = np.random.default_rng(0)
    factors = np.array([(a, b, c) for a in range(3) for b in range(4) for c in range(2)])[rng.permutation(24)[:20]]
    codes = rng.normal(size=(20, 2))
    asked: dict[str, Any] = {"factors_of_interest": [0], "nuisance": [1], "kinds": "categorical"}
    first, second = (
        demele.metrics.interventional_robustness(codes, factors, centre=c, **asked) for c in ("mean", "median")
    )
    assert first.value == pytest.approx(second.value, abs=1e-12)


def test_other_centres_are_refused() -> None:
    with pytest.raises(InputError, match="centre"):
        demele.metrics.interventional_robustness(np.eye(4), np.eye(4)[:, :2], centre="mode")  # type: ignore[arg-type]
