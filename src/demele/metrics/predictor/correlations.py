"""Correlations of codes and factors: of pairs (MCC), of all together, and SAP, the gap between the best two codes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

from demele.core.arrays import Floats, Rows
from demele.core.errors import NotEnoughData
from demele.core.inputs import Factor
from demele.core.kinds import Count, Positive, Several
from demele.estimation.information import best_other, mean_of_defined, top_two
from demele.estimation.linear_recovery import (
    Basis,
    CrossProducts,
    association,
    canonical,
    carried_over,
    correlation_of_pairs,
    explained_share,
    largest_with_classes,
    matched,
    mid_ranks,
)
from demele.metrics.code_groups import best_direction, multiple_correlation, share_beyond_chance
from demele.metrics.data import Data, Moments, annotated_rows, fewer_than_asked, folds, split
from demele.metrics.guards import units_notes
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import RunOptions
from demele.metrics.source import RegDim, Source

Average = Literal["coverage", "matched"]
_CorrelationMetric = partial(
    Metric,
    family="predictor",
    native="per factor",
    range=(-1.0, 1.0),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    in_groups=True,
    on_circles=True,
    in_all=False,
)


def moments_suffice(source: Source, options: Mapping[str, Any]) -> bool:
    """Whether nothing is fitted on parts of the rows, and all factors are continuous."""
    return options.get("cross_fit") is None and set(source.factor_kinds()) == {"continuous"}


def products_suffice(source: Source, options: Mapping[str, Any]) -> bool:
    """Whether nothing is fitted on parts of the rows, and all columns have the same rows."""
    return options.get("cross_fit") is None and source.complete


# Pairs ----------------------------------------------------------------------------------------------------------------


@_CorrelationMetric(
    title="MCC",
    properties=("compactness", "explicitness"),
    source="Hyvarinen & Morioka 2016; Khemakhem et al. 2020",
    references=("hyvarinen2016unsupervised", "khemakhem2020ice"),
    definition="absolute correlation of each factor with its code in the best one-to-one pairs",
    when={Moments: moments_suffice, CrossProducts: products_suffice},
)
def mcc(
    state: Moments | CrossProducts | Data,
    *,
    average: Average = "coverage",
    cross_fit: Several | None = None,
    **run: Unpack[RunOptions],
) -> Native:
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
    >>> round(demele.metrics.mcc(rotated, demele.Factors(factors, kinds="continuous")).value, 6)
    0.707107
    """
    if isinstance(state, Data):
        return _matched_correlations(state, average, cross_fit)
    if isinstance(state, CrossProducts):
        return _of_matrix(state.association(), average)
    return _of_matrix(np.sqrt(state.squared_correlations()), average)


