"""Screening of the links of a fabric, pruning during training, and how long fabrics take."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import LateModule, pd, rng_for
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import Count, CountOrNone, Level, Seed, Several, between, checked, checked_count
from demele.core.reading import path_of
from demele.core.result import TableResult
from demele.data.images import ImageSet
from demele.models.fabric.model import Fabric
from demele.models.results import FabricRun
from demele.report.document import Document, Line, Lines
from demele.report.words import count, name, written

if TYPE_CHECKING:
    import torch

    from demele.models import training as trainings
    from demele.models.fabric import criteria
    from demele.models.fabric import network as networks
else:
    torch, trainings = LateModule("torch"), LateModule("demele.models.training")
    criteria, networks = LateModule("demele.models.fabric.criteria"), LateModule("demele.models.fabric.network")


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
    runs: criteria.RadialRuns = field(metadata={"json": False})

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
    device = str(fabric.network.head.weight.device)
    with trainings.computing(threads=None, device=device, gradients=False):
        data = list(networks.Feed.of(images, None, fabric.spec, device).batches())
        rng = rng_for(seed, "criterion", "sobol", "links")
        runs = criteria.gate_runs(fabric.network, data, rng, n_repeats, low, sample)
    (first, total), own = runs.indices(), runs.effects
    ends = runs.intervals(level, rng_for(seed, "sobol", "intervals"))
    columns: dict[str, Any] = {"mean": np.abs(own).mean(axis=0), "spread": own.std(axis=0, ddof=1)}
    for what, value, (lower, upper) in zip(("first", "total"), (first, total), ends, strict=True):
        columns |= {what: value, f"{what}_low": lower, f"{what}_high": upper}
    return Screening(
        table=pd.DataFrame(columns, list(fabric.links)),
        evaluations=runs.values.size,
        images=min(sample, len(images)),
        low=low,
        level=level,
        runs=runs,
    )


# When a fabric is pruned while it is trained: early, late, or in steps ------------------------------------------------


@dataclass(frozen=True, slots=True)
class PruningSchedule:
    """Epochs after which a fabric is pruned, and the pruned share after each.

    Attributes
    ----------
    epochs : tuple of int
        Rising.
    shares : tuple of float
        Of what shall go in all, the part that has gone after each; rising to 1.

    Examples
    --------
    >>> PruningSchedule.iterative(5, 10, 75).epochs
    (5, 15, 25, 35, 45, 55, 65, 75)
    >>> PruningSchedule.iterative(1, 1, 4).shares
    (0.25, 0.5, 0.75, 1.0)
    """

    epochs: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def once(cls, epoch: int) -> PruningSchedule:
        """Return the schedule of one pruning: published after epoch 5 (early) or 75 (late).

        Raises
        ------
        InputError
        """
        return cls((checked_count(epoch, "epoch", 0),), (1.0,))

    @classmethod
    @checked
    def iterative(cls, first: CountOrNone = 5, every: Count = 10, last: int = 75) -> PruningSchedule:
        """Return the schedule of equal prunings; by default the published one.

        Raises
        ------
        InputError
        """
        epochs = tuple(range(first, checked_count(last, "last", first) + 1, every))
        return cls(epochs, tuple((place + 1) / len(epochs) for place in range(len(epochs))))


@checked
def fit_pruned(
    fabric: Fabric,
    images: ImageSet,
    labels: ArrayLike,
    *,
    epochs: int,
    schedule: PruningSchedule,
    fraction: Annotated[float, between(0, 1, "()")],
    levels: Sequence[Literal["links", "channels", "weights"]] = ("links",),
    criterion: str = "magnitude",
    judged_on: tuple[ImageSet, ArrayLike] | None = None,
    pruning: dict[str, Any] | None = None,
    folder: str | Path | None = None,
    **training: Any,
) -> FabricRun:
    """Train a fabric and prune it meanwhile; batch norms are averaged again after each pruning.

    Parameters
    ----------
    fabric : Fabric
        Whole; it is trained and pruned in place.
    images, labels
        Of the training.
    epochs : int
        In all.
    schedule : PruningSchedule
    fraction : float
        Share that shall go: of the links and channels of the whole fabric, and of the weights that are left then.
    levels : sequence of {"links", "channels", "weights"}
        Parts to prune; links first, then channels, then weights. The paper prunes links and weights.
    criterion : str
        As of :meth:`demele.lab.Fabric.scores`.
    judged_on : (ImageSet, labels), optional
        What the criterion looks at, if it looks at any: images that are not trained on.
    pruning : dict, optional
        More arguments of :meth:`demele.lab.Fabric.prune`, such as ``seed``, ``cap`` or ``min_links``.
    folder : str or Path, optional
        Where the file of each stretch between prunings is kept; the same call goes on from them to the same bits.
    **training
        Of :meth:`demele.lab.Fabric.fit`.

    Returns
    -------
    FabricRun
        A training that diverged ends there.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        As of both; also if the schedule goes beyond the epochs.

    Examples
    --------
    >>> from demele.data import clutter
    >>> from demele.lab import Fabric, PruningSchedule, fit_pruned
    >>> images = clutter(40, level=0).resized(4)
    >>> fabric = Fabric(2, 3, 4, image_channels=1)
    >>> early = PruningSchedule.once(1)
    >>> classes = images.positions()[:, 0]
    >>> run = fit_pruned(fabric, images, classes, epochs=2, schedule=early, fraction=0.3, batch=20)
    >>> run.epochs, [one["epoch"] for one in fabric.prunings]
    (2, [1])
    """
    if isinstance(levels, str) or not levels or not set(levels) <= set(criteria.LEVELS):
        raise InputError("levels", f"expected some of {', '.join(map(repr, criteria.LEVELS))}, got {quoted(levels)}")
    if not isinstance(schedule, PruningSchedule):
        raise InputTypeError("schedule", f"expected a PruningSchedule, got {type(schedule).__name__}")
    if schedule.epochs[-1] > epochs:
        raise InputError("schedule", f"expected no pruning after the last epoch, {epochs}, got {schedule.epochs[-1]}")
    criteria.check_criterion(criterion, {}, images=judged_on is not None, labels=judged_on is not None)
    for level in levels:
        criteria.check_level(criterion, level)
    where = None if folder is None else path_of(folder, "folder")
    if where is not None and not where.is_dir():
        raise InputError("folder", f"there is no folder {where}; make it first")

    def fitted(until: int) -> FabricRun:
        file = None if where is None else where / f"{len(fabric.prunings)}-{until}"
        return fabric.fit(images, labels, epochs=until, checkpoint=file, **training)

    for epoch, part in zip(schedule.epochs, schedule.shares, strict=True):
        if epoch and fitted(epoch).status == "diverged":
            return fabric.run
        for what in (one for one in criteria.LEVELS if one in levels):
            own = {"fraction_of": "live" if what == "weights" else "whole", **(pruning or {})}
            fabric.prune(what, part * fraction, criterion, *(judged_on or ()), **own)
        fabric.recalibrate(images, batch=training.get("batch", 64))
    return fitted(epochs) if fabric.run.epochs < epochs else fabric.run


# What pruning gains: counts of fabrics, and milliseconds measured side by side ----------------------------------------

#: What is timed of each fabric: forward in eval mode, the same after export, and a step of training.
TIMED = ("forward_ms", "exported_ms", "training_ms")


@checked
def benchmark(
    fabrics: Mapping[str, Fabric], *, batch: Several = 64, n_repeats: Count = 5, threads: Count = 1, seed: Seed = 0
) -> pd.DataFrame:
    """Return sizes and times of fabrics, compared with the first one.

    Parameters
    ----------
    fabrics : mapping of str to Fabric
        Such as ``{"whole": whole, "pruned": pruned}``; of one image size.
    batch : int, default 64
        Images at a time.
    n_repeats : int, default 5
        Rounds with one turn for each fabric, so that other load on the machine affects all fabrics equally. The median
        is reported.
    threads : int, default 1
        Of PyTorch on the CPU.
    seed : int, default 0
        Random seed of the images, which are noise.

    Returns
    -------
    DataFrame
        A row for each fabric: ``links``, ``parameters``, ``nonzero`` (weights of links that are not masked),
        ``multiply_adds`` of the links for one image; ``forward_ms``, ``exported_ms`` and ``training_ms`` of a batch;
        and how many times faster than the first each is: ``forward_gain``, ``exported_gain`` (against the first's
        forward pass), ``training_gain``.

    Raises
    ------
    InputError, InputTypeError

    Notes
    -----
    Masked weights are multiplied like all others: pruning weights gains no time, and the table says so. Removed links
    and channels do. Run it where nothing else does.

    Examples
    --------
    >>> from demele.lab import Fabric, benchmark
    >>> whole = Fabric(2, 3, 4, image_channels=1)
    >>> pruned = whole.copy()
    >>> plan = pruned.prune("links", 0.3, min_links="shortest")
    >>> table = benchmark({"whole": whole, "pruned": pruned}, batch=4, n_repeats=1)
    >>> bool(table["multiply_adds"]["pruned"] < table["multiply_adds"]["whole"])
    True
    """
    if not isinstance(fabrics, Mapping) or not all(isinstance(one, Fabric) for one in fabrics.values()) or not fabrics:
        raise InputTypeError("fabrics", "expected a mapping of names to fabrics, such as {'whole': a, 'pruned': b}")
    shapes = {one.spec.image_shape for one in fabrics.values()}
    if len(shapes) > 1:
        told = " and ".join(" x ".join(map(str, shape)) for shape in sorted(shapes))
        raise InputError("fabrics", f"expected fabrics for images of one size, got {told}")
    ((height, width, channels),) = shapes
    noise = rng_for(seed, "benchmark", batch).integers(0, 256, (batch, channels, height, width))
    pixels, labels = networks.seen(torch.from_numpy(noise.astype(np.uint8))), torch.zeros(batch, dtype=torch.long)
    forms: dict[str, tuple[Any, Any, Any]] = {  # in the order of TIMED
        str(name): (one.copy().network.cpu(), one.export().cpu(), one.copy().network.cpu().train())
        for name, one in fabrics.items()
    }
    optimisers = {name: torch.optim.SGD(own[-1].parameters(), lr=0.0, momentum=0.9) for name, own in forms.items()}

    def milliseconds(name: str) -> list[float]:
        found = []
        for network in forms[name]:
            begun = time.perf_counter()
            if network.training:
                networks.stepped(network, optimisers[name], pixels, labels)
            else:
                with torch.no_grad():
                    network(pixels)
            found.append(1000 * (time.perf_counter() - begun))
        return found

    with trainings.computing(threads=threads, device="cpu", gradients=True):
        # the first call prepares what later ones use
        measured = [{name: milliseconds(name) for name in forms} for _ in range(1 + n_repeats)][1:]
    rows = {}
    for called, fabric in zip(forms, fabrics.values(), strict=True):
        counts = fabric.counts()
        own = {one: getattr(counts, one) for one in ("links", "parameters", "nonzero", "multiply_adds")}
        times = np.median([one[called] for one in measured], axis=0)
        rows[called] = {**own, **dict(zip(TIMED, times.tolist(), strict=True))}
    table = pd.DataFrame.from_dict(rows, orient="index")
    first = table.iloc[0]
    table["forward_gain"] = first["forward_ms"] / table["forward_ms"]
    table["exported_gain"] = first["forward_ms"] / table["exported_ms"]
    table["training_gain"] = first["training_ms"] / table["training_ms"]
    return table
