"""Fabrics on images that are divided into parts: trained, pruned with the errors on the way, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demele.core.errors import DemeleWarning, InputError, InputTypeError, warn_user
from demele.core.kinds import FILE, Kind, checked, checked_count, number_or_name, suggestion
from demele.core.labelled import read_labels
from demele.core.reading import path_of
from demele.core.seeds import rng_for
from demele.data.images import ImageSet, digest_of
from demele.data.own_files import named_images
from demele.data.procedural.clutter import clutter, clutter_labels
from demele.models.fabric.annotators import fabric_preset
from demele.models.fabric.lattice import CAP
from demele.models.fabric.model import Fabric
from demele.models.fabric.results import FabricReport
from demele.models.fabric.screening import benchmark as benchmarked
from demele.studies.pruning.configurations import LabelNoise, uniform_given

Labels = NDArray[np.int64]
#: Factors that are classes, where a set has several factors.
_CLASSES = ("class", "label", "glyph", "digit", "category")
#: Images of clutter to train on, to set aside for criteria, and to count errors on; and their share of a file.
_IMAGES, _JUDGED_ON, _HELD_OUT, _PART = 8000, 500, 2000, 0.1
#: Where in the stream of clutter images are set aside: no training reaches it, so errors of two calls are comparable.
_FAR = 2**40


class Part(NamedTuple):
    """Some images and their classes."""

    images: ImageSet
    labels: Labels


class Parts(NamedTuple):
    """Images in parts that have none in common.

    Attributes
    ----------
    training : Part
        With the label noise that is asked for.
    judged_on : Part or None
        What a criterion looks at, with that noise.
    held_out : Part or None
        What errors are counted on, without that noise.
    classes : int
    """

    training: Part
    judged_on: Part | None
    held_out: Part | None
    classes: int


@checked
def divide_images(
    fabric: Fabric | None = None,
    *,
    data: Annotated[ImageSet | str | Path | None, Kind("IMAGES", is_file=True)] = None,
    n_images: int | None = None,
    image_size: int | None = None,
    difficulty: int | None = None,
    image_labels: Annotated[object, FILE] = None,
    factor: str | None = None,
    label_noise: Annotated[str | None, Kind("KIND:RATE")] = None,
    held_out: int | None = None,
    judged_on: int | None = None,
) -> Parts | None:
    """Divide images and their classes into those to train on, to judge links by, and to count errors on.

    Parameters
    ----------
    fabric : Fabric, optional
        Without ``data``, the clutter that it was trained on.
    data : ImageSet, str or Path, optional
        Images: clutter, a file or a folder (default: clutter). Of a trained fabric the default is its training data,
        if that was clutter.
    n_images : int, optional
        Images to train on (default: 8000 of clutter). Of a file, by default all that are not set aside.
    image_size : int, optional
        Height and width, a power of 2.
    difficulty : int, optional
        Difficulty of clutter, 0 to 4 (default: 3).
    image_labels : array-like of shape (n,), optional
        Classes, one for each image (default: a factor).
    factor : str, optional
        Factor that is the class, of several.
    label_noise : str, optional
        Noise in the labels: uniform:RATE, or of clutter visibility:RATE.
    held_out : int, optional
        Images that errors are counted on. By default 2000 of clutter, a tenth of a file.
    judged_on : int, optional
        Images for criteria of pruning. By default 500 of clutter, a tenth of a file.

    Returns
    -------
    Parts or None
        None if no images are known.

    Raises
    ------
    InputError, FormatError

    Examples
    --------
    >>> from demele import lab
    >>> parts = lab.divide_images(n_images=200, held_out=50, image_size=8, difficulty=0)
    >>> len(parts.held_out.labels)
    50
    """
    for name, value, least in (("n_images", n_images, 2), ("held_out", held_out, 0), ("judged_on", judged_on, 0)):
        if value is not None:
            checked_count(value, name, least)
    if data is None and fabric is not None:
        known = _clutter_of(fabric, n_images)
        if known is None:
            return None
        n_images, known_difficulty = known
        difficulty = known_difficulty if difficulty is None else difficulty
        image_size = fabric.spec.image_shape[0] if image_size is None else image_size
    noise = LabelNoise() if label_noise is None else LabelNoise.of(label_noise, "label_noise")
    if noise.kind == "resubstitution":
        raise InputError("label_noise", "'resubstitution' is for a study of pruning")
    is_clutter = data in (None, "clutter")
    if not is_clutter and (difficulty is not None or noise.kind == "visibility"):
        raise InputError("label_noise" if difficulty is None else "difficulty", "is for `data='clutter'`")
    if image_labels is not None and factor is not None:
        raise InputError("factor", "`image_labels` gives the classes; leave one of them out")
    if is_clutter:
        if image_labels is not None and n_images is None:
            raise InputError("image_labels", "say with `n_images=` how many images of clutter they are for")
        n, judged_n, held_n = (
            usual if asked is None else asked
            for asked, usual in ((n_images, _IMAGES), (judged_on, _JUDGED_ON), (held_out, _HELD_OUT))
        )
        drawn = partial(_drawn, size=image_size or 16, level=3 if difficulty is None else difficulty)
        training = drawn(n, first=0, noise=noise)
        if image_labels is not None:
            training = Part(training.images, _numbered(image_labels, "image_labels", n))
        judged = drawn(judged_n, first=_FAR, noise=noise) if judged_n else None
        held = drawn(held_n, first=2 * _FAR, noise=LabelNoise()) if held_n else None
        return Parts(training, judged, held, max(10, int(training.labels.max()) + 1))
    everything = named_images(data, image_size)  # type: ignore[arg-type]  # it is not None
    n = len(everything)
    labels = _factor(everything, factor) if image_labels is None else _numbered(image_labels, "image_labels", n)
    held_n, judged_n = (int(_PART * n) if asked is None else asked for asked in (held_out, judged_on))
    left = n - held_n - judged_n
    fit = left if n_images is None else n_images
    if fit > left or left < 2:
        aside = f"{held_n:,} are held out and {judged_n:,} set aside for criteria, which leaves {left:,}"
        raise InputError("n_images", f"{everything.name} has {n:,}; {aside}")
    order = rng_for(0, "set aside", everything.digest).permutation(n)
    wrong = uniform_given(labels, noise, 0)
    rows = (order[:fit], order[left : left + judged_n], order[left + judged_n :])
    parts = (Part(everything.subset(own), given[own]) for own, given in zip(rows, (wrong, wrong, labels), strict=True))
    training, *others = parts
    judged, held = (one if len(one.labels) else None for one in others)
    return Parts(training, judged, held, int(labels.max()) + 1)


def _drawn(n: int, size: int, level: int, first: int, noise: LabelNoise) -> Part:
    """Return images of clutter from a place of the stream on."""
    images = clutter(n, size=max(size, 16), level=level, first=first)
    labels = clutter_labels(images, noise.rate, "visibility" if noise.kind == "visibility" else "uniform")
    return Part(images if size >= 16 else images.resized(size), labels)


def _clutter_of(fabric: Fabric, n_images: int | None) -> tuple[int, int] | None:
    """Return how many images of clutter a fabric was trained on, and how difficult they are; None for other images."""
    known, side = fabric.trained_on, fabric.spec.image_shape[0]
    if known is None or known["images"] != "clutter":
        return None
    n = known["n"] if n_images is None else n_images
    for level in range(5):
        images = clutter(n, size=max(side, 16), level=level)
        if (images if side >= 16 else images.resized(side)).digest == known["digest"]:
            return n, level
    return None


def _factor(images: ImageSet, wanted: str | None) -> Labels:
    """Return the classes that a factor of the images holds, numbered in their order."""
    table = images.factors()
    names = [str(name) for name in table]
    if wanted is None:
        found = names if len(names) == 1 else [name for name in names if name.lower() in _CLASSES]
        if len(found) != 1:
            told = f"`factor` says which of {', '.join(names)}" if names else "`image_labels` gives them"
            raise InputError(f"{images.name}: which factor is the class is not clear; {told}")
        wanted = found[0]
    if wanted not in names:
        raise InputError("factor", f"{images.name} has none called {wanted!r}{suggestion(wanted, names)}")
    return _numbered(table[wanted].to_numpy(), "factor", len(table))


def _numbered(values: Any, argument: str, n: int) -> Labels:
    """Return classes as whole numbers: their own if they have any, else by their order."""
    given = read_labels(values, argument)
    if len(given) != n:
        raise InputError(argument, f"expected a class for each of the {n:,} images, got {len(given):,}")
    if given.dtype.kind == "i":
        if given.min() < 0:
            raise InputError(argument, f"expected classes from 0, or names, got {given.min()}")
        return given.astype(np.int64)
    return np.unique(given.astype(str), return_inverse=True)[1].astype(np.int64)


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
    height, width, image_channels = images.shape
    if height != width or height < 2 or height & (height - 1):
        near = 2 ** max(1, round(np.log2(min(height, width))))
        raise InputError(
            "image_size",
            f"fabrics take square images of 2, 4, 8, 16, ... pixels a side, got {height} x {width}; "
            f"`image_size={near!r}` makes them so",
        )
    structure = {"layers": layers, "channels": channels}
    asked = {"epochs": epochs, "batch": batch, "rate": rate, "momentum": momentum, "weight_decay": weight_decay}
    fabric = chosen.fabric(
        scales=height.bit_length(),
        image_channels=image_channels,
        classes=max(2, parts.classes),
        normalisation=normalisation,
        activation=activation,
        seed=seed,
        **{name: value for name, value in structure.items() if value is not None},
    )
    given: dict[str, Any] = {**asked, "milestones": milestones, "seed": seed, "device": device, "threads": threads}
    training = {**chosen.training, **{name: value for name, value in given.items() if value is not None}}
    fabric.fit(*parts.training, **training, checkpoint=path_of(checkpoint, "checkpoint"))
    held = parts.held_out
    errors = {"held out": fabric.error(*held)} if held is not None and fabric.run.epochs else {}
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
            errors[stage] = pruned.error(*parts.held_out)

    counted("before")
    judged = () if parts is None or parts.judged_on is None else parts.judged_on
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
        pruned.fit(*parts.training, epochs=epochs, rate=rate, batch=batch, milestones=(), seed=seed)
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
