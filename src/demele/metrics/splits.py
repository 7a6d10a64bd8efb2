"""Rows of metrics that fit: annotated ones, and their split into training and test rows."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import NotEnoughData
from demele.core.inputs import Factor
from demele.core.results import Note
from demele.core.seeds import rng_for
from demele.metrics.data import Data


def annotated_rows(factor: Factor, codes: Floats) -> tuple[Floats, Floats]:
    """Return the codes and the factor's coordinates on the rows where it is annotated."""
    if factor.complete:
        return codes, factor.coordinates
    rows = factor.annotated()
    return codes[rows], factor.coordinates[rows]


def fewer_than_asked(n: int, n_train: int | None, n_test: int | None) -> tuple[Note, ...]:
    """Say so where a split of the sizes asked for is scaled down to the rows that there are."""
    asked = (n_train or 0) + (n_test or 0)
    if asked <= n:
        return ()
    message = f"the split asked for needs {asked:,} rows; with {n:,} it was scaled down in proportion"
    return (Note(code="scaled-split", message=message, severity="warning"),)


def sizes(n: int, n_train: int | None, n_test: int | None) -> tuple[int, int]:
    """Return sizes of training and test rows: as asked for, or halves; scaled down where rows are too few."""
    if n_train is None and n_test is None:
        n_train = n // 2
    train = max(n - (n_test or 0), 0) if n_train is None else n_train
    test = n - train if n_test is None else n_test
    if train + test > n:
        train = n * train // (train + test)
        test = n - train
    return train, test


def split(
    n: int, n_train: int | None, n_test: int | None, rng: np.random.Generator, what: str
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows at random into training and test rows."""
    train, test = sizes(n, n_train, n_test)
    if min(train, test) < 2:
        raise NotEnoughData(what, f"expected at least 4 annotated rows to split into training and test, got {n}")
    order = rng.permutation(n)
    return np.sort(order[:train]), np.sort(order[train : train + test])


def factor_splits(
    data: Data, n_train: int | None, n_test: int | None, score_on: str, streams: Callable[..., np.random.Generator]
) -> Iterator[tuple[int, Factor, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the training and test rows of each factor.

    They are the same where all rows are annotated for all factors: probes then share their products of codes.
    """
    shared = split(data.n, n_train, n_test, streams("rows"), "codes") if data.factors.complete else None
    for index, factor in enumerate(data.factors.columns):
        rows, name = np.flatnonzero(factor.annotated()), f"factor {factor.name!r}"
        train, test = shared or tuple(
            rows[part] for part in split(len(rows), n_train, n_test, streams("factor", index), name)
        )
        yield index, factor, *((rows, rows) if score_on == "training" else (train, test))


def above(share: float | Floats, chance: float | Floats, report: str) -> Floats:
    """Accuracies or areas above chance, or as they are."""
    if report == "unscaled":
        return np.asarray(share)
    return np.asarray((share - chance) / (1 - chance))


def folds(n: int, n_folds: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training and test rows of each fold of a random partition of the rows, the same for every seed.

    Raises
    ------
    NotEnoughData
        If a fold would have fewer than two rows.
    """
    if n < 2 * n_folds:
        raise NotEnoughData("cross_fit", f"expected at least {2 * n_folds} rows for {n_folds} folds, got {n}")
    order = rng_for(0, "folds").permutation(n)
    for part in np.array_split(order, n_folds):
        inside = np.zeros(n, dtype=bool)
        inside[part] = True
        yield np.flatnonzero(~inside), np.flatnonzero(inside)
