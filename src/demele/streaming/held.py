"""What an accumulator holds of the rows so far: states that add up, and how they are written into an archive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, IncompatibleState, quoted
from demele.streaming.archive import Archive, Arrays, count
from demele.streaming.batches import Names, mixed
from demele.streaming.frame import Rows
from demele.streaming.sample import SampledRows, SampleState, row_keys
from demele.streaming.states import Key, State


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """States of the rows so far: counts and sums, and a sample with the names of its columns."""

    states: Mapping[Key, State]
    sample: SampleState | None
    columns: Names | None = None

    @property
    def n(self) -> int:
        """Rows seen."""
        if self.sample is not None:
            return self.sample.n
        return next(iter(self.states.values())).n

    @property
    def factor_columns(self) -> tuple[NDArray[Any], ...]:
        """The factors' columns of some rows kept; none, if there are no rows."""
        if self.sample is None or self.columns is None or not self.sample.parts:
            return ()
        d, m = (len(names) for names in self.columns)
        return self.sample.parts[0].columns[d : d + m]

    def counted(self, rows: Rows) -> "Held":
        """Add a batch in the coding of a frame to counts and sums."""
        return replace(self, states={key: state.update(rows) for key, state in self.states.items()})

    def merge(self, other: "Held") -> "Held":
        """Return the states of the rows of both.

        Raises
        ------
        IncompatibleState
            If they hold other columns, or are not of the same frame and settings.
        """
        if self.columns is not None and other.columns is not None and self.columns != other.columns:
            raise IncompatibleState(f"the two hold other columns: {self.columns} and {other.columns}")
        mine, theirs = self.factor_columns, other.factor_columns
        if mine and theirs and self.columns is not None:
            for name, one, another in zip(self.columns[1], mine, theirs, strict=True):
                if mixed(one, another):
                    raise IncompatibleState(f"the two hold numbers and text in the factor {name!r}; give both the same")
        return Held(
            {key: state.merge(other.states[key]) for key, state in self.states.items()},
            None if self.sample is None or other.sample is None else self.sample.merge(other.sample),
            self.columns or other.columns,
        )

    def settled(self) -> "Held":
        """Return the same states with all rows counted: a next call need not count them again."""
        return replace(self, states={key: state.settled() for key, state in self.states.items()})

    def cleared(self) -> "Held":
        """Return the states of no rows."""
        sample = None if self.sample is None else SampleState(self.sample.bound, self.sample.seed)
        return Held({key: state.cleared() for key, state in self.states.items()}, sample)


def packed(held: Held, pack: Archive) -> dict[str, Any]:
    """Write states into an archive, and return where it has them."""
    states = [{name: pack.put(one) for name, one in state.arrays().items()} for state in held.states.values()]
    sample: dict[str, Any] | None = None
    if held.sample is not None:
        sample = {"streams": [[name, seen] for name, seen in held.sample.streams], "rows": None}
        for part in held.sample.sifted().parts:
            place = {name: index for index, (name, _) in enumerate(held.sample.streams)}
            sample["rows"] = {
                "streams": pack.put(np.array([place[name] for name in part.streams], dtype=np.int32)),
                "numbers": pack.put(part.numbers),
                "columns": [pack.put(column) for column in part.columns],
            }
    return {"columns": held.columns, "states": states, "sample": sample}


def unpacked(empty: Held, about: Mapping[str, Any], pack: Arrays, *, deviations: bool) -> Held:
    """Return the states that :func:`packed` wrote.

    Parameters
    ----------
    empty : Held
        States of no rows, with the same settings.
    about : mapping
        What :func:`packed` returned.
    pack : Arrays
    deviations : bool
        Whether a sample may hold standard deviations too.

    Raises
    ------
    FormatError
        If they are not the states of such settings.
    """
    if len(about["states"]) != len(empty.states) or (about["sample"] is None) != (empty.sample is None):
        raise FormatError("accumulator", "the parts of this state are not those of its settings")
    states = {
        key: state.restored({name: pack.get(index) for name, index in own.items()})
        for (key, state), own in zip(empty.states.items(), about["states"], strict=True)
    }
    rows = {state.n for state in states.values()}
    if len(rows) > 1:
        raise FormatError("accumulator", f"the parts of this state are of different numbers of rows, {sorted(rows)}")
    columns: Names | None = None
    widths: list[int] = []
    if about["columns"] is not None:
        codes, factors = (tuple(str(name) for name in names) for names in about["columns"])
        columns, width = (codes, factors), len(codes) + len(factors)
        widths = [width, width + len(codes)] if deviations else [width]
    sample = empty.sample
    if sample is not None:
        streams = tuple((str(name), count(seen)) for name, seen in about["sample"]["streams"])
        sample = replace(sample, streams=streams)
        if about["sample"]["rows"] is not None:
            sample = replace(sample, parts=(_unpacked_rows(sample, about["sample"]["rows"], pack, widths),))
    return Held(states, sample, columns)


def _unpacked_rows(sample: SampleState, rows: Mapping[str, Any], pack: Arrays, widths: Sequence[int]) -> SampledRows:
    place, numbers = pack.get(rows["streams"]), pack.get(rows["numbers"])
    columns = tuple(pack.get(index) for index in rows["columns"])
    n = numbers.size
    if (
        len(columns) not in widths
        or place.shape != (n,)
        or any(column.shape != (n,) for column in columns)
        or not np.issubdtype(numbers.dtype, np.integer)
    ):
        raise FormatError("accumulator", "the rows of this state do not belong together")
    keys = np.empty(n, dtype=np.uint64)
    names = np.empty(n, dtype=object)
    known = np.zeros(n, dtype=bool)
    for index, (name, seen) in enumerate(sample.streams):
        own = place == index
        if (numbers[own] < 0).any() or (numbers[own] >= seen).any():
            raise FormatError("accumulator", f"stream {quoted(name)} of this state has rows that it has not seen")
        keys[own] = row_keys(sample.seed, name, numbers[own])
        names[own] = name
        known |= own
    if not known.all():
        raise FormatError("accumulator", "rows of this state belong to no stream")
    return SampledRows(keys, names, numbers.astype(np.int64), columns)
