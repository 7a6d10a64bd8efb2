"""Comparison by a random audit: given labels of all rows, an expert's labels of a sample, one estimate for every pair.

What the labels say of a pair is corrected by what the sample shows of their errors. The correction is a difference
estimator: a guess of the true class of every row, from the given label and the votes of all models, plus the sampled
errors of that guess, each over the probability with which its row was drawn. However bad the guess, the sum is right on
average; a good guess makes it sharp. Errors of labels are rare, and a sample that meets none would look certain to a
normal interval. So the two directions, errors against a claim and for it, get gamma bounds each, which allow for one
unseen error of the weight that unseen errors have.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.labelled import Indices, Labelled
from demele.core.results import Note
from demele.evaluation.audit_interval import total_bounds
from demele.evaluation.comparison.base import Outcomes, Question
from demele.evaluation.intervals import overlap_reach, score_interval

if TYPE_CHECKING:
    from demele.labels.audit import CodedAudit

__all__ = ["audited"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Positions = NDArray[np.intp]

#: Cells of a table held at a time.
CELLS_AT_ONCE = 1 << 22
#: Every class has half a vote more than it got, so that none is impossible.
HALF_VOTE = 0.5
#: Log-odds that every model is granted at least, so that none is without a vote.
LEAST_SKILL = 0.1
#: Presumed weights of the logarithm of the votes and of the label, and how firmly, in audited rows of a clear case.
PRESUMED = np.array([1.0, 2.0])
PRESUMPTION = 0.1
#: Numbers that an estimate takes from the audit: two weights and the mean.
FITTED = 3
#: However sure the guess, an error is taken to be this likely, when the weight of unseen errors is judged.
DISTRUST = 0.03
#: A smaller audit says hardly anything.
FEW_LABELS = 20


def audited(question: Question) -> Outcomes:
    """Decide every pair by one random audit.

    Parameters
    ----------
    question : Question
        With an audit of design ``"uniform"`` or ``"weighted"``, for any measure and target. With a ``"selective"`` one
        and the noise supplied: the bounded comparison, for accuracy.

    Returns
    -------
    Outcomes
        ``"population"`` adds the sampling error of the test set; ``"sample"`` does not; ``"overlap"`` asks for the
        distance at which the two score intervals on right labels would be apart.

    Raises
    ------
    InputError
        For a selective audit without knowledge of the noise.

    Notes
    -----
    Guess: P(true class = c) proportional to (votes for c + 1/2)^a exp(b [label = c]), a and b fitted to the audited
    rows; a model votes with the squared log-odds of agreeing with the given labels. Accuracy of a model: mean guess of
    its predictions, plus the sum over the audit of ([right] - guess) / (n pi). The difference of two models is the
    difference of these. Precision, recall, F1: the same for the linearised ratio.

    With y the sum of the terms against a claim and v its variance, the upper bound of y is that of Fay and Feuer
    (1997), which counts one term more. For a uniform audit, that is the largest possible one; for a weighted audit, the
    mean by size of the terms that audited rows could have had, each as likely as the guess says plus 3%. The terms for
    a claim get the lower bound. Both distances, and that of the sampling of the test set for the population, are
    combined in quadrature. No theorem covers the whole; its level was measured by simulation.

    Cost: O(models n) for the guess, O(pairs k) for an audit of k rows.
    """
    audit = _audit(question)
    if audit.design == "selective":
        return _selective(question)
    models, positions = np.unique(np.concatenate([question.established, question.candidate]), return_inverse=True)
    first, second = positions[: question.n_pairs], positions[question.n_pairs :]
    view = _accuracy_view(question, models) if question.measure == "accuracy" else _class_view(question, models)
    drawn = _Drawn.of(audit)
    sampling = view.sampling(first, second) if question.target == "population" else None
    claims = _claims(view, drawn, first, second, sampling)
    design_ends = _margins(view, drawn, question, sampled=False)
    # The difference must exceed this, to be claimed either way.
    needed = np.zeros(first.size)
    if question.target == "overlap":
        half = _half_widths(view, design_ends, question.level)
        needed = half[first] + half[second]
    difference = view.value[second] - view.value[first]
    below, above = (claim.distance(question.tail) for claim in claims)
    ends = design_ends if sampling is None else _margins(view, drawn, question, sampled=True)
    return Outcomes(
        candidate=difference - below > needed,
        established=-difference - above > needed,
        difference=difference,
        low=np.maximum(difference - below, -1.0),
        high=np.minimum(difference + above, 1.0),
        method="audit, gamma bounds in quadrature",
        kind="design" if sampling is None else "sampling",
        p_value=claims[0].p_value(difference - needed),
        established_interval=(ends[0][first], ends[1][first]),
        candidate_interval=(ends[0][second], ends[1][second]),
        assumptions=_assumptions(audit),
        notes=_notes(audit),
        details={"audited": audit.k, "difference_needed": needed},
    )


def _audit(question: Question) -> "CodedAudit":
    audit: CodedAudit = question.audit  # type: ignore[assignment]  # demanded by the catalogue of methods
    return audit


# --- the guess of every row's true class ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Guess:
    """Guessed probabilities of the true class of a row, from given labels and votes.

    ``votes``: of each model, 1 on average. ``weights``: of the logarithm of the votes, and of the given label.
    """

    data: Labelled
    votes: Floats
    weights: Floats

    def scores(self, rows: Positions) -> tuple[Floats, Floats]:
        """Logarithm of the votes for each class, and whether it is the label; both of shape (rows, classes)."""
        data = self.data
        predictions = data.predictions[:, rows]
        places = (predictions + np.arange(rows.size) * data.k).ravel()
        sums = np.bincount(places, np.repeat(self.votes, rows.size), rows.size * data.k).reshape(rows.size, data.k)
        return np.log((sums + HALF_VOTE) / (len(predictions) + HALF_VOTE * data.k)), np.eye(data.k)[data.labels[rows]]

    def of(self, rows: Positions) -> Floats:
        """Return the probabilities of some rows, shape (rows, classes)."""
        votes, label = self.scores(rows)
        return _probabilities(self.weights[0] * votes + self.weights[1] * label)

    def everywhere(self) -> Iterator[tuple[Positions, Floats]]:
        """Return those of all rows, some at a time: rows, and shape (rows, classes)."""
        size = max(1, CELLS_AT_ONCE // max(self.data.k, len(self.data.predictions)))
        for start in range(0, self.data.n, size):
            rows = np.arange(start, min(start + size, self.data.n))
            yield rows, self.of(rows)


def _votes(data: Labelled) -> Floats:
    """Return the vote of each model: the squared log-odds of agreeing with the given labels, 1 on average."""
    hits = np.count_nonzero(data.predictions == data.labels, axis=1)
    skill = np.maximum(np.log((hits + 1) / (data.n - hits + 1)), LEAST_SKILL) ** 2
    votes: Floats = skill / skill.mean()
    return votes


def _probabilities(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def _fitted(data: Labelled, audit: "CodedAudit") -> _Guess:
    """Return the guess that makes the expert's labels likeliest, by Newton's method (concave, two numbers)."""
    guess = _Guess(data, _votes(data), PRESUMED)
    tables = np.stack(guess.scores(audit.rows), axis=-1)
    told = tables[np.arange(audit.k), audit.labels]
    weights = PRESUMED.copy()

    def likelihood(at: Floats) -> float:
        logits = tables @ at
        top = logits.max(axis=1)
        log_total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        return float((told @ at - log_total).sum() - PRESUMPTION / 2 * ((at - PRESUMED) ** 2).sum())

    best = likelihood(weights)
    for _ in range(50):
        chances = _probabilities(tables @ weights)
        means = np.einsum("kc,kcp->kp", chances, tables)
        slope = (told - means).sum(axis=0) - PRESUMPTION * (weights - PRESUMED)
        curve = np.einsum("kc,kcp,kcq->pq", chances, tables, tables) - means.T @ means + PRESUMPTION * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while np.abs(step).max() > 1e-9 and likelihood(weights + step) < best:
            step = step / 2
        weights = weights + step
        best = likelihood(weights)
        if np.abs(step).max() < 1e-9:
            break
    return replace(guess, weights=weights)


# --- what guess and audit say of every model ------------------------------------------------------------------------


class _View(Protocol):
    """Every model as guess and audit show it.

    ``value``: estimated measure, shape (m,); ``trials``: its estimated denominator; ``error``: what each audited row
    adds to the value beyond the guess, per unit of weight, shape (m, k).
    """

    @property
    def value(self) -> Floats: ...
    @property
    def trials(self) -> Floats: ...
    @property
    def error(self) -> Floats: ...

    def threat(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        """Largest error against "second is better" that each audited row could have had, and how likely it seemed.

        Both of shape (pairs, k).
        """
        ...

    def largest(self, first: Positions, second: Positions) -> Floats:
        """Largest that any row could have, shape (pairs,)."""
        ...

    def own_threat(self, side: int) -> tuple[Floats, Floats]:
        """Largest error by which each audited row could lower (side 1) or raise (-1) a value, and how likely it seemed.

        Both of shape (m, k).
        """
        ...

    def sampling(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        """Variance of the difference over test sets, if there is none, and the step of one row; shape (pairs,)."""
        ...


@dataclass(frozen=True, slots=True)
class _AccuracyView:
    """Accuracies.

    ``at`` and ``guess``: predictions of shape (m, k) on audited rows, and the probability guessed for them. ``apart``:
    rows on which two models differ, shape (m, m).
    """

    value: Floats
    trials: Floats
    error: Floats
    at: Indices
    guess: Floats
    apart: Floats

    def threat(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        # At worst the first is right.
        loss = 1 + self.guess[second] - self.guess[first]
        return np.where(self.at[first] != self.at[second], loss, 0.0) / self.trials[0], self.guess[first]

    def largest(self, first: Positions, second: Positions) -> Floats:
        found: Floats = np.where(self.apart[first, second] > 0, 2.0, 0.0) / self.trials[0]
        return found

    def own_threat(self, side: int) -> tuple[Floats, Floats]:
        parts = (self.guess, 1 - self.guess) if side == 1 else (1 - self.guess, self.guess)
        return parts[0] / self.trials[0], parts[1]

    def sampling(self, first: Positions, second: Positions) -> tuple[Floats, Floats]:
        n = float(self.trials[0])
        variance: Floats = self.apart[first, second] / n**2
        return variance, np.full(first.size, 1 / n)


@dataclass(frozen=True, slots=True)
class _ClassView:
    """Precisions, recalls or F1 of one class, linearised: a row adds ``effect[model, truly so, predicted so]``.

    ``at``: whether the audited rows are predicted so, shape (m, k); ``guess``: probability that they truly are, shape
    (k,). ``rows`` and ``true``: rows, and the guessed number truly so, by (first predicts it, second predicts it),
    shape (2, 2, m, m).
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

    def largest(self, first: Positions, second: Positions) -> Floats:
        spread = self.effect[:, 1] - self.effect[:, 0]
        found = np.zeros(first.size)
        for a in (0, 1):
            for b in (0, 1):
                here = np.abs(spread[second, b] - spread[first, a])
                found = np.where(self.rows[a, b, first, second] > 0, np.maximum(found, here), found)
        return found

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


