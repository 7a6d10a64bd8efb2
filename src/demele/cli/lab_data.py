"""``demele lab data``: sets of images, described, drawn, and read from files."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from demele.cli.engine import Call, Command, Given
from demele.core.errors import InputError
from demele.data.loaders.loading import check_files
from demele.data.own_files import describe, draw_images, image_set_names


def _set(function: Callable[..., Any], given: Given) -> Call:
    """Refuse a file of one's own, which is no name of a set."""
    name = given.files[0]
    if name not in image_set_names() and Path(name).exists():
        raise InputError(
            f"NAME: {name} is no name of a set, but a file or folder; demele.data.open_images({name!r}) looks at "
            f"images of your own in Python, and demele lab vae train {shlex.quote(name)} --checkpoint run takes them"
        )
    return given.bind(function, *given.files)


DESCRIBE = Command(
    {"": describe},
    ("NAME",),
    partial(_set, describe),
    examples="demele lab data describe shapes3d\n",
)
MAKE = Command(
    {"": draw_images},
    ("NAME -o FILE.npz",),
    short="image_size counts difficulty n_images",
    called={"size": "--image-size", "level": "--difficulty", "n": "--images"},
    details="""\
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
    partial(_set, check_files),
    short="variant options check",
    without="image_size resample",
    details="""\
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
    partial(_set, check_files),
    short="image_size resample variant options check",
    details="""\
The images are in the order of their grid; factors that are no grid stand behind them in the same file.
demele.data.load("shapes3d", "shapes3d.npy") and demele.data.open_images("shapes3d.npy") read it. Takes at most 300 MB
of memory. The file takes its name when it is whole; a kill leaves .NAME.tmp-..., to be deleted.
""",
    examples="""\
demele lab data convert shapes3d 3dshapes.h5 -o shapes3d.npy
demele lab data convert cars3d cars --image-size 64 -o cars64.npy
""",
)
