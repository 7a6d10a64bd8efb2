"""Comparisons of two classifiers, and rankings of several, on labels that may be wrong."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from demele.classifiers.comparison.decision import (
    AskedPairs,
    Decision,
    comparison_notes,
    decision,
    estimate,
    pair_frame,
    signature,
)
from demele.classifiers.comparison.documents import ranking_document, shown_better
from demele.classifiers.comparison.methods import METHODS, Agreement, Method, MethodSpec, resolved
from demele.classifiers.measures.confusion import OF_CLASSES
from demele.classifiers.of_scores import also_of_scores, named
from demele.classifiers.question import (
    OF_NEGATIVE,
    Inference,
    Noise,
    Question,
    classes_of,
    coded_like,
    read_groups,
    read_knowledge,
    refuse_whole_groups,
)
from demele.classifiers.results import MOST_MODELS, Estimate, Measure, implied, rank_ranges, tiers
from demele.classifiers.table_measures import TABLE_MEASURES, refuse_empty_classes
from demele.core.arrays import Array, Rows, pd
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Classes, Confidence, Data, OneClass, checked, checked_name
from demele.core.labelled import Labelled, read_labelled, read_models, shown
from demele.core.proportions import holm
from demele.core.result import Interval, Note, Result, TableResult, plain
from demele.core.signature import Signature
from demele.core.table_columns import check_same_order
from demele.noise.audit import Audit, AuditData
from demele.noise.transition import TransitionCounts, TransitionMatrix
from demele.report.words import count, name, written

if TYPE_CHECKING:
    from demele.classifiers.judge import Judgement

#: What is asked of which class, where that has a name of its own.
_ASKED_AS = {
    "error": "accuracy",
    "sensitivity": "recall",
    "specificity": "recall",
    "PPV": "precision",
    "NPV": "precision",
}

#: With fewer audited rows, what is said of measures of all classes was not measured to hold.
LEAST_AUDITED = 100


@checked
def ask(
    models: Mapping[str, object],
    labels: object,
    pairs: Sequence[tuple[int, int]] | Rows,
    method: Method,
    measure: str,
    of: object,
    noise: Any,
    audit: Audit | None,
    level: Confidence,
    inference: str | None,
    classes: Sequence[object] | None,
    groups: object,
) -> tuple[MethodSpec, Question]:
    """Check everything and return the method and its question; documented at :func:`demele.classifiers.compare`."""
    inner = asked_as(measure)
    if inference is not None:
        checked_name(inference, "inference", get_args(Inference))
    noise, audit = read_knowledge(noise, audit)
    if method is None and noise is None and audit is None and inner == "accuracy":
        noise = 0.0
    spec, options = resolved(method, measure=inner, inference=inference, noise=noise, audit=audit)
    argument = "labels"
    if labels is None and isinstance(options, Agreement):  # it stands in their place
        labels, argument = options.reference, "reference"
    data = read_labelled(models, labels, classes=classes_of(noise, classes), argument=argument)
    words = data.vocabulary
    if isinstance(noise, TransitionCounts | TransitionMatrix):
        noise = noise.ordered(words.classes)
    index = class_asked(data, measure, of, argument)
    if inner in TABLE_MEASURES and spec.name == "audit" and audit is not None and audit.k < LEAST_AUDITED:
        message = f"{inner} needs {LEAST_AUDITED} audited rows or more, got {audit.k}; audit more, or compare accuracy"
        raise NotEnoughData("audit", message)
    aim = inference or spec.inferences[0]
    order = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    question = Question(
        data=data,
        baseline=order[:, 0],
        candidate=order[:, 1],
        measure=inner,  # type: ignore[arg-type]
        of=index,
        level=level,
        inference=aim,  # type: ignore[arg-type]
        noise=noise,
        audit=None if audit is None else audit.coded(words, data.n),
        groups=read_groups(groups, data.n, population=aim == "population"),
        **({} if options is None else options.read(data)),
    )
    for option in ("exact", "expert_error"):
        if getattr(question, option) and inner != "accuracy":
            raise InputError(option, f"only for accuracy and error, got {quoted(question.measure)}")
    if question.expert_error and audit is not None and audit.design == "selective":
        raise InputError("expert_error", "only for audits drawn at random, not rows chosen for a reason; leave it out")
    if question.expert_error and question.exact:
        raise InputError(("expert_error", "exact"), "the proved verdict takes the expert for right; leave one out")
    refuse_groups(spec, question)
    if question.clusters is not None and question.audit is not None:
        refuse_whole_groups(question.clusters, question.audit)
    for option, column in {**({} if options is None else vars(options)), "groups": groups}.items():
        check_same_order(column, labels, (option, argument))
    return spec, question


def asked_as(measure: str) -> str:
    """Return the measure whose value a measure is, of one class or of all: recall for sensitivity and specificity."""
    checked_name(measure, "measure", get_args(Measure))
    return _ASKED_AS.get(measure, measure)


def class_asked(data: Labelled, measure: str, of: object, labels: str) -> int | None:
    """Return the index of the class that a measure is of; None for a measure of all classes.

    Raises
    ------
    InputError
        If a class is missing, or one is given to a measure of all classes, which ``labels`` must have.
    """
    inner = asked_as(measure)
    if inner == "accuracy" or inner in TABLE_MEASURES:
        if of is not None:
            raise InputError("of", f"{measure} is of all classes; leave it out, or ask for precision, recall or f1")
        if inner in TABLE_MEASURES:
            refuse_empty_classes(data, inner, labels)
        return None
    if of is None:
        message = f"{measure} is compared for one class; give `of=`, one of {shown(data.vocabulary.classes)}"
        raise InputError("of", message)
    index = data.vocabulary.index(of, "of")
    if measure not in OF_NEGATIVE:
        return index
    if data.k != 2:
        raise InputError("measure", f"{measure} is of two classes, got {data.k}; compare each class with all others")
    return 1 - index


def refuse_groups(spec: MethodSpec, question: Question) -> None:
    """Refuse rows in groups where what is asked for keeps its level for rows apart only.

    Raises
    ------
    InputError
    """
    groups, inference = question.groups, question.inference
    if groups is None or groups.single:
        return
    if not spec.groups:
        able = ", ".join(name for name, other in METHODS.items() if other.groups)
        raise InputError("groups", f"method {spec.name!r} takes all rows as apart; methods with groups are {able}")
    if inference == "overlap":
        message = "the intervals that 'overlap' compares are not known for groups; use `inference='population'`"
        raise InputError(("groups", "inference"), message)
    if question.exact and inference == "population":
        message = "no theorem covers groups of unequal size; leave one of them out, or use `inference='test_set'`"
        raise InputError(("groups", "exact"), message)


# Whether a candidate classifier is better than the baseline -----------------------------------------------------------


@also_of_scores
def compare(
    baseline: object,
    candidate: object,
    labels: object,
    *,
    method: Method = None,
    measure: Measure | Sequence[Measure] = "accuracy",
    of: OneClass = None,
    noise: Noise = None,
    audit: AuditData = None,
    level: float = 0.95,
    inference: str | None = None,
    classes: Classes = None,
    groups: Data = None,
) -> Decision:
    """Decide whether a candidate classifier is better than the baseline, on labels that may be wrong.

    ``compare(baseline, candidate, audit=..., ...)`` of two :class:`demele.classifiers.RowScores`, without labels, takes
    the options of :func:`demele.classifiers.judge.judge` and returns a :class:`demele.classifiers.Judgement`.

    Parameters
    ----------
    baseline, candidate : array-like of shape (n,)
        Their predicted classes on the same instances. Two pandas or polars series with different names name them.
    labels : array-like of shape (n,)
        The given labels; None for the method :class:`demele.classifiers.Agreement`, which compares without labels.
    method : str or object, optional
        Comparison method (default: the most powerful one that applies). See
        :func:`demele.classifiers.method_names`. ``"audit"`` with an audit, else ``"worst-case"`` for the
        accuracy: without knowledge of the noise it takes all labels as correct, ``noise=0``, and is McNemar's exact
        test. For other measures ``"worst-case-overlap"`` with knowledge of the noise, else ``"overlap"``, the overlap
        of two intervals. Methods with options of their own are objects: :class:`demele.classifiers.HardRows`,
        :class:`~demele.classifiers.Cleaned`, :class:`~demele.classifiers.Agreement`,
        :class:`~demele.classifiers.TrueLabels`, :class:`~demele.classifiers.Audited` and
        :class:`~demele.classifiers.Sequential`.
    measure : str, or sequence of str
        Measure, or several: accuracy, error, precision, recall, f1, macro-f1, ... Of several, the first decides, and
        ``others`` holds decisions on the others, each at its own level. ``"accuracy"``, ``"error"``; ``"precision"``,
        ``"recall"``, ``"f1"`` of one class, named by ``of``; or of all classes ``"macro-f1"``, ``"balanced-accuracy"``
        or ``"matthews"`` (correlation), by the methods ``"overlap"``, ``"true-labels"``, ``"cleaned"`` and ``"audit"``,
        the first two also by ``"worst-case-overlap"``. Of two classes, ``of`` the positive one: ``"sensitivity"``, its
        recall; ``"PPV"``, its precision; ``"specificity"`` and ``"NPV"``, recall and precision of the other class.
    of : class, optional
        Class of a precision, recall or f1. Or the positive class of a sensitivity, specificity, PPV or NPV.
    noise : float, TransitionMatrix, TransitionCounts or Audit, optional
        Largest share of wrong labels, or a noise transition matrix. A matrix has a row per true class and a column per
        given class: probabilities, or counts of a random sample. The rate 0 takes all labels as correct.
    audit : Audit, optional
        Expert labels of some rows, and how these were chosen.
    level : float in (0, 1)
        Confidence of the verdict. Two-sided: "candidate better" is said wrongly with probability (1 - level) / 2 at
        most.
    inference : {"population", "test_set", "overlap"}, optional
        Rows that the verdict is about: population (default), test_set or overlap. Better on new
        instances, on these instances with true labels, or by so much that the two intervals on true labels would not
        overlap.
    classes : sequence, optional
        All classes (default: those of the labels and predictions). A note names the classes that no label has.
    groups : array-like of shape (n,), optional
        Rows that belong together, such as the patient of each image. Numbers or names, at least 10 of them. Claims
        about a population are then about new groups, with their rows; for ``"overlap"``, ``"true-labels"``,
        ``"worst-case"``, ``"audit"`` and ``"sequential"``. With one row per group nothing changes.

    Returns
    -------
    Decision
        ``verdict`` is ``"candidate"``, ``"baseline"`` or ``"inconclusive"``; ``choice`` keeps the baseline
        unless the candidate is shown to be better. Each claim carries the guarantee of the method: "baseline" is
        what the method says with the roles exchanged.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        For anything that cannot be used; nothing is guessed.

    Notes
    -----
    Source: Benjelloun, section 6.5.4, for the methods of overlap; see each method for the others.

    A warning among the notes names classifiers that are not shown to do better on the given labels than always
    predicting the largest class: often their rows or classes are not those of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 10, 2000)
    >>> old, new = (np.where(rng.random(2000) < p, labels, (labels + 1) % 10) for p in (0.80, 0.90))
    >>> compare(old, new, labels, noise=0.02).verdict
    'candidate'
    >>> compare(old, new, labels, noise=0.10).verdict
    'inconclusive'

    Scores of rows:

    >>> from demele.classifiers import RowScores
    >>> compare(RowScores([4, 2, 3, 4] * 20, 1, 5), RowScores([4, 5, 3, 5] * 20, 1, 5)).verdict
    'candidate'
    """
    several = not isinstance(measure, str) and np.iterable(measure)
    both, decided = named(baseline, candidate), list[Decision]()
    measures: tuple[Any, ...] = tuple(measure) if several else (measure,)
    for one in measures:
        own = of if not several or asked_as(one) in OF_CLASSES else None  # each takes the class that it is of
        spec, question = ask(both, labels, [(0, 1)], method, one, own, noise, audit, level, inference, classes, groups)
        decided.append(decision(spec, question, spec(question), measure=one))
    if not decided:
        raise InputError("measure", "expected a measure or several, got none")
    return replace(decided[0], others=tuple(decided[1:]))


Correction = Literal["holm", "bonferroni", "none"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(Result):
    """Several classifiers in the order of their estimates, with the significant differences.

    Attributes
    ----------
    names : tuple of str
        Best estimate first; everything per model is in this order.
    estimates : tuple of Estimate
        Each by itself.
    leads : tuple of float
        By which the models are sorted: the mean of the estimated differences to the others, as the method makes them,
        in [-1, 1]; more is better for every measure. Of equal ones, the better on the given labels comes first.
    best_rank, worst_rank : tuple of int
        The true rank of a model lies between them, for all models together with probability ``level`` at least, as
        far as the assumptions hold. Rank 1 is best; rank = 1 + number of models that are truly better.
    pairs : DataFrame
        One row per ordered pair, with the columns of ``Decision.to_frame()``, such as how many labels of
        the disagreements say ``lost`` (baseline), ``won`` (candidate) or ``neither``. ``level`` is that of each pair,
        made strict enough for all verdicts to hold together; ``p_value`` is not adjusted.
    reference : DataFrame or None
        The same pairs decided on true labels.
    level : float
        All verdicts hold together with this probability at least.
    correction : {"holm", "bonferroni", "none"}
        How the pairs share the error 1 - level; with ``"none"`` each pair has it for itself.
    """

    _kind = "ranking"

    names: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    leads: tuple[float, ...]
    best_rank: tuple[int, ...]
    worst_rank: tuple[int, ...]
    method: str
    measure: str
    of: int | str | None
    level: float
    pair_level: float
    correction: Correction
    n: int
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature
    title: str | None = None
    asked: AskedPairs = field(metadata={"json": False})
    on_true_labels: AskedPairs | None = field(default=None, metadata={"json": False})

    @cached_property
    def pairs(self) -> "pd.DataFrame":
        """One row for each ordered pair."""
        return pair_frame(self.asked, self.measure)

    @cached_property
    def reference(self) -> "pd.DataFrame | None":
        """The same pairs on true labels."""
        return None if self.on_true_labels is None else pair_frame(self.on_true_labels, self.measure)

    def decision(self, baseline: str, candidate: str) -> Decision:
        """Return the whole decision on one ordered pair, at the level of each pair.

        Raises
        ------
        UnknownNameError
            If there is no such model.
        InputError
            If both are the same.
        """
        for model in (baseline, candidate):
            checked_name(model, "models", self.names)
        if baseline == candidate:
            raise InputError(f"expected two different models, got {quoted(baseline)} twice")
        question, names = self.asked.question, self.asked.question.data.names
        first, second = names.index(baseline), names.index(candidate)
        pair = int(np.flatnonzero((question.baseline == first) & (question.candidate == second))[0])
        one = replace(question, baseline=np.array([first]), candidate=np.array([second]))
        # Asked alone, with the verdict of the pair among all others.
        held = {part: getattr(self.asked.outcomes, part) for part in ("candidate", "baseline", "p_value")}
        kept: dict[str, Any] = {part: None if all_ is None else all_[[pair]] for part, all_ in held.items()}
        return decision(self.asked.spec, one, replace(self.asked.spec(one), **kept), measure=self.measure)

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The order in parts: a tier ends before the first model that is significantly worse than the tier's first."""
        return tiers(self.names, implied(shown_better(self.pairs, self.names)))

    def to_frame(self) -> "pd.DataFrame":
        """One row per model, best estimate first."""
        parts = {"model": self.names, "best_rank": self.best_rank, "worst_rank": self.worst_rank, "lead": self.leads}
        return pd.DataFrame(parts).join(pd.DataFrame([one.row() for one in self.estimates]))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        return {**super().to_dict(), **{key: plain(getattr(self, key)) for key in ("tiers", "pairs", "reference")}}

    def _page_data(self) -> dict[str, Any]:
        """Return what a page offers to download: without the pairs, if these are more than a page can hold."""
        return self.to_dict() if len(self.names) <= MOST_MODELS else super().to_dict()

    document = ranking_document