def _accuracy_view(question: Question, models: Positions) -> _AccuracyView:
    data, audit = question.data, _audit(question)
    fitted = _fitted(data, audit)
    sums, same = np.zeros(models.size), np.zeros((models.size, models.size))
    for rows, guess in fitted.everywhere():
        block = data.predictions[np.ix_(models, rows)]
        sums += guess[np.arange(rows.size), block].sum(axis=1)
        for k in np.unique(block):
            here = (block == k).astype(np.float32)
            same += here @ here.T
    at = data.predictions[np.ix_(models, audit.rows)]
    own = fitted.of(audit.rows)[np.arange(audit.k), at]
    error = ((at == audit.labels) - own) / data.n
    value = sums / data.n + error @ (1 / audit.inclusion)
    return _AccuracyView(np.clip(value, 0, 1), np.full(models.size, float(data.n)), error, at, own, data.n - same)


def _class_view(question: Question, models: Positions) -> _ClassView:
    data, audit, of = question.data, _audit(question), int(question.of or 0)
    q = np.concatenate([guess[:, of] for _, guess in _fitted(data, audit).everywhere()])
    predicted = (data.predictions[models] == of).astype(np.float64)
    at, truth, q_at = predicted[:, audit.rows].astype(np.intp), audit.labels == of, q[audit.rows]
    news = (truth - q_at) / audit.inclusion
    both, says = predicted @ q + at @ news, predicted.sum(axis=1)
    true = np.full(models.size, max(q.sum() + news.sum(), 0.0))
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
    rows = np.array([[a @ b.T for b in sides] for a in sides])
    truly = np.array([[(a * q) @ b.T for b in sides] for a in sides])
    return _ClassView(value, trials, error, at, q_at, effect, rows, truly, question.measure)


