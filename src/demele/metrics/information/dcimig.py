"""DCIMIG, or 3CharM (Sepliarskaia et al. 2019)."""

from typing import Unpack

import numpy as np

from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, ratio, top_two
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RunOptions
from demele.metrics.run import score


def held_share(table: InformationTable) -> Native:
    """Sum over factors of the largest gap among the codes whose best factor it is, over the sum of entropies."""
    information = table.information
    first, second = top_two(information, axis=-1)
    gaps = first - second  # (..., d)
    best_factor = information.argmax(axis=-1)
    m = information.shape[-1]
    held = np.where(best_factor[..., None] == np.arange(m), gaps[..., None], 0.0).max(axis=-2)
    value = held.sum(axis=-1) / table.factor_entropy.sum(axis=-1)
    return Native(value=value, per_factor=ratio(held, table.factor_entropy), matrix=information, matrix_of=MATRIX)


def dcimig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    **run: Unpack[RunOptions],
) -> Score:
    """DCIMIG (3CharM): the entropy of the factors that codes hold exclusively: holistic.

    For each factor the largest gap I(v_*, z_j) - I(v_o, z_j) among the codes whose best factor it is, summed, over
    the sum of the factors' entropies.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``: each factor's own ratio, of which the value is the mean weighted by
        entropy; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Sepliarskaia et al. 2019.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> demele.dcimig(factors[:, :1], factors).value < 0.55      # only one of two factors is held
    True
    """
    return score(METRIC, locals())


METRIC = Metric(
    "dcimig",
    dcimig,
    title="DCIMIG",
    family="information",
    shares="information",
    properties=("modularity", "compactness", "explicitness"),
    native="per factor",
    range=(0.0, 1.0),
    source="Sepliarskaia et al. 2019 (3CharM)",
    references=("sepliarskaia2019evaluating",),
    definition="largest gap of a code for its best factor, summed over factors, over the sum of their entropies",
    aliases=("DCIMIG",),
    readings=(of_table(held_share),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    order=50,
    corrected_by=("transition", "bounds"),
)
