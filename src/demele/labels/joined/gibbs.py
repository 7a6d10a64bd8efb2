"""Gibbs sampling of the classes of items, given answers of annotators and, possibly, features of the items.

Theta, class proportions ~ Dirichlet; gamma[j, k], answers of annotator j about class k ~ Dirichlet; what is said of
features is below. A sweep draws all parameters given the classes, then all classes given the parameters: within each
of the two blocks everything is independent.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Indices
from demele.labels.joined.answer_table import Responses

Floats = NDArray[np.float64]

#: Probabilities held at a time, as a block of items that fits the processor's cache is fastest; but so many items.
CELLS_AT_ONCE = 1 << 16
FEWEST_ITEMS_AT_ONCE = 1 << 10


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain: draws after warm-up, and the log joint of all sweeps.

    ``probabilities`` (n_items, K) is the mean of the conditional probabilities of the classes: less noisy than how
    often each class was drawn, with the same expectation. ``proportions`` is of shape (n_samples, K), ``accuracy`` of
    (n_samples, n_annotators), ``log_joint`` of (n_warmup + n_samples,).
    """

    probabilities: Floats
    proportions: Floats
    accuracy: Floats
    log_joint: Floats


class FeatureModel(Protocol):
    """How features depend on the class: conjugate, so that parameters are drawn, and integrated out, in closed form."""

    def tally(self, labels: Indices) -> Any:
        """Sufficient statistics given the classes; items of class -1 are left out."""

    def draw(self, tally: Any, rng: np.random.Generator) -> Any:
        """Parameters given the classes."""

    def log_density(self, parameters: Any, rows: slice) -> Floats:
        """Of the features of some items under each class, up to a term without the class, shape (K, n_rows)."""

    def log_marginal(self, tally: Any) -> float:
        """Of all features given the classes, parameters integrated out, up to a constant."""


class _Entries:
    """Non-negative numbers in a sparse table of items against columns, summed by column and class."""

    def __init__(self, table: Any, k: int) -> None:
        self.table = table.tocsr()
        self.k, self.n_columns = k, int(table.shape[1])
        self._row = np.repeat(np.arange(table.shape[0], dtype=np.int32), np.diff(self.table.indptr))
        self._base = self.table.indices.astype(np.int64) * k
        self._parts = {rows.start: self.table[rows] for rows in _blocks(table.shape[0], k)}
        self._weights = None if (self.table.data == 1).all() else self.table.data.astype(np.float64)

    def tally(self, labels: Indices) -> Floats:
        """Sum over the items of each class, shape (n_columns, K)."""
        of = labels[self._row]
        cells, weights = self._base + of, self._weights
        if of.size and int(of.min()) < 0:
            known = of >= 0
            cells, weights = cells[known], None if weights is None else weights[known]
        flat = np.bincount(cells, weights=weights, minlength=self.n_columns * self.k)
        return flat.reshape(self.n_columns, self.k).astype(np.float64)

    def weighted(self, columns: Floats, rows: slice) -> Floats:
        """Sum of the values (n_columns, K) of the columns over the entries of a block of items, shape (K, n_rows)."""
        return np.ascontiguousarray((self._parts[rows.start] @ columns).T)


