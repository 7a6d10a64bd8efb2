"""Rows in cells, and what a random audit says of them: strata for the measures of classifiers and their differences.

Rows with the same predictions and the same given label make a cell. Truly, each has one of a few outcomes, such as
right or wrong, and each outcome adds a number to a measure. So a cell is a stratum of scores for
:mod:`demele.classifiers.pooled_strata`, and its scores can differ by as much as its outcomes do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from demele.classifiers.pooled_strata import TINY, PooledStrata, StratumSums
from demele.classifiers.row_groups import Groups
from demele.core.arrays import Floats, Rows
from demele.noise.audit import CodedAudit

#: Groups that are taken to have a row in a cell, at least: with fewer, the t quantile would let nothing be shown.
LEAST_MET = 4
#: Steps in which the end of an interval is looked for, and how near it must be.
MOST_STEPS, NEAR = 60, 1e-11


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows in cells, and audited rows by cell and outcome; leading axes are separate problems.

    Attributes
    ----------
    size : array of shape (..., cells)
    seen : array of shape (3, ..., cells, outcomes), or (4, ...)
        Sums of 1, w, w^2 and, if weights are uneven, w^3 over the audited rows; w = 1 / the probability to be drawn.
    given : array of int of shape (cells,)
        Outcome by the given label.
    n, k : int
        All rows, and all audited ones; rows in no cell add nothing to the measure.
    uneven : bool
        Whether weights differ within a cell.
    kind : array of int of shape (cells,)
        Rows of cells of one kind may be as heavy as each other.
    cell, outcome : arrays of int of shape (..., n) and (..., k)
        Cell of every row, or -1, and outcome of every audited row; empty where only counts are known.
    """

    size: Floats
    seen: Floats
    given: Rows
    n: int
    k: int
    uneven: bool = False
    kind: Rows = field(default_factory=lambda: np.zeros(0, np.intp))
    cell: Rows = field(default_factory=lambda: np.zeros(0, np.intp))
    outcome: Rows = field(default_factory=lambda: np.zeros(0, np.intp))

    def fit(self, values: Floats, *, population: bool) -> PooledStrata:
        """Return the mean over rows of the ``values`` of their outcomes, of shape (..., cells, outcomes).

        Notes
        -----
        Weights that differ leave rows unseen that may be as heavy as those of any cell. So an unseen row weighs g, the
        largest of cells of its kind of the mean of w by w (w - 1), by which rows leave the sum uncertain; it counts
        whole, and 1 - (g + sum w) / (g^2 + sum w^2) is the share left.
        """
        low = values.min(axis=-1)
        width = values.max(axis=-1) - low
        count, weight, square = self.seen[:3]
        share, audited, sums, squares = self.size / self.n, count.sum(-1), weight.sum(-1), square.sum(-1)
        met = audited > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(width[..., None] > 0, (values - low[..., None]) / width[..., None], 0.0)
            given = score[..., np.arange(self.given.size), self.given]
            mean = np.where(met, (weight * score).sum(axis=-1) / sums, given)
            centre = np.where(met, (square * score).sum(axis=-1) / squares, 0.0)
            unseen = np.where(met, squares / sums, 1.0)
            drawn = np.where(met, audited / self.size, 0.0)
            if self.uneven:
                spare, cubes = squares - sums, self.seen[3].sum(axis=-1)
                unseen = np.where(spare > TINY, (cubes - squares) / spare, unseen)
                kind = self.kind if self.kind.size else np.zeros_like(self.given)
                alike = kind == kind[:, None]
                unseen = np.where(alike, unseen[..., None, :], 0.0).max(axis=-1)
                drawn = np.where(met & (drawn < 1), (sums + unseen) / (squares + unseen**2), drawn)
        moved = low + width * mean
        value = (share * moved).sum(axis=-1)
        between = (share * (moved - value[..., None]) ** 2).sum(axis=-1) + (1 - share.sum(axis=-1)) * value**2
        powers = square / unseen[..., None] ** 2
        return PooledStrata(
            sums=StratumSums(
                share=share * width,
                audited=audited,
                effective=sums / unseen,
                mean=mean,
                squares=powers.sum(axis=-1),
                centre=centre,
                spread=(powers * (score - centre[..., None]) ** 2).sum(axis=-1),
                least=np.where(count > 0, score, np.inf).min(axis=-1),
                most=np.where(count > 0, score, -np.inf).max(axis=-1),
            ),
            between=between / self.n if population else np.zeros_like(value),
            left=np.ones_like(drawn) if population else 1 - drawn,
            known=(share * low).sum(axis=-1),
            rows=self.k,
            open=True,
            whole=self.uneven,
        )

    def grouped(self, fit: PooledStrata, values: Floats, audit: CodedAudit, groups: Groups) -> PooledStrata:
        """Return the fit of one problem with the design effect of rows in groups.

        Notes
        -----
        Of a row, e_i is the mean of its cell minus the measure; of an audited row, (N / sum w) w times its own value
        minus that mean is added:
        D = G / (G - 1) sum_g (sum of e_i in g)^2 / sum e_i^2, not below 1.
        """
        low = values.min(axis=-1)
        moved = np.append(low + (values.max(axis=-1) - low) * fit.sums.mean, 0.0)
        error = moved[self.cell] - float((self.size / self.n) @ moved[:-1])
        here = self.cell[audit.rows]
        kept = here >= 0
        scale = np.append(self.size / np.where(self.seen[1].sum(-1) > 0, self.seen[1].sum(-1), 1.0), 0.0)
        news = np.where(kept, values[here, self.outcome] - moved[here], 0.0)
        error[audit.rows] += scale[here] / audit.inclusion * news
        apart = float(error @ error)
        within = groups.sums(error)
        effect = max(1.0, groups.spread() * float(within @ within) / apart) if apart > 0 else 1.0
        met = int(np.count_nonzero(groups.sums(self.cell >= 0)))
        return replace(fit, effect=effect, groups=max(met, LEAST_MET))


