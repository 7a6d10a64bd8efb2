"""Label noise that is made on purpose, so that its truth is known: what it is, and noise that follows the features.

Noise that follows the class alone is made in :mod:`demele.labels.made.class_noise`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_rate
from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.given_arrays import items_of
from demele.core.labelled import Indices, Vocabulary, common_vocabulary, plain_text, read_labels
from demele.core.result import Result
from demele.core.sentences import arg
from demele.core.table_columns import check_same_order, number_column
from demele.labels.documents import noisy_document
from demele.labels.votes import earliest_voter, plurality
from demele.noise.transition import TransitionCounts, TransitionMatrix
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]

#: Votes summed at a time, so that memory stays bounded.
CELLS_AT_ONCE = 1 << 22
#: Shares of instances nearer than this are the same share, written in two ways.
SAME_SHARE = 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class NoisyLabels(Result):
    """Labels with noise of known truth.

    Attributes
    ----------
    labels : array of shape (n,)
        The noisy labels, of the kind that came in.
    true_labels : array of shape (n,)
        The labels that came in.
    mislabelled : array of bool of shape (n,)
        Which labels are wrong.
    rate : float
        Share of wrong labels, as realised.
    wanted : float or None
        Share of wrong labels that was asked for; for noise per class, the share that the matrix makes wrong on average.
        None where nothing was asked for.
    highest_rate : float or None
        The highest rate that can be asked for with the same ``y`` and the same annotators. None where no rate is asked.
    counts : TransitionCounts
        Row = true class, column = noisy label, over all n instances.
    source : str or None
        The model whose predictions the labels are, where they are those of one model.
    difficulty : array of shape (n,) or None
        For noise per features: trust in the annotators that get each instance wrong; the most difficult ones are wrong.
    """

    _kind = "label noise"

    labels: NDArray[Any] = field(metadata={"json": False})
    true_labels: NDArray[Any] = field(metadata={"json": False})
    mislabelled: NDArray[np.bool_] = field(metadata={"json": False})
    rate: float
    counts: TransitionCounts
    wanted: float | None = None
    highest_rate: float | None = None
    source: str | None = None
    difficulty: Floats | None = field(default=None, metadata={"json": False})

    def document(self) -> Document:
        """Return the document: the number of wrong labels of each class, and their confusions."""
        return noisy_document(self)

    @property
    def n(self) -> int:
        """Number of instances."""
        return int(self.mislabelled.size)

    @property
    def transition(self) -> TransitionMatrix:
        """Share of each noisy label among the instances of each true class; a class without instance counts as right.

        See ``counts`` for the number of labels behind each row.
        """
        return self.counts.to_matrix(empty="right")

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame of n rows with columns label (noisy), true and mislabelled."""
        import pandas as pd

        return pd.DataFrame({"label": self.labels, "true": self.true_labels, "mislabelled": self.mislabelled})


