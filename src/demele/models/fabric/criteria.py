"""Scores of weights and of links, how much a fabric would lose with each; and pruning: the lowest go first.

All leave the network unchanged: weights, gradients, running statistics, and whether it trains. Gradients are those of
eval mode, where a weight changes the output; in training mode batch norm hides the size of a kernel.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.arrays import Flags, Floats, rng_for
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import checked_count, checked_name, checked_seed
from demele.core.lazy import require
from demele.models.fabric import lattice as lattices
from demele.models.fabric.lattice import Link, Node, Pruning
from demele.models.fabric.network import FabricNetwork, Feed, LinkLayer, NodeLayer, folded, reduced
from demele.models.training import in_eval_mode

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = require("torch", purpose="a fabric")
    Tensor, functional = torch.Tensor, torch.nn.functional


# Screening and Sobol indices of the inputs of a function, from the same runs (Campolongo, Saltelli, Cariboni 2011) ----

#: Resamples of the runs for an interval.
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class RadialRuns:
    """Values of a function where all inputs are drawn, and where one of them is drawn again.

    Attributes
    ----------
    values : array of shape (repeats, inputs + 2)
        At points a and b, whose coordinates are all drawn; then at a, with one coordinate of b.
    steps : array of shape (repeats, inputs)
        b - a.
    """

    values: Floats
    steps: Floats

    @property
    def effects(self) -> Floats:
        """Elementary effects: the change by the step, shape (repeats, inputs)."""
        return np.asarray((self.values[:, 2:] - self.values[:, :1]) / self.steps)

    def indices(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return first-order and total Sobol indices, each of shape (inputs,), or one row for each row of weights.

        NaN where the function does not vary. First: Saltelli et al. (2010); total: Jansen (1999).
        """
        n, (at_a, at_b) = len(self.values), self.values.T[:2]
        of_runs = np.full((1, n), 1 / n) if weights is None else weights / n
        centre = of_runs @ (at_a + at_b)[:, None] / 2
        variance = of_runs @ (at_a**2 + at_b**2)[:, None] / 2 - centre**2
        change = self.values[:, 2:] - at_a[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            first = (of_runs @ (at_b[:, None] * change) - centre * (of_runs @ change)) / variance
            total = of_runs @ change**2 / (2 * variance)
        return (first[0], total[0]) if weights is None else (first, total)

    def intervals(self, level: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return percentile intervals over runs drawn again, of both indices: each of shape (2, inputs)."""
        n, ends = len(self.values), [(1 - level) / 2, (1 + level) / 2]
        drawn = self.indices(rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES).astype(np.float64))
        first, total = (np.quantile(one, ends, axis=0) for one in drawn)
        return first, total


def radial_runs(
    function: Callable[[Floats], Floats],
    inputs: int,
    *,
    repeats: int,
    rng: np.random.Generator,
    low: float = 0.0,
    high: float = 1.0,
) -> RadialRuns:
    """Return runs of a function of independent inputs, uniform between ``low`` and ``high``.

    Parameters
    ----------
    function : callable
        Of points, an array of shape (m, inputs), to values of shape (m,).
    inputs, repeats : int
    rng : numpy.random.Generator
    low, high : float

    Returns
    -------
    RadialRuns

    Examples
    --------
    >>> runs = radial_runs(lambda x: x @ [1.0, 2.0], 2, repeats=4, rng=np.random.default_rng(0))
    >>> runs.effects.round(6).tolist()[0], runs.values.shape
    ([1.0, 2.0], (4, 4))
    """
    drawn = rng.uniform(low, high, (repeats, 2, inputs))
    a, b = drawn[:, :1], drawn[:, 1:]
    points = np.concatenate([drawn, np.where(np.eye(inputs, dtype=bool), b, a)], axis=1)
    return RadialRuns(np.array([function(own) for own in points], dtype=np.float64), (b - a)[:, 0])


#: Images as a fabric sees them, and their classes.
Batch = tuple[Tensor, Tensor]
#: One tensor for each link, of the shape of its kernel.
Scores = dict[Link, Tensor]


@contextmanager
def judged(network: FabricNetwork) -> Iterator[list[Tensor]]:
    """Yield the kernels of all links, with gradients on, of a network in eval mode; restored afterwards."""
    kernels = [network.layer(link).conv.weight for link in network.lattice.links]
    wanted = [kernel.requires_grad for kernel in kernels]
    for kernel in kernels:
        kernel.requires_grad_(True)
    try:
        with in_eval_mode(network), torch.enable_grad():
            yield kernels
    finally:
        for kernel, flag in zip(kernels, wanted, strict=True):
            kernel.requires_grad_(flag)


def loss_of(network: FabricNetwork, batch: Batch, *, temperature: float = 1.0) -> Tensor:
    """Return the summed cross-entropy of a batch."""
    images, labels = batch
    return functional.cross_entropy(network(images) / temperature, labels, reduction="sum")


def _size(data: Sequence[Batch]) -> int:
    return sum(len(labels) for _, labels in data)


def _summed(values: Iterable[Tensor], kernels: list[Tensor]) -> list[Tensor]:
    """Return the sum of the gradients of some values."""
    total = [torch.zeros_like(kernel) for kernel in kernels]
    for value in values:
        for one, other in zip(total, torch.autograd.grad(value, kernels), strict=True):
            one.add_(other)
    return total


# Criteria that need no data -------------------------------------------------------------------------------------------


def random(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> list[Tensor]:
    """Uniform draws: the control that every criterion must beat."""
    shapes = [tuple(network.layer(link).conv.weight.shape) for link in network.lattice.links]
    return [torch.from_numpy(rng.random(shape)).float() for shape in shapes]


def magnitude(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> list[Tensor]:
    """Return abs(w)."""
    return [network.layer(link).conv.weight.abs() for link in network.lattice.links]


def synflow(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> list[Tensor]:
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
    return [(kernel * gradient).abs().float() for kernel, gradient in zip(kernels, gradients, strict=True)]


# Criteria of images and labels ----------------------------------------------------------------------------------------


def sensitivity(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> list[Tensor]:
    """Return abs(w g), g the gradient of the mean loss over all data (Lee et al. 2019)."""
    with judged(network) as kernels:
        total, size = _summed((loss_of(network, batch) for batch in data), kernels), _size(data)
    return [(kernel * (one / size)).abs() for kernel, one in zip(kernels, total, strict=True)]


def fisher(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> list[Tensor]:
    """Return w² times the mean over batches of the squared gradient of their mean loss."""
    with judged(network) as kernels:
        total = [torch.zeros_like(kernel) for kernel in kernels]
        for batch in data:
            found = torch.autograd.grad(loss_of(network, batch) / len(batch[1]), kernels)
            total = [one + other**2 for one, other in zip(total, found, strict=True)]
    return [kernel**2 * one / len(data) for kernel, one in zip(kernels, total, strict=True)]


def grasp(
    network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, temperature: float = 200.0
) -> list[Tensor]:
    """Return w (H g) of logits divided by a temperature: at initialisation only (Wang et al. 2020).

    H is the Hessian of the mean loss and g its gradient, of kernels.
    """
    size = _size(data)

    def loss(batch: Batch) -> Tensor:
        return loss_of(network, batch, temperature=temperature) / size

    def inner(batch: Batch) -> Tensor:
        own = torch.autograd.grad(loss(batch), kernels, create_graph=True)
        return sum(((one * g).sum() for one, g in zip(own, total, strict=True)), torch.zeros(()))

    with judged(network) as kernels:
        total = _summed(map(loss, data), kernels)
        product = _summed(map(inner, data), kernels)
    return [kernel.detach() * one for kernel, one in zip(kernels, product, strict=True)]


def grasp_abs(
    network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, temperature: float = 1.0
) -> list[Tensor]:
    """Return abs(w (H g)), for networks that are trained."""
    return [one.abs() for one in grasp(network, data, rng, temperature)]


# A criterion of images alone ------------------------------------------------------------------------------------------


def label_free(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> list[Tensor]:
    """Return abs(w dT/dw), T the mean length of the value of the last node: of images, whatever their classes."""
    with judged(network) as kernels:
        lengths = (network.output_node(images).flatten(1).norm(dim=1).sum() for images, _ in data)
        total, size = _summed(lengths, kernels), _size(data)
    return [(kernel * one).abs() / size for kernel, one in zip(kernels, total, strict=True)]


# Shapley values of any game -------------------------------------------------------------------------------------------


def shapley_values(
    worth: Callable[[Flags], float],
    players: int,
    *,
    permutations: int,
    rng: np.random.Generator,
    is_void: Callable[[Flags], bool] = lambda members: not members.any(),
) -> Floats:
    r"""Return Monte Carlo estimates of Shapley values: what each player adds in each permutation.

    .. math:: \phi_i = \mathrm{E}_\pi [ v(\text{before}_\pi(i) \cup \{i\}) - v(\text{before}_\pi(i)) ]

    Parameters
    ----------
    worth : callable
        v of a set of players, given as flags of shape (players,).
    players : int
    permutations : int
    rng : numpy.random.Generator
    is_void : callable
        Whether a set and all its subsets are worth as much as nobody: their worth is not asked for. By default only the
        empty set is.

    Returns
    -------
    array of shape (permutations, players)
        Each row sums to the worth of all players minus the worth of none; the values are the means of the columns.

    Notes
    -----
    Permutations are walked from all players to none, and a walk ends where the set is void: what is left adds nothing
    (Ghorbani and Zou 2020, who stop where the worth is small).

    Examples
    --------
    >>> found = shapley_values(lambda members: members @ [1.0, 2.0], 2, permutations=3, rng=np.random.default_rng(0))
    >>> found.mean(axis=0).tolist()
    [1.0, 2.0]
    """
    nothing = float(worth(np.zeros(players, dtype=bool)))
    everything = float(worth(np.ones(players, dtype=bool)))
    contributions = np.zeros((permutations, players))
    for row in contributions:
        members, held = np.ones(players, dtype=bool), everything
        for player in rng.permutation(players):
            members[player] = False
            if is_void(members):
                row[player] = held - nothing
                break
            left = float(worth(members))
            row[player], held = held - left, left
    return contributions


# Scores of links ------------------------------------------------------------------------------------------------------


def random_links(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Floats:
    """Uniform draws, one for each link: the control that every criterion must beat."""
    return rng.random(len(network.lattice.links))


def gate(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator) -> Floats:
    """Return abs(dL/da) for a gate a = 1 on each link: the first order of what its removal does."""
    links = len(network.lattice.links)
    total, device = torch.zeros(links), network.head.weight.device
    with in_eval_mode(network), torch.enable_grad():
        for images, labels in data:
            gates = torch.ones(links, device=device, requires_grad=True)
            loss = functional.cross_entropy(network(images, gates), labels, reduction="sum")
            total += torch.autograd.grad(loss, gates)[0].cpu()
    return total.abs().double().numpy() / _size(data)


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
    lattice = network.lattice
    with in_eval_mode(network):
        whole = mean_loss(network, data, lattice.useful())
        return np.array([mean_loss(network, data, lattice.useful((link,))) - whole for link in lattice.links])


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
    images, links = _sampled(data, rng, sample), network.lattice.links
    squares = np.zeros(len(links))
    with in_eval_mode(network), torch.no_grad():
        before = _lengths(network, images)
        for place, kernel in enumerate(network.layer(link).conv.weight for link in links):
            held = kernel.detach().clone()
            try:
                for _ in range(n_repeats):
                    signs = rng.choice([-1.0, 1.0], tuple(kernel.shape))
                    kernel.copy_(held + torch.from_numpy(step * signs).to(kernel))
                    squares[place] += float(np.mean((_lengths(network, images) - before) ** 2))
            finally:
                kernel.copy_(held)
    return np.sqrt(squares / n_repeats)


def _sampled(data: Sequence[Batch], rng: np.random.Generator, n: int) -> Tensor:
    """Return some images, drawn from all."""
    images = torch.cat([images for images, _ in data])
    return images[torch.from_numpy(rng.permutation(len(images))[:n]).to(images.device)]


def _lengths(network: FabricNetwork, images: Tensor, gates: Tensor | None = None) -> Floats:
    return np.asarray(network.output_node(images, gates).flatten(1).norm(dim=1).double().cpu().numpy())


def shapley(network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, permutations: int = 40) -> Floats:
    """Return Shapley values of the links, see :func:`shapley_of_links`."""
    return np.asarray(shapley_of_links(network, data, rng, permutations).mean(axis=0))


def shapley_of_links(
    network: FabricNetwork, data: Sequence[Batch], rng: np.random.Generator, permutations: int
) -> Floats:
    """Return what each link adds in each permutation to the mean log-likelihood, which is at least that of guessing.

    A set of links is worth what the fabric without the others is; sets without a path are worth guessing, and end a
    permutation.
    """
    lattice = network.lattice
    guessing = -math.log(network.spec.classes)

    def useful(members: Flags) -> set[Link]:
        return lattice.useful({link for link, member in zip(lattice.links, members, strict=True) if not member})

    def worth(members: Flags) -> float:
        return max(-mean_loss(network, data, useful(members)), guessing)

    def is_void(members: Flags) -> bool:
        return not useful(members)

    with in_eval_mode(network):
        return shapley_values(worth, len(lattice.links), permutations=permutations, rng=rng, is_void=is_void)


def gate_runs(
    network: FabricNetwork,
    data: Sequence[Batch],
    rng: np.random.Generator,
    n_repeats: int,
    low: float,
    sample: int,
) -> RadialRuns:
    """Return mean lengths of the last node's value for gates on all links, drawn between ``low`` and 1.

    The lengths are those of ``sample`` images, drawn from all.
    """
    images = _sampled(data, rng, sample)

    def output(points: Floats) -> Floats:
        held = torch.from_numpy(points).to(images)
        return np.array([_lengths(network, images, gates).mean() for gates in held])

    with in_eval_mode(network), torch.no_grad():
        return radial_runs(output, len(network.lattice.links), repeats=n_repeats, rng=rng, low=low)


def sobol(
    network: FabricNetwork,
    data: Sequence[Batch],
    rng: np.random.Generator,
    n_repeats: int = 32,
    low: float = 0.5,
    sample: int = 32,
) -> Floats:
    """Return total Sobol indices of gates on the links, see :func:`gate_runs`."""
    return gate_runs(network, data, rng, n_repeats, low, sample).indices()[1]


# Shapley values of groups of weights ----------------------------------------------------------------------------------


def shapley_groups(
    network: FabricNetwork,
    data: Sequence[Batch],
    rng: np.random.Generator,
    groups: int = 4,
    permutations: int = 4,
) -> list[Tensor]:
    """Return Shapley values of groups of filters for the mean log-likelihood, divided among their weights.

    Each kernel is divided into ``groups`` of neighbouring output channels; a group that is out has weights of 0, as if
    all were masked. Each permutation costs a look at all images for every group.
    """
    kernels = [network.layer(link).conv.weight for link in network.lattice.links]
    whole = [kernel.detach().clone() for kernel in kernels]
    parts = [
        (place, part) for place, kernel in enumerate(kernels) for part in np.array_split(np.arange(len(kernel)), groups)
    ]

    def restore() -> None:
        for kernel, held in zip(kernels, whole, strict=True):
            kernel.copy_(held)

    def worth(members: Flags) -> float:
        restore()
        for (place, part), member in zip(parts, members, strict=True):
            if not member:
                kernels[place][part] = 0
        return -mean_loss(network, data, network.lattice.useful())

    with in_eval_mode(network), torch.no_grad():
        try:
            found = shapley_values(worth, len(parts), permutations=permutations, rng=rng, is_void=lambda _: False)
        finally:
            restore()
    shared = [torch.zeros_like(kernel) for kernel in whole]
    for (place, part), value in zip(parts, found.mean(axis=0), strict=True):
        if len(part):
            shared[place][part] = float(value) / shared[place][part].numel()
    return shared


# All criteria ---------------------------------------------------------------------------------------------------------

#: Criteria of weights, by name: ``(network, data, rng, **options)`` to a tensor for each link, of the shape of its
#: kernel. They score links by the Euclidean norm of the scores of their kernels.
OF_WEIGHTS: Mapping[str, Callable[..., list[Tensor]]] = {
    one.__name__: one
    for one in (random, magnitude, synflow, sensitivity, fisher, grasp, grasp_abs, label_free, shapley_groups)
}
#: Of these, criteria whose scores can be below 0: those of a link are then summed, since a norm would lose the sign.
SIGNED = ("grasp", "shapley_groups")
#: Criteria of links alone, by name: an array of shape (links,).
OF_LINKS: Mapping[str, Callable[..., Floats]] = {
    "random": random_links,
    **{one.__name__: one for one in (gate, leave_one_out, screening, sobol, shapley)},
}
CRITERIA: Mapping[str, Callable[..., Any]] = {**OF_WEIGHTS, **OF_LINKS}
#: Criteria that look at no images, and others that look at no labels.
WITHOUT_IMAGES = ("random", "magnitude", "synflow")
WITHOUT_LABELS = (*WITHOUT_IMAGES, "label_free", "screening", "sobol")


# Fabrics pruned at one of three levels: parts scored, some chosen, and a smaller fabric returned ----------------------


LEVELS: tuple[Literal["links", "channels", "weights"], ...] = ("links", "channels", "weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A criterion with what it reads.

    Attributes
    ----------
    criterion : str
    data : sequence of (images, labels)
    seed : int
    options : dict
    """

    criterion: str
    data: Sequence[Batch]
    seed: int
    options: dict[str, Any]

    def weights(self, network: FabricNetwork) -> Scores:
        """Return the scores of all weights of links, 0 where a weight is masked.

        Raises
        ------
        InputError
            If the criterion is one of links alone.
        """
        check_level(self.criterion, "weights")
        rng = rng_for(self.seed, "criterion", self.criterion, "weights")
        values = OF_WEIGHTS[self.criterion](network, self.data, rng, **self.options)
        masks = {link: network.layer(link).mask for link in network.lattice.links}
        return {
            link: (value if mask is None else value * mask).detach()
            for (link, mask), value in zip(masks.items(), values, strict=True)
        }

    def links(self, network: FabricNetwork) -> Floats:
        """Return the scores of all links."""
        if self.criterion in OF_LINKS:
            rng = rng_for(self.seed, "criterion", self.criterion, "links")
            return np.asarray(OF_LINKS[self.criterion](network, self.data, rng, **self.options))
        found = [own.double() for own in self.weights(network).values()]
        return np.array([float(own.sum() if self.criterion in SIGNED else own.norm()) for own in found])

    def channels(self, network: FabricNetwork) -> dict[Node, Floats]:
        """Return scores of the channels of all nodes: the norm of the scores of what makes them and what reads them.

        Of a channel, the weights of that output of all links into its node, and of that input of all links out of it.
        Norms of many draws are nearly those of their number: at random, each channel has a draw of its own.
        """
        if self.criterion == "random":
            rng = rng_for(self.seed, "criterion", "random", "channels")
            return {node: rng.random(width) for node, width in network.widths.items()}
        squares = {node: np.zeros(width) for node, width in network.widths.items()}
        for link, scores in self.weights(network).items():
            own = scores.double().square().cpu().numpy()
            squares[link.target] += own.sum(axis=(1, 2, 3))
            squares[link.source] += own.sum(axis=(0, 2, 3))
        return {node: np.sqrt(own) for node, own in squares.items()}


def check_level(criterion: str, level: str) -> None:
    """Refuse a criterion of links alone for another level.

    Raises
    ------
    InputError
    """
    if level != "links" and criterion not in OF_WEIGHTS:
        these = f"these do: {', '.join(OF_WEIGHTS)}"
        raise InputError("criterion", f"{criterion!r} scores links, and neither weights nor channels", these)


def check_criterion(name: Any, options: dict[str, Any], *, images: bool, labels: bool) -> None:
    """Refuse a criterion that is not known, or whose images or labels are missing.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    checked_name(name, "criterion", sorted(CRITERIA))
    known = list(inspect.signature(CRITERIA[name]).parameters)[3:]
    for option in options:
        if option not in known:
            own = f"its options are {', '.join(known)}" if known else "it has none"
            raise InputTypeError(f"criterion {name!r} has no option {quoted(option)}; {own}")
    if name not in WITHOUT_IMAGES and not images:
        raise InputError("images", f"criterion {name!r} looks at images; pass some that were not trained on")
    if name not in WITHOUT_LABELS and not labels:
        raise InputError("labels", f"criterion {name!r} looks at classes; pass those of the images")


def judge_of(
    network: FabricNetwork, criterion: Any, images: Any, labels: Any, *, batch: Any, seed: Any, options: dict[str, Any]
) -> Judge:
    """Return a criterion with the images of a user, if it reads any.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    check_criterion(criterion, options, images=images is not None, labels=labels is not None)
    data: list[Batch] = []
    if criterion not in WITHOUT_IMAGES:
        feed = Feed.of(images, labels, network.spec, str(network.head.weight.device))
        data = list(feed.batches(size=checked_count(batch, "batch", 1)))
    return Judge(criterion=criterion, data=data, seed=checked_seed(seed), options=options)


# The three levels -----------------------------------------------------------------------------------------------------


def pruned(
    network: FabricNetwork,
    level: str,
    fraction: float,
    judge: Judge | Mapping[str, float],
    *,
    min_links: str | int,
    overshoot: float,
    round_to: int,
    cap: float | None,
    trim_taps: bool,
    fraction_of: str,
) -> tuple[FabricNetwork, Pruning]:
    """Return a smaller fabric, and what went of the one before, which is untouched.

    Parameters
    ----------
    network : FabricNetwork
    level : {"links", "channels", "weights"}
    fraction : float
    judge : Judge or mapping of str to float
        What scores links, channels or weights, or scores of links by name.
    min_links, overshoot, round_to, cap, trim_taps, fraction_of
        As of :meth:`demele.lab.Fabric.prune`.

    Raises
    ------
    InputError, InputTypeError
        If scores of links are given for another level, or the criterion has none for it.
    """

    def removed(*, live: int, whole: int) -> int:
        return round(fraction * live) if fraction_of == "live" else max(0, live - round((1 - fraction) * whole))

    links, everything = network.lattice.links, network.spec.lattice()
    if level == "links":
        scores = judge.links(network) if isinstance(judge, Judge) else np.array([judge[one.name] for one in links])
        left, plan = lattices.plan_links(
            network.lattice,
            scores,
            remove=removed(live=len(links), whole=len(everything.links)),
            least=lattices.links_to_keep(everything, network.lattice, min_links),
            overshoot=int(overshoot * len(links)),
        )
        return reduced(network, left, {}), plan
    if not isinstance(judge, Judge):
        raise InputTypeError("criterion", f"expected the name of one for {level}, got scores of links")
    if level == "channels":
        whole = network.spec.channels * len(everything.nodes)
        remove = removed(live=sum(network.widths.values()), whole=whole)
        kept, plan = lattices.plan_channels(judge.channels(network), remove=remove, round_to=round_to)
        return reduced(network, network.lattice, kept), plan
    # Mask the weights of lowest score; those that are masked already count, and stay so.
    spec, ranked, flat = network.spec, dict[Link, Flags](), []
    for link, own in judge.weights(network).items():
        values, mask = own.double().cpu().numpy(), network.layer(link).mask
        taps = spec.reached_taps(link) if trim_taps else np.ones((3, 3), dtype=bool)
        ranked[link] = np.broadcast_to(taps, values.shape)
        held = values if mask is None else np.where(mask.cpu().numpy() == 0, -np.inf, values)
        flat.append(held[ranked[link]])
    taps_of_all = sum(int(spec.reached_taps(link).sum()) if trim_taps else lattices.TAPS for link in everything.links)
    remove = removed(live=sum(map(len, flat)), whole=spec.channels**2 * taps_of_all)
    masked, plan = lattices.plan_weights(flat, remove=remove, cap=cap)
    found = reduced(network, network.lattice, {})
    with torch.no_grad():
        for (link, places), flags in zip(ranked.items(), masked, strict=True):
            layer, kept_weights = found.layer(link), places.copy()
            kept_weights[places] = ~flags
            new = torch.from_numpy(kept_weights).to(layer.conv.weight)
            layer.mask = new if layer.mask is None else layer.mask * new
            layer.conv.weight.mul_(layer.mask)
    return found, plan
