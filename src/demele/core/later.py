"""Parts of a result that are computed when they are first read."""

from collections.abc import Callable, Mapping
from typing import Any


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
