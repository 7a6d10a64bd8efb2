"""Several columns as one code: joint cells, what unseen rows tell, multiple correlations, distances of vectors."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Rows
from demele.core.columns import Factor
from demele.estimation.correlations import mid_ranks
from demele.estimation.counts import BinnedRows
from demele.estimation.linear_recovery import (
    Basis,
    canonical,
    canonical_correlations,
    explained_share,
    largest_with_classes,
)
from demele.estimation.univariate import unit_vectors

#: Stages of boosting at most, how many without gain end it, and the depth of a tree.
BOOSTED: dict[str, Any] = {"max_iter": 200, "n_iter_no_change": 5, "max_depth": 3, "learning_rate": 0.1}
#: Stages where classes are too rare to set rows aside that say when to stop.
FEW_STAGES = 20


# Cells ----------------------------------------------------------------------------------------------------------------


def occupied_bins(rows: BinnedRows) -> Rows:
    """Return how many bins of each column hold rows, (n_columns,)."""
    return np.array([np.count_nonzero(np.bincount(column)) for column in rows.codes], dtype=np.intp)


def joint_rows(rows: BinnedRows, groups: Sequence[Sequence[int]], skipped: Iterable[int] = ()) -> BinnedRows:
    """Return rows whose codes are the groups: the bins of a column alone, and the joint cells of several.

    Parameters
    ----------
    rows : BinnedRows
        By column.
    groups : sequence of columns
    skipped : iterable of int
        Groups that are not counted: all of their rows are in one cell.

    Examples
    --------
    >>> two = np.array([2, 2])
    >>> rows = BinnedRows(np.array([[0, 0, 1], [0, 1, 1]]), np.zeros((0, 3), dtype=int), two, two[:0], two[:0] > 0)
    >>> joint_rows(rows, [(0, 1)]).codes.tolist()
    [[0, 1, 2]]
    """
    skipped = set(skipped)
    cells = np.zeros((len(groups), rows.n), dtype=np.intp)
    sizes = np.ones(len(groups), dtype=np.intp)
    for place, columns in enumerate(groups):
        if place in skipped:
            continue
        if len(columns) == 1:
            cells[place], sizes[place] = rows.codes[columns[0]], rows.code_bins[columns[0]]
            continue
        for column in columns:  # only cells that hold rows: empty ones would multiply
            joint = cells[place] * int(rows.code_bins[column]) + rows.codes[column]
            held, cells[place] = np.unique(joint, return_inverse=True)
            sizes[place] = len(held)
    return BinnedRows(cells, rows.factors, sizes, rows.factor_bins, rows.incomplete)


def held_out_losses(columns: Floats, labels: Rows, n_classes: int, folds: Iterable[tuple[Rows, Rows]]) -> Floats:
    r"""Return the loss :math:`-\log p(v \mid z)` of each row, nats, under boosted trees that have not seen it.

    Entropy minus the mean loss is a lower bound, on average, of the information of all columns together. Probabilities
    are mixed with even ones as if each class had one row more, so that none is 0.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)
    labels : array of int of shape (n_samples,)
        Classes 0 ... ``n_classes`` - 1.
    n_classes : int
    folds : iterable of (training rows, test rows)
        Each row is in the test rows of one.
    """
    losses = np.zeros(len(labels))
    for train, test in folds:
        present = np.unique(labels[train])
        likely = np.zeros((len(test), n_classes))
        if len(present) == 1:
            likely[:, present] = 1.0
        else:
            fitted = _boosted(labels[train]).fit(columns[train], labels[train])
            likely[:, fitted.classes_] = fitted.predict_proba(columns[test])
        own = likely[np.arange(len(test)), labels[test]]
        losses[test] = -np.log((len(train) * own + 1.0) / (len(train) + n_classes))
    return losses


def _boosted(labels: Rows) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    if sizes.min() < 2 or len(labels) < 20 * len(sizes):  # a tenth of the rows must hold every class
        return HistGradientBoostingClassifier(
            **{**BOOSTED, "max_iter": FEW_STAGES}, early_stopping=False, random_state=0
        )
    return HistGradientBoostingClassifier(**BOOSTED, early_stopping=True, random_state=0)


# Correlations ---------------------------------------------------------------------------------------------------------


def multiple_correlation(columns: Floats, factor: Factor, *, ranks: bool = False) -> float:
    r"""Return the largest correlation of a factor with any weighted sum of columns, adjusted for chance.

    .. math:: \tilde R^2 = 1 - (1 - R^2) \frac{N - 2}{N - 1 - r}

    r the rank of the columns: it has the mean of one column, 1 / (N - 1), for independent columns, so that groups of
    different sizes compare; negative values count 0. For classes, it is the unadjusted first canonical correlation of
    the columns with the indicators; for a cyclic factor, with its cosine and sine.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)
    factor : Factor
        On the same rows; only those where it is annotated are looked at.
    ranks : bool
        Of mid-ranks, column by column.
    """
    known = factor.annotated()
    own, values = columns[known], factor.values[known]
    basis = Basis.of(mid_ranks(own) if ranks else own) if len(own) > 1 else None
    if basis is None or not basis.rank:
        return 0.0
    if factor.categorical:
        return largest_with_classes(basis, values, len(factor.levels))
    if factor.cyclic:
        return float(canonical_correlations(basis, Basis.of(factor.coordinates[known]))[0])
    return float(np.sqrt(share_beyond_chance(basis, mid_ranks(values[:, None])[:, 0] if ranks else values)))


def share_beyond_chance(basis: Basis, values: Floats) -> float:
    """Return the share of the variance of values, (n,) or (n, k), that columns explain, minus the share by chance."""
    share, left = explained_share(basis, values), len(values) - 1 - basis.rank
    if np.isnan(share) or left < 1:
        return 0.0
    return max(1.0 - (1.0 - share) * (len(values) - 2) / left, 0.0)


def best_direction(columns: Floats, factor: Factor, *, ranks: bool = False) -> Floats:
    """Return the weights of the columns, (n_columns,), whose sum goes best with a factor; zeros where none does.

    Of ranks, the weights of mid-ranks.
    """
    known = factor.annotated()
    own, values = columns[known], factor.values[known]
    basis = Basis.of(mid_ranks(own) if ranks else own) if len(own) > 1 else None
    if basis is None or not basis.rank:
        return np.zeros(columns.shape[1])
    if factor.kind != "continuous":
        classes = (values[:, None] == np.arange(len(factor.levels))).astype(np.float64)
        beside = Basis.of(factor.coordinates[known] if factor.cyclic else classes)
        return canonical(basis, beside)[1][:, 0] if beside.rank else np.zeros(columns.shape[1])
    numbers = np.asarray(values, dtype=np.float64)[:, None]
    unit, varies = unit_vectors(mid_ranks(numbers) if ranks else numbers, 1e-24)
    return basis.directions @ basis.with_columns(unit)[:, 0] if varies[0] else np.zeros(columns.shape[1])


# Distances ------------------------------------------------------------------------------------------------------------


def vector_robustness(
    columns: Floats,
    labels: NDArray[Any],
    *,
    quantile: float = 1.0,
    normaliser: Literal["quantile", "maximum"] = "quantile",
    value_weights: Literal["frequency", "uniform"] = "frequency",
) -> tuple[Floats, float]:
    """Return the interventional robustness of a vector of columns given each factor, and its largest deviation.

    As :func:`demele.estimation.irs.crossed_deviations` for one column, with the Euclidean distance from the mean
    vector instead of the distance from the mean.

    Parameters
    ----------
    columns : array of shape (n_samples, n_columns)
        Standardised.
    labels : array of int of shape (n_samples, n_factors)
        Values as integers from 0; -1 where a factor is not annotated.

    Returns
    -------
    tuple of (array of shape (n_factors,), float)
        NaN and 0 for a vector that does not vary.
    """
    of_all = quantile if normaliser == "quantile" else 1.0
    largest = _distance(columns, of_all)
    robust = np.full(labels.shape[1], np.nan)
    if not largest > 0:
        return robust, 0.0
    for factor in range(labels.shape[1]):
        known = labels[:, factor] >= 0
        own, values = columns[known], labels[known, factor]
        overall = _distance(own, of_all) if len(own) else 0.0
        if not overall > 0:
            continue
        held, sizes = np.unique(values, return_counts=True)
        within = np.array([_distance(own[values == value], quantile) for value in held])
        weights = sizes / sizes.sum() if value_weights == "frequency" else np.full(len(held), 1.0 / len(held))
        robust[factor] = 1.0 - float(within @ weights) / overall
    return robust, largest / float(np.sqrt(max((columns.std(axis=0) > 0).sum(), 1)))


def _distance(columns: Floats, quantile: float) -> float:
    distances = np.sqrt(np.square(columns - columns.mean(axis=0)).sum(axis=1))
    found = float(np.quantile(distances, quantile))
    return found if found > 1e-12 * max(float(np.abs(columns).max()), 1e-300) else 0.0
