"""Shares of the information that are in one place: InfoMEC (Hsu et al. 2023) and MED (Cao et al. 2022)."""

from functools import partial
from typing import Literal, Unpack

import numpy as np

from demele.core.arrays import Flags, Floats, Rows
from demele.core.errors import InputError, NotEnoughData, plural
from demele.core.kinds import Count, Fraction, Positive
from demele.core.result import Note
from demele.estimation.counts import column_bins, joint_counts
from demele.estimation.information import (
    Correction,
    InformationTable,
    beyond_chance,
    entropy,
    information_table,
    mean_of_defined,
    ratio,
)
from demele.metrics.data import Data, factor_splits, fewer_than_asked, folds
from demele.metrics.importances import compactness_of_factors, modularity_of_codes
from demele.metrics.information import InformationMetric
from demele.metrics.metric import MATRIX, Guards, Metric, Native, Streams
from demele.metrics.options import Bins, Estimator, RunOptions, TableOptions, as_binning

Active = Literal["informative", "range"]
Normalise = Literal["entropy", "none"]
#: Level of the gate, and the one at which the codes that count are looked at again.
GATE, SURE = 0.05, 0.001


def active_codes(table: InformationTable, active: str, active_share: float) -> Flags:
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


def barely_beyond_chance(table: InformationTable, chosen: Flags) -> tuple[Note, ...]:
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
    source="Hsu et al. 2023 (InfoMEC)",
    references=("hsu2023disentanglement",),
    definition="largest share of a code's normalised informations, moved so that an even spread is 0",
    needs_factors=2,
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
    source="Hsu et al. 2023 (InfoMEC)",
    references=("hsu2023disentanglement",),
    definition="largest share of the normalised informations on a factor, moved so that an even spread is 0",
    needs_codes=2,
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
    if active == "informative":  # factors on which the active codes together inform beyond chance
        per_factor = np.where((beyond_chance(table) & chosen).any(axis=-2), per_factor, np.nan)
    of_one_table = per_factor.ndim == 1 and not np.isnan(per_factor).all()
    notes = barely_beyond_chance(table, active_ones) if active == "informative" and of_one_table else ()
    return Native.mean(table, per_factor=per_factor, notes=notes)


# InfoE: the share of each factor that linear predictors of all codes know (Hsu et al. 2023) ---------------------------

#: A code of at most so many values, each with several rows, is quantised.
MOST_VALUES, ROWS_PER_VALUE = 32, 20


