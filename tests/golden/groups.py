"""The calls of which the outcomes are kept, by group."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["GROUPS", "Case", "group"]

Case = tuple[str, Callable[[], Any]]


@dataclass(frozen=True)
class Group:
    """Cases of one kind, kept in one file; ``heavy``: of many seconds."""

    name: str
    file: str
    cases: Callable[[], Iterator[Case]]
    heavy: bool


GROUPS: dict[str, Group] = {}


def group(name: str, *, file: str, heavy: bool = False) -> Callable[[Callable[[], Iterator[Case]]], Any]:
    """Register what yields the cases of a group."""

    def register(cases: Callable[[], Iterator[Case]]) -> Callable[[], Iterator[Case]]:
        GROUPS[name] = Group(name, file, cases, heavy)
        return cases

    return register
