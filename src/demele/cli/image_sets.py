"""Image sets that a command is given: by name where a formula draws them, else from a file or a folder."""

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from demele.core.errors import AmbiguousKindWarning, InputError
from demele.core.names import suggestion

if TYPE_CHECKING:
    from demele.data import ImageSet


def named_images(text: str, size: int | None = None) -> "ImageSet":
    """Return the images that a command names; kinds of factors are asked for where codes are scored.

    Parameters
    ----------
    text : str
        ``sprites``, ``room``, ``squares``, ``clutter``, or an ``.npz``, ``.npy`` or folder; ``./sprites`` is a folder.
    size : int, optional
        Height and width; by default those of what is drawn, and as they are of files.

    Raises
    ------
    InputError, FormatError
    """
    from demele.data import open_images
    from demele.data.catalogue import DRAWN

    if text in DRAWN:
        return DRAWN[text][0](**({} if size is None else {"size": size}))
    if not Path(text).exists():
        raise InputError(f"{text}: there is no such file, and no set of that name{suggestion(text, DRAWN)}")
    with warnings.catch_warnings(action="ignore", category=AmbiguousKindWarning):
        found = open_images(text)
    return found if size is None else found.resized(size)


def refuse_own_images(name: str) -> None:
    """Refuse a file or folder of images where the name of a known set is expected, saying what looks at it.

    Raises
    ------
    InputError
    """
    from demele.data import image_set_names

    if name not in image_set_names() and Path(name).exists():
        raise InputError(
            f"NAME: {name} is no name of a set, but a file or folder; demele.data.open_images({name!r}) looks at "
            f"images of your own in Python, and demele vae train {shlex.quote(name)} --output run takes them"
        )
