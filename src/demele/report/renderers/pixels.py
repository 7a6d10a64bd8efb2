"""Small whole numbers as a PNG of one pixel each."""

import struct
import zlib
from collections.abc import Sequence


def pixels(rows: Sequence[Sequence[int]], palette: Sequence[str]) -> bytes:
    """Return a PNG with one pixel for each number, which is the place of its colour (such as ``#ff0000``)."""
    lines = b"".join(b"\0" + bytes(row) for row in rows)
    colours = b"".join(bytes.fromhex(colour[1:]) for colour in palette)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
