"""How a number was made, as one line that can be read, stored, parsed and replayed.

A signature is written as the Python call that makes the number, with every argument that can change it, followed by
what the call met: ``mig(binning=EqualWidth(bins=10), seed=0)  # n=1797, protocol=review2022, demele=0.1.0``.
"""

import ast
import hashlib
import io
import math
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pickle import PicklingError
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from demele.core.errors import FormatError, quoted
from demele.core.reading import parsing
from demele.core.version import __version__

#: A line of more characters is no signature; options may hold edges of many bins.
LONGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Signature:
    """The call that made a number, and what it met.

    Parameters
    ----------
    metric : str
        Registered name of the metric, or the name of a user's callable.
    arguments : mapping of str to object
        Every argument that can change the number, in the order of the call. Values are Python literals, small frozen
        option objects whose ``repr`` is a call with literal arguments, or objects whose ``in_signature()`` is one.
    context : mapping of str to str
        What the call met: rows used, protocol, version of demele, digest of the bin edges.

    Examples
    --------
    >>> signature = Signature("mig", {"seed": 0}, {"n": "100"})
    >>> str(signature)
    'mig(seed=0)  # n=100'
    >>> Signature.parse(str(signature)) == signature
    True
    """

    metric: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    context: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, metric: str, arguments: Mapping[str, object], **met: object) -> "Signature":
        """Return the signature of a call of this version of demele."""
        return cls(metric, arguments, {**{name: str(value) for name, value in met.items()}, "demele": __version__})

    def __str__(self) -> str:
        """One line: the call, then what it met."""
        arguments = ", ".join(f"{name}={_text(value)}" for name, value in self.arguments.items())
        context = ", ".join(f"{name}={value}" for name, value in self.context.items())
        return f"{self.metric}({arguments})" + (f"  # {context}" if context else "")

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """Read a signature back from its text.

        Raises
        ------
        InputError
            If the text is not a signature.

        Notes
        -----
        Option objects such as ``EqualWidth(bins=10)`` come back as :class:`OptionText`, which prints as it was
        written; :mod:`demele.scoring.evaluate` turns them into the objects.
        """
        what = f"signature: {quoted(text)} is not a call such as mig(seed=0)  # n=100"
        if len(text) > LONGEST:
            raise FormatError(what)
        with parsing(what):
            call = ast.parse(text.strip(), mode="eval").body
            tokens = tokenize.generate_tokens(io.StringIO(text.strip()).readline)
            context_text = next((token.string.lstrip("#") for token in tokens if token.type == tokenize.COMMENT), "")
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
            raise FormatError(what)
        arguments: dict[str, object] = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise FormatError(what)
            with parsing(what):
                arguments[keyword.arg] = _literal(keyword.value)
        pairs = [pair.partition("=") for pair in context_text.strip().split(", ") if pair]
        return cls(call.func.id, arguments, {name: value for name, _, value in pairs})


@dataclass(frozen=True, slots=True)
class OptionText:
    """An option object as it stands in a parsed signature."""

    name: str
    arguments: tuple[tuple[str, object], ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments)})"


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"  # a literal that reads back as infinity
    return repr(value.in_signature() if hasattr(value, "in_signature") else value)


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        pairs = tuple((keyword.arg or "", _literal(keyword.value)) for keyword in node.keywords)
        return OptionText(node.func.id, pairs)
    if isinstance(node, ast.Name) and node.id in ("inf", "nan"):  # as Python prints them
        return float(node.id)
    value: object = ast.literal_eval(node)
    return value


# A short text that changes with the code of a function, so that what one made is never taken for what another did -----


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Return a short text that changes with the code of functions, their constants, their defaults and what they hold.

    They hold the variables of an enclosing function, the arguments of a partial, the state of an object. What the
    functions call is not followed. The text is the same in every process of one version of Python.

    Examples
    --------
    >>> fingerprint(lambda codes, factors: 1.0) == fingerprint(lambda codes, factors: 2.0)
    False
    """
    return _digest("".join(_told(function, frozenset()) for function in functions).encode())


def _told(value: Any, around: frozenset[int]) -> str:
    """Describe a value; ``around`` are those that hold it, which it may hold in turn."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return repr(value)
    if id(value) in around:
        return "<itself>"
    around |= {id(value)}

    def told(*parts: Any) -> str:
        return f"{type(value).__name__}({', '.join(_told(part, around) for part in parts)})"

    if isinstance(value, CodeType):
        names = (value.co_names, value.co_varnames, value.co_freevars)
        return told(value.co_code, value.co_exceptiontable, *names, *value.co_consts)
    if isinstance(value, FunctionType):
        return told(value.__code__, value.__defaults__, value.__kwdefaults__, *(value.__closure__ or ()))
    if isinstance(value, CellType):
        try:
            return told(value.cell_contents)
        except ValueError:  # not filled yet
            return told()
    if isinstance(value, MethodType):
        return told(value.__func__, value.__self__)
    if isinstance(value, partial):
        return told(value.func, value.args, value.keywords)
    if isinstance(value, tuple | list):
        return told(*value)
    if isinstance(value, set | frozenset):  # in another order in every process
        return f"{type(value).__name__}{sorted(_told(item, around) for item in value)}"
    if isinstance(value, dict):
        pairs = ((_told(key, around), _told(item, around)) for key, item in value.items())
        return f"{type(value).__name__}{sorted(pairs)}"
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return told(value.shape, value.tolist())
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {_digest(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, type | ModuleType | BuiltinFunctionType):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"
    if callable(getattr(value, "__wrapped__", None)):  # a cache around a function, or a compiled one
        return told(value.__wrapped__)
    return told(getattr(type(value).__call__, "__code__", None) if callable(value) else None, _state(value))


def _state(value: Any) -> Any:
    """Return what an object is made of, as pickling sees it."""
    try:
        reduced = value.__reduce_ex__(4)
    except (TypeError, ValueError, AttributeError, NotImplementedError, PicklingError):
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    if isinstance(reduced, str):
        return reduced
    made_by, *parts = reduced
    return [
        f"{getattr(made_by, '__module__', '')}.{getattr(made_by, '__qualname__', '')}",
        *(list(part) if isinstance(part, Iterator) else part for part in parts),
    ]


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=6).hexdigest()
