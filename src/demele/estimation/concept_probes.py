"""Probes of single concepts on sparse codes: which codes mark a class, and how well a few of them tell it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from demele.core.arrays import Flags, Floats, Rows
from demele.core.columns import SparseCodes
from demele.estimation.logistic import one_vs_rest_logistic, scaled_codes
from demele.estimation.univariate import fit_as_far

Ranking = Literal["standardised", "raw"]
#: Non-zeros whose sums are taken at a time.
MOST_NONZEROS = 4_000_000
#: A variance of at most this share of the mean square is 0, to the rounding of sums.
ROUNDING = 1e-12


# Ranking --------------------------------------------------------------------------------------------------------------


def column_sums(codes: SparseCodes, weights: Floats, *, squared: bool = False) -> Floats:
    """Return weighted sums of codes, or of their squares, (n_codes, n_weightings), a block of codes at a time.

    Parameters
    ----------
    codes : SparseCodes
    weights : array of shape (n_samples, n_weightings)
        Such as the indicators of classes.
    """
    from scipy.sparse import csr_array

    sums = np.empty((codes.d, weights.shape[1]))
    for block, own in _blocks(codes):
        values = codes.values[own].astype(np.float64)
        starts = codes.starts[block.start : block.stop + 1] - codes.starts[block.start]
        shape = (block.stop - block.start, codes.n)
        sums[block] = csr_array((values**2 if squared else values, codes.rows[own], starts), shape=shape) @ weights
    return sums


def _blocks(codes: SparseCodes) -> Iterator[tuple[slice, slice]]:
    """Yield neighbouring codes, and their non-zeros, of bounded number."""
    first = 0
    while first < codes.d:
        last = int(np.searchsorted(codes.starts, codes.starts[first] + MOST_NONZEROS, side="right")) - 1
        last = min(max(last, first + 1), codes.d)
        yield slice(first, last), slice(int(codes.starts[first]), int(codes.starts[last]))
        first = last


def differences(
    inside: Floats, n_inside: float, every: Floats, squares: Floats, n: float, ranking: Ranking
) -> tuple[Floats, Floats]:
    """Return by how much each code is larger in a class than in the rest, ranked and raw, (n_codes,) each.

    Parameters
    ----------
    inside, every : arrays of shape (n_codes,)
        Sums over the rows of the class, and over all.
    n_inside, n : float
        Their numbers.
    squares : array of shape (n_codes,)
        Sums of squares over all rows.
    ranking : {"standardised", "raw"}
        Over the pooled standard deviation, infinite for a code that is constant in both and differs; or as it is.
    """
    rest = n - n_inside
    means = inside / max(n_inside, 1.0), (every - inside) / max(rest, 1.0)
    raw = means[0] - means[1]
    if ranking == "raw":
        return raw, raw
    variance = (squares - n_inside * means[0] ** 2 - rest * means[1] ** 2) / max(n - 2.0, 1.0)
    scale = squares / max(n, 1.0)
    flat = variance <= ROUNDING * scale
    differs = raw**2 > ROUNDING * scale
    of_flat = np.where(differs, np.copysign(np.inf, raw), 0.0)
    return np.where(flat, of_flat, raw / np.sqrt(np.where(flat, 1.0, variance))), raw


def largest(ranked: Floats, raw: Floats, most: int) -> Rows:
    """Return the codes of the largest scores, largest first; equal ones by the raw difference, then in their order.

    Codes that score 0 are left out.
    """
    order = np.lexsort((np.arange(len(ranked)), -raw, -ranked))[:most]
    return order[ranked[order] > 0]


def correlations(sums: Floats, squares: Floats, products: Floats, n: float, target: tuple[float, float]) -> Floats:
    """Return absolute correlations of codes with a quantity from sums over its rows; 0 for codes that do not vary.

    Parameters
    ----------
    sums, squares, products : arrays of shape (n_codes,)
        Of the codes, of their squares, and of their products with the centred quantity.
    n : float
    target : (float, float)
        Sum, and sum of squares, of the centred quantity.
    """
    variance = squares - sums**2 / n
    spread = target[1] - target[0] ** 2 / n
    covariance = products - sums * target[0] / n
    usable = variance > ROUNDING * squares
    found: Floats = np.zeros(len(sums))
    if spread > 0:
        found[usable] = np.abs(covariance[usable]) / np.sqrt(variance[usable] * spread)
    return found


# Probes of a few columns ----------------------------------------------------------------------------------------------


def logistic_scores(train: Floats, inside: Flags, test: Floats) -> Floats:
    """Return the scores of test rows under a balanced logistic regression (L2, C = 1) on standardised columns.

    Parameters
    ----------
    train, test : arrays of shape (n_train, k) and (n_test, k)
    inside : array of bool of shape (n_train,)
        Which training rows are in the class.

    Returns
    -------
    array of shape (n_test,)
        Above 0: in the class.
    """
    columns, others = scaled_codes(train, test, scaling="standard")
    coef, intercept = one_vs_rest_logistic(columns, inside.astype(np.intp), 2)
    return np.asarray(others @ coef[1] + intercept[1])


def explained(train: Floats, values: Floats, test: Floats, values_test: Floats) -> float:
    """Return R2 on test rows of least squares, against the mean of the training rows."""
    columns, others = scaled_codes(train, test, scaling="standard")
    mean, centre = values.mean(), columns.mean(axis=0)
    slopes = np.linalg.lstsq(columns - centre, values - mean, rcond=None)[0]
    nothing = float(np.square(values_test - mean).sum())
    rest = float(np.square(values_test - mean - (others - centre) @ slopes).sum())
    return 1.0 - rest / nothing if nothing > 0 else float("nan")


def f1(predicted: Flags, inside: Flags) -> float:
    """Return 2 true positives / (positives + predicted positives); NaN where there are neither.

    Examples
    --------
    >>> round(f1(np.array([True, False, False]), np.array([True, True, False])), 6)
    0.666667
    """
    total = float(predicted.sum() + inside.sum())
    return 2.0 * float((predicted & inside).sum()) / total if total else float("nan")


# Probes of many columns -----------------------------------------------------------------------------------------------


def speaking_codes(train: Floats, inside: Flags) -> Rows:
    """Return the columns of positive weight in an L1 probe (balanced, C = 1), largest weight first.

    Columns are divided by their standard deviations.
    """
    import sklearn
    from sklearn.linear_model import LogisticRegression

    deviation = train.std(axis=0)
    scaled = train / np.where(deviation > 0, deviation, 1.0)
    release = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    lasso: dict[str, Any] = {"l1_ratio": 1.0} if release >= (1, 8) else {"penalty": "l1"}
    # random_state: its coordinates are visited in random order
    probe = LogisticRegression(**lasso, solver="liblinear", class_weight="balanced", max_iter=500, random_state=0)
    fit_as_far(lambda: probe.fit(scaled, inside))
    weights = probe.coef_[0]
    order: Rows = np.argsort(-weights, kind="stable")
    return np.asarray(order[weights[order] > 0])


def whole_probe(train: Any, inside: Flags) -> tuple[Floats, float]:
    """Return weights and intercept of a logistic regression (balanced, L2, C = 1) on all columns, in their own unit.

    Parameters
    ----------
    train : SciPy sparse array, or array, of shape (n_train, n_columns)
        Columns are divided by their standard deviations, and not centred, so that zeros stay zeros.
    """
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    rows = csr_array(train)
    n = rows.shape[0]
    mean = np.asarray(rows.sum(axis=0)).ravel() / n
    variance = np.asarray((rows * rows).sum(axis=0)).ravel() / n - mean**2
    deviation = np.sqrt(np.where(variance > 1e-12 * (mean**2 + variance), variance, np.inf))
    scaled = csr_array((rows.data / deviation[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
    probe = LogisticRegression(class_weight="balanced", max_iter=500)
    fit_as_far(lambda: probe.fit(scaled, inside))
    return np.asarray(probe.coef_[0] / deviation), float(probe.intercept_[0])


# Absorption -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Absorbed:
    """What other codes carry of rows of a class: shares of rows, and how many rows there were."""

    full: float
    fraction: float
    n: int


def absorbed(
    parts: Any,
    whole: Floats,
    recognised: Flags,
    own: Rows,
    *,
    silent: Flags,
    may_take_all: Flags,
    may_take_some: Flags,
    share: float = 0.4,
    most: int = 3,
) -> Absorbed:
    """Return how much of a class is carried by codes other than its own.

    Parameters
    ----------
    parts : SciPy sparse array of shape (n_rows, n_codes)
        What each code adds to the probe of each row of the class.
    whole : array of shape (n_rows,)
        What all add: p.
    recognised : array of bool of shape (n_rows,)
        Rows that the probe recognises; only these count.
    own : array of int
        The codes of the class.
    silent : array of bool of shape (n_rows,)
        Rows on which all of these are 0.
    may_take_all, may_take_some : arrays of bool of shape (n_codes,)
        Which codes may absorb a row as a whole, and a part of it.
    share : float
        Of p, the least that the largest other (full), or the three largest (fraction), must carry.
    most : int
        How many others are added up for the fraction.
    """
    rows = np.flatnonzero(recognised)
    if not len(rows):
        return Absorbed(float("nan"), float("nan"), 0)
    of_rows = parts.tocsr()[rows]
    total, quiet = whole[rows], silent[rows]
    is_own = np.zeros(parts.shape[1], dtype=bool)
    is_own[own] = True
    held = np.asarray(of_rows[:, own].sum(axis=1)).ravel() if len(own) else np.zeros(len(rows))
    top = _largest_of_rows(of_rows, np.ones_like(is_own), 1)
    taken = _largest_of_rows(of_rows, ~is_own & may_take_some, most)
    best = _largest_of_rows(of_rows, may_take_all, 1)
    usable = total > 0
    safe = np.where(usable, total, 1.0)
    full = usable & quiet & (best >= share * safe) & (best >= top)
    lost = np.minimum(taken, total - held)
    part = np.where(held <= 0, 1.0, lost / np.where(lost + held > 0, lost + held, 1.0))
    part = np.where(~usable | (held >= total) | (taken < share * safe), 0.0, part)
    return Absorbed(float(full.mean()), float(part.mean()), len(rows))


def _largest_of_rows(parts: Any, allowed: Flags, most: int) -> Floats:
    """Return the sum of the ``most`` largest positive entries of each row, among allowed columns."""
    kept = (parts.data > 0) & allowed[parts.indices]
    row = np.repeat(np.arange(parts.shape[0]), np.diff(parts.indptr))[kept]
    values = np.asarray(parts.data[kept], dtype=np.float64)
    order = np.lexsort((-values, row))
    row, values = row[order], values[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row, side="left")
    among = rank < most
    return np.bincount(row[among], weights=values[among], minlength=parts.shape[0]).astype(np.float64)
