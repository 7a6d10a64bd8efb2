"""Label noise of any kind by one call: versions of one column of labels, each with its truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from demele.core.errors import InputError
from demele.core.kinds import Classes, Data, Noise
from demele.core.labelled import read_labels
from demele.core.result import Result
from demele.labels.made.annotators import ArtificialAnnotators, artificial_annotators
from demele.labels.made.noise import (
    NoisyLabels,
    add_class_noise,
    add_feature_noise,
    add_model_noise,
    add_uniform_noise,
    symmetric_transition,
)
from demele.noise.transition import TransitionCounts, TransitionMatrix
from demele.report.document import Document, Table
from demele.runtime.progress import Report

if TYPE_CHECKING:
    import pandas as pd

NoiseKind = Literal["uniform", "class", "feature", "model"]
#: What each kind of noise is made from.
_MADE_FROM: Mapping[str, tuple[str, ...]] = {
    "class": ("transition", "symmetric"),
    "feature": ("features", "annotations"),
    "model": ("predictions",),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorruptedLabels(Result):
    """Labels with noise of known truth, at one rate or at several; see :func:`corrupt`.

    Attributes
    ----------
    noise : {"uniform", "class", "feature", "model"}
    versions : tuple of NoisyLabels
        One for each rate.
    annotators : ArtificialAnnotators or None
        Those that were trained for noise per features.
    """

    _kind = "label noise"
    _files: ClassVar[Mapping[str, str]] = {".annotations.csv": "annotations_frame"}

    noise: NoiseKind
    versions: tuple[NoisyLabels, ...]
    annotators: ArtificialAnnotators | None = field(default=None)

    def document(self) -> Document:
        """Return what the noise is; of several rates, a row each."""
        made = self.versions[0].document()
        if self.annotators is not None:
            made = replace(made, sentences=[*made.sentences, self.annotators.headline()])
        if len(self.versions) == 1:
            return made
        columns = {"Rate": "percent", "Wrong labels": "percent", "Rows": "count"}
        rows = [(one.wanted, one.rate, one.n) for one in self.versions]
        return replace(made, table=Table("Rates", columns, rows), sections=())

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per label: noisy, true, and whether it is wrong; of several rates, columns for each."""
        import pandas as pd

        if len(self.versions) == 1:
            return self.versions[0].to_frame()
        labels = {f"label_{one.wanted:g}": one.labels for one in self.versions}
        wrong = {f"mislabelled_{one.wanted:g}": one.mislabelled for one in self.versions}
        return pd.DataFrame({**labels, "true": self.versions[0].true_labels, **wrong})

    def annotations_frame(self) -> "pd.DataFrame":
        """Return what the annotators say, one column each.

        Raises
        ------
        InputError
            If no annotators were trained.
        """
        import pandas as pd

        if self.annotators is None:
            raise InputError("features", "no annotators were trained; annotations are of noise per features")
        # A comma would end the name in FILE::a,b.
        names = [f"{place}: {name.replace(',', ';')}" for place, name in enumerate(self.annotators.names, start=1)]
        return pd.DataFrame(dict(zip(names, self.annotators.predictions, strict=True)))


def corrupt(
    labels: object,
    *,
    noise: Noise = None,
    kind: NoiseKind | None = None,
    symmetric: bool = False,
    features: Data = None,
    predictions: Data = None,
    annotations: Data = None,
    n_annotators: int = 100,
    approximate: bool = False,
    classes: Classes = None,
    seed: int = 0,
    n_jobs: int = 1,
    progress: bool | Report = False,
) -> CorruptedLabels:
    """Make labels wrong, with known truth: at random, per class, per features, or as models predict.

    Parameters
    ----------
    labels : array-like of shape (n,)
        True classes.
    noise : float, sequence of float, TransitionMatrix or TransitionCounts
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
    progress : bool or callable(done, total, label)

    Returns
    -------
    CorruptedLabels

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Examples
    --------
    >>> corrupted = corrupt(["cat", "dog"] * 50, noise=[0.1, 0.2])
    >>> [int(one.mislabelled.sum()) for one in corrupted.versions]
    [10, 20]
    """
    transition = noise if isinstance(noise, TransitionMatrix | TransitionCounts) else None
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
            annotators = artificial_annotators(
                features, labels, n_annotators=n_annotators, seed=seed, n_jobs=n_jobs, progress=progress
            )
            answers = annotators.predictions
        versions = [add_feature_noise(labels, answers, rate) for rate in rates]
    return CorruptedLabels(found, tuple(versions), annotators)  # type: ignore[arg-type]


def _listed(noise: Any) -> list[Any]:
    return list(noise) if isinstance(noise, Sequence) and not isinstance(noise, str) else [noise]
