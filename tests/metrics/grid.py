"""Codes of two factors on a grid, on which what metrics are is worked out by hand."""

import warnings
from typing import Any

import numpy as np

import demele

#: Two factors of four values, every pair 25 times.
GRID = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
FIRST, SECOND = GRID.T
CODES = {
    "factors": GRID,
    "copies": np.column_stack([FIRST, FIRST, SECOND, SECOND]),
    "rotated": np.column_stack([FIRST + SECOND, FIRST - SECOND]),
    "one": np.column_stack([FIRST, 0 * FIRST]),
    "coarse": np.column_stack([FIRST // 2, SECOND]),
    "sum beside": np.column_stack([FIRST, SECOND, FIRST + SECOND]),
    "constant": 0 * GRID,
}


def scored(name: str, codes: Any, factors: Any, *, kinds: Any = "categorical", **options: Any) -> demele.Score:
    """Return the score of a metric under options of its own, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = factors if isinstance(factors, demele.Factors) else demele.Factors(factors, kinds=kinds)
        found: demele.Score = getattr(demele.metrics, name)(codes, known, **options)
        return found


def value(name: str, codes: Any, factors: Any, *, kinds: Any = None, options: Any = None, **keywords: Any) -> float:
    """Return the number under options of its own, and keywords of an evaluation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known, own = demele.Factors(factors, kinds=kinds), {} if options is None else {name: options}
        return demele.evaluate(codes, known, [name], options=own, **keywords)[name].value
