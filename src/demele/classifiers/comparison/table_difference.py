"""Comparison of measures of all classes, linearised row by row: on labels that are believed, and by a random audit.

A measure of the whole table is not a proportion, so there are no two score intervals to compare. A row of true class t
that is predicted as p adds g[t, p] to it, and g2[t, p2] - g1[t, p1] to the difference of two models; that of a model
and nobody, to whom no row adds anything, is its measure. Rows with equal predictions still count, because they move
both values, but almost equally.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from demele.classifiers.comparison.worst_case import degrees_of, design_effect, even_steps
from demele.classifiers.intervals import SampledSum, lower_bound, upper_bound
from demele.classifiers.question import Groups, Outcomes, Question, as_value
from demele.classifiers.table_measures import (
    Table,
    lowest_value,
    refuse_empty_classes,
    row_effects,
    table_value,
)
from demele.core.arrays import Floats, Rows
from demele.core.labelled import Labelled, shown
from demele.core.proportions import normal_quantile
from demele.core.result import Note
from demele.noise.audit import CodedAudit

#: Classes with fewer labelled rows are named.
SMALL_CLASS = 20


def linearised(question: Question, *, assumptions: tuple[str, ...], argument: str) -> Outcomes:
    """Decide every pair by an interval of the difference of a measure of all classes.

    Notes
    -----
    Row i adds f_i to the difference (the derivative of each measure at its own table, by the cell of the row), and the
    f_i sum to 0. The distance is z sqrt(sum f_i^2) + max |f_i| / 2: the last term, half of the largest step, stands for
    that the difference cannot take every value. Few rows that differ make no normal sum, so the distance is at least
    what as many even steps do by the binomial distribution. Of groups, f_i is the sum over a
    group, the variance has the factor G / (G - 1), and z is that of the t distribution.
    """
    data, measure = question.data, question.measure
    refuse_empty_classes(data, measure, argument)
    roles = question.baseline, question.candidate
    effects = {model: row_effects(data, measure, model) for model in np.unique(np.concatenate(roles)).tolist()}
    apart = (effects[second] - effects[first] for first, second in zip(*(role.tolist() for role in roles), strict=True))
    distance = np.array([reach_of(one, question.clusters, question.tail) for one in apart])
    values, (own_low, own_high) = table_value(data, measure), model_ends(question)
    difference = values[question.candidate] - values[question.baseline]
    low, high = difference - distance, difference + distance
    return Outcomes(
        candidate=low > 0,
        baseline=high < 0,
        difference=difference,
        low=low,
        high=high,
        method="linearised difference" if question.clusters is None else "linearised difference of groups",
        baseline_interval=(own_low[question.baseline], own_high[question.baseline]),
        candidate_interval=(own_low[question.candidate], own_high[question.candidate]),
        assumptions=assumptions,
        notes=undefined_notes(question, values),
    )


def model_ends(question: Question) -> tuple[Floats, Floats]:
    """Interval of the measure of every compared model on the given labels, shape (n_models,) each end."""
    if not question.of_table:
        low, high = (as_value(end, question.measure) for end in question.score_ends)
        return low, high
    ends = np.full((len(question.data.predictions), 2), np.nan)
    for model in np.unique(np.concatenate([question.baseline, question.candidate])):
        ends[model] = own_ends(question, int(model))
    return ends[:, 0], ends[:, 1]


def reach_of(effects: Floats, groups: Groups | None, tail: float, more: float | None = None) -> float:
    """How far a sum may be off, at an error of ``tail``, from what each row adds to it, shape (n,).

    ``more``: further variance of one model's own measure; without it, the sum is a difference.
    """
    spread, quantile = 1.0, normal_quantile(1 - tail)
    if groups is not None:
        from scipy.special import stdtrit

        met = groups.count if more is not None else int(np.count_nonzero(groups.sums(np.abs(effects))))
        effects, spread = groups.sums(effects), groups.spread()
        quantile = float(stdtrit(degrees_of(met, tail), 1 - tail))
    size = np.abs(effects)
    normal = quantile * float(np.sqrt(spread * (effects @ effects) + (more or 0.0))) + float(size.max()) / 2
    return normal if more is not None else max(normal, even_steps(size, tail)[0])


def own_ends(question: Question, model: int) -> tuple[float, float]:
    """Interval of a measure of all classes of one model on the given labels; NaN where it is not defined.

    Notes
    -----
    As the difference, by one model's own f_i, with one row more of each class that is predicted as any other class: a
    classifier that is always right on 20 rows of a class is not always right.
    """
    data, measure, tail = question.data, question.measure, question.tail
    table = Table.of(data.predictions[[model]], data.labels, data.k)
    value = float(table.value(measure)[0])
    if not np.isfinite(value):
        return float("nan"), float("nan")
    slopes = table.slopes(measure).of(0)
    moved = slopes.true[:, None] + slopes.said[None, :]
    np.fill_diagonal(moved, 0.0)
    more = float((moved**2).sum()) / (data.k - 1)
    if question.clusters is not None:
        more *= float(question.clusters.sizes @ question.clusters.sizes) / data.n
    distance = reach_of(slopes.at(data.labels, data.predictions[model]), question.clusters, tail, more)
    return max(value - distance, lowest_value(measure)), min(value + distance, 1.0)


def table_notes(question: Question) -> tuple[Note, ...]:
    """Say what a measure of all classes needs to be read with: small classes, models no better than chance.

    The data are of the compared models alone.
    """
    data, measure = question.data, question.measure
    notes = []
    small = np.flatnonzero(np.bincount(data.labels, minlength=data.k) < SMALL_CLASS)
    if small.size and measure != "matthews":
        names = tuple(str(data.vocabulary.classes[k]) for k in small)
        message = f"{small.size} of {data.k} classes have fewer than {SMALL_CLASS} labelled rows: {shown(names)}"
        notes.append(Note(code="small-classes", message=message, subject=names))
    balanced = replace(question, measure="balanced-accuracy")
    weak = tuple(name for model, name in enumerate(data.names) if own_ends(balanced, model)[0] <= 1 / data.k)
    if weak:
        least = f"a classifier that always predicts one class ({1 / data.k:.2%} balanced accuracy)"
        message = f"not shown to beat {least}: {shown(weak)}; check that predictions and labels have the same rows"
        notes.append(Note(code="one-class", message=message, subject=weak, severity="warning"))
    return tuple(notes)


def undefined_notes(question: Question, values: Floats) -> tuple[Note, ...]:
    """Name the models that a measure is not defined for; ``values``: of every model."""
    compared = sorted({*question.baseline.tolist(), *question.candidate.tolist()})
    names = tuple(question.data.names[model] for model in compared if not np.isfinite(values[model]))
    if not names:
        return ()
    message = f"the Matthews correlation of {', '.join(map(repr, names))} is not defined: only one class is predicted"
    return (Note(code="undefined", message=message, subject=names, severity="warning"),)


# By a random audit ----------------------------------------------------------------------------------------------------


#: Cells of a table held at a time.
CELLS_AT_ONCE = 1 << 22
#: Every class has half a vote more than it got, so that none is impossible.
HALF_VOTE = 0.5
#: Log-odds that every model is granted at least, so that none is without a vote.
LEAST_SKILL = 0.1
#: Presumed weights of the logarithm of the votes and of the label, and how firmly, in audited rows of a clear case.
PRESUMED = np.array([1.0, 2.0])
PRESUMPTION = 0.1
#: A class of which fewer rows are estimated keeps what the guess says of it.
HALF_A_ROW = 0.5
#: The sampling variance is at least this share of that by the guess, whatever the audit makes of it.
LEAST_SHARE = 0.25
#: A class that fewer audited rows have to do with is named.
FEW_IN_CLASS = 5
#: Numbers that an estimate takes from the audit: two weights and the mean.
FITTED = 3
#: However sure the guess, an error is taken to be this likely, when the weight of unseen errors is judged by it.
DISTRUST = 0.03


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
        from scipy.special import softmax

        votes, label = self.scores(rows)
        return np.asarray(softmax(self.weights[0] * votes + self.weights[1] * label, axis=1))

    def everywhere(self) -> Iterator[tuple[Rows, Floats]]:
        """Return those of all rows, some at a time: rows, and shape (rows, classes)."""
        size = max(1, CELLS_AT_ONCE // max(self.data.k, len(self.data.predictions)))
        for start in range(0, self.data.n, size):
            rows = np.arange(start, min(start + size, self.data.n))
            yield rows, self.of(rows)


def fitted_guess(data: Labelled, audit: CodedAudit) -> Guess:
    """Return the guess that makes the expert's labels likeliest: a concave function of two numbers."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    hits = np.count_nonzero(data.right, axis=1)
    # The vote of each model: the squared log-odds of agreeing with the given labels, 1 on average.
    skill = np.maximum(np.log((hits + 1) / (data.n - hits + 1)), LEAST_SKILL) ** 2
    guess = Guess(data, skill / skill.mean(), PRESUMED)
    tables = np.stack(guess.scores(audit.rows), axis=-1)
    expert = tables[np.arange(audit.k), audit.labels]

    def loss(at: Floats) -> tuple[float, Floats]:
        """Return minus the log likelihood with the presumed weights, and its slope."""
        logits, away = tables @ at, at - PRESUMED
        means = np.einsum("kc,kcp->kp", softmax(logits, axis=1), tables)
        value = (logsumexp(logits, axis=1) - expert @ at).sum() + PRESUMPTION / 2 * (away @ away)
        return float(value), (means - expert).sum(axis=0) + PRESUMPTION * away

    return replace(guess, weights=minimize(loss, PRESUMED, jac=True, method="BFGS", options={"gtol": 1e-9}).x)


