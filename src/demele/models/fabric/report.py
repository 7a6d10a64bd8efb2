"""A report about a fabric: what it was, what is left of it, and what that gained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demele.core.checked_numbers import checked_count, checked_number
from demele.core.errors import InputTypeError
from demele.core.result import Result
from demele.core.uncertainty import Interval
from demele.core.version import __version__
from demele.models.fabric.counts import FabricCounts, counted
from demele.models.fabric.documents import fabric_document
from demele.models.fabric.prunable import PrunableFabric
from demele.models.fabric.run import FabricRun
from demele.report.document import Document

if TYPE_CHECKING:
    import pandas as pd

#: Columns of :func:`demele.models.benchmark` that a report holds.
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
        Rows of :func:`demele.models.benchmark`.
    version : str
    """

    _kind = "fabric"

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

    def document(self) -> Document:
        """Return what is left of the fabric, and what pruning gained."""
        return fabric_document(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each quantity, of the whole fabric and of this one, and one for each error."""
        import pandas as pd

        counts = self.counts.to_frame().rename(columns={"count": "now"}).astype({"now": object})
        counts.insert(1, "whole", self.whole.to_frame()["count"].astype(object))
        errors = [{"quantity": f"error, {one.stage}", "now": one.error} for one in self.errors]
        return pd.concat([counts, pd.DataFrame(errors, columns=counts.columns, dtype=object)], ignore_index=True)


class ReportedFabric(PrunableFabric):
    """A fabric that can be reported."""

    def report(
        self,
        *,
        scores: Mapping[str, float] | pd.Series[float] | None = None,
        timings: pd.DataFrame | None = None,
        errors: Mapping[str, float] | None = None,
        images: int | None = None,
        name: str = "",
    ) -> FabricReport:
        """Return a report, which can be printed and written as a page, a table for papers, or JSON.

        Parameters
        ----------
        scores : mapping of link to float, optional
            As of :meth:`scores`, by default those of ``"magnitude"``: the widths of the links in the figure.
        timings : DataFrame, optional
            Of :func:`demele.models.benchmark`.
        errors : mapping of str to float, optional
            Shares of images that were mistaken, by stage, such as ``{"before": 0.05, "pruned": 0.07}``.
        images : int, optional
            How many images the errors were counted on: each then has its 95 % interval (Wilson, 1927).
        name : str, optional
            Title of the page.

        Raises
        ------
        InputError, InputTypeError
            For a table that is not of a benchmark, or an error that is no share.

        Examples
        --------
        >>> from demele.models import Fabric
        >>> report = Fabric(2, 3, 4, image_channels=1).report()
        >>> report.counts.links, report.sentence
        (11, 'The fabric is not trained.')
        """
        spec = self.spec
        everything = spec.lattice()
        given = self.scores("magnitude") if scores is None else scores
        judged = "magnitude" if scores is None else str(getattr(scores, "name", None) or "the scores given")
        stages = {} if errors is None else errors
        if not isinstance(stages, Mapping):
            raise InputTypeError("errors", f"expected shares by what was measured, got {type(errors).__name__}")
        return FabricReport(
            name=name,
            spec=spec.to_dict(),
            image_shape=spec.image_shape,
            counts=self.counts(),
            whole=counted(spec, everything, dict.fromkeys(everything.nodes, spec.channels)),
            link_scores={link.name: score for link, score in self._by_link(given).items()},
            scored_by=judged,
            widths={node.name: width for node, width in self.network.widths.items()},
            prunings=self.prunings,
            run=self.run,
            training=self._past["training"],
            trained_on=self.trained_on,
            errors=tuple(_error(str(stage), value, images) for stage, value in stages.items()),
            benchmark=_rows(timings),
            version=__version__,
        )


def _error(stage: str, value: Any, images: int | None) -> StageError:
    error = checked_number(value, "errors", "shares of images, from 0 to 1", inside=lambda share: 0 <= share <= 1)
    if images is None:
        return StageError(stage=stage, error=error, images=None, interval=None)
    from scipy.stats import binomtest

    n = checked_count(images, "images", 1)
    found = binomtest(round(error * n), n).proportion_ci(0.95, method="wilson")
    interval = Interval(low=float(found.low), high=float(found.high), level=0.95, method="wilson")
    return StageError(stage=stage, error=error, images=n, interval=interval)


def _rows(timings: Any) -> tuple[dict[str, Any], ...]:
    """Return the rows of a benchmark, with the names of the fabrics."""
    if timings is None:
        return ()
    if not hasattr(timings, "columns") or not set(_TIMES) <= set(timings.columns):
        raise InputTypeError("timings", "expected the table of demele.models.benchmark")
    return tuple({"name": str(name), **{one: row[one] for one in _TIMES}} for name, row in timings.iterrows())
