"""Uniform audits of one classifier: bounds of the share of rows with a property in each cell."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.labelled import Indices, Labelled
from demele.core.proportions import normal_quantile, proportion
from demele.noise.audit import CodedAudit
from demele.noise.limits import hypergeometric_limit

Floats = NDArray[np.float64]

#: Accuracy on new instances, or on the instances of this test set with true labels.
AuditInference = Literal["population", "test_set"]

#: Of fewer audited rows, both ends of a cell's share are exact.
EXACT_BELOW = 100
#: Rows of each kind that the pooled shares count beside those seen.
HALF_ROW = 0.5


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows in cells; an unknown share of each cell has a property, which is known on a random sample.

    A measure is the proportion T / U, with T = ``T_0`` + sum of ``t`` x rows that have the property, and U likewise.
    Arrays of shape (..., n_cells), ``base`` of shape (..., 2) for T_0 and U_0; leading axes are separate problems.
    ``given`` is the share that the given labels show, 0 or 1. At most ``wrong`` rows contradict it, if that is known;
    ``unseen`` assumes the same of each cell.

    ``pooled`` is the share that audited rows of all classes make likely in a cell like this one. It counts as one row
    of the part of the cell that was not audited. Without it (None) a cell without an audited row counts as labelled.
    ``few`` says that so few rows were audited that both ends of a share must be exact.
    """

    size: Floats
    audited: Floats
    seen: Floats
    t: Floats
    u: Floats
    base: Floats
    given: Floats
    wrong: float = np.inf
    unseen: Floats | float = np.inf
    pooled: Floats | None = None
    few: bool = False

    def limited(self, wrong: int | None) -> "Cells":
        """Return the same where at most so many labels are wrong, if that is known."""
        return self if wrong is None else replace(self, wrong=wrong)

    def settled(self, most: NDArray[np.bool_]) -> "Cells":
        """Return the same with known shares in cells with an assumption: the largest or the least that it allows."""
        low, high = self.limits()
        rows = np.maximum(self.size, 1)
        low, high = np.maximum(low, self.seen / rows), np.minimum(high, 1 - (self.audited - self.seen) / rows)
        held = np.isfinite(self.unseen)
        seen = np.where(held, self.size * np.where(most, high, low), self.seen)
        return replace(self, audited=np.where(held, self.size, self.audited), seen=seen, unseen=np.inf)

    @property
    def share(self) -> Floats:
        """Estimated share of each cell: (seen + c pooled) / (audited + c), c = 1 - audited / size."""
        if self.pooled is None:
            share = np.where(self.audited > 0, self.seen / np.maximum(self.audited, 1), self.given)
        else:
            left = 1 - self.audited / np.maximum(self.size, 1)
            share = (self.seen + left * self.pooled) / np.maximum(self.audited + left, 1e-300)
        return np.clip(share, *self.limits())

    @property
    def totals(self) -> tuple[Floats, Floats]:
        """Estimates of T and of U."""
        rows = self.size * self.share
        return self.base[..., 0] + (self.t * rows).sum(axis=-1), self.base[..., 1] + (self.u * rows).sum(axis=-1)

    def limits(self) -> tuple[Floats, Floats]:
        """Shares that so few wrong labels allow."""
        reach = np.minimum(np.minimum(self.wrong, self.unseen) / np.maximum(self.size, 1), 1)
        return np.maximum(self.given - reach, 0), np.minimum(self.given + reach, 1)


def accuracy_cells(
    hits: ArrayLike, n: ArrayLike, audited_hits: ArrayLike, lost: ArrayLike, audited_misses: ArrayLike, won: ArrayLike
) -> Cells:
    """Split into rows whose label is the prediction and the others; the property is to be right."""
    h, rows, kh, x, km, w = np.broadcast_arrays(
        *(np.asarray(value, dtype=np.float64) for value in (hits, n, audited_hits, lost, audited_misses, won))
    )
    return Cells(
        size=np.stack([h, rows - h], axis=-1),
        audited=np.stack([kh, km], axis=-1),
        seen=np.stack([kh - x, w], axis=-1),
        t=np.array([1.0, 1.0]),
        u=np.array([0.0, 0.0]),
        base=np.stack([np.zeros_like(rows), rows], axis=-1),
        given=np.array([1.0, 0.0]),
    )