class AuditedTables:
    """Estimated tables of models, by a guess of the true classes and the audit's correction, linearised.

    Estimated counts below 0 stay: cutting them off would favour one side. A class of less than half a row keeps the
    guess.

    Attributes
    ----------
    value : array of shape (m,)
        Estimated measure of each model.
    slopes : Slopes
        Of every model, at the estimated table.
    """

    def __init__(self, question: Question, audit: CodedAudit, models: Rows) -> None:
        data, guess, predictions = question.data, fitted_guess(question.data, audit), question.data.predictions[models]
        hits, true = np.zeros((models.size, data.k)), np.zeros(data.k)
        for rows, chances in guess.everywhere():
            true += chances.sum(axis=0)
            for model, predicted in enumerate(predictions[:, rows]):
                right = chances[np.arange(rows.size), predicted]
                hits[model] += np.bincount(predicted, weights=right, minlength=data.k)
        self.own, self.weight = guess.of(audit.rows), 1 / audit.inclusion
        news = np.eye(data.k)[audit.labels] - self.own
        estimated = true + self.weight @ news
        known = estimated >= HALF_A_ROW
        for model, predicted in enumerate(predictions[:, audit.rows]):
            surprise = self.weight * news[np.arange(audit.k), predicted]
            hits[model] += np.where(known, np.bincount(predicted, weights=surprise, minlength=data.k), 0.0)
        true = np.where(known, estimated, true)
        counts = np.array([np.bincount(one, minlength=data.k) for one in predictions], dtype=np.float64)
        table = Table(hits, np.broadcast_to(true, hits.shape), counts)
        self.value, self.slopes = table.value(question.measure), table.slopes(question.measure)
        self.question, self.audit, self.guess, self.predictions = question, audit, guess, predictions

    def adds(self, truth: Any, first: int, second: int, rows: Any) -> Floats:
        """Return what rows add to a difference if they are truly of a class; no ``first`` (-1) is nobody."""
        found = self.slopes.of(second).at(truth, self.predictions[second, rows])
        return found if first < 0 else found - self.slopes.of(first).at(truth, self.predictions[first, rows])

    def shown(self, first: int, second: int) -> tuple[float, list[list[float]], tuple[float, float, float]]:
        """Gather what the audit shows of one pair.

        Returns
        -------
        value : float
        sums : list of two lists
            Of errors against "the second is better", and for it: their sums over the audited rows with weights w,
            spare w (w - 1) and squared with w; the sum without weights, which is certain; what rows that were not
            audited can add; weight and amount of one unseen error.
        sampling : tuple
            Variance, what half a step moves, and the degrees of freedom.
        """
        data, audit, weight, rows = self.question.data, self.audit, self.weight, self.audit.rows
        mean, square, least, most = np.empty((4, data.n))
        for some, chances in self.guess.everywhere():
            adds = self.adds(np.arange(data.k), first, second, some[:, None])
            mean[some], square[some] = (chances * adds).sum(axis=1), (chances * adds**2).sum(axis=1)
            least[some], most[some] = adds.min(axis=1), adds.max(axis=1)
        truly = self.adds(audit.labels, first, second, rows)
        error, reaches = truly - mean[rows], (mean - least, most - mean)
        largest = max(float(reach[rows].max()) for reach in reaches)
        spare = audit.k / (audit.k - FITTED) if audit.k > 2 * FITTED else 2.0
        sums = []
        for sign, reach in zip((-1, 1), reaches, strict=True):
            met, possible = np.maximum(sign * error, 0), np.maximum(reach[rows], 0.0)
            seen = SampledSum.of(met, weight, spare=spare)
            room = max(float(reach.sum() - possible.sum()), 0.0)
            guard = self.guard(possible, largest, uneven=first >= 0)
            sums.append([*map(float, (seen.total, seen.variance, seen.squares)), float(met.sum()), room, *guard])
        value = float(self.value[second] - (self.value[first] if first >= 0 else 0.0))
        if self.question.inference != "population":
            return value, sums, (0.0, 0.0, np.inf)
        # The guessed sum of squares is corrected by the audit, as the estimates are, but not below a quarter of itself.
        guessed = float(square.sum() - mean.sum() ** 2 / data.n)
        variance = max(guessed + float((truly**2 - square[rows]) @ weight), LEAST_SHARE * guessed)
        labels = data.labels.copy()
        labels[rows] = audit.labels
        step = float(np.abs(self.adds(labels, first, second, np.arange(data.n))).max()) / 2
        groups, degrees = self.question.clusters, np.inf
        if groups is not None:
            size, own = np.sqrt(square), first < 0
            variance *= design_effect(mean, size, groups, float(size @ size) if own else variance)
            counted = groups.count if own else int(np.count_nonzero(groups.sums(size)))
            degrees = degrees_of(counted, self.question.tail)
        return value, sums, (variance, step, degrees)

    def guard(self, loss: Floats, largest: float, *, uneven: bool) -> tuple[float, float]:
        """Return the weight and the size of one unseen error, from what each audited row can lose.

        Uniform audits: the largest there is. Weighted ones: means over the audited rows that could have had one, each
        as likely as the guess says, plus 3%. The means get one more row, with the largest possible error and the
        largest weight of those rows: if one disagreement was drawn, with a small possible loss, the others could still
        lose much. Stratified audits get one such row per stratum.

        Where what rows can lose is ``uneven``, as between a rare class and a frequent one, no more row stands there:
        any row may truly be of the rare class, so that with the largest error there is intervals say nothing.
        """
        weight, heaviest = self.weight, float(self.weight.max())
        each, spread = (1 - self.own.max(axis=1) + DISTRUST) * loss, weight * (weight - 1)
        worst = np.max(weight, where=loss > 0, initial=0.0, keepdims=True)
        if self.audit.within is not None:
            worst = np.array([weight[drawn].max(initial=1.0) for _, drawn in self.audit.strata])
        elif worst <= 1:
            worst[:] = heaviest
        more = (0.0 if uneven else largest) * worst * (worst - 1)
        size = float(each @ spread + more.sum())
        if self.audit.design == "uniform" or size <= 0:
            return heaviest, largest
        at = float(each @ (spread * weight) + (more * worst).sum()) / size
        return at, float((each * loss) @ spread + (more * largest).sum()) / size


