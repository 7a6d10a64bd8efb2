"""Pictures of a page about a trained model: strips of images as PNG in the page itself, at most so many bytes."""

import base64
import io
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require

__all__ = ["GAP", "Album", "enlargement", "strip"]

#: Bytes of all pictures of a page, before they are written as text, which makes them a third larger.
MOST_BYTES = 1_900_000
#: How pictures are made smaller, until they fit: colours (None: all), and every how many pixels one is kept.
_WAYS = ((None, 1), (64, 1), (16, 1), (16, 2), (16, 4), (8, 8))
#: Pixels between images, and their grey.
GAP, _GREY = 2, 160
#: An image is drawn at least so wide, by whole factors.
_WIDE = 64


class Album:
    """The pictures of a page, encoded together.

    Parameters
    ----------
    pictures : mapping of name to array of uint8 of shape (height, width, channels)

    Raises
    ------
    MissingExtraError
        Without Pillow, if there is any picture.
    """

    def __init__(self, pictures: Mapping[str, NDArray[np.uint8]]) -> None:
        self._sizes = {name: picture.shape[1::-1] for name, picture in pictures.items()}
        self.colours: int | None = None
        self.kept = 1
        self._encoded: dict[str, bytes] = {}
        for self.colours, self.kept in _WAYS:
            self._encoded = {name: png(one, self.colours, self.kept) for name, one in pictures.items()}
            if sum(map(len, self._encoded.values())) <= MOST_BYTES:
                break

    def size(self, name: str) -> tuple[int, int]:
        """Return width and height of a picture, in its own pixels."""
        width, height = self._sizes[name]
        return width, height

    def attributes(self, name: str, factor: int) -> dict[str, Any]:
        """Return what an ``img`` needs to show a picture, each pixel as a square of so many."""
        width, height = self._sizes[name]
        source = "data:image/png;base64," + base64.b64encode(self._encoded[name]).decode()
        return {"src": source, "width": width * factor, "height": height * factor, "class_": "pixels"}


def png(picture: NDArray[np.uint8], colours: int | None = None, kept: int = 1) -> bytes:
    """Return a picture as a PNG file."""
    image_module = require("PIL.Image", purpose="a page with pictures")
    shown = np.ascontiguousarray(picture[::kept, ::kept])
    image = image_module.fromarray(shown[..., 0] if shown.shape[2] == 1 else shown[..., :3])
    if colours is not None:
        image = image.quantize(colours)
    file = io.BytesIO()
    image.save(file, format="PNG", optimize=True)
    return file.getvalue()


def strip(rows: Iterable[NDArray[np.uint8]], *, grey: int = _GREY) -> NDArray[np.uint8]:
    """Put images side by side, and rows of them below each other, with gaps.

    Parameters
    ----------
    rows : iterable of array of uint8 of shape (n, height, width, channels)
    grey : int
        Of the gaps, 0 to 255.

    Examples
    --------
    >>> strip([np.zeros((3, 4, 4, 1), dtype=np.uint8)] * 2).shape
    (10, 16, 1)
    """
    lines = []
    for images in rows:
        wide = np.pad(images, ((0, 0), (0, 0), (0, GAP), (0, 0)), constant_values=grey)
        line = np.concatenate(list(wide), axis=1)[:, : -GAP or None]
        lines.append(np.pad(line, ((0, GAP), (0, 0), (0, 0)), constant_values=grey))
    return np.concatenate(lines)[: -GAP or None]


def enlargement(width: int) -> int:
    """Return how many pixels of a screen, each way, one of an image takes.

    Examples
    --------
    >>> enlargement(16), enlargement(32), enlargement(64), enlargement(128)
    (4, 2, 1, 1)
    """
    return max(1, _WIDE // width)
