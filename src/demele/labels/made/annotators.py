"""Artificial annotators: varied classifiers that mistake instances because of what these look like."""

import importlib
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from demele.core.arrays import Array, Floats, Rows, pd, rng_for
from demele.core.error_aims import ErrorAims, in_turn
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import read_codes
from demele.core.kinds import Count, Jobs, Seed, checked
from demele.core.labelled import Indices, read_labels, vocabulary
from demele.core.result import Note, TableResult
from demele.core.signature import Signature
from demele.core.table_columns import check_rows
from demele.core.version import __version__
from demele.labels.cleaned.filters import seeded
from demele.report.words import count, written
from demele.runtime.work import one_thread, ordered, reporting

#: A model sees at most so many features, which bounds what it costs.
MOST_FEATURES = 256
#: Nearest neighbours cost n squared; beyond so many instances they are not drawn.
MOST_NEIGHBOURS_ROWS = 10_000
#: Models trained by gradients are not drawn where one pass over the data would take more products than this.
MOST_PRODUCTS = 50_000_000
#: Blur at the end of the ladder, in standard deviations of each feature.
MOST_BLUR = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Eyes:
    """What one model sees of instances: some of the features, in its own order, perhaps blurred.

    Attributes
    ----------
    order : array of int
        Features, the most important to this model first; a weaker sight keeps fewer of them.
    fewer : float in [0, 1]
        How the number of features falls along the ladder: to (number)^(1 - fewer) at its end.
    blur : float >= 0
        Standard deviation of the noise at the end of the ladder, in standard deviations of each feature.
    noise : array of shape (n, number of features)
        Standard normal; the same along the ladder, so that sight only gets worse.
    """

    order: Rows
    fewer: float
    blur: float
    noise: Floats

    def sight(self, handicap: float) -> tuple[int, float]:
        """Return the number of features and the blur at a handicap in [0, 1]."""
        kept = max(1, round(self.order.size ** (1 - self.fewer * handicap)))
        return kept, self.blur * handicap**2

    def view(self, features: Floats, handicap: float, training: Array | None = None) -> Floats:
        """Return what is seen, standardised by the training rows (all rows if None)."""
        kept, blur = self.sight(handicap)
        chosen = features[:, self.order[:kept]]
        largest = np.abs(chosen).max(axis=0)
        chosen = chosen / np.where(largest > 0, largest, 1.0)  # so that no square exceeds the largest float
        known = chosen if training is None else chosen[training]
        spread = known.std(axis=0)
        seen: Floats = (chosen - known.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return seen + blur * self.noise[:, :kept] if blur > 0 else seen

    def described(self, handicap: float) -> str:
        """Say it in words."""
        kept, blur = self.sight(handicap)
        return f"{kept} feature{'s' * (kept > 1)}" + (f", blur {blur:.2f}" if blur > 0 else "")


def draw_eyes(rng: np.random.Generator, n: int, d: int) -> Eyes:
    """Draw which features a model sees first, and whether its sight weakens by fewer features, by blur, or by both."""
    order = rng.permutation(d)[:MOST_FEATURES]
    way = ("fewer", "blur", "both")[int(rng.integers(3))] if d > 1 else "blur"
    return Eyes(
        order=order,
        fewer=0.0 if way == "blur" else 1.0,
        blur=0.0 if way == "fewer" else MOST_BLUR * float(rng.uniform(0.25, 1.0)),
        noise=rng.standard_normal((n, order.size)) if way != "fewer" else np.empty((n, 0)),
    )


def draw_model(rng: np.random.Generator, n: int, d: int, k: int) -> tuple[str, Any]:
    """Draw the family of a classifier and one with drawn hyperparameters, for n instances, d features, k classes."""
    families = dict(_FAMILIES)
    if n > MOST_NEIGHBOURS_ROWS:
        del families["nearest neighbours"]
    if n * min(d, MOST_FEATURES) * k > MOST_PRODUCTS:
        del families["logistic regression"], families["multi-layer perceptron"]
    family = list(families)[int(rng.integers(len(families)))]
    path, hyperparameters = families[family]
    module, _, name = path.partition(".")
    estimator = getattr(importlib.import_module(f"sklearn.{module}"), name)(**hyperparameters(rng, n))
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=int(rng.integers(2**31)))
    return family, estimator


