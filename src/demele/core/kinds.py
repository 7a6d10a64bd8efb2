"""Kinds of arguments: what they can be, and how a word of the command line becomes one.

:func:`checked` checks the arguments of a public function by their kinds; the command line reads words by the same
kinds. Plain types say their kind: ``bool``, ``int``, ``float``, ``str``, ``Literal``, and sequences and unions of
them. What a type does not say stands in the annotation: ``noise: Annotated[float | TransitionMatrix, Kind("RATE|FILE",
...)]``. A parameter whose annotation has no kind, such as ``object``, is no option of a command.
"""

import difflib
import functools
import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted

P = ParamSpec("P")
R = TypeVar("R")


# Names that were not found: what the writer may have meant ------------------------------------------------------------


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the nearest names, or the list of all."""
    known = list(known)
    lowered = {item.lower(): item for item in known}
    begins = [item for item in known if len(name) > 2 and item.lower().startswith(f"{name.lower()}_")]
    near = begins[:3] or difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.5)
    if near:
        return "; did you mean " + " or ".join(repr(lowered[item.lower()]) for item in near) + "?"
    return "; known are " + ", ".join(known)


def checked_name(value: Any, argument: str, known: Iterable[str]) -> Any:
    """Return one of the names that an option can have.

    Raises
    ------
    UnknownNameError
        For anything else.

    Examples
    --------
    >>> checked_name("omit", "missing", ["raise", "omit"])
    'omit'
    """
    names = list(known)
    if not isinstance(value, str) or value not in names:
        wanted = " or ".join(map(repr, names)) if len(names) <= 2 else "one of " + ", ".join(names)
        near = suggestion(value, names) if isinstance(value, str) else ""
        hint = near if near.startswith("; did") else ""
        raise UnknownNameError(argument, f"expected {wanted}, got {quoted(value)}{hint}")
    return value


# Numbers that a user gave as options: read, or refused with what was expected and what came ---------------------------

#: Whole numbers of more bits are beyond the largest float.
LARGEST_EXPONENT = 1023


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, of Python or of NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number that a float can be, of Python or of NumPy; True and False are none."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return real and not (isinstance(value, int) and value.bit_length() > LARGEST_EXPONENT)


def checked_whole(value: Any, argument: str, expected: str, *, inside: Callable[[int], bool]) -> int:
    """Return a whole number, or say what was ``expected``.

    Examples
    --------
    >>> checked_whole(np.int64(3), "n", "a number of rows, 1 or more", inside=lambda n: n >= 1)
    3
    """
    return int(_checked(value, argument, expected, is_whole(value), inside))


def checked_number(value: Any, argument: str, expected: str, *, inside: Callable[[float], bool]) -> float:
    """Return a number, or say what was ``expected``."""
    return float(_checked(value, argument, expected, is_number(value), inside))


def _checked(value: Any, argument: str, expected: str, of_type: bool, inside: Callable[[Any], bool]) -> Any:
    if not of_type or not inside(value):
        raise (InputError if of_type else InputTypeError)(argument, f"expected {expected}, got {quoted(value)}")
    return value


def checked_flag(value: Any, argument: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(argument, f"expected True or False, got {quoted(value)}")
    return bool(value)


def checked_count(value: Any, argument: str, least: int) -> int:
    """Return a whole number of at least ``least``."""
    return checked_whole(value, argument, f"a whole number >= {least}", inside=lambda count: least <= count < 1 << 63)


def checked_share(value: Any, argument: str, low: float, high: float, ends: str = "(]") -> float:
    """Return a number between two; ``ends`` says with brackets which of these it can be."""

    def inside(share: float) -> bool:
        return low <= share <= high and (ends[0] == "[" or share > low) and (ends[1] == "]" or share < high)

    return checked_number(value, argument, f"a number in {ends[0]}{low:g}, {high:g}{ends[1]}", inside=inside)


def checked_size(value: Any, argument: str, *, zero: bool = False) -> float:
    """Return a finite number above 0, or with ``zero`` also 0."""
    expected = "a finite number >= 0" if zero else "a finite number above 0"
    return checked_number(value, argument, expected, inside=lambda size: 0 <= size < np.inf and (zero or size > 0))


def checked_rate(value: Any, argument: str, of: str = "the rows") -> float:
    """Return a share in [0, 1]; a percentage is refused with the share that it is."""
    if is_number(value) and 1 < value <= 100:
        what = f"expected a share of {of} in [0, 1], got {quoted(value)}"
        raise InputError(argument, what, f"for {value:g}% write {value / 100:g}")
    return checked_number(value, argument, f"a share of {of} in [0, 1]", inside=lambda share: 0 <= share <= 1)


def checked_pair(value: Any, argument: str, expected: str, *, inside: Callable[[float], bool]) -> tuple[float, float]:
    """Return two numbers, or say what each was ``expected`` to be."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputTypeError(argument, f"expected two numbers, got {quoted(value)}")
    first, second = (checked_number(one, argument, expected, inside=inside) for one in value)
    return first, second


