"""``demele fabric train``: a fabric is trained, or goes on with its training."""

import argparse
from typing import TYPE_CHECKING, Any

from demele.cli.fabric_data import Parts, add_options, check_data, files_of, parts, scales_of
from demele.cli.options import command, given, option, told_by, whole_numbers_in
from demele.cli.output import emit, format_of, log, result_text, warnings_in_one_line
from demele.cli.progress import reporting, saying_where_it_stopped
from demele.cli.targets import check_writable
from demele.core.errors import InputError

if TYPE_CHECKING:
    from demele.models import Fabric, FabricPreset

_DESCRIPTION = """\
Train a convolutional neural fabric on images and their classes, and keep it in the file FABRIC. The same command
continues where it was stopped, to the same bits; with more --epochs it continues after its end. Its scales follow the
size of the images: 5 for 16 x 16, 6 for 32 x 32.

IMAGES is clutter, which is generated, or your own file or folder: .npz, .npy, pictures; their class is one of their
factors, or --labels. Errors are counted on held-out images, with their original labels.
"""
_EXAMPLES = """\
presets: layers, channels, epochs, and the epochs after which the rate is divided by ten
  ci          3 layers of 8 channels, 5 epochs (3, 4): seconds
  embedded    4 layers of 16 channels, 10 epochs (6, 8): about a minute for 8000 images of 16 x 16 on a CPU
  print       8 layers of 64 channels, 200 epochs (80, 120): as published, on a GPU
  annotator   the same with the rate divided after epochs 50 and 80

examples:
  demele fabric train --data clutter --output fabric
  demele fabric train --data clutter --images 8000 --layers 6 --channels 16 --noise visibility:0.2 --output noisy
  demele fabric train --data mine.npz --size 32 --factor class --epochs 30 --milestones 20,25 --output fabric
  demele fabric prune fabric --remove links --fraction 0.5 --output pruned

Results go to stdout (a table on a terminal, JSON otherwise; csv is the history), progress to stderr.
Exit status: 0 done, also if the loss diverged (see the status); 2 a mistake; 130 interrupted, and saved.
"""
_TRAINING = ("epochs", "batch", "rate", "momentum", "weight_decay", "milestones", "seed", "device", "threads")


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele fabric train`` to the actions."""
    parser = command(
        actions,
        "train",
        _run,
        help="train a fabric on images and classes",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called={"images": "--data", "labels": "--labels"},
    )
    add_options(parser, what="what it is trained on (default: clutter)")
    model = parser.add_argument_group("fabric")
    option(model, "--preset", argument="name", default="embedded", metavar="P", help="see below (default: embedded)")
    option(model, "--layers", type=int, metavar="L", help="(default: that of --preset)")
    option(model, "--channels", type=int, metavar="C", help="of each node (default: that of --preset)")
    option(
        model,
        "--normalisation",
        choices=("link", "node"),
        help="batch norm for each link, or for the sum of a node, as Saxena and Verbeek have it (default: link)",
    )
    option(model, "--activation", choices=("relu6", "relu"), help="(default: relu6)")
    training = parser.add_argument_group("training")
    option(training, "--epochs", type=int, metavar="N", help="epochs in all (default: that of --preset)")
    option(training, "--batch", type=int, metavar="B", help="images of a step (default: that of --preset)")
    option(training, "--rate", type=float, metavar="R", help="of gradient descent (default: that of --preset)")
    option(training, "--momentum", type=float, metavar="M", help="(default: that of --preset)")
    option(training, "--weight-decay", type=float, metavar="W", help="(default: that of --preset)")
    option(
        training,
        "--milestones",
        type=whole_numbers_in,
        metavar="E,...",
        help="epochs after which the rate is divided by ten (default: those of --preset, whatever --epochs)",
    )
    option(training, "--seed", default=0, help="of the weights, and of the order of the images (default: 0)")
    option(training, "--device", default="auto", metavar="D", help="auto, cpu or cuda (default: auto)")
    option(training, "--threads", type=int, default=1, metavar="T", help="on the CPU (default: 1)")
    out = parser.add_argument_group("output")
    option(
        out,
        "--output",
        argument="checkpoint",
        metavar="FABRIC",
        help="the file that keeps the training (needed); if it is there, the training goes on",
    )
    option(out, "--format", "--explain", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele.models import fabric_preset

    if arguments.output is None:
        raise InputError("--output: expected the file that keeps the training, such as --output fabric")
    arguments.data = arguments.data or "clutter"
    check_data(arguments)
    check_writable(arguments.output, force=True, inputs=files_of(arguments))  # it goes on, and is never replaced
    chosen = fabric_preset(arguments.preset)
    data = parts(arguments)
    fabric = _fabric(arguments, chosen, data)
    training = {**chosen.training, **given(arguments, *_TRAINING)}
    with (
        warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)),
        saying_where_it_stopped(arguments.output),
        reporting(arguments.quiet) as report,
    ):
        fabric.fit(
            data.training.images,
            data.training.labels,
            checkpoint=arguments.output,
            progress=report or False,
            **training,
        )
    held, errors = data.held_out, {}
    if held is not None and fabric.run.epochs:
        errors = {"held out": fabric.error(held.images, held.labels)}
    found = fabric.report(errors=errors, images=None if held is None else len(held.images))
    kind = format_of(arguments.format, None)
    text = result_text(found, kind, explain=arguments.explain, frame=lambda: fabric.run.history)
    emit(text, None)
    if not arguments.quiet:
        kept, named = arguments.output, "" if arguments.data == "clutter" else f" --data {arguments.data}"
        then = f"demele fabric prune {kept}{named} --remove links --fraction 0.5 --output pruned"
        log(f"demele: fabric kept in {kept}; {then}")


def _fabric(arguments: argparse.Namespace, chosen: "FabricPreset", data: Parts) -> "Fabric":
    """Return the fabric that is asked for, for images of their size."""
    shape = data.training.images.shape
    return chosen.fabric(
        scales=scales_of(shape),
        image_channels=shape[2],
        classes=max(2, data.classes),
        **given(arguments, "layers", "channels", "normalisation", "activation", "seed"),
    )
