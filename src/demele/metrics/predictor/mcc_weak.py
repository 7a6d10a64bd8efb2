"""Weak mean correlation coefficient: canonical correlations of codes and factors (Khemakhem et al. 2020)."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.core.inputs import Factor
from demele.core.results import Score
from demele.estimation.cross_products import CrossProducts
from demele.metrics.data import Array, Data
from demele.metrics.metric import Guards, Metric, Native, of_products, of_rows
from demele.metrics.options import Folds, RunOptions
from demele.metrics.predictor.mcc import products_suffice
from demele.metrics.run import score
from demele.metrics.splits import folds


def canonical_correlations(data: Data, cross_fit: int | None) -> Native:
    """Mean canonical correlation of the codes with the factors, or with each factor where one is categorical."""
    rows = np.flatnonzero(np.all([factor.annotated() for factor in data.factors.columns], axis=0))
    _check_rows(len(rows), data.codes.d, data.factors.m)
    codes = data.standardised()
    if len(rows) < data.n:
        codes = codes[rows]
    if cross_fit is None:
        found = _fitted(codes, data.factors.columns, rows)
    else:
        blocks = _blocks(data.factors.columns, rows)
        total = np.zeros(data.factors.m)
        for train, test in folds(len(rows), cross_fit):
            parts = [_carried_over(codes, block, own, train, test) for block, own in blocks]
            total += len(test) * np.concatenate(parts)
        found = total / len(rows)
    return _mean_of(found)


def canonical_of_products(products: CrossProducts) -> Native:
    """Mean canonical correlation from the products of all columns."""
    _check_rows(products.n, len(products.codes), len(products.classes))
    if any(products.classes):
        return _mean_of(products.first_canonical())
    return _mean_of(_filled(products.canonical(), len(products.classes)))


def _check_rows(n: int, d: int, m: int) -> None:
    needed = 2 * (d + m)
    if n < needed:
        raise NotEnoughData(
            "factors",
            f"canonical correlations of {d} codes and {m} factors need at least {needed} rows on which all factors are "
            f"annotated, got {n}",
        )


def _mean_of(found: Array) -> Native:
    return Native(value=np.asarray(found.mean()), details={"canonical_correlations": found.tolist()})


def _numbers(factors: Sequence[Factor], rows: NDArray[np.intp]) -> Array:
    return np.column_stack([factor.coordinates[rows] for factor in factors]).astype(np.float64)


def _blocks(factors: tuple[Factor, ...], rows: NDArray[np.intp]) -> list[tuple[Array, int]]:
    """Return columns that are correlated together, and how many canonical correlations count of each."""
    if all(factor.kind == "continuous" for factor in factors):
        return [(_numbers(factors, rows), len(factors))]
    blocks = []
    for factor in factors:
        columns = _numbers([factor], rows)
        if factor.categorical:
            columns = (columns == np.arange(1, len(factor.levels))).astype(np.float64)
        blocks.append((columns, 1))
    return blocks


def _filled(found: Array, n: int) -> Array:
    """Return so many canonical correlations: missing ones are 0."""
    return np.concatenate([found[:n], np.zeros(max(n - len(found), 0))])


def _fitted(codes: Array, factors: tuple[Factor, ...], rows: NDArray[np.intp]) -> Array:
    from demele.estimation.linear_recovery import Basis, canonical_correlations, largest_with_classes

    basis = Basis.of(codes)
    if any(factor.kind != "continuous" for factor in factors):
        # the indicators of classes need not be made: their correlations follow from the means of the classes
        return np.array(
            [
                largest_with_classes(basis, factor.values[rows], len(factor.levels))
                if factor.categorical
                else _filled(canonical_correlations(basis, Basis.of(_numbers([factor], rows))), 1)[0]
                for factor in factors
            ]
        )
    return _filled(canonical_correlations(basis, Basis.of(_numbers(factors, rows))), len(factors))


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
    categorical or cyclic, the mean over factors of the first canonical correlation of the codes with each: with its
    values, with the indicators of its classes, or with its cosine and sine.

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
    ``n_permutations``, or for ``cross_fit``. O(N (n_codes + n_factors)^2).

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
    readings=(of_products(canonical_of_products, when=products_suffice), of_rows(canonical_correlations)),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    in_groups=True,
    on_circles=True,
    order=230,
    in_all=False,
)
