"""What a user gives of a VAE and its training: read, or refused."""

from typing import Any

import numpy as np

from demele.core.checked_numbers import checked_number
from demele.core.errors import InputError, InputTypeError, UnknownNameError, quoted
from demele.core.names import suggestion
from demele.data.images import ImageSet

#: What multiplies the penalty: nothing, or the pixels relative to the 64 x 64 x 3 in print.
BETA_SCALES = ("raw", "per_pixel")


def choice(value: Any, argument: str, known: tuple[str, ...]) -> str:
    """Return one of a few names.

    Raises
    ------
    UnknownNameError
    """
    if value not in known:
        wanted = " or ".join(map(repr, known))
        raise UnknownNameError(argument, f"expected {wanted}, got {quoted(value)}{suggestion(str(value), known)}")
    return str(value)


def checked_bounds(bounds: Any) -> list[float] | None:
    """Return the bounds of log-variances, if there are any.

    Raises
    ------
    InputError, InputTypeError
    """
    if bounds is None:
        return None
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InputTypeError("logvar_bounds", f"expected (lowest, highest), got {quoted(bounds)}")
    low, high = (
        checked_number(one, "logvar_bounds", "finite numbers", inside=lambda one: abs(one) < float("inf"))
        for one in bounds
    )
    if low >= high:
        raise InputError("logvar_bounds", f"expected (lowest, highest), got {quoted(bounds)}")
    return [low, high]


def check_images(images: Any) -> None:
    """Refuse what is no image set.

    Raises
    ------
    InputTypeError
    """
    if not isinstance(images, ImageSet):
        hint = "; wrap an array: demele.data.ArrayImages(array, factors)" if isinstance(images, np.ndarray) else ""
        raise InputTypeError("images", f"expected an image set, got {type(images).__name__}{hint}")
