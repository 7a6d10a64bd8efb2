"""Whether a candidate classifier is better than the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from demele.classifiers.comparison.decision import Decision, decision
from demele.classifiers.comparison.methods import METHODS, MethodSpec, resolved
from demele.classifiers.expert_errors import ExpertErrors, read_expert_error, refuse_without_expert
from demele.classifiers.measures.assess import CLASS_MEASURES
from demele.classifiers.of_scores import also_of_scores, two_names
from demele.classifiers.question import OF_NEGATIVE, Inference, Noise, Question, classes_of, coded_like, read_knowledge
from demele.classifiers.results import OF_POSITIVE, Measure
from demele.classifiers.row_groups import Groups, read_groups, refuse_whole_groups
from demele.classifiers.table_measures import TABLE_MEASURES, refuse_empty_classes
from demele.core.arrays import Rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.kinds import Classes, Confidence, Data, OneClass, Rate, Seed, checked
from demele.core.labelled import Labelled, read_labelled, shown
from demele.core.names import checked_name, renamed
from demele.core.table_columns import check_same_order, number_column
from demele.labels.cleaned.cleaning import Cleaning, CleaningData, check_made_from
from demele.noise.audit import Audit, AuditData
from demele.noise.transition import TransitionCounts, TransitionMatrix

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
    *,
    method: str | None,
    measure: str,
    of: object,
    positive: object = None,
    level: Confidence,
    inference: str | None,
    classes: Sequence[object] | None,
    seed: Seed,
    exact: bool,
    noise: Any,
    audit: Audit | None,
    true_labels: object,
    difficulty: object,
    prudence: Rate | None,
    cleaning: Cleaning | None,
    reference: object,
    expert_error: float,
    expert_errors: str,
    groups: object,
    errors: str = "any",
) -> tuple[MethodSpec, Question]:
    """Check everything and return the method and its question; documented at :func:`demele.classifiers.compare`."""
    inner = asked_as(measure)
    if inference is not None:
        checked_name(inference, "inference", get_args(Inference))
    if positive is not None and (of is not None or measure not in OF_POSITIVE):
        raise InputError("positive", f"is for {', '.join(OF_POSITIVE)}; give `of=` instead")
    of = of if positive is None else positive
    noise, audit = read_knowledge(noise, audit)
    if method is None and noise is None and audit is None and inner == "accuracy":
        noise = 0.0
    needed = {"true_labels": true_labels, "cleaning": cleaning, "reference": reference, "noise": noise, "audit": audit}
    if method is None:
        own = {**needed, "difficulty": difficulty, "prudence": prudence}
        # Methods of an option of their own are never chosen for it, since each has an assumption of its own.
        for one in (METHODS["hard-rows"], METHODS["cleaned"], METHODS["agreement"]):
            for name in one.uses:
                if own[name] is not None:
                    message = f"only method {one.name!r} uses it, and no method was named"
                    raise InputError(name, message, f"add `method={one.name!r}`, or drop it")
    available = frozenset(name for name, value in needed.items() if value is not None)
    spec = resolved(method, measure=inner, inference=inference, available=available)
    # Compared without labels, the reference stands in their place; messages call it by its name.
    argument = "reference" if labels is not None and labels is reference else "labels"
    data = read_labelled(models, labels, classes=classes_of(noise, audit, classes), argument=argument)
    words = data.vocabulary
    if isinstance(noise, TransitionCounts | TransitionMatrix):
        noise = noise.ordered(words.classes)
    index = class_asked(data, measure, of, "of" if positive is None else "positive", argument)
    checked_name(errors, "errors", ("any", "undirected"))
    if inner in TABLE_MEASURES and spec.name == "audit" and audit is not None and audit.k < LEAST_AUDITED:
        raise NotEnoughData(
            "audit",
            f"{inner} is compared with {LEAST_AUDITED} audited rows or more, got {audit.k}: fewer say too "
            "little of each class; audit more rows, or compare the accuracy",
        )
    if exact and (spec.name != "audit" or inner != "accuracy"):
        what = f"method {spec.name!r}" if spec.name != "audit" else inner
        raise InputError("exact", f"is for the accuracy and method 'audit', got {what}")
    if errors == "undirected" and (
        spec.name not in ("audit", "sequential")
        or inner != "accuracy"
        or getattr(audit, "design", "uniform") != "uniform"
    ):
        raise InputError(
            "errors",
            "'undirected' makes a second interval of a difference of accuracies from a uniform audit; give "
            "such an audit, or leave errors out",
        )
    share, manner = read_expert_error(expert_error, expert_errors, k=data.k)
    refuse_without_expert(share, spec.name, inner, None if audit is None else audit.design)
    if share and exact:
        raise InputError(
            ("expert_error", "exact"), "the proved verdict takes the expert for right; leave one of them out"
        )
    aim = inference or spec.inferences[0]
    clusters = read_groups(groups, data.n, population=aim == "population")
    refuse_groups(spec, aim, clusters, exact=exact, errors=errors)
    suspects = suggested = None
    if cleaning is not None:
        if not isinstance(cleaning, Cleaning):
            raise InputTypeError(
                "cleaning", f"expected a Cleaning, got {type(cleaning).__name__}; wrap flags in Cleaning(flags)"
            )
        suspects = np.asarray(cleaning.suspect)
        if suspects.shape != (data.n,) or suspects.dtype != bool:
            raise InputError("cleaning", f"expected {data.n} flags, one per label, got shape {suspects.shape}")
        names = data.vocabulary.classes
        kind = np.int64 if isinstance(names[0], int) else object
        check_made_from(cleaning, np.array(names, dtype=kind)[data.labels], "labels")
        suggested = coded_like(cleaning.suggested, data, "cleaning.suggested")
    hardness = None
    if difficulty is not None:
        hardness = number_column(difficulty, "difficulty", data.n, "row", "finite numbers", inside=np.isfinite)
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
        true_labels=coded_like(true_labels, data, "true_labels"),
        difficulty=hardness,
        prudence=prudence,
        suspects=suspects,
        suggested=suggested,
        reference=coded_like(reference, data, "reference"),
        expert_error=share,
        expert_errors=manner,
        seed=seed,
        exact=exact,
        errors=errors,  # type: ignore[arg-type]
        groups=clusters,
    )
    if question.clusters is not None and question.audit is not None:
        refuse_whole_groups(question.clusters, question.audit)
    columns = {"true_labels": true_labels, "difficulty": difficulty, "reference": reference, "groups": groups}
    for name, column in columns.items():
        check_same_order(column, labels, (name, argument))
    return spec, question


def asked_as(measure: str) -> str:
    """Return the measure whose value a measure is, of one class or of all: recall for sensitivity and specificity."""
    checked_name(measure, "measure", get_args(Measure))
    return _ASKED_AS.get(measure, measure)


def class_asked(data: Labelled, measure: str, of: object, argument: str, labels: str) -> int | None:
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
    index = data.vocabulary.index(of, argument)
    if measure not in OF_NEGATIVE:
        return index
    if data.k != 2:
        raise InputError(
            "measure", f"{measure} is of two classes, got {data.k}; compare whether each is the positive class"
        )
    return 1 - index


def refuse_groups(spec: MethodSpec, inference: str, groups: Groups | None, *, exact: bool, errors: str) -> None:
    """Refuse rows in groups where what is asked for keeps its level for rows apart only.

    Raises
    ------
    InputError
    """
    if groups is None or groups.single:
        return
    if not spec.groups:
        able = ", ".join(name for name, other in METHODS.items() if other.groups)
        raise InputError("groups", f"method {spec.name!r} takes all rows as apart; methods with groups are {able}")
    if inference == "overlap":
        raise InputError(
            ("groups", "inference"),
            "'overlap' compares intervals of independent rows on true labels; the width of those of groups "
            "depends on unknown labels; use `inference='population'`",
        )
    if exact and inference == "population":
        raise InputError(
            ("groups", "exact"),
            "no theorem covers the sampling of groups of unequal size; leave one of them out, or ask about these rows "
            "alone, `inference='test_set'`",
        )
    if errors == "undirected" and inference == "population":
        raise InputError(
            ("groups", "errors"), "the interval for 'undirected' errors is for rows apart; leave one of them out"
        )


# Whether a candidate classifier is better than the baseline -----------------------------------------------------------


@also_of_scores
@renamed(established="baseline", target="inference")
def compare(
    baseline: object,
    candidate: object,
    labels: object,
    *,
    method: str | None = None,
    measure: Measure | Sequence[Measure] = "accuracy",
    of: OneClass = None,
    positive: OneClass = None,
    noise: Noise = None,
    audit: AuditData = None,
    level: float = 0.95,
    inference: str | None = None,
    classes: Classes = None,
    true_labels: Data = None,
    difficulty: Data = None,
    prudence: float | None = None,
    cleaning: CleaningData = None,
    reference: Data = None,
    exact: bool = False,
    errors: Literal["any", "undirected"] = "any",
    expert_error: float = 0.0,
    expert_errors: ExpertErrors = "adversarial",
    groups: Data = None,
    names: tuple[str, str] = ("baseline", "candidate"),
    seed: int = 0,
) -> Decision:
    """Decide whether a candidate classifier is better than the baseline, on labels that may be wrong.

    ``compare(baseline, candidate, audit=..., ...)`` of two :class:`demele.classifiers.RowScores`, without labels, takes
    the options of :func:`demele.classifiers.judge.judge` and returns a :class:`demele.classifiers.Judgement`.

    Parameters
    ----------
    baseline, candidate : array-like of shape (n,)
        Their predicted classes on the same instances.
    labels : array-like of shape (n,)
        The given labels.
    method : str, optional
        Comparison method (default: the most powerful one that applies). See
        :func:`demele.classifiers.method_names`. ``"audit"`` with an audit, else ``"worst-case"`` for the
        accuracy: without knowledge of the noise it takes all labels as correct, ``noise=0``, and is McNemar's exact
        test. For other measures ``"worst-case-overlap"`` with knowledge of the noise, else ``"overlap"``, the overlap
        of two intervals.
    measure : str, or sequence of str
        Measure, or several: accuracy, error, precision, recall, f1, macro-f1, ... Of several, the first decides, and
        ``others`` holds decisions on the others, each at its own level. ``"accuracy"``, ``"error"``; ``"precision"``,
        ``"recall"``, ``"f1"`` of one class, named by ``of``; or of all classes ``"macro-f1"``, ``"balanced-accuracy"``
        or ``"matthews"`` (correlation), by the methods ``"overlap"``, ``"true-labels"``, ``"cleaned"`` and ``"audit"``,
        the first two also by ``"worst-case-overlap"``. Of two classes, one of them ``positive``: ``"sensitivity"``, its
        recall; ``"PPV"``, its precision; ``"specificity"`` and ``"NPV"``, recall and precision of the other class.
    of : class, optional
        Class of a precision, recall or f1.
    positive : class, optional
        Positive class of a sensitivity, specificity, PPV or NPV.
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
    true_labels : array-like of shape (n,), optional
        True labels of all rows, for the method true-labels.
    difficulty : array-like of shape (n,), optional
        Number per row, larger is harder, for the method hard-rows.
    prudence : float in [0, 1], optional
        Share of the rows that hard-rows gives to the baseline (default: 0.1).
    cleaning : Cleaning, optional
        Flags of suspect labels, and perhaps their correct classes. For the method cleaned.
    reference : array-like of shape (n,), optional
        Predictions of a third classifier, for the method agreement.
    exact : bool
        Guarantee the level of an audit, with wider intervals. For ``"audit"`` on accuracy: a verdict whose level is a
        theorem, not only measured, at a price in width. A weighted audit must know its ``least_probability``, which
        :func:`demele.labels.draw_audit` keeps.
    errors : {"any", "undirected"}
        Assumption on wrong labels for a further interval of an audit. With ``"undirected"``, a uniform audit also gives
        ``estimate_interval``: narrower than that of the verdict, if wrong labels do not side with one of the two
        classifiers. The verdict is the same.
    expert_error : float in [0, 1]
        Share of rows on which the expert may be wrong. Of the rows on which the two disagree, and of all rows; for
        ``"audit"`` and ``"sequential"``, on accuracy. 0 takes the expert's labels as correct.
    expert_errors : {"adversarial", "random"}
        Where the expert errs: in the worst case, or at random. Random errors do not depend on the predictions, and
        take any other class with the same probability.
    groups : array-like of shape (n,), optional
        Rows that belong together, such as the patient of each image. Numbers or names, at least 10 of them. Claims
        about a population are then about new groups, with their rows; for ``"overlap"``, ``"true-labels"``,
        ``"worst-case"``, ``"audit"`` and ``"sequential"``. With one row per group nothing changes.
    names : tuple of str
        Names of the two classifiers.
    seed : int >= 0
        Random seed.

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
    options = dict(locals())
    for name in ("baseline", "candidate", "labels", "measure", "names"):
        del options[name]
    first, second = two_names(names)
    if method is None and true_labels is not None:
        raise InputError(
            "true_labels",
            "only method 'true-labels' uses them, and no method was named; add `method='true-labels'`, or drop them",
        )
    several = not isinstance(measure, str) and np.iterable(measure)
    decided: list[Decision] = []
    measures: tuple[Any, ...] = tuple(measure) if several else (measure,)
    for one in measures:
        if several:  # each takes the class that it is of
            options["of"] = of if one in CLASS_MEASURES else None
            options["positive"] = positive if one in OF_POSITIVE else None
        spec, question = ask({first: baseline, second: candidate}, labels, [(0, 1)], measure=one, **options)
        decided.append(decision(spec, question, spec(question), measure=one))
    if not decided:
        raise InputError("measure", "expected a measure or several, got none")
    return replace(decided[0], others=tuple(decided[1:]))


