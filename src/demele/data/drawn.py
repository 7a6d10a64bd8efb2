"""Sets of images by name: drawn by a formula, with the facts about them; and sets that a text names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import ClassVar

from demele.core.errors import AmbiguousKindWarning, InputError
from demele.core.names import checked_name, suggestion
from demele.data.catalogue import DRAWN, ImageSetFacts, facts_of_drawn, image_set_names
from demele.data.images import ImageSet
from demele.data.own_files import open_images, save_images


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
            raise InputError(
                f"{images}: there is no such file, and no set of that name{suggestion(str(images), DRAWN)}"
            )
        with warnings.catch_warnings(action="ignore", category=AmbiguousKindWarning):
            images = open_images(images)
    return images if image_size is None else images.resized(image_size)
