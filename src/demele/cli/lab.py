"""``demele lab``: sets of images, VAEs and fabrics."""

from pathlib import Path
from typing import Any, ClassVar

from demele.cli.engine import Call, Command, Given
from demele.data.loaders.loading import check_files
from demele.data.own_files import describe, draw_images
from demele.files.label_files import column
from demele.models.fabric.model import Fabric
from demele.models.vae.model import encode_images, train_vae
from demele.studies.examine import examine_file
from demele.studies.fabrics import divide_images, prune_fabric, show_fabric, train_fabric


class Describe(Command):
    """Factors, sizes, licence and files of a set of images.

    Examples
    --------
    demele lab data describe shapes3d
    """

    functions: ClassVar = {"": describe}
    usage = ("NAME",)


class Make(Command):
    """Write a set of images that a formula draws.

    The .npz holds images (n, height, width, channels) of uint8, an array for each factor, and space: the grid as JSON.
    demele.data.open_images reads it back. In Python, demele.data.sprites() draws images when they are asked for.

    Examples
    --------
    demele lab data make sprites -o sprites.npz
    demele lab data make room --image-size 64 --counts 10,10,10,8,4,15 -o room.npz     (5.5 GiB)
    demele lab data make clutter --image-size 32 --difficulty 4 --images 50000 -o clutter.npz
    demele score codes.npy sprites.npz::shape,scale,orientation,x,y
    """

    functions: ClassVar = {"": draw_images}
    usage = ("NAME -o FILE.npz",)
    short = "image_size counts difficulty n_images"
    called: ClassVar = {"size": "--image-size", "level": "--difficulty", "n": "--images"}


class Check(Command):
    """Check files of a published set.

    Compares names, types, shapes and sizes, and with --check digest every byte. Exit status 2 if the set cannot be
    used. demele lab data describe NAME says where the files are from, and which options and variants a set has.

    Examples
    --------
    demele lab data check shapes3d 3dshapes.h5 --check digest
    demele lab data check mpi3d mpi3d_toy.npz --variant toy
    demele lab data check smallnorb norb --options split=training,camera=1
    """

    functions: ClassVar = {"": check_files}
    usage = ("NAME PATH",)
    short = "variant options check"
    without = "image_size resample"


class Convert(Command):
    """Write a published set to one file that is mapped.

    The images are in the order of their grid; factors that are no grid stand behind them in the same file.
    demele.data.load("shapes3d", "shapes3d.npy") and demele.data.open_images("shapes3d.npy") read it. Takes at most 300
    MB of memory. The file takes its name when it is whole; a kill leaves .NAME.tmp-..., to be deleted.

    Examples
    --------
    demele lab data convert shapes3d 3dshapes.h5 -o shapes3d.npy
    demele lab data convert cars3d cars --image-size 64 -o cars64.npy
    """

    functions: ClassVar = {"": check_files}
    usage = ("NAME PATH -o FILE.npy",)
    short = "image_size resample variant options check"


# ``demele lab vae``: VAEs are trained, encode images, and are examined ------------------------------------------------


class VaeTrain(Command):
    """Train a VAE on images.

    The same command continues where it was stopped, to the same bits; with more --steps it goes on from where it ended.
    IMAGES is sprites, room, squares or clutter, which are drawn, or a file or folder: .npz, .npy, pictures. Without it,
    they are those of the preset. -o NAME.history.csv holds the course of the training. A loss that diverged is said by
    the status, and ends with 0.

    Examples
    --------
    demele lab vae train --preset ci --checkpoint run
    demele lab vae train sprites --objective beta_tcvae --beta 4 --latents 8 --checkpoint run
    demele lab vae train mine.npz --image-size 64 --network burgess32 --steps 20000 --checkpoint run
    """

    functions: ClassVar = {"": train_vae}
    usage = ("[IMAGES] --checkpoint RUN",)
    short = "preset objective beta latents network image_size steps seed device checkpoint"


class VaeEncode(Command):
    """Encode images with a trained VAE.

    Without IMAGES, those that it was trained on, if a formula draws them. The .npz holds codes (means), codes_std,
    factors (numbers; texts by their position), and each factor under its name.

    Examples
    --------
    demele lab vae encode run -o codes.npz
    demele score codes.npz::codes codes.npz::shape,scale,orientation,x,y --codes-std codes.npz::codes_std
    """

    functions: ClassVar = {"": encode_images}
    usage = ("RUN [IMAGES] -o FILE.npz",)
    short = "codes image_size seed"
    called: ClassVar = {"checkpoint": "RUN"}


