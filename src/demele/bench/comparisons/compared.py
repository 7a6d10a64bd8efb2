"""Comparison methods measured on labels whose noise is known: the call, its plan and rounds, and the experiment."""

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, get_args

import numpy as np

from demele.bench.comparisons import contenders
from demele.bench.comparisons.result import MethodComparison, NoiseRate, tallied
from demele.core import kinds
from demele.core.arrays import Array, Floats, rng_for
from demele.core.errors import FormatError, InputError, NotEnoughData, quoted
from demele.core.inputs import read_codes
from demele.core.labelled import (
    Indices,
    Labelled,
    Vocabulary,
    read_labelled,
    read_labels,
    read_models,
    shown,
    vocabulary,
)
from demele.core.result import Note
from demele.core.signature import fingerprint
from demele.core.store import Key, Store, packed_classes, reading_record, unpacked_classes
from demele.core.table_columns import check_same_order, items_of
from demele.core.version import __version__
from demele.labels.cleaned.filters import dealt
from demele.labels.made.annotators import artificial_annotators
from demele.labels.made.noise import add_feature_noise, add_uniform_noise
from demele.noise.transition import digest
from demele.runtime.sweep import Record, Sweep, Task
from demele.runtime.work import reported_to

#: Those of the source's figure 6.7.
NOISE_RATES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
#: What lets a function of the user's be asked for more than accuracy.
_TO_BE_ASKED = (
    "a function compares accuracy only, unless it has a parameter known, which gets the measure, or an "
    "attribute measures"
)


# Arguments ------------------------------------------------------------------------------------------------------------


def checked_rates(rates: Any, argument: str = "noise") -> tuple[float, ...]:
    """Return sorted shares of wrong labels, each once.

    Raises
    ------
    InputError, InputTypeError
    """
    listed = [rates] if kinds.is_number(rates) else items_of(rates, argument, "rates in [0, 1)")
    if not listed:
        raise InputError(argument, "expected at least one rate, got none")
    known = (kinds.checked_rate(rate, argument, "the labels") for rate in listed)
    return tuple(sorted({kinds.checked_share(rate, argument, 0, 1, "[)") for rate in known}))


def _measures(word: str) -> list[str | tuple[str, str]]:
    pairs = [part.partition(":") for part in kinds.outside_parentheses(word)]
    lacking = next((name for name, mark, of in pairs if mark and not of.strip()), None)
    if lacking is not None:
        raise InputError(f"expected a class after the colon, such as {lacking}:cat")
    return [(name.strip(), of.strip()) if mark else name.strip() for name, mark, of in pairs]


#: Makes labels of a noise rate: (true_labels, rate, seed) -> labels.
NoiseMaker = Callable[[Array, float, int], object]
Methods = Annotated[object, kinds.Kind("A,B(x=1)", kinds.outside_parentheses)]
Measures = Annotated[str | Sequence[str | tuple[str, object]], kinds.Kind("M,M:CLASS", _measures)]
Rates = Annotated[
    Sequence[float], kinds.Kind("X,X", lambda word: list(map(kinds.number, kinds.names_in(word))), check=checked_rates)
]


def checked_at(at: Any, rates: Sequence[float]) -> float | None:
    """Return the noise rate that the table shows, if it was made.

    Raises
    ------
    InputError
    """
    if at is None or (kinds.is_number(at) and any(abs(at - rate) < 1e-12 for rate in rates)):
        return None if at is None else float(at)
    raise InputError("at", f"expected one of the noise rates {', '.join(f'{r:g}' for r in rates)}, got {quoted(at)}")


