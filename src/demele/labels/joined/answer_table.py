"""Answers of several annotators as a long table, one row per answer, with vocabularies for its columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.labelled import Indices, Vocabulary, shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """What annotators say of items, read and checked; :class:`demele.labels.Annotations` says what its columns hold."""

    items: tuple[int | str, ...]
    annotators: tuple[int | str, ...]
    classes: tuple[int | str, ...]
    item: Indices
    annotator: Indices
    answer: Indices
    silent: tuple[str, ...]
    named: bool

    def __repr__(self) -> str:
        return (
            f"Annotations(n_answers={self.n_answers}, n_items={self.n_items}, n_annotators={self.n_annotators}, "
            f"classes=({shown(self.classes)}))"
        )

    @property
    def n_answers(self) -> int:
        """Number of answers, repeated ones included."""
        return int(self.answer.size)

    @property
    def n_items(self) -> int:
        """Number of items, those without an answer included."""
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        """Number of annotators."""
        return len(self.annotators)

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def vocabulary(self) -> Vocabulary:
        """The classes as a vocabulary."""
        return Vocabulary(self.classes)

    @property
    def n_repeats(self) -> int:
        """Answers that an annotator gave beyond the first about the same item."""
        # Sorting is many times as fast here as numpy.unique, whose hashing meets such regular numbers badly.
        pairs = np.sort(self.item.astype(np.int64) * self.n_annotators + self.annotator)
        return int(np.count_nonzero(pairs[1:] == pairs[:-1]))

    def votes(self) -> NDArray[np.int64]:
        """Count the answers of each class about each item, shape (n_items, K)."""
        flat = np.bincount(self.item.astype(np.int64) * self.k + self.answer, minlength=self.n_items * self.k)
        return flat.reshape(self.n_items, self.k)

    def responses(self) -> "Responses":
        """Return the answers as counts of items against the distinct pairs (annotator, answer)."""
        from scipy.sparse import csr_array

        pairs, column = np.unique(self.annotator.astype(np.int64) * self.k + self.answer, return_inverse=True)
        ones = np.ones(self.n_answers)
        # Summing duplicates: an annotator who gave the same answer twice counts twice.
        counts = csr_array((ones, (self.item, column)), shape=(self.n_items, pairs.size))
        return Responses(counts, (pairs // self.k).astype(np.intp), (pairs % self.k).astype(np.intp))

    def to_frame(self) -> "pd.DataFrame":
        """One row per answer: item, annotator, answer."""
        import pandas as pd

        return pd.DataFrame(
            {
                "item": np.array(self.items, dtype=_kind(self.items))[self.item],
                "annotator": np.array(self.annotators, dtype=_kind(self.annotators))[self.annotator],
                "answer": np.array(self.classes, dtype=_kind(self.classes))[self.answer],
            }
        )


@dataclass(frozen=True, slots=True)
class Responses:
    """Sparse ``counts`` of shape (n_items, n_columns); column c is annotator ``who[c]`` answering ``what[c]``."""

    counts: Any
    who: NDArray[np.intp]
    what: NDArray[np.intp]


def _kind(names: tuple[int | str, ...]) -> Any:
    return np.int64 if names and isinstance(names[0], int) else object
