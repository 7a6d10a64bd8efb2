"""What users bring as images: which shapes and numbers are images, and how they become uint8."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, InputTypeError
from demele.core.sentences import plural
from demele.data.mapped import StoredArray

#: Bytes of images that are looked at together.
BLOCK = 8 << 20
#: Channels of grey, grey with a mask, colours, colours with a mask.
_CHANNELS = (1, 2, 3, 4)


def checked_shape(shape: tuple[int, ...], argument: str = "images") -> tuple[int, int, int, int]:
    """Return (n, height, width, channels) of an array of images.

    Raises
    ------
    InputError
        If it has other axes, channels come first, or there are more than 4 of them.
    """
    expected = "expected shape (n, height, width) or (n, height, width, channels)"
    if len(shape) == 2:
        raise InputError(argument, f"{expected}, got {shape}", "reshape each row to its height and width")
    if len(shape) not in (3, 4) or 0 in shape:
        raise InputError(argument, f"{expected}, at least one image, got {shape}")
    if len(shape) == 3:
        return shape[0], shape[1], shape[2], 1
    if shape[1] in _CHANNELS and shape[3] not in _CHANNELS:
        raise InputError(argument, f"{expected}, got {shape}: channels come last", "use images.transpose(0, 2, 3, 1)")
    if shape[3] not in _CHANNELS:
        remedy = "use images.transpose(0, 1, 3, 2)" if shape[2] in _CHANNELS else "leave out channels, or average them"
        raise InputError(argument, f"{expected}, 1 to 4 channels, got {shape}: {shape[3]} channels", remedy)
    return shape[0], shape[1], shape[2], shape[3]


def check_type(dtype: np.dtype[Any], argument: str = "images") -> None:
    """Refuse what are no pixels: texts, dates, complex numbers, and whole numbers that may have any range.

    Raises
    ------
    InputTypeError
    """
    if dtype == np.uint8 or dtype.kind in "bf":
        return
    expected = "expected uint8, from 0 to 255, floats from 0 to 1, or True and False"
    if dtype.kind not in "iu":
        raise InputTypeError(argument, f"{expected}; got {dtype}")
    most = np.iinfo(dtype).max
    remedy = "save them as uint8 if they are from 0 to 255"
    remedy += f", or divide them by the value of white, such as {most}" if dtype.itemsize <= 2 else ", or divide them"
    raise InputTypeError(argument, f"{expected}; got {dtype}", remedy)


def check_values(
    images: NDArray[Any] | StoredArray, about: Callable[[int], str] = lambda row: "", argument: str = "images"
) -> None:
    """Refuse floats outside 0 to 1, and uint8 of 0 and 1 only, which would all be black.

    All floats are looked at, a few MB at a time; of uint8 only as many as it takes to see a 2.

    Parameters
    ----------
    images : array of shape (n, ...)
        Of a type that :func:`check_type` lets through; may be mapped to a file.
    about : callable
        Description of an image for the message: its factors.
    argument : str

    Raises
    ------
    InputError
        With the number of values and of images, and the first of them.
    """
    if images.dtype == np.uint8:
        largest = 0
        for _, part in blocks(images):
            largest = max(largest, int(part.max()))
            if largest > 1:
                return
        if largest == 1:
            raise InputError(
                argument,
                "expected uint8 from 0 to 255, got 0 and 1 only: all would be black",
                "multiply them by 255, or save them as True and False",
            )
    if images.dtype.kind != "f":
        return
    n_values, wrong, low, high = 0, [], np.inf, -np.inf
    for start, part in blocks(images):
        outside = ~((part >= 0) & (part <= 1))  # NaN compares false
        if outside.any():
            rows = np.flatnonzero(outside.reshape(len(part), -1).any(axis=1))
            n_values += int(outside.sum())
            wrong += (start + rows).tolist()
        finite = part[np.isfinite(part)]
        low, high = min(low, float(finite.min(initial=0))), max(high, float(finite.max(initial=0)))
    if wrong:
        known = about(wrong[0])
        remedy = "scale them, and leave out images with NaN"
        if low >= 0 and 1 < high <= 255:
            remedy = "divide them by 255"
        elif -1 <= low < 0 and high <= 1:
            remedy = "from -1 to 1 become (images + 1) / 2"
        many = f"{plural(n_values, 'value', 'values')} in {plural(len(wrong), 'image', 'images')}"
        at = f"first in image {wrong[0]}" + (f" ({known})" if known else "")
        raise InputError(
            argument,
            f"expected floats from 0 to 1; {many} {'is' if n_values == 1 else 'are'} not, {at}",
            remedy,
        )


def as_uint8(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Return images of checked numbers as uint8: 1.0 and True become 255; halves are rounded up.

    Examples
    --------
    >>> as_uint8(np.array([0.0, 0.5, 1.0])), as_uint8(np.array([False, True]))
    (array([  0, 128, 255], dtype=uint8), array([  0, 255], dtype=uint8))
    """
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind == "b":
        return images.astype(np.uint8) * np.uint8(255)
    return (images.astype(np.float64) * 255 + 0.5).astype(np.uint8)


def blocks(images: NDArray[Any] | StoredArray) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield an array a few MB at a time, each part with the number of its first row."""
    per_block = max(1, BLOCK // max(1, images[:1].nbytes))
    for start in range(0, len(images), per_block):
        yield start, np.asarray(images[start : start + per_block])
