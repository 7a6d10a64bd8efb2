"""What several annotators say together: the type that every way of joining their answers returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Counts, Flags, Floats, Rows
from demele.core.errors import InputError, UnknownNameError
from demele.core.labelled import Indices, Vocabulary, plain_text, read_labels, shown
from demele.core.result import Result, plain
from demele.core.results import Interval, Note
from demele.core.sentences import plural
from demele.core.signature import Signature
from demele.labels.documents import consensus_document
from demele.noise.transition import TransitionMatrix

if TYPE_CHECKING:
    import pandas as pd


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
        for column in np.flatnonzero(self.who == annotator):
            counts[:, self.what[column]] += self.counts[column]
        return counts

    def right(self, n_annotators: int) -> Floats:
        """Return the expected share of right answers of each annotator, shape (n_annotators,); NaN without answers."""
        columns = np.arange(self.who.size)
        right = np.bincount(self.who, weights=self.counts[columns, self.what], minlength=n_annotators)
        answers = np.bincount(self.who, weights=self.counts.sum(axis=1), minlength=n_annotators)
        with np.errstate(invalid="ignore"):
            return right / answers


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

    labels: NDArray[Any] = field(metadata=_ROWS)
    probabilities: Floats = field(metadata=_ROWS)
    majority: NDArray[Any] = field(metadata=_ROWS)
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

    document = consensus_document

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
            raise UnknownNameError(
                "annotator", f"expected one of {shown(self.annotators)}, got {plain_text(annotator)}"
            )
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

        The probabilities of the blend are cautious, so the share is too high: 16% where 6% of labels were wrong. With
        ``method="dawid-skene"`` it was 10%. An audit of random rows estimates it without bias.

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
        import pandas as pd

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
        import pandas as pd

        n = len(self.annotators)
        answers = np.bincount(self.profiles.who, weights=self.profiles.counts.sum(axis=1), minlength=n)
        columns: dict[str, Any] = {
            "annotator": list(self.annotators),
            "answers": np.rint(answers).astype(np.int64),
            # Of a posterior, its own mean: the one that its interval is about.
            "accuracy": self.details.get("accuracy", self.profiles.right(n)),
            "informativeness": self._informativeness(),
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

    def _informativeness(self) -> Floats:
        """Mutual information of class and answer, as a share of the entropy of the classes, in [0, 1].

        Unlike accuracy, it is 0 for somebody who always answers the same, and 1 for somebody who always answers wrong
        in one and the same way.
        """
        entropy = _entropy(self.proportions)
        if entropy == 0:
            return np.full(len(self.annotators), np.nan)
        found = np.empty(len(self.annotators))
        for annotator in range(found.size):
            joint = self.proportions[:, None] * _row_stochastic(self.profiles.table(annotator))
            found[annotator] = (_entropy(joint.sum(axis=0)) + entropy - _entropy(joint.ravel())) / entropy
        return np.clip(found, 0.0, 1.0)


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


def _entropy(shares: Floats) -> float:
    kept = shares[shares > 0]
    return float(-(kept * np.log(kept)).sum())


def _row_stochastic(table: Floats) -> Floats:
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), np.eye(len(table)))
