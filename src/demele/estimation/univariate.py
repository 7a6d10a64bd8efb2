"""How well one code alone predicts a factor: squared correlations and linear classifiers, the scores behind SAP.

A linear classifier of a single code has two unknowns, a slope and an intercept. `svc_lines` finds them to rounding: the
samples inside the margin are those below, or above, a threshold on the code, so a sum over them is a difference of
running sums along the sorted code, and a Newton step costs a binary search instead of a pass over the data.
"""

import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotConvergedWarning, NotEnoughData

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
ClassWeight = Literal["balanced"] | None

#: Newton steps, halved ones included; a dozen is usual.
_MAX_STEPS = 200
#: Relative rounding error of running sums.
_ROUNDING = 1e-13


class Lines(NamedTuple):
    """One line per code and class; the predicted class is that of the highest line, the first of equal ones."""

    #: (n_codes, n_classes)
    slopes: FloatArray
    #: (n_codes, n_classes); minus infinity for a class that was not seen.
    intercepts: FloatArray


def squared_correlations(codes: FloatArray, values: FloatArray, *, threshold: float = 1e-24) -> FloatArray:
    r"""Coefficient of determination of the straight-line fit of a continuous factor by each code alone.

    .. math:: R_j^2 = \frac{\operatorname{cov}(z_j, v)^2}{\operatorname{var}(z_j) \operatorname{var}(v)}

    Parameters
    ----------
    codes : (n_samples, n_codes) array
    values : (n_samples,) array
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
    >>> import numpy as np
    >>> from demele.estimation.univariate import squared_correlations
    >>> values = np.array([0.0, 1.0, 2.0, 3.0])
    >>> codes = np.array([[5.0, 0.0, 7.0], [3.0, 1.0, 7.0], [1.0, 1.0, 7.0], [-1.0, 0.0, 7.0]])
    >>> squared_correlations(codes, values)
    array([1., 0., 0.])
    """
    code, code_varies = _unit_vectors(codes, threshold)
    factor, factor_varies = _unit_vectors(values[:, None], threshold)
    if not factor_varies.all():
        return np.full(codes.shape[1], np.nan)
    squares: FloatArray = np.square(code.T @ factor[:, 0])
    # Rounding can leave a perfect correlation a bit above 1.
    return np.where(code_varies, np.minimum(squares, 1.0), 0.0)


def linear_classifier_accuracies(
    codes_train: FloatArray,
    labels_train: IntArray,
    codes_test: FloatArray,
    labels_test: IntArray,
    *,
    n_classes: int,
    C: float = 1.0,  # noqa: N803 - the name in scikit-learn and in the papers
    class_weight: ClassWeight = None,
) -> FloatArray:
    """Accuracy of a linear support vector classifier of a categorical factor on each code alone.

    The classifier is the one of scikit-learn's ``LinearSVC`` on that one column, see `svc_lines`.

    Parameters
    ----------
    codes_train : (n_train, n_codes) array
        Standardised: the penalty makes the result depend on the unit and the origin.
    labels_train : (n_train,) array of int in 0..n_classes-1
    codes_test : (n_test, n_codes) array
        Standardised with the mean and standard deviation of the training codes. The array `codes_train` itself for the
        accuracy on the training samples.
    labels_test : (n_test,) array of int
        A class that was not seen in training is never predicted.
    n_classes : int
    C : float > 0
        Weight of the loss against the penalty (``l2_reg`` in Latte, 0.01 in disentanglement_lib).
    class_weight : {None, "balanced"}
        ``"balanced"`` weights the samples of a class by N / (number of classes x its size).

    Returns
    -------
    (n_codes,) array in [0, 1]
        A code without information gets about the share of the most frequent class.

    Raises
    ------
    NotEnoughData
        If fewer than two classes occur among the training labels.

    Notes
    -----
    O(N log N) per code for sorting; the rest hardly grows with N.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.estimation.univariate import linear_classifier_accuracies
    >>> labels = np.array([0, 0, 0, 1, 1, 1])
    >>> codes = np.array([[-1.0, 1.0], [-1.2, -1.0], [-0.8, 1.0], [1.0, -1.0], [1.2, 1.0], [0.8, -1.0]])
    >>> linear_classifier_accuracies(codes, labels, codes, labels, n_classes=2).round(3)
    array([1.   , 0.667])
    """
    return linear_classifier_accuracy_matrix(
        codes_train, [labels_train], codes_test, [labels_test], n_classes=[n_classes], C=C, class_weight=class_weight
    )[:, 0]


