"""The page about a fabric: what it says was counted, both structures stand on it, names are text."""

import re
from pathlib import Path
from typing import Any

import pytest

from demele.core.errors import InputError, InputTypeError
from demele.models import Fabric, benchmark
from demele.report.fabric import write_fabric
from tests.models.fabrics import trained
from tests.report import test_browser as browser
from tests.report.test_html import Page

needs_browser = pytest.mark.skipif(browser._BROWSER is None, reason="needs a Chromium browser: none is installed")
NAME = "<script>document.title='gone'</script>"


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    """Of 16 links and 32 channels some are gone, and half of the weights that are left are masked."""
    fabric = trained(2)
    fabric.prune("links", 0.3, "magnitude")
    fabric.prune("channels", 0.9, "magnitude", round_to=2)
    fabric.prune("weights", 0.5, "magnitude")
    return fabric


@pytest.fixture(scope="module")
def page(fabric: Fabric, tmp_path_factory: pytest.TempPathFactory) -> Path:
    times = benchmark({"whole": trained(1), NAME: fabric}, batch=2, repeats=1)
    errors = {"before": 0.25, NAME: 0.5}
    return fabric.to_html(
        tmp_path_factory.mktemp("page") / "page.html", timings=times, errors=errors, images=40, name=NAME
    )


def test_counts_and_prunings_are_those_of_the_fabric(fabric: Fabric, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    words, now = Page(text).words, fabric.counts()
    assert re.findall(r'<section id="(\w+)"', text) == [
        *("short", "structure", "counts", "prunings", "errors", "time", "training", "made")
    ]
    assert f"{now.links} of 16 links left" in words
    assert (
        f"{now.parameters:,} of {Fabric(2, 4, 4, image_channels=1).counts().parameters:,} parameters are left" in words
    )
    assert "Nodes keep multiples of 2 channels, and at least 2." in words
    assert "50% of the weights that are left are masked, which makes nothing faster." in words
    assert "Error on held-out images: before 25.0%" in words
    assert "Counted on 40 images" in words
    assert "14.2% to 40.2%" in words  # Wilson's interval of 10 in 40, by hand
    held = Page(text).script("data")
    assert held["counts"] == now.to_dict()
    assert held["whole"]["links"] == 16
    assert [item["limit"] for item in held["prunings"]] == [one["limit"] for one in fabric.prunings]


def test_the_speed_is_that_of_the_fabric_whose_page_it_is(fabric: Fabric, tmp_path: Path) -> None:
    other = trained(2)
    other.prune("links", 0.1, "magnitude")
    times = benchmark({"whole": trained(1), "this": fabric, "other": other}, batch=2, repeats=1)
    times["forward_gain"] = [1.0, 4.4, 4.0]
    words = Page(fabric.to_html(tmp_path / "page.html", timings=times).read_text(encoding="utf-8")).words
    assert "Measured, a forward pass is 4.4 times as fast as that of whole" in words
    without = fabric.to_html(tmp_path / "without.html", timings=times.drop("this")).read_text(encoding="utf-8")
    assert "Measured, a forward pass" not in Page(without).words


def test_both_structures_are_drawn_with_what_is_gone(fabric: Fabric, page: Path) -> None:
    pictures = re.findall(r'<svg class="fabric".*?</svg>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert [picture.count('class="live"') for picture in pictures] == [len(fabric.links), 16]
    assert pictures[0].count('class="gone"') == 16 - len(fabric.links)
    assert pictures[0].count('class="width"') == len(fabric.lattice.nodes)
    assert 'class="width"' not in pictures[1]


def test_names_are_text_and_nothing_is_asked_for(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert NAME not in text
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)", text)


def test_a_whole_fabric_has_one_picture(tmp_path: Path) -> None:
    text = trained(1).to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count('<svg class="fabric"') == 1
    assert "The whole fabric: 16 links" in text
    assert 'id="prunings"' not in text


@needs_browser
def test_no_script_fails(page: Path, tmp_path: Path) -> None:
    document = browser._document_after_scripts(page, tmp_path / "profile")
    assert browser._element(document, "script-errors") == ""
    assert 'data-ready="true"' in document
    assert "<title>What is left of &lt;script&gt;" in document


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"timings": {"forward_ms": 1}}, InputTypeError, "timings: expected the table of demele.models.benchmark"),
        ({"errors": {"before": 0.5}, "images": 0}, InputError, "images: expected"),
        ({"errors": {"before": 12}}, InputError, "errors: expected shares of images, from 0 to 1, got 12"),
    ],
)
def test_what_cannot_be_written_is_refused(given: Any, error: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        trained(1).to_html(tmp_path / "page.html", **given)
    assert not (tmp_path / "page.html").exists()


def test_what_is_no_fabric_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_fabric({"kind": "agreement"}, tmp_path / "page.html")
