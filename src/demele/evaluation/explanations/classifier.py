"""What a classifier says of images: asked batch by batch, and checked each time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import Indices, Vocabulary, read_labels, vocabulary
from demele.core.sentences import arg, setting
from demele.evaluation.explanations.destruction import Images

Floats = NDArray[np.float64]

#: Images that are shown twice, to find out whether what comes is drawn; and how far two answers may differ.
_TRIED, _REPEATED = 8, 1e-4


@dataclass(frozen=True, slots=True)
class Answers:
    """What a classifier says of some images.

    Attributes
    ----------
    classes : array of int32 of shape (n,)
        What it predicts, as indices.
    outputs : array of shape (n, n_classes) or None
        Probabilities or scores, where it gives any.
    """

    classes: Indices
    outputs: Floats | None

    @property
    def are_probabilities(self) -> bool:
        """Whether outputs are shares of 1."""
        outputs = self.outputs
        if outputs is None:
            return False
        return bool((outputs >= 0).all()) and bool((np.abs(outputs.sum(axis=1) - 1) < 1e-3).all())


class Classifier:
    """A function of images, called on batches of them.

    Parameters
    ----------
    predict : callable
        Takes an array of shape (b, height, width, channels), returns (b, n_classes) probabilities or scores, or (b,)
        classes.
    images : array of shape (n, height, width, channels)
        What it is asked of first, which settles what its answers are.
    labels : array of shape (n,) or None
        As :func:`demele.core.labelled.read_labels` returns them.
    words : Vocabulary or None
        The classes, where they are known.
    batch : int
        Images that are given at once.
    closed : bool
        Whether a class that was neither given, nor a label, nor predicted of a whole image is refused.

    Attributes
    ----------
    words : Vocabulary
    whole : Answers
        Of the images.

    Raises
    ------
    InputError, InputTypeError
        If its answers cannot be used, or differ between two calls.
    """

    def __init__(
        self,
        predict: Callable[[Images], Any],
        images: Images,
        labels: NDArray[Any] | None,
        words: Vocabulary | None,
        batch: int,
        *,
        closed: bool = False,
    ) -> None:
        if not callable(predict):
            raise InputTypeError("predict", f"expected a function of a batch of images, got {type(predict).__name__}")
        self._predict, self._batch = predict, batch
        self._shape: tuple[int, ...] | None = None
        self._closed = closed or words is not None
        first = self._called(images)
        self._shape = first.shape[1:]
        self._check_repeated(images[:_TRIED])
        self.words = _words_of(first, labels) if words is None else words
        if first.ndim == 2 and first.shape[1] != len(self.words):
            raise InputError("predict", f"expected {len(self.words)} columns, one per class, got {first.shape[1]}")
        self.whole = self._read(first)

    def answers(self, images: Images) -> Answers:
        """Say what it says of images."""
        return self._read(self._called(images))

    def _read(self, given: NDArray[Any]) -> Answers:
        if given.ndim == 1:
            read = read_labels(given, "predict")
            if not self._closed:
                known = self.words.classes
                self.words = Vocabulary((*known, *sorted(set(read.tolist()).difference(known))))
            return Answers(self.words.encode(read, "predict"), None)
        return Answers(given.argmax(axis=1).astype(np.int32), given)

    def _check_repeated(self, images: Images) -> None:
        once, again = (self._called(images) for _ in range(2))
        if once.ndim == 1:
            same = bool((once == again).all())
        else:
            same = bool((np.abs(once - again) <= _REPEATED * np.abs(once).max()).all())
        if not same:
            raise InputError(
                "predict",
                "two calls on the same images give different answers: something is drawn; with PyTorch, call eval() on "
                "the network first",
            )

    def _called(self, images: Images) -> NDArray[Any]:
        """Ask batch by batch; what is asked gets arrays of its own."""
        parts = [images[start : start + self._batch] for start in range(0, len(images), self._batch)]
        found = [_checked(self._predict(part.copy()), len(part)) for part in parts]
        shape = found[0].shape[1:] if self._shape is None else self._shape
        for one in found:
            if one.shape[1:] != shape:
                raise InputError(
                    "predict", f"expected answers of shape {shape} per image as before, got {one.shape[1:]}"
                )
        return np.concatenate(found)


def _words_of(answers: NDArray[Any], labels: NDArray[Any] | None) -> Vocabulary:
    """Return the classes: of columns their numbers, else what is predicted of whole images or given as label."""
    if answers.ndim == 1:
        read = read_labels(answers, "predict")
        alike = labels is not None and labels.dtype.kind == read.dtype.kind
        return vocabulary(np.concatenate([read, labels]) if alike and labels is not None else read)
    columns = answers.shape[1]
    if labels is not None and labels.dtype.kind != "i":
        raise InputError(
            "classes",
            f"{arg('predict')} gives {columns} columns and {arg('labels')} are names; say which class each column is, "
            f"in order, with {setting(classes=[...])}",
        )
    return Vocabulary(tuple(range(columns)))


def _checked(given: Any, n: int) -> NDArray[Any]:
    """Return what came for n images as numbers of shape (n, n_classes), or classes of shape (n,)."""
    found = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if found.ndim not in (1, 2) or len(found) != n:
        raise InputError(
            "predict",
            f"expected an array of shape ({n}, n_classes) or ({n},) for {n} images, got shape {found.shape}",
        )
    if found.ndim == 1:
        if found.dtype.kind == "f" and not np.array_equal(found, np.rint(found)):
            raise InputError(
                "predict",
                f"expected classes in an array of shape ({n},), got numbers such as {found[0]:g}; give a column of "
                "probabilities for each class, such as predict_proba does",
            )
        return found
    if found.shape[1] < 2:
        raise InputError("predict", f"expected a column for each of 2 or more classes, got {found.shape[1]}")
    if found.dtype.kind not in "fiub":
        raise InputTypeError("predict", f"expected numbers, got values of type {found.dtype}")
    outputs = found.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(outputs).all(axis=1))
    if wrong.size:
        raise InputError(
            "predict", f"{wrong.size} of {n} rows hold values that are not finite, first at row {wrong[0]}"
        )
    return outputs
