"""Votes: the label that most annotators give, each counting the same or by trust."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from demele.core.arrays import Array, Counts, Flags, Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, UnknownNameError, plural, quoted
from demele.core.kinds import Seed, checked
from demele.core.labelled import Indices, Vocabulary, read_labels, shown
from demele.core.result import Interval, Note, Result, about, plain
from demele.core.signature import Signature
from demele.core.table_columns import number_column
from demele.core.version import __version__
from demele.labels.joined.annotations import Annotations, read_annotations
from demele.noise.transition import TransitionMatrix, digest
from demele.report.document import Document, Section, Table
from demele.report.listing import drawn, table_of_frame, without_empty
from demele.report.words import count, ends, name, written

# What several annotators say together ---------------------------------------------------------------------------------

#: Share of labels unlike the majority's from which a note says so.
_MANY_UNLIKE = 0.05
#: Of fields that JSON holds as rows of items and of annotators, or not at all.
_ROWS = {"json": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """How each annotator answers about items of each class, for the pairs (annotator, answer) that occur.

    Dense tables of shape (n_annotators, K, K) would not fit for many classes; these hold what was observed.

    Attributes
    ----------
    who, what : arrays of int of shape (n_columns,)
        Annotator and answer of each column.
    counts : array of shape (n_columns, K)
        Expected number of times that ``who`` answered ``what`` about an item whose class is k.
    smoothing : array of shape (K, K)
        Pseudo-counts added to every annotator: row = class, column = answer.
    strength : float
        Pseudo-counts added to every row of an annotator as its ``accuracies`` say: that share of them on the diagonal,
        the rest shared by the other answers.
    accuracies : array of shape (n_annotators,) or None
    """

    who: Rows
    what: Rows
    counts: Floats
    smoothing: Floats
    strength: float = 0.0
    accuracies: Floats | None = None

    def table(self, annotator: int) -> Floats:
        """Return the expected counts of one annotator, pseudo-counts included, shape (K, K): row = class."""
        counts = self.smoothing.copy()
        if self.accuracies is not None:
            k, accuracy = len(counts), self.accuracies[annotator]
            other = (1 - accuracy) / max(k - 1, 1)
            counts += self.strength * np.where(np.eye(k, dtype=bool), accuracy, other)
        own = self.who == annotator
        counts[:, self.what[own]] += self.counts[own].T
        return counts


#: Annotators with fewer answers stand last: little can be said of them.
_FEW_ANSWERS = 10
#: Items in a table, the least certain ones.
_MOST_ITEMS = 200


def annotators_table(result: "Consensus") -> Table:
    """Return a row for each annotator, the least informative first.

    Accuracy flatters annotators who always give the commonest class.
    """
    frame = result.annotator_frame()
    order = np.lexsort((frame["informativeness"], frame["answers"] < _FEW_ANSWERS))
    table, _ = table_of_frame("Annotators", frame.iloc[order], {"accuracy": "percent"})
    note = (
        "Accuracy: expected share of true answers. Informativeness: share of the entropy of the classes that answers "
        f"explain. Least informative first, those with fewer than {_FEW_ANSWERS} answers last."
    )
    return replace(table, note=note)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Consensus(Result):
    """Labels aggregated from several annotators, with their probabilities.

    Attributes
    ----------
    labels : array of shape (n_items,)
        The most probable class of each item; of several, the one that a vote elects.
    probabilities : array of shape (n_items, K)
        Probabilities of each class, per item, as the method holds them.
    majority : array of shape (n_items,)
        What a plain majority vote says of the same answers: Dawid-Skene can be worse than it where annotators share
        a bias, so both are always here. Ties are broken as :func:`demele.labels.majority_vote` says.
    tied : array of bool of shape (n_items,)
        Whether several classes have the most plain votes.
    items, annotators, classes : tuples of int or str
        In the order of every array.
    n_answers : array of int of shape (n_items,)
    proportions : array of shape (K,)
        Estimated proportions of the classes.
    profiles : Profiles
        What each annotator answers about each class.
    method : str
    objective : tuple of float
        What the method maximises, after each iteration (the log posterior of each sweep, if it samples); empty for
        votes.
    log_likelihood : float or None
        Log-likelihood of the answers, in nats, at the estimates.
    iterations : int
    converged : bool or None
        None if nothing had to converge.
    intervals : mapping of str to tuple of Interval
        Credible intervals, where the method has them: ``"proportions"`` (K of them), ``"accuracy"`` (one per
        annotator).
    """

    _kind = "consensus"

    labels: Array = field(metadata=_ROWS)
    probabilities: Floats = field(metadata=_ROWS)
    majority: Array = field(metadata=_ROWS)
    tied: Flags = field(metadata=_ROWS)
    items: tuple[int | str, ...]
    annotators: tuple[int | str, ...]
    classes: tuple[int | str, ...]
    n_answers: Counts = field(metadata=_ROWS)
    proportions: Floats
    profiles: Profiles = field(metadata=_ROWS)
    method: str
    signature: Signature
    objective: tuple[float, ...] = ()
    log_likelihood: float | None = None
    iterations: int = 0
    converged: bool | None = None
    intervals: Mapping[str, tuple[Interval, ...]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict, metadata=_ROWS)

    def document(self) -> Document:
        """Say how certain the joined labels are and how many differ from the majority vote, by class and annotator."""
        n, tied = len(self.items), int(self.tied.sum())
        answers, people = count(int(self.n_answers.sum()), "answer"), count(len(self.annotators), "annotator")
        apart = int((self.labels != self.majority).sum())
        differing = f"{written(apart, 'count')} ({written(apart / n, 'percent')}) differ from the majority vote"
        sure = f"Labels of {count(n, 'item')} have a mean confidence of {written(self.confidence.mean(), 'percent')}"
        spans = self.intervals.get("proportions", [None] * len(self.classes))
        rows = [
            (name(of), float(value), int((self.labels == of).sum()), int((self.majority == of).sum()), ends(span))
            for of, value, span in zip(self.classes, self.proportions, spans, strict=True)
        ]
        columns = {"Class": "text", "Share": "percent", "Items": "count", "Majority vote": "count"}
        table = without_empty(Table("Classes", {**columns, "Interval of the share": "percent"}, rows))
        least = self.to_frame().sort_values("confidence", kind="stable").head(_MOST_ITEMS)
        items, _ = table_of_frame("Least certain items", least, {"confidence": "percent"})
        steps = count(self.iterations, "iteration")
        converged = {True: f"Converged after {steps}.", False: f"NOT converged after {steps}.", None: ""}
        return Document(
            kind="Consensus of annotators",
            headline=f"{sure}; {differing}.",
            sentences=[
                f"{count(tied, 'item has', 'items have')} a tied majority vote." if tied else "",
                converged[self.converged],
                "Confidence is not accuracy: it assumes that annotators err independently.",
            ],
            figure=drawn(table, "Share", caption="Share of each class", zero=0.0),
            table=table,
            scope=(f"method {self.method}", people, answers),
            sections=[
                Section("Classes", [table]),
                Section("Annotators", [annotators_table(self)]),
                Section("Disagreements", [items]),
            ],
            methods=[
                f"{answers} of {people} about {count(n, 'item')} were joined with demele [@demele]",
                f"(method {self.method}).",
            ],
            **about(self),
        )

    @property
    def confidence(self) -> Floats:
        """Probability of the label of each item, shape (n_items,)."""
        return np.asarray(self.probabilities.max(axis=1))

    def transition(self, annotator: object) -> TransitionMatrix:
        """Return how one annotator answers: row = class, column = answer.

        A class that the annotator never met has no estimate: its row is that of somebody who is always right.

        Raises
        ------
        UnknownNameError
            If there is no such annotator.
        """
        if not isinstance(annotator, int | str | np.generic) or annotator not in self.annotators:
            raise UnknownNameError("annotator", f"expected one of {shown(self.annotators)}, got {quoted(annotator)}")
        table = self.profiles.table(self.annotators.index(annotator))
        return TransitionMatrix(_row_stochastic(table), self.classes)

    def noise(self, given: object) -> TransitionMatrix:
        """Estimate the noise of labels given to the same items, from the probabilities of the consensus.

        Parameters
        ----------
        given : array-like of shape (n_items,)
            The labels whose noise is asked for, in the order of ``items``.

        Returns
        -------
        TransitionMatrix
            Row = class, column = given label: sum of P(class) over the items with that label, as shares of the row. A
            class of no probability keeps its label. It is as good as the consensus; an audit needs no such trust.

        Raises
        ------
        InputError, InputTypeError
        """
        coded = self._coded(given, "given")
        k = len(self.classes)
        table = np.zeros((k, k))
        np.add.at(table.T, coded, self.probabilities)
        return TransitionMatrix(_row_stochastic(table), self.classes)

    def wrong_share(self, given: object) -> float:
        """Return the expected share of given labels that are wrong, in [0, 1]: the mean of 1 - P(given label).

        The probabilities of the blend are cautious, so the share can be too high: 16% where 6% of labels were wrong.
        With ``method="dawid-skene"`` it was 10%. Where annotators share mistakes, it is too low: 16% where 32% were
        wrong. An audit of random rows estimates it without bias.

        Parameters
        ----------
        given : array-like of shape (n_items,)

        Raises
        ------
        InputError, InputTypeError
        """
        coded = self._coded(given, "given")
        return float(1 - self.probabilities[np.arange(coded.size), coded].mean())

    def to_frame(self) -> "pd.DataFrame":
        """One row per item: label, its probability, number of answers, the majority's label, whether that is a tie."""
        return pd.DataFrame(
            {
                "item": list(self.items),
                "label": self.labels,
                "confidence": self.confidence,
                "answers": self.n_answers,
                "majority": self.majority,
                "tied": self.tied,
            }
        )

    def annotator_frame(self) -> "pd.DataFrame":
        """One row per annotator: answers, expected share of right answers (with interval, if there is one)."""
        from scipy.special import entr

        n, own = len(self.annotators), self.profiles
        right = np.bincount(own.who, weights=own.counts[np.arange(own.who.size), own.what], minlength=n)
        answers = np.bincount(own.who, weights=own.counts.sum(axis=1), minlength=n)
        # Informativeness: mutual information of class and answer, as a share of the entropy of the classes. Unlike
        # accuracy, it is 0 for somebody who always answers the same, and 1 for one who is always wrong in the same way.
        told = np.array([information(self.proportions, _row_stochastic(own.table(place))) for place in range(n)])
        entropy = float(entr(self.proportions).sum())
        with np.errstate(invalid="ignore"):
            accuracy = right / answers
        columns: dict[str, Any] = {
            "annotator": list(self.annotators),
            "answers": np.rint(answers).astype(np.int64),
            # Of a posterior, its own mean: the one that its interval is about.
            "accuracy": self.details.get("accuracy", accuracy),
            "informativeness": np.clip(told / entropy, 0.0, 1.0) if entropy else np.full(n, np.nan),
        }
        limits = self.intervals.get("accuracy")
        if limits is not None:
            columns |= {"accuracy_low": [one.low for one in limits], "accuracy_high": [one.high for one in limits]}
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the probabilities of all classes, as plain values: items and annotators as rows."""
        rows = {"items": plain(self.to_frame()), "annotators": plain(self.annotator_frame())}
        return {**super(Consensus, self).to_dict(), **rows}

    def _coded(self, given: object, argument: str) -> Indices:
        read = read_labels(given, argument)
        if read.size != len(self.items):
            raise InputError(argument, f"expected {len(self.items)} labels, one per item, got {read.size}")
        return Vocabulary(self.classes).encode(read, argument)


def information(shares: Floats, answers: Floats) -> Floats:
    r"""Return the mutual information of class and answer, in nats.

    .. math:: I = \mathrm{H}(\sum_k p_k \gamma_{k \cdot}) - \sum_k p_k \mathrm{H}(\gamma_{k \cdot})

    Parameters
    ----------
    shares : array of shape (..., K)
        Probabilities p of the classes.
    answers : array of shape (K, K)
        Probabilities of each answer to each class.
    """
    from scipy.special import entr

    return np.asarray(entr(shares @ answers).sum(axis=-1) - shares @ entr(answers).sum(axis=1))


def unlike_majority_note(parts: Mapping[str, Any]) -> tuple[Note, ...]:
    """Say how many labels the plain vote would give otherwise, if these are many.

    Parameters
    ----------
    said : mapping
        Arguments of :class:`Consensus`; items without an answer do not count.
    """
    answered = parts["n_answers"] > 0
    apart, n, ties = (parts["labels"] != parts["majority"])[answered], int(answered.sum()), int(parts["tied"].sum())
    count = int(np.count_nonzero(apart))
    if count <= _MANY_UNLIKE * n:
        return ()
    return (
        Note(
            code="unlike-majority",
            message=f"{count} of {n} labels ({count / n:.1%}) differ from the majority's "
            f"({plural(ties, 'tie', 'ties')}). Where annotators share a bias the majority can be the better one: have "
            "a few of these items checked.",
            severity="warning",
        ),
    )


def _row_stochastic(table: Floats) -> Floats:
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), np.eye(len(table)))


# The class with the most votes, whatever the votes weigh --------------------------------------------------------------

#: Sums of votes nearer than this are equal: weights add up in another order for each class.
SAME_SHARE = 1e-12


def leading(votes: Array) -> Flags:
    """Which classes have the most votes of each row, shape (n, K)."""
    return np.asarray(votes >= votes.max(axis=1, keepdims=True) - SAME_SHARE)


def are_tied(votes: Array) -> Flags:
    """In which rows several classes have the most votes, shape (n,)."""
    return np.asarray(np.count_nonzero(leading(votes), axis=1) > 1)


def plurality(votes: Array, *tie_breakers: Callable[[Rows], Floats]) -> Indices:
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
    weights : mapping of annotator to weight, or array of shape (n_annotators,), optional
        How much each vote counts, 0 or more; by default each answer counts once. An array is in the order of
        ``Annotations.annotators``.
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
    trust = np.ones(table.n_annotators) if weights is None else read_weights(weights, table.annotators)
    # Only ratios matter; of at most 1, no sum of weights overflows.
    shares = vote_shares(table, trust / trust.max())
    answered = np.bincount(table.item, minlength=table.n_items) > 0
    counted = np.bincount(table.item, weights=trust[table.annotator], minlength=table.n_items)
    lost, tied = np.flatnonzero((counted == 0) & answered), np.flatnonzero(are_tied(shares) & answered)
    arguments: dict[str, object] = {"classes": table.classes, "seed": seed}
    met = {"n": str(table.n_items), "answers": str(table.n_answers)}
    if weights is not None:
        met["weights"] = digest(trust)
    counts, who, what = table.responses()
    return Consensus(
        **of_items(table, shares, seed),
        proportions=shares.mean(axis=0),
        profiles=Profiles(who=who, what=what, counts=counts.T @ shares, smoothing=np.zeros((table.k, table.k))),
        method="majority" if weights is None else "weighted majority",
        signature=Signature("majority_vote", arguments, {**met, "demele": __version__}),
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


def of_items(table: Annotations, probabilities: Floats, seed: int) -> dict[str, Any]:
    """Return what every consensus says of the items, as arguments of :class:`Consensus`.

    Parameters
    ----------
    probabilities : array of shape (n_items, K)
    """
    shares = vote_shares(table)
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
    votes = annotations.votes(weights).astype(np.float64, copy=False)
    sums = votes.sum(axis=1, keepdims=True)
    overall = votes.sum(axis=0)
    return np.where(sums > 0, votes / np.where(sums > 0, sums, 1.0), overall / overall.sum())


def read_weights(weights: object, names: Sequence[int | str], one: str = "annotator") -> Floats:
    """Return one weight per annotator, in their order."""
    if isinstance(weights, str):
        raise InputTypeError("weights", f"expected one weight per {one}, got {quoted(weights)}")
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
