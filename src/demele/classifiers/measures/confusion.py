"""Confusion counts of one classifier: whose axis is which, what they add up to, and the measures that they give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from demele.classifiers import table_measures
from demele.classifiers.question import Groups, effective_share, ends_at
from demele.core.arrays import Counts, Floats, pd
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import checked, checked_name
from demele.core.labelled import Indices, Labelled, read_labelled, shown, vocabulary
from demele.core.proportions import normal_quantile, proportion
from demele.core.result import Note, Result, about
from demele.core.table_columns import plain_array
from demele.report.document import NOTHING, Document, Heat, Section, Table
from demele.report.words import count, is_missing, name, title_of, written

#: What the rows stand for: the given labels, which may be wrong, or the true ones.
Rows = Literal["label", "true"]
Average = Literal["macro", "micro", "weighted"]

#: A table of so many classes takes 3.2 GB; more of them are most often names of instances, not of classes.
MAX_CLASSES = 20_000
#: Rows counted at a time, so that no array as long as all of them is made.
CHUNK = 1 << 22


#: Measures of a class, as tables call them; and classes of a matrix that can be read.
OF_CLASSES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
_READABLE = 50


def confusion_document(result: "ConfusionCounts") -> Document:
    """Say how often each class is predicted for each class."""
    right = "undefined" if is_missing(result.accuracy) else written(result.accuracy, "percent")
    columns = {"Class": "text", "Rows": "count", "Predicted": "count"}
    columns |= dict.fromkeys(OF_CLASSES.values(), "percent")
    measures = [result.measure(key).tolist() for key in OF_CLASSES]
    sizes = [one.tolist() for one in (result.support, result.predicted)]
    rows = list(zip(map(name, result.classes), *sizes, *measures, strict=True))
    table = Table("Classes", columns, rows)
    return Document(
        kind="Confusion counts",
        headline=f"The accuracy against the {result.truth} is {right}.",
        figure=next((one for one in confusion_section(result).shown if isinstance(one, Heat)), None),
        table=table,
        scope=[count(result.n, "row"), count(len(result.classes), "class", "classes")],
        sections=[Section("Classes", [table])],
        methods=[
            f"Predictions of {count(result.n, 'row')} were counted against the {result.truth} with demele [@demele]."
        ],
        **about(result),
    )


def confusion_section(result: "ConfusionCounts") -> Section:
    """Return the matrix and its most frequent errors; nothing of so many classes that it cannot be read."""
    counts = np.asarray(result.counts)
    if len(result.classes) > _READABLE or not counts.size:
        return NOTHING
    names = list(map(name, result.classes))
    axes = (f"{'true' if result.rows == 'true' else 'given'} label", "predicted")
    heat = Heat("Confusion matrix", names, names, counts.tolist(), "count", axes, "row")
    wrong = sorted(((int(n), i, j) for (i, j), n in np.ndenumerate(counts) if i != j and n), reverse=True)[:10]
    by_row, by_column = counts.sum(axis=1), counts.sum(axis=0)
    rows = [(names[i], names[j], n, n / by_row[i], n / by_column[j]) for n, i, j in wrong]
    columns = {title_of(axes[0]): "text", "Predicted": "text", "Rows": "count"}
    columns |= {f"Of this {axes[0]}": "percent", "Of these predictions": "percent"}
    return Section("Confusion matrix", [heat, Table("Most frequent errors", columns, rows) if rows else None])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfusionCounts(Result):
    """Confusion counts: predictions of each class for each class, summed over batches of instances.

    Parameters
    ----------
    counts : array-like of whole numbers of shape (n_classes, n_classes)
        Rows: the class that the instance has, by what ``rows`` says. Columns: the predicted class.
    classes : sequence of int or str
        Names of both axes, in order.
    rows : {"label", "true"}
        Whether the rows are given labels, which may be wrong (the measures are then observed ones), or true labels.

    Raises
    ------
    InputError, InputTypeError
        If the counts are not whole numbers of a square table, or the classes do not name its axes.

    Notes
    -----
    Precision is not defined for a class that is never predicted, recall for a class without an instance, F1 for a
    class with neither: these are NaN, as in scikit-learn with ``zero_division=numpy.nan``.

    Examples
    --------
    >>> table = ConfusionCounts([[8, 2], [1, 9]], ["cat", "dog"])
    >>> table
    ConfusionCounts(The accuracy against the given labels is 85.0%)
    >>> table.recall
    array([0.8, 0.9])
    """

    _kind = "confusion counts"

    counts: Counts
    classes: tuple[int | str, ...]
    rows: Rows = "label"

    def __post_init__(self) -> None:
        checked_name(self.rows, "rows", get_args(Rows))
        array = plain_array(self.counts, "counts", "a square table of whole numbers")
        if array.dtype.kind not in "iuf":
            raise InputTypeError("counts", f"expected whole numbers, got values of type {array.dtype}")
        if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
            raise InputError("counts", f"expected a square table (n_classes, n_classes), got shape {array.shape}")
        with np.errstate(invalid="ignore"):
            counts = array.astype(np.int64)
        wrong = (counts != array) | (array < 0)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            first = f"{array[row, column]} in row {row}, column {column}"
            raise InputError("counts", f"expected whole numbers, 0 or more, got {first}; give counts, not shares")
        counts.flags.writeable = False
        classes = vocabulary(np.empty(0), classes=self.classes).classes
        if len(classes) != len(counts):
            raise InputError("classes", f"expected {len(counts)}, one for each row of counts, got {len(classes)}")
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "classes", classes)

    @classmethod
    def empty(cls, classes: Sequence[object], rows: Rows = "label") -> "ConfusionCounts":
        """Return the counts of no instance: what merging leaves unchanged.

        Examples
        --------
        >>> ConfusionCounts.empty(["cat", "dog"]).n
        0
        """
        names = vocabulary(np.empty(0), classes=classes).classes
        return cls(np.zeros((len(names), len(names)), dtype=np.int64), names, rows)

    @property
    def truth(self) -> str:
        """The reference of rows and measures: ``"given labels"`` or ``"true labels"``."""
        return {"label": "given labels", "true": "true labels"}[self.rows]

    @property
    def n(self) -> int:
        """Number of instances."""
        return int(self.counts.sum())

    @property
    def right(self) -> Counts:
        """Instances of each class that are predicted so, of shape (n_classes,)."""
        return np.diag(self.counts).copy()

    @property
    def support(self) -> Counts:
        """Instances of each class, by the labels that the rows stand for, of shape (n_classes,)."""
        total: Counts = self.counts.sum(axis=1)
        return total

    @property
    def predicted(self) -> Counts:
        """Instances predicted as each class, of shape (n_classes,)."""
        total: Counts = self.counts.sum(axis=0)
        return total

    @property
    def accuracy(self) -> float:
        """Share of instances predicted as their class, in [0, 1]; NaN without an instance."""
        return float(proportion(self.right.sum(), self.counts.sum()))

    @property
    def error(self) -> float:
        """One minus the accuracy."""
        return 1 - self.accuracy

    @property
    def precision(self) -> Floats:
        """Correct share of the predictions of each class, of shape (n_classes,); NaN for a class never predicted."""
        return self.measure("precision")

    @property
    def recall(self) -> Floats:
        """Correct share of the instances of each class, of shape (n_classes,); NaN for a class without an instance."""
        return self.measure("recall")

    @property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall, of shape (n_classes,).

        As 2 right / (predicted + support): 0 for a class never predicted though it has instances, NaN only for a
        class with neither.
        """
        return self.measure("f1")

    def measure(self, name: str) -> Floats:
        """Return ``precision``, ``recall`` or ``f1`` of every class by its name.

        Raises
        ------
        UnknownNameError
        """
        checked_name(name, "measure", ("precision", "recall", "f1"))
        return class_measure(name, self.right, self.predicted, self.support)

    def undefined(self, name: str) -> tuple[int | str, ...]:
        """Return the classes that a measure is not defined for, and that its averages leave out.

        Examples
        --------
        >>> ConfusionCounts([[8, 0], [1, 0]], ["cat", "dog"]).undefined("precision")
        ('dog',)
        """
        return tuple(self.classes[i] for i in np.flatnonzero(np.isnan(self.measure(name))))

    @checked
    def averaged(self, name: str, average: Average = "macro") -> float:
        """Return one number for all classes, in [0, 1].

        Parameters
        ----------
        name : {"precision", "recall", "f1"}
        average : {"macro", "micro", "weighted"}
            ``"macro"``: mean over the classes that have an instance and a value. ``"weighted"``: the same, weighted by
            the instances of each class. ``"micro"``: of all instances together; as every instance has one class and
            one prediction, this is the accuracy whatever the measure.

        Returns
        -------
        float
            NaN if the measure is defined for no class (of positive weight).

        Raises
        ------
        UnknownNameError

        Notes
        -----
        Undefined classes are left out because there is no number to average: 0 in their place would punish a
        classifier for classes that the test set happens not to hold. But a class that has instances and is never
        predicted then does not lower the average precision; it lowers recall and F1. :meth:`undefined` names such
        classes. Scikit-learn does the same with ``zero_division=numpy.nan``; by default it counts them as 0. A class
        that is predicted and has no instance is left out of all three; scikit-learn does so where ``labels=`` names the
        classes of the instances, and by default counts its precision and F1 as 0.

        Examples
        --------
        >>> table = ConfusionCounts([[8, 2], [0, 10]], ["cat", "dog"])
        >>> round(table.averaged("precision", "macro"), 4)
        0.9167
        """
        values = self.measure(name)
        if average == "micro":
            return self.accuracy
        weights = np.where(np.isnan(values), 0, self.support if average == "weighted" else self.support > 0)
        return float(proportion(weights @ np.nan_to_num(values), weights.sum()))

    def merge(self, other: "ConfusionCounts") -> "ConfusionCounts":
        """Return the counts of both sets of instances together; changes neither.

        Raises
        ------
        InputError
            If the rows of the two do not stand for the same labels, or the classes differ.

        Examples
        --------
        >>> morning = ConfusionCounts([[3, 1], [0, 4]], ["cat", "dog"])
        >>> evening = ConfusionCounts([[2, 0], [2, 1]], ["cat", "dog"])
        >>> morning.merge(evening).counts
        array([[5, 1],
               [2, 5]])
        """
        if not isinstance(other, ConfusionCounts):
            raise InputTypeError("other", f"expected ConfusionCounts, got {type(other).__name__}")
        if other.rows != self.rows:
            raise InputError("other", f"its rows are {other.truth}, those of the first are {self.truth}: no sum")
        if other.classes != self.classes:
            raise InputError("other", "expected the same classes in the same order; count both with one classes=[...]")
        return ConfusionCounts(self.counts + other.counts, self.classes, self.rows)

    def to_frame(self) -> "pd.DataFrame":
        """Return the counts with named axes: ``"label"`` or ``"true label"`` for rows, ``"predicted"`` for columns."""
        index = pd.Index(self.classes, name={"label": "label", "true": "true label"}[self.rows])
        return pd.DataFrame(self.counts, index=index, columns=pd.Index(self.classes, name="predicted"))

    document = confusion_document


