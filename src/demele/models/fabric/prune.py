"""A fabric pruned at one of three levels: parts scored, some chosen, and a smaller fabric returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import checked_count, checked_name, checked_seed, checked_share
from demele.core.lazy import require
from demele.core.seeds import rng_for
from demele.models.fabric.criteria import CRITERIA, OF_LINKS, OF_WEIGHTS, Batch, Criterion, Scores, norms
from demele.models.fabric.lattice import Link, Node, Pruning, links_to_keep, plan_channels, plan_links, plan_weights
from demele.models.fabric.network import FabricNetwork, Feed, reduced

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", purpose="a fabric")


LEVELS: tuple[Literal["links", "channels", "weights"], ...] = ("links", "channels", "weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A criterion with what it reads.

    Attributes
    ----------
    criterion : Criterion
    data : sequence of (images, labels)
    seed : int
    options : dict
    """

    criterion: Criterion
    data: Sequence[Batch]
    seed: int
    options: dict[str, Any]

    def _call(self, scored: Callable[..., Any], network: FabricNetwork, level: str) -> Any:
        return scored(network, self.data, rng_for(self.seed, "criterion", self.criterion.name, level), **self.options)

    def weights(self, network: FabricNetwork) -> Scores:
        """Return the scores of all weights of links.

        Raises
        ------
        InputError
            If the criterion is one of links alone.
        """
        name = self.criterion.name
        check_level(name, "weights")
        scores: Scores = self._call(OF_WEIGHTS[name].scored, network, "weights")
        return scores

    def links(self, network: FabricNetwork) -> Floats:
        """Return the scores of all links."""
        name = self.criterion.name
        if name in OF_LINKS:
            return np.asarray(self._call(OF_LINKS[name].scored, network, "links"))
        return norms(name, network, self.weights(network))

    def channels(self, network: FabricNetwork) -> dict[Node, Floats]:
        """Return scores of the channels of all nodes: the norm of the scores of what makes them and what reads them.

        Of a channel, the weights of that output of all links into its node, and of that input of all links out of it.
        Norms of many draws are nearly those of their number: at random, each channel has a draw of its own.
        """
        if self.criterion.name == "random":
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


