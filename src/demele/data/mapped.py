"""An array that lies in a file and is read where it is looked at; other processes are sent the place, not the array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class MappedArray:
    """Bytes of a file as an array that cannot be written on.

    Parameters
    ----------
    path : Path
    offset : int
        Where the array begins.
    shape : tuple of int
    dtype : numpy.dtype
    columns_first : bool
        The first index changes fastest.
    """

    def __init__(
        self, path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any], *, columns_first: bool = False
    ) -> None:
        self.shape, self.dtype = shape, dtype
        self._place = Path(path).absolute(), offset, "F" if columns_first else "C"
        self._array: NDArray[Any] | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows: in memory if they are picked by an array of numbers, mapped if by a slice."""
        if self._array is None:
            path, offset, order = self._place
            self._array = np.memmap(path, self.dtype, "r", offset, self.shape, order)  # type: ignore[call-overload]
        return np.asarray(self._array[rows])

    def __getstate__(self) -> dict[str, Any]:
        """Send the place to another process."""
        return {**self.__dict__, "_array": None}
