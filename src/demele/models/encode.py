"""Codes and factors from a trained model of any framework, with checks for common mistakes."""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import is_number
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.given_arrays import whole_array
from demele.core.kinds import Count, checked
from demele.core.names import checked_name
from demele.data.images import ImageSet
from demele.data.sample import Sample
from demele.models.callers import (
    Call,
    Encoded,
    called,
    checked_output,
    default_layout,
    is_module,
    reached_modules,
    read_output,
    telling_of_shapes,
)
from demele.runtime.progress import reporting

if TYPE_CHECKING:
    import pandas as pd


LAYOUTS = ("NCHW", "NHWC")
#: Images that are encoded twice, and the first of them apart from the others.
_TRIED = 8
#: How far codes may differ, relative to the largest, between two calls, and apart and in a batch: half precision and
#: sums in another order differ by less.
_REPEATED, _APART = 1e-5, 1e-2


@checked
def encode(
    model: Any,
    images: ImageSet,
    *,
    output: str | None = None,
    layout: str | None = None,
    value_range: tuple[float, float] = (0.0, 1.0),
    rows: ArrayLike | None = None,
    batch: Count = 64,
) -> Sample:
    """Encode images with a trained model of any framework, for the metrics.

    Parameters
    ----------
    model : torch.nn.Module, method of one, keras.Model, or callable(array) -> codes
        What gives the codes: the *encoder*. A callable is given an array of single precision. It may return an array
        or tensor, a tuple of them, a dictionary (``mean``, ``mu``, ``loc`` or ``embedding``; ``logvar``, ``log_var``,
        ``log_covariance``, ``std`` or ``scale``), or a distribution of PyTorch. A :class:`demele.lab.VAE` has an
        ``encode`` of its own.
    images : ImageSet
        Wrap an array with ``demele.data.ArrayImages(array, factors=frame)``.
    output : str, optional
        What comes: ``"mean"``, ``"mean_logvar"``, ``"mean_variance"`` or ``"mean_std"``, each also with ``"_sample"``
        at its end, for encoders that return a draw besides. Two parts may come as one array, means first. One array
        is taken for means unless this is given; several are refused.
    layout : {"NCHW", "NHWC"}, optional
        Axes of what the model takes. By default channels come first for PyTorch, and last for all else.
    value_range : (float, float), default (0, 1)
        What black and white are to the model: as in its training, such as (-1, 1) or (0, 255).
    rows : array-like of int, optional
        Which images; all by default.
    batch : int, default 64
        Images that are encoded at once, which bounds the memory.

    Returns
    -------
    Sample
        ``codes`` z1, z2, ... (means), ``factors``, and ``codes_std`` if the model gives deviations.

    Raises
    ------
    InputError
        If the encoder samples (two calls differ), the codes of an image depend on the other images of its batch (batch
        norm in training mode), rows are missing, codes are not finite (with the factors of the first such image), two
        arrays are returned and ``output`` does not name them, or the model takes no arrays of that shape.
    InputTypeError, UnknownNameError
        For arguments of another type, and names that are not known.

    Notes
    -----
    Modules are put into evaluation mode, run without gradients, and restored. Modules that a plain function calls are
    not put into any mode: call ``eval()`` on them first. In training mode calls move the running statistics of batch
    norm; they are put back where the variables of the function hold the module (or a method of it), and the error
    says so where none was found.

    Examples
    --------
    >>> from demele.data import ArrayImages, FactorSpace
    >>> grey = np.repeat(np.arange(12, dtype=np.uint8), 16).reshape(12, 4, 4)
    >>> images = ArrayImages(grey, space=FactorSpace({"shade": 12}))
    >>> sample = encode(lambda x: x.mean(axis=(1, 2)), images, value_range=(0, 255))
    >>> sample.codes["z1"].tolist()[:3]
    [0.0, 1.0, 2.0]
    """
    check_images(images)
    known = checked_output(output)
    axes = default_layout(model) if layout is None else checked_name(layout, "layout", LAYOUTS)
    low, high = checked_range(value_range)
    wanted = np.arange(len(images)) if rows is None else whole_array(rows, "rows", dimensions=1)

    def pixels(part: NDArray[Any]) -> NDArray[np.float32]:
        drawn = images.images(part).astype(np.float32) * np.float32((high - low) / 255) + np.float32(low)
        return np.ascontiguousarray(drawn.transpose(0, 3, 1, 2)) if axes == "NCHW" else drawn

    with called(model) as call, reporting() as report:
        first = pixels(wanted[: max(batch, _TRIED)])
        with telling_of_shapes("model", first[:_TRIED].shape, _remedy(layout, axes)):
            _check_calls(call, first, known, moved=_moved(model))
        found: list[Encoded] = []
        for start in range(0, len(wanted), batch):
            part = wanted[start : start + batch]
            own = read_output(call(pixels(part)), known)
            if len(own.mean) != len(part):
                expected = f"expected {len(part)} rows of codes, one per image"
                raise InputError("model", f"{expected}, got {len(own.mean)} from image {part[0]} on")
            if found and own.mean.shape[1] != found[0].mean.shape[1]:
                expected = f"expected {found[0].mean.shape[1]} codes as before"
                raise InputError("model", f"{expected}, got {own.mean.shape[1]} from image {part[0]} on")
            found.append(own)
            if report is not None:
                done = start + len(part)
                report(done, len(wanted), f"{done:,} of {len(wanted):,} images encoded")
    mean = np.concatenate([one.mean for one in found]) if found else np.zeros((0, 0))
    stds = [one.std for one in found if one.std is not None]
    name = getattr(model, "__qualname__", type(model).__name__)
    stored = "" if (low, high) == (0, images.stored_white) else f", stored from 0 to {images.stored_white}"
    told = f"Codes of {images.name} by {name}; pixels from {low:g} to {high:g}{stored}."
    return sample_of(mean, np.concatenate(stds) if stds else None, images, wanted, provenance=told)


