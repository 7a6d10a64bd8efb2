"""Votes: the label that most annotators give, each counting the same or by trust."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Flags, Floats, Rows
from demele.core.errors import InputError, NotConvergedWarning, warn_user
from demele.core.kinds import Seed, checked
from demele.core.labelled import Indices, plain_text, shown
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.table_columns import number_column
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.labels.joined.consensus_result import Consensus, Profiles
from demele.noise.square_tables import digest

# The class with the most votes, whatever the votes weigh --------------------------------------------------------------

#: Sums of votes nearer than this are equal: weights add up in another order for each class.
SAME_SHARE = 1e-12


def leading(votes: NDArray[Any]) -> Flags:
    """Which classes have the most votes of each row, shape (n, K)."""
    return np.asarray(votes >= votes.max(axis=1, keepdims=True) - SAME_SHARE)


def are_tied(votes: NDArray[Any]) -> Flags:
    """In which rows several classes have the most votes, shape (n,)."""
    return np.asarray(np.count_nonzero(leading(votes), axis=1) > 1)


def plurality(votes: NDArray[Any], *tie_breakers: Callable[[Rows], Floats]) -> Indices:
    """Return the class with the most votes in each row, shape (n,).

    Parameters
    ----------
    votes : array of shape (n, K)
    *tie_breakers : functions of m rows that return an array of shape (m, K)
        Of tied classes the one with the largest value is elected. The next function breaks the ties that are left.

    Examples
    --------
    >>> plurality(np.array([[2, 0], [1, 1]]), lambda rows: np.array([[0.2, 0.8]]))
    array([0, 1], dtype=int32)
    """
    level = leading(votes)
    left = np.flatnonzero(np.count_nonzero(level, axis=1) > 1)
    for values in tie_breakers:
        if left.size:
            level[left] &= leading(np.where(level[left], values(left), -np.inf))
            left = left[np.count_nonzero(level[left], axis=1) > 1]
    return np.asarray(level.argmax(axis=1), dtype=np.int32)


def earliest_voter(votes: Indices, k: int) -> Callable[[Rows], Floats]:
    """Return a tie breaker that prefers the class that the earliest voter named.

    Parameters
    ----------
    votes : array of shape (n_voters, n)
        Classes, 0 to K - 1; voters in their order.
    """

    def values(rows: Rows) -> Floats:
        named = np.full((rows.size, k), -np.inf)
        for place in reversed(range(len(votes))):
            named[np.arange(rows.size), votes[place, rows]] = -place
        return named

    return values


#: Rounds of weighing by agreement; a handful is the rule.
_MAX_ROUNDS = 100
#: Of items that no answer with a weight is about, and of items whose vote is tied.
_WEIGHTLESS = (
    "were answered only by annotators of weight 0: only the frequencies of the classes determine their labels."
)
_TIED = (
    "have a tie: several classes got the most votes. The label is the class whose annotators agree more with the other "
    "annotators, or else it is drawn."
)


@checked
def majority_vote(
    annotations: object,
    *,
    weights: object = None,
    classes: Sequence[object] | None = None,
    no_answer: object = None,
    seed: Seed = 0,
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
        upholds, starting from a plain vote and until no label changes. A tie of t classes upholds 1/t of each vote.
    classes : sequence, optional
        All classes, in the order of results; by default the sorted answers.
    no_answer : int, str or float, optional
        Value that means "no answer", such as -1, in addition to NaN and None, in a table with a column or row per
        annotator.
    seed : int
        Seed of the draws that break ties, 0 or more.

    Returns
    -------
    Consensus
        ``probabilities``: shares of the votes of each item, weighted if so asked, in [0, 1]: how split the vote is, not
        how probable the class is. An item without a vote has the shares of all votes. A tie goes to the class whose
        annotators have the larger sum of agreement weights, each the share of an annotator's answers that the plain
        vote upholds. Where the sums are equal too, a class is drawn. Other names of the classes give the same labels,
        renamed. A note and ``tied`` say where ties are.
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
    table = read_annotations(annotations, classes=classes, no_answer=no_answer)
    plain = vote_shares(table)
    shares, trust, rounds = plain, np.ones(table.n_annotators), 0
    converged: bool | None = None
    if isinstance(weights, str):
        if weights != "agreement":
            raise InputError("weights", f"expected 'agreement', or one weight per annotator, got {plain_text(weights)}")
        shares, trust, rounds, converged = _by_agreement(table)
    elif weights is not None:
        trust = read_weights(weights, table.annotators)
        # Only ratios matter; of at most 1, no sum of weights overflows.
        shares = vote_shares(table, trust / trust.max())
    answered = np.bincount(table.item, minlength=table.n_items) > 0
    counted = np.bincount(table.item, weights=trust[table.annotator], minlength=table.n_items)
    lost, tied = np.flatnonzero((counted == 0) & answered), np.flatnonzero(are_tied(shares) & answered)
    arguments: dict[str, object] = {"classes": table.classes, "seed": seed}
    met = {"n": str(table.n_items), "answers": str(table.n_answers)}
    if isinstance(weights, str):
        arguments["weights"] = weights
    elif weights is not None:
        met["weights"] = digest(trust)
    responses = table.responses()
    return Consensus(
        **of_items(table, plain, shares, seed),
        proportions=shares.mean(axis=0),
        profiles=Profiles(
            who=responses.who,
            what=responses.what,
            counts=np.asarray(responses.counts.T @ shares),
            smoothing=np.zeros((table.k, table.k)),
        ),
        method="majority" if weights is None else "weighted majority",
        signature=Signature("majority_vote", arguments, {**met, "demele": __version__}),
        iterations=rounds,
        converged=converged,
        notes=table.remarks()
        + _items_note(table, lost, "weightless-items", _WEIGHTLESS, "warning")
        + _items_note(table, tied, "ties", _TIED, "info"),
        details={"weights": trust},
    )


class TieBreaks:
    """How ties of votes about items are broken: by the agreement weights of the annotators, then by draws.

    The draws belong to the items, and to classes in the order in which the answers, sorted by annotator and item, name
    them. Neither the names of the classes nor the order of the answers matters.
    """

    def __init__(self, table: Annotations, seed: int) -> None:
        self._table, self._seed = table, seed

    @cached_property
    def weights(self) -> Floats:
        """Agreement of each annotator with the plain vote, shape (n_annotators,)."""
        return agreement_weights(self._table, vote_shares(self._table))

    @cached_property
    def weighted(self) -> Floats:
        """Shares of the votes weighted so, shape (n_items, K)."""
        return vote_shares(self._table, self.weights)

    @cached_property
    def draws(self) -> Floats:
        """Uniform numbers, shape (n_items, K); 0 for classes without an answer."""
        table = self._table
        named, first = np.unique(table.answer[np.lexsort((table.item, table.annotator))], return_index=True)
        values = np.zeros((table.n_items, table.k))
        values[:, named[np.argsort(first)]] = rng_for(self._seed, "votes", "ties").random((table.n_items, named.size))
        return values

    def elected(self, votes: Floats) -> Indices:
        """Return the class with the most votes of each item, shape (n_items,), from votes of shape (n_items, K)."""
        return plurality(votes, lambda rows: self.weighted[rows], lambda rows: self.draws[rows])


def of_items(table: Annotations, shares: Floats, probabilities: Floats, seed: int) -> dict[str, Any]:
    """Return what every consensus says of the items, as arguments of :class:`Consensus`.

    Parameters
    ----------
    shares, probabilities : arrays of shape (n_items, K)
        Of the plain votes, and of the consensus.
    """
    names = np.array(table.classes, dtype=np.int64 if isinstance(table.classes[0], int) else object)
    n_answers, breaks = np.bincount(table.item, minlength=table.n_items), TieBreaks(table, seed)
    return {
        "labels": names[breaks.elected(probabilities)],
        "probabilities": probabilities,
        "majority": names[breaks.elected(shares)],
        "tied": are_tied(shares) & (n_answers > 0),
        "items": table.items,
        "annotators": table.annotators,
        "classes": table.classes,
        "n_answers": n_answers,
    }


def agreement_weights(table: Annotations, shares: Floats) -> Floats:
    """Share of each annotator's answers that a vote upholds, shape (n_annotators,); a tie of t classes upholds 1/t."""
    level = leading(shares)
    upheld = level[table.item, table.answer] / np.count_nonzero(level, axis=1)[table.item]
    given = np.bincount(table.annotator, minlength=table.n_annotators)
    return np.asarray(np.bincount(table.annotator, weights=upheld, minlength=table.n_annotators) / given)


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


