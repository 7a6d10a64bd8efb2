"""Metrics of the first VAEs: which factor a group of rows shares, or not (beta-VAE, FactorVAE, RF-VAE)."""

from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

from demele.core.arrays import Flags
from demele.core.kinds import Amount, Count, Several
from demele.core.result import Note, Severity
from demele.estimation.groups import (
    Units,
    complement_groups,
    majority_vote_accuracy,
    z_diff_accuracy,
    z_diff_points,
    z_votes,
)
from demele.metrics.data import Data, above
from demele.metrics.guards import FRAGILE, listed, units_notes
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import Bins, RunOptions

Report = Literal["above-chance", "unscaled"]
#: Half of the groups with so few rows, and the votes are noise.
THIN_GROUP = 3
_GroupMetric = partial(
    Metric,
    family="intervention",
    properties=("modularity",),
    range=(-1.0, 1.0),
    needs_factors=2,
    in_groups=True,
)


def _how(data: Data, streams: Streams, batch_size: int) -> dict[str, Any]:
    """Return how rows are put into groups that vote."""
    found = {"batch_size": batch_size, "rng": streams("votes"), "factor_names": data.factors.names}
    return found if data.groups is None else found | {"groups": data.groups.columns}


@_GroupMetric(
    title="Z-diff",
    source="Higgins et al. 2017, section 3 (beta-VAE metric)",
    references=("higgins2017beta",),
    definition="accuracy above chance of telling which factor two samples share from their mean code difference",
    aliases=("beta_vae_score",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    probe=("batch_size", (200, 50, 100, 400, 800)),
)
def z_diff(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = 10,
    units: Units = "standard",
    batch_size: Several = 200,
    n_train: Count = 10_000,
    n_test: Count = 5_000,
    report: Report = "above-chance",
    **run: Unpack[RunOptions],
) -> Native:
    """Z-diff (beta-VAE metric): modularity.

    A linear classifier tells, from the mean absolute difference of the codes over a batch of pairs that share the
    value of one factor, which factor it was. (accuracy - 1/M) / (1 - 1/M) on fresh points.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are standardised.
    factors : array-like of shape (n_samples, n_factors), at least two that vary
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    units : {"standard", "raw"}
        Codes, and the features of the classifier, in standard deviations, or as they come, as in disentanglement_lib:
        the penalty of the classifier then makes the score depend on the unit of each code (so says a note).
    batch_size : int, default 200
        Pairs per point.
    n_train, n_test : int
        Points.
    report : {"above-chance", "unscaled"}
        The accuracy above chance, or the accuracy itself.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, chance 0 (unscaled: 1/M); native: the whole; ``details["accuracy"]``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Higgins et al. 2017, section 3.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> demele.metrics.z_diff(factors, factors, n_train=200, n_test=200).value > 0.95
    True
    """
    from demele.estimation.univariate import raw_logistic_accuracy

    labels, _ = data.factor_labels(bins)

    def accuracy_in(chosen: Units) -> float:
        codes = data.codes.dense() if chosen == "raw" else data.standardised()
        how: dict[str, Any] = {"rng": streams("points"), "factor_names": data.factors.names, "units": chosen}
        train, test = (
            z_diff_points(codes, labels, n_points=n, batch_size=batch_size, **how) for n in (n_train, n_test)
        )
        return raw_logistic_accuracy(*train, *test) if chosen == "raw" else z_diff_accuracy(*train, *test)

    accuracy = accuracy_in(units)
    value = above(accuracy, 1 / data.factors.m, report)
    notes: tuple[Note, ...] = ()
    if units == "raw":
        notes = units_notes(float(value), float(above(accuracy_in("standard"), 1 / data.factors.m, report)))
    return Native(value=value, details={"accuracy": accuracy}, notes=notes)


@_GroupMetric(
    title="Z-min variance",
    source="Kim & Mnih 2018, section 4 (FactorVAE metric)",
    references=("kim2018disentangling",),
    definition="accuracy above chance of a majority vote from the code that varies least to the factor held fixed",
    aliases=("factor_vae_score",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    probe=("batch_size", (200, 50, 100, 400, 800)),
)
def z_min_variance(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = 10,
    prune_below: Amount = 0.0,
    batch_size: Several = 200,
    n_train: Count = 800,
    n_test: Count = 800,
    report: Report = "above-chance",
    **run: Unpack[RunOptions],
) -> Native:
    """Z-min variance (FactorVAE metric): modularity.

    Samples share one factor's value; the code that varies least, relative to its variance over all samples, votes for
    the factor. Accuracy of the majority vote on fresh votes, above chance: (accuracy - 1/M) / (1 - 1/M).

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. Constant codes do not vote.
    factors : array-like of shape (n_samples, n_factors), at least two that vary
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    prune_below : float, default 0.0
        Codes with a smaller standard deviation, in their own unit, do not vote: the pruning threshold of public code
        (0.05 in the large study). It makes the score depend on the unit of the codes (so says a note).
    batch_size : int, default 200
        Samples per vote.
    n_train, n_test : int
        Votes.
    report : {"above-chance", "unscaled"}
        The accuracy above chance, or the accuracy itself, which then is 0 if no code votes.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, chance about 0 (unscaled: 1/M); native: the whole; ``details["accuracy"]``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Kim & Mnih 2018, section 4.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> demele.metrics.z_min_variance(factors, factors, n_train=100, n_test=100).value
    1.0
    """
    labels, _ = data.factor_labels(bins)
    codes = data.standardised()
    d, m = data.codes.d, data.factors.m
    pruned = data.deviations() < prune_below

    def accuracy_without(inactive: Flags) -> float:
        how = _how(data, streams, batch_size) | {"inactive_codes": inactive}
        train, test = (z_votes(codes, labels, n_votes=n, **how) for n in (n_train, n_test))
        return majority_vote_accuracy(train, test, data.n_codes, m)

    # with nothing to vote, public code says 0; above chance it is chance, which is what a constant vote comes to
    silent = report == "unscaled" and bool((pruned | data.codes.constant).all())
    accuracy = 0.0 if silent else accuracy_without(pruned)
    value = above(accuracy, 1 / m, report)
    notes: tuple[Note, ...] = ()
    alive = pruned & ~data.codes.constant
    if alive.any():
        whole = float(above(accuracy_without(np.zeros(d, dtype=bool)), 1 / m, report))
        names = tuple(name for name, below in zip(data.codes.names, alive, strict=True) if below)
        message = (
            f"{len(names)} codes ({listed(names)}) vary, but by less than prune_below={prune_below:g} (their standard "
            f"deviation, in their own unit), and do not vote; with them it would be {whole:.3f} instead of {value:.3f}"
        )
        severity: Severity = "fragile" if abs(whole - float(value)) > FRAGILE else "warning"
        notes = (Note(code="pruned-codes", message=message, subject=names, severity=severity),)
    return Native(value=value, details={"accuracy": accuracy}, notes=notes)


@_GroupMetric(
    title="Z-max variance",
    source="Kim et al. 2019 (RF-VAE metric)",
    references=("kim2019relevance",),
    definition="accuracy above chance of a majority vote from the code that varies most to the factor left free",
    aliases=("rf_vae_score",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    probe=("bins", (3, 2, 4, 6, 10)),
)
def z_max_variance(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = 3,
    batch_size: Several = 200,
    n_train: Count = 800,
    n_test: Count = 800,
    report: Report = "above-chance",
    **run: Unpack[RunOptions],
) -> Native:
    """Z-max variance (RF-VAE metric): modularity.

    Samples share the values of all factors but one; the code that varies most, relative to its variance over all
    samples, votes for the free factor. Accuracy of the majority vote on fresh votes, above chance.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit.
    factors : array-like of shape (n_samples, n_factors), at least two that vary
        Continuous factors are cut into ``bins``: few, since groups must agree on all factors but one.
    bins : int, str, Binning or edges, default 3
    batch_size : int, default 200
        Largest number of samples per vote.
    n_train, n_test : int
        Votes.
    report : {"above-chance", "unscaled"}
        The accuracy above chance, or the accuracy itself.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, chance about 0; native: the whole; ``details["usable_groups"]`` by factor.

    Raises
    ------
    InputError, InputTypeError
    NotEnoughData
        If no two rows agree on all factors but one.

    Notes
    -----
    Kim et al. 2019. With many factors the groups shrink to pairs of rows, whose variance says
    little: a note says so.

    A group is drawn in proportion to its rows, that is, to the frequency of its fixed values. The review's code draws
    every combination of values equally often, including small groups, whose votes are noise: with five noisy codes on
    1,500 rows it gives 0.645 and this function 0.667; with eight on 20,000 rows, 0.37 and 0.41.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> demele.metrics.z_max_variance(factors, factors, n_train=100, n_test=100).value
    1.0
    """
    labels, _ = data.factor_labels(bins)
    codes = data.standardised()
    how = _how(data, streams, batch_size) | {"hold": "others"}
    train, test = (z_votes(codes, labels, n_votes=n, **how) for n in (n_train, n_test))
    names, m = data.factors.names, data.factors.m
    accuracy = majority_vote_accuracy(train, test, data.n_codes, m)
    alike = complement_groups(labels)
    usable = {name: len(groups) for name, groups in zip(names, alike, strict=True)}
    complete = int((labels >= 0).all(axis=1).sum())
    medians = [float(np.median(groups.counts)) for groups in alike]
    text = ", ".join(f"{name} {groups}" for name, groups in usable.items())
    message = (
        f"groups of rows that agree on all factors but one ({complete} rows): {text}; "
        f"median size {min(medians):.0f} to {max(medians):.0f} rows"
    )
    thin_groups = min(medians) <= THIN_GROUP
    if thin_groups:
        message += ", whose variance says little: use fewer bins, factors or more rows"
    return Native(
        value=above(accuracy, 1 / m, report),
        details={"accuracy": accuracy, "usable_groups": usable},
        notes=(Note(code="usable-groups", message=message, severity="fragile" if thin_groups else "info"),),
    )
