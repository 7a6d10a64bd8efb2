"""What a user gives of a VAE: read, or refused."""

from typing import Any

from demele.core.checked_numbers import checked_number
from demele.core.errors import InputError, InputTypeError, quoted

#: What multiplies the penalty: nothing, or the pixels relative to the 64 x 64 x 3 in print.
BETA_SCALES = ("raw", "per_pixel")


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