def gathered(cell: Rows, outcome: Rows, given: list[int], outcomes: int, audit: CodedAudit) -> Cells:
    """Count rows by cell, of shape (..., n), and audited ones by outcome, (..., k); rows of cell -1 are left out."""
    own, cells, lead = np.array(given), len(given), cell.shape[:-1]
    if audit.within is not None:  # each stratum of the audit has cells of its own
        cell = np.where(cell < 0, cell, cell + cells * ~audit.within)
        own, cells = np.tile(own, 2), 2 * cells
    problems = int(np.prod(lead, dtype=np.int64))
    flat = cell.reshape(problems, -1) + 1 + np.arange(problems)[:, None] * (cells + 1)
    size = np.bincount(flat.ravel(), minlength=problems * (cells + 1)).reshape(*lead, cells + 1)[..., 1:]
    places = (flat[:, audit.rows] * outcomes + outcome.reshape(problems, -1)).ravel()
    weight = np.tile(1 / audit.inclusion, problems)
    seen = [
        np.bincount(places, powers, problems * (cells + 1) * outcomes).reshape(*lead, cells + 1, outcomes)[..., 1:, :]
        for powers in (np.ones_like(weight), weight, weight**2, weight**3)
    ]
    uneven = audit.design == "weighted"
    return Cells(size.astype(np.float64), np.stack(seen), own, audit.n, audit.k, uneven, cell=cell, outcome=outcome)


def crossing(function: Callable[[Floats], Floats], inside: Floats, outside: Floats) -> Floats:
    """Return where a function that is not positive inside becomes positive; the outside where it never does.

    Notes
    -----
    Regula falsi after Illinois, with a bisection in every fourth step.

    Examples
    --------
    >>> crossing(lambda x: x**2 - 2, np.zeros(2), np.array([2.0, 1])).round(6)
    array([1.414214, 1.      ])
    """
    a, b = inside.copy(), outside.copy()
    fa, fb = function(a), function(b)
    never, last, x = fb <= 0, np.zeros(a.shape), b
    for step in range(MOST_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            x = (a + b) / 2 if step % 4 == 3 else np.where(fb > fa, a - fa * (b - a) / (fb - fa), a)
        found = function(x)
        under = found <= 0
        # The end that two steps left where it was counts half.
        fa = np.where(under, found, np.where(last < 0, fa / 2, fa))
        fb = np.where(under, np.where(last > 0, fb / 2, fb), found)
        a, b, last = np.where(under, x, a), np.where(under, b, x), np.where(under, 1, -1)
        if (never | (np.abs(found) < NEAR) | (np.abs(b - a) < NEAR)).all():
            break
    return np.where(never, outside, x)
