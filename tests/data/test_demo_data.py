"""The bundled demonstration: measurements on drawn shapes, and arrays that follow from scikit-learn's digits."""

import importlib.resources

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from demele.core.errors import InputError
from demele.data import FACTOR_UNITS, digit_factors, load_example
from demele.data.examples import _enlarge, _thin
from tests.refusals import refuses
from tests.tolerances import ROUNDING, SOLVER, assert_close, assert_exact

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def blank() -> Floats:
    return np.zeros((8, 8))


def box(top: int, bottom: int, left: int, right: int) -> Floats:
    """Full ink in rows top to bottom - 1 and columns left to right - 1."""
    image = blank()
    image[top:bottom, left:right] = 16
    return image


def measure(image: Floats) -> dict[str, float]:
    frame = digit_factors(image[None])
    return {str(name): float(frame[name].iloc[0]) for name in frame}


@pytest.fixture(scope="module")
def images() -> Floats:
    return np.asarray(load_digits().images, dtype=float)


@pytest.fixture(scope="module")
def pixels() -> Floats:
    return np.asarray(load_digits().data / 16, dtype=float)


# Moments


@pytest.mark.parametrize(("top", "bottom", "left", "right"), [(1, 7, 3, 5), (0, 8, 2, 3), (2, 4, 1, 8), (3, 4, 0, 8)])
def test_box(top: int, bottom: int, left: int, right: int) -> None:
    factors = measure(box(top, bottom, left, right))
    height, width = bottom - top, right - left
    assert_close(factors["area"], width * height, ROUNDING)
    assert_close(factors["height"], height, ROUNDING)
    assert_close(factors["centre_x"], (left + right - 1) / 2, ROUNDING)
    assert_close(factors["centre_y"], (top + bottom - 1) / 2, ROUNDING)
    if height > 1:
        assert_close(factors["slant"], 0, ROUNDING)
        assert_close(factors["width"], width, ROUNDING)
    else:  # nothing leans in a single row
        assert np.isnan(factors["slant"])
        assert np.isnan(factors["width"])


def test_bar_leaning_right_by_one_pixel_a_row() -> None:
    # x = 7 - y: the shear is 1 exactly, hence 45 degrees; upright again, the bar is one pixel wide and 6 high.
    image = blank()
    for y in range(1, 7):
        image[y, 7 - y] = 16
    factors = measure(image)
    assert_close(factors["slant"], 45, ROUNDING)
    assert_close(factors["width"], 1, ROUNDING)
    assert_close(factors["height"], 6, ROUNDING)


def test_three_grey_pixels_by_hand() -> None:
    # Ink 1 at (y 2, x 3), 1/2 at (y 4, x 3), 1/2 at (y 4, x 5). Sum 2.
    # Mean y = (2 + 2 + 2) / 2 = 3; mean x = (3 + 1.5 + 2.5) / 2 = 3.5.
    # var y = (1 * 1 + 1/2 * 1 + 1/2 * 1) / 2 = 1; cov = (1 * -0.5 * -1 + 1/2 * -0.5 * 1 + 1/2 * 1.5 * 1) / 2 = 0.5.
    # slope 0.5: residuals x - 3.5 - (y - 3) / 2 are 0, -1, 1: var = (1/2 + 1/2) / 2 = 0.5.
    image = blank()
    image[2, 3], image[4, 3], image[4, 5] = 16, 8, 8
    factors = measure(image)
    assert_close(factors["area"], 2, ROUNDING)
    assert_close(factors["centre_x"], 3.5, ROUNDING)
    assert_close(factors["centre_y"], 3, ROUNDING)
    assert_close(factors["slant"], -np.degrees(np.arctan(0.5)), ROUNDING)
    assert_close(factors["height"], np.sqrt(13), ROUNDING)
    assert_close(factors["width"], np.sqrt(7), ROUNDING)


# Strokes


def slow_thin(mask: Mask) -> Mask:
    """Guo and Hall (1989), first algorithm, point by point."""
    ink = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    while True:
        start = len(ink)
        for odd in (True, False):
            gone = set()
            for y, x in ink:
                north, north_east, east, south_east, south, south_west, west, north_west = (
                    (y + dy, x + dx) in ink
                    for dy, dx in [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
                )
                components = (
                    (not north and (north_east or east))
                    + (not east and (south_east or south))
                    + (not south and (south_west or west))
                    + (not west and (north_west or north))
                )
                neighbours = min(
                    (north_west or north) + (north_east or east) + (south_east or south) + (south_west or west),
                    (north or north_east) + (east or south_east) + (south or south_west) + (west or north_west),
                )
                if odd:
                    kept = (north or north_east or not south_east) and east
                else:
                    kept = (south or south_west or not north_west) and west
                if components == 1 and neighbours in (2, 3) and not kept:
                    gone.add((y, x))
            ink -= gone
        if len(ink) == start:
            break
    skeleton = np.zeros_like(mask)
    for y, x in ink:
        skeleton[y, x] = True
    return skeleton


def test_thinning_agrees_with_the_definition(images: Floats) -> None:
    masks = _enlarge(images[[0, 4, 7, 8]] / 16) >= 0.4
    skeletons = _thin(masks)
    for mask, skeleton in zip(masks, skeletons, strict=True):
        assert_exact(skeleton, slow_thin(mask))


# Laws


def test_images_are_measured_one_by_one(images: Floats) -> None:
    together = digit_factors(images[:70])  # more than are thinned together
    assert_exact(digit_factors(images[66:67]), together.iloc[66:67])


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((3, 64)), r"expected shape \(n, 8, 8\); got \(3, 64\)"),
        (-np.ones((1, 8, 8)), "outside 0 to 16"),
    ],
)
def test_unusable_images(images: Floats, message: str) -> None:
    refuses(InputError, message, digit_factors, images)


# The bundle


def test_bundled_factors_are_those_of_scikit_learns_digits(images: Floats) -> None:
    factors = load_example().factors
    rows = slice(None, None, 3)
    assert_close(factors[list(FACTOR_UNITS)].iloc[rows], digit_factors(images[rows]), SOLVER)
    assert_exact(factors["class"].to_numpy(dtype=int), load_digits().target)


def test_pca_codes_are_recomputed_up_to_sign(pixels: Floats) -> None:
    codes, expected = load_example("pca").codes.to_numpy(), PCA(10, svd_solver="full").fit_transform(pixels)
    assert_close(codes * np.sign((codes * expected).sum(axis=0)), expected, SOLVER)


def test_bundle_is_small_and_licensed() -> None:
    folder = importlib.resources.files("demele.data")
    assert len((folder / "bundled" / "digits" / "demo.npz.xz").read_bytes()) < 120_000
    licence = (folder / "DIGITS_LICENSE.md").read_text(encoding="utf-8")
    assert "Alpaydin" in licence
    assert "https://creativecommons.org/licenses/by/4.0/" in licence
