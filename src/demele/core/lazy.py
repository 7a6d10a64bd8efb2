"""What is imported or computed when it is first used: names, optional packages, parts of results, the engine."""

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from demele.core.errors import MissingExtraError

__all__ = ["ENGINE", "SAMPLE", "Later", "in_pieces", "lazily", "require"]

#: A name that a module imports for type checkers only, under its own name: ``from demele.bins import Edges as Edges``.
_NAMED = re.compile(r"^    from ([\w.]+) import (\w+) as \2$", re.MULTILINE)


def lazily(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a module whose names live elsewhere.

    What it imports under ``if TYPE_CHECKING:`` as ``from home import name as name`` are its names.
    """
    source = vars(sys.modules[module])["__loader__"].get_source(module)
    if source is None:
        raise ImportError(f"{module} was installed without its source, which says where its names live", name=module)
    home_of = {name: home for home, name in _NAMED.findall(source)}

    def found(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])
        home = home_of[name]
        below = home == module  # a module of this package
        value = importlib.import_module(f"{home}.{name}") if below else getattr(importlib.import_module(home), name)
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


# Optional dependencies, imported only where they are used -------------------------------------------------------------

_EXTRA_OF = {
    "pyarrow": "parquet",
    "zstandard": "logs",
    "cleanlab": "cleaning",
    "matplotlib": "pictures",
    "keras": "keras",
    "torch": "torch",
    "captum": "explain",
    "torchmetrics": "torch",
    "lightning": "lightning",
    "pytorch_lightning": "lightning",
    "dask": "dask",
    "distributed": "dask",
    "h5py": "images",
    "PIL": "images",
    "openpyxl": "sheets",
    "shtab": "completion",
}


def require(module: str, *, purpose: str) -> ModuleType:
    """Import an optional dependency, or say which extra brings it.

    Parameters
    ----------
    module : str
        Dotted name, such as ``"matplotlib.figure"``.
    purpose : str
        What needs it, as the subject of the sentence, such as ``"a picture for print"``.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    root = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != root:
            hint = "; KERAS_BACKEND=torch, set before, chooses another backend" * (root == "keras")
            raise MissingExtraError(f"{purpose} needs {root}, which needs {error.name}: install it{hint}") from error
        extra = _EXTRA_OF[root]
        raise MissingExtraError(f"{purpose} needs {root}: install it with  pip install 'demele[{extra}]'") from error


# The two ways up, by name ---------------------------------------------------------------------------------------------
#
# Both stand on the metrics. Nothing else in demele reaches a module above its own: a test says so.

#: Rows that metrics which cannot be counted are computed on, unless told otherwise.
SAMPLE = 100_000
#: What scores one metric: its function ``scored``.
ENGINE = "demele.metrics.run"
#: What scores data that are read a piece at a time.
IN_PIECES = "demele.scoring.evaluate:scores_in_pieces"


def in_pieces(*arguments: Any, **options: Any) -> Any:
    """Return the scores of data that are read a piece at a time, or None for data in memory."""
    module, _, function = IN_PIECES.partition(":")
    return getattr(importlib.import_module(module), function)(*arguments, **options)
