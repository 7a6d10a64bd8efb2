"""Interventional robustness score for crossed factors (Suter et al. 2019, section 5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.kinds import Fraction
from demele.core.results import Dependency, Note
from demele.estimation.irs import (
    CellExtremes,
    CrossedIRS,
    Normaliser,
    ValueWeights,
    crossed_deviations,
    crossed_from_extremes,
    irs_score,
)
from demele.metrics.data import Data
from demele.metrics.guards import units_notes
from demele.metrics.metric import Guards, Metric, Native
from demele.metrics.options import Bins, RunOptions
from demele.metrics.pictures import dependency_pictures


def _pictures(data: Data, options: Mapping[str, Any], native: Native) -> tuple[Dependency, ...]:
    if native.matrix is None or data.groups is not None:
        return ()
    return dependency_pictures(data, options["bins"], native.matrix)


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
    pictures=_pictures,
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
        Continuous factors are cut into ``bins``.
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
        crossed = crossed_deviations(state.standardised(), labels, n_levels, **how)
        grouped = state.groups is not None
        crossed = _of_groups(crossed, state, labels, how) if grouped else replace(crossed, deviation=state.deviations())
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


def _of_groups(crossed: CrossedIRS, data: Data, labels: NDArray[np.intp], how: dict[str, Any]) -> CrossedIRS:
    """Return deviations of codes of several columns: distances of vectors of standardised columns from their mean."""
    from demele.estimation.joint_codes import vector_robustness

    groups = data.groups.columns if data.groups is not None else ()
    codes, of_columns = data.standardised(), data.deviations()
    matrix, largest, deviation = np.full((len(groups), labels.shape[1]), np.nan), np.zeros(len(groups)), []
    for place, own in enumerate(map(list, groups)):
        deviation.append(float(np.sqrt(np.square(of_columns[own]).mean())))
        if len(own) == 1:
            matrix[place], largest[place] = crossed.matrix[own[0]], crossed.max_deviation[own[0]]
        else:
            matrix[place], largest[place] = vector_robustness(codes[:, own], labels, **how)
    inactive = ~(largest > 0)
    return replace(crossed, matrix=matrix, max_deviation=largest, deviation=np.asarray(deviation), inactive=inactive)
