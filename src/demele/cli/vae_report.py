"""``demele vae report``: a trained model looked at, as one page."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, option, told_by
from demele.cli.output import emit, result_text, say_written, warnings_in_one_line
from demele.cli.targets import check_targets
from demele.cli.vae_encode import images_of_size, trained_on
from demele.data.drawn import named_images

if TYPE_CHECKING:
    from demele.studies import Examination

_DESCRIPTION = """\
Look at a trained model: which code holds which factor, scores with intervals and chance, traversals, the worst
reconstructions, how codes respond to each factor. The model is the file of demele vae train, or an .npz from anywhere
with codes, and if they are known codes_std, factors (with factor_names), images, reconstructions, and traversals
(codes, steps, height, width[, channels]).

Without IMAGES, those that the model was trained on, if a formula draws them; of an .npz, its own.

Stdout has the verdicts in words; with --format json everything but the pictures, with csv a row for each code.
"""
_EXAMPLES = """\
examples:
  demele vae report run --report vae.html
  demele vae report run mine.npz --report vae.html
  demele vae report codes.npz --report vae.html
  demele vae report run --report vae.html --format json > vae.json

Exit status: 0 done, 2 a mistake in the arguments or the data, 130 interrupted.
"""


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele vae report`` to the actions."""
    parser = command(
        actions,
        "report",
        _run,
        help="look at a trained model: scores, traversals, reconstructions, as one page",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called={"sample": "RUN", "images": "IMAGES"},
    )
    option(parser, "model", metavar="RUN", help="the file of demele vae train, or an .npz with codes")
    option(parser, "images", nargs="?", metavar="IMAGES", help="sprites, room, squares, clutter, or a file or folder")
    option(parser, "--size", type=int, metavar="S", help="height and width (default: those of the model)")
    option(
        parser,
        "--missing",
        choices=("raise", "omit"),
        default="raise",
        help="annotations: refuse, or judge each factor on the rows annotated for it (default: raise)",
    )
    option(parser, "--report", required=True)
    option(parser, "--seed", default=0)
    option(parser, "--format", default="table", help="of what stdout has (default: table)")
    option(parser, "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    named = arguments.images
    model = Path(arguments.model)
    check_targets(arguments, ("report",), inputs=[model, *([Path(named)] if named is not None else [])])
    from demele.studies.codes_file import is_arrays_file

    with warnings_in_one_line(quiet=arguments.quiet, words=told_by(arguments)):
        found = _of_codes(arguments, model) if is_arrays_file(model) else _of_run(arguments, model)
        found.to_html(arguments.report)
    emit(result_text(found, arguments.format, explain=arguments.explain, words=told_by(arguments)), None)
    say_written(arguments, report="page written to")


def _of_codes(arguments: argparse.Namespace, file: Path) -> "Examination":
    """Look at codes that a file holds, with its images or those that are named."""
    from demele.studies import examine

    images = None if arguments.images is None else named_images(arguments.images, arguments.size)
    return examine(file, images, missing=arguments.missing, seed=arguments.seed, name=file.name)


def _of_run(arguments: argparse.Namespace, file: Path) -> "Examination":
    """Look at a model that was trained."""
    from demele.models import load
    from demele.studies import examine_model

    vae = load(file)
    named = arguments.images
    if named is None:
        images = trained_on(vae.spec, "demele", "vae", "report", file)
    else:
        images = images_of_size(named, arguments.size, vae.spec)
    return examine_model(vae, images, missing=arguments.missing, seed=arguments.seed)
