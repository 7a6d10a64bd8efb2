"""The page in a real browser: figures are drawn, nothing fails, nothing is asked of any network."""

import re
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import demele
from demele.report.scores import write_report
from tests.report.sample_evaluation import SPECS, sample_evaluations
from tests.report.sample_examination import sample_examination

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
    assert [document.count(f'data-figure="{kind}"') for kind in ("heat", "bars", "curves")] == [4, 1, 1]
    assert document.count('<rect class="heat-cell"') >= 4 * 4
    assert len(re.findall(r'class="bar c[0-3]"', document)) >= 4 * 4
    assert document.count('aria-label="Heat map of mutual information (nats)') == 4


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


def _opened(write: Callable[..., Path], data: dict[str, Any], folder: Path, script: str = "") -> str:
    """Document after its scripts; ``script`` is run at the end of a copy without the policy."""
    path = write(data, folder / "page.html")
    if script:
        page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text(encoding="utf-8"))
        path.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    text = _document_after_scripts(path, folder / "profile")
    text = re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.DOTALL)
    assert _element(text, "script-errors") == ""
    return text


def _plain(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def test_the_page_on_a_trained_model_starts_and_asks_nothing_of_any_network(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    path = sample_examination().to_html(tmp_path / "vae.html")
    document = re.sub(r"<script>.*?</script>", "", _document_after_scripts(path, tmp_path / "profile"), flags=re.DOTALL)
    assert _element(document, "script-errors") == ""
    assert 'data-ready="true"' in document
    assert not re.search(r'<div class="tools" hidden', document)


# Rows of an evaluation ------------------------------------------------------------------------------------------------


def _of_digits(tmp_path: Path) -> tuple[Any, Callable[..., Path]]:
    sample = demele.data.demo()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", demele.DemeleWarning)
        found = demele.evaluate(sample.codes, sample.factors, ["mig", "mig_sup"])
    return found, lambda data, path: write_report([data], path)


def test_a_cell_of_the_heat_map_shows_its_rows_by_keyboard_and_pointer(tmp_path: Path) -> None:
    found, write = _of_digits(tmp_path)
    keys = (
        "const map = document.querySelector('#matrix-panels svg'); map.focus();"
        "['Home', 'ArrowRight', 'ArrowRight', 'Enter'].forEach((key) =>"
        " map.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));"
    )
    document = _opened(write, found.to_content(), tmp_path, keys)
    panels = _plain(_element(document, "pair"))
    assert "z1 against slant" in panels or "z1 against area" in panels
    assert 'data-figure="density"' in document
    assert document.count('class="dense') > 40
    assert "1,500 of 1,797 rows, drawn at random" in panels
    pressed = (
        "const map = document.querySelector('#matrix-panels svg');"
        "const cell = map.querySelectorAll('.heat-cell')[9 * 5].getBoundingClientRect();"
        "const at = { clientX: cell.left + cell.width / 2, clientY: cell.top + cell.height / 2, bubbles: true };"
        "map.dispatchEvent(new MouseEvent('click', at));"
    )
    document = _opened(write, found.to_content(), tmp_path, pressed)
    assert "z6 against class" in _plain(_element(document, "pair"))
    assert document.count('class="boxed"') == 10
    assert document.count('<circle class="row"') == 1500


def test_chance_is_taken_off_the_heat_map_and_noise_is_struck(tmp_path: Path) -> None:
    found, write = _of_digits(tmp_path)
    (chance,) = found.matrix_chance
    values = found["mig"].matrix_values
    struck = int((values <= chance.limit).sum())
    assert 0 < struck < 10
    document = _opened(write, found.to_content(), tmp_path)
    assert document.count('class="struck"') == struck
    assert f"{struck} of 90 cells tell no more than noise" in document
    shown = "document.getElementById('minus').click();document.getElementById('matrix-values').open = true;"
    document = _opened(write, found.to_content(), tmp_path, shown)
    numbers = re.findall(r'<td class="number">([−0-9.]+)</td>', _element(document, "matrix-values"))
    read = [float(text.replace("−", "-")) for text in numbers]
    assert read == pytest.approx((values - chance.expected).ravel().tolist(), abs=6e-4)
