"""``demele list``: metrics, protocols, comparison methods and data sets."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from demele.cli.engine import Command
from demele.core.result import Result, about
from demele.report.document import Document
from demele.report.listing import table_of_frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Listing(Result):
    """What there is of one kind: a row each."""

    _kind = "list"

    what: str
    rows: tuple[Mapping[str, Any], ...]
    shown: tuple[str, ...] = field(metadata={"json": False})

    def to_frame(self) -> "pd.DataFrame":
        """Return everything, a row each."""
        import pandas as pd

        return pd.DataFrame(list(self.rows)).convert_dtypes()

    def document(self) -> Document:
        """Return the most important columns."""
        table, _ = table_of_frame(self.what, self.to_frame()[list(self.shown)])
        more = "--format json has everything."
        return Document(
            kind="List",
            title=self.what,
            headline=f"{len(self.rows)} {self.what}.",
            sentences=[more],
            table=replace(table, first=len(self.rows)),
            **about(self),
        )


def list_metrics() -> Listing:
    """List the metrics: what each measures, its range and its source."""
    import demele

    rows = []
    for name in demele.list_metrics():
        spec = demele.metrics.describe(name)
        low, high = (end if math.isfinite(end) else None for end in spec.range)
        span = " to ".join(dict.fromkeys("any" if end is None else f"{end:g}" for end in (low, high)))
        source = spec.source.replace(";", ",").replace(" (", ",").partition(",")[0]
        measures = "holistic" if len(spec.properties) > 1 else next(iter(spec.properties), "-")
        rows.append({**spec.facts(), "measures": measures, "range": span, "low": low, "high": high, "by": source})
    return Listing("metrics", tuple(rows), ("name", "measures", "range", "by"))


def list_protocols() -> Listing:
    """List the protocols: named settings of the metrics."""
    from demele.metrics.protocols import PROTOCOLS

    rows = [{"name": item.name, "summary": item.summary, "source": item.source} for item in PROTOCOLS.values()]
    return Listing("protocols", tuple(rows), ("name", "summary"))


def list_methods() -> Listing:
    """List the methods that compare classifiers."""
    from demele.classifiers.comparison.methods import METHODS

    rows = [{"name": name, "title": method.title, "source": method.source} for name, method in METHODS.items()]
    return Listing("methods", tuple(rows), ("name", "title"))


def list_datasets() -> Listing:
    """List the data sets of images: drawn, and read from your files."""
    from demele.data import describe, image_set_names

    rows = []
    for one in map(describe, image_set_names()):
        first = one.variants[0]
        rows.append(
            {
                "name": one.name,
                "title": one.title,
                "drawn": one.drawn,
                "images": first.n,
                "pixels": None if first.shape is None else " x ".join(map(str, first.shape)),
                "factors": " ".join(factor.name for factor in first.factors),
                "variants": " ".join(variant.name for variant in one.variants if variant.name),
                "licence": one.licence,
            }
        )
    return Listing("data sets", tuple(rows), ("name", "title", "images", "licence"))


METRICS, PROTOCOLS = Command({"": list_metrics}), Command({"": list_protocols})
METHODS, DATASETS = Command({"": list_methods}), Command({"": list_datasets})
