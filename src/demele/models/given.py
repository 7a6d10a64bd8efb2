"""What a user gives of a model and its training: read, or refused."""

from typing import Any

import numpy as np

from demele.core.errors import InputTypeError
from demele.data.images import ImageSet


def check_images(images: Any) -> None:
    """Refuse what is no image set.

    Raises
    ------
    InputTypeError
    """
    if not isinstance(images, ImageSet):
        hint = "; wrap an array: demele.data.ArrayImages(array, factors)" if isinstance(images, np.ndarray) else ""
        raise InputTypeError("images", f"expected an image set, got {type(images).__name__}{hint}")
