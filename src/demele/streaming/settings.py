"""What accumulators compute, and with which settings; settings as plain values, such as JSON holds.

>>> plain_setting({"mig": {"bins": EqualFrequency(5)}}, "options")
{'mig': {'bins': {'rule': 'EqualFrequency', 'bins': 5}}}
>>> setting_of(plain_setting(EqualFrequency(5), "bins"))
EqualFrequency(bins=5)
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.errors import InputTypeError
from demele.core.inputs import Missing
from demele.core.signature import OptionText
from demele.estimation.discretise import Adaptive, Edges, EqualFrequency, EqualWidth
from demele.metrics.options import restored

#: The key that marks a binning rule among other mappings.
RULE = "rule"


@dataclass(frozen=True, slots=True)
class Settings:
    """What is computed, and from which state; the same for accumulators that merge."""

    names: tuple[str, ...]
    single: bool
    protocol: str
    options: tuple[tuple[str, Any], ...]
    seed: int
    bound: int
    outside: str
    missing: Missing
    kinds: Any
    reg_dim: Any
    bins: Any


def comparable(settings: Settings) -> tuple[str, ...]:
    """Return settings as texts that are equal for equal settings only."""
    return tuple(repr(_listed(getattr(settings, name))) for name in Settings.__slots__)


def difference(mine: tuple[str, ...], theirs: tuple[str, ...]) -> str:
    """Say in which settings two differ, of what :func:`comparable` returns."""
    return ", ".join(
        f"{'metrics' if name == 'names' else name} ({own[:80]} here, {other[:80]} there)"
        for name, own, other in zip(Settings.__slots__, mine, theirs, strict=False)
        if own != other
    )


def _listed(value: Any) -> Any:
    """Return arrays and tuples within settings as lists: the text of a long array leaves out its middle."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


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
