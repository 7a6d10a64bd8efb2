"""Whether an audit can be the random sample that it is declared to be: exact checks, which never look at its answers.

An audit that was chosen for a reason says nothing of the rows that it left out, whatever it is called. Some choices
show: too many rows on which the classifiers disagree, too many that they contradict, too many of one class, too many
from one end of the file. What the expert says is not looked at: more wrong labels than elsewhere are a result.
"""

from dataclasses import dataclass

import numpy as np

from demele.classifiers.intervals import (
    Guard,
    SampledSum,
    drawn_p_value,
    lower_bound,
    place_p_value,
    upper_bound,
)
from demele.core.arrays import Flags, Floats
from demele.core.labelled import Labelled
from demele.core.results import Note
from demele.noise.audit import CodedAudit

#: An alarm is given where the least p-value times the number of checks is at most this.
ALARM = 0.001
#: Smaller weighted audits are not checked: the sums of their weights say too little.
LEAST_WEIGHTED = 50
#: Standard deviations from the number of rows at which the sum of the weights gives an alarm, and in which a weighted
#: count of marked rows may lie from their number.
FAR_SUM, FAR_COUNT = 5.0, 4.1


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """One check of a declared audit.

    Attributes
    ----------
    name : {"disagreements", "contradicted", "class", "place", "weights"}
    alarm : bool
        Whether a sample drawn as declared would hardly ever look like this.
    message : str
        What was counted, and what was to be expected.
    p_value : float
        Of this check, for a uniform audit, two-sided, before the number of checks is allowed for; NaN for a weighted
        one.
    """

    name: str
    alarm: bool
    message: str
    p_value: float = float("nan")


def audit_notes(data: Labelled, audit: CodedAudit) -> tuple[Note, ...]:
    """Warn of an audit that can hardly have been drawn as it is declared.

    Returns
    -------
    tuple of Note
        None, or one with the code ``"audit-not-uniform"`` or ``"audit-not-weighted"``; its subjects are the checks.
    """
    found = [check for check in audit_checks(data, audit) if check.alarm]
    if not found:
        return ()
    declared = {
        "uniform": "a simple random sample of all rows",
        "weighted": "a random sample with the probabilities supplied",
        "stratified": "two simple random samples, the second among some of the rows",
    }[audit.design]
    message = (
        f"the audit is declared {declared}, which it can hardly be: {'; '.join(check.message for check in found)}. If "
        "its rows were chosen for a reason, say so (`design='selective'`): nothing then follows for the "
        "other rows"
    )
    return (
        Note(
            code=f"audit-not-{audit.design}",
            message=message,
            subject=tuple(check.name for check in found),
            severity="warning",
        ),
    )


def audit_checks(data: Labelled, audit: CodedAudit) -> tuple[AuditCheck, ...]:
    """Hold an audit against what a random sample of the rows looks like.

    Parameters
    ----------
    data : Labelled
        Given labels, and the predictions of all classifiers at hand; with one, no two can disagree.
    audit : CodedAudit
        Of a ``"selective"`` one nothing is claimed, so nothing is checked.

    Returns
    -------
    tuple of AuditCheck

    Notes
    -----
    *Uniform.* Of M marked among n rows, the number among k audited ones is hypergeometric; p = min(1, 2 min(P(X <= x),
    P(X >= x))). Marked are rows on which any two classifiers disagree, then rows whose given label any classifier
    contradicts, then the rows of each given class (K times the least p of K classes). The mean row number is normal
    with variance (n + 1) (n - k) / (12 k). An alarm: four times the p-value is at most .001.

    *Weighted*, from 50 audited rows on. The number of marked rows (the same marks) must lie within the bounds of their
    weighted count (:mod:`demele.classifiers.intervals`, with one unseen row as heavy as the heaviest), at the error of
    4.1 standard deviations; and the sum of all weights within 5 standard deviations of n. A normal interval around the
    weighted count, with its estimated variance, is of no use here: where no row of a small class was drawn, both are 0,
    and that is an alarm in most audits of 50 rows.

    Cost: O(classifiers n).
    """
    if audit.design == "selective":
        return ()
    return _uniform(data, audit) if audit.design == "uniform" else _weighted(data, audit)


