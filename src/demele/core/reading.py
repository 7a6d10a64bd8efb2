"""Guards of everything that is read from outside: the kind of file, how large it may grow, what parsers raise.

Every reader of demele goes through these. A file that declares more than it may hold is refused before memory is
taken; whatever a parser raises becomes a :class:`demele.errors.FormatError` in :func:`parsing`, and nowhere else.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import numpy as np

from demele.core.arrays import Array
from demele.core.errors import DemeleError, FormatError, InputError, InputTypeError, quoted, shortened

#: How much more than its own size a file may take once it is unpacked, unless the user says otherwise.
LARGEST_UNPACKED = 512 << 20
#: What a value of JSON and a column of a table take in memory beside what they hold: upper estimates.
BYTES_PER_VALUE = 64
BYTES_PER_COLUMN = 16 << 10
#: Characters end here; the halves of pairs in UTF-16 are none.
LARGEST_CHARACTER = 0x10FFFF
HALVES = (0xD800, 0xDFFF)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_ALLOWED: ContextVar[int | None] = ContextVar("demele_largest_file", default=None)


@contextmanager
def unpacking_at_most(max_size: int | None) -> Iterator[None]:
    """Let files that are read within take so many bytes once unpacked; None: their own size and 512 MiB.

    Parameters
    ----------
    max_size : int >= 1 or None

    Raises
    ------
    InputError
        If it is no number of bytes.
    """
    if max_size is not None and (isinstance(max_size, bool) or not isinstance(max_size, int) or max_size < 1):
        raise InputError("max_size", f"expected a number of bytes from 1, or None, got {quoted(max_size)}")
    before = _ALLOWED.set(_ALLOWED.get() if max_size is None else max_size)
    try:
        yield
    finally:
        _ALLOWED.reset(before)


def bytes_of(text: str) -> int:
    """Read a size such as 500M, 8G or 8GiB.

    Raises
    ------
    InputError
        If it is no size.

    Examples
    --------
    >>> bytes_of("2G") == bytes_of("2 GiB") == 2 * 2**30
    True
    """
    found = re.fullmatch(r"(\d{1,18}(?:\.\d{1,6})?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    if size < 1:
        raise InputError(f"expected a size such as 500M or 8G, got {shortened(text)!r}")
    return size


def size_text(size: int) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> size_text(1800), size_text(6 * 2**30)
    ('1.76 KiB', '6 GiB')
    """
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):,.3g} {unit}" if size < 1000 << power else f"{size >> power:,} {unit}"
    return f"{size} bytes"


def most_unpacked(stored: int) -> int:
    """Return how many bytes may be taken by what is stored in so many."""
    allowed = _ALLOWED.get()
    return stored + LARGEST_UNPACKED if allowed is None else allowed


def check_unpacked(what: object, size: int, *, stored: int) -> None:
    """Refuse what would take more memory than it may.

    Parameters
    ----------
    what : object
        The file, for the message.
    size : int
        Bytes that it declares to take once it is unpacked.
    stored : int
        Bytes that it takes as it is.
    """
    most = most_unpacked(stored)
    if size > most:
        raise FormatError(
            what,
            f"its {size_text(stored)} declare {size_text(size)} of data, more than the {size_text(most)} that "
            f"are allowed; if it is meant to be so large, pass `max_size={1 << max(size - 1, 1).bit_length()}`",
        )


def path_of(value: Any, argument: str = "path") -> Path:
    """Return what names a file or folder as a path.

    Raises
    ------
    InputTypeError
        If it is no text and no path.
    """
    try:
        return Path(value)
    except TypeError as error:
        what = f"expected the path of a file or folder, got {type(value).__name__}"
        raise InputTypeError(argument, what) from error


def regular_file(path: Path) -> int:
    """Return the size of a file; refuse folders, pipes and devices, which are read for ever or not at all.

    Raises
    ------
    FormatError
        If it is none of these.
    OSError
        If there is no such file.
    """
    try:
        about = os.stat(path)
    except ValueError as error:  # a null byte in the name
        raise FormatError(f"{shortened(str(path))!r}: no name of a file ({error})") from error
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    kind = next((name for test, name in kinds.items() if test(about.st_mode)), "a device")
    if not stat.S_ISREG(about.st_mode):
        raise FormatError(f"{path}: expected a file, got {kind}")
    return about.st_size


