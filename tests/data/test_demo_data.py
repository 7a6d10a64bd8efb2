"""The bundled demonstration: measurements on drawn shapes, and arrays that follow from scikit-learn's digits."""

import importlib.resources
from dataclasses import FrozenInstanceError

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from demele.core.errors import InputError, UnknownNameError
from demele.data import FACTOR_UNITS, demo, demo_names, digit_factors
from demele.data.digits import _enlarge, _thin
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


def test_bar_leaning_left_by_half_a_pixel_a_row() -> None:
    # Row y has its ink centred on 2 + y / 2: one pixel, or two half-inked ones. cov(x, y) = var(y) / 2.
    # Upright again, the rows alternate between variance 0 and 1/4: var = 1/8, width = sqrt(12 / 8 + 1).
    image = blank()
    for y in range(8):
        image[y, 2 + y // 2] += 8
        image[y, 2 + (y + 1) // 2] += 8
    factors = measure(image)
    assert_close(factors["slant"], -np.degrees(np.arctan(0.5)), ROUNDING)
    assert_close(factors["width"], np.sqrt(2.5), ROUNDING)
    assert_close(factors["height"], 8, ROUNDING)
    assert_close(factors["area"], 8, ROUNDING)


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


@pytest.mark.parametrize("thickness", [1, 2, 3])
@pytest.mark.parametrize("lying", [False, True])
def test_longer_bar_has_a_skeleton_longer_by_as_much(thickness: int, lying: bool) -> None:
    # The ends are alike, so what they cost cancels: the difference in length is exact.
    def length(rows: int) -> float:
        bar = box(1, 1 + rows, 3, 3 + thickness)
        return measure(bar.T if lying else bar)["length"]

    assert_close(length(7) - length(5), 2, ROUNDING)
    assert 5 - thickness <= length(5) <= 5  # a free end is shorter by about half the thickness


@pytest.mark.parametrize("falling", [False, True])
def test_longer_diagonal_has_a_skeleton_longer_by_as_much(falling: bool) -> None:
    def length(rows: int) -> float:
        band = 16 * (np.eye(8) + np.eye(8, k=1) + np.eye(8, k=-1))
        band[rows:] = band[:, rows:] = 0
        return measure(band if falling else band[:, ::-1])["length"]

    assert_close(length(8) - length(6), 2 * np.sqrt(2), ROUNDING)


@pytest.mark.parametrize("thickness", [1, 2, 3])
def test_thickness_of_bars(thickness: int) -> None:
    # The threshold lies below one half, so the edges move out, by less than a subpixel on each side; the two ends
    # taper, and half a subpixel is the precision of the distance.
    upright, lying = box(0, 8, 2, 2 + thickness), box(2, 2 + thickness, 0, 8)
    for bar in (upright, lying):
        assert thickness - 1 / 8 <= measure(bar)["thickness"] <= thickness + 3 / 8


def test_ring_is_as_long_as_its_middle_line() -> None:
    # A square frame, one pixel thick, whose middle line is 4 * 5 = 20 long. Rounding its corners off cuts each of the
    # four by less than (2 - sqrt 2) * 1 pixel.
    ring = box(1, 7, 1, 7) - box(2, 6, 2, 6)
    assert 20 - 4 * (2 - np.sqrt(2)) <= measure(ring)["length"] <= 20


def test_enlargement_is_spline_zoom(images: Floats) -> None:
    expected = ndimage.zoom(np.pad(images[7], 1), 8, order=3, mode="grid-constant", grid_mode=True)
    assert_close(_enlarge(images[5:9])[2], expected, ROUNDING)


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


def test_thinning_keeps_pieces_and_holes_and_leaves_lines(images: Floats) -> None:
    masks = _enlarge(images[::10] / 16) >= 0.4
    skeletons = _thin(masks)
    eight = np.ones((3, 3))
    for mask, skeleton in zip(masks, skeletons, strict=True):
        assert ndimage.label(skeleton, eight)[1] == ndimage.label(mask, eight)[1]
        assert ndimage.label(~skeleton)[1] == ndimage.label(~mask)[1]
        assert not (skeleton & ~mask).any()
        square = skeleton[1:, 1:] & skeleton[1:, :-1] & skeleton[:-1, 1:] & skeleton[:-1, :-1]
        assert not square.any()


# Laws


def test_shifted_digit_moves_its_centre_and_nothing_else(images: Floats) -> None:
    # No digit of the set leaves its last row free, so it is erased first.
    cropped = images[::60].copy()
    cropped[:, 7] = 0
    before, after = digit_factors(cropped), digit_factors(np.roll(cropped, 1, axis=1))
    expected = before.assign(centre_y=before["centre_y"] + 1)
    assert_close(after, expected, ROUNDING)


def test_mirrored_digit_leans_the_other_way(images: Floats) -> None:
    before, after = digit_factors(images[::60]), digit_factors(images[::60, :, ::-1])
    assert_close(after["slant"], -before["slant"], ROUNDING)
    assert_close(after["centre_x"], 7 - before["centre_x"], ROUNDING)
    for name in ("area", "width", "height", "centre_y"):
        assert_close(after[name], before[name], ROUNDING)


def test_images_are_measured_one_by_one(images: Floats) -> None:
    together = digit_factors(images[:70])  # more than are thinned together
    assert_exact(digit_factors(images[66:67]), together.iloc[66:67])


def test_paper_alone() -> None:
    factors = measure(blank())
    assert (factors["area"], factors["length"]) == (0, 0)
    assert all(np.isnan(factors[name]) for name in FACTOR_UNITS if name not in ("area", "length"))


def test_no_images() -> None:
    assert digit_factors(np.zeros((0, 8, 8))).shape == (0, 8)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((3, 64)), r"expected shape \(n, 8, 8\); got \(3, 64\)"),
        (np.full((2, 8, 8), np.nan), "2 images have intensities outside 0 to 16, first: image 0"),
        (np.stack([box(0, 2, 0, 2), 2 * box(0, 2, 0, 2)]), "1 images have intensities outside 0 to 16, first: image 1"),
        (-np.ones((1, 8, 8)), "outside 0 to 16"),
    ],
)
def test_unusable_images(images: Floats, message: str) -> None:
    with pytest.raises(InputError, match=message):
        digit_factors(images)


