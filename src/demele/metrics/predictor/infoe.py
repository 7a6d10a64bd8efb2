"""InfoE: the share of each factor that linear predictors of all codes know (Hsu et al. 2023)."""

from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from demele.core.arrays import Floats
from demele.core.kinds import Count, Positive
from demele.core.results import Note
from demele.estimation.information import entropy, mean_of_defined
from demele.metrics.data import Data
from demele.metrics.metric import Guards, Metric, Native, Streams
from demele.metrics.options import RunOptions
from demele.metrics.splits import factor_splits, fewer_than_asked

#: A code of at most so many values, each with several rows, is quantised.
MOST_VALUES, ROWS_PER_VALUE = 32, 20


def design(data: Data, encoding: str) -> Floats:
    """Return the columns that predict: standardised codes, or an indicator of each value of quantised ones."""
    codes, standardised = data.codes.dense(), data.standardised()
    columns: list[Floats] = []
    for index in range(data.codes.d):
        values = np.unique(codes[:, index]) if encoding != "standard" else codes[:0, index]
        few = len(values) <= MOST_VALUES and len(values) * ROWS_PER_VALUE <= data.n
        if encoding == "one-hot" or (encoding == "auto" and few):
            columns.append((codes[:, index, None] == values).astype(np.float64))
        else:
            columns.append(standardised[:, [index]])
    return np.hstack(columns)


def _unseen(name: str, n: int) -> Note:
    message = f"{n} test rows of factor {name!r} have values that no training row has; they are left out"
    return Note(code="value-without-training", message=message, subject=(name,), severity="warning")


def _of_numbers(train: Floats, test: Floats, values_train: Floats, values_test: Floats) -> float:
    """Return R2 on test rows of least squares, against the mean of the training rows."""
    mean, centre = values_train.mean(axis=0), train.mean(axis=0)
    slopes = np.linalg.lstsq(train - centre, values_train - mean, rcond=None)[0]
    nothing = float(np.square(values_test - mean).sum())
    rest = float(np.square(values_test - mean - (test - centre) @ slopes).sum())
    return 1.0 - rest / nothing if nothing > 0 else float("nan")


def _of_classes(
    train: Floats,
    test: Floats,
    labels_train: NDArray[Any],
    labels_test: NDArray[Any],
    n_classes: int,
    penalty: float,
    class_weight: str | None,
) -> float:
    """Return the share of the loss of knowing nothing that a multinomial logistic regression takes away.

    Without weights, knowing nothing costs the entropy of the classes. A regression whose classes weigh the same knows
    nothing at the logarithm of their number: the entropy in its place would make codes that know nothing negative.
    """
    from demele.estimation.logistic import linear_scores, multinomial_logistic, softmax

    labels_train, labels_test = labels_train.astype(np.intp), labels_test.astype(np.intp)
    present = np.unique(labels_train)
    balanced = class_weight == "balanced"
    shares = np.bincount(labels_test, minlength=n_classes).astype(np.float64)
    nothing = float(np.log(len(present))) if balanced else float(entropy(shares))
    if len(present) < 2 or not nothing > 0:
        return float("nan")
    coef, intercept = multinomial_logistic(train, labels_train, n_classes, C=penalty, balanced=balanced)
    likely = softmax(linear_scores(test, coef[present], intercept[present]))
    own = likely[np.searchsorted(present, labels_test), np.arange(len(labels_test))]
    loss = -float(np.log(np.maximum(own, np.finfo(float).tiny)).mean())
    return 1.0 - loss / nothing


@Metric(
    title="InfoE",
    family="predictor",
    properties=("explicitness",),
    native="per factor",
    range=(float("-inf"), 1.0),
    source="Hsu et al. 2023 (InfoMEC)",
    references=("hsu2023disentanglement",),
    definition="share of the loss of knowing nothing that a linear predictor of all codes takes away",
    aliases=("InfoE",),
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
    columns = design(data, encoding)
    scores = np.full(data.factors.m, np.nan)
    notes = list(fewer_than_asked(data.n, n_train, n_test))
    for index, factor, train, test in factor_splits(data, n_train, n_test, score_on, streams):
        values = factor.coordinates
        parts = columns[train], columns[test], values[train], values[test]
        if not factor.categorical:
            scores[index] = _of_numbers(*parts)
            continue
        known = np.isin(parts[3], parts[2])
        if not known.all():
            notes.append(_unseen(factor.name, int((~known).sum())))
        scores[index] = _of_classes(
            parts[0], parts[1][known], parts[2], parts[3][known], len(factor.levels), penalty, class_weight
        )
    return Native(value=mean_of_defined(scores), per_factor=scores, notes=tuple(notes))
