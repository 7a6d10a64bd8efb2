"""One random fabric that is trained on all images, and what it takes them for on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.error_aims import ErrorAims
from demele.core.extras import require
from demele.core.seeds import rng_for
from demele.core.store import packed_classes
from demele.data.images import ImageSet
from demele.models.fabric.model import Fabric
from demele.models.fabric.network import FabricNetwork
from demele.models.fabric.presets import AnnotatorRecipe
from demele.models.fabric.train import LOOKED_AT, Feed, stepped
from demele.models.networks import computing
from demele.runtime.sweep import Record

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", purpose="a fabric")

#: A look costs a pass over all images: none is made while the batch has so many more errors than a state may have.
BEYOND = 0.2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Annotating:
    """All that random fabrics have in common; called with their numbers, it returns what becomes of each.

    Attributes
    ----------
    images : ImageSet
    coded : array of int of shape (n,)
        True classes, as indices.
    classes, scales : int
    recipe : AnnotatorRecipe
    aims : ErrorAims
    stop_at : float
        Error at which a fabric has no more to say.
    seed : int
    device : str
    """

    images: ImageSet
    coded: NDArray[np.int64]
    classes: int
    scales: int
    recipe: AnnotatorRecipe
    aims: ErrorAims
    stop_at: float
    seed: int
    device: str

    def __call__(self, numbers: tuple[int, ...]) -> list[Record]:
        """Train fabrics by number; each depends on its number and the seed alone."""
        return [self._annotated(number) for number in numbers]

    def _annotated(self, number: int) -> Record:
        drawn = self.recipe.draw(rng_for(self.seed, "fabric annotator", number))
        fabric = Fabric(
            drawn["layers"],
            self.scales,
            drawn["channels"],
            image_channels=self.images.shape[2],
            classes=self.classes,
            seed=drawn["seed"],
        )
        if drawn["pruned"] > 0:
            fabric.prune("links", drawn["pruned"], "random", seed=drawn["seed"])
        with computing(threads=1, device=self.device, gradients=True):
            found = _States(self, fabric.network.to(self.device), Feed(self.images, self.coded, self.device))
            found.train(drawn["rate"], drawn["seed"])
        states = [{"aim": aim, **found.kept[aim]} for aim in sorted(found.kept)]
        return {**drawn, "links": len(fabric.links), "lowest": found.lowest, "states": states}


class _States:
    """A network in training, and those of its states that are kept: the last one near each error."""

    def __init__(self, common: Annotating, network: FabricNetwork, feed: Feed) -> None:
        self._common, self._network, self._feed = common, network, feed
        self.kept: dict[int, dict[str, Any]] = {}
        self.lowest = 1.0

    def train(self, rate: float, seed: int) -> None:
        """Train until nearly every image is right, the epochs are over, or the loss overflows."""
        recipe, steps = self._common.recipe, 0
        optimiser = torch.optim.SGD(
            self._network.parameters(), lr=rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
        )
        size = min(recipe.batch, len(self._common.coded))
        for epoch in range(recipe.epochs):
            for group in optimiser.param_groups:
                group["lr"] = recipe.rate_in(epoch, rate)
            for place, (images, labels) in enumerate(self._feed.epoch(epoch, batch=size, seed=seed)):
                self._network.train()
                loss, logits = stepped(self._network, optimiser, images, labels)
                if not math.isfinite(loss.item()):
                    return
                steps += 1
                last = place + 1 == len(self._common.coded) // size
                due = last if recipe.every is None else steps % recipe.every == 0
                if not due or epoch + last < recipe.first_epoch:
                    continue
                wrong = float((logits.argmax(dim=1) != labels).float().mean())
                if wrong <= self._common.aims.highest + BEYOND and self._looked_at(epoch + 1, steps):
                    return

    def _looked_at(self, epoch: int, steps: int) -> bool:
        """Keep the state if its error is near one that is wanted; return whether the fabric has no more to say."""
        predicted = self._predicted()
        error = float(np.mean(predicted != self._common.coded))
        self.lowest = min(self.lowest, error)
        aim = self._common.aims.near(error)
        if aim is not None and error > 0:  # an annotator without any error has no say in the noise
            found = packed_classes(predicted)
            self.kept[aim] = {"epoch": epoch, "steps": steps, "error": error, "predictions": found}
        return error <= self._common.stop_at

    def _predicted(self) -> NDArray[np.int64]:
        """Return what the network takes all images for, with the norms that it remembers."""
        self._network.eval()
        rows = np.arange(len(self._common.coded))
        with torch.no_grad():
            found = [
                self._network(self._feed.batch(rows[start : start + LOOKED_AT])[0]).argmax(dim=1).cpu().numpy()
                for start in range(0, len(rows), LOOKED_AT)
            ]
        return np.concatenate(found)