@_CorrelationMetric(
    title="MCC of ranks",
    properties=("compactness", "explicitness"),
    source="Khemakhem et al. 2020, with Spearman's correlation",
    references=("khemakhem2020ice",),
    definition="absolute rank correlation of each factor with its code in the best one-to-one pairs",
    guards=Guards(outliers="leave it", bins=False, fewest_rows=50),
)
def mcc_rank(
    data: Data, *, average: Average = "coverage", cross_fit: Several | None = None, **run: Unpack[RunOptions]
) -> Native:
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
    >>> round(demele.metrics.mcc_rank(bent, factor).value, 3), round(demele.metrics.mcc(bent, factor).value, 3)
    (1.0, 0.917)
    """
    return _matched_correlations(data, average, cross_fit, ranks=True)


def _of_matrix(matrix: Floats, average: str, own: Floats | None = None) -> Native:
    """Return the mean of the matched entries of a matrix (n_codes, n_factors), or of other values of these pairs."""
    d, m = matrix.shape
    pairs = matched(matrix)
    if own is None:
        own = np.where(pairs >= 0, matrix[np.maximum(pairs, 0), np.arange(m)], 0.0)
    return Native(
        value=np.asarray(own.sum() / (m if average == "coverage" else min(d, m))),
        per_factor=own,
        matrix=matrix,
        matrix_of="absolute correlation, or correlation ratio for categorical factors",
        details={"assignment": [int(code) if code >= 0 else None for code in pairs]},
    )


def _matched_correlations(data: Data, average: str, cross_fit: int | None, *, ranks: bool = False) -> Native:
    """MCC of rows; with ``cross_fit``, pairs and signs are chosen on other rows than those that are scored."""
    codes = data.codes.dense()
    matrix = np.abs(_association(data, codes, data.factors.columns, ranks=ranks))
    if cross_fit is None:
        return _of_matrix(matrix, average)
    total, weight = np.zeros(data.factors.m), np.zeros(data.factors.m)
    for train, test in folds(data.n, cross_fit):
        chosen, scored = (data.factors.take(rows).columns for rows in (train, test))
        signed = _association(data, codes[train], chosen, ranks=ranks)
        for index, code in enumerate(matched(np.abs(signed)).tolist()):
            size = scored[index].n_annotated
            weight[index] += size
            if code >= 0:
                column = codes[:, data.columns_of([code])]
                if column.shape[1] > 1:  # of a group, the weighted sum that goes best with the factor on training rows
                    weights = best_direction(column[train], chosen[index], ranks=ranks)
                    column = ((mid_ranks(column) if ranks else column) @ weights)[:, None]
                pair = column[train], column[test], chosen[index], scored[index]
                total[index] += size * carried_over(*pair, float(signed[code, index]), ranks=ranks)
    return _of_matrix(matrix, average, total / np.maximum(weight, 1.0))


def _association(data: Data, codes: Floats, factors: tuple[Factor, ...], *, ranks: bool) -> Floats:
    """Return how each code goes with each factor: a group of columns by its multiple correlation."""
    matrix = association(codes, factors, ranks=ranks)

    def of_group(columns: list[int]) -> list[float]:
        return [multiple_correlation(codes[:, columns], factor, ranks=ranks) for factor in factors]

    return data.by_code(matrix, of_group)


# All together ---------------------------------------------------------------------------------------------------------


@_CorrelationMetric(
    title="weak MCC",
    native="whole",
    properties=("explicitness",),
    source="Khemakhem et al. 2020",
    references=("khemakhem2020ice",),
    definition="mean canonical correlation of the codes and the factors",
    when={CrossProducts: products_suffice},
)
def mcc_weak(state: CrossProducts | Data, *, cross_fit: Several | None = None, **run: Unpack[RunOptions]) -> Native:
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
    >>> round(demele.metrics.mcc_weak(mixed, factors).value, 6), demele.metrics.mcc(mixed, factors).value < 0.95
    (1.0, True)
    """
    if isinstance(state, CrossProducts):
        n, d, m = state.n, len(state.codes), len(state.classes)
    else:
        rows = np.flatnonzero(np.all([factor.annotated() for factor in state.factors.columns], axis=0))
        n, d, m = len(rows), state.codes.d, state.factors.m
    needed = 2 * (d + m)
    if n < needed:
        problem = f"canonical correlations of {d} codes and {m} factors need at least {needed} rows"
        raise NotEnoughData("factors", f"{problem} on which all factors are annotated, got {n}")
    if not isinstance(state, CrossProducts):
        found = _canonical_correlations(state, rows, cross_fit)
    elif any(state.classes):
        found = state.first_canonical()
    else:
        found = _filled(state.canonical(), m)
    return Native(value=np.asarray(found.mean()), details={"canonical_correlations": found.tolist()})


def _canonical_correlations(data: Data, rows: Rows, cross_fit: int | None) -> Floats:
    """Return those of the codes with the factors, or with each factor where one is categorical, on some rows."""
    codes, factors = data.standardised()[rows], data.factors.columns
    # all factors together, or each by itself
    blocks = [factors] if all(factor.kind == "continuous" for factor in factors) else [(one,) for one in factors]
    if cross_fit is None:  # the correlations of classes follow from their means: indicators need not be made
        basis, found = Basis.of(codes), []
        for own in blocks:
            if own[0].categorical:
                found.append(np.array([largest_with_classes(basis, own[0].values[rows], len(own[0].levels))]))
            else:
                found.append(_filled(canonical(basis, Basis.of(_numbers(own, rows)))[0], len(own)))
        return np.concatenate(found)
    columns = [_numbers(own, rows) for own in blocks]
    total = np.zeros(data.factors.m)
    for train, test in folds(len(rows), cross_fit):
        parts = []
        for own, block in zip(blocks, columns, strict=True):
            _, of_codes, of_block = canonical(Basis.of(codes[train]), Basis.of(block[train]))
            parts.append(_filled(correlation_of_pairs(codes[test] @ of_codes, block[test] @ of_block), len(own)))
        total += len(test) * np.concatenate(parts)
    return total / len(rows)


def _numbers(factors: Sequence[Factor], rows: Rows) -> Floats:
    """Return what a linear map reads of factors: numbers, or indicators of all classes but one."""
    columns = np.column_stack([factor.coordinates[rows] for factor in factors])
    indicators = columns == np.arange(1, len(factors[0].levels)) if factors[0].categorical else columns
    return indicators.astype(np.float64)


def _filled(found: Floats, n: int) -> Floats:
    """Return so many canonical correlations: missing ones are 0."""
    return np.concatenate([found[:n], np.zeros(max(n - len(found), 0))])


