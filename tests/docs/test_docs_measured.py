"""Pages and marked lines of measured results become what the rows of their files say, and nothing without rows."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tools import docs_measured
from tools.docs_measured import COMPARISONS, METHODS, MMLU
from tools.docs_pages import RESULTS
from tools.docs_tables import Measured, table

PAGES = {page.words: page for page in (COMPARISONS, METHODS, MMLU)}
OF_FILES: dict[str, Any] = {
    **{mark: one for mark, one in docs_measured.MARKS.items() if mark != "<!-- arrays -->"},
    **PAGES,
}


def written(folder: Path, name: str, *rows: Mapping[str, object]) -> Path:
    """Write rows to a file of a folder."""
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


@pytest.mark.parametrize("made", OF_FILES)
def test_without_files_there_is_nothing_and_stored_rows_make_tables_with_even_lines(made: str, tmp_path: Path) -> None:
    assert OF_FILES[made](tmp_path) == ""
    text = OF_FILES[made](RESULTS)
    assert "nan" not in text.replace("dominant", "") or made == "<!-- disentanglement_lib -->"
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


# Tables of any file --------------------------------------------------------------------------------------------------


def test_a_measured_table_has_its_columns_and_cells_as_numbers(tmp_path: Path) -> None:
    rows = [{"set": "a|b *c*", "n": 5000, "share": "0.391", "at": "nan"}, {"set": "d", "n": 7, "share": "", "at": "2"}]
    written(tmp_path, "some", *rows)
    columns = (("labels", "{set}"), ("number", "{n:,}"), ("found", "{share:.0f%}"), ("at", "{at:.1f}"))
    assert Measured("some.csv", columns)(tmp_path) == table(
        ("labels", "number", "found", "at"), [("a|b *c*", "5,000", "39%", "none"), ("d", "7", "", "2.0")]
    )
    assert "| a\\|b \\*c\\* | 5000 | 0.391 | nan |" in Measured("some.csv")(tmp_path)
    only = Measured("some.csv", columns, chosen=lambda found: [row for row in found if row["set"] == "d"])
    assert only(tmp_path).splitlines()[2:] == ["| d | 7 |  | 2.0 |"]


# Comparisons ---------------------------------------------------------------------------------------------------------


def test_differences_that_survive_are_those_of_the_corrected_answers() -> None:
    answers = [("better", "open", "better", "worse"), ("open", "open", "better", "open"), ("worse",) * 4]
    names = (*docs_measured.KNOWN, docs_measured.CORRECTED)
    assert docs_measured.survival([dict(zip(names, row, strict=True)) for row in answers]).splitlines()[2:] == [
        "| published labels taken as right | 2 | 1 | 1 |",
        "| rate of wrong labels known | 1 | 1 | 0 |",
        "| 500 labels audited | 3 | 1 | 1 |",
        "| corrected labels | 2 | 2 | 0 |",
    ]
    assert "Of 5,432 questions with a single right answer, 101 had been published" in MMLU(RESULTS)
