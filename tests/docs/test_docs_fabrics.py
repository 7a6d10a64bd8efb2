"""The figures on fabrics say what their rows say, nothing where there are none; the picture has half of the links."""

import csv
from pathlib import Path

from tools import docs_fabrics, docs_pages

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "what-pruning-speeds-up.md"
ROW = {
    "fabric": "8 layers",
    "images": "4 of 8 x 8",
    "achieved %": "50.0",
    "multiply-adds": "12345",
    "exported gain": "3.1",
}


def written(folder: Path, gains: dict[str, str]) -> Path:
    """Rows by what was pruned, with the forward gain of each, in a file of the benchmark."""
    rows = [{**ROW, "pruned": name, "forward gain": gain, "training gain": gain} for name, gain in gains.items()]
    with (folder / docs_fabrics.FILE).open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def test_the_table_holds_all_rows_and_the_sentences_their_range(tmp_path: Path) -> None:
    gains = {"50 % of links, magnitude": "2.5", "50 % of links, random 0": "1.9", "90 % of weights masked": "0.97"}
    text = docs_fabrics.figures(written(tmp_path, gains))
    assert "| 8 layers | 4 of 8 x 8 | 50 % of links, magnitude | 50.0 % | 12,345 | x 2.5 | x 3.1 | x 2.5 |" in text
    assert text.count("| 8 layers |") == 3
    assert "Masks gain between x 0.97 and x 0.97." in text
    assert "The same half of the links gains between x 1.9 and x 2.5" in text


def test_there_is_nothing_without_rows(tmp_path: Path) -> None:
    assert docs_fabrics.figures(tmp_path) == ""


def test_the_page_has_the_mark_and_the_picture() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert docs_fabrics.MARK in text
    measured = (docs_pages.RESULTS / docs_fabrics.FILE).exists()
    assert (docs_pages.MARKS.get(docs_fabrics.MARK) is docs_fabrics.figures) == measured
    assert f"../{docs_fabrics.PICTURE}" in text
    drawn = docs_fabrics.picture()
    assert (drawn.count('class="live"'), drawn.count('class="gone"')) == (38, 38)
