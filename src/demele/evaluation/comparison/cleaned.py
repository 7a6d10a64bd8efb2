"""The usual comparison after a cleaning procedure has dropped or relabelled the labels that it suspects."""

from dataclasses import replace

import numpy as np

from demele.core.errors import NotEnoughData
from demele.core.labelled import Labelled
from demele.evaluation.comparison.classic import overlap
from demele.evaluation.question import Outcomes, Question


def cleaned(question: Question) -> Outcomes:
    """Compare the score intervals of both on cleaned labels (Benjelloun, section 6.5.4).

    Suspected labels are replaced by those suggested, or left out where none is suggested.

    Raises
    ------
    NotEnoughData
        If every label is suspected and none suggested.
    """
    data = after_cleaning(question)
    assumptions = ("Every label is right after the cleaning.",)
    outcomes = overlap(replace(question, data=data), assumptions=assumptions, argument="cleaning")
    suspected = int(question.suspects.sum()) if question.suspects is not None else 0
    done = "relabelled" if question.suggested is not None else "left out"
    return replace(outcomes, details={"suspected": suspected, "used": data.n, "cleaning": done})


def after_cleaning(question: Question) -> Labelled:
    """Return the data with suspected labels replaced, or without their rows.

    Raises
    ------
    NotEnoughData
        If no row is left.
    """
    suspects = question.suspects
    if suspects is None:  # demanded by the catalogue of methods
        return question.data
    if question.suggested is not None:
        return question.data.relabelled(np.where(suspects, question.suggested, question.data.labels))
    if suspects.all():
        raise NotEnoughData(
            "cleaning", f"all {suspects.size} labels are suspected and none is suggested: no row is left"
        )
    return question.data.take(~suspects)
