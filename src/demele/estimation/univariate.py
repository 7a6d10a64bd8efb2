"""How well one code alone predicts a factor: squared correlations and linear classifiers, the scores behind SAP."""

import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from demele.core.arrays import Flags, Floats, Integers, Rows
from demele.core.errors import NotConvergedWarning, NotEnoughData, warn_user
from demele.estimation.annotation_errors import accuracy_without_errors

# Linear support vector classifiers of one code each, many at once -----------------------------------------------------
#
# A linear classifier of a single code has two unknowns, a slope and an intercept. `svc_lines` finds them to rounding:
# the samples inside the margin are those below, or above, a threshold on the code, so a sum over them is a difference
# of running sums along the sorted code, and a Newton step costs a binary search instead of a pass over the data.

ClassWeight = Literal["balanced"] | None


#: Newton steps, halved ones included; a dozen is usual.
_MAX_STEPS = 200


#: Relative rounding error of running sums.
_ROUNDING = 1e-13


class Lines(NamedTuple):
    """One line per code and class; the predicted class is that of the highest line, the first of equal ones."""

    #: (n_codes, n_classes)
    slopes: Floats
    #: (n_codes, n_classes); minus infinity for a class that was not seen.
    intercepts: Floats


def require_two_classes(n_classes: int, n_samples: int) -> None:
    """Refuse training samples of fewer than two classes, with which no linear classifier can be fitted."""
    if n_classes < 2:
        raise NotEnoughData(
            "factors",
            f"a linear classifier needs training samples of at least two classes, got {n_classes} class"
            f" among {n_samples} samples; give more samples or leave the factor out",
        )


