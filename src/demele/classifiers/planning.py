"""How many items, repeats and human labels a comparison or an estimate needs, and which rows to label.

>>> from demele.classifiers import planning
>>> round(planning.labels_for(0.03, variance=0.09, r2=0.5, n=2000))
212
"""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from demele.core.arrays import Floats, pd
from demele.core.errors import InputError
from demele.core.kinds import Amount, Confidence, Positive, Rate, between, checked, checked_pair
from demele.core.proportions import normal_quantile
from demele.core.table_columns import real_numbers

Power = Annotated[float, between(0.5, 1, "[)")]


def _on_one(between: float, within: tuple[float, float], repeats: tuple[int, int], power: float, level: float) -> float:
    """Return the difference that a single item would show with this power, two-sided, by the normal approximation."""
    first, second = checked_pair(within, "within", "variances >= 0", inside=lambda x: 0 <= x < math.inf)
    few, many = checked_pair(repeats, "repeats", "numbers >= 1", inside=lambda x: 1 <= x < math.inf)
    spread = between + first / few + second / many
    return (normal_quantile((1 + level) / 2) + normal_quantile(power)) * math.sqrt(spread)


@checked
def detectable_difference(
    n: Positive,
    *,
    between: Positive,
    within: tuple[float, float] = (0.0, 0.0),
    repeats: tuple[int, int] = (1, 1),
    power: Power = 0.8,
    level: Confidence = 0.95,
) -> float:
    """Return the smallest difference of two systems that ``n`` common items show with this power.

    Parameters
    ----------
    n : float
        Number of items; of clusters, if items come in clusters and the variances are those of clusters.
    between : float
        Variance over items of the true difference of the two systems.
    within : (float, float)
        Variance of each system's scores within an item, over repeats.
    repeats : (int, int)
        Repeats of each item, for each system.
    power : float in [0.5, 1)
    level : float in [0.5, 1)
        Two-sided.

    Raises
    ------
    InputError

    Notes
    -----
    (z_level + z_power) sqrt((between + within_A / K_A + within_B / K_B) / n), by the normal approximation.

    Examples
    --------
    >>> for k in (1, 4):
    ...     print(round(detectable_difference(1000, between=0.05, within=(0.12, 0.15), repeats=(k, k)), 4))
    0.0501
    0.0304
    """
    return _on_one(between, within, repeats, power, level) / math.sqrt(n)


@checked
def items_for(
    difference: Positive,
    *,
    between: Positive,
    within: tuple[float, float] = (0.0, 0.0),
    repeats: tuple[int, int] = (1, 1),
    power: Power = 0.8,
    level: Confidence = 0.95,
) -> int:
    """Return the number of items that shows a difference with this power; arguments of :func:`detectable_difference`.

    Examples
    --------
    >>> [items_for(0.02, between=0.05, within=(0.12, 0.15), repeats=(k, k)) for k in (1, 4)]
    [6280, 2306]
    """
    return math.ceil((_on_one(between, within, repeats, power, level) / difference) ** 2)


@checked
def best_repeats(cost_item: Positive, cost_repeat: Positive, *, within: Positive, between: Positive) -> float:
    """Return the number of repeats of each item with the least variance for the money; at least 1.

    Parameters
    ----------
    cost_item, cost_repeat : float
        Cost of a new item, and of one repeat of an item.
    within, between : float
        Variance of scores within an item, and of the true scores between items.

    Raises
    ------
    InputError

    Examples
    --------
    >>> round(best_repeats(5, 1, within=0.12, between=0.05), 4)
    3.4641
    """
    return max(math.sqrt(cost_item / cost_repeat * within / between), 1.0)


@checked
def half_width(labels: Positive, *, variance: Positive, r2: Rate, n: Positive, level: Confidence = 0.95) -> float:
    """Return the half width of an audited mean from ``labels`` human labels; arguments of :func:`labels_for`.

    Examples
    --------
    >>> [round(half_width(k, variance=0.09, r2=0.5, n=2000), 4) for k in (50, 100, 300)]
    [0.0595, 0.0426, 0.0257]
    """
    return normal_quantile((1 + level) / 2) * math.sqrt(variance * (1 - r2) / labels + variance * r2 / n)


