"""Measures of all classes as the guess of the true classes and an audit show them, and what each row can change.

A measure is linearised at the estimated table: a row of true class t that is predicted as p adds g[t, p]. So the same
sums as for accuracies follow, with effects g2[t, p2] - g1[t, p1] instead of 1, 0 and -1. The effects of rows of a rare
class are large, even if no model predicts it, since any row may truly be of it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Labelled, shown
from demele.core.results import Note
from demele.evaluation.comparison.audit_guess import Guess, fitted_guess
from demele.evaluation.intervals import normal_quantile
from demele.evaluation.question import Question
from demele.evaluation.table_measures import Slopes, Table, lowest_value
from demele.noise.audit import CodedAudit

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

#: A class of which fewer rows are estimated keeps what the guess says of it.
HALF_A_ROW = 0.5
#: The sampling variance is at least this share of what the guess says, whatever the audit makes of it.
LEAST_SHARE = 0.25
#: A class that fewer audited rows have to do with is named.
FEW_IN_CLASS = 5


@dataclass(frozen=True, slots=True)
class TableView:
    """A measure of all classes of every model, linearised.

    Attributes
    ----------
    data : Labelled
        With the models that are looked at only.
    audit : CodedAudit
    guess : Guess
        Of the true classes, by all models.
    measure : str
    value : array of shape (m,)
    slopes : Slopes
        Of every model, at the estimated table.
    error, guessed : arrays of shape (m, k) and (m,)
        What each audited row adds beyond the guess, and the guessed sum of what all rows add.
    own : array of shape (k, n_classes)
        Guessed probabilities of the audited rows.
    """

    data: Labelled
    audit: CodedAudit
    guess: Guess
    measure: str
    value: Floats
    slopes: Slopes
    error: Floats
    guessed: Floats
    own: Floats

    @property
    def trials(self) -> Floats:
        """Of a measure that is no proportion: rows."""
        return np.full(self.value.size, float(self.data.n))

    @property
    def uneven(self) -> bool:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        return True

    @property
    def lowest(self) -> float:
        """Least value that the measure can have."""
        return lowest_value(self.measure)

    def _expected(self, model: int) -> Floats:
        """Return what each audited row adds by the guess, shape (k,)."""
        said = self.data.predictions[model, self.audit.rows]
        return _guessed_effects(self.slopes.of(model), said, self.own)

    def _extremes(self, first: int | None, second: int, rows: Positions) -> tuple[Floats, Floats]:
        """Least and largest that rows could add to a difference, or to one value, over all classes; shape (rows,)."""
        low, high = np.full(rows.size, np.inf), np.full(rows.size, -np.inf)
        for truth in range(self.data.k):
            effect = self._effect(truth, first, second, rows)
            low, high = np.minimum(low, effect), np.maximum(high, effect)
        return low, high

    def _effect(self, truth: Any, first: int | None, second: int, rows: Positions) -> Floats:
        """Return what rows add if they are truly of a class."""
        found = self.slopes.of(second).at(truth, self.data.predictions[second, rows])
        if first is not None:
            found = found - self.slopes.of(first).at(truth, self.data.predictions[first, rows])
        return found

    def _losses(self, first: int | None, second: int) -> tuple[Floats, Floats]:
        """Largest loss and largest gain of each audited row beyond the guess, shape (k,) each."""
        low, high = self._extremes(first, second, self.audit.rows)
        mean = self._expected(second) - (0.0 if first is None else self._expected(first))
        return np.maximum(mean - low, 0.0), np.maximum(high - mean, 0.0)

    def _unsure(self) -> Floats:
        """How likely each audited row is not of the class that seems likeliest."""
        found: Floats = 1 - self.own.max(axis=1)
        return found

    def threat(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        losses = [self._losses(int(one), int(other))[0] for one, other in zip(first, second, strict=True)]
        return np.array(losses), np.broadcast_to(self._unsure(), (len(losses), self.audit.k))

    def largest(self, first: Positions, second: Positions) -> Floats:
        """Largest loss or gain of the audited rows: every class may be that of a row that was not audited."""
        pairs = zip(first, second, strict=True)
        return np.array([[max(part.max() for part in self._losses(int(one), int(other))) for one, other in pairs]])

    def capacity(self, first: Positions, second: Positions) -> Floats:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        pairs = zip(first, second, strict=True)
        least = np.array([self._least_sum(int(one), int(other)) for one, other in pairs])
        found: Floats = self.guessed[second] - self.guessed[first] - least
        return found

    def _least_sum(self, first: int | None, second: int, side: int = 1) -> float:
        """Sum over all rows of the least that each could add (side 1), or of minus the largest (-1)."""
        said = self.data.predictions
        codes = said[second].astype(np.intp) * self.data.k + (0 if first is None else said[first])
        _, rows, counts = np.unique(codes, return_index=True, return_counts=True)
        low, high = self._extremes(first, second, rows)
        return float(counts @ (low if side == 1 else -high))

    def own_threat(self, side: int) -> tuple[Floats, Floats]:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        found = np.array([self._losses(None, model)[0 if side == 1 else 1] for model in range(self.value.size)])
        return found, np.broadcast_to(self._unsure(), found.shape)

    def own_largest(self) -> Floats:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        return np.array([max(part.max() for part in self._losses(None, model)) for model in range(self.value.size)])

    def own_capacity(self, side: int) -> Floats:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        least = np.array([self._least_sum(None, model, side) for model in range(self.value.size)])
        found: Floats = side * self.guessed - least
        return found

    def sampling(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        """Variance of the sum of effects, and half of the largest that a row has by what is known of it.

        The guessed sum of squares is corrected by the audit, as the estimates are, but not below a quarter of itself.
        """
        found = [self._spread(int(one), int(other)) for one, other in zip(first, second, strict=True)]
        return np.array([variance for variance, _ in found]), np.array([step for _, step in found])

    def own_sampling(self, level: float, share: Floats | float) -> tuple[Floats, Floats]:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        spreads = [self._spread(None, model) for model in range(self.value.size)]
        deviation = np.sqrt(np.array([variance for variance, _ in spreads]) / share)
        reach = normal_quantile((1 + level) / 2) * deviation + np.array([step for _, step in spreads])
        return reach, reach

    def _spread(self, first: int | None, second: int) -> tuple[float, float]:
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
        told = self.data.labels.copy()
        told[rows] = self.audit.labels
        step = float(np.abs(self._effect(told, first, second, np.arange(self.data.n))).max()) / 2
        return max(corrected, LEAST_SHARE * guessed), step

    def terms(self, first: int | None, second: int) -> tuple[Floats, Floats]:
        """As of accuracies, in :mod:`~demele.evaluation.comparison.audit_views`."""
        mean, square = np.zeros(self.data.n), np.zeros(self.data.n)
        for rows, chances in self.guess.everywhere():
            for truth in range(self.data.k):
                effect = self._effect(truth, first, second, rows)
                mean[rows] += chances[:, truth] * effect
                square[rows] += chances[:, truth] * effect**2
        return mean, np.sqrt(square)


def table_view(question: Question, audit: CodedAudit, models: Positions) -> TableView:
    """Estimate the table of each model by the guess and what the audit corrects of it, and linearise the measure.

    Estimated counts below 0 stay: cutting them off would favour one side. A class of less than half a row keeps the
    guess.
    """
    data = question.data
    guess = fitted_guess(data, audit)
    alone = Labelled(
        data.labels, data.predictions[models], tuple(data.names[model] for model in models), data.vocabulary
    )
    said = alone.predictions
    hits, true = np.zeros((models.size, data.k)), np.zeros(data.k)
    for rows, chances in guess.everywhere():
        true += chances.sum(axis=0)
        for model, predicted in enumerate(said[:, rows]):
            right = chances[np.arange(rows.size), predicted]
            hits[model] += np.bincount(predicted, weights=right, minlength=data.k)
    own, weight = guess.of(audit.rows), 1 / audit.inclusion
    news = np.eye(data.k)[audit.labels] - own
    estimated = true + weight @ news
    known = estimated >= HALF_A_ROW
    for model, predicted in enumerate(said[:, audit.rows]):
        surprise = weight * news[np.arange(audit.k), predicted]
        hits[model] += np.where(known, np.bincount(predicted, weights=surprise, minlength=data.k), 0.0)
    true = np.where(known, estimated, true)
    counts = np.array([np.bincount(one, minlength=data.k) for one in said], dtype=np.float64)
    table = Table(hits, np.broadcast_to(true, hits.shape), counts)
    slopes = table.slopes(question.measure)
    guessed, error = np.zeros(models.size), np.zeros((models.size, audit.k))
    for model, predicted in enumerate(said):
        one = slopes.of(model)
        for rows, chances in guess.everywhere():
            guessed[model] += float(_guessed_effects(one, predicted[rows], chances).sum())
        at = predicted[audit.rows]
        error[model] = one.at(audit.labels, at) - _guessed_effects(one, at, own)
    value = table.value(question.measure)
    return TableView(alone, audit, guess, question.measure, value, slopes, error, guessed, own)


def _guessed_effects(slopes: Slopes, predicted: Positions, chances: Floats) -> Floats:
    """Return what rows add on average over their guessed classes, shape (rows,), of one model."""
    right = chances[np.arange(predicted.size), predicted]
    found: Floats = slopes.same[predicted] * right + chances @ slopes.true + slopes.said[predicted]
    return found


def few_in_class_notes(question: Question, audit: CodedAudit) -> tuple[Note, ...]:
    """Name the classes with few audited rows: predicted, labelled or audited as such."""
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
        f"what is not known of them keeps the interval of {question.measure} wide; audit more rows, or compare "
        "the accuracy"
    )
    return (Note(code="few-audited-in-class", message=message, subject=names, severity="warning"),)
