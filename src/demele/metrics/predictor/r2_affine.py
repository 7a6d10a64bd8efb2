"""Share of each factor that an affine map of all codes explains."""

from dataclasses import replace
from typing import Unpack

import numpy as np

from demele.core.arrays import Floats
from demele.estimation.information import mean_of_defined
from demele.estimation.linear_recovery import CrossProducts
from demele.metrics.data import Data
from demele.metrics.metric import Guards, Metric, Native
from demele.metrics.options import RunOptions
from demele.metrics.predictor.correlations import products_suffice
from demele.metrics.splits import annotated_rows

BLOCKS = "share of a factor that an affine map of one group explains"


@Metric(
    title="affine R2",
    family="predictor",
    properties=("explicitness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Zimmermann et al. 2021",
    references=("zimmermann2021contrastive",),
    definition="share of each factor's variance that an affine map of all codes explains",
    aliases=("R2_affine",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    undefined="they have no more rows than the codes have directions",
    in_groups=True,
    on_circles=True,
    in_all=False,
    when={CrossProducts: products_suffice},
)
def r2_affine(state: CrossProducts | Data, **run: Unpack[RunOptions]) -> Native:
    r"""Affine R2: the share of each factor's variance that an affine map of all codes explains.

    .. math:: R^2_i = 1 - \min_{a, b} \sum_n (v_{ni} - a \cdot z_n - b)^2 / \sum_n (v_{ni} - \bar v_i)^2

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. Constant codes and copies add nothing.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Of a categorical factor, the indicators of its classes are predicted, and the share is that of the sum of their
        variances: one code cannot give the indicators of four classes, and a perfect one scores 1/3. Of a cyclic
        factor, likewise, its cosine and sine.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``, NaN where a factor has no more rows than the codes have directions;
        with ``code_groups`` ``matrix``: the share that each group alone explains (n_codes, n_factors), high on its own
        factors and at chance elsewhere where blocks are identified;
        ``details["adjusted"]``: value and per factor of
        :math:`1 - (1 - R^2)(N - 1)/(N - 1 - r)`, r the rank of the codes, which is 0 on average for codes of noise.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Zimmermann et al. 2021. Least squares on the rows that are scored: codes of noise score r / (N - 1) on average,
    exactly so over all permutations of the rows, and the adjusted form takes that away. It sees neither rotations
    nor copies, nor further codes that mix the factors.
    O(N n_codes^2).

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> round(demele.metrics.r2_affine(factors @ [[2.0, 1.0], [1.0, -1.0]], factors).value, 6)
    1.0
    """
    if isinstance(state, CrossProducts):
        left = state.n - 1 - state.directions.shape[1]
        shares = state.explained() if left > 0 else np.full(len(state.classes), np.nan)
        adjusted = 1.0 - (1.0 - shares) * (state.n - 1) / max(left, 1)
    else:
        shares, adjusted = _explained_by_rows(state)
    found = Native(
        value=mean_of_defined(shares),
        per_factor=shares,
        details={"adjusted": {"value": float(mean_of_defined(adjusted)), "per_factor": adjusted.tolist()}},
    )
    if isinstance(state, CrossProducts) or state.groups is None:
        return found
    return replace(found, matrix=_of_blocks(state, state.standardised()), matrix_of=BLOCKS)


def _explained_by_rows(data: Data) -> tuple[Floats, Floats]:
    """Return R2_i of least squares of each factor on all codes, and the adjusted one."""
    from demele.estimation.linear_recovery import Basis, explained_share

    codes = data.standardised()
    whole = Basis.of(codes) if any(factor.complete for factor in data.factors.columns) else None
    shares, adjusted = np.full(data.factors.m, np.nan), np.full(data.factors.m, np.nan)
    for index, factor in enumerate(data.factors.columns):
        rows, values = annotated_rows(factor, codes)
        basis = whole if whole is not None and factor.complete else Basis.of(rows)
        left = len(rows) - 1 - basis.rank
        if left > 0:  # as many rows as directions are fitted without an error, whatever they hold
            shares[index] = explained_share(basis, values, len(factor.levels) if factor.categorical else 0)
            adjusted[index] = 1.0 - (1.0 - shares[index]) * (len(rows) - 1) / left
    return shares, adjusted


def _of_blocks(data: Data, codes: Floats) -> Floats:
    """Return the share of each factor that an affine map of each group alone explains, (n_codes, n_factors)."""
    from demele.estimation.linear_recovery import Basis, explained_share

    matrix = np.full((data.n_codes, data.factors.m), np.nan)
    for index, factor in enumerate(data.factors.columns):
        rows, values = annotated_rows(factor, codes)
        for code in range(data.n_codes):
            basis = Basis.of(rows[:, data.columns_of([code])])
            if len(rows) - 1 > basis.rank:
                matrix[code, index] = explained_share(basis, values, len(factor.levels) if factor.categorical else 0)
    return matrix