def checked_seed(value: Any, argument: str = "seed") -> int:
    """Return a random seed: a whole number >= 0, however large."""
    return checked_whole(value, argument, "a whole number >= 0", inside=lambda seed: seed >= 0)


def checked_jobs(value: Any, argument: str = "n_jobs") -> int:
    """Return a number of processes, -1 for all processors."""
    expected = "a number of processes, -1 for all processors"
    return checked_whole(value, argument, expected, inside=lambda n: n == -1 or n > 0)


def checked_level(value: Any, argument: str = "level") -> float:
    """Return a nominal level, strictly between 0 and 1."""
    return checked_number(value, argument, "a number between 0 and 1, such as 0.95", inside=lambda one: 0 < one < 1)


def checked_confidence(value: Any, argument: str = "level") -> float:
    """Return the level of a verdict or an assessment: one below 0.5 is the error that was meant."""
    level = checked_level(value, argument)
    if level < 0.5:
        expected = "a confidence from 0.5 to below 1, such as 0.95"
        raise InputError(argument, f"expected {expected}, got {value}; did you mean {1 - level:g}?")
    return level


#: One name, perhaps between double quotes, and an item of a list: what begins with such a name, or has no commas.
NAME = r'(?:\s*"(?:[^"]|"")*"\s*|(?:(?!::)[^",])*)'
_ITEM = r'(?:\s*"(?:[^"]|"")*"[^,]*|(?!\s*")[^,]*)'
_LIST = re.compile(rf"{_ITEM}(?:,{_ITEM})*")
_ONE_ITEM = re.compile(rf"(?:^|,)({_ITEM})")


@dataclass(frozen=True)
class Kind:
    """What an argument can be, and how a word becomes one.

    Attributes
    ----------
    metavar : str
        What help calls the word; "" for a flag, which takes none.
    read : callable
        Takes the word, returns the argument, and raises InputError for a word that is none.
    repeats : bool
        Whether the option may be given again: mappings and lists are joined.
    words : tuple of str
        All words that there are; empty if others are possible.
    is_file : bool
        Whether the word names a file to read, as FILE or FILE::column; the command reads it.
    check : callable (value, argument) -> value, optional
        Returns the value that Python was given in its plain form, or raises InputError naming the argument.
    """

    metavar: str
    read: Callable[[str], Any] = str
    repeats: bool = False
    words: tuple[str, ...] = ()
    is_file: bool = False
    check: Callable[[Any, str], Any] | None = None

    def __repr__(self) -> str:
        return self.metavar


# Words ---------------------------------------------------------------------------------------------------------------


