"""Arrays that lie in files and are read where they are looked at; other processes are sent the place, not the array."""

from __future__ import annotations

import zipfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.npy_files import ArrayHeader, place_of_member


class StoredArray(ABC):
    """What looks like an array of images, one per row, and reads those that are asked for.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows, new ones if an array of numbers picks them."""


class MappedArray(StoredArray):
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
        self[:0]  # mapped now: a file that takes its name later is another one

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows: in memory if they are picked by an array of numbers, mapped if by a slice."""
        if self._array is None:
            path, offset, order = self._place
            self._array = np.memmap(path, self.dtype, "r", offset, self.shape, order)  # type: ignore[call-overload]
        return np.asarray(self._array[rows])

    def __getstate__(self) -> dict[str, Any]:
        """Send the place to another process."""
        return {**self.__dict__, "_array": None}


def mapped_member(path: Path, info: zipfile.ZipInfo, header: ArrayHeader) -> MappedArray | None:
    """Return an array of an archive, if its bytes stand there as they are; None if they are packed.

    Raises
    ------
    FormatError
        If the archive holds no such member there.
    """
    place = place_of_member(path, info)
    if place is None:
        return None
    begins = place + info.file_size - header.size
    return MappedArray(path, begins, header.shape, header.dtype, columns_first=header.columns_first)
