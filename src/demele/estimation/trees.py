"""Decision trees for forests and for boosting, vectorised over rows, codes and nodes.

Two engines:

- `grow_trees`: CART trees of any depth. The rows of every node stay sorted along every code: the order is made once per
  data set (`presort`), shared by all factors and trees, and parted stably at each level. All nodes of one depth, of
  several trees if these are small, are searched at once, so that a level costs O(n_codes * n_rows), however many nodes
  it has and, for classification, whatever the number of classes.
- `Bins` and `boosted_stage`: the shallow regression trees of one boosting stage, one per class, all classes at once,
  from sums over at most 256 bins per code, or over its distinct values.

Codes enter through their ranks only: a strictly increasing map of a code changes no tree.

References
----------
Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees. Friedman (2001), Greedy function
approximation: a gradient boosting machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]
#: Bins, in as few bytes as they need.
Places = NDArray[np.unsignedinteger[Any]]

#: Splits whose quality differs by less than this share are tied. The same partition found through two codes (a copy, or
#: a mirrored copy) may differ by rounding, and no code should be preferred for that.
TIE = 1e-10
#: Bins per code in boosting, unless another number is asked for.
MAX_BINS = 256
#: Just below the largest block that can raise the thresholds of glibc's allocator.
HELD_BYTES = 31 << 20


def _hold_freed_memory() -> None:
    """Let the allocator keep the arrays of one level for the next.

    glibc gives large freed blocks back to the system, until it has seen a still larger one freed. Without this, the
    arrays of every level are mapped anew, which takes as long as the work on them. The block is never touched, so it
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

    order: Ints
    rank: Ints
    tied: bool

    @property
    def n_codes(self) -> int:
        """Number of codes."""
        return len(self.order)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.order.shape[1])

    def subset(self, rows: Ints) -> "Presorted":
        """Return the same for some rows, renumbered from 0; ranks keep the meaning they had. Sorts nothing."""
        number = np.full(self.n_rows, -1)
        number[rows] = np.arange(len(rows))
        order = number[self.order]
        return Presorted(order[order >= 0].reshape(self.n_codes, -1), self.rank[:, rows], self.tied)


def presort(codes: Floats) -> Presorted:
    """Sort the rows along every code: once, for all factors and trees.

    Parameters
    ----------
    codes : (n_rows, n_codes) float64

    Returns
    -------
    Presorted

    Notes
    -----
    Cost: O(n_codes * n_rows * log n_rows).

    Examples
    --------
    >>> import numpy as np
    >>> from demele.estimation.trees import presort
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


@dataclass(frozen=True, slots=True)
class _Level:
    """The nodes of one depth, and their rows.

    A slot is a row of a tree: tree * n_rows + row. Line f of `slots` holds the slots sorted by node, then by code f.
    A criterion may keep as many lines again, sorted by node, then class, then code f. All lines agree on where a node
    begins.
    """

    slots: Ints
    sizes: Ints
    nodes: Ints
    trees: Ints

    @property
    def starts(self) -> Ints:
        """Where each node begins."""
        return np.cumsum(self.sizes) - self.sizes

    def only(self, wanted: Mask) -> "_Level":
        """Keep some nodes, with their rows."""
        if wanted.all():
            return self
        places = np.flatnonzero(np.repeat(wanted, self.sizes))
        return _Level(self.slots.take(places, axis=1), self.sizes[wanted], self.nodes[wanted], self.trees[wanted])


class _Criterion(Protocol):
    """What regression and classification do differently."""

    def lines(self, slots: Ints) -> Ints:
        """Lines to keep sorted, given those sorted by tree and code."""

    def describe(self, level: _Level) -> tuple[Floats, Mask]:
        """Value of every node, and whether its rows differ in the target."""

    def quality(self, level: _Level, places: Ints | None, in_left: Ints, in_right: Ints) -> Floats:
        """Quality (>= 0, larger is better) of a split after each of some places of the lines (None: of all)."""

    def decrease(self, level: _Level, quality: Floats) -> Floats:
        """Decrease of rows * impurity, from the quality of one split per node."""


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

    def lines(self, slots: Ints) -> Ints:
        return slots

    def describe(self, level: _Level) -> tuple[Floats, Mask]:
        target, starts = self.target[level.slots[0]], level.starts
        mean = np.add.reduceat(target, starts) / level.sizes
        mixed = np.minimum.reduceat(target, starts) < np.maximum.reduceat(target, starts)
        return self.origin + self.unit * mean[:, None], mixed

    def quality(self, level: _Level, places: Ints | None, in_left: Ints, in_right: Ints) -> Floats:
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

    def __init__(self, target: Ints, n_classes: int, n_codes: int, n_trees: int) -> None:
        self.n_codes, self.n_classes, self.n_rows = n_codes, n_classes, target.size
        self.target = np.tile(target, n_trees)
        self.of_class = np.empty(self.target.size, dtype=np.int64)
        self.joining = np.empty(self.target.size, dtype=np.int64)

    def lines(self, slots: Ints) -> Ints:
        group = slots // self.n_rows * self.n_classes + self.target[slots]
        small = group.astype(np.min_scalar_type(int(group.max())))  # NumPy sorts 8 and 16 bits by radix
        by_class = np.argsort(small, axis=1, kind="stable")
        return np.concatenate([slots, np.take_along_axis(slots, by_class, axis=1)])

    def describe(self, level: _Level) -> tuple[Floats, Mask]:
        n_nodes = len(level.sizes)
        cell = np.repeat(np.arange(n_nodes) * self.n_classes, level.sizes) + self.target[level.slots[0]]
        counts = np.bincount(cell, minlength=n_nodes * self.n_classes).reshape(n_nodes, self.n_classes)
        return counts / level.sizes[:, None], counts.max(axis=1) < level.sizes

    def _class_totals(self, level: _Level) -> tuple[Ints, Ints]:
        """Along the lines sorted by class: rows of this row's class in its node, so far and in all."""
        line = self.target[level.slots[self.n_codes]]
        begins = np.empty(line.size, dtype=np.bool_)
        begins[1:] = line[1:] != line[:-1]
        begins[level.starts] = True
        at = np.flatnonzero(begins)
        totals = np.diff(at, append=line.size)
        return np.arange(1, line.size + 1) - np.repeat(at, totals), np.repeat(totals, totals)

    def quality(self, level: _Level, places: Ints | None, in_left: Ints, in_right: Ints) -> Floats:
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


