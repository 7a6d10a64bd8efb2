"""A fabric that is there: its structure, and what it says of images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.errors import InputError
from demele.core.given_arrays import real_numbers, whole_array
from demele.core.outputs import write_whole
from demele.data.images import ImageSet
from demele.models.fabric.counts import FabricCounts, counted
from demele.models.fabric.drawing import structure_svg
from demele.models.fabric.lattice import Lattice, Link, Node
from demele.models.fabric.run import FabricRun, run_of
from demele.models.fabric.spec import FabricSpec

if TYPE_CHECKING:
    import pandas as pd

    from demele.models.fabric.feed import Feed
    from demele.models.fabric.network import FabricNetwork


class HeldFabric:
    """A network, how it came about, and everything that changes neither."""

    _network: FabricNetwork
    _past: dict[str, Any]  # what a file holds beside structure and weights

    # What it is -----------------------------------------------------------------------------------------------------

    @property
    def spec(self) -> FabricSpec:
        """The whole structure, before anything was pruned."""
        return self._network.spec

    @property
    def lattice(self) -> Lattice:
        """Nodes and links that live."""
        return self._network.lattice

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links that live, ``"layer.scale-layer.scale"``, in the order of gates and scores."""
        return tuple(link.name for link in self.lattice.links)

    @property
    def network(self) -> FabricNetwork:
        """The ``torch.nn.Module``: ``network((pixels - 128) / 64, gates)`` gives logits."""
        return self._network

    @property
    def run(self) -> FabricRun:
        """What the trainings so far have come to."""
        return run_of(self._past)

    @property
    def prunings(self) -> tuple[dict[str, Any], ...]:
        """What was removed, in order, as plain values."""
        return tuple(self._past["prunings"])

    @property
    def trained_on(self) -> dict[str, Any] | None:
        """What the weights were trained on last, also before a pruning: names, digests and number of the images."""
        before = [self._past["training"], *(one.get("trained_on") for one in reversed(self._past["prunings"]))]
        known = next((one for one in before if one is not None), None)
        return None if known is None else {name: known[name] for name in ("images", "digest", "labels", "n")}

    def counts(self) -> FabricCounts:
        """Return how many links, weights, multiplications and paths there are."""
        network = self._network
        return counted(network.spec, network.lattice, network.widths, network.masked())

    def to_svg(
        self, path: str | Path | None = None, *, scores: Mapping[str, float] | pd.Series[float] | None = None
    ) -> str:
        """Return the structure as a picture: a grid of nodes, links that live, and where others were.

        Where channels were removed, nodes hold the number that is left.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to.
        scores : mapping of link to float, optional
            As of :meth:`scores`; the higher, the wider is the link.

        Raises
        ------
        InputError
            If a link has no score.
        OutputError
        """
        by_link = None if scores is None else self._by_link(scores)
        drawn = structure_svg(self.lattice, by_link, widths=self._odd_widths())
        if path is not None:
            write_whole(path, drawn)
        return drawn

    def _odd_widths(self) -> dict[Node, int] | None:
        """Channels of the nodes, where some have lost any."""
        widths = self._network.widths
        return widths if any(width < self.spec.channels for width in widths.values()) else None

    def _by_link(self, scores: Any) -> dict[Link, float]:
        """Return scores that a user gave, by name or in order, by link."""
        if hasattr(scores, "to_dict"):
            scores = scores.to_dict()
        if not isinstance(scores, Mapping):
            values = real_numbers(scores, "scores", f"one for each of the {len(self.links)} links")
            if values.shape != (len(self.links),):
                raise InputError("scores", f"expected one for each of the {len(self.links)} links, got {values.shape}")
            scores = dict(zip(self.links, values.tolist(), strict=True))
        lacking = [name for name in self.links if name not in scores]
        if lacking:
            raise InputError("scores", f"expected one for each link, {len(lacking)} have none, first {lacking[0]}")
        return {link: float(scores[link.name]) for link in self.lattice.links}

    # What it says of images -------------------------------------------------------------------------------------------

    def logits(
        self, images: ImageSet, rows: ArrayLike | None = None, *, gates: ArrayLike | None = None
    ) -> NDArray[np.float32]:
        """Return a number for each class of each image; the largest is the class that is predicted.

        Parameters
        ----------
        images : ImageSet
        rows : array-like of int, optional
            Which; all by default.
        gates : array-like of float of shape (links,) or (n, links), optional
            What each link is multiplied by, in the order of :attr:`links`: 0 switches it off.

        Returns
        -------
        array of float32 of shape (n, classes)

        Raises
        ------
        InputError
            For images of another size, or gates of another shape.
        """
        import torch

        from demele.models.fabric.network import check_gates
        from demele.models.threads import computing

        feed = self._feed(images)
        wanted = np.arange(len(images)) if rows is None else whole_array(rows, "rows", dimensions=1)
        given = None if gates is None else real_numbers(gates, "gates").astype(np.float32)
        held = None if given is None else torch.as_tensor(given, device=self._device)
        if held is not None:
            check_gates(held, len(self.links), len(wanted))
        found = [np.zeros((0, self.spec.classes), dtype=np.float32)]
        with computing(threads=None, device=self._device, gradients=False):
            start = 0
            for batch, _ in feed.batches(wanted):
                own = held if held is None or held.ndim == 1 else held[start : start + len(batch)]
                found.append(self._network(batch, own).cpu().numpy())
                start += len(batch)
        return np.concatenate(found)

    def predict(self, images: ImageSet, rows: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the class of each image: array of int64 of shape (n,).

        Raises
        ------
        InputError
            For images of another size.
        """
        found: NDArray[np.int64] = self.logits(images, rows).argmax(axis=1).astype(np.int64)
        return found

    def error(self, images: ImageSet, labels: ArrayLike) -> float:
        """Return the share of images whose class is not the label.

        Raises
        ------
        InputError, InputTypeError
            For images of another size, or labels that are no classes.
        """
        from demele.models.fabric.feed import checked_labels

        self._checked(images)
        known = checked_labels(labels, len(images), self.spec.classes)
        return float(np.mean(self.predict(images) != known))

    @property
    def _device(self) -> str:
        return str(self._network.head.weight.device)

    def _checked(self, images: Any) -> ImageSet:
        from demele.models.fabric.feed import checked_images

        return checked_images(images, self.spec)

    def _feed(self, images: Any, labels: ArrayLike | None = None) -> Feed:
        from demele.models.fabric.feed import Feed, checked_labels

        given = self._checked(images)
        known = None if labels is None else checked_labels(labels, len(given), self.spec.classes)
        return Feed(given, known, self._device)
