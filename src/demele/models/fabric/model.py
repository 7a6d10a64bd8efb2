"""The public face of fabrics: made, trained, looked at, pruned, saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import checked_count, checked_whole
from demele.core.extras import require
from demele.core.names import checked_name
from demele.core.reading import path_of
from demele.core.seeds import checked_seed, rng_for
from demele.data.images import ImageSet
from demele.models.fabric.report import ReportedFabric
from demele.models.fabric.run import FabricRun
from demele.models.fabric.spec import ACTIVATIONS, MOST_SCALES, NORMALISATIONS, FabricSpec, TrainingSpec
from demele.runtime.progress import Report

if TYPE_CHECKING:
    from demele.models.fabric.fitting import OnEpoch
    from demele.models.fabric.network import FabricNetwork


class Fabric(ReportedFabric):
    """A convolutional neural fabric: a lattice of small convolutions that holds many networks at once.

    Nodes (l, s) have the same number of channels and the resolution of the image divided by 2 to the power of s, down
    to one pixel. Each is the sum of its links: from the layer before, at most one scale away, and in the first and last
    layer also from the scale above. A link is a convolution of 3 x 3, batch norm and a cut at 0 and 6; downwards it has
    stride 2, upwards it doubles the resolution first. The image enters at (0, 0) by a convolution, and a fully
    connected layer on the last node gives the classes. Pruning removes links, channels or weights.

    Parameters
    ----------
    layers : int, default 8
    scales : int, default 6
        The images have 2 to the power of ``scales - 1`` pixels a side: 6 for 32 x 32.
    channels : int, default 64
    image_channels : int, default 3
    classes : int, default 10
    normalisation : {"link", "node"}, default "link"
        Batch norm and activation for each link, and the sum of them a node; or one for each node, after the sum, as
        Saxena and Verbeek (2016) have it, with ``activation="relu"``.
    activation : {"relu6", "relu"}, default "relu6"
    seed : int, default 0
        Random seed of the initial weights.

    Attributes
    ----------
    spec : FabricSpec
        The whole structure.
    run : FabricRun
        What the trainings so far have come to.
    prunings : tuple of dict
        What was removed, in order.

    Raises
    ------
    InputError, UnknownNameError
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    There are (layers - 1)(3 scales - 2) + 2 (scales - 1) links with 9 C² + 3 C trained numbers each. Bilinear
    upsampling is that of pixels, ``align_corners=False``.

    Examples
    --------
    >>> fabric = Fabric(layers=4, scales=5, channels=16, image_channels=1)
    >>> fabric
    Fabric(4 layers, 5 scales, 16 channels: 47 of 47 links, 110,906 parameters; new)
    >>> plan = fabric.prune("links", 0.5, "magnitude")
    >>> plan.requested, fabric.counts().links == 47 - plan.removed
    (24, True)
    """

    def __init__(
        self,
        layers: int = 8,
        scales: int = 6,
        channels: int = 64,
        *,
        image_channels: int = 3,
        classes: int = 10,
        normalisation: Literal["link", "node"] = "link",
        activation: Literal["relu6", "relu"] = "relu6",
        seed: int = 0,
    ) -> None:
        require("torch", purpose="a fabric")
        from demele.models.fabric.network import new_network

        expected = f"a number of scales from 1 to {MOST_SCALES}"
        spec = FabricSpec(
            layers=checked_count(layers, "layers", 1),
            scales=checked_whole(scales, "scales", expected, inside=lambda one: 1 <= one <= MOST_SCALES),
            channels=checked_count(channels, "channels", 1),
            image_channels=checked_count(image_channels, "image_channels", 1),
            classes=checked_count(classes, "classes", 2),
            normalisation=checked_name(normalisation, "normalisation", NORMALISATIONS),
            activation=checked_name(activation, "activation", ACTIVATIONS),
        )
        self._network = new_network(spec, rng_for(checked_seed(seed), "weights")).eval()
        self._past = {"optimiser": None, "epoch": 0, "training": None, "prunings": [], "status": "new"}
        self._past |= {"history": {}, "seconds": 0.0, "problem": ""}
        self._digest = ""

    @classmethod
    def _of(cls, content: Mapping[str, Any], what: str) -> Self:
        made = object.__new__(cls)
        made._take(content, "cpu", what)
        return made

    def __repr__(self) -> str:
        counts, spec, whole = self.counts(), self.spec, self.spec.lattice()
        size = f"{spec.layers} layers, {spec.scales} scales, {spec.channels} channels"
        left = f"{counts.links} of {len(whole.links)} links, {counts.parameters:,} parameters"
        epoch = self._past["epoch"]
        return f"Fabric({size}: {left}; {f'{epoch} epochs' if epoch else 'new'})"

    # Training ---------------------------------------------------------------------------------------------------------

    def fit(
        self,
        images: ImageSet,
        labels: ArrayLike,
        *,
        epochs: int,
        batch: int = 64,
        rate: float = 0.1,
        momentum: float = 0.9,
        weight_decay: float = 5e-4,
        milestones: Sequence[int] = (80, 120),
        seed: int = 0,
        checkpoint: str | Path | None = None,
        progress: bool | Report = False,
        device: str = "auto",
        threads: int | None = 1,
        on_epoch: OnEpoch | None = None,
    ) -> FabricRun:
        """Train up to a number of epochs: from the beginning, from where the fabric is, or from what a file holds.

        Parameters
        ----------
        images : ImageSet
            Of the size of the fabric, such as ``demele.data.clutter(8000)`` for 5 scales.
        labels : array-like of int of shape (n,)
            Classes from 0.
        epochs : int
            Epochs in all, with those that the fabric has behind it; pruned after epoch 3, it goes on with epoch 4.
        batch : int, default 64
            At least so many images at a time; what is left over is spread over all batches.
        rate, momentum, weight_decay : float
            Of stochastic gradient descent.
        milestones : sequence of int, default (80, 120)
            Epochs after which the rate is divided by ten: as published, for 200 epochs.
        seed : int, default 0
            Random seed of the order of the images.
        checkpoint : str or Path, optional
            One file, written after each epoch. If it is there already, the training goes on from it to the bits that it
            would have had without a stop, or returns at once.
        progress : bool or callable(done, total, label), default False
        device : str, default "auto"
            "auto" takes CUDA if there is one.
        threads : int or None, default 1
            Of PyTorch on the CPU, restored afterwards. On a busy machine a second thread makes small fabrics slower.
        on_epoch : callable(dict), optional
            Is given the row of the history after each epoch.

        Returns
        -------
        FabricRun
            Also when the loss overflowed (``status="diverged"``); the weights are then those before that epoch.

        Raises
        ------
        InputError, InputTypeError
            For images of another size, labels that are no classes, a file of another training, or one that another
            process writes to.
        OutputError
            If the file cannot be written; the one before stays.

        Warns
        -----
        NotConvergedWarning
            If the training diverged.
        """
        from demele.models.fabric.feed import Feed, checked_images, checked_labels
        from demele.models.fabric.fitting import FabricFitting
        from demele.models.threads import checked_device

        given = checked_images(images, self.spec)
        known = checked_labels(labels, len(given), self.spec.classes)
        spec = self._training(
            given,
            known,
            batch=batch,
            rate=rate,
            momentum=momentum,
            weight_decay=weight_decay,
            milestones=milestones,
            seed=seed,
        )
        where = checked_device(device)
        content = FabricFitting(
            {**self._state(), "status": "running", "problem": ""},
            spec,
            Feed(given, known, where),
            checkpoint=None if checkpoint is None else path_of(checkpoint, "checkpoint"),
            device=where,
            threads=None if threads is None else checked_count(threads, "threads", 1),
        ).run(checked_count(epochs, "epochs", 1), progress=progress, on_epoch=on_epoch)
        self._take(content, where)
        return self.run

    def _training(self, images: ImageSet, labels: NDArray[np.int64], **asked: Any) -> TrainingSpec:
        """Return what a training is; one that goes on began where the one before did."""
        from demele.models.fabric.feed import training_of
        from demele.models.fabric.state import digest_of_network

        given, before = training_of(images, labels, **asked), self._past["training"]
        now = {"begins": digest_of_network(self._network), "epoch": self._past["epoch"]}
        same = before is not None and all(before[name] == value for name, value in given.items())
        if same and now["begins"] == self._digest:  # nobody has changed the weights since
            now = {name: before[name] for name in now}
        return TrainingSpec(fabric=self.spec.to_dict(), **now, **given)

    def _take(self, content: Mapping[str, Any], device: str, what: str = "checkpoint") -> None:
        """Become what a file holds, or would hold."""
        from demele.models.fabric.state import PAST, check_past, digest_of_network, network_from

        check_past(content, what)
        self._network = network_from(content, what).to(device).eval()
        self._past = {name: content[name] for name in PAST}
        self._digest = digest_of_network(self._network)

    def _state(self) -> dict[str, Any]:
        """Return what a file would hold."""
        from demele.models.fabric.state import network_state

        return {**network_state(self._network), **self._past}

    # Copies and files -----------------------------------------------------------------------------------------------

    def copy(self) -> Self:
        """Return a fabric of its own with the same weights, such as to prune one in two ways."""
        made = self._of(self._state(), "copy")
        made._network.to(self._device)
        return made

    def export(self) -> FabricNetwork:
        """Return a ``torch.nn.Module`` for use alone, with norms and masks inside the kernels.

        It takes ``(pixels - 128) / 64`` of shape (n, channels, size, size) and gives the logits of eval mode, faster:
        without norms, and with one matrix product for each link from or to a map of one or two pixels a side.
        """
        from demele.models.fabric.surgery import exported

        return exported(self._network)

    def save(self, path: str | Path) -> Path:
        """Write structure, weights and history to a file, for :meth:`load`; nothing in it runs when it is read.

        Raises
        ------
        OutputError
        """
        from demele.models.checkpoint import write_checkpoint
        from demele.models.fabric.state import LAYOUT

        write_checkpoint(path_of(path), self._state(), LAYOUT)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the fabric in a file that :meth:`save` or :meth:`fit` wrote, on the CPU; nothing in it is run.

        Raises
        ------
        InputError, FormatError
            If there is no such file, or it is something else.
        """
        require("torch", purpose="a fabric")
        from demele.core.reading import parsing, path_of
        from demele.models.checkpoint import read_checkpoint
        from demele.models.fabric.state import LAYOUT

        content = read_checkpoint(path_of(path), LAYOUT)
        what = f"{path}: not {LAYOUT.what}"
        with parsing(what):
            return cls._of(content, what)
