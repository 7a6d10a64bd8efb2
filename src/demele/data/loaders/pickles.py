"""Pickles of plain values and arrays of bytes, looked through before they are loaded, and loaded into stand-ins.

A pickle is a program. One that names nothing but NumPy can still take the memory that a few bytes ask for, hash for
ever, end the process, or change a function of NumPy. So its opcodes are looked at first, which runs nothing: they are
those of lists, dictionaries, texts, whole numbers and arrays, and nothing that holds other things, and no long text, is
used twice. What it names is compared with a short list, and is a stand-in: nothing is imported.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing

#: What a pickle may name, and as what it is understood.
_NAMES = {
    "numpy.core.multiarray._reconstruct": "empty array",
    "numpy._core.multiarray._reconstruct": "empty array",
    "numpy.core.numeric._frombuffer": "array",
    "numpy._core.numeric._frombuffer": "array",
    "numpy.ndarray": "class",
    "numpy.dtype": "type",
    "_codecs.encode": "bytes",
}
_BYTES = ("u1", "|u1", "B", "uint8")
#: Opcodes of what holds nothing else; of what does; of what is done with both; and what keeps and fetches it.
_VALUES = {
    "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINSTRING", "BINSTRING",
    "SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
    "EMPTY_TUPLE", "GLOBAL", "STACK_GLOBAL", "REDUCE",
}  # fmt: skip
_HOLDERS = {"EMPTY_LIST", "EMPTY_DICT", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
_ACTIONS = {"PROTO", "FRAME", "MARK", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "BUILD", "STOP"}
_KEEPING, _FETCHING = {"BINPUT", "LONG_BINPUT", "MEMOIZE"}, {"BINGET", "LONG_BINGET"}
_KNOWN = _VALUES | _HOLDERS | _ACTIONS | _KEEPING | _FETCHING
#: Lists, dictionaries and tuples; and characters of a text that may be used twice: a key, the type of an array.
_MOST_HOLDERS, _LONGEST = 256, 200


def load_plain(what: object, content: bytes, most: int) -> dict[str, Any]:
    """Return the dictionary that a pickle holds; nothing that it names is imported or called.

    Parameters
    ----------
    what : object
        The file, for messages.
    content : bytes
        All of it.
    most : int
        Opcodes that it may have: each takes memory.

    Returns
    -------
    dict of str to object
        Values are int, bool, None, tuple, list, dict, str, bytes, and arrays of uint8.

    Raises
    ------
    FormatError
        If it is none, is cut off, names or does anything else, or holds no dictionary.

    Examples
    --------
    >>> load_plain("a file", pickle.dumps({"labels": [6, 9], "of": b"x"}, 4), 100)
    {'labels': [6, 9], 'of': b'x'}
    >>> load_plain("a file", pickle.dumps(print), 100)
    Traceback (most recent call last):
    ...
    demele.core.errors.FormatError: a file: not a pickle as it was published; nothing of it was run (it asks for \
'builtins.print')
    """
    if content[:1] != b"\x80":
        raise FormatError(what, "not a pickle of Python's protocols 2 to 5: it does not begin as one")
    with parsing(f"{what}: not a pickle as it was published; nothing of it was run"):
        with warnings.catch_warnings(action="ignore"):  # of texts of opcodes that are refused
            _look_through(content, most)
        held = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        if not isinstance(held, dict):
            raise ValueError(f"it holds {type(held).__name__}, no dictionary")  # noqa: TRY004 - of the file
        return {
            key.decode("latin-1") if isinstance(key, bytes) else str(key): one.pixels
            if isinstance(one, _Array)
            else one
            for key, one in held.items()
            if isinstance(key, str | bytes)
        }


def _look_through(content: bytes, most: int) -> None:
    """Refuse opcodes of other things than plain values, and what makes much out of little."""
    kept: dict[int, bool] = {}  # whether what is kept under a number may be fetched
    before, long, holders, place = "", False, 0, 0
    argument: Any
    for count, (opcode, argument, at) in enumerate(pickletools.genops(content), start=1):
        name, place = opcode.name, at or 0
        holders += name in _HOLDERS
        if name not in _KNOWN:
            raise ValueError(f"it has the opcode {name}")
        if count > most or holders > _MOST_HOLDERS:
            raise ValueError(f"it has more than {most:,} opcodes, or {_MOST_HOLDERS} lists and tuples")
        if name in _KEEPING:
            number: Any = len(kept) if name == "MEMOIZE" else argument
            if number > count:  # the unpickler has an array of them
                raise ValueError(f"it keeps something under the number {number:,}")
            kept[number] = before in _VALUES and not long
        elif name in _FETCHING and not kept[argument]:
            raise ValueError("it uses a list, a tuple or a long text twice")
        if name != "FRAME":
            before, long = name, isinstance(argument, str | bytes | bytearray) and len(argument) > _LONGEST
    if place != len(content) - 1:
        raise ValueError("it goes on after its end")


class _Unpickler(pickle._Unpickler):
    """The one that is written in Python: the one in C can free a bytearray that crosses a frame while it is in use."""

    def find_class(self, module: str, name: str, /) -> Any:
        whole = f"{module}.{name}"
        if whole not in _NAMES:
            raise ValueError(f"it asks for {quoted(whole)}")
        return _Named(whole)


class _Named(str):
    """Replaces an object that a pickle names: a text without settable attributes."""

    __slots__ = ()

    def __call__(self, *given: Any) -> Any:
        match _NAMES[self], given:
            case "empty array", _:
                return _Array()
            case "array", (content, kind, shape, order):
                return _Array().filled(content, kind, shape, columns_first=order in ("F", b"F"))
            case "type", (str() | bytes() as kind, *_):
                text = kind.decode("latin-1") if isinstance(kind, bytes) else kind
                if text not in _BYTES:
                    raise ValueError(f"it has an array of {quoted(text)}, not of uint8")
                return _Type()
            case "bytes", (str() as text, "latin1" | b"latin1"):
                return text.encode("latin-1")
        raise ValueError(f"it calls {self} with what no published file does")


class _Type:
    """Replaces the type of an array, uint8; its state is the order of bytes, and a byte has none."""

    __slots__ = ()

    def __setstate__(self, _: object) -> None: ...


class _Array:
    """Replaces an array, made of its bytes once these are known and agree with its shape."""

    __slots__ = ("pixels",)
    pixels: NDArray[np.uint8]

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, columns_first, content = state
        self.filled(content, kind, shape, columns_first=bool(columns_first))

    def filled(self, content: Any, kind: Any, shape: Any, *, columns_first: bool) -> _Array:
        sides = shape if isinstance(shape, tuple) and all(type(side) is int and side >= 0 for side in shape) else None
        if sides is None or not isinstance(kind, _Type) or not isinstance(content, bytes | bytearray):
            raise ValueError("it has an array of something else than bytes")
        if math.prod(sides) != len(content):
            raise ValueError(f"it has an array of shape {quoted(sides)} with {len(content):,} bytes")
        self.pixels = np.frombuffer(content, np.uint8).reshape(sides, order="F" if columns_first else "C")
        return self