class VaeReport(Command):
    """Examine a trained model.

    RUN is the file of demele lab vae train, or an .npz with codes, and if they are known codes_std, factors (with
    factor_names), images, reconstructions, and traversals (codes, steps, height, width[, channels]). Without IMAGES,
    those that the model was trained on, if a formula draws them; of an .npz, its own.

    Examples
    --------
    demele lab vae report run -o vae.html
    demele lab vae report codes.npz -o vae.html -o vae.json
    """

    functions: ClassVar = {"": examine_file}
    usage = ("RUN [IMAGES]",)
    short = "image_size missing seed"
    called: ClassVar = {"sample": "RUN", "model": "RUN", "checkpoint": "RUN"}


# ``demele lab fabric``: convolutional fabrics are trained, pruned, and shown ------------------------------------------

_DATA = {"images": "--data", "labels": "--image-labels"}


def _parts(given: Given, fabric: Fabric | None = None) -> Any:
    read = given.read(image_labels=lambda text: column(text, given.warn))
    return given.call(divide_images, fabric, **read)


class FabricTrain(Command):
    """Train a convolutional fabric on images and classes.

    The same command continues where it was stopped, to the same bits; with more --epochs it continues after its end.
    Its scales follow the size of the images. Errors are counted on held-out images, with their original labels. A loss
    that diverged is said by the status, and ends with 0. -o NAME.history.csv holds the course of the training.

    Examples
    --------
    demele lab fabric train --checkpoint fabric
    demele lab fabric train --images 8000 --layers 6 --label-noise visibility:0.2 --checkpoint noisy
    demele lab fabric train --data mine.npz --image-size 32 --factor class --epochs 30 --checkpoint mine
    """

    functions: ClassVar = {"": train_fabric}
    usage = ("--checkpoint FABRIC",)
    short = "data preset epochs n_images image_size difficulty image_labels factor label_noise held_out checkpoint seed"
    readers = (divide_images,)
    called: ClassVar = _DATA

    def _run(self, given: Given) -> Call:
        return given.bind(train_fabric, _parts(given))


class FabricPrune(Command):
    """Prune links, channels or weights of a fabric.

    FABRIC is never changed. Removed links and channels make it faster; masked weights do not. Batch norms are averaged
    again on training images. Errors on held-out images are reported before, after (raw), recalibrated, and fine-tuned.
    Without --data, images are those of the training, if it was on clutter; otherwise no images are looked at.

    The requested share cannot always be removed: some links must stay, nodes keep multiples of --round-to channels, and
    kernels keep a share of their weights. The report shows the requested and the achieved share, and the reason.

    Examples
    --------
    demele lab fabric prune run --remove links --fraction 0.5 -o pruned.fabric -o pruned.html
    demele lab fabric prune run --remove channels --fraction 0.5 --fine-tune 5 --benchmark -o small.fabric
    """

    functions: ClassVar = {"": prune_fabric}
    usage = ("FABRIC --remove links|channels|weights --fraction X -o FILE.fabric",)
    short = "remove fraction criterion fine_tune data benchmark seed"
    without = "name"
    readers = (divide_images,)
    called: ClassVar = {"epochs": "--fine-tune", "level": "--difficulty", "size": "--image-size", **_DATA}

    def _run(self, given: Given) -> Call:
        fabric = Fabric.load(given.files[0])
        return given.bind(prune_fabric, fabric, _parts(given, fabric), name=given.written(".fabric")[0].name)


class FabricShow(Command):
    """Show a fabric: counts, prunings, times.

    FABRIC is the file of demele lab fabric train or prune. -o NAME.svg draws its structure, NAME.history.csv holds the
    course of its training.

    Examples
    --------
    demele lab fabric show pruned.fabric -o pruned.html -o structure.svg
    """

    functions: ClassVar = {"": show_fabric}
    usage = ("FABRIC",)
    short = "benchmark batch"
    without = "name"

    def _run(self, given: Given) -> Call:
        return given.bind(show_fabric, Fabric.load(given.files[0]), name=Path(given.files[0]).name)