def linear_classifier_accuracy_matrix(
    codes_train: FloatArray,
    factors_train: Sequence[IntArray],
    codes_test: FloatArray,
    factors_test: Sequence[IntArray],
    *,
    n_classes: Sequence[int],
    C: float = 1.0,  # noqa: N803 - the name in scikit-learn and in the papers
    class_weight: ClassWeight = None,
) -> FloatArray:
    """Compute `linear_classifier_accuracies` of every code for every categorical factor, sorting each code only once.

    Parameters
    ----------
    codes_train, codes_test : (n_train, n_codes), (n_test, n_codes) arrays
    factors_train, factors_test : sequences of (n_train,) and (n_test,) arrays of int
    n_classes : sequence of int, one per factor
    C, class_weight
        As in `linear_classifier_accuracies`.

    Returns
    -------
    (n_codes, n_factors) array in [0, 1]
    """
    accuracies = np.empty((codes_train.shape[1], len(factors_train)))
    problems = [
        _Problems.of(labels, size, C, class_weight) for labels, size in zip(factors_train, n_classes, strict=True)
    ]
    factors_train = [_compact(labels) for labels in factors_train]
    factors_test = [_compact(labels) for labels in factors_test]
    for j, row in enumerate(accuracies):
        train = test = _SortedCode.of(codes_train[:, j])
        if codes_test is not codes_train:
            test = _SortedCode.of(codes_test[:, j])
        for i, problem in enumerate(problems):
            lines = _fit_lines(train, _SortedLabels.of(factors_train[i][train.order], n_classes[i]), problem)
            row[i] = _accuracy(test, _SortedLabels.of(factors_test[i][test.order], n_classes[i]), *lines)
    return accuracies


