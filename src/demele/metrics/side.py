"""Side inputs: inputs of a formula in addition to the rows, such as the intended code of each factor."""

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError, quoted
from demele.core.given_arrays import real_numbers
from demele.core.names import suggestion
from demele.core.results import Note
from demele.core.sentences import arg, marked
from demele.estimation.information import InformationTable
from demele.metrics.source import Subject


@dataclass(frozen=True, slots=True)
class SideInput:
    """A side input, read for the columns of one representation.

    Attributes
    ----------
    value : object
        What the formula reads: for the columns that vary.
    shown : object
        What the signature says: for all columns.
    notes : tuple of Note
    """

    value: Any
    shown: Any
    notes: tuple[Note, ...] = ()


_ASSUMED_ORDER = Note(
    code="assumed-reg-dim",
    message=f"code i was taken to regularise factor i, in the order of the columns; name others with {arg('reg_dim')}",
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


def _read_reg_dim(given: object, subject: Subject) -> SideInput:
    """Read the code of each factor; by default, in the order of the columns."""
    full = regularising_codes(given, subject.codes.names, subject.factors.names)
    shown = None if given is None else tuple(int(code) for code in full)
    return SideInput(full[list(subject.active)], shown, () if given is not None else (_ASSUMED_ORDER,))


def assumed_codes(
    notes: tuple[Note, ...], reg_dim: NDArray[np.intp] | None, table: InformationTable
) -> tuple[Note, ...]:
    """Where code i was taken to regularise factor i, say so, and loudly where the codes say otherwise."""
    if not notes or reg_dim is None:
        return notes
    other = int((table.information.argmax(axis=0) != reg_dim).sum())
    if not other:
        return notes
    text = f"{marked(notes[0].message)}; for {other} of {len(reg_dim)} factors another code informs more"
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


def _read_intended(given: object, subject: Subject) -> SideInput:
    """Read which code is meant to depend on which factor: zeros and ones, (n_codes, n_factors).

    Raises
    ------
    InputError, InputTypeError
    """
    shape = subject.codes.d, subject.factors.m
    matrix = real_numbers(given, "intended", f"zeros and ones of shape {shape}")
    others = matrix[~np.isin(matrix, (0.0, 1.0))]
    if matrix.shape != shape or others.size:
        found = f"shape {matrix.shape}" if matrix.shape != shape else f"other numbers, such as {others[0]:g}"
        raise InputError("intended", f"expected zeros and ones of shape {shape}, codes by factors, got {found}")
    shown = tuple(tuple(int(one) for one in row) for row in matrix)
    return SideInput(matrix[:, list(subject.active)] > 0, shown)


#: By name: reads what was given, from a metric's option of this name or for all metrics, for one representation.
SIDE: Mapping[str, Callable[[object, Subject], SideInput]] = {
    "reg_dim": _read_reg_dim,
    "intended": _read_intended,
}
