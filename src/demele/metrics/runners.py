"""One function per group of metrics that share a computation: rows and options in, native values out."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import NotEnoughData
from demele.core.inputs import Factor
from demele.core.results import Note
from demele.estimation.gaps import top_two
from demele.metrics.data import Data
from demele.metrics.fragility import FRAGILE, pruned_notes, units_notes
from demele.metrics.native import Array, Native, mean_of_defined
from demele.metrics.predictor.dci import (
    compactness_of_factors,
    mean_compactness,
    modularity_of_codes,
    weighted_modularity,
)

if TYPE_CHECKING:
    from demele.estimation.extremes import CrossedIRS

__all__ = ["DEAD_VARIANCE", "RUNNERS", "irs_native", "sap_native"]

#: Up to so many training rows a fixed penalty of the probes is worth a second look.
PENALTY_MATTERS = 5_000
#: Half of the groups of Z-max variance with so few rows, and the votes are noise.
THIN_GROUP = 3

#: Options of DCI that its predictors know nothing of.
_OF_DCI = ("model", "informativeness", "factor_weights", "report")

#: Codes in raw units of at most this variance predict no continuous factor: the threshold of public code.
DEAD_VARIANCE = 1e-12

#: Returns the generator of a named part of the work.
Streams = Callable[..., np.random.Generator]
Options = Mapping[str, Any]
Runner = Callable[[Data, Options, Streams], dict[str, Native]]


def _rows_of(factor: Factor, codes: Array) -> tuple[Array, Array]:
    """Return the codes and the values on the rows where the factor is annotated."""
    if factor.complete:
        return codes, factor.values
    rows = factor.annotated()
    return codes[rows], factor.values[rows]


def _fewer_than_asked(n: int, options: Options) -> tuple[Note, ...]:
    """Say so where a split of the sizes asked for is scaled down to the rows that there are."""
    asked = (options.get("n_train") or 0) + (options.get("n_test") or 0)
    if asked <= n:
        return ()
    message = f"the split asked for needs {asked:,} rows; with {n:,} it was scaled down in proportion"
    return (Note(code="scaled-split", message=message, severity="warning"),)


def _sizes(n: int, n_train: int | None, n_test: int | None) -> tuple[int, int]:
    """Return sizes of training and test rows: as asked for, or halves; scaled down where rows are too few."""
    if n_train is None and n_test is None:
        n_train = n // 2
    train = max(n - (n_test or 0), 0) if n_train is None else n_train
    test = n - train if n_test is None else n_test
    if train + test > n:
        train = n * train // (train + test)
        test = n - train
    return train, test


def _split(n: int, options: Options, rng: np.random.Generator, what: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows at random into training and test rows."""
    n_train, n_test = _sizes(n, options["n_train"], options["n_test"])
    if min(n_train, n_test) < 2:
        raise NotEnoughData(what, f"expected at least 4 annotated rows to split into training and test, got {n}")
    order = rng.permutation(n)
    return np.sort(order[:n_train]), np.sort(order[n_train : n_train + n_test])


# DCI -----------------------------------------------------------------------------------------------------------------


def _run_dci(model: str) -> Runner:
    def run(data: Data, options: Options, streams: Streams) -> dict[str, Native]:
        from demele.estimation import importance as estimators

        fit = getattr(estimators, f"{model}_importance")
        own = {name: value for name, value in options.items() if name not in _OF_DCI}
        codes = data.standardised()
        importance = np.zeros((data.codes.d, data.factors.m))
        explicitness = np.empty(data.factors.m)
        unclipped = np.empty(data.factors.m)
        settings = {}
        for index, factor in enumerate(data.factors.columns):
            rows, values = _rows_of(factor, codes)
            if factor.categorical:
                values = np.asarray(values, dtype=np.intp)
            else:  # to the unit interval: the unit of a factor must not matter to a solver's tolerance
                values = (np.asarray(values, dtype=np.float64) - factor.low) / (factor.high - factor.low)
            if own.get("n_train") or own.get("n_test"):
                own["n_train"], own["n_test"] = _sizes(len(rows), options["n_train"], options["n_test"])
            fitted = fit(rows, values, categorical=factor.categorical, rng=streams("factor", index), **own)
            importance[:, index] = fitted.importance
            unclipped[index] = _informativeness(fitted, factor, options)
            explicitness[index] = max(unclipped[index], 0.0)
            settings[factor.name] = dict(fitted.settings)
        notes = _fewer_than_asked(data.n, options)
        weights = options["factor_weights"]
        return _dci_natives(f"dci_{model}", importance, explicitness, unclipped, settings, notes, weights)

    return run


