"""What a comparison by expert labels can still say if the expert errs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from demele.classifiers.question import Outcomes, Question
from demele.core.arrays import Counts, Floats
from demele.core.errors import InputError
from demele.core.uncertainty import Note

#: Anywhere, against the claim if that is possible; or at random, whatever the predictions.
ExpertErrors = Literal["adversarial", "random"]


def check_random_errors(error: float, errors: ExpertErrors, *, k: int) -> None:
    """Refuse errors at random without a rate, or at one that leaves no more than a guess among ``k`` classes."""
    if errors == "random" and not error:
        raise InputError(
            "expert_errors",
            "'random' says how the expert errs, and needs `expert_error=`, how often; give both",
        )
    if errors == "random" and error >= (k - 1) / k:
        raise InputError(
            "expert_error",
            f"an expert who is wrong at random on {error:g} of the rows is no better than a guess among "
            f"{k} classes; expected less than {(k - 1) / k:.3g}",
        )


def allowed_rows(question: Question, disagreements: Counts) -> Counts:
    """Return the largest decrease of the gap, in rows, from the expert's labels to true labels: tau, per pair.

    Notes
    -----
    Of d disagreements the expert is wrong on m = floor(e d) at most, and each such label moves the gap by two at most:
    tau = 2 m, in either direction, in the worst case. From e = 1/2 on, the expert may be wrong on all rows behind the
    claim: tau is d at least, which no gap exceeds. Random errors shrink a gap, and keep its sign: tau = 0.
    """
    d = np.asarray(disagreements, dtype=np.int64)
    if question.expert_errors == "random":
        return np.zeros_like(d)
    tau: Counts = 2 * np.floor(question.expert_error * d + 1e-9).astype(np.int64)
    return np.maximum(tau, d) if question.expert_error >= 0.5 else tau


def kept_share(question: Question) -> float:
    """Return what random errors leave of a gap: 1 - e K / (K - 1)."""
    if question.expert_errors != "random":
        return 1.0
    k = question.data.k
    return 1 - question.expert_error * k / (k - 1)


def with_expert_errors(question: Question, outcomes: Outcomes, disagreements: Counts) -> Outcomes:
    """Let intervals allow for what the expert may have wrong; what was to be exceeded has it already.

    Adversarial: the interval of the difference reaches tau / n further on both sides, that of one accuracy e. Random:
    the difference and its ends are divided by 1 - e K / (K - 1), within what is possible; an
    accuracy A shows as A (1 - e K / (K - 1)) +
    e / (K - 1). Nothing is touched for e = 0.
    """
    if not question.expert_error:
        return outcomes
    e, errors, k = question.expert_error, question.expert_errors, question.data.k
    tau = allowed_rows(question, disagreements)
    further, kept = tau / question.data.n, kept_share(question)
    difference, low, high = outcomes.difference / kept, outcomes.low / kept - further, outcomes.high / kept + further
    apart = np.asarray(disagreements) / question.data.n
    # On these rows, true labels cannot lead by more than the rows on which the two disagree.
    most = np.ones_like(apart) if question.inference == "population" else apart
    notes, beyond = outcomes.notes, np.abs(difference) - apart
    if errors == "random" and (beyond > 1e-9).any():
        place = int(np.argmax(beyond))
        message = (
            f"with expert_error={e:g} at random, the audit implies a difference of {difference[place]:+.4f} on true "
            f"labels, but the two classifiers differ on only {apart[place]:.4f} of the rows, so this rate is "
            "impossible; give a smaller expert_error"
        )
        subject = ("expert_error",)
        notes += (Note(code="expert-error-contradicted", message=message, subject=subject, severity="warning"),)
    difference = np.clip(difference, -most, most)
    low, high = (np.clip(end, -most, most) for end in (low, high))

    def moved(ends: tuple[Floats, Floats] | None) -> tuple[Floats, Floats] | None:
        return None if ends is None else moved_ends(ends, e, errors, k=k)

    open_ = question.expert_errors == "adversarial" and e >= 0.5
    p_value = outcomes.p_value
    return replace(
        outcomes,
        candidate=outcomes.candidate & (not open_),
        baseline=outcomes.baseline & (not open_),
        difference=difference,
        low=np.minimum(low, difference),
        high=np.maximum(high, difference),
        p_value=np.ones_like(p_value) if open_ and p_value is not None else p_value,
        baseline_interval=moved(outcomes.baseline_interval),
        candidate_interval=moved(outcomes.candidate_interval),
        notes=notes,
        details={**outcomes.details, "expert_may_move": tau},
    )


def moved_ends(ends: tuple[Any, Any], error: float, errors: ExpertErrors, *, k: int) -> tuple[Floats, Floats]:
    """Return the ends of an accuracy's interval on true labels, from those on the expert's."""
    low, high = (np.asarray(end, dtype=np.float64) for end in ends)
    if not error:
        return low, high
    if errors == "random":
        low, high = ((end - error / (k - 1)) / (1 - error * k / (k - 1)) for end in (low, high))
    else:
        low, high = low - error, high + error
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def expert_words(error: float, errors: ExpertErrors) -> str:
    """Say how the expert may err; nothing for an expert who is right."""
    if not error:
        return ""
    if errors == "random":
        return f"The expert is wrong with probability {error:g} on any row; all other classes are then equally likely."
    return (
        f"The expert is wrong on at most a share {error:g} of all rows, and of the rows on which two models disagree."
    )


def largest_allowance(stands: Callable[[int], bool], most: int) -> int:
    """Return the largest number of the expert's labels, at most ``most``, that may be wrong while a verdict stands."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if stands(middle) else (low, middle)
    return low
