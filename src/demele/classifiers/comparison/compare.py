"""Whether a candidate classifier is better than the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from demele.classifiers.comparison.decision import Decision, decision
from demele.classifiers.comparison.methods import METHODS, Agreement, Method, MethodSpec, resolved
from demele.classifiers.measures.assess import CLASS_MEASURES
from demele.classifiers.of_scores import also_of_scores, named
from demele.classifiers.question import OF_NEGATIVE, Inference, Noise, Question, classes_of, read_knowledge
from demele.classifiers.results import Measure
from demele.classifiers.row_groups import read_groups, refuse_whole_groups
from demele.classifiers.table_measures import TABLE_MEASURES, refuse_empty_classes
from demele.core.arrays import Rows
from demele.core.errors import InputError, NotEnoughData, quoted
from demele.core.kinds import Classes, Confidence, Data, OneClass, checked, checked_name, renamed
from demele.core.labelled import Labelled, read_labelled, shown
from demele.core.table_columns import check_same_order
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
    data = read_labelled(models, labels, classes=classes_of(noise, audit, classes), argument=argument)
    words = data.vocabulary
    if isinstance(noise, TransitionCounts | TransitionMatrix):
        noise = noise.ordered(words.classes)
    index = class_asked(data, measure, of, argument)
    if inner in TABLE_MEASURES and spec.name == "audit" and audit is not None and audit.k < LEAST_AUDITED:
        raise NotEnoughData(
            "audit",
            f"{inner} is compared with {LEAST_AUDITED} audited rows or more, got {audit.k}: fewer say too "
            "little of each class; audit more rows, or compare the accuracy",
        )
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
    if question.exact and inner != "accuracy":
        raise InputError("exact", f"is for the accuracy, got {question.measure}")
    if question.expert_error and audit is not None and audit.design == "selective":
        raise InputError(
            "expert_error",
            "only for audits drawn at random; of rows chosen for a reason (design 'selective') the expert's labels are "
            "taken for certain",
        )
    if question.expert_error and inner != "accuracy":
        raise InputError(
            "expert_error",
            f"only for accuracy and error, got {quoted(question.measure)}: all errors may be of one class",
        )
    if question.expert_error and question.exact:
        raise InputError(
            ("expert_error", "exact"), "the proved verdict takes the expert for right; leave one of them out"
        )
    refuse_groups(spec, question)
    if question.clusters is not None and question.audit is not None:
        refuse_whole_groups(question.clusters, question.audit)
    for name, column in {**({} if options is None else vars(options)), "groups": groups}.items():
        check_same_order(column, labels, (name, argument))
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
        raise InputError(
            "measure", f"{measure} is of two classes, got {data.k}; compare whether each is the positive class"
        )
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
        raise InputError(
            ("groups", "inference"),
            "'overlap' compares intervals of independent rows on true labels; the width of those of groups "
            "depends on unknown labels; use `inference='population'`",
        )
    if question.exact and inference == "population":
        raise InputError(
            ("groups", "exact"),
            "no theorem covers the sampling of groups of unequal size; leave one of them out, or ask about these rows "
            "alone, `inference='test_set'`",
        )


#: How two classifiers are named.
NAMES = "pandas.Series(baseline, name=...)"
#: Arguments that are now options of a method, and how they are written.
REPLACED = {
    "positive": "of",
    "difficulty": "method=HardRows(difficulty=...)",
    "prudence": "method=HardRows(prudence=...)",
    "cleaning": "method=Cleaned(...)",
    "reference": "method=Agreement(...)",
    "true_labels": "method=TrueLabels(...)",
    "exact": "method=Audited(exact=...)",
    "expert_error": "method=Audited(expert_error=...)",
    "expert_errors": "method=Audited(expert_errors=...)",
    "seed": "method=Sequential(seed=...)",
}

# Whether a candidate classifier is better than the baseline -----------------------------------------------------------


@also_of_scores
@renamed(established="baseline", target="inference", names=NAMES, **REPLACED)
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
    models, decided = named(baseline, candidate), list[Decision]()
    measures: tuple[Any, ...] = tuple(measure) if several else (measure,)
    for one in measures:
        asked = of if not several or asked_as(one) in CLASS_MEASURES else None  # each takes the class that it is of
        spec, question = ask(
            models, labels, [(0, 1)], method, one, asked, noise, audit, level, inference, classes, groups
        )
        decided.append(decision(spec, question, spec(question), measure=one))
    if not decided:
        raise InputError("measure", "expected a measure or several, got none")
    return replace(decided[0], others=tuple(decided[1:]))
