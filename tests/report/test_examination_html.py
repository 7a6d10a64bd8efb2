"""The page about a trained model: what stands on it, its pictures, its size."""

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demele.core.errors import InputError
from demele.report.examination import write_examination
from demele.report.examination_pictures import MOST_BYTES, Album, png, strip
from tests.report.sample_examination import picture_content, sample_examination
from tests.report.test_html import Page
from tests.tolerances import assert_exact

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = sample_examination().to_html(tmp_path_factory.mktemp("page") / "vae.html")
    return path.read_text(encoding="utf-8")


def _images(text: str) -> list[dict[str, str]]:
    """Attributes of the pictures of a page."""
    found = [own for tag, own in Page(text).elements if tag == "img"]
    return [{name: value or "" for name, value in own.items()} for own in found]


def test_sections_stand_in_the_order_of_reading(text: str) -> None:
    names = ["verdict", "scores", "held", "codes", "traversals", "reconstructions", "sweeps", "samples", "made"]
    assert re.findall(r'<section id="(\w+)"', text) == names


def test_the_verdict_says_what_is_held_and_how_well_pixels_are_told(text: str) -> None:
    words = Page(text).words
    assert "3 of 3 factors have a code of their own." in words
    assert "3 of 4 codes are in use; z4 is not." in words
    assert "Reconstructions explain 100% of the variance of the pixels." in words
    assert "MIG is " in words
    assert "by chance" in words


def test_each_picture_is_in_the_page_and_has_words(text: str) -> None:
    images = _images(text)
    assert len(images) == 4 + 16 + 3 + 1
    assert all(own["src"].startswith("data:image/png;base64,") and own["class"] == "pixels" for own in images)
    assert images[0]["alt"].startswith("z")
    assert re.search(r"z1 from 0\.00 to 5\.00 in 9 steps, 3 images; tells most of x", text)
    assert "image-rendering: pixelated" in text
    assert len(text) < 3_000_000


def test_a_row_of_pictures_holds_the_traversal(text: str) -> None:
    found = next(own for own in _images(text) if own["alt"].startswith("z1 "))
    moved = sample_examination().traversals
    assert moved is not None
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(found["src"].partition(",")[2]))))
    assert pixels.shape == (3 * 10 - 2, 9 * 10 - 2)
    assert (found["width"], found["height"]) == (str(8 * 88), str(8 * 28))
    for anchor in range(3):
        for step in range(9):
            one = pixels[10 * anchor : 10 * anchor + 8, 10 * step : 10 * step + 8]
            assert_exact(one, moved.images[anchor, 0, step, :, :, 0])


def test_samples_from_the_prior_stand_in_one_picture_with_what_they_say(text: str) -> None:
    found = next(own for own in _images(text) if "drawn from the prior" in own["alt"])
    assert found["alt"] == "16 images that the decoder makes of codes drawn from the prior"
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(found["src"].partition(",")[2]))))
    samples = sample_examination().samples
    assert samples is not None
    assert_exact(pixels, strip([samples[:8], samples[8:]])[..., 0])
    assert "mean that the codes of the data do not fill the prior" in Page(text).words


def test_without_a_decoder_there_are_no_samples(tmp_path: Path) -> None:
    content = picture_content()
    path = write_examination({**content, "pictures": {**content["pictures"], "samples": None}}, tmp_path / "page.html")
    text = path.read_text(encoding="utf-8")
    assert 'id="samples"' not in text
    assert 'id="sweeps"' in text


def test_codes_that_are_not_in_use_are_folded(text: str) -> None:
    folded = re.search(r"<details><summary>1 code not in use</summary>(.*?)</details>", text, flags=re.DOTALL)
    assert folded
    assert "z4" in folded[1]


def test_what_went_wrong_stands_in_the_verdict(tmp_path: Path) -> None:
    content = picture_content()
    note = {"code": "equal-codes", "message": "code 'a' is code 'b' again", "subject": [], "severity": "warning"}
    path = write_examination({**content, "notes": [note]}, tmp_path / "page.html")
    assert "Code 'a' is code 'b' again." in Page(path.read_text(encoding="utf-8")).words


def test_a_page_without_factors_and_pictures(tmp_path: Path) -> None:
    content: dict[str, Any] = {**picture_content(), "pictures": {}, "scores": None, "information": None}
    content |= {"importances": None, "traversals": {}, "reconstructions": {}, "sweeps": [], "factors": []}
    content["factor_names"] = []
    path = write_examination(content, tmp_path / "page.html")
    page = Page(path.read_text(encoding="utf-8"))
    assert "Without factors there is nothing to score" in page.words
    assert "img" not in [tag for tag, _ in page.elements]


def test_other_dictionaries_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the dictionary of one examination"):
        write_examination({"kind": "evaluation"}, tmp_path / "page.html")


def test_many_large_pictures_are_made_smaller_until_they_fit() -> None:
    rng = np.random.default_rng(0)
    noise = {str(k): rng.integers(0, 256, (400, 1200, 3), dtype=np.uint8) for k in range(4)}
    album = Album(noise)
    total = sum(len(base64.b64decode(album.attributes(name, 1)["src"].partition(",")[2])) for name in noise)
    assert total <= MOST_BYTES
    assert (album.colours, album.kept) != (None, 1)
    assert (album.attributes("0", 2)["width"], album.attributes("0", 2)["height"]) == (2400, 800)
    assert Album({"0": noise["0"][:50, :50]}).colours is None


def test_a_page_of_large_noisy_pictures_stays_small_and_says_so(tmp_path: Path) -> None:
    content = picture_content()
    rng = np.random.default_rng(0)
    shapes = {"traversals": (3, 4, 9), "originals": (16,), "made": (16,), "samples": (16,)}
    noise = {name: rng.integers(0, 256, (*shape, 96, 96, 3), dtype=np.uint8) for name, shape in shapes.items()}
    assert sum(one.size for one in noise.values()) > 3_000_000
    path = write_examination(
        {**content, "pictures": {**noise, "sweeps": content["pictures"]["sweeps"]}}, tmp_path / "a"
    )
    text = path.read_text(encoding="utf-8")
    assert len(text) < 3_000_000
    assert re.search(r"Pictures hold \d+ colours.*, to keep the page small", Page(text).words)


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_survive(channels: int) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (2, 3, 5, 4, channels), dtype=np.uint8)
    held = np.asarray(Image.open(io.BytesIO(png(strip(pixels)))))
    held = held.reshape(*held.shape[:2], channels)
    assert_exact(held[7 : 7 + 5, 6 : 6 + 4], pixels[1, 1])
