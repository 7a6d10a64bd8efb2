"""How well one code alone predicts a factor: squared correlations and linear classifiers, the scores behind SAP."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats, Integers
from demele.estimation.known_errors import accuracy_without_errors
from demele.estimation.one_code_classifiers import (
    ClassWeight,
    Problems,
    SortedCode,
    SortedLabels,
    accuracy,
    compact,
    fit_lines,
    svc_lines,
)


def squared_correlations(codes: Floats, values: Floats, *, threshold: float = 1e-24) -> Floats:
    r"""Coefficient of determination of the straight-line fit of a continuous factor by each code alone.

    .. math:: R_j^2 = \frac{\operatorname{cov}(z_j, v)^2}{\operatorname{var}(z_j) \operatorname{var}(v)}

    Parameters
    ----------
    codes : (n_samples, n_codes) array
    values : (n_samples,) array, or (n_samples, 2) of a cyclic factor
        Of several columns, the share of the sum of their variances.
    threshold : float
        A variable counts as constant if its variance is at most this share of its mean square: the default is a
        standard deviation of 1e-12 of the magnitude, which is rounding. Being relative, it does not depend on the
        unit. (Latte compares the variance itself with 1e-12, which makes a code in another unit disappear.)

    Returns
    -------
    (n_codes,) array in [0, 1]
        The same for every unit and offset of code and factor, up to rounding. 0 for a constant code; NaN everywhere
        for a constant factor.

    Notes
    -----
    O(N d). Columns are centred before anything is squared.

    Examples
    --------
    >>> values = np.array([0.0, 1.0, 2.0, 3.0])
    >>> codes = np.array([[5.0, 0.0, 7.0], [3.0, 1.0, 7.0], [1.0, 1.0, 7.0], [-1.0, 0.0, 7.0]])
    >>> squared_correlations(codes, values)
    array([1., 0., 0.])
    """
    code, code_varies = unit_vectors(codes, threshold)
    columns = values.reshape(len(values), -1)
    factor, factor_varies = unit_vectors(columns, threshold)
    if not factor_varies.any():
        return np.full(codes.shape[1], np.nan)
    squares: Floats = variance_shares(columns) @ [np.square(code.T @ line) for line in factor.T]
    # Rounding can leave a perfect correlation a bit above 1.
    return np.where(code_varies, np.minimum(squares, 1.0), 0.0)


def linear_classifier_accuracy_matrix(
    codes_train: Floats,
    factors_train: Sequence[Integers],
    codes_test: Floats,
    factors_test: Sequence[Integers],
    *,
    n_classes: Sequence[int],
    C: float = 1.0,  # noqa: N803 - the name in scikit-learn and in the papers
    class_weight: ClassWeight = None,
) -> Floats:
    """Accuracy of a linear support vector classifier of each categorical factor on each code alone.

    The classifier is the one of scikit-learn's ``LinearSVC`` on that one column, see `one_code_classifiers.svc_lines`.
    Each code is sorted once, in O(N log N); the rest hardly grows with N.

    Parameters
    ----------
    codes_train : (n_train, n_codes) array
        Standardised: the penalty makes the result depend on the unit and the origin.
    factors_train : sequence of (n_train,) arrays of int in 0..n_classes-1
        At least two classes each.
    codes_test : (n_test, n_codes) array
        Standardised with the mean and standard deviation of the training codes. The array `codes_train` itself for the
        accuracy on the training samples.
    factors_test : sequence of (n_test,) arrays of int
        A class that was not seen in training is never predicted.
    n_classes : sequence of int, one per factor
    C : float > 0
        Weight of the loss against the penalty (``l2_reg`` in Latte, 0.01 in disentanglement_lib).
    class_weight : {None, "balanced"}
        ``"balanced"`` weights the samples of a class by N / (number of classes x its size).

    Returns
    -------
    (n_codes, n_factors) array in [0, 1]
        A code without information gets about the share of the most frequent class.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 1, 1, 1])
    >>> codes = np.array([[-1.0, 1.0], [-1.2, -1.0], [-0.8, 1.0], [1.0, -1.0], [1.2, 1.0], [0.8, -1.0]])
    >>> linear_classifier_accuracy_matrix(codes, [labels], codes, [labels], n_classes=[2]).round(3).tolist()
    [[1.0], [0.667]]
    """
    accuracies = np.empty((codes_train.shape[1], len(factors_train)))
    problems = [
        Problems.of(labels, size, C, class_weight) for labels, size in zip(factors_train, n_classes, strict=True)
    ]
    factors_train = [compact(labels) for labels in factors_train]
    factors_test = [compact(labels) for labels in factors_test]
    for j, row in enumerate(accuracies):
        train = test = SortedCode.of(codes_train[:, j])
        if codes_test is not codes_train:
            test = SortedCode.of(codes_test[:, j])
        for i, problem in enumerate(problems):
            lines = fit_lines(train, SortedLabels.of(factors_train[i][train.order], n_classes[i]), problem)
            row[i] = accuracy(test, SortedLabels.of(factors_test[i][test.order], n_classes[i]), *lines)
    return accuracies


def true_accuracies(
    codes_train: Floats,
    given_train: Integers,
    codes_test: Floats,
    given_test: Integers,
    transition: Floats,
    *,
    C: float = 1.0,  # noqa: N803 - as above
    class_weight: ClassWeight = None,
) -> tuple[Floats, float]:
    """Accuracy against true classes of the classifiers of each code, and of the majority's class, from annotations.

    Parameters
    ----------
    codes_train, given_train, codes_test, given_test, C, class_weight
        As of :func:`linear_classifier_accuracy_matrix`, for one factor.
    transition : (n_classes, n_classes) array
        How classes are mistaken; rows are true classes.

    Returns
    -------
    (n_codes,) array and float
        They may leave [0, 1] by chance.
    """
    k = len(transition)
    lines = svc_lines(codes_train, given_train, n_classes=k, C=C, class_weight=class_weight)
    found = np.empty(codes_test.shape[1])
    for j, code in enumerate(codes_test.T):
        heights = lines.slopes[j] * code[:, None] + lines.intercepts[j]
        predicted = np.where(np.isfinite(lines.intercepts[j]), heights, -np.inf).argmax(axis=1)
        found[j] = accuracy_without_errors(predicted, given_test, transition)
    majority = np.full(given_test.shape, np.bincount(given_train).argmax())
    return found, accuracy_without_errors(majority, given_test, transition)


def majority_accuracies(factors_train: Sequence[Integers], factors_test: Sequence[Integers]) -> Floats:
    """Accuracy of the guess that each factor always has the class that is most frequent in training.

    What a code that does not vary can do: its classifier has an intercept only. With balanced weights and two classes
    that classifier is a tie, which the majority breaks here (and rounding elsewhere).

    Parameters
    ----------
    factors_train, factors_test : sequences of (n_train,) and (n_test,) arrays of int
        At least one row each.

    Returns
    -------
    (n_factors,) array in [0, 1]
        Of equally frequent classes, the first is guessed.

    Examples
    --------
    >>> majority_accuracies([np.array([0, 1, 1, 1])], [np.array([0, 0, 1, 1])])
    array([0.5])
    """
    return np.array(
        [np.mean(test == np.bincount(train).argmax()) for train, test in zip(factors_train, factors_test, strict=True)]
    )


def variance_shares(columns: Floats) -> Floats:
    """Return what share of the sum of the columns' variances each has; 1 of one column, in any unit."""
    variances = columns.var(axis=0) if columns.shape[1] > 1 else np.ones(1)
    return np.asarray(variances / variances.sum())


def unit_vectors(columns: Floats, threshold: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Centre columns and bring them to length 1, those that do not vary to 0; say which vary.

    Columns of the result lie together in memory.
    """
    lines = np.array(columns.T, dtype=np.float64, order="C")
    varies = np.zeros(len(lines), dtype=bool)
    for place, line in enumerate(lines):  # one column at a time stays in the processor's cache
        # Squares of any unit are to stay within range; powers of two do not round.
        np.ldexp(line, -np.frexp(max(line.max(), -line.min()))[1], out=line)
        magnitude = line @ line
        line -= line.mean()
        line -= line.mean()  # what rounding left of a mean much larger than the deviations
        squares = line @ line
        varies[place] = squares > threshold * magnitude
        line /= np.sqrt(squares) if varies[place] else np.inf
    return lines.T, varies
