"""How true classes become given labels: as probabilities, and as counts of a sample. Rows are true classes in both."""

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Array, Counts, Floats, pd
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Classes, checked, checked_count, checked_level, checked_number
from demele.core.labelled import Vocabulary, common_vocabulary, read_labels, refuse_unjudged, shown, vocabulary
from demele.core.proportions import exact_interval, proportion
from demele.core.result import Interval, Note, Result, about, plain
from demele.core.signature import OptionText
from demele.core.table_columns import check_rows, items_of, real_numbers
from demele.report.document import Document, Heat, Section
from demele.report.listing import table_of_frame
from demele.report.words import MISSING, count, ends, name, rate, written

# Square tables of classes by classes: read and ordered ----------------------------------------------------------------

T = TypeVar("T")
#: Rows that sum to 1 within this were rounded by arithmetic; beyond it, by hand.
SUM_TOLERANCE = 1e-6


class SquareTable(Result):
    """What transition matrices and counts share: entries of classes by classes, which may have names."""

    __slots__ = ()
    #: The field that holds the entries.
    _entries: ClassVar[str]
    classes: tuple[int | str, ...] | None

    @property
    def _table(self) -> Array:
        table: Array = getattr(self, self._entries)
        return table

    @property
    def _words(self) -> Vocabulary:
        """The classes, numbered where they have no names."""
        return Vocabulary(tuple(range(self.k)) if self.classes is None else self.classes)

    def _identity(self) -> tuple[object, ...]:
        """Return all that two equal tables have in common."""
        return type(self), self.classes, getattr(self, "sample_of", None), self._table.tobytes()

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, SquareTable) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self._table)

    def in_signature(self) -> OptionText:
        """Return what a signature holds of it: its size, and a digest that does not depend on the order of classes."""
        names, table = self.classes, self._table
        if names is None:
            return OptionText(type(self).__name__, (("k", self.k), ("digest", digest(table, None))))
        order = np.array(sorted(range(self.k), key=lambda index: (str(type(names[index])), names[index])))
        known = digest(table[np.ix_(order, order)], [names[index] for index in order])
        return OptionText(type(self).__name__, (("k", self.k), ("digest", known)))

    def ordered(self, classes: Sequence[object], argument: str = "noise") -> Self:
        """Return the same table with its classes in another order.

        A table without names is supposed to be in that order already, and returned as it is.

        Raises
        ------
        InputError
            If the classes are not the same.
        """
        names, own = vocabulary(np.empty(0), classes=classes).classes, self.classes
        if len(names) != self.k:
            held = f": {shown(own)}" if own else ""
            raise InputError(argument, f"expected {len(names)} classes, as the labels have, got {self.k}{held}")
        if own is None:
            return self
        missing = [name for name in names if name not in own]
        if missing:
            raise InputError(argument, f"its classes {shown(own)} lack {shown(missing)}, which the labels have")
        order = [own.index(name) for name in names]
        return changed(self, classes=names, **{self._entries: frozen_copy(self._table[np.ix_(order, order)])})

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame: index "true", columns "given"."""
        index, columns = (pd.Index(self._words.classes, name=axis) for axis in ("true", "given"))
        return pd.DataFrame(self._table.copy(), index=index, columns=columns)


def digest(*parts: object) -> str:
    """Return 12 hexadecimal digits that stand for arrays and literals in a short repr."""
    made = hashlib.blake2b(digest_size=6)
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            made.update(str((part.dtype.str, part.shape)).encode() + np.ascontiguousarray(part).tobytes())
        else:
            made.update(repr(part.tolist() if isinstance(part, np.ndarray) else part).encode() + b"\x1f")
    return made.hexdigest()


def read_square(values: Any, classes: Any, argument: str) -> tuple[Floats, tuple[int | str, ...] | None]:
    """Return a table of shape (K, K) with the names of its classes: those given, or those of a data frame, if any."""
    if values is None or isinstance(values, str | bytes | SquareTable):
        raise InputTypeError(argument, f"expected a table of shape (K, K), got {type(values).__name__}")
    table = real_numbers(values, argument, "a table of numbers of shape (K, K)")
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
        raise InputError(argument, f"expected a square table, rows = true classes, columns = labels, got {table.shape}")
    if table.size == 1:
        raise NotEnoughData(argument, "expected at least 2 classes, got 1")
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        place = f"row {bad[0][0]}, column {bad[0][1]}"
        raise InputError(argument, f"missing or infinite at {place}, {len(bad)} in all")
    names = None if classes is None else vocabulary(np.empty(0), classes=classes).classes
    if names is not None and len(names) != len(table):
        raise InputError("classes", f"expected {len(table)} names, one per row, got {len(names)}: {shown(names)}")
    if hasattr(values, "columns") and hasattr(values, "index"):
        rows, columns, numbers = list(values.index), list(values.columns), list(range(len(table)))
        if rows not in (columns, numbers):
            raise InputError(argument, f"expected the same classes in rows and columns, got {shown(rows)} in rows")
        named = None if columns == numbers else vocabulary(np.empty(0), classes=columns).classes
        if named and names and named != names:
            raise InputError("classes", f"the data frame names {shown(named)}, got {shown(names)}; align them")
        names = named or names
    return table, names


def frozen_copy(table: Array) -> Array:
    """Return a copy that nobody can write to."""
    table = table + 0  # in which -0.0 is 0.0
    table.setflags(write=False)
    return table


def set_fields(instance: object, **values: object) -> None:
    """Set fields of a frozen instance, as its own constructor may."""
    for field, value in values.items():
        object.__setattr__(instance, field, value)


def changed(instance: T, **values: object) -> T:
    """Return a frozen instance with other values in some fields, which are trusted."""
    other = copy(instance)
    set_fields(other, **values)
    return other


# What tables of how classes are labelled say: their documents ---------------------------------------------------------

#: Classes in a heat map, the first ones; more are slow to lay out.
_MOST_CLASSES = 60


def matrix_document(result: "TransitionMatrix") -> Document:
    """Say how probable a correct label is, for each class."""
    frame = result.to_frame()
    right = np.diag(frame)
    least, most = int(right.argmin()), int(right.argmax())
    ends = [f"{written(float(right[one]), 'percent')} (class {name(frame.index[one])})" for one in (least, most)]
    return Document(
        kind="Transition matrix",
        headline=f"The probability of a correct label is {' to '.join(ends)}.",
        **_tables(frame, pd.DataFrame({"right": right}), "percent"),
        **about(result),
    )


def counts_document(result: "TransitionCounts", level: float | None = 0.95) -> Document:
    """Say how many labels of each class are wrong; with a level also in what the sample was drawn from."""
    level = None if level is None else checked_level(level)
    columns = result.per_class(level=level or 0.95)
    said = f"{written(result.wrong, 'count')} of {count(result.n, 'label')} are wrong"
    share = written(result.rate, "percent")
    if level is None:
        columns = columns.drop(columns=["low", "high"])
    else:
        share += f", {rate(level)} interval {written(ends(result.rate_interval(level=level)), 'percent')}"
    return Document(
        kind="Transition counts",
        headline=f"{said}: {share}.",
        methods=[
            "Labels were counted by true class with demele [@demele].",
            f"Intervals are exact (Clopper and Pearson), level {rate(level)}." if level else "",
        ],
        **_tables(result.to_frame(), columns, "count"),
        **about(result),
    )


def _tables(frame: "pd.DataFrame", columns: "pd.DataFrame", form: str) -> dict[str, Any]:
    """Return the heat map of all pairs of classes, and a row for each class with what it is mistaken for most."""
    classes, values = list(map(str, frame.index)), frame.to_numpy()
    others = np.where(np.eye(len(classes), dtype=bool), 0, values / np.maximum(values.sum(axis=1, keepdims=True), 1))
    most = [(classes[row.argmax()], float(row.max())) for row in others]
    mistaken = [f"{of} ({written(share, 'percent')})" if share else MISSING for of, share in most]
    rows = columns.set_axis(pd.Index(classes, name="true_class")).assign(mistaken_most_for=mistaken)
    table, _ = table_of_frame("Classes", rows, {"right": "percent", "share_wrong": "percent"})
    shown, left = list(map(name, classes[:_MOST_CLASSES])), len(classes) - _MOST_CLASSES
    square = values[:_MOST_CLASSES, :_MOST_CLASSES].tolist()
    heat = Heat("Labels by true class", shown, shown, square, form, ("true class", "given label"), "row")
    said = f"The first {_MOST_CLASSES} of {count(len(classes), 'class', 'classes')} are drawn." if left > 0 else ""
    return {"figure": heat, "table": table, "sections": [Section("Classes", [table, said])]}


# How many can be marked, given how many marked ones a random sample holds ---------------------------------------------


def hypergeometric_limit(size: ArrayLike, drawn: ArrayLike, seen: ArrayLike, error: float | Array) -> Counts:
    """Return the largest number of marked ones that a uniform random sample does not contradict.

    Parameters
    ----------
    size, drawn, seen : int arrays
        ``drawn`` of ``size`` elements were drawn without replacement, and ``seen`` of them were marked; arrays
        broadcast.
    error : float or array in (0, 1)
        Probability with which the true number may exceed the limit, at most.

    Returns
    -------
    int array of the common shape
        The largest number W with P(Hypergeometric(size, W, drawn) <= seen) > error, found by bisection.

    Examples
    --------
    Ten of a hundred labels were checked, and all were right: 24 or fewer of the hundred are wrong.

    >>> int(hypergeometric_limit(100, 10, 0, 0.05))
    24
    """
    from scipy.stats import hypergeom

    arrays = np.broadcast_arrays(size, drawn, seen, error)
    # The same case often comes many times: pairs of classes that no mistake was seen between.
    cases, back = np.unique(np.stack([np.ravel(x).astype(np.float64) for x in arrays]), axis=1, return_inverse=True)
    sizes, samples, marked = cases[:3].astype(np.int64)
    low, high = marked.copy(), sizes - (samples - marked)  # what is possible at all
    while (low < high).any():
        middle = (low + high + 1) // 2
        possible = hypergeom.cdf(marked, np.maximum(sizes, 1), middle, samples) > cases[3]
        wide = low < high
        low, high = np.where(wide & possible, middle, low), np.where(wide & ~possible, middle - 1, high)
    return np.asarray(low[np.reshape(back, -1)].reshape(arrays[0].shape))


#: Rows whose sums are no farther from 1 than this were rounded.
ROUNDED = 0.01


#: What a sample was drawn from: the source of the instances, or the very instances whose labels are judged.
SampleOf = Literal["source", "labels"]


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class TransitionMatrix(SquareTable):
    """Probability of each given label for each true class.

    Parameters
    ----------
    probabilities : array-like of shape (K, K)
        Row = true class, column = given label; each row sums to 1.
    classes : sequence of int or str, optional
        Names of the classes, in the order of both axes. By default those of a data frame, if any.

    Attributes
    ----------
    probabilities : array of shape (K, K)
        Read-only.
    classes : tuple or None

    Raises
    ------
    InputError, InputTypeError
        If it is not square, not finite, outside [0, 1], or if a row does not sum to 1. A matrix whose columns sum to 1
        instead is reported as transposed. Where rows and columns both sum to 1, nothing can tell the two apart:
        state yourself that rows are true classes.

    Notes
    -----
    Counts and probabilities are different types: counts carry their uncertainty. See :class:`TransitionCounts`.

    Examples
    --------
    >>> noise = TransitionMatrix([[0.9, 0.1], [0.2, 0.8]], classes=["cat", "dog"])
    >>> noise.probability(true="cat", given="dog")
    0.1
    >>> round(noise.rate([0.5, 0.5]), 6)
    0.15
    """

    _kind, _entries = "transition matrix", "probabilities"

    probabilities: Floats
    classes: tuple[int | str, ...] | None

    def __init__(self, probabilities: "ArrayLike | pd.DataFrame", classes: Sequence[object] | None = None) -> None:
        table, names = read_square(probabilities, classes, "probabilities")
        whole = bool((table >= 0).all() and (table == np.floor(table)).all())
        wrong = np.argwhere((table < 0) | (table > 1 + SUM_TOLERANCE))
        if wrong.size:
            row, column = wrong[0]
            hint = "these look like counts: use TransitionCounts" if whole else "give probabilities, not percentages"
            first = f"{table[row, column]:g} at row {row}, column {column}"
            raise InputError("probabilities", f"{len(wrong)} values outside [0, 1], first {first}; {hint}")
        sums = table.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
        if off.size:
            row = int(off[0])
            if (np.abs(table.sum(axis=0) - 1) <= SUM_TOLERANCE).all():
                remedy = "its columns do: it looks transposed: rows are true classes; transpose it"
            elif whole:
                remedy = "these look like counts: use TransitionCounts"
            elif np.abs(sums - 1).max() > ROUNDED:
                remedy = "row = true class, its entries how often each class is given"
            else:
                remedy = "if that is rounding, divide each row by its sum"
            called = row if names is None else quoted(names[row])
            told = f"{off.size} of its rows do not sum to 1, first row {called} with sum {sums[row]:g}"
            raise InputError("probabilities", f"{told}; {remedy}")
        set_fields(self, probabilities=frozen_copy(table / sums[:, None]), classes=names)

    document = matrix_document

    def probability(self, *, true: object, given: object) -> float:
        """Return the probability that an instance of class ``true`` is labelled ``given``.

        Raises
        ------
        InputError
            If one of them is no class.
        """
        words = self._words
        return float(self.probabilities[words.index(true, "true"), words.index(given, "given")])

    def rate(self, priors: object) -> float:
        """Return the share of wrong labels.

        Parameters
        ----------
        priors : array-like of shape (K,)
            Proportions of the true classes, in the order of the rows; they sum to 1.

        Raises
        ------
        InputError
            If they are not K proportions that sum to 1.
        """
        shares = real_numbers(priors, "priors")
        if shares.shape != (self.k,):
            raise InputError("priors", f"expected {self.k} proportions, one per true class, got shape {shares.shape}")
        if not (np.isfinite(shares).all() and (shares >= 0).all() and abs(shares.sum() - 1) <= SUM_TOLERANCE):
            raise InputError("priors", f"expected proportions >= 0 that sum to 1, got sum {shares.sum():g}")
        return float(shares @ (1 - np.diag(self.probabilities)))


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class TransitionCounts(SquareTable):
    """Number of instances of each true class with each given label, in a random sample.

    Parameters
    ----------
    counts : array-like of shape (K, K)
        Whole numbers >= 0; row = true class, column = given label.
    classes : sequence of int or str, optional
        Names of the classes, in the order of both axes.
    sample_of : {"source", "labels"}
        What the instances counted here are a uniform random sample of. ``"source"``: of where the judged instances come
        from; safe in both cases. ``"labels"``: of the very instances whose labels are judged (or all of them), which
        gives sharper limits: what was counted is known.

    Attributes
    ----------
    counts : array of int64 of shape (K, K)
        Read-only.
    classes : tuple or None

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If it is not square, negative, not whole or empty; probabilities are refused with a hint.

    Notes
    -----
    Transposed counts cannot be detected: rows are true classes. To build them from two columns of labels,
    use :func:`estimate_transition`, which cannot be turned by mistake.

    Examples
    --------
    >>> counts = TransitionCounts([[45, 5], [2, 48]], classes=["cat", "dog"])
    >>> counts.rate, counts.n
    (0.07, 100)
    >>> counts.to_matrix().probability(true="cat", given="dog")
    0.1
    """

    _kind, _entries = "transition counts", "counts"

    counts: Counts
    classes: tuple[int | str, ...] | None
    sample_of: SampleOf

    @checked
    def __init__(
        self,
        counts: "ArrayLike | pd.DataFrame",
        classes: Sequence[object] | None = None,
        *,
        sample_of: SampleOf = "source",
    ) -> None:
        table, names = read_square(counts, classes, "counts")
        odd = np.argwhere((table != np.floor(table)) | (table < 0))
        if odd.size:
            row, column = odd[0]
            likely = bool((table >= 0).all() and (np.abs(table.sum(axis=1) - 1) < 0.01).all())
            hint = "; these look like probabilities: use TransitionMatrix" if likely else ""
            first = f"{table[row, column]:g} at row {row}, column {column}"
            raise InputError("counts", f"expected whole numbers >= 0, got {len(odd)} other, first {first}{hint}")
        if table.max() > 2**53:
            raise InputError("counts", f"expected counts up to 2^53, got {table.max():g}")
        if not table.any():
            raise NotEnoughData("counts", "expected at least 1 instance, got none")
        set_fields(self, counts=frozen_copy(table.astype(np.int64)), classes=names, sample_of=sample_of)

    def in_signature(self) -> OptionText:
        """Return its part of a signature: size, sample and digest."""
        (k, digest) = super(TransitionCounts, self).in_signature().arguments
        return OptionText("TransitionCounts", (k, ("n", self.n), ("sample_of", self.sample_of), digest))

    document = counts_document

    @property
    def n(self) -> int:
        """Number of instances counted."""
        return int(self.counts.sum())

    @property
    def wrong(self) -> int:
        """Number of wrong labels counted."""
        return int(self.counts.sum() - np.trace(self.counts))

    @property
    def rate(self) -> float:
        """Share of wrong labels among those counted."""
        return self.wrong / self.n

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note on the classes without a counted instance, if there are any."""
        unseen = [str(self._words.classes[row]) for row in np.flatnonzero(self.counts.sum(axis=1) == 0)]
        message = f"{len(unseen)} classes have no true instance in the sample: how they are labelled is unknown."
        note = Note(code="unseen-classes", message=message, subject=tuple(unseen[:6]), severity="warning")
        return (note,) if unseen else ()

    def rate_interval(self, *, level: float = 0.95) -> Interval:
        """Return Clopper and Pearson's interval of the rate of wrong labels in what the sample was drawn from.

        Parameters
        ----------
        level : float in (0, 1)
            Coverage is at least this, whatever the rate.

        Examples
        --------
        >>> print(TransitionCounts([[50, 0], [0, 50]]).rate_interval(level=0.95))
        [0.000, 0.036]
        """
        low, high = exact_interval(self.wrong, self.n, level=level)
        return Interval(low=float(low), high=float(high), level=level, method="exact")

    def per_class(self, *, level: float = 0.95) -> "pd.DataFrame":
        """Return a row for each true class: instances, wrong labels, their share, and its exact interval.

        Parameters
        ----------
        level : float in (0, 1)
        """
        sizes = self.counts.sum(axis=1)
        wrong = sizes - np.diag(self.counts)
        low, high = exact_interval(wrong, sizes, level=level)
        low, high = np.where(sizes > 0, low, 0.0), np.where(sizes > 0, high, 1.0)
        columns = {"instances": sizes, "wrong": wrong, "share_wrong": proportion(wrong, sizes), "low": low}
        return pd.DataFrame(columns | {"high": high}, index=pd.Index(self._words.classes, name="true"))

    @checked
    def to_matrix(self, *, empty: Literal["raise", "right"] = "raise") -> TransitionMatrix:
        """Return the proportions of each row; what the sample leaves uncertain is lost.

        Parameters
        ----------
        empty : {"raise", "right"}
            What to do with a true class that was never counted: refuse, or suppose that it is always labelled right.

        Raises
        ------
        NotEnoughData
            If a true class was never counted and ``empty`` is ``"raise"``.
        """
        sums = self.counts.sum(axis=1)
        none = np.flatnonzero(sums == 0)
        if none.size and empty == "raise":
            names = shown([self._words.classes[row] for row in none])
            message = f"no instance is truly of {none.size} of {self.k} classes ({names}), so their labels are unknown"
            raise NotEnoughData("counts", message, "count more, or pass empty='right' to suppose that they are right")
        table = self.counts.astype(np.float64)
        table[none, none] = 1
        return TransitionMatrix(table / np.maximum(sums, 1)[:, None], self.classes)

    def merge(self, other: "TransitionCounts") -> "TransitionCounts":
        """Return the counts of two samples together.

        Raises
        ------
        InputError
            If their classes differ, or what they are samples of.
        """
        if not isinstance(other, TransitionCounts):
            raise InputTypeError("other", f"expected TransitionCounts, got {type(other).__name__}")
        if self.classes != other.classes or self.k != other.k:
            both = [shown(one.classes or range(one.k)) for one in (self, other)]
            raise InputError("counts", f"expected the same classes, got {both[0]} and {both[1]}")
        if self.sample_of != other.sample_of:
            raise InputError("counts", f"samples of {self.sample_of!r} and of {other.sample_of!r} cannot be merged")
        return TransitionCounts(self.counts + other.counts, self.classes, sample_of=self.sample_of)


