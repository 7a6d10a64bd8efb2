"""Whether a candidate classifier is better than the baseline."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from demele.core.errors import InputError
from demele.core.kinds import Classes, Data, OneClass
from demele.core.names import renamed
from demele.core.sentences import setting
from demele.evaluation.comparison.checked_options import ask, two_names
from demele.evaluation.comparison.decision import Decision, decision
from demele.evaluation.expert_errors import ExpertErrors
from demele.evaluation.measures.assess import CLASS_MEASURES
from demele.evaluation.question import Noise
from demele.evaluation.results import OF_POSITIVE, Measure
from demele.labels.cleaned.cleaning import CleaningData
from demele.noise.audit import AuditData


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

    Parameters
    ----------
    baseline, candidate : array-like of shape (n,)
        Their predicted classes on the same instances.
    labels : array-like of shape (n,)
        The given labels.
    method : str, optional
        Comparison method (default: the most powerful one that applies). See
        :func:`demele.evaluation.method_names`. ``"audit"`` with an audit, else ``"worst-case"`` for the
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
    """
    options = dict(locals())
    for name in ("baseline", "candidate", "labels", "measure", "names"):
        del options[name]
    first, second = two_names(names)
    if method is None and true_labels is not None:
        raise InputError(
            "true_labels",
            "only method 'true-labels' uses them, and no method was named; "
            f"add {setting(method='true-labels')}, or drop them",
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
