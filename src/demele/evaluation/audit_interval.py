"""One measure of one classifier, from the given labels of all rows and an expert's labels of a random sample."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.errors import InputError, InputTypeError
from demele.core.labelled import Labelled
from demele.core.results import Interval
from demele.evaluation.comparison.base import as_value
from demele.evaluation.intervals import checked_level, normal_quantile

if TYPE_CHECKING:
    from demele.labels.audit import CodedAudit

__all__ = ["AuditTarget", "audit_interval", "audited_estimate", "total_bounds"]

Floats = NDArray[np.float64]

#: Accuracy on new instances, or on the instances of this test set with right labels.
AuditTarget = Literal["population", "sample"]

_METHODS = {False: "audit strata, Jeffreys bounds in quadrature", True: "audit strata, exact bounds"}


def audit_interval(
    hits: int,
    n: int,
    audited_hits: int,
    lost: int,
    audited_misses: int,
    won: int,
    *,
    level: float = 0.95,
    wrong: int | None = None,
    exact: bool = False,
    target: AuditTarget = "population",
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
        (measured: at least 93% for a nominal 95%, from 1 to 20% noise and from 50 audited rows).
    target : {"population", "sample"}
        Accuracy on new instances (``kind="sampling"``), or on these rows with right labels (``kind="design"``).

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
    >>> print(audit_interval(900, 1000, 180, 4, 20, 3, target="sample"))
    [0.870, 0.916]
    """
    level = checked_level(level)
    if target not in get_args(AuditTarget):
        raise InputError(f"target: expected 'population' or 'sample', got {target!r}")
    values = {"hits": hits, "n": n, "audited_hits": audited_hits, "lost": lost}
    values |= {"audited_misses": audited_misses, "won": won}
    values |= {} if wrong is None else {"wrong": wrong}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise InputTypeError(f"{name}: expected a count, got {value!r}")
    for name, most, what in (
        ("hits", n, "n"),
        ("audited_hits", hits, "hits"),
        ("lost", audited_hits, "audited_hits"),
        ("audited_misses", n - hits, "n - hits"),
        ("won", audited_misses, "audited_misses"),
        *((("wrong", n, "n"),) if wrong is not None else ()),
    ):
        if not 0 <= values[name] <= most:
            raise InputError(f"{name}: expected a count between 0 and {what} = {most}, got {values[name]}")
    if n < 1:
        raise InputError(f"n: expected at least 1 row, got {n}")
    if wrong is not None and lost + won > wrong:
        raise InputError(f"wrong: at most {wrong} labels are said to be wrong, but the audit shows {lost + won}")
    cells = replace(accuracy_cells(hits, n, audited_hits, lost, audited_misses, won), wrong=wrong)
    low, high = cell_interval(cells, level=level, exact=exact, target=target)
    kind = "sampling" if target == "population" else "design"
    return Interval(low=float(low), high=float(high), level=level, method=_METHODS[exact], kind=kind)


def audited_estimate(
    data: Labelled,
    audit: "CodedAudit",
    measure: str,
    of: int | str | None,
    level: float,
    *,
    target: AuditTarget = "population",
    model: int = 0,
    wrong: int | None = None,
) -> tuple[float, Interval]:
    """Estimate a correct measure of one model from a random audit, with its interval.

    Parameters
    ----------
    data : Labelled
        Given labels and predictions.
    audit : CodedAudit
        Of design ``"uniform"`` or ``"weighted"``.
    measure : {"accuracy", "error", "precision", "recall", "f1"}
    of : int, str or None
        Index of a class for the last three, or ``"macro"``, ``"weighted"`` (by the estimated number of true instances)
        or ``"micro"``; None for accuracy and error.
    level : float in (0, 1)
    target : {"population", "sample"}
        On new instances, or on these rows with right labels.
    model : int
        Row of ``data.predictions``.
    wrong : int, optional
        At most so many of the given labels are wrong, if that is known.

    Returns
    -------
    value, interval
        NaN where nothing can be estimated: a class that is neither predicted nor, as far as is known, true.

    Raises
    ------
    InputError
        For a selective audit: rows that were chosen for a reason say nothing of the others.

    Notes
    -----
    Uniform audits: rows are split by whether they are predicted, and whether they are labelled, as the class; each cell
    gets Jeffreys bounds of its share of true instances. Weighted audits: difference estimator; the losses and the gains
    get gamma bounds (Fay and Feuer 1997), which allow for one unseen row of the largest weight. Both find the values
    that are not rejected, with the distances combined in quadrature. The ends of an average are the averages of the
    ends, which covers more than the level.
    """
    level = checked_level(level)
    if audit.design == "selective":
        raise InputError(
            "audit: its rows were chosen for a reason (design 'selective'), so they say nothing of the other rows; "
            "give an audit of rows drawn at random (demele.labels.draw_audit)"
        )
    kind = "sampling" if target == "population" else "design"
    if of == "micro" or measure in ("accuracy", "error"):
        value, low, high = _one(data, audit, "accuracy", None, level, target, model, wrong)
        if measure == "error":
            value, low, high = 1 - value, 1 - high, 1 - low
    elif isinstance(of, str):
        found = np.array([_one(data, audit, measure, k, level, target, model, wrong) for k in range(data.k)])
        weights = np.ones(data.k) if of == "macro" else _true_shares(data, audit)
        known = np.isfinite(found).all(axis=1) & (weights > 0)
        if not known.any():
            value, low, high = math.nan, math.nan, math.nan
        else:
            value, low, high = (float(end) for end in np.average(found[known], axis=0, weights=weights[known]))
    else:
        value, low, high = _one(data, audit, measure, of, level, target, model, wrong)
    method = _METHODS[False] if audit.design == "uniform" else "weighted audit, gamma bounds in quadrature"
    return value, Interval(low=low, high=high, level=level, method=method, kind=kind)


