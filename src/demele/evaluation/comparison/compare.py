"""Whether a candidate classifier is better than the baseline."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from demele.core.errors import InputError
from demele.core.names import renamed
from demele.core.sentences import setting
from demele.evaluation.comparison.checked_options import ask, two_names
from demele.evaluation.comparison.decision import Decision, decision
from demele.evaluation.expert_errors import ExpertErrors
from demele.evaluation.measures.assess import CLASS_MEASURES
from demele.evaluation.results import OF_POSITIVE, Measure
from demele.labels.cleaned.cleaning import Cleaning
from demele.noise.audit import Audit
from demele.noise.transition import TransitionCounts, TransitionMatrix


@renamed(established="baseline", target="inference")
def compare(
    baseline: object,
    candidate: object,
    labels: object,
    *,
    method: str | None = None,
    measure: Measure | Sequence[Measure] = "accuracy",
    of: object = None,
    positive: object = None,
    noise: float | TransitionMatrix | TransitionCounts | Audit | None = None,
    audit: Audit | None = None,
    level: float = 0.95,
    inference: str | None = None,
    classes: Sequence[object] | None = None,
    true_labels: object = None,
    difficulty: object = None,
    prudence: float | None = None,
    cleaning: Cleaning | None = None,
    reference: object = None,
    exact: bool = False,
    errors: Literal["any", "undirected"] = "any",
    expert_error: float = 0.0,
    expert_errors: ExpertErrors = "adversarial",
    groups: object = None,
    names: tuple[str, str] = ("baseline", "candidate"),
    seed: int = 0,
) -> Decision:
    """Decide whether a candidate classifier is better than an baseline, on labels that may be wrong.

    Parameters
    ----------
    baseline, candidate : array-like of shape (n,)
        Their predicted classes on the same instances.
    labels : array-like of shape (n,)
        The given labels.
    method : str, optional
        See :func:`demele.evaluation.method_names`. By default ``"audit"`` with an audit, else ``"worst-case"`` for the
        accuracy: without knowledge of the noise it takes all labels as correct, ``noise=0``, and is McNemar's exact
        test. For other measures ``"worst-case-overlap"`` with knowledge of the noise, else ``"overlap"``, the overlap
        of two intervals.
    measure : str, or sequence of str
        Of several, the first decides, and ``others`` holds decisions on the others, each at its own level.
        ``"accuracy"``, ``"error"``; ``"precision"``, ``"recall"``, ``"f1"`` of one class, named by ``of``; or of all
        classes ``"macro-f1"``, ``"balanced-accuracy"`` or ``"matthews"`` (correlation), by the methods ``"overlap"``,
        ``"true-labels"``, ``"cleaned"`` and ``"audit"``, the first two also by ``"worst-case-overlap"``.
        Of two classes, one of them ``positive``: ``"sensitivity"``, its recall; ``"PPV"``, its precision;
        ``"specificity"`` and ``"NPV"``, recall and precision of the other class.
    of : class, optional
        Of a precision, recall or F1.
    positive : class, optional
        Of a sensitivity, specificity, PPV or NPV.
    noise : float, TransitionMatrix, TransitionCounts or Audit, optional
        What is known of the label noise: a rate in [0, 1) that it does not exceed, or how classes are mistaken. The
        rate 0 takes all labels as correct.
    audit : Audit, optional
        Expert labels of some rows, and how these were chosen.
    level : float in (0, 1)
        Two-sided: "candidate better" is said wrongly with probability (1 - level) / 2 at most.
    inference : {"population", "test_set", "overlap"}, optional
        Better on new instances (the default), on these instances with right labels, or by so much that the two
        intervals on right labels would not overlap.
    classes : sequence, optional
        All classes; by default those of the labels and the predictions. A note names the classes that no label has.
    true_labels : array-like of shape (n,), optional
        For ``"true-labels"``.
    difficulty : array-like of shape (n,), optional
        For ``"hard-rows"``: larger is harder.
    prudence : float in [0, 1], optional
        For ``"hard-rows"``: the share of hardest instances that is given to the baseline (default 0.1).
    cleaning : Cleaning, optional
        For ``"cleaned"``.
    reference : array-like of shape (n,), optional
        For ``"agreement"``: the predictions of a third classifier.
    exact : bool
        For ``"audit"`` on accuracy: a verdict whose level is a theorem, not only measured, at a price in width. A
        weighted audit must know its ``least_probability``, which :func:`demele.labels.draw_audit` keeps.
    errors : {"any", "undirected"}
        With ``"undirected"``, a uniform audit also gives ``estimate_interval``: narrower than that of the verdict, if
        wrong labels do not side with one of the two classifiers. The verdict is the same.
    expert_error : float in [0, 1]
        Share of the rows on which the two disagree, and of all rows, on which the expert may be wrong; for
        ``"audit"`` and ``"sequential"``, on accuracy. 0 takes the expert for right.
    expert_errors : {"adversarial", "random"}
        Where: wherever it hurts most, or at random whatever the predictions, with any other class alike.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as the patient of each image: numbers or names, at least 10 of them. Claims
        about a population are then about groups to come, with their rows; for ``"overlap"``, ``"true-labels"``,
        ``"worst-case"``, ``"audit"`` and ``"sequential"``. With one row per group nothing changes.
    names : tuple of str
        What to call the two.
    seed : int >= 0
        For what is random in a method.

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
    classes: Sequence[object] | None = None,
    names: tuple[str, str] = ("baseline", "candidate"),
) -> Decision:
    """Compare two classifiers by how often each agrees with a third: no label is needed, a strong assumption is.

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
