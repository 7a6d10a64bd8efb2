"""Pickles of plain values and arrays of bytes, taken apart without being run.

A pickle is a program, and Python's own ``Unpickler`` runs it: a list of forbidden names has always been incomplete, and
even one that finds no class takes the memory that a few bytes ask for. So no unpickler is used. A small machine here
knows the opcodes of which lists, dictionaries, texts, whole numbers and arrays are made, in the protocols 2 to 5;
what a pickle names is compared with a short list, and stands for itself: nothing is imported, nothing is called. Texts
stay where they lie in the file, so that arrays can be mapped.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing

#: What a pickle may name, and as what it is understood.
_NAMES: Mapping[str, str] = {
    "numpy.core.multiarray._reconstruct": "empty array",
    "numpy._core.multiarray._reconstruct": "empty array",
    "numpy.core.numeric._frombuffer": "array",
    "numpy._core.numeric._frombuffer": "array",
    "numpy.ndarray": "class",
    "numpy.dtype": "type",
    "_codecs.encode": "bytes",
}
_BYTES = ("u1", "|u1", "B", "uint8")
#: Characters of a text that is looked at: a key, a name, the type of an array.
_LONGEST = 200
_NONE_RUN = "nothing of it was run"


class Text(NamedTuple):
    """A text, or bytes, at their place in the file."""

    start: int
    stop: int
    encoding: Literal["latin-1", "utf-8", "latin-1 in utf-8"]


@dataclass(slots=True)
class ByteArray:
    """An array of uint8 whose bytes lie in the file.

    Attributes
    ----------
    shape : tuple of int
    text : Text or None
        None while the pickle has not said where.
    columns_first : bool
        The first index changes fastest.
    """

    shape: tuple[int, ...] = ()
    text: Text | None = None
    columns_first: bool = False


@dataclass(frozen=True, slots=True)
class _Name:
    """What a pickle names; nothing but this."""

    name: str


@dataclass(frozen=True, slots=True)
class _Type:
    """The type of an array: uint8."""


class Taken(NamedTuple):
    """A pickle that was taken apart: the file's bytes, and the dictionary that it holds, keys as texts."""

    content: memoryview
    held: dict[str, Any]

    def text(self, text: Text) -> str:
        """Return a text; bytes as latin-1."""
        return _decoded(self.content, text)

    def array(self, array: ByteArray) -> NDArray[np.uint8]:
        """Return an array that lies in the file as it is, or whose bytes were written as text."""
        if array.text is None:
            raise ValueError("an array without bytes")
        order: Literal["C", "F"] = "F" if array.columns_first else "C"
        if array.text.encoding == "latin-1 in utf-8":
            plain: memoryview | bytes = _decoded(self.content, array.text).encode("latin-1")
        else:
            plain = self.content[array.text.start : array.text.stop]
        return np.frombuffer(plain, np.uint8).reshape(array.shape, order=order)


def take_apart(what: object, content: memoryview, most: int) -> Taken:
    """Return the dictionary that a pickle holds; nothing that it names is imported or called.

    Parameters
    ----------
    what : object
        The file, for messages.
    content : memoryview of bytes
        All of it.
    most : int
        Opcodes that it may have: each takes memory.

    Returns
    -------
    Taken
        Values are int, bool, None, tuple, list, dict, :class:`Text` and :class:`ByteArray`.

    Raises
    ------
    FormatError
        If it is none, is cut off, names or does anything else, or holds no dictionary.

    Examples
    --------
    >>> import pickle
    >>> taken = take_apart("a file", memoryview(pickle.dumps({"labels": [6, 9], "of": b"x"}, 2)), 100)
    >>> taken.held["labels"], taken.text(taken.held["of"])
    ([6, 9], 'x')
    >>> take_apart("a file", memoryview(pickle.dumps(print)), 100)
    Traceback (most recent call last):
    ...
    demele.core.errors.FormatError: a file: a pickle that asks for 'builtins.print', which no published file does; \
nothing of it was run
    """
    if not content or content[0] != _PROTO:
        raise FormatError(what, "not a pickle of Python's protocols 2 to 5: it does not begin as one")
    with parsing(f"{what}: a pickle that is damaged or cut off; copy it again"):
        held = _Machine(what, content, most).run()
    if not isinstance(held, dict):
        raise FormatError(what, f"expected a pickle of a dictionary, found {type(held).__name__}")
    return Taken(content, held)


def _decoded(content: memoryview, text: Text) -> str:
    plain = bytes(content[text.start : text.stop])
    return plain.decode("latin-1" if text.encoding == "latin-1" else "utf-8")


