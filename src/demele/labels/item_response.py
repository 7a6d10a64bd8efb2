"""Dawid and Skene's model of annotators who err each in a way of their own, by EM."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, NotConvergedWarning, warn_user
from demele.core.labelled import plain_text
from demele.core.signature import Signature
from demele.labels.annotations import Annotations, read_annotations
from demele.labels.consensus import Consensus, Profiles, unlike_majority_note
from demele.labels.voting import names_of_classes, vote_shares

__all__ = ["dawid_skene"]

Floats = NDArray[np.float64]

#: Pseudo-count of the answers that an annotator ever gave, where nobody asks for smoothing.
_LEAST = 1e-10


def dawid_skene(
    annotations: object,
    *,
    smoothing: float = 0.0,
    max_iterations: int = 5000,
    tolerance: float = 1e-10,
    classes: Sequence[object] | None = None,
    missing: object = None,
) -> Consensus:
    """Estimate labels, and how each annotator errs, from the answers alone: Dawid and Skene's model, by EM.

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
        What :func:`demele.labels.annotations.read_annotations` reads: a long table (item, annotator, answer), or an
        array of shape (n_annotators, n_items). Repeated answers of an annotator about an item count each.
    smoothing : float
        Pseudo-count added to every cell (class, answer) of every annotator, 0 or more: the prior of each row of a
        profile is Dirichlet(1 + smoothing). 0.1 to 1 keeps annotators of few answers from looking perfect, or hopeless.
    max_iterations : int
        At most so many iterations, 1 or more. One iteration is an E step and the M step after it; the M step from the
        vote shares comes before the first and is not counted. ``probabilities`` are those of the last E step, the
        other estimates those of the M step after it.
    tolerance : float
        Stop when an iteration raises the objective by less than this many nats per answer, 0 or more. 0 runs exactly
        ``max_iterations``, and ``converged`` is then None.
    classes : sequence, optional
        All classes, in the order of results and of ties; by default the sorted answers.
    missing : int, str or float, optional
        What stands for no answer, such as -1, beside NaN and None in a table with a column or row per annotator.

    Returns
    -------
    Consensus
        ``probabilities``: posteriors, in [0, 1]; an item without an answer has ``proportions``, and takes no part in
        estimating them. ``objective``: log likelihood of the answers plus log prior (up to a constant; without
        smoothing, 1e-9 or so per cell) after each iteration, in nats; it never decreases. ``log_likelihood``: at the
        end, without the prior. ``majority``: the plain vote.
        ``details["start"]``: objective at the vote shares.

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
    _check(smoothing, max_iterations, tolerance)
    table = read_annotations(annotations, classes=classes, missing=missing)
    shares = vote_shares(table)
    model = _model(table, float(smoothing))
    fit = _maximise(model, shares[model.answered].T, int(max_iterations), float(tolerance) * table.n_answers)
    if fit.converged is False:
        gain = (fit.trace[-1] - ([fit.start, *fit.trace])[-2]) / table.n_answers
        warn_user(
            f"Dawid-Skene had not converged after {max_iterations} iterations: the last one still raised the objective "
            f"by {gain:.1e} nats per answer, above tolerance={tolerance}; give a higher max_iterations or tolerance",
            NotConvergedWarning,
        )
    probabilities = np.tile(fit.proportions, (table.n_items, 1))
    probabilities[model.answered] = fit.posterior.T
    names = names_of_classes(table)
    labels, majority = names[probabilities.argmax(axis=1)], names[shares.argmax(axis=1)]
    return Consensus(
        labels=labels,
        probabilities=probabilities,
        majority=majority,
        items=table.items,
        annotators=table.annotators,
        classes=table.classes,
        n_answers=np.bincount(table.item, minlength=table.n_items),
        proportions=fit.proportions,
        profiles=Profiles(
            who=model.who,
            what=model.what,
            counts=np.asarray(model.transposed @ fit.posterior.T),
            smoothing=np.full((table.k, table.k), model.smoothing),
        ),
        method="Dawid-Skene",
        signature=_signature(table, smoothing, max_iterations, tolerance),
        objective=tuple(fit.trace),
        log_likelihood=fit.log_likelihood,
        iterations=len(fit.trace),
        converged=fit.converged,
        notes=table.remarks() + unlike_majority_note(labels[model.answered], majority[model.answered]),
        details={"start": fit.start},
    )


@dataclass(frozen=True, slots=True)
class _Model:
    """The answers as EM wants them, of the items that have any.

    ``responses`` (n, n_columns) and ``transposed`` (n_columns, n) count answers, both by rows; the columns of annotator
    w are those from ``first[w]`` on, and ``n_own[w]`` is how many they are.
    """

    answered: NDArray[np.intp]
    responses: Any
    transposed: Any
    who: NDArray[np.intp]
    what: NDArray[np.intp]
    first: NDArray[np.intp]
    n_own: Floats
    k: int
    smoothing: float

    @property
    def pseudo(self) -> float:
        """What is added to each count."""
        return self.smoothing or _LEAST