def add_feature_noise(y: object, annotations: object, rate: float, *, legitimacy: object = None) -> NoisyLabels:
    """Mislabel the instances that artificial annotators find hardest, as they would mislabel them.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    annotations : array-like of shape (n_annotators, n), or mapping of name to labels
        What each artificial annotator, such as a classifier, takes each instance for.
    rate : float in [0, 1]
        Share of labels to make wrong: round(rate n) of them.
    legitimacy : array-like of shape (n_annotators,), optional
        Trust in each annotator, >= 0. By default 1 minus the share of instances that it gets wrong.

    Returns
    -------
    NoisyLabels
        Deterministic and nested: with the same annotators, a smaller rate mislabels some of the same instances, in the
        same way. Its ``highest_rate`` is the highest that these annotators can reach.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the rate cannot be reached, because too few instances are wrong for at least one trusted annotator; the
        message says the highest rate that can.

    Notes
    -----
    Source: Benjelloun, algorithm 2. The difficulty of an instance is the sum of the legitimacies of the annotators that
    get it wrong; the most difficult ones are mislabelled, each as the wrong class with the largest sum of legitimacies.
    Ties: the earlier instance, and the class that the earliest annotator names. The source takes the error of an
    annotator as its legitimacy, which would trust the worst most; here it is 1 minus the error. Time
    O(n n_annotators + n K).

    Examples
    --------
    >>> noisy = add_feature_noise([0, 1, 2, 0], [[0, 2, 2, 0], [0, 2, 1, 0], [1, 1, 2, 0]], 0.25)
    >>> noisy.labels, noisy.rate
    (array([0, 2, 2, 0]), 0.25)
    >>> noisy.highest_rate
    0.75
    """
    true = read_labels(y, "y")
    rows = list(_read_annotations(annotations, y, true.size, "annotations", "annotator").values())
    words = _common_vocabulary(true, rows, "annotations")
    coded = words.encode(true, "y")
    votes = np.stack([words.encode(row, f"annotations, annotator {index}") for index, row in enumerate(rows)])
    share = checked_rate(rate, "rate")
    trust = (
        (votes == coded).mean(axis=1)
        if legitimacy is None
        else number_column(legitimacy, "legitimacy", len(rows), "annotator")
    )
    difficulty, mistaken = _most_plausible_mistake(coded, votes, trust, len(words))
    wanted, reachable = round(share * true.size), int(np.count_nonzero(difficulty > 0))
    if wanted > reachable:
        raise InputError(
            "rate",
            f"{share:g} of {true.size} instances would be {wanted} wrong labels, but only {reachable} instances "
            "are wrong for at least one annotator with legitimacy; the highest reachable rate is "
            f"{reachable / true.size:g}",
        )
    mislabelled = np.zeros(true.size, dtype=bool)
    mislabelled[np.argsort(-difficulty, kind="stable")[:wanted]] = True
    noisy = np.where(mislabelled, mistaken, coded).astype(np.int32)
    highest = reachable / true.size
    return noisy_labels(noisy, coded, words, true, wanted=share, highest_rate=highest, difficulty=difficulty)


def add_model_noise(y: object, predictions: object, rate: float | None = None) -> NoisyLabels:
    """Take the predictions of one model for labels, so that the noise follows the features as the model does.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    predictions : array-like of shape (n,), or of shape (n_models, n), or mapping of name to predictions
        Predicted classes of one model, or of several to choose from. The source trains its models on the very
        instances that they mislabel.
    rate : float in [0, 1], optional
        Share of wrong labels wanted: the model whose error on ``y`` is nearest to it is taken; of two as near, the
        first. Needed where there are several models.

    Returns
    -------
    NoisyLabels
        ``rate`` is the error of the model, which may be far from the rate wanted; ``source`` names the model;
        ``highest_rate`` is the largest error among the models. Not nested: other models make other mistakes.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If there are several models and no rate, or if lengths differ.

    Notes
    -----
    Source: Benjelloun, section 7.8.1. :func:`add_feature_noise` reaches any rate up to its highest, and its rates are
    nested.

    Examples
    --------
    >>> models = {"tree": [0, 1, 2, 1], "forest": [0, 1, 2, 0], "chance": [2, 0, 1, 0]}
    >>> noisy = add_model_noise([0, 1, 2, 0], models, rate=0.3)
    >>> noisy.source, noisy.rate, noisy.labels
    ('tree', 0.25, array([0, 1, 2, 1]))
    """
    true = read_labels(y, "y")
    models = _read_annotations(
        predictions if _several(predictions) else [predictions], y, true.size, "predictions", "model"
    )
    share = None if rate is None else checked_rate(rate, "rate")
    if share is None and len(models) > 1:
        raise InputError(
            "rate", f"expected the rate wanted, to choose one of {len(models)} models by its error, got None"
        )
    words = _common_vocabulary(true, list(models.values()), "predictions")
    coded = words.encode(true, "y")
    votes = np.stack([words.encode(row, f"predictions, model {plain_text(name)}") for name, row in models.items()])
    errors = (votes != coded).mean(axis=1)
    away = np.zeros(len(models)) if share is None else np.abs(errors - share)
    chosen = int(np.flatnonzero(away <= away.min() + SAME_SHARE)[0])
    name = list(models)[chosen]
    source = name if isinstance(name, str) else f"model {name}" if len(models) > 1 else None
    highest = None if share is None else float(errors.max())
    return noisy_labels(votes[chosen], coded, words, true, wanted=share, highest_rate=highest, source=source)


