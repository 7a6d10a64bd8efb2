"""Pages and marked lines of measured results become what the rows of their files say, and nothing without rows."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from demele.bench.comparisons.setting import published
from tools import docs_landing, docs_measured
from tools.docs_measured import COMPARISONS, METHODS, MMLU
from tools.docs_pages import RESULTS
from tools.docs_tables import Measured, means, pivot, table

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


def test_a_pivot_has_a_line_and_a_column_for_each_value_in_the_order_of_numbers() -> None:
    rows = [
        {"method": "overlap", "noise": "0.1", "x": "3", "y": "1"},
        {"method": "overlap", "noise": "0.05", "x": "1", "y": "2"},
        {"method": "overlap", "noise": "0.05", "x": "2", "y": "4"},
        {"method": "audit | 5", "noise": "0.05", "x": "", "y": "7"},
    ]
    assert pivot(("method",), "noise", means("x", "y"), "{:g%} noise")(rows).splitlines() == [
        "| method | 5% noise | 10% noise |",
        "| --- | --- | --- |",
        "| overlap | 1.50 / 3.00 | 3.00 / 1.00 |",
        "| audit \\| 5 | – / 7.00 |  |",
    ]


# Comparisons ---------------------------------------------------------------------------------------------------------


def test_all_and_the_worst_cell_of_each_kind_of_noise_stand(tmp_path: Path) -> None:
    names = ("noise", "rate", "method", "rate_of_error", "low", "claims_all", "test_sets_all")
    rows = [
        ("uniform", 0.01, "worst-case", 0.02, 0.01, 20, 4000),
        ("uniform", 0.05, "worst-case", 0.024, 0.012, 40, 4000),
        ("class", 0.05, "worst-case", 0.0, 0.0, 0, 4000),
        ("uniform", 0.01, "overlap", 0.3, 0.26, 400, 4000),
    ]
    page = COMPARISONS(written(tmp_path, "guarantees", *(dict(zip(names, row, strict=True)) for row in rows)))
    assert "| worst-case | 0.75; 2.4 (> 1.2) | 0.00; 0.0 (> 0.0) |" in page
    assert "| overlap | 10.00; 30.0 (> 26.0) |  |" in page


def test_bounds_of_audits_show_mean_and_worst(tmp_path: Path) -> None:
    row = {"n": 500, "labels": 25, "design": "uniform", "missed_at_0.025": 0.01, "missed_at_0.001": 0}
    page = COMPARISONS(written(tmp_path, "audited_level", row, {**row, "missed_at_0.025": 0.02}))
    assert "| n | labels | design | missed at 0.1% | missed at 2.5% |" in page
    assert "| 500 | 25 | uniform | 0.00, worst 0.00 | 1.50, worst 2.00 |" in page


def test_the_worst_world_of_measures_of_all_classes_stands_with_the_mean(tmp_path: Path) -> None:
    names = ("world", "measure", "claims_percent", "standard_error", "width_points")
    rows = [
        ("labels, n=200, noise 0 right", "macro-f1", "2.00", "0.20", 10.0),
        ("labels, n=500, noise 0 right", "macro-f1", "3.00", "0.30", 6.0),
        ("labels, n=500, noise 0 right, lead 0.03", "macro-f1", "80.00", "0.90", 6.0),
        ("uniform, 100 audited, noise 0.02 copies", "matthews", "1.25", "0.50", 20.0),
    ]
    folder = written(tmp_path, "table_measures", *(dict(zip(names, row, strict=True)) for row in rows))
    found = docs_measured.TABLE_MEASURES(folder)
    assert "| true labels, `overlap` | 2 | 3.00 (0.30), 2.5, 8.0 |  |" in found
    assert "| wrong labels, uniform audit of 100 | 1 |  | 1.25 (0.50), 1.2, 20.0 |" in found


def test_figures_stand_beside_those_of_the_source_and_cleanings_where_it_has_them() -> None:
    page = METHODS(RESULTS)
    source = next(row for row in published() if (row["measure"], row["method"]) == ("accuracy", "worst-case-overlap"))
    assert re.search(
        rf"\| accuracy \| worst-case-overlap \| .* \| {source['type_1']:.2f} \| {source['type_2']:.2f} ", page
    )
    assert re.search(r"\| accuracy \| cleaned\(s=0.6, e=0.1, c=0.5\) \|.*\| 0.76 \| 2.06 \| 98.69 \|", page)
    assert "| precision of 0 | cleaned(" not in page


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


# Published code ------------------------------------------------------------------------------------------------------


def test_the_largest_difference_over_attributes_is_shown(tmp_path: Path) -> None:
    row = {"source": "latte", "array": "noise", "metric": "sap", "theirs": "0.123456", "under the protocol": "0.234567"}
    row |= {"by default": "-0.345678", "difference": "-2e-03"}
    folder = written(
        tmp_path, "protocols", row, {**row, "difference": "1e-03", "theirs": "0.9"}, {**row, "source": "x"}
    )
    lines = docs_measured.LATTE(folder).splitlines()
    assert lines[2:] == ["| noise | `sap` | 0.1235 | 0.2346 | -0.3457 | 2e-03 |"]


def test_every_array_is_described() -> None:
    assert "| plain | a code per factor with noise, two of noise alone |" in docs_measured.arrays(RESULTS)


def test_the_picture_has_half_of_the_links() -> None:
    drawn = docs_landing.fabric_picture()
    assert (drawn.count('class="live"'), drawn.count('class="gone"')) == (38, 38)
