"""What a first pass over the rows finds of each column, in parts that add up: extremes, distinct values, gaps.

The kinds of factors are those that reading all rows at once would find.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import (
    MAX_LEVELS_OF_WHOLE_FLOATS,
    are_classes,
    unique_class_doubt,
    whole_number_doubt,
)
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.given_arrays import levels_of_floats
from demele.core.inputs import Kind, as_numbers, is_text, read_factor
from demele.core.table_columns import real_column, series_to_numpy
from demele.core.written_numbers import notation_doubt, refuse_names_of_rows, refuse_written_numbers

#: Distinct numbers that are kept where a column may hold classes, and where it was said to.
MOST_DETECTED = MAX_LEVELS_OF_WHOLE_FLOATS + 1
MOST_CLASSES = 1_000_000
#: Below this, floats hold every whole number, and so do the integers of a machine.
LARGEST_WHOLE = 1 << 53


@dataclass(frozen=True, slots=True)
class SeenCode:
    """One code: extremes of the finite values, how many are not finite, and the first row of those (-1: none)."""

    low: float
    high: float
    n_bad: int
    first_bad: int


@dataclass(frozen=True, slots=True)
class SeenFactor:
    """One factor.

    ``form`` is "whole" or "real" for numbers, "classes" for classes in the order of their names, "ordered" for those
    of a categorical type, "none" before the first annotation. ``integer``: whether all rows were stored as integers.
    ``distinct`` holds the different numbers (None: more than are kept), ``levels`` the classes, ``order`` all classes
    of a categorical type. ``text``: whether some classes are text.
    """

    form: str
    integer: bool
    low: float
    high: float
    n_annotated: int
    first_missing: int
    distinct: NDArray[Any] | None
    levels: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    n_infinite: int = 0
    first_infinite: int = -1
    text: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of successive rows."""

    sizes: tuple[int, ...]
    codes: tuple[SeenCode, ...]
    factors: tuple[SeenFactor, ...]

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.sizes)


def look(codes: Sequence[Any], factors: Sequence[Any], names: "tuple[Names, Names]", kinds: dict[str, Kind]) -> Seen:
    """Return what there is to see of a block of rows: columns of codes and of factors."""
    return Seen(
        (len(codes[0]),),
        tuple(_code(column, name) for column, name in zip(codes, names[0], strict=True)),
        tuple(_factor(column, name, kinds.get(name)) for column, name in zip(factors, names[1], strict=True)),
    )


Names = tuple[str, ...]


def merged(parts: Sequence[Seen], names: Names) -> Seen:
    """Return what was seen of successive parts, in their order; ``names`` are those of the factors."""
    found = parts[0]
    for part in parts[1:]:
        found = Seen(
            found.sizes + part.sizes,
            tuple(
                SeenCode(
                    min(a.low, b.low),
                    max(a.high, b.high),
                    a.n_bad + b.n_bad,
                    _first(a.first_bad, b.first_bad, found.n),
                )
                for a, b in zip(found.codes, part.codes, strict=True)
            ),
            tuple(
                _merged_factors(a, b, name, found.n)
                for a, b, name in zip(found.factors, part.factors, names, strict=True)
            ),
        )
    return found


# Codes ----------------------------------------------------------------------------------------------------------------


def _code(column: Any, name: str) -> SeenCode:
    values = real_column(column, name, "codes")
    if not len(values):
        return SeenCode(np.inf, -np.inf, 0, -1)
    low, high = float(values.min()), float(values.max())
    if np.isfinite(low) and np.isfinite(high):
        return SeenCode(low, high, 0, -1)
    finite = np.isfinite(values)
    return SeenCode(np.inf, -np.inf, int((~finite).sum()), int(np.argmin(finite)))


def _first(mine: int, theirs: int, offset: int) -> int:
    return mine if mine >= 0 or theirs < 0 else theirs + offset


# Factors --------------------------------------------------------------------------------------------------------------


