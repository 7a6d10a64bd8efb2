"""The training of a fabric: its images epoch by epoch, its steps, its file, and its end."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import checked_count, checked_number, checked_whole
from demele.core.errors import FormatError, InputError, InputTypeError, NotConvergedWarning, quoted, warn_user
from demele.core.extras import require
from demele.core.labelled import plain_text, read_labels
from demele.core.locks import locked
from demele.core.reading import parsing
from demele.core.seeds import checked_seed, rng_for
from demele.data.images import ImageSet, digest_of
from demele.models.checkpoint import read_checkpoint, refuse_other_version, write_checkpoint
from demele.models.encode import check_images
from demele.models.fabric.lattice import FabricSpec, TrainingSpec, check_size
from demele.models.fabric.network import LAYOUT, FabricNetwork, check_past, network_from, network_state, seen
from demele.models.networks import computing, is_held, restore, stored
from demele.models.specs import refuse_other
from demele.runtime.interrupts import held_interrupts
from demele.runtime.progress import Report, reporting

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


# Training -------------------------------------------------------------------------------------------------------------


OnEpoch = Callable[[dict[str, float]], object]


class FabricFitting:
    """Works off the epochs of a training, and keeps its file.

    Parameters
    ----------
    content : mapping
        Where it begins: what a file would hold.
    spec : TrainingSpec
    feed : Feed
    checkpoint : Path or None
    device : str
    threads : int or None
    """

    def __init__(
        self,
        content: Mapping[str, Any],
        spec: TrainingSpec,
        feed: Feed,
        *,
        checkpoint: Path | None,
        device: str,
        threads: int | None,
    ) -> None:
        self._content, self._spec, self._feed = dict(content), spec, feed
        self._path, self._device, self._threads = checkpoint, device, threads
        self._network: FabricNetwork
        self._optimiser: torch.optim.Optimizer

    def run(self, epochs: int, *, progress: bool | Report, on_epoch: OnEpoch | None) -> dict[str, Any]:
        """Train up to ``epochs``; return what the file holds, or would hold.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; the epoch that was under way is lost.
        """
        alone = nullcontext() if self._path is None else locked(self._path, "checkpoint")
        computed = computing(threads=self._threads, device=self._device, gradients=True)
        with alone, computed, reporting(progress) as report:
            self._open()
            if self._content["status"] != "diverged" and self._content["epoch"] < epochs:
                self._work_off(epochs, report, on_epoch)
            elif self._path is None or not self._path.exists():  # nothing is left to do
                self._keep("done")
        if self._content["problem"]:
            warn_user(self._content["problem"], NotConvergedWarning)
        return self._content

    def _open(self) -> None:
        """Take over what the file holds, if there is one, and make network and optimiser of it."""
        if self._path is not None and self._path.exists():
            content = read_checkpoint(self._path, LAYOUT)
            with parsing(f"{self._path}: not {LAYOUT.what}"):
                refuse_other(_identity(content["training"], self._path), self._spec.to_dict(), self._path)
            refuse_other_version(self._path, content, LAYOUT)
            self._content = content
        what = f"{self._path}: not {LAYOUT.what}"
        with parsing(what):
            check_past(self._content, what)
            self._network = network_from(self._content, what).to(self._device)
            self._optimiser = torch.optim.SGD(
                self._network.parameters(),
                lr=self._spec.rate,
                momentum=self._spec.momentum,
                weight_decay=self._spec.weight_decay,
            )
            if self._content["optimiser"] is not None:
                restore(self._optimiser, self._content["optimiser"])

    def _work_off(self, epochs: int, report: Report | None, on_epoch: OnEpoch | None) -> None:
        """Make the epochs that are left, and keep each."""
        first = self._content["epoch"]
        with held_interrupts() as interrupted:
            for epoch in range(first, epochs):
                begun = time.monotonic()
                row = self._epoch(epoch, interrupted)
                if row is None:
                    self._keep("interrupted")
                    raise KeyboardInterrupt
                if problem := self._problem(epoch, row):
                    self._keep("diverged", problem=problem)
                    return
                self._content = {
                    **self._content,
                    **network_state(self._network),
                    "optimiser": copy.deepcopy(self._optimiser.state_dict()),
                    "epoch": epoch + 1,
                    "training": self._spec.to_dict(),
                    "history": _longer(self._content["history"], row),
                }
                self._keep("done" if epoch + 1 == epochs else "running", seconds=time.monotonic() - begun)
                if on_epoch is not None:
                    on_epoch(row)
                if report is not None:
                    report(epoch + 1, epochs, f"epoch {epoch + 1}, loss {row['loss']:.4g}, error {row['error']:.1%}")

    def _epoch(self, epoch: int, interrupted: Callable[[], bool]) -> dict[str, float] | None:
        """Make one epoch; return what it came to, or nothing if it was interrupted."""
        rate, begun = self._spec.rate_in(epoch), time.monotonic()
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._network.train()
        losses, wrong, size = 0.0, 0, 0
        for images, labels in self._feed.epoch(epoch, batch=self._spec.batch, seed=self._spec.seed):
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

    def _problem(self, epoch: int, row: Mapping[str, float]) -> str:
        """Why the training diverged in an epoch; empty if it did not."""
        finite = all(bool(torch.isfinite(one).all()) for one in self._network.parameters())
        if math.isfinite(row["loss"]) and finite:
            return ""
        return (
            f"the loss or a weight was not finite in epoch {epoch + 1}, at rate {row['rate']:g}; the weights are those "
            f"after {epoch} epochs; lower the rate"
        )

    def _keep(self, status: str, *, seconds: float = 0.0, problem: str = "") -> None:
        self._content = {
            **self._content,
            "status": status,
            "seconds": self._content["seconds"] + seconds,
            "training": self._spec.to_dict(),
            "problem": problem,
        }
        if self._path is not None:
            write_checkpoint(self._path, self._content, LAYOUT)


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


def _longer(history: Mapping[str, list[float]], row: Mapping[str, float]) -> dict[str, list[float]]:
    return {name: [*history.get(name, []), value] for name, value in row.items()}


def _identity(given: Any, path: Path | None) -> dict[str, Any]:
    """Return what a training is, as its file says.

    Raises
    ------
    FormatError
    """
    if not isinstance(given, Mapping):
        raise FormatError(
            f"{path}: holds a fabric and no training of one", f"got {quoted(given)}; give another file as checkpoint"
        )
    return TrainingSpec.from_dict(given, f"{path}: not {LAYOUT.what}").to_dict()
