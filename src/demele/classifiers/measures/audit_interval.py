"""One measure of one classifier, from the given labels of all rows and an expert's labels of a random sample."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from demele.classifiers.intervals import Guard, SampledSum, lower_bound, upper_bound
from demele.classifiers.question import as_value
from demele.classifiers.row_groups import Groups, corrected_effect, row_counts
from demele.core.arrays import Counts, Flags, Floats, Rows
from demele.core.checked_numbers import checked_count, checked_whole
from demele.core.errors import InputError
from demele.core.kinds import Level, checked
from demele.core.labelled import Indices, Labelled
from demele.core.names import renamed
from demele.core.proportions import normal_quantile, proportion
from demele.core.results import Interval, Note
from demele.noise.audit import CodedAudit
from demele.noise.transition import hypergeometric_limit

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

    def settled(self, most: Flags) -> "Cells":
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


def _class_cells(data: Labelled, audit: CodedAudit, measure: str, model: int, rows: Flags, drawn: Flags) -> Cells:
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

    def total(count: Counts, other: Counts) -> tuple[Floats, Floats]:
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


# One measure of one classifier, from the given labels of all rows and an expert's labels of a random sample -----------


#: Classes times audited rows looked at together, so that memory stays bounded.
VALUES_AT_ONCE = 1 << 20

#: Wider intervals of a recall are explained, for classes that a label or a prediction gives to at most so many rows.
WIDE, RARE = 0.2, 0.2

_METHODS = {False: "audit strata, Jeffreys bounds in quadrature", True: "audit strata, exact bounds"}
_OF_CLASSES = "audit strata, pooled centres, exact ends of rare shares, in quadrature"


@renamed(target="inference")
@checked
def audit_interval(
    hits: int,
    n: int,
    audited_hits: int,
    lost: int,
    audited_misses: int,
    won: int,
    *,
    level: Level = 0.95,
    wrong: int | None = None,
    exact: bool = False,
    inference: AuditInference = "population",
) -> Interval:
    """Interval of an accuracy from noisy labels of all rows and a uniform audit of some.

    Parameters
    ----------
    hits, n : int
        Rows whose given label is the prediction, of so many. For the precision of a class, count among the rows
        predicted so.
    audited_hits, lost : int
        Audited rows among the hits, and how many of them the expert takes away.
    audited_misses, won : int
        Audited rows among the others, and how many of them the expert makes hits.
    level : float in (0, 1)
    wrong : int, optional
        At most so many of the ``n`` given labels are wrong, if that is known. The interval then stays between the ends
        of the score intervals of ``hits - wrong`` and ``hits + wrong`` of ``n``.
    exact : bool
        Guarantee the level whatever the numbers, at the price of width. Otherwise the coverage is about the level
        (measured: 92.5% in the worst of 120 cells for a nominal 95%, from 1 to 20% noise and from 50 audited rows).
    inference : {"population", "test_set"}
        Accuracy on new instances (``kind="sampling"``), or on these rows with true labels (``kind="design"``).

    Returns
    -------
    Interval
        Within [0, 1].

    Raises
    ------
    InputError, InputTypeError
        If the counts contradict each other.

    Notes
    -----
    With h hits, lost rate l and won rate w, the accuracy is [h (1 - l) + (n - h) w] / n. The two rates come from
    separate random samples: each gets Jeffreys bounds, corrected for the finite stratum, and the distances are combined
    in quadrature. Jeffreys bounds are narrower than Wilson's where errors are few, and cover more evenly. The exact
    variant takes hypergeometric bounds, and Clopper and Pearson's for new instances. The usual normal interval has
    width zero when the audit meets no error.

    Examples
    --------
    >>> print(audit_interval(900, 1000, 180, 4, 20, 3))
    [0.862, 0.922]
    >>> print(audit_interval(900, 1000, 180, 4, 20, 3, inference="test_set"))
    [0.870, 0.916]
    """
    for name, value, least in (("n", n, 1), ("hits", hits, 0)):
        checked_count(value, name, least)
    for name, value, most, what in (
        ("hits", hits, n, "n"),
        ("audited_hits", audited_hits, hits, "hits"),
        ("lost", lost, audited_hits, "audited_hits"),
        ("audited_misses", audited_misses, n - hits, "n - hits"),
        ("won", won, audited_misses, "audited_misses"),
        ("wrong", 0 if wrong is None else wrong, n, "n"),
    ):
        expected = f"a count between 0 and {what} = {most}"
        checked_whole(value, name, expected, inside=lambda count, most=most: 0 <= count <= most)  # type: ignore[misc]
    if wrong is not None and lost + won > wrong:
        raise InputError("wrong", f"at most {wrong} labels are said to be wrong, but the audit shows {lost + won}")
    cells = accuracy_cells(hits, n, audited_hits, lost, audited_misses, won).limited(wrong)
    low, high = cell_interval(cells, level=level, exact=exact, inference=inference)
    kind = "sampling" if inference == "population" else "design"
    return Interval(low=float(low), high=float(high), level=level, method=_METHODS[exact], kind=kind)


def audited_estimate(
    data: Labelled,
    audit: CodedAudit,
    measure: str,
    of: int | str | None,
    level: float,
    *,
    inference: AuditInference = "population",
    model: int = 0,
    wrong: int | None = None,
    groups: Groups | None = None,
) -> tuple[float, Interval]:
    """Estimate a correct measure of one model from a random audit, with its interval.

    Parameters
    ----------
    data : Labelled
        Given labels and predictions.
    audit : CodedAudit
        Of design ``"uniform"``, ``"stratified"`` or ``"weighted"``.
    measure : {"accuracy", "error", "precision", "recall", "f1"}
    of : int, str or None
        Index of a class for the last three, or ``"macro"``, ``"weighted"`` (by the estimated number of true instances)
        or ``"micro"``; None for accuracy and error.
    level : float in (0, 1)
    inference : {"population", "test_set"}
        On new instances, or on these rows with true labels.
    model : int
        Row of ``data.predictions``.
    wrong : int, optional
        At most so many of the given labels are wrong, if that is known.
    groups : Groups, optional
        Which rows come together, where new instances are asked for; None: they come apart.

    Returns
    -------
    value, interval
        NaN where nothing can be estimated: a class that is neither predicted nor, as far as is known, true.

    Raises
    ------
    InputError
        For a selective audit: rows that were chosen for a reason do not represent the others.

    Notes
    -----
    Uniform audits: rows are split by whether they are predicted, and whether they are labelled, as the class, which
    makes four cells. Of N rows of a cell, k were audited and x of these are truly of the class; the share of the cell
    is taken to be (x + c m) / (k + c), with c = 1 - k / N and m the share that the audited rows of all classes make
    likely in such a cell (:func:`pooled_shares`). The end of its bounds on the
    side of the rarer outcome is Clopper and Pearson's, the other one Jeffreys'; with fewer than 100 audited rows both
    are Clopper and Pearson's. The interval is widened to hold every value that makes the audit likeliest. Accuracy has
    two cells with Jeffreys' bounds, without a pooled share. Stratified audits have these cells in each stratum; in the
    last one, no share exceeds ``audit.unseen`` where a class has no label there.

    Weighted audits: difference estimator; the losses and the gains get the bounds of
    :mod:`demele.classifiers.intervals`, which allow for an unseen row as heavy as the heaviest audited one. Rows that
    were not drawn may be heavier, but their probabilities are not known.

    Both find the values that are not rejected, with the distances combined in quadrature. The ends of an average are
    the averages of the ends, which covers more than the level.
    """
    if audit.design == "selective":
        raise InputError(
            "audit", "its rows were chosen for a reason; give an audit of rows drawn at random (`draw_audit()`)"
        )
    kind = "sampling" if inference == "population" else "design"
    one_number = of == "micro" or measure in ("accuracy", "error")
    known: dict[str, Any] = {"inference": inference, "model": model, "wrong": wrong, "groups": groups}
    found = np.stack(audited_ends(data, audit, "accuracy" if one_number else measure, level, **known), axis=-1)
    if not one_number and isinstance(of, str):
        weights = np.ones(data.k) if of == "macro" else _true_shares(data, audit)
        defined = np.isfinite(found).all(axis=1) & (weights > 0)
        found = np.average(found[defined], axis=0, weights=weights[defined]) if defined.any() else np.full(3, np.nan)
    elif not one_number:
        found = found[int(of or 0)]
    value, low, high = (float(end) for end in found)
    if measure == "error":
        value, low, high = 1 - value, 1 - high, 1 - low
    method = _METHODS[False] if one_number else _OF_CLASSES
    if audit.design == "weighted":
        method = "weighted audit, binomial bounds in quadrature"
    return value, Interval(low=low, high=high, level=level, method=method, kind=kind)


def audited_ends(
    data: Labelled,
    audit: CodedAudit,
    measure: str,
    level: float,
    *,
    inference: AuditInference = "population",
    model: int = 0,
    wrong: int | None = None,
    groups: Groups | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Estimate the accuracy, or precision, recall or F1 of every class, as :func:`audited_estimate` does.

    Returns
    -------
    value, low, high : arrays of shape () for accuracy, else (n_classes,)
        NaN where nothing can be estimated.
    """
    known: dict[str, Any] = {"model": model, "wrong": wrong}
    effect: Floats | float = 1.0
    if groups is not None and inference == "population":  # the design effect on true labels
        value = audited_ends(data, audit, measure, level, **known)[0]
        correct = np.atleast_1d(value / (2 - value) if measure == "f1" else value)
        share = min(audit.wrong_labels(data.labels) / data.n, 1.0)
        classes: Iterable[int | None] = [None] if measure == "accuracy" else range(data.k)
        effects = [
            corrected_effect(
                *row_counts(data, measure, one, model), groups, wrong=share, correct=float(value), level=level
            )
            for one, value in zip(classes, correct, strict=True)
        ]
        effect = effects[0] if measure == "accuracy" else np.array(effects)
    ends: tuple[Floats, ...]
    known = {"level": level, "inference": inference}
    if audit.design != "weighted":
        cells = hit_cells(data, audit, model) if measure == "accuracy" else class_cells(data, audit, measure, model)
        cells = cells.limited(wrong)
        ends = proportion(*cells.totals), *cell_interval(cells, exact=False, effect=effect, **known)
    elif measure == "accuracy":
        sample = weighted_sample(data, audit, measure, None, model)
        ends = sample.value, *weighted_interval(sample, wrong=wrong, effect=effect, **known)
    else:
        blocks, effect = [], np.broadcast_to(effect, (data.k,))
        step = max(1, VALUES_AT_ONCE // audit.k)
        for first in range(0, data.k, step):
            some = np.arange(first, min(first + step, data.k))
            sample = weighted_sample(data, audit, measure, some, model)
            blocks.append((sample.value, *weighted_interval(sample, wrong=wrong, effect=effect[some], **known)))
        ends = tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))
    value, low, high = (as_value(end, measure) for end in ends)
    return value, low, high


