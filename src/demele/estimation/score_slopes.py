"""How scores of information change with single annotations, and the annotations whose change turns an order round."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.estimation.information import InformationTable, entropy, mutual_information

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
#: Value of a table of information; leading axes are tables.
Formula = Callable[[InformationTable], Floats]

#: Share of the rows that is annotated anew in one step, in each factor.
STEP = 0.0025
#: Change of an information (nats) by which slopes of scores are taken.
NUDGE = 1e-6


@dataclass(frozen=True, slots=True)
class BinnedCodes:
    """Codes as bin numbers (n_codes, n), and the number of bins."""

    bins: Ints
    n_bins: int

    def counts(self, labels: Ints, n_values: int) -> Floats:
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


def slopes(formula: Formula, table: InformationTable) -> tuple[Floats, Floats]:
    """Return how a score changes with each information (n_codes, n_factors) and each entropy (n_factors,)."""
    d, m = table.information.shape
    information = np.broadcast_to(table.information, (d * m + m, d, m)).copy()
    heights = np.broadcast_to(table.factor_entropy, (d * m + m, m)).copy()
    information.reshape(len(information), -1)[np.arange(d * m), np.arange(d * m)] += NUDGE
    heights[d * m + np.arange(m), np.arange(m)] += NUDGE
    found = (formula(InformationTable(information, heights)) - formula(table)) / NUDGE
    return found[: d * m].reshape(d, m), found[d * m :]


def label_slopes(codes: BinnedCodes, counts: list[Floats], formula: Formula) -> list[Floats]:
    """Return, for each factor, how a score changes with each value that a row may have: arrays (n, n_values)."""
    of_information, of_entropy = slopes(formula, table_of(counts))
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
    factors: Ints,
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