def fitted_predictions(estimator: Any, training: Array, labels: Array, instances: Array) -> Array:
    """Fit a copy of an estimator and return its predictions: the commonest class where no instance looks different.

    Some families of scikit-learn refuse such features: empty pixels, for one. No warning says that a model did not
    converge: some are cut short on purpose, to be weak.
    """
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    if (training == training[:1]).all():
        classes, counts = np.unique(labels, return_counts=True)
        return np.full(len(instances), classes[np.argmax(counts)])
    # One thread: with more, the order of floating-point sums, and so a prediction, could depend on the machine.
    with (
        one_thread(),
        warnings.catch_warnings(),
        np.errstate(divide="ignore", invalid="ignore"),  # deviations of nearest centroids, which no distance uses
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for message in _NO_MATTER:
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        return np.asarray(clone(estimator).fit(training, labels).predict(instances))


#: Warnings that say nothing here: a feature that is constant within every class (an empty pixel) has no deviation,
#: which no distance needs; a class of one instance has no covariance; many classes are classes, not a quantity.
_NO_MATTER = (
    ".*within_class_std_dev_",
    "Only one sample available",
    "The number of unique classes is greater",
)


# The families. Each draws its hyperparameters over the range from a weak to a strong model.


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _leaf(rng: np.random.Generator, n: int) -> int:
    """Fewest instances of a leaf: from one, which learns by heart, to a fiftieth of all."""
    return round(_log_uniform(rng, 1, max(2, n / 50)))


def _forest(rng: np.random.Generator, n: int) -> dict[str, Any]:
    return {
        "n_estimators": int(rng.integers(3, 16)),
        "max_depth": int(rng.integers(2, 13)),
        "min_samples_leaf": _leaf(rng, n),
    }


#: Class of scikit-learn, and how the hyperparameters are drawn for n instances.
_FAMILIES: dict[str, tuple[str, Callable[[np.random.Generator, int], dict[str, Any]]]] = {
    "decision tree": (
        "tree.DecisionTreeClassifier",
        lambda rng, n: {
            "max_depth": int(rng.integers(2, 16)),
            "min_samples_leaf": _leaf(rng, n),
            "criterion": ("gini", "entropy")[int(rng.integers(2))],
            "splitter": ("best", "random")[int(rng.integers(2))],
        },
    ),
    "random forest": ("ensemble.RandomForestClassifier", _forest),
    "extra trees": ("ensemble.ExtraTreesClassifier", _forest),
    "nearest neighbours": (
        "neighbors.KNeighborsClassifier",
        lambda rng, n: {
            "n_neighbors": round(_log_uniform(rng, 1, max(2, min(60, n // 4)))),
            "algorithm": "brute",
        },
    ),
    "nearest centroid": ("neighbors.NearestCentroid", lambda rng, n: {}),
    "normal naive Bayes": ("naive_bayes.GaussianNB", lambda rng, n: {"var_smoothing": _log_uniform(rng, 1e-6, 1.0)}),
    "binary naive Bayes": (
        "naive_bayes.BernoulliNB",
        lambda rng, n: {"alpha": _log_uniform(rng, 0.01, 10.0), "binarize": float(rng.uniform(0.0, 1.0))},
    ),
    "linear discriminant": (
        "discriminant_analysis.LinearDiscriminantAnalysis",
        lambda rng, n: {"solver": "lsqr", "shrinkage": float(rng.uniform(0.01, 1.0))},
    ),
    "ridge": ("linear_model.RidgeClassifier", lambda rng, n: {"alpha": _log_uniform(rng, 0.1, 10.0 * n)}),
    "logistic regression": (
        "linear_model.LogisticRegression",
        lambda rng, n: {"C": _log_uniform(rng, 1e-4, 10.0), "max_iter": int(rng.integers(3, 30))},
    ),
    "multi-layer perceptron": (
        "neural_network.MLPClassifier",
        lambda rng, n: {
            "hidden_layer_sizes": (int(rng.integers(4, 33)),),
            "learning_rate_init": _log_uniform(rng, 1e-3, 3e-2),
            "batch_size": min(64, n),
            "max_iter": int(rng.integers(2, 13)),
        },
    ),
}


# Artificial annotators: varied classifiers that mistake instances because of what these look like ---------------------


#: Steps from the best sight of a model to its worst; the error wanted is looked for by halving.
RUNGS = 32
#: Candidates drawn between two looks at whether there are enough; fixed, so that processes do not matter.
AT_ONCE = 16
#: Candidates per annotator wanted: so many at most for an even spread, so many at most in all.
FOR_EVENNESS, AT_MOST = 2, 10


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ArtificialAnnotators(TableResult):
    """Labels by artificial annotators, with their error rates.

    Attributes
    ----------
    predictions : array of shape (n_annotators, n)
        Labels of the kind that came in; sorted by error, the best annotator first.
    names : tuple of str
        Names of each annotator: its model, and what it sees.
    errors : array of shape (n_annotators,)
        Share of the instances that each gets wrong (resubstitution error: it was trained on them).
    n_candidates : int
        Models tried.
    notes : tuple of Note
    signature : Signature
    """

    _kind, _forms = "artificial annotators", {"error": "percent", "legitimacy": "percent"}

    predictions: Array = field(metadata={"json": False})
    names: tuple[str, ...]
    errors: Floats
    n_candidates: int
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def legitimacy(self) -> Floats:
        """Trust in each annotator, 1 - error, shape (n_annotators,)."""
        return 1 - self.errors

    def to_frame(self) -> "pd.DataFrame":
        """One row per annotator: columns ``annotator``, ``error``, ``legitimacy``."""
        return pd.DataFrame({"annotator": list(self.names), "error": self.errors, "legitimacy": self.legitimacy})

    def headline(self) -> str:
        """Return the error rates of the annotators."""
        ends = f"{written(self.errors[0], 'percent')} to {written(self.errors[-1], 'percent')}"
        return f"{count(len(self.names), 'artificial annotator')}: {ends} of the labels of each are wrong."


@checked
def artificial_annotators(
    features: object,
    y: object,
    *,
    n_annotators: Count = 100,
    highest_error: float = 0.4,
    step: float = 0.05,
    tolerance: float = 0.01,
    models: object = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
) -> ArtificialAnnotators:
    """Train varied classifiers on all instances, and keep those whose errors are spread from few to many.

    Parameters
    ----------
    features : array-like of shape (n, d)
        Finite numbers; they are standardised for the models drawn here, and passed as they are to ``models``.
    y : array-like of shape (n,)
        True classes.
    n_annotators : int, default 100
        How many are wanted, >= 1.
    highest_error : float in (0, 1], default 0.4
        Only annotators with a smaller error are kept.
    step : float in (0, highest_error], default 0.05
        Errors are wanted near the multiples of it: 0, 5%, ..., 40%, as many annotators near each as can be.
    tolerance : float in (0, step / 2], default 0.01
        How near.
    models : sequence of estimators, or mapping of name to estimator, optional
        Classifiers with the interface of scikit-learn to use instead of those drawn here. A copy of each is fitted
        once on all instances; a ``random_state`` that is None is set from ``seed``.
    seed : int, default 0
        Candidate i depends on the seed and on i only.
    n_jobs : int, default 1
        Processes, -1 for all processors. The result does not depend on it.

    Returns
    -------
    ArtificialAnnotators
        Feed it to :func:`add_noise`: ``add_noise(y, rate, annotations=found.predictions)``. Notes say when there
        are fewer annotators than wanted, or none near some of the multiples.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        For features that are not finite or not as many as y, for fewer than two classes, and if no model is eligible.

    Notes
    -----
    Source: Benjelloun, section 6.5.2, algorithm 1. There, convolutional networks of varied structure are trained, and
    at each epoch the network joins the group if its error on all instances, which it was trained on, is under 40% and
    near a multiple of 5%. Here, candidates are small models of scikit-learn: trees, forests, nearest neighbours,
    nearest centroids, naive Bayes, linear discriminants, ridge and logistic regression, small perceptrons, each with
    hyperparameters drawn at random. Instead of epochs, the inputs of each model are degraded (fewer features, blur, or
    both) until its error is the multiple of its turn. A model joins once; only the first of several identical
    annotators stays. After 2 candidates per requested annotator the spread need not be even; after 10, the search ends.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.labels import add_noise
    >>> features = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = (features[:, 0] + features[:, 1] > 0).astype(int)
    >>> found = artificial_annotators(features, y, n_annotators=9)
    >>> found.predictions.shape, bool((found.errors < 0.4).all())
    ((9, 200), True)
    >>> add_noise(y, 0.1, annotations=found.predictions).rate
    0.1
    """
    table = read_codes(features, "features")
    true = read_labels(y, "y")
    remedy = "pass features.T" if table.d == true.size else "row r of both must be the same instance"
    check_rows(features, y, ("features", "y"), (table.n, true.size), remedy)
    words = vocabulary(true)
    if len(words) < 2:
        raise NotEnoughData("y", f"expected at least 2 classes, got only {words.classes[0]!r}")
    if len(words) >= true.size:
        raise NotEnoughData("y", f"expected fewer classes than instances, got {len(words)} of {true.size}")
    instances, truth = table.dense(), words.encode(true, "y")
    aims = ErrorAims.checked(highest_error, step, tolerance)
    own = None if models is None else _read_models(models, seed)
    jobs: list[Any] = [(index,) for index in range(AT_MOST * n_annotators)] if own is None else own
    work: Any = partial(_fitted, instances, truth)
    if own is None:
        work = partial(candidate_annotator, instances, truth, seed, aims)
    tried: list[float] = []  # errors of all candidates
    kept: dict[bytes, tuple[str, Indices, float]] = {}  # of those that are eligible, by what they answer
    near: list[list[int]] = [[] for _ in range(len(aims))]
    alike = 0
    with reporting() as report:
        for start in range(0, len(jobs), AT_ONCE):
            for name, predictions in ordered(work, jobs[start : start + AT_ONCE], n_jobs=n_jobs):
                error = float(np.mean(predictions != truth))
                tried.append(error)
                multiple, key = aims.near(error), predictions.tobytes()
                if multiple is not None and key in kept:
                    alike += 1
                elif multiple is not None:
                    near[multiple].append(len(kept))
                    kept[key] = name, predictions, error
            if report is not None:
                report(min(len(kept), n_annotators), n_annotators, "artificial annotators")
            even = min(map(len, near)) >= n_annotators // len(aims) or len(tried) >= FOR_EVENNESS * n_annotators
            if own is None and len(kept) >= n_annotators and even:
                break
    wanted = f"an error under {aims.highest:g} and within {aims.tolerance:g} of a multiple of {aims.step:g}"
    if not kept:
        argument, reached = "features" if own is None else "models", f"{min(tried):.4g} to {max(tried):.4g}"
        raise NotEnoughData(argument, f"none of {len(tried)} models has {wanted}", f"their errors go from {reached}")
    # one near each multiple in turn, until there are enough; the best annotator first
    group = list(kept.values())
    turns = (in_turn(near) if own is None else range(len(group)))[:n_annotators]
    names, votes, errors = zip(
        *(group[place] for place in sorted(turns, key=lambda one: (group[one][2], one))), strict=True
    )
    arguments: dict[str, object] = {"n_annotators": n_annotators, "highest_error": aims.highest, "step": aims.step}
    arguments |= {"tolerance": aims.tolerance, "seed": seed}
    notes = []
    if own is not None:
        arguments["models"] = [name for name, _ in own]
    if own is not None and len(kept) < len(tried):
        others = len(tried) - len(kept) - alike
        message = (
            f"of {len(tried)} models, {others} do not have {wanted}, and {alike} answer all as an earlier one does"
        )
        notes.append(Note(code="ineligible-models", message=message, severity="warning"))
    if own is None and len(names) < n_annotators:
        message = (
            f"{len(names)} of {n_annotators} annotators wanted: of {len(tried)} models tried, no more have {wanted} "
            "and answers of their own; a larger tolerance admits more"
        )
        notes.append(Note(code="few-annotators", message=message, severity="warning"))
    met = set(map(aims.near, errors))
    lacking = tuple(f"{multiple * aims.step:.4g}" for multiple in range(len(aims)) if multiple not in met)
    if lacking and own is None and len(names) >= len(aims):
        message = f"no annotator has an error near {', '.join(lacking)}: the models do not reach it on these data"
        notes.append(Note(code="uneven-errors", message=message, subject=lacking))
    return ArtificialAnnotators(
        predictions=np.array(words.classes, dtype=true.dtype)[np.stack(votes)],
        names=names,
        errors=np.array(errors),
        n_candidates=len(tried),
        notes=tuple(notes),
        signature=Signature("artificial_annotators", arguments, {"n": str(truth.size), "demele": __version__}),
    )


def candidate_annotator(features: Floats, y: Indices, seed: int, aims: ErrorAims, index: int) -> tuple[str, Indices]:
    """Train one candidate on all instances and return its name and what it takes them for.

    A pure function of its arguments, so that candidates can be trained in any order, anywhere, and stored.

    Parameters
    ----------
    features : array of float of shape (n, d)
        Finite.
    y : array of int of shape (n,)
        True classes, as indices.
    aims : ErrorAims
    index : int
        Which candidate; its turn also decides the multiple of the step that its error aims at.

    Returns
    -------
    name : str
    predictions : array of int32 of shape (n,)
        The nearest to the error aimed at that was met; it may be far from it.
    """
    n, d = features.shape
    rng = rng_for(seed, "annotator", index)
    family, model = draw_model(rng, n, d, int(np.unique(y).size))
    eyes = draw_eyes(rng, n, d)
    low, high = aims.interval(index)
    best, found = math.inf, ("", y)
    first, last = 0, RUNGS
    while first <= last:  # the error grows with the handicap, nearly enough for halving
        handicap = (first + last) // 2 / RUNGS
        seen = eyes.view(features, handicap)
        predictions = fitted_predictions(model, seen, y, seen).astype(np.int32)
        error = float(np.mean(predictions != y))
        distance = abs(error - (low + high) / 2)
        if distance < best:
            best, found = distance, (f"{family} {index}: {eyes.described(handicap)}", predictions)
        too_good = error < low or error == 0  # an annotator without any error has no say in the noise
        if not too_good and error <= high:
            break
        first, last = ((first + last) // 2 + 1, last) if too_good else (first, (first + last) // 2 - 1)
    return found


def _fitted(table: Floats, truth: Indices, name: str, estimator: Any) -> tuple[str, Indices]:
    predictions = fitted_predictions(estimator, table, truth, table)
    if predictions.shape != truth.shape:
        got = f"predictions of shape {predictions.shape} for {truth.size} instances"
        raise InputError("models", f"expected one class per instance from {name}, got {got}")
    if not np.isin(predictions, truth).all():
        raise InputError("models", f"{name} predicts values outside its classes; pass classifiers")
    return name, predictions.astype(np.int32)


def _read_models(models: Any, seed: int) -> list[tuple[str, Any]]:
    if isinstance(models, str | bytes) or not isinstance(models, Mapping | Sequence):
        hint = "; write [model]" if hasattr(models, "fit") else ""
        expected = "expected a sequence of classifiers, or a mapping of name to classifier"
        raise InputTypeError("models", f"{expected}, got {type(models).__name__}{hint}")
    if not isinstance(models, Mapping):
        models = {f"{type(model).__name__} {index}": model for index, model in enumerate(models)}
    if not models:
        raise NotEnoughData("models", "expected at least 1 classifier, got none")
    for name, model in models.items():
        is_class = isinstance(model, type)
        if is_class or not all(hasattr(model, needed) for needed in ("fit", "predict", "get_params")):
            got = f"{quoted(model)} as {quoted(name)}" + ("; make an instance of it" if is_class else "")
            raise InputTypeError("models", f"expected classifiers with fit, predict and get_params, got {got}")
    return [
        (str(name), seeded(model, rng_for(seed, "annotator", "model", position)))
        for position, (name, model) in enumerate(models.items())
    ]
