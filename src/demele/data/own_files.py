"""Files of one's own as a set of images: archives and arrays of NumPy, folders of pictures; and sets as archives."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import IO, Any, ClassVar, cast

import numpy as np
from numpy.lib import format as npy
from numpy.lib.format import MAGIC_PREFIX

from demele.core import array_files
from demele.core.arrays import Array, pd
from demele.core.errors import AmbiguousKindWarning, DemeleWarning, FormatError, InputError, listed, quoted, warn_user
from demele.core.kinds import checked_name, suggestion
from demele.core.outputs import check_room, writing_whole
from demele.core.reading import check_unpacked, path_of, regular_file, unpacking_at_most
from demele.core.result import Result
from demele.data import array_images
from demele.data.images import ImageSet
from demele.data.loaders.published import Factor, is_converted, open_converted
from demele.data.procedural.clutter import clutter
from demele.data.procedural.grids import room, sprites, squares
from demele.data.space import FactorSpace
from demele.files.named import read_table
from demele.report.document import Document, Notice, Section, Table
from demele.report.words import count, sentence_of
from demele.runtime.work import reporting

# What sets of images say: their documents -----------------------------------------------------------------------------


def image_set_document(result: ImageSetFacts) -> Document:
    """Say what is known of a set of images: its factors, where it comes from, and its licence."""
    alike: dict[VariantFacts, list[str]] = {}
    for variant in result.variants:  # those that differ in their names only stand together
        alike.setdefault(replace(variant, name=""), []).append(variant.name)
    counts, scope = {}, []
    for variant, names in alike.items():
        title = ", ".join(names)
        counts[title or "Values"] = {one.name: one.size or "any" for one in variant.factors}
        images = "images" if variant.n is None else count(variant.n, "image")
        size = f" of {' x '.join(map(str, variant.shape))}" if variant.shape else ""
        scope.append(f"{images}{size}{title and f' ({title})'}")
    rows = [
        (one.name, *(own.get(one.name) for own in counts.values()), _values(one)) for one in result.variants[0].factors
    ]
    table = Table("Factors", {"Factor": "text", **dict.fromkeys(counts, "count"), "Range": "text"}, rows)
    facts = [("Open", result.opened_by), ("Files", result.download or "")]
    facts += [("Source", result.provenance), ("Licence", result.licence)]
    return Document(
        kind="Set of images",
        title=result.name,
        headline=f"{result.name}: {result.title}.",
        sentences=[sentence_of(f"{term}: {text}") for term, text in facts if text],
        table=table,
        scope=scope,
        sections=[Section("Data", [table])],
        notes=[Notice(text) for text in result.notes],
    )


def _values(factor: Factor) -> str:
    if not factor.values:
        return ""
    if isinstance(factor.values[0], str):
        return ", ".join(map(str, factor.values))
    numbers = [float(value) for value in factor.values]
    period = "" if factor.period is None else f", period {factor.period:g}"
    return f"{min(numbers):g} to {max(numbers):g}{period}"


#: The sets that are drawn, by name: what draws them, their titles, and what to know of them.
DRAWN: dict[str, tuple[Callable[..., ImageSet], str, tuple[str, ...]]] = {
    "sprites": (
        sprites,
        "one white shape on black",
        (
            "The factors are those of dSprites; the images are new.",
            "Angles stop before 90 degrees, so that all images differ (at 16 x 16 pixels, 20,732 of 20,736). With "
            "orientation='full' they go around, and squares and ellipses repeat.",
        ),
    ),
    "room": (
        room,
        "a coloured object in a coloured room",
        (
            "The factors are those of Shapes3D, whose numbers of values are counts=(10, 10, 10, 8, 4, 15); nothing is "
            "taken from it.",
        ),
    ),
    "squares": (
        squares,
        "a red, a green and a blue square on a grid of places",
        ("No loss on pixels sees which places are neighbours.",),
    ),
    "clutter": (
        clutter,
        "a glyph of a few strokes among clutter, for classification",
        (
            "images.positions()[:, 0] are the classes; level=0 to 4 is the difficulty.",
            "Images are an endless stream: first= continues after a set, so that the sets do not overlap.",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class VariantFacts:
    """A release of a set: its name ("" for the only one), images, pixels and factors; None where the file says it."""

    name: str
    n: int | None
    shape: tuple[int, int, int] | None
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImageSetFacts(Result):
    """Facts about a set of images.

    Attributes
    ----------
    name, title : str
    drawn : bool
        Whether a formula draws it; otherwise its files are yours to bring.
    variants : tuple of VariantFacts
    opened_by : str
        The call that gives the set.
    provenance, licence : str
    download : str or None
        File, size and address of a published set.
    notes : tuple of str
        What to know before results are read.
    """

    _kind = "image set"

    name: str
    title: str
    drawn: bool
    variants: tuple[VariantFacts, ...]
    opened_by: str
    provenance: str
    licence: str
    download: str | None
    notes: tuple[str, ...]

    document = image_set_document

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each factor of each variant."""
        rows = [
            (variant.name, one.name, one.size, one.kind, one.period, " ".join(map(str, one.values or ())))
            for variant in self.variants
            for one in variant.factors
        ]
        return pd.DataFrame(rows, columns=["variant", "factor", "size", "kind", "period", "values"])


