"""The arrays and tables that signatures name, and the random numbers that fill them."""

import hashlib
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray


class LateModule:
    """A module that is loaded when something of it is first used."""

    _home: str = "builtins"  # of one that a copy has not filled in yet

    def __init__(self, name: str) -> None:
        self._home = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._home), name)


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = LateModule("pandas")  # it takes longer to load than all of demele

__all__ = ["Array", "Bytes", "Counts", "Flags", "Floats", "Integers", "LateModule", "Rows", "pd", "rng_for"]

#: Numbers, counts, flags, row numbers, whole numbers; and an array of anything.
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]
Integers = NDArray[np.integer[Any]]
Array = NDArray[Any]
#: Whole numbers from 0 to 255, such as pixels.
Bytes = NDArray[np.uint8]


def rng_for(seed: int, *identity: str | int) -> "np.random.Generator":
    """Return the generator of one named piece of work.

    Parameters
    ----------
    seed : int >= 0
        The seed that the user gave.
    *identity : str or int
        What the stream is for, such as ``"z_diff", "repeat", 3``.

    Returns
    -------
    numpy.random.Generator
        The same stream for the same arguments, on every machine and in every process.

    Examples
    --------
    >>> bool(rng_for(0, "z_diff", 1).random() == rng_for(0, "z_diff", 1).random())
    True
    >>> bool(rng_for(0, "z_diff", 1).random() == rng_for(0, "z_diff", 2).random())
    False
    """
    text = "\x1f".join(str(part) for part in identity)
    key = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return np.random.default_rng([seed, int.from_bytes(key, "big")])