# --- uniform audits: cells of rows, of each of which a random sample is audited ---------------------------------------


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows in cells; in each an unknown share has a property, of which a random sample is known.

    A measure is the proportion T / U, with T = ``T_0`` + sum of ``t`` x rows that have the property, and U likewise.
    Arrays of shape (..., n_cells), ``base`` of shape (..., 2) for T_0 and U_0; leading axes are separate problems.
    ``given`` is the share that the given labels show, which at most ``wrong`` rows contradict, if that is known.
    """

    size: Floats
    audited: Floats
    seen: Floats
    t: Floats
    u: Floats
    base: Floats
    given: Floats
    wrong: "float | NDArray[Any] | None" = None

    @property
    def share(self) -> Floats:
        """Estimated share of each cell; what the given labels say where none is audited."""
        share = np.where(self.audited > 0, self.seen / np.maximum(self.audited, 1), self.given)
        return np.clip(share, *self.limits())

    def limits(self) -> tuple[Floats, Floats]:
        """Shares that so few wrong labels allow."""
        if self.wrong is None:
            return np.zeros_like(self.size), np.ones_like(self.size)
        reach = np.minimum(self.wrong / np.maximum(self.size, 1), 1)
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


def class_cells(data: Labelled, audit: "CodedAudit", measure: str, of: int, model: int) -> Cells:
    """Split by whether a row is predicted, and labelled, as a class; the property is to be truly of it."""
    predicted, labelled = data.predictions[model] == of, data.labels == of
    cell = np.where(predicted, 0, 2) + np.where(labelled, 0, 1)
    size = np.bincount(cell, minlength=4).astype(np.float64)
    audited = np.bincount(cell[audit.rows], minlength=4).astype(np.float64)
    seen = np.bincount(cell[audit.rows][audit.labels == of], minlength=4).astype(np.float64)
    n_predicted = size[0] + size[1]
    if measure == "precision":
        base, given = np.array([0.0, n_predicted]), np.array([1.0, 0.0])
        return Cells(size[:2], audited[:2], seen[:2], np.ones(2), np.zeros(2), base, given)
    t, given = np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    if measure == "recall":
        return Cells(size, audited, seen, t, np.ones(4), np.zeros(2), given)
    return Cells(size, audited, seen, t, 1 - t, np.array([0.0, n_predicted]), given)


def cell_interval(cells: Cells, *, level: float, exact: bool, target: AuditTarget) -> tuple[Floats, Floats]:
    """Interval of T / U; leading axes of the cells are kept."""
    if exact:
        return _exact_interval(cells, level, target)
    tail = (1 - level) / 2
    limits, share = cells.limits(), cells.share
    low, high = (np.clip(end, *limits) for end in _jeffreys(cells, tail))
    below, above = cells.size * (share - low), cells.size * (high - share)
    t_hat = cells.base[..., 0] + (cells.t * cells.size * share).sum(axis=-1)
    u_hat = cells.base[..., 1] + (cells.u * cells.size * share).sum(axis=-1)

    def distance(theta: Floats, side: int) -> Floats:
        """Squared distance that T - theta U may lie below (side 1) or above (side -1) its estimate."""
        slope = cells.t - theta[..., None] * cells.u
        reach = np.where(side * slope > 0, below, above) * slope
        squared: Floats = (reach**2).sum(axis=-1)
        return squared

    return _inverted(t_hat, u_hat, distance, tail if target == "population" else None)


def _inverted(t_hat: Floats, u_hat: Floats, distance: Any, tail: float | None) -> tuple[Floats, Floats]:
    """Return the values of T / U that are not rejected: |T - theta U| within the distance, and the sampling of rows.

    On new instances T - theta U has variance U theta (1 - theta), because each row of U is one trial.
    """
    z2 = 0.0 if tail is None else normal_quantile(1 - tail) ** 2
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


def _jeffreys(cells: Cells, tail: float) -> tuple[Floats, Floats]:
    """Jeffreys bounds of each cell's share; a cell audited wholly is known, one not audited at all may be anything."""
    from scipy.special import betaincinv

    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1 - cells.audited / cells.size
        scale = np.where(left > 0, 1 / left, 1.0)
        x, k = cells.seen * scale, cells.audited * scale
        low = np.where(x <= 0, 0.0, betaincinv(x + 0.5, k - x + 0.5, tail))
        high = np.where(x >= k, 1.0, betaincinv(x + 0.5, k - x + 0.5, 1 - tail))
    known = (cells.audited >= cells.size) & (cells.audited > 0)
    low, high = np.where(known, cells.share, low), np.where(known, cells.share, high)
    none = cells.audited <= 0
    return np.where(none, 0.0, low), np.where(none, 1.0, high)