def _informativeness(fitted: Any, factor: Factor, options: Options) -> float:
    if factor.categorical:
        if options["report"] == "unscaled":
            return float(fitted.score)
        if fitted.chance >= 1:
            return float("nan")
        return float((fitted.score - fitted.chance) / (1 - fitted.chance))
    if options["informativeness"] == "uniform-6":  # source equation 1.5, on factors scaled to [0, 1]
        return float(1 - 6 * fitted.mse)
    return float(fitted.score)


def _dci_natives(
    name: str,
    importance: Array,
    explicitness: Array,
    unclipped: Array,
    settings: Mapping[str, Any],
    notes: tuple[Note, ...],
    factor_weights: str,
) -> dict[str, Native]:
    per_code, weights = modularity_of_codes(importance)
    of_modularity = notes
    if not importance.any():
        of_modularity += (
            Note(code="no-importance", message="no code helps to predict any factor: modularity counts as 0"),
        )
    details: dict[str, Any] = {"predictors": dict(settings)}
    return {
        f"{name}_modularity": Native(
            value=np.asarray(weighted_modularity(per_code, weights)),
            per_code=per_code,
            details={**details, "weights": weights},
            notes=of_modularity,
            matrix=importance,
            matrix_of="importance",
        ),
        f"{name}_compactness": Native(
            value=np.asarray(mean_compactness(importance, factor_weights)),
            per_factor=compactness_of_factors(importance),
            details=details,
            notes=notes,
            matrix=importance,
            matrix_of="importance",
        ),
        f"{name}_explicitness": Native(
            value=mean_of_defined(explicitness),
            per_factor=explicitness,
            details={**details, "unclipped": unclipped},
            notes=notes,
            matrix=importance,
            matrix_of="importance",
        ),
    }


# Explicitness and SAP ------------------------------------------------------------------------------------------


def _run_explicitness(data: Data, options: Options, streams: Streams) -> dict[str, Native]:
    from demele.estimation.logistic import explicitness_by_value

    labels, n_levels = data.factor_labels(options["bins"])
    codes = data.standardised()
    scores = np.full(data.factors.m, np.nan)
    freer = np.full(data.factors.m, np.nan)
    by_value: dict[str, Any] = {}
    notes = list(_fewer_than_asked(data.n, options))
    # one split of the rows for all factors, where all are annotated: the probes then share their products of codes
    shared = _split(data.n, options, streams("rows"), "codes") if data.factors.complete else None
    for index, factor in enumerate(data.factors.columns):
        rows = np.flatnonzero(labels[:, index] >= 0)
        train, test = shared or tuple(
            rows[part] for part in _split(len(rows), options, streams("factor", index), f"factor {factor.name!r}")
        )
        if options["score_on"] == "training":
            train = test = rows
        n_values = n_levels[index]

        def aucs_at(penalty: float) -> Array:
            return explicitness_by_value(
                codes,
                labels[:, index],  # noqa: B023 - called within this turn of the loop
                n_values,  # noqa: B023
                train_rows=train,  # noqa: B023
                test_rows=test,  # noqa: B023
                classifier=options["classifier"],
                probabilities=options["probabilities"],
                scaling=options["scaling"],
                C=penalty,
                balanced=options["class_weight"] == "balanced",
            )

        aucs = aucs_at(options["penalty"])
        if len(train) <= PENALTY_MATTERS:
            freer[index] = mean_of_defined(_reported(aucs_at(100 * options["penalty"]), 0.5, options))
        occupied = np.bincount(labels[rows, index], minlength=n_values) > 0
        undefined = np.flatnonzero(occupied & np.isnan(aucs))
        if len(undefined):
            notes.append(
                Note(
                    code="value-without-auc",
                    message=f"{len(undefined)} of {int(occupied.sum())} values of factor {factor.name!r} are too rare "
                    "to be both in the training and in the test rows; they are left out",
                    subject=(factor.name,),
                    severity="warning",
                )
            )
        by_value[factor.name] = _reported(aucs, 0.5, options)
        scores[index] = mean_of_defined(by_value[factor.name])
    value, free = float(mean_of_defined(scores)), float(mean_of_defined(freer))
    if abs(free - value) > FRAGILE:
        message = (
            "the penalty of the probes decides much of it: "
            f"with penalty={100 * options['penalty']:g} it would be {free:.3f} instead of {value:.3f}"
        )
        notes.append(Note(code="penalty", message=message, severity="fragile"))
    return {
        "explicitness": Native(
            value=mean_of_defined(scores), per_factor=scores, details={"by_value": by_value}, notes=tuple(notes)
        )
    }


