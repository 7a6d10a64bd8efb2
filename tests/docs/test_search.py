"""The documentation's search works on pages that are opened from disk, and asks no network."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


def _small_site(folder: Path) -> Path:
    """Build two pages with the theme, the search and the scripts of the documentation, but without its hooks."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    shutil.copytree(_ROOT / "docs" / "assets", docs / "assets")
    (docs / "index.md").write_text("# Start\n\nNothing of the sort here.\n", encoding="utf-8")
    (docs / "birds.md").write_text("# Birds\n\nA nuthatch climbs headlong.\n", encoding="utf-8")
    plugins = "[search, offline]"
    assert "  - search\n  - offline" in (_ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (folder / "mkdocs.yml").write_text(
        f"INHERIT: {_ROOT / 'mkdocs.yml'}\nnav: [index.md, birds.md]\nhooks: []\nplugins: {plugins}\n", encoding="utf-8"
    )
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--quiet"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "site"


@pytest.mark.skipif(_BROWSER is None, reason="needs a Chromium browser: none is installed")
def test_a_word_is_found_without_a_server(tmp_path: Path) -> None:
    site = _small_site(tmp_path)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--dump-dom"]
    flags += ["--disable-background-networking", "--virtual-time-budget=10000", f"--user-data-dir={tmp_path / 'own'}"]
    page = (site / "index.html").as_uri() + "?q=nuthatch"
    shown = subprocess.run(
        [str(_BROWSER), *flags, page], capture_output=True, text=True, encoding="utf-8", timeout=120, check=True
    ).stdout
    assert "1 matching document" in shown
    assert 'birds.html" class="md-search-result__link"' in shown
