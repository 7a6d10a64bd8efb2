"""Screening and Sobol indices of the inputs of a function, from the same runs (Campolongo, Saltelli, Cariboni 2011)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demele.core.arrays import Floats

#: Resamples of the runs for an interval.
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class RadialRuns:
    """Values of a function where all inputs are drawn, and where one of them is drawn again.

    Attributes
    ----------
    first, second : array of shape (repeats,)
        At points a and b, whose coordinates are all drawn.
    moved : array of shape (repeats, inputs)
        At a, with one coordinate of b.
    steps : array of shape (repeats, inputs)
        b - a.
    """

    first: Floats
    second: Floats
    moved: Floats
    steps: Floats

    @property
    def effects(self) -> Floats:
        """Elementary effects: the change by the step, shape (repeats, inputs)."""
        return np.asarray((self.moved - self.first[:, None]) / self.steps)

    @property
    def evaluations(self) -> int:
        """How often the function was computed: repeats (inputs + 2)."""
        return self.moved.size + 2 * len(self.first)

    def indices(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return first-order and total Sobol indices, each of shape (inputs,), or one row for each row of weights.

        NaN where the function does not vary. First: Saltelli et al. (2010); total: Jansen (1999).
        """
        n = len(self.first)
        of_runs = np.full((1, n), 1 / n) if weights is None else weights / n
        centre = of_runs @ (self.first + self.second)[:, None] / 2
        squares = of_runs @ np.stack([self.first, self.second, self.first**2 + self.second**2], axis=1)
        variance = squares[:, 2:] / 2 - centre**2
        change = self.moved - self.first[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            first = (of_runs @ (self.second[:, None] * change) - centre * (of_runs @ change)) / variance
            total = of_runs @ change**2 / (2 * variance)
        return (first[0], total[0]) if weights is None else (first, total)

    def intervals(self, level: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return percentile intervals over runs drawn again, of both indices: each of shape (2, inputs)."""
        n, ends = len(self.first), [(1 - level) / 2, (1 + level) / 2]
        drawn = self.indices(rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES).astype(np.float64))
        first, total = (np.quantile(one, ends, axis=0) for one in drawn)
        return first, total


def radial_runs(
    function: Callable[[Floats], Floats],
    inputs: int,
    *,
    repeats: int,
    rng: np.random.Generator,
    low: float = 0.0,
    high: float = 1.0,
) -> RadialRuns:
    """Return runs of a function of independent inputs, uniform between ``low`` and ``high``.

    Parameters
    ----------
    function : callable
        Of points, an array of shape (m, inputs), to values of shape (m,).
    inputs, repeats : int
    rng : numpy.random.Generator
    low, high : float

    Returns
    -------
    RadialRuns

    Examples
    --------
    >>> runs = radial_runs(lambda x: x @ [1.0, 2.0], 2, repeats=4, rng=np.random.default_rng(0))
    >>> runs.effects.round(6).tolist()[0], runs.evaluations
    ([1.0, 2.0], 16)
    """
    first, second, moved, steps = [], [], [], []
    for _ in range(repeats):
        a, b = rng.uniform(low, high, (2, inputs))
        points = np.vstack([a, b, np.where(np.eye(inputs, dtype=bool), b, a)])
        values = np.asarray(function(points), dtype=np.float64)
        first.append(values[0])
        second.append(values[1])
        moved.append(values[2:])
        steps.append(b - a)
    return RadialRuns(np.array(first), np.array(second), np.array(moved), np.array(steps))
