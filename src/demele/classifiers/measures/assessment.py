"""What is known of one classifier: its measures, the bias that wrong labels may cause, what follows for the truth."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demele.classifiers.measures.confusion import ConfusionCounts
from demele.classifiers.measures.documents import assessment_document
from demele.classifiers.results import Estimate
from demele.core.errors import UnknownNameError
from demele.core.labelled import shown
from demele.core.result import Result
from demele.core.results import Note
from demele.core.signature import Signature

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Assessment(Result):
    """Every measure of one classifier, with its interval and the bias that wrong labels may cause.

    ``assessment["accuracy"]`` and ``assessment["precision", "cat"]`` are single estimates; averages are asked for as
    ``assessment["f1", "macro"]`` (a class of that name comes first).

    Attributes
    ----------
    estimates : tuple of Estimate
        Accuracy, error, then precision, recall and F1 of each class, then the averages.
    n : int
        Number of instances.
    classes : tuple
    level : float
        Nominal coverage of every interval, each by itself.
    confusion : ConfusionCounts
        Against the given labels.
    assumptions : tuple of str
        What must hold for the corrected intervals to keep their level, in sentences.
    notes : tuple of Note
    signature : Signature
    """

    _kind = "assessment"

    estimates: tuple[Estimate, ...]
    n: int
    classes: tuple[int | str, ...]
    level: float
    confusion: ConfusionCounts
    assumptions: tuple[str, ...]
    notes: tuple[Note, ...]
    signature: Signature

    def __getitem__(self, key: object) -> Estimate:
        measure, of = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        for estimate in self.estimates:
            if estimate.measure == measure and estimate.of == of:
                return estimate
        measures = list(dict.fromkeys(estimate.measure for estimate in self.estimates))
        over = list(dict.fromkeys(estimate.of for estimate in self.estimates if estimate.of is not None))
        raise UnknownNameError(
            f"{key!r} is not among the estimates: measures {', '.join(measures)}; precision, recall and f1 are of one "
            f"of {shown(over, 12)}, such as ['f1', {(over or ['cat'])[0]!r}]"
        )

    def __iter__(self) -> Any:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def to_frame(self) -> "pd.DataFrame":
        """One row per estimate, in a fixed order of columns."""
        import pandas as pd

        return pd.DataFrame([estimate.row() for estimate in self.estimates])

    document = assessment_document
