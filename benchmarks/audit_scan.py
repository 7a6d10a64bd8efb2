"""How often bounds of the number of wrong labels fail: binomial probabilities of what an audit meets, no simulation.

``python -m benchmarks.audit_scan`` (seconds); writes results/audit_scan.csv. Of m wrong labels, all against
the baseline classifier and each drawn with probability p, an audit meets x, which is binomial. A bound fails if it
is below m: the verdict is then for a candidate that is not better. The largest probability of that, over m from 1 to
400, is given in percent for each bound, at an error of 2.5%; ``worst`` is over p = 0.01, 0.02, ..., 0.99.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.loop import Table, main
from demele.classifiers.intervals import FRACTIONS, SampledSum, upper_bound

Floats = NDArray[np.float64]
#: From counts met, 0 to m, and the probability of each to be drawn: the largest number that is not ruled out.
Bound = Callable[[Floats, float, float], Floats]

TAIL = 0.025
MOST = 400
CHANCES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def _gamma(mean: Callable[[float], float], variance: Callable[[float], float]) -> Bound:
    """Return the bound of Fay and Feuer with one more term, of this mean and variance at the weight w."""

    def bound(x: Floats, p: float, tail: float) -> Floats:
        from scipy.special import gammaincinv

        w = 1 / p
        y, v = x * w + mean(w), x * w * (w - 1) + variance(w)
        found: Floats = v / y * gammaincinv(y * y / v, 1 - tail)
        return found

    return bound


def _binomial(x: Floats, p: float, tail: float) -> Floats:
    w = 1 / p
    seen = SampledSum(x * w, x * w * (w - 1), x * w)
    return upper_bound(seen, w, 1.0, tail)


def _bet(x: Floats, p: float, tail: float) -> Floats:
    """Largest m that the product bet of the exact comparison does not rule out: E < 1 / tail at m and x."""
    theta = -FRACTIONS * np.log(1 - p) / 2
    each = x[:, None] * np.log((1 - (1 - p) * np.exp(2 * theta)) / p)
    low, high = x.copy(), x + 1e5
    for _ in range(60):
        m = (low + high) / 2
        logs = 2 * theta * (m - x)[:, None] + each + np.log(FRACTIONS / FRACTIONS.sum())
        top = logs.max(axis=1)
        shown = top + np.log(np.exp(logs - top[:, None]).sum(axis=1)) >= -np.log(tail)
        low, high = np.where(shown, low, m), np.where(shown, m, high)
    return high


BOUNDS: dict[str, Bound] = {
    "gamma, guard w - 1": _gamma(lambda w: w - 1, lambda w: (w - 1) ** 2),
    "gamma, guard max(w - 1, 1)": _gamma(lambda w: max(w - 1, 1), lambda w: max(w - 1, 1) ** 2),
    "gamma, mean + w - 1/2, variance + w (w - 1)": _gamma(lambda w: w - 0.5, lambda w: w * (w - 1)),
    "binomial": _binomial,
    "product bet": _bet,
}


def worst_error(bound: Bound, p: float, tail: float, *, most: int = MOST) -> float:
    """Return the largest probability, over m = 1 to ``most``, that the bound is below m."""
    from scipy.stats import binom

    m = np.arange(1, most + 1)
    highs = bound(np.arange(float(most + 1)), p, tail)
    # Bounds grow with the count, so a bound fails for all counts up to one; equality is no failure.
    fails = np.searchsorted(highs, m * (1 - 1e-9), side="left")
    return float(binom.cdf(fails - 1, m, p).max())


def scanned(name: str) -> dict[str, object]:
    """Scan a bound."""

    def percent(p: float) -> float:
        return 100 * worst_error(BOUNDS[name], p, TAIL)

    row: dict[str, object] = {"bound": name, **{f"p={p:g}": f"{percent(p):.2f}" for p in CHANCES}}
    return {**row, "worst": f"{max(percent(p / 100) for p in range(1, 100)):.2f}"}


if __name__ == "__main__":
    main({"audit_scan": Table(cells=list(BOUNDS), measured=scanned)})
