"""Dawid and Skene's model as a Bayesian one, and Felt's, which also uses features of the items: by Gibbs sampling."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np

from demele.core.arrays import Flags, Floats
from demele.core.errors import InputError, NotConvergedWarning, warn_user
from demele.core.kinds import (
    Count,
    CountOrNone,
    Jobs,
    Level,
    Positive,
    Seed,
    at_least,
    checked,
    checked_size,
)
from demele.core.labelled import shown
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.table_columns import as_column
from demele.core.uncertainty import Interval, Note
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.gibbs import (
    FEWEST_DRAWS,
    Answers,
    Chain,
    effective_samples,
    read_item_features,
    run_chain,
    split_r_hat,
)
from demele.labels.joined.voting import Consensus, Profiles, of_items, unlike_majority_note, vote_shares
from demele.runtime.work import ordered

#: Split R-hat up to which chains count as converged.
R_HAT_LIMIT = 1.05
#: With fewer annotators per item, several explanations of the same answers fit as well (Allman et al. 2009).
ENOUGH_ANNOTATORS = 3
#: Effective draws below which the ends of intervals are too uncertain to be quoted.
FEW_DRAWS = 100


@checked
def bayesian_consensus(
    annotations: object,
    *,
    features: object = None,
    feature_model: Literal["counts", "normal"] = "counts",
    n_samples: Annotated[int, at_least(FEWEST_DRAWS)] = 500,
    n_warmup: CountOrNone = 250,
    n_chains: Count = 4,
    level: Level = 0.95,
    seed: Seed = 0,
    prior_right: Positive = 2.0,
    prior_other: Positive | None = None,
    prior_proportions: object = 1.0,
    prior_features: Positive = 1.0,
    classes: Sequence[object] | None = None,
    n_jobs: Jobs = 1,
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
    answers = Answers(table.responses(), prior, table.n_annotators)
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
        return np.full(k, checked_size(given, "prior_proportions"))
    values = as_column(given, "prior_proportions").tolist()
    if len(values) != k:
        raise InputError("prior_proportions", f"expected {k} numbers, one per class, or one for all, got {len(values)}")
    return np.array([checked_size(value, f"prior_proportions, class {index}") for index, value in enumerate(values)])
