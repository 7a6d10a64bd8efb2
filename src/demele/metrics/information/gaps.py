"""Gaps of information: to the next code (MIG and its kin), and to all other codes together (unique information)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import Count
from demele.core.result import Note
from demele.core.table_columns import real_numbers
from demele.estimation.cells import Partition
from demele.estimation.counts import BinnedRows, PackedRows
from demele.estimation.information import (
    TIE,
    Correction,
    InformationTable,
    best_other,
    beyond_chance,
    entropy,
    information_table,
    mutual_information,
    ratio,
    top_two,
)
from demele.metrics.code_groups import joint_rows
from demele.metrics.data import Data
from demele.metrics.guards import moved_notes
from demele.metrics.importances import checked_table
from demele.metrics.information import InformationMetric
from demele.metrics.metric import MATRIX, Guards, Metric, Native, Streams
from demele.metrics.options import BinOptions, Bins, RunOptions, TableOptions
from demele.metrics.source import RegDim, crossed


@InformationMetric(
    title="MIG",
    properties=("compactness",),
    source="Chen et al. 2018, eq. 6",
    references=("chen2018isolating",),
    definition="[I(v_i; z_*) - I(v_i; z_o)] / H(v_i): the gap between the two codes that inform most on a factor",
    aliases=("discrete_mig", "MutualInformationGap"),
    corrected_by=("transition", "bounds"),
)
def mig(table: InformationTable, *, reg_dim: RegDim = None, **options: Unpack[TableOptions]) -> Native:
    r"""Mutual information gap of each factor, and its mean: compactness.

    .. math:: \mathrm{MIG}_i = [I(v_i; z_*) - I(v_i; z_o)] / H(v_i)

    for the two codes that inform most on the factor: 1 when one code holds all, 0 when two hold as much.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit; invariant to an increasing affine map of a column.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous or categorical columns; kinds are detected and can be given with ``kinds``.
    bins : int, str, Binning or edges, default 10
        Cuts continuous columns; 10 is ``EqualWidth(10)``. Categorical values are their own bins.
    estimator : {"histogram", "knn", "robust"}
        ``"knn"``: scikit-learn's nearest-neighbour estimates, as in Latte. There the entropy of a continuous factor
        is its information with itself, which is not an entropy: it grows with the number of rows, so the score of
        one representation falls with it. ``"robust"``: exact neighbours on ranks, in units between 0 and 1.
    correction : {"none", "miller-madow", "adjusted"}
        Of the bias of histogram information, about (B_z - 1)(B_v - 1) / 2n upwards.
    n_neighbors : int, default 3
        For the neighbour estimators.
    reg_dim : sequence of int or str, or "in order", optional
        The code that is meant to hold each factor: it is then the minuend whatever its rank, and the score may be
        negative. ``"in order"``: code i is meant for factor i.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1] (at least -1 with ``reg_dim``), best 1, no unit; ``per_factor``: one gap per factor;
        ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Warns
    -----
    UndefinedFactorWarning, FragileScoreWarning

    Notes
    -----
    Chen et al. 2018, eq. 6. Differs from print: disentanglement_lib uses 20 bins; the code of Carbonneau et al.
    divides by the entropy of the code. Cost: O(n d M) time, O(d M B^2) memory beyond the input.

    Examples
    --------
    >>> import demele
    >>> codes = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 25
    >>> score = demele.metrics.mig(codes, ["a", "a", "b", "b"] * 25, bins=2)
    >>> score.value, score.matrix.shape
    (1.0, (2, 1))
    """
    information = table.information
    if reg_dim is None:
        first, second = top_two(information, axis=-2)
    else:
        codes = np.asarray(reg_dim)
        first = information[..., codes, np.arange(information.shape[-1])]
        second, _ = best_other(information, codes)
    return Native.mean(table, per_factor=ratio(first - second, table.factor_entropy))


def mig_from_information(information: ArrayLike, entropy: ArrayLike) -> float:
    """Mutual information gap of a given matrix (Chen et al. 2018, eq. 6).

    Parameters
    ----------
    information : array-like of shape (n_codes, n_factors), nats
    entropy : array-like of shape (n_factors,), nats
        Entropies of the factors.

    Returns
    -------
    float
        At most 1, which is best.

    Examples
    --------
    >>> from demele.metrics import mig_from_information
    >>> mig_from_information([[0.6, 0.0], [0.2, 0.5]], [1.0, 0.5])
    0.7
    """
    table = InformationTable(checked_table(information, "information"), real_numbers(entropy, "entropy"))
    if table.factor_entropy.shape != table.information.shape[1:]:
        raise InputError("entropy", f"expected one for each factor, got shape {table.factor_entropy.shape}")
    return float(mig.formula(table).value)


# --8<-- [start:mig_sup]
@InformationMetric(
    title="MIG-sup",
    properties=("modularity",),
    native="per code",
    source="Li et al. 2020, eq. 3",
    references=("li2020progressive",),
    definition="gap between the two factors on which a code informs most, each relative to its entropy",
    corrected_by=("transition", "bounds"),
)
def mig_sup(table: InformationTable, **options: Unpack[TableOptions]) -> Native:
    r"""MIG-sup: the gap of mutual information seen from each code, and its mean: modularity.

    .. math:: \mathrm{MIG\text{-}sup}_j = I(z_j; v_*) / H(v_*) - I(z_j; v_o) / H(v_o)

    ranked on the normalised values. With a single factor the second term is 0.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_code``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Li et al. 2020, eq. 3. A code that informs on nothing scores 0.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> one_code_for_both = factors.sum(axis=1, keepdims=True)
    >>> demele.metrics.mig_sup(one_code_for_both, factors).value < 0.1
    True
    """
    first, second = top_two(ratio(table.information, table.factor_entropy[..., None, :]), axis=-1)
    return Native.mean(table, per_code=first - second)


# --8<-- [end:mig_sup]


@InformationMetric(
    title="DMIG",
    properties=("compactness",),
    range=(float("-inf"), float("inf")),
    source="Watcharasupat & Lerch 2021, eq. 2",
    references=("watcharasupat2021evaluation",),
    definition="[I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l), v_l being the factor of the best other code",
    aliases=("DependencyAwareMutualInformationGap",),
    pairs=True,
    undefined="another factor determines them, so that no entropy is left to divide by",
)
def dmig(table: InformationTable, *, reg_dim: RegDim = "in order", **options: Unpack[TableOptions]) -> Native:
    r"""Dependency-aware mutual information gap, for factors that depend on each other: compactness.

    .. math:: \mathrm{DMIG}_i = [I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l)

    for the factor's code z_j, the best other code z_k, and the factor v_l that z_k regularises; H(v_i) if none.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, default "in order"
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
    >>> dmig = demele.metrics.dmig
    >>> dmig(swapped, factors).value < -0.9 < 0.9 < dmig(swapped, factors, reg_dim=[1, 0]).value
    True
    """
    if table.factor_information is None:
        raise ValueError("DMIG needs informations between factors")
    information, codes = table.information, np.asarray(reg_dim)
    d, m = information.shape[-2:]
    first = information[..., codes, np.arange(m)]
    second, rivals = best_other(information, codes)
    # what each code's factor tells of every factor, in that factor's unit; 0 for a code that regularises none
    regularises = codes[None, :] == np.arange(d)[:, None]  # (d, m)
    told = np.swapaxes(table.factor_information, -1, -2)[..., None, :, :]  # (..., 1, factor that tells, factor)
    shared = np.where(regularises[:, :, None], told, np.inf).min(axis=-2)
    shared = np.where(np.isposinf(shared), 0.0, shared)
    # of several z_k or v_l that are equally good, the one with the largest H(v_i | v_l), whatever their order
    least = np.where(rivals, shared, np.inf).min(axis=-2)
    left = table.factor_entropy - np.where(np.isposinf(least), 0.0, least)
    return Native.mean(table, per_factor=ratio(first - second, left))


@InformationMetric(
    title="XMIG",
    properties=("compactness",),
    range=(-1.0, 1.0),
    source="Watcharasupat & Lerch 2021",
    references=("watcharasupat2021evaluation",),
    definition="[I(v_i; z_j) - max over codes that regularise no factor of I(v_i; z_k)] / H(v_i)",
    needs_codes=2,
    aliases=("DependencyBlindMutualInformationGap",),
)
def xmig(table: InformationTable, *, reg_dim: RegDim = "in order", **options: Unpack[TableOptions]) -> Native:
    r"""Dependency-blind mutual information gap: against the codes that regularise no factor: compactness.

    .. math:: \mathrm{XMIG}_i = [I(v_i; z_j) - \max_{k \notin reg\_dim} I(v_i; z_k)] / H(v_i)

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        At least one more than there are regularised codes.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, default "in order"
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
    >>> demele.metrics.xmig(codes, codes[:, :2]).value > 0.9
    True
    """
    information, codes = table.information, np.asarray(reg_dim)
    outside = np.setdiff1d(np.arange(information.shape[-2]), codes)
    if not len(outside):
        problem = "xmig needs a code that regularises no factor, but every code is the code of some factor"
        raise NotEnoughData("reg_dim", problem)
    first = information[..., codes, np.arange(information.shape[-1])]
    second = information[..., outside, :].max(axis=-2)
    return Native.mean(table, per_factor=ratio(first - second, table.factor_entropy))


@InformationMetric(
    title="DLIG",
    properties=("modularity",),
    range=(float("-inf"), float("inf")),
    source="Watcharasupat 2021",
    references=("watcharasupat2021controllable",),
    definition="[I(v_i; z) - I(v_k; z)] / H(v_i | v_k) for the factor's code z, v_k being the best other factor",
    needs_factors=2,
    aliases=("DependencyAwareLatentInformationGap",),
    pairs=True,
    one_by_one=True,
    undefined="another factor determines them, so that no entropy is left to divide by",
)
def dlig(table: InformationTable, *, reg_dim: RegDim = "in order", **options: Unpack[TableOptions]) -> Native:
    r"""Dependency-aware latent information gap: modularity of the regularised codes.

    .. math:: \mathrm{DLIG}_i = [I(v_i; z) - I(v_k; z)] / H(v_i | v_k)

    for the factor's code z and the best other factor v_k.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    reg_dim : sequence of int or str, default "in order"
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
    >>> demele.metrics.dlig(factors, factors).value > 0.9
    True
    """
    if table.factor_information is None:
        raise ValueError("DLIG needs informations between factors")
    of_code = table.information[..., np.asarray(reg_dim), :].copy()  # (..., factor whose code it is, factor)
    own = np.arange(table.information.shape[-1])
    first = of_code[..., own, own]
    of_code[..., own, own] = -np.inf
    second = of_code.max(axis=-1)
    # of several v_k that are equally good, the one with the largest H(v_i | v_k), whatever their order
    between = np.where(of_code >= second[..., None] - TIE, table.factor_information, np.inf).min(axis=-1)
    return Native.mean(table, per_factor=ratio(first - second, table.factor_entropy - between))


# Robust MIG: each sample spread over the bins by its q(z|x) (Do and Tran 2020) ----------------------------------------


@InformationMetric(
    title="RMIG",
    properties=("compactness",),
    source="Do & Tran 2020, section 4",
    references=("do2020theory",),
    definition="MIG with each sample spread over the bins by its q(z|x), from the codes' standard deviations",
    soft=True,
)
def rmig(table: InformationTable, **options: Unpack[BinOptions]) -> Native:
    """Robust mutual information gap of stochastic codes: compactness.

    As :func:`mig`, but each sample spreads its weight over the bins of a code by the Gaussian mass of each bin. With
    standard deviations of 0 it equals MIG.

    Parameters
    ----------
    codes : Codes
        Means of q(z|x) with their standard deviations, ``demele.Codes(means, std=deviations)``, in the same unit.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins : int, str, Binning or edges, default 10
        Edges come from the means; mass beyond the outermost edges counts as in the outermost bins.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Do & Tran 2020, section 4. Cost: O(n d M B).

    Examples
    --------
    >>> import numpy as np, demele
    >>> codes = np.random.default_rng(0).random((2000, 2))
    >>> sharp = demele.metrics.rmig(demele.Codes(codes, std=0 * codes), codes)
    >>> blurred = demele.metrics.rmig(demele.Codes(codes, std=0 * codes + 0.1), codes)
    >>> sharp.value == demele.metrics.mig(codes, codes).value, blurred.value < sharp.value
    (True, True)
    """
    return mig.formula(table)


# Unique information ---------------------------------------------------------------------------------------------------

#: Rows for each combination of bins of the codes, from which informations are counted in such cells.
ROWS_PER_CELL = 5
LEARNING_RATE = 0.2


def of_cells(rows: BinnedRows, table: InformationTable, rest: list[Partition], correction: Correction) -> Native:
    """Count informations in cells of the bins of all codes but one."""
    single = [
        Partition.of([labels], [int(size)], rows.n) for labels, size in zip(rows.codes, rows.code_bins, strict=True)
    ]

    def told(cells: Partition, factor: int) -> float:
        known = rows.factors[factor] < rows.factor_bins[factor]
        table = crossed(cells.group[known], rows.factors[factor][known])
        found = table[table.any(axis=1)][:, table.any(axis=0)]
        return max(float(mutual_information(found, correction)), 0.0)

    return _unique(
        table,
        lambda factor: [told(one, factor) for one in single],
        lambda factor, code: told(rest[code], factor),
        "cells",
    )


def of_trees(data: Data, rows: BinnedRows, table: InformationTable, streams: Streams, n_trees: int) -> Native:
    """Bound informations from below by boosted trees on unseen rows; codes that tell nothing are not fitted alone.

    The bound is the entropy minus the log-loss.
    """
    from demele.estimation.tree_importance import boosted_log_loss

    codes, informs = data.codes.dense(), beyond_chance(table)

    def told(factor: int, chosen: list[int]) -> float:
        known = rows.factors[factor] < rows.factor_bins[factor]
        own = codes[known][:, data.columns_of(chosen)]
        if not own.shape[1]:
            return 0.0
        # the same rows to fit and to score for all sets of codes
        how: dict[str, Any] = {"rng": streams("trees", factor), "n_trees": n_trees, "learning_rate": LEARNING_RATE}
        loss, labels = boosted_log_loss(own, rows.factors[factor][known], **how)
        return max(float(entropy(np.bincount(labels).astype(np.float64))) - loss, 0.0)

    native = _unique(
        table,
        lambda factor: [told(factor, [code]) if known else 0.0 for code, known in enumerate(informs[:, factor])],
        lambda factor, code: told(factor, [j for j in range(data.n_codes) if j != code]),
        "boosting",
    )
    message = "boosted trees on unseen rows bound informations from below; a difference of two is an estimate, no bound"
    return replace(native, notes=(Note(code="estimate", message=message),))


def _unique(
    table: InformationTable,
    of_codes: Callable[[int], list[float]],
    of_others: Callable[[int, int], float],
    joint: str,
) -> Native:
    """Relate the largest excess on each factor to its entropy."""
    alone, found = np.zeros_like(table.information), []
    for factor in range(alone.shape[1]):
        alone[:, factor] = own = np.array(of_codes(factor))
        best, code = 0.0, int(own.argmax())
        for j in np.argsort(-own, kind="stable").tolist():
            if own[j] <= best:  # no excess is larger than the code's own information
                break
            excess = float(own[j]) - of_others(factor, j)
            if excess > best:
                best, code = excess, j
        found.append((best, code))
    shares = np.minimum(np.array([excess for excess, _ in found]) / table.factor_entropy, 1.0)
    return Native(
        value=np.asarray(shares.mean()),
        per_factor=shares,
        matrix=alone,
        matrix_of=MATRIX,
        details={"joint": joint, "code": [code if excess > 0 else None for excess, code in found]},
    )


@Metric(
    title="Unique information",
    family="information",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Tokui & Sato 2022 (UniBound)",
    references=("tokui2022disentanglement",),
    definition="information of a code on a factor beyond that of all others together, relative to the entropy",
    aliases=("UniBound",),
    guards=Guards(outliers="move it", bins=False, fewest_rows=100),
    slow=2,
    probe=("bins", (10, 3, 5, 20, 40)),
    in_groups=True,
    in_all=False,
)
def unique_information(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = 10,
    joint: Literal["auto", "cells", "adjusted", "boosting"] = "auto",
    n_trees: Count = 30,
    **run: Unpack[RunOptions],
) -> Native:
    r"""UniBound: information on each factor that one code has and all others together have not: compactness.

    .. math:: u_i = \max_j [I(v_i; z_j) - I(v_i; z_{-j})]_+ / H(v_i)

    The excess is the lower bound of a code's unique information. It sees copies and rotations that MIG, which compares
    single codes, does not.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
        Of codes too, where informations are counted.
    joint : {"auto", "cells", "adjusted", "boosting"}
        How informations of several codes are found: counted in the combinations of their bins, which is refused with
        fewer than 5 rows for each; the same, adjusted for chance as MIG's; or their lower bounds by boosted trees,
        entropy less log-loss on unseen rows. ``"auto"``: cells where there are rows enough, else trees. Compare scores
        of one way only: ``details["joint"]``.
    n_trees : int, default 30
        Stages of boosting.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, 0 where every code can be spared; ``per_factor``; ``matrix``: information of each code
        alone (n_codes, n_factors) in nats; ``details["code"]``: the code with the largest excess on each factor, by its
        place, or None.

    Raises
    ------
    InputError, InputTypeError
    NotEnoughData
        If informations are to be counted in more combinations than a fifth of the rows.

    Notes
    -----
    Tokui & Sato 2022 (UniBound). Any code that the others give back scores 0, so that perfect codes of all factors and
    their sum score 0: read it with a metric that sees perfect codes, such as :func:`mcc`. It says nothing of
    modularity: one code that holds two factors alone is unique for both. With boosted trees informations of all codes
    and of one are lower bounds, and their difference may be off either way. n_codes n_factors fits at most; codes that
    tell nothing by a G test, or less than an excess found already, are not fitted.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> coarse = np.column_stack([factors[:, 0] // 2, factors[:, 1]])
    >>> round(demele.metrics.unique_information(coarse, demele.Factors(factors, kinds="categorical")).value, 6)
    0.75
    """
    rows = data.binned(bins)
    if data.groups is not None:
        rows = joint_rows(rows, data.groups.columns)
    table = information_table(PackedRows(rows, factor_pairs=False).count())
    sizes, rest = rows.code_bins.tolist(), []
    for code in range(data.n_codes):  # rows that agree on the bins of all codes but one
        chosen = [j for j in range(data.n_codes) if j != code]
        rest.append(Partition.of([rows.codes[j] for j in chosen], [sizes[j] for j in chosen], rows.n))
    most = max(one.n for one in rest)
    crowded = most * ROWS_PER_CELL > data.n
    if joint in ("cells", "adjusted") and crowded:
        problem = f"the bins of all codes but one have {most} combinations in {data.n} rows: any code could be spared"
        raise NotEnoughData("bins", f"{problem}; use fewer bins, or `joint='boosting'`")
    if joint == "boosting" or crowded:
        return of_trees(data, rows, table, streams, n_trees)
    if joint == "adjusted":
        return of_cells(rows, table, rest, "adjusted")
    native = of_cells(rows, table, rest, "none")
    corrected = float(of_cells(rows, table, rest, "adjusted").value)
    reason = f"{data.n} rows are few for {most} combinations of bins; with the information adjusted for chance"
    return replace(native, notes=moved_notes("few-rows", reason, float(native.value), corrected))
