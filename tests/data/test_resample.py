"""Resizing keeps what it must: sums of weights, constant images, images of equal size; and agrees with Pillow."""

import numpy as np
import pytest

from demele.data.images import Resample, resampled, resampling_matrix, whole_weights
from tests.tolerances import ROUNDING, assert_close, assert_exact

WAYS: tuple[Resample, ...] = ("area", "lanczos")
SIZES = [(128, 64), (96, 64), (64, 32), (7, 3), (3, 7), (5, 5), (1, 4), (4, 1)]


def test_weights_of_each_new_pixel_sum_to_one() -> None:
    for size, new_size in SIZES:
        for resample in WAYS:
            weights, total = whole_weights(size, new_size, resample)
            assert weights.shape == (new_size, size)
            assert_exact(weights.sum(axis=1), [total] * new_size)
            assert_close(resampling_matrix(size, new_size, resample).sum(axis=1), np.ones(new_size), ROUNDING)


def test_area_weights_are_lengths_of_overlap() -> None:
    assert_close(resampling_matrix(3, 2), [[2 / 3, 1 / 3, 0.0], [0.0, 1 / 3, 2 / 3]], ROUNDING)
    assert_close(resampling_matrix(2, 3), [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], ROUNDING)
    assert_close(resampling_matrix(5, 2) @ np.arange(5), [0.8, 3.2], ROUNDING)  # (0 + 1 + 2 / 2) / 2.5


def test_lanczos_weights_by_hand() -> None:
    """From 2 to 1 pixels both are a quarter of the new one away from its centre; from 1 each is a copy."""
    assert_close(resampling_matrix(2, 1, "lanczos"), [[0.5, 0.5]], ROUNDING)
    assert_exact(resampling_matrix(1, 3, "lanczos"), [[1], [1], [1]])
    first = resampling_matrix(4, 2, "lanczos")[0]  # at distances -1/4, 1/4, 3/4, 5/4

    def window(t: float) -> float:
        return float(np.sinc(t) * np.sinc(t / 3))

    by_hand = np.array([window(t) for t in (-0.25, 0.25, 0.75, 1.25)])
    np.testing.assert_allclose(first, by_hand / by_hand.sum(), atol=2e-6)


def test_two_pixels_to_one_is_their_mean_halves_up() -> None:
    pixels = np.array([[0, 1], [0, 2], [3, 4], [254, 255], [10, 255]], dtype=np.uint8)
    assert_exact(resampled(pixels[:, :, None, None], (1, 1)).ravel(), [1, 1, 4, 255, 133])
    assert_exact(resampled(pixels[:, None, :, None], (1, 1)).ravel(), [1, 1, 4, 255, 133])


def test_rows_and_columns_are_not_mixed_up() -> None:
    image = np.zeros((1, 4, 6, 1), dtype=np.uint8)
    image[0, :2, :, 0] = 200  # the upper half
    assert_exact(resampled(image, (2, 3))[0, :, :, 0], [[200] * 3, [0] * 3])
    assert_exact(resampled(image, (2, 1))[0, :, :, 0], [[200], [0]])


@pytest.mark.parametrize("resample", WAYS)
def test_any_batching_gives_the_same_bits(resample: Resample) -> None:
    images = np.random.default_rng(1).integers(0, 256, (70, 12, 12, 3), dtype=np.uint8)
    whole = resampled(images, (5, 7), resample)
    assert_exact(np.concatenate([resampled(images[[row]], (5, 7), resample) for row in range(70)]), whole)
    assert_exact(resampled(images[::-1], (5, 7), resample, block=11)[::-1], whole)


@pytest.mark.parametrize(("size", "levels"), [(128, 1), (96, 3)])
def test_lanczos_is_that_of_pillow(size: int, levels: int) -> None:
    """Pillow rounds and cuts off between its two passes; where much is cut off, as in white noise, they differ more."""
    image_module = pytest.importorskip("PIL.Image")
    y, x = np.indices((size, size)) - size / 2
    images = np.empty((3, size, size), dtype=np.uint8)
    images[0] = np.random.default_rng(2).integers(64, 192, (size, size))
    images[1] = np.clip(127 + 40 * (size / 3 - np.hypot(x, y)), 0, 255)  # a disc whose edge takes six pixels
    images[2] = 127 + 120 * np.sin(x / 4) * np.cos(y / 3)
    theirs = [
        np.asarray(image_module.fromarray(image).resize((64, 64), image_module.Resampling.LANCZOS)) for image in images
    ]
    difference = resampled(images[..., None], (64, 64), "lanczos")[..., 0].astype(int) - np.stack(theirs)
    assert np.abs(difference).max() <= levels
