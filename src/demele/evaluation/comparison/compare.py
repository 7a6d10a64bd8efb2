"""Whether a candidate classifier is better than the established one."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from demele.core.errors import InputError
from demele.core.labelled import Labelled
from demele.core.results import Interval, Note
from demele.core.sentences import in_code, setting
from demele.core.signature import Signature
from demele.core.version import __version__
from demele.evaluation.comparison.audit_estimate import UNDIRECTED, undirected_interval
from demele.evaluation.comparison.bounded import breakdown
from demele.evaluation.comparison.checked_options import Knowledge, ask, two_names
from demele.evaluation.comparison.methods import MethodSpec
from demele.evaluation.comparison.prospect import prospect
from demele.evaluation.comparison.prudent import DEFAULT_PRUDENCE
from demele.evaluation.comparison.sequential_plan import signs
from demele.evaluation.expert_errors import ExpertErrors, allowed_rows, largest_allowance
from demele.evaluation.intervals import score_interval
from demele.evaluation.measures.audit_plausibility import audit_notes
from demele.evaluation.measures.largest_class import largest_class_notes
from demele.evaluation.question import Outcomes, Question, as_value, sides
from demele.evaluation.results import Breakdown, Decision, Estimate, ExpertBreakdown, Measure, Verdict
from demele.labels.cleaned.cleaning import Cleaning
from demele.noise.audit import Audit
from demele.noise.transition import TransitionCounts, TransitionMatrix, digest

#: Methods that judge by other labels than the given ones (an audit of these would change nothing), or that do not read
#: an audit as a whole (the prospect is of audits of a fixed size).
_NO_PROSPECT = ("reference", "cleaned", "label-free", "audited", "sequential")
#: Methods that look at an audit.
_AUDITED = ("audited", "sequential")


def compare(
    established: object,
    candidate: object,
    labels: object,
    *,
    method: str | None = None,
    measure: Measure = "accuracy",
    of: object = None,
    noise: float | TransitionMatrix | TransitionCounts | Audit | None = None,
    audit: Audit | None = None,
    level: float = 0.95,
    target: str | None = None,
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
    names: tuple[str, str] = ("established", "candidate"),
    seed: int = 0,
) -> Decision:
    """Decide whether a candidate classifier is better than an established one, on labels that may be wrong.

    Parameters
    ----------
    established, candidate : array-like of shape (n,)
        Their predicted classes on the same instances.
    labels : array-like of shape (n,)
        The given labels.
    method : str, optional
        See :func:`demele.evaluation.method_names`. By default the sharpest that the rest allows: ``"audited"`` with an
        audit, else ``"bounded"`` with knowledge of the noise (``"prudent-v1"`` for other measures than accuracy), else
        ``"classic"``, which believes every label.
    measure : {"accuracy", "error", "precision", "recall", "f1"}
        The last three of one class, named by ``of``.
    of : class, optional
    noise : float, TransitionMatrix, TransitionCounts or Audit, optional
        What is known of the label noise: a rate in [0, 1) that it does not exceed, or how classes are mistaken. The
        rate 0 believes every label, as ``"classic"`` does, and is sharper: the test is paired.
    audit : Audit, optional
        Expert labels of some rows, and how these were chosen.
    level : float in (0, 1)
        Two-sided: "candidate better" is said wrongly with probability (1 - level) / 2 at most.
    target : {"population", "sample", "overlap"}, optional
        Better on new instances (the default), on these instances with right labels, or by so much that the two
        intervals on right labels would not overlap.
    classes : sequence, optional
        All classes; by default those of the labels.
    true_labels : array-like of shape (n,), optional
        For ``"reference"``.
    difficulty : array-like of shape (n,), optional
        For ``"prudent-v2"``: larger is harder.
    prudence : float in [0, 1], optional
        For ``"prudent-v2"``: the share of hardest instances that is given to the established one (default 0.1).
    cleaning : Cleaning, optional
        For ``"cleaned"``.
    reference : array-like of shape (n,), optional
        For ``"label-free"``: the predictions of a third classifier.
    exact : bool
        For ``"audited"`` on accuracy: a verdict whose level is a theorem, not only measured, at a price in width. A
        weighted audit must know its ``least_probability``, which :func:`demele.labels.draw_audit` keeps.
    errors : {"any", "undirected"}
        With ``"undirected"``, a uniform audit also gives ``estimate_interval``: narrower than that of the verdict, if
        wrong labels do not side with one of the two classifiers. The verdict is the same.
    expert_error : float in [0, 1]
        Share of the rows on which the two disagree, and of all rows, on which the expert may be wrong; for
        ``"audited"`` and ``"sequential"``, on accuracy. 0 takes the expert for right.
    expert_errors : {"adversarial", "random"}
        Where: wherever it hurts most, or at random whatever the predictions, with any other class alike.
    names : tuple of str
        What to call the two.
    seed : int >= 0
        For what is random in a method.

    Returns
    -------
    Decision
        ``verdict`` is ``"candidate"``, ``"established"`` or ``"undecided"``; ``choice`` keeps the established one
        unless the candidate is shown to be better. Each claim carries the guarantee of the method: "established" is
        what the method says with the roles exchanged.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        For anything that cannot be used; nothing is guessed.

    Notes
    -----
    Source: Benjelloun, section 6.5.4, for the classic and the prudent methods; see each method for the others.

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
    'undecided'
    """
    first, second = two_names(names)
    if method is None and true_labels is not None:
        raise InputError(
            "true_labels",
            "only method 'reference' uses them, and no method was named; "
            f"add {setting(method='reference')}, or drop them",
        )
    knowledge = Knowledge(
        noise=noise,
        audit=audit,
        true_labels=true_labels,
        difficulty=difficulty,
        prudence=prudence,
        cleaning=cleaning,
        reference=reference,
        errors=errors,
        expert_error=expert_error,
        expert_errors=expert_errors,
    )
    spec, question, data = ask(
        {first: established, second: candidate},
        labels,
        [(0, 1)],
        method=method,
        measure=measure,
        of=of,
        level=level,
        target=target,
        classes=classes,
        seed=seed,
        knowledge=knowledge,
        exact=exact,
    )
    return decision(spec, question, spec(question), 0, measure=measure, data=data)


def compare_without_labels(
    established: object,
    candidate: object,
    reference: object,
    *,
    level: float = 0.95,
    classes: Sequence[object] | None = None,
    names: tuple[str, str] = ("established", "candidate"),
) -> Decision:
    """Compare two classifiers by how often each agrees with a third: no label is needed, a strong assumption is.

    Parameters
    ----------
    established, candidate, reference : array-like of shape (n,)
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
    that should keep the established one.

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
        established,
        candidate,
        reference,
        method="label-free",
        level=level,
        classes=classes,
        reference=reference,
        names=names,
    )