def square(values: Array, m: int) -> Array:
    """Per-pair values as a square (baseline, candidate), with zeros on its diagonal."""
    square = np.zeros((m, m), dtype=values.dtype)
    square[~np.eye(m, dtype=np.bool_)] = values
    return square


# Several classifiers on one test set: which are shown to be better than which, and so between which ranks each lies ---


@also_of_scores
@checked
def rank(
    predictions: object,
    labels: object,
    *,
    method: Method = None,
    measure: Measure = "accuracy",
    of: OneClass = None,
    noise: Noise = None,
    audit: AuditData = None,
    level: float = 0.95,
    inference: str | None = None,
    classes: Classes = None,
    correction: Correction = "holm",
    true_labels: Data = None,
    groups: Data = None,
    title: str | None = None,
) -> Ranking:
    """Compare all classifiers with each other on labels that may be wrong, with an interval of each rank.

    ``rank({name: scores, ...}, audit=..., ...)`` of :class:`demele.classifiers.RowScores`, without labels, takes the
    options of :func:`demele.classifiers.judge.judge` and returns a :class:`demele.classifiers.Judgement`.

    Parameters
    ----------
    predictions : mapping of str to array-like of shape (n,), data frame or array of shape (n, n_models)
        Predicted classes of at least 2 models on the same instances.
    labels : array-like of shape (n,)
        The given labels.
    method, measure, of, noise, audit, inference, classes
        As in :func:`demele.classifiers.compare`.
    level : float in (0, 1)
        Level of all verdicts together: one or more of them is wrong with probability 1 - level at most.
    groups : array-like of shape (n,), optional
        As in :func:`demele.classifiers.compare`, for each pair.
    correction : {"holm", "bonferroni", "none"}
        Correction for several comparisons. How the n_models (n_models - 1) claims "this one is better than that one"
        share the error 1 - level. Holm's procedure needs p-values; for a method without, Bonferroni's is used and the
        result says so. ``"none"`` gives each pair the whole level: then some of many verdicts will be wrong, and the
        ranks carry no guarantee.
    true_labels : array-like of shape (n,), optional
        True labels of all rows. The same pairs are also decided on them, as ``reference``.
    title : str, optional
        Title of the report.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError

    Notes
    -----
    A model's best possible rank is 1 + the number of models shown to be better, its worst n_models - the number shown
    to be worse; what follows from two claims (a over b, b over c) counts as shown. If no verdict is wrong, neither
    bound is, so the ranges hold for all models together whenever the verdicts do. Source: Holm 2013; Mogstad, Romano,
    Shaikh and Wilhelm 2024, who derive such sets of ranks from simultaneous comparisons. Holm's procedure (1979) on
    one-sided p-values: each direction is a hypothesis of its own.

    Cost: O(n_models^2 n) for the methods without an audit.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 10, 4000)
    >>> shares = {"large": 0.9, "small": 0.8, "tiny": 0.79}
    >>> models = {name: np.where(rng.random(4000) < p, labels, (labels + 1) % 10) for name, p in shares.items()}
    >>> ranking = rank(models, labels, noise=0.02)
    >>> list(zip(ranking.names, ranking.best_rank, ranking.worst_rank))
    [('large', 1, 1), ('small', 2, 3), ('tiny', 2, 3)]
    >>> ranking.decision("small", "large").verdict
    'candidate'

    Scores of rows:

    >>> from demele.classifiers import RowScores
    >>> scores = {name: RowScores(rng.random(400) < share) for name, share in shares.items()}
    >>> [(one.name, one.best_rank, one.worst_rank) for one in rank(scores).systems]
    [('large', 1, 1), ('tiny', 2, 3), ('small', 2, 3)]
    """
    models = read_models(predictions)
    # All (baseline, candidate), row by row of the square of models, without its diagonal.
    pairs = np.argwhere(~np.eye(len(models), dtype=np.bool_))
    spec, question = ask(models, labels, pairs, method, measure, of, noise, audit, level, inference, classes, groups)
    check_same_order(true_labels, labels, ("true_labels", "labels"))
    asked, data, m = _answered(spec, question, correction), question.data, len(models)
    best, worst = rank_ranges(implied(square(asked.outcomes.candidate, m).astype(np.bool_)))
    # Sum of the estimated differences of each model to the others; one that is undefined counts as none.
    leads = np.nan_to_num(square(asked.outcomes.difference, m), nan=0.0).sum(axis=0)
    observed = np.full(m, -math.inf)
    observed[question.candidate] = np.nan_to_num(question.observed()[1], nan=-math.inf)
    # By these, then by the labels alone, then as they came. Rounding must not order models that are as good.
    order = np.lexsort((np.arange(m), -observed, -np.round(leads, 12), ~np.isfinite(observed)))
    leads = leads / (m - 1)
    notes = asked.outcomes.notes + comparison_notes(spec, question)
    if correction == "none":
        message = "each pair has its own error: of many verdicts some may be wrong, and the ranks are not guaranteed"
        notes += (Note(code="no-correction", message=message, severity="warning"),)
    elif correction != asked.correction:
        message = f"method {spec.name!r} gives no p-values here: the pairs share the error by Bonferroni's inequality"
        notes += (Note(code="bonferroni", message=message),)
    truth = None
    if true_labels is not None:
        coded, paired = coded_like(true_labels, data, "true_labels"), spec.p_values and question.measure == "accuracy"
        noise = 0.0 if paired else None
        clean = replace(question, data=data.relabelled(coded), true_labels=coded, noise=noise, audit=None)
        truth = _answered(METHODS["worst-case" if paired else "true-labels"], clean, correction)
    made = signature(spec, question, measure)
    names = tuple(data.names[model] for model in order)
    return Ranking(
        names=names,
        estimates=tuple(_estimates(asked, question, int(model), measure) for model in order),
        leads=tuple(float(leads[model]) for model in order),
        best_rank=tuple(int(best[model]) for model in order),
        worst_rank=tuple(int(worst[model]) for model in order),
        method=spec.name,
        measure=measure,
        of=question.class_of(measure),
        level=question.level,
        pair_level=asked.question.level,
        correction=asked.correction,
        n=data.n,
        assumptions=asked.outcomes.assumptions,
        notes=notes,
        signature=Signature("rank", {**made.arguments, "correction": asked.correction}, made.context),
        on_true_labels=truth,
        title=title,
        asked=asked,
    )


