"""What is asked of classifiers and what is known of their labels; what every comparison method sees and returns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from demele.classifiers.table_measures import TABLE_MEASURES, table_value
from demele.core.arrays import Array, Counts, Flags, Floats, Rows
from demele.core.columns import numbered_rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import Kind, checked_rate, is_number, share_or_file
from demele.core.labelled import Indices, Labelled, read_labels
from demele.core.proportions import normal_quantile, proportion, score_interval
from demele.core.result import Note
from demele.noise.audit import Audit, CodedAudit
from demele.noise.transition import TransitionCounts, TransitionMatrix, digest

# Rows that belong together --------------------------------------------------------------------------------------------

# Groups, such as the images of a patient, are what is drawn from the population, with their rows; what is claimed is
# about rows. An estimate then varies as its sums over groups do. The design effect is that variance over the variance
# of as many rows apart: n rows are worth n over it.

#: Fewer groups say nothing of the groups to come.
LEAST_GROUPS = 10
#: With fewer groups a note is attached: that errors are kept was simulated from here on.
FEW_GROUPS = 30
#: So many groups of several rows that were audited whole were not met by drawing rows.
WHOLE_GROUPS = 3
#: A group with a larger share of the disagreements is named.
MOST = 0.5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Groups:
    """The group of every row.

    Attributes
    ----------
    codes : array of intp of shape (n,)
        Group of each row, from 0.
    sizes : array of int64 of shape (n_groups,)
    """

    codes: Rows
    sizes: Counts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.bincount(self.codes).astype(np.int64))

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.sizes.size)

    @property
    def single(self) -> bool:
        """Whether every group is one row, which is as having no groups."""
        return self.count == self.codes.size

    def sums(self, values: Any) -> Floats:
        """Sum values of shape (n,) over the rows of each group."""
        return np.asarray(np.bincount(self.codes, weights=values, minlength=self.count), dtype=np.float64)

    def spread(self) -> float:
        """Factor that makes a sum of squares over groups a variance: G / (G - 1)."""
        return self.count / (self.count - 1)

    def __repr__(self) -> str:
        return f"Groups(n={self.codes.size}, groups={self.count}, digest={digest(self.codes)!r})"


def read_groups(values: object, n: int, *, population: bool = True) -> Groups | None:
    """Read the group of every row, in the order of the rows; for claims about a population, there must be some.

    Raises
    ------
    InputError
        If there are not ``n`` of them, or some are missing.
    NotEnoughData
        If there are fewer groups than can be said anything from.
    """
    if values is None:
        return None
    codes, count = numbered_rows(values, "groups", n, "labels")
    if population and count < LEAST_GROUPS:
        message = f"expected at least {LEAST_GROUPS} groups, got {count}; collect more, or use `inference='test_set'`"
        raise NotEnoughData("groups", message)
    return Groups(codes)


def refuse_whole_groups(groups: Groups, audit: CodedAudit) -> None:
    """Refuse an audit of whole groups: rows that were drawn together are no random sample of rows.

    Raises
    ------
    InputError
        If every group of several rows with an audited one was audited whole, and others were not.
    """
    if audit.design == "selective" or audit.k >= audit.n:
        return
    met = np.bincount(groups.codes[audit.rows], minlength=groups.count)
    several = (groups.sizes > 1) & (met > 0)
    if np.count_nonzero(several) < WHOLE_GROUPS or (met[several] < groups.sizes[several]).any():
        return
    whole = f"all {np.count_nonzero(several)} audited groups of several rows were audited whole"
    message = f"{whole}, but design={audit.design!r} says that rows were drawn; draw rows by draw_audit()"
    raise InputError(("audit", "groups"), message)


def group_notes(groups: Groups | None, *, used: bool, apart: Any = None, largest: float = 0.0) -> tuple[Note, ...]:
    """Say how many groups there are and what their rows are worth; warn where these are few, or one stands for most.

    Parameters
    ----------
    groups : Groups or None
    used : bool
        Whether sampling is by groups.
    apart : float, optional
        Rows apart that these are worth.
    largest : float
        Largest share of the disagreements that one group has.
    """
    if groups is None:
        return ()
    n = groups.codes.size
    if not used:
        why = "each is one row" if groups.single else "the result is about these rows alone"
        return (Note(code="groups", message=f"{n} rows in {groups.count} groups: {why}, so nothing changes"),)
    message = f"{n} rows in {groups.count} groups"
    if apart is not None:
        worth = f"as informative as about {apart:.0f} independent rows"
        message += "; rows of a group are as different as others" if apart > 0.98 * n else f"; {worth}"
    notes = [Note(code="groups", message=message)]
    if groups.count < FEW_GROUPS:
        message = f"only {groups.count} groups: their spread is uncertain, so intervals are wide"
        notes.append(Note(code="few-groups", message=message, severity="warning"))
    if largest > MOST:
        message = f"one group holds {largest:.0%} of the rows on which two classifiers disagree: the others say little"
        notes.append(Note(code="one-group", message=message, severity="warning"))
    return tuple(notes)


def ends_at(hits: Floats, trials: Floats, share: Floats | float, *, level: float) -> tuple[Floats, Floats]:
    """Score intervals at a share of the trials; everything is possible where trials are worth nothing."""
    low, high = score_interval(hits * share, trials * share, level=level)
    nothing = (trials > 0) & (np.asarray(share) <= 0)
    return np.where(nothing, 0.0, low), np.where(nothing, 1.0, high)


def effective_share(hits: Array, trials: Array, groups: Groups, *, level: float) -> float:
    """Return what share of the trials of a proportion counts in its score interval; 0 with one group.

    Parameters
    ----------
    hits, trials : arrays of shape (n,)
        What each row adds to the successes and to the trials.
    groups : Groups
    level : float in (0, 1)

    Notes
    -----
    With p the proportion of u trials, the design effect is G / (G - 1) sum_g (T_g - p U_g)^2 over u p (1 - p), not
    below 1; if no row differs from the others, it is that of constant groups, sum U_g^2 / u. Trials are
    divided by it and, for the few degrees of freedom, by (t / z)^2 with t of one less than the groups that have a trial
    (Korn and Graubard 1998).
    """
    if groups.single:
        return 1.0
    within = groups.sums(trials)
    total, count = float(within.sum()), int(np.count_nonzero(within))
    if count < 2:
        return 0.0 if count and total > 1 else 1.0
    alike = float((within**2).sum() / total)
    p = float(np.sum(hits)) / total
    apart = total * p * (1 - p)
    between = float(((groups.sums(hits) - p * within) ** 2).sum()) * count / (count - 1)
    effect = max(between / apart, 1.0) if apart > 0 else alike
    return student_share(count - 1, level=level) / effect


def effective_shares(data: Labelled, measure: str, classes: Iterable[Any], groups: Groups, *, level: float) -> Floats:
    """Return :func:`effective_share` behind a measure: for each class, or None for all, that of each model."""
    counted = [row_counts(data, measure, of, model) for of in classes for model in range(len(data.predictions))]
    return np.array([effective_share(*each, groups, level=level) for each in counted])


def alike_share(groups: Groups, *, level: float) -> float:
    """Return the effective share of all rows if those of each group are all the same."""
    if groups.single:
        return 1.0
    effect = float(groups.sizes @ groups.sizes) / groups.codes.size
    return student_share(groups.count - 1, level=level) / effect


def student_share(degrees: int, *, level: float) -> float:
    """Return (z / t)^2: what share of the trials counts for the few degrees of freedom of their variance."""
    from scipy.special import stdtrit

    probability = (1 + level) / 2
    return (normal_quantile(probability) / float(stdtrit(degrees, probability))) ** 2


def row_counts(data: Labelled, measure: str, of: int | None, model: Any) -> tuple[Array, Array]:
    """Return what each row adds to the successes and trials of the proportion behind a measure; shape (..., n).

    Accuracy: right of all. Precision: right of those predicted ``of``. Recall: right of those labelled ``of``.
    F1 = 2 J / (1 + J) of the Jaccard index J: right of those predicted or labelled ``of``.
    """
    if measure == "accuracy":
        return data.right[model], np.ones(data.n)
    predicted, labelled = data.predictions[model] == of, data.labels == of
    return predicted & labelled, {"precision": predicted, "recall": labelled, "f1": predicted | labelled}[measure]


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
        return None if self.groups is None or self.groups.single or self.inference != "population" else self.groups

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
        else:
            every = as_value(proportion(*self.proportions), self.measure)
        return every[self.baseline], every[self.candidate]

    def successes(self) -> tuple[Floats, Floats]:
        """Return the successes of the baseline and of the candidate, pair by pair; not of a whole table."""
        every, _ = self.proportions
        return every[self.baseline], every[self.candidate]

    @cached_property
    def proportions(self) -> tuple[Floats, Floats]:
        """Successes and trials of the proportion behind the measure, for all models; not of a whole table."""
        rows = row_counts(self.data, self.measure, self.of, slice(None))
        hits, trials = (np.count_nonzero(each, axis=-1) for each in rows)
        return hits.astype(np.float64), np.broadcast_to(trials, hits.shape).astype(np.float64)

    @cached_property
    def score_ends(self) -> tuple[Floats, Floats]:
        """Score intervals of these, of rows in groups at their effective number."""
        share: Floats | float = 1.0
        if self.groups is not None:
            share = effective_shares(self.data, self.measure, [self.of], self.groups, level=self.level)
        return ends_at(*self.proportions, share, level=self.level)


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
        How that interval was made, and what it covers (as in :class:`demele.core.result.Interval`).
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
    few = f"The expert is wrong on at most a share {error:g} of all rows, and of the rows on which two models disagree."
    return few if error else "The expert's labels are right."


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
