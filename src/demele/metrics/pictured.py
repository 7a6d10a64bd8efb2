"""What an evaluation keeps for pictures: some rows, and what the cells of its matrices hold by chance."""

from collections.abc import Mapping, Sequence

import numpy as np

from demele.core.pictured import MatrixChance, RowSample
from demele.core.seeds import rng_for
from demele.estimation.counts import JointCounts
from demele.estimation.information import information_by_chance
from demele.metrics.data import Array, Data
from demele.metrics.source import spread

#: Rows, and values, that are kept: what a page can hold, and an eye can read.
MOST_ROWS, MOST_VALUES = 1_500, 120_000
#: More codes than a page draws.
MOST_CODES = 200
#: Share of matrices of independent codes in which a cell passes its limit.
LEVEL = 0.01


def rows_for_pictures(data: Data, *, n: int, seed: int) -> RowSample | None:
    """Return some rows, of ``n``, in a random order; None where there are more codes than a page draws."""
    if data.codes.d > MOST_CODES:
        return None
    most = min(MOST_ROWS, MOST_VALUES // (data.codes.d + data.factors.m), data.n)
    drawn = data.take(rng_for(seed, "rows for pictures").permutation(data.n)[:most])
    columns = drawn.factors.columns
    return RowSample(
        codes=drawn.codes.dense(),
        code_names=drawn.codes.names,
        factors={factor.name: np.asarray(factor.values) for factor in columns},
        levels={factor.name: factor.levels for factor in columns if factor.categorical},
        n=n,
    )


def chance_of_matrices(
    counted: Mapping[tuple[str, ...], JointCounts], active: Sequence[int], n_factors: int
) -> tuple[MatrixChance, ...]:
    """Return what cells hold by chance, of each way of counting; NaN for factors that do not vary.

    Parameters
    ----------
    counted : mapping of tuple of str to JointCounts
        Counts by the metrics that were read off them.
    active : sequence of int
        Which factors vary.
    n_factors : int
        How many factors there are.
    """
    found = []
    for metrics, counts in counted.items():
        n_cells = sum(len(table) for table in counts.tables)
        cells: list[tuple[Array, Array]] = [information_by_chance(table, LEVEL, n_cells) for table in counts.tables]
        expected, limit = (spread(np.column_stack(part), active, n_factors) for part in zip(*cells, strict=True))
        found.append(MatrixChance(metrics=metrics, expected=expected, limit=limit))
    return tuple(found)
