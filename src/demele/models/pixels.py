"""Images as networks see them, and which sets are kept in memory."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require
from demele.data.images import ImageSet

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a network")
    Tensor = torch.Tensor

#: Sets of at most so many bytes are kept in memory while a network is trained on them.
MOST_HELD = 256 << 20


def is_held(images: ImageSet) -> bool:
    """Whether a set is small enough to be drawn or read once, not at every step."""
    return len(images) * math.prod(images.shape) <= MOST_HELD


def stored(images: ImageSet, rows: NDArray[np.int64], device: str) -> Tensor:
    """Return images as they are stored, channels first: (k, C, H, W), uint8."""
    return torch.from_numpy(images.images(rows)).to(device).permute(0, 3, 1, 2).contiguous()


def pixels(images: ImageSet, rows: NDArray[np.int64], device: str) -> Tensor:
    """Return images in single precision, in [0, 1]: (k, C, H, W)."""
    return stored(images, rows, device).float().div_(255)
