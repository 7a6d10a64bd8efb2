"""The comparison methods by name: what each needs, what it can compare, what it promises."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from demele.classifiers.comparison.audit import by_audit
from demele.classifiers.comparison.sequential_plan import sequential
from demele.classifiers.comparison.table_difference import linearised, model_ends
from demele.classifiers.comparison.worst_case import agreement, misfit_notes, worst_case
from demele.classifiers.measures.bias import average_bounds, correct_bounds, observed_measure
from demele.classifiers.measures.confusion import confusion_counts
from demele.classifiers.question import Inference, Outcomes, Question, coded_like
from demele.classifiers.table_measures import TABLE_MEASURES
from demele.core.arrays import Flags, Floats, Rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Data, Kind, Rate, Seed, checked_name, kind_of
from demele.core.labelled import ALL_CORRECT, Labelled
from demele.core.result import Note
from demele.core.table_columns import number_column
from demele.labels.cleaned.cleaning import Cleaning, CleaningData, check_made_from
from demele.noise.budget import noise_budget
from demele.noise.transition import set_fields

# Overlap of intervals -------------------------------------------------------------------------------------------------

#: Values of the baseline and of the candidate, one per pair each.
Pair = tuple[Floats, Floats]


def overlap(question: Question, *, assumptions: tuple[str, ...] = (ALL_CORRECT,), argument: str = "labels") -> Outcomes:
    """Compare the score intervals of both on the given labels (Benjelloun, section 6.5.4).

    A measure of all classes has no score interval: its difference is linearised.
    """
    if question.of_table:
        return linearised(question, assumptions=assumptions, argument=argument)
    low, high = model_ends(question)
    first, second = question.observed()
    baseline, candidate = ((low[models], high[models]) for models in (question.baseline, question.candidate))
    return Outcomes(
        candidate=candidate[0] > baseline[1],
        baseline=baseline[0] > candidate[1],
        difference=second - first,
        # The interval of the difference reaches from end to opposite end.
        low=candidate[0] - baseline[1],
        high=candidate[1] - baseline[0],
        method="overlap of score intervals",
        baseline_interval=baseline,
        candidate_interval=candidate,
        assumptions=assumptions,
    )


def true_labels(question: Question) -> Outcomes:
    """Do the same on the true labels: the result without label noise."""
    data = question.data.relabelled(question.true_labels)  # type: ignore[arg-type]  # demanded by METHODS
    return overlap(replace(question, data=data), assumptions=("The true labels are true.",), argument="true_labels")


def cleaned(question: Question) -> Outcomes:
    """Do the same on cleaned labels (Benjelloun, section 6.5.4).

    Suspected labels are replaced by those suggested, or left out where none is suggested.

    Raises
    ------
    NotEnoughData
        If every label is suspected and none suggested.
    """
    data = cleaned_data(question)
    assumptions = ("Every label is right after the cleaning.",)
    outcomes = overlap(replace(question, data=data), assumptions=assumptions, argument="cleaning")
    suspects: Any = question.suspects
    done = "relabelled" if question.suggested is not None else "left out"
    return replace(outcomes, details={"suspected": int(suspects.sum()), "used": data.n, "cleaning": done})


def cleaned_data(question: Question) -> Labelled:
    """Return the data with suspected labels replaced, or without their rows.

    Raises
    ------
    NotEnoughData
        If no row is left.
    """
    suspects: Flags = question.suspects  # type: ignore[assignment]  # demanded by METHODS
    if question.suggested is not None:
        return question.data.relabelled(np.where(suspects, question.suggested, question.data.labels))
    if suspects.all():
        raise NotEnoughData("cleaning", f"all {suspects.size} labels are suspected, none is suggested: no row is left")
    return question.data.take(~suspects)


def shifted_overlap(
    question: Question,
    forward: Pair,
    backward: Pair,
    *,
    kind: str,
    assumptions: tuple[str, ...],
    notes: tuple[Note, ...],
    details: dict[str, object],
) -> Outcomes:
    """Shift the intervals of both by minus their bias, then look for overlap.

    ``forward``: observed minus true measure of the baseline and of the candidate in the case that is worst for the
    candidate; ``backward``: in the case that is worst for the baseline.
    """
    low, high = model_ends(question)
    roles = question.baseline, question.candidate
    first, second, first_back, second_back = (
        (low[models] - bias, high[models] - bias)
        for models, bias in zip((*roles, *roles), (*forward, *backward), strict=True)
    )
    least, most = second[0] - first[1], second_back[1] - first_back[0]
    values = question.observed()
    return Outcomes(
        candidate=least > 0,
        baseline=most < 0,
        difference=values[1] - values[0],
        low=least,
        high=most,
        method=f"overlap of shifted {'linearised' if question.of_table else 'score'} intervals",
        kind=kind,
        baseline_interval=(first_back[0], first[1]),
        candidate_interval=(second[0], second_back[1]),
        assumptions=assumptions,
        notes=notes,
        details={
            **details,
            "baseline_if_bad_for_candidate": np.stack(first, axis=1),
            "candidate_if_bad_for_candidate": np.stack(second, axis=1),
        },
    )


# Overlap of intervals if the baseline is right on the hardest rows on which the two classifiers disagree --------------


def hard_rows(question: Question) -> Outcomes:
    """Suppose that the baseline is right on the hardest rows on which the two disagree.

    Everywhere else the label is supposed to be right. The bias of both measures is exact under that hypothesis; the
    intervals are shifted by it and keep their width (eq. 6.30), then their overlap is looked at.

    Raises
    ------
    InputError
        If no difficulty is given, unless none or all of the rows are hard: two classifiers alone rank no row.

    Notes
    -----
    Source: Benjelloun, section 6.5.4 (``prudente-v2``). A prudence of 0 is the overlap of the usual intervals. The
    share is rounded down to whole rows; among rows of equal difficulty the first come first.

    Cost: that of counting pairs on the hardest rows.
    """
    rows, notes = hardest(question.difficulty, question.prudence, question.data.n)

    def biases(asked: Question) -> Pair:
        (first, second), (true_first, true_second) = asked.observed(), hypothetical(asked, rows)
        return first - true_first, second - true_second

    return shifted_overlap(
        question,
        biases(question),
        biases(replace(question, baseline=question.candidate, candidate=question.baseline))[::-1],
        kind="shifted",
        assumptions=(
            f"Every label is right outside the {rows.size} hardest instances, and where the two classifiers agree.",
        ),
        notes=notes,
        details={"prudence": question.prudence, "hardest": int(rows.size)},
    )


def hardest(difficulty: Floats | None, prudence: float, n: int) -> tuple[Rows, tuple[Note, ...]]:
    """Return the rows of the hardest share, in order of rows, and a note on ties.

    Raises
    ------
    InputError
        If a part of the rows is asked for without their difficulty.
    """
    size = math.floor(prudence * n + 1e-9)
    if size in (0, n):
        return np.arange(size), ()
    if difficulty is None:
        message = f"needed to find the hardest {prudence:.1%} of the rows; give a number per row, larger is harder"
        raise InputError("difficulty", message)
    order = np.argsort(-difficulty, kind="stable")
    at_the_limit = difficulty[order[size - 1]]
    if difficulty[order[size]] < at_the_limit:
        return np.sort(order[:size]), ()
    tied = int(np.count_nonzero(difficulty == at_the_limit))
    message = f"{tied} instances are as difficult as the last of the {size} hardest; those that come first were taken"
    return np.sort(order[:size]), (Note(code="difficulty-ties", message=message, subject=("difficulty",)),)


def hypothetical(question: Question, rows: Rows) -> Pair:
    """Return the measure of both if the baseline is correct on all of these rows where the two disagree."""
    data = question.data
    if question.measure == "accuracy":
        (first, second), counts = question.successes(), replace(question, data=data.take(rows)).counts()
        return (first + counts.won + counts.neither) / data.n, (second - counts.won) / data.n
    hard, found = np.isin(np.arange(data.n), rows), []
    for models in np.stack([question.baseline, question.candidate], axis=1):
        said = data.predictions[models]
        labels = np.where(hard & (said[0] != said[1]), said[0], data.labels)
        own = replace(data, predictions=said, labels=labels)
        found.append(replace(question, data=own, baseline=np.array([0]), candidate=np.array([1])).observed())
    first, second = np.hstack(found)
    return first, second


# Overlap of intervals at the worst bias that the label noise allows ---------------------------------------------------


def worst_case_overlap(question: Question) -> Outcomes:
    """Shift the baseline's interval by its smallest bias, the candidate's by its largest; look for overlap.

    Notes
    -----
    Source: Benjelloun, section 6.5.4 (``prudente-v1``). The bias of accuracy is in [-nu, nu]; the others are bounded by
    :func:`demele.classifiers.measures.bias.correct_bounds`, which uses all that is known of the noise. Intervals
    are shifted by the opposite of the bias and keep their width (eq. 6.30); they may then leave [0, 1]. Of means over
    classes (macro F1, balanced accuracy) the bias is bounded by
    :func:`demele.classifiers.measures.bias.average_bounds`, and the interval is linearised.

    With a transition the bounds fail with probability ``question.tail`` at most, in addition to the error of the
    intervals.
    """
    data, measure = question.data, question.measure
    budget = noise_budget(question.noise, data.labels, data.k, tail=question.tail)  # type: ignore[arg-type]  # demanded
    lowest, highest = (np.full(len(data.predictions), math.nan) for _ in range(2))
    for model in np.unique(np.concatenate([question.baseline, question.candidate])):
        confusion = confusion_counts(data.labels, data.predictions[model], data.k)
        of: Any = () if question.of is None else question.of
        behind = {"macro-f1": "f1", "balanced-accuracy": "recall"}.get(measure, measure)  # macro recall
        value = observed_measure(behind, confusion)
        observed = float(np.mean(value) if question.of_table else value[of])
        if question.of_table:
            low, high = average_bounds(behind, "macro", confusion, budget)
        else:
            low, high = (end[of] for end in correct_bounds(behind, confusion, budget))
        lowest[model], highest[model] = observed - high, observed - low
    return shifted_overlap(
        question,
        (lowest[question.baseline], highest[question.candidate]),
        (highest[question.baseline], lowest[question.candidate]),
        kind="bias-union",
        assumptions=tuple(budget.assumptions),
        notes=misfit_notes(budget),
        details={"wrong_labels_at_most": int(budget.wrong)},
    )


@dataclass(frozen=True)
class MethodOptions:
    """The options of one method."""

    method: ClassVar[str]

    def __post_init__(self) -> None:
        kinds = {one.name: kind_of(one.type) for one in fields(self)}
        checks = {name: kind.check for name, kind in kinds.items() if kind is not None and kind.check is not None}
        set_fields(self, **{name: check(getattr(self, name), name) for name, check in checks.items()})

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question on these data holds of the options: columns of classes in its vocabulary."""
        coded = ("reference", "true_labels")
        return {name: coded_like(one, data, name) if name in coded else one for name, one in vars(self).items()}


