"""The bias of accuracy, precision, recall and F1 under wrong labels, exactly, where the true labels are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.classifiers.question import coded_like
from demele.core.arrays import Counts, Floats
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


@dataclass(frozen=True, slots=True, eq=False)
class BiasCounts:
    """The counts that the bias is made of: sums over the cube of counts, true class x given label x predicted class.

    Each is of shape (n_classes,), and they add up over batches of instances. For a class k, instances that are

    * ``predicted``: predicted k (event P); ``labelled``: labelled k (A); ``actual``: truly k (C);
    * ``both``: labelled k and truly k;
    * ``right_on_clean``: labelled k, truly k and predicted k;
    * ``follows_label``: wrongly labelled k, and predicted k as well;
    * ``recovers``: truly k with another label, and predicted k.
    """

    predicted: Counts
    labelled: Counts
    actual: Counts
    both: Counts
    right_on_clean: Counts
    follows_label: Counts
    recovers: Counts

    @classmethod
    def from_rows(cls, predictions: Indices, labels: Indices, true_labels: Indices, k: int) -> "BiasCounts":
        """Count class indices of shape (n,); cost O(n + k), the cube is never made."""
        clean = labels == true_labels
        says_label, says_truth = predictions == labels, predictions == true_labels
        counted = (
            predictions,
            labels,
            true_labels,
            labels[clean],
            labels[clean & says_label],
            labels[~clean & says_label],
            true_labels[~clean & says_truth],
        )
        return cls(*(np.bincount(rows, minlength=k).astype(np.int64) for rows in counted))

    @property
    def n(self) -> int:
        """Number of instances."""
        return int(self.labelled.sum())

    @property
    def rate(self) -> float:
        """Share of wrong labels, nu = P(N)."""
        return 1 - float(proportion(self.both.sum(), self.n))

    @property
    def overall_indicators(self) -> tuple[float, float, float]:
        """F_c = P(Q | not N), F_n = P(S | N), F_r = P(Q | N); NaN where there is no such instance.

        Learned from correct labels, follows wrong labels, recovers from wrong labels.
        """
        right, wrong = self.both.sum(), self.n - self.both.sum()
        return (
            float(proportion(self.right_on_clean.sum(), right)),
            float(proportion(self.follows_label.sum(), wrong)),
            float(proportion(self.recovers.sum(), wrong)),
        )

    @property
    def class_indicators(self) -> tuple[Floats, Floats, Floats]:
        """F_c = P(P | not N, C), F_n = P(P | N, A), F_r = P(P | N, C) of each class, each of shape (n_classes,)."""
        return (
            proportion(self.right_on_clean, self.both),
            proportion(self.follows_label, self.labelled - self.both),
            proportion(self.recovers, self.actual - self.both),
        )

    def share(self, name: str) -> Floats:
        """Return one of the counts as a share of all instances."""
        return proportion(getattr(self, name), self.n)


def accuracy_bias(rate: float, f_n: float, f_r: float) -> float:
    """Return nu (F_n - F_r), the bias of accuracy.

    Parameters
    ----------
    rate, f_n, f_r : float in [0, 1]
        nu = P(N), F_n = P(S | N), F_r = P(Q | N). Without a wrong label the last two are NaN, and the bias is 0.

    Notes
    -----
    Source: Benjelloun, eq. 6.9. With two classes F_r = 1 - F_n, and this is nu (2 F_n - 1) (eq. 6.10).

    Examples
    --------
    >>> round(accuracy_bias(0.2, 0.0, 0.25), 4), round(accuracy_bias(0.2, 0.5, 0.125), 4)
    (-0.05, 0.075)
    """
    return float(_times(rate, f_n) - _times(rate, f_r))


def precision_bias(counts: BiasCounts) -> Floats:
    """Return [P(N, A) F_n - P(N, C) F_r] / P(P) of each class; NaN for a class never predicted.

    Notes
    -----
    Source: Benjelloun, eq. 6.17. An indicator over no instance is multiplied by a probability of 0, and adds nothing.
    """
    _, f_n, f_r = counts.class_indicators
    given, true, both = counts.share("labelled"), counts.share("actual"), counts.share("both")
    return proportion(_times(given - both, f_n) - _times(true - both, f_r), counts.share("predicted"))


def recall_bias(counts: BiasCounts) -> Floats:
    """Return the bias of the recall of each class; NaN for a class without a label or without a true instance.

    F_n - F_r - P(A, C) (F_n / P(A) - F_r / P(C)) + P(A, C) F_c (1 / P(A) - 1 / P(C)).

    Notes
    -----
    Source: Benjelloun, eq. 6.17. The line before it, in eq. 6.16, prints P(P | C) with - P(A | C) P(P | not N, C)
    where its own derivation has a plus; 6.17 is right, and agrees with the difference counted directly.
    """
    f_c, f_n, f_r = counts.class_indicators
    given, true, both = counts.share("labelled"), counts.share("actual"), counts.share("both")
    value = (
        _times(1 - proportion(both, given), f_n)
        - _times(1 - proportion(both, true), f_r)
        + _times(proportion(both, given) - proportion(both, true), f_c)
    )
    return np.where((given > 0) & (true > 0), value, np.nan)


def f1_bias(counts: BiasCounts) -> Floats:
    """Return the bias of the F1 of each class; NaN where the observed or the correct F1 is not defined.

    2 (bias_p + P(A) P(C) / P(P)^2 bias_r) / [(1 + P(A) / P(P)) (1 + P(C) / P(P))].

    Notes
    -----
    Source: Benjelloun, section 6.3.3. Here numerator and denominator are multiplied by P(P)^2, and the biases of
    precision and recall written out: the value is the same, and also stands for a class that is never predicted, or
    has no label, or no true instance, where F1 is defined (as 0) but precision or recall is not.
    """
    f_c, f_n, f_r = counts.class_indicators
    says, given, true, both = (counts.share(name) for name in ("predicted", "labelled", "actual", "both"))
    follows, recovers, clean = _times(given - both, f_n), _times(true - both, f_r), _times(both, f_c)
    of_precision = says * (follows - recovers)  # P(P)^2 bias_p
    of_recall = true * follows - given * recovers + (true - given) * clean  # P(A) P(C) bias_r
    return proportion(2 * (of_precision + of_recall), (says + given) * (says + true))


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
    On these instances the formulas equal the difference of the two measures to rounding. Cost: O(n + n_classes).

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
    counts = BiasCounts.from_rows(data.predictions[0], data.labels, truth, data.k)
    f_c, f_n, f_r = counts.overall_indicators
    of_class = counts.class_indicators
    frame = pd.DataFrame(
        {
            "F_c": of_class[0],
            "F_n": of_class[1],
            "F_r": of_class[2],
            "precision": precision_bias(counts),
            "recall": recall_bias(counts),
            "f1": f1_bias(counts),
            "predicted": counts.predicted,
            "labelled": counts.labelled,
            "true": counts.actual,
        },
        index=pd.Index(data.vocabulary.classes, name="class"),
    )
    arguments: dict[str, object] = {} if classes is None else {"classes": data.vocabulary.classes}
    return Bias(
        n=data.n,
        classes=data.vocabulary.classes,
        rate=counts.rate,
        f_c=f_c,
        f_n=f_n,
        f_r=f_r,
        accuracy=accuracy_bias(counts.rate, f_n, f_r),
        per_class=frame,
        notes=_undefined_notes(frame, counts),
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


def _undefined_notes(frame: "pd.DataFrame", counts: BiasCounts) -> tuple[Note, ...]:
    notes = []
    if counts.both.sum() == counts.n:
        notes.append(
            Note(
                code="no-wrong-label", message="F_n and F_r are not defined: every label is right, and every bias is 0"
            )
        )
    elif counts.both.sum() == 0:
        notes.append(
            Note(code="no-right-label", message="F_c is not defined: every label is wrong", severity="warning")
        )
    for column, why in _WHY.items():
        missing = [str(name) for name in frame.index[frame[column].isna()]]
        if missing:
            what = column if column.startswith("F_") else f"the bias of {column}"
            message = f"{what} is not defined for {len(missing)} of {len(frame)} classes, {shown(missing)}: {why}"
            notes.append(Note(code="undefined", message=message, subject=tuple(missing)))
    return tuple(notes)


def _times(coefficient: Any, indicator: Any) -> Floats:
    """Multiply by an indicator; one over no instance has a coefficient of 0 and adds nothing."""
    return np.where(np.isnan(indicator), 0.0, np.asarray(coefficient) * np.asarray(indicator))