def read_measures(measures: Any, words: Vocabulary, reference: str) -> tuple[contenders.Asked, ...]:
    """Return what is compared, each once, if the reference can compare it.

    Raises
    ------
    InputError
    """
    every = get_args(contenders.MeasureName)
    single = isinstance(measures, str) or (
        isinstance(measures, tuple) and len(measures) == 2 and measures[0] in every[1:]
    )
    asked: dict[str, contenders.Asked] = {}
    for one in [measures] if single else items_of(measures, "measures", "names of measures"):
        name, of = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
        if kinds.checked_name(name, "measures", every) == "accuracy":
            if of is not None:
                raise InputError("measures", "accuracy is of all classes; leave the class out")
            found = contenders.Asked("accuracy", None, "accuracy")
        elif of is None:
            how = f"write ({name!r}, CLASS), in a command {name}:CLASS, with CLASS one of {shown(words.classes)}"
            raise InputError("measures", f"{name} is of one class; {how}")
        else:
            index = words.index(of, "measures")
            found = contenders.Asked(name, index, f"{name} of {words.classes[index]}")
        asked[found.text] = found
    if not asked:
        raise InputError("measures", "expected at least one, got none")
    other = [text for text in asked if text != "accuracy"]
    if reference == "paired" and other:
        raise InputError("reference", f"'paired' compares accuracies, got {other[0]}; use 'overlap' or 'sample'")
    return tuple(asked.values())


# The call -------------------------------------------------------------------------------------------------------------


