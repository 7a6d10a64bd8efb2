"""The structure of a fabric as a picture: layers to the right, scales downwards, an arrow for each link that lives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

import numpy as np

from demele.models.fabric.lattice import Lattice, Link, Node

_STEP, _MARGIN, _RADIUS = 72, 36, 11
_THINNEST, _WIDEST = 1.0, 7.0
#: Every rule is of this picture alone, which may stand in a page among others.
_STYLE = (
    ".fabric{color:#1f2937;background:#fff}.fabric .live{stroke:currentColor}"
    ".fabric .gone{stroke:#d1d5db;stroke-dasharray:3 4}.fabric .gone-node{fill:none;stroke:#d1d5db}"
    ".fabric .node{fill:#fff;stroke:currentColor;stroke-width:1.5}"
    ".fabric text{font:11px sans-serif;fill:currentColor;text-anchor:middle}.fabric .width{font-size:10px}"
    "@media(prefers-color-scheme:dark){.fabric{color:#e5e7eb;background:#111827}.fabric .node{fill:#111827}"
    ".fabric .gone,.fabric .gone-node{stroke:#4b5563}}"
)


def structure_svg(
    lattice: Lattice,
    scores: Mapping[Link, float] | None = None,
    *,
    widths: Mapping[Node, int] | None = None,
    title: str = "A fabric",
) -> str:
    """Return the picture of a lattice as SVG.

    Parameters
    ----------
    lattice : Lattice
        Links that pruning removed are drawn pale and dashed.
    scores : mapping of Link to float, optional
        The wider a link, the higher its score, from the lowest of all to the highest; by default all are as wide.
    widths : mapping of Node to int, optional
        Channels, which are then written into the nodes.
    title : str
        What a screen reader reads out.

    Returns
    -------
    str
    """
    width = 2 * _MARGIN + _STEP * (lattice.layers - 1)
    height = 2 * _MARGIN + _STEP * (lattice.scales - 1)
    strokes = _strokes(lattice, scores)
    whole = Lattice.whole(lattice.layers, lattice.scales)
    gone = [_arrow(link, 1.0, "gone") for link in whole.links if link not in strokes]
    live = [_arrow(link, strokes[link], "live", _told(link, scores)) for link in lattice.links]
    nodes = []
    for node in (Node(layer, scale) for layer in range(lattice.layers) for scale in range(lattice.scales)):
        (x, y), kind = _place(node), "node" if node in lattice.nodes else "gone-node"
        nodes.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{_RADIUS}"/>')
    numbers = [_number(node, width) for node, width in (widths or {}).items()]
    ends = [_text(lattice.start, "in", -1), _text(lattice.end, "out", 1)]
    told = (
        f"{title}: {len(lattice.links)} of {len(whole.links)} links, {lattice.layers} layers, {lattice.scales} scales"
    )
    head = (
        f'<svg class="fabric" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(told)}">'
    )
    marker = (
        '<defs><marker id="fabric-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>'
    )
    title = f"<title>{escape(told)}</title><style>{_STYLE}</style>"
    return "\n".join([head, title, marker, *gone, *live, *nodes, *numbers, *ends, "</svg>\n"])


def _strokes(lattice: Lattice, scores: Mapping[Link, float] | None) -> dict[Link, float]:
    """Widths of the links in the picture; a score that is not finite is drawn thinnest."""
    if scores is None:
        return dict.fromkeys(lattice.links, 2.0)
    values = np.array([scores[link] for link in lattice.links], dtype=float)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    span = high - low if high > low else 1.0
    shares = np.nan_to_num((values - low) / span, nan=0.0, posinf=1.0, neginf=0.0)
    return {
        link: _THINNEST + (_WIDEST - _THINNEST) * float(share)
        for link, share in zip(lattice.links, shares, strict=True)
    }


def _place(node: Node) -> tuple[int, int]:
    return _MARGIN + _STEP * node.layer, _MARGIN + _STEP * node.scale


def _arrow(link: Link, width: float, kind: str, told: str = "") -> str:
    (x0, y0), (x1, y1) = _place(link.source), _place(link.target)
    length = math.hypot(x1 - x0, y1 - y0)
    across, down = (x1 - x0) / length, (y1 - y0) / length
    ends = (x0 + across * _RADIUS, y0 + down * _RADIUS, x1 - across * _RADIUS, y1 - down * _RADIUS)
    names = " ".join(f'{name}="{place:.4g}"' for name, place in zip(("x1", "y1", "x2", "y2"), ends, strict=True))
    tip = ' marker-end="url(#fabric-tip)"' if kind == "live" else ""
    title = f"<title>{told}</title>" if told else ""
    return f'<line class="{kind}" {names} stroke-width="{width:.3g}"{tip}>{title}</line>'


def _told(link: Link, scores: Mapping[Link, float] | None) -> str:
    """Return what a reader sees on pointing at a link."""
    return link.name if scores is None else f"{link.name}: {float(scores[link]):.4g}"


def _number(node: Node, width: int) -> str:
    x, y = _place(node)
    return f'<text class="width" x="{x}" y="{y + 4}">{width}</text>'


def _text(node: Node, text: str, side: int) -> str:
    x, y = _place(node)
    return f'<text x="{x}" y="{y + side * (_RADIUS + 10) + 4}">{text}</text>'
