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
from demele.core.reading import parsing, regular_file
from demele.data.loaders.stores import Pixels, Shape, Store

_HDF5 = b"\x89HDF"
#: Bytes before the first variable; the last four say the version and the order of bytes.
_HEADER = 128
#: The kind of a variable that zlib packed.
_PACKED = 15
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
        if kind == _PACKED:
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

    size = regular_file(path)
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if header.startswith(_HDF5) or header[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
        raise FormatError(
            f"{path}: a file of MATLAB 7.3, which is HDF5; Cars3D was published in MATLAB 5: save it with -v6 or -v7"
        )
    order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
    if len(header) < _HEADER or order is None:
        raise FormatError(f"{path}: not a file of MATLAB 5: it does not begin as one")
    _check_end(path, size, order)
    with parsing(f"{path}: damaged or cut off; copy it again"):
        held = {name: (tuple(sizes), kind) for name, sizes, kind in whosmat(path)}
    if "im" not in held:
        raise FormatError(f"{path}: expected a variable 'im', found {', '.join(map(repr, held)) or 'nothing'}")
    if held["im"] != (tuple(shape), "uint8"):
        found, kind = held["im"]
        raise FormatError(f"{path}: expected 'im' of uint8 and shape {tuple(shape)}, found {kind} and shape {found}")


def _check_end(path: Path, size: int, order: str) -> None:
    """Follow the lengths of the variables to the end: a file that was cut off ends before."""
    place = _HEADER
    with path.open("rb") as file:
        while place < size:
            file.seek(place)
            tag = file.read(8)
            length = struct.unpack(f"{order}I", tag[4:])[0] if len(tag) == 8 else size
            place += 8 + length
    if place > size:
        raise FormatError(f"{path}: cut off: expected at least {place:,} bytes, found {size:,}; copy it again")
