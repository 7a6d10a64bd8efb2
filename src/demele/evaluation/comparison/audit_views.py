"""Every classifier as the guess of the true classes and an audit show it: measures, and what each row can change."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Indices
from demele.evaluation.comparison.audit_guess import fitted_guess
from demele.evaluation.comparison.audit_tables import TableView, table_view
from demele.evaluation.intervals import score_interval
from demele.evaluation.question import Question
from demele.noise.audit import CodedAudit

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


class _Proportion:
    """Common part of all measures that are proportions of rows.

    Attributes
    ----------
    value, trials : arrays of shape (m,)
        Estimated measure of each model, and its denominator.
    error : array of shape (m, k)
        What each audited row adds to the value beyond the guess, per unit of weight.
    uneven : bool
        Whether what rows can lose differs by far; see :meth:`Drawn.guard`.
    lowest : float
        Least value that the measure can have; the largest is 1.
    """

    __slots__ = ()

    value: Floats
    trials: Floats
    uneven, lowest = False, 0.0

    def own_largest(self) -> Floats:
        """Largest that any row could have, shape (m,)."""
        largest = float(np.nanmax(np.r_[0.0, 1 / np.maximum(self.trials, 1)]))
        return np.full(self.value.size, largest)

    def own_sampling(self, level: float, share: Floats | float) -> tuple[Floats, Floats]:
        """How far below and above its estimate the sampling of the test set reaches, of a share of the rows; (m,)."""
        low, high = score_interval(self.value * self.trials * share, self.trials * share, level=level)
        return self.value - low, high - self.value


@dataclass(frozen=True, slots=True)
class _AccuracyView(_Proportion):
    """Accuracies.

    ``guessed``: mean guess of the predictions of all rows, shape (m,). ``at`` and ``guess``: predictions of shape
    (m, k) on audited rows, and the probability guessed for them. ``apart``: rows of each stratum on which two models
    differ, shape (strata, m, m). With groups, ``said`` and ``likely``: predictions of all rows and their guess, shape
    (m, n).
    """

    value: Floats
    trials: Floats
    error: Floats
    guessed: Floats
    at: Indices
    guess: Floats
    apart: Floats
    said: Indices
    likely: Floats

    def terms(self, first: int | None, second: int) -> tuple[Floats, Floats]:
        """Return what every row adds to a difference, or to one value, by the guess; and how much it may truly add.

        Both of shape (n,), in rows: root mean square of what may be true. Only if the question has groups.
        """
        if first is None:
            return self.likely[second], np.ones(self.likely.shape[1])
        apart = (self.said[first] != self.said[second]).astype(np.float64)
        return self.likely[second] - self.likely[first], apart

    def threat(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        """Largest error against "second is better" that each audited row could have had, and how likely it seemed.

        Both of shape (pairs, k).
        """
        # At worst the first is right.
        loss = 1 + self.guess[second] - self.guess[first]
        return np.where(self.at[first] != self.at[second], loss, 0.0) / self.trials[0], self.guess[first]

    def largest(self, first: Positions, second: Positions) -> Floats:
        """Largest that any row of each stratum could have, shape (strata, pairs); or (1, pairs), of all rows."""
        found: Floats = np.where(self.apart[:, first, second] > 0, 2.0, 0.0) / self.trials[0]
        return found

    def capacity(self, first: Positions, second: Positions) -> Floats:
        """Sum of the largest errors of all rows, audited or not, shape (pairs,)."""
        # Where the two agree, their guesses do.
        apart = self.apart[:, first, second].sum(axis=0)
        found: Floats = apart / self.trials[0] + self.guessed[second] - self.guessed[first]
        return found

    def own_capacity(self, side: int) -> Floats:
        """Sum of the largest of these of all rows, shape (m,)."""
        return self.guessed if side == 1 else 1 - self.guessed

    def own_threat(self, side: int) -> tuple[Floats, Floats]:
        """Largest error by which each audited row could lower (side 1) or raise (-1) a value, and how likely it seemed.

        Both of shape (m, k).
        """
        parts = (self.guess, 1 - self.guess) if side == 1 else (1 - self.guess, self.guess)
        return parts[0] / self.trials[0], parts[1]

    def sampling(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        """Variance of the difference over test sets, if there is none, and the step of one row; shape (pairs,)."""
        n = float(self.trials[0])
        variance: Floats = self.apart[:, first, second].sum(axis=0) / n**2
        return variance, np.full(first.size, 1 / n)


@dataclass(frozen=True, slots=True)
class _ClassView(_Proportion):
    """Precisions, recalls or F1 of one class, linearised: a row adds ``effect[model, truly so, predicted so]``.

    ``at``: whether the audited rows are predicted so, shape (m, k); ``guess``: probability that they truly are, shape
    (k,). ``rows`` and ``true``: rows, and the guessed number truly so, by (first predicts it, second predicts it),
    shape (2, 2, m, m); ``parts``: rows of each stratum, (strata, 2, 2, m, m). ``said`` and ``likely``: as ``at`` and
    ``guess``, of all rows.
    """

    value: Floats
    trials: Floats
    error: Floats
    at: NDArray[np.intp]
    guess: Floats
    effect: Floats
    rows: Floats
    true: Floats
    measure: str
    said: NDArray[np.intp]
    likely: Floats
    parts: Floats

    def terms(self, first: int | None, second: int) -> tuple[Floats, Floats]:
        parts = [self.effect[second][truth][self.said[second]] for truth in (0, 1)]
        if first is not None:
            parts = [part - self.effect[first][truth][self.said[first]] for truth, part in enumerate(parts)]
        expected = (1 - self.likely) * parts[0] + self.likely * parts[1]
        return expected, np.sqrt((1 - self.likely) * parts[0] ** 2 + self.likely * parts[1] ** 2)

    def _surprise(self, models: Positions, truth: int) -> Floats:
        """Return what the audited rows would add beyond the guess, were they all truly so, or all not."""
        column = self.at[models]
        spread = self.effect[models, 1] - self.effect[models, 0]
        found: Floats = (truth - self.guess) * np.take_along_axis(spread, column, axis=1)
        return found

    def threat(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        losses = [self._surprise(first, truth) - self._surprise(second, truth) for truth in (0, 1)]
        return self._worst(losses[0], losses[1])

    def _worst(self, untrue: Floats, true: Floats) -> tuple[Floats, Floats]:
        chance = np.where(true > untrue, self.guess, 1 - self.guess)
        return np.maximum(np.maximum(untrue, true), 0.0), chance

    def _changes(self, first: Positions, second: Positions) -> Floats:
        """Return what being truly of the class adds to a difference, by (first predicts it, second predicts it)."""
        spread = (self.effect[:, 1] - self.effect[:, 0]).T
        found: Floats = spread[:, second] - spread[:, None, first]
        return found

    def largest(self, first: Positions, second: Positions) -> Floats:
        met = self.parts[..., first, second] > 0
        found: Floats = np.where(met, np.abs(self._changes(first, second)), 0.0).max(axis=(1, 2))
        return found

    def capacity(self, first: Positions, second: Positions) -> Floats:
        cells = self.rows[..., first, second], self.true[..., first, second]
        found: Floats = _hurt(-self._changes(first, second), *cells).sum(axis=(0, 1))
        return found

    def own_capacity(self, side: int) -> Floats:
        every = np.arange(self.value.size)
        spread = self.effect[:, 1] - self.effect[:, 0]
        cells = ((self.rows[a, a, every, every], self.true[a, a, every, every]) for a in (0, 1))
        parts = [_hurt(-side * spread[:, a], *cell) for a, cell in enumerate(cells)]
        return parts[0] + parts[1]

    def own_threat(self, side: int) -> tuple[Floats, Floats]:
        every = np.arange(self.value.size)
        return self._worst(-side * self._surprise(every, 0), -side * self._surprise(every, 1))

    def sampling(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        weight = self.trials[first], self.trials[second]
        with np.errstate(divide="ignore", invalid="ignore"):
            common = (self.value[first] * weight[0] + self.value[second] * weight[1]) / (weight[0] + weight[1])
        tables = [_effects(self.measure, common, trials) for trials in weight]
        variance, step = np.zeros(first.size), np.zeros(first.size)
        for a in (0, 1):
            for b in (0, 1):
                true = self.true[a, b, first, second]
                for truth, rows in ((1, true), (0, self.rows[a, b, first, second] - true)):
                    moved = tables[1][:, truth, b] - tables[0][:, truth, a]
                    variance += rows * moved**2
                    step = np.where(rows > 0, np.maximum(step, np.abs(moved)), step)
        return variance, step


def _hurt(change: Floats, rows: Floats, true: Floats) -> Floats:
    """Sum over rows of the largest loss beyond the guess, if being truly of the class costs ``change`` more."""
    return np.where(change > 0, rows - true, true) * np.abs(change)


def _effects(measure: str, value: Floats, trials: Floats) -> Floats:
    """Return what one row adds to a ratio near its value: shape (m, 2, 2), [truly of the class, predicted so]."""
    numerator, denominator = {
        "precision": ([[0, 0], [0, 1]], [[0, 1], [0, 1]]),
        "recall": ([[0, 0], [0, 1]], [[0, 0], [1, 1]]),
        "f1": ([[0, 0], [0, 2]], [[0, 1], [1, 2]]),
    }[measure]
    slope = np.asarray(numerator, float) - value[:, None, None] * np.asarray(denominator, float)
    found: Floats = np.where((trials > 0)[:, None, None], slope / np.where(trials > 0, trials, 1)[:, None, None], 0.0)
    return np.where(np.isfinite(value)[:, None, None], found, 0.0)


#: Every model as guess and audit show it.
View = _AccuracyView | _ClassView | TableView


def view_of(question: Question, audit: CodedAudit, models: Positions) -> View:
    """Look at some models as guess and audit show them: their accuracies, a measure of one class or of all."""
    if question.of_table:
        return table_view(question, audit, models)
    seen = _accuracy_view if question.measure == "accuracy" else _class_view
    return seen(question, audit, models)


def _accuracy_view(question: Question, audit: CodedAudit, models: Positions) -> _AccuracyView:
    data = question.data
    fitted = fitted_guess(data, audit)
    parts = [part for part, _ in audit.strata]
    sums, same = np.zeros(models.size), np.zeros((len(parts), models.size, models.size))
    likely = np.zeros((models.size, 0 if question.clusters is None else data.n))
    for rows, guess in fitted.everywhere():
        block = data.predictions[np.ix_(models, rows)]
        own_guess = guess[np.arange(rows.size), block]
        sums += own_guess.sum(axis=1)
        if likely.size:
            likely[:, rows] = own_guess
        for k in np.unique(block):
            here = (block == k).astype(np.float32)
            same += [(here * part[rows]) @ here.T for part in parts]
    at = data.predictions[np.ix_(models, audit.rows)]
    own = fitted.of(audit.rows)[np.arange(audit.k), at]
    error = ((at == audit.labels) - own) / data.n
    guessed = sums / data.n
    value = np.clip(guessed + error @ (1 / audit.inclusion), 0, 1)
    trials = np.full(models.size, float(data.n))
    said = data.predictions[models] if likely.size else at
    apart = np.array([part.sum() for part in parts])[:, None, None] - same
    return _AccuracyView(value, trials, error, guessed, at, own, apart, said, likely)


def _class_view(question: Question, audit: CodedAudit, models: Positions) -> _ClassView:
    data, of = question.data, int(question.of or 0)
    q = np.concatenate([guess[:, of] for _, guess in fitted_guess(data, audit).everywhere()])
    predicted = (data.predictions[models] == of).astype(np.float64)
    at, truth, q_at = predicted[:, audit.rows].astype(np.intp), audit.labels == of, q[audit.rows]
    news = (truth - q_at) / audit.inclusion
    both, says = predicted @ q + at @ news, predicted.sum(axis=1)
    # No model finds more rows of a class than there are; recalls that were each cut off at 1 would hide a difference.
    true = np.full(models.size, max(q.sum() + news.sum(), both.max(), 0.0))
    numerator, trials = {
        "precision": (both, says),
        "recall": (both, true),
        "f1": (2 * both, says + true),
    }[question.measure]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(trials > 0, np.clip(numerator / trials, 0, 1), np.nan)
    effect = _effects(question.measure, value, trials)
    spread = effect[:, 1] - effect[:, 0]
    error = (truth - q_at) * np.take_along_axis(spread, at, axis=1)
    sides = 1 - predicted, predicted
    parts = np.array([[[(a * part) @ b.T for b in sides] for a in sides] for part, _ in audit.strata])
    truly = np.array([[(a * q) @ b.T for b in sides] for a in sides])
    said = predicted.astype(np.intp)
    rows = parts.sum(axis=0)
    return _ClassView(value, trials, error, at, q_at, effect, rows, truly, question.measure, said, q, parts)
