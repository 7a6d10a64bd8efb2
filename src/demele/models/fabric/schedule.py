"""When a fabric is pruned while it is trained: early, late, or in steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from numpy.typing import ArrayLike

from demele.core.checked_numbers import checked_count
from demele.core.errors import InputError, InputTypeError, quoted
from demele.core.kinds import Count, CountOrNone, between, checked
from demele.core.reading import path_of
from demele.data.images import ImageSet
from demele.models.fabric.model import Fabric
from demele.models.fabric.results import FabricRun


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
    from demele.models.fabric.prune import LEVELS, check_level, checked_criterion

    if isinstance(levels, str) or not levels or not set(levels) <= set(LEVELS):
        raise InputError("levels", f"expected some of {', '.join(map(repr, LEVELS))}, got {quoted(levels)}")
    if not isinstance(schedule, PruningSchedule):
        raise InputTypeError("schedule", f"expected a PruningSchedule, got {type(schedule).__name__}")
    if schedule.epochs[-1] > epochs:
        raise InputError("schedule", f"expected no pruning after the last epoch, {epochs}, got {schedule.epochs[-1]}")
    checked_criterion(criterion, {}, images=judged_on is not None, labels=judged_on is not None)
    for level in levels:
        check_level(criterion, level)
    where = None if folder is None else path_of(folder, "folder")
    if where is not None and not where.is_dir():
        raise InputError("folder", f"there is no folder {where}; make it first")

    def fitted(until: int) -> FabricRun:
        file = None if where is None else where / f"{len(fabric.prunings)}-{until}"
        return fabric.fit(images, labels, epochs=until, checkpoint=file, **training)

    for epoch, part in zip(schedule.epochs, schedule.shares, strict=True):
        if epoch and fitted(epoch).status == "diverged":
            return fabric.run
        for what in (one for one in LEVELS if one in levels):
            own = {"fraction_of": "live" if what == "weights" else "whole", **(pruning or {})}
            fabric.prune(what, part * fraction, criterion, *(judged_on or ()), **own)
        fabric.recalibrate(images, batch=training.get("batch", 64))
    return fitted(epochs) if fabric.run.epochs < epochs else fabric.run
