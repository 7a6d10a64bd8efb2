"""Known defects of the review's code, put back one at a time: never an option that a user could take for the metric.

Read in its public repository (ubisoft-laforge-DisentanglementMetrics, commit 05d5667c), written here from what it does.
"""

import numpy as np

import demele
from benchmarks.cases import Array
from demele.metrics import dci_modularity

#: Penalties that the review's code tries, by ten folds in order, for columns scaled to [0, 1].
PENALTIES = (0.0001, 0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1.0)


def columns_in_unit(table: Array) -> Array:
    """Return columns scaled to [0, 1]; constant ones become 0."""
    width = np.ptp(table, axis=0)
    return np.asarray((table - table.min(axis=0)) / np.where(width > 0, width, 1.0))


def until_dead(importance: Array) -> float:
    """DCI modularity of the codes before the first that has no importance; 0 if there are none.

    Parameters
    ----------
    importance : array of shape (n_codes, n_factors)
    """
    dead = np.flatnonzero(importance.sum(axis=1) == 0)
    before = importance[: dead[0]] if len(dead) else importance
    return dci_modularity(before) if len(before) else 0.0


def lasso_fits(codes: Array, factors: Array) -> tuple[Array, Array]:
    """Return coefficients (n_codes, n_factors) and predictions of Lassos tuned as in the review's code."""
    from sklearn.linear_model import LassoCV

    codes, factors = columns_in_unit(codes), columns_in_unit(factors)
    models = [LassoCV(alphas=PENALTIES, cv=10, max_iter=5000).fit(codes, factor) for factor in factors.T]
    weights = np.abs(np.column_stack([model.coef_ for model in models]))
    return weights, np.column_stack([model.predict(codes) for model in models])


def lasso_importance(codes: Array, factors: Array) -> Array:
    """Coefficients of Lassos tuned as in the review's code: (n_codes, n_factors)."""
    return lasso_fits(codes, factors)[0]


def in_sample_explicitness(predicted: Array, factors: Array) -> float:
    """DCI explicitness on the rows that were fitted, as if each factor in [0, 1] had the variance 1/12."""
    errors = np.mean((predicted - columns_in_unit(factors)) ** 2, axis=0)
    return float(np.maximum(0, 1 - 12 * errors).mean())


def gaps_by_code_entropy(codes: Array, factors: Array, bins: int = 10, *, sup: bool = False) -> float:
    """MIG, or MIG-sup, with each information divided by the entropy of the code in place of the factor's.

    A code that does not vary counts as telling nothing; there the review's code has NaN.
    """
    known = demele.Factors(factors, kinds="continuous")
    score = (demele.metrics.mig_sup if sup else demele.metrics.mig)(codes, known, bins=bins)
    if score.matrix is None:
        raise ValueError("MIG keeps its informations")
    matrix = score.matrix.to_numpy()
    shares = np.stack([np.histogram(code, bins=bins)[0] / len(code) for code in codes.T])
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    divided = matrix / np.where(entropy > 0, entropy, 1.0)[:, None]
    ordered = np.sort(divided, axis=int(sup))
    gaps = ordered[:, -1] - ordered[:, -2] if sup else ordered[-1] - ordered[-2]
    return float(gaps.mean())
