"""Mean correlation coefficient of factors and the codes that are matched to them (Hyvarinen & Morioka 2016)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.inputs import Factor
from demele.core.results import Score
from demele.estimation.correlations import association, carried_over, matched, mid_ranks
from demele.estimation.cross_products import CrossProducts
from demele.metrics.data import Array, Data
from demele.metrics.metric import Guards, Metric, Native, of_moments, of_products, of_rows
from demele.metrics.options import Folds, RunOptions
from demele.metrics.predictor.sap import Moments, moments_suffice
from demele.metrics.run import score
from demele.metrics.source import Source
from demele.metrics.splits import folds

Average = Literal["coverage", "matched"]
MATRIX_OF = "absolute correlation, or correlation ratio for categorical factors"


def of_matrix(matrix: Array, average: str, own: Array | None = None) -> Native:
    """Return the mean of the matched entries of a matrix (n_codes, n_factors), or of other values of these pairs."""
    d, m = matrix.shape
    pairs = matched(matrix)
    if own is None:
        own = np.where(pairs >= 0, matrix[np.maximum(pairs, 0), np.arange(m)], 0.0)
    return Native(
        value=np.asarray(own.sum() / (m if average == "coverage" else min(d, m))),
        per_factor=own,
        matrix=matrix,
        matrix_of=MATRIX_OF,
        details={"assignment": [int(code) if code >= 0 else None for code in pairs]},
    )


def matched_correlations(data: Data, average: str, cross_fit: int | None, *, ranks: bool = False) -> Native:
    """MCC of rows; with ``cross_fit``, pairs and signs are chosen on other rows than those that are scored."""
    codes = data.codes.dense()
    columns = None if data.groups is None else data.groups.columns
    matrix = np.abs(_association(codes, data.factors.columns, columns, ranks=ranks))
    if cross_fit is None:
        return of_matrix(matrix, average)
    total, weight = np.zeros(data.factors.m), np.zeros(data.factors.m)
    for train, test in folds(data.n, cross_fit):
        chosen, scored = (data.factors.take(rows).columns for rows in (train, test))
        signed = _association(codes[train], chosen, columns, ranks=ranks)
        for index, code in enumerate(matched(np.abs(signed))):
            size = scored[index].n_annotated
            weight[index] += size
            if code >= 0:
                column = _best_column(codes, train, chosen[index], columns, code, ranks=ranks)
                pair = column[train], column[test], chosen[index], scored[index]
                total[index] += size * carried_over(*pair, float(signed[code, index]), ranks=ranks)
    return of_matrix(matrix, average, total / np.maximum(weight, 1.0))


def _association(
    codes: Array, factors: tuple[Factor, ...], groups: Sequence[Sequence[int]] | None, *, ranks: bool
) -> Array:
    """Return how each code goes with each factor: a group of columns by its multiple correlation."""
    matrix = association(codes, factors, ranks=ranks)
    if groups is None:
        return matrix
    from demele.estimation.joint_codes import multiple_correlation

    return np.array(
        [
            matrix[columns[0]]
            if len(columns) == 1
            else [multiple_correlation(codes[:, list(columns)], factor, ranks=ranks) for factor in factors]
            for columns in groups
        ]
    )


def _best_column(
    codes: Array,
    train: NDArray[np.intp],
    factor: Factor,
    groups: Sequence[Sequence[int]] | None,
    code: int,
    *,
    ranks: bool,
) -> Array:
    """Return one code as a column: of a group, the weighted sum that goes best with the factor on training rows."""
    own = [code] if groups is None else list(groups[code])
    if len(own) == 1:
        return codes[:, own]
    from demele.estimation.joint_codes import best_direction

    weights = best_direction(codes[train][:, own], factor, ranks=ranks)
    columns = mid_ranks(codes[:, own]) if ranks else codes[:, own]
    return np.asarray(columns @ weights)[:, None]


def matched_values(data: Data, average: str, cross_fit: int | None) -> Native:
    """MCC of the values of rows."""
    return matched_correlations(data, average, cross_fit)


def correlations_of_moments(moments: Moments, average: str) -> Native:
    """MCC of continuous factors from means, squares and cross products of all rows."""
    return of_matrix(np.sqrt(moments.squared_correlations()), average)


def correlations_of_products(products: CrossProducts, average: str) -> Native:
    """MCC of any factors from the products of all columns, classes being columns of their own."""
    return of_matrix(products.association(), average)


def products_suffice(source: Source, options: Mapping[str, Any]) -> bool:
    """Whether nothing is fitted on parts of the rows, and all columns have the same rows."""
    return options.get("cross_fit") is None and source.complete


def mcc(
    codes: object,
    factors: object,
    *,
    average: Average = "coverage",
    cross_fit: Folds | None = None,
    **run: Unpack[RunOptions],
) -> Score:
    r"""Mean correlation coefficient: correlation of each factor with its code in the best one-to-one pairs.

    .. math:: \mathrm{MCC} = \frac1M \max_p \sum_i |\mathrm{corr}(v_i, z_{p(i)})|

    Are the factors found up to their order, sign and scale? The score of nonlinear ICA and of causal representation
    learning.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. A constant code correlates with nothing: 0.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Of a categorical factor, the correlation ratio :math:`\eta` with the code: the largest absolute correlation over
        all ways to number its classes. (Correlations with class labels depend on how these are numbered.) Of a cyclic
        factor, the multiple correlation of the code with its cosine and sine.
    average : {"coverage", "matched"}
        Over all factors, those without a code counting 0, or over min(n_codes, n_factors), as published: lost factors
        are then hidden.
    cross_fit : int >= 2, optional
        Number of folds: pairs and signs are chosen on all other folds, and the signed correlation is taken on the
        fold, classes being numbered by the means of the code in training. Codes of noise then score 0 on average,
        slightly below it as often as above, however many there are. The partition is drawn once for all seeds.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1 (with ``cross_fit`` in [-1, 1]); ``per_factor``; ``matrix``: absolute correlation of
        each code with each factor (n_codes, n_factors); ``details["assignment"]``: the code of each factor that
        varies, by its place, or None.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Hyvarinen & Morioka 2016; Khemakhem et al. 2020; cross-fitted as Joshi et al. 2026 do. Codes of noise score above 0:
    the mean absolute correlation of one with one factor is :math:`\sqrt{2 / (\pi (N - 1))}`, and the best pairs of many
    codes score more (0.12 for 100 codes, 5 factors and 500 rows). Ask for ``n_permutations``, or for ``cross_fit``.
    Further codes that mix factors, and copies, change nothing: it says nothing of modularity.
    O(N n_codes n_factors).

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> rotated = np.column_stack([factors.sum(axis=1), factors[:, 0] - factors[:, 1]])
    >>> round(demele.mcc(rotated, factors, kinds="continuous").value, 6)
    0.707107
    """
    return score(METRIC, locals())


METRIC = Metric(
    "mcc",
    mcc,
    title="MCC",
    family="predictor",
    properties=("compactness", "explicitness"),
    native="per factor",
    range=(-1.0, 1.0),
    source="Hyvarinen & Morioka 2016; Khemakhem et al. 2020",
    references=("hyvarinen2016unsupervised", "khemakhem2020ice"),
    definition="absolute correlation of each factor with its code in the best one-to-one pairs",
    aliases=("MCC",),
    readings=(
        of_moments(correlations_of_moments, when=moments_suffice),
        of_products(correlations_of_products, when=products_suffice),
        of_rows(matched_values),
    ),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    in_groups=True,
    on_circles=True,
    order=210,
    in_all=False,
)
