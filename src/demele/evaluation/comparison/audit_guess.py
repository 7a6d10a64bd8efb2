"""A guess of every row's true class, from the given label and the votes of all models, fitted to an audit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Labelled
from demele.noise.audit import CodedAudit

Floats = NDArray[np.float64]
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


@dataclass(frozen=True, slots=True)
class Guess:
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


def fitted_guess(data: Labelled, audit: CodedAudit) -> Guess:
    """Return the guess that makes the expert's labels likeliest, by Newton's method (concave, two numbers)."""
    guess = Guess(data, _votes(data), PRESUMED)
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