def _by_agreement(table: Annotations) -> tuple[Floats, Floats, int, bool]:
    """Return shares, the weights behind them, the rounds, and whether these came to an end."""
    shares = vote_shares(table)
    for done in range(1, _MAX_ROUNDS + 1):
        weights = agreement_weights(table, shares)
        before, shares = leading(shares), vote_shares(table, weights)
        changed = int(np.count_nonzero((before != leading(shares)).any(axis=1)))
        if not changed:
            return shares, weights, done, True
    warn_user(
        f"the vote weighted by agreement still changed {changed} labels after {_MAX_ROUNDS} rounds: near ties go back "
        "and forth; the last round is returned",
        NotConvergedWarning,
    )
    return shares, weights, _MAX_ROUNDS, False


def read_weights(weights: object, names: Sequence[int | str], one: str = "annotator") -> Floats:
    """Return one weight per annotator, in their order."""
    if isinstance(weights, Mapping):
        missing = [name for name in names if name not in weights]
        if missing:
            wanted = f"expected one of each {one}, got none of {len(missing)} of {len(names)}"
            raise InputError("weights", f"{wanted}: {shown(missing)}")
        weights = [weights[name] for name in names]
    values = number_column(weights, "weights", len(names), one, names=names)
    if not values.any():
        raise InputError("weights", "expected at least one above 0, got only zeros")
    return values


def _items_note(table: Annotations, places: Rows, code: str, text: str, severity: str) -> tuple[Note, ...]:
    """Say of some items what ``text`` does, if there are any."""
    message = f"{places.size} of {table.n_items} items {text}"
    subject = tuple(str(table.items[place]) for place in places[:6])
    return (Note(code=code, message=message, subject=subject, severity=severity),) if places.size else ()  # type: ignore[arg-type]
