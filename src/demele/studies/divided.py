"""Images divided into parts: to train on, to judge links by, and to count errors on; with the labels of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from demele.core.arrays import Array, Counts, rng_for
from demele.core.errors import InputError, InputTypeError, NotEnoughData, quoted
from demele.core.kinds import FILE, CountOrNone, Kind, at_least, checked, checked_share, suggestion
from demele.core.labelled import read_labels
from demele.data.array_images import ArrayImages
from demele.data.images import ImageSet
from demele.data.own_files import named_images
from demele.data.procedural.clutter import clutter, clutter_labels
from demele.labels.made.noise import add_uniform_noise

if TYPE_CHECKING:
    from demele.models.fabric.model import Fabric

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
            kinds = "expected 'none', 'uniform:RATE', 'visibility:RATE' or 'resubstitution:RATE'"
            raise InputError(argument, f"{kinds}, got {quoted(given)}")
        return cls(kind=kind, rate=checked_share(value, argument, 0, 0.5)) if rate else cls()  # type: ignore[arg-type]


class Part(NamedTuple):
    """Some images, the labels that they are given, and their true classes."""

    images: ImageSet
    labels: Classes
    true: Classes

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


def with_uniform_noise(true: Classes, noise: LabelNoise, seed: int) -> Classes:
    """Return classes with uniform noise, if there is some."""
    if noise.kind == "none":
        return true
    return np.asarray(add_uniform_noise(true, noise.rate, seed=seed).labels, dtype=np.int64)


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


@checked
def divide_images(
    fabric: Fabric | None = None,
    *,
    data: Annotated[ImageSet | str | Path | None, Kind("IMAGES", is_file=True)] = None,
    n_images: Annotated[int, at_least(2)] | None = None,
    image_size: int | None = None,
    difficulty: int | None = None,
    image_labels: Annotated[object, FILE] = None,
    factor: str | None = None,
    label_noise: Annotated[str | None, Kind("KIND:RATE")] = None,
    held_out: CountOrNone | None = None,
    judged_on: CountOrNone | None = None,
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
    whole = Part(everything, with_uniform_noise(true, noise, 0), true)
    return Parts(
        whole.rows(order[:fit]),
        whole.rows(order[left : left + judged_n]) if judged_n else None,
        whole._replace(labels=true).rows(order[left + judged_n :]) if held_n else None,
        int(true.max()) + 1,
    )


def _clutter_of(fabric: Fabric, n_images: int | None) -> tuple[int, int] | None:
    """Return how many images of clutter a fabric was trained on, and how difficult they are; None for other images."""
    known, side = fabric.trained_on, fabric.spec.image_shape[0]
    if known is None or known["images"] != "clutter":
        return None
    n = known["n"] if n_images is None else n_images
    for level in range(5):
        if clutter_part(n, side, level, LabelNoise()).images.digest == known["digest"]:
            return n, level
    return None


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
        raise InputError("factor", f"{images.name} has none called {wanted!r}{suggestion(wanted, names)}")
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
            sets = [(images, classes_of(images)) for images in (self.train, self.test)]
            whole, test = (
                Part(images, with_uniform_noise(true, own, noise_seed), true)
                for (images, true), noise_seed in zip(sets, (seed, 0), strict=True)
            )
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
        level = {} if self.level is None else {"level": self.level}
        about = {
            "images": images.name,
            "shape": list(images.shape),
            "classes": int(classes_of(images).max()) + 1,
            **level,
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
        from demele.models.fabric.annotators import annotator_recipe, fabric_annotators

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
