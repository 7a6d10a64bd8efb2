"""The figures on annotators say what their rows say, and nothing where there are none."""

import csv
import re
from pathlib import Path

import pytest

from tools import docs_annotators

COLUMNS = {
    "set": "a_set",
    "answers": "5000",
    "gold": "200",
    "majority accuracy": "0.9000",
    "accuracy": "0.8500",
    "crowd-kit accuracy, its default": "0.8650",
    "iterations to convergence": "40",
    "crowd-kit iterations, its default": "2",
    "ms per iteration": "0.100",
    "crowd-kit ms per iteration": "12.00",
    "times faster": "120.0",
    "same labels after 20": "0.99950",
}


def written(folder: Path, *changes: dict[str, str]) -> Path:
    with (folder / docs_annotators.FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(COLUMNS))
        writer.writeheader()
        writer.writerows({**COLUMNS, **change} for change in changes)
    return folder


def test_worse_and_better_sets_are_named_with_their_items(tmp_path: Path) -> None:
    better = {"set": "b", "gold": "1000", "accuracy": "0.93", "crowd-kit accuracy, its default": "0.92"}
    text = docs_annotators.figures(written(tmp_path, {}, better))
    assert "fewer right labels than the majority on a\\_set (10 of 200 items); it has more on b (30 of 1,000" in text
    assert "more right labels than the converged run on a\\_set (3 of 200 items), and fewer on b (10 of 1,000" in text
    assert "| a\\_set | 200 | 90.0 | 85.0 | 86.5 | 40 | 2 |" in text
    assert "| a\\_set | 5,000 | 0.100 | 12.00 | 120.0 | 99.95 % |" in text


def test_sets_without_known_truth_are_only_timed(tmp_path: Path) -> None:
    text = docs_annotators.figures(written(tmp_path, {"gold": "0", "accuracy": "nan"}))
    assert "right labels" not in text
    assert "| 120.0 |" in text


@pytest.mark.parametrize(("accuracy", "said"), [("0.8", True), ("0.95", False)])
def test_the_doubt_of_raters_is_told_where_it_shows(tmp_path: Path, accuracy: str, said: bool) -> None:
    golden = {"set": "imagenet_real golden", "accuracy": accuracy}
    text = docs_annotators.figures(
        written(tmp_path, golden, {"set": f"{golden['set']}, yes or not", "accuracy": "0.95"})
    )
    assert ("*maybe*" in text) == said


def test_without_rows_the_mark_becomes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_annotators, "RESULTS", tmp_path)
    assert docs_annotators.on_page_markdown(f"a\n{docs_annotators.MARK}\nb") == "a\n\nb"
    assert docs_annotators.on_page_markdown("a") == "a"


def test_stored_rows_make_tables_with_even_lines() -> None:
    text = docs_annotators.figures(docs_annotators.RESULTS)
    assert "nan" not in text
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert len(blocks) == 2
    for block in blocks:
        assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1
