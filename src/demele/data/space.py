"""Grids of factors: which values each takes, and which row holds which combination; and samples of codes with them."""

from __future__ import annotations

import io
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Array, Counts, pd
from demele.core.columns import Kind
from demele.core.errors import InputError, InputTypeError, listed, plural, quoted
from demele.core.inputs import given_kinds
from demele.core.outputs import write_whole
from demele.core.reading import HALVES, parsing
from demele.core.result import Result, TableResult, about
from demele.core.table_columns import as_column, whole_array
from demele.report.document import Document
from demele.report.listing import table_of_frame
from demele.report.words import count
from demele.report.words import name as isolated

#: Rows are counted in 64 bits.
MOST_ROWS = 2**63 - 1
#: Values of one factor; a file could name more than memory holds.
MOST_VALUES = 1_000_000


class Symmetry(NamedTuple):
    """A factor with a shorter period at a value of another factor: a square after 90 degrees."""

    factor: str
    other: str
    value: float | int | str
    period: float


@dataclass(frozen=True, slots=True, init=False, repr=False)
class FactorSpace(TableResult):
    """Every combination of the values of some factors, in the order of published grids of images.

    Rows are row-major: the last factor changes fastest, as the last index of an array does.

    Parameters
    ----------
    values : mapping of str to sequence or int
        For each factor its values, at least two, all different: texts or finite numbers. A number n alone stands for
        the values 0, 1, ..., n - 1.
    kinds : None, str, mapping of name to str, or sequence of str
        ``"continuous"`` or ``"categorical"``. By default texts and whole numbers are categorical, and other numbers
        continuous.
    period : mapping of name to number, optional
        For each cyclic factor (a hue, an angle) the difference after which its values begin again, in their unit;
        more than the largest value minus the smallest.
    symmetric : sequence of (factor, other, value, period), optional
        Where ``other`` has ``value``, the cyclic ``factor`` begins again after ``period`` already, and codes cannot
        tell more.

    Attributes
    ----------
    names : tuple of str
    sizes : tuple of int
        Number of values of each factor.
    values : tuple of tuple of int, float or str
    kinds : tuple of {"continuous", "categorical"}
    period : tuple of float or None
        None for factors that are not cyclic.
    symmetric : tuple of Symmetry

    Raises
    ------
    InputError, InputTypeError
        Naming the factor: too few values, some twice, no numbers where numbers are needed, a period that is too short.

    Examples
    --------
    >>> space = FactorSpace({"shape": ["square", "heart"], "angle": [0.0, 30.0, 60.0]}, period={"angle": 90})
    >>> len(space), space.kinds
    (6, ('categorical', 'continuous'))
    >>> space.positions([0, 5]).tolist()
    [[0, 0], [1, 2]]
    >>> space.rows({"shape": ["heart"], "angle": [30.0]}).tolist()
    [4]
    """

    _kind, _figure = "factor space", "values"

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    values: tuple[tuple[float | int | str, ...], ...]
    kinds: tuple[Kind, ...]
    period: tuple[float | None, ...]
    symmetric: tuple[Symmetry, ...]

    def __init__(
        self,
        values: Mapping[str, Sequence[object] | Array | int],
        *,
        kinds: object = None,
        period: Mapping[str, float] | None = None,
        symmetric: Sequence[tuple[str, str, object, float]] = (),
    ) -> None:
        if not isinstance(values, Mapping):
            raise InputTypeError("values", f"expected a mapping of names to values, got {type(values).__name__}")
        if not values:
            raise InputError("values", "expected at least 1 factor, got none")
        for name in values:
            if not isinstance(name, str) or not name:
                raise InputTypeError("values", f"expected a name for each factor, got {quoted(name)}")
        names = tuple(values)
        read = tuple(_read_values(given, name) for name, given in values.items())
        sizes = tuple(len(one) for one in read)
        if math.prod(sizes) > MOST_ROWS:
            raise InputError("values", f"expected below 2^63 rows, got {quoted(math.prod(sizes))}; leave out factors")
        given = given_kinds(kinds, names)
        detected = ["continuous" if isinstance(one[0], float) else "categorical" for one in read]
        found = tuple(given.get(name) or kind for name, kind in zip(names, detected, strict=True))
        for name, one, kind in zip(names, read, found, strict=True):
            if kind == "continuous" and not _numbers(one):
                raise InputTypeError("kinds", f"continuous factor {quoted(name)} holds {quoted(one[0])}")
        for what, held in {"names": names, "sizes": sizes, "values": read, "kinds": found}.items():
            object.__setattr__(self, what, held)
        cyclic = period or {}
        if not isinstance(cyclic, Mapping):
            raise InputTypeError("period", f"expected a mapping of names to numbers, got {type(cyclic).__name__}")
        for name, length in cyclic.items():
            self._check_period(name, length, "period")
        periods = tuple(float(cyclic[name]) if name in cyclic else None for name in names)
        object.__setattr__(self, "period", periods)
        if isinstance(symmetric, str) or not isinstance(symmetric, Sequence):
            raise InputTypeError("symmetric", f"expected (factor, other, value, period) each, got {quoted(symmetric)}")
        object.__setattr__(self, "symmetric", tuple(self._read_symmetry(one) for one in symmetric))

    def __len__(self) -> int:
        return math.prod(self.sizes)

    def headline(self) -> str:
        """Return the number of rows, and the number of values of each factor."""
        sizes = " × ".join(f"{size} {isolated(factor)}" for factor, size in zip(self.names, self.sizes, strict=True))
        return f"{count(len(self), 'row')}: {sizes}."

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each factor."""
        columns = {"factor": self.names, "values": self.sizes, "kind": self.kinds, "period": self.period}
        return pd.DataFrame(columns).astype({"period": float})

    def positions(self, rows: ArrayLike) -> Counts:
        """Return the positions of the values of some rows.

        Parameters
        ----------
        rows : array-like of int of shape (n,)
            From 0 to ``len(space) - 1``.

        Returns
        -------
        array of int64 of shape (n, n_factors)
            From 0 to size - 1 for each factor.

        Raises
        ------
        InputError, InputTypeError
        """
        wanted = whole_array(rows, "rows", dimensions=1)
        refuse_outside(wanted, len(self), "rows")
        return np.stack(np.unravel_index(wanted, self.sizes), axis=-1).astype(np.int64)

    def index(self, positions: ArrayLike) -> Counts:
        """Return the rows that hold the values at some positions: what :meth:`positions` undoes.

        Parameters
        ----------
        positions : array-like of int of shape (n, n_factors)
            From 0 to size - 1 for each factor.

        Returns
        -------
        array of int64 of shape (n,)

        Raises
        ------
        InputError, InputTypeError
            Naming the factor and the first row of a position that is not there.
        """
        wanted = whole_array(positions, "positions", dimensions=2)
        if wanted.shape[1] != len(self.sizes):
            raise InputError("positions", f"expected {len(self.sizes)} columns, one per factor, got {wanted.shape[1]}")
        for name, size, column in zip(self.names, self.sizes, wanted.T, strict=True):
            refuse_outside(column, size, f"positions, factor {quoted(name)}")
        return np.asarray(np.ravel_multi_index(tuple(wanted.T), self.sizes), dtype=np.int64)

    def factors(self, rows: ArrayLike | None = None) -> pd.DataFrame:
        """Return the values of some rows, by default of all, as a table that metrics read.

        Parameters
        ----------
        rows : array-like of int of shape (n,), optional

        Returns
        -------
        DataFrame of shape (n, n_factors)
            A categorical column with all values as its categories, in their order, for a categorical factor; float64
            for a continuous one.

        Raises
        ------
        InputError, InputTypeError
        """
        positions = self.positions(np.arange(len(self)) if rows is None else rows)
        columns: dict[str, Any] = {}
        for name, values, kind, place in zip(self.names, self.values, self.kinds, positions.T, strict=True):
            if kind == "categorical":
                columns[name] = pd.Categorical.from_codes(place, categories=pd.Index(values))
            else:
                columns[name] = np.array(values, dtype=np.float64)[place]
        frame = pd.DataFrame(columns)
        frame.attrs["periods"] = {one: held for one, held in zip(self.names, self.period, strict=True) if held}
        return frame

    def rows(self, factors: Mapping[str, Any] | pd.DataFrame) -> Counts:
        """Return the rows that hold some values of the factors: what :meth:`factors` undoes.

        Parameters
        ----------
        factors : DataFrame or mapping of name to array-like, with n values each
            At least the factors of this space; other columns are not looked at. Values must be those of the space, to
            the last digit.

        Returns
        -------
        array of int64 of shape (n,)

        Raises
        ------
        InputError, InputTypeError
            Naming the factor that is missing, or the value that is not in the space with its row.
        """
        columns: dict[str, Array] = {}
        if not isinstance(factors, Mapping) and not (hasattr(factors, "columns") and hasattr(factors, "__len__")):
            raise InputTypeError("factors", f"expected a table of factors by name, got {type(factors).__name__}")
        for name in self.names:
            if name not in factors:
                raise InputError("factors", f"expected a column {quoted(name)}, got {listed(factors, 6)}")
            columns[name] = as_column(factors[name], f"factors, column {quoted(name)}")
        lengths = {name: column.shape for name, column in columns.items()}
        if len(set(lengths.values())) > 1 or any(len(shape) != 1 for shape in lengths.values()):
            raise InputError("factors", f"expected one value of each factor per row, got shapes {lengths}")
        places = []
        for (name, column), values in zip(columns.items(), self.values, strict=True):
            place = pd.Index(list(values)).get_indexer(pd.Index(column))
            if (place < 0).any():
                row = int(np.flatnonzero(place < 0)[0])
                raise InputError(
                    "factors",
                    f"{quoted(column[row : row + 1].tolist()[0])} at row {row} is no value of factor "
                    f"{quoted(name)}; its values are {listed(values, 6)}",
                )
            places.append(place)
        return self.index(np.stack(places, axis=-1))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold; :meth:`from_json` reads what ``to_json`` writes."""
        return {
            "kind": "factor space",
            "values": {name: list(values) for name, values in zip(self.names, self.values, strict=True)},
            "kinds": list(self.kinds),
            "period": {name: held for name, held in zip(self.names, self.period, strict=True) if held is not None},
            "symmetric": [list(one) for one in self.symmetric],
        }

    @classmethod
    def from_json(cls, text: str) -> FactorSpace:
        """Return the space that :meth:`to_json` wrote.

        Raises
        ------
        FormatError
            If the text is no JSON, or no factor space.

        Examples
        --------
        >>> space = FactorSpace({"x": 4, "hue": [0.0, 0.5]}, period={"hue": 1.0})
        >>> FactorSpace.from_json(space.to_json()) == space
        True
        """
        with parsing("factor space: expected JSON of FactorSpace.to_json"):
            data = json.loads(text)
            if data["kind"] != "factor space":
                raise ValueError(f"it holds a {data['kind']}")
            return cls(data["values"], kinds=data["kinds"], period=data["period"], symmetric=data["symmetric"])

    def _check_period(self, name: object, period: object, argument: str) -> None:
        """Refuse a period that is no positive number, or of a factor without numbers."""
        values = self._values_of(name, argument)
        if not _numbers(values):
            raise InputError(argument, f"factor {quoted(name)} holds {quoted(values[0])}; only numbers begin again")
        if isinstance(period, bool) or not isinstance(period, int | float | np.number) or not 0 < period <= MOST_ROWS:
            raise InputError(argument, f"expected a number above 0 for factor {quoted(name)}, got {quoted(period)}")
        width = max(values) - min(values)  # type: ignore[operator]
        if argument == "period" and period <= width:
            raise InputError(
                "period",
                f"the values of factor {quoted(name)} are {width:g} apart, and begin again after {period:g}; "
                "leave out those that are the same, such as the last of 0 to 360 degrees",
            )

    def _read_symmetry(self, given: Any) -> Symmetry:
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 4:
            raise InputTypeError("symmetric", f"expected (factor, other, value, period), got {quoted(given)}")
        factor, other, value, period = given
        self._check_period(factor, period, "symmetric")
        if self.period[self.names.index(factor)] is None:
            raise InputError("symmetric", f"factor {quoted(factor)} is not cyclic; give its period= too")
        if value not in self._values_of(other, "symmetric"):
            raise InputError("symmetric", f"factor {quoted(other)} has no value {quoted(value)}")
        return Symmetry(factor, other, value, float(period))

    def _values_of(self, name: object, argument: str) -> tuple[float | int | str, ...]:
        if name not in self.names:
            raise InputError(argument, f"unknown factor {quoted(name)}; known are {', '.join(map(quoted, self.names))}")
        return self.values[self.names.index(name)]


