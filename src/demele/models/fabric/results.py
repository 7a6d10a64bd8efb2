"""Results about fabrics: a training, and a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from demele.core.checked_numbers import checked_rate
from demele.core.errors import InputError, InputTypeError
from demele.core.kinds import Count, checked
from demele.core.result import Result
from demele.core.uncertainty import Interval
from demele.models.fabric.documents import fabric_document, run_document
from demele.models.fabric.lattice import FabricCounts

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

    document = run_document


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


#: Columns of :func:`demele.lab.benchmark` that a report holds.
_TIMES = (
    *("links", "parameters", "nonzero", "multiply_adds", "forward_ms", "exported_ms", "training_ms"),
    *("forward_gain", "exported_gain", "training_gain"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageError:
    """The error of a fabric at a stage.

    Attributes
    ----------
    stage : str
        Such as ``"before"`` or ``"fine-tuned"``.
    error : float
        Share of images that were mistaken.
    images : int or None
        How many were counted.
    interval : Interval or None
        At 95% (Wilson 1927), where the number of images is known.
    """

    stage: str
    error: float
    images: int | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FabricReport(Result):
    """A fabric as data, without weights: structure, counts, prunings, training, errors and times.

    Attributes
    ----------
    name : str
    spec : mapping
        Structure of the whole fabric.
    image_shape : tuple of int
    counts, whole : FabricCounts
        Of the fabric, and of the whole one.
    link_scores : mapping of str to float
        By the names of the remaining links.
    scored_by : str
    widths : mapping of str to int
        Channels of each node.
    prunings : tuple of mapping
    run : FabricRun
    training, trained_on : mapping or None
        Settings of the training, and its images.
    errors : tuple of StageError
    benchmark : tuple of mapping
        Rows of :func:`demele.lab.benchmark`.
    version : str
    fabric : Fabric or None
        The fabric itself.
    """

    _kind = "fabric"
    _files: ClassVar[Mapping[str, str]] = {".fabric": "save", ".svg": "to_svg", ".history.csv": "history_frame"}

    name: str
    spec: Mapping[str, Any]
    image_shape: tuple[int, int, int]
    counts: FabricCounts
    whole: FabricCounts
    link_scores: Mapping[str, float]
    scored_by: str
    widths: Mapping[str, int]
    prunings: tuple[Mapping[str, Any], ...]
    run: FabricRun
    training: Mapping[str, Any] | None
    trained_on: Mapping[str, Any] | None
    errors: tuple[StageError, ...]
    benchmark: tuple[Mapping[str, Any], ...]
    version: str
    fabric: Any = field(default=None, metadata={"json": False})

    def history_frame(self) -> pd.DataFrame:
        """Return the course of the training, a row for each epoch."""
        return self.run.history

    def save(self, path: str | Path) -> Path:
        """Write the fabric to a file; see :meth:`Fabric.save`."""
        written: Path = self._held().save(path)
        return written

    def to_svg(self, path: str | Path) -> str:
        """Write the structure as a picture, links as wide as their scores are high."""
        drawn: str = self._held().to_svg(path, scores=self.link_scores)
        return drawn

    def _held(self) -> Any:
        if self.fabric is None:
            raise InputError("fabric", "this report was made without its fabric; use that of Fabric.report()")
        return self.fabric

    document = fabric_document

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each quantity, of the whole fabric and of this one, and one for each error."""
        import pandas as pd

        counts = self.counts.to_frame().rename(columns={"count": "now"}).astype({"now": object})
        counts.insert(1, "whole", self.whole.to_frame()["count"].astype(object))
        errors = [{"quantity": f"error, {one.stage}", "now": one.error} for one in self.errors]
        return pd.concat([counts, pd.DataFrame(errors, columns=counts.columns, dtype=object)], ignore_index=True)


@checked
def stage_error(stage: str, value: Any, images: Count | None) -> StageError:
    """Return the error of a stage, with its interval if the number of images is known.

    Raises
    ------
    InputError
    """
    error = checked_rate(value, "errors", "the images")
    if images is None:
        return StageError(stage=stage, error=error, images=None, interval=None)
    from scipy.stats import binomtest

    found = binomtest(round(error * images), images).proportion_ci(0.95, method="wilson")
    interval = Interval(low=float(found.low), high=float(found.high), level=0.95, method="wilson")
    return StageError(stage=stage, error=error, images=images, interval=interval)


def benchmark_rows(timings: Any) -> tuple[dict[str, Any], ...]:
    """Return the rows of a benchmark, with the names of the fabrics.

    Raises
    ------
    InputTypeError
    """
    if timings is None:
        return ()
    if not hasattr(timings, "columns") or not set(_TIMES) <= set(timings.columns):
        raise InputTypeError("timings", "expected the table of demele.lab.benchmark")
    return tuple({"name": str(name), **{one: row[one] for one in _TIMES}} for name, row in timings.iterrows())
