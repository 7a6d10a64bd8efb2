"""Names that were not found: what the writer may have meant; and names that changed."""

import difflib
import functools
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, ParamSpec, TypeVar

from demele.core.errors import InputTypeError, UnknownNameError, quoted

P = ParamSpec("P")
R = TypeVar("R")

#: Values of options that have a new name: an old one is refused with the new one.
NEW_NAMES = {
    # comparison methods
    "classic": "overlap",
    "bounded": "worst-case",
    "prudent-v1": "worst-case-overlap",
    "prudent-v2": "hard-rows",
    "audited": "audit",
    "label-free": "agreement",
    "reference": "true-labels",
    # verdicts and inferences
    "established": "baseline",
    "undecided": "inconclusive",
    "sample": "test_set",
    "doubt": "disagreement",
}

#: Arguments of many functions that have a new name.
NEW_ARGUMENTS = {
    "bootstrap": "n_bootstrap",
    "chance": "n_permutations",
    "repeats": "n_repeats",
    "progress": "with demele.progress():",
}
#: Arguments of scores that :class:`demele.Codes` and :class:`demele.Factors` hold.
MOVED_ARGUMENTS = {
    "codes_std": "demele.Codes(codes, std=...)",
    "code_groups": "demele.Codes(codes, groups=...)",
    "reduce_groups": "demele.Codes(codes, groups=..., reduce='pca1')",
    "aligned": "demele.Codes(codes, align='rotation')",
    "whiten": "demele.Codes(codes, align='whitening')",
    "sample": "demele.Codes(codes, sample=...)",
    "name": "demele.Codes(codes, name=...)",
    "kinds": "demele.Factors(factors, kinds=...)",
    "missing": "demele.Factors(factors, missing=...)",
    "reg_dim": "demele.Factors(factors, reg_dim=...)",
    "factor_noise": "demele.Factors(factors, noise=...)",
    "factor_noise_method": "demele.Factors(factors, noise_method=...)",
    "blocks": "demele.Factors(factors, blocks=...)",
    "ignore_index": "demele.Factors(factors, ignore_index=True)",
}


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse old names of keyword arguments with an error that gives the new ones.

    Parameters
    ----------
    **names
        New names by old names.

    Examples
    --------
    >>> @renamed(size="n_rows")
    ... def drawn(n_rows):
    ...     return n_rows
    >>> drawn(size=3)
    Traceback (most recent call last):
    ...
    demele.core.errors.InputTypeError: size: this argument was replaced; use `n_rows`
    """

    def refusing(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            for old in options.keys() & names.keys():
                refuse_old(names[old], options[old], old)
            return function(*args, **options)

        return call

    return refusing


def refuse_old(new: str, value: object, old: str) -> NoReturn:
    """Refuse an old name of an argument with the new one.

    Raises
    ------
    InputTypeError
    """
    raise InputTypeError(old, "this argument was replaced", f"use `{new}`")


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
        new = NEW_NAMES.get(value) if isinstance(value, str) else None
        hint = f"; its new name is {new!r}" if new in names else near if near.startswith("; did") else ""
        raise UnknownNameError(argument, f"expected {wanted}, got {quoted(value)}{hint}")
    return value
