"""CART trees of any depth, for forests, vectorised over rows, codes and nodes (Breiman et al. 1984).

The rows of every node stay sorted along every code: the order is made once per data set (`presorted_codes`), shared by
all factors and trees, and parted stably at each level. All nodes of one depth, of several trees if these are small, are
searched at once, so that a level costs O(n_codes * n_rows), however many nodes it has and, for classification, whatever
the number of classes. Codes enter through their ranks only: a strictly increasing map of a code changes no tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Array, Bytes, Flags, Floats, Rows

Places = NDArray[np.unsignedinteger[Any]]


# Codes sorted once, for every tree that is grown on them --------------------------------------------------------------

#: Just below the largest block that can raise the thresholds of glibc's allocator.
HELD_BYTES = 31 << 20


def hold_freed_memory() -> None:
    """Let the allocator keep the arrays of one level for the next.

    glibc gives large freed blocks back to the system, until it has seen a still larger one freed. Without this, the
    arrays of every level are mapped again, which takes as long as the work on them. The block is never touched, so it
    costs nothing.
    """
    np.empty(HELD_BYTES, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Presorted:
    """Rows sorted along every code.

    Attributes
    ----------
    order : (n_codes, n_rows) intp
        The rows, by increasing code.
    rank : (n_codes, n_rows) intp
        Dense rank of every row along every code; equal codes share a rank.
    tied : bool
        Whether any code takes a value twice.
    """

    order: Rows
    rank: Rows
    tied: bool

    @property
    def n_codes(self) -> int:
        """Number of codes."""
        return len(self.order)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.order.shape[1])

    def subset(self, rows: Rows) -> "Presorted":
        """Return the same for some rows, renumbered from 0; ranks keep the meaning they had. Sorts nothing."""
        number = np.full(self.n_rows, -1)
        number[rows] = np.arange(len(rows))
        order = number.take(self.order.reshape(-1))
        kept = order.take(np.flatnonzero(order >= 0)).reshape(self.n_codes, -1)
        return Presorted(kept, self.rank.take(rows, axis=1), self.tied)


def presort(codes: Floats) -> Presorted:
    """Sort the rows along every code: once, for all factors and trees.

    Parameters
    ----------
    codes : (n_rows, n_codes) float64

    Notes
    -----
    Cost: O(n_codes * n_rows * log n_rows).

    Examples
    --------
    >>> presort(np.array([[0.5], [0.1], [0.5]])).rank
    array([[1, 0, 1]])
    """
    columns = np.ascontiguousarray(codes.T)
    order = np.argsort(columns, axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=1)
    steps = np.zeros(order.shape, dtype=np.intp)
    steps[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.cumsum(steps, axis=1), axis=1)
    return Presorted(order, rank, tied=not bool(steps[:, 1:].all()))


# Trees as a table of nodes, and what is read off it -------------------------------------------------------------------


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

    feature: Rows
    threshold: Rows
    left: Rows
    value: Floats
    decrease: Floats
    tree: Rows
    depth: Rows


def descend(trees: Trees, rank: Rows, roots: Rows, rows: Rows, depths: Sequence[int]) -> Rows:
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


#: Bins, in as few bytes as they need.

#: Splits whose quality differs by less than this share are tied. The same partition found through two codes (a copy, or
#: a mirrored copy) may differ by rounding, and no code should be preferred for that.
TIE = 1e-10

#: Nodes of fewer rows than this, on average, are small: to reduce a node costs as much as some twenty rows.
ROWS_OF_SMALL_NODES = 20


@dataclass(frozen=True, slots=True)
class _Level:
    """The nodes of one depth, and their rows.

    A slot is a row of a tree: tree * n_rows + row. Line f of `slots` holds the slots sorted by node, then by code f; of
    new nodes there is one line, by node.
    A criterion may keep as many lines again, sorted by node, then class, then code f. All lines agree on where a node
    begins.
    """

    slots: Rows
    sizes: Rows
    nodes: Rows
    trees: Rows

    @property
    def starts(self) -> Rows:
        """Where each node begins."""
        return np.cumsum(self.sizes) - self.sizes


# Regression and classification differ in their criterion, which says:
# lines: which lines to keep sorted, given those sorted by tree and code;
# describe: the value of every node, from the slots of one after the other, and whether its rows differ in the target;
# quality: that of a split after each of some places of the lines (None: of all), at least 0, larger is better;
# decrease: that of rows * impurity, from the quality of one split per node.


class _Variance:
    """Regression: squared deviation between the sides of a split.

    Sums are of whole numbers, the target in units small enough to lose nothing that matters and large enough for no sum
    to overflow. They are exact, so the same in any order, and NumPy accumulates them several times faster than floats.
    """

    def __init__(self, target: Floats, n_trees: int) -> None:
        low, high = float(target.min()), float(target.max())
        self.origin = low + (high - low) / 2
        self.unit = max(high - low, np.finfo(np.float64).tiny) * target.size * n_trees / 2.0**51
        self.target = np.tile(np.rint((target - self.origin) / self.unit).astype(np.int64), n_trees)
        self.residual = np.empty_like(self.target)

    def lines(self, slots: Rows) -> Rows:
        return slots

    def describe(self, slots: Rows, sizes: Rows) -> tuple[Floats, Flags]:
        target, starts = self.target[slots], np.cumsum(sizes) - sizes
        mean = np.add.reduceat(target, starts) / sizes
        mixed = np.minimum.reduceat(target, starts) < np.maximum.reduceat(target, starts)
        return self.origin + self.unit * mean[:, None], mixed

    def quality(self, level: _Level, places: Rows | None, in_left: Rows, in_right: Rows) -> Floats:
        first, sizes = level.slots[0], level.sizes
        target = self.target[first]
        total = np.add.reduceat(target, level.starts)
        centre = np.rint(total / sizes).astype(np.int64)
        self.residual[first] = target - np.repeat(centre, sizes)
        sums = np.cumsum(self.residual.take(_pick(level.slots, places)), axis=1)
        # Centred on a whole number, a node keeps a small total: the nodes after it must not inherit it.
        leak = total - centre * sizes
        expected = np.repeat(np.cumsum(leak) - leak, sizes) + in_left * np.repeat(leak / sizes, sizes)
        deviation: Floats = sums - expected
        deviation *= deviation
        deviation *= 1 / in_left + 1 / in_right
        return deviation

    def decrease(self, level: _Level, quality: Floats) -> Floats:
        return quality * self.unit**2


class _Gini:
    """Classification: squared class counts of each side over its size, summed.

    A row that joins a side with n rows of its own class adds 2 n + 1 to the sum of squared counts there. So the cost
    does not depend on the number of classes; n comes from lines sorted by class. Counts are whole, hence exact.
    """

    def __init__(self, target: Rows, n_classes: int, n_codes: int, n_trees: int) -> None:
        self.n_codes, self.n_classes, self.n_rows = n_codes, n_classes, target.size
        self.target = np.tile(target, n_trees)
        self.of_class = np.empty(self.target.size, dtype=np.int64)
        self.joining = np.empty(self.target.size, dtype=np.int64)

    def lines(self, slots: Rows) -> Rows:
        group = slots // self.n_rows * self.n_classes + self.target[slots]
        small = group.astype(np.min_scalar_type(int(group.max())))  # NumPy sorts 8 and 16 bits by radix
        by_class = np.argsort(small, axis=1, kind="stable")
        return np.concatenate([slots, np.take_along_axis(slots, by_class, axis=1)])

    def describe(self, slots: Rows, sizes: Rows) -> tuple[Floats, Flags]:
        n_nodes = len(sizes)
        cell = np.repeat(np.arange(n_nodes) * self.n_classes, sizes) + self.target[slots]
        counts = np.bincount(cell, minlength=n_nodes * self.n_classes).reshape(n_nodes, self.n_classes)
        return counts / sizes[:, None], counts.max(axis=1) < sizes

    def _class_totals(self, level: _Level) -> tuple[Rows, Rows]:
        """Along the lines sorted by class: rows of this row's class in its node, so far and in all."""
        line = self.target[level.slots[self.n_codes]]
        begins = np.empty(line.size, dtype=np.bool_)
        begins[1:] = line[1:] != line[:-1]
        begins[level.starts] = True
        at = np.flatnonzero(begins)
        totals = np.diff(at, append=line.size)
        return np.arange(1, line.size + 1) - np.repeat(at, totals), np.repeat(totals, totals)

    def quality(self, level: _Level, places: Rows | None, in_left: Rows, in_right: Rows) -> Floats:
        so_far, in_all = self._class_totals(level)
        self.of_class[level.slots[self.n_codes]] = in_all
        squares = np.add.reduceat(in_all, level.starts)
        before = np.repeat(np.cumsum(squares) - squares, level.sizes)
        by_code = _pick(level.slots[: self.n_codes], places)
        left = np.empty(by_code.shape, dtype=np.int64)
        joined = 2 * so_far - 1
        for line, (codes_line, class_line) in enumerate(
            zip(by_code, _pick(level.slots[self.n_codes :], places), strict=True)
        ):
            self.joining[class_line] = joined
            self.joining.take(codes_line, out=left[line], mode="clip")
        np.cumsum(left, axis=1, out=left)
        left -= before
        # On the right, sum (total - left)^2 = squares - 2 sum(total * left) + sum(left^2).
        right = np.cumsum(self.of_class.take(by_code), axis=1)
        right *= -2
        right += left
        right += 2 * before + np.repeat(squares, level.sizes)
        quality: Floats = left * (1 / in_left)
        quality += right * (1 / in_right)
        return quality

    def decrease(self, level: _Level, quality: Floats) -> Floats:
        _, in_all = self._class_totals(level)
        return np.maximum(quality - np.add.reduceat(in_all, level.starts) / level.sizes, 0.0)


