"""CART trees of any depth, for forests, vectorised over rows, codes and nodes (Breiman et al. 1984).

The rows of every node stay sorted along every code: the order is made once per data set (`presorted_codes`), shared by
all factors and trees, and parted stably at each level. All nodes of one depth, of several trees if these are small, are
searched at once, so that a level costs O(n_codes * n_rows), however many nodes it has and, for classification, whatever
the number of classes. Codes enter through their ranks only: a strictly increasing map of a code changes no tree.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from demele.estimation.grown_trees import Trees
from demele.estimation.presorted_codes import Presorted, hold_freed_memory

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]
#: Bins, in as few bytes as they need.
Places = NDArray[np.unsignedinteger[Any]]

#: Splits whose quality differs by less than this share are tied. The same partition found through two codes (a copy, or
#: a mirrored copy) may differ by rounding, and no code should be preferred for that.
TIE = 1e-10

#: Nodes of fewer rows than this, on average, are small: to reduce a node costs as much as some twenty rows.
ROWS_OF_SMALL_NODES = 20


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


class _Criterion(Protocol):
    """What regression and classification do differently."""

    def lines(self, slots: Ints) -> Ints:
        """Lines to keep sorted, given those sorted by tree and code."""

    def describe(self, slots: Ints, sizes: Ints) -> tuple[Floats, Mask]:
        """Value of every node, from the slots of one after the other, and whether its rows differ in the target."""

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

    def describe(self, slots: Ints, sizes: Ints) -> tuple[Floats, Mask]:
        target, starts = self.target[slots], np.cumsum(sizes) - sizes
        mean = np.add.reduceat(target, starts) / sizes
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

    def describe(self, slots: Ints, sizes: Ints) -> tuple[Floats, Mask]:
        n_nodes = len(sizes)
        cell = np.repeat(np.arange(n_nodes) * self.n_classes, sizes) + self.target[slots]
        counts = np.bincount(cell, minlength=n_nodes * self.n_classes).reshape(n_nodes, self.n_classes)
        return counts / sizes[:, None], counts.max(axis=1) < sizes

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

    choice = np.where(_nearly_best(quality, starts, sizes), turn, -1.0).argmax(axis=0)
    feature = drawn[choice, nodes]
    on_line = quality.take(np.repeat(choice * width, sizes) + along)
    top = np.maximum.reduceat(on_line, starts)
    last_left = np.minimum.reduceat(np.where(on_line == np.repeat(top, sizes), along, width), starts)
    chosen = level.slots.take(np.repeat(feature * width, sizes) + along)
    parted = presorted.rank[feature, chosen[last_left] % presorted.n_rows]
    parted += presorted.rank[feature, chosen[np.minimum(last_left + 1, width - 1)] % presorted.n_rows]
    return _Splits(top, feature, parted // 2, last_left, chosen)


def _nearly_best(quality: Floats, starts: Ints, sizes: Ints) -> Mask:
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


def _ranks(presorted: Presorted, slots: Ints) -> Ints:
    return np.take_along_axis(presorted.rank, slots % presorted.n_rows, axis=1)


@dataclass(frozen=True, slots=True)
class _Born:
    """New nodes and their slots, node by node: of each node that was split its left child, then its right one."""

    slots: Ints
    sizes: Ints
    nodes: Ints
    trees: Ints
    right: Mask


def _children(level: _Level, splits: _Splits, first_child: int) -> _Born:
    chosen, to_left, sizes, trees = splits.chosen, splits.last_left - level.starts + 1, level.sizes, level.trees
    is_split = splits.quality >= 0
    if not is_split.all():
        chosen = chosen.take(np.flatnonzero(np.repeat(is_split, sizes)))
        to_left, sizes, trees = to_left[is_split], sizes[is_split], trees[is_split]
    both = np.stack([to_left, sizes - to_left], axis=1).reshape(-1)
    return _Born(
        chosen, both, first_child + np.arange(len(both)), np.repeat(trees, 2), np.tile([False, True], len(sizes))
    )


def _roots(presorted: Presorted, members: Mask) -> tuple[Ints, _Born]:
    """Return the slots of all trees along every code, sorted, and the roots."""
    n_trees, n_rows = members.shape
    flat = presorted.order.reshape(-1)
    lines = [
        flat.take(np.flatnonzero(member.take(flat))).reshape(presorted.n_codes, -1) + tree * n_rows
        for tree, member in enumerate(members)
    ]
    slots, trees = np.concatenate(lines, axis=1), np.arange(n_trees)
    return slots, _Born(slots[0], members.sum(axis=1), trees, trees, np.zeros(n_trees, dtype=np.bool_))


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

    Notes
    -----
    The split maximises ``n_l n_r / n * (mean_l - mean_r)**2``, for classification summed over class indicators, among
    places between two different values of a code. A node whose rows agree in the target, or in all codes, is a leaf.
    Cost: O(n_codes * members) per depth, in time and memory.

    Examples
    --------
    >>> from demele.estimation.presorted_codes import presort
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
    criterion: _Criterion
    if n_classes is None:
        criterion = _Variance(np.asarray(target, dtype=np.float64), n_trees)
    else:
        criterion = _Gini(np.asarray(target, dtype=np.intp), n_classes, presorted.n_codes, n_trees)
    slots, born = _roots(presorted, members)
    level = _Level(criterion.lines(slots), born.sizes, born.nodes, born.trees)

    table: list[dict[str, NDArray[Any]]] = []
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
        kept = np.concatenate([np.flatnonzero(mixed & ~born.right), np.flatnonzero(mixed & born.right)])
        if depth or not mixed.all():
            side = np.zeros(len(born.sizes), dtype=np.uint8)
            side[kept] = 1 + born.right[kept]
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
        born = _children(level, splits, n_nodes)
        n_nodes += 2 * len(at)

    columns = {name: np.concatenate([rows[name] for rows in table]) for name in table[0]}
    by_node = np.argsort(columns.pop("nodes"))
    return Trees(**{name: column[by_node] for name, column in columns.items()})