@checked
def confusion(
    predictions: object, labels: object, *, classes: Sequence[object] | None = None, rows: Rows = "label"
) -> ConfusionCounts:
    """Count the predictions of a classifier against labels.

    Parameters
    ----------
    predictions : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (n,)
        Classes of the same instances.
    classes : sequence, optional
        All classes, in the order of both axes; by default the sorted classes of the labels.
    rows : {"label", "true"}
        Say ``"true"`` if the labels are known to be right: results then say it, and such counts are never added to
        counts against given labels.

    Returns
    -------
    ConfusionCounts
        Rows: labels. Columns: predictions.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For lengths that differ, missing values, probabilities, predictions that are none of the classes.

    Notes
    -----
    Cost: O(n + n_classes^2).

    Examples
    --------
    >>> from demele.classifiers.measures.confusion import confusion
    >>> confusion(["cat", "dog", "dog"], ["cat", "cat", "dog"]).to_frame()
    predicted  cat  dog
    label
    cat          1    1
    dog          0    1
    """
    data = read_labelled({"predictions": predictions}, labels, classes=classes)
    refuse_many_classes(data)
    return ConfusionCounts(confusion_counts(data.labels, data.predictions[0], data.k), data.vocabulary.classes, rows)


def refuse_many_classes(data: Labelled) -> None:
    """Refuse more classes than a table in memory can have."""
    if data.k > MAX_CLASSES:
        raise InputError("labels", f"expected at most {MAX_CLASSES:,} classes, got {data.k:,}; are these instances?")