# Share of each factor that an affine map of all codes explains --------------------------------------------------------


@_CorrelationMetric(
    title="affine R2",
    properties=("explicitness",),
    range=(0.0, 1.0),
    source="Zimmermann et al. 2021",
    references=("zimmermann2021contrastive",),
    definition="share of each factor's variance that an affine map of all codes explains",
    undefined="they have no more rows than the codes have directions",
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
    alone = [_explained_by_rows(state, state.columns_of([code]))[0] for code in range(state.n_codes)]
    what = "share of a factor that an affine map of one group explains"
    return replace(found, matrix=np.array(alone), matrix_of=what)


def _explained_by_rows(data: Data, columns: list[int] | None = None) -> tuple[Floats, Floats]:
    """Return R2_i of least squares of each factor on all codes, or on some columns, and the adjusted one."""
    codes = data.standardised()
    codes = codes if columns is None else codes[:, columns]
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


# Separated attribute predictability (Kumar et al. 2018, section 3) ----------------------------------------------------

#: Codes in raw units of at most this variance predict no continuous factor: the threshold of public code.
DEAD_VARIANCE = 1e-12


def sap_of(matrix: Floats, living: Floats, guess: Floats, reg_dim: Rows | None) -> Native:
    """Return SAP from how well each code alone predicts each factor, (n_codes, n_factors).

    ``living`` are the rows of the matrix of codes that are not constant. ``guess`` is how well each factor is predicted
    without a code: the partner of a single code. A guess never wins: where no code beats it, the gap is 0, since
    balanced classifiers of codes that say nothing are less often right than the majority's class. With ``reg_dim``, the
    code named for a factor comes first, whatever its rank.
    """
    if reg_dim is not None:
        second = best_other(matrix, reg_dim)[0] if len(matrix) > 1 else guess
        gaps = matrix[reg_dim, np.arange(matrix.shape[1])] - second
    elif len(living) == len(matrix) > 1:
        first, second = top_two(matrix, axis=0)
        gaps = first - second
    else:
        # twice the guess: it stands for both partners where no code varies
        first, second = top_two(np.vstack([living, guess, guess]), axis=0)
        best = living.max(axis=0) if len(living) else guess
        gaps = np.where(best < guess, 0.0, first - second)
    matrix_of = "squared correlation, or accuracy for categorical factors"
    return Native(value=mean_of_defined(gaps), per_factor=gaps, matrix=matrix, matrix_of=matrix_of)


@_CorrelationMetric(
    title="SAP",
    properties=("compactness",),
    range=(0.0, 1.0),
    source="Kumar et al. 2018, section 3",
    references=("kumar2018variational",),
    definition="gap between the two codes that alone predict a factor best: squared correlation, or accuracy",
    aliases=("SAP_score", "SeparateAttributePredictability"),
    screened=True,
    of_each_code=True,
    corrected_by=("transition",),
    in_all=True,
    when={Moments: moments_suffice},
)
def sap(
    state: Moments | Data,
    streams: Streams,
    *,
    units: Literal["standard", "raw"] = "standard",
    penalty: Positive = 1.0,
    class_weight: Literal["balanced"] | None = None,
    score_on: Literal["unseen", "training"] = "unseen",
    n_train: Count | None = None,
    n_test: Count | None = None,
    reg_dim: RegDim = None,
    **run: Unpack[RunOptions],
) -> Native:
    """Separated attribute predictability: the gap between the two single codes that predict a factor best.

    Squared correlation for a continuous factor; accuracy of a linear support vector classifier for a categorical one;
    for a cyclic one, the share of the variance of its cosine and sine together that a line explains.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are standardised. A constant code predicts nothing: squared correlation 0, and the accuracy of
        the most frequent class as the guess. A single code is compared with one, and the guess never wins: where no
        code is better, the gap is 0.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    units : {"standard", "raw"}
        Codes in standard deviations, or as they come, as in public code: a classifier of scikit-learn then sees the
        unit and the origin of each code. Both move the score (a note says so), and for continuous factors codes with a
        variance of at most 1e-12 score 0.
    penalty : float, default 1.0
        C of the support vector classifier (``l2_reg`` of Latte; 0.01 in disentanglement_lib).
    class_weight : {"balanced", None}
    score_on : {"unseen", "training"}
        Rows on which the accuracy is measured: half of the rows that the classifier has not seen, or those it has.
    n_train, n_test : int, optional
        Rows of the split; halves by default.
    reg_dim : sequence of int or str, optional
        The code that is meant to hold each factor: it is then the minuend whatever its rank, and the score may be
        negative, as in Latte.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1] (at least -1 with ``reg_dim``), best 1; ``per_factor``; ``matrix``: score of each code for each
        factor (n_codes, n_factors);
        ``details["majority"]``: of each categorical factor, the accuracy of its most frequent class as the guess.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Kumar et al. 2018, section 3. An accuracy has a floor of the majority class's share, so the gap of a perfect code
    for a factor of K equal classes is below 1 - 1/K.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> demele.metrics.sap(factors, factors).value > 0.99
    True
    """
    named = None if reg_dim is None else np.asarray(reg_dim, dtype=np.intp)
    if not isinstance(state, Data):
        matrix = state.squared_correlations()
        if units == "raw":
            matrix[state.code_variances() * (state.n / max(state.n - 1, 1)) <= DEAD_VARIANCE] = 0.0
        return sap_of(matrix, matrix, np.zeros(matrix.shape[1]), named)
    from demele.estimation.univariate import (
        linear_classifier_accuracy_matrix,
        majority_accuracies,
        raw_classifier_accuracy_matrix,
        squared_correlations,
        true_accuracies,
    )

    data, columns = state, state.factors.columns
    constant = np.asarray(data.summed_by_code(np.where(data.codes.constant, 0.0, 1.0)) == 0)  # all columns of a group
    categorical = [index for index, factor in enumerate(columns) if factor.categorical]
    # factors that are annotated on all rows share one split, so that each code is sorted once for all of them
    shared = [index for index in categorical if columns[index].complete]
    groups = [shared, *([index] for index in categorical if index not in shared)]
    how: dict[str, Any] = {"C": penalty, "class_weight": class_weight}

    def accuracies_of(codes: Floats, group: list[int], raw: bool) -> tuple[Floats, Floats]:
        """Accuracies of single-code classifiers of factors that are annotated on the same rows, and of the guess."""
        factors = [columns[index] for index in group]
        rows = np.flatnonzero(factors[0].annotated())
        train = test = rows
        if score_on == "unseen":
            name = f"factor {factors[0].name!r}"
            train, test = (rows[part] for part in split(len(rows), n_train, n_test, streams("rows", *group), name))
        codes_train = codes[train]
        codes_test = codes_train if test is train else codes[test]
        labels = [[np.asarray(factor.values[part], dtype=np.intp) for factor in factors] for part in (train, test)]
        every = codes_train, labels[0], codes_test, labels[1]
        if raw:
            accuracies = raw_classifier_accuracy_matrix(*every, **how)
        else:
            levels = [len(factor.levels) for factor in factors]
            accuracies = linear_classifier_accuracy_matrix(*every, n_classes=levels, **how)
        accuracies = data.by_code(
            accuracies, lambda own: raw_classifier_accuracy_matrix(*every, groups=[own], **how)[0]
        )
        guesses = majority_accuracies(*labels)
        for place, factor in enumerate(factors):
            transition = None if raw else data.transition_of(factor)
            if transition is not None:
                ends = codes_train, labels[0][place], codes_test, labels[1][place]
                accuracies[:, place], guesses[place] = true_accuracies(*ends, transition, **how)
        return accuracies, guesses

    def in_units(raw: bool) -> Native:
        codes = data.codes.dense() if raw else data.standardised()
        matrix, guesses = np.zeros((data.n_codes, data.factors.m)), np.zeros(data.factors.m)
        for index, factor in enumerate(columns):
            if not factor.categorical:
                rows, values = annotated_rows(factor, codes)
                numbers = np.asarray(values, dtype=np.float64)
                told = squared_correlations(rows, numbers)
                if raw:
                    told[rows.var(axis=0, ddof=1) <= DEAD_VARIANCE] = 0.0

                def of_group(own: list[int], rows: Floats = rows, numbers: Floats = numbers) -> float:
                    return share_beyond_chance(Basis.of(rows[:, own]), numbers)

                matrix[:, index] = data.by_code(told, of_group)
        for group in groups:
            if group:
                matrix[:, group], guesses[group] = accuracies_of(codes, group, raw)
        if not raw:  # raw codes are left to their classifiers, intercepts of constant codes included, as in public code
            matrix[constant] = guesses
        # without balanced weights a code that says nothing is the guess, to rounding: public code's values stay
        living = matrix if raw and class_weight is None else matrix[~constant]
        found = sap_of(matrix, living, guesses, named)
        if not categorical:
            return found
        majority = {columns[index].name: float(guesses[index]) for index in categorical}
        return replace(found, details={"majority": majority}, notes=fewer_than_asked(data.n, n_train, n_test))

    native = in_units(units == "raw")
    if units == "standard":
        return native
    return replace(native, notes=native.notes + units_notes(float(native.value), float(in_units(False).value)))
