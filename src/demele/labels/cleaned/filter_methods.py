"""The methods of cleaning: mathematics on class indices and tables that were validated before."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Counts, Flags, Floats, Rows
from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import Indices
from demele.core.lazy import require
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.labels.joined.voting import earliest_voter, plurality
from demele.runtime.work import one_thread, ordered


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """What models say of instances that they did not see.

    Attributes
    ----------
    predicted : array of int of shape (n_models, n)
        Class index.
    probabilities : array of shape (n_models, n, K) or None
        0 for a class that no training row had.
    judged : array of bool of shape (n,)
        False where the training rows lack the class of the label: no model could have agreed with it.
    unconverged : int
        Trainings that stopped before they converged.
    """

    predicted: Indices
    probabilities: Floats | None
    judged: Flags
    unconverged: int


def dealt(labels: Indices, folds: int, rng: np.random.Generator) -> Indices:
    """Deal instances out to folds, class by class, as cards: shape (n,).

    Every class is spread as evenly as its size allows, and so are all instances together; a class with fewer
    instances than folds is in as many folds as it has instances.
    """
    order = rng.permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(labels.size, dtype=np.int32)
    fold[order] = np.arange(labels.size) % folds
    return fold


def standardised(features: Floats) -> Floats:
    """Return features with mean 0 and standard deviation 1; constant ones become 0."""
    from sklearn.preprocessing import StandardScaler

    scaled: Floats = StandardScaler().fit_transform(features)
    return scaled


def default_model() -> Any:
    """Return logistic regression on standardised features: quick, deterministic, with probabilities of use."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def read_model(model: object, argument: str = "model") -> Any:
    """Return a scikit-learn classifier that has not been trained."""
    from sklearn.base import clone, is_classifier

    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "predict"):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InputTypeError(
            argument, f"expected a scikit-learn classifier, such as RandomForestClassifier(), got {what}"
        )
    if not is_classifier(model):
        raise InputTypeError(argument, f"expected a classifier, got {type(model).__name__}, which is none")
    return clone(model)


def model_name(model: object) -> str:
    """Return the call that makes a model, on one line."""
    return re.sub(r"\s+", " ", repr(model)).replace("( ", "(").replace("[ ", "[")


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """Return an untrained copy of a model whose unset random states are drawn; those that are set stay."""
    from sklearn.base import clone

    copy = clone(model)
    states = sorted(name for name in copy.get_params() if name.rpartition("__")[2] == "random_state")
    unset = {name: int(rng.integers(2**31)) for name in states if copy.get_params()[name] is None}
    return copy.set_params(**unset) if unset else copy


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """Rows that models are trained on and judge, fold by fold.

    Attributes
    ----------
    features : array of shape (n, d)
    labels : array of int of shape (n,)
    k : int
        Number of classes.
    folds : int
        At most n are used.
    seed : int
    n_jobs : int or None
        No result depends on it.
    """

    features: Floats
    labels: Indices
    k: int
    folds: int
    seed: int
    n_jobs: int | None


def out_of_fold(
    models: Sequence[Any], rows: FoldedRows, identity: str, want: Literal["classes", "probabilities"] = "classes"
) -> OutOfFold:
    """Train every model on all folds but one, and predict that one.

    ``identity`` and the seed: what the folds and the models' random states are drawn from.

    Raises
    ------
    InputError
        If probabilities are wanted of a model that has none.
    """
    features, labels, k, seed = rows.features, rows.labels, rows.k, rows.seed
    fold = dealt(labels, min(rows.folds, labels.size), rng_for(seed, "clean", identity, "folds"))
    parts = range(int(fold.max()) + 1)
    tasks = [
        (seeded(model, rng_for(seed, "clean", identity, "model", index, part)), fold != part, fold == part)
        for index, model in enumerate(models)
        for part in parts
    ]
    calls = ((model, features[train], labels[train], features[test], k, want) for model, train, test in tasks)
    answers = list(ordered(answered, calls, n_jobs=rows.n_jobs))
    predicted = np.empty((len(models), labels.size), dtype=np.int32)
    shares = np.zeros((len(models), labels.size, k)) if want == "probabilities" else None
    for place, ((_, _, test), (values, _)) in enumerate(zip(tasks, answers, strict=True)):
        index = place // len(parts)
        if shares is not None:
            shares[index, test] = values
        predicted[index, test] = values if shares is None else values.argmax(axis=1)
    # A class dealt to one fold only is missing where that fold is predicted.
    judged = np.bincount(labels, minlength=k)[labels] > 1
    return OutOfFold(predicted, shares, judged, sum(not converged for _, converged in answers))


