"""Explicitness score of Ridgeway and Mozer (2018, section 3): how well probes of the codes tell each value."""

from typing import Any, Literal, Unpack

import numpy as np

from demele.core.arrays import Floats
from demele.core.kinds import Count, Positive
from demele.core.results import Note
from demele.estimation.information import mean_of_defined
from demele.metrics.data import Data
from demele.metrics.guards import FRAGILE
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import Bins, RunOptions
from demele.metrics.splits import above, factor_splits, fewer_than_asked

#: Up to so many training rows a fixed penalty of the probes is worth a second look.
PENALTY_MATTERS = 5_000


@Metric(
    title="Explicitness",
    family="predictor",
    properties=("explicitness",),
    native="per factor",
    range=(-1.0, 1.0),
    source="Ridgeway & Mozer 2018, section 3",
    references=("ridgeway2018learning",),
    definition="2 AUC - 1 of one-vs-rest logistic regressions on the codes, mean over the factor's values",
    aliases=("Explicitness", "explicitness_score"),
    guards=Guards(outliers="move it", bins=False, fewest_rows=50, rows_per_value=5),
    undefined="no value of them is both in the training and in the test rows",
    slow=1,
    probe=("penalty", (1.0, 0.25, 0.5, 2.0, 4.0)),
    in_groups=True,
    corrected_by=("transition",),
)
def explicitness(
    data: Data,
    streams: Streams,
    *,
    bins: Bins = 10,
    classifier: Literal["one-vs-rest", "multinomial"] = "one-vs-rest",
    probabilities: Literal["normalised", "raw"] = "normalised",
    penalty: Positive = 1.0,
    class_weight: Literal["balanced"] | None = "balanced",
    scaling: Literal["min-max", "standard"] = "min-max",
    score_on: Literal["unseen", "training"] = "unseen",
    n_train: Count | None = None,
    n_test: Count | None = None,
    report: Literal["above-chance", "unscaled"] = "above-chance",
    **run: Unpack[RunOptions],
) -> Native:
    """Explicitness score: accuracy of linear classifiers of the values of each factor from the codes.

    For each value of a factor, the area under the ROC curve of a logistic regression of that value against the rest;
    2 AUC - 1, mean over values, then over factors.

    Parameters
    ----------
    codes : array-like of shape (n_samples, n_codes), real, finite
        Any unit: codes are scaled on the training rows.
    factors : array-like of shape (n_samples, n_factors) or (n_samples,)
        Continuous factors are cut into ``bins``.
    bins : int, str, Binning or edges, default 10
    classifier : {"one-vs-rest", "multinomial"}
    probabilities : {"normalised", "raw"}
        One-vs-rest probabilities divided by their sum over the values, as a multi-class classifier gives them, or each
        as it is. Matters for a factor that one code follows monotonically: one linear function cannot detect its middle
        values, so ``"raw"`` gives a perfect code about 0.56.
    penalty : float, default 1.0
        Inverse strength C of the quadratic penalty.
    class_weight : {"balanced", None}
        Whether all values weigh the same in training, or all rows.
    scaling : {"min-max", "standard"}
    score_on : {"unseen", "training"}
        Rows on which the AUC is measured. On the training rows noise scores above 0.
    n_train, n_test : int, optional
        Rows of the split; halves by default.
    report : {"above-chance", "unscaled"}
        2 AUC - 1, or the AUC itself, as disentanglement_lib reports it.
    **run
        Keywords of every metric, see :func:`demele.evaluate`.

    Returns
    -------
    Score
        value in [-1, 1], best 1, chance 0 (unscaled: in [0, 1], chance 0.5); ``per_factor``;
        ``details["by_value"]``: of each value of each factor.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    Ridgeway & Mozer 2018, section 3.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> shape = rng.integers(0, 3, 600)
    >>> codes = np.eye(3)[shape] + 0.01 * rng.normal(size=(600, 3))
    >>> round(demele.metrics.explicitness(codes, shape).value, 2)
    1.0
    """
    from demele.estimation.logistic import explicitness_by_value

    labels, n_levels = data.factor_labels(bins)
    codes = data.standardised()
    scores = np.full(data.factors.m, np.nan)
    freer = np.full(data.factors.m, np.nan)
    by_value: dict[str, Any] = {}
    notes = list(fewer_than_asked(data.n, n_train, n_test))
    for index, factor, train, test in factor_splits(data, n_train, n_test, score_on, streams):
        n_values = n_levels[index]

        def aucs_at(strength: float) -> Floats:
            return explicitness_by_value(
                codes,
                labels[:, index],  # noqa: B023 - called within this turn of the loop
                n_values,  # noqa: B023
                train_rows=train,  # noqa: B023
                test_rows=test,  # noqa: B023
                classifier=classifier,
                probabilities=probabilities,
                scaling=scaling,
                C=strength,
                balanced=class_weight == "balanced",
                transition=data.transition_of(factor),  # noqa: B023
            )

        aucs = aucs_at(penalty)
        if len(train) <= PENALTY_MATTERS and not data.drawn_from:  # what a part would say of it, nobody reads
            freer[index] = mean_of_defined(above(aucs_at(100 * penalty), 0.5, report))
        occupied = np.bincount(labels[labels[:, index] >= 0, index], minlength=n_values) > 0
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
        by_value[factor.name] = above(aucs, 0.5, report)
        scores[index] = mean_of_defined(by_value[factor.name])
    value, free = float(mean_of_defined(scores)), float(mean_of_defined(freer))
    if abs(free - value) > FRAGILE:
        message = (
            "the penalty of the probes decides much of it: "
            f"with penalty={100 * penalty:g} it would be {free:.3f} instead of {value:.3f}"
        )
        notes.append(Note(code="penalty", message=message, severity="fragile"))
    return Native(value=mean_of_defined(scores), per_factor=scores, details={"by_value": by_value}, notes=tuple(notes))