@renamed(established="baseline")
def compare_without_labels(
    baseline: object,
    candidate: object,
    reference: object,
    *,
    level: float = 0.95,
    classes: Classes = None,
    names: tuple[str, str] = ("baseline", "candidate"),
) -> Decision:
    """Compare two classifiers by their agreement with a third: without labels, under a strong assumption.

    Parameters
    ----------
    baseline, candidate, reference : array-like of shape (n,)
        Predicted classes. The reference must be better than chance, and the three must err independently of each other.
    level, classes, names
        As in :func:`compare`.

    Returns
    -------
    Decision
        Its estimates are agreements with the reference, not accuracies.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Source: Raj, Singh and Baker 2011. McNemar's test on the instances where just one of the two agrees with the
    reference. Real classifiers err on the same instances: with them, this test was wrong in 15 to 34% of comparisons
    that should keep the baseline.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 10, 1000)
    >>> old, new, other = (np.where(rng.random(1000) < p, truth, rng.integers(0, 10, 1000)) for p in (0.6, 0.9, 0.8))
    >>> compare_without_labels(old, new, other).verdict
    'candidate'
    """
    return compare(
        baseline,
        candidate,
        reference,
        method="agreement",
        level=level,
        classes=classes,
        reference=reference,
        names=names,
    )
