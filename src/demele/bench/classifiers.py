"""The classifiers that methods of comparison are measured on: varied, and chosen for the spread of their behaviour."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.measures.bias import indicator_counts
from demele.core.errors import InputError, NotEnoughData, plural
from demele.core.inputs import read_codes
from demele.core.kinds import checked_count, checked_share
from demele.core.labelled import Indices
from demele.core.proportions import proportion
from demele.core.seeds import rng_for
from demele.core.table_columns import real_numbers, whole_array
from demele.labels.made.annotators import draw_eyes, draw_model, seen_predictions

Floats = NDArray[np.float64]

#: Share of the training instances that the least trained classifiers learn from.
LEAST_SHARE = 0.1
#: Handicap of the sight of the weakest classifiers, of 1.
MOST_HANDICAP = 0.4
#: Instances of each class that are left to learn from, where there are as many.
LEAST_OF_CLASS = 3
#: Classifiers whose indicators have a smaller mean squared distance do the same: the source's tau.
NEAR = 1e-4


def candidate_classifier(
    features: object, labels: object, folds: object, seed: int, index: int
) -> tuple[str, NDArray[Any]]:
    """Train one varied classifier on noisy labels, and predict every instance by a model that was not trained on it.

    A pure function of its arguments, so that candidates can be trained in any order, anywhere, and stored.

    Parameters
    ----------
    features : array-like of shape (n, d)
        Finite numbers.
    labels : array-like of int of shape (n,)
        The labels to learn from, right or wrong, as class indices >= 0.
    folds : array-like of int of shape (n,)
        Number of the fold of each instance. For each fold, the model is trained on the other folds and predicts this
        one; features are standardised by the instances trained on.
    seed : int
        At least 0.
    index : int
        Which candidate, >= 0. Model, hyperparameters, handicaps and their random draws depend on the seed, on it and
        on sizes only, never on which labels are wrong: a candidate can be compared with itself trained on others.

    Returns
    -------
    name : str
        The model, what it sees, and what it learns from.
    predictions : array of int32 of shape (n,)
        Out of fold.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For features that are not finite, lengths that differ, one fold only, or a training part with one class only.

    Notes
    -----
    Source: Benjelloun, section 6.5.3. There, varied convolutional networks are trained on one split of CIFAR-10 into
    80% and 20%; those kept are right on 55 to 90% of the test instances. Here every instance is a test instance, and
    models of scikit-learn are weakened to reach such a range: few features, blur, few training instances (a share from
    10% to all, drawn log-uniformly within each class), little capacity. Blur is drawn once per candidate and instance.

    Examples
    --------
    >>> features = np.random.default_rng(0).normal(size=(200, 4))
    >>> labels = (features[:, 0] > 0).astype(int)
    >>> name, predictions = candidate_classifier(features, labels, np.arange(200) % 5, seed=0, index=2)
    >>> name, predictions.shape
    ('decision tree 2: 4 features, blur 0.35, 39% of the instances', (200,))
    """
    table = read_codes(features, "features").dense()
    n, d = table.shape
    given, parts = _whole(labels, "labels", n), _whole(folds, "folds", n)
    rng = rng_for(checked_count(seed, "seed", 0), "classifier", checked_count(index, "index", 0))
    share = float(np.exp(rng.uniform(np.log(LEAST_SHARE), 0.0)))
    eyes = draw_eyes(rng, n, d)
    handicap = MOST_HANDICAP * float(rng.uniform())
    order = rng.permutation(n)
    numbers = np.unique(parts)
    if numbers.size < 2:
        raise NotEnoughData("folds", f"expected at least 2 folds, got only number {numbers[0]}")
    fewest = int(share * (n - np.bincount(np.searchsorted(numbers, parts)).max()))
    model = draw_model(rng, max(2, fewest), d, int(np.unique(given).size))
    predictions = np.empty(n, dtype=np.int32)
    for number in numbers:
        tested = np.flatnonzero(parts == number)
        trained = _thinned(order[parts[order] != number], given, share)
        known = np.unique(given[trained]).size
        if known < 2 or known >= trained.size:
            raise NotEnoughData(
                "folds",
                f"without fold {number} there are {known} classes among {trained.size} instances to learn from; "
                "expected at least 2 classes and fewer than instances: shuffle or stratify the folds, or give fewer",
            )
        seen = eyes.view(table, handicap, trained)
        predictions[tested] = seen_predictions(model, seen[trained], given[trained], seen[tested])
    learned = f", {share:.0%} of the instances" if share < 1 else ""
    return f"{model.name} {index}: {eyes.described(handicap)}{learned}", predictions


def _thinned(rows: NDArray[np.intp], labels: Indices, share: float) -> NDArray[np.intp]:
    """Keep the first share of the rows of each class, and at least LEAST_OF_CLASS of them where there are as many."""
    import pandas as pd

    own = pd.Series(labels[rows])
    rank = own.groupby(own).cumcount().to_numpy()
    size = own.groupby(own).transform("size").to_numpy()
    return np.sort(rows[rank < np.maximum(LEAST_OF_CLASS, np.ceil(share * size))])


def indicators(predictions: NDArray[Any], labels: NDArray[Any], true_labels: NDArray[Any], k: int) -> Floats:
    """Return how each classifier meets the noise: F_c, F_n and F_r of each class.

    Parameters
    ----------
    predictions : array of int of shape (m, n)
        Class indices in [0, k) that each of m classifiers predicts.
    labels : array of int of shape (n,)
        Given labels, some of them wrong.
    true_labels : array of int of shape (n,)
    k : int
        Number of classes.

    Returns
    -------
    array of shape (m, 3k)
        F_c of all classes, then F_n, then F_r, each in [0, 1]; NaN where there is no such instance: see
        :func:`demele.classifiers.stats.bias`.

    Notes
    -----
    Source: Benjelloun, section 6.3.1. Cost O(m (n + k)).

    Examples
    --------
    >>> given, true = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> indicators(np.array([[0, 0, 1, 0]]), given, true, 2)
    array([[1. , 0.5, 1. , nan, nan, 0. ]])
    """
    return np.stack([proportion(*indicator_counts(row, labels, true_labels, k)).ravel() for row in predictions])


def select_varied(indicators: object, n: int, *, seed: int = 0, threshold: float = NEAR) -> NDArray[np.intp]:
    """Choose classifiers whose indicators are spread wide and evenly.

    Parameters
    ----------
    indicators : array-like of shape (n_candidates, n_indicators)
        F_c, F_n and F_r of each class for each candidate, in [0, 1], on whatever labels the caller chose; NaN where not
        defined.
    n : int
        How many to choose, >= 1.
    seed : int, default 0
        The first is drawn at random.
    threshold : float >= 0, default 1e-4
        A candidate whose mean squared distance to an earlier kept one is below this is dropped first: tau.

    Returns
    -------
    array of int of shape (n,)
        Row numbers in the order of the choice: the first m of them are the choice of m.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If fewer than n candidates are left by the filter: the message says how many.

    Notes
    -----
    Source: Benjelloun, section 6.5.3.

    *Filter.* The mean squared distance is over the indicators that both candidates have; without one in common they are
    not near. In the source, a later and better version of the same network replaces its earlier version; here no
    candidate is a version of another, and the earlier one stays.

    *Choice.* The next candidate maximises m1, the mean over the indicators of the variance of the values chosen, while
    minimising m2, the mean of the variance of the gaps between neighbouring values. The source does not say how the two
    are traded. Left as they are, m1 would decide alone, for m2 shrinks as gaps become many and small. So at each step
    both are scaled over the candidates left, the smallest to 0 and the largest to 1, and the difference is maximised:

        (m1 - min m1) / (max m1 - min m1) - (m2 - min m2) / (max m2 - min m2)    (the second candidate: m1 alone).

    It has no unit and no weight to set. On figure 6.4 of the source it picks the ten points of different places from
    every start; m1 - m2 as they are picks half of them. An indicator that a candidate does not have leaves that
    indicator's values as they were. Ties: the earlier candidate. Cost O(n^2 n_candidates n_indicators), to a logarithm.

    Examples
    --------
    >>> select_varied([[0.0], [0.001], [0.2], [0.4], [0.5], [0.9], [1.0]], 4)
    array([4, 0, 6, 2])
    """
    table = _read_indicators(indicators)
    wanted = checked_count(n, "n", 1)
    checked_count(seed, "seed", 0)
    checked_share(threshold, "threshold", 0, 1, "[)")
    kept = apart(table, float(threshold))
    if kept.size < wanted:
        raise NotEnoughData(
            "n",
            f"{wanted} classifiers are wanted, but of {len(table)} candidates only {kept.size} are at a mean squared "
            f"distance of at least {threshold:g} from each other; train more candidates, or lower the threshold",
        )
    first = int(rng_for(seed, "select_varied", "first").integers(kept.size))
    return kept[_spread(table[kept], wanted, first)]


def apart(table: Floats, threshold: float = NEAR) -> NDArray[np.intp]:
    """Return the candidates that are not near an earlier one of those returned."""
    kept: list[int] = []
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    for row in range(len(table)):
        common = known[kept] & known[row]
        squares = np.where(common, (filled[kept] - filled[row]) ** 2, 0.0).sum(axis=1)
        count = common.sum(axis=1)
        # without a common indicator: 0 < threshold * 0 is false, so they are not near
        if not (squares < threshold * count).any():
            kept.append(row)
    return np.array(kept, dtype=np.intp)


def _spread(table: Floats, wanted: int, first: int) -> NDArray[np.intp]:
    """Choose row after row; see :func:`select_varied`."""
    columns = table[:, ~np.isnan(table).all(axis=0)].T
    chosen, left = [first], np.ones(len(table), dtype=bool)
    left[first] = False
    while len(chosen) < wanted:
        rows = np.flatnonzero(left)
        variance, gaps = np.sum([_with_each(column[chosen], column[rows]) for column in columns], axis=0)
        score = _scaled(variance) - _scaled(gaps) if len(chosen) > 1 else variance
        best = int(rows[np.argmax(score)])
        chosen.append(best)
        left[best] = False
    return np.array(chosen, dtype=np.intp)


def _scaled(values: Floats) -> Floats:
    """Scale to [0, 1]; 0 where all are the same to rounding."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high - low > 1e-12 * high else np.zeros(values.size)


