"""Scores corrected for noisy factors: the table of methods, which of them is taken, and what becomes of a score."""

from collections.abc import Sequence
from dataclasses import replace

from demele.core.errors import InputError, quoted
from demele.core.kinds import checked_name
from demele.core.results import CorrectedScore, Evaluation, Note
from demele.metrics.options import Run
from demele.metrics.request import Request, resolved
from demele.metrics.source import InMemory
from demele.scoring.noisy import audited, bounds, transition
from demele.scoring.noisy.case import Case, FactorNoise, Work

#: Every method by its name; a score is corrected by one of them.
METHODS = {"transition": transition.correct, "audited": audited.correct, "bounds": bounds.correct}


def checked_noise(given: object, method: object, data: InMemory) -> FactorNoise:
    """Check what is known of the noise, and the method, before anything is computed.

    Parameters
    ----------
    given : mapping of factor name to knowledge
    method : str or None
    data : InMemory

    Raises
    ------
    InputError, InputTypeError, NotEnoughData, UnknownNameError
    """
    if method is not None:
        checked_name(method, "noise_method", tuple(METHODS))
    noise = FactorNoise.checked(given, data.subject("rows").factors)
    varying = data.data.factors.names
    for name in noise.factors:
        if name not in varying:
            raise InputError("noise", f"factor {quoted(name)} is constant and was left out; leave it out here too")
    return noise


def default_method(noise: FactorNoise) -> str:
    """Return the method for what is known: the one that assumes least."""
    kinds = noise.kinds
    if "rate" in kinds:
        return "bounds"
    return "audited" if kinds == {"audit"} else "transition"


def corrected(
    evaluation: Evaluation,
    asked: Sequence[Request],
    source: InMemory,
    run: Run,
    noise: FactorNoise,
    method: str | None = None,
) -> Evaluation:
    """Return an evaluation whose scores carry what they would be if all annotations were right.

    Parameters
    ----------
    evaluation : Evaluation
        Of the annotations as given; its values stay.
    asked : sequence of Request
        What it was made of.
    source : InMemory
    run : Run
    noise : FactorNoise
    method : str, optional
        One of :data:`METHODS` for all scores; by default the one that assumes least.
    """
    case = Case(source, run, noise, by_name=method is not None)
    chosen = METHODS[method or default_method(noise)]
    by_name = {one.name: one for one in asked}
    scores = []
    for score in evaluation.scores:
        one = by_name[score.metric]
        found = chosen(case, Work(one, resolved(one, source, run.seed), score))
        if isinstance(found, CorrectedScore):
            scores.append(replace(score, corrected=found))
        else:
            note = Note(code="not-corrected", message=f"not corrected for noisy factors: {found.reason}")
            scores.append(replace(score, notes=(*score.notes, note)))
    return replace(evaluation, scores=tuple(scores))
