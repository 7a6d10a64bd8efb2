"""How files are read, whatever the command: how large they may grow, and how numbers are written in them."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from demele.core.errors import InputError
from demele.core.reading import bytes_of, unpacking_at_most
from demele.files.table_files import decimal_comma

__all__ = ["add_reading", "reading"]


def add_reading(parser: argparse.ArgumentParser, *, but: Sequence[str] = ()) -> None:
    """Add the options to a parser and to all of its commands, but those that read no file."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in inner:
        for name, command in action.choices.items():
            if name not in but:
                add_reading(command)
    if inner:
        return
    files = parser.add_argument_group("how files are read")
    files.add_argument(
        "--decimal",
        choices=(".", ","),
        metavar="SIGN",
        help="in tables of text, the sign before decimals: a point (the default) or a comma",
    )
    files.add_argument(
        "--max-size",
        type=_size,
        metavar="SIZE",
        help="most memory that a file may take once it is unpacked, such as 8G (default: its own size and 512M)",
    )


def _size(text: str) -> int:
    try:
        return bytes_of(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


@contextmanager
def reading(arguments: Any) -> Iterator[None]:
    """Read files as the arguments say within."""
    comma = getattr(arguments, "decimal", None) == ","
    with unpacking_at_most(getattr(arguments, "max_size", None)), decimal_comma(comma):
        yield
