"""The two problems of logistic regression, and Newton's method for many of them at once."""

import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from demele.core.errors import NotConvergedWarning
from demele.core.seeds import rng_for

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]


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


def rows_by_class(labels: Ints, n_classes: int) -> tuple[npt.NDArray[np.intp], list[int]]:
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


def sigmoid_shares(scores: Floats) -> Floats:
    """Sigmoids of the scores (K, n), divided by their sum over the classes; NaN where a class has no classifier."""
    sigmoids = 1 / (1 + np.exp(np.minimum(-scores, 700.0)))
    return np.asarray(sigmoids / np.nansum(sigmoids, axis=0))


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
    def of(cls, X: Floats, labels: Ints) -> "Design":  # noqa: N803 - a design matrix
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


class _Problem(Protocol):
    def evaluate(self, parameters: Floats, active: npt.NDArray[np.intp]) -> _Evaluation: ...

    def extent(self, steps: Floats) -> Floats: ...


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
        first, second = _triangle(n_classes)
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


@functools.cache
def _triangle(size: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the places of the upper triangle of a square, which every Hessian asks for; not to be written on."""
    return np.triu_indices(size)


def softmax_minimum(problem: Multinomial) -> Floats:
    """Minimise a softmax regression: its parameters (n_classes, d + 1).

    Of many rows, the iterations begin at what an eighth of them gives: it is near, and a step there costs an eighth.
    """
    n_parameters = len(problem.classes) * problem.design.n_columns
    counts = problem.design.counts
    start = None
    if counts.sum() >= _MANY_ROWS:
        few = problem.design.thinned()
        weights = problem.weights * (counts / np.maximum(few.counts, 1))[problem.classes]
        start = newton(replace(problem, design=few, weights=weights), 1, n_parameters, last_step=_LAST_STEP_OF_FEW)
    return newton(problem, 1, n_parameters, start=start).reshape(len(problem.classes), -1)


def newton(
    problem: _Problem,
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
