"""Importance of every code for a factor, and how well the codes predict it on rows that the predictor has not seen.

Three predictors, each for a continuous or a categorical factor, stand in modules of their names: `lasso_importance`,
`forest_importance` and `boosting_importance`. Each treats one factor, with its own random generator, so that factors
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
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]

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
    unseen: NDArray[Any]
    predict: Callable[[NDArray[Any]], Floats | Ints]
    reads: Mask


Split = tuple[Ints, Ints]


def splits(values: Floats | Ints, categorical: bool, rng: np.random.Generator, *, drawn_from: int = 0) -> list[Split]:
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


def folds(values: Floats | Ints, categorical: bool, n_folds: int, rng: np.random.Generator) -> Ints:
    """Fold of every row; the rows of a level are dealt out in turn."""
    order = np.lexsort((rng.random(len(values)), values)) if categorical else rng.permutation(len(values))
    fold = np.empty(len(values), dtype=np.intp)
    fold[order] = np.arange(len(values)) % n_folds
    return fold


def cross_fit(
    values: Floats | Ints,
    categorical: bool,
    splits: Iterable[Split],
    fit: Callable[[Ints, Ints], Fit],
    *,
    as_shares: bool,
    shuffles: Shuffles | None = None,
) -> FittedImportance:
    """Average the importances of the fits, and score all their predictions together."""
    pairs = [(test, fit(train, test)) for train, test in splits]
    fits = [one for _, one in pairs]
    truth = np.concatenate([values[test] for test, _ in pairs])
    predictions = [one.predict(one.unseen) for one in fits]
    predicted: NDArray[Any] = np.concatenate(predictions)
    importance = np.mean([one.importance for one in fits], axis=0)
    if as_shares:
        importance = shares(importance)
    settings = {name: tuple(one.settings[name] for one in fits) for name in fits[0].settings}
    score, mse = _scores(truth, predicted, categorical)
    shuffled = None if shuffles is None else _shuffled(fits, predictions, truth, categorical, shuffles)
    if categorical:
        chance = float(np.bincount(truth.astype(np.intp)).max() / len(truth))
        return FittedImportance(importance, float(score), None, chance, settings, shuffled)
    return FittedImportance(importance, float(score), float(mse), None, settings, shuffled)


def _scores(truth: NDArray[Any], predicted: NDArray[Any], categorical: bool) -> tuple[Floats, Floats]:
    """Score of predictions (..., n_rows), and their mean squared error (NaN if categorical)."""
    if categorical:
        accuracy = np.asarray((truth == predicted).mean(axis=-1))
        return accuracy, np.full(accuracy.shape, np.nan)
    mse = np.asarray(((truth - predicted) ** 2).mean(axis=-1))
    varies = truth.max() > truth.min()
    return (1 - mse / float(truth.var()) if varies else np.full(mse.shape, np.nan)), mse


def _shuffled(
    fits: list[Fit], predictions: list[Floats | Ints], truth: Floats | Ints, categorical: bool, shuffles: Shuffles
) -> Shuffled:
    """Score the fits together, each group of codes shuffled among the rows that each fit has not seen."""
    orders = [
        np.stack([shuffles.rng.permutation(one.unseen.shape[1]) for _ in range(N_SHUFFLES)]).reshape(-1) for one in fits
    ]
    tiled = [np.tile(one.unseen, N_SHUFFLES) for one in fits]
    predicted: NDArray[Any] = np.concatenate(predictions)
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
        moved: NDArray[Any] = np.concatenate(parts, axis=1)
        scores, errors = _scores(truth, moved, categorical)
        score[place], mse[place] = scores.mean(), errors.mean()
    # Predictors that share rows err together: their common score varies more than that of one (Nadeau and Bengio 2003).
    spread = math.sqrt(1 + (len(fits) - 1) / N_FOLDS)
    return Shuffled(score, mse, deviations_above_chance(truth, predicted, categorical) / spread)


def deviations_above_chance(truth: NDArray[Any], predicted: NDArray[Any], categorical: bool) -> float:
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
