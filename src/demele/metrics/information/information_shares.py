"""InfoM and InfoC: the share of the information that is in one place (Hsu et al. 2023)."""

from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.errors import NotEnoughData
from demele.core.kinds import Fraction
from demele.core.results import Note
from demele.core.sentences import plural
from demele.estimation.information import InformationTable, beyond_chance, ratio
from demele.metrics.information import InformationMetric
from demele.metrics.metric import Native
from demele.metrics.options import TableOptions

Active = Literal["informative", "range"]
Normalise = Literal["entropy", "none"]
#: Level of the gate, and the one at which the codes that count are looked at again.
GATE, SURE = 0.05, 0.001


def active_codes(table: InformationTable, active: str, active_share: float) -> NDArray[np.bool_]:
    """Return which codes count, (..., n_codes): those that inform beyond chance, or that span a share of the widest.

    Raises
    ------
    NotEnoughData
        If ranges are asked for where only counts are kept.
    """
    if active == "range":
        if table.code_range is None:
            raise NotEnoughData("active", "`active='range'` reads the ranges of dense codes in memory")
        wide = table.code_range > active_share * table.code_range.max(initial=0.0)
        return np.broadcast_to(wide, table.information.shape[:-1])
    return np.asarray(beyond_chance(table, GATE).any(axis=-1))


def barely_beyond_chance(table: InformationTable, chosen: NDArray[np.bool_]) -> tuple[Note, ...]:
    """Say of one table where the chosen codes (n_codes,) pass the gate, and none of them a stricter one."""
    from scipy.special import chdtri

    if table.statistic is None or table.freedom is None or chosen.ndim > 1 or not chosen.any():
        return ()  # neighbours have a floor, and no level
    # Information is at most Pearson's statistic over n: its scaled limit is below three times that of a plain G test,
    # which takes no time and which most codes exceed.
    limit = 3.0 * chdtri(np.maximum(table.freedom, 1.0), SURE / table.statistic.size)
    far = (table.freedom > 0) & (table.statistic > limit)
    if (far.any(axis=-1) & chosen).any() or (beyond_chance(table, SURE).any(axis=-1) & chosen).any():
        return ()
    count = int(chosen.sum())
    message = (
        f"it depends on {plural(count, 'code that barely beats', 'codes that barely beat')} chance: at level "
        f"{GATE}, as codes of noise do in one call of {round(1 / GATE)}, but not at level {SURE}"
    )
    return (Note(code="barely-beyond-chance", message=message, severity="fragile"),)


