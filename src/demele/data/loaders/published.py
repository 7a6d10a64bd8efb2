"""What is known of a published set of images, and what its reader found in somebody's copy of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Kind
from demele.core.errors import FormatError, InputError, quoted
from demele.core.reading import regular_file
from demele.data.loaders.stores import Shape, Store
from demele.data.space import FactorSpace

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["fits", "differs", "missing", "damaged", "not published"]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a published set.

    Attributes
    ----------
    name : str
    size : int
        Number of its values; 0 where it takes any.
    values : tuple of int, float or str, or None
        None where the file says them.
    kind : {"categorical", "continuous"}
    period : float or None
        Difference after which its values begin again.
    """

    name: str
    size: int
    values: tuple[int | float | str, ...] | None = None
    kind: Kind = "continuous"
    period: float | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Factors and size of the images, as a variant of a set was published.

    Attributes
    ----------
    factors : tuple of Factor
        The last one changes fastest.
    pixels : (int, int, int)
        Height, width, channels.
    symmetric : tuple of (factor, other, value, period)
        As :class:`demele.data.FactorSpace` takes it, where the factor is cyclic.
    """

    factors: tuple[Factor, ...]
    pixels: Shape
    symmetric: tuple[tuple[str, str, object, float], ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each factor."""
        return tuple(factor.size for factor in self.factors)

    @property
    def n(self) -> int:
        """Number of images: one for each combination."""
        return math.prod(self.sizes)

    def space(self, values: Mapping[str, Sequence[float]] | None = None) -> FactorSpace:
        """Return the factors as a space; ``values`` are those that a file says."""
        found = {one.name: list(one.values or (values or {})[one.name]) for one in self.factors}
        # a circle of which both ends are there is not told as one: they are two values, and the same
        period = {
            one.name: one.period
            for one in self.factors
            if one.period is not None
            and one.period > max(map(float, found[one.name])) - min(map(float, found[one.name]))
        }
        return FactorSpace(
            found,
            kinds={one.name: one.kind for one in self.factors},
            period=period,
            symmetric=[one for one in self.symmetric if one[0] in period and one[2] in found[one[1]]],
        )


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file as it was published: its name, its bytes and its digests, as far as they are known."""

    name: str
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of what was looked at: a file, or a part of one."""

    file: str
    found: str
    expected: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Opened:
    """What a reader found: images in the order of the file, and which row of the set each is.

    Attributes
    ----------
    store : Store
    space : FactorSpace or None
    table : DataFrame or None
        The factors of a set that is no grid.
    order : array of int64 or None
        For each row of the set its number in the store; None: the same.
    places : array of int64 or None
        For each row of the set its row in the space; None: the same.
    files : tuple of Path
        By which the copy is recognised; of many pictures some.
    """

    store: Store
    files: tuple[Path, ...]
    space: FactorSpace | None = None
    table: pd.DataFrame | None = None
    order: NDArray[np.int64] | None = None
    places: NDArray[np.int64] | None = None


