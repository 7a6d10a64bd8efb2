"""The consensus where nobody names a method: an average of the vote and of models that are shrunken."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.names import checked_name
from demele.core.results import Note
from demele.core.seeds import checked_seed
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.consensus_result import Consensus
from demele.labels.joined.item_response import (
    MAX_ITERATIONS,
    SETTLED,
    STRENGTH,
    dawid_skene,
    joined_labels,
    one_coin,
    own_profiles,
    signature_of,
    votes_and_counts,
    warn_unsettled,
)
from demele.labels.joined.shrunken import shrunken_fit
from demele.labels.joined.voting import majority_vote

Floats = NDArray[np.float64]
#: Answers per annotator, at the median, below which the blend of two classes may well be worse than the vote.
FEW_ANSWERS = 10

Method = Literal["blend", "majority", "one-coin", "own-prior", "dawid-skene"]


def consensus(
    annotations: object,
    *,
    method: Method = "blend",
    classes: Sequence[object] | None = None,
    missing: object = None,
    seed: int = 0,
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
    missing : int, str or float, optional
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
    checked_name(method, "method", get_args(Method))
    table = read_annotations(annotations, classes=classes, missing=missing)
    if method == "own-prior":
        return dawid_skene(table, prior="own", seed=seed)
    functions: dict[str, Any] = {"majority": majority_vote, "one-coin": one_coin, "dawid-skene": dawid_skene}
    if method == "blend":
        return _blend(table, checked_seed(seed))
    found: Consensus = functions[method](table, seed=seed)
    return found


def _blend(table: Annotations, seed: int) -> Consensus:
    shares, answers, votes = votes_and_counts(table)
    strengths: dict[str, float | None] = {"own-prior": STRENGTH}
    if table.k <= 2:
        strengths["one-coin"] = None
    fits = {
        name: shrunken_fit(answers, votes, strength=strength, max_iterations=MAX_ITERATIONS, tolerance=SETTLED)
        for name, strength in strengths.items()
    }
    for name, fit in fits.items():
        warn_unsettled(fit, name, SETTLED)
    found: Floats = np.mean([votes, *(fit.posterior for fit in fits.values())], axis=0)
    joined = joined_labels(table, answers, shares, found, found.mean(axis=1), seed)
    return Consensus(
        **{**joined, "notes": joined["notes"] + _few_answers(table)},
        profiles=own_profiles(table, answers, found, STRENGTH),
        method="blend",
        signature=signature_of("consensus", table, {"method": "blend", "seed": seed}),
        iterations=max(fit.iterations for fit in fits.values()),
        converged=all(fit.converged for fit in fits.values()),
        details={"members": ("majority", *fits)},
    )


def _few_answers(table: Annotations) -> tuple[Note, ...]:
    """Warn where annotators answer so little that, with two classes, the vote is likely to be better."""
    counts = np.bincount(table.annotator, minlength=table.n_annotators)
    half = float(np.median(counts[counts > 0])) if (counts > 0).any() else 0.0
    message = (
        f"half of the annotators gave at most {half:g} answers; with two classes and so few, the vote (majority_vote) "
        "is often better than the blend: take it, or compare both"
    )
    return () if table.k > 2 or half >= FEW_ANSWERS else (Note(code="few-answers", message=message),)
