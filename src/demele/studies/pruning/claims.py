"""Published claims about pruning, and the differences, paired by seed, that a study measures for them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demele.core.holm import holm
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
    better = "magnitude is at least as good as sensitivity: better in 62.5% of cases with true labels"
    yield Claim(
        name="sensitivity-magnitude",
        title="sensitivity minus magnitude",
        says=f"{better}, in 52% with wrong ones (figure 7.7)",
        expected="more",
        pairs=_pairs("sensitivity", "magnitude", *_CRITERION),
    )
    yield Claim(
        name="noise-and-magnitude",
        title="sensitivity minus magnitude: effect of noise",
        says="wrong labels harm magnitude more than sensitivity (section 7.10)",
        expected="less",
        pairs=_pairs("sensitivity", "magnitude", *_CRITERION),
        baseline="none",
    )
    for criterion in ("magnitude", "sensitivity"):
        yield Claim(
            name=f"random-{criterion}",
            title=f"random minus {criterion}",
            says="the author asks for this control (section 7.10)",
            expected="",
            pairs=_pairs("random", criterion, *_CRITERION),
        )
    yield Claim(
        name="random-magnitude-recalibrated",
        title="random minus magnitude, before retraining",
        says="control: the share of the difference that retraining removes",
        expected="",
        measure="recalibrated",
        pairs=_pairs("random", "magnitude", *_CRITERION),
    )
    for criterion in ("fisher", "gate", "label_free"):
        yield Claim(
            name=f"{criterion}-magnitude",
            title=f"{criterion} minus magnitude",
            says="not published",
            expected="",
            pairs=_pairs(criterion, "magnitude", *_LATE),
        )
    yield Claim(
        name="early-late",
        title="early minus late",
        says="late pruning is best (section 7.7.2)",
        expected="more",
        pairs=_pairs("early", "late", *_STRATEGY),
    )
    yield Claim(
        name="iterative-late",
        title="iterative minus late",
        says="iterative pruning is often as good as late (section 7.7.2)",
        expected="equal",
        pairs=_pairs("iterative", "late", *_STRATEGY),
    )
    yield Claim(
        name="early-iterative",
        title="early minus iterative",
        says="iterative pruning is generally better than early (section 7.7.2)",
        expected="more",
        pairs=_pairs("early", "iterative", *_STRATEGY),
    )
    for strategy, expected, says in (
        ("early", "more", "pruned early, links and weights are always better than as many weights alone"),
        ("late", "equal", "pruned late, as many weights alone are about as good as links and weights"),
    ):
        yield Claim(
            name=f"weights-links-{strategy}",
            title=f"{strategy}: weights minus links and weights",
            says=f"{says} (figure 7.9)",
            expected=expected,  # type: ignore[arg-type]
            pairs=_pairs("weights", "links and weights", f"{strategy} * 75% magnitude"),
        )
    yield Claim(
        name="half-whole",
        title="half of the links minus whole",
        says="pruned fabrics are still acceptable: 8.0% error instead of 6.4% on CIFAR-10 (figure 7.6)",
        expected="more",
        published=0.016,
        pairs=(("late links 50% magnitude", "whole"), ("late links 50% sensitivity", "whole")),
    )
    pruned = [place.replace("*", one) for place in _CRITERION for one in ("magnitude", "sensitivity")]
    yield Claim(
        name="wrong-again-pruned-whole",
        title="wrong labels predicted: pruned minus whole",
        says="pruned fabrics predict wrong labels at least as often as whole ones (section 7.8.2)",
        expected="more",
        measure="wrong_again_test",
        pairs=tuple((one, "whole") for one in pruned),
    )
    yield Claim(
        name="wrong-again-magnitude-sensitivity",
        title="wrong labels predicted: magnitude minus sensitivity",
        says="pruned by magnitude, fabrics predict wrong labels somewhat more often (section 7.8.2)",
        expected="more",
        measure="wrong_again_test",
        pairs=_pairs("magnitude", "sensitivity", *_CRITERION),
    )
    yield Claim(
        name="work-early-late",
        title="training cost: early minus late",
        says="early pruning halves the training time (4 hours instead of 8; section 7.7.2)",
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
