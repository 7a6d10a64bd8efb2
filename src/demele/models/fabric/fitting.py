"""A training of a fabric, epoch by epoch: its file, its stop at Ctrl-C, and what is done when it diverges."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.core.errors import FormatError, NotConvergedWarning, quoted, warn_user
from demele.core.extras import require
from demele.core.locks import locked
from demele.core.reading import parsing
from demele.models.checkpoint import read_checkpoint, refuse_other_version, write_checkpoint
from demele.models.fabric.feed import Feed
from demele.models.fabric.network import FabricNetwork
from demele.models.fabric.spec import TrainingSpec
from demele.models.fabric.state import LAYOUT, check_past, network_from, network_state
from demele.models.specs import refuse_other
from demele.models.threads import computing
from demele.models.weights import restore
from demele.runtime.interrupts import held_interrupts
from demele.runtime.progress import Report, reporting

if TYPE_CHECKING:
    import torch
    from torch.nn import functional
else:
    torch = require("torch", purpose="a fabric")
    functional = torch.nn.functional

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
