"""What rows add to the measure of every model, by a guess of the true classes and an audit; and the most they can add.

A measure is linearised at its estimate: a row of true class t that is predicted as p adds g[t, p]. A difference of two
models has the effects g2[t, p2] - g1[t, p1]. The last model is nobody, to whom no row adds anything: the difference of
a model and nobody is its measure. Three kinds of measures share these sums: accuracies, whose effects are 0 or 1 / n;
precisions, recalls and F1 of one class; and measures of all classes. What the rows of a rare class add to the last is
large, also where no model predicts it, since any row may truly be of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.intervals import Guard, SampledSum, lower_bound, upper_bound
from demele.classifiers.question import Question
from demele.classifiers.table_measures import Slopes, Table, lowest_value
from demele.core.arrays import Floats, Rows
from demele.core.labelled import Indices, Labelled, shown
from demele.core.proportions import normal_quantile, score_interval
from demele.core.results import Note
from demele.noise.audit import CodedAudit

#: Cells of a table held at a time.
CELLS_AT_ONCE = 1 << 22
#: Every class has half a vote more than it got, so that none is impossible.
HALF_VOTE = 0.5
#: Log-odds that every model is granted at least, so that none is without a vote.
LEAST_SKILL = 0.1
#: Presumed weights of the logarithm of the votes and of the label, and how firmly, in audited rows of a clear case.
PRESUMED = np.array([1.0, 2.0])
PRESUMPTION = 0.1


@dataclass(frozen=True, slots=True)
class Guess:
    """Guessed probabilities of the true class of a row, from given labels and votes.

    ``votes``: of each model, 1 on average. ``weights``: of the logarithm of the votes, and of the given label.
    """

    data: Labelled
    votes: Floats
    weights: Floats

    def scores(self, rows: Rows) -> tuple[Floats, Floats]:
        """Logarithm of the votes for each class, and whether it is the label; both of shape (rows, classes)."""
        data = self.data
        predictions = data.predictions[:, rows]
        places = (predictions + np.arange(rows.size) * data.k).ravel()
        sums = np.bincount(places, np.repeat(self.votes, rows.size), rows.size * data.k).reshape(rows.size, data.k)
        return np.log((sums + HALF_VOTE) / (len(predictions) + HALF_VOTE * data.k)), np.eye(data.k)[data.labels[rows]]

    def of(self, rows: Rows) -> Floats:
        """Return the probabilities of some rows, shape (rows, classes)."""
        votes, label = self.scores(rows)
        return _probabilities(self.weights[0] * votes + self.weights[1] * label)

    def everywhere(self) -> Iterator[tuple[Rows, Floats]]:
        """Return those of all rows, some at a time: rows, and shape (rows, classes)."""
        size = max(1, CELLS_AT_ONCE // max(self.data.k, len(self.data.predictions)))
        for start in range(0, self.data.n, size):
            rows = np.arange(start, min(start + size, self.data.n))
            yield rows, self.of(rows)


def _probabilities(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def fitted_guess(data: Labelled, audit: CodedAudit) -> Guess:
    """Return the guess that makes the expert's labels likeliest, by Newton's method (concave, two numbers)."""
    hits = np.count_nonzero(data.predictions == data.labels, axis=1)
    # The vote of each model: the squared log-odds of agreeing with the given labels, 1 on average.
    skill = np.maximum(np.log((hits + 1) / (data.n - hits + 1)), LEAST_SKILL) ** 2
    guess = Guess(data, skill / skill.mean(), PRESUMED)
    tables = np.stack(guess.scores(audit.rows), axis=-1)
    expert = tables[np.arange(audit.k), audit.labels]
    weights = PRESUMED.copy()

    def likelihood(at: Floats) -> float:
        logits = tables @ at
        top = logits.max(axis=1)
        log_total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        return float((expert @ at - log_total).sum() - PRESUMPTION / 2 * ((at - PRESUMED) ** 2).sum())

    best = likelihood(weights)
    for _ in range(50):
        chances = _probabilities(tables @ weights)
        means = np.einsum("kc,kcp->kp", chances, tables)
        slope = (expert - means).sum(axis=0) - PRESUMPTION * (weights - PRESUMED)
        curve = np.einsum("kc,kcp,kcq->pq", chances, tables, tables) - means.T @ means + PRESUMPTION * np.eye(2)
        step = np.linalg.solve(curve, slope)
        reached = likelihood(weights + step)
        while np.abs(step).max() > 1e-9 and reached < best:
            step = step / 2
            reached = likelihood(weights + step)
        weights, best = weights + step, reached
        if np.abs(step).max() < 1e-9:
            break
    return replace(guess, weights=weights)


# What rows add to the measure of every model, by a guess of the true classes and an audit, and the most they can ---


#: A class of which fewer rows are estimated keeps what the guess says of it.
HALF_A_ROW = 0.5
#: The sampling variance is at least this share of that by the guess, whatever the audit makes of it.
LEAST_SHARE = 0.25
#: A class that fewer audited rows have to do with is named.
FEW_IN_CLASS = 5


class Effects(ABC):
    """Estimated measures of m models, and what each of k audited rows adds to them; in arrays of m + 1, nobody is last.

    Attributes
    ----------
    value, trials : arrays of shape (m,)
        Estimated measure of each model, and its denominator (of measures of all classes: rows).
    error : array of shape (m + 1, k)
        Residual of each audited row (true minus guessed effect).
    lowest : float
        Least value that the measure can have; the largest is 1.
    uneven : bool
        Whether the largest losses of rows differ by far; see :meth:`Drawn.guard`.
    """

    value: Floats
    trials: Floats
    error: Floats
    lowest = 0.0
    uneven = False

    @property
    def nobody(self) -> int:
        """Index of the model without predictions."""
        return int(self.value.size)

    @abstractmethod
    def terms(self, first: int, second: int) -> tuple[Floats, Floats]:
        """Guessed effect of every row on a difference, and the root mean square of its effect; shape (n,) each.

        In rows for accuracies. Only if the question has groups.
        """

    @abstractmethod
    def losses(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        """Largest error against "second is better" that each audited row could have, and how likely; (pairs, k)."""

    @abstractmethod
    def largest(self, first: Rows, second: Rows) -> Floats:
        """Largest error that any row of each stratum could have, shape (strata, pairs); or (1, pairs), of all rows."""

    @abstractmethod
    def capacity(self, first: Rows, second: Rows) -> Floats:
        """Sum of the largest errors of all rows, audited or not, shape (pairs,)."""

    @abstractmethod
    def sampling(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        """Variance of the difference over test sets, if there is none, and the step of one row; shape (pairs,)."""

    def sampling_reach(self, level: float, share: Floats | float) -> tuple[Floats, Floats]:
        """How far below and above each value the sampling of the test set reaches, of a share of the rows; (m,)."""
        low, high = score_interval(self.value * self.trials * share, self.trials * share, level=level)
        return self.value - low, high - self.value

    def _of_nobody(self, first: Rows, second: Rows, otherwise: Floats) -> Floats:
        """Replace the largest errors of single models: a row of the smallest denominator."""
        largest = float(np.nanmax(np.r_[0.0, 1 / np.maximum(self.trials, 1)]))
        return np.where((first == self.nobody) | (second == self.nobody), largest, otherwise)


class _AccuracyEffects(Effects):
    """Accuracies.

    ``guessed``: mean guess of the predictions of all rows, shape (m + 1,). ``at`` and ``guess``: predictions of shape
    (m + 1, k) on audited rows, and the probability guessed for them. ``apart``: rows of each stratum on which two
    models differ, shape (strata, m + 1, m + 1); none for a first, all for a second model that is nobody. With groups,
    ``predictions`` and ``likely``: predictions of all rows and their guess, shape (m + 1, n).
    """

    def __init__(self, question: Question, audit: CodedAudit, models: Rows) -> None:
        data, m = question.data, models.size
        guess, strata = fitted_guess(data, audit), [part for part, _ in audit.strata]
        sums, self.apart = np.zeros(m + 1), np.zeros((len(strata), m + 1, m + 1))
        self.likely = np.zeros((m + 1, 0 if question.clusters is None else data.n))
        same = np.zeros((len(strata), m, m))
        for rows, chances in guess.everywhere():
            block = data.predictions[np.ix_(models, rows)]
            own_guess = chances[np.arange(rows.size), block]
            sums[:m] += own_guess.sum(axis=1)
            if self.likely.size:
                self.likely[:m, rows] = own_guess
            for k in np.unique(block):
                here = (block == k).astype(np.float32)
                same += [(here * part[rows]) @ here.T for part in strata]
        sizes = np.array([part.sum() for part in strata])[:, None, None]
        self.apart[:, :m, :m] = sizes - same
        self.apart[:, :m, m:] = sizes
        at = data.predictions[np.ix_(models, audit.rows)]
        own = guess.of(audit.rows)[np.arange(audit.k), at]
        error, self.guessed = ((at == audit.labels) - own) / data.n, sums / data.n
        self.value = np.clip(self.guessed[:m] + error @ (1 / audit.inclusion), 0, 1)
        self.trials, self.error = np.full(m, float(data.n)), _and_nobody(error)
        self.at, self.guess = _and_nobody(at, -1), _and_nobody(own)
        self.predictions = _and_nobody(data.predictions[models] if self.likely.size else at, -1)

    def terms(self, first: int, second: int) -> tuple[Floats, Floats]:
        apart = (self.predictions[first] != self.predictions[second]).astype(np.float64)
        return self.likely[second] - self.likely[first], apart

    def losses(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        # At worst the first is right, unless it is nobody.
        alone = (first == self.nobody)[:, None]
        loss = ~alone + self.guess[second] - self.guess[first]
        differ = self.at[first] != self.at[second]
        return np.where(differ, loss, 0.0) / self.trials[0], np.where(alone, 1 - self.guess[second], self.guess[first])

    def largest(self, first: Rows, second: Rows) -> Floats:
        apart = np.where(self.apart[:, first, second] > 0, 2.0, 0.0) / self.trials[0]
        return self._of_nobody(first, second, apart)

    def capacity(self, first: Rows, second: Rows) -> Floats:
        # Where the two agree, their guesses do.
        apart = self.apart[:, first, second].sum(axis=0)
        return np.asarray(apart / self.trials[0] + self.guessed[second] - self.guessed[first])

    def sampling(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        n = float(self.trials[0])
        return self.apart[:, first, second].sum(axis=0) / n**2, np.full(first.size, 1 / n)


class _ClassEffects(Effects):
    """Precisions, recalls or F1 of one class: a row adds ``effect[model, truly so, predicted so]``.

    ``predicted``: whether all rows are predicted so, shape (m + 1, n), and ``at`` the audited ones; ``likely`` and
    ``guess``: probability that they truly are. ``rows`` and ``true``: rows, and the guessed number truly so, by (first
    predicts it, second predicts it), shape (2, 2, m + 1, m + 1); ``parts``: rows of each stratum.
    """

    def __init__(self, question: Question, audit: CodedAudit, models: Rows) -> None:
        data, of, self.measure = question.data, int(question.of or 0), question.measure
        q = np.concatenate([guess[:, of] for _, guess in fitted_guess(data, audit).everywhere()])
        predicted = _and_nobody((data.predictions[models] == of).astype(np.float64))
        truth, self.likely, self.guess = audit.labels == of, q, q[audit.rows]
        self.predicted, self.at = predicted.astype(np.intp), predicted[:, audit.rows].astype(np.intp)
        news = (truth - self.guess) / audit.inclusion
        both, n_predicted = (predicted @ q + self.at @ news)[:-1], predicted.sum(axis=1)[:-1]
        # No model finds more rows of a class than there are; recalls that were each cut off at 1 hide a difference.
        true = np.full(models.size, max(q.sum() + news.sum(), both.max(), 0.0))
        numerator, self.trials = {
            "precision": (both, n_predicted),
            "recall": (both, true),
            "f1": (2 * both, n_predicted + true),
        }[self.measure]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.value = np.where(self.trials > 0, np.clip(numerator / self.trials, 0, 1), np.nan)
        effect = _and_nobody(_class_effects(self.measure, self.value, self.trials))
        self.effect, self.spread = effect, effect[:, 1] - effect[:, 0]
        self.error = (truth - self.guess) * np.take_along_axis(self.spread, self.at, axis=1)
        sides = 1 - predicted, predicted
        self.parts = np.array([[[(a * part) @ b.T for b in sides] for a in sides] for part, _ in audit.strata])
        self.rows = self.parts.sum(axis=0)
        self.true = np.array([[(a * q) @ b.T for b in sides] for a in sides])

    def terms(self, first: int, second: int) -> tuple[Floats, Floats]:
        untrue, true = (
            self.effect[second][truth][self.predicted[second]] - self.effect[first][truth][self.predicted[first]]
            for truth in (0, 1)
        )
        expected = (1 - self.likely) * untrue + self.likely * true
        return expected, np.sqrt((1 - self.likely) * untrue**2 + self.likely * true**2)

    def losses(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        def surprise(models: Rows, truth: int) -> Floats:
            """Return what the audited rows would add beyond the guess, were they all truly so, or all not."""
            return np.asarray((truth - self.guess) * np.take_along_axis(self.spread[models], self.at[models], axis=1))

        untrue, true = (surprise(first, truth) - surprise(second, truth) for truth in (0, 1))
        return np.maximum(np.maximum(untrue, true), 0.0), np.where(true > untrue, self.guess, 1 - self.guess)

    def _changes(self, first: Rows, second: Rows) -> Floats:
        """Return what being truly of the class adds to a difference, by (first predicts it, second predicts it)."""
        return np.asarray(self.spread.T[:, second] - self.spread.T[:, None, first])

    def largest(self, first: Rows, second: Rows) -> Floats:
        met = self.parts[..., first, second] > 0
        largest = np.where(met, np.abs(self._changes(first, second)), 0.0).max(axis=(1, 2))
        return self._of_nobody(first, second, largest)

    def capacity(self, first: Rows, second: Rows) -> Floats:
        change, true = self._changes(first, second), self.true[..., first, second]
        untrue = self.rows[..., first, second] - true
        return np.asarray((np.where(change < 0, untrue, true) * np.abs(change)).sum(axis=(0, 1)))

    def sampling(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        weight = self.trials[first], self.trials[second]
        with np.errstate(divide="ignore", invalid="ignore"):
            common = (self.value[first] * weight[0] + self.value[second] * weight[1]) / (weight[0] + weight[1])
        tables = [_class_effects(self.measure, common, trials) for trials in weight]
        variance, step = np.zeros(first.size), np.zeros(first.size)
        for a in (0, 1):
            for b in (0, 1):
                true = self.true[a, b, first, second]
                for truth, rows in ((1, true), (0, self.rows[a, b, first, second] - true)):
                    moved = tables[1][:, truth, b] - tables[0][:, truth, a]
                    variance += rows * moved**2
                    step = np.where(rows > 0, np.maximum(step, np.abs(moved)), step)
        return variance, step


class _TableEffects(Effects):
    """Measures of all classes: the table of each model by the guess and the audit's correction, linearised.

    Estimated counts below 0 stay: cutting them off would favour one side. A class of less than half a row keeps the
    guess.

    ``predictions``: of shape (m + 1, n). ``guess``: of the true classes, by all models; ``own``: its probabilities of
    the audited rows, shape (k, n_classes). ``slopes``: of every model, at the estimated table. ``guessed``: sum of the
    guessed effects of all rows, shape (m + 1,).
    """

    uneven = True

    def __init__(self, question: Question, audit: CodedAudit, models: Rows) -> None:
        data, measure = question.data, question.measure
        guess, predictions = fitted_guess(data, audit), data.predictions[models]
        hits, true = np.zeros((models.size, data.k)), np.zeros(data.k)
        for rows, chances in guess.everywhere():
            true += chances.sum(axis=0)
            for model, predicted in enumerate(predictions[:, rows]):
                right = chances[np.arange(rows.size), predicted]
                hits[model] += np.bincount(predicted, weights=right, minlength=data.k)
        own, weight = guess.of(audit.rows), 1 / audit.inclusion
        news = np.eye(data.k)[audit.labels] - own
        estimated = true + weight @ news
        known = estimated >= HALF_A_ROW
        for model, predicted in enumerate(predictions[:, audit.rows]):
            surprise = weight * news[np.arange(audit.k), predicted]
            hits[model] += np.where(known, np.bincount(predicted, weights=surprise, minlength=data.k), 0.0)
        true = np.where(known, estimated, true)
        counts = np.array([np.bincount(one, minlength=data.k) for one in predictions], dtype=np.float64)
        table = Table(hits, np.broadcast_to(true, hits.shape), counts)
        slopes = table.slopes(measure)
        self.guessed, self.error = np.zeros(models.size + 1), np.zeros((models.size + 1, audit.k))
        for model, predicted in enumerate(predictions):
            one, at = slopes.of(model), predicted[audit.rows]
            for rows, chances in guess.everywhere():
                self.guessed[model] += float(_guessed_effects(one, predicted[rows], chances).sum())
            self.error[model] = one.at(audit.labels, at) - _guessed_effects(one, at, own)
        self.value, self.trials = table.value(measure), np.full(models.size, float(data.n))
        self.data, self.audit, self.predictions = data, audit, _and_nobody(predictions)
        self.lowest, self.guess, self.own = lowest_value(measure), guess, own
        self.slopes = Slopes(*map(_and_nobody, (slopes.same, slopes.true, slopes.said)))

    def _effect(self, truth: int | Indices, first: int, second: int, rows: Rows) -> Floats:
        """Return what rows add to a difference if they are truly of a class."""
        found = self.slopes.of(second).at(truth, self.predictions[second, rows])
        return found - self.slopes.of(first).at(truth, self.predictions[first, rows])

    def _extremes(self, first: int, second: int, rows: Rows) -> tuple[Floats, Floats]:
        """Least and largest that rows could add to a difference, over all classes; shape (rows,)."""
        effects = (self._effect(truth, first, second, rows) for truth in range(self.data.k))
        low = high = next(effects)
        for effect in effects:
            low, high = np.minimum(low, effect), np.maximum(high, effect)
        return low, high

    def _surprises(self, first: int, second: int) -> tuple[Floats, Floats]:
        """Largest loss and largest gain of each audited row beyond the guess, shape (k,) each."""
        rows = self.audit.rows
        low, high = self._extremes(first, second, rows)
        mean, other = (
            _guessed_effects(self.slopes.of(model), self.predictions[model, rows], self.own)
            for model in (second, first)
        )
        return np.maximum(mean - other - low, 0.0), np.maximum(high - (mean - other), 0.0)

    def losses(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        losses = np.array([self._surprises(*pair)[0] for pair in _pairs(first, second)])
        # How likely each audited row is not of the class that seems likeliest.
        return losses, np.broadcast_to(1 - self.own.max(axis=1), losses.shape)

    def largest(self, first: Rows, second: Rows) -> Floats:
        # Of the audited rows: every class may be that of a row that was not audited.
        surprises = (self._surprises(*pair) for pair in _pairs(first, second))
        return np.array([[max(part.max() for part in parts) for parts in surprises]])

    def capacity(self, first: Rows, second: Rows) -> Floats:
        least = np.empty(first.size)
        for place, pair in enumerate(_pairs(first, second)):
            codes = self.predictions[pair[1]].astype(np.intp) * self.data.k + self.predictions[pair[0]]
            _, rows, counts = np.unique(codes, return_index=True, return_counts=True)
            least[place] = float(counts @ self._extremes(*pair, rows)[0])
        return np.asarray(self.guessed[second] - self.guessed[first] - least)

    def sampling(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        """Variance of the sum of effects, and half of the largest effect on the known labels.

        The guessed sum of squares is corrected by the audit, as the estimates are, but not below a quarter of itself.
        """
        spreads = np.array([self._spread(*pair) for pair in _pairs(first, second)]).reshape(-1, 2)
        return spreads[:, 0], spreads[:, 1]

    def sampling_reach(self, level: float, share: Floats | float) -> tuple[Floats, Floats]:
        every = np.arange(self.nobody)
        variance, step = self.sampling(np.full(self.nobody, self.nobody), every)
        reach = normal_quantile((1 + level) / 2) * np.sqrt(variance / share) + step
        return reach, reach

    def _spread(self, first: int, second: int) -> tuple[float, float]:
        squares = total = 0.0
        for rows, chances in self.guess.everywhere():
            for truth in range(self.data.k):
                effect = self._effect(truth, first, second, rows)
                squares += float(chances[:, truth] @ effect**2)
                total += float(chances[:, truth] @ effect)
        guessed = squares - total**2 / self.data.n
        rows = self.audit.rows
        own = np.zeros(rows.size)
        for truth in range(self.data.k):
            own += self.own[:, truth] * self._effect(truth, first, second, rows) ** 2
        news = self._effect(self.audit.labels, first, second, rows) ** 2 - own
        corrected = guessed + float(news @ (1 / self.audit.inclusion))
        labels = self.data.labels.copy()
        labels[rows] = self.audit.labels
        step = float(np.abs(self._effect(labels, first, second, np.arange(self.data.n))).max()) / 2
        return max(corrected, LEAST_SHARE * guessed), step

    def terms(self, first: int, second: int) -> tuple[Floats, Floats]:
        mean, square = np.zeros(self.data.n), np.zeros(self.data.n)
        for rows, chances in self.guess.everywhere():
            for truth in range(self.data.k):
                effect = self._effect(truth, first, second, rows)
                mean[rows] += chances[:, truth] * effect
                square[rows] += chances[:, truth] * effect**2
        return mean, np.sqrt(square)


def _pairs(first: Rows, second: Rows) -> list[tuple[int, int]]:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _and_nobody(values: NDArray, filler: int = 0) -> NDArray:  # type: ignore[type-arg]
    """Append a row for nobody."""
    return np.concatenate([values, np.full_like(values[:1], filler)])


def _class_effects(measure: str, value: Floats, trials: Floats) -> Floats:
    """Return what one row adds to a ratio near its value: shape (m, 2, 2), [truly of the class, predicted so]."""
    numerator, denominator = {
        "precision": ([[0, 0], [0, 1]], [[0, 1], [0, 1]]),
        "recall": ([[0, 0], [0, 1]], [[0, 0], [1, 1]]),
        "f1": ([[0, 0], [0, 2]], [[0, 1], [1, 2]]),
    }[measure]
    slope = np.asarray(numerator, float) - value[:, None, None] * np.asarray(denominator, float)
    effects = np.where((trials > 0)[:, None, None], slope / np.where(trials > 0, trials, 1)[:, None, None], 0.0)
    return np.where(np.isfinite(value)[:, None, None], effects, 0.0)


def _guessed_effects(slopes: Slopes, predicted: Indices, chances: Floats) -> Floats:
    """Return what rows add on average over their guessed classes, shape (rows,), of one model."""
    right = chances[np.arange(predicted.size), predicted]
    return np.asarray(slopes.same[predicted] * right + chances @ slopes.true + slopes.said[predicted])


def effects_of(question: Question, audit: CodedAudit, models: Rows) -> Effects:
    """Return the effects of rows on some models: on accuracies, a measure of one class or of all."""
    if question.of_table:
        return _TableEffects(question, audit, models)
    return (_AccuracyEffects if question.measure == "accuracy" else _ClassEffects)(question, audit, models)


def few_in_class_notes(question: Question, audit: CodedAudit) -> tuple[Note, ...]:
    """Name the classes that hardly any audited row is predicted, labelled or truly of."""
    data = question.data
    compared = np.unique(np.concatenate([question.baseline, question.candidate]))
    columns = [audit.labels, data.labels[audit.rows], *data.predictions[compared][:, audit.rows]]
    met = np.array([sum(column == k for column in columns) > 0 for k in range(data.k)])
    few = np.flatnonzero(met.sum(axis=1) < FEW_IN_CLASS)
    if not few.size:
        return ()
    names = tuple(str(data.vocabulary.classes[k]) for k in few)
    message = (
        f"fewer than {FEW_IN_CLASS} audited rows have to do with {len(names)} of {data.k} classes, {shown(names)}: "
        f"their uncertainty widens the interval of {question.measure} wide; audit more rows, or compare "
        "the accuracy"
    )
    return (Note(code="few-audited-in-class", message=message, subject=names, severity="warning"),)


# From what an audit shows of errors to how far an estimated difference, or a measure, may be off ----------------------


#: Numbers that an estimate takes from the audit: two weights and the mean.
FITTED = 3
#: However sure the guess, an error is taken to be this likely, when the weight of unseen errors is judged by it.
DISTRUST = 0.03


@dataclass(frozen=True, slots=True)
class Evidence:
    """Errors of the guess on one side, against a claim or for it; arrays of the same shape.

    Attributes
    ----------
    sampled : SampledSum
    certain : array
        Sum of the errors met, without weights: the sum over all rows is at least this.
    room : array
        The most that the rows which were not audited can add to it.
    """

    sampled: SampledSum
    certain: Floats
    room: Floats

    @property
    def total(self) -> Floats:
        """Estimated sum over all rows, within what is certain."""
        return np.clip(self.sampled.total, self.certain, self.certain + self.room)

    def high(self, guard: Guard, tail: float | Floats) -> Floats:
        """Upper bound of the sum over all rows."""
        return np.clip(upper_bound(self.sampled, guard, tail), self.total, self.certain + self.room)

    def low(self, tail: float | Floats) -> Floats:
        """Lower bound of the sum over all rows."""
        return np.clip(lower_bound(self.sampled, tail), self.certain, self.total)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How far the sampling of the test set may move a difference; arrays of shape (pairs,).

    ``step``: what one row moves. ``degrees``: of freedom that the variance of groups has; None: of rows apart.
    """

    variance: Floats
    step: Floats
    degrees: Floats | None = None

    def reach(self, tail: float | Floats) -> Floats:
        """Distance at an error of ``tail``."""
        from scipy.special import ndtri, stdtrit

        quantile = -(ndtri(tail) if self.degrees is None else stdtrit(self.degrees, tail))
        found: Floats = quantile * np.sqrt(self.variance) + self.step
        return found