def informed_factors(table: InformationTable, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return on which factors, (..., n_factors), the chosen codes (..., n_codes) together inform beyond chance."""
    return np.asarray((beyond_chance(table) & chosen[..., None]).any(axis=-2))


def _normalised(table: InformationTable, normalise: Normalise) -> Floats:
    """Return informations, (..., n_codes, n_factors), relative to the entropies of the factors, or as they are."""
    if normalise == "none":
        return table.information
    return ratio(table.information, table.factor_entropy[..., None, :])


def _even_to_one(largest: Floats, total: Floats, n: Floats | int) -> Floats:
    """Return the share of the largest of ``n`` parts, moved so that even parts give 0 and one part alone 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (ratio(largest, total) - 1.0 / np.asarray(n)) / (1.0 - 1.0 / np.asarray(n))
    return np.where(np.asarray(n) > 1, np.clip(moved, 0.0, 1.0), np.nan)  # rounding leaves the ends


@InformationMetric(
    title="InfoM",
    properties=("modularity",),
    native="per code",
    range=(0.0, 1.0),
    source="Hsu et al. 2023 (InfoMEC)",
    references=("hsu2023disentanglement",),
    definition="largest share of a code's normalised informations, moved so that an even spread is 0",
    needs_factors=2,
    aliases=("InfoM",),
    undefined="they are not active",
    in_all=False,
)
def infom(
    table: InformationTable,
    *,
    active: Active = "informative",
    active_share: Fraction = 0.05,
    normalise: Normalise = "entropy",
    **options: Unpack[TableOptions],
) -> Native:
    r"""InfoM: the share of each code's information that is on one factor: modularity.

    .. math:: \mathrm{InfoM}_j = \frac{\max_i n_{ij} / \sum_i n_{ij} - 1/M}{1 - 1/M},\ n_{ij} = I(v_i; z_j) / H(v_i)

    and the mean over the active codes. 0 is an even spread over the M factors, which is not what noise scores.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active : {"informative", "range"}
        Which codes count: those that tell anything of any factor, by G tests at level 0.05 over the number of codes
        and factors, whose mean is that of chance on few rows as well (nearest neighbours: an information above
        3 / sqrt(n) nats; Modularity with ``gate=True`` has the same rule); or, as published, those
        whose range is over ``active_share`` of the largest, which one code in a larger unit decides.
    active_share : float in (0, 1], default 0.05
        Published code has 1/20, 1/8 and 1/10.
    normalise : {"entropy", "none"}
        Informations relative to the entropy of the factor, or as they are: the mutual information ratio of
        Whittington et al. 2023.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, NaN where no code is active; ``per_code``, NaN for the others; ``matrix``: mutual
        information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Hsu et al. 2023 (InfoMEC). A ratio does not see how much a code knows: one with 0.01 nats on one factor scores 1;
    read it together with :func:`infoe`. For the same reason codes of noise score far above 0 for any number of rows
    (0.26 for two factors of 4 values and codes of 4 bins, 0.64 for two of 2) unless they are left out as inactive.
    Public code gives 1 where all informations are 0 but for rounding; here such a code is not active. Shuffled rows
    have no active code, nearly always: the level of ``n_permutations`` is then NaN. Copies of codes change nothing, nor
    does a factor that no code holds: one code of one of two factors scores 1.

    The gate is no proof. Codes of noise pass it in one call of twenty, by its level, and for any number of rows
    (measured: 2 to 8% of calls from 300 to 20,000 rows), and codes that pass have the score of noise: 0.07 with eight
    factors and 0.8 with two binary ones. A note marks scores that depend on codes that would not pass at level 0.001. G
    tests of each code on all factors together, not scaled for few rows, would let noise through in 91 % of calls at 100
    rows and 11 % at 1000 (four codes and factors in 10 bins).

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.metrics.infom(with_sum, demele.Factors(factors, kinds="categorical")).value, 6)
    0.666667
    """
    shares = _normalised(table, normalise)
    chosen = active_codes(table, active, active_share)
    own = _even_to_one(shares.max(axis=-1), shares.sum(axis=-1), shares.shape[-1])
    notes = barely_beyond_chance(table, chosen) if active == "informative" else ()
    return Native.mean(table, per_code=np.where(chosen, own, np.nan), notes=notes)


@InformationMetric(
    title="InfoC",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Hsu et al. 2023 (InfoMEC)",
    references=("hsu2023disentanglement",),
    definition="largest share of the normalised informations on a factor, moved so that an even spread is 0",
    needs_codes=2,
    aliases=("InfoC",),
    undefined="no active code informs on them, or fewer than two codes are active",
    in_all=False,
)
def infoc(
    table: InformationTable,
    *,
    active: Active = "informative",
    active_share: Fraction = 0.05,
    normalise: Normalise = "entropy",
    **options: Unpack[TableOptions],
) -> Native:
    r"""InfoC: the share of the information on each factor that is in one code: compactness.

    .. math:: \mathrm{InfoC}_i = \frac{\max_j n_{ij} / \sum_j n_{ij} - 1/L}{1 - 1/L},\ n_{ij} = I(v_i; z_j) / H(v_i)

    over the L active codes, and the mean over factors. 0 is an even spread, which is not what noise scores.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active, active_share, normalise
        As in :func:`infom`. With ``"informative"``, a factor on which the active codes do not inform beyond chance is
        left out and named.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, NaN where fewer than two codes are active; ``per_factor``; ``matrix``: mutual
        information (n_codes, n_factors) in nats.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Hsu et al. 2023 (InfoMEC). It does not see how much is known: codes that tell only in which half the value of a
    factor lies score 1. c copies of every code score (1/c - 1/L) / (1 - 1/L). Two codes of noise of 4 bins score
    0.26 on a factor of 4 values, for any number of rows, unless they are left out as inactive.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> round(demele.metrics.infoc(factors[:, [0, 0, 1, 1]], demele.Factors(factors, kinds="categorical")).value, 6)
    0.333333
    """
    active_ones = active_codes(table, active, active_share)
    chosen = active_ones[..., None]
    shares = np.where(chosen, _normalised(table, normalise), 0.0)
    per_factor = _even_to_one(shares.max(axis=-2), shares.sum(axis=-2), chosen.sum(axis=-2))
    if active == "informative":
        per_factor = np.where(informed_factors(table, active_ones), per_factor, np.nan)
    of_one_table = per_factor.ndim == 1 and not np.isnan(per_factor).all()
    notes = barely_beyond_chance(table, active_ones) if active == "informative" and of_one_table else ()
    return Native.mean(table, per_factor=per_factor, notes=notes)