def checked_criterion(name: Any, options: dict[str, Any], *, images: bool, labels: bool) -> Criterion:
    """Return a criterion by name, if what it reads was given.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    checked_name(name, "criterion", sorted(CRITERIA))
    found = CRITERIA[name]
    for option in options:
        if option not in found.options:
            own = f"its options are {', '.join(found.options)}" if found.options else "it has none"
            raise InputTypeError(f"criterion {name!r} has no option {quoted(option)}; {own}")
    if found.images and not images:
        raise InputError("images", f"criterion {name!r} looks at images; pass some that were not trained on")
    if found.labels and not labels:
        raise InputError("labels", f"criterion {name!r} looks at classes; pass those of the images")
    return found


def judge_of(
    network: FabricNetwork, criterion: Any, images: Any, labels: Any, *, batch: Any, seed: Any, options: dict[str, Any]
) -> Judge:
    """Return a criterion with the images of a user, if it reads any.

    Raises
    ------
    UnknownNameError, InputError, InputTypeError
    """
    known = checked_criterion(criterion, options, images=images is not None, labels=labels is not None)
    data = []
    if known.images:
        feed = Feed.of(images, labels, network.spec, str(network.head.weight.device))
        data = list(feed.batches(size=checked_count(batch, "batch", 1)))
    return Judge(criterion=known, data=data, seed=checked_seed(seed), options=options)


# The three levels -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningSettings:
    """What limits a pruning.

    Attributes
    ----------
    min_links : "longest", "shortest" or int
    overshoot : float
    round_to : int
    cap : float or None
    trim_taps : bool
    fraction_of : {"live", "whole"}
    """

    min_links: str | int
    overshoot: float
    round_to: int
    cap: float | None
    trim_taps: bool
    fraction_of: str

    def __post_init__(self) -> None:
        if self.cap is not None:
            checked_share(self.cap, "cap", 0, 1)
        checked_share(self.overshoot, "overshoot", 0, 1, "[]")
        checked_count(self.round_to, "round_to", 1)
        checked_name(self.fraction_of, "fraction_of", ("live", "whole"))

    def removed(self, fraction: float, *, live: int, whole: int) -> int:
        """Return how many of those that live must go for a fraction, of them or of those of the whole fabric."""
        return round(fraction * live) if self.fraction_of == "live" else max(0, live - round((1 - fraction) * whole))


def pruned(
    network: FabricNetwork, level: str, fraction: float, judge: Judge | Mapping[Link, float], settings: PruningSettings
) -> tuple[FabricNetwork, Pruning]:
    """Return a smaller fabric, and what went of the one before, which is untouched.

    Parameters
    ----------
    network : FabricNetwork
    level : {"links", "channels", "weights"}
    fraction : float
    judge : Judge or mapping of Link to float
        What scores links, channels or weights, or scores of links.
    settings : PruningSettings

    Raises
    ------
    InputError, InputTypeError
        If scores of links are given for another level, or the criterion has none for it.
    """
    if level == "links":
        scores = (
            judge.links(network)
            if isinstance(judge, Judge)
            else np.array([judge[one] for one in network.lattice.links])
        )
        everything = network.spec.lattice()
        left, plan = plan_links(
            network.lattice,
            scores,
            remove=settings.removed(fraction, live=len(scores), whole=len(everything.links)),
            least=links_to_keep(everything, network.lattice, settings.min_links),
            overshoot=int(settings.overshoot * len(scores)),
        )
        return reduced(network, left, {}), plan
    if not isinstance(judge, Judge):
        raise InputTypeError("criterion", f"expected the name of one for {level}, got scores of links")
    if level == "channels":
        whole = network.spec.channels * len(network.spec.lattice().nodes)
        remove = settings.removed(fraction, live=sum(network.widths.values()), whole=whole)
        kept, plan = plan_channels(judge.channels(network), remove=remove, round_to=settings.round_to)
        return reduced(network, network.lattice, kept), plan
    return _masked(network, judge.weights(network), fraction, settings)


def _masked(
    network: FabricNetwork, scores: Scores, fraction: float, settings: PruningSettings
) -> tuple[FabricNetwork, Pruning]:
    """Mask the weights of lowest score; those that are masked already count, and stay so."""
    spec = network.spec
    reached = {link: _reached(network, link, trim=settings.trim_taps) for link in scores}
    flat = []
    for link, own in scores.items():
        values, mask = own.double().cpu().numpy(), network.layer(link).mask
        held = values if mask is None else np.where(mask.cpu().numpy() == 0, -np.inf, values)
        flat.append(held[reached[link]])
    kernels = [spec.channels**2 * spec.reached_taps(link) for link in spec.lattice().links]
    whole = sum(int(one.sum()) if settings.trim_taps else one.size * spec.channels**2 for one in kernels)
    remove = settings.removed(fraction, live=sum(map(len, flat)), whole=whole)
    masked, plan = plan_weights(flat, remove=remove, cap=settings.cap)
    found = reduced(network, network.lattice, {})
    with torch.no_grad():
        for link, flags in zip(scores, masked, strict=True):
            layer, kept = found.layer(link), reached[link].copy()
            kept[reached[link]] = ~flags
            mask = torch.from_numpy(kept).to(layer.conv.weight)
            layer.mask = mask if layer.mask is None else layer.mask * mask
            layer.conv.weight.mul_(layer.mask)
    return found, plan


def _reached(network: FabricNetwork, link: Link, *, trim: bool) -> NDArray[np.bool_]:
    """Return which weights of a kernel are ranked: all, or those that ever meet a pixel."""
    taps = network.spec.reached_taps(link) if trim else np.ones((3, 3), dtype=bool)
    return np.broadcast_to(taps, tuple(network.layer(link).conv.weight.shape)).copy()
