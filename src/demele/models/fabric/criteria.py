"""Scores of single weights: how much a fabric would lose with each. The lowest go first.

All leave the network as it was: weights, gradients, running statistics, and whether it trains. Gradients are those of
eval mode, where a weight changes what the network says; in training mode batch norm hides the size of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.extras import require
from demele.models.fabric.lattice import Link
from demele.models.fabric.network import FabricNetwork, LinkLayer, NodeLayer
from demele.models.fabric.surgery import folded

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = require("torch", purpose="a fabric")
    Tensor, functional = torch.Tensor, torch.nn.functional

#: Images as a fabric sees them, and their classes.
Batch = tuple[Tensor, Tensor]
#: One tensor for each link, of the shape of its kernel.
Scores = dict[Link, Tensor]


@contextmanager
def judged(network: FabricNetwork) -> Iterator[list[Tensor]]:
    """Yield the kernels of all links, with gradients on, of a network in eval mode; restored afterwards."""
    training = network.training
    kernels = [network.layer(link).conv.weight for link in network.lattice.links]
    wanted = [kernel.requires_grad for kernel in kernels]
    network.eval()
    for kernel in kernels:
        kernel.requires_grad_(True)
    try:
        with torch.enable_grad():
            yield kernels
    finally:
        network.train(training)
        for kernel, flag in zip(kernels, wanted, strict=True):
            kernel.requires_grad_(flag)


def loss_of(network: FabricNetwork, batch: Batch, *, temperature: float = 1.0) -> Tensor:
    """Return the summed cross-entropy of a batch."""
    images, labels = batch
    return functional.cross_entropy(network(images) / temperature, labels, reduction="sum")


def _size(data: Sequence[Batch]) -> int:
    return sum(len(labels) for _, labels in data)


def _gradients(network: FabricNetwork, data: Sequence[Batch], kernels: list[Tensor]) -> list[Tensor]:
    """Gradient of the mean loss over all data."""
    total = [torch.zeros_like(kernel) for kernel in kernels]
    for batch in data:
        found = torch.autograd.grad(loss_of(network, batch), kernels)
        _add(total, found)
    return [one / _size(data) for one in total]


def _add(total: list[Tensor], found: Sequence[Tensor]) -> None:
    for one, other in zip(total, found, strict=True):
        one.add_(other)


def _scored(network: FabricNetwork, values: Sequence[Tensor]) -> Scores:
    """Scores by link, 0 where a weight is masked."""
    found = {}
    for link, value in zip(network.lattice.links, values, strict=True):
        mask = network.layer(link).mask
        found[link] = value.detach() if mask is None else (value * mask).detach()
    return found


# Criteria that need no data -------------------------------------------------------------------------------------------


def random(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Scores:
    """Uniform draws: the control that every criterion must beat."""
    drawn = [rng.random(tuple(network.layer(link).conv.weight.shape)) for link in network.lattice.links]
    return _scored(network, [torch.from_numpy(one).float() for one in drawn])


def magnitude(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Scores:
    """Return abs(w)."""
    return _scored(network, [network.layer(link).conv.weight.abs() for link in network.lattice.links])


def synflow(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Scores:
    """Return abs(w dR/dw), R the sum of the outputs for an image of ones where all weights are their absolute values.

    Norms are left out: what flows is the product of kernels along paths (Tanaka et al. 2020, without their rounds).
    """
    flow = folded(network).double()
    for name, parameter in flow.named_parameters():
        parameter.abs_() if name.endswith("weight") else parameter.zero_()
    with torch.no_grad():
        for link in network.lattice.links:
            flow.layer(link).conv.weight.copy_(network.layer(link).kernel.abs())
        flow.input.conv.weight.copy_(network.input.kernel.abs())
    for module in flow.modules():
        if isinstance(module, LinkLayer | NodeLayer) and module.activation is not None:
            module.activation = "relu"  # nothing is cut off: all is positive
    size = network.spec.image_size
    ones = torch.ones(1, network.spec.image_channels, size, size, dtype=torch.double, device=flow.head.weight.device)
    with judged(flow) as kernels:
        gradients = torch.autograd.grad(flow(ones).sum(), kernels)
    return _scored(
        network, [(kernel * gradient).abs().float() for kernel, gradient in zip(kernels, gradients, strict=True)]
    )


# Criteria of images and labels ----------------------------------------------------------------------------------------


def sensitivity(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Scores:
    """Return abs(w g), g the gradient of the mean loss over all data (Lee et al. 2019)."""
    with judged(network) as kernels:
        gradients = _gradients(network, data, kernels)
    return _scored(network, [(kernel * gradient).abs() for kernel, gradient in zip(kernels, gradients, strict=True)])


def fisher(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Scores:
    """Return w² times the mean over batches of the squared gradient of their mean loss."""
    with judged(network) as kernels:
        total = [torch.zeros_like(kernel) for kernel in kernels]
        for batch in data:
            found = torch.autograd.grad(loss_of(network, batch) / len(batch[1]), kernels)
            _add(total, [one**2 for one in found])
    return _scored(network, [kernel**2 * one / len(data) for kernel, one in zip(kernels, total, strict=True)])


def _curvature(network: FabricNetwork, data: Sequence[Batch], temperature: float) -> list[Tensor]:
    """Return w (H g), H the Hessian of the mean loss and g its gradient, of kernels."""
    with judged(network) as kernels:
        total, size = [torch.zeros_like(kernel) for kernel in kernels], _size(data)
        for batch in data:
            loss = loss_of(network, batch, temperature=temperature) / size
            _add(total, torch.autograd.grad(loss, kernels))
        product = [torch.zeros_like(kernel) for kernel in kernels]
        for batch in data:
            loss = loss_of(network, batch, temperature=temperature) / size
            own = torch.autograd.grad(loss, kernels, create_graph=True)
            inner = sum(((one * g).sum() for one, g in zip(own, total, strict=True)), torch.zeros(()))
            _add(product, torch.autograd.grad(inner, kernels))
    return [kernel.detach() * one for kernel, one in zip(kernels, product, strict=True)]


def grasp(
    network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, temperature: float = 200.0
) -> Scores:
    """Return w (H g) of logits divided by a temperature: at initialisation only (Wang et al. 2020)."""
    return _scored(network, _curvature(network, data, temperature))


def grasp_abs(
    network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, temperature: float = 1.0
) -> Scores:
    """Return abs(w (H g)), for networks that are trained."""
    return _scored(network, [one.abs() for one in _curvature(network, data, temperature)])


# A criterion of images alone ------------------------------------------------------------------------------------------


def label_free(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Scores:
    """Return abs(w dT/dw), T the mean length of the value of the last node: of images, whatever their classes."""
    with judged(network) as kernels:
        total = [torch.zeros_like(kernel) for kernel in kernels]
        for images, _ in data:
            length = network.output_node(images).flatten(1).norm(dim=1).sum()
            _add(total, torch.autograd.grad(length, kernels))
        size = _size(data)
    return _scored(network, [(kernel * one).abs() / size for kernel, one in zip(kernels, total, strict=True)])


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion: its function, and what it reads.

    Attributes
    ----------
    name : str
    scored : callable
        Of weights: ``(network, data, rng, **options) -> Scores``. Of links alone: an array of shape (links,).
    images, labels : bool
        Whether it reads them.
    options : tuple of str
    """

    name: str
    scored: Callable[..., Any]
    images: bool
    labels: bool
    options: tuple[str, ...] = ()


#: Criteria of weights, by name.
OF_WEIGHTS = {
    one.name: one
    for one in (
        Criterion("random", random, images=False, labels=False),
        Criterion("magnitude", magnitude, images=False, labels=False),
        Criterion("synflow", synflow, images=False, labels=False),
        Criterion("sensitivity", sensitivity, images=True, labels=True),
        Criterion("fisher", fisher, images=True, labels=True),
        Criterion("grasp", grasp, images=True, labels=True, options=("temperature",)),
        Criterion("grasp_abs", grasp_abs, images=True, labels=True, options=("temperature",)),
        Criterion("label_free", label_free, images=True, labels=False),
    )
}
