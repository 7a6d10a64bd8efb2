"""Dask collections as partitions of rows: work on each, results merged in their order, on any scheduler.

Where there is an active ``dask.distributed`` client, its cluster does the work, be it local or remote.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from demele.core.errors import InputError, InputTypeError
from demele.core.lazy import require
from demele.core.table_columns import check_distinct, other_lengths
from demele.runtime.work import Watched, lost_workers_told

Result = TypeVar("Result")

#: Results merged at a time: a tree of merges, so that no process holds the results of all partitions.
MERGED_AT_ONCE = 8


def is_collection(data: object) -> bool:
    """Return whether data is a Dask collection, such as an array or a data frame; Dask is not imported to find out.

    Examples
    --------
    >>> is_collection([1.0, 2.0])
    False
    """
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(data))


def paired_partitions(
    codes: object, factors: object
) -> tuple[list[tuple[Any, Any]], tuple[tuple[str, ...] | int, tuple[str, ...] | int]]:
    """Split two collections into partitions of rows that belong together.

    Arrays of known chunks are cut in the same way. The sizes of partitions of data frames are not known before they are
    computed: the reader must check that both hold the same number of rows.

    Parameters
    ----------
    codes, factors : Dask array or data frame

    Returns
    -------
    partitions : list of pairs
        Delayed arrays or frames.
    columns : pair
        Names of the columns, or the number of them where they have no names.

    Raises
    ------
    InputError, InputTypeError
        If one is not a collection, has no columns that are known, or another number of partitions.
    """
    first, columns = _table(codes, "codes")
    second, others = _table(factors, "factors")
    if all(hasattr(data, "chunks") and _known(data.chunks[0]) for data in (first, second)):
        if len(first) != len(second):
            raise other_lengths(first.shape, second.shape)
        second = second.rechunk({0: first.chunks[0]})
    parts = [
        [part[0] for part in data.to_delayed()] if hasattr(data, "chunks") else list(data.to_delayed())
        for data in (first, second)
    ]
    if len(parts[0]) != len(parts[1]):
        raise InputError(
            ("codes", "factors"),
            f"expected partitions that belong together, got {len(parts[0])} of codes and {len(parts[1])} of factors; "
            "repartition one as the other",
        )
    return list(zip(*parts, strict=True)), (columns, others)


def mapped(function: Callable[..., Result], groups: Sequence[tuple[Any, ...]], *shared: Any) -> list[Any]:
    """Return ``function(*group, *shared)`` of each group, not computed yet.

    Parameters
    ----------
    groups : sequence of tuples
        Delayed partitions, and whatever else belongs to one of them.
    shared : object
        What all get.

    Returns
    -------
    list of delayed results
    """
    dask = require("dask", purpose="Dask collections")
    common = [dask.delayed(item, traverse=False) for item in shared]
    watched = dask.delayed(Watched(function))
    return [watched(*group, *common) for group in groups]


def reduced(results: Sequence[Any], merge: Callable[[list[Any]], Result]) -> Result:
    """Compute delayed results and merge them, neighbours first, so that their order is kept.

    Parameters
    ----------
    results : sequence of delayed results
        From :func:`mapped`, at least one.
    merge : callable
        Takes a list of results in order, and returns their merge.

    Raises
    ------
    WorkerError
        If a process of the scheduler ends before its work is done.
    """
    dask = require("dask", purpose="Dask collections")
    level = list(results)
    while True:
        groups = [level[start : start + MERGED_AT_ONCE] for start in range(0, len(level), MERGED_AT_ONCE)]
        level = [dask.delayed(merge)(group) for group in groups]
        if len(level) == 1:
            with lost_workers_told("dask"):
                return dask.compute(level[0])[0]  # type: ignore[no-any-return]


def _table(data: Any, argument: str) -> tuple[Any, Any]:
    """Return a collection of two dimensions whose partitions hold whole rows, and its columns."""
    table = hasattr(data, "chunks") or hasattr(data, "columns") or type(data).__name__ == "Series"
    # a Delayed says that it has whatever it is asked for
    if not is_collection(data) or type(data).__module__ == "dask.delayed" or not table:
        what = f"expected a Dask array or data frame, as codes and factors must both be, got {type(data).__name__}"
        raise InputTypeError(argument, what, "make one with dask.array.from_array or dask.dataframe.from_pandas")
    if hasattr(data, "chunks"):
        if data.ndim == 1 and argument == "factors":
            data = data[:, None]
        if data.ndim != 2:
            raise InputError(
                argument,
                f"expected 2 dimensions (n_samples, n_columns), got {data.ndim}"
                + ("; reshape one column with [:, None]" if data.ndim == 1 else ""),
            )
        if not _known(data.chunks[1]):
            raise InputError(argument, "the number of columns of the Dask array is not known; compute_chunk_sizes()")
        return data.rechunk({1: -1}) if len(data.chunks[1]) > 1 else data, int(data.shape[1])
    data = data.to_frame() if getattr(data, "ndim", 2) == 1 else data
    names = tuple(str(name) for name in data.columns)
    check_distinct(names, argument, "distinct column names", "rename")
    return data, names


def _known(sizes: Sequence[float]) -> bool:
    return all(size == size for size in sizes)  # an unknown size is NaN
