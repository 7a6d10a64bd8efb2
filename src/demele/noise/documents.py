"""What tables of how classes are labelled say: their documents."""

from typing import TYPE_CHECKING, Any

import numpy as np

from demele.core.checked_numbers import checked_level
from demele.core.result import about
from demele.report.document import Document, Heat, Section
from demele.report.listing import table_of_frame
from demele.report.words import MISSING, count, ends, name, rate, written

if TYPE_CHECKING:
    import pandas as pd

    from demele.noise.transition import TransitionCounts, TransitionMatrix

#: Classes in a heat map, the first ones; more are slow to lay out.
_MOST_CLASSES = 60


def matrix_document(result: "TransitionMatrix") -> Document:
    """Say how probable a correct label is, for each class."""
    import pandas as pd

    frame = result.to_frame()
    right = np.diag(frame)
    least, most = int(right.argmin()), int(right.argmax())
    ends = [f"{written(float(right[one]), 'percent')} (class {name(frame.index[one])})" for one in (least, most)]
    return Document(
        kind="Transition matrix",
        headline=f"The probability of a correct label is {' to '.join(ends)}.",
        **_tables(frame, pd.DataFrame({"right": right}), "percent"),
        **about(result),
    )


def counts_document(result: "TransitionCounts", level: float | None = 0.95) -> Document:
    """Say how many labels of each class are wrong; with a level also in what the sample was drawn from."""
    level = None if level is None else checked_level(level)
    columns = result.per_class(level=level or 0.95)
    said = f"{written(result.wrong, 'count')} of {count(result.n, 'label')} are wrong"
    share = written(result.rate, "percent")
    if level is None:
        columns = columns.drop(columns=["low", "high"])
    else:
        share += f", {rate(level)} interval {written(ends(result.rate_interval(level=level)), 'percent')}"
    return Document(
        kind="Transition counts",
        headline=f"{said}: {share}.",
        methods=[
            "Labels were counted by true class with demele [@demele].",
            f"Intervals are exact (Clopper and Pearson), level {rate(level)}." if level else "",
        ],
        **_tables(result.to_frame(), columns, "count"),
        **about(result),
    )


def _tables(frame: "pd.DataFrame", columns: "pd.DataFrame", form: str) -> dict[str, Any]:
    """Return the heat map of all pairs of classes, and a row for each class with what it is mistaken for most."""
    import pandas as pd

    classes, values = list(map(str, frame.index)), frame.to_numpy()
    others = np.where(np.eye(len(classes), dtype=bool), 0, values / np.maximum(values.sum(axis=1, keepdims=True), 1))
    mistaken = [
        f"{classes[row.argmax()]} ({written(float(row.max()), 'percent')})" if row.any() else MISSING for row in others
    ]
    rows = columns.set_axis(pd.Index(classes, name="true_class")).assign(mistaken_most_for=mistaken)
    table, _ = table_of_frame("Classes", rows, {"right": "percent", "share_wrong": "percent"})
    shown, left = list(map(name, classes[:_MOST_CLASSES])), len(classes) - _MOST_CLASSES
    square = values[:_MOST_CLASSES, :_MOST_CLASSES].tolist()
    heat = Heat("Labels by true class", shown, shown, square, form, ("true class", "given label"), "row")
    said = f"The first {_MOST_CLASSES} of {count(len(classes), 'class', 'classes')} are drawn." if left > 0 else ""
    return {"figure": heat, "table": table, "sections": [Section("Classes", [table, said])]}