def _together(parts: list[Cells]) -> Cells:
    """Return the cells of several strata as those of all rows."""

    def flat(name: str) -> Floats:
        found: Floats = np.concatenate([np.broadcast_to(getattr(part, name), part.size.shape) for part in parts], -1)
        return found

    return replace(
        parts[0],
        **{name: flat(name) for name in ("size", "audited", "seen", "t", "u", "given", "unseen")},  # type: ignore[arg-type]
        base=np.sum([part.base for part in parts], axis=0),
        pooled=None if parts[0].pooled is None else flat("pooled"),
    )


def hit_cells(data: Labelled, audit: CodedAudit, model: int = 0) -> Cells:
    """Split, within each stratum of the audit, by whether the label is the prediction; the property is to be right."""
    hit = data.labels == data.predictions[model]
    right, was = audit.labels == data.predictions[model][audit.rows], hit[audit.rows]
    parts = []
    for rows, drawn in audit.strata:
        ok, had = right[drawn], was[drawn]
        counts = (hit[rows].sum(), rows.sum(), had.sum(), (had & ~ok).sum(), (~had).sum(), (~had & ok).sum())
        parts.append(accuracy_cells(*counts))
    if audit.unseen < 1:
        parts[-1] = replace(parts[-1], unseen=audit.unseen_rows(data.labels, data.k).max())
    return parts[0] if len(parts) == 1 else _together(parts)


def class_cells(data: Labelled, audit: CodedAudit, measure: str, model: int = 0) -> Cells:
    """Split by whether a row is predicted, and labelled, as a class; the property is to be truly of it.

    All classes at once, in the first axis: (n_classes, 4) cells, or the first two of them, predicted rows, for
    precision. O(n + n_classes).
    """
    parts = [_class_cells(data, audit, measure, model, *part) for part in audit.strata]
    if audit.unseen < 1:
        parts[-1] = replace(parts[-1], unseen=audit.unseen_rows(data.labels, data.k)[:, None])
    return parts[0] if len(parts) == 1 else _together(parts)


def _class_cells(
    data: Labelled, audit: CodedAudit, measure: str, model: int, rows: NDArray[np.bool_], drawn: NDArray[np.bool_]
) -> Cells:
    """Return the cells of one stratum."""
    predictions, labels, truth = data.predictions[model], data.labels, audit.labels[drawn]
    says, has = predictions[audit.rows][drawn], labels[audit.rows][drawn]
    # Of rows truly of a class: are they predicted, and are they labelled so?
    cell = np.where(says == truth, 0, 2) + np.where(has == truth, 0, 1)
    truly = np.bincount(np.int64(4) * truth + cell, minlength=4 * data.k).reshape(data.k, 4).astype(np.float64)
    agree = says == has
    pooled = pooled_shares(
        agree=np.count_nonzero(agree),
        right=np.count_nonzero(agree & (truth == has)),
        differ=np.count_nonzero(~agree),
        prediction_right=np.count_nonzero(~agree & (truth == says)),
        label_right=np.count_nonzero(~agree & (truth == has)),
        k=data.k,
    )
    size = fourfold(labels[rows], predictions[rows], data.k)
    return measure_cells(measure, size, fourfold(has, says, data.k), truly, pooled, few=audit.k < EXACT_BELOW)


def measure_cells(measure: str, size: Floats, audited: Floats, truly: Floats, pooled: Floats, *, few: bool) -> Cells:
    """Return the cells of a measure, from counts by :func:`fourfold` of shape (..., 4), and pooled shares."""
    none, n_predicted = np.zeros(size.shape[:-1]), size[..., 0] + size[..., 1]
    # Of a class that is nowhere predicted, labelled or found, nothing is known.
    somewhere = (size[..., :3].sum(axis=-1) > 0) | (truly.sum(axis=-1) > 0)
    pooled = np.where(somewhere[..., None], pooled, 0.0)
    t, given = np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    base = np.stack([none, none if measure == "recall" else n_predicted], axis=-1)
    u = {"precision": np.zeros(4), "recall": np.ones(4), "f1": 1 - t}[measure]
    of = slice(2) if measure == "precision" else slice(4)
    return Cells(
        size=size[..., of],
        audited=audited[..., of],
        seen=truly[..., of],
        t=t[of],
        u=u[of],
        base=base,
        given=given[of],
        pooled=pooled[..., of],
        few=few,
    )