def sample_of(
    mean: NDArray[np.float64],
    std: NDArray[np.float64] | None,
    images: ImageSet,
    rows: NDArray[Any],
    *,
    provenance: str,
) -> Sample:
    """Return codes with the factors of their images.

    Raises
    ------
    InputError
        If a number is not finite, naming the first row and its factors.
    """
    for what, numbers in (("codes", mean), ("standard deviations", std)):
        if numbers is not None and not np.isfinite(numbers).all():
            wrong = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
            row = int(rows[wrong[0]])
            values = images.factors([row]).iloc[0].to_dict()
            factors = ", ".join(f"{name} {value}" for name, value in values.items()) or "no factors"
            raise InputError(
                "model",
                f"{what} of {len(wrong)} of {len(rows)} images are not finite, first of image {row} ({factors})",
            )
    return Sample(_table(mean), images.factors(rows), provenance, codes_std=None if std is None else _table(std))


def _table(numbers: NDArray[np.float64]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(numbers, columns=[f"z{number}" for number in range(1, numbers.shape[1] + 1)])


def _remedy(layout: str | None, axes: str) -> str:
    """Say what to do about a model that cannot take the images."""
    if layout is None and axes == "NHWC":
        return "a function is given channels last; if its model takes them first, pass `layout='NCHW'`"
    return f"`layout` says where channels are, now {axes}; a network may also take another size of images"


def _moved(model: Any) -> str:
    """Say what may have become of running statistics, where nobody could put them back."""
    if is_module(model) or "torch" not in sys.modules or reached_modules(model):
        return ""
    return (
        "; no variable of the function holds its network, so running statistics of batch norm have moved if it was in "
        "training mode: load its weights again"
    )


def _check_calls(call: Call, first: NDArray[np.float32], output: str | None, *, moved: str) -> None:
    """Refuse encoders that draw, and those whose codes depend on the batch; found out on the first images.

    ``moved`` says what the calls may have changed.

    Raises
    ------
    InputError
    """
    tried = first[:_TRIED]
    if not len(tried):
        return
    once, again = (read_output(call(tried.copy()), output) for _ in range(2))
    if len(once.mean) != len(tried) or not np.isfinite(once.mean).all():
        return  # told with its row where all images are encoded
    if not _are_same(once.mean, again.mean, _REPEATED):
        raise InputError(
            "model",
            "two calls on the same images give different codes: the encoder samples, or dropout is on; give what "
            f"returns the mean, and say so with `output='mean_logvar'` if the variance comes with it{moved}",
        )
    # Twice, since batch norm in training mode takes no single image.
    apart = read_output(call(tried[[0, 0]]), output).mean[:1]
    whole = read_output(call(first.copy()), output).mean[: len(apart)]
    if len(first) > 1 and apart.shape == whole.shape and not _are_same(apart, whole, _APART):
        raise InputError(
            "model",
            "the codes of an image depend on the rest of its batch, as with batch norm in training mode; call eval() "
            f"on the network, or training=False{moved}",
        )


def _are_same(one: NDArray[np.float64], other: NDArray[np.float64], tolerance: float) -> bool:
    return one.shape == other.shape and bool(np.abs(one - other).max() <= tolerance * max(np.abs(one).max(), 1e-12))


def checked_range(value_range: Any) -> tuple[float, float]:
    """Return what black and white are to a model.

    Raises
    ------
    InputTypeError
    """
    ends = tuple(value_range) if isinstance(value_range, tuple | list) else ()
    if len(ends) != 2 or not all(is_number(end) and np.isfinite(end) for end in ends) or ends[0] == ends[1]:
        raise InputTypeError("value_range", f"expected (black, white), such as (0, 1), got {quoted(value_range)}")
    return float(ends[0]), float(ends[1])


def check_images(images: Any) -> None:
    """Refuse what is no image set.

    Raises
    ------
    InputTypeError
    """
    if not isinstance(images, ImageSet):
        hint = (
            "; wrap an array: demele.data.ArrayImages(array, factors=frame)" if isinstance(images, np.ndarray) else ""
        )
        raise InputTypeError("images", f"expected an image set, got {type(images).__name__}{hint}")
