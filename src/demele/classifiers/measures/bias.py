"""The bias of accuracy, precision, recall and F1 under wrong labels, exactly, where the true labels are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from demele.classifiers.measures.confusion import confusion_counts, refuse_many_classes
from demele.classifiers.measures.correction import observed_measure
from demele.classifiers.question import coded_like
from demele.core.arrays import Counts
from demele.core.labelled import Indices, read_labelled, shown
from demele.core.proportions import proportion
from demele.core.result import TableResult
from demele.core.results import Note
from demele.core.signature import Signature
from demele.core.table_columns import check_same_order
from demele.core.version import __version__
from demele.report.words import count, written

if TYPE_CHECKING:
    import pandas as pd


def indicator_counts(predictions: Indices, labels: Indices, true_labels: Indices, k: int) -> tuple[Counts, Counts]:
    """Return what the indicators F_c, F_n and F_r of each class are shares of: hits and instances, of shape (3, k).

    * F_c: of the instances labelled k rightly, those predicted k.
    * F_n: of the instances labelled k wrongly, those predicted k as well.
    * F_r: of the instances truly k with another label, those predicted k.
    """
    clean = labels == true_labels
    asked = ((labels, clean), (labels, ~clean), (true_labels, ~clean))
    hits = [np.bincount(of[rows & (predictions == of)], minlength=k) for of, rows in asked]
    return np.array(hits), np.array([np.bincount(of[rows], minlength=k) for of, rows in asked])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Bias(TableResult):
    """The exact bias (observed minus corrected) of each measure on one test set, and the effect of the noise.

    Attributes
    ----------
    n : int
        Number of instances.
    classes : tuple
        In the order of every array.
    rate : float
        Share of wrong labels, nu.
    f_c, f_n, f_r : float
        How often the prediction is the truth where the label is right; the label where it is wrong; the truth where
        the label is wrong. NaN without such an instance.
    accuracy : float
        Bias of accuracy, in [-nu, nu]; that of the error has the other sign.
    per_class : DataFrame
        Row per class; columns ``F_c``, ``F_n``, ``F_r``, ``precision``, ``recall``, ``f1`` (the last three are
        biases) and the counts ``predicted``, ``labelled``, ``true``. NaN where not defined; a note says why.
    notes : tuple of Note
        What is not defined, for which classes, and why.
    """

    _kind, _figure = "bias", "f1"
    _forms = dict.fromkeys(("F_c", "F_n", "F_r"), "percent") | dict.fromkeys(("precision", "recall", "f1"), "points.2")

    n: int
    classes: tuple[int | str, ...]
    rate: float
    f_c: float
    f_n: float
    f_r: float
    accuracy: float
    per_class: "pd.DataFrame"
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the bias of the accuracy, and the number of wrong labels."""
        wrong = f"with {written(self.rate, 'percent.2')} of {count(self.n, 'label')} wrong"
        if self.rate == 0:
            return f"No label of {self.n:,} is wrong, so the observed accuracy is that on true labels."
        if self.accuracy == 0:
            return f"The observed accuracy equals that on true labels, {wrong}."
        by = written(abs(self.accuracy), "points.2").lstrip("+")
        side = "above" if self.accuracy > 0 else "below"
        return f"The observed accuracy is {by} pp {side} that on true labels, {wrong}."

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per class, as ``per_class``."""
        return self.per_class


def bias(predictions: object, labels: object, true_labels: object, *, classes: Sequence[object] | None = None) -> Bias:
    """Compute the exact bias of each measure of a classifier by wrong labels, from known true labels.

    Parameters
    ----------
    predictions : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (n,)
        Given labels, some of them wrong.
    true_labels : array-like of shape (n,)
        True classes of the same instances.
    classes : sequence, optional
        All classes; by default the sorted classes of the labels.

    Returns
    -------
    Bias
        Observed minus correct measure: positive where the labels flatter the classifier.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For lengths that differ, missing values, probabilities, unknown classes.

    Notes
    -----
    Source: Benjelloun, eq. 6.9 and 6.17 and section 6.3.3; the indicators F_c, F_n, F_r are defined in section 6.3.1.
    His formulas equal the difference of the two measures, which is what is computed: of accuracy nu (F_n - F_r), of
    precision [P(N, A) F_n - P(N, C) F_r] / P(P), of recall F_n - F_r - P(A, C) (F_n / P(A) - F_r / P(C)) +
    P(A, C) F_c (1 / P(A) - 1 / P(C)), where P is predicted k, A labelled k, C truly k and N wrongly labelled. (Eq. 6.16
    prints P(P | C) with - P(A | C) P(P | not N, C) where its own derivation has a plus.) Cost: O(n + n_classes^2).

    Examples
    --------
    Two of ten labels are wrong; the classifier repeats one of the two errors, and is right about the other.

    >>> true = ["cat"] * 5 + ["dog"] * 5
    >>> given = ["dog"] + ["cat"] * 4 + ["cat"] + ["dog"] * 4
    >>> predicted = ["dog"] + ["cat"] * 4 + ["dog"] * 5
    >>> found = bias(predicted, given, true)
    >>> found
    Bias(The observed accuracy equals that on true labels, with 20.00% of 10 labels wrong)
    >>> bool(found.per_class.loc["cat", "precision"] == 0)
    True
    """
    import pandas as pd

    data = read_labelled({"predictions": predictions}, labels, classes=classes)
    truth = coded_like(true_labels, data, "true_labels")
    check_same_order(true_labels, labels, ("true_labels", "labels"))
    refuse_many_classes(data)
    hits, rows = indicator_counts(data.predictions[0], data.labels, truth, data.k)
    given, true = (confusion_counts(of, data.predictions[0], data.k) for of in (data.labels, truth))
    biases = {
        measure: observed_measure(measure, given) - observed_measure(measure, true)
        for measure in ("accuracy", "precision", "recall", "f1")
    }
    counts = {"predicted": given.sum(axis=0), "labelled": given.sum(axis=1), "true": true.sum(axis=1)}
    f_c, f_n, f_r = proportion(hits.sum(axis=1), rows.sum(axis=1)).tolist()
    accuracy = float(biases.pop("accuracy"))
    frame = pd.DataFrame(
        {**dict(zip(("F_c", "F_n", "F_r"), proportion(hits, rows), strict=True)), **biases, **counts},
        index=pd.Index(data.vocabulary.classes, name="class"),
    )
    notes = []
    right = int(rows[0].sum())
    if right == data.n:
        message = "F_n and F_r are not defined: every label is right, and every bias is 0"
        notes.append(Note(code="no-wrong-label", message=message))
    elif right == 0:
        message = "F_c is not defined: every label is wrong"
        notes.append(Note(code="no-right-label", message=message, severity="warning"))
    for column, why in _WHY.items():
        missing = [str(name) for name in frame.index[frame[column].isna()]]
        if missing:
            what = column if column.startswith("F_") else f"the bias of {column}"
            message = f"{what} is not defined for {len(missing)} of {len(frame)} classes, {shown(missing)}: {why}"
            notes.append(Note(code="undefined", message=message, subject=tuple(missing)))
    arguments: dict[str, object] = {} if classes is None else {"classes": data.vocabulary.classes}
    return Bias(
        n=data.n,
        classes=data.vocabulary.classes,
        rate=1 - right / data.n,
        f_c=f_c,
        f_n=f_n,
        f_r=f_r,
        accuracy=accuracy,
        per_class=frame,
        notes=tuple(notes),
        signature=Signature("bias", arguments, {"n": str(data.n), "demele": __version__}),
    )


_WHY = {
    "F_c": "no instance of these classes has a right label",
    "F_n": "no instance is wrongly labelled with these classes",
    "F_r": "no instance of these classes has a wrong label",
    "precision": "these classes are never predicted",
    "recall": "these classes have no labelled instance, or no true one",
    "f1": "these classes are never predicted, and have no labelled instance or no true one",
}
