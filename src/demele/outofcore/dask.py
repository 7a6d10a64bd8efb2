"""Rows of Dask collections: one partition is one piece of work, done by the active scheduler."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from demele.core.errors import InputError
from demele.core.inputs import Kind
from demele.outofcore.first_pass import Names, Seen, merged
from demele.outofcore.passes import Instructions, Tally, counted, first_look, joined_tallies
from demele.outofcore.tables import some
from demele.runtime.dask import mapped, paired_partitions, reduced
from demele.runtime.progress import Report

#: Rows of a partition that are worked on at a time.
ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True, slots=True)
class Partition:
    """One computed partition of two Dask collections."""

    codes: Any
    factors: Any
    index: int

    def blocks(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield the columns of codes and factors of successive rows."""
        codes, factors = _columns(self.codes), _columns(self.factors)
        n, own = len(codes[0]), len(factors[0])
        if n != own:
            raise InputError(
                ("codes", "factors"),
                f"partition {self.index} holds {n} rows of codes and {own} rows of factors; row r "
                "of both must describe the same sample",
            )
        for start in range(0, n, ROWS_AT_ONCE):
            stop = start + ROWS_AT_ONCE
            yield [some(column, start, stop) for column in codes], [some(column, start, stop) for column in factors]


def _columns(data: Any) -> list[Any]:
    if hasattr(data, "iloc"):
        return [data.iloc[:, index] for index in range(data.shape[1])]
    array = np.asarray(data)
    return [array[:, index] for index in range(array.shape[1])]


class Partitions:
    """Rows of two Dask collections, worked on by the active scheduler."""

    def __init__(self, codes: object, factors: object) -> None:
        self._groups, columns = paired_partitions(codes, factors)
        self.names = _names(columns[0], "z"), _names(columns[1], "v")
        self._sizes: list[int] = []

    def look(self, kinds: dict[str, Kind], report: Report | None) -> Seen:
        """Make the first pass."""
        if report is not None:
            report(0, 2, f"first pass, {len(self._groups)} partitions")
        parts = mapped(_partition_seen, self._numbered(), self.names, kinds)
        found = reduced(parts, partial(_merged_seen, names=self.names[1]))
        self._sizes = list(found[0])
        return found[1]

    def tally(self, wanted: Instructions, report: Report | None, label: str) -> Tally:
        """Make a further pass."""
        if report is not None:
            report(1, 2, f"{label}, {len(self._groups)} partitions")
        offsets = np.concatenate([[0], np.cumsum(self._sizes)])
        groups = [
            (*group, int(offset), size)
            for group, offset, size in zip(self._numbered(), offsets, self._sizes, strict=False)
        ]
        return reduced(mapped(_partition_tallied, groups, wanted), joined_tallies)

    def _numbered(self) -> list[tuple[Any, ...]]:
        return [(*group, index) for index, group in enumerate(self._groups)]


def _names(columns: Names | int, default: str) -> Names:
    return tuple(f"{default}{index + 1}" for index in range(columns)) if isinstance(columns, int) else columns


def _partition_seen(
    codes: Any, factors: Any, index: int, names: tuple[Names, Names], kinds: dict[str, Kind]
) -> tuple[tuple[int, ...], Seen]:
    seen = first_look(Partition(codes, factors, index), names, kinds)
    return (seen.n,), seen


def _merged_seen(parts: list[tuple[tuple[int, ...], Seen]], names: Names) -> tuple[tuple[int, ...], Seen]:
    return tuple(size for sizes, _ in parts for size in sizes), merged([seen for _, seen in parts], names)


def _partition_tallied(codes: Any, factors: Any, index: int, offset: int, n: int, wanted: Instructions) -> Tally:
    return counted(Partition(codes, factors, index), offset, n, wanted)