def decision(
    spec: MethodSpec, question: Question, outcomes: Outcomes, pair: int, *, measure: str, data: Labelled
) -> Decision:
    """Present what a method says of one pair."""
    models = (int(question.established[pair]), int(question.candidate[pair]))
    won = bool(outcomes.candidate[pair])
    verdict: Verdict = "candidate" if won else "established" if outcomes.established[pair] else "undecided"
    low, high = max(float(outcomes.low[pair]), -1.0), min(float(outcomes.high[pair]), 1.0)
    difference = float(outcomes.difference[pair])
    if measure == "error":
        difference, low, high = -difference, -high, -low
    details: dict[str, Any] = {
        name: values[pair] if isinstance(values, np.ndarray) and values.shape[:1] == (question.n_pairs,) else values
        for name, values in outcomes.details.items()
        if name != "expert_breakdown"
    }
    bears = None
    if question.measure == "accuracy":
        counts = question.counts()
        details = {
            "label_says_established": int(counts.lost[pair]),
            "label_says_candidate": int(counts.won[pair]),
            "label_says_neither": int(counts.neither[pair]),
            "by_class": _by_class(data, *models),
            **details,
        }
        if question.audit is not None and spec.name in _AUDITED and question.audit.design != "selective":
            details["wrong_labels_estimated"] = question.audit.wrong_labels(data.labels)
        if spec.name not in _NO_PROSPECT:
            details["prospect"] = prospect(question, pair)
        if verdict != "undecided":
            bears = Breakdown(labels=int(breakdown(question, spec.name, outcomes=outcomes)[pair]), n=data.n)
    interval = Interval(low=low, high=high, level=question.level, method=outcomes.method, kind=outcomes.kind)
    return Decision(
        verdict=verdict,
        difference=difference,
        interval=interval,
        established=estimate(question, models[0], outcomes.established_interval, pair, outcomes, measure),
        candidate=estimate(question, models[1], outcomes.candidate_interval, pair, outcomes, measure),
        method=spec.name,
        measure=measure,
        of=None if question.of is None else data.vocabulary.classes[question.of],
        target=question.target,
        level=question.level,
        n=data.n,
        names=(data.names[models[0]], data.names[models[1]]),
        estimate_interval=_estimate_interval(question, *models, measure, interval),
        assumptions=outcomes.assumptions,
        p_value=math.nan if outcomes.p_value is None else float(outcomes.p_value[pair]),
        breakdown=bears,
        expert_breakdown=_expert_breakdown(spec, question, outcomes, pair, verdict),
        notes=(
            *outcomes.notes,
            *remarks(spec, question),
            *_open_audit(spec, question, pair, verdict),
            *_paired_notes(spec, question, verdict),
        ),
        details=details,
        signature=signature(spec, question, measure),
    )


