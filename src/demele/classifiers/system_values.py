"""Numbers of several systems on the same rows, and their differences, from one covariance or from bounds."""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from demele.classifiers.results import NamedEstimate
from demele.core.arrays import Floats
from demele.core.checked_numbers import checked_pair
from demele.core.errors import InputError
from demele.core.results import Interval

#: Of the weights of systems (1 of one, or 1 and -1 of two): the least and the largest value that they can have.
Bounds = Callable[[Floats], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Values:
    """Estimates of m systems, their covariances of shape (m, m), and the degrees of freedom of these."""

    values: Floats
    covariance: Floats
    degrees: float = math.inf
    method: str = "normal"
    kind: str = "sampling"

    def of(self, weights: Floats, level: float, top: float) -> tuple[float, Interval, float]:
        """Return a system, in [0, top], or a difference: its value, its interval and the p-value of 0."""
        from scipy.special import stdtr, stdtrit

        value, error = float(weights @ self.values), float(np.sqrt(weights @ self.covariance @ weights))
        z = float(stdtrit(self.degrees, (1 + level) / 2))
        low, high = np.clip([value - z * error, value + z * error], 0 if weights.sum() else -top, top)
        p = 1.0 if value == 0 else float(2 * stdtr(self.degrees, -abs(value) / error)) if error > 0 else 0.0
        interval = Interval(low=float(low), high=float(high), level=level, method=self.method, kind=self.kind)
        return value, interval, p


def mean_values(rows: Floats, method: str, kind: str = "sampling") -> Values:
    """Return the means of rows of shape (m, n), with Student's quantiles."""
    n = rows.shape[1]
    return Values(rows.mean(axis=1), np.atleast_2d(np.cov(rows)) / n, n - 1, method, kind)


def named_estimates(
    names: tuple[str, ...],
    observed: Values,
    known: Values | Bounds | None,
    *,
    level: float,
    n: int,
    top: float = 1.0,
) -> tuple[NamedEstimate, ...]:
    """Return a row for each system and for each difference, later minus earlier; only differences have p-values.

    ``known`` says what follows for true labels: other values, or bounds, which have no p-value.
    """
    units, rows = np.eye(len(names)), []
    pairs = [(f"{names[j]} - {names[i]}", units[j] - units[i]) for i, j in itertools.combinations(range(len(names)), 2)]
    for name, weights in (*zip(names, units, strict=True), *pairs):
        value, interval, p_value = observed.of(weights, level, top)
        corrected, span = math.nan, None
        if isinstance(known, Values):
            corrected, span, p_value = known.of(weights, level, top)
        elif known is not None:
            low, high = known(weights)
            span = Interval(low=low, high=high, level=level, method="worst case", kind="worst-case")
            p_value = math.nan
        tested = math.nan if weights.sum() else p_value
        estimate = NamedEstimate(name=name, value=value, interval=interval, p_value=tested, n=n)
        rows.append(replace(estimate, corrected_value=corrected, corrected=span))
    return tuple(rows)


def systems_of(scores: Mapping[str, object] | object, argument: str) -> dict[str, object]:
    """Return columns by the names of systems; one column alone is called as the argument."""
    return {str(name): one for name, one in scores.items()} if isinstance(scores, Mapping) else {argument: scores}


def kept_share(shares: object, argument: str) -> tuple[float, float, float]:
    """Read two shares of errors; return them, and what they leave of a difference: 1 minus their sum."""
    first, second = checked_pair(shares, argument, "shares in [0, 1]", inside=lambda share: 0 <= share <= 1)
    if first + second >= 1:
        raise InputError(argument, f"expected two shares whose sum is below 1, got {first + second:g}")
    return first, second, 1 - first - second
