"""What an evaluation keeps for pictures: some rows."""

import numpy as np

from demele.core.pictured import RowSample
from demele.core.seeds import rng_for
from demele.metrics.data import Data

#: Rows, and values, that are kept: what a page can hold, and an eye can read.
MOST_ROWS, MOST_VALUES = 1_500, 120_000
#: More codes than a page draws.
MOST_CODES = 200


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
