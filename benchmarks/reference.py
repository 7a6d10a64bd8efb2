"""The same quantities as users of scikit-learn write them: plain loops over codes, factors and values."""

import warnings

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.intp]


def information_loop(code_bins: Labels, factor_bins: Labels) -> Array:
    """Mutual information of every pair of binned columns."""
    from sklearn.metrics import mutual_info_score

    pairs = [[mutual_info_score(code, factor) for factor in factor_bins.T] for code in code_bins.T]
    return np.array(pairs)


def knn_information(codes: Array, labels: Labels) -> Array:
    """Nearest-neighbour information of every code with every categorical factor."""
    from sklearn.feature_selection import mutual_info_classif

    return np.column_stack([mutual_info_classif(codes, factor, random_state=0) for factor in labels.T])


def dci_forest_factor(codes: Array, factor: Array, *, folds: int = 10, seed: int = 0) -> tuple[Array, object]:
    """Importances of a forest of 10 trees with cross-validated depth and features, for one factor."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import GridSearchCV

    grid = {"max_depth": [8, 16, 32, 64, 128], "max_features": [0.2, 0.4, 0.8, 1.0]}
    search = GridSearchCV(RandomForestRegressor(n_estimators=10, random_state=seed), grid, cv=folds)
    search.fit(codes, factor)
    return search.best_estimator_.feature_importances_, search


def explicitness(codes: Array, labels: Labels, train: Labels, test: Labels) -> Array:
    """2 AUC - 1 of balanced one-vs-rest logistic regressions on min-max codes, mean over values; per factor."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.multiclass import OneVsRestClassifier

    low, high = codes[train].min(axis=0), codes[train].max(axis=0)
    scaled = (codes - low) / (high - low)
    scores = []
    for factor in labels.T:
        model = OneVsRestClassifier(LogisticRegression(class_weight="balanced", max_iter=1000))
        model.fit(scaled[train], factor[train])
        probability = model.predict_proba(scaled[test])
        aucs = [roc_auc_score(factor[test] == k, probability[:, k]) for k in range(probability.shape[1])]
        scores.append(2 * np.mean(aucs) - 1)
    return np.array(scores)


def sap_categorical(codes: Array, labels: Labels, train: Labels, test: Labels) -> Array:
    """Accuracy of a linear support vector classifier for every code and factor."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    matrix = np.empty((codes.shape[1], labels.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for j, code in enumerate(codes.T):
            for i, factor in enumerate(labels.T):
                model = LinearSVC(C=1.0, dual=False).fit(code[train, None], factor[train])
                matrix[j, i] = model.score(code[test, None], factor[test])
    return matrix


def irs(codes: Array, labels: Labels) -> Array:
    """1 - mean largest deviation at fixed values, over the largest, with percentiles as public code takes them."""
    largest = np.percentile(np.abs(codes - codes.mean(axis=0)), 100, axis=0)
    matrix = np.empty((codes.shape[1], labels.shape[1]))
    for i, factor in enumerate(labels.T):
        total = np.zeros(codes.shape[1])
        for value in np.unique(factor):
            group = codes[factor == value]
            deviation = np.abs(group - group.mean(axis=0))
            total += len(group) / len(codes) * np.percentile(deviation, 100, axis=0)
        matrix[:, i] = 1 - total / largest
    return matrix


def z_diff(codes: Array, labels: Labels, n_points: int, batch: int, rng: np.random.Generator) -> tuple[Array, Labels]:
    """Draw points of Z-diff one after another."""
    groups = [[np.flatnonzero(factor == value) for value in np.unique(factor)] for factor in labels.T]
    points, targets = np.empty((n_points, codes.shape[1])), np.empty(n_points, dtype=np.intp)
    for point in range(n_points):
        i = rng.integers(labels.shape[1])
        group = groups[i][rng.integers(len(groups[i]))]
        first, second = rng.choice(group, batch), rng.choice(group, batch)
        points[point], targets[point] = np.abs(codes[first] - codes[second]).mean(axis=0), i
    return points, targets


def z_min(codes: Array, labels: Labels, n_votes: int, batch: int, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Draw votes of Z-min variance one after another."""
    groups = [[np.flatnonzero(factor == value) for value in np.unique(factor)] for factor in labels.T]
    overall = codes.var(axis=0)
    votes, targets = np.empty(n_votes, dtype=np.intp), np.empty(n_votes, dtype=np.intp)
    for vote in range(n_votes):
        i = rng.integers(labels.shape[1])
        group = groups[i][rng.integers(len(groups[i]))]
        votes[vote] = np.argmin(codes[rng.choice(group, batch)].var(axis=0) / overall)
        targets[vote] = i
    return votes, targets


def z_max(codes: Array, labels: Labels, n_votes: int, batch: int, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Draw votes of Z-max variance one after another; the rows that agree are searched for each vote."""
    overall = codes.var(axis=0)
    votes, targets = [], []
    while len(votes) < n_votes:
        i = rng.integers(labels.shape[1])
        others = np.delete(labels, i, axis=1)
        group = np.flatnonzero((others == others[rng.integers(len(others))]).all(axis=1))
        if len(group) < 2:
            continue
        votes.append(np.argmax(codes[rng.choice(group, batch)].var(axis=0) / overall))
        targets.append(i)
    return np.array(votes, dtype=np.intp), np.array(targets, dtype=np.intp)