# --- from errors seen to bounds -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Drawn:
    """How the audited rows were drawn: weight = 1 / inclusion probability, ``unseen`` = that less 1."""

    weight: Floats
    unseen: Floats
    uniform: bool

    @classmethod
    def of(cls, audit: "CodedAudit") -> "_Drawn":
        weight = 1 / audit.inclusion
        return cls(weight, weight - 1, audit.design == "uniform")

    def sums(self, terms: Floats) -> tuple[Floats, Floats]:
        """Sum of sampled terms >= 0 over their probabilities, and its variance; terms of shape (pairs, k)."""
        k = self.weight.size
        spare = k / (k - FITTED) if k > 2 * FITTED else 2.0
        total: Floats = terms @ self.weight
        variance: Floats = spare * (terms**2 @ (self.weight * self.unseen))
        return total, variance

    def guard(self, threat: tuple[Floats, Floats], largest: Floats) -> Floats:
        """Term of one unseen error: the largest there is, or the mean of those that were possible, by their size."""
        every: Floats = largest * self.unseen.max()
        if self.uniform:
            return every
        loss, chance = threat[0], threat[1] + DISTRUST
        size = (chance * loss) @ (self.weight * self.unseen)
        square = (chance * loss**2) @ (self.weight * self.unseen**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 0, square / size, every)


