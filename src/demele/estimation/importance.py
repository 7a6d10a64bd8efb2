"""How much each code serves to predict a factor, and how well they do on rows that the predictor has not seen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.estimation.trees import Presorted, Trees, descend, grow_trees, importances_by_depth, presort

__all__ = ["FittedImportance", "forest_importance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]

MIN_ROWS = 10
N_FOLDS = 5
HOLD_OUT_FROM = 4000
SHARE_PER_TREE = 0.632
TUNING_ROWS = 5000
ROWS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class FittedImportance:
    importance: Floats
    score: float
    mse: float | None
    chance: float | None
    settings: Mapping[str, object]


def _splits(values, categorical, rng):
    n = len(values)
    if n < MIN_ROWS:
        raise NotEnoughData(
            f"codes: {n} rows; at least {MIN_ROWS} are needed to fit a predictor and to score it on rows that it has "
            "not seen; add rows"
        )
    order = np.lexsort((rng.random(n), values)) if categorical else rng.permutation(n)
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % N_FOLDS
    for which in range(1 if n >= HOLD_OUT_FROM else N_FOLDS):
        yield np.flatnonzero(fold != which), np.flatnonzero(fold == which)


def _scored(importance, truth, predicted, categorical, settings):
    if categorical:
        chance = float(np.bincount(truth).max() / truth.size)
        return FittedImportance(importance, float((truth == predicted).mean()), None, chance, settings)
    mse = float(((truth - predicted) ** 2).mean())
    variance = float(truth.var())
    return FittedImportance(importance, 1 - mse / variance if variance > 0 else float("nan"), mse, None, settings)


def _normalised(importance):
    total = importance.sum()
    return importance / total if total > 0 else importance


class _Forest:
    def __init__(self, presorted, target, n_classes, features_per_split, n_trees, depths, rng):
        n = presorted.n_rows
        size = min(n - 1, max(1, round(SHARE_PER_TREE * n)))
        draws = rng.random((n_trees, n))
        members = draws <= np.partition(draws, size - 1, axis=1)[:, size - 1 : size]
        self.depths, self.n_trees = depths, n_trees
        self.trees = []
        unseen = []
        per_tree = []
        step = max(1, ROWS_AT_ONCE // size)
        for first in range(0, n_trees, step):
            batch = members[first : first + step]
            trees = grow_trees(
                presorted, target, batch, n_classes=n_classes, features_per_split=features_per_split,
                max_depth=depths[-1], rng=rng,
            )
            roots, rows = np.nonzero(~batch)
            unseen.append((rows.reshape(len(batch), -1), descend(trees, presorted.rank, roots, rows, depths).reshape(len(depths), len(batch), -1)))
            per_tree.append(importances_by_depth(trees, presorted.n_codes, len(batch), depths))
            self.trees.append(trees)
        self.importance = np.concatenate(per_tree, axis=1).sum(axis=1)
        truth = target[:, None] if n_classes is None else np.eye(n_classes)[target]
        self.error = np.array([self._error(truth, unseen, which) for which in range(len(depths))])

    def _error(self, truth, unseen, which):
        total = np.zeros(truth.shape)
        squares, votes = np.zeros(len(truth)), np.zeros(len(truth))
        for trees, (rows, nodes) in zip(self.trees, unseen):
            for at, node in zip(rows, nodes[which]):
                value = trees.value[node]
                total[at] += value
                squares[at] += (value**2).sum(axis=1)
                votes[at] += 1
        seen = votes > 0
        k = votes[seen]
        mean = total[seen] / k[:, None]
        spread = (squares[seen] / k - (mean**2).sum(axis=1)) * k / np.maximum(k - 1, 1)
        error = ((mean - truth[seen]) ** 2).sum(axis=1) - spread * (1 / k - 1 / self.n_trees)
        return error.mean()

    def predict(self, rank, rows, which):
        total = 0
        for trees in self.trees:
            n_trees = int((trees.depth == 0).sum())
            roots = np.repeat(np.arange(n_trees), len(rows))
            node = descend(trees, rank, roots, np.tile(rows, n_trees), self.depths[which:which+1])[0]
            total = total + trees.value[node].reshape(n_trees, len(rows), -1).sum(axis=0)
        return total / self.n_trees


def forest_importance(codes, values, *, categorical, rng, n_trees=10, depths=(8, 16, 32, 64, 128), fractions=(0.2, 0.4, 0.8, 1.0), presorted=None):
    presorted = presort(codes) if presorted is None else presorted
    n_classes = int(values.max()) + 1 if categorical else None
    options = sorted({max(1, int(f * presorted.n_codes)) for f in fractions})
    predicted = np.empty(len(values), dtype=values.dtype)
    scored = []
    total = np.zeros(presorted.n_codes)
    chosen = []
    for train, test in _splits(values, categorical, rng):
        def fit(rows, k):
            return _Forest(presorted.subset(rows), values[rows], n_classes, k, n_trees, depths, rng)
        tuning = rng.choice(train, min(TUNING_ROWS, len(train)), replace=False)
        trials = [fit(tuning, k) for k in options]
        b = int(np.argmin([f.error.min() for f in trials]))
        forest = trials[b] if len(tuning) == len(train) else fit(train, options[b])
        which = int(forest.error.argmin())
        p = forest.predict(presorted.rank, test, which)
        predicted[test] = p.argmax(axis=1) if categorical else p[:, 0]
        total += _normalised(forest.importance[which])
        scored.append(test)
        chosen.append((options[b], depths[which]))
        forest_importance.debug = [ (o, t.error.round(5)) for o,t in zip(options, trials)], forest.error.round(5)
    rows = np.concatenate(scored)
    return _scored(_normalised(total), values[rows], predicted[rows], categorical, {"chosen": chosen})
