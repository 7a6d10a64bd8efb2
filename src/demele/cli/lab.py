"""``demele lab``: sets of images, VAEs and fabrics."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from demele.cli.engine import Call, Command, Given
from demele.core.errors import InputError
from demele.data.loaders.loading import check_files
from demele.data.own_files import describe, draw_images, image_set_names
from demele.files.label_files import column
from demele.models.fabric.model import Fabric
from demele.models.vae.trained import encode_images, train_vae
from demele.studies.examine import examine_file
from demele.studies.fabrics import divide_images, prune_fabric, show_fabric, train_fabric


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


# ``demele lab vae``: VAEs are trained, encode images, and are examined ------------------------------------------------

VAE_TRAIN = Command(
    {"": train_vae},
    ("[IMAGES] --checkpoint RUN",),
    short="preset objective beta latents network image_size steps seed device checkpoint",
    details="""\
The same command continues where it was stopped, to the same bits; with more --steps it goes on from where it ended.
IMAGES is sprites, room, squares or clutter, which are drawn, or a file or folder: .npz, .npy, pictures. Without it,
they are those of the preset. -o NAME.history.csv holds the course of the training. A loss that diverged is said by the
status, and ends with 0.
""",
    examples="""\
demele lab vae train --preset ci --checkpoint run
demele lab vae train sprites --objective beta_tcvae --beta 4 --latents 8 --checkpoint run
demele lab vae train mine.npz --image-size 64 --network burgess32 --steps 20000 --checkpoint run
""",
)
VAE_ENCODE = Command(
    {"": encode_images},
    ("RUN [IMAGES] -o FILE.npz",),
    short="codes image_size seed",
    called={"checkpoint": "RUN"},
    details="""\
Without IMAGES, those that it was trained on, if a formula draws them. The .npz holds codes (means), codes_std, factors
(numbers; texts by their position), and each factor under its name.
""",
    examples="""\
demele lab vae encode run -o codes.npz
demele score codes.npz::codes codes.npz::shape,scale,orientation,x,y --codes-std codes.npz::codes_std
""",
)
VAE_REPORT = Command(
    {"": examine_file},
    ("RUN [IMAGES]",),
    short="image_size missing seed",
    called={"sample": "RUN", "model": "RUN", "checkpoint": "RUN"},
    details="""\
RUN is the file of demele lab vae train, or an .npz with codes, and if they are known codes_std, factors (with
factor_names), images, reconstructions, and traversals (codes, steps, height, width[, channels]). Without IMAGES, those
that the model was trained on, if a formula draws them; of an .npz, its own.
""",
    examples="""\
demele lab vae report run -o vae.html
demele lab vae report codes.npz -o vae.html -o vae.json
""",
)


# ``demele lab fabric``: convolutional fabrics are trained, pruned, and shown ------------------------------------------

_DATA = {"images": "--data", "labels": "--image-labels"}


def _parts(given: Given, fabric: Fabric | None = None) -> Any:
    read = given.read(image_labels=lambda text: column(text, given.warn))
    return given.call(divide_images, fabric, **read)


def _prune(given: Given) -> Call:
    fabric = Fabric.load(given.files[0])
    return given.bind(prune_fabric, fabric, _parts(given, fabric), name=given.written(".fabric")[0].name)


FABRIC_TRAIN = Command(
    {"": train_fabric},
    ("--checkpoint FABRIC",),
    lambda given: given.bind(train_fabric, _parts(given)),
    short="data preset epochs n_images image_size difficulty image_labels factor label_noise held_out checkpoint seed",
    readers=(divide_images,),
    called=_DATA,
    details="""\
The same command continues where it was stopped, to the same bits; with more --epochs it continues after its end. Its
scales follow the size of the images. Errors are counted on held-out images, with their original labels. A loss that
diverged is said by the status, and ends with 0. -o NAME.history.csv holds the course of the training.
""",
    examples="""\
demele lab fabric train --checkpoint fabric
demele lab fabric train --images 8000 --layers 6 --label-noise visibility:0.2 --checkpoint noisy
demele lab fabric train --data mine.npz --image-size 32 --factor class --epochs 30 --checkpoint mine
""",
)
FABRIC_PRUNE = Command(
    {"": prune_fabric},
    ("FABRIC --remove links|channels|weights --fraction X -o FILE.fabric",),
    _prune,
    short="remove fraction criterion fine_tune data benchmark seed",
    readers=(divide_images,),
    without="name",
    called={"epochs": "--fine-tune", "level": "--difficulty", "size": "--image-size", **_DATA},
    details="""\
FABRIC is never changed. Removed links and channels make it faster; masked weights do not. Batch norms are averaged
again on training images. Errors on held-out images are reported before, after (raw), recalibrated, and fine-tuned.
Without --data, images are those of the training, if it was on clutter; otherwise no images are looked at.

The requested share cannot always be removed: some links must stay, nodes keep multiples of --round-to channels, and
kernels keep a share of their weights. The report shows the requested and the achieved share, and the reason.
""",
    examples="""\
demele lab fabric prune run --remove links --fraction 0.5 -o pruned.fabric -o pruned.html
demele lab fabric prune run --remove channels --fraction 0.5 --fine-tune 5 --benchmark -o small.fabric
""",
)
FABRIC_SHOW = Command(
    {"": show_fabric},
    ("FABRIC",),
    lambda given: given.bind(show_fabric, Fabric.load(given.files[0]), name=Path(given.files[0]).name),
    short="benchmark batch",
    without="name",
    details="""\
FABRIC is the file of demele lab fabric train or prune. -o NAME.svg draws its structure, NAME.history.csv holds the
course of its training.
""",
    examples="demele lab fabric show pruned.fabric -o pruned.html -o structure.svg\n",
)
