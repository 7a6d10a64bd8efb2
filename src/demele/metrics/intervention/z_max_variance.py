"""Z-max variance, the metric of RF-VAE (Kim et al. 2019)."""

from typing import Annotated, Any, Literal, Unpack

import numpy as np

from demele.core.results import Note, Score
from demele.estimation.discretise import Binning
from demele.metrics.data import Data
from demele.metrics.metric import Guards, Metric, Native, Streams, of_rows
from demele.metrics.options import Bins, Count, RunOptions, at_least
from demele.metrics.run import score
from demele.metrics.splits import above

#: Half of the groups with so few rows, and the votes are noise.
THIN_GROUP = 3


def votes_of_most(
    data: Data, streams: Streams, bins: Binning, batch_size: int, n_train: int, n_test: int, report: str
) -> Native:
    """Accuracy above chance of a majority vote from the code that varies most to the factor left free."""
    from demele.estimation.group_votes import majority_vote_accuracy, z_max_votes
    from demele.estimation.groups import complement_groups

    labels, _ = data.factor_labels(bins)
    codes = data.standardised()
    rng = streams("votes")
    names = data.factors.names
    sizes: dict[str, Any] = {"batch_size": batch_size, "rng": rng, "factor_names": names}
    if data.groups is not None:
        sizes["groups"] = data.groups.columns
    *train, n_groups = z_max_votes(codes, labels, n_votes=n_train, **sizes)
    *test, _ = z_max_votes(codes, labels, n_votes=n_test, **sizes)
    m = data.factors.m
    accuracy = majority_vote_accuracy((train[0], train[1]), (test[0], test[1]), data.n_codes, m)
    usable = {name: int(groups) for name, groups in zip(names, n_groups, strict=True)}
    complete = int((labels >= 0).all(axis=1).sum())
    notes = []
    thin = [name for name, groups in usable.items() if groups == 0]
    if thin:
        listed = ", ".join(repr(name) for name in thin)
        message = f"no two rows agree on all factors but {listed}: it is never left free; use fewer bins or factors"
        notes.append(Note(code="no-groups", message=message, subject=tuple(thin), severity="fragile"))
    sizes_of = {
        name: float(np.median(groups.counts))
        for name, groups in zip(names, complement_groups(labels), strict=True)
        if len(groups.counts)
    }
    text = ", ".join(f"{name} {groups}" for name, groups in usable.items())
    message = (
        f"groups of rows that agree on all factors but one ({complete} rows): {text}; "
        f"median size {min(sizes_of.values()):.0f} to {max(sizes_of.values()):.0f} rows"
    )
    thin_groups = min(sizes_of.values()) <= THIN_GROUP
    if thin_groups:
        message += ", whose variance says little: use fewer bins, factors or more rows"
    notes.append(Note(code="usable-groups", message=message, severity="fragile" if thin_groups else "info"))
    return Native(
        value=above(accuracy, 1 / m, report),
        details={"accuracy": accuracy, "usable_groups": usable},
        notes=tuple(notes),
    )


def z_max_variance(
    codes: object,
    factors: object,
    *,
    bins: Bins = 3,
    batch_size: Annotated[int, at_least(2)] = 200,
    n_train: Count = 800,
    n_test: Count = 800,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Score:
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
    Kim, Wang, Sahu & Pavlovic 2019. With many factors the groups shrink to pairs of rows, whose variance says
    little: a note says so.

    A group is drawn as often as it has rows, which is how often its fixed values occur. The review's code draws every
    combination of values alike, small groups included, whose votes are noise: with five noisy codes on 1 500 rows it
    gives 0.645 and this function 0.667; with eight on 20 000 rows, 0.37 and 0.41.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> demele.z_max_variance(factors, factors, n_train=100, n_test=100).value
    1.0
    """
    return score(METRIC, locals())


METRIC = Metric(
    "z_max_variance",
    z_max_variance,
    title="Z-max variance",
    family="intervention",
    properties=("modularity",),
    native="whole",
    range=(-1.0, 1.0),
    source="Kim et al. 2019 (RF-VAE metric)",
    references=("kim2019relevance",),
    definition="accuracy above chance of a majority vote from the code that varies most to the factor left free",
    stochastic=True,
    needs_factors=2,
    aliases=("Z-max variance", "rf_vae_score"),
    readings=(of_rows(votes_of_most),),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    probe=("bins", (3, 2, 4, 6, 10)),
    in_groups=True,
    order=150,
)
