"""Importance of every code for a factor, and how well the codes predict it on rows that the predictor has not seen.

Three predictors, each for a continuous or a categorical factor: `lasso_importance` here, `forest_importance` and
`boosting_importance` in modules of their names. Each treats one factor, with its own random generator, so that factors
can be run in any order.

Unseen rows
-----------
Rows are cut into five folds. A fold is set aside, the predictor is fitted, and all that it chooses is chosen, on the
other four; it is scored on the fold. From 4000 rows on one fold says enough; with at least 1000 two take their turn,
with fewer all five, so that every row is scored once, by a predictor that has not seen it. The importances of the fits
are averaged. Folds of a categorical factor hold equal shares of every level. (Boosting sets aside as many rows as the
study it follows, where there are that many.)

Shuffled codes
--------------
On request the fitted predictors are also scored with the values of each code, or group of codes, shuffled among the
rows that they have not seen: what the score loses is the permutation importance of the code (Breiman 2001).

Source
------
Eastwood & Williams (2018), A framework for the quantitative evaluation of disentangled representations. Public code
that scores on the training rows gives pure noise up to 0.8 of explicitness.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.arrays import Array, Flags, Floats, Rows
from demele.core.errors import NotEnoughData

#: Fewest rows that can be split into rows to fit and rows to score.
MIN_ROWS = 10
N_FOLDS = 5
#: From so many rows on (largest first), so many of the folds are set aside in turn: 800, 400 or all rows are scored.
SCORED_FOLDS = {4_000: 1, 1_000: 2, 0: N_FOLDS}
#: Choices that hardly depend on the number of rows are made on at most so many of them.
TUNING_ROWS = 5_000
#: How often the values of a code are shuffled.
N_SHUFFLES = 5


@dataclass(frozen=True, slots=True)
class Shuffles:
    """What is to be shuffled.

    Attributes
    ----------
    groups : tuple of tuples of int
        Columns whose values are moved together: one for each code, or all those of a group.
    rng : numpy.random.Generator
        Draws the orders; they are the same for all groups. No other draw comes from it.
    """

    groups: tuple[tuple[int, ...], ...]
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class Shuffled:
    """Scores of predictors of one factor on the rows they have not seen, codes shuffled among these.

    Attributes
    ----------
    score : (n_groups,) float64
        Mean over the shuffles of each group; as that of :class:`FittedImportance`.
    mse : (n_groups,) float64
        The same of the mean squared error; NaN of a categorical factor.
    above_chance : float
        By how many standard deviations the score, nothing shuffled, is above that of the same predictions of rows in
        random order, those of several fits taken as correlated by the share of rows that a fit has not seen. NaN where
        all predictions, or all values, agree.
    """

    score: Floats
    mse: Floats
    above_chance: float


@dataclass(frozen=True, slots=True)
class FittedImportance:
    """What a predictor of one factor tells.

    Attributes
    ----------
    importance : (n_codes,) float64
        At least 0; all 0 if no code helps.
    score : float
        On unseen rows, and not clipped. Continuous factor: ``1 - mse / variance``, the variance being that of the
        factor over those same rows, so that no constant prediction scores above 0; at most 1, NaN if the variance is 0.
        Categorical factor: accuracy, in [0, 1].
    mse : float or None
        Continuous factor: mean squared error on the unseen rows, in the squared unit of the factor.
    chance : float or None
        Categorical factor: share of the most frequent level among the unseen rows, so that no constant prediction
        scores above it.
    settings : mapping
        What the fits chose: a tuple per name, with one value per fit (one fit, or five with few rows).
    shuffled : Shuffled or None
        Where shuffles were asked for.
    """

    importance: Floats
    score: float
    mse: float | None
    chance: float | None
    settings: Mapping[str, object]
    shuffled: Shuffled | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """One fit: importances, choices, and what predicts.

    Attributes
    ----------
    importance : (n_codes,) float64
    settings : mapping
    unseen : (n_codes, n_unseen)
        The rows that the fit has not seen, in the form that its predictor reads: values, ranks or bins.
    predict : callable
        From rows in this form to their predictions.
    reads : (n_codes,) bool
        Whether a code can change a prediction.
    """

    importance: Floats
    settings: Mapping[str, object]
    unseen: Array
    predict: Callable[[Array], Floats | Rows]
    reads: Flags


Split = tuple[Rows, Rows]


def splits(values: Floats | Rows, categorical: bool, rng: np.random.Generator, *, drawn_from: int = 0) -> list[Split]:
    """Rows to fit and rows to score, once or for every fold.

    ``drawn_from``: of how many rows these are a random part, whose folds are then those of the whole: scored otherwise,
    a part would vary otherwise than the whole does.
    """
    n_rows = len(values)
    if n_rows < MIN_ROWS:
        raise NotEnoughData(
            "codes",
            f"{n_rows} rows came, at least {MIN_ROWS} are needed to fit a predictor on some and score it on "
            "others; add rows",
        )
    fold = folds(values, categorical, N_FOLDS, rng)
    n_scored = next(folds for rows, folds in SCORED_FOLDS.items() if max(n_rows, drawn_from) >= rows)
    return [(np.flatnonzero(fold != which), np.flatnonzero(fold == which)) for which in range(n_scored)]


def in_part(rows: int, n_rows: int, drawn_from: int) -> int:
    """Return how many rows, or bins, a part of a whole takes where the whole takes ``rows``: in proportion."""
    return max(2, round(rows * n_rows / drawn_from)) if drawn_from > n_rows else rows


def folds(values: Floats | Rows, categorical: bool, n_folds: int, rng: np.random.Generator) -> Rows:
    """Fold of every row; the rows of a level are dealt out in turn."""
    order = np.lexsort((rng.random(len(values)), values)) if categorical else rng.permutation(len(values))
    fold = np.empty(len(values), dtype=np.intp)
    fold[order] = np.arange(len(values)) % n_folds
    return fold


def cross_fit(
    values: Floats | Rows,
    categorical: bool,
    splits: Iterable[Split],
    fit: Callable[[Rows, Rows], Fit],
    *,
    as_shares: bool,
    shuffles: Shuffles | None = None,
) -> FittedImportance:
    """Average the importances of the fits, and score all their predictions together."""
    pairs = [(test, fit(train, test)) for train, test in splits]
    fits = [one for _, one in pairs]
    truth = np.concatenate([values[test] for test, _ in pairs])
    predictions = [one.predict(one.unseen) for one in fits]
    predicted: Array = np.concatenate(predictions)
    importance = np.mean([one.importance for one in fits], axis=0)
    if as_shares:
        importance = shares(importance)
    settings = {name: tuple(one.settings[name] for one in fits) for name in fits[0].settings}
    score, mse = _scores(truth, predicted, categorical)
    shuffled = None if shuffles is None else _shuffled(fits, predictions, truth, categorical, shuffles)
    chance = float(np.bincount(truth.astype(np.intp)).max() / len(truth)) if categorical else None
    return FittedImportance(importance, float(score), None if categorical else float(mse), chance, settings, shuffled)


def _scores(truth: Array, predicted: Array, categorical: bool) -> tuple[Floats, Floats]:
    """Score of predictions (..., n_rows), and their mean squared error (NaN if categorical)."""
    if categorical:
        accuracy = np.asarray((truth == predicted).mean(axis=-1))
        return accuracy, np.full(accuracy.shape, np.nan)
    mse = np.asarray(((truth - predicted) ** 2).mean(axis=-1))
    varies = truth.max() > truth.min()
    return (1 - mse / float(truth.var()) if varies else np.full(mse.shape, np.nan)), mse


def _shuffled(
    fits: list[Fit], predictions: list[Floats | Rows], truth: Floats | Rows, categorical: bool, shuffles: Shuffles
) -> Shuffled:
    """Score the fits together, each group of codes shuffled among the rows that each fit has not seen."""
    orders = [
        np.stack([shuffles.rng.permutation(one.unseen.shape[1]) for _ in range(N_SHUFFLES)]).reshape(-1) for one in fits
    ]
    tiled = [np.tile(one.unseen, N_SHUFFLES) for one in fits]
    predicted: Array = np.concatenate(predictions)
    score, mse = np.empty(len(shuffles.groups)), np.empty(len(shuffles.groups))
    for place, group in enumerate(shuffles.groups):
        columns, parts = list(group), []
        for one, lines, order, before in zip(fits, tiled, orders, predictions, strict=True):
            if not one.reads[columns].any():
                parts.append(np.broadcast_to(before, (N_SHUFFLES, len(before))))
                continue
            kept = lines[columns]
            lines[columns] = one.unseen[columns][:, order]
            parts.append(one.predict(lines).reshape(N_SHUFFLES, -1))
            lines[columns] = kept
        moved: Array = np.concatenate(parts, axis=1)
        scores, errors = _scores(truth, moved, categorical)
        score[place], mse[place] = scores.mean(), errors.mean()
    # Predictors that share rows err together: their common score varies more than that of one (Nadeau and Bengio 2003).
    spread = math.sqrt(1 + (len(fits) - 1) / N_FOLDS)
    return Shuffled(score, mse, deviations_above_chance(truth, predicted, categorical) / spread)


def deviations_above_chance(truth: Array, predicted: Array, categorical: bool) -> float:
    r"""By how many standard deviations predictions score more than they would of the same rows in random order.

    Parameters
    ----------
    truth, predicted : (n_rows,) float64, or intp levels if categorical

    Returns
    -------
    float
        NaN where all predictions, or all values, agree.

    Notes
    -----
    Over all orders, the sum of squared errors has the standard deviation
    :math:`2 n\, \sigma_v \sigma_{\hat v} / \sqrt{n - 1}`, so that the answer is :math:`\sqrt{n - 1}` times the
    correlation. The number of hits has the variance :math:`n^2 / (n - 1) \sum_{kl} p_k q_l a_{kl}^2`, with p and q the
    shares of the levels among truth and predictions, and :math:`a_{kl} = 1[k = l] - p_l - q_k + \sum_m p_m q_m`
    (Hoeffding 1951).

    Examples
    --------
    >>> truth = np.array([0, 0, 1, 1])
    >>> round(deviations_above_chance(truth, truth, categorical=True), 3)
    1.732
    """
    n = len(truth)
    if not categorical:
        spread = float(truth.std() * predicted.std())
        centred = float(((truth - truth.mean()) * (predicted - predicted.mean())).mean())
        return float(np.sqrt(n - 1) * centred / spread) if spread > 0 else float("nan")
    levels = int(max(truth.max(), predicted.max())) + 1
    p, q = (np.bincount(one.astype(np.intp), minlength=levels) / n for one in (truth, predicted))
    expected = float(p @ q)
    from_mean = np.eye(levels) - p[None, :] - q[:, None] + expected
    variance = float(p @ from_mean**2 @ q) / (n - 1)
    return (float((truth == predicted).mean()) - expected) / math.sqrt(variance) if variance > 0 else float("nan")


def shares(importance: Floats) -> Floats:
    """Make importances sum to 1, unless all are 0."""
    total = float(importance.sum())
    return importance / total if total > 0 else importance


# Importance of codes for a factor from linear predictors with an L1 penalty -------------------------------------------

#: Penalties tried, relative to the smallest that makes all coefficients 0.
LASSO_PENALTIES = np.logspace(0, -3, 100)


#: How near the minimum the Lasso comes.
SOLVED: dict[str, Any] = {"tol": 1e-6, "max_iter": 1000}


LOGISTIC_PENALTIES = np.logspace(-0.5, -3.5, 7)


LOGISTIC_FOLDS = 3


def lasso_importance(
    codes: Floats,
    values: Floats | Rows,
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

    def fit(train: Rows, test: Rows) -> Fit:
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


def _fit_lasso(seen: Floats, values: Floats | Rows, unseen: Floats, rng: np.random.Generator) -> Fit:
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


def unseen_errors(x: Floats, y: Floats, fold: Rows, penalties: Floats) -> Floats:
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


def _fit_logistic(seen: Floats, values: Floats | Rows, unseen: Floats, tuning: int, rng: np.random.Generator) -> Fit:
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
    x: Floats, level: Rows, n_levels: int, penalty: float, start: Floats | None
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
