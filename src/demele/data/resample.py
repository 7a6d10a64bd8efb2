"""Smaller and larger images: one small matrix for the rows of an image and one for its columns.

A resized image is ``A @ image @ B.T`` in each channel. The weights are whole numbers and so are pixels: every sum is
exact in float64, and neither the order of additions nor the size of a batch changes a bit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_count
from demele.core.names import checked_name

Resample = Literal["area", "lanczos"]

#: Half the width of Lanczos' window, in pixels of the smaller image.
LOBES = 3
#: Lanczos' weights are rounded to whole numbers of this sum. Products of two weights and a pixel sum to less than 2^53.
LANCZOS_TOTAL = 1 << 20


def resampling_matrix(size: int, new_size: int, resample: Resample = "area") -> NDArray[np.float64]:
    r"""Return the matrix that turns ``size`` pixels in a line into ``new_size``.

    Parameters
    ----------
    size, new_size : int >= 1
    resample : {"area", "lanczos"}
        ``"area"``: each new pixel is the mean of what it covers of the old ones. ``"lanczos"``: each is a weighted mean
        with the window :math:`\mathrm{sinc}(t)\,\mathrm{sinc}(t/3)`, :math:`|t| < 3`, around its centre, where t
        counts pixels of the smaller image. It is sharper, and over- and undershoots at edges.

    Returns
    -------
    array of float64 of shape (new_size, size)
        Rows sum to 1.

    Raises
    ------
    UnknownNameError

    Notes
    -----
    As Pillow does, Lanczos' window is cut at the border and its weights are divided by their sum.

    Examples
    --------
    >>> resampling_matrix(3, 2)
    array([[0.66666667, 0.33333333, 0.        ],
           [0.        , 0.33333333, 0.66666667]])
    """
    sizes = checked_count(size, "size", 1), checked_count(new_size, "new_size", 1)
    weights, total = whole_weights(*sizes, checked_resample(resample))
    return weights / total


def resampled(
    images: NDArray[np.uint8], size: tuple[int, int], resample: Resample = "area", *, block: int = 64
) -> NDArray[np.uint8]:
    """Return images of another size.

    Parameters
    ----------
    images : array of uint8 of shape (n, height, width, channels)
    size : (int, int)
        New height and width.
    resample : {"area", "lanczos"}
        See :func:`resampling_matrix`.
    block : int
        Images at a time: their products of 8 bytes per pixel fit in a processor's cache.

    Returns
    -------
    array of uint8 of shape (n, new height, new width, channels)
        Halves are rounded up; Lanczos' overshoots end at 0 and 255.

    Raises
    ------
    UnknownNameError

    Examples
    --------
    >>> image = np.array([[0, 100], [100, 255]], dtype=np.uint8)
    >>> resampled(image[None, :, :, None], (1, 1)).item()
    114
    """
    n, height, width, channels = images.shape
    rows, total_of_rows = whole_weights(height, size[0], checked_resample(resample))
    columns, total_of_columns = whole_weights(width, size[1], resample)
    total = total_of_rows * total_of_columns
    result = np.empty((n, *size, channels), dtype=np.uint8)
    for start in range(0, n, block):
        part = np.moveaxis(images[start : start + block], 3, 1).astype(np.float64)
        sums = (rows @ part @ columns.T).astype(np.int64)
        rounded = (2 * sums + total) // (2 * total)
        result[start : start + block] = np.moveaxis(rounded.clip(0, 255), 1, 3)
    return result


def checked_resample(resample: object) -> Resample:
    """Return the name of a way to resample, if it is one.

    Raises
    ------
    UnknownNameError
    """
    return cast("Resample", checked_name(resample, "resample", get_args(Resample)))


@lru_cache(maxsize=16)
def whole_weights(size: int, new_size: int, resample: Resample) -> tuple[NDArray[np.float64], int]:
    """Return weights of shape (new_size, size), whole numbers stored as floats, and the sum of each row."""
    weights, total = _area(size, new_size) if resample == "area" else _lanczos(size, new_size)
    weights.flags.writeable = False
    return weights, total


def _area(size: int, new_size: int) -> tuple[NDArray[np.float64], int]:
    """Overlaps of old and new pixels, in units of 1 / new_size of an old one."""
    common = math.gcd(size, new_size)
    old, new = new_size // common, size // common  # lengths of an old and of a new pixel
    starts_of_old, starts_of_new = old * np.arange(size), new * np.arange(new_size)[:, None]
    overlaps = np.minimum(starts_of_old + old, starts_of_new + new) - np.maximum(starts_of_old, starts_of_new)
    return np.maximum(overlaps, 0).astype(np.float64), new


def _lanczos(size: int, new_size: int) -> tuple[NDArray[np.float64], int]:
    """Lanczos' window at the centres of the old pixels, rounded so that each row keeps its sum."""
    ratio = Fraction(size, new_size)
    centres = (np.arange(new_size)[:, None] + 0.5) * float(ratio)
    distances = (np.arange(size) + 0.5 - centres) / max(float(ratio), 1.0)
    window = np.where(np.abs(distances) < LOBES, np.sinc(distances) * np.sinc(distances / LOBES), 0.0)
    weights = np.rint(window / window.sum(axis=1, keepdims=True) * LANCZOS_TOTAL)
    largest = weights.argmax(axis=1)
    weights[np.arange(new_size), largest] += LANCZOS_TOTAL - weights.sum(axis=1)
    return weights, LANCZOS_TOTAL
