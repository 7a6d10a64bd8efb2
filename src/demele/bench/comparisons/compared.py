"""The call that measures comparison methods on labels whose noise is known."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Annotated, Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.bench.comparisons.contenders import chosen_contenders
from demele.bench.comparisons.result import Column, MethodComparison, tallied
from demele.bench.comparisons.run import Plan, Version, decided, decisions
from demele.bench.comparisons.setting import REFERENCES, Asked, Contender, MeasureName, Reference
from demele.core.checked_numbers import checked_confidence, is_number
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.given_arrays import items_of
from demele.core.kinds import Classes, Data, Kind, Seed, StorePath, checked, outside_parentheses
from demele.core.labelled import Indices, Labelled, Vocabulary, read_labelled, read_labels, read_models, shown
from demele.core.names import checked_name, renamed
from demele.core.reading import path_of
from demele.core.results import Note
from demele.core.store import Store
from demele.core.version import __version__
from demele.labels.made.noise import NoisyLabels, add_feature_noise, add_uniform_noise
from demele.runtime.sweep import Sweep

__all__ = [
    "NOISE_RATES",
    "check_methods",
    "checked_at",
    "checked_rates",
    "checked_reference",
    "concluded",
    "planned",
    "read_measures",
]

#: Those of the source's figure 6.7.
NOISE_RATES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)

#: What lets a function of the user's be asked for more than accuracy.
_TO_BE_ASKED = (
    "a function compares accuracy only, unless it has a parameter known, which gets the measure, or an "
    "attribute measures"
)
#: Makes labels of a noise rate: (true_labels, rate, seed) -> labels.
NoiseMaker = Callable[[NDArray[Any], float, int], object]
Methods = Annotated[object, Kind("A,B(x=1)", outside_parentheses)]


def _measures(word: str) -> list[str | tuple[str, str]]:
    pairs = [part.partition(":") for part in outside_parentheses(word)]
    lacking = next((name for name, mark, of in pairs if mark and not of.strip()), None)
    if lacking is not None:
        raise InputError(f"expected a class after the colon, such as {lacking}:cat")
    return [(name.strip(), of.strip()) if mark else name.strip() for name, mark, of in pairs]


Measures = Annotated[str | Sequence[str | tuple[str, object]], Kind("M,M:CLASS", _measures)]


@renamed(noise_rates="noise")
@checked
def check_methods(
    predictions: object,
    true_labels: object,
    noise: Sequence[float] = NOISE_RATES,
    methods: Methods = None,
    *,
    kind: Annotated[str | NoiseMaker, Kind("feature|uniform", words=("feature", "uniform"))] = "feature",
    annotations: Data = None,
    legitimacy: object = None,
    measures: Measures = "accuracy",
    reference: Reference = "overlap",
    level: float = 0.95,
    classes: Classes = None,
    at: float | None = None,
    title: str | None = None,
    seed: Seed = 0,
    n_jobs: int = 1,
    executor: Executor | None = None,
    store: StorePath = None,
) -> MethodComparison:
    """Measure the errors of comparison methods on noisy labels, against comparisons on true labels.

    Parameters
    ----------
    predictions : mapping of str to array-like of shape (n,), data frame or array of shape (n, n_models)
        Predicted classes of at least 2 classifiers; all their ordered pairs are compared.
    true_labels : array-like of shape (n,)
        Labels that are taken as true. Noise is added to them.
    noise : sequence of float in [0, 1)
        Shares of wrong labels to make.
    methods : sequence of str and callables, or mapping of name to either, optional
        Methods to compare (default: all of demele). Names such as ``"overlap"`` or ``"audit(labels=250)"``
        (:func:`comparison_methods` lists the usual ones, which are the default), and functions of your own:
        ``(baseline, candidate, labels) -> verdict``, called for every ordered pair with arrays of shape (n,), that
        return ``"baseline"``, ``"candidate"``, ``"inconclusive"``, True for the candidate, or a
        :class:`demele.classifiers.Decision`. A mapping names functions; methods of the library keep their own names. A
        function with a parameter ``known`` is also given the noise rate, the transition counts, the measure and an
        ``expert(rows)``. One without cannot know the measure: it is asked for accuracy only, unless it has an attribute
        ``measures``, such as ``("accuracy", "recall")``; a note says what it was not asked.
    kind : {"feature", "uniform"} or callable
        Noise on hard instances, or on any. ``"feature"``: the instances that ``annotations`` find hardest, as they
        mistake them. ``"uniform"``: any. A callable ``(true_labels, rate, seed) -> labels`` makes any other.
    annotations : array-like of shape (n_annotators, n) or mapping, optional
        Predictions of artificial annotators, who make the noise (default: the classifiers). For ``"feature"``; see
        :func:`demele.labels.artificial_annotators`. If the classifiers themselves annotate, the noise repeats their own
        mistakes: a note says so.
    legitimacy : array-like of shape (n_annotators,), optional
        As in :func:`demele.labels.add_noise`.
    measures : str, or sequence of str and (str, class)
        What is compared: accuracy, or precision, recall or f1 of a class. ``"accuracy"``, ``("precision", cls)``,
        ``("recall", cls)``, ``("f1", cls)``; one or several.
    reference : {"overlap", "paired", "sample"}
        Comparison on true labels that decides which verdicts are errors. Whether the two score intervals overlap, as
        in the source; McNemar's exact test at the level, of accuracy only; or which of the two values is larger on
        these instances.
    level : float in [0.5, 1)
        Level of the intervals whose overlap decides, and of the tests.
    classes : sequence, optional
        All classes (default: those of the true labels).
    at : float, optional
        Noise rate that the table shows (default: 0.05, or the nearest).
    title : str, optional
        Title of the page.
    seed : int >= 0
        Random seed. Of uniform noise, simulated cleanings and audits.
    n_jobs : int, default 1
        Processes, -1 for all processors. Results do not depend on it.
    executor : concurrent.futures.Executor, optional
        Where to work instead.
    store : path, optional
        File that keeps every decision; the same run continues there.

    Returns
    -------
    MethodComparison
        Type I and type II errors and agreement of each method at each rate, with standard errors; matrices; report.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before anything is decided: for rates that cannot be reached (the message says the highest that can), names,
        sizes. Later only if a function of yours fails; what was finished is in ``store``.

    Notes
    -----
    Source: Benjelloun, section 6.5. The reference is the overlap of the two score intervals on true labels. Type I
    error: the candidate is taken, of the pairs where the reference keeps the baseline; type II: the baseline is
    kept, of the pairs where the reference takes the candidate. Standard errors leave out one classifier at a time.

    Interval overlap has little power. A method with more power also selects better candidates whose intervals still
    overlap, and that counts as type I error. ``Tally.reversed`` counts the pairs with opposite claims of method and
    reference; ``reference="sample"`` counts candidates that are not better on these instances.

    Examples
    --------
    >>> import numpy as np
    >>> from demele import bench
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 5, 1000)
    >>> models = {f"m{p}": np.where(rng.random(1000) * 100 < p, truth, (truth + 1) % 5) for p in range(60, 95, 5)}
    >>> found = bench.check_methods(models, truth, [0.05], ["overlap", "worst-case-overlap"])
    >>> found.tally("worst-case-overlap", 0.05).type_1
    0.0
    """
    plan = planned(
        predictions,
        true_labels,
        noise,
        methods,
        kind=kind,
        annotations=annotations,
        legitimacy=legitimacy,
        measures=measures,
        reference=reference,
        level=level,
        classes=classes,
        seed=seed,
    )
    at = checked_at(at, [version.wanted for version in plan.versions])
    path = None if store is None else path_of(store, "store")
    with Sweep(plan.identity, store=path, n_jobs=n_jobs, executor=executor) as sweep:
        sweep.run(decided, plan.tasks(), what="rounds of all pairs to decide")
        return concluded(plan, sweep.records, title=title, at=at)


def planned(
    predictions: object,
    true_labels: object,
    noise: Sequence[float],
    methods: object,
    *,
    kind: str | NoiseMaker,
    annotations: object,
    legitimacy: object,
    measures: str | Sequence[str | tuple[str, object]],
    reference: str,
    level: float,
    classes: Sequence[object] | None,
    seed: int,
) -> Plan:
    """Check everything and make the noisy versions."""
    models = read_models(predictions)
    data = read_labelled(models, true_labels, classes=classes, argument="true_labels")
    if data.k < 2:
        raise NotEnoughData(
            "true_labels", f"expected at least 2 classes, got only {data.vocabulary.classes[0]!r}; give classes=[...]"
        )
    rates = checked_rates(noise)
    contenders, left_out = _able(chosen_contenders(methods), len(data.names), named=methods is not None)
    asked = read_measures(measures, data.vocabulary)
    for one in asked:
        if not any(one.measure in contender.measures for contender in contenders):
            hint = f"; {_TO_BE_ASKED}" if any(contender.own for contender in contenders) else ""
            raise InputError("measures", f"none of the methods compares {one.text}{hint}")
    checked_reference(reference, asked)
    versions, difficulty, notes, told = _versions(data, true_labels, rates, kind, annotations, legitimacy, seed)
    return Plan(
        clean=data,
        versions=versions,
        contenders=contenders,
        asked=asked,
        level=checked_confidence(level),
        difficulty=difficulty,
        seed=seed,
        reference=reference,
        noise=told,
        notes=left_out + _not_asked(contenders, asked) + notes,
    )


def concluded(
    plan: Plan,
    records: Store,
    *,
    title: str | None,
    at: float | None,
    notes: tuple[Note, ...] = (),
    details: Mapping[str, Any] | None = None,
) -> MethodComparison:
    """Count the errors of a finished run; ``notes`` stand before those of the plan."""
    decided, references = decisions(plan, records), plan.references()
    columns = {version.wanted: Column(wanted=version.wanted, rate=version.rate) for version in plan.versions}
    measures = tuple(asked.text for asked in plan.asked)
    tallies = [
        tallied(
            found,
            references[measure],
            len(plan.clean.names),
            method=method,
            measure=measure,
            column=columns[wanted],
        )
        for (wanted, measure, method), found in sorted(decided.items(), key=lambda item: measures.index(item[0][1]))
    ]
    notes += plan.notes
    if plan.reference != "overlap":
        message = f"Verdicts are held against {REFERENCES[plan.reference]}, not the overlap of intervals, as is usual."
        notes = (Note(code="other-reference", message=message, subject=(plan.reference,)), *notes)
    right = plan.clean.predictions == plan.clean.labels
    return MethodComparison(
        names=plan.clean.names,
        accuracies=right.mean(axis=1),
        contenders={contender.name: (contender.title, contender.inputs) for contender in plan.contenders},
        columns=tuple(columns.values()),
        measures=measures,
        tallies=tuple(tallies),
        references=references,
        decided=decided,
        n=plan.clean.n,
        classes=plan.clean.vocabulary.classes,
        level=plan.level,
        seed=plan.seed,
        noise=plan.noise,
        title="Error rates of comparison methods" if title is None else str(title),
        at=at,
        reference=plan.reference,
        version=__version__,
        notes=notes,
        details=details or {},
    )


def _able(
    contenders: tuple[Contender, ...], n_models: int, *, named: bool
) -> tuple[tuple[Contender, ...], tuple[Note, ...]]:
    """Leave out what needs a third classifier where there are two; refuse it if it was asked for by name."""
    if n_models > 2 or all(contender.family != "agreement" for contender in contenders):
        return contenders, ()
    if named:
        raise NotEnoughData(
            "methods",
            f"'agreement' judges each pair by a third classifier, and there are {n_models}; give at least 3 "
            "in predictions, or leave the method out",
        )
    message = "The method agreement is left out: it judges a pair by a third classifier, and there is none."
    kept = tuple(contender for contender in contenders if contender.family != "agreement")
    return kept, (Note(code="method-left-out", message=message, subject=("agreement",)),)


def _not_asked(contenders: tuple[Contender, ...], asked: tuple[Asked, ...]) -> tuple[Note, ...]:
    """Say which functions of the user's are not asked for every measure: they may look at accuracies only."""
    notes = []
    for contender in contenders:
        left = [one.text for one in asked if one.measure not in contender.measures]
        if contender.own and left:
            message = f"The function {contender.name} is not asked for {', '.join(left)}: {_TO_BE_ASKED}."
            notes.append(Note(code="measures-left-out", message=message, subject=(contender.name,)))
    return tuple(notes)