def _read_values(given: Any, name: str) -> tuple[float | int | str, ...]:
    """Return the values of a factor as plain numbers or texts."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        given = range(min(int(given), MOST_VALUES + 1))
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise InputTypeError("values", f"expected values of factor {quoted(name)} or their number, got {quoted(given)}")
    values = tuple(value.item() if isinstance(value, np.generic) else value for value in given)
    if len(values) < 2:
        raise InputError("values", f"expected at least 2 values of {quoted(name)}, got {len(values)}; leave it out")
    if len(values) > MOST_VALUES:
        raise InputError("values", f"expected at most {MOST_VALUES} values of factor {quoted(name)}, got more")
    texts = [isinstance(value, str) for value in values]
    for value in (name, *values):
        if isinstance(value, str) and any(HALVES[0] <= ord(character) <= HALVES[1] for character in value):
            raise InputError("values", f"factor {quoted(name)} holds invalid text: {quoted(value)}")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise InputTypeError("values", f"expected texts or numbers for factor {quoted(name)}, got {quoted(value)}")
        if isinstance(value, float | int) and not abs(value) <= MOST_ROWS:
            raise InputError("values", f"expected finite numbers below 2^63 for {quoted(name)}, got {quoted(value)}")
    if any(texts) and not all(texts):
        raise InputTypeError("values", f"factor {quoted(name)} mixes texts and numbers; write all of them as texts")
    if len(set(values)) < len(values):
        twice = next(value for value, count in Counter(values).items() if count > 1)
        raise InputError("values", f"factor {quoted(name)} holds {quoted(twice)} twice")
    return values if all(isinstance(value, int | str) for value in values) else tuple(float(value) for value in values)


def _numbers(values: Sequence[object]) -> bool:
    return not isinstance(values[0], str)


def refuse_outside(held: Counts, size: int, argument: str) -> None:
    """Refuse numbers that are not from 0 to size - 1, with the first of them."""
    wrong = np.flatnonzero((held < 0) | (held >= size))
    if wrong.size:
        raise InputError(argument, f"expected 0 to {size - 1}, got {held[wrong[0]]} at row {wrong[0]}")


# What every data set hands over ---------------------------------------------------------------------------------------


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
    images: Array | None = field(default=None, metadata={"json": False})
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
                raise InputTypeError("images", f"expected an array (numpy.asarray), got {type(self.images).__name__}")
            if self.images.dtype != np.uint8 and self.images.dtype.kind != "f":
                raise InputTypeError("images", f"expected uint8 or floats, got {self.images.dtype}")
            if self.images.ndim != 4 or 0 in self.images.shape[1:]:
                hint = "; grey ones have one channel: images[..., None]" if self.images.ndim == 3 else ""
                raise InputError("images", f"expected (n, height, width, channels), got {self.images.shape}{hint}")
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
        each = pd.DataFrame(
            {"code": self.codes.columns.astype(str), "mean": [*self.codes.mean()], "std": [*self.codes.std()]}
        )
        table, _ = table_of_frame("Codes", each)
        counts = (plural(self.codes.shape[1], "code", "codes"), plural(self.factors.shape[1], "factor", "factors"))
        headline = f"{plural(len(self.codes), 'row', 'rows')}, {', '.join(counts)}."
        return Document(kind="Codes", headline=headline, sentences=[self.provenance], table=table, **about(self))

    def to_frame(self) -> pd.DataFrame:
        """Return codes and factors in one table."""
        return pd.concat([self.codes, self.factors], axis=1)

    def save(self, path: str | Path) -> Path:
        """Write codes and factors to an ``.npz``, which :func:`demele.lab.examine` reads.

        It holds ``codes``, ``codes_std``, ``factors`` as numbers (of texts the position among the classes) with
        ``factor_names``, and each factor alone under its name.

        Raises
        ------
        OutputError
        """
        arrays: dict[str, Array] = {"codes": self.codes.to_numpy(np.float32)}
        if self.codes_std is not None:
            arrays["codes_std"] = self.codes_std.to_numpy(np.float32)
        arrays["factor_names"] = np.array(list(self.factors), dtype=str)
        factors = arrays["factors"] = np.zeros((len(self.codes), len(arrays["factor_names"])))
        for place, (name, column) in enumerate(self.factors.items()):
            held = np.asarray(column)
            of_numbers = held.dtype.kind in "iuf"
            factors[:, place] = held if of_numbers else pd.Categorical(column).codes  # of texts, the place of the class
            if str(name).isidentifier() and name not in arrays:
                arrays[str(name)] = held if of_numbers else held.astype(str)
        archive = io.BytesIO()
        np.savez_compressed(archive, allow_pickle=False, **arrays)
        return write_whole(path, archive.getvalue())


def _frame(given: Any, argument: str, names: str | list[str]) -> pd.DataFrame:
    """Return a frame as it is, and an array as one; ``names``: of its columns, or what they begin with."""
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