def _run_sap(data: Data, options: Options, streams: Streams) -> dict[str, Native]:
    native = _sap_in(options["units"], data, options, streams)
    if options["units"] == "standard":
        return {"sap": native}
    standardised = _sap_in("standard", data, options, streams)
    return {"sap": replace(native, notes=native.notes + units_notes(float(native.value), float(standardised.value)))}


def _sap_in(units: str, data: Data, options: Options, streams: Streams) -> Native:
    from demele.estimation.univariate import squared_correlations

    raw = units == "raw"
    codes = data.codes.dense() if raw else data.standardised()
    matrix = np.zeros((data.codes.d, data.factors.m))
    guesses = np.zeros(data.factors.m)
    categorical: list[int] = []
    for index, factor in enumerate(data.factors.columns):
        if factor.categorical:
            categorical.append(index)
        else:
            rows, values = _rows_of(factor, codes)
            matrix[:, index] = squared_correlations(rows, np.asarray(values, dtype=np.float64))
            if raw:
                matrix[rows.var(axis=0, ddof=1) <= DEAD_VARIANCE, index] = 0.0
    # factors that are annotated on all rows share one split, so that each code is sorted once for all of them
    shared = [index for index in categorical if data.factors.columns[index].complete]
    for group in [shared, *([index] for index in categorical if index not in shared)]:
        if group:
            matrix[:, group], guesses[group] = _accuracies(data, codes, group, options, streams, raw=raw)
    if not raw:  # raw codes are left to their classifiers, intercepts of constant codes included, as in public code
        matrix[data.codes.constant] = guesses
    names = [data.factors.names[index] for index in categorical]
    # without balanced weights a code that says nothing is the guess, to rounding: public code's values stay as they are
    as_public = raw and options["class_weight"] is None
    return sap_native(
        matrix,
        _fewer_than_asked(data.n, options) if categorical else (),
        majority=dict(zip(names, guesses[categorical].tolist(), strict=True)),
        guesses=guesses,
        constant=None if as_public else data.codes.constant,
    )


def sap_native(
    matrix: Array,
    notes: tuple[Note, ...] = (),
    *,
    majority: Mapping[str, float] | None = None,
    guesses: Array | None = None,
    constant: NDArray[np.bool_] | None = None,
) -> Native:
    """Return SAP from how well each code alone predicts each factor, (n_codes, n_factors).

    ``guesses`` is how well each factor is predicted without a code, 0 unless given: the partner of a single code, and
    what ``constant`` codes are, none unless given. A guess never wins: where no code beats it, the gap is 0, since
    balanced classifiers of codes that say nothing are less often right than the majority's class.
    ``majority`` are those of the categorical factors by name.
    """
    living = matrix if constant is None else matrix[~constant]
    if len(living) == len(matrix) > 1:
        first, second = top_two(matrix, axis=0)
        gaps = first - second
    else:
        guess = np.zeros(matrix.shape[1]) if guesses is None else guesses
        # twice the guess: it stands for both partners where no code varies
        first, second = top_two(np.vstack([living, guess, guess]), axis=0)
        best = living.max(axis=0) if len(living) else guess
        gaps = np.where(best < guess, 0.0, first - second)
    return Native(
        value=mean_of_defined(gaps),
        per_factor=gaps,
        matrix=matrix,
        matrix_of="squared correlation, or accuracy for categorical factors",
        details={"majority": dict(majority)} if majority else {},
        notes=notes,
    )


