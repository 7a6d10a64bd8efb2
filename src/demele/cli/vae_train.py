"""``demele vae train``: a model is trained, or goes on with its training."""

import argparse
from typing import TYPE_CHECKING, Any

from demele.cli.options import command, given, option, told_by
from demele.cli.output import emit, format_of, log, result_text, warnings_in_one_line
from demele.cli.progress import reporting, saying_where_it_stopped
from demele.cli.targets import check_writable
from demele.data.drawn import named_images

if TYPE_CHECKING:
    from demele.data import ImageSet
    from demele.models import Preset

_DESCRIPTION = """\
Train a VAE on images, and keep it in the file RUN. The same command continues where it was stopped, to the same bits;
with more --steps it goes on from where it ended.

IMAGES is sprites, room, squares or clutter, which are drawn, or a file or folder of yours: .npz, .npy, pictures.
"""
_EXAMPLES = """\
objectives and their options:
  autoencoder             no penalty
  vae                     K, the KL divergence from the prior
  beta_vae                beta K: --beta
  capacity                gamma abs(K - C), C growing from 0: --c-max, --gamma, --capacity-steps
  beta_tcvae              K + (beta - 1) total correlation: --beta, --estimator
  factor_vae              K + gamma total correlation, by a discriminator: --gamma, --width, --same-batch
  dip_vae_i, dip_vae_ii   K + distance of the covariance from the identity: --lambda-od, --lambda-d
  ada_gvae, ada_mlvae     beta K of pairs of images: --beta, --changed

examples:
  demele vae train --preset ci --output run
  demele vae train sprites --objective beta_tcvae --beta 4 --latents 8 --output run
  demele vae train sprites --objective beta_vae --beta 4 --beta-scale per_pixel --output run
  demele vae train mine.npz --size 64 --network burgess32 --steps 20000 --output run
  demele vae encode run --output codes.npz
  demele score codes.npz::codes codes.npz::factors

Results go to stdout (a table on a terminal, JSON otherwise; csv is the history), progress to stderr.
Exit status: 0 done, also if the loss diverged, which the status tells; 2 a mistake; 130 interrupted, and saved.
"""
#: Options of objectives, by what the library calls them.
_OF_OBJECTIVES = (
    *("beta", "gamma", "c_max", "lambda_od", "lambda_d", "estimator", "changed", "width", "same_batch"),
    "capacity_steps",
)


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele vae train`` to the actions."""
    parser = command(actions, "train", _run, help="train a VAE on images", description=_DESCRIPTION, examples=_EXAMPLES)
    option(parser, "images", nargs="?", metavar="IMAGES", help="what it is trained on (default: that of --preset)")
    option(
        parser,
        "--size",
        type=int,
        metavar="S",
        help="height and width (default: 32 where drawn, of clutter 16; else as they are)",
    )
    model = parser.add_argument_group("model")
    option(model, "--objective", metavar="O", help="see below (default: beta_vae)")
    option(model, "--latents", type=int, default=10, metavar="D", help="codes (default: 10)")
    option(model, "--network", metavar="N", help="conv16, burgess32, dlib64 or mlp (default: that of --preset)")
    option(model, "--likelihood", metavar="L", help="bernoulli, or gaussian:STD (default: bernoulli)")
    option(
        model,
        "--beta-scale",
        choices=("raw", "per_pixel"),
        help="per_pixel: strengths as at 64 x 64 x 3 pixels, whatever the size (default: raw)",
    )
    option(model, "--init", choices=("torch", "glorot"), help="of the weights (default: torch)")
    option(
        model,
        "--logvar-bounds",
        type=_bounds,
        metavar="LOW,HIGH",
        help="between which log-variances of codes are held, written --logvar-bounds=-10,10 (default: not held)",
    )
    _add_options_of_objectives(parser.add_argument_group("options of the objective"))
    training = parser.add_argument_group("training")
    option(
        training, "--preset", default="embedded", metavar="P", help="ci, embedded (the default), embedded-room or print"
    )
    option(training, "--steps", type=int, metavar="N", help="steps in all (default: that of --preset)")
    option(training, "--batch", type=int, metavar="B", help="images of a step (default: that of --preset)")
    option(training, "--rate", dest="lr", type=float, metavar="R", help="of Adam (default: that of --preset)")
    option(training, "--seed", default=0)
    option(training, "--device", default="auto", metavar="D", help="auto, cpu or cuda (default: auto)")
    option(training, "--threads", type=int, default=1, metavar="T", help="on the CPU (default: 1)")
    out = parser.add_argument_group("output")
    option(
        out,
        "--output",
        argument="checkpoint",
        required=True,
        metavar="RUN",
        help="the file that keeps the training; if it is there, the training goes on",
    )
    option(out, "--format", "--explain", "--quiet")


def _add_options_of_objectives(group: "argparse._ArgumentGroup") -> None:
    option(group, "--beta", type=float, metavar="B")
    option(group, "--gamma", type=float, metavar="G")
    option(group, "--c-max", type=float, metavar="C", help="nats")
    option(group, "--capacity-steps", argument="steps", type=int, metavar="N", help="until C is reached")
    option(group, "--lambda-od", type=float, metavar="L", help="off the diagonal")
    option(group, "--lambda-d", type=float, metavar="L", help="on the diagonal")
    option(group, "--estimator", metavar="E", help="of the total correlation: mws, stratified or batch (default: mws)")
    option(group, "--width", type=int, metavar="W", help="of the discriminator's layers")
    option(group, "--same-batch", action="store_true", default=None, help="teach it with one batch, not two")
    option(group, "--changed", type=int, metavar="K", help="factors that differ in a pair (default: 1)")


def _run(arguments: argparse.Namespace) -> None:
    from demele.models import preset

    check_writable(arguments.output, force=True)  # it goes on, and is never replaced
    chosen = preset(arguments.preset)
    words = told_by(arguments)
    options = given(arguments, *(name for name in _OF_OBJECTIVES if name != "capacity_steps"), steps="capacity_steps")
    options |= given(arguments, "network", "likelihood", "beta_scale", "init", "logvar_bounds")
    vae = chosen.model(arguments.objective or "beta_vae", latents=arguments.latents, **options)
    images = _images(arguments, chosen)
    training = {**chosen.training, **given(arguments, "steps", "batch", "lr", "seed", "device", "threads")}
    with (
        warnings_in_one_line(quiet=arguments.quiet, words=words),
        saying_where_it_stopped(arguments.output),
        reporting(arguments.quiet) as report,
    ):
        run = vae.fit(images, checkpoint=arguments.output, progress=report or False, **training)
    kind = format_of(arguments.format, None)
    text = result_text(run, kind, explain=arguments.explain, words=words, frame=lambda: run.history)
    emit(text, None)
    if not arguments.quiet:
        log(f"demele: model kept in {arguments.output}; demele vae encode {arguments.output} --output codes.npz")


def _bounds(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected LOW,HIGH, such as -10,10, got {text!r}") from error
    return low, high


def _images(arguments: argparse.Namespace, chosen: "Preset") -> "ImageSet":
    if arguments.images is not None:
        return named_images(arguments.images, arguments.size)
    found = chosen.images()
    return found if arguments.size is None else found.resized(arguments.size)
