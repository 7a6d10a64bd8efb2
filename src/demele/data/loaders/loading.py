"""Published sets of images, from files that a user brings: looked at first, and streamed, mapped or packed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from demele.core import errors
from demele.core.arrays import pd
from demele.core.kinds import Kind, checked_name, pairs_in
from demele.core.reading import path_of, size_text
from demele.core.result import Result, about
from demele.data.images import ImageSet, Resample, checked_resample, digest_of
from demele.data.loaders import class_sets, grid_sets
from demele.data.loaders import published as sets
from demele.report.document import Document, Table
from demele.runtime.work import Report, reporting

#: The sets that :func:`load` knows.
PUBLISHED: dict[str, sets.PublishedSet] = {one.name: one for one in (*grid_sets.SETS, *class_sets.SETS)}
PACKED = "packed"
Options = Annotated[
    Mapping[str, object] | None, Kind("NAME=VALUE", lambda word: pairs_in(word, "camera=1"), repeats=True)
]


def load(
    name: str | sets.PublishedSet,
    path: str | Path,
    *,
    variant: str | None = None,
    size: int | tuple[int, int] | None = None,
    resample: Resample = "area",
    check: Literal["shape", "digest"] = "shape",
    cache: str | Path | None = None,
    **options: Any,
) -> ImageSet:
    """Return a published set of images from files that you have: nothing is downloaded, and no pickle is run.

    Parameters
    ----------
    name : str or PublishedSet
        ``"dsprites"``, ``"shapes3d"``, ``"mpi3d"``, ``"cars3d"``, ``"smallnorb"``, ``"falcor3d"``, ``"isaac3d"``,
        ``"3dident"``, ``"causal3dident"``, ``"morpho_mnist"``, ``"cifar10"``, ``"cifar100"``, ``"svhn"`` or
        ``"voc2012"``; or what you know of another set, as a ``demele.data.loaders.PublishedSet``.
    path : str or Path
        The file or the folder as it was published, or an ``.npy`` that was converted from it.
    variant : str, optional
        Of MPI3D: ``"toy"``, ``"realistic"``, ``"real"``, ``"complex"``, ``"toy2019"`` or ``"realistic2019"``.
    size : int or (int, int), optional
        Height and width of the images; by default those that were published.
    resample : {"area", "lanczos"}
        How they are resized; see :func:`demele.data.resampling_matrix`.
    check : {"shape", "digest"}
        Names, types, shapes and sizes are always compared with the published ones; ``"digest"`` hashes the files too.
    cache : str or Path, optional
        An ``.npy``, written on first use and mapped from then on; or ``"packed"``: black and white pixels of dSprites
        in memory, 8 in a byte. By default files are read where they are; those that can be read from front to back
        only are held in memory, up to 1 GiB.
    **options
        Of dSprites ``drop_duplicates`` (False); of SmallNORB ``split`` ("both", "training" or "testing"), ``camera``
        (0 or 1) and ``instance`` ("hidden" or "factor"); of Morpho-MNIST ``split`` ("train", "t10k" or "both"); of
        CIFAR ``split`` ("train", "test" or "both"); of SVHN ``split`` ("train", "test", "extra" or "train+extra");
        of PASCAL VOC ``split`` ("trainval", "train" or "val") and ``pixels`` (64, 32, 128 or 256 a side).

    Returns
    -------
    ImageSet
        In the order of its grid, the last factor fastest, whatever the order of the file is. Sets of classes (CIFAR,
        SVHN, VOC) stand in the order of their files, and ``images.positions()[:, 0]`` are the classes as numbers.

    Raises
    ------
    FormatError
        If a file is cut off, damaged, or holds something else than was published: which, and what was expected.
    InputError
        If there is no such file, or its number of images fits no variant or several.
    UnknownNameError, InputTypeError
        For a name, variant or option that the set does not have.
    MissingExtraError
        If h5py, or Pillow, is needed and not installed.

    Notes
    -----
    Cost: labels are read, images are not. What is deflated (most ``.npz``) or packed by gzip takes one pass.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mpi3d_toy.npz", images=np.zeros((12, 64, 64, 3), np.uint8))
    ...     load("mpi3d", f"{folder}/mpi3d_toy.npz", variant="toy")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    demele.core.errors.FormatError: ...: expected uint8 (1036800, 64, 64, 3), found uint8 (12, 64, 64, 3)
    """
    request = requested(published_set(name), path_of(path), variant, check, options)
    published, path = request.published, request.path
    if path.suffix == ".npy" and path.is_file():
        found, made_from = sets.open_converted(path)
        for what, value in {"name": published.name, "variant": variant, **options}.items():
            if value is not None and made_from.get(what) != value:
                held = errors.quoted(made_from.get(what))
                raise errors.InputError(what, f"{path} was converted from {held}, got {errors.quoted(value)}")
        return _of_size(found, size, resample)
    with reporting() as report:
        whole = _opened(request, report)
        target = _of_size(whole, size, resample)
        if cache is not None and cache != PACKED:
            output = path_of(cache, "cache")
            return sets.cached(output, target.digest) or sets.convert(target, output, request.origin, report=report)
        if cache == PACKED and not published.binary:
            binary = ", ".join(one.name for one in PUBLISHED.values() if one.binary)
            raise errors.InputError(
                "cache", f"{published.name} has more than two levels of grey; {binary} can be packed"
            )
        if whole.stored.rows is not None and cache is None:
            return target
        if published.binary:  # packed at its own size, where pixels are black and white
            return _of_size(whole.in_memory(packed=True), size, resample)
        needed = len(target) * math.prod(target.shape)
        if needed > sets.MOST_HELD:
            raise errors.InputError(
                "cache",
                f"{whole.stored.what} can be read from front to back only, and its images take {size_text(needed)}",
                "name an .npy to write them to once, or convert them with demele lab data convert",
            )
        return target.in_memory(packed=False)


def published_set(name: str | sets.PublishedSet) -> sets.PublishedSet:
    """Return what is known of a published set.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest.
    """
    return name if isinstance(name, sets.PublishedSet) else PUBLISHED[checked_name(name, "name", PUBLISHED)]


def _of_size(images: sets.StoredImages, size: int | tuple[int, int] | None, resample: Resample) -> sets.StoredImages:
    return images if size is None else images.resized(size, checked_resample(resample))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublishedFiles(Result):
    """What the files of a published set hold, compared with what was published.

    Attributes
    ----------
    name, path : str
    usable : bool
    problem : str or None
        Why they cannot be used.
    files : tuple of Finding
    failure : DemeleError or None
        The problem as an error.
    images : ImageSet or None
        The set, if the files can be used.
    made_from : mapping of str to object
        Its name, variant and options.
    """

    _kind = "files of an image set"
    _files: ClassVar[Mapping[str, str]] = {".npy": "save"}

    name: str
    path: str
    usable: bool
    problem: str | None
    files: tuple[sets.Finding, ...]
    failure: errors.DemeleError | None = field(metadata={"json": False})
    images: sets.StoredImages | None = field(metadata={"json": False})
    made_from: Mapping[str, Any] = field(metadata={"json": False})

    def document(self) -> Document:
        """Return what each file holds, and what was published."""
        rows = [
            (
                one.file.rpartition("/")[2],
                one.found,
                one.expected if one.expected != one.found else "the same",
                one.verdict,
            )
            for one in self.files
        ]
        table = Table("Files", dict.fromkeys(("File", "Found", "Expected", "Verdict"), "text"), rows)
        verb = "can" if self.usable else "cannot"
        return Document(kind="Files", headline=f"{self.name} {verb} be used.", table=table, **about(self))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each file, or part of one."""
        return pd.DataFrame(list(map(asdict, self.files)), columns=["file", "found", "expected", "verdict"])

    def save(self, path: str | Path) -> Path:
        """Write the images to one ``.npy`` in the order of their grid, which is mapped from then on.

        Raises
        ------
        DemeleError
            If the files cannot be used.
        OutputError
        """
        if self.images is None:
            raise self.failure or errors.InputError("images", "expected files that can be used")
        output = path_of(path)
        if output.suffix != ".npy":
            raise errors.InputError("path", f"expected a file that ends in .npy, got {errors.quoted(str(output))}")
        with reporting() as report:
            sets.convert(self.images, output, self.made_from, report=report)
        return output


