"""A set of images as one ``.npy`` that is mapped, with a ``.json`` beside it that says what it holds.

Both are written beside their places and then renamed, the ``.npy`` last: after a kill at any moment there is the old
pair, or the new one, or a ``.json`` whose images are not there yet, which the next conversion replaces.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, quoted
from demele.core.npy_files import mapped_array, read_header
from demele.core.outputs import WholeFile, check_room, write_whole, writing_whole
from demele.core.reading import check_nesting, parsing, read_whole, regular_file
from demele.core.version import __version__
from demele.data.images import ImageSet
from demele.data.loaders.stored_images import Images, Opened, StoredImages
from demele.data.mapped import MappedArray
from demele.data.resample import Resample
from demele.data.space import FactorSpace
from demele.runtime.progress import Report

if TYPE_CHECKING:
    import pandas as pd

_KIND, _FORMAT = "image set", 1
#: Images by which a pair of files is seen to belong together.
_SAMPLED = 64


@dataclass(frozen=True, slots=True)
class Facts:
    """What the ``.json`` beside converted images says.

    Attributes
    ----------
    name, digest, provenance, licence : str
        Of the set.
    shape : tuple of int
        (n, height, width, channels).
    made_from : mapping
        Variant, options and files of the set, for people.
    content : str
        By which the images are recognised.
    space : FactorSpace or None
    columns : tuple of dict or None
        Names, and classes or None, of the factors of a set that is no grid.
    factors : str or None
        What the file with factors, or with rows of the space, is recognised by.
    """

    name: str
    digest: str
    provenance: str
    licence: str
    shape: tuple[int, ...]
    made_from: Mapping[str, Any]
    content: str = ""
    space: FactorSpace | None = None
    columns: tuple[Mapping[str, Any], ...] | None = None
    factors: str | None = None

    def to_json(self) -> str:
        """Return the text of the file."""
        told = {
            "kind": _KIND,
            "format": _FORMAT,
            "demele": __version__,
            **{
                name: getattr(self, name)
                for name in ("name", "digest", "provenance", "licence", "made_from", "content")
            },
            "shape": list(self.shape),
            "space": None if self.space is None else self.space.to_dict(),
            "columns": None if self.columns is None else list(self.columns),
            "factors": self.factors,
        }
        return json.dumps(told, indent=1, allow_nan=False) + "\n"


def beside(path: Path, ending: str = ".json") -> Path:
    """Return the file that lies beside converted images.

    Examples
    --------
    >>> beside(Path("sets/images.npy")).name, beside(Path("images.npy"), ".factors.npy").name
    ('images.json', 'images.factors.npy')
    """
    return path.with_name(path.name.removesuffix(".npy") + ending)


# Writing -------------------------------------------------------------------------------------------------------------


def convert(
    opened: Opened,
    target: ImageSet,
    resample: Resample,
    path: Path,
    made_from: Mapping[str, Any],
    *,
    replace: bool = True,
    report: Report | None = None,
) -> Path:
    """Write the images of a set in its order, in one pass over its files.

    Parameters
    ----------
    opened : Opened
        The files.
    target : ImageSet
        The set at the size that is asked for, for all but its images.
    resample : {"area", "lanczos"}
    path : Path
        Ends in ``.npy``.
    made_from : mapping
        What to tell people of the origin; plain values.
    replace : bool
    report : callable(done, total, label), optional

    Returns
    -------
    Path

    Raises
    ------
    OutputError
        If it cannot be written, or the disk has no room. Files that were there are untouched.
    FormatError
        If a file of the set is damaged.
    """
    n, size = len(target), target.shape[:2]
    shape = (n, *target.shape)
    each = int(np.prod(target.shape))
    check_room(path, n * each)
    with writing_whole(path, replace=replace) as whole:
        start = _write_header(whole, shape)
        written = 0
        for rows, images in opened.in_order(size, resample):
            _write_rows(whole, start, rows, images, each)
            written += len(rows)
            if report is not None:
                report(written, n, f"images of {target.name}")
        if written != n:
            raise FormatError(opened.images.what, f"expected {n:,} images, found {written:,}")
        samples = [whole.read(each, start + int(row) * each) for row in _spread(n)]
        factors, columns = _factors_of(opened)
        facts = Facts(
            *(target.name, target.digest, target.provenance, target.licence, shape),
            made_from={"variant": None, "options": {}, "files": [], **made_from},
            content=_content(shape, samples),
            space=target.space,
            columns=columns,
            factors=None if factors is None else hashlib.blake2b(factors, digest_size=16).hexdigest(),
        )
        if factors is not None:
            write_whole(beside(path, ".factors.npy"), factors, replace=replace)
        write_whole(beside(path), facts.to_json(), replace=replace)
    return path


def _write_header(whole: WholeFile, shape: tuple[int, ...]) -> int:
    header = io.BytesIO()
    npy.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": shape})
    whole.write(header.getvalue(), at=0)
    return len(header.getvalue())


def _write_rows(whole: WholeFile, start: int, rows: NDArray[np.int64], images: NDArray[np.uint8], each: int) -> None:
    """Write images to their rows: those that follow each other at once."""
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    for run, held in zip(np.split(rows, breaks), np.split(images, breaks), strict=True):
        if run.size:
            whole.write(np.ascontiguousarray(held).data.cast("B"), at=start + int(run[0]) * each)


def _factors_of(opened: Opened) -> tuple[bytes | None, tuple[Mapping[str, Any], ...] | None]:
    """Return what no space says: the factors of a set that is no grid, or the rows of a space that others share."""
    if opened.table is None:
        return (None if opened.places is None else _npy_bytes(opened.places)), None
    columns: list[Mapping[str, Any]] = []
    values = []
    for name in opened.table:
        column = opened.table[name]
        is_class = hasattr(column, "cat")
        classes = [_plain(one) for one in column.cat.categories] if is_class else None
        columns.append({"name": str(name), "classes": classes})
        values.append((column.cat.codes if is_class else column).to_numpy(np.float64))
    return _npy_bytes(np.stack(values, axis=1)), tuple(columns)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _npy_bytes(array: NDArray[Any]) -> bytes:
    held = io.BytesIO()
    np.save(held, array, allow_pickle=False)
    return held.getvalue()


def _spread(n: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, n - 1, _SAMPLED).astype(np.int64))


def _content(shape: tuple[int, ...], samples: list[bytes]) -> str:
    found = hashlib.blake2b(repr(shape).encode(), digest_size=16)
    for sample in samples:
        found.update(sample)
    return found.hexdigest()


def check_replaced(path: Path) -> None:
    """Refuse to write beside converted images what would replace a file of somebody else.

    Raises
    ------
    InputError
    """
    own = beside(path)
    if own.exists():
        try:
            read_facts(path)
        except FormatError as error:
            raise InputError(f"{own}: exists already, and was not made by demele; name another file") from error
    elif beside(path, ".factors.npy").exists():
        raise InputError(f"{beside(path, '.factors.npy')}: exists already; name another file")


# Reading -------------------------------------------------------------------------------------------------------------


def is_converted(path: Path) -> bool:
    """Whether a file is one of converted images, by its name and what lies beside it."""
    return path.suffix == ".npy" and path.is_file() and beside(path).is_file()


def read_facts(path: Path) -> Facts:
    """Read what lies beside converted images.

    Raises
    ------
    FormatError
        If it is nothing that :func:`convert` wrote.
    """
    own = beside(path)
    content = read_whole(own)
    check_nesting(own, content)
    with parsing(f"{own}: not what demele data convert writes beside images"):
        data = json.loads(content)
        if not isinstance(data, dict) or data.get("kind") != _KIND:
            raise FormatError(f"{own}: not what demele data convert writes beside images")
        if data["format"] != _FORMAT:
            raise FormatError(
                own, f"expected format {_FORMAT}, found {quoted(data['format'])}", "convert the set again"
            )
        texts = {name: str(data[name]) for name in ("name", "digest", "provenance", "licence", "content")}
        space = None if data["space"] is None else FactorSpace.from_json(json.dumps(data["space"]))
        return Facts(
            **texts,
            shape=tuple(int(length) for length in data["shape"]),
            made_from={"variant": data["made_from"]["variant"], "options": dict(data["made_from"]["options"])},
            space=space,
            columns=None if data["columns"] is None else tuple(dict(one) for one in data["columns"]),
            factors=data["factors"],
        )


def open_converted(path: Path) -> tuple[StoredImages, Facts]:
    """Return a set that was converted: its images are mapped, so that nothing is read before it is asked for.

    Raises
    ------
    FormatError
        If one of the files is damaged, or they do not belong to each other.
    """
    facts = read_facts(path)
    start = _checked_images(path, facts)
    n, height, width, channels = facts.shape
    rows = MappedArray(path, start, facts.shape, np.dtype(np.uint8))
    images = Images(str(path), n, (height, width, channels), rows)
    with parsing(f"{beside(path)}: not what demele data convert writes beside images"):
        opened = _with_factors(path, facts, images)
        made = StoredImages(
            opened, name=facts.name, digest=facts.digest, provenance=facts.provenance, licence=facts.licence
        )
    return made, facts


def _checked_images(path: Path, facts: Facts) -> int:
    """Look whether a file holds the images that another one describes; return where they begin."""
    regular_file(path)
    with path.open("rb") as file:
        header = read_header(path, file)
        start, size = file.tell(), file.seek(0, 2)
        if header.dtype != np.uint8 or header.shape != facts.shape or len(header.shape) != 4 or header.columns_first:
            raise _apart(path, f"{header.dtype} {header.shape}")
        if size != start + header.size or not header.size:
            raise FormatError(path, f"damaged or cut off: expected {start + header.size:,} bytes, found {size:,}")
        each = header.size // header.shape[0]
        samples = []
        for row in _spread(header.shape[0]):  # read, not mapped: systems map megabytes around what is looked at
            file.seek(start + int(row) * each)
            samples.append(file.read(each))
    if _content(facts.shape, samples) != facts.content:
        raise _apart(path, "other images")
    return start


def _apart(path: Path, found: str) -> FormatError:
    return FormatError(
        path,
        f"{beside(path).name} describes other images: found {found}",
        "a conversion was stopped, or one of the two was moved; convert the set again",
    )


def _with_factors(path: Path, facts: Facts, images: Images) -> Opened:
    if facts.factors is None:
        return Opened(images, (path,), facts.space)
    own = beside(path, ".factors.npy")
    if not own.is_file():
        raise FormatError(own, f"there is no such file, and {path.name} needs it", "convert the set again")
    if hashlib.blake2b(read_whole(own), digest_size=16).hexdigest() != facts.factors:
        raise FormatError(own, "does not belong to the images beside it", "convert the set again")
    held = np.asarray(mapped_array(own))
    if len(held) != images.n or held.ndim != (2 if facts.space is None else 1):
        raise FormatError(own, f"expected factors of {images.n:,} images, found shape {held.shape}")
    if facts.space is not None:
        if held.dtype.kind != "i" or held.min() < 0 or held.max() >= len(facts.space):
            raise FormatError(own, f"expected rows of a space of {len(facts.space):,}, found others")
        return Opened(images, (path,), facts.space, places=held.astype(np.int64))
    return Opened(images, (path,), table=_table(facts, held))


def _table(facts: Facts, held: NDArray[np.float64]) -> pd.DataFrame:
    import pandas as pd

    columns: dict[str, Any] = {}
    for column, one in enumerate(facts.columns or ()):
        values = held[:, column]
        if one["classes"] is None:
            columns[one["name"]] = values
        else:
            columns[one["name"]] = pd.Categorical.from_codes(values.astype(int), categories=pd.Index(one["classes"]))
    return pd.DataFrame(columns)


def checked_cache(path: Path, digest: str) -> bool:
    """Whether a file holds the converted set of a digest already; False if it is to be made.

    Raises
    ------
    InputError
        If there is another file of that name, or one with other images.
    """
    if path.suffix != ".npy":
        raise InputError("cache", f"expected a file that ends in .npy, got {quoted(str(path))}")
    if not beside(path).exists():
        if path.exists():
            raise InputError(
                "cache", f"{path} was not made by demele: {beside(path).name} is not beside it", "name another"
            )
        return False
    facts = read_facts(path)
    if facts.digest != digest:
        size = " x ".join(map(str, facts.shape[1:]))
        raise InputError(
            "cache", f"{path} holds {facts.name} of {size} from other files or options", "name another, or delete it"
        )
    try:
        return path.exists() and open_converted(path)[1].digest == digest
    except FormatError:  # what a conversion that was stopped has left
        return False