def pooled_shares(
    *,
    agree: ArrayLike,
    right: ArrayLike,
    differ: ArrayLike,
    prediction_right: ArrayLike,
    label_right: ArrayLike,
    k: int,
) -> Floats:
    """Return how likely the audited rows of all classes make it that a row of each kind is truly of a class.

    Parameters
    ----------
    agree, right : int arrays of one shape
        Audited rows whose prediction is their label, and how many of these labels are right.
    differ, prediction_right, label_right : int arrays
        The other audited rows, and how often the prediction, or the label, is right.
    k : int
        Classes.

    Returns
    -------
    array of shape (..., 4)
        For rows predicted and labelled as a class, only predicted, only labelled so, neither; half a row of each
        outcome is added. A row whose prediction and label agree leaves k - 1 classes that are neither, another k - 2.

    Examples
    --------
    >>> pooled_shares(agree=80, right=79, differ=20, prediction_right=9, label_right=10, k=10).round(4)
    array([0.9815, 0.4524, 0.5   , 0.0028])
    """
    rows, hits, others, says, has = (
        np.asarray(value, dtype=np.float64) for value in (agree, right, differ, prediction_right, label_right)
    )
    events = (rows - hits) + (others - says - has)
    open_classes = rows * (k - 1) + others * (k - 2)
    h = HALF_ROW
    return np.stack(
        [
            (h + hits) / (2 * h + rows),
            (h + says) / (2 * h + others),
            (h + has) / (2 * h + others),
            (h + events) / (2 * h + open_classes),
        ],
        axis=-1,
    )


def fourfold(labels: Indices, predictions: Indices, k: int) -> Floats:
    """Rows of each class that are predicted and labelled so, only predicted, only labelled, neither; (k, 4)."""
    both = np.bincount(labels[labels == predictions], minlength=k)
    says, has = np.bincount(predictions, minlength=k), np.bincount(labels, minlength=k)
    return np.stack([both, says - both, has - both, labels.size - says - has + both], axis=-1).astype(np.float64)