def _pick(lines: Ints, places: Ints | None) -> Ints:
    return lines if places is None else lines.take(places)


@dataclass(frozen=True, slots=True)
class _Splits:
    """The best split of every node of a level; quality -1 where there is none."""

    quality: Floats
    feature: Ints
    threshold: Ints
    last_left: Ints
    chosen: Ints


def _best_splits(
    level: _Level, criterion: _Criterion, presorted: Presorted, features_per_split: int, rng: np.random.Generator
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

    best = np.maximum.reduceat(quality, starts, axis=1)
    choice = np.where(best >= best.max(axis=0) * (1 - TIE), turn, -1.0).argmax(axis=0)
    feature, top = drawn[choice, nodes], best[choice, nodes]
    on_line = quality.take(np.repeat(choice * width, sizes) + along)
    last_left = np.minimum.reduceat(np.where(on_line == np.repeat(top, sizes), along, width), starts)
    chosen = level.slots.take(np.repeat(feature * width, sizes) + along)
    parted = presorted.rank[feature, chosen[last_left] % presorted.n_rows]
    parted += presorted.rank[feature, chosen[np.minimum(last_left + 1, width - 1)] % presorted.n_rows]
    return _Splits(top, feature, parted // 2, last_left, chosen)


def _ranks(presorted: Presorted, slots: Ints) -> Ints:
    return np.take_along_axis(presorted.rank, slots % presorted.n_rows, axis=1)


def _part(level: _Level, splits: _Splits, n_slots: int, first_child: int) -> _Level:
    """Send the rows of the split nodes to their children; lines stay sorted, for the parting is stable."""
    is_split = splits.quality >= 0
    side = np.where(np.arange(level.slots.shape[1]) <= np.repeat(splits.last_left, level.sizes), 1, 2).astype(np.uint8)
    side[np.repeat(~is_split, level.sizes)] = 0
    side_of = np.zeros(n_slots, dtype=np.uint8)
    side_of[splits.chosen] = side
    sides, flat = side_of.take(level.slots).reshape(-1), level.slots.reshape(-1)
    lines = [flat.take(np.flatnonzero(sides == which)).reshape(len(level.slots), -1) for which in (1, 2)]
    to_left = (splits.last_left - level.starts + 1)[is_split]
    nodes = first_child + 2 * np.arange(len(to_left))
    return _Level(
        slots=np.concatenate(lines, axis=1),
        sizes=np.concatenate([to_left, level.sizes[is_split] - to_left]),
        nodes=np.concatenate([nodes, nodes + 1]),
        trees=np.tile(level.trees[is_split], 2),
    )


def grow_trees(
    presorted: Presorted,
    target: Floats | Ints,
    members: Mask,
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

    Returns
    -------
    Trees

    Notes
    -----
    The split maximises ``n_l n_r / n * (mean_l - mean_r)**2``, for classification summed over class indicators, among
    places between two different values of a code. A node whose rows agree in the target, or in all codes, is a leaf.
    Cost: O(n_codes * members) per depth, memory alike.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.estimation.trees import grow_trees, presort
    >>> codes = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> trees = grow_trees(
    ...     presort(codes), np.array([0.0, 0.0, 0.0, 4.0]), np.ones((1, 4), dtype=bool),
    ...     n_classes=None, features_per_split=1, max_depth=5, rng=np.random.default_rng(0),
    ... )
    >>> trees.value[:, 0], trees.decrease
    (array([1., 0., 4.]), array([12.,  0.,  0.]))
    """
    _hold_freed_memory()
    n_trees, n_rows = members.shape
    criterion: _Criterion
    if n_classes is None:
        criterion = _Variance(np.asarray(target, dtype=np.float64), n_trees)
    else:
        criterion = _Gini(np.asarray(target, dtype=np.intp), n_classes, presorted.n_codes, n_trees)
    in_tree = members[:, presorted.order].transpose(1, 0, 2)
    slots = presorted.order[:, None, :] + np.arange(n_trees)[:, None] * n_rows
    roots = np.arange(n_trees)
    level = _Level(criterion.lines(slots[in_tree].reshape(presorted.n_codes, -1)), members.sum(axis=1), roots, roots)

    table: list[dict[str, NDArray[Any]]] = []
    n_nodes = n_trees
    for depth in range(max_depth + 1):
        value, mixed = criterion.describe(level)
        rows = {
            "nodes": level.nodes,
            "feature": np.full(len(mixed), -1),
            "threshold": np.zeros(len(mixed), dtype=np.intp),
            "left": np.zeros(len(mixed), dtype=np.intp),
            "value": value,
            "decrease": np.zeros(len(mixed)),
            "tree": level.trees,
            "depth": np.full(len(mixed), depth),
        }
        table.append(rows)
        if depth == max_depth or not mixed.any():
            break
        level = level.only(mixed)
        splits = _best_splits(level, criterion, presorted, features_per_split, rng)
        is_split = splits.quality >= 0
        if not is_split.any():
            break
        at = np.flatnonzero(mixed)[is_split]
        rows["feature"][at] = splits.feature[is_split]
        rows["threshold"][at] = splits.threshold[is_split]
        rows["left"][at] = n_nodes + 2 * np.arange(len(at))
        rows["decrease"][at] = criterion.decrease(level, splits.quality)[is_split]
        level = _part(level, splits, n_trees * n_rows, n_nodes)
        n_nodes += 2 * len(at)

    columns = {name: np.concatenate([rows[name] for rows in table]) for name in table[0]}
    by_node = np.argsort(columns.pop("nodes"))
    return Trees(**{name: column[by_node] for name, column in columns.items()})


def descend(trees: Trees, rank: Ints, roots: Ints, rows: Ints, depths: Sequence[int]) -> Ints:
    """Find the node that each row reaches in a tree, at several depths.

    Parameters
    ----------
    trees : Trees
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
    node = roots.copy()
    found = np.empty((len(depths), len(roots)), dtype=np.intp)
    active = np.arange(len(roots))
    for which, (since, depth) in enumerate(zip((0, *depths), depths, strict=False)):
        for _ in range(since, depth):
            active = active[trees.feature[node[active]] >= 0]
            if not active.size:
                break
            here = node[active]
            right = rank[trees.feature[here], rows[active]] > trees.threshold[here]
            node[active] = trees.left[here] + right
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
    shares: Floats = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
    return shares


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

        _hold_freed_memory()
        lines = zip(presorted.order, presorted.rank, strict=True)
        self.cuts = [_cuts(rank[order], max_bins) for order, rank in lines]
        self.binned = self.apply(presorted.rank)
        n_codes, n_rows = self.binned.shape
        n_bins = max(len(cut) for cut in self.cuts) + 1
        cells = (self.binned.T + np.arange(n_codes) * n_bins).reshape(-1)
        begins = np.arange(n_rows + 1) * n_codes
        self._indicators = csc_array((np.ones(cells.size), cells, begins), shape=(n_codes * n_bins, n_rows))
        self.counts = np.bincount(cells, minlength=n_codes * n_bins).astype(np.float64).reshape(n_codes, n_bins)

    def apply(self, rank: Ints) -> Places:
        """Bins of rows, from their ranks (n_codes, n_rows)."""
        lines = [np.searchsorted(cut, line) for cut, line in zip(self.cuts, rank, strict=True)]
        return np.stack(lines).astype(np.min_scalar_type(max(len(cut) for cut in self.cuts)))

    def sums(self, columns: Floats) -> Floats:
        """Sum columns (n_rows, ...) over every bin: (n_codes, n_bins, ...)."""
        flat: Floats = self._indicators @ columns.reshape(len(columns), -1)
        return flat.reshape(*self.counts.shape, *columns.shape[1:])


def _cuts(ordered: Ints, max_bins: int | None) -> Ints:
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

    feature: Ints
    last_bin: Ints
    decrease: Floats

    @property
    def depth(self) -> int:
        """Splits on every path."""
        return int(self.feature.shape[1]).bit_length()

    def leaves(self, binned: Places) -> NDArray[np.uint8]:
        """Leaf (0, 1, ...) that every row reaches in every tree: (n_outputs, n_rows)."""
        place = np.zeros((len(self.feature), binned.shape[1]), dtype=np.uint8)
        for depth in range(self.depth):
            place = self.children(binned, place, depth)
        return place

    def children(self, binned: Places, place: NDArray[np.uint8], depth: int) -> NDArray[np.uint8]:
        """Places (0, 1, ... from left to right) in the next level, from those in the level at a depth."""
        below = 2 * place
        for output, line in enumerate(place):
            for here in range(2**depth):
                node = 2**depth - 1 + here
                right = binned[self.feature[output, node]] > int(self.last_bin[output, node])
                below[output] += right & (line == here)
        return below


def boosted_stage(
    bins: Bins, residual: Floats, *, max_depth: int, rng: np.random.Generator
) -> tuple[StageTrees, NDArray[np.uint8]]:
    """Fit one shallow regression tree to each line of residuals, all at once.

    Parameters
    ----------
    bins : Bins
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
    ranks the splits of a node alike). Bins are summed for left children only; the right ones are the difference.
    Cost: O(n_rows * n_codes * n_outputs * 2**max_depth).
    """
    n_outputs, n_rows = residual.shape
    shape = (n_outputs, 2**max_depth - 1)
    trees = StageTrees(np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.intp), np.zeros(shape))
    columns = np.ascontiguousarray(residual.T)[:, None, :]
    place = np.zeros(residual.shape, dtype=np.uint8)
    sums = bins.sums(columns)
    counts = np.broadcast_to(bins.counts[:, :, None, None], sums.shape)
    for depth in range(max_depth):
        level = slice(2**depth - 1, 2 ** (depth + 1) - 1)
        for table, found in zip(
            (trees.feature, trees.last_bin, trees.decrease), _best_bins(sums, counts, rng), strict=True
        ):
            table[:, level] = found.T
        place = trees.children(bins.binned, place, depth)
        if depth + 1 < max_depth:
            in_left = np.ascontiguousarray(place.T)[:, None, :] == 2 * np.arange(2**depth, dtype=np.uint8)[:, None]
            both = np.empty((n_rows, 2, *in_left.shape[1:]))
            np.multiply(columns, in_left, out=both[:, 0])
            both[:, 1] = in_left
            left = bins.sums(both)
            sums, counts = _with_right(sums, left[:, :, 0]), _with_right(counts, left[:, :, 1])
    return trees, place


def _with_right(parent: Floats, left: Floats) -> Floats:
    """Left and right children in turn, along the axis of nodes."""
    n_codes, n_bins, n_nodes, n_outputs = left.shape
    return np.stack([left, parent - left], axis=3).reshape(n_codes, n_bins, 2 * n_nodes, n_outputs)


def _best_bins(sums: Floats, counts: Floats, rng: np.random.Generator) -> tuple[Ints, Ints, Floats]:
    """Code, last bin on the left and decrease of the best split of every node and output."""
    in_left = np.cumsum(counts, axis=1)
    total = in_left[:1, -1:]
    deviation = np.cumsum(sums, axis=1)
    mean = np.divide(deviation[:1, -1:], total, out=np.zeros_like(total), where=total > 0)
    deviation -= in_left * mean
    deviation *= deviation
    deviation *= total
    both = in_left * (total - in_left)
    quality = np.divide(deviation, both, out=np.full_like(both, -1.0), where=both > 0)
    best = quality.max(axis=1)
    feature = np.where(best >= best.max(axis=0) * (1 - TIE), rng.random(best.shape), -1.0).argmax(axis=0)
    lane = np.take_along_axis(quality, feature[None, None], axis=0)[0]
    last_bin = lane.argmax(axis=0)
    decrease = np.take_along_axis(lane, last_bin[None], axis=0)[0]
    useful = decrease > 0
    return feature, np.where(useful, last_bin, sums.shape[1]), np.where(useful, decrease, 0.0)
