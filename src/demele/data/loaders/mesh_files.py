"""Files of MATLAB 5 that hold the pictures of one object each, as Cars3D was published."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from demele.core.errors import FormatError
from demele.core.reading import parsing
from demele.data.loaders.matlab_files import PACKED, byte_order
from demele.data.loaders.stores import Pixels, Shape, Store

#: Bytes before the first variable; the last four say the version and the order of bytes.
_HEADER = 128
#: Bytes that a variable takes beside its numbers: name, sizes, filling.
_SLACK = 4096


class MeshStore(Store):
    """Pictures of objects from all sides: by object, then elevation, then azimuth.

    Parameters
    ----------
    files : sequence of Path
        One for each object, each with ``im``, uint8 of shape (H, W, C, azimuths, elevations).
    shape : (int, int, int)
        Height, width, channels.
    azimuths, elevations : int
    """

    def __init__(self, files: Sequence[Path], shape: Shape, azimuths: int, elevations: int) -> None:
        super().__init__(str(files[0].parent), len(files) * azimuths * elevations, shape)
        self._files = tuple(files)
        self._sides = (azimuths, elevations)

    def blocks(self) -> Iterator[tuple[int, Pixels]]:
        """Yield all images; see :meth:`Store.blocks`.

        Raises
        ------
        FormatError
            If a file is damaged, or holds something else.
        """
        from scipy.io import loadmat

        each = self._sides[0] * self._sides[1]
        for number, path in enumerate(self._files):
            check_mesh(path, (*self.shape, *self._sides))
            with parsing(f"{path}: damaged or cut off; copy it again"):
                plain = _unpacked(path, each * math.prod(self.shape) + _SLACK)
                pictures: Pixels = loadmat(plain, variable_names=["im"])["im"]
                if pictures.shape != (*self.shape, *self._sides) or pictures.dtype != np.uint8:
                    raise FormatError(f"{path}: damaged; copy it again")
            yield number * each, np.ascontiguousarray(pictures.transpose(4, 3, 0, 1, 2)).reshape(each, *self.shape)


def _unpacked(path: Path, most: int) -> io.BytesIO:
    """Return a file with its variables unpacked, none to more than it may have: a few bytes can declare gigabytes."""
    content = path.read_bytes()
    order = {b"IM": "<", b"MI": ">"}[content[126:128]]
    plain = io.BytesIO()
    plain.write(content[:_HEADER])
    place = _HEADER
    while place < len(content):
        kind, length = struct.unpack(f"{order}II", content[place : place + 8])
        held = content[place : place + 8 + length]
        place += 8 + length
        if kind == PACKED:
            inflated = zlib.decompressobj()
            held = inflated.decompress(held[8:], most + 1)
            if len(held) > most or not inflated.eof:
                raise FormatError(f"{path}: damaged: a variable takes more than {most:,} bytes, or is cut off")
        plain.write(held)
    plain.seek(0)
    return plain


def check_mesh(path: Path, shape: Sequence[int]) -> None:
    """Look whether a file of MATLAB 5 holds ``im`` of a shape, from what it says of itself.

    Raises
    ------
    FormatError
        If it does not, or is of another version of MATLAB.
    """
    from scipy.io import whosmat

    byte_order(path, "Cars3D")
    with parsing(f"{path}: damaged or cut off; copy it again"):
        held = {name: (tuple(sizes), kind) for name, sizes, kind in whosmat(path)}
    if "im" not in held:
        raise FormatError(f"{path}: expected a variable 'im', found {', '.join(map(repr, held)) or 'nothing'}")
    if held["im"] != (tuple(shape), "uint8"):
        found, kind = held["im"]
        raise FormatError(f"{path}: expected 'im' of uint8 and shape {tuple(shape)}, found {kind} and shape {found}")
