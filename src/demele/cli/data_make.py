"""``demele data make``: a set of images that a formula draws, as a file."""

import argparse
from pathlib import Path
from typing import Any

from demele.cli.options import command, given, option, refuse, whole_numbers_in
from demele.cli.output import log
from demele.cli.progress import reporting
from demele.cli.targets import check_targets
from demele.core.errors import InputError

_DESCRIPTION = """\
Write a set of images that a formula draws to a file, with the factors of each image.

The .npz holds images (n, height, width, channels) of uint8, an array for each factor, and space: the grid as JSON.
demele.data.open_images reads it back, and numpy.load everywhere else. In Python nothing need be written:
demele.data.sprites() draws its images when they are asked for.
"""
_EXAMPLES = """\
examples:
  demele data make sprites --output sprites.npz
  demele data make room --size 64 --counts 10,10,10,8,4,15 --output room.npz     (5.5 GiB)
  demele data make clutter --size 32 --difficulty 4 --images 50000 --output clutter.npz
  demele score codes.npy sprites.npz::shape,scale,orientation,x,y

demele data describe sprites says what the counts count.
Exit status: 0 done, 2 a mistake in the arguments.
"""


def add_action(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele data make`` to the actions."""
    parser = command(
        actions,
        "make",
        _run,
        help="write a set that a formula draws",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
        called={"name": "NAME"},
    )
    parser.add_argument("name", metavar="NAME", help="sprites, room, squares or clutter")
    option(parser, "--size", type=int, metavar="PIXELS", help="height and width (default: 32; of clutter 16)")
    option(
        parser,
        "--counts",
        type=whole_numbers_in,
        metavar="N,N,...",
        help="number of values of each factor, in their order (default: 3,6,8,12,12 and 6,6,6,4,4,6)",
    )
    option(parser, "--difficulty", argument="level", type=int, metavar="D", help="of clutter: 0 to 4 (default: 3)")
    option(parser, "--images", argument="n", type=int, metavar="N", help="of clutter: how many (default: 10000)")
    option(parser, "--output", argument="path", help="write the set here, an .npz (needed)")
    option(parser, "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    from demele.core.names import suggestion
    from demele.core.reading import size_text
    from demele.data import image_set_names, save_images
    from demele.data.catalogue import DRAWN
    from demele.data.procedural.clutter import clutter

    if arguments.name in image_set_names() and arguments.name not in DRAWN:
        raise InputError(
            f"NAME: {arguments.name} is published, and no formula draws it; demele data describe {arguments.name} says "
            "where its files are"
        )
    if arguments.name not in DRAWN:
        raise InputError(f"NAME: no set of that name is drawn: {arguments.name!r}{suggestion(arguments.name, DRAWN)}")
    if arguments.output is None:
        raise InputError(f"--output: expected where to write, such as --output {arguments.name}.npz")
    draw, _, _ = DRAWN[arguments.name]
    if arguments.name == "squares":
        refuse(arguments, ("counts",), "squares take as many places as the size has room for; leave it out")
    if draw is clutter:
        refuse(arguments, ("counts",), "clutter has ten classes; --images says how many images are drawn")
    else:
        refuse(arguments, ("difficulty", "images"), f"is an option of clutter, and {arguments.name} has none")
    images = draw(**given(arguments, "size", "counts", level="difficulty", n="images"))
    check_targets(arguments, ("output",))
    with reporting(arguments.quiet) as report:
        save_images(images, arguments.output, progress=report or False)
    if not arguments.quiet:
        size = size_text(Path(arguments.output).stat().st_size)
        log(f"demele: {len(images):,} images written to {arguments.output}, {size}")
