"""One classifier on labels that may be wrong: what its measures look like, and what they may really be."""

import importlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, UnknownNameError
from demele.core.inputs import check_same_order
from demele.core.labelled import Labelled, read_labelled, shown
from demele.core.results import Interval, Note, plain
from demele.core.signature import Signature
from demele.evaluation.average_bounds import average_bounds
from demele.evaluation.bias import (
    BiasCounts,
    accuracy_bias,
    f1_bias,
    precision_bias,
    recall_bias,
)
from demele.evaluation.bias_bounds import correct_bounds
from demele.evaluation.comparison.asking import classes_of, coded_like, read_noise
from demele.evaluation.comparison.base import as_value
from demele.evaluation.confusion import MAX_CLASSES, Average, ConfusionCounts, confusion_counts
from demele.evaluation.correction import union_interval, worst_case_interval
from demele.evaluation.intervals import checked_level, score_interval
from demele.evaluation.results import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels.audit import Audit, CodedAudit
    from demele.labels.budget import NoiseBudget
    from demele.labels.transition import TransitionCounts, TransitionMatrix

__all__ = ["Assessment", "assess"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

CLASS_MEASURES = ("precision", "recall", "f1")
#: Classes with fewer labelled instances are named: their recall and F1 say little.
SMALL_CLASS = 20
#: Values at which the width of an interval is looked at, between two bounds.
STEPS = 33
#: A confusion matrix of more classes is not written into reports.
MAX_REPORTED_CLASSES = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Assessment:
    """Every measure of one classifier, with its interval, the bias that wrong labels may cause, and what follows.

    ``assessment["accuracy"]`` and ``assessment["precision", "cat"]`` are single estimates; averages are asked for as
    ``assessment["f1", "macro"]`` (a class of that name comes first).

    Attributes
    ----------
    estimates : tuple of Estimate
        Accuracy, error, then precision, recall and F1 of each class, then the averages.
    n : int
        Number of instances.
    classes : tuple
    level : float
        Nominal coverage of every interval, each by itself.
    confusion : ConfusionCounts
        Against the given labels.
    assumptions : tuple of str
        What must hold for the corrected intervals to keep their level, in sentences.
    notes : tuple of Note
    signature : Signature
    """

    estimates: tuple[Estimate, ...]
    n: int
    classes: tuple[int | str, ...]
    level: float
    confusion: ConfusionCounts
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def __getitem__(self, key: object) -> Estimate:
        measure, of = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        for estimate in self.estimates:
            if estimate.measure == measure and estimate.of == of:
                return estimate
        measures = list(dict.fromkeys(estimate.measure for estimate in self.estimates))
        over = list(dict.fromkeys(estimate.of for estimate in self.estimates if estimate.of is not None))
        raise UnknownNameError(
            f"{key!r} is not among the estimates: measures {', '.join(measures)}; precision, recall and f1 are of one "
            f"of {shown(over, 12)}, such as ['f1', {(over or ['cat'])[0]!r}]"
        )

    def __iter__(self) -> Any:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def to_frame(self) -> "pd.DataFrame":
        """One row per estimate, in a fixed order of columns."""
        import pandas as pd

        return pd.DataFrame([estimate.row() for estimate in self.estimates])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None).

        The confusion counts are left out (None) for more than 50 classes.
        """
        few = len(self.classes) <= MAX_REPORTED_CLASSES
        table = {"rows": self.confusion.rows, "classes": self.classes, "counts": self.confusion.counts}
        data = {
            "kind": "assessment",
            "demele": dict(self.signature.context).get("demele"),
            "n": self.n,
            "classes": self.classes,
            "level": self.level,
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "confusion": table if few else None,
            "assumptions": self.assumptions,
            "notes": [asdict(note) for note in self.notes],
            "signature": str(self.signature),
        }
        cleaned: dict[str, Any] = plain(data)
        return cleaned

    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything to a JSON file (and return its text)."""
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained, interactive HTML page.

        Raises
        ------
        MissingExtraError
            If plotly is not installed: the extra ``report`` brings it.
        """
        report = importlib.import_module("demele.report.assessment_html")
        written: Path = report.write_assessment(self.to_dict(), Path(path))
        return written

    def __repr__(self) -> str:
        lines = [f"Assessment of {self.n} instances, {len(self.classes)} classes, intervals at {self.level:.4g}"]
        of_classes = set(self.classes)
        shown_ones = [estimate for estimate in self.estimates if estimate.of is None or estimate.of not in of_classes]
        lines += [f"  {_line(estimate)}" for estimate in shown_ones]
        hidden = len(self.estimates) - len(shown_ones)
        lines += [f"  {hidden} estimates of single classes: to_frame()"] * (hidden > 0)
        lines += [f"  {note.message}" for note in self.notes if note.severity != "info"]
        return "\n".join(lines)


def assess(
    predictions: object,
    labels: object,
    *,
    noise: "float | TransitionMatrix | TransitionCounts | Audit | None" = None,
    audit: "Audit | None" = None,
    true_labels: object = None,
    level: float = 0.95,
    classes: Sequence[object] | None = None,
    per_class: bool = True,
    average: str | Sequence[str] = ("macro", "weighted"),
) -> Assessment:
    """Measure a classifier on labels that may be wrong, and say what its correct measures may be.

    Parameters
    ----------
    predictions : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (n,)
        Given labels.
    noise : float, TransitionMatrix, TransitionCounts or Audit, optional
        What is known of the label noise: a rate in [0, 1) that it does not exceed, or how classes are mistaken. The
        bias is then bounded.
    audit : Audit, optional
        Expert labels of some rows. Of rows drawn at random, they estimate the correct measures, and with a rate as
        ``noise`` more sharply. Of rows chosen for a
        reason (``design="selective"``), they prove what they show and nothing more: give ``noise`` as well, to bound
        the other rows.
    true_labels : array-like of shape (n,), optional
        True classes of every row: the bias is then exact.
    level : float in (0, 1)
        Nominal coverage of each interval.
    classes : sequence, optional
        All classes; by default those of the noise, else those of the labels.
    per_class : bool
        Whether to give precision, recall and F1 of each class.
    average : str or sequence of {"macro", "weighted", "micro"}
        Averages of these three; ``()`` for none.

    Returns
    -------
    Assessment
        Of each measure: the apparent value, its score interval, the bias (exact or bounded) and the interval of the
        correct measure. Without knowledge of the noise the last two are None.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        For anything that cannot be used; nothing is guessed.

    Warns
    -----
    OutOfDomainWarning
        If a transition matrix or counts contradict the labels; a note says it too.

    Notes
    -----
    Source: Benjelloun, chapters 2 and 6. Intervals are Wilson's, of right instances among all (accuracy), those
    predicted (precision) or labelled as the class (recall), or either (the Jaccard index J, with F1 = 2 J / (1 + J)).

    * True labels: the interval shifted by minus the bias (eq. 6.30), kind ``"shifted"``.
    * Noise: the union of the shifted intervals over the bounds of the bias, joined with the score intervals on every
      true labels that are possible, kind ``"bias-union"``. The second part keeps the level however the wrong labels are
      chosen; the first alone keeps the width of the apparent measure, which is too narrow for a classifier that repeats
      wrong labels. A rate is taken as a fact about these instances. A matrix or counts bound the wrong labels only with
      some confidence: half of 1 - level is spent on that, and the score interval inside is at 1 - (1 - level) / 2.
    * Random audit: see :func:`demele.evaluation.audit_interval`, kind ``"design"``; the bias is then bounded by the
      interval for these instances.

    A correct measure lies in [0, 1]: parts of an interval outside are cut off, and a note says it. The interval of a
    macro average is the average of the ends, which covers more than its level; a weighted precision or F1 gets none,
    because its weights vary with the sample too. The micro averages and the weighted recall are the accuracy.

    Cost: O(n + n_classes^2).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 10, 2000)
    >>> predictions = np.where(rng.random(2000) < 0.9, labels, (labels + 1) % 10)
    >>> found = assess(predictions, labels, noise=0.02)
    >>> accuracy = found["accuracy"]
    >>> print(accuracy.value, accuracy.interval, accuracy.corrected)
    0.9015 [0.888, 0.914] [0.867, 0.934]
    >>> round(accuracy.bias[0], 4), round(accuracy.bias[1], 4)
    (-0.02, 0.02)
    """
    level, averages = checked_level(level), _averages(average)
    if not isinstance(per_class, bool):
        raise InputTypeError(f"per_class: expected True or False, got {per_class!r}")
    rate, expert = _separated(noise, audit, true_labels)
    data = read_labelled({"predictions": predictions}, labels, classes=classes_of(rate, expert, classes))
    if data.k > MAX_CLASSES:
        raise InputError(
            f"labels: expected at most {MAX_CLASSES:,} classes, got {data.k:,} in {data.n:,} rows; "
            "are these names of instances?"
        )
    if rate is not None and not isinstance(rate, float):
        rate = rate.ordered(data.vocabulary.classes)
    table = ConfusionCounts(_table(data), data.vocabulary.classes)
    knowledge = _knowledge(data, table, rate, expert, true_labels, level)
    check_same_order(true_labels, labels, ("true_labels", "labels"))
    every = _Estimates(data, table, knowledge, level)
    estimates = [every.accuracy, every.error]
    if per_class:
        columns = [every.of_classes(measure) for measure in CLASS_MEASURES]
        estimates += [column[k] for k in range(data.k) for column in columns]
    estimates += [every.averaged(measure, name) for name in averages for measure in CLASS_MEASURES]
    return Assessment(
        estimates=tuple(estimates),
        n=data.n,
        classes=data.vocabulary.classes,
        level=level,
        confusion=table,
        assumptions=knowledge.assumptions,
        notes=(*_notes(table, estimates), *knowledge.notes, *every.notes(estimates)),
        signature=_signature(data, rate, knowledge, level, per_class=per_class, averages=averages),
    )


# --------------------------------------------------------------------------------------- what is known of the labels


class _Knowledge:
    """What is known of the labels: it corrects measures. This one knows nothing, and believes every label."""

    assumptions: tuple[str, ...] = (
        "The instances are a random sample of those that the classifier is for.",
        "Every given label is right.",
    )
    notes: tuple[Note, ...] = ()
    kind: str | None = None
    method = "score"
    #: Level of the apparent interval that is moved by the bias.
    inner: float = math.nan
    audit: "CodedAudit | None" = None

    def bias(self, measure: str) -> tuple[Floats, Floats] | None:
        """Bounds of apparent minus correct: shape () for accuracy, else (n_classes,)."""
        return None

    def average_bias(self, measure: str, average: str) -> tuple[float, float] | None:
        """Bounds for an average over classes."""
        return None

    def worst(self, measure: str) -> tuple[Floats, Floats] | None:
        """Return the union of the score intervals on every true labels that are possible."""
        return None

    def average_worst(self, measure: str) -> tuple[float, float] | None:
        """Return about the same for a macro average."""
        return None

    def direct(self, measure: str) -> tuple[Floats, Floats] | None:
        """Return the interval of the correct measure, where it does not come from the apparent one."""
        return None


class _TrueLabels(_Knowledge):
    """The true labels of every instance: the bias is exact."""

    kind = "shifted"

    def __init__(self, data: Labelled, table: ConfusionCounts, true_labels: object, level: float) -> None:
        truth = coded_like(true_labels, data, "true_labels")
        if truth is None:
            raise InputTypeError("true_labels: expected the true classes, got None")
        self.counts = BiasCounts.from_rows(data.predictions[0], data.labels, truth, data.k)
        self.apparent = table
        self.correct = ConfusionCounts(_table(data.relabelled(truth)), data.vocabulary.classes, "true")
        self.inner = level
        self.assumptions = (
            _Knowledge.assumptions[0],
            "The true labels are true.",
            "The bias is that of these instances, taken as a constant; the shifted interval keeps the width of the "
            "apparent one.",
        )
        message = f"{self.counts.rate:.2%} of the given labels are wrong; with true labels for every row, a classifier "
        message += "is best assessed against these directly: assess(predictions, true_labels)"
        self.notes = (Note(code="true-labels", message=message),)

    def bias(self, measure: str) -> tuple[Floats, Floats]:
        if measure == "accuracy":
            _, f_n, f_r = self.counts.overall_indicators
            value = np.asarray(accuracy_bias(self.counts.rate, f_n, f_r))
        else:
            value = {"precision": precision_bias, "recall": recall_bias, "f1": f1_bias}[measure](self.counts)
        return value, value

    def average_bias(self, measure: str, average: Any) -> tuple[float, float]:
        value = self.apparent.averaged(measure, average) - self.correct.averaged(measure, average)
        return value, value


class _Bounded(_Knowledge):
    """At most so many labels are wrong: the bias is bounded."""

    kind = "bias-union"

    def __init__(
        self, data: Labelled, table: ConfusionCounts, noise: Any, audit: "CodedAudit | None", level: float
    ) -> None:
        from demele.labels.budget import noise_budget

        self.apparent, self.believed, self.doubtful = table, table.counts, table.counts
        self.audit = audit
        tail = (1 - level) / 2
        self.budget: NoiseBudget = noise_budget(noise, data.labels, data.k, tail=tail)
        self.inner = level if self.budget.level is None else 1 - tail
        known = tuple(_sentence(text) for text in self.budget.assumptions)
        if self.budget.level is not None:
            known += (
                f"The numbers of wrong labels hold with a confidence of {1 - tail:.4g}: the error of {1 - level:.4g} "
                f"is shared evenly between them and the sampling of instances (score intervals at {1 - tail:.4g}).",
            )
        notes = [
            Note(
                code="wrong-labels",
                message=f"at most {self.budget.wrong} of {data.n} labels are taken to be wrong",
            )
        ]
        if self.budget.out_of_domain:
            message = "what was supplied of the noise contradicts these labels; its limits are as wide as safety needs"
            notes.append(Note(code="out-of-domain", message=message, severity="warning"))
        if audit is not None:
            known += (f"The expert is right on the {audit.k} audited rows.",)
            notes.append(self._prove(data, audit))
        self.assumptions = (_Knowledge.assumptions[0], *known)
        self.notes = tuple(notes)

    def _prove(self, data: Labelled, audit: "CodedAudit") -> Note:
        """Take what the expert saw for certain, and leave the rest of the budget to the other rows."""
        given, seen = data.labels[audit.rows], audit.labels
        found = np.bincount(seen.astype(np.int64) * data.k + given, minlength=data.k**2).reshape(data.k, data.k)
        np.fill_diagonal(found, 0)
        if found.sum() > self.budget.wrong:
            raise InputError(
                f"noise: allows {self.budget.wrong} wrong labels of {data.n}, but the audit shows {found.sum()}; "
                "give a larger rate"
            )
        labels = data.labels.copy()
        labels[audit.rows] = seen
        known = data.relabelled(labels)
        self.believed = _table(known)
        self.doubtful = self.believed - _table(known.take(audit.rows))
        self.budget = replace(
            self.budget,
            wrong=self.budget.wrong - int(found.sum()),
            wrong_given=np.maximum(self.budget.wrong_given - found.sum(axis=0), 0),
            wrong_true=np.maximum(self.budget.wrong_true - found.sum(axis=1), 0),
            joint=np.maximum(self.budget.joint - found, 0),
        )
        message = (
            f"the {audit.k} audited rows were chosen for a reason: they prove {found.sum()} wrong labels, and say "
            f"nothing of the other {data.n - audit.k} rows, of which at most {self.budget.wrong} are taken to be wrong"
        )
        return Note(code="selective-audit", message=message, severity="warning")

    def bias(self, measure: str) -> tuple[Floats, Floats]:
        lowest, highest = correct_bounds(measure, self.believed, self.budget, doubtful=self.doubtful)
        value = np.asarray(self.apparent.accuracy if measure == "accuracy" else self.apparent.measure(measure))
        return value - highest, value - lowest

    def average_bias(self, measure: str, average: Any) -> tuple[float, float]:
        low, high = average_bounds(measure, average, self.believed, self.budget, doubtful=self.doubtful)
        value = self.apparent.averaged(measure, average)
        return value - high, value - low

    def worst(self, measure: str) -> tuple[Floats, Floats]:
        return worst_case_interval(measure, self.believed, self.budget, level=self.inner, doubtful=self.doubtful)

    def average_worst(self, measure: str) -> tuple[float, float]:
        low, high = average_bounds(measure, "macro", self.believed, self.budget, doubtful=self.doubtful)
        ends = correct_bounds(measure, self.believed, self.budget, doubtful=self.doubtful)
        down, up = _widest(measure, self.apparent, ends, self.inner)
        return low - down, high + up


class _Audited(_Knowledge):
    """Expert labels of a random sample of rows: the correct measures are estimated."""

    kind = "design"
    method = "audit"

    def __init__(
        self, data: Labelled, table: ConfusionCounts, audit: "CodedAudit", level: float, rate: float | None
    ) -> None:
        self.data, self.table, self.level = data, table, level
        self.audit: CodedAudit = audit
        wrong = int(np.count_nonzero(data.labels[audit.rows] != audit.labels))
        self.most = None if rate is None else int(np.floor(rate * data.n + 1e-9))
        if self.most is not None and wrong > self.most:
            raise InputError(
                f"noise: allows {self.most} wrong labels of {data.n}, but the audit shows {wrong}; give a larger rate, "
                "or leave it out"
            )
        drawn = {
            "uniform": "uniformly at random, without replacement",
            "weighted": "at random, with the probabilities supplied",
        }[audit.design]
        self.assumptions = (
            _Knowledge.assumptions[0],
            f"The {audit.k} audited rows were drawn {drawn}, without regard to what the expert would say.",
            "The expert is right on all of them.",
            *(() if self.most is None else (f"At most {self.most} of the {data.n} labels are wrong.",)),
        )
        message = f"the expert changed {wrong} of {audit.k} audited labels"
        self.notes = (Note(code="audit", message=message),)

    def bias(self, measure: str) -> tuple[Floats, Floats]:
        value = np.asarray(self.table.accuracy if measure == "accuracy" else self.table.measure(measure))
        low, high = self._ends(measure, "sample")
        return value - high, value - low

    def average_bias(self, measure: str, average: Any) -> tuple[float, float] | None:
        if average != "macro":
            return None
        low, high = _mean_of_ends(self._ends(measure, "sample"))
        value = self.table.averaged(measure, average)
        return value - high, value - low

    def direct(self, measure: str) -> tuple[Floats, Floats]:
        return self._ends(measure, "population")

    def _ends(self, measure: str, target: Any) -> tuple[Floats, Floats]:
        from demele.evaluation.audit_interval import audited_estimate, cell_interval

        if measure != "accuracy" and self.audit.design == "uniform":
            cells = replace(_cells(self.data, self.table, self.audit, measure), wrong=self.most)
            ends = cell_interval(cells, level=self.level, exact=False, target=target)
            return as_value(ends[0], measure), as_value(ends[1], measure)
        found = [
            audited_estimate(self.data, self.audit, measure, of, self.level, target=target, wrong=self.most)[1]
            for of in ([None] if measure == "accuracy" else range(self.data.k))
        ]
        low, high = (np.array([getattr(interval, end) for interval in found]) for end in ("low", "high"))
        return (low[0], high[0]) if measure == "accuracy" else (low, high)


def _cells(data: Labelled, table: ConfusionCounts, audit: "CodedAudit", measure: str) -> Any:
    """Split by whether a row is predicted, and labelled, as a class: all classes at once, from confusion counts."""
    from demele.evaluation.audit_interval import Cells

    predicted, given, seen = data.predictions[0][audit.rows], data.labels[audit.rows], audit.labels

    def four(counts: Counts) -> Floats:
        right, columns, rows = np.diag(counts), counts.sum(axis=0), counts.sum(axis=1)
        return np.stack([right, columns - right, rows - right, counts.sum() - rows - columns + right], axis=-1).astype(
            np.float64
        )

    truly = [
        np.bincount(seen[((predicted == seen) == said) & ((given == seen) == labelled)], minlength=data.k)
        for said, labelled in ((True, True), (True, False), (False, True), (False, False))
    ]
    size, audited = four(table.counts), four(_table(data.take(audit.rows)))
    counted = np.stack(truly, axis=-1).astype(np.float64)
    n_predicted, none = size[:, 0] + size[:, 1], np.zeros(data.k)
    given_share = np.array([1.0, 0.0, 1.0, 0.0])
    hits = np.array([1.0, 1.0, 0.0, 0.0])
    if measure == "precision":
        base = np.stack([none, n_predicted], axis=-1)
        return Cells(size[:, :2], audited[:, :2], counted[:, :2], np.ones(2), np.zeros(2), base, given_share[:2])
    if measure == "recall":
        return Cells(size, audited, counted, hits, np.ones(4), np.stack([none, none], axis=-1), given_share)
    return Cells(size, audited, counted, hits, 1 - hits, np.stack([none, n_predicted], axis=-1), given_share)


def _separated(noise: Any, audit: Any, true_labels: object) -> tuple[Any, Any]:
    """Check that what is known does not overlap; return the noise and the audit."""
    from demele.labels.audit import Audit

    if isinstance(noise, Audit):
        if audit is not None:
            raise InputError("noise and audit: both are audits; give one of them, as audit=")
        noise, audit = None, noise
    if audit is not None and not isinstance(audit, Audit):
        raise InputTypeError(
            f"audit: expected an Audit, got {type(audit).__name__}; "
            "wrap expert labels in demele.labels.Audit(rows, labels, design=...)"
        )
    if true_labels is not None and (noise is not None or audit is not None):
        other = "noise" if noise is not None else "audit"
        raise InputError(
            f"true_labels and {other}: true labels of every row say all about the noise; leave out {other}"
        )
    selective = audit is not None and audit.design == "selective"
    if selective and noise is None:
        raise InputError(
            "audit: its rows were chosen for a reason (design='selective'), so it says nothing of the other rows; give "
            "noise= as well, a rate that bounds these, or an audit of rows drawn at random (demele.labels.draw_audit)"
        )
    known = read_noise(noise)
    if audit is not None and known is not None and not selective and not isinstance(known, float):
        raise InputError(
            "noise and audit: beside a random audit, only a rate that the noise does not exceed can be used, got "
            f"{type(known).__name__}; leave one of them out"
        )
    return known, audit


def _knowledge(
    data: Labelled, table: ConfusionCounts, noise: Any, audit: "Audit | None", true_labels: object, level: float
) -> _Knowledge:
    if true_labels is not None:
        return _TrueLabels(data, table, true_labels, level)
    coded = None if audit is None else audit.coded(data.vocabulary, data.n)
    if coded is not None and coded.design != "selective":
        return _Audited(data, table, coded, level, noise)
    return _Knowledge() if noise is None else _Bounded(data, table, noise, coded, level)


# ---------------------------------------------------------------------------------------------------------- estimates


class _Estimates:
    """Turns counts and knowledge into estimates."""

    def __init__(self, data: Labelled, table: ConfusionCounts, knowledge: _Knowledge, level: float) -> None:
        self.classes, self.table, self.knowledge, self.level = data.vocabulary.classes, table, knowledge, level
        self.cut: list[tuple[str, Any]] = []
        self.ends: dict[str, tuple[tuple[Floats, Floats], tuple[Floats, Floats] | None]] = {}
        right = np.asarray(float(table.right.sum()))
        self.accuracy = self._several("accuracy", right[None], np.array([float(data.n)]), np.array([table.accuracy]))[0]
        self.error = _mirrored(self.accuracy)

    def of_classes(self, measure: str) -> list[Estimate]:
        """One estimate per class."""
        right, predicted, support = (values.astype(float) for values in self._counts())
        trials = {"precision": predicted, "recall": support, "f1": predicted + support - right}[measure]
        return self._several(measure, right, trials, self.table.measure(measure))

    def averaged(self, measure: str, average: Any) -> Estimate:
        """One average over classes."""
        if average == "micro" or (average == "weighted" and measure == "recall"):
            return replace(self.accuracy, measure=measure, of=average)
        value, bias = self.table.averaged(measure, average), self.knowledge.average_bias(measure, average)
        bias = None if bias is None or math.isnan(bias[0]) else bias
        if average == "weighted":
            return Estimate(measure=measure, of=average, value=value, bias=bias)
        if measure not in self.ends:
            self.of_classes(measure)
        apparent, corrected = self.ends[measure]
        low, high = _mean_of_ends(apparent)
        interval = self._interval(low, high, "mean of score intervals", "sampling")
        moved = None
        if corrected is not None and self.knowledge.direct(measure) is not None:
            moved = _mean_of_ends(corrected)
        elif bias is not None:
            inner = _mean_of_ends(self._score(measure, self.knowledge.inner))
            joined = _joined(union_interval(*inner, *bias), self.knowledge.average_worst(measure))
            moved = float(joined[0]), float(joined[1])
        return Estimate(
            measure=measure,
            of=average,
            value=value,
            interval=interval,
            bias=bias,
            corrected=None if moved is None else self._corrected(*moved, (measure, average), "mean of score intervals"),
        )

    def notes(self, estimates: list[Estimate]) -> list[Note]:
        """Say what was cut off, and of what nothing is known any more."""
        notes = []
        if self.cut:
            names = tuple(dict.fromkeys(_named(measure, of) for measure, of in self.cut))
            message = (
                f"a measure lies between 0 and 1: what reaches beyond was cut off {len(names)} corrected intervals, "
                f"{shown(names)}"
            )
            notes.append(Note(code="cut", message=message, subject=names))
        empty = tuple(
            _named(estimate.measure, estimate.of)
            for estimate in estimates
            if estimate.corrected is not None and estimate.corrected.low <= 0 and estimate.corrected.high >= 1
        )
        if empty:
            message = f"nothing is known of {len(empty)} of {len(estimates)} correct measures, {shown(empty)}: "
            message += "so much noise could explain any value; an audit of some rows would narrow them"
            notes.append(Note(code="nothing-known", message=message, subject=empty, severity="warning"))
        return notes

    def _counts(self) -> tuple[Counts, Counts, Counts]:
        return self.table.right, self.table.predicted, self.table.support

    def _score(self, measure: str, level: float) -> tuple[Floats, Floats]:
        right, predicted, support = self._counts()
        trials = {"precision": predicted, "recall": support, "f1": predicted + support - right}[measure]
        low, high = score_interval(right, trials, level=level)
        return as_value(low, measure), as_value(high, measure)

    def _several(self, measure: str, right: Floats, trials: Floats, values: Floats) -> list[Estimate]:
        names: tuple[Any, ...] = (None,) if measure == "accuracy" else self.classes
        apparent = tuple(as_value(end, measure) for end in score_interval(right, trials, level=self.level))
        direct, bias = self.knowledge.direct(measure), self.knowledge.bias(measure)
        bias = None if bias is None else (np.atleast_1d(bias[0]), np.atleast_1d(bias[1]))
        moved: tuple[Floats, Floats] | None = None
        if direct is not None:
            moved = np.atleast_1d(direct[0]), np.atleast_1d(direct[1])
        elif bias is not None:
            inner = [as_value(end, measure) for end in score_interval(right, trials, level=self.knowledge.inner)]
            moved = _joined(union_interval(inner[0], inner[1], bias[0], bias[1]), self.knowledge.worst(measure))
        self.ends[measure] = (apparent[0], apparent[1]), moved
        return [
            Estimate(
                measure=measure,
                of=name,
                value=float(values[i]),
                successes=float(right[i]),
                trials=float(trials[i]),
                interval=self._interval(apparent[0][i], apparent[1][i], "score", "sampling"),
                bias=None if bias is None or np.isnan(bias[0][i]) else (float(bias[0][i]), float(bias[1][i])),
                corrected=None
                if moved is None
                else self._corrected(moved[0][i], moved[1][i], (measure, name), self.knowledge.method),
            )
            for i, name in enumerate(names)
        ]

    def _interval(self, low: Any, high: Any, method: str, kind: str) -> Interval | None:
        if np.isnan(low):
            return None
        return Interval(low=float(low), high=float(high), level=self.level, method=method, kind=kind)

    def _corrected(self, low: Any, high: Any, what: tuple[str, Any], method: str) -> Interval | None:
        if np.isnan(low):
            return None
        if low < 0 or high > 1:
            self.cut.append(what)
        return self._interval(max(low, 0.0), min(high, 1.0), method, str(self.knowledge.kind))


def _mirrored(accuracy: Estimate) -> Estimate:
    """Return the error, one minus the accuracy."""

    def turned(interval: Interval | None) -> Interval | None:
        return None if interval is None else replace(interval, low=1 - interval.high, high=1 - interval.low)

    return Estimate(
        measure="error",
        of=None,
        value=1 - accuracy.value,
        successes=accuracy.trials - accuracy.successes,
        trials=accuracy.trials,
        interval=turned(accuracy.interval),
        bias=None if accuracy.bias is None else (-accuracy.bias[1], -accuracy.bias[0]),
        corrected=turned(accuracy.corrected),
    )


def _joined(first: Any, second: Any) -> tuple[Floats, Floats]:
    """Return the union of two intervals; NaN where the first is."""
    if second is None:
        return first[0], first[1]
    return np.minimum(first[0], second[0]), np.maximum(first[1], second[1])


def _widest(measure: str, table: ConfusionCounts, ends: tuple[Floats, Floats], level: float) -> tuple[float, float]:
    """Mean over classes of the largest distance of both ends of a score interval, for any value within its bounds."""
    right, predicted, support = table.right, table.predicted, table.support
    trials = {"precision": predicted, "recall": support, "f1": predicted + support - right}[measure]
    low, high = (end / (2 - end) if measure == "f1" else end for end in ends)  # of the proportion behind it
    proportion = low + np.linspace(0, 1, STEPS)[:, None] * (high - low)
    value = as_value(proportion, measure)
    below, above = (as_value(end, measure) for end in score_interval(proportion * trials, trials, level=level))
    known = (trials > 0) & ~np.isnan(value[0])
    if not known.any():
        return math.nan, math.nan
    return float((value - below)[:, known].max(axis=0).mean()), float((above - value)[:, known].max(axis=0).mean())


def _mean_of_ends(ends: tuple[Floats, Floats]) -> tuple[float, float]:
    """Average both ends over the classes that have an interval.

    The standard deviation of a mean is at most the mean of the standard deviations, however the classes hang together.
    """
    known = ~np.isnan(ends[0])
    if not known.any():
        return math.nan, math.nan
    return float(ends[0][known].mean()), float(ends[1][known].mean())


def _notes(table: ConfusionCounts, estimates: list[Estimate]) -> list[Note]:
    notes = []
    n_classes = len(table.classes)
    small = tuple(str(table.classes[k]) for k in np.flatnonzero((table.support > 0) & (table.support < SMALL_CLASS)))
    if small:
        message = (
            f"{len(small)} of {n_classes} classes have fewer than {SMALL_CLASS} labelled instances, {shown(small)}: "
            "their recall and f1 say little"
        )
        notes.append(Note(code="small-classes", message=message, subject=small))
    for measure, why in (("precision", "never predicted"), ("recall", "without a label")):
        missing = tuple(str(name) for name in table.undefined(measure))
        if missing:
            message = (
                f"the {measure} of {len(missing)} of {n_classes} classes is not defined, {shown(missing)}: {why}; "
                f"averages leave them out"
            )
            notes.append(Note(code="undefined", message=message, subject=missing))
    accuracy, share = estimates[0], float(table.support.max() / table.n)
    if accuracy.interval is not None and n_classes > 1 and accuracy.interval.low <= share:
        name = table.classes[int(table.support.argmax())]
        message = (
            f"always predicting {name!r} would agree with {share:.2%} of the given labels: this classifier is not "
            "shown to do better"
        )
        notes.append(Note(code="largest-class", message=message, subject=(str(name),), severity="warning"))
    return notes


def _averages(average: Any) -> tuple[str, ...]:
    names = (average,) if isinstance(average, str) else average
    if names is None or not hasattr(names, "__iter__"):
        raise InputTypeError(f"average: expected names such as ('macro', 'weighted'), got {average!r}")
    known = get_args(Average)
    wrong = [name for name in names if name not in known]
    if wrong:
        raise UnknownNameError(f"average: expected some of {', '.join(known)}, got {wrong[0]!r}")
    return tuple(dict.fromkeys(names))


def _table(data: Labelled) -> Counts:
    table: Counts = confusion_counts(data.labels, data.predictions[0], data.k)
    return table


def _signature(
    data: Labelled, noise: Any, knowledge: _Knowledge, level: float, *, per_class: bool, averages: tuple[str, ...]
) -> Signature:
    from demele import __version__

    arguments: dict[str, object] = {"level": level}
    if noise is not None:
        arguments["noise"] = noise
    if knowledge.audit is not None:
        arguments["audit"] = knowledge.audit
    arguments |= {"per_class": per_class, "average": averages}
    context = {"n": str(data.n), "classes": str(data.k), "demele": __version__}
    if isinstance(knowledge, _TrueLabels):
        context["bias"] = "from true labels"
    return Signature("assess", arguments, context)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def _named(measure: str, of: object) -> str:
    return measure if of is None else f"{measure} of {of!r}"


def _line(estimate: Estimate) -> str:
    name = estimate.measure if estimate.of is None else f"{estimate.of} {estimate.measure}"
    text = f"{name} {estimate.value:.4f}" + ("" if estimate.interval is None else f" {estimate.interval}")
    if estimate.bias is not None:
        low, high = estimate.bias
        text += f", bias {low:+.4f}" + (f" to {high:+.4f}" if high != low else "")
    return text + ("" if estimate.corrected is None else f", corrected {estimate.corrected}")
