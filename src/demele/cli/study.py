"""``demele study``: many models trained: how far metrics agree about them, or which way to prune them is better."""

import argparse
from typing import Any

from demele.cli import study_pruning, study_run, study_show


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele study`` to the commands."""
    group = commands.add_parser(
        "study",
        help="train many models, ask which metrics agree about them, or which pruning is better",
        description="Train models that differ in two settings, score each with many metrics, and ask how far the "
        "metrics agree; or prune fabrics in many ways, and ask which is better. Needs PyTorch to train: pip install "
        "'demele[torch]'.",
        epilog="demele study ACTION --help says more about an action.",
        allow_abbrev=False,
    )
    group.set_defaults(run=lambda _: group.print_help())
    actions = group.add_subparsers(title="actions", metavar="ACTION")
    study_run.add_run(actions)
    study_show.add_action(actions)
    study_run.add_plan(actions)
    study_pruning.add_actions(actions)
