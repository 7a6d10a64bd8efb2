"""Dependency-aware latent information gap (Watcharasupat 2021)."""

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.results import Score
from demele.estimation.information import TIE, Correction, InformationTable, mean_of_defined, ratio
from demele.metrics.metric import MATRIX, Guards, Metric, Native, of_table
from demele.metrics.options import Bins, Count, Estimator, RegDim, RunOptions
from demele.metrics.run import score


def gap(table: InformationTable, reg_dim: NDArray[np.intp]) -> Native:
    """DLIG_i = [I(v_i; z) - I(v_k; z)] / H(v_i | v_k) for the factor's code z, v_k being the best other factor.

    Of several v_k that are equally good, the one with the largest H(v_i | v_k), whatever their order.
    """
    if table.factor_information is None:
        raise ValueError("DLIG needs informations between factors")
    m = table.information.shape[-1]
    of_code = table.information[..., reg_dim, :].copy()  # (..., factor whose code it is, factor)
    own = np.arange(m)
    first = of_code[..., own, own]
    of_code[..., own, own] = -np.inf
    second = of_code.max(axis=-1)
    between = np.where(of_code >= second[..., None] - TIE, table.factor_information, np.inf).min(axis=-1)
    gaps = ratio(first - second, table.factor_entropy - between)
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=table.information, matrix_of=MATRIX)


def dlig(
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
    r"""Dependency-aware latent information gap: modularity of the regularised codes.

    .. math:: \mathrm{DLIG}_i = [I(v_i; z) - I(v_k; z)] / H(v_i | v_k)

    for the factor's code z and the best other factor v_k.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, optional
        The code of each factor; by default code i is that of factor i, which a note says.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most about 1, best 1; ``per_factor``: of each factor's code; ``matrix``: mutual information
        (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Watcharasupat 2021.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> demele.dlig(factors, factors).value > 0.9
    True
    """
    return score(METRIC, locals())


METRIC = Metric(
    "dlig",
    dlig,
    title="DLIG",
    family="information",
    shares="information",
    properties=("modularity",),
    native="per factor",
    range=(float("-inf"), float("inf")),
    source="Watcharasupat 2021",
    references=("watcharasupat2021controllable",),
    definition="[I(v_i; z) - I(v_k; z)] / H(v_i | v_k) for the factor's code z, v_k being the best other factor",
    needs_factors=2,
    aliases=("DLIG", "DependencyAwareLatentInformationGap"),
    readings=(of_table(gap, pairs=True, one_by_one=True),),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
    side=("reg_dim",),
    undefined="another factor determines them, so that no entropy is left to divide by",
    order=90,
)
