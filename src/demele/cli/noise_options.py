"""What the actions of ``demele noise`` share: options, and messages of the library in their words."""

import argparse
from pathlib import Path

from demele.cli.label_options import told_as as _labels_told_as
from demele.cli.output import FORMATS
from demele.core.errors import InputError

__all__ = ["add_labels_output", "add_seed", "checked_seed", "told"]


def told(words: dict[str, str], heads: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return words and heads of one action, before those that all commands about labels share."""
    shared_words, shared_heads = _labels_told_as
    common = {
        r"give all classes with classes=\[\.\.\.\]": "give all classes with --classes=A,B,...",
        r"(?:drop|leave out) n_jobs": "leave out --jobs",
    }
    return {**words, **common, **shared_words}, {**shared_heads, "y": "LABELS", **heads}


def add_seed(group: "argparse._ArgumentGroup", of: str) -> None:
    """Add --seed to the options of an action."""
    group.add_argument("--seed", type=int, default=0, metavar="S", help=f"of {of} (default: 0)")


def checked_seed(seed: int) -> int:
    """Return a seed that the library takes."""
    if seed < 0:
        raise InputError(f"--seed: expected a whole number from 0, got {seed}")
    return seed


def add_labels_output(out: "argparse._ArgumentGroup", labels: str, csv: str) -> None:
    """Add where results go: the labels to a file, what is said of them to stdout."""
    out.add_argument(
        "--output", type=Path, metavar="FILE", help=f"write {labels} here: .csv, .tsv, .parquet, .json or .npz"
    )
    out.add_argument(
        "--format",
        choices=FORMATS,
        help=f"of the results (default: table on a terminal, json otherwise); csv: {csv}",
    )
    out.add_argument("--force", action="store_true", help="replace files that exist")
    out.add_argument("--quiet", action="store_true", help="no progress and no warnings; the results still hold them")