def _accuracies(
    data: Data, codes: Array, group: list[int], options: Options, streams: Streams, *, raw: bool
) -> tuple[Array, Array]:
    """Accuracies of single-code classifiers for categorical factors that are annotated on the same rows.

    The second array holds the accuracy of the majority class as the guess on each factor.
    """
    from demele.estimation.raw_classifiers import raw_classifier_accuracy_matrix
    from demele.estimation.univariate import linear_classifier_accuracy_matrix, majority_accuracies

    factors = [data.factors.columns[index] for index in group]
    rows = np.flatnonzero(factors[0].annotated())
    train = test = rows
    if options["score_on"] == "unseen":
        parts = _split(len(rows), options, streams("rows", *group), f"factor {factors[0].name!r}")
        train, test = rows[parts[0]], rows[parts[1]]
    codes_train = codes[train]
    codes_test = codes_train if test is train else codes[test]
    labels_train = [np.asarray(factor.values[train], dtype=np.intp) for factor in factors]
    labels_test = [np.asarray(factor.values[test], dtype=np.intp) for factor in factors]
    fitted = {"C": options["penalty"], "class_weight": options["class_weight"]}
    if raw:
        accuracies = raw_classifier_accuracy_matrix(codes_train, labels_train, codes_test, labels_test, **fitted)
    else:
        levels = [len(factor.levels) for factor in factors]
        accuracies = linear_classifier_accuracy_matrix(
            codes_train, labels_train, codes_test, labels_test, n_classes=levels, **fitted
        )
    return accuracies, majority_accuracies(labels_train, labels_test)


# Interventions ------------------------------------------------------------------------------------------


def _reported(share: float | Array, chance: float, options: Options) -> Array:
    """Accuracies or areas above chance, or as they are."""
    if options["report"] == "unscaled":
        return np.asarray(share)
    return np.asarray((share - chance) / (1 - chance))


def _run_z_diff(data: Data, options: Options, streams: Streams) -> dict[str, Native]:
    from demele.estimation.groups import Units, z_diff_accuracy, z_diff_points
    from demele.estimation.raw_classifiers import raw_logistic_accuracy

    labels, _ = data.factor_labels(options["bins"])

    def accuracy_in(units: Units) -> float:
        codes = data.codes.dense() if units == "raw" else data.standardised()
        rng = streams("points")
        sizes = {"batch_size": options["batch_size"], "rng": rng, "factor_names": data.factors.names, "units": units}
        train = z_diff_points(codes, labels, n_points=options["n_train"], **sizes)
        test = z_diff_points(codes, labels, n_points=options["n_test"], **sizes)
        return raw_logistic_accuracy(*train, *test) if units == "raw" else z_diff_accuracy(*train, *test)

    accuracy = accuracy_in(options["units"])
    value = _reported(accuracy, 1 / data.factors.m, options)
    notes: tuple[Note, ...] = ()
    if options["units"] == "raw":
        notes = units_notes(float(value), float(_reported(accuracy_in("standard"), 1 / data.factors.m, options)))
    return {"z_diff": Native(value=value, details={"accuracy": accuracy}, notes=notes)}


def _run_z_min(data: Data, options: Options, streams: Streams) -> dict[str, Native]:
    from demele.estimation.group_votes import majority_vote_accuracy, z_min_votes

    labels, _ = data.factor_labels(options["bins"])
    codes = data.standardised()
    d, m = data.codes.d, data.factors.m
    pruned = data.deviations() < options["prune_below"]

    def accuracy_without(inactive: NDArray[np.bool_]) -> float:
        rng = streams("votes")
        names = data.factors.names
        sizes = {"batch_size": options["batch_size"], "rng": rng, "factor_names": names, "inactive_codes": inactive}
        train = z_min_votes(codes, labels, n_votes=options["n_train"], **sizes)
        test = z_min_votes(codes, labels, n_votes=options["n_test"], **sizes)
        return majority_vote_accuracy(train, test, d, m)

    # with nothing to vote, public code says 0; above chance it is chance, which is what a constant vote comes to
    silent = options["report"] == "unscaled" and bool((pruned | data.codes.constant).all())
    accuracy = 0.0 if silent else accuracy_without(pruned)
    value = _reported(accuracy, 1 / m, options)
    notes: tuple[Note, ...] = ()
    alive = pruned & ~data.codes.constant
    if alive.any():
        whole = float(_reported(accuracy_without(np.zeros(d, dtype=bool)), 1 / m, options))
        names = tuple(name for name, below in zip(data.codes.names, alive, strict=True) if below)
        notes = pruned_notes(float(value), whole, names, options["prune_below"])
    return {"z_min_variance": Native(value=value, details={"accuracy": accuracy}, notes=notes)}


