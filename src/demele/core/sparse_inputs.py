"""The door for sparse codes: a SciPy matrix comes in, its non-zeros come out column by column; never a dense array."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Codes
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.given_arrays import items_of
from demele.core.sentences import plural
from demele.core.table_columns import checked_structure


@dataclass(frozen=True, slots=True)
class SparseCodes:
    """Validated sparse codes of shape (n_samples, n_codes): the non-zeros of each column, in the order of the rows.

    Attributes
    ----------
    n : int
        Rows.
    names : tuple of str
        Names of the codes.
    values : ndarray of shape (n_nonzeros,)
        Finite, none of them 0.
    rows : ndarray of shape (n_nonzeros,)
        The row of each.
    starts : ndarray of shape (n_codes + 1,)
        Column j has the non-zeros ``starts[j]`` to ``starts[j + 1]``.
    low, high : ndarray of shape (n_codes,)
        Smallest and largest non-zero of each code; 0 where there is none.
    """

    n: int
    names: tuple[str, ...]
    values: NDArray[Any]
    rows: NDArray[np.integer[Any]]
    starts: NDArray[np.integer[Any]]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def d(self) -> int:
        """Number of codes."""
        return len(self.names)

    @property
    def n_nonzeros(self) -> NDArray[np.integer[Any]]:
        """Number of non-zeros of each code."""
        return np.diff(self.starts)

    @property
    def activity(self) -> NDArray[np.float64]:
        """Share of the rows in which each code is not zero."""
        return self.n_nonzeros / self.n

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which codes take one value only: no non-zero at all, or the same one in every row."""
        filled = self.n_nonzeros
        return np.asarray((filled == 0) | ((filled == self.n) & (self.low == self.high)))

    def column(self, code: int) -> tuple[NDArray[np.integer[Any]], NDArray[np.float64]]:
        """Return the rows and the values of one code's non-zeros."""
        own = slice(int(self.starts[code]), int(self.starts[code + 1]))
        return self.rows[own], self.values[own].astype(np.float64)

    def take_codes(self, chosen: NDArray[np.intp]) -> "SparseCodes":
        """Return some codes."""
        kept = [np.arange(self.starts[code], self.starts[code + 1]) for code in chosen]
        entries = np.concatenate(kept).astype(np.intp) if kept else np.empty(0, dtype=np.intp)
        starts = np.concatenate([[0], np.cumsum(self.n_nonzeros[chosen])]).astype(self.starts.dtype)
        names = tuple(self.names[int(code)] for code in chosen)
        return SparseCodes(
            self.n, names, self.values[entries], self.rows[entries], starts, self.low[chosen], self.high[chosen]
        )

    def dense(self, chosen: NDArray[np.intp], rows: NDArray[np.intp]) -> Codes:
        """Return some codes on some (increasing) rows as dense codes."""
        values = np.zeros((len(rows), len(chosen)))
        for place, code in enumerate(chosen):
            own_rows, own_values = self.column(int(code))
            position = np.minimum(np.searchsorted(rows, own_rows), len(rows) - 1)
            kept = rows[position] == own_rows
            values[position[kept], place] = own_values[kept]
        names = tuple(self.names[int(code)] for code in chosen)
        return Codes(values, names, values.min(axis=0), values.max(axis=0))


