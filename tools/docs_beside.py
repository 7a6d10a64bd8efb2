"""What demele and other packages took on the same arrays: ``beside.csv``, and ``speed.csv`` for metrics."""

from pathlib import Path

from tools.docs_tables import read, table

FILE, METRICS = "beside.csv", "speed.csv"


def others(folder: Path) -> str:
    """Return the table of other packages; nothing without rows."""
    rows = read(folder / FILE)
    return table(list(rows[0]), [list(row.values()) for row in rows]) if rows else ""


def metrics(folder: Path) -> str:
    """Return the table of metrics; nothing without rows."""
    rows = read(folder / METRICS)
    columns = ("metric", "size", "demele, CPU s", "reference, CPU s", "ratio", "public code, CPU s")
    return table(list(columns), [[row[name] for name in columns] for row in rows]) if rows else ""


MARKS = {"<!-- measured-beside -->": others, "<!-- measured-beside-metrics -->": metrics}
