"""Fabrics with fewer parts: links removed, channels removed, norms folded into kernels. The one before is untouched."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require
from demele.models.fabric.lattice import Lattice, Link, Node
from demele.models.fabric.network import FabricNetwork, LinkLayer, empty_network, key_of

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
else:
    torch = require("torch", purpose="a fabric")
    Tensor, nn = torch.Tensor, torch.nn

Kept = Mapping[Node, NDArray[np.int64]]


def copied(network: FabricNetwork) -> FabricNetwork:
    """Return the same fabric with weights of its own."""
    return reduced(network, network.lattice, {})


def without_links(network: FabricNetwork, removed: Collection[Link]) -> FabricNetwork:
    """Return the fabric without some links, and without those that then lie on no path.

    Raises
    ------
    InputError
        If no path from input to output would be left.
    """
    return reduced(network, network.lattice.without(removed), {})


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
    places = {node: _places(kept.get(node), network.widths[node]) for node in lattice.nodes}
    widths = {node: len(place) for node, place in places.items()}
    found = empty_network(network.spec, lattice, widths, folded=network.folded)
    device = network.head.weight.device
    with torch.no_grad():
        _copy_layer(network.input, found.input, torch.arange(network.spec.image_channels), places[lattice.start])
        for link in lattice.links:
            _copy_layer(network.layer(link), found.layer(link), places[link.source], places[link.target])
        for node in lattice.nodes if len(network.nodes) else ():
            norms: Any = network.nodes[key_of(node)], found.nodes[key_of(node)]
            _copy_norm(norms[0].norm, norms[1].norm, places[node])
        found.head.weight.copy_(network.head.weight[:, places[lattice.end].to(device)])
        found.head.bias.copy_(network.head.bias)
    return found.to(device).train(network.training)


def _places(kept: NDArray[np.int64] | None, width: int) -> Tensor:
    return torch.arange(width) if kept is None else torch.from_numpy(np.asarray(kept, dtype=np.int64))


def _copy_layer(old: LinkLayer, new: LinkLayer, inputs: Tensor, outputs: Tensor) -> None:
    device = old.conv.weight.device
    inputs, outputs = inputs.to(device), outputs.to(device)

    def part(kernel: Tensor) -> Tensor:
        return kernel[outputs][:, inputs]

    new.conv.weight.copy_(part(old.conv.weight))
    if old.conv.bias is not None and new.conv.bias is not None:
        new.conv.bias.copy_(old.conv.bias[outputs])
    new.mask = None if old.mask is None else part(old.mask).cpu()
    _copy_norm(old.norm, new.norm, outputs)


def _copy_norm(old: nn.BatchNorm2d | None, new: nn.BatchNorm2d | None, kept: Tensor) -> None:
    if old is None or new is None:
        return
    kept = kept.to(old.weight.device)
    held = dict(new.named_parameters()) | dict(new.named_buffers())
    for name, values in (dict(old.named_parameters()) | dict(old.named_buffers())).items():
        held[name].copy_(values[kept] if values.ndim else values)


# Export ---------------------------------------------------------------------------------------------------------------


def folded(network: FabricNetwork) -> FabricNetwork:
    """Return the fabric of eval mode with its norms and masks inside the kernels: one convolution per link.

    The norm of a node scales the kernels of all its links; what it adds goes to the bias of the first of them.
    """
    found = empty_network(network.spec, network.lattice, network.widths, folded=True)
    device = network.head.weight.device
    with torch.no_grad():
        _fold(network.input, found.input, _affine(_norm_of(network, network.lattice.start, network.input)), first=True)
        for node in network.lattice.nodes:
            for number, link in enumerate(network.lattice.incoming[node]):
                layer = network.layer(link)
                _fold(layer, found.layer(link), _affine(_norm_of(network, node, layer)), first=number == 0)
        found.head.weight.copy_(network.head.weight)
        found.head.bias.copy_(network.head.bias)
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


def _norm_of(network: FabricNetwork, node: Node, layer: LinkLayer) -> nn.BatchNorm2d:
    """Return the norm that comes after a link: its own, or that of its node."""
    own: Any = layer.norm if network.spec.normalisation == "link" else network.nodes[key_of(node)].norm
    return own  # type: ignore[no-any-return]


def _affine(norm: nn.BatchNorm2d) -> tuple[Tensor, Tensor]:
    """Return what a norm multiplies by and then adds in eval mode."""
    mean, variance = norm.running_mean, norm.running_var
    if mean is None or variance is None:
        raise RuntimeError("internal error: a norm without running statistics")
    scale = norm.weight / (variance + norm.eps).sqrt()
    return scale, norm.bias - mean * scale


def _fold(old: LinkLayer, new: LinkLayer, affine: tuple[Tensor, Tensor], *, first: bool) -> None:
    """Copy a layer with the norm inside; of the links of a node with one norm, the first takes what it adds."""
    scale, shift = affine
    new.conv.weight.copy_(old.kernel * scale[:, None, None, None])
    bias = torch.zeros_like(shift) if old.conv.bias is None else old.conv.bias * scale
    if new.conv.bias is not None:
        new.conv.bias.copy_(bias + shift if first or old.norm is not None else bias)


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
    norms, training = network.norms(), network.training
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
