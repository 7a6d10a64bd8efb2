"""What a decoder makes of codes: traversals, samples from the prior and reconstructions, as arrays of bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import InputError, quoted
from demele.core.seeds import rng_for
from demele.models.encode import as_array, called, telling_of_shapes
from demele.studies.examination import Reconstructions, Traversals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demele.data.images import ImageSet

#: Takes codes (k, n_codes), returns bytes (k, height, width, channels).
Decoder = Callable[[NDArray[np.float64]], NDArray[np.uint8]]

STEPS = 9
#: Quantiles of a code's own means between which it is moved.
ENDS = 0.025, 0.975
#: Images that traversals start from.
ANCHORS = 3
#: Images that are reconstructed to find the worst, and how many are shown at random and of the worst.
TRIED, SHOWN = 1000, 8
#: Codes that are drawn from the prior.
SAMPLES = 16
#: Keys under which dictionaries hold decoded images: those of pythae, and common examples.
KEYS = ("reconstruction", "recon_x", "recon", "x_hat", "images")
#: Codes that are decoded at once.
_BATCH = 256
#: How far decoded codes of images may lie outside the range of pixels, as a share of it.
OUTSIDE = 0.01


@contextmanager
def decoding(
    decode: Any,
    shape: tuple[int, int, int] | None,
    *,
    decoded: str,
    value_range: tuple[float, float],
    outside: float = OUTSIDE,
) -> Iterator[Decoder]:
    """Yield what turns codes into bytes with a user's decoder, which is restored afterwards.

    Parameters
    ----------
    decode : torch.nn.Module, keras.Model, or callable
    shape : (height, width, channels), or None
        Shape of the images; None if they are not known.
    decoded : {"pixels", "logits"}
    value_range : (float, float)
        What black and white are among pixels.
    outside : float
        How far they may lie outside, as a share of the range; pixels further out are refused, others cut off.
    """
    with called(decode) as call:

        def decoder(codes: NDArray[np.float64]) -> NDArray[np.uint8]:
            parts = [codes[start : start + _BATCH] for start in range(0, len(codes), _BATCH)]
            with telling_of_shapes("decode", parts[0].shape, "it may be of a model with another number of codes"):
                found = [as_array(_images_of(call(part.astype(np.float32)))) for part in parts]
            for part, given in zip(parts, found, strict=True):
                if given.ndim == 0 or len(given) != len(part):
                    raise InputError("decode", f"expected {len(part)} images, one per row of codes, got {given.shape}")
            return _bytes(_channels_last(np.concatenate(found), shape), decoded, value_range, outside)

        yield decoder


def _images_of(given: Any) -> Any:
    """Return the images of what a decoder returned: of a dictionary those under a known key.

    Raises
    ------
    InputError
    """
    if not isinstance(given, Mapping):
        return given
    for key in KEYS:
        if key in given:
            return given[key]
    found = ", ".join(map(quoted, list(given)[:10]))
    raise InputError("decode", f"expected a dictionary with a key {quoted(KEYS[0])}, got the keys {found}")


def _channels_last(given: NDArray[Any], shape: tuple[int, int, int] | None) -> NDArray[Any]:
    """Return decoded images with channels last, for any axis of the channels.

    Raises
    ------
    InputError
    """
    own = given.shape[1:]
    if given.ndim == 3 and shape in (None, (*own, 1)):
        return given[..., None]
    if given.ndim == 4 and (own == shape or (shape is None and own[-1] in (1, 3))):
        return given
    if given.ndim == 4 and ((own[1], own[2], own[0]) == shape or (shape is None and own[0] in (1, 3))):
        return given.transpose(0, 2, 3, 1)
    if given.ndim == 2 and shape is not None and own == (np.prod(shape),) and shape[2] == 1:
        return given.reshape(-1, *shape)
    expected = "images of 1 or 3 channels" if shape is None else f"images of {' x '.join(map(str, shape))}"
    raise InputError("decode", f"expected {expected}, channels first or last, got {' x '.join(map(str, own))}")


def _bytes(given: NDArray[Any], decoded: str, value_range: tuple[float, float], outside: float) -> NDArray[np.uint8]:
    """Return pixels as bytes, 0 for black.

    Raises
    ------
    InputError
        If pixels are not finite or lie outside their range.
    """
    if given.dtype == np.uint8:
        return given
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        raise InputError("decode", "pixels are not finite numbers")
    values = given.astype(np.float64)
    if decoded == "logits":
        values = np.exp(-np.logaddexp(0.0, -values))
    else:
        low, high = value_range
        values = (values - low) / (high - low)
        if values.min(initial=0) < -outside or values.max(initial=1) > 1 + outside:
            raise InputError(
                "decode",
                f"expected pixels from {low:g} to {high:g}, got {given.min():.4g} to {given.max():.4g}; give "
                "`decoded='logits'` if a sigmoid is to follow, or `value_range=(-1, 1)` or the like",
            )
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)


def traversals(decoder: Decoder, codes: NDArray[np.float64], *, seed: int) -> Traversals:
    """Return what the decoder makes of each code moved through its own range, others held at those of some images."""
    rng = rng_for(seed, "anchors of traversals", len(codes))
    anchors = np.sort(rng.choice(len(codes), min(ANCHORS, len(codes)), replace=False))
    lowest, highest = np.quantile(codes, ENDS, axis=0)
    values = np.linspace(lowest, highest, STEPS, axis=1)
    d = codes.shape[1]
    asked = np.repeat(codes[anchors], d * STEPS, axis=0).reshape(len(anchors), d, STEPS, d)  # copies: none accumulates
    for code in range(d):
        asked[:, code, :, code] = values[code]
    made = decoder(asked.reshape(-1, d))
    images = made.reshape(len(anchors), d, STEPS, *made.shape[1:])
    return Traversals(images=images, values=values, anchors=anchors, change=change(images))


def prior_samples(decoder: Decoder, n_codes: int, *, seed: int) -> NDArray[np.uint8]:
    """Return what the decoder makes of codes that are drawn from the prior: independent, standard normal."""
    rng = rng_for(seed, "samples from the prior", n_codes)
    return decoder(rng.standard_normal((SAMPLES, n_codes)))


def change(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return by code how much neighbouring pictures of traversals differ; black to white is 1.

    Examples
    --------
    >>> pictures = np.zeros((1, 2, 3, 1, 2, 1), dtype=np.uint8)
    >>> pictures[0, 1, 2] = 255
    >>> change(pictures).tolist()
    [0.0, 0.5]
    """
    steps = np.diff(images.astype(np.float32), axis=2)
    if not steps.shape[2]:
        return np.zeros(images.shape[1])
    return np.asarray(np.abs(steps).mean(axis=(0, 2, 3, 4, 5)).astype(np.float64) / 255)


