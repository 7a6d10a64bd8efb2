"""What every data set hands over: codes, the factors that they should capture, and where both come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Sample"]


# Frames have no single truth value, so a generated == would fail: samples compare by identity.
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Codes and factors of the same rows.

    Attributes
    ----------
    codes : DataFrame of shape (n_samples, n_codes), float64
        One row per sample, one named column per code.
    factors : DataFrame of shape (n_samples, n_factors)
        The same rows in the same order. A categorical factor has a categorical column, a continuous one float64.
    provenance : str
        Where the samples, the codes and the factors come from, in one or two sentences.
    """

    codes: pd.DataFrame
    factors: pd.DataFrame
    provenance: str

    def __repr__(self) -> str:
        (rows, codes), factors = self.codes.shape, self.factors.shape[1]
        return f"Sample({rows} rows, {codes} codes, {factors} factors; {self.provenance})"