@Metric(
    title="InfoE",
    family="predictor",
    properties=("explicitness",),
    native="per factor",
    range=(float("-inf"), 1.0),
    source="Hsu et al. 2023 (InfoMEC)",
    references=("hsu2023disentanglement",),
    definition="share of the loss of knowing nothing that a linear predictor of all codes takes away",
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    undefined="one value of them alone is in the training or in the test rows",
    slow=1,
    probe=("penalty", (100.0, 25.0, 50.0, 200.0, 400.0)),
    in_groups=True,
    on_circles=True,
    in_all=False,
)
def infoe(
    data: Data,
    streams: Streams,
    *,
    encoding: Literal["auto", "one-hot", "standard"] = "auto",
    penalty: Positive = 100.0,
    class_weight: Literal["balanced"] | None = None,
    score_on: Literal["unseen", "training"] = "unseen",
    n_train: Count | None = None,
    n_test: Count | None = None,
    **run: Unpack[RunOptions],
) -> Native:
    r"""InfoE: the share of each factor's information in a linear predictor of all codes: explicitness.

    .. math:: \mathrm{InfoE}_i = 1 - \mathrm{loss}(v_i | z) / \mathrm{loss}(v_i)

    The log-loss of a multinomial logistic regression for a categorical factor, against its entropy; the squared error
    of least squares for a continuous one, against its variance (R2).

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    encoding : {"auto", "one-hot", "standard"}
        An indicator of each value of a code that has at most 32, with 20 rows for each on average, and standardised
        codes else; or the one or the other for all.
    penalty : float, default 100.0
        Inverse strength C of the quadratic penalty of the logistic regression: hardly any. Published code has none,
        which the rows that it was fitted on do not punish.
    class_weight : {"balanced", None}
        Whether all values weigh the same in training, or all rows. The loss is not weighted.
    score_on : {"unseen", "training"}
        Rows on which the losses are taken. On the training rows noise scores above 0.
    n_train, n_test : int, optional
        Rows of the split; halves by default.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, 0 for codes that tell nothing and below it where they mislead; ``per_factor``.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Hsu et al. 2023 (InfoMEC). The loss of knowing nothing is the entropy of the classes, or, with
    ``class_weight="balanced"``, the logarithm of their number, since that is what such a regression gives for codes
    that tell nothing: mixing the two scores codes of a rare class below 0. d standardised codes of noise score
    d (K - 1) / (2 N H) on the training rows. What is called InfoMEC elsewhere may be another formula.
    It reads all codes together, and sees neither rotations nor copies, nor further codes that mix the factors.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> rotated = np.column_stack([factors.sum(axis=1), factors[:, 0] - factors[:, 1]])
    >>> demele.metrics.infoe(rotated, demele.Factors(factors, kinds="categorical")).value > 0.98
    True
    """
    from demele.estimation.logistic import linear_scores, multinomial_logistic, softmax

    codes, standardised, balanced = data.codes.dense(), data.standardised(), class_weight == "balanced"
    parts = [standardised[:, [index]] for index in range(data.codes.d)]
    for index, code in enumerate(codes.T if encoding != "standard" else ()):  # an indicator of each value
        held = np.unique(code)
        if encoding == "one-hot" or (len(held) <= MOST_VALUES and len(held) * ROWS_PER_VALUE <= data.n):
            parts[index] = (code[:, None] == held).astype(np.float64)
    columns = np.hstack(parts)
    scores = np.full(data.factors.m, np.nan)
    notes = list(fewer_than_asked(data.n, n_train, n_test))
    for index, factor, train, test in factor_splits(data, n_train, n_test, score_on, streams):
        values = factor.coordinates
        if not factor.categorical:  # R2 of least squares, against the mean of the training rows
            mean, centre = values[train].mean(axis=0), columns[train].mean(axis=0)
            slopes = np.linalg.lstsq(columns[train] - centre, values[train] - mean, rcond=None)[0]
            nothing = float(np.square(values[test] - mean).sum())
            rest = float(np.square(values[test] - mean - (columns[test] - centre) @ slopes).sum())
            scores[index] = 1.0 - rest / nothing if nothing > 0 else np.nan
            continue
        known = np.isin(values[test], values[train])
        if not known.all():
            rows = f"{int((~known).sum())} test rows of factor {factor.name!r}"
            message = f"{rows} have values that no training row has; they are left out"
            note = Note(code="value-without-training", message=message, subject=(factor.name,), severity="warning")
            notes.append(note)
        seen, labels = values[train].astype(np.intp), values[test[known]].astype(np.intp)
        present, k = np.unique(seen), len(factor.levels)
        # Without weights, knowing nothing costs the entropy of the classes. A regression whose classes weigh the same
        # knows nothing at the logarithm of their number: the entropy would make codes that know nothing negative.
        shares = np.bincount(labels, minlength=k).astype(np.float64)
        nothing = float(np.log(len(present))) if balanced else float(entropy(shares))
        if len(present) > 1 and nothing > 0:
            coef, intercept = multinomial_logistic(columns[train], seen, k, C=penalty, balanced=balanced)
            likely = softmax(linear_scores(columns[test[known]], coef[present], intercept[present]))
            own = likely[np.searchsorted(present, labels), np.arange(len(labels))]
            loss = -float(np.log(np.maximum(own, np.finfo(float).tiny)).mean())
            scores[index] = 1.0 - loss / nothing
    return Native(value=mean_of_defined(scores), per_factor=scores, notes=tuple(notes))


# MED: DCI's entropies of codes and of factors, on shares of information (Cao et al. 2022) -----------------------------

Counted = Literal["informative", "all"]
_MEDMetric = partial(
    InformationMetric,
    source="Cao et al. 2022 (MED)",
    references=("cao2022empirical",),
    when={InformationTable: lambda _, options: options["top_k"] is None},
    in_all=False,
)


def _shares_of_codes(table: InformationTable, active: Counted) -> Floats:
    """Return R_ij = I(v_i; z_j) / sum_j' I(v_i; z_j') as (..., n_codes, n_factors); 0 for what does not count.

    With ``"informative"``, codes without information beyond chance do not count. Factors without information in the
    other codes do not count either: their shares, which add up to 1 like those of all factors, would be shares of
    noise.
    """
    information = np.maximum(table.information, 0.0)
    if active == "informative":
        chosen = active_codes(table, "informative", 0.0)[..., None]
        told = (beyond_chance(table) & chosen).any(axis=-2, keepdims=True)
        information = np.where(chosen & told, information, 0.0)
    return np.nan_to_num(ratio(information, information.sum(axis=-2, keepdims=True)))


