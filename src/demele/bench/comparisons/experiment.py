"""The whole experiment: artificial annotators, nested noisy versions, varied classifiers, every comparison method."""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from demele.bench.comparisons.compared import (
    NOISE_RATES,
    Measures,
    Methods,
    Plan,
    Rates,
    checked_at,
    checked_rates,
    concluded,
    decided,
    read_measures,
)
from demele.bench.comparisons.contenders import Reference, chosen_contenders
from demele.bench.comparisons.result import MethodComparison
from demele.classifiers.measures.bias import indicator_counts
from demele.core.arrays import Array, Floats, Integers, Rows, pd, rng_for
from demele.core.errors import FormatError, InputError, NotEnoughData
from demele.core.inputs import read_codes
from demele.core.kinds import Confidence, Count, Data, Seed, Several, StorePath, checked, checked_pair
from demele.core.labelled import Indices, Labelled, read_labels, vocabulary
from demele.core.proportions import proportion
from demele.core.store import Key, packed_classes, reading_record, unpacked_classes
from demele.core.table_columns import check_same_order
from demele.core.uncertainty import Note
from demele.core.version import __version__
from demele.labels.cleaned.filters import dealt
from demele.labels.made.annotators import artificial_annotators, draw_eyes, draw_model, fitted_predictions
from demele.labels.made.noise import add_feature_noise
from demele.noise.transition import digest
from demele.runtime.sweep import Record, Sweep, Task
from demele.runtime.work import reported_to

# The classifiers that methods of comparison are measured on -----------------------------------------------------------

#: Share of the training instances that the least trained classifiers learn from.
LEAST_SHARE = 0.1
#: Handicap of the sight of the weakest classifiers, of 1.
MOST_HANDICAP = 0.4
#: Instances of each class that are left to learn from, where there are as many.
LEAST_OF_CLASS = 3
#: Classifiers whose indicators have a smaller mean squared distance do the same: the source's tau.
NEAR = 1e-4


def candidate_classifier(
    table: Floats, labels: Integers, folds: Integers, seed: int, index: int
) -> tuple[str, Indices]:
    """Train one varied classifier on noisy labels, and predict every instance by a model that was not trained on it.

    A pure function of its arguments, so that candidates can be trained in any order, anywhere, and stored.

    Parameters
    ----------
    table : array of shape (n, d)
        Finite features.
    labels : array of int of shape (n,)
        The labels to learn from, right or wrong, as class indices.
    folds : array of int of shape (n,)
        Number of the fold of each instance. For each fold, the model is trained on the other folds and predicts this
        one; features are standardised by the instances trained on.
    seed : int
        At least 0.
    index : int
        Which candidate, >= 0. Model, hyperparameters, handicaps and their random draws depend on the seed, on it and
        on sizes only, never on which labels are wrong: a candidate can be compared with itself trained on others.

    Returns
    -------
    name : str
        The model, what it sees, and what it learns from.
    predictions : array of int32 of shape (n,)
        Out of fold.

    Raises
    ------
    NotEnoughData
        For a training part with one class only, or as many as rows.

    Notes
    -----
    Source: Benjelloun, section 6.5.3. There, varied convolutional networks are trained on one split of CIFAR-10 into
    80% and 20%; those kept are right on 55 to 90% of the test instances. Here every instance is a test instance, and
    models of scikit-learn are weakened to reach such a range: few features, blur, few training instances (a share from
    10% to all, drawn log-uniformly within each class), little capacity. Blur is drawn once per candidate and instance.

    Examples
    --------
    >>> features = np.random.default_rng(0).normal(size=(200, 4))
    >>> labels = (features[:, 0] > 0).astype(int)
    >>> name, predictions = candidate_classifier(features, labels, np.arange(200) % 5, seed=0, index=2)
    >>> name, predictions.shape
    ('decision tree 2: 4 features, blur 0.35, 39% of the instances', (200,))
    """
    n, d = table.shape
    rng = rng_for(seed, "classifier", index)
    share = float(np.exp(rng.uniform(np.log(LEAST_SHARE), 0.0)))
    eyes = draw_eyes(rng, n, d)
    handicap = MOST_HANDICAP * float(rng.uniform())
    order = rng.permutation(n)
    numbers = np.unique(folds)
    fewest = int(share * (n - np.bincount(np.searchsorted(numbers, folds)).max()))
    family, model = draw_model(rng, max(2, fewest), d, int(np.unique(labels).size))
    predictions = np.empty(n, dtype=np.int32)
    for number in numbers:
        tested = np.flatnonzero(folds == number)
        rows = order[folds[order] != number]
        # Keep the first share of the rows of each class, and at least LEAST_OF_CLASS of them where there are as many
        own = pd.Series(labels[rows])
        rank = own.groupby(own).cumcount().to_numpy()
        size = own.groupby(own).transform("size").to_numpy()
        trained = np.sort(rows[rank < np.maximum(LEAST_OF_CLASS, np.ceil(share * size))])
        known = np.unique(labels[trained]).size
        if known < 2 or known >= trained.size:
            raise NotEnoughData(
                "folds",
                f"without fold {number} there are {known} classes among {trained.size} instances to learn from; "
                "expected at least 2 classes and fewer than instances: shuffle or stratify the folds, or give fewer",
            )
        seen = eyes.view(table, handicap, trained)
        predictions[tested] = fitted_predictions(model, seen[trained], labels[trained], seen[tested])
    learned = f", {share:.0%} of the instances" if share < 1 else ""
    return f"{family} {index}: {eyes.described(handicap)}{learned}", predictions