def noisy_labels(
    noisy: Indices,
    coded: Indices,
    words: Vocabulary,
    true: NDArray[Any],
    *,
    wanted: float | None = None,
    highest_rate: float | None = None,
    source: str | None = None,
    difficulty: Floats | None = None,
) -> NoisyLabels:
    """Return the noisy labels and what they did, from class indices and the true labels as they were read."""
    k = len(words)
    table = np.bincount(coded.astype(np.int64) * k + noisy, minlength=k * k).reshape(k, k)
    mislabelled = noisy != coded
    return NoisyLabels(
        labels=np.array(words.classes, dtype=true.dtype)[noisy],
        true_labels=true,
        mislabelled=mislabelled,
        rate=float(mislabelled.mean()),
        counts=TransitionCounts(table, words.classes, sample_of="labels"),
        wanted=wanted,
        highest_rate=highest_rate,
        source=source,
        difficulty=difficulty,
    )


def _most_plausible_mistake(true: Indices, votes: Indices, trust: Floats, k: int) -> tuple[Floats, Indices]:
    """Return the trust in being wrong, and the wrong class with most trust, of each instance; shape (n,) each.

    Sums run over the annotators in their order, so that they are the same on every machine.
    """
    n = true.size
    difficulty, mistaken = np.zeros(n), np.empty(n, dtype=np.int32)
    for row, weight in zip(votes, trust, strict=True):
        difficulty += np.where(row != true, weight, 0.0)
    step = max(1, CELLS_AT_ONCE // k)
    for start in range(0, n, step):
        part = slice(start, start + step)
        every = np.arange(true[part].size)
        plausible = np.zeros((every.size, k))
        for row, weight in zip(votes, trust, strict=True):
            plausible[every, row[part]] += weight
        plausible[every, true[part]] = -1.0
        mistaken[part] = plurality(plausible, earliest_voter(votes[:, part], k))
    return difficulty, mistaken


def _common_vocabulary(true: NDArray[Any], rows: list[NDArray[Any]], argument: str) -> Vocabulary:
    words = common_vocabulary([true, *rows])
    if len(words) < 2 and all(row.dtype == true.dtype for row in rows):
        raise NotEnoughData(
            "y", f"expected at least 2 classes among {arg('y')} and {arg(argument)}, got only {words.classes[0]!r}"
        )
    return words


def _several(predictions: Any) -> bool:
    """Whether these are the predictions of several models: a mapping, a table, or a list of columns."""
    if isinstance(predictions, list | tuple):
        return len(predictions) > 0 and not isinstance(predictions[0], str) and len(np.shape(predictions[0])) > 0
    return isinstance(predictions, Mapping) or len(getattr(predictions, "shape", ())) > 1


def _read_annotations(values: Any, y: object, n: int, argument: str, one: str) -> dict[Any, NDArray[Any]]:
    """Return what each annotator (or model) answered, by its name or position."""
    shape = f"(n_{one}s, n)"
    if values is None or isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputTypeError(argument, f"expected shape {shape}, got {type(values).__name__}")
    if hasattr(values, "columns"):
        raise InputTypeError(argument, f"expected shape {shape}, got a data frame; pass frame.to_numpy().T")
    named = hasattr(values, "items")
    items = list(values.items()) if named else list(enumerate(items_of(values, argument, f"shape {shape}")))
    rows = {name: read_labels(row, f"{argument}, {one} {plain_text(name)}") for name, row in items}
    if not rows:
        raise NotEnoughData(argument, f"expected at least 1 {one}, got none")
    for name, row in items:
        if rows[name].size != n:
            turned = len(rows) == n and not named
            raise InputError(
                argument,
                f"expected {n} labels of each {one}, as many as {arg('y')} has, got {rows[name].size} of {one} "
                f"{plain_text(name)}" + (f"; pass {argument}.T" if turned else ""),
            )
        check_same_order(row, y, (f"{argument}, {one} {plain_text(name)}", "y"))
    return rows
