"""Scores of true classes from annotations with errors: estimates if the errors are known, bounds if their share is.

Estimates depend on one assumption: given the true class, errors do not depend on predictions. The rows of a transition
are true classes, its columns given classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Floats, Integers, Rows
from demele.estimation.counts import JointCounts
from demele.estimation.information import InformationTable, entropy, mutual_information, n_log_n, top_two


def accuracy_without_errors(predicted: Integers, given: Integers, transition: Floats) -> float:
    """Return the share of rows whose true class is predicted.

    Parameters
    ----------
    predicted, given : arrays of int of shape (n,)
        Classes 0 ... K - 1.
    transition : array of shape (K, K)

    Returns
    -------
    float
        May leave [0, 1] by chance.

    Examples
    --------
    Of classes that are predicted perfectly, and annotated wrong as often as the transition says:

    >>> predicted, given = np.array([0] * 10 + [1] * 10), np.array([0] * 9 + [1] + [1] * 8 + [0] * 2)
    >>> round(accuracy_without_errors(predicted, given, np.array([[0.9, 0.1], [0.2, 0.8]])), 12)
    1.0
    """
    k = len(transition)
    cells = predicted.astype(np.intp) * k + given
    table = np.bincount(cells, minlength=k * k).reshape(k, k) / given.size
    return float(np.trace(table @ np.linalg.inv(transition)))


def areas_without_errors(scores: Floats, given: Integers, transition: Floats) -> Floats:
    """Return the area under the ROC curve of each true class against all others.

    Parameters
    ----------
    scores : array of shape (K, n)
        Of class k for each row, as a classifier gives it.
    given : array of int of shape (n,)
        Annotations 0 ... K - 1.
    transition : array of shape (K, K)

    Returns
    -------
    array of shape (K,)
        NaN for all, where a class was never given; NaN for a class that is estimated not to occur.

    Notes
    -----
    For the score of one class let A_w[a, b] be the probability that it is larger for a row given a than for one given
    b, ties half. With C[w, v] = P(v | w), A_w = C A_v C', so that A_v = C^-1 A_w C^-T; the area of class k is the
    mean of A_v[k, b] over other classes b by their shares.

    Examples
    --------
    >>> areas_without_errors(np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]), np.array([0, 0, 1]), np.eye(2)).tolist()
    [1.0, 1.0]
    """
    k = len(transition)
    sizes = np.bincount(given, minlength=k)
    if not sizes.all():
        return np.full(k, np.nan)
    shares = sizes / sizes.sum()
    margin = shares @ np.linalg.inv(transition)
    undo = np.linalg.inv((margin[:, None] * transition / shares).T)  # of C[w, v] = m_v T[v, w] / P(w)
    found = np.full(k, np.nan)
    for own in range(k):
        others = np.arange(k) != own
        if margin[own] <= 0 or margin[others].sum() <= 0:
            continue
        pairs = undo @ _larger(scores[own], given, sizes) @ undo.T
        found[own] = (margin[others] @ pairs[own, others]) / margin[others].sum()
    return found


def _larger(score: Floats, given: Integers, sizes: Rows) -> Floats:
    """Return how likely a row of one class has a larger score than a row of another, ties half; 1/2 on the diagonal."""
    k = sizes.size
    order = np.argsort(given, kind="stable")
    ends = np.cumsum(sizes)
    found = np.full((k, k), 0.5)
    by_class = [np.sort(part) for part in np.split(score[order], ends[:-1])]
    for a in range(k):
        for b in range(a):
            below = np.searchsorted(by_class[b], by_class[a], side="left")
            up_to = np.searchsorted(by_class[b], by_class[a], side="right")
            found[a, b] = (below + up_to).sum() / (2 * sizes[a] * sizes[b])
            found[b, a] = 1 - found[a, b]
    return found


# Information of codes and true values, from tables of codes and noisy annotations whose errors are known --------------
#
# If errors do not depend on the codes given the true value, the table of codes and annotations is the one of codes and
# true values times the transition T (rows true values, columns given ones). Undoing it leaves cells that are negative
# by chance. They are kept: x ln|x| is odd, so the noise of an empty cell cancels, where clipping would keep its
# positive half as information.

#: Added to the diagonal of counted transitions, so that a class that was never counted is right.
NEVER_COUNTED = 0.001


def without_errors(table: Floats, transition: Floats) -> Floats:
    """Undo the errors of annotations in a table of codes and annotations.

    Parameters
    ----------
    table : array of shape (..., n_rows, K)
        Counts or probabilities; columns are given values.
    transition : array of shape (..., K, K)
        Probabilities; rows are true values, columns given ones.

    Returns
    -------
    array of shape (..., n_rows, K)
        Columns are true values. Cells may be negative by chance.

    Examples
    --------
    >>> given = np.array([[0.28, 0.12], [0.12, 0.48]])
    >>> ((7 * without_errors(given, np.array([[0.9, 0.1], [0.2, 0.8]]))).round(6) + 0.0).tolist()
    [[2.0, 0.8], [0.0, 4.2]]
    """
    return table @ np.linalg.inv(transition)


def signed_table(counts: JointCounts, transitions: Sequence[Floats | None]) -> InformationTable:
    """Return all informations and entropies that metrics need, of true values instead of given ones.

    Parameters
    ----------
    counts : JointCounts
        Of codes and given values; columns are the classes of the transitions. Leading axes are resamples.
    transitions : sequence of arrays of shape (K, K) or (..., K, K), or None
        One per factor, undone with signs whatever it is; None for a factor that is right.

    Returns
    -------
    InformationTable
        Without tests of independence, and without informations between factors.
    """
    information, heights, joint = [], [], []
    for table, transition in zip(counts.tables, transitions, strict=True):
        of_code = entropy(table.sum(axis=-1))
        undone = table if transition is None else without_errors(table, transition[..., None, :, :])
        own, height = mutual_information(undone), entropy(undone[..., 0, :, :].sum(axis=-2))
        information.append(own)
        heights.append(height)
        joint.append(of_code + height[..., None] - own)
    return InformationTable(
        np.stack(information, axis=-1),
        np.stack(heights, axis=-1),
        np.stack(joint, axis=-1),
        None,
        counts.code_bins,
    )


def counted_transition(counts: Floats) -> Floats:
    """Return the transition of counts (..., K, K), rows true values; a class that was never counted is right."""
    filled = counts + NEVER_COUNTED * np.eye(counts.shape[-1])
    return np.asarray(filled / filled.sum(axis=-1, keepdims=True))


def audited_transition(counts: Floats, given: Floats) -> Floats:
    r"""Return the transition of partly audited rows; a class that was never counted has no errors.

    Audited rows tell which true values stand behind a given one, and all rows how often it is given:

    .. math:: T_{vw} \propto n_w \, c_{vw} / \textstyle\sum_u c_{uw}

    With a random audit, and without the codes, this is the estimate of greatest likelihood. It errs less than that of
    the audited rows alone, and undone by it no margin of true values is negative.

    Parameters
    ----------
    counts : array of shape (..., K, K)
        Of the audited rows, drawn at random from all; rows true values, columns given ones.
    given : array of shape (..., K)
        How often each value is given in all rows.

    Examples
    --------
    >>> audited_transition(np.array([[8.0, 0.0], [2.0, 10.0]]), np.array([300.0, 100.0])).round(3).tolist()
    [[1.0, 0.0], [0.375, 0.625]]
    """
    right = NEVER_COUNTED * np.eye(counts.shape[-1])
    filled = counts + right
    joint = filled / filled.sum(axis=-2, keepdims=True) * given[..., None, :] + right
    return np.asarray(joint / joint.sum(axis=-1, keepdims=True))


# Certified bounds of scores if some share of the annotations is wrong, in the worst case ------------------------------
#
# At most a share eps of the rows is annotated wrongly. The table of a code and the true values then is any table with
# the same rows (codes) whose columns differ by moving mass eps within rows. The smallest information of such tables is
# found by Frank-Wolfe and given with its certificate; the largest is bounded by a relaxation; the entropy's range is
# exact.

#: Frank-Wolfe stops at this distance (nats) between value and certificate, or after so many steps.
GAP, STEPS = 1e-4, 400
#: How often the length of a step is halved to be found.
HALVINGS = 12
#: Share of a positive table that is mixed in before slopes are taken: the tangent of an inner point bounds everywhere.
INSIDE = 1e-9
#: Weights of the uniform distribution in the references of the relaxation.
REFERENCES = (0.001, 0.05, 0.2)


@dataclass(frozen=True, slots=True)
class InformationBounds:
    """Bounds of informations (n_codes, n_factors) and entropies (n_factors,), in nats."""

    low: Floats
    high: Floats
    entropy_low: Floats
    entropy_high: Floats


def entropy_range(values: Floats, share: float) -> tuple[float, float]:
    """Return the smallest and the largest entropy of a factor if at most a share of its values is wrong.

    Parameters
    ----------
    values : array of shape (K,), >= 0
        Counts or probabilities.
    share : float in [0, 1)

    Returns
    -------
    tuple of float, nats
        Smallest: the rarest values are moved to the commonest. Largest: the top is cut, the bottom filled. Both exact.

    Examples
    --------
    >>> [round(end, 6) for end in entropy_range(np.array([0.3, 0.7]), 0.1)]
    [0.500402, 0.673012]
    """
    p = np.sort(np.asarray(values, dtype=np.float64) / np.sum(values))
    least = p.copy()
    taken = np.minimum(p[:-1], np.maximum(share - (np.cumsum(p[:-1]) - p[:-1]), 0.0))
    least[:-1] -= taken
    least[-1] += taken.sum()
    filled = _level(p, share)
    cut = -_level(-p[::-1], share)
    even = np.full_like(p, 1 / p.size)
    most = even if filled >= cut else np.clip(p, filled, cut)
    low, high = entropy(np.stack([least, most])).tolist()
    return low, high


def _level(ascending: Floats, share: float) -> float:
    """Return the level up to which values are filled by a share in all."""
    k = np.arange(1, ascending.size + 1)
    levels = (share + np.cumsum(ascending)) / k
    reached = levels <= np.append(ascending[1:], np.inf)
    return float(levels[np.argmax(reached)])


def least_information(tables: Floats, share: float) -> Floats:
    """Return a certified lower bound of the mutual information of tables if a share may be moved within rows.

    Parameters
    ----------
    tables : array of shape (n_tables, n_rows, K)
        Counts or probabilities; columns are the values of the factor.
    share : float in [0, 1)

    Returns
    -------
    array of shape (n_tables,), nats
        Never above the minimum; below it by at most 1e-4 where the steps suffice.

    Notes
    -----
    Information is convex in the table at fixed row sums. Each step goes towards the table that a linear function, the
    slope, likes best: mass moves from the largest slopes to the smallest of the same row. What the tangent at a point
    says of that table, it says of all: value and slope of any positive table bound the minimum.
    """
    given = tables / tables.sum(axis=(-2, -1), keepdims=True)
    if share <= 0:
        return mutual_information(given)
    columns = given.sum(axis=-2, keepdims=True)
    inner = given.sum(axis=-1, keepdims=True) * (0.5 * columns + 0.5 / given.shape[-1])
    found = given.copy()
    bound = np.zeros(len(given))
    open_ = np.arange(len(given))
    for _ in range(STEPS):
        at = (1 - INSIDE) * found[open_] + INSIDE * inner[open_]
        # the slope of the information in each cell, but for what is equal along rows; 0 in empty rows
        rows, columns = at.sum(axis=-1, keepdims=True), at.sum(axis=-2, keepdims=True)
        ratio = np.where(at > 0, at, 1.0) / np.where(rows > 0, rows, 1.0) / np.where(columns > 0, columns, 1.0)
        slope = np.where(rows > 0, np.log(ratio), 0.0)
        target = _moved(given[open_], slope, share)
        gap = (slope * (at - target)).sum(axis=(-2, -1))
        value = mutual_information(at)
        bound[open_] = np.maximum(bound[open_], value - gap)
        going = value - bound[open_] > GAP
        if not going.any():
            break
        open_, target = open_[going], target[going]
        found[open_] += _step(found[open_], target - found[open_]) * (target - found[open_])
    return bound


def _moved(given: Floats, slope: Floats, share: float) -> Floats:
    """Return the table that is linearly least: mass moves to the smallest slope of its row, from the largest first."""
    least = slope.min(axis=-1, keepdims=True)
    gain = np.where(given > 0, slope - least, 0.0).reshape(len(given), -1)
    order = np.argsort(-gain, axis=-1)
    mass = np.take_along_axis(given.reshape(len(given), -1), order, axis=-1)
    before = np.cumsum(mass, axis=-1) - mass
    taken = np.empty_like(mass)
    np.put_along_axis(taken, order, np.clip(share - before, 0.0, mass), axis=-1)
    taken = taken.reshape(given.shape)
    moved = given - taken
    best = slope.argmin(axis=-1)[..., None]
    np.put_along_axis(moved, best, np.take_along_axis(moved, best, axis=-1) + taken.sum(axis=-1, keepdims=True), -1)
    return moved


def _step(found: Floats, way: Floats) -> Floats:
    """Return how far to go, by halving: the slope along the way is increasing."""
    of_columns, along = found.sum(axis=-2), way.sum(axis=-2)
    low, high = np.zeros(len(found)), np.ones(len(found))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        cells = np.log(np.maximum(found + middle[:, None, None] * way, 1e-300))
        columns = np.log(np.maximum(of_columns + middle[:, None] * along, 1e-300))
        rising = np.einsum("tzv,tzv->t", way, cells) > np.einsum("tv,tv->t", along, columns)
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return np.asarray((low + high) / 2)[:, None, None]


def most_information(tables: Floats, share: float) -> Floats:
    """Return an upper bound of the mutual information of tables if a share may be moved within rows.

    Parameters
    ----------
    tables : array of shape (n_tables, n_rows, K)
    share : float in [0, 1)

    Returns
    -------
    array of shape (n_tables,), nats

    Notes
    -----
    For any distribution r, the information is at most the mean divergence of rows from r. In a row, mass t goes to one
    value, with its exact gain, and comes from others along chords of their convex losses, the best first. A Lagrange
    multiplier relaxes the spread of the share over rows; any multiplier gives a bound. A row cannot move more than the
    whole share, which shortens the chords.
    """
    given = tables / tables.sum(axis=(-2, -1), keepdims=True)
    rows, columns = given.sum(axis=-1), given.sum(axis=-2)
    k = given.shape[-1]
    found: Floats = -n_log_n(rows).sum(axis=-1)  # information is at most the entropy of the code
    for weight in REFERENCES if share > 0 else (0.0,):
        reference = (1 - weight) * columns + weight / k
        found = np.minimum(found, _relaxed(given, rows, reference, share))
    return found


def _relaxed(given: Floats, rows: Floats, reference: Floats, share: float) -> Floats:
    weight = np.where(rows > 0, rows, 1.0)[..., None]
    p = np.where(rows[..., None] > 0, given / weight, 1.0 / given.shape[-1])
    r = reference[:, None, :]
    ratio = np.log(np.where(r > 0, r, 1.0))
    own = n_log_n(p) - p * ratio
    base = (rows * np.where(rows > 0, own.sum(axis=-1), 0.0)).sum(axis=-1)
    if share <= 0:
        return np.asarray(base)
    most = np.minimum(share / weight, 1.0)  # of one row, as a share of it
    amount, gain = _ends(p, ratio, own, most)
    return np.asarray(base + _spread(rows, amount, gain, share))


def _ends(p: Floats, ratio: Floats, own: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Return amounts moved within each row and bounds of what they gain, at all ends between which gains are convex.

    Shapes (n_tables, n_rows, K receivers, K + 1 ends).
    """
    k = p.shape[-1]
    room = np.minimum(p, most)
    left = p - room
    loss = n_log_n(left) - left * ratio - own
    chord = np.where(room > 0, loss / np.where(room > 0, room, 1.0), -np.inf)
    order = np.argsort(-chord, axis=-1)
    amounts, gains = [], []
    for receiver in range(k):
        donors = order != receiver
        size = np.where(donors, np.take_along_axis(room, order, axis=-1), 0.0)
        total = np.minimum(np.cumsum(size, axis=-1), most)
        size = np.diff(total, axis=-1, prepend=0.0)
        slopes = np.take_along_axis(chord, order, axis=-1)
        given_up = np.cumsum(np.where(size > 0, size * np.where(np.isfinite(slopes), slopes, 0.0), 0.0), axis=-1)
        filled = p[..., receiver, None] + total
        received = n_log_n(filled) - filled * ratio[..., receiver, None] - own[..., receiver, None]
        amounts.append(total)
        gains.append(given_up + received)
    amount, gain = np.stack(amounts, axis=-2), np.stack(gains, axis=-2)
    none = np.zeros((*amount.shape[:-1], 1))
    return np.concatenate([none, amount], axis=-1), np.concatenate([none, gain], axis=-1)


