"""``demele fabric prune``: prune links, channels or weights of a trained fabric, with the cost and gain."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.fabric_data import Parts, add_options, check_data, files_of, parts, trained_on
from demele.cli.options import command, given, option, refuse, told_by
from demele.cli.output import emit, format_of, log, result_text, say_written, warnings_in_one_line
from demele.cli.progress import reporting
from demele.cli.targets import check_targets
from demele.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from demele.models import Fabric

_DESCRIPTION = """\
Remove the least important parts of a trained fabric, and write the rest to another file. Removed links and channels
make it faster; masked weights do not. Batch norms are averaged again on training images.

Errors on held-out images are reported before, after (raw), recalibrated, and fine-tuned. Without --data, images are
those of the training, if it was on clutter; otherwise the fabric is pruned without images.
"""
_EXAMPLES = """\
criteria:
  random, magnitude, synflow                 look at no images
  label_free                                 looks at images
  sensitivity, fisher, grasp, grasp_abs      look at images and classes
  gate, leave_one_out, screening, shapley    likewise; of links only

examples:
  demele fabric prune fabric --remove links --fraction 0.5 --output pruned
  demele fabric prune pruned --remove channels --fraction 0.5 --fine-tune 5 --benchmark --output small
  demele fabric prune fabric --remove links --fraction 0.5 --criterion gate --report pruned.html --output pruned
  demele fabric prune fabric --data mine.npz --remove links --fraction 0.5 --output pruned

The requested share cannot always be removed: some links must stay, nodes keep multiples of --round-to channels, and
kernels keep a share of their weights. The report shows the requested and the achieved share, and the reason.
Exit status: 0 done, 2 a mistake in the arguments or the data, 130 interrupted; FABRIC is never changed.
"""
_SETTINGS = ("min_links", "overshoot", "round_to", "cap", "fraction_of", "seed")


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele fabric prune`` to the actions."""
    parser = command(
        actions,
        "prune",
        _run,
        help="remove links, channels or weights of a trained fabric",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called={"images": "--data", "labels": "--labels"},
    )
    option(parser, "fabric", metavar="FABRIC", type=Path, help="the file of demele fabric train")
    what = parser.add_argument_group("what goes")
    levels = ("links", "channels", "weights")
    option(what, "--remove", argument="what", choices=levels, help="parts to remove (needed)")
    option(what, "--fraction", required=True, type=_fraction, metavar="F", help="share to remove, between 0 and 1")
    option(what, "--criterion", default="magnitude", metavar="C", help="see below (default: magnitude)")
    option(
        what,
        "--min-links",
        type=_links,
        metavar="N",
        help="links to keep: longest (the default), shortest, or a number",
    )
    option(
        what,
        "--overshoot",
        type=float,
        metavar="S",
        help="links: share that may be removed in addition (default: 0.05)",
    )
    option(what, "--round-to", type=int, metavar="N", help="channels: nodes keep a multiple of N (default: 8)")
    option(what, "--cap", type=float, metavar="S", help="weights: largest share that a kernel loses (default: 0.9)")
    option(
        what,
        "--fraction-of",
        choices=("live", "whole"),
        help="share of the remaining or of the whole fabric (default: live)",
    )
    option(what, "--seed", default=0, help="random seed of the criteria (default: 0)")
    then = parser.add_argument_group("afterwards")
    option(then, "--fine-tune", argument="epochs", type=int, metavar="EPOCHS", help="epochs of further training")
    option(then, "--rate", type=float, default=0.01, metavar="R", help="learning rate of --fine-tune (default: 0.01)")
    option(then, "--batch", type=int, default=64, metavar="B", help="images at a time (default: 64)")
    option(then, "--benchmark", action="store_true", help="measure milliseconds before and after")
    add_options(
        parser, what="images to look at: as of demele fabric train (default: those of the training, if clutter)"
    )
    out = parser.add_argument_group("output")
    option(out, "--output", required=True, metavar="PRUNED", help="the file to write the pruned fabric to")
    option(out, "--report", "--format", "--explain", "--force", "--quiet")


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        fraction = -1.0
    if not 0 < fraction < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 1, such as 0.5, got {text!r}")
    return fraction


def _links(text: str) -> str | int:
    return int(text) if text.lstrip("-").isdecimal() else text


