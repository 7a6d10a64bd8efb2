"""What a perturbation test was given, checked once: images, maps, labels, and what is known of these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from demele.core.checked_numbers import checked_whole, is_whole
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.labelled import Indices, Vocabulary, read_labels, vocabulary
from demele.core.names import checked_name
from demele.core.sentences import arg, give, setting
from demele.evaluation.explanations.courses import Measured
from demele.evaluation.explanations.destruction import Images
from demele.evaluation.intervals import checked_confidence
from demele.evaluation.question import classes_of, read_noise
from demele.noise.audit import Audit

Floats = NDArray[np.float64]

#: By default an image has at most so many regions along its longer side, and so many of all are destroyed.
MOST_ACROSS, MOST_STEPS = 16, 100
#: What the map is called that was given without a name.
NAMELESS = "map"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Checked arguments.

    Attributes
    ----------
    images : array of shape (n, height, width, channels)
    ends : (float, float)
        Darkest and brightest value.
    maps : mapping of name to array of shape (n, height, width)
    labels : array of shape (n,) or None
        As :func:`demele.core.labelled.read_labels` returns them.
    words : Vocabulary or None
        The classes, where they were given.
    noise : float, TransitionMatrix, TransitionCounts or None
    measured : {"score", "accuracy"}
    level : float
    """

    images: Images
    ends: tuple[float, float]
    maps: Mapping[str, Floats]
    labels: NDArray[Any] | None
    words: Vocabulary | None
    noise: Any
    measured: Measured
    level: float

    @property
    def n(self) -> int:
        """Number of images."""
        return len(self.images)


def checked(
    images: Any, maps: Any, labels: object, noise: Any, measure: Any, classes: Sequence[object] | None, level: float
) -> Inputs:
    """Check what was given.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
    """
    shown, ends = _read_images(images)
    known, measured = _read_noise(noise), _read_measure(measure, labels, noise)
    own = classes_of(known, None, classes)
    read = None if labels is None else read_labels(labels, "labels")
    if read is not None and len(read) != len(shown):
        raise InputError("labels", f"expected {len(shown)} labels, one per image, got {len(read)}")
    named = maps if isinstance(maps, Mapping) else {NAMELESS: maps}
    if not named:
        raise NotEnoughData("maps", "expected at least 1 map, got none")
    return Inputs(
        images=shown,
        ends=ends,
        maps={str(name): _read_map(one, str(name), shown.shape) for name, one in named.items()},
        labels=read,
        words=None if own is None else vocabulary(np.empty(0), classes=own),
        noise=known,
        measured=measured,
        level=checked_confidence(level),
    )


def _read_images(images: Any) -> tuple[Images, tuple[float, float]]:
    found = np.asarray(images)
    if found.dtype.kind not in "fiu":
        hint = "; draw them: images.images(range(len(images)))" if hasattr(images, "images") else ""
        raise InputTypeError("images", f"expected an array of numbers, got values of type {found.dtype}{hint}")
    if found.ndim == 3:
        found = found[..., None]
    if found.ndim != 4 or 0 in found.shape:
        raise InputError(
            "images", f"expected shape (n, height, width) or (n, height, width, channels), got shape {np.shape(images)}"
        )
    if len(found) < 2:
        raise NotEnoughData("images", "expected at least 2 images, for an interval, got 1")
    if found.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(found).all(axis=(1, 2, 3)))
        if wrong.size:
            raise InputError(
                "images",
                f"{wrong.size} of {len(found)} images hold values that are not finite, first at row {wrong[0]}",
            )
        return found, (float(found.min()), float(found.max()))
    if found.min() < 0 or found.max() > 255:
        raise InputError(
            "images",
            f"expected whole numbers from 0 to 255, got {found.min()} to {found.max()}; pass other values as real "
            "numbers, images.astype(float)",
        )
    return found.astype(np.uint8, copy=False), (0.0, 255.0)


def _read_map(given: Any, name: str, shape: tuple[int, ...]) -> Floats:
    argument = "maps" if name == NAMELESS else f"maps[{name!r}]"
    found = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if found.dtype.kind not in "fiub":
        raise InputTypeError(argument, f"expected an array of numbers, got values of type {found.dtype}")
    if found.shape not in (shape, shape[:3]):
        raise InputError(
            argument,
            f"expected a map per image, shape {shape[:3]} or {shape}, got shape {found.shape}"
            + ("; channels come last" if found.ndim == 4 and found.shape[2:] == shape[1:3] else ""),
        )
    whole = found.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(whole.reshape(len(whole), -1)).all(axis=1))
    if wrong.size:
        raise InputError(
            argument, f"{wrong.size} of {len(whole)} maps hold values that are not finite, first at row {wrong[0]}"
        )
    return whole.sum(axis=3) if whole.ndim == 4 else whole


def _read_noise(noise: Any) -> Any:
    if isinstance(noise, Audit):
        raise InputTypeError(
            "noise",
            "an audit cannot be used: confirmed labels do not check predictions on destroyed images; give a limit "
            "of the share of wrong labels, or a noise transition matrix",
        )
    return read_noise(noise)


def _read_measure(measure: Any, labels: object, noise: Any) -> Measured:
    if measure is not None:
        checked_name(measure, "measure", get_args(Measured))
    found: Measured = measure or ("score" if labels is None else "accuracy")
    if found == "accuracy" and labels is None:
        raise InputError("labels", f"the accuracy is measured against labels: give them, or {give(measure='score')}")
    if noise is not None and found == "score":
        raise InputError(
            "noise",
            f"outputs for a class do not depend on labels, so their noise does not matter; leave out {arg('noise')}, "
            f"or give {arg('labels')} and {setting(measure='accuracy')}",
        )
    return found


def checked_region(region: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return height and width of a region."""
    if region is None:
        side = -(-max(shape) // MOST_ACROSS)
        return side, side
    sides = tuple(region) if isinstance(region, tuple | list) else (region, region)
    if len(sides) != 2 or not all(is_whole(side) for side in sides):
        raise InputTypeError("region", f"expected a side, or (height, width), in pixels, got {quoted(region)}")
    if min(sides) < 1 or all(side >= whole for side, whole in zip(sides, shape, strict=True)):
        raise InputError("region", f"expected 1 pixel or more, and several regions in an image of {shape}, got {sides}")
    return int(sides[0]), int(sides[1])


def checked_steps(steps: Any, count: int) -> int:
    """Return how many regions are destroyed."""
    if steps is None:
        return min(count, MOST_STEPS)
    expected = f"a whole number from 1 to {count}, the number of regions"
    return checked_whole(steps, "steps", expected, inside=lambda number: 1 <= number <= count)


def checked_targets(targets: Any, n: int, columns: int) -> Indices:
    """Return the column that is followed of each image."""
    found = np.asarray(targets)
    if found.shape != (n,) or found.dtype.kind not in "iu":
        raise InputError("targets", f"expected a column number for each of {n} images, got {quoted(targets)}")
    if found.min() < 0 or found.max() >= columns:
        raise InputError("targets", f"expected columns from 0 to {columns - 1}, got {found.min()} to {found.max()}")
    return found.astype(np.int32)