def unseen_notes(
    data: Labelled, audit: CodedAudit, of: int, level: float, inference: AuditInference
) -> tuple[Note, ...]:
    """Say why the recall of a rare class is left open, and how its interval depends on rows that nobody calls so."""
    name, said = data.vocabulary.classes[of], (data.labels == of) | (data.predictions == of).any(axis=0)
    now = audited_estimate(data, audit, "recall", of, level, inference=inference)[1]
    if audit.design == "weighted" or not now.high - now.low > WIDE or said.mean() > RARE:
        return ()
    if audit.within is None:
        message = (
            f"the recall of {name!r} is between {now}: of {said.sum():,} rows that a label or a prediction calls so, "
            f"{said[audit.rows].sum()} were audited. Draw half of the rows among these "
            "(`draw_audit(within=)`)"
        )
    else:
        rest, drawn = audit.strata[-1]
        if audit.unseen < 1 or said[rest].any() or (audit.labels[drawn] == of).any():
            return ()
        known = (replace(audit, unseen=most) for most in (0.005, 0.0))
        few, none = (audited_estimate(data, one, "recall", of, level, inference=inference)[1] for one in known)
        message = (
            f"the recall of {name!r} is between {now}, for {rest.sum():,} rows that no label or prediction calls so "
            f"may hold some; {drawn.sum()} were audited, none is {name!r}. If at most 1 in 200 is, it is {few}; "
            f"if none is, {none}. Where that can be assumed, give `unseen_positives=`"
        )
    return (Note(code="rare-class", message=message, subject=(str(name),)),)