def check_files(
    name: str | sets.PublishedSet,
    path: str | Path,
    *,
    variant: str | None = None,
    options: Options = None,
    check: Literal["shape", "digest"] = "shape",
    image_size: int | None = None,
    resample: Resample = "area",
) -> PublishedFiles:
    """Check whether the files of a published set are what was published.

    Parameters
    ----------
    name : str or PublishedSet
        As of :func:`demele.data.load`.
    path : str or Path
        The file or the folder, as it was published.
    variant : str, optional
        Release, where a set has several.
    options : mapping of str to str, optional
        Settings of this set alone, such as camera=1.
    check : {"shape", "digest"}
        Compare names, types, shapes and sizes, or also every byte.
    image_size : int, optional
        Height and width of the written images (default: as published).
    resample : {"area", "lanczos"}
        How images are resized; publications use lanczos.

    Returns
    -------
    PublishedFiles
        ``save("FILE.npy")`` writes the images to one file.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    published, place = published_set(name), path_of(path)
    values = {one: published.options.get(one, ()) for one in options or {}}
    asked: dict[str, Any] = {  # words of a command are the values that they look like
        one: next((value for value in values[one] if str(value).lower() == str(text).lower()), text)
        for one, text in (options or {}).items()
    }
    request = requested(published, place, variant, check, asked)
    images, failure = None, None
    try:
        with reporting() as report:
            images = _opened(request, report)
    except errors.InputError as error:
        failure = error
        if all(one.verdict in ("fits", "not published") for one in request.seen):
            request.note(place, str(error.problem).removeprefix(f"{place}: "), "as it was published", "damaged")
    return PublishedFiles(
        name=published.name,
        path=str(path),
        usable=failure is None,
        problem=None if failure is None else str(failure),
        files=tuple(request.seen),
        failure=failure,
        images=None if images is None else _of_size(images, image_size, resample),
        made_from=request.origin,
    )


def requested(
    published: sets.PublishedSet, path: Path, variant: str | None, check: str, options: Mapping[str, Any]
) -> sets.Request:
    """Check what a set is asked for.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    checked_name(check, "check", ("shape", "digest"))
    if variant is not None and variant not in published.variants:
        known = ", ".join(map(errors.quoted, published.variants)) or "none"
        raise errors.UnknownNameError(
            "variant", f"{published.name} has no variant {errors.quoted(variant)}; it has {known}"
        )
    for name in options:
        if name not in published.options:
            others = [one.name for one in PUBLISHED.values() if name in one.options]
            of = f"; it is an option of {', '.join(others)}" if others else ""
            known = ", ".join(published.options) or "none"
            raise errors.InputTypeError(name, f"{published.name} has no such option{of}; its options are {known}")
        if not any(type(options[name]) is type(value) and options[name] == value for value in published.options[name]):
            known = ", ".join(map(errors.quoted, published.options[name]))
            raise errors.InputError(name, f"expected one of {known}, got {errors.quoted(options[name])}")
    every = {name: options.get(name, held[0]) for name, held in published.options.items()}
    return sets.Request(published, path, variant, check, every)


