"""Importance of codes for a factor from boosted trees."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from demele.core.arrays import Flags, Floats, Rows
from demele.core.errors import NotEnoughData
from demele.estimation import importance as predictors
from demele.estimation import trees as cart

HOLD_OUT_FROM = max(predictors.SCORED_FOLDS)


#: Rows to fit and to score in Locatello et al. (2019).
STUDY_ROWS = (10_000, 5_000)


def boosting_importance(
    codes: Floats,
    values: Floats | Rows,
    *,
    categorical: bool,
    rng: np.random.Generator,
    n_trees: int = 100,
    max_depth: int = 3,
    learning_rate: float = 0.1,
    max_bins: int | None = cart.MAX_BINS,
    n_train: int | None = None,
    n_test: int | None = None,
    presorted: cart.Presorted | None = None,
    drawn_from: int = 0,
    shuffles: predictors.Shuffles | None = None,
) -> predictors.FittedImportance:
    r"""Impurity importances of gradient-boosted trees, as in the large study of Locatello et al. (2019).

    Parameters
    ----------
    codes : (n_samples, n_codes) float64
    values : (n_samples,) float64, or intp levels from 0 if categorical
    rng : numpy.random.Generator
        Draws the rows to fit and to score, and breaks ties between codes.
    n_trees : int
        Stages; each has a tree per level of a categorical factor (one tree if it has two levels).
    max_depth : int from 1 to 7
    max_bins : int of at least 2, or None
        Splits lie between so many bins of equal numbers of rows, or, with None, between any two values.
    n_train, n_test : int, optional
        Rows to fit and to score, drawn at random. If one is given, the other is the rest. If neither is: the study's
        10000 and 5000, or two thirds and one third of fewer rows; five folds below 4000 rows.
    presorted : Presorted, optional
        ``presort(codes)``, to sort once for several factors.
    drawn_from : int
        Of how many rows these are a random part: rows to fit and to score, folds and bins are then those of the whole,
        in proportion.
    shuffles : Shuffles, optional
        Score with codes shuffled as well.

    Returns
    -------
    FittedImportance
        Importances that sum to 1. `settings`: ``n_train``, ``n_trees``, ``max_depth``,
        ``learning_rate`` and ``max_bins``.

    Raises
    ------
    NotEnoughData
        With fewer than 10 rows, or fewer than `n_train` + `n_test`.

    Notes
    -----
    Continuous factor: each stage fits a regression tree to the residuals. Categorical factor: the trees of a stage fit
    the residuals :math:`r_c = 1[v = c] - p_c` of the multinomial deviance, and a leaf moves the logit of level c by
    :math:`\tfrac{K-1}{K} \sum r_c / \sum p_c (1 - p_c)` times the learning rate (Friedman, 2001). The importance of a
    code is the decrease of the sum of squared residuals at its splits, summed over all trees, as a share.

    With ``max_bins=None`` these are the trees of scikit-learn's ``GradientBoostingClassifier`` and
    ``GradientBoostingRegressor``: importances agree to 2e-4 (10 000 rows, 6 codes), ties between codes aside. With 256
    bins modularity and compactness differ by up to 0.02 there, by up to 0.05 for 1000 rows.

    Importances are summed over all trees before they are made shares, as scikit-learn does since version 0.20
    (September 2018). Before, it made each tree's importances shares first, so that the many late trees that fit noise
    count as much as the first: a modularity of 0.820 then becomes 0.238, others 0.269 (from 0.960) and 0.116 (from
    0.372). Which version made the printed numbers of the study is not known.

    Cost: O(n_trees * n_codes * n_train * 2**max_depth), times the number of levels if categorical; with
    ``max_bins=None`` about 17 times the time (10 000 rows).

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine. Locatello et al. (2019), Challenging
    common assumptions in the unsupervised learning of disentangled representations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.random((500, 3))
    >>> fitted = boosting_importance(codes, (codes[:, 1] > 0.4).astype(int), categorical=True, rng=rng)
    >>> fitted.importance.round(1), fitted.score > 0.97
    (array([0., 1., 0.]), True)
    """
    sorted_codes = cart.presort(codes) if presorted is None else presorted
    if max_bins is not None:
        max_bins = predictors.in_part(max_bins, len(values), drawn_from)

    fit = partial(
        boosted_fit,
        sorted_codes,
        values,
        categorical=categorical,
        rng=rng,
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        max_bins=max_bins,
    )
    parted = _boosting_splits(values, categorical, n_train, n_test, rng, drawn_from)
    return predictors.cross_fit(values, categorical, parted, fit, as_shares=True, shuffles=shuffles)


def boosted_log_loss(
    codes: Floats, levels: Rows, *, rng: np.random.Generator, n_trees: int, max_depth: int = 3, learning_rate: float
) -> tuple[float, Rows]:
    """Return the mean log-loss (nats) of boosted trees on rows that they have not seen, and the levels of these rows.

    Parameters
    ----------
    codes : (n_samples, n_codes) float64
    levels : (n_samples,) intp
        Of a categorical factor, from 0.
    rng : numpy.random.Generator
        Draws the rows to fit and to score, as in :func:`boosting_importance`, and breaks ties.

    Notes
    -----
    Shares of levels are drawn together by one row spread over all levels, so that a level that no training row has
    does not cost without limit.

    Raises
    ------
    NotEnoughData
        With fewer than 10 rows.
    """
    sorted_codes, n_levels = cart.presort(codes), int(levels.max()) + 1
    losses, scored = [], []
    for train, test in _boosting_splits(levels, True, None, None, rng):
        bins = cart.Bins(sorted_codes.subset(train), cart.MAX_BINS)
        seen = np.unique(levels[train])
        share = np.full((n_levels, len(test)), 1.0 / (n_levels * (len(train) + 1)))
        if len(seen) > 1:
            loss = _loss(levels[train], True)
            _, outputs = _boost(bins, loss, n_trees, max_depth, learning_rate, rng)
            raw = outputs(bins.apply(sorted_codes.rank[:, test]))
            raw = np.vstack([np.zeros_like(raw), raw]) if len(raw) == 1 else raw
            likely = np.exp(raw - raw.max(axis=0))
            share[seen] += likely / likely.sum(axis=0) * len(train) / (len(train) + 1)
        else:
            share[seen] += len(train) / (len(train) + 1)
        losses.append(-np.log(share[levels[test], np.arange(len(test))]))
        scored.append(levels[test])
    return float(np.concatenate(losses).mean()), np.concatenate(scored)


def boosted_fit(
    presorted: cart.Presorted,
    values: Floats | Rows,
    train: Rows,
    test: Rows,
    *,
    categorical: bool,
    rng: np.random.Generator,
    n_trees: int = 100,
    max_depth: int = 3,
    learning_rate: float = 0.1,
    max_bins: int | None = cart.MAX_BINS,
) -> predictors.Fit:
    """Fit boosted trees to some rows, and predict others; arguments as of :func:`boosting_importance`."""
    bins = cart.Bins(presorted.subset(train), max_bins)
    loss = _loss(values[train], categorical)
    importance, outputs = _boost(bins, loss, n_trees, max_depth, learning_rate, rng)
    settings = {
        "n_train": len(train),
        "n_trees": n_trees,
        "max_depth": max_depth,
        "learning_rate": learning_rate,
        "max_bins": max_bins,
    }
    unseen = bins.apply(presorted.rank[:, test])
    share = predictors.shares(importance)
    return predictors.Fit(share, settings, unseen, lambda lines: loss.decide(outputs(lines)), importance > 0)


def _boosting_splits(
    values: Floats | Rows,
    categorical: bool,
    n_train: int | None,
    n_test: int | None,
    rng: np.random.Generator,
    drawn_from: int = 0,
) -> list[predictors.Split]:
    n_rows = len(values)
    if n_train is None and n_test is None:
        if max(n_rows, drawn_from) < HOLD_OUT_FROM:
            return predictors.splits(values, categorical, rng, drawn_from=drawn_from)
        n_train = min(predictors.in_part(STUDY_ROWS[0], n_rows, drawn_from), n_rows - n_rows // 3)
        n_test = min(predictors.in_part(STUDY_ROWS[1], n_rows, drawn_from), n_rows // 3)
    elif n_train is None:
        n_train = n_rows - (n_test or 0)
    elif n_test is None:
        n_test = n_rows - n_train
    if n_train < 2 or not n_test or n_test < 1 or n_train + n_test > n_rows:
        raise NotEnoughData(
            "codes",
            f"{n_rows} rows came, {n_train} to fit and {n_test} to score were asked for; add rows or lower "
            "n_train and n_test",
        )
    rows = rng.permutation(n_rows)
    return [(rows[:n_train], rows[n_train : n_train + n_test])]


@dataclass(frozen=True, slots=True)
class _Loss:
    """A loss for boosting; raw predictions have shape (n_outputs, n_rows).

    Attributes
    ----------
    start : (n_outputs,) float64
        Raw prediction to begin with.
    slopes : callable
        Negative gradient and curvature of the loss at raw predictions of the rows that are fitted.
    step : float
        Factor on sum(gradient) / sum(curvature) in a leaf.
    decide : callable
        From raw predictions to values of the factor.
    """

    start: Floats
    slopes: Callable[[Floats], tuple[Floats, Floats]]
    step: float
    decide: Callable[[Floats], Floats | Rows]


def _loss(values: Floats | Rows, categorical: bool) -> _Loss:
    if not categorical:
        return _Loss(np.array([values.mean()]), lambda raw: (values - raw, np.ones_like(raw)), 1.0, lambda raw: raw[0])
    levels, level = np.unique(values, return_inverse=True)
    share = np.bincount(level) / len(level)
    if len(levels) == 2:

        def binary(raw: Floats) -> tuple[Floats, Floats]:
            probability = 1 / (1 + np.exp(-raw))
            return level - probability, probability * (1 - probability)

        start = np.log(share[1:] / share[:1])
        return _Loss(start, binary, 1.0, lambda raw: levels[(raw[0] > 0).astype(np.intp)])

    indicator = (level == np.arange(len(levels))[:, None]).astype(np.float64)

    def multinomial(raw: Floats) -> tuple[Floats, Floats]:
        probability = np.exp(raw - raw.max(axis=0))
        probability /= probability.sum(axis=0)
        return indicator - probability, probability * (1 - probability)

    return _Loss(np.log(share), multinomial, 1 - 1 / len(levels), lambda raw: levels[raw.argmax(axis=0)])


def _boost(
    bins: cart.Bins, loss: _Loss, n_trees: int, max_depth: int, learning_rate: float, rng: np.random.Generator
) -> tuple[Floats, Callable[[cart.Places], Floats]]:
    """Run all stages: importances, and what makes raw predictions (n_outputs, n_rows) of rows in bins."""
    n_outputs, n_leaves = len(loss.start), 2**max_depth
    raw = np.tile(loss.start[:, None], bins.binned.shape[1])
    importance = np.zeros(len(bins.counts))
    first_leaf = n_leaves * np.arange(n_outputs)[:, None]
    stages: list[tuple[cart.StageTrees, Floats]] = []
    for _ in range(n_trees):
        gradient, curvature = loss.slopes(raw)
        trees, leaf = cart.boosted_stage(bins, gradient, max_depth=max_depth, rng=rng)
        cell = (leaf + first_leaf).reshape(-1)
        total = np.bincount(cell, gradient.reshape(-1), n_leaves * n_outputs)
        weight = np.bincount(cell, curvature.reshape(-1), n_leaves * n_outputs)
        # A leaf of rows predicted with certainty has nothing to move.
        value = np.divide(total, weight, out=np.zeros_like(total), where=weight > 1e-150)
        value *= learning_rate * loss.step
        raw += value[leaf + first_leaf]
        importance += np.bincount(trees.feature.reshape(-1), trees.decrease.reshape(-1), len(importance))
        stages.append((trees, value.reshape(n_outputs, n_leaves)))

    def outputs(binned: cart.Places) -> Floats:
        raw = np.tile(loss.start[:, None], binned.shape[1])
        for trees, value in stages:
            raw += np.take_along_axis(value, trees.leaves(binned).astype(np.intp), axis=1)
        return raw

    return importance, outputs


# Importance of codes for a factor from random forests -----------------------------------------------------------------

#: Depths and shares of codes per split of Boilard's review (section 3.4).
DEPTHS = (8, 16, 32, 64, 128)


FEATURE_SHARES = (0.2, 0.4, 0.8, 1.0)


#: Rows of a tree, without replacement: as many as a bootstrap sample has different rows.
ROW_SHARE = 0.632


#: Trees smaller than this many rows together are grown together.
ROWS_AT_ONCE = 8_192


def forest_importance(
    codes: Floats,
    values: Floats | Rows,
    *,
    categorical: bool,
    rng: np.random.Generator,
    n_trees: int = 10,
    depths: Sequence[int] = DEPTHS,
    feature_shares: Sequence[float] = FEATURE_SHARES,
    presorted: cart.Presorted | None = None,
    drawn_from: int = 0,
    shuffles: predictors.Shuffles | None = None,
) -> predictors.FittedImportance:
    r"""Impurity importances of a random forest.

    Parameters
    ----------
    codes : (n_samples, n_codes) float64
    values : (n_samples,) float64, or intp levels from 0 if categorical
    rng : numpy.random.Generator
        Draws the rows that are not seen, the rows of every tree and the codes of every split.
    depths : increasing sequence of int
        Maximum depths to choose from.
    feature_shares : sequence of float in (0, 1]
        Shares of the codes tried at each split, to choose from (rounded down, at least one code).
    presorted : Presorted, optional
        ``presort(codes)``, to sort once for several factors.
    drawn_from : int
        Number of rows that these are a random part of, such as a half-sample. The sizes of folds and of the rows for
        choices are then in proportion to the whole. Forests of half as many trees choose the number of codes per split,
        and only the chosen forest gets the other half. The spread over parts is the same, in half the time.
    shuffles : Shuffles, optional
        Score with codes shuffled as well.

    Returns
    -------
    FittedImportance
        Importances that sum to 1. `settings`: ``max_depth`` and ``features_per_split``.

    Raises
    ------
    NotEnoughData
        With fewer than 10 rows.

    Notes
    -----
    A tree's importance of a code is the total decrease of variance (Gini index if categorical) at its splits, as a
    share of that of all codes; the forest's is the mean over trees (Breiman, 2001). A forest predicts by the mean of
    its trees (of their level shares). Every tree is grown on 63.2 % of the rows, drawn without replacement: as many as
    the different rows of a bootstrap sample, which gives forests of the same quality (Friedman & Hall, 2007).

    Trees are grown once to full depth, and predict at every smaller depth as well. The depth and the number of codes
    per split are those with the smallest squared error (Brier score if categorical) on out-of-bag rows. Only some k of
    the T trees have not seen a given row, so that error is corrected for what averaging over all trees would gain: by
    :math:`s^2 (1/k - 1/T)`, with :math:`s^2` the variance of the k predictions. The number of codes per split is chosen
    on at most 5000 rows. The score is taken on rows that no tree and no choice has seen.

    scikit-learn's forests agree: score within 0.01, DCI modularity and compactness within 0.02, on scenarios with mixed
    and redundant codes.

    Cost: O(n_trees * n_codes * n_samples * depth).

    References
    ----------
    Breiman (2001), Random forests. Friedman & Hall (2007), On bagging and nonlinear estimation.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.random((500, 3))
    >>> fitted = forest_importance(codes, np.exp(codes[:, 1]), categorical=False, rng=rng)
    >>> fitted.importance.round(1), round(fitted.score, 2)
    (array([0., 1., 0.]), 1.0)
    """
    sorted_codes = cart.presort(codes) if presorted is None else presorted
    n_classes = int(values.max()) + 1 if categorical else None
    options = sorted({max(1, int(share * sorted_codes.n_codes)) for share in feature_shares})

    in_trial = n_trees if drawn_from <= len(values) else max(1, n_trees // 2)

    def fit(train: Rows, test: Rows) -> predictors.Fit:
        def grown(rows: Rows, option: int, n_grown: int, begun: _Forest | None = None) -> _Forest:
            part = sorted_codes.subset(rows)
            return _grown_forest(part, values[rows], n_classes, n_grown, option, tuple(depths), rng, begun)

        tuning = rng.permutation(train)[: predictors.in_part(predictors.TUNING_ROWS, len(values), drawn_from)]
        trials = [grown(tuning, option, in_trial) for option in options]
        best = int(np.argmin([trial.errors.min() for trial in trials]))
        if len(tuning) < len(train):
            forest = grown(train, options[best], n_trees)
        elif in_trial < n_trees:
            forest = grown(tuning, options[best], n_trees - in_trial, trials[best])
        else:
            forest = trials[best]
        which = int(forest.errors.argmin())
        settings = {"max_depth": depths[which], "features_per_split": options[best]}

        def predict(ranks: Rows) -> Floats | Rows:
            outputs = forest.predictions(ranks, depths[which])
            return outputs.argmax(axis=1) if categorical else outputs[:, 0]

        return predictors.Fit(forest.importances[which], settings, sorted_codes.rank[:, test], predict, forest.reads)

    parted = predictors.splits(values, categorical, rng, drawn_from=drawn_from)
    return predictors.cross_fit(values, categorical, parted, fit, as_shares=True, shuffles=shuffles)


@dataclass(frozen=True, slots=True)
class _Forest:
    """Trees in batches, with what is known of the forest at several maximum depths.

    Attributes
    ----------
    batches : list of Trees
    by_tree : (n_depths, n_trees, n_codes) float64
        Importances.
    unseen : list of (Trees, (n_unseen,) intp, (n_depths, n_unseen) intp)
        For each tree, the rows that it has not seen, and the nodes that they reach.
    errors : (n_depths,) float64
        Squared error on rows that no tree has seen, as estimated from out-of-bag rows.
    """

    batches: list[cart.Trees]
    by_tree: Floats
    unseen: list[tuple[cart.Trees, Rows, Rows]]
    errors: Floats

    @property
    def importances(self) -> Floats:
        """Mean over trees, as shares: (n_depths, n_codes)."""
        return np.stack([predictors.shares(line) for line in self.by_tree.mean(axis=1)])

    @property
    def reads(self) -> Flags:
        """Whether any tree splits by a code; the first of two splits that only serve together takes nothing off."""
        read = np.zeros(self.by_tree.shape[2], dtype=np.bool_)
        for trees in self.batches:
            read[trees.feature[trees.feature >= 0]] = True
        return read

    def predictions(self, ranks: Rows, depth: int) -> Floats:
        """Mean of the trees cut at a depth, of rows with these ranks (n_codes, n_rows): (n_rows, n_outputs)."""
        rows = np.arange(ranks.shape[1])
        total = np.zeros((len(rows), self.batches[0].value.shape[1]))
        n_trees = 0
        for trees in self.batches:
            roots = np.flatnonzero(trees.depth == 0)
            nodes = cart.descend(trees, ranks, np.repeat(roots, len(rows)), np.tile(rows, len(roots)), (depth,))
            total += trees.value[nodes.reshape(len(roots), len(rows))].sum(axis=0)
            n_trees += len(roots)
        return total / n_trees


def _grown_forest(
    presorted: cart.Presorted,
    values: Floats | Rows,
    n_classes: int | None,
    n_trees: int,
    features_per_split: int,
    depths: tuple[int, ...],
    rng: np.random.Generator,
    begun: _Forest | None = None,
) -> _Forest:
    """Grow trees, after those of a forest of the same rows if one is ``begun``."""
    n_rows = presorted.n_rows
    size = round(ROW_SHARE * n_rows)
    draws = rng.random((n_trees, n_rows))
    members = draws < np.partition(draws, size, axis=1)[:, size, None]
    batches = list(begun.batches) if begun else []
    importances = [begun.by_tree] if begun else []
    unseen = list(begun.unseen) if begun else []
    together = max(1, ROWS_AT_ONCE // size)
    for first in range(0, n_trees, together):
        batch = members[first : first + together]
        trees = cart.grow_trees(
            presorted,
            values,
            batch,
            n_classes=n_classes,
            features_per_split=features_per_split,
            max_depth=depths[-1],
            rng=rng,
        )
        roots, rows = np.nonzero(~batch)
        nodes = cart.descend(trees, presorted.rank, roots, rows, depths).reshape(len(depths), len(batch), -1)
        unseen += [(trees, row, nodes[:, tree]) for tree, row in enumerate(rows.reshape(len(batch), -1))]
        importances.append(cart.importances_by_depth(trees, presorted.n_codes, len(batch), depths))
        batches.append(trees)
    by_tree = np.concatenate(importances, axis=1)
    truth = values[:, None].astype(np.float64) if n_classes is None else np.eye(n_classes)[values.astype(np.intp)]
    deepest = max(int(trees.depth.max()) for trees in batches)
    errors: list[float] = []
    for which in range(len(depths)):
        if which and depths[which - 1] >= deepest:  # no tree reaches farther
            errors.append(errors[-1])
        else:
            outputs = [(row, trees.value[node[which]]) for trees, row, node in unseen]
            errors.append(_forest_error(truth, by_tree.shape[1], outputs))
    return _Forest(batches, by_tree, unseen, np.array(errors))


def _forest_error(truth: Floats, n_trees: int, predictions: Iterable[tuple[Rows, Floats]]) -> float:
    """Squared error that all trees together would have, from rows (and predictions) that each tree has not seen."""
    total = np.zeros(truth.shape)
    squares, votes = np.zeros(len(truth)), np.zeros(len(truth))
    for rows, value in predictions:
        total[rows] += value
        squares[rows] += (value**2).sum(axis=1)
        votes[rows] += 1
    voted = votes > 0
    k = votes[voted]
    mean = total[voted] / k[:, None]
    spread = (squares[voted] / k - (mean**2).sum(axis=1)) * k / np.maximum(k - 1, 1)
    error = ((mean - truth[voted]) ** 2).sum(axis=1) - spread * (1 / k - 1 / n_trees)
    return float(error.mean())
