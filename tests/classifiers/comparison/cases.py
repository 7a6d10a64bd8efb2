"""Small questions, and every set of right labels that they leave open."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.classifiers.question import Question
from demele.core.labelled import Labelled, Vocabulary

Rows = NDArray[np.int32]


def question(labels: Any, predictions: Any, k: int, **options: Any) -> Question:
    """All ordered pairs of some models, on classes 0 to k - 1."""
    predicted = np.asarray(predictions, dtype=np.int32)
    data = Labelled(
        np.asarray(labels, dtype=np.int32),
        predicted,
        tuple(f"model {i}" for i in range(len(predicted))),
        Vocabulary(tuple(range(k))),
    )
    pairs = np.argwhere(~np.eye(len(predicted), dtype=np.bool_))
    return Question(data=data, **({"baseline": pairs[:, 0], "candidate": pairs[:, 1]} | options))


def random_question(rng: np.random.Generator, *, n: int, k: int, models: int = 2, **options: Any) -> Question:
    """Models that are right with their own probability, so that some pairs are decided and some are not."""
    labels = rng.integers(0, k, n)
    skill = rng.random((models, 1))
    predictions = np.where(rng.random((models, n)) < skill, labels, rng.integers(0, k, (models, n)))
    return question(labels, predictions, k, **options)


def all_labels(n: int, k: int) -> Rows:
    """Every vector of n classes of k, shape (k^n, n)."""
    return np.array(list(itertools.product(range(k), repeat=n)), dtype=np.int32)


def transitions(truths: Rows, labels: Rows, k: int) -> NDArray[np.int64]:
    """How often class j is labelled k, for each vector of true labels: shape (n_truths, k, k)."""
    cells = truths.astype(np.intp) * k + labels
    return np.stack([np.bincount(row, minlength=k * k).reshape(k, k) for row in cells])


def clean_counts(truths: Rows, asked: Question) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Per pair: lost and won on each vector of true labels."""
    for i, j in zip(asked.baseline, asked.candidate, strict=True):
        first, second = (asked.data.predictions[model] == truths for model in (i, j))
        yield (first & ~second).sum(axis=1), (~first & second).sum(axis=1)


def mirror(question: Question) -> Question:
    """Return the question with the roles exchanged."""
    return replace(question, baseline=question.candidate, candidate=question.baseline)
