"""Images and classes for fabrics: what is trained on, what a criterion looks at, and what errors are counted on."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demele.cli.options import option
from demele.cli.output import warned
from demele.core.errors import InputError
from demele.core.names import suggestion
from demele.data.drawn import named_images

if TYPE_CHECKING:
    from demele.data import ImageSet

Labels = NDArray[np.int64]
#: Factors that are classes, where a set has several factors.
_CLASSES = ("class", "label", "glyph", "digit", "category")
#: Kinds of noise that are made here.
_KINDS = ("uniform", "visibility")
#: What is set aside of the images, where nothing is said.
_HELD_OUT, _JUDGED_ON = 2000, 500
#: The largest part of a file's images that is set aside for each, where nothing is said.
_PART = 0.1


@dataclass(frozen=True, slots=True)
class Part:
    """Some images, their classes as they are given, and as they were before noise."""

    images: "ImageSet"
    labels: Labels


@dataclass(frozen=True, slots=True)
class Parts:
    """The images of a command: no image is in two parts.

    Attributes
    ----------
    training : Part
        Labels with the noise that was asked for.
    judged_on : Part or None
        What a criterion looks at; labels with noise too, as they would be in use.
    held_out : Part or None
        What errors are counted on; labels without the noise that was made here.
    classes : int
    """

    training: Part
    judged_on: Part | None
    held_out: Part | None
    classes: int


def add_options(parser: argparse.ArgumentParser, *, what: str) -> None:
    """Add the options that name images and classes."""
    group = parser.add_argument_group("images and classes")
    option(group, "--data", metavar="IMAGES", help=what)
    option(
        group,
        "--images",
        argument="n",
        type=int,
        metavar="N",
        help="images to train on (default: 8000 of clutter; of a file all that are not set aside)",
    )
    option(group, "--size", type=int, metavar="S", help="height and width: a power of 2 (default: 16, or as they are)")
    option(
        group,
        "--difficulty",
        argument="level",
        type=int,
        metavar="D",
        help="of clutter, from 0 to 4 (default: 3)",
    )
    option(
        group,
        "--labels",
        metavar="FILE",
        help="classes, one for each image: FILE::column; of a file all its images (default: a factor of the images)",
    )
    option(group, "--factor", metavar="NAME", help="which factor is the class, where there are several")
    option(
        group,
        "--noise",
        type=_noise,
        metavar="KIND:SHARE",
        help="make labels of the training wrong: uniform:0.2, or of clutter visibility:0.2, where glyphs are hard to "
        "see; demele labels corrupt makes others, for --labels",
    )
    option(
        group,
        "--held-out",
        type=int,
        metavar="N",
        help=f"images that errors are counted on (default: {_HELD_OUT} of clutter, a tenth of a file)",
    )
    option(
        group,
        "--judged-on",
        type=int,
        metavar="N",
        help=f"images set aside for criteria of pruning (default: {_JUDGED_ON} of clutter, a tenth of a file)",
    )


def _noise(text: str) -> tuple[str, float]:
    kind, _, share = text.partition(":")
    if kind not in _KINDS:
        hint = suggestion(kind, _KINDS)
        raise argparse.ArgumentTypeError(f"expected uniform:SHARE or visibility:SHARE, got {text!r}{hint}")
    try:
        return kind, float(share)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected a share of the labels, such as {kind}:0.2, got {text!r}") from error


def checked_noise(arguments: argparse.Namespace) -> tuple[str, float] | None:
    """Return the noise that was asked for.

    Raises
    ------
    InputError
        If it is no share from 0 to 0.5, or the images are not those that it is for.
    """
    if arguments.noise is None:
        return None
    kind, share = arguments.noise
    if not 0 <= share <= 0.5:
        raise InputError(f"--noise: expected a share of the labels from 0 to 0.5, got {share:g}")
    if kind == "visibility" and arguments.data != "clutter":
        raise InputError(
            "--noise visibility: is for clutter; demele labels corrupt makes noise of other images, for --labels"
        )
    return kind, share


def check_data(arguments: argparse.Namespace) -> None:
    """Refuse options that say nothing of the images that are asked for.

    Raises
    ------
    InputError
    """
    checked_noise(arguments)
    if arguments.data != "clutter" and arguments.difficulty is not None:
        raise InputError("--difficulty: is for --data clutter")
    if arguments.labels is not None and arguments.factor is not None:
        raise InputError("--factor: --labels gives the classes; leave one of them out")
    if arguments.data == "clutter" and arguments.labels is not None and arguments.images is None:
        raise InputError("--labels: say with --images how many images of clutter they are for")
    for name, least in (("images", 2), ("held_out", 0), ("judged_on", 0)):
        value = getattr(arguments, name)
        if value is not None and value < least:
            raise InputError(f"--{name.replace('_', '-')}: expected a whole number >= {least}, got {value}")


def parts(arguments: argparse.Namespace) -> Parts:
    """Return the images that a command names, in parts that no image is in two of.

    Raises
    ------
    InputError, FormatError
    """
    return _of_clutter(arguments) if arguments.data == "clutter" else _of_file(arguments)


# Clutter: a stream that never ends -----------------------------------------------------------------------------------

#: Where in the stream images are set aside: where no training reaches, so that errors of two commands are of the same.
_FAR = 2**40


def _of_clutter(arguments: argparse.Namespace) -> Parts:
    n = 8000 if arguments.images is None else arguments.images
    judged = _JUDGED_ON if arguments.judged_on is None else arguments.judged_on
    held = _HELD_OUT if arguments.held_out is None else arguments.held_out
    noise = checked_noise(arguments)
    training = _drawn(arguments, 0, n, noise)
    if arguments.labels is not None:
        training = Part(training.images, _read(arguments.labels, n, " of --images"))
    return Parts(
        training,
        _drawn(arguments, _FAR, judged, noise) if judged else None,
        _drawn(arguments, 2 * _FAR, held, None) if held else None,
        max(10, int(training.labels.max()) + 1),
    )


def _drawn(arguments: argparse.Namespace, first: int, n: int, noise: tuple[str, float] | None) -> Part:
    from demele.data import clutter, clutter_labels

    size = arguments.size or 16
    level = {} if arguments.difficulty is None else {"level": arguments.difficulty}
    images = clutter(n, size=max(size, 16), first=first, **level)
    kind, share = noise or ("uniform", 0.0)
    labels = clutter_labels(images, share, "visibility" if kind == "visibility" else "uniform")
    return Part(images if size >= 16 else images.resized(size), labels)


# Files: their rows in an order of their own --------------------------------------------------------------------------


def _of_file(arguments: argparse.Namespace) -> Parts:
    from demele.core.seeds import rng_for

    everything = named_images(arguments.data, arguments.size)
    n = len(everything)
    labels = _read(arguments.labels, n, "") if arguments.labels is not None else _factor(arguments, everything)
    held, judged = (int(_PART * n) if asked is None else asked for asked in (arguments.held_out, arguments.judged_on))
    left = n - held - judged
    asked = left if arguments.images is None else arguments.images
    if asked > left or left < 2:
        raise InputError(
            f"--images: {arguments.data} has {n:,}; {held:,} are held out and {judged:,} set aside for criteria, which "
            f"leaves {left:,}"
        )
    order = rng_for(0, "set aside", everything.digest).permutation(n)
    wrong = _made_wrong(labels, checked_noise(arguments))

    def part(rows: NDArray[np.int64], given: Labels) -> Part:
        return Part(everything.subset(rows), given[rows])

    return Parts(
        part(order[:asked], wrong),
        part(order[left : left + judged], wrong) if judged else None,
        part(order[left + judged :], labels) if held else None,
        int(labels.max()) + 1,
    )


def _made_wrong(labels: Labels, noise: tuple[str, float] | None) -> Labels:
    from demele.labels import add_uniform_noise

    if noise is None:
        return labels
    return np.asarray(add_uniform_noise(labels, noise[1], seed=0).labels, dtype=np.int64)


def _factor(arguments: argparse.Namespace, images: "ImageSet") -> Labels:
    """Return the classes that a factor of the images holds, numbered in their order."""
    table = images.factors()
    names = [str(name) for name in table]
    wanted = arguments.factor
    if wanted is None:
        found = names if len(names) == 1 else [name for name in names if name.lower() in _CLASSES]
        if len(found) != 1:
            told = f"--factor says which of {', '.join(names)}" if names else "--labels gives them"
            raise InputError(f"{arguments.data}: which factor is the class is not clear; {told}")
        wanted = found[0]
    if wanted not in names:
        raise InputError(f"--factor: {arguments.data} has none called {wanted!r}{suggestion(wanted, names)}")
    return _numbered(table[wanted].to_numpy(), f"--factor {wanted}")


def _read(text: str, n: int, of: str) -> Labels:
    """Return the classes in a file, numbered in their order."""
    from demele.files.label_files import column

    values = np.asarray(column(text, warned(quiet=True)))
    if len(values) != n:
        raise InputError(f"{text}: expected a class for each of the {n:,} images{of}, got {len(values):,}")
    return _numbered(values, text)


def _numbered(values: NDArray[Any], what: str) -> Labels:
    """Return classes as whole numbers: their own if they have any, else by their order."""
    from demele.core.labelled import read_labels

    given = read_labels(values, "labels")
    if given.dtype.kind == "i":
        if given.min() < 0:
            raise InputError(f"{what}: expected classes from 0, or names, got {given.min()}")
        return given.astype(np.int64)
    return np.unique(given.astype(str), return_inverse=True)[1].astype(np.int64)


def scales_of(shape: tuple[int, int, int]) -> int:
    """Return the scales of a fabric for images of a shape: down to one pixel.

    Raises
    ------
    InputError
    """
    height, width, _ = shape
    if height != width or height < 2 or height & (height - 1):
        near = 2 ** max(1, round(np.log2(min(height, width))))
        raise InputError(
            f"--size: fabrics take square images of 2, 4, 8, 16, ... pixels a side, got {height} x {width}; "
            f"--size {near} makes them so"
        )
    return height.bit_length()


def trained_on(arguments: argparse.Namespace, training: "dict[str, Any] | None", shape: tuple[int, int, int]) -> bool:
    """Name the clutter that a fabric was trained on, unless other images are asked for; say whether any are known."""
    from demele.data import clutter

    if arguments.data not in (None, "clutter"):
        return True
    if training is None or training["images"] != "clutter":
        return arguments.data is not None
    arguments.size = shape[0] if arguments.size is None else arguments.size
    n = training["n"] if arguments.images is None else arguments.images
    for level in range(5):
        images = clutter(n, size=max(shape[0], 16), level=level)
        images = images if shape[0] >= 16 else images.resized(shape[0])
        if images.digest == training["digest"]:
            found = {"data": "clutter", "images": n, "difficulty": level}
            for name, value in found.items():
                setattr(arguments, name, value if getattr(arguments, name) is None else getattr(arguments, name))
            return True
    return arguments.data is not None


def files_of(arguments: argparse.Namespace) -> list[Path]:
    """Return what is read of images: never replaced."""
    return [] if arguments.data in (None, "clutter") else [Path(arguments.data)]
