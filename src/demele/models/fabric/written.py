"""A fabric as plain values and as a page: what it was, what is left of it, and what that gained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.core.checked_numbers import checked_count
from demele.core.errors import InputError, InputTypeError
from demele.core.publish import publish
from demele.core.version import __version__
from demele.core.written import plain
from demele.models.fabric.counts import counted
from demele.models.fabric.drawing import structure_svg
from demele.models.fabric.lattice import Link
from demele.models.fabric.prunable import PrunableFabric

if TYPE_CHECKING:
    import pandas as pd

#: What the page shows of :func:`demele.models.benchmark`.
_TIMES = ("links", "parameters", "nonzero", "multiply_adds", "forward_ms", "exported_ms", "training_ms")
_GAINS = ("forward_gain", "exported_gain", "training_gain")


class WrittenFabric(PrunableFabric):
    """What is written of a fabric."""

    def to_dict(
        self,
        *,
        timings: pd.DataFrame | None = None,
        errors: Mapping[str, float] | None = None,
        images: int | None = None,
    ) -> dict[str, Any]:
        """Return structure, counts, prunings and history as plain values that JSON can hold; no weights.

        Parameters
        ----------
        timings : DataFrame, optional
            Of :func:`demele.models.benchmark`.
        errors : mapping of str to float, optional
            Shares of images that were mistaken, by what was measured, such as ``{"before": 0.05, "pruned": 0.07}``.
        images : int, optional
            How many images the errors were counted on: each then has its 95 % interval (Wilson, 1927).

        Raises
        ------
        InputError, InputTypeError
            For a table that is not of a benchmark, or an error that is no share.
        """
        spec, lattice = self.spec, self.lattice
        everything = spec.lattice()
        whole = counted(spec, everything, dict.fromkeys(everything.nodes, spec.channels))
        found: dict[str, Any] = plain(
            {
                "kind": "fabric",
                "demele": __version__,
                "spec": spec.to_dict(),
                "image_shape": list(spec.image_shape),
                "links": [link.name for link in lattice.links],
                "widths": {f"{node.layer}.{node.scale}": width for node, width in self.network.widths.items()},
                "counts": self.counts().to_dict(),
                "whole": whole.to_dict(),
                "prunings": self.prunings,
                "run": self.run.to_dict(),
                "training": self._past["training"],
                "trained_on": self.trained_on,
                "errors": [
                    {"stage": str(stage), "error": _share(value), **_counted_on(value, images)}
                    for stage, value in (errors or {}).items()
                ],
                "benchmark": _rows(timings),
            }
        )
        return found

    def to_html(
        self,
        path: str | Path,
        *,
        scores: Mapping[str, float] | pd.Series[float] | None = None,
        timings: pd.DataFrame | None = None,
        errors: Mapping[str, float] | None = None,
        images: int | None = None,
        name: str | None = None,
    ) -> Path:
        """Write one self-contained page: the structure beside the whole one, counts, prunings, training, times.

        Parameters
        ----------
        path : str or Path
        scores : mapping of link to float, optional
            As of :meth:`scores`, by default those of ``"magnitude"``; the higher, the wider is the link.
        timings, errors, images
            As of :meth:`to_dict`.
        name : str, optional
            What the page calls the fabric.

        Returns
        -------
        Path

        Raises
        ------
        InputError, InputTypeError, OutputError
        """
        content = self.to_dict(timings=timings, errors=errors, images=images)
        given = self.scores("magnitude") if scores is None else scores
        judged = "magnitude" if scores is None else str(getattr(scores, "name", None) or "the scores given")
        by_link: Mapping[Link, float] = self._by_link(given)
        whole = self.spec.lattice()
        pictures = {"now": structure_svg(self.lattice, by_link, widths=self._odd_widths(), title="What is left")}
        if len(whole.links) > len(self.lattice.links):
            pictures["whole"] = structure_svg(whole, title="The whole fabric")
        content |= {"name": name, "pictures": pictures, "scored_by": judged}
        written: Path = publish("fabric", content, path)
        return written


def _share(value: Any) -> float:
    share = float(value)
    if not 0 <= share <= 1:
        raise InputError("errors", f"expected shares of images, from 0 to 1, got {share:g}")
    return share


def _counted_on(share: float, images: int | None) -> dict[str, Any]:
    """Return how many images an error was counted on, and its interval."""
    if images is None:
        return {}
    from scipy.stats import binomtest

    count = checked_count(images, "images", 1)
    found = binomtest(round(share * count), count).proportion_ci(0.95, method="wilson")
    return {"images": count, "low": float(found.low), "high": float(found.high)}


def _rows(timings: Any) -> list[dict[str, Any]]:
    """Return what a benchmark found, a dictionary for each fabric."""
    if timings is None:
        return []
    wanted = (*_TIMES, *_GAINS)
    if not hasattr(timings, "columns") or not set(wanted) <= set(timings.columns):
        raise InputTypeError("timings", "expected the table of demele.models.benchmark")
    return [{"name": str(name), **{one: row[one] for one in wanted}} for name, row in timings.iterrows()]