def _spread(rows: Floats, amount: Floats, gain: Floats, share: float) -> Floats:
    """Return the least bound over multipliers of what a share gains, spread over rows in any way."""
    amount, gain = (one.reshape(*one.shape[:2], -1) for one in (amount, gain))
    steep = np.where(amount > 0, gain / np.where(amount > 0, amount, 1.0), 0.0).max(axis=(-2, -1))
    low, high = np.zeros(len(rows)), np.maximum(steep, 0.0)
    best = _dual(rows, amount, gain, high, share)[0]
    for _ in range(40):
        price = (low + high) / 2
        value, moved = _dual(rows, amount, gain, price, share)
        best = np.minimum(best, value)
        low, high = np.where(moved > share, price, low), np.where(moved > share, high, price)
    return best


def _dual(rows: Floats, amount: Floats, gain: Floats, price: Floats, share: float) -> tuple[Floats, Floats]:
    net = gain - price[:, None, None] * amount
    place = net.argmax(axis=-1)[..., None]
    value = (rows * np.take_along_axis(net, place, axis=-1)[..., 0]).sum(axis=-1) + price * share
    moved = (rows * np.take_along_axis(amount, place, axis=-1)[..., 0]).sum(axis=-1)
    return value, moved


def _together(bound: Callable[[Floats, float], Floats], tables: list[Floats], shares: list[float]) -> list[Floats]:
    """Return bounds of the tables of each factor; those of one shape and share are worked on at once."""
    alike: dict[tuple[tuple[int, ...], float], list[int]] = {}
    for index, (table, share) in enumerate(zip(tables, shares, strict=True)):
        alike.setdefault((table.shape, share), []).append(index)
    found = [np.empty(0)] * len(tables)
    for (shape, share), places in alike.items():
        together = bound(np.concatenate([tables[place] for place in places]), share)
        for place, own in zip(places, together.reshape(len(places), shape[0]), strict=True):
            found[place] = own
    return found


