"""Class indices as short text, for the records of long runs."""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed_classes(coded: NDArray[Any]) -> str:
    """Write class indices as text.

    Examples
    --------
    >>> unpacked_classes(packed_classes(np.array([3, 0, 1])), 3)
    array([3, 0, 1], dtype=int32)
    """
    return base64.b64encode(zlib.compress(coded.astype("<i4").tobytes(), 9)).decode("ascii")


def unpacked_classes(text: str, n: int) -> NDArray[np.int32]:
    """Read n class indices that :func:`packed_classes` wrote; no more is unpacked than they take.

    Raises
    ------
    ValueError
        For other text, or another number of them.
    """
    held = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), 4 * n + 1)
    if len(held) != 4 * n:
        raise ValueError(f"expected {n} classes")
    return np.frombuffer(held, dtype="<i4").astype(np.int32)