def answered(
    model: Any, features: Floats, labels: Indices, asked: Floats, k: int, want: Literal["classes", "probabilities"]
) -> tuple[NDArray[Any], bool]:
    """Train a model and ask it: classes of shape (m,) or probabilities of shape (m, k), and whether it converged.

    One thread is used, so that sums have the same order in every run.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    present = np.unique(labels)
    if present.size == 1:  # many classifiers refuse a single class, and there is nothing to learn
        constant = np.zeros((len(asked), k))
        constant[:, present[0]] = 1
        return (constant if want == "probabilities" else constant.argmax(axis=1)), True
    if want == "probabilities" and not hasattr(model, "predict_proba"):
        raise InputError(
            "model",
            f"{type(model).__name__} gives no probabilities, which this method needs; wrap it in scikit-learn's "
            "CalibratedClassifierCV, or take another",
        )
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values: NDArray[Any]
        model.fit(features, labels)
        if want == "classes":
            values = np.asarray(model.predict(asked)).astype(np.int32)
        else:
            values = np.zeros((len(asked), k))
            values[:, np.asarray(model.classes_)] = model.predict_proba(asked)
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return values, converged


# The methods of cleaning: mathematics on class indices and tables that were validated before --------------------------


#: Votes held at a time, so that memory stays bounded however many classes there are.
CELLS_AT_ONCE = 1 << 22
#: Normalised entropy below which a prediction counts as sure on any data.
LEAST_SURE = 0.3
#: Partitioning has settled when a round finds fewer new suspects than this share of all instances (Zhu et al. 2003).
SETTLED = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a method found: flags, class indices after the cleaning (read where suspect), suspicion in [0, 1]."""

    suspect: Flags
    suggested: Indices
    score: Floats | None = None
    notes: tuple[Note, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)


def nearest_neighbours(features: Floats, labels: Indices, k_classes: int, *, k: int, n_jobs: int | None) -> Found:
    """Suspect instances for whom another class has more of the k nearest neighbours than their own."""
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(features).kneighbors(return_distance=False)
    own, most, other = _tally(labels[near].T, labels, k_classes)
    return Found(suspect=most > own, suggested=other, score=1 - own / k)


def classification(models: Sequence[Any], rows: FoldedRows) -> Found:
    """Suspect labels that one model, trained on the other folds, does not predict."""
    seen = out_of_fold(models, rows, "classification")
    predicted = seen.predicted[0]
    suspect = (predicted != rows.labels) & seen.judged
    return Found(suspect=suspect, suggested=predicted, notes=convergence_notes(seen.unconverged))


def voting(models: Sequence[Any], rows: FoldedRows, *, rule: str) -> Found:
    """Suspect labels that more than half of the models (or all of them), trained on the other folds, do not predict."""
    seen = out_of_fold(models, rows, "voting")
    against = (seen.predicted != rows.labels).sum(axis=0)
    needed = against == len(models) if rule == "consensus" else 2 * against > len(models)
    return Found(
        suspect=needed & seen.judged,
        suggested=_tally(seen.predicted, rows.labels, rows.k)[2],
        score=np.where(seen.judged, against / len(models), np.nan),
        notes=convergence_notes(seen.unconverged),
    )


def partitioning(models: Sequence[Any], rows: FoldedRows, *, rule: str, rounds: int) -> Found:
    """Split, train a model per part, let all of them vote on every instance, drop the suspects, and begin again."""
    features, labels, k, seed = rows.features, rows.labels, rows.k, rows.seed
    n = labels.size
    suspect, score, suggested = np.zeros(n, dtype=bool), np.full(n, np.nan), labels.copy()
    unconverged = done = 0
    settled = False
    while not settled and done < rounds:
        left = np.flatnonzero(~suspect)
        here = labels[left]
        if np.unique(here).size < 2:
            break
        part = dealt(here, min(rows.folds, here.size), rng_for(seed, "clean", "partitioning", "parts", done))
        parts = range(int(part.max()) + 1)
        calls = (
            (
                seeded(models[0], rng_for(seed, "clean", "partitioning", "model", done, each)),
                features[left[part == each]],
                here[part == each],
                features[left],
                k,
                "classes",
            )
            for each in parts
        )
        answers = list(ordered(answered, calls, n_jobs=rows.n_jobs))
        predicted = np.stack([values for values, _ in answers])
        unconverged += sum(not converged for _, converged in answers)
        # A model that never saw a class cannot vote for it: on the labels of that class it has no say.
        knows = np.stack([np.bincount(here[part == each], minlength=k) > 0 for each in parts])[:, here]
        against, voters = ((predicted != here) & knows).sum(axis=0), knows.sum(axis=0)
        needed = against == voters if rule == "non-objection" else 2 * against > voters
        judged = voters > 1
        found = left[needed & judged]
        score[left] = np.where(judged, against / voters, score[left])
        suggested[found] = _tally(predicted, here, k)[2][needed & judged]
        suspect[found] = True
        done += 1
        settled = found.size < SETTLED * n
    notes = convergence_notes(unconverged)
    if not settled:
        message = f"Round {done}, the last, still found at least {SETTLED:.0%} new suspects, or left one class."
        notes += (Note(code="not-settled", message=message, severity="warning"),)
    return Found(suspect=suspect, suggested=suggested, score=score, notes=notes, context={"rounds": str(done)})