def indicators(predictions: Array, labels: Array, true_labels: Array, k: int) -> Floats:
    """Return how each classifier meets the noise: F_c, F_n and F_r of each class.

    Parameters
    ----------
    predictions : array of int of shape (m, n)
        Class indices in [0, k) that each of m classifiers predicts.
    labels : array of int of shape (n,)
        Given labels, some of them wrong.
    true_labels : array of int of shape (n,)
    k : int
        Number of classes.

    Returns
    -------
    array of shape (m, 3k)
        F_c of all classes, then F_n, then F_r, each in [0, 1]; NaN where there is no such instance: see
        :func:`demele.classifiers.stats.bias`.

    Notes
    -----
    Source: Benjelloun, section 6.3.1. Cost O(m (n + k)).

    Examples
    --------
    >>> given, true = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> indicators(np.array([[0, 0, 1, 0]]), given, true, 2)
    array([[1. , 0.5, 1. , nan, nan, 0. ]])
    """
    return np.stack([proportion(*indicator_counts(row, labels, true_labels, k)).ravel() for row in predictions])


def select_varied(table: Floats, n: int, *, seed: int = 0, threshold: float = NEAR) -> Rows:
    """Choose classifiers whose indicators are spread wide and evenly.

    Parameters
    ----------
    table : array of shape (n_candidates, n_indicators)
        F_c, F_n and F_r of each class for each candidate, in [0, 1], on whatever labels the caller chose; NaN where not
        defined.
    n : int
        How many to choose, >= 1; all that the filter leaves, where these are fewer.
    seed : int, default 0
        The first is drawn at random.
    threshold : float >= 0, default 1e-4
        A candidate whose mean squared distance to an earlier kept one is below this is dropped first: tau.

    Returns
    -------
    array of int
        Row numbers in the order of the choice: the first m of them are the choice of m.

    Notes
    -----
    Source: Benjelloun, section 6.5.3.

    *Filter.* The mean squared distance is over the indicators that both candidates have; without one in common they are
    not near. In the source, a later and better version of the same network replaces its earlier version; here no
    candidate is a version of another, and the earlier one stays.

    *Choice.* The next candidate maximises m1, the mean over the indicators of the variance of the values chosen, while
    minimising m2, the mean of the variance of the gaps between neighbouring values. The source does not say how the two
    are traded. Left as they are, m1 would decide alone, for m2 shrinks as gaps become many and small. So at each step
    both are scaled over the candidates left, the smallest to 0 and the largest to 1, and the difference is maximised:

        (m1 - min m1) / (max m1 - min m1) - (m2 - min m2) / (max m2 - min m2)    (the second candidate: m1 alone).

    It has no unit and no weight to set. On figure 6.4 of the source it picks the ten points of different places from
    every start; m1 - m2 as they are picks half of them. An indicator that a candidate does not have leaves that
    indicator's values as they were. Ties: the earlier candidate. Cost O(n^2 n_candidates n_indicators), to a logarithm.

    Examples
    --------
    >>> select_varied(np.array([[0.0], [0.001], [0.2], [0.4], [0.5], [0.9], [1.0]]), 4)
    array([4, 0, 6, 2])
    """
    kept = apart(table, threshold)
    columns = [column for column in table[kept].T if not np.isnan(column).all()]
    chosen = [int(rng_for(seed, "select_varied", "first").integers(kept.size))]
    while len(chosen) < min(n, kept.size):
        rows = np.setdiff1d(np.arange(kept.size), chosen)
        variance, gaps = np.sum([_with_each(column[chosen], column[rows]) for column in columns], axis=0)
        score = _scaled(variance) - _scaled(gaps) if len(chosen) > 1 else variance
        chosen.append(int(rows[np.argmax(score)]))
    return kept[chosen]


