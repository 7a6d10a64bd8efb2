"""Every page as it is seen: on a telephone, on paper, in light and dark, and by whoever has a keyboard alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from demele.report.renderers.html import write_page
from tests.report.documents import plain
from tools import browser
from tools.docs_gallery import FOLDER, SHOWN

pytestmark = pytest.mark.skipif(browser.found() is None, reason="needs a Chromium browser: none is installed")

#: A4 without margins of 14 mm.
SHEET = 688
#: Of text and its background, in WCAG 2.2 for AA; large letters need less.
CONTRAST, OF_LARGE = 4.5, 3.0

#: What reaches over the right edge, and cannot be scrolled to by itself.
_CUT = """
[...document.querySelectorAll("main *, header *, footer *")].filter((item) => {
  const box = item.getBoundingClientRect();
  if (!box.width || box.right <= innerWidth + 1) return false;
  for (let above = item.parentElement; above && above !== document.body; above = above.parentElement)
    if (getComputedStyle(above).overflowX !== "visible") return false;
  return true;
}).map((item) => `${item.tagName} ${item.className} ${item.textContent.slice(0, 30)}`).slice(0, 5)
"""

#: Words whose letters are too near to their background, with the ratio; colours are mixed as the screen mixes them.
_PALE = f"""
(() => {{
  const brush = new OffscreenCanvas(1, 1).getContext("2d", {{ willReadFrequently: true }});
  const rgba = (colour) => {{
    brush.clearRect(0, 0, 1, 1); brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255];
  }};
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = (colour) => colour.slice(0, 3).map((x) => x / 255)
    .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (item) => {{
    if (!item) return rgba(getComputedStyle(document.documentElement).getPropertyValue("--page") || "white");
    const own = rgba(getComputedStyle(item).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(item.parentElement));
  }};
  const pale = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {{
    const item = walk.currentNode.parentElement, words = walk.currentNode.data.trim();
    if (!words || item.closest("svg, script, style, [hidden], [disabled], option") || !item.checkVisibility({{
      opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }})) continue;
    const style = getComputedStyle(item), size = parseFloat(style.fontSize);
    if (item.getBoundingClientRect().width < 2) continue;
    let shown = 1;
    for (let above = item; above; above = above.parentElement) shown *= +getComputedStyle(above).opacity;
    const below = behind(item), ink = rgba(style.color);
    const [a, b] = [light(over([ink[0], ink[1], ink[2], ink[3] * shown], below)), light(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    if (ratio < (large ? {OF_LARGE} : {CONTRAST}))
      pale.push(`${{ratio.toFixed(2)}} ${{item.tagName}} ${{item.className}} ${{words.slice(0, 30)}}`);
  }}
  return pale.slice(0, 8);
}})()
"""

#: What can be used, and is shown; a group of buttons that arrows walk through counts once.
_USABLE = """
[...document.querySelectorAll("a[href], button, input, select, summary, textarea, [tabindex]")]
  .filter((item) => item.checkVisibility({ visibilityProperty: true }) && !item.disabled && item.tabIndex >= 0).length
"""
_FOCUSED = """
(() => {
  const item = document.activeElement, style = getComputedStyle(item), box = item.getBoundingClientRect();
  if (item === document.body) return null;
  window.reached ??= new Set(); window.reached.add(item);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return [`${item.tagName} ${item.id} ${item.className} ${item.textContent.trim().slice(0, 20)}`,
          outlined || style.boxShadow !== "none", window.reached.size];
})()
"""


@pytest.fixture(scope="module")
def shown() -> Iterator[browser.Browser]:
    with browser.Browser() as one:
        yield one


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(plain(), tmp_path_factory.mktemp("seen") / "plain.html")


@pytest.mark.parametrize(("width", "media"), [(390, "screen"), (1200, "screen"), (SHEET, "print")])
def test_nothing_is_cut_off(page: Path, width: int, media: Literal["screen", "print"], shown: browser.Browser) -> None:
    shown.visit(page, width=width, media=media)
    assert shown.value(_CUT) == []
    assert shown.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_from_their_background(
    page: Path, scheme: Literal["light", "dark"], shown: browser.Browser
) -> None:
    shown.visit(page, scheme=scheme)
    shown.value("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
    assert shown.value(_PALE) == []


def test_every_control_is_reached_by_the_keyboard_and_shows_it(page: Path, shown: browser.Browser) -> None:
    shown.visit(page)
    usable, reached = shown.value(_USABLE), 0
    for _ in range(min(usable, 60)):
        shown.press("Tab")
        focused: Any = shown.value(_FOCUSED)
        assert focused is not None
        name, visible, reached = focused
        assert visible, name
    assert reached == min(usable, 60)


def test_the_gallery_has_its_pictures_and_stays_small() -> None:
    pictures = [path for path in FOLDER.iterdir() if path.suffix == ".webp"]
    assert {path.stem for path in pictures} == set(SHOWN)
    assert sum(path.stat().st_size for path in pictures) < 1_500_000