@dataclass(frozen=True, slots=True)
class Claim:
    """What speaks against a claim and for it, from the audit; and the sampling of the test set, or None."""

    against: Evidence
    favour: Evidence
    guard: Guard
    sampling: Sampling | None

    def distance(self, tail: float | Floats) -> Floats:
        """How far below its estimate the difference may be, at an error of ``tail``."""
        squared = (self.against.high(self.guard, tail) - self.against.total) ** 2
        squared += (self.favour.total - self.favour.low(tail)) ** 2
        if self.sampling is not None:
            squared += self.sampling.reach(tail) ** 2
        found: Floats = np.sqrt(squared)
        return found

    def p_value(self, excess: Floats) -> Floats:
        """Smallest error at which the claim would be made; 1 where the estimate itself speaks against it."""
        from scipy.special import ndtr

        result = np.ones_like(excess)
        open_ = np.flatnonzero(excess > 0)
        claim, beyond = self.at(open_), excess[open_]
        made, unmade = np.zeros_like(beyond), np.full_like(beyond, 9.0)
        for _ in range(30):
            middle = (made + unmade) / 2
            stands = claim.distance(ndtr(-middle)) < beyond
            made, unmade = np.where(stands, middle, made), np.where(stands, unmade, middle)
        result[open_] = np.where(made > 0, ndtr(-made), 0.5)
        return result

    def at(self, where: Any) -> "Claim":
        """Return those of some pairs."""
        found: Claim = _each(lambda values: values[where], self)
        return found