def estimate_transition(
    true_labels: object,
    given_labels: object,
    *,
    classes: Sequence[object] | None = None,
    sample_of: SampleOf = "source",
) -> TransitionCounts:
    """Count the given labels of each true class.

    Parameters
    ----------
    true_labels, given_labels : array-like of shape (n,)
        Of the same instances: a uniform random sample.
    classes : sequence, optional
        All classes, in the order of the result. By default those of both, sorted.
    sample_of : {"source", "labels"}
        As in :class:`TransitionCounts`.

    Returns
    -------
    TransitionCounts

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the lengths differ or a value is no class.

    Examples
    --------
    >>> estimate_transition([0, 0, 0, 1], [0, 0, 1, 1]).counts
    array([[2, 1],
           [0, 1]])
    """
    true, given = read_labels(true_labels, "true_labels"), read_labels(given_labels, "given_labels")
    check_rows(true_labels, given_labels, ("true_labels", "given_labels"), (true.size, given.size))
    refuse_unjudged(true, given, "true_labels", classes=classes)
    words = common_vocabulary([given, true], classes=classes)
    k = len(words)
    cells = words.encode(true, "true_labels").astype(np.int64) * k + words.encode(given, "given_labels")
    table = np.bincount(cells, minlength=k * k).reshape(k, k)
    if k < 2:
        message = f"expected at least 2 classes, got only {words.classes[0]!r}"
        raise NotEnoughData(("true_labels", "given_labels"), message, "give all classes with `classes=[...]`")
    return TransitionCounts(table, words.classes, sample_of=sample_of)