def image_set_names() -> tuple[str, ...]:
    """Return the names of the sets of images that demele draws, or reads from your files.

    Examples
    --------
    >>> from demele.data import image_set_names
    >>> image_set_names()[:5]
    ('sprites', 'room', 'squares', 'clutter', 'dsprites')
    """
    from demele.data.loaders.loading import PUBLISHED

    return (*DRAWN, *PUBLISHED)


def describe(name: str) -> ImageSetFacts:
    """Return the facts about a set of images: factors, size, licence, source of the files, and traps.

    Parameters
    ----------
    name : str
        One of :func:`image_set_names`.

    Returns
    -------
    ImageSetFacts
        Printed, its factors; ``document().method`` holds its source and licence.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest.

    Examples
    --------
    >>> from demele.data import describe
    >>> describe("squares").sentence
    'squares: a red, a green and a blue square on a grid of places.'
    """
    from demele.data.loaders.loading import PUBLISHED

    if checked_name(name, "name", image_set_names()) in PUBLISHED:
        one = PUBLISHED[name]
        first = f', variant="{one.variants[0]}"' if one.variants else ""
        return ImageSetFacts(
            name=name,
            title=one.title,
            drawn=False,
            variants=tuple(
                VariantFacts(variant, one.count(variant), grid.pixels, grid.factors)
                for variant, grid in one.grids.items()
            )
            or (VariantFacts("", None, None, ()),),
            opened_by=f'demele.data.load("{name}", PATH{first})',
            provenance=one.provenance,
            licence=one.licence,
            download=f"{one.publisher}: {one.download}",
            notes=one.notes,
        )
    return ImageSetFacts(**facts_of_drawn(name, DRAWN[name][0]()))


def facts_of_drawn(name: str, images: ImageSet) -> dict[str, Any]:
    """Return the fields of :class:`ImageSetFacts` for images that a formula draws."""
    _, title, notes = DRAWN[name]
    space = images.space
    factors: tuple[Factor, ...] = ()
    if space is not None:
        factors = tuple(map(Factor, space.names, space.sizes, space.values, space.kinds, space.period))
    chosen = "sizes and numbers of values" if images.complete else "sizes, numbers of images and difficulties"
    return {
        "name": name,
        "title": title,
        "drawn": True,
        "variants": (VariantFacts("", len(images), images.shape, factors),),
        "opened_by": f"demele.data.{name}()",
        "provenance": f"drawn by a formula when it is asked for; {chosen} can be chosen",
        "licence": images.licence,
        "download": None,
        "notes": notes,
    }


_PUBLISHED = "demele.data.load reads published sets"
_HDF5 = b"\x89HDF\r\n\x1a\n"
#: Members that say what the set is, as texts: those of ``demele lab data make``.
TEXTS = ("name", "provenance", "licence", "space")
#: The file of a folder that holds the factors, and its column with the names of the pictures.
FACTORS, FILE = "factors.csv", "file"


