"""Trees as a table of nodes, and what is read off it: where rows end, and which codes the splits are by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees as one table of nodes; nodes 0 .. n_trees - 1 are the roots.

    Attributes
    ----------
    feature : (n_nodes,) intp
        Code that the node is split by; -1 for a leaf.
    threshold : (n_nodes,) intp
        Rows whose rank along that code is at most this go left: half way between the two ranks that the split parts.
    left : (n_nodes,) intp
        Node that they go to; the others go to the next one.
    value : (n_nodes, n_outputs) float64
        Mean of the target (one output), or shares of the classes, over the rows of the node.
    decrease : (n_nodes,) float64
        What the split takes off (rows * impurity), impurity being the variance or the Gini index; 0 for a leaf.
    tree, depth : (n_nodes,) intp
        Tree of the node, and its distance from the root.
    """

    feature: Ints
    threshold: Ints
    left: Ints
    value: Floats
    decrease: Floats
    tree: Ints
    depth: Ints


def descend(trees: Trees, rank: Ints, roots: Ints, rows: Ints, depths: Sequence[int]) -> Ints:
    """Find the node that each row reaches in a tree, at several depths.

    Parameters
    ----------
    rank : (n_codes, n_rows) intp
        Ranks from the `presort` (or a `subset` of it) that the trees were grown on.
    roots, rows : (n_pairs,) intp
        Tree and row of each descent.
    depths : increasing sequence of int
        After how many splits to look, at most.

    Returns
    -------
    (n_depths, n_pairs) intp
        Nodes: the leaf, where it comes first.
    """
    node, of_row = roots.copy(), rank.reshape(-1)
    found = np.empty((len(depths), len(roots)), dtype=np.intp)
    active = np.arange(len(roots))
    for which, (since, depth) in enumerate(zip((0, *depths), depths, strict=False)):
        for _ in range(since, depth):
            active = active.take(np.flatnonzero(trees.feature.take(node.take(active)) >= 0))
            if not active.size:
                break
            here = node.take(active)
            of_code = of_row.take(trees.feature.take(here) * rank.shape[1] + rows.take(active))
            node[active] = trees.left.take(here) + (of_code > trees.threshold.take(here))
        found[which] = node
    return found


def importances_by_depth(trees: Trees, n_codes: int, n_trees: int, depths: Sequence[int]) -> Floats:
    """Sum the decrease of impurity over the splits of each code, for trees cut at several depths.

    Returns
    -------
    (n_depths, n_trees, n_codes) float64
        Each tree's importances sum to 1, or are all 0 if it has no useful split.
    """
    cell = trees.tree * n_codes + np.maximum(trees.feature, 0)
    sums = np.stack(
        [np.bincount(cell, np.where(trees.depth < depth, trees.decrease, 0.0), n_trees * n_codes) for depth in depths]
    ).reshape(len(depths), n_trees, n_codes)
    total = sums.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(sums, total, out=np.zeros_like(sums), where=total > 0))
