"""The structure of a fabric: nodes, links, paths, settings, which links to prune, and counts; without PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from demele.core.arrays import Counts, Flags, Floats, pd
from demele.core.errors import FormatError, InputError, quoted
from demele.core.result import TableResult
from demele.models.specs import Plain
from demele.report.document import Document
from demele.report.words import count, sentence_of, title_of, written

Kind = Literal["up", "same", "down"]


class Node(NamedTuple):
    """A place in the lattice; its resolution is that of the image divided by ``2 ** scale``."""

    layer: int
    scale: int

    @property
    def name(self) -> str:
        """Layer and scale, such as ``"0.1"``."""
        return f"{self.layer}.{self.scale}"


class Link(NamedTuple):
    """An arrow from one node to another."""

    source: Node
    target: Node

    @property
    def name(self) -> str:
        """Layer and scale of both ends, such as ``"0.1-1.2"``."""
        return "-".join(node.name for node in self)

    @property
    def kind(self) -> Kind:
        """Whether it doubles the resolution ("up"), keeps it ("same") or halves it ("down")."""
        step = self.target.scale - self.source.scale
        return "same" if step == 0 else "down" if step > 0 else "up"


@dataclass(frozen=True)
class Lattice:
    """A fabric without weights: all links, or those that pruning has left.

    Attributes
    ----------
    layers, scales : int
    links : tuple of Link
        Those that live, ordered by their target, then by their source: a walk along them in this order meets every node
        after all that it depends on.
    """

    layers: int
    scales: int
    links: tuple[Link, ...]

    @classmethod
    def whole(cls, layers: int, scales: int) -> Lattice:
        """Return the lattice with all its links.

        Between neighbouring layers each node is linked to those of the next layer at most one scale away; in the first
        and in the last layer also to the next scale of its own: (layers - 1)(3 scales - 2) + 2 (scales - 1) links,
        where the first layer is not the last.

        Raises
        ------
        InputError
            If there is nothing to link.
        """
        if layers * scales < 2:
            raise InputError(("layers", "scales"), "expected at least 2 layers or 2 scales: one node has no links")
        links = [
            Link(Node(layer, scale), Node(layer + 1, scale + step))
            for layer in range(layers - 1)
            for scale in range(scales)
            for step in (-1, 0, 1)
            if 0 <= scale + step < scales
        ]
        links += [
            Link(Node(layer, scale), Node(layer, scale + 1))
            for layer in sorted({0, layers - 1})
            for scale in range(scales - 1)
        ]
        return cls(layers, scales, _ordered(links))

    @classmethod
    def named(cls, layers: int, scales: int, names: Collection[str], what: str) -> Lattice:
        """Return the lattice whose links have these names, as a file holds them.

        Raises
        ------
        FormatError
            If some are no links of it, or do not lie on a path from input to output.
        """
        whole = cls.whole(layers, scales)
        known = {link.name: link for link in whole.links}
        odd = sorted(map(str, set(names) - set(known)))
        if odd:
            raise FormatError(what, f"no links of {layers} layers and {scales} scales: {quoted(odd)}")
        found = cls(layers, scales, _ordered(known[name] for name in names))
        if not found.links or found.useful() != set(found.links):
            raise FormatError(what, "its links do not all lie on a path from input to output")
        return found

    # Nodes and paths --------------------------------------------------------------------------------------------------

    @property
    def start(self) -> Node:
        """Where the image comes in."""
        return Node(0, 0)

    @property
    def end(self) -> Node:
        """What the classes are read from."""
        return Node(self.layers - 1, self.scales - 1)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Nodes that a link touches, and input and output, in the order of the walk."""
        return tuple(sorted({self.start, self.end, *(node for link in self.links for node in link)}))

    @cached_property
    def incoming(self) -> Mapping[Node, tuple[Link, ...]]:
        """The links into each node."""
        return {node: tuple(link for link in self.links if link.target == node) for node in self.nodes}

    def useful(self, without: Collection[Link] = ()) -> set[Link]:
        """Return the links that lie on a path from input to output, once some are gone; empty if none is left."""
        left = [link for link in self.links if link not in without]
        reached, reaching = {self.start}, {self.end}
        for link in left:
            if link.source in reached:
                reached.add(link.target)
        for link in reversed(left):
            if link.target in reaching:
                reaching.add(link.source)
        return {link for link in left if link.source in reached and link.target in reaching}

    def without(self, removed: Collection[Link]) -> Lattice:
        """Return the lattice without some links, and without those that are then on no path.

        Raises
        ------
        InputError
            If no path from input to output would be left.
        """
        left = self.useful(removed)
        if not left:
            raise InputError("links", "expected to leave a path from input to output, and these links cut every one")
        return Lattice(self.layers, self.scales, _ordered(left))

    def _length(self, better: Callable[[int, int], int]) -> int:
        """Links on the best path from input to output."""
        best = {self.start: 0}
        for link in self.links:
            if link.source in best:
                found = best[link.source] + 1
                best[link.target] = better(found, best.get(link.target, found))
        return best[self.end]

    @cached_property
    def shortest(self) -> int:
        """Links on the shortest path from input to output."""
        return self._length(min)

    @cached_property
    def longest(self) -> int:
        """Links on the longest path from input to output."""
        return self._length(max)

    @cached_property
    def paths(self) -> int:
        """Number of paths from input to output."""
        ways = {self.start: 1}
        for link in self.links:
            ways[link.target] = ways.get(link.target, 0) + ways.get(link.source, 0)
        return ways.get(self.end, 0)


