"""A fabric as a module of PyTorch: only the links that live are there, and only they are computed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.errors import InputError
from demele.core.extras import require
from demele.models.fabric.lattice import Kind, Lattice, Link, Node
from demele.models.fabric.spec import FabricSpec
from demele.models.weights import initialised

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
else:
    torch = require("torch", purpose="a fabric")
    Tensor, nn, functional = torch.Tensor, torch.nn, torch.nn.functional


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
        self, kind: Kind, inputs: int, outputs: int, *, normed: bool, biased: bool, activated: bool, activation: str
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
        matrix, bias = self.matrix, self.conv.bias
        if matrix is None or bias is None:
            raise RuntimeError("a matrix belongs to a layer with a bias")
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
                terms.append(term if gates is None else term * _gate(gates, self._places[link]))
            if not terms:
                continue
            total = _sum(terms)
            held[node] = self.nodes[key_of(node)](total) if len(self.nodes) else total
        return held[self.lattice.end]

    # Parts ------------------------------------------------------------------------------------------------------------

    def layer(self, link: Link) -> LinkLayer:
        """Return the layer of a link."""
        found: Any = self.links[key_of(link)]
        return found  # type: ignore[no-any-return]

    def norms(self) -> list[nn.BatchNorm2d]:
        """Return all batch norms."""
        return [one for one in self.modules() if isinstance(one, nn.BatchNorm2d)]

    def masked(self) -> dict[Link, int]:
        """Return how many weights of each link are masked."""
        masks = {link: self.layer(link).mask for link in self.lattice.links}
        return {link: int((mask == 0).sum()) for link, mask in masks.items() if mask is not None}


def _sum(terms: list[Tensor]) -> Tensor:
    """Return a sum, made in the place of its first term where no gradient will ask for that."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term if torch.is_grad_enabled() else total.add_(term)
    return total


def _gate(gates: Tensor, place: int) -> Tensor:
    """Return the gate of a link in a form that multiplies (n, channels, height, width)."""
    return gates[place] if gates.ndim == 1 else gates[:, place, None, None, None]


def key_of(part: Link | Node) -> str:
    """Return the name of a link or node in a module, where points have a meaning."""
    return part.name.replace(".", "_") if isinstance(part, Link) else f"{part.layer}_{part.scale}"


def new_network(spec: FabricSpec, rng: np.random.Generator) -> FabricNetwork:
    """Return a whole fabric with weights drawn from a generator, as PyTorch's layers draw theirs; on the CPU."""
    lattice = spec.lattice()
    with torch.device("meta"):  # no weights: what would be drawn for them moves the generator of the process
        empty = FabricNetwork(spec, lattice, dict.fromkeys(lattice.nodes, spec.channels))
    return laid_out(initialised(empty, rng))


def empty_network(
    spec: FabricSpec, lattice: Lattice, widths: Mapping[Node, int], *, folded: bool = False
) -> FabricNetwork:
    """Return a fabric whose weights hold anything, on the CPU; nothing is drawn for them."""
    with torch.device("meta"):
        empty = FabricNetwork(spec, lattice, widths, folded=folded)
    return laid_out(empty.to_empty(device="cpu"))


def laid_out(network: Any) -> FabricNetwork:
    """Return a network with channels last in memory, where convolutions of small maps are faster."""
    found: FabricNetwork = network.to(memory_format=torch.channels_last)
    return found


def seen(stored: Tensor) -> Tensor:
    """Return what a fabric sees of stored pixels, (pixel - 128) / 64, single precision, channels last in memory."""
    return stored.float().sub_(128).div_(64).contiguous(memory_format=torch.channels_last)


def check_gates(gates: Tensor, links: int, n: int) -> None:
    """Refuse gates of another shape.

    Raises
    ------
    InputError
    """
    if tuple(gates.shape) not in ((links,), (n, links)):
        raise InputError(
            "gates", f"expected shape ({links},) or ({n}, {links}), one gate per link, got {tuple(gates.shape)}"
        )