def _marks(data: Labelled) -> tuple[tuple[str, Flags], ...]:
    """Rows on which classifiers disagree, and rows that they contradict."""
    apart, against = np.zeros(data.n, np.bool_), np.zeros(data.n, np.bool_)
    for predicted in data.predictions:
        apart |= predicted != data.predictions[0]
        against |= predicted != data.labels
    return ("disagreements", apart), ("contradicted", against)


def _class_counts(data: Labelled, audit: CodedAudit, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows of each given class, and the sums of a weight and of its variance over those audited."""
    given = data.labels[audit.rows]
    among = np.bincount(data.labels, minlength=data.k).astype(np.float64)
    sums = np.bincount(given, weight, minlength=data.k).astype(np.float64)
    squares = np.bincount(given, weight * (weight - 1), minlength=data.k).astype(np.float64)
    return among, sums, squares


_WORDS = {
    "disagreements": "are disagreements of the classifiers",
    "contradicted": "have a label that a classifier contradicts",
}


def _uniform(data: Labelled, audit: CodedAudit) -> tuple[AuditCheck, ...]:
    n, k = data.n, audit.k
    marks = _marks(data)
    among, seen, _ = _class_counts(data, audit, np.ones(k))
    rows = (
        np.array([marked.sum() for _, marked in marks], float),
        np.array([m[audit.rows].sum() for _, m in marks], float),
    )
    p_values = drawn_p_value(np.r_[rows[0], among], np.r_[rows[1], seen], n, k)
    found: list[tuple[str, float, str]] = []
    for (name, _), m, x, p in zip(marks, *rows, p_values[: len(marks)], strict=True):
        found.append((name, float(p), f"{x:.0f} of {k} audited rows {_WORDS[name]}, {m * k / n:.3g} expected"))
    each = np.where(among > 0, p_values[len(marks) :], 2.0)
    worst = int(np.argmin(each))
    p = min(1.0, np.count_nonzero(among) * float(each[worst]))
    of = data.vocabulary.classes[worst]
    words = f"{int(seen[worst])} of {k} audited rows are labelled {of!r}, {among[worst] * k / n:.3g} expected"
    found.append(("class", p, words))
    mean, middle = float(audit.rows.mean()), (n - 1) / 2
    p = place_p_value(audit.rows, n)
    found.append(("place", p, f"their mean row number is {mean:.1f}, {middle:.1f} expected of {n} rows"))
    return tuple(AuditCheck(name, len(found) * p <= ALARM, words, p) for name, p, words in found)


def _weighted(data: Labelled, audit: CodedAudit) -> tuple[AuditCheck, ...]:
    from scipy.special import ndtr

    if audit.k < LEAST_WEIGHTED:
        return ()
    weight = 1 / audit.inclusion
    variance, error = weight * (weight - 1), float(ndtr(-FAR_COUNT))
    guard = Guard(weight.max(), np.ones(()))
    found = []

    def outside(m: Floats, y: Floats, v: Floats, tail: float) -> Flags:
        """Whether numbers of marked rows lie outside the bounds of their weighted counts."""
        counted = SampledSum(y, v, y)
        low, high = lower_bound(counted, tail), upper_bound(counted, guard, tail)
        # Sums of weights are not whole: less than one row beyond is none.
        result: Flags = (m < low - 1) | (m > high + 1)
        return result

    for name, marked in _marks(data):
        here = marked[audit.rows]
        m, y, v = (np.array([float(value)]) for value in (marked.sum(), weight[here].sum(), variance[here].sum()))
        words = f"the audited rows that {_WORDS[name]} stand for {y[0]:.0f} rows by their weights, {m[0]:.0f} there are"
        found.append(AuditCheck(name, bool(outside(m, y, v, error)[0]), words))
    among, y, v = _class_counts(data, audit, weight)
    odd = outside(among, y, v, error / max(int(np.count_nonzero(among)), 1)) & (among > 0)
    worst = int(np.argmax(np.where(odd, np.abs(y - among), -1.0)))
    of = data.vocabulary.classes[worst]
    words = f"the audited rows labelled {of!r} stand for {y[worst]:.0f} rows by their weights"
    words += f", {among[worst]:.0f} there are"
    found.append(AuditCheck("class", bool(odd.any()), words))
    total, spread = float(weight.sum()), float(np.sqrt(variance.sum() + weight.max() ** 2))
    words = f"the weights of all audited rows sum to {total:.0f}, {data.n} expected"
    found.append(AuditCheck("weights", abs(total - data.n) > FAR_SUM * spread, words))
    return tuple(found)
