"""Interventional robustness score for crossed factors (Suter et al. 2019, section 5)."""

import inspect
import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np

from demele.core.arrays import Array, Floats, Rows
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.inputs import Codes, Factors, read_given
from demele.core.kinds import Fraction, checked_name
from demele.core.results import Interval, Note, Score, Severity
from demele.core.signature import Signature
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
from demele.metrics.data import Data, dependency_pictures
from demele.metrics.guards import moved_by_outliers, units_notes
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
    aliases=("IRS",),
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
    from demele.metrics.code_groups import vector_robustness

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
    read_codes, read_factors, how, all_labels = _read(codes, factors, bins, centre)
    of_codes = column_indices(codes_of_interest, read_codes.names, "codes_of_interest", default=range(read_codes.d))
    interest = column_indices(factors_of_interest, read_factors.names, "factors_of_interest", default=())
    others = [index for index in range(read_factors.m) if index not in interest]
    disturbing = column_indices(nuisance, read_factors.names, "nuisance", default=others)
    if not of_codes:
        raise InputError("codes_of_interest", "expected at least one code, got none")
    if not disturbing:
        raise InputError("nuisance", "expected at least one factor that is not of interest, got none")
    both = set(interest) & set(disturbing)
    if both:
        name = read_factors.names[min(both)]
        raise InputError("nuisance", f"factor {name!r} is of interest and nuisance at once; name it in one set")
    rest = [index for index in others if index not in disturbing]

    def score(rows: Rows | slice, values: Array = read_codes.values) -> GeneralIRS:
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
    subject = Data(read_codes, read_factors)
    outlying = tuple(name for name in subject.outlying() if name in read_codes.names)
    if np.isnan(found.value):
        names = ", ".join(repr(read_codes.names[index]) for index in of_codes)
        raise NotEnoughData("codes", f"{names} do not depend on the factors at all; robustness is not defined")
    if found.most_settings == 1 and interest:
        raise NotEnoughData(
            "nuisance",
            "each value of the factors of interest comes with one value of the nuisance factors only, so "
            "nothing shows what these do to the codes; name other factors, or bring rows that combine them freely",
        )
    arguments: dict[str, object] = {
        "codes_of_interest": tuple(read_codes.names[index] for index in of_codes),
        "factors_of_interest": tuple(read_factors.names[index] for index in interest),
        "nuisance": tuple(read_factors.names[index] for index in disturbing),
        "norm": float(norm),
        **how,
    }
    without = score(slice(None), subject.winsorised(outlying).codes.values).value if outlying else found.value
    run = checked_run(n_bootstrap=n_bootstrap, level=level, seed=seed)
    n_draws, nominal, start = run.n_bootstrap, run.level, run.seed
    interval = None
    if n_draws:
        arguments = arguments | {"n_bootstrap": n_draws, "level": nominal, "seed": start}
        values: Floats = np.array([score(half_of_rows(read_codes.n, start, draw)).value for draw in range(n_draws)])
        low, high = map(float, Draws.quantiles(values, nominal, (0.0, 1.0), found.value))
        method = f"half-sample percentile, {n_draws} resamples"
        interval = Interval(low=low, high=high, level=nominal, method=method)
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
    return Score(
        metric="interventional_robustness",
        value=found.value,
        n=found.n,
        signature=Signature.of(
            "interventional_robustness", arguments, rows=read_codes.n, codes=read_codes.d, factors=read_factors.m
        ),
        code_names=read_codes.names,
        factor_names=read_factors.names,
        interval=interval,
        notes=tuple(notes),
        details={
            "empida": found.empida,
            "normaliser": found.normaliser,
            "mpida": found.mpida,
            "frequency": found.frequency,
            "situations": found.situations,
            "coverage": {
                "smallest": found.min_coverage,
                "mean": found.mean_coverage,
                "combinations": found.settings_seen,
            },
        },
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
    read_codes, read_factors, how, labels = _read(codes, factors, bins, centre)
    if read_factors.m < 2:
        raise NotEnoughData("factors", "interventional_disentanglement needs at least 2 factors, got 1")
    matrix = disentanglement_scores(read_codes.values, labels, centre)
    per_code, value = irs_score(matrix, np.ones(read_codes.d), "uniform")
    if np.isnan(value):
        raise NotEnoughData("codes", "no code depends on the factors; robustness is not defined")
    return Score(
        metric="interventional_disentanglement",
        value=value,
        n=int((labels >= 0).all(axis=1).sum()),
        signature=Signature.of(
            "interventional_disentanglement",
            how,
            rows=read_codes.n,
            codes=read_codes.d,
            factors=read_factors.m,
        ),
        code_names=read_codes.names,
        factor_names=read_factors.names,
        per_code=per_code,
        matrix_values=matrix,
        matrix_of="disentanglement D of a code for a factor",
    )


def _read(codes: object, factors: object, bins: object, centre: str) -> tuple[Codes, Factors, dict[str, object], Rows]:
    """Read the columns, how for the signature, and factors as levels (n_samples, n_factors), -1 where not annotated."""
    checked_name(centre, "centre", ("mean", "median"))
    read_codes, read_factors = read_given(codes, factors)
    binning = as_binning(bins)
    how = {"bins": binning} | ({} if centre == "mean" else {"centre": centre}) | read_factors.reading
    return read_codes, read_factors, how, Data(read_codes, read_factors).factor_labels(binning)[0]