def _answered(spec: MethodSpec, question: Question, correction: Correction) -> AskedPairs:
    """Ask all pairs such that their verdicts hold together at the level of the question."""
    error, claims = 1 - question.level, question.n_pairs
    if correction == "none":
        return AskedPairs(spec, question, spec(question), correction)
    strict = replace(question, level=1 - 2 * error / claims)
    outcomes = spec(strict)
    # "overlap" is defined by intervals at the level itself, so it has no p-value to adjust.
    if correction == "bonferroni" or not spec.p_values or outcomes.p_value is None or question.inference == "overlap":
        return AskedPairs(spec, strict, outcomes, "bonferroni")
    m = int(question.baseline.max()) + 1
    shown_better = square(holm(outcomes.p_value, error), m)
    both = shown_better & shown_better.T  # contradicting claims, which no valid test makes; then neither is made
    shown_better &= ~both
    off = ~np.eye(m, dtype=np.bool_)
    verdicts = {"candidate": shown_better[off], "baseline": shown_better.T[off]}
    if (verdicts["candidate"] != outcomes.candidate).any():
        # One tail for the intervals of all, that gives these verdicts: the k-th rejected p-value is at most
        # error / (claims - k + 1), so all are, and the first that is not rejected exceeds error / (claims - k). Where a
        # method spends a share of its tail on estimating the noise, an interval may touch 0 despite a verdict.
        tail = error / (claims - max(int(shown_better.sum()), 1) + 1)
        strict = replace(question, level=1 - 2 * tail)
        outcomes = replace(spec(strict), p_value=outcomes.p_value)
    return AskedPairs(spec, strict, replace(outcomes, **verdicts), "holm")  # type: ignore[arg-type]