def open_images(
    path: str | Path, *, factors: object = None, kinds: object = None, max_size: int | None = None
) -> ImageSet:
    """Return images of your own, with their factors, as a set.

    Parameters
    ----------
    path : str or Path
        - ``.npz``: ``images``, and ``factors`` of shape (n, n_factors), with ``factor_names`` if they have names; or
          one array of n values for each factor, under its name. Arrays of other shapes are not looked at. Saved by
          ``numpy.savez`` the images are mapped, not loaded; by ``numpy.savez_compressed`` they are loaded.
        - ``.npy``: images, mapped; with their factors where ``demele lab data convert`` wrote them.
        - a folder of ``.png``, in the order of their names (9 before 10); with ``factors.csv``, one line per picture,
          in the order of its column ``file`` if it has one. Needs ``demele[images]``.

        Images are uint8 from 0 to 255, floats from 0 to 1, or True and False, of shape (n, height, width) or (n,
        height, width, channels).
    factors : array-like of shape (n, n_factors), data frame, or mapping of name to column, optional
        Factors that replace those of the file.
    kinds : None, str, mapping of name to str, or sequence of str
        Which factors are "continuous" or "categorical", as in :func:`demele.evaluate`.
    max_size : int, optional
        Most memory that compressed images may take; by default the size of the file and 512 MiB.

    Returns
    -------
    ImageSet
        Row r is image r of the file. The factors are a grid if every combination of their values occurs, or if the file
        says so: those of ``demele lab data make`` do.

    Raises
    ------
    FormatError
        If a file is none of these, is cut off, holds Python objects (they could run code, and are not loaded), or has
        no images; naming what it has.
    InputError, InputTypeError
        For values that are no pixels, with the first such image and its factors; for factors that do not fit.
    MissingExtraError

    Warns
    -----
    UndefinedFactorWarning
        For factors that do not vary, which are left out.
    AmbiguousKindWarning
        For whole numbers that may be classes or quantities.
    DemeleWarning
        For what was guessed of ``factors.csv``: row numbers left out, no names, missing values.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import demele
    >>> factors = {"shape": ["dot", "bar"] * 3, "x": [0.5, 0.5, 1.5, 1.5, 2.5, 2.5]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mine.npz", images=np.zeros((6, 8, 8)), **factors)
    ...     demele.data.open_images(f"{folder}/mine.npz")
    ImageSet(mine.npz: 6 images of 8 x 8 x 1; 2 shape × 3 x)
    """
    path = path_of(path)
    if not path.exists():
        drawn = f"demele.data.{path}() draws the set of that name" if str(path) in DRAWN else None
        raise InputError("path", f"there is no {path}", drawn)
    with unpacking_at_most(max_size):
        if path.is_dir():
            return _from_folder(path, factors, kinds)
        regular_file(path)
        with path.open("rb") as file:
            start = file.read(len(_HDF5))
        if start.startswith(MAGIC_PREFIX):
            if is_converted(path):
                converted = open_converted(path)[0]
                return converted if factors is None else _made(path, converted.stored.rows, factors, kinds, {})
            array_files.mapped_array(path)  # it is whole, and holds no objects
            with path.open("rb") as file:
                header = _image_header(path, array_files.read_header(path, file))
                begins = file.tell()
            rows = array_images.MappedArray(
                path, begins, header.shape, header.dtype, columns_first=header.columns_first
            )
            return _made(path, rows, factors, kinds, {})
        if start.startswith(b"PK"):
            return _from_archive(path, factors, kinds)
    remedy = _PUBLISHED if start == _HDF5 else None
    raise FormatError(path, "expected images in an .npz or .npy of NumPy, or a folder of .png", remedy)


def _made(path: Path, images: Any, factors: object, kinds: object, texts: Mapping[str, str]) -> ImageSet:
    """Return the set; errors name the file."""
    try:
        space = FactorSpace.from_json(texts["space"]) if "space" in texts else None
        return array_images.ArrayImages(
            images,
            factors,
            space=space,
            kinds=kinds,
            name=texts.get("name", path.name),
            provenance=texts.get("provenance", f"The images of {path.name}."),
            licence=texts.get("licence", "not stated"),
        )
    except InputError as error:
        if str(path) in str(error):  # a picture that cannot be read
            raise
        raise error.within(str(path)) from error


def _image_header(what: object, header: array_files.ArrayHeader) -> array_files.ArrayHeader:
    """Say of a file what would be said of an argument."""
    try:
        array_images.checked_shape(header.shape, header.dtype)
    except InputError as error:
        raise FormatError(what, str(error.problem), error.remedy) from error
    return header


# Archives ------------------------------------------------------------------------------------------------------------