def _with_each(chosen: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Return the variance of values, and that of their gaps, if each new one were added; NaN adds nothing."""
    now = chosen[~np.isnan(chosen)]

    def spread(values: Floats) -> tuple[Floats, Floats]:
        gaps = np.diff(np.sort(values, axis=1), axis=1)
        none = np.zeros(len(values))
        return (values.var(axis=1) if values.size else none, gaps.var(axis=1) if gaps.size else none)

    added, same = spread(np.column_stack([np.tile(now, (new.size, 1)), np.nan_to_num(new)])), spread(now[None])
    variance, gaps = (np.where(np.isnan(new), old, with_new) for with_new, old in zip(added, same, strict=True))
    return variance, gaps


def _whole(values: object, argument: str, n: int) -> Indices:
    array = whole_array(values, argument, dimensions=1)
    if array.size != n:
        raise InputError(argument, f"expected {n} numbers, one per row of features, got {array.size}")
    low = np.flatnonzero(array < 0)
    if low.size:
        below = f"{low.size} below, first {array[low[0]]} at row {low[0]}"
        raise InputError(argument, f"expected numbers >= 0, got {below}")
    return array.astype(np.int32)


def _read_indicators(indicators: Any) -> Floats:
    table = real_numbers(indicators, "indicators", "numbers of shape (n_candidates, n_indicators)")
    if table.ndim != 2 or 0 in table.shape:
        raise InputError("indicators", f"expected shape (n_candidates, n_indicators), got {table.shape}")
    odd = np.argwhere((table < 0) | (table > 1))
    if odd.size:
        row, column = odd[0]
        first = f"first {table[row, column]:g} at row {row}, column {column}"
        others = plural(len(odd), "other", "others")
        raise InputError("indicators", f"expected shares in [0, 1] or NaN, got {others}, {first}")
    if np.isnan(table).all():
        raise NotEnoughData("indicators", "every value is NaN; compute them on labels with some correct ones")
    return table
