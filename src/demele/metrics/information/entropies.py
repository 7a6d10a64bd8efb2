"""Shares of entropies: modularity, DCIMIG, JEMMIG, minimality and sufficiency."""

from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from demele.core.errors import NotEnoughData
from demele.estimation.counts import bin_masses, column_bins, soft_joint_counts
from demele.estimation.information import (
    TIE,
    Correction,
    InformationTable,
    beyond_chance,
    entropy,
    information_table,
    mean_of_defined,
    ratio,
    top_two,
)
from demele.metrics.data import Data
from demele.metrics.importances import checked_table
from demele.metrics.information import InformationMetric
from demele.metrics.information.information_shares import barely_beyond_chance
from demele.metrics.metric import MATRIX, Guards, Native
from demele.metrics.options import Bins, CountOptions, RunOptions, TableOptions, as_binning

#: A code whose largest information is below this (nats) informs on nothing and scores 0, as in Latte.
DEAD_CODE = 1e-12


@InformationMetric(
    title="Modularity",
    properties=("modularity",),
    native="per code",
    source="Ridgeway & Mozer 2018, section 3",
    references=("ridgeway2018learning",),
    definition="1 - sum of squared informations on other factors / [(M - 1) x squared largest one]",
    needs_factors=2,
    aliases=("modularity_score",),
    undefined="they inform on no factor beyond chance",
    aligns_with=("gate", True),
)
def modularity(table: InformationTable, *, gate: bool = False, **options: Unpack[TableOptions]) -> Native:
    r"""Modularity score: how little information each code has on factors other than its best one.

    .. math:: 1 - \sum_{i \ne i*} I(v_i; z_j)^2 / [(M - 1) I(v_{i*}; z_j)^2]

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    gate : bool, default False
        Not the published score: the mean over the codes that are *alive*, which inform on some factor beyond chance
        (the rule of :func:`infom`), of informations adjusted for chance unless Miller-Madow's correction is asked for.
        NaN, with a note, where no code is alive. ``details["share_alive"]`` is the share of alive codes: with few of
        them, the mean is not informative.
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
    Ridgeway & Mozer 2018, section 3. A code whose largest information is below 1e-12 scores 0. The score of noise is
    far from 0 (about 0.4 for 8 factors, 0.9 with adjusted informations): ask for ``n_permutations``, or for the
    ``gate``.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 3))
    >>> round(demele.metrics.modularity(factors, factors).value, 3)
    1.0
    """
    information = table.information
    largest = information.max(axis=-1)
    alive = largest > DEAD_CODE
    relative = information / np.where(alive, largest, 1.0)[..., None]
    others = np.maximum((relative**2).sum(axis=-1) - 1.0, 0.0)
    per_code = np.where(alive, 1.0 - others / (information.shape[-1] - 1), 0.0)
    if not gate:
        return Native(value=per_code.mean(axis=-1), per_code=per_code, matrix=information, matrix_of=MATRIX)
    informing = alive & beyond_chance(table).any(axis=-1)
    share = informing.mean(axis=-1)
    return Native.mean(
        table,
        per_code=np.where(informing, per_code, np.nan),
        details={"share_alive": float(share)} if share.ndim == 0 else {},
        notes=barely_beyond_chance(table, informing),
    )


def modularity_from_information(information: ArrayLike) -> float:
    """Modularity score of a given matrix (Ridgeway & Mozer 2018, section 3).

    Parameters
    ----------
    information : array-like of shape (n_codes, n_factors), >= 0
        Mutual informations; at least two factors.

    Returns
    -------
    float
        In [0, 1], best 1. A code without information scores 0.

    Raises
    ------
    NotEnoughData
        For a single factor.

    Examples
    --------
    >>> from demele.metrics import modularity_from_information
    >>> modularity_from_information([[1.0, 0.0], [0.5, 1.0]])
    0.875
    """
    matrix = checked_table(information, "information")
    if matrix.shape[1] < 2:
        raise NotEnoughData("information", f"expected a matrix with at least 2 factors (columns), got {matrix.shape}")
    return float(modularity.formula(InformationTable(matrix, np.ones(matrix.shape[1]))).value)