def _pick(lines: Rows, places: Rows | None) -> Rows:
    return lines if places is None else lines.take(places)


@dataclass(frozen=True, slots=True)
class _Splits:
    """The best split of every node of a level; quality -1 where there is none."""

    quality: Floats
    feature: Rows
    threshold: Rows
    last_left: Rows
    chosen: Rows


def _best_splits(
    level: _Level,
    criterion: "_Variance | _Gini",
    presorted: Presorted,
    features_per_split: int,
    rng: np.random.Generator,
) -> _Splits:
    """Search every node along codes drawn at random, among those that vary in it as long as there are enough."""
    d, width = presorted.n_codes, level.slots.shape[1]
    sizes, starts = level.sizes, level.starts
    ends = starts + sizes - 1
    nodes, along = np.arange(len(sizes)), np.arange(width)

    turn = rng.random((d, len(sizes)))
    if presorted.tied:
        turn[_ranks(presorted, level.slots[:d, starts]) == _ranks(presorted, level.slots[:d, ends])] += 1.0
    places = None
    drawn = np.broadcast_to(np.arange(d)[:, None], turn.shape)
    if features_per_split < d:
        drawn = np.argpartition(turn, features_per_split - 1, axis=0)[:features_per_split]
        turn = np.take_along_axis(turn, drawn, axis=0)
        places = np.repeat(drawn * width, sizes, axis=1)
        places += along

    in_left = along - np.repeat(starts - 1, sizes)
    in_right = np.repeat(sizes, sizes) - in_left
    in_right[ends] = 1  # never used: no split comes after the last row
    quality = criterion.quality(level, places, in_left, in_right)
    quality[:, ends] = -1.0
    if presorted.tied:
        slots = _pick(level.slots[:d], places)
        codes = np.repeat(drawn, sizes, axis=1)
        rank = presorted.rank[codes, slots % presorted.n_rows]
        quality[:, :-1][rank[:, 1:] == rank[:, :-1]] = -1.0

    choice = np.where(_nearly_best(quality, starts, sizes), turn, -1.0).argmax(axis=0)
    feature = drawn[choice, nodes]
    on_line = quality.take(np.repeat(choice * width, sizes) + along)
    top = np.maximum.reduceat(on_line, starts)
    last_left = np.minimum.reduceat(np.where(on_line == np.repeat(top, sizes), along, width), starts)
    chosen = level.slots.take(np.repeat(feature * width, sizes) + along)
    parted = presorted.rank[feature, chosen[last_left] % presorted.n_rows]
    parted += presorted.rank[feature, chosen[np.minimum(last_left + 1, width - 1)] % presorted.n_rows]
    return _Splits(top, feature, parted // 2, last_left, chosen)


def _nearly_best(quality: Floats, starts: Rows, sizes: Rows) -> Flags:
    """Whether the best split of a node along each line is, within ties, the best of all lines: (n_lines, n_nodes)."""
    n_lines, width = quality.shape
    if width > ROWS_OF_SMALL_NODES * len(sizes):
        best = np.maximum.reduceat(quality, starts, axis=1)
        return np.asarray(best >= best.max(axis=0) * (1 - TIE))
    # Of many small nodes, each line's best costs more than to look where the best of all lines is reached.
    least = np.maximum.reduceat(quality.max(axis=0), starts) * (1 - TIE)
    line, place = np.divmod(np.flatnonzero(quality >= np.repeat(least, sizes)), width)
    nearly = np.zeros((n_lines, len(sizes)), dtype=np.bool_)
    nearly[line, np.repeat(np.arange(len(sizes)), sizes)[place]] = True
    return nearly


def _ranks(presorted: Presorted, slots: Rows) -> Rows:
    return np.take_along_axis(presorted.rank, slots % presorted.n_rows, axis=1)


def grow_trees(
    presorted: Presorted,
    target: Floats | Rows,
    members: Flags,
    *,
    n_classes: int | None,
    features_per_split: int,
    max_depth: int,
    rng: np.random.Generator,
) -> Trees:
    """Grow trees until their leaves are pure, or as deep as allowed.

    Parameters
    ----------
    presorted : Presorted
        The codes.
    target : (n_rows,) float64, or intp if `n_classes` is given
        What to predict: a number, or a class from 0 to n_classes - 1.
    members : (n_trees, n_rows) bool
        The rows that each tree is grown on; at least one each.
    n_classes : int or None
        None for regression (splits by variance), else for classification (splits by the Gini index).
    features_per_split : int
        How many codes are drawn for each node. Codes that are constant in the node are drawn last.
    max_depth : int >= 0
        Splits on the longest path.
    rng : numpy.random.Generator
        Draws the codes, and breaks ties between equally good ones.

    Notes
    -----
    The split maximises ``n_l n_r / n * (mean_l - mean_r)**2``, for classification summed over class indicators, among
    places between two different values of a code. A node whose rows agree in the target, or in all codes, is a leaf.
    Cost: O(n_codes * members) per depth, in time and memory.

    Examples
    --------
    >>> from demele.estimation.trees import presort
    >>> codes = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> trees = grow_trees(
    ...     presort(codes), np.array([0.0, 0.0, 0.0, 4.0]), np.ones((1, 4), dtype=bool),
    ...     n_classes=None, features_per_split=1, max_depth=5, rng=np.random.default_rng(0),
    ... )
    >>> trees.value[:, 0], trees.decrease
    (array([1., 0., 4.]), array([12.,  0.,  0.]))
    """
    hold_freed_memory()
    n_trees, n_rows = members.shape
    criterion: _Variance | _Gini
    if n_classes is None:
        criterion = _Variance(np.asarray(target, dtype=np.float64), n_trees)
    else:
        criterion = _Gini(np.asarray(target, dtype=np.intp), n_classes, presorted.n_codes, n_trees)
    # the slots of all trees along every code, sorted, and the roots
    flat = presorted.order.reshape(-1)
    lines = [
        flat.take(np.flatnonzero(member.take(flat))).reshape(presorted.n_codes, -1) + tree * n_rows
        for tree, member in enumerate(members)
    ]
    slots, sizes, trees = np.concatenate(lines, axis=1), members.sum(axis=1), np.arange(n_trees)
    level = _Level(criterion.lines(slots), sizes, trees, trees)
    born = _Level(slots[0], sizes, trees, trees)

    table: list[dict[str, Array]] = []
    n_nodes = n_trees
    for depth in range(max_depth + 1):
        value, mixed = criterion.describe(born.slots, born.sizes)
        rows = {
            "nodes": born.nodes,
            "feature": np.full(len(mixed), -1),
            "threshold": np.zeros(len(mixed), dtype=np.intp),
            "left": np.zeros(len(mixed), dtype=np.intp),
            "value": value,
            "decrease": np.zeros(len(mixed)),
            "tree": born.trees,
            "depth": np.full(len(mixed), depth),
        }
        table.append(rows)
        if depth == max_depth or not mixed.any():
            break
        right = (np.arange(len(mixed)) % 2 == 1) & (depth > 0)
        kept = np.concatenate([np.flatnonzero(mixed & ~right), np.flatnonzero(mixed & right)])
        if depth or not mixed.all():
            side = np.zeros(len(born.sizes), dtype=np.uint8)
            side[kept] = 1 + right[kept]
            side_of = np.zeros(n_trees * n_rows, dtype=np.uint8)
            side_of[born.slots] = np.repeat(side, born.sizes)
            sides, flat = side_of.take(level.slots).reshape(-1), level.slots.reshape(-1)
            lines = [flat.take(np.flatnonzero(sides == which)).reshape(len(level.slots), -1) for which in (1, 2)]
            level = _Level(np.concatenate(lines, axis=1), born.sizes[kept], born.nodes[kept], born.trees[kept])
        splits = _best_splits(level, criterion, presorted, features_per_split, rng)
        is_split = splits.quality >= 0
        if not is_split.any():
            break
        at = kept[is_split]
        rows["feature"][at] = splits.feature[is_split]
        rows["threshold"][at] = splits.threshold[is_split]
        rows["left"][at] = n_nodes + 2 * np.arange(len(at))
        rows["decrease"][at] = criterion.decrease(level, splits.quality)[is_split]
        # new nodes and their slots: of each node that was split the left child, then the right
        to_left, sizes = (splits.last_left - level.starts + 1)[is_split], level.sizes[is_split]
        both = np.stack([to_left, sizes - to_left], axis=1).reshape(-1)
        chosen = splits.chosen.take(np.flatnonzero(np.repeat(is_split, level.sizes)))
        born = _Level(chosen, both, n_nodes + np.arange(len(both)), np.repeat(level.trees[is_split], 2))
        n_nodes += len(both)

    columns = {name: np.concatenate([rows[name] for rows in table]) for name in table[0]}
    by_node = np.argsort(columns.pop("nodes"))
    return Trees(**{name: column[by_node] for name, column in columns.items()})


# The shallow regression trees of one boosting stage, one per class, all classes at once (Friedman 2001) ---------------
#
# From sums over at most 256 bins per code, or over its distinct values; codes enter through their ranks only.

#: Bins per code in boosting, unless another number is asked for.
MAX_BINS = 256


class Bins:
    """Codes cut into at most `max_bins` bins of about as many rows each, and sums over the bins.

    Without `max_bins` every distinct value is a bin: all splits that there are, at a cost that grows with the rows.

    Attributes
    ----------
    cuts : list of (n_bins_f - 1,) intp
        For each code, the last rank of every bin but the last.
    binned : (n_codes, n_rows) unsigned int
        Bin of every row.
    counts : (n_codes, n_bins) float64
        Rows in every bin; codes with fewer bins than others end with empty ones.
    """

    def __init__(self, presorted: Presorted, max_bins: int | None = MAX_BINS) -> None:
        from scipy.sparse import csc_array

        hold_freed_memory()
        lines = zip(presorted.order, presorted.rank, strict=True)
        self.cuts = [_cuts(rank[order], max_bins) for order, rank in lines]
        self.binned = self.apply(presorted.rank)
        n_codes, n_rows = self.binned.shape
        n_bins = max(len(cut) for cut in self.cuts) + 1
        self._cells = self.binned.T + np.arange(n_codes) * n_bins  # (n_rows, n_codes)
        cells = self._cells.reshape(-1)
        begins = np.arange(n_rows + 1) * n_codes
        self._indicators = csc_array((np.ones(cells.size), cells, begins), shape=(n_codes * n_bins, n_rows))
        self.counts = np.bincount(cells, minlength=n_codes * n_bins).astype(np.float64).reshape(n_codes, n_bins)

    def apply(self, rank: Rows) -> Places:
        """Bins of rows, from their ranks (n_codes, n_rows)."""
        lines = [np.searchsorted(cut, line) for cut, line in zip(self.cuts, rank, strict=True)]
        return np.stack(lines).astype(np.min_scalar_type(max(len(cut) for cut in self.cuts)))

    def sums(self, residual: Floats) -> Floats:
        """Sum residuals (n_outputs, n_rows) over every bin: (1, n_outputs, n_codes, n_bins)."""
        flat: Floats = self._indicators @ np.ascontiguousarray(residual.T)
        return np.ascontiguousarray(flat.T).reshape(1, len(residual), *self.counts.shape)

    def left_sums(self, residual: Floats, place: Bytes, n_nodes: int) -> tuple[Floats, Floats]:
        """Sum residuals (n_outputs, n_rows), and count rows, over every bin of the left children of some nodes.

        ``place`` holds the child of each row and output: of node i, 2 i to the left and 2 i + 1 to the right. Returns
        two arrays (n_nodes, n_outputs, n_codes, n_bins).
        """
        n_outputs, n_rows = residual.shape
        shape = (n_nodes, n_outputs, *self.counts.shape)
        if n_outputs == 1:  # each row is in one node: half of the rows are looked at, once for all nodes
            rows = np.flatnonzero((place[0] & 1) == 0)
            cells = self._cells[rows]
            cells += place[0, rows, None].astype(np.intp) // 2 * self.counts.size
            flat, size = cells.reshape(-1), n_nodes * self.counts.size
            sums = np.bincount(flat, weights=np.repeat(residual[0, rows], len(self.counts)), minlength=size)
            counts = np.bincount(flat, minlength=size)
            return sums.astype(np.float64).reshape(shape), counts.astype(np.float64).reshape(shape)
        in_left = np.ascontiguousarray(place.T)[:, None, :] == 2 * np.arange(n_nodes, dtype=np.uint8)[:, None]
        both = np.empty((n_rows, 2, n_nodes, n_outputs))
        np.multiply(np.ascontiguousarray(residual.T)[:, None, :], in_left, out=both[:, 0])
        both[:, 1] = in_left
        lines: Floats = np.ascontiguousarray((self._indicators @ both.reshape(n_rows, -1)).T)
        left, counted = lines.reshape(2, *shape)
        return left, counted


def _cuts(ordered: Rows, max_bins: int | None) -> Rows:
    """Ranks half way between neighbours of different rank: all such places, or the nearest to equal shares of rows."""
    last = np.flatnonzero(ordered[1:] > ordered[:-1])
    if max_bins is not None and len(last) >= max_bins:
        wanted = np.arange(1, max_bins) * len(ordered) // max_bins - 1
        last = last[np.unique(np.searchsorted(last, wanted).clip(max=len(last) - 1))]
    return (ordered[last] + ordered[last + 1]) // 2


@dataclass(frozen=True, slots=True)
class StageTrees:
    """The trees of one boosting stage, one per output; the children of node i are 2 i + 1 and 2 i + 2.

    Attributes
    ----------
    feature, last_bin : (n_outputs, n_inner) intp
        Code that splits the node, and the last of its bins that goes left.
    decrease : (n_outputs, n_inner) float64
        Decrease of the sum of squares; 0 where no split serves, and all rows go left.
    """

    feature: Rows
    last_bin: Rows
    decrease: Floats

    @property
    def depth(self) -> int:
        """Splits on every path."""
        return int(self.feature.shape[1]).bit_length()

    def leaves(self, binned: Places) -> Bytes:
        """Leaf (0, 1, ...) that every row reaches in every tree: (n_outputs, n_rows)."""
        place = np.zeros((len(self.feature), binned.shape[1]), dtype=np.uint8)
        for depth in range(self.depth):
            place = self.children(binned, place, depth)
        return place

    def children(self, binned: Places, place: Bytes, depth: int) -> Bytes:
        """Places (0, 1, ... from left to right) in the next level, from those in the level at a depth."""
        below = 2 * place
        for output, line in enumerate(place):
            for here in range(2**depth):
                node = 2**depth - 1 + here
                right = binned[self.feature[output, node]] > int(self.last_bin[output, node])
                if depth:
                    right &= line == here
                below[output] |= right.view(np.uint8)
        return below


def boosted_stage(
    bins: Bins, residual: Floats, *, max_depth: int, rng: np.random.Generator
) -> tuple[StageTrees, Bytes]:
    """Fit one shallow regression tree to each line of residuals, all at once.

    Parameters
    ----------
    residual : (n_outputs, n_rows) float64
    max_depth : int from 1 to 7
    rng : numpy.random.Generator
        Breaks ties between codes.

    Returns
    -------
    trees : StageTrees
    leaf : (n_outputs, n_rows) uint8
        Leaf of every row of `bins`.

    Notes
    -----
    The split maximises ``n_l n_r / n * (mean_l - mean_r)**2`` (the variance criterion; Friedman's improvement score
    ranks the splits of a node in the same order). Bins are summed for left children only; right children get the
    difference. Cost: O(n_rows * n_codes * n_outputs * 2**max_depth).
    """
    n_outputs = len(residual)
    shape = (n_outputs, 2**max_depth - 1)
    trees = StageTrees(np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.intp), np.zeros(shape))
    place = np.zeros(residual.shape, dtype=np.uint8)
    sums = bins.sums(residual)
    counts = np.broadcast_to(bins.counts, sums.shape)
    for depth in range(max_depth):
        level = slice(2**depth - 1, 2 ** (depth + 1) - 1)
        for table, found in zip(
            (trees.feature, trees.last_bin, trees.decrease), _best_bins(sums, counts, rng), strict=True
        ):
            table[:, level] = found.T
        place = trees.children(bins.binned, place, depth)
        if depth + 1 < max_depth:
            left, counts_left = bins.left_sums(residual, place, 2**depth)
            sums, counts = _with_right(sums, left), _with_right(counts, counts_left)
    return trees, place


