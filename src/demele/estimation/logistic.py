"""Linear probes (logistic regression) and the areas under their ROC curves.

A code is explicit when a *linear* classifier reads the values of a factor from it. Measuring that takes one binary
classifier per value of every factor, so speed decides: the K classifiers of a factor see the same rows and are solved
together by Newton's method, with one matrix product for all K Hessians.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from demele.core.errors import NotEnoughData
from demele.estimation.known_errors import areas_without_errors
from demele.estimation.logistic_problems import (
    Design,
    Multinomial,
    OneVsRest,
    linear_scores,
    newton,
    ridge,
    rows_by_class,
    sigmoid_shares,
    softmax,
    softmax_minimum,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]


def one_vs_rest_logistic(
    X_train: Floats,  # noqa: N803 - a design matrix
    labels_train: Ints,
    n_classes: int,
    *,
    C: float = 1.0,  # noqa: N803 - scikit-learn's name
    balanced: bool = True,
) -> tuple[Floats, Floats]:
    r"""Fit one binary logistic regression per class, all of them together.

    For every class :math:`k`, with :math:`y_i = 1` on its rows and :math:`-1` elsewhere, the minimum of

    .. math:: \tfrac12 \lVert w\rVert^2 + C \sum_i s_i \log\bigl(1 + e^{-y_i (w \cdot x_i + b)}\bigr)

    where the intercept :math:`b` is not penalised and, if `balanced`, :math:`s_i = n / (2 n_{y_i})`, so that the class
    and the rest weigh the same. It is the objective of ``sklearn.linear_model.LogisticRegression``.

    Parameters
    ----------
    X_train : ndarray, shape (n, d)
        Design matrix. The penalty depends on the unit of its columns: scale them first (`scaled_codes`).
    labels_train : ndarray of int, shape (n,)
        Classes 0 ... `n_classes` - 1.
    n_classes : int
        K.
    C : float, default 1.0
        Inverse strength of the penalty.
    balanced : bool, default True
        Whether a class weighs as much as all others together.

    Returns
    -------
    coef : ndarray, shape (K, d)
        NaN for a class that has no row, or all of them.
    intercept : ndarray, shape (K,)

    Notes
    -----
    Damped Newton iterations to the last digits, not to the loose default tolerance of general-purpose solvers. Up to 12
    codes all Hessians come from one product of the weights (K, n) with the design products (n, (d + 1)(d + 2) / 2):
    time O(n K d^2) per iteration, some eight of them, fewer for classes far from separable, which leave early. Above
    12 codes conjugate gradients solve the Newton equations, in O(n K d) per product.

    Examples
    --------
    >>> coef, intercept = one_vs_rest_logistic(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]), 2)
    >>> coef.round(4).tolist(), intercept.round(4).tolist()
    ([[-0.4529], [0.4529]], [0.6793, -0.6793])
    """
    coef = np.full((n_classes, X_train.shape[1]), np.nan)
    intercept = np.full(n_classes, np.nan)
    n = len(labels_train)
    counts = np.bincount(labels_train, minlength=n_classes)
    solvable = np.flatnonzero((counts > 0) & (counts < n))
    if not solvable.size:
        return coef, intercept
    design = Design.of(X_train, labels_train)
    inside, outside = (n / (2 * counts[solvable]), n / (2 * (n - counts[solvable]))) if balanced else (1.0, 1.0)
    problem = OneVsRest(
        design,
        classes=solvable,
        inside=np.broadcast_to(inside, solvable.shape),
        outside=np.broadcast_to(outside, solvable.shape),
        ridge=ridge(design, C),
    )
    solution = newton(problem, len(solvable), design.n_columns)
    coef[solvable] = solution[:, :-1]
    intercept[solvable] = solution[:, -1] - solution[:, :-1] @ design.centre
    return coef, intercept


def multinomial_logistic(
    X: Floats,  # noqa: N803 - a design matrix
    labels: Ints,
    n_classes: int,
    *,
    C: float = 1.0,  # noqa: N803 - scikit-learn's name
    balanced: bool = False,
) -> tuple[Floats, Floats]:
    r"""Fit one softmax regression over all classes.

    The minimum of :math:`\tfrac12 \lVert W\rVert^2 - C \sum_i s_i \log \mathrm{softmax}(W x_i + b)_{y_i}` with
    :math:`s_i = n / (K' n_{y_i})` if `balanced` (K' classes are present), which is what
    ``sklearn.linear_model.LogisticRegression`` minimises for three classes or more.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        Design matrix, its columns scaled.
    labels : ndarray of int, shape (n,)
        Classes 0 ... `n_classes` - 1.
    n_classes : int
        K.
    C : float, default 1.0
        Inverse strength of the penalty.
    balanced : bool, default False
        Whether all classes weigh the same.

    Returns
    -------
    coef : ndarray, shape (K, d)
        NaN for a class that has no row. One class alone: zeros.
    intercept : ndarray, shape (K,)
        Their sum over the classes present is zero.

    Notes
    -----
    Two classes keep two vectors, w and -w. Scikit-learn then fits a single one of twice their length under the penalty
    of its own length, which is half as strong: `C` there equals 2 `C` here.

    Newton iterations as in `one_vs_rest_logistic`; O(n K^2 d^2) each while K (d + 1) <= 128, conjugate gradients above.
    From 4096 rows on, most of them are taken on an eighth of the rows, and the last ones, to the last digits, on all.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [1.0], [3.0]])
    >>> coef, intercept = multinomial_logistic(X, np.array([0, 0, 1, 1, 2]), 3)
    >>> (X @ coef.T + intercept).argmax(axis=1).tolist()
    [0, 0, 1, 0, 2]
    """
    coef = np.full((n_classes, X.shape[1]), np.nan)
    intercept = np.full(n_classes, np.nan)
    counts = np.bincount(labels, minlength=n_classes)
    present = np.flatnonzero(counts)
    design = Design.of(X, labels)
    weights = len(labels) / (len(present) * counts[present]) if balanced else np.ones(len(present))
    problem = Multinomial(design, classes=present, weights=weights, ridge=ridge(design, C))
    solution = softmax_minimum(problem)
    coef[present] = solution[:, :-1]
    shifted = solution[:, -1] - solution[:, :-1] @ design.centre
    intercept[present] = shifted - shifted.mean()
    return coef, intercept


def rank_auc(scores: Floats, labels: Ints, n_classes: int) -> Floats:
    r"""Return the area under the ROC curve of every class against the others.

    .. math:: A_k = P(s_k > s'_k) + \tfrac12 P(s_k = s'_k)

    for a row of class :math:`k` and one of another class, each drawn at random (Mann-Whitney): ties count one half,
    nothing is approximated.

    Parameters
    ----------
    scores : ndarray, shape (n, K)
        Column k is large where class k is likely. Any increasing function of a column gives the same result.
    labels : ndarray of int, shape (n,)
        Classes 0 ... `n_classes` - 1.
    n_classes : int
        K.

    Returns
    -------
    ndarray, shape (K,)
        In [0, 1], 0.5 for scores that say nothing. NaN for a class without rows, with all rows, or with NaN scores.

    Notes
    -----
    One sort and one search per class: O(K n log n).

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.4, 0.6], [0.4, 0.6], [0.2, 0.8]])
    >>> rank_auc(scores, np.array([0, 0, 1, 1]), 2).tolist()
    [0.875, 0.875]
    """
    areas = np.full(n_classes, np.nan)
    order, ends = rows_by_class(labels, n_classes)
    for k, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
        column = scores[:, k].take(order)
        rest = np.sort(np.concatenate([column[:start], column[stop:]]))
        own = np.sort(column[start:stop])  # sorted as well: neighbouring searches then touch neighbouring memory
        if not (own.size and rest.size) or np.isnan(own[-1]) or np.isnan(rest[-1]):
            continue
        below_twice = np.searchsorted(rest, own, side="left").sum() + np.searchsorted(rest, own, side="right").sum()
        areas[k] = below_twice / (2 * own.size * rest.size)
    return areas


def explicitness_by_value(
    codes: Floats,
    labels: Ints,
    n_classes: int,
    *,
    train_rows: Ints,
    test_rows: Ints,
    classifier: Literal["one-vs-rest", "multinomial"] = "one-vs-rest",
    probabilities: Literal["normalised", "raw"] = "normalised",
    scaling: Literal["min-max", "standard"] = "min-max",
    C: float = 1.0,  # noqa: N803 - scikit-learn's name
    balanced: bool = True,
    transition: Floats | None = None,
) -> Floats:
    """Return how well a linear classifier tells every value of one factor, as areas under ROC curves.

    Parameters
    ----------
    codes : ndarray, shape (N, d)
        In any unit.
    labels : ndarray of int, shape (N,)
        Values 0 ... `n_classes` - 1 of the factor; rows of a negative label (not annotated) are left out.
    n_classes : int
        K.
    train_rows, test_rows : ndarray of int
        The rows that the classifiers are fitted and judged on; the same rows for the in-sample area.
    classifier : {"one-vs-rest", "multinomial"}
        K binary regressions, or one softmax regression.
    probabilities : {"normalised", "raw"}
        What ranks the rows: the score of the value itself, or its probability after the K probabilities have been
        made to sum to one, as one-vs-rest classifiers commonly report them. See the notes: it matters. The softmax is
        normalised by construction: "raw" then means its linear scores.
    scaling : {"min-max", "standard"}
        How codes lose their unit; the penalty acts in the scaled unit.
    C : float, default 1.0
        Inverse strength of the penalty.
    balanced : bool, default True
        Whether all values weigh the same in training, or all rows.
    transition : ndarray, shape (K, K), optional
        How values are mistaken, rows true values: the areas are then against true values, by the same classifiers.

    Returns
    -------
    ndarray, shape (K,)
        In [0, 1], 0.5 for codes that tell nothing. NaN for a value absent from the training or from the test rows.

    Raises
    ------
    NotEnoughData
        Fewer than two values in the training rows.

    Notes
    -----
    The choice between the probabilities matters. A linear score is largest at an end of a code's range, so its own
    linear classifier cannot detect a value in the middle: at best it separates the value from the larger of its two
    sides. For z = v, uniform, in an even number K of equal bins, raw one-vs-rest scores then give 2 mean(AUC) - 1 = K /
    (2 (K - 1)), 0.556 for K = 10. The same scores divided by their sum over the values give 0.955 with four such codes
    and 0.944 with eight, and the softmax 0.999 and 0.997 (N = 20000, in-sample, C = 1). The two one-vs-rest figures
    have been published as implementations of one score (Ridgeway & Mozer 2018). With two values all choices give the
    same ranks.

    About 25 ms per factor of 10 values for N = 20000 and d = 8.

    Examples
    --------
    >>> v = np.linspace(0, 1, 300)
    >>> rows = np.arange(300)
    >>> bins = np.minimum((3 * v).astype(int), 2)
    >>> areas = explicitness_by_value(v[:, None], bins, 3, train_rows=rows, test_rows=rows, probabilities="raw")
    >>> areas.round(2).tolist()
    [1.0, 0.5, 1.0]
    """
    train_rows, test_rows = train_rows[labels[train_rows] >= 0], test_rows[labels[test_rows] >= 0]
    n_present = np.count_nonzero(np.bincount(labels[train_rows], minlength=1))
    if n_present < 2:
        raise NotEnoughData(
            "factors",
            f"a classifier needs at least 2 values of the factor in its training rows, got {n_present} in "
            f"{len(train_rows)} rows; give more rows or leave the factor out",
        )
    train, test = scaled_codes(codes.take(train_rows, axis=0), codes.take(test_rows, axis=0), scaling=scaling)
    fit = one_vs_rest_logistic if classifier == "one-vs-rest" else multinomial_logistic
    coef, intercept = fit(train, labels[train_rows], n_classes, C=C, balanced=balanced)
    scores = linear_scores(test, coef, intercept)
    if probabilities == "normalised":
        scores = sigmoid_shares(scores) if classifier == "one-vs-rest" else softmax(scores)
    if transition is not None:
        return areas_without_errors(scores, labels[test_rows], transition)
    return rank_auc(scores.T, labels[test_rows], n_classes)


def scaled_codes(train: Floats, test: Floats, *, scaling: Literal["min-max", "standard"]) -> tuple[Floats, Floats]:
    """Return training and test rows in a unit taken from the training rows.

    Parameters
    ----------
    train, test : ndarrays, shapes (n_train, d) and (n_test, d)
    scaling : {"min-max", "standard"}
        To [0, 1], or to mean 0 and standard deviation 1, on the training rows.

    Returns
    -------
    train, test : ndarrays of the same shapes
        A column that is numerically constant on the training rows is 0 in both: it can tell nothing.

    Examples
    --------
    >>> train, test = scaled_codes(np.array([[1.0, 7.0], [3.0, 7.0]]), np.array([[5.0, 7.0]]), scaling="min-max")
    >>> train.tolist(), test.tolist()
    ([[0.0, 0.0], [1.0, 0.0]], [[2.0, 0.0]])
    """
    # One code after the other in memory (d, n): all that follows works on one code at a time.
    train, test = (np.array(rows.T, order="C") for rows in (train, test))
    low, high = train.min(axis=1, keepdims=True), train.max(axis=1, keepdims=True)
    constant = high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    # Through [0, 1] in both cases: squares of codes in tiny or huge units would leave the range of numbers.
    span = np.where(constant, np.inf, high - low)
    for columns in (train, test):
        columns -= low
        columns /= span
    if scaling == "standard":
        mean = train.mean(axis=1, keepdims=True)
        deviation = np.where(constant, 1.0, train.std(axis=1, keepdims=True))
        for columns in (train, test):
            columns -= mean
            columns /= deviation
    return train.T, test.T
