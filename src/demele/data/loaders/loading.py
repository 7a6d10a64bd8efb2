"""Published sets of images, from files that a user brings: looked at first, and streamed, mapped or packed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from demele.core.errors import DemeleError, InputError, InputTypeError, UnknownNameError, quoted
from demele.core.names import checked_name, suggestion
from demele.core.reading import path_of, size_text
from demele.data.images import ImageSet, digest_of
from demele.data.loaders.cars3d import CARS3D
from demele.data.loaders.cifar import CIFAR10, CIFAR100
from demele.data.loaders.converted import checked_cache, convert, is_converted, open_converted
from demele.data.loaders.digests import check_digests, check_sizes
from demele.data.loaders.dsprites import DSPRITES
from demele.data.loaders.ident3d import CAUSAL3DIDENT, IDENT3D
from demele.data.loaders.morpho_mnist import MORPHO_MNIST
from demele.data.loaders.mpi3d import MPI3D
from demele.data.loaders.published import Finding, PublishedSet, Request, placed
from demele.data.loaders.rendered import FALCOR3D, ISAAC3D
from demele.data.loaders.shapes3d import SHAPES3D
from demele.data.loaders.smallnorb import SMALLNORB
from demele.data.loaders.stored_images import MOST_HELD, Opened, StoredImages, recognised
from demele.data.loaders.svhn import SVHN
from demele.data.resample import Resample, checked_resample
from demele.runtime.progress import Report, reporting

#: The sets that :func:`load` knows.
PUBLISHED: dict[str, PublishedSet] = {
    one.name: one
    for one in (
        DSPRITES,
        SHAPES3D,
        MPI3D,
        CARS3D,
        SMALLNORB,
        FALCOR3D,
        ISAAC3D,
        IDENT3D,
        CAUSAL3DIDENT,
        MORPHO_MNIST,
        CIFAR10,
        CIFAR100,
        SVHN,
    )
}
PACKED = "packed"


def load(
    name: str,
    path: str | Path,
    *,
    variant: str | None = None,
    size: int | tuple[int, int] | None = None,
    resample: Resample = "area",
    check: Literal["shape", "digest"] = "shape",
    cache: str | Path | None = None,
    progress: bool | Report = False,
    **options: Any,
) -> ImageSet:
    """Return a published set of images from files that you have: nothing is downloaded, and no pickle is run.

    Parameters
    ----------
    name : str
        ``"dsprites"``, ``"shapes3d"``, ``"mpi3d"``, ``"cars3d"``, ``"smallnorb"``, ``"falcor3d"``, ``"isaac3d"``,
        ``"3dident"``, ``"causal3dident"``, ``"morpho_mnist"``, ``"cifar10"``, ``"cifar100"`` or ``"svhn"``.
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
    progress : bool or callable(done, total, label)
        Show a progress bar on anything that takes over a second.
    **options
        Of dSprites ``drop_duplicates`` (False); of SmallNORB ``split`` ("both", "training" or "testing"), ``camera``
        (0 or 1) and ``instance`` ("hidden" or "factor"); of Morpho-MNIST ``split`` ("train", "t10k" or "both"); of
        CIFAR ``split`` ("train", "test" or "both"); of SVHN ``split`` ("train", "test", "extra" or "train+extra").

    Returns
    -------
    ImageSet
        In the order of its grid, the last factor fastest, whatever the order of the file is. Sets of classes (CIFAR,
        SVHN) stand in the order of their files, and ``images.positions()[:, 0]`` are the classes as numbers.

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
    published = published_set(name)
    return load_as(
        published,
        path_of(path),
        variant=variant,
        size=size,
        resample=resample,
        check=check,
        cache=cache,
        progress=progress,
        options=options,
    )


def published_set(name: str) -> PublishedSet:
    """Return what is known of a published set.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest.
    """
    if name not in PUBLISHED:
        told = suggestion(name, PUBLISHED) if isinstance(name, str) else ""
        raise UnknownNameError("name", f"no published set is called {quoted(name)}{told}")
    return PUBLISHED[name]


def load_as(
    published: PublishedSet,
    path: Path,
    *,
    variant: str | None = None,
    size: int | tuple[int, int] | None = None,
    resample: Resample = "area",
    check: str = "shape",
    cache: str | Path | None = None,
    progress: bool | Report = False,
    options: Mapping[str, Any] | None = None,
) -> ImageSet:
    """Return the images of files that hold what ``published`` says; see :func:`load`."""
    request = requested(published, path, variant, check, options or {})
    if is_converted(path):
        return _of_converted(request, variant, options or {}, size, resample)
    with reporting(progress) as report:
        opened, whole = _opened(request, check, report)
        target = whole if size is None else whole.resized(size, checked_resample(resample))
        if cache is not None and cache != PACKED:
            return _cached(request, opened, target, resample, path_of(cache, "cache"), report)
        if cache == PACKED and not published.binary:
            binary = ", ".join(one.name for one in PUBLISHED.values() if one.binary)
            raise InputError("cache", f"{published.name} has more than two levels of grey; {binary} can be packed")
        if opened.images.rows is not None and cache is None:
            return target
        if published.binary:  # packed at its own size, where pixels are 0 and 1
            return _held(opened, whole, resample, packed=True).resized(target.shape[:2], resample)
        needed = len(target) * target.shape[0] * target.shape[1] * target.shape[2]
        if needed > MOST_HELD:
            raise InputError(
                "cache",
                f"{opened.images.what} can be read from front to back only, and its images take {size_text(needed)}",
                "name an .npy to write them to once, or convert them with demele data convert",
            )
        return _held(opened, target, resample, packed=False)


