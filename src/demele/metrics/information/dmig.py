"""Dependency-aware mutual information gap (Watcharasupat and Lerch 2021, eq. 2)."""

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.results import Score
from demele.estimation.information import Correction, InformationTable, best_other, mean_of_defined, ratio
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RegDim, RunOptions
from demele.metrics.run import score


def gap(table: InformationTable, reg_dim: NDArray[np.intp]) -> Native:
    """DMIG_i = [I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l): z_j the factor's code, z_k the best other, v_l its factor.

    Where several z_k or v_l are equally good, the one with the largest H(v_i | v_l), whatever their order.
    """
    if table.factor_information is None:
        raise ValueError("DMIG needs informations between factors")
    information = table.information
    d, m = information.shape[-2:]
    first = information[..., reg_dim, np.arange(m)]
    second, rivals = best_other(information, reg_dim)
    # what each code's factor tells of every factor, in that factor's unit; 0 for a code that regularises none
    regularises = reg_dim[None, :] == np.arange(d)[:, None]  # (d, m)
    told = np.swapaxes(table.factor_information, -1, -2)[..., None, :, :]  # (..., 1, factor that tells, factor)
    shared = np.where(regularises[:, :, None], told, np.inf).min(axis=-2)
    shared = np.where(np.isposinf(shared), 0.0, shared)
    least = np.where(rivals, shared, np.inf).min(axis=-2)
    gaps = ratio(first - second, table.factor_entropy - np.where(np.isposinf(least), 0.0, least))
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=information, matrix_of=MATRIX)


def dmig(
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
    r"""Dependency-aware mutual information gap, for factors that depend on each other: compactness.

    .. math:: \mathrm{DMIG}_i = [I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l)

    for the factor's code z_j, the best other code z_k, and the factor v_l that z_k regularises; H(v_i) if none.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
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
        value at most about 1, best 1, negative where another code informs more; ``per_factor`` (NaN where another
        factor determines v_i); ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Watcharasupat & Lerch 2021, eq. 2.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> swapped = factors[:, ::-1]
    >>> demele.dmig(swapped, factors).value < -0.9 < 0.9 < demele.dmig(swapped, factors, reg_dim=[1, 0]).value
    True
    """
    return score(METRIC, locals())


METRIC = Metric(
    "dmig",
    dmig,
    title="DMIG",
    family="information",
    shares="information",
    properties=("compactness",),
    native="per factor",
    range=(float("-inf"), float("inf")),
    source="Watcharasupat & Lerch 2021, eq. 2",
    references=("watcharasupat2021evaluation",),
    definition="[I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l), v_l being the factor of the best other code",
    aliases=("DMIG", "DependencyAwareMutualInformationGap"),
    readings=(of_table(gap, pairs=True),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    side=("reg_dim",),
    undefined="another factor determines them, so that no entropy is left to divide by",
    order=70,
)
