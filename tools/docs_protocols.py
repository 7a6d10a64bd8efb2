"""Published code beside ours: tables of ``benchmarks/results/protocols.csv``, put into a page at each build.

A hook of MkDocs, named in ``mkdocs.yml``. A marked line becomes a table; without rows it becomes nothing. No number is
typed in.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.protocol_arrays import ARRAYS

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
ARRAYS_MARK = "<!-- arrays -->"
DLIB_MARK = "<!-- disentanglement_lib -->"
LATTE_MARK = "<!-- latte -->"
#: What public code calls them.
THEIR_NAMES = {"z_diff": "beta-VAE", "z_min_variance": "FactorVAE"}

Row = Mapping[str, str]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables in the place of the marks."""
    if not any(mark in markdown for mark in (ARRAYS_MARK, DLIB_MARK, LATTE_MARK)):
        return markdown
    rows = read(RESULTS)
    for mark, table in ((ARRAYS_MARK, arrays()), (DLIB_MARK, by_score(rows)), (LATTE_MARK, by_attribute(rows))):
        markdown = markdown.replace(mark, table)
    return markdown


def read(folder: Path) -> list[dict[str, str]]:
    """Return the rows of the comparison; none without the file."""
    file = folder / "protocols.csv"
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def arrays() -> str:
    """Return what every array holds."""
    return _table(("array", "codes"), [(array.name, array.what) for array in ARRAYS.values()])


def by_score(rows: Sequence[Row]) -> str:
    """Return the scores of disentanglement_lib on every array, by score."""
    of_dlib = [row for row in rows if row["source"] == "disentanglement_lib"]
    order = list(ARRAYS)
    metrics = list(dict.fromkeys(row["metric"] for row in of_dlib))
    parts = []
    for metric in metrics:
        own = sorted((row for row in of_dlib if row["metric"] == metric), key=lambda row: order.index(row["array"]))
        cells = [
            (
                row["array"],
                _number(row["theirs"]) + (f" ± {row['their standard error']}" if row["their standard error"] else ""),
                _number(row["under the protocol"]),
                _number(row["by default"]),
                row["notes"].replace(" ", ", "),
            )
            for row in own
        ]
        name = f"{THEIR_NAMES[metric]} (`{metric}`)" if metric in THEIR_NAMES else f"`{metric}`"
        header = ("array", "theirs", "ours, `dlib2019`", "ours by default", "notes of ours")
        parts.append(f"### {name}\n\n{_table(header, cells)}")
    return "\n".join(parts)


def by_attribute(rows: Sequence[Row]) -> str:
    """Return, by array and metric of Latte, the largest difference over attributes, and the values of the first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["source"] == "latte":
            groups.setdefault((row["array"], row["metric"]), []).append(row)
    cells = [
        (
            array,
            f"`{metric}`",
            *(_number(own[0][column]) for column in ("theirs", "under the protocol", "by default")),
            f"{max(abs(float(row['difference'])) for row in own):.0e}",
        )
        for (array, metric), own in groups.items()
    ]
    header = ("array", "score", "theirs, first", "ours, `latte`", "ours by default", "largest difference")
    return _table(header, cells) if cells else ""


def _number(text: str) -> str:
    return "none" if text == "nan" else f"{float(text):.4f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