def _run_z_max(data: Data, options: Options, streams: Streams) -> dict[str, Native]:
    from demele.estimation.group_votes import majority_vote_accuracy, z_max_votes
    from demele.estimation.groups import complement_groups

    labels, _ = data.factor_labels(options["bins"])
    codes = data.standardised()
    rng = streams("votes")
    names = data.factors.names
    sizes = {"batch_size": options["batch_size"], "rng": rng, "factor_names": names}
    *train, n_groups = z_max_votes(codes, labels, n_votes=options["n_train"], **sizes)
    *test, _ = z_max_votes(codes, labels, n_votes=options["n_test"], **sizes)
    d, m = data.codes.d, data.factors.m
    accuracy = majority_vote_accuracy((train[0], train[1]), (test[0], test[1]), d, m)
    usable = {name: int(groups) for name, groups in zip(names, n_groups, strict=True)}
    complete = int((labels >= 0).all(axis=1).sum())
    notes = []
    thin = [name for name, groups in usable.items() if groups == 0]
    if thin:
        listed = ", ".join(repr(name) for name in thin)
        message = f"no two rows agree on all factors but {listed}: it is never left free; use fewer bins or factors"
        notes.append(Note(code="no-groups", message=message, subject=tuple(thin), severity="fragile"))
    sizes_of = {
        name: float(np.median(groups.counts))
        for name, groups in zip(names, complement_groups(labels), strict=True)
        if len(groups.counts)
    }
    text = ", ".join(f"{name} {groups}" for name, groups in usable.items())
    message = (
        f"groups of rows that agree on all factors but one ({complete} rows): {text}; "
        f"median size {min(sizes_of.values()):.0f} to {max(sizes_of.values()):.0f} rows"
    )
    thin_groups = min(sizes_of.values()) <= THIN_GROUP
    if thin_groups:
        message += ", whose variance says little: use fewer bins, factors or more rows"
    notes.append(Note(code="usable-groups", message=message, severity="fragile" if thin_groups else "info"))
    return {
        "z_max_variance": Native(
            value=_reported(accuracy, 1 / m, options),
            details={"accuracy": accuracy, "usable_groups": usable},
            notes=tuple(notes),
        )
    }


def _run_irs(data: Data, options: Options, streams: Streams) -> dict[str, Native]:
    from demele.estimation.extremes import crossed_deviations

    labels, n_levels = data.factor_labels(options["bins"])
    crossed = crossed_deviations(
        data.standardised(),
        labels,
        n_levels,
        quantile=options["quantile"],
        normaliser=options["normaliser"],
        value_weights=options["value_weights"],
    )
    return {"irs": irs_native(replace(crossed, deviation=data.deviations()), options)}


def irs_native(crossed: "CrossedIRS", options: Options) -> Native:
    """Return IRS from the deviations of codes within the values of factors; ``deviation`` in the codes' own units."""
    from demele.estimation.extremes import irs_score

    uniform = options["weights"] == "uniform"
    per_code, value = irs_score(crossed.matrix, crossed.max_deviation, "uniform" if uniform else "deviation")
    notes: tuple[Note, ...] = ()
    if options["weights"] == "raw-deviation":
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


RUNNERS: dict[str, Runner] = {
    "dci_forest": _run_dci("forest"),
    "dci_lasso": _run_dci("lasso"),
    "dci_boosting": _run_dci("boosting"),
    "explicitness": _run_explicitness,
    "sap": _run_sap,
    "z_diff": _run_z_diff,
    "z_min_variance": _run_z_min,
    "z_max_variance": _run_z_max,
    "irs": _run_irs,
}
