"""Predictors of all factors, and how important each code is to them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.results import Note
from demele.estimation.importance import FittedImportance, Shuffled, Shuffles
from demele.estimation.univariate import variance_shares
from demele.metrics.data import Data
from demele.metrics.metric import Streams
from demele.metrics.splits import annotated_rows, fewer_than_asked, sizes

#: The importance that no predictor has of its own.
PERMUTATION = "permutation"
#: Level at which the predictors of all factors together are held to chance before a shuffled code counts.
LEVEL = 0.01
#: Smaller losses of a score are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Importances:
    """What the predictors of all factors gave.

    Attributes
    ----------
    matrices : mapping of str to array of shape (n_codes, n_factors)
        Importance of each code for each factor, by the name of the importance.
    explicitness, unclipped : arrays of shape (n_factors,)
        How well each factor is predicted: at least 0, and as it came.
    read : array of bool of shape (n_factors,)
        Whether a factor is predicted better than chance; of all factors, where no code was shuffled.
    settings : mapping of factor to mapping
        Chosen by validation.
    n : int
        Rows.
    notes : tuple of Note
    factor_names : tuple of str
    """

    matrices: Mapping[str, Floats]
    explicitness: Floats
    unclipped: Floats
    read: NDArray[np.bool_]
    settings: Mapping[str, Mapping[str, Any]]
    n: int
    notes: tuple[Note, ...]
    factor_names: tuple[str, ...]


def _importances(
    data: Data,
    streams: Streams,
    fit: Callable[..., Any],
    importance: tuple[str, ...],
    informativeness: str,
    report: str,
    n_train: int | None = None,
    n_test: int | None = None,
    **predictor: Any,
) -> Importances:
    """Fit one predictor for each factor, on the rows that are annotated for it."""
    codes, m = data.standardised(), data.factors.m
    own = np.zeros((data.codes.d, m))
    lost, read = np.zeros((data.n_codes, m)), np.ones(m, dtype=np.bool_)
    explicitness = np.empty(data.factors.m)
    unclipped = np.empty(data.factors.m)
    settings = {}
    for index, factor in enumerate(data.factors.columns):
        rows, values = annotated_rows(factor, codes)
        if factor.categorical:
            values = np.asarray(values, dtype=np.intp)
        elif not factor.cyclic:  # to the unit interval: the unit of a factor must not matter to a solver's tolerance
            values = (np.asarray(values, dtype=np.float64) - factor.low) / (factor.high - factor.low)
        if n_train or n_test:
            predictor["n_train"], predictor["n_test"] = sizes(len(rows), n_train, n_test)
        drawn_from = round(data.drawn_from * len(rows) / data.n)
        rng = streams("factor", index)
        if PERMUTATION in importance:
            groups = tuple(tuple(data.columns_of([code])) for code in range(data.n_codes))
            predictor["shuffles"] = Shuffles(groups, streams("factor", index, "shuffles"))
        predict = partial(fit, rows, categorical=factor.categorical, rng=rng, drawn_from=drawn_from, **predictor)
        fitted = _on_circle(predict, values) if factor.cyclic else predict(values)
        own[:, index] = fitted.importance
        unclipped[index] = _informativeness(fitted.score, fitted.mse, fitted.chance, informativeness, report)
        if fitted.shuffled is not None:
            shuffled, errors = fitted.shuffled.score, fitted.shuffled.mse
            drop = unclipped[index] - _informativeness(shuffled, errors, fitted.chance, informativeness, report)
            read[index] = _above_chance(fitted, m)
            lost[:, index] = np.where(read[index] & (drop > ROUNDING), drop, 0.0)
        explicitness[index] = max(unclipped[index], 0.0)
        settings[factor.name] = dict(fitted.settings)
    notes = fewer_than_asked(data.n, n_train, n_test)
    matrices = {one: lost if one == PERMUTATION else data.summed_by_code(own) for one in importance}
    return Importances(matrices, explicitness, unclipped, read, settings, data.n, notes, data.factors.names)


def _on_circle(predict: Callable[[Floats], FittedImportance], points: Floats) -> FittedImportance:
    """Predict cosine and sine (n, 2), of the angle from the first row's, so that scores do not see where it is 0."""
    cosine, sine = points[0]
    columns = points @ np.array([[cosine, -sine], [sine, cosine]])
    weights = variance_shares(columns)
    found = [(weight, predict(column)) for weight, column in zip(weights, columns.T, strict=True) if weight > ROUNDING]

    def mean(*values: Any) -> Any:
        return sum(weight * value for (weight, _), value in zip(found, values, strict=True))

    fits = [one for _, one in found]
    looks = [one.shuffled for one in fits if one.shuffled is not None]
    shuffled = Shuffled(*(mean(*(getattr(one, f) for one in looks)) for f in Shuffled.__slots__)) if looks else None
    settings = {name: tuple(one.settings[name] for one in fits) for name in fits[0].settings}
    importance, score = mean(*(one.importance for one in fits)), mean(*(one.score for one in fits))
    return FittedImportance(importance, score, None, None, settings, shuffled)


def _informativeness(
    score: float | Floats, mse: float | Floats | None, chance: float | None, informativeness: str, report: str
) -> float | Floats:
    """Return the explicitness that scores on unseen rows stand for; there is a chance of categorical factors only."""
    if chance is not None:
        if report == "unscaled":
            return score
        return (score - chance) / (1 - chance) if chance < 1 else np.nan
    if informativeness == "uniform-6" and mse is not None:  # source equation 1.5, on factors scaled to [0, 1]
        return 1 - 6 * mse
    return score


def _above_chance(fitted: FittedImportance, m: int) -> bool:
    """Whether a predictor beats the best constant, and by more than its predictions of rows in random order do.

    The level is shared among the factors: of codes of noise, not one in a hundred calls finds any factor read.
    """
    if fitted.shuffled is None or not fitted.score > (fitted.chance or 0.0):
        return False
    return fitted.shuffled.above_chance > NormalDist().inv_cdf(1 - LEVEL / m)


def _sorting_once(fit: Callable[..., FittedImportance]) -> Callable[..., FittedImportance]:
    """Return a fit of trees that sorts the same codes once, for all factors that are annotated on all rows."""
    from demele.estimation.trees import Presorted, presort

    held: list[tuple[Floats, Presorted]] = []

    def fitted(codes: Floats, values: Floats, **options: Any) -> FittedImportance:
        if not held or held[0][0] is not codes:
            held[:] = [(codes, presort(codes))]
        return fit(codes, values, presorted=held[0][1], **options)

    return fitted


def forest(data: Data, streams: Streams, **options: Any) -> Importances:
    """Return the importances of random forests."""
    from demele.estimation.forest_importance import forest_importance

    return _importances(data, streams, _sorting_once(forest_importance), **_chosen(options, "n_trees"))


def lasso(data: Data, streams: Streams, **options: Any) -> Importances:
    """Return those of linear predictors with an L1 penalty chosen by validation."""
    from demele.estimation.importance import lasso_importance

    return _importances(data, streams, lasso_importance, **_chosen(options))


def boosting(data: Data, streams: Streams, **options: Any) -> Importances:
    """Return those of gradient-boosted trees."""
    from demele.estimation.boosting_importance import boosting_importance

    own = _chosen(options, "n_train", "n_test", "n_trees", "max_depth", "learning_rate", "max_bins")
    return _importances(data, streams, _sorting_once(boosting_importance), **own)


def _chosen(options: Mapping[str, Any], *of_model: str) -> dict[str, Any]:
    return {name: options[name] for name in ("importance", "informativeness", "report", *of_model)}
