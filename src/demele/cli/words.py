"""Messages of the library, told in the words of the command line."""

import ast
import re
import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType

__all__ = ["in_options"]

Told = str | Callable[[re.Match[str]], str]

_NONE: Mapping[str, str] = MappingProxyType({})


def in_options(
    message: str, *, replayed: bool = False, words: Mapping[str, str] = _NONE, heads: Mapping[str, str] = _NONE
) -> str:
    """Say a message of the library with the options of the program in place of arguments of Python.

    Parameters
    ----------
    message : str
        What an error, a warning or a note says.
    replayed : bool
        Whether a signature is replayed: what it decides cannot be given, so that nobody is told to.
    words : mapping of str to str
        Further arguments and the options that they are for one command, wherever they stand.
    heads : mapping of str to str
        The same for arguments that are common words: only where a message begins with one.

    Examples
    --------
    >>> in_options("drop those rows, or pass missing='omit'")
    'drop those rows, or pass --missing omit'
    >>> in_options("factor 'age' was read as categorical; pass kinds={'age': 'continuous'} if it holds a quantity")
    "factor 'age' was read as categorical; give --kinds age=continuous if it holds a quantity"
    """
    for pattern, told in (*_REPLAYED, *_ALWAYS) if replayed else (*_ALWAYS, *_DECIDED):
        message = re.sub(pattern, told, message)
    for name, option in words.items():
        message = re.sub(_word(name), option, message)
    for name, option in heads.items():
        message = re.sub(rf"^{name}(?=:|\[)", option, message)
    return message


def _kinds(found: re.Match[str]) -> str:
    try:
        pairs = ast.literal_eval(found["pairs"])
    except (ValueError, SyntaxError):
        return found[0]
    return "--kinds " + shlex.quote(",".join(f"{name}={kind}" for name, kind in pairs.items()))


def _word(name: str) -> str:
    """Pattern of an argument's name: not part of a longer word, a quotation, a file or a signature."""
    return rf"(?<![\w'\"/.=-]){name}(?![\w'\"/=-]|\.\w)"


def _size(found: re.Match[str]) -> str:
    size, unit = int(found[1]), 0
    while size >= 1024 and unit < 4:
        size, unit = -(-size // 1024), unit + 1
    return f"give --max-size {size}{'KMGT'[unit - 1] if unit else ''}"


_ALWAYS: tuple[tuple[str, Told], ...] = (
    (r"\bpass max_bytes=(\d+)", _size),
    (r"\bread the file with decimal=','", "give --decimal ,"),
    (r"\bdemele\.evaluate\(\.\.\., chance=(\d+)\)", r"--chance \1"),
    (rf"\b(?:pass|give) {_word('codes_std')}", "give --codes-std FILE"),
    (_word("codes_std"), "--codes-std"),
    (_word("n_jobs"), "--jobs"),
)
_DECIDED: tuple[tuple[str, Told], ...] = (
    (r"\bmissing='(\w+)'", r"--missing \1"),
    (r"\bpass (?=kinds=\{)", "give "),
    (r"\bkinds=(?P<pairs>\{[^{}]*\})", _kinds),
    (_word("reg_dim"), "--reg-dim"),
)
_REPLAYED: tuple[tuple[str, Told], ...] = (
    (r";[^;]*\bmissing='\w+'[^;]*", "; the data differ from those of the signature"),
    (r";[^;]*\bkinds=\{[^{}]*\}[^;]*", ""),
    (r"; name others with reg_dim\b", ""),
)
