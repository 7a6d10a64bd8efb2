"""DCI with predictors of scikit-learn, and where the review's published code gives other numbers.

There, the one cause put back into the definition gives theirs.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import cross_val_predict, cross_val_score

import demele
from tests.oracles import information as oracle
from tests.tolerances import PUBLISHED, PUBLISHED_TREES, ROUNDING, SOLVER, assert_close, assert_mean

Array = NDArray[Any]

#: Mean and standard error of 20 runs of the review's ``z_max_var(factors, codes)`` on `noisy_codes()`.
Z_MAX = 0.64516, 0.00559
#: Modularity and compactness of the review's ``dci(factors, codes, model="lasso")`` on `codes_beside_noise()`,
#: scikit-learn 1.9.1.
LASSO = 0.97712534, 0.95196781


def noisy_codes() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    factors = rng.random((1500, 5))
    return factors + 0.3 * rng.normal(size=(1500, 5)), factors


def codes_beside_noise() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    factors = rng.random((1000, 3))
    return np.hstack([factors + 0.05 * rng.normal(size=factors.shape), rng.random((1000, 4))]), factors


def expected_z_max(codes: Array, factors: Array, *, every_combination_alike: bool) -> float:
    """Z-max variance that endless votes would give: the share of groups, or of their rows, that vote rightly."""
    n_factors = factors.shape[1]
    share = (factors - factors.min(axis=0)) / (factors.max(axis=0) - factors.min(axis=0))
    bins = np.minimum((3 * share).astype(int), 2)
    whole = codes.var(axis=0)
    accuracy = 0.0
    for free in range(n_factors):
        groups: dict[tuple[int, ...], list[int]] = {}
        for row, values in enumerate(np.delete(bins, free, axis=1)):
            groups.setdefault(tuple(values), []).append(row)
        right = total = 0.0
        for rows in groups.values():
            if len(rows) > 1:
                weight = 1 if every_combination_alike else len(rows)
                right += weight * (np.argmax(codes[rows].var(axis=0) / whole) == free)
                total += weight
        accuracy += right / total / n_factors
    return float((accuracy - 1 / n_factors) / (1 - 1 / n_factors))


@pytest.mark.oracle("z_max_variance")
def test_the_review_draws_every_combination_of_values_alike() -> None:
    """Ours draws groups as often as they have rows: small groups, whose variances are noise, have fewer votes."""
    codes, factors = noisy_codes()
    by_rows = expected_z_max(codes, factors, every_combination_alike=False)
    alike = expected_z_max(codes, factors, every_combination_alike=True)
    assert_mean([demele.metrics.z_max_variance(codes, factors, seed=seed).value for seed in range(20)], by_rows)
    mean, error = Z_MAX
    assert abs(mean - alike) < 2 * error < 4 * error < abs(mean - by_rows)


def lasso_compactness(codes: Array, factors: Array, *, penalties: list[float] | None) -> float:
    """Compactness of DCI of columns scaled to [0, 1], with a fixed list of penalties or with 100 that fit the data."""
    codes, factors = ((x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0)) for x in (codes, factors))
    compactness = []
    for values in factors.T:
        if penalties is None:
            penalty = LassoCV(cv=10, tol=1e-6).fit(codes, values).alpha_
        else:
            errors = [
                -cross_val_score(
                    Lasso(alpha=one, max_iter=5000), codes, values, cv=10, scoring="neg_mean_squared_error"
                ).mean()
                for one in penalties
            ]
            penalty = penalties[int(np.argmin(errors))]
        weights = np.abs(Lasso(alpha=penalty).fit(codes, values).coef_)
        shares = weights / weights.sum()
        entropy = -sum(share * np.log(share) for share in shares if share > 0)
        compactness.append(1 - entropy / np.log(len(shares)))
    return float(np.mean(compactness))


def test_the_review_has_no_penalty_for_these_codes() -> None:
    """Its list of eight has 0.0001, too weak to empty the codes of noise, and then 0.001, too strong to predict."""
    codes, factors = codes_beside_noise()
    listed = [0.0001, 0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1]
    assert_close(lasso_compactness(codes, factors, penalties=listed), LASSO[1], SOLVER)
    fitted = lasso_compactness(codes, factors, penalties=None)
    ours = demele.metrics.dci(codes, factors, model="lasso").compactness.value
    assert abs(ours - fitted) < 0.005 < 0.025 < ours - LASSO[1]


# DCI of forests and of the Lasso: predictors of scikit-learn, and the concentrations of an oracle ---------------------


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