def real_path(path: Path) -> Path:
    """Return where a path leads, to tell whether two are the same file; one that leads in a circle stays as it is."""
    return Path(os.path.realpath(path))


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """Open a file of text in UTF-8, with or without a mark at its beginning; line ends stay as they are."""
    regular_file(path)
    with open(path, encoding="utf-8-sig", newline="") as file:
        yield file


def read_whole(path: Path) -> bytes:
    """Return the content of a file that is one.

    Raises
    ------
    FormatError, OSError
        As :func:`regular_file`.
    """
    regular_file(path)
    return path.read_bytes()


def check_nesting(what: object, content: bytes) -> None:
    """Refuse JSON whose values would take more memory than a file may: a list within lists takes 40 times its text."""
    values = sum(content.count(sign) for sign in (b",", b"[", b"{"))
    check_unpacked(what, values * BYTES_PER_VALUE, stored=len(content))


def check_shape(value: Any, shape: Any, where: str = "it") -> None:
    """Refuse plain values of another shape: a type or several, ``[shape]`` of a list, ``{name: shape}`` of an object.

    Raises
    ------
    TypeError
        Naming the place: to be raised within :func:`demele.core.reading.parsing`.

    Examples
    --------
    >>> check_shape({"steps": [5], "codes": "mean"}, {"steps": [int], "codes": str})
    >>> check_shape({"steps": [None]}, {"steps": [int]})
    Traceback (most recent call last):
    TypeError: steps holds None
    """
    if isinstance(shape, dict) and isinstance(value, dict):
        for name, own in shape.items():
            check_shape(value[name], own, name)
    elif isinstance(shape, list) and isinstance(value, list):
        for item in value:
            check_shape(item, shape[0], where)
    elif isinstance(value, str):
        value.encode()  # halves of characters
        if str not in (shape if isinstance(shape, tuple) else (shape,)):
            raise TypeError(f"{where} holds {quoted(value)}")
    elif isinstance(shape, dict | list) or type(value) not in (shape if isinstance(shape, tuple) else (shape,)):
        raise TypeError(f"{where} holds {quoted(value)}")
    elif type(value) is int:
        float(value)  # numbers that no float can hold


def check_characters(what: object, array: Array) -> None:
    """Refuse text of NumPy with numbers that are no characters: NumPy stores any, and Python fails on them later."""
    if array.dtype.kind != "U" or not array.size:
        return
    points = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    odd = (points > LARGEST_CHARACTER) | ((points >= HALVES[0]) & (points <= HALVES[1]))
    if odd.any():
        raise FormatError(what, f"holds invalid text: {points[odd].flat[0]:#x} is not a character")


def parsed_json(content: bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return what JSON says, within :func:`parsing`: half a character, which JSON can escape, is an error."""
    found = json.loads(content.decode("utf-8-sig"), object_pairs_hook=pairs)
    if b"\\ud" in content.lower():
        json.dumps(found, ensure_ascii=False).encode()
    return found


@contextmanager
def parsing(what: str, *, details: bool = True) -> Iterator[None]:
    """Turn whatever a parser raises within into a FormatError: the one place where that happens.

    Parameters
    ----------
    what : str
        How the message begins, such as ``data.csv: not a table that can be read``.
    details : bool, default True
        Whether what the parser says follows: some speak of their own insides.

    Raises
    ------
    FormatError
        For everything but errors of demele's own, warnings, and those of the file system, which name the file.
    """
    try:
        yield
    except (DemeleError, Warning):
        raise
    except MemoryError as error:
        raise FormatError(f"{what} (it declares more than fits into memory)") from error
    except RecursionError as error:
        raise FormatError(f"{what} (it is nested too deeply)") from error
    except Exception as error:  # parsers raise what they like, and other classes with each version
        if isinstance(error, OSError) and error.filename is not None:
            raise
        lines = str(error).strip().splitlines()
        said = shortened(lines[0].strip()) if lines else type(error).__name__
        raise FormatError(f"{what} ({said})" if details else what) from error


def by_number(name: str) -> list[tuple[int, int, str]]:
    """Return the key that sorts names with their numbers by value.

    Examples
    --------
    >>> sorted(["part.10", "part.2", "part"], key=by_number)
    ['part', 'part.2', 'part.10']
    """
    parts = filter(None, re.split(r"(\d+)", name))
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
