"""Names that were not found: what the writer may have meant."""

import difflib
from collections.abc import Iterable
from typing import Any

from demele.core.errors import UnknownNameError, quoted


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
        wanted = " or ".join(map(repr, names)) if len(names) == 2 else "one of " + ", ".join(names)
        near = suggestion(value, names) if isinstance(value, str) else ""
        hint = near if near.startswith("; did") else ""
        raise UnknownNameError(argument, f"expected {wanted}, got {quoted(value)}{hint}")
    return value
