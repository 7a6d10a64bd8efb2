"""The training of a fabric: its images epoch by epoch, its steps, its file, and its end."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.errors import FormatError, InputError, InputTypeError, quoted
from demele.core.extras import require
from demele.core.labelled import plain_text, read_labels
from demele.core.reading import parsing
from demele.core.seeds import rng_for
from demele.data.images import ImageSet
from demele.models.encode import check_images
from demele.models.fabric.lattice import FabricSpec, TrainingSpec, check_size
from demele.models.fabric.network import LAYOUT, FabricNetwork, check_past, network_from, network_state, seen
from demele.models.networks import is_held, restore, stored
from demele.models.training import DivergedError, KeptTraining, Row

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = require("torch", purpose="a fabric")
    Tensor, functional = torch.Tensor, torch.nn.functional


# Images and classes ---------------------------------------------------------------------------------------------------


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

    def epoch(
        self, epoch: int, *, batch: int, seed: int, crop: int = 0, flip: bool = False
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield every image once, in an order that is a function of seed and epoch, as its crop and flip are.

        What is left over when they are divided is spread over all batches: the statistics of a small last one would
        stay in the norms, and its step be as long as any.
        """
        order = rng_for(seed, "order", epoch).permutation(len(self._images))
        rng = rng_for(seed, "crop and flip", epoch)
        corners, flips = rng.integers(0, 2 * crop + 1, (len(order), 2)), rng.random(len(order)) < 0.5 * flip
        for rows in np.array_split(order, len(order) // batch):
            images, labels = self.batch(rows)
            yield augmented(images, crop, corners[rows], flips[rows]) if crop or flip else images, labels

    def batches(self, rows: NDArray[np.int64] | None = None, size: int = LOOKED_AT) -> list[tuple[Tensor, Tensor]]:
        """Return rows, by default all, in order and in batches."""
        wanted = np.arange(len(self._images)) if rows is None else rows
        return [self.batch(wanted[start : start + size]) for start in range(0, len(wanted), size)]


def augmented(images: Tensor, crop: int, corners: NDArray[np.int64], flips: NDArray[np.bool_]) -> Tensor:
    """Return images cut out of a grey frame of ``crop`` pixels around each (0, after normalisation), some mirrored.

    Parameters
    ----------
    images : tensor of shape (n, channels, height, width)
        As a fabric sees them.
    crop : int
    corners : array of shape (n, 2)
        Upper and left end of each part, from 0 to 2 crop.
    flips : array of bool of shape (n,)

    Examples
    --------
    >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> augmented(image, 1, np.array([[1, 0]]), np.array([True]))[0, 0].tolist()
    [[1.0, 0.0], [3.0, 0.0]]
    """
    height, width = images.shape[2:]
    framed = functional.pad(images, (crop, crop, crop, crop))
    parts = [
        part[:, top : top + height, left : left + width]
        for part, (top, left) in zip(framed, corners.tolist(), strict=True)
    ]
    mirrored = [part.flip(-1) if flip else part for part, flip in zip(parts, flips.tolist(), strict=True)]
    return torch.stack(mirrored).contiguous(memory_format=torch.channels_last)


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


# Training -------------------------------------------------------------------------------------------------------------


class FabricFitting(KeptTraining):
    """The training of a fabric with its file, epoch by epoch; an epoch that is interrupted is lost.

    Parameters
    ----------
    content : mapping
        Where it begins: the content that a file would have.
    spec : TrainingSpec
    feed : Feed
    **where
        Of :class:`KeptTraining`.
    """

    _network: FabricNetwork
    _optimiser: torch.optim.Optimizer

    def __init__(self, content: Mapping[str, Any], spec: TrainingSpec, feed: Feed, **where: Any) -> None:
        super().__init__(spec, LAYOUT, **where)
        self._content, self._spec, self._feed = dict(content), spec, feed

    @property
    def done(self) -> int:
        """Epochs that were made."""
        return int(self._content["epoch"])

    def _settings_in(self, content: Mapping[str, Any], what: str) -> dict[str, Any]:
        given = content["training"]
        if not isinstance(given, Mapping):
            raise FormatError(
                f"{self._path}: holds a fabric and no training of one",
                f"got {quoted(given)}; give another file as checkpoint",
            )
        return TrainingSpec.from_dict(given, what).to_dict()

    def _open(self, content: Mapping[str, Any] | None, until: int) -> None:
        self._content = dict(content or self._content)
        spec, what = self._spec, f"{self._path}: not {LAYOUT.what}"
        with parsing(what):
            check_past(self._content, what)
            self._network = network_from(self._content, what).to(self._device)
            self._optimiser = torch.optim.SGD(
                self._network.parameters(), lr=spec.rate, momentum=spec.momentum, weight_decay=spec.weight_decay
            )
            if self._content["optimiser"] is not None:
                restore(self._optimiser, self._content["optimiser"])
        self._history = {name: list(values) for name, values in self._content["history"].items()}
        self._seconds = float(self._content["seconds"])

    def _advance(self, until: int, interrupted: Callable[[], bool]) -> tuple[int, Row, str] | None:
        row = self._epoch(self.done, interrupted)
        if row is None:
            return None
        finite = all(bool(torch.isfinite(one).all()) for one in self._network.parameters())
        if not (math.isfinite(row["loss"]) and finite):
            raise DivergedError(
                f"the loss or a weight was not finite in epoch {self.done + 1}, at rate {row['rate']:g}; the weights "
                f"are those after {self.done} epochs; lower the rate"
            )
        optimiser = copy.deepcopy(self._optimiser.state_dict())
        kept = {**network_state(self._network), "optimiser": optimiser, "epoch": self.done + 1}
        self._content = {**self._content, **kept}
        return self.done, row, f"epoch {self.done}, loss {row['loss']:.4g}, error {row['error']:.1%}"

    def _is_due(self, until: int) -> bool:
        return self.done < until

    def _state(self) -> dict[str, Any]:
        return {**self._content, "training": self._settings}

    def _epoch(self, epoch: int, interrupted: Callable[[], bool]) -> dict[str, float] | None:
        """Make one epoch; return what it came to, or nothing if it was interrupted."""
        rate, begun = self._spec.rate_in(epoch), time.monotonic()
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._network.train()
        losses, wrong, size = 0.0, 0, 0
        spec = self._spec
        for images, labels in self._feed.epoch(epoch, batch=spec.batch, seed=spec.seed, crop=spec.crop, flip=spec.flip):
            if interrupted():
                return None
            loss, logits = stepped(self._network, self._optimiser, images, labels)
            losses += loss.item() * len(labels)
            wrong += int((logits.argmax(dim=1) != labels).sum())
            size += len(labels)
            if not math.isfinite(losses):
                break
        seconds = max(time.monotonic() - begun, 1e-9)
        figures = {"loss": losses / size, "error": wrong / size, "images_per_second": size / seconds}
        return {"epoch": epoch + 1, "rate": rate, **figures}


def stepped(
    network: FabricNetwork, optimiser: torch.optim.Optimizer, images: torch.Tensor, labels: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one step on a batch; return its loss and its logits, both from before the step."""
    logits = network(images)
    loss = functional.cross_entropy(logits, labels)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return loss, logits
