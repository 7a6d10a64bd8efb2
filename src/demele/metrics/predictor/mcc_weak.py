"""Weak mean correlation coefficient: canonical correlations of codes and factors (Khemakhem et al. 2020)."""

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.core.inputs import Factor
from demele.core.results import Score
from demele.metrics.data import Array, Data
from demele.metrics.metric import Guards, Metric, Native, of_rows
from demele.metrics.options import Folds, RunOptions
from demele.metrics.run import score
from demele.metrics.splits import folds


def canonical_correlations(data: Data, cross_fit: int | None) -> Native:
    """Mean canonical correlation of the codes with the factors, or with each factor where one is categorical."""
    rows = np.flatnonzero(np.all([factor.annotated() for factor in data.factors.columns], axis=0))
    needed = 2 * (data.codes.d + data.factors.m)
    if len(rows) < needed:
        raise NotEnoughData(
            "factors",
            f"canonical correlations of {data.codes.d} codes and {data.factors.m} factors need at least {needed} rows "
            f"on which all factors are annotated, got {len(rows)}",
        )
    codes, blocks = data.standardised()[rows], _blocks(data.factors.columns, rows)
    if cross_fit is None:
        found = np.concatenate([_fitted(codes, block, own) for block, own in blocks])
    else:
        total = np.zeros(data.factors.m)
        for train, test in folds(len(rows), cross_fit):
            parts = [_carried_over(codes, block, own, train, test) for block, own in blocks]
            total += len(test) * np.concatenate(parts)
        found = total / len(rows)
    return Native(value=np.asarray(found.mean()), details={"canonical_correlations": found.tolist()})


def _blocks(factors: tuple[Factor, ...], rows: NDArray[np.intp]) -> list[tuple[Array, int]]:
    """Return columns that are correlated together, and how many canonical correlations count of each."""
    if not any(factor.categorical for factor in factors):
        return [(np.column_stack([factor.values[rows] for factor in factors]).astype(np.float64), len(factors))]
    blocks = []
    for factor in factors:
        values = factor.values[rows]
        if factor.categorical:
            values = values[:, None] == np.arange(1, len(factor.levels))
        blocks.append((values.reshape(len(rows), -1).astype(np.float64), 1))
    return blocks


def _filled(found: Array, n: int) -> Array:
    """Return so many canonical correlations: missing ones are 0."""
    return np.concatenate([found[:n], np.zeros(max(n - len(found), 0))])


def _fitted(codes: Array, block: Array, n: int) -> Array:
    from demele.estimation.linear_recovery import Basis, canonical

    return _filled(canonical(Basis.of(codes), Basis.of(block))[0], n)


def _carried_over(codes: Array, block: Array, n: int, train: NDArray[np.intp], test: NDArray[np.intp]) -> Array:
    from demele.estimation.linear_recovery import Basis, canonical, correlation_of_pairs

    _, of_codes, of_block = canonical(Basis.of(codes[train]), Basis.of(block[train]))
    return _filled(correlation_of_pairs(codes[test] @ of_codes, block[test] @ of_block), n)


def mcc_weak(
    codes: object,
    factors: object,
    *,
    cross_fit: Folds | None = None,
    **run: Unpack[RunOptions],
) -> Score:
    """Weak mean correlation coefficient: the factors up to an invertible linear map.

    The mean of the canonical correlations of codes and factors, those that are missing counting 0. Where a factor is
    categorical, the mean over factors of the first canonical correlation of the codes with each: with its values, or
    with the indicators of its classes.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. Constant codes and copies add nothing.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Rows on which all factors are annotated count, at least 2 (n_codes + n_factors) of them.
    cross_fit : int >= 2, optional
        Number of folds: directions are fitted on all other folds, and their signed correlation is taken on the fold.
        Codes of noise then score 0 on average.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1 (with ``cross_fit`` in [-1, 1]); ``details["canonical_correlations"]``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Khemakhem et al. 2020. It does not see rotations, nor whether codes are modular or compact. Codes of noise score
    above 0, the more the more there are: 0.13 for 5 codes, 5 factors and 200 rows, 0.5 for 50 codes. Ask for
    ``chance``, or for ``cross_fit``. O(N (n_codes + n_factors)^2).

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((500, 2))
    >>> mixed = factors @ [[2.0, 1.0], [1.0, -1.0]]
    >>> round(demele.mcc_weak(mixed, factors).value, 6), demele.mcc(mixed, factors).value < 0.95
    (1.0, True)
    """
    return score(METRIC, locals())


METRIC = Metric(
    "mcc_weak",
    mcc_weak,
    title="weak MCC",
    family="predictor",
    properties=("explicitness",),
    native="whole",
    range=(-1.0, 1.0),
    source="Khemakhem et al. 2020",
    references=("khemakhem2020ice",),
    definition="mean canonical correlation of the codes and the factors",
    aliases=("MCC_weak",),
    readings=(of_rows(canonical_correlations),),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    in_groups=True,
    order=230,
    by_default=False,
)
