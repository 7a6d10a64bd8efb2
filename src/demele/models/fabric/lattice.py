"""The lattice of a fabric: nodes by layer and scale, the links between them, and the paths from input to output."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import FormatError, InputError, quoted

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

    def connected(self, live: NDArray[np.bool_]) -> bool:
        """Whether a path is left where ``live``, of shape (links,), says which links are there."""
        reached = {self.start}
        for link, there in zip(self.links, live, strict=True):
            if there and link.source in reached:
                reached.add(link.target)
        return self.end in reached


def _ordered(links: Iterable[Link]) -> tuple[Link, ...]:
    """Return links by target, then by source: targets of one layer by scale, since links inside a layer go down."""
    return tuple(sorted(links, key=lambda link: (link.target, link.source)))
