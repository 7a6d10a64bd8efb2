"""What batches, rows beyond memory and sparse codes cost: pages say what their rows say, and nothing without rows."""

import csv
import re
from pathlib import Path

import pytest

from tools import docs_streaming
from tools.docs_pages import RESULTS

DOCS = Path(__file__).parents[2] / "docs"
ROWS = {
    "streaming": {
        "through": "Some|Thing",
        "metrics": "all_counted",
        "dtype": "float64",
        "rows": "2048",
        "codes": "7",
        "factors": "5",
        "update_ms_median": "0.123",
        "update_ms_p95": "0.456",
        "compute_ms": "78.9",
    },
    "out_of_core": {
        "rows": "30000000",
        "jobs": "3",
        "gigabytes": "1.23",
        "seconds": "4.56",
        "seconds per 1e8 rows": "15.2",
        "peak MiB": "1789",
    },
    "sparse": {
        "rows": "20000",
        "codes": "4096",
        "non-zeros": "640000",
        "factors": "6",
        "jobs": "2",
        "seconds to make the data": "99",
        "seconds (information and its metrics)": "1.5",
        "peak GiB, data included": "0.7",
    },
}
SHOWN = {
    "streaming": [
        "2,048 rows, 7 codes and 5 factors (float64",
        "| Some\\|Thing | all\\_counted | 0.123 | 0.456 | 78.9 |",
    ],
    "out_of_core": ["| 30,000,000 | 1.23 | 3 | 4.56 | 15.2 | 1,789 |"],
    "sparse": ["| 20,000 | 4,096 | 640,000 | 6 | 2 | 1.5 | 0.7 |"],
}


def write(folder: Path, name: str, *rows: dict[str, str]) -> None:
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(ROWS[name]))
        writer.writeheader()
        writer.writerows(rows)


def figures(folder: Path, name: str) -> str:
    return docs_streaming.MARKS[f"<!-- measured-{name} -->"](folder)


@pytest.mark.parametrize("name", ROWS)
def test_figures_are_those_of_the_rows(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, ROWS[name])
    text = figures(tmp_path, name)
    for part in SHOWN[name]:
        assert part in text


def test_other_types_of_numbers_are_left_to_the_page_of_results(tmp_path: Path) -> None:
    write(tmp_path, "streaming", ROWS["streaming"], {**ROWS["streaming"], "dtype": "float32", "through": "Other"})
    assert "Other" not in figures(tmp_path, "streaming")


@pytest.mark.parametrize("name", ROWS)
def test_without_a_file_or_rows_there_is_nothing(tmp_path: Path, name: str) -> None:
    assert figures(tmp_path, name) == ""
    write(tmp_path, name)
    assert figures(tmp_path, name) == ""


@pytest.mark.parametrize("name", ROWS)
def test_stored_rows_make_even_tables(name: str) -> None:
    for block in re.findall(r"(?:^\|.*\n)+", figures(RESULTS, name), flags=re.MULTILINE):
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1
