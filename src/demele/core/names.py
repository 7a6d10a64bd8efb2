"""Names that were not found: what the writer may have meant."""

import difflib
from collections.abc import Iterable
from typing import Any

from demele.core.errors import InputError, quoted


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
    InputError
        For anything else.

    Examples
    --------
    >>> checked_name("omit", "missing", ["raise", "omit"])
    'omit'
    """
    if not isinstance(value, str) or value not in known:
        raise InputError(argument, f"expected one of {', '.join(known)}, got {quoted(value)}")
    return value