class _Machine:
    """A stack, lists that were begun, and what was kept under a number: what pickles are written for."""

    def __init__(self, what: object, content: memoryview, most: int) -> None:
        self.what, self.content, self.most = what, content, most
        self.place = 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.kept: dict[int, Any] = {}

    def run(self) -> Any:
        for _ in range(self.most):
            code = self.content[self.place]
            self.place += 1
            if code == _STOP:
                if self.place != len(self.content):
                    raise FormatError(self.what, "damaged: it goes on after the end of its pickle; copy it again")
                return self.stack.pop()
            self._step(code)
        raise FormatError(self.what, f"a pickle of more than {self.most:,} opcodes, which no published file has")

    def _step(self, code: int) -> None:
        if code in _NUMBERS:
            self.stack.append(self.number(_NUMBERS[code]))
        elif code in _TEXTS:
            size, encoding = _TEXTS[code]
            self.stack.append(self.text(self.number(size), encoding))
        elif code in _CONSTANTS:
            self.stack.append(_CONSTANTS[code])
        elif code in _ACTIONS:
            _ACTIONS[code](self)
        else:
            raise self.refused(f"with the opcode {_opcode(code)}")

    # Reading

    def number(self, kind: struct.Struct) -> int:
        (found,) = kind.unpack_from(self.content, self.place)
        self.place += kind.size
        return int(found)

    def text(self, length: int, encoding: Literal["latin-1", "utf-8"]) -> Text:
        start = self.place
        if not 0 <= length <= len(self.content) - start:
            raise FormatError(
                self.what,
                f"damaged or cut off: it declares {length:,} bytes where it has {len(self.content) - start:,}; copy it "
                "again",
            )
        self.place += length
        return Text(start, self.place, encoding)

    def line(self) -> str:
        """Return the line that ends next, as names are written in protocol 2."""
        near = bytes(self.content[self.place : self.place + _LONGEST + 1])
        length = near.index(b"\n")
        self.place += length + 1
        return near[:length].decode()

    def short(self, text: Any) -> str:
        """Return a text that is looked at."""
        if not isinstance(text, Text) or text.stop - text.start > _LONGEST:
            raise FormatError(self.what, f"expected a short text in its pickle, found {_kind_of(text)}")
        return _decoded(self.content, text)

    def since_mark(self) -> list[Any]:
        """Return what was put on the stack since the last mark, and go back to what was there before."""
        items, self.stack = self.stack, self.below.pop()
        return items

    def refused(self, does: str) -> FormatError:
        return FormatError(self.what, f"a pickle {does}, which no published file does; {_NONE_RUN}")

    # What is named

    def name(self, module: str, name: str) -> _Name:
        whole = f"{module}.{name}"
        if whole not in _NAMES:
            raise self.refused(f"that asks for {quoted(whole)}")
        return _Name(whole)

    def call(self) -> None:
        """Understand what is asked to be called; it is not called."""
        given, name = self.stack.pop(), self.stack.pop()
        meant = _NAMES[name.name] if isinstance(name, _Name) else None
        match meant, given:
            case "empty array", (_Name("numpy.ndarray"), tuple(), Text()):
                made: Any = ByteArray()
            case "array", (Text() as text, _Type(), tuple() as shape, Text() as order):
                made = self.array(shape, text, columns_first=self.short(order) == "F")
            case "type", (Text() as kind, *_):
                if self.short(kind) not in _BYTES:
                    raise FormatError(self.what, f"expected arrays of uint8, found {quoted(self.short(kind))}")
                made = _Type()
            case "bytes", (Text(encoding="utf-8") as text, Text() as encoding) if self.short(encoding) == "latin1":
                made = text._replace(encoding="latin-1 in utf-8")
            case _:
                raise self.refused("that calls what it may not")
        self.stack.append(made)

    def build(self) -> None:
        """Understand the state of an array or of its type."""
        state, made = self.stack.pop(), self.stack[-1]
        match made, state:
            case _Type(), tuple():
                pass  # the order of bytes, and names of fields: a byte has none
            case ByteArray(text=None), (int(), tuple() as shape, _Type(), bool() | 0 | 1 as first, Text() as text):
                found = self.array(shape, text, columns_first=bool(first))
                made.shape, made.text, made.columns_first = found.shape, found.text, found.columns_first
            case _:
                raise self.refused("that sets the state of what is no array")

    def array(self, shape: tuple[Any, ...], text: Text, *, columns_first: bool) -> ByteArray:
        if not all(type(side) is int and side >= 0 for side in shape):
            raise FormatError(self.what, f"damaged: an array of shape {quoted(shape)}")
        held = text.stop - text.start
        if text.encoding == "latin-1 in utf-8":
            held = len(_decoded(self.content, text))
        if math.prod(shape) != held:
            raise FormatError(self.what, f"damaged: an array of shape {quoted(shape)} with {held:,} bytes")
        return ByteArray(shape, text, columns_first)

    # What is put together

    def keep(self, number: int) -> None:
        self.kept[number] = self.stack[-1]

    def extend(self, items: list[Any]) -> None:
        if type(self.stack[-1]) is not list:
            raise self.refused("that appends to what is no list")
        self.stack[-1].extend(items)

    def update(self, items: list[Any]) -> None:
        """Put values under keys, which are texts: to hash nested tuples can take for ever."""
        if type(self.stack[-1]) is not dict:
            raise self.refused("that sets items of what is no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            self.stack[-1][self.short(key)] = value

    def tuple_of(self, size: int) -> None:
        items = tuple(self.stack.pop() for _ in range(size))
        self.stack.append(items[::-1])

    def tuple_since_mark(self) -> None:
        items = tuple(self.since_mark())  # first: it goes back to the stack that the tuple is put on
        self.stack.append(items)

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def long(self) -> None:
        size = self.number(_BYTE)
        place = self.text(size, "latin-1")
        self.stack.append(int.from_bytes(self.content[place.start : place.stop], "little", signed=True))


def _opcode(code: int) -> str:
    from pickletools import opcodes

    return next((known.name for known in opcodes if known.code == chr(code)), f"0x{code:02x}")


def _kind_of(value: object) -> str:
    return "a long one" if isinstance(value, Text) else type(value).__name__


_BYTE, _LONG_SIZE = struct.Struct("<B"), struct.Struct("<Q")
_PROTO, _STOP = 0x80, ord(".")
_NUMBERS = {ord("K"): _BYTE, ord("M"): struct.Struct("<H"), ord("J"): struct.Struct("<i")}
_CONSTANTS: Mapping[int, Any] = {ord("N"): None, 0x88: True, 0x89: False, ord(")"): ()}
_TEXTS: Mapping[int, tuple[struct.Struct, Literal["latin-1", "utf-8"]]] = {
    ord("U"): (_BYTE, "latin-1"),
    ord("T"): (struct.Struct("<i"), "latin-1"),
    ord("C"): (_BYTE, "latin-1"),
    ord("B"): (struct.Struct("<I"), "latin-1"),
    0x8E: (_LONG_SIZE, "latin-1"),
    0x96: (_LONG_SIZE, "latin-1"),
    0x8C: (_BYTE, "utf-8"),
    ord("X"): (struct.Struct("<I"), "utf-8"),
    0x8D: (_LONG_SIZE, "utf-8"),
}


def _stacked_name(machine: _Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.stack.append(machine.name(machine.short(module), machine.short(name)))


def _append(machine: _Machine) -> None:
    item = machine.stack.pop()
    machine.extend([item])


def _set_item(machine: _Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.update([key, value])


_ACTIONS: Mapping[int, Callable[[_Machine], None]] = {
    _PROTO: lambda machine: _check_protocol(machine),
    0x95: lambda machine: _skip_frame(machine),
    ord("]"): lambda machine: machine.stack.append([]),
    ord("}"): lambda machine: machine.stack.append({}),
    ord("("): _Machine.mark,
    ord("t"): _Machine.tuple_since_mark,
    0x85: lambda machine: machine.tuple_of(1),
    0x86: lambda machine: machine.tuple_of(2),
    0x87: lambda machine: machine.tuple_of(3),
    ord("a"): _append,
    ord("e"): lambda machine: machine.extend(machine.since_mark()),
    ord("s"): _set_item,
    ord("u"): lambda machine: machine.update(machine.since_mark()),
    ord("q"): lambda machine: machine.keep(machine.number(_BYTE)),
    ord("r"): lambda machine: machine.keep(machine.number(struct.Struct("<I"))),
    0x94: lambda machine: machine.keep(len(machine.kept)),
    ord("h"): lambda machine: machine.stack.append(machine.kept[machine.number(_BYTE)]),
    ord("j"): lambda machine: machine.stack.append(machine.kept[machine.number(struct.Struct("<I"))]),
    ord("c"): lambda machine: machine.stack.append(machine.name(machine.line(), machine.line())),
    0x93: _stacked_name,
    ord("R"): _Machine.call,
    ord("b"): _Machine.build,
    0x8A: _Machine.long,
}


def _check_protocol(machine: _Machine) -> None:
    protocol = machine.number(_BYTE)
    if not 2 <= protocol <= 5:
        raise FormatError(machine.what, f"a pickle of protocol {protocol}; 2 to 5 are read")


def _skip_frame(machine: _Machine) -> None:
    machine.number(_LONG_SIZE)  # how many bytes belong together; what follows is read all the same
