"""What is asked of classifiers and what is known of their labels; what every comparison method sees and returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from demele.classifiers.row_groups import Groups, effective_share, ends_at, row_counts
from demele.classifiers.table_measures import TABLE_MEASURES, table_value
from demele.core.arrays import Counts, Flags, Floats, Rows
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Kind, checked_rate, is_number, share_or_file
from demele.core.labelled import Indices, Labelled, read_labels
from demele.core.uncertainty import Note
from demele.noise.audit import Audit, CodedAudit
from demele.noise.transition import TransitionCounts, TransitionMatrix

#: What "better" means: on new instances, on these with true labels, or so much that the intervals would not overlap.
Inference = Literal["population", "test_set", "overlap"]
#: What is known of the label noise.
Noise = Annotated[
    float | TransitionMatrix | TransitionCounts | Audit | None, Kind("RATE|FILE", share_or_file, is_file=True)
]

#: Measures of the class that is not the positive one.
OF_NEGATIVE = ("specificity", "NPV")


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Per pair, the instances on which the two disagree, by what the given label says. Shape (n_pairs,) each.

    ``lost``: label = baseline (the study's a); ``won``: label = candidate (b); ``neither``: another class (o).
    """

    lost: Any
    won: Any
    neither: Any

    @property
    def disagreements(self) -> Any:
        """Instances on which the two predict different classes."""
        return self.lost + self.won + self.neither

    @property
    def gap(self) -> Any:
        """The lead of the candidate, in rows."""
        return self.won - self.lost


@dataclass(frozen=True, kw_only=True)
class Question:
    """Ordered pairs of classifiers of one test set, what is asked of them and what is known of the labels.

    Attributes
    ----------
    data : Labelled
        ``baseline`` and ``candidate`` are rows of its predictions, one per pair.
    measure : {"accuracy", "precision", "recall", "f1", "macro-f1", "balanced-accuracy", "matthews"}
        More is better for all; the error is asked for as accuracy.
    of : int or None
        Index of the class of a precision, recall or f1.
    level : float
        Two-sided: "candidate better" errs with probability (1 - level) / 2 at most, and so does "baseline better".
    exact : bool
        A proven level, of the audited comparison.
    groups : Groups or None
        Which rows belong together.
    expert_error : float
        Share of the rows on which the expert may be wrong, in the worst case.
    """

    data: Labelled
    baseline: Rows
    candidate: Rows
    measure: Literal["accuracy", "precision", "recall", "f1", "macro-f1", "balanced-accuracy", "matthews"] = "accuracy"
    of: int | None = None
    level: float = 0.95
    inference: Inference = "population"
    noise: float | TransitionMatrix | TransitionCounts | None = None
    audit: CodedAudit | None = None
    true_labels: Indices | None = None
    difficulty: Floats | None = None
    prudence: float = 0.1
    suspects: Flags | None = None
    suggested: Indices | None = None
    reference: Indices | None = None
    expert_error: float = 0.0
    seed: int = 0
    exact: bool = False
    groups: Groups | None = None

    @property
    def clusters(self) -> Groups | None:
        """Groups, if sampling is by them: what is asked is of a population, and some group has several rows."""
        if self.groups is None or self.groups.single or self.inference != "population":
            return None
        return self.groups

    @property
    def n_pairs(self) -> int:
        """Number of ordered pairs."""
        return int(self.baseline.size)

    @property
    def tail(self) -> float:
        """Error allowed to each of the two claims."""
        return (1 - self.level) / 2

    def class_of(self, measure: str) -> int | str | None:
        """Return the class that a measure is named by: the positive one where it is of the other."""
        if self.of is None:
            return None
        return self.data.vocabulary.classes[1 - self.of if measure in OF_NEGATIVE else self.of]

    def counts(self) -> PairCounts:
        """Count who is right where the two disagree. Cost: O(models^2 n), once for each ``data``."""
        data, baseline, candidate = self.data, self.baseline, self.candidate
        lost, won = data.right_alone[baseline, candidate], data.right_alone[candidate, baseline]
        return PairCounts(lost, won, data.disagreements[baseline, candidate] - lost - won)

    @property
    def of_table(self) -> bool:
        """Whether the measure is of the whole table of classes, and so no proportion of rows."""
        return self.measure in TABLE_MEASURES

    def observed(self) -> tuple[Floats, Floats]:
        """Return the measure of the baseline and of the candidate on the given labels, pair by pair."""
        if self.of_table:
            every = table_value(self.data, self.measure)
            return every[self.baseline], every[self.candidate]
        first, second = (as_value(side.proportion, self.measure) for side in self.sides())
        return first, second

    def sides(self) -> tuple["Sides", "Sides"]:
        """Return the proportions of the baseline and of the candidate, pair by pair; not of a whole table."""
        every, roles = self.proportions, (self.baseline, self.candidate)
        first, second = (Sides(every.successes[models], every.trials[models]) for models in roles)
        return first, second

    @cached_property
    def proportions(self) -> "Sides":
        """The proportions of all models; not of a whole table."""
        return sides(self.data, self.measure, self.of)

    @cached_property
    def score_ends(self) -> tuple[Floats, Floats]:
        """Score intervals of these, of rows in groups at their effective number."""
        share: Floats | float = 1.0
        if self.groups is not None:
            counted = (row_counts(self.data, self.measure, self.of, model) for model in range(len(self.data.names)))
            share = np.array([effective_share(*each, self.groups, level=self.level) for each in counted])
        return ends_at(self.proportions.successes, self.proportions.trials, share, level=self.level)