def reconstructed(decoder: Decoder, codes: NDArray[np.float64], images: ImageSet, *, seed: int) -> Reconstructions:
    """Decode the codes of some images, and compare."""
    rows = tried_rows(len(codes), seed)
    return compared(rows, images.images(rows), decoder(codes[rows]))


def tried_rows(n: int, seed: int) -> NDArray[np.int64]:
    """Return the rows that are reconstructed, in an order drawn at random."""
    return rng_for(seed, "reconstructed images", n).permutation(n)[:TRIED].astype(np.int64)


def compared(rows: NDArray[np.int64], originals: NDArray[np.uint8], made: NDArray[np.uint8]) -> Reconstructions:
    """Return errors of reconstructions, the first ones and the worst.

    Parameters
    ----------
    rows : array of int of shape (n,)
        In random order.
    originals, made : array of uint8 of shape (n, height, width, channels)
    """
    axes = (1, 2, 3)
    given, got = originals.astype(np.float32) / 255, made.astype(np.float32) / 255
    errors = ((given - got) ** 2).mean(axis=axes).astype(np.float64)
    from_mean = ((given - given.mean(axis=0)) ** 2).mean()
    n_random = min(SHOWN, len(rows))
    worst = np.argsort(-errors, kind="stable")[:SHOWN]
    shown = np.concatenate([np.arange(n_random), worst])
    return Reconstructions(
        rows=rows[shown],
        n_random=n_random,
        originals=originals[shown],
        made=made[shown],
        errors=errors[shown],
        mean_error=float(errors.mean()),
        mean_image_error=float(from_mean),
        tried=len(rows),
    )
