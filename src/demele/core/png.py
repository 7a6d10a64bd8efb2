"""Images as PNG files in memory, without any other library."""

import struct
import zlib
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
#: Pixels between images, and their grey.
_GAP, _GREY = 2, 160
#: How images are made smaller until they fit: bits that are dropped, and pixels of which one is kept.
_WAYS = ((0, 1), (3, 1), (4, 1), (4, 2), (5, 4), (5, 8))


def png(pixels: Pixels) -> bytes:
    r"""Return an image as a PNG file.

    Parameters
    ----------
    pixels : array of uint8 of shape (height, width), or (height, width, channels) with 1 or 3 channels

    Examples
    --------
    >>> png(np.zeros((2, 3), dtype=np.uint8))[:4]
    b'\x89PNG'
    """
    tall, wide = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels, dtype=np.uint8).reshape(tall, -1)
    colours = 2 if rows.shape[1] == 3 * wide else 0
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", wide, tall, 8, colours, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def strip(rows: Iterable[Pixels]) -> Pixels:
    """Put images side by side, and rows of them below each other, with gaps; channels after the third are dropped.

    Parameters
    ----------
    rows : iterable of array of uint8 of shape (n, height, width, channels)

    Examples
    --------
    >>> strip([np.zeros((3, 4, 4, 1), dtype=np.uint8)] * 2).shape
    (10, 16, 1)
    """
    lines = []
    for images in rows:
        shown = images if images.shape[3] == 1 else images[..., :3]
        padded = np.pad(shown, ((0, 0), (0, _GAP), (0, _GAP), (0, 0)), constant_values=_GREY)
        lines.append(np.concatenate(list(padded), axis=1)[:, :-_GAP])
    wide = max(line.shape[1] for line in lines)
    whole = [np.pad(one, ((0, 0), (0, wide - one.shape[1]), (0, 0)), constant_values=_GREY) for one in lines]
    return np.concatenate(whole)[:-_GAP]


def within(most: int, pictures: Mapping[str, Pixels]) -> tuple[dict[str, bytes], str]:
    """Return images as PNG files of at most so many bytes together, and a sentence on what they lost for it."""
    found: dict[str, bytes] = {}
    for bits, kept in _WAYS:
        found = {key: png((one[::kept, ::kept] >> bits << bits).astype(np.uint8)) for key, one in pictures.items()}
        if sum(map(len, found.values())) <= most:
            break
    size = f" and every {kept}th pixel" if kept > 1 else ""
    return found, f"Images have {2 ** (8 - bits)} levels of each colour{size}, to limit the size." if bits else ""