# The bundle


def test_bundled_factors_are_those_of_scikit_learns_digits(images: Floats) -> None:
    factors = demo().factors
    rows = slice(None, None, 3)
    assert_close(factors[list(FACTOR_UNITS)].iloc[rows], digit_factors(images[rows]), SOLVER)
    assert_exact(factors["class"].to_numpy(dtype=int), load_digits().target)


def test_pca_codes_are_recomputed_up_to_sign(pixels: Floats) -> None:
    codes, expected = demo("pca").codes.to_numpy(), PCA(10, svd_solver="full").fit_transform(pixels)
    assert_close(codes * np.sign((codes * expected).sum(axis=0)), expected, SOLVER)


def test_ica_codes_span_the_principal_subspace_with_unit_variance(pixels: Floats) -> None:
    codes, components = demo("ica").codes.to_numpy(), demo("pca").codes.to_numpy()
    assert_close(LinearRegression().fit(codes, components).predict(codes), components, SOLVER)
    assert_close(np.cov(codes.T, ddof=0), np.eye(10), SOLVER)


def test_nmf_codes_are_not_negative() -> None:
    assert (demo("nmf").codes.to_numpy() >= 0).all()


def test_autoencoder_keeps_more_than_principal_components(pixels: Floats) -> None:
    # Nothing linear in ten codes reproduces more than the principal components; ten curved ones may. Reading them
    # with nearest neighbours, on rows left out, is a fair test of both.
    def unexplained(name: str) -> float:
        codes = demo(name).codes.to_numpy()  # type: ignore[arg-type]
        return float(((cross_val_predict(KNeighborsRegressor(5), codes, pixels, cv=3) - pixels) ** 2).sum())

    assert unexplained("autoencoder") < unexplained("pca")


def test_autoencoder_codes_are_alive() -> None:
    codes = demo("autoencoder").codes.to_numpy()
    assert (np.abs(codes) < 1).all()
    assert (np.abs(codes) < 0.99).mean() > 0.95  # hyperbolic tangents that do not saturate
    assert (codes.std(axis=0) > 0.1).all()


@pytest.mark.parametrize("name", demo_names())
def test_sample_is_typed_and_complete(name: str) -> None:
    sample = demo(name)  # type: ignore[arg-type]
    assert list(sample.codes) == [f"z{j}" for j in range(1, 11)]
    assert list(sample.factors) == ["class", *FACTOR_UNITS]
    assert (sample.codes.dtypes == np.float64).all()
    assert (sample.factors[list(FACTOR_UNITS)].dtypes == np.float64).all()
    assert isinstance(sample.factors["class"].dtype, pd.CategoricalDtype)
    assert list(sample.factors["class"].cat.categories) == list(range(10))
    assert len(sample.codes) == len(sample.factors) == 1797
    assert np.isfinite(sample.codes.to_numpy()).all()
    assert not sample.factors.isna().any(axis=None)
    assert np.linalg.matrix_rank(sample.codes.to_numpy()) == 10
    assert "CC BY 4.0" in sample.provenance
    assert "1797 rows, 10 codes, 9 factors" in repr(sample)


def test_default_is_the_autoencoder() -> None:
    assert_exact(demo().codes, demo("autoencoder").codes)


def test_factors_vary_without_outliers() -> None:
    # Far: 3.5 interquartile ranges from the median. Three images in width; in thickness, whose tail is real (a 1 is
    # often one solid bar), 29.
    factors = demo().factors[list(FACTOR_UNITS)]
    low, middle, high = (factors.quantile(q) for q in (0.25, 0.5, 0.75))
    far = ((factors - middle).abs() > 3.5 * (high - low)).mean()
    assert (factors.nunique() > 100).all()
    assert (far.drop("thickness") < 1 / 500).all()
    assert far["thickness"] < 1 / 50


def test_each_call_gives_new_frames() -> None:
    first = demo()
    first.codes.iloc[:] = 0
    first.factors["area"] = 0.0
    again = demo()
    assert (again.codes.std() > 0).all()
    assert again.factors["area"].std() > 0


def test_sample_is_frozen() -> None:
    sample = demo()
    with pytest.raises(FrozenInstanceError):
        sample.provenance = ""  # type: ignore[misc]


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="pca, ica, nmf, autoencoder, got 'vae'"):
        demo("vae")  # type: ignore[arg-type]


def test_bundle_is_small_and_licensed() -> None:
    folder = importlib.resources.files("demele.data")
    assert len((folder / "digits_demo.npz").read_bytes()) < 400_000
    licence = (folder / "DIGITS_LICENSE.md").read_text(encoding="utf-8")
    assert "Alpaydin" in licence
    assert "https://creativecommons.org/licenses/by/4.0/" in licence
