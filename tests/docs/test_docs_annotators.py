"""The figures on annotators say what their rows say, and nothing where there are none."""

import csv
import re
from pathlib import Path

import pytest

from tools import docs_annotators, docs_cleaning, docs_pages

DOCS = Path(__file__).parents[2] / "docs" / "howto"

COLUMNS = {
    "set": "a_set",
    "answers": "5000",
    "gold": "200",
    "majority accuracy": "0.9000",
    "blend accuracy": "0.8950",
    "own prior accuracy": "0.8800",
    "one-coin accuracy": "0.8750",
    "crowd-kit one-coin accuracy": "0.8720",
    "accuracy": "0.8500",
    "crowd-kit accuracy, its default": "0.8650",
    "iterations to convergence": "40",
    "crowd-kit iterations, its default": "2",
    "ms per iteration": "0.100",
    "crowd-kit ms per iteration": "12.00",
    "times faster": "120.0",
    "same labels after 20": "0.99950",
}
SIMULATED = {
    "classes": "2",
    "answers per item": "5",
    "answers per annotator": "4",
    "accuracy": "0.75",
    "class shares": "equal",
    "crowds": "40",
    "majority": "89.8",
    "dawid-skene": "84.0",
    "one-coin": "89.3",
    "own-prior": "88.8",
    "blend": "89.4",
    "blend - majority": "-0.40",
    "standard error": "0.26",
    "least": "-6.0",
    "below by 3": "3",
}


def written(folder: Path, *changes: dict[str, str]) -> Path:
    with (folder / docs_annotators.FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(COLUMNS))
        writer.writeheader()
        writer.writerows({**COLUMNS, **change} for change in changes)
    return folder


def test_worse_and_better_sets_are_named_with_their_items(tmp_path: Path) -> None:
    better = {"set": "b", "gold": "1000", "accuracy": "0.93", "crowd-kit accuracy, its default": "0.92"}
    better |= {"blend accuracy": "0.91"}
    text = docs_annotators.figures(written(tmp_path, {}, better))
    assert "fewer right labels than the majority on a\\_set (10 of 200 items); it has more on b (30 of 1,000" in text
    assert "more right labels than the converged run on a\\_set (3 of 200 items), and fewer on b (10 of 1,000" in text
    assert (
        "The blend has fewer right labels than the majority on a\\_set (1 of 200 items); it has more on b (10" in text
    )
    assert "It has fewer than Dawid-Skene on b (20 of 1,000 items)" in text
    assert "| a\\_set | 200 | 90.0 | 89.5 | 88.0 | 87.5 | 85.0 | 87.2 |" in text
    assert "| a\\_set | 85.0 | 40 | 86.5 | 2 |" in text
    assert "| a\\_set | 5,000 | 0.100 | 12.00 | 120.0 | 99.95 % |" in text


def test_sets_without_known_truth_are_only_timed(tmp_path: Path) -> None:
    text = docs_annotators.figures(written(tmp_path, {"gold": "0", "accuracy": "nan"}))
    assert "right labels" not in text
    assert "| 120.0 |" in text


def test_simulated_crowds_say_where_the_blend_loses(tmp_path: Path) -> None:
    folder = written(tmp_path, {})
    for changes, said in (
        (
            ({}, {"blend - majority": "1.00", "below by 3": "0"}),
            "fewer right labels than the majority with 2 classes of",
        ),
        (({"blend - majority": "0.10"},), "fewer right labels than the majority in none of these worlds"),
    ):
        with (folder / docs_annotators.SIMULATED).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(SIMULATED))
            writer.writeheader()
            writer.writerows({**SIMULATED, **change} for change in changes)
        text = docs_annotators.figures(folder)
        assert said in text
        assert f"3 of {40 * len(changes)} lose 3 points or more" in text
    assert "| 2 | 5 | 4 | 0.75 | equal | 89.8 | 84.0 | 89.3 | 88.8 | 89.4 | +0.10 (0.26) | -6.0 |" in text


@pytest.mark.parametrize(("accuracy", "said"), [("0.8", True), ("0.95", False)])
def test_the_doubt_of_raters_is_told_where_it_shows(tmp_path: Path, accuracy: str, said: bool) -> None:
    golden = {"set": "imagenet_real golden", "accuracy": accuracy}
    text = docs_annotators.figures(
        written(tmp_path, golden, {"set": f"{golden['set']}, yes or not", "accuracy": "0.95"})
    )
    assert ("*maybe*" in text) == said


def test_stored_rows_make_tables_with_even_lines() -> None:
    text = docs_annotators.figures(docs_pages.RESULTS)
    assert "nan" not in text
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


def test_thresholds_of_entropy_are_told_with_what_they_find(tmp_path: Path) -> None:
    assert docs_cleaning.figures(tmp_path) == ""
    columns = "set,wrong,fixed share found,fixed precision,default threshold,default share found,default precision"
    (tmp_path / docs_cleaning.FILE).write_text(f"{columns}\na_set,90,0.000,nan,0.64,0.391,0.895\n")
    assert docs_cleaning.figures(tmp_path).endswith("| a\\_set | 90 | 0 % | none | 0.64 | 39 % | 90 % |\n")
    page = docs_pages.on_page_markdown((DOCS / "clean-labels.md").read_text(encoding="utf-8"))
    assert docs_cleaning.MARK not in page
    assert "| digits, 40 % wrong anywhere |" in page
