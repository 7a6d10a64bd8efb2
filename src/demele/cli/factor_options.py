"""Options on how factors are read, the same for every command that reads codes and factors."""

import argparse

from demele.cli.options import items_in, option
from demele.core.kinds import unquoted


def add_reading(parser: argparse.ArgumentParser) -> "argparse._ArgumentGroup":
    """Add ``--missing`` and ``--kinds``, and return their group of options."""
    reading = parser.add_argument_group("how the factors are read")
    option(
        reading,
        "--missing",
        choices=("raise", "omit"),
        help="missing values: refuse, or skip factor by factor (default: raise)",
    )
    option(
        reading,
        "--kinds",
        type=kinds_in,
        metavar="NAME=KIND,...",
        help="continuous, categorical or cyclic:PERIOD (angle=cyclic:360); one word for all factors",
    )
    return reading


def kinds_in(text: str) -> str | dict[str, str]:
    """Return kinds of factors, one word for all or by name, such as "age=continuous,site=categorical".

    Raises
    ------
    ArgumentTypeError
    """
    if "=" not in text:
        return text.strip()
    pairs = [pair.rpartition("=") for pair in items_in(text) if pair]
    if any(not mark for _, mark, _ in pairs):
        raise argparse.ArgumentTypeError(f"expected NAME=KIND,NAME=KIND or one kind for all, got {text!r}")
    return {unquoted(name): kind.strip() for name, _, kind in pairs}
