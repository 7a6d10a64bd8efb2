"""Fabrics as artificial annotators: random ones, trained on all images, which mistake some on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from demele.core.arrays import Array, Counts, Floats, LateModule, pd, rng_for
from demele.core.error_aims import ErrorAims, in_turn
from demele.core.errors import FormatError, InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import Count, Jobs, Seed, between, checked, checked_count, checked_name, checked_whole, is_number
from demele.core.labelled import Indices, read_labels, vocabulary
from demele.core.lazy import require
from demele.core.result import Note, TableResult
from demele.core.signature import Signature
from demele.core.store import Key, packed_classes, reading_record, unpacked_classes
from demele.core.version import __version__
from demele.data.images import ImageSet, digest_of
from demele.models.encode import check_images
from demele.models.fabric.lattice import scales_of
from demele.models.fabric.model import Fabric
from demele.report.words import count, written
from demele.runtime.sweep import Record, Sweep, Task

if TYPE_CHECKING:
    import torch

    from demele.models import training
    from demele.models.fabric import network as networks
else:
    torch, training = LateModule("torch"), LateModule("demele.models.training")
    networks = LateModule("demele.models.fabric.network")


# Fabrics and trainings that go together -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPreset:
    """A structure and its training.

    Attributes
    ----------
    name : str
    layers, scales, channels : int
    training : mapping of str to value
        Arguments of :meth:`demele.lab.Fabric.fit`.
    """

    name: str
    layers: int
    scales: int
    channels: int
    training: Mapping[str, Any]

    def fabric(self, **options: Any) -> Fabric:
        """Return an untrained fabric; options are those of :class:`demele.lab.Fabric`, such as ``seed``."""
        return Fabric(**{name: getattr(self, name) for name in ("layers", "scales", "channels")} | options)


def _preset(name: str, layers: int, scales: int, channels: int, epochs: int, *milestones: int) -> FabricPreset:
    """Return a preset with a rate of 0.1 that is divided by ten twice, in batches of 64."""
    training = {"epochs": epochs, "milestones": milestones, "batch": 64, "rate": 0.1, "momentum": 0.9}
    training["weight_decay"] = 5e-4
    return FabricPreset(name=name, layers=layers, scales=scales, channels=channels, training=training)


PRESETS: Mapping[str, FabricPreset] = {
    "ci": _preset("ci", 3, 5, 8, 5, 3, 4),
    "embedded": _preset("embedded", 4, 5, 16, 10, 6, 8),
    "print": _preset("print", 8, 6, 64, 200, 80, 120),
    "annotator": _preset("annotator", 8, 6, 64, 200, 50, 80),
}


def fabric_preset(name: str) -> FabricPreset:
    """Return a structure and a training that go together.

    Parameters
    ----------
    name : {"ci", "embedded", "print", "annotator"}
        ``"ci"``: 34 links of 8 channels for 16 x 16, five epochs, seconds. ``"embedded"``: 47 links of 16 channels for
        16 x 16, ten epochs, about a minute for 8000 images on a CPU. ``"print"``: the published fabric for 32 x 32, 200
        epochs, and a GPU. ``"annotator"``: the same with the earlier steps of fabrics that replace human annotators.

    Returns
    -------
    FabricPreset

    Raises
    ------
    UnknownNameError

    Examples
    --------
    >>> from demele.lab import fabric_preset
    >>> chosen = fabric_preset("ci")
    >>> chosen.fabric(image_channels=1)
    Fabric(3 layers, 5 scales, 8 channels: 34 of 34 links, 20,586 parameters; new)
    >>> chosen.training["epochs"], chosen.training["milestones"]
    (5, (3, 4))
    """
    return PRESETS[checked_name(name, "name", PRESETS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorRecipe:
    """Distribution of random fabrics, their training, and the epochs at which they are examined.

    Attributes
    ----------
    layers : (int, int)
        Fewest and most layers, from 2; each number between is as likely.
    channels : tuple of int
        One of them.
    pruned : (float, float)
        Share of the links that goes at random before the training, uniform, in [0, 1).
    rate : (float, float)
        Learning rate, its logarithm uniform.
    epochs : int
        At most.
    milestones : tuple of int
        Epochs after which the rate is divided by ten.
    batch : int
        Images at a time.
    momentum, weight_decay : float
    first_epoch : int
        Epochs before the first look.
    every : int or None
        Steps between two looks; None looks at the end of each epoch.

    Raises
    ------
    InputError, InputTypeError

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(annotator_recipe(), epochs=12, every=4).rate
    (0.02, 0.1)
    """

    layers: tuple[int, int]
    channels: tuple[int, ...]
    pruned: tuple[float, float]
    rate: tuple[float, float]
    epochs: int
    milestones: tuple[int, ...]
    batch: int
    momentum: float
    weight_decay: float
    first_epoch: int
    every: int | None

    def __post_init__(self) -> None:
        _check_range(self.layers, "layers", "from 2", lambda one: isinstance(one, int) and one >= 2)
        _check_range(self.pruned, "pruned", "in [0, 1)", lambda one: 0 <= one < 1)
        _check_range(self.rate, "rate", "above 0", lambda one: 0 < one < math.inf)
        if not isinstance(self.channels, tuple) or not self.channels:
            raise InputError("channels", f"expected a tuple of numbers of channels, got {quoted(self.channels)}")
        for one in (*self.channels, self.epochs, *([] if self.every is None else [self.every])):
            checked_count(one, "channels, epochs and every", 1)
        checked_count(self.batch, "batch", 2)
        for one in (self.first_epoch, *self.milestones):
            checked_count(one, "first_epoch and milestones", 0)
        if self.first_epoch >= self.epochs:
            raise InputError("first_epoch", f"expected fewer than the {self.epochs} epochs, got {self.first_epoch}")

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return layers, channels, share of links to prune, rate and seed of one fabric, by name."""
        low, high = map(math.log10, self.rate)
        return {
            "layers": int(rng.integers(self.layers[0], self.layers[1] + 1)),
            "channels": int(self.channels[int(rng.integers(len(self.channels)))]),
            "pruned": float(rng.uniform(*self.pruned)),
            "rate": float(10 ** rng.uniform(low, high)),
            "seed": int(rng.integers(2**31)),
        }