def _true_shares(data: Labelled, audit: CodedAudit) -> Floats:
    """Estimated number of instances truly of each class: those labelled so, and what the audit changes."""
    weight = 1 / audit.inclusion
    was = np.bincount(data.labels[audit.rows], weights=weight, minlength=data.k)
    found = np.bincount(audit.labels, weights=weight, minlength=data.k)
    shares: Floats = np.maximum(np.bincount(data.labels, minlength=data.k) + found - was, 0.0)
    return shares


# --- weighted audits: totals of rows drawn with unequal probabilities -----------------------------------------------


@dataclass(frozen=True, slots=True)
class WeightedSample:
    """Rows drawn with unequal probabilities, and by how much each changes T and U of a measure T / U.

    Attributes
    ----------
    t_given, u_given : arrays of shape (...,)
        T and U by the given labels of all rows.
    t_change, u_change : arrays of shape (..., n_drawn)
        What the expert's label of each drawn row adds to these, in {-1, 0, 1}.
    inclusion : array of shape (n_drawn,) or (..., n_drawn)
        Probability that the row was to be drawn.
    """

    t_given: Floats
    u_given: Floats
    t_change: Floats
    u_change: Floats
    inclusion: Floats

    @property
    def totals(self) -> tuple[Floats, Floats]:
        """Difference estimators of T and of U."""
        weight = 1 / self.inclusion
        t, u = (weight * self.t_change).sum(axis=-1), (weight * self.u_change).sum(axis=-1)
        return self.t_given + t, self.u_given + u

    @property
    def value(self) -> Floats:
        """Estimate of T / U, in [0, 1]; NaN where U is not positive."""
        return np.clip(proportion(*self.totals), 0, 1)


