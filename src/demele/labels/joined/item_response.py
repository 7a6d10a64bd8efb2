"""Dawid and Skene's model of annotators who err each in a way of their own, by EM."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_number, checked_whole
from demele.core.errors import InputError, NotConvergedWarning, warn_user
from demele.core.labelled import plain_text
from demele.core.seeds import checked_seed
from demele.core.sentences import in_code
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.answer_counts import AnswerCounts, answer_counts, posterior
from demele.labels.joined.consensus_result import Consensus, Profiles, unlike_majority_note
from demele.labels.joined.shrunken import Shrunken, coins, shrunken_fit
from demele.labels.joined.voting import of_items, vote_shares

Floats = NDArray[np.float64]

#: Pseudo-count of the answers that an annotator ever gave, where nobody asks for smoothing.
_LEAST = 1e-10
#: Pseudo-answers of the own prior in each row of a profile, and how far a posterior may still move at the end.
STRENGTH = 5.0
SETTLED = 1e-6
MAX_ITERATIONS = 5000
_LONGER = in_code("give a higher max_iterations or tolerance", otherwise="its labels may still change")


def dawid_skene(
    annotations: object,
    *,
    smoothing: float = 0.0,
    prior: Literal["own"] | None = None,
    strength: float | None = None,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float | None = None,
    classes: Sequence[object] | None = None,
    missing: object = None,
    seed: int = 0,
) -> Consensus:
    """Estimate labels and annotator errors from the answers alone: Dawid and Skene's model, by EM.

    Each item has a class of probabilities p; annotator w answers l about an item of class k with probability
    pi_wkl, independently of all other answers given the class. EM maximises the likelihood of the answers,
    prod_i sum_k p_k prod_(answers w, l of i) pi_wkl. It starts from the vote shares as posteriors.

    - M step: p = mean posterior; pi_wkl = (expected number of answers l of w about class k + smoothing), as shares
      over l. Without smoothing, 1e-10 is added to the counts of answers that the annotator ever gave: nothing to any
      estimate, but without it a cell that starts at 0 could never leave it. A class that an annotator cannot have met
      so gets equal shares of the annotator's answers.
    - E step: posterior of class k of item i in proportion to p_k prod pi_wkl.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        What :class:`demele.labels.Annotations` is made from: a long table (item, annotator, answer), or an
        array of shape (n_annotators, n_items). Repeated answers of an annotator about an item count each.
    smoothing : float
        Pseudo-count added to every cell (class, answer) of every annotator, 0 or more: the prior of each row of a
        profile is Dirichlet(1 + smoothing). 0.1 to 1 keeps annotators of few answers from looking perfect, or hopeless.
    prior : {"own"}, optional
        ``"own"`` draws each annotator's profile towards the annotator's own one coin: with r of n answers expected
        right and P = (sum r + 1) / (sum n + 2) over all annotators, accuracy = (r + 2P) / (n + 2); to row k of the
        counts come ``strength`` pseudo-answers, the share accuracy of them at k and the rest shared by the other
        classes. p is then (sum of posteriors + 1) / (n + K). For few answers per annotator, or many classes, where the
        profiles of the plain model have more cells than answers. It takes the place of ``smoothing``.
    strength : float, optional
        Of the own prior, in pseudo-answers per row, above 0; 5 by default.
    max_iterations : int
        At most so many iterations, 1 or more. One iteration is an E step and the M step after it; the M step from the
        vote shares comes before the first and is not counted. ``probabilities`` are those of the last E step, the
        other estimates those of the M step after it.
    tolerance : float, optional
        Stop when an iteration raises the objective by less than this many nats per answer, 0 or more; 1e-10 by default.
        With the own prior: when no posterior moves by more than this; 1e-6 by default. 0 runs exactly
        ``max_iterations``, and ``converged`` is then None.
    classes : sequence, optional
        All classes, in the order of results; by default the sorted answers.
    missing : int, str or float, optional
        Value that means "no answer", such as -1, in addition to NaN and None, in a table with a column or row per
        annotator.
    seed : int
        Seed of the draws that break ties, 0 or more, as in :func:`majority_vote`.

    Returns
    -------
    Consensus
        ``probabilities``: posteriors, in [0, 1]; an item without an answer has ``proportions``, and takes no part in
        estimating them. ``objective``: log likelihood of the answers plus log prior (up to a constant; without
        smoothing, 1e-9 or so per cell) after each iteration, in nats; it never decreases. ``log_likelihood``: at the
        end, without the prior. ``majority``: the plain vote.
        ``details["start"]``: objective at the vote shares. With the own prior, which moves with the estimates, nothing
        is maximised: ``objective`` is empty, and ``details`` holds ``"accuracies"``, the coins, and ``"change"``, the
        last largest move of a posterior.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the annotations or a setting cannot be used.

    Warns
    -----
    NotConvergedWarning
        If ``max_iterations`` came first.

    Notes
    -----
    A. P. Dawid and A. M. Skene, *Maximum likelihood estimation of observer error-rates using the EM algorithm*, Applied
    Statistics 28 (1979), 20-28, equations 2.3 to 2.5. The maximum is a local one. The model can do worse than the
    majority: where annotators share a bias, or answers about an item depend on each other in other ways, it takes
    agreement for skill. Few answers per annotator make it overconfident. Each iteration costs O(n_answers K).

    Examples
    --------
    >>> from demele.labels import dawid_skene
    >>> right = [0, 0, 0, 1, 1, 1] * 5
    >>> other = [1 - answer for answer in right]  # always wrong, and so as telling as who is always right
    >>> noisy = [0, 1, 0, 1, 0, 1] * 5
    >>> found = dawid_skene({"ann": right, "bob": right, "cal": right, "eve": other, "dan": noisy})
    >>> found.labels.tolist() == right
    True
    >>> found.transition("eve").probabilities.round(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    own = _check_prior(prior, strength, smoothing)
    least = (1e-10 if own is None else SETTLED) if tolerance is None else tolerance
    _check(smoothing, max_iterations, least)
    table = read_annotations(annotations, classes=classes, missing=missing)
    settings: dict[str, Any] = {
        "max_iterations": int(max_iterations),
        "tolerance": float(least),
        "seed": checked_seed(seed),
    }
    if own is not None:
        settings = {"prior": "own", "strength": own, **settings}
        return _shrunken(table, "Dawid-Skene, own prior", "dawid_skene", settings, own)
    shares, answers, start = votes_and_counts(table)
    fit = _maximise(answers, float(smoothing), start, int(max_iterations), float(least) * table.n_answers)
    if fit.converged is False:
        gain = (fit.trace[-1] - ([fit.start, *fit.trace])[-2]) / table.n_answers
        warn_user(
            f"Dawid-Skene had not converged after {max_iterations} iterations: the last one still raised the objective "
            f"by {gain:.1e} nats per answer, above tolerance={least}; {_LONGER}",
            NotConvergedWarning,
        )
    return Consensus(
        **joined_labels(table, answers, shares, fit.posterior, fit.proportions, seed),
        profiles=Profiles(
            who=answers.who,
            what=answers.what,
            counts=np.asarray(answers.transposed @ fit.posterior.T),
            smoothing=np.full((table.k, table.k), float(smoothing)),
        ),
        method="Dawid-Skene",
        signature=signature_of("dawid_skene", table, {"smoothing": float(smoothing), **settings}),
        objective=tuple(fit.trace),
        log_likelihood=fit.log_likelihood,
        iterations=len(fit.trace),
        converged=fit.converged,
        details={"start": fit.start},
    )


def one_coin(
    annotations: object,
    *,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = SETTLED,
    classes: Sequence[object] | None = None,
    missing: object = None,
    seed: int = 0,
) -> Consensus:
    """Estimate labels, and one accuracy per annotator, from the answers alone: the one-coin model, by EM.

    Each annotator is correct with the same probability for all classes, and otherwise gives all other classes equally
    often. With r of n answers of the annotator expected to be correct, and P = (sum r + 1) / (sum n + 2) over all
    annotators, the accuracy is (r + 2P) / (n + 2); the proportions of the classes are (sum of posteriors + 1) /
    (n_items + K). Posteriors start at the vote shares.

    It has one number per annotator where :func:`dawid_skene` has K (K - 1): the better one where answers are few or
    classes many, the worse one where annotators mistake one class far more often than another.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        As in :func:`dawid_skene`.
    max_iterations : int
        At most so many iterations, 1 or more.
    tolerance : float
        Stop when no posterior moves by more than this; 0 runs exactly ``max_iterations``.
    classes : sequence, optional
        All classes, in the order of results; by default the sorted answers.
    missing : int, str or float, optional
        Value that means "no answer", such as -1, in addition to NaN and None, in a table with a column or row per
        annotator.
    seed : int
        Seed of the draws that break ties, 0 or more, as in :func:`majority_vote`.

    Returns
    -------
    Consensus
        As of :func:`dawid_skene` with its own prior: nothing is maximised, so that ``objective`` is empty.
        ``details["accuracies"]`` holds the coins; ``profiles`` count the answers against the posteriors, class by
        class, which the model itself does not.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the annotations or a setting cannot be used.

    Warns
    -----
    NotConvergedWarning
        If ``max_iterations`` came first.

    Examples
    --------
    >>> from demele.labels import one_coin
    >>> right = [0, 1, 2, 0, 1, 2]
    >>> found = one_coin({"ann": right, "bob": right, "eve": [1, 1, 0, 2, 0, 2]})
    >>> found.labels.tolist() == right
    True
    >>> found.details["accuracies"].round(2).tolist()
    [0.94, 0.94, 0.44]
    """
    _check(0.0, max_iterations, tolerance)
    table = read_annotations(annotations, classes=classes, missing=missing)
    settings: dict[str, Any] = {
        "max_iterations": int(max_iterations),
        "tolerance": float(tolerance),
        "seed": checked_seed(seed),
    }
    return _shrunken(table, "one-coin", "one_coin", settings, None)


def votes_and_counts(table: Annotations) -> tuple[Floats, AnswerCounts, Floats]:
    """Return the vote shares, the answers as counts, and the shares of answered items as posteriors to start from."""
    shares, answers = vote_shares(table), answer_counts(table)
    return shares, answers, shares[answers.answered].T


def joined_labels(
    table: Annotations, answers: AnswerCounts, shares: Floats, found: Floats, proportions: Floats, seed: int
) -> dict[str, Any]:
    """Return what every consensus by a model says of the items, as arguments of :class:`Consensus`.

    Parameters
    ----------
    table, answers : Annotations, AnswerCounts
    shares : array of shape (n_items, K)
        Of the votes.
    found : array of shape (K, n)
        Posteriors of the items that have answers; the others get the proportions.
    proportions : array of shape (K,)
    """
    probabilities = np.tile(proportions, (table.n_items, 1))
    probabilities[answers.answered] = found.T
    joined = of_items(table, shares, probabilities, seed)
    return {**joined, "proportions": proportions, "notes": table.remarks() + unlike_majority_note(joined)}


def own_profiles(table: Annotations, answers: AnswerCounts, found: Floats, strength: float) -> Profiles:
    """Return profiles that are drawn towards each annotator's own coin, from posteriors of shape (K, n)."""
    counts = np.asarray(answers.transposed @ found.T)
    return Profiles(
        who=answers.who,
        what=answers.what,
        counts=counts,
        smoothing=np.zeros((table.k, table.k)),
        strength=strength,
        accuracies=coins(answers, counts),
    )


def warn_unsettled(drawn: Shrunken, name: str, tolerance: float) -> None:
    """Warn where the iterations came to their end first."""
    if drawn.converged is False:
        warn_user(
            f"{name} had not converged after {drawn.iterations} iterations: the last one still moved a posterior by "
            f"{drawn.change:.1e}, above tolerance={tolerance}; {_LONGER}",
            NotConvergedWarning,
        )


def signature_of(function: str, table: Annotations, arguments: dict[str, object]) -> Signature:
    """Return the signature of a way of joining answers."""
    met = {"n": str(table.n_items), "answers": str(table.n_answers), "demele": __version__}
    return Signature(function, {**arguments, "classes": table.classes}, met)


def _shrunken(
    table: Annotations, method: str, function: str, settings: dict[str, Any], strength: float | None
) -> Consensus:
    shares, answers, start = votes_and_counts(table)
    most, tolerance = settings["max_iterations"], settings["tolerance"]
    fit = shrunken_fit(answers, start, strength=strength, max_iterations=most, tolerance=tolerance)
    warn_unsettled(fit, method, tolerance)
    return Consensus(
        **joined_labels(table, answers, shares, fit.posterior, fit.proportions, settings["seed"]),
        profiles=own_profiles(table, answers, fit.posterior, strength or 0.0),
        method=method,
        signature=signature_of(function, table, settings),
        log_likelihood=fit.log_likelihood,
        iterations=fit.iterations,
        converged=fit.converged,
        details={"accuracies": fit.accuracies, "change": fit.change},
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    """Where EM ended; ``posterior`` is of shape (K, n)."""

    posterior: Floats
    proportions: Floats
    trace: list[float]
    start: float
    log_likelihood: float
    converged: bool | None


def _maximise(answers: AnswerCounts, smoothing: float, found: Floats, max_iterations: int, least_gain: float) -> _Fit:
    """Iterate from given posteriors of shape (K, n); ``least_gain`` is that of the whole objective, in nats."""
    proportions, log_profiles, log_prior = _m_step(answers, smoothing, found)
    found, log_likelihood = posterior(answers, proportions, log_profiles)
    start = before = log_likelihood + log_prior
    trace: list[float] = []
    converged = None if least_gain == 0 else False
    while True:
        # The E step above was of this iteration; it also gave the objective of the one before.
        proportions, log_profiles, log_prior = _m_step(answers, smoothing, found)
        following, log_likelihood = posterior(answers, proportions, log_profiles)
        trace.append(log_likelihood + log_prior)
        if least_gain and trace[-1] - before < least_gain:
            converged = True
        if converged or len(trace) == max_iterations:
            return _Fit(found, proportions, trace, start, log_likelihood, converged)
        found, before = following, trace[-1]


def _m_step(answers: AnswerCounts, smoothing: float, found: Floats) -> tuple[Floats, Floats, float]:
    """Return proportions (K,), log profiles (n_columns, K) and the log prior of the profiles."""
    pseudo = smoothing or _LEAST
    counts = np.asarray(answers.transposed @ found.T)
    counts += pseudo
    # Cells of answers that an annotator never gave are not stored, but they have a prior too, unless it is the least.
    n_unseen = answers.k - answers.n_own if smoothing else np.zeros_like(answers.n_own)
    log_sums = np.log(np.add.reduceat(counts, answers.first, axis=0) + (n_unseen * pseudo)[:, None])
    log_profiles = np.log(counts, out=counts)
    log_profiles -= log_sums[answers.who]
    unseen = (n_unseen[:, None] * (np.log(pseudo) - log_sums)).sum()
    return found.mean(axis=1), log_profiles, pseudo * float(log_profiles.sum() + unseen)


def _check(smoothing: float, max_iterations: int, tolerance: float) -> None:
    for name, value in (("smoothing", smoothing), ("tolerance", tolerance)):
        checked_number(value, name, "a finite number of 0 or more", inside=lambda number: 0 <= number < np.inf)
    checked_whole(max_iterations, "max_iterations", "a whole number of at least 1", inside=lambda number: number >= 1)


def _check_prior(prior: object, strength: object, smoothing: object) -> float | None:
    """Return the strength of the own prior, or None if it is not asked for."""
    if prior is None:
        if strength is not None:
            raise InputError("strength", "is of prior='own', which is not asked for; smoothing= is what prior=None has")
        return None
    if not isinstance(prior, str) or prior != "own":
        raise InputError("prior", f"expected 'own' or None, got {plain_text(prior)}")
    if smoothing != 0:
        raise InputError("smoothing", f"prior='own' takes its place; drop it, or prior, got {plain_text(smoothing)}")
    if strength is None:
        return STRENGTH
    wanted = "a finite number of pseudo-answers above 0"
    return checked_number(strength, "strength", wanted, inside=lambda number: 0 < number < np.inf)
