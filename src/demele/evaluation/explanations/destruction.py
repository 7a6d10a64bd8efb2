"""Images whose regions are destroyed one after the other: regions, their order, what stands in their place."""

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import is_number
from demele.core.errors import InputError, UnknownNameError, quoted
from demele.core.names import suggestion
from demele.core.seeds import rng_for

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Images = NDArray[Any]

#: In which order regions are destroyed, as the map sees them.
Order = Literal["most", "random", "least"]
ORDERS: tuple[Order, ...] = get_args(Order)
#: What is put in the place of a region.
Filling = Literal["uniform", "mean", "blur"]
FILLINGS: tuple[Filling, ...] = get_args(Filling)
#: Standard deviation of a blurred image, as a share of its longer side: wide enough that no stroke is left.
BLUR = 0.15


def regions(height: int, width: int, region: tuple[int, int]) -> Places:
    """Return the number of the region that each pixel is in, row by row.

    Parameters
    ----------
    height, width : int
    region : (int, int)
        Height and width of a region; those at the lower and right edge may be smaller.

    Returns
    -------
    array of int64 of shape (height, width)
        From 0.

    Examples
    --------
    >>> regions(2, 5, (2, 2)).tolist()
    [[0, 0, 1, 1, 2], [0, 0, 1, 1, 2]]
    """
    rows, columns = np.arange(height) // region[0], np.arange(width) // region[1]
    return rows[:, None] * (int(columns[-1]) + 1) + columns


def region_importance(maps: Floats, where: Places) -> Floats:
    """Average maps over regions.

    Parameters
    ----------
    maps : array of shape (n, height, width)
    where : array of shape (height, width)
        As of :func:`regions`.

    Returns
    -------
    array of shape (n, n_regions)
    """
    n, count = len(maps), int(where.max()) + 1
    places = where.ravel() + count * np.arange(n)[:, None]
    sums = np.bincount(places.ravel(), weights=maps.ravel(), minlength=n * count).reshape(n, count)
    return sums / np.bincount(where.ravel(), minlength=count)


def destruction_order(importance: Floats, order: Order, seed: int, repeat: int) -> Places:
    """Order the regions of each image.

    Parameters
    ----------
    importance : array of shape (n, n_regions)
    order : {"most", "random", "least"}
        Most important first, whatever the map says, least important first.
    seed, repeat : int
        Regions of equal importance are ordered at random in each repeat: a constant map gives a random order, not the
        reading order.

    Returns
    -------
    array of int64 of shape (n, n_regions)
        The region that goes first, second, ...
    """
    chance = rng_for(seed, "order", order, repeat).random(importance.shape)
    if order == "random":
        return np.argsort(chance, axis=1)
    return np.lexsort((chance, -importance if order == "most" else importance), axis=1)


def checked_filling(destroy: Any) -> Filling | float:
    """Return what is put in the place of a region: a name, or one value for every pixel.

    Raises
    ------
    InputError, UnknownNameError
    """
    if is_number(destroy):
        if not np.isfinite(destroy):
            raise InputError("destroy", f"expected a finite value, got {quoted(destroy)}")
        return float(destroy)
    if not isinstance(destroy, str) or destroy not in FILLINGS:
        hint = suggestion(destroy, FILLINGS) if isinstance(destroy, str) else ""
        raise UnknownNameError("destroy", f"expected {', '.join(FILLINGS)} or a number, got {quoted(destroy)}{hint}")
    return destroy


def is_drawn(filling: Filling | float) -> bool:
    """Whether what is put in the place of a region differs between repeats."""
    return filling == "uniform"


def fillings(
    images: Images, rows: Places, filling: Filling | float, ends: tuple[float, float], seed: int, repeat: int
) -> Images:
    """Return, for each image, another image whose regions replace its own.

    Parameters
    ----------
    images : array of shape (n, height, width, channels)
    rows : array of int of shape (n,)
        Their numbers in the whole set: the draws for an image do not depend on the rest of its batch.
    filling : "uniform", "mean", "blur" or float
        Values drawn between ``ends``; the mean colour of the image; the image, blurred; one value.
    ends : (float, float)
        Darkest and brightest.
    seed, repeat : int

    Returns
    -------
    array of the shape and the type of the images
    """
    whole = images.dtype.kind in "ui"
    if filling == "uniform":
        drawn = [_drawn(images[i], ends, rng_for(seed, "filling", repeat, int(row))) for i, row in enumerate(rows)]
        return np.stack(drawn)
    if filling == "mean":
        found = np.broadcast_to(images.mean(axis=(1, 2), keepdims=True), images.shape)
    elif filling == "blur":
        from scipy.ndimage import gaussian_filter

        spread = BLUR * max(images.shape[1:3])
        found = gaussian_filter(images.astype(np.float64), (0, spread, spread, 0))
    else:
        found = np.full(images.shape, filling)
    return (np.rint(found) if whole else found).astype(images.dtype)


def _drawn(image: Images, ends: tuple[float, float], rng: np.random.Generator) -> Images:
    if image.dtype.kind in "ui":
        return rng.integers(int(ends[0]), int(ends[1]) + 1, image.shape, dtype=image.dtype)
    return rng.uniform(*ends, image.shape).astype(image.dtype)


def destroyed(images: Images, filled: Images, order: Places, where: Places, steps: int) -> Iterator[Images]:
    """Yield images after 1, 2, ... ``steps`` regions of each were replaced; each array is a new one."""
    now = images.copy()
    for step in range(steps):
        gone = where == order[:, step, None, None]
        now[gone] = filled[gone]
        yield now.copy()
