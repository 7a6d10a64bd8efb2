"""A random sample with true labels: how the labels of each class were wrong."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demele.core.checked_numbers import checked_level
from demele.core.kinds import Classes
from demele.core.result import Result, plain
from demele.noise.documents import counts_document
from demele.noise.transition import TransitionCounts, estimate_transition
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedSample(Result):
    """Labels of a random sample by true class, with intervals of a level; see :func:`count_labels`."""

    _kind = "counted sample"

    table: TransitionCounts
    level: float

    def document(self) -> Document:
        """Return the share of wrong labels with its interval, and the counts."""
        return counts_document(self.table, self.level)

    def to_frame(self) -> "pd.DataFrame":
        """Return the counts: a row per true class, a column per given class."""
        return self.table.to_frame().reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Everything, with intervals of the share of wrong labels, in all and per true class."""
        found = self.table
        told = {"n": found.n, "wrong": found.wrong, "rate": found.rate, "notes": found.notes}
        intervals = {
            "interval": found.rate_interval(level=self.level),
            "per_class": found.per_class(level=self.level),
        }
        return {**found.to_dict(), "kind": self._kind, "level": self.level, **plain({**told, **intervals})}


def count_labels(
    true_labels: object, given_labels: object, *, classes: Classes = None, level: float = 0.95
) -> CountedSample:
    """Count the labels of a random sample by their true classes.

    Parameters
    ----------
    true_labels, given_labels : array-like of shape (n,)
        Of the same instances: a uniform random sample.
    classes : sequence, optional
        All classes, in the order of the result (default: those of both, sorted).
    level : float
        Confidence of the intervals.

    Examples
    --------
    >>> count_labels([0, 0, 0, 1], [0, 0, 1, 1]).table.rate
    0.25
    """
    counts = estimate_transition(true_labels, given_labels, classes=classes)
    return CountedSample(counts, checked_level(level))
