"""How much of a fabric there is: links, weights, multiplications, paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from demele.core.result import TableResult
from demele.models.fabric.lattice import Lattice, Link, Node
from demele.models.fabric.spec import TAPS, FabricSpec
from demele.report.written import count, title_of, written

if TYPE_CHECKING:
    import pandas as pd


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
        import pandas as pd

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