@dataclass(slots=True)
class Request:
    """What a reader is asked for, and what it has seen so far.

    Attributes
    ----------
    published : PublishedSet
    path : Path
    variant : str or None
    options : mapping of str to value
        Each option of the set, checked.
    seen : list of Finding
    """

    published: PublishedSet
    path: Path
    variant: str | None
    options: Mapping[str, Any]
    seen: list[Finding] = field(default_factory=list)

    @property
    def grid(self) -> Grid:
        """The grid of a set that has one variant."""
        (grid,) = self.published.grids.values()
        return grid

    def expect(self, file: object, found: object, expected: object, *, remedy: str = "") -> None:
        """Note what a file holds, and refuse it where that is not what was published.

        Raises
        ------
        FormatError
        """
        fits = found == expected
        self.note(file, found, expected, "fits" if fits else "differs")
        if not fits:
            raise FormatError(file, f"expected {_said(expected)}, found {_said(found)}", remedy or None)

    def note(self, file: object, found: object, expected: object, verdict: Verdict) -> None:
        """Note what a file holds."""
        self.seen.append(Finding(str(file), _said(found), _said(expected), verdict))

    def no_file(self, path: Path) -> InputError:
        """Return the error of a file that is not there: where it comes from, and how large it is."""
        one = self.published
        self.note(path, "nothing", "a file", "missing")
        return InputError("path", f"there is no {path}; {one.title} is published by {one.publisher}: {one.download}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSet:
    """A published set of images: what it holds, where it is from, how it is read.

    Attributes
    ----------
    name, title : str
        As :func:`demele.data.load` takes it; as it is called.
    publisher, download : str
        Who published it; file, size and address.
    licence, provenance : str
    grids : mapping of str to Grid
        By variant; "" is the only one. Empty where the factors are no grid.
    splits : mapping of str to int
        Number of images of each part of a set whose combinations repeat; empty where each occurs once.
    read : callable
    files : tuple of PublishedFile
        Whose digests are known.
    options : mapping of str to tuple
        Values of each option that only this set has, the default first.
    notes : tuple of str
        What to know before results are read.
    binary : bool
        Every pixel is black or white.
    """

    name: str
    title: str
    publisher: str
    download: str
    licence: str
    provenance: str
    read: Callable[[Request], Opened]
    grids: Mapping[str, Grid] = field(default_factory=dict)
    splits: Mapping[str, int] = field(default_factory=dict)
    files: tuple[PublishedFile, ...] = ()
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    binary: bool = False

    def count(self, variant: str) -> int | None:
        """Return how many images are read unless a part is asked for; None where the files say it."""
        if self.splits:
            return self.splits[self.options["split"][0]]
        return self.grids[variant].n or None

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the variants; none if there is one only."""
        return tuple(name for name in self.grids if name)


def _said(value: object) -> str:
    if isinstance(value, Description):
        return value.text
    return value if isinstance(value, str) else quoted(value)


@dataclass(frozen=True, slots=True)
class Description:
    """Type and shape of an array, to be compared and told."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def text(self) -> str:
        """As messages say it."""
        return f"{self.dtype} {self.shape}"


def file_of(request: Request, names: tuple[str, ...]) -> Path:
    """Return the file that was meant: as it was given, or in a folder under the name that it was published with.

    Raises
    ------
    InputError
        If it is not there.
    """
    path = request.path
    if path.is_dir():
        path = next((path / name for name in names if (path / name).exists()), path / names[0])
    if not path.exists():
        raise request.no_file(path)
    regular_file(path)
    return path


def order_of(
    positions: NDArray[np.int64], grid: Sequence[int], names: Sequence[str], what: object
) -> NDArray[np.int64] | None:
    """Return for each combination of a grid the row that holds it; None if rows stand in the order of the grid.

    Parameters
    ----------
    positions : array of int of shape (n, n_factors)
        Each from 0 to its size - 1.
    grid : sequence of int
        Sizes.
    names : sequence of str
    what : object
        The file, for the message.

    Raises
    ------
    FormatError
        If a combination is missing, or occurs more than once.

    Examples
    --------
    >>> order_of(np.array([[0, 1], [1, 0], [0, 0], [1, 1]]), (2, 2), ("x", "y"), "labels")
    array([2, 0, 1, 3])
    """
    rows = np.ravel_multi_index(tuple(positions.T), tuple(grid))
    if len(rows) == math.prod(grid) and (rows == np.arange(len(rows))).all():
        return None
    counts = np.bincount(rows, minlength=math.prod(grid))
    wrong = np.flatnonzero(counts != 1)
    if wrong.size:
        at = np.unravel_index(int(wrong[0]), tuple(grid))
        where = ", ".join(f"{name} {int(place)}" for name, place in zip(names, at, strict=True))
        raise FormatError(
            what,
            f"expected every combination of the factors once; {wrong.size:,} are not, the first at {where} "
            f"{int(counts[wrong[0]])} times",
        )
    return np.argsort(rows, kind="stable")


def places_of_labels(grid: Grid, labels: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return for each image the row of its classes in the grid.

    Examples
    --------
    >>> grid = Grid((Factor("fine", 3, (0, 1, 2)), Factor("coarse", 2, (0, 1))), (1, 1, 1))
    >>> places_of_labels(grid, {"coarse": np.array([1, 0]), "fine": np.array([2, 0])})
    array([5, 0])
    """
    held = tuple(labels[factor.name] for factor in grid.factors)
    return np.asarray(np.ravel_multi_index(held, grid.sizes), dtype=np.int64)


def ranks_of(
    values: NDArray[np.float64], grid: Grid, what: object
) -> tuple[NDArray[np.int64], dict[str, tuple[float, ...]]]:
    """Return positions of values: their ranks among the different ones of each column, whose number must fit.

    Raises
    ------
    FormatError
        Naming the factor.
    """
    positions = np.empty(values.shape, dtype=np.int64)
    found: dict[str, tuple[float, ...]] = {}
    for column, factor in enumerate(grid.factors):
        held, ranks = np.unique(values[:, column], return_inverse=True)
        if len(held) != factor.size or not np.isfinite(held).all():
            raise FormatError(
                what, f"expected {factor.size} values of {factor.name} in column {column}, found {len(held)}"
            )
        positions[:, column] = ranks.ravel()
        found[factor.name] = tuple(held.tolist())
    return positions, found
