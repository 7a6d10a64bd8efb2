"""Shapley values of any game by sampled permutations, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ShapleyValues:
    """What each player adds in each permutation.

    Attributes
    ----------
    contributions : array of shape (permutations, players)
        Each row sums to the worth of all players minus the worth of none.
    evaluations : int
        How often the worth of a set was asked for.
    """

    contributions: Floats
    evaluations: int

    @property
    def values(self) -> Floats:
        """Means over permutations: shape (players,)."""
        return np.asarray(self.contributions.mean(axis=0))

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return lower and upper ends of Student intervals of each value, NaN of a single permutation.

        Each holds for itself: of a hundred players five are outside of theirs on average.
        """
        from scipy.stats import t

        n = len(self.contributions)
        if n < 2:
            return np.full(self.values.shape, np.nan), np.full(self.values.shape, np.nan)
        half = t.ppf((1 + level) / 2, n - 1) * self.contributions.std(axis=0, ddof=1) / np.sqrt(n)
        return self.values - half, self.values + half


def shapley_values(
    worth: Callable[[Flags], float],
    players: int,
    *,
    permutations: int,
    rng: np.random.Generator,
    is_void: Callable[[Flags], bool] = lambda members: not members.any(),
) -> ShapleyValues:
    r"""Return Monte Carlo estimates of Shapley values.

    .. math:: \phi_i = \mathrm{E}_\pi [ v(\text{before}_\pi(i) \cup \{i\}) - v(\text{before}_\pi(i)) ]

    Parameters
    ----------
    worth : callable
        v of a set of players, given as flags of shape (players,).
    players : int
    permutations : int
    rng : numpy.random.Generator
    is_void : callable
        Whether a set and all its subsets are worth as much as nobody: their worth is not asked for. By default only the
        empty set is.

    Returns
    -------
    ShapleyValues

    Notes
    -----
    Permutations are walked from all players to none, and a walk ends where the set is void: what is left adds nothing
    (Ghorbani and Zou 2020, who stop where the worth is small).

    Examples
    --------
    >>> found = shapley_values(lambda members: members @ [1.0, 2.0], 2, permutations=3, rng=np.random.default_rng(0))
    >>> found.values.tolist()
    [1.0, 2.0]
    """
    nothing = float(worth(np.zeros(players, dtype=bool)))
    everything = float(worth(np.ones(players, dtype=bool)))
    contributions, evaluations = np.zeros((permutations, players)), 2
    for row in contributions:
        members, held = np.ones(players, dtype=bool), everything
        for player in rng.permutation(players):
            members[player] = False
            if is_void(members):
                row[player] = held - nothing
                break
            left = float(worth(members))
            evaluations += 1
            row[player], held = held - left, left
    return ShapleyValues(contributions, evaluations)