# The noisy versions --------------------------------------------------------------------------------------------------


def _versions(
    data: Labelled,
    true_labels: object,
    rates: tuple[float, ...],
    kind: str | NoiseMaker,
    annotations: object,
    legitimacy: object,
    seed: int,
) -> tuple[tuple[Version, ...], NDArray[np.float64] | None, tuple[Note, ...], str]:
    names = np.array(data.vocabulary.classes, dtype=object)
    truth = read_labels(true_labels, "true_labels")
    if callable(kind):
        made = [_own_noise(kind, truth, rate, seed, data) for rate in rates]
        return tuple(made), None, (), f"own ({getattr(kind, '__name__', 'function')})"
    if not isinstance(kind, str) or kind not in ("feature", "uniform"):
        raise InputError("kind", f"expected 'feature', 'uniform' or a callable, got {quoted(kind)}")
    if kind == "uniform":
        if annotations is not None:
            raise InputError("annotations", "only `kind='feature'` uses them; drop them, or ask for that noise")
        versions = [
            _version(add_uniform_noise(truth, rate, classes=data.vocabulary.classes, seed=seed), rate, data)
            for rate in rates
        ]
        return tuple(versions), None, (), "uniform"
    notes: tuple[Note, ...] = ()
    own = annotations is None
    votes = names[data.predictions] if own else annotations
    if own:
        message = (
            "The classifiers themselves made the noise, without annotations: labels are wrong where many of the "
            "classifiers err."
        )
        notes = (Note(code="classifiers-annotate", message=message, severity="warning"),)
    largest = add_feature_noise(truth, votes, max(rates), legitimacy=legitimacy)
    versions = [
        _version(
            largest if rate == max(rates) else add_feature_noise(truth, votes, rate, legitimacy=legitimacy), rate, data
        )
        for rate in rates
    ]
    return tuple(versions), largest.difficulty, notes, "feature"


