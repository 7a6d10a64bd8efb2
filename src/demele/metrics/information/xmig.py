"""Dependency-blind mutual information gap (Watcharasupat and Lerch 2021)."""

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, mean_of_defined, ratio
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RegDim, RunOptions
from demele.metrics.run import score


def gap(table: InformationTable, reg_dim: NDArray[np.intp]) -> Native:
    """XMIG_i = [I(v_i; z_j) - max over codes outside reg_dim of I(v_i; z_k)] / H(v_i)."""
    information = table.information
    d, m = information.shape[-2:]
    if len(np.unique(reg_dim)) == d:
        raise NotEnoughData(
            "reg_dim", "xmig needs a code that regularises no factor, but every code is the code of some factor"
        )
    first = information[..., reg_dim, np.arange(m)]
    outside = np.setdiff1d(np.arange(d), reg_dim)
    second = information[..., outside, :].max(axis=-2)
    gaps = ratio(first - second, table.factor_entropy)
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=information, matrix_of=MATRIX)


def xmig(
    codes: object,
    factors: object,
    *,
    bins: Bins = 10,
    estimator: Estimator = "histogram",
    correction: Correction = "none",
    n_neighbors: Count = 3,
    reg_dim: RegDim = None,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Dependency-blind mutual information gap: against the codes that regularise no factor: compactness.

    .. math:: \mathrm{XMIG}_i = [I(v_i; z_j) - \max_{k \notin reg\_dim} I(v_i; z_k)] / H(v_i)

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        At least one more than there are regularised codes.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, optional
        The code of each factor; by default code i is that of factor i, which a note says.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [-1, 1], best 1; ``per_factor``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Watcharasupat & Lerch 2021.

    Examples
    --------
    >>> import numpy as np, demele
    >>> codes = np.random.default_rng(0).random((2000, 3))
    >>> demele.xmig(codes, codes[:, :2]).value > 0.9
    True
    """
    return score(METRIC, locals())


METRIC = Metric(
    "xmig",
    xmig,
    title="XMIG",
    family="information",
    shares="information",
    properties=("compactness",),
    native="per factor",
    range=(-1.0, 1.0),
    source="Watcharasupat & Lerch 2021",
    references=("watcharasupat2021evaluation",),
    definition="[I(v_i; z_j) - max over codes that regularise no factor of I(v_i; z_k)] / H(v_i)",
    needs_codes=2,
    aliases=("XMIG", "DependencyBlindMutualInformationGap"),
    readings=(of_table(gap),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    side=("reg_dim",),
    order=80,
)
