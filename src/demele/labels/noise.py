"""Label noise that is made on purpose, so that its truth is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData
from demele.core.inputs import as_column
from demele.core.labelled import Indices, Vocabulary, read_labels, vocabulary
from demele.labels.transition import TransitionCounts, digest

__all__ = ["NoisyLabels", "add_feature_noise"]

Floats = NDArray[np.float64]

#: Votes summed at a time, so that memory stays bounded.
CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class NoisyLabels:
    """Labels with noise of known truth.

    Attributes
    ----------
    labels : array of shape (n,)
        The noisy labels, of the kind that came in.
    mislabelled : array of bool of shape (n,)
        Which labels are wrong.
    rate : float
        Share of wrong labels, as realised.
    counts : TransitionCounts
        Row = true class, column = noisy label, over all n instances.
    """

    labels: NDArray[Any]
    mislabelled: NDArray[np.bool_]
    rate: float
    counts: TransitionCounts

    def __repr__(self) -> str:
        return f"NoisyLabels(n={self.mislabelled.size}, rate={self.rate:.6g}, digest={digest(self.labels)!r})"


def add_feature_noise(y: object, annotations: object, rate: float, *, legitimacy: object = None) -> NoisyLabels:
    """Mislabel the instances that artificial annotators find hardest, as they would mislabel them.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    annotations : array-like of shape (n_annotators, n), or mapping of name to labels
        What each artificial annotator, such as a classifier, takes each instance for.
    rate : float in [0, 1)
        Share of labels to make wrong: round(rate n) of them.
    legitimacy : array-like of shape (n_annotators,), optional
        Trust in each annotator, >= 0. By default 1 minus the share of instances that it gets wrong.

    Returns
    -------
    NoisyLabels
        Deterministic and nested: with the same annotators, a smaller rate mislabels some of the same instances, in the
        same way.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData
        If the rate cannot be reached, because too few instances are wrong for at least one trusted annotator; the
        message says the highest rate that can.

    Notes
    -----
    Source: Benjelloun, algorithm 2. The difficulty of an instance is the sum of the legitimacies of the annotators that
    get it wrong; the most difficult ones are mislabelled, each as the wrong class with the largest sum of legitimacies.
    Ties: the earlier instance, and the earlier class in sorted order. The source takes the error of an annotator as its
    legitimacy, which would trust the worst most; here it is 1 minus the error. Time O(n (n_annotators + K)).

    Examples
    --------
    >>> noisy = add_feature_noise([0, 1, 2, 0], [[0, 2, 2, 0], [0, 2, 1, 0], [1, 1, 2, 0]], 0.25)
    >>> noisy.labels, noisy.rate
    (array([0, 2, 2, 0]), 0.25)
    """
    true = read_labels(y, "y")
    rows = _read_annotations(annotations, true.size)
    same = all(row.dtype == true.dtype for row in rows)
    words = vocabulary(np.concatenate([true, *rows]) if same else true)
    coded = words.encode(true, "y")
    votes = np.stack([words.encode(row, f"annotations, annotator {index}") for index, row in enumerate(rows)])
    share = _read_rate(rate)
    trust = (votes == coded).mean(axis=1) if legitimacy is None else _read_legitimacy(legitimacy, len(rows))
    difficulty, mistaken = _most_plausible_mistake(coded, votes, trust, len(words))
    wanted, reachable = round(share * true.size), int(np.count_nonzero(difficulty > 0))
    if wanted > reachable:
        raise InputError(
            f"rate: {share:g} of {true.size} instances would be {wanted} wrong labels, but only {reachable} instances "
            "are wrong for at least one annotator with legitimacy; the highest reachable rate is "
            f"{reachable / true.size:g}"
        )
    mislabelled = np.zeros(true.size, dtype=bool)
    mislabelled[np.argsort(-difficulty, kind="stable")[:wanted]] = True
    noisy = np.where(mislabelled, mistaken, coded).astype(np.int32)
    return _made(noisy, coded, words, true.dtype)


def _made(noisy: Indices, true: Indices, words: Vocabulary, kind: Any) -> NoisyLabels:
    k = len(words)
    if k < 2:
        raise NotEnoughData(f"y: expected at least 2 classes among y and annotations, got only {words.classes[0]!r}")
    table = np.bincount(true.astype(np.int64) * k + noisy, minlength=k * k).reshape(k, k)
    mislabelled = noisy != true
    return NoisyLabels(
        labels=np.array(words.classes, dtype=kind)[noisy],
        mislabelled=mislabelled,
        rate=float(mislabelled.mean()),
        counts=TransitionCounts(table, words.classes, sample_of="labels"),
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
        mistaken[part] = plausible.argmax(axis=1)
    return difficulty, mistaken


def _read_annotations(annotations: Any, n: int) -> list[NDArray[Any]]:
    if annotations is None or isinstance(annotations, str | bytes) or not hasattr(annotations, "__iter__"):
        raise InputTypeError(f"annotations: expected shape (n_annotators, n), got {type(annotations).__name__}")
    if hasattr(annotations, "columns"):
        raise InputTypeError("annotations: expected shape (n_annotators, n), got a data frame; pass frame.to_numpy().T")
    named = hasattr(annotations, "items")
    items = list(annotations.items()) if named else list(enumerate(annotations))
    rows = [read_labels(values, f"annotations, annotator {name!r}") for name, values in items]
    if not rows:
        raise NotEnoughData("annotations: expected at least 1 annotator, got none")
    for (name, _), row in zip(items, rows, strict=True):
        if row.size != n:
            turned = len(rows) == n and not named
            raise InputError(
                f"annotations: expected {n} labels of each annotator, as many as y has, got {row.size} of annotator "
                f"{name!r}" + ("; pass annotations.T" if turned else "")
            )
    return rows


def _read_rate(rate: Any) -> float:
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not 0 <= rate < 1:
        number = isinstance(rate, int | float) and not isinstance(rate, bool) and 1 <= rate <= 100
        percent = f"; for {rate:g}% write {rate / 100:g}" if number else ""
        raise InputError(f"rate: expected a share of the instances in [0, 1), got {rate!r}{percent}")
    return float(rate)


def _read_legitimacy(legitimacy: object, n_annotators: int) -> Floats:
    array = as_column(legitimacy, "legitimacy")
    if array.shape != (n_annotators,) or array.dtype.kind not in "biuf":
        raise InputError(f"legitimacy: expected {n_annotators} numbers, one per annotator, got shape {array.shape}")
    array = array.astype(np.float64)
    odd = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if odd.size:
        raise InputError(
            f"legitimacy: expected finite numbers >= 0, got {odd.size} others, first {array[odd[0]]:g} of annotator "
            f"{odd[0]}"
        )
    return array