def _version(made: NoisyLabels, rate: float, data: Labelled) -> Version:
    coded = data.vocabulary.encode(read_labels(made.labels, "annotations"), "annotations")
    return Version(rate, made.rate, coded)


def _own_noise(kind: NoiseMaker, truth: NDArray[Any], rate: float, seed: int, data: Labelled) -> Version:
    made = kind(truth.copy(), rate, seed)
    labels = read_labels(getattr(made, "labels", made), "kind")
    if labels.size != data.n:
        raise InputError("kind", f"expected {data.n} labels from the function, got {labels.size}")
    coded: Indices = data.vocabulary.encode(labels, "kind")
    return Version(rate, float((coded != data.labels).mean()), coded)


# Arguments -----------------------------------------------------------------------------------------------------------


def checked_reference(reference: Any, asked: Sequence[Asked]) -> None:
    """Refuse another reference than those that there are, or one that cannot compare what is asked.

    Raises
    ------
    InputError, UnknownNameError
    """
    checked_name(reference, "reference", REFERENCES)
    other = [one.text for one in asked if one.measure != "accuracy"]
    if reference == "paired" and other:
        raise InputError("reference", f"'paired' compares accuracies, got {other[0]}; use 'overlap' or 'sample'")


def checked_rates(rates: Any, argument: str = "noise") -> tuple[float, ...]:
    """Return sorted shares of wrong labels, each once.

    Raises
    ------
    InputError, InputTypeError
    """
    if isinstance(rates, bool | str) or not (isinstance(rates, int | float | np.number) or hasattr(rates, "__iter__")):
        raise InputTypeError(argument, f"expected rates in [0, 1), got {quoted(rates)}")
    listed = [rates] if isinstance(rates, int | float | np.number) else list(rates)
    if not listed:
        raise InputError(argument, "expected at least one rate, got none")
    for rate in listed:
        if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not 0 <= rate < 1:
            number = isinstance(rate, int | float) and not isinstance(rate, bool) and 1 <= rate <= 100
            raise InputError(
                argument,
                f"expected shares of the labels in [0, 1), got {quoted(rate)}"
                + (f"; for {rate:g}% write {rate / 100:g}" if number else ""),
            )
    return tuple(sorted({float(rate) for rate in listed}))


