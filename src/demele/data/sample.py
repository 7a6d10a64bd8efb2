"""What every data set hands over: codes, the factors that they should capture, and where both come from."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, plural
from demele.core.outputs import write_whole
from demele.core.result import Result, about
from demele.data.space import FactorSpace
from demele.report.document import Document
from demele.report.listing import table_of_frame

if TYPE_CHECKING:
    import pandas as pd


# Frames have no single truth value, so a generated == would fail: samples compare by identity.
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sample(Result):
    """Codes and factors of the same rows, with the images that were coded and the grid that they come from, if any.

    Attributes
    ----------
    codes : DataFrame of shape (n_samples, n_codes), float64
        One row per sample, one named column per code. Arrays are accepted too: their columns are called z1, z2, ...
    factors : DataFrame of shape (n_samples, n_factors)
        The same rows in the same order. A categorical factor has a categorical column, a continuous one float64. The
        columns of arrays are called v1, v2, ...
    provenance : str
        Where the samples, the codes and the factors come from, in one or two sentences.
    images : array of shape (n_samples, height, width, channels), uint8 or float, or None
        What was coded, row by row; may be mapped to a file.
    space : FactorSpace or None
        The grid whose values the factors take; factors that it does not name may take any.
    codes_std : DataFrame of shape (n_samples, n_codes), float64, or None
        Standard deviation of each code, where an encoder gives a distribution; ``codes`` then are the means. RMIG
        reads it.

    Raises
    ------
    InputError, InputTypeError
        If codes, factors and images differ in their number of rows, images are of another shape or type, standard
        deviations are of other rows or columns or negative, or factors have values that the space does not have.

    Examples
    --------
    >>> import pandas as pd
    >>> space = FactorSpace({"x": 3, "hue": [0.0, 0.5]}, period={"hue": 1})
    >>> factors = space.factors()
    >>> Sample(factors.astype(float).add_prefix("z_"), factors, "The factors themselves.", space=space)
    Sample(6 rows, 2 codes, 2 factors; The factors themselves.)
    """

    _kind = "codes"
    _files: ClassVar[Mapping[str, str]] = {".npz": "save"}

    codes: pd.DataFrame
    factors: pd.DataFrame
    provenance: str
    images: NDArray[Any] | None = field(default=None, metadata={"json": False})
    space: FactorSpace | None = None
    codes_std: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        frames = {"codes": _frame(self.codes, "codes", "z"), "factors": _frame(self.factors, "factors", "v")}
        if self.codes_std is not None:
            frames["codes_std"] = _frame(self.codes_std, "codes_std", list(frames["codes"].columns))
        for name, frame in frames.items():
            object.__setattr__(self, name, frame)
        if len(self.codes) != len(self.factors):
            raise InputError(
                ("codes", "factors"), f"expected the same number of rows, got {len(self.codes)} and {len(self.factors)}"
            )
        if self.images is not None:
            if not isinstance(self.images, np.ndarray):
                raise InputTypeError(
                    "images", f"expected an array, got {type(self.images).__name__}; use numpy.asarray"
                )
            if self.images.dtype != np.uint8 and self.images.dtype.kind != "f":
                raise InputTypeError("images", f"expected uint8 or floats, got {self.images.dtype}")
            if self.images.ndim != 4 or 0 in self.images.shape[1:]:
                hint = "; grey ones have one channel: images[..., None]" if self.images.ndim == 3 else ""
                raise InputError(
                    "images", f"expected shape (n_samples, height, width, channels), got {self.images.shape}{hint}"
                )
            if len(self.images) != len(self.codes):
                wanted = f"expected {len(self.codes)}, one per row of the codes, got {len(self.images)}"
                raise InputError("images", wanted)
        if self.codes_std is not None:
            if self.codes_std.shape != self.codes.shape or list(self.codes_std.columns) != list(self.codes.columns):
                raise InputError(
                    "codes_std",
                    f"expected the rows and columns of the codes, {self.codes.shape}, got {self.codes_std.shape}, or "
                    "other names",
                )
            wrong = np.argwhere(~(self.codes_std.to_numpy() >= 0))
            if wrong.size:
                row, column = wrong[0]
                raise InputError(
                    "codes_std",
                    f"expected standard deviations >= 0, got {self.codes_std.to_numpy()[row, column]:g} in column "
                    f"{self.codes.columns[column]!r}, row {row}; of log-variances l take exp(l / 2)",
                )
        if self.space is not None:
            if not isinstance(self.space, FactorSpace):
                raise InputTypeError("space", f"expected a FactorSpace, got {type(self.space).__name__}")
            self.space.rows(self.factors)

    def __repr__(self) -> str:
        (rows, codes), factors = self.codes.shape, self.factors.shape[1]
        shape = "" if self.images is None else f", images of {' x '.join(map(str, self.images.shape[1:]))}"
        return f"Sample({rows} rows, {codes} codes, {factors} factors{shape}; {self.provenance})"

    __str__ = __repr__

    def document(self) -> Document:
        """Return how many there are, and the mean and spread of each code."""
        import pandas as pd

        each = pd.DataFrame(
            {"code": self.codes.columns.astype(str), "mean": [*self.codes.mean()], "std": [*self.codes.std()]}
        )
        table, _ = table_of_frame("Codes", each)
        counts = (plural(self.codes.shape[1], "code", "codes"), plural(self.factors.shape[1], "factor", "factors"))
        headline = f"{plural(len(self.codes), 'row', 'rows')}, {', '.join(counts)}."
        return Document(kind="Codes", headline=headline, sentences=[self.provenance], table=table, **about(self))

    def to_frame(self) -> pd.DataFrame:
        """Return codes and factors in one table."""
        import pandas as pd

        return pd.concat([self.codes, self.factors], axis=1)

    def save(self, path: str | Path) -> Path:
        """Write codes and factors to an ``.npz``, which :func:`demele.lab.examine` reads.

        It holds ``codes``, ``codes_std``, ``factors`` as numbers (of texts the position among the classes) with
        ``factor_names``, and each factor alone under its name.

        Raises
        ------
        OutputError
        """
        arrays: dict[str, NDArray[Any]] = {"codes": self.codes.to_numpy(np.float32)}
        if self.codes_std is not None:
            arrays["codes_std"] = self.codes_std.to_numpy(np.float32)
        columns = {str(name): _numbers(column) for name, column in self.factors.items()}
        arrays["factor_names"] = np.array(list(columns), dtype=str)
        arrays["factors"] = np.column_stack(list(columns.values())) if columns else np.zeros((len(self.codes), 0))
        for name, column in self.factors.items():
            if str(name).isidentifier() and name not in arrays:
                held = np.asarray(column)
                arrays[str(name)] = held.astype(str) if held.dtype.kind not in "iuf" else held
        archive = io.BytesIO()
        np.savez_compressed(archive, allow_pickle=False, **arrays)
        return write_whole(path, archive.getvalue())


def _numbers(column: Any) -> NDArray[np.float64]:
    """Return a factor as numbers: its own, or of texts the position among the classes."""
    import pandas as pd

    values = np.asarray(column)
    return values.astype(np.float64) if values.dtype.kind in "iuf" else pd.Categorical(column).codes.astype(np.float64)


def _frame(given: Any, argument: str, names: str | list[str]) -> pd.DataFrame:
    """Return a frame as it is, and an array as one; ``names``: of its columns, or what they begin with."""
    import pandas as pd

    if isinstance(given, pd.DataFrame):
        return given
    if not isinstance(given, np.ndarray) or given.ndim not in (1, 2):
        got = type(given).__name__ if not isinstance(given, np.ndarray) else f"shape {given.shape}"
        raise InputTypeError(argument, f"expected a data frame or an array (n_samples, n_columns), got {got}")
    table = given[:, None] if given.ndim == 1 else given
    wanted = [f"{names}{number}" for number in range(1, table.shape[1] + 1)] if isinstance(names, str) else names
    if len(wanted) != table.shape[1]:
        raise InputError(argument, f"expected {len(wanted)} columns, as of the codes, got {table.shape[1]}")
    return pd.DataFrame(table, columns=wanted)
