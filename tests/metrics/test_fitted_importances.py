"""What the predictors of several factors share."""

from typing import Any

import numpy as np
import pytest

from demele.core.inputs import read_pair
from demele.core.seeds import rng_for
from demele.estimation import trees
from demele.estimation.forest_importance import forest_importance
from demele.metrics import fitted_importances
from demele.metrics.data import Data
from demele.metrics.fitted_importances import forest


def test_codes_are_sorted_once_for_all_factors_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    codes, factors = rng.random((60, 3)), rng.random((60, 4))
    factors[::5, 2] = np.nan
    data = Data(*read_pair(codes, factors, missing="omit"))

    def streams(*identity: str | int) -> np.random.Generator:
        return rng_for(0, *identity)

    sizes = []
    plain = trees.presort

    def counted(given: Any) -> trees.Presorted:
        sizes.append(len(given))
        return plain(given)

    monkeypatch.setattr(trees, "presort", counted)
    found = forest(
        data, streams, n_trees=3, importance=("impurity",), informativeness="variance", report="above-chance"
    )
    assert sizes == [60, 48, 60]
    alone = fitted_importances._importances(
        data, streams, forest_importance, ("impurity",), "variance", "above-chance", n_trees=3
    )
    assert np.array_equal(found.matrices["impurity"], alone.matrices["impurity"])
    assert np.array_equal(found.unclipped, alone.unclipped)
