"""What a cleaning of labels found, and a simulated cleaning of known quality."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np

from demele.core.arrays import Array, Flags, Floats, Rows, pd, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import FILE, Rate, Seed, checked, checked_count
from demele.core.labelled import common_vocabulary, read_labels, shown
from demele.core.result import Note, Result, about
from demele.core.signature import Signature
from demele.core.table_columns import as_column, check_rows, number_column, plain_array
from demele.noise.transition import digest, set_fields
from demele.report.document import Document, Section, Table
from demele.report.listing import drawn, table_of_frame
from demele.report.words import count, name, written


class CleanedLabels(NamedTuple):
    """What is left after a cleaning: ``labels`` of shape (m,), and ``rows``, where they were among all n."""

    labels: Array
    rows: Rows


#: Suspected labels in a table, the most suspicious ones.
_MOST_SUSPECTS = 500


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Cleaning(Result):
    """Suspected labels of a cleaning, and the suggested labels.

    Parameters
    ----------
    suspect : array-like of bool of shape (n,)
    suggested : array-like of shape (n,), optional
        Labels of all rows after the cleaning; read where ``suspect``. Without them, suspects are dropped.
    score : array-like of shape (n,), optional
        How suspicious each label is, from 0 to 1, if the method has such a number; NaN where it could not judge. A
        method may suspect by more than this number: suspects need not have the highest scores.
    method : str, optional
    signature : Signature, optional
        The call that made it, with every setting.
    notes : sequence of Note
    made_from : str, optional
        Digest of the labels that were cleaned, in their order, by which :func:`demele.labels.clean` ties the cleaning
        to them: other labels are then refused.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> import numpy as np
    >>> confidence = np.array([0.9, 0.1, 0.8])
    >>> cleaning = Cleaning(confidence < 0.5)
    >>> cleaning.suspect
    array([False,  True, False])
    >>> cleaning.kept(["cat", "cat", "dog"])
    CleanedLabels(labels=array(['cat', 'dog'], dtype=object), rows=array([0, 2]))
    """

    _kind = "cleaning"

    suspect: Flags
    suggested: Array | None
    score: Floats | None
    method: str | None
    signature: Signature | None
    notes: tuple[Note, ...]
    made_from: str | None

    def __init__(
        self,
        suspect: object,
        suggested: object = None,
        *,
        score: object = None,
        method: str | None = None,
        signature: Signature | None = None,
        notes: Sequence[Note] = (),
        made_from: str | None = None,
    ) -> None:
        flags = np.array(as_column(suspect, "suspect"))
        if flags.ndim != 1 or flags.dtype != bool:
            problem = f"expected one flag (True or False) per label, got shape {flags.shape} of type {flags.dtype}"
            remedy = "from row numbers: suspect = numpy.zeros(n, dtype=bool); suspect[rows] = True"
            raise InputTypeError("suspect", problem, remedy)
        instead = None if suggested is None else read_labels(suggested, "suggested")
        if instead is not None and instead.size != flags.size:
            raise InputError("suggested", f"expected {flags.size} labels, one per flag of suspect, got {instead.size}")
        if score is not None:
            score = number_column(
                score,
                "score",
                flags.size,
                "flag",
                "numbers in [0, 1]",
                inside=lambda x: ~((x < 0) | (x > 1)),
            )
        set_fields(
            self,
            suspect=flags,
            suggested=instead,
            score=score,
            method=method,
            signature=signature,
            notes=tuple(notes),
            made_from=made_from,
        )

    def document(self) -> Document:
        """Say how many labels are suspected, and which are the most suspicious."""
        n, found = self.suspect.size, self.n_suspects
        frame = self.worst(_MOST_SUSPECTS).head(found).drop(columns="suspect").rename_axis("row")
        table, _ = table_of_frame("Suspected labels", frame)
        shares, share = [("suspected", found), ("others", n - found)], written(found / max(n, 1), "percent")
        left = f"The {_MOST_SUSPECTS} most suspicious of {written(found, 'count')} are listed."
        read = None if self.signature is None else self.signature.arguments.get("kind")
        return Document(
            kind="Cleaning",
            headline=f"{written(found, 'count')} of {count(n, 'label')} are suspected: {share}.",
            figure=drawn(Table("Labels", {"": "text", "Labels": "count"}, shares), "Labels", bar=True),
            table=table,
            scope=[f"method {name(self.method)}" if self.method else "", f"read from {read}" if read else ""],
            sections=[Section("Label errors", [table, left if found > _MOST_SUSPECTS else ""])],
            **about(self),
        )

    @property
    def n_suspects(self) -> int:
        """Number of labels that are held for wrong."""
        return int(self.suspect.sum())

    def dropping(self) -> "Cleaning":
        """Return the same suspects without suggestions, so that every use of the cleaning drops them."""
        return replace(self, suggested=None)

    def take(self, rows: object) -> "Cleaning":
        """Return the cleaning of some rows, for use with the labels of these rows only.

        Parameters
        ----------
        rows : array-like
            Flags of shape (n,), or row numbers.

        Examples
        --------
        >>> Cleaning([True, False, True], [0, 1, 1]).take([True, True, False]).suspect
        array([ True, False])
        """
        chosen = plain_array(rows, "rows", "flags or row numbers")
        try:
            suggested, score = (None if one is None else one[chosen] for one in (self.suggested, self.score))
            return replace(self, suspect=self.suspect[chosen], suggested=suggested, score=score, made_from=None)
        except IndexError as error:
            n, got = self.suspect.size, f"shape {chosen.shape} of {chosen.dtype}"
            raise InputError("rows", f"expected {n} flags, or row numbers up to {n - 1}, got {got}") from error

    def kept(self, y: object) -> CleanedLabels:
        """Drop the suspects, even where there is a suggestion.

        Parameters
        ----------
        y : array-like of shape (n,)
            The labels that were cleaned.

        Raises
        ------
        InputError, InputTypeError
        """
        given = read_cleaned(y, self)
        rows = np.flatnonzero(~self.suspect)
        return CleanedLabels(given[rows], rows)

    def applied(self, y: object) -> CleanedLabels:
        """Relabel the suspects if there are suggestions, which keeps every row; else drop them.

        Parameters
        ----------
        y : array-like of shape (n,)
            The labels that were cleaned.

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> Cleaning([False, True, False], ["cat", "dog", "dog"]).applied(["cat", "cat", "dog"]).labels
        array(['cat', 'dog', 'dog'], dtype=object)
        """
        if self.suggested is None:
            return self.kept(y)
        given = read_cleaned(y, self)
        return CleanedLabels(np.where(self.suspect, self.suggested, given), np.arange(given.size))

    @checked
    def to_frame(self, y: object = None, *, only_suspects: bool = False) -> "pd.DataFrame":
        """One row per label: suspect, and label, suggested and score where they are known.

        Parameters
        ----------
        y : array-like of shape (n,), optional
            The labels that were cleaned.
        only_suspects : bool
            Leave out the other rows; the index says where the suspects were. They are in the order of the rows: for the
            most suspicious first, see :meth:`worst`.

        Raises
        ------
        InputError, InputTypeError
        """
        label = None if y is None else read_cleaned(y, self)
        columns = {"label": label, "suspect": self.suspect, "suggested": self.suggested, "score": self.score}
        frame = pd.DataFrame({name: column for name, column in columns.items() if column is not None})
        return frame[self.suspect] if only_suspects else frame

    def worst(self, n: int = 20, *, y: object = None) -> "pd.DataFrame":
        """Return the n labels to look at first: suspects by score, then the other labels by score.

        The score alone does not sort so: ``"confident"`` suspects a number of labels of each class, so that a label of
        another class with as high a score may be none. Equal scores stay in the order of the rows, and labels without a
        score come after those with one.

        Parameters
        ----------
        n : int >= 1
        y : array-like of shape (n,), optional
            The labels that were cleaned.

        Returns
        -------
        DataFrame
            Rows of :meth:`to_frame`; the index says where they were.

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> Cleaning([False, True, True], score=[0.9, 0.5, 0.8]).worst(3).index.tolist()
        [2, 1, 0]
        """
        checked_count(n, "n", 1)
        score = np.zeros(self.suspect.size) if self.score is None else np.nan_to_num(self.score, nan=-1.0)
        order = np.lexsort((-score, ~self.suspect))  # stable
        return self.to_frame(y).iloc[order[:n]]


#: A file of flags on the command line.
CleaningData = Annotated[Cleaning | None, FILE]


def label_digest(labels: Array) -> str:
    """Return a digest of labels in their order, the same for 3, 3.0 and "3".

    Parameters
    ----------
    labels : array of shape (n,)
        As :func:`demele.core.labelled.read_labels` returns them.
    """
    # By first appearance: the codes do not depend on the order of classes that a caller may have.
    codes, names = pd.factorize(labels)
    return digest(codes.astype(np.int64), [str(name) for name in names])


def check_made_from(cleaning: Cleaning, labels: Array, argument: str) -> None:
    """Refuse labels that a cleaning was not made from, if it knows its own.

    Parameters
    ----------
    labels : array of shape (n,)
        As :func:`demele.core.labelled.read_labels` returns them.
    argument : str
        What messages call the labels.
    """
    if cleaning.made_from is not None and cleaning.made_from != label_digest(labels):
        problem = f"it was made from other labels than {argument}, or from these in another order"
        raise InputError("cleaning", problem, "pass the labels that were cleaned, row by row, or clean these")


def read_cleaned(y: object, cleaning: Cleaning) -> Array:
    """Read the labels that were cleaned, and refuse others as far as the cleaning knows its own."""
    given = read_labels(y, "y")
    if given.size != cleaning.suspect.size:
        raise InputError("y", f"expected {cleaning.suspect.size} labels, those that were cleaned, got {given.size}")
    if cleaning.suggested is not None and given.dtype != cleaning.suggested.dtype:
        like, got = (shown(one[:1].tolist()) for one in (cleaning.suggested, given))
        problem = f"expected classes like the suggested ones, such as {like}, got {got}"
        raise InputError("y", problem, "pass the labels that were cleaned")
    check_made_from(cleaning, given, "y")
    return given


@checked
def simulated_cleaning(
    labels: object,
    true_labels: object,
    *,
    detected: Rate,
    false_alarms: Rate,
    corrected: Rate | None = None,
    seed: Seed = 0,
) -> Cleaning:
    """Simulate a cleaning of known quality; for studies, since it uses the true labels.

    Parameters
    ----------
    labels, true_labels : array-like of shape (n,)
    detected : float in [0, 1]
        Probability that a wrong label is suspected (s).
    false_alarms : float in [0, 1]
        Probability that a right label is suspected (e).
    corrected : float in [0, 1], optional
        Probability that a suspect is given its true class (c); else it is given one of the other classes, each as
        likely. Without it, suspects are dropped.
    seed : int >= 0

    Returns
    -------
    Cleaning
        With the same seed, larger rates suspect more labels, not others.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Source: Benjelloun, section 6.5.4. The other classes are those other than the true one, so that a wrong label that
    is suspected may also stay.

    Examples
    --------
    >>> found = simulated_cleaning([0, 1, 1, 0], [0, 1, 0, 0], detected=1, false_alarms=0, corrected=1)
    >>> found.suspect
    array([False, False,  True, False])
    >>> found.suggested
    array([0, 1, 0, 0])
    """
    given, true = read_labels(labels, "labels"), read_labels(true_labels, "true_labels")
    check_rows(labels, true_labels, ("labels", "true_labels"), (given.size, true.size))
    words = common_vocabulary([given, true])
    coded, truth = words.encode(given, "labels"), words.encode(true, "true_labels")
    suspect = rng_for(seed, "simulated_cleaning", "suspect").random(given.size) < np.where(
        coded != truth, detected, false_alarms
    )
    if corrected is None:
        return Cleaning(suspect)
    if len(words) < 2:
        raise NotEnoughData("labels", f"expected at least 2 classes to choose from, got only {words.classes[0]!r}")
    succeeds = rng_for(seed, "simulated_cleaning", "corrected").random(given.size) < corrected
    shift = rng_for(seed, "simulated_cleaning", "other").integers(1, len(words), given.size)
    found = np.where(succeeds, truth, (truth + shift) % len(words))
    names = np.array(words.classes, dtype=given.dtype)
    return Cleaning(suspect, np.where(suspect, names[found], given))
