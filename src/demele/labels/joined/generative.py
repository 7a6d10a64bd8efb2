"""Dawid and Skene's model as a Bayesian one, and Felt's, which also uses features of the items: by Gibbs sampling.

Theta, class proportions ~ Dirichlet; gamma[j, k], answers of annotator j about class k ~ Dirichlet; what is said of
features is below. A sweep draws all parameters given the classes, then all classes given the parameters: within each
of the two blocks everything is independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core import kinds
from demele.core.arrays import Counts, Flags, Floats, rng_for
from demele.core.columns import Codes
from demele.core.errors import InputError, NotConvergedWarning, NotEnoughData, plural, warn_user
from demele.core.inputs import read_codes
from demele.core.labelled import Indices, shown
from demele.core.result import Interval, Note
from demele.core.signature import Signature
from demele.core.table_columns import as_column
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.voting import Consensus, Profiles, of_items, unlike_majority_note, vote_shares
from demele.noise.transition import digest
from demele.runtime.work import ordered

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

    def __init__(self, table: Annotations, prior: Floats) -> None:
        k = len(prior)
        counts, self.who, self.what = table.responses()
        super().__init__(counts, k)
        self.prior = prior
        self.of_column = np.ascontiguousarray(prior[:, self.what].T)  # (n_columns, K)
        self.first = np.flatnonzero(np.diff(self.who, prepend=-1))  # columns come annotator by annotator
        seen = np.zeros((table.n_annotators, k), dtype=bool)
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
        sums = np.add.reduceat(tally, self.first, axis=0)
        return _log_marginal(self.of_column, tally, self.prior.sum(axis=1), sums)


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
        return _log_marginal(self.prior, tally, self.prior * len(tally), tally.sum(axis=0))


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
    of_class, of_answers, of_features = tallies
    found = _log_marginal(prior_proportions, of_class, prior_proportions.sum(), of_class.sum())
    found += answers.log_marginal(of_answers)
    return found if features is None else found + features.log_marginal(of_features)


def _log_marginal(prior: Floats | float, tally: Floats, whole: Floats | float, sums: Floats | float) -> float:
    """Of counts with the probabilities integrated out, Dirichlet (prior); ``whole`` and ``sums`` are their totals."""
    from scipy.special import gammaln

    cells = gammaln(prior + tally) - gammaln(prior)
    return float((gammaln(whole) - gammaln(whole + sums)).sum() + cells.sum())


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
    with np.errstate(all="ignore"):  # of a range that cannot be distinguished from 0: refused below
        scaled = (values - centre) / half
        standardised = (scaled - scaled.mean(axis=0)) / scaled.std(axis=0)
    if not np.isfinite(standardised).all():
        name = read.names[varying[int(np.argmin(np.isfinite(standardised).all(axis=0)))]]
        raise InputError("features", f"column {name!r} varies too little for its size to be standardised; shift it")
    constant = tuple(name for name, flat in zip(read.names, read.constant, strict=True) if flat)
    return NormalFeatures(standardised, prior, annotations.k), digest(values), constant


# The call -------------------------------------------------------------------------------------------------------------

#: Split R-hat up to which chains count as converged.
R_HAT_LIMIT = 1.05
#: With fewer annotators per item, several explanations of the same answers fit as well (Allman et al. 2009).
ENOUGH_ANNOTATORS = 3
#: Effective draws below which the ends of intervals are too uncertain to be quoted.
FEW_DRAWS = 100


@kinds.checked
def bayesian_consensus(
    annotations: object,
    *,
    features: object = None,
    feature_model: Literal["counts", "normal"] = "counts",
    n_samples: Annotated[int, kinds.at_least(FEWEST_DRAWS)] = 500,
    n_warmup: kinds.CountOrNone = 250,
    n_chains: kinds.Count = 4,
    level: kinds.Level = 0.95,
    seed: kinds.Seed = 0,
    prior_right: kinds.Positive = 2.0,
    prior_other: kinds.Positive | None = None,
    prior_proportions: object = 1.0,
    prior_features: kinds.Positive = 1.0,
    classes: Sequence[object] | None = None,
    n_jobs: kinds.Jobs = 1,
    no_answer: object = None,
) -> Consensus:
    """Estimate labels and annotator errors with credible intervals: a generative model, by Gibbs sampling.

    The model: class proportions theta ~ Dirichlet(b_theta); answers of annotator j about class k gamma_jk ~
    Dirichlet(b_gamma); class of item i ~ theta; each answer of j about i ~ gamma_jk of the class of i, independently
    of all others. This is Dawid and Skene's model with priors. With ``features`` it is Felt's: features of item i ~
    phi of its class, independently of the answers. Then an item without an answer gets a label from its features.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        What :class:`demele.labels.Annotations` is made from. Items that have features but no answer must be
        among its items: ``Annotations(..., all_items=...)``. Repeated answers count each.
    features : array-like of shape (n_items, n_features), optional
        One row per item, in the order of ``Annotations.items``, those without an answer included; SciPy sparse tables
        stay sparse for counts.
    feature_model : {"counts", "normal"}
        ``"counts"``: whole numbers of 0 or more, such as of words, multinomial given the class. ``"normal"``: real
        numbers, normal given the class and independent of each other; constant features are left out.
    n_samples, n_warmup : int
        Sweeps that each chain keeps (4 or more), and sweeps before these (0 or more).
    n_chains : int
        Chains, 1 or more; several find out whether where they start matters.
    level : float in (0, 1)
        Probability of the credible intervals.
    seed : int of 0 or more
        Chain c draws from the stream (seed, "consensus", "chain", c). Also of the draws that break ties of votes.
    prior_right, prior_other : float above 0
        b_gamma: pseudo-answers that each annotator starts with, for each class, of the right answer and of each other
        one; by default 2, and 1 shared by the others, 1 / (K - 1). That right answers have the larger one keeps
        classes from exchanging their names.
    prior_proportions : float above 0, or array-like of shape (K,)
        b_theta: pseudo-items of each class.
    prior_features : float above 0
        Of counts, b_phi: pseudo-count of each feature in each class. Of normal features, for how many items the prior
        counts: given the class, of standardised features, variance ~ inverse gamma(w/2, w/2) and mean ~ normal(0,
        variance / w).
    classes : sequence, optional
        All classes, in the order of results; by default the sorted answers.
    n_jobs : int
        Processes that run chains (-1: one per core). Results do not depend on it.
    no_answer : int, str or float, optional
        Value that means "no answer", such as -1, in addition to NaN and None, in a table with a column or row per
        annotator.

    Returns
    -------
    Consensus
        ``probabilities``: posterior, the mean over all kept sweeps of the class probabilities given the parameters.
        ``proportions``: posterior means of theta. ``intervals``: equal-tailed, of ``"proportions"`` and of
        ``"accuracy"``, the probability sum_k theta_k gamma_jkk that annotator j is right about an item like these; its
        posterior means are ``details["accuracy"]``. ``profiles``: posterior expected counts, with the prior as
        pseudo-counts. ``objective``: log joint probability (nats) of the classes with answers and features, parameters
        integrated out, after each sweep of the first chain, warm-up included. ``log_likelihood``: of the answers only,
        at the posterior means. ``converged``: split R-hat of the log joint, of all proportions and of all accuracies
        up to 1.05. ``details``: ``r_hat`` and ``effective_samples`` of each of these, ``log_joint`` of all chains.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the annotations, the features or a setting cannot be used.

    Warns
    -----
    NotConvergedWarning
        If an R-hat is above 1.05.

    Notes
    -----
    Benjelloun, section 5.1.4 and figure 5.1, after P. Felt et al., *MOMRESP: a Bayesian model for multi-annotator
    document labeling* (LREC 2014), 3704-3711; A. P. Dawid and A. M. Skene (1979). Each sweep draws theta, gamma and phi
    given the classes, then the classes given these. Chains start from classes drawn from the votes about each item.
    Where items have many answers each, a chain rarely changes a label and can stay near where it started; the R-hat of
    the log joint finds that. A note says if a chain ended with classes exchanged with respect to the votes. Many
    features that depend on each other within a class outweigh the answers, and make the probabilities overconfident.
    Each sweep costs O((n_answers + stored features) K).

    Examples
    --------
    >>> from demele.labels import bayesian_consensus
    >>> right = ["cat", "cat", "dog", "dog"] * 5
    >>> noisy = ["cat", "dog", "cat", "dog"] * 5
    >>> found = bayesian_consensus({"ann": right, "bob": right, "cal": right, "eve": noisy})
    >>> found.labels.tolist() == right, found.converged
    (True, True)
    >>> ann, eve = found.intervals["accuracy"][0], found.intervals["accuracy"][3]
    >>> ann.low > eve.high
    True
    """
    table = read_annotations(annotations, classes=classes, no_answer=no_answer)
    prior_other = 1 / max(table.k - 1, 1) if prior_other is None else prior_other
    pseudo_items = _prior_proportions(prior_proportions, table.k)
    read = None if features is None else read_item_features(features, table, feature_model, prior_features)
    model, own_digest, constant = (None, "", None) if read is None else read
    prior = np.full((table.k, table.k), prior_other)
    np.fill_diagonal(prior, prior_right)
    answers = Answers(table, prior)
    votes = table.votes()

    def chain(index: int) -> Chain:
        rng = rng_for(seed, "consensus", "chain", index)
        return run_chain(answers, model, votes, pseudo_items, n_warmup=n_warmup, n_samples=n_samples, rng=rng)

    chains = list(ordered(chain, ((index,) for index in range(n_chains)), n_jobs=1 if n_chains == 1 else n_jobs))
    probabilities = np.mean([chain.probabilities for chain in chains], axis=0)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    sampled = ("proportions", "accuracy", "log_joint")
    draws = {name: np.stack([getattr(chain, name) for chain in chains]) for name in sampled}
    watched = {"log_joint": draws["log_joint"][:, n_warmup:], **{name: draws[name] for name in sampled[:2]}}
    r_hat = {name: split_r_hat(found) for name, found in watched.items()}
    effective = {name: effective_samples(found) for name, found in watched.items()}
    worst = _worst(r_hat, table)
    if worst is not None:
        warn_user(
            f"the Bayesian consensus had not converged after {n_warmup} + {n_samples} sweeps of "
            f"{n_chains} chains: {worst}, above {R_HAT_LIMIT}; give a higher `n_warmup` and "
            "`n_samples`, and if "
            "that does not help, the answers have several explanations that the chains do not move between",
            NotConvergedWarning,
        )
    proportions = draws["proportions"].mean(axis=(0, 1))
    counts = np.asarray(answers.table.T @ probabilities)
    rows = np.add.reduceat(counts, answers.first, axis=0) + answers.prior.sum(axis=1)
    profiles = np.log(counts + answers.of_column) - np.log(rows)[answers.who]
    scores = answers.table @ profiles + np.log(proportions)
    shares = vote_shares(table)
    votes_of_items = of_items(table, probabilities, seed)
    arguments: dict[str, object] = {"n_samples": n_samples, "n_warmup": n_warmup, "n_chains": n_chains}
    arguments |= {"level": level, "seed": seed, "prior_right": prior_right, "prior_other": prior_other}
    arguments |= {"prior_proportions": tuple(pseudo_items.tolist()), "classes": table.classes}
    met = {"n": str(table.n_items), "answers": str(table.n_answers)}
    if model is not None:
        arguments |= {"feature_model": feature_model, "prior_features": prior_features}
        met["features"] = own_digest
    return Consensus(
        **votes_of_items,
        proportions=proportions,
        profiles=Profiles(who=answers.who, what=answers.what, counts=counts, smoothing=answers.prior.copy()),
        method="Bayesian Dawid-Skene" if model is None else f"generative model with {feature_model} features",
        signature=Signature("bayesian_consensus", arguments, {**met, "demele": __version__}),
        objective=tuple(draws["log_joint"][0].tolist()),
        log_likelihood=float(np.logaddexp.reduce(scores, axis=1).sum()),
        iterations=n_warmup + n_samples,
        converged=worst is None,
        intervals={name: _intervals(watched[name], level) for name in ("proportions", "accuracy")},
        notes=(
            *_remarks(table, constant),
            *unlike_majority_note(votes_of_items),
            *_weak(table, prior_right, prior_other, with_features=model is not None),
            *_exchanged(chains, shares, votes_of_items["n_answers"] > 0, table),
            *_few_draws(effective, n_chains * n_samples),
        ),
        details={
            "accuracy": draws["accuracy"].mean(axis=(0, 1)),
            "r_hat": r_hat,
            "r_hat_limit": R_HAT_LIMIT,
            "effective_samples": effective,
            "log_joint": draws["log_joint"],
            "n_chains": n_chains,
            "seeds": tuple((seed, "consensus", "chain", index) for index in range(n_chains)),
        },
    )


def _worst(r_hat: dict[str, Floats], table: Annotations) -> str | None:
    """Name the quantity of the largest R-hat above the limit; what never varies (NaN) has nothing to converge."""
    largest = {name: float(np.nan_to_num(found, nan=1.0, posinf=np.inf).max()) for name, found in r_hat.items()}
    name = max(largest, key=lambda each: largest[each])
    if largest[name] <= R_HAT_LIMIT:
        return None
    place = int(np.nan_to_num(r_hat[name], nan=1.0, posinf=np.inf).argmax())
    what = {
        "log_joint": "the log joint probability",
        "proportions": f"the proportion of class {table.classes[place % table.k]!r}",
        "accuracy": f"the accuracy of annotator {table.annotators[place % table.n_annotators]!r}",
    }[name]
    return f"R-hat of {what} is {largest[name]:.3f}"


def _intervals(draws: Floats, level: float) -> tuple[Interval, ...]:
    flat = draws.reshape(-1, draws.shape[2])
    ends = np.quantile(flat, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return tuple(
        Interval(low=float(low), high=float(high), level=level, method="Gibbs sampling", kind="credible")
        for low, high in ends.T
    )


# What a reader must know ------------------------------------------------------------------------------------------


def _remarks(table: Annotations, constant: tuple[str, ...] | None) -> tuple[Note, ...]:
    """Say what is to know of the answers; ``constant`` are features that were left out, None without features."""
    notes = table.remarks()
    if constant is None:
        return notes
    found = [note for note in notes if note.code != "unanswered-items"]
    silent = int(np.count_nonzero(np.bincount(table.item, minlength=table.n_items) == 0))
    if silent:
        text = f"{silent} of {table.n_items} items have no answer: their labels come from their features alone."
        found.append(Note(code="labels-from-features", message=text))
    if constant:
        text = f"{len(constant)} features take one value only, and are left out."
        found.append(Note(code="constant-features", message=text, subject=constant[:6]))
    return tuple(found)


def _weak(table: Annotations, prior_right: float, prior_other: float, *, with_features: bool) -> tuple[Note, ...]:
    found: list[Note] = []
    if table.k > 1 and prior_right <= prior_other:
        message = (
            f"prior_right={prior_right:g} is not above prior_other={prior_other:g}: answers cannot "
            "tell which class is which, and only where the chains start does."
        )
        found.append(Note(code="prior-without-preference", message=message, severity="warning"))
    pairs = np.sort(table.item.astype(np.int64) * table.n_annotators + table.annotator)
    each = np.bincount(pairs[np.diff(pairs, prepend=-1) > 0] // table.n_annotators)
    each = each[each > 0]
    enough = int(np.count_nonzero(each >= ENOUGH_ANNOTATORS))
    if not with_features and 2 * enough < each.size and table.k > 1:
        message = (
            f"{enough} of {each.size} answered items have {ENOUGH_ANNOTATORS} annotators or more: with fewer, several "
            "explanations fit the answers as well, and the prior chooses among them."
        )
        found.append(Note(code="weakly-identified", message=message, severity="warning"))
    return tuple(found)


def _exchanged(chains: list[Chain], shares: Floats, answered: Flags, table: Annotations) -> tuple[Note, ...]:
    """Say which chains match the votes better with their classes in another order."""
    from scipy.optimize import linear_sum_assignment

    wrong = []
    for index, chain in enumerate(chains):
        overlap = np.einsum("ik,il->kl", chain.probabilities[answered], shares[answered])
        rows, columns = linear_sum_assignment(overlap, maximize=True)
        if overlap[rows, columns].sum() > np.trace(overlap) * (1 + 1e-9):
            wrong.append((index, [table.classes[k] for k in rows[rows != columns]]))
    if not wrong:
        return ()
    message = (
        f"{len(wrong)} of {len(chains)} chains match the votes better with classes exchanged (chain {wrong[0][0]}: "
        f"{shown(wrong[0][1])}): its labels may have each other's names, or most annotators be wrong about these "
        "classes; check some items, or give a higher prior_right."
    )
    subject = tuple(f"chain {index}" for index, _ in wrong)
    return (Note(code="classes-exchanged", message=message, subject=subject, severity="warning"),)


def _few_draws(effective: dict[str, Floats], n_draws: int) -> tuple[Note, ...]:
    found = np.concatenate([np.ravel(each) for each in effective.values()])
    few = int(np.count_nonzero(found < FEW_DRAWS))  # NaN is not: what never varies needs no draws
    if not few:
        return ()
    text = (
        f"{few} of {found.size} quantities have fewer than {FEW_DRAWS} effective draws (least: "
        f"{float(np.nanmin(found)):.0f} of {n_draws}): the ends of intervals are "
        "uncertain; give a higher `n_samples`."
    )
    return (Note(code="few-effective-draws", message=text),)


# The door ---------------------------------------------------------------------------------------------------------


def _prior_proportions(given: Any, k: int) -> Floats:
    if np.ndim(given) == 0:
        return np.full(k, kinds.checked_size(given, "prior_proportions"))
    values = as_column(given, "prior_proportions").tolist()
    if len(values) != k:
        raise InputError("prior_proportions", f"expected {k} numbers, one per class, or one for all, got {len(values)}")
    return np.array(
        [kinds.checked_size(value, f"prior_proportions, class {index}") for index, value in enumerate(values)]
    )