def _run(arguments: argparse.Namespace) -> None:
    if arguments.remove is None:
        raise InputError("--remove: expected what goes: links, channels or weights")
    check_targets(arguments, ("output", "report"), inputs=[arguments.fabric, *files_of(arguments)])
    from demele.models import Fabric

    before = Fabric.load(arguments.fabric)
    words = told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        data = _data(arguments, before)
        fabric = before.copy()
        errors = _pruned(arguments, fabric, data)
        timings = _timings(arguments, before, fabric)
    fabric.save(arguments.output)
    images = None if data is None or data.held_out is None else len(data.held_out.images)
    found = fabric.report(timings=timings, errors=errors, images=images, name=arguments.output.name)
    if arguments.report is not None:
        found.to_html(arguments.report)
    emit(result_text(found, format_of(arguments.format, None), explain=arguments.explain, words=words), None)
    say_written(arguments, output="pruned fabric written to", report="page written to")


def _data(arguments: argparse.Namespace, fabric: "Fabric") -> Parts | None:
    """Return the images to look at, or nothing if none are known."""
    if not trained_on(arguments, fabric.trained_on, fabric.spec.image_shape):
        before = fabric.trained_on
        known = "" if before is None else f" (it was trained on {before['images']})"
        refuse(arguments, ("fine_tune",), f"which images to train on is not known; --data names them{known}")
        if not arguments.quiet:
            log("demele: no images are known: no errors are counted, and batch norms stay; --data names some")
        return None
    check_data(arguments)
    found = parts(arguments)
    if found.classes > fabric.spec.classes:
        raise InputError(
            f"{arguments.labels or arguments.data}: {found.classes} classes, and {arguments.fabric} knows "
            f"{fabric.spec.classes}"
        )
    if arguments.data != "clutter":
        _warn_if_divided_otherwise(arguments, fabric, found)
    return found


def _warn_if_divided_otherwise(arguments: argparse.Namespace, fabric: "Fabric", data: Parts) -> None:
    """Say so where the same file is divided in another way than for the training."""
    before, own = fabric.trained_on, data.training.images
    if before is None or before["images"] != own.name or before["digest"] == own.digest or arguments.quiet:
        return
    log(
        f"demele: warning: {own.name} is not divided as it was for the training: images that are held out now may have "
        "been trained on; give the same --images, --held-out, --judged-on and --size"
    )


def _pruned(arguments: argparse.Namespace, fabric: "Fabric", data: Parts | None) -> dict[str, float]:
    """Prune a fabric, average its norms again and train it on; return the error after each step."""
    errors: dict[str, float] = {}

    def counted(stage: str) -> None:
        if data is not None and data.held_out is not None:
            errors[stage] = fabric.error(data.held_out.images, data.held_out.labels)

    counted("before")
    judged = None if data is None else data.judged_on
    seen = () if judged is None else (judged.images, judged.labels)
    fabric.prune(
        arguments.remove,
        arguments.fraction,
        arguments.criterion,
        *seen,
        batch=arguments.batch,
        **given(arguments, *_SETTINGS),
    )
    counted("raw")
    if data is not None:
        fabric.recalibrate(data.training.images, batch=arguments.batch)
        counted("recalibrated")
        if arguments.fine_tune is not None:
            _fine_tune(arguments, fabric, data)
            counted("fine-tuned")
    return errors


def _fine_tune(arguments: argparse.Namespace, fabric: "Fabric", data: Parts) -> None:
    from demele.data.images import digest_of

    if arguments.fine_tune < 1:
        raise InputError(f"--fine-tune: expected a whole number of epochs >= 1, got {arguments.fine_tune}")
    before = fabric.trained_on
    if before is not None and before["digest"] == data.training.images.digest and not arguments.quiet:
        known = before["labels"] == digest_of("labels", data.training.labels)
        if not known:
            log("demele: warning: these images were trained on with other labels; --noise or --labels gives them")
    with reporting(arguments.quiet) as report:
        fabric.fit(
            data.training.images,
            data.training.labels,
            epochs=fabric.run.epochs + arguments.fine_tune,
            rate=arguments.rate,
            batch=arguments.batch,
            milestones=(),
            seed=arguments.seed,
            progress=report or False,
        )


def _timings(arguments: argparse.Namespace, before: "Fabric", after: "Fabric") -> "pd.DataFrame | None":
    from demele.models import benchmark

    return benchmark({"before": before, "pruned": after}, batch=arguments.batch) if arguments.benchmark else None