@dataclass(frozen=True, slots=True)
class Sides:
    """The proportion that a measure is of, one per model or per pair: successes of trials."""

    successes: Floats
    trials: Floats

    @property
    def proportion(self) -> Floats:
        """Successes per trial; NaN without a trial."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.successes / self.trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """What a method says of each pair; every array is of shape (n_pairs,).

    Attributes
    ----------
    candidate, baseline : arrays of bool
        Which is shown to be better; never both.
    difference, low, high : arrays
        Candidate minus baseline as the method estimates it, and its interval.
    method, kind : str
        How that interval was made, and what it covers (as in :class:`demele.core.uncertainty.Interval`).
    p_value : array or None
        For "the candidate is not better", one-sided.
    baseline_interval, candidate_interval : (low, high) or None
        Of each classifier's measure after correction.
    details : mapping of str to array
        Further quantities, per pair or the same for all.
    """

    candidate: Flags
    baseline: Flags
    difference: Floats
    low: Floats
    high: Floats
    method: str
    kind: str = "sampling"
    p_value: Floats | None = None
    baseline_interval: tuple[Floats, Floats] | None = None
    candidate_interval: tuple[Floats, Floats] | None = None
    assumptions: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


def allowed_rows(question: Question, disagreements: Counts) -> Counts:
    """Return the largest change of the gap, in rows, from the expert's labels to true labels: tau, per pair.

    Notes
    -----
    Of d disagreements the expert is wrong on m = floor(e d) at most, and each such label moves the gap by two at most:
    tau = 2 m, in either direction. From e = 1/2 on, the expert may be wrong on all rows behind the claim: tau is d at
    least, which no gap exceeds.
    """
    d = np.asarray(disagreements, dtype=np.int64)
    tau: Counts = 2 * np.floor(question.expert_error * d + 1e-9).astype(np.int64)
    return np.maximum(tau, d) if question.expert_error >= 0.5 else tau


def with_expert_errors(question: Question, outcomes: Outcomes, disagreements: Counts) -> Outcomes:
    """Let intervals allow for wrong labels of the expert; claims were held against ``allowed_rows`` before.

    The interval of the difference reaches tau / n further on both sides, that of one accuracy e.
    """
    e, tau = question.expert_error, allowed_rows(question, disagreements)
    if not e:
        return outcomes
    apart, further = np.asarray(disagreements) / question.data.n, tau / question.data.n
    # On these rows, true labels cannot lead by more than the rows on which the two disagree.
    most = np.ones_like(apart) if question.inference == "population" else apart
    difference = np.clip(outcomes.difference, -most, most)
    low, high = np.clip(outcomes.low - further, -most, most), np.clip(outcomes.high + further, -most, most)
    p_value = outcomes.p_value
    own: dict[str, Any] = {
        key: None if ends is None else (np.clip(ends[0] - e, 0, 1), np.clip(ends[1] + e, 0, 1))
        for key in ("baseline_interval", "candidate_interval")
        for ends in (getattr(outcomes, key),)
    }
    return replace(
        outcomes,
        candidate=outcomes.candidate & (e < 0.5),
        baseline=outcomes.baseline & (e < 0.5),
        difference=difference,
        low=np.minimum(low, difference),
        high=np.maximum(high, difference),
        p_value=p_value if e < 0.5 or p_value is None else np.ones_like(p_value),
        details={**outcomes.details, "expert_may_move": tau},
        **own,
    )


def expert_words(error: float) -> str:
    """Say on how many rows the expert may be wrong."""
    if not error:
        return "The expert's labels are right."
    return (
        f"The expert is wrong on at most a share {error:g} of all rows, and of the rows on which two models disagree."
    )


def sides(data: Labelled, measure: str, of: int | None) -> Sides:
    """Return the proportion behind a measure for every model: successes and trials of shape (n_models,).

    Accuracy: right of all. Precision: right of those predicted ``of``. Recall: right of those labelled ``of``.
    F1 = 2 J / (1 + J) of the Jaccard index J: right of those predicted or labelled ``of``.
    """
    predictions, labels = data.predictions, data.labels
    if measure == "accuracy":
        hits = np.count_nonzero(data.right, axis=1).astype(np.float64)
        return Sides(hits, np.full(hits.size, float(data.n)))
    predicted, labelled = predictions == of, labels == of
    right = np.count_nonzero(predicted & labelled, axis=1).astype(np.float64)
    n_predicted = np.count_nonzero(predicted, axis=1).astype(np.float64)
    n_labelled = np.full(right.size, float(np.count_nonzero(labelled)))
    return Sides(right, trials_of(measure, right, n_predicted, n_labelled))


def trials_of(measure: str, right: Any, predicted: Any, labelled: Any) -> Any:
    """Return the trials of the proportion behind a measure of one class: for F1, rows predicted or labelled so."""
    return {"precision": predicted, "recall": labelled, "f1": predicted + labelled - right}[measure]


def as_value(proportion: Floats, measure: str) -> Floats:
    """Turn the proportion behind a measure into the measure; increasing, so that it maps intervals too."""
    return 2 * proportion / (1 + proportion) if measure == "f1" else proportion


def read_noise(noise: Any) -> Any:
    """Check what is known of the noise: a rate in [0, 1), a transition matrix or counts."""
    if noise is None or isinstance(noise, TransitionCounts | TransitionMatrix):
        return noise
    if not is_number(noise):
        expected = f"expected a rate, a TransitionMatrix, TransitionCounts or an Audit, got {type(noise).__name__}"
        raise InputTypeError("noise", f"{expected}; wrap an array in TransitionMatrix or TransitionCounts")
    if noise == 1:
        raise InputError("noise", "expected a share of wrong labels below 1, got 1; for 1% write 0.01")
    return checked_rate(noise, "noise", of="wrong labels")


def read_knowledge(noise: Any, audit: Any) -> tuple[Any, Audit | None]:
    """Check the noise and the audit; an audit may be given as the noise."""
    if isinstance(noise, Audit):
        if audit is not None:
            raise InputError(("noise", "audit"), "both are audits; give one of them, as `audit=`")
        noise, audit = None, noise
    if audit is not None and not isinstance(audit, Audit):
        message = f"expected an Audit, got {type(audit).__name__}; use demele.labels.Audit(rows, labels, design=...)"
        raise InputTypeError("audit", message)
    return read_noise(noise), audit


def classes_of(noise: Any, classes: Sequence[object] | None) -> Sequence[object] | None:
    """Return the classes given, else those that the transition names."""
    return getattr(noise, "classes", None) if classes is None else classes


def coded_like(values: object, data: Labelled, argument: str) -> Indices:
    """Return labels of the same rows in the same vocabulary."""
    read = read_labels(values, argument)
    if read.size != data.n:
        raise InputError(argument, f"expected {data.n} rows, as many as `labels`, got {read.size}")
    return data.vocabulary.encode(read, argument)
