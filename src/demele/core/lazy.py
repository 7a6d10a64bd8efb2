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