def confusion_counts(labels: Indices, predicted: Indices, k: int) -> Counts:
    """Count class indices in pairs: rows are labels, columns predictions, of shape (k, k).

    Cost: O(n + k^2), and no array longer than ``CHUNK`` except the result.
    """
    total = np.zeros(k * k, dtype=np.int64)
    for start in range(0, labels.size, CHUNK):
        chunk = slice(start, start + CHUNK)
        total += np.bincount(k * labels[chunk].astype(np.int64) + predicted[chunk], minlength=k * k)
    return total.reshape(k, k)


def class_measure(measure: str, right: Any, predicted: Any, support: Any) -> Floats:
    """Return precision, recall or f1 from counts; NaN where it is not defined.

    Parameters
    ----------
    measure : {"precision", "recall", "f1"}
    right, predicted, support : arrays of the same shape
        Of each class, the instances predicted so and rightly, predicted so, and of the class.

    Examples
    --------
    >>> class_measure("f1", np.array([8, 0]), np.array([9, 0]), np.array([11, 0]))
    array([0.8, nan])
    """
    if measure == "precision":
        return proportion(right, predicted)
    return proportion(right, support) if measure == "recall" else proportion(2 * right, predicted + support)


def largest_class_notes(data: Labelled, *, level: float, groups: Groups | None = None) -> tuple[Note, ...]:
    """Warn of the classifiers whose interval of the accuracy on the given labels does not lie above that share.

    Often rows or classes of predictions and labels do not belong together: all verdicts are then worth nothing.
    """
    support = np.bincount(data.labels, minlength=len(data.vocabulary))
    if np.count_nonzero(support) < 2:  # nothing does better than a constant then, whatever it predicts
        return ()
    share, name = float(support.max() / support.sum()), data.vocabulary.classes[int(support.argmax())]
    right, every = data.right, np.ones(data.n)
    hits = np.count_nonzero(right, axis=1).astype(np.float64)
    counted = np.array([1.0 if groups is None else effective_share(row, every, groups, level=level) for row in right])
    low, _ = ends_at(hits, np.full(hits.size, float(data.n)), counted, level=level)
    unsure = np.flatnonzero(low <= share)
    if not unsure.size:
        return ()
    # Of these, those whose correlation with the labels may be that of chance.
    table, chance = (
        table_measures.Table.of(data.predictions[unsure], data.labels, data.k),
        normal_quantile((1 + level) / 2),
    )
    weak = unsure[~(table.value("matthews") > chance / np.sqrt(data.n * counted[unsure]))]
    if not weak.size:
        return ()
    names = tuple(data.names[model] for model in weak)
    verb, share_of = "is" if len(names) == 1 else "are", f"{share:.2%} of the given labels"
    text = f"always predicting {name!r} would agree with {share_of}: {shown(names)} {verb} not shown to do better; if "
    text += "that surprises, check that rows, and classes, of predictions and labels are the same"
    return (Note(code="largest-class", message=text, subject=names, severity="warning"),)