def _opened(request: sets.Request, report: Report | None) -> sets.StoredImages:
    published = request.published
    if not request.path.exists():
        raise request.no_file(request.path)
    read = published.read(request)
    placing = sets.placed(request.grid, read)
    if request.check == "digest":
        _check_digests(request, read.files, report)
    else:
        _check_sizes(request, read.files)
    variant = request.variant or ""
    return sets.StoredImages(
        read.images,
        **placing,
        name=f"{published.name}_{variant}" if variant else published.name,
        digest=digest_of(published.name, variant, sorted(request.options.items()), sets.recognised(read.files)),
        provenance=published.provenance,
        licence=published.licence,
    )


# Whether files are byte for byte those that were published ------------------------------------------------------------


def _check_sizes(request: sets.Request, files: Sequence[Path]) -> None:
    """Warn of files that fit, but have another size than the published ones: they were repacked."""
    sizes = {one.name: one.size for one in request.published.files if one.size}
    for path in (one for one in files if one.name in sizes):
        found, expected = path.stat().st_size, sizes[path.name]
        request.note(path, f"{found:,} bytes", f"{expected:,} bytes", "fits" if found == expected else "not published")
        if found != expected:
            errors.warn_user(
                f"{path}: {found:,} bytes, where the published file has {expected:,}: it is a copy that somebody "
                "made. Names, types and shapes of its arrays fit; whether they hold the published images is not known",
                errors.RepackedFileWarning,
            )


def _check_digests(request: sets.Request, files: Sequence[Path], report: Report | None) -> None:
    """Compare the digests of files with the published ones.

    Raises
    ------
    InputError
        If none is known of any.
    FormatError
        If one differs.
    """
    without = "leave out `check='digest'`"
    digests = {one.name: one.digest for one in request.published.files if one.digest}
    known = {path: digests[path.name] for path in files if path.name in digests}
    if not known:
        raise errors.InputError("check", f"no digest of these files of {request.published.title} is known", without)
    total, done = sum(path.stat().st_size for path in known), 0
    for path, digest in known.items():
        kind = "sha256" if len(digest) == 64 else "md5"
        hashed = hashlib.new(kind, usedforsecurity=False)
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                hashed.update(block)
                done += len(block)
                if report is not None:
                    report(done, total, f"bytes of {path.name}")
        own = hashed.hexdigest()
        request.note(path, f"{kind} {own}", f"{kind} {digest}", "fits" if own == digest else "differs")
        if own != digest:
            remedy = f"it is not the published file: copy it again, or {without}"
            raise errors.FormatError(path, f"expected {kind} {digest}, found {own}", remedy)
