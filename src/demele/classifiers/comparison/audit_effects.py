"""Measures of all classes by a random audit: what rows add to them, by a guess of the true classes, and at most.

A measure is linearised at its estimate: a row of true class t that is predicted as p adds g[t, p]. A difference of two
models has the effects g2[t, p2] - g1[t, p1]. The last model is nobody, to whom no row adds anything: the difference of
a model and nobody is its measure. What the rows of a rare class add is large, also where no model predicts it, since
any row may truly be of it. The sums of the terms against a claim and for it get bounds of their own, which allow for
one more error of the weight that unseen errors have; their distances are combined in quadrature.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.comparison.grouped import degrees_of, design_effect
from demele.classifiers.comparison.table_difference import undefined_notes
from demele.classifiers.intervals import Guard, SampledSum, lower_bound, upper_bound
from demele.classifiers.question import Question
from demele.classifiers.row_groups import student_share
from demele.classifiers.table_measures import Slopes, Table, lowest_value
from demele.core.arrays import Floats, Rows
from demele.core.labelled import Indices, Labelled, shown
from demele.core.proportions import normal_quantile
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


class TableEffects:
    """Estimated measures of m models, and what each of k audited rows adds to them; in arrays of m + 1, nobody is last.

    The table of each model, by the guess and the audit's correction, is linearised. Estimated counts below 0 stay:
    cutting them off would favour one side. A class of less than half a row keeps the guess.

    Attributes
    ----------
    value : array of shape (m,)
        Estimated measure of each model.
    error : array of shape (m + 1, k)
        Residual of each audited row (true minus guessed effect).
    lowest : float
        Least value that the measure can have; the largest is 1.
    predictions : array of shape (m + 1, n)
    guess, own : Guess and array of shape (k, n_classes)
        Of the true classes, by all models; its probabilities of the audited rows.
    slopes : Slopes
        Of every model, at the estimated table.
    guessed : array of shape (m + 1,)
        Sum of the guessed effects of all rows.
    """

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
        self.value = table.value(measure)
        self.data, self.audit, self.predictions = data, audit, _and_nobody(predictions)
        self.lowest, self.guess, self.own = lowest_value(measure), guess, own
        self.slopes = Slopes(*map(_and_nobody, (slopes.same, slopes.true, slopes.said)))

    @property
    def nobody(self) -> int:
        """Index of the model without predictions."""
        return int(self.value.size)

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
        """Largest error against "second is better" that each audited row could have, and how likely; (pairs, k)."""
        losses = np.array([self._surprises(*pair)[0] for pair in _pairs(first, second)])
        # How likely each audited row is not of the class that seems likeliest.
        return losses, np.broadcast_to(1 - self.own.max(axis=1), losses.shape)

    def largest(self, first: Rows, second: Rows) -> Floats:
        """Largest error that any row could have, shape (1, pairs)."""
        # Of the audited rows: every class may be that of a row that was not audited.
        surprises = (self._surprises(*pair) for pair in _pairs(first, second))
        return np.array([[max(part.max() for part in parts) for parts in surprises]])

    def capacity(self, first: Rows, second: Rows) -> Floats:
        """Sum of the largest errors of all rows, audited or not, shape (pairs,)."""
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
        """Guessed effect of every row on a difference, and the root mean square of its effect; shape (n,) each."""
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


def _guessed_effects(slopes: Slopes, predicted: Indices, chances: Floats) -> Floats:
    """Return what rows add on average over their guessed classes, shape (rows,), of one model."""
    right = chances[np.arange(predicted.size), predicted]
    return np.asarray(slopes.same[predicted] * right + chances @ slopes.true + slopes.said[predicted])


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
    effects: TableEffects, drawn: Drawn, first: Rows, second: Rows, sampling: Sampling | None = None
) -> tuple[Claim, Claim]:
    """Return the claims that the second, and that the first, of each pair is better; each ordered pair is done once.

    Unseen errors are as likely as the guess says, plus 3%.
    """
    models, own = effects.nobody + 1, bool((first == effects.nobody).all())
    codes, places = np.unique(np.concatenate([first * models + second, second * models + first]), return_inverse=True)
    parts = []
    size = max(1, CELLS_AT_ONCE // drawn.weight.size)
    for start in range(0, codes.size, size):
        one, other = np.divmod(codes[start : start + size], models)
        error = effects.error[other] - effects.error[one]
        (loss, chance), gain = effects.losses(one, other), effects.losses(other, one)[0]
        guard = drawn.guard(loss, effects.largest(one, other), chance, uneven=not own)
        against = drawn.evidence(np.maximum(-error, 0), effects.capacity(one, other), loss)
        favour = drawn.evidence(np.maximum(error, 0), effects.capacity(other, one), gain)
        parts.append(Claim(against, favour, guard, None))
    whole: Claim = _each(lambda *values: np.concatenate(values), *parts)
    forward, backward = (replace(whole.at(at), sampling=sampling) for at in np.split(places, [first.size]))
    return forward, backward


class AuditedDifference(NamedTuple):
    """Estimated differences; how far they may lie below and above, at an error; and what the sampling of rows adds."""

    value: Floats
    distance: Callable[..., Floats]
    sampled: Floats
    notes: tuple[Note, ...] = ()


def table_difference(question: Question, audit: CodedAudit, models: Rows) -> AuditedDifference:
    """Estimate the difference of a measure of all classes of every pair; ``models``: sorted, all that are compared."""
    first, second = (np.searchsorted(models, role) for role in (question.baseline, question.candidate))
    effects, drawn, sampling = TableEffects(question, audit, models), Drawn.of(audit), None
    if question.inference == "population":
        variance, step = effects.sampling(first, second)
        groups, design, degrees = question.clusters, np.ones(first.size), None
        if groups is not None:
            degrees = np.ones(first.size)
            for pair, (one, other) in enumerate(_pairs(first, second)):
                expected, size = effects.terms(one, other)
                design[pair] = design_effect(expected, size, groups, float(variance[pair]))
                degrees[pair] = degrees_of(int(np.count_nonzero(groups.sums(size))), question.tail)
        sampling = Sampling(variance * design, step, degrees)
    claims = claims_of(effects, drawn, first, second, sampling)
    value = effects.value[second] - effects.value[first]
    for side, claim in ((-1, claims[0].against), (1, claims[0].favour)):  # what is certain, is not estimated
        value = value + side * (claim.total - claim.sampled.total)
    every = np.full(len(question.data.predictions), np.nan)
    every[models] = effects.value
    notes = (*few_in_class_notes(question, audit), *undefined_notes(question, every))

    def distance(tail: Any, *, below: bool) -> Floats:
        return claims[0 if below else 1].distance(tail)

    return AuditedDifference(value, distance, np.zeros(first.size), notes)


def table_ends(question: Question, audit: CodedAudit, models: Rows) -> tuple[Floats, Floats]:
    """Interval of each model's measure of all classes, shape (m,) each end."""
    effects, groups, tail = TableEffects(question, audit, models), question.clusters, question.tail
    nobody, every = np.full(models.size, models.size), np.arange(models.size)
    below, above = (claim.distance(tail) for claim in claims_of(effects, Drawn.of(audit), nobody, every))
    if question.inference == "population":
        shares = np.ones(models.size)
        for model in range(0 if groups is None else models.size):
            expected, size = effects.terms(effects.nobody, model)
            share = student_share(groups.count - 1, level=question.level)  # type: ignore[union-attr]
            shares[model] = share / design_effect(expected, size, groups, float(size @ size))  # type: ignore[arg-type]
        variance, step = effects.sampling(nobody, every)
        reach = normal_quantile(1 - tail) * np.sqrt(variance / shares) + step
        below, above = np.hypot(below, reach), np.hypot(above, reach)
    low, high = effects.value - below, effects.value + above
    return np.clip(low, effects.lowest, 1), np.clip(high, effects.lowest, 1)