@InformationMetric(
    title="DCIMIG",
    properties=("modularity", "compactness", "explicitness"),
    source="Sepliarskaia et al. 2019 (3CharM)",
    references=("sepliarskaia2019evaluating",),
    definition="largest gap of a code for its best factor, summed over factors, over the sum of their entropies",
    corrected_by=("transition", "bounds"),
)
def dcimig(table: InformationTable, **options: Unpack[TableOptions]) -> Native:
    """DCIMIG (3CharM): the entropy of the factors that codes hold exclusively: holistic.

    For each factor the largest gap I(v_*, z_j) - I(v_o, z_j) among the codes whose best factor it is, summed, over
    the sum of the factors' entropies.

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
        value in [0, 1], best 1; ``per_factor``: each factor's own ratio (the value is their mean weighted by entropy);
        ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Sepliarskaia et al. 2019.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((2000, 2))
    >>> demele.metrics.dcimig(factors[:, :1], factors).value < 0.55      # only one of two factors is held
    True
    """
    information = table.information
    first, second = top_two(information, axis=-1)
    best_factor = information.argmax(axis=-1)
    is_best = best_factor[..., None] == np.arange(information.shape[-1])
    held = np.where(is_best, (first - second)[..., None], 0.0).max(axis=-2)
    value = held.sum(axis=-1) / table.factor_entropy.sum(axis=-1)
    return Native(value=value, per_factor=ratio(held, table.factor_entropy), matrix=information, matrix_of=MATRIX)


@InformationMetric(
    title="JEMMIG",
    properties=("modularity", "compactness", "explicitness"),
    source="Do & Tran 2020, section 4; recalibrated as in Carbonneau et al. 2022",
    references=("do2020theory", "carbonneau2022measuring"),
    definition="1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + log B_z]",
    corrected_by=("transition",),
)
def jemmig(table: InformationTable, **options: Unpack[CountOptions]) -> Native:
    r"""Joint entropy minus mutual information gap, recalibrated: holistic.

    .. math:: 1 - [H(v_i, z_*) - I(v_i; z_*) + I(v_i; z_o)] / [H(v_i) + \log B_z]

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, correction
        As in :func:`mig`. There is no neighbour estimate: a continuous code has no joint entropy with a factor.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``; ``details["raw"]`` and ``["raw_per_factor"]`` keep the bracket in nats
        (best 0); ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Do & Tran 2020; recalibrated as in Carbonneau et al. 2022.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).random((5000, 2))
    >>> demele.metrics.jemmig(factors, factors).value > 0.98
    True
    """
    if table.joint_entropy is None or table.code_bins is None:
        raise NotEnoughData("codes", "JEMMIG needs joint entropies, which these codes have none of")
    information = table.information
    first, second = top_two(information, axis=-2)
    brackets = table.joint_entropy - (first - second)[..., None, :]
    largest = table.factor_entropy[..., None, :] + np.log(table.code_bins)[:, None]
    scores = np.where(largest > 1e-12, 1.0 - brackets / np.maximum(largest, 1e-12), np.nan)
    # of codes with equally large information, z_* is the one that scores best, whatever their order
    candidates = np.where(information >= first[..., None, :] - TIE, scores, -np.inf)
    best = candidates.argmax(axis=-2)[..., None, :]
    raw = np.take_along_axis(brackets, best, axis=-2)[..., 0, :]
    return Native.mean(
        table,
        per_factor=np.take_along_axis(scores, best, axis=-2)[..., 0, :],
        details={"raw": mean_of_defined(raw), "raw_per_factor": raw},
    )