def _factor(column: Any, name: str, given: Kind | None) -> SeenFactor:
    if type(column).__module__.startswith("pandas"):
        if str(column.dtype) == "category":
            found = _classes(column, name, given)
            return replace(found, form="ordered", order=tuple(str(level) for level in column.cat.categories))
        column = series_to_numpy(column, keep_kind=True)
    values = np.asarray(column)
    if values.dtype.kind == "O":
        numbers = as_numbers(values)
        values = values if numbers is None else numbers
    if values.dtype.kind == "b" and given == "continuous":
        values = values.astype(np.uint8)
    if values.dtype.kind not in "fiu":
        return _classes(column, name, given)
    if not len(values):
        return SeenFactor("none", True, np.inf, -np.inf, 0, -1, np.empty(0, values.dtype))
    if values.dtype.kind == "f":
        return _floats(values, name, given)
    low, high = values.min(), values.max()
    distinct = None if given == "continuous" else _distinct(values, int(low), int(high))
    return _kept(SeenFactor("whole", True, float(low), float(high), len(values), -1, distinct), name, given)


def _floats(values: NDArray[Any], name: str, given: Kind | None) -> SeenFactor:
    low, high = float(values.min()), float(values.max())
    first, known = -1, values
    if not (np.isfinite(low) and np.isfinite(high)):
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:  # refused when all rows were seen, so that the message says how many there are
            return SeenFactor(
                "real",
                False,
                0.0,
                0.0,
                len(values),
                -1,
                None,
                n_infinite=infinite.size,
                first_infinite=int(infinite[0]),
            )
        missing = np.isnan(values)
        first, known = int(np.argmax(missing)), values[~missing]
        if not known.size:
            return SeenFactor("none", False, np.inf, -np.inf, 0, first, np.empty(0, values.dtype))
        low, high = float(known.min()), float(known.max())
    whole = not ((np.trunc(known[:1000]) != known[:1000]).any() or (np.trunc(known) != known).any())
    distinct = None
    if given == "categorical" or (given is None and whole):
        small = whole and max(-low, high) < LARGEST_WHOLE and high - low < 1 << 16
        distinct = _distinct(known.astype(np.int64), int(low), int(high)) if small else np.unique(known)
        distinct = distinct.astype(values.dtype)
    seen = SeenFactor("whole" if whole else "real", False, low, high, len(known), first, distinct)
    return _kept(seen, name, given)


def _distinct(values: NDArray[Any], low: int, high: int) -> NDArray[Any]:
    """Return the distinct integers, sorted."""
    if max(-low, high) >= LARGEST_WHOLE or high - low >= 1 << 16:
        return np.unique(values)
    shifted = values.astype(np.intp)
    shifted -= low
    return (np.flatnonzero(np.bincount(shifted)) + low).astype(values.dtype)


def _kept(seen: SeenFactor, name: str, given: Kind | None) -> SeenFactor:
    """Forget the distinct numbers where they are too many to be classes."""
    if seen.distinct is None or seen.distinct.size <= MOST_DETECTED:
        return seen
    if given != "categorical":
        return replace(seen, distinct=None)
    if seen.distinct.size > MOST_CLASSES:
        raise InputError(
            "factors",
            f"column {name!r} was declared categorical and holds more than {MOST_CLASSES:,} different values; "
            f"pass `kinds={{{quoted(name)}: 'continuous'}}`, or leave it out",
        )
    return seen


def _classes(column: Any, name: str, given: Kind | None) -> SeenFactor:
    factor = read_factor(column, name, given or "categorical")
    missing = np.flatnonzero(np.asarray(factor.values) < 0)
    first = int(missing[0]) if missing.size else -1
    form = "classes" if factor.levels else "none"
    seen = SeenFactor(form, False, np.inf, -np.inf, factor.n_annotated, first, None, factor.levels)
    return _bounded(replace(seen, text=is_text(column)), name)


def _bounded(seen: SeenFactor, name: str) -> SeenFactor:
    """Refuse columns that name their rows: no table holds so many classes, and no memory the classes of all rows."""
    if len(seen.levels) > MOST_CLASSES:
        raise InputError("factors", f"column {name!r} holds more than {MOST_CLASSES:,} different classes; leave it out")
    return seen