def _estimates(asked: AskedPairs, question: Question, model: int, measure: str) -> Estimate:
    """Return the measure of one model: its own interval, and the interval that the method gives it in every pair.

    As a baseline it may be corrected for one bias, as a candidate for another: the union of both holds in either case.
    """
    outcomes, pairs, union = asked.outcomes, asked.question, None
    roles = ((outcomes.baseline_interval, pairs.baseline), (outcomes.candidate_interval, pairs.candidate))
    ends = np.array([[end[role == model] for end in interval] for interval, role in roles if interval is not None])
    if len(ends) == 2 and (np.ptp(ends, axis=2) == 0).all():  # NaN is not either
        union = ends[:, 0].min(), ends[:, 1].max()
    return estimate(question, model, measure, outcomes, union, pairs.level)


# Ranks of the same models on several tasks: their mean, and the rank on a task to come --------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRank:
    """One model over all tasks.

    Attributes
    ----------
    model : str
    mean_rank : Interval
        Of the mean of its true ranks on these tasks.
    new_task : Interval
        Of its true rank on a task to come.
    first : int
        Tasks on which it is shown to be the best.
    """

    model: str
    mean_rank: Interval
    new_task: Interval
    first: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TaskRanks(TableResult):
    """Ranks of models over tasks.

    Attributes
    ----------
    models : tuple of TaskRank
        Sorted by the middle of the mean rank, best first.
    tasks : tuple of str
    best_rank, worst_rank : array of int of shape (n_tasks, n_models)
        Between them lies the rank of each model on each task, in the order of ``models``.
    level : float
        Of the rank on a new task.
    """

    _kind, _rows = "ranking over tasks", "models"
    _forms: ClassVar[Mapping[str, str]] = {"mean_rank_low": "number.2", "new_task_low": "count"}

    models: tuple[TaskRank, ...]
    tasks: tuple[str, ...]
    best_rank: Rows
    worst_rank: Rows
    level: float
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def headline(self) -> str:
        """Return the model with the best mean rank, and its rank on a new task."""
        best = self.models[0]
        ends = f"{written(best.mean_rank.low, 'number.2')} to {written(best.mean_rank.high, 'number.2')}"
        new = f"on a new task, rank {best.new_task.low:.0f} to {best.new_task.high:.0f}"
        return f"{name(best.model)} has mean rank {ends} over {count(len(self.tasks), 'task')}; {new}."


