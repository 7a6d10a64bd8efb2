"""A set of images with known factors: rows that are drawn, computed or read when they are asked for, never all at once.

:class:`ImageSet` is what every set is, and does all that needs no pixels. A kind of set adds one method, which returns
the images of some rows; :class:`demele.data.ArrayImages` takes them from an array.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Bytes, Counts, Floats, pd, rng_for
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import CountOrNone, Seed, checked, checked_count, checked_name, checked_whole, is_whole
from demele.core.table_columns import plain_array, whole_array
from demele.data.space import FactorSpace, refuse_outside

# Smaller and larger images --------------------------------------------------------------------------------------------
#
# A resized image is ``A @ image @ B.T`` in each channel. The weights are whole numbers and so are pixels: every sum is
# exact in float64, and neither the order of additions nor the size of a batch changes a bit.

Resample = Literal["area", "lanczos"]

#: Half the width of Lanczos' window, in pixels of the smaller image.
LOBES = 3
#: Lanczos' weights are rounded to whole numbers of this sum. Products of two weights and a pixel sum to less than 2^53.
LANCZOS_TOTAL = 1 << 20


def resampling_matrix(size: int, new_size: int, resample: Resample = "area") -> Floats:
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


def resampled(images: Bytes, size: tuple[int, int], resample: Resample = "area", *, block: int = 64) -> Bytes:
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
def whole_weights(size: int, new_size: int, resample: Resample) -> tuple[Floats, int]:
    """Return weights of shape (new_size, size), whole numbers stored as floats, and the sum of each row."""
    weights, total = _area(size, new_size) if resample == "area" else _lanczos(size, new_size)
    weights.flags.writeable = False
    return weights, total


def _area(size: int, new_size: int) -> tuple[Floats, int]:
    """Overlaps of old and new pixels, in units of 1 / new_size of an old one."""
    common = math.gcd(size, new_size)
    old, new = new_size // common, size // common  # lengths of an old and of a new pixel
    starts_of_old, starts_of_new = old * np.arange(size), new * np.arange(new_size)[:, None]
    overlaps = np.minimum(starts_of_old + old, starts_of_new + new) - np.maximum(starts_of_old, starts_of_new)
    return np.maximum(overlaps, 0).astype(np.float64), new


def _lanczos(size: int, new_size: int) -> tuple[Floats, int]:
    """Lanczos' window at the centres of the old pixels, rounded so that each row keeps its sum."""
    ratio = Fraction(size, new_size)
    centres = (np.arange(new_size)[:, None] + 0.5) * float(ratio)
    distances = (np.arange(size) + 0.5 - centres) / max(float(ratio), 1.0)
    window = np.where(np.abs(distances) < LOBES, np.sinc(distances) * np.sinc(distances / LOBES), 0.0)
    weights = np.rint(window / window.sum(axis=1, keepdims=True) * LANCZOS_TOTAL)
    largest = weights.argmax(axis=1)
    weights[np.arange(new_size), largest] += LANCZOS_TOTAL - weights.sum(axis=1)
    return weights, LANCZOS_TOTAL


