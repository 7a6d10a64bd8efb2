"""Bytes that hold arrays and JSON, with a checksum, and nothing that runs when they are read."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleError, FormatError, IncompatibleState, InputTypeError, quoted, shortened
from demele.core.reading import check_characters, check_nesting, parsing
from demele.streaming.settings import plain_setting

#: First bytes, with the number of the format.
MAGIC = b"demele-accumulator-2\n"
CHECKSUM = 16
#: Kinds of arrays that are written as they are in memory; objects are written as JSON.
_PLAIN_KINDS = "biufUSMm"


class Archive:
    """Arrays that go into one archive, behind one another; the header says where each is."""

    def __init__(self) -> None:
        self._listed: list[dict[str, Any]] = []
        self._data: list[bytes] = []

    def put(self, array: NDArray[Any]) -> int:
        """Add an array and return its number."""
        if array.dtype.kind == "O":
            self._listed.append({"objects": plain_setting(array, "accumulator")})
        elif array.dtype.kind in _PLAIN_KINDS:
            data = np.ascontiguousarray(array).tobytes()
            self._listed.append({"dtype": array.dtype.str, "shape": list(array.shape), "size": len(data)})
            self._data.append(data)
        else:
            raise InputTypeError("accumulator", f"cannot write a column of {array.dtype} as bytes")
        return len(self._listed) - 1

    def written(self, about: Mapping[str, Any]) -> bytes:
        """Return the archive."""
        header = json.dumps({"arrays": self._listed, **about}).encode()
        body = b"".join([len(header).to_bytes(8, "little"), header, *self._data])
        return MAGIC + checksum(body) + body


class Arrays:
    """The arrays of an archive."""

    def __init__(self, listed: list[dict[str, Any]], data: NDArray[np.uint8]) -> None:
        self._listed = listed
        sizes = [count(one.get("size", 0)) for one in listed]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        if int(self._starts[-1]) != data.size:
            raise FormatError("accumulator", f"expected {int(self._starts[-1])} bytes of arrays, got {data.size}")
        self._data = data

    def get(self, index: int) -> NDArray[Any]:
        """Return an array by its number."""
        about = self._listed[count(index)]
        if "objects" in about:
            found = np.empty(len(about["objects"]), dtype=object)
            found[:] = about["objects"]
            return found
        dtype = np.dtype(str(about["dtype"]))
        if dtype.kind not in _PLAIN_KINDS:
            raise FormatError("accumulator", f"it holds an array of {dtype}")
        data = self._data[self._starts[index] : self._starts[index + 1]].tobytes()
        array = np.frombuffer(data, dtype=dtype).reshape([count(size) for size in about["shape"]]).copy()
        check_characters("accumulator", array)
        return array


def opened(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the header of an archive, and its arrays.

    Raises
    ------
    FormatError
        If the bytes are no archive, or damaged.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputTypeError("accumulator", f"expected bytes, got {type(data).__name__}")
    data = bytes(data)
    start = len(MAGIC) + CHECKSUM
    if not data.startswith(MAGIC):
        raise FormatError("accumulator", "these are not the bytes of an accumulator, or of another version of demele")
    if data[len(MAGIC) : start] != checksum(data[start:]):
        raise FormatError("accumulator", f"its {len(data)} bytes are damaged or cut off: their checksum differs")
    with refusing():
        end = start + 8 + int.from_bytes(data[start : start + 8], "little")
        header = data[start + 8 : end]
        check_nesting("accumulator", header)
        about = json.loads(header.decode())
        return about, Arrays(about["arrays"], np.frombuffer(data[end:], dtype=np.uint8))


def checksum(body: bytes) -> bytes:
    """Return the checksum of what follows it."""
    return blake2b(body, digest_size=CHECKSUM).digest()


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what forged bytes provoke into one error that says so."""
    what = "accumulator: its bytes do not hold what they should"
    with parsing(what):
        try:
            yield
        except (IncompatibleState, FormatError):
            raise
        except DemeleError as error:
            raise FormatError(f"{what} ({shortened(str(error), 400)})") from error


def count(value: Any) -> int:
    """Return a whole number of at least 0, as a header should hold it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError("accumulator", f"expected a whole number of at least 0, got {quoted(value)}")
    return value
