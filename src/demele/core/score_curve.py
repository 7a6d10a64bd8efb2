"""Scores of one model at several moments of its training: a table, and a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from demele.core.errors import InputTypeError, UnknownNameError, quoted
from demele.core.names import suggestion
from demele.core.result import TableResult
from demele.core.results import Evaluation
from demele.report.document import Document, Line, Lines
from demele.report.words import count, joined, written

if TYPE_CHECKING:
    import pandas as pd


# Evaluations compare by identity, and so do curves of them.
@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class ScoreCurve(TableResult):
    """The evaluations of a model in training, in order.

    The callbacks of Lightning and Keras have one; from a loop of your own, make it of what you collected.

    Parameters
    ----------
    evaluations : iterable of (int, Evaluation)
        The moment of each, such as the number of its epoch or step.
    unit : str, default "epoch"
        What the moments count.

    Raises
    ------
    InputTypeError
        For anything but pairs of a number and an evaluation.

    Examples
    --------
    >>> import numpy as np, demele
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.random((500, 2))
    >>> noise = rng.normal(size=(500, 2))
    >>> curve = ScoreCurve(
    ...     (epoch, demele.evaluate(factors + scale * noise, factors, ["mig", "sap"]))
    ...     for epoch, scale in enumerate([1.0, 0.1])
    ... )
    >>> curve.to_frame()["sap"].round(1).tolist()
    [0.1, 0.9]
    >>> curve.best("mig")
    1
    """

    _kind = "score curve"

    points: tuple[tuple[int, Evaluation], ...]
    unit: str

    def __init__(self, evaluations: Iterable[tuple[int, Evaluation]], *, unit: str = "epoch") -> None:
        points = tuple(evaluations)
        for point in points:
            pair = tuple(point) if isinstance(point, tuple | list) else ()
            moment = isinstance(pair[0], int | np.integer) if len(pair) == 2 else False
            if not moment or isinstance(pair[0], bool) or not isinstance(pair[1], Evaluation):
                raise InputTypeError(
                    "evaluations", f"expected pairs of a number and an Evaluation, got {quoted(point)}"
                )
        object.__setattr__(self, "points", tuple((int(moment), evaluation) for moment, evaluation in points))
        object.__setattr__(self, "unit", str(unit))

    def __len__(self) -> int:
        return len(self.points)

    def headline(self) -> str:
        """Return when each metric is largest."""
        frame = self.to_frame().dropna(axis=1, how="all")
        best = [
            f"{one} is largest at {self.unit} {self.best(one):,} ({written(frame[one].max())})"
            for one in map(str, frame)
        ]
        return f"{joined(best, most=3)}." if best else "No metric has a score."

    def document(self) -> Document:
        """Return the document: the scores at each moment."""
        lines = []
        for metric in self.metrics:
            found = [(float(at), score) for at, each in self.points for score in each if score.metric == metric]
            ends = [one.interval for _, one in found if one.interval is not None]
            low, high = ([getattr(one, end) for one in ends] for end in ("low", "high"))
            band = (low, high) if len(ends) == len(found) else (None, None)
            lines.append(Line(metric, [at for at, _ in found], [one.value for _, one in found], *band))
        return replace(
            super(ScoreCurve, self).document(),
            figure=Lines("Scores in training", lines, (self.unit, "count"), ("score", "number")),
            scope=[count(len(self), "evaluation"), joined(self.metrics)],
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that have a score somewhere, in their order."""
        return tuple(dict.fromkeys(score.metric for _, evaluation in self.points for score in evaluation))

    def to_frame(self) -> pd.DataFrame:
        """Return a table: a row for each moment, a column for each metric; NaN where it has no score."""
        import pandas as pd

        return pd.DataFrame(
            [{score.metric: score.value for score in evaluation} for _, evaluation in self.points],
            index=pd.Index([moment for moment, _ in self.points], name=self.unit),
            columns=pd.Index(self.metrics, name="metric"),
            dtype=float,
        )

    def best(self, metric: str) -> int:
        """Return the moment of the largest score.

        Parameters
        ----------
        metric : str

        Returns
        -------
        int
            The first, if several are as large.

        Raises
        ------
        UnknownNameError
            If the metric has no score in this curve.
        """
        defined = self.to_frame().dropna(axis=1, how="all")
        if metric not in defined:
            hint = suggestion(str(metric), list(map(str, defined)))
            raise UnknownNameError("metric", f"{quoted(metric)} has no score in this curve{hint}")
        return self.points[int(np.nanargmax(defined[metric].to_numpy()))][0]