@kinds.checked
def check_methods(
    predictions: object,
    true_labels: object,
    noise: Rates = NOISE_RATES,
    methods: Methods = None,
    *,
    kind: Annotated[str | NoiseMaker, kinds.Kind("feature|uniform", words=("feature", "uniform"))] = "feature",
    annotations: kinds.Data = None,
    legitimacy: object = None,
    measures: Measures = "accuracy",
    reference: contenders.Reference = "overlap",
    level: kinds.Confidence = 0.95,
    classes: kinds.Classes = None,
    at: float | None = None,
    title: str | None = None,
    seed: kinds.Seed = 0,
    n_jobs: int = 1,
    executor: Executor | None = None,
    store: kinds.StorePath = None,
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
    models = read_models(predictions)
    data = read_labelled(models, true_labels, classes=classes, argument="true_labels")
    if data.k < 2:
        raise NotEnoughData(
            "true_labels", f"expected at least 2 classes, got only {data.vocabulary.classes[0]!r}; give classes=[...]"
        )
    asked = read_measures(measures, data.vocabulary, reference)
    notes = []
    if kind == "feature" and annotations is None:
        annotations = np.array(data.vocabulary.classes, dtype=object)[data.predictions]
        message = (
            "The classifiers themselves made the noise, without annotations: labels are wrong where many of the "
            "classifiers err."
        )
        notes.append(Note(code="classifiers-annotate", message=message, severity="warning"))
    if not callable(kind) and kind not in ("feature", "uniform"):
        raise InputError("kind", f"expected 'feature', 'uniform' or a callable, got {quoted(kind)}")
    if kind == "uniform" and annotations is not None:
        raise InputError("annotations", "only `kind='feature'` uses them; drop them, or ask for that noise")
    given = read_labels(true_labels, "true_labels")

    def noisy(rate: float) -> Any:
        if callable(kind):
            return kind(given.copy(), rate, seed)
        if kind == "feature":
            return add_feature_noise(given, annotations, rate, legitimacy=legitimacy)
        return add_uniform_noise(given, rate, classes=data.vocabulary.classes, seed=seed)

    named = f"own ({getattr(kind, '__name__', 'function')})" if callable(kind) else kind
    plan = Plan(data, noisy, noise, methods, asked, kind=named, reference=reference, level=level, seed=seed)
    at = checked_at(at, noise)
    with Sweep(plan.identity, store=store, n_jobs=n_jobs, executor=executor) as sweep:
        sweep.run(decided, plan.tasks(), what="rounds of all pairs to decide")
        found = concluded(plan, sweep.records, title or "Error rates of comparison methods", at)
        return replace(found, notes=(*found.notes, *notes))


# The plan -------------------------------------------------------------------------------------------------------------


class Plan:
    """Everything that a run is to decide: its methods and the noisy versions; notes say what is left out.

    Parameters
    ----------
    clean : Labelled
    noisy : callable
        Makes the labels of a rate, or what has labels; called when everything else is right.
    rates : sequence of float
    methods : object
        As of :func:`check_methods`.
    asked : tuple of Asked
    kind : str
        Of the noise; "feature" ranks the instances by their difficulty.
    """

    def __init__(
        self,
        clean: Labelled,
        noisy: Callable[[float], Any],
        rates: Iterable[float],
        methods: object,
        asked: tuple[contenders.Asked, ...],
        *,
        kind: str,
        reference: str,
        level: float,
        seed: int,
    ) -> None:
        self.clean, self.asked, self.kind = clean, asked, kind
        self.reference, self.level, self.seed = reference, level, seed
        entrants, notes = contenders.chosen_contenders(methods), list[Note]()
        if len(clean.names) == 2 and any(contender.family == "agreement" for contender in entrants):
            if methods is not None:
                problem = f"'agreement' judges each pair by a third classifier, and there are {len(clean.names)}"
                raise NotEnoughData("methods", f"{problem}; give at least 3 in predictions, or leave the method out")
            message = "The method agreement is left out: it judges a pair by a third classifier, and there is none."
            notes.append(Note(code="method-left-out", message=message, subject=("agreement",)))
            entrants = tuple(contender for contender in entrants if contender.family != "agreement")
        own = [contender for contender in entrants if contender.function]
        for one in asked:
            if not any(one.measure in contender.measures for contender in entrants):
                hint = f"; {_TO_BE_ASKED}" if own else ""
                raise InputError("measures", f"none of the methods compares {one.text}{hint}")
        for contender in own:
            if left := [one.text for one in asked if one.measure not in contender.measures]:
                message = f"The function {contender.name} is not asked for {', '.join(left)}: {_TO_BE_ASKED}."
                notes.append(Note(code="measures-left-out", message=message, subject=(contender.name,)))
        made = {rate: noisy(rate) for rate in rates}
        self.difficulty: Floats | None = made[max(made)].difficulty if kind == "feature" else None
        self.versions: dict[NoiseRate, Indices] = {}
        for rate, one in made.items():
            labels = read_labels(getattr(one, "labels", one), "kind")
            if labels.size != clean.n:
                raise InputError("kind", f"expected {clean.n} labels from the function, got {labels.size}")
            coded = clean.vocabulary.encode(labels, "kind")
            self.versions[NoiseRate(wanted=rate, rate=float((coded != clean.labels).mean()))] = coded
        self.contenders, self.notes = entrants, tuple(notes)

    def setting(self, labels: Indices, rate: float, asked: contenders.Asked) -> contenders.Setting:
        """Return one noisy version of the labels, asked for one measure."""
        return contenders.Setting(
            data=self.clean.relabelled(labels),
            true_labels=self.clean.labels,
            rate=rate,
            asked=asked,
            level=self.level,
            difficulty=self.difficulty,
            seed=self.seed,
        )

    def rounds(self) -> list[tuple[NoiseRate, contenders.Asked, contenders.Contender]]:
        """Return the rounds of the run: one method, asked about all pairs, at one noise rate, for one measure."""
        every = itertools.product(self.versions, self.asked, self.contenders)
        return [one for one in every if one[1].measure in one[2].measures]

    def tasks(self) -> list[Task[tuple[contenders.Setting, contenders.Contender]]]:
        """Return the rounds as tasks; those at one noise rate, for one measure, share a setting."""
        every = itertools.product(self.versions.items(), self.asked)
        settings = {(noise, asked): self.setting(labels, noise.rate, asked) for (noise, labels), asked in every}
        tasks = []
        for noise, asked, contender in self.rounds():
            key, label = decision_key(noise, asked, contender), f"{contender.name} at {noise.wanted:.3g} noise"
            tasks.append(Task(key=key, about=(settings[noise, asked], contender), label=label))
        return tasks

    @property
    def identity(self) -> dict[str, str | int]:
        """What all records of the run have in common: a store of another identity is not of this run.

        What verdicts are held against is not part of it: no verdict depends on that.
        """
        difficulty = np.empty(0) if self.difficulty is None else self.difficulty
        return {
            "demele": __version__,
            "run": "comparisons",
            "predictions": digest(self.clean.predictions),
            "true_labels": digest(self.clean.labels),
            "noise": digest(*self.versions.values(), difficulty),
            "level": repr(self.level),
            "seed": self.seed,
        }


# Its rounds -----------------------------------------------------------------------------------------------------------


def decision_key(noise: NoiseRate, asked: contenders.Asked, contender: contenders.Contender) -> Key:
    """Return what a decision is kept under; that of a user's method changes with its code."""
    own = f"@{fingerprint(contender.function)}" if contender.function else ""
    return ("decided", repr(noise.wanted), asked.text, f"{contender.name}{own}")


def decided(rounds: tuple[tuple[contenders.Setting, contenders.Contender], ...]) -> list[Record]:
    """Ask methods about all pairs, and return what is kept of what they say."""
    records = []
    for setting, contender in rounds:
        started = time.perf_counter()
        found = contender.decide(setting)
        better = np.select([found.candidate, found.baseline], [1, 2])
        seconds = round(time.perf_counter() - started, 3)
        records.append({"better": packed_classes(better), "labels_asked": found.labels_asked, "seconds": seconds})
    return records


def concluded(plan: Plan, records: Store, title: str, at: float | None) -> MethodComparison:
    """Count the errors of a finished run."""
    clean = {asked.text: plan.setting(plan.clean.labels, 0.0, asked) for asked in plan.asked}
    references = {measure: contenders.reference_choice(one, plan.reference) for measure, one in clean.items()}
    measures, m = tuple(references), len(plan.clean.names)
    decided: dict[tuple[float, str, str], contenders.Decided] = {}
    tallies = []
    for noise, asked, contender in sorted(plan.rounds(), key=lambda one: measures.index(one[1].text)):
        key, measure, method = decision_key(noise, asked, contender), asked.text, contender.name
        record = records[key]
        with reading_record(key):
            labels, better = record["labels_asked"], unpacked_classes(record["better"], m * (m - 1))
            if not kinds.is_number(labels) or not np.isin(better, (0, 1, 2)).all():
                raise FormatError(f"its labels_asked are {quoted(labels)}, or a pair has another verdict than three")
        found = decided[noise.wanted, measure, method] = contenders.Decided(better == 1, better == 2, labels)
        tallies.append(tallied(found, references[measure], m, method=method, measure=measure, column=noise))
    notes = plan.notes
    if plan.reference != "overlap":
        held = contenders.REFERENCES[plan.reference]
        message = f"Verdicts are held against {held}, not the overlap of intervals, as is usual."
        notes = (Note(code="other-reference", message=message, subject=(plan.reference,)), *notes)
    right = plan.clean.predictions == plan.clean.labels
    return MethodComparison(
        names=plan.clean.names,
        accuracies=right.mean(axis=1),
        contenders={contender.name: (contender.title, contender.inputs) for contender in plan.contenders},
        columns=tuple(plan.versions),
        measures=measures,
        tallies=tuple(tallies),
        references=references,
        decided=decided,
        n=plan.clean.n,
        classes=plan.clean.vocabulary.classes,
        level=plan.level,
        seed=plan.seed,
        noise=plan.kind,
        title=title,
        at=at,
        reference=plan.reference,
        version=__version__,
        notes=notes,
    )


# The whole experiment: artificial annotators, nested noisy versions, varied classifiers, every method -----------------

#: A first look, of less than a minute on digits: arguments of this, and of :func:`check_methods`.
FIRST_LOOK: Mapping[str, Any] = {
    "noise": [0.05, 0.1],
    "methods": ["overlap", "worst-case-overlap", "hard-rows", "worst-case", "audit", "sequential"],
    "n_classifiers": 20,
    "n_candidates": 40,
    "n_annotators": 30,
}

#: On labels of these rates the source's classifiers were trained.
TRAINING_RATES = (0.01, 0.05, 0.1, 0.2, 0.3)
#: Parts of the whole progress, about.
ANNOTATORS, CLASSIFIERS, DECISIONS = (0.0, 0.1), (0.1, 0.75), (0.75, 1.0)


@kinds.checked
def noise_experiment(
    features: kinds.Data = None,
    y: object = None,
    *,
    noise: Rates = NOISE_RATES,
    methods: Methods = None,
    measures: Measures | None = None,
    reference: contenders.Reference = "overlap",
    n_classifiers: kinds.Several = 100,
    n_candidates: kinds.Several = 400,
    n_annotators: kinds.Count = 100,
    accuracies: tuple[float, float] = (0.55, 0.9),
    training_rates: Rates = TRAINING_RATES,
    selection_rate: float = 0.05,
    folds: kinds.Several = 5,
    level: kinds.Confidence = 0.95,
    at: float | None = None,
    title: str | None = None,
    seed: kinds.Seed = 0,
    n_jobs: int = 1,
    executor: Executor | None = None,
    store: kinds.StorePath = None,
) -> MethodComparison:
    """Run the whole experiment on a data set: make realistic noise and varied classifiers, and compare them by all.

    Parameters
    ----------
    features : array-like of shape (n, d), optional
        Features, from which noise and classifiers are made (default: digits). Finite numbers. Without features and
        ``y``: scikit-learn's digits (1 797 images of 8 x 8, 10 classes).
    y : array-like of shape (n,), optional
        Classes, taken as true.
    noise, methods, reference, level, at, title, executor
        As in :func:`check_methods`.
    measures : as in :func:`check_methods`, optional
        By default accuracy, and, unless the reference is ``"paired"``, precision and recall of the first class.
    n_classifiers : int, default 100
        Classifiers to compare. At least 2; all ordered pairs are.
    n_candidates : int, default 400
        Classifiers to train, from which these are chosen. For their variety.
    n_annotators : int, default 100
        Artificial annotators that make the noise.
    accuracies : (low, high), default (0.55, 0.9)
        Classifiers are chosen among those whose accuracy on true labels lies here, as the source's did. If fewer than
        ``n_classifiers`` do, those nearest to it join, and a note says so.
    training_rates : sequence of float
        Noise rates of the labels that classifiers are trained on. In turn.
    selection_rate : float, default 0.05
        Noise rate of the labels that the choice looks at. On them the indicators F_c, F_n, F_r are counted.
    folds : int, default 5
        Folds for predictions out of fold. Every instance is a test instance.
    seed : int >= 0
        Random seed. Everything drawn depends on it alone.
    n_jobs : int, default 1
        Processes, -1 for all processors. Results do not depend on it.
    store : path, optional
        File that keeps what is finished; the same run continues there.

    Returns
    -------
    MethodComparison
        Its ``details`` say what was trained and chosen.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
        Before anything is trained, except for noise rates that the annotators turn out not to reach.

    Notes
    -----
    Source: Benjelloun, section 6.5. Differences: small models of scikit-learn instead of convolutional neural fabrics;
    predictions out of fold over all instances instead of one split, so that the test set has the size of the data set;
    indicators at 5% instead of 1% noise, because 1% of 1,797 instances is one or two wrong labels per class.

    Examples
    --------
    >>> import numpy as np
    >>> from demele import bench
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> found = bench.noise_experiment(
    ...     iris.data, iris.target, noise=[0.05], methods=["overlap", "worst-case-overlap"], measures="accuracy",
    ...     n_classifiers=4, n_candidates=8, n_annotators=12, training_rates=[0.05], folds=3,
    ... )
    >>> len(found.names), found.tally("worst-case-overlap", 0.05).n_type_1, found.indicators.shape
    (4, 0, (4, 9))
    """
    name, table, labels = _read(features, y)
    words = vocabulary(labels)
    if len(words) < 2:
        raise NotEnoughData("y", f"expected at least 2 classes, got only {words.classes[0]!r}")
    low, high = kinds.checked_pair(accuracies, "accuracies", "a share in [0, 1]", inside=lambda one: 0 <= one <= 1)
    if low >= high:
        raise InputError("accuracies", f"expected 0 <= low < high <= 1, got {(low, high)}")
    if n_candidates < n_classifiers:
        raise InputError("n_candidates", f"expected at least `n_classifiers`, {n_classifiers}, got {n_candidates}")
    if folds > labels.size:
        raise InputError("folds", f"expected at most one per instance, {labels.size}, got {folds}")
    at = checked_at(at, noise)
    entrants = contenders.chosen_contenders(methods)
    first = words.classes[0]
    usual = ["accuracy"] if reference == "paired" else ["accuracy", ("precision", first), ("recall", first)]
    asked = read_measures(usual if measures is None else measures, words, reference)
    coded, k = words.encode(labels, "y"), len(words)
    selected = checked_rates(selection_rate, "selection_rate")[0]

    def noisy(rate: float) -> Indices:
        """Return the class numbers of labels that are wrong at a rate."""
        return words.encode(read_labels(add_feature_noise(labels, annotations, rate).labels, "labels"), "labels")

    identity: dict[str, str | int] = {
        "demele": __version__,
        "run": "noise experiment",
        "data": digest(table, coded, [*words.classes]),
        "n_classifiers": n_classifiers,
        "n_candidates": n_candidates,
        "n_annotators": n_annotators,
        "folds": folds,
        "seed": seed,
        "selection_rate": repr(selected),
        "level": repr(level),
        "training_rates": repr(tuple(training_rates)),
        "accuracies": repr((low, high)),
    }  # methods, measures and noise rates may be added to a run later
    with Sweep(identity, store=store, n_jobs=n_jobs, executor=executor) as sweep:
        annotators, errors = _annotators(sweep, table, coded, k, n_annotators, seed)
        annotations = np.array(words.classes, dtype=labels.dtype)[annotators]
        # the rates that the annotators reach; other rates than those of training are refused beyond
        reachable = float((annotations != labels).any(axis=0).mean())
        for argument, wanted in (("noise", max(noise)), ("selection_rate", selected)):
            if round(wanted * labels.size) > round(reachable * labels.size):
                highest = f"expected at most {reachable:g}, the highest rate that these annotators reach"
                raise InputError(argument, f"{highest}, got {wanted:g}")
        versions = {rate: noisy(rate) for rate in training_rates if rate <= reachable}
        if not versions:
            lowest = f"the lowest is {min(training_rates):g}, and the annotators reach {reachable:g}"
            raise InputError("training_rates", lowest)
        parts = dealt(coded, folds, rng_for(seed, "experiment", "folds"))
        models = _classifiers(sweep, table, versions, parts, k, n_candidates, seed)
        # classifiers of the accuracies wanted, or those nearest to them, whose indicators are spread wide
        every = np.stack([predicted for _, _, predicted in models])
        accuracy = (every == coded).mean(axis=1)
        outside = np.maximum(low - accuracy, accuracy - high)
        within = int(np.count_nonzero(outside <= 0))
        nearest = np.argsort(np.maximum(outside, 0.0), kind="stable")
        eligible = np.sort(nearest[: max(within, n_classifiers)])
        found = contenders.indicators(every[eligible], noisy(selected), coded, k)
        places = np.sort(contenders.select_varied(found, n_classifiers, seed=seed))
        chosen = eligible[places]
        if chosen.size < 2:
            raise NotEnoughData("n_candidates", "fewer than 2 of the classifiers differ; train more of them")
        plan = Plan(
            Labelled(
                names=tuple(f"{index}: {models[index][0]}" for index in chosen),
                vocabulary=words,
                labels=coded,
                predictions=every[chosen],
            ),
            lambda rate: add_feature_noise(labels, annotations, rate),
            noise,
            entrants,
            asked,
            kind="feature",
            reference=reference,
            level=level,
            seed=seed,
        )
        sweep.run(decided, plan.tasks(), what="rounds of all pairs to decide", share=DECISIONS)
        trained = [models[index][1] for index in chosen]
        details = {
            "data": name,
            "instances": labels.size,
            "features": table.shape[1],
            "annotators": len(errors),
            "errors of the annotators": f"{min(errors):.3f} to {max(errors):.3f}",
            "classifiers trained": len(models),
            "classifiers chosen": len(chosen),
            "chosen, by the noise they were trained on": {
                f"{rate:g}": trained.count(rate) for rate in sorted({rate for _, rate, _ in models})
            },
            "folds": folds,
            "noise of the labels that the choice looked at": selected,
        }
        remarks = {}
        if beyond := ", ".join(f"{rate:g}" for rate in training_rates if rate > reachable):
            reached = f"the annotators reach {reachable:.4g}"
            remarks["training-rates-left-out"] = f"No classifier was trained at a noise rate of {beyond}: {reached}."
        if within < n_classifiers:
            inside = f"Only {within} of {len(models)} classifiers have an accuracy from {low:g} to {high:g}"
            remarks["accuracies-outside"] = f"{inside}; those nearest to it take part too."
        if chosen.size < n_classifiers:
            fewer = f"{chosen.size} of {n_classifiers} classifiers: the others do as one of these does."
            remarks["few-classifiers"] = fewer
        notes = tuple(Note(code=code, message=text, severity="warning") for code, text in remarks.items())
        title = title or f"Which comparison methods can be believed? {name}"
        result = concluded(plan, sweep.records, title, at)
        return replace(result, notes=(*notes, *result.notes), details=details, indicators=found[places])


def _read(features: object, y: object) -> tuple[str, Floats, Array]:
    """Return the name of the data, the features and the true classes."""
    if (features is None) != (y is None):
        missing, given = ("features", "y") if features is None else ("y", "features")
        raise InputError(missing, f"expected with `{given}`; without both, the experiment is run on digits")
    name = "Your data"
    if features is None:
        from sklearn.datasets import load_digits

        features, y = load_digits(return_X_y=True)
        name = "scikit-learn's digits"
    table, labels = read_codes(features, "features"), read_labels(y, "y")
    if table.n != labels.size:
        problem = f"expected the same number of rows, got {table.n} and {labels.size}"
        raise InputError(("features", "y"), f"{problem}; row r of both must be the same instance")
    check_same_order(features, y, ("features", "y"))
    return name, table.dense(), labels


# Stages --------------------------------------------------------------------------------------------------------------


def _annotators(
    sweep: Sweep, table: Floats, coded: Indices, k: int, n_annotators: int, seed: int
) -> tuple[Indices, list[float]]:
    """Return what artificial annotators take every instance for, and their errors."""
    key: Key = ("annotators",)
    if key not in sweep.records:
        drawn: dict[str, Any] = {"n_annotators": n_annotators, "seed": seed, "n_jobs": sweep.n_jobs}
        with reported_to(sweep.reporter(ANNOTATORS)):
            found = artificial_annotators(table, coded, **drawn)
        predictions = [packed_classes(row.astype(np.int32)) for row in found.predictions]
        sweep.records.append([(key, {"predictions": predictions, "errors": found.errors.tolist()})])
    stored = sweep.records[key]
    with reading_record(key):
        votes = np.stack([_unpacked(text, coded.size, k) for text in stored["predictions"]])
        return votes, np.asarray(stored["errors"], dtype=np.float64).tolist()


def _classifiers(
    sweep: Sweep, table: Floats, versions: Mapping[float, Indices], folds: Indices, k: int, n: int, seed: int
) -> list[tuple[str, float, Indices]]:
    """Train classifiers that the store does not hold yet; return their names, noise rates of training, predictions."""
    rates = list(versions)
    tasks = [
        Task(key=("classifier", index), about=(index, rates[index % len(rates)]), label=f"classifier {index} trained")
        for index in range(n)
    ]
    train = partial(_trained, table, dict(versions), folds, seed)
    sweep.run(train, tasks, what="classifiers to train", share=CLASSIFIERS)
    found = []
    for task in tasks:
        record = sweep.records[task.key]
        with reading_record(task.key):
            predictions = _unpacked(record["predictions"], folds.size, k)
            found.append((str(record["name"]), float(record["trained_on"]), predictions))
    return found


def _unpacked(text: str, n: int, k: int) -> Indices:
    """Return predictions of a record."""
    found = unpacked_classes(text, n)
    if not ((found >= 0) & (found < k)).all():
        raise FormatError("predictions are none of the classes")
    return found


def _trained(
    features: Floats,
    versions: Mapping[float, Indices],
    folds: Indices,
    seed: int,
    candidates: tuple[tuple[int, float], ...],
) -> list[Record]:
    records = []
    for index, rate in candidates:
        name, predictions = contenders.candidate_classifier(features, versions[rate], folds, seed, index)
        records.append({"name": name, "trained_on": rate, "predictions": packed_classes(predictions)})
    return records
