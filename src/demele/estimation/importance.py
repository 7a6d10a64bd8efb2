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

Source
------
Eastwood & Williams (2018), A framework for the quantitative evaluation of disentangled representations. Public code
that scores on the training rows gives pure noise up to 0.8 of explicitness.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Fewest rows that can be split into rows to fit and rows to score.
MIN_ROWS = 10
N_FOLDS = 5
#: From so many rows on (largest first), so many of the folds are set aside in turn: 800, 400 or all rows are scored.
SCORED_FOLDS = {4_000: 1, 1_000: 2, 0: N_FOLDS}
#: Choices that hardly depend on the number of rows are made on at most so many of them.
TUNING_ROWS = 5_000


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
    """

    importance: Floats
    score: float
    mse: float | None
    chance: float | None
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Fit:
    """One fit: importances, predictions of its unseen rows, choices."""

    importance: Floats
    predicted: Floats | Ints
    settings: Mapping[str, object]


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
) -> FittedImportance:
    """Average the importances of the fits, and score all their predictions together."""
    pairs = [(test, fit(train, test)) for train, test in splits]
    fits = [one for _, one in pairs]
    truth = np.concatenate([values[test] for test, _ in pairs])
    predicted = np.concatenate([one.predicted for one in fits])
    importance = np.mean([one.importance for one in fits], axis=0)
    if as_shares:
        importance = shares(importance)
    settings = {name: tuple(one.settings[name] for one in fits) for name in fits[0].settings}
    if categorical:
        chance = float(np.bincount(truth.astype(np.intp)).max() / len(truth))
        return FittedImportance(importance, float((truth == predicted).mean()), None, chance, settings)
    mse = float(((truth - predicted) ** 2).mean())
    score = 1 - mse / float(truth.var()) if truth.max() > truth.min() else np.nan
    return FittedImportance(importance, score, mse, None, settings)


def shares(importance: Floats) -> Floats:
    """Make importances sum to 1, unless all are 0."""
    total = float(importance.sum())
    return importance / total if total > 0 else importance


# Lasso


# Forest


# Boosting
