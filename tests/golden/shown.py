"""Results, errors and warnings as plain values: floats to the bit, long arrays by their digest."""

import dataclasses
import hashlib
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["Parts", "outcome", "shown"]

#: Longer arrays are shown by their first values and a digest.
LONGEST = 48
#: What differs between runs of the same code.
_VARIES = {"seconds", "version", "demele"}
_SPELLINGS = re.compile(r"0x[0-9a-fA-F]{9,}|(?<=demele=)[0-9][\w.]*")


class Parts(dict[str, Any]):
    """Results that are cases of their own, by name."""


def shown(value: Any, depth: int = 0) -> Any:
    """Return what JSON can hold, from which every bit of the value could be told."""
    if depth > 12:
        raise RecursionError(f"results nested too deep: {type(value)}")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        text = _SPELLINGS.sub("*", value)
        return text.splitlines() if "\n" in text else text
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.generic):
        return shown(value.item(), depth + 1)
    if isinstance(value, np.ndarray):
        return _array(value, depth)
    if isinstance(value, pd.DataFrame):
        columns = {str(name): shown(value[name].to_numpy(), depth + 1) for name in value.columns}
        return {"rows": shown([str(name) for name in value.index], depth + 1), "columns": columns}
    if isinstance(value, pd.Series):
        return shown(value.to_numpy(), depth + 1)
    if isinstance(value, bytes):
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): shown(item, depth + 1) for key, item in value.items() if str(key) not in _VARIES}
    if isinstance(value, list | tuple | range):
        return [shown(item, depth + 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(str(shown(item, depth + 1)) for item in value)
    if type(value).__name__ == "Signature":
        return shown(str(value))
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return _attributes(value, depth)


def _array(value: Any, depth: int) -> Any:
    if value.dtype.kind in "OUS":
        cells = [shown(item, depth + 1) for item in value.ravel().tolist()]
        if len(cells) <= LONGEST:
            return {"shape": list(value.shape), "values": cells} if value.ndim != 1 else cells
        return {"shape": list(value.shape), "sha256": hashlib.sha256(repr(cells).encode()).hexdigest()}
    numbers = value.ravel().tolist()
    first = [shown(item, depth + 1) for item in numbers[:LONGEST]]
    about: dict[str, Any] = {"shape": list(value.shape), "dtype": value.dtype.name, "values": first}
    if len(numbers) > LONGEST:
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        about |= {"values": first[:4], "sha256": digest}
    return about


def _attributes(value: Any, depth: int) -> Any:
    """Return the public fields and properties of a result by name, but for those that are empty."""
    kind = type(value)
    names = {name for name in dir(kind) if not name.startswith("_") and not callable(getattr(kind, name, None))}
    if dataclasses.is_dataclass(value):
        names |= {field.name for field in dataclasses.fields(value) if not field.name.startswith("_")}
    if not names:
        return shown(repr(value))
    found: dict[str, Any] = {"type": kind.__name__}
    for name in sorted(names - _VARIES):
        try:
            item = getattr(value, name)
        except Exception as error:  # noqa: BLE001 - whatever a property raises is what it gives
            found[name] = f"{type(error).__name__}: {error}"
            continue
        plain = shown(item, depth + 1)
        if plain is not None and plain not in ([], {}, ""):
            found[name] = plain
    text = repr(value)
    if len(text) < 4000:
        found["repr"] = shown(text)
    return found


def outcome(call: Callable[[], Any]) -> dict[str, Any]:
    """Return what a call gives by the name of its part ("" for the whole): result or error, and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: Any = call()
        except Exception as error:  # noqa: BLE001 - the error is the outcome
            result = {"raises": type(error).__name__, "message": shown(str(error))}
        else:
            parts = result if isinstance(result, Parts) else {"": result}
            result = {name: shown(part) for name, part in parts.items()}
    told = sorted(str(shown(f"{item.category.__name__}: {item.message}")) for item in caught)
    if "raises" in result:
        return {"": result | ({"warnings": told} if told else {})}
    if told:
        result["warnings"] = told
    return dict(result)