def cell_interval(
    cells: Cells, *, level: float, exact: bool, inference: AuditInference, effect: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Interval of T / U; leading axes of the cells are kept. ``effect``: as in :func:`inverted`, if not exact."""
    if exact:
        return _exact_interval(cells, level, inference)
    if np.isfinite(cells.unseen).any():
        # What is assumed is no sample: an end holds for the worst that it allows, if that is nearer than what is seen.
        known: dict[str, Any] = {"level": level, "exact": exact, "inference": inference, "effect": effect}
        low, high = cell_interval(replace(cells, unseen=np.inf), **known)
        worst, best = (cell_interval(cells.settled(most), **known) for most in (cells.t <= 0, cells.t > 0))
        return np.fmax(low, worst[0]), np.fmin(high, best[1])
    tail = (1 - level) / 2
    limits, share = cells.limits(), cells.share
    low, high = (np.clip(end, *limits) for end in _share_bounds(cells, tail))
    # A pooled share may lie outside the bounds of what its own cell shows.
    low, high = np.minimum(low, share), np.maximum(high, share)
    below, above = cells.size * (share - low), cells.size * (high - share)

    def distance(theta: Floats, side: int) -> Floats:
        """Squared distance that T - theta U may lie below (side 1) or above (side -1) its estimate."""
        slope = cells.t - theta[..., None] * cells.u
        reach = np.where(side * slope > 0, below, above) * slope
        squared: Floats = (reach**2).sum(axis=-1)
        return squared

    ends = inverted(*cells.totals, distance, tail if inference == "population" else None, effect=effect)
    if cells.pooled is None:
        return ends
    likeliest = _likeliest(cells)
    return np.minimum(ends[0], np.fmin(ends[0], likeliest[0])), np.maximum(ends[1], np.fmax(ends[1], likeliest[1]))


def _likeliest(cells: Cells) -> tuple[Floats, Floats]:
    """Least and largest value of T / U that makes the audit likeliest: a cell without an audited row has any share.

    Where no error is seen at all, all rows may be right; distances in quadrature from pooled centres stop short of it.
    """
    limits = cells.limits()
    seen = np.where(cells.audited > 0, cells.seen / np.maximum(cells.audited, 1), np.nan)
    ends = []
    for free in (0.0, 1.0):
        # What raises T raises T / U; what raises U alone lowers it.
        share = np.clip(np.where(np.isnan(seen), np.where(cells.t > 0, free, 1 - free), seen), *limits)
        t, u = ((cells.size * share * slope).sum(axis=-1) for slope in (cells.t, cells.u))
        ends.append(proportion(cells.base[..., 0] + t, cells.base[..., 1] + u))
    return ends[0], ends[1]


def inverted(
    t_hat: Floats, u_hat: Floats, distance: Any, tail: float | None, *, effect: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Return the values of T / U that are not rejected: |T - theta U| within the distance, and the sampling of rows.

    On new instances T - theta U has variance U theta (1 - theta), because each row of U is one trial; ``effect`` times
    that where rows come in groups.
    """
    z2 = 0.0 if tail is None else effect * normal_quantile(1 - tail) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.clip(t_hat / u_hat, 0, 1)
    ends = []
    for side, far in ((1, 0.0), (-1, 1.0)):
        inside, outside = centre.copy(), np.full_like(centre, far)
        for _ in range(50):
            middle = (inside + outside) / 2
            gap = side * (t_hat - middle * u_hat)
            kept = gap <= np.sqrt(distance(middle, side) + z2 * u_hat * middle * (1 - middle))
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        # Values are searched between the estimate and the end of the scale; if nothing is rejected, the end is met.
        ends.append(np.where(np.abs(inside - far) < 1e-12, far, inside))
    return np.where(u_hat > 0, ends[0], np.nan), np.where(u_hat > 0, ends[1], np.nan)


def _share_bounds(cells: Cells, tail: float) -> tuple[Floats, Floats]:
    """Bounds of each cell's share; a cell audited wholly is known, one not audited at all may be anything.

    Counts are divided by the share of the cell that was not audited. Of an accuracy: Jeffreys' bounds. Of a class, with
    pooled shares: Clopper and Pearson's on the side of the rarer outcome, where Jeffreys' bound of a single event is
    too near to be multiplied by a large cell, and Jeffreys' on the other; with few audited rows exact on both.
    """
    from scipy.special import betaincinv

    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1 - cells.audited / cells.size
        scale = np.where(left > 0, 1 / left, 1.0)
        x, k = cells.seen * scale, cells.audited * scale
        low, high = (betaincinv(x + 0.5, k - x + 0.5, error) for error in (tail, 1 - tail))
        if cells.pooled is not None:
            rare = cells.seen <= cells.audited / 2
            low = np.where(rare | cells.few, betaincinv(x, k - x + 1, tail), low)
            high = np.where(~rare | cells.few, betaincinv(x + 1, k - x, 1 - tail), high)
    low, high = np.where(x <= 0, 0.0, low), np.where(x >= k, 1.0, high)
    known = (cells.audited >= cells.size) & (cells.audited > 0)
    low, high = np.where(known, cells.share, low), np.where(known, cells.share, high)
    none = cells.audited <= 0
    return np.where(none, 0.0, low), np.where(none, 1.0, high)


def _exact_interval(cells: Cells, level: float, inference: AuditInference) -> tuple[Floats, Floats]:
    """Hypergeometric bounds of every cell at a share of the error; then exact bounds for new instances."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    parts = cells.size.shape[-1] + (1 if inference == "population" else 0)
    each = tail / parts
    size, audited, seen = (np.rint(values).astype(np.int64) for values in (cells.size, cells.audited, cells.seen))
    most = hypergeometric_limit(size, audited, seen, each)
    least = size - hypergeometric_limit(size, audited, audited - seen, each)
    few, many = (np.rint(end * size).astype(np.int64) for end in cells.limits())
    most, least = np.clip(most, few, many), np.clip(least, few, many)

    def total(count: NDArray[np.int64], other: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """T and U where the cells of T have ``count`` rows and those of U alone have ``other``."""
        has = np.where(cells.t > 0, count, other)
        return (
            cells.base[..., 0] + (cells.t * has).sum(axis=-1),
            cells.base[..., 1] + (cells.u * has).sum(axis=-1),
        )

    ends = []
    for (t, u), side in ((total(least, most), 0), (total(most, least), 1)):
        if inference == "test_set":
            ends.append(proportion(t, u))
        elif side == 0:
            ends.append(np.where(t <= 0, 0.0, betaincinv(np.maximum(t, 1), np.maximum(u - t + 1, 1), each)))
        else:
            ends.append(np.where(t >= u, 1.0, betaincinv(t + 1, np.maximum(u - t, 1), 1 - each)))
    return np.minimum(ends[0], 1), np.minimum(ends[1], 1)
