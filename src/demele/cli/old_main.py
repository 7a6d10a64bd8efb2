"""Commands that are not yet made from functions: their parser is built only for them."""

import argparse
from collections.abc import Sequence
from importlib import import_module

from demele.cli.options import Parser, add_reading, check_shared, reading, told_by
from demele.core.errors import DemeleError, InputError
from demele.core.outputs import new_files


def run(words: Sequence[str], module: str) -> None:
    """Run a command.

    Raises
    ------
    DemeleError
        In the words of the command line.
    """
    parser = Parser(prog="demele", allow_abbrev=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    import_module(module).add_command(commands)
    add_reading(parser)
    arguments = argparse.Namespace()
    try:
        parser.parse_args(words, arguments)
        check_shared(arguments)
        with new_files(), reading(arguments):
            arguments.run(arguments)
    except SystemExit:  # --help
        return
    except DemeleError as error:
        raise InputError(told_by(arguments)(error)) from error