def majority_accuracies(factors_train: Sequence[IntArray], factors_test: Sequence[IntArray]) -> FloatArray:
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
    >>> import numpy as np
    >>> from demele.estimation.univariate import majority_accuracies
    >>> majority_accuracies([np.array([0, 1, 1, 1])], [np.array([0, 0, 1, 1])])
    array([0.5])
    """
    return np.array(
        [np.mean(test == np.bincount(train).argmax()) for train, test in zip(factors_train, factors_test, strict=True)]
    )


def require_two_classes(n_classes: int, n_samples: int) -> None:
    """Refuse training samples of fewer than two classes, with which no linear classifier can be fitted."""
    if n_classes < 2:
        raise NotEnoughData(
            "factors",
            f"a linear classifier needs training samples of at least two classes, got {n_classes} class"
            f" among {n_samples} samples; give more samples or leave the factor out",
        )


def svc_lines(
    codes: FloatArray,
    labels: IntArray,
    *,
    n_classes: int,
    C: float = 1.0,  # noqa: N803 - the name in scikit-learn and in the papers
    class_weight: ClassWeight = None,
) -> Lines:
    r"""Linear support vector classifiers of the labels on each code alone, one class against the others.

    For each class k, with y = 1 for its samples and -1 for the others,

    .. math:: \min_{w, b} \tfrac{1}{2} (w^2 + b^2) + \sum_i C_i \max(0, 1 - y_i (w z_i + b))^2

    Two classes share one classifier: the line of the first is 0, the line of the second the decision function.
    With balanced weights, more than two classes and LIBLINEAR's convention, the weight of class k applies to its own
    samples in its own problem, the others have weight 1.

    Parameters
    ----------
    codes : (n_samples, n_codes) array
        Standardised.
    labels : (n_samples,) array of int in 0..n_classes-1
    n_classes, C, class_weight
        As in `linear_classifier_accuracies`.

    Returns
    -------
    Lines
        Slopes and intercepts, (n_codes, n_classes).

    Raises
    ------
    NotEnoughData
        If fewer than two classes occur among the labels.

    Notes
    -----
    Newton's method with halved steps on a strictly convex, piecewise quadratic function; it ends with the exact minimum
    of a piece, up to rounding. O(N log N) per code, then O(K log N) per step.

    References
    ----------
    R.-E. Fan et al., "LIBLINEAR: a library for large linear classification", JMLR 9, 1871-1874, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.estimation.univariate import svc_lines
    >>> codes = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> lines = svc_lines(codes, np.array([0, 0, 1, 1]), n_classes=2)
    >>> lines.slopes.round(3)  # w minimises w**2 / 2 + 4 (1 - w)**2: 8 / 9
    array([[0.   , 0.889]])
    """
    problems = _Problems.of(labels, n_classes, C, class_weight)
    labels = _compact(labels)
    lines = Lines(*np.empty((2, codes.shape[1], n_classes)))
    for j in range(codes.shape[1]):
        code = _SortedCode.of(codes[:, j])
        fit = _fit_lines(code, _SortedLabels.of(labels[code.order], n_classes), problems)
        lines.slopes[j], lines.intercepts[j] = fit
    return lines


def _unit_vectors(columns: FloatArray, threshold: float) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Centre columns and bring them to length 1; say which vary."""
    # Squares of any unit are to stay within range; powers of two do not round.
    scaled = np.ldexp(columns, -np.frexp(np.abs(columns).max(axis=0))[1])
    centred = scaled - scaled.mean(axis=0)
    centred -= centred.mean(axis=0)  # what rounding left of a mean much larger than the deviations
    squares = np.square(centred).sum(axis=0)
    varies = squares > threshold * np.square(scaled).sum(axis=0)
    return centred / np.sqrt(np.where(varies, squares, 1.0)), varies


def _compact(labels: IntArray) -> IntArray:
    """Labels in the fewest bytes: NumPy sorts integers of up to 16 bits by radix, ten times faster."""
    return labels.astype(np.min_scalar_type(int(labels.max(initial=0))))


class _SortedCode(NamedTuple):
    """One code in increasing order."""

    values: FloatArray
    order: NDArray[np.intp]
    sums: FloatArray

    @classmethod
    def of(cls, code: FloatArray) -> "_SortedCode":
        order = np.argsort(code)
        values = code[order]
        return cls(values, order, _running_sums(values))


class _SortedLabels(NamedTuple):
    """Where along a sorted code each label occurs."""

    #: Positions in the sorted code, label after label.
    positions: NDArray[np.intp]
    #: ``label * (n_samples + 1) + position``, increasing.
    keys: NDArray[np.intp]
    #: Label k has the entries ``starts[k]:starts[k + 1]`` of both.
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, labels: IntArray, n_classes: int) -> "_SortedLabels":
        sizes = np.bincount(labels, minlength=n_classes)
        # small integers are sorted by radix, in linear time
        narrow = labels.astype(np.int16) if n_classes < 2**15 else labels
        positions = np.argsort(narrow, kind="stable")
        keys = positions + np.repeat(np.arange(len(sizes)) * (len(labels) + 1), sizes)
        return cls(positions, keys, np.concatenate([[0], np.cumsum(sizes)]))

    def entries(self, labels: IntArray, positions: IntArray) -> NDArray[np.intp]:
        """First entry of each label that does not come before a position of the code."""
        return np.searchsorted(self.keys, labels * (len(self.keys) + 1) + positions)


