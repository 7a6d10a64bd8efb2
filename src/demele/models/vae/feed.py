"""What each step of a training is given: rows, noise, pixels. All are functions of the seed, a use and the step.

So there is no generator to save: a training that goes on after a kill sees what it would have seen.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require
from demele.core.seeds import rng_for
from demele.data.images import ImageSet
from demele.models.pixels import is_held, pixels, stored

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a VAE")
    Tensor = torch.Tensor

#: Steps whose rows are drawn at once.
_BLOCK = 1024


class Feed:
    """Rows, noise and pixels of each step.

    Parameters
    ----------
    images : ImageSet
    batch : int
        Rows of a step; of pairs, pairs.
    seed : int
    changed : int, optional
        Draw pairs that differ in so many factors; without it, single images.
    device : str
        Where pixels and noise are wanted.
    """

    def __init__(self, images: ImageSet, *, batch: int, seed: int, changed: int | None, device: str) -> None:
        self._images, self._batch, self._seed, self._changed, self._device = images, batch, seed, changed, device
        self._blocks: dict[str, tuple[int, NDArray[np.int64]]] = {}
        self._held: Tensor | None = None

    def hold(self) -> None:
        """Keep all images in memory if they are few: they are drawn or read once, not at every step."""
        if self._held is None and is_held(self._images):
            self._held = stored(self._images, np.arange(len(self._images)), self._device)

    def rows(self, step: int, use: str = "order") -> NDArray[np.int64]:
        """Return the rows of a step, drawn with replacement; of pairs all first rows, then all second ones."""
        number, place = divmod(step, _BLOCK)
        if self._blocks.get(use, (-1,))[0] != number:
            self._blocks[use] = number, self._drawn_block(use, number)
        found: NDArray[np.int64] = self._blocks[use][1][place]
        return found

    def _drawn_block(self, use: str, number: int) -> NDArray[np.int64]:
        rng = rng_for(self._seed, use, number)
        if self._changed is None:
            return rng.integers(0, len(self._images), (_BLOCK, self._batch))
        pairs = self._images.pairs(_BLOCK * self._batch, self._changed, int(rng.integers(2**63)))
        return np.concatenate([rows.reshape(_BLOCK, self._batch) for rows in pairs], axis=1)

    def rng(self, step: int, use: str) -> np.random.Generator:
        """Return the generator of one use in one step."""
        return rng_for(self._seed, use, step)

    def noise(self, step: int, shape: tuple[int, ...], use: str = "noise") -> Tensor:
        """Return standard normal noise of a step."""
        drawn = self.rng(step, use).standard_normal(shape, dtype=np.float32)
        return torch.from_numpy(drawn).to(self._device)

    def pixels(self, rows: NDArray[np.int64]) -> Tensor:
        """Return images as the networks see them: (k, C, H, W), in [0, 1]."""
        if self._held is None:
            return pixels(self._images, rows, self._device)
        return self._held[torch.from_numpy(rows).to(self._device)].float().div_(255)