@dataclass(frozen=True, slots=True)
class Drawn:
    """How the audited rows were drawn: weight = 1 / inclusion probability, shape (k,).

    ``strata``: of a stratified design, the weight of each stratum.
    """

    weight: Floats
    uniform: bool
    strata: Floats | None = None

    @classmethod
    def of(cls, audit: CodedAudit) -> "Drawn":
        """Read it from an audit."""
        weight, strata = 1 / audit.inclusion, None
        if audit.within is not None:
            strata = np.array([weight[drawn].max(initial=1.0) for _, drawn in audit.strata])
        return cls(weight, audit.design == "uniform", strata)

    def evidence(self, errors: Floats, capacity: Floats, threat: Floats) -> Evidence:
        """Gather errors >= 0, shape (pairs, k); ``capacity`` and ``threat``: largest possible, of all and of these."""
        k = self.weight.size
        spare = k / (k - FITTED) if k > 2 * FITTED else 2.0
        room = np.maximum(capacity - threat.sum(axis=-1), 0.0)
        return Evidence(SampledSum.of(errors, self.weight, spare=spare), errors.sum(axis=-1), room)

    def guard(self, loss: Floats, largest: Floats, chance: Floats | None = None, *, uneven: bool = False) -> Guard:
        """Return the weight and the size of one unseen error.

        Uniform audits: the largest there is. Weighted ones: means over the audited rows that could have had one,
        ``loss`` > 0 of shape (pairs, k), each as likely (or by ``chance``): a wrong label that repeats one of the two
        classifiers can be on any of their disagreements, whether a pool contradicts it or not. The means get one more
        row, with the largest possible error and the largest weight of those rows: if one disagreement was drawn, with a
        small possible loss, the others could still lose much. Stratified audits get one such row per stratum:
        ``largest`` has shape (strata, pairs), or (1, pairs) if it is the same for all rows.

        Where what rows can lose is ``uneven``, as between a rare class and a frequent one, no more row stands there:
        any row may truly be of the rare class, so that with the largest error there is intervals say nothing.
        """
        heaviest = np.full(largest.shape[1:], self.weight.max())
        if self.uniform:
            return Guard(heaviest, largest[0])
        each = loss if chance is None else (chance + DISTRUST) * loss
        spread = self.weight * (self.weight - 1)
        worst = np.where(loss > 0, self.weight, 0.0).max(axis=-1)
        worst = np.where(worst > 1, worst, heaviest)[None] if self.strata is None else self.strata[:, None]
        own = (0.0 if uneven else largest) * worst * (worst - 1)
        size = each @ spread + own.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where(size > 0, (each @ (spread * self.weight) + (own * worst).sum(axis=0)) / size, heaviest)
            amount = ((each * loss) @ spread + (own * largest).sum(axis=0)) / size
        return Guard(weight, np.where(size > 0, amount, largest.max(axis=0)))


