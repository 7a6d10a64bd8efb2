"""What disentanglement_lib computes, one value at a time: from its definitions, without its code and without ours.

Linear classifiers and boosted trees are scikit-learn's, as there. Codes (n_samples, n_codes); factors (n_samples,
n_factors), classes unless said. Each was run beside the library itself on arrays of ``benchmarks/protocol_arrays.py``.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def equal_width(column: Array, bins: int) -> list[int]:
    """Bin of each value, the last one closed."""
    low, high = float(column.min()), float(column.max())
    return [min(int((float(value) - low) / (high - low) * bins), bins - 1) for value in column]


def percentile(values: list[float], share: float) -> float:
    """Linear between the two nearest order statistics."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def irs(codes: Array, classes: Array, quantile: float = 0.99) -> float:
    """Quantile within the groups only; the largest deviation divides, and weighs, in the unit of the code."""
    weights, scores = [], []
    for code in codes.T.tolist():
        mean = sum(code) / len(code)
        largest = max(abs(value - mean) for value in code)
        if min(code) == max(code):
            continue
        best = -math.inf
        for column in classes.T.tolist():
            groups: dict[Any, list[float]] = {}
            for value, level in zip(code, column, strict=True):
                groups.setdefault(level, []).append(value)
            within = 0.0
            for members in groups.values():
                centre = sum(members) / len(members)
                within += percentile([abs(value - centre) for value in members], quantile)
            best = max(best, 1.0 - within / len(groups) / largest)
        weights.append(largest)
        scores.append(best)
    return float(sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights))


def gaps(matrix: list[list[float]]) -> list[float]:
    """Difference of the two largest of each factor's scores, given as one list per factor."""
    found = []
    for scores in matrix:
        second, first = sorted(scores)[-2:]
        found.append(first - second)
    return found


def sap_continuous(codes: Array, factors: Array) -> float:
    """Squared correlations; a variance of at most 1e-12 is none."""
    matrix = []
    for factor in factors.T.tolist():
        mean = sum(factor) / len(factor)
        scores = []
        for code in codes.T.tolist():
            centre = sum(code) / len(code)
            across = math.fsum((z - centre) * (v - mean) for z, v in zip(code, factor, strict=True))
            along = math.fsum((z - centre) ** 2 for z in code)
            other = math.fsum((v - mean) ** 2 for v in factor)
            scores.append(across**2 / along / other if along / (len(code) - 1) > 1e-12 else 0.0)
        matrix.append(scores)
    found = gaps(matrix)
    return sum(found) / len(found)


def sap_classes(
    codes: Array, classes: Array, train: Array, test: Array, *, cost: float = 0.01, balanced: bool = True
) -> list[float]:
    """Accuracy of a linear classifier on the raw code, gap by gap."""
    from sklearn.svm import LinearSVC

    matrix = []
    for factor in classes.T:
        scores = []
        for code in codes.T:
            machine = LinearSVC(C=cost, class_weight="balanced" if balanced else None, dual=False)
            machine.fit(code[train].reshape(-1, 1), factor[train])
            named = machine.predict(code[test].reshape(-1, 1))
            scores.append(sum(map(bool, named == factor[test])) / len(test))
        matrix.append(scores)
    return gaps(matrix)


