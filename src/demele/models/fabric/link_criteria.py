"""Scores of whole links: what a fabric does without one, or with a little less of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demele.core.extras import require
from demele.models.fabric.criteria import OF_WEIGHTS, Batch, Criterion, Scores
from demele.models.fabric.lattice import Link
from demele.models.fabric.network import FabricNetwork
from demele.models.fabric.shapley import Flags, ShapleyValues, shapley_values

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = require("torch", purpose="a fabric")
    Tensor, functional = torch.Tensor, torch.nn.functional

Floats = NDArray[np.float64]


def random(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Floats:
    """Uniform draws, one for each link: the control that every criterion must beat."""
    return rng.random(len(network.lattice.links))


def gate(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Floats:
    """Return abs(dL/da) for a gate a = 1 on each link: the first order of what its removal does."""
    training = network.training
    network.eval()
    links = len(network.lattice.links)
    total, device = torch.zeros(links), network.head.weight.device
    try:
        for images, labels in data:
            gates = torch.ones(links, device=device, requires_grad=True)
            with torch.enable_grad():
                loss = functional.cross_entropy(network(images, gates), labels, reduction="sum")
                total += torch.autograd.grad(loss, gates)[0].cpu()
    finally:
        network.train(training)
    return total.abs().double().numpy() / sum(len(labels) for _, labels in data)


def mean_loss(network: FabricNetwork, data: Sequence[Batch], live: Collection[Link]) -> float:
    """Return the mean cross-entropy of a network in eval mode that has only some of its links.

    Parameters
    ----------
    network : FabricNetwork
    data : sequence of (images, labels)
    live : collection of Link
        All on paths from input to output. Without any, every class is as likely.
    """
    if not live:
        return math.log(network.spec.classes)
    total, size = 0.0, 0
    with torch.no_grad():
        for images, labels in data:
            logits = network.head(network.output_node(images, live=live).flatten(1))
            total += float(functional.cross_entropy(logits, labels, reduction="sum"))
            size += len(labels)
    return total / size


def leave_one_out(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Floats:
    """Return by how much the loss grows when a link is removed, with all that is then on no path."""
    lattice, training = network.lattice, network.training
    network.eval()
    try:
        whole = mean_loss(network, data, lattice.useful())
        each = [mean_loss(network, data, lattice.useful((link,))) - whole for link in lattice.links]
    finally:
        network.train(training)
    return np.array(each)


def screening(
    network: FabricNetwork,
    data: Sequence[Batch],
    rng: np.random.Generator,
    n_repeats: int = 4,
    step: float = 0.1,
    sample: int = 32,
) -> Floats:
    """Return how much the length of the last node's value changes when the weights of a link move by ``step``.

    Each weight of the link goes up or down at random, ``n_repeats`` times; the score is the root of the mean square of
    the changes over draws and ``sample`` images, drawn from all: mean and spread together (Morris 1991).
    """
    images = torch.cat([images for images, _ in data])
    images = images[torch.from_numpy(rng.permutation(len(images))[:sample]).to(images.device)]
    training, squares = network.training, np.zeros(len(network.lattice.links))
    network.eval()
    try:
        with torch.no_grad():
            before = _lengths(network, images)
            for place, link in enumerate(network.lattice.links):
                shape = tuple(network.layer(link).conv.weight.shape)
                for _ in range(n_repeats):
                    after = _lengths_moved(network, images, link, step * rng.choice([-1.0, 1.0], shape))
                    squares[place] += float(np.mean((after - before) ** 2))
    finally:
        network.train(training)
    return np.sqrt(squares / n_repeats)


def _lengths_moved(network: FabricNetwork, images: Tensor, link: Link, moved: Floats) -> Floats:
    """Lengths of the last node's values where a kernel is moved, and then put back."""
    kernel = network.layer(link).conv.weight
    held = kernel.detach().clone()
    try:
        kernel.add_(torch.from_numpy(moved).to(kernel))
        return _lengths(network, images)
    finally:
        kernel.copy_(held)


def _lengths(network: FabricNetwork, images: Tensor) -> Floats:
    found: Floats = network.output_node(images).flatten(1).norm(dim=1).double().cpu().numpy()
    return found


def shapley(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, permutations: int = 40) -> Floats:
    """Return Shapley values of the links, see :func:`shapley_of_links`."""
    return shapley_of_links(network, data, rng, permutations).values


def shapley_of_links(
    network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, permutations: int
) -> ShapleyValues:
    """Return Shapley values of the links for the mean log-likelihood of the labels, at least that of guessing.

    A set of links is worth what the fabric without the others is; sets without a path are worth guessing, and end a
    permutation.
    """
    lattice, training = network.lattice, network.training
    guessing = -math.log(network.spec.classes)

    def worth(members: Flags) -> float:
        gone = {link for link, member in zip(lattice.links, members, strict=True) if not member}
        return max(-mean_loss(network, data, lattice.useful(gone)), guessing)

    network.eval()
    try:
        return shapley_values(
            worth,
            len(lattice.links),
            permutations=permutations,
            rng=rng,
            is_void=lambda members: not lattice.connected(members),
        )
    finally:
        network.train(training)


#: Criteria of links alone, by name.
OF_LINKS = {
    one.name: one
    for one in (
        Criterion("random", random, images=False, labels=False),
        Criterion("gate", gate, images=True, labels=True),
        Criterion("leave_one_out", leave_one_out, images=True, labels=True),
        Criterion("screening", screening, images=True, labels=False, options=("n_repeats", "step", "sample")),
        Criterion("shapley", shapley, images=True, labels=True, options=("permutations",)),
    )
}
#: Every criterion by name; those of weights score links by the Euclidean norm of the scores of their kernels.
CRITERIA = {**OF_WEIGHTS, **OF_LINKS}


def norms(name: str, network: FabricNetwork, scores: Scores) -> Floats:
    """Return scores of links from those of their weights: Euclidean norms.

    The norm would lose the sign of "grasp", whose lowest scores are below 0: these are summed.
    """
    found = [scores[link].double() for link in network.lattice.links]
    return np.array([float(one.sum() if name == "grasp" else one.norm()) for one in found])
