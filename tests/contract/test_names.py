"""The names of metrics stand where editors and readers look for them."""

from collections.abc import Callable
from pathlib import Path

import pytest

import demele
from tools.names import PACKAGE, PAGE, homes, with_entries, with_names


@pytest.mark.parametrize(("path", "made"), [(PACKAGE, with_names), (PAGE, with_entries)])
def test_names_are_written(path: Path, made: Callable[[str], str]) -> None:
    text = path.read_text(encoding="utf-8")
    assert made(text) == text, "a metric is missing there: run make names"


def test_a_name_that_is_missing_is_written_in_its_place() -> None:
    text = PACKAGE.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if "jemmig" not in line]
    assert with_names("".join(lines)) == text
    page = PAGE.read_text(encoding="utf-8")
    assert "::: demele.irs\n" in with_entries(page.replace("::: demele.irs\n", ""))
    assert homes()["mig"] == "demele.metrics.information.gaps"


def test_scores_of_dci_name_their_function() -> None:
    told = r"'dci_forest_modularity'; DCI is demele\.dci\(codes, factors, model='forest'\)\.modularity"
    with pytest.raises(AttributeError, match=told):
        demele.dci_forest_modularity  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'mgi'$"):
        demele.mgi  # noqa: B018
