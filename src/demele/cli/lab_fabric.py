"""``demele lab fabric``: convolutional fabrics are trained, pruned, and shown."""

from pathlib import Path
from typing import Any

from demele.cli.engine import Call, Command, Given
from demele.files.label_files import column
from demele.models.fabric.model import Fabric
from demele.studies.fabrics import divide_images, prune_fabric, show_fabric, train_fabric

_DATA = {"images": "--data", "labels": "--image-labels"}


def _parts(given: Given, fabric: Fabric | None = None) -> Any:
    read = given.read(image_labels=lambda text: column(text, given.warn))
    return given.call(divide_images, fabric, **read)


def _prune(given: Given) -> Call:
    fabric = Fabric.load(given.files[0])
    return given.bind(prune_fabric, fabric, _parts(given, fabric), name=given.written(".fabric")[0].name)


TRAIN = Command(
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
PRUNE = Command(
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
SHOW = Command(
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