@dataclass(frozen=True, eq=False)
class HardRows(MethodOptions):
    """The method hard-rows: where two classifiers disagree on one of the hardest rows, the baseline is right.

    Parameters
    ----------
    difficulty : array-like of shape (n,), optional
        Number per row, larger is harder. It may be left out for a prudence of 0 or 1.
    prudence : float in [0, 1]
        Share of the rows that is given to the baseline.

    Examples
    --------
    >>> from demele.classifiers import compare
    >>> compare([0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], method=HardRows([3, 0, 1, 2], prudence=0.25)).verdict
    'inconclusive'
    """

    method = "hard-rows"
    difficulty: Data = None
    prudence: Rate = 0.1

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question holds of the difficulty and the share."""
        hard: Any = self.difficulty
        if hard is not None:
            hard = number_column(hard, "difficulty", data.n, "row", "finite numbers", inside=np.isfinite)
        return {"difficulty": hard, "prudence": self.prudence}


@dataclass(frozen=True, eq=False)
class Cleaned(MethodOptions):
    """The method cleaned: overlap of intervals without suspect labels, or with their correct classes.

    Parameters
    ----------
    cleaning : Cleaning
        Flags of suspect labels, and perhaps their correct classes.

    Examples
    --------
    >>> from demele.classifiers import compare
    >>> from demele.labels import Cleaning
    >>> cleaning = Cleaning([True, False, False, False])
    >>> compare([0, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], method=Cleaned(cleaning)).verdict
    'inconclusive'
    """

    method = "cleaned"
    cleaning: CleaningData

    def read(self, data: Labelled) -> dict[str, Any]:
        """Return what a question holds of the cleaning."""
        cleaning = self.cleaning
        if not isinstance(cleaning, Cleaning):
            raise InputTypeError("cleaning", f"expected a Cleaning, got {type(cleaning).__name__}; use Cleaning(flags)")
        suspects = np.asarray(cleaning.suspect)
        if suspects.shape != (data.n,) or suspects.dtype != bool:
            raise InputError("cleaning", f"expected {data.n} flags, one per label, got shape {suspects.shape}")
        names = data.vocabulary.classes
        kind = np.int64 if isinstance(names[0], int) else object
        check_made_from(cleaning, np.array(names, dtype=kind)[data.labels], "labels")
        suggested = cleaning.suggested
        return {
            "suspects": suspects,
            "suggested": None if suggested is None else coded_like(suggested, data, "cleaning.suggested"),
        }


@dataclass(frozen=True, eq=False)
class Agreement(MethodOptions):
    """The method agreement: which of the two agrees more often with a third classifier.

    Parameters
    ----------
    reference : array-like of shape (n,)
        Predictions of the third classifier. It must be better than chance, and the three must err independently of
        each other.

    Notes
    -----
    Source: Raj, Singh and Baker 2011. McNemar's test on the instances where just one of the two agrees with the
    reference. Real classifiers err on the same instances: with them, this test was wrong in 15 to 34% of comparisons
    that should keep the baseline. Estimates are agreements with the reference, not accuracies.

    Examples
    --------
    >>> from demele.classifiers import compare
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 10, 1000)
    >>> old, new, other = (np.where(rng.random(1000) < p, truth, rng.integers(0, 10, 1000)) for p in (0.6, 0.9, 0.8))
    >>> compare(old, new, None, method=Agreement(other)).verdict
    'candidate'
    """

    method = "agreement"
    reference: Data


@dataclass(frozen=True, eq=False)
class TrueLabels(MethodOptions):
    """The method true-labels: overlap of intervals on true labels.

    Parameters
    ----------
    true_labels : array-like of shape (n,)
        True labels of all rows.
    """

    method = "true-labels"
    true_labels: Data


@dataclass(frozen=True, kw_only=True)
class Audited(MethodOptions):
    """The method audit: expert labels of a random sample of rows.

    Parameters
    ----------
    exact : bool
        Guarantee the level, with wider intervals. For accuracy: a verdict whose level is a theorem, not only measured,
        at a price in width. A weighted audit must know its ``least_probability``, which
        :func:`demele.labels.draw_audit` keeps.
    expert_error : float in [0, 1]
        Share of rows on which the expert may be wrong. The worst case is assumed. Of the rows on which the two
        disagree, and of all rows, for the accuracy. 0 takes the expert's labels as correct.
    """

    method = "audit"
    exact: bool = False
    expert_error: Rate = 0.0


@dataclass(frozen=True, kw_only=True)
class Sequential(MethodOptions):
    """The method sequential: an audit whose labels are counted one at a time.

    Parameters
    ----------
    expert_error : float in [0, 1]
        As in :class:`demele.classifiers.Audited`.
    seed : int >= 0
        Random seed. It orders the rows of an audit that come sorted.
    """

    method = "sequential"
    expert_error: Rate = 0.0
    seed: Seed = 0


#: A method by its name, or an object with its options.
Method = Annotated[str | Audited | Sequential | HardRows | Cleaned | Agreement | TrueLabels | None, Kind("NAME")]

_OF_ONE_CLASS = ("accuracy", "precision", "recall", "f1")
_ALL = (*_OF_ONE_CLASS, *TABLE_MEASURES)


def random_sample(question: Question) -> str:
    """Return the assumption of every claim about new instances, or about new groups with their rows."""
    drawn = "instances" if question.clusters is None else "groups, with their rows,"
    return f"The {drawn} are a random sample of those to come."


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSpec:
    """One method.

    ``rule`` is what it does, ``promise`` when it errs, ``decide`` its function. ``needs`` is the knowledge without
    which it is refused. ``by_overlap``: it compares two intervals, whatever it does
    first. ``p_values``: several comparisons can share an error by Holm's procedure (else they share the level by
    Bonferroni's). ``groups``: its errors are kept for rows that come in groups.
    """

    name: str
    title: str
    rule: str
    decide: Callable[[Question], Outcomes]
    promise: str
    source: str = "Benjelloun 2021, section 6.5.4"
    references: tuple[str, ...] = ("benjelloun2021impact",)
    needs: Literal["", "noise", "audit"] = ""
    by_overlap: bool = False
    measures: tuple[str, ...] = _OF_ONE_CLASS
    inferences: tuple[str, ...] = ("population",)
    p_values: bool = False
    groups: bool = False

    def __call__(self, question: Question) -> Outcomes:
        """Decide every pair of a question."""
        outcomes = self.decide(question)
        random = random_sample(question)
        if question.inference == "population" and random not in outcomes.assumptions:
            return replace(outcomes, assumptions=(*outcomes.assumptions, random))
        return outcomes


_OVERLAP = (
    "Score intervals of both on the {} labels; one is better if its interval lies wholly above the other's. Of a "
    "measure of all classes, the interval of the linearised difference excludes 0."
)
METHODS: dict[str, MethodSpec] = {
    spec.name: spec
    for spec in (
        MethodSpec(
            name="overlap",
            title="Overlap of intervals",
            rule=_OVERLAP.format("given"),
            decide=overlap,
            by_overlap=True,
            promise="Wrong labels raise its error rate: only correct labels keep its level.",
            measures=_ALL,
            groups=True,
        ),
        MethodSpec(
            name="true-labels",
            title="Overlap of intervals on true labels",
            rule=_OVERLAP.format("true"),
            decide=true_labels,
            by_overlap=True,
            promise="The result of the overlap method without label noise.",
            measures=_ALL,
            groups=True,
        ),
        MethodSpec(
            name="worst-case-overlap",
            title="Prudent, largest bias",
            rule="The interval of the one is shifted by its most favourable bias, that of the other by its least "
            "favourable; then overlap.",
            decide=worst_case_overlap,
            by_overlap=True,
            promise="Chooses the candidate only if it wins under the worst bias of both; safe if the noise is not "
            "larger than supplied.",
            measures=(*_OF_ONE_CLASS, "macro-f1", "balanced-accuracy"),
            needs="noise",
        ),
        MethodSpec(
            name="hard-rows",
            title="Prudent, disagreements given to the baseline",
            rule="Among the hardest instances, where the two disagree, the true class is taken to be what the "
            "baseline predicts; elsewhere the label. Then overlap of intervals.",
            decide=hard_rows,
            by_overlap=True,
            promise="Safe if every wrong label is among the share of instances that is given away.",
        ),
        MethodSpec(
            name="cleaned",
            title="Overlap of intervals after cleaning",
            rule="Suspect labels are dropped or replaced; then overlap of intervals.",
            decide=cleaned,
            by_overlap=True,
            promise="As good as the cleaning: wrong labels that stay, and right ones that go, mislead it.",
            measures=_ALL,
        ),
        MethodSpec(
            name="agreement",
            title="Agreement with a reference classifier",
            rule="McNemar's test on the instances where just one of the two agrees with a third classifier.",
            decide=agreement,
            promise="Keeps its level only if all three classifiers err independently, which real ones do not.",
            source="Raj et al. 2011",
            references=("raj2011paired",),
            measures=("accuracy",),
            p_values=True,
        ),
        MethodSpec(
            name="worst-case",
            title="Paired worst case",
            rule="Only disagreements can move the difference. The wrong labels that the noise allows are put where "
            "they hurt most; McNemar's exact test decides on the counts that are left.",
            decide=worst_case,
            promise="Errs at most at its level for every pattern of wrong labels within the noise supplied.",
            source="exact worst case over the disagreements; McNemar 1947",
            references=("mcnemar1947note",),
            needs="noise",
            measures=("accuracy",),
            inferences=get_args(Inference),
            p_values=True,
            groups=True,
        ),
        MethodSpec(
            name="audit",
            title="Random sample of expert labels",
            rule="The difference on the given labels, corrected by what a random sample of expert labels shows of "
            "their errors; the way the sample was drawn gives the standard error.",
            decide=by_audit,
            promise="Errs at most at its level, as measured where it is weakest, if the audit is a random sample; with "
            "exact=True, for accuracy, by a theorem.",
            source="design-based, prediction-powered inference: Angelopoulos et al. 2023",
            references=("angelopoulos2023prediction",),
            measures=_ALL,
            needs="audit",
            inferences=get_args(Inference),
            p_values=True,
            groups=True,
        ),
        MethodSpec(
            name="sequential",
            title="Expert labels one at a time",
            rule="Every expert label is a bet against the claim that the candidate is not better; the claim falls "
            "when the winnings pass the inverse of the error allowed.",
            decide=sequential,
            promise="Errs at most at its level whatever the label noise and whenever the audit stops.",
            source="testing by betting, without replacement: Waudby-Smith & Ramdas 2020; Waudby-Smith & Ramdas 2024",
            references=("waudbysmith2020confidence", "waudbysmith2024estimating"),
            needs="audit",
            measures=("accuracy",),
            inferences=get_args(Inference),
            p_values=True,
            groups=True,
        ),
    )
}

_ARGUMENT: dict[str, str] = {
    "noise": "`noise=`, a rate, a transition matrix or transition counts",
    "audit": "`audit=`, expert labels of a random sample of rows",
}


def method_names() -> tuple[str, ...]:
    """Return the names that ``method=`` accepts.

    Examples
    --------
    >>> method_names()[:3]
    ('overlap', 'true-labels', 'worst-case-overlap')
    """
    return tuple(METHODS)


def resolved(
    method: Method, *, measure: str, inference: str | None, noise: object, audit: object
) -> tuple[MethodSpec, MethodOptions | None]:
    """Return the method asked for, or the sharpest that what is given allows, and its own options.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest ones.
    InputError
        If it lacks what it needs, or cannot compare this measure.
    """
    if method is None:
        by_bounds = "worst-case" if measure == "accuracy" else "worst-case-overlap"
        method = "audit" if audit is not None else "overlap" if noise is None else by_bounds
    options = method if isinstance(method, MethodOptions) else None
    name = checked_name(method, "method", METHODS) if options is None else options.method
    if options is None:
        for one in (HardRows, Cleaned, Agreement, TrueLabels):
            if name == one.method:
                raise InputError("method", f"{name!r} has options of its own; give `{one.__name__}(...)`")
    spec = METHODS[name]
    if spec.needs and (noise if spec.needs == "noise" else audit) is None:
        raise InputError(f"method {name!r} needs {_ARGUMENT[spec.needs]}")
    if measure not in spec.measures:
        able = ", ".join(one for one, other in METHODS.items() if measure in other.measures)
        raise InputError("measure", f"method {name!r} cannot compare {quoted(measure)}; use {able}")
    answers = [one for one in spec.inferences if one != "overlap" or measure not in TABLE_MEASURES]  # no proportions
    if inference is not None and inference not in answers:
        which = f"method {name!r} answers for {', '.join(answers)} by {measure}"
        raise InputError("inference", f"{which}, got {quoted(inference)}")
    return spec, options
