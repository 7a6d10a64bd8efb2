"""The page in a real browser: figures are drawn, nothing fails, nothing is asked of any network."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from demele.report.html import write_report
from tests.report.sample_evaluation import SPECS, sample_evaluations

_BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(_BROWSER is None, reason="needs a Chromium browser: none is installed")


def _document_after_scripts(path: Path, profile: Path, anchor: str = "") -> str:
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--virtual-time-budget=10000",
        "--dump-dom",
    ]
    command = [str(_BROWSER), *flags, f"--user-data-dir={profile}", path.as_uri() + anchor]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True).stdout


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("browser")
    dictionaries = [item.to_dict() for item in sample_evaluations()]
    path = write_report(dictionaries, folder / "report.html", specs=SPECS)
    text = _document_after_scripts(path, folder / "profile", anchor="#made-2-mig")
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def _element(document: str, identity: str) -> str:
    found = re.search(rf'<(\w+)[^>]*\bid="{identity}"[^>]*>(.*?)</\1>', document, flags=re.DOTALL)
    assert found, identity
    return found[2]


def test_no_script_failed_and_no_request_was_tried(document: str) -> None:
    # The page writes down errors, rejected promises and everything that its policy refused.
    assert _element(document, "script-errors") == ""


def test_all_figures_are_drawn(document: str) -> None:
    # Four heat maps, one figure of bars, one picture of what other factors do.
    assert document.count("js-plotly-plot") == 6
    assert document.count('<g class="hm"><image') == 4
    assert len(re.findall(r'class="point"', document)) >= 4 * 4
    assert document.count('role="img" aria-label="Heat map of mutual information (nats)') == 4


def test_controls_appear_and_hold_the_names(document: str) -> None:
    assert not re.search(r'<div class="controls"[^>]*hidden', document)
    matrices = _element(document, "matrix")
    assert matrices.count("<option") == 6
    assert "Mutual information (nats) (MIG, MIG-sup, Modularity score and" in matrices
    assert "DCIMIG, per factor" in _element(document, "native")
    assert "&lt;b&gt;x&lt;/b&gt; &amp; Größe" in _element(document, "dep-evaluation")


def test_hostile_names_did_nothing(document: str) -> None:
    assert "<title>4 representations, side by side</title>" in document
    assert "broken out'&lt;/script&gt;" in document


def test_an_address_opens_what_it_leads_to(document: str) -> None:
    opened = re.search(r'<details class="made" id="made-2-mig"[^>]*>', document)
    assert opened
    assert "open" in opened[0]
    assert len(re.findall(r'<details class="representation" open', document)) == 1


def test_nothing_comes_from_outside(document: str) -> None:
    addresses = re.findall(r'\b(?:src|href)="([^"]*)"', document)
    assert addresses
    # Heat maps are pictures that the page drew itself.
    assert [a for a in addresses if not a.startswith(("#", "data:"))] == []
