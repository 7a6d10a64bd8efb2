"""Audited scores of slices of the rows, and their differences from the rest, with one error shared by all tests."""

import math
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from demele.classifiers.intervals import checked_confidence
from demele.classifiers.mean_scores import audit_alarms
from demele.classifiers.pooled_strata import PooledStrata, pooled_strata, smallest_tail
from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.classifiers.row_scores import RowScores, ScoreAudit
from demele.core.arrays import Flags, Floats
from demele.core.holm import adjusted
from demele.core.kinds import Data
from demele.core.names import checked_name
from demele.core.results import Interval, Note
from demele.core.row_blocks import numbered_rows
from demele.core.signature import Signature
from demele.core.table_columns import as_column
from demele.noise.square_tables import digest

#: A slice with fewer audited rows has no interval.
LEAST_AUDITED = 20


def slices(
    scores: RowScores,
    audit: ScoreAudit,
    column: Data,
    *,
    correction: Literal["holm", "bh"] = "holm",
    level: float = 0.95,
) -> NamedEstimates:
    """Estimate the mean true score in each slice of the rows, and its difference from the rest.

    Parameters
    ----------
    scores : RowScores
        Of one system, or the difference of two.
    audit : ScoreAudit
        True scores, or true differences.
    column : array-like of shape (n,)
        The slice of each row, such as its language.
    correction : {"holm", "bh"}
        For several slices: the probability of any wrong claim, or the expected share of wrong ones.
    level : float in [0.5, 1)
        Of each interval by itself.

    Returns
    -------
    NamedEstimates
        Of each slice, then of each slice minus the rest, with adjusted p-values. A slice or a rest with fewer than 20
        audited rows has the given mean alone.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    The interval of each slice is that of audited means. A slice and the rest are disjoint, so the distances of both are
    added in quadrature.

    Examples
    --------
    >>> given, column = [1] * 300 + [0] * 100, ["en", "de"] * 200
    >>> rows = [*range(0, 400, 4), *range(1, 400, 4)]
    >>> found = slices(RowScores(given), ScoreAudit(rows, [given[row] for row in rows]), column)
    >>> [row.name for row in found.rows], round(found["en"].corrected_value, 3)
    (['en', 'de', 'en - rest', 'de - rest'], 0.75)
    """
    level = checked_confidence(level)
    checked_name(correction, "correction", ("holm", "bh"))
    rows, true, inclusion = audit.judged(scores)
    codes, _ = numbered_rows(column, "column", scores.n, "scores")
    values, first = as_column(column, "column"), np.unique(codes, return_index=True)[1]
    names, shares, tail = [str(values[row]) for row in first], scores.shares(), (1 - level) / 2
    weighted = scores.weight is not None or scores.task is not None

    def fit(part: Flags) -> PooledStrata | None:
        own, here = np.flatnonzero(part), np.flatnonzero(part[rows])
        if here.size < LEAST_AUDITED:
            return None
        return pooled_strata(
            (scores.given[own] - scores.low) / scores.width,
            np.searchsorted(own, rows[here]),
            (true[here] - scores.low) / scores.width,
            inclusion=None if inclusion is None else inclusion[here],
            weight=shares[own] / shares[own].sum() if weighted else None,
            groups=None if scores.group is None else np.unique(scores.group[own], return_inverse=True)[1],
        )

    def span(low: float, high: float) -> Interval:
        return Interval(low=float(low), high=float(high), level=level, method="pooled strata", kind="design")

    found, differences, p_values, notes = [], [], [], [*audit_alarms(scores, audit)]
    for code, name in enumerate(names):
        inside, outside = (scores.scored & part for part in (codes == code, codes != code))
        own, rest = fit(inside), fit(outside)
        row = NamedEstimate(name=name, value=_mean(scores, inside), n=int(inside.sum()))
        if own is None:
            message = f"slice {name!r} has {inside[rows].sum()} audited rows; {LEAST_AUDITED} are needed"
            notes.append(Note(code="slice-thin", message=message, subject=(name,)))
        else:
            low, high = (scores.low + scores.width * float(end) for end in own.ends(tail))
            corrected = scores.low + scores.width * float(np.clip(own.value, 0, 1))
            row = replace(row, corrected_value=corrected, corrected=span(low, high))
        found.append(row)
        if own is None or rest is None:
            continue
        gap, apart = float(own.value - rest.value), partial(_apart, own, rest)
        p_values.append(min(2 * float(smallest_tail(partial(apart, below=gap > 0), abs(gap))), 1.0))
        ends = np.clip([gap - apart(tail, below=True), gap + apart(tail, below=False)], -1, 1)
        differences.append(
            NamedEstimate(
                name=f"{name} - rest",
                value=row.value - _mean(scores, outside),
                corrected_value=scores.width * gap,
                corrected=span(*(scores.width * ends).tolist()),
                n=row.n,
            )
        )
    fixed = adjusted(np.array(p_values), correction).tolist()
    differences = [replace(row, p_value=p) for row, p in zip(differences, fixed, strict=True)]
    met = {"n": scores.n, "digest": digest(scores.given, rows, true, codes)}
    return NamedEstimates(
        measure="Mean score",
        rows=(*found, *differences),
        level=level,
        assumptions=("Audited rows were drawn at random, as `inclusion` says.", "The human scores are true."),
        notes=tuple(notes),
        signature=Signature.of("slices", {"correction": correction, "level": level}, **met),
    )


def _mean(scores: RowScores, part: Flags) -> float:
    return scores.take(part).mean if part.any() else math.nan


def _apart(own: PooledStrata, rest: PooledStrata, tail: Any, *, below: bool) -> Floats:
    """Return how far the true difference may lie below, or above, that of two fits to disjoint rows."""
    first, second = own.distances(tail), rest.distances(tail)
    return np.asarray(np.hypot(first[0], second[1]) if below else np.hypot(first[1], second[0]))