def _ordered(links: Iterable[Link]) -> tuple[Link, ...]:
    """Return links by target, then by source: targets of one layer by scale, since links inside a layer go down."""
    return tuple(sorted(links, key=lambda link: (link.target, link.source)))


# Settings -------------------------------------------------------------------------------------------------------------


NORMALISATIONS = ("link", "node")
ACTIVATIONS = ("relu6", "relu")
#: Scales of images of 1024 pixels a side; larger ones are not for fabrics.
MOST_SCALES = 11
#: Weights of a kernel.
TAPS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricSpec(Plain):
    """The structure of a whole fabric.

    Attributes
    ----------
    layers, scales, channels : int
    image_channels, classes : int
    normalisation : {"link", "node"}
    activation : {"relu6", "relu"}
    """

    layers: int
    scales: int
    channels: int
    image_channels: int
    classes: int
    normalisation: str
    activation: str

    @property
    def image_size(self) -> int:
        """Height and width of the images: the last scale is one pixel."""
        return int(2 ** (self.scales - 1))

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels of the images."""
        return self.image_size, self.image_size, self.image_channels

    def lattice(self) -> Lattice:
        """Return the lattice with all links."""
        return Lattice.whole(self.layers, self.scales)

    def reached_taps(self, link: Link) -> Flags:
        """Return which weights of a kernel ever meet a pixel, (3, 3): on small maps some only meet the border."""
        side = self.image_size >> link.source.scale
        if link.kind == "up":
            side *= 2
        centres = np.arange(0, side, 2 if link.kind == "down" else 1)
        along = np.array([bool(((centres + tap >= 0) & (centres + tap < side)).any()) for tap in (-1, 0, 1)])
        return np.outer(along, along)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec(Plain):
    """All that changes the bits of a training but the number of epochs.

    Attributes
    ----------
    fabric : dict
        Of the :class:`FabricSpec`.
    begins : str
        Digest of the weights that it begins from.
    epoch : int
        Epochs that these have behind them.
    images : str
        Name of the image set.
    digest : str
        Digest of the image set.
    labels : str
        Digest of the labels.
    n : int
        Images.
    batch : int
    rate, momentum, weight_decay : float
    milestones : list of int
        Epochs after which the rate is divided by ten.
    crop : int
        Pixels around each image, before a part of its size is cut.
    flip : bool
    seed : int
    """

    fabric: dict[str, Any]
    begins: str
    epoch: int
    images: str
    digest: str
    labels: str
    n: int
    batch: int
    rate: float
    momentum: float
    weight_decay: float
    milestones: list[int]
    crop: int
    flip: bool
    seed: int


def scales_of(shape: Sequence[int], argument: str, remedy: str = "images.resized({}) changes height and width") -> int:
    """Return the scales of a fabric for images of a shape.

    Raises
    ------
    InputError
    """
    height, width = int(shape[0]), int(shape[1])
    if height != width or height & (height - 1):
        expected = f"expected square images with a power of two of pixels a side, got {height} x {width}"
        raise InputError(argument, f"{expected}; {remedy.format(2 ** round(math.log2(max(height, width))))}")
    return height.bit_length()


def check_size(spec: FabricSpec, shape: tuple[int, int, int], argument: str = "images") -> None:
    """Refuse images that a fabric has no place for.

    Raises
    ------
    InputError
    """
    if tuple(shape) != spec.image_shape:
        wanted, found = (" x ".join(map(str, one)) for one in (spec.image_shape, shape))
        raise InputError(
            argument,
            f"a fabric of {spec.scales} scales takes images of {wanted}, got {found}; "
            f"images.resized({spec.image_size}) changes height and width, "
            f"and image_channels={shape[2]} makes a fabric for such channels",
        )


# Counts ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FabricCounts(TableResult):
    """Size and cost of a fabric, pruned or whole.

    Attributes
    ----------
    links : int
    nodes : int
        That a link touches.
    channels : int
        Of all nodes together.
    parameters : int
        Trained numbers, masked ones included, of all parts.
    weights : int
        Of the kernels of links, without biases.
    nonzero : int
        Of these, those that are not masked.
    unreached : int
        Of the weights, those that only ever meet the border of maps of one or two pixels: they learn nothing.
    multiply_adds : int
        Of the kernels of links, for one image; masked weights are multiplied all the same.
    shortest, longest : int
        Links on the shortest and on the longest path from input to output.
    paths : int
    """

    _kind, _figure = "counts of a fabric", "count"

    links: int
    nodes: int
    channels: int
    parameters: int
    weights: int
    nonzero: int
    unreached: int
    multiply_adds: int
    shortest: int
    longest: int
    paths: int

    def headline(self) -> str:
        """Return the number of links and parameters."""
        links, nodes = written(self.links, "count"), count(self.nodes, "node")
        return f"{links} links between {nodes} hold {written(self.parameters, 'count')} parameters."

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each quantity."""
        return pd.DataFrame(
            [(title_of(key), value) for key, value in asdict(self).items()], columns=["quantity", "count"]
        )


