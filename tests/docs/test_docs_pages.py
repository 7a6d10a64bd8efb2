"""The one hook of the site: which pages it makes, in which order, and what it puts in the place of marks."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import (
    docs_agreement,
    docs_api,
    docs_bench,
    docs_map,
    docs_measured,
    docs_pages,
    docs_pruning,
    docs_results,
    docs_which,
)

DOCS = Path(__file__).parents[2] / "docs"
#: Marks that need no file of results.
WITHOUT_FILES = {"<!-- arrays -->", docs_agreement.MARK, docs_api.MARK, docs_map.MARK, docs_pruning.MARK}


def _evidence() -> list[str]:
    config = SimpleNamespace(nav=[{"Home": "index.md"}, {"Evidence": [{"Own": "own.md"}]}])
    home, evidence = docs_pages.on_config(config).nav
    assert home == {"Home": "index.md"}
    return [path for page in evidence["Evidence"] for path in page.values()]


def test_results_stand_first_in_the_evidence_in_their_order() -> None:
    assert _evidence() == [
        *docs_bench.TITLES,
        docs_which.PAGE,
        docs_agreement.PAGE,
        docs_pruning.PAGE,
        docs_results.PAGE,
        *(page.path for page in (docs_measured.MMLU, docs_measured.COMPARISONS, docs_measured.METHODS)),
        "own.md",
    ]


@pytest.mark.parametrize("mark", docs_pages.MARKS)
def test_every_mark_has_its_page_and_becomes_figures(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = [page for page in DOCS.rglob("*.md") if mark in page.read_text(encoding="utf-8")]
    assert written
    shown = docs_pages.on_page_markdown(f"a\n{mark}\nb")
    assert mark not in shown
    assert len(shown) > len("a\n\nb")
    monkeypatch.setattr(docs_pages, "RESULTS", tmp_path)
    assert (docs_pages.on_page_markdown(f"a\n{mark}\nb") == "a\n\nb") == (mark not in WITHOUT_FILES)