@dataclass(frozen=True, slots=True)
class _Fit:
    """Where EM ended; ``posterior`` is of shape (K, n)."""

    posterior: Floats
    proportions: Floats
    trace: list[float]
    start: float
    log_likelihood: float
    converged: bool | None


def _model(table: Annotations, smoothing: float) -> _Model:
    found = table.responses()
    answered = np.unique(table.item).astype(np.intp)
    kept = found.counts if answered.size == table.n_items else found.counts[answered]
    # Columns come sorted by annotator, and everybody has at least one.
    first = np.searchsorted(found.who, np.arange(table.n_annotators))
    n_own = np.bincount(found.who, minlength=table.n_annotators).astype(np.float64)
    return _Model(
        answered, kept.tocsr(), kept.T.tocsr(), found.who, found.what, first.astype(np.intp), n_own, table.k, smoothing
    )


def _maximise(model: _Model, posterior: Floats, max_iterations: int, least_gain: float) -> _Fit:
    """Iterate from given posteriors of shape (K, n); ``least_gain`` is that of the whole objective, in nats."""
    proportions, log_profiles, log_prior = _m_step(model, posterior)
    posterior, log_likelihood = _e_step(model, proportions, log_profiles)
    start = before = log_likelihood + log_prior
    trace: list[float] = []
    converged = None if least_gain == 0 else False
    while True:
        # The E step above was of this iteration; it also gave the objective of the one before.
        proportions, log_profiles, log_prior = _m_step(model, posterior)
        following, log_likelihood = _e_step(model, proportions, log_profiles)
        trace.append(log_likelihood + log_prior)
        if least_gain and trace[-1] - before < least_gain:
            converged = True
        if converged or len(trace) == max_iterations:
            return _Fit(posterior, proportions, trace, start, log_likelihood, converged)
        posterior, before = following, trace[-1]


def _m_step(model: _Model, posterior: Floats) -> tuple[Floats, Floats, float]:
    """Return proportions (K,), log profiles (n_columns, K) and the log prior of the profiles."""
    counts = np.asarray(model.transposed @ posterior.T)
    counts += model.pseudo
    # Cells of answers that an annotator never gave are not stored, but they have a prior too, unless it is the least.
    n_unseen = model.k - model.n_own if model.smoothing else np.zeros_like(model.n_own)
    log_sums = np.log(np.add.reduceat(counts, model.first, axis=0) + (n_unseen * model.pseudo)[:, None])
    log_profiles = np.log(counts, out=counts)
    log_profiles -= log_sums[model.who]
    unseen = (n_unseen[:, None] * (np.log(model.pseudo) - log_sums)).sum()
    return posterior.mean(axis=1), log_profiles, model.pseudo * float(log_profiles.sum() + unseen)


def _e_step(model: _Model, proportions: Floats, log_profiles: Floats) -> tuple[Floats, float]:
    """Return the posterior (K, n) and the log likelihood.

    Profiles are positive. Only a class without a vote has a proportion of 0, and a score of -inf; at least one class of
    each item has a finite score.
    """
    scores = np.ascontiguousarray((model.responses @ log_profiles).T)
    with np.errstate(divide="ignore"):
        scores += np.log(proportions)[:, None]
    top = scores.max(axis=0)
    scores -= top
    np.exp(scores, out=scores)
    sums = scores.sum(axis=0)
    scores /= sums
    return scores, float((top + np.log(sums)).sum())


def _check(smoothing: float, max_iterations: int, tolerance: float) -> None:
    for name, value in (("smoothing", smoothing), ("tolerance", tolerance)):
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not np.isfinite(value) or value < 0:
            raise InputError(f"{name}: expected a finite number of 0 or more, got {plain_text(value)}")
    if not isinstance(max_iterations, int | np.integer) or isinstance(max_iterations, bool) or max_iterations < 1:
        raise InputError(f"max_iterations: expected a whole number of at least 1, got {plain_text(max_iterations)}")


def _signature(table: Annotations, smoothing: float, max_iterations: int, tolerance: float) -> Signature:
    from demele import __version__

    arguments: dict[str, object] = {
        "smoothing": float(smoothing),
        "max_iterations": int(max_iterations),
        "tolerance": float(tolerance),
        "classes": table.classes,
    }
    met = {"n": str(table.n_items), "answers": str(table.n_answers), "demele": __version__}
    return Signature("dawid_skene", arguments, met)