def class_notes(data: Labelled) -> tuple[Note, ...]:
    """Say how truth values were read as classes, and which classes predictions alone hold."""
    read: tuple[Note, ...] = ()
    if data.truths:
        truths = f"True and False of {shown(data.truths)} were read as 1 and 0, which the others hold"
        read = (Note(code="truths-as-numbers", message=truths, severity="warning"),)
    places = [data.vocabulary.index(item) for item in data.unlabelled]
    found = np.argwhere(np.isin(data.predictions, places))
    if not found.size:  # or by other models
        return read
    what = "a class" if len(places) == 1 else f"{len(places)} classes"
    which = f"{shown(data.unlabelled)} (first: row {found[:, 1].min()})"
    text = f"{len(found)} predictions use {what} that no label has, {which}; they count as wrong"
    return *read, Note(code="class-not-labelled", message=text, severity="warning")


def unpredicted_notes(data: Labelled) -> tuple[Note, ...]:
    """Say which classes the labels hold that no classifier predicts: a misspelt class, or another set of labels."""
    labelled = np.bincount(data.labels, minlength=len(data.vocabulary))
    met = np.bincount(data.labels[data.right.any(axis=0)], minlength=labelled.size)
    places = [place for place in np.flatnonzero((labelled > 0) & (met == 0)) if not (data.predictions == place).any()]
    if not places:
        return ()
    named = shown([data.vocabulary.classes[place] for place in places])
    rows = int(labelled[places].sum())
    what = "class" if len(places) == 1 else "classes"
    text = f"labels hold {len(places)} {what} that no classifier predicts, {named}: {rows} of {data.n} rows, all errors"
    return (Note(code="class-not-predicted", message=text, severity="warning"),)
