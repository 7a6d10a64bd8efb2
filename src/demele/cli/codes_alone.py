"""``demele unsupervised``: scores of codes without factors."""

import argparse
from typing import Any

from demele.cli.options import command, given, option, told_by
from demele.cli.output import deliver, document_text, log, warned, warnings_in_one_line
from demele.cli.targets import check_targets
from demele.core.result import Result
from demele.files.named import read_table

_DESCRIPTION = """\
Say how far codes depend on each other, without factors: total correlation, Wasserstein correlation, mean mutual
information. All are 0 for independent codes, also for codes of noise: they say nothing of what codes stand for.
"""
_EXAMPLES = """\
examples:
  demele unsupervised codes.npy --permutations 20
  demele unsupervised data.csv::z1,z2,z3 --format json
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele unsupervised`` to the commands."""
    parser = command(
        commands,
        "unsupervised",
        _run,
        help="score codes without factors: how far they depend on each other",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument("codes", metavar="CODES", help="one row per sample, one column per code")
    option(parser, "--bins", metavar="B", help="bins of codes: a number, equal-frequency:B or adaptive (default: 20)")
    option(
        parser,
        "--permutations",
        argument="n_permutations",
        dest="n_permutations",
        type=int,
        metavar="N",
        help="shuffles of each code, for chance levels (default: 0)",
    )
    option(parser, "--seed")
    add_output(parser)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add what becomes of a result."""
    option(parser.add_argument_group("output"), "--format", "--output", "--explain", "--force", "--quiet")


def _run(arguments: argparse.Namespace) -> None:
    import demele

    check_targets(arguments, ("output",), files=[arguments.codes])
    warn, words = warned(arguments.quiet), told_by(arguments)
    with warnings_in_one_line(quiet=arguments.quiet, words=words):
        codes = read_table(arguments.codes, warn=warn)
        found = demele.unsupervised_scores(codes, **given(arguments, "bins", "n_permutations", "seed"))
    write(arguments, found)


def write(arguments: argparse.Namespace, found: Result) -> None:
    """Write a result as the options say; of a CSV, which holds no notes, they are told."""
    words = told_by(arguments)

    def table() -> str:
        return document_text(found.document(), explain=arguments.explain, words=words, output=arguments.output)

    deliver(arguments, found, words, table=table, frame=lambda: _table(found))
    if arguments.output is not None and not arguments.quiet:
        log(f"demele: results in {arguments.output}")


def _table(found: Result) -> Any:
    """Return the table with the names of its rows as a column, if they have any."""
    frame = found.to_frame()
    return frame.reset_index(drop=frame.index.name is None)
