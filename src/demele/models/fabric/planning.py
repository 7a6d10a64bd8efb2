"""What goes when a fabric is pruned, decided from scores alone: links, channels, weights. The lowest go first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import InputError, quoted
from demele.core.result import TableResult
from demele.models.fabric.lattice import Lattice, Link, Node
from demele.report.document import Document
from demele.report.words import count, sentence_of, written

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
    dragged = tuple(link.name for link in everything if link in gone and link.name not in chosen)
    plan = Pruning(
        level="links",
        requested=remove,
        removed=len(gone),
        total=len(everything),
        chosen=tuple(chosen),
        cascaded=dragged,
        rejected=tuple(rejected),
        limit=_limit_of_links(removed=len(gone), remove=remove, left=len(everything) - len(gone), least=least),
    )
    return (lattice.without(gone) if gone else lattice), plan


def _limit_of_links(*, removed: int, remove: int, left: int, least: int) -> str:
    if removed < remove:
        must = f"at least {max(least, 1)} links and a path must stay"
        return must if left <= max(least, 1) else "any other would cut the last path, or drag too many along"
    return "links that then lay on no path went too" if removed > remove else ""


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


def plan_channels(
    scores: Mapping[Node, Floats], *, remove: int, round_to: int
) -> tuple[dict[Node, NDArray[np.int64]], Pruning]:
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


def plan_weights(
    scores: Sequence[Floats], *, remove: int, cap: float | None
) -> tuple[list[NDArray[np.bool_]], Pruning]:
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
