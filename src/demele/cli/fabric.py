"""``demele fabric``: convolutional fabrics are trained, pruned, and shown with what pruning gained."""

import argparse
from typing import Any

from demele.cli import fabric_prune, fabric_show, fabric_train


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele fabric`` to the commands."""
    group = commands.add_parser(
        "fabric",
        help="train a convolutional fabric, prune it, see what that gains",
        description="Convolutional neural fabrics (Saxena and Verbeek 2016): lattices of small convolutions that are "
        "trained whole, and then pruned of links, channels or weights. Needs PyTorch: pip install 'demele[torch]'.",
        epilog="demele fabric ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    group.set_defaults(run=lambda _: group.print_help())
    actions = group.add_subparsers(title="actions", metavar="ACTION")
    fabric_train.add_action(actions)
    fabric_prune.add_action(actions)
    fabric_show.add_action(actions)