def entropy(probabilities: Floats, labels: Indices, *, threshold: float) -> Found:
    """Suspect labels that differ from the most probable class where the normalised entropy is below a threshold."""
    certain = _normalised_entropy(probabilities) < threshold
    winner = probabilities.argmax(axis=1).astype(np.int32)
    return Found(suspect=certain & (winner != labels), suggested=winner, score=_doubt(probabilities, labels))


def entropy_threshold(probabilities: Floats, labels: Indices) -> float:
    """Return the entropy that is usual where prediction and label agree: their mean, and at least ``LEAST_SURE``.

    Where many labels are wrong, a model that is trained on them is sure of nothing: a fixed limit then finds nothing.
    As in confident learning, how sure is sure is read off the rows whose label the model gives itself.
    """
    agree = probabilities.argmax(axis=1) == labels
    return max(LEAST_SURE, float(_normalised_entropy(probabilities[agree]).mean())) if agree.any() else LEAST_SURE


def _normalised_entropy(probabilities: Floats) -> Floats:
    """Entropy of each row as a share of the largest, in [0, 1]."""
    from scipy.special import entr

    return np.asarray(entr(probabilities).sum(axis=1) / np.log(probabilities.shape[1]))


def confident(probabilities: Floats, labels: Indices, *, rule: str) -> Found:
    """Suspect what cleanlab finds by confident learning.

    cleanlab suspects a certain number of labels of each class, those with the lowest scores, and the order of the rows
    decides between equals. Here rows are sorted first, and equals are all suspected if one of them is.
    """
    import warnings

    cleanlab = require("cleanlab", purpose="method 'confident'")
    filters = require("cleanlab.filter", purpose="method 'confident'")
    order = _own_order(probabilities, labels)
    rows, given = probabilities[order], labels[order]
    with warnings.catch_warnings():  # a note says it, with the names of the classes
        warnings.filterwarnings("ignore", message="May not flag all label issues in class", category=UserWarning)
        flags = filters.find_label_issues(given, rows, filter_by=rule, n_jobs=1)
    starts = np.flatnonzero(
        np.r_[True, (given[1:] != given[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)]  # of runs of equals
    )
    suspect = np.empty(labels.size, dtype=bool)
    suspect[order] = np.repeat(np.logical_or.reduceat(flags, starts), np.diff(np.r_[starts, labels.size]))
    return Found(
        suspect=suspect,
        suggested=probabilities.argmax(axis=1).astype(np.int32),
        score=_doubt(probabilities, labels),
        context={"cleanlab": str(cleanlab.__version__)},
    )


def _own_order(probabilities: Floats, labels: Indices) -> Rows:
    """Return an order of the rows that depends on what they hold only; equal rows are neighbours in it."""
    keys = np.stack([probabilities.max(axis=1), probabilities[np.arange(labels.size), labels], labels])
    order = np.lexsort(keys)
    before, after = order[:-1], order[1:]
    tied = (keys[:, before] == keys[:, after]).all(axis=0)
    # Sorting by all columns is slow with many classes, and seldom needed.
    if (probabilities[before[tied]] != probabilities[after[tied]]).any():
        order = np.lexsort((*probabilities.T, labels))
    return order


def _doubt(probabilities: Floats, labels: Indices) -> Floats:
    """1 - P(given label); within [0, 1] whatever rounding does to the probabilities."""
    return np.clip(1 - probabilities[np.arange(labels.size), labels], 0, 1)


def _tally(votes: NDArray[Any], labels: Indices, k: int) -> tuple[Counts, Counts, Indices]:
    """Count votes of shape (n_voters, n): for the given label, for the first other class, and which that is.

    Of classes with as many votes, the one that the earliest voter named.
    """
    n = labels.size
    own, most, other = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
    step = max(1, CELLS_AT_ONCE // k)
    for start in range(0, n, step):
        part = slice(start, start + step)
        here = votes[:, part]
        rows = np.arange(here.shape[1])
        counts = np.bincount((rows * k + here).ravel(), minlength=rows.size * k).reshape(rows.size, k)
        own[part] = counts[rows, labels[part]]
        counts[rows, labels[part]] = -1
        other[part] = plurality(counts, earliest_voter(here, k))
        most[part] = counts[rows, other[part]]
    return own, most, other


def convergence_notes(trainings: int) -> tuple[Note, ...]:
    """Warn of trainings that stopped before they converged."""
    message = f"{trainings} trainings stopped before they converged; allow more iterations with model=..."
    return (Note(code="not-converged", message=message, severity="warning"),) if trainings else ()