def weighted_sample(data: Labelled, audit: CodedAudit, measure: str, of: Rows | None, model: int = 0) -> WeightedSample:
    """Take a measure of some classes (leading axis), or the accuracy (``of`` None), from an audit."""
    predictions, given = data.predictions[model], data.labels[audit.rows]
    predicted = predictions[audit.rows]
    if of is None:
        same = predictions == data.labels
        change = (predicted == audit.labels).astype(np.float64) - same[audit.rows]
        return WeightedSample(
            np.asarray(float(same.sum())), np.asarray(float(data.n)), change, np.zeros(audit.k), audit.inclusion
        )
    four = fourfold(data.labels, predictions, data.k)[of]
    trials = {"precision": (0, 1), "recall": (0, 2), "f1": (0, 1, 2)}[measure]
    t_was, u_was = _proportion(given, predicted, measure, of)
    t_is, u_is = _proportion(audit.labels, predicted, measure, of)
    return WeightedSample(four[:, 0], four[:, list(trials)].sum(axis=-1), t_is - t_was, u_is - u_was, audit.inclusion)


def _proportion(labels: Indices, predictions: Indices, measure: str, of: Rows) -> tuple[Floats, Floats]:
    """Per class and row, its share of T and of U."""
    predicted, labelled = predictions == of[:, None], labels == of[:, None]
    trials = {"precision": predicted, "recall": labelled, "f1": predicted | labelled}[measure]
    return (predicted & labelled).astype(np.float64), trials.astype(np.float64)


def weighted_interval(
    sample: WeightedSample,
    *,
    level: float,
    inference: AuditInference,
    wrong: int | None = None,
    effect: Floats | float = 1.0,
) -> tuple[Floats, Floats]:
    """Interval of T / U: the values that the audit does not reject; leading axes of the sample are kept.

    Losses and gains get the bounds of :mod:`demele.classifiers.intervals`, with one unseen row as heavy as the heaviest
    drawn one. Rows that were not drawn may be heavier, up to one over the least probability of the design, but only the
    probabilities of drawn rows are known.
    """
    tail = (1 - level) / 2
    weight = 1 / sample.inclusion
    guard = Guard(weight.max(axis=-1), np.ones(weight.shape[:-1]))

    def distance(theta: Floats, side: int) -> Floats:
        change = side * (sample.t_change - theta[..., None] * sample.u_change)
        squared = np.zeros_like(theta)
        for index, amount in enumerate((np.maximum(change, 0), np.maximum(-change, 0))):
            square = amount**2 * weight
            y = (amount * weight).sum(axis=-1)
            seen = SampledSum(y, (square * (weight - 1)).sum(axis=-1), square.sum(axis=-1))
            if index == 0:
                squared += (y - np.maximum(lower_bound(seen, tail), amount.sum(axis=-1))) ** 2
                continue
            high = upper_bound(seen, guard, tail)
            high = high if wrong is None else np.minimum(high, np.maximum(wrong, y))  # each moves it by 1 at most
            squared += (high - y) ** 2
        return squared

    return inverted(*sample.totals, distance, tail if inference == "population" else None, effect=effect)
