"""The page on which metrics agree says what a study found."""

import numpy as np

from tests.report.sample_agreement import sample_agreement, sample_study
from tools import docs_agreement
from tools.docs_pages import RESULTS


def rows_under(page: str, title: str) -> list[list[str]]:
    """Cells of the first table under a title."""
    lines = page.partition(f"## {title}\n")[2].splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(("| ---", "| --:"))) + 1
    found = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def test_pairs_and_likeness_are_those_found() -> None:
    found = sample_agreement()
    page = docs_agreement.agreement_page(sample_study(), found)
    assert f"**{found.sentence}**" in page
    rows = rows_under(page, "Strongest pairs")
    strongest = max((pair for pair in found.pairs() if np.isfinite(pair.tau)), key=lambda pair: abs(pair.tau))
    assert rows[0][2] == f"{strongest.tau:.2f}"
    named = {frozenset(row[:2]) for row in rows_under(page, "Pairs that others have discussed")}
    assert named == {frozenset({"MIG", "Modularity"}), frozenset({"MIG", "SAP"})}
    assert len(rows_under(page, "Published matrices")) == len(found.likeness_rows())
    assert "r is 0.66" in page
    assert len(rows_under(page, "Stability of rankings")) == len(found.metrics)


def test_the_page_is_that_of_the_stored_rows() -> None:
    pages = docs_agreement.pages(RESULTS)
    assert "36 models" in pages[docs_agreement.PAGE]
    assert docs_agreement.PAGE in docs_agreement.reference(RESULTS)
    assert len(pages[docs_agreement.STUDY].encode()) < 1_000_000