class Answers:
    """Answers of annotators: gamma[j, k] ~ Dirichlet(prior[k]), answers independent given the class.

    Parameters
    ----------
    prior : array of shape (K, K)
        Row = class, column = answer.

    Notes
    -----
    Answers that an annotator never gave matter only through the normaliser of the Dirichlet variates, where their
    gamma variates come as a sum, which is a gamma variate too. The right answers are kept apart, as accuracies need
    them.
    """

    def __init__(self, responses: Responses, prior: Floats, n_annotators: int) -> None:
        k = len(prior)
        self.entries = _Entries(responses.counts, k)
        self.who, self.what = responses.who, responses.what
        self.prior = prior
        self.of_column = np.ascontiguousarray(prior[:, self.what].T)  # (n_columns, K)
        self.first = np.flatnonzero(np.diff(self.who, prepend=-1))  # columns come annotator by annotator
        seen = np.zeros((n_annotators, k), dtype=bool)
        seen[self.who, self.what] = True
        own = np.diag(prior)
        self.unseen_right = np.where(seen, 0.0, own)
        self.unseen_wrong = (~seen).astype(np.float64) @ (prior - np.diag(own)).T

    def tally(self, labels: Indices) -> Floats:
        """Answers of each column about items of each class, shape (n_columns, K)."""
        return self.entries.tally(labels)

    def draw(self, tally: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Log gamma of each column and class, and gamma of right answers, shape (n_annotators, K)."""
        variates = _log_gamma(self.of_column + tally, rng)
        right = _log_gamma(self.unseen_right, rng)
        wrong = _log_gamma(self.unseen_wrong, rng)
        total = np.logaddexp(np.logaddexp.reduceat(variates, self.first, axis=0), np.logaddexp(right, wrong))
        table = variates - total[self.who]
        right -= total
        right[self.who, self.what] = table[np.arange(self.what.size), self.what]
        return table, np.exp(right)

    def log_density(self, table: Floats, rows: slice) -> Floats:
        """Of the answers about some items under each class, shape (K, n_rows)."""
        return self.entries.weighted(table, rows)

    def log_marginal(self, tally: Floats) -> float:
        """Of all answers given the classes, gamma integrated out."""
        from scipy.special import gammaln

        sums = np.add.reduceat(tally, self.first, axis=0)
        whole = self.prior.sum(axis=1)
        columns = gammaln(self.of_column + tally) - gammaln(self.of_column)
        return float((gammaln(whole) - gammaln(whole + sums)).sum() + columns.sum())


class CountFeatures:
    """Counts of each feature: multinomial given the class, phi[k] ~ Dirichlet(prior, ..., prior)."""

    def __init__(self, counts: Any, prior: float, k: int) -> None:
        self.entries, self.prior = _Entries(counts, k), prior

    def tally(self, labels: Indices) -> Floats:
        """Sum each feature over the items of each class, shape (n_features, K)."""
        return self.entries.tally(labels)

    def draw(self, tally: Floats, rng: np.random.Generator) -> Floats:
        """Log phi, shape (n_features, K)."""
        variates = _log_gamma(self.prior + tally, rng)
        return np.asarray(variates - np.logaddexp.reduce(variates, axis=0))

    def log_density(self, parameters: Floats, rows: slice) -> Floats:
        """Of the counts of some items under each class, shape (K, n_rows)."""
        return self.entries.weighted(parameters, rows)

    def log_marginal(self, tally: Floats) -> float:
        """Of all counts given the classes, phi integrated out."""
        from scipy.special import gammaln

        whole = self.prior * len(tally)
        columns = gammaln(self.prior + tally) - gammaln(self.prior)
        return float((gammaln(whole) - gammaln(whole + tally.sum(axis=0))).sum() + columns.sum())


class NormalFeatures:
    """Real features: normal given the class, independent of each other, conjugate prior.

    Features come centred and divided by their standard deviation s. Given the class, variance ~ inverse gamma(w/2, w/2)
    and mean ~ normal(0, variance / w): a prior that counts for w items with the overall mean and variance.
    """

    def __init__(self, standardised: Floats, prior: float, k: int) -> None:
        self.values, self.prior, self.k = standardised, prior, k
        self._powers = np.hstack([standardised, standardised**2])

    def tally(self, labels: Indices) -> tuple[Floats, Floats, Floats]:
        """Return the number (K, 1) of items of each class, sums and sums of squares of shape (K, n_features)."""
        from scipy.sparse import csr_array

        known = np.flatnonzero(labels >= 0)
        # A sparse product, as it sums in the same order whatever the number of threads.
        member = csr_array((np.ones(known.size), (labels[known], known)), shape=(self.k, labels.size))
        sums = member @ self._powers
        half = self.values.shape[1]
        return member.sum(axis=1).reshape(-1, 1), sums[:, :half], sums[:, half:]

    def draw(self, tally: tuple[Floats, Floats, Floats], rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Log precision, and mean divided by the standard deviation: both finite where the variance is huge."""
        n, sums, _ = tally
        shape, rate = self._posterior(tally)
        log_precision = _log_gamma(np.broadcast_to(shape, rate.shape), rng) - np.log(rate)
        weight = self.prior + n
        scaled = np.exp(log_precision / 2) * sums / weight + rng.standard_normal(rate.shape) / np.sqrt(weight)
        return log_precision, scaled

    def log_density(self, parameters: tuple[Floats, Floats], rows: slice) -> Floats:
        """Of the features of some items under each class, shape (K, n_rows)."""
        log_precision, scaled = parameters
        values, root = self.values[rows], np.exp(log_precision / 2)
        found = np.empty((self.k, len(values)))
        for label in range(self.k):
            apart = values * root[label] - scaled[label]
            found[label] = (log_precision[label].sum() - np.einsum("ij,ij->i", apart, apart)) / 2
        return found

    def log_marginal(self, tally: tuple[Floats, Floats, Floats]) -> float:
        """Of all features given the classes, means and variances integrated out."""
        from scipy.special import gammaln

        shape, rate = self._posterior(tally)
        per_class = gammaln(shape) - np.log(self.prior + tally[0]) / 2
        return float(per_class.sum() * rate.shape[1] - (shape * np.log(rate)).sum())

    def _posterior(self, tally: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats]:
        """Shape (K, 1) and rate (K, n_features) of the gamma distributions of the precisions."""
        n, sums, squares = tally
        weight = self.prior + n
        # Never below the prior's own rate, which rounding could otherwise undercut.
        return weight / 2, (self.prior + np.maximum(squares - sums**2 / weight, 0.0)) / 2


def run_chain(
    answers: Answers,
    features: FeatureModel | None,
    votes: NDArray[np.int64],
    prior_proportions: Floats,
    *,
    n_warmup: int,
    n_samples: int,
    rng: np.random.Generator,
) -> Chain:
    """Run one chain from classes drawn at random from the votes about each item.

    Items without an answer have no class before the first sweep, which learns from the others only.
    """
    n, k = votes.shape
    labels = _start(votes, rng)
    total = np.zeros((k, n))
    proportions, accuracy = np.empty((n_samples, k)), np.empty((n_samples, answers.unseen_right.shape[0]))
    joint = np.empty(n_warmup + n_samples)
    blocks = _blocks(n, k)
    tallies = sufficient(answers, features, labels, k)
    for sweep in range(n_warmup + n_samples):
        of_class, of_answers, of_features = tallies
        log_proportions = _log_gamma(prior_proportions + of_class, rng)
        log_proportions -= np.logaddexp.reduce(log_proportions)
        table, right = answers.draw(of_answers, rng)
        parameters = None if features is None else features.draw(of_features, rng)
        uniform = np.asarray(rng.random(n))
        for rows in blocks:
            shares = answers.log_density(table, rows)
            shares += log_proportions[:, None]
            if features is not None:
                shares += features.log_density(parameters, rows)
            shares -= shares.max(axis=0)
            np.exp(shares, out=shares)
            below = _running_sums(shares)
            labels[rows] = (below[:-1] <= uniform[rows] * below[-1]).sum(axis=0)
            if sweep >= n_warmup:
                shares /= below[-1]
                total[:, rows] += shares
        if sweep >= n_warmup:
            proportions[sweep - n_warmup] = np.exp(log_proportions)
            accuracy[sweep - n_warmup] = right @ proportions[sweep - n_warmup]
        tallies = sufficient(answers, features, labels, k)
        joint[sweep] = log_joint(answers, features, prior_proportions, tallies)
    return Chain(np.ascontiguousarray(total.T) / n_samples, proportions, accuracy, joint)


def sufficient(answers: Answers, features: FeatureModel | None, labels: Indices, k: int) -> tuple[Floats, Floats, Any]:
    """All that parameters depend on, given the classes: items per class, tallies of answers and of features."""
    of_class = np.bincount(labels[labels >= 0], minlength=k).astype(np.float64)
    return of_class, answers.tally(labels), None if features is None else features.tally(labels)


def log_joint(
    answers: Answers, features: FeatureModel | None, prior_proportions: Floats, tallies: tuple[Floats, Floats, Any]
) -> float:
    """Of the classes, answers and features, all parameters integrated out, up to a constant."""
    from scipy.special import gammaln

    of_class, of_answers, of_features = tallies
    whole = float(prior_proportions.sum())
    classes = gammaln(prior_proportions + of_class) - gammaln(prior_proportions)
    found = float(gammaln(whole) - gammaln(whole + of_class.sum()) + classes.sum()) + answers.log_marginal(of_answers)
    return found if features is None else found + features.log_marginal(of_features)


def _start(votes: NDArray[np.int64], rng: np.random.Generator) -> Indices:
    below = np.cumsum(votes, axis=1)
    drawn = (below[:, :-1] <= (rng.random(len(votes)) * below[:, -1])[:, None]).sum(axis=1)
    return np.where(below[:, -1] > 0, drawn, -1).astype(np.int32)


def _blocks(n: int, k: int) -> list[slice]:
    step = max(CELLS_AT_ONCE // k, FEWEST_ITEMS_AT_ONCE)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _running_sums(shares: Floats) -> Floats:
    """Sum over the rows up to each; row by row this is several times as fast as numpy.cumsum along columns."""
    sums = shares.copy()
    for row in range(1, len(sums)):
        sums[row] += sums[row - 1]
    return sums


def _log_gamma(shape: Floats, rng: np.random.Generator) -> Floats:
    """Logarithms of standard gamma variates, exact for the small shapes where the variates themselves are 0.

    A variate of shape a is one of shape a + 1 times a uniform to the power 1 / a (Marsaglia & Tsang 2000, section 6).
    Of shape 0: minus infinity.
    """
    larger = np.log(rng.standard_gamma(shape + 1))
    waiting = rng.standard_exponential(shape.shape)
    with np.errstate(divide="ignore"):
        return np.asarray(larger - waiting / shape)
