"""A study of pruning as text in few lines: what it is, then one line for each record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from demele.core.store import Key
from demele.runtime.sweep import Record

FORMAT, FORMAT_VERSION = "demele-pruning", 1
#: Digits after the point that are kept of numbers that are no counts.
_DIGITS = 5


def packed(settings: Mapping[str, Any], records: Mapping[Key, Record], version: str) -> str:
    """Return a study as text: a line about it, then one for each record; shares have five digits after the point."""
    about = {"format": FORMAT, "format_version": FORMAT_VERSION, "demele": version}
    lines: list[Any] = [{**about, "settings": dict(settings)}]
    lines += [[list(key), _rounded(records[key])] for key in sorted(records, key=lambda key: [*map(str, key)])]
    return "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {name: _rounded(own) for name, own in value.items()}
    return [_rounded(own) for own in value] if isinstance(value, list) else value
