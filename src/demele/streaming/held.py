"""What an accumulator holds of the rows so far: states that add up, and how they are written into an archive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, IncompatibleState, quoted
from demele.estimation.counts import JointCounts
from demele.streaming.archive import Archive, Arrays, count
from demele.streaming.batches import Names, Rows, mixed
from demele.streaming.sample import SampleState, _Part, row_keys
from demele.streaming.states import CountState
from demele.streaming.sums import Sums, merged

if TYPE_CHECKING:
    from demele.estimation.discretise import Binning


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """States of the rows so far: counts by rule of bins, sums by metric, and a sample with the names of its columns."""

    counts: "Mapping[Binning, CountState]"
    sums: Mapping[str, Sums]
    sample: SampleState | None
    columns: Names | None = None

    @property
    def n(self) -> int:
        """Rows seen."""
        if self.sample is not None:
            return self.sample.n
        return next(iter((*self.counts.values(), *self.sums.values()))).n

    @property
    def factor_columns(self) -> tuple[NDArray[Any], ...]:
        """The factors' columns of some rows kept; none, if there are no rows."""
        if self.sample is None or self.columns is None or not self.sample.parts:
            return ()
        d, m = (len(names) for names in self.columns)
        return self.sample.parts[0].columns[d : d + m]

    def counted(self, rows: Rows) -> "Held":
        """Add a batch in the coding of a frame to counts and sums."""
        return replace(
            self,
            counts={rule: state.update(rows) for rule, state in self.counts.items()},
            sums={name: state.update(rows) for name, state in self.sums.items()},
        )

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
            {rule: state.merge(other.counts[rule]) for rule, state in self.counts.items()},
            {name: merged(state, other.sums[name]) for name, state in self.sums.items()},
            None if self.sample is None or other.sample is None else self.sample.merge(other.sample),
            self.columns or other.columns,
        )

    def cleared(self) -> "Held":
        """Return the states of no rows."""
        return Held(
            {rule: CountState(state.binned) for rule, state in self.counts.items()},
            {name: state.cleared() for name, state in self.sums.items()},
            None if self.sample is None else SampleState(self.sample.bound, self.sample.seed),
        )


# In an archive --------------------------------------------------------------------------------------------------


def packed(held: Held, pack: Archive) -> dict[str, Any]:
    """Put the states of an accumulator into an archive, and return what its header says of them."""
    counts = [_packed_counts(state.settled(), pack) for state in held.counts.values()]
    sample = None if held.sample is None else _packed_sample(held.sample.sifted(), pack)
    sums = {
        metric: {name: pack.put(one) for name, one in state.arrays().items()} for metric, state in held.sums.items()
    }
    return {"columns": held.columns, "counts": counts, "sums": sums, "sample": sample}


def unpacked(empty: Held, about: Mapping[str, Any], pack: Arrays, *, deviations: bool) -> Held:
    """Return the states that :func:`packed` put into an archive.

    Parameters
    ----------
    empty : Held
        Of the same settings and frame, without rows.
    about : mapping
        The header.
    pack : Arrays
    deviations : bool
        Whether standard deviations of codes may be among the columns of the sample.

    Raises
    ------
    FormatError
        If the states do not fit the settings, the frame or each other.
    """
    columns: Names | None = None
    if about["columns"] is not None:
        codes, factors = (tuple(str(name) for name in names) for names in about["columns"])
        columns = (codes, factors)
    same = len(about["counts"]) == len(empty.counts) and about["sums"].keys() == empty.sums.keys()
    if not same or (about["sample"] is None) != (empty.sample is None):
        raise FormatError("accumulator", "the parts of this state are not those of its settings")
    counts = {
        rule: _unpacked_counts(state, one, pack)
        for (rule, state), one in zip(empty.counts.items(), about["counts"], strict=True)
    }
    sums = {
        metric: state.restored({name: pack.get(index) for name, index in about["sums"][metric].items()})
        for metric, state in empty.sums.items()
    }
    rows = {state.n for state in (*counts.values(), *sums.values())}
    if len(rows) > 1:
        raise FormatError("accumulator", f"the parts of this state are of different numbers of rows, {sorted(rows)}")
    sample = empty.sample
    if sample is not None:
        widths = []
        if columns is not None:
            d, m = len(columns[0]), len(columns[1])
            widths = [d + m, d + m + d] if deviations else [d + m]
        sample = _unpacked_sample(sample, about["sample"], pack, widths)
    return Held(counts, sums, sample, columns)


