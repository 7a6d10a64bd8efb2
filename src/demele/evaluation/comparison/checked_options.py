"""From what a user gives to a question that methods can answer: all options are checked here, and only here."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count, checked_flag, checked_rate
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.given_arrays import items_of
from demele.core.labelled import Indices, Labelled, read_labelled, shown
from demele.core.names import checked_name
from demele.core.sentences import arg, setting
from demele.core.table_columns import check_same_order, number_column
from demele.evaluation.comparison.methods import METHODS, MethodSpec, resolved
from demele.evaluation.expert_errors import read_expert_error, refuse_without_expert
from demele.evaluation.intervals import checked_confidence
from demele.evaluation.question import (
    OF_NEGATIVE,
    Inference,
    Question,
    classes_of,
    coded_like,
    read_knowledge,
)
from demele.evaluation.results import OF_POSITIVE, Measure
from demele.evaluation.row_groups import Groups, read_groups, refuse_whole_groups
from demele.evaluation.table_measures import TABLE_MEASURES, refuse_empty_classes
from demele.labels.cleaned.cleaning import Cleaning, check_made_from
from demele.noise.audit import Audit
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


def ask(
    models: Mapping[str, object],
    labels: object,
    pairs: Sequence[tuple[int, int]] | NDArray[np.intp],
    *,
    method: str | None,
    measure: str,
    of: object,
    positive: object = None,
    level: float,
    inference: str | None,
    classes: Sequence[object] | None,
    seed: int,
    exact: bool,
    noise: Any,
    audit: Audit | None,
    true_labels: object,
    difficulty: object,
    prudence: float | None,
    cleaning: Cleaning | None,
    reference: object,
    expert_error: float,
    expert_errors: str,
    groups: object,
    errors: str = "any",
) -> tuple[MethodSpec, Question]:
    """Check everything and return the method and its question; documented at :func:`demele.evaluation.compare`."""
    level = checked_confidence(level)
    checked_name(measure, "measure", get_args(Measure))
    if inference is not None:
        checked_name(inference, "inference", get_args(Inference))
    if positive is not None and (of is not None or measure not in OF_POSITIVE):
        raise InputError("positive", f"is for {', '.join(OF_POSITIVE)}; give {arg('of', code='of=')} instead")
    of = of if positive is None else positive
    noise, audit = read_knowledge(noise, audit)
    inner = _ASKED_AS.get(measure, measure)
    if method is None and noise is None and audit is None and inner == "accuracy":
        noise = 0.0
    needed = {"true_labels": true_labels, "cleaning": cleaning, "reference": reference, "noise": noise, "audit": audit}
    if method is None:
        own = {**needed, "difficulty": difficulty, "prudence": prudence}
        # Methods of an option of their own are never chosen for it, since each has an assumption of its own.
        for one in (METHODS["hard-rows"], METHODS["cleaned"], METHODS["agreement"]):
            for name in one.uses:
                if own[name] is not None:
                    add = setting(method=one.name)
                    message = f"only method {one.name!r} uses it, and no method was named; add {add}, or drop it"
                    raise InputError(name, message)
    available = frozenset(name for name, value in needed.items() if value is not None)
    spec = resolved(method, measure=inner, inference=inference, available=available)
    # Compared without labels, the reference stands in their place; messages call it by its name.
    argument = "reference" if labels is not None and labels is reference else "labels"
    data = read_labelled(models, labels, classes=classes_of(noise, audit, classes), argument=argument)
    words = data.vocabulary
    if isinstance(noise, TransitionCounts | TransitionMatrix):
        noise = noise.ordered(words.classes)
    checked_count(seed, "seed", 0)
    if inner == "accuracy" or inner in TABLE_MEASURES:
        if of is not None:
            raise InputError("of", f"{measure} is of all classes; leave it out, or ask for precision, recall or f1")
        index = None
        if inner in TABLE_MEASURES:
            refuse_empty_classes(data, inner, argument)
    elif of is None:
        raise InputError(
            "of", f"{measure} is compared for one class; give {arg('of', code='of=')}, one of {shown(words.classes)}"
        )
    else:
        index = words.index(of, "of" if positive is None else "positive")
        if measure in OF_NEGATIVE:
            if data.k != 2:
                raise InputError(
                    "measure", f"{measure} is of two classes, got {data.k}; compare whether each is the positive class"
                )
            index = 1 - index
    _check_audited(spec, inner, audit, exact=exact, errors=errors)
    share, manner = read_expert_error(expert_error, expert_errors, k=data.k)
    refuse_without_expert(share, spec.name, inner, None if audit is None else audit.design)
    if share and exact:
        raise InputError(
            ("expert_error", "exact"), "the proved verdict takes the expert for right; leave one of them out"
        )
    aim = inference or spec.inferences[0]
    clusters = read_groups(groups, data.n, population=aim == "population")
    refuse_groups(spec, aim, clusters, exact=exact, errors=errors)
    suspects, suggested = _cleaned(cleaning, data)
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
        prudence=None if prudence is None else checked_rate(prudence, "prudence"),
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


def _check_audited(spec: MethodSpec, measure: str, audit: Audit | None, *, exact: Any, errors: Any) -> None:
    """Check what is offered with audits only."""
    checked_flag(exact, "exact")
    checked_name(errors, "errors", ("any", "undirected"))
    if (
        measure in TABLE_MEASURES
        and spec.name == "audit"
        and isinstance(audit, Audit)
        and len(audit.rows) < LEAST_AUDITED
    ):
        raise NotEnoughData(
            "audit",
            f"{measure} is compared with {LEAST_AUDITED} audited rows or more, got {len(audit.rows)}: fewer say too "
            "little of each class; audit more rows, or compare the accuracy",
        )
    if exact and (spec.name != "audit" or measure != "accuracy"):
        what = f"method {spec.name!r}" if spec.name != "audit" else measure
        raise InputError("exact", f"is for the accuracy and method 'audit', got {what}")
    if errors == "undirected" and (
        spec.name not in ("audit", "sequential")
        or measure != "accuracy"
        or getattr(audit, "design", "uniform") != "uniform"
    ):
        raise InputError(
            "errors",
            "'undirected' makes a second interval of a difference of accuracies from a uniform audit; give "
            "such an audit, or leave errors out",
        )


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
            f"depends on unknown labels; use {setting(inference='population')}",
        )
    if exact and inference == "population":
        raise InputError(
            ("groups", "exact"),
            "no theorem covers the sampling of groups of unequal size; leave one of them out, or ask about these rows "
            f"alone, {setting(inference='test_set')}",
        )
    if errors == "undirected" and inference == "population":
        raise InputError(
            ("groups", "errors"), "the interval for 'undirected' errors is for rows apart; leave one of them out"
        )


def two_names(names: Any) -> tuple[str, str]:
    """Check what the baseline classifier and the candidate are called.

    Raises
    ------
    InputError
        If these are not two different names.
    """
    unordered = isinstance(names, set | frozenset | Mapping)
    found = [] if unordered else [str(name) for name in items_of(names, "names", "two different names")]
    if len(found) != 2 or found[0] == found[1]:
        raise InputError("names", f"expected two different names, got {quoted(names)}")
    return found[0], found[1]


def _cleaned(cleaning: Any, data: Labelled) -> tuple[NDArray[np.bool_] | None, Indices | None]:
    if cleaning is None:
        return None, None
    if not isinstance(cleaning, Cleaning):
        raise InputTypeError(
            "cleaning", f"expected a Cleaning, got {type(cleaning).__name__}; wrap flags of suspects in Cleaning(flags)"
        )
    suspects = np.asarray(cleaning.suspect)
    if suspects.shape != (data.n,) or suspects.dtype != bool:
        raise InputError("cleaning", f"expected {data.n} flags, one per label, got shape {suspects.shape}")
    names = data.vocabulary.classes
    kind = np.int64 if isinstance(names[0], int) else object
    check_made_from(cleaning, np.array(names, dtype=kind)[data.labels], "labels")
    return suspects, coded_like(cleaning.suggested, data, "cleaning.suggested")
