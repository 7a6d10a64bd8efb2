"""Images divided into parts, with the labels of each; and fabrics trained on them, pruned, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from demele.core import kinds
from demele.core.arrays import Array, Counts, rng_for
from demele.core.errors import DemeleWarning, InputError, InputTypeError, NotEnoughData, quoted, warn_user
from demele.core.labelled import read_labels
from demele.core.reading import path_of
from demele.data.array_images import ArrayImages
from demele.data.images import ImageSet, digest_of
from demele.data.own_files import named_images
from demele.data.procedural.clutter import clutter, clutter_labels
from demele.labels.made.noise import add_uniform_noise
from demele.models.fabric.annotators import annotator_recipe, fabric_annotators, fabric_preset
from demele.models.fabric.lattice import CAP, scales_of
from demele.models.fabric.model import Fabric
from demele.models.fabric.screening import benchmark as benchmarked
from demele.models.results import FabricReport

Classes = Counts
NoiseKind = Literal["none", "uniform", "visibility", "resubstitution"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNoise:
    """How wrong labels are.

    Attributes
    ----------
    kind : {"none", "uniform", "visibility", "resubstitution"}
        As of :func:`demele.data.clutter_labels`; or the predictions of a random fabric on all images, those of the test
        too, which it was trained on until its error was near the rate (Benjelloun, section 7.8.1).
    rate : float
    """

    kind: NoiseKind = "none"
    rate: float = 0.0

    @property
    def name(self) -> str:
        """Such as ``"visibility 20%"``."""
        return "none" if self.kind == "none" else f"{self.kind} {self.rate:.0%}"

    @classmethod
    def of(cls, given: Any, argument: str = "noises") -> LabelNoise:
        """Return the noise that a text names: ``"none"``, ``"uniform:0.2"``, ``"resubstitution:0.1"``.

        Raises
        ------
        InputError, InputTypeError

        Examples
        --------
        >>> LabelNoise.of("visibility:0.2").name
        'visibility 20%'
        """
        if not isinstance(given, str):
            raise InputTypeError(argument, f"expected texts such as 'uniform:0.2', got {quoted(given)}")
        kind, _, rate = given.partition(":")
        try:
            value = float(rate or 0)
        except ValueError:
            kind = ""
        if kind not in get_args(NoiseKind) or (kind == "none") != (not rate):
            expected = "expected 'none', 'uniform:RATE', 'visibility:RATE' or 'resubstitution:RATE'"
            raise InputError(argument, f"{expected}, got {quoted(given)}")
        return cls(kind=kind, rate=kinds.checked_share(value, argument, 0, 0.5)) if rate else cls()  # type: ignore[arg-type]


class Part(NamedTuple):
    """Some images, the labels that they are given, and their true classes."""

    images: ImageSet
    labels: Classes
    true: Classes

    @classmethod
    def of(cls, images: ImageSet, true: Classes, noise: LabelNoise, seed: int) -> Part:
        """Return images with uniform noise in their labels, if there is some."""
        if noise.kind == "none":
            return cls(images, true, true)
        return cls(images, add_uniform_noise(true, noise.rate, seed=seed).labels.astype(np.int64), true)

    def rows(self, rows: Array) -> Part:
        """Return some of them."""
        return Part(self.images.subset(rows), self.labels[rows], self.true[rows])


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


def classes_of(images: ImageSet) -> Classes:
    """Return the classes of images: the positions of their first factor."""
    return np.asarray(images.positions()[:, 0], dtype=np.int64)


def clutter_part(n: int, size: int, level: int, noise: LabelNoise, *, seed: int = 1, first: int = 0) -> Part:
    """Return images of clutter from a place of a stream on."""
    images = clutter(n, size=max(size, 16), level=level, seed=seed, first=first)
    labels = clutter_labels(images, noise.rate, "visibility" if noise.kind == "visibility" else "uniform")
    return Part(images if size >= 16 else images.resized(size), labels, classes_of(images))


# Images of one fabric -------------------------------------------------------------------------------------------------

#: Factors that are classes, where a set has several factors.
_CLASSES = ("class", "label", "glyph", "digit", "category")
#: Images of clutter to train on, to judge links by, and to count errors on; and the share of a file of the last two.
_CLUTTER, _SHARE = (8000, 500, 2000), 0.1
#: Where in the stream of clutter images are set aside: no training reaches it, so errors of two calls are comparable.
_FAR = 2**40


@kinds.checked
def divide_images(
    fabric: Fabric | None = None,
    *,
    data: Annotated[ImageSet | str | Path | None, kinds.Kind("IMAGES", is_file=True)] = None,
    n_images: Annotated[int, kinds.at_least(2)] | None = None,
    image_size: int | None = None,
    difficulty: int | None = None,
    image_labels: Annotated[object, kinds.FILE] = None,
    factor: str | None = None,
    label_noise: Annotated[str | None, kinds.Kind("KIND:RATE")] = None,
    held_out: kinds.CountOrNone | None = None,
    judged_on: kinds.CountOrNone | None = None,
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
    if data is None and fabric is not None:
        known, side = fabric.trained_on, fabric.spec.image_size
        if known is None or known["images"] != "clutter":
            return None
        n_images = known["n"] if n_images is None else n_images
        drawn_as = (clutter_part(n_images, side, level, LabelNoise()).images.digest for level in range(5))
        level = next((level for level, digest in enumerate(drawn_as) if digest == known["digest"]), None)
        if level is None:
            return None
        difficulty = level if difficulty is None else difficulty
        image_size = side if image_size is None else image_size
    noise = LabelNoise() if label_noise is None else LabelNoise.of(label_noise, "label_noise")
    if noise.kind == "resubstitution":
        raise InputError("label_noise", "'resubstitution' is for a study of pruning")
    is_clutter = data in (None, "clutter")
    if not is_clutter and (difficulty is not None or noise.kind == "visibility"):
        raise InputError("label_noise" if difficulty is None else "difficulty", "is for `data='clutter'`")
    if image_labels is not None and factor is not None:
        raise InputError("factor", "`image_labels` gives the classes; leave one of them out")
    asked = n_images, judged_on, held_out
    if is_clutter:
        if image_labels is not None and n_images is None:
            raise InputError("image_labels", "say with `n_images=` how many images of clutter they are for")
        numbers = [usual if n is None else n for n, usual in zip(asked, _CLUTTER, strict=True)]
        drawn = partial(clutter_part, size=image_size or 16, level=3 if difficulty is None else difficulty)
        training = drawn(numbers[0], noise=noise)
        if image_labels is not None:
            training = training._replace(labels=_numbered(image_labels, "image_labels", numbers[0]))
        judged = drawn(numbers[1], noise=noise, first=_FAR) if numbers[1] else None
        held = drawn(numbers[2], noise=LabelNoise(), first=2 * _FAR) if numbers[2] else None
        return Parts(training, judged, held, max(10, int(training.labels.max()) + 1))
    everything = named_images(data, image_size)  # type: ignore[arg-type]  # it is not None
    n = len(everything)
    true = _factor(everything, factor) if image_labels is None else _numbered(image_labels, "image_labels", n)
    judged_n, held_n = (int(_SHARE * n) if one is None else one for one in asked[1:])
    left = n - held_n - judged_n
    fit = left if n_images is None else n_images
    if fit > left or left < 2:
        aside = f"{held_n:,} are held out and {judged_n:,} set aside for criteria, which leaves {left:,}"
        raise InputError("n_images", f"{everything.name} has {n:,}; {aside}")
    order = rng_for(0, "set aside", everything.digest).permutation(n)
    whole = Part.of(everything, true, noise, 0)
    return Parts(
        whole.rows(order[:fit]),
        whole.rows(order[left : left + judged_n]) if judged_n else None,
        whole._replace(labels=true).rows(order[left + judged_n :]) if held_n else None,
        int(true.max()) + 1,
    )


def _factor(images: ImageSet, wanted: str | None) -> Classes:
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
        raise InputError("factor", f"{images.name} has none called {wanted!r}{kinds.suggestion(wanted, names)}")
    return _numbered(table[wanted].to_numpy(), "factor", len(table))


def _numbered(values: Any, argument: str, n: int) -> Classes:
    """Return classes as whole numbers: their own if they have any, else by their order."""
    given = read_labels(values, argument)
    if len(given) != n:
        raise InputError(argument, f"expected a class for each of the {n:,} images, got {len(given):,}")
    if given.dtype.kind == "i":
        if given.min() < 0:
            raise InputError(argument, f"expected classes from 0, or names, got {given.min()}")
        return given.astype(np.int64)
    return np.unique(given.astype(str), return_inverse=True)[1].astype(np.int64)


# Images of a study of pruning -----------------------------------------------------------------------------------------

#: Where each seed's images begin in the stream, so that no two have one in common.
_APART = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Images of training and test: those of a user, or clutter.

    Attributes
    ----------
    train, test : ImageSet
        Their first factor is the class. The test is common to all seeds.
    held : int
        Images of the training that are held out for criteria; of a user's, each seed holds out others.
    level : int, optional
        Difficulty of clutter: each seed is trained on images of its own, as many as ``train``.
    """

    train: ImageSet
    test: ImageSet
    held: int
    level: int | None = None

    @classmethod
    def clutter(cls, level: int, n: int, held: int, test: int) -> Source:
        """Return a source of clutter."""
        return cls(train=clutter(n, level=level), test=clutter(test, level=level, seed=2), held=held, level=level)

    def split(self, seed: int, noise: LabelNoise) -> tuple[Part, Part, Part]:
        """Return the images of one seed: to train on, held out for criteria, and of the test; all with the noise."""
        n, by_fabric = len(self.train), noise.kind == "resubstitution"
        own = LabelNoise() if by_fabric else noise
        if self.level is None:
            order = rng_for(seed, "pruning study", "held out").permutation(n)
            given = (self.train, seed), (self.test, 0)
            whole, test = (Part.of(images, classes_of(images), own, noise_seed) for images, noise_seed in given)
        else:
            order = np.roll(np.arange(n), self.held)
            whole = _clutter_in_memory(n, self.level, own, 1, _APART * seed)
            test = _clutter_in_memory(len(self.test), self.level, own, 2, 0)
        if by_fabric:
            labels = _resubstituted(whole, test, noise.rate, 0 if self.level is None else seed)
            whole, test = whole._replace(labels=labels[:n]), test._replace(labels=labels[n:])
        fit, held = np.sort(order[self.held :]), np.sort(order[: self.held])
        return whole.rows(fit), whole.rows(held), test

    def about(self) -> dict[str, Any]:
        """Return what the images are, as plain values."""
        images = self.train
        about = {
            "images": images.name,
            "shape": list(images.shape),
            "classes": int(classes_of(images).max()) + 1,
            **({} if self.level is None else {"level": self.level}),
        }
        about |= {"n": len(images), "held": self.held, "test": len(self.test)}
        return {**about, "provenance": images.provenance}


