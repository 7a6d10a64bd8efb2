"""``demele breakdown``: how many wrong annotations the order of two representations bears."""

import argparse
from typing import Any

from demele.cli.codes_alone import add_output, write
from demele.cli.factor_options import add_reading
from demele.cli.options import command, given, option, told_by
from demele.cli.output import warned, warnings_in_one_line
from demele.cli.progress import reporting
from demele.cli.score_files import warn_of_shared_columns
from demele.cli.score_several import names_of
from demele.cli.targets import check_targets
from demele.files.named import read_table

_DESCRIPTION = """\
Say whether wrong annotations can turn the order of two representations round: up to which share of wrong annotations
of each factor the order is certain, wherever they are, and at which share it was turned round.
"""
_EXAMPLES = """\
examples:
  demele breakdown new.npy old.npy factors.csv
  demele breakdown new.npy old.npy factors.csv --metric dcimig --name new,old --format json
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele breakdown`` to the commands."""
    parser = command(
        commands,
        "breakdown",
        _run,
        help="say how many wrong annotations the order of two representations bears",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument("codes_a", metavar="CODES_A", help="one row per sample, one column per code")
    parser.add_argument("codes_b", metavar="CODES_B", help="another representation of the same rows")
    parser.add_argument("factors", metavar="FACTORS", help="the annotations of the same rows, one column per factor")
    how = parser.add_argument_group("how")
    option(how, "--metric", metavar="M", help="that orders the two: mig, mig_sup or dcimig (default: mig)")
    option(
        how,
        "--bins",
        metavar="B",
        help="bins of continuous columns: a number, equal-frequency:B or adaptive (default: 10)",
    )
    add_reading(parser)
    option(parser, "--name", argument="names", metavar="A,B", help="what to call the two (default: their files)")
    add_output(parser)


def _run(arguments: argparse.Namespace) -> None:
    import demele

    both = [arguments.codes_a, arguments.codes_b]
    check_targets(arguments, ("output",), files=[*both, arguments.factors])
    names = names_of(both, arguments.name)
    warn, words = warned(arguments.quiet), told_by(arguments)
    with (
        reporting(arguments.quiet, even=False) as report,
        warnings_in_one_line(quiet=arguments.quiet, words=words),
    ):
        first, second, factors = (read_table(file, warn=warn) for file in (*both, arguments.factors))
        if not arguments.quiet:
            for file in both:
                warn_of_shared_columns(file, arguments.factors)
        found = demele.breakdown(
            first,
            second,
            factors,
            names=(names[0], names[1]),
            progress=report or False,
            **given(arguments, "metric", "bins", "kinds", "missing"),
        )
    write(arguments, found)
