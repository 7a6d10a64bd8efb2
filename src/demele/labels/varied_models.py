"""Varied classifiers of scikit-learn, drawn at random; each gets its own part of the features."""

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.runtime.threads import one_thread

Floats = NDArray[np.float64]

#: A model sees at most so many features, which bounds what it costs.
MOST_FEATURES = 256
#: Nearest neighbours cost n squared; beyond so many instances they are not drawn.
MOST_NEIGHBOURS_ROWS = 10_000
#: Models trained by gradients are not drawn where one pass over the data would take more products than this.
MOST_PRODUCTS = 50_000_000
#: Blur at the end of the ladder, in standard deviations of each feature.
MOST_BLUR = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class VariedModel:
    """A classifier of scikit-learn that is not fitted, and what to call it."""

    name: str
    estimator: Any


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

    order: NDArray[np.intp]
    fewer: float
    blur: float
    noise: Floats

    def sight(self, handicap: float) -> tuple[int, float]:
        """Return the number of features and the blur at a handicap in [0, 1]."""
        kept = max(1, round(self.order.size ** (1 - self.fewer * handicap)))
        return kept, self.blur * handicap**2

    def view(self, features: Floats, handicap: float, training: NDArray[Any] | None = None) -> Floats:
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


def draw_model(rng: np.random.Generator, n: int, d: int, k: int) -> VariedModel:
    """Draw the family and the hyperparameters of a classifier, for n training instances, d features and k classes."""
    families = dict(_FAMILIES)
    if n > MOST_NEIGHBOURS_ROWS:
        del families["nearest neighbours"]
    if n * min(d, MOST_FEATURES) * k > MOST_PRODUCTS:
        del families["logistic regression"], families["multi-layer perceptron"]
    family = list(families)[int(rng.integers(len(families)))]
    module, name, hyperparameters = families[family]
    estimator = getattr(importlib.import_module(f"sklearn.{module}"), name)(**hyperparameters(rng, n))
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=int(rng.integers(2**31)))
    return VariedModel(family, estimator)


def fitted_predictions(
    estimator: Any, training: NDArray[Any], labels: NDArray[Any], instances: NDArray[Any]
) -> NDArray[Any]:
    """Fit a copy of an estimator and return its predictions.

    Without a warning if it did not converge: some of the models are cut short on purpose, to be weak.
    """
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

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


def seen_predictions(
    model: VariedModel, training: NDArray[Any], labels: NDArray[Any], instances: NDArray[Any]
) -> NDArray[Any]:
    """Like :func:`fitted_predictions`; a model to which all training instances look the same says the commonest class.

    Some families of scikit-learn refuse such features: empty pixels, for one.
    """
    if (training == training[:1]).all():
        classes, counts = np.unique(labels, return_counts=True)
        return np.full(len(instances), classes[np.argmax(counts)])
    return fitted_predictions(model.estimator, training, labels, instances)


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


#: Module and class of scikit-learn, and how the hyperparameters are drawn for n instances.
_FAMILIES: dict[str, tuple[str, str, Callable[[np.random.Generator, int], dict[str, Any]]]] = {
    "decision tree": (
        "tree",
        "DecisionTreeClassifier",
        lambda rng, n: {
            "max_depth": int(rng.integers(2, 16)),
            "min_samples_leaf": _leaf(rng, n),
            "criterion": ("gini", "entropy")[int(rng.integers(2))],
            "splitter": ("best", "random")[int(rng.integers(2))],
        },
    ),
    "random forest": ("ensemble", "RandomForestClassifier", _forest),
    "extra trees": ("ensemble", "ExtraTreesClassifier", _forest),
    "nearest neighbours": (
        "neighbors",
        "KNeighborsClassifier",
        lambda rng, n: {
            "n_neighbors": round(_log_uniform(rng, 1, max(2, min(60, n // 4)))),
            "algorithm": "brute",
        },
    ),
    "nearest centroid": ("neighbors", "NearestCentroid", lambda rng, n: {}),
    "normal naive Bayes": ("naive_bayes", "GaussianNB", lambda rng, n: {"var_smoothing": _log_uniform(rng, 1e-6, 1.0)}),
    "binary naive Bayes": (
        "naive_bayes",
        "BernoulliNB",
        lambda rng, n: {"alpha": _log_uniform(rng, 0.01, 10.0), "binarize": float(rng.uniform(0.0, 1.0))},
    ),
    "linear discriminant": (
        "discriminant_analysis",
        "LinearDiscriminantAnalysis",
        lambda rng, n: {"solver": "lsqr", "shrinkage": float(rng.uniform(0.01, 1.0))},
    ),
    "ridge": ("linear_model", "RidgeClassifier", lambda rng, n: {"alpha": _log_uniform(rng, 0.1, 10.0 * n)}),
    "logistic regression": (
        "linear_model",
        "LogisticRegression",
        lambda rng, n: {"C": _log_uniform(rng, 1e-4, 10.0), "max_iter": int(rng.integers(3, 30))},
    ),
    "multi-layer perceptron": (
        "neural_network",
        "MLPClassifier",
        lambda rng, n: {
            "hidden_layer_sizes": (int(rng.integers(4, 33)),),
            "learning_rate_init": _log_uniform(rng, 1e-3, 3e-2),
            "batch_size": min(64, n),
            "max_iter": int(rng.integers(2, 13)),
        },
    ),
}
