"""Linear probes (logistic regression) and the areas under their ROC curves.

A code is explicit when a *linear* classifier reads the values of a factor from it. Measuring that takes one binary
classifier per value of every factor, so speed decides: the K classifiers of a factor see the same rows and are solved
together by Newton's method, with one matrix product for all K Hessians.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from demele.core.arrays import Floats, Integers, rng_for
from demele.core.errors import NotConvergedWarning, NotEnoughData
from demele.estimation.annotation_errors import areas_without_errors

# The two problems of logistic regression, and Newton's method for many of them at once --------------------------------

#: Up to this many codes (one-vs-rest) or parameters (multinomial) the Newton equations are solved directly,
#: above it by conjugate gradients, which need no Hessian. Where the two cost the same, measured on 20000 rows.
_DIRECT_CODES = 12


_DIRECT_PARAMETERS = 128


#: Rows handled at once: small enough for every temporary to stay in the processor's cache.
_CHUNK_ROWS = 2048


#: Numbers of the design products that are kept between iterations (64 MB); beyond it they are formed anew.
_KEPT_PRODUCTS = 2**23


#: A step that moves no margin by more than this is the last one: Newton's error after it is of the order of its square.
_LAST_STEP = 1e-5


#: After a step that moved no margin by more than this, curvature hardly changes: softmax regressions keep the last one,
#: which costs a fifth of a new one, as long as each step is at most so much of the one before.
_NEAR, _SHRINKS = 0.1, 0.1


_MAX_ITERATIONS = 200


#: From so many rows, one in so many of each class, but no fewer than these, say where the iterations on all rows begin.
_MANY_ROWS, _ONE_IN, _FEWEST_OF_CLASS = 4096, 8, 64


#: As `_LAST_STEP` for these few rows: all rows will move the margins further than that.
_LAST_STEP_OF_FEW = 0.3


def rows_by_class(labels: Integers, n_classes: int) -> tuple[npt.NDArray[np.intp], list[int]]:
    """Row numbers sorted by class, in their own order inside a class, and where each class ends."""
    narrow = labels.astype(np.uint16) if n_classes <= 2**16 else labels  # short integers are sorted by radix
    return np.argsort(narrow, kind="stable"), np.cumsum(np.bincount(labels, minlength=n_classes)).tolist()


def linear_scores(rows: Floats, coef: Floats, intercept: Floats) -> Floats:
    """Scores (K, n), added up code by code: equal rows get equal scores to the last bit, so that ties stay ties.

    A matrix product does not promise that, its kernels treat the rows at the edge of a block in another order.
    """
    scores = np.repeat(intercept[:, None], len(rows), axis=1)
    for column, weights in zip(np.ascontiguousarray(rows.T), coef.T, strict=True):
        scores += weights[:, None] * column
    return scores


def softmax(scores: Floats) -> Floats:
    """Return the shares of the classes (n_classes, n_rows), from scores that may be NaN."""
    raised = np.exp(scores - np.nanmax(scores, axis=0))
    return np.asarray(raised / np.nansum(raised, axis=0))


def ridge(design: "Design", C: float) -> Floats:  # noqa: N803 - scikit-learn's name
    """Penalty of every column of the design: 1 / C, none for the intercept."""
    ridge = np.full(design.n_columns, 1 / C)
    ridge[-1] = 0.0
    return ridge


@dataclass(frozen=True)
class _Chunk:
    """Rows of one class: `columns` (d + 1, n), the last one all ones."""

    label: int
    columns: Floats


@dataclass(frozen=True)
class Design:
    """Rows sorted by class and cut into chunks of a single class.

    Inside a chunk every row has the same target and weight in every problem, so both are scalars, no arrays (K, n).
    The columns are centred: that moves the intercept only, which has no penalty, and makes all equations better
    conditioned.
    """

    chunks: list[_Chunk]
    centre: Floats
    n_columns: int
    reach: Floats
    _kept: dict[int, Floats]
    _pairs: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]

    @classmethod
    def of(cls, X: Floats, labels: Integers) -> "Design":  # noqa: N803 - a design matrix
        """Prepare codes and labels for sums over rows."""
        rows_of = np.ascontiguousarray(X.T)
        centre = rows_of.mean(axis=1)
        rows_of = rows_of - centre[:, None]
        order, ends = rows_by_class(labels, int(labels.max()) + 1)
        chunks = []
        for label, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
            for first in range(start, stop, _CHUNK_ROWS):
                rows = order[first : min(first + _CHUNK_ROWS, stop)]
                columns = np.ones((X.shape[1] + 1, len(rows)))
                np.take(rows_of, rows, axis=1, out=columns[:-1], mode="clip")  # "clip": no buffering, rows are valid
                chunks.append(_Chunk(label, columns))
        reach = np.append(np.abs(rows_of).max(axis=1), 1.0)
        pairs = np.triu_indices(X.shape[1] + 1)
        return cls(chunks, centre, X.shape[1] + 1, reach, {}, pairs)

    @property
    def counts(self) -> npt.NDArray[np.intp]:
        """Return the rows of each class."""
        labels, rows = zip(*((chunk.label, chunk.columns.shape[1]) for chunk in self.chunks), strict=True)
        return np.bincount(labels, weights=rows).astype(np.intp)

    def thinned(self) -> "Design":
        """Return some rows of each class, drawn once and for all: in their order, every eighth may be of one kind."""
        shares = np.clip(_FEWEST_OF_CLASS / np.maximum(self.counts, 1), 1 / _ONE_IN, 1.0)
        chunks = []
        for place, chunk in enumerate(self.chunks):
            n = chunk.columns.shape[1]
            drawn = rng_for(0, "rows of a first fit", place).permutation(n)[: math.ceil(n * shares[chunk.label])]
            chunks.append(_Chunk(chunk.label, np.take(chunk.columns, np.sort(drawn), axis=1)))
        return replace(self, chunks=chunks, _kept={})

    def products(self, index: int) -> Floats:
        """Return the products of every pair of columns of a chunk, (d+1)(d+2)/2 rows."""
        if index not in self._kept:
            columns = self.chunks[index].columns
            products = columns[self._pairs[0]]
            products *= columns[self._pairs[1]]
            if (len(self._kept) + 1) * products.shape[0] * _CHUNK_ROWS > _KEPT_PRODUCTS:
                return products
            self._kept[index] = products
        return self._kept[index]

    def unfold(self, upper: Floats) -> Floats:
        """Turn (..., (d+1)(d+2)/2) weighted sums of products into symmetric matrices (..., d+1, d+1)."""
        full = np.empty((*upper.shape[:-1], self.n_columns, self.n_columns))
        full[..., self._pairs[0], self._pairs[1]] = upper
        full[..., self._pairs[1], self._pairs[0]] = upper
        return full


@dataclass(frozen=True)
class _Evaluation:
    """Objective and gradient of each active problem, and how to get the Newton steps of some of them.

    ``hessian`` returns the Hessian of a single problem where it is worth keeping between steps, and is None elsewhere.
    """

    loss: Floats
    gradient: Floats
    newton_steps: Callable[[npt.NDArray[np.bool_]], Floats]
    hessian: Callable[[], Floats] | None = None


@dataclass(frozen=True)
class OneVsRest:
    """Each class against all others: as many problems as classes."""

    design: Design
    classes: npt.NDArray[np.intp]
    inside: Floats
    outside: Floats
    ridge: Floats

    def extent(self, steps: Floats) -> Floats:
        """Return how far a step can move a score, for each problem."""
        return np.abs(steps) @ self.design.reach

    def evaluate(self, parameters: Floats, active: npt.NDArray[np.intp]) -> _Evaluation:
        """Return loss, gradient and Hessian of the problems that are still solved."""
        classes = self.classes[active]
        loss = 0.5 * (parameters**2 @ self.ridge)
        gradient = parameters * self.ridge
        curvatures = []
        weights_of: dict[int, Floats] = {}
        for chunk in self.design.chunks:
            own = np.flatnonzero(classes == chunk.label)  # none or one
            weights = self.outside[active].copy()
            weights[own] = self.inside[active[own]]
            weights_of[chunk.label] = weights
            sign = np.ones(len(active))
            sign[own] = -1.0
            # Minus the margin m: log-loss log(1 + e^-m), its derivative -e^-m / (1 + e^-m).
            odds = (sign[:, None] * parameters) @ chunk.columns
            np.exp(np.minimum(odds, 700.0, out=odds), out=odds)
            total = odds + 1.0
            residual = np.divide(odds, total, out=odds)
            curvatures.append(residual / total)
            gradient += (sign * weights)[:, None] * (residual @ chunk.columns.T)
            loss += weights * np.log(total, out=total).sum(axis=1)

        def newton_steps(chosen: npt.NDArray[np.bool_]) -> Floats:
            every = bool(chosen.all())
            parts = [
                (chunk.columns, weights_of[chunk.label][chosen, None], curvature if every else curvature[chosen])
                for chunk, curvature in zip(self.design.chunks, curvatures, strict=True)
            ]
            if self.design.n_columns <= _DIRECT_CODES + 1:
                upper = sum(w * (h @ self.design.products(i).T) for i, (_, w, h) in enumerate(parts))
                return _solve(self.design.unfold(np.asarray(upper)) + np.diag(self.ridge), gradient[chosen])

            def product(vectors: Floats) -> Floats:
                return np.asarray(sum((w * (h * (vectors @ x)) @ x.T for x, w, h in parts), vectors * self.ridge))

            diagonal = np.asarray(sum((w * (h @ (x.T**2)) for x, w, h in parts), self.ridge))
            return _conjugate_gradients(product, gradient[chosen], diagonal)

        return _Evaluation(loss, gradient, newton_steps)


@dataclass(frozen=True)
class Multinomial:
    """All classes at once: one problem."""

    design: Design
    classes: npt.NDArray[np.intp]
    weights: Floats
    ridge: Floats

    def extent(self, steps: Floats) -> Floats:
        """Return how far a step can move a score, for each problem."""
        return np.asarray((np.abs(steps).reshape(len(self.classes), -1) @ self.design.reach).max(keepdims=True))

    def evaluate(self, parameters: Floats, active: npt.NDArray[np.intp]) -> _Evaluation:
        """Return loss, gradient and Hessian of the problems that are still solved."""
        n_classes, n_columns = len(self.classes), self.design.n_columns
        W = parameters.reshape(n_classes, n_columns)  # noqa: N806
        loss = 0.5 * float((W**2 @ self.ridge).sum())
        gradient = W * self.ridge
        position = {int(label): k for k, label in enumerate(self.classes)}
        parts: list[tuple[float, Floats]] = []
        for chunk in self.design.chunks:
            own = position[chunk.label]
            weight = float(self.weights[own])
            shares = W @ chunk.columns
            highest = shares.max(axis=0)
            shares -= highest
            own_score = shares[own].sum()
            np.exp(shares, out=shares)
            total = shares.sum(axis=0)
            shares /= total
            loss += weight * float(np.log(total).sum() - own_score)
            pull = shares @ chunk.columns.T
            pull[own] -= chunk.columns.sum(axis=1)
            gradient += weight * pull
            parts.append((weight, shares))

        flat = gradient.reshape(1, -1)

        def newton_steps(chosen: npt.NDArray[np.bool_]) -> Floats:
            return _conjugate_gradients(lambda v: self._hessian_product(parts, v), flat, self._diagonal(parts))

        direct = n_classes * n_columns <= _DIRECT_PARAMETERS
        return _Evaluation(np.array([loss]), flat, newton_steps, (lambda: self._hessian(parts)) if direct else None)

    def _hessian(self, parts: list[tuple[float, Floats]]) -> Floats:
        n_classes, n_columns = len(self.classes), self.design.n_columns
        first, second = np.triu_indices(n_classes)
        same = first == second
        upper = np.zeros((len(first), n_columns * (n_columns + 1) // 2))
        for i, (weight, shares) in enumerate(parts):
            pairs = -shares[first]
            pairs *= shares[second]
            pairs[same] += shares
            upper += weight * (pairs @ self.design.products(i).T)
        blocks = self.design.unfold(upper)
        hessian = np.empty((n_classes, n_columns, n_classes, n_columns))
        hessian[first, :, second, :] = blocks
        hessian[second, :, first, :] = blocks
        k = np.arange(n_classes)
        hessian[k, :, k, :] += np.diag(self.ridge)
        # The same constant added to all intercepts changes nothing: fix their sum, or there is no unique solution.
        hessian[:, -1, :, -1] += hessian[k, -1, k, -1].mean() / n_classes
        return hessian.reshape(n_classes * n_columns, -1)

    def _hessian_product(self, parts: list[tuple[float, Floats]], vector: Floats) -> Floats:
        V = vector.reshape(len(self.classes), -1)  # noqa: N806
        result = V * self.ridge
        for (weight, shares), chunk in zip(parts, self.design.chunks, strict=True):
            moved = shares * (V @ chunk.columns)
            moved -= shares * moved.sum(axis=0)
            result += weight * (moved @ chunk.columns.T)
        return result.reshape(1, -1)

    def _diagonal(self, parts: list[tuple[float, Floats]]) -> Floats:
        diagonal = np.repeat(self.ridge[None], len(self.classes), axis=0)
        for (weight, shares), chunk in zip(parts, self.design.chunks, strict=True):
            diagonal += weight * ((shares * (1 - shares)) @ (chunk.columns.T**2))
        return diagonal.reshape(1, -1)


def newton(
    problem: OneVsRest | Multinomial,
    n_problems: int,
    n_parameters: int,
    *,
    start: Floats | None = None,
    last_step: float = _LAST_STEP,
) -> Floats:
    """Minimise independent convex problems by Newton's method, each with a step length and an end of its own.

    A step that raises the objective is halved until it does not. Returns the parameters (n_problems, n_parameters).
    They begin at 0 unless a start is given, and end with a step that moves no margin by more than the last one may.
    The Hessian of a single problem is kept near the minimum, while steps shrink fast.
    """
    parameters = np.zeros((n_problems, n_parameters)) if start is None else start.copy()
    loss = np.full(n_problems, np.inf)
    steps = np.zeros((n_problems, n_parameters))
    active = np.arange(n_problems)
    kept: Floats | None = None
    before = extent = np.inf
    for _ in range(_MAX_ITERATIONS):
        trial = parameters[active] - steps[active]
        evaluation = problem.evaluate(trial, active)
        # Near the minimum the objective is flat to rounding, there the full step is taken.
        better = evaluation.loss <= loss[active] + 1e-12 * np.abs(evaluation.loss)
        accepted = active[better]
        parameters[accepted], loss[accepted] = trial[better], evaluation.loss[better]
        steps[active[~better]] *= 0.5
        hessian = evaluation.hessian
        if accepted.size and hessian is None:
            steps[accepted] = evaluation.newton_steps(better)
        elif accepted.size and hessian is not None:
            if kept is None or not extent <= min(_NEAR, _SHRINKS * before):
                kept = hessian()
            steps[accepted] = _solve(kept[None], evaluation.gradient[better])
        extents = problem.extent(steps[active])
        before, extent = extent, float(extents.max())
        ended = extents <= last_step
        parameters[active[ended]] -= steps[active[ended]]
        active = active[~ended]
        if not active.size:
            return parameters
    warnings.warn(
        f"{len(active)} of {n_problems} logistic regressions did not converge in {_MAX_ITERATIONS} iterations; a "
        "smaller C penalises more and makes them easier",
        NotConvergedWarning,
        stacklevel=4,
    )
    return parameters


def _solve(hessians: Floats, gradients: Floats) -> Floats:
    """Solve (P, m, m) systems; a ridge at the level of rounding keeps saturated problems regular."""
    m = gradients.shape[1]
    level = np.trace(hessians, axis1=1, axis2=2) / m
    regular = hessians + (1e-13 * level + 1e-300)[:, None, None] * np.eye(m)
    return np.linalg.solve(regular, gradients[:, :, None])[:, :, 0]


def _conjugate_gradients(product: Callable[[Floats], Floats], right: Floats, diagonal: Floats) -> Floats:
    """Solve the symmetric systems H x = right of P problems at once to a thousandth, preconditioned by the diagonal."""
    inverse = 1 / np.maximum(diagonal, 1e-300)
    solution = np.zeros_like(right)
    residual = right.copy()
    direction = inverse * residual
    energy = goal = (residual * direction).sum(axis=1)
    for _ in range(10 * right.shape[1]):
        image = product(direction)
        curvature = (direction * image).sum(axis=1)
        length = np.divide(energy, curvature, out=np.zeros_like(energy), where=curvature > 0)[:, None]
        solution += length * direction
        residual -= length * image
        scaled = inverse * residual
        before, energy = energy, (residual * scaled).sum(axis=1)
        if (energy <= 1e-6 * goal).all():
            break
        ratio = np.divide(energy, before, out=np.zeros_like(energy), where=before > 0)
        direction = scaled + ratio[:, None] * direction
    return solution


def one_vs_rest_logistic(
    X_train: Floats,  # noqa: N803 - a design matrix
    labels_train: Integers,
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
    labels: Integers,
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
    size, start = len(present) * design.n_columns, None
    if len(labels) >= _MANY_ROWS:  # the minimum of some rows is near, and a step there costs an eighth
        few = design.thinned()
        problem_of_few = replace(problem, design=few, weights=weights * (counts[present] / few.counts[present]))
        start = newton(problem_of_few, 1, size, last_step=_LAST_STEP_OF_FEW)
    solution = newton(problem, 1, size, start=start).reshape(len(present), -1)
    coef[present] = solution[:, :-1]
    shifted = solution[:, -1] - solution[:, :-1] @ design.centre
    intercept[present] = shifted - shifted.mean()
    return coef, intercept


def rank_auc(scores: Floats, labels: Integers, n_classes: int) -> Floats:
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
    labels: Integers,
    n_classes: int,
    *,
    train_rows: Integers,
    test_rows: Integers,
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
        if classifier == "one-vs-rest":  # sigmoids over their sum; NaN where a class has no classifier
            sigmoids = 1 / (1 + np.exp(np.minimum(-scores, 700.0)))
            scores = np.asarray(sigmoids / np.nansum(sigmoids, axis=0))
        else:
            scores = softmax(scores)
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
