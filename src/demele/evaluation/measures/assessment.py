"""What is known of one classifier: its measures, the bias that wrong labels may cause, what follows for the truth."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from demele.core.errors import UnknownNameError
from demele.core.labelled import shown
from demele.core.results import Note
from demele.core.shown import Shown
from demele.core.signature import Signature
from demele.core.written import ForPapers, Published, plain
from demele.evaluation.measures.confusion import ConfusionCounts
from demele.evaluation.results import Estimate

if TYPE_CHECKING:
    import pandas as pd


#: A confusion matrix of more classes is not written into reports.
MAX_REPORTED_CLASSES = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Assessment(Published, ForPapers, Shown):
    """Every measure of one classifier, with its interval, the bias that wrong labels may cause, and what follows.

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

    _page = "assessment"
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

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold (NaN becomes None).

        The confusion counts are left out (None) for more than 50 classes.
        """
        few = len(self.classes) <= MAX_REPORTED_CLASSES
        table = {"rows": self.confusion.rows, "classes": self.classes, "counts": self.confusion.counts}
        data = {
            "kind": "assessment",
            "demele": dict(self.signature.context).get("demele"),
            "n": self.n,
            "classes": self.classes,
            "level": self.level,
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "confusion": table if few else None,
            "assumptions": self.assumptions,
            "notes": [asdict(note) for note in self.notes],
            "signature": str(self.signature),
        }
        cleaned: dict[str, Any] = plain(data)
        return cleaned

    def plot(self, *, show: str = "whole", ax: Any = None) -> Any:
        """Draw intervals on the given labels and, where something is known of these, on right ones, with matplotlib.

        Parameters
        ----------
        show : {"whole", "classes"}
            The measures of all classes, or F1 of each, the weakest first.
        ax : matplotlib.axes.Axes, optional
            Where to draw; in a figure of its own if None.

        Returns
        -------
        matplotlib.axes.Axes
            Its ``figure`` can be saved.

        Raises
        ------
        MissingExtraError
            Without matplotlib (``demele[pictures]``).
        InputError, NotEnoughData
            For another picture, or one of which there is nothing to draw.
        """
        return self._drawn(ax, show=show)

    def __repr__(self) -> str:
        lines = [f"Assessment of {self.n} instances, {len(self.classes)} classes, intervals at {self.level:.4g}"]
        of_classes = set(self.classes)
        shown_ones = [estimate for estimate in self.estimates if estimate.of is None or estimate.of not in of_classes]
        lines += [f"  {_line(estimate)}" for estimate in shown_ones]
        hidden = len(self.estimates) - len(shown_ones)
        lines += [f"  {hidden} estimates of single classes: to_frame()"] * (hidden > 0)
        lines += [f"  {note.message}" for note in self.notes if note.severity != "info"]
        return "\n".join(lines)


def _line(estimate: Estimate) -> str:
    name = estimate.measure if estimate.of is None else f"{estimate.of} {estimate.measure}"
    text = f"{name} {estimate.value:.4f}" + ("" if estimate.interval is None else f" {estimate.interval}")
    if estimate.bias is not None:
        low, high = estimate.bias
        text += f", bias {low:+.4f}" + (f" to {high:+.4f}" if high != low else "")
    return text + ("" if estimate.corrected is None else f", corrected {estimate.corrected}")
