"""The page on which metrics agree says what a study found."""

from pathlib import Path
from typing import Any

import pytest

from demele.report.agreement_view import agreement_view, headline
from demele.studies.files import DEMO
from tests.report.sample_agreement import sample_agreement, sample_study
from tools import docs_agreement
from tools.docs_pages import RESULTS
from tools.docs_tables import read


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    """The models of a study, and an agreement with metrics that are in print."""
    return {**sample_study().to_dict(), "agreement": sample_agreement()}


def rows_under(page: str, title: str) -> list[list[str]]:
    """Cells of the first table under a title."""
    lines = page.partition(f"## {title}\n")[2].splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("| ---")) + 1
    found = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def test_pairs_and_likeness_are_those_found(content: dict[str, Any]) -> None:
    page = docs_agreement.agreement_page(content, read(RESULTS / "agreement_coverage.csv"), [])
    view = agreement_view(content["agreement"])
    assert str(headline(view)) in page
    rows = rows_under(page, "Pairs that agree most, and least")
    taus = [pair["tau"] for pair in view.matrices["all"].values() if pair["tau"] is not None]
    assert rows[0][1].split()[0] == f"{max(taus):.2f}".removeprefix("0")
    named = {row[0] for row in rows_under(page, "Pairs of which was spoken before")}
    assert named == {"MIG, Modularity", "MIG, SAP"}
    likeness = rows_under(page, "Beside print")
    assert len(likeness) == len(content["agreement"]["likeness"])
    assert "r is 0.66" in page
    assert rows_under(page, "How stable each ranking is")[-1][0] == "the whole matrix (r)"
    assert rows_under(page, "How often the intervals hold the truth")[0][:2] == ["no ties", "8"]


def test_there_is_a_page_where_rows_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_agreement, "DEMO", tmp_path / "nothing")
    assert docs_agreement.pages(tmp_path) == {}
    assert docs_agreement.reference(tmp_path) == ""
    monkeypatch.setattr(docs_agreement, "DEMO", DEMO.parent)
    assert docs_agreement.PAGE in docs_agreement.reference(tmp_path)