def matrix_of_annotators(matrices: Sequence[Any] | Mapping[Any, Any], argument: str = "matrices") -> TransitionMatrix:
    """Return the transition of a factor if each row has one of several annotators, all equally often.

    Parameters
    ----------
    matrices : sequence or mapping of TransitionMatrix, or of arrays of shape (K, K)
        Confusion matrices of three or more annotators, as :func:`demele.labels.dawid_skene` estimates them: row = true
        value, column = given value.
    argument : str
        What messages call them.

    Returns
    -------
    TransitionMatrix
        The mean of theirs.

    Raises
    ------
    NotEnoughData
        Of fewer than three: two annotations of the same rows do not tell how their annotators err.
    InputError
        If the matrices differ in size or in classes.

    Examples
    --------
    >>> one, other = [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]
    >>> matrix_of_annotators([one, other, other]).probabilities.round(3).tolist()
    [[0.833, 0.167], [0.167, 0.833]]
    """
    tables = matrices.values() if isinstance(matrices, Mapping) else matrices
    items = items_of(tables, argument, "a matrix of each annotator")
    read = [one if isinstance(one, TransitionMatrix) else TransitionMatrix(one) for one in items]
    if len(read) < 3:
        message = f"got the matrices of {len(read)} annotators; two annotations of the same rows do not give the errors"
        remedy = "add a third independent annotator, or an audit; "
        remedy += "if all errors are equally likely, demele.labels.transition_from_agreement needs two only"
        raise NotEnoughData(argument, message, remedy)
    if any((one.k, one.classes) != (read[0].k, read[0].classes) for one in read):
        raise InputError(argument, "expected matrices of the same classes, in the same order, for all annotators")
    return TransitionMatrix(np.mean([one.probabilities for one in read], axis=0), read[0].classes)


