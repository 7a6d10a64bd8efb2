"""``demele vae encode``: codes and factors of images, into one file."""

import argparse
import contextlib
import io
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demele.cli.options import command, option
from demele.cli.output import say_written
from demele.cli.targets import check_targets
from demele.core.errors import InputError
from demele.core.outputs import write_whole
from demele.data.drawn import named_images

if TYPE_CHECKING:
    from demele.data import ImageSet, Sample
    from demele.models.vae.run import TrainingSpec

_DESCRIPTION = """\
Encode images with a trained VAE. The file holds codes (means), codes_std, factors (numbers; texts by their position),
and each factor alone under its name.

Without IMAGES, those that it was trained on, if a formula draws them.
"""
_EXAMPLES = """\
examples:
  demele vae encode run --output codes.npz
  demele vae encode run mine.npz --output codes.npz
  demele score codes.npz::codes codes.npz::factors
  demele score codes.npz::codes codes.npz::shape,scale,orientation,x,y --codes-std codes.npz::codes_std

Exit status: 0 done, 2 a mistake in the arguments or the data, 130 interrupted.
"""


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele vae encode`` to the actions."""
    parser = command(
        actions, "encode", _run, help="encode images with a trained VAE", description=_DESCRIPTION, examples=_EXAMPLES
    )
    option(parser, "checkpoint", metavar="RUN", help="the file of demele vae train")
    option(parser, "images", nargs="?", metavar="IMAGES", help="sprites, room, squares, clutter, or a file or folder")
    option(parser, "--size", type=int, metavar="S", help="height and width (default: those of the model)")
    option(parser, "--codes", choices=("mean", "sampled"), default="mean", help="means, or draws (default: mean)")
    option(parser, "--seed", default=0, help="of the draws (default: 0)")
    option(parser, "--output", required=True, help="write the codes here: .npz")
    option(parser, "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    if arguments.output.suffix.lower() != ".npz":
        raise InputError(f"--output: writes NumPy arrays; call it {arguments.output.stem}.npz, not {arguments.output}")
    named = arguments.images
    files = [Path(arguments.checkpoint), *([Path(named)] if named is not None else [])]
    check_targets(arguments, ("output",), inputs=files)
    from demele.models import load

    vae = load(arguments.checkpoint)
    if named is None:
        images = trained_on(vae.spec, "demele", "vae", "encode", arguments.checkpoint)
    else:
        images = images_of_size(named, arguments.size, vae.spec)
    sample = vae.encode(images, codes=arguments.codes, seed=arguments.seed)
    write_whole(arguments.output, codes_file(sample))
    say_written(arguments, output=f"{len(sample.codes):,} codes of {images.name} written to")


def images_of_size(named: str, size: int | None, spec: "TrainingSpec") -> "ImageSet":
    """Return the images that are named, of the size that the model takes unless another is given."""
    return named_images(named, spec.shape[0] if size is None and not Path(named).exists() else size)


def trained_on(spec: "TrainingSpec", *call: object) -> "ImageSet":
    """Return the images of a training, if a formula draws them with its usual arguments.

    ``call``: what to type if none does, up to the images.

    Raises
    ------
    InputError
    """
    from demele.data.catalogue import DRAWN
    from demele.models.presets import PRESETS

    drawn: list[Callable[[], ImageSet]] = [item.images for item in PRESETS.values() if item.is_drawn]
    drawn += [partial(named_images, name, spec.shape[0]) for name in DRAWN]
    for images in drawn:
        with contextlib.suppress(InputError):  # squares and clutter are not drawn in every size
            if (found := images()).digest == spec.digest:
                return found
    typed = shlex.join([*map(str, call), spec.images])
    raise InputError(
        f"IMAGES: the model was trained on {spec.images}, which no name stands for; give its file or folder, as in "
        f"{typed} ..."
    )


def codes_file(sample: "Sample") -> bytes:
    """Return the arrays of a sample as the bytes of an ``.npz``."""
    arrays: dict[str, Any] = {"codes": sample.codes.to_numpy(np.float32)}
    if sample.codes_std is not None:
        arrays["codes_std"] = sample.codes_std.to_numpy(np.float32)
    columns = {str(name): _numbers(column) for name, column in sample.factors.items()}
    arrays["factor_names"] = np.array(list(columns), dtype=str)
    arrays["factors"] = np.column_stack(list(columns.values())) if columns else np.zeros((len(sample.codes), 0))
    for name, column in sample.factors.items():
        if str(name).isidentifier() and name not in arrays:
            held = np.asarray(column)
            arrays[str(name)] = held.astype(str) if held.dtype.kind not in "iuf" else held
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)
    return archive.getvalue()


def _numbers(column: Any) -> Any:
    """Return a factor as numbers: its own, or of texts the position among the classes."""
    import pandas as pd

    values = np.asarray(column)
    return values.astype(np.float64) if values.dtype.kind in "iuf" else pd.Categorical(column).codes.astype(np.float64)
