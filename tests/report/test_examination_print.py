"""Pictures for print of a trained model: those there is something for, the same bytes each time, whatever the names."""

import re
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import demele
from demele.report import examination_print
from demele.report.examination_pictures import strip
from demele.report.examination_print import write_examination_pictures
from tests.install.test_missing_extras import without
from tests.report.sample_examination import picture_content, sample_examination
from tests.report.test_hostile_names import PAGES, renamed
from tests.tolerances import assert_exact

Image = pytest.importorskip("PIL.Image")
NAMES = ["information", "traversals", "reconstructions", "samples", "responses"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures") / "new" / "folder"
    paths = sample_examination().to_pictures(folder)
    assert [path.name for path in paths] == [f"{name}.{form}" for name in NAMES for form in ("png", "svg")]
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    return folder


def texts(svg: Path) -> list[str]:
    """What is written in a picture, in the order of drawing: a comment stands before the outlines of each text."""
    found = re.findall(r"<!-- (.*?) -->", svg.read_text(encoding="utf-8"))
    return [text for text in found if not text.startswith("matplotlib")]


def points(path: Path) -> Any:
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        assert picture.width <= 1400
        return np.asarray(picture.convert("RGB")).astype(int)


def test_the_heat_map_has_codes_in_use_first_and_says_which_are_not(folder: Path) -> None:
    shown = texts(folder / "information.svg")
    assert [text for text in shown if text in ("x", "y", "shade")] == ["x", "y", "shade"]
    assert [text for text in shown if text.startswith("z")] == ["z1", "z2", "z3", "z4 (not in use)"]
    information = sample_examination().information
    assert information is not None
    assert f"{information.to_numpy()[0, 0]:.2f}".removeprefix("0") in shown
    blue = points(folder / "information.png") @ np.array([-1, 0, 1]) > 100  # nearly the darkest of the shades
    down, across = np.nonzero(blue)
    square = (np.ptp(down) + 1) * (np.ptp(across) + 1)
    assert 0.25 < blue.sum() / square < 0.34  # the diagonal of three codes and factors, less what is written there


def test_traversals_are_of_codes_in_use_by_k_from_one_image(folder: Path) -> None:
    shown = texts(folder / "traversals.svg")
    assert [text for text in shown if re.fullmatch(r"z\d", text)] == ["z1", "z2", "z3"]
    assert "0.0 to 5.0" in shown
    kl = sample_examination().codes["kl"]
    assert f"K {kl['z3']:.2f}" in shown


def test_images_are_those_of_the_examination(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figures: list[Any] = []

    def kept(figure: Any, form: str) -> bytes:
        figures.append(figure)
        return b""

    monkeypatch.setattr(examination_print, "figure_bytes", kept)
    look = sample_examination()
    look.to_pictures(tmp_path, formats=("png",))
    moved, made, samples = look.traversals, look.reconstructions, look.samples
    assert moved is not None
    assert made is not None
    assert samples is not None
    difference = np.abs(made.originals.astype(int) - made.made).astype(np.uint8)
    wanted = [[moved.images[0, j] for j in range(3)]]
    wanted += [[made.originals[part], made.made[part], difference[part]] for part in (slice(0, 8), slice(8, None))]
    wanted += [[samples[:8], samples[8:]]]
    shown = [ax.images[0].get_array() for figure in figures[1:4] for ax in figure.axes]
    assert len(shown) == 4
    for picture, rows in zip(shown, wanted, strict=True):
        large = [row.repeat(8, axis=1).repeat(8, axis=2) for row in rows]  # of 8 pixels each way, shown as 64
        assert_exact(np.asarray(picture), strip(large, grey=200)[..., 0])


def test_reconstructions_hold_their_errors_in_greys(folder: Path) -> None:
    shown = texts(folder / "reconstructions.svg")
    assert shown.count("difference") == 2
    assert shown.count("0.0000") == 16
    assert "The worst of 108" in shown
    for name in ("reconstructions", "traversals", "samples"):
        found = points(folder / f"{name}.png")
        assert (found == found[..., :1]).all()


def test_responses_have_a_panel_for_each_code_in_use_and_factor(folder: Path) -> None:
    shown = texts(folder / "responses.svg")
    assert [text for text in shown if text in ("z1", "z2", "z3", "z4")] == ["z1", "z2", "z3"]
    assert [text for text in shown if text in ("x", "y", "shade")] == ["x", "y", "shade"]
    assert sum(re.fullmatch(r"\d+%", text) is not None for text in shown) == 3 * 3


def test_the_same_examination_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    matplotlib.rcParams["axes.titlesize"] = 20.0  # what a user has set is not taken over, and stays
    try:
        again = sample_examination().to_pictures(tmp_path)
        assert matplotlib.rcParams["axes.titlesize"] == 20.0
    finally:
        matplotlib.rcdefaults()
    assert len(again) == 10
    for path in again:
        assert path.read_bytes() == (folder / path.name).read_bytes()


@pytest.mark.parametrize(
    "name", ["$\\frac{$ _x^ \n", "<script>&amp;--></script>", "x" * 300], ids=["mathematics", "markup", "long"]
)
def test_names_are_drawn_as_they_are(name: str, folder: Path, tmp_path: Path) -> None:
    data = picture_content()
    chosen = PAGES["examination"][2](data)
    content = renamed(data, {old: f"{place} {name}" for place, old in enumerate(chosen)})
    paths = write_examination_pictures(content, tmp_path / "folder", ("png",))
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    for path in paths:
        plain, hostile = points(folder / path.name), points(path)
        assert plain.shape == hostile.shape or path.stem == "information"  # whose names may be turned


def test_colours_stay_colours(tmp_path: Path) -> None:
    content = picture_content()
    rgb = np.zeros((4, 6, 6, 3), np.uint8)
    rgb[..., 1] = 255
    content["pictures"] = {**content["pictures"], "samples": rgb}
    write_examination_pictures(content, tmp_path, ("png",))
    found = points(tmp_path / "samples.png")
    assert (found == (0, 255, 0)).all(axis=2).sum() > 10_000


def test_what_is_not_there_is_not_drawn(tmp_path: Path) -> None:
    content: dict[str, Any] = {**picture_content(), "pictures": {}, "scores": None, "information": None}
    content |= {"importances": None, "traversals": {}, "reconstructions": {}, "sweeps": [], "factors": []}
    content["factor_names"] = []
    assert write_examination_pictures(content, tmp_path) == ()


def test_many_codes_and_factors_fit(tmp_path: Path) -> None:
    content = picture_content()
    codes, factors = 30, 14
    one = content["codes"][0]
    content |= {
        "code_names": [f"z{j}" for j in range(codes)],
        "codes": [{**one, "kl": 1.0 + j} for j in range(codes)],
        "factor_names": [f"factor {k}" for k in range(factors)],
        "information": [[0.5] * factors] * codes,
        "sweeps": [],
    }
    moved = np.zeros((1, codes, 3, 8, 8, 1), np.uint8)
    content["traversals"] = {**content["traversals"], "values": [[0.0, 1.0, 2.0]] * codes}
    content["pictures"] = {**content["pictures"], "traversals": moved}
    write_examination_pictures(content, tmp_path)
    shown = texts(tmp_path / "traversals.svg")
    assert [text for text in shown if re.fullmatch(r"z\d+", text)] == [f"z{j}" for j in range(29, 17, -1)]
    assert any("18 further codes in use left out" in text for text in shown)
    assert "factor 13" in texts(tmp_path / "information.svg")
    assert points(tmp_path / "information.png").shape[1] == 1400


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (("png", "gif"), "formats: expected some of png, svg, pdf, got 'gif'"),
        ((), "formats: expected at least one of png, svg, pdf, got none"),
    ],
)
def test_other_formats_are_refused_before_the_folder_is_made(
    tmp_path: Path, formats: tuple[str, ...], message: str
) -> None:
    with pytest.raises(demele.InputError, match=re.escape(message)):
        sample_examination().to_pictures(tmp_path / "folder", formats=formats)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_message_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "matplotlib")
    message = r"a picture for print needs matplotlib: install it with  pip install 'demele\[pictures\]'"
    with pytest.raises(demele.MissingExtraError, match=message):
        sample_examination().to_pictures(tmp_path / "folder")
    assert list(tmp_path.iterdir()) == []