def counted(
    spec: FabricSpec, lattice: Lattice, widths: Mapping[Node, int], masked: Mapping[Link, int] | None = None
) -> FabricCounts:
    """Return the counts of a fabric without making its weights.

    Parameters
    ----------
    spec : FabricSpec
    lattice : Lattice
    widths : mapping of Node to int
        Channels of each node.
    masked : mapping of Link to int, optional
        Masked weights.
    """
    kernels = {link: TAPS * widths[link.source] * widths[link.target] for link in lattice.links}
    weights, first = sum(kernels.values()), widths[lattice.start]
    # beside kernels, the input link and the classifier: two numbers of each norm, and a bias of what links make
    parameters = weights + TAPS * spec.image_channels * first + (widths[lattice.end] + 1) * spec.classes
    if spec.normalisation == "link":
        parameters += 3 * (first + sum(widths[link.target] for link in lattice.links))
    else:
        parameters += 2 * sum(widths[node] for node in lattice.nodes)
    return FabricCounts(
        links=len(lattice.links),
        nodes=len(lattice.nodes),
        channels=sum(widths[node] for node in lattice.nodes),
        parameters=parameters,
        weights=weights,
        nonzero=weights - sum((masked or {}).values()),
        unreached=sum(kernels[link] // TAPS * int((~spec.reached_taps(link)).sum()) for link in lattice.links),
        multiply_adds=sum(kernels[link] * (spec.image_size >> link.target.scale) ** 2 for link in lattice.links),
        shortest=lattice.shortest,
        longest=lattice.longest,
        paths=lattice.paths,
    )


# What goes when a fabric is pruned, decided from scores alone ---------------------------------------------------------

#: Largest share of a kernel that is masked, unless another is given.
CAP = 0.9


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pruning(TableResult):
    """Requested and achieved pruning.

    Attributes
    ----------
    level : {"links", "channels", "weights"}
    requested, removed : int
        Links, channels or weights that should go, and that went. ``removed`` counts what was dragged along.
    total : int
        Number before the pruning.
    chosen : tuple of str
        Links that went for their own score, in order; of channels and weights nothing is listed.
    cascaded : tuple of str
        Links that went because they were then on no path.
    rejected : tuple of str
        Links with scores as low that had to stay: the last path would have been cut, too few links be left, or too many
        have gone with them.
    limit : str
        What kept the pruning from what was asked for; empty where nothing did.
    """

    _kind, _figure = "pruning", "removed"

    level: str
    requested: int
    removed: int
    total: int
    chosen: tuple[str, ...] = ()
    cascaded: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    limit: str = ""

    @property
    def asked(self) -> float:
        """Share that should go."""
        return self.requested / self.total

    @property
    def achieved(self) -> float:
        """Share that went."""
        return self.removed / self.total

    def headline(self) -> str:
        """Return the removed and the requested number."""
        went = f"{written(self.removed, 'count')} of {count(self.total, self.level.rstrip('s'))} removed"
        asked = f"{written(self.requested, 'count')} requested ({written(self.asked, 'percent')})"
        dragged = f", {written(len(self.cascaded), 'count')} of them in cascade" if self.cascaded else ""
        return f"{went} ({written(self.achieved, 'percent')}), {asked}{dragged}."

    def document(self) -> Document:
        """Return the document: the removed parts, and the limits."""
        stay = f"{count(len(self.rejected), 'link')} had to stay." if self.rejected else ""
        return replace(super(Pruning, self).document(), sentences=[stay, sentence_of(self.limit)])


# Links ----------------------------------------------------------------------------------------------------------------


def plan_links(
    lattice: Lattice, scores: Sequence[float] | Floats, *, remove: int, least: int, overshoot: int
) -> tuple[Lattice, Pruning]:
    """Choose links to remove, lowest score first; ties in the order of the links.

    A link goes with all that then lies on no path. It stays if no path would be left, fewer than ``least`` links, or if
    more than ``remove + overshoot`` would be gone.

    Parameters
    ----------
    lattice : Lattice
    scores : sequence of float of shape (links,)
        In the order of ``lattice.links``.
    remove : int
        Links that should go.
    least : int
        Links that must stay.
    overshoot : int
        Links that may go beyond ``remove``, because a removal drags others along.

    Returns
    -------
    left : Lattice
    plan : Pruning
    """
    everything = lattice.links
    order = np.argsort(np.asarray(scores, dtype=float), kind="stable")
    gone: set[Link] = set()
    chosen: list[str] = []
    rejected: list[str] = []
    for link in (everything[place] for place in order):
        if len(gone) >= remove:
            break
        if link in gone:
            continue
        left = lattice.useful({*gone, link})
        if len(left) < max(least, 1) or len(everything) - len(left) > remove + overshoot:
            rejected.append(link.name)
            continue
        gone = set(everything) - left
        chosen.append(link.name)
    limit = "links that then lay on no path went too" if len(gone) > remove else ""
    if len(gone) < remove:
        must = f"at least {max(least, 1)} links and a path must stay"
        fewest = len(everything) - len(gone) <= max(least, 1)
        limit = must if fewest else "any other would cut the last path, or drag too many along"
    plan = Pruning(
        level="links",
        requested=remove,
        removed=len(gone),
        total=len(everything),
        chosen=tuple(chosen),
        cascaded=tuple(link.name for link in everything if link in gone and link.name not in chosen),
        rejected=tuple(rejected),
        limit=limit,
    )
    return (lattice.without(gone) if gone else lattice), plan


def links_to_keep(whole: Lattice, live: Lattice, wanted: Any) -> int:
    """Return how many links must stay: as many as a path of the whole fabric has, or a number.

    Raises
    ------
    InputError
    """
    links = len(live.links)
    if wanted in ("longest", "shortest"):
        return min(links, whole.longest if wanted == "longest" else whole.shortest)
    if isinstance(wanted, int) and not isinstance(wanted, bool) and 1 <= wanted <= links:
        return wanted
    raise InputError(
        "min_links", f"expected 'longest', 'shortest' or a number of links from 1 to {links}, got {quoted(wanted)}"
    )


# Channels -------------------------------------------------------------------------------------------------------------


def plan_channels(scores: Mapping[Node, Floats], *, remove: int, round_to: int) -> tuple[dict[Node, Counts], Pruning]:
    """Choose channels of nodes to remove, lowest score first; then each node keeps a multiple of ``round_to``.

    Parameters
    ----------
    scores : mapping of Node to array of shape (channels,)
    remove : int
        Channels that should go, over all nodes.
    round_to : int
        Processors compute 16 channels faster than 17: what a node keeps is rounded to the nearest multiple, and is at
        least one; of a node with fewer channels all stay. Where that leaves too many, the lowest multiples of all nodes
        go until as many are gone as should, to half a multiple, or no node has more than one.

    Returns
    -------
    kept : dict of Node to array of int
        Places of the channels that stay, in order.
    plan : Pruning
    """
    ranked = {node: np.argsort(scores[node], kind="stable") for node in sorted(scores)}
    widths = {node: len(order) for node, order in ranked.items()}
    whose = np.concatenate([np.full(width, number) for number, width in enumerate(widths.values())])
    order = np.argsort(np.concatenate([scores[node] for node in ranked]), kind="stable")
    lowest = np.bincount(whose[order[:remove]], minlength=len(ranked))
    left = {
        node: min(width, max(round_to, math.floor((width - gone) / round_to + 0.5) * round_to))
        for (node, width), gone in zip(widths.items(), lowest.tolist(), strict=True)
    }
    while len(whose) - sum(left.values()) < remove - round_to / 2:
        nexts = {node: ranked[node][widths[node] - stay :][:round_to] for node, stay in left.items() if stay > round_to}
        if not nexts:
            break
        left[min(nexts, key=lambda node: float(scores[node][nexts[node]].mean()))] -= round_to
    kept = {node: np.sort(ranked[node][widths[node] - stay :]) for node, stay in left.items()}
    removed = len(whose) - sum(left.values())
    limit = "" if removed == remove else f"nodes keep multiples of {round_to} channels, and at least {round_to}"
    return kept, Pruning(level="channels", requested=remove, removed=removed, total=len(whose), limit=limit)


# Weights --------------------------------------------------------------------------------------------------------------


def plan_weights(scores: Sequence[Floats], *, remove: int, cap: float | None) -> tuple[list[Flags], Pruning]:
    """Choose weights to mask, lowest score first, and of no link more than a share.

    Parameters
    ----------
    scores : sequence of arrays of shape (weights of a link,)
        Minus infinity where a weight is masked already, so that it stays so.
    remove : int
        Weights that should be masked, over all links.
    cap : float or None
        Largest share of a link's weights.

    Returns
    -------
    masked : list of arrays of bool
        As the scores.
    plan : Pruning

    Notes
    -----
    Of each link only its ``floor(cap n)`` lowest can ever go, and all are taken in one order: the lowest of the union
    are what a walk from low to high with a count for each link finds.
    """
    ends = np.cumsum([len(own) for own in scores])
    candidates = []
    for own, end in zip(scores, ends, strict=True):
        most = len(own) if cap is None else int(cap * len(own) + 1e-9)
        lowest = np.sort(np.argsort(own, kind="stable")[:most])
        candidates.append(lowest + end - len(own))
    places = np.concatenate(candidates)
    first = places[np.argsort(np.concatenate(scores)[places], kind="stable")[:remove]]
    flags = np.zeros(ends[-1], dtype=bool)
    flags[first] = True
    masked = np.split(flags, ends[:-1])
    limit = "" if len(first) == remove else f"no kernel loses more than {cap or 1:.0%} of its weights"
    return masked, Pruning(level="weights", requested=remove, removed=len(first), total=int(ends[-1]), limit=limit)