def _from_archive(path: Path, factors: object, kinds: object) -> ImageSet:
    with array_files.opened_archive(path) as archive:
        members = array_files.members_of(archive)
        if "images" not in members:
            remedy = _PUBLISHED if "imgs" in members else "save them as numpy.savez(FILE, images=...)"
            raise FormatError(path, f"expected an array 'images', found {listed(members)}", remedy)

        def read(name: str) -> Array:
            check_unpacked(path, members[name].file_size, stored=regular_file(path))
            return array_files.read_member(archive, members[name])

        with array_files.opened_member(archive, members["images"]) as (found, _):
            header = _image_header(f"{path}::images", found)
        mapped = array_images.mapped_member(path, members["images"], header)
        images = read("images") if mapped is None else mapped
        held = {name: read(name) for name in TEXTS if name in members}
        texts = {name: str(text) for name, text in held.items() if text.shape == () and text.dtype.kind == "U"}
        if factors is not None or "factors" in members:
            texts.pop("space", None)  # it is of the columns
        if factors is None and "factors" in members:
            names = read("factor_names") if "factor_names" in members else None
            factors = array_images.columns_of(path, read("factors"), names)
        elif factors is None:
            columns = {}
            for name in (one for one in members if one not in ("images", *TEXTS)):
                with array_files.opened_member(archive, members[name]) as (header, _):
                    shape = header.shape
                if len(shape) == 1:
                    if shape[0] != len(images):
                        expected = f"expected {len(images)} values, one per image, found {shape[0]}"
                        raise FormatError(f"{path}::{name}", expected)
                    columns[name] = read(name)
            factors = columns
    return _made(path, images, factors, kinds, texts)


# Folders -------------------------------------------------------------------------------------------------------------


def _from_folder(folder: Path, factors: object, kinds: object) -> ImageSet:
    names = array_images.picture_names(folder)
    if factors is None and (folder / FACTORS).exists():
        path, warn = folder / FACTORS, partial(warn_user, category=DemeleWarning)
        table: Any = read_table(str(path), warn=warn)
        for name in getattr(table, "columns", ()):
            gaps = int(table[name].isna().sum())
            if gaps:
                warn(f"{path}: column {quoted(str(name))}: {gaps:,} missing values (empty cells, or NA, None, nan)")
            if name != FILE and table[name].isin(names).all():
                raise FormatError(f"{path}: column {quoted(str(name))} names the pictures; call it {FILE}")
        if FILE in getattr(table, "columns", ()):
            asked = table.pop(FILE).astype(str).tolist()
            there = set(names)
            missing, extra = [name for name in asked if name not in there], sorted(there - set(asked))
            for wrong, told in ((missing, "are not in the folder"), (extra, f"are not in {FACTORS}")):
                if wrong:
                    raise FormatError(folder, f"{len(wrong):,} pictures {told}: {listed(wrong)}")
            if len(set(asked)) < len(asked):
                twice = next(name for name in asked if asked.count(name) > 1)
                raise FormatError(folder / FACTORS, f"names {quoted(twice)} more than once")
            names = asked
        if len(table) != len(names):
            raise FormatError(path, f"expected {len(names):,} lines, one per picture, found {len(table):,}")
        factors = table
    return _made(folder, array_images.PictureArray(folder, names), factors, kinds, {})