@checked
def task_ranks(rankings: "Mapping[str, Ranking | Judgement]", *, level: Confidence = 0.9) -> TaskRanks:
    """Put rankings of the same models on several tasks together.

    Parameters
    ----------
    rankings : mapping of str to Ranking or Judgement
        By the name of the task.
    level : float in [0.5, 1)
        Of the rank on a new task, for each model by itself.

    Returns
    -------
    TaskRanks

    Raises
    ------
    InputError
        For no task, or other models in one of them.

    Notes
    -----
    The mean rank lies between the means of the ends of the sets of ranks: tasks are not resampled. It holds if the
    sets of all tasks do, so rank each of T tasks at level 1 - 0.05 / T for 95%.

    On a new task, with q = ceil((T + 1) (1 - (1 - level) / 2)): from the q-th largest best rank to the q-th smallest
    worst rank; every rank is possible if q > T. Tasks must be exchangeable, as if all were drawn from one source.

    Examples
    --------
    >>> import numpy as np
    >>> from demele import classifiers
    >>> rng = np.random.default_rng(0)
    >>> rankings = {}
    >>> for task in ["a", "b", "c"]:
    ...     labels = rng.integers(0, 10, 2000)
    ...     models = {one: np.where(rng.random(2000) < p, labels, 10) for one, p in (("x", 0.9), ("y", 0.8))}
    ...     rankings[task] = classifiers.rank(models, labels, noise=0.01)
    >>> classifiers.task_ranks(rankings).sentence
    'x has mean rank 1.00 to 1.00 over 3 tasks; on a new task, rank 1 to 2.'
    """
    from demele.classifiers.judge import Judgement

    if not isinstance(rankings, Mapping) or not all(isinstance(one, Ranking | Judgement) for one in rankings.values()):
        raise InputTypeError("rankings", f"expected rankings by the names of tasks, got {type(rankings).__name__}")
    if not rankings:
        raise InputError("rankings", "expected at least one task, got none")
    tasks, held = tuple(map(str, rankings)), list(rankings.values())
    ranks = [pd.DataFrame([one.best_rank, one.worst_rank], columns=one.names).sort_index(axis=1) for one in held]
    names = sorted(held[0].names)
    for task, ranking in zip(tasks, ranks, strict=True):
        if list(ranking) != names:
            raise InputError("rankings", f"task {task!r} has other models than task {tasks[0]!r}")
    best, worst = np.stack(ranks, axis=1)
    first, last = new_task_ranks(best, worst, level)
    ends = np.stack([best.mean(axis=0), worst.mean(axis=0)])
    rows = [
        TaskRank(
            model=one,
            mean_rank=Interval(
                low=float(low), high=float(high), level=held[0].level, method="ends of sets", kind="sets"
            ),
            new_task=Interval(low=float(a), high=float(b), level=level, method="order statistics", kind="prediction"),
            first=int(best_here),
        )
        for one, (low, high), a, b, best_here in zip(names, ends.T, first, last, (worst == 1).sum(axis=0), strict=True)
    ]
    sorting = np.lexsort((ends[0], ends.sum(axis=0)))
    needed = math.ceil(2 / (1 - level) - 1 - 1e-9)
    few = f"{len(tasks)} tasks leave every rank possible on a new task; {needed} tasks are needed at level {level:g}"
    return TaskRanks(
        models=tuple(rows[place] for place in sorting),
        tasks=tasks,
        best_rank=best[:, sorting],
        worst_rank=worst[:, sorting],
        level=level,
        assumptions=(
            "Tasks are exchangeable with the task to come; those of one suite rarely are.",
            "The sets of ranks hold on each task.",
        ),
        notes=(Note(code="few-tasks", message=few, severity="warning"),) if len(tasks) < needed else (),
        signature=Signature.of("task_ranks", {"level": level}, tasks=len(tasks), models=len(names)),
    )


def new_task_ranks(best: Rows, worst: Rows, level: float) -> tuple[Rows, Rows]:
    """Return the ends of each model's rank on a new task, from ranks of shape (n_tasks, n_models)."""
    tasks, models = best.shape
    q = math.ceil((tasks + 1) * (1 + level) / 2 - 1e-9)
    if q > tasks:
        return np.ones(models, np.intp), np.full(models, models, np.intp)
    return np.sort(best, axis=0)[tasks - q], np.sort(worst, axis=0)[q - 1]