@checked
def labels_for(half_width: Positive, *, variance: Positive, r2: Rate, n: Positive, level: Confidence = 0.95) -> float:
    """Return the number of human labels that gives an audited mean this half width.

    Parameters
    ----------
    half_width : float
        Half of the interval's width.
    variance : float
        Of the true scores.
    r2 : float in [0, 1]
        Squared correlation of given and true scores: 0 for a judge that says nothing.
    n : int
        Number of rows with a given score.
    level : float in [0.5, 1)

    Raises
    ------
    InputError
        If no number of labels is enough: the rows themselves leave more open.

    Notes
    -----
    k = v (1 - r2) / ((h / z)^2 - v r2 / N), by the normal approximation. The interval that is used for few labels is
    wider: 1.21, 1.10 and 1.03 times at 50, 100 and 300 labels.

    Examples
    --------
    >>> round(labels_for(0.03, variance=0.09, r2=0.5, n=2000), 2)
    212.48
    """
    squared = (half_width / normal_quantile((1 + level) / 2)) ** 2
    left = squared - variance * r2 / n
    if left <= 0:
        least = math.floor(variance * r2 / squared) + 1
        raise InputError("n", f"{n:,} rows leave more than {half_width:g} open with any labels; score {least:,} rows")
    return variance * (1 - r2) / left


@checked
def draws_by_stratum(
    shares: Sequence[float], spreads: Sequence[float], labels: Positive, *, costs: object = None, least: Amount = 8
) -> Floats:
    """Return how many rows of each stratum to label: Neyman's draw, or the cheapest one of its precision.

    Parameters
    ----------
    shares : sequence of float
        Share of the rows in each stratum; they sum to 1.
    spreads : sequence of float
        Standard deviation of the true scores in each stratum; see :func:`pilot_spread`.
    labels : float
        Labels in all.
    costs : sequence of float, optional
        Cost of one label in each stratum; equal if not given.
    least : float
        Labels in each stratum, at least.

    Returns
    -------
    array
        Proportional to share x spread / sqrt(cost); not rounded.

    Raises
    ------
    InputError

    Examples
    --------
    >>> draws_by_stratum([0.9, 0.1], [0.2, 0.5], 100).round(2)
    array([78.26, 21.74])
    >>> (draws_by_stratum([0.9, 0.1], [0.2, 0.5], 100, costs=[1, 3]) / 100).round(4)
    array([0.8618, 0.1382])
    """
    share, spread = real_numbers(shares, "shares"), real_numbers(spreads, "spreads")
    cost = np.ones(share.shape) if costs is None else real_numbers(costs, "costs")
    if share.ndim != 1 or share.shape != spread.shape or share.shape != cost.shape:
        raise InputError("spreads", "expected one spread and one cost for each share")
    if not (abs(share.sum() - 1) < 1e-9 and (share > 0).all() and (spread >= 0).all() and (cost > 0).all()):
        raise InputError("shares", "expected shares above 0 that sum to 1, spreads of at least 0 and costs above 0")
    if labels < least * share.size:
        raise InputError("labels", f"expected at least {least:g} for each of {share.size} strata, got {labels:g}")
    weight = share * np.maximum(spread, 1e-12) / np.sqrt(cost)
    drawn, small = np.zeros(share.size), np.zeros(share.size, dtype=bool)
    while True:
        free = labels - least * small.sum()
        drawn = np.where(small, least, free * weight / max(weight[~small].sum(), 1e-300))
        if (drawn >= least - 1e-9).all():
            return drawn
        small |= drawn < least