@lru_cache(maxsize=6)
def _clutter_in_memory(n: int, level: int, noise: LabelNoise, seed: int, first: int) -> Part:
    """Return a part of clutter whose images are drawn once for all the ways that are compared on it."""
    part = clutter_part(n, 16, level, noise, seed=seed, first=first)
    images = part.images
    return part._replace(
        images=ArrayImages(images.images(np.arange(n)), name=images.name, provenance=images.provenance)
    )


#: Labels by fabrics that this process has trained, by images, rate and seed: ways that are compared share them.
_BY_FABRICS: dict[tuple[str, str, float, int], Classes] = {}


def _resubstituted(train: Part, test: Part, rate: float, seed: int) -> Classes:
    """Return the labels that a random fabric gives to images of training and test, after training on both of them.

    Of random fabrics, it is the state whose error on them is nearest to the rate: at most a tenth of it away.

    Raises
    ------
    NotEnoughData
        If none comes near.
    """
    key = (train.images.digest, test.images.digest, rate, seed)
    if key not in _BY_FABRICS:
        pixels = np.concatenate([one.images.images(np.arange(len(one.images))) for one in (train, test)])
        found = fabric_annotators(
            ArrayImages(pixels, name=f"{train.images.name} and {test.images.name}"),
            np.concatenate([train.true, test.true]),
            2,
            recipe=replace(annotator_recipe(), every=2),
            highest_error=min(1.0, 1.5 * rate),
            step=rate,
            tolerance=rate / 10,
            stop_at=0.8 * rate,
            most_fabrics=16,
            seed=seed,
        )
        away = np.abs(found.errors - rate)
        if away.min() > rate / 10:
            raise NotEnoughData("noises", f"no fabric mistook {rate:.0%} of the images; ask for another rate")
        _BY_FABRICS[key] = np.asarray(found.predictions[away.argmin()], dtype=np.int64)
    return _BY_FABRICS[key]


