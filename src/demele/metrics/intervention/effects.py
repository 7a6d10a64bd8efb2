"""How much factors move codes: interventional robustness (Suter et al. 2019), total effects (Dapueto et al. 2024)."""

import inspect
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np

from demele.core.arrays import Array, Floats, Rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import read_given
from demele.core.kinds import Fraction, Share, checked_name
from demele.core.results import Interval, Note, Score, Severity
from demele.core.signature import Signature
from demele.estimation.cells import (
    CellSums,
    correlation_effects,
    correlations_of_sums,
    is_grid,
    summarise_cells,
    total_effects,
)
from demele.estimation.counts import factor_bins
from demele.estimation.irs import (
    CellExtremes,
    Centre,
    GeneralIRS,
    Normaliser,
    ValueWeights,
    crossed_deviations,
    crossed_from_extremes,
    disentanglement_scores,
    general_irs,
    irs_score,
)
from demele.metrics.code_groups import vector_robustness
from demele.metrics.data import Data, dependency_pictures
from demele.metrics.guards import FRAGILE, listed, moved_by_outliers, units_notes
from demele.metrics.metric import Draws, Guards, Metric, Native
from demele.metrics.options import Bins, RunOptions, as_binning, checked_run
from demele.metrics.source import column_indices, half_of_rows


@Metric(
    title="IRS",
    family="intervention",
    properties=("modularity",),
    native="per code",
    range=(-1.0, 1.0),
    source="Suter et al. 2019, section 5",
    references=("suter2019robustly",),
    definition="1 - largest deviation of a code at a fixed value of its best factor, over its largest deviation",
    when={CellExtremes: lambda source, options: options["quantile"] == 1.0 and source.knows_bins(options["bins"])},
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    undefined="they are constant",
    probe=("quantile", (1.0, 0.99, 0.95, 0.9, 0.8)),
    pictures=dependency_pictures,
    in_groups=True,
)
def irs(
    state: CellExtremes | Data,
    *,
    bins: Bins = 10,
    quantile: Fraction = 1.0,
    normaliser: Normaliser = "quantile",
    weights: Literal["deviation", "raw-deviation", "uniform"] = "deviation",
    value_weights: ValueWeights = "frequency",
    **run: Unpack[RunOptions],
) -> Native:
    """Interventional robustness score, form for crossed factors: modularity.

    Largest deviation of a code from its mean while one factor keeps a value, averaged over the values, over its
    largest deviation from its overall mean; 1 - that, for the best factor.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are standardised. Constant codes are left out.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``. With ``Factors(missing="omit")`` rows count that are annotated for all
        factors.
    bins : int, str, Binning or edges, default 10
    quantile : float in (0, 1], default 1.0
        Quantile of the deviations that is taken for the largest one; 1 is the maximum, which one outlier decides.
    normaliser : {"quantile", "maximum"}
        Deviations while a factor keeps a value are divided by the same quantile of all deviations, or by their maximum
        whatever the quantile, as in disentanglement_lib: noise then scores above 0 for any number of rows.
    weights : {"deviation", "raw-deviation", "uniform"}
        Weights of the codes in the mean: their largest deviation in standard deviations, or in their own unit, as in
        print and in public code (a useless code stretched a hundredfold then decides the score, and a note says so), or
        none.
    value_weights : {"frequency", "uniform"}
        Weights of a factor's values.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1, slightly below 0 at worst; ``per_code`` (NaN for constant codes); ``matrix``:
        robustness of each code at fixed values of each factor (n_codes, n_factors).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Suter et al. 2019, section 5. Independent codes score above 0 in small samples: ask for ``n_permutations``. It rests
    on maxima, which resamples do not follow: intervals cover less than they say (about 80% at a nominal 90% for 200
    rows). :func:`demele.metrics.interventional_robustness` is the general form, for confounded factors.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).integers(0, 4, (1000, 2)).astype(float)
    >>> demele.metrics.irs(factors, factors).value
    1.0
    """
    if isinstance(state, CellExtremes):
        crossed = crossed_from_extremes(state, value_weights=value_weights)
    else:
        labels, n_levels = state.factor_labels(bins)
        how: dict[str, Any] = {"quantile": quantile, "normaliser": normaliser, "value_weights": value_weights}
        codes, of_columns = state.standardised(), state.deviations()
        crossed = crossed_deviations(codes, labels, n_levels, **how)
        # of several columns, from distances of standardised vectors from their mean
        both = np.column_stack([crossed.matrix, crossed.max_deviation])
        both = state.by_code(both, lambda own: np.append(*vector_robustness(codes[:, own], labels, **how)))
        deviation = state.by_code(of_columns, lambda own: np.sqrt(np.square(of_columns[own]).mean()))
        matrix, largest = both[:, :-1], both[:, -1]
        crossed = replace(crossed, matrix=matrix, max_deviation=largest, deviation=deviation, inactive=~(largest > 0))
    uniform = weights == "uniform"
    per_code, value = irs_score(crossed.matrix, crossed.max_deviation, "uniform" if uniform else "deviation")
    notes: tuple[Note, ...] = ()
    if weights == "raw-deviation":
        without = value
        per_code, value = irs_score(crossed.matrix, crossed.max_deviation * crossed.deviation)
        notes = units_notes(value, without)
    return Native(
        value=np.asarray(value),
        per_code=per_code,
        matrix=crossed.matrix,
        matrix_of="interventional robustness of a code at fixed values of a factor",
        notes=notes,
    )