def _expert_breakdown(
    spec: MethodSpec, question: Question, outcomes: Outcomes, pair: int, verdict: Verdict
) -> ExpertBreakdown | None:
    """Return how many of the expert's labels may be wrong, wherever they are, while the verdict stands."""
    known = outcomes.details.get("expert_breakdown")
    if known is not None:
        return known if isinstance(known, ExpertBreakdown) else None
    audit = question.audit
    if verdict == "undecided" or spec.name not in _AUDITED or question.measure != "accuracy" or audit is None:
        return None
    # The proved verdict takes the expert for right.
    if question.exact or audit.design == "selective" or (question.expert_error and question.expert_errors == "random"):
        return None
    one = replace(
        question, established=question.established[[pair]], candidate=question.candidate[[pair]], true_labels=None
    )
    disagreements = one.counts().disagreements
    d, n = int(disagreements[0]), question.data.n
    most = max((d - 1) // 2, 0)

    def stands(wrong: int) -> bool:
        asked = spec(replace(one, expert_error=wrong / d, expert_errors="adversarial"))
        return bool((asked.candidate if verdict == "candidate" else asked.established)[0])

    if spec.name == "audited" and question.target != "overlap":
        # The claim is that the interval, without what the expert may have wrong, lies beyond that: no need to ask.
        low = float(outcomes.low[pair] if verdict == "candidate" else -outcomes.high[pair])
        spare = low * n + int(allowed_rows(one, disagreements)[0])

        def stands(wrong: int) -> bool:
            return 2 * wrong < spare - 1e-6

    return ExpertBreakdown(labels=largest_allowance(stands, most), disagreements=d)


def remarks(spec: MethodSpec, question: Question) -> tuple[Note, ...]:
    """Say what the audit found, if it can be a random one; what is not looked at; who is no better than a constant."""
    audit = question.audit
    found: tuple[Note, ...] = ()
    if audit is not None and spec.name in _AUDITED:
        found = (audit.changes(question.data.labels), *audit_notes(question.data, audit))
    by_noise = ("prudent-v1", "bounded", "sequential")
    uses = {
        "noise": (*by_noise, "audited") if audit is not None and audit.design == "selective" else by_noise,
        "audit": _AUDITED,
        "difficulty": ("prudent-v2",),
        "prudence": ("prudent-v2",),
        "suspects": ("cleaned",),
        "reference": ("label-free",),
        "true_labels": ("reference",),
    }
    told = {name: {"suspects": "cleaning"}.get(name, name) for name in uses}
    compared = sorted({*question.established.tolist(), *question.candidate.tolist()})
    alone = replace(
        question.data,
        predictions=question.data.predictions[compared],
        names=tuple(question.data.names[model] for model in compared),
    )
    # Where a third classifier stands for the labels, agreement with it is what is asked, not accuracy.
    weak = () if spec.name == "label-free" else largest_class_notes(alone, level=question.level)
    unused = (
        Note(
            code="unused",
            message=f"method {spec.name!r} does not use {told[name]}; the verdict would be the same without it",
            subject=(told[name],),
            severity="warning",
        )
        for name, methods in uses.items()
        if getattr(question, name) is not None and spec.name not in methods
    )
    return (*found, *weak, *unused)


def _estimate_interval(
    question: Question, established: int, candidate: int, measure: str, verdict: Interval
) -> Interval | None:
    """Return the interval for wrong labels that side with neither classifier, if it was asked for."""
    audit, data = question.audit, question.data
    if question.errors != "undirected" or audit is None:
        return None
    first, second = data.predictions[established], data.predictions[candidate]
    given = signs(first, second, data.labels)
    truth = signs(first[audit.rows], second[audit.rows], audit.labels)
    sampled = question.target != "sample"
    unseen = int(np.count_nonzero(first != second) - np.count_nonzero(first[audit.rows] != second[audit.rows]))
    _, low, high = undirected_interval(
        given, given[audit.rows], truth, level=question.level, sampled=sampled, unseen=unseen
    )
    if measure == "error":
        low, high = -high, -low
    if high - low > verdict.high - verdict.low:  # it assumes more, so it need not say less
        low, high = verdict.low, verdict.high
    kind = "sampling" if sampled else "design"
    return Interval(low=low, high=high, level=question.level, method=UNDIRECTED, kind=kind)


def _open_audit(spec: MethodSpec, question: Question, pair: int, verdict: Verdict) -> tuple[Note, ...]:
    """Say of an open verdict what a uniform audit cannot show, and what a weighted one can."""
    audit = question.audit
    if spec.name != "audited" or verdict != "undecided" or audit is None or audit.design != "uniform":
        return ()
    if audit.k >= audit.n or question.measure != "accuracy":
        return ()
    if question.expert_error and question.expert_errors == "adversarial":
        counts = question.counts()
        leads = np.abs(counts.won[pair] - counts.lost[pair])
        if leads <= allowed_rows(question, counts.disagreements)[pair]:  # no audit shows what the expert may have wrong
            return ()
    least = 2 * (1 - question.tail ** (1 / audit.k))
    message = (
        f"a uniform audit of {audit.k} rows cannot rule out wrong labels that it did not meet: even with none met, the "
        f"difference may be {100 * least:.1f} points smaller than the labels say. A weighted audit of as many rows "
        "leaves less open: draw rows more often where classifiers disagree "
        f"({in_code('demele.labels.draw_audit with doubt=', otherwise='demele audit --doubt')})"
    )
    return (Note(code="weighted-audit", message=message),)


def _paired_notes(spec: MethodSpec, question: Question, verdict: Verdict) -> tuple[Note, ...]:
    """Point from an open verdict of the classic method to the test that believes the labels as much and is sharper."""
    if spec.name != "classic" or verdict != "undecided" or question.measure != "accuracy" or question.noise is not None:
        return ()
    message = (
        f"{setting(noise=0)} believes every label too, and uses that both classifiers saw the same instances: it is "
        "sharper than "
        "the overlap of two intervals"
    )
    return (Note(code="paired-is-sharper", message=message),)


def signature(spec: MethodSpec, question: Question, measure: str) -> Signature:
    """Everything beside the data that changes a decision; arrays that a method looks at by their digest."""
    arguments: dict[str, object] = {"method": spec.name, "measure": measure}
    if question.of is not None:
        arguments["of"] = question.data.vocabulary.classes[question.of]
    arguments |= {"level": question.level, "target": question.target}
    for name in ("noise", "audit", "prudence"):
        if getattr(question, name) is not None:
            arguments[name] = getattr(question, name)
    if spec.name == "prudent-v2":
        arguments.setdefault("prudence", DEFAULT_PRUDENCE)
    if question.exact:
        arguments["exact"] = True
    if question.errors != "any":
        arguments["errors"] = question.errors
    if question.expert_error:
        arguments |= {"expert_error": question.expert_error, "expert_errors": question.expert_errors}
    if question.seed:
        arguments["seed"] = question.seed
    looked_at: dict[str, tuple[str, tuple[object, ...]]] = {
        "prudent-v2": ("difficulty", (question.difficulty,)),
        "cleaned": ("cleaning", (question.suspects, question.suggested)),
        "label-free": ("reference", (question.reference,)),
        "reference": ("true_labels", (question.true_labels,)),
    }
    met = {"n": str(question.data.n)}
    if spec.name in looked_at:
        name, parts = looked_at[spec.name]
        met[name] = digest(*parts)
    if question.exact and question.audit is not None and question.audit.least is not None:
        met["least_probability"] = f"{question.audit.least:.6g}"
    if spec.name == "audited":  # all models of a ranking vote on the true classes, so a pair alone is another question
        met["models"] = str(len(question.data.predictions))
    return Signature("compare", arguments, {**met, "demele": __version__})


def estimate(
    question: Question, model: int, ends: tuple[Any, Any] | None, pair: int, outcomes: Outcomes, measure: str
) -> Estimate:
    """Present the measure of one classifier: apparent, and as a method corrects it."""
    alone = replace(question.data, predictions=question.data.predictions[[model]])
    side = sides(alone, question.measure, question.of)
    low, high = (
        as_value(end, question.measure) for end in score_interval(side.successes, side.trials, level=question.level)
    )
    value, hits = float(as_value(side.proportion, question.measure)[0]), float(side.successes[0])
    apparent = (float(low[0]), float(high[0]))
    corrected = None if ends is None else (float(ends[0][pair]), float(ends[1][pair]))
    if measure == "error":
        value, hits, apparent = 1 - value, question.data.n - hits, (1 - apparent[1], 1 - apparent[0])
        corrected = None if corrected is None else (1 - corrected[1], 1 - corrected[0])
    return Estimate(
        measure=measure,
        of=None if question.of is None else question.data.vocabulary.classes[question.of],
        value=value,
        successes=hits,
        trials=float(side.trials[0]),
        interval=Interval(low=apparent[0], high=apparent[1], level=question.level, method="score"),
        corrected=None
        if corrected is None
        else Interval(
            low=max(corrected[0], 0.0),
            high=min(corrected[1], 1.0),
            level=question.level,
            method=outcomes.method,
            kind=outcomes.kind,
        ),
    )


def _by_class(data: Labelled, established: int, candidate: int) -> tuple[dict[str, Any], ...]:
    """Count the disagreements by given label; classes without one are left out."""
    first, second = data.predictions[established], data.predictions[candidate]
    apart = np.flatnonzero(first != second)
    labels, kinds = data.labels[apart], np.full(apart.size, 2)
    kinds[first[apart] == labels] = 0
    kinds[second[apart] == labels] = 1
    table = np.bincount(3 * labels + kinds, minlength=3 * data.k).reshape(-1, 3)
    return tuple(
        {"class": data.vocabulary.classes[k], "lost": int(lost), "won": int(won), "neither": int(neither)}
        for k, (lost, won, neither) in enumerate(table)
        if lost + won + neither
    )