def explicitness(codes: Array, classes: Array, train: Array, test: Array) -> float:
    """Mean area under the ROC curves of a softmax regression on standardised codes, not rescaled."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    mean, deviation = codes[train].mean(axis=0), codes[train].std(axis=0)
    scaled = (codes - mean) / deviation
    areas = []
    for factor in classes.T:
        model = LogisticRegression().fit(scaled[train], factor[train])
        shares = model.predict_proba(scaled[test])
        own = [roc_auc_score(factor[test] == level, shares[:, k]) for k, level in enumerate(model.classes_)]
        areas.append(sum(own) / len(own))
    return float(sum(areas) / len(areas))


def entropy(shares: list[float], base: int) -> float:
    return -sum(share * math.log(share) for share in shares if share > 0) / math.log(base)


def concentration(lines: list[list[float]]) -> float:
    """Mean over lines, weighted by their sums, of 1 - entropy of the line; 1e-11 is added to every entry."""
    grand = sum(map(sum, lines))
    total = 0.0
    for line in lines:
        shifted = [value + 1e-11 for value in line]
        own = 1.0 - entropy([value / sum(shifted) for value in shifted], len(line))
        total += own * (sum(line) / grand if grand > 0 else 1.0 / len(lines))
    return total


def disentanglement(importance: Array) -> float:
    """Over codes; importance (n_codes, n_factors)."""
    return concentration(importance.tolist())


def completeness(importance: Array) -> float:
    """Over factors."""
    return concentration(importance.T.tolist())


def boosted(codes: Array, labels: Array, train: Array, test: Array) -> tuple[Array, float]:
    """Importances of scikit-learn's boosted trees, and their accuracy on rows they have not seen."""
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(random_state=0).fit(codes[train], labels[train])
    return model.feature_importances_, float(np.mean(model.predict(codes[test]) == labels[test]))


class Sampler:
    """Fixes factors and draws the rest: any row with a combination of classes stands for it."""

    def __init__(self, codes: Array, classes: Array, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.codes, self.classes = codes, classes.astype(int)
        self.rows: dict[tuple[int, ...], list[int]] = {}
        for row, key in enumerate(map(tuple, self.classes.tolist())):
            self.rows.setdefault(key, []).append(row)

    def factors(self, n: int) -> Array:
        return self.classes[self.rng.integers(len(self.classes), size=n)].copy()

    def observe(self, classes: Array) -> Array:
        return np.array([self.codes[self.rng.choice(self.rows[key])] for key in map(tuple, classes.tolist())])


def beta_vae(sampler: Sampler, n_train: int, n_test: int, batch: int = 64) -> float:
    """Accuracy of a logistic regression on mean absolute differences of raw codes."""
    from sklearn.linear_model import LogisticRegression

    def points(n: int) -> tuple[Array, Array]:
        found, fixed = [], []
        for _ in range(n):
            index = int(sampler.rng.integers(sampler.classes.shape[1]))
            first, second = sampler.factors(batch), sampler.factors(batch)
            second[:, index] = first[:, index]
            found.append(np.abs(sampler.observe(first) - sampler.observe(second)).mean(axis=0))
            fixed.append(index)
        return np.array(found), np.array(fixed)

    model = LogisticRegression().fit(*points(n_train))
    features, fixed = points(n_test)
    return float(np.mean(model.predict(features) == fixed))


def factor_vae(sampler: Sampler, n_train: int, n_test: int, batch: int = 64, threshold: float = 0.05) -> float:
    """Accuracy of the majority vote of the code that varies least; codes below the threshold do not vote."""
    deviations = sampler.codes.std(axis=0, ddof=1)
    active = [code for code, deviation in enumerate(deviations) if deviation >= threshold]
    if not active:
        return 0.0

    def votes(n: int) -> list[tuple[int, int]]:
        found = []
        for _ in range(n):
            index = int(sampler.rng.integers(sampler.classes.shape[1]))
            drawn = sampler.factors(batch)
            drawn[:, index] = drawn[0, index]
            local = sampler.observe(drawn).var(axis=0, ddof=1)
            found.append((min(active, key=lambda code: local[code] / deviations[code] ** 2), index))
        return found

    counts: dict[int, dict[int, int]] = {}
    for code, index in votes(n_train):
        own = counts.setdefault(code, {})
        own[index] = own.get(index, 0) + 1
    named = {code: max(sorted(own), key=lambda index: own[index]) for code, own in counts.items()}
    test = votes(n_test)
    return sum(named.get(code, 0) == index for code, index in test) / n_test