def svc_lines(
    codes: Floats,
    labels: Integers,
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
        As in `univariate.linear_classifier_accuracy_matrix`.

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
    >>> codes = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> lines = svc_lines(codes, np.array([0, 0, 1, 1]), n_classes=2)
    >>> lines.slopes.round(3)  # w minimises w**2 / 2 + 4 (1 - w)**2: 8 / 9
    array([[0.   , 0.889]])
    """
    problems = Problems.of(labels, n_classes, C, class_weight)
    labels = compact(labels)
    lines = Lines(*np.empty((2, codes.shape[1], n_classes)))
    for j in range(codes.shape[1]):
        code = SortedCode.of(codes[:, j])
        fit = fit_lines(code, SortedLabels.of(labels[code.order], n_classes), problems)
        lines.slopes[j], lines.intercepts[j] = fit
    return lines


def compact(labels: Integers) -> Integers:
    """Labels in the fewest bytes: NumPy sorts integers of up to 16 bits by radix, ten times faster."""
    return labels.astype(np.min_scalar_type(int(labels.max(initial=0))))


class SortedCode(NamedTuple):
    """One code in increasing order."""

    values: Floats
    order: Rows
    sums: Floats

    @classmethod
    def of(cls, code: Floats) -> "SortedCode":
        """Sort the values of one code."""
        order = np.argsort(code)
        values = code[order]
        return cls(values, order, _running_sums(values))


class SortedLabels(NamedTuple):
    """Where along a sorted code each label occurs."""

    #: Positions in the sorted code, label after label.
    positions: Rows
    #: ``label * (n_samples + 1) + position``, increasing.
    keys: Rows
    #: Label k has the entries ``starts[k]:starts[k + 1]`` of both.
    starts: Rows

    @classmethod
    def of(cls, labels: Integers, n_classes: int) -> "SortedLabels":
        """Sort rows by their class."""
        sizes = np.bincount(labels, minlength=n_classes)
        positions = np.argsort(compact(labels), kind="stable")
        keys = positions + np.repeat(np.arange(len(sizes)) * (len(labels) + 1), sizes)
        return cls(positions, keys, np.concatenate([[0], np.cumsum(sizes)]))

    def entries(self, labels: Integers, positions: Integers) -> Rows:
        """First entry of each label that does not come before a position of the code."""
        return np.searchsorted(self.keys, labels * (len(self.keys) + 1) + positions)


class Problems(NamedTuple):
    """The binary problems of a factor, one per class that occurs; a single one for two classes."""

    n_classes: int
    #: The classes seen.
    seen: Rows
    #: The classes that get a line of their own, each against the others.
    fitted: Rows
    #: Cost of a violated margin, per problem, for samples of the class and for the others.
    cost: Floats
    cost_others: Floats

    @classmethod
    def of(cls, labels: Integers, n_classes: int, cost: float, class_weight: ClassWeight) -> "Problems":
        """Set each class that has rows against the others."""
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
    moments: Floats
    #: t0, t1: cost-weighted sums of y, y z over the same samples.
    targets: Floats
    #: Which samples these are.
    extent: Integers

    def value(self, lines: Floats) -> Floats:
        """Objective at lines of this piece."""
        w, b = lines
        m0, m1, m2 = self.moments
        t0, t1 = self.targets
        return np.asarray(w * ((0.5 + m2) * w + 2.0 * m1 * b - 2.0 * t1) + b * ((0.5 + m0) * b - 2.0 * t0) + m0)

    def blur(self, lines: Floats) -> Floats:
        """Return the rounding error to expect in `value`, which adds up terms larger than their sum."""
        w, b = lines
        m0, _, m2 = self.moments
        size: Floats = 1.0 + m0 * (1.0 + b * b) + m2 * w * w
        return _ROUNDING * size

    def lowest(self) -> Floats:
        """Lines at which this function is least, be they of this piece or not."""
        m0, m1, m2 = self.moments
        t0, t1 = self.targets
        determinant = (0.5 + m0) * (0.5 + m2) - m1 * m1
        return np.asarray(np.stack([(0.5 + m0) * t1 - m1 * t0, (0.5 + m2) * t0 - m1 * t1]) / determinant)


class _Objective:
    """Penalty and squared hinge loss of the lines of one code, all binary problems of a factor at a time."""

    def __init__(self, code: SortedCode, labels: SortedLabels, problems: Problems) -> None:
        self._code = code
        self._labels = labels
        self._problems = problems
        self._label_sums = _running_sums(code.values[labels.positions])
        self._sums_before = self._label_sums[:, labels.starts[problems.fitted]]
        self._sums_inside = self._label_sums[:, labels.starts[problems.fitted + 1]] - self._sums_before
        self._sums_others = code.sums[:, -1:] - self._sums_inside

    def piece(self, lines: Floats) -> _Piece:
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


def fit_lines(code: SortedCode, labels: SortedLabels, problems: Problems) -> tuple[Floats, Floats]:
    """Slopes and intercepts of all classes, each (n_classes,)."""
    lines = np.stack([np.zeros(problems.n_classes), np.full(problems.n_classes, -np.inf)])
    lines[1, problems.seen] = 0.0
    lines[:, problems.fitted] = _minimise(_Objective(code, labels, problems), len(problems.fitted))
    return lines[0], lines[1]


def _minimise(objective: _Objective, n_problems: int) -> Floats:
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


def accuracy(code: SortedCode, labels: SortedLabels, slopes: Floats, intercepts: Floats) -> float:
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


def _running_sums(values: Floats) -> Floats:
    """Return the sums of 1, z, z^2 over the first 0, 1, ..., N values, (3, N + 1)."""
    sums = np.empty((3, len(values) + 1))
    sums[0] = np.arange(len(values) + 1)
    sums[1:, 0] = 0.0
    np.cumsum(values, out=sums[1, 1:])
    np.cumsum(np.square(values), out=sums[2, 1:])
    return sums


# Linear classifiers as public code fits them: scikit-learn's own, on codes as they come -------------------------------
#
# On codes in raw units, where a penalty may shrink a small code to almost nothing, predictions depend on where a solver
# stops. Only their own solver gives the numbers of disentanglement_lib and Latte, so it is used here.


def raw_classifier_accuracy_matrix(
    codes_train: Floats,
    factors_train: Sequence[Integers],
    codes_test: Floats,
    factors_test: Sequence[Integers],
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


def raw_logistic_accuracy(train: Floats, train_y: Integers, test: Floats, test_y: Integers) -> float:
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


def unit_vectors(columns: Floats, threshold: float) -> tuple[Floats, Flags]:
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
