"""What batches, rows beyond memory and sparse codes cost, for the pages
of marked lines: tables of the rows of ``NAME.csv``.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools.docs_tables import Row, read, table


def streaming(rows: Sequence[Row]) -> str:
    """Return the cost of a batch, and of the value, for each way in and each choice of metrics."""
    first = rows[0]
    header = ("through", "metrics", "a batch, ms", "95 % of batches below", "the value once, ms")
    of_one_type = [row for row in rows if row["dtype"] == first["dtype"]]
    shown_as = table(
        header,
        (
            (row["through"], row["metrics"], row["update_ms_median"], row["update_ms_p95"], row["compute_ms"])
            for row in of_one_type
        ),
    )
    return (
        f"Milliseconds of one processor core for a batch of {int(first['rows']):,} rows, {first['codes']} codes and "
        f"{first['factors']} factors ({first['dtype']}; median):\n\n{shown_as}"
    )


def out_of_core(rows: Sequence[Row]) -> str:
    """Return time and memory by number of rows."""
    header = ("rows", "on disk, GB", "processes", "seconds", "seconds per 1e8 rows", "peak memory, MiB")
    return (
        "Parquet folders of 8 codes and 4 factors, all metrics that count; memory is that of all processes together, "
        "Python and its packages included:\n\n"
        + table(
            header,
            (
                (
                    f"{int(row['rows']):,}",
                    row["gigabytes"],
                    row["jobs"],
                    row["seconds"],
                    row["seconds per 1e8 rows"],
                    f"{int(row['peak MiB']):,}",
                )
                for row in rows
            ),
        )
    )


def sparse(rows: Sequence[Row]) -> str:
    """Return time and memory by number of rows and codes."""
    whole = ("rows", "codes", "non-zeros")
    measured = [
        name
        for name in rows[0]
        if name in ("factors", "jobs") or name.startswith(("seconds (", "seconds with", "peak"))
    ]
    return table(
        [*whole, *measured],
        ([*(f"{int(row[name]):,}" for name in whole), *(row[name] for name in measured)] for row in rows),
    )


def _of(name: str, shown: Callable[[Sequence[Row]], str]) -> Callable[[Path], str]:
    """Return what shows the rows of a file of a folder; nothing without rows."""
    return lambda folder: shown(rows) if (rows := read(folder / f"{name}.csv")) else ""


#: By the line of a page in whose place the figures of a file are put.
MARKS: Mapping[str, Callable[[Path], str]] = {
    f"<!-- measured-{name} -->": _of(name, shown)
    for name, shown in (("streaming", streaming), ("out_of_core", out_of_core), ("sparse", sparse))
}
