"""Information of codes and true values, from tables of codes and noisy annotations whose errors are known.

If errors do not depend on the codes given the true value, the table of codes and annotations is the one of codes and
true values times the transition T (rows true values, columns given ones). Undoing it leaves cells that are negative by
chance. They are kept: x ln|x| is odd, so the noise of an empty cell cancels, where clipping would keep its positive
half as information.
"""

from collections.abc import Sequence

import numpy as np

from demele.core.arrays import Floats
from demele.estimation.counts import JointCounts
from demele.estimation.information import InformationTable, entropy, mutual_information

#: Added to the diagonal of counted transitions, so that a class that was never counted is right.
NEVER_COUNTED = 0.001


def without_errors(table: Floats, transition: Floats) -> Floats:
    """Undo the errors of annotations in a table of codes and annotations.

    Parameters
    ----------
    table : array of shape (..., n_rows, K)
        Counts or probabilities; columns are given values.
    transition : array of shape (..., K, K)
        Probabilities; rows are true values, columns given ones.

    Returns
    -------
    array of shape (..., n_rows, K)
        Columns are true values. Cells may be negative by chance.

    Examples
    --------
    >>> given = np.array([[0.28, 0.12], [0.12, 0.48]])
    >>> ((7 * without_errors(given, np.array([[0.9, 0.1], [0.2, 0.8]]))).round(6) + 0.0).tolist()
    [[2.0, 0.8], [0.0, 4.2]]
    """
    return table @ np.linalg.inv(transition)


def signed_table(counts: JointCounts, transitions: Sequence[Floats | None]) -> InformationTable:
    """Return all informations and entropies that metrics need, of true values instead of given ones.

    Parameters
    ----------
    counts : JointCounts
        Of codes and given values; columns are the classes of the transitions. Leading axes are resamples.
    transitions : sequence of arrays of shape (K, K) or (..., K, K), or None
        One per factor, undone with signs whatever it is; None for a factor that is right.

    Returns
    -------
    InformationTable
        Without tests of independence, and without informations between factors.
    """
    information, heights, joint = [], [], []
    for table, transition in zip(counts.tables, transitions, strict=True):
        of_code = entropy(table.sum(axis=-1))
        undone = table if transition is None else without_errors(table, transition[..., None, :, :])
        own, height = mutual_information(undone), entropy(undone[..., 0, :, :].sum(axis=-2))
        information.append(own)
        heights.append(height)
        joint.append(of_code + height[..., None] - own)
    return InformationTable(
        np.stack(information, axis=-1),
        np.stack(heights, axis=-1),
        np.stack(joint, axis=-1),
        None,
        counts.code_bins,
    )


def counted_transition(counts: Floats) -> Floats:
    """Return the transition of counts (..., K, K), rows true values; a class that was never counted is right."""
    filled = counts + NEVER_COUNTED * np.eye(counts.shape[-1])
    return np.asarray(filled / filled.sum(axis=-1, keepdims=True))


def audited_transition(counts: Floats, given: Floats) -> Floats:
    r"""Return the transition of partly audited rows; a class that was never counted has no errors.

    Audited rows tell which true values stand behind a given one, and all rows how often it is given:

    .. math:: T_{vw} \propto n_w \, c_{vw} / \textstyle\sum_u c_{uw}

    With a random audit, and without the codes, this is the estimate of greatest likelihood. It errs less than that of
    the audited rows alone, and undone by it no margin of true values is negative.

    Parameters
    ----------
    counts : array of shape (..., K, K)
        Of the audited rows, drawn at random from all; rows true values, columns given ones.
    given : array of shape (..., K)
        How often each value is given in all rows.

    Examples
    --------
    >>> audited_transition(np.array([[8.0, 0.0], [2.0, 10.0]]), np.array([300.0, 100.0])).round(3).tolist()
    [[1.0, 0.0], [0.375, 0.625]]
    """
    right = NEVER_COUNTED * np.eye(counts.shape[-1])
    filled = counts + right
    joint = filled / filled.sum(axis=-2, keepdims=True) * given[..., None, :] + right
    return np.asarray(joint / joint.sum(axis=-1, keepdims=True))
