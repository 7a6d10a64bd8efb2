"""What cleaning by entropy finds, with its threshold fixed and read off the data: ``entropy_threshold.csv``."""

from pathlib import Path

from tools.docs_tables import read, table

FILE = "entropy_threshold.csv"
MARK = "<!-- measured-entropy -->"


def figures(folder: Path) -> str:
    """Return the table; nothing without rows."""
    rows = read(folder / FILE)
    header = ["labels", "wrong", "0.3 finds", "of its suspects wrong", "default", "finds", "of its suspects wrong"]
    lines = []
    for row in rows:
        fixed, default = (
            [_percent(row[f"{way} {name}"]) for name in ("share found", "precision")] for way in ("fixed", "default")
        )
        lines.append([row["set"], row["wrong"], *fixed, row["default threshold"], *default])
    return table(header, lines) if lines else ""


def _percent(text: str) -> str:
    return "none" if text == "nan" else f"{100 * float(text):.0f} %"