# Interventional robustness in its general form ------------------------------------------------------------------------

Columns = Sequence[int] | Sequence[str] | int | str | None


def interventional_robustness(
    codes: object,
    factors: object,
    *,
    codes_of_interest: Columns = None,
    factors_of_interest: Columns = None,
    nuisance: Columns = None,
    norm: float = 2,
    centre: Centre = "mean",
    bins: object = 10,
    n_bootstrap: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> Score:
    r"""Robustness of codes to nuisance factors, given the factors of interest, from confounded data.

    .. math:: \mathrm{IRS}(L \mid I, J) = 1 - \mathrm{EMPIDA}(L \mid I, J) / \mathrm{EMPIDA}(L \mid \emptyset, all)

    EMPIDA is the mean over values of the factors of interest of the largest distance, over interventions on the
    nuisance factors, between the codes' mean and their mean under the intervention. The latter is estimated by
    reweighting the rows, since nuisance factors may come along with others.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors)
        Continuous factors are cut into ``bins``.
    codes_of_interest : names or indices, default all codes
        The set L.
    factors_of_interest : names or indices, default none
        The set I: what the codes are meant to represent.
    nuisance : names or indices, default all other factors
        The set J: what is intervened on. Factors in neither set are adjusted for.
    norm : float >= 1 or inf, default 2
        Of the distance over the codes of L, each in its standard deviations.
    centre : {"mean", "median"}
        Estimate of a code's expected value where all factors keep their values; ``"median"`` where outliers are
        expected.
    bins : int, str, Binning or edges, default 10
        Few bins, where factors are many: means need rows in their cells.
    n_bootstrap, level, seed
        Half-sample intervals, as in :func:`demele.evaluate`.

    Returns
    -------
    Score
        value at most 1, best 1; may fall below 0 on few rows. ``details``: ``empida``, ``normaliser``, and per value
        of the factors of interest the largest distance ``mpida``; ``coverage``: share of the adjustment that the data
        support, smallest and mean, and share of the combinations of factors of interest and nuisance that occur (below
        1, interventions are extrapolated or not seen at all: notes say so).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError

    Notes
    -----
    Suter et al. 2019, sections 4 and 5. Cost: O(n) for any number of factors.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> shape = rng.integers(0, 3, 3000)
    >>> light = (shape + rng.integers(0, 2, 3000)) % 3                       # comes along with shape
    >>> factors = np.column_stack([shape, light])
    >>> codes = np.column_stack([shape, shape + light])
    >>> clean, mixed = (
    ...     demele.metrics.interventional_robustness(codes, factors, codes_of_interest=[code], factors_of_interest=[0])
    ...     for code in (0, 1)
    ... )
    >>> round(clean.value, 6), mixed.value < 0.8
    (1.0, True)
    """
    if isinstance(norm, bool) or not isinstance(norm, numbers.Real) or not float(norm) >= 1:
        raise InputError("norm", f"expected a number of at least 1, or inf, got {quoted(norm)}")
    data, how, all_labels = _read(codes, factors, bins, centre)
    of_codes = column_indices(codes_of_interest, data.codes.names, "codes_of_interest", default=range(data.codes.d))
    interest = column_indices(factors_of_interest, data.factors.names, "factors_of_interest", default=())
    others = [index for index in range(data.factors.m) if index not in interest]
    disturbing = column_indices(nuisance, data.factors.names, "nuisance", default=others)
    if not of_codes:
        raise InputError("codes_of_interest", "expected at least one code, got none")
    if not disturbing:
        raise InputError("nuisance", "expected at least one factor that is not of interest, got none")
    both = set(interest) & set(disturbing)
    if both:
        name = data.factors.names[min(both)]
        raise InputError("nuisance", f"factor {name!r} is of interest and nuisance at once; name it in one set")
    rest = [index for index in others if index not in disturbing]

    def score(rows: Rows | slice, values: Array = data.codes.values) -> GeneralIRS:
        labels = all_labels[rows]
        return general_irs(
            values[rows][:, of_codes],
            labels[:, interest],
            labels[:, disturbing],
            labels[:, rest],
            norm=float(norm),
            centre=centre,
        )

    found = score(slice(None))
    outlying = tuple(name for name in data.outlying() if name in data.codes.names)
    if np.isnan(found.value):
        names = ", ".join(repr(data.codes.names[index]) for index in of_codes)
        raise NotEnoughData("codes", f"{names} do not depend on the factors at all; robustness is not defined")
    if found.most_settings == 1 and interest:
        raise NotEnoughData(
            "nuisance",
            "each value of the factors of interest comes with one value of the nuisance factors only, so "
            "nothing shows what these do to the codes; name other factors, or bring rows that combine them freely",
        )
    arguments: dict[str, object] = {
        "codes_of_interest": tuple(data.codes.names[index] for index in of_codes),
        "factors_of_interest": tuple(data.factors.names[index] for index in interest),
        "nuisance": tuple(data.factors.names[index] for index in disturbing),
        "norm": float(norm),
        **how,
    }
    without = score(slice(None), data.winsorised(outlying).codes.values).value if outlying else found.value
    run = checked_run(n_bootstrap=n_bootstrap, level=level, seed=seed)
    interval = None
    if run.n_bootstrap:
        arguments = arguments | {"n_bootstrap": run.n_bootstrap, "level": run.level, "seed": run.seed}
        halves = (half_of_rows(data.codes.n, run.seed, draw) for draw in range(run.n_bootstrap))
        values: Floats = np.array([score(rows).value for rows in halves])
        low, high = map(float, Draws.quantiles(values, run.level, (0.0, 1.0), found.value))
        method = f"half-sample percentile, {run.n_bootstrap} resamples"
        interval = Interval(low=low, high=high, level=run.level, method=method)
    notes = list(moved_by_outliers(found.value, without, outlying))
    if found.min_coverage < 0.999:
        message = (
            f"for some interventions only {found.min_coverage:.0%} of the adjustment is supported by rows "
            f"({found.mean_coverage:.0%} on average): there the estimate extrapolates"
        )
        notes.append(Note(code="positivity", message=message, severity="warning"))
    if found.settings_seen < 0.999:
        message = (
            f"only {found.settings_seen:.0%} of the combinations of factors of interest and nuisance factors occur "
            "together: what the others would do to the codes cannot be estimated, and counts as nothing"
        )
        severity: Severity = "fragile" if found.settings_seen < 0.5 else "warning"
        notes.append(Note(code="combinations-missing", message=message, severity=severity))
    smallest = float(found.worst_rows.min())
    if smallest < 10:
        message = f"a largest distance uses {smallest:.0f} rows and is unreliable: use fewer bins or more rows"
        notes.append(Note(code="few-rows-in-cells", message=message, severity="fragile"))
    told = ("empida", "normaliser", "mpida", "frequency", "situations")
    coverage = {"smallest": found.min_coverage, "mean": found.mean_coverage, "combinations": found.settings_seen}
    return _score(
        "interventional_robustness",
        data,
        arguments,
        value=found.value,
        n=found.n,
        interval=interval,
        notes=tuple(notes),
        details={**{name: getattr(found, name) for name in told}, "coverage": coverage},
    )


def domain_shift_robustness(
    codes: object,
    factors: object,
    *,
    domain: Columns,
    codes_of_interest: Columns = None,
    **options: Any,
) -> Score:
    """Stability of codes when the factors of the domain change: IRS(L | all but S, S).

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors)
    domain : names or indices
        The set S: factors whose distribution shifts, such as the scanner or the light.
    codes_of_interest : names or indices, default all codes
    **options
        As in :func:`interventional_robustness`.

    Returns
    -------
    Score
        value at most 1, best 1.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError

    Notes
    -----
    Suter et al. 2019, section 4, special case.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.integers(0, 3, (2000, 2))
    >>> round(demele.metrics.domain_shift_robustness(factors[:, :1], factors, domain=[1]).value, 6)
    1.0
    """
    _, read_factors = read_given(codes, factors)
    shifting = column_indices(domain, read_factors.names, "domain", default=())
    if not shifting:
        raise InputError("domain", "expected at least one factor, got none")
    known = inspect.signature(interventional_robustness).parameters
    for keyword in options:
        if keyword not in known or keyword in ("factors_of_interest", "nuisance"):
            raise InputTypeError(keyword, "domain_shift_robustness has no such option")
    return interventional_robustness(
        codes,
        factors,
        codes_of_interest=codes_of_interest,
        factors_of_interest=[index for index in range(read_factors.m) if index not in shifting],
        nuisance=shifting,
        **options,
    )


def interventional_disentanglement(
    codes: object,
    factors: object,
    *,
    centre: Centre = "mean",
    bins: object = 10,
) -> Score:
    """Disentanglement score of each code from confounded data: D_l = max over factors i of IRS({l} | {i}, all but i).

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
    factors : array-like of shape (n_samples, n_factors), at least two that vary
    centre : {"mean", "median"}
        As in :func:`interventional_robustness`.
    bins : int, str, Binning or edges, default 10

    Returns
    -------
    Score
        value at most 1, best 1: mean over codes; ``per_code``; ``matrix``: D_li (n_codes, n_factors).

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Suter et al. 2019, eq. 7. :func:`demele.metrics.irs` is the form for crossed factors, with the largest deviation of
    single samples instead of means.

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.random.default_rng(0).integers(0, 3, (2000, 2))
    >>> round(demele.metrics.interventional_disentanglement(factors, factors).value, 6)
    1.0
    """
    data, how, labels = _read(codes, factors, bins, centre)
    if data.factors.m < 2:
        raise NotEnoughData("factors", "interventional_disentanglement needs at least 2 factors, got 1")
    matrix = disentanglement_scores(data.codes.values, labels, centre)
    per_code, value = irs_score(matrix, np.ones(data.codes.d), "uniform")
    if np.isnan(value):
        raise NotEnoughData("codes", "no code depends on the factors; robustness is not defined")
    return _score(
        "interventional_disentanglement",
        data,
        how,
        value=value,
        n=int((labels >= 0).all(axis=1).sum()),
        per_code=per_code,
        matrix_values=matrix,
        matrix_of="disentanglement D of a code for a factor",
    )


def _score(name: str, data: Data, arguments: Mapping[str, object], **found: Any) -> Score:
    """Return what was found as a score of the columns."""
    codes, factors = data.codes, data.factors
    signature = Signature.of(name, arguments, rows=data.n, codes=codes.d, factors=factors.m)
    return Score(metric=name, signature=signature, code_names=codes.names, factor_names=factors.names, **found)


def _read(codes: object, factors: object, bins: object, centre: str) -> tuple[Data, dict[str, object], Rows]:
    """Read the columns, how for the signature, and factors as levels (n_samples, n_factors), -1 where not annotated."""
    checked_name(centre, "centre", ("mean", "median"))
    data, binning = Data(*read_given(codes, factors)), as_binning(bins)
    how = {"bins": binning} | ({} if centre == "mean" else {"centre": centre}) | data.factors.reading
    return data, how, data.factor_labels(binning)[0]


# OMES: overlap and multiple encoding of factors, from total effects of factors on codes (Dapueto et al. 2024) ---------

#: Rows beyond the number of cells, below which an effect is hardly known.
FEW_FREE = 30
#: Distance of the score of perfect codes from 1 that is told.
TOLD_FROM = 0.005


def pooled(effect: Floats, pooling: str, overlap_weight: float) -> Floats:
    """Return the score of each factor from effects (n_codes, n_factors) of the codes that vary.

    A code's overlap score for factor i is 1 minus its mean distance, over factors, from a code of factor i alone; its
    encoding score is 1 minus the mean distance, over codes, of the factor's effects from those on this code alone.
    """
    d, m = effect.shape
    # |1 - t| in place of |t| for the one that is meant
    own = np.abs(1.0 - effect) - effect
    overlap = 1.0 - (effect.sum(axis=1, keepdims=True) + own) / m
    encoding = 1.0 - (effect.sum(axis=0, keepdims=True) + own) / d
    scores = []
    for quality in (overlap, encoding):
        product = quality * effect
        if pooling == "max":
            scores.append(product.max(axis=0))
            continue
        weight = effect.sum(axis=0)
        mean = (product * effect).sum(axis=0) / np.where(weight > 0, weight, 1.0)
        scores.append(np.where(weight > 0, mean, 0.0))
    return np.asarray(overlap_weight * scores[0] + (1.0 - overlap_weight) * scores[1])


@Metric(
    title="OMES",
    family="intervention",
    properties=("modularity", "compactness"),
    native="per factor",
    range=(0.0, 1.0),
    source="Dapueto et al. 2024; Homma & Saltelli 1996",
    references=("dapueto2024transferring", "homma1996importance"),
    definition="how far the total effects of factors on codes are from one code for each factor",
    when={CellSums: lambda source, options: bool(source.knows_bins(options["bins"]))},
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    undefined="all codes are constant",
    probe=("bins", (5, 2, 3, 8, 10)),
    in_groups=True,
    in_all=False,
)
def omes(
    state: CellSums | Data,
    *,
    bins: Bins = 5,
    effect: Literal["total", "published"] = "total",
    variance: Literal["auto", "plug-in", "unbiased"] = "auto",
    pooling: Literal["weighted", "max"] = "weighted",
    overlap_weight: Share = 0.5,
    **run: Unpack[RunOptions],
) -> Native:
    r"""Overlap and multiple encoding score, from total effects of factors on codes: modularity and compactness.

    .. math:: T_{ij} = \frac{E[\mathrm{Var}(z_j | v_{-i})]}{\mathrm{Var}(z_j)},\quad
        O_{ij} = 1 - \frac1M \sum_k |[k = i] - T_{kj}|,\quad E_{ij} = 1 - \frac1d \sum_l |[l = j] - T_{il}|

    What is left of a code's variance while factor i alone varies is its total effect. The overlap scores
    :math:`O_{ij} T_{ij}` of a factor are pooled over the d codes that vary, its encoding scores
    :math:`E_{ij} T_{ij}` too; OMES is the mean of both, and of the M factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit. Constant codes are left out.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``. Rows that lack an annotation are left out.
    bins : int, str, Binning or edges, default 5
        Few: effects rest on rows that agree on the bins of all factors but one, and inside a bin the others still vary
        (the total effect of another factor on a perfect code of a uniform one is 1 / bins squared, not 0, and so each
        further factor lowers the score of perfect codes: a note says to what).
    effect : {"total", "published"}
        The total effect, or 1 - \|correlation\| of a code over pairs of rows that differ in factor i alone, as
        published: a perfect code of a factor of K values then has the effect 1 - 1 / (K - 1), 0 for K = 2, and not 1.
    variance : {"auto", "plug-in", "unbiased"}
        Of variances within cells, divisor n or n - 1. ``"auto"``: n, which is exact, where the factors are classes and
        the rows all their combinations, equally often; n - 1 for any other rows. Estimates above 1 count as 1.
    pooling : {"weighted", "max"}
        The mean over codes weighted by the effects, or the maximum, which does not see further codes.
    overlap_weight : float in [0, 1], default 0.5
        1 is modularity alone, 0 compactness alone.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [0, 1], best 1, NaN where all codes are constant; ``per_factor``, 0 for a factor that moves no code;
        ``matrix``: total effects (n_codes, n_factors); ``details["usable_rows"]``: by factor, the share of rows that
        agree with another on all other factors.

    Raises
    ------
    InputError, InputTypeError
    NotEnoughData
        If no two rows agree on all factors but some one.

    Notes
    -----
    Dapueto, Noceti & Odone 2024. Published code draws pairs of rows without replacement, so that no pair has equal
    values: perfect codes of factors of 3, 3 and 4 values score 0.48 by it, and of 2, 2 and 4 values 0.20. Codes of
    noise vary as much whatever is held fixed: their total effects are all 1, and they score (1/M + 1/d) / 2 for any
    number of rows. Ask for ``n_permutations``. It says nothing of explicitness: a code that forgets half of a factor's
    values scores 1. O(N n_codes n_factors).

    Examples
    --------
    >>> import numpy as np, demele
    >>> factors = np.array([(a, b) for a in range(4) for b in range(4)] * 25, dtype=float)
    >>> with_sum = np.column_stack([factors, factors.sum(axis=1)])
    >>> round(demele.metrics.omes(with_sum, demele.Factors(factors, kinds="categorical")).value, 6)
    0.694444
    """
    if isinstance(state, CellSums):
        names, sizes, cells, known = tuple(state.names), list(state.bins), state.cells, state.cells.count > 0
    else:
        names, sizes = state.factors.names, [factor_bins(one, as_binning(bins)) for one in state.factors.columns]
        labels, n_levels = state.factor_labels(bins)
        known = np.asarray((labels >= 0).all(axis=1))
        codes, labels = state.standardised()[known], labels[known]
        cells = summarise_cells(codes, list(labels.T), n_levels)
    if not known.any():
        raise NotEnoughData("factors", "no row is annotated for all factors")
    if effect == "total":  # rows are a sample, unless they are all combinations of classes, equally often
        grid = all(one is None for one in sizes) and is_grid(cells)
        found = total_effects(cells, unbiased=variance == "unbiased" or (variance == "auto" and not grid))
    elif isinstance(state, Data):
        found = correlation_effects(codes, labels, n_levels)
    else:
        found = correlations_of_sums(cells, cells.total, state.squares)
    for name, n_rows in zip(names, found.rows, strict=True):
        if not n_rows:
            problem = f"no two rows agree on all factors but {name!r}; use fewer bins, fewer factors or more rows"
            raise NotEnoughData("factors", problem)
    effects = found.effect
    if (
        isinstance(state, Data) and state.groups is not None
    ):  # of a group, the part of the sum of its columns' variances
        varies = np.asarray(~np.isnan(effects).any(axis=1))
        counts = state.summed_by_code(np.asarray(varies, dtype=np.float64))[:, None]
        sums = state.summed_by_code(np.asarray(np.where(varies[:, None], effects, 0.0)))
        effects = np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)
    alive = ~np.isnan(effects).any(axis=1)
    per_factor = np.full(len(names), np.nan)
    if alive.any():
        per_factor = pooled(np.minimum(effects[alive], 1.0), pooling, overlap_weight)
    shares = ", ".join(f"{name} {rows / found.n:.0%}" for name, rows in zip(names, found.rows, strict=True))
    message = f"rows that agree with another on all factors but one ({found.n} rows): {shares}"
    thin = [name for name, rows, cells in zip(names, found.rows, found.cells, strict=True) if rows - cells < FEW_FREE]
    if thin:
        message += f"; few for the effect of {listed(thin)}: use fewer bins, fewer factors or more rows"
    notes = [Note(code="usable-rows", message=message, severity="fragile" if thin else "info")]
    # what perfect codes would score, where factors still vary inside their bins
    left = np.array([0.0 if one is None else 1.0 / max(one.n_bins, 1) ** 2 for one in sizes])
    ideal = np.repeat(left[:, None], len(left), axis=1)
    np.fill_diagonal(ideal, 1.0)
    best = float(pooled(ideal, pooling, overlap_weight).mean())
    if best <= 1.0 - TOLD_FROM:
        message = (
            "continuous factors still vary inside their bins, which weighs more the more factors there are: perfect "
            f"codes of uniform factors would score {best:.3f}; more bins need more rows"
        )
        notes.append(Note(code="ceiling", message=message, severity="fragile" if best < 1.0 - FRAGILE else "info"))
    return Native(
        value=np.asarray(per_factor.mean()),
        per_factor=per_factor,
        matrix=effects,
        matrix_of="total effect of a factor on a code",
        details={"usable_rows": {name: float(rows / found.n) for name, rows in zip(names, found.rows, strict=True)}},
        notes=tuple(notes),
    )