def _with_right(parent: Floats, left: Floats) -> Floats:
    """Left and right children in turn, along the axis of nodes."""
    both = np.empty((2 * len(left), *left.shape[1:]))
    both[0::2] = left
    np.subtract(parent, left, out=both[1::2])
    return both


def _best_bins(sums: Floats, counts: Floats, rng: np.random.Generator) -> tuple[Rows, Rows, Floats]:
    """Code, last bin on the left and decrease of the best split of every node and output."""
    n_nodes, n_outputs, n_codes, n_bins = sums.shape
    in_left = counts.cumsum(axis=3)
    total = in_left[:, :, :1, -1:]
    quality = sums.cumsum(axis=3)
    quality -= in_left * (quality[:, :, :1, -1:] / np.maximum(total, 1.0))
    quality *= quality
    quality *= total
    in_right = total - in_left
    in_right *= in_left
    quality /= np.maximum(in_right, 1.0)
    np.copyto(quality, -1.0, where=in_right == 0)  # rows on one side only: no split
    best = quality.max(axis=3)
    turn = rng.random((n_codes, n_nodes, n_outputs)).transpose(1, 2, 0)
    feature = np.where(best >= best.max(axis=2, keepdims=True) * (1 - TIE), turn, -1.0).argmax(axis=2)
    lane = feature + np.arange(n_nodes * n_outputs).reshape(n_nodes, n_outputs) * n_codes
    last_bin = quality.reshape(-1, n_bins)[lane].argmax(axis=2)
    decrease = best.reshape(-1)[lane]
    useful = decrease > 0
    return feature, np.where(useful, last_bin, n_bins), np.where(useful, decrease, 0.0)