def read_sparse_codes(codes: object, code_names: Sequence[str] | None = None) -> SparseCodes:
    """Validate sparse codes.

    Parameters
    ----------
    codes : SciPy sparse matrix or array of shape (n_samples, n_codes)
        Any format; real, finite. Entries that stand twice are added up and stored zeros are zeros, as in ``toarray``.
        The matrix itself is not changed.
    code_names : sequence of str, optional
        One name per column, all different; ``z1``, ``z2``, ... by default.
    """
    if not importlib.import_module("scipy.sparse").issparse(codes):
        raise InputTypeError(
            "codes", f"expected a SciPy sparse matrix or array, got {type(codes).__name__}; {_remedy(codes)}"
        )
    matrix: Any = codes
    if matrix.ndim != 2:
        raise InputError("codes", f"expected 2 dimensions (n_samples, n_codes), got shape {tuple(matrix.shape)}")
    n, d = (int(size) for size in matrix.shape)
    if d < 1:
        raise NotEnoughData("codes", "expected at least 1 column, got none")
    if n < 2:
        raise NotEnoughData("codes", f"expected at least 2 rows, got {n or 'none'}")
    kind = matrix.dtype.kind
    if kind not in "biuf":
        what = "complex numbers" if kind == "c" else str(matrix.dtype)
        raise InputTypeError("codes", f"expected real numbers, got {what}")
    matrix = checked_structure(matrix, "codes")
    names = _names(code_names, d)
    columns = _canonical(matrix)
    values = columns.data.astype(np.uint8) if kind == "b" else columns.data
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        of_bad = np.searchsorted(columns.indptr, bad, side="right") - 1
        first = int(of_bad[0])
        own = columns.indices[bad[of_bad == first]]
        others = len(np.unique(of_bad)) - 1
        listed = f" (and in {plural(others, 'other column', 'other columns')})" if others else ""
        raise InputError(
            "codes",
            f"{plural(len(own), 'non-finite value', 'non-finite values')} (NaN or infinite) in column "
            f"{names[first]!r}{listed}, first at row {own.min()}; drop or impute them",
        )
    filled = np.flatnonzero(np.diff(columns.indptr))
    low, high = np.zeros(d), np.zeros(d)
    if len(filled):
        low[filled] = np.minimum.reduceat(values, columns.indptr[filled])
        high[filled] = np.maximum.reduceat(values, columns.indptr[filled])
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(np.isinf(np.maximum(high, 0.0) - np.minimum(low, 0.0)))
    if len(wide):
        raise InputError("codes", f"the range of column {names[int(wide[0])]!r} exceeds the largest float; rescale it")
    return SparseCodes(n, names, values, columns.indices, columns.indptr, low, high)


def _remedy(codes: Any) -> str:
    """Say how to make a SciPy matrix of what was given."""
    if str(getattr(codes, "layout", "")).startswith("torch.sparse"):
        return (
            "convert it: t = codes.detach().cpu().to_sparse_coo().coalesce(); "
            "scipy.sparse.coo_array((t.values().numpy(), t.indices().numpy()), shape=tuple(t.shape))"
        )
    kinds = getattr(codes, "dtypes", None)
    if kinds is not None and hasattr(codes, "columns") and all(str(kind).startswith("Sparse") for kind in kinds):
        return "convert it: codes.sparse.to_coo(), with code_names=[str(name) for name in codes.columns]"
    return "dense codes are scored by demele.evaluate, or made sparse with scipy.sparse.csc_array(codes)"


def _names(given: Sequence[str] | None, d: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"z{index + 1}" for index in range(d))
    given = items_of(given, "code_names", f"one string for each of the {d} codes")
    if not all(isinstance(name, str) for name in given):
        raise InputTypeError("code_names", f"expected one string for each of the {d} codes, got {quoted(given)}")
    if len(given) != d:
        raise InputError("code_names", f"expected one name for each of the {d} codes, got {len(given)}")
    if len(set(given)) < d:
        seen: set[str] = set()
        twice = next(name for name in given if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError("code_names", f"expected different names, got {quoted(twice)} more than once")
    return tuple(given)


def _canonical(matrix: Any) -> Any:
    """Return compressed columns with sorted rows, no duplicates and no stored zeros; the caller's stay as they are."""
    if matrix.dtype.itemsize not in (1, 4, 8) and matrix.dtype.kind == "f":  # SciPy computes with neither
        matrix = matrix.astype(np.float32 if matrix.dtype.itemsize == 2 else np.float64)
    columns = matrix.tocsc()
    if columns.has_canonical_format and columns.data.all():
        return columns  # only read from
    if columns is matrix or np.shares_memory(columns.data, matrix.data):
        columns = columns.copy()
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns
