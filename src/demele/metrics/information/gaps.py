"""Gaps between the two largest informations: MIG, MIG-sup, and those that know which code is meant for a factor."""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from demele.core.errors import InputError, NotEnoughData
from demele.core.results import Score
from demele.core.table_columns import real_numbers
from demele.estimation.information import TIE, InformationTable, best_other, ratio, top_two
from demele.metrics.importances import checked_table
from demele.metrics.information import InformationMetric
from demele.metrics.metric import Native
from demele.metrics.options import Bins, RunOptions, TableOptions
from demele.metrics.reg_dim import RegDim
from demele.metrics.run import scored


@InformationMetric(
    title="MIG",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Chen et al. 2018, eq. 6",
    references=("chen2018isolating",),
    definition="[I(v_i; z_*) - I(v_i; z_o)] / H(v_i): the gap between the two codes that inform most on a factor",
    aliases=("MIG", "discrete_mig", "MutualInformationGap"),
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
    range=(0.0, 1.0),
    source="Li et al. 2020, eq. 3",
    references=("li2020progressive",),
    definition="gap between the two factors on which a code informs most, each relative to its entropy",
    aliases=("MIG-sup", "MIG_sup"),
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
    native="per factor",
    source="Watcharasupat & Lerch 2021, eq. 2",
    references=("watcharasupat2021evaluation",),
    definition="[I(v_i; z_j) - I(v_i; z_k)] / H(v_i | v_l), v_l being the factor of the best other code",
    aliases=("DMIG", "DependencyAwareMutualInformationGap"),
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
    native="per factor",
    range=(-1.0, 1.0),
    source="Watcharasupat & Lerch 2021",
    references=("watcharasupat2021evaluation",),
    definition="[I(v_i; z_j) - max over codes that regularise no factor of I(v_i; z_k)] / H(v_i)",
    needs_codes=2,
    aliases=("XMIG", "DependencyBlindMutualInformationGap"),
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
        raise NotEnoughData(
            "reg_dim", "xmig needs a code that regularises no factor, but every code is the code of some factor"
        )
    first = information[..., codes, np.arange(information.shape[-1])]
    second = information[..., outside, :].max(axis=-2)
    return Native.mean(table, per_factor=ratio(first - second, table.factor_entropy))


@InformationMetric(
    title="DLIG",
    properties=("modularity",),
    native="per factor",
    source="Watcharasupat 2021",
    references=("watcharasupat2021controllable",),
    definition="[I(v_i; z) - I(v_k; z)] / H(v_i | v_k) for the factor's code z, v_k being the best other factor",
    needs_factors=2,
    aliases=("DLIG", "DependencyAwareLatentInformationGap"),
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


def rmig(codes: object, factors: object, *, bins: Bins = 10, **run: Unpack[RunOptions]) -> Score:
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
    return scored(METRICS, codes, factors, {"bins": bins, **run})[0]


METRICS = (
    InformationMetric(
        "rmig",
        rmig,
        title="RMIG",
        properties=("compactness",),
        native="per factor",
        range=(0.0, 1.0),
        source="Do & Tran 2020, section 4",
        references=("do2020theory",),
        definition="MIG with each sample spread over the bins by its q(z|x), from the codes' standard deviations",
        aliases=("RMIG",),
        formula=mig.formula,
        states=("table",),
        soft=True,
    ),
)