def _merged_factors(mine: SeenFactor, theirs: SeenFactor, name: str, offset: int) -> SeenFactor:
    first = _first(mine.first_missing, theirs.first_missing, offset)
    n_annotated = mine.n_annotated + theirs.n_annotated
    # a part without annotations has no form of its own, but its gaps make floats of integers
    integer = mine.integer and theirs.integer
    for one, other in ((mine, theirs), (theirs, mine)):
        if one.form == "none":
            return replace(
                other,
                integer=integer,
                n_annotated=n_annotated,
                first_missing=first,
                first_infinite=_first(mine.first_infinite, theirs.first_infinite, offset),
            )
    forms = {mine.form, theirs.form}
    if forms <= {"whole", "real"}:
        distinct = None
        if mine.distinct is not None and theirs.distinct is not None:
            same = np.array_equal(mine.distinct, theirs.distinct)
            distinct = mine.distinct if same else np.union1d(mine.distinct, theirs.distinct)
        return SeenFactor(
            "real" if "real" in forms else "whole",
            integer,
            min(mine.low, theirs.low),
            max(mine.high, theirs.high),
            n_annotated,
            first,
            distinct,
            n_infinite=mine.n_infinite + theirs.n_infinite,
            first_infinite=_first(mine.first_infinite, theirs.first_infinite, offset),
        )
    if not forms <= {"classes", "ordered"}:
        raise InputTypeError(
            "factors", f"column {name!r} holds numbers in some parts and classes in others; make them of one type"
        )
    if forms == {"ordered"} and mine.order == theirs.order:
        used = {*mine.levels, *theirs.levels}
        levels = tuple(level for level in mine.order if level in used)
        text = mine.text or theirs.text
        return replace(mine, n_annotated=n_annotated, first_missing=first, levels=levels, text=text)
    levels = mine.levels if mine.levels == theirs.levels else tuple(sorted({*mine.levels, *theirs.levels}))
    seen = SeenFactor("classes", False, np.inf, -np.inf, n_annotated, first, None, levels)
    return _bounded(replace(seen, text=mine.text or theirs.text), name)


# Kinds ----------------------------------------------------------------------------------------------------------------


def kind_of(seen: SeenFactor, name: str, given: Kind | None) -> Kind:
    """Return the kind that reading all rows at once would find."""
    if seen.n_annotated == 0:
        raise NotEnoughData("factors", f"column {name!r} has no annotated row at all; leave it out")
    if given is not None:
        return given
    if seen.form in ("classes", "ordered"):
        if seen.text:
            refuse_written_numbers(seen.levels, None, name)
        refuse_names_of_rows(len(seen.levels), seen.n_annotated, name, seen.levels[0])
        return "categorical"
    if seen.form == "real" or seen.distinct is None:
        return "continuous"
    labels = are_classes(seen.distinct.size, seen.n_annotated, integer=seen.integer)
    return "categorical" if labels else "continuous"


def doubt_of(seen: SeenFactor, name: str, kind: Kind) -> str | None:
    """Say how whole numbers were read that are neither clearly classes nor clearly a quantity."""
    if seen.text:
        return notation_doubt(seen.levels, f"the values of factor {quoted(name)}")
    if seen.form != "whole":
        return None
    if seen.distinct is None:
        n_levels = MOST_DETECTED
        text = whole_number_doubt(name, kind, n_levels, seen.n_annotated, of_floats=not seen.integer)
        return None if text is None else text.replace(f"holds {n_levels} ", f"holds more than {n_levels - 1} ")
    return whole_number_doubt(name, kind, seen.distinct.size, seen.n_annotated, of_floats=not seen.integer)


def declared_doubt(seen: SeenFactor, name: str, kind: Kind) -> str | None:
    """Say of declared classes that each occurs in one row only."""
    n_levels = len(seen.levels) if seen.distinct is None else seen.distinct.size
    return unique_class_doubt(name, kind, n_levels, seen.n_annotated)


def levels_of(seen: SeenFactor, name: str) -> tuple[str, ...]:
    """Return the names of the classes, in the order in which reading all rows at once would put them."""
    if seen.form in ("classes", "ordered"):
        return seen.levels
    if seen.distinct is None:
        raise ValueError("a categorical column of numbers has its distinct values")
    if seen.integer:
        return tuple(map(str, seen.distinct.tolist()))
    return levels_of_floats(seen.distinct, name)