def checked_at(at: Any, rates: Sequence[float]) -> float | None:
    """Return the noise rate that the table shows, if it was made.

    Raises
    ------
    InputError
    """
    if at is None or (is_number(at) and any(abs(at - rate) < 1e-12 for rate in rates)):
        return None if at is None else float(at)
    raise InputError("at", f"expected one of the noise rates {', '.join(f'{r:g}' for r in rates)}, got {quoted(at)}")


def read_measures(measures: Any, words: Vocabulary) -> tuple[Asked, ...]:
    """Return what is compared, each once.

    Raises
    ------
    InputError
    """
    single = isinstance(measures, str) or (
        isinstance(measures, tuple)
        and len(measures) == 2
        and isinstance(measures[0], str)
        and measures[0] in get_args(MeasureName)[1:]
    )
    asked: dict[str, Asked] = {}
    for one in [measures] if single else items_of(measures, "measures", "names of measures"):
        name, of = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
        checked_name(name, "measures", get_args(MeasureName))
        if name == "accuracy":
            if of is not None:
                raise InputError("measures", "accuracy is of all classes; leave the class out")
            found = Asked("accuracy", None, "accuracy")
        elif of is None:
            raise InputError(
                "measures",
                f"{name} is of one class; write ({name!r}, CLASS), in a command {name}:CLASS, with CLASS one of "
                f"{shown(words.classes)}",
            )
        else:
            index = words.index(of, "measures")
            found = Asked(name, index, f"{name} of {words.classes[index]}")
        asked[found.text] = found
    if not asked:
        raise InputError("measures", "expected at least one, got none")
    return tuple(asked.values())
