"""Whether an audit can be the random sample that it is declared to be: exact checks, which never look at its answers.

An audit that was chosen for a reason says nothing of the rows that it left out, whatever it is called. Some choices
show: too many rows on which the classifiers disagree, too many that they contradict, too many of one class or of one
given score, too many from one end of the file. What the expert says is not looked at: more wrong labels than elsewhere
are a result.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from demele.classifiers.intervals import SampledSum, lower_bound, upper_bound
from demele.classifiers.pooled_strata import strata_of
from demele.classifiers.row_scores import RowScores
from demele.core.arrays import Flags, Floats, Rows
from demele.core.labelled import Labelled
from demele.core.result import Note
from demele.noise.audit import Audit, CodedAudit

#: An alarm is given where the least p-value times the number of checks is at most this.
ALARM = 0.001
#: Smaller weighted audits are not checked: the sums of their weights say too little.
LEAST_WEIGHTED = 50
#: Standard deviations from the number of rows at which the sum of the weights gives an alarm, and in which a weighted
#: count of marked rows may lie from their number.
FAR_SUM, FAR_COUNT = 5.0, 4.1


class Marked(NamedTuple):
    """Rows of one or several kinds: the kind of each row from 0, or -1 for none, and what is said of each kind."""

    name: str
    kinds: Rows
    words: tuple[str, ...]

    def sums(self, weight: Floats | None = None, rows: Any = slice(None)) -> Floats:
        """Return the sum of weights of some rows, of each kind, or their number."""
        return np.bincount(self.kinds[rows] + 1, weight, len(self.words) + 1)[1:].astype(np.float64)


class AuditCheck(NamedTuple):
    """One check of a declared audit.

    Attributes
    ----------
    name : {"disagreements", "contradicted", "class", "given score", "task", "group", "place", "weights"}
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
    effect = "If its rows were chosen for a reason, say so (`design='selective'`): nothing follows for the other rows"
    return _warned(audit_checks(data, audit), audit.design, effect)


def audit_alarms(scores: RowScores, audit: Audit) -> tuple[Note, ...]:
    """Warn of a uniform audit of scores that hardly looks like one: by given score, place, task and group.

    Strata by the given score allow for a choice by it. Checks count the values of the given score.

    Examples
    --------
    >>> given = [0] * 215 + [1] * 985
    >>> len(audit_alarms(RowScores(given), Audit([*range(40), *range(215, 295)], [1] * 120, design="uniform")))
    1
    """
    if audit.design != "uniform":
        return ()
    scored = np.flatnonzero(scores.scored)
    held, rows = scores.take(scored), np.searchsorted(scored, audit.rows[scores.scored[audit.rows]])
    strata = strata_of(held.given, rows.size)
    marked = [Marked("given score", strata, ("are of one given score",) * (int(strata.max()) + 1))]
    for name, codes in (("task", held.task), ("group", held.group)):
        if codes is not None:
            marked.append(Marked(name, np.where(codes == np.bincount(codes).argmax(), 0, -1), (f"are of one {name}",)))
    found = _uniform(marked, rows, held.n)
    harmless = all(check.name == "given score" for check in found if check.alarm)
    effect = "The estimate allows for this" if harmless else "If its rows were chosen for a reason, it may be wrong"
    return _warned(found, "uniform", effect)


def _warned(checks: tuple[AuditCheck, ...], design: str, effect: str) -> tuple[Note, ...]:
    found = [check for check in checks if check.alarm]
    if not found:
        return ()
    declared = {
        "uniform": "a simple random sample of all rows",
        "weighted": "a random sample with the probabilities supplied",
        "stratified": "two simple random samples, the second among some of the rows",
    }[design]
    counted = "; ".join(check.message for check in found)
    message = f"the audit is declared {declared}, which it can hardly be: {counted}. {effect}"
    names = tuple(check.name for check in found)
    return (Note(code=f"audit-not-{design}", message=message, subject=names, severity="warning"),)


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
    apart = data.predictions.min(axis=0) != data.predictions.max(axis=0)
    against = ~data.right.all(axis=0)
    marked = [
        Marked("disagreements", np.where(apart, 0, -1), ("are disagreements of the classifiers",)),
        Marked("contradicted", np.where(against, 0, -1), ("have a label that a classifier contradicts",)),
        Marked("class", data.labels.astype(np.intp), tuple(f"are labelled {of!r}" for of in data.vocabulary.classes)),
    ]
    if audit.design == "uniform":
        return _uniform(marked, audit.rows, data.n)
    return _weighted(marked, audit) if audit.k >= LEAST_WEIGHTED else ()