class _Problems(NamedTuple):
    """The binary problems of a factor, one per class of which samples were seen; a single one for two classes."""

    n_classes: int
    #: The classes seen.
    seen: NDArray[np.intp]
    #: The classes that get a line of their own, each against the others.
    fitted: NDArray[np.intp]
    #: Cost of a violated margin, per problem, for samples of the class and for the others.
    cost: FloatArray
    cost_others: FloatArray

    @classmethod
    def of(cls, labels: IntArray, n_classes: int, cost: float, class_weight: ClassWeight) -> "_Problems":
        sizes = np.bincount(labels, minlength=n_classes)
        seen = np.flatnonzero(sizes)
        require_two_classes(len(seen), len(labels))
        weights = np.ones(len(seen))
        if class_weight == "balanced":
            weights = len(labels) / (len(seen) * sizes[seen])
        if len(seen) == 2:
            return cls(n_classes, seen, seen[1:], cost * weights[1:], cost * weights[:1])
        return cls(n_classes, seen, seen, cost * weights, np.full(len(seen), cost))


class _Piece(NamedTuple):
    """The quadratic function of lines (w, b) that the objective is near some lines, per binary problem.

    ``(w^2 + b^2) / 2 + m2 w^2 + 2 m1 w b + m0 b^2 - 2 (t1 w + t0 b) + m0``
    """

    #: m0, m1, m2: cost-weighted sums of 1, z, z^2 over the samples inside the margin.
    moments: FloatArray
    #: t0, t1: cost-weighted sums of y, y z over the same samples.
    targets: FloatArray
    #: Which samples these are.
    extent: IntArray

    def value(self, lines: FloatArray) -> FloatArray:
        """Objective at lines of this piece."""
        w, b = lines
        m0, m1, m2 = self.moments
        t0, t1 = self.targets
        value: FloatArray = w * ((0.5 + m2) * w + 2.0 * m1 * b - 2.0 * t1) + b * ((0.5 + m0) * b - 2.0 * t0) + m0
        return value

    def blur(self, lines: FloatArray) -> FloatArray:
        """Return the rounding error to expect in `value`, which adds up terms larger than their sum."""
        w, b = lines
        m0, _, m2 = self.moments
        size: FloatArray = 1.0 + m0 * (1.0 + b * b) + m2 * w * w
        return _ROUNDING * size

    def lowest(self) -> FloatArray:
        """Lines at which this function is least, be they of this piece or not."""
        m0, m1, m2 = self.moments
        t0, t1 = self.targets
        determinant = (0.5 + m0) * (0.5 + m2) - m1 * m1
        lines: FloatArray = np.stack([(0.5 + m0) * t1 - m1 * t0, (0.5 + m2) * t0 - m1 * t1]) / determinant
        return lines


class _Objective:
    """Penalty and squared hinge loss of the lines of one code, all binary problems of a factor at a time."""

    def __init__(self, code: _SortedCode, labels: _SortedLabels, problems: _Problems) -> None:
        self._code = code
        self._labels = labels
        self._problems = problems
        self._label_sums = _running_sums(code.values[labels.positions])
        self._sums_before = self._label_sums[:, labels.starts[problems.fitted]]
        self._sums_inside = self._label_sums[:, labels.starts[problems.fitted + 1]] - self._sums_before
        self._sums_others = code.sums[:, -1:] - self._sums_inside

    def piece(self, lines: FloatArray) -> _Piece:
        """Find the quadratic function that the objective is near these lines."""
        slopes, intercepts = lines
        # Samples of the class are inside the margin where w z + b < 1, the others where w z + b > -1.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # A flat line has its thresholds at infinity: of the right sign, since zero slopes are positive zeros.
            thresholds = (np.array([[1.0], [-1.0]]) - intercepts) / slopes
        positions = np.searchsorted(self._code.values, thresholds)
        entries = self._labels.entries(self._problems.fitted, positions)
        below = self._label_sums[:, entries] - self._sums_before[:, None]
        of_class, of_others = below[:, 0], self._code.sums[:, positions[1]] - below[:, 1]
        rising = slopes >= 0
        of_class = self._problems.cost * np.where(rising, of_class, self._sums_inside - of_class)
        of_others = self._problems.cost_others * np.where(rising, self._sums_others - of_others, of_others)
        extent = np.stack([rising, entries[0], positions[1], entries[1]])
        return _Piece(of_class + of_others, (of_class - of_others)[:2], extent)


