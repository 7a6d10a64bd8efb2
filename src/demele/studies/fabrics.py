"""Fabrics trained on divided images, pruned with the errors on the way, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from demele.core.errors import DemeleWarning, InputError, InputTypeError, warn_user
from demele.core.kinds import Kind, checked, checked_count, number_or_name
from demele.core.reading import path_of
from demele.data.images import digest_of
from demele.models.fabric.annotators import fabric_preset
from demele.models.fabric.lattice import CAP, scales_of
from demele.models.fabric.model import Fabric
from demele.models.fabric.results import FabricReport
from demele.models.fabric.screening import benchmark as benchmarked
from demele.studies.divided import Parts


@checked
def train_fabric(
    parts: Parts,
    *,
    preset: Literal["ci", "embedded", "print", "annotator"] = "embedded",
    layers: int | None = None,
    channels: int | None = None,
    normalisation: Literal["link", "node"] = "link",
    activation: Literal["relu6", "relu"] = "relu6",
    epochs: int | None = None,
    batch: int | None = None,
    rate: float | None = None,
    momentum: float | None = None,
    weight_decay: float | None = None,
    milestones: Sequence[int] | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int = 1,
    checkpoint: Annotated[str | Path | None, Kind("FILE", Path)] = None,
) -> FabricReport:
    """Train a convolutional fabric on images and their classes, and keep it in a file.

    Parameters
    ----------
    parts : Parts
        Of :func:`divide_images`.
    preset : {"ci", "embedded", "print", "annotator"}
        Structure and training that go together. ``ci``: 3 layers of 8 channels, 5 epochs, seconds. ``embedded``: 4
        layers of 16 channels, 10 epochs, about a minute for 8,000 images of 16 x 16 on a CPU. ``print``: 8 layers of 64
        channels, 200 epochs, as published, on a GPU; the rate is divided by ten after epochs 80 and 120.
        ``annotator``: the same, after epochs 50 and 80.
    layers : int, optional
        Layers (default: by preset).
    channels : int, optional
        Channels of each node (default: by preset).
    normalisation : {"link", "node"}
        Batch norm of each link, or of each node.
    activation : {"relu6", "relu"}
        Activation function.
    epochs : int, optional
        Epochs in all (default: by preset).
    batch : int, optional
        Images of a step (default: by preset).
    rate : float, optional
        Learning rate (default: by preset).
    momentum : float, optional
        Momentum of gradient descent (default: by preset).
    weight_decay : float, optional
        Weight decay (default: by preset).
    milestones : sequence of int, optional
        Epochs after which the rate is divided by ten.
    seed : int
        Random seed.
    device : str
        Device: auto, cpu or cuda.
    threads : int
        Threads on the CPU.
    checkpoint : str or Path
        File that keeps the training. If it exists, the training continues.

    Returns
    -------
    FabricReport
        With the error on the images that were held out.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError, OutputError, MissingExtraError

    Examples
    --------
    >>> import tempfile
    >>> from demele import lab
    >>> parts = lab.divide_images(n_images=200, held_out=50, image_size=8, difficulty=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = lab.train_fabric(parts, preset="ci", epochs=1, checkpoint=f"{folder}/fabric")
    >>> found.sentence.partition(":")[0]
    'The training is done after 1 epoch'
    """
    if checkpoint is None:
        raise InputError("checkpoint", "expected the file that keeps the training, such as `run`")
    chosen, images = fabric_preset(preset), parts.training.images
    scales = scales_of(images.shape, "image_size", "`image_size={!r}` makes them so")
    structure = {"layers": layers, "channels": channels}
    asked = {"epochs": epochs, "batch": batch, "rate": rate, "momentum": momentum, "weight_decay": weight_decay}
    fabric = chosen.fabric(
        scales=scales,
        image_channels=images.shape[2],
        classes=max(2, parts.classes),
        normalisation=normalisation,
        activation=activation,
        seed=seed,
        **{name: value for name, value in structure.items() if value is not None},
    )
    given: dict[str, Any] = {**asked, "milestones": milestones, "seed": seed, "device": device, "threads": threads}
    training = {**chosen.training, **{name: value for name, value in given.items() if value is not None}}
    fabric.fit(*parts.training[:2], **training, checkpoint=path_of(checkpoint, "checkpoint"))
    held = parts.held_out
    errors = {"held out": fabric.error(*held[:2])} if held is not None and fabric.run.epochs else {}
    return fabric.report(errors=errors, images=None if held is None else len(held.images))


@checked
def prune_fabric(
    fabric: Fabric,
    parts: Parts | None = None,
    *,
    remove: Literal["links", "channels", "weights"] | None = None,
    fraction: float | None = None,
    criterion: str = "magnitude",
    fine_tune: int | None = None,
    benchmark: bool = False,
    seed: int = 0,
    min_links: Annotated[Literal["longest", "shortest"] | int, Kind("N", number_or_name)] = "longest",
    overshoot: float = 0.05,
    round_to: int = 8,
    cap: float = CAP,
    fraction_of: Literal["live", "whole"] = "live",
    rate: float = 0.01,
    batch: int = 64,
    name: str = "",
) -> FabricReport:
    """Prune links, channels or weights of a copy of a trained fabric, and count errors on the way.

    Parameters
    ----------
    fabric : Fabric
    parts : Parts, optional
        Of :func:`divide_images`; without it no error is counted, and batch norms stay.
    remove : {"links", "channels", "weights"}
        Parts to remove.
    fraction : float
        Share to remove, between 0 and 1.
    criterion : str
        Criterion. random, magnitude and synflow look at no images. label_free looks at images. sensitivity, fisher,
        grasp, grasp_abs and shapley_groups look at images and classes. For links only, gate, leave_one_out and shapley
        look at both, screening and sobol at images.
    fine_tune : int, optional
        Epochs of further training.
    benchmark : bool
        Measure milliseconds before and after.
    seed : int
        Random seed.
    min_links : {"longest", "shortest"} or int
        Links to keep: longest, shortest, or a number.
    overshoot : float
        Share of links that may go in addition.
    round_to : int
        Nodes keep a multiple of this number of channels.
    cap : float
        Largest share of weights that a kernel loses.
    fraction_of : {"live", "whole"}
        Share of the remaining or of the whole fabric.
    rate : float
        Learning rate of the further training.
    batch : int
        Images at a time.
    name : str
        Title of the report.

    Returns
    -------
    FabricReport
        Its ``fabric`` is the pruned one.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError

    Examples
    --------
    >>> from demele import lab
    >>> fabric = lab.Fabric(layers=3, scales=3, channels=4, image_channels=1, classes=10)
    >>> parts = lab.divide_images(n_images=200, held_out=50, image_size=4, difficulty=0)
    >>> lab.prune_fabric(fabric, parts, remove="links", fraction=0.5).sentence.partition(";")[0]
    'Pruning by magnitude removed 9 of 18 links'
    """
    if remove is None or fraction is None:
        which = "remove" if remove is None else "fraction"
        raise InputError(
            which, f"expected {'links, channels or weights' if remove is None else 'a share, such as 0.5'}"
        )
    before, pruned = fabric.trained_on, fabric.copy()
    if parts is None:
        known = "" if before is None else f" (it was trained on {before['images']})"
        if fine_tune is not None:
            told = f"which images to train on is not known; `data` names them{known}"
            raise InputError("fine_tune", told)
        told = "no images are known: no errors are counted, and batch norms stay; `data` names some"
        warn_user(told, DemeleWarning)
    else:
        _check_known(fabric, parts, fine_tune)
    errors: dict[str, float] = {}

    def counted(stage: str) -> None:
        if parts is not None and parts.held_out is not None:
            errors[stage] = pruned.error(*parts.held_out[:2])

    counted("before")
    judged = () if parts is None or parts.judged_on is None else parts.judged_on[:2]
    pruned.prune(
        remove, fraction, criterion, *judged, min_links=min_links, overshoot=overshoot, round_to=round_to, cap=cap,
        fraction_of=fraction_of, batch=batch, seed=seed,
    )  # fmt: skip
    counted("raw")
    if parts is not None:
        pruned.recalibrate(parts.training.images, batch=batch)
        counted("recalibrated")
    if parts is not None and fine_tune is not None:
        epochs = pruned.run.epochs + checked_count(fine_tune, "fine_tune", 1)
        pruned.fit(*parts.training[:2], epochs=epochs, rate=rate, batch=batch, milestones=(), seed=seed)
        counted("fine-tuned")
    timings = benchmarked({"before": fabric, "pruned": pruned}, batch=batch) if benchmark else None
    held = None if parts is None else parts.held_out
    return pruned.report(timings=timings, errors=errors, images=None if held is None else len(held.images), name=name)


def _check_known(fabric: Fabric, parts: Parts, fine_tune: int | None) -> None:
    """Refuse classes that a fabric does not know; warn of images that were divided or labelled otherwise.

    Raises
    ------
    InputError
    """
    own, before = parts.training, fabric.trained_on
    if parts.classes > fabric.spec.classes:
        raise InputError(f"{own.images.name}: {parts.classes} classes, and the fabric knows {fabric.spec.classes}")
    if before is None or before["images"] != own.images.name:
        return
    if before["digest"] != own.images.digest and own.images.name != "clutter":
        warn_user(
            f"{own.images.name} is not divided as it was for the training: images that are held out now may have been "
            "trained on; give the same `n_images`, `held_out`, `judged_on` and `image_size`",
            DemeleWarning,
        )
    same_images = before["digest"] == own.images.digest
    if fine_tune is not None and same_images and before["labels"] != digest_of("labels", own.labels):
        which = "`label_noise` or `image_labels` gives them"
        warn_user(f"these images were trained on with other labels; {which}", DemeleWarning)


@checked
def show_fabric(fabric: Fabric, *, benchmark: bool = False, batch: int = 64, name: str = "") -> FabricReport:
    """Show a fabric: counts, prunings, training, and times.

    Parameters
    ----------
    fabric : Fabric
    benchmark : bool
        Measure milliseconds, also of the whole fabric.
    batch : int
        Images at a time.
    name : str
        Title of the report.

    Returns
    -------
    FabricReport

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> from demele import lab
    >>> lab.show_fabric(lab.Fabric(layers=3, scales=3, channels=4, image_channels=1, classes=10)).sentence
    'The fabric is not trained.'
    """
    if not isinstance(fabric, Fabric):
        raise InputTypeError("fabric", f"expected a Fabric, got {type(fabric).__name__}")
    whole = Fabric(**fabric.spec.to_dict())
    timings = benchmarked({"whole": whole, "this": fabric}, batch=batch) if benchmark else None
    return fabric.report(timings=timings, name=name)
