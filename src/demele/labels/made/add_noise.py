"""Label noise of any kind by one call, with its truth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from demele.core.errors import InputError
from demele.core.kinds import Classes, Data, Noise, checked
from demele.core.labelled import read_labels
from demele.labels.made.annotators import artificial_annotators
from demele.labels.made.noise import (
    NoisyLabels,
    add_class_noise,
    add_feature_noise,
    add_model_noise,
    add_uniform_noise,
    symmetric_transition,
)
from demele.noise.transition import TransitionCounts, TransitionMatrix

NoiseKind = Literal["uniform", "class", "feature", "model"]
#: What each kind of noise is made from.
_MADE_FROM: Mapping[str, tuple[str, ...]] = {
    "class": ("transition", "symmetric"),
    "feature": ("features", "annotations"),
    "model": ("predictions",),
}


@checked
def add_noise(
    labels: object,
    noise: Noise = None,
    *,
    kind: NoiseKind | None = None,
    symmetric: bool = False,
    features: Data = None,
    predictions: Data = None,
    annotations: Data = None,
    legitimacy: object = None,
    n_annotators: int = 100,
    approximate: bool = False,
    classes: Classes = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> NoisyLabels:
    """Make labels wrong, with known truth: at random, per class, per features, or as models predict.

    Parameters
    ----------
    labels : array-like of shape (n,)
        True classes.
    noise : float, sequence of float, TransitionMatrix, TransitionCounts, or array of shape (K, K)
        Share of labels to make wrong, several shares, or a transition matrix. Of several shares, the smaller ones are
        nested in the larger. Needed, but for noise as models predict.
    kind : {"uniform", "class", "feature", "model"}, optional
        Kind of the noise (default: by what is given).
    symmetric : bool
        Confuse each class with any other, with the same probability.
    features : array-like of shape (n, d), optional
        Features on which artificial annotators are trained.
    predictions : mapping of str to array-like of shape (n,), optional
        Predicted classes of models. Of several, the one whose error is nearest to the rate.
    annotations : mapping of str to array-like of shape (n,), optional
        Answers of artificial annotators.
    legitimacy : array-like of shape (n_annotators,), optional
        Trust in each annotator, >= 0. By default 1 minus the share of instances that it gets wrong.
    n_annotators : int
        Artificial annotators to train.
    approximate : bool
        Draw each label by itself. The number of wrong labels then varies.
    classes : sequence, optional
        All classes (default: those of the labels).
    seed : int
        Random seed.
    n_jobs : int
        Processes, -1 for all processors.

    Returns
    -------
    NoisyLabels
        At the first share; ``others`` are at the further ones.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> from demele import labels
    >>> y = ["cat", "dog"] * 50
    >>> noisy = labels.add_noise(y, 0.1, seed=0)
    >>> noisy.noise, noisy.rate, int((noisy.labels != noisy.true_labels).sum())
    ('uniform', 0.1, 10)
    >>> [one.rate for one in labels.add_noise(y, [0.1, 0.2]).versions]
    [0.1, 0.2]
    >>> cats = labels.TransitionMatrix([[0.8, 0.2], [0.0, 1.0]], ["cat", "dog"])
    >>> labels.add_noise(y, cats).transition.probability(true="cat", given="dog")
    0.2
    """
    is_matrix = isinstance(noise, TransitionMatrix | TransitionCounts) or getattr(noise, "ndim", 0) == 2
    transition = noise if is_matrix else None
    given = {
        "transition": transition is not None,
        "symmetric": symmetric,
        "features": features is not None,
        "annotations": annotations is not None,
        "predictions": predictions is not None,
    }
    makers = [name for name, there in given.items() if there]
    if len(makers) > 1:
        raise InputError(makers[1], f"{makers[0]} is given too; one of them makes the noise")
    kinds = {name: of for of, names in _MADE_FROM.items() for name in names}
    found = kinds[makers[0]] if makers else kind or "uniform"
    if kind not in (None, found):
        raise InputError("kind", f"{makers[0]} makes noise of the kind {found}, got {kind}; leave one of them out")
    if not makers and found != "uniform":
        raise InputError("kind", f"{found} needs {' or '.join(_MADE_FROM[found])}")
    rates: list[Any] = [] if transition is not None or noise is None else _listed(noise)
    if not rates and found != "model" and transition is None:
        raise InputError("noise", "expected the share of labels to make wrong; pass `noise=0.05`")
    annotators, exact = None, not approximate
    known = classes if classes is not None else sorted(set(read_labels(labels, "labels").tolist()))
    if transition is not None:
        versions = [add_class_noise(labels, transition, exact=exact, seed=seed)]
    elif found == "uniform":
        versions = [add_uniform_noise(labels, rate, classes=known, exact=exact, seed=seed) for rate in rates]
    elif symmetric:
        matrices = [symmetric_transition(known, rate) for rate in rates]
        versions = [add_class_noise(labels, matrix, exact=exact, seed=seed) for matrix in matrices]
    elif found == "model":
        versions = [add_model_noise(labels, predictions, rate) for rate in rates or [None]]
    else:
        answers: Any = annotations
        if features is not None:
            annotators = artificial_annotators(features, labels, n_annotators=n_annotators, seed=seed, n_jobs=n_jobs)
            answers = annotators.predictions
        versions = [add_feature_noise(labels, answers, rate, legitimacy=legitimacy) for rate in rates]
    first, *others = (replace(one, noise=found) for one in versions)
    return replace(first, others=tuple(others), annotators=annotators)


def _listed(noise: Any) -> list[Any]:
    return list(noise) if isinstance(noise, Sequence) and not isinstance(noise, str) else [noise]
