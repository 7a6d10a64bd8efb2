"""What the training of a fabric has come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from demele.core.shown import Worded
from demele.core.written import Written, plain

if TYPE_CHECKING:
    import pandas as pd


Status = Literal["new", "running", "done", "interrupted", "diverged"]
STATUSES = get_args(Status)
#: Columns of a history.
ROW = ("epoch", "rate", "loss", "error", "images_per_second")


# A frame has no single truth value, so a generated == would fail: runs compare by identity.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FabricRun(Written, Worded):
    """A training of a fabric: how it ended, and what each epoch came to.

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

    status: Status
    epochs: int
    seconds: float
    history: pd.DataFrame
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values that JSON can hold."""
        data = {name: getattr(self, name) for name in self.__slots__}
        found: dict[str, Any] = plain({**data, "history": self.history.to_dict(orient="list")})
        return found

    @property
    def sentence(self) -> str:
        """How the training ended, and what it came to."""
        went = {"done": "is done", "running": "is not done", "interrupted": "was interrupted", "diverged": "diverged"}
        told = f"The training {went.get(self.status, self.status)} after {self.epochs} epochs"
        if self.history.empty:
            return f"{told}."
        return f"{told}: it errs on {self.history.iloc[-1].error:.1%} of the images that it was trained on."

    def _rows_shown(self) -> pd.DataFrame:
        return self.history.tail(12)

    def __repr__(self) -> str:
        if self.history.empty:
            return f"FabricRun({self.status})"
        last = self.history.iloc[-1]
        return f"FabricRun({self.status} after {self.epochs} epochs; loss {last.loss:.4g}, error {last.error:.1%})"


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
