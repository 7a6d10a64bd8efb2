"""What print says of pruning, and what a study has to say about it: differences paired by seed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.holm import holm
from demele.estimation.differences import student

Floats = NDArray[np.float64]
Expected = Literal["more", "equal", "less", ""]
Verdict = Literal["more", "less", "unresolved"]

#: Of all noises together, the mean of each seed over them.
ALL = "all"
#: More seeds than anyone will run.
_MOST_SEEDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A difference that print, or a control, makes a statement about.

    Attributes
    ----------
    name : str
    title : str
        What is less what: "random less magnitude".
    says : str
        The statement, with its place in print; of controls, what they ask.
    expected : {"more", "equal", "less", ""}
        What the difference is, as print has it: above 0, about 0, below 0; "" if print has no word on it.
    measure : str
        Column of the rows.
    pairs : tuple of (str, str)
        Names of configurations: the value of the first less that of the second, averaged over the pairs.
    beside : str
        A noise whose difference is taken off: the claim is that noise changes a difference.
    """

    name: str
    title: str
    says: str
    expected: Expected
    pairs: tuple[tuple[str, str], ...]
    measure: str = "error"
    beside: str = ""


def _pairs(first: str, second: str, *places: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of configurations that differ in one word, which stands for ``*``."""
    return tuple((place.replace("*", first), place.replace("*", second)) for place in places)


_CRITERION = (
    *("late links 50% *", "late links 75% *", "early links 75% *", "iterative links 75% *"),
    *(
        f"{strategy} links then weights {share}% *"
        for strategy in ("early", "iterative", "late")
        for share in (95, 97, 99)
    ),
)
_LATE = ("late links 50% *", "late links 75% *")
_STRATEGY = (
    *("* links 75% magnitude", "* links 75% sensitivity"),
    *(f"* links then weights {share}% {one}" for share in (95, 97, 99) for one in ("magnitude", "sensitivity")),
)


def _known_claims() -> Iterable[Claim]:
    magnitude_better = "magnitude is at least as good as sensitivity: better in 62.5% of cases without wrong labels"
    yield Claim(
        name="sensitivity-magnitude",
        title="sensitivity less magnitude",
        says=f"{magnitude_better}, in 52% with them (figure 7.7)",
        expected="more",
        pairs=_pairs("sensitivity", "magnitude", *_CRITERION),
    )
    yield Claim(
        name="noise-and-magnitude",
        title="what wrong labels add to sensitivity less magnitude",
        says="wrong labels cost magnitude more than sensitivity (section 7.10)",
        expected="less",
        pairs=_pairs("sensitivity", "magnitude", *_CRITERION),
        beside="none",
    )
    for criterion in ("magnitude", "sensitivity"):
        yield Claim(
            name=f"random-{criterion}",
            title=f"random less {criterion}",
            says="print wishes for this control (section 7.10)",
            expected="",
            pairs=_pairs("random", criterion, *_CRITERION),
        )
    yield Claim(
        name="random-magnitude-recalibrated",
        title="random less magnitude, before training goes on",
        says="a control: how much of the difference training makes up for",
        expected="",
        measure="recalibrated",
        pairs=_pairs("random", "magnitude", *_CRITERION),
    )
    for criterion in ("fisher", "gate", "label_free"):
        yield Claim(
            name=f"{criterion}-magnitude",
            title=f"{criterion} less magnitude",
            says="not tried in print",
            expected="",
            pairs=_pairs(criterion, "magnitude", *_LATE),
        )
    yield Claim(
        name="early-late",
        title="early less late",
        says="late pruning is best (section 7.7.2)",
        expected="more",
        pairs=_pairs("early", "late", *_STRATEGY),
    )
    yield Claim(
        name="iterative-late",
        title="iterative less late",
        says="iterative pruning is often as good as late (section 7.7.2)",
        expected="equal",
        pairs=_pairs("iterative", "late", *_STRATEGY),
    )
    yield Claim(
        name="early-iterative",
        title="early less iterative",
        says="iterative pruning is generally better than early (section 7.7.2)",
        expected="more",
        pairs=_pairs("early", "iterative", *_STRATEGY),
    )
    for strategy, expected, told in (
        ("early", "more", "pruned early, links and weights are always better than weights alone"),
        ("late", "equal", "pruned late, weights alone are about as good as links and weights"),
    ):
        yield Claim(
            name=f"weights-links-{strategy}",
            title=f"{strategy}: weights alone less links and weights, as many left",
            says=f"{told} (figure 7.9)",
            expected=expected,  # type: ignore[arg-type]
            pairs=_pairs("weights", "links and weights", f"{strategy} * 75% magnitude"),
        )
    yield Claim(
        name="half-whole",
        title="half of the links less whole",
        says="pruned fabrics are still acceptable: 8.0% beside 6.4% of error on CIFAR-10 (figure 7.6)",
        expected="more",
        pairs=(("late links 50% magnitude", "whole"), ("late links 50% sensitivity", "whole")),
    )
    pruned = [place.replace("*", one) for place in _CRITERION for one in ("magnitude", "sensitivity")]
    yield Claim(
        name="wrong-again-pruned-whole",
        title="wrong labels given again: pruned less whole",
        says="pruned fabrics give wrong labels again at least as often as whole ones (section 7.8.2)",
        expected="more",
        measure="wrong_again_test",
        pairs=tuple((one, "whole") for one in pruned),
    )
    yield Claim(
        name="wrong-again-magnitude-sensitivity",
        title="wrong labels given again: magnitude less sensitivity",
        says="pruned by magnitude, fabrics give them again somewhat more often (section 7.8.2)",
        expected="more",
        measure="wrong_again_test",
        pairs=_pairs("magnitude", "sensitivity", *_CRITERION),
    )
    yield Claim(
        name="work-early-late",
        title="work of the training: early less late",
        says="pruned early, a training took half of the time of late (4 hours, 8 hours; section 7.7.2)",
        expected="less",
        measure="training_share",
        pairs=_pairs("early", "late", *_STRATEGY),
    )


#: In the order in which they are shown.
CLAIMS: tuple[Claim, ...] = tuple(_known_claims())


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
    verdict : {"more", "less", "unresolved"}
        Told from 0 by that interval.
    told : bool
        Told from 0 beside all other claims under the same labels too, by Holm's procedure at 5 %.
    first_lower, second_lower, ties : int
        Of all pairs and seeds, how often the value of the first was lower, that of the second, neither: what print
        counts.
    seeds_needed : int or None
        About how many seeds would tell such a difference from 0 with probability 80 %, at the level of one interval,
        if mean and spread are as seen; None if more than 1000, or one seed says nothing of a spread.
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
    told: bool
    first_lower: int
    second_lower: int
    ties: int
    seeds_needed: int | None

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)


#: Value of a configuration under a noise with a seed, NaN where there is none.
Values = Mapping[tuple[str, str, int], float]


def differences(
    values: Mapping[str, Values], noises: Sequence[str], seeds: Sequence[int], claims: Sequence[Claim] = CLAIMS
) -> tuple[Difference, ...]:
    """Return every claim that the rows say something about, under every noise and all of them together.

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
        if claim.beside:
            base = cells.pop(claim.beside, None)
            if base is None:
                continue
            cells = {noise: own - base for noise, own in cells.items()}
        known = {noise: own for noise, own in cells.items() if np.isfinite(own).any()}
        for noise, own in known.items():
            found.append(_difference(claim, noise, own))
        if len(known) > 1:
            found.append(_difference(claim, ALL, np.stack(list(known.values()))))
    there = [one for one in found if one is not None]
    told = {id(one) for noise in (*noises, ALL) for one in _told_together([own for own in there if own.noise == noise])}
    return tuple(replace(one, told=id(one) in told) for one in there)


def _told_together(family: Sequence[Difference]) -> list[Difference]:
    """Return those that Holm's procedure tells from 0 among all claims under the same labels."""
    if not family:
        return []
    flags = holm(np.array([one.p_value for one in family], dtype=float), 0.05)
    return [one for one, flag in zip(family, flags, strict=True) if flag]


def _cells(claim: Claim, values: Values, noise: str, seeds: Sequence[int]) -> Floats:
    """Return the difference of each pair of configurations that is there with each seed: shape (pairs, seeds)."""
    rows = [
        [values.get((noise, first, seed), math.nan) - values.get((noise, second, seed), math.nan) for seed in seeds]
        for first, second in claim.pairs
    ]
    return np.array(rows, dtype=float).reshape(len(claim.pairs), len(seeds))


def _difference(claim: Claim, noise: str, cells: Floats) -> Difference | None:
    """Return what differences say, of shape (pairs, seeds) or (noises, pairs, seeds); seeds that lack one are out."""
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
        verdict="more" if low > 0 else "less" if high < 0 else "unresolved",
        told=False,
        first_lower=int((flat < 0).sum()),
        second_lower=int((flat > 0).sum()),
        ties=int((flat == 0).sum()),
        seeds_needed=seeds_needed(mean, spread),
    )


def seeds_needed(mean: float, spread: float, *, power: float = 0.8, level: float = 0.95) -> int | None:
    """Return how many pairs Student's test needs to tell a mean difference from 0 with some probability.

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
    # With a known spread so many would do: Student's test takes a few more.
    normal = statistics.NormalDist()
    n = max(2, math.floor(((normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) / effect) ** 2))
    while n <= _MOST_SEEDS and _power(n, effect, level) < power:
        n += 1
    return n if n <= _MOST_SEEDS else None


def _power(n: int, effect: float, level: float) -> float:
    """Return with what probability Student's test tells a mean from 0 that is ``effect`` times the spread."""
    from scipy import stats

    limit, centre = float(stats.t.ppf((1 + level) / 2, n - 1)), math.sqrt(n) * effect
    return float(stats.nct.sf(limit, n - 1, centre) + stats.nct.cdf(-limit, n - 1, centre))


def all_pairs(claims: Sequence[Claim] = CLAIMS) -> tuple[tuple[str, str], ...]:
    """Return the pairs of configurations whose errors some claim compares, each once."""
    return tuple(dict.fromkeys(pair for claim in claims if claim.measure == "error" for pair in claim.pairs))
