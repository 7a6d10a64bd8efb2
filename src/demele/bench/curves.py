"""What one metric gave along one scenario."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demele.estimation.differences import student

__all__ = ["Curve", "student_interval"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Values of a metric at every severity of a scenario, one for each seed that gave one.

    Attributes
    ----------
    metric, scenario : str
        Their names.
    values : tuple of arrays
        At each severity, the values of the seeds that gave one, in the order of the seeds.
    seeds : tuple of arrays
        The numbers of those seeds.
    reasons : tuple of tuples of str
        At each severity, why the other seeds gave none.
    declined : str, optional
        Why the metric takes no part in the scenario at all.

    Examples
    --------
    >>> import numpy as np
    >>> from demele.bench.curves import Curve
    >>> three, none = np.array([0.5, 0.6, 0.7]), np.array([])
    >>> seeds = (np.arange(3), np.arange(0))
    >>> curve = Curve(metric="a", scenario="b", values=(three, none), seeds=seeds, reasons=((), ("too few rows",)))
    >>> curve.n, curve.failed
    ([3, 0], [0, 1])
    >>> [round(end, 3) for end in curve.interval(0, 0.95)]
    [0.352, 0.848]
    """

    metric: str
    scenario: str
    values: tuple[NDArray[np.float64], ...]
    seeds: tuple[NDArray[np.intp], ...]
    reasons: tuple[tuple[str, ...], ...]
    declined: str | None = None

    @classmethod
    def of(cls, metric: str, scenario: str, outcomes: Sequence[Sequence[float | str]], declined: str | None) -> "Curve":
        """Return the curve of what every seed gave at every severity: a value, or the reason why there is none."""
        seeds = [[seed for seed, own in enumerate(of_seeds) if not isinstance(own, str)] for of_seeds in outcomes]
        return cls(
            metric=metric,
            scenario=scenario,
            values=tuple(
                np.array([own for own in of_seeds if not isinstance(own, str)], dtype=np.float64)
                for of_seeds in outcomes
            ),
            seeds=tuple(np.array(own, dtype=np.intp) for own in seeds),
            reasons=tuple(tuple(own for own in of_seeds if isinstance(own, str)) for of_seeds in outcomes),
            declined=declined,
        )

    @property
    def characterised(self) -> bool:
        """Whether there are rows, unless the metric takes no part."""
        return self.declined is not None or any(self.n) or any(self.failed)

    @property
    def means(self) -> NDArray[np.float64]:
        """Return the mean at each severity; NaN where no seed gave a value."""
        return np.array([values.mean() if len(values) else np.nan for values in self.values], dtype=np.float64)

    @property
    def n(self) -> list[int]:
        """Return how many seeds gave a value at each severity."""
        return [len(values) for values in self.values]

    @property
    def failed(self) -> list[int]:
        """Return how many seeds gave no value at each severity."""
        return [len(reasons) for reasons in self.reasons]

    def point(self, position: int, level: float) -> dict[str, float | int]:
        """Return the mean at one place of the sweep, its interval, and the number of seeds that gave a value."""
        low, high = self.interval(position, level)
        values = self.values[position]
        mean = float(values.mean()) if len(values) else np.nan
        return {"mean": mean, "low": low, "high": high, "n": len(values)}

    def interval(self, position: int, level: float) -> tuple[float, float]:
        """Return the Student t interval of the mean at one place of the sweep.

        Values without any spread give a point. Fewer than two values say nothing of their spread: (NaN, NaN).
        """
        return student(self.values[position], level)[:2]


def student_interval(estimate: float, error: float, freedom: float, level: float) -> tuple[float, float]:
    """Return the Student t interval of an estimate with its standard error and degrees of freedom."""
    from scipy.special import stdtrit

    half = error * float(stdtrit(freedom, (1 + level) / 2))
    return estimate - half, estimate + half