def _compact_entropy(shares: Floats) -> Floats:
    """Return C_i = 1 - H(R_i.) / log d of each factor over these d codes, NaN where no code has a share of it."""
    totals = shares.sum(axis=-2)
    return np.where((totals > 0) & (shares.shape[-2] > 1), compactness_of_factors(shares), np.nan)


def _weighted(per_code: Floats, weights: Floats) -> Floats:
    """Return the mean of the defined values by weight; NaN where none is."""
    some = weights.sum(axis=-1) > 0
    return np.where(some, np.minimum(np.nansum(per_code * weights, axis=-1), 1.0), np.nan)


def _notes(table: InformationTable, shares: Floats, active: Counted) -> tuple[Note, ...]:
    return barely_beyond_chance(table, np.asarray(shares.any(axis=-1))) if active == "informative" else ()


# The codes that serve best --------------------------------------------------------------------------------------------


def best_codes(table: InformationTable, top_k: int | None, active: Counted) -> Rows:
    """Return, for each factor, the k codes with the largest D_j of those that have their largest share on it."""
    shares = _shares_of_codes(table, active)
    per_code, _ = modularity_of_codes(shares)
    largest, own = shares.max(axis=1), shares.argmax(axis=1)
    found: list[int] = []
    for factor in range(shares.shape[1]):
        members = np.flatnonzero((own == factor) & (largest > 0))
        # what differs by rounding only is told apart by how much of the factor the code holds
        order = np.lexsort((-largest[members], -np.round(per_code[members], 9)))
        found += members[order[:top_k]].tolist()
    return np.array(sorted(found), dtype=np.intp)


def split_tables(
    data: Data, *, bins: Bins, estimator: Estimator = "histogram", correction: Correction = "none", **options: object
) -> tuple[InformationTable, list[tuple[InformationTable, InformationTable]]]:
    """Return the table of all rows, and for each half of them the table to choose by and the table to score.

    Raises
    ------
    InputError
        If more is asked for than counts.
    """
    if estimator != "histogram" or correction != "none":
        asked = f"`estimator={estimator!r}` and `correction={correction!r}`"
        raise InputError("top_k", f"it chooses among codes by counts: leave out {asked}")
    of_codes, of_factors = column_bins(data.codes, data.factors, as_binning(bins))
    parts = []
    for _, rows in folds(data.n, 2):
        half = data.take(rows)
        parts.append(joint_counts(half.codes, half.factors, of_codes, of_factors))
    first, second = (information_table(one) for one in parts)
    return information_table(parts[0].merge(parts[1])), [(first, second), (second, first)]


