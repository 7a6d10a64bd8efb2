"""The document of a trained model: verdict first, then what its codes do."""

from pathlib import Path

import pytest

from demele.lab import Examination
from demele.report.document import Strips
from tests.core import test_result as forms
from tests.studies.models import examined


@pytest.fixture(scope="module")
def look() -> Examination:
    return examined()


def test_the_verdict_comes_first(look: Examination) -> None:
    document = look.document()
    assert document.headline == "3 of 3 factors have a code of their own."
    assert isinstance(document.figure, Strips)
    assert [strip.pill and strip.pill.text for strip in document.figure.rows] == ["one code"] * 3
    assert [row[0] for row in document.table.rows] == ["\u2068x\u2069", "\u2068y\u2069", "\u2068shade\u2069"]
    titles = [section.title for section in document.sections]
    assert titles == sorted(titles, key=forms.TITLES.index)
    assert {"Scores", "Code-factor matrix", "Curves", "Traversals", "Reconstructions", "Data"} <= set(titles)


def test_an_examination_has_every_form(look: Examination, tmp_path: Path) -> None:
    forms.test_a_result_has_every_form(look, tmp_path)
    forms.keeps_the_rules(look)
    found = look.to_dict()
    assert "samples" not in found
    assert "images" not in found["traversals"]
    assert found["traversals"]["change"] == look.traversals.change.tolist()
