"""Published claims about pruning, and the differences, paired by seed, that a study measures for them."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.proportions import holm
from demele.estimation.differences import student

Floats = NDArray[np.float64]
Expected = Literal["more", "equal", "less", ""]
Verdict = Literal["more", "less", "inconclusive"]

#: Of all noises together, the mean of each seed over them.
ALL = "all"
#: More seeds than anyone will run.
_MOST_SEEDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A difference that a publication, or a control, makes a statement about.

    Attributes
    ----------
    name : str
    title : str
        The two sides of the difference: "random minus magnitude".
    says : str
        The published statement with its place; for controls, the question that they answer.
    expected : {"more", "equal", "less", ""}
        The published sign: above 0, about 0, below 0; "" if nothing is published.
    measure : str
        Column of the rows.
    pairs : tuple of (str, str)
        Names of configurations: the value of the first minus that of the second, averaged over the pairs.
    baseline : str
        A noise whose difference is subtracted: the claim is that noise changes a difference.
    published : float or None
        The published difference, where a number is given.
    """

    name: str
    title: str
    says: str
    expected: Expected
    pairs: tuple[tuple[str, str], ...]
    measure: str = "error"
    baseline: str = ""
    published: float | None = None


#: In the order in which they are shown; they stand in ``claims.json``.
CLAIMS = tuple(
    Claim(**{**one, "pairs": tuple(map(tuple, one["pairs"]))})
    for one in json.loads(Path(__file__).with_name("claims.json").read_text(encoding="utf-8"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A claim under one noise: the difference, paired by seed.

    Attributes
    ----------
    claim : str
    noise : str
        Or "all": the mean over the noises of each seed.
    seeds : int
    pairs : int
        Of configurations, over which each seed is averaged.
    mean, spread : float
        Over seeds; the spread is a standard deviation.
    low, high : float
        Student's interval at 95 %, of this difference alone. NaN with one seed.
    p_value : float
        That of Student's test against 0.
    verdict : {"more", "less", "inconclusive"}
        Whether that interval lies above 0, below 0, or contains it.
    significant : bool
        Whether the difference stays significant after correction for all claims under the same labels (Holm, 5 %).
    first_lower, second_lower, ties : int
        Of all pairs and seeds, how often the value of the first was lower, that of the second, neither: the published
        counts.
    seeds_needed : int or None
        About how many seeds make such a difference significant with probability 80 %, at the level of one interval, if
        mean and spread stay the same; None if more than 1000, or with one seed.
    """

    claim: str
    noise: str
    seeds: int
    pairs: int
    mean: float
    spread: float
    low: float
    high: float
    p_value: float
    verdict: Verdict
    significant: bool
    first_lower: int
    second_lower: int
    ties: int
    seeds_needed: int | None


#: Value of a configuration under a noise with a seed, NaN where there is none.
Values = Mapping[tuple[str, str, int], float]


def differences(
    values: Mapping[str, Values], noises: Sequence[str], seeds: Sequence[int], claims: Sequence[Claim] = CLAIMS
) -> tuple[Difference, ...]:
    """Return the difference of every claim that the rows allow, under every noise and all of them together.

    Parameters
    ----------
    values : mapping of measure to mapping of (noise, configuration, seed) to float
    noises : sequence of str
    seeds : sequence of int
    claims : sequence of Claim

    Returns
    -------
    tuple of Difference
    """
    found = []
    for claim in claims:
        cells = {noise: _cells(claim, values.get(claim.measure, {}), noise, seeds) for noise in noises}
        if claim.baseline:
            base = cells.pop(claim.baseline, None)
            if base is None:
                continue
            cells = {noise: own - base for noise, own in cells.items()}
        known = {noise: own for noise, own in cells.items() if np.isfinite(own).any()}
        for noise, own in known.items():
            found.append(_difference(claim, noise, own))
        if len(known) > 1:
            found.append(_difference(claim, ALL, np.stack(list(known.values()))))
    there = [one for one in found if one is not None]
    significant: dict[int, bool] = {}
    for noise in (*noises, ALL):
        family = [one for one in there if one.noise == noise]
        flags = holm(np.array([one.p_value for one in family], dtype=float), 0.05)
        significant |= {id(one): bool(flag) for one, flag in zip(family, flags, strict=True)}
    return tuple(replace(one, significant=significant[id(one)]) for one in there)


def _cells(claim: Claim, values: Values, noise: str, seeds: Sequence[int]) -> Floats:
    """Return the difference of each pair of configurations that is there with each seed: shape (pairs, seeds)."""
    rows = [
        [values.get((noise, first, seed), math.nan) - values.get((noise, second, seed), math.nan) for seed in seeds]
        for first, second in claim.pairs
    ]
    return np.array(rows, dtype=float).reshape(len(claim.pairs), len(seeds))


def _difference(claim: Claim, noise: str, cells: Floats) -> Difference | None:
    """Return the difference over cells of shape (pairs, seeds) or (noises, pairs, seeds); incomplete seeds are out."""
    flat = cells.reshape(-1, cells.shape[-1])
    flat = flat[np.isfinite(flat).any(axis=1)]  # pairs of configurations that this study does not have
    flat = flat[:, np.isfinite(flat).all(axis=0)]
    if not flat.size:
        return None
    own = flat.mean(axis=0)
    mean, spread = float(own.mean()), float(own.std(ddof=1)) if own.size > 1 else math.nan
    low, high, p_value = student(own)
    return Difference(
        claim=claim.name,
        noise=noise,
        seeds=own.size,
        pairs=len(flat),
        mean=mean,
        spread=spread,
        low=low,
        high=high,
        p_value=p_value,
        verdict="more" if low > 0 else "less" if high < 0 else "inconclusive",
        significant=False,
        first_lower=int((flat < 0).sum()),
        second_lower=int((flat > 0).sum()),
        ties=int((flat == 0).sum()),
        seeds_needed=seeds_needed(mean, spread),
    )


def seeds_needed(mean: float, spread: float, *, power: float = 0.8, level: float = 0.95) -> int | None:
    """Return how many pairs Student's test needs for a mean difference to be significant with some probability.

    Parameters
    ----------
    mean, spread : float
        Of the differences.
    power, level : float in (0, 1)

    Returns
    -------
    int or None
        None if more than 1000, or if mean or spread are not known.

    Notes
    -----
    The smallest n with P(|T| > t) >= power, T being noncentral t with n - 1 degrees of freedom and centre
    sqrt(n) mean / spread.

    Examples
    --------
    >>> seeds_needed(1.0, 1.0), seeds_needed(0.5, 1.0), seeds_needed(0.01, 1.0)
    (10, 34, None)
    """
    if not (math.isfinite(mean) and math.isfinite(spread)) or not mean:
        return None
    if spread == 0:
        return 2
    effect = abs(mean) / spread
    # Enough if the spread were known: Student's test needs a few more.
    normal = statistics.NormalDist()
    n = max(2, math.floor(((normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) / effect) ** 2))
    while n <= _MOST_SEEDS and _power(n, effect, level) < power:
        n += 1
    return n if n <= _MOST_SEEDS else None


def _power(n: int, effect: float, level: float) -> float:
    """Return the power of Student's test for a mean that is ``effect`` times the spread."""
    from scipy import stats

    limit, centre = float(stats.t.ppf((1 + level) / 2, n - 1)), math.sqrt(n) * effect
    return float(stats.nct.sf(limit, n - 1, centre) + stats.nct.cdf(-limit, n - 1, centre))


def all_pairs(claims: Sequence[Claim] = CLAIMS) -> tuple[tuple[str, str], ...]:
    """Return the pairs of configurations whose errors some claim compares, each once."""
    return tuple(dict.fromkeys(pair for claim in claims if claim.measure == "error" for pair in claim.pairs))
