"""How often intervals of Kendall's tau hold the truth: few configurations, strong agreement, ties, groups removed.

``python -m benchmarks.agreement_coverage`` (about half an hour on one core); writes results/agreement_coverage.csv.
1 000 samples a row (400 where groups are removed), less those whose ties leave no interval; 2 000 resamples each;
nominal 95 %. "told from 0": the share that is called clear as if it were the only pair. Samples are of a normal copula
unless it is said otherwise; where scores tie, tau is tau-b of the population.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import kendalltau, multivariate_normal, norm, rankdata

from benchmarks.loop import Table, main
from demele.bench.rank_agreement import (
    counted,
    p_values,
    p_values_within,
    resamples,
    tau_intervals,
    taus,
    untied_rows,
    weighted_taus,
    weighted_taus_within,
)

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]
SIZES = (8, 12, 24, 36)
TAUS = (0.0, 0.3, 0.6, 0.8, 0.95)
DRAWS, SETS, SETS_WITHIN, GROUPS = 2000, 1000, 400, 6
LEVEL = 0.95


def normal(tau: float) -> Draw:
    """Two columns without ties."""
    rho = np.sin(np.pi * tau / 2)

    def draw(rng: np.random.Generator, n: int) -> Array:
        first = rng.standard_normal(n)
        return np.column_stack([first, rho * first + np.sqrt(1 - rho**2) * rng.standard_normal(n)])

    return draw


def clayton(tau: float) -> Draw:
    """Columns that agree about the bad configurations and less about the good ones."""
    theta = 2 * tau / (1 - tau)

    def draw(rng: np.random.Generator, n: int) -> Array:
        first, other = rng.random((2, n))
        if theta == 0:
            return np.column_stack([first, other])
        second = (first**-theta * (other ** (-theta / (1 + theta)) - 1) + 1) ** (-1 / theta)
        return np.column_stack([first, second])

    return draw


def tied(tau: float, share: float, value: float) -> Draw:
    """A share of the rows is tied in both columns: in their middle (0), which leaves tau-b, or below all others."""
    if value < 0:  # all other rows are above those that tie
        tau = (tau * (1 - share**2) - 2 * share * (1 - share)) / (1 - share) ** 2
    rest = normal(tau)

    def draw(rng: np.random.Generator, n: int) -> Array:
        found = rest(rng, n)
        found[rng.random(n) < share] = value
        return found

    return draw


def three_levels(tau: float) -> Draw:
    """Both columns take three values, equally often."""
    cuts = norm.ppf([0, 1 / 3, 2 / 3, 1])

    def of_rho(rho: float) -> float:
        both = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        corners = np.array([[both.cdf(np.clip([a, b], -9, 9)) for b in cuts] for a in cuts])
        cells = np.diff(np.diff(corners, axis=0), axis=1)
        concordant = sum(cells[i, j] * cells[i + 1 :, j + 1 :].sum() for i in range(3) for j in range(3))
        discordant = sum(cells[i, j] * cells[i + 1 :, :j].sum() for i in range(3) for j in range(3))
        return float(2 * (concordant - discordant) / (1 - 1 / 3))

    rest = normal(2 / np.pi * np.arcsin(brentq(lambda rho: of_rho(rho) - tau, -0.5, 0.9999)))

    def draw(rng: np.random.Generator, n: int) -> Array:
        return np.asarray(np.digitize(rest(rng, n), cuts[1:-1]), dtype=np.float64)

    return draw


KINDS: dict[str, Callable[[float], Draw]] = {
    "no ties": normal,
    "no ties, tails differ": clayton,
    "1/6 tied in the middle": lambda tau: tied(tau, 1 / 6, 0),
    "1/6 tied below all others": lambda tau: tied(tau, 1 / 6, -99),
    "1/3 tied in the middle": lambda tau: tied(tau, 1 / 3, 0),
    "half tied in the middle": lambda tau: tied(tau, 1 / 2, 0),
    "three values": three_levels,
}


def row(kind: str, n: int, tau: float) -> list[dict[str, object]]:
    """Draw samples, and count how often their intervals hold tau."""
    rng = np.random.default_rng([n, round(100 * tau), sorted(KINDS).index(kind)])
    draw = KINDS[kind](tau)
    found = []
    for _ in range(SETS):
        scores = draw(rng, n)
        draws = weighted_taus(scores, resamples(rng, n, DRAWS))
        limits = tau_intervals(taus(scores), draws, counted(scores), level=LEVEL, untied=untied_rows(scores))
        found.append((taus(scores), *limits, p_values(scores)))
    return told(kind, n, tau, np.array(found)[..., 0])


def told(kind: str, n: int, tau: float, found: Array) -> list[dict[str, object]]:
    """Return how many of the samples with an interval hold tau; no row without one.

    The columns of ``found``: tau, low, high, p-value.
    """
    if not np.isfinite(found[:, :3]).all(axis=1).any():
        return []
    estimate, low, high, chance = found[np.isfinite(found[:, :3]).all(axis=1)].T
    clear = (chance <= 1 - LEVEL) & ~((low <= 0) & (high >= 0))
    row = {
        "scores": kind,
        "configurations": n,
        "tau": f"{tau:.3g}",
        "samples": low.size,
        "mean tau": f"{estimate.mean():.3f}",
        "coverage": f"{np.mean((low <= tau + 1e-9) & (tau - 1e-9 <= high)):.3f}",
        "mean width": f"{np.mean(high - low):.2f}",
        "told from 0": f"{np.mean(clear):.3f}",
    }
    return [row]


def grouped(tau: float, rng: np.random.Generator, n: int) -> tuple[Array, NDArray[np.intp]]:
    """Scores that a group moves, by half a standard deviation from one to the next."""
    groups = rng.integers(0, GROUPS, n)
    return normal(tau)(rng, n) + 0.5 * groups[:, None], groups


def row_within(n: int, tau: float) -> list[dict[str, object]]:
    """The same, for ranks less their means within six groups; the truth is that of 100 000 configurations."""
    rng = np.random.default_rng([n, round(100 * tau), 99])
    scores, groups = grouped(tau, rng, 100_000)
    ranks = np.column_stack([rankdata(column) for column in scores.T])
    ranks -= np.stack([ranks[groups == one].mean(axis=0) for one in range(GROUPS)])[groups]
    truth = float(kendalltau(*ranks.T).statistic)
    found = []
    for _ in range(SETS_WITHIN):
        scores, groups = grouped(tau, rng, n)
        estimate = weighted_taus_within(scores, groups, np.ones((1, n)))[0]
        draws = weighted_taus_within(scores, groups, resamples(rng, n, DRAWS))
        chances = p_values_within(estimate, counted(scores), GROUPS)
        found.append((estimate, *tau_intervals(estimate, draws, counted(scores), level=LEVEL), chances))
    return told(f"means of {GROUPS} groups removed", n, truth, np.array(found)[..., 0])


CELLS = [
    *((kind, n, tau) for kind in KINDS for n in SIZES for tau in TAUS),
    *((n, tau) for n in (24, 36) for tau in (0.0, 0.3, 0.6, 0.8)),
]


if __name__ == "__main__":
    measured = {3: row, 2: row_within}
    main({"agreement_coverage": Table(cells=CELLS, measured=lambda cell: measured[len(cell)](*cell))})
