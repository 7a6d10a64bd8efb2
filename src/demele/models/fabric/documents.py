"""What results about fabrics say: their documents."""

from collections.abc import Mapping

from demele.models.fabric.lattice import Lattice, Node
from demele.report.document import Graph
from demele.report.written import count


def lattice_graph(
    caption: str, layers: int, scales: int, weights: Mapping[str, float], widths: Mapping[Node, int] | None = None
) -> Graph:
    """Return a fabric as a graph: layers to the right, scales downwards; a link without a weight is removed."""
    whole = Lattice.whole(layers, scales)
    nodes = {}
    for node in whole.nodes:
        kind = {whole.start: "input", whole.end: "output"}.get(node, "")
        channels = count(widths[node], "channel") if widths and node in widths else ""
        nodes[_name(node)] = (float(node.layer), float(node.scale), ", ".join(filter(None, [kind, channels])))
    links = [(_name(link.source), _name(link.target), weights.get(link.name)) for link in whole.links]
    return Graph(caption, nodes, links)


def _name(node: Node) -> str:
    return f"{node.layer}.{node.scale}"