def _uniform(marked: list[Marked], rows: Rows, n: int) -> tuple[AuditCheck, ...]:
    from scipy.special import ndtr

    k, found = rows.size, list[tuple[str, str, float]]()
    for one in marked:
        among, seen = one.sums(), one.sums(rows=rows)
        each = np.where(among > 0, drawn_p_value(among, seen, n, k), 2.0)
        worst = int(np.argmin(each))
        p = min(1.0, max(int(np.count_nonzero(among)), 1) * float(each[worst]))
        words = f"{seen[worst]:.0f} of {k} audited rows {one.words[worst]}, {among[worst] * k / n:.3g} expected"
        found.append((one.name, words, p))
    words = f"their mean row number is {rows.mean():.1f}, {(n - 1) / 2:.1f} expected of {n} rows"
    away = abs(float(rows.mean()) - (n - 1) / 2)
    found.append(("place", words, float(2 * ndtr(-away / np.sqrt((n + 1) * (n - k) / (12 * k)))) if k < n else 1.0))
    return tuple(AuditCheck(name, len(found) * p <= ALARM, words, p) for name, words, p in found)


def _weighted(marked: list[Marked], audit: CodedAudit) -> tuple[AuditCheck, ...]:
    from scipy.special import ndtr

    n, weight = audit.n, 1 / audit.inclusion
    variance, found = weight * (weight - 1), []
    for one in marked:
        among = one.sums()
        stands = one.sums(weight, audit.rows)
        counted = SampledSum(stands, one.sums(variance, audit.rows), stands)
        tail = float(ndtr(-FAR_COUNT)) / max(int(np.count_nonzero(among)), 1)
        low, high = lower_bound(counted, tail), upper_bound(counted, weight.max(), 1.0, tail)
        # Sums of weights are not whole: less than one row beyond is none.
        odd: Flags = ((among < low - 1) | (among > high + 1)) & (among > 0)
        worst = int(np.argmax(np.where(odd, np.abs(stands - among), -1.0)))
        words = f"the audited rows that {one.words[worst]} stand for {stands[worst]:.0f} rows by their weights"
        found.append(AuditCheck(one.name, bool(odd.any()), f"{words}, {among[worst]:.0f} there are"))
    total, spread = float(weight.sum()), float(np.sqrt(variance.sum() + weight.max() ** 2))
    words = f"the weights of all audited rows sum to {total:.0f}, {n} expected"
    return (*found, AuditCheck("weights", abs(total - n) > FAR_SUM * spread, words))


def drawn_p_value(marked: ArrayLike, seen: ArrayLike, n: int, k: int) -> Floats:
    """Two-sided p-value of ``seen`` marked rows among ``k`` drawn of ``n``, for each number ``marked`` in all.

    Examples
    --------
    >>> [round(p, 6) for p in drawn_p_value([215, 215, 1200], [22, 40, 120], 1200, 120).tolist()]
    [0.982753, 2.5e-05, 1.0]
    """
    from scipy.stats import hypergeom

    in_all, met = np.asarray(marked, dtype=np.int64), np.asarray(seen, dtype=np.int64)
    p = 2 * np.minimum(hypergeom.cdf(met, n, in_all, k), hypergeom.sf(met - 1, n, in_all, k))
    # None or all marked: the count is certain, whatever was drawn.
    return np.where((in_all == 0) | (in_all == n), 1.0, np.minimum(p, 1.0))
