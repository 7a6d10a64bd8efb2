"""What an evaluation keeps for pictures: some of its rows, and what codes of noise would tell."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count
from demele.core.written import plain

#: A byte holds so many steps between two ends; the last number says that there is no value.
STEPS, NOTHING = 254, 255
#: What the ends of an axis leave out: values so far out would squeeze all others.
ENDS = (0.002, 0.998)
#: Classes that a picture tells apart; rarer ones are one class together.
MOST_CLASSES = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSample:
    """Some rows of an evaluation, drawn at random.

    Attributes
    ----------
    codes : array of shape (n_rows, n_codes)
    code_names : tuple of str
    factors : mapping of str to array of shape (n_rows,)
        Continuous: floats, NaN where there is no annotation. Classes: numbers of ``levels``, -1 likewise.
    levels : mapping of str to tuple of str
        Of the factors that are classes.
    n : int
        Rows that they were drawn from.
    """

    codes: NDArray[np.float64]
    code_names: tuple[str, ...]
    factors: Mapping[str, NDArray[Any]]
    levels: Mapping[str, tuple[str, ...]]
    n: int

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Return the first rows, at most so many, a byte for each value: what a page needs to draw them.

        Values beyond the central 99.6% are put at the ends of their column.
        """
        rows = slice(0, None if most is None else checked_count(most, "rows", 0))
        codes = [
            {"name": name, **_bytes(column)} for name, column in zip(self.code_names, self.codes[rows].T, strict=True)
        ]
        factors = [
            {
                "name": name,
                **(_classes(values[rows], self.levels[name]) if name in self.levels else _bytes(values[rows])),
            }
            for name, values in self.factors.items()
        ]
        return {"n": self.n, "drawn": len(self.codes[rows]), "codes": codes, "factors": factors}


def _bytes(values: NDArray[Any]) -> dict[str, Any]:
    known = values[np.isfinite(values)].astype(np.float64)
    low, high = (float(end) for end in np.quantile(known, ENDS)) if known.size else (0.0, 1.0)
    if low == high:
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    width = (high - low) or 1.0
    filled = np.where(np.isfinite(values), values, low).astype(np.float64)
    steps = np.rint(np.clip((filled - low) / width, 0.0, 1.0) * STEPS)
    return {"low": low, "high": high, "values": _text(np.where(np.isfinite(values), steps, NOTHING))}


def _classes(values: NDArray[Any], levels: tuple[str, ...]) -> dict[str, Any]:
    counts = np.bincount(values[values >= 0].astype(np.intp), minlength=len(levels))
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    names = [levels[index] for index in kept]
    number = np.full(len(levels) + 1, len(kept))  # rarer ones; the last place, -1, is of rows without annotation
    number[kept], number[-1] = np.arange(len(kept)), NOTHING
    rarer = len(levels) - len(kept)
    return {"levels": names, "rarer": rarer, "values": _text(number[values.astype(np.intp)])}


def _text(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.astype(np.uint8).tobytes()).decode()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatrixChance:
    """What the cells of a matrix of information hold if codes and factors are independent.

    Attributes
    ----------
    metrics : tuple of str
        The metrics whose matrix it is.
    expected : array of shape (n_codes, n_factors), nats
        The mean, given how full the bins are.
    limit : array of shape (n_codes, n_factors), nats
        What no cell of the whole matrix exceeds in 99% of cases.
    """

    metrics: tuple[str, ...]
    expected: NDArray[np.float64]
    limit: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None)."""
        rounded = {"expected": np.round(self.expected, 6), "limit": np.round(self.limit, 6)}
        return {"metrics": list(self.metrics), **{name: plain(values) for name, values in rounded.items()}}
