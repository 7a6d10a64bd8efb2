"""DCI of forests and of the Lasso: predictors of scikit-learn, and the concentrations of an oracle."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.model_selection import cross_val_predict

import demele
from tests.oracles import information as oracle
from tests.tolerances import PUBLISHED, PUBLISHED_TREES, ROUNDING, assert_close

Array = NDArray[np.float64]


def mixed(n: int = 1500) -> tuple[Array, Array]:
    """Three codes, of which two hold both of two factors in unequal parts."""
    rng = np.random.default_rng(5)
    factors = rng.random((n, 2))
    mixing = np.array([[1.0, 0.4, 0.0], [0.3, 1.0, 0.2]])
    return factors @ mixing + 0.1 * rng.standard_normal((n, 3)), factors


def theirs(make: Any, codes: Array, factors: Array) -> list[float]:
    """Modularity, compactness and explicitness with a predictor of scikit-learn, for standardised columns."""
    codes, factors = ((x - x.mean(axis=0)) / x.std(axis=0) for x in (codes, factors))
    columns, shares = [], []
    for values in factors.T:
        fitted = make().fit(codes, values)
        columns.append(np.abs(fitted.coef_) if hasattr(fitted, "coef_") else fitted.feature_importances_)
        unseen = cross_val_predict(make(), codes, values, cv=5)
        shares.append(1 - float(np.mean((values - unseen) ** 2)))
    importance = np.column_stack(columns)
    share = (importance / importance.sum(axis=0)).tolist()
    return [oracle.dci_modularity(share), oracle.dci_compactness(share), float(np.mean(shares))]


@pytest.mark.oracle("dci_lasso_modularity", "dci_lasso_compactness", "dci_lasso_explicitness")
def test_dci_of_the_lasso() -> None:
    codes, factors = mixed()
    ours = [score.value for score in demele.metrics.dci(codes, factors, model="lasso")]
    assert_close(ours, theirs(lambda: LassoCV(cv=5), codes, factors), PUBLISHED)


@pytest.mark.oracle("dci_forest_modularity", "dci_forest_explicitness")
def test_dci_of_a_forest() -> None:
    """Its importances follow depth and columns per split, which it chooses; how good they are: test_trees_reference."""
    codes, factors = mixed()
    ours = demele.metrics.dci(codes, factors, model="forest")
    share = ours.importance.to_numpy()
    share = (share / share.sum(axis=0)).tolist()
    concentrated = [oracle.dci_modularity(share), oracle.dci_compactness(share)]
    assert_close([ours.modularity.value, ours.compactness.value], concentrated, ROUNDING)
    peer = theirs(lambda: RandomForestRegressor(10, max_depth=8, max_features=2, random_state=0), codes, factors)
    assert_close(ours.explicitness.value, peer[2], PUBLISHED_TREES)