def pilot_spread(scores: object) -> float:
    """Return the standard deviation of few true scores in [0, 1], with half a row added at each end.

    Examples
    --------
    >>> round(pilot_spread([1, 1, 1, 1]), 4)
    0.3
    """
    x = real_numbers(scores, "scores")
    if not x.size or not ((x >= 0) & (x <= 1)).all():
        raise InputError("scores", "expected at least one score, all in [0, 1]")
    mean = (x.sum() + 0.5) / (x.size + 1)
    return math.sqrt((((x - mean) ** 2).sum() + 0.5 * mean**2 + 0.5 * (1 - mean) ** 2) / (x.size + 1))


@checked
def share_to_label(cost_judge: Positive, cost_human: Positive, *, error: Positive, variance: Positive) -> float:
    """Return the share of the judged rows that humans should label too, for the least variance for the money.

    Parameters
    ----------
    cost_judge, cost_human : float
        Cost of one score of the judge, and of one human label.
    error : float
        Mean squared error of the judge.
    variance : float
        Of the true scores.

    Returns
    -------
    float
        In [0, 1]; 1: ask humans alone, since the judge's errors vary as much as the scores.

    Raises
    ------
    InputError

    Examples
    --------
    >>> round(share_to_label(0.01, 1, error=0.03, variance=0.09), 6)
    0.070711
    """
    return 1.0 if error >= variance else min(math.sqrt(cost_judge / cost_human * error / (variance - error)), 1.0)


@checked
def effective_labels(labels: Positive, *, width: Positive, width_of_labels_alone: Positive) -> float:
    """Return how many human labels would give by themselves the width that ``labels`` give with the judge.

    Examples
    --------
    >>> effective_labels(100, width=0.05, width_of_labels_alone=0.1)
    400.0
    """
    return labels * (width_of_labels_alone / width) ** 2


@checked
def more_or_better(
    budget: Positive,
    *,
    costs: tuple[float, float] = (1.0, 10.0),
    noise: Rate = 0.1,
    accuracy: Rate = 0.9,
    level: Confidence = 0.95,
) -> "pd.DataFrame":
    """Return how precisely the accuracy of a classifier of two classes can be known: by more labels, or by better ones.

    Parameters
    ----------
    budget : float
    costs : (float, float)
        Of a label that may be wrong, and of one by an expert, which is right.
    noise : float below 0.5
        Share of wrong labels among the cheap ones.
    accuracy : float
        That the classifier has, about.
    level : float in [0.5, 1)

    Returns
    -------
    DataFrame
        A row for each way, best first: ``labels`` that the budget buys, and ``half_width`` of the interval. That of
        ``"cheap, errors at random"`` holds if wrong labels have nothing to do with the classifier, that of ``"cheap,
        any errors"`` always.

    Raises
    ------
    InputError

    Notes
    -----
    Source: Lam and Stork (2003). With errors at random the observed accuracy is q = p (1 - 2 e) + e, and its half width
    z sqrt(q (1 - q) / n) is divided by 1 - 2 e. With any errors, e is added to it instead: no number of labels helps
    beyond that. Experts have z sqrt(p (1 - p) / n).

    Examples
    --------
    >>> more_or_better(2000)
                           way  labels  half_width
    0  cheap, errors at random    2000    0.021047
    1                  experts     200    0.041577
    2        cheap, any errors    2000    0.116837
    """
    cheap, expert = checked_pair(costs, "costs", "costs above 0", inside=lambda x: 0 < x < math.inf)
    if noise >= 0.5:
        raise InputError("noise", f"expected a share below 0.5, got {noise:g}")
    observed, z = accuracy * (1 - 2 * noise) + noise, normal_quantile((1 + level) / 2)
    n, few = int(budget / cheap), int(budget / expert)
    if not few:
        raise InputError("budget", f"expected enough for a label by an expert, {expert:g}, got {budget:g}")
    width = z * math.sqrt(observed * (1 - observed) / n)
    ways = [
        ("cheap, errors at random", n, width / (1 - 2 * noise)),
        ("cheap, any errors", n, width + noise),
        ("experts", few, z * math.sqrt(accuracy * (1 - accuracy) / few)),
    ]
    return pd.DataFrame(ways, columns=["way", "labels", "half_width"]).sort_values(
        "half_width", kind="stable", ignore_index=True
    )
