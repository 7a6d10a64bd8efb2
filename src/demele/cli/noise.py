"""``demele noise``: label noise is made, estimated and cleaned."""

import argparse
from typing import Any

from demele.cli import noise_estimate


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele noise`` to the commands."""
    group = commands.add_parser(
        "noise",
        help="make, estimate and clean label noise",
        description="Label noise: made with its truth known, estimated from annotators or experts, cleaned.",
        epilog="demele noise ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    group.set_defaults(run=lambda _: group.print_help())
    actions = group.add_subparsers(title="actions", metavar="ACTION")
    noise_estimate.add_action(actions)