def _each(function: Any, *parts: Any) -> Any:
    """Apply a function to the arrays in dataclasses of one kind, place by place."""
    if not is_dataclass(parts[0]):
        return None if parts[0] is None else function(*parts)
    columns = ([getattr(part, one.name) for part in parts] for one in fields(parts[0]))
    kind: Any = type(parts[0])
    return kind(*(_each(function, *column) for column in columns))


def claims_of(
    effects: Effects, drawn: Drawn, first: Rows, second: Rows, sampling: Sampling | None = None
) -> tuple[Claim, Claim]:
    """Return the claims that the second, and that the first, of each pair is better; each ordered pair is done once.

    Where the first is nobody, unseen errors are as likely as the guess says, plus 3%, and not uneven.
    """
    models, own = effects.nobody + 1, bool((first == effects.nobody).all())
    codes, places = np.unique(np.concatenate([first * models + second, second * models + first]), return_inverse=True)
    parts = []
    size = max(1, CELLS_AT_ONCE // drawn.weight.size)
    for start in range(0, codes.size, size):
        one, other = np.divmod(codes[start : start + size], models)
        error = effects.error[other] - effects.error[one]
        (loss, chance), gain = effects.losses(one, other), effects.losses(other, one)[0]
        uneven = effects.uneven and not own
        guard = drawn.guard(loss, effects.largest(one, other), chance if own or uneven else None, uneven=uneven)
        against = drawn.evidence(np.maximum(-error, 0), effects.capacity(one, other), loss)
        favour = drawn.evidence(np.maximum(error, 0), effects.capacity(other, one), gain)
        parts.append(Claim(against, favour, guard, None))
    whole: Claim = _each(lambda *values: np.concatenate(values), *parts)
    forward, backward = (replace(whole.at(at), sampling=sampling) for at in np.split(places, [first.size]))
    return forward, backward


def margins(
    effects: Effects, drawn: Drawn, *, level: float, sampled: bool, share: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Interval of each model's measure, shape (m,) each end. ``share``: of the rows, where they come in groups."""
    nobody = np.full(effects.nobody, effects.nobody)
    below, above = (
        claim.distance((1 - level) / 2) for claim in claims_of(effects, drawn, nobody, np.arange(nobody.size))
    )
    if sampled:
        reach = effects.sampling_reach(level, share)
        below, above = np.hypot(below, reach[0]), np.hypot(above, reach[1])
    return np.clip(effects.value - below, effects.lowest, 1), np.clip(effects.value + above, effects.lowest, 1)
