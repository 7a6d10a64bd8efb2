"""What a cleaning of labels, and what it costs each class, say: their documents."""

import math
from typing import TYPE_CHECKING

import numpy as np

from demele.core.result import about, table_of_frame
from demele.report.document import NOTHING, Document, Parts, Section, Table
from demele.report.written import count, ends, joined, marks_of, name, rate, written

if TYPE_CHECKING:
    import pandas as pd

    from demele.labels.cleaned.cleaning import Cleaning
    from demele.labels.cleaned.harm import ClassHarm, Harm

#: Suspects in the table of a page, the most suspicious ones.
_MOST_SUSPECTS = 500


def cleaning_document(result: "Cleaning") -> Document:
    """Say how many labels are suspected, and which are the most suspicious."""
    n, found = result.suspect.size, result.n_suspects
    method = "" if result.method is None else f" by the method {name(result.method)}"
    then = "relabels them" if result.suggested is not None else "drops them"
    return Document(
        kind="Cleaning",
        title="Cleaning",
        headline=f"{written(found, 'count')} of {count(n, 'label')} ({written(found / n if n else math.nan, 'percent')}) "
        f"are suspected{method}.",
        sentences=[f"The cleaning {then} where it is applied.", "Right labels are among the suspects, mostly those of rare classes."],
        figure=Parts("Labels", [("Suspected", found), ("Not suspected", n - found)], rest=True),
        table=suspects_table(result.worst(max(min(found, _MOST_SUSPECTS), 1)).head(found)),
        **about(result),
    )
