"""Codes of several columns: which columns of a representation are one code together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.names import suggestion


@dataclass(frozen=True, slots=True)
class CodeGroups:
    """Groups of columns that count as one code each; together they hold every column once.

    Attributes
    ----------
    names : tuple of str
        In the order of their first columns.
    columns : tuple of tuple of int
        The columns of each, in increasing order.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """Number of groups."""
        return len(self.names)

    @property
    def joint(self) -> tuple[int, ...]:
        """Which groups hold several columns."""
        return tuple(place for place, columns in enumerate(self.columns) if len(columns) > 1)

    @property
    def alone(self) -> tuple[int, ...]:
        """Which groups are one column."""
        return tuple(place for place, columns in enumerate(self.columns) if len(columns) == 1)

    @property
    def single_columns(self) -> list[int]:
        """The columns of the groups of one column, in their order."""
        return [self.columns[place][0] for place in self.alone]

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of the group of each column."""
        group_of = {column: name for name, own in zip(self.names, self.columns, strict=True) for column in own}
        return tuple(group_of[column] for column in range(len(group_of)))


def read_code_groups(code_groups: object, names: Sequence[str]) -> CodeGroups:
    """Validate groups of columns.

    Parameters
    ----------
    code_groups : mapping of name to columns, or sequence with a label for each column
        Columns by number from 0 or by name, one or several. Columns in no group are codes of their own.
    names : sequence of str
        Names of the columns.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Examples
    --------
    >>> read_code_groups({"v": [2], "circle": ["z0", 1]}, ["z0", "z1", "z2"]).columns
    ((0, 1), (2,))
    >>> read_code_groups(["a", "b", "a"], ["z0", "z1", "z2"]).names
    ('a', 'b')
    """
    given = _of_mapping(code_groups, names) if isinstance(code_groups, Mapping) else _of_labels(code_groups, names)
    owner: dict[int, str] = {}
    for name, columns in given.items():
        for column in columns:
            if column in owner:
                twice = f"in {quoted(owner[column])} and in {quoted(name)}" if owner[column] != name else "twice"
                raise InputError("groups", f"column {quoted(names[column])} stands {twice}; give each column once")
            owner[column] = name
    for column, name in enumerate(names):
        if column not in owner:
            if name in given:
                raise InputError(
                    "groups",
                    f"group {quoted(name)} has the name of a column that is in no group; rename the group",
                )
            given[name] = [column]
    ordered = sorted((tuple(sorted(columns)), name) for name, columns in given.items())
    return CodeGroups(tuple(name for _, name in ordered), tuple(columns for columns, _ in ordered))


def slots_as_groups(codes: Any, code_groups: object) -> tuple[Any, object]:
    """Return codes of shape (n_samples, n_slots, n_columns) as a table, in which each slot is a group.

    Groups that are given are kept: of the columns of the table, slot after slot.

    Examples
    --------
    >>> table, groups = slots_as_groups(np.zeros((9, 2, 3)), None)
    >>> table.shape, groups
    ((9, 6), ['slot0', 'slot0', 'slot0', 'slot1', 'slot1', 'slot1'])
    """
    shape = codes.shape
    slots = [f"slot{slot}" for slot in range(shape[1]) for _ in range(shape[2])]
    return codes.reshape(shape[0], len(slots)), slots if code_groups is None else code_groups


def _of_mapping(groups: Mapping[Any, Any], names: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, columns in groups.items():
        own = [columns] if isinstance(columns, str | int | np.integer) else columns
        if isinstance(own, range | np.ndarray):
            own = list(own)
        if not isinstance(own, list | tuple):
            raise InputTypeError(
                "groups",
                f"expected the columns of group {quoted(name)} as numbers or names, got {type(columns).__name__}",
            )
        if not own:
            raise InputError("groups", f"group {quoted(name)} has no column; leave it out")
        if str(name) in found:
            raise InputError("groups", f"two groups are called {quoted(str(name))}")
        found[str(name)] = [_column(column, names) for column in own]
    if not found:
        raise InputError("groups", "expected at least one group, got none")
    return found


def _column(column: object, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise UnknownNameError("groups", f"unknown code {quoted(column)}{suggestion(column, names)}")
        return list(names).index(column)
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise InputTypeError("groups", f"expected numbers or names of columns, got {quoted(column)}")
    if not 0 <= column < len(names):
        raise InputError("groups", f"no column has the number {int(column)}; there are {len(names)}, numbered from 0")
    return int(column)


def _of_labels(labels: object, names: Sequence[str]) -> dict[str, list[int]]:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputTypeError(
            "groups",
            f"expected a mapping of name to columns, or a label for each column, got {type(labels).__name__}",
        )
    each = list(labels)
    if len(each) != len(names):
        raise InputError("groups", f"expected a label for each of the {len(names)} columns, got {len(each)}")
    found: dict[str, list[int]] = {}
    for column, label in enumerate(each):
        found.setdefault(str(label), []).append(column)
    return found