def listed_items(text: str) -> list[str]:
    """Split a list at its commas, but those between double quotes; the quotes stay, see :func:`unquoted`.

    Examples
    --------
    >>> listed_items('z1, "score,v2"=continuous'), listed_items('5" pipe,mig')
    (['z1', '"score,v2"=continuous'], ['5" pipe', 'mig'])

    Raises
    ------
    InputError
        If a quote is not closed.
    """
    if _LIST.fullmatch(text) is None:
        raise InputError(
            f"{text}: expected names separated by commas; one that begins with a double quote ends with one, "
            'and a quote in it is written twice: "score,v2","the ""best"""'
        )
    return [item.strip() for item in _ONE_ITEM.findall(text)]


def unquoted(name: str) -> str:
    """Return a name without spaces around it, or what stands between its double quotes, as it is.

    Examples
    --------
    >>> unquoted(" z1 "), unquoted(' "model v1.3 "')
    ('z1', 'model v1.3 ')
    """
    name = name.strip()
    return name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name


def items_in(text: str) -> list[str]:
    """Read a list of at least one item; quotes stay."""
    items = [item for item in listed_items(text) if item]
    if not items:
        raise InputError("expected items separated by commas, got none")
    return items


def names_in(text: str) -> list[str]:
    """Read a list of names; one with commas or with spaces at its ends stands between double quotes."""
    return list(map(unquoted, items_in(text)))


