"""Modules whose names are imported when they are first used."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(
    module: str, homes: Mapping[str, str], new_names: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a module whose names live elsewhere.

    Parameters
    ----------
    module : str
        Its name.
    homes : mapping of str to str
        Names, separated by spaces, by the module that defines them; or the name of a module below, by itself.
    new_names : mapping of str to str, optional
        New names by old ones, which are refused.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def found(name: str) -> Any:
        if name in (new_names or {}):
            raise AttributeError(f"{module}.{name} has a new name: {module}.{(new_names or {})[name]}", name=name)
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])
        home = importlib.import_module(home_of[name])
        value = home if home.__name__ == f"{module}.{name}" else getattr(home, name)
        setattr(sys.modules[module], name, value)
        return value

    return found, lambda: sorted(home_of), sorted(home_of)


# Parts of a result that are computed when they are first read ---------------------------------------------------------


class Later:
    """Parts by name, each computed once, when it is first read; None where there is none of a name.

    A result gets functions that hold copies of their inputs, never the user's arrays. A copy of
    the result made with :func:`dataclasses.replace` shares the parts. Pickling and copying compute all of them.

    Parameters
    ----------
    makers : mapping of str to callable
        Functions without parameters.
    **known
        Parts that are there already.
    """

    __slots__ = ("_makers", "_parts")

    def __init__(self, makers: Mapping[str, Callable[[], Any]] | None = None, **known: Any) -> None:
        self._makers, self._parts = dict(makers or {}), known

    def __getitem__(self, name: str) -> Any:
        maker = self._makers.get(name)
        if maker is not None:
            self._parts.setdefault(name, maker())
            self._makers.pop(name, None)
        return self._parts.get(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, ({name: self[name] for name in (*self._makers, *self._parts)},)


def _known(parts: dict[str, Any]) -> Later:
    return Later(**parts)
