"""What is known of a published set of images, what its reader found in somebody's copy of it, and the grid of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.columns import Kind
from demele.core.errors import FormatError, InputError, listed, quoted
from demele.core.lazy import pd
from demele.core.reading import regular_file
from demele.data.loaders.stored_images import Images, Shape
from demele.data.space import FactorSpace

Verdict = Literal["fits", "differs", "missing", "damaged", "not published"]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a set of images.

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

    def space(self) -> FactorSpace:
        """Return the factors, whose values are all known, as a space."""
        # a circle of which both ends are there is not told as one: they are two values, and the same
        values = {one.name: list(one.values or ()) for one in self.factors}
        period = {
            one.name: one.period
            for one in self.factors
            if one.period is not None
            and one.period > max(map(float, values[one.name])) - min(map(float, values[one.name]))
        }
        return FactorSpace(
            values,
            kinds={one.name: one.kind for one in self.factors},
            period=period,
            symmetric=[one for one in self.symmetric if one[0] in period and one[2] in values[one[1]]],
        )


def one_grid(pixels: Shape, *factors: Factor, symmetric: Any = ()) -> Mapping[str, Grid]:
    """Return the grid of a set that has one variant."""
    return {"": Grid(factors, pixels, symmetric)}


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file as it was published: its name, its bytes and its digest, SHA-256 or MD5, as far as they are known."""

    name: str
    size: int | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of what was looked at: a file, or a part of one."""

    file: str
    found: str
    expected: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Read:
    """What a reader found: images in the order of the file, and the positions of their factors.

    Attributes
    ----------
    images : Images
    files : tuple of Path
        By which the copy is recognised; of many pictures some.
    positions : array of int64 of shape (n, n_factors) or None
        None: the images stand in the order of the grid.
    labelled : object
        The file that positions are from, for messages.
    values : mapping of str to sequence
        Of the factors whose values, and how many they are, the file says.
    repeats : bool
        Combinations occur as often as they like: a set of classes, in the order of its files.
    hidden : tuple of str
        Factors without published values; their images repeat a combination.
    first_only : mapping of str to int
        Number of first values to use, for factors that do not use all.
    table : DataFrame or None
        The factors of a set that is no grid; then nothing else is said of them.
    """

    images: Images
    files: tuple[Path, ...]
    positions: NDArray[np.int64] | None = None
    labelled: object = None
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    repeats: bool = False
    hidden: tuple[str, ...] = ()
    first_only: Mapping[str, int] = field(default_factory=dict)
    table: pd.DataFrame | None = None


@dataclass(slots=True)
class Request:
    """What a reader is asked for, and what it has seen so far.

    Attributes
    ----------
    published : PublishedSet
    path : Path
    variant : str or None
    check : {"shape", "digest"}
    options : mapping of str to value
        Each option of the set, checked.
    seen : list of Finding
    """

    published: PublishedSet
    path: Path
    variant: str | None
    check: str
    options: Mapping[str, Any]
    seen: list[Finding] = field(default_factory=list)

    @property
    def grid(self) -> Grid:
        """The grid of the variant; without factors where they are no grid."""
        return self.published.grids.get(self.variant or "", Grid((), (1, 1, 1)))

    @property
    def origin(self) -> dict[str, Any]:
        """What a converted set was made from: its name, variant and options."""
        return {"name": self.published.name, "variant": self.variant, **self.options}

    def expect(self, file: object, found: str, expected: str, *, remedy: str | None = None) -> None:
        """Note what a file holds, and refuse it where that is not what was published.

        Raises
        ------
        FormatError
        """
        self.note(file, found, expected, "fits" if found == expected else "differs")
        if found != expected:
            raise FormatError(file, f"expected {expected}, found {found}", remedy)

    def expect_array(
        self, file: object, dtype: object, shape: Sequence[int], kind: str, wanted: Sequence[int], remedy: str = ""
    ) -> None:
        """Compare the type and the shape that a file declares with those that were published.

        Parameters
        ----------
        file : object
        dtype, shape
            What is declared.
        kind : str
            Name of a type, ``"floats"``, or ``"numbers"``: whole ones or floats.
        wanted : sequence of int
        """
        found = np.dtype(dtype)  # type: ignore[call-overload]
        kinds = {"numbers": "iuf", "floats": "f"}
        fits = found.kind in kinds[kind] if kind in kinds else found.name == kind
        expected = f"{found if fits else kind} {tuple(wanted)}"
        self.expect(file, f"{found} {tuple(shape)}", expected, remedy=remedy or None)

    def note(self, file: object, found: str, expected: str, verdict: Verdict) -> None:
        """Note what a file holds."""
        self.seen.append(Finding(str(file), found, expected, verdict))

    def no_file(self, path: Path) -> InputError:
        """Return the error of a file that is not there: where it comes from, and how large it is."""
        one = self.published
        self.note(path, "nothing", "a file", "missing")
        return InputError("path", f"there is no {path}; {one.title} is published by {one.publisher}: {one.download}")

    def lacks(self, path: object, name: str, held: Collection[str]) -> FormatError:
        """Return the error of what a file does not hold, with the first of what it does."""
        self.note(f"{path}::{name}", "nothing", "a part of it", "missing")
        return FormatError(
            path, f"expected {quoted(name)} in it, found {listed(held, 12)}; is it a file of {self.published.title}?"
        )

    def file(self, *names: str, folder: Path | None = None) -> Path:
        """Return a file: as it was given, or in a folder under the first of its names that is there.

        Parameters
        ----------
        *names : str
        folder : Path, optional
            Where it must be; by default the path that was given, which may be the file itself.

        Raises
        ------
        InputError
            If it is not there.
        """
        path = self.path
        if folder is not None or path.is_dir():
            folder = folder or path
            path = next((folder / name for name in names if (folder / name).exists()), folder / names[0])
        if not path.exists():
            raise self.no_file(path)
        regular_file(path)
        return path


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
    read: Callable[[Request], Read]
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


# Positions -----------------------------------------------------------------------------------------------------------


def placed(grid: Grid, read: Read) -> dict[str, Any]:
    """Return the factors of a set, and which row of it each image is; rows have the order of the grid.

    Returns
    -------
    dict of str to object
        What :class:`StoredImages` takes: ``table``, or ``space`` with ``places`` and ``order``.

    Raises
    ------
    FormatError
        If a position is none of its factor, or a combination is missing or occurs more than once.
    """
    if read.table is not None:
        return {"table": read.table}
    factors = tuple(
        replace(one, values=tuple(read.values[one.name]), size=len(read.values[one.name]))
        if one.name in read.values
        else one
        for one in grid.factors
    )
    grid, order = replace(grid, factors=factors), None
    if read.positions is not None:
        check_positions(read.labelled or read.files[0], read.positions, factors)
        rows = np.ravel_multi_index(tuple(read.positions.T), grid.sizes).astype(np.int64)
        if read.repeats:
            return {"space": grid.space(), "places": rows}
        order = order_of(rows, grid, read.labelled or read.files[0])
    kept = np.arange(grid.n).reshape(grid.sizes)
    for axis, one in enumerate(grid.factors):
        kept = kept.take(np.arange(read.first_only.get(one.name, one.size)), axis=axis)
    shown = [axis for axis, one in enumerate(grid.factors) if one.name not in read.hidden]
    sizes = tuple(kept.shape[axis] for axis in shown)
    places = None
    if read.hidden:
        at = np.indices(kept.shape)[shown].reshape(len(shown), -1)
        places = np.asarray(np.ravel_multi_index(tuple(at), sizes), dtype=np.int64)
    if read.first_only:
        order = kept.ravel() if order is None else order[kept.ravel()]
    left = tuple(
        replace(factors[axis], size=size, values=(factors[axis].values or ())[:size])
        for axis, size in zip(shown, sizes, strict=True)
    )
    return {"space": replace(grid, factors=left).space(), "places": places, "order": order}


def check_positions(file: object, positions: NDArray[np.int64], factors: Sequence[Factor]) -> None:
    """Refuse positions that are not from 0 to the size of their factor.

    Raises
    ------
    FormatError
        Naming the factor, with the first one.
    """
    for factor, own in zip(factors, positions.T, strict=True):
        wrong = np.flatnonzero((own < 0) | (own >= factor.size))
        if wrong.size:
            found = f"found {own[wrong[0]]} at row {wrong[0]}"
            raise FormatError(file, f"expected labels of {factor.name} from 0 to {factor.size - 1}, {found}")


def order_of(rows: NDArray[np.int64], grid: Grid, file: object) -> NDArray[np.int64] | None:
    """Return for each combination of a grid the image that has it; None if they stand in the order of the grid.

    Parameters
    ----------
    rows : array of int64 of shape (n,)
        For each image its combination.
    grid : Grid
    file : object
        For the message.

    Raises
    ------
    FormatError
        If a combination is missing, or occurs more than once.

    Examples
    --------
    >>> order_of(np.array([1, 2, 0, 3]), Grid((Factor("x", 2), Factor("y", 2)), (1, 1, 1)), "labels")
    array([2, 0, 1, 3])
    """
    counts = np.bincount(rows, minlength=grid.n)
    wrong = np.flatnonzero(counts != 1)
    if wrong.size:
        at = np.unravel_index(int(wrong[0]), grid.sizes)
        where = ", ".join(f"{one.name} {int(place)}" for one, place in zip(grid.factors, at, strict=True))
        raise FormatError(
            file,
            f"expected every combination of the factors once; {wrong.size:,} are not, the first at {where} "
            f"{int(counts[wrong[0]])} times",
        )
    return None if (rows == np.arange(grid.n)).all() else np.argsort(rows, kind="stable")


def ranks_of(
    values: NDArray[np.float64], factors: Sequence[Factor], file: object
) -> tuple[NDArray[np.int64], dict[str, tuple[float, ...]]]:
    """Return positions of values, their ranks among the different ones of each column, whose number must fit; and them.

    Raises
    ------
    FormatError
        Naming the factor.
    """
    positions = np.empty(values.shape, dtype=np.int64)
    found: dict[str, tuple[float, ...]] = {}
    for column, factor in enumerate(factors):
        held, ranks = np.unique(values[:, column], return_inverse=True)
        if len(held) != factor.size or not np.isfinite(held).all():
            raise FormatError(
                file, f"expected {factor.size} values of {factor.name} in column {column}, found {len(held)}"
            )
        positions[:, column] = ranks.ravel()
        # the number of a class is a name, not a quantity
        whole = factor.kind == "categorical" and (held == held.round()).all()
        found[factor.name] = tuple(held.astype(int).tolist() if whole else held.tolist())
    return positions, found