def information_bounds(tables: list[Floats], shares: list[float]) -> InformationBounds:
    """Return bounds of all informations and entropies.

    Parameters
    ----------
    tables : list of arrays of shape (n_codes, code_bins, K), one per factor
        Counts.
    shares : list of float in [0, 1)
        Of each factor, the largest share of its annotations that is wrong.
    """
    low, high = _together(least_information, tables, shares), _together(most_information, tables, shares)
    ends = [entropy_range(table[0].sum(axis=0), share) for table, share in zip(tables, shares, strict=True)]
    entropies = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    most = np.minimum(np.stack(high, axis=-1), entropies[1])
    return InformationBounds(np.minimum(np.stack(low, axis=-1), most), most, entropies[0], entropies[1])


# Gaps ---------------------------------------------------------------------------------------------------------------


def gap_bounds(low: Floats, high: Floats, axis: int) -> tuple[Floats, Floats]:
    """Return bounds of what each entry is above the largest other one along an axis; 0 where there is no other."""
    return low - _largest_other(high, axis), high - _largest_other(low, axis)


def _largest_other(values: Floats, axis: int) -> Floats:
    first, second = (np.expand_dims(one, axis) for one in top_two(values, axis))
    others = np.repeat(first, values.shape[axis], axis)
    np.put_along_axis(others, values.argmax(axis, keepdims=True), second, axis)
    return others