@InformationMetric(
    title="Minimality",
    properties=("modularity",),
    native="per code",
    source="Almudévar & Ortega 2024",
    references=("almudevar2024rethinking",),
    definition="largest information of a code on a factor, relative to the code's entropy",
    when={InformationTable: lambda _, options: bool(options["relative_to"] == "entropy")},
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50, code_entropy=True),
    undefined="they are constant",
    in_all=False,
)
def minimality(
    state: InformationTable | Data,
    *,
    bins: Bins = 10,
    correction: Correction = "none",
    relative_to: Literal["entropy", "channel"] = "entropy",
    **run: Unpack[RunOptions],
) -> Native:
    r"""Minimality: the share of each code's information that is on one factor: modularity, without nuisance.

    .. math:: \mathrm{minimality}_j = \max_i I(v_i; z_j) / H(z_j)

    and the mean over the codes that vary.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        They may depend on each other: a code that equals one of two equal factors is minimal.
    bins, correction
        As in :func:`mig`. There is no neighbour estimate: a continuous code has no entropy.
    relative_to : {"entropy", "channel"}
        What a code holds: the entropy of its bins; or what it tells of its input, I(x; z_j), each row spread over the
        bins by its q(z|x), of ``demele.Codes(means, std=deviations)``; it hardly depends on their number once they are
        finer than the deviations.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, 0 for codes that tell nothing, up to the bias of few rows; ``per_code``, NaN for
        constant codes; ``matrix``: mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Almudévar & Ortega 2024, with :func:`sufficiency`; their code has 15 equal-width bins, and gives NaN where one code
    is constant. **A continuous code has the entropy of its bins**, about log B, which says nothing of it: a uniform
    code of a factor with four values scores 0.64 with 5 bins and 0.26 with 200. Where four times the bins would move
    the score by more than 0.1 it is marked fragile; codes of as many values as bins are as they are. Copies of codes
    change nothing, nor does a factor that no code holds. Codes of noise score what few rows leave of information: by
    ten bins 0.24 on 100 rows, 0.08 on 300, 0.03 on 1 000, for any number of codes.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.metrics.minimality(with_sum, demele.Factors(factors, kinds="categorical")).value, 6)
    0.748962
    """
    if isinstance(state, Data):  # codes are spread over bins by q(z|x); I(x; z_j) is that of the rows of each factor
        if state.codes_std is None:
            raise NotEnoughData("std", "what codes hold of their input needs them; pass `Codes(std=)`")
        std, cut = state.codes_std, column_bins(state.codes, state.factors, as_binning(bins))
        table = information_table(soft_joint_counts(state.codes, std, state.factors, *cut), correction)
        held = np.empty_like(table.information)
        for code, own_bins in enumerate(cut[0]):
            mass = bin_masses(np.asarray(state.codes.values[:, code], dtype=np.float64), std[:, code], own_bins)
            of_rows_alone = entropy(mass)
            for index, factor in enumerate(state.factors.columns):
                rows = slice(None) if factor.complete else factor.annotated()
                held[code, index] = entropy(mass[rows].sum(axis=0)) - of_rows_alone[rows].mean()
    elif state.joint_entropy is None:
        raise NotEnoughData("codes", "minimality needs the entropies of codes, which these have not all of")
    else:  # the entropy of a code over the rows on which the factor is annotated
        table, held = state, state.joint_entropy - state.factor_entropy[..., None, :] + state.information
    shares = ratio(table.information, held)
    known = np.where(np.isnan(shares), -np.inf, shares).max(axis=-1)
    per_code = np.where(np.isfinite(known), np.clip(known, 0.0, 1.0), np.nan)  # rounding leaves the ends
    return Native.mean(table, per_code=per_code)


@InformationMetric(
    title="Sufficiency",
    properties=("explicitness",),
    source="Almudévar & Ortega 2024",
    references=("almudevar2024rethinking",),
    definition="largest information of a code on a factor, relative to the factor's entropy",
    in_all=False,
)
def sufficiency(table: InformationTable, **options: Unpack[TableOptions]) -> Native:
    r"""Sufficiency: the information of the best code on each factor: explicitness of single codes.

    .. math:: \mathrm{sufficiency}_i = \max_j I(v_i; z_j) / H(v_i)

    and the mean over factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        They may depend on each other.
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, 0 for codes that tell nothing, up to the bias of few rows; ``per_factor``; ``matrix``:
        mutual information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Almudévar & Ortega 2024, with :func:`minimality`: codes are disentangled, of dependent factors too, where each is
    minimal and sufficient for its factor. It is MIG without the subtraction of the second code: copies and further
    codes that mix the factors change nothing, and a factor that two codes hold by halves counts as half known. Codes of
    noise score above 0 on few rows: with ten bins about 0.2 on 100 rows, 0.07 on 300, 0.02 on 1,000.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> halved = np.column_stack([factors[:, 0] // 2, factors[:, 1]])
    >>> round(demele.metrics.sufficiency(halved, demele.Factors(factors, kinds="categorical")).value, 6)
    0.75
    """
    per_factor = ratio(table.information.max(axis=-2), table.factor_entropy)
    return Native.mean(table, per_factor=per_factor.clip(max=1.0))  # rounding leaves the end
