"""The page about a perturbation test: what stands on it, pictures, hostile names."""

import base64
import functools
import io
import re
from pathlib import Path

import numpy as np
import pytest

from demele.core.errors import InputError
from demele.evaluation import PerturbationTest, perturbation_test
from demele.report.explanations import write_perturbation_test
from demele.report.explanations_drawn import importance_picture
from tests.report.test_html import Page
from tests.tolerances import assert_exact

Image = pytest.importorskip("PIL.Image")

HOSTILE = "<script>alert(1)</script>"


@functools.cache
def sample(noise: float | None = None) -> PerturbationTest:
    """Two maps of a classifier that tells which of two pixels is brighter."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (40, 4, 4, 3), dtype=np.uint8)

    def predict(batch: np.ndarray) -> np.ndarray:
        return batch[:, 0, :2, 0].astype(float) / 255

    maps = np.zeros((40, 4, 4))
    maps[:, 0, :2] = np.where(np.eye(2)[predict(images).argmax(axis=1)] > 0, 1, -0.5)
    labels = None if noise is None else predict(images).argmax(axis=1)
    named = {"own": maps, HOSTILE: -maps}
    return perturbation_test(predict, images, named, labels=labels, noise=noise, destroy=0.0, repeats=4)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return sample().to_html(tmp_path_factory.mktemp("page") / "page.html").read_text(encoding="utf-8")


def test_the_verdict_comes_first_and_all_sections_follow(text: str) -> None:
    assert re.findall(r'<section id="(\w+)"', text) == ["verdict", "curves", "areas", "pairs", "worst", "made"]
    words = Page(text).words
    assert "1 of 2 maps hold." in words
    assert "own is shown to be better than the other." in words
    assert "No label was needed" in words
    assert HOSTILE not in text


def test_curves_and_the_worst_cases_are_drawn(text: str) -> None:
    images = [dict(own) for tag, own in Page(text).elements if tag == "img"]
    assert len(images) == 2 * 12
    assert text.count('<polygon class="band') == 6
    assert text.count('class="own"') == 24
    worst = sample()["own"].worst[0]
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(str(images[0]["src"]).partition(",")[2]))))
    assert pixels.shape == (4, 3 * 4 + 2 * 2, 3)
    assert_exact(pixels[:, :4], worst.image)
    assert_exact(pixels[:, 6:10], importance_picture(worst.importance))
    assert_exact(pixels[:, 12:], worst.destroyed)


def test_corrected_intervals_are_drawn_and_said(tmp_path: Path) -> None:
    text = sample(0.05).to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count('<polyline class="bound') == 12
    assert "A verdict rests on the corrected interval." in " ".join(Page(text).words.split())
    assert "At most 2 of the 40 labels are wrong" in Page(text).words


def test_another_dictionary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="perturbation_test"):
        write_perturbation_test({"kind": "study"}, tmp_path / "page.html")
