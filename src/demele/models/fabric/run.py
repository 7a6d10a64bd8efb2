"""The training of a fabric: how it ended, and its epochs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from demele.core.result import Result
from demele.models.fabric.documents import run_document
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd


Status = Literal["new", "running", "done", "interrupted", "diverged"]
STATUSES = get_args(Status)
#: Columns of a history.
ROW = ("epoch", "rate", "loss", "error", "images_per_second")


# A frame has no single truth value, so a generated == would fail: runs compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FabricRun(Result):
    """A training of a fabric: its end, and the figures of each epoch.

    Attributes
    ----------
    status : {"new", "running", "done", "interrupted", "diverged"}
        "new": nothing was trained. "running": read from the file of a training that was killed, or goes on elsewhere.
    epochs : int
        That the weights have behind them.
    seconds : float
        That they took, over all calls.
    history : DataFrame
        A row for each epoch: ``epoch``, ``rate``, ``loss`` and ``error`` on the images as they were trained on, and
        ``images_per_second``.
    problem : str
        Why it diverged; empty unless it did.
    """

    _kind = "training of a fabric"

    status: Status
    epochs: int
    seconds: float
    history: pd.DataFrame
    problem: str = ""

    def document(self) -> Document:
        """Return the document: the end of the training, and its last epochs."""
        return run_document(self)


def run_of(content: Mapping[str, Any]) -> FabricRun:
    """Return the run that a file, or its content in memory, tells of."""
    import pandas as pd

    return FabricRun(
        status=content["status"],
        epochs=content["epoch"],
        seconds=content["seconds"],
        history=pd.DataFrame(content["history"], columns=list(ROW)),
        problem=content["problem"],
    )
