"""``demele vae``: small VAEs are trained, images encoded with them, and what they learnt is shown."""

import argparse
from typing import Any

from demele.cli import vae_encode, vae_report, vae_train


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele vae`` to the commands."""
    group = commands.add_parser(
        "vae",
        help="train a small VAE, encode images with it, look at what it learnt",
        description="A small family of variational autoencoders: trained on images whose factors are known, so that "
        "their codes can be scored. Needs PyTorch: pip install 'demele[torch]'.",
        epilog="demele vae ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    group.set_defaults(run=lambda _: group.print_help())
    actions = group.add_subparsers(title="actions", metavar="ACTION")
    vae_train.add_action(actions)
    vae_encode.add_action(actions)
    vae_report.add_action(actions)