def outside_parentheses(text: str) -> list[str]:
    """Split at the commas that are not in parentheses.

    Examples
    --------
    >>> outside_parentheses("overlap, cleaned(s=0.6, e=0.1),mine.py::f")
    ['overlap', 'cleaned(s=0.6, e=0.1)', 'mine.py::f']
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    names = [part.strip() for part in parts if part.strip()]
    if not names:
        raise InputError("expected names, separated by commas")
    return names


def whole_number(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise InputError(f"expected a whole number, got {quoted(text)}") from None


def number(text: str) -> float:
    """Read a number; a percentage is refused with the share that it is.

    Examples
    --------
    >>> number("5%")
    Traceback (most recent call last):
    ...
    demele.core.errors.InputError: expected a number, got '5%'; write 0.05
    """
    try:
        return float(text)
    except ValueError:
        share = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
        hint = f"; write {float(share[1]) / 100:g}" if share else ""
        raise InputError(f"expected a number, got {quoted(text)}{hint}") from None


def share_or_file(text: str) -> float | str:
    """Read a number, or return the name of a file."""
    try:
        return number(text)
    except InputError:
        if re.fullmatch(r"[\d.]+%", text):
            raise
        return text


def number_or_name(text: str) -> int | str:
    """Read the number of a column from 0, or its name."""
    return int(text) if text.lstrip("-").isdecimal() else unquoted(text)


def _columns(text: str) -> list[int | str]:
    return list(map(number_or_name, items_in(text)))


def _named(text: str, example: str, *, last: bool = False) -> tuple[str, str]:
    """Read NAME=TEXT; ``last``: up to the last sign, which names may hold."""
    name, mark, rest = text.rpartition("=") if last else text.partition("=")
    if not mark or not name.strip() or not rest.strip():
        raise InputError(f"expected NAME=..., such as {example}, got {quoted(text)}")
    return unquoted(name), rest.strip()


def pairs_in(text: str, example: str = "size=continuous") -> dict[str, str]:
    """Read NAME=VALUE,NAME=VALUE."""
    found: dict[str, str] = joined({}, *(dict([_named(item, example, last=True)]) for item in items_in(text)))
    return found


def _group(text: str) -> dict[str, list[int | str]]:
    name, columns = _named(text, "circle=z1,z2")
    return {name: _columns(columns)}


def _run(text: str) -> dict[str, list[str]]:
    name, pattern = _named(text, "'beta4=runs/beta4-*.npy'")
    return {name: [pattern]}


def joined(first: Any, *others: Any) -> Any:
    """Join mappings or lists that were given one after the other.

    Raises
    ------
    InputError
        If mappings share a name.
    """
    for other in others:
        twice = [name for name in other if name in first] if isinstance(first, Mapping) else []
        if twice:
            raise InputError(f"{quoted(twice[0])} is given twice; leave one out")
        first = first | other if isinstance(first, Mapping) else [*first, *other]
    return first


# Kinds of annotations ------------------------------------------------------------------------------------------------

FLAG = Kind("", check=checked_flag)
FILE = Kind("FILE", is_file=True)
FILES = Kind("FILE,FILE", items_in, repeats=True, is_file=True)
_PLAIN: Mapping[Any, Kind] = {
    bool: FLAG,
    int: Kind("N", whole_number),
    float: Kind("X", number),
    str: Kind("NAME"),
    Path: Kind("FILE", Path),
}


def at_least(least: int) -> Kind:
    """Return the kind of a whole number that is not below ``least``."""
    return Kind("N", whole_number, check=partial(checked_count, least=least))


def between(low: float, high: float, ends: str = "[]") -> Kind:
    """Return the kind of a number between two; ``ends`` says with brackets which of these it can be."""
    return Kind("X", number, check=partial(checked_share, low=low, high=high, ends=ends))


Count = Annotated[int, at_least(1)]
CountOrNone = Annotated[int, at_least(0)]
#: At least 2, such as folds of the rows.
Several = Annotated[int, at_least(2)]
Seed = Annotated[int, Kind("N", whole_number, check=checked_seed)]
Jobs = Annotated[int, Kind("N", whole_number, check=checked_jobs)]
#: The confidence of an interval: in (0, 1).
Level = Annotated[float, Kind("X", number, check=checked_level)]
#: The confidence of a verdict: in [0.5, 1).
Confidence = Annotated[float, Kind("X", number, check=checked_confidence)]
#: A share of the rows in [0, 1]; a percentage is refused with the share that it is.
Rate = Annotated[float, Kind("X", number, check=checked_rate)]
Share = Annotated[float, between(0, 1)]
Fraction = Annotated[float, between(0, 1, "(]")]
Positive = Annotated[float, Kind("X", number, check=checked_size)]
Amount = Annotated[float, Kind("X", number, check=partial(checked_size, zero=True))]
#: A file on the command line, an array in Python.
Data = Annotated[object, FILE]
#: ``FACTOR=KIND``, or one kind for all.
Kinds = Annotated[object, Kind("FACTOR=KIND", lambda word: pairs_in(word) if "=" in word else word.strip(), True)]
#: Number of bins, or a rule.
Bins = Annotated[object, Kind("BINS")]
#: The name of a column on the command line, its values in Python too.
ColumnName = Annotated[object, Kind("COLUMN")]
#: Names or numbers of codes.
CodeNames = Annotated[object, Kind("A,B", _columns)]
#: Codes of several columns.
Groups = Annotated[object, Kind("NAME=CODES", _group, True)]
#: Rates and files of factors.
FactorNoise = Annotated[object, Kind("FACTOR=RATE|FILE", items_in, True)]
#: Shares of labels to make wrong; or a transition matrix, a file on the command line.
Noise = Annotated[object, Kind("RATE|FILE", lambda word: list(map(share_or_file, items_in(word))), is_file=True)]
#: A file that keeps finished records of a long run.
StorePath = Annotated[str | Path | None, Kind("FILE", Path)]
#: Names of classes, read as the labels are written.
Classes = Annotated[Sequence[object] | None, Kind("A,B")]
OneClass = Annotated[object, Kind("CLASS")]
Runs = Annotated[Mapping[str, Sequence[str]] | None, Kind("NAME=FILES", _run, True)]


def kind_of(annotation: Any) -> Kind | None:
    """Return the kind of an annotation; None if it has none.

    Examples
    --------
    >>> kind_of(int | None), kind_of(Literal["raise", "omit"]), kind_of(float | Sequence[float]), kind_of(object)
    (N, raise|omit, X,X, None)
    """
    for kind in getattr(annotation, "__metadata__", ()):
        if isinstance(kind, Kind):
            return kind
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal and all(isinstance(word, str) for word in parts):
        named = partial(checked_name, known=parts)
        return Kind("|".join(parts), partial(named, argument=""), words=parts, check=named)
    if origin in (Union, types.UnionType):
        members = [part for part in parts if part is not type(None)]
        lists = [part for part in members if get_origin(part) in (Sequence, list)]
        inner = kind_of(members[0]) if len(members) == 1 else kind_of(get_args(lists[0])[0]) if lists else None
        if inner is None or len(members) == 1:
            if inner is None or inner.check is None or len(members) == len(parts):
                return inner
            check = inner.check
            return replace(inner, check=lambda value, name: None if value is None else check(value, name))
        others = [part for part in members if part not in lists]
        same = all(repr(kind_of(part)) == repr(inner) for part in others)
        return _list_of(inner, single=True) if same else None
    if origin in (Sequence, list):
        inner = kind_of(parts[0])
        return None if inner is None else _list_of(inner, single=False)
    return _PLAIN.get(annotation)


def _list_of(inner: Kind, *, single: bool) -> Kind:
    """Return the kind of a list; ``single``: one item is no list."""

    def read(word: str) -> Any:
        items = [inner.read(item) for item in names_in(word)]
        return items[0] if single and len(items) == 1 else items

    metavar = {"N": "N,N", "X": "X,X"}.get(inner.metavar, "A,B")
    return Kind(metavar, read, words=inner.words)


# Python --------------------------------------------------------------------------------------------------------------


def annotation_of(function: Callable[..., Any], name: str) -> Any:
    """Return an annotation, also where it is a text; tables, for whose types pandas is not loaded, have no kind."""
    whole = inspect.unwrap(function)
    signature = inspect.signature(whole)
    annotation = signature.return_annotation if name == "return" else signature.parameters[name].annotation
    if not isinstance(annotation, str):
        return annotation
    holder = type("Holder", (), {"__annotations__": {name: annotation}})
    names = {key: value for key, value in whole.__globals__.items() if key != "pd"}
    try:
        return get_type_hints(holder, names, include_extras=True)[name]
    except NameError:
        return object


def _of_class(annotation: Any) -> Callable[[Any, str], Any] | None:
    """Return the check that a value is an object of classes that ask for it; None for any other annotation.

    A class asks by an attribute ``checked_by_kind``; others have messages of their own, with a remedy.
    """
    union = get_origin(annotation) in (Union, types.UnionType)
    classes = tuple(one for one in (get_args(annotation) if union else (annotation,)) if one is not type(None))
    if not all(isinstance(one, type) and hasattr(one, "checked_by_kind") for one in classes):
        return None
    named = " or ".join(f"demele's {one.__name__}" for one in classes)

    def check(value: Any, argument: str) -> Any:
        if not isinstance(value, classes) and not (value is None and union):
            raise InputTypeError(argument, f"expected {named}, got {type(value).__name__}")
        return value

    return check


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments that are given to a function by their kinds, before it computes anything.

    Examples
    --------
    >>> @checked
    ... def drawn(n_rows: Count, level: Level = 0.95):
    ...     return n_rows
    >>> drawn(0)
    Traceback (most recent call last):
    ...
    demele.core.errors.InputError: n_rows: expected a whole number >= 1, got 0
    """

    @functools.cache
    def checks() -> tuple[list[str], dict[str, Callable[[Any, str], Any]]]:
        """Return parameters by position, and checks: at the first call, since annotations may name what comes later."""
        own = inspect.signature(function).parameters.values()
        names = [one.name for one in own if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        first = [one.name for one in own if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        found = {}
        for name in names:
            annotation = annotation_of(function, name)
            kind = kind_of(annotation)
            found[name] = _of_class(annotation) if kind is None else kind.check
        return first, {name: check for name, check in found.items() if check is not None}

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        (first, known), given = checks(), list[Any](args)
        for place, name in enumerate(first[: len(args)]):
            if name in known:
                given[place] = known[name](given[place], name)
        for name in options.keys() & known.keys():
            options[name] = known[name](options[name], name)
        return function(*given, **options)

    return call
