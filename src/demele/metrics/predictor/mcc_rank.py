"""Mean rank correlation coefficient of factors and the codes that are matched to them (Khemakhem et al. 2020)."""

from typing import Unpack

from demele.core.results import Score
from demele.metrics.data import Data
from demele.metrics.metric import Guards, Metric, Native, of_rows
from demele.metrics.options import Folds, RunOptions
from demele.metrics.predictor.mcc import Average, matched_correlations
from demele.metrics.run import score


def matched_rank_correlations(data: Data, average: str, cross_fit: int | None) -> Native:
    """MCC of the mid-ranks of rows."""
    return matched_correlations(data, average, cross_fit, ranks=True)


def mcc_rank(
    codes: object,
    factors: object,
    *,
    average: Average = "coverage",
    cross_fit: Folds | None = None,
    **run: Unpack[RunOptions],
) -> Score:
    """Mean rank correlation coefficient: MCC of ranks, so that codes may follow factors by any monotone curve.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: only their order counts. Tied values have the mean of their ranks.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Of a categorical factor, the correlation ratio with the ranks of the code.
    average, cross_fit
        As in :func:`mcc`; ranks are taken on the rows chosen and on the rows scored, each by themselves.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1 (with ``cross_fit`` in [-1, 1]); ``per_factor``; ``matrix``: absolute rank correlation
        of each code with each factor (n_codes, n_factors); ``details["assignment"]``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Khemakhem et al. 2020, with Spearman's correlation. Published code differs where values are tied: some of it numbers
    ties in the order of the rows. As :func:`mcc` it sees neither copies nor further codes that mix the factors.
    O(N log N) for each column.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factor = np.linspace(-1, 1, 201)
    >>> bent = factor[:, None] ** 3
    >>> round(demele.mcc_rank(bent, factor).value, 3), round(demele.mcc(bent, factor).value, 3)
    (1.0, 0.917)
    """
    return score(METRIC, locals())


METRIC = Metric(
    "mcc_rank",
    mcc_rank,
    title="MCC of ranks",
    family="predictor",
    properties=("compactness", "explicitness"),
    native="per factor",
    range=(-1.0, 1.0),
    source="Khemakhem et al. 2020, with Spearman's correlation",
    references=("khemakhem2020ice",),
    definition="absolute rank correlation of each factor with its code in the best one-to-one pairs",
    aliases=("MCC_rank",),
    readings=(of_rows(matched_rank_correlations),),
    guards=Guards(outliers="leave it", bins=False, fewest_rows=50),
    in_groups=True,
    on_circles=True,
    order=220,
    in_all=False,
)
