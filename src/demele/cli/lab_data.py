"""``demele lab data``: sets of images, described, drawn, and read from files."""

import shlex
from functools import partial
from pathlib import Path
from typing import Any

from demele.cli.engine import Command, Given
from demele.core.errors import InputError
from demele.data.catalogue import describe, image_set_names
from demele.data.drawn import draw_images
from demele.data.loaders.loading import check_files

_CALLED = {"name": "NAME", "path": "PATH", "size": "--image-size", "level": "--difficulty", "n": "--images"}


def _set(given: Given, *, files: int) -> list[str]:
    """Return the name of a set, and its file; a file of one's own is no name."""
    name = given.expected(1)[0]
    if name not in image_set_names() and Path(name).exists():
        raise InputError(
            f"NAME: {name} is no name of a set, but a file or folder; demele.data.open_images({name!r}) looks at "
            f"images of your own in Python, and demele lab vae train {shlex.quote(name)} --checkpoint run takes them"
        )
    return given.expected(files, files)


def _convert(given: Given) -> "partial[Any]":
    named = _set(given, files=2)
    given.writes(".npy")
    return given.bind(check_files, *named)


def _make(given: Given) -> "partial[Any]":
    named = given.expected(1, 1)
    given.writes(".npz")
    return given.bind(draw_images, *named)


DESCRIBE = Command(
    {"": describe},
    ("NAME",),
    lambda given: given.bind(describe, *_set(given, files=1)),
    without="name",
    called=_CALLED,
    details="""\
Describe a set of images: factors, sizes, licence and files.

demele list datasets lists the names. -o FILE.csv has a row for each factor.
""",
    examples="demele lab data describe shapes3d\n",
)
MAKE = Command(
    {"": draw_images},
    ("NAME -o FILE.npz",),
    _make,
    short="image_size counts difficulty n_images",
    without="name",
    called=_CALLED,
    details="""\
Write a set of images that a formula draws: sprites, room, squares or clutter.

The .npz holds images (n, height, width, channels) of uint8, an array for each factor, and space: the grid as JSON.
demele.data.open_images reads it back. In Python, demele.data.sprites() draws images when they are asked for.
""",
    examples="""\
demele lab data make sprites -o sprites.npz
demele lab data make room --image-size 64 --counts 10,10,10,8,4,15 -o room.npz     (5.5 GiB)
demele lab data make clutter --image-size 32 --difficulty 4 --images 50000 -o clutter.npz
demele score codes.npy sprites.npz::shape,scale,orientation,x,y
""",
)
CHECK = Command(
    {"": check_files},
    ("NAME PATH",),
    lambda given: given.bind(check_files, *_set(given, files=2)),
    short="variant options check",
    without="name image_size resample",
    called=_CALLED,
    details="""\
Check whether the files of a published set are what was published.

Compares names, types, shapes and sizes, and with --check digest every byte. Exit status 2 if the set cannot be used.
demele lab data describe NAME says where the files are from, and which options and variants a set has.
""",
    examples="""\
demele lab data check shapes3d 3dshapes.h5 --check digest
demele lab data check mpi3d mpi3d_toy.npz --variant toy
demele lab data check smallnorb norb --options split=training,camera=1
""",
)
CONVERT = Command(
    {"": check_files},
    ("NAME PATH -o FILE.npy",),
    _convert,
    short="image_size resample variant options check",
    without="name",
    called=_CALLED,
    details="""\
Write the images of a published set to one .npy file, which is mapped from then on.

The images are in the order of their grid; factors that are no grid stand behind them in the same file.
demele.data.load("shapes3d", "shapes3d.npy") and demele.data.open_images("shapes3d.npy") read it. Takes at most 300 MB
of memory. The file takes its name when it is whole; a kill leaves .NAME.tmp-..., to be deleted.
""",
    examples="""\
demele lab data convert shapes3d 3dshapes.h5 -o shapes3d.npy
demele lab data convert cars3d cars --image-size 64 -o cars64.npy
""",
)
