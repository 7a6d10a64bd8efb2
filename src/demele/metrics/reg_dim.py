"""The option ``reg_dim``: the intended code of each factor, and notes if other codes are more informative."""

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.kinds import suggestion
from demele.core.results import Note
from demele.estimation.information import InformationTable
from demele.metrics.options import OfColumns, ReadOption

if TYPE_CHECKING:
    from demele.metrics.source import Subject


#: Code i is that of factor i.
IN_ORDER = "in order"
_ASSUMED_ORDER = Note(
    code="assumed-reg-dim",
    message="code i was taken to regularise factor i, in the order of the columns; name others with `reg_dim`",
)


def regularising_codes(reg_dim: object, code_names: Sequence[str], factor_names: Sequence[str]) -> NDArray[np.intp]:
    """Return, for each factor, the index of the code that regularises it.

    Raises
    ------
    InputError, NotEnoughData
        If there is not one valid code for each factor.
    """
    d, m = len(code_names), len(factor_names)
    if reg_dim is None:
        if d < m:
            raise NotEnoughData(
                "reg_dim",
                f"by default code i regularises factor i, which needs at least {m} codes, got {d}; "
                "name the code of each factor",
            )
        return np.arange(m)
    if isinstance(reg_dim, str) or not isinstance(reg_dim, Sequence | np.ndarray):
        raise InputTypeError("reg_dim", f"expected one code (index or name) for each factor, got {quoted(reg_dim)}")
    if len(reg_dim) != m:
        raise InputError("reg_dim", f"expected one code for each of the {m} factors, got {len(reg_dim)}")
    found = np.empty(m, dtype=np.intp)
    for index, code in enumerate(reg_dim):
        if isinstance(code, str):
            if code not in code_names:
                raise UnknownNameError(
                    "reg_dim",
                    f"unknown code {code!r} (for factor {factor_names[index]!r}){suggestion(code, code_names)}",
                )
            found[index] = list(code_names).index(code)
        elif isinstance(code, bool) or not isinstance(code, numbers.Integral):
            raise InputTypeError(
                "reg_dim", f"expected a code's index or name for factor {factor_names[index]!r}, got {quoted(code)}"
            )
        elif not 0 <= int(code) < d:
            raise InputError(
                "reg_dim", f"expected an index from 0 to {d - 1} for factor {factor_names[index]!r}, got {code}"
            )
        else:
            found[index] = int(code)
    return found


def column_indices(columns: object, names: Sequence[str], argument: str, default: Sequence[int]) -> list[int]:
    """Return the places of columns that are given by name or by place, one or several; none twice.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
    """
    if columns is None:
        return list(default)
    if isinstance(columns, str | numbers.Integral):
        return column_indices([columns], names, argument, default)
    if not isinstance(columns, Sequence | np.ndarray):
        raise InputTypeError(argument, f"expected names or indices of columns, got {quoted(columns)}")
    found: list[int] = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise UnknownNameError(argument, f"unknown column {column!r}{suggestion(column, names)}")
            index = list(names).index(column)
        elif isinstance(column, numbers.Integral) and not isinstance(column, bool):
            if not 0 <= int(column) < len(names):
                raise InputError(argument, f"expected an index from 0 to {len(names) - 1}, got {column}")
            index = int(column)
        else:
            raise InputTypeError(argument, f"expected names or indices of columns, got {quoted(column)}")
        if index in found:
            raise InputError(argument, f"column {names[index]!r} is named twice")
        found.append(index)
    return found


def _read_reg_dim(given: object, subject: "Subject") -> ReadOption:
    assumed = isinstance(given, str) and given == IN_ORDER
    full = regularising_codes(None if assumed else given, subject.codes.names, subject.factors.names)
    shown = IN_ORDER if assumed else tuple(int(code) for code in full)
    return ReadOption(full[list(subject.active)], shown, (_ASSUMED_ORDER,) if assumed else ())


#: The code that is meant to hold each factor, by index or name; or that of its place in the order of the columns.
RegDim = Annotated[
    Sequence[int] | Sequence[str] | Literal["in order"] | None,
    OfColumns(_read_reg_dim),
]


def assumed_codes(
    notes: tuple[Note, ...], reg_dim: NDArray[np.intp] | None, table: InformationTable
) -> tuple[Note, ...]:
    """Where code i was taken to regularise factor i, say so, and loudly where the codes say otherwise."""
    if not notes or reg_dim is None:
        return notes
    other = int((table.information.argmax(axis=0) != reg_dim).sum())
    if not other:
        return notes
    text = f"{notes[0].message}; for {other} of {len(reg_dim)} factors another code informs more"
    return tuple(replace(note, message=text, severity="warning") for note in notes)


def below_zero(value: float, reg_dim: NDArray[np.intp], table: InformationTable) -> tuple[Note, ...]:
    """Say why a gap is below 0, where codes were named for factors and others inform more."""
    if not value < 0:
        return ()
    other = int((table.information.argmax(axis=0) != reg_dim).sum())
    if not other:
        return ()
    text = f"below 0: for {other} of {len(reg_dim)} factors another code informs more than the one that is meant for it"
    return (Note(code="below-zero", message=text, severity="warning"),)
