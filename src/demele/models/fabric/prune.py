"""A fabric pruned at one of three levels: parts scored, some chosen, and a smaller fabric returned."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from demele.core.arrays import Flags, Floats
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import checked_count, checked_name, checked_seed
from demele.core.lazy import require
from demele.core.seeds import rng_for
from demele.models.fabric.criteria import (
    CRITERIA,
    OF_LINKS,
    OF_WEIGHTS,
    SIGNED,
    WITHOUT_IMAGES,
    WITHOUT_LABELS,
    Batch,
    Scores,
    weight_scores,
)
from demele.models.fabric.lattice import (
    TAPS,
    Link,
    Node,
    Pruning,
    links_to_keep,
    plan_channels,
    plan_links,
    plan_weights,
)
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
        """Return the scores of all weights of links.

        Raises
        ------
        InputError
            If the criterion is one of links alone.
        """
        check_level(self.criterion, "weights")
        rng = rng_for(self.seed, "criterion", self.criterion, "weights")
        return weight_scores(self.criterion, network, self.data, rng, **self.options)

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
    judge: Judge | Mapping[Link, float],
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
    judge : Judge or mapping of Link to float
        What scores links, channels or weights, or scores of links.
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
        scores = judge.links(network) if isinstance(judge, Judge) else np.array([judge[one] for one in links])
        left, plan = plan_links(
            network.lattice,
            scores,
            remove=removed(live=len(links), whole=len(everything.links)),
            least=links_to_keep(everything, network.lattice, min_links),
            overshoot=int(overshoot * len(links)),
        )
        return reduced(network, left, {}), plan
    if not isinstance(judge, Judge):
        raise InputTypeError("criterion", f"expected the name of one for {level}, got scores of links")
    if level == "channels":
        whole = network.spec.channels * len(everything.nodes)
        remove = removed(live=sum(network.widths.values()), whole=whole)
        kept, plan = plan_channels(judge.channels(network), remove=remove, round_to=round_to)
        return reduced(network, network.lattice, kept), plan
    # Mask the weights of lowest score; those that are masked already count, and stay so.
    spec, ranked, flat = network.spec, dict[Link, Flags](), []
    for link, own in judge.weights(network).items():
        values, mask = own.double().cpu().numpy(), network.layer(link).mask
        taps = spec.reached_taps(link) if trim_taps else np.ones((3, 3), dtype=bool)
        ranked[link] = np.broadcast_to(taps, values.shape)
        held = values if mask is None else np.where(mask.cpu().numpy() == 0, -np.inf, values)
        flat.append(held[ranked[link]])
    taps_of_all = sum(int(spec.reached_taps(link).sum()) if trim_taps else TAPS for link in everything.links)
    remove = removed(live=sum(map(len, flat)), whole=spec.channels**2 * taps_of_all)
    masked, plan = plan_weights(flat, remove=remove, cap=cap)
    found = reduced(network, network.lattice, {})
    with torch.no_grad():
        for (link, places), flags in zip(ranked.items(), masked, strict=True):
            layer, kept_weights = found.layer(link), places.copy()
            kept_weights[places] = ~flags
            new = torch.from_numpy(kept_weights).to(layer.conv.weight)
            layer.mask = new if layer.mask is None else layer.mask * new
            layer.conv.weight.mul_(layer.mask)
    return found, plan
