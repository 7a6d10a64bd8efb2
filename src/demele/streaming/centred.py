"""Sums that keep their digits: columns counted from a reference, squares about means, and how parts add up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Where columns are counted from, and in which unit: (value - reference) 2^-exponent; all of shape (n_columns,)."""

    reference: Floats
    exponent: NDArray[np.intp]

    @classmethod
    def of(cls, low: Floats, high: Floats) -> Self:
        """Count from the middle of ranges, in units of about half of them."""
        half = high / 2 - low / 2
        exponent = np.where(half > 0, np.frexp(half)[1], 0).astype(np.intp)
        return cls(low / 2 + high / 2, exponent)

    def scaled(self, values: NDArray[Any]) -> Floats:
        """Return values, (n, n_columns), in this unit."""
        # scaled before they are subtracted: the difference of values near the largest floats would overflow
        found: Floats = np.ldexp(np.asarray(values, dtype=np.float64), -self.exponent)
        found -= np.ldexp(self.reference, -self.exponent)
        return found

    def same(self, other: "Scale") -> bool:
        """Whether two are equal."""
        return np.array_equal(self.reference, other.reference) and np.array_equal(self.exponent, other.exponent)


def centred_columns(values: Floats) -> tuple[Floats, Floats]:
    """Return the means of columns, and the columns about them."""
    mean = values.mean(axis=0)
    centred = values - mean
    rest = centred.mean(axis=0)  # what rounding left
    return mean + rest, centred - rest


def squares(centred: Floats) -> Floats:
    """Return the sums of squares of columns."""
    found: Floats = np.einsum("ij,ij->j", centred, centred)
    return found


def shares(mine: NDArray[Any], theirs: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the second's share of the rows, and the number that a squared difference of means counts for."""
    share = np.divide(theirs, mine + theirs, out=np.zeros(mine.shape), where=theirs > 0)
    return share, mine * share


def check_arrays(expected: Arrays, given: Arrays, *, at_least_zero: tuple[str, ...]) -> None:
    """Refuse arrays with other names, types or shapes, with numbers that are not finite, or counts below 0."""
    fits = given.keys() == expected.keys() and all(
        given[name].shape == one.shape and given[name].dtype == one.dtype for name, one in expected.items()
    )
    if not fits:
        raise FormatError("accumulator", "the sums of this state do not have the columns of its frame")
    for name, one in given.items():
        extreme = name.endswith(("low", "high"))  # infinite where there are no rows
        if not (np.isnan(one) if extreme else ~np.isfinite(one)).any() and (
            name not in at_least_zero or (one >= 0).all()
        ):
            continue
        raise FormatError("accumulator", f"the sums of this state hold impossible numbers ({name})")
