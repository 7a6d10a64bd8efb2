"""What an audit would buy: the comparison that expert labels of so many rows would allow, before they are asked for."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from demele.core.proportions import score_interval
from demele.evaluation.comparison.audit_claims import Claim, Evidence, Sampling
from demele.evaluation.question import Question
from demele.evaluation.rare_sums import Guard, SampledSum
from demele.noise.budget import noise_budget


def prospect(
    question: Question, pair: int = 0, sizes: Sequence[int] = (50, 100, 200, 500, 1000)
) -> tuple[dict[str, Any], ...]:
    """Say what a uniform audit would make of the comparison of two accuracies.

    Parameters
    ----------
    question : Question
        On accuracy; for other measures nothing is returned.
    pair : int
        Which of its pairs.
    sizes : sequence of int
        Numbers of audited rows; those above the number of rows are left out.

    Returns
    -------
    tuple of dict
        Per size: ``labels``; ``half_width`` of the interval of the difference if every audited label is confirmed;
        ``certified_if_clean``: whether a claim would then be made; ``certified_if_rate``: whether one would be made if
        the audit finds the errors to be expected at the noise supplied, None if none was.

    Notes
    -----
    The bounds of :func:`demele.evaluation.comparison.audit.audited` at the expected sums, with the given label as
    guess. At a rate of noise, wrong labels are assumed to be equally likely on all rows, with any other class as the
    true one. A matrix or counts give the largest rate that they allow.
    """
    if question.measure != "accuracy":
        return ()
    data, tail = question.data, question.tail
    n, k = data.n, data.k
    counts = question.counts()
    lost, won, neither = (float(values[pair]) for values in (counts.lost, counts.won, counts.neither))
    if lost > won:  # the claim that is near
        lost, won = won, lost
    sides = question.sides()
    # A wrong label is truly of one certain other class with this probability.
    other = 1 / max(k - 1, 1)
    rates = [0.0] if (rate := _rate(question)) is None else [0.0, rate]
    rows = []
    for size in sizes:
        if size > n:
            continue
        weight = n / size
        found = []
        for share in rates:
            # Per row: what its label's error takes from the claim or adds to it, and the squares.
            small, large, square = share * neither * other, share * (1 + other), share * (1 + 3 * other)
            # At worst, a row with the label of the one that leads loses 2, one with neither label 1; and the contrary.
            against = _evidence(won * large + small, won * square + small, 2 * won + neither, n, weight)
            favour = _evidence(lost * large + small, lost * square + small, 2 * lost + neither, n, weight)
            losses, gains = won * large + small, lost * large + small
            claim = Claim(
                against=against,
                favour=favour,
                guard=Guard(_one(weight), _one(2 / n if won + lost + neither > 0 else 0.0)),
                sampling=None
                if question.inference != "population"
                else Sampling(_one((lost + won + neither) / n**2), _one(1 / n)),
            )
            distance = float(claim.distance(tail)[0])
            needed = 0.0
            if question.inference == "overlap":
                ends = [score_interval(s.successes[pair], s.trials[pair], level=question.level) for s in sides]
                needed = sum(float(high - low) / 2 for low, high in ends)
            found.append((distance, (won - lost + gains - losses) / n - distance > needed))
        rows.append(
            {
                "labels": int(size),
                "certified_if_clean": found[0][1],
                "half_width": found[0][0],
                "certified_if_rate": found[1][1] if len(found) > 1 else None,
            }
        )
    return tuple(rows)


def _rate(question: Question) -> float | None:
    """Return the share of wrong labels supplied, or the largest that what was supplied allows."""
    if question.noise is None:
        return None
    if isinstance(question.noise, float | int):
        return float(question.noise)

    budget = noise_budget(question.noise, question.data.labels, question.data.k, tail=question.tail)
    return budget.wrong / question.data.n


def _evidence(rows: float, squares: float, largest: float, n: int, weight: float) -> Evidence:
    """Return what an audit with this weight shows, if errors are met as often as they occur; sums in rows."""
    sampled = SampledSum(_one(rows / n), _one(squares * (weight - 1) / n**2), _one(squares / n**2))
    return Evidence(sampled, _one(rows / weight / n), _one(largest * (1 - 1 / weight) / n))


def _one(value: float) -> Any:
    return np.array([value])