def _fit_lines(code: _SortedCode, labels: _SortedLabels, problems: _Problems) -> tuple[FloatArray, FloatArray]:
    """Slopes and intercepts of all classes, each (n_classes,)."""
    lines = np.stack([np.zeros(problems.n_classes), np.full(problems.n_classes, -np.inf)])
    lines[1, problems.seen] = 0.0
    lines[:, problems.fitted] = _minimise(_Objective(code, labels, problems), len(problems.fitted))
    return lines[0], lines[1]


def _minimise(objective: _Objective, n_problems: int) -> FloatArray:
    """Newton's method from flat lines: jump to the lowest point of the present piece, halve jumps that do not pay."""
    lines = np.zeros((2, n_problems))
    piece = objective.piece(lines)
    value = piece.value(lines)
    target = piece.lowest()
    share = np.ones(n_problems)
    settled = np.zeros(n_problems, bool)
    for _ in range(_MAX_STEPS):
        trial = lines + share * (target - lines)
        trial_piece = objective.piece(trial)
        trial_value = trial_piece.value(trial)
        promised = value - piece.value(target)
        blur = piece.blur(target)
        pays = trial_value <= value - 0.2 * share * promised + blur
        same_piece = (trial_piece.extent == piece.extent).all(axis=0)
        settled |= pays & (share == 1.0) & (same_piece | (promised <= blur))
        lines = np.where(pays, trial, lines)
        if settled.all():
            return lines
        value = np.where(pays, trial_value, value)
        piece = _Piece(*(np.where(pays, new, old) for new, old in zip(trial_piece, piece, strict=True)))
        target = piece.lowest()
        share = np.where(pays, 1.0, share / 2.0)
    warnings.warn(
        f"linear classifier of a code: {np.sum(~settled)} of {n_problems} lines not found in {_MAX_STEPS} steps",
        NotConvergedWarning,
        stacklevel=2,
    )
    return lines


def _accuracy(code: _SortedCode, labels: _SortedLabels, slopes: FloatArray, intercepts: FloatArray) -> float:
    """Share of the samples whose class has the highest line, the first of equal ones.

    A class is highest on an interval of the code, between its crossings with the flatter and with the steeper lines.
    """
    seen = np.flatnonzero(np.isfinite(intercepts))
    slopes, intercepts = slopes[seen], intercepts[seen]
    rise = slopes - slopes[:, None]  # [i, k]: how much steeper k is than i
    lead = intercepts[:, None] - intercepts  # how much higher i is than k at 0
    first = seen[:, None] < seen
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossing = lead / rise
    # Number of samples for which i is chosen rather than the steeper k.
    before = np.where(
        first,
        np.searchsorted(code.values, crossing, side="right"),
        np.searchsorted(code.values, crossing, side="left"),
    )
    n_samples = len(code.values)
    start = np.where(rise > 0, before, 0).max(axis=0)
    stop = np.where(rise > 0, before, n_samples).min(axis=1)
    beaten = (rise == 0) & ((lead > 0) | ((lead == 0) & first))  # parallel lines: [i, k] i is chosen everywhere
    stop = np.where(beaten.any(axis=0), start, np.maximum(start, stop))
    return float((labels.entries(seen, stop) - labels.entries(seen, start)).sum() / n_samples)


def _running_sums(values: FloatArray) -> FloatArray:
    """Return the sums of 1, z, z^2 over the first 0, 1, ..., N values, (3, N + 1)."""
    sums = np.empty((3, len(values) + 1))
    sums[0] = np.arange(len(values) + 1)
    sums[1:, 0] = 0.0
    np.cumsum(values, out=sums[1, 1:])
    np.cumsum(np.square(values), out=sums[2, 1:])
    return sums
