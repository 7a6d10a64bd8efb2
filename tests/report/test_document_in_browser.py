"""The plain page in a real browser: without its script, narrow, dark, printed, and with keyboard and pointer."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demele.report.renderers.html import page
from tests.report.documents import hostile, plain
from tools.browser import Browser, found

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(found() is None, reason="needs a Chromium browser: none is installed"),
]
#: Contrasts of all texts against what is behind them, as WCAG computes them; those below 4.5.
FAINT = """(() => {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const linear = (part) => part <= 0.04 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = rgb(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgb('white');
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const said = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!said || !element.getClientRects().length || element.closest('script, style, select')) continue;
    const [one, other] = [rgb(getComputedStyle(element).color), behind(element)].map(light).sort((a, b) => b - a);
    if ((one + 0.05) / (other + 0.05) < 4.5) faint.push(element.outerHTML.slice(0, 90));
  }
  return faint;
})()"""
#: Whatever a page's console, policy or promises complain about; the page itself must not know of it.
WATCH = """<script>window.complaints = [];
addEventListener('error', (event) => complaints.push(event.message));
addEventListener('unhandledrejection', (event) => complaints.push(String(event.reason)));
console.error = console.warn = (...words) => complaints.push(words.join(' '));</script>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


def visited(browser: Browser, folder: Path, text: str, **how: Any) -> None:
    """Open a page in the browser."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    browser.visit(path, **how)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    text = page(plain(), json.dumps({"value": 1}))
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    visited(browser, tmp_path, policy.sub(lambda _: WATCH, text))
    yield browser
    assert browser.value("complaints") == []


def test_the_policy_lets_the_script_run_and_nothing_else(browser: Browser, tmp_path: Path) -> None:
    for make in (plain, hostile):
        visited(browser, tmp_path, page(make()).replace("</main>", "<script>document.title = 'broken'</script></main>"))
        assert browser.value("document.title") != "broken"
        assert browser.value("document.querySelector('.tools').hidden") is False
        assert browser.value("performance.getEntriesByType('resource').length") == 0


def test_without_its_script_everything_can_be_read(browser: Browser, tmp_path: Path) -> None:
    visited(browser, tmp_path, re.sub(r"<script>.*?</script>", "", page(plain()), flags=re.DOTALL), scheme="dark")
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    shown = "[...document.querySelectorAll('.panel')].every((panel) => panel.getBoundingClientRect().height > 50)"
    assert browser.value(shown)
    assert browser.value("document.querySelector('.evidence').textContent.includes('The score rises with noise.')")


@pytest.mark.parametrize("make", [plain, hostile])
def test_a_phone_scrolls_down_only(make: Any, browser: Browser, tmp_path: Path) -> None:
    visited(browser, tmp_path, page(make()), width=390)
    assert browser.value("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_texts_stand_out(scheme: Any, opened: Browser, tmp_path: Path) -> None:
    opened.visit(tmp_path / "page.html", scheme=scheme)
    assert opened.value(FAINT) == []


def test_print_is_light_and_shows_all_panels(opened: Browser, tmp_path: Path) -> None:
    opened.visit(tmp_path / "page.html", scheme="dark", media="print", width=720)
    assert opened.value("getComputedStyle(document.querySelector('.tools')).display") == "none"
    assert opened.value("[...document.querySelectorAll('.panel')].every((panel) => panel.offsetHeight > 0)")
    opened.value("dispatchEvent(new Event('beforeprint'))")
    assert opened.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.printed().startswith(b"%PDF")


def test_tables_are_sorted_found_and_unfolded(opened: Browser) -> None:
    table = "document.querySelector('table[aria-label=\"Every row\"]')"
    shown = f"[...{table}.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[0].textContent)"
    assert len(opened.value(shown)) == 20
    opened.value(f"{table}.tHead.rows[0].cells[1].firstChild.click()")
    assert opened.value(shown)[0] == "row 7"  # 7 x 7 = 49, the largest value
    assert opened.value(f"{table}.tHead.rows[0].cells[1].getAttribute('aria-sort')") == "descending"
    opened.value(f"{table}.closest('figure').querySelector('.find button').click()")
    assert len(opened.value(shown)) == 50
    find = f"const field = {table}.closest('figure').querySelector('.find input'); field.value = 'ROW 4'; "
    opened.value(find + "field.dispatchEvent(new Event('input'))")
    assert sorted(opened.value(shown)) == sorted(["row 4", *(f"row 4{digit}" for digit in range(10))])
    states = "document.querySelector('table[aria-label=\"Accuracy of each model\"]')"
    opened.value(f"{states}.tHead.rows[0].cells[5].firstChild.click()")
    assert opened.value(f"{states}.tBodies[0].rows[0].cells[5].textContent") == "no data"  # by order, not by text


def test_evidence_opens_by_click_by_keys_and_by_address(opened: Browser) -> None:
    dialog = "document.querySelector('dialog').open && document.querySelector('dialog').textContent"
    opened.value("document.querySelector('[data-for=\"criteria-0-1\"]').click()")
    assert "mig, noise" in opened.value(dialog)
    assert "The score rises with noise." in opened.value(dialog)
    opened.press("Escape")
    assert opened.value(dialog) is False
    grid = "document.querySelector('table[aria-label=Criteria]')"
    assert opened.value(f"{grid}.querySelectorAll('[tabindex=\"0\"]').length") == 1
    opened.press("ArrowLeft")
    assert opened.value("document.getElementById('said').textContent") == "mig, rotation: holds"
    opened.press("ArrowRight")
    opened.press("Enter")
    assert "mig, noise" in opened.value(dialog)
    opened.press("Escape")
    opened.value("location.hash = 'criteria-0-1'")
    assert "mig, noise" in opened.value(f"new Promise((done) => setTimeout(() => done({dialog}), 200))")


def test_a_cell_of_a_heat_map_shows_its_rows(opened: Browser) -> None:
    opened.value("document.querySelector('.heat tbody td:nth-child(3)').click()")
    assert (
        opened.value("document.querySelector('dialog canvas').getAttribute('aria-label')")
        == "z1 against slant, 200 rows"
    )
    painted = (
        "(() => { const pen = document.querySelector('dialog canvas').getContext('2d');"
        "const data = pen.getImageData(0, 0, 560, 420).data;"
        "const at = data.findIndex((part, place) => place % 4 === 3 && part > 170) - 3;"
        "return [...data.slice(at, at + 3)] })()"
    )
    assert opened.value(painted) == pytest.approx([0, 114, 178], abs=3)  # the first colour of the palette


def test_json_and_every_table_can_be_downloaded(opened: Browser) -> None:
    titles = opened.value("[...document.querySelectorAll('#download li')].map((item) => item.textContent)")
    assert titles[:2] == ["All values (JSON)", "Difference to the baseline (CSV)"]
    assert "Every row (CSV)" in titles
    assert opened.value("unpacked(document.getElementById('result-json'))") == {"value": 1}
    csv = opened.value("csvOf(document.querySelector('table[aria-label=\"Accuracy of each model\"]'))")
    assert csv.splitlines()[1] == 'claude_3_opus,85.2%,"[84.2%, 86.2%]",7,< 0.0001,better'