def transition_from_agreement(agreement: float, n_classes: int) -> TransitionMatrix:
    """Return the matrix of uniform errors that explains the agreement of two annotators.

    It holds only if both err at one rate, whatever the true class, with all wrong classes equally likely, and
    independently of each other: nothing in two annotations can show that they do.

    Parameters
    ----------
    agreement : float in (1 / n_classes, 1]
        Share of the rows on which they agree.
    n_classes : int >= 2

    Returns
    -------
    TransitionMatrix
        Of rate r, the root below (K - 1) / K of agreement = (1 - r)^2 + r^2 / (K - 1).

    Raises
    ------
    InputError

    Examples
    --------
    >>> round(float(transition_from_agreement(0.82, 2).probabilities[0, 1]), 6)
    0.1
    """
    k = checked_count(n_classes, "n_classes", 2)
    share = checked_number(
        agreement,
        "agreement",
        f"a share above {1 / k:g}, what annotators who guess agree on, and at most 1",
        inside=lambda share: 1 / k < share <= 1,
    )
    rate = (k - 1) / k * (1 - np.sqrt(1 - k / (k - 1) * (1 - share)))
    table = np.full((k, k), rate / (k - 1))
    np.fill_diagonal(table, 1 - rate)
    return TransitionMatrix(table)