def _exact_interval(cells: Cells, level: float, target: AuditTarget) -> tuple[Floats, Floats]:
    """Hypergeometric bounds of every cell at a share of the error; then exact bounds for new instances."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    parts = cells.size.shape[-1] + (1 if target == "population" else 0)
    each = tail / parts
    size, audited, seen = (np.rint(values).astype(np.int64) for values in (cells.size, cells.audited, cells.seen))
    most = hypergeometric_upper(size, audited, seen, each)
    least = size - hypergeometric_upper(size, audited, audited - seen, each)
    few, many = (np.rint(end * size).astype(np.int64) for end in cells.limits())
    most, least = np.clip(most, few, many), np.clip(least, few, many)

    def total(count: NDArray[np.int64], other: NDArray[np.int64], of_t: bool) -> tuple[Floats, Floats]:
        """T and U where the cells of T have ``count`` rows and those of U alone have ``other``."""
        has = np.where(cells.t > 0, count, other)
        return (
            cells.base[..., 0] + (cells.t * has).sum(axis=-1),
            cells.base[..., 1] + (cells.u * has).sum(axis=-1),
        )

    ends = []
    for (t, u), side in ((total(least, most, True), 0), (total(most, least, True), 1)):
        if target == "sample":
            with np.errstate(divide="ignore", invalid="ignore"):
                ends.append(np.where(u > 0, t / u, np.nan))
        elif side == 0:
            ends.append(np.where(t <= 0, 0.0, betaincinv(np.maximum(t, 1), np.maximum(u - t + 1, 1), each)))
        else:
            ends.append(np.where(t >= u, 1.0, betaincinv(t + 1, np.maximum(u - t, 1), 1 - each)))
    return np.minimum(ends[0], 1), np.minimum(ends[1], 1)


def hypergeometric_upper(
    size: NDArray[np.int64], drawn: NDArray[np.int64], seen: NDArray[np.int64], tail: float
) -> NDArray[np.int64]:
    """Largest number of marked rows among ``size`` with which ``seen`` or fewer of ``drawn`` are not too few.

    Errs with probability ``tail`` at most.
    """
    from scipy.stats import hypergeom

    size, drawn, seen = np.broadcast_arrays(size, drawn, seen)
    low, high = seen.astype(np.int64), (size - (drawn - seen)).astype(np.int64)  # what is possible at all
    while True:
        wide = low < high
        if not wide.any():
            return low
        middle = (low + high + 1) // 2
        possible = hypergeom.cdf(seen, np.maximum(size, 1), middle, drawn) > tail
        low, high = np.where(wide & possible, middle, low), np.where(wide & ~possible, middle - 1, high)


# --- weighted audits: totals of rows drawn with unequal probabilities -----------------------------------------------


def total_bounds(y: Floats, v: Floats, largest: Floats, tail: float | Floats) -> tuple[Floats, Floats]:
    """Bounds of a sum of rare non-negative amounts, from a weighted sample of them.

    Parameters
    ----------
    y, v : arrays of the same shape
        Sum of the sampled amounts over their inclusion probabilities, and of its squared terms (its variance).
    largest : array of the same shape
        Largest term that an unseen row could have had.
    tail : float or array
        Error of each bound.

    Notes
    -----
    Source: Fay and Feuer 1997, gamma bounds of a weighted sum of Poisson counts: the lower one fits a gamma
    distribution to (y, v), the upper one to (y + largest, v + largest^2). With no event seen the upper bound is
    largest x ln(1 / tail).
    """
    from scipy.special import gammaincinv

    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(y > 0, v / y * gammaincinv(y * y / v, tail), 0.0)
        more, spread = y + largest, v + largest**2
        high = np.where(more > 0, spread / more * gammaincinv(more * more / spread, 1 - tail), 0.0)
    exact = v <= 0  # every row of weight was drawn surely
    return np.where(exact, y, low), np.where(exact & (largest <= 0), y, high)


def _weighted_interval(
    data: Labelled,
    audit: "CodedAudit",
    measure: str,
    of: int | None,
    level: float,
    target: AuditTarget,
    model: int,
    wrong: int | None,
) -> tuple[float, float, float]:
    """Difference estimator of T and U, and the values of T / U that the audit does not reject."""
    tail = (1 - level) / 2
    t_given, u_given = _proportion(data.labels, data.predictions[model], measure, of)
    given = data.labels[audit.rows], data.predictions[model][audit.rows]
    t_was, u_was = _proportion(given[0], given[1], measure, of)
    t_is, u_is = _proportion(audit.labels, given[1], measure, of)
    weight = 1 / audit.inclusion
    t_change, u_change = t_is - t_was, u_is - u_was
    t_hat = np.asarray(t_given.sum() + (weight * t_change).sum())
    u_hat = np.asarray(u_given.sum() + (weight * u_change).sum())
    largest = weight.max() - 1

    def distance(theta: Floats, side: int) -> Floats:
        change = side * (t_change - float(theta) * u_change)
        reach = np.zeros(2)
        for index, amount in enumerate((np.maximum(change, 0), np.maximum(-change, 0))):
            term = amount * weight
            y, v = term.sum(), (term**2 * (1 - audit.inclusion)).sum()
            low, high = total_bounds(np.asarray(y), np.asarray(v), np.asarray(largest), tail)
            high = high if wrong is None else np.minimum(high, max(wrong, y))  # a wrong label moves it by 1 at most
            reach[index] = y - low if index == 0 else high - y
        return np.asarray((reach**2).sum())

    low, high = _inverted(t_hat, u_hat, distance, tail if target == "population" else None)
    value = float(t_hat / u_hat) if u_hat > 0 else math.nan
    return min(max(value, 0.0), 1.0) if u_hat > 0 else math.nan, float(low), float(high)


def _proportion(labels: NDArray[Any], predictions: NDArray[Any], measure: str, of: int | None) -> tuple[Floats, Floats]:
    """Per row, its share of T and of U."""
    if measure == "accuracy":
        return (labels == predictions).astype(np.float64), np.ones(labels.size)
    predicted, labelled = predictions == of, labels == of
    trials = {"precision": predicted, "recall": labelled, "f1": predicted | labelled}[measure]
    return (predicted & labelled).astype(np.float64), trials.astype(np.float64)


def _one(
    data: Labelled,
    audit: "CodedAudit",
    measure: str,
    of: int | None,
    level: float,
    target: AuditTarget,
    model: int,
    wrong: int | None,
) -> tuple[float, float, float]:
    """Value, low and high of one measure of one class."""
    if audit.design == "weighted":
        value, low, high = _weighted_interval(data, audit, measure, of, level, target, model, wrong)
    else:
        if measure == "accuracy":
            hit = data.labels == data.predictions[model]
            right, was = audit.labels == data.predictions[model][audit.rows], hit[audit.rows]
            cells = accuracy_cells(
                hit.sum(), data.n, was.sum(), (was & ~right).sum(), (~was).sum(), (~was & right).sum()
            )
        else:
            cells = class_cells(data, audit, measure, int(of or 0), model)
        cells = replace(cells, wrong=wrong)
        ends = cell_interval(cells, level=level, exact=False, target=target)
        low, high = float(ends[0]), float(ends[1])
        t = float(cells.base[0] + (cells.t * cells.size * cells.share).sum())
        u = float(cells.base[1] + (cells.u * cells.size * cells.share).sum())
        value = t / u if u > 0 else math.nan
    return tuple(float(as_value(np.asarray(end), measure)) for end in (value, low, high))  # type: ignore[return-value]


def _true_shares(data: Labelled, audit: "CodedAudit") -> Floats:
    """Estimated number of instances truly of each class: those labelled so, and what the audit changes."""
    weight = 1 / audit.inclusion
    was = np.bincount(data.labels[audit.rows], weights=weight, minlength=data.k)
    found = np.bincount(audit.labels, weights=weight, minlength=data.k)
    shares: Floats = np.maximum(np.bincount(data.labels, minlength=data.k) + found - was, 0.0)
    return shares
