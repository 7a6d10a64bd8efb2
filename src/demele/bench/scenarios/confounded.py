"""A process whose factors have a common cause: what is observed, what interventions give, and a scenario of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from demele.bench.scenario import Holds, Scenario
from demele.core.arrays import Floats
from demele.core.checked_numbers import checked_count, checked_share
from demele.core.errors import InputError
from demele.core.kinds import Count, Seed, checked
from demele.core.seeds import rng_for


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfoundedProcess:
    """A disentangled causal process: no factor acts on another, and a confounder acts on all (Suter et al. 2019).

    Parameters
    ----------
    strength : float in [0, 1]
        Probability with which a factor has the value of the confounder; else it is drawn by itself. Each value of each
        factor is as likely at any strength.
    leak : float in [0, 1]
        Share of the next factor in each code; the last code holds some of the first factor.
    n_factors, n_values : int
        Each factor is a whole number from 0.

    Notes
    -----
    By hand: the mean of factor j where factor i was seen to be v is s^2 v + (1 - s^2) m, m the mean of all values;
    where i was set to v, it is m. So the robustness of a code to all factors but its own is 1 - leak under
    interventions, at any strength. From rows as they come, :func:`demele.metrics.interventional_robustness` finds
    1 - leak (1 + 2 s^2 / 3) with four values: it compares with the mean of rows that have a value, not of rows that are
    set to it.

    Examples
    --------
    >>> process = ConfoundedProcess(strength=0.5)
    >>> seen, _ = process.observe(20_000)
    >>> chosen, factors = process.intervene(20_000, {0: 3})
    >>> set(factors[:, 0].tolist()), round(float(factors[:, 1].mean()), 1)
    ({3.0}, 1.5)
    """

    strength: float = 0.5
    leak: float = 0.0
    n_factors: int = 3
    n_values: int = 4

    def __post_init__(self) -> None:
        for what in ("strength", "leak"):
            checked_share(getattr(self, what), what, 0, 1, "[]")
        for what in ("n_factors", "n_values"):
            checked_count(getattr(self, what), what, 2)

    @checked
    def observe(self, n: Count, *, seed: Seed = 0) -> tuple[Floats, Floats]:
        """Return codes and factors of ``n`` rows as they come."""
        return self._drawn(rng_for(seed, "confounded"), n, {})

    @checked
    def intervene(self, n: Count, do: Mapping[int, int], *, seed: Seed = 0) -> tuple[Floats, Floats]:
        """Return codes and factors of ``n`` rows where some factors are set to a value, whatever the confounder is.

        Raises
        ------
        InputError
            For a factor or a value that there is not.
        """
        for factor, value in do.items():
            if not (0 <= factor < self.n_factors and 0 <= value < self.n_values):
                raise InputError(
                    "do", f"expected factors below {self.n_factors} and values below {self.n_values}, got {dict(do)}"
                )
        return self._drawn(rng_for(seed, "confounded"), n, do)

    def _drawn(self, rng: np.random.Generator, n: int, do: Mapping[int, int]) -> tuple[Floats, Floats]:
        common = rng.integers(0, self.n_values, (n, 1))
        own = rng.integers(0, self.n_values, (n, self.n_factors))
        factors = np.where(rng.random((n, self.n_factors)) < self.strength, common, own).astype(np.float64)
        for factor, value in do.items():
            factors[:, factor] = value
        return (1 - self.leak) * factors + self.leak * np.roll(factors, -1, axis=1), factors


def _perfect(rng: np.random.Generator, severity: float, n: int) -> tuple[Floats, Floats]:
    return ConfoundedProcess(strength=severity)._drawn(rng, n, {})


def confounded_scenario() -> Scenario:
    """Return the scenario of a confounder: scores of perfect codes should stay while their factors come together.

    Examples
    --------
    >>> from demele import bench
    >>> found = bench.check_metrics(["irs"], bench.confounded_scenario(), seeds=2, n_rows=500)
    >>> found.verdict("irs", "confounded").status
    'holds'
    """
    return Scenario(
        name="confounded",
        title="Confounded",
        question="Does the score of perfect codes stay when a common cause makes factors come together?",
        sweep="share of each factor that is the confounder",
        severities=(0.0, 0.2, 0.4, 0.6, 0.8),
        draw=_perfect,
        source="Suter, Miladinovic, Schoelkopf & Bauer 2019, definition 1",
        wanted={"any": (Holds(),)},
    )
