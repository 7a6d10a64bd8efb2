"""``demele cite``: what to cite for what was used."""

import argparse
from typing import Any

from demele.cli.options import command, option
from demele.cli.output import emit
from demele.core.errors import InputError

_DESCRIPTION = """\
Print what to cite for metrics, protocols and comparison methods of classifiers, each work once; without names, how to
cite demele itself.
"""
_EXAMPLES = """\
examples:
  demele cite mig irs
  demele cite mig irs review2022 demele > used.bib
  demele cite worst-case --format text
  demele cite --all
  demele cite
"""


def add_command(commands: "argparse._SubParsersAction[Any]") -> None:
    """Add ``demele cite`` to the commands."""
    parser = command(
        commands,
        "cite",
        _run,
        help="print what to cite, as BibTeX or as text",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="metrics, protocols, comparison methods, or keys of entries"
    )
    parser.add_argument("--all", action="store_true", help="all that can be cited by a name")
    option(parser, "--format", choices=("bibtex", "text"), default="bibtex", help="of the works (default: bibtex)")


def _run(arguments: argparse.Namespace) -> None:
    from demele.report.citations import citable_names, cite

    if arguments.all and arguments.names:
        raise InputError("--all: names are given too; leave out one of them")
    text = cite(*(citable_names() if arguments.all else arguments.names), format=arguments.format)
    if not text:
        raise InputError(f"{', '.join(arguments.names)}: says nothing of what to cite")
    emit(text, None)
