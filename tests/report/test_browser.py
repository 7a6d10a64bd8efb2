"""The page in a real browser: figures are drawn, nothing fails, nothing is asked of any network."""

import json
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

import demele
from demele.report.assessment import write_assessment
from demele.report.decision import write_decision
from demele.report.ranking import write_ranking
from demele.report.scores import write_report
from tests.report.sample_evaluation import SPECS, sample_evaluations
from tests.report.sample_examination import sample_examination
from tests.report.sample_labels import HOSTILE, assessment, decision, inconclusive, largest_bearable, ranking
from tests.tolerances import SOLVER, assert_close

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


# Pages about labels ---------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("write", "data"),
    [
        (write_decision, decision(names=("old", HOSTILE))),
        (write_decision, inconclusive()),
        (write_ranking, ranking(10, reference=True)),
        (write_assessment, assessment(20)),
    ],
)
def test_pages_about_labels_run_under_their_policy(
    write: Callable[..., Path], data: dict[str, Any], tmp_path: Path
) -> None:
    document = _opened(write, data, tmp_path)
    assert not re.search(r'<div class="tools"[^>]*hidden', document)
    assert "<title>broken out</title>" not in document
    assert 'class="sort"' in document


def _slid(data: dict[str, Any], wrong: int, folder: Path) -> str:
    slide = (
        f"const slider = document.getElementById('wrong'); slider.value = '{wrong}';"
        "slider.dispatchEvent(new Event('input'));"
    )
    return _opened(write_decision, data, folder, slide)


def test_the_slider_tells_what_wrong_labels_could_change(tmp_path: Path) -> None:
    first = _slid(decision(), 120, tmp_path)
    assert _plain(_element(first, "wrong-rate")) == "1.00% (120 of 12,000)"
    told = _plain(_element(first, "wrong-says"))
    # 684 - 312 - 2 x 120 = 132 instances, of 12 000.
    assert told.startswith("The verdict stands.")
    assert "In the worst case vit-small would still be better on these instances, by 1.10 points." in told
    assert "564 instances speak for vit-small and 432 for resnet-18" in told
    later = _plain(_element(_slid(decision(), 200, tmp_path), "wrong-says"))
    assert later.startswith("The verdict would not stand in the worst case.")
    assert "would be worse on these instances, by 0.23 points" in later
    other = _plain(_element(_slid(inconclusive(), 100, tmp_path), "wrong-says"))
    assert "stand" not in other
    assert "would be worse on these instances, by 1.33 points" in other


def test_the_test_of_the_slider_is_the_exact_one(tmp_path: Path) -> None:
    sizes = [
        (0, 0),
        (1, 1),
        (1, 0),
        (10, 7),
        (10, 3),
        (57, 40),
        (1000, 500),
        (1000, 560),
        (4321, 2300),
        (900_000, 451_000),
    ]
    look = (
        f"document.body.dataset.tails = {json.dumps(sizes)}.map(([n, k]) => binomialTail(n, k)).join();"
        "document.body.dataset.stands = Array.from({ length: 400 }, (_, m) => m)"
        ".filter((m) => mcnemar(worstCase({ lost: 312, won: 684, neither: 101 }, m)) <= 0.025).length;"
    )
    document = _opened(write_decision, decision(), tmp_path, look)
    found = re.search(r'data-tails="([^"]*)"', document)
    stands = re.search(r'data-stands="(\d+)"', document)
    assert found
    assert stands
    tails = [float(value) for value in found[1].split(",")]
    assert_close(tails, [binom.sf(k - 1, n, 0.5) for n, k in sizes], SOLVER)
    assert int(stands[1]) == 1 + largest_bearable(312, 684, 101)


def test_the_grid_opens_the_evidence_of_a_pair_by_keyboard(tmp_path: Path) -> None:
    data = ranking(10, reference=True)
    steps = (
        "document.querySelector('#grid [tabindex=\"0\"]').focus();"
        "const event = (key) => new KeyboardEvent('keydown', { key, bubbles: true });"
        "['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowUp', 'Enter']"
        ".forEach((key) => document.activeElement.dispatchEvent(event(key)));"
    )
    document = _opened(write_ranking, data, tmp_path, steps)
    assert re.search(r"<dialog[^>]* open", document)
    panel = _plain(document.split("<dialog")[1].split("</dialog>")[0])
    row = next(row for row in data["pairs"] if (row["baseline"], row["candidate"]) == ("model 4", "model 1"))
    assert "model 1 against model 4" in panel
    assert "model 1 is shown to be better." in panel
    assert f"label says model 1: {row['won']:,}" in panel
    assert f"label says model 4: {row['lost']:,}" in panel
    assert f"+{100 * row['difference']:.1f} points" in panel
    assert "On true labels" in panel


def test_long_tables_fold_sort_and_are_searched(tmp_path: Path) -> None:
    look = (
        "const table = document.querySelector('table.classes'); const tell = (name) => {"
        "const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);"
        "document.body.dataset[name] = `${shown.length} ${shown[0] ? shown[0].cells[0].textContent : ''}`; };"
        "tell('folded'); const started = performance.now(); table.tHead.rows[0].cells[1].firstChild.click();"
        "tell('sorted'); document.querySelector('.more').click(); tell('whole');"
        "const find = document.querySelector('.find'); find.value = 'CLASS 77'; find.dispatchEvent(new Event('input'));"
        "tell('found'); document.body.dataset.took = Math.round(performance.now() - started);"
    )
    data = assessment(1000)
    document = _opened(write_assessment, data, tmp_path, look)
    told = dict(re.findall(r'data-(folded|sorted|whole|found|took)="([^"]*)"', document))
    most = max((item for item in data["estimates"] if item["measure"] == "recall" and item["trials"]), key=_trials)
    assert told["folded"].startswith("20 ")
    assert told["sorted"] == f"20 {most['of']}"
    assert told["whole"].startswith("1000 ")
    assert told["found"].startswith("19 ")  # 77, 177, ..., 977 and 770, ..., 779
    assert int(told["took"]) < 5000


def _trials(item: dict[str, Any]) -> float:
    return float(item["trials"])


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