@dataclass(frozen=True, slots=True)
class Claim:
    """What speaks against a claim and for it, from the audit; and the sampling of the test set, or None."""

    against: tuple[Floats, Floats]
    favour: tuple[Floats, Floats]
    guard: Floats
    sampling: tuple[Floats, Floats] | None

    def distance(self, tail: float | Floats) -> Floats:
        """How far below its estimate the difference may be, at an error of ``tail``."""
        from scipy.special import ndtri

        high = total_bounds(*self.against, self.guard, tail)[1]
        low = total_bounds(*self.favour, np.zeros_like(self.guard), tail)[0]
        squared = (high - self.against[0]) ** 2 + (self.favour[0] - low) ** 2
        if self.sampling is not None:
            variance, step = self.sampling
            squared += (-ndtri(tail) * np.sqrt(variance) + step) ** 2
        found: Floats = np.sqrt(squared)
        return found

    def p_value(self, excess: Floats) -> Floats:
        """Smallest error at which the claim would be made; 1 where the estimate itself speaks against it."""
        from scipy.special import ndtr

        made, unmade = np.zeros_like(excess), np.full_like(excess, 9.0)
        for _ in range(30):
            middle = (made + unmade) / 2
            stands = self.distance(ndtr(-middle)) < excess
            made, unmade = np.where(stands, middle, made), np.where(stands, unmade, middle)
        return np.where(excess > 0, np.where(made > 0, ndtr(-made), 0.5), 1.0)


