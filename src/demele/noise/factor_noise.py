"""Knowledge of the errors of one annotated factor, in addition to transitions: audits and annotators."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from demele.core.errors import InputError, NotEnoughData, quoted
from demele.core.kinds import checked_count, checked_number
from demele.core.table_columns import items_of
from demele.noise.transition import TransitionMatrix

#: Problem and fix of an audit of another design.
_OTHER_DESIGNS = {
    "selective": (
        "rows that were chosen because they looked wrong do not represent the others",
        "draw rows at random, with demele.labels.draw_audit(n, size), and have these annotated",
    ),
    "weighted": (
        "scores are corrected from uniform audits, got a weighted one",
        "draw rows at random without disagreement=, with demele.labels.draw_audit(n, size)",
    ),
}


def refuse_other_designs(design: str) -> None:
    """Refuse audits of factors whose rows were not drawn uniformly, with what would help."""
    if design != "uniform":
        raise InputError("design", *_OTHER_DESIGNS.get(design, (f"expected 'uniform', got {quoted(design)}",)))


def matrix_of_annotators(matrices: Sequence[Any] | Mapping[Any, Any], argument: str = "matrices") -> TransitionMatrix:
    """Return the transition of a factor if each row has one of several annotators, all equally often.

    Parameters
    ----------
    matrices : sequence or mapping of TransitionMatrix, or of arrays of shape (K, K)
        Confusion matrices of three or more annotators, as :func:`demele.labels.dawid_skene` estimates them: row = true
        value, column = given value.
    argument : str
        What messages call them.

    Returns
    -------
    TransitionMatrix
        The mean of theirs.

    Raises
    ------
    NotEnoughData
        Of fewer than three: two annotations of the same rows do not tell how their annotators err.
    InputError
        If the matrices differ in size or in classes.

    Examples
    --------
    >>> one, other = [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]
    >>> matrix_of_annotators([one, other, other]).probabilities.round(3).tolist()
    [[0.833, 0.167], [0.167, 0.833]]
    """
    tables = matrices.values() if isinstance(matrices, Mapping) else matrices
    items = items_of(tables, argument, "a matrix of each annotator")
    read = [one if isinstance(one, TransitionMatrix) else TransitionMatrix(one) for one in items]
    if len(read) < 3:
        raise NotEnoughData(
            argument,
            f"got the confusion matrices of {len(read)} annotators; two annotations of the same rows do not give the "
            "errors: their table is symmetric, with fewer entries than unknowns",
            "add a third independent annotator, or an audit of rows drawn at random; under the declared "
            "assumption that all errors are equally likely, demele.labels.transition_from_agreement needs two only",
        )
    if any((one.k, one.classes) != (read[0].k, read[0].classes) for one in read):
        raise InputError(argument, "expected matrices of the same classes, in the same order, for all annotators")
    return TransitionMatrix(np.mean([one.probabilities for one in read], axis=0), read[0].classes)


def transition_from_agreement(agreement: float, n_classes: int) -> TransitionMatrix:
    """Return the matrix of uniform errors that explains the agreement of two annotators.

    It holds only if both err at one rate, whatever the true class, with all wrong classes equally likely, and
    independently of each other: nothing in two annotations can show that they do.

    Parameters
    ----------
    agreement : float in (1 / n_classes, 1]
        Share of the rows on which they agree.
    n_classes : int >= 2

    Returns
    -------
    TransitionMatrix
        Of rate r, the root below (K - 1) / K of agreement = (1 - r)^2 + r^2 / (K - 1).

    Raises
    ------
    InputError

    Examples
    --------
    >>> round(float(transition_from_agreement(0.82, 2).probabilities[0, 1]), 6)
    0.1
    """
    k = checked_count(n_classes, "n_classes", 2)
    share = checked_number(
        agreement,
        "agreement",
        f"a share above {1 / k:g}, what annotators who guess agree on, and at most 1",
        inside=lambda share: 1 / k < share <= 1,
    )
    rate = (k - 1) / k * (1 - np.sqrt(1 - k / (k - 1) * (1 - share)))
    table = np.full((k, k), rate / (k - 1))
    np.fill_diagonal(table, 1 - rate)
    return TransitionMatrix(table)
