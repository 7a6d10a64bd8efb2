"""How much of a fabric there is: links, weights, multiplications, paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from demele.core.written import Written, plain
from demele.models.fabric.lattice import Lattice, Link, Node
from demele.models.fabric.spec import TAPS, FabricSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricCounts(Written):
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

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        found: dict[str, Any] = plain(asdict(self))
        return found


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
    weights = sum(kernels.values())
    return FabricCounts(
        links=len(lattice.links),
        nodes=len(lattice.nodes),
        channels=sum(widths[node] for node in lattice.nodes),
        parameters=_parameters(spec, lattice, widths, weights),
        weights=weights,
        nonzero=weights - sum((masked or {}).values()),
        unreached=sum(kernels[link] // TAPS * int((~spec.reached_taps(link)).sum()) for link in lattice.links),
        multiply_adds=sum(kernels[link] * spec.pixels(link.target) for link in lattice.links),
        shortest=lattice.shortest,
        longest=lattice.longest,
        paths=lattice.paths,
    )


def _parameters(spec: FabricSpec, lattice: Lattice, widths: Mapping[Node, int], weights: int) -> int:
    """Kernels, biases, norms, input link and classifier."""
    first = widths[lattice.start]
    total = weights + TAPS * spec.image_channels * first + (widths[lattice.end] + 1) * spec.classes
    if (
        spec.normalisation == "link"
    ):  # a bias and two numbers of the norm for each channel that a link, or the input, makes
        return total + 3 * (first + sum(widths[link.target] for link in lattice.links))
    return total + 2 * sum(widths[node] for node in lattice.nodes)
