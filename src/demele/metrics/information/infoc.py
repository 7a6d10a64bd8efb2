"""InfoC: the share of the information on a factor that is in one code (Hsu et al. 2023)."""

from typing import Unpack

import numpy as np

from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, mean_of_defined
from demele.metrics.information.infom import (
    Active,
    Normalise,
    active_codes,
    barely_beyond_chance,
    even_to_one,
    informed_factors,
    normalised,
)
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, Fraction, RunOptions
from demele.metrics.run import score


def compact_share(table: InformationTable, active: str, active_share: float, normalise: str) -> Native:
    """InfoC_i = [max_j n_ij / sum_j n_ij - 1/L] / (1 - 1/L) over the L active codes, mean over factors."""
    active_ones = active_codes(table, active, active_share)
    chosen = active_ones[..., None]
    shares = np.where(chosen, normalised(table, normalise), 0.0)
    number = chosen.sum(axis=-2)
    per_factor = even_to_one(shares.max(axis=-2), shares.sum(axis=-2), number)
    if active == "informative":
        per_factor = np.where(informed_factors(table, active_ones), per_factor, np.nan)
    value = mean_of_defined(per_factor)
    defined = active == "informative" and value.ndim == 0 and bool(value == value)
    notes = barely_beyond_chance(table, active_ones) if defined else ()
    return Native(value=value, per_factor=per_factor, matrix=table.information, matrix_of=MATRIX, notes=notes)


def infoc(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    active: Active = "informative",
    active_share: Fraction = 0.05,
    normalise: Normalise = "entropy",
    **run: Unpack[RunOptions],
) -> Score:
    r"""InfoC: the share of the information on each factor that is in one code: compactness.

    .. math:: \mathrm{InfoC}_i = \frac{\max_j n_{ij} / \sum_j n_{ij} - 1/L}{1 - 1/L},\ n_{ij} = I(v_i; z_j) / H(v_i)

    over the L active codes, and the mean over factors. 0 is an even spread, which is not what noise scores.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active, active_share, normalise
        As in :func:`infom`. With ``"informative"``, a factor on which the active codes do not inform beyond chance is
        left out and named.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, NaN where fewer than two codes are active; ``per_factor``; ``matrix``: mutual
        information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Hsu et al. 2023 (InfoMEC). It does not see how much is known: codes that tell only in which half the value of a
    factor lies score 1. c copies of every code score (1/c - 1/L) / (1 - 1/L). Two codes of noise of 4 bins score
    0.26 on a factor of 4 values, for any number of rows, unless they are left out as inactive.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> round(demele.infoc(factors[:, [0, 0, 1, 1]], factors, kinds="categorical").value, 6)
    0.333333
    """
    return score(METRIC, locals())


METRIC = Metric(
    "infoc",
    infoc,
    title="InfoC",
    family="information",
    shares="information",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Hsu et al. 2023 (InfoMEC)",
    references=("hsu2023disentanglement",),
    definition="largest share of the normalised informations on a factor, moved so that an even spread is 0",
    needs_codes=2,
    aliases=("InfoC",),
    readings=(of_table(compact_share),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    undefined="no active code informs on them, or fewer than two codes are active",
    order=260,
    in_all=False,
)
