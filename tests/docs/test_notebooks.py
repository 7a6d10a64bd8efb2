"""The notebooks of the documentation run, and show what they say."""

from pathlib import Path

import pytest

from tools.docs_notebooks import NOTEBOOKS, ROOT, executed, read, shown

pytest.importorskip("nbclient")


def test_each_pillar_has_a_notebook_that_the_pages_link_to() -> None:
    page = (ROOT / "docs" / "howto" / "pictures-and-notebooks.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS] == ["a-representation.ipynb", "two-classifiers.ipynb"]
    assert all(f"../notebooks/{path.name}" in page for path in NOTEBOOKS)
    assert all(path.stat().st_size < 300_000 for path in NOTEBOOKS)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of the kernel, which are not ours to close
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_says(path: Path) -> None:
    written = shown(read(path))
    assert sum(map(len, written)) >= 5
    assert shown(executed(path)) == written, "python -m tools.docs_notebooks --write puts the new output in"
