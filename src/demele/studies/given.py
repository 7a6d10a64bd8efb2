"""What an examination is given: codes, factors and images that belong together, or a refusal that says why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import is_number
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.inputs import Missing, read_factors
from demele.core.results import Note
from demele.data.array_images import ArrayImages
from demele.data.images import ImageSet
from demele.data.sample import Sample
from demele.studies.codes_file import CodesFile

if TYPE_CHECKING:
    import pandas as pd

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
            f"expected a Sample or the name of a file, got {type(sample).__name__}; demele.models.encode returns one",
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
    _check_same_rows(held.sample.factors, images.factors())
    return images


def _known(factors: pd.DataFrame) -> pd.DataFrame | None:
    """Return factors, or None if there are none: images then have none."""
    return factors if factors.shape[1] else None


def _check_same_rows(own: pd.DataFrame, of_images: pd.DataFrame) -> None:
    """Refuse images whose factors contradict those of the codes: they are of other rows, or in another order."""
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


def _contradictions(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows in which two columns of a factor differ.

    Missing annotations contradict nothing, positions do not contradict the values that they are of, nor texts numbers.
    """
    import pandas as pd

    both = np.flatnonzero(pd.notna(one) & pd.notna(other))
    one, other = one[both], other[both]
    if (one.dtype.kind in "iufb") != (other.dtype.kind in "iufb"):
        return both[:0]
    if one.dtype.kind not in "iufb":
        return np.asarray(both[one.astype(str) != other.astype(str)])
    first, second = one.astype(np.float64), other.astype(np.float64)
    odd = np.abs(first - second) > _SAME * np.abs(first).max(initial=0.0)
    if odd.any() and np.array_equal(_ranks(first), _ranks(second)):
        return both[:0]
    return np.asarray(both[odd])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the position of each number among the different ones."""
    return np.unique(values, return_inverse=True)[1].ravel()


def checked_range(value_range: Any) -> tuple[float, float]:
    """Return what black and white are among pixels.

    Raises
    ------
    InputTypeError
    """
    ends: Sequence[Any] = tuple(value_range) if isinstance(value_range, tuple | list) else ()
    if len(ends) != 2 or not all(is_number(end) and np.isfinite(end) for end in ends) or ends[0] == ends[1]:
        raise InputTypeError("value_range", f"expected (black, white), such as (0, 1), got {quoted(value_range)}")
    return float(ends[0]), float(ends[1])
