"""Frames and settings as plain values, such as JSON holds: what configurations of models are made of.

>>> plain_setting({"mig": {"bins": EqualFrequency(5)}}, "options")
{'mig': {'bins': {'rule': 'EqualFrequency', 'bins': 5}}}
>>> setting_of(plain_setting(EqualFrequency(5), "bins"))
EqualFrequency(bins=5)
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from demele.core.columns import WholeNumbers
from demele.core.errors import InputError, InputTypeError, quoted, shortened
from demele.core.reading import parsing
from demele.core.signature import OptionText
from demele.estimation.discretise import Adaptive, ColumnBins, Edges, EqualFrequency, EqualWidth
from demele.metrics.options import restored
from demele.streaming.columns import Column, Columns

#: The key that marks a binning rule among other mappings.
RULE = "rule"


def plain_setting(value: object, argument: str) -> Any:
    """Return a setting as numbers, strings, lists and dicts; binning rules by their name.

    Parameters
    ----------
    value : object
    argument : str
        What it was given as, for the message.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Raises
    ------
    InputTypeError
        For anything that has no such form, as a rule of your own.

    Examples
    --------
    >>> plain_setting((1, 2), "reg_dim")
    [1, 2]
    """
    if isinstance(value, EqualWidth | EqualFrequency | Adaptive | Edges):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return {RULE: type(value).__name__, **{name: plain_setting(own, argument) for name, own in fields.items()}}
    if isinstance(value, np.ndarray | np.generic):
        return plain_setting(value.tolist(), argument)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_setting(own, argument) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [plain_setting(own, argument) for own in value]
    raise InputTypeError(
        argument,
        f"expected numbers, strings, lists, mappings and the binning rules of demele, which a "
        f"configuration can hold, got {type(value).__name__}",
    )


def setting_of(plain: object) -> Any:
    """Return the setting that :func:`plain_setting` wrote.

    Parameters
    ----------
    plain : object

    Returns
    -------
    object
        Rules are rules again; tuples and arrays stay the lists that they became.

    Raises
    ------
    InputError
        For a rule that there is none of.

    Examples
    --------
    >>> setting_of({"rule": "EqualWidth", "bins": 20})
    EqualWidth(bins=20)
    """
    if isinstance(plain, Mapping):
        if RULE in plain:
            arguments = tuple((str(key), setting_of(own)) for key, own in plain.items() if key != RULE)
            return restored(OptionText(str(plain[RULE]), arguments))
        return {key: setting_of(own) for key, own in plain.items()}
    return [setting_of(own) for own in plain] if isinstance(plain, list | tuple) else plain


def frame_as_dict(frame: Columns) -> dict[str, Any]:
    """Return a frame as plain values: see :meth:`demele.Frame.to_dict`."""
    return {
        "codes": {"names": list(frame.codes), "low": frame.low.tolist(), "high": frame.high.tolist()},
        "factors": [_column_as_dict(column) for column in frame.columns],
        "missing": frame.missing,
        "exact": [
            {
                "bins": plain_setting(rule, "bins"),
                "codes": [_bins_as_dict(bins) for bins in codes],
                "factors": [_bins_as_dict(bins) for bins in factors],
            }
            for rule, (codes, factors) in frame.exact.items()
        ],
    }


def columns_from_dict(plain: object) -> Columns:
    """Return the columns of the frame that :func:`frame_as_dict` wrote: see :meth:`demele.Frame.from_dict`."""
    if not isinstance(plain, Mapping):
        raise InputTypeError("frame", f"expected the mapping that Frame.to_dict returns, got {type(plain).__name__}")
    with parsing("frame: expected the mapping that Frame.to_dict returns"):
        try:
            codes = plain["codes"]
            found = Columns(
                codes=tuple(str(name) for name in codes["names"]),
                low=np.array(codes["low"], dtype=np.float64),
                high=np.array(codes["high"], dtype=np.float64),
                columns=tuple(_column_of(one) for one in plain["factors"]),
                missing=plain["missing"],
                exact={
                    setting_of(one["bins"]): (
                        tuple(_bins_of(bins) for bins in one["codes"]),
                        tuple(None if bins is None else _bins_of(bins) for bins in one["factors"]),
                    )
                    for one in plain["exact"]
                },
            )
        except KeyError as error:
            lacking = shortened(str(error))
            raise InputError("frame", f"expected the mapping that Frame.to_dict returns; it lacks {lacking}") from error
        _check(found)
        return found


def _column_as_dict(column: Column) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if column.kind == "categorical":
        plain["levels"] = list(column.levels)
    else:
        plain |= {"low": float(column.low), "high": float(column.high)}
    if column.text:
        plain["text"] = True
    if column.seen is not None:  # frames of parts merge by it
        values = None if column.seen.values is None else list(column.seen.values)
        plain["seen"] = {"values": values, "n": column.seen.n, "integer": column.seen.integer}
    return plain


def _column_of(plain: Mapping[str, Any]) -> Column:
    seen = None
    if plain.get("seen") is not None:
        own = plain["seen"]
        values = None if own["values"] is None else tuple(int(value) for value in own["values"])
        seen = WholeNumbers(values, int(own["n"]), bool(own["integer"]))
    name, kind = str(plain["name"]), str(plain["kind"])
    if kind == "categorical":
        levels = tuple(str(level) for level in plain["levels"])
        return Column(name, kind, 0.0, len(levels) - 1.0, levels, seen, bool(plain.get("text", False)))
    return Column(name, kind, float(plain["low"]), float(plain["high"]), (), seen, bool(plain.get("text", False)))


def _bins_as_dict(bins: ColumnBins | None) -> dict[str, Any] | None:
    return None if bins is None else {"edges": bins.edges.tolist(), "regular": bins.regular}


def _bins_of(plain: Mapping[str, Any]) -> ColumnBins:
    return ColumnBins(np.array(plain["edges"], dtype=np.float64), regular=bool(plain["regular"]))


def _check(frame: Columns) -> None:
    d, m = len(frame.codes), len(frame.columns)
    if not (frame.low.shape == frame.high.shape == (d,)) or not d or not m:
        raise InputError("frame", f"expected one low and one high for each of {d} codes, and a factor, got {m} factors")
    if not np.isfinite([frame.low, frame.high]).all() or (frame.low > frame.high).any():
        raise InputError("frame", "expected finite ranges of the codes, with low not above high")
    for column in frame.columns:
        if column.kind not in ("continuous", "categorical"):
            raise InputError(
                "frame", f"factor {quoted(column.name)} is 'continuous' or 'categorical', got {quoted(column.kind)}"
            )
        if not (np.isfinite([column.low, column.high]).all() and column.low <= column.high):
            raise InputError("frame", f"expected a finite range, or a level, of factor {quoted(column.name)}")
    if frame.missing not in ("raise", "omit"):
        raise InputError("frame", f"missing is 'raise' or 'omit', got {quoted(frame.missing)}")
    for rule, (codes, factors) in frame.exact.items():
        if (len(codes), len(factors)) != (d, m):
            raise InputError(
                "frame",
                f"expected edges under {quoted(rule)} of {d} codes and {m} factors, got {len(codes)} and "
                f"{len(factors)}",
            )