def _packed_counts(state: CountState, pack: "Archive") -> dict[str, Any] | None:
    counted, annotated = state.counted, state.annotated
    if counted is None or annotated is None:
        return None
    return {
        "n": state.n,
        "clipped": state.clipped,
        "annotated": pack.put(annotated),
        "code_bins": pack.put(counted.code_bins),
        "tables": [pack.put(table) for table in counted.tables],
        "pairs": [[i, k, pack.put(table)] for (i, k), table in counted.factor_tables.items()],
    }


def _unpacked_counts(empty: CountState, about: Mapping[str, Any] | None, pack: "Arrays") -> CountState:
    if about is None:
        return empty
    sizes, widths = empty.binned.n_levels, empty.binned.code_bins
    tables = tuple(pack.get(index) for index in about["tables"])
    pairs = {(int(i), int(k)): pack.get(index) for i, k, index in about["pairs"]}
    annotated, code_bins = pack.get(about["annotated"]), pack.get(about["code_bins"])
    fits = (
        [table.shape for table in tables] == [(len(widths), int(widths.max()), size) for size in sizes]
        and all(0 <= i < len(sizes) and 0 <= k < len(sizes) for i, k in pairs)
        and all(table.shape == (sizes[i], sizes[k]) for (i, k), table in pairs.items())
        and annotated.shape == (len(sizes),)
        and np.array_equal(code_bins, widths)
    )
    counts = (*tables, *pairs.values(), annotated)
    if not fits or not all(one.dtype.kind in "iuf" and np.isfinite(one).all() and (one >= 0).all() for one in counts):
        raise FormatError("accumulator", "the tables of this state do not have the bins of its frame")
    return replace(
        empty,
        counted=JointCounts(tables, pairs, code_bins),
        n=count(about["n"]),
        annotated=annotated.astype(np.int64, copy=False),
        clipped=count(about["clipped"]),
    )


def _packed_sample(state: SampleState, pack: "Archive") -> dict[str, Any]:
    about: dict[str, Any] = {"streams": [[name, seen] for name, seen in state.streams], "rows": None}
    if state.parts:
        part = state.parts[0]
        place = {name: index for index, (name, _) in enumerate(state.streams)}
        about["rows"] = {
            "streams": pack.put(np.array([place[name] for name in part.streams], dtype=np.int32)),
            "numbers": pack.put(part.numbers),
            "columns": [pack.put(column) for column in part.columns],
        }
    return about


def _unpacked_sample(
    empty: SampleState, about: Mapping[str, Any], pack: "Arrays", n_columns: Sequence[int]
) -> SampleState:
    streams = tuple((str(name), count(seen)) for name, seen in about["streams"])
    rows = about["rows"]
    if rows is None:
        return replace(empty, streams=streams)
    place, numbers = pack.get(rows["streams"]), pack.get(rows["numbers"])
    columns = tuple(pack.get(index) for index in rows["columns"])
    n = numbers.size
    if (
        len(columns) not in n_columns
        or place.shape != (n,)
        or any(column.shape != (n,) for column in columns)
        or not np.issubdtype(numbers.dtype, np.integer)
    ):
        raise FormatError("accumulator", "the rows of this state do not belong together")
    keys = np.empty(n, dtype=np.uint64)
    names = np.empty(n, dtype=object)
    known = np.zeros(n, dtype=bool)
    for index, (name, seen) in enumerate(streams):
        own = place == index
        if (numbers[own] < 0).any() or (numbers[own] >= seen).any():
            raise FormatError("accumulator", f"stream {quoted(name)} of this state has rows that it has not seen")
        keys[own] = row_keys(empty.seed, name, numbers[own])
        names[own] = name
        known |= own
    if not known.all():
        raise FormatError("accumulator", "rows of this state belong to no stream")
    return replace(empty, streams=streams, parts=(_Part(keys, names, numbers.astype(np.int64), columns),))