def save_images(images: ImageSet, path: str | Path, *, replace: bool = True) -> Path:
    """Write a set of images with its factors to an ``.npz``, a few MB at a time.

    Parameters
    ----------
    images : ImageSet
    path : str or Path
        Ends in ``.npz``. The file takes as many bytes as the images have pixels, channels counted: they are not
        compressed, so that :func:`demele.data.open_images` maps them.
    replace : bool
        False never replaces a file.

    Returns
    -------
    Path
        The file. Its arrays: ``images`` (n, height, width, channels) of uint8; one of n values for each factor; texts
        ``name``, ``provenance``, ``licence`` and, of a grid, ``space``: its values, periods and symmetries as JSON.

    Raises
    ------
    InputError
        If the name does not end in ``.npz``, or a factor cannot be saved under its own name.
    OutputError
        If the file cannot be written; one that was there is untouched.

    Examples
    --------
    >>> import tempfile
    >>> import demele
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = demele.data.save_images(demele.data.sprites(16, (3, 2, 4, 2, 2)), f"{folder}/sprites.npz")
    ...     demele.data.open_images(path)
    ImageSet(sprites: 96 images of 16 x 16 x 1; 3 shape × 2 scale × 4 orientation × 2 x × 2 y)
    """
    path = path_of(path)
    if path.suffix != ".npz":
        raise InputError("path", f"expected a file that ends in .npz, got {quoted(str(path))}")
    arrays: dict[str, Array] = {}
    for factor, column in images.factors().items():
        name, values = str(factor), column.to_numpy()
        if name in ("images", "factors", "factor_names", *TEXTS):
            raise InputError("images", f"the file has its own array {quoted(name)}; rename the factor of that name")
        if values.dtype.kind == "O" and column.isna().any():
            raise InputError("images", f"factor {quoted(name)} lacks values; leave those rows out with subset")
        arrays[name] = values.astype(np.str_) if values.dtype.kind == "O" else np.asarray(values)
    arrays |= {name: np.array(getattr(images, name)) for name in ("name", "provenance", "licence")}
    if images.space is not None:
        arrays["space"] = np.array(images.space.to_json())
    check_room(path, len(images) * int(np.prod(images.shape)))
    with (
        reporting() as report,
        writing_whole(path, replace=replace) as whole,
        zipfile.ZipFile(cast("IO[bytes]", whole), "w") as archive,
    ):
        n, shape = len(images), images.shape
        # the date of an entry is that of a new ZipInfo, 1980: the same set gives the same bytes
        with archive.open(zipfile.ZipInfo("images.npy"), "w", force_zip64=True) as member:
            npy.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (n, *shape)})
            per_block = max(1, array_images.BLOCK // int(np.prod(shape)))
            for start in range(0, n, per_block):
                rows = np.arange(start, min(start + per_block, n))
                member.write(images.images(rows).data.cast("B"))
                if report is not None:
                    report(int(rows[-1]) + 1, n, f"images of {images.name}")
        for name, held in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                npy.write_array(member, held, allow_pickle=False)
    return path


# Sets of images by name -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DrawnImages(ImageSetFacts):
    """Images that a formula draws, with the facts about them."""

    _files: ClassVar[Mapping[str, str]] = {".npz": "save"}

    images: ImageSet = field(metadata={"json": False})

    def save(self, path: str | Path) -> Path:
        """Write the images as :func:`save_images` does."""
        return save_images(self.images, path)


def draw_images(
    name: str,
    *,
    image_size: int | None = None,
    counts: Sequence[int] | None = None,
    difficulty: int | None = None,
    n_images: int | None = None,
) -> DrawnImages:
    """Draw a set of images, with the factors of each image.

    Parameters
    ----------
    name : {"sprites", "room", "squares", "clutter"}
    image_size : int, optional
        Height and width (default: 32; of clutter 16).
    counts : sequence of int, optional
        Number of values of each factor, in their order.
    difficulty : int, optional
        Difficulty of clutter, 0 to 4 (default: 3).
    n_images : int, optional
        Images of clutter (default: 10000).

    Returns
    -------
    DrawnImages

    Raises
    ------
    UnknownNameError, InputError
    """
    if name in image_set_names() and name not in DRAWN:
        raise InputError("name", f"{name} is published, and no formula draws it; `describe()` says where its files are")
    draw, _, _ = DRAWN[checked_name(name, "name", DRAWN)]
    asked = {"image_size": image_size, "counts": counts, "difficulty": difficulty, "n_images": n_images}
    called = {"image_size": "size", "difficulty": "level", "n_images": "n"}
    given = {called.get(one, one): value for one, value in asked.items() if value is not None}
    for one in asked:
        if called.get(one, one) in given and called.get(one, one) not in signature(draw).parameters:
            takes = [f"`{own}`" for own in asked if called.get(own, own) in signature(draw).parameters]
            raise InputError(one, f"{name} has no such setting; it takes {' and '.join(takes)}")
    images = draw(**given)
    return DrawnImages(**facts_of_drawn(name, images), images=images)


def named_images(images: ImageSet | str | Path, image_size: int | None = None) -> ImageSet:
    """Return images, or those that a text names; kinds of factors are asked for where codes are scored.

    Parameters
    ----------
    images : ImageSet, str or Path
        A set that is drawn (``"sprites"``, ``"room"``, ``"squares"``, ``"clutter"``), or an ``.npz``, ``.npy`` or
        folder; ``"./sprites"`` is a folder.
    image_size : int, optional
        Height and width; by default those of what is drawn, and as they are of files.

    Returns
    -------
    ImageSet

    Raises
    ------
    InputError, FormatError
    """
    if isinstance(images, str) and images in DRAWN:
        return DRAWN[images][0](**({} if image_size is None else {"size": image_size}))
    if not isinstance(images, ImageSet):
        if not Path(images).exists():
            raise InputError(f"{images}: there is no such file, and no such set{suggestion(str(images), DRAWN)}")
        with warnings.catch_warnings(action="ignore", category=AmbiguousKindWarning):
            images = open_images(images)
    return images if image_size is None else images.resized(image_size)
