"""What models say of instances that they were not trained on: folds that no class can break, and their predictions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import Indices
from demele.core.seeds import rng_for
from demele.runtime.threads import one_thread
from demele.runtime.work import ordered

Floats = NDArray[np.float64]


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
    judged: NDArray[np.bool_]
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