# A random sample with true labels: how the labels of each class were wrong --------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedSample(Result):
    """Labels of a random sample by true class, with intervals of a level; see :func:`count_labels`."""

    _kind = "counted sample"

    table: TransitionCounts
    level: float

    def document(self) -> Document:
        """Return the share of wrong labels with its interval, and the counts."""
        return counts_document(self.table, self.level)

    def to_frame(self) -> "pd.DataFrame":
        """Return the counts: a row per true class, a column per given class."""
        return self.table.to_frame().reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Everything, with intervals of the share of wrong labels, in all and per true class."""
        found = self.table
        told = {name: getattr(found, name) for name in ("n", "wrong", "rate", "notes")}
        told |= {"interval": found.rate_interval(level=self.level), "per_class": found.per_class(level=self.level)}
        return {**found.to_dict(), "kind": self._kind, "level": self.level, **plain(told)}


def count_labels(
    true_labels: object, given_labels: object, *, classes: Classes = None, level: float = 0.95
) -> CountedSample:
    """Count the labels of a random sample by their true classes.

    Parameters
    ----------
    true_labels, given_labels : array-like of shape (n,)
        Of the same instances: a uniform random sample.
    classes : sequence, optional
        All classes, in the order of the result (default: those of both, sorted).
    level : float
        Confidence of the intervals.

    Examples
    --------
    >>> count_labels([0, 0, 0, 1], [0, 0, 1, 1]).table.rate
    0.25
    """
    counts = estimate_transition(true_labels, given_labels, classes=classes)
    return CountedSample(counts, checked_level(level))
