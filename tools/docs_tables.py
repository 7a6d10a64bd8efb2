"""What pages of measured results share: rows of CSV files, and tables in Markdown."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["Row", "escaped", "read", "table"]

Row = Mapping[str, str]


def read(file: Path) -> list[dict[str, str]]:
    """Return the rows of a file; none where it does not exist."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def table(header: Iterable[str], rows: Iterable[Iterable[str]], *, plain: bool = True) -> str:
    """Return a table in Markdown; ``plain`` cells are texts, in which it must read nothing else."""
    header = list(header)
    lines = [header, ["---"] * len(header), *([escaped(cell) if plain else cell for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def escaped(text: str) -> str:
    """Return a text in which Markdown reads no bars, stars or underlines."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")