def checked_source(data: Any, share: float) -> Source:
    """Return images that a user gave: those of the training, less a share that is held out, and those of the test.

    Raises
    ------
    InputError, InputTypeError
    """
    pair = tuple(data) if isinstance(data, tuple | list) else ()
    if len(pair) != 2 or not all(isinstance(one, ImageSet) for one in pair):
        raise InputTypeError("data", f"expected two image sets, (training, test), got {quoted(data)}")
    train, test = pair
    for images, which in ((train, "training"), (test, "test")):
        if images.space is None:
            raise InputError("data", f"expected a factor, the class, of the images of the {which}")
    if train.shape != test.shape:
        raise InputError("data", f"expected images of one size, got {train.shape} and {test.shape}")
    if train.space.values[0] != test.space.values[0]:
        raise InputError("data", "expected the same classes in training and test")
    if len(train) < 2:
        raise InputError("data", f"expected two or more images of the training, got {len(train)}")
    return Source(train=train, test=test, held=max(1, round(share * len(train))))


# Fabrics -----------------------------------------------------------------------------------------------------------


@kinds.checked
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
    checkpoint: Annotated[str | Path | None, kinds.Kind("FILE", Path)] = None,
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


@kinds.checked
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
    min_links: Annotated[Literal["longest", "shortest"] | int, kinds.Kind("N", kinds.number_or_name)] = "longest",
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
    if remove is None:
        raise InputError("remove", "expected links, channels or weights")
    if fraction is None:
        raise InputError("fraction", "expected a share, such as 0.5")
    before, pruned = fabric.trained_on, fabric.copy()
    if parts is None:
        known = "" if before is None else f" (it was trained on {before['images']})"
        if fine_tune is not None:
            raise InputError("fine_tune", f"which images to train on is not known; `data` names them{known}")
        warn_user("no images are known: no errors are counted, and batch norms stay; `data` names some", DemeleWarning)
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
        if fine_tune is not None:
            epochs = pruned.run.epochs + kinds.checked_count(fine_tune, "fine_tune", 1)
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


@kinds.checked
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
