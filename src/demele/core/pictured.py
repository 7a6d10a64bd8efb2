"""Some rows of an evaluation, for pictures."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count
from demele.report.document import Rows
from demele.report.words import name


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

    def first(self, most: int) -> "RowSample | None":
        """Return the first rows, at most so many; None for none."""
        most = checked_count(most, "rows", 0)
        factors = {name: values[:most] for name, values in self.factors.items()}
        return replace(self, codes=self.codes[:most], factors=factors) if most else None

    def columns(self) -> Rows | None:
        """Return the rows as pages hold them, classes as their numbers; None where a code and a factor share a name."""
        codes = {name(code): values for code, values in zip(self.code_names, self.codes.T, strict=True)}
        factors = {
            name(factor): np.where(values < 0, np.nan, values) if factor in self.levels else values
            for factor, values in self.factors.items()
        }
        shown = {key: values.astype(np.float64).tolist() for key, values in {**codes, **factors}.items()}
        return Rows(shown) if len(shown) == len(codes) + len(factors) else None