def _check_range(given: Any, argument: str, which: str, inside: Callable[[Any], bool]) -> None:
    if not isinstance(given, tuple) or len(given) != 2 or not all(is_number(one) and inside(one) for one in given):
        raise InputError(argument, f"expected (low, high), both {which}, got {quoted(given)}")
    if given[0] > given[1]:
        raise InputError(argument, f"expected the lower end first, got {quoted(given)}")


_PRINT = PRESETS["annotator"].training
RECIPES: Mapping[str, AnnotatorRecipe] = {
    "embedded": AnnotatorRecipe(
        layers=(2, 6),
        channels=(8, 16, 32),
        pruned=(0.0, 0.9),
        rate=(0.02, 0.1),
        epochs=8,
        milestones=(),
        batch=64,
        momentum=0.9,
        weight_decay=5e-4,
        first_epoch=0,
        every=4,
    ),
    "print": AnnotatorRecipe(
        layers=(4, 16),
        channels=(8, 16, 32, 64, 128),
        pruned=(0.0, 0.9),
        rate=(0.1, 0.1),
        first_epoch=10,
        every=None,
        **{name: _PRINT[name] for name in ("epochs", "milestones", "batch", "momentum", "weight_decay")},
    ),
}


def annotator_recipe(name: str = "embedded") -> AnnotatorRecipe:
    """Return a recipe for random fabrics and their training; ``dataclasses.replace`` changes a part.

    Parameters
    ----------
    name : {"embedded", "print"}
        ``"embedded"``: 2 to 6 layers of 8 to 32 channels, looked at every few steps of a few epochs: for 1000 to 2000
        images of 8 or 16 pixels, which fabrics learn within the first epochs. ``"print"``: 4 to 16 layers of 8 to 128
        channels, 200 epochs, looked at after each from the tenth on: for a GPU, and images on which errors stay for so
        long.

    Returns
    -------
    AnnotatorRecipe

    Raises
    ------
    UnknownNameError

    Notes
    -----
    Source: Benjelloun, section 6.5.2; the embedded sizes are ours.

    Examples
    --------
    >>> annotator_recipe("print").channels
    (8, 16, 32, 64, 128)
    """
    return RECIPES[checked_name(name, "recipe", RECIPES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricAnnotator:
    """One annotator: a fabric at one step of its training.

    Attributes
    ----------
    fabric : int
        Its number: the states of one fabric share it.
    layers, channels : int
    links : int
        That were left of the whole fabric.
    pruned : float
        Share of the links that was to go at random.
    rate : float
        Learning rate at the beginning.
    epoch, steps : int
        When its state was kept.
    error : float
        Share of all images, which it was trained on, that it gets wrong.
    """

    fabric: int
    layers: int
    channels: int
    links: int
    pruned: float
    rate: float
    epoch: int
    steps: int
    error: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FabricAnnotators(TableResult):
    """Labels of images by fabrics, with their error rates.

    Attributes
    ----------
    predictions : array of shape (n_annotators, n)
        Labels of the kind that came in; sorted by error, the best annotator first.
    true_labels : array of shape (n,)
        The labels that came in.
    annotators : tuple of FabricAnnotator
        What each is.
    n_fabrics : int
        Fabrics that were trained for it.
    notes : tuple of Note
    signature : Signature
    """

    _kind, _forms = "fabrics as annotators", {"error": "percent", "legitimacy": "percent"}

    predictions: Array = field(metadata={"json": False})
    true_labels: Array = field(metadata={"json": False})
    annotators: tuple[FabricAnnotator, ...]
    n_fabrics: int
    notes: tuple[Note, ...]
    signature: Signature

    @property
    def errors(self) -> Floats:
        """Share of the images that each gets wrong, shape (n_annotators,)."""
        return np.array([one.error for one in self.annotators])

    @property
    def legitimacy(self) -> Floats:
        """Trust in each annotator, 1 - error, shape (n_annotators,)."""
        return 1 - self.errors

    @property
    def difficulty(self) -> Floats:
        """Share of the trust in all annotators that lies in those who get an image wrong, shape (n,)."""
        trust = self.legitimacy
        return np.asarray(trust @ (self.predictions != self.true_labels) / trust.sum())

    @property
    def highest_rate(self) -> float:
        """The highest rate of noise that they reach: the share of images that at least one gets wrong."""
        return float((self.predictions != self.true_labels).any(axis=0).mean())

    def hardest(self, n: int = 10) -> Counts:
        """Return the rows of the hardest images, the hardest first; of two as hard, the earlier.

        Parameters
        ----------
        n : int, default 10

        Raises
        ------
        InputError
        """
        most = self.predictions.shape[1]
        size = checked_whole(n, "n", f"a number of images from 1 to {most}", inside=lambda one: 1 <= one <= most)
        return np.argsort(-self.difficulty, kind="stable")[:size].astype(np.int64)

    def to_frame(self) -> pd.DataFrame:
        """One row per annotator: ``error``, ``legitimacy``, and what it is: the fields of a FabricAnnotator."""
        fields = [name for name in FabricAnnotator.__slots__ if name != "error"]
        own = {name: [getattr(one, name) for one in self.annotators] for name in fields}
        return pd.DataFrame({"error": self.errors, "legitimacy": self.legitimacy, **own})

    def headline(self) -> str:
        """Return the error rates of the annotators."""
        fabrics = count(len({one.fabric for one in self.annotators}), "fabric")
        ends = f"{written(self.errors[0], 'percent')} to {written(self.errors[-1], 'percent')}"
        return f"{count(len(self.annotators), 'annotator')} of {fabrics}: {ends} of the labels of each are wrong."


#: Fabrics between two looks at whether there are enough states, at least and at most; not the number of processes, so
#: that it cannot matter.
FEWEST, MOST = 2, 16
#: States that a fabric leaves, about.
EXPECTED = 3


@checked
def fabric_annotators(
    images: ImageSet,
    labels: ArrayLike,
    n_annotators: Count = 100,
    *,
    recipe: str | AnnotatorRecipe = "embedded",
    highest_error: float = 0.4,
    step: float = 0.05,
    tolerance: float = 0.01,
    stop_at: Annotated[float, between(0, 1, "[)")] = 0.02,
    most_fabrics: int | None = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    executor: Executor | None = None,
    store: str | Path | None = None,
    device: str = "cpu",
) -> FabricAnnotators:
    """Train random fabrics on all images, and keep their labels while their errors fall from many to few.

    Parameters
    ----------
    images : ImageSet
        Square, with a power of two of pixels a side.
    labels : array-like of shape (n,)
        True classes, whole numbers or strings.
    n_annotators : int, default 100
        How many are wanted, >= 1.
    recipe : {"embedded", "print"} or AnnotatorRecipe, default "embedded"
        How fabrics are drawn and trained: :func:`annotator_recipe`.
    highest_error : float in (0, 1], default 0.4
        Only states with a smaller error are kept.
    step : float in (0, highest_error], default 0.05
        Errors are wanted near the multiples of it, as many annotators near each as can be.
    tolerance : float in (0, step / 2], default 0.01
        How near.
    stop_at : float in [0, 1), default 0.02
        Error at which the training of a fabric ends.
    most_fabrics : int, optional
        Fabrics that are trained at most; by default as many as annotators are wanted, and at least 8.
    seed : int, default 0
        Fabric i depends on the seed and on i only.
    n_jobs : int, default 1
        Processes, each of one thread; -1 for all processors. The result does not depend on it.
    executor : concurrent.futures.Executor, optional
        Where to work instead.
    store : path, optional
        File that keeps what became of each fabric: after a kill the same call goes on from there, to the same result.
        More annotators may be asked of it later.
    device : str, default "cpu"
        As of :meth:`Fabric.fit`.

    Returns
    -------
    FabricAnnotators
        Feed it to :func:`demele.labels.add_noise`: ``add_noise(labels, rate, annotations=found.predictions)``.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        For images of another size or number than the labels.
    NotEnoughData
        For fewer than two classes, and if the fabrics leave too few states; the message says what to change.
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    Source: Benjelloun, section 6.5.2, algorithm 1. The structure of each fabric is random, and so are the links pruned
    before the training. Errors are those on the training images, on purpose: an annotator who labels an image has seen
    it. From the first look on, a state of a fabric is kept if its error is below ``highest_error`` and near a multiple
    of ``step``; each fabric keeps the last state near each multiple. States without errors add no noise and are left
    out. If there are more states than needed, one near each multiple is selected in turn. With the embedded recipe, 100
    annotators of the digits of scikit-learn take a minute or two on one processor.

    See Also
    --------
    demele.labels.artificial_annotators : of small models of scikit-learn, on any features.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from demele.data import clutter
    >>> from demele.labels import add_noise
    >>> from demele.lab import annotator_recipe
    >>> images = clutter(200, level=0).resized(8)  # few images: more epochs, and more looks at each
    >>> labels = images.positions()[:, 0]
    >>> found = fabric_annotators(images, labels, 6, recipe=replace(annotator_recipe(), epochs=16, every=2))
    >>> found.predictions.shape, bool((found.errors < 0.4).all())
    ((6, 200), True)
    >>> add_noise(labels, 0.1, annotations=found.predictions).rate
    0.1
    """
    require("torch", purpose="a fabric")
    most = max(8, n_annotators) if most_fabrics is None else checked_count(most_fabrics, "most_fabrics", 1)
    check_images(images)
    true = read_labels(labels, "labels")
    if len(true) != len(images):
        raise InputError("labels", f"expected one for each of the {len(images)} images, got {len(true)}")
    words = vocabulary(true)
    if len(words) < 2:
        raise NotEnoughData("labels", f"expected at least 2 classes, got only {words.classes[0]!r}")
    if len(words) >= true.size:
        raise NotEnoughData("labels", f"expected fewer classes than images, got {len(words)} of {true.size}")
    if not isinstance(recipe, AnnotatorRecipe | str):
        raise InputTypeError(
            "recipe", f"expected a name or an AnnotatorRecipe, got {type(recipe).__name__}; see annotator_recipe"
        )
    common = Annotating(
        images=images,
        coded=words.encode(true, "labels").astype(np.int64),
        classes=len(words),
        scales=scales_of(images.shape, "images"),
        recipe=annotator_recipe(recipe) if isinstance(recipe, str) else recipe,
        aims=ErrorAims.checked(highest_error, step, tolerance),
        stop_at=stop_at,
        seed=seed,
        device=training.checked_device(device),
    )
    identity: dict[str, str | int] = {
        "demele": __version__,
        "run": "fabric annotators",
        "images": images.digest,
        "labels": digest_of("labels", common.coded, *words.classes),
        **{name: repr(getattr(common, name)) for name in ("recipe", "aims", "stop_at")},
        "seed": common.seed,
        "device": common.device,
    }
    with Sweep(identity, store=store, n_jobs=n_jobs, executor=executor) as sweep:
        records = _trained(sweep, common, n_annotators, most)
    states, aims = _states(records, common), common.aims
    groups = [[place for place, state in enumerate(states) if state.aim == aim] for aim in range(len(aims))]
    kept = in_turn(groups)[:n_annotators]
    chosen = [states[place] for place in sorted(kept, key=lambda place: (states[place].what.error, place))]
    lacking = tuple(f"{aim * aims.step:.4g}" for aim in sorted(set(range(len(aims))) - {one.aim for one in chosen}))
    notes: tuple[Note, ...] = ()
    if lacking and len(chosen) >= len(aims):
        message = f"no annotator has an error near {', '.join(lacking)}: no fabric was looked at when it had"
        notes = (Note(code="uneven-errors", message=message, subject=lacking),)
    arguments: dict[str, object] = {
        "n_annotators": n_annotators,
        "recipe": common.recipe,
        "highest_error": aims.highest,
        "step": aims.step,
        "tolerance": aims.tolerance,
        "stop_at": stop_at,
        "most_fabrics": most,
        "seed": seed,
    }
    context = {"images": images.digest, "n": str(len(true)), "demele": __version__}
    return FabricAnnotators(
        predictions=np.array(words.classes, dtype=true.dtype)[np.stack([one.coded for one in chosen])],
        true_labels=true,
        annotators=tuple(one.what for one in chosen),
        n_fabrics=len(records),
        notes=notes,
        signature=Signature("fabric_annotators", arguments, context),
    )


class _State(NamedTuple):
    """A fabric at one step, the multiple that its error was near, and what it took the images for."""

    what: FabricAnnotator
    aim: int
    coded: Indices


def _trained(sweep: Sweep, common: Annotating, wanted: int, most: int) -> list[Record]:
    """Train fabrics until there are enough states; return what became of them, in the order of their numbers.

    Raises
    ------
    NotEnoughData
        If there cannot be enough, as soon as that is plain.
    """
    records: list[Record] = []
    found = 0
    while found < wanted:
        some = min(MOST, max(FEWEST, math.ceil((wanted - found) / EXPECTED)), most - len(records))
        hopeless = len(records) >= MOST and 2 * found * most < wanted * len(records)
        if not some or hopeless:
            raise NotEnoughData("images", *_too_few(records, found, wanted, most, common))
        keys: list[Key] = [("fabric", number) for number in range(len(records), len(records) + some)]
        tasks = [Task(key=key, about=int(key[1]), label=f"fabric {key[1]}") for key in keys]
        share = (found / wanted, min(1.0, (found + EXPECTED * some) / wanted))
        sweep.run(common, tasks, what="fabrics to train", share=share)
        for key in keys:
            records.append(sweep.records[key])
            with reading_record(key):
                found += len(records[-1]["states"])
    return records


def _too_few(records: Sequence[Record], found: int, wanted: int, most: int, common: Annotating) -> tuple[str, str]:
    """Say what went wrong, and what to change."""
    lowest = sorted(record["lowest"] for record in records)
    middle, highest = lowest[len(lowest) // 2], common.aims.highest
    problem = (
        f"{len(records)} fabrics left {found} states with an error under {highest:g} and within "
        f"{common.aims.tolerance:g} of a multiple of {common.aims.step:g}, {wanted} are wanted of at most {most} "
        f"fabrics; the lowest errors of half of them are above {middle:.3f}"
    )
    if middle > highest / 2:
        return problem, (
            "they learn too slowly: give a recipe with more epochs or channels, such as "
            f"dataclasses.replace(recipe, epochs={2 * common.recipe.epochs}), or easier or smaller images"
        )
    return problem, (
        "they learn too fast: look more often (every=2 in the recipe), lower its rate, raise tolerance or most_fabrics"
    )


def _states(records: Sequence[Record], common: Annotating) -> list[_State]:
    """Return all states, in the order of their fabrics."""
    states = []
    for number, record in enumerate(records):
        with reading_record(("fabric", number)):
            own = {name: record[name] for name in ("layers", "channels", "links", "pruned", "rate")}
            for one in record["states"]:
                coded = unpacked_classes(one["predictions"], len(common.coded))
                error = float(np.mean(coded != common.coded))
                if not ((coded >= 0) & (coded < common.classes)).all() or common.aims.near(error) != one["aim"]:
                    raise FormatError("its predictions are not among the classes, or have another error")
                when = {"epoch": one["epoch"], "steps": one["steps"]}
                states.append(_State(FabricAnnotator(fabric=number, **own, **when, error=error), one["aim"], coded))
    return states


# One random fabric that is trained on all images, and what it takes them for on the way -------------------------------

#: A look costs a pass over all images: none is made while the batch has so many more errors than a state may have.
BEYOND = 0.2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Annotating:
    """All that random fabrics have in common; called with their numbers, it returns what becomes of each.

    Attributes
    ----------
    images : ImageSet
    coded : array of int of shape (n,)
        True classes, as indices.
    classes, scales : int
    recipe : AnnotatorRecipe
    aims : ErrorAims
    stop_at : float
        Error at which a fabric has no more to say.
    seed : int
    device : str
    """

    images: ImageSet
    coded: Counts
    classes: int
    scales: int
    recipe: AnnotatorRecipe
    aims: ErrorAims
    stop_at: float
    seed: int
    device: str

    def __call__(self, numbers: tuple[int, ...]) -> list[Record]:
        """Train fabrics by number; each depends on its number and the seed alone."""
        return [self._annotated(number) for number in numbers]

    def _annotated(self, number: int) -> Record:
        """Train a fabric, and keep the last of its states near each error that is wanted."""
        drawn = self.recipe.draw(rng_for(self.seed, "fabric annotator", number))
        size = {"layers": drawn["layers"], "scales": self.scales, "channels": drawn["channels"]}
        fabric = Fabric(**size, image_channels=self.images.shape[2], classes=self.classes, seed=drawn["seed"])
        if drawn["pruned"] > 0:
            fabric.prune("links", drawn["pruned"], "random", seed=drawn["seed"])
        kept, lowest = dict[int, dict[str, Any]](), 1.0
        with training.computing(threads=1, device=self.device, gradients=True):
            network, feed = fabric.network.to(self.device), networks.Feed(self.images, self.coded, self.device)
            for epoch, steps in self._looks(network, feed, drawn["rate"], drawn["seed"]):
                network.eval()
                with torch.no_grad():
                    found = [network(images).argmax(dim=1).cpu().numpy() for images, _ in feed.batches()]
                predicted = np.concatenate(found)
                error = float(np.mean(predicted != self.coded))
                lowest, aim = min(lowest, error), self.aims.near(error)
                if aim is not None and error > 0:  # an annotator without any error has no say in the noise
                    state = {"epoch": epoch, "steps": steps, "error": error, "predictions": packed_classes(predicted)}
                    kept[aim] = state
                if error <= self.stop_at:
                    break
        states = [{"aim": aim, **kept[aim]} for aim in sorted(kept)]
        return {**drawn, "links": len(fabric.links), "lowest": lowest, "states": states}

    def _looks(
        self, network: networks.FabricNetwork, feed: networks.Feed, rate: float, seed: int
    ) -> Iterator[tuple[int, int]]:
        """Train until the epochs are over, or the loss overflows; yield epoch and steps where it is worth a look."""
        recipe, steps, size = self.recipe, 0, min(self.recipe.batch, len(self.coded))
        optimiser = torch.optim.SGD(
            network.parameters(), lr=rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
        )
        for epoch in range(recipe.epochs):
            for group in optimiser.param_groups:
                group["lr"] = rate / 10.0 ** sum(epoch >= one for one in recipe.milestones)
            for place, (images, labels) in enumerate(feed.epoch(epoch, batch=size, seed=seed), start=1):
                network.train()
                loss, logits = networks.stepped(network, optimiser, images, labels)
                if not math.isfinite(loss.item()):
                    return
                steps += 1
                last = place == len(self.coded) // size
                due = last if recipe.every is None else steps % recipe.every == 0
                if due and epoch + last >= recipe.first_epoch:
                    wrong = float((logits.argmax(dim=1) != labels).float().mean())
                    if wrong <= self.aims.highest + BEYOND:
                        yield epoch + 1, steps
