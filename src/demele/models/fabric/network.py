"""A fabric as a module of PyTorch, in which only live links exist; copies with fewer parts; the content of its file."""

from __future__ import annotations

import copy
import hashlib
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Counts, Flags, rng_for
from demele.core.errors import FormatError, InputError, InputTypeError, quoted
from demele.core.labelled import read_labels
from demele.core.lazy import require
from demele.core.reading import check_shape, parsing
from demele.data.images import ImageSet
from demele.models.encode import check_images
from demele.models.fabric import lattice as lattices
from demele.models.fabric.lattice import FabricSpec, Lattice, Link, Node, TrainingSpec
from demele.models.results import ROW, STATUSES
from demele.models.training import DivergedError, KeptTraining, Layout, Row, initialised, is_held, restore, stored

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
else:
    torch = require("torch", purpose="a fabric")
    Tensor, functional, nn = torch.Tensor, torch.nn.functional, torch.nn


class LinkLayer(nn.Module):
    """What a link does: upsample if it goes up, convolve, and where each link has a norm of its own, normalise and cut.

    Parameters
    ----------
    kind : {"up", "same", "down"}
    inputs, outputs : int
        Channels.
    normed : bool
        Whether batch norm and activation belong to the link.
    biased : bool
    activation : {"relu6", "relu"}

    Attributes
    ----------
    mask : tensor of the shape of the kernel, or None
        0 where a weight was pruned, 1 elsewhere.
    matrix : tensor of shape (side² inputs, side² outputs), or None
        What upsampling and convolution do to a map of one size, for networks that learn no more.
    """

    mask: Tensor | None
    matrix: Tensor | None

    def __init__(
        self,
        kind: lattices.Kind,
        inputs: int,
        outputs: int,
        *,
        normed: bool,
        biased: bool,
        activated: bool,
        activation: str,
    ) -> None:
        super().__init__()
        self.kind, self.activation = kind, activation if activated else None
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=2 if kind == "down" else 1, padding=1, bias=biased)
        self.norm = nn.BatchNorm2d(outputs) if normed else None
        self.register_buffer("mask", None)
        self.register_buffer("matrix", None, persistent=False)

    @property
    def kernel(self) -> Tensor:
        """Weights as they are used, those that are masked being 0."""
        return self.conv.weight if self.mask is None else self.conv.weight * self.mask

    def forward(self, values: Tensor) -> Tensor:
        """Return what the link adds to its target: (n, outputs, height, width)."""
        found = self._convolved(values, self.conv.bias) if self.matrix is None else self._multiplied(values)
        if self.norm is not None:
            found = self.norm(found)
        return found if self.activation is None else activated(found, self.activation)

    def _convolved(self, values: Tensor, bias: Tensor | None) -> Tensor:
        if self.kind == "up":
            values = functional.interpolate(values, scale_factor=2, mode="bilinear", align_corners=False)
        return functional.conv2d(values, self.kernel, bias, self.conv.stride, self.conv.padding)

    def _multiplied(self, values: Tensor) -> Tensor:
        """Return the same as one product: of maps of a few pixels a convolution costs mostly its call."""
        matrix: Any = self.matrix
        bias: Any = self.conv.bias  # there where a matrix is made
        channels = len(bias)
        side = round((matrix.shape[1] // channels) ** 0.5)
        flat = values.permute(0, 2, 3, 1).reshape(len(values), -1)
        found = torch.addmm(bias.repeat(side * side), flat, matrix)
        return found.view(-1, side, side, channels).permute(0, 3, 1, 2)

    def make_matrix(self, side: int) -> None:
        """Let maps of ``side`` pixels, and no others, go through one product: what is done to each of their numbers."""
        size = side * side * self.conv.in_channels
        device = self.conv.weight.device
        each = torch.eye(size, device=device).view(size, side, side, -1).permute(0, 3, 1, 2)
        with torch.no_grad():
            self.matrix = self._convolved(each, None).permute(0, 2, 3, 1).reshape(size, -1).contiguous()


class NodeLayer(nn.Module):
    """What a node does with the sum of its links where norms belong to nodes."""

    def __init__(self, channels: int, activation: str, *, normed: bool) -> None:
        super().__init__()
        self.activation = activation
        self.norm = nn.BatchNorm2d(channels) if normed else None

    def forward(self, values: Tensor) -> Tensor:
        """Return the value of the node."""
        return activated(values if self.norm is None else self.norm(values), self.activation)


def activated(values: Tensor, activation: str) -> Tensor:
    """Return values after ReLU6, or ReLU; in their place, for what makes them needs them no more."""
    cut = functional.relu6 if activation == "relu6" else functional.relu
    return cut(values, inplace=True)


class FabricNetwork(nn.Module):
    """A fabric with its weights.

    Parameters
    ----------
    spec : FabricSpec
    lattice : Lattice
        The links that live.
    widths : mapping of Node to int
        Channels of each node.
    folded : bool
        Without norms: for weights that hold them already.
    """

    def __init__(self, spec: FabricSpec, lattice: Lattice, widths: Mapping[Node, int], *, folded: bool = False) -> None:
        super().__init__()
        self.spec, self.lattice, self.folded = spec, lattice, folded
        self.widths = {node: int(widths[node]) for node in lattice.nodes}
        per_link = spec.normalisation == "link"
        how: Any = {
            "normed": per_link and not folded,
            "biased": per_link or folded,
            "activated": per_link,
            "activation": spec.activation,
        }
        self.input = LinkLayer("same", spec.image_channels, self.widths[lattice.start], **how)
        self.links = nn.ModuleDict(
            {key_of(link): LinkLayer(link.kind, *map(self.widths.__getitem__, link), **how) for link in lattice.links}
        )
        own = {} if per_link else self.widths
        self.nodes = nn.ModuleDict(
            {key_of(node): NodeLayer(width, spec.activation, normed=not folded) for node, width in own.items()}
        )
        self.head = nn.Linear(self.widths[lattice.end], spec.classes)
        self._steps = tuple(
            (node, tuple((link, key_of(link)) for link in lattice.incoming[node])) for node in lattice.nodes
        )
        self._places = {link: place for place, link in enumerate(lattice.links)}

    def forward(self, images: Tensor, gates: Tensor | None = None) -> Tensor:
        """Return a number for each class.

        Parameters
        ----------
        images : tensor of shape (n, channels, size, size)
        gates : tensor of shape (links,) or (n, links), optional
            What each link's contribution is multiplied by, in the order of ``lattice.links``; of each image its own if
            there are n rows.

        Returns
        -------
        tensor of shape (n, classes)
            Logits.
        """
        return self.head(self.output_node(images, gates).flatten(1))  # type: ignore[no-any-return]

    def output_node(self, images: Tensor, gates: Tensor | None = None, live: Collection[Link] | None = None) -> Tensor:
        """Return the value of the last node, from which the classes are read: (n, channels, 1, 1).

        With ``live``, as of :meth:`Lattice.useful`, only these links are computed, as if the others had been removed.
        """
        held: dict[Node, Tensor] = {}
        for node, links in self._steps:
            terms = [self.input(images)] if node == self.lattice.start else []
            for link, key in links:
                if live is not None and link not in live:
                    continue
                term = self.links[key](held[link.source])
                if gates is not None:
                    gate = gates[..., self._places[link]]
                    term = term * (gate if gates.ndim == 1 else gate[:, None, None, None])
                terms.append(term)
            if not terms:
                continue
            total = terms[0]
            for term in terms[1:]:  # in the place of the first one where no gradient will ask for that
                total = total + term if torch.is_grad_enabled() else total.add_(term)
            held[node] = self.nodes[key_of(node)](total) if len(self.nodes) else total
        return held[self.lattice.end]

    # Parts ------------------------------------------------------------------------------------------------------------

    def layer(self, link: Link) -> LinkLayer:
        """Return the layer of a link."""
        found: Any = self.links[key_of(link)]
        return found  # type: ignore[no-any-return]

    def masked(self) -> dict[Link, int]:
        """Return how many weights of each link are masked."""
        masks = {link: self.layer(link).mask for link in self.lattice.links}
        return {link: int((mask == 0).sum()) for link, mask in masks.items() if mask is not None}


def key_of(part: Link | Node) -> str:
    """Return the name of a link or node in a module, where points have a meaning."""
    return part.name.replace(".", "_") if isinstance(part, Link) else f"{part.layer}_{part.scale}"


def new_network(
    spec: FabricSpec,
    lattice: Lattice,
    widths: Mapping[Node, int],
    rng: np.random.Generator | None = None,
    *,
    folded: bool = False,
) -> FabricNetwork:
    """Return a fabric with weights drawn from a generator, as PyTorch's layers draw theirs, or any weights; on the CPU.

    Channels are last in memory, where convolutions of small maps are faster.
    """
    with torch.device("meta"):  # no weights: what would be drawn for them moves the generator of the process
        empty = FabricNetwork(spec, lattice, widths, folded=folded)
    made: Any = empty.to_empty(device="cpu") if rng is None else initialised(empty, rng)
    found: FabricNetwork = made.to(memory_format=torch.channels_last)
    return found


def seen(stored: Tensor) -> Tensor:
    """Return what a fabric sees of stored pixels, (pixel - 128) / 64, single precision, channels last in memory."""
    return stored.float().sub_(128).div_(64).contiguous(memory_format=torch.channels_last)


# Copies with fewer parts ----------------------------------------------------------------------------------------------


Kept = Mapping[Node, Counts]


def reduced(network: FabricNetwork, lattice: Lattice, kept: Kept) -> FabricNetwork:
    """Return the fabric of some of the links, with some of the channels of its nodes.

    Parameters
    ----------
    network : FabricNetwork
    lattice : Lattice
        Some of its links.
    kept : mapping of Node to array of int
        Channels that stay, in order; a node that is not named keeps all.
    """
    places = {node: torch.arange(network.widths[node]) for node in lattice.nodes}
    places |= {node: torch.from_numpy(np.asarray(own, dtype=np.int64)) for node, own in kept.items() if node in places}
    widths = {node: len(place) for node, place in places.items()}
    found = new_network(network.spec, lattice, widths, folded=network.folded)
    _copy(network.input, found.input, torch.arange(network.spec.image_channels), places[lattice.start])
    for link in lattice.links:
        _copy(network.layer(link), found.layer(link), places[link.source], places[link.target])
    for node in lattice.nodes if len(network.nodes) else ():
        _copy(network.nodes[key_of(node)], found.nodes[key_of(node)], places[node], places[node])
    _copy(network.head, found.head, places[lattice.end], torch.arange(network.spec.classes))
    return found.to(network.head.weight.device).train(network.training)


def _copy(old: nn.Module, new: nn.Module, inputs: Tensor, outputs: Tensor) -> None:
    """Take from a layer what belongs to some of its outputs, and of its kernel to some of its inputs."""
    state = {name: values.cpu() for name, values in old.state_dict().items()}
    state = {name: values[outputs] if values.ndim else values for name, values in state.items()}
    state = {name: values[:, inputs] if values.ndim > 1 else values for name, values in state.items()}
    if "mask" in state:
        new.mask = state["mask"]
    new.load_state_dict(state)


# Export ---------------------------------------------------------------------------------------------------------------


def folded(network: FabricNetwork) -> FabricNetwork:
    """Return the fabric of eval mode with its norms and masks inside the kernels: one convolution per link.

    The norm of a node scales the kernels of all its links; what it adds goes to the bias of the first of them.
    """
    found = new_network(network.spec, network.lattice, network.widths, folded=True)
    lattice, device = network.lattice, network.head.weight.device

    def fold(old: LinkLayer, new: LinkLayer, node: Node, *, first: bool) -> None:
        norm: Any = old.norm or network.nodes[key_of(node)].norm  # that of the node comes after the sum of its links
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        bias = 0 if old.conv.bias is None else old.conv.bias * scale
        adds = norm.bias - norm.running_mean * scale if first or old.norm is not None else 0
        new.conv.weight.copy_(old.kernel * scale[:, None, None, None])
        new.conv.bias.copy_(torch.zeros_like(scale) + bias + adds)  # type: ignore[union-attr]

    with torch.no_grad():
        fold(network.input, found.input, lattice.start, first=True)
        for node in lattice.nodes:
            for number, link in enumerate(lattice.incoming[node]):
                fold(network.layer(link), found.layer(link), node, first=number == 0)
    found.head.load_state_dict(network.head.state_dict())
    return found.to(device).eval().requires_grad_(requires_grad=False)


#: The smaller of the maps that a link leads from and to, up to which one product is faster than a convolution.
_SMALL = 2


def exported(network: FabricNetwork) -> FabricNetwork:
    """Return the folded fabric with links from or to maps of one or two pixels a side as products with a matrix."""
    found, size = folded(network), network.spec.image_size
    for link in found.lattice.links:
        sides = [size >> node.scale for node in link]
        if min(sides) <= _SMALL:
            found.layer(link).make_matrix(sides[0])
    return found


# Running statistics ---------------------------------------------------------------------------------------------------


def recalibrate(network: FabricNetwork, batches: Any) -> None:
    """Replace the running statistics of all norms by the means over some batches.

    After pruning, nodes sum fewer links, and what was averaged before does not fit any more.

    Parameters
    ----------
    network : FabricNetwork
    batches : iterable of tensor of shape (n, channels, size, size)
        Of 2 images or more.
    """
    norms, training = [one for one in network.modules() if isinstance(one, nn.BatchNorm2d)], network.training
    before = [norm.momentum for norm in norms]
    network.train()
    try:
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the mean of all batches
        with torch.no_grad():
            for batch in batches:
                network(batch)
    finally:
        for norm, momentum in zip(norms, before, strict=True):
            norm.momentum = momentum
        network.train(training)


# Files ----------------------------------------------------------------------------------------------------------------


#: What a file of a fabric holds beside structure and weights.
PAST = ("optimiser", "epoch", "training", "prunings", "status", "history", "seconds", "problem")
#: What a file of a fabric holds.
LAYOUT = Layout(
    name="demele-fabric",
    version=1,
    keys=("fabric", "links", "widths", "masked", "weights", *PAST),
    what="a fabric of demele",
    reader="load it with demele.lab.Fabric.load",
)


def network_state(network: FabricNetwork) -> dict[str, Any]:
    """Return structure and weights as tensors and plain values, with copies of the tensors."""
    lattice = network.lattice
    return {
        "fabric": network.spec.to_dict(),
        "links": [link.name for link in lattice.links],
        "widths": {key_of(node): width for node, width in network.widths.items()},
        "masked": [link.name for link in lattice.links if network.layer(link).mask is not None],
        "weights": {name: values.detach().cpu().clone() for name, values in network.state_dict().items()},
    }


def network_from(content: Mapping[str, Any], what: str) -> FabricNetwork:
    """Return the fabric that a file holds, on the CPU.

    Raises
    ------
    FormatError
        If its weights are not those of its structure: before memory is taken for them.
    """
    spec = FabricSpec.from_dict(content["fabric"], what)
    # Refuse a structure that a file could not have
    counts = (spec.layers, spec.scales, spec.channels, spec.image_channels, spec.classes)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one >= 1 for one in counts)
    known = spec.normalisation in lattices.NORMALISATIONS and spec.activation in lattices.ACTIVATIONS
    if not whole or not known or spec.scales > lattices.MOST_SCALES or spec.layers * spec.scales < 2:
        raise FormatError(what, "its structure is none of a fabric")
    lattice = Lattice.named(spec.layers, spec.scales, content["links"], what)
    keys = {key_of(node): node for node in lattice.nodes}
    if set(content["widths"]) != set(keys):
        raise FormatError(what, "its channels are not those of its nodes")
    widths = {keys[key]: int(width) for key, width in content["widths"].items()}
    if not all(1 <= width <= spec.channels for width in widths.values()):
        raise FormatError(what, f"expected 1 to {spec.channels} channels at each node")
    with torch.device("meta"):
        empty = FabricNetwork(spec, lattice, widths)
        for layer in (empty.layer(link) for link in lattice.links if link.name in content["masked"]):
            layer.mask = torch.ones_like(layer.conv.weight)
    wanted, found = (
        {name: tuple(values.shape) for name, values in state.items()}
        for state in (empty.state_dict(), content["weights"])
    )
    if wanted != found:
        raise FormatError(what, "its weights are not those of its links and channels")
    network: Any = empty.to_empty(device="cpu")
    network = network.to(memory_format=torch.channels_last)
    network.load_state_dict(dict(content["weights"]))
    return network  # type: ignore[no-any-return]


_PAST = {
    **dict.fromkeys(("status", "problem"), str),
    "epoch": int,
    "seconds": (float, int),
    "prunings": [dict],
    "optimiser": (dict, type(None)),
    "history": dict,
    "training": (dict, type(None)),
}


def check_past(content: Mapping[str, Any], what: str) -> None:
    """Refuse a file that does not hold what a training leaves.

    Raises
    ------
    FormatError
    """
    with parsing(f"{what}: its history is not that of a training"):
        check_shape(content, _PAST)
        columns = content["history"]
        check_shape([*columns.values()], [[(float, int)]])
        lengths = {len(column) for column in columns.values()}
        if content["status"] not in STATUSES or not 0 <= content["epoch"] < 1 << 53 or len(lengths) > 1:
            raise ValueError(content["status"])
        if columns and set(columns) != set(ROW):
            raise ValueError(list(columns))
    if content["training"] is not None:
        TrainingSpec.from_dict(content["training"], what)


def digest_of_network(network: FabricNetwork) -> str:
    """Return 16 letters that differ where structures or weights do."""
    found = hashlib.blake2b(digest_size=8)
    state = network_state(network)
    for name in ("fabric", "links", "widths", "masked"):
        found.update(f"\x1e{name}\x1f{state[name]!r}".encode())
    for name, values in state["weights"].items():
        found.update(f"\x1e{name}\x1f".encode())
        found.update(values.contiguous().numpy().tobytes())
    return found.hexdigest()


# The training of a fabric: its images epoch by epoch, its steps, its file, and its end --------------------------------

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

    def __init__(self, images: ImageSet, labels: Counts | None, device: str) -> None:
        self._images, self._device = images, device
        self.labels = np.zeros(len(images), dtype=np.int64) if labels is None else labels
        self._labels = torch.from_numpy(self.labels).to(device)
        self._held = stored(images, np.arange(len(images)), device) if is_held(images) else None

    @classmethod
    def of(cls, images: Any, labels: Any, spec: FabricSpec, device: str) -> Feed:
        """Return what a user gives to a fabric, if it takes such images and knows such classes.

        Raises
        ------
        InputError, InputTypeError
        """
        check_images(images)
        lattices.check_size(spec, images.shape)
        return cls(images, None if labels is None else checked_labels(labels, len(images), spec.classes), device)

    def batch(self, rows: Counts) -> tuple[Tensor, Tensor]:
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

    def batches(self, rows: Counts | None = None, size: int = LOOKED_AT) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield rows, by default all, in order and in batches."""
        wanted = np.arange(len(self._images)) if rows is None else rows
        for start in range(0, len(wanted), size):
            yield self.batch(wanted[start : start + size])


def augmented(images: Tensor, crop: int, corners: Counts, flips: Flags) -> Tensor:
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


def checked_labels(labels: ArrayLike | Any, n: int, classes: int) -> Counts:
    """Return one class for each image, as numbers.

    Raises
    ------
    InputError, InputTypeError
        For another number of labels, or labels that are no classes of the fabric.
    """
    found = read_labels(labels, "labels")
    expected = f"classes from 0 to {classes - 1}, whole numbers"
    if found.dtype.kind != "i":
        raise InputTypeError("labels", f"expected {expected}, got {quoted(found[0])}; number the classes")
    if len(found) != n:
        raise InputError("labels", f"expected one for each of the {n} images, got {len(found)}")
    odd = np.flatnonzero((found < 0) | (found >= classes))
    if odd.size:
        raise InputError("labels", f"expected {expected}, got {found[odd[0]]} at row {odd[0]} ({odd.size} such rows)")
    return found.astype(np.int64)


# Training -------------------------------------------------------------------------------------------------------------


class FabricFitting(KeptTraining):
    """The training of a fabric with its file, epoch by epoch; an epoch that is interrupted is lost.

    Parameters
    ----------
    spec : TrainingSpec
    feed : Feed
    **where
        Of :class:`KeptTraining`.
    """

    layout, key = LAYOUT, "training"

    def __init__(self, spec: TrainingSpec, feed: Feed, **where: Any) -> None:
        super().__init__(spec, **where)
        self._spec, self._feed = spec, feed

    def _open(self, content: Mapping[str, Any] | None, until: int) -> None:
        spec, what, self._content = self._spec, f"{self._path}: not {LAYOUT.what}", dict(content or {})
        check_past(self._content, what)
        self._network = network_from(self._content, what).to(self._device)
        self._optimiser = torch.optim.SGD(
            self._network.parameters(), lr=spec.rate, momentum=spec.momentum, weight_decay=spec.weight_decay
        )
        if self._content["optimiser"] is not None:
            restore(self._optimiser, self._content["optimiser"])
        self.done = self._content["epoch"]

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
        self.done += 1
        optimiser = copy.deepcopy(self._optimiser.state_dict())
        self._content |= {**network_state(self._network), "optimiser": optimiser, "epoch": self.done}
        return self.done, row, f"epoch {self.done}, loss {row['loss']:.4g}, error {row['error']:.1%}"

    def _state(self) -> dict[str, Any]:
        return self._content

    def _epoch(self, epoch: int, interrupted: Callable[[], bool]) -> dict[str, float] | None:
        """Make one epoch; return what it came to, or nothing if it was interrupted."""
        spec, begun = self._spec, time.monotonic()
        rate = spec.rate / 10.0 ** sum(epoch >= one for one in spec.milestones)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._network.train()
        losses, wrong, size = 0.0, 0, 0
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