@_MEDMetric(
    title="MED modularity",
    properties=("modularity",),
    native="per code",
    definition="1 - entropy of a code's shares of the information on the factors, relative to its largest",
    needs_factors=2,
    undefined="they tell nothing beyond chance, or are not among the best of a factor",
)
def med_modularity(
    state: InformationTable | Data,
    *,
    active: Counted = "informative",
    top_k: Count | None = None,
    **options: Unpack[TableOptions],
) -> Native:
    r"""MED modularity: concentration of the information of each code on one factor.

    .. math::
        D_j = 1 - H(R_{\cdot j} / \textstyle\sum_i R_{ij}) / \log M,\quad
        R_{ij} = I(v_i; z_j) / \textstyle\sum_{j'} I(v_i; z_{j'})

    and the mean over codes, weighted by :math:`\sum_i R_{ij}`: the modularity of DCI with information instead of
    importances, at the cost of MIG.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active : {"informative", "all"}
        Which codes count: those that tell anything of any factor beyond chance, as in :func:`infom`, or all, as
        published.
    top_k : int, optional
        Only so many codes of each factor count, those with the largest :math:`D_j` among the codes that have their
        largest share on it: for representations with hundreds of codes, if a few should be used. They are
        chosen on one half of the rows and scored on the other, and the two results averaged; published code chooses
        and scores on the same rows, which lifts 512 codes of noise. The halves are drawn once for all seeds.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, NaN where no code is active; ``per_code``, NaN for those that do not count; ``matrix``:
        mutual information (n_codes, n_factors) in nats; ``details["weights"]``, and with ``top_k`` ``["kept"]``: the
        codes of each half by their places.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Cao et al. 2022, whose settings are the protocol ``med2022``. Shares say nothing of how much a code knows: codes
    with a tenth of the information on each factor score as well. Every factor has the same weight, even with hardly any
    information, so that noise does not score 0 with ``active="all"``. A factor without information in active codes is
    left out (published code divides 0 by 0). Copies of codes change nothing.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.metrics.med_modularity(with_sum, demele.Factors(factors, kinds="categorical")).value, 6)
    0.753114
    >>> demele.metrics.med_modularity(with_sum, demele.Factors(factors, kinds="categorical"), top_k=1).value > 0.95
    True
    """
    if isinstance(state, InformationTable):
        shares = _shares_of_codes(state, active)
        per_code, weights = modularity_of_codes(shares)
        return Native(
            value=_weighted(per_code, weights),
            per_code=per_code,
            matrix=state.information,
            matrix_of=MATRIX,
            details={"weights": weights},
            notes=_notes(state, shares, active),
        )
    whole, halves = split_tables(state, **options)
    found, kept = [], []
    for choosing, scoring in halves:
        best = best_codes(choosing, top_k, active)
        shares = np.zeros_like(scoring.information)
        shares[best] = _shares_of_codes(scoring, active)[best]
        per_code, weights = modularity_of_codes(shares)
        found.append((_weighted(per_code, weights), np.nan_to_num(per_code) * weights, weights))
        kept.append(best.tolist())
    value, own, weights = (np.stack(parts) for parts in zip(*found, strict=True))
    weights = np.mean(weights, axis=0)
    return Native(
        value=mean_of_defined(value),
        per_code=ratio(np.mean(own, axis=0), weights),
        matrix=whole.information,
        matrix_of=MATRIX,
        details={"weights": weights, "kept": kept},
    )


@_MEDMetric(
    title="MED compactness",
    properties=("compactness",),
    definition="1 - entropy of the codes' shares of the information on a factor, relative to its largest",
    needs_codes=2,
    undefined="no active code informs on them",
)
def med_compactness(
    state: InformationTable | Data,
    *,
    active: Counted = "informative",
    top_k: Count | None = None,
    **options: Unpack[TableOptions],
) -> Native:
    r"""MED compactness: concentration of the information on each factor in one code.

    .. math:: C_i = 1 - H(R_{i \cdot}) / \log d,\quad R_{ij} = I(v_i; z_j) / \textstyle\sum_{j'} I(v_i; z_{j'})

    and the mean over factors: the compactness of DCI with information instead of importances, at the cost of MIG.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), at least two
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
    bins, estimator, correction, n_neighbors
        As in :func:`mig`.
    active, top_k
        As in :func:`med_modularity`. With ``top_k`` the entropy is over the codes that are kept, and not defined where
        one alone is.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1; ``per_factor``, NaN where no active code informs on the factor, which is then left out;
        ``matrix``: mutual information (n_codes, n_factors) in nats; with ``top_k`` ``details["kept"]``: the codes of
        each half by their places.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Cao et al. 2022, whose settings are the protocol ``med2022``; published code weighs factors by their sums of shares,
    which are 1 but with ``top_k``. c copies of every one of d codes that hold one factor each score
    1 - log c / log(c d). It does not see how much is known: codes with a tenth of the information on each factor score
    as well. Two codes that each hold half of a factor, as the sine and the cosine of an angle do, count as copies.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> classes = demele.Factors(factors, kinds="categorical")
    >>> round(demele.metrics.med_compactness(factors[:, [0, 0, 1, 1]], classes).value, 6)
    0.5
    """
    if isinstance(state, InformationTable):
        shares = _shares_of_codes(state, active)
        return Native.mean(state, per_factor=_compact_entropy(shares), notes=_notes(state, shares, active))
    whole, halves = split_tables(state, **options)
    kept = [best_codes(choosing, top_k, active) for choosing, _ in halves]
    own = [
        _compact_entropy(_shares_of_codes(scoring, active)[best])
        for best, (_, scoring) in zip(kept, halves, strict=True)
    ]
    per_factor = mean_of_defined(np.stack(own, axis=-1))
    return Native.mean(whole, per_factor=per_factor, details={"kept": [best.tolist() for best in kept]})
