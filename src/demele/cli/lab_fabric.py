"""``demele lab fabric``: convolutional fabrics are trained, pruned, and shown."""

from functools import partial
from pathlib import Path
from typing import Any

from demele.cli.engine import Command, Given
from demele.files.label_files import column
from demele.models.fabric.model import Fabric
from demele.studies.fabrics import Parts, divide_images, prune_fabric, show_fabric, train_fabric

_CALLED = {"fabric": "FABRIC", "epochs": "--fine-tune", "level": "--difficulty", "size": "--image-size"}


def _parts(given: Given, fabric: Fabric | None = None) -> Parts | None:
    labels = given.take("image_labels")
    read = {} if labels is None else {"image_labels": column(labels, given.warn)}
    parts: Parts | None = given.call(divide_images, fabric, **read)
    return parts


def _train(given: Given) -> "partial[Any]":
    given.expected(0, 0)
    return given.bind(train_fabric, _parts(given))


def _prune(given: Given) -> "partial[Any]":
    (file,) = given.expected(1, 1)
    name, fabric = given.writes(".fabric").name, Fabric.load(file)
    return given.bind(prune_fabric, fabric, _parts(given, fabric), name=name)


def _show(given: Given) -> "partial[Any]":
    (file,) = given.expected(1, 1)
    return given.bind(show_fabric, Fabric.load(file), name=Path(file).name)


TRAIN = Command(
    {"": train_fabric},
    ("--checkpoint FABRIC",),
    _train,
    short="data preset epochs n_images image_size difficulty image_labels factor label_noise held_out checkpoint seed",
    readers=(divide_images,),
    called={"images": "--data", "labels": "--image-labels"},
    details="""\
Train a convolutional neural fabric on images and classes, and keep it in a file.

The same command continues where it was stopped, to the same bits; with more --epochs it continues after its end. Its
scales follow the size of the images. Errors are counted on held-out images, with their original labels. A loss that
diverged is said by the status, and ends with 0. -o NAME.history.csv holds the course of the training.

Presets: layers, channels, epochs, and the epochs after which the rate is divided by ten
  ci          3 layers of 8 channels, 5 epochs (3, 4): seconds
  embedded    4 layers of 16 channels, 10 epochs (6, 8): about a minute for 8000 images of 16 x 16 on a CPU
  print       8 layers of 64 channels, 200 epochs (80, 120): as published, on a GPU
  annotator   the same with the rate divided after epochs 50 and 80
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
    called={**_CALLED, "images": "--data", "labels": "--image-labels"},
    details="""\
Remove links, channels or weights of a trained fabric, and report the cost and gain.

FABRIC is never changed. Removed links and channels make it faster; masked weights do not. Batch norms are averaged
again on training images. Errors on held-out images are reported before, after (raw), recalibrated, and fine-tuned.
Without --data, images are those of the training, if it was on clutter; otherwise no images are looked at.

The requested share cannot always be removed: some links must stay, nodes keep multiples of --round-to channels, and
kernels keep a share of their weights. The report shows the requested and the achieved share, and the reason.

Criteria:
  random, magnitude, synflow                 look at no images
  label_free                                 looks at images
  sensitivity, fisher, grasp, grasp_abs      look at images and classes
  gate, leave_one_out, screening, shapley    likewise; of links only
""",
    examples="""\
demele lab fabric prune run --remove links --fraction 0.5 -o pruned.fabric -o pruned.html
demele lab fabric prune run --remove channels --fraction 0.5 --fine-tune 5 --benchmark -o small.fabric
""",
)
SHOW = Command(
    {"": show_fabric},
    ("FABRIC",),
    _show,
    short="benchmark batch",
    without="name",
    details="""\
Show a fabric: counts, prunings, training, and times.

FABRIC is the file of demele lab fabric train or prune. -o NAME.svg draws its structure, NAME.history.csv holds the
course of its training.
""",
    examples="demele lab fabric show pruned.fabric -o pruned.html -o structure.svg\n",
)
