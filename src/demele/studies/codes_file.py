"""Codes with their factors and images: from a file or a sample, checked that they belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from demele.core.array_files import members_of, opened_archive, read_member
from demele.core.arrays import Array, Bytes, Floats, Rows, pd
from demele.core.errors import FormatError, InputError, InputTypeError, quoted
from demele.core.inputs import Missing, read_factors
from demele.core.reading import check_unpacked, regular_file
from demele.core.result import Note
from demele.data.array_images import ArrayImages, columns_of, factor_table
from demele.data.images import ImageSet
from demele.data.space import Sample

# Files ----------------------------------------------------------------------------------------------------------------


#: What a file may hold beside factors under their own names.
ARRAYS = ("codes", "codes_std", "factors", "factor_names", "images", "reconstructions", "traversals")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodesFile:
    """What a file holds.

    Attributes
    ----------
    sample : Sample
    images : ImageSet or None
    reconstructions : array of uint8 of shape (n_samples, height, width, channels), or None
    traversals : array of uint8 of shape (n_codes, steps, height, width, channels), or None
    notes : tuple of Note
        What is left out.
    """

    sample: Sample
    images: ImageSet | None
    reconstructions: Bytes | None
    traversals: Bytes | None
    notes: tuple[Note, ...] = ()


def is_arrays_file(path: Path) -> bool:
    """Whether a file is an archive of arrays, which may hold codes; files of PyTorch are archives of other things."""
    if not path.is_file() or not is_zipfile(path):
        return False
    with opened_archive(path) as archive:
        return bool(members_of(archive)) and all(name.endswith(".npy") for name in archive.namelist())


def read_codes_file(path: Path) -> CodesFile:
    """Read codes and what belongs to them.

    Parameters
    ----------
    path : Path
        An ``.npz`` with ``codes`` (n, d), and if they are known ``codes_std`` (n, d); ``factors`` (n, M) with
        ``factor_names``, or a column (n,) for each factor under its name; ``images`` and ``reconstructions``
        (n, H, W[, C]); ``traversals`` (d, steps, H, W[, C]). Pictures are bytes, or numbers from 0 to 1.

    Raises
    ------
    FormatError
        If there is no such file, it is no archive, holds Python objects, or arrays of other shapes.
    """
    try:
        size = regular_file(path)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    with opened_archive(path) as archive:
        members = members_of(archive)
        if "codes" not in members:
            raise FormatError(path, f"expected an array 'codes', found {', '.join(sorted(members)) or 'nothing'}")
        check_unpacked(path, sum(info.file_size for info in members.values()), stored=size)
        arrays = {name: read_member(archive, info) for name, info in members.items()}
    codes = _columns(path, arrays, "codes")
    n, d = codes.shape
    names = [f"z{number}" for number in range(1, d + 1)]
    std = _columns(path, arrays, "codes_std") if "codes_std" in arrays else None
    # single columns, which may be texts, before the columns of one table
    given = {name: held for name, held in arrays.items() if name not in ARRAYS and held.shape == (n,)}
    if "factors" in arrays:
        table = columns_of(path, arrays["factors"], arrays.get("factor_names"))
        given = {name: given.get(name, column) for name, column in table.items()}
    try:
        factors = factor_table(given, n)
        sample = Sample(pd.DataFrame(codes, columns=names), factors, f"Codes of the file {path.name}.", codes_std=std)  # type: ignore[arg-type]
        known = factors if factors.shape[1] else None
        images = ArrayImages(arrays["images"], known, name=path.name) if "images" in arrays else None
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(path, str(error)) from error
    still = tuple(name for name in given if name not in factors.columns)
    message = f"factors that do not vary are left out: {', '.join(map(quoted, still))}"
    return CodesFile(
        sample=sample,
        images=images,
        reconstructions=_pictures(path, arrays, "reconstructions", (n,)),
        traversals=_pictures(path, arrays, "traversals", (d,)),
        notes=(Note(code="constant-factors", message=message, subject=still, severity="warning"),) if still else (),
    )


def _columns(path: Path, arrays: Mapping[str, Array], name: str) -> Floats:
    held = arrays[name]
    held = held[:, None] if held.ndim == 1 else held
    if held.ndim != 2 or held.dtype.kind not in "iuf" or not held.size:
        raise FormatError(f"{path}::{name}", f"expected numbers of shape (n, n_codes), found {held.dtype} {held.shape}")
    return held.astype(np.float64)


def _pictures(path: Path, arrays: Mapping[str, Array], name: str, first: tuple[int, ...]) -> Bytes | None:
    """Return pictures as bytes with channels, one set per row or code."""
    if name not in arrays:
        return None
    held = arrays[name]
    axes = 3 if name == "reconstructions" else 4
    held = held[..., None] if held.ndim == axes else held
    if held.ndim != axes + 1 or held.shape[: len(first)] != first or held.shape[-1] not in (1, 3):
        wanted = "(n, H, W[, C])" if axes == 3 else "(n_codes, steps, H, W[, C])"
        raise FormatError(f"{path}::{name}", f"expected shape {wanted} with {first[0]} first, found {held.shape}")
    if held.dtype == np.uint8:
        return held
    if held.dtype.kind != "f" or not ((held >= -0.01) & (held <= 1.01)).all():
        raise FormatError(f"{path}::{name}", "expected bytes, or numbers from 0 to 1")
    return np.asarray(np.rint(np.clip(held, 0, 1) * 255).astype(np.uint8))


# Samples --------------------------------------------------------------------------------------------------------------


#: How far numbers of a factor may differ, relative to the largest: single precision differs by less.
_SAME = 1e-5


def given_sample(sample: Any) -> CodesFile:
    """Return a sample as what a file would hold.

    Raises
    ------
    InputTypeError
    """
    if not isinstance(sample, Sample):
        raise InputTypeError(
            "sample",
            f"expected a Sample or the name of a file, got {type(sample).__name__}; demele.lab.encode returns one",
        )
    images = sample.images
    held = None if images is None else ArrayImages(images, _known(sample.factors), space=sample.space)
    return CodesFile(sample=sample, images=held, reconstructions=None, traversals=None)


def check_finite(sample: Sample) -> None:
    """Refuse codes that are not finite, with the factors of the first such row.

    Raises
    ------
    InputError
    """
    wrong = np.flatnonzero(~np.isfinite(sample.codes.to_numpy(np.float64)).all(axis=1))
    if wrong.size:
        values = sample.factors.iloc[wrong[0]].to_dict()
        told = ", ".join(f"{key} {value}" for key, value in values.items()) or "no factors"
        raise InputError(
            "codes",
            f"codes of {wrong.size} of {len(sample.codes)} rows are not finite, first of row {wrong[0]} ({told})",
        )


def check_annotated(factors: pd.DataFrame, *, kinds: object, missing: Missing) -> list[Note]:
    """Refuse factors with missing annotations, or return a note on how many there are.

    Raises
    ------
    InputError
        As :func:`demele.evaluate`.
    """
    if not factors.shape[1]:
        return []
    lacking = factors.isna().sum()
    read_factors(factors, kinds=kinds, missing=missing)
    told = [f"{quoted(name)} in {count:,}" for name, count in lacking.items() if count]
    if not told:
        return []
    message = f"of {len(factors):,} rows annotations are missing of {', '.join(told)}: each is judged on the others"
    subject = tuple(str(name) for name, count in lacking.items() if count)
    return [Note(code="missing-annotations", message=message, subject=subject)]


def checked_images(images: Any, held: CodesFile) -> ImageSet | None:
    """Return the images of the codes: given, or those of the file.

    Raises
    ------
    InputError, InputTypeError
        If they are no images, more or fewer than codes, or of other factors.
    """
    if images is None:
        return held.images
    if isinstance(images, np.ndarray):
        images = ArrayImages(images, _known(held.sample.factors))
    if not isinstance(images, ImageSet):
        raise InputTypeError("images", f"expected an image set or an array, got {type(images).__name__}")
    n = len(held.sample.codes)
    if len(images) != n:
        raise InputError(
            "images",
            f"expected {n:,}, one per row of the codes, got {len(images):,}; of a part of a set give "
            "images.subset(rows)",
        )
    own, of_images = held.sample.factors, images.factors()
    for name in own.columns.intersection(of_images.columns):
        odd = _contradictions(np.asarray(own[name]), np.asarray(of_images[name]))
        if odd.size:
            row = int(odd[0])
            raise InputError(
                ("sample", "images"),
                f"expected the same rows, but {odd.size:,} of {len(own):,} differ in {quoted(name)}: row {row} is "
                f"{own[name].iloc[row]} with the codes, {of_images[name].iloc[row]} with the images",
                "give the images in the order in which they were encoded, images.subset(rows)",
            )
    return images


def _known(factors: pd.DataFrame) -> pd.DataFrame | None:
    """Return factors, or None if there are none: images then have none."""
    return factors if factors.shape[1] else None


def _contradictions(one: Array, other: Array) -> Rows:
    """Return the rows in which two columns of a factor differ.

    Missing annotations contradict nothing, positions do not contradict the values that they are of, nor texts numbers.
    """
    both = np.flatnonzero(pd.notna(one) & pd.notna(other))
    one, other = one[both], other[both]
    if (one.dtype.kind in "iufb") != (other.dtype.kind in "iufb"):
        return both[:0]
    if one.dtype.kind not in "iufb":
        return np.asarray(both[one.astype(str) != other.astype(str)])
    first, second = one.astype(np.float64), other.astype(np.float64)
    odd = np.abs(first - second) > _SAME * np.abs(first).max(initial=0.0)
    # positions among the different numbers
    ranks, others = (np.unique(values, return_inverse=True)[1] for values in (first, second))
    return both[:0] if np.array_equal(ranks, others) else np.asarray(both[odd])
