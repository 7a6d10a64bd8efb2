"""Gibbs sampling of the classes of items, given answers of annotators and, possibly, features of the items.

Theta, class proportions ~ Dirichlet; gamma[j, k], answers of annotator j about class k ~ Dirichlet; what is said of
features is below. A sweep draws all parameters given the classes, then all classes given the parameters: within each
of the two blocks everything is independent.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Counts, Floats
from demele.core.columns import Codes
from demele.core.errors import InputError, NotEnoughData, plural
from demele.core.inputs import read_codes
from demele.core.labelled import Indices
from demele.labels.joined.annotations import Annotations, Responses
from demele.noise.transition import digest

#: Half a chain must have a variance and an autocorrelation at lag 1.
FEWEST_DRAWS = 4


def split_r_hat(draws: NDArray[np.floating]) -> Floats:
    """Return the potential scale reduction of each quantity, with each chain split into halves.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws, ...)
        Successive draws of each chain; at least 4 of them. Of an odd number, the first is left out.

    Returns
    -------
    array of shape (...)
        Square root of the ratio of the variance over all halves to that within halves; 1 is best. Infinite where the
        halves are constant and differ, NaN where nothing varies at all.

    Raises
    ------
    InputError
        If there are too few draws.

    Notes
    -----
    Gelman et al., Bayesian Data Analysis, 3rd edition, equations 11.1 to 11.4. Draws are not replaced by their ranks,
    as Vehtari et al. (2021) do against infinite variances: proportions and shares have finite ones.

    Examples
    --------
    >>> float(split_r_hat(np.array([[1.0, 2, 1, 2], [3, 4, 3, 4]])).round(4))
    1.7795
    """
    halves = _halves(draws)
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)  # B / n of the equations
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((n - 1) / n + between / within))


def effective_samples(draws: NDArray[np.floating]) -> Floats:
    """Return how many independent draws would give the mean of each quantity as small a Monte-Carlo error.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws, ...)
        As in :func:`split_r_hat`.

    Returns
    -------
    array of shape (...)
        In draws, above 0 and at most m log10(m) with m draws in all; NaN where nothing varies.

    Raises
    ------
    InputError
        If there are too few draws.

    Notes
    -----
    Vehtari et al. (2021), section 3.2, without ranks: autocorrelations of the split chains, compared with the variance
    over all of them; summed over pairs of lags while the sums are positive, each at most the one before (Geyer 1992).
    By fast Fourier transforms: O(m log m) per quantity.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(3000 < effective_samples(rng.normal(size=(4, 1000))) < 5000)
    True
    """
    halves = _halves(draws)
    m, n = halves.shape[:2]
    flat = halves.reshape(m, n, -1)
    within = flat.var(axis=1, ddof=1).mean(axis=0)
    overall = (n - 1) / n * within + flat.mean(axis=1).var(axis=0, ddof=1)
    found = np.full(flat.shape[2], np.nan)
    for quantity in np.flatnonzero(overall > 0):
        chains = flat[:, :, quantity]
        size = 1 << (2 * n - 1).bit_length()  # padded, so that the ends do not meet
        spectrum = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), size, axis=1)
        covariances = (np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n] / n).mean(axis=0)
        # BDA3 11.7 in the form of Vehtari et al. (10); the estimate at lag 0 is 1 by definition.
        correlations = 1 - (within[quantity] - covariances * n / (n - 1)) / overall[quantity]
        correlations[0] = 1.0
        # Autocorrelation time: how many successive draws are worth an independent one
        pairs = correlations[: correlations.size // 2 * 2].reshape(-1, 2).sum(axis=1)
        positive = np.flatnonzero(pairs <= 0)
        kept = np.minimum.accumulate(pairs[: positive[0] if positive.size else pairs.size])
        found[quantity] = m * n / max(float(2 * kept.sum() - 1), 1 / np.log10(m * n))
    return found.reshape(halves.shape[2:])


def _halves(draws: NDArray[np.floating]) -> Floats:
    given = np.asarray(draws, dtype=np.float64)
    if given.ndim < 2 or given.shape[1] < FEWEST_DRAWS:
        expected = f"expected an array of shape (n_chains, n_draws, ...) with at least {FEWEST_DRAWS} draws"
        raise InputError("draws", f"{expected}, got shape {given.shape}")
    half = given.shape[1] // 2
    return np.concatenate([given[:, -2 * half : -half], given[:, -half:]])


# Gibbs sampling of the classes of items, given answers of annotators and, possibly, features of the items -------------


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

    def log_density(self, columns: Floats, rows: slice) -> Floats:
        """Sum of the values (n_columns, K) of the columns over the entries of a block of items, shape (K, n_rows)."""
        return np.ascontiguousarray((self._parts[rows.start] @ columns).T)


class Answers(_Entries):
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
        super().__init__(responses.counts, k)
        self.who, self.what = responses.who, responses.what
        self.prior = prior
        self.of_column = np.ascontiguousarray(prior[:, self.what].T)  # (n_columns, K)
        self.first = np.flatnonzero(np.diff(self.who, prepend=-1))  # columns come annotator by annotator
        seen = np.zeros((n_annotators, k), dtype=bool)
        seen[self.who, self.what] = True
        own = np.diag(prior)
        self.unseen_right = np.where(seen, 0.0, own)
        self.unseen_wrong = (~seen).astype(np.float64) @ (prior - np.diag(own)).T

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

    def log_marginal(self, tally: Floats) -> float:
        """Of all answers given the classes, gamma integrated out."""
        from scipy.special import gammaln

        sums = np.add.reduceat(tally, self.first, axis=0)
        whole = self.prior.sum(axis=1)
        columns = gammaln(self.of_column + tally) - gammaln(self.of_column)
        return float((gammaln(whole) - gammaln(whole + sums)).sum() + columns.sum())


class CountFeatures(_Entries):
    """Counts of each feature: multinomial given the class, phi[k] ~ Dirichlet(prior, ..., prior)."""

    def __init__(self, counts: Any, prior: float, k: int) -> None:
        super().__init__(counts, k)
        self.prior = prior

    def draw(self, tally: Floats, rng: np.random.Generator) -> Floats:
        """Log phi, shape (n_features, K)."""
        variates = _log_gamma(self.prior + tally, rng)
        return np.asarray(variates - np.logaddexp.reduce(variates, axis=0))

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


#: How features depend on the class: conjugate, so that parameters are drawn, and integrated out, in closed form.
Features = CountFeatures | NormalFeatures


def run_chain(
    answers: Answers,
    features: Features | None,
    votes: Counts,
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
    cumulated = np.cumsum(votes, axis=1)
    drawn = (cumulated[:, :-1] <= (rng.random(n) * cumulated[:, -1])[:, None]).sum(axis=1)
    labels = np.where(cumulated[:, -1] > 0, drawn, -1).astype(np.int32)
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
        parameters: Any = None if features is None else features.draw(of_features, rng)
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


def sufficient(answers: Answers, features: Features | None, labels: Indices, k: int) -> tuple[Floats, Floats, Any]:
    """All that parameters depend on, given the classes: items per class, tallies of answers and of features."""
    of_class = np.bincount(labels[labels >= 0], minlength=k).astype(np.float64)
    return of_class, answers.tally(labels), None if features is None else features.tally(labels)


def log_joint(
    answers: Answers, features: Features | None, prior_proportions: Floats, tallies: tuple[Floats, Floats, Any]
) -> float:
    """Of the classes, answers and features, all parameters integrated out, up to a constant."""
    from scipy.special import gammaln

    of_class, of_answers, of_features = tallies
    whole = float(prior_proportions.sum())
    classes = gammaln(prior_proportions + of_class) - gammaln(prior_proportions)
    found = float(gammaln(whole) - gammaln(whole + of_class.sum()) + classes.sum()) + answers.log_marginal(of_answers)
    return found if features is None else found + features.log_marginal(of_features)


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


# The door for features of items that annotators answer about ----------------------------------------------------------


def read_item_features(
    features: Any, annotations: Annotations, model: str, prior: float
) -> tuple[Features, str, tuple[str, ...]]:
    """Return the features of all items as the sampler wants them, their digest, and the names of those left out.

    Parameters
    ----------
    features : array-like of shape (n_items, n_features)
        In the order of the items; a SciPy sparse table of counts stays sparse.
    model : {"counts", "normal"}
    prior : float above 0
        As in :func:`demele.labels.bayesian_consensus`.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If rows and items do not fit, or values do not fit the model.
    """
    from scipy.sparse import csr_array, issparse

    if hasattr(features, "columns") and hasattr(features, "loc"):
        index, items = list(features.index), list(annotations.items)
        if index != items and len(index) == len(items) and set(index) == set(items):
            problem = "the index holds the items in another order, and rows are paired by position"
            raise InputError("features", problem, "pass features.loc[list(annotations.items)]")
    read = None if model == "counts" and issparse(features) else read_codes(features, "features")
    n_rows = features.shape[0] if read is None else read.n
    if n_rows != annotations.n_items:
        problem = f"expected {annotations.n_items} rows, one per item of the annotations, got {n_rows}"
        raise InputError("features", problem, "items without an answer are listed by Annotations(..., all_items=...)")
    if model == "normal" and read is not None:
        return _normal(read, annotations, prior)
    table = csr_array(features if read is None else read.dense()).astype(np.float64)
    table.sum_duplicates()
    wrong = np.flatnonzero(~((table.data >= 0) & (table.data == np.floor(table.data)) & np.isfinite(table.data)))
    if wrong.size:
        row = int(np.searchsorted(table.indptr, wrong[0], side="right")) - 1
        first = f"{table.data[wrong[0]]:g} at row {row}, column {table.indices[wrong[0]]}"
        problem = f"expected counts, whole numbers of 0 or more, got {plural(wrong.size, 'other', 'others')}"
        raise InputError("features", f"{problem}, first {first}", "for measurements pass `feature_model='normal'`")
    if not table.data.any():
        raise NotEnoughData("features", "expected at least 1 count above 0, got none")
    counts = CountFeatures(table, prior, annotations.k)
    return counts, digest(table.data, table.indices, table.indptr, table.shape), ()


def _normal(read: Codes, annotations: Annotations, prior: float) -> tuple[Features, str, tuple[str, ...]]:
    varying = np.flatnonzero(~read.constant)
    if not varying.size:
        raise NotEnoughData("features", "expected at least 1 feature that varies, got only constant ones")
    values = read.dense()[:, varying]
    # Halved ranges first, so that no square overflows or vanishes.
    centre, half = (read.low[varying] / 2 + read.high[varying] / 2), (read.high[varying] / 2 - read.low[varying] / 2)
    with np.errstate(all="ignore"):  # of a range that cannot be told from 0: refused below
        scaled = (values - centre) / half
        standardised = (scaled - scaled.mean(axis=0)) / scaled.std(axis=0)
    if not np.isfinite(standardised).all():
        name = read.names[varying[int(np.argmin(np.isfinite(standardised).all(axis=0)))]]
        raise InputError("features", f"column {name!r} varies too little for its size to be standardised; shift it")
    constant = tuple(name for name, flat in zip(read.names, read.constant, strict=True) if flat)
    return NormalFeatures(standardised, prior, annotations.k), digest(values), constant
