"""What an evaluation keeps for pictures: some rows, and what the cells of its matrices hold by chance."""

from collections.abc import Iterable

import numpy as np

from demele.core.pictured import MatrixChance, RowSample
from demele.core.seeds import rng_for
from demele.estimation.information import information_by_chance
from demele.metrics.data import Array, Data, TableSettings
from demele.metrics.source import Source, Subject

#: Rows, and values, that are kept: what a page can hold, and an eye can read.
MOST_ROWS, MOST_VALUES = 1_500, 120_000
#: More codes than a page draws.
MOST_CODES = 200
#: Share of matrices of independent codes in which a cell passes its limit.
LEVEL = 0.01


def rows_for_pictures(data: Data, *, seed: int) -> RowSample | None:
    """Return some rows in a random order; None where there are more codes than a page draws."""
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
        n=data.n,
    )


def chance_of_matrices(
    source: Source, subject: Subject, asked: Iterable[tuple[str, TableSettings]]
) -> tuple[MatrixChance, ...]:
    """Return what cells hold by chance, for each way of counting among some metrics.

    Nearest neighbours are not biased so, and corrected information is corrected already: there is nothing for those.
    """
    metrics: dict[TableSettings, list[str]] = {}
    for metric, settings in asked:
        metrics.setdefault(settings, []).append(metric)
    found = []
    for settings, names in metrics.items():
        counts = source.counts_behind(settings)
        if counts is None:
            continue
        n_cells = sum(len(table) for table in counts.tables)
        cells: list[tuple[Array, Array]] = [information_by_chance(table, LEVEL, n_cells) for table in counts.tables]
        expected, limit = (subject.spread_factors(np.column_stack(part)) for part in zip(*cells, strict=True))
        found.append(MatrixChance(metrics=tuple(names), expected=expected, limit=limit))
    return tuple(found)