class AuditedDifference(NamedTuple):
    """Estimated differences; how far they may lie below and above, at an error; and what the sampling of rows adds."""

    value: Floats
    distance: Callable[..., Floats]
    sampled: Floats
    notes: tuple[Note, ...] = ()


def audited_tables(
    question: Question, audit: CodedAudit, models: Rows
) -> tuple[AuditedDifference, tuple[Floats, Floats]]:
    """Estimate the difference of a measure of all classes of every pair, and the interval of each model's measure.

    Unseen errors are allowed for by one more of the weight that they have. The distances of errors against a claim,
    of those for it, and of the sampling of the test set are combined in quadrature. ``models``: sorted, all that are
    compared.
    """
    from scipy.special import stdtrit

    tables, m = AuditedTables(question, audit, models), models.size
    first, second = (np.searchsorted(models, role).tolist() for role in (question.baseline, question.candidate))
    pairs = [*((-1, model) for model in range(m)), *zip(first, second, strict=True)]
    values, sums, sampling = map(np.array, zip(*(tables.shown(*pair) for pair in pairs), strict=True))
    total, spread, squares, certain, room, weight, amount = sums.transpose(2, 1, 0)
    variance, step, degrees = sampling.T
    seen, likely = SampledSum(total, spread, squares), np.clip(total, certain, certain + room)
    value = values + (likely - total)[1] - (likely - total)[0]
    population = question.inference == "population"

    def distance(tail: Any, *, below: bool) -> Floats:
        against, favour = (0, 1) if below else (1, 0)
        high = np.clip(upper_bound(seen, weight, amount, tail), likely, certain + room)[against] - likely[against]
        low = (likely - np.clip(lower_bound(seen, tail), certain, likely))[favour]
        rows = -stdtrit(degrees, tail) * np.sqrt(variance) + step if population else 0.0
        return np.asarray(np.sqrt(high**2 + low**2 + rows**2))

    lowest = lowest_value(question.measure)
    ends = value - distance(question.tail, below=True), value + distance(question.tail, below=False)
    every = np.full(len(question.data.predictions), np.nan)
    every[models] = tables.value
    notes, data = undefined_notes(question, every), question.data
    columns = [audit.labels, data.labels[audit.rows], *data.predictions[models][:, audit.rows]]
    met = [np.count_nonzero(np.any([column == k for column in columns], axis=0)) for k in range(data.k)]
    few = tuple(str(data.vocabulary.classes[k]) for k in np.flatnonzero(np.array(met) < FEW_IN_CLASS))
    if few:
        rare = f"fewer than {FEW_IN_CLASS} audited rows have to do with {len(few)} of {data.k} classes, {shown(few)}"
        message = f"{rare}: the interval is wide; audit more rows, or compare the accuracy"
        notes = Note(code="few-audited-in-class", message=message, subject=few, severity="warning"), *notes

    def of_pairs(tail: Any, *, below: bool) -> Floats:
        return distance(np.r_[np.full(m, question.tail), np.broadcast_to(tail, len(pairs) - m)], below=below)[m:]

    difference = AuditedDifference(value[m:], of_pairs, np.zeros(len(pairs) - m), notes)
    return difference, (np.clip(ends[0][:m], lowest, 1), np.clip(ends[1][:m], lowest, 1))
