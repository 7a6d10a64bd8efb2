"""Bytes of labelled sets as they were published, put together by hand: rows of CIFAR, and pickles of Python 2."""

import io
import struct
import tarfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def planes(images: Pixels) -> Pixels:
    """Red, then green, then blue, each row by row."""
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(len(images), -1)


def rows_of_bytes(images: Pixels, *labels: NDArray[np.int64]) -> bytes:
    """A byte for each label, then the planes, image by image."""
    return np.column_stack([*[one.astype(np.uint8) for one in labels], planes(images)]).tobytes()


class Python2Pickle:
    """What cPickle of Python 2.7 writes in protocol 2: texts as bytes, lists a thousand at a time, all kept."""

    def __init__(self) -> None:
        self.kept = 0

    def dumps(self, held: Any) -> bytes:
        return b"\x80\x02" + self.value(held) + b"."

    def keep(self) -> bytes:
        self.kept += 1
        number = self.kept
        return b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)

    def value(self, held: Any) -> bytes:
        if isinstance(held, bool):
            return b"\x88" if held else b"\x89"
        if isinstance(held, int):
            return b"K" + bytes([held]) if 0 <= held < 256 else b"J" + struct.pack("<i", held)
        if isinstance(held, str):
            plain = held.encode("latin-1")
            return b"U" + bytes([len(plain)]) + plain + self.keep()
        if isinstance(held, list):
            begun = b"]" + self.keep()
            pieces = [held[start : start + 1000] for start in range(0, len(held), 1000)]
            return begun + b"".join(b"(" + b"".join(map(self.value, piece)) + b"e" for piece in pieces)
        if isinstance(held, dict):
            begun = b"}" + self.keep()
            return begun + b"(" + b"".join(self.value(key) + self.value(one) for key, one in held.items()) + b"u"
        assert isinstance(held, np.ndarray)
        return self.array(held)

    def array(self, held: Pixels) -> bytes:
        """An array of bytes, as NumPy pickles it: made empty, then given its state."""
        content = held.tobytes()
        sizes = b"".join(b"M" + struct.pack("<H", side) for side in held.shape)
        made = (
            b"cnumpy.core.multiarray\n_reconstruct\n" + self.keep() + b"cnumpy\nndarray\n" + self.keep()
            + b"K\x00\x85" + self.keep() + self.value("b") + b"\x87" + self.keep() + b"R" + self.keep()
        )  # fmt: skip
        kind = (
            b"cnumpy\ndtype\n" + self.keep() + self.value("u1") + b"K\x00K\x01\x87" + self.keep() + b"R" + self.keep()
            + b"(K\x03" + self.value("|") + b"NNN" + 2 * b"J\xff\xff\xff\xff" + b"K\x00t" + self.keep() + b"b"
        )  # fmt: skip
        state = b"\x89T" + struct.pack("<i", len(content)) + content + self.keep()
        return made + b"(K\x01" + sizes + b"\x86" + self.keep() + kind + state + b"t" + self.keep() + b"b"


def tar_gz(files: Mapping[str, bytes], folder: str) -> bytes:
    """An archive of a folder and what is in it."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        above = tarfile.TarInfo(folder)
        above.type = tarfile.DIRTYPE
        archive.addfile(above)
        for name, content in files.items():
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return held.getvalue()


class Called:
    """Asks for a call where it is loaded."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.asked = function, arguments

    def __reduce__(self) -> Any:
        return self.asked