def _shares(low: Floats, high: Floats, entropy_low: Floats, entropy_high: Floats) -> tuple[Floats, Floats]:
    """Divide bounds of parts by those of entropies; at most 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(entropy_high > 0, np.maximum(low, 0.0) / entropy_high, 0.0)
        most = np.where(entropy_low > 0, np.maximum(high, 0.0) / entropy_low, 1.0)
    return np.minimum(least, 1.0), np.minimum(most, 1.0)


def mig_bounds(bounds: InformationBounds) -> tuple[float, float]:
    """Return bounds of MIG: the mean over factors of the gap between the two codes that inform most."""
    low, high = (one.max(axis=0) for one in gap_bounds(bounds.low, bounds.high, 0))
    least, most = _shares(low, high, bounds.entropy_low, bounds.entropy_high)
    return float(least.mean()), float(most.mean())


def mig_sup_bounds(bounds: InformationBounds) -> tuple[float, float]:
    """Return bounds of MIG-sup: the mean over codes of the gap between two factors, each relative to its entropy."""
    shares = _shares(bounds.low, bounds.high, bounds.entropy_low, bounds.entropy_high)
    low, high = (np.clip(one.max(axis=1), 0.0, 1.0) for one in gap_bounds(*shares, 1))
    return float(low.mean()), float(high.mean())


def dcimig_bounds(bounds: InformationBounds) -> tuple[float, float]:
    """Return bounds of DCIMIG: what codes hold exclusively, over the entropies of the factors."""
    low, high = (np.maximum(one.max(axis=0), 0.0).sum() for one in gap_bounds(bounds.low, bounds.high, 1))
    least, most = _shares(low, high, bounds.entropy_low.sum(), bounds.entropy_high.sum())
    return float(least), float(most)


#: Bounds of scores by the name of the metric.
BOUNDS = {"mig": mig_bounds, "mig_sup": mig_sup_bounds, "dcimig": dcimig_bounds}


# How scores of information change with single annotations, and the annotations whose change turns an order round ------

#: Value of a table of information; leading axes are tables.
Formula = Callable[[InformationTable], Floats]

#: Share of the rows that is annotated anew in one step, in each factor.
STEP = 0.0025
#: Change of an information (nats) by which slopes of scores are taken.
NUDGE = 1e-6


@dataclass(frozen=True, slots=True)
class BinnedCodes:
    """Codes as bin numbers (n_codes, n), and the number of bins."""

    bins: Rows
    n_bins: int

    def counts(self, labels: Rows, n_values: int) -> Floats:
        """Return counts (n_codes, n_bins, n_values) against a factor of shape (n,); without rows beyond its values."""
        known = labels < n_values
        bins, labels = (self.bins, labels) if known.all() else (self.bins[:, known], labels[known])
        cells = (np.arange(len(bins))[:, None] * self.n_bins + bins) * n_values + labels
        size = len(bins) * self.n_bins * n_values
        return np.bincount(cells.ravel(), minlength=size).reshape(-1, self.n_bins, n_values).astype(np.float64)


def table_of(counts: list[Floats]) -> InformationTable:
    """Return informations and entropies of counts, one array (n_codes, n_bins, n_values) per factor."""
    heights = [entropy(one[0].sum(axis=0)) for one in counts]
    return InformationTable(np.stack([mutual_information(one) for one in counts], axis=-1), np.array(heights))


def label_slopes(codes: BinnedCodes, counts: list[Floats], formula: Formula) -> list[Floats]:
    """Return, for each factor, how a score changes with each value that a row may have: arrays (n, n_values)."""
    table = table_of(counts)
    d, m = table.information.shape
    # how the score changes with each information and each entropy
    information = np.broadcast_to(table.information, (d * m + m, d, m)).copy()
    heights = np.broadcast_to(table.factor_entropy, (d * m + m, m)).copy()
    information.reshape(len(information), -1)[np.arange(d * m), np.arange(d * m)] += NUDGE
    heights[d * m + np.arange(m), np.arange(m)] += NUDGE
    changes = (formula(InformationTable(information, heights)) - formula(table)) / NUDGE
    of_information, of_entropy = changes[: d * m].reshape(d, m), changes[d * m :]
    found = []
    for index, one in enumerate(counts):
        values = one[0].sum(axis=0)
        known = np.log(np.maximum(one, 0.5)) - np.log(np.maximum(values, 0.5))
        own = -of_entropy[index] * np.log(np.maximum(values, 0.5) / values.sum())
        total = np.broadcast_to(own, (codes.bins.shape[1], one.shape[-1])).copy()
        for code, weight in enumerate(of_information[:, index]):
            if weight != 0:
                total += weight * known[code][codes.bins[code]]
        found.append(total)
    return found


def attained_share(
    ahead: BinnedCodes,
    behind: BinnedCodes,
    factors: Rows,
    n_values: list[int],
    formula: Formula,
    most: float = 0.5,
    report: Callable[[float], None] | None = None,
) -> float:
    """Return a share of wrong annotations, in each factor, that turns the order of two representations round.

    Parameters
    ----------
    ahead, behind : BinnedCodes
        Of the same rows; the first scores higher.
    factors : array of int of shape (n_factors, n)
        ``n_values`` of the factor where the annotation is missing; each factor keeps a row that has one.
    n_values : list of int
    formula : callable
    most : float
        Shares up to this one are tried.
    report : callable, optional
        Called with the part that is done, in [0, 1].

    Returns
    -------
    float
        NaN if none was found. Rows get another annotation where the slope of the difference is steepest, each row once
        and for both representations, in steps of 0.25% of the rows of each factor: smaller shares may be enough.
    """
    labels = factors.copy()
    touched = labels >= np.array(n_values)[:, None]  # what is missing is not annotated anew
    known = np.sum(~touched, axis=1)
    sizes = np.maximum(np.round(STEP * known).astype(np.intp), 1)
    widest = int(np.argmax(sizes / known))  # the share that is returned is that of the factor with the largest steps
    size, n = int(sizes[widest]), int(known[widest])
    rows = np.arange(factors.shape[1])
    whole = 0.0  # what is between the two at first
    for step in range(round(most * n / size) + 1):
        pairs = [[codes.counts(own, k) for own, k in zip(labels, n_values, strict=True)] for codes in (ahead, behind)]
        first, second = (float(formula(table_of(counts))) for counts in pairs)
        if not first > second:
            return float(step * size / n)
        whole = whole or first - second
        if report is not None:
            report(max(1 - (first - second) / whole, step * size / n / most))
        better, worse = (
            label_slopes(codes, counts, formula) for codes, counts in zip((ahead, behind), pairs, strict=True)
        )
        for index in range(len(labels)):
            slope = better[index] - worse[index]
            best = slope.argmin(axis=1)
            own = np.minimum(labels[index], n_values[index] - 1)  # of a missing annotation, which is touched: any
            gain = np.where(touched[index], 0.0, slope[rows, best] - slope[rows, own])
            chosen = np.argpartition(gain, sizes[index] - 1)[: sizes[index]]
            chosen = chosen[gain[chosen] < 0]
            labels[index, chosen] = best[chosen]
            touched[index, chosen] = True
    return float("nan")