def _claims(
    view: _View,
    drawn: _Drawn,
    first: Positions,
    second: Positions,
    sampling: tuple[Floats, Floats] | None,
) -> tuple[Claim, Claim]:
    """Return the claims that the second, and that the first, of each pair is better; each ordered pair is done once."""
    models = view.value.size
    asked = np.concatenate([first * models + second, second * models + first])
    codes, places = np.unique(asked, return_inverse=True)
    columns: list[tuple[Floats, ...]] = []
    size = max(1, CELLS_AT_ONCE // drawn.weight.size)
    for start in range(0, codes.size, size):
        pair = np.divmod(codes[start : start + size], models)
        error = view.error[pair[1]] - view.error[pair[0]]
        guard = drawn.guard(view.threat(*pair), view.largest(*pair))
        columns.append((*drawn.sums(np.maximum(-error, 0)), *drawn.sums(np.maximum(error, 0)), guard))
    every = [np.concatenate(parts) for parts in zip(*columns, strict=True)]

    def claim(at: Positions) -> Claim:
        loss, loss_variance, gain, gain_variance, guard = (values[at] for values in every)
        return Claim((loss, loss_variance), (gain, gain_variance), guard, sampling)

    return claim(places[: first.size]), claim(places[first.size :])


def _margins(view: _View, drawn: _Drawn, question: Question, *, sampled: bool) -> tuple[Floats, Floats]:
    """Interval of each model's measure, shape (m,) each end."""
    ends = []
    value = view.value
    largest = np.full(value.size, np.nanmax(np.r_[0.0, 1 / np.maximum(view.trials, 1)]))
    for side in (1, -1):
        error = side * view.error
        claim = Claim(
            drawn.sums(np.maximum(-error, 0)),
            drawn.sums(np.maximum(error, 0)),
            drawn.guard(view.own_threat(side), largest),
            None,
        )
        ends.append(claim.distance(question.tail))
    if sampled:
        low, high = score_interval(value * view.trials, view.trials, level=question.level)
        ends = [np.hypot(ends[0], value - low), np.hypot(ends[1], high - value)]
    return np.clip(value - ends[0], 0, 1), np.clip(value + ends[1], 0, 1)


def _half_widths(view: _View, ends: tuple[Floats, Floats], level: float) -> Floats:
    """Share of each model in the distance at which score intervals part, at its largest over what its value may be.

    Exact for accuracies (see :func:`~demele.evaluation.intervals.overlap_gap`). Two precisions have different trials,
    and so centres that are drawn unequally towards 1/2: that is left out, and each has the share that it would have
    beside one of as many trials.
    """
    low, high = (end * view.trials for end in ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = overlap_reach(low, high, view.trials, level=level) / view.trials
    return np.where(np.isfinite(found), found, 0.0)


# --- selective audits, and what is said of all ----------------------------------------------------------------------


def _selective(question: Question) -> Outcomes:
    """Correct the audited labels, and bound what the errors that are left could do."""
    from demele.evaluation.comparison.bounded import bounded
    from demele.labels.budget import noise_budget

    audit, data = _audit(question), question.data
    if question.noise is None or question.measure != "accuracy":
        raise InputError(
            "audit: its rows were chosen for a reason (design 'selective'), so they say nothing of the other rows; "
            "draw rows at random (demele.labels.draw_audit)"
            + (
                ", or bound the labels left with noise=, a rate of wrong labels"
                if question.measure == "accuracy"
                else ""
            )
        )
    # Limits that hold with a certain confidence only take half of the error, and the p-value counts it.
    spent = 0.0 if isinstance(question.noise, float | int) else question.tail / 2
    tail = question.tail - spent
    budget = noise_budget(question.noise, data.labels, data.k, tail=question.tail / 2)
    found = int(np.count_nonzero(data.labels[audit.rows] != audit.labels))
    if found > budget.wrong:
        raise InputError(
            f"noise and audit: the noise supplied allows {budget.wrong} wrong labels of {data.n}, "
            f"but the audit found {found}"
        )
    labels = data.labels.copy()
    labels[audit.rows] = audit.labels
    left = budget.wrong - found
    outcomes = bounded(
        replace(question, data=data.relabelled(labels), noise=left / data.n, level=1 - 2 * tail, audit=None)
    )
    p_value: Floats = outcomes.p_value  # type: ignore[assignment]  # the bounded comparison gives one
    return replace(
        outcomes,
        p_value=np.minimum(p_value + spent, 1.0),
        assumptions=(
            *budget.assumptions,
            f"The expert's labels are right: {found} of {audit.k} given ones were wrong, so at most {left} others are.",
            *outcomes.assumptions[1:],
        ),
        details={**outcomes.details, "audited": audit.k, "wrong_labels_left_at_most": left},
    )


def _assumptions(audit: "CodedAudit") -> tuple[str, ...]:
    design = {
        "uniform": "The audited rows are a simple random sample of all rows.",
        "weighted": "The audited rows were drawn at random with the probabilities supplied, and errors do not hide "
        "among the rows that were least likely to be drawn.",
    }[audit.design]
    return design, "The expert's labels are right."


def _notes(audit: "CodedAudit") -> tuple[Note, ...]:
    if audit.k >= FEW_LABELS:
        return ()
    return (
        Note(
            code="few-audited",
            message=f"only {audit.k} labels were audited; fewer than {FEW_LABELS} decide hardly anything",
            severity="warning",
        ),
    )
