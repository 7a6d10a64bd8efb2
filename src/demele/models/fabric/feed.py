"""Images and their classes as a fabric is given them: epoch by epoch, or all in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import checked_count, checked_number, checked_whole
from demele.core.errors import InputError, InputTypeError
from demele.core.extras import require
from demele.core.labelled import plain_text, read_labels
from demele.core.seeds import checked_seed, rng_for
from demele.data.images import ImageSet, digest_of
from demele.models.fabric.network import seen
from demele.models.fabric.spec import FabricSpec, check_size
from demele.models.given import check_images
from demele.models.pixels import is_held, stored

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    torch = require("torch", purpose="a fabric")
    Tensor = torch.Tensor

#: Images that are looked at together where nothing is learnt.
LOOKED_AT = 256


class Feed:
    """Images, and classes if there are any, of a training or of an evaluation.

    Parameters
    ----------
    images : ImageSet
    labels : array of int of shape (n,), optional
        As :func:`checked_labels` returns them.
    device : str
    """

    def __init__(self, images: ImageSet, labels: NDArray[np.int64] | None, device: str) -> None:
        self._images, self._device = images, device
        given = np.zeros(len(images), dtype=np.int64) if labels is None else labels
        self._labels = torch.from_numpy(given).to(device)
        self._held = stored(images, np.arange(len(images)), device) if is_held(images) else None

    def batch(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return some images as a fabric sees them, and their classes."""
        places = torch.from_numpy(rows).to(self._device)
        found = stored(self._images, rows, self._device) if self._held is None else self._held[places]
        return seen(found), self._labels[places]

    def epoch(self, epoch: int, *, batch: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield every image once, in an order that is a function of seed and epoch.

        What is left over when they are divided is spread over all batches: the statistics of a small last one would
        stay in the norms, and its step be as long as any.
        """
        order = rng_for(seed, "order", epoch).permutation(len(self._images))
        for rows in np.array_split(order, len(order) // batch):
            yield self.batch(rows)

    def batches(self, rows: NDArray[np.int64] | None = None, size: int = LOOKED_AT) -> list[tuple[Tensor, Tensor]]:
        """Return rows, by default all, in order and in batches."""
        wanted = np.arange(len(self._images)) if rows is None else rows
        return [self.batch(wanted[start : start + size]) for start in range(0, len(wanted), size)]


def checked_labels(labels: ArrayLike | Any, n: int, classes: int) -> NDArray[np.int64]:
    """Return one class for each image, as numbers.

    Raises
    ------
    InputError, InputTypeError
        For another number of labels, or labels that are no classes of the fabric.
    """
    found = read_labels(labels, "labels")
    expected = f"classes from 0 to {classes - 1}, whole numbers"
    if found.dtype.kind != "i":
        raise InputTypeError("labels", f"expected {expected}, got {plain_text(found[0])}; number the classes")
    if len(found) != n:
        raise InputError("labels", f"expected one for each of the {n} images, got {len(found)}")
    odd = np.flatnonzero((found < 0) | (found >= classes))
    if odd.size:
        raise InputError("labels", f"expected {expected}, got {found[odd[0]]} at row {odd[0]} ({odd.size} such rows)")
    return found.astype(np.int64)


def checked_images(images: Any, spec: FabricSpec) -> ImageSet:
    """Return images that a fabric takes.

    Raises
    ------
    InputError, InputTypeError
    """
    check_images(images)
    check_size(spec, images.shape)
    return images  # type: ignore[no-any-return]


def training_of(
    images: ImageSet,
    labels: NDArray[np.int64],
    *,
    batch: Any,
    rate: Any,
    momentum: Any,
    weight_decay: Any,
    milestones: Any,
    seed: Any,
) -> dict[str, Any]:
    """Return what is asked of a training, checked, by the names of :class:`TrainingSpec`.

    Raises
    ------
    InputError
    """
    n = len(images)
    share = "a number in [0, 1)"
    return {
        "images": images.name,
        "digest": images.digest,
        "labels": digest_of("labels", labels),
        "n": n,
        "batch": checked_whole(
            batch, "batch", f"images from 2 to {n}, all there are", inside=lambda one: 2 <= one <= n
        ),
        "rate": checked_number(rate, "rate", "a finite number above 0", inside=lambda one: 0 < one < float("inf")),
        "momentum": checked_number(momentum, "momentum", share, inside=lambda one: 0 <= one < 1),
        "weight_decay": checked_number(weight_decay, "weight_decay", share, inside=lambda one: 0 <= one < 1),
        "milestones": [checked_count(one, "milestones", 0) for one in milestones],
        "seed": checked_seed(seed),
    }
