"""Separated attribute predictability (Kumar et al. 2018, section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.given_data import CodeGroups
from demele.core.inputs import Factor
from demele.core.kinds import Count, Positive
from demele.core.results import Note
from demele.estimation.information import best_other, mean_of_defined, top_two
from demele.metrics.data import Data, Moments
from demele.metrics.guards import units_notes
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import RunOptions
from demele.metrics.predictor.correlations import moments_suffice
from demele.metrics.reg_dim import RegDim
from demele.metrics.splits import annotated_rows, fewer_than_asked, split

#: Codes in raw units of at most this variance predict no continuous factor: the threshold of public code.
DEAD_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class _Classified:
    """How categorical factors are predicted."""

    penalty: float
    class_weight: Literal["balanced"] | None
    score_on: str
    n_train: int | None
    n_test: int | None


def sap_of(
    matrix: Floats,
    notes: tuple[Note, ...] = (),
    *,
    majority: Mapping[str, float] | None = None,
    guesses: Floats | None = None,
    constant: NDArray[np.bool_] | None = None,
    reg_dim: NDArray[np.intp] | None = None,
) -> Native:
    """Return SAP from how well each code alone predicts each factor, (n_codes, n_factors).

    ``guesses`` is how well each factor is predicted without a code, 0 unless given: the partner of a single code, and
    what ``constant`` codes are, none unless given. A guess never wins: where no code beats it, the gap is 0, since
    balanced classifiers of codes that say nothing are less often right than the majority's class.
    ``majority`` are those of the categorical factors by name. With ``reg_dim``, the code named for a factor comes
    first, whatever its rank.
    """
    living = matrix if constant is None else matrix[~constant]
    if reg_dim is not None:
        alone = np.zeros(matrix.shape[1]) if guesses is None else guesses
        second = best_other(matrix, reg_dim)[0] if len(matrix) > 1 else alone
        gaps = matrix[reg_dim, np.arange(matrix.shape[1])] - second
    elif len(living) == len(matrix) > 1:
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


def _in_units(
    units: str, data: Data, streams: Streams, classified: _Classified, reg_dim: NDArray[np.intp] | None
) -> Native:
    from demele.estimation.univariate import squared_correlations

    raw = units == "raw"
    codes = data.codes.dense() if raw else data.standardised()
    matrix = np.zeros((data.n_codes, data.factors.m))
    constant = _constant(data)
    guesses = np.zeros(data.factors.m)
    categorical: list[int] = []
    for index, factor in enumerate(data.factors.columns):
        if factor.categorical:
            categorical.append(index)
        else:
            rows, values = annotated_rows(factor, codes)
            told = squared_correlations(rows, np.asarray(values, dtype=np.float64))
            if raw:
                told[rows.var(axis=0, ddof=1) <= DEAD_VARIANCE] = 0.0
            matrix[:, index] = told if data.groups is None else _of_groups(told, codes, factor, data.groups)
    # factors that are annotated on all rows share one split, so that each code is sorted once for all of them
    shared = [index for index in categorical if data.factors.columns[index].complete]
    for group in [shared, *([index] for index in categorical if index not in shared)]:
        if group:
            matrix[:, group], guesses[group] = _accuracies(data, codes, group, streams, classified, raw=raw)
    if not raw:  # raw codes are left to their classifiers, intercepts of constant codes included, as in public code
        matrix[constant] = guesses
    names = [data.factors.names[index] for index in categorical]
    # without balanced weights a code that says nothing is the guess, to rounding: public code's values stay as they are
    as_public = raw and classified.class_weight is None
    return sap_of(
        matrix,
        fewer_than_asked(data.n, classified.n_train, classified.n_test) if categorical else (),
        majority=dict(zip(names, guesses[categorical].tolist(), strict=True)),
        guesses=guesses,
        constant=None if as_public else constant,
        reg_dim=reg_dim,
    )


def _constant(data: Data) -> NDArray[np.bool_]:
    """Return which codes do not vary; a group varies if any of its columns does."""
    varies = data.summed_by_code(np.where(data.codes.constant, 0.0, 1.0))
    return np.asarray(varies == 0)


def _of_groups(told: Floats, codes: Floats, factor: Factor, groups: CodeGroups) -> Floats:
    """Return how well each group predicts a continuous factor: several columns by multiple regression."""
    from demele.estimation.joint_codes import share_beyond_chance
    from demele.estimation.linear_recovery import Basis

    rows, values = annotated_rows(factor, codes)
    return np.array(
        [
            told[columns[0]]
            if len(columns) == 1
            else share_beyond_chance(Basis.of(rows[:, list(columns)]), np.asarray(values, dtype=np.float64))
            for columns in groups.columns
        ]
    )


def _accuracies(
    data: Data, codes: Floats, group: list[int], streams: Streams, classified: _Classified, *, raw: bool
) -> tuple[Floats, Floats]:
    """Accuracies of single-code classifiers for categorical factors that are annotated on the same rows.

    The second array holds the accuracy of the majority class as the guess on each factor.
    """
    from demele.estimation.one_code_classifiers import raw_classifier_accuracy_matrix
    from demele.estimation.univariate import linear_classifier_accuracy_matrix, majority_accuracies, true_accuracies

    factors = [data.factors.columns[index] for index in group]
    rows = np.flatnonzero(factors[0].annotated())
    train = test = rows
    if classified.score_on == "unseen":
        parts = split(
            len(rows),
            classified.n_train,
            classified.n_test,
            streams("rows", *group),
            f"factor {factors[0].name!r}",
        )
        train, test = rows[parts[0]], rows[parts[1]]
    codes_train = codes[train]
    codes_test = codes_train if test is train else codes[test]
    labels_train = [np.asarray(factor.values[train], dtype=np.intp) for factor in factors]
    labels_test = [np.asarray(factor.values[test], dtype=np.intp) for factor in factors]
    penalty, weights = classified.penalty, classified.class_weight
    if raw:
        accuracies = raw_classifier_accuracy_matrix(
            codes_train, labels_train, codes_test, labels_test, C=penalty, class_weight=weights
        )
    else:
        levels = [len(factor.levels) for factor in factors]
        accuracies = linear_classifier_accuracy_matrix(
            codes_train, labels_train, codes_test, labels_test, n_classes=levels, C=penalty, class_weight=weights
        )
    if data.groups is not None:
        columns = accuracies
        accuracies = np.empty((data.n_codes, len(group)))
        for place, own in enumerate(map(list, data.groups.columns)):
            accuracies[place] = columns[own[0]]
            if len(own) > 1:
                accuracies[place] = raw_classifier_accuracy_matrix(
                    codes_train, labels_train, codes_test, labels_test, groups=[own], C=penalty, class_weight=weights
                )[0]
    guesses = majority_accuracies(labels_train, labels_test)
    for place, factor in enumerate(factors):
        transition = None if raw else data.transition_of(factor)
        if transition is not None:
            ends = codes_train, labels_train[place], codes_test, labels_test[place]
            accuracies[:, place], guesses[place] = true_accuracies(*ends, transition, C=penalty, class_weight=weights)
    return accuracies, guesses


@Metric(
    title="SAP",
    family="predictor",
    properties=("compactness",),
    native="per factor",
    range=(0.0, 1.0),
    source="Kumar et al. 2018, section 3",
    references=("kumar2018variational",),
    definition="gap between the two codes that alone predict a factor best: squared correlation, or accuracy",
    aliases=("SAP", "SAP_score", "SeparateAttributePredictability"),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50),
    screened=True,
    of_each_code=True,
    in_groups=True,
    corrected_by=("transition",),
    on_circles=True,
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
        return sap_of(matrix, reg_dim=named)
    classified = _Classified(penalty, class_weight, score_on, n_train, n_test)
    native = _in_units(units, state, streams, classified, named)
    if units == "standard":
        return native
    standardised = _in_units("standard", state, streams, classified, named)
    return replace(native, notes=native.notes + units_notes(float(native.value), float(standardised.value)))
