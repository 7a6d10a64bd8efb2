"""Screening of the links of a fabric: mean and spread of their effects, and Sobol indices."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from demele.core.kinds import Count, Level, Seed, Several, between, checked
from demele.core.result import TableResult
from demele.core.seeds import rng_for
from demele.models.fabric.radial import RadialRuns
from demele.report.document import Document, Line, Lines
from demele.report.words import count, name, written

if TYPE_CHECKING:
    import pandas as pd

    from demele.data.images import ImageSet
    from demele.models.fabric.model import Fabric

#: Links that the figure names.
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Screening(TableResult):
    """How each link of a fabric acts on its output: mean and spread of its effects, and its Sobol indices.

    Attributes
    ----------
    table : DataFrame
        A row for each link. ``mean`` is that of the absolute effects (Morris' mu*), ``spread`` the standard deviation
        of the effects (sigma): 0 for a link that acts alone and in a straight line. ``first`` and ``total`` are shares
        of the variance of the output: by the link alone, and with all its interactions; with the ends of intervals.
    evaluations : int
        Values of the fabric that were computed: repeats (links + 2).
    images : int
    low : float
        Smallest gate.
    level : float
        Of each interval by itself.
    runs : RadialRuns
        The values themselves.
    """

    _kind = "screening of links"
    _figure = "total"
    _forms: ClassVar[dict[str, str]] = dict.fromkeys(("mean", "spread", "first", "total"), "number.3")

    table: pd.DataFrame
    evaluations: int
    images: int
    low: float
    level: float
    runs: RadialRuns = field(metadata={"json": False})

    def headline(self) -> str:
        """Return the link with the largest total index, and what that cost."""
        best = str(self.table["total"].idxmax())
        share, cost = written(self.table["total"][best], "percent"), count(self.evaluations, "evaluation")
        if self.table["total_high"][best] > 1:
            return f"Too few repeats to say which link matters most ({cost}): give n_repeats= more."
        return f"Link {name(best)} and its interactions make {share} of the variance of the output ({cost})."

    def to_frame(self) -> pd.DataFrame:
        """Return the table, the links in its first column."""
        return self.table.rename_axis("link").reset_index()

    def document(self) -> Document:
        """Return the table, and the figure of mean and spread."""
        ranked = self.table.sort_values("mean", ascending=False)
        parts = {str(link): ranked.loc[[link]] for link in ranked.index[:_NAMED]}
        parts["other links"] = ranked.iloc[_NAMED:]
        points = [Line(what, [*own["mean"]], [*own["spread"]], dots=True) for what, own in parts.items() if len(own)]
        axes = ("Mean of the absolute effects", "number"), ("Spread of the effects", "number")
        figure = Lines("Mean and spread of the effects of links", points, *axes)
        return replace(TableResult.document(self), figure=figure)


@checked
def screen_links(
    fabric: Fabric,
    images: ImageSet,
    *,
    n_repeats: Several = 32,
    low: Annotated[float, between(0, 1, "[)")] = 0.5,
    sample: Count = 32,
    level: Level = 0.95,
    seed: Seed = 0,
) -> Screening:
    """Return how each link of a fabric acts on its output: mean and spread of its effects, and its Sobol indices.

    A gate on each link, between ``low`` and 1, multiplies what the link adds. The output is the mean length of the
    value of the last node. Screening and indices come from the same runs, in which one gate after the other is drawn
    again while all others are anywhere (Campolongo, Saltelli and Cariboni 2011). No label is looked at.

    Parameters
    ----------
    fabric : Fabric
    images : ImageSet
        That were not trained on.
    n_repeats : int, default 32
        Each costs a look at the sample for every link, and two more; the intervals say whether there were enough.
    low : float, default 0.5
        Smallest gate, in [0, 1); 0 removes a link.
    sample : int, default 32
        Images that are looked at, drawn from all.
    level : float, default 0.95
        Level of each interval by itself: percentiles of 1000 resamples of the runs.
    seed : int, default 0
        Random seed.

    Returns
    -------
    Screening
        ``table`` has a row for each link; the figure of its page shows mean and spread.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> from demele.data import clutter
    >>> from demele.lab import Fabric, screen_links
    >>> found = screen_links(Fabric(2, 4, 4, image_channels=1), clutter(8).resized(8), n_repeats=2)
    >>> found.evaluations, list(found.table)[:3]
    (36, ['mean', 'spread', 'first'])
    """
    import pandas as pd

    from demele.models.fabric.criteria import gate_runs
    from demele.models.fabric.train import Feed, checked_images
    from demele.models.networks import computing

    device = str(fabric.network.head.weight.device)
    with computing(threads=None, device=device, gradients=False):
        data = Feed(checked_images(images, fabric.spec), None, device).batches()
        runs = gate_runs(fabric.network, data, rng_for(seed, "criterion", "sobol", "links"), n_repeats, low, sample)
    (first, total), own = runs.indices(), runs.effects
    ends = runs.intervals(level, rng_for(seed, "sobol", "intervals"))
    columns: dict[str, Any] = {"mean": np.abs(own).mean(axis=0), "spread": own.std(axis=0, ddof=1)}
    for what, value, (lower, upper) in zip(("first", "total"), (first, total), ends, strict=True):
        columns |= {what: value, f"{what}_low": lower, f"{what}_high": upper}
    return Screening(
        table=pd.DataFrame(columns, list(fabric.links)),
        evaluations=runs.evaluations,
        images=min(sample, len(images)),
        low=low,
        level=level,
        runs=runs,
    )
