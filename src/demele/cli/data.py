"""``demele data``: sets of images, listed, described, made, and read from files."""

import argparse
from typing import Any

from demele.cli import data_files, data_make, data_sets


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele data`` to the commands."""
    group = commands.add_parser(
        "data",
        help="sets of images with known factors",
        description="Sets of images with known factors: those that demele draws, and published ones in files of yours.",
        epilog="demele data ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    group.set_defaults(run=lambda _: group.print_help())
    actions = group.add_subparsers(title="actions", metavar="ACTION")
    data_sets.add_list(actions)
    data_sets.add_describe(actions)
    data_make.add_action(actions)
    data_files.add_check(actions)
    data_files.add_convert(actions)
