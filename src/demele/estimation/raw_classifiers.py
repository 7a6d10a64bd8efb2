"""Linear classifiers as public code fits them: scikit-learn's own, on codes as they come.

On codes in raw units, where a penalty may shrink a small code to almost nothing, predictions depend on where a solver
stops. Only their own solver gives the numbers of disentanglement_lib and Latte, so it is used here.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotConvergedWarning, warn_user
from demele.estimation.one_code_classifiers import require_two_classes

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


def raw_classifier_accuracy_matrix(
    codes_train: Floats,
    factors_train: Sequence[Ints],
    codes_test: Floats,
    factors_test: Sequence[Ints],
    *,
    groups: Sequence[list[int]] | None = None,
    C: float = 1.0,  # noqa: N803 - scikit-learn's name
    class_weight: Literal["balanced"] | None = None,
) -> Floats:
    """Accuracy of scikit-learn's ``LinearSVC`` of each categorical factor on each code, or some codes together.

    Parameters
    ----------
    codes_train, codes_test : (n_train, n_codes), (n_test, n_codes) arrays
        In any unit, which matters: the penalty weighs on the slope, and on the intercept too.
    factors_train, factors_test : sequences of (n_train,) and (n_test,) arrays of int
    groups : sequence of list of int, optional
        Columns that a classifier sees together; each alone by default.
    C, class_weight
        As in scikit-learn.

    Returns
    -------
    (n_codes or n_groups, n_factors) array in [0, 1]

    Raises
    ------
    NotEnoughData
        If fewer than two classes of a factor occur in training.

    Notes
    -----
    scikit-learn solves the primal problem, without randomness, since version 1.5; before, the dual one at random. Here
    it is the primal one in every version.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 1, 1, 1])
    >>> codes = np.array([[-1.0, -1.2, -0.8, 1.0, 1.2, 0.8]]).T
    >>> raw_classifier_accuracy_matrix(codes, [labels], codes, [labels])
    array([[1.]])
    """
    from sklearn.svm import LinearSVC

    together = [[code] for code in range(codes_train.shape[1])] if groups is None else groups
    accuracies = np.empty((len(together), len(factors_train)))
    for i, (train, test) in enumerate(zip(factors_train, factors_test, strict=True)):
        require_two_classes(len(np.unique(train)), len(train))
        for j, own in enumerate(together):
            machine = LinearSVC(C=C, class_weight=class_weight, dual=False)
            fit_as_far(lambda: machine.fit(codes_train[:, own], train))  # noqa: B023 - called at once
            accuracies[j, i] = np.mean(machine.predict(codes_test[:, own]) == test)
    return accuracies


def raw_logistic_accuracy(train: Floats, train_y: Ints, test: Floats, test_y: Ints) -> float:
    """Accuracy of scikit-learn's ``LogisticRegression``, with its defaults, on features as they come.

    Parameters
    ----------
    train, test : (n_train, n_features), (n_test, n_features) arrays
    train_y, test_y : (n_train,), (n_test,) arrays of int

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    NotEnoughData
        If fewer than two classes occur in training.

    Examples
    --------
    >>> features, classes = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> raw_logistic_accuracy(features, classes, features, classes)
    1.0
    """
    from sklearn.linear_model import LogisticRegression

    require_two_classes(len(np.unique(train_y)), len(train_y))
    model = LogisticRegression()
    fit_as_far(lambda: model.fit(train, train_y))
    return float(np.mean(model.predict(test) == test_y))


def fit_as_far(fit: Callable[[], object]) -> None:
    """Fit; where the solver stops early, say so in our words and keep what it has, as public code does."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        fit()
    if any(issubclass(item.category, ConvergenceWarning) for item in caught):
        warn_user("a linear classifier on codes in raw units stopped before it converged", NotConvergedWarning)
