"""Z-min variance, the metric of FactorVAE (Kim and Mnih 2018, section 4)."""

from typing import Annotated, Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.results import Note, Score
from demele.estimation.discretise import Binning
from demele.metrics.data import Data
from demele.metrics.guards import pruned_notes
from demele.metrics.metric import Guards, Metric, Native, Streams, of_rows
from demele.metrics.options import Bins, Count, Deviation, RunOptions, at_least
from demele.metrics.run import score
from demele.metrics.splits import above


def votes_of_least(
    data: Data,
    streams: Streams,
    bins: Binning,
    prune_below: float,
    batch_size: int,
    n_train: int,
    n_test: int,
    report: str,
) -> Native:
    """Accuracy above chance of a majority vote from the code that varies least to the factor held fixed."""
    from demele.estimation.group_votes import majority_vote_accuracy, z_min_votes

    labels, _ = data.factor_labels(bins)
    codes = data.standardised()
    d, m = data.codes.d, data.factors.m
    pruned = data.deviations() < prune_below

    def accuracy_without(inactive: NDArray[np.bool_]) -> float:
        rng = streams("votes")
        names = data.factors.names
        sizes: dict[str, Any] = {
            "batch_size": batch_size,
            "rng": rng,
            "factor_names": names,
            "inactive_codes": inactive,
        }
        if data.groups is not None:
            sizes["groups"] = data.groups.columns
        train = z_min_votes(codes, labels, n_votes=n_train, **sizes)
        test = z_min_votes(codes, labels, n_votes=n_test, **sizes)
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
        notes = pruned_notes(float(value), whole, names, prune_below)
    return Native(value=value, details={"accuracy": accuracy}, notes=notes)


def z_min_variance(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    prune_below: Deviation = 0.0,
    batch_size: Annotated[int, at_least(2)] = 200,
    n_train: Count = 800,
    n_test: Count = 800,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Score:
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
    >>> demele.z_min_variance(factors, factors, n_train=100, n_test=100).value
    1.0
    """
    return score(METRIC, locals())


METRIC = Metric(
    "z_min_variance",
    z_min_variance,
    title="Z-min variance",
    family="intervention",
    properties=("modularity",),
    native="whole",
    range=(-1.0, 1.0),
    source="Kim & Mnih 2018, section 4 (FactorVAE metric)",
    references=("kim2018disentangling",),
    definition="accuracy above chance of a majority vote from the code that varies least to the factor held fixed",
    stochastic=True,
    needs_factors=2,
    aliases=("Z-min variance", "factor_vae_score"),
    readings=(of_rows(votes_of_least),),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    probe=("batch_size", (200, 50, 100, 400, 800)),
    in_groups=True,
    order=140,
)
