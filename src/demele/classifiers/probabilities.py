"""Predicted probabilities on labels that may be wrong: Brier score, log loss, calibration error."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from demele.classifiers.mean_scores import audited_mean
from demele.classifiers.results import NamedEstimate, NamedEstimates
from demele.classifiers.roc import Bounds, Values, kept_share, mean_values, named_estimates, systems_of
from demele.classifiers.row_scores import RowScores, ScoreAudit
from demele.core.arrays import Flags, Floats
from demele.core.errors import InputError, NotEnoughData
from demele.core.kinds import (
    Classes,
    Data,
    checked,
    checked_confidence,
    checked_count,
    checked_number,
    checked_rate,
    checked_seed,
)
from demele.core.labelled import read_labels, vocabulary
from demele.core.proportions import score_interval
from demele.core.results import Interval
from demele.core.seeds import rng_for
from demele.core.signature import Signature
from demele.core.table_columns import number_column, real_numbers
from demele.noise.transition import TransitionMatrix, digest

Loss = Literal["brier", "log"]
#: Probabilities of a row sum to 1 within this.
SUMS = 1e-6
#: Audited rows that each bin of a calibration error needs.
LEAST_AUDITED = 20


def probability_loss(
    probabilities: Mapping[str, object] | Data,
    labels: Data,
    *,
    loss: Loss = "brier",
    noise: float | TransitionMatrix | None = None,
    most: float | None = None,
    classes: Classes = None,
    level: float = 0.95,
) -> NamedEstimates:
    """Estimate the Brier score or the log loss of each system, and each difference, on labels that may be wrong.

    Parameters
    ----------
    probabilities : mapping of str to array-like of shape (n,) or (n, K), or one array-like
        Probability of the second class, or of every class.
    labels : array-like of shape (n,)
        The given labels.
    loss : {"brier", "log"}
        (p - y)^2 of two classes, the sum over classes of more; or -log of the probability of the label.
    noise : float or TransitionMatrix, optional
        At most this share of the labels is wrong, in the worst case; or the probability of each given label for each
        true class, whatever the probabilities.
    most : float, optional
        Largest log loss that a row can have: larger ones are cut off. The worst case of the log loss needs it.
    classes : sequence, optional
        Classes in the order of the columns (default: those of the labels, sorted).
    level : float in [0.5, 1)
        Of each interval by itself.

    Returns
    -------
    NamedEstimates
        Of each system, then of each difference. Lower is better.

    Raises
    ------
    InputError, InputTypeError, NotEnoughData

    Notes
    -----
    *Backward correction* (Natarajan et al. 2013; Patrini et al. 2017): with T[true, given] and l the losses of a row
    under each label, the corrected loss of a row is the entry of the given label in T^-1 l. Its mean estimates that on
    true labels; one row may leave the range of the loss.

    *Worst case*: m wrong labels replace m losses by the least or the largest of the row. For a difference both losses
    follow from one label. The bounds hold for these rows and have no sampling error.

    An unknown T, or noise that depends on the row, does not identify the loss: audit rows, with the scores of
    :func:`demele.classifiers.loss_scores`.

    Examples
    --------
    >>> noise = TransitionMatrix([[0.95, 0.05], [0.1, 0.9]])
    >>> found = probability_loss([0.9, 0.8, 0.3, 0.6, 0.05], [1, 0, 0, 1, 0], noise=noise)["probabilities"]
    >>> round(found.value, 6), round(found.corrected_value, 6)
    (0.1805, 0.148735)
    """
    level, given = checked_confidence(level), read_labels(labels, "labels")
    words, systems, n = vocabulary(given, classes=classes), systems_of(probabilities, "probabilities"), given.size
    places, k = words.encode(given, "labels"), len(words)
    table = np.stack([losses(one, n, k, loss, most) for one in systems.values()])
    observed = table[:, np.arange(n), places]
    known: Values | Bounds | None = None
    assumptions: tuple[str, ...] = ("All labels are correct.",)
    if isinstance(noise, TransitionMatrix):
        matrix = noise.ordered(words.classes).probabilities
        if matrix.shape != (k, k) or np.linalg.matrix_rank(matrix) < k:
            raise InputError("noise", f"expected an invertible matrix of {k} classes")
        backward = table @ np.linalg.inv(matrix).T
        if not np.isfinite(backward).all():
            raise InputError("most", "a probability is 0, so the log loss of another label is infinite; give `most`")
        known = mean_values(backward[:, np.arange(n), places], "t, backward correction", "shifted")
        assumptions = (
            "The matrix is exact, and label errors are independent of the probabilities, given the true class; these "
            "labels cannot show it.",
        )
    elif noise is not None:
        if not np.isfinite(table).all() or (loss == "log" and most is None):
            raise InputError("most", "the log loss has no bound: give the largest loss of a row as `most`")
        wrong = int(checked_rate(noise, "noise", "the labels") * n + 1e-9)

        def known(weights: Floats) -> tuple[float, float]:
            each = np.tensordot(weights, table, 1)
            now = each[np.arange(n), places]
            down, up = (np.sort(reach)[n - wrong :].sum() for reach in (now - each.min(axis=1), each.max(axis=1) - now))
            return float(now.mean() - down / n), float(now.mean() + up / n)

        assumptions = (f"At most {wrong} of {n} labels are wrong. The bounds are for these rows, without sampling.",)
    arguments: dict[str, object] = {"loss": loss, "noise": noise, "most": most, "level": level}
    top = most or (np.inf if loss == "log" else 1.0 if k == 2 else 2.0)
    return NamedEstimates(
        measure="Brier score" if loss == "brier" else "Log loss",
        rows=named_estimates(tuple(systems), mean_values(observed, "t"), known, level=level, n=n, top=top),
        level=level,
        assumptions=assumptions,
        signature=Signature.of("probability_loss", arguments, n=n, digest=digest(table, places)),
    )


@checked
def losses(probabilities: object, n: int, k: int, loss: Loss, most: float | None) -> Floats:
    """Return the loss of each row under each label, shape (n, k)."""
    if k < 2:
        raise InputError("labels", f"expected at least 2 classes, got {k}; give all classes with `classes`")
    p = real_numbers(probabilities, "probabilities")
    p = np.column_stack([1 - p, p]) if p.ndim == 1 and k == 2 else p
    if p.shape != (n, k):
        raise InputError("probabilities", f"expected shape ({n}, {k}), a column for each class, got {p.shape}")
    if not ((p >= 0) & (p <= 1)).all() or np.abs(p.sum(axis=1) - 1).max() > SUMS:
        raise InputError("probabilities", "expected numbers in [0, 1] that sum to 1 in each row")
    if loss == "log":
        with np.errstate(divide="ignore"):
            top = np.inf if most is None else checked_number(most, "most", "a number > 0", inside=lambda x: x > 0)
            return np.asarray(np.minimum(-np.log(p), top))
    if most is not None:
        raise InputError("most", "is for the log loss: the Brier score has a bound")
    if k == 2:
        return np.asarray(p[:, ::-1] ** 2)
    return np.asarray((p**2).sum(axis=1, keepdims=True) - 2 * p + 1)


def calibration_error(
    confidence: Data,
    correct: Data,
    *,
    bins: int = 10,
    noise: float | None = None,
    flips: tuple[float, float] | None = None,
    audit: ScoreAudit | None = None,
    level: float = 0.95,
    draws: int = 200,
    seed: int = 0,
) -> NamedEstimates:
    """Estimate the expected calibration error, in bins of equal width, where right and wrong are known by given labels.

    Parameters
    ----------
    confidence : array-like of shape (n,)
        Probability of the prediction, in [0, 1]; or of the positive class.
    correct : array-like of shape (n,)
        1 where the given label is the prediction (or the positive class), 0 elsewhere.
    bins : int
    noise : float, optional
        At most this share of the labels is wrong, in the worst case.
    flips : (float, float), optional
        Probability that a truly correct row is given as wrong, and that a truly wrong one is given as correct,
        whatever the confidence.
    audit : ScoreAudit, optional
        Whether audited rows are truly correct, 1 or 0; at least 20 rows in each bin.
    level : float in [0.5, 1)
        Of each interval by itself.
    draws : int
        Simulated data sets of a perfectly calibrated classifier with these confidences: its error is above 0 by
        chance.
    seed : int

    Returns
    -------
    NamedEstimates
        The error; that of a calibrated classifier by chance, with the range of simulated ones; then for each bin the
        gap, confidence minus accuracy.

    Raises
    ------
    InputError, InputTypeError

    Notes
    -----
    ECE = sum of share x abs(gap) over the bins. With flips (a, b), accuracy = (given accuracy - b) / (1 - a - b), cut
    off to [0, 1]. Wrong labels of a good classifier look like overconfidence. In the worst case the error changes by
    at most the share of wrong labels: one row moves one gap by 1 / n.

    Examples
    --------
    >>> found = calibration_error([0.9] * 50 + [0.6] * 50, [1] * 40 + [0] * 10 + [1] * 30 + [0] * 20, noise=0.02)
    >>> print(round(found["ECE"].value, 3), found["ECE"].corrected)
    0.05 [0.030, 0.070]
    """
    level, column = checked_confidence(level), real_numbers(confidence, "confidence")
    n, bins, draws = column.size, checked_count(bins, "bins", 1), checked_count(draws, "draws", 1)
    if not n:
        raise NotEnoughData("confidence", "expected at least one row, got none")
    p = number_column(confidence, "confidence", n, "row", "numbers in [0, 1]", inside=lambda x: (x >= 0) & (x <= 1))
    right = number_column(correct, "correct", n, "row", "0 or 1", inside=lambda x: (x == 0) | (x == 1))
    if sum(one is not None for one in (noise, flips, audit)) > 1:
        raise InputError("flips", "expected one of `noise`, `flips` and `audit`")
    cells = np.minimum((p * bins).astype(np.intp), bins - 1)
    size = np.bincount(cells, minlength=bins)
    held = np.flatnonzero(size)
    sure, hits = (np.bincount(cells, x, minlength=bins)[held].astype(np.float64) for x in (p, right))
    size = size[held]
    sure /= size
    given = np.stack([hits / size, *score_interval(hits, size, level=level)])
    known = moved = None
    assumptions: tuple[str, ...] = ("All labels are correct.",)
    if flips is not None:
        _, gained, left = kept_share(flips, "flips")
        known = np.clip((given - gained) / left, 0, 1)
        assumptions = ("The flips are exact, and independent of the confidence; these labels cannot show it.",)
    elif noise is not None:
        moved = checked_rate(noise, "noise", "the labels")
        assumptions = (f"At most {moved:.2%} of the labels are wrong. The bounds are for these rows.",)
    elif audit is not None:
        known = np.array([_audited(right, cells == cell, audit, level) for cell in held]).T
        assumptions = ("Audited rows were drawn at random, as `inclusion` says.", "The human labels are true.")
    rng = rng_for(checked_seed(seed), "calibration_error", n)
    drawn = np.array([np.abs(np.bincount(cells, p - (rng.random(n) < p))).sum() / n for _ in range(draws)])

    def span(low: float, high: float, method: str, kind: str) -> Interval:
        return Interval(low=float(low), high=float(high), level=level, method=method, kind=kind)

    error, corrected = (
        np.nan if found is None else float(size @ np.abs(sure - found[0])) / n for found in (given, known)
    )
    bound = None if moved is None else span(max(error - moved, 0), min(error + moved, 1), "worst case", "worst-case")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    rows = [
        NamedEstimate(name="ECE", value=error, corrected_value=corrected, corrected=bound, n=n),
        NamedEstimate(
            name="ECE by chance", value=float(drawn.mean()), interval=span(low, high, "simulated", "chance"), n=n
        ),
    ]
    how = ("score", "shifted") if audit is None else ("pooled strata", "design")
    for place, cell in enumerate(held):
        gap, most, least = sure[place] - given[:, place]
        row = NamedEstimate(
            name=f"gap, {cell / bins:g} to {(cell + 1) / bins:g}",
            value=float(gap),
            interval=span(least, most, "score", "sampling"),
            n=int(size[place]),
        )
        if known is not None:
            gap, most, least = sure[place] - known[:, place]
            row = replace(row, corrected_value=float(gap), corrected=span(least, most, *how))
        rows.append(row)
    arguments: dict[str, object] = {"bins": bins, "noise": noise, "flips": flips, "level": level, "seed": seed}
    return NamedEstimates(
        measure="Calibration error",
        rows=tuple(rows),
        level=level,
        assumptions=assumptions,
        signature=Signature.of("calibration_error", arguments, n=n, digest=digest(p, right)),
    )


def _audited(right: Floats, inside: Flags, audit: ScoreAudit, level: float) -> tuple[float, float, float]:
    """Return the accuracy on true labels in one bin, and its ends."""
    rows, true, inclusion = audit.judged(RowScores(right))
    here = inside[rows]
    if here.sum() < LEAST_AUDITED:
        message = f"a bin has {here.sum()} audited rows, of at least {LEAST_AUDITED}"
        raise NotEnoughData("audit", message, "use fewer `bins`")
    places = np.searchsorted(np.flatnonzero(inside), rows[here])
    chances = None if inclusion is None else inclusion[here]
    mean = audited_mean(RowScores(right[inside]), ScoreAudit(places, true[here], chances), level=level)
    return mean.value, mean.low, mean.high
