"""Sparse matrices that are what they say: compiled code trusts the positions in them, and reads where they point."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError
from demele.core.sentences import plural

_COMPRESSED = ("csr", "csc", "bsr")


def checked_structure(matrix: Any, argument: str) -> Any:
    """Return a sparse matrix whose positions all lie within its shape; lists and dictionaries become arrays.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array
    argument : str
        What messages call it.

    Raises
    ------
    InputError
        If a position lies outside, or the starts of rows or columns do not ascend to the number of positions.
    """
    if matrix.format == "lil":
        matrix = matrix.tocsr()
    elif matrix.format == "dok":
        matrix = matrix.tocoo()
    if matrix.format in _COMPRESSED:
        _check_compressed(matrix, argument)
    elif matrix.format == "coo":
        coords = getattr(matrix, "coords", None) or (matrix.row, matrix.col)
        for axis, (positions, size) in enumerate(zip(coords, matrix.shape, strict=True)):
            if len(positions) != len(matrix.data):
                raise InputError(argument, f"holds {len(matrix.data)} values but {len(positions)} positions")
            _check_within(positions, size, ("row", "column")[axis] if axis < 2 else f"axis {axis}", argument)
    elif matrix.format == "dia" and (matrix.data.ndim != 2 or matrix.offsets.shape != matrix.data.shape[:1]):
        raise InputError(argument, f"holds {matrix.data.shape} diagonals but {matrix.offsets.shape} offsets")
    return matrix


def _check_compressed(matrix: Any, argument: str) -> None:
    by_row = matrix.format != "csc"
    outer, inner = ("row", "column") if by_row else ("column", "row")
    n_outer, n_inner = matrix.shape if by_row else matrix.shape[::-1]
    if matrix.format == "bsr":
        height, width = matrix.blocksize
        if not height or not width or n_outer % height or n_inner % width:
            raise InputError(argument, f"blocks of {height} x {width} do not fill a shape of {matrix.shape}")
        n_outer, n_inner = n_outer // height, n_inner // width
    starts, positions = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    if starts.shape != (n_outer + 1,):
        raise InputError(argument, f"expected {n_outer + 1} starts of its {outer}s, got {starts.size}")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        wrong = 0 if starts[0] != 0 else int(np.flatnonzero(starts[1:] < starts[:-1])[0]) + 1
        raise InputError(argument, f"the starts of its {outer}s do not ascend from 0, first at {outer} {wrong}")
    last = int(starts[-1])
    if last > len(positions) or last > len(matrix.data):
        held = min(len(positions), len(matrix.data))
        raise InputError(argument, f"its {outer}s end at entry {last}, but it holds {held}")
    _check_within(positions[:last], n_inner, inner, argument)


def _check_within(positions: NDArray[Any], size: int, axis: str, argument: str) -> None:
    if not len(positions) or (positions.min() >= 0 and positions.max() < size):
        return
    off = np.flatnonzero((positions < 0) | (positions >= size))
    raise InputError(
        argument,
        f"{plural(off.size, 'entry lies', 'entries lie')} outside the matrix, first at {axis} {positions[off[0]]} "
        f"of {size}; "
        "it was damaged, or made by hand",
    )
