"""Ways to prune a fabric, and published claims about them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from demele.core.arrays import Floats, pd
from demele.core.kinds import checked_name, checked_share
from demele.core.proportions import holm
from demele.estimation.differences import student

Strategy = Literal["whole", "early", "iterative", "late"]
Level = Literal["links", "weights", "links and weights", "links then weights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningConfiguration:
    """One way to prune a fabric, or none.

    Attributes
    ----------
    strategy : {"whole", "early", "iterative", "late"}
        After which epochs: once and soon, in equal steps, once and late; or never.
    level : {"links", "weights", "links and weights", "links then weights"}
        What goes. "links and weights": links until as many weights have gone with them as then go one by one, so that
        the fraction goes in all. "links then weights": the fraction of the links, and of the weights that these leave,
        as published.
    criterion : str
        As of :meth:`demele.lab.Fabric.scores`.
    fraction : float
        Share of the links, or of all weights of links, that shall go.

    Raises
    ------
    InputError
        For what is none of these. Channels are not among the levels: see :func:`demele.lab.fit_pruned`.
    """

    strategy: Strategy
    level: Level = "links"
    criterion: str = ""
    fraction: float = 0.0

    def __post_init__(self) -> None:
        for value, known, argument in ((self.strategy, Strategy, "strategy"), (self.level, Level, "level")):
            checked_name(value, argument, get_args(known))
        if self.strategy != "whole":
            checked_share(self.fraction, "fraction", 0, 1, "()")

    @property
    def name(self) -> str:
        """Such as ``"late links 75% magnitude"``."""
        if self.strategy == "whole":
            return "whole"
        return f"{self.strategy} {self.level} {self.fraction:.0%} {self.criterion}"

    def shares(self) -> dict[str, float]:
        """Return the pruned share at each level, links first."""
        shares = {level: self.fraction for level in ("links", "weights") if level in self.level}
        if self.level == "links and weights":
            shares["links"] = 1 - (1 - self.fraction) ** 0.5  # each level leaves the square root of what shall stay
        return shares

    @property
    def fraction_of(self) -> Literal["live", "whole"]:
        """What the share of weights is of: see :meth:`demele.lab.Fabric.prune`."""
        return "live" if self.level == "links then weights" else "whole"


#: The reference of every study: nothing is pruned.
WHOLE = PruningConfiguration(strategy="whole")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When a fabric is pruned, in epochs.

    Attributes
    ----------
    early, late : int
        After which of them; iterative pruning begins with the first and ends with the last.
    every : int
        Epochs between two steps of iterative pruning.
    """

    early: int
    every: int
    late: int

    def steps(self, strategy: Strategy) -> tuple[tuple[int, float], ...]:
        """Return after which epochs, and what part of the whole has gone after each."""
        once = {"early": [self.early], "late": [self.late]}
        epochs = once.get(strategy, range(self.early, self.late + 1, self.every))
        return tuple((epoch, (place + 1) / len(epochs)) for place, epoch in enumerate(epochs))


def _ways(strategy: Strategy, criteria: str, *fractions: float, level: Level = "links") -> list[PruningConfiguration]:
    return [
        PruningConfiguration(strategy=strategy, level=level, criterion=criterion, fraction=fraction)
        for fraction in fractions
        for criterion in criteria.split()
    ]


#: 18 ways and the control at random, all from one whole fabric of each seed.
EMBEDDED = (
    *_ways("late", "random magnitude sensitivity fisher gate label_free", 0.5, 0.75),
    *_ways("early", "random magnitude sensitivity", 0.75),
    *_ways("iterative", "random magnitude sensitivity", 0.75),
    *_ways("late", "magnitude", 0.75, level="links and weights"),
    *_ways("late", "magnitude", 0.75, level="weights"),
    *_ways("early", "magnitude", 0.75, level="links and weights"),
    *_ways("early", "magnitude", 0.75, level="weights"),
)
#: Enough to see everything at work.
CI = tuple(_ways("late", "random magnitude sensitivity", 0.5))
#: The published ones, with the control that it lacks.
PRINT = tuple(
    one
    for strategy in ("early", "iterative", "late")
    for one in _ways(strategy, "random magnitude sensitivity", 0.95, 0.97, 0.99, level="links then weights")
)


# Published claims about pruning, and the differences, paired by seed, that a study measures for them ------------------

Expected = Literal["more", "equal", "less", ""]
Verdict = Literal["more", "less", "inconclusive"]