def convert_as(
    published: PublishedSet,
    path: Path,
    output: Path,
    *,
    variant: str | None = None,
    size: int | tuple[int, int] | None = None,
    resample: Resample = "area",
    check: str = "shape",
    replace_files: bool = True,
    report: Report | None = None,
    options: Mapping[str, Any] | None = None,
) -> ImageSet:
    """Write the images of files as one ``.npy`` that can be mapped, and return them from there."""
    request = requested(published, path, variant, check, options or {})
    if output.suffix != ".npy":
        raise InputError("output", f"expected a file that ends in .npy, got {quoted(str(output))}")
    opened, whole = _opened(request, check, report)
    target = whole if size is None else whole.resized(size, checked_resample(resample))
    convert(opened, target, resample, output, _made_from(request, opened), replace=replace_files, report=report)
    return open_converted(output)[0]


def findings(
    published: PublishedSet,
    path: Path,
    *,
    variant: str | None = None,
    check: str = "shape",
    report: Report | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[list[Finding], DemeleError | None]:
    """Look at the files of a set, and return what was found and what was expected; and why it cannot be used, if so."""
    request = requested(published, path, variant, check, options or {})
    try:
        _opened(request, check, report)
    except InputError as error:
        if all(one.verdict in ("fits", "not published") for one in request.seen):
            request.note(path, str(error.problem).removeprefix(f"{path}: "), "as it was published", "damaged")
        return request.seen, error
    return request.seen, None


def requested(
    published: PublishedSet, path: Path, variant: str | None, check: str, options: Mapping[str, Any]
) -> Request:
    """Check what a set is asked for.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    checked_name(check, "check", ("shape", "digest"))
    if variant is not None and variant not in published.variants:
        known = ", ".join(map(quoted, published.variants)) or "none"
        raise UnknownNameError(
            "variant", f"{published.name} has no variant {quoted(variant)}; its variants are {known}"
        )
    return Request(published, path, variant, _options(published, options))


def _options(published: PublishedSet, given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in published.options:
            others = [one.name for one in PUBLISHED.values() if name in one.options]
            of = f"; it is an option of {', '.join(others)}" if others else ""
            known = ", ".join(published.options) or "none"
            raise InputTypeError(name, f"{published.name} has no such option{of}; its options are {known}")
        if not any(type(given[name]) is type(value) and given[name] == value for value in published.options[name]):
            values = ", ".join(map(quoted, published.options[name]))
            raise InputError(name, f"expected one of {values}, got {quoted(given[name])}")
    return {name: given.get(name, values[0]) for name, values in published.options.items()}


def _opened(request: Request, check: str, report: Report | None) -> tuple[Opened, StoredImages]:
    published = request.published
    if not request.path.exists():
        raise request.no_file(request.path)
    variant = request.variant
    read = published.read(request)
    opened = placed(request.grid, read)
    if check == "digest":
        check_digests(request, opened.files, report)
    else:
        check_sizes(request, opened.files)
    name = f"{published.name}_{variant}" if variant else published.name
    digest = digest_of(published.name, variant or "", sorted(request.options.items()), recognised(opened.files))
    whole = StoredImages(opened, name=name, digest=digest, provenance=published.provenance, licence=published.licence)
    return opened, whole


def _held(opened: Opened, target: ImageSet, resample: Resample, *, packed: bool) -> ImageSet:
    images = opened.held_in_memory(target.shape[:2], resample, packed=packed)
    return StoredImages(
        replace(opened, images=images, order=None),
        name=target.name,
        digest=target.digest,
        provenance=target.provenance,
        licence=target.licence,
    )


def _cached(
    request: Request, opened: Opened, target: ImageSet, resample: Resample, path: Path, report: Report | None
) -> ImageSet:
    if not checked_cache(path, target.digest):
        convert(opened, target, resample, path, _made_from(request, opened), report=report)
    return open_converted(path)[0]


def _made_from(request: Request, opened: Opened) -> dict[str, Any]:
    return {
        "variant": request.variant,
        "options": dict(request.options),
        "files": [path.name for path in opened.files[:8]],
    }


def _of_converted(
    request: Request,
    variant: str | None,
    given: Mapping[str, Any],
    size: int | tuple[int, int] | None,
    resample: Resample,
) -> ImageSet:
    """Return a set that was converted before, if it is the one that was asked for."""
    found, facts = open_converted(request.path)
    asked = {"name": request.published.name, "variant": variant, **given}
    held = {"variant": facts.made_from["variant"], **facts.made_from["options"]}
    held["name"] = facts.name.removesuffix(f"_{held['variant']}")
    for what, value in asked.items():
        if value is not None and held.get(what) != value:
            raise InputError(what, f"{request.path} was converted from {quoted(held.get(what))}, got {quoted(value)}")
    return found if size is None else found.resized(size, checked_resample(resample))