def apart(table: Floats, threshold: float = NEAR) -> Rows:
    """Return the candidates that are not near an earlier one of those returned."""
    kept: list[int] = []
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    for row in range(len(table)):
        common = known[kept] & known[row]
        squares = np.where(common, (filled[kept] - filled[row]) ** 2, 0.0).sum(axis=1)
        count = common.sum(axis=1)
        # without a common indicator: 0 < threshold * 0 is false, so they are not near
        if not (squares < threshold * count).any():
            kept.append(row)
    return np.array(kept, dtype=np.intp)


def _scaled(values: Floats) -> Floats:
    """Scale to [0, 1]; 0 where all are the same to rounding."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high - low > 1e-12 * high else np.zeros(values.size)


def _with_each(chosen: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Return the variance of values, and that of their gaps, if each new one were added; NaN adds nothing."""
    now = chosen[~np.isnan(chosen)]

    def spread(values: Floats) -> tuple[Floats, Floats]:
        gaps = np.diff(np.sort(values, axis=1), axis=1)
        none = np.zeros(len(values))
        return (values.var(axis=1) if values.size else none, gaps.var(axis=1) if gaps.size else none)

    added, same = spread(np.column_stack([np.tile(now, (new.size, 1)), np.nan_to_num(new)])), spread(now[None])
    variance, gaps = (np.where(np.isnan(new), old, with_new) for with_new, old in zip(added, same, strict=True))
    return variance, gaps


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


@checked
def noise_experiment(
    features: Data = None,
    y: object = None,
    *,
    noise: Rates = NOISE_RATES,
    methods: Methods = None,
    measures: Measures | None = None,
    reference: Reference = "overlap",
    n_classifiers: Several = 100,
    n_candidates: Several = 400,
    n_annotators: Count = 100,
    accuracies: tuple[float, float] = (0.55, 0.9),
    training_rates: Rates = TRAINING_RATES,
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
    >>> len(found.names), found.tally("worst-case-overlap", 0.05).n_type_1, found.indicators.shape
    (4, 0, (4, 9))
    """
    name, table, labels = _read(features, y)
    words = vocabulary(labels)
    if len(words) < 2:
        raise NotEnoughData("y", f"expected at least 2 classes, got only {words.classes[0]!r}")
    low, high = checked_pair(accuracies, "accuracies", "a share in [0, 1]", inside=lambda one: 0 <= one <= 1)
    if low >= high:
        raise InputError("accuracies", f"expected 0 <= low < high <= 1, got {(low, high)}")
    if n_candidates < n_classifiers:
        raise InputError("n_candidates", f"expected at least `n_classifiers`, {n_classifiers}, got {n_candidates}")
    if folds > labels.size:
        raise InputError("folds", f"expected at most one per instance, {labels.size}, got {folds}")
    at = checked_at(at, noise)
    contenders = chosen_contenders(methods)
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
        found = indicators(every[eligible], noisy(selected), coded, k)
        places = np.sort(select_varied(found, n_classifiers, seed=seed))
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
            {rate: add_feature_noise(labels, annotations, rate) for rate in noise},
            contenders,
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
        name, predictions = candidate_classifier(features, versions[rate], folds, seed, index)
        records.append({"name": name, "trained_on": rate, "predictions": packed_classes(predictions)})
    return records