#: Of all noises together, the mean of each seed over them.
ALL = "all"
#: More seeds than anyone will run, and the power for which seeds are counted.
_MOST_SEEDS, _POWER = 1000, 0.8


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


def differences(frame: pd.DataFrame, claims: Sequence[Claim] = CLAIMS) -> tuple[Difference, ...]:
    """Return the difference of every claim that the rows allow, under every noise and all of them together.

    Parameters
    ----------
    frame : DataFrame
        A row for each fabric, with ``noise``, ``configuration``, ``seed`` and the measures.
    claims : sequence of Claim

    Returns
    -------
    tuple of Difference
    """
    noises = list(dict.fromkeys(frame["noise"]))
    found = []
    for claim in claims:
        table = frame.pivot(index=["noise", "configuration"], columns="seed", values=claim.measure).astype(float)
        sides = [
            np.stack([table.reindex([(noise, pair[side]) for pair in claim.pairs]).to_numpy() for noise in noises])
            for side in (0, 1)
        ]
        cells = dict(zip(noises, sides[0] - sides[1], strict=True))
        if claim.baseline:
            base = cells.pop(claim.baseline, math.nan)
            cells = {noise: own - base for noise, own in cells.items()}
        known = {noise: own for noise, own in cells.items() if np.isfinite(own).any()}
        if len(known) > 1:
            known[ALL] = np.concatenate(list(known.values()))
        found += [one for noise, own in known.items() if (one := _difference(claim, noise, own)) is not None]
    for noise in (*noises, ALL):
        places = [place for place, one in enumerate(found) if one.noise == noise]
        flags = holm(np.array([found[place].p_value for place in places], dtype=float), 0.05)
        for place, flag in zip(places, flags, strict=True):
            found[place] = replace(found[place], significant=bool(flag))
    return tuple(found)


def _difference(claim: Claim, noise: str, cells: Floats) -> Difference | None:
    """Return the difference over cells of shape (pairs, seeds); incomplete seeds are left out."""
    cells = cells[np.isfinite(cells).any(axis=1)]  # pairs of configurations that this study does not have
    cells = cells[:, np.isfinite(cells).all(axis=0)]
    if not cells.size:
        return None
    own = cells.mean(axis=0)
    mean, spread = float(own.mean()), float(own.std(ddof=1)) if own.size > 1 else math.nan
    low, high, p_value = student(own)
    return Difference(
        claim=claim.name,
        noise=noise,
        seeds=own.size,
        pairs=len(cells),
        mean=mean,
        spread=spread,
        low=low,
        high=high,
        p_value=p_value,
        verdict="more" if low > 0 else "less" if high < 0 else "inconclusive",
        significant=False,
        first_lower=int((cells < 0).sum()),
        second_lower=int((cells > 0).sum()),
        ties=int((cells == 0).sum()),
        seeds_needed=seeds_needed(mean, spread),
    )


def seeds_needed(mean: float, spread: float) -> int | None:
    """Return how many pairs Student's test needs for a mean difference to be significant with probability 80 %.

    Parameters
    ----------
    mean, spread : float
        Of the differences.

    Returns
    -------
    int or None
        None if more than 1000, or if mean or spread are not known.

    Notes
    -----
    The smallest n with P(|T| > t) >= 0.8, T being noncentral t with n - 1 degrees of freedom and centre
    sqrt(n) mean / spread; t is its limit at 5 %.

    Examples
    --------
    >>> seeds_needed(1.0, 1.0), seeds_needed(0.5, 1.0), seeds_needed(0.01, 1.0)
    (10, 34, None)
    """
    from scipy import stats

    if not (math.isfinite(mean) and math.isfinite(spread)) or not mean:
        return None
    if spread == 0:
        return 2
    effect = abs(mean) / spread
    # as many would be enough if the spread were known: Student's test needs a few more
    normal = ((stats.norm.ppf(0.975) + stats.norm.ppf(_POWER)) / effect) ** 2
    n = max(2, math.floor(min(normal, _MOST_SEEDS))) + np.arange(10)
    limit, centre = stats.t.ppf(0.975, n - 1), np.sqrt(n) * effect
    power = stats.nct.sf(limit, n - 1, centre) + np.nan_to_num(stats.nct.cdf(-limit, n - 1, centre))  # NaN for 0
    enough = int(n[np.argmax(power >= _POWER)])
    return enough if enough <= _MOST_SEEDS and normal <= _MOST_SEEDS else None
