"""What cleaning by entropy finds, with its threshold fixed and read off the data, put into a page at each build.

A hook of MkDocs, named in ``mkdocs.yml``. A marked line becomes a table of the rows of
``benchmarks/results/entropy_threshold.csv``; without that file it becomes nothing. No number is typed in.
"""

import csv
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
FILE = "entropy_threshold.csv"
MARK = "<!-- measured-entropy -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the figures in the place of the mark."""
    return markdown.replace(MARK, figures(RESULTS)) if MARK in markdown else markdown


def figures(folder: Path) -> str:
    """Return the table; nothing without rows."""
    file = folder / FILE
    if not file.exists():
        return ""
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    if not rows:
        return ""
    header = ["labels", "wrong", "0.3 finds", "of its suspects wrong", "default", "finds", "of its suspects wrong"]
    lines = [header, ["---"] * len(header)]
    for row in rows:
        fixed, default = (
            [_percent(row[f"{way} {name}"]) for name in ("share found", "precision")] for way in ("fixed", "default")
        )
        lines.append([row["set"].replace("_", "\\_"), row["wrong"], *fixed, row["default threshold"], *default])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _percent(text: str) -> str:
    return "none" if text == "nan" else f"{100 * float(text):.0f} %"
