"""Dawid and Skene's model of annotators who err each in a way of their own, by EM."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Floats
from demele.core.errors import InputError, NotConvergedWarning, quoted, warn_user
from demele.core.kinds import Amount, Count, Positive, Seed, checked
from demele.core.result import Note
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.voting import Consensus, Profiles, majority_vote, of_items, unlike_majority_note, vote_shares


class AnswerCounts:
    """The answers about the items that have any.

    ``responses`` (n, n_columns) and ``transposed`` (n_columns, n) count answers, both by rows; column c is annotator
    ``who[c]`` answering ``what[c]``. The columns of annotator w are those from ``first[w]`` on, and ``n_own[w]`` is how
    many they are. ``answered`` holds the places of the n items among all, and ``votes`` (K, n) their vote shares.
    """

    def __init__(self, table: Annotations) -> None:
        counts, self.who, self.what = table.responses()
        self.answered = np.unique(table.item).astype(np.intp)
        self.votes = vote_shares(table)[self.answered].T
        kept = counts if self.answered.size == table.n_items else counts[self.answered]
        self.responses, self.transposed = kept.tocsr(), kept.T.tocsr()
        self.k = table.k
        # Columns come sorted by annotator, and everybody has at least one.
        self.first = np.searchsorted(self.who, np.arange(table.n_annotators)).astype(np.intp)
        self.n_own = np.bincount(self.who, minlength=table.n_annotators).astype(np.float64)


def posterior(answers: AnswerCounts, proportions: Floats, log_profiles: Floats) -> tuple[Floats, float]:
    """Return the posterior of the classes (K, n) and the log likelihood.

    Parameters
    ----------
    proportions : array of shape (K,)
    log_profiles : array of shape (n_columns, K)
        Log probability of the answer of each column about an item of class k: finite. Only a class without a vote may
        have a proportion of 0, and a score of -inf; at least one class of each item has a finite score.
    """
    scores = np.ascontiguousarray((answers.responses @ log_profiles).T)
    with np.errstate(divide="ignore"):
        scores += np.log(proportions)[:, None]
    top = scores.max(axis=0)
    scores -= top
    np.exp(scores, out=scores)
    sums = scores.sum(axis=0)
    scores /= sums
    return scores, float((top + np.log(sums)).sum())


# Annotators held near one number each, their accuracy: the one-coin model, and Dawid and Skene's shrunken to it -------


#: Pseudo-answers of every annotator at the accuracy that all have together.
POOLED = 2.0
#: Pseudo-answers of the own prior in each row of a profile, and how far a posterior may still move at the end.
STRENGTH = 5.0
SETTLED = 1e-6
MAX_ITERATIONS = 5000


@dataclass(frozen=True, slots=True)
class Shrunken:
    """Where the iterations ended: ``posterior`` (K, n), ``proportions`` (K,), ``accuracies`` (n_annotators,)."""

    posterior: Floats
    proportions: Floats
    accuracies: Floats
    log_likelihood: float
    iterations: int
    change: float
    converged: bool | None


def shrunken_fit(
    answers: AnswerCounts,
    name: str,
    strength: float | None,
    *,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = SETTLED,
) -> Shrunken:
    """Iterate from the vote shares until no posterior moves by more than ``tolerance``, or warn that one does.

    Parameters
    ----------
    name : str
        What the warning calls the method.
    strength : float or None
        Pseudo-answers with which each row of an annotator's profile is drawn to the annotator's one coin; None is the
        one-coin model itself, in which nothing but the coin is left.
    tolerance : float
        0 runs all iterations.
    """
    found, converged = answers.votes, None if tolerance == 0 else False
    change, done = np.inf, 0
    while True:
        proportions, accuracies, log_profiles = _estimates(answers, found, strength)
        following, log_likelihood = posterior(answers, proportions, log_profiles)
        if converged or done == max_iterations:
            break
        change, found, done = float(np.abs(following - found).max()), following, done + 1
        converged = change <= tolerance if tolerance else None
    if converged is False:
        warn_user(
            f"{name} had not converged after {done} iterations: the last one still moved a posterior by "
            f"{change:.1e}, above {tolerance}; raise `max_iterations` or `tolerance`",
            NotConvergedWarning,
        )
    return Shrunken(found, proportions, accuracies, log_likelihood, done, change, converged)


def coins(answers: AnswerCounts, counts: Floats) -> Floats:
    """Return the accuracy of each annotator, drawn to that of all together by two pseudo-answers.

    With r of n answers expected right, P = (sum r + 1) / (sum n + 2): (r + 2P) / (n + 2), strictly between 0 and 1.

    Parameters
    ----------
    counts : array of shape (n_columns, K)
        Expected number of answers of each column about each class.
    """
    if answers.k == 1:  # nothing but right answers
        return np.ones(answers.first.size)
    columns = np.arange(answers.who.size)
    size = answers.first.size
    right = np.bincount(answers.who, weights=counts[columns, answers.what], minlength=size)
    all_answers = np.bincount(answers.who, weights=counts.sum(axis=1), minlength=size)
    pooled = (right.sum() + 1) / (all_answers.sum() + 2)
    return np.asarray((right + POOLED * pooled) / (all_answers + POOLED))


def _estimates(answers: AnswerCounts, found: Floats, strength: float | None) -> tuple[Floats, Floats, Floats]:
    """Return proportions (K,), accuracies (n_annotators,) and log profiles (n_columns, K)."""
    counts = np.asarray(answers.transposed @ found.T)
    k, n = found.shape
    accuracies = coins(answers, counts)
    # Of each column: the coin of its annotator says it of the class that it names, and of any other.
    profiles = np.repeat(((1 - accuracies) / max(k - 1, 1))[answers.who][:, None], k, axis=1)
    profiles[np.arange(answers.who.size), answers.what] = accuracies[answers.who]
    if strength is not None:
        # Answers that an annotator never gave have counts of 0, so that the sum of what was given is that of all.
        sums = np.add.reduceat(counts, answers.first, axis=0)[answers.who] + strength
        profiles = (counts + strength * profiles) / sums
    proportions = (found.sum(axis=1) + 1) / (n + k)
    return proportions, accuracies, np.log(profiles)


# Dawid and Skene's model of annotators who err each in a way of their own, by EM --------------------------------------


#: Pseudo-count of the answers that an annotator ever gave, where nobody asks for smoothing.
_LEAST = 1e-10


@checked
def dawid_skene(
    annotations: object,
    *,
    smoothing: Amount = 0.0,
    prior: Literal["own"] | None = None,
    strength: Positive | None = None,
    max_iterations: Count = MAX_ITERATIONS,
    tolerance: Amount | None = None,
    classes: Sequence[object] | None = None,
    no_answer: object = None,
    seed: Seed = 0,
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
    no_answer : int, str or float, optional
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
    if prior is None and strength is not None:
        raise InputError("strength", "is of prior='own', which is not asked for; smoothing= is what prior=None has")
    if prior == "own" and smoothing != 0:
        raise InputError("smoothing", f"prior='own' takes its place; drop it, or prior, got {quoted(smoothing)}")
    least = (1e-10 if prior is None else SETTLED) if tolerance is None else tolerance
    settings: dict[str, Any] = {"max_iterations": max_iterations, "tolerance": least, "seed": seed}
    table = read_annotations(annotations, classes=classes, no_answer=no_answer)
    if prior == "own":
        own = STRENGTH if strength is None else strength
        settings = {"prior": "own", "strength": own, **settings}
        return _shrunken(table, "Dawid-Skene, own prior", "dawid_skene", settings, own)
    answers, smoothing = AnswerCounts(table), float(smoothing)
    least_gain = least * table.n_answers  # of the whole objective, in nats
    found, gain = answers.votes, np.inf
    objective: list[float] = []
    converged = None if least_gain == 0 else False
    while True:
        # The E step is of the iteration to come; it also gives the objective of the one that the M step ends.
        proportions, log_profiles, log_prior = _m_step(answers, smoothing, found)
        following, log_likelihood = posterior(answers, proportions, log_profiles)
        objective.append(log_likelihood + log_prior)
        if len(objective) > 1:
            gain = objective[-1] - objective[-2]
        if least_gain and gain < least_gain:
            converged = True
        if converged or len(objective) > max_iterations:
            break
        found = following
    if converged is False:
        warn_user(
            f"Dawid-Skene had not converged after {max_iterations} iterations: the last one still raised the objective "
            f"by {gain / table.n_answers:.1e} nats per answer, above {least}; raise `max_iterations` or `tolerance`",
            NotConvergedWarning,
        )
    return _consensus(
        table,
        answers,
        found,
        proportions,
        ("dawid_skene", {"smoothing": smoothing, **settings}),
        smoothing=smoothing,
        method="Dawid-Skene",
        objective=tuple(objective[1:]),
        log_likelihood=log_likelihood,
        iterations=len(objective) - 1,
        converged=converged,
        details={"start": objective[0]},
    )


@checked
def one_coin(
    annotations: object,
    *,
    max_iterations: Count = MAX_ITERATIONS,
    tolerance: Amount = SETTLED,
    classes: Sequence[object] | None = None,
    no_answer: object = None,
    seed: Seed = 0,
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
    no_answer : int, str or float, optional
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
    settings: dict[str, Any] = {"max_iterations": max_iterations, "tolerance": tolerance, "seed": seed}
    table = read_annotations(annotations, classes=classes, no_answer=no_answer)
    return _shrunken(table, "one-coin", "one_coin", settings, None)


def _shrunken(
    table: Annotations, method: str, function: str, settings: dict[str, Any], strength: float | None
) -> Consensus:
    answers = AnswerCounts(table)
    limits = {name: settings[name] for name in ("max_iterations", "tolerance")}
    fit = shrunken_fit(answers, method, strength, **limits)
    return _consensus(
        table,
        answers,
        fit.posterior,
        fit.proportions,
        (function, settings),
        strength=strength or 0.0,
        method=method,
        log_likelihood=fit.log_likelihood,
        iterations=fit.iterations,
        converged=fit.converged,
        details={"accuracies": fit.accuracies, "change": fit.change},
    )


def _consensus(
    table: Annotations,
    answers: AnswerCounts,
    found: Floats,
    proportions: Floats,
    call: tuple[str, dict[str, Any]],
    *,
    smoothing: float = 0.0,
    strength: float = 0.0,
    notes: tuple[Note, ...] = (),
    **more: Any,
) -> Consensus:
    """Return the consensus of a model.

    Parameters
    ----------
    found : array of shape (K, n)
        Posteriors of the items that have answers; the others get the proportions.
    call : tuple
        Function and arguments of the signature.
    smoothing, strength : float
        Pseudo-counts of profiles: of each cell, and of each row at the annotator's own coin.
    """
    probabilities = np.tile(proportions, (table.n_items, 1))
    probabilities[answers.answered] = found.T
    joined, counts = of_items(table, probabilities, call[1]["seed"]), np.asarray(answers.transposed @ found.T)
    met = {"n": str(table.n_items), "answers": str(table.n_answers), "demele": __version__}
    return Consensus(
        **joined,
        proportions=proportions,
        profiles=Profiles(
            who=answers.who,
            what=answers.what,
            counts=counts,
            smoothing=np.full((table.k, table.k), smoothing),
            strength=strength,
            accuracies=coins(answers, counts),
        ),
        signature=Signature(call[0], {**call[1], "classes": table.classes}, met),
        notes=table.remarks() + unlike_majority_note(joined) + notes,
        **more,
    )


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


# The consensus where nobody names a method: an average of the vote and of models that are shrunken --------------------


#: Answers per annotator, at the median, below which the blend of two classes may well be worse than the vote.
FEW_ANSWERS = 10

Method = Literal["blend", "majority", "one-coin", "own-prior", "dawid-skene"]


@checked
def consensus(
    annotations: object,
    *,
    method: Method = "blend",
    classes: Sequence[object] | None = None,
    no_answer: object = None,
    seed: Seed = 0,
) -> Consensus:
    """Aggregate the answers of several annotators, by a rule that is rarely worse than the majority.

    The blend is the mean of what several ways say of each class of an item:

    - 3 classes or more: the shares of the votes, and :func:`dawid_skene` with ``prior="own"``;
    - 2 classes: these two and :func:`one_coin`. There a profile per class and the proportions of the classes trade off
      against each other, and a rare class can get lost.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        What :class:`demele.labels.Annotations` is made from: a long table (item, annotator, answer), or an
        array of shape (n_annotators, n_items). Repeated answers of an annotator about an item count each.
    method : {"blend", "majority", "one-coin", "own-prior", "dawid-skene"}
        Another way alone, with its defaults: :func:`majority_vote`, :func:`one_coin`, :func:`dawid_skene` with
        ``prior="own"``, and plain :func:`dawid_skene`. Each function has options of its own.
    classes : sequence, optional
        All classes, in the order of results; by default the sorted answers.
    no_answer : int, str or float, optional
        Value that means "no answer", such as -1, in addition to NaN and None, in a table with a column or row per
        annotator.
    seed : int
        Seed of the draws that break ties, 0 or more, as in :func:`majority_vote`.

    Returns
    -------
    Consensus
        Of the blend: ``probabilities`` in [0, 1], the mean; an item without an answer has ``proportions``, which are
        the mean of the others. ``profiles`` count the answers against them, drawn towards each annotator's own accuracy
        by 5 pseudo-answers per class. ``iterations`` is the most that a model took; ``objective`` is empty and
        ``log_likelihood`` None, for nothing is maximised. ``details["members"]`` names what was averaged.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        If the annotations cannot be used, or there is no such method.

    Warns
    -----
    NotConvergedWarning
        If a model had not converged after 5000 iterations.

    Notes
    -----
    Equal weights of the members are an empirical rule, not a theorem. On three crowds with known truth, the accuracy of
    the blend was from 0.5 percentage points (pp) below the majority to 1.5 pp above. On 13 other crowds, which did not
    guide the choice, the blend was below the majority on 3, by 1.1, 1.3 and 2.3 pp, and up to 8.6 pp above on the
    others (mean accuracy .837, majority .821). On simulated crowds it was from .7 pp below to 7 pp above on average;
    the documentation lists them all. So the blend can be two points worse. If annotators answer much and each in their
    own way, plain :func:`dawid_skene` can be more accurate. If many share a bias, such as answers that the true classes
    do not include, the blend can lose as the models do: on answers about ImageNet, it was 11 pp below the majority.
    With two classes and few answers per annotator, use the vote, or compare both: with 3 answers an item and 6 an
    annotator, .5 to .9 of them correct, the vote was correct on 78.2% and the blend on 74.0%. A note,
    ``"few-answers"``, appears if the median annotator gave fewer than 10.

    Examples
    --------
    >>> from demele.labels import consensus
    >>> found = consensus([[0, 0, 1], [0, 0, 1], [0, 1, 1]])
    >>> found.labels.tolist(), found.confidence.round(2).tolist()
    ([0, 0, 1], [1.0, 0.88, 1.0])
    >>> found.details["members"]
    ('majority', 'own-prior', 'one-coin')
    """
    table = read_annotations(annotations, classes=classes, no_answer=no_answer)
    if method == "blend":
        return _blend(table, seed)
    own = partial(dawid_skene, prior="own")
    ways: dict[str, Any] = {
        "majority": majority_vote,
        "one-coin": one_coin,
        "own-prior": own,
        "dawid-skene": dawid_skene,
    }
    found: Consensus = ways[method](table, seed=seed)
    return found


def _blend(table: Annotations, seed: int) -> Consensus:
    answers = AnswerCounts(table)
    strengths = {"own-prior": STRENGTH, **({"one-coin": None} if table.k <= 2 else {})}
    fits = {name: shrunken_fit(answers, name, strength) for name, strength in strengths.items()}
    found: Floats = np.mean([answers.votes, *(fit.posterior for fit in fits.values())], axis=0)
    half = float(np.median(np.bincount(table.annotator, minlength=table.n_annotators)))
    message = (
        f"half of the annotators gave at most {half:g} answers; with two classes and so few, the vote "
        "(majority_vote) is often better than the blend: take it, or compare both"
    )
    few = table.k <= 2 and half < FEW_ANSWERS
    return _consensus(
        table,
        answers,
        found,
        found.mean(axis=1),
        ("consensus", {"method": "blend", "seed": seed}),
        strength=STRENGTH,
        notes=(Note(code="few-answers", message=message),) if few else (),
        method="blend",
        iterations=max(fit.iterations for fit in fits.values()),
        converged=all(fit.converged for fit in fits.values()),
        details={"members": ("majority", *fits)},
    )
