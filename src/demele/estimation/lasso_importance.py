"""Importance of codes for a factor from linear predictors with an L1 penalty."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.estimation.importance import (
    N_FOLDS,
    TUNING_ROWS,
    Fit,
    FittedImportance,
    Shuffles,
    cross_fit,
    folds,
    in_part,
    shares,
    splits,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


#: Penalties tried, relative to the smallest that makes all coefficients 0.
LASSO_PENALTIES = np.logspace(0, -3, 100)


#: How near the minimum the Lasso comes.
SOLVED: dict[str, Any] = {"tol": 1e-6, "max_iter": 1000}


LOGISTIC_PENALTIES = np.logspace(-0.5, -3.5, 7)


LOGISTIC_FOLDS = 3


def lasso_importance(
    codes: Floats,
    values: Floats | Ints,
    *,
    categorical: bool,
    rng: np.random.Generator,
    drawn_from: int = 0,
    shuffles: Shuffles | None = None,
) -> FittedImportance:
    r"""Absolute coefficients of a linear predictor with an L1 penalty.

    Parameters
    ----------
    codes : (n_samples, n_codes) float64
    values : (n_samples,) float64, or intp levels from 0 if categorical
    rng : numpy.random.Generator
        Draws the rows that are not seen, and the folds of the cross-validation.
    drawn_from : int
        Of how many rows these are a random part: folds, and rows that the penalty is chosen on, are then those of the
        whole, in proportion.
    shuffles : Shuffles, optional
        Score with codes shuffled as well.

    Returns
    -------
    FittedImportance
        `settings`: ``penalty`` (relative to the smallest one that makes every coefficient 0) and ``converged``.

    Raises
    ------
    NotEnoughData
        With fewer than 10 rows.

    Notes
    -----
    Codes are standardised. A continuous factor is standardised too, and

    .. math:: \min_w \tfrac{1}{2 n} \lVert v - Z w \rVert^2 + \lambda \lVert w \rVert_1

    is solved for 100 penalties; five-fold cross-validation among the rows to fit chooses one. The importance of code j
    is :math:`|w_j|`.

    A categorical factor has one vector of coefficients per level (multinomial logistic regression), and 7 penalties,
    chosen by the deviance in three folds of at most 5000 rows. The importance is :math:`\sum_c |w_{cj}|`, divided by
    its sum over the codes: the coefficients of well separated levels have no scale of their own.

    Of codes that are copies of each other, the Lasso keeps the first: such a factor looks compact.

    Cost: O(n_samples * n_codes**2), times the number of levels if categorical.

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the lasso. Eastwood & Williams (2018).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.random((500, 3))
    >>> fitted = lasso_importance(codes, 2 * codes[:, 1] + 5, categorical=False, rng=rng)
    >>> fitted.importance.round(2), round(fitted.score, 4)
    (array([0., 1., 0.]), 1.0)
    """
    tuning = in_part(TUNING_ROWS, len(values), drawn_from)

    def fit(train: Ints, test: Ints) -> Fit:
        if categorical:
            return _fit_logistic(codes[train], values[train], codes[test], tuning, rng)
        return _fit_lasso(codes[train], values[train], codes[test], rng)

    parted = splits(values, categorical, rng, drawn_from=drawn_from)
    return cross_fit(values, categorical, parted, fit, as_shares=categorical, shuffles=shuffles)


def _standardised(seen: Floats, unseen: Floats) -> tuple[Floats, Floats]:
    """Codes in standard deviations from the mean, both of the seen rows; constant ones become 0."""
    varies = seen.max(axis=0) > seen.min(axis=0)
    mean, deviation = seen.mean(axis=0), np.where(varies, seen.std(axis=0), 1.0)
    return np.where(varies, (seen - mean) / deviation, 0.0), np.where(varies, (unseen - mean) / deviation, 0.0)


def _fit_lasso(seen: Floats, values: Floats | Ints, unseen: Floats, rng: np.random.Generator) -> Fit:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    x, x_unseen = _standardised(seen, unseen)
    y = _standardised(values.astype(np.float64)[:, None], np.empty((0, 1)))[0][:, 0]
    largest = float(np.abs(x.T @ y).max()) / len(y)
    if largest == 0:
        return _constant_fit(x_unseen, float(values.mean()))
    fold = folds(y, False, N_FOLDS, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # collinear codes; the settings say it
        errors = unseen_errors(x, y, fold, largest * LASSO_PENALTIES)
        penalty = float(largest * LASSO_PENALTIES[errors.argmin()])
        model = Lasso(alpha=penalty, **SOLVED).fit(x, y)
    mean, deviation = values.mean(), values.std()
    settings = {"penalty": penalty / largest, "converged": bool(model.n_iter_ < model.max_iter)}
    weights: Floats = np.abs(model.coef_)
    return Fit(weights, settings, x_unseen.T, lambda lines: mean + deviation * model.predict(lines.T), weights > 0)


def unseen_errors(x: Floats, y: Floats, fold: Ints, penalties: Floats) -> Floats:
    """Mean squared error of the Lasso at each penalty on folds that it has not seen, mean over the folds.

    Products of columns, summed by fold once, are all that the Lasso of the other folds and its error depend on: the
    Lasso is fitted to as many rows as there are columns, which have the same products.
    """
    from sklearn.linear_model import lasso_path

    table = np.column_stack([x, y, np.ones(len(y))])
    products = [part.T @ part for part in (table[fold == which] for which in range(N_FOLDS))]
    errors = np.zeros(len(penalties))
    for own in products:
        seen = np.sum(products, axis=0) - own
        n, means = seen[-1, -1], seen[:-1, -1] / seen[-1, -1]
        squares, vectors = np.linalg.eigh(seen[:-1, :-1] - n * np.outer(means, means))
        rows = np.sqrt(np.maximum(squares, 0.0))[:, None] * vectors.T
        alphas = penalties * n / len(rows)
        weights = lasso_path(rows[:, :-1], rows[:, -1], alphas=alphas, precompute=False, **SOLVED)[1]
        # The error is linear in the columns: minus the weights, 1 for the factor, and the means' part.
        residual = np.vstack([-weights, np.ones(len(penalties)), means[:-1] @ weights - means[-1]])
        errors += np.einsum("ip,ij,jp->p", residual, own, residual) / (own[-1, -1] * N_FOLDS)
    return errors


def _constant_fit(unseen: Floats, value: float | np.intp) -> Fit:
    """Return the fit that reads no code."""
    n_codes = unseen.shape[1]
    settings = {"penalty": 1.0, "converged": True}
    return Fit(
        np.zeros(n_codes), settings, unseen.T, lambda lines: np.full(lines.shape[1], value), np.zeros(n_codes, bool)
    )


def _fit_logistic(seen: Floats, values: Floats | Ints, unseen: Floats, tuning: int, rng: np.random.Generator) -> Fit:
    x, x_unseen = _standardised(seen, unseen)
    levels, level = np.unique(values, return_inverse=True)
    if len(levels) == 1:
        return _constant_fit(x_unseen, levels[0])
    rows = rng.permutation(len(x))[:tuning]
    fold = folds(level[rows], True, LOGISTIC_FOLDS, rng)
    deviance = np.zeros(len(LOGISTIC_PENALTIES))
    for which in range(LOGISTIC_FOLDS):
        inner, outer = rows[fold != which], rows[fold == which]
        weights = None
        for place, penalty in enumerate(LOGISTIC_PENALTIES):
            weights, _ = _logistic_weights(x[inner], level[inner], len(levels), penalty, weights)
            logits = _logits(weights, x[outer])
            deviance[place] += (np.log(np.exp(logits).sum(axis=0)) - logits[level[outer], np.arange(len(outer))]).sum()
    penalty = float(LOGISTIC_PENALTIES[deviance.argmin()])
    weights, converged = _logistic_weights(x, level, len(levels), penalty, None)
    importance = shares(np.abs(weights[:, :-1]).sum(axis=0))
    return Fit(
        importance,
        {"penalty": penalty, "converged": converged},
        x_unseen.T,
        lambda lines: levels[_logits(weights, lines.T).argmax(axis=0)],
        importance > 0,
    )


def _logits(weights: Floats, x: Floats) -> Floats:
    """Logits (n_levels, n_rows), the largest of every row being 0; the last column of the weights is the intercept."""
    logits = weights[:, :-1] @ x.T
    logits += weights[:, -1:]
    logits -= logits.max(axis=0)
    return logits


def _logistic_weights(
    x: Floats, level: Ints, n_levels: int, penalty: float, start: Floats | None
) -> tuple[Floats, bool]:
    """Minimise mean deviance / 2 + L1 penalty (none on intercepts), for coefficients split into two positive parts."""
    from scipy.optimize import minimize

    n_rows, n_codes = x.shape
    indicator = (level == np.arange(n_levels)[:, None]).astype(np.float64)
    share = indicator.mean(axis=1)
    absolute = penalty * float(np.abs((indicator - share[:, None]) @ x).max()) / n_rows
    if start is None:
        start = np.column_stack([np.zeros((n_levels, n_codes)), np.log(share + 1 / n_rows)])
    size = n_levels * n_codes

    def joined(parts: Floats) -> Floats:
        difference = (parts[:size] - parts[size : 2 * size]).reshape(n_levels, n_codes)
        return np.column_stack([difference, parts[2 * size :]])

    def objective(parts: Floats) -> tuple[float, Floats]:
        logits = _logits(joined(parts), x)
        fitted = float(np.vdot(logits, indicator))
        probability = np.exp(logits, out=logits)
        total = probability.sum(axis=0)
        value = (float(np.log(total).sum()) - fitted) / n_rows + absolute * float(parts[: 2 * size].sum())
        probability /= total
        probability -= indicator
        slope = (probability @ x).reshape(-1) / n_rows
        return value, np.concatenate([absolute + slope, absolute - slope, probability.mean(axis=1)])

    coefficients = start[:, :-1].reshape(-1)
    found = minimize(
        objective,
        np.concatenate([np.maximum(coefficients, 0), np.maximum(-coefficients, 0), start[:, -1]]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * (2 * size) + [(None, None)] * n_levels,
        options={"maxiter": 300, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-5},
    )
    return joined(found.x), bool(found.success)
