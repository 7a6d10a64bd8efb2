"""From an observed measure to the correct one: intervals moved by a known or bounded bias, the binary closed form."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demele.core.checked_numbers import checked_level, checked_number, checked_whole
from demele.core.errors import InputError, OutOfDomainWarning, quoted, warn_user
from demele.core.proportions import score_interval
from demele.core.results import Interval, Note
from demele.evaluation.measures.bias_bounds import Moves, corner
from demele.evaluation.question import as_value
from demele.noise.budget import NoiseBudget

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Mixtures of two kinds of moves are looked at one by one up to this number, and in so many groups beyond.
MIXTURES = 256

#: A corrected accuracy of 0 or 1 may come out beyond it by so much.
ROUNDING_ERROR = 1e-12


def shifted_interval(low: ArrayLike, high: ArrayLike, bias: ArrayLike) -> tuple[Floats, Floats]:
    """Shift an interval of the observed measure by minus its bias; the width does not change.

    Parameters
    ----------
    low, high : array-like
        Ends for the observed measure.
    bias : array-like
        Observed minus correct.

    Returns
    -------
    low, high : arrays
        For the correct measure. They are not cut at 0 and 1.

    Notes
    -----
    Source: Benjelloun, eq. 6.30. The variance is that of the observed measure, which is what was sampled.

    Examples
    --------
    >>> low, high = shifted_interval(0.78, 0.82, -0.05)
    >>> round(float(low), 4), round(float(high), 4)
    (0.83, 0.87)
    """
    shift = np.asarray(bias, dtype=np.float64)
    return np.asarray(low, dtype=np.float64) - shift, np.asarray(high, dtype=np.float64) - shift


def union_interval(low: ArrayLike, high: ArrayLike, bias_low: ArrayLike, bias_high: ArrayLike) -> tuple[Floats, Floats]:
    """Join the shifted intervals of every bias between two bounds.

    Parameters
    ----------
    low, high : array-like
        Ends for the observed measure.
    bias_low, bias_high : array-like
        Bounds of observed minus correct.

    Returns
    -------
    low, high : arrays
        Covers the correct measure as often as the first interval covers the expected observed one, if the bias is a
        constant within its bounds. Not cut at 0 and 1.

    Notes
    -----
    The width is that of the observed measure. A classifier that repeats the wrong labels looks perfect, and its
    interval has no width: an accuracy of 0.944 with up to 5% such labels among 1000 is covered in 72% of cases only.
    Join :func:`worst_case_interval`, whose width is that of the correct measure, to keep the level.

    Examples
    --------
    >>> low, high = union_interval(0.78, 0.82, -0.05, 0.05)
    >>> round(float(low), 4), round(float(high), 4)
    (0.73, 0.87)
    """
    return shifted_interval(low, high, bias_high)[0], shifted_interval(low, high, bias_low)[1]


def worst_case_interval(
    measure: str, confusion: Counts, budget: NoiseBudget, *, level: float, unsure: Counts | None = None
) -> tuple[Floats, Floats]:
    """Join the score intervals on every true labels that a budget allows.

    Parameters
    ----------
    measure, confusion, budget, unsure
        As in :func:`demele.evaluation.measures.bias_bounds.correct_bounds`.
    level : float in (0, 1)
        Level of each score interval.

    Returns
    -------
    low, high : arrays
        Shape () for accuracy, else (n_classes,), in [0, 1]; NaN for a class whose observed measure is not defined; 0
        and 1 for one that may lose its last instance. Covers the correct measure at least as often as a score interval
        on the true labels would, however the wrong labels were chosen, even by one who sees the predictions.

    Notes
    -----
    Both ends of a score interval rise with a success more and fall with a failure more, so that the extreme counts give
    the extreme ends. Accuracy, precision, F1: at one corner. Recall: anywhere between its two corners; all mixtures are
    tried, or the safe ends of groups if there are more than 256.

    Examples
    --------
    >>> from demele.noise.budget import noise_budget
    >>> table = np.array([[45, 5], [2, 48]])
    >>> budget = noise_budget(0.05, np.repeat([0, 1], 50), 2, tail=0.025)
    >>> low, high = worst_case_interval("accuracy", table, budget, level=0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (0.802, 0.994)
    """
    moves = Moves.within(budget, confusion if unsure is None else unsure)
    right, predicted, labelled = np.diag(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    if measure == "accuracy":
        hits, n = right.sum(), confusion.sum()
        return score_interval(hits - moves.all_lost, n, level=level)[0], score_interval(
            hits + moves.all_won, n, level=level
        )[1]
    if measure == "recall":
        missed = labelled - right
        low = _recall_end(right, missed, moves.hits_out, moves.misses_in, moves.wrong, -1, level)
        high = _recall_end(right, missed, moves.hits_in, moves.misses_out, moves.wrong, 1, level)
        return np.where(labelled > 0, low, np.nan), np.where(labelled > 0, high, np.nan)
    ends = []
    for sign, hits, misses in ((-1, moves.hits_out, moves.misses_in), (1, moves.hits_in, moves.misses_out)):
        hit, miss = corner(hits, misses, moves.wrong, 0)
        successes = right + sign * hit
        # Either: predicted or truly k. A hit lost stays predicted, a hit gained was: only misses change their number.
        either = predicted + labelled - right - sign * miss if measure == "f1" else predicted
        ends.append(as_value(_end(successes, either, sign, level), measure))
    known = predicted > 0 if measure == "precision" else predicted + labelled > 0
    return np.where(known, ends[0], np.nan), np.where(known, ends[1], np.nan)


def _recall_end(
    right: Counts, missed: Counts, hits: Counts, misses: Counts, wrong: int, sign: int, level: float
) -> Floats:
    """Lowest (sign -1) or highest (sign 1) end over all mixtures of changed hits and misses, in all as many as help."""
    first, last = corner(hits, misses, wrong, 1)[0], corner(hits, misses, wrong, 0)[0]
    total = np.minimum(hits + misses, wrong)
    steps = np.linspace(0, 1, MIXTURES + 1)[:, None]
    edges = np.floor(first + steps * (last - first + 1)).astype(np.int64)
    least, most = np.minimum(edges[:-1], last), np.minimum(np.maximum(edges[1:] - 1, edges[:-1]), last)
    # Within a group of mixtures: the worst number of changed hits, and the worst of changed misses.
    successes = right + sign * most
    failures = missed - sign * (total - least)
    end = _end(successes, successes + failures, sign, level)
    farthest: Floats = end.min(axis=0) if sign < 0 else end.max(axis=0)
    return farthest


def _end(successes: Counts, trials: Counts, sign: int, level: float) -> Floats:
    """Lower (sign -1) or upper (sign 1) end of a score interval; a class without an instance may have any value."""
    end = score_interval(successes, trials, level=level)[0 if sign < 0 else 1]
    return np.where(trials > 0, end, 0.0 if sign < 0 else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryCorrection:
    """The correct accuracy of a classifier of two classes, under independent label noise.

    Attributes
    ----------
    value : float
        (observed - rate) / (1 - 2 rate). Outside [0, 1] the supplied rate and the observed accuracy contradict each
        other; the number is kept, and a note says it.
    interval : Interval or None
        The score interval of the observed accuracy, both ends mapped; None without ``trials``.
    observed, rate : float
        As supplied.
    assumptions : tuple of str
        What must hold.
    notes : tuple of Note
    """

    value: float
    observed: float
    rate: float
    interval: Interval | None = None
    assumptions: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def bias(self) -> float:
        """Observed minus correct."""
        return self.observed - self.value

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        interval = "" if self.interval is None else f" {self.interval}"
        return f"BinaryCorrection({self.value:.4f}{interval}, observed {self.observed:.4f}, rate {self.rate:g})"


def binary_correction(
    observed: float, rate: float, *, trials: int | None = None, level: float = 0.95
) -> BinaryCorrection:
    """Correct the accuracy of a classifier of two classes for label noise that is independent of it.

    Parameters
    ----------
    observed : float in [0, 1]
        Accuracy against the given labels.
    rate : float in [0, 1), not 0.5
        Share of wrong labels. Above 0.5 labels are more often wrong than right, and a classifier that agrees with them
        less is better: the correction then turns the order of classifiers around, and a note says so.
    trials : int, optional
        Number of instances, for an interval.
    level : float in (0, 1)

    Returns
    -------
    BinaryCorrection
        ``value`` is (observed - rate) / (1 - 2 rate).

    Raises
    ------
    InputError, InputTypeError
        At a rate of 0.5 (labels are then coin flips, and every classifier agrees with half of them) or outside [0, 1).

    Warns
    -----
    OutOfDomainWarning
        If the result lies outside [0, 1]: no correct accuracy explains the observed one at that rate.

    Notes
    -----
    Source: Benjelloun, eq. 6.7 solved for the correct accuracy; Lam and Stork 2003. It needs that the classifier be
    right as often on wrongly as on rightly labelled instances, which fails for a classifier trained on labels of the
    same source. The interval is wider than the score interval by 1 / |1 - 2 rate|; that the rate itself may be
    uncertain is not in it.

    Examples
    --------
    >>> binary_correction(0.82, 0.1, trials=1000)
    BinaryCorrection(0.9000 [0.869, 0.928], observed 0.8200, rate 0.1)
    """
    seen, noise = _share(observed, "observed"), _share(rate, "rate")
    if seen > 1:
        raise InputError("observed", f"expected an accuracy in [0, 1], got {quoted(observed)}{_percent(seen)}")
    if noise >= 1:
        raise InputError("rate", f"expected a rate of wrong labels in [0, 1), got {quoted(rate)}{_percent(noise)}")
    if noise == 0.5:
        raise InputError(
            "rate",
            "at 0.5 the labels of two classes are coin flips: every classifier agrees with half of them, and "
            "nothing is left to correct; have labels checked by an expert instead",
        )
    level = checked_level(level)
    value = (seen - noise) / (1 - 2 * noise)
    notes = []
    if noise > 0.5:
        notes.append(
            Note(
                code="more-wrong-than-right",
                message=f"with {noise:.1%} wrong labels, agreeing less with the labels means being right more often",
                severity="warning",
            )
        )
    if not -ROUNDING_ERROR <= value <= 1 + ROUNDING_ERROR:
        message = (
            f"the corrected accuracy is {value:.4f}, outside [0, 1]: with {noise:.1%} wrong labels, independent of the "
            f"classifier, no accuracy shows as {seen:.4f}; the rate is too high, the noise is not independent, or the "
            "test set is small"
        )
        notes.append(Note(code="out-of-domain", message=message, severity="warning"))
        warn_user(f"binary_correction: {message}", OutOfDomainWarning)
    interval = None
    if trials is not None:
        low, high = score_interval(
            seen
            * checked_whole(
                trials, "trials", "the number of instances, a whole number from 1", inside=lambda number: number >= 1
            ),
            trials,
            level=level,
        )
        ends = sorted((float(end) - noise) / (1 - 2 * noise) for end in (low, high))
        interval = Interval(low=ends[0], high=ends[1], level=level, method="score", kind="corrected")
    return BinaryCorrection(
        value=value,
        observed=seen,
        rate=noise,
        interval=interval,
        assumptions=(
            "There are two classes.",
            f"Exactly {noise:.2%} of the labels are wrong.",
            "The classifier is right as often where the label is wrong as where it is right.",
        ),
        notes=tuple(notes),
    )


def _share(value: Any, argument: str) -> float:
    return checked_number(value, argument, "a number in [0, 1]", inside=lambda share: 0 <= share < math.inf)


def _percent(value: float) -> str:
    return f"; for {value:g}% write {value / 100:g}" if 1 < value <= 100 else ""