class ImageSet(ABC):
    """Images, one per row, with the factors that made them.

    Rows of a complete grid are row-major, the last factor fastest, unless a set says otherwise; ask :meth:`index` for
    the row of a combination.

    Parameters
    ----------
    name : str
    shape : (int, int, int)
        Height, width, channels (1 or 3 where pictures are shown).
    space : FactorSpace, optional
        The grid that the factors are from.
    places : array of int of shape (n,), optional
        For each row of the set its row in the space; by default the set is the space, row by row.
    table : DataFrame of shape (n, n_factors), optional
        The factors of a set that has no space. Exactly one of ``space`` and ``table`` is given.
    digest : str
        A short text that differs where images or factors do.
    provenance, licence : str, optional
        Where the images come from, in a sentence, and what may be done with them.

    Attributes
    ----------
    name, shape, space, provenance, licence, digest
        As above.
    complete : bool
        Whether there is a space and each of its combinations occurs exactly once.
    stored_white : int
        What white is as the pixels are stored, 255 or 1; black is 0.

    Notes
    -----
    A kind of set overrides ``_draw``, which returns the stored images of checked rows. :meth:`subset` and
    :meth:`resized` are copies that share all else.
    """

    stored_white: int = 255

    def __init__(
        self,
        *,
        name: str,
        shape: tuple[int, int, int],
        space: FactorSpace | None = None,
        places: Counts | None = None,
        table: pd.DataFrame | None = None,
        digest: str,
        provenance: str = "",
        licence: str = "",
    ) -> None:
        if (space is None) == (table is None):
            raise InputError(("space", "table"), "expected one of the two")
        self.name, self.shape, self.space, self.digest = name, shape, space, digest
        self.provenance, self.licence = provenance, licence
        self._table = table
        self._places = places if space is not None else None
        self._stored: Counts | None = None  # what _draw calls each row, where that is not its number
        self._resizings: tuple[tuple[tuple[int, int], Resample], ...] = ()
        self._count_places()

    def _count_places(self) -> None:
        """Look once whether the set is its whole space."""
        self._n = next(len(one) for one in (self._table, self._places, self.space) if one is not None)
        whole = self.space is not None and len(self.space) == self._n
        self.complete = whole and (self._places is None or np.unique(self._places).size == self._n)

    @abstractmethod
    def _draw(self, rows: Counts) -> Bytes:
        """Return the images of some rows, as they were before any subset or resizing: uint8 (k, H, W, C).

        Rows are from 0 to n - 1, in any order, with repeats. The bits of an image must not depend on the others.
        """

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        if self.space is None:
            names = [] if self._table is None else list(self._table)
            told = f"factors {', '.join(map(str, names))}" if names else "no factors"
        else:
            told = " × ".join(f"{n} {name}" for name, n in zip(self.space.names, self.space.sizes, strict=True))
            if not self.complete:
                told = f"{'out of' if len(self) <= len(self.space) else 'repeats of'} {told}"
        return f"ImageSet({self.name}: {len(self)} images of {size}; {told})"

    # Images and factors ----------------------------------------------------------------------------------------------

    def images(self, rows: ArrayLike) -> Bytes:
        """Return the images of some rows.

        Parameters
        ----------
        rows : array-like of int of shape (k,)
            From 0 to ``len(self) - 1``, in any order; repeats are allowed.

        Returns
        -------
        array of uint8 of shape (k, height, width, channels)
            New at each call; the same bits for a row whatever the other rows are.

        Raises
        ------
        InputError, InputTypeError
            For rows that are not there, naming the first.
        """
        wanted = self._checked_rows(rows)
        drawn = self._draw(wanted if self._stored is None else self._stored[wanted])
        return self._resized(drawn)

    def _resized(self, drawn: Bytes) -> Bytes:
        for size, resample in self._resizings:
            drawn = resampled(drawn, size, resample)
        return drawn

    def factors(self, rows: ArrayLike | None = None) -> pd.DataFrame:
        """Return the values of the factors of some rows, by default of all, as a table that metrics read.

        Parameters
        ----------
        rows : array-like of int of shape (k,), optional

        Returns
        -------
        DataFrame of shape (k, n_factors)
            Categorical columns for classes, float64 for quantities. Its index counts from 0.

        Raises
        ------
        InputError, InputTypeError
        """
        if self._table is not None:
            wanted = slice(None) if rows is None else self._checked_rows(rows)
            return self._table.iloc[wanted].reset_index(drop=True)
        return self._grid("factors").factors(self._places_of(rows))

    def positions(self, rows: ArrayLike | None = None) -> Counts:
        """Return the positions of the values of some rows, by default of all, among the values of each factor.

        Parameters
        ----------
        rows : array-like of int of shape (k,), optional

        Returns
        -------
        array of int64 of shape (k, n_factors)

        Raises
        ------
        InputError, InputTypeError
            Also if the factors are not a grid.
        """
        return self._grid("positions").positions(self._places_of(rows))

    def index(self, positions: ArrayLike) -> Counts:
        """Return the rows that hold the values at some positions: what :meth:`positions` undoes.

        Parameters
        ----------
        positions : array-like of int of shape (k, n_factors)

        Returns
        -------
        array of int64 of shape (k,)
            Where several rows hold a combination, the first.

        Raises
        ------
        InputError, InputTypeError
            For a position out of range, or a combination that the set does not hold, and if the factors are not a grid.
        """
        grid = self._grid("index")
        wanted = grid.index(positions)
        if self._places is None:
            return wanted
        order = np.argsort(self._places, kind="stable")
        places = self._places[order]
        found = np.searchsorted(places, wanted)
        lacking = np.flatnonzero((found == places.size) | (places[np.minimum(found, places.size - 1)] != wanted))
        if lacking.size:
            values = grid.factors(wanted[lacking[:1]]).iloc[0].to_dict()
            told = ", ".join(f"{name} {quoted(value)}" for name, value in values.items())
            raise InputError("positions", f"no image has {told}, at row {lacking[0]} of the positions")
        return order[found].astype(np.int64)

    # Other sets ------------------------------------------------------------------------------------------------------

    @checked
    def pairs(self, n: CountOrNone, changed: int = 1, seed: Seed = 0) -> tuple[Counts, Counts]:
        """Draw pairs of rows that differ in some factors and in no other.

        Parameters
        ----------
        n : int >= 0
        changed : int
            In how many factors the two differ, from 1 to their number; which ones is drawn for each pair.
        seed : int >= 0

        Returns
        -------
        rows_1, rows_2 : arrays of int64 of shape (n,)
            The first is drawn evenly from all rows. The second has another value, each equally likely, of each factor
            that changes.

        Raises
        ------
        InputError
            Also unless the set is a complete grid: the second image might not exist.

        Notes
        -----
        Published code draws the changed value among all of them, so that it may be the same (Locatello et al. 2020).

        Examples
        --------
        >>> from demele.data import ArrayImages
        >>> space = FactorSpace({"hue": 4, "size": 3})
        >>> images = ArrayImages(np.zeros((12, 2, 2), dtype=np.uint8), space=space)
        >>> first, second = images.pairs(100, changed=1, seed=0)
        >>> set((images.positions(first) != images.positions(second)).sum(axis=1).tolist())
        {1}
        """
        grid = self._grid("pairs")
        if not self.complete:
            raise InputError(
                f"pairs: the set holds {len(self)} rows out of a grid of {len(grid)}, and the second image of a pair "
                "might not be there; draw pairs of the complete set"
            )
        sizes = np.array(grid.sizes)
        expected = f"a number of factors from 1 to {sizes.size}"
        changed = checked_whole(changed, "changed", expected, inside=lambda k: 1 <= k <= sizes.size)
        rng = rng_for(seed, "pairs", changed)
        first = rng.integers(0, len(self), n)
        positions = self.positions(first)
        others = (positions + rng.integers(1, sizes, (n, sizes.size))) % sizes  # never the same value
        changes = rng.random((n, sizes.size)).argsort(axis=1).argsort(axis=1) < changed
        return first, self.index(np.where(changes, others, positions))

    def subset(self, rows: ArrayLike) -> Self:
        """Return the set of some rows; nothing is copied.

        Parameters
        ----------
        rows : array-like of int of shape (k,)
            Row i of the new set is row ``rows[i]`` of this one.

        Returns
        -------
        ImageSet

        Raises
        ------
        InputError, InputTypeError
            For rows that are not there, or none.
        """
        wanted = self._checked_rows(rows)
        if not wanted.size:
            raise InputError("rows", "expected at least 1 row, got none")
        part = self._copy()
        part._stored = wanted if self._stored is None else self._stored[wanted]
        if self._table is not None:
            part._table = self._table.iloc[wanted].reset_index(drop=True)
        else:
            part._places = self._places_of(wanted)
        part.digest = digest_of(self.digest, "subset", wanted)
        part._count_places()
        return part

    def resized(self, size: int | tuple[int, int], resample: Resample = "area") -> Self:
        """Return the set with images of another size, resized when they are asked for.

        Parameters
        ----------
        size : int or (int, int)
                New height and width; one number for both.
        resample : {"area", "lanczos"}
            See :func:`demele.data.resampling_matrix`.

        Returns
        -------
        ImageSet

        Raises
        ------
        InputError, UnknownNameError
        """
        both: Any = (size, size) if is_whole(size) else size
        if not isinstance(both, tuple | list) or len(both) != 2 or not all(is_whole(one) and one > 0 for one in both):
            raise InputError("size", f"expected a number of pixels, or (height, width), got {quoted(size)}")
        way, new = checked_resample(resample), (int(both[0]), int(both[1]))
        if new == self.shape[:2]:
            return self
        other = self._copy()
        other.shape = (*new, self.shape[2])
        other._resizings = (*self._resizings, (new, way))
        other.digest = digest_of(self.digest, "resized", new, way)
        return other

    def _copy(self) -> Self:
        """Return a set with the same attributes: copy.copy would leave out what is not pickled."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    # What is asked for -----------------------------------------------------------------------------------------------

    def _checked_rows(self, rows: ArrayLike) -> Counts:
        if rows is None or isinstance(rows, str | slice):
            raise InputTypeError("rows", f"expected an array of rows, got {quoted(rows)}; use a range or numpy.arange")
        array = plain_array(rows, "rows", "an array of rows")
        if array.dtype.kind == "b":
            raise InputTypeError("rows", "expected numbers of rows, got True and False; use numpy.flatnonzero")
        if array.ndim == 0 and array.dtype.kind in "iu":
            raise InputError("rows", f"expected an array of rows, got {array}; write [{array}] for one image")
        wanted = whole_array(array, "rows", dimensions=1)
        refuse_outside(wanted, len(self), "rows")
        return wanted

    def _places_of(self, rows: ArrayLike | None) -> Counts:
        """Rows of the space that hold the factors of some rows of the set."""
        if rows is None:
            return np.arange(len(self)) if self._places is None else self._places
        wanted = self._checked_rows(rows)
        return wanted if self._places is None else self._places[wanted]

    def _grid(self, asked: str) -> FactorSpace:
        if self.space is None:
            raise InputError(f"{asked}: factors of {self.name} are not a grid, and so have no positions")
        return self.space


def spread(n: int) -> Counts:
    """Return 64 of n rows, spread evenly; all of fewer."""
    return np.unique(np.linspace(0, n - 1, 64).astype(np.int64))


def digest_of(*parts: object) -> str:
    """Return 16 letters that differ where texts, numbers or arrays do; the same on every machine."""
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        if isinstance(part, np.ndarray):
            little = np.ascontiguousarray(part.astype(part.dtype.newbyteorder("<"), copy=False))
            found.update(f"\x1e{little.dtype.str}{part.shape}\x1f".encode())
            found.update(little.tobytes())
        else:
            found.update(f"\x1e{part!r}\x1f".encode())
    return found.hexdigest()
