"""What batches, rows beyond memory and sparse codes cost, put into pages at each build.

A hook of MkDocs, named in ``mkdocs.yml``. A marked line becomes a table of the rows of ``benchmarks/results/NAME.csv``;
without that file, or without rows in it, it becomes nothing. No number is typed in.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"

Row = Mapping[str, str]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the figures in the place of the marks."""
    for name, shown in FIGURES.items():
        if mark(name) in markdown:
            markdown = markdown.replace(mark(name), figures(RESULTS, name, shown))
    return markdown


def mark(name: str) -> str:
    """Return the line of a page in whose place the figures of a file are put."""
    return f"<!-- measured-{name} -->"


def figures(folder: Path, name: str, shown: Callable[[Sequence[Row]], str]) -> str:
    """Return what is shown of a file; nothing without rows."""
    file = folder / f"{name}.csv"
    if not file.exists():
        return ""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return shown(rows) if rows else ""


def streaming(rows: Sequence[Row]) -> str:
    """Return the cost of a batch, and of the value, for each way in and each choice of metrics."""
    first = rows[0]
    header = ("through", "metrics", "a batch, ms", "95 % of batches below", "the value once, ms")
    of_one_type = [row for row in rows if row["dtype"] == first["dtype"]]
    table = _table(
        header,
        (
            (row["through"], row["metrics"], row["update_ms_median"], row["update_ms_p95"], row["compute_ms"])
            for row in of_one_type
        ),
    )
    return (
        f"Milliseconds of one processor core for a batch of {int(first['rows']):,} rows, {first['codes']} codes and "
        f"{first['factors']} factors ({first['dtype']}; median):\n\n{table}"
    )


def out_of_core(rows: Sequence[Row]) -> str:
    """Return time and memory by number of rows."""
    header = ("rows", "on disk, GB", "processes", "seconds", "seconds per 1e8 rows", "peak memory, MiB")
    return (
        "Parquet folders of 8 codes and 4 factors, all metrics that count; memory is that of all processes together, "
        "Python and its packages included:\n\n"
        + _table(
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
    return _table(
        [*whole, *measured],
        ([*(f"{int(row[name]):,}" for name in whole), *(row[name] for name in measured)] for row in rows),
    )


#: Files, and what shows their rows; the mark of each is ``<!-- measured-NAME -->``.
FIGURES: Mapping[str, Callable[[Sequence[Row]], str]] = {
    "streaming": streaming,
    "out_of_core": out_of_core,
    "sparse": sparse,
}


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")
