"""Votes: the label that most annotators give, each counting the same or by trust."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotConvergedWarning, warn_user
from demele.core.labelled import plain_text, shown
from demele.core.results import Note
from demele.core.sentences import plural
from demele.core.signature import Signature
from demele.core.table_columns import as_column
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.consensus_result import Consensus, Profiles
from demele.noise.square_tables import digest

Floats = NDArray[np.float64]

#: Rounds of weighing by agreement; a handful is the rule.
_MAX_ROUNDS = 100
#: Shares of the votes nearer than this are the same share.
SAME_SHARE = 1e-12


def majority_vote(
    annotations: object,
    *,
    weights: object = None,
    classes: Sequence[object] | None = None,
    missing: object = None,
) -> Consensus:
    """Join the answers of several annotators by a vote.

    Parameters
    ----------
    annotations : Annotations, data frame, mapping or array
        What :class:`demele.labels.Annotations` is made from: a long table (item, annotator, answer), or an
        array of shape (n_annotators, n_items), such as the predictions of several models.
    weights : None, ``"agreement"``, mapping of annotator to weight, or array of shape (n_annotators,)
        How much each vote counts, 0 or more: none counts each answer once; an array is in the order of
        ``Annotations.annotators``; ``"agreement"`` weighs each annotator by the share of its answers that the vote
        upholds, starting from a plain vote and until no label changes.
    classes : sequence, optional
        All classes, in the order of results and of ties; by default the sorted answers.
    missing : int, str or float, optional
        What stands for no answer, such as -1, beside NaN and None in a table with a column or row per annotator.

    Returns
    -------
    Consensus
        ``probabilities``: shares of the votes of each item, weighted if so asked, in [0, 1]: how split the vote is, not
        how probable the class is. Ties go to the earlier class, and a note says how many there are. An item without a
        vote has the shares of all votes.
        ``proportions`` is the mean of the probabilities; ``profiles`` counts the answers of each annotator against
        them; ``details["weights"]`` holds the weights.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the annotations or the weights cannot be used.

    Warns
    -----
    NotConvergedWarning
        If labels still change after 100 rounds of weighing by agreement.

    Notes
    -----
    Weighing by agreement is the simplest form of iterated weighted majority voting; see H. Li and B. Yu, *Error rate
    bounds and iterative weighted majority voting for crowdsourcing* (2014), whose weights are another function of the
    same shares. An annotator's own answer takes part in the vote that it is measured by, so those who answer alone
    about many items are trusted too much.

    Examples
    --------
    >>> from demele.labels import majority_vote
    >>> found = majority_vote({"ann": [0, 1, 1], "bob": [0, 1, 0], "eve": [1, 0, 0]})
    >>> found.labels.tolist(), found.confidence.round(2).tolist()
    ([0, 1, 0], [0.67, 0.67, 0.67])
    >>> majority_vote({"ann": [0, 1], "bob": [1, 0]}, weights={"ann": 1, "bob": 2}).labels.tolist()
    [1, 0]
    """
    table = read_annotations(annotations, classes=classes, missing=missing)
    plain = vote_shares(table)
    if isinstance(weights, str):
        if weights != "agreement":
            raise InputError("weights", f"expected 'agreement', or one weight per annotator, got {plain_text(weights)}")
        vote = _by_agreement(table)
    elif weights is None:
        vote = _Vote(plain, np.ones(table.n_annotators))
    else:
        given = _read_weights(weights, table)
        # Only ratios matter; of at most 1, no sum of weights overflows.
        vote = _Vote(vote_shares(table, given / given.max()), given)
    responses = table.responses()
    names = names_of_classes(table)
    return Consensus(
        labels=names[vote.shares.argmax(axis=1)],
        probabilities=vote.shares,
        majority=names[plain.argmax(axis=1)],
        items=table.items,
        annotators=table.annotators,
        classes=table.classes,
        n_answers=np.bincount(table.item, minlength=table.n_items),
        proportions=vote.shares.mean(axis=0),
        profiles=Profiles(
            who=responses.who,
            what=responses.what,
            counts=np.asarray(responses.counts.T @ vote.shares),
            smoothing=np.zeros((table.k, table.k)),
        ),
        method="majority" if weights is None else "weighted majority",
        signature=_signature(table, weights, vote.weights),
        iterations=vote.rounds,
        converged=vote.converged,
        notes=table.remarks() + _weightless(table, vote.weights) + _tied(table, vote.shares),
        details={"weights": vote.weights},
    )


def names_of_classes(annotations: Annotations) -> NDArray[Any]:
    """Return the classes as an array that class indices pick from."""
    numbers = isinstance(annotations.classes[0], int)
    return np.array(annotations.classes, dtype=np.int64 if numbers else object)


def vote_shares(annotations: Annotations, weights: Floats | None = None) -> Floats:
    """Share of the votes of each item that each class has, shape (n_items, K); of all votes where there is none."""
    if weights is None:
        votes = annotations.votes().astype(np.float64)
    else:
        cells = annotations.item.astype(np.int64) * annotations.k + annotations.answer
        found = np.bincount(
            cells, weights=weights[annotations.annotator], minlength=annotations.n_items * annotations.k
        )
        votes = found.reshape(annotations.n_items, annotations.k).astype(np.float64, copy=False)
    sums = votes.sum(axis=1, keepdims=True)
    overall = votes.sum(axis=0)
    return np.where(sums > 0, votes / np.where(sums > 0, sums, 1.0), overall / overall.sum())


@dataclass(frozen=True, slots=True)
class _Vote:
    """Shares, the weights behind them, and how they were found."""

    shares: Floats
    weights: Floats
    rounds: int = 0
    converged: bool | None = None


def _by_agreement(table: Annotations) -> _Vote:
    answers = np.bincount(table.annotator, minlength=table.n_annotators)
    weights = np.ones(table.n_annotators)
    labels = vote_shares(table).argmax(axis=1)
    for done in range(1, _MAX_ROUNDS + 1):
        upheld = table.answer == labels[table.item]
        weights = np.bincount(table.annotator, weights=upheld, minlength=table.n_annotators) / answers
        shares = vote_shares(table, weights)
        before, labels = labels, shares.argmax(axis=1)
        if np.array_equal(before, labels):
            return _Vote(shares, weights, done, True)
    changed = int(np.count_nonzero(before != labels))
    warn_user(
        f"the vote weighted by agreement still changed {changed} labels after {_MAX_ROUNDS} rounds: near ties go back "
        "and forth; the last round is returned",
        NotConvergedWarning,
    )
    return _Vote(shares, weights, _MAX_ROUNDS, False)


def _read_weights(weights: object, table: Annotations) -> Floats:
    if isinstance(weights, Mapping):
        missing = [name for name in table.annotators if name not in weights]
        if missing:
            raise InputError(
                "weights",
                f"expected one of each annotator, got none of {len(missing)} of {table.n_annotators}: {shown(missing)}",
            )
        column = as_column([weights[name] for name in table.annotators], "weights")
    else:
        column = as_column(weights, "weights")
    if column.dtype.kind not in "biuf":
        raise InputTypeError("weights", f"expected numbers, got values of type {column.dtype}")
    if column.shape != (table.n_annotators,):
        raise InputError(
            "weights",
            f"expected {table.n_annotators} numbers, one per annotator, got shape {column.shape}; a mapping "
            "of annotator to weight cannot be in the wrong order",
        )
    values = column.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        raise InputError(
            "weights",
            f"expected finite numbers of 0 or more, got {plural(wrong.size, 'other', 'others')}, first "
            f"{values[wrong[0]]} of "
            f"annotator {table.annotators[wrong[0]]!r}; an annotator to leave out has weight 0",
        )
    if not values.any():
        raise InputError("weights", "expected at least one above 0, got only zeros")
    return values


def _weightless(table: Annotations, weights: Floats) -> tuple[Note, ...]:
    """Say which items have answers, but none that counts."""
    silent = np.bincount(table.item, minlength=table.n_items) == 0
    counted = np.bincount(table.item, weights=weights[table.annotator], minlength=table.n_items)
    lost = np.flatnonzero((counted == 0) & ~silent)
    if not lost.size:
        return ()
    return (
        Note(
            code="weightless-items",
            message=f"{lost.size} of {table.n_items} items were answered only by annotators of weight 0: what is said "
            "of them is only how frequent the classes are.",
            subject=tuple(str(table.items[place]) for place in lost[:6]),
            severity="warning",
        ),
    )


def _tied(table: Annotations, shares: Floats) -> tuple[Note, ...]:
    """Say how many items have two classes or more with as many votes, and what was done."""
    answered = np.bincount(table.item, minlength=table.n_items) > 0
    top = shares.max(axis=1, keepdims=True)
    # Weights add up in another order for each class, so that equal shares may differ by rounding.
    tied = np.flatnonzero(answered & (np.count_nonzero(shares >= top - SAME_SHARE, axis=1) > 1))
    if not tied.size:
        return ()
    return (
        Note(
            code="ties",
            message=f"{tied.size} of {table.n_items} items have a tie: two classes or more got the most votes, equally "
            f"many. Their label is the earliest of these in the order of the classes, {shown(table.classes)}.",
            subject=tuple(str(table.items[place]) for place in tied[:6]),
        ),
    )


def _signature(table: Annotations, weights: object, found: Floats) -> Signature:
    arguments: dict[str, object] = {"classes": table.classes}
    met = {"n": str(table.n_items), "answers": str(table.n_answers)}
    if isinstance(weights, str):
        arguments["weights"] = weights
    elif weights is not None:
        met["weights"] = digest(found)
    return Signature("majority_vote", arguments, {**met, "demele": __version__})
