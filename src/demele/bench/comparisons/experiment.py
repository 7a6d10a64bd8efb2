"""The whole experiment: artificial annotators, nested noisy versions, varied classifiers, every comparison method."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.bench.classifiers import apart, candidate_classifier, indicators, select_varied
from demele.bench.comparisons.compared import (
    NOISE_RATES,
    Measures,
    Methods,
    checked_at,
    checked_rates,
    checked_reference,
    concluded,
    planned,
    read_measures,
)
from demele.bench.comparisons.contenders import chosen_contenders
from demele.bench.comparisons.result import MethodComparison
from demele.bench.comparisons.run import decided
from demele.bench.comparisons.setting import Reference
from demele.core.errors import FormatError, InputError, NotEnoughData, quoted
from demele.core.inputs import read_codes
from demele.core.kinds import Confidence, Count, Data, Seed, Several, StorePath, checked
from demele.core.labelled import Indices, Vocabulary, read_labels, vocabulary
from demele.core.names import renamed
from demele.core.reading import path_of
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.core.store import Key, packed_classes, reading_record, unpacked_classes
from demele.core.table_columns import check_same_order
from demele.core.version import __version__
from demele.labels.cleaned.filter_methods import dealt
from demele.labels.made.annotators import artificial_annotators
from demele.labels.made.noise import add_feature_noise
from demele.noise.square_tables import digest
from demele.runtime.progress import reported_to
from demele.runtime.sweep import Record, Sweep, Task

__all__ = ["FIRST_LOOK", "TRAINING_RATES", "noise_experiment"]

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

Floats = NDArray[np.float64]


@renamed(noise_rates="noise")
@checked
def noise_experiment(
    features: Data = None,
    y: object = None,
    *,
    noise: Sequence[float] = NOISE_RATES,
    methods: Methods = None,
    measures: Measures | None = None,
    reference: Reference = "overlap",
    n_classifiers: Several = 100,
    n_candidates: Several = 400,
    n_annotators: Count = 100,
    accuracies: tuple[float, float] = (0.55, 0.9),
    training_rates: Sequence[float] = TRAINING_RATES,
    selection_rate: float = 0.05,
    folds: Several = 5,
    level: Confidence = 0.95,
    at: float | None = None,
    title: str | None = None,
    seed: Seed = 0,
    n_jobs: int = 1,
    executor: Executor | None = None,
    store: StorePath = None,
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
    >>> len(found.names), found.tally("worst-case-overlap", 0.05).n_type_1
    (4, 0)
    """
    about = _read(features, y)
    settings = _Settings(
        n_classifiers=n_classifiers,
        n_candidates=n_candidates,
        n_annotators=n_annotators,
        training_rates=checked_rates(training_rates, "training_rates"),
        selection_rate=checked_rates(selection_rate, "selection_rate")[0],
        folds=folds,
        accuracies=_range(accuracies),
        level=level,
        seed=seed,
    )
    if settings.n_candidates < settings.n_classifiers:
        raise InputError(
            "n_candidates",
            f"expected at least `n_classifiers`, {settings.n_classifiers}, got {settings.n_candidates}",
        )
    if settings.folds > about.coded.size:
        raise InputError("folds", f"expected at most one per instance, {about.coded.size}, got {settings.folds}")
    rates = checked_rates(noise)
    at = checked_at(at, rates)
    contenders = chosen_contenders(methods)
    first = about.words.classes[0]
    usual: list[str | tuple[str, object]] = ["accuracy", ("precision", first), ("recall", first)]
    paired = isinstance(reference, str) and reference == "paired"
    wanted = measures if measures is not None else usual[:1] if paired else usual
    checked_reference(reference, read_measures(wanted, about.words))
    path = None if store is None else path_of(store, "store")
    identity = settings.identity(about)
    with Sweep(identity, store=path, n_jobs=n_jobs, executor=executor) as sweep:
        annotators = _annotators(about, settings, sweep)
        versions, notes = _training_versions(about, settings, annotators, rates)
        models = _classifiers(about, settings, versions, sweep)
        chosen, filled = _chosen(about, settings, annotators, models)
        named = {f"{index}: {models[index].name}": about.named(models[index].predictions) for index in chosen}
        plan = planned(
            named,
            about.true_labels,
            rates,
            contenders,
            kind="feature",
            annotations=annotators.predictions,
            legitimacy=None,
            measures=wanted,
            reference=reference,
            level=settings.level,
            classes=about.words.classes,
            seed=settings.seed,
        )
        sweep.run(decided, plan.tasks(), what="rounds of all pairs to decide", share=DECISIONS)
        return concluded(
            plan,
            sweep.records,
            at=at,
            notes=notes + filled,
            title=title or f"Which comparison methods can be believed? {about.name}",
            details=_details(about, settings, annotators, models, chosen),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    name: str
    features: Floats
    true_labels: NDArray[Any]
    coded: Indices
    words: Vocabulary

    def named(self, coded: Indices) -> NDArray[Any]:
        return np.array(self.words.classes, dtype=self.true_labels.dtype)[coded]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    n_classifiers: int
    n_candidates: int
    n_annotators: int
    training_rates: tuple[float, ...]
    selection_rate: float
    folds: int
    accuracies: tuple[float, float]
    level: float
    seed: int

    def identity(self, about: _Data) -> dict[str, str | int]:
        """Return what all records have in common; methods, measures and noise rates may be added to a run later."""
        return {
            "demele": __version__,
            "run": "noise experiment",
            "data": digest(about.features, about.coded, [*about.words.classes]),
            **{name: value if isinstance(value, int) else repr(value) for name, value in asdict(self).items()},
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Annotators:
    predictions: NDArray[Any]
    errors: list[float]


@dataclass(frozen=True, slots=True, eq=False)
class _Classifier:
    name: str
    trained_on: float
    predictions: Indices


# Stages --------------------------------------------------------------------------------------------------------------


def _annotators(about: _Data, settings: _Settings, sweep: Sweep) -> _Annotators:
    key: Key = ("annotators",)
    if key not in sweep.records:
        with reported_to(sweep.reporter(ANNOTATORS)):
            found = artificial_annotators(
                about.features,
                about.coded,
                n_annotators=settings.n_annotators,
                seed=settings.seed,
                n_jobs=sweep.n_jobs,
            )
        record = {
            "predictions": [packed_classes(row.astype(np.int32)) for row in found.predictions],
            "errors": found.errors.tolist(),
        }
        sweep.records.append([(key, record)])
    stored = sweep.records[key]
    with reading_record(key):
        predictions = np.stack([unpacked_classes(text, about.coded.size) for text in stored["predictions"]])
        if not ((predictions >= 0) & (predictions < len(about.words))).all():
            raise FormatError("their predictions are none of the classes")
        errors = np.asarray(stored["errors"], dtype=np.float64).tolist()
        return _Annotators(about.named(predictions), errors)


def _training_versions(
    about: _Data, settings: _Settings, annotators: _Annotators, rates: Sequence[float]
) -> tuple[dict[float, Indices], tuple[Note, ...]]:
    """Return the labels of each training rate that the annotators reach; refuse other rates that they do not reach."""
    reachable = float((annotators.predictions != about.true_labels).any(axis=0).mean())
    for argument, asked in (("noise", max(rates)), ("selection_rate", settings.selection_rate)):
        if round(asked * about.coded.size) > round(reachable * about.coded.size):
            raise InputError(
                argument, f"expected at most {reachable:g}, the highest rate that these annotators reach, got {asked:g}"
            )
    within = [rate for rate in settings.training_rates if rate <= reachable]
    if not within:
        raise InputError(
            "training_rates", f"the lowest is {min(settings.training_rates):g}, and the annotators reach {reachable:g}"
        )
    versions = {
        rate: about.words.encode(
            read_labels(add_feature_noise(about.true_labels, annotators.predictions, rate).labels, "labels"), "labels"
        )
        for rate in within
    }
    beyond = [f"{rate:g}" for rate in settings.training_rates if rate > reachable]
    if not beyond:
        return versions, ()
    message = f"No classifier was trained at a noise rate of {', '.join(beyond)}: the annotators reach {reachable:.4g}."
    return versions, (Note(code="training-rates-left-out", message=message, severity="warning"),)


def _classifiers(
    about: _Data, settings: _Settings, versions: Mapping[float, Indices], sweep: Sweep
) -> list[_Classifier]:
    """Train what the store does not hold yet; every classifier is stored as it finishes."""
    rates = list(versions)
    tasks = [
        Task(key=("classifier", index), about=(index, rates[index % len(rates)]), label=f"classifier {index} trained")
        for index in range(settings.n_candidates)
    ]
    folds = dealt(about.coded, settings.folds, rng_for(settings.seed, "experiment", "folds"))
    train = partial(_trained, about.features, dict(versions), folds, settings.seed)
    sweep.run(train, tasks, what="classifiers to train", share=CLASSIFIERS)
    return [_stored_classifier(task.key, sweep.records[task.key], about) for task in tasks]


def _stored_classifier(key: Key, record: Mapping[str, Any], about: _Data) -> "_Classifier":
    with reading_record(key):
        predictions = unpacked_classes(record["predictions"], about.coded.size)
        if not ((predictions >= 0) & (predictions < len(about.words))).all():
            raise FormatError("its predictions are none of the classes")
        return _Classifier(str(record["name"]), float(record["trained_on"]), predictions)


def _trained(
    features: Floats,
    versions: Mapping[float, Indices],
    folds: Indices,
    seed: int,
    candidates: tuple[tuple[int, float], ...],
) -> list[Record]:
    records = []
    for index, rate in candidates:
        name, predictions = candidate_classifier(features, versions[rate], folds, seed, index)
        records.append({"name": name, "trained_on": rate, "predictions": packed_classes(predictions)})
    return records


def _chosen(
    about: _Data, settings: _Settings, annotators: _Annotators, models: Sequence[_Classifier]
) -> tuple[NDArray[np.intp], tuple[Note, ...]]:
    """Choose classifiers of the accuracies wanted whose indicators are spread wide."""
    predictions = np.stack([model.predictions for model in models])
    accuracy = (predictions == about.coded).mean(axis=1)
    low, high = settings.accuracies
    outside = np.maximum(low - accuracy, accuracy - high)
    order = np.argsort(np.maximum(outside, 0.0), kind="stable")
    within = int(np.count_nonzero(outside <= 0))
    eligible = np.sort(order[: max(within, settings.n_classifiers)])
    noisy = add_feature_noise(about.true_labels, annotators.predictions, settings.selection_rate).labels
    labels = about.words.encode(read_labels(noisy, "labels"), "labels")
    found = indicators(predictions[eligible], labels, about.coded, len(about.words))
    number = min(settings.n_classifiers, apart(found).size)
    chosen = eligible[np.sort(select_varied(found, number, seed=settings.seed))]
    if chosen.size < 2:
        raise NotEnoughData("n_candidates", "fewer than 2 of the classifiers differ; train more of them")
    notes = []
    if within < settings.n_classifiers:
        message = (
            f"Only {within} of {len(models)} classifiers have an accuracy from {low:g} to {high:g}; those nearest "
            "to it take part too."
        )
        notes.append(Note(code="accuracies-outside", message=message))
    if chosen.size < settings.n_classifiers:
        message = f"{chosen.size} of {settings.n_classifiers} classifiers: the others do as one of these does."
        notes.append(Note(code="few-classifiers", message=message, severity="warning"))
    return chosen, tuple(notes)


def _details(
    about: _Data,
    settings: _Settings,
    annotators: _Annotators,
    models: Sequence[_Classifier],
    chosen: NDArray[np.intp],
) -> dict[str, Any]:
    trained = [models[index].trained_on for index in chosen]
    return {
        "data": about.name,
        "instances": about.coded.size,
        "features": about.features.shape[1],
        "annotators": len(annotators.errors),
        "errors of the annotators": f"{min(annotators.errors):.3f} to {max(annotators.errors):.3f}",
        "classifiers trained": len(models),
        "classifiers chosen": int(chosen.size),
        "chosen, by the noise they were trained on": {
            f"{rate:g}": trained.count(rate) for rate in sorted({model.trained_on for model in models})
        },
        "folds": settings.folds,
        "noise of the labels that the choice looked at": settings.selection_rate,
    }


# Parts ---------------------------------------------------------------------------------------------------------------


def _read(features: object, y: object) -> _Data:
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
        raise InputError(
            ("features", "y"),
            f"expected the same number of rows, got {table.n} and {labels.size}; row r of both must be "
            "the same instance",
        )
    check_same_order(features, y, ("features", "y"))
    words = vocabulary(labels)
    if len(words) < 2:
        raise NotEnoughData("y", f"expected at least 2 classes, got only {words.classes[0]!r}")
    return _Data(name, table.dense(), labels, words.encode(labels, "y"), words)


def _range(value: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError) as error:
        raise InputError("accuracies", f"expected (low, high), got {quoted(value)}") from error
    if not 0 <= low < high <= 1:
        raise InputError("accuracies", f"expected 0 <= low < high <= 1, got {quoted(value)}")
    return low, high
